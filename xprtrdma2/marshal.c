// SPDX-License-Identifier: GPL-2.0
/*
 * From an RPC Call to a transport header: choose how the Call and its Reply
 * travel, register what does not fit inline, and lay the header out.
 *
 * The choice is rpcrdma2_plan_call(), made of sizes alone.
 *
 * The header is built right in front of the Call's head, in the headroom of
 * the Send buffer, so that one gather entry covers both.
 */
#include "xprtrdma2.h"

#include <rpcrdma2/codec.h>
#include <rpcrdma2/fault.h>
#include <rpcrdma2/offer.h>

#include "trace.h"

/*
 * A region has no holes. A chunk of head, pages and tail is one region when
 * the head ends at the end of a page and the tail begins at the start of one.
 * The receive buffer, two pages at least, has room for both to be so.
 */
static bool can_close_gaps(const struct xprt2_req *req,
			   const struct xdr_buf *buf)
{
	size_t tail = buf->tail[0].iov_len;

	return buf->page_len && !offset_in_page(buf->page_base) &&
	       !(tail && offset_in_page(buf->page_len)) &&
	       buf->head[0].iov_len <= PAGE_SIZE &&
	       PAGE_SIZE + tail <= req->rq2_recvsize;
}

/* What lies in rq2_plainbuf goes to the same place in the Send buffer. */
static void copy_out(const struct xprt2_req *req, struct kvec *vec)
{
	size_t at = (uintptr_t)vec->iov_base - (uintptr_t)req->rq2_plainbuf;

	if (at < req->rq2_plainsize)
		vec->iov_base = memcpy(req->rq2_sendbuf + XPRT2_HEADROOM + at,
				       vec->iov_base, vec->iov_len);
}

/*
 * X8: RPCSEC_GSS has done with the Call. The Send buffer may be overwritten under
 * a Send that the device repeats, but only with what would be sent anyway.
 */
static void take_encoded(struct xprt2_req *req)
{
	struct xdr_buf *buf = &req->rq2_slot.rq_snd_buf;

	if (likely(buf->head[0].iov_base != req->rq2_plainbuf))
		return;
	copy_out(req, &buf->head[0]);
	copy_out(req, &buf->tail[0]);
}

/* A chunk of all of a message, with its gaps closed where they can be */
static unsigned int count_closed(const struct xprt2_ep *ep,
				 const struct xprt2_req *req,
				 const struct xdr_buf *buf)
{
	if (!can_close_gaps(req, buf))
		return rpcrdma2_offer_segs(&ep->ep_conn, buf,
					   RPCRDMA2_PART_ALL);
	/* the head is in one page */
	return DIV_ROUND_UP(1 + PFN_UP(buf->page_len) +
			    PFN_UP(buf->tail[0].iov_len),
			    ep->ep_conn.co_regions.rg_depth);
}

static void measure_chunks(const struct xprt2_ep *ep,
			   const struct xprt2_req *req,
			   struct rpcrdma2_call_sizes *sz)
{
	const struct xdr_buf *call = &req->rq2_slot.rq_snd_buf;
	const struct xdr_buf *reply = &req->rq2_slot.rq_rcv_buf;

	rpcrdma2_offer_measure(&ep->ep_conn, sz, call, reply);
	sz->sz_closed_segs = count_closed(ep, req, call);
	sz->sz_reply_segs = count_closed(ep, req, reply);
}

/*
 * The upper layer has no pages yet, for it does not expect the longest Reply. So
 * no memory is offered for that; a server that has more to say asks for memory
 * (C-091), and the Call, a GETACL, can be carried out twice.
 */
static bool is_seldom_long(const struct xprt2_ep *ep,
			   const struct xprt2_req *req)
{
	return (req->rq2_slot.rq_rcv_buf.flags & XDRBUF_SPARSE_PAGES) &&
	       ep->ep_vers != RPCRDMA2_VERS_ONE && !req->rq2_reply_needed;
}

static void measure(const struct xprt2_ep *ep, struct xprt2_req *req,
		    struct rpcrdma2_call_sizes *sz)
{
	const struct rpc_rqst *rqst = &req->rq2_slot;
	const struct xdr_buf *call = &rqst->rq_snd_buf;
	const struct xdr_buf *reply = &rqst->rq_rcv_buf;

