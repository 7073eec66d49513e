// SPDX-License-Identifier: GPL-2.0
/* The responder: plans of Replies, and the chunks of a Call by rdma_rw */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include <rdma/rw.h>

#include <rpcrdma2/chunks.h>
#include <rpcrdma2/compat.h>
#include <rpcrdma2/fault.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/wire.h>

#include "core.h"

/*
 * RDMA Reads and Writes. See rpcrdma2/chunks.h.
 *
 * A part moves a contiguous range of remote memory: a segment, or the section
 * of it that is needed and can be moved at once. rdma_rw builds work requests
 * for it, as wide as the queue pair allows. The Send Queue bounds the number of
 * parts, but for those under construction, and for RDMA Reads that wait for its
 * entries: their owner counts these.
 */

/* Scatterlist entries embedded in a part */
#define PART_SGES	16

struct part {
	struct list_head	list;
	u32			handle;
	u64			offset;
	unsigned int		nents;
	bool			mapped;
	struct sg_table		table;
	struct rdma_rw_ctx	ctx;
	struct scatterlist	sges[PART_SGES];
};

static_assert(sizeof(struct part) <= RPCRDMA2_RW_PART_BYTES);

static struct kmem_cache *part_cache;

unsigned int rpcrdma2_rw_size(const struct rpcrdma2_conn *co,
			      unsigned int pages, unsigned int parts,
			      struct rpcrdma2_conn_size *size,
			      unsigned int *longest)
{
	struct ib_device *dev = rpcrdma2_conn_device(co);
	u32 port = co->co_id->port_num, sges = size->send_sges;
	struct rpcrdma2_caps_read cr;
	unsigned int per_call;
	bool needs;

	needs = rdma_protocol_iwarp(dev, port);
	if (!needs) {
		sges = min_t(u32, sges, dev->attrs.max_sge_rd);
		/* the RDMA core's parameter force_mr alone may require them */
		needs = !dev->attrs.max_sgl_rd &&
			rdma_rw_max_send_wr(dev, port, 1, 0) > 1;
	}
	cr = rpcrdma2_caps_reads(needs, dev->attrs.max_fast_reg_page_list_len,
				 dev->attrs.max_sgl_rd, sges);
	if (!cr.cr_width)
		return 0;
	size->rw_pages = cr.cr_pages;
	size->rw_mrs = 0;
	if (cr.cr_regions)
		size->rw_mrs = parts + rdma_rw_mr_factor(dev, port, pages);
	per_call = DIV_ROUND_UP(pages, cr.cr_width) + 1;
	*longest = max(parts + per_call,
		       rdma_rw_max_send_wr(dev, port, size->rw_mrs, 0));
	return per_call;
}
EXPORT_SYMBOL_GPL(rpcrdma2_rw_size);

/* The caller fills the scatterlist. */
static struct part *rpcrdma2_rw_new_part(struct rpcrdma2_rw *rw,
					 unsigned int nents,
					 const struct rpcrdma2_segment *seg,
					 u32 skip)
{
	struct part *part = kmem_cache_alloc(part_cache, GFP_KERNEL);

	if (!part)
		return NULL;
	if (nents <= PART_SGES) {
		sg_init_table(part->sges, nents);
		part->table.sgl = part->sges;
	} else if (sg_alloc_table(&part->table, nents, GFP_KERNEL)) {
		kmem_cache_free(part_cache, part);
		return NULL;
	}
	part->nents = nents;
	part->handle = seg->rs_handle;
	part->offset = seg->rs_offset + skip;
	part->mapped = false;
	list_add_tail(&part->list, &rw->rw_parts);
	return part;
}

static int rpcrdma2_rw_read_part(struct rpcrdma2_rw *rw,
				 const struct rpcrdma2_segment *seg, u32 skip,
				 u32 len, struct page *const *pages, u32 sink)
{
	unsigned int off = offset_in_page(sink), n, i;
	struct scatterlist *sg;
	struct part *part;

	pages += sink >> PAGE_SHIFT;
	part = rpcrdma2_rw_new_part(rw, DIV_ROUND_UP(off + len, PAGE_SIZE), seg,
				    skip);
	if (!part)
		return -ENOMEM;
	for_each_sg(part->table.sgl, sg, part->nents, i) {
		n = min_t(u32, len, PAGE_SIZE - off);
		sg_set_page(sg, *pages++, n, off);
		len -= n;
		off = 0;
	}
	return 0;
}

