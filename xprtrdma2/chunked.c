// SPDX-License-Identifier: GPL-2.0
/*
 * Backward Calls with chunks: the client is the responder, and reads and fills
 * them as the server does otherwise (rpcrdma2/respond.h, rpcrdma2/rw.h).
 *
 *   receive CQ:  xprt2_chunked_new, xprt2_chunked_read --> ep_chunked
 *   worker:      RDMA Reads           --> send CQ: reads_done --> service
 *   send path:   xprt2_chunked_reply  --> ep_chunked
 *   worker:      RDMA Writes, and then the Send
 *
 * The worker takes one after the other. What backward Calls may take of the Send
 * Queue is ep_chunk_units: entries that the queue has beside those for Calls of the
 * client, enough for two of the longest chains. One that finds too few waits, and
 * those behind it. What they may take of memory is as much for each credit as the
 * callback service takes in one Call (C-106). RDMA Reads and Writes that the server
 * does not answer end the connection after XPRT2_CHAIN_TIMEOUT.
 *
 * A Reply's pages are the service's, which uses them again when the task of its Reply
 * has ended. So the end of that waits for the device, xprt2_req_await_posts(); NFS has no
 * such Replies.
 */
#include "xprtrdma2.h"

#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc.h>

#include <rpcrdma2/respond.h>

#include "trace.h"

/* What memory or mappings are too short for is tried again after a pause, for so long. */
#define SHORTAGE_PAUSE	(HZ / 50 + 1)
#define SHORTAGE_TIME	(2 * HZ)

/**
 * struct xprt2_chunked - what a backward request with chunks, or with pages, has
 * @ch_list: on ep_chunked, or not
 * @ch_req: its request
 * @ch_ep: endpoint
 * @ch_hdr: header of the Call; of the Reply when that is queued
 * @ch_handle: handle that the Reply invalidates, or 0
 * @ch_replies: its Reply is queued, or posted
 * @ch_inline: octets of the RPC Call that came behind the header
 * @ch_length: octets of all of the Call, when it has Read chunks
 * @ch_pages: where it is laid out, likewise
 * @ch_npages: how many
 * @ch_plan: how the Reply travels
 * @ch_rw: RDMA Reads or Writes
 * @ch_chain: their work requests; NULL when they are not built, or done
 * @ch_wrs: how many
 * @ch_post: their chain
 * @ch_short: memory or mappings are too short for it
 * @ch_since: since when, in jiffies
 */
struct xprt2_chunked {
	struct list_head	ch_list;
	struct xprt2_req	*ch_req;
	struct xprt2_ep		*ch_ep;
	struct rpcrdma2_hdr	ch_hdr;
	u32			ch_handle;
	bool			ch_replies;
	u32			ch_inline;
	u32			ch_length;
	struct page		**ch_pages;
	unsigned int		ch_npages;
	struct rpcrdma2_reply_plan ch_plan;
	struct rpcrdma2_rw	ch_rw;
	struct ib_send_wr	*ch_chain;
	unsigned int		ch_wrs;
	struct rpcrdma2_post	ch_post;
	bool			ch_short;
	unsigned long		ch_since;
};

/* The request goes back to its pool. */
static void release(struct xprt2_req *req)
{
	struct xprt2_chunked *ch = req->rq2_chunked;

	req->rq2_chunked = NULL;
	req->rq2_release_chunked = NULL;
	if (ch->ch_npages)
		release_pages(ch->ch_pages, ch->ch_npages);
	kfree(ch->ch_pages);
	kfree(ch);
}

static struct xprt2_chunked *create(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct xprt2_chunked *ch;

	ch = kzalloc(sizeof(*ch), GFP_NOWAIT | __GFP_NOWARN);
	if (!ch)
		return NULL;
	INIT_LIST_HEAD(&ch->ch_list);
	ch->ch_req = req;
	ch->ch_ep = ep;
	rpcrdma2_rw_init(&ch->ch_rw, DMA_FROM_DEVICE);
	req->rq2_chunked = ch;
	req->rq2_release_chunked = release;
	return ch;
}

/**
 * xprt2_chunked_new - note the chunks of a backward Call
 * @ep: endpoint
 * @req: its request
 * @msg: the Call
 *
 * Context: receive CQ.
 * Return: false when there is no memory.
 */
