// SPDX-License-Identifier: GPL-2.0
/*
 * Gates: how what a connection has little of is waited for.
 *
 * Send Queue entries, send contexts and memory regions have a gate each. While
 * there are enough a thread takes units without a lock. When there are too few
 * the line is joined: by the Call, if the units are for its RDMA Reads, or for a Reply
 * that it has no thread for yet, so that the
 * thread is free; else by the thread, which goes in front of the Calls. What is given
 * back serves the line from its front, as many at once as there is enough for. While
 * there is a line nothing overtakes it but a Send that stands alone, and nothing more is
 * taken up but what the line may wait for (svc2_gate_has_room()). So a large chain is not starved
 * by small ones, and no thread spins.
 *
 * Nothing that stands in the line holds what is needed by the completions that
 * move it, so there is always progress while the connection lives. When it is lost
 * the threads are woken, and leave; Calls go with the connection.
 *
 * How long a thread waits is bounded, whatever moves meanwhile: a peer that
 * gives back a little now and then must not keep it. When the time is over the
 * connection is closed (SVC2_STALL_TIMEOUT).
 *
 * While there is a line, or send contexts could run out with the Calls
 * that threads have taken up already, ->xpo_has_wspace keeps further messages of
 * the connection from taking up threads. And a Reply has its Send Queue entries before
 * its Call is carried out (svc2_sq_reserve()). A thread waits in a gate with
 *
 *  - a Reply that takes more than its chunk list says, or was planned again (C-034);
 *  - a Reply whose Call gave its entries back when it was put off (svc2_sq_regain());
 *  - LOCAL_INVs for a Call of the server (svc2_sq_take_invs());
 *  - any of these and a Send that stands alone, where the device's queues are too small
 *    to leave entries for Sends.
 */
#include "svcrdma2.h"

/**
 * svc2_gate_init - make a gate
 * @ga: gate
 * @units: what it gives, or NULL when it has units of its own, none so far
 * @counter: enum svc2_counter of the waits
 */
void svc2_gate_init(struct svc2_gate *ga, struct rpcrdma2_units *units,
		    unsigned int counter)
{
	ga->ga_units = units ?: &ga->ga_own;
	spin_lock_init(&ga->ga_lock);
	INIT_LIST_HEAD(&ga->ga_line);
	ga->ga_counter = counter;
}

/**
 * svc2_gate_open - set what a gate has to give, before the first is taken
 * @ga: gate with units of its own
 * @units: how much
 */
void svc2_gate_open(struct svc2_gate *ga, unsigned int units)
{
	atomic_set(&ga->ga_own.un_free, units);
	ga->ga_opened = units;
}

/**
 * svc2_gate_is_whole - has all come back that was taken? (R5)
 * @ga: gate with units of its own, opened or not; nothing waits there any more
 */
bool svc2_gate_is_whole(const struct svc2_gate *ga)
{
	return atomic_read(&ga->ga_own.un_free) == (int)ga->ga_opened &&
	       list_empty(&ga->ga_line);
}

static void svc2_gate_serve_waiters(struct svc2_xprt *sp, struct svc2_gate *ga)
{
	struct svc2_waiter *wt;
	struct svc2_msg *call;
	bool wake = false;

	lockdep_assert_held(&ga->ga_lock);
	while ((wt = list_first_entry_or_null(&ga->ga_line, struct svc2_waiter,
					      wt_list)) &&
	       rpcrdma2_units_take(ga->ga_units, wt->wt_units, wt->wt_spare)) {
		call = wt->wt_call;
		if (call)
			*wt->wt_held = wt->wt_units;
		/* pairs with svc2_gate_is_served() */
		list_del_init_careful(&wt->wt_list);
		if (call)
			svc2_msg_ready(sp, call);
		else
			wake = true;
	}
	if (wake)
		wake_up_all(&sp->sp_line);
}

/* The line may have ended, or served a Call. */
static void svc2_gate_has_moved(struct svc2_xprt *sp)
{
	/* pairs with the barrier in svc2_has_wspace() */
	smp_mb();
	svc2_unthrottle(sp);
}

static bool svc2_gate_is_served(struct svc2_waiter *wt)
{
	return list_empty_careful(&wt->wt_list);
}

/* Until it is served, the connection is lost, or it has taken too long */
static void svc2_gate_queue(struct svc2_xprt *sp, struct svc2_waiter *wt)
{
	wait_event_timeout(sp->sp_line, svc2_gate_is_served(wt) ||
			   rpcrdma2_conn_is_lost(&sp->sp_conn),
			   SVC2_STALL_TIMEOUT);
}

/*
 * In front of the Calls: they leave units for threads, and wait as long as the peer
 * takes. Return: whether it has been served.
 */
static bool svc2_gate_join(struct svc2_xprt *sp, struct svc2_gate *ga,
			   struct svc2_waiter *wt)
{
	struct list_head *at;
	bool served;