int rpcrdma2_rw_read(const struct rpcrdma2_conn *co, struct rpcrdma2_rw *rw,
		     const struct rpcrdma2_segment *seg, u32 skip, u32 len,
		     struct page *const *pages, u32 sink)
{
	int ret;
	u32 n;

	while (len) {
		if (skip >= seg->rs_length) {
			skip -= seg->rs_length;
			seg++;
			continue;
		}
		n = rpcrdma2_caps_cut(co->co_rw_pages, offset_in_page(sink),
				      min(len, seg->rs_length - skip));
		ret = rpcrdma2_rw_read_part(rw, seg, skip, n, pages, sink);
		if (ret)
			return ret;
		skip += n;
		sink += n;
		len -= n;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_rw_read);

static int rpcrdma2_rw_write_part(const struct rpcrdma2_conn *co,
				  struct rpcrdma2_rw *rw,
				  struct rpcrdma2_walk *wk,
				  const struct rpcrdma2_segment *seg)
{
	unsigned int nents = !co->co_write_pages ? rpcrdma2_walk_count(*wk) :
			     rpcrdma2_walk_count_joined(*wk, co->co_write_pages);
	struct rpcrdma2_piece pc;
	struct scatterlist *sg;
	struct part *part;
	unsigned int i;

	if (WARN_ON_ONCE(!nents))
		return -EINVAL;
	part = rpcrdma2_rw_new_part(rw, nents, seg,
				    seg->rs_length - wk->wk_left);
	if (!part)
		return -ENOMEM;
	for_each_sg(part->table.sgl, sg, part->nents, i) {
		rpcrdma2_walk_next(wk, &pc);
		sg_set_page(sg, pc.pc_page, pc.pc_len, pc.pc_off);
	}
	return 0;
}

/*
 * Add RDMA Writes that fill a chunk with ranges that fit, or with none. Its
 * lengths become the lengths written (E-10). Return: 0, -ENOMEM, or -EINVAL if
 * the ranges are not in the buffer.
 */
static int rpcrdma2_rw_write(const struct rpcrdma2_conn *co,
			     struct rpcrdma2_rw *rw, const struct xdr_buf *buf,
			     const struct rpcrdma2_range *src,
			     unsigned int nsrc, struct rpcrdma2_hdr *h,
			     struct rpcrdma2_chunk *ck)
{
	struct rpcrdma2_segment *seg = &h->h_segs[ck->ck_first];
	struct rpcrdma2_walk wk;
	unsigned int i;
	u32 left = 0;
	int ret = 0;

	for (i = 0; i < nsrc; i++)
		left += src[i].ra_len;
	ck->ck_length = left;

