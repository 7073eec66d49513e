// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties of the client and the server. A property of the server
 * limits the messages that are marshalled after its announcement, which any
 * message may have, at any time (S30). Properties have the lifetime of the
 * connection (S19), but may change meanwhile.
 *
 * ep_prop_mutex guards ep_ex once messages can arrive, and keeps property
 * messages in order. The receive CQ holds it for a message other than MSG or
 * NOMSG, and for all messages while ep_props_busy is set; the connect worker
 * for the CONNPROP, and to settle the version; ep_props_work for changes of the
 * client's properties. Under the mutex nothing waits for memory, which may need
 * this very receive CQ, nor for xp_fence_mutex.
 */
#include "xprtrdma2.h"
#include "trace.h"

/*
 * Derive the limits of messages from the properties of both ends (S33, S14).
 * They are in force on the wire from the next message on (S15).
 */
static void xprt2_props_bound_messages(struct xprt2_ep *ep)
{
	if (ep->ep_vers != RPCRDMA2_VERS_TWO)
		return;
	WRITE_ONCE(ep->ep_call_threshold,
		   rpcrdma2_exchange_send_max(&ep->ep_ex));
	/* the limit is in force at once (C-034) */
	rpcrdma2_sq_bound(&ep->ep_conn, ep->ep_call_threshold);
	WRITE_ONCE(ep->ep_reply_threshold,
		   rpcrdma2_exchange_reply_max(&ep->ep_ex));
}

/**
 * xprt2_backward_measure - compute the inline limit for xprt2_bc_maxpayload()
 * @ep: endpoint about to be ready, or whose thresholds have changed
 */
void xprt2_backward_measure(struct xprt2_ep *ep)
{
	unsigned int bytes = min(READ_ONCE(ep->ep_call_threshold),
				 READ_ONCE(ep->ep_reply_threshold));

	WRITE_ONCE(ep->ep_xp->xp_backward_max,
		   min_t(unsigned int, bytes, PAGE_SIZE) -
		   rpcrdma2_hdr_min(ep->ep_vers));
}

/*
 * Each Receive takes the new size when it comes back; xprt2_props_update() then
 * announces it. Version 1 cannot announce a change.
 */
static void xprt2_receives_grow(struct xprt2_ep *ep, u32 bytes)
{
	struct rpcrdma2_rpool *rp = &ep->ep_xp->xp_rpool;
	u32 size = rpcrdma2_recv_size(&ep->ep_conn, bytes);

	if (ep->ep_vers == RPCRDMA2_VERS_TWO && size > ep->ep_recv_size &&
	    size > rp->rp_size)
		rpcrdma2_rpool_resize(rp, size);
}

static bool xprt2_receives_growing(const struct xprt2_ep *ep)
{
	return ep->ep_vers == RPCRDMA2_VERS_TWO &&
	       READ_ONCE(ep->ep_xp->xp_rpool.rp_size) >
	       round_up(ep->ep_recv_size, PAGE_SIZE);
}

/* Apply limits, and the state by which the receive CQ handles messages */
static void xprt2_props_changed(struct rpcrdma2_exchange *ex)
{
	struct xprt2_ep *ep = container_of(ex, struct xprt2_ep, ep_ex);
	bool busy = rpcrdma2_exchange_busy(ex);

	WRITE_ONCE(ep->ep_props_busy, busy || xprt2_receives_growing(ep));
	WRITE_ONCE(ep->ep_props_credit, xprt2_props_needs_credit(busy, ex));
	xprt2_props_bound_messages(ep);
}

/*
 * Post a property message, with the client's credit request (S26), in at most
 * RPCRDMA2_INLINE_FIRST bytes (S32)
 */
static int xprt2_props_post(struct xprt2_ep *ep,
			    const struct rpcrdma2_propmsg *pm, bool answers,
			    gfp_t gfp)
{
	struct xprt2_req *req = xprt2_backward_req(ep->ep_xp, answers, gfp);
	struct rpc_rqst *rqst;
	int ret;

	if (!req)
		return -ENOMEM;
	rqst = &req->rq2_slot;
	rqst->rq_xid = cpu_to_be32(pm->pm_xid);
	ret = rpcrdma2_encode_propmsg(rqst->rq_buffer, RPCRDMA2_INLINE_FIRST,
				      ep->ep_max_reqs, pm);
	if (ret > 0) {
		xdr_buf_init(&rqst->rq_snd_buf, rqst->rq_buffer, ret);
		rqst->rq_snd_buf.len = ret;
		ret = xprt2_post_backward(ep, req, 0, RDMA2_MSG, false);
	}
	xprt2_req_put(req);
	return ret;
}

/*
 * Take the xid of a property message from the sequence of the RPCs. No RPC may
 * have the same xid, because an error carries only the xid (S18).
 */
static u32 xprt2_props_take_xid(struct rpc_xprt *xprt)
{
	guard(spinlock)(&xprt->reserve_lock);
	return be32_to_cpu((__force __be32)xprt->xid++);
}

/*
 * A message that is no answer takes the credit of a Call, unless the server
 * counts as this end does (2.3). No further Call is sent until a credit is
 * free.
 */
