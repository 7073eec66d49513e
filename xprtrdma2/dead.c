// SPDX-License-Identifier: GPL-2.0
/*
 * Dead RPCs: they ended without a Reply, by a signal or by a timeout, while the
 * server may still be at work on their memory.
 *
 * The release path gives the memory back to its owner in xprt2_fence_wait().
 * It waits first: until the Reply comes, for which no RPC waits any more, and
 * which xprt2_answer_dead() finds by its xid; and until the Send is done, if
 * pages are mapped for it. Then it invalidates what the Reply did not.
 */
#include "xprtrdma2.h"

/**
 * xprt2_holds_memory - may the server or the device use memory of an RPC?
 * @req: request
 *
 * It may while regions are live, or pages of a Send that is not done are
 * mapped. The answer is no only after the last page was unmapped.
 */
bool xprt2_holds_memory(const struct xprt2_req *req)
{
	/* Pairs with the release in unmap_sges() */
	unsigned int mapped = smp_load_acquire(&req->rq2_num_mapped);

	return mapped || rpcrdma2_is_exposed(&req->rq2_exposed);
}

/* A request whose RPC has ended, in recv_queue no more, without this Reply */
static struct xprt2_req *find_dead_locked(struct xprt2_ep *ep, u32 xid)
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
	req = find_dead_locked(ep, xid);
	if (req) {
		req->rq2_late = true;
		req->rq2_late_handle = handle;
		complete(&req->rq2_event);
	}
	spin_unlock(&xp->xp_req_lock);
	return req;
}

/* xp_req_lock keeps the endpoint: see xprt2_reqs_wake(). */
static bool on_ready_ep_locked(const struct xprt2_req *req)
{
	const struct xprt2_ep *ep = READ_ONCE(req->rq2_ep);

	return ep && xprt2_ep_is_ready(ep);
}

static bool unanswered_locked(const struct xprt2_xprt *xp,
			      const struct xprt2_req *req)
{
	return on_ready_ep_locked(req) &&
	       !test_bit(XPRT_CLOSE_WAIT, &xp->xp_xprt.state) &&
	       (READ_ONCE(req->rq2_num_mapped) ||
		(rpcrdma2_is_exposed(&req->rq2_exposed) && !req->rq2_late &&
		 !req->rq2_reply));
}

/*
 * The Reply and the end of the Send may still come. A server that has let one
 * dead RPC wait in vain, and has said nothing since, is not waited for again.
 */
static bool awaits_server_locked(const struct xprt2_xprt *xp,
				 const struct xprt2_req *req)
{
	return unanswered_locked(xp, req) &&
	       (READ_ONCE(req->rq2_num_mapped) ||
		!READ_ONCE(req->rq2_ep->ep_silent));
}

/* The completion of the LOCAL_INV may still come. */
static bool awaits_fence_locked(const struct xprt2_xprt *xp,
				const struct xprt2_req *req)
{
	return on_ready_ep_locked(req) && xprt2_holds_memory(req);
}

static void wait_while(bool (*awaits_locked)(const struct xprt2_xprt *xp,
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

static void await_server(struct xprt2_xprt *xp, struct xprt2_req *req)
{
	bool silent;

	xprt2_count(dead_waits);
	wait_while(awaits_server_locked, xp, req, XPRT2_ANSWER_TIMEOUT);
	if (req->rq2_late) {
		xprt2_count(dead_answered);
		return;
	}
	spin_lock(&xp->xp_req_lock);
	silent = unanswered_locked(xp, req);
	if (silent)
		WRITE_ONCE(req->rq2_ep->ep_silent, true);
	spin_unlock(&xp->xp_req_lock);
	if (silent)
		xprt2_count(dead_unanswered);
}

/* Return: 0 when a LOCAL_INV was posted and will complete. Under xp_fence_mutex */
static int fence(struct xprt2_ep *ep, struct xprt2_req *req)
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
static void strip(struct xprt2_ep *ep, struct xprt2_req *req)
{
	rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_STALLED);
	rpcrdma2_sq_drain(&ep->ep_conn);
	rpcrdma2_strip(&ep->ep_conn, &req->rq2_exposed);
}

/*
 * Waits for the server if there is reason to, fences what is live then, and strips
 * the request when that does not work or a Send of it is stuck.
 */
static void take_back(struct xprt2_req *req, bool wait)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(req->rq2_slot.rq_xprt);
	int ret = -ENOTCONN;

	reinit_completion(&req->rq2_event);
	/* Pairs with the barrier in send_done() */
	smp_store_mb(req->rq2_dead, true);
	if (wait)
		await_server(xp, req);

	scoped_guard(mutex, &xp->xp_fence_mutex)
		if (xprt2_holds_memory(req))
			ret = fence(xp->xp_ep, req);
	if (!ret)
		wait_while(awaits_fence_locked, xp, req, XPRT2_FENCE_TIMEOUT);

	if (xprt2_holds_memory(req)) {
		guard(mutex)(&xp->xp_fence_mutex);
		if (xprt2_holds_memory(req))
			strip(xp->xp_ep, req);
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
		take_back(req, true);
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
		take_back(req, false);
}
