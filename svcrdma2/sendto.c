// SPDX-License-Identifier: GPL-2.0
/*
 * From nfsd's Reply to the Send Queue, or an RDMA2_ERROR in its place.
 */
#include "svcrdma2.h"

#include <rpcrdma2/fault.h>
#include <rpcrdma2/respond.h>

#include "trace.h"

/*
 * RDMA2_ERROR: as the answer to a message, or in place of a Reply.
 *
 * A message that may be answered always is, or the connection is lost (S46):
 * the same send context serves for the answer or, when that cannot be built,
 * for the error instead.
 */

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
 * svc2_error_instead - send an error in place of an answer
 * @sp: connection
 * @tx: send context, with the part of the answer that could be built
 * @h: header of the answer; overwritten
 * @plan: plan of the answer; pn_code is the error, or 0 for an unexpected one
 * @ret: reason why there is no answer; 0 when none was tried
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
 * @code: code of the error
 * @arg: argument of the error, see rpcrdma2_set_error()
 * @arg2: its second argument
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
 * svc2_refuse - answer a message with an error that reports the server's limits
 * @sp: its connection
 * @msg: message, which may be answered (S38); gone afterwards (C-082)
 * @code: code of the error
 *
 * Context: svc thread; may sleep.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_refuse(struct svc2_xprt *sp, struct svc2_msg *msg,
		enum rpcrdma2_errcode code)
{
	return svc2_refuse_with(sp, msg, code, 0, 0);
}

/*
 * Replies. rpcrdma2_plan_reply() decides how a Reply travels, from plain
 * numbers and before any byte is written.
 */

/**
 * svc2_result_payload - implement ->xpo_result_payload
 * @rqstp: thread
 * @offset: start in rq_res of a result that may go in a Write chunk
 * @length: its bytes
 *
 * Return: 0. svc2_sendto() checks whether the chunk is large enough.
 */
int svc2_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			unsigned int length)
{
	struct svc2_msg *call = rqstp->rq_xprt_ctxt;

	if (call && call->sm_nresults < ARRAY_SIZE(call->sm_results))
		call->sm_results[call->sm_nresults++] =
			(struct rpcrdma2_range){ offset, length };
	return 0;
}

/*
 * Inline data that does not fit the first page of the buffer is copied to
 * further pages, or the device gathers it.
 *
 * Return: 0; -ENOMEM when neither is possible now; -EMSGSIZE when neither ever
 * is.
 */
static int svc2_reply_prepare_inline(struct svc2_xprt *sp, struct svc2_tx *tx,
				     const struct xdr_buf *res, u32 hdrlen,
				     struct rpcrdma2_reply_plan *plan)
{
	bool fails = rpcrdma2_fault(buffer);
	int ret;

	ret = fails ? -ENOMEM : svc2_tx_copies(sp, tx, hdrlen, plan->pn_len);
	if (likely(!ret))
		return 0;
	plan->pn_gather = !fails && svc2_tx_gathers(sp, res, plan);
	if (plan->pn_gather)
		return 0;
	return ret == -ENOMEM ? svc2_tx_borrow(sp, tx, hdrlen, plan->pn_len) : ret;
}

/*
 * C-093: a Reply that fits the peer's Receives is not refused for lack of a
 * buffer, which is transient. It goes in the Reply chunk if there is one, and
 * waits if there is none.
 *
 * Return: 0, -ENOMEM for a transient shortage, -EINVAL for an error.
 */
static int svc2_reply_make_plan(struct svc2_xprt *sp, struct svc2_tx *tx,
				struct svc2_msg *call,
				const struct xdr_buf *res,
				struct rpcrdma2_reply_plan *plan)
{
	struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	u32 hdrlen;
	int ret;

	rpcrdma2_find_results(res, call->sm_results, call->sm_nresults);
	hdrlen = rpcrdma2_respond_plan(plan, h, call->sm_results,
				       call->sm_nresults, res->len,
				       READ_ONCE(sp->sp_send_max[h->h_vers]));
	if (plan->pn_code)
		return -EINVAL;
	if (plan->pn_long || likely(hdrlen + plan->pn_len <= SVC2_TX_BUFSIZE))
		return 0;
	ret = svc2_reply_prepare_inline(sp, tx, res, hdrlen, plan);
	if (likely(!ret))
		return 0;
	rpcrdma2_plan_reply(plan, h, call->sm_results, call->sm_nresults,
			    res->len, hdrlen, SVC2_TX_BUFSIZE);
	if (!plan->pn_code)
		return 0;
	return ret == -ENOMEM ? ret : -EINVAL;
}

/*
 * Return: 0; -EINVAL when @plan is an error; -ENOTCONN for a lost connection.
 */
static int svc2_reply_plan(struct svc_rqst *rqstp, struct svc2_tx *tx,
			   struct svc2_msg *call,
			   struct rpcrdma2_reply_plan *plan)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	unsigned int tries = 0;
	int ret;

	do {
		ret = svc2_reply_make_plan(sp, tx, call, &rqstp->rq_res, plan);
	} while (svc2_try_again(sp, &tries, &ret));
	trace_svc2_plan_reply(call, plan);
	return ret;
}

