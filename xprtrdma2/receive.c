// SPDX-License-Identifier: GPL-2.0
/*
 * From a Receive completion to the handler of the message in it. Receives are posted
 * before that: see receives.c.
 */
#include "xprtrdma2.h"

#include <rpcrdma2/credit.h>
#include <rpcrdma2/window.h>

#include "trace.h"

static u32 refill(struct xprt2_ep *ep)
{
	return xprt2_post_receives(ep, ep->ep_grant ?: RPCRDMA2_CREDIT_INITIAL,
				   GFP_NOWAIT | __GFP_NOWARN);
}

/* As many RPCs as the server grants, and as there are Receives for their Replies */
static void set_window(struct xprt2_ep *ep)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	unsigned long cwnd;
	bool freed;

	cwnd = RPC_CWNDSCALE * xprt2_calls_beside(READ_ONCE(ep->ep_beside),
						  refill(ep));
	if (READ_ONCE(xprt->cwnd) == cwnd)
		return;

	spin_lock(&xprt->transport_lock);
	swap(xprt->cwnd, cwnd);
	freed = xprt2_bound_kept(xprt);
	spin_unlock(&xprt->transport_lock);
	trace_xprt2_grant(ep, xprt->cwnd / RPC_CWNDSCALE);
	/* No Call may end for long: a message about properties changes it, too. */
	if ((xprt->cwnd > cwnd || freed) && test_bit(XPRT_CWND_WAIT, &xprt->state))
		rpcrdma2_window_raised(xprt);
}

/* The server says how many RPCs may be outstanding (C-097, S26). */
static void take_grant(struct xprt2_ep *ep, const struct rpcrdma2_hdr *h)
{
	WRITE_ONCE(ep->ep_grant,
		   rpcrdma2_grant_next(h, ep->ep_grant, ep->ep_max_reqs,
				       ep->ep_grant));
	set_window(ep);
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
	bool spoken = in_version(ep, msg), refused;
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

	refused = unlikely(spoken && rpcrdma2_msg_is_error(msg)) &&
		  xprt2_property_refused(ep, msg);
	fate = xprt2_negotiate_message(ep, msg, refused);
	rep->rep_status = fate == XPRT2_F_FAIL ? -EPROTONOSUPPORT : 0;
	if (fate == XPRT2_F_DONE || refused)
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
	bool beside;
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
	beside = ep->ep_beside;
	xprt2_heard(ep);
	rpcrdma2_msg_read(&ep->ep_msg, base, PAGE_SIZE, wc->byte_len, handle,
			  &ep->ep_ex);
	take_message(ep, rep, &ep->ep_msg);
	xprt2_converse(ep);
	/* nothing takes the place of a Call any more */
	if (beside && !ep->ep_beside)
		set_window(ep);
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
