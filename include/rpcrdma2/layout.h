/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of a Call with Read chunks.
 *
 * The reduced message is the Call without the data items that have Read chunks
 * of their own. The requester has sent it inline or, in a Position-Zero chunk,
 * offered it to be read. The position of a chunk is the place of its item in
 * the whole Call, padding included (E-05, E-07). So a Call is laid out from the
 * chunks in the order of their positions, with stretches of the reduced message
 * between them.
 */
#ifndef _RPCRDMA2_LAYOUT_H
#define _RPCRDMA2_LAYOUT_H

#include <rpcrdma2/wire.h>

/**
 * struct rpcrdma2_stretch - bytes of a Call that come from one source
 * @st_chunk: Read chunk they come from, or NULL: the reduced message
 * @st_src: offset in the source
 * @st_len: length; may be 0
 * @st_sink: offset in the Call
 */
struct rpcrdma2_stretch {
	const struct rpcrdma2_chunk	*st_chunk;
	u32				st_src;
	u32				st_len;
	u32				st_sink;
};

/**
 * struct rpcrdma2_layout - a position in a Call
 * @lo_chunk: next Read chunk, other than the Position-Zero chunk
 * @lo_end: end of the Read chunks
 * @lo_reduced: length of the reduced message
 * @lo_src: bytes of the reduced message before this position
 * @lo_sink: bytes of the Call before this position
 * @lo_due: the next stretch is that of the chunk
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
 * rpcrdma2_layout_begin - start at the beginning of a Call
 * @lo: position
 * @h: header of the Call
 * @inlined: bytes of the RPC message after the header
 */
void rpcrdma2_layout_begin(struct rpcrdma2_layout *lo,
			   const struct rpcrdma2_hdr *h, u32 inlined);

/**
 * rpcrdma2_layout_next - advance by one stretch
 * @lo: position
 * @st: stretch at the position
 *
 * The decoder has checked the positions (S09).
 *
 * Return: false at the end of the Call.
 */
bool rpcrdma2_layout_next(struct rpcrdma2_layout *lo,
			  struct rpcrdma2_stretch *st);

/**
 * rpcrdma2_layout_length - length of a Call
 * @h: header of the Call
 * @inlined: bytes of the RPC message after the header
 *
 * Return: length that the peer claims, perhaps more than 32 bits.
 */
u64 rpcrdma2_layout_length(const struct rpcrdma2_hdr *h, u32 inlined);

#endif /* _RPCRDMA2_LAYOUT_H */