	spin_lock(&ga->ga_lock);
	list_for_each(at, &ga->ga_line)
		if (list_entry(at, struct svc2_waiter, wt_list)->wt_call)
			break;
	list_add_tail(&wt->wt_list, at);
	svc2_gate_serve_waiters(sp, ga);
	served = svc2_gate_is_served(wt);
	spin_unlock(&ga->ga_lock);
	svc2_gate_has_moved(sp);
	return served;
}

/* Return: whether it was served, perhaps in the last moment. */
static bool svc2_gate_leave(struct svc2_xprt *sp, struct svc2_gate *ga,
			    struct svc2_waiter *wt)
{
	bool served;

	spin_lock(&ga->ga_lock);
	served = svc2_gate_is_served(wt);
	if (!served) {
		list_del(&wt->wt_list);
		svc2_gate_serve_waiters(sp, ga);
	}
	spin_unlock(&ga->ga_lock);
	svc2_gate_has_moved(sp);
	return served;
}

static int svc2_gate_wait_for_turn(struct svc2_xprt *sp, struct svc2_gate *ga,
				   unsigned int units, unsigned int spare)
{
	struct svc2_waiter wt = {
		.wt_units = units,
		.wt_spare = spare,
	};

	if (svc2_gate_join(sp, ga, &wt))
		return 0;
	this_cpu_inc(svc2_counters[ga->ga_counter]);
	svc2_gate_queue(sp, &wt);
	if (svc2_gate_leave(sp, ga, &wt))
		return 0;
	if (!rpcrdma2_conn_is_lost(&sp->sp_conn)) {
		svc2_count(stalls);
		svc2_close(sp, RPCRDMA2_LOSS_STALLED);
	}
	return -ENOTCONN;
}

/**
 * svc2_gate_take - take units, or wait for them
 * @sp: connection; closed when the wait takes too long
 * @ga: gate of it
 * @units: how many; with @spare never more than it was opened with
 * @spare: how many to leave for Sends that stand alone
 *
 * Context: svc thread, RPC task; sleeps.
 * Return: 0 when the units are the caller's; -ENOTCONN when the connection is
 * lost.
 */
int svc2_gate_take(struct svc2_xprt *sp, struct svc2_gate *ga,
		   unsigned int units, unsigned int spare)
{
	spare += ga->ga_units->un_kept;
	might_sleep();
	if (rpcrdma2_conn_is_lost(&sp->sp_conn))
		return -ENOTCONN;
	if (likely(list_empty(&ga->ga_line) &&
		   rpcrdma2_units_take(ga->ga_units, units, spare)))
		return 0;
	return svc2_gate_wait_for_turn(sp, ga, units, spare);
}

/**
 * svc2_try_again - shall what a passing shortage has made fail be tried again?
 * @sp: connection; closed when the shortage lasts
 * @tries: how often it was tried again; 0 before the first call
 * @ret: what it returned; -ENOTCONN when the connection is lost
 *
 * An error in place of a Reply ends the RPC at the requester, perhaps after a
 * procedure that is not idempotent has been carried out. After the loss of the
 * connection the requester sends the Call again, and the reply cache answers
 * it. So what can pass never becomes an error (C-093). -EIO is what a mapping
 * for the device fails with, and -EAGAIN what rdma_rw says when a pool of memory regions
 * is empty. Regions for RDMA Reads are counted (sp_mrs), so that happens only where the
 * kernel's force_mr is set: RDMA Writes take regions then, which RDMA Reads give back; and
 * a device with max_sgl_rd has no regions here, so that the shortage lasts.
 *
 * Context: svc thread; sleeps SVC2_SHORTAGE_PAUSE.
 * Return: true to try again; @ret says how it ended when not.
 */
bool svc2_try_again(struct svc2_xprt *sp, unsigned int *tries, int *ret)
{
	if (likely(!svc2_is_shortage(*ret)))
		return false;
	if (!svc_xprt_is_dead(&sp->sp_xprt)) {
		if ((*tries)++ < SVC2_SHORTAGE_TRIES) {
			svc2_count(shortages);
			schedule_timeout_uninterruptible(SVC2_SHORTAGE_PAUSE);
			return true;
		}
		svc2_close(sp, RPCRDMA2_LOSS_MEMORY);
	}
	*ret = -ENOTCONN;
	return false;
}

/**
 * svc2_gate_serve - units have come back, and a taker had found too few
 * @sp: connection
 * @ga: gate of it
 *
 * Context: svc thread, send CQ, RPC task.
 */
void svc2_gate_serve(struct svc2_xprt *sp, struct svc2_gate *ga)
{
	spin_lock(&ga->ga_lock);
	svc2_gate_serve_waiters(sp, ga);
	spin_unlock(&ga->ga_lock);
	svc2_gate_has_moved(sp);
}

