// SPDX-License-Identifier: GPL-2.0
/*
 * Properties: what we say of ourselves, and what the server says of itself.
 *
 * Ours hold for the life of the connection. What the server announces, in
 * whatever message and at whatever time (S30), bounds what is marshalled from
 * then on; and it too lasts as long as the connection (S19).
 *
 * All this happens in the receive CQ, but for the CONNPROP that asks for the
 * version. Messages go out with requests of the backward direction's pool.
 */
#include "xprtrdma2.h"

#include <linux/bitops.h>

#include <rpcrdma2/propset.h>

#include "trace.h"

/* S13, S20 */
static void describe_us(struct rpcrdma2_props *us)
{
	us->pr_rbsiz = RPCRDMA2_INLINE_DEFAULT;
	us->pr_brs = RDMA2_BKREQSUP_INLINE;
}

/* S33, S14: on the wire from the next message on (S15) */
static void bound_messages(struct xprt2_ep *ep)
{
	WRITE_ONCE(ep->ep_call_threshold,
		   rpcrdma2_send_limit(&ep->ep_props.pp_now,
				       RPCRDMA2_INLINE_DEFAULT));
	WRITE_ONCE(ep->ep_reply_threshold,
		   rpcrdma2_reply_limit(&ep->ep_props,
					RPCRDMA2_INLINE_DEFAULT));
}

/**
 * xprt2_begin_properties - nothing is known of the server yet (C-005)
 * @ep: endpoint under construction
 */
void xprt2_begin_properties(struct xprt2_ep *ep)
{
	rpcrdma2_peer_props_init(&ep->ep_props);
	describe_us(&ep->ep_told);
	bound_messages(ep);
}

/* S26, S32 */
static int send_propmsg(struct xprt2_ep *ep, struct rpcrdma2_hdr *h,
			const struct rpcrdma2_propmsg *pm, gfp_t gfp)
{
	struct xprt2_req *req = xprt2_backward_req(ep->ep_xp, gfp);
	struct xdr_stream xdr;
	struct rpc_rqst *rqst;
	int rc;

	if (!req)
		return -ENOMEM;
	rqst = &req->rq2_slot;
	rqst->rq_xid = cpu_to_be32(h->h_xid);
	xdr_buf_init(&rqst->rq_snd_buf, rqst->rq_buffer, RPCRDMA2_INLINE_FIRST);
	rqst->rq_snd_buf.head[0].iov_len = 0;
	xdr_init_encode(&xdr, &rqst->rq_snd_buf, NULL, NULL);
	h->h_credit = ep->ep_max_reqs;
	rc = rpcrdma2_encode_propmsg(&xdr, h, pm);
	if (!rc)
		rc = xprt2_post_backward(ep, req, 0, RDMA2_MSG);
	xprt2_req_put(req);
	return rc;
}

/*
 * S18: an error carries nothing but the xid, so it must be nobody else's: it
 * comes from the sequence that the RPCs' come from.
 */
static u32 take_xid(struct rpc_xprt *xprt)
{
	__be32 xid;

	spin_lock(&xprt->reserve_lock);
	xid = (__force __be32)xprt->xid++;
	spin_unlock(&xprt->reserve_lock);
	return be32_to_cpu(xid);
}

/**
 * xprt2_send_connprop - say what we are, once a connection
 * @ep: endpoint
 * @h: header to work with
 * @gfp: allocation flags
 *
 * C-043, C-045, S15: everything, for good.
 *
 * Context: connect, before the connection is ready; receive CQ.
 * Return: 0, or an error and nothing is sent; then nothing answers it.
 */
int xprt2_send_connprop(struct xprt2_ep *ep, struct rpcrdma2_hdr *h, gfp_t gfp)
{
	struct rpcrdma2_propmsg us = {
		.pm_type  = RDMA2_OPT_CONNPROP,
		.pm_nochg = RPCRDMA2_PROPS_ALL,
	};

	rpcrdma2_propset_init(&us.pm_set, RPCRDMA2_PROPS_ALL, &ep->ep_told);
	ep->ep_connprop_xid = take_xid(&ep->ep_xp->xp_xprt);
	ep->ep_connprop_sent = true;
	h->h_xid = ep->ep_connprop_xid;
	h->h_proc = 0;
	return send_propmsg(ep, h, &us, gfp);
}

/**
 * xprt2_introduce - tell a server that was known what we are
 * @ep: endpoint
 * @h: header to work with
 *
 * When there is no memory for it the defaults hold.
 *
 * Context: receive CQ, when a message is done with.
 */
void xprt2_introduce(struct xprt2_ep *ep, struct rpcrdma2_hdr *h)
{
	if (xprt2_send_connprop(ep, h, GFP_NOWAIT | __GFP_NOWARN))
		ep->ep_intro = XPRT2_INTRO_NONE;
	else
		ep->ep_intro = XPRT2_INTRO_OUT;
}

