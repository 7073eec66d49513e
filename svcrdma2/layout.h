/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout checks for nfsd, for both forms of rq_arg in recvfrom.c. Pure
 * functions.
 *
 * Where a Call is passed on in one piece, nfsd writes data that begins in a
 * page of rq_arg from the start of that page, wherever in the page the data
 * begins.
 */
#ifndef _SVCRDMA2_LAYOUT_H
#define _SVCRDMA2_LAYOUT_H

#include <linux/math.h>
#include <linux/sunrpc/msg_prot.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/error.h>
#include <rpcrdma2/codec.h>
#include <rpcrdma2/layout.h>

/*
 * The shortest NFSv4 WRITE operation with data in it: opcode, stateid, offset,
 * stable_how, length, a word of data
 */
#define SVC2_WRITE_MIN		(10 * XDR_UNIT)

/* RPCSEC_GSS data in front of the arguments: lengths, header, confounder */
#define SVC2_GSS_MAX		64

/* Minimum length in bytes of the head of a longer Call */
#define SVC2_HEAD_MIN		1024

/**
 * svc2_layout_is_gss - check whether a Call is protected by RPCSEC_GSS
 * @p: the Call, from its xid
 * @len: bytes of it that are present
 */
static inline bool svc2_layout_is_gss(const __be32 *p, u32 len)
{
	return len > RPCRDMA2_CALL_FIXED &&
	       p[RPCRDMA2_CALL_FLAVOR] == cpu_to_be32(RPC_AUTH_GSS);
}

/*
 * True if the word in front of a chunk gives the chunk's length, so that the
 * chunk is one whole data item. A requester may put anything into a chunk, but
 * the part that is taken for data must not contain another WRITE operation.
 */
static inline bool svc2_layout_is_item(const struct rpcrdma2_chunk *ck,
				       __be32 before)
{
	return xdr_align_size(be32_to_cpu(before)) ==
	       xdr_align_size(ck->ck_length);
}

/* True if there is one chunk whose data might stay separate */
static inline bool svc2_layout_is_apart(const struct rpcrdma2_hdr *h)
{
	return h->h_proc == RDMA2_MSG && h->h_nreads == 1;
}

/* RPCSEC_GSS needs more of a Call in its head than the RPC header. */
static inline bool svc2_layout_has_item(const struct rpcrdma2_hdr *h,
					const __be32 *p, u32 inlined)
{
	const struct rpcrdma2_chunk *ck = h->h_reads;

	return !svc2_layout_is_gss(p, inlined) &&
	       svc2_layout_is_item(ck, p[ck->ck_position / XDR_UNIT - 1]);
}

/**
 * svc2_layout_splits - check whether the data of a Call can stay separate
 * @h: its header, with at least one Read chunk
 * @p: the RPC message behind the header
 * @inlined: bytes of it
 *
 * For Calls in one piece. True for one data item with no other WRITE behind it:
 * nfsd expects that all data in pages begins at the start of a page.
 */
static inline bool svc2_layout_splits(const struct rpcrdma2_hdr *h,
				      const __be32 *p, u32 inlined)
{
	return svc2_layout_is_apart(h) &&
	       inlined - h->h_reads->ck_position < SVC2_WRITE_MIN &&
	       svc2_layout_has_item(h, p, inlined);
}

/**
 * svc2_layout_splits_paged - svc2_layout_splits() for Calls in pages
 * @h: its header, with at least one Read chunk
 * @p: the RPC message behind the header; the function reads the rest of the
 *	page
 * @inlined: bytes of it
 *
 * True for one data item when everything in front of it is in the first page.
 */
static inline bool svc2_layout_splits_paged(const struct rpcrdma2_hdr *h,
					    const __be32 *p, u32 inlined)
{
	return svc2_layout_is_apart(h) &&
	       h->h_len + h->h_reads->ck_position <= PAGE_SIZE &&
	       svc2_layout_has_item(h, p, inlined);
}

/**
 * svc2_layout_has_head - check whether the first page holds enough of a Call
 * @at: offset of the Call in the message received
 * @len: bytes of that message
 *
 * For Calls in pages. RPCSEC_GSS computes the length of the RPC header as the
 * difference of two addresses, and decrypts as if the beginning of the data
 * were in the head. Only a header full of empty segments leaves less room.
 */
static inline bool svc2_layout_has_head(u32 at, u32 len)
{
	u32 room = PAGE_SIZE - offset_in_page(at);

	static_assert(RPCRDMA2_CALL_FIXED +
		      2 * (2 * XDR_UNIT + RPCRDMA2_AUTH_MAX) +
		      SVC2_GSS_MAX <= SVC2_HEAD_MIN);
	static_assert(RPCRDMA2_HDR_MAX + SVC2_HEAD_MIN <= PAGE_SIZE);
	return len - at <= room || room >= SVC2_HEAD_MIN;
}

/**
 * svc2_layout_judge_gss - judge a Call with RPCSEC_GSS whose head may be short
 * @h: its header, with at least one Read chunk
 * @inlined: bytes of the RPC message behind the header
 * @head: bytes of the Call that go in the head of rq_arg
 * @before: the word in front of the first chunk that is not the Position-Zero
 *	chunk, if there is one
 *
 * For kernels that take Calls in one piece; a Call with RPCSEC_GSS is not in
 * one piece. The data may begin in the head, and must be one item: a WRITE
 * behind it would begin in the middle of a page.
 *
 * Return: RDMA2_OK; RDMA2_ERR_READ_CHUNKS when one Read chunk less would do; or
 * RDMA2_ERR_SYSTEM when the Call is valid, but beyond this responder.
 */
static inline enum rpcrdma2_errcode
svc2_layout_judge_gss(const struct rpcrdma2_hdr *h, u32 inlined, u32 head,
		      __be32 before)
{
	bool zero = h->h_proc == RDMA2_NOMSG;
	u32 reduced = zero ? h->h_reads->ck_length : inlined;
	const struct rpcrdma2_chunk *ck = h->h_reads + zero;

	if (h->h_nreads == zero || rpcrdma2_layout_length(h, inlined) <= head)
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