/* Counts a Reply that was posted; @offered: its Call had a Reply chunk */
static void svc2_reply_count(struct svc2_xprt *sp, const struct rpcrdma2_hdr *h,
			     bool offered,
			     const struct rpcrdma2_reply_plan *plan)
{
	unsigned int i;

	svc2_count(replies);
	for (i = 0; i < h->h_nwrites; i++) {
		if (plan->pn_writes[i].ra_len) {
			svc2_count(write_chunks);
			atomic_long_inc(&sp->sp_write_chunks);
			svc2_count_add(write_chunk_bytes, plan->pn_writes[i].ra_len);
		}
	}
	if (plan->pn_long) {
		svc2_count(reply_chunks_used);
		atomic_long_inc(&sp->sp_reply_chunks);
		svc2_count_add(reply_chunk_bytes, plan->pn_len);
		return;
	}
	if (offered)
		svc2_count(reply_chunks_unused);
	svc2_count_add(inline_bytes, plan->pn_len);
	if (!plan->pn_gather)
		svc2_count_add(pullup_bytes, plan->pn_len);
}

static int svc2_reply_build_writes(struct svc2_xprt *sp, struct svc2_tx *tx,
				   const struct xdr_buf *res,
				   struct rpcrdma2_hdr *h,
				   const struct rpcrdma2_reply_plan *plan)
{
	svc2_tx_reads(tx, res, plan->pn_writes, h->h_nwrites);
	if (plan->pn_long)
		svc2_tx_reads(tx, res, plan->pn_rest, plan->pn_nrest);
	return rpcrdma2_respond_writes(&tx->tx_rw, res, h, plan) ?:
	       rpcrdma2_rw_map(&sp->sp_conn, &tx->tx_rw);
}

static int svc2_reply_fill_tx(struct svc_rqst *rqstp, struct svc2_tx *tx,
			      struct svc2_msg *call,
			      const struct rpcrdma2_reply_plan *plan)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct xdr_buf *res = &rqstp->rq_res;
	struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	int ret;

	tx->tx_head = rqstp->rq_respages[0];
	ret = rpcrdma2_fault(reply) ?
		      -EINVAL :
		      svc2_reply_build_writes(sp, tx, res, h, plan);
	if (!ret)
		ret = svc2_tx_header(tx, h, NULL);
	if (!ret && tx->tx_len > plan->pn_send_max)
		ret = -EMSGSIZE;
	if (!ret && !plan->pn_long)
		ret = svc2_tx_payload(sp, tx, res, plan);
	return ret ?: svc2_tx_take_pages(rqstp, tx);
}

/*
 * A transient failure restarts the build: the first step may have set lengths
 * in the header to the lengths written, and sets them to the same values again.
 */
static int svc2_reply_build(struct svc_rqst *rqstp, struct svc2_tx *tx,
			    struct svc2_msg *call,
			    const struct rpcrdma2_reply_plan *plan)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	unsigned int tries = 0;
	int ret;

	rpcrdma2_respond_hdr(&call->sm_msg.mg_hdr, plan, sp->sp_grant);
	do {
		ret = svc2_reply_fill_tx(rqstp, tx, call, plan);
		if (ret)
			svc2_tx_reset(sp, tx);
	} while (svc2_try_again(sp, &tries, &ret));
	return ret;
}

/*
 * Send Queue entries of a Call, for its Reply. NULL if the Call was deferred
 * and its first thread is about to give them back.
 */
static unsigned int *svc2_msg_held(struct svc2_msg *call)
{
	if (likely(!call->sm_thread || call->sm_thread == current) ||
	    READ_ONCE(call->sm_deferred))
		return &call->sm_entries;
	return NULL;
}

/* Return: as svc2_sendto(); -EAGAIN when it must be planned again (C-034). */
static int svc2_reply_send(struct svc_rqst *rqstp, struct svc2_tx *tx,
			   struct svc2_msg *call,
			   const struct rpcrdma2_reply_plan *plan)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	int ret;

	ret = svc2_reply_build(rqstp, tx, call, plan);
	if (ret)
		return ret;
	ret = svc2_tx_post(sp, tx, call->sm_inv_handle, svc2_msg_held(call));
	if (unlikely(ret == -EMSGSIZE)) {
		svc2_count(replies_planned_again);
		svc2_tx_return_pages(rqstp, tx);
		svc2_tx_reset(sp, tx);
		return -EAGAIN;
	}
	svc2_put_pages(rqstp);
	return ret;
}

/**
 * svc2_sendto - implement ->xpo_sendto
 * @rqstp: thread, with the Reply in rq_res
 *
 * Context: svc thread; may sleep.
 * Return: 0 when something was posted, -ENOTCONN when the connection is lost.
 */
int svc2_sendto(struct svc_rqst *rqstp)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct svc2_msg *call = rqstp->rq_xprt_ctxt;
	struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	bool offered = h->h_has_reply;
	struct rpcrdma2_reply_plan plan;
	struct svc2_tx *tx;
	int ret;

	if (svc_xprt_is_dead(rqstp->rq_xprt))
		return -ENOTCONN;
	if (unlikely(READ_ONCE(call->sm_deferred)) && svc2_sq_regain(sp, call))
		return -ENOTCONN;
	tx = svc2_tx_get(sp);
	if (IS_ERR(tx))
		return -ENOTCONN;

	svc2_grant_lower(sp, call);
	svc2_msg_put_recv(sp, call);		/* R6 */
	do {
		h->h_has_reply = offered;
		ret = svc2_reply_plan(rqstp, tx, call, &plan) ?:
		      svc2_reply_send(rqstp, tx, call, &plan);
	} while (unlikely(ret == -EAGAIN));
	if (ret) {
		svc2_sq_release(sp, svc2_msg_held(call));
		return svc2_error_instead(sp, tx, h, &plan, ret);
	}
	svc2_reply_count(sp, h, offered, &plan);
	svc2_grant_raise(sp);
	return 0;
}
