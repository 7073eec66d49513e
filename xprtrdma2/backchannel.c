// SPDX-License-Identifier: GPL-2.0
/* Backward direction: Calls of the server, their chunks, and the Replies */
#include <linux/slab.h>

#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>

#include <rpcrdma2/chunks.h>

#include "xprtrdma2.h"
#include "trace.h"

/*
 * NULL without a service (S24), or before it is up. A service that is up cannot
 * go away while the lock is held: xprt2_bc_destroy() comes first.
 */
static struct svc_serv *xprt2_bc_service_locked(struct rpc_xprt *xprt)
{
	lockdep_assert_held(&xprt->bc_pa_lock);
	return xprt2_from_xprt(xprt)->xp_serves ? READ_ONCE(xprt->bc_serv) : NULL;
}

/* Pass a Call to the service. Return false when there is none. */
static bool xprt2_give_call(struct xprt2_req *req)
{
	struct rpc_rqst *rqst = &req->rq2_slot;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc_serv *serv;

	guard(spinlock)(&xprt->bc_pa_lock);
	serv = xprt2_bc_service_locked(xprt);
	if (!serv || !xprt_get(xprt))
		return false;
	xprt2_count(backward_calls);
	atomic_long_inc(&xprt2_from_xprt(xprt)->xp_called.bw_calls);
	atomic_inc(&xprt->bc_slot_count);
	rpcrdma2_bc_queue(serv, rqst);
	return true;
}

/*
 * Post a header, with an inline Reply if it is of a MSG. Its credit field is
 * set to the number of Calls that this end grants the server (B-07). Return as
 * xprt2_post_backward(), or -EMSGSIZE when the header is too long.
 */
static int xprt2_post_reply(struct xprt2_ep *ep, struct xprt2_req *req,
			    struct rpcrdma2_hdr *h, bool apart)
{
	size_t hdrlen = rpcrdma2_hdr_size(h);
	int ret;

	h->h_credit = READ_ONCE(ep->ep_backward_grant);
	ret = xprt2_encode_header(req, h, hdrlen);
	if (!ret)
		ret = xprt2_post_backward(ep, req, hdrlen,
					  h->h_proc == RDMA2_MSG ? RDMA2_MSG :
								   RDMA2_NOMSG,
					  apart);
	if (!ret && req->rq2_inv_handle)
		atomic_long_inc(&ep->ep_xp->xp_called.bw_invs);
	return ret;
}

/**
 * xprt2_send_error - answer a message of the server with an error
 * @ep: endpoint; given up when the error cannot be sent (S46)
 * @h: the error; its credit field is set
 *
 * Context: receive CQ, send CQ, worker.
 * Return: true when it was sent.
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

/* Refuse a Call, whose header @h is overwritten. */
static void xprt2_bc_refuse(struct xprt2_ep *ep, struct rpcrdma2_hdr *h,
			    enum rpcrdma2_errcode code, u32 limit)
{
	trace_xprt2_backward_refuse(ep, h->h_xid, code);
	if (!xprt2_refuse_backward(h, code, limit, 0))
		xprt2_count(backward_unanswered);
	else if (xprt2_send_error(ep, h))
		xprt2_count(backward_refused);
}

/*
 * Backward Calls with chunks, which the client reads and fills as the server
 * does in the forward direction (rpcrdma2/chunks.h).
 *
 *	receive CQ:  xprt2_chunked_new, xprt2_chunked_queue_read --> ep_chunked
 *	worker:      RDMA Reads --> send CQ: xprt2_chunked_done --> service
 *	send path:   xprt2_chunked_reply  --> ep_chunked
 *	worker:      RDMA Writes, and then the Send
 *
 * A Call without Read chunks goes to the service at once, and a Reply without
 * RDMA Writes to the Send Queue.
 *
 * The worker processes ep_chunked in FIFO order. ep_chunk_units limits their
 * Send Queue entries, beside those for Calls of the client, to two of the
 * longest chains; a Call that finds too few waits, and so do the Calls behind
 * it. The limit of memory is, for each credit, the longest Call that the
 * callback service accepts (C-106).
 *
 * The pages of a Reply belong to the service, which uses them again when the
 * task of the Reply has ended. So that task waits for the device in
 * xprt2_req_await_posts().
 */

