// SPDX-License-Identifier: GPL-2.0
/*
 * The way from a range of an RPC message to the pages it lies in. Pure.
 */
#include <linux/export.h>
#include <linux/mm.h>

#include <rpcrdma2/walk.h>

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

static void stand(struct rpcrdma2_walk *wk, struct page *const *pages,
		  unsigned long pos, u32 len)
{
	wk->wk_pages = pages;
	wk->wk_pos = pos;
	wk->wk_here = len;
}

/* Finds what of the buffer begins at @off. False where it ends. */
static bool locate(struct rpcrdma2_walk *wk, size_t off)
{
	const struct xdr_buf *buf = wk->wk_buf;
	const struct kvec *iov = buf->head;

	if (off >= iov->iov_len) {
		off -= iov->iov_len;
		if (off < buf->page_len) {
			stand(wk, buf->pages, buf->page_base + off,
			      buf->page_len - off);
			return true;
		}
		off -= buf->page_len;
		iov = buf->tail;
		if (off >= iov->iov_len)
			return false;
	}
	stand(wk, NULL, (unsigned long)iov->iov_base + off, iov->iov_len - off);
	return true;
}

/* Enters the next part of the buffer, or of the ranges, that has octets. */
static bool enter(struct rpcrdma2_walk *wk)
{
	u32 left;

	while (wk->wk_ranges && wk->wk_off == wk->wk_range->ra_len) {
		wk->wk_range++;
		wk->wk_ranges--;
		wk->wk_off = 0;
	}
	if (!wk->wk_ranges ||
	    !locate(wk, (size_t)wk->wk_range->ra_off + wk->wk_off))
		return false;
	left = wk->wk_range->ra_len - wk->wk_off;
	wk->wk_here = min(wk->wk_here, left);
	wk->wk_off += wk->wk_here;
	return true;
}

/* Are there octets at the place? */
static bool here(struct rpcrdma2_walk *wk)
{
	return wk->wk_left && (likely(wk->wk_here) || enter(wk));
}

static void pass(struct rpcrdma2_walk *wk, u32 len)
{
	wk->wk_pos += len;
	wk->wk_here -= len;
	wk->wk_left -= len;
}

bool rpcrdma2_walk_next(struct rpcrdma2_walk *wk, struct rpcrdma2_piece *pc)
{
	if (!here(wk))
		return false;
	pc->pc_page = wk->wk_pages ? wk->wk_pages[wk->wk_pos >> PAGE_SHIFT] :
				     virt_to_page((void *)wk->wk_pos);
	pc->pc_off = offset_in_page(wk->wk_pos);
	pc->pc_len = min3(wk->wk_here, wk->wk_left,
			  (u32)PAGE_SIZE - pc->pc_off);
	pass(wk, pc->pc_len);
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_walk_next);

unsigned int rpcrdma2_walk_count(struct rpcrdma2_walk wk)
{
	unsigned int count = 0;
	u32 len;

	while (here(&wk)) {
		len = min(wk.wk_here, wk.wk_left);
		count += PFN_UP(offset_in_page(wk.wk_pos) + len);
		pass(&wk, len);
	}
	return count;
}
EXPORT_SYMBOL_GPL(rpcrdma2_walk_count);
