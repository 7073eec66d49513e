// SPDX-License-Identifier: GPL-2.0
/* Send side: marshal an RPC Call with its header, and post messages */
#include <linux/delay.h>
#include <linux/highmem.h>
#include <linux/limits.h>

#include <rpcrdma2/chunks.h>
#include <rpcrdma2/fault.h>

#include "xprtrdma2.h"
#include "trace.h"

/*
 * A Call needs an entry for its Send, each registration, and each LOCAL_INV
 * that follows later: an invalidation cannot wait for room, because other RPCs
 * may wait for the RPC that it ends. Messages that are not Calls cannot wait
 * either: see pure.h. Return false when there are too few; xprt_write_space()
 * follows.
 */
static bool xprt2_send_take_entries(struct xprt2_ep *ep,
				    const struct xprt2_req *req,
				    unsigned int count)
{
	bool control = req->rq2_home != &ep->ep_xp->xp_forward;
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;

	if (!control && rpcrdma2_fault(entries))
		count = INT_MAX / 2;
	if (likely(rpcrdma2_sq_take(&ep->ep_conn, count, control)))
		return true;
	/* Entries that came back before this woke no task. */
	xprt_wait_for_buffer_space(xprt);
	/* XPRT_WRITE_SPACE is visible before un_denied is set. */
	smp_mb__after_atomic();
	if (!rpcrdma2_sq_take(&ep->ep_conn, count, control)) {
		xprt2_count(sq_waits);
		return false;
	}
	xprt_write_space(xprt);
	return true;
}

/* Entries 1 to rq2_num_mapped of the gather list are mapped pages. */
static void xprt2_send_unmap_sges(struct xprt2_ep *ep, struct xprt2_req *req)
{
	unsigned int i;

	for (i = 1; i <= req->rq2_num_mapped; i++)
		ib_dma_unmap_page(ep->ep_conn.co_id->device, req->rq2_sge[i].addr,
				  req->rq2_sge[i].length, DMA_TO_DEVICE);
	/* Pairs with the check in xprt2_holds_memory() */
	smp_store_release(&req->rq2_num_mapped, 0);
}

static struct xprt2_req *xprt2_post_to_req(struct rpcrdma2_post *post)
{
	return container_of(post, struct xprt2_send, se_post)->se_req;
}

static void xprt2_send_put_req(struct xprt2_req *req,
			       const struct rpcrdma2_post *post)
{
	if (unlikely(post->po_timed))
		xprt2_req_end_post(req);
	else
		xprt2_req_put(req);
}

/* Without mapped pages the RPC may be over, or have been sent again. */
static void xprt2_send_done(struct rpcrdma2_conn *co,
			    struct rpcrdma2_post *post, bool ok)
{
	if (post->po_signal && ok)
		xprt2_count(send_completions);
	if (xprt2_post_to_req(post)->rq2_unsent && rpcrdma2_fault(done))
		msleep(20);
	xprt2_send_put_req(xprt2_post_to_req(post), post);
}

static void xprt2_send_pages_done(struct rpcrdma2_conn *co,
				  struct rpcrdma2_post *post, bool ok)
{
	struct xprt2_req *req = xprt2_post_to_req(post);

	xprt2_send_unmap_sges(xprt2_conn_to_ep(co), req);
	/* A full barrier, which wake_up_var() needs for rq2_num_mapped */
	xprt2_release_reply(req);
	/* see xprt2_aborted_await_reply() */
	wake_up_var(xprt2_conn_to_ep(co)->ep_xp);
	xprt2_send_done(co, post, ok);
}

/*
 * Where a small payload is copied to, with the tail behind it. The RPC layer
 * may encode a Call again while the device still reads its last Send, after a
 * timeout or when the connection is being closed, and writes up to rq_callsize
 * then (X2).
 */
static void *xprt2_send_copy(const struct xprt2_req *req)
{
	return req->rq2_sendbuf + XPRT2_HEADROOM + req->rq2_slot.rq_callsize;
}