/**
 * svc2_gate_give - give units back
 * @sp: connection
 * @ga: gate of it, with units of its own
 * @units: as many as were taken
 *
 * Context: svc thread, send CQ.
 */
void svc2_gate_give(struct svc2_xprt *sp, struct svc2_gate *ga,
		    unsigned int units)
{
	if (!units)
		return;
	/* has a barrier like the one in svc2_gate_has_moved() */
	if (rpcrdma2_units_give(&ga->ga_own, units))
		svc2_gate_serve(sp, ga);
	else
		svc2_unthrottle(sp);
}

/**
 * svc2_gate_enter - take units for a Call, or have the Call wait for them
 * @sp: connection
 * @ga: gate of it
 * @call: Call
 * @units: how many; with @spare never more than it was opened with
 * @spare: how many to leave for Sends that stand alone
 * @held: where to note how many @call has
 *
 * A peer decides how long it takes until units come back. So no thread waits: the
 * Call does, and svc2_msg_ready() puts it where a thread finds it when it has them.
 *
 * Context: svc thread.
 * Return: 0 when the units are the Call's; -EINPROGRESS when it waits, and is the
 * gate's (R2); -ENOTCONN when the connection is lost.
 */
int svc2_gate_enter(struct svc2_xprt *sp, struct svc2_gate *ga,
		    struct svc2_msg *call, unsigned int units,
		    unsigned int spare, unsigned int *held)
{
	struct svc2_waiter *wt = &call->sm_wait;

	spare += ga->ga_units->un_kept;
	if (rpcrdma2_conn_is_lost(&sp->sp_conn))
		return -ENOTCONN;
	if (likely(list_empty(&ga->ga_line) &&
		   rpcrdma2_units_take(ga->ga_units, units, spare))) {
		*held = units;
		return 0;
	}
	this_cpu_inc(svc2_counters[ga->ga_counter]);
	*wt = (struct svc2_waiter){
		.wt_units = units,
		.wt_spare = spare,
		.wt_call  = call,
		.wt_held  = held,
	};
	spin_lock(&ga->ga_lock);
	list_add_tail(&wt->wt_list, &ga->ga_line);
	/* what came back before this served nothing */
	svc2_gate_serve_waiters(sp, ga);
	spin_unlock(&ga->ga_lock);
	svc2_gate_has_moved(sp);
	return -EINPROGRESS;
}

/**
 * svc2_gate_flush - let go of the Calls that wait
 * @ga: gate of a connection that no thread has to do with any more
 * @line: where to put them, as struct svc2_waiter
 *
 * Context: ->xpo_free.
 */
void svc2_gate_flush(struct svc2_gate *ga, struct list_head *line)
{
	list_splice_tail_init(&ga->ga_line, line);
}

/*
 * There is no line, and there is a send context for another Call beside those in
 * hand, which xpt_nr_rqsts counts. A Reply that is posted may count on both
 * sides until its thread lets go of it, and the RPC layer asks again then.
 *
 * A Call that a gate or transfer.c has served, or for which a shortage has passed, needs
 * none of this: its RDMA Reads can begin. And it has to be taken up, because the line may
 * wait for what it holds. For the same reason a Call on sp_ready_q is, when there is a
 * send context for it: it may have entries of the Send Queue, or payload where the
 * connection has too much. One that the RPC layer has put off for an upcall may have a
 * few entries, and no payload.
 */
static bool svc2_gate_has_room(const struct svc2_xprt *sp)
{
	bool deferred = test_bit(XPT_DEFERRED, &sp->sp_xprt.xpt_flags);
	bool served = !list_empty(&sp->sp_served_q);

	/* The RPC layer takes up what it has put off first, and that needs a context. */
	if (served && likely(!deferred))
		return true;
	if (!list_empty(&sp->sp_tx_gate.ga_line) ||
	    svc2_gate_avail(&sp->sp_tx_gate) <= atomic_read(&sp->sp_xprt.xpt_nr_rqsts))
		return false;
	if (served || !list_empty(&sp->sp_ready_q))
		return true;
	return svc2_transfer_has_room(sp) &&
	       ((list_empty(&sp->sp_sq.ga_line) && list_empty(&sp->sp_mrs.ga_line)) ||
		deferred);
}

/**
 * svc2_has_wspace - may a thread take up another message of a connection?
 * @xprt: connection
 *
 * Return: 0 when not; svc2_unthrottle(), or the RPC layer when a thread is done with
 * a Call, queues the connection again when there is room.
 */
int svc2_has_wspace(struct svc_xprt *xprt)
{
	struct svc2_xprt *sp = svc2_from_xprt(xprt);

	if (svc2_gate_has_room(sp))
		return 1;
	set_bit(SVC2_F_THROTTLED, &sp->sp_flags);
	/* pairs with the barriers before svc2_unthrottle() */
	smp_mb__after_atomic();
	svc2_transfer_wait(sp);
	return svc2_gate_has_room(sp);
}
