// SPDX-License-Identifier: GPL-2.0
/* Credits of a connection, and the Receives posted for them. */
#include "xprtrdma2.h"

/* Kept credits of aborted RPCs are limited: a server may also drop Calls. */
static unsigned int xprt2_kept_max(const struct rpc_xprt *xprt)
{
	return xprt->cwnd / RPC_CWNDSCALE / 2;
}

/**
 * xprt2_keep_credit - keep the credit of an aborted RPC (E-16)
 * @req: request of a Call whose RPC ends. The server may still process it
 *
 * Context: xprt->transport_lock is held.
 * Return: true when the credit is kept until a Reply arrives that matches no
 * RPC; false when the Call was not sent on this connection, was answered, or the
 * limit is reached.
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
 * Receives are posted by watermark: the RPCs that may be outstanding, the Calls
 * that the server may make, and a reserve for control messages. Whenever fewer
 * are posted, a batch goes in with one doorbell, before a Reply completes its
 * RPC. So the next Call always finds a Receive for its Reply (E-16). When
 * memory is short, the window shrinks to the posted Receives; the connection
 * and the server's grant stay.
 */

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
