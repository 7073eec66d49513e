// SPDX-License-Identifier: GPL-2.0
/*
 * A Call from its chunks, and a Reply to its chunks. See rpcrdma2/respond.h.
 */
#include <linux/export.h>

#include <rpcrdma2/codec.h>
#include <rpcrdma2/respond.h>

int rpcrdma2_pull_reads(const struct rpcrdma2_conn *co,
			const struct rpcrdma2_pull *pl, struct rpcrdma2_rw *rw)
{
	const struct rpcrdma2_hdr *h = pl->pl_hdr;
	const struct rpcrdma2_chunk *ck;
	struct rpcrdma2_stretch st;
	struct rpcrdma2_layout lo;
	int ret = 0;

	rpcrdma2_layout_begin(&lo, h, pl->pl_inline);
	while (!ret && rpcrdma2_layout_next(&lo, &st)) {
		ck = st.st_chunk;
		if (!ck && h->h_proc == RDMA2_NOMSG)
			ck = h->h_reads;
		if (ck)
			ret = rpcrdma2_rw_read(co, rw, &h->h_segs[ck->ck_first],
					       st.st_src, st.st_len,
					       pl->pl_pages,
					       st.st_sink - pl->pl_apart);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(rpcrdma2_pull_reads);

/* From the Receive into the pages */
static void copy_stretch(const struct rpcrdma2_pull *pl,
			 const struct rpcrdma2_stretch *st)
{
	u32 from = pl->pl_hdr->h_len + st->st_src;
	u32 sink = st->st_sink, left = st->st_len, n;
	const void *src;
	void *dst;

	for (; left; left -= n, from += n, sink += n) {
		src = rpcrdma2_recv_at(pl->pl_recv, from);
		dst = rpcrdma2_pull_at(pl, sink);
		n = min3(left, (u32)(PAGE_SIZE - offset_in_page(src)),
			 (u32)(PAGE_SIZE - offset_in_page(dst)));
		memcpy(dst, src, n);
	}
}

/* E-07: padding is not in the chunk. It never runs over the end of a page. */
static void zero_pad(const struct rpcrdma2_pull *pl, u32 end)
{
	if (xdr_pad_size(end))
		memset(rpcrdma2_pull_at(pl, end), 0, xdr_pad_size(end));
}

void rpcrdma2_pull_finish(const struct rpcrdma2_pull *pl)
{
	struct rpcrdma2_layout lo;
	struct rpcrdma2_stretch st;

	rpcrdma2_layout_begin(&lo, pl->pl_hdr, pl->pl_inline);
	while (rpcrdma2_layout_next(&lo, &st)) {
		if (st.st_chunk)
			zero_pad(pl, st.st_sink + st.st_len);
		else if (pl->pl_hdr->h_proc == RDMA2_MSG &&
			 st.st_sink >= pl->pl_apart)
			copy_stretch(pl, &st);
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_pull_finish);

/* The RPC header is shorter than a page. */
bool rpcrdma2_pull_is_call(const struct rpcrdma2_pull *pl, u32 length)
{
	const struct rpcrdma2_hdr *h = pl->pl_hdr;
	const __be32 *p = rpcrdma2_pull_at(pl, 0);
	u32 hdr;

	if (be32_to_cpu(p[0]) != h->h_xid || be32_to_cpu(p[1]) != RDMA2_CALL)
		return false;
	if (h->h_nreads == 1)
		return true;
	hdr = rpcrdma2_call_hdr_len(p, min_t(u32, length, PAGE_SIZE));
	return hdr && h->h_reads[1].ck_position >= hdr;
}
EXPORT_SYMBOL_GPL(rpcrdma2_pull_is_call);

static bool word_is(const struct xdr_buf *res, u32 off, u32 value)
{
	u32 word;

	return !xdr_decode_word(res, off, &word) && word == value;
}

/*
 * A result is an opaque: its length is the word before it. nfsd names the
 * offset of that word instead for an NFSv4 READLINK. And a reply can have been
 * cut short or encrypted after the upper layer has named its results.
 */
static bool find_result(const struct xdr_buf *res, struct rpcrdma2_range *ra,
			u32 from)
{
	if (ra->ra_off < from + XDR_UNIT)
		return false;
	if (!word_is(res, ra->ra_off - XDR_UNIT, ra->ra_len)) {
		if (!word_is(res, ra->ra_off, ra->ra_len))
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
		if (!ra->ra_len || !find_result(res, ra, from))
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

int rpcrdma2_respond_writes(struct rpcrdma2_rw *rw, const struct xdr_buf *res,
			    struct rpcrdma2_hdr *h,
			    const struct rpcrdma2_reply_plan *plan)
{
	const struct rpcrdma2_range *ra = plan->pn_writes;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < h->h_nwrites; i++, ra++)
		ret = rpcrdma2_rw_write(rw, res, ra, ra->ra_len ? 1 : 0, h,
					&h->h_writes[i]);
	if (!ret && plan->pn_long)
		ret = rpcrdma2_rw_write(rw, res, plan->pn_rest, plan->pn_nrest,
					h, &h->h_reply);
	return ret;
}
EXPORT_SYMBOL_GPL(rpcrdma2_respond_writes);
