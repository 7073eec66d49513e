// SPDX-License-Identifier: GPL-2.0
/* Transfer plans, pieces of a message and credits: arithmetic on sizes */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/string.h>

#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/plan.h>

void rpcrdma2_layout_begin(struct rpcrdma2_layout *lo,
			   const struct rpcrdma2_hdr *h, u32 inlined)
{
	*lo = (struct rpcrdma2_layout){
		.lo_chunk	= h->h_reads,
		.lo_end		= h->h_reads + h->h_nreads,
		.lo_reduced	= inlined,
	};
	if (h->h_proc == RDMA2_NOMSG) {
		lo->lo_reduced = h->h_reads->ck_length;
		lo->lo_chunk++;
	}
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_layout_begin);

bool rpcrdma2_layout_next(struct rpcrdma2_layout *lo,
			  struct rpcrdma2_stretch *st)
{
	const struct rpcrdma2_chunk *ck = lo->lo_chunk;
	bool last = ck == lo->lo_end;

	if (lo->lo_due) {
		if (last)
			return false;
		*st = (struct rpcrdma2_stretch){ ck, 0, ck->ck_length,
						 lo->lo_sink };
		lo->lo_sink += xdr_align_size(ck->ck_length);
		lo->lo_chunk++;
	} else {
		*st = (struct rpcrdma2_stretch){ NULL, lo->lo_src, 0,
						 lo->lo_sink };
		st->st_len = last ? lo->lo_reduced - lo->lo_src :
				    ck->ck_position - lo->lo_sink;
		lo->lo_src += st->st_len;
		lo->lo_sink += st->st_len;
	}
	lo->lo_due = !lo->lo_due;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_layout_next);

u64 rpcrdma2_layout_length(const struct rpcrdma2_hdr *h, u32 inlined)
{
	u64 length = inlined;
	unsigned int i = 0;

	if (h->h_proc == RDMA2_NOMSG)
		length = h->h_reads[i++].ck_length;
	for (; i < h->h_nreads; i++)
		length += round_up((u64)h->h_reads[i].ck_length, XDR_UNIT);
	return length;
}
EXPORT_SYMBOL_GPL(rpcrdma2_layout_length);

void rpcrdma2_walk_begin(struct rpcrdma2_walk *wk, const struct xdr_buf *buf,
			 const struct rpcrdma2_range *range,
			 unsigned int ranges)
{
	*wk = (struct rpcrdma2_walk){
		.wk_buf		= buf,
		.wk_range	= range,
		.wk_ranges	= ranges,
		.wk_left	= U32_MAX,
	};
}
EXPORT_SYMBOL_GPL(rpcrdma2_walk_begin);

/* Find the part of the buffer at @off. Return: false beyond its end. */
static bool rpcrdma2_walk_locate(struct rpcrdma2_walk *wk, size_t off)
{
	const struct xdr_buf *buf = wk->wk_buf;
	const struct kvec *iov = buf->head;

	wk->wk_pages = NULL;
	if (off >= iov->iov_len) {
		off -= iov->iov_len;
		if (off < buf->page_len) {
			wk->wk_pages = buf->pages;
			wk->wk_pos = buf->page_base + off;
			wk->wk_here = buf->page_len - off;
			return true;
		}
		off -= buf->page_len;
		iov = buf->tail;
		if (off >= iov->iov_len)
			return false;
	}
	wk->wk_pos = (unsigned long)iov->iov_base + off;
	wk->wk_here = iov->iov_len - off;
	return true;
}

/* Enter the next part that is not empty. Return: false at the end. */
static bool rpcrdma2_walk_enter(struct rpcrdma2_walk *wk)
{
	u32 left;

	while (wk->wk_ranges && wk->wk_off == wk->wk_range->ra_len) {
		wk->wk_range++;
		wk->wk_ranges--;
		wk->wk_off = 0;
	}
	if (!wk->wk_ranges ||
	    !rpcrdma2_walk_locate(wk,
				  (size_t)wk->wk_range->ra_off + wk->wk_off))
		return false;
	left = wk->wk_range->ra_len - wk->wk_off;
	wk->wk_here = min(wk->wk_here, left);
	wk->wk_off += wk->wk_here;
	return true;
}

/* Whether bytes are left at the current position */
static bool rpcrdma2_walk_here(struct rpcrdma2_walk *wk)
{
	return wk->wk_left && (likely(wk->wk_here) || rpcrdma2_walk_enter(wk));
}

