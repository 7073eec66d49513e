// SPDX-License-Identifier: GPL-2.0
/*
 * From a marshalled Call to the wire, and back to a free Send Queue.
 *
 * Every chain of Work Requests is posted here, by post_send() or
 * xprt2_sq_post_signaled(). They count entries under the lock that orders the
 * queue, so one completion retires exactly the entries that were posted up to
 * it: unsignaled Sends, the registrations in front of them, everything. That
 * makes moderation simple. A Call asks for a completion when XPRT2_SEND_BATCH
 * entries have gone by without one, or when pages are mapped for it; what is
 * no Call of ours always does.
 *
 * A flushed entry completes with an error whether it asked or not. Such
 * completions retire nothing: what is left on sq_sent is released after the
 * queue was drained, by xprt2_sends_release().
 */
#include "xprtrdma2.h"

#include "trace.h"

/**
 * xprt2_sq_init - start with an empty queue
 * @sq: queue of an endpoint under construction; it sets sq_depth later
 */
void xprt2_sq_init(struct xprt2_sq *sq)
{
	spin_lock_init(&sq->sq_lock);
	INIT_LIST_HEAD(&sq->sq_sent);
}

/*
 * A Call needs an entry for its Send and for each registration, and one for
 * the LOCAL_INV that each region may need later: an invalidation can not
 * wait for room, the RPC it ends may be what others wait for. Nor can what is
 * no Call, for which Calls leave entries free: see sq.h.
 */
static bool reserve_locked(struct xprt2_ep *ep, const struct xprt2_req *req,
			   unsigned int count, unsigned int invs)
{
	bool call = req->rq2_home == &ep->ep_xp->xp_forward;
	struct xprt2_sq *sq = &ep->ep_sq;

	lockdep_assert_held(&sq->sq_lock);
	if (!xprt2_sq_has_room(sq->sq_depth, sq->sq_posted - sq->sq_retired +
			       sq->sq_reserved, count + invs, call)) {
		/* Pairs with the callers of wake_sq_waiter() */
		sq->sq_waiting = true;
		xprt_wait_for_buffer_space(&ep->ep_xp->xp_xprt);
		return false;
	}
	sq->sq_reserved += invs;
	return true;
}

/* Caller noted under sq_lock that the send path waits, and cleared that. */
static void wake_sq_waiter(struct xprt2_ep *ep, bool waiting)
{
	if (unlikely(waiting))
		xprt_write_space(&ep->ep_xp->xp_xprt);
}

/**
 * xprt2_sq_unreserve - give back an entry that no LOCAL_INV will need
 * @ep: endpoint
 */
void xprt2_sq_unreserve(struct xprt2_ep *ep)
{
	struct xprt2_sq *sq = &ep->ep_sq;
	bool wake = false;

	spin_lock(&sq->sq_lock);
	sq->sq_reserved--;
	swap(wake, sq->sq_waiting);
	spin_unlock(&sq->sq_lock);
	wake_sq_waiter(ep, wake);
}

/* The Send at the end of a chain of @count; see the top of this file */
static int post_send(struct xprt2_ep *ep, struct xprt2_req *req,
		     struct ib_send_wr *first, unsigned int count)
{
	struct ib_send_wr *wr = &req->rq2_wr;
	struct xprt2_sq *sq = &ep->ep_sq;
	int rc;

	spin_lock(&sq->sq_lock);
	if (!reserve_locked(ep, req, count, count - 1)) {
		spin_unlock(&sq->sq_lock);
		return -EAGAIN;
	}

	/* X6: from now on a Reply is for this request; see claim_rqst() */
	atomic_set(&req->rq2_holds, req->rq2_num_mapped ? 2 : 1);
	req->rq2_late = false;
	WRITE_ONCE(req->rq2_ep, ep);

	sq->sq_posted += count;
	if (sq->sq_posted - sq->sq_signaled >= XPRT2_SEND_BATCH)
		wr->send_flags |= IB_SEND_SIGNALED;
	if (wr->send_flags & IB_SEND_SIGNALED)
		sq->sq_signaled = sq->sq_posted;
	req->rq2_mark = sq->sq_posted;
	list_add_tail(&req->rq2_sent, &sq->sq_sent);