	sz->sz_hdr_min = rpcrdma2_hdr_min(ep->ep_vers);
	/* C-097, C-098: a short first message, alone until it is answered */
	sz->sz_call_threshold = READ_ONCE(ep->ep_call_threshold);
	if (!READ_ONCE(ep->ep_grant))
		sz->sz_call_threshold = min_t(u32, sz->sz_call_threshold,
					      RPCRDMA2_INLINE_FIRST);
	sz->sz_reply_threshold = READ_ONCE(ep->ep_reply_threshold);
	/* A limit that is seen late costs one more refusal. */
	sz->sz_limits = data_race(ep->ep_limits);

	rpcrdma2_offer_sizes(sz, call, reply,
			     !xprt2_touches_data(rqst));	/* E-26 */
	sz->sz_call_scattered = !xprt2_can_gather(ep, req);
	sz->sz_copy_max = req->rq2_recvsize;
	if (is_seldom_long(ep, req))
		sz->sz_reply_pages = 0;
	sz->sz_reply_needed = req->rq2_reply_needed;

	if (!rpcrdma2_fits_inline(sz))
		measure_chunks(ep, req, sz);
}

/*
 * Some Replies have their pages allocated when they are needed, and that is now, as
 * far as the Reply can come inline. A chunk is for all of them.
 */
static int fill_sparse_pages(const struct xprt2_ep *ep, struct xdr_buf *buf,
			     const struct rpcrdma2_call_plan *plan)
{
	u32 octets = buf->page_len;
	unsigned int i, count;
	struct page **ppage;

	if (likely(!(buf->flags & XDRBUF_SPARSE_PAGES)))
		return 0;
	if (!plan->cp_write && !plan->cp_reply)
		octets = min(octets, ep->ep_recv_size);
	ppage = buf->pages + (buf->page_base >> PAGE_SHIFT);
	count = DIV_ROUND_UP(offset_in_page(buf->page_base) + octets,
			     PAGE_SIZE);
	for (i = 0; i < count; i++) {
		if (!ppage[i])
			ppage[i] = alloc_page(GFP_NOWAIT | __GFP_NOWARN);
		if (!ppage[i])
			return -ENOBUFS;
	}
	return 0;
}

static void move_to_recvbuf(const struct xprt2_req *req, struct xdr_buf *buf)
{
	buf->head[0].iov_base = req->rq2_recvbuf + PAGE_SIZE -
				buf->head[0].iov_len;
	if (buf->tail[0].iov_len)
		buf->tail[0].iov_base = req->rq2_recvbuf + PAGE_SIZE;
}

/* Nothing is in head and tail of rq_rcv_buf yet: only the pointers move. */
static void close_reply_gaps(struct xprt2_req *req)
{
	struct rpc_rqst *rqst = &req->rq2_slot;

	if (!can_close_gaps(req, &rqst->rq_rcv_buf))
		return;
	move_to_recvbuf(req, &rqst->rq_rcv_buf);
	rqst->rq_private_buf.head[0] = rqst->rq_rcv_buf.head[0];
	rqst->rq_private_buf.tail[0] = rqst->rq_rcv_buf.tail[0];
}

/*
 * What of a Call to register for a Position-Zero chunk of all of it. Its head
 * and tail are copied, a few hundred octets; all of it where it has to be one
 * piece. rq_snd_buf stays as it is, and @copy describes what to register. The
 * receive buffer that a Reply chunk needs is not to be had; the chunk has three
 * regions then.
 */
static const struct xdr_buf *close_call_gaps(struct xprt2_req *req,
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
	if (plan->cp_reply || !can_close_gaps(req, buf))
		return buf;
	*copy = *buf;
	move_to_recvbuf(req, copy);
	memcpy(copy->head[0].iov_base, buf->head[0].iov_base,
	       buf->head[0].iov_len);
	memcpy(copy->tail[0].iov_base, buf->tail[0].iov_base,
	       buf->tail[0].iov_len);
	return copy;
}

static int register_chunks(struct xprt2_ep *ep, struct xprt2_req *req,
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
			whole = close_call_gaps(req, plan, &copy);
	}
	if (plan->cp_reply && !plan->cp_write)
		close_reply_gaps(req);
	ret = rpcrdma2_offer(&ep->ep_conn, &req->rq2_exposed, plan, call, whole,
			     &req->rq2_slot.rq_rcv_buf, h);
	if (ret == -ENOBUFS)
		xprt2_count(map_waits);
	return ret;
}

