// SPDX-License-Identifier: GPL-2.0
/*
 * The backward direction: Calls of the server, which NFSv4.1 and later name
 * callbacks, and the Replies of the client.
 *
 * A Call stays in its Receive buffer while the callback service reads it. Its
 * request comes from a pool of its own, goes to the service, comes back with
 * the Reply as a task of the RPC layer, and is sent like any other message:
 *
 *   receive CQ: xprt2_handle_call --> sv_cb_list --> callback thread
 *   send path:  xprt2_send_backward <-- rpc_run_bc_task <--'
 *   release:    xprt2_bc_free_rqst
 *
 * Credits of the two directions have nothing to do with each other (B-04). A
 * Call takes one of XPRT2_BACKWARD_CREDITS, and its Reply needs none: see
 * xprt2_prepare_request().
 */
#include "xprtrdma2.h"

#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>

#include <rpcrdma2/codec.h>

#include "trace.h"

/**
 * xprt2_backward_req - a request for a message that is no forward Call
 * @xp: transport
 * @gfp: allocation flags
 *
 * Return: a request with a page in rq_snd_buf, or NULL.
 */
struct xprt2_req *xprt2_backward_req(struct xprt2_xprt *xp, gfp_t gfp)
{
	struct xprt2_req *req;
	struct rpc_rqst *rqst;

	req = xprt2_req_get(xp, &xp->xp_backward, gfp);
	if (!req)
		return NULL;
	rqst = &req->rq2_slot;
	rqst->rq_xprt = &xp->xp_xprt;
	__set_bit(RPC_BC_PA_IN_USE, &rqst->rq_bc_pa_state);
	/* The service encodes into a page, whatever a buffer says of itself. */
	rqst->rq_callsize = PAGE_SIZE;
	if (xprt2_req_buffers(req, gfp)) {
		xprt2_req_put(req);
		return NULL;
	}
	xdr_buf_init(&rqst->rq_snd_buf, rqst->rq_buffer, PAGE_SIZE);
	return req;
}

/**
 * xprt2_bc_setup - an upper layer is about to make room for callbacks
 * @xprt: transport
 * @min_reqs: how many at least
 *
 * There will be memory for all that are granted, and for one error, whatever
 * happens: a Call that can be answered with neither ends the connection
 * (S46). Receives are posted from the next message on, before the server can
 * know.
 *
 * Return: 0, or -ENOMEM.
 */
int xprt2_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);
	struct xprt2_req *req, *next;
	unsigned int count;
	LIST_HEAD(reqs);

	for (count = 0; count <= XPRT2_BACKWARD_CREDITS; count++) {
		req = xprt2_backward_req(xp, GFP_KERNEL);
		if (!req)
			break;
		list_add(&req->rq2_pool, &reqs);
	}
	list_for_each_entry_safe(req, next, &reqs, rq2_pool) {
		list_del_init(&req->rq2_pool);
		xprt2_req_put(req);
	}
	if (count <= XPRT2_BACKWARD_CREDITS)
		return -ENOMEM;

	spin_lock(&xprt->bc_pa_lock);
	xprt->bc_alloc_max += min_reqs;
	spin_unlock(&xprt->bc_pa_lock);
	return 0;
}

/*
 * Calls that wait for a callback thread would wait for ever when the service
 * is stopped, and hold the transport. Those of other transports stay.
 */
static void retract_calls(struct rpc_xprt *xprt, struct svc_serv *serv)
{
	struct llist_node *calls = lwq_dequeue_all(&serv->sv_cb_list);
	struct llist_node **pos, *next;
	struct rpc_rqst *rqst;

	lwq_for_each_safe(rqst, pos, next, &calls, rq_bc_list) {
		if (rqst->rq_xprt != xprt)
			continue;
		atomic_dec(&xprt->bc_slot_count);
		xprt2_count(backward_unanswered);
		xprt2_bc_free_rqst(rqst);
		rqst = NULL;	/* off the list */
	}
	if (calls) {
		lwq_enqueue_batch(calls, &serv->sv_cb_list);
		svc_pool_wake_idle_thread(&serv->sv_pools[0]);
	}
}

/**
 * xprt2_bc_destroy - an upper layer wants no more callbacks
 * @xprt: transport
 * @max_reqs: as it said to xprt2_bc_setup(), or more
 *
 * With the last one the service may go away: it gets nothing from now on, and
 * what it has not begun to look at is taken back.
 *
 * Context: sleeps.
 */