	rc = ib_post_send(ep->ep_conn.co_id->qp, first, NULL);
	if (rc)
		list_del_init(&req->rq2_sent);
	spin_unlock(&sq->sq_lock);
	return rc ? -ENOTCONN : 0;
}

/**
 * xprt2_sq_post_signaled - post a chain that can not wait, with one doorbell
 * @ep: endpoint
 * @first: the chain; only its last request is signaled
 * @count: its length
 * @reserved: entries of it that were reserved
 * @mark: where to leave the argument of xprt2_sq_retire(). It is written
 *	before the chain can complete
 *
 * Context: any that may not sleep.
 * Return: 0, or -ENOTCONN: the connection is given up, and a part of the
 * chain may have been posted.
 */
int xprt2_sq_post_signaled(struct xprt2_ep *ep, struct ib_send_wr *first,
			   unsigned int count, unsigned int reserved, u32 *mark)
{
	struct xprt2_sq *sq = &ep->ep_sq;
	int rc;

	spin_lock(&sq->sq_lock);
	sq->sq_reserved -= reserved;
	sq->sq_posted += count;
	sq->sq_signaled = sq->sq_posted;
	*mark = sq->sq_posted;
	rc = ib_post_send(ep->ep_conn.co_id->qp, first, NULL);
	spin_unlock(&sq->sq_lock);
	if (rc) {
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_POST);
		return -ENOTCONN;
	}

	xprt2_count(doorbells);
	return 0;
}

/* Entries 1 to rq2_num_mapped of the gather list are mapped pages. */
static void unmap_sges(struct xprt2_ep *ep, struct xprt2_req *req)
{
	unsigned int i;

	for (i = 1; i <= req->rq2_num_mapped; i++)
		ib_dma_unmap_page(ep->ep_conn.co_id->device, req->rq2_sge[i].addr,
				  req->rq2_sge[i].length, DMA_TO_DEVICE);
	/* Pairs with the check in xprt2_holds_memory() */
	smp_store_release(&req->rq2_num_mapped, 0);
}

static void release_sends(struct xprt2_ep *ep, struct list_head *sent)
{
	struct xprt2_req *req;

	while ((req = list_first_entry_or_null(sent, struct xprt2_req,
					       rq2_sent))) {
		list_del_init(&req->rq2_sent);
		if (req->rq2_num_mapped) {
			unmap_sges(ep, req);
			/* A full barrier: see xprt2_fence_wait() */
			xprt2_release_reply(req);
			if (unlikely(READ_ONCE(req->rq2_dead)))
				complete(&req->rq2_event);
		}
		xprt2_req_put(req);
	}
}

/**
 * xprt2_sq_retire - a completion came: all entries up to it are free
 * @ep: endpoint
 * @mark: sq_posted as it was after that entry
 *
 * Context: send CQ.
 */
void xprt2_sq_retire(struct xprt2_ep *ep, u32 mark)
{
	struct xprt2_sq *sq = &ep->ep_sq;
	struct xprt2_req *req, *next;
	bool wake = false;
	LIST_HEAD(done);

	spin_lock(&sq->sq_lock);
	if ((s32)(mark - sq->sq_retired) > 0)
		sq->sq_retired = mark;
	list_for_each_entry_safe(req, next, &sq->sq_sent, rq2_sent) {
		if ((s32)(req->rq2_mark - mark) > 0)
			break;
		list_move_tail(&req->rq2_sent, &done);
	}
	swap(wake, sq->sq_waiting);
	spin_unlock(&sq->sq_lock);

	release_sends(ep, &done);
	wake_sq_waiter(ep, wake);
}

/**
 * xprt2_sends_release - let go of Sends that never completed
 * @ep: drained endpoint
 */
void xprt2_sends_release(struct xprt2_ep *ep)
{
	LIST_HEAD(done);

	spin_lock(&ep->ep_sq.sq_lock);
	list_splice_init(&ep->ep_sq.sq_sent, &done);
	spin_unlock(&ep->ep_sq.sq_lock);
	release_sends(ep, &done);
}

