/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranges of an RPC message, in pieces that lie in one page each: what a
 * scatterlist, a gather list or a copy is made of.
 */
#ifndef _RPCRDMA2_WALK_H
#define _RPCRDMA2_WALK_H

#include <linux/sunrpc/xdr.h>
#include <linux/types.h>

struct page;

/**
 * struct rpcrdma2_range - octets of an RPC message
 * @ra_off: the first, counted from the beginning of the head
 * @ra_len: how many
 */
struct rpcrdma2_range {
	u32	ra_off;
	u32	ra_len;
};

/**
 * struct rpcrdma2_piece - octets that lie in one page
 * @pc_page: the page
 * @pc_off: where in it
 * @pc_len: how many; at least one
 */
struct rpcrdma2_piece {
	struct page	*pc_page;
	unsigned int	pc_off;
	unsigned int	pc_len;
};

/**
 * struct rpcrdma2_walk - a place in some ranges of an xdr_buf
 * @wk_buf: the buffer
 * @wk_range: range it is in
 * @wk_ranges: ranges from there on
 * @wk_off: octets of that range up to the end of the part it is in
 * @wk_pages: the pages of the buffer, when the part lies in them
 * @wk_pos: place in these, or else an address
 * @wk_here: octets from there that lie in head, pages or tail, and in the range
 * @wk_left: octets it may still pass; the owner may set it at any time
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
 * rpcrdma2_walk_begin - stand at the beginning of some ranges
 * @wk: the place
 * @buf: the buffer; its lengths are those of head, pages and tail, whatever
 *	->len is
 * @range: the ranges, in the order they are walked; each may be empty
 * @ranges: how many
 */
void rpcrdma2_walk_begin(struct rpcrdma2_walk *wk, const struct xdr_buf *buf,
			 const struct rpcrdma2_range *range,
			 unsigned int ranges);

/**
 * rpcrdma2_walk_next - take the next piece
 * @wk: where the walk is, and where it is afterwards
 * @pc: the piece, as long as its page, the part of the buffer, the range and
 *	@wk_left allow
 *
 * Return: false at the end of the ranges, or where the buffer ends.
 */
bool rpcrdma2_walk_next(struct rpcrdma2_walk *wk, struct rpcrdma2_piece *pc);

/**
 * rpcrdma2_walk_count - how many pieces are left?
 * @wk: where the walk is
 *
 * It takes no longer for many pages than for one.
 */
unsigned int rpcrdma2_walk_count(struct rpcrdma2_walk wk);

#endif /* _RPCRDMA2_WALK_H */