static bool xprt2_props_take_credit(struct xprt2_ep *ep)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	u32 grant = READ_ONCE(ep->ep_grant);
	unsigned long most;
	bool place, freed;

	if (!xprt2_props_needs_credit(true, &ep->ep_ex))
		return true;
	if (grant < 2)
		return false;
	most = RPC_CWNDSCALE * (grant - 1);
	spin_lock(&xprt->transport_lock);
	xprt->cwnd = min(xprt->cwnd, most);
	place = xprt->cong <= most;
	/* A kept credit in a window of one would block all Calls. */
	freed = xprt2_bound_kept(xprt);
	spin_unlock(&xprt->transport_lock);
	if (freed && test_bit(XPRT_CWND_WAIT, &xprt->state))
		rpcrdma2_window_raised(xprt);
	return place;
}

/*
 * When neither answer nor error can be sent, the connection is given up (S46).
 * After any other failure, retry when the next message comes.
 */
static int xprt2_props_send(struct rpcrdma2_exchange *ex,
			    struct rpcrdma2_hdr *h, struct rpcrdma2_propmsg *pm)
{
	struct xprt2_ep *ep = container_of(ex, struct xprt2_ep, ep_ex);
	int ret;

	if (!h) {
		if (READ_ONCE(ep->ep_nego.ng_phase) != XPRT2_SETTLED ||
		    ep->ep_vers != RPCRDMA2_VERS_TWO || !READ_ONCE(ep->ep_grant) ||
		    !xprt2_props_take_credit(ep))
			return -EAGAIN;
		pm->pm_xid = xprt2_props_take_xid(&ep->ep_xp->xp_xprt);
	}
	ret = xprt2_props_post(ep, pm, h, GFP_NOWAIT | __GFP_NOWARN);
	if (ret && h)
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_REPLY);
	return ret;
}

/*
 * A smaller size has been granted, and the server keeps to it (C-033, C-034).
 * A larger size, within the administrator's limit, takes some time beyond the
 * pages that all Receives have.
 */
static void xprt2_props_resize(struct rpcrdma2_exchange *ex, u32 bytes)
{
	struct xprt2_ep *ep = container_of(ex, struct xprt2_ep, ep_ex);
	u32 most = min(bytes, rpcrdma2_param(&xprt2_param_receive_size));
	u32 own = READ_ONCE(ep->ep_recv_size);

	if (bytes < own) {
		WRITE_ONCE(ep->ep_recv_size, bytes);
		rpcrdma2_rpool_resize(&ep->ep_xp->xp_rpool,
				      round_up(bytes, PAGE_SIZE));
	} else if (most > own) {
		WRITE_ONCE(ep->ep_recv_size, round_up(own, PAGE_SIZE));
		xprt2_receives_grow(ep, most);
	}
}

static void xprt2_props_count(enum rpcrdma2_props_counter which, u32 n)
{
	this_cpu_add(xprt2_counters[XPRT2_C_connprops + which], n);
}

static const struct rpcrdma2_props_ops xprt2_props_ops = {
	.send		= xprt2_props_send,
	.changed	= xprt2_props_changed,
	.resize		= xprt2_props_resize,
	.count		= xprt2_props_count,
};

/**
 * xprt2_begin_properties - set the initial properties of a connection
 * @ep: endpoint under construction, its device known
 *
 * Nothing is known of the server yet (C-005). The client announces only
 * backward operation that it supports (C-035 to C-037).
 */
void xprt2_begin_properties(struct xprt2_ep *ep)
{
	struct rpcrdma2_props *own = &ep->ep_ex.ex_supported;

	rpcrdma2_exchange_init(&ep->ep_ex, &xprt2_props_ops, false);
	own->pr_rbsiz = ep->ep_recv_size;		/* S13 */
	own->pr_sbsiz = ep->ep_send_size;
	own->pr_brs = min_t(u32, rpcrdma2_param(&xprt2_param_backward), /* S20 */
			    ep->ep_chunk_max ? RDMA2_BKREQSUP_GENL :
					       RDMA2_BKREQSUP_INLINE);
	own->pr_limits[RPCRDMA2_LIMIT_SEGS] = RPCRDMA2_MAX_SEGMENTS;
	own->pr_limits[RPCRDMA2_LIMIT_BYTES] = U32_MAX;
	if (own->pr_brs == RDMA2_BKREQSUP_GENL) {
		own->pr_limits[RPCRDMA2_LIMIT_SEGS] = XPRT2_BACKWARD_SEGS;
		own->pr_limits[RPCRDMA2_LIMIT_READS] = XPRT2_BACKWARD_CHUNKS;
		own->pr_limits[RPCRDMA2_LIMIT_WRITES] = XPRT2_BACKWARD_CHUNKS;
	}
	xprt2_props_changed(&ep->ep_ex);
}

/**
 * xprt2_reply_refused - note that a Reply expected inline does not fit
 * @ep: endpoint
 * @needed: length of the Reply in bytes, as reported by the server
 *
 * Context: receive CQ.
 */