bool xprt2_chunked_new(struct xprt2_ep *ep, struct xprt2_req *req,
		       const struct rpcrdma2_msg *msg)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	struct xprt2_chunked *ch = create(ep, req);

	if (!ch)
		return false;
	ch->ch_hdr = *h;
	ch->ch_inline = h->h_proc == RDMA2_MSG ? msg->mg_paylen : 0;
	ch->ch_handle = rpcrdma2_inv_handle(h, false);
	xprt2_count_add(backward_read_chunks, h->h_nreads);
	xprt2_count_add(backward_write_chunks, h->h_nwrites);
	xprt2_count_add(backward_reply_chunks, h->h_has_reply);
	rpcrdma2_backward_chunks(&ep->ep_xp->xp_called, h);
	return true;
}

/**
 * xprt2_is_chunked - has its Call had chunks?
 * @req: backward request
 */
bool xprt2_is_chunked(const struct xprt2_req *req)
{
	return req->rq2_chunked && xprt2_has_chunks(&req->rq2_chunked->ch_hdr);
}

/* The worker ends with the connection: see xprt2_chunked_stop(). */
static void kick_locked(struct xprt2_ep *ep, unsigned long delay)
{
	lockdep_assert_held(&ep->ep_chunk_lock);
	if (!ep->ep_chunk_off)
		mod_delayed_work(xprt2_wq, &ep->ep_chunk_work, delay);
}

/**
 * xprt2_chunked_room - Send Queue entries have come back
 * @ep: endpoint
 *
 * Context: send CQ, and what gives entries back.
 */
void xprt2_chunked_room(struct xprt2_ep *ep)
{
	if (likely(list_empty_careful(&ep->ep_chunked)))
		return;
	guard(spinlock)(&ep->ep_chunk_lock);
	kick_locked(ep, 0);
}

static void enqueue(struct xprt2_ep *ep, struct xprt2_chunked *ch)
{
	guard(spinlock)(&ep->ep_chunk_lock);
	list_add_tail(&ch->ch_list, &ep->ep_chunked);
	kick_locked(ep, 0);
}

/* Back to the front. What came back meanwhile found it not on the list. */
static void put_back(struct xprt2_ep *ep, struct xprt2_chunked *ch)
{
	guard(spinlock)(&ep->ep_chunk_lock);
	list_add(&ch->ch_list, &ep->ep_chunked);
	kick_locked(ep, SHORTAGE_PAUSE);
}

static struct xprt2_chunked *dequeue(struct xprt2_ep *ep)
{
	struct xprt2_chunked *ch;

	guard(spinlock)(&ep->ep_chunk_lock);
	ch = list_first_entry_or_null(&ep->ep_chunked, struct xprt2_chunked,
				      ch_list);
	if (ch)
		list_del_init_careful(&ch->ch_list);
	return ch;
}

/* A Call that the service does not get */
static void let_go(struct xprt2_chunked *ch)
{
	xprt2_drop_reply(ch->ch_req);
	xprt2_req_put(ch->ch_req);
}

static void refuse(struct xprt2_chunked *ch, enum rpcrdma2_errcode code)
{
	struct rpcrdma2_hdr *h = &ch->ch_hdr;
	struct xprt2_ep *ep = ch->ch_ep;

	trace_xprt2_backward_refuse(ep, h->h_xid, code);
	xprt2_uncount_call(ch->ch_req);
	if (!xprt2_refuse_backward(h, code, 0, 0))
		xprt2_count(backward_unanswered);
	else if (xprt2_send_error(ep, h))
		xprt2_count(backward_refused);
	let_go(ch);
}

static struct rpcrdma2_pull pull_of(const struct xprt2_chunked *ch)
{
	return (struct rpcrdma2_pull){
		.pl_hdr		= &ch->ch_hdr,
		.pl_recv	= &ch->ch_req->rq2_reply->rep_recv,
		.pl_inline	= ch->ch_inline,
		.pl_pages	= ch->ch_pages,
	};
}