static void xprt2_wc_send(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprt2_ep *ep = xprt2_cq_to_ep(cq);
	struct xprt2_req *req = container_of(wc->wr_cqe, struct xprt2_req,
					     rq2_cqe);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		trace_xprt2_wc_error(ep, wc);
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_SEND);
		return;
	}
	xprt2_count(send_completions);
	xprt2_sq_retire(ep, req->rq2_mark);
}

/*
 * Copy the payload pages, and the tail behind them, to where the head ends.
 * A tail usually lies there already, just behind the head, so it moves out
 * of the way first. rq_snd_buf is told, which makes a second pass harmless.
 */
static void pull_up(struct xprt2_req *req, struct xdr_buf *buf)
{
	void *to = buf->head[0].iov_base + buf->head[0].iov_len;

	if (buf->tail[0].iov_len) {
		memmove(to + buf->page_len, buf->tail[0].iov_base,
			buf->tail[0].iov_len);
		buf->tail[0].iov_base = to + buf->page_len;
	}
	if (buf->page_len) {
		read_bytes_from_xdr_buf(buf, buf->head[0].iov_len, to,
					buf->page_len);
		xprt2_count_add(pullup_bytes, buf->page_len);
	}
}

static bool fits_sendbuf(const struct xprt2_req *req, const struct xdr_buf *buf)
{
	const void *head = buf->head[0].iov_base;

	return head >= req->rq2_sendbuf &&
	       head + buf->len <= req->rq2_sendbuf + req->rq2_sendsize;
}

static int gather_sge(struct xprt2_ep *ep, struct xprt2_req *req, u64 dma,
		      unsigned int len)
{
	struct ib_sge *sge = &req->rq2_sge[req->rq2_wr.num_sge];

	if (req->rq2_wr.num_sge == ep->ep_max_sge)
		return -EIO;
	sge->addr = dma;
	sge->length = len;
	sge->lkey = ep->ep_conn.co_pd->local_dma_lkey;
	req->rq2_wr.num_sge++;
	return 0;
}

static int gather_piece(struct xprt2_ep *ep, struct xprt2_req *req,
			const struct rpcrdma2_piece *pc)
{
	struct ib_device *device = ep->ep_conn.co_id->device;
	u64 dma;
	int rc;

	dma = ib_dma_map_page(device, pc->pc_page, pc->pc_off, pc->pc_len,
			      DMA_TO_DEVICE);
	if (ib_dma_mapping_error(device, dma)) {
		xprt2_count(wait_map);
		return -ENOBUFS;
	}
	rc = gather_sge(ep, req, dma, pc->pc_len);
	if (rc) {
		ib_dma_unmap_page(device, dma, pc->pc_len, DMA_TO_DEVICE);
		return rc;
	}
	req->rq2_num_mapped++;
	xprt2_count_add(mapped_bytes, pc->pc_len);
	return 0;
}

/* The tail nearly always lies in the Send buffer, which is mapped already. */
static int gather_rest(struct xprt2_ep *ep, struct xprt2_req *req,
		       const struct xdr_buf *buf, struct rpcrdma2_range rest)
{
	size_t len = min_t(size_t, buf->tail[0].iov_len, rest.ra_len);
	const void *tail = buf->tail[0].iov_base + buf->tail[0].iov_len - len;
	bool mapped = len && tail >= req->rq2_sendbuf &&
		      tail < req->rq2_sendbuf + req->rq2_sendsize;
	u64 dma = req->rq2_dma + (tail - req->rq2_sendbuf);
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;
	int rc = 0;

	if (mapped)
		rest.ra_len -= len;
	rpcrdma2_walk_begin(&wk, buf, &rest, 1);
	while (!rc && rpcrdma2_walk_next(&wk, &pc))
		rc = gather_piece(ep, req, &pc);
	if (rc || !mapped)
		return rc;
	ib_dma_sync_single_for_device(ep->ep_conn.co_id->device, dma, len,
				      DMA_TO_DEVICE);
	return gather_sge(ep, req, dma, len);
}