/* Retries after a shortage of memory: the pause, and the total time */
#define SHORTAGE_PAUSE	(HZ / 50 + 1)
#define SHORTAGE_TIME	(2 * HZ)

/* State of a backward Call with chunks, and its Reply */
struct xprt2_chunked {
	struct list_head	ch_list;	/* on ep_chunked, or not */
	struct xprt2_req	*ch_req;
	struct xprt2_ep		*ch_ep;
	struct rpcrdma2_hdr	ch_hdr;		/* of Call; then of its Reply */
	bool			ch_replies;	/* Reply is queued or posted */
	u32			ch_inline;	/* inline bytes of the Call */
	/* of a Call with Read chunks: its length, and pages for all of it */
	u32			ch_length;
	struct page		**ch_pages;
	unsigned int		ch_npages;
	struct rpcrdma2_reply_plan ch_plan;
	struct rpcrdma2_rw	ch_rw;		/* RDMA Reads or Writes */
	struct ib_send_wr	*ch_chain;	/* built from them, or NULL */
	unsigned int		ch_wrs;		/* in the chain */
	struct rpcrdma2_post	ch_post;
	unsigned long		ch_short;	/* no memory since, jiffies */
};

/* Record the chunks of a Call. Return false when there is no memory. */
static bool xprt2_chunked_new(struct xprt2_ep *ep, struct xprt2_req *req,
			      const struct rpcrdma2_msg *msg)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	struct xprt2_chunked *ch = kzalloc(sizeof(*ch),
					   GFP_NOWAIT | __GFP_NOWARN);

	if (!ch)
		return false;
	req->rq2_chunked = ch;
	INIT_LIST_HEAD(&ch->ch_list);
	ch->ch_req = req;
	ch->ch_ep = ep;
	rpcrdma2_rw_init(&ch->ch_rw, DMA_FROM_DEVICE);
	ch->ch_hdr = *h;
	ch->ch_inline = h->h_proc == RDMA2_MSG ? msg->mg_paylen : 0;
	req->rq2_inv_handle = rpcrdma2_inv_handle(h, false);	/* C-009 */
	xprt2_count_add(backward_read_chunks, h->h_nreads);
	xprt2_count_add(backward_write_chunks, h->h_nwrites);
	xprt2_count_add(backward_reply_chunks, h->h_has_reply);
	rpcrdma2_backward_chunks(&ep->ep_xp->xp_called, h);
	return true;
}

/* Release a request. No posted chain of it uses rq2_chunked. */
static void xprt2_backward_put(struct xprt2_req *req)
{
	struct xprt2_chunked *ch = req->rq2_chunked;

	req->rq2_chunked = NULL;
	req->rq2_inv_handle = 0;
	if (ch && ch->ch_npages)
		release_pages(ch->ch_pages, ch->ch_npages);
	if (ch)
		kfree(ch->ch_pages);
	kfree(ch);
	xprt2_put_rep(req);
	xprt2_req_put(req);
}

/**
 * xprt2_chunked_room - run the worker when Send Queue entries have come back
 * @ep: endpoint
 *
 * Context: send CQ, and other paths that give entries back.
 */
void xprt2_chunked_room(struct xprt2_ep *ep)
{
	if (unlikely(!list_empty_careful(&ep->ep_chunked)))
		mod_delayed_work(xprt2_wq, &ep->ep_chunk_work, 0);
}

static void xprt2_chunked_enqueue(struct xprt2_ep *ep, struct xprt2_chunked *ch)
{
	guard(spinlock)(&ep->ep_chunk_lock);
	list_add_tail(&ch->ch_list, &ep->ep_chunked);
	mod_delayed_work(xprt2_wq, &ep->ep_chunk_work, 0);
}

static struct xprt2_chunked *xprt2_chunked_dequeue(struct xprt2_ep *ep)
{
	struct xprt2_chunked *ch;

	guard(spinlock)(&ep->ep_chunk_lock);
	ch = list_first_entry_or_null(&ep->ep_chunked, struct xprt2_chunked,
				      ch_list);
	if (ch)
		list_del_init_careful(&ch->ch_list);
	return ch;
}

static void xprt2_chunked_refuse(struct xprt2_chunked *ch,
				 enum rpcrdma2_errcode code)
{
	xprt2_backward_uncount(ch->ch_req);
	xprt2_bc_refuse(ch->ch_ep, &ch->ch_hdr, code, 0);
	xprt2_backward_put(ch->ch_req);
}

