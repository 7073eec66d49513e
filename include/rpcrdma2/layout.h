/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a Call with Read chunks is put together.
 *
 * What the requester sent or, in a Position-Zero chunk, left to be read, is
 * the reduced message: the Call without the data items that have Read chunks
 * of their own. A chunk's position is the place of its item in the whole Call,
 * padding included (E-05, E-07). So the Call is laid out by going through the
 * chunks in the order of their positions, with stretches of the reduced
 * message between them.
 */
#ifndef _RPCRDMA2_LAYOUT_H
#define _RPCRDMA2_LAYOUT_H

#include <rpcrdma2/header.h>

/**
 * struct rpcrdma2_stretch - octets of a Call that come from one place
 * @st_chunk: Read chunk they come from, or NULL: the reduced message
 * @st_src: offset there
 * @st_len: how many; may be 0
 * @st_sink: offset in the Call
 */
struct rpcrdma2_stretch {
	const struct rpcrdma2_chunk	*st_chunk;
	u32				st_src;
	u32				st_len;
	u32				st_sink;
};

/**
 * struct rpcrdma2_layout - a place in a Call
 * @lo_chunk: next Read chunk, not the Position-Zero chunk
 * @lo_end: behind the last one
 * @lo_reduced: octets of the reduced message
 * @lo_src: how many of them lie before this place
 * @lo_sink: octets of the Call that are
 * @lo_due: it is the chunk's turn
 */
struct rpcrdma2_layout {
	const struct rpcrdma2_chunk	*lo_chunk;
	const struct rpcrdma2_chunk	*lo_end;
	u32				lo_reduced;
	u32				lo_src;
	u32				lo_sink;
	bool				lo_due;
};

/**
 * rpcrdma2_layout_begin - stand at the beginning of a Call
 * @lo: the place
 * @h: its header
 * @inlined: octets of the RPC message that came behind the header
 */
void rpcrdma2_layout_begin(struct rpcrdma2_layout *lo,
			   const struct rpcrdma2_hdr *h, u32 inlined);

/**
 * rpcrdma2_layout_next - go one stretch further
 * @lo: the place
 * @st: what lies there
 *
 * The decoder has seen to it that positions fit (S09).
 *
 * Return: false at the end of the Call.
 */
bool rpcrdma2_layout_next(struct rpcrdma2_layout *lo,
			  struct rpcrdma2_stretch *st);

/**
 * rpcrdma2_layout_length - octets of a Call
 * @h: its header
 * @inlined: octets of the RPC message that came behind the header
 *
 * Return: how many; what a peer claims, so perhaps more than 32 bits.
 */
u64 rpcrdma2_layout_length(const struct rpcrdma2_hdr *h, u32 inlined);

#endif /* _RPCRDMA2_LAYOUT_H */