/**
 * xprt2_chunked_read - begin with a backward Call that has Read chunks
 * @req: request with rq2_chunked and the Receive
 * @most: octets of the longest Call that the service takes
 *
 * Context: receive CQ.
 * Return: false when it is too long; else it is on its way to the service.
 */
bool xprt2_chunked_read(struct xprt2_req *req, u32 most)
{
	struct xprt2_chunked *ch = req->rq2_chunked;
	u64 length = rpcrdma2_layout_length(&ch->ch_hdr, ch->ch_inline);

	if (length > most)
		return false;
	ch->ch_length = length;
	enqueue(ch->ch_ep, ch);
	return true;
}

static int get_pages(struct xprt2_chunked *ch)
{
	unsigned int n = PFN_UP(ch->ch_length);

	if (!ch->ch_pages)
		ch->ch_pages = kcalloc(n, sizeof(*ch->ch_pages), GFP_KERNEL);
	if (!ch->ch_pages)
		return -ENOMEM;
	for (; ch->ch_npages < n; ch->ch_npages++) {
		ch->ch_pages[ch->ch_npages] = alloc_page(GFP_KERNEL);
		if (!ch->ch_pages[ch->ch_npages])
			return -ENOMEM;
	}
	return 0;
}

/* The Call goes to the service, whole, and its Receive back. Send CQ */
static void deliver(struct xprt2_chunked *ch)
{
	struct rpc_rqst *rqst = &ch->ch_req->rq2_slot;
	const struct rpcrdma2_pull pl = pull_of(ch);
	struct xdr_buf *buf = &rqst->rq_rcv_buf;

	rpcrdma2_pull_finish(&pl);
	if (ch->ch_hdr.h_proc == RDMA2_NOMSG &&
	    !rpcrdma2_pull_is_call(&pl, ch->ch_length)) {
		refuse(ch, RDMA2_ERR_BAD_XDR);
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

	xprt2_drop_reply(ch->ch_req);
	if (!xprt2_give_call(ch->ch_req))
		refuse(ch, RDMA2_ERR_SYSTEM);
}

static void chain_done(struct xprt2_chunked *ch)
{
	struct xprt2_ep *ep = ch->ch_ep;

	rpcrdma2_rw_free(&ep->ep_conn, &ch->ch_rw);
	ch->ch_chain = NULL;
	rpcrdma2_units_give(&ep->ep_chunk_units, ch->ch_wrs);
	xprt2_chunked_room(ep);
}

static void reads_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
		       bool ok)
{
	struct xprt2_chunked *ch = container_of(post, struct xprt2_chunked,
						ch_post);
	struct xprt2_req *req = ch->ch_req;

	chain_done(ch);
	if (ok)
		deliver(ch);
	else
		let_go(ch);
	xprt2_req_end_post(req);
}

static void writes_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
			bool ok)
{
	struct xprt2_chunked *ch = container_of(post, struct xprt2_chunked,
						ch_post);

	chain_done(ch);
	xprt2_req_end_post(ch->ch_req);
}

static void count_wrs(struct xprt2_chunked *ch)
{
	const struct ib_send_wr *wr;

	for (ch->ch_wrs = 0, wr = ch->ch_chain; wr; wr = wr->next)
		ch->ch_wrs++;
}

/* The request has a reference more until the chain is done. */
static int post_chain(struct xprt2_chunked *ch,
		      void (*done)(struct rpcrdma2_conn *co,
				   struct rpcrdma2_post *post, bool ok))
{
	struct rpcrdma2_conn *co = &ch->ch_ep->ep_conn;
	struct xprt2_ep *ep = ch->ch_ep;
	int ret;

	if (!ch->ch_chain) {
		ret = rpcrdma2_rw_map(co, &ch->ch_rw);
		if (ret)
			return ret == -EINVAL ? ret : -ENOBUFS;
		ch->ch_chain = rpcrdma2_rw_chain(co, &ch->ch_rw,
						 &ch->ch_post.po_cqe, NULL);
		count_wrs(ch);
	}
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
	ch->ch_post.po_done = done;
	xprt2_req_begin_post(ch->ch_req);
	xprt2_count(doorbells);
	ret = rpcrdma2_sq_post(co, &ch->ch_post, ch->ch_chain);
	if (ret) {
		rpcrdma2_units_give(&ep->ep_chunk_units, ch->ch_wrs);
		xprt2_req_end_post(ch->ch_req);
	}
	return ret;
}

