/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a Call and its Reply travel, chosen from sizes alone.
 *
 * The choice charges the header that will really be built, not the largest
 * that could be.
 *
 *   Call:  inline			if all of it fits
 *	    Read chunk + inline		if its payload may be placed directly
 *					and the rest fits
 *	    Position-Zero chunk (+ Read chunk)	otherwise
 *   Reply: inline			if the largest possible one fits
 *	    Write chunk (+ inline)	if its payload may be placed directly
 *	    Write chunk + Reply chunk	if moreover the rest may not fit
 *	    Reply chunk			otherwise
 */
#ifndef _XPRTRDMA2_PLAN_H
#define _XPRTRDMA2_PLAN_H

#include <linux/types.h>

#include <rpcrdma2/proto.h>

/**
 * struct xprt2_plan - how a Call and its Reply will travel
 * @cp_proc: RDMA2_MSG or RDMA2_NOMSG
 * @cp_read: the Call's payload pages go in a Read chunk
 * @cp_poszero: the rest of the Call goes in a Position-Zero chunk
 * @cp_write: the Reply's payload pages get a Write chunk
 * @cp_reply: the rest of the Reply gets a Reply chunk
 */
struct xprt2_plan {
	u32	cp_proc;
	bool	cp_read;
	bool	cp_poszero;
	bool	cp_write;
	bool	cp_reply;
};

/**
 * struct xprt2_sizes - what the plan is made from; octets unless said
 * @sz_call_threshold: largest Send we may make
 * @sz_reply_threshold: largest Send the peer may make
 * @sz_call_rest: the Call without its payload pages and their XDR pad
 * @sz_call_pages: payload pages of the Call, with their pad
 * @sz_reply_rest: most the Reply can hold besides its payload pages
 * @sz_reply_pages: payload pages of the Reply
 * @sz_call_ddp: the Call's pages may go in a Read chunk
 * @sz_reply_ddp: the Reply's pages may go in a Write chunk
 * @sz_read_segs: segments a chunk of the Call's pages would take
 * @sz_write_segs: of the Reply's pages
 * @sz_reply_segs: of the Reply without its pages if @sz_reply_ddp, else of
 *	all of it
 * @sz_hdr_min: header with three empty lists, in the version spoken
 */
struct xprt2_sizes {
	u32	sz_call_threshold;
	u32	sz_reply_threshold;
	u32	sz_call_rest;
	u32	sz_call_pages;
	u32	sz_reply_rest;
	u32	sz_reply_pages;
	bool	sz_call_ddp;
	bool	sz_reply_ddp;
	u16	sz_read_segs;
	u16	sz_write_segs;
	u16	sz_reply_segs;
	u16	sz_hdr_min;
};

static inline u32 xprt2_write_list_len(unsigned int segs)
{
	return RPCRDMA2_WRITE_CHUNK_LEN + segs * RPCRDMA2_SEG_LEN;
}

static inline u32 xprt2_reply_chunk_len(unsigned int segs)
{
	return RPCRDMA2_REPLY_CHUNK_LEN + segs * RPCRDMA2_SEG_LEN;
}

/* C-002, C-030, E-15: chunks for the Reply exactly when it may not fit */
static inline void xprt2_plan_reply(const struct xprt2_sizes *sz,
				    struct xprt2_plan *plan)
{
	u32 inline_max = sz->sz_reply_threshold - sz->sz_hdr_min;

	if (sz->sz_reply_rest + sz->sz_reply_pages <= inline_max)
		return;
	if (!sz->sz_reply_ddp) {
		plan->cp_reply = true;
		return;
	}
	/* The Reply's header repeats the Write list. */
	plan->cp_write = true;
	plan->cp_reply = xprt2_write_list_len(sz->sz_write_segs) +
			 sz->sz_reply_rest > inline_max;
}

/**
 * xprt2_plan_call - choose how a Call and its Reply travel
 * @sz: sizes and limits
 * @plan: the choice
 *
 * Draft sections 2.1 and 5.2.1; C-001, C-002, C-029, C-030.
 */
static inline void xprt2_plan_call(const struct xprt2_sizes *sz,
				   struct xprt2_plan *plan)
{
	u32 hdr = sz->sz_hdr_min;

	*plan = (struct xprt2_plan){ .cp_proc = RDMA2_MSG };
	xprt2_plan_reply(sz, plan);
	if (plan->cp_write)
		hdr += xprt2_write_list_len(sz->sz_write_segs);
	if (plan->cp_reply)
		hdr += xprt2_reply_chunk_len(sz->sz_reply_segs);

	if (hdr + sz->sz_call_rest + sz->sz_call_pages <= sz->sz_call_threshold)
		return;
	if (sz->sz_call_ddp) {
		plan->cp_read = true;
		hdr += sz->sz_read_segs * RPCRDMA2_READ_SEG_LEN;
		if (hdr + sz->sz_call_rest <= sz->sz_call_threshold)
			return;
	}
	plan->cp_proc = RDMA2_NOMSG;
	plan->cp_poszero = true;
}

#endif /* _XPRTRDMA2_PLAN_H */
