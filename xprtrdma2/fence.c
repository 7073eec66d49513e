// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the server may access: an RPC waits for regions, and completes when each
 * of them is invalidated.
 */
#include "xprtrdma2.h"

#include "trace.h"

/*
 * Regions of an RPC. The send path waits for them; the core registers them
 * (rpcrdma2/regions.h) for the parts that rpcrdma2/offer.h chooses. When they are fenced
 * the Reply completes the RPC; when the RPC has ended without a Reply, its release path
 * goes on. In each case the pages are unmapped before the RPC layer sees them (X2).
 */

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
static void xprt2_fence_done(struct rpcrdma2_conn *co,
			     struct rpcrdma2_exposed *ex, bool ok)
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
static void xprt2_dead_fenced(struct rpcrdma2_conn *co,
			      struct rpcrdma2_exposed *ex, bool ok)
{
	struct xprt2_req *req = container_of(ex, struct xprt2_req, rq2_exposed);

	if (ok)
		xprt2_count(inv_completions);
	complete(&req->rq2_event);
	xprt2_req_put(req);
}

static int xprt2_fence_post(struct xprt2_ep *ep, struct xprt2_req *req,
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
	return xprt2_fence_post(ep, req, xprt2_fence_done);
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
static int xprt2_fence_dead(struct xprt2_ep *ep, struct xprt2_req *req)
{
	int ret;

	kref_get(&req->rq2_kref);
	ret = xprt2_fence_post(ep, req, xprt2_dead_fenced);
	if (ret)
		xprt2_req_put(req);
	return ret;
}

/*
 * Dead RPCs: they ended without a Reply, by a signal or by a timeout, while the
 * server may still be at work on their memory.
 *
 * The release path gives the memory back to its owner in xprt2_fence_wait().
 * It waits first: until the Reply comes, for which no RPC waits any more, and
 * which xprt2_answer_dead() finds by its xid; and until the Send is done, if
 * pages are mapped for it. Then it invalidates what the Reply did not.
 */

/**
 * xprt2_holds_memory - may the server or the device use memory of an RPC?
 * @req: request
 *
 * It may while regions are live, or pages of a Send that is not done are
 * mapped. The answer is no only after the last page was unmapped.
 */
bool xprt2_holds_memory(const struct xprt2_req *req)
{
	/* Pairs with the release in xprt2_send_unmap_sges() */
	unsigned int mapped = smp_load_acquire(&req->rq2_num_mapped);

	return mapped || rpcrdma2_is_exposed(&req->rq2_exposed);
}

/* A request whose RPC has ended, in recv_queue no more, without this Reply */
static struct xprt2_req *xprt2_dead_find_locked(struct xprt2_ep *ep, u32 xid)
{
	struct xprt2_xprt *xp = ep->ep_xp;
	struct xprt2_req *req;

	lockdep_assert_held(&xp->xp_req_lock);
	list_for_each_entry(req, &xp->xp_all_reqs, rq2_all)
		if (READ_ONCE(req->rq2_ep) == ep &&
		    req->rq2_slot.rq_xid == cpu_to_be32(xid) &&
		    req->rq2_home == &xp->xp_forward &&
		    !READ_ONCE(req->rq2_reply) && !req->rq2_late)
			return req;
	return NULL;
}

/**
 * xprt2_answer_dead - the server answers an RPC that was killed or timed out
 * @ep: endpoint
 * @msg: message for which no RPC waits
 *
 * The server has done with the RPC's memory, and may have invalidated a region
 * of it: its address has the RPC's xid. Where the RPC waits in
 * xprt2_fence_wait(), or is about to, it is told. One that is about to give up its
 * credit need not keep it: xprt2_keep_credit().
 *
 * Context: receive CQ.
 * Return: false when there is no such RPC, or the handle is another's (S50).
 */
bool xprt2_answer_dead(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg)
{
	u32 xid = msg->mg_hdr.h_xid, handle = msg->mg_handle, owner;
	struct xprt2_xprt *xp = ep->ep_xp;
	struct xprt2_req *req;

	if (handle && rpcrdma2_handle_in_use(&ep->ep_conn, handle, &owner) &&
	    owner != xid)
		return false;

	spin_lock(&xp->xp_req_lock);
	req = xprt2_dead_find_locked(ep, xid);
	if (req) {
		req->rq2_late = true;
		req->rq2_late_handle = handle;
		complete(&req->rq2_event);
	}
	spin_unlock(&xp->xp_req_lock);
	return req;
}

/* xp_req_lock keeps the endpoint: see xprt2_reqs_wake(). */
static bool xprt2_dead_on_ready_ep_locked(const struct xprt2_req *req)
{
	const struct xprt2_ep *ep = READ_ONCE(req->rq2_ep);

	return ep && xprt2_ep_is_ready(ep);
}

static bool xprt2_dead_unanswered_locked(const struct xprt2_xprt *xp,
					 const struct xprt2_req *req)
{
	return xprt2_dead_on_ready_ep_locked(req) &&
	       !test_bit(XPRT_CLOSE_WAIT, &xp->xp_xprt.state) &&
	       (READ_ONCE(req->rq2_num_mapped) ||
		(rpcrdma2_is_exposed(&req->rq2_exposed) && !req->rq2_late &&
		 !req->rq2_reply));
}

/*
 * The Reply and the end of the Send may still come. A server that has let one
 * dead RPC wait in vain, and has said nothing since, is not waited for again.
 */
static bool xprt2_dead_awaits_server_locked(const struct xprt2_xprt *xp,
					    const struct xprt2_req *req)
{
	return xprt2_dead_unanswered_locked(xp, req) &&
	       (READ_ONCE(req->rq2_num_mapped) ||
		!READ_ONCE(req->rq2_ep->ep_silent));
}

/* The completion of the LOCAL_INV may still come. */
static bool xprt2_dead_awaits_fence_locked(const struct xprt2_xprt *xp,
					   const struct xprt2_req *req)
{
	return xprt2_dead_on_ready_ep_locked(req) && xprt2_holds_memory(req);
}

static void
xprt2_dead_wait_while(bool (*awaits_locked)(const struct xprt2_xprt *xp,
					    const struct xprt2_req *req),
		      struct xprt2_xprt *xp, struct xprt2_req *req,
		      unsigned long timeout)
{
	bool awaits;

	while (timeout) {
		spin_lock(&xp->xp_req_lock);
		awaits = awaits_locked(xp, req);
		spin_unlock(&xp->xp_req_lock);
		if (!awaits)
			return;
		timeout = wait_for_completion_timeout(&req->rq2_event, timeout);
	}
}

static void xprt2_dead_await_server(struct xprt2_xprt *xp,
				    struct xprt2_req *req)
{
	bool silent;

	xprt2_count(dead_waits);
	xprt2_dead_wait_while(xprt2_dead_awaits_server_locked, xp, req,
			      XPRT2_ANSWER_TIMEOUT);
	if (req->rq2_late) {
		xprt2_count(dead_answered);
		return;
	}
	spin_lock(&xp->xp_req_lock);
	silent = xprt2_dead_unanswered_locked(xp, req);
	if (silent)
		WRITE_ONCE(req->rq2_ep->ep_silent, true);
	spin_unlock(&xp->xp_req_lock);
	if (silent)
		xprt2_count(dead_unanswered);
}

/* Return: 0 when a LOCAL_INV was posted and will complete. Under xp_fence_mutex */
static int xprt2_fence_post_all(struct xprt2_ep *ep, struct xprt2_req *req)
{
	u32 handle;

	spin_lock(&ep->ep_xp->xp_req_lock);
	handle = req->rq2_late ? req->rq2_late_handle : 0;
	spin_unlock(&ep->ep_xp->xp_req_lock);
	if (handle)
		xprt2_remote_invalidated(ep, req, handle);
	if (!rpcrdma2_is_exposed(&req->rq2_exposed))
		return -ENOENT;
	/* an answer's fence may have failed: Q2 */
	if (rpcrdma2_conn_is_lost(&ep->ep_conn))
		return -ENOTCONN;
	xprt2_count(dead_fences);
	return xprt2_fence_dead(ep, req);
}

/* The queue is dead but may not be quiet: be sure, then keep nothing. */
static void xprt2_dead_strip(struct xprt2_ep *ep, struct xprt2_req *req)
{
	rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_STALLED);
	rpcrdma2_sq_drain(&ep->ep_conn);
	rpcrdma2_strip(&ep->ep_conn, &req->rq2_exposed);
}

