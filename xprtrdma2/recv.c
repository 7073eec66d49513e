// SPDX-License-Identifier: GPL-2.0
/* Receive side: from a Receive completion to the RPC that it completes */
#include "xprtrdma2.h"
#include "trace.h"

/* No RPC waits for this Reply; an aborted RPC may have. */
static void xprt2_recv_drop_reply(struct xprt2_ep *ep, struct xprt2_rep *rep,
				  const struct rpcrdma2_msg *msg)
{
	u32 xid;

	trace_xprt2_drop(ep, msg->mg_hdr.h_xid, msg->mg_hdr.h_proc);
	xprt2_count(replies_unknown);
	rpcrdma2_recv_put(&rep->rep_recv);
	if (xprt2_take_late_reply(ep, msg))
		return;
	/* No second search for the RPC: the credit of this Reply is back now. */
	xprt2_credit_answered(ep->ep_xp);
	if (msg->mg_handle &&
	    rpcrdma2_handle_in_use(&ep->ep_conn, msg->mg_handle, &xid))
		xprt2_lose_to_handle(ep);
}

/*
 * A limit of the server applies to the connection, the length that a Reply
 * needs to its RPC (2.4). A limit is noted even when it comes too late for this
 * RPC. C-083 to C-085, C-090 to C-092, S14.
 *
 * Return: -EAGAIN to send the Call again, once on this connection (S45); -EIO
 * also for an error that the Call cannot have caused, because it has no chunks
 * to change, or that has no useful argument.
 */
static int xprt2_reply_judge_error(struct xprt2_ep *ep, struct xprt2_req *req,
				   const struct rpcrdma2_error *er)
{
	enum rpcrdma2_remedy remedy = rpcrdma2_remedy(ep->ep_vers, er, false);
	struct rpcrdma2_call_limits *cl = &ep->ep_limits;
	bool fails = rpcrdma2_remedy(ep->ep_vers, er, req->rq2_resent) ==
		     RPCRDMA2_REMEDY_FAIL;

	if (remedy == RPCRDMA2_REMEDY_LARGER_REPLY) {
		req->rq2_reply_needed = er->er_arg;
		if (!req->rq2_reply_max)
			xprt2_reply_refused(ep, er->er_arg);
	} else if (!rpcrdma2_is_exposed(&req->rq2_exposed)) {
		return -EIO;
	} else if (remedy == RPCRDMA2_REMEDY_FEWER_READS) {
		cl->cl_reads = min(cl->cl_reads, er->er_arg);
	} else if (remedy == RPCRDMA2_REMEDY_NO_WRITES) {
		cl->cl_writes = 0;
	} else if (remedy == RPCRDMA2_REMEDY_FEWER_SEGMENTS) {
		cl->cl_segs = min(cl->cl_segs, er->er_arg);
	} else {
		return -EIO;
	}
	return fails ? -EIO : -EAGAIN;
}

/* Copy to rq2_rep the lengths that the Reply reports. */
static void xprt2_reply_read(struct xprt2_ep *ep, struct xprt2_req *req,
			     const struct rpcrdma2_msg *msg)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	struct xprt2_rep *rep = req->rq2_rep;
	u64 written = 0;
	unsigned int i;

	rep->rep_proc = h->h_proc;
	rep->rep_at = h->h_len;
	rep->rep_paylen = msg->mg_paylen;
	rep->rep_written = 0;
	rep->rep_replylen = 0;
	if (msg->mg_verdict || h->h_proc == RDMA2_ERROR) {
		if (!rep->rep_status)
			rep->rep_status = msg->mg_verdict ? -EIO :
				xprt2_reply_judge_error(ep, req, &h->h_error);
		return;
	}
	if (unlikely(ep->ep_xp->xp_refused) &&
	    READ_ONCE(ep->ep_nego.ng_phase) == XPRT2_SETTLED)
		ep->ep_xp->xp_refused = 0;
	for (i = 0; i < h->h_nwrites; i++)
		written += h->h_writes[i].ck_length;
	rep->rep_written = min_t(u64, written, U32_MAX);
	rep->rep_replylen = h->h_has_reply ? h->h_reply.ck_length : 0;
	/* The lengths must fit the memory offered (E-20). */
	if (rep->rep_written > req->rq2_write_max ||
	    rep->rep_replylen > req->rq2_reply_max) {
		rep->rep_status = -EIO;
	} else if (unlikely(!ep->ep_replied)) {
		ep->ep_replied = true;
		xprt2_version_works(ep);
	}
}

