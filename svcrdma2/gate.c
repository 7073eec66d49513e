// SPDX-License-Identifier: GPL-2.0
/*
 * Gates: FIFO wait queues for a connection's scarce resources.
 *
 * Send Queue entries, send contexts and memory regions have a gate each. While
 * there are enough units a thread takes them without a lock. Otherwise a waiter
 * joins the queue: the Call, if the units are for its RDMA Reads or it is not
 * carried out yet, so that its thread is free; else the thread, in front of the
 * Calls. Released units wake waiters in FIFO order. While there are waiters
 * only a single Send may bypass them, and no messages are taken up except those
 * that the waiters may wait for (svc2_gate_has_room()). So small chains do not
 * starve a large one, and no thread spins.
 *
 * No waiter holds a resource that is needed by the completions which serve the
 * queue, so there is always progress while the connection lives. When it is
 * lost the threads are woken, and leave; Calls are freed with the connection.
 *
 * The wait of a thread is limited, even if other waiters make progress: a peer
 * that releases a few units now and then must not hold the thread. At the limit
 * the connection is closed (SVC2_STALL_TIMEOUT).
 *
 * While there are waiters, or the Calls that threads have taken up already
 * could use all send contexts, ->xpo_has_wspace keeps further messages of the
 * connection from taking up threads. A Reply has its Send Queue entries before
 * its Call is carried out (svc2_sq_reserve()). A thread waits in a gate with
 *
 *  - a Reply that takes more than its chunk list allows for, or was planned
 *    again (C-034);
 *  - a Reply whose Call gave its entries back when it was deferred
 *    (svc2_sq_regain());
 *  - LOCAL_INVs for a callback (svc2_sq_take_invs());
 *  - any of these and a single Send, where the device's queues are too small to
 *    leave entries for Sends.
 */
#include "svcrdma2.h"

/**
 * svc2_gate_init - initialize a gate
 * @ga: gate
 * @units: its units, or NULL when it has units of its own, none so far
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
 * svc2_gate_open - set the number of units, before the first is taken
 * @ga: gate with units of its own
 * @units: number
 */
void svc2_gate_open(struct svc2_gate *ga, unsigned int units)
{
	atomic_set(&ga->ga_own.un_free, units);
	ga->ga_opened = units;
}

/**
 * svc2_gate_is_whole - check whether all units taken are back (R5)
 * @ga: gate with units of its own, opened or not; it has no waiters any longer
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

/* The queue may be empty now, or a Call may have been served. */
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

/* Waits until @wt is served, the connection is lost, or the time is over */
static void svc2_gate_queue(struct svc2_xprt *sp, struct svc2_waiter *wt)
{
	wait_event_timeout(sp->sp_line, svc2_gate_is_served(wt) ||
			   rpcrdma2_conn_is_lost(&sp->sp_conn),
			   SVC2_STALL_TIMEOUT);
}

/*
 * Joins in front of the Calls: these leave units for threads, and the peer
 * decides how long they wait. Return: whether @wt has been served.
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

/* Return: whether it was served, perhaps at the last moment. */
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
 * @units: number; with @spare never more than it was opened with
 * @spare: units to leave for single Sends
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
 * svc2_try_again - decide whether to retry after a transient shortage
 * @sp: connection; closed when the shortage lasts
 * @tries: number of retries so far; 0 before the first call
 * @ret: result of the last attempt; -ENOTCONN when the connection is lost
 *
 * An error in place of a Reply ends the RPC at the requester, perhaps after a
 * procedure that is not idempotent has been carried out. After the loss of the
 * connection the requester sends the Call again, and the reply cache answers
 * it. So a transient shortage never becomes an error (C-093). -EIO comes from a
 * failed DMA mapping, and -EAGAIN from rdma_rw when a pool of memory regions is
 * empty. Regions for RDMA Reads are counted (sp_mrs), so -EAGAIN only occurs
 * where the kernel's force_mr is set: RDMA Writes take regions then, which RDMA
 * Reads give back; and a device with max_sgl_rd has no regions here, so that
 * the shortage lasts.
 *
 * Context: svc thread; sleeps SVC2_SHORTAGE_PAUSE.
 * Return: true to try again; otherwise @ret is the final result.
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
 * svc2_gate_serve - serve waiters after units have come back
 * @sp: connection
 * @ga: gate of it
 *
 * Called when a taker had found too few units.
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
 * @units: number that was taken
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
 * svc2_gate_enter - take units for a Call, or queue the Call
 * @sp: connection
 * @ga: gate of it
 * @call: Call
 * @units: number; with @spare never more than it was opened with
 * @spare: units to leave for single Sends
 * @held: where to store the number of units that @call has
 *
 * A peer decides when units come back, so no thread waits. The Call waits, and
 * svc2_msg_ready() queues it for a thread once it has its units.
 *
 * Context: svc thread.
 * Return: 0 when the units are the Call's; -EINPROGRESS when it waits, and is
 * the gate's (R2); -ENOTCONN when the connection is lost.
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
	/* units that came back before have served no waiter */
	svc2_gate_serve_waiters(sp, ga);
	spin_unlock(&ga->ga_lock);
	svc2_gate_has_moved(sp);
	return -EINPROGRESS;
}

/**
 * svc2_gate_flush - remove the Calls that wait
 * @ga: gate of a connection that no thread uses any longer
 * @line: where to put them, as struct svc2_waiter
 *
 * Context: ->xpo_free.
 */
void svc2_gate_flush(struct svc2_gate *ga, struct list_head *line)
{
	list_splice_tail_init(&ga->ga_line, line);
}

/*
 * True if there are no waiters, and a send context is left for a further Call
 * besides those in hand, which xpt_nr_rqsts counts. A posted Reply may count on
 * both sides until its thread releases it; then the RPC layer checks again.
 *
 * A Call that a gate or transfer.c has served, or for which a shortage has
 * passed, needs none of this: its RDMA Reads can begin. It must be taken up,
 * because the waiters may wait for the resources that it holds. For the same
 * reason a Call on sp_ready_q is taken up, when there is a send context for it:
 * it may have entries of the Send Queue, or payload while the connection
 * exceeds its quota. A Call that the RPC layer has deferred for an upcall may
 * have a few entries, and no payload.
 */
static bool svc2_gate_has_room(const struct svc2_xprt *sp)
{
	bool deferred = test_bit(XPT_DEFERRED, &sp->sp_xprt.xpt_flags);
	bool served = !list_empty(&sp->sp_served_q);

	/*
	 * The RPC layer resumes deferred Calls first, and these need a context.
	 */
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
 * svc2_has_wspace - check whether a thread may take up another message
 * @xprt: connection
 *
 * Return: 0 if not. When there is room svc2_unthrottle() queues the connection
 * again, or the RPC layer does when a thread is done with a Call.
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