void xprt2_reply_refused(struct xprt2_ep *ep, u32 needed)
{
	rpcrdma2_exchange_reply_refused(&ep->ep_ex, needed);
	xprt2_props_bound_messages(ep);
}

/**
 * xprt2_send_connprop - announce the client's properties, once per connection
 * @ep: endpoint
 *
 * All of them (C-043), unless the server has refused the experimental ones:
 * their ids may belong to another extension there (S37).
 *
 * Context: connect, before the connection is ready.
 * Return: 0, or an error when nothing is sent and no answer will come.
 */
int xprt2_send_connprop(struct xprt2_ep *ep)
{
	u32 rows = RPCRDMA2_PROPS_ALL;
	struct rpcrdma2_propmsg own;

	if (ep->ep_nego.ng_plain)
		rows &= ~RPCRDMA2_PROPS_MARKED;
	ep->ep_connprop_xid = xprt2_props_take_xid(&ep->ep_xp->xp_xprt);
	scoped_guard(mutex, &ep->ep_prop_mutex) {
		rpcrdma2_exchange_announce(&ep->ep_ex, rows, &own);
		xprt2_props_changed(&ep->ep_ex);
	}
	own.pm_xid = ep->ep_connprop_xid;
	return xprt2_props_post(ep, &own, false, RPCRDMA2_GFP);
}

/**
 * xprt2_props_update - send the next property message, if it is due
 * @ep: endpoint
 *
 * Context: ep_prop_mutex; receive CQ, or ep_props_work.
 */
void xprt2_props_update(struct xprt2_ep *ep)
{
	const struct rpcrdma2_rpool *rp = &ep->ep_xp->xp_rpool;

	lockdep_assert_held(&ep->ep_prop_mutex);
	/* the size counts once all Receives have it (C-032) */
	if (xprt2_receives_growing(ep) && !READ_ONCE(rp->rp_small))
		WRITE_ONCE(ep->ep_recv_size, rp->rp_size);
	rpcrdma2_exchange_resize(&ep->ep_ex, READ_ONCE(ep->ep_recv_size),
				 READ_ONCE(ep->ep_send_size));
	rpcrdma2_exchange_send_next(&ep->ep_ex, jiffies);
}

/**
 * xprt2_props_work - ep_props_work: send changes while no message comes
 * @work: ep_props_work
 */
void xprt2_props_work(struct work_struct *work)
{
	struct xprt2_ep *ep = container_of(to_delayed_work(work),
					   struct xprt2_ep, ep_props_work);
	unsigned int flags = rpcrdma2_reclaim_begin(xprt2_swaps(ep->ep_xp));

	scoped_guard(mutex, &ep->ep_prop_mutex)
		xprt2_props_update(ep);
	rpcrdma2_reclaim_end(flags);
}

/**
 * xprt2_sizes_changed - apply a new value of a module parameter
 * @ep: endpoint that is ready
 * @receive: receive_size has changed, not send_size
 *
 * Receives grow (C-028), and shrink only at the request of the server (C-033).
 * Sends are bound once send_size is announced (S14); a REQPROP for Receives of
 * that size follows (C-034).
 *
 * Context: sleeps; while the endpoint exists.
 */
void xprt2_sizes_changed(struct xprt2_ep *ep, bool receive)
{
	if (receive)
		scoped_guard(mutex, &ep->ep_prop_mutex)
			xprt2_receives_grow(ep, rpcrdma2_param(&xprt2_param_receive_size));
	else
		WRITE_ONCE(ep->ep_send_size, rpcrdma2_param(&xprt2_param_send_size));
	queue_delayed_work(xprt2_wq, &ep->ep_props_work, 0);
}

/**
 * xprt2_handle_property - handle a property message, or an option
 * @ep: endpoint
 * @rep: Receive buffer it is in
 * @msg: the message, already applied if it is well-formed; overwritten by the
 *	answer
 *
 * A malformed message is refused as a whole (S11, S38), and so is an unknown
 * option (C-012, S40). No answer precedes the server's first grant (C-097).
 *
 * Context: receive CQ, under ep_prop_mutex.
 */
void xprt2_handle_property(struct xprt2_ep *ep, struct xprt2_rep *rep,
			   struct rpcrdma2_msg *msg)
{
	xprt2_check_handle(ep, msg);
	rpcrdma2_recv_put(&rep->rep_recv);
	if (msg->mg_hdr.h_direction != RDMA2_CALL) {
		if (msg->mg_verdict ?
		    !rpcrdma2_exchange_malformed(&ep->ep_ex, msg) :
		    !msg->mg_prop.pm_want)
			xprt2_count(dropped_silently); /* no request (S17, S39) */
		return;
	}
	if (!msg->mg_verdict && msg->mg_prop.pm_type != RDMA2_OPT_REQPROP)
		return;
	if (!ep->ep_grant) {
		xprt2_count(dropped_silently);
	} else if (msg->mg_verdict) {
		xprt2_count(properties_refused);
		rpcrdma2_set_error(&msg->mg_hdr, msg->mg_verdict, 0, 0);
		xprt2_send_error(ep, &msg->mg_hdr);
	} else {
		rpcrdma2_exchange_answer(&ep->ep_ex, msg, jiffies);
	}
}
