// SPDX-License-Identifier: GPL-2.0
/*
 * Properties that the peer advertises, and those of the server.
 *
 * A CONNPROP is the first message of a version 2 client; the server answers
 * with its own, once (S29). The properties of the peer bound the server's Sends
 * from then on. When the server's properties change it announces them, or
 * requests a change of the peer's.
 *
 * svc2_recvfrom() handles control messages one at a time, in the order of
 * arrival, and sends the server's property messages in between: the thread that
 * has the connection's XPT_BUSY does it. Therefore nothing here is locked.
 */
#include <linux/bitops.h>
#include <linux/random.h>

#include "svcrdma2.h"

static int svc2_props_encode(struct svc2_xprt *sp, struct svc2_tx *tx,
			     const struct rpcrdma2_propmsg *pm)
{
	int len = rpcrdma2_encode_propmsg(tx->tx_buf, SVC2_TX_BUFSIZE,
					  sp->sp_grant, pm);	/* S26 */

	tx->tx_len = max(len, 0);
	tx->tx_vers = RPCRDMA2_VERS_TWO;
	return min(len, 0);
}

/*
 * @h is the header of the message that is answered, and is overwritten: the
 * answer has its spelling (S01). An answer that the peer cannot receive becomes
 * an error (C-093).
 */
static void svc2_props_post(struct svc2_xprt *sp, struct rpcrdma2_hdr *h,
			    struct rpcrdma2_propmsg *pm)
{
	struct svc2_tx *tx = svc2_tx_get(sp);
	struct rpcrdma2_reply_plan plan = { };
	int ret;

	if (IS_ERR(tx))
		return;
	pm->pm_xid = h->h_xid;
	pm->pm_option = h->h_proc == RDMA2_OPTIONAL;
	ret = svc2_props_encode(sp, tx, pm);
	if (!ret && tx->tx_len > READ_ONCE(sp->sp_send_max[h->h_vers]))
		ret = -EMSGSIZE;
	if (!ret)
		ret = svc2_tx_post(sp, tx, 0, NULL);	/* S49 */
	if (ret)
		svc2_error_instead(sp, tx, h, &plan, ret);
}

/* An UPDPROP, REQPROP or CONNPROP of the peer, or its answer */
static void svc2_props_count(const struct rpcrdma2_propmsg *pm, u32 frozen)
{
	static const enum svc2_counter counters[] = {
		[RDMA2_OPT_CONNPROP]	= SVC2_C_connprops,
		[RDMA2_OPT_REQPROP]	= SVC2_C_reqprops,
		[RDMA2_OPT_RESPROP]	= SVC2_C_resprops,
		[RDMA2_OPT_UPDPROP]	= SVC2_C_updprops,
	};

	this_cpu_inc(svc2_counters[counters[pm->pm_type]]);
	svc2_count_add(odd_properties, pm->pm_set.ps_odd);	/* S12 */
	svc2_count_add(frozen_properties, hweight32(frozen));	/* S15 */
}

static void svc2_props_take(struct svc2_xprt *sp,
			    const struct rpcrdma2_propmsg *pm)
{
	u32 effects;

	/*
	 * It may be the message that the server waits for: see svc2_converse().
	 */
	sp->sp_talking = true;
	svc2_props_count(pm, rpcrdma2_exchange_take(&sp->sp_ex, pm, &effects));
	if (effects & RPCRDMA2_EFFECT_MESSAGES)
		svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
}

/**
 * svc2_take_property - process a property message
 * @rqstp: thread
 * @msg: the message, well-formed, in either spelling (S01); gone afterwards
 *
 * Context: svc thread; may sleep.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_take_property(struct svc_rqst *rqstp, struct svc2_msg *msg)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct rpcrdma2_propmsg *pm = &msg->sm_msg.mg_prop;
	struct rpcrdma2_exchange *ex = &sp->sp_ex;
	struct rpcrdma2_propmsg answer;

	svc2_msg_put_recv(sp, msg);		/* R6 */
	svc2_props_take(sp, pm);
	if (rpcrdma2_exchange_answer(ex, pm, jiffies, &answer))
		svc2_props_post(sp, &msg->sm_msg.mg_hdr, &answer);
	if (ex->ex_recv_wish)
		svc2_receives_wanted(sp, ex->ex_recv_wish);
	ex->ex_recv_wish = 0;
	svc2_msg_put(sp, msg);
	return 0;
}

/**
 * svc2_take_granted - process a RESPROP, or an option that is an answer
 * @rqstp: thread
 * @msg: the message, perhaps malformed; gone afterwards
 *
 * Context: svc thread.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_take_granted(struct svc_rqst *rqstp, struct svc2_msg *msg)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct rpcrdma2_msg *mg = &msg->sm_msg;

	if (!mg->mg_verdict && mg->mg_prop.pm_want) {
		svc2_props_take(sp, &mg->mg_prop);
		svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
	} else if (mg->mg_bad_body &&
		   mg->mg_prop.pm_type == RDMA2_OPT_RESPROP &&
		   rpcrdma2_exchange_spoilt(&sp->sp_ex, mg->mg_hdr.h_xid)) {
		svc2_count(properties_in_vain);		/* S11 */
		svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
	} else {
		return svc2_discard_reply(sp, msg);	/* S17, S39 */
	}
	svc2_msg_put(sp, msg);
	return 0;
}