/* Drop a Call whose connection is lost. */
static void xprt2_chunked_drop(struct xprt2_chunked *ch)
{
	xprt2_count(backward_unanswered);
	xprt2_backward_put(ch->ch_req);
}

static struct rpcrdma2_arg
xprt2_chunked_to_arg(const struct xprt2_chunked *ch)
{
	return (struct rpcrdma2_arg){
		.ar_hdr		= &ch->ch_hdr,
		.ar_recv	= &ch->ch_req->rq2_rep->rep_recv,
		.ar_inline	= ch->ch_inline,
		.ar_pages	= ch->ch_pages,
	};
}

/* Queue a Call that has Read chunks. Return false when it is too long. */
static bool xprt2_chunked_queue_read(struct xprt2_req *req)
{
	struct rpc_xprt *xprt = req->rq2_slot.rq_xprt;
	struct xprt2_chunked *ch = req->rq2_chunked;
	u64 length = rpcrdma2_layout_length(&ch->ch_hdr, ch->ch_inline);
	struct svc_serv *serv;

	scoped_guard(spinlock, &xprt->bc_pa_lock) {
		serv = xprt2_bc_service_locked(xprt);
		/* the server chose the length (C-106) */
		if (!serv || length > serv->sv_max_mesg)
			return false;
	}
	ch->ch_length = length;
	xprt2_chunked_enqueue(ch->ch_ep, ch);
	return true;
}

static int xprt2_chunked_get_pages(struct xprt2_chunked *ch)
{
	unsigned int n = PFN_UP(ch->ch_length);

	if (!ch->ch_pages)
		ch->ch_pages = kcalloc(n, sizeof(*ch->ch_pages), RPCRDMA2_GFP);
	if (!ch->ch_pages)
		return -ENOMEM;
	for (; ch->ch_npages < n; ch->ch_npages++) {
		ch->ch_pages[ch->ch_npages] = alloc_page(RPCRDMA2_GFP);
		if (!ch->ch_pages[ch->ch_npages])
			return -ENOMEM;
	}
	return 0;
}

/* Pass the complete Call to the service, and release its Receive. */
static void xprt2_chunked_deliver(struct xprt2_chunked *ch)
{
	struct rpc_rqst *rqst = &ch->ch_req->rq2_slot;
	const struct rpcrdma2_arg ar = xprt2_chunked_to_arg(ch);
	struct xdr_buf *buf = &rqst->rq_rcv_buf;

	rpcrdma2_arg_finish(&ar);
	if (ch->ch_hdr.h_proc == RDMA2_NOMSG &&
	    !rpcrdma2_arg_is_call(&ar, ch->ch_length)) {
		xprt2_chunked_refuse(ch, RDMA2_ERR_BAD_XDR);
		return;
	}
	xdr_buf_init(buf, page_address(ch->ch_pages[0]), 0);
	buf->head[0].iov_len = min_t(u32, ch->ch_length, PAGE_SIZE);
	buf->pages = ch->ch_pages + 1;
	buf->page_len = ch->ch_length - buf->head[0].iov_len;
	buf->buflen = ch->ch_length;
	buf->len = ch->ch_length;
	rqst->rq_private_buf.len = ch->ch_length;
	xprt2_count_add(backward_read_bytes, ch->ch_length - ch->ch_inline);
	trace_xprt2_backward_call(ch->ch_ep, ch->ch_hdr.h_xid, ch->ch_length);

	xprt2_put_rep(ch->ch_req);
	if (!xprt2_give_call(ch->ch_req))
		xprt2_chunked_refuse(ch, RDMA2_ERR_SYSTEM);
}

/* The RDMA Reads of a Call, or the RDMA Writes of its Reply, are done. */
static void xprt2_chunked_done(struct rpcrdma2_conn *co,
			       struct rpcrdma2_post *post, bool ok)
{
	struct xprt2_chunked *ch = container_of(post, struct xprt2_chunked,
						ch_post);
	struct xprt2_req *req = ch->ch_req;
	struct xprt2_ep *ep = ch->ch_ep;

	rpcrdma2_rw_free(co, &ch->ch_rw);
	ch->ch_chain = NULL;
	rpcrdma2_units_give(&ep->ep_chunk_units, ch->ch_wrs);
	xprt2_chunked_room(ep);
	if (!ch->ch_replies && ok)
		xprt2_chunked_deliver(ch);
	else if (!ch->ch_replies)
		xprt2_chunked_drop(ch);
	xprt2_req_end_post(req);
}