/*
 * Handle a MSG, NOMSG or ERROR that answers a Call. rep_status is already set
 * for an error that ended the negotiation without a common version.
 */
static void xprt2_handle_reply(struct xprt2_ep *ep, struct xprt2_rep *rep,
			       struct rpcrdma2_msg *msg)
{
	struct xprt2_req *req;
	struct rpc_rqst *rqst;

	rqst = xprt2_req_claim(ep, rep, msg->mg_hdr.h_xid);
	if (!rqst) {
		xprt2_recv_drop_reply(ep, rep, msg);
		return;
	}
	req = xprt2_rqst_to_req(rqst);
	xprt2_reply_read(ep, req, msg);
	if (rpcrdma2_msg_is_error(msg))
		xprt2_count_error(ep, &msg->mg_hdr);
	xprt2_count(replies);
	trace_xprt2_reply(rqst, rep, &msg->mg_hdr);

	/* the handle must be of this RPC (S50) */
	if (msg->mg_handle &&
	    !xprt2_remote_invalidated(ep, req, msg->mg_handle))
		xprt2_lose_to_handle(ep);
	if (rpcrdma2_is_exposed(&req->rq2_exposed)) {
		if (xprt2_fence_start(ep, req))
			xprt2_abandon_reply(req);
	} else {
		xprt2_release_reply(req);
	}
}

/*
 * Receives are posted by watermark: the RPCs that may be outstanding, the Calls
 * that the server may make, and a reserve for control messages. Whenever fewer
 * are posted, a batch goes in with one doorbell, before a Reply completes its
 * RPC. So the next Call always finds a Receive for its Reply (E-16). A
 * connection that was never busy has a small grant, thus a small batch and few
 * Receives. When memory is short, the window shrinks to the posted Receives;
 * the connection and the server's grant stay.
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
	unsigned int needed, target, total, count;
	u32 calls = ep->ep_backward_grant;

	target = READ_ONCE(xp->xp_xprt.bc_alloc_max) ?
		 ep->ep_backward_next : 0;
	needed = rpcrdma2_receives_needed(credits, target);
	if (rpcrdma2_conn_is_lost(&ep->ep_conn))
		return credits;
	if (ep->ep_recvs_posted < needed) {
		total = needed + rpcrdma2_recv_batch(credits);
		count = rpcrdma2_recvs_post(&ep->ep_conn, &ep->ep_xp->xp_rpool,
					    total - ep->ep_recvs_posted,
					    needed - ep->ep_recvs_posted, total,
					    gfp);
		if (count)
			xprt2_count(recv_doorbells);
		ep->ep_recvs_posted += count;
		/*
		 * The grant may have been lowered. That of the connection's
		 * first messages is small.
		 */
		if (likely(xprt2_ep_is_ready(ep)) &&
		    ep->ep_recvs_posted >= needed &&
		    rpcrdma2_rpool_trim(&ep->ep_xp->xp_rpool, 2 * needed))
			xprt2_count(recvs_trimmed);
	}
	credits = xprt2_share_receives(ep->ep_recvs_posted, credits, target,
				       &calls);
	if (unlikely(calls != ep->ep_backward_grant))
		WRITE_ONCE(ep->ep_backward_grant, calls);
	return credits;
}

static u32 xprt2_recv_refill(struct xprt2_ep *ep)
{
	return xprt2_post_receives(ep, ep->ep_grant ?: RPCRDMA2_CREDIT_INITIAL,
				   GFP_NOWAIT | __GFP_NOWARN);
}

static unsigned long xprt2_recv_window(const struct xprt2_ep *ep, u32 calls)
{
	return RPC_CWNDSCALE *
	       xprt2_calls_allowed(READ_ONCE(ep->ep_props_credit), calls);
}

/* Limit the window to the server's grant and the Receives for Replies. */
static void xprt2_recv_set_window(struct xprt2_ep *ep)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	u32 calls = xprt2_recv_refill(ep);
	unsigned long cwnd, was;
	bool freed;

	if (READ_ONCE(xprt->cwnd) == xprt2_recv_window(ep, calls))
		return;

	spin_lock(&xprt->transport_lock);
	/* xprt2_props_take_credit() may have taken one since */
	cwnd = xprt2_recv_window(ep, calls);
	was = xprt->cwnd;
	xprt->cwnd = cwnd;
	freed = xprt2_bound_kept(xprt);
	spin_unlock(&xprt->transport_lock);
	trace_xprt2_grant(ep, cwnd / RPC_CWNDSCALE);
	/* Wake Calls now: the next RPC may end much later. */
	if ((cwnd > was || freed) && test_bit(XPRT_CWND_WAIT, &xprt->state))
		rpcrdma2_window_raised(xprt);
}

