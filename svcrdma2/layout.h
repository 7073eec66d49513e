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
#include <linux/sunrpc/msg_prot.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/error.h>
#include <rpcrdma2/codec.h>

/*
 * The shortest NFSv4 WRITE operation with data in it: opcode, stateid, offset,
 * stable_how, length, a word of data
 */
#define SVC2_WRITE_MIN		(10 * XDR_UNIT)

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

/**
 * svc2_layout_is_gss - is a Call protected by RPCSEC_GSS?
 * @p: the Call, from its xid
 * @len: octets of it that are there
 */
static inline bool svc2_layout_is_gss(const __be32 *p, u32 len)
{
	return len > RPCRDMA2_CALL_FIXED &&
	       p[RPCRDMA2_CALL_FLAVOR] == cpu_to_be32(RPC_AUTH_GSS);
}

/*
 * The word in front of a chunk says that the chunk is one data item, whole. What
 * a requester puts in a chunk is its own affair, but what was taken for data
 * must not have another WRITE operation in it.
 */
static inline bool svc2_layout_is_item(const struct rpcrdma2_chunk *ck,
				       __be32 before)
{
	return xdr_align_size(be32_to_cpu(before)) ==
	       xdr_align_size(ck->ck_length);
}

/**
 * svc2_layout_splits - may the data of a Call stay apart from the rest?
 * @h: its header, with at least one Read chunk
 * @p: the RPC message that came behind the header
 * @inlined: octets of it
 *
 * Yes for one data item with no other WRITE behind it: the code above takes all
 * data in pages to begin where a page begins. RPCSEC_GSS wants more of a Call
 * in its head than the RPC header.
 */
static inline bool svc2_layout_splits(const struct rpcrdma2_hdr *h,
				      const __be32 *p, u32 inlined)
{
	const struct rpcrdma2_chunk *ck = h->h_reads;

	return h->h_proc == RDMA2_MSG && h->h_nreads == 1 &&
	       !svc2_layout_is_gss(p, inlined) &&
	       inlined - ck->ck_position < SVC2_WRITE_MIN &&
	       svc2_layout_is_item(ck, p[ck->ck_position / XDR_UNIT - 1]);
}

/**
 * svc2_layout_judge_gss - can a Call with RPCSEC_GSS be handed on in pages?
 * @h: its header, with at least one Read chunk
 * @inlined: octets of the RPC message that came behind the header
 * @head: octets of the Call that go in the head of rq_arg
 * @before: the word in front of the first chunk that is not the Position-Zero
 *	chunk, if there is one
 *
 * Data may begin in the head, and be one item. A WRITE behind it would begin in
 * the middle of a page.
 *
 * Return: RDMA2_OK; RDMA2_ERR_READ_CHUNKS when one Read chunk less would do; or
 * RDMA2_ERR_SYSTEM: the Call is right, and beyond this responder.
 */
static inline enum rpcrdma2_errcode
svc2_layout_judge_gss(const struct rpcrdma2_hdr *h, u32 inlined, u32 head,
		      __be32 before)
{
	bool zero = h->h_proc == RDMA2_NOMSG;
	u32 reduced = zero ? h->h_reads->ck_length : inlined;
	const struct rpcrdma2_chunk *ck = h->h_reads + zero;

	if (h->h_nreads == zero || svc2_layout_length(h, inlined) <= head)
		return RDMA2_OK;
	if (h->h_nreads > zero + 1)
		return RDMA2_ERR_READ_CHUNKS;		/* C-083 */
	if (ck->ck_position > head ||
	    reduced - ck->ck_position >= SVC2_WRITE_MIN ||
	    !svc2_layout_is_item(ck, before))
		return RDMA2_ERR_SYSTEM;
	return RDMA2_OK;
}

#endif /* _SVCRDMA2_LAYOUT_H */