/* A copied payload makes the Send two gather entries. */
static bool xprt2_send_pulls_up(const struct xprt2_req *req,
				const struct xdr_buf *buf)
{
	return req->rq2_small && buf->page_len &&
	       xprt2_send_copy(req) + buf->page_len + buf->tail[0].iov_len <=
	       req->rq2_sendbuf + req->rq2_sendsize;
}

/*
 * A Call with all of its payload fits one Send. When a small payload only lacks
 * room in the Send buffer, the buffer is made larger for the next Call: few
 * slots carry many small payloads.
 */
static bool xprt2_can_gather(const struct xprt2_ep *ep, struct xprt2_req *req)
{
	const struct xdr_buf *buf = &req->rq2_slot.rq_snd_buf;
	const struct rpcrdma2_range behind = {
		buf->head[0].iov_len, buf->page_len + buf->tail[0].iov_len };
	struct rpcrdma2_walk wk;

	if (likely(!buf->page_len))
		return true;
	/* With fault injection the result may change, so keep it. */
	req->rq2_small = buf->page_len <= XPRT2_PULLUP_MAX &&
			 !rpcrdma2_fault(pullup);
	if (xprt2_send_pulls_up(req, buf))
		return true;
	if (req->rq2_small &&
	    rpcrdma2_hdr_min(ep->ep_vers) + buf->len <=
	    READ_ONCE(ep->ep_call_threshold))
		req->rq2_pullup_size = xprt2_send_copy(req) - req->rq2_sendbuf +
				       behind.ra_len;
	rpcrdma2_walk_begin(&wk, buf, &behind, 1);
	return 1 + rpcrdma2_walk_count(wk) <= ep->ep_max_sge;
}

static void xprt2_send_gather_sge(const struct xprt2_ep *ep,
				  struct xprt2_req *req, u64 dma,
				  unsigned int len)
{
	req->rq2_sge[req->rq2_wr.num_sge++] = (struct ib_sge){
		.addr	= dma,
		.length = len,
		.lkey	= ep->ep_conn.co_pd->local_dma_lkey,
	};
}

static int xprt2_send_gather_piece(struct xprt2_ep *ep, struct xprt2_req *req,
				   const struct rpcrdma2_piece *pc)
{
	struct ib_device *device = ep->ep_conn.co_id->device;
	u64 dma;

	if (req->rq2_wr.num_sge == ep->ep_max_sge)
		return -EIO;
	if (rpcrdma2_fault(map_send))
		goto out_wait;
	dma = ib_dma_map_page(device, pc->pc_page, pc->pc_off, pc->pc_len,
			      DMA_TO_DEVICE);
	if (ib_dma_mapping_error(device, dma))
		goto out_wait;
	xprt2_send_gather_sge(ep, req, dma, pc->pc_len);
	req->rq2_num_mapped++;
	xprt2_count_add(mapped_bytes, pc->pc_len);
	return 0;

out_wait:
	xprt2_count(map_waits);
	return -ENOBUFS;
}

/* A part of the Send buffer, which is mapped already */
static void xprt2_send_gather_own(const struct xprt2_ep *ep,
				  struct xprt2_req *req, const void *part,
				  u32 len)
{
	u64 dma = req->rq2_dma + (part - req->rq2_sendbuf);

	ib_dma_sync_single_for_device(ep->ep_conn.co_id->device, dma, len,
				      DMA_TO_DEVICE);
	xprt2_send_gather_sge(ep, req, dma, len);
}

/* Copy the payload and the tail. */
static void xprt2_send_pull_up(const struct xprt2_ep *ep,
			       struct xprt2_req *req, const struct xdr_buf *buf,
			       struct rpcrdma2_range rest)
{
	void *copy = xprt2_send_copy(req), *to = copy;
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;
	u32 n;