/* A Call may raise the grant: the next Reply announces it. */
static void xprt2_recv_call(struct xprt2_ep *ep, struct xprt2_rep *rep,
			    struct rpcrdma2_msg *msg)
{
	u32 before = ep->ep_backward_next;

	xprt2_handle_call(ep, rep, msg);
	if (unlikely(ep->ep_backward_next != before))
		xprt2_recv_set_window(ep);
}

typedef void (*message_handler)(struct xprt2_ep *ep, struct xprt2_rep *rep,
				struct rpcrdma2_msg *msg);

/* The server's properties apply from the next message on (S15, S30). */
static void xprt2_take_properties(struct xprt2_ep *ep,
				  const struct rpcrdma2_propmsg *pm)
{
	rpcrdma2_exchange_take(&ep->ep_ex, pm);
	rpcrdma2_exchange_bound(&ep->ep_ex, &ep->ep_limits);
	xprt2_backward_measure(ep);
	trace_xprt2_property(ep, pm->pm_type);
}

/* Release a message that needs no further processing. */
static void xprt2_recv_finish(struct xprt2_ep *ep, struct xprt2_rep *rep,
			      const struct rpcrdma2_msg *msg)
{
	xprt2_check_handle(ep, msg);
	rpcrdma2_recv_put(&rep->rep_recv);
}

/* Drop a message that is not for this end, or not yet. */
static void xprt2_recv_drop(struct xprt2_ep *ep, struct xprt2_rep *rep,
			    struct rpcrdma2_msg *msg)
{
	trace_xprt2_drop(ep, msg->mg_hdr.h_xid, msg->mg_hdr.h_proc);
	xprt2_count(dropped_silently);
	xprt2_recv_finish(ep, rep, msg);
}

/* The direction, not the xid, distinguishes Calls from Replies (C-066). */
static const message_handler handlers[][RDMA2_UPDPROP + 1] = {
	[RDMA2_CALL] = {
		[RDMA2_MSG]	= xprt2_recv_call,
		[RDMA2_NOMSG]	= xprt2_recv_call,
		[RDMA2_OPTIONAL] = xprt2_handle_property,
		[RDMA2_CONNPROP] = xprt2_handle_property,
		[RDMA2_REQPROP]	= xprt2_handle_property,
		[RDMA2_UPDPROP]	= xprt2_handle_property,
	},
	[RDMA2_REPLY] = {
		[RDMA2_MSG]	= xprt2_handle_reply,
		[RDMA2_NOMSG]	= xprt2_handle_reply,
		[RDMA2_ERROR]	= xprt2_handle_reply,
		[RDMA2_OPTIONAL] = xprt2_handle_property,
		[RDMA2_RESPROP]	= xprt2_handle_property,
	},
};

static message_handler xprt2_recv_choose_handler(const struct rpcrdma2_msg *msg)
{
	u32 direction = msg->mg_hdr.h_direction, proc = msg->mg_hdr.h_proc;
	message_handler handler = NULL;

	/* The direction is not always known: see rpcrdma2_decode_hdr(). */
	if (direction == RDMA2_NODIR && msg->mg_hdr.h_vers == RPCRDMA2_VERS_ONE)
		direction = RDMA2_REPLY;
	if (msg->mg_verdict != RDMA2_DROP && direction < ARRAY_SIZE(handlers) &&
	    proc < ARRAY_SIZE(handlers[0]))
		handler = handlers[direction][proc];
	return handler ?: xprt2_recv_drop;
}

/*
 * Take a message, in this order: version, properties, credits, errors that
 * answer property messages, negotiation, handler. A malformed message has no
 * effect (S11), nor has a message in another version, except on the version of
 * the connection.
 */
static void xprt2_recv_take(struct xprt2_ep *ep, struct xprt2_rep *rep,
			    struct rpcrdma2_msg *msg)
{
	/* Pairs with xprt2_version_settle() */
	enum xprt2_phase phase = smp_load_acquire(&ep->ep_nego.ng_phase);
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	struct xprt2_xprt *xp = ep->ep_xp;
	enum xprt2_disposition disposition;
	bool in_version, refused;
	u32 grant;