static int xprt2_chunked_build_chain(struct xprt2_chunked *ch)
{
	struct rpcrdma2_conn *co = &ch->ch_ep->ep_conn;
	const struct ib_send_wr *wr;
	int ret;

	if (ch->ch_chain)
		return 0;
	ret = rpcrdma2_rw_map(co, &ch->ch_rw);
	if (ret)
		return ret == -EINVAL ? ret : -ENOBUFS;
	ch->ch_chain = rpcrdma2_rw_chain(co, &ch->ch_rw, &ch->ch_post.po_cqe,
					 NULL);
	for (ch->ch_wrs = 0, wr = ch->ch_chain; wr; wr = wr->next)
		ch->ch_wrs++;
	return 0;
}

/* The chain holds a reference of the request until it is done. */
static int xprt2_chunked_post_chain(struct xprt2_chunked *ch)
{
	struct rpcrdma2_conn *co = &ch->ch_ep->ep_conn;
	struct xprt2_ep *ep = ch->ch_ep;
	int ret = xprt2_chunked_build_chain(ch);

	if (ret)
		return ret;
	if (ch->ch_wrs > ep->ep_chunk_max)
		return -E2BIG;
	if (!rpcrdma2_units_take(&ep->ep_chunk_units, ch->ch_wrs, 0))
		return -EAGAIN;
	if (!rpcrdma2_sq_take(co, ch->ch_wrs, true)) {
		rpcrdma2_units_give(&ep->ep_chunk_units, ch->ch_wrs);
		return -EAGAIN;
	}
	ch->ch_post.po_signal = true;
	ch->ch_post.po_timed = true;
	ch->ch_post.po_done = xprt2_chunked_done;
	xprt2_req_begin_post(ch->ch_req);
	xprt2_count(doorbells);
	ret = rpcrdma2_sq_post(co, &ch->ch_post, ch->ch_chain);
	if (ret) {
		rpcrdma2_units_give(&ep->ep_chunk_units, ch->ch_wrs);
		xprt2_req_end_post(ch->ch_req);
	}
	return ret;
}

/*
 * Plan the RDMA Reads of a Call, or the RDMA Writes of its Reply. The Writes
 * and the Send are two chains, in this order on the queue. The Send buffer is
 * mapped first: once the Writes are posted, the Send must follow.
 */
static int xprt2_chunked_plan(struct xprt2_chunked *ch)
{
	struct rpcrdma2_conn *co = &ch->ch_ep->ep_conn;
	struct rpcrdma2_arg ar;
	int ret;

	ret = ch->ch_replies ? xprt2_req_map(ch->ch_ep, ch->ch_req) :
			       xprt2_chunked_get_pages(ch);
	if (ret || !rpcrdma2_rw_is_empty(&ch->ch_rw))
		return ret;
	if (ch->ch_replies) {
		ret = rpcrdma2_respond_writes(co, &ch->ch_rw,
					      &ch->ch_req->rq2_slot.rq_snd_buf,
					      &ch->ch_hdr, &ch->ch_plan);
	} else {
		ar = xprt2_chunked_to_arg(ch);
		ret = rpcrdma2_arg_reads(co, &ar, &ch->ch_rw);
	}
	if (ret)
		rpcrdma2_rw_free(co, &ch->ch_rw);
	return ret;
}

static void xprt2_chunked_finish_writes(struct xprt2_chunked *ch, int ret)
{
	struct xprt2_req *req = ch->ch_req;
	struct xprt2_ep *ep = ch->ch_ep;

	if (!ret) {
		ret = xprt2_post_reply(ep, req, &ch->ch_hdr,
				       ch->ch_plan.pn_writes[0].ra_len);
	} else if (ret != -ENOTCONN) {
		/* C-093: it can never be sent; an error is a plain Send (S49) */
		req->rq2_inv_handle = 0;
		xprt2_refuse_backward(&ch->ch_hdr, RDMA2_ERR_SYSTEM, 0, 0);
		ret = xprt2_post_reply(ep, req, &ch->ch_hdr, false);
	}
	trace_xprt2_backward_reply(ep, ch->ch_hdr.h_xid,
				   ret ?: req->rq2_slot.rq_snd_buf.len);
	if (ret)
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_REPLY);	/* S46 */
	else if (ch->ch_hdr.h_proc == RDMA2_ERROR)
		xprt2_count(backward_refused);
	else
		xprt2_count(backward_replies);
	xprt2_req_end_post(req);
}