/**
 * xprt2_prepare_send - build the gather list of a message
 * @ep: endpoint
 * @req: request whose header stands right in front of its head
 * @hdrlen: length of that header
 * @plan: what goes inline
 *
 * Header and head are one entry. A small payload, and the tail, are pulled
 * up behind the head, so most Calls have no other entry; a payload above
 * pullup_max octets is sent from its pages instead, and the Send is then
 * signaled, because its pages are mapped until it completes.
 *
 * Context: send path, receive CQ.
 * Return: 0; -ENOBUFS when pages can not be mapped now; or -EIO when the gather
 * list of this device is too short.
 */
int xprt2_prepare_send(struct xprt2_ep *ep, struct xprt2_req *req, u32 hdrlen,
		       const struct rpcrdma2_call_plan *plan)
{
	struct xdr_buf *buf = &req->rq2_slot.rq_snd_buf;
	u32 behind = buf->page_len + buf->tail[0].iov_len;
	struct rpcrdma2_range rest = { buf->head[0].iov_len, behind };
	struct ib_sge *sge = &req->rq2_sge[0];
	int rc = 0;

	req->rq2_wr.num_sge = 1;
	req->rq2_wr.send_flags = 0;
	req->rq2_num_mapped = 0;
	sge->addr = req->rq2_dma + (buf->head[0].iov_base - hdrlen -
				    req->rq2_sendbuf);
	sge->length = hdrlen;
	sge->lkey = ep->ep_conn.co_pd->local_dma_lkey;

	if (plan->cp_proc == RDMA2_NOMSG)
		goto sync;

	sge->length += buf->head[0].iov_len;
	if (!behind)
		goto sync;
	if (plan->cp_read) {
		/* E-07: the rest begins after the chunk's XDR pad */
		rest.ra_off += buf->page_len + xprt2_pad_len(buf);
		rest.ra_len -= buf->page_len + xprt2_pad_len(buf);
		rc = gather_rest(ep, req, buf, rest);
	} else if (fits_sendbuf(req, buf) &&
		   buf->page_len <= xprt2_param_pullup_max) {
		pull_up(req, buf);
		sge->length += behind;
		ep->ep_xp->xp_stats.st_pullup_bytes += buf->page_len;
	} else {
		rc = gather_rest(ep, req, buf, rest);
	}
	if (rc) {
		unmap_sges(ep, req);
		return rc;
	}
	if (req->rq2_num_mapped)
		req->rq2_wr.send_flags = IB_SEND_SIGNALED;
sync:
	ib_dma_sync_single_for_device(ep->ep_conn.co_id->device, sge->addr,
				      sge->length, DMA_TO_DEVICE);
	return 0;
}

/**
 * xprt2_send_message - post a message behind the registrations it needs
 * @ep: endpoint
 * @req: prepared request
 *
 * Context: send path, receive CQ.
 * Return: 0; -EAGAIN when the Send Queue has no room, after arranging for
 * xprt_write_space() when it has; or -ENOTCONN when the connection is beyond
 * use. The request is not posted then, and its gather list is unmapped.
 */
int xprt2_send_message(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct ib_send_wr *first = &req->rq2_wr;
	unsigned int count = 1, i;
	struct xprt2_mr *mr;
	u32 octets = 0;
	int rc;

	for (i = 0; i < req->rq2_wr.num_sge; i++)
		octets += req->rq2_sge[i].length;

	req->rq2_cqe.done = xprt2_wc_send;
	req->rq2_wr.wr_cqe = &req->rq2_cqe;
	req->rq2_wr.opcode = IB_WR_SEND;
	req->rq2_wr.sg_list = req->rq2_sge;
	req->rq2_wr.next = NULL;
	list_for_each_entry(mr, &req->rq2_mrs, mr_list) {
		mr->mr_reg.wr.next = first;
		first = &mr->mr_reg.wr;
		count++;
	}

	kref_get(&req->rq2_kref);
	rc = post_send(ep, req, first, count);
	trace_xprt2_post_send(ep, req, octets, count, rc);
	if (rc) {
		unmap_sges(ep, req);
		xprt2_req_put(req);
		if (rc == -EAGAIN)
			xprt2_count(wait_sq);
		return rc;
	}
	xprt2_count(doorbells);
	xprt2_count_add(call_bytes, octets);
	xprt2_count_add(registrations, count - 1);
	return 0;
}
