// SPDX-License-Identifier: GPL-2.0
/*
 * Replies. How one travels is decided in reply_plan.c, from plain numbers and before
 * any octet is written.
 */
#include <rpcrdma2/codec.h>

#include "svcrdma2.h"
#include "trace.h"

/**
 * svc2_result_payload - ->xpo_result_payload
 * @rqstp: thread
 * @offset: where in rq_res a result begins that may go in a Write chunk
 * @length: its octets
 *
 * Return: 0. Whether the chunk is large enough is for svc2_sendto() to see.
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

static bool word_is(const struct xdr_buf *res, u32 off, u32 value)
{
	u32 word;

	return !xdr_decode_word(res, off, &word) && word == value;
}

/*
 * A result is an opaque: its length is the word before it. nfsd names the
 * offset of that word instead for an NFSv4 READLINK. And a reply can have been
 * cut short or encrypted after the upper layer has named its results.
 */
static bool find_result(const struct xdr_buf *res, struct rpcrdma2_range *ra,
			u32 from)
{
	if (ra->ra_off < from + XDR_UNIT)
		return false;
	if (!word_is(res, ra->ra_off - XDR_UNIT, ra->ra_len)) {
		if (!word_is(res, ra->ra_off, ra->ra_len))
			return false;
		ra->ra_off += XDR_UNIT;
	}
	return ra->ra_off <= res->len && ra->ra_len <= res->len - ra->ra_off;
}

/* Results that are not where they should be stay with the rest. */
static void find_results(struct svc2_msg *call, const struct xdr_buf *res)
{
	struct rpcrdma2_range *ra = call->sm_results;
	unsigned int i;
	u32 from = 0;

	for (i = 0; i < call->sm_nresults; i++, ra++) {
		if (!ra->ra_len || !find_result(res, ra, from))
			ra->ra_len = 0;
		else
			from = ra->ra_off + ra->ra_len;
	}
}

static void make_plan(struct svc2_xprt *sp, struct svc2_msg *call,
		      const struct xdr_buf *res, struct rpcrdma2_reply_plan *plan)
{
	struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	bool offered = h->h_has_reply;
	u32 hdrlen;

	find_results(call, res);
	h->h_nreads = 0;
	h->h_has_reply = false;
	hdrlen = rpcrdma2_hdr_size(h);
	h->h_has_reply = offered;
	rpcrdma2_plan_reply(plan, h, call->sm_results, call->sm_nresults,
			    res->len, hdrlen,
			    READ_ONCE(sp->sp_send_max[h->h_vers]));
	if (plan->pn_code || plan->pn_long)
		return;
	/* What goes inline is gathered, or it is copied. */
	plan->pn_gather = plan->pn_len > SVC2_PULLUP_MAX &&
			  svc2_tx_gathers(sp, res, plan);
	if (!plan->pn_gather && hdrlen + plan->pn_len > SVC2_TX_BUFSIZE)
		rpcrdma2_plan_reply(plan, h, call->sm_results,
				    call->sm_nresults, res->len, hdrlen,
				    SVC2_TX_BUFSIZE);
}

static void count_chunks(const struct rpcrdma2_hdr *h,
			 const struct rpcrdma2_reply_plan *plan)
{
	unsigned int i;

	for (i = 0; i < h->h_nwrites; i++) {
		if (plan->pn_writes[i].ra_len) {
			svc2_count(write_chunks);
			svc2_count_add(write_chunk_bytes, plan->pn_writes[i].ra_len);
		}
	}
	if (plan->pn_long) {
		svc2_count(reply_chunks_used);
		svc2_count_add(reply_chunk_bytes, plan->pn_len);
	} else if (h->h_has_reply) {
		svc2_count(reply_chunks_unused);
	}
}

static int fill_chunk(struct svc2_tx *tx, const struct xdr_buf *res,
		      const struct rpcrdma2_range *src, unsigned int nsrc,
		      struct rpcrdma2_hdr *h, struct rpcrdma2_chunk *ck)
{
	svc2_tx_reads(tx, res, src, nsrc);
	return rpcrdma2_rw_write(&tx->tx_rw, res, src, nsrc, h, ck);
}