	rpcrdma2_walk_begin(&wk, buf, src, nsrc);
	for (i = 0; !ret && i < ck->ck_nsegs; i++, seg++) {
		seg->rs_length = min(seg->rs_length, left);
		left -= seg->rs_length;
		wk.wk_left = seg->rs_length;
		while (!ret && wk.wk_left)
			ret = rpcrdma2_rw_write_part(co, rw, &wk, seg);
	}
	return ret;
}

unsigned int rpcrdma2_rw_mrs(const struct rpcrdma2_conn *co,
			     const struct rpcrdma2_rw *rw)
{
	const struct part *part;
	unsigned int mrs = 0;

	if (!co->co_rw_mrs)
		return 0;
	list_for_each_entry(part, &rw->rw_parts, list)
		mrs += rdma_rw_mr_factor(rpcrdma2_conn_device(co),
					 co->co_id->port_num, part->nents);
	return mrs;
}
EXPORT_SYMBOL_GPL(rpcrdma2_rw_mrs);

int rpcrdma2_rw_map(struct rpcrdma2_conn *co, struct rpcrdma2_rw *rw)
{
	struct part *part;
	int ret;

	list_for_each_entry(part, &rw->rw_parts, list) {
		if (part->mapped)
			continue;
		ret = -EIO;
		if (!rpcrdma2_fault(map_rw))
			ret = rdma_rw_ctx_init(&part->ctx, rpcrdma2_conn_qp(co),
					       co->co_id->port_num,
					       part->table.sgl, part->nents, 0,
					       part->offset, part->handle,
					       rw->rw_dir);
		if (ret < 0)
			return ret;
		part->mapped = true;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rpcrdma2_rw_map);

struct ib_send_wr *rpcrdma2_rw_chain(struct rpcrdma2_conn *co,
				     struct rpcrdma2_rw *rw,
				     struct ib_cqe *cqe,
				     struct ib_send_wr *last)
{
	struct part *part;

	list_for_each_entry_reverse(part, &rw->rw_parts, list)
		last = rdma_rw_ctx_wrs(&part->ctx, rpcrdma2_conn_qp(co),
				       co->co_id->port_num, cqe, last);
	return last;
}
EXPORT_SYMBOL_GPL(rpcrdma2_rw_chain);

void rpcrdma2_rw_free(struct rpcrdma2_conn *co, struct rpcrdma2_rw *rw)
{
	struct part *part, *next;

	list_for_each_entry_safe(part, next, &rw->rw_parts, list) {
		if (part->mapped)
			rdma_rw_ctx_destroy(&part->ctx, rpcrdma2_conn_qp(co),
					    co->co_id->port_num,
					    part->table.sgl, part->nents,
					    rw->rw_dir);
		if (part->table.sgl != part->sges)
			sg_free_table(&part->table);
		kmem_cache_free(part_cache, part);
	}
	INIT_LIST_HEAD(&rw->rw_parts);
}
EXPORT_SYMBOL_GPL(rpcrdma2_rw_free);

/* With a constructor: init_on_alloc then does not clear each part. */
static void rpcrdma2_rw_construct(void *part)
{
	memset(part, 0, sizeof(struct part));
}

int rpcrdma2_rw_start(void)
{
	part_cache = kmem_cache_create("rpcrdma2_rw", sizeof(struct part),
				       __alignof__(struct part), 0,
				       rpcrdma2_rw_construct);
	return part_cache ? 0 : -ENOMEM;
}

void rpcrdma2_rw_stop(void)
{
	kmem_cache_destroy(part_cache);
}

int rpcrdma2_arg_reads(const struct rpcrdma2_conn *co,
		       const struct rpcrdma2_arg *ar, struct rpcrdma2_rw *rw)
{
	const struct rpcrdma2_hdr *h = ar->ar_hdr;
	const struct rpcrdma2_chunk *ck;
	struct rpcrdma2_stretch st;
	struct rpcrdma2_layout lo;
	int ret = 0;

	rpcrdma2_layout_begin(&lo, h, ar->ar_inline);
	while (!ret && rpcrdma2_layout_next(&lo, &st)) {
		ck = st.st_chunk;
		if (!ck && h->h_proc == RDMA2_NOMSG)
			ck = h->h_reads;
		if (ck)
			ret = rpcrdma2_rw_read(co, rw, &h->h_segs[ck->ck_first],
					       st.st_src, st.st_len,
					       ar->ar_pages,
					       st.st_sink - ar->ar_apart);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(rpcrdma2_arg_reads);

/* Copy a stretch from the Receive to the pages */
static void rpcrdma2_arg_copy_stretch(const struct rpcrdma2_arg *ar,
				      const struct rpcrdma2_stretch *st)
{
	u32 from = ar->ar_hdr->h_len + st->st_src;
	u32 sink = st->st_sink, left = st->st_len, n;
	const void *src;
	void *dst;

	for (; left; left -= n, from += n, sink += n) {
		src = rpcrdma2_recv_at(ar->ar_recv, from);
		dst = rpcrdma2_arg_at(ar, sink);
		n = min3(left, (u32)(PAGE_SIZE - offset_in_page(src)),
			 (u32)(PAGE_SIZE - offset_in_page(dst)));
		memcpy(dst, src, n);
	}
}

void rpcrdma2_arg_finish(const struct rpcrdma2_arg *ar)
{
	struct rpcrdma2_layout lo;
	struct rpcrdma2_stretch st;
	u32 end;

	rpcrdma2_layout_begin(&lo, ar->ar_hdr, ar->ar_inline);
	while (rpcrdma2_layout_next(&lo, &st)) {
		end = st.st_sink + st.st_len;
		/* a chunk lacks its padding (E-07), which crosses no page */
		if (st.st_chunk && xdr_pad_size(end))
			memset(rpcrdma2_arg_at(ar, end), 0, xdr_pad_size(end));
		else if (!st.st_chunk && ar->ar_hdr->h_proc == RDMA2_MSG &&
			 st.st_sink >= ar->ar_apart)
			rpcrdma2_arg_copy_stretch(ar, &st);
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_arg_finish);

/* The RPC header is shorter than a page. */
bool rpcrdma2_arg_is_call(const struct rpcrdma2_arg *ar, u32 length)
{
	const struct rpcrdma2_hdr *h = ar->ar_hdr;
	const __be32 *p = rpcrdma2_arg_at(ar, 0);
	u32 hdr;

	if (be32_to_cpu(p[0]) != h->h_xid || be32_to_cpu(p[1]) != RDMA2_CALL)
		return false;
	if (h->h_nreads == 1)
		return true;
	hdr = rpcrdma2_call_hdr_len(p, min_t(u32, length, PAGE_SIZE));
	return hdr && h->h_reads[1].ck_position >= hdr;
}
EXPORT_SYMBOL_GPL(rpcrdma2_arg_is_call);

static bool rpcrdma2_respond_word_is(const struct xdr_buf *res, u32 off,
				     u32 value)
{
	u32 word;

	return !xdr_decode_word(res, off, &word) && word == value;
}

/*
 * A result is an opaque, so the word before it is its length; for an NFSv4
 * READLINK nfsd gives the offset of that word instead. A Reply may also have
 * been truncated or encrypted after the upper layer marked its results.
 */
static bool rpcrdma2_respond_find_result(const struct xdr_buf *res,
					 struct rpcrdma2_range *ra, u32 from)
{
	if (ra->ra_off < from + XDR_UNIT)
		return false;
	if (!rpcrdma2_respond_word_is(res, ra->ra_off - XDR_UNIT, ra->ra_len)) {
		if (!rpcrdma2_respond_word_is(res, ra->ra_off, ra->ra_len))
			return false;
		ra->ra_off += XDR_UNIT;
	}
	return ra->ra_off <= res->len && ra->ra_len <= res->len - ra->ra_off;
}

void rpcrdma2_find_results(const struct xdr_buf *res,
			   struct rpcrdma2_range *results,
			   unsigned int nresults)
{
	struct rpcrdma2_range *ra = results;
	unsigned int i;
	u32 from = 0;

	for (i = 0; i < nresults; i++, ra++) {
		if (!ra->ra_len || !rpcrdma2_respond_find_result(res, ra, from))
			ra->ra_len = 0;
		else
			from = ra->ra_off + ra->ra_len;
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_find_results);

u32 rpcrdma2_respond_plan(struct rpcrdma2_reply_plan *plan,
			  struct rpcrdma2_hdr *h,
			  const struct rpcrdma2_range *results,
			  unsigned int nresults, u32 length, u32 send_max)
{
	bool offered = h->h_has_reply;
	u32 hdrlen;

	h->h_nreads = 0;
	h->h_has_reply = false;
	hdrlen = rpcrdma2_hdr_size(h);
	h->h_has_reply = offered;
	rpcrdma2_plan_reply(plan, h, results, nresults, length, hdrlen,
			    send_max);
	return hdrlen;
}
EXPORT_SYMBOL_GPL(rpcrdma2_respond_plan);

int rpcrdma2_respond_writes(const struct rpcrdma2_conn *co,
			    struct rpcrdma2_rw *rw, const struct xdr_buf *res,
			    struct rpcrdma2_hdr *h,
			    const struct rpcrdma2_reply_plan *plan)
{
	const struct rpcrdma2_range *ra = plan->pn_writes;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < h->h_nwrites; i++, ra++)
		ret = rpcrdma2_rw_write(co, rw, res, ra, ra->ra_len ? 1 : 0, h,
					&h->h_writes[i]);
	if (!ret && plan->pn_reply_chunk)
		ret = rpcrdma2_rw_write(co, rw, res, plan->pn_rest, plan->pn_nrest,
					h, &h->h_reply);
	return ret;
}
EXPORT_SYMBOL_GPL(rpcrdma2_respond_writes);
