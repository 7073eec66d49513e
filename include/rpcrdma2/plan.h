/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transfer plans, computed from sizes and chunks alone: the requester's plan
 * for a Call and its Reply, and the responder's plan for the Reply.
 */
#ifndef _RPCRDMA2_PLAN_H
#define _RPCRDMA2_PLAN_H

#include <linux/mm.h>
#include <linux/pfn.h>

#include <rpcrdma2/walk.h>
#include <rpcrdma2/wire.h>

/**
 * rpcrdma2_pages_of - number of pages that contiguous bytes span
 * @pos: address of the first byte, or its offset in the first page
 * @len: number of bytes
 */
static inline unsigned int rpcrdma2_pages_of(unsigned long pos, u32 len)
{
	return len ? PFN_UP(offset_in_page(pos) + len) : 0;
}

/**
 * rpcrdma2_count_segs - number of segments for bytes in several places
 * @pages: rpcrdma2_pages_of() each place
 * @places: number of places
 * @most: most pages of a segment
 * @holes: a segment may have holes, and so continues at the next place
 *
 * Return: an upper bound; exact for a single place, and with holes.
 */
static inline unsigned int
rpcrdma2_count_segs(const unsigned int *pages, unsigned int places,
		    unsigned int most, bool holes)
{
	unsigned int i, left = 0, segs = 0;

	for (i = 0; i < places; i++) {
		left += pages[i];
		if (holes && i + 1 < places)
			continue;
		/* nearly always 0 or 1: avoid the division */
		segs += left <= most ? !!left : DIV_ROUND_UP(left, most);
		left = 0;
	}
	return segs;
}

/**
 * struct rpcrdma2_call_plan - transfer plan of a Call and its Reply
 * @cp_proc: RDMA2_MSG or RDMA2_NOMSG
 * @cp_read: the Call's payload pages go in a Read chunk
 * @cp_poszero: the rest of the Call goes in a Position-Zero chunk
 * @cp_copy: the Position-Zero chunk exposes a contiguous copy of the Call
 * @cp_write: the Reply's payload pages get a Write chunk
 * @cp_reply: the rest of the Reply gets a Reply chunk
 */
struct rpcrdma2_call_plan {
	u32	cp_proc;
	bool	cp_read;
	bool	cp_poszero;
	bool	cp_copy;
	bool	cp_write;
	bool	cp_reply;
};

/**
 * struct rpcrdma2_call_limits - limits of the peer for one Call
 * @cl_reads: most Read chunks; a Position-Zero chunk counts unless it is the
 *	only Read chunk
 * @cl_writes: most Write chunks
 * @cl_segs: most segments of a chunk
 */
struct rpcrdma2_call_limits {
	u32	cl_reads;
	u32	cl_writes;
	u32	cl_segs;
};

#define RPCRDMA2_NO_LIMITS	{ U32_MAX, U32_MAX, U32_MAX }

/**
 * struct rpcrdma2_call_sizes - inputs of a plan, in bytes unless noted
 * @sz_call_threshold: largest Send of the requester
 * @sz_reply_threshold: largest Send of the peer
 * @sz_call_rest: the Call without its payload pages and their XDR pad
 * @sz_call_pages: payload pages of the Call, with their pad
 * @sz_copy_max: most of a Call that can be copied if there is no Reply chunk
 * @sz_reply_rest: most of the Reply besides its payload pages
 * @sz_reply_pages: payload pages of the Reply
 * @sz_reply_needed: size of the chunk that the Reply needs according to the
 *	peer, or 0
 * @sz_limits: limits of the peer
 * @sz_call_scattered: the Call's pages are in more pieces than a Send can
 *	gather
 * @sz_call_ddp: the Call's pages may go in a Read chunk
 * @sz_reply_ddp: the Reply's pages may go in a Write chunk
 * @sz_read_segs: number of segments for the Call's pages. This and the other
 *	numbers of segments are not used if rpcrdma2_fits_inline()
 * @sz_rest_segs: number of segments for the Call without its pages
 * @sz_call_segs: number of segments for the whole Call
 * @sz_closed_segs: number of segments for the whole Call, if there is no Reply
 *	chunk
 * @sz_write_segs: number of segments for the Reply's pages
 * @sz_reply_rest_segs: number of segments for the Reply without its pages
 * @sz_reply_segs: number of segments for the whole Reply
 * @sz_hdr_min: header with three empty lists, in the version of the connection
 */
struct rpcrdma2_call_sizes {
	u32	sz_call_threshold;
	u32	sz_reply_threshold;
	u32	sz_call_rest;
	u32	sz_call_pages;
	u32	sz_copy_max;
	u32	sz_reply_rest;
	u32	sz_reply_pages;
	u32	sz_reply_needed;
	struct rpcrdma2_call_limits sz_limits;
	bool	sz_call_scattered;
	bool	sz_call_ddp;
	bool	sz_reply_ddp;
	u16	sz_read_segs;
	u16	sz_rest_segs;
	u16	sz_call_segs;
	u16	sz_closed_segs;
	u16	sz_write_segs;
	u16	sz_reply_rest_segs;
	u16	sz_reply_segs;
	u16	sz_hdr_min;
};