static int begin_reads(struct xprt2_chunked *ch)
{
	struct rpcrdma2_pull pl;
	int ret = get_pages(ch);

	if (!ret && rpcrdma2_rw_is_empty(&ch->ch_rw)) {
		pl = pull_of(ch);
		ret = rpcrdma2_pull_reads(&ch->ch_ep->ep_conn, &pl,
					  &ch->ch_rw);
		if (ret)
			rpcrdma2_rw_free(&ch->ch_ep->ep_conn, &ch->ch_rw);
	}
	return ret ?: post_chain(ch, reads_done);
}

/*
 * Writes and Send are two chains, in this order on the queue. What the Send needs is
 * mapped first: when the Writes are posted it has to follow.
 */
static int begin_writes(struct xprt2_chunked *ch)
{
	int ret = xprt2_req_map(ch->ch_ep, ch->ch_req);

	if (!ret && rpcrdma2_rw_is_empty(&ch->ch_rw)) {
		ret = rpcrdma2_respond_writes(&ch->ch_rw,
					      &ch->ch_req->rq2_slot.rq_snd_buf,
					      &ch->ch_hdr, &ch->ch_plan);
		if (ret)
			rpcrdma2_rw_free(&ch->ch_ep->ep_conn, &ch->ch_rw);
	}
	return ret ?: post_chain(ch, writes_done);
}

