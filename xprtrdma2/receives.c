// SPDX-License-Identifier: GPL-2.0
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
#include "xprtrdma2.h"

#include <rpcrdma2/credit.h>

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
