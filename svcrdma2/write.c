// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA Writes: results into Write chunks, long Replies into Reply chunks.
 *
 * Nothing is posted here. The Writes are built from the pages where the upper
 * layer left the results, one context for each remote segment that takes any,
 * and go to the device in front of the Send (send.c).
 */
#include "svcrdma2.h"

/* What of @wk_left octets at @off of the buffer lies in one page */
static void locate(const struct xdr_buf *buf, u32 off, struct svc2_frag *fr)
{
	const struct kvec *iov = buf->head;
	void *addr;

	if (off >= iov->iov_len) {
		off -= iov->iov_len;
		if (off < buf->page_len) {
			fr->fr_len = min(fr->fr_len, buf->page_len - off);
			off += buf->page_base;
			fr->fr_page = buf->pages[off >> PAGE_SHIFT];
			fr->fr_off = offset_in_page(off);
			return;
		}
		off -= buf->page_len;
		iov = buf->tail;
	}
	addr = iov->iov_base + off;
	fr->fr_len = min_t(u32, fr->fr_len, iov->iov_len - off);
	fr->fr_page = virt_to_page(addr);
	fr->fr_off = offset_in_page(addr);
}

/**
 * svc2_walk_next - next fragment of a walk
 * @wk: where we are, and where we are afterwards
 * @fr: fragment
 *
 * The ranges lie within the buffer.
 *
 * Return: false at the end.
 */
bool svc2_walk_next(struct svc2_walk *wk, struct svc2_frag *fr)
{
	while (wk->wk_ranges && wk->wk_off == wk->wk_range->ra_len) {
		wk->wk_range++;
		wk->wk_ranges--;
		wk->wk_off = 0;
	}
	if (!wk->wk_ranges || !wk->wk_left)
		return false;

	fr->fr_len = min(wk->wk_left, wk->wk_range->ra_len - wk->wk_off);
	locate(wk->wk_buf, wk->wk_range->ra_off + wk->wk_off, fr);
	fr->fr_len = min_t(u32, fr->fr_len, PAGE_SIZE - fr->fr_off);
	wk->wk_off += fr->fr_len;
	wk->wk_left -= fr->fr_len;
	return true;
}

/**
 * svc2_walk_count - fragments that a walk will find
 * @wk: where it stands
 *
 * Return: how many.
 */
unsigned int svc2_walk_count(struct svc2_walk wk)
{
	struct svc2_frag fr;
	unsigned int n = 0;

	while (svc2_walk_next(&wk, &fr))
		n++;
	return n;
}

static int write_segment(struct svc2_tx *tx, struct svc2_walk *wk,
			 const struct rpcrdma2_segment *seg)
{
	struct scatterlist *sg;
	struct svc2_frag fr;
	struct svc2_rw *rw;
	unsigned int i;

	wk->wk_left = seg->rs_length;
	rw = svc2_rw_new(&tx->tx_rws, svc2_walk_count(*wk), seg->rs_handle,
			 seg->rs_offset);
	if (!rw)
		return -ENOMEM;
	for_each_sg(rw->rw_table.sgl, sg, rw->rw_nents, i) {
		svc2_walk_next(wk, &fr);
		sg_set_page(sg, fr.fr_page, fr.fr_len, fr.fr_off);
		svc2_tx_reads(tx, fr.fr_page);
	}
	return 0;
}

/**
 * svc2_write_chunk - build the RDMA Writes that fill a chunk
 * @tx: send context that gets them
 * @res: the Reply
 * @src: its octets that go there; they fit
 * @nsrc: how many ranges, 0 for a chunk that stays unused
 * @h: header of the Reply
 * @ck: chunk of it; its lengths become what is written (E-10)
 *
 * Context: svc thread; may sleep.
 * Return: 0 or -ENOMEM.
 */
int svc2_write_chunk(struct svc2_tx *tx, const struct xdr_buf *res,
		     const struct svc2_range *src, unsigned int nsrc,
		     struct rpcrdma2_hdr *h, struct rpcrdma2_chunk *ck)
{
	struct rpcrdma2_segment *seg = &h->h_segs[ck->ck_first];
	struct svc2_walk wk = {
		.wk_buf = res, .wk_range = src, .wk_ranges = nsrc,
	};
	unsigned int i;
	u32 left = 0;
	int ret;

	for (i = 0; i < nsrc; i++)
		left += src[i].ra_len;
	ck->ck_length = left;

	for (i = 0; i < ck->ck_nsegs; i++, seg++) {
		seg->rs_length = min(seg->rs_length, left);
		if (!seg->rs_length)
			continue;
		left -= seg->rs_length;
		ret = write_segment(tx, &wk, seg);
		if (ret)
			return ret;
	}
	return 0;
}
