// SPDX-License-Identifier: GPL-2.0
/*
 * Credits of a connection, and the Receives that stand behind them.
 */
#include "xprtrdma2.h"

#include <rpcrdma2/credit.h>
#include <rpcrdma2/window.h>

/*
 * Credits of a connection: the books of the RPC layer's window, and those of RPCs that
 * are over while the server may still be at work on them (E-16).
 */

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

/*
 * Receives of a connection: how many are posted, and how large they are.
 *
 * They are posted by watermark: whenever fewer than the RPCs that may be
 * outstanding, the Calls that the server may make, and a reserve for control
 * messages, are posted, a batch goes in with one doorbell. That happens before
 * a Reply completes its RPC, so a Call that takes its place always finds its
 * Receive (E-16). When memory is short the window shrinks to what is posted;
 * the connection stays. So does what the server is granted.
 */

/**
 * xprt2_recvs_init - say what the Receives of a transport are like
 * @xp: transport under construction
 *
 * There may be those posted, and those that requests hold while their message is
 * read.
 */
void xprt2_recvs_init(struct xprt2_xprt *xp)
{
	struct rpcrdma2_rpool *rp = &xp->xp_rpool;

	rpcrdma2_rpool_init(rp);
	/*
	 * Each connection has its own size. They are not one stretch: the receive
	 * CQ, which may not sleep, makes them too.
	 */
	rp->rp_size = PAGE_SIZE;
	rp->rp_before = offsetof(struct xprt2_rep, rep_recv);
	rp->rp_max = 2 * rpcrdma2_receives_needed(xp->xp_xprt.max_reqs +
						  XPRT2_SEND_BATCH,
						  xp->xp_backward_wanted);
}

/**
 * xprt2_post_receives - keep enough Receives posted
 * @ep: endpoint
 * @credits: RPCs that may be outstanding
 * @gfp: how hard to try when the pool has to grow. The receive CQ may not
 *	wait for memory: what frees it may need this very CQ
 *
 * B-09 to B-12, S27; without an upper layer for them there are none for Calls of the
 * server.
 *
 * Context: receive CQ, or connect before the connection is up.
 * Return: RPCs that the posted Receives are enough for, at most @credits.
 */
u32 xprt2_post_receives(struct xprt2_ep *ep, u32 credits, gfp_t gfp)
{
	const struct xprt2_xprt *xp = ep->ep_xp;
	unsigned int needed, wanted, count;
	u32 calls = ep->ep_calls;

	wanted = READ_ONCE(xp->xp_xprt.bc_alloc_max) ?
		 xp->xp_backward_credits : 0;
	needed = rpcrdma2_receives_needed(credits, wanted);
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
	credits = xprt2_share_receives(ep->ep_recvs_posted, credits, wanted,
				       &calls);
	if (unlikely(calls != ep->ep_calls))
		WRITE_ONCE(ep->ep_calls, calls);
	return credits;
}

/**
 * xprt2_receives_grow - let the Receives of a connection become larger
 * @ep: endpoint, its device known
 * @octets: how large, if the device scatters a message over so many pages
 *
 * Each takes the new size when it comes back; xprt2_receives_rise() has the server
 * told. Version 1 has no words for that.
 *
 * Context: ep_prop_mutex.
 */
void xprt2_receives_grow(struct xprt2_ep *ep, u32 octets)
{
	struct rpcrdma2_rpool *rp = &ep->ep_xp->xp_rpool;
	u32 size = rpcrdma2_recv_size(ep->ep_conn.co_id->device, octets);

	if (ep->ep_vers != RPCRDMA2_VERS_TWO || size <= ep->ep_recv_size ||
	    size <= rp->rp_size)
		return;
	rpcrdma2_rpool_resize(rp, size);
}

/**
 * xprt2_receives_rising - are the Receives about to hold more than they did?
 * @ep: endpoint
 *
 * Context: ep_prop_mutex.
 */
bool xprt2_receives_rising(const struct xprt2_ep *ep)
{
	return ep->ep_vers == RPCRDMA2_VERS_TWO &&
	       READ_ONCE(ep->ep_xp->xp_rpool.rp_size) >
	       round_up(ep->ep_recv_size, PAGE_SIZE);
}

/**
 * xprt2_receives_rise - now they hold more, if none is smaller any more (C-032)
 * @ep: endpoint
 *
 * Context: ep_prop_mutex.
 */
void xprt2_receives_rise(struct xprt2_ep *ep)
{
	const struct rpcrdma2_rpool *rp = &ep->ep_xp->xp_rpool;

	if (xprt2_receives_rising(ep) && !READ_ONCE(rp->rp_small))
		WRITE_ONCE(ep->ep_recv_size, rp->rp_size);
}

/**
 * xprt2_receives_wanted - the server has asked for Receives of another size
 * @ep: endpoint
 * @octets: how large; at least RPCRDMA2_INLINE_DEFAULT
 *
 * C-033: smaller ones have been granted, and the server keeps to it (C-034). Larger
 * ones, as far as the administrator allows them, take some time.
 *
 * Context: receive CQ, under ep_prop_mutex.
 */
void xprt2_receives_wanted(struct xprt2_ep *ep, u32 octets)
{
	if (octets >= READ_ONCE(ep->ep_recv_size)) {
		xprt2_receives_grow(ep, min(octets,
					    READ_ONCE(xprt2_param_receive_size)));
		return;
	}
	WRITE_ONCE(ep->ep_recv_size, octets);
	rpcrdma2_rpool_resize(&ep->ep_xp->xp_rpool, round_up(octets, PAGE_SIZE));
}