/* What a Reply may say was written, and what the counters say of the chunks */
static void note_chunks(struct xprt2_ep *ep, struct xprt2_req *req,
			const struct rpcrdma2_call_plan *plan,
			const struct rpcrdma2_hdr *h)
{
	struct xprt2_stats *st = &ep->ep_xp->xp_stats;

	req->rq2_write_max = plan->cp_write ? h->h_writes[0].ck_length : 0;
	req->rq2_reply_max = plan->cp_reply ? h->h_reply.ck_length : 0;
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

/**
 * xprt2_encode_header - lay a header out in front of the message's head
 * @req: request with the message in rq_snd_buf
 * @h: the header
 * @len: its length
 *
 * Return: 0; -EMSGSIZE when there is too little room; -EINVAL.
 */
int xprt2_encode_header(struct xprt2_req *req, const struct rpcrdma2_hdr *h,
			size_t len)
{
	void *rpc = req->rq2_slot.rq_snd_buf.head[0].iov_base;

	if (len > XPRT2_HEADROOM)
		return -EMSGSIZE;
	return min(rpcrdma2_encode_hdr(rpc - len, h), 0);
}

/*
 * Stands for the function that frees the pages RPCSEC_GSS has encrypted a Call
 * into. That is called when the Call is encrypted again, in call_encode(), which
 * after a timeout does not wait until the connection is closed; and after
 * ->buf_free. Either way the RPC is on no queue and not pinned.
 */
static void xprt2_release_pages(struct rpc_rqst *rqst)
{
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);

	if (xprt2_holds_memory(req)) {
		xprt2_count(pages_revoked);
		xprt2_fence_now(req);
	}
	rqst->rq_release_snd_buf = req->rq2_release_pages;
	rqst->rq_release_snd_buf(rqst);
}

/* X2: from now on the device may reach what the Call was encrypted into. */
static void guard_pages(struct rpc_rqst *rqst)
{
	if (likely(!rqst->rq_release_snd_buf) ||
	    rqst->rq_release_snd_buf == xprt2_release_pages)
		return;
	xprt2_rqst_to_req(rqst)->rq2_release_pages = rqst->rq_release_snd_buf;
	rqst->rq_release_snd_buf = xprt2_release_pages;
}

/**
 * xprt2_marshal_call - make a Call ready to be posted
 * @ep: endpoint
 * @req: request with its encoded RPC Call
 *
 * Context: send path.
 * Return: 0, then the caller posts it or calls rpcrdma2_unexpose();
 * -EAGAIN to be called again when xprt_write_space() says so; -ENOBUFS to be
 * called again after a delay; others when it can not be sent, ever.
 */
int xprt2_marshal_call(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct rpc_rqst *rqst = &req->rq2_slot;
	struct rpcrdma2_hdr *h = &ep->ep_xp->xp_hdr;
	struct rpcrdma2_call_plan plan;
	struct rpcrdma2_call_sizes sz;
	size_t hdrlen;
	int ret;

	xprt2_drop_reply(req);
	take_encoded(req);
	ret = xprt2_req_map(ep, req);
	if (ret)
		return ret;

	measure(ep, req, &sz);
	ret = rpcrdma2_plan_call(&sz, &plan) ?:
	      fill_sparse_pages(ep, &rqst->rq_rcv_buf, &plan);
	if (ret)
		goto out_unregister;

	rpcrdma2_hdr_begin(h, be32_to_cpu(rqst->rq_xid), ep->ep_vers,
			   ep->ep_max_reqs, plan.cp_proc, RDMA2_CALL);
	ret = register_chunks(ep, req, &plan, h);
	if (ret)
		goto out_unregister;

	hdrlen = rpcrdma2_hdr_size(h);
	ret = xprt2_encode_header(req, h, hdrlen) ?:
	      xprt2_prepare_send(ep, req, hdrlen, &plan);
	if (ret)
		goto out_unregister;
	guard_pages(rqst);
	note_chunks(ep, req, &plan, h);
	trace_xprt2_marshal(req, h, hdrlen);
	return 0;

out_unregister:
	rpcrdma2_unexpose(&ep->ep_conn, &req->rq2_exposed);
	if (ret == -EAGAIN)
		xprt2_await_regions(ep);
	ep->ep_xp->xp_stats.st_failed_marshal++;
	return ret;
}
