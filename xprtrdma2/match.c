// SPDX-License-Identifier: GPL-2.0
/*
 * Which RPC of the client a received message is for: by its xid one that waits, by
 * the handle that it has invalidated one that has ended.
 */
#include "xprtrdma2.h"

/*
 * An RPC waits for its Reply from before it is posted, and again from before
 * it is posted on the next connection. A Reply that comes in between, or a
 * second one while the first is fenced, is not for it (X6).
 */
static struct rpc_rqst *find_rqst_locked(struct xprt2_ep *ep, u32 xid)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	struct rpc_rqst *rqst;
	struct xprt2_req *req;

	lockdep_assert_held(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(xid));
	if (!rqst)
		return NULL;
	req = xprt2_rqst_to_req(rqst);
	/* Pairs with send_begins(): rq2_holds is set */
	return smp_load_acquire(&req->rq2_ep) == ep && !req->rq2_reply &&
	       !req->rq2_status ? rqst : NULL;
}

/**
 * xprt2_claim_rqst - find the RPC that a message answers
 * @ep: endpoint
 * @rep: the message
 * @xid: its xid
 *
 * Context: receive CQ.
 * Return: the RPC, pinned, and known to the message as that to it; or NULL when no
 * RPC waits for it.
 */
struct rpc_rqst *xprt2_claim_rqst(struct xprt2_ep *ep, struct xprt2_rep *rep,
				  u32 xid)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	struct rpc_rqst *rqst;

	spin_lock(&xprt->queue_lock);
	rqst = find_rqst_locked(ep, xid);
	if (rqst) {
		xprt_pin_rqst(rqst);
		xprt2_rqst_to_req(rqst)->rq2_reply = rep;
		rep->rep_rqst = rqst;
	}
	spin_unlock(&xprt->queue_lock);
	return rqst;
}

/**
 * xprt2_is_awaited - does a Call wait for a message with this xid?
 * @ep: endpoint it came on
 * @xid: of the message
 *
 * Context: receive CQ.
 */
bool xprt2_is_awaited(struct xprt2_ep *ep, u32 xid)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	bool awaited;

	spin_lock(&xprt->queue_lock);
	awaited = find_rqst_locked(ep, xid);
	spin_unlock(&xprt->queue_lock);
	return awaited;
}

/**
 * xprt2_lose_to_handle - a message has invalidated a region that it may not (S50)
 * @ep: endpoint
 *
 * The books of the client disagree with the device's.
 *
 * Context: receive CQ.
 */
void xprt2_lose_to_handle(struct xprt2_ep *ep)
{
	xprt2_count(bad_invalidations);
	rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_HANDLE);
}

/**
 * xprt2_check_handle - a message may have invalidated a region
 * @ep: endpoint
 * @msg: message that answers no RPC that waits
 *
 * The handle is that of an RPC that has ended: dead already, or its regions are
 * about to be fenced.
 *
 * Context: receive CQ.
 */
void xprt2_check_handle(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg)
{
	u32 xid;

	if (!msg->mg_handle ||
	    !rpcrdma2_handle_in_use(&ep->ep_conn, msg->mg_handle, &xid))
		return;
	if (xid == msg->mg_hdr.h_xid && !xprt2_is_awaited(ep, xid) &&
	    xprt2_answer_dead(ep, msg))
		return;
	xprt2_lose_to_handle(ep);
}