	rpcrdma2_walk_begin(&wk, buf, &rest, 1);
	while (rpcrdma2_walk_next(&wk, &pc)) {
		/* At most a page, so the compiler copies without a call. */
		n = min_t(u32, pc.pc_len, PAGE_SIZE);
		memcpy_from_page(to, pc.pc_page, pc.pc_off, n);
		to += n;
	}
	xprt2_send_gather_own(ep, req, copy, rest.ra_len);
	xprt2_count_add(pullup_bytes, buf->page_len);
	ep->ep_xp->xp_stats.st_pullup_bytes += buf->page_len;
}

/* The tail nearly always lies in the Send buffer. */
static int xprt2_send_gather_rest(struct xprt2_ep *ep, struct xprt2_req *req,
				  const struct xdr_buf *buf,
				  struct rpcrdma2_range rest)
{
	size_t len = min_t(size_t, buf->tail[0].iov_len, rest.ra_len);
	const void *tail = buf->tail[0].iov_base + buf->tail[0].iov_len - len;
	bool mapped = len && tail >= req->rq2_sendbuf &&
		      tail < req->rq2_sendbuf + req->rq2_sendsize;
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;
	int ret = 0;

	if (mapped)
		rest.ra_len -= len;
	rpcrdma2_walk_begin(&wk, buf, &rest, 1);
	while (!ret && rpcrdma2_walk_next(&wk, &pc))
		ret = xprt2_send_gather_piece(ep, req, &pc);
	if (ret || !mapped)
		return ret;
	if (req->rq2_wr.num_sge == ep->ep_max_sge)
		return -EIO;
	xprt2_send_gather_own(ep, req, tail, len);
	return 0;
}

/**
 * xprt2_prepare_send - build the gather list of a message
 * @ep: endpoint
 * @req: request whose header stands right in front of its head
 * @hdrlen: length of that header
 * @plan: selects the parts that go inline
 *
 * Header and head are one entry, a small payload and the tail another. A larger
 * payload is sent from its pages, which are mapped until the Send completes: it
 * is signaled.
 *
 * Context: send path, receive CQ.
 * Return: 0; -ENOBUFS when pages cannot be mapped now; or -EIO when the gather
 * list of this device is too short.
 */
int xprt2_prepare_send(struct xprt2_ep *ep, struct xprt2_req *req, u32 hdrlen,
		       const struct rpcrdma2_call_plan *plan)
{
	struct xdr_buf *buf = &req->rq2_slot.rq_snd_buf;
	u32 behind = buf->page_len + buf->tail[0].iov_len;
	struct rpcrdma2_range rest = { buf->head[0].iov_len, behind };
	struct ib_sge *sge = &req->rq2_sge[0];
	int ret = 0;

	req->rq2_wr.num_sge = 1;
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
		/* the rest begins after the chunk's XDR pad (E-07) */
		rest.ra_off += buf->page_len + rpcrdma2_pad_len(buf);
		rest.ra_len -= buf->page_len + rpcrdma2_pad_len(buf);
		ret = xprt2_send_gather_rest(ep, req, buf, rest);
	} else if (xprt2_send_pulls_up(req, buf)) {
		xprt2_send_pull_up(ep, req, buf, rest);
	} else {
		ret = xprt2_send_gather_rest(ep, req, buf, rest);
	}
	if (ret) {
		xprt2_send_unmap_sges(ep, req);
		return ret;
	}
sync:
	/* a killed RPC that has its Reply waits for this Send alone (S46) */
	xprt2_req_post(req)->po_signal = req->rq2_num_mapped;
	xprt2_req_post(req)->po_timed = req->rq2_num_mapped;
	ib_dma_sync_single_for_device(ep->ep_conn.co_id->device, sge->addr,
				      sge->length, DMA_TO_DEVICE);
	return 0;
}

/*
 * From now on a Reply matches this request (X6). A server can guess an xid and
 * reply too soon, but the LOCAL_INV for such a Reply is behind this chain,
 * which has the REG_MR of the region.
 */
static void xprt2_send_begin(struct rpcrdma2_conn *co,
			     struct rpcrdma2_post *post)
{
	struct xprt2_req *req = xprt2_post_to_req(post);

