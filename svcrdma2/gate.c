// SPDX-License-Identifier: GPL-2.0
/*
 * Gates: how svc threads wait for what a connection has little of.
 *
 * Send Queue entries, send contexts and memory regions are counted by a gate
 * each. Whoever finds too few joins the end of the line; what is given back
 * serves the line from its front, as many at once as there is enough for, and
 * nobody overtakes. So a large chain is not starved by small ones, and nobody
 * spins: a thread sleeps until its units are its own.
 *
 * Nothing a thread in the line holds is needed by the completions that move
 * it, so there is always progress while the connection lives. When it dies
 * the gates are closed, and the line dissolves.
 *
 * How long a thread waits is bounded, whatever moves meanwhile: a peer that
 * gives back a little now and then must not keep it. When the time is over the
 * connection is closed. The time is shorter as soon as the service wants a
 * thread to end (SVC2_STALL_TIMEOUT, SVC2_STOP_TIMEOUT).
 *
 * While a thread stands in line, or send contexts could run out with the Calls
 * that threads have taken up already, ->xpo_has_wspace keeps further messages of
 * the connection from taking up threads. Replies with RDMA Writes can still make
 * several threads wait for Send Queue entries at once, each for as long as the
 * limit above says.
 */
#include "svcrdma2.h"
#include "trace.h"

/**
 * struct waiter - a thread in the line
 * @wt_list: on ga_waiters until it is served
 * @wt_units: what it wants
 * @wt_status: what it got: 0, or -ENOTCONN
 * @wt_done: it is served
 */
struct waiter {
	struct list_head	wt_list;
	unsigned int		wt_units;
	int			wt_status;
	struct completion	wt_done;
};

/**
 * svc2_gate_init - make a gate with nothing behind it
 * @ga: gate
 * @counter: enum svc2_counter of the waits
 */
void svc2_gate_init(struct svc2_gate *ga, unsigned int counter)
{
	spin_lock_init(&ga->ga_lock);
	INIT_LIST_HEAD(&ga->ga_waiters);
	ga->ga_counter = counter;
}

/**
 * svc2_gate_open - set what a gate has to give, before anyone has come
 * @ga: gate
 * @units: how much
 */
void svc2_gate_open(struct svc2_gate *ga, unsigned int units)
{
	ga->ga_avail = units;
}

static void leave_line(struct svc2_gate *ga, struct waiter *wt)
{
	list_del_init(&wt->wt_list);
	WRITE_ONCE(ga->ga_waiting, ga->ga_waiting - 1);
}

static void serve_line(struct svc2_gate *ga)
{
	struct waiter *wt;

	lockdep_assert_held(&ga->ga_lock);
	while ((wt = list_first_entry_or_null(&ga->ga_waiters, struct waiter,
					      wt_list))) {
		if (ga->ga_closed) {
			wt->wt_status = -ENOTCONN;
		} else if (wt->wt_units <= ga->ga_avail) {
			ga->ga_avail -= wt->wt_units;
			wt->wt_status = 0;
		} else {
			return;
		}
		leave_line(ga, wt);
		complete(&wt->wt_done);
	}
}

/* Leaves the line, unless it has served the thread in the last moment. */
static bool give_up(struct svc2_gate *ga, struct waiter *wt)
{
	bool waits;

	spin_lock_irq(&ga->ga_lock);
	waits = !list_empty(&wt->wt_list);
	if (waits) {
		leave_line(ga, wt);
		serve_line(ga);
	}
	spin_unlock_irq(&ga->ga_lock);
	return waits;
}

/*
 * The service wants a thread to end, and has found none that is idle: threads
 * that wait may be all there are. A thread ends between two messages, so the
 * bit is not cleared here.
 */
static bool service_stops(const struct svc2_xprt *sp)
{
	const struct svc_serv *serv = sp->sp_xprt.xpt_server;
	unsigned int i;

	for (i = 0; i < serv->sv_nrpools; i++)
		if (test_bit(SP_NEED_VICTIM, &serv->sv_pools[i].sp_flags))
			return true;
	return false;
}

static int stand_in_line(struct svc2_xprt *sp, struct svc2_gate *ga,
			 struct waiter *wt)
{
	unsigned long begin = jiffies, waited = 0, limit;

	for (;;) {
		limit = service_stops(sp) ? SVC2_STOP_TIMEOUT :
					    SVC2_STALL_TIMEOUT;
		if (waited >= limit)
			break;
		if (wait_for_completion_timeout(&wt->wt_done,
						min(limit - waited,
						    SVC2_STOP_LOOK)))
			return wt->wt_status;
		waited = jiffies - begin;
	}
	return give_up(ga, wt) ? -ETIMEDOUT : wt->wt_status;
}