void xprt2_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs)
{
	bool was_open, is_open;

	spin_lock(&xprt->bc_pa_lock);
	was_open = xprt->bc_alloc_max;
	xprt->bc_alloc_max -= min(max_reqs, xprt->bc_alloc_max);
	is_open = xprt->bc_alloc_max;
	spin_unlock(&xprt->bc_pa_lock);
	/* A service that was never given a Call may be gone already. */
	if (was_open && !is_open && atomic_read(&xprt->bc_slot_count))
		retract_calls(xprt, xprt->bc_serv);
}

/**
 * xprt2_backward_measure - note what fits inline, for xprt2_bc_maxpayload()
 * @ep: endpoint about to be ready, or whose thresholds have changed
 */
void xprt2_backward_measure(struct xprt2_ep *ep)
{
	unsigned int octets = min(READ_ONCE(ep->ep_call_threshold),
				  READ_ONCE(ep->ep_reply_threshold));

	WRITE_ONCE(ep->ep_xp->xp_backward_max,
		   min_t(unsigned int, octets, PAGE_SIZE) -
		   rpcrdma2_hdr_min(ep->ep_vers));
}

/**
 * xprt2_bc_maxpayload - largest callback, and largest Reply to one
 * @xprt: transport
 *
 * Context: under RCU, with or without a connection.
 */
size_t xprt2_bc_maxpayload(struct rpc_xprt *xprt)
{
	return READ_ONCE(xprt2_from_xprt(xprt)->xp_backward_max) ?:
	       RPCRDMA1_INLINE_DEFAULT - RPCRDMA2_HDR_MIN;
}

/**
 * xprt2_bc_num_slots - most callbacks at once
 * @xprt: transport
 */
unsigned int xprt2_bc_num_slots(struct rpc_xprt *xprt)
{
	return XPRT2_BACKWARD_CREDITS;
}

/**
 * xprt2_post_backward - post a message that is no forward Call
 * @ep: endpoint
 * @req: request from xprt2_backward_req()
 * @hdrlen: octets in front of rq_snd_buf
 * @proc: RDMA2_MSG, or RDMA2_NOMSG for these alone
 *
 * Its buffer is one of few, and such messages are rare: the Send asks for its
 * completion.
 *
 * Return: as xprt2_send_message() or xprt2_prepare_send().
 */
int xprt2_post_backward(struct xprt2_ep *ep, struct xprt2_req *req,
			size_t hdrlen, u32 proc)
{
	const struct rpcrdma2_call_plan plan = { .cp_proc = proc };
	int ret;

	ret = xprt2_req_map(ep, req);
	if (!ret)
		ret = xprt2_prepare_send(ep, req, hdrlen, &plan);
	if (ret)
		return ret;
	xprt2_req_post(req)->po_signal = true;
	return xprt2_send_message(ep, req);
}

/* @h alone, or with the Reply in rq_snd_buf behind it */
static int post_reply(struct xprt2_ep *ep, struct xprt2_req *req,
		      const struct rpcrdma2_hdr *h)
{
	size_t hdrlen = rpcrdma2_hdr_size(h);
	int ret;

	ret = xprt2_encode_header(req, h, hdrlen);
	if (ret)
		return ret;
	return xprt2_post_backward(ep, req, hdrlen, h->h_proc == RDMA2_MSG ?
						    RDMA2_MSG : RDMA2_NOMSG);
}

/**
 * xprt2_send_error - answer a message of the server with an error
 * @ep: endpoint
 * @h: the error
 *
 * S46: where it can not be sent the connection is given up.
 *
 * Context: receive CQ.
 * Return: whether it was sent.
 */
bool xprt2_send_error(struct xprt2_ep *ep, const struct rpcrdma2_hdr *h)
{
	struct xprt2_req *req;
	int ret = -ENOMEM;

	req = xprt2_backward_req(ep->ep_xp, GFP_NOWAIT | __GFP_NOWARN);
	if (req) {
		ret = post_reply(ep, req, h);
		xprt2_req_put(req);
	}
	if (ret)
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_REPLY);
	return !ret;
}

/*
 * False when there is no service (S24). One that has been up can not go away
 * here: xprt2_bc_destroy() comes first, and its lock is held.
 */
static bool enqueue_call(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc_serv *serv = NULL;

	spin_lock(&xprt->bc_pa_lock);
	if (xprt->bc_alloc_max)
		serv = READ_ONCE(xprt->bc_serv);
	if (serv && !xprt_get(xprt))
		serv = NULL;
	if (serv) {
		atomic_inc(&xprt->bc_slot_count);
		lwq_enqueue(&rqst->rq_bc_list, &serv->sv_cb_list);
		svc_pool_wake_idle_thread(&serv->sv_pools[0]);
	}
	spin_unlock(&xprt->bc_pa_lock);
	return serv;
}