static void rpcrdma2_walk_pass(struct rpcrdma2_walk *wk, u32 len)
{
	wk->wk_pos += len;
	wk->wk_here -= len;
	wk->wk_left -= len;
}

bool rpcrdma2_walk_next(struct rpcrdma2_walk *wk, struct rpcrdma2_piece *pc)
{
	if (!rpcrdma2_walk_here(wk))
		return false;
	pc->pc_page = wk->wk_pages ? wk->wk_pages[wk->wk_pos >> PAGE_SHIFT] :
				     virt_to_page((void *)wk->wk_pos);
	pc->pc_off = offset_in_page(wk->wk_pos);
	pc->pc_len = min3(wk->wk_here, wk->wk_left,
			  (u32)PAGE_SIZE - pc->pc_off);
	rpcrdma2_walk_pass(wk, pc->pc_len);
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_walk_next);

unsigned int rpcrdma2_walk_count(struct rpcrdma2_walk wk)
{
	unsigned int count = 0;
	u32 len;

	while (rpcrdma2_walk_here(&wk)) {
		len = min(wk.wk_here, wk.wk_left);
		count += PFN_UP(offset_in_page(wk.wk_pos) + len);
		rpcrdma2_walk_pass(&wk, len);
	}
	return count;
}
EXPORT_SYMBOL_GPL(rpcrdma2_walk_count);

unsigned int rpcrdma2_walk_count_joined(struct rpcrdma2_walk wk,
					unsigned int most)
{
	unsigned int count = 0, end = PAGE_SIZE;
	struct rpcrdma2_piece pc;

	while (count < most && rpcrdma2_walk_next(&wk, &pc) &&
	       (!count || rpcrdma2_piece_joins(end, &pc))) {
		end = pc.pc_off + pc.pc_len;
		count++;
	}
	return count;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_walk_count_joined);

/*
 * The plan of a Call and its Reply, with the size of the header that will be
 * built.
 *
 *   Call:  inline			if all of it fits, and can be gathered
 *	    Read chunk + inline		if its payload may be placed directly
 *					and the rest fits
 *	    Position-Zero chunk + Read chunk
 *					if the payload may be placed directly
 *	    Position-Zero chunk		otherwise
 *   Reply: inline			if the largest possible Reply fits
 *	    Write chunk (+ inline)	if its payload may be placed directly
 *	    Write chunk + Reply chunk	if moreover the rest may not fit
 *	    Reply chunk			otherwise
 *
 * A form that exceeds the limits of the peer is replaced by the last form of
 * its list, which has a single chunk.
 */

static u32 rpcrdma2_plan_write_list_len(unsigned int segs)
{
	return RPCRDMA2_WRITE_CHUNK_LEN + segs * RPCRDMA2_SEG_LEN;
}

/* The Reply gets chunks if it may not fit inline (C-002, C-030, E-15). */
static bool rpcrdma2_plan_call_reply(const struct rpcrdma2_call_sizes *sz,
				     struct rpcrdma2_call_plan *plan)
{
	const struct rpcrdma2_call_limits *cl = &sz->sz_limits;
	u32 rest = sz->sz_reply_rest, needed = sz->sz_reply_needed;
	bool both;

	if (rpcrdma2_reply_fits_inline(sz))
		return true;
	/* The Reply's header repeats the Write list. */
	both = needed ||
	       sz->sz_hdr_min +
			       rpcrdma2_plan_write_list_len(sz->sz_write_segs) +
			       rest >
		       sz->sz_reply_threshold;
	plan->cp_write = sz->sz_reply_ddp && needed <= rest &&
			 cl->cl_writes && sz->sz_write_segs <= cl->cl_segs &&
			 !(both && sz->sz_reply_rest_segs > cl->cl_segs);
	plan->cp_reply = both || !plan->cp_write;
	return plan->cp_write || (sz->sz_reply_segs <= cl->cl_segs &&
				  needed <= rest + sz->sz_reply_pages);
}

/* @hdr: length of the header, including the chunks for the Reply */
static bool rpcrdma2_plan_call_within(const struct rpcrdma2_call_sizes *sz,
				      struct rpcrdma2_call_plan *plan, u32 hdr)
{
	const struct rpcrdma2_call_limits *cl = &sz->sz_limits;