/* S15: a second CONNPROP is an update */
static void take_values(struct xprt2_ep *ep, const struct rpcrdma2_propmsg *pm)
{
	const struct rpcrdma2_propset *ps = &pm->pm_set;
	u32 frozen;

	if (pm->pm_type == RDMA2_OPT_CONNPROP) {
		xprt2_count(connprops);
		frozen = rpcrdma2_apply_connprop(&ep->ep_props, &ps->ps_val,
						 ps->ps_rows, pm->pm_nochg);
	} else {
		xprt2_count(updprops);
		frozen = rpcrdma2_apply_updprop(&ep->ep_props, &ps->ps_val,
						ps->ps_rows);
	}
	xprt2_count_add(frozen_properties, hweight32(frozen));
	bound_messages(ep);
	xprt2_backward_measure(ep);
	trace_xprt2_property(ep, pm->pm_type);
}

/* S46: who can send neither answer nor error gives the connection up. */
static void answer_reqprop(struct xprt2_ep *ep, struct rpcrdma2_hdr *h,
			   const struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_propmsg answer;
	struct rpcrdma2_props able;

	xprt2_count(reqprops);
	trace_xprt2_property(ep, pm->pm_type);
	describe_us(&able);
	rpcrdma2_answer_reqprop(&answer, &pm->pm_set, &ep->ep_told, &able);
	if (send_propmsg(ep, h, &answer, GFP_NOWAIT | __GFP_NOWARN))
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_REPLY);
}

static enum rpcrdma2_errcode read_propmsg(struct rpcrdma2_propmsg *pm,
					  const struct rpcrdma2_hdr *h,
					  const struct xdr_buf *buf)
{
	enum rpcrdma2_errcode verdict;

	pm->pm_want = NULL;
	verdict = rpcrdma2_decode_propmsg(pm, h, buf);
	if (verdict == RDMA2_OK)
		xprt2_count_add(odd_properties, pm->pm_set.ps_odd); /* S12 */
	return verdict;
}

/**
 * xprt2_judge_property - look at what the decoder leaves to others
 * @h: header of a property message or of an option
 * @buf: the message
 *
 * Context: receive CQ.
 * Return: RDMA2_OK, or the error that it draws when it is a Call.
 */
enum rpcrdma2_errcode xprt2_judge_property(const struct rpcrdma2_hdr *h,
					   const struct xdr_buf *buf)
{
	struct rpcrdma2_propmsg pm = { };

	return rpcrdma2_decode_propmsg(&pm, h, buf);
}

/**
 * xprt2_take_connprop - apply a message, if it is a good CONNPROP
 * @ep: endpoint
 * @h: its header
 * @buf: the message
 *
 * Context: receive CQ.
 * Return: whether it is.
 */
bool xprt2_take_connprop(struct xprt2_ep *ep, const struct rpcrdma2_hdr *h,
			 const struct xdr_buf *buf)
{
	struct rpcrdma2_propmsg pm;

	if ((h->h_proc != RDMA2_CONNPROP && h->h_proc != RDMA2_OPTIONAL) ||
	    h->h_opttype != RDMA2_OPT_CONNPROP || read_propmsg(&pm, h, buf))
		return false;
	take_values(ep, &pm);
	return true;
}

/**
 * xprt2_handle_property - a property message, or an option
 * @ep: endpoint
 * @rep: Receive buffer it is in
 * @h: its header, of which answers are made
 * @verdict: of the decoder
 * @wc: Receive completion
 *
 * A bad one is refused as a whole (S11, S38), and so is an option that is none
 * of ours (C-012, S40). Nothing is answered while our own first message is
 * not (C-097).
 *
 * Context: receive CQ.
 */
void xprt2_handle_property(struct xprt2_ep *ep, struct xprt2_rep *rep,
			   struct rpcrdma2_hdr *h,
			   enum rpcrdma2_errcode verdict,
			   const struct ib_wc *wc)
{
	struct rpcrdma2_propmsg pm;
	struct xdr_buf buf;

	xdr_buf_init(&buf, rep->rep_buf, wc->byte_len);
	buf.len = wc->byte_len;
	if (verdict == RDMA2_OK)
		verdict = read_propmsg(&pm, h, &buf);

	if (verdict == RDMA2_OK && pm.pm_type != RDMA2_OPT_REQPROP) {
		take_values(ep, &pm);
	} else if (!ep->ep_grant) {
		xprt2_count(replies_dropped);
	} else if (verdict == RDMA2_OK) {
		answer_reqprop(ep, h, &pm);
	} else {
		xprt2_count(properties_refused);
		rpcrdma2_set_error(h, verdict, 0, 0);
		h->h_credit = ep->ep_max_reqs;
		xprt2_send_error(ep, h);
	}
	xprt2_drop_invalidation(ep, wc);
	xprt2_rep_put(ep->ep_xp, rep);
}