	atomic_set(&req->rq2_holds, req->rq2_num_mapped ? 2 : 1);
	WRITE_ONCE(req->rq2_late, false);
	/* Pairs with xprt2_find_rqst_locked() */
	smp_store_release(&req->rq2_ep, xprt2_conn_to_ep(co));
}

/*
 * Unmap the pages of a Send that was not posted. With @held there may already
 * be a Reply, because a server can guess an xid: this Send no longer delays it.
 */
static void xprt2_send_drop_pages(struct xprt2_ep *ep, struct xprt2_req *req,
				  bool held)
{
	if (!req->rq2_num_mapped)
		return;
	xprt2_send_unmap_sges(ep, req);
	if (held)
		xprt2_release_reply(req);
}

/**
 * xprt2_send_message - post a message behind the registrations it needs
 * @ep: endpoint
 * @req: prepared request. On error it is not posted, and its pages are unmapped
 *
 * Context: send path, receive CQ.
 * Return: 0; -EAGAIN without room in the Send Queue, xprt_write_space() follows;
 * -ENOBUFS when the server's Receives have become too small (C-034), so the
 * message must be marshalled again; or -ENOTCONN.
 */
int xprt2_send_message(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct rpcrdma2_post *post = xprt2_req_post(req);
	struct ib_send_wr *first = &req->rq2_wr;
	unsigned int count = 1, i;
	u32 bytes = 0;
	int ret;

	for (i = 0; i < req->rq2_wr.num_sge; i++)
		bytes += req->rq2_sge[i].length;

	req->rq2_wr.opcode = IB_WR_SEND;
	if (unlikely(req->rq2_inv_handle)) {		/* C-009 */
		req->rq2_wr.opcode = IB_WR_SEND_WITH_INV;
		req->rq2_wr.ex.invalidate_rkey = req->rq2_inv_handle;
	}
	req->rq2_wr.sg_list = req->rq2_sge;
	req->rq2_wr.next = NULL;
	post->po_bytes = ep->ep_vers == RPCRDMA2_VERS_TWO ? bytes : 0;
	post->po_begin = xprt2_send_begin;
	post->po_done = req->rq2_num_mapped ? xprt2_send_pages_done :
					      xprt2_send_done;
	if (rpcrdma2_is_exposed(&req->rq2_exposed))
		count += rpcrdma2_exposed_chain(&req->rq2_exposed, &first);

	ret = -EAGAIN;
	if (xprt2_send_take_entries(ep, req, 2 * count - 1)) {
		if (unlikely(post->po_timed))
			xprt2_req_begin_post(req);
		else
			kref_get(&req->rq2_kref);
		ret = rpcrdma2_sq_post(&ep->ep_conn, post, first);
		if (ret)
			xprt2_send_put_req(req, post);
		if (ret == -EMSGSIZE) {
			/* the entries for the LOCAL_INVs */
			rpcrdma2_sq_give(&ep->ep_conn, count - 1);
			xprt2_count(calls_marshalled_again);
			ret = -ENOBUFS;
		}
	}
	trace_xprt2_post_send(ep, req, bytes, ret);
	if (ret) {
		xprt2_send_drop_pages(ep, req, ret == -ENOTCONN);
		return ret;
	}
	xprt2_count(doorbells);
	xprt2_count_add(call_bytes, bytes);
	xprt2_count_add(registrations, count - 1);
	return 0;
}

/**
 * xprt2_post_backward - post a message that is no forward Call
 * @ep: endpoint
 * @req: request from xprt2_backward_req(). These are few: the Send is signaled
 * @hdrlen: bytes in front of rq_snd_buf
 * @proc: RDMA2_MSG, or RDMA2_NOMSG to send these bytes alone
 * @apart: the pages are in a Write chunk
 *
 * Return: as xprt2_send_message() or xprt2_prepare_send().
 */
