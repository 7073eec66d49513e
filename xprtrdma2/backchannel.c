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
 * Call takes one of ep_calls until its Reply is about to be posted; one that the service
 * has from a connection that is lost takes none of the next one's. The Reply needs none:
 * see xprt2_prepare_request().
 */
#include "xprtrdma2.h"

#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>

#include <rpcrdma2/backward.h>
#include <rpcrdma2/codec.h>

#include "queue.h"
#include "trace.h"

/**
 * xprt2_bc_setup - an upper layer is about to make room for callbacks
 * @xprt: transport
 * @min_reqs: how many at least
 *
 * There is memory for all that may be granted, beside that for an error. When the server
 * lets the Sends of answers hang, the connection ends (S46): may_answer(). Receives are
 * posted from the next message on, before the server can know.
 *
 * Return: 0, or -ENOMEM.
 */
int xprt2_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);
	int ret;

	ret = xprt2_backward_reserve(xp, xp->xp_backward_wanted + 1);
	if (ret)
		return ret;

	spin_lock(&xprt->bc_pa_lock);
	xprt->bc_alloc_max += min_reqs;
	spin_unlock(&xprt->bc_pa_lock);
	return 0;
}

static void drop_call(struct rpc_rqst *rqst)
{
	atomic_dec(&rqst->rq_xprt->bc_slot_count);
	xprt2_count(backward_unanswered);
	xprt2_bc_free_rqst(rqst);
}

/**
 * xprt2_bc_destroy - an upper layer wants no more callbacks
 * @xprt: transport
 * @max_reqs: as it said to xprt2_bc_setup(), or more
 *
 * With the last one the service may go away: it gets nothing from now on, and
 * what it has not begun to look at is taken back: that would wait for ever, and
 * hold the transport.
 *
 * Context: sleeps.
 */
void xprt2_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs)
{
	bool was_open, is_open;
	struct svc_serv *serv;

	spin_lock(&xprt->bc_pa_lock);
	serv = xprt->bc_serv;
	was_open = xprt->bc_alloc_max;
	xprt->bc_alloc_max -= min(max_reqs, xprt->bc_alloc_max);
	is_open = xprt->bc_alloc_max;
	if (!is_open)
		xprt2_from_xprt(xprt)->xp_serves = false;
	spin_unlock(&xprt->bc_pa_lock);
	/* A service that was never given a Call may be gone already. */
	if (serv && was_open && !is_open && atomic_read(&xprt->bc_slot_count))
		rpcrdma2_bc_retract(serv, xprt, drop_call);
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
 *
 * The NFS client asks when it is about to create a session. Its service is up then.
 * Before that bc_serv may be of a service that did not come up, and is gone: NFS of
 * kernels before 6.19 leaves it there. So no Call is taken until this has been asked.
 *
 * Context: under RCU.
 */
unsigned int xprt2_bc_num_slots(struct rpc_xprt *xprt)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	scoped_guard(spinlock, &xprt->bc_pa_lock)
		xp->xp_serves = xprt->bc_alloc_max;
	return READ_ONCE(xp->xp_backward_credits);
}

/* X1: the request owns the Receive buffer, which the service reads. */
static bool accept_call(struct xprt2_ep *ep, struct xprt2_rep *rep,
			const struct rpcrdma2_msg *msg, bool chunks)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	struct xprt2_req *req;
	struct rpc_rqst *rqst;

	req = xprt2_backward_req(ep->ep_xp, false, GFP_NOWAIT | __GFP_NOWARN);
	if (!req)
		return false;

	rqst = &req->rq2_slot;
	rqst->rq_xid = cpu_to_be32(msg->mg_hdr.h_xid);
	rpcrdma2_recv_buf_paged(&rep->rep_recv, msg->mg_hdr.h_len,
				&rqst->rq_rcv_buf);
	rqst->rq_private_buf.len = msg->mg_paylen;
	req->rq2_reply = rep;
	WRITE_ONCE(req->rq2_ep, ep);	/* X7 */

	if (xprt2_count_call(ep, req) &&
	    (!chunks || xprt2_chunked_new(ep, req, msg)) &&
	    (h->h_nreads ? xprt2_chunked_read(req, xprt2_longest_call(xprt)) :
			   xprt2_give_call(req)))
		return true;
	req->rq2_reply = NULL;
	xprt2_req_put(req);
	return false;
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
	u32 level = rpcrdma2_backward_own(&ep->ep_ex, ep->ep_vers);
	enum rpcrdma2_errcode code = xprt2_judge_backward(msg, level);
	struct rpcrdma2_hdr *h = &msg->mg_hdr;

	xprt2_check_handle(ep, msg);
	if (code == RDMA2_OK) {
		if (!h->h_nreads)
			trace_xprt2_backward_call(ep, h->h_xid, msg->mg_paylen);
		if (accept_call(ep, rep, msg, level == RDMA2_BKREQSUP_GENL &&
				xprt2_has_chunks(h)))
			return;
		code = RDMA2_ERR_SYSTEM;
	}
	rpcrdma2_recv_put(&rep->rep_recv);
	trace_xprt2_backward_refuse(ep, h->h_xid, code);
	if (!xprt2_refuse_backward(h, code, xprt2_backward_limit(level, code), 0))
		xprt2_count(backward_unanswered);
	else if (xprt2_send_error(ep, h))
		xprt2_count(backward_refused);
}