/* The Reply needs no chunk (C-002, C-030). */
static inline bool
rpcrdma2_reply_fits_inline(const struct rpcrdma2_call_sizes *sz)
{
	return !sz->sz_reply_needed &&
	       sz->sz_hdr_min + sz->sz_reply_rest + sz->sz_reply_pages <=
	       sz->sz_reply_threshold;
}

/* The Call needs no chunk after a header of @hdr bytes (C-001). */
static inline bool
rpcrdma2_call_fits_inline(const struct rpcrdma2_call_sizes *sz, u32 hdr)
{
	return !sz->sz_call_scattered &&
	       hdr + sz->sz_call_rest + sz->sz_call_pages <=
	       sz->sz_call_threshold;
}

/* Neither Call nor Reply needs a chunk, and the header has none (C-073). */
static inline bool rpcrdma2_fits_inline(const struct rpcrdma2_call_sizes *sz)
{
	return rpcrdma2_call_fits_inline(sz, sz->sz_hdr_min) &&
	       rpcrdma2_reply_fits_inline(sz);
}

/**
 * rpcrdma2_plan_call - choose how a Call and its Reply are transferred
 * @sz: sizes and limits
 * @plan: result
 *
 * Draft sections 2.1 and 5.2.1; C-001, C-002, C-029, C-030. The plan observes
 * the limits of the peer: C-083 to C-085, C-091.
 *
 * Return: 0; or -EMSGSIZE if no form is within the limits, or the Reply needs
 * more room than its buffer has.
 */
int rpcrdma2_plan_call(const struct rpcrdma2_call_sizes *sz,
		       struct rpcrdma2_call_plan *plan);

/**
 * struct rpcrdma2_reply_plan - transfer plan of a Reply
 * @pn_code: RDMA2_OK, or the error that replaces the Reply
 * @pn_arg: first word of the error
 * @pn_arg2: second word of the error
 * @pn_send_max: largest Send allowed
 * @pn_long: the rest goes in the Reply chunk
 * @pn_gather: the rest goes inline, gathered by the device
 * @pn_len: length of the rest
 * @pn_nrest: entries of @pn_rest
 * @pn_rest: the Reply without the contents of Write chunks and their padding
 *	(E-07, E-08)
 * @pn_writes: contents of each Write chunk; none if ra_len is 0
 */
struct rpcrdma2_reply_plan {
	enum rpcrdma2_errcode	pn_code;
	u32			pn_arg;
	u32			pn_arg2;
	u32			pn_send_max;
	bool			pn_long;
	bool			pn_gather;
	u32			pn_len;
	unsigned int		pn_nrest;
	struct rpcrdma2_range	pn_rest[RPCRDMA2_MAX_WRITE_CHUNKS + 1];
	struct rpcrdma2_range	pn_writes[RPCRDMA2_MAX_WRITE_CHUNKS];
};

static inline void rpcrdma2_plan_error(struct rpcrdma2_reply_plan *plan,
				       enum rpcrdma2_errcode code,
				       u32 arg, u32 arg2)
{
	plan->pn_code = code;
	plan->pn_arg = arg;
	plan->pn_arg2 = arg2;
}

/**
 * rpcrdma2_plan_reply - choose how a Reply is transferred
 * @plan: result
 * @h: header of the Call
 * @results: results eligible for Write chunks, in ascending order
 * @nresults: number of results
 * @length: length of the Reply
 * @hdrlen: length of its header, without a Reply chunk
 * @send_max: largest Send that the requester accepts
 *
 * Results are assigned to chunks in order (E-10); a chunk without segments
 * requests its result inline (S10); results beyond the chunks go with the rest
 * (E-28).
 */
void rpcrdma2_plan_reply(struct rpcrdma2_reply_plan *plan,
			 const struct rpcrdma2_hdr *h,
			 const struct rpcrdma2_range *results,
			 unsigned int nresults, u32 length, u32 hdrlen,
			 u32 send_max);

/**
 * rpcrdma2_inv_handle - handle that a Reply invalidates
 * @h: header of the Call
 * @wanted: the requester has enabled remote invalidation; used in version 1
 *	(P-07, P-09)
 *
 * In version 2 the Call nominates the handle (C-008, C-075). It must be a
 * handle of that Call, because any other handle might fence the memory of
 * another RPC (S47). In version 1 a requester cannot express which of several
 * handles it would rather invalidate itself, so all of them must be the same
 * (P-08).
 *
 * Return: the handle, or 0 for a plain Send.
 */
static inline u32 rpcrdma2_inv_handle(const struct rpcrdma2_hdr *h, bool wanted)
{
	bool nominated = rpcrdma2_can_nominate(h->h_vers);
	unsigned int i, same = 0;
	u32 handle;

	if (!h->h_nsegs)
		return 0;
	handle = nominated ? h->h_inv_handle : h->h_segs[0].rs_handle;
	for (i = 0; i < h->h_nsegs; i++)
		same += h->h_segs[i].rs_handle == handle;
	if (nominated)
		return same ? handle : 0;
	return wanted && same == h->h_nsegs ? handle : 0;
}

#endif /* _RPCRDMA2_PLAN_H */
