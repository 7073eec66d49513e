// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of both ends. The server answers the CONNPROP of a version 2
 * client with its own, once (S29). Control messages come one at a time, in the
 * order of arrival, to the thread with XPT_BUSY, which sends the server's
 * property messages in between. Therefore nothing here is locked.
 */
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
 * An answer that the peer cannot receive becomes an error (C-093). @h is the
 * header of the message that is answered.
 */
static void svc2_props_answer(struct svc2_xprt *sp, struct rpcrdma2_hdr *h,
			      const struct rpcrdma2_propmsg *pm)
{
	struct svc2_tx *tx = svc2_tx_get(sp);
	struct rpcrdma2_reply_plan plan = { };
	int ret;

	if (IS_ERR(tx))
		return;
	ret = svc2_props_encode(sp, tx, pm);
	if (!ret && tx->tx_len > READ_ONCE(sp->sp_send_max[RPCRDMA2_VERS_TWO]))
		ret = -EMSGSIZE;
	if (!ret)
		ret = svc2_tx_post(sp, tx, 0, NULL);	/* S49 */
	if (ret)
		svc2_error_instead(sp, tx, h, &plan, ret);
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

static int svc2_props_send(struct rpcrdma2_exchange *ex,
			   struct rpcrdma2_hdr *h, struct rpcrdma2_propmsg *pm)
{
	struct svc2_xprt *sp = container_of(ex, struct svc2_xprt, sp_ex);
	struct svc2_tx *tx;
	int ret;

	if (h) {
		svc2_props_answer(sp, h, pm);
		return 0;
	}
	/*
	 * A Call may have been taken up without a context (svc2_may_receive()),
	 * and XPT_BUSY does not wait for the peer.
	 */
	if (svc2_sem_avail(&sp->sp_tx_sem) <=
	    atomic_read(&sp->sp_xprt.xpt_nr_rqsts))
		return -EAGAIN;
	tx = svc2_tx_get(sp);
	if (IS_ERR(tx))
		return PTR_ERR(tx);
	pm->pm_xid = svc2_props_take_xid(sp);
	ret = svc2_props_encode(sp, tx, pm);
	tx->tx_props = ex->ex_number;
	if (!ret)
		ret = svc2_tx_post(sp, tx, 0, NULL);
	if (ret)
		svc2_tx_put(sp, tx);
	return ret;
}

static void svc2_props_changed(struct rpcrdma2_exchange *ex)
{
	struct svc2_xprt *sp = container_of(ex, struct svc2_xprt, sp_ex);

	svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
	WRITE_ONCE(sp->sp_props_busy, rpcrdma2_exchange_busy(ex));
}

static void svc2_props_resize(struct rpcrdma2_exchange *ex, u32 bytes)
{
	svc2_receives_resize(container_of(ex, struct svc2_xprt, sp_ex), bytes);
}

static void svc2_props_count(enum rpcrdma2_props_counter which, u32 n)
{
	this_cpu_add(svc2_counters[SVC2_C_connprops + which], n);
}

const struct rpcrdma2_props_ops svc2_props_ops = {
	.send		= svc2_props_send,
	.changed	= svc2_props_changed,
	.resize		= svc2_props_resize,
	.count		= svc2_props_count,
	.confirms	= true,
};

/**
 * svc2_handle_property - process a property message
 * @rqstp: thread
 * @msg: the message, well-formed, in either spelling (S01); gone afterwards
 *
 * Context: svc thread, under XPT_BUSY; may sleep.
 * Return: 0, for ->xpo_recvfrom.
 */
int svc2_handle_property(struct svc_rqst *rqstp, struct svc2_msg *msg)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);

	svc2_msg_put_recv(sp, msg);		/* R6 */
	rpcrdma2_exchange_take(&sp->sp_ex, &msg->sm_msg.mg_prop);
	rpcrdma2_exchange_answer(&sp->sp_ex, &msg->sm_msg, jiffies);
	svc2_msg_put(sp, msg);
	return 0;
}

/**
 * svc2_handle_resprop - process a RESPROP, or an option that is an answer
 * @rqstp: thread
 * @msg: the message, perhaps malformed; gone afterwards
 *
 * Context: svc thread, under XPT_BUSY.
 * Return: 0, for ->xpo_recvfrom.
 */
int svc2_handle_resprop(struct svc_rqst *rqstp, struct svc2_msg *msg)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct rpcrdma2_msg *mg = &msg->sm_msg;

	if (!mg->mg_verdict && mg->mg_prop.pm_want)
		rpcrdma2_exchange_take(&sp->sp_ex, &mg->mg_prop);
	else if (!rpcrdma2_exchange_malformed(&sp->sp_ex, mg))
		return svc2_discard_reply(sp, msg);	/* S17, S39 */
	svc2_msg_put(sp, msg);
	return 0;
}

/**
 * svc2_handle_error - process an RDMA2_ERROR
 * @rqstp: thread
 * @msg: the message, perhaps malformed; no longer the caller's
 *
 * S18: it answers a property message of the server, or else a callback. The
 * memory regions of a callback may have to wait for entries of the Send Queue,
 * and so for the peer. Such an error is left to the thread that finds it on
 * sp_ready_q.
 *
 * Context: svc thread, under XPT_BUSY.
 * Return: 0, for ->xpo_recvfrom.
 */
int svc2_handle_error(struct svc_rqst *rqstp, struct svc2_msg *msg)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);

	if (rpcrdma2_msg_is_error(&msg->sm_msg) &&
	    rpcrdma2_exchange_refused(&sp->sp_ex, &msg->sm_msg.mg_hdr))
		svc2_msg_put(sp, msg);
	else
		svc2_msg_ready(sp, msg);
	return 0;
}

/**
 * svc2_props_update - update the sizes; send the next property message, if due
 * @sp: connection
 *
 * Context: svc thread, under XPT_BUSY; may sleep.
 */
void svc2_props_update(struct svc2_xprt *sp)
{
	clear_bit(SVC2_F_CHANGED, &sp->sp_flags);
	/* pairs with svc2_sizes_changed() */
	smp_mb__after_atomic();
	svc2_sizes_update(sp);
	rpcrdma2_exchange_resize(&sp->sp_ex, sp->sp_recv_size, sp->sp_send_own);
	rpcrdma2_exchange_send_next(&sp->sp_ex, jiffies);
}
