// SPDX-License-Identifier: GPL-2.0
/*
 * Invalidate (fence) the regions of an RPC before it completes, or when it has
 * ended without a Reply. The core registers them (rpcrdma2/conn.h). The pages
 * are unmapped before the RPC layer gets them back (X2).
 */
#include <linux/wait_bit.h>

#include "xprtrdma2.h"
#include "trace.h"

/**
 * xprt2_grown - ->grown of a connection: the pool of regions was refilled
 * @co: connection
 * @made: regions that were allocated
 * @failed: an allocation failed
 *
 * Context: connect, or the core's workqueue.
 */
void xprt2_grown(struct rpcrdma2_conn *co, unsigned int made, bool failed)
{
	u32 needed = READ_ONCE(co->co_regions.rg_needed);
	struct xprt2_ep *ep = xprt2_conn_to_ep(co);

	ep->ep_xp->xp_stats.st_mrs_allocated += made;
	xprt2_count_add(mrs_allocated, made);
	if (!failed)
		return;
	xprt2_count(mrs_unavailable);
	if (needed > co->co_regions.rg_num && !ep->ep_short) {
		ep->ep_short = true;
		xprt2_report_regions(ep, needed);
	}
}

/**
 * xprt2_remote_invalidated - record a region that a Reply has invalidated
 * @ep: endpoint
 * @req: request the Reply is for
 * @rkey: handle of the region
 *
 * Context: receive CQ, request pinned; or release path, under xp_fence_mutex.
 * Return: false when it was no region of @req (S50).
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

/* Fence of an answered RPC: its Reply waits, and the request is pinned. */
static void xprt2_fence_done(struct rpcrdma2_conn *co,
			     struct rpcrdma2_exposed *ex, bool ok)
{
	struct xprt2_req *req = container_of(ex, struct xprt2_req, rq2_exposed);

	if (ok)
		xprt2_release_reply(req);
	else
		xprt2_abandon_reply(req->rq2_reply);
}

static void xprt2_fence_count(struct xprt2_ep *ep, struct xprt2_req *req)
{
	unsigned int count = list_count_nodes(&req->rq2_exposed.ex_regions);

	ep->ep_xp->xp_stats.st_local_inv += count;
	trace_xprt2_fence(ep, be32_to_cpu(req->rq2_slot.rq_xid), count);
	xprt2_count_add(local_invalidations, count);
	xprt2_count(doorbells);
}

/**
 * xprt2_fence_start - invalidate the remaining regions of an answered RPC
 * @ep: endpoint
 * @req: request with live regions, pinned
 *
 * Context: receive CQ.
 * Return: 0, and xprt2_release_reply() or, when the connection is lost,
 * xprt2_abandon_reply() follows; or -ENOTCONN.
 */
int xprt2_fence_start(struct xprt2_ep *ep, struct xprt2_req *req)
{
	/* An earlier fence may have failed and returned its entries (Q2). */
	if (unlikely(rpcrdma2_conn_is_lost(&ep->ep_conn)))
		return -ENOTCONN;
	xprt2_fence_count(ep, req);
	req->rq2_exposed.ex_done = xprt2_fence_done;
	return rpcrdma2_fence(&ep->ep_conn, &req->rq2_exposed);
}

/*
 * Aborted RPCs ended without a Reply, by a signal or a timeout, while the
 * server may still use their memory: the release path revokes it in
 * xprt2_revoke(). The server does the same for callbacks
 * (svcrdma2/backchannel.c).
 */

/**
 * xprt2_take_late_reply - handle a late Reply to an aborted RPC
 * @ep: endpoint
 * @msg: message for which no RPC waits
 *
 * The server has finished with the RPC's memory, and may have invalidated a
 * region, whose address has the RPC's xid. xprt2_revoke() need not wait, and
 * xprt2_keep_credit() need not keep a credit.
 *
 * Context: receive CQ.
 * Return: false without such an RPC, or with a handle of another RPC (S50).
 */
bool xprt2_take_late_reply(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg)
{
	u32 xid = msg->mg_hdr.h_xid, handle = msg->mg_handle, owner;
	struct xprt2_xprt *xp = ep->ep_xp;
	struct xprt2_req *req;

	if (handle && rpcrdma2_handle_in_use(&ep->ep_conn, handle, &owner) &&
	    owner != xid)
		return false;

	guard(spinlock)(&xp->xp_req_lock);
	list_for_each_entry(req, &xp->xp_all_reqs, rq2_all) {
		if (READ_ONCE(req->rq2_ep) != ep ||
		    req->rq2_slot.rq_xid != cpu_to_be32(xid) ||
		    req->rq2_home != &xp->xp_forward ||
		    READ_ONCE(req->rq2_reply) || req->rq2_late)
			continue;
		req->rq2_late = true;
		req->rq2_late_handle = handle;
		wake_up_var(xp);
		return true;
	}
	return false;
}

/* xp_req_lock keeps the endpoint alive: see xprt2_reqs_detach(). */
static bool xprt2_aborted_is_unanswered_locked(const struct xprt2_xprt *xp,
					       const struct xprt2_req *req)
{
	const struct xprt2_ep *ep = READ_ONCE(req->rq2_ep);

	lockdep_assert_held(&xp->xp_req_lock);
	return ep && xprt2_ep_is_ready(ep) &&
	       !test_bit(XPRT_CLOSE_WAIT, &xp->xp_xprt.state) &&
	       (READ_ONCE(req->rq2_num_mapped) ||
		(rpcrdma2_is_exposed(&req->rq2_exposed) && !req->rq2_late &&
		 !req->rq2_reply));
}