static void finish_writes(struct xprt2_chunked *ch, int ret)
{
	struct xprt2_req *req = ch->ch_req;
	struct xprt2_ep *ep = ch->ch_ep;

	if (ret)
		rpcrdma2_rw_free(&ep->ep_conn, &ch->ch_rw);
	if (!ret) {
		ret = xprt2_post_reply(ep, req, &ch->ch_hdr,
				       ch->ch_plan.pn_writes[0].ra_len);
	} else if (ret != -ENOTCONN) {
		/* C-093: it can never be sent */
		req->rq2_inv_handle = 0;		/* S49 */
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

static void finish_reads(struct xprt2_chunked *ch, int ret)
{
	if (!ret)
		return;
	rpcrdma2_rw_free(&ch->ch_ep->ep_conn, &ch->ch_rw);
	if (ret == -ENOTCONN) {
		let_go(ch);
		return;
	}
	refuse(ch, RDMA2_ERR_SYSTEM);
}

/* Whatever is given back meanwhile has it tried again sooner, so time counts. */
static bool may_pass(struct xprt2_chunked *ch)
{
	if (!ch->ch_short)
		ch->ch_since = jiffies;
	ch->ch_short = true;
	return time_before(jiffies, ch->ch_since + SHORTAGE_TIME);
}

/*
 * Return: false to be called again when there is room, or after a pause. A
 * chain that is posted may be done, and its request gone.
 */
static bool go_on(struct xprt2_ep *ep, struct xprt2_chunked *ch)
{
	bool replies = ch->ch_replies;
	int ret;

	ret = replies ? begin_writes(ch) : begin_reads(ch);
	if (ret == -EAGAIN)
		return false;
	if ((ret == -ENOMEM || ret == -ENOBUFS) && may_pass(ch)) {
		xprt2_count(map_waits);
		return false;
	}
	if (replies)
		finish_writes(ch, ret);
	else
		finish_reads(ch, ret);
	return true;
}

static void work(struct work_struct *work)
{
	struct xprt2_ep *ep = container_of(to_delayed_work(work),
					   struct xprt2_ep, ep_chunk_work);
	unsigned int flags = memalloc_nofs_save();
	struct xprt2_chunked *ch;

	while ((ch = dequeue(ep))) {
		if (go_on(ep, ch))
			continue;
		put_back(ep, ch);
		break;
	}
	memalloc_nofs_restore(flags);
}

/**
 * xprt2_chunked_init - begin with an endpoint
 * @ep: endpoint
 */
void xprt2_chunked_init(struct xprt2_ep *ep)
{
	spin_lock_init(&ep->ep_chunk_lock);
	INIT_LIST_HEAD(&ep->ep_chunked);
	INIT_DELAYED_WORK(&ep->ep_chunk_work, work);
}

/**
 * xprt2_chunked_stop - post no more RDMA Reads and Writes
 * @ep: endpoint about to be drained
 *
 * Context: connect; sleeps.
 */
void xprt2_chunked_stop(struct xprt2_ep *ep)
{
	scoped_guard(spinlock, &ep->ep_chunk_lock)
		ep->ep_chunk_off = true;
	cancel_delayed_work_sync(&ep->ep_chunk_work);
}

/**
 * xprt2_chunked_flush - give up what has not been posted
 * @ep: endpoint whose queues are drained, after xprt2_chunked_stop()
 */
void xprt2_chunked_flush(struct xprt2_ep *ep)
{
	struct xprt2_chunked *ch;

	while ((ch = dequeue(ep))) {
		rpcrdma2_rw_free(&ep->ep_conn, &ch->ch_rw);
		xprt2_count(backward_unanswered);
		if (ch->ch_replies)
			xprt2_req_end_post(ch->ch_req);
		else
			let_go(ch);
	}
}

/**
 * xprt2_chunked_hold - the device may read pages of a Reply
 * @ep: endpoint
 * @req: request with the Reply
 *
 * Context: send path.
 * Return: 0 or -ENOBUFS.
 */
int xprt2_chunked_hold(struct xprt2_ep *ep, struct xprt2_req *req)
{
	if (!req->rq2_slot.rq_snd_buf.page_len || req->rq2_chunked)
		return 0;
	return create(ep, req) ? 0 : -ENOBUFS;
}

/*
 * The callback service has no way to name results. What it has put in pages is one
 * if its length stands in front of it, as find_results() sees.
 */
static bool plan_reply(struct xprt2_ep *ep, struct xprt2_chunked *ch,
		       struct rpcrdma2_hdr *h)
{
	const struct xdr_buf *buf = &ch->ch_req->rq2_slot.rq_snd_buf;
	struct rpcrdma2_range result = {
		buf->head[0].iov_len, buf->page_len };
	unsigned int i;

	rpcrdma2_find_results(buf, &result, 1);
	rpcrdma2_respond_plan(&ch->ch_plan, h, &result, 1, buf->len,
			      READ_ONCE(ep->ep_call_threshold));
	if (ch->ch_plan.pn_code || ch->ch_plan.pn_long)
		return ch->ch_plan.pn_long;
	for (i = 0; i < h->h_nwrites; i++)
		if (ch->ch_plan.pn_writes[i].ra_len)
			return true;
	return false;
}

/**
 * xprt2_chunked_reply - decide how the Reply to a Call with chunks travels
 * @ep: endpoint
 * @req: request with the encoded Reply
 * @h: to be filled with its header, if it is to be sent here, or with an error
 *
 * Context: send path.
 * Return: false when the worker sends it; true when the caller does.
 */
bool xprt2_chunked_reply(struct xprt2_ep *ep, struct xprt2_req *req,
			 struct rpcrdma2_hdr *h)
{
	struct xprt2_chunked *ch = req->rq2_chunked;
	struct rpcrdma2_reply_plan *plan = &ch->ch_plan;
	bool writes;

	*h = ch->ch_hdr;
	writes = plan_reply(ep, ch, h);
	req->rq2_inv_handle = 0;
	if (plan->pn_code) {			/* S45, S49 */
		xprt2_refuse_backward(h, plan->pn_code, plan->pn_arg,
				      plan->pn_arg2);
		return true;
	}
	rpcrdma2_respond_hdr(h, plan, 0);
	req->rq2_inv_handle = ch->ch_handle;	/* C-009 */
	if (!writes) {
		rpcrdma2_respond_writes(&ch->ch_rw, NULL, h, plan);
		return true;
	}
	xprt2_count_add(backward_write_bytes, plan->pn_writes[0].ra_len +
			(plan->pn_long ? plan->pn_len : 0));
	ch->ch_hdr = *h;
	ch->ch_replies = true;
	ch->ch_short = false;
	rpcrdma2_rw_init(&ch->ch_rw, DMA_TO_DEVICE);
	xprt2_req_begin_post(req);
	enqueue(ep, ch);
	return false;
}