/*
 * Return false to be called again when there is room, or after a pause. When a
 * chain was posted it may be done already, and its request gone.
 */
static bool xprt2_chunked_step(struct xprt2_ep *ep, struct xprt2_chunked *ch)
{
	bool replies = ch->ch_replies;
	int ret;

	ret = xprt2_chunked_plan(ch) ?: xprt2_chunked_post_chain(ch);
	if (ret == -EAGAIN)
		return false;
	if (ret == -ENOMEM || ret == -ENOBUFS) {
		/* Returned entries cause retries: limit time, not number. */
		ch->ch_short = ch->ch_short ?: jiffies | 1;
		if (time_before(jiffies, ch->ch_short + SHORTAGE_TIME)) {
			xprt2_count(map_waits);
			return false;
		}
	}
	if (ret)
		rpcrdma2_rw_free(&ep->ep_conn, &ch->ch_rw);
	if (replies)
		xprt2_chunked_finish_writes(ch, ret);
	else if (ret == -ENOTCONN)
		xprt2_chunked_drop(ch);
	else if (ret)
		xprt2_chunked_refuse(ch, RDMA2_ERR_SYSTEM);
	return true;
}

/**
 * xprt2_chunked_work - transfer chunks of backward Calls and Replies
 * @work: ep_chunk_work
 */
void xprt2_chunked_work(struct work_struct *work)
{
	struct xprt2_ep *ep = container_of(to_delayed_work(work),
					   struct xprt2_ep, ep_chunk_work);
	/* The end of the connection waits for this worker. */
	unsigned int flags = rpcrdma2_reclaim_begin(xprt2_swaps(ep->ep_xp));
	struct xprt2_chunked *ch;

	while ((ch = xprt2_chunked_dequeue(ep))) {
		if (xprt2_chunked_step(ep, ch))
			continue;
		/* While @ch was off the list, returned entries ran no worker. */
		guard(spinlock)(&ep->ep_chunk_lock);
		list_add(&ch->ch_list, &ep->ep_chunked);
		mod_delayed_work(xprt2_wq, &ep->ep_chunk_work, SHORTAGE_PAUSE);
		break;
	}
	rpcrdma2_reclaim_end(flags);
}

/**
 * xprt2_chunked_flush - release all Calls and Replies that were not posted
 * @ep: endpoint whose queues are drained, and whose worker is disabled
 */
void xprt2_chunked_flush(struct xprt2_ep *ep)
{
	struct xprt2_chunked *ch;

	while ((ch = xprt2_chunked_dequeue(ep))) {
		rpcrdma2_rw_free(&ep->ep_conn, &ch->ch_rw);
		if (!ch->ch_replies) {
			xprt2_chunked_drop(ch);
			continue;
		}
		xprt2_count(backward_unanswered);
		xprt2_req_end_post(ch->ch_req);
	}
}

/*
 * The callback service cannot mark results: data in pages is a result if its
 * length precedes it, see rpcrdma2_find_results(). Return true when data goes
 * into chunks.
 */
static bool xprt2_chunked_plan_reply(struct xprt2_ep *ep,
				     struct xprt2_chunked *ch,
				     struct rpcrdma2_hdr *h)
{
	const struct xdr_buf *buf = &ch->ch_req->rq2_slot.rq_snd_buf;
	struct rpcrdma2_range result = {
		buf->head[0].iov_len, buf->page_len };
	unsigned int i;

	rpcrdma2_find_results(buf, &result, 1);
	rpcrdma2_respond_plan(&ch->ch_plan, h, &result, 1, buf->len,
			      READ_ONCE(ep->ep_call_threshold));
	if (ch->ch_plan.pn_code || ch->ch_plan.pn_reply_chunk)
		return ch->ch_plan.pn_reply_chunk;
	for (i = 0; i < h->h_nwrites; i++)
		if (ch->ch_plan.pn_writes[i].ra_len)
			return true;
	return false;
}

/*
 * Decide how the Reply to a Call with chunks travels. Return false when the
 * worker sends it; true when the caller is to send it, or an error, with @h.
 */