int xprt2_post_backward(struct xprt2_ep *ep, struct xprt2_req *req,
			size_t hdrlen, u32 proc, bool apart)
{
	const struct rpcrdma2_call_plan plan = {
		.cp_proc = proc,
		.cp_read = apart,
	};
	int ret;

	ret = xprt2_req_map(ep, req);
	req->rq2_small = req->rq2_slot.rq_snd_buf.page_len <= XPRT2_PULLUP_MAX;
	if (!ret)
		ret = xprt2_prepare_send(ep, req, hdrlen, &plan);
	if (ret)
		return ret;
	xprt2_req_post(req)->po_signal = true;
	/* the task waits, as for mapped pages: xprt2_req_await_posts() */
	xprt2_req_post(req)->po_timed |= !!req->rq2_chunked;
	return xprt2_send_message(ep, req);
}

/*
 * Marshal a Call. rpcrdma2_plan_call() chooses from sizes alone how the Call
 * and its Reply travel. The header is built in the headroom of the Send buffer,
 * right in front of the Call's head, so one gather entry covers both.
 */

/*
 * A region has no holes. Head, pages and tail are one region when the head ends
 * at the end of a page and the tail begins at the start of a page. A receive
 * buffer of two pages, which is the least with pages of 4 KiB, has room to place
 * both that way.
 */
static bool xprt2_marshal_can_close_gaps(const struct xprt2_req *req,
					 const struct xdr_buf *buf)
{
	size_t tail = buf->tail[0].iov_len;

	return buf->page_len && !offset_in_page(buf->page_base) &&
	       !(tail && offset_in_page(buf->page_len)) &&
	       buf->head[0].iov_len <= PAGE_SIZE &&
	       PAGE_SIZE + tail <= req->rq2_recvsize;
}

/* Copy data in rq2_plainbuf to the same offset in the Send buffer. */
static void xprt2_send_copy_out(const struct xprt2_req *req, struct kvec *vec)
{
	size_t at = (uintptr_t)vec->iov_base - (uintptr_t)req->rq2_plainbuf;

	if (at < req->rq2_plainsize)
		vec->iov_base = memcpy(req->rq2_sendbuf + XPRT2_HEADROOM + at,
				       vec->iov_base, vec->iov_len);
}

/*
 * RPCSEC_GSS has finished with the Call (X8). The device may still retransmit
 * an earlier Send from the Send buffer, but this data would be sent anyway.
 */
static void xprt2_marshal_take_encoded(struct xprt2_req *req)
{
	struct xdr_buf *buf = &req->rq2_slot.rq_snd_buf;

	if (likely(buf->head[0].iov_base != req->rq2_plainbuf))
		return;
	xprt2_send_copy_out(req, &buf->head[0]);
	xprt2_send_copy_out(req, &buf->tail[0]);
}

/* Segments of a whole message, with its gaps closed where possible */
static unsigned int xprt2_marshal_count_closed(const struct xprt2_ep *ep,
					       const struct xprt2_req *req,
					       const struct xdr_buf *buf)
{
	if (!xprt2_marshal_can_close_gaps(req, buf))
		return rpcrdma2_offer_segs(&ep->ep_conn, buf,
					   RPCRDMA2_PART_ALL);
	/* the head is in one page */
	return DIV_ROUND_UP(1 + PFN_UP(buf->page_len) +
			    PFN_UP(buf->tail[0].iov_len),
			    ep->ep_conn.co_regions.rg_depth);
}

static void xprt2_marshal_measure(const struct xprt2_ep *ep,
				  struct xprt2_req *req,
				  struct rpcrdma2_call_sizes *sz)
{
	const struct rpc_rqst *rqst = &req->rq2_slot;
	const struct xdr_buf *call = &rqst->rq_snd_buf;
	const struct xdr_buf *reply = &rqst->rq_rcv_buf;