static void inline_reply(const struct xprt2_ep *ep, const struct rpc_rqst *rqst,
			 struct rpcrdma2_hdr *h)
{
	u32 len = rqst->rq_snd_buf.len;

	rpcrdma2_hdr_begin(h, be32_to_cpu(rqst->rq_xid), ep->ep_vers, 0,
			   RDMA2_MSG, RDMA2_REPLY);
	/* C-001, C-090, C-091 */
	if (rpcrdma2_hdr_size(h) + len > READ_ONCE(ep->ep_call_threshold))
		xprt2_refuse_backward(h, RDMA2_ERR_REPLY_RESOURCE, len, 0);
}

/*
 * The server has a credit back with the Reply, which has a request for some time after
 * that. So that its next Call finds one too, a Reply waits while many are not known to
 * be sent. It holds up the callback service, which other servers call too, and Calls of
 * the client on this connection. So it does not wait for long.
 *
 * Return: 0 when it may be sent; -ENOBUFS to be called again after a delay;
 * -ECONNABORTED when the server lets the Sends hang.
 */
static int may_answer(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct xprt2_xprt *xp = ep->ep_xp;
	int most = xprt2_backward_answers(READ_ONCE(xp->xp_backward_credits));

	/* Only a task that has XPRT_LOCKED makes it more. */
	if (!req->rq2_answers && atomic_read(&xp->xp_answers) < most) {
		atomic_inc(&xp->xp_answers);
		req->rq2_answers = true;
	}
	if (likely(req->rq2_answers))
		return 0;
	if (!req->rq2_waits) {
		xprt2_count(backward_waits);
		req->rq2_waits = jiffies | 1;
	}
	if (time_before_eq(jiffies, req->rq2_waits + XPRT2_ANSWER_TIMEOUT))
		return -ENOBUFS;
	rpcrdma2_conn_blame(&ep->ep_conn, RPCRDMA2_LOSS_STALLED);
	return -ECONNABORTED;
}

/**
 * xprt2_reserve - a task is about to send
 * @xprt: transport
 * @task: task of an RPC of either direction
 *
 * A Reply waits for XPRT_LOCKED alone, not for a forward credit, nor for entries of
 * the Send Queue (B-04): some are kept for it (sq.h). The server could let Calls wait
 * for these for a minute, and with them the callback service, which other servers call.
 *
 * A Reply to a Call of a connection that is gone ends here (X7). It would wait until
 * there is another connection. Those that wait when the connection goes are woken.
 *
 * Context: xprt->transport_lock is held.
 * Return: 1 when the task has XPRT_LOCKED; 0 when it sleeps, or ends with tk_status.
 */
int xprt2_reserve(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;

	if (likely(!rqst || !bc_prealloc(rqst)))
		return xprt_reserve_xprt_cong(xprt, task);
	if (!READ_ONCE(xprt2_rqst_to_req(rqst)->rq2_ep)) {
		xprt2_count(backward_unanswered);
		task->tk_status = -ENOTCONN;
		return 0;
	}
	if (!test_and_set_bit(XPRT_LOCKED, &xprt->state)) {
		xprt->snd_task = task;
		return 1;
	}
	/* A Call waits already: xprt2_replies_first() may be over. */
	if (test_bit(XPRT_WRITE_SPACE, &xprt->state))
		xprt2_from_xprt(xprt)->xp_reply_waits = true;
	return xprt_reserve_xprt_cong(xprt, task);
}