static bool xprt2_chunked_reply(struct xprt2_ep *ep, struct xprt2_req *req,
				struct rpcrdma2_hdr *h)
{
	struct xprt2_chunked *ch = req->rq2_chunked;
	struct rpcrdma2_reply_plan *plan = &ch->ch_plan;
	bool writes;

	*h = ch->ch_hdr;
	writes = xprt2_chunked_plan_reply(ep, ch, h);
	if (plan->pn_code) {	/* an error, before any RDMA Write (S45, S49) */
		req->rq2_inv_handle = 0;
		xprt2_refuse_backward(h, plan->pn_code, plan->pn_arg,
				      plan->pn_arg2);
		return true;
	}
	rpcrdma2_respond_hdr(h, plan, 0);
	if (!writes) {
		rpcrdma2_respond_writes(&ep->ep_conn, &ch->ch_rw, NULL, h, plan);
		return true;
	}
	ch->ch_hdr = *h;
	ch->ch_replies = true;
	ch->ch_short = 0;
	rpcrdma2_rw_init(&ch->ch_rw, DMA_TO_DEVICE);
	xprt2_req_begin_post(req);
	xprt2_chunked_enqueue(ep, ch);
	return false;
}

/*
 * A Call stays in its Receive buffer while the callback service reads it. Its
 * request comes back with the Reply as a task of the RPC layer.
 *
 * Credits of the two directions are independent (B-04). A Call takes one of
 * ep_backward_grant until its Reply is about to be posted, or its connection is
 * lost. A Reply needs no credit: see xprt2_prepare_request().
 */

/**
 * xprt2_bc_setup - make room for the callbacks of an upper layer
 * @xprt: transport
 * @min_reqs: minimum number of callbacks
 *
 * From now on the transport keeps its backward requests. The first callbacks
 * have two each, because a Reply holds its request until its Send is complete,
 * but returns the credit to the server before that; and there is one for errors.
 * Receives are posted from the next message on, before a grant announces them to
 * the server.
 *
 * Return: 0, or -ENOMEM.
 */
int xprt2_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);
	struct xprt2_pool *pool = &xp->xp_backward;
	u32 first = min_t(u32, xp->xp_backward_target, XPRT2_BACKWARD_FIRST);

	scoped_guard(spinlock, &xp->xp_req_lock)
		pool->pl_keep = pool->pl_max;
	if (xprt2_reqs_reserve(xp, pool, 2 * first + 1, GFP_KERNEL))
		return -ENOMEM;
	guard(spinlock)(&xprt->bc_pa_lock);
	xprt->bc_alloc_max += min_reqs;
	return 0;
}

static void xprt2_bc_drop_call(struct rpc_rqst *rqst)
{
	atomic_dec(&rqst->rq_xprt->bc_slot_count);
	xprt2_count(backward_unanswered);
	xprt2_backward_uncount(xprt2_rqst_to_req(rqst));
	xprt2_bc_free_rqst(rqst);
}

/**
 * xprt2_bc_destroy - end the callbacks of an upper layer
 * @xprt: transport
 * @max_reqs: as in xprt2_bc_setup(), or more
 *
 * When the last upper layer ends, the service may go away. Calls that it has
 * not looked at are retracted: they would wait forever, and hold the transport.
 *
 * Context: sleeps.
 */
void xprt2_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs)
{
	bool was_open, is_open;
	struct svc_serv *serv;

	scoped_guard(spinlock, &xprt->bc_pa_lock) {
		serv = xprt->bc_serv;
		was_open = xprt->bc_alloc_max;
		xprt->bc_alloc_max -= min(max_reqs, xprt->bc_alloc_max);
		is_open = xprt->bc_alloc_max;
		if (!is_open)
			xprt2_from_xprt(xprt)->xp_serves = false;
	}
	/* A service that never got a Call may be gone already. */
	if (serv && was_open && !is_open && atomic_read(&xprt->bc_slot_count))
		rpcrdma2_bc_retract(serv, xprt, xprt2_bc_drop_call);
}