/* A silent server that let such a wait expire is not waited for again. */
static bool xprt2_aborted_is_answer_due(struct xprt2_xprt *xp,
					const struct xprt2_req *req)
{
	guard(spinlock)(&xp->xp_req_lock);
	return xprt2_aborted_is_unanswered_locked(xp, req) &&
	       (READ_ONCE(req->rq2_num_mapped) ||
		!READ_ONCE(req->rq2_ep->ep_silent));
}

static void xprt2_aborted_await_reply(struct xprt2_xprt *xp,
				      struct xprt2_req *req)
{
	xprt2_count(aborted_waits);
	wait_var_event_timeout(xp, !xprt2_aborted_is_answer_due(xp, req),
			       XPRT2_ANSWER_TIMEOUT);
	guard(spinlock)(&xp->xp_req_lock);
	if (req->rq2_late) {
		xprt2_count(aborted_answered);
	} else if (xprt2_aborted_is_unanswered_locked(xp, req)) {
		WRITE_ONCE(req->rq2_ep->ep_silent, true);
		xprt2_count(aborted_unanswered);
	}
}

/* Return: true when a fence was posted. Under xp_fence_mutex */
static bool xprt2_aborted_fence(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct rpcrdma2_exposed *ex = &req->rq2_exposed;
	u32 handle;

	scoped_guard(spinlock, &ep->ep_xp->xp_req_lock)
		handle = req->rq2_late ? req->rq2_late_handle : 0;
	if (handle)
		xprt2_remote_invalidated(ep, req, handle);
	/* the fence of a Reply may have failed: Q2 */
	if (!rpcrdma2_is_exposed(ex) || rpcrdma2_conn_is_lost(&ep->ep_conn))
		return false;
	xprt2_count(aborted_fences);
	xprt2_fence_count(ep, req);
	/* A fence that is posted in part ends with the connection. */
	return !rpcrdma2_revoke(&ep->ep_conn, ex) &&
	       !rpcrdma2_conn_is_lost(&ep->ep_conn);
}

/**
 * xprt2_revoke - revoke the memory of an RPC that got no Reply
 * @req: request that holds memory, and that the RPC layer is about to release,
 *	or has taken off its queues to send it again on another connection
 * @wait: wait for the Reply first
 *
 * Invalidating a region during the server's RDMA costs the connection; so does
 * a Reply that invalidates a region which is invalid already. So wait for the
 * Reply, and for the Send if pages are mapped for it, then fence the regions
 * that are left. A silent server costs one wait of XPRT2_ANSWER_TIMEOUT until it
 * sends something, because the wait blocks tasks of the RPC layer's workqueue,
 * of which all mounts share a few hundred. When the Send is incomplete by then,
 * or the fence takes longer than XPRT2_FENCE_TIMEOUT, the connection is closed.
 *
 * The RPC layer has waited for the request to be unpinned, so no Reply handler
 * works on it. Teardown may, hence the mutex, which no task holds while it waits
 * for the peer: any number of aborted RPCs can wait in parallel.
 *
 * Context: release path, or task of the RPC; sleeps.
 */
void xprt2_revoke(struct xprt2_req *req, bool wait)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(req->rq2_slot.rq_xprt);
	struct rpcrdma2_exposed *ex = &req->rq2_exposed;
	bool fences = false;

	/* Pairs with the barrier in xprt2_send_pages_done() */
	smp_store_mb(req->rq2_aborted, true);
	if (wait)
		xprt2_aborted_await_reply(xp, req);
	scoped_guard(mutex, &xp->xp_fence_mutex)
		if (xprt2_holds_memory(req))
			fences = xprt2_aborted_fence(xp->xp_ep, req);
	if (fences)
		rpcrdma2_revoke_wait(ex, XPRT2_FENCE_TIMEOUT);
	/* After teardown there is neither memory nor fence. */
	scoped_guard(mutex, &xp->xp_fence_mutex)
		/* pairs with rpcrdma2_revoke_done() */
		if (smp_load_acquire(&ex->ex_fencing) || xprt2_holds_memory(req))
			rpcrdma2_lose_exposed(&xp->xp_ep->ep_conn, ex);
	WRITE_ONCE(req->rq2_aborted, false);
}

/**
 * xprt2_lose_to_handle - give up a connection for a wrong invalidation (S50)
 * @ep: endpoint
 */
void xprt2_lose_to_handle(struct xprt2_ep *ep)
{
	xprt2_count(bad_invalidations);
	rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_HANDLE);
}

/**
 * xprt2_check_handle - check the handle that a message has invalidated (S50)
 * @ep: endpoint
 * @msg: message that answers no waiting RPC
 *
 * Its RPC must have ended, even if the regions are about to be fenced.
 *
 * Context: receive CQ.
 */
void xprt2_check_handle(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg)
{
	u32 xid;

	if (!msg->mg_handle ||
	    !rpcrdma2_handle_in_use(&ep->ep_conn, msg->mg_handle, &xid))
		return;
	if (xid == msg->mg_hdr.h_xid && !xprt2_req_is_awaited(ep, xid) &&
	    xprt2_take_late_reply(ep, msg))
		return;
	xprt2_lose_to_handle(ep);
}