	if (rpcrdma2_call_fits_inline(sz, hdr))
		return true;
	if (sz->sz_call_ddp && cl->cl_reads && sz->sz_read_segs <= cl->cl_segs) {
		plan->cp_read = true;
		hdr += sz->sz_read_segs * RPCRDMA2_READ_SEG_LEN;
		if (hdr + sz->sz_call_rest <= sz->sz_call_threshold)
			return true;
	}
	plan->cp_proc = RDMA2_NOMSG;
	plan->cp_poszero = true;
	plan->cp_read &= cl->cl_reads > 1 && sz->sz_rest_segs <= cl->cl_segs;
	if (plan->cp_read)
		return true;
	if (plan->cp_reply)
		return sz->sz_call_segs <= cl->cl_segs;
	if (sz->sz_closed_segs <= cl->cl_segs)
		return true;
	plan->cp_copy = sz->sz_call_rest + sz->sz_call_pages <= sz->sz_copy_max;
	return plan->cp_copy && cl->cl_segs;
}

int rpcrdma2_plan_call(const struct rpcrdma2_call_sizes *sz,
		       struct rpcrdma2_call_plan *plan)
{
	u32 hdr = sz->sz_hdr_min;

	*plan = (struct rpcrdma2_call_plan){ .cp_proc = RDMA2_MSG };
	if (!rpcrdma2_plan_call_reply(sz, plan))
		return -EMSGSIZE;
	if (plan->cp_write)
		hdr += rpcrdma2_plan_write_list_len(sz->sz_write_segs);
	if (plan->cp_reply)
		hdr += RPCRDMA2_REPLY_CHUNK_LEN + RPCRDMA2_SEG_LEN *
		       (plan->cp_write ? sz->sz_reply_rest_segs :
					 sz->sz_reply_segs);
	return rpcrdma2_plan_call_within(sz, plan, hdr) ? 0 : -EMSGSIZE;
}
EXPORT_SYMBOL_GPL(rpcrdma2_plan_call);

/*
 * The plan of a Reply: Write chunks take the results that they were offered
 * for. The rest goes inline if it fits the requester's Receives, otherwise in
 * the Reply chunk (C-031); neither end continues a message in another one. A
 * chunk that is too small is detected here, before any byte is written (S45).
 */

static void rpcrdma2_plan_add_rest(struct rpcrdma2_reply_plan *plan, u32 from,
				   u32 to)
{
	if (from >= to)
		return;
	plan->pn_rest[plan->pn_nrest++] = (struct rpcrdma2_range){
		.ra_off = from,
		.ra_len = to - from,
	};
	plan->pn_len += to - from;
}

void rpcrdma2_plan_reply(struct rpcrdma2_reply_plan *plan,
			 const struct rpcrdma2_hdr *h,
			 const struct rpcrdma2_range *results,
			 unsigned int nresults, u32 length, u32 hdrlen,
			 u32 send_max)
{
	const struct rpcrdma2_chunk *ck = h->h_writes;
	unsigned int i;
	u32 off = 0;

	memset(plan, 0, sizeof(*plan));
	plan->pn_send_max = send_max;
	for (i = 0; i < h->h_nwrites && i < nresults; i++, ck++) {
		const struct rpcrdma2_range *ra = &results[i];

		if (!ck->ck_nsegs || !ra->ra_len)
			continue;
		if (ra->ra_len > ck->ck_length) {	/* C-086 to C-088 */
			rpcrdma2_plan_error(plan, RDMA2_ERR_WRITE_RESOURCE,
					    i + 1, ra->ra_len);
			return;
		}
		plan->pn_writes[i] = *ra;
		rpcrdma2_plan_add_rest(plan, off, ra->ra_off);
		off = ra->ra_off + xdr_align_size(ra->ra_len);
	}
	rpcrdma2_plan_add_rest(plan, off, length);

	if (hdrlen + plan->pn_len <= send_max)
		return;
	plan->pn_reply_chunk = true;
	/* it fits neither inline nor in the Reply chunk (C-090, C-091) */
	if (!h->h_has_reply || h->h_reply.ck_length < plan->pn_len)
		rpcrdma2_plan_error(plan, RDMA2_ERR_REPLY_RESOURCE,
				    plan->pn_len, 0);
}
EXPORT_SYMBOL_GPL(rpcrdma2_plan_reply);