/**
 * xprt2_bc_maxpayload - largest callback, and largest Reply to a callback
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
 * xprt2_bc_num_slots - maximum number of callbacks at a time
 * @xprt: transport
 *
 * The NFS client calls it to create a session: its service is up. Before that
 * no Call is accepted: bc_serv may point to a service that did not come up, and
 * is gone (NFS of kernels before 6.19).
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

/*
 * Intend to grant twice as many Calls when all are outstanding; @out are now.
 * Each of the others has a free request, beside that for errors, or the grant
 * stays for want of memory. xprt2_recv_call() posts the Receives, and the next
 * Reply announces the grant.
 *
 * Context: receive CQ.
 */
static void xprt2_bc_raise(struct xprt2_ep *ep, u32 out)
{
	u32 most = READ_ONCE(ep->ep_xp->xp_backward_credits);
	u32 calls = ep->ep_backward_next;

	if (likely(out < calls || calls >= most))
		return;
	calls = min(2 * calls, most);
	if (!xprt2_reqs_reserve(ep->ep_xp, &ep->ep_xp->xp_backward,
				calls - out + 1, GFP_NOWAIT | __GFP_NOWARN))
		ep->ep_backward_next = calls;
}

/*
 * S56: ep_backward_grant is at least the highest grant sent on this connection
 * (B-06). Return: Calls that are outstanding now, or 0 when this one has no
 * credit.
 */
static u32 xprt2_backward_count(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct xprt2_xprt *xp = ep->ep_xp;

	guard(spinlock)(&xp->xp_req_lock);
	if (!xprt2_is_granted(xp->xp_backward_out,
			      READ_ONCE(ep->ep_backward_grant)))
		return 0;
	req->rq2_backward_of = ep->ep_serial;
	return ++xp->xp_backward_out;
}

/*
 * The request owns the Receive buffer, which the service reads (X1). Return: 0;
 * -ENOMEM without a request; -EBUSY for a Call beyond the grant, or when there
 * is no service for it.
 */
static int xprt2_bc_accept_call(struct xprt2_ep *ep, struct xprt2_rep *rep,
				const struct rpcrdma2_msg *msg, bool chunks)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	struct xprt2_req *req;
	struct rpc_rqst *rqst;
	u32 out;

	req = xprt2_backward_req(ep->ep_xp, false, GFP_NOWAIT | __GFP_NOWARN);
	if (!req)
		return -ENOMEM;

	rqst = &req->rq2_slot;
	rqst->rq_xid = cpu_to_be32(h->h_xid);
	/* xprt2_chunked_deliver() lays out a Call that has Read chunks. */
	if (!h->h_nreads)
		rpcrdma2_recv_buf_paged(&rep->rep_recv, h->h_len,
					&rqst->rq_rcv_buf);
	rqst->rq_private_buf.len = msg->mg_paylen;
	req->rq2_rep = rep;
	WRITE_ONCE(req->rq2_ep, ep);	/* X7 */

	out = xprt2_backward_count(ep, req);
	if (likely(out)) {
		xprt2_bc_raise(ep, out);
		if ((!chunks || xprt2_chunked_new(ep, req, msg)) &&
		    (h->h_nreads ? xprt2_chunked_queue_read(req) :
				   xprt2_give_call(req)))
			return 0;
	}
	req->rq2_rep = NULL;
	xprt2_backward_put(req);
	return -EBUSY;
}

/**
 * xprt2_handle_call - handle a MSG or NOMSG that is a Call of the server
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
	int ret = 0;

	xprt2_check_handle(ep, msg);
	/*
	 * No message besides the first before a grant (C-097, S30). Before an
	 * RPC no callback is due: its Reply, and all others of the callback
	 * service, would wait for the connect worker (S46)
	 */
	if (unlikely(!xprt2_ep_is_ready(ep) ||
		     (!ep->ep_grant && h->h_vers == RPCRDMA2_VERS_TWO))) {
		code = RDMA2_DROP;
	} else if (code == RDMA2_OK) {
		if (!h->h_nreads)
			trace_xprt2_backward_call(ep, h->h_xid, msg->mg_paylen);
		ret = xprt2_bc_accept_call(ep, rep, msg,
					   level == RDMA2_BKREQSUP_GENL &&
						   xprt2_has_chunks(h));
		if (!ret)
			return;
		code = RDMA2_ERR_SYSTEM;
	}
	rpcrdma2_recv_put(&rep->rep_recv);
	/*
	 * No error of version 1 reports the lack of memory, and the server
	 * would count the Call against its credits forever (S24).
	 */
	if (ret == -ENOMEM && h->h_vers == RPCRDMA2_VERS_ONE)
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_MEMORY);
	xprt2_bc_refuse(ep, h, code, xprt2_backward_limit(level, code));
}

