// SPDX-License-Identifier: GPL-2.0
/* Credits of a connection, and the Receives posted for them. */
#include "xprtrdma2.h"

/*
 * Credits: the window of the RPC layer, and the credits kept for aborted RPCs
 * that the server may still process (E-16).
 */

/* Limit of kept credits: half of the window */
static unsigned int xprt2_kept_max(const struct rpc_xprt *xprt)
{
	return xprt->cwnd / RPC_CWNDSCALE / 2;
}

/**
 * xprt2_reset_credits - begin a connection with one credit (C-097)
 * @xp: transport, not connected
 *
 * A request that waits for retransmission no longer holds a credit: it requests
 * a new one when it is sent.
 */
void xprt2_reset_credits(struct xprt2_xprt *xp)
{
	struct rpc_xprt *xprt = &xp->xp_xprt;
	struct xprt2_req *req;

	spin_lock(&xprt->transport_lock);
	spin_lock(&xp->xp_req_lock);
	list_for_each_entry(req, &xp->xp_all_reqs, rq2_all)
		req->rq2_slot.rq_cong = 0;
	spin_unlock(&xp->xp_req_lock);
	xp->xp_kept = 0;
	xprt->cong = 0;
	xprt->cwnd = RPC_CWNDSCALE;
	spin_unlock(&xprt->transport_lock);
}

/**
 * xprt2_keep_credit - keep the credit of an aborted RPC (E-16)
 * @req: request of a Call whose RPC ends
 *
 * The server may still process the RPC, so its credit stays in use until a
 * Reply arrives that matches no RPC. A server may also drop Calls, so kept
 * credits are limited to half of the window.
 *
 * Context: xprt->transport_lock is held.
 * Return: false when the Call was not sent on this connection, was answered, or
 * the limit is reached: then the credit is free.
 */
bool xprt2_keep_credit(struct xprt2_req *req)
{
	struct rpc_xprt *xprt = req->rq2_slot.rq_xprt;
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	lockdep_assert_held(&xprt->transport_lock);
	guard(spinlock)(&xp->xp_req_lock);
	if (!req->rq2_slot.rq_cong || !READ_ONCE(req->rq2_ep) ||
	    req->rq2_late || xp->xp_kept >= xprt2_kept_max(xprt))
		return false;
	/* From here on its Reply matches no RPC: xprt2_take_late_reply(). */
	WRITE_ONCE(req->rq2_ep, NULL);
	req->rq2_slot.rq_cong = 0;
	xp->xp_kept++;
	xprt2_count(credits_kept);
	return true;
}

static bool xprt2_free_kept(struct rpc_xprt *xprt, unsigned int most)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	lockdep_assert_held(&xprt->transport_lock);
	if (likely(xp->xp_kept <= most))
		return false;
	xprt->cong -= (xp->xp_kept - most) * RPC_CWNDSCALE;
	WRITE_ONCE(xp->xp_kept, most);
	return true;
}

/**
 * xprt2_bound_kept - free the kept credits that exceed the limit of the window
 * @xprt: transport, its cwnd set
 *
 * Context: xprt->transport_lock is held.
 * Return: true when Calls that wait for a credit must be woken.
 */
bool xprt2_bound_kept(struct rpc_xprt *xprt)
{
	return xprt2_free_kept(xprt, xprt2_kept_max(xprt));
}

/**
 * xprt2_credit_answered - free a kept credit for a Reply that matches no RPC
 * @xp: transport
 *
 * Such a Reply most likely belongs to an aborted RPC.
 *
 * Context: receive CQ.
 */
void xprt2_credit_answered(struct xprt2_xprt *xp)
{
	struct rpc_xprt *xprt = &xp->xp_xprt;
	bool freed = false;

	if (likely(!READ_ONCE(xp->xp_kept)))
		return;
	scoped_guard(spinlock, &xprt->transport_lock)
		if (xp->xp_kept)
			freed = xprt2_free_kept(xprt, xp->xp_kept - 1);
	if (freed && test_bit(XPRT_CWND_WAIT, &xprt->state))
		rpcrdma2_window_raised(xprt);
}

/*
 * Receives of a connection: their number and their size.
 *
 * Receives are posted by watermark, which is the sum of the RPCs that may be
 * outstanding, the Calls that the server may make, and a reserve for control
 * messages. Whenever fewer are posted, a batch goes in with one doorbell,
 * before a Reply completes its RPC. So the next Call always finds a Receive for
 * its Reply (E-16). When memory is short, the window shrinks to the posted
 * Receives; the connection and the server's grant stay.
 */

/**
 * xprt2_recvs_init - set up the Receive pool of a transport
 * @xp: transport under construction
 *
 * The limit of the pool covers the posted Receives, and those that requests
 * hold while their message is read.
 */
