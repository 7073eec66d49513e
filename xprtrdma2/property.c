// SPDX-License-Identifier: GPL-2.0
/*
 * Properties: what the client says of itself, and what the server does.
 *
 * The client's hold for the life of the connection. What the server announces, in
 * whatever message and at whatever time (S30), bounds what is marshalled from
 * then on; and it too lasts as long as the connection (S19).
 *
 * All this happens in the receive CQ, but for the CONNPROP that asks for the
 * version. Messages go out with requests of the backward direction's pool.
 */
#include "xprtrdma2.h"

#include <linux/bitops.h>

#include "trace.h"

/* S33, S14: on the wire from the next message on (S15) */
static void bound_messages(struct xprt2_ep *ep)
{
	WRITE_ONCE(ep->ep_call_threshold,
		   rpcrdma2_exchange_send_max(&ep->ep_ex));
	WRITE_ONCE(ep->ep_reply_threshold,
		   rpcrdma2_exchange_reply_max(&ep->ep_ex));
}

/**
 * xprt2_begin_properties - nothing is known of the server yet (C-005)
 * @ep: endpoint under construction, its device known
 *
 * Calls of the server may have no chunks (S20, S23).
 */
void xprt2_begin_properties(struct xprt2_ep *ep)
{
	struct rpcrdma2_props *able = &ep->ep_ex.ex_able;

	rpcrdma2_exchange_init(&ep->ep_ex, false);
	able->pr_rbsiz = ep->ep_recv_size;		/* S13 */
	able->pr_sbsiz = ep->ep_send_size;
	able->pr_brs = RDMA2_BKREQSUP_INLINE;		/* S20 */
	able->pr_limits[RPCRDMA2_LIMIT_SEGS] = RPCRDMA2_MAX_SEGMENTS;
	able->pr_limits[RPCRDMA2_LIMIT_OCTETS] = U32_MAX;
	bound_messages(ep);
}

/**
 * xprt2_reply_refused - a Reply that was to come inline does not fit
 * @ep: endpoint
 * @needed: its octets, as the server says
 *
 * Context: receive CQ.
 */
void xprt2_reply_refused(struct xprt2_ep *ep, u32 needed)
{
	rpcrdma2_exchange_reply_refused(&ep->ep_ex, needed);
	bound_messages(ep);
}

/* S26, S32 */
static int send_propmsg(struct xprt2_ep *ep, struct rpcrdma2_hdr *h,
			const struct rpcrdma2_propmsg *pm, gfp_t gfp)
{
	struct xprt2_req *req = xprt2_backward_req(ep->ep_xp, gfp);
	struct rpc_rqst *rqst;
	int ret;

	if (!req)
		return -ENOMEM;
	rqst = &req->rq2_slot;
	rqst->rq_xid = cpu_to_be32(h->h_xid);
	h->h_credit = ep->ep_max_reqs;
	ret = rpcrdma2_encode_propmsg(rqst->rq_buffer, RPCRDMA2_INLINE_FIRST, h,
				      pm);
	if (ret > 0) {
		xdr_buf_init(&rqst->rq_snd_buf, rqst->rq_buffer, ret);
		rqst->rq_snd_buf.len = ret;
		ret = xprt2_post_backward(ep, req, 0, RDMA2_MSG);
	}
	xprt2_req_put(req);
	return ret;
}

/*
 * S18: an error carries nothing but the xid, so no RPC may have the same: it comes
 * from the sequence that the RPCs' come from.
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
 * xprt2_send_connprop - announce the client's properties, once a connection
 * @ep: endpoint
 * @h: header to work with
 * @gfp: allocation flags
 *
 * Context: connect, before the connection is ready; receive CQ.
 * Return: 0, or an error and nothing is sent; then nothing answers it.
 */
int xprt2_send_connprop(struct xprt2_ep *ep, struct rpcrdma2_hdr *h, gfp_t gfp)
{
	struct rpcrdma2_propmsg own;

	rpcrdma2_exchange_announce(&ep->ep_ex, &own);
	ep->ep_connprop_xid = take_xid(&ep->ep_xp->xp_xprt);
	ep->ep_connprop_sent = true;
	h->h_xid = ep->ep_connprop_xid;
	h->h_proc = 0;
	return send_propmsg(ep, h, &own, gfp);
}

/**
 * xprt2_introduce - announce properties to a server that was known
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

/**
 * xprt2_take_properties - let what the server says of itself bound messages
 * @ep: endpoint
 * @pm: well-formed property message, in the version of the connection
 *
 * At any time, and from the next message on (S15, S30).
 *
 * Context: receive CQ.
 */
void xprt2_take_properties(struct xprt2_ep *ep,
			   const struct rpcrdma2_propmsg *pm)
{
	u32 effects;
	u32 frozen = rpcrdma2_exchange_take(&ep->ep_ex, pm, &effects);

	xprt2_count_add(odd_properties, pm->pm_set.ps_odd);	/* S12 */
	if (pm->pm_type == RDMA2_OPT_CONNPROP)
		xprt2_count(connprops);
	else if (pm->pm_type == RDMA2_OPT_UPDPROP)
		xprt2_count(updprops);
	xprt2_count_add(frozen_properties, hweight32(frozen));
	if (!effects)
		return;
	if (effects & RPCRDMA2_EFFECT_CHUNKS)
		rpcrdma2_exchange_bound(&ep->ep_ex, &ep->ep_limits);
	bound_messages(ep);
	xprt2_backward_measure(ep);
	trace_xprt2_property(ep, pm->pm_type);
}

/* S46: when neither answer nor error can be sent the connection is given up. */
static void answer_property(struct xprt2_ep *ep, struct rpcrdma2_msg *msg)
{
	struct rpcrdma2_propmsg answer;

	if (!rpcrdma2_exchange_answer(&ep->ep_ex, &msg->mg_prop, &answer))
		return;
	xprt2_count(reqprops);
	if (send_propmsg(ep, &msg->mg_hdr, &answer, GFP_NOWAIT | __GFP_NOWARN))
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_REPLY);
}

static void refuse_property(struct xprt2_ep *ep, struct rpcrdma2_msg *msg)
{
	xprt2_count(properties_refused);
	rpcrdma2_set_error(&msg->mg_hdr, msg->mg_verdict, 0, 0);
	msg->mg_hdr.h_credit = ep->ep_max_reqs;
	xprt2_send_error(ep, &msg->mg_hdr);
}

/**
 * xprt2_handle_property - answer a property message, or an option
 * @ep: endpoint
 * @rep: Receive buffer it is in
 * @msg: the message; overwritten by the answer
 *
 * A bad one is refused as a whole (S11, S38), and so is an option that is not
 * known (C-012, S40). Nothing is answered before the server has granted a
 * credit (C-097).
 *
 * Context: receive CQ.
 */
void xprt2_handle_property(struct xprt2_ep *ep, struct xprt2_rep *rep,
			   struct rpcrdma2_msg *msg)
{
	xprt2_check_handle(ep, msg);
	rpcrdma2_recv_put(&rep->rep_recv);
	/* A CONNPROP or UPDPROP has been taken, and that is all there is to it. */
	if (!msg->mg_verdict && msg->mg_prop.pm_type != RDMA2_OPT_REQPROP)
		return;
	if (!ep->ep_grant)
		xprt2_count(dropped_silently);
	else if (msg->mg_verdict)
		refuse_property(ep, msg);
	else
		answer_property(ep, msg);
}