	sz->sz_hdr_min = rpcrdma2_hdr_min(ep->ep_vers);
	/* a short first message, alone until it is answered (C-097, C-098) */
	sz->sz_call_threshold = READ_ONCE(ep->ep_call_threshold);
	if (!READ_ONCE(ep->ep_grant))
		sz->sz_call_threshold = min_t(u32, sz->sz_call_threshold,
					      RPCRDMA2_INLINE_FIRST);
	sz->sz_reply_threshold = READ_ONCE(ep->ep_reply_threshold);
	/* A stale limit costs one more refusal. */
	sz->sz_limits = data_race(ep->ep_limits);

	/* no chunks for data that RPCSEC_GSS signs or encrypts (E-26) */
	rpcrdma2_offer_sizes(sz, call, reply, !xprt2_touches_data(rqst));
	sz->sz_call_scattered = !xprt2_can_gather(ep, req);
	sz->sz_copy_max = req->rq2_recvsize;
	/*
	 * The upper layer has no pages yet, because it does not expect the
	 * longest Reply: offer no memory for that. A server with a longer Reply
	 * requests memory (C-091), and the Call, a GETACL, can be repeated.
	 */
	if ((reply->flags & XDRBUF_SPARSE_PAGES) &&
	    ep->ep_vers != RPCRDMA2_VERS_ONE && !req->rq2_reply_needed)
		sz->sz_reply_pages = 0;
	sz->sz_reply_needed = req->rq2_reply_needed;

	if (rpcrdma2_fits_inline(sz))
		return;
	rpcrdma2_offer_measure(&ep->ep_conn, sz, call, reply);
	sz->sz_closed_segs = xprt2_marshal_count_closed(ep, req, call);
	sz->sz_reply_segs = xprt2_marshal_count_closed(ep, req, reply);
}

/*
 * Allocate the pages of a Reply whose buffer has none yet: all of them for a
 * chunk, otherwise those for the length that can come inline
 */
static int
xprt2_marshal_fill_sparse_pages(const struct xprt2_ep *ep, struct xdr_buf *buf,
				const struct rpcrdma2_call_plan *plan)
{
	u32 bytes = buf->page_len;
	unsigned int i, count;
	struct page **ppage;

	if (likely(!(buf->flags & XDRBUF_SPARSE_PAGES)))
		return 0;
	if (!plan->cp_write && !plan->cp_reply)
		bytes = min(bytes, ep->ep_recv_size);
	ppage = buf->pages + (buf->page_base >> PAGE_SHIFT);
	count = DIV_ROUND_UP(offset_in_page(buf->page_base) + bytes,
			     PAGE_SIZE);
	for (i = 0; i < count; i++) {
		if (!ppage[i])
			ppage[i] = alloc_page(GFP_NOWAIT | __GFP_NOWARN);
		if (!ppage[i])
			return -ENOBUFS;
	}
	return 0;
}

static void xprt2_marshal_move_to_recvbuf(const struct xprt2_req *req,
					  struct xdr_buf *buf)
{
	buf->head[0].iov_base = req->rq2_recvbuf + PAGE_SIZE -
				buf->head[0].iov_len;
	if (buf->tail[0].iov_len)
		buf->tail[0].iov_base = req->rq2_recvbuf + PAGE_SIZE;
}

/* Head and tail of rq_rcv_buf are still empty: only the pointers move. */
static void xprt2_marshal_close_reply_gaps(struct xprt2_req *req)
{
	struct rpc_rqst *rqst = &req->rq2_slot;

	if (!xprt2_marshal_can_close_gaps(req, &rqst->rq_rcv_buf))
		return;
	xprt2_marshal_move_to_recvbuf(req, &rqst->rq_rcv_buf);
	rqst->rq_private_buf.head[0] = rqst->rq_rcv_buf.head[0];
	rqst->rq_private_buf.tail[0] = rqst->rq_rcv_buf.tail[0];
}

/*
 * Choose the memory to register for a Position-Zero chunk of a whole Call. Head
 * and tail, a few hundred bytes, are copied to close the gaps; the whole Call
 * is copied where it has to be one piece. rq_snd_buf stays as it is. When a
 * Reply chunk needs the receive buffer, nothing is copied: three regions.
 */