static int build_writes(struct svc2_xprt *sp, struct svc2_tx *tx,
			const struct xdr_buf *res, struct rpcrdma2_hdr *h,
			const struct rpcrdma2_reply_plan *plan)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < h->h_nwrites; i++) {
		const struct rpcrdma2_range *ra = &plan->pn_writes[i];

		ret = fill_chunk(tx, res, ra, ra->ra_len ? 1 : 0, h,
				 &h->h_writes[i]);
	}
	if (!ret && plan->pn_long)
		ret = fill_chunk(tx, res, plan->pn_rest, plan->pn_nrest, h,
				 &h->h_reply);
	return ret ?: rpcrdma2_rw_map(&sp->sp_conn, &tx->tx_rw);
}

static void begin_reply(struct svc2_xprt *sp, struct rpcrdma2_hdr *h,
			const struct rpcrdma2_reply_plan *plan)
{
	count_chunks(h, plan);
	h->h_proc = plan->pn_long ? RDMA2_NOMSG : RDMA2_MSG;
	h->h_direction = RDMA2_REPLY;
	h->h_inv_handle = 0;			/* S47 */
	h->h_credit = sp->sp_grant;
	h->h_has_reply = plan->pn_long;		/* E-06, S10 */
}

static int fill_tx(struct svc_rqst *rqstp, struct svc2_tx *tx,
		   struct svc2_msg *call, const struct rpcrdma2_reply_plan *plan)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct xdr_buf *res = &rqstp->rq_res;
	struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	int ret;

	tx->tx_head = rqstp->rq_respages[0];
	ret = build_writes(sp, tx, res, h, plan);
	if (!ret)
		ret = svc2_tx_header(tx, h, NULL);
	if (!ret && tx->tx_len > plan->pn_send_max)
		ret = -EMSGSIZE;
	if (!ret && !plan->pn_long)
		ret = svc2_tx_payload(sp, tx, res, plan);
	return ret ?: svc2_tx_take_pages(rqstp, tx);
}

/*
 * What fails for a passing shortage is begun again: the first step may have
 * set lengths in the header to what is written, and sets them to the same.
 */
static int build_reply(struct svc_rqst *rqstp, struct svc2_tx *tx,
		       struct svc2_msg *call, const struct rpcrdma2_reply_plan *plan)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	unsigned int tries = 0;
	int ret;

	begin_reply(sp, &call->sm_msg.mg_hdr, plan);
	do {
		ret = fill_tx(rqstp, tx, call, plan);
		if (ret)
			svc2_tx_reset(sp, tx);
	} while (svc2_try_again(sp, &tries, &ret));
	return ret;
}

/**
 * svc2_sendto - ->xpo_sendto
 * @rqstp: thread, with the Reply in rq_res
 *
 * Context: svc thread; sleeps while the Send Queue is full.
 * Return: 0 when something was posted, -ENOTCONN when the connection is lost.
 */
int svc2_sendto(struct svc_rqst *rqstp)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct svc2_msg *call = rqstp->rq_xprt_ctxt;
	struct rpcrdma2_reply_plan plan;
	struct svc2_tx *tx;
	int ret = -EINVAL;

	if (svc_xprt_is_dead(rqstp->rq_xprt))
		return -ENOTCONN;
	tx = svc2_tx_get(sp);
	if (IS_ERR(tx))
		return -ENOTCONN;

	make_plan(sp, call, &rqstp->rq_res, &plan);
	trace_svc2_plan_reply(call, &plan);
	if (!plan.pn_code)
		ret = build_reply(rqstp, tx, call, &plan);
	svc2_grant_put_recv(sp, call);		/* R6 */
	if (!ret)
		ret = svc2_tx_post(sp, tx, call->sm_inv_handle);
	if (ret)
		return svc2_error_instead(sp, tx, &call->sm_msg.mg_hdr, &plan, ret);
	svc2_count(replies);
	svc2_grant_raise(sp);
	return 0;
}
