// SPDX-License-Identifier: GPL-2.0
/*
 * From a Receive completion to the handler of the message in it.
 *
 * Receives are posted by watermark: whenever fewer than the RPCs that may be
 * outstanding, the Calls that the server may make, and a reserve for control
 * messages, are posted, a batch goes in with one doorbell. That happens before
 * a Reply completes its RPC, so a Call that takes its place always finds its
 * Receive (E-16). When memory is short the window shrinks to what is posted;
 * the connection stays.
 */
#include "xprtrdma2.h"

#include <rpcrdma2/credit.h>

#include "trace.h"

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
						  XPRT2_BACKWARD_CREDITS);
}

/**
 * xprt2_post_receives - keep enough Receives posted
 * @ep: endpoint
 * @credits: RPCs that may be outstanding
 * @gfp: how hard to try when the pool has to grow. The receive CQ may not
 *	wait for memory: what frees it may need this very CQ
 *
 * B-09 to B-12, S27; without an upper layer for them no Calls are granted.
 *
 * Context: receive CQ, or connect before the connection is up.
 * Return: RPCs that the posted Receives are enough for, at most @credits.
 */
u32 xprt2_post_receives(struct xprt2_ep *ep, u32 credits, gfp_t gfp)
{
	const struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	unsigned int needed, count;

	needed = rpcrdma2_receives_needed(credits,
					  READ_ONCE(xprt->bc_alloc_max) ?
					  XPRT2_BACKWARD_CREDITS : 0);
	if (ep->ep_recvs_posted >= needed ||
	    rpcrdma2_conn_is_lost(&ep->ep_conn))
		return credits;

	count = rpcrdma2_recvs_post(&ep->ep_conn, &ep->ep_xp->xp_rpool,
				    needed + ep->ep_recv_batch -
				    ep->ep_recvs_posted, gfp);
	if (count)
		xprt2_count(recv_doorbells);
	ep->ep_recvs_posted += count;
	if (likely(ep->ep_recvs_posted >= needed))
		return credits;
	return max_t(int, 1, (int)(credits - (needed - ep->ep_recvs_posted)));
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
	    (size <= rp->rp_size && !ep->ep_shrinking))
		return;
	ep->ep_shrinking = false;
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
	return ep->ep_vers == RPCRDMA2_VERS_TWO && !ep->ep_shrinking &&
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
	ep->ep_shrinking = true;
	mod_delayed_work(xprt2_wq, &ep->ep_shrink, XPRT2_SHRINK_DELAY);
}

/**
 * xprt2_receives_shrink - ep_shrink: Receives become as small as was granted
 * @work: ep_shrink
 *
 * Some time later: a server answers Calls with several threads, and one of them may
 * have a Reply in hand that was built before the server asked.
 */
void xprt2_receives_shrink(struct work_struct *work)
{
	struct xprt2_ep *ep = container_of(work, struct xprt2_ep,
					   ep_shrink.work);

	guard(mutex)(&ep->ep_prop_mutex);
	if (!ep->ep_shrinking)
		return;
	ep->ep_shrinking = false;
	rpcrdma2_rpool_resize(&ep->ep_xp->xp_rpool,
			      round_up(ep->ep_recv_size, PAGE_SIZE));
}

static u32 refill(struct xprt2_ep *ep)
{
	return xprt2_post_receives(ep, ep->ep_grant ?: RPCRDMA2_CREDIT_INITIAL,
				   GFP_NOWAIT | __GFP_NOWARN);
}

/* The server says how many RPCs may be outstanding (C-097, S26). */
static void take_grant(struct xprt2_ep *ep, const struct rpcrdma2_hdr *h)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	unsigned long cwnd;
	u32 grant;

	grant = rpcrdma2_grant_next(h, ep->ep_grant, ep->ep_max_reqs,
				    ep->ep_grant);
	WRITE_ONCE(ep->ep_grant, grant);
	cwnd = RPC_CWNDSCALE * xprt2_calls_beside(READ_ONCE(ep->ep_beside),
						  refill(ep));
	if (READ_ONCE(xprt->cwnd) == cwnd)
		return;

	spin_lock(&xprt->transport_lock);
	xprt->cwnd = cwnd;
	spin_unlock(&xprt->transport_lock);
	trace_xprt2_grant(ep, cwnd / RPC_CWNDSCALE);
}

typedef void (*message_handler)(struct xprt2_ep *ep, struct xprt2_rep *rep,
				struct rpcrdma2_msg *msg);

/* Looked at, and of no more use */
static void finish_message(struct xprt2_ep *ep, struct xprt2_rep *rep,
			   const struct rpcrdma2_msg *msg)
{
	xprt2_check_handle(ep, msg);
	rpcrdma2_recv_put(&rep->rep_recv);
}

/* Not for this end, or not yet */
static void drop_message(struct xprt2_ep *ep, struct xprt2_rep *rep,
			 struct rpcrdma2_msg *msg)
{
	trace_xprt2_drop(ep, &msg->mg_hdr);
	xprt2_count(dropped_silently);
	finish_message(ep, rep, msg);
}