static const struct xdr_buf *
xprt2_marshal_close_call_gaps(struct xprt2_req *req,
			      const struct rpcrdma2_call_plan *plan,
			      struct xdr_buf *copy)
{
	const struct xdr_buf *buf = &req->rq2_slot.rq_snd_buf;

	if (plan->cp_copy) {
		xdr_buf_init(copy, req->rq2_recvbuf, buf->len);
		copy->head[0].iov_len = buf->len;
		read_bytes_from_xdr_buf(buf, 0, req->rq2_recvbuf, buf->len);
		return copy;
	}
	if (plan->cp_reply || !xprt2_marshal_can_close_gaps(req, buf))
		return buf;
	*copy = *buf;
	xprt2_marshal_move_to_recvbuf(req, copy);
	memcpy(copy->head[0].iov_base, buf->head[0].iov_base,
	       buf->head[0].iov_len);
	memcpy(copy->tail[0].iov_base, buf->tail[0].iov_base,
	       buf->tail[0].iov_len);
	return copy;
}

static int xprt2_marshal_register_chunks(struct xprt2_ep *ep,
					 struct xprt2_req *req,
					 const struct rpcrdma2_call_plan *plan,
					 struct rpcrdma2_hdr *h)
{
	const struct xdr_buf *call = &req->rq2_slot.rq_snd_buf, *whole = call;
	struct xdr_buf copy;
	int ret;

	if (plan->cp_poszero) {
		if (rpcrdma2_fault(poszero))
			return -EIO;
		if (!plan->cp_read)
			whole = xprt2_marshal_close_call_gaps(req, plan, &copy);
	}
	if (plan->cp_reply && !plan->cp_write)
		xprt2_marshal_close_reply_gaps(req);
	ret = rpcrdma2_offer(&ep->ep_conn, &req->rq2_exposed, plan, call, whole,
			     &req->rq2_slot.rq_rcv_buf, h);
	if (ret == -ENOBUFS)
		xprt2_count(map_waits);
	return ret;
}

/*
 * Record the limits for lengths in the Reply, and count the chunks. A Call
 * without chunks writes no figure of the transport.
 */
static void xprt2_marshal_note_chunks(struct xprt2_ep *ep,
				      struct xprt2_req *req,
				      const struct rpcrdma2_call_plan *plan,
				      const struct rpcrdma2_hdr *h)
{
	struct xprt2_stats *st = &ep->ep_xp->xp_stats;

	req->rq2_write_max = plan->cp_write ? h->h_writes[0].ck_length : 0;
	req->rq2_reply_max = plan->cp_reply ? h->h_reply.ck_length : 0;
	if (likely(!h->h_nsegs))
		return;
	st->st_request_bytes += req->rq2_write_max + req->rq2_reply_max;
	st->st_nomsg_calls += plan->cp_poszero;
	st->st_read_chunks += plan->cp_read;
	st->st_write_chunks += plan->cp_write;
	st->st_reply_chunks += plan->cp_reply;
	xprt2_count_add(calls_nomsg, plan->cp_poszero);
	xprt2_count_add(read_chunks, plan->cp_read);
	xprt2_count_add(write_chunks, plan->cp_write);
	xprt2_count_add(reply_chunks, plan->cp_reply);
	if (plan->cp_read)
		xprt2_count_add(read_chunk_bytes,
				h->h_reads[h->h_nreads - 1].ck_length);
}

static_assert(RPCRDMA2_HDR_MIN + XPRT2_MAX_SEGS * RPCRDMA2_READ_SEG_LEN +
	      RPCRDMA2_REPLY_CHUNK_LEN + XPRT2_OTHER_SEGS * RPCRDMA2_SEG_LEN <=
	      XPRT2_HEADROOM);

/**
 * xprt2_encode_header - build a header in front of the message's head
 * @req: request with the message in rq_snd_buf
 * @h: the header
 * @len: its length
 *
 * Return: 0; -EMSGSIZE when it exceeds the headroom.
 */