void xprt2_recvs_init(struct xprt2_xprt *xp)
{
	struct rpcrdma2_rpool *rp = &xp->xp_rpool;

	rpcrdma2_rpool_init(rp);
	/*
	 * The size is set for each connection. The pages of a Receive are not
	 * contiguous, because the receive CQ, which may not sleep, allocates
	 * them too.
	 */
	rp->rp_size = PAGE_SIZE;
	rp->rp_before = offsetof(struct xprt2_rep, rep_recv);
	rp->rp_max = 2 * rpcrdma2_receives_needed(xp->xp_xprt.max_reqs +
						  XPRT2_SEND_BATCH,
						  xp->xp_backward_target);
}

/**
 * xprt2_post_receives - keep enough Receives posted
 * @ep: endpoint
 * @credits: RPCs that may be outstanding
 * @gfp: allocation flags for when the pool has to grow. The receive CQ may not
 *	wait for memory, because reclaim may depend on this CQ
 *
 * B-09 to B-12, S27: without an upper layer for Calls of the server, no
 * Receives are posted for them.
 *
 * Context: receive CQ, or connect before the connection is up.
 * Return: RPCs that the posted Receives suffice for, at most @credits.
 */
u32 xprt2_post_receives(struct xprt2_ep *ep, u32 credits, gfp_t gfp)
{
	const struct xprt2_xprt *xp = ep->ep_xp;
	unsigned int needed, target, count;
	u32 calls = ep->ep_calls;

	target = READ_ONCE(xp->xp_xprt.bc_alloc_max) ?
		 xp->xp_backward_credits : 0;
	needed = rpcrdma2_receives_needed(credits, target);
	if (rpcrdma2_conn_is_lost(&ep->ep_conn))
		return credits;
	if (ep->ep_recvs_posted < needed) {
		count = rpcrdma2_recvs_post(&ep->ep_conn, &ep->ep_xp->xp_rpool,
					    needed + ep->ep_recv_batch -
					    ep->ep_recvs_posted, gfp);
		if (count)
			xprt2_count(recv_doorbells);
		ep->ep_recvs_posted += count;
	}
	credits = xprt2_share_receives(ep->ep_recvs_posted, credits, target,
				       &calls);
	if (unlikely(calls != ep->ep_calls))
		WRITE_ONCE(ep->ep_calls, calls);
	return credits;
}

/**
 * xprt2_receives_grow - start to enlarge the Receives of a connection
 * @ep: endpoint, its device known
 * @bytes: new size, if the device scatters a message over that number of pages
 *
 * Each Receive takes the new size when it comes back. xprt2_receives_grown()
 * then updates the size that is announced to the server. Version 1 cannot
 * announce a change.
 *
 * Context: ep_prop_mutex.
 */
void xprt2_receives_grow(struct xprt2_ep *ep, u32 bytes)
{
	struct rpcrdma2_rpool *rp = &ep->ep_xp->xp_rpool;
	u32 size = rpcrdma2_recv_size(ep->ep_conn.co_id->device, bytes);

	if (ep->ep_vers != RPCRDMA2_VERS_TWO || size <= ep->ep_recv_size ||
	    size <= rp->rp_size)
		return;
	rpcrdma2_rpool_resize(rp, size);
}

/**
 * xprt2_receives_growing - check whether the Receives are being enlarged
 * @ep: endpoint
 *
 * Context: ep_prop_mutex.
 */
bool xprt2_receives_growing(const struct xprt2_ep *ep)
{
	return ep->ep_vers == RPCRDMA2_VERS_TWO &&
	       READ_ONCE(ep->ep_xp->xp_rpool.rp_size) >
	       round_up(ep->ep_recv_size, PAGE_SIZE);
}

/**
 * xprt2_receives_grown - take the new size once all Receives have it (C-032)
 * @ep: endpoint
 *
 * Context: ep_prop_mutex.
 */
void xprt2_receives_grown(struct xprt2_ep *ep)
{
	const struct rpcrdma2_rpool *rp = &ep->ep_xp->xp_rpool;

	if (xprt2_receives_growing(ep) && !READ_ONCE(rp->rp_small))
		WRITE_ONCE(ep->ep_recv_size, rp->rp_size);
}

/**
 * xprt2_receives_resize - handle a server's request for another Receive size
 * @ep: endpoint
 * @bytes: requested size, at least RPCRDMA2_INLINE_DEFAULT
 *
 * C-033: a smaller size has been granted, and the server keeps to it (C-034). A
 * larger size, within the limit of the administrator, takes some time.
 *
 * Context: receive CQ, under ep_prop_mutex.
 */
void xprt2_receives_resize(struct xprt2_ep *ep, u32 bytes)
{
	if (bytes >= READ_ONCE(ep->ep_recv_size)) {
		xprt2_receives_grow(ep, min(bytes,
					    rpcrdma2_param(&xprt2_param_receive_size)));
		return;
	}
	WRITE_ONCE(ep->ep_recv_size, bytes);
	rpcrdma2_rpool_resize(&ep->ep_xp->xp_rpool, round_up(bytes, PAGE_SIZE));
}
