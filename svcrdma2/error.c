// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA2_ERROR: in answer to a message, or in the place of a Reply.
 *
 * A message that may be answered always is, or the connection is lost (S46):
 * a send context does for an answer and, when that cannot be built, for the
 * error instead.
 */
#include "svcrdma2.h"
#include "trace.h"

/* S49: a plain Send, whatever handle the Call nominated */
static int svc2_post_error(struct svc2_xprt *sp, struct svc2_tx *tx,
			   struct rpcrdma2_hdr *h,
			   const struct rpcrdma2_reply_plan *plan)
{
	int ret;

	svc2_tx_reset(sp, tx);
	rpcrdma2_set_error(h, plan->pn_code, plan->pn_arg, plan->pn_arg2);
	h->h_credit = sp->sp_grant;		/* C-077 */
	ret = svc2_tx_header(tx, h, NULL);
	trace_svc2_send_error(sp->sp_conn.co_send_cq, 0, h, tx->tx_len,
			      plan->pn_code);
	if (!ret)
		ret = svc2_tx_post(sp, tx, 0, NULL);
	if (ret)
		return ret;
	svc2_count_error(plan->pn_code);
	rpcrdma2_errors_count(&sp->sp_errors, plan->pn_code);
	return 0;
}

/**
 * svc2_error_instead - send an error in the place of an answer
 * @sp: connection
 * @tx: send context, with as much of the answer as could be built
 * @h: header of the answer; overwritten
 * @plan: of the answer; pn_code is the error, or 0 when that was not foreseen
 * @ret: why there is no answer; 0 when none was tried
 *
 * C-093: when an answer can never be sent. @tx belongs to the Send Queue
 * afterwards, or is put back.
 *
 * Context: svc thread; sleeps.
 * Return: 0, or -ENOTCONN when the connection is lost (S46).
 */
int svc2_error_instead(struct svc2_xprt *sp, struct svc2_tx *tx,
		       struct rpcrdma2_hdr *h,
		       struct rpcrdma2_reply_plan *plan, int ret)
{
	if (!plan->pn_code)
		rpcrdma2_plan_error(plan, RDMA2_ERR_SYSTEM, 0, 0);
	if (ret != -ENOTCONN)
		ret = svc2_post_error(sp, tx, h, plan);
	if (!ret)
		return 0;

	/* S46: neither answer nor error */
	svc2_tx_put(sp, tx);
	svc2_close(sp, RPCRDMA2_LOSS_REPLY);
	return -ENOTCONN;
}

/**
 * svc2_refuse_with - answer a message with an error
 * @sp: its connection
 * @msg: message, which may be answered (S38); gone afterwards (C-082)
 * @code: which error
 * @arg: what goes with it, see rpcrdma2_set_error()
 * @arg2: likewise
 *
 * Context: svc thread; may sleep.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_refuse_with(struct svc2_xprt *sp, struct svc2_msg *msg,
		     enum rpcrdma2_errcode code, u32 arg, u32 arg2)
{
	struct rpcrdma2_reply_plan plan;
	struct svc2_tx *tx;

	svc2_msg_put_recv(sp, msg);		/* R6 */
	svc2_sq_release(sp, &msg->sm_entries);
	tx = svc2_tx_get(sp);
	if (!IS_ERR(tx)) {
		rpcrdma2_plan_error(&plan, code, arg, arg2);
		svc2_error_instead(sp, tx, &msg->sm_msg.mg_hdr, &plan, 0);
	}
	svc2_msg_put(sp, msg);
	return 0;
}

/**
 * svc2_refuse - answer a message with an error that says the server's limits
 * @sp: its connection
 * @msg: message, which may be answered (S38); gone afterwards (C-082)
 * @code: which error
 *
 * Context: svc thread; may sleep.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_refuse(struct svc2_xprt *sp, struct svc2_msg *msg,
		enum rpcrdma2_errcode code)
{
	return svc2_refuse_with(sp, msg, code, 0, 0);
}