/**
 * svc2_gate_take - take units, or wait for them
 * @sp: connection; closed when the wait takes too long
 * @ga: gate of it
 * @units: how many; never more than it was opened with
 *
 * Context: svc thread; sleeps.
 * Return: 0 when the units are the caller's; -ENOTCONN when the connection is
 * lost.
 */
int svc2_gate_take(struct svc2_xprt *sp, struct svc2_gate *ga,
		   unsigned int units)
{
	struct waiter wt = { .wt_units = units };
	int ret;

	might_sleep();
	spin_lock_irq(&ga->ga_lock);
	if (ga->ga_closed) {
		spin_unlock_irq(&ga->ga_lock);
		return -ENOTCONN;
	}
	if (list_empty(&ga->ga_waiters) && ga->ga_avail >= units) {
		ga->ga_avail -= units;
		spin_unlock_irq(&ga->ga_lock);
		return 0;
	}
	init_completion(&wt.wt_done);
	list_add_tail(&wt.wt_list, &ga->ga_waiters);
	WRITE_ONCE(ga->ga_waiting, ga->ga_waiting + 1);
	spin_unlock_irq(&ga->ga_lock);

	this_cpu_inc(svc2_counters[ga->ga_counter]);
	trace_svc2_gate_wait(ga->ga_counter, units);
	ret = stand_in_line(sp, ga, &wt);
	if (ret != -ETIMEDOUT)
		return ret;
	svc2_count(stalls);
	svc2_close(sp, RPCRDMA2_LOSS_STALLED);
	return -ENOTCONN;
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
 * for the device fails with.
 *
 * Context: svc thread; sleeps SVC2_SHORTAGE_PAUSE.
 * Return: true to try again; @ret says how it ended when not.
 */
bool svc2_try_again(struct svc2_xprt *sp, unsigned int *tries, int *ret)
{
	if (likely(*ret != -ENOMEM && *ret != -EAGAIN && *ret != -EIO))
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

/*
 * Nobody waits, and there is a send context for another Call beside those in
 * hand, which xpt_nr_rqsts counts. A Reply that is posted may count on both
 * sides until its thread lets go of it, and the RPC layer asks again then.
 */
static bool has_room(const struct svc2_xprt *sp)
{
	return !READ_ONCE(sp->sp_sq.ga_waiting) &&
	       !READ_ONCE(sp->sp_tx_gate.ga_waiting) &&
	       !READ_ONCE(sp->sp_mrs.ga_waiting) &&
	       READ_ONCE(sp->sp_tx_gate.ga_avail) >
	       atomic_read(&sp->sp_xprt.xpt_nr_rqsts);
}

/**
 * svc2_gate_give - give units back
 * @sp: connection
 * @ga: gate of it
 * @units: as many as were taken
 *
 * Context: svc thread, send CQ.
 */
void svc2_gate_give(struct svc2_xprt *sp, struct svc2_gate *ga,
		    unsigned int units)
{
	unsigned long flags;

	if (!units)
		return;
	spin_lock_irqsave(&ga->ga_lock, flags);
	ga->ga_avail += units;
	serve_line(ga);
	spin_unlock_irqrestore(&ga->ga_lock, flags);

	/* pairs with the barrier in svc2_has_wspace() */
	smp_mb();
	if (test_bit(SVC2_F_THROTTLED, &sp->sp_flags) && has_room(sp) &&
	    test_and_clear_bit(SVC2_F_THROTTLED, &sp->sp_flags))
		svc_xprt_enqueue(&sp->sp_xprt);
}

/**
 * svc2_gate_close - give nothing any more, and dissolve the line
 * @ga: gate
 *
 * Context: any.
 */
void svc2_gate_close(struct svc2_gate *ga)
{
	unsigned long flags;

	spin_lock_irqsave(&ga->ga_lock, flags);
	ga->ga_closed = true;
	serve_line(ga);
	spin_unlock_irqrestore(&ga->ga_lock, flags);
}

/**
 * svc2_has_wspace - may a thread take up another message of a connection?
 * @xprt: connection
 *
 * Return: 0 when not; svc2_gate_give(), or the RPC layer when a thread is
 * done with a Call, queues the connection again when there is room.
 */
int svc2_has_wspace(struct svc_xprt *xprt)
{
	struct svc2_xprt *sp = svc2_from_xprt(xprt);

	if (has_room(sp))
		return 1;
	set_bit(SVC2_F_THROTTLED, &sp->sp_flags);
	/* pairs with the barrier in svc2_gate_give() */
	smp_mb__after_atomic();
	return has_room(sp);
}
