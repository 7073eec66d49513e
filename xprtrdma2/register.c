// SPDX-License-Identifier: GPL-2.0
/*
 * What of a Call and its Reply the server may read or write.
 *
 * The regions are the core's (rpcrdma2/regions.h), and which octets of a message
 * become a chunk (rpcrdma2/offer.h). Here is how the send path waits for regions, and what follows
 * when those of an RPC are fenced: the Reply completes; or, when the RPC ended
 * without a Reply, the release path goes on, see dead.c. In each case the pages
 * are unmapped before the RPC layer sees them (X2).
 */
#include "xprtrdma2.h"

#include "trace.h"

/**
 * xprt2_grown - ->grown of a connection
 * @co: connection
 * @made: regions that were allocated
 * @failed: another one could not be
 *
 * Context: connect, or the core's workqueue.
 */
void xprt2_grown(struct rpcrdma2_conn *co, unsigned int made, bool failed)
{
	u32 wanted = READ_ONCE(co->co_regions.rg_wanted);
	struct xprt2_ep *ep = xprt2_conn_to_ep(co);

	ep->ep_xp->xp_stats.st_mrs_allocated += made;
	xprt2_count_add(mrs_allocated, made);
	if (!failed)
		return;
	xprt2_count(mrs_unavailable);
	if (wanted > co->co_regions.rg_num && !ep->ep_short) {
		ep->ep_short = true;
		xprt2_report_regions(ep, wanted);
	}
}

/**
 * xprt2_await_regions - wait for as many regions as a Call wants
 * @ep: endpoint that had too few
 *
 * The Call has given back what it had. While it waits no other Call takes any,
 * since it keeps the transport.
 *
 * Context: send path.
 */
void xprt2_await_regions(struct xprt2_ep *ep)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;

	xprt2_count(mr_waits);
	xprt_wait_for_buffer_space(xprt);
	/* What came back before this woke nothing. */
	if (!rpcrdma2_regions_awaited(&ep->ep_conn))
		xprt_write_space(xprt);
}

/**
 * xprt2_remote_invalidated - the Reply came with an invalidated handle
 * @ep: endpoint
 * @req: request the Reply is for
 * @rkey: the handle
 *
 * Context: receive CQ, request pinned; or release path, under xp_fence_mutex.
 * Return: true when it was a region of @req, which is free now; false when
 * it is not, and the books of the client disagree with the device's (S50).
 */
bool xprt2_remote_invalidated(struct xprt2_ep *ep, struct xprt2_req *req,
			      u32 rkey)
{
	if (!rpcrdma2_exposed_invalidated(&ep->ep_conn, &req->rq2_exposed,
					  rkey))
		return false;
	xprt2_count(remote_invalidations);
	return true;
}

/* A Reply waits for it, and the request is pinned. */
static void fenced(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		   bool ok)
{
	struct xprt2_req *req = container_of(ex, struct xprt2_req, rq2_exposed);

	if (ok) {
		xprt2_count(inv_completions);
		xprt2_release_reply(req);
	} else {
		xprt2_abandon_reply(req->rq2_reply);
	}
}

/*
 * The release path waits for it, but not for ever, and goes on as soon as it
 * finds the regions gone: only the reference keeps the request here.
 */
static void dead_fenced(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
			bool ok)
{
	struct xprt2_req *req = container_of(ex, struct xprt2_req, rq2_exposed);

	if (ok)
		xprt2_count(inv_completions);
	complete(&req->rq2_event);
	xprt2_req_put(req);
}

static int post_fence(struct xprt2_ep *ep, struct xprt2_req *req,
		      void (*done)(struct rpcrdma2_conn *co,
				   struct rpcrdma2_exposed *ex, bool ok))
{
	unsigned int count = list_count_nodes(&req->rq2_exposed.ex_regions);

	ep->ep_xp->xp_stats.st_local_inv += count;
	trace_xprt2_fence(ep, be32_to_cpu(req->rq2_slot.rq_xid), count);
	xprt2_count_add(local_invalidations, count);
	xprt2_count(doorbells);
	req->rq2_exposed.ex_done = done;
	return rpcrdma2_fence(&ep->ep_conn, &req->rq2_exposed);
}

/**
 * xprt2_fence_start - invalidate what is left of an answered RPC's regions
 * @ep: endpoint
 * @req: request with live regions, pinned
 *
 * It ends in xprt2_release_reply() or, when the connection is lost, in
 * xprt2_abandon_reply().
 *
 * Context: receive CQ.
 * Return: 0, or -ENOTCONN: neither will happen.
 */
int xprt2_fence_start(struct xprt2_ep *ep, struct xprt2_req *req)
{
	/* The fence of an earlier Reply may have failed, and has given its entries back (Q2). */
	if (unlikely(rpcrdma2_conn_is_lost(&ep->ep_conn)))
		return -ENOTCONN;
	return post_fence(ep, req, fenced);
}

/**
 * xprt2_fence_dead - invalidate what is left of a dead RPC's regions
 * @ep: endpoint
 * @req: request with live regions, no handler of a Reply at work on it
 *
 * The completion is announced by rq2_event.
 *
 * Context: release path, under xp_fence_mutex.
 * Return: 0, or -ENOTCONN: it will not be.
 */
int xprt2_fence_dead(struct xprt2_ep *ep, struct xprt2_req *req)
{
	int ret;

	kref_get(&req->rq2_kref);
	ret = post_fence(ep, req, dead_fenced);
	if (ret)
		xprt2_req_put(req);
	return ret;
}
