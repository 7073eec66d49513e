// SPDX-License-Identifier: GPL-2.0
/*
 * The way from a range of an RPC message to the pages it lies in. Pure.
 */
#include <linux/export.h>
#include <linux/mm.h>

#include <rpcrdma2/walk.h>

/*
 * The part of a range that lies in the head, the pages or the tail: @pos is an
 * offset in @pages, or an address when there are none.
 */
struct stretch {
	struct page	*const *pages;
	unsigned long	pos;
	u32		len;
};

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

/* Sets @st to what of the buffer begins at @off. False where it ends. */
static bool locate(const struct xdr_buf *buf, size_t off, struct stretch *st)
{
	const struct kvec *iov = buf->head;

	st->pages = NULL;
	if (off >= iov->iov_len) {
		off -= iov->iov_len;
		if (off < buf->page_len) {
			st->pages = buf->pages;
			st->pos = buf->page_base + off;
			st->len = buf->page_len - off;
			return true;
		}
		off -= buf->page_len;
		iov = buf->tail;
		if (off >= iov->iov_len)
			return false;
	}
	st->pos = (unsigned long)iov->iov_base + off;
	st->len = iov->iov_len - off;
	return true;
}

/* What lies at the place */
static bool here(struct rpcrdma2_walk *wk, struct stretch *st)
{
	while (wk->wk_ranges && wk->wk_off == wk->wk_range->ra_len) {
		wk->wk_range++;
		wk->wk_ranges--;
		wk->wk_off = 0;
	}
	if (!wk->wk_ranges || !wk->wk_left ||
	    !locate(wk->wk_buf, (size_t)wk->wk_range->ra_off + wk->wk_off, st))
		return false;
	st->len = min3(st->len, wk->wk_left,
		       wk->wk_range->ra_len - wk->wk_off);
	return true;
}

static void pass(struct rpcrdma2_walk *wk, u32 len)
{
	wk->wk_off += len;
	wk->wk_left -= len;
}

bool rpcrdma2_walk_next(struct rpcrdma2_walk *wk, struct rpcrdma2_piece *pc)
{
	struct stretch st;

	if (!here(wk, &st))
		return false;
	pc->pc_page = st.pages ? st.pages[st.pos >> PAGE_SHIFT] :
				 virt_to_page((void *)st.pos);
	pc->pc_off = offset_in_page(st.pos);
	pc->pc_len = min_t(u32, st.len, PAGE_SIZE - pc->pc_off);
	pass(wk, pc->pc_len);
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_walk_next);

/* Nearly always one: not worth a division */
static unsigned int lists_for(unsigned int pages, unsigned int depth)
{
	return pages <= depth ? 1 : DIV_ROUND_UP(pages, depth);
}

unsigned int rpcrdma2_walk_count(struct rpcrdma2_walk wk, unsigned int depth)
{
	unsigned int count = 0;
	struct stretch st;

	while (here(&wk, &st)) {
		count += lists_for(PFN_UP(offset_in_page(st.pos) + st.len),
				   depth);
		pass(&wk, st.len);
	}
	return count;
}
EXPORT_SYMBOL_GPL(rpcrdma2_walk_count);
