/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How an RPC travels, chosen from sizes and chunks alone: the requester's plan
 * for a Call and its Reply, and the responder's for the Reply.
 */
#ifndef _RPCRDMA2_PLAN_H
#define _RPCRDMA2_PLAN_H

#include <linux/mm.h>
#include <linux/pfn.h>

#include <rpcrdma2/header.h>
#include <rpcrdma2/walk.h>

/**
 * rpcrdma2_pages_of - pages that octets in a row lie in
 * @pos: address of the first octet, or its offset in the first page
 * @len: how many
 */
static inline unsigned int rpcrdma2_pages_of(unsigned long pos, u32 len)
{
	return len ? PFN_UP(offset_in_page(pos) + len) : 0;
}

/**
 * rpcrdma2_count_segs - segments that octets in several places would take
 * @pages: rpcrdma2_pages_of() each place
 * @places: how many there are
 * @most: pages that a segment can have
 * @holes: a segment may have holes, and so goes on at the next place
 *
 * Return: an upper bound; exact for one place, and with holes.
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
		/* nearly always none or one: not worth a division */
		segs += left <= most ? !!left : DIV_ROUND_UP(left, most);
		left = 0;
	}
	return segs;
}

/**
 * struct rpcrdma2_call_plan - how a Call and its Reply will travel
 * @cp_proc: RDMA2_MSG or RDMA2_NOMSG
 * @cp_read: the Call's payload pages go in a Read chunk
 * @cp_poszero: the rest of the Call goes in a Position-Zero chunk
 * @cp_copy: that chunk is of a copy of the Call, in one piece
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
 * struct rpcrdma2_call_limits - what the peer has said that it takes
 * @cl_reads: most Read chunks. A Position-Zero chunk counts when it is not the
 *	only one
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
 * struct rpcrdma2_call_sizes - what the plan is made from; octets unless said
 * @sz_call_threshold: largest Send the requester may make
 * @sz_reply_threshold: largest Send the peer may make
 * @sz_call_rest: the Call without its payload pages and their XDR pad
 * @sz_call_pages: payload pages of the Call, with their pad
 * @sz_copy_max: most of a Call that can be copied when there is no Reply chunk
 * @sz_reply_rest: most the Reply can hold besides its payload pages
 * @sz_reply_pages: payload pages of the Reply
 * @sz_reply_needed: the Reply needs a chunk of so many, its peer has said; or 0
 * @sz_limits: limits of the peer
 * @sz_call_scattered: the Call's pages are in more pieces than a Send is gathered
 *	from
 * @sz_call_ddp: they may go in a Read chunk
 * @sz_reply_ddp: the Reply's pages may go in a Write chunk
 * @sz_read_segs: segments a chunk of the Call's pages would take. This and the
 *	other numbers of segments do not matter when rpcrdma2_fits_inline()
 * @sz_rest_segs: of the Call without its pages
 * @sz_call_segs: of all of the Call
 * @sz_closed_segs: likewise, when there is no Reply chunk
 * @sz_write_segs: of the Reply's pages
 * @sz_reply_rest_segs: of the Reply without its pages
 * @sz_reply_segs: of all of the Reply
 * @sz_hdr_min: header with three empty lists, in the version spoken
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

/* C-002, C-030: the Reply needs no chunk. */
static inline bool
rpcrdma2_reply_fits_inline(const struct rpcrdma2_call_sizes *sz)
{
	return !sz->sz_reply_needed &&
	       sz->sz_hdr_min + sz->sz_reply_rest + sz->sz_reply_pages <=
	       sz->sz_reply_threshold;
}

/* C-001: nor does the Call, behind a header of @hdr octets. */
static inline bool
rpcrdma2_call_fits_inline(const struct rpcrdma2_call_sizes *sz, u32 hdr)
{
	return !sz->sz_call_scattered &&
	       hdr + sz->sz_call_rest + sz->sz_call_pages <=
	       sz->sz_call_threshold;
}

/* C-073: neither does, and the header has no chunk. */
static inline bool rpcrdma2_fits_inline(const struct rpcrdma2_call_sizes *sz)
{
	return rpcrdma2_call_fits_inline(sz, sz->sz_hdr_min) &&
	       rpcrdma2_reply_fits_inline(sz);
}

/**
 * rpcrdma2_plan_call - choose how a Call and its Reply travel
 * @sz: sizes and limits
 * @plan: the choice
 *
 * Draft sections 2.1 and 5.2.1; C-001, C-002, C-029, C-030. Within the limits of
 * the peer: C-083 to C-085, C-091.
 *
 * Return: 0; or -EMSGSIZE when no form is within the limits, or the Reply needs
 * more room than there is for it.
 */
int rpcrdma2_plan_call(const struct rpcrdma2_call_sizes *sz,
		       struct rpcrdma2_call_plan *plan);

/**
 * struct rpcrdma2_reply_plan - how a Reply travels
 * @pn_code: RDMA2_OK, or the error that takes its place
 * @pn_arg: what goes with the error
 * @pn_arg2: likewise
 * @pn_send_max: largest Send there may be
 * @pn_long: the rest goes in the Reply chunk
 * @pn_gather: it goes inline, and the device gathers it
 * @pn_len: octets of the rest
 * @pn_nrest: entries of @pn_rest
 * @pn_rest: the Reply without what Write chunks take, and without the
 *	padding of that (E-07, E-08)
 * @pn_writes: what each Write chunk takes; nothing when ra_len is 0
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
 * rpcrdma2_plan_reply - decide how a Reply travels
 * @plan: the decision
 * @h: header of the Call
 * @results: results eligible for Write chunks, in ascending order
 * @nresults: how many
 * @length: octets of the Reply
 * @hdrlen: octets of its header, without a Reply chunk
 * @send_max: largest Send the requester takes
 *
 * The first result goes to the first chunk, and so on (E-10); a chunk without
 * segments asks for its result inline (S10); results beyond the chunks go with
 * the rest (E-28).
 */
void rpcrdma2_plan_reply(struct rpcrdma2_reply_plan *plan,
			 const struct rpcrdma2_hdr *h,
			 const struct rpcrdma2_range *results,
			 unsigned int nresults, u32 length, u32 hdrlen,
			 u32 send_max);

/**
 * rpcrdma2_inv_handle - handle that a Reply invalidates
 * @h: header of the Call
 * @wanted: the requester has asked for it: what counts in version 1 (P-07,
 *	P-09)
 *
 * In version 2 the Call says which (C-008, C-075). It has to be a handle of that
 * Call: any other might fence the memory of another RPC (S47). Nothing says
 * which of several handles a requester in version 1 would rather invalidate
 * itself, so all have to be the same one (P-08).
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
