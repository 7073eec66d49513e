/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranges of an RPC message, split into pieces that lie in one page each: the
 * input for a scatterlist, a gather list or a copy.
 */
#ifndef _RPCRDMA2_WALK_H
#define _RPCRDMA2_WALK_H

#include <linux/sunrpc/xdr.h>
#include <linux/types.h>

struct page;

/**
 * struct rpcrdma2_range - bytes of an RPC message
 * @ra_off: offset of the first byte, from the beginning of the head
 * @ra_len: number of bytes
 */
struct rpcrdma2_range {
	u32	ra_off;
	u32	ra_len;
};

/**
 * struct rpcrdma2_piece - bytes that lie in one page
 * @pc_page: the page
 * @pc_off: offset in the page
 * @pc_len: number of bytes; at least 1
 */
struct rpcrdma2_piece {
	struct page	*pc_page;
	unsigned int	pc_off;
	unsigned int	pc_len;
};

/**
 * struct rpcrdma2_walk - a position in some ranges of an xdr_buf
 * @wk_buf: the buffer
 * @wk_range: current range
 * @wk_ranges: number of ranges from there on
 * @wk_off: bytes of that range up to the end of the current part
 * @wk_pages: pages of the buffer, if the current part lies in them
 * @wk_pos: offset in these pages, or else an address
 * @wk_here: bytes from there on that lie in head, pages or tail, and in the
 *	range
 * @wk_left: bytes that the walk may still pass; the owner may set it at any
 *	time
 */
struct rpcrdma2_walk {
	const struct xdr_buf		*wk_buf;
	const struct rpcrdma2_range	*wk_range;
	unsigned int			wk_ranges;
	u32				wk_off;
	struct page			*const *wk_pages;
	unsigned long			wk_pos;
	u32				wk_here;
	u32				wk_left;
};

/**
 * rpcrdma2_walk_begin - start at the beginning of some ranges
 * @wk: position
 * @buf: the buffer; its lengths are those of head, pages and tail, whatever
 *	->len is
 * @range: the ranges, in the order of the walk; any of them may be empty
 * @ranges: number of ranges
 */
void rpcrdma2_walk_begin(struct rpcrdma2_walk *wk, const struct xdr_buf *buf,
			 const struct rpcrdma2_range *range,
			 unsigned int ranges);

/**
 * rpcrdma2_walk_next - take the next piece
 * @wk: position, which advances past the piece
 * @pc: the piece, as long as its page, the part of the buffer, the range and
 *	@wk_left permit
 *
 * Return: false at the end of the ranges or of the buffer.
 */
bool rpcrdma2_walk_next(struct rpcrdma2_walk *wk, struct rpcrdma2_piece *pc);

/**
 * rpcrdma2_walk_count - number of pieces left
 * @wk: position
 *
 * The cost does not depend on the number of pages.
 */
unsigned int rpcrdma2_walk_count(struct rpcrdma2_walk wk);

#endif /* _RPCRDMA2_WALK_H */