/* C-066: the direction, not the xid, tells Calls from Replies. */
static const message_handler handlers[][RDMA2_UPDPROP + 1] = {
	[RDMA2_CALL] = {
		[RDMA2_MSG]	= xprt2_handle_call,
		[RDMA2_NOMSG]	= xprt2_handle_call,
		[RDMA2_OPTIONAL] = xprt2_handle_property,
		[RDMA2_CONNPROP] = xprt2_handle_property,
		[RDMA2_REQPROP]	= xprt2_handle_property,
		[RDMA2_UPDPROP]	= xprt2_handle_property,
	},
	[RDMA2_REPLY] = {
		[RDMA2_MSG]	= xprt2_handle_reply,
		[RDMA2_NOMSG]	= xprt2_handle_reply,
		[RDMA2_ERROR]	= xprt2_handle_reply,
		[RDMA2_OPTIONAL] = xprt2_handle_granted,
		[RDMA2_RESPROP]	= xprt2_handle_granted,
	},
};

/* S35: nothing in another version than the Call; S36: but ERR_VERS. */
static bool in_version(const struct xprt2_ep *ep,
		       const struct rpcrdma2_msg *msg)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;

	return h->h_vers == ep->ep_vers ||
	       (rpcrdma2_msg_is_error(msg) &&
		h->h_error.er_code == RDMA2_ERR_VERS);
}

static message_handler choose_handler(const struct rpcrdma2_msg *msg)
{
	u32 direction = msg->mg_hdr.h_direction, proc = msg->mg_hdr.h_proc;
	message_handler handler = NULL;

	/* What cannot be told: see rpcrdma2_decode_hdr(). */
	if (direction == RDMA2_NODIR && msg->mg_hdr.h_vers == RPCRDMA2_VERS_ONE)
		direction = RDMA2_REPLY;
	if (msg->mg_verdict != RDMA2_DROP && direction < ARRAY_SIZE(handlers) &&
	    proc < ARRAY_SIZE(handlers[0]))
		handler = handlers[direction][proc];
	return handler ?: drop_message;
}

/*
 * In this order: version, properties, credits, errors for what was said of
 * properties, negotiation, handler. Of a bad
 * message nothing counts (S11), nor of one in another version; what either
 * says about the version of the connection does.
 */
static void take_message(struct xprt2_ep *ep, struct xprt2_rep *rep,
			 struct rpcrdma2_msg *msg)
{
	bool spoken = in_version(ep, msg);
	enum xprt2_fate fate;

	/* What is behind an answer that leads to another version */
	if (unlikely(xprt2_probe_failed(READ_ONCE(ep->ep_nego.ng_phase),
					READ_ONCE(ep->ep_answer)))) {
		refill(ep);
		finish_message(ep, rep, msg);
		return;
	}
	if (spoken && msg->mg_verdict == RDMA2_OK) {
		if (unlikely(rpcrdma2_msg_is_control(msg)))
			xprt2_take_properties(ep, &msg->mg_prop);
		take_grant(ep, &msg->mg_hdr);
	} else {
		refill(ep);
	}

	if (unlikely(spoken && rpcrdma2_msg_is_error(msg)) &&
	    xprt2_property_refused(ep, msg)) {
		finish_message(ep, rep, msg);
		return;
	}
	fate = xprt2_negotiate_message(ep, msg);
	rep->rep_status = fate == XPRT2_F_FAIL ? -EPROTONOSUPPORT : 0;
	if (fate == XPRT2_F_DONE)
		finish_message(ep, rep, msg);
	else if (spoken)
		choose_handler(msg)(ep, rep, msg);
	else
		drop_message(ep, rep, msg);
}

/*
 * A message that carries no RPC may be about properties, and so is any as long as
 * there is something to be said of them.
 */
static bool concerns_properties(const struct xprt2_ep *ep, const __be32 *p,
				u32 len)
{
	return READ_ONCE(ep->ep_talking) ||
	       (len >= RPCRDMA2_PREFIX_LEN && be32_to_cpu(p[3]) > RDMA2_NOMSG);
}

static void read_message(struct xprt2_ep *ep, struct xprt2_rep *rep,
			 const struct ib_wc *wc)
{
	void *base = page_address(rep->rep_recv.rv_pages[0]);
	u32 handle = 0;

	if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		handle = wc->ex.invalidate_rkey;
	if (likely(!concerns_properties(ep, base, wc->byte_len))) {
		rpcrdma2_msg_read(&ep->ep_msg, base, PAGE_SIZE, wc->byte_len,
				  handle, &ep->ep_ex);
		take_message(ep, rep, &ep->ep_msg);
		return;
	}
	guard(mutex)(&ep->ep_prop_mutex);
	xprt2_heard(ep);
	rpcrdma2_msg_read(&ep->ep_msg, base, PAGE_SIZE, wc->byte_len, handle,
			  &ep->ep_ex);
	take_message(ep, rep, &ep->ep_msg);
	xprt2_converse(ep);
}

/**
 * xprt2_received - ->received of the connection
 * @co: connection
 * @rv: Receive with a message
 * @wc: its completion
 *
 * Context: receive CQ.
 */
void xprt2_received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
		    const struct ib_wc *wc)
{
	struct xprt2_ep *ep = xprt2_conn_to_ep(co);
	struct xprt2_rep *rep = container_of(rv, struct xprt2_rep, rep_recv);

	ep->ep_recvs_posted--;
	rep->rep_ep = ep;
	if (unlikely(READ_ONCE(ep->ep_silent)))
		WRITE_ONCE(ep->ep_silent, false);
	xprt2_count(recv_completions);
	xprt2_count_add(reply_bytes, wc->byte_len);
	rpcrdma2_recv_sync(rv);
	read_message(ep, rep, wc);
}