/*
 * Waits for the server if there is reason to, fences what is live then, and strips
 * the request when that does not work or a Send of it is stuck.
 */
static void xprt2_dead_revoke(struct xprt2_req *req, bool wait)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(req->rq2_slot.rq_xprt);
	int ret = -ENOTCONN;

	reinit_completion(&req->rq2_event);
	/* Pairs with the barrier in xprt2_send_done() */
	smp_store_mb(req->rq2_dead, true);
	if (wait)
		xprt2_dead_await_server(xp, req);

	scoped_guard(mutex, &xp->xp_fence_mutex)
		if (xprt2_holds_memory(req))
			ret = xprt2_fence_post_all(xp->xp_ep, req);
	if (!ret)
		xprt2_dead_wait_while(xprt2_dead_awaits_fence_locked, xp, req,
				      XPRT2_FENCE_TIMEOUT);

	if (xprt2_holds_memory(req)) {
		guard(mutex)(&xp->xp_fence_mutex);
		if (xprt2_holds_memory(req))
			xprt2_dead_strip(xp->xp_ep, req);
	}
	WRITE_ONCE(req->rq2_dead, false);
}

/**
 * xprt2_fence_wait - take memory back from an RPC that got no Reply
 * @req: request that the RPC layer is about to take apart
 *
 * Such an RPC was killed, or timed out, and the server may still be at work on
 * its memory. A region that is invalidated under the server's RDMA costs the
 * connection; so does a Reply that invalidates a region which is dead already.
 * The Reply is nearly always a few milliseconds away: wait for it, then fence
 * what it left. A server that stays silent is not waited for longer than
 * XPRT2_ANSWER_TIMEOUT, and not again before it has said something: tasks of
 * the RPC layer's workqueue wait here, of which all mounts have a few hundred.
 * When the Send is not done by then, or the fence takes
 * longer than XPRT2_FENCE_TIMEOUT, the connection goes.
 *
 * xprt2_answer_dead() and the send CQ tell when the server and the Send have
 * done, by rq2_event; so do the loss of the connection and teardown. No handler of
 * a Reply works on @req, because the RPC layer has waited for it to be
 * unpinned. Teardown may, hence the mutex; it is never held while the peer is
 * waited for, so that any number of dead RPCs wait side by side.
 *
 * Context: release path; sleeps.
 */
