// SPDX-License-Identifier: GPL-2.0
/*
 * Credits of a connection: the books of the RPC layer's window, and those of RPCs that
 * are over while the server may still be at work on them (E-16).
 */
#include "xprtrdma2.h"

#include <rpcrdma2/window.h>

/* Credits that RPCs may keep when they are over: half of the window */
static unsigned int xprt2_kept_max(const struct rpc_xprt *xprt)
{
	return xprt->cwnd / RPC_CWNDSCALE / 2;
}

/**
 * xprt2_reset_credits - begin a connection with one credit (C-097)
 * @xp: transport, not connected
 *
 * Requests waiting to be sent again hold no credit any more: each asks for
 * one when its turn comes.
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
 * xprt2_keep_credit - the server may still be at work on an RPC that is over (E-16)
 * @req: request of a Call whose RPC ends
 *
 * So its credit stays in the window's books until a Reply comes to no RPC. A server may
 * drop Calls, so half of the window is for others.
 *
 * Context: xprt->transport_lock is held.
 * Return: false when it was not sent on this connection, or is answered, or enough are
 * kept: then the credit is free.
 */
bool xprt2_keep_credit(struct xprt2_req *req)
{
	struct rpc_xprt *xprt = req->rq2_slot.rq_xprt;
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	lockdep_assert_held(&xprt->transport_lock);
	guard(spinlock)(&xp->xp_req_lock);
	if (!req->rq2_slot.rq_cong || !READ_ONCE(req->rq2_ep) || req->rq2_late ||
	    xp->xp_kept >= xprt2_kept_max(xprt))
		return false;
	/* From here on its Reply is one to a stranger: xprt2_answer_dead(). */
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
 * xprt2_bound_kept - free kept credits that are too many for the window
 * @xprt: transport, its cwnd set
 *
 * Context: xprt->transport_lock is held.
 * Return: whether Calls that wait for a credit have to be woken.
 */
bool xprt2_bound_kept(struct rpc_xprt *xprt)
{
	return xprt2_free_kept(xprt, xprt2_kept_max(xprt));
}

/**
 * xprt2_credit_answered - a Reply to no RPC: most likely to one that is over
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