static void xprt2_bc_inline_reply(const struct xprt2_ep *ep,
				  const struct rpc_rqst *rqst,
				  struct rpcrdma2_hdr *h)
{
	u32 len = rqst->rq_snd_buf.len;

	rpcrdma2_hdr_begin(h, be32_to_cpu(rqst->rq_xid), ep->ep_vers, 0,
			   RDMA2_MSG, RDMA2_REPLY);
	/* the Reply is too long for a Send (C-001, C-090, C-091) */
	if (rpcrdma2_hdr_size(h) + len > READ_ONCE(ep->ep_call_threshold))
		xprt2_refuse_backward(h, RDMA2_ERR_REPLY_RESOURCE, len, 0);
}

/*
 * Limit the Replies whose Send is not known to be complete. A Reply returns the
 * credit of its Call to the server, but holds a request for some time after
 * that, and the server's next Call needs a request too. A Reply that waits here
 * holds up the callback service and Calls of the client, so the wait is short.
 *
 * Return: 0 when it may be sent; -ENOBUFS to be called again after a delay;
 * -ECONNABORTED when the server lets the Sends hang (S46).
 */
static int xprt2_bc_may_reply(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct xprt2_xprt *xp = ep->ep_xp;
	int most = xprt2_backward_replies(READ_ONCE(xp->xp_backward_credits));

	/* Only a task that has XPRT_LOCKED increments it. */
	if (!req->rq2_unsent && atomic_read(&xp->xp_unsent) < most) {
		atomic_inc(&xp->xp_unsent);
		req->rq2_unsent = true;
	}
	if (likely(req->rq2_unsent))
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
 * xprt2_send_backward - send a Reply
 * @rqst: request with the encoded RPC Reply
 *
 * It is sent in the version of the connection that its Call came on, or not at
 * all (X7). B-07, B-16, S25, S35.
 *
 * Context: send path.
 * Return: 0 when it is sent or need not be; -ENOBUFS to be called again after a
 * delay; -ECONNABORTED when the connection must be closed (S46).
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
		xprt2_backward_uncount(req);
		return 0;
	}

	ret = xprt2_bc_may_reply(ep, req);
	if (ret)
		return ret;
	xprt2_backward_uncount(req);
	if (req->rq2_chunked) {
		if (!xprt2_chunked_reply(ep, req, h))
			return 0;
	} else {
		xprt2_bc_inline_reply(ep, rqst, h);
	}

	ret = xprt2_post_reply(ep, req, h, false);
	trace_xprt2_backward_reply(ep, h->h_xid, ret ?: len);
	/* The task may end before it is called again. */
	if (ret == -EAGAIN || ret == -ENOBUFS)
		return xprt2_backward_count(ep, req) ? -ENOBUFS : -ECONNABORTED;
	if (ret)
		return -ECONNABORTED;
	if (h->h_proc == RDMA2_MSG)
		xprt2_count(backward_replies);
	else
		xprt2_count(backward_refused);
	return 0;
}

/**
 * xprt2_bc_free_rqst - release a backward request
 * @rqst: request from xprt2_handle_call()
 *
 * Context: any that may put a transport. Sleeps when its Call has chunks or its
 * Reply was sent from its pages, or when the Reply is lost.
 */
void xprt2_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);
	struct rpc_xprt *xprt = rqst->rq_xprt;

	/*
	 * The server waits for the Reply, and would never get its credit back.
	 * Causes: the service drops a Call that is too short for it; there is no
	 * memory for the task of the Reply; or that task was transmitting the
	 * first Call of the RPC layer's queue when a signal ended the Call's own
	 * task, and the RPC layer ends both.
	 */
	if (unlikely(req->rq2_backward_of)) {
		guard(mutex)(&xprt2_from_xprt(xprt)->xp_fence_mutex);
		xprt2_count(backward_unanswered);
		if (req->rq2_ep)	/* no Reply can be sent (S46) */
			rpcrdma2_conn_lose(&req->rq2_ep->ep_conn,
					   RPCRDMA2_LOSS_REPLY);
	}
	xprt2_req_await_posts(req);
	xprt2_backward_put(req);
	xprt_put(xprt);
}