void xprt2_fence_wait(struct xprt2_req *req)
{
	if (unlikely(xprt2_holds_memory(req)))
		xprt2_dead_revoke(req, true);
}

/**
 * xprt2_fence_now - take memory back from an RPC whose Reply is not waited for
 * @req: request that the RPC layer has taken off its queues
 *
 * The RPC timed out and is to be sent again, on another connection.
 *
 * Context: task of the RPC; sleeps.
 */
void xprt2_fence_now(struct xprt2_req *req)
{
	if (xprt2_holds_memory(req))
		xprt2_dead_revoke(req, false);
}

/*
 * Which RPC of the client a received message is for: by its xid one that waits, by
 * the handle that it has invalidated one that has ended.
 */

/*
 * An RPC waits for its Reply from before it is posted, and again from before
 * it is posted on the next connection. A Reply that comes in between, or a
 * second one while the first is fenced, is not for it (X6).
 */
static struct rpc_rqst *xprt2_find_rqst_locked(struct xprt2_ep *ep, u32 xid)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	struct rpc_rqst *rqst;
	struct xprt2_req *req;

	lockdep_assert_held(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(xid));
	if (!rqst)
		return NULL;
	req = xprt2_rqst_to_req(rqst);
	/* Pairs with xprt2_send_begin(): rq2_holds is set */
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
	rqst = xprt2_find_rqst_locked(ep, xid);
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
	awaited = xprt2_find_rqst_locked(ep, xid);
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