	/* the version of the connection; S36: ERR_VERS in any version (S35) */
	in_version = h->h_vers == READ_ONCE(ep->ep_vers) ||
		     (rpcrdma2_msg_is_error(msg) &&
		      h->h_error.er_code == RDMA2_ERR_VERS);
	/* Ignore messages behind an answer that leads to another version. */
	if (unlikely(xprt2_probe_failed(phase, READ_ONCE(ep->ep_answer)))) {
		xprt2_recv_refill(ep);
		xprt2_recv_finish(ep, rep, msg);
		return;
	}
	if (in_version && msg->mg_verdict == RDMA2_OK) {
		if (unlikely(rpcrdma2_msg_is_optional(msg)))
			xprt2_take_properties(ep, &msg->mg_prop);
		/*
		 * no grant by an error before another message (C-097, S26). The
		 * send path reads this cache line
		 */
		grant = rpcrdma2_grant_next(h, ep->ep_grant, ep->ep_max_reqs,
					    ep->ep_grant);
		if (unlikely(grant != ep->ep_grant))
			WRITE_ONCE(ep->ep_grant, grant);
		xprt2_recv_set_window(ep);
	} else {
		xprt2_recv_refill(ep);
	}

	refused = unlikely(in_version && rpcrdma2_msg_is_error(msg)) &&
		  rpcrdma2_exchange_refused(&ep->ep_ex, h);
	if (refused)
		xprt2_count_error(ep, h);
	phase = READ_ONCE(ep->ep_nego.ng_phase);
	if (likely(phase == XPRT2_SETTLED && h->h_proc != RDMA2_ERROR))
		disposition = XPRT2_D_HANDLE;
	else
		disposition = xprt2_negotiate_message(ep, msg, phase,
						      refused && !xp->xp_prop_vers);
	/* once: a version that is chosen again is not in doubt (2.4) */
	if (refused && disposition == XPRT2_D_DONE)
		xp->xp_prop_vers = true;
	rep->rep_status = disposition == XPRT2_D_FAIL ? -EPROTONOSUPPORT : 0;
	if (disposition == XPRT2_D_DONE || refused)
		xprt2_recv_finish(ep, rep, msg);
	else if (in_version)
		xprt2_recv_choose_handler(msg)(ep, rep, msg);
	else
		xprt2_recv_drop(ep, rep, msg);
}

/**
 * xprt2_received - ->received of the connection: handle a message
 * @co: connection
 * @rv: Receive with a message
 * @wc: its completion
 *
 * A message that carries no RPC may be about properties, and every message
 * while an exchange of properties is in progress.
 *
 * Context: receive CQ.
 */
void xprt2_received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
		    const struct ib_wc *wc)
{
	struct xprt2_rep *rep = container_of(rv, struct xprt2_rep, rep_recv);
	u32 handle = wc->wc_flags & IB_WC_WITH_INVALIDATE ?
		     wc->ex.invalidate_rkey : 0;
	__be32 *p = page_address(rv->rv_pages[0]);
	struct xprt2_ep *ep = xprt2_conn_to_ep(co);
	bool credit;

	ep->ep_recvs_posted--;
	if (unlikely(READ_ONCE(ep->ep_silent)))
		WRITE_ONCE(ep->ep_silent, false);
	xprt2_count(recv_completions);
	xprt2_count_add(reply_bytes, wc->byte_len);
	rpcrdma2_recv_sync(rv);

	if (likely(!READ_ONCE(ep->ep_props_busy) &&
		   (wc->byte_len < RPCRDMA2_PREFIX_LEN ||
		    be32_to_cpu(p[3]) <= RDMA2_NOMSG))) {
		rpcrdma2_msg_read(&ep->ep_msg, p, PAGE_SIZE, wc->byte_len,
				  handle, &ep->ep_ex);
		xprt2_recv_take(ep, rep, &ep->ep_msg);
		return;
	}
	guard(mutex)(&ep->ep_prop_mutex);
	credit = ep->ep_props_credit;
	rpcrdma2_exchange_received(&ep->ep_ex, jiffies);
	rpcrdma2_msg_read(&ep->ep_msg, p, PAGE_SIZE, wc->byte_len, handle,
			  &ep->ep_ex);
	xprt2_recv_take(ep, rep, &ep->ep_msg);
	xprt2_props_update(ep);
	/* no message takes the credit of a Call any more */
	if (credit && !ep->ep_props_credit)
		xprt2_recv_set_window(ep);
}