/**
 * xprt2_replies_first - a Call is to wait, and Replies go before it
 * @xprt: transport
 *
 * The RPC layer sends nothing while the first message of its queue can not be sent.
 *
 * Context: send path; XPRT_LOCKED is held.
 */
void xprt2_replies_first(struct rpc_xprt *xprt)
{
	LIST_HEAD(replies);

	spin_lock(&xprt->queue_lock);
	xprt2_move_replies(&xprt->xmit_queue, &replies);
	if (unlikely(!list_empty(&replies)))
		xprt2_from_xprt(xprt)->xp_reply_waits = true;
	list_splice(&replies, &xprt->xmit_queue);
	spin_unlock(&xprt->queue_lock);
}

/**
 * xprt2_release - a task does not send any more
 * @xprt: transport
 * @task: task of an RPC of either direction, or NULL
 *
 * Where Calls wait for credit or entries the RPC layer wakes no task. A Reply that may
 * be among those that sleep is woken, with them: Calls go to sleep again. xp_reply_waits
 * says so. It is set with XPRT_LOCKED or transport_lock held, and cleared when XPRT_LOCKED
 * is free.
 *
 * Context: xprt->transport_lock is held.
 */
void xprt2_release(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	xprt_release_xprt_cong(xprt, task);
	if (likely(!xp->xp_reply_waits) || test_bit(XPRT_LOCKED, &xprt->state))
		return;
	xp->xp_reply_waits = false;
	rpc_wake_up(&xprt->sending);
}

/**
 * xprt2_send_backward - send a Reply
 * @rqst: request with the encoded RPC Reply
 *
 * In the version of the Call, which is that of the connection it came on; when
 * that is gone the server waits for the Reply no more (X7). B-07, B-16, S25, S35.
 *
 * Context: send path.
 * Return: 0 when it is sent or need not be; -ENOBUFS to be called again after a delay;
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

	ret = may_answer(ep, req) ?: xprt2_chunked_hold(ep, req);
	if (ret)
		return ret;
	xprt2_uncount_call(req);
	if (xprt2_is_chunked(req)) {
		if (!xprt2_chunked_reply(ep, req, h))
			return 0;
	} else {
		inline_reply(ep, rqst, h);
	}

	ret = xprt2_post_reply(ep, req, h, false);
	trace_xprt2_backward_reply(ep, h->h_xid, ret ?: len);
	if (ret)
		return ret == -EAGAIN || ret == -ENOBUFS ? -ENOBUFS : -ECONNABORTED;
	if (h->h_proc == RDMA2_MSG)
		xprt2_count(backward_replies);
	else
		xprt2_count(backward_refused);
	return 0;
}

/*
 * The RPC layer sends what is first in its queue, whoever has its turn. When that is a
 * Call whose task has a signal, it ends the task that sends with the error of that. A
 * Reply may be what that task was to send, and is gone: the server would wait for it.
 */
static bool xprt2_reply_is_lost(const struct xprt2_req *req)
{
	const struct rpc_task *task = req->rq2_slot.rq_task;

	return unlikely(task && task->tk_status == -ERESTARTSYS) &&
	       req->rq2_call_of;
}

/**
 * xprt2_bc_free_rqst - the RPC layer lets go of a backward request
 * @rqst: request from xprt2_handle_call()
 *
 * Context: any that may put a transport. Sleeps when its Reply has pages, or is lost.
 */
void xprt2_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);
	struct rpc_xprt *xprt = rqst->rq_xprt;

	if (xprt2_reply_is_lost(req)) {
		guard(mutex)(&xprt2_from_xprt(xprt)->xp_fence_mutex);
		xprt2_count(backward_unanswered);
		if (req->rq2_ep)	/* S46 */
			rpcrdma2_conn_lose(&req->rq2_ep->ep_conn,
					   RPCRDMA2_LOSS_REPLY);
	}
	xprt2_req_await_posts(req);
	xprt2_drop_reply(req);
	xprt2_req_put(req);
	xprt_put(xprt);
}