/**
 * svc2_take_error - process an RDMA2_ERROR
 * @rqstp: thread
 * @msg: the message, perhaps malformed; gone afterwards
 *
 * S18: it answers a property message of the server, or else a callback. The
 * memory regions of a callback may have to wait for entries of the Send Queue,
 * and so for the peer. Such an error is left to the thread that finds it on
 * sp_ready_q.
 *
 * Context: svc thread, under XPT_BUSY.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_take_error(struct svc_rqst *rqstp, struct svc2_msg *msg)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);

	if (!rpcrdma2_msg_is_error(&msg->sm_msg) ||
	    !rpcrdma2_exchange_refused(&sp->sp_ex, &msg->sm_msg.mg_hdr)) {
		svc2_msg_ready(sp, msg);
		return 0;
	}
	svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
	return svc2_discard(sp, msg, SVC2_C_properties_in_vain);
}

/*
 * S18: an error carries only an xid, so a property message must not have the
 * xid of a callback: its xid is taken from the sequence of the callbacks.
 */
static u32 svc2_props_take_xid(struct svc2_xprt *sp)
{
	/* pairs with svc2_bc_setup() */
	struct rpc_xprt *xprt = smp_load_acquire(&sp->sp_xprt.xpt_bc_xprt);

	if (!xprt)
		return get_random_u32();
	guard(spinlock)(&xprt->reserve_lock);
	return be32_to_cpu((__force __be32)xprt->xid++);
}

/*
 * True if there is a send context besides those of the threads with a Call. A
 * Call may have been taken up without one (svc2_may_receive()), and XPT_BUSY
 * does not wait for the peer.
 */
static bool svc2_has_context(const struct svc2_xprt *sp)
{
	return svc2_sem_avail(&sp->sp_tx_sem) >
	       atomic_read(&sp->sp_xprt.xpt_nr_rqsts);
}

/* Return: 0, or an error for a retry or a lost connection. */
static int svc2_props_send(struct svc2_xprt *sp,
			   const struct rpcrdma2_propmsg *pm)
{
	struct svc2_tx *tx = ERR_PTR(-ENOMEM);
	int ret;

	if (svc2_has_context(sp))
		tx = svc2_tx_get(sp);
	if (IS_ERR(tx))
		return PTR_ERR(tx);
	ret = svc2_props_encode(sp, tx, pm);
	tx->tx_notice = ++sp->sp_notices;
	if (!ret)
		ret = svc2_tx_post(sp, tx, 0, NULL);
	if (ret)
		svc2_tx_put(sp, tx);
	return ret;
}

static void svc2_props_send_next(struct svc2_xprt *sp)
{
	struct rpcrdma2_exchange *ex = &sp->sp_ex;
	struct rpcrdma2_propmsg pm;

	if (!rpcrdma2_exchange_next(ex, jiffies, &pm))
		return;
	svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);	/* C-034: before it leaves */
	pm.pm_xid = svc2_props_take_xid(sp);
	if (svc2_props_send(sp, &pm)) {
		rpcrdma2_exchange_unsent(ex);
	} else {
		rpcrdma2_exchange_sent(ex, &pm, pm.pm_xid, jiffies);
		ex->ex_away = true;
		if (pm.pm_type == RDMA2_OPT_REQPROP)
			svc2_count(reqprops_sent);
		else
			svc2_count(updprops_sent);
	}
	svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);	/* S14: once it has left */
}

/**
 * svc2_heard - note the arrival of a message, of any kind
 * @sp: connection
 * @at: time of its arrival, in jiffies; it may have waited for a thread
 *
 * Context: svc thread, under XPT_BUSY.
 */
void svc2_heard(struct svc2_xprt *sp, unsigned long at)
{
	/* pairs with svc2_send_done() */
	if (smp_load_acquire(&sp->sp_notice_done) == sp->sp_notices)
		rpcrdma2_exchange_arrived(&sp->sp_ex, sp->sp_notice_at);
	if (rpcrdma2_exchange_heard(&sp->sp_ex, at))
		svc2_count(properties_in_vain);
}

/**
 * svc2_converse - send the next property message, if there is one and it is due
 * @sp: connection
 *
 * Context: svc thread, under XPT_BUSY; may sleep.
 */
void svc2_converse(struct svc2_xprt *sp)
{
	clear_bit(SVC2_F_CHANGED, &sp->sp_flags);
	/* pairs with svc2_sizes_changed() */
	smp_mb__after_atomic();
	svc2_sizes_update(sp);
	rpcrdma2_exchange_resize(&sp->sp_ex, sp->sp_recv_size, sp->sp_send_own);
	svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
	svc2_props_send_next(sp);
	WRITE_ONCE(sp->sp_talking, rpcrdma2_exchange_busy(&sp->sp_ex));
}
