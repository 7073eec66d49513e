/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a Call with Read chunks is put together. Pure.
 *
 * What the requester sent or, in a Position-Zero chunk, left to be read, is
 * the reduced message: the Call without the data items that have Read chunks
 * of their own. A chunk's position is the place of its item in the whole Call,
 * padding included (E-05, E-07). So the Call is laid out by going through the
 * chunks in the order of their positions, with stretches of the reduced
 * message between them.
 */
#ifndef _SVCRDMA2_LAYOUT_H
#define _SVCRDMA2_LAYOUT_H

#include <linux/math.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/header.h>

/**
 * struct svc2_stretch - octets of a Call that come from one place
 * @st_chunk: Read chunk they come from, or NULL: the reduced message
 * @st_src: offset there
 * @st_len: how many; may be 0
 * @st_sink: offset in the Call
 */
struct svc2_stretch {
	const struct rpcrdma2_chunk	*st_chunk;
	u32				st_src;
	u32				st_len;
	u32				st_sink;
};

/**
 * struct svc2_layout - a place in a Call
 * @lo_chunk: next Read chunk, not the Position-Zero chunk
 * @lo_end: behind the last one
 * @lo_reduced: octets of the reduced message
 * @lo_src: how many of them are behind us
 * @lo_sink: octets of the Call that are
 * @lo_due: it is the chunk's turn
 */
struct svc2_layout {
	const struct rpcrdma2_chunk	*lo_chunk;
	const struct rpcrdma2_chunk	*lo_end;
	u32				lo_reduced;
	u32				lo_src;
	u32				lo_sink;
	bool				lo_due;
};

/**
 * svc2_layout_begin - stand at the beginning of a Call
 * @lo: the place
 * @h: its header
 * @inlined: octets of the RPC message that came behind the header
 */
static inline void svc2_layout_begin(struct svc2_layout *lo,
				     const struct rpcrdma2_hdr *h, u32 inlined)
{
	*lo = (struct svc2_layout){
		.lo_chunk	= h->h_reads,
		.lo_end		= h->h_reads + h->h_nreads,
		.lo_reduced	= inlined,
	};
	if (h->h_proc == RDMA2_NOMSG) {
		lo->lo_reduced = h->h_reads->ck_length;
		lo->lo_chunk++;
	}
}

/**
 * svc2_layout_next - go one stretch further
 * @lo: the place
 * @st: what lies there
 *
 * The decoder has seen to it that positions fit (S09).
 *
 * Return: false at the end of the Call.
 */
static inline bool svc2_layout_next(struct svc2_layout *lo,
				    struct svc2_stretch *st)
{
	const struct rpcrdma2_chunk *ck = lo->lo_chunk;
	bool last = ck == lo->lo_end;

	if (lo->lo_due) {
		if (last)
			return false;
		*st = (struct svc2_stretch){ ck, 0, ck->ck_length,
					     lo->lo_sink };
		lo->lo_sink += xdr_align_size(ck->ck_length);
		lo->lo_chunk++;
	} else {
		*st = (struct svc2_stretch){ NULL, lo->lo_src, 0,
					     lo->lo_sink };
		st->st_len = last ? lo->lo_reduced - lo->lo_src :
				    ck->ck_position - lo->lo_sink;
		lo->lo_src += st->st_len;
		lo->lo_sink += st->st_len;
	}
	lo->lo_due = !lo->lo_due;
	return true;
}

/**
 * svc2_layout_length - octets of a Call
 * @h: its header
 * @inlined: octets of the RPC message that came behind the header
 *
 * Return: how many; what a peer claims, so perhaps more than 32 bits.
 */
static inline u64 svc2_layout_length(const struct rpcrdma2_hdr *h, u32 inlined)
{
	u64 length = inlined;
	unsigned int i = 0;

	if (h->h_proc == RDMA2_NOMSG)
		length = h->h_reads[i++].ck_length;
	for (; i < h->h_nreads; i++)
		length += round_up((u64)h->h_reads[i].ck_length, XDR_UNIT);
	return length;
}

#endif /* _SVCRDMA2_LAYOUT_H */
