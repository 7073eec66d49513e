// SPDX-License-Identifier: GPL-2.0
/*
 * A Call and its Reply as chunks. See rpcrdma2/offer.h.
 */
#include <linux/export.h>

#include <rpcrdma2/fault.h>
#include <rpcrdma2/offer.h>

/* The octets that a part is made of: how many ranges */
static unsigned int find_part(const struct xdr_buf *buf, enum rpcrdma2_part part,
			      struct rpcrdma2_range *range)
{
	u32 head = buf->head[0].iov_len, tail = buf->tail[0].iov_len;
	u32 pad = rpcrdma2_pad_len(buf);

	switch (part) {
	case RPCRDMA2_PART_ALL:
		range[0] = (struct rpcrdma2_range){
			0, head + buf->page_len + tail };
		return 1;
	case RPCRDMA2_PART_PAGES:
		range[0] = (struct rpcrdma2_range){ head, buf->page_len };
		return 1;
	case RPCRDMA2_PART_REST:
		range[0] = (struct rpcrdma2_range){ 0, head };
		range[1] = (struct rpcrdma2_range){
			head + buf->page_len + pad, tail - pad };
		return 2;
	}
	return 0;
}

unsigned int rpcrdma2_offer_segs(const struct rpcrdma2_conn *co,
				 const struct xdr_buf *buf,
				 enum rpcrdma2_part part)
{
	const struct rpcrdma2_regions *rg = &co->co_regions;
	const struct kvec *head = buf->head, *tail = buf->tail;
	u32 pad = part == RPCRDMA2_PART_REST ? rpcrdma2_pad_len(buf) : 0;
	unsigned int pages[3] = {};

	if (part != RPCRDMA2_PART_REST)
		pages[0] = rpcrdma2_pages_of(buf->page_base, buf->page_len);
	if (part != RPCRDMA2_PART_PAGES) {
		pages[1] = rpcrdma2_pages_of((unsigned long)head->iov_base,
					     head->iov_len);
		pages[2] = rpcrdma2_pages_of((unsigned long)tail->iov_base +
					     pad, tail->iov_len - pad);
	}
	return rpcrdma2_count_segs(pages, ARRAY_SIZE(pages), rg->rg_depth,
				   rg->rg_type == IB_MR_TYPE_SG_GAPS);
}
EXPORT_SYMBOL_GPL(rpcrdma2_offer_segs);

void rpcrdma2_offer_sizes(struct rpcrdma2_call_sizes *sz,
			  const struct xdr_buf *call,
			  const struct xdr_buf *reply, bool ddp)
{
	sz->sz_call_pages = call->page_len + rpcrdma2_pad_len(call);
	sz->sz_call_rest = call->len - sz->sz_call_pages;
	sz->sz_call_ddp = ddp && call->page_len &&
			  (call->flags & XDRBUF_WRITE);
	sz->sz_reply_pages = reply->page_len;
	sz->sz_reply_rest = reply->buflen - reply->page_len;
	sz->sz_reply_ddp = ddp && reply->page_len &&
			   (reply->flags & XDRBUF_READ);
}
EXPORT_SYMBOL_GPL(rpcrdma2_offer_sizes);

void rpcrdma2_offer_measure(const struct rpcrdma2_conn *co,
			    struct rpcrdma2_call_sizes *sz,
			    const struct xdr_buf *call,
			    const struct xdr_buf *reply)
{
	sz->sz_read_segs = rpcrdma2_offer_segs(co, call, RPCRDMA2_PART_PAGES);
	sz->sz_rest_segs = rpcrdma2_offer_segs(co, call, RPCRDMA2_PART_REST);
	sz->sz_call_segs = rpcrdma2_offer_segs(co, call, RPCRDMA2_PART_ALL);
	sz->sz_closed_segs = sz->sz_call_segs;
	sz->sz_write_segs = rpcrdma2_offer_segs(co, reply, RPCRDMA2_PART_PAGES);
	sz->sz_reply_rest_segs = rpcrdma2_offer_segs(co, reply,
						     RPCRDMA2_PART_REST);
	sz->sz_reply_segs = rpcrdma2_offer_segs(co, reply, RPCRDMA2_PART_ALL);
}
EXPORT_SYMBOL_GPL(rpcrdma2_offer_measure);

static int expose_part(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		       const struct xdr_buf *buf, enum rpcrdma2_part part,
		       enum dma_data_direction dir, struct rpcrdma2_hdr *h,
		       struct rpcrdma2_chunk *ck)
{
	struct rpcrdma2_range range[2];

	return rpcrdma2_expose(co, ex, buf, range, find_part(buf, part, range),
			       dir, h, ck);
}

int rpcrdma2_offer(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		   const struct rpcrdma2_call_plan *plan,
		   const struct xdr_buf *call, const struct xdr_buf *whole,
		   const struct xdr_buf *reply, struct rpcrdma2_hdr *h)
{
	struct rpcrdma2_chunk *ck;
	int ret = 0;

	if (plan->cp_poszero) {
		ck = &h->h_reads[h->h_nreads++];
		ck->ck_position = 0;
		ret = expose_part(co, ex, plan->cp_read ? call : whole,
				  plan->cp_read ? RPCRDMA2_PART_REST :
						  RPCRDMA2_PART_ALL,
				  DMA_TO_DEVICE, h, ck);
	}
	if (!ret && plan->cp_read) {
		/* E-05: counted from the first octet of the RPC message */
		ck = &h->h_reads[h->h_nreads++];
		ck->ck_position = call->head[0].iov_len;
		ret = expose_part(co, ex, call, RPCRDMA2_PART_PAGES,
				  DMA_TO_DEVICE, h, ck);
	}
	if (!ret && plan->cp_write)
		ret = expose_part(co, ex, reply, RPCRDMA2_PART_PAGES,
				  DMA_FROM_DEVICE, h,
				  &h->h_writes[h->h_nwrites++]);
	if (!ret && plan->cp_reply) {
		h->h_has_reply = true;
		ret = expose_part(co, ex, reply, plan->cp_write ?
				  RPCRDMA2_PART_REST : RPCRDMA2_PART_ALL,
				  DMA_FROM_DEVICE, h, &h->h_reply);
	}
	/* S48: the only region, or the first of several; 0 when none (C-073) */
	if (!ret && h->h_nsegs && rpcrdma2_can_nominate(h->h_vers) &&
	    !rpcrdma2_fault(nominate))
		h->h_inv_handle = h->h_segs[0].rs_handle;
	return ret;
}
EXPORT_SYMBOL_GPL(rpcrdma2_offer);

void rpcrdma2_trim_reply(struct rpc_rqst *rqst, size_t came)
{
	size_t delta;

	if (rqst->rq_rcv_buf.head[0].iov_len <= came)
		return;
	delta = rqst->rq_rcv_buf.head[0].iov_len - came;
	rqst->rq_rcv_buf.head[0].iov_len = came;
	rqst->rq_rcv_buf.buflen -= delta;
	rqst->rq_private_buf.head[0].iov_len = came;
	rqst->rq_private_buf.buflen -= delta;
}
EXPORT_SYMBOL_GPL(rpcrdma2_trim_reply);