int xprt2_encode_header(struct xprt2_req *req, const struct rpcrdma2_hdr *h,
			size_t len)
{
	void *rpc = req->rq2_slot.rq_snd_buf.head[0].iov_base;

	if (len > XPRT2_HEADROOM)
		return -EMSGSIZE;
	rpcrdma2_encode_hdr(rpc - len, h);
	return 0;
}

/*
 * Replaces the function that frees the pages RPCSEC_GSS has encrypted a Call
 * into. The RPC layer calls it after ->buf_free, and in call_encode() to
 * encrypt again, after a timeout with the connection still open. The RPC is on
 * no queue and not pinned.
 */
static void xprt2_release_pages(struct rpc_rqst *rqst)
{
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);

	if (xprt2_holds_memory(req)) {
		xprt2_count(pages_revoked);
		xprt2_revoke(req, false);
	}
	rqst->rq_release_snd_buf = req->rq2_release_pages;
	rqst->rq_release_snd_buf(rqst);
}

/* From now on the device may access the pages of the encrypted Call (X2). */
static void xprt2_marshal_guard_pages(struct rpc_rqst *rqst)
{
	if (likely(!rqst->rq_release_snd_buf) ||
	    rqst->rq_release_snd_buf == xprt2_release_pages)
		return;
	xprt2_rqst_to_req(rqst)->rq2_release_pages = rqst->rq_release_snd_buf;
	rqst->rq_release_snd_buf = xprt2_release_pages;
}

/**
 * xprt2_marshal_call - prepare a Call for posting
 * @ep: endpoint
 * @req: request with its encoded RPC Call
 *
 * Context: send path.
 * Return: 0, then the caller posts it or calls rpcrdma2_unexpose(); -EAGAIN to
 * be called again after xprt_write_space(); -ENOBUFS to be called again after a
 * delay; other errors when it can never be sent.
 */
int xprt2_marshal_call(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct rpc_rqst *rqst = &req->rq2_slot;
	struct rpcrdma2_hdr *h = &ep->ep_xp->xp_hdr;
	struct rpcrdma2_call_plan plan;
	struct rpcrdma2_call_sizes sz;
	size_t hdrlen;
	int ret;

	xprt2_put_rep(req);
	xprt2_marshal_take_encoded(req);
	ret = xprt2_req_map(ep, req);
	if (ret)
		return ret;

	xprt2_marshal_measure(ep, req, &sz);
	ret = rpcrdma2_plan_call(&sz, &plan) ?:
	      xprt2_marshal_fill_sparse_pages(ep, &rqst->rq_rcv_buf, &plan);
	if (ret)
		goto out_unregister;

	rpcrdma2_hdr_begin(h, be32_to_cpu(rqst->rq_xid), ep->ep_vers,
			   ep->ep_max_reqs, plan.cp_proc, RDMA2_CALL);
	if (plan.cp_read | plan.cp_poszero | plan.cp_write | plan.cp_reply)
		ret = xprt2_marshal_register_chunks(ep, req, &plan, h);
	if (ret)
		goto out_unregister;

	hdrlen = rpcrdma2_hdr_size(h);
	ret = xprt2_encode_header(req, h, hdrlen) ?:
	      xprt2_prepare_send(ep, req, hdrlen, &plan);
	if (ret)
		goto out_unregister;
	xprt2_marshal_guard_pages(rqst);
	xprt2_marshal_note_chunks(ep, req, &plan, h);
	trace_xprt2_marshal(req, h, hdrlen);
	return 0;

out_unregister:
	rpcrdma2_unexpose(&ep->ep_conn, &req->rq2_exposed);
	if (ret == -EAGAIN) {
		xprt2_count(mr_waits);
		rpcrdma2_await_regions(&ep->ep_conn, rqst->rq_xprt);
	}
	ep->ep_xp->xp_stats.st_failed_marshal++;
	return ret;
}
