// SPDX-License-Identifier: GPL-2.0
/*
 * What a received Reply says, and what follows for its RPC: bound, fence.
 *
 * The header tells what the server has put where, rq2_write_max and
 * rq2_reply_max bound it. match.c finds the RPC, complete.c ends it.
 */
#include "xprtrdma2.h"

#include "trace.h"

static u32 sum_chunk_lengths(const struct rpcrdma2_hdr *h)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < h->h_nwrites; i++)
		sum += h->h_writes[i].ck_length;
	return min_t(u64, sum, U32_MAX);
}

/* E-20: what the server says it wrote must lie in what it was offered. */
static bool within_offer(const struct xprt2_req *req,
			 const struct xprt2_rep *rep)
{
	return rep->rep_written <= req->rq2_write_max &&
	       rep->rep_replylen <= req->rq2_reply_max;
}

/* The server serves: the next attempts to connect are the first ones again. */
static void take_good_reply(struct xprt2_ep *ep)
{
	if (likely(ep->ep_replied))
		return;
	ep->ep_replied = true;
	ep->ep_xp->xp_xprt.reestablish_timeout = 0;
	xprt2_version_works(ep);
}

/* No RPC waits for this Reply, but one may have waited. */
static void drop_reply(struct xprt2_ep *ep, struct xprt2_rep *rep,
		       const struct rpcrdma2_msg *msg)
{
	u32 xid;

	trace_xprt2_drop(ep, &msg->mg_hdr);
	xprt2_count(replies_unknown);
	rpcrdma2_recv_put(&rep->rep_recv);
	if (xprt2_answer_dead(ep, msg))
		return;
	xprt2_credit_answered(ep->ep_xp);
	if (msg->mg_handle &&
	    rpcrdma2_handle_in_use(&ep->ep_conn, msg->mg_handle, &xid))
		xprt2_lose_to_handle(ep);
}

/*
 * Section 2.4: what the server says that it takes holds for the connection, what
 * a Reply needs for its RPC. An RPC that offers no memory has no chunks to be
 * changed. Also what comes too late for this RPC is learnt.
 *
 * Return: false for an error that the Call cannot have caused, or that says
 * nothing of use. C-083 to C-085, C-090 to C-092, S14.
 */
static bool learn(struct xprt2_ep *ep, struct xprt2_req *req,
		  const struct rpcrdma2_error *er)
{
	enum rpcrdma2_remedy remedy = rpcrdma2_remedy(ep->ep_vers, er, false);
	struct rpcrdma2_call_limits *cl = &ep->ep_limits;

	if (remedy == RPCRDMA2_REMEDY_LARGER_REPLY) {
		req->rq2_reply_needed = er->er_arg;
		if (!req->rq2_reply_max)
			xprt2_reply_refused(ep, er->er_arg);
		return true;
	}
	if (!rpcrdma2_is_exposed(&req->rq2_exposed))
		return false;

	if (remedy == RPCRDMA2_REMEDY_FEWER_READS)
		cl->cl_reads = min(cl->cl_reads, er->er_arg);
	else if (remedy == RPCRDMA2_REMEDY_NO_WRITES)
		cl->cl_writes = 0;
	else if (remedy == RPCRDMA2_REMEDY_FEWER_SEGMENTS)
		cl->cl_segs = min(cl->cl_segs, er->er_arg);
	else
		return false;
	return true;
}

/*
 * Return: -EAGAIN to send the Call again, within what the server takes, once on
 * this connection (S45); or what the RPC ends with.
 */
static int judge_error(struct xprt2_ep *ep, struct xprt2_req *req,
		       const struct rpcrdma2_error *er)
{
	bool fails = rpcrdma2_remedy(ep->ep_vers, er, req->rq2_resent) ==
		     RPCRDMA2_REMEDY_FAIL;

	return learn(ep, req, er) && !fails ? -EAGAIN : -EIO;
}

/* What the Reply says that the server has put where; @rep keeps it. */
static void read_reply(struct xprt2_ep *ep, struct xprt2_rep *rep,
		       const struct rpcrdma2_msg *msg)
{
	struct xprt2_req *req = xprt2_rqst_to_req(rep->rep_rqst);
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;

	rep->rep_proc = h->h_proc;
	rep->rep_at = h->h_len;
	rep->rep_paylen = msg->mg_paylen;
	rep->rep_written = 0;
	rep->rep_replylen = 0;
	if (msg->mg_verdict || h->h_proc == RDMA2_ERROR) {
		if (!rep->rep_status)
			rep->rep_status = msg->mg_verdict ? -EIO :
					  judge_error(ep, req, &h->h_error);
		return;
	}
	if (likely(READ_ONCE(ep->ep_nego.ng_phase) == XPRT2_SETTLED))
		ep->ep_xp->xp_refused = 0;
	rep->rep_written = sum_chunk_lengths(h);
	rep->rep_replylen = h->h_has_reply ? h->h_reply.ck_length : 0;
	if (!within_offer(req, rep))
		rep->rep_status = -EIO;
	else
		take_good_reply(ep);
}

/**
 * xprt2_handle_reply - a MSG, NOMSG or ERROR that answers a Call of the client
 * @ep: endpoint
 * @rep: Receive buffer it is in, with rep_status set when an error has a meaning
 *	of its own
 * @msg: the message
 *
 * Context: receive CQ.
 */
void xprt2_handle_reply(struct xprt2_ep *ep, struct xprt2_rep *rep,
			struct rpcrdma2_msg *msg)
{
	struct xprt2_req *req;
	struct rpc_rqst *rqst;

	rqst = xprt2_claim_rqst(ep, rep, msg->mg_hdr.h_xid);
	if (!rqst) {
		drop_reply(ep, rep, msg);
		return;
	}
	req = xprt2_rqst_to_req(rqst);
	read_reply(ep, rep, msg);
	if (rpcrdma2_msg_is_error(msg))
		xprt2_count_error(ep, &msg->mg_hdr);
	xprt2_count(replies);
	trace_xprt2_reply(rqst, rep, &msg->mg_hdr);

	/* S50: the handle must be of this very RPC */
	if (msg->mg_handle &&
	    !xprt2_remote_invalidated(ep, req, msg->mg_handle))
		xprt2_lose_to_handle(ep);
	if (rpcrdma2_is_exposed(&req->rq2_exposed)) {
		if (xprt2_fence_start(ep, req))
			xprt2_abandon_reply(rep);
	} else {
		xprt2_release_reply(req);
	}
}
