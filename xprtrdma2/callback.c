// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of the backward direction: where they come from, how the callback service
 * gets one with a Call, and how one with a Reply, an error, or a message about
 * properties is posted. What is to be done with a Call is decided in backchannel.c;
 * chunked.c moves its chunks in between.
 */
#include "xprtrdma2.h"

#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>

#include <rpcrdma2/codec.h>

/**
 * xprt2_backward_req - a request for a message that is no forward Call
 * @xp: transport
 * @last: it is for an error or an answer that has to be sent: see xprt2_pool_pop()
 * @gfp: allocation flags
 *
 * Return: a request with a page in rq_snd_buf, or NULL.
 */
struct xprt2_req *xprt2_backward_req(struct xprt2_xprt *xp, bool last, gfp_t gfp)
{
	struct xprt2_req *req;
	struct rpc_rqst *rqst;

	req = xprt2_req_get(xp, &xp->xp_backward, last, gfp);
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
 * xprt2_backward_reserve - make sure that so many requests are free
 * @xp: transport
 * @want: how many
 *
 * Return: 0, or -ENOMEM.
 */
int xprt2_backward_reserve(struct xprt2_xprt *xp, unsigned int want)
{
	struct xprt2_req *req, *next;
	unsigned int count;
	LIST_HEAD(reqs);

	for (count = 0; count < want; count++) {
		req = xprt2_backward_req(xp, false, GFP_KERNEL);
		if (!req)
			break;
		list_add(&req->rq2_pool, &reqs);
	}
	list_for_each_entry_safe(req, next, &reqs, rq2_pool) {
		list_del_init(&req->rq2_pool);
		xprt2_req_put(req);
	}
	return count < want ? -ENOMEM : 0;
}

/*
 * NULL when there is none (S24), or none yet. One that is up can not go away while the
 * lock is held: xprt2_bc_destroy() comes first.
 */
static struct svc_serv *service_locked(struct rpc_xprt *xprt)
{
	lockdep_assert_held(&xprt->bc_pa_lock);
	return xprt2_from_xprt(xprt)->xp_serves ? READ_ONCE(xprt->bc_serv) : NULL;
}

/**
 * xprt2_longest_call - octets of the longest Call that the service takes (C-106)
 * @xprt: transport
 *
 * Return: how many; 0 without a service.
 */
u32 xprt2_longest_call(struct rpc_xprt *xprt)
{
	struct svc_serv *serv;

	guard(spinlock)(&xprt->bc_pa_lock);
	serv = service_locked(xprt);
	return serv ? serv->sv_max_mesg : 0;
}

/**
 * xprt2_give_call - give a backward Call to the callback service
 * @req: request with the Call in rq_rcv_buf
 *
 * Context: receive CQ, send CQ.
 * Return: false when there is no service.
 */
bool xprt2_give_call(struct xprt2_req *req)
{
	struct rpc_rqst *rqst = &req->rq2_slot;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc_serv *serv;

	spin_lock(&xprt->bc_pa_lock);
	serv = service_locked(xprt);
	if (serv && !xprt_get(xprt))
		serv = NULL;
	if (serv) {
		xprt2_count(backward_calls);
		atomic_long_inc(&xprt2_from_xprt(xprt)->xp_called.bw_calls);
		atomic_inc(&xprt->bc_slot_count);
		rpcrdma2_bc_queue(serv, rqst);
	}
	spin_unlock(&xprt->bc_pa_lock);
	return serv;
}

static int post_backward(struct xprt2_ep *ep, struct xprt2_req *req,
			 size_t hdrlen, u32 proc, bool apart)
{
	const struct rpcrdma2_call_plan plan = {
		.cp_proc = proc,
		.cp_read = apart,
	};
	int ret;

	ret = xprt2_req_map(ep, req);
	req->rq2_small = req->rq2_slot.rq_snd_buf.page_len <=
			 READ_ONCE(xprt2_param_pullup_max);
	if (!ret)
		ret = xprt2_prepare_send(ep, req, hdrlen, &plan);
	if (ret)
		return ret;
	xprt2_req_post(req)->po_signal = true;
	return xprt2_send_message(ep, req);
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
	return post_backward(ep, req, hdrlen, proc, false);
}

/**
 * xprt2_post_reply - post a header, or an inline Reply with it
 * @ep: endpoint
 * @req: request with the Reply in rq_snd_buf
 * @h: header; gets what the server is granted (B-07)
 * @apart: the pages are in a Write chunk
 *
 * Context: send path, receive CQ, worker.
 * Return: as xprt2_send_message() or xprt2_prepare_send(); -EMSGSIZE when the
 * header is too long.
 */
int xprt2_post_reply(struct xprt2_ep *ep, struct xprt2_req *req,
		     struct rpcrdma2_hdr *h, bool apart)
{
	size_t hdrlen = rpcrdma2_hdr_size(h);
	int ret;

	h->h_credit = READ_ONCE(ep->ep_calls);
	ret = xprt2_encode_header(req, h, hdrlen);
	if (!ret)
		ret = post_backward(ep, req, hdrlen, h->h_proc == RDMA2_MSG ?
				    RDMA2_MSG : RDMA2_NOMSG, apart);
	if (!ret && req->rq2_inv_handle) {
		xprt2_count(sends_with_inv);
		atomic_long_inc(&ep->ep_xp->xp_called.bw_invs);
	}
	return ret;
}

/**
 * xprt2_send_error - answer a message of the server with an error
 * @ep: endpoint
 * @h: the error; changed as xprt2_post_reply() does
 *
 * S46: where it can not be sent the connection is given up.
 *
 * Context: receive CQ, send CQ, worker.
 * Return: whether it was sent.
 */
bool xprt2_send_error(struct xprt2_ep *ep, struct rpcrdma2_hdr *h)
{
	struct xprt2_req *req;
	int ret = -ENOMEM;

	req = xprt2_backward_req(ep->ep_xp, true, GFP_NOWAIT | __GFP_NOWARN);
	if (req) {
		ret = xprt2_post_reply(ep, req, h, false);
		xprt2_req_put(req);
	}
	if (ret)
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_REPLY);
	return !ret;
}