/* X1: the request owns the Receive buffer, which the service reads. */
static bool accept_call(struct xprt2_ep *ep, struct xprt2_rep *rep,
			const struct rpcrdma2_msg *msg)
{
	const struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	struct xprt2_req *req;
	struct rpc_rqst *rqst;

	/* B-06; the service counts it down when it has made a Reply */
	if (atomic_read(&xprt->bc_slot_count) >= XPRT2_BACKWARD_CREDITS)
		return false;
	req = xprt2_backward_req(ep->ep_xp, GFP_NOWAIT | __GFP_NOWARN);
	if (!req)
		return false;

	rqst = &req->rq2_slot;
	rqst->rq_xid = cpu_to_be32(msg->mg_hdr.h_xid);
	rpcrdma2_recv_buf_paged(&rep->rep_recv, msg->mg_hdr.h_len,
				&rqst->rq_rcv_buf);
	rqst->rq_private_buf.len = msg->mg_paylen;
	req->rq2_reply = rep;
	WRITE_ONCE(req->rq2_ep, ep);	/* X7 */

	if (!enqueue_call(rqst)) {
		req->rq2_reply = NULL;
		xprt2_req_put(req);
		return false;
	}
	return true;
}

/**
 * xprt2_handle_call - a MSG or NOMSG that is a Call of the server
 * @ep: endpoint
 * @rep: Receive buffer it is in
 * @msg: the message; overwritten by an error that answers it
 *
 * Context: receive CQ.
 */
void xprt2_handle_call(struct xprt2_ep *ep, struct xprt2_rep *rep,
		       struct rpcrdma2_msg *msg)
{
	enum rpcrdma2_errcode code = xprt2_judge_backward(msg);
	struct rpcrdma2_hdr *h = &msg->mg_hdr;

	xprt2_check_handle(ep, msg);
	if (code == RDMA2_OK) {
		trace_xprt2_backward_call(ep, h->h_xid, msg->mg_paylen);
		if (accept_call(ep, rep, msg)) {
			xprt2_count(backward_calls);
			return;
		}
		code = RDMA2_ERR_SYSTEM;
	}
	rpcrdma2_recv_put(&rep->rep_recv);
	trace_xprt2_backward_refuse(ep, h->h_xid, code);
	if (!xprt2_refuse_backward(h, code, 0))
		xprt2_count(backward_unanswered);
	else if (xprt2_send_error(ep, h))
		xprt2_count(backward_refused);
}

/**
 * xprt2_send_backward - send a Reply
 * @rqst: request with the encoded RPC Reply
 *
 * In the version of the Call, which is that of the connection it came on; when
 * that is gone the server waits for the Reply no more (X7). B-07, B-16, S25, S35.
 *
 * Context: send path.
 * Return: 0 when it is sent or need not be; -EAGAIN to be called again when
 * xprt_write_space() says so; -ENOBUFS to be called again after a delay;
 * -ECONNABORTED: neither it nor an error in its place can be sent, so the
 * connection shall go (S46).
 */
int xprt2_send_backward(struct rpc_rqst *rqst)
{
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);
	struct xprt2_xprt *xp = xprt2_from_xprt(rqst->rq_xprt);
	struct rpcrdma2_hdr *h = &xp->xp_hdr;
	struct xprt2_ep *ep = req->rq2_ep;
	u32 len = rqst->rq_snd_buf.len;
	int ret;

	if (!ep || !xprt2_ep_is_ready(ep)) {
		xprt2_count(backward_unanswered);
		return 0;
	}

	rpcrdma2_hdr_begin(h, be32_to_cpu(rqst->rq_xid), ep->ep_vers,
			   XPRT2_BACKWARD_CREDITS, RDMA2_MSG, RDMA2_REPLY);
	/* C-001, C-090, C-091 */
	if (rpcrdma2_hdr_size(h) + len > READ_ONCE(ep->ep_call_threshold))
		xprt2_refuse_backward(h, RDMA2_ERR_REPLY_RESOURCE, len);

	ret = post_reply(ep, req, h);
	trace_xprt2_backward_reply(ep, h->h_xid, ret ?: len);
	if (ret)
		return ret == -EAGAIN || ret == -ENOBUFS ? ret : -ECONNABORTED;
	if (h->h_proc == RDMA2_MSG)
		xprt2_count(backward_replies);
	else
		xprt2_count(backward_refused);
	return 0;
}

/**
 * xprt2_bc_free_rqst - the RPC layer lets go of a backward request
 * @rqst: request from xprt2_handle_call()
 *
 * Context: any that may put a transport.
 */
void xprt2_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);
	struct rpc_xprt *xprt = rqst->rq_xprt;

	xprt2_drop_reply(req);
	xprt2_req_put(req);
	xprt_put(xprt);
}
