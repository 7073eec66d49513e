// SPDX-License-Identifier: GPL-2.0
/*
 * How a Call and its Reply travel, chosen from sizes and limits alone.
 *
 * The choice charges the header that will really be built, not the largest
 * that could be.
 *
 *   Call:  inline			if all of it fits, and can be gathered
 *	    Read chunk + inline		if its payload may be placed directly
 *					and the rest fits
 *	    Position-Zero chunk + Read chunk
 *					if the payload may be placed directly
 *	    Position-Zero chunk		otherwise
 *   Reply: inline			if the largest possible one fits
 *	    Write chunk (+ inline)	if its payload may be placed directly
 *	    Write chunk + Reply chunk	if moreover the rest may not fit
 *	    Reply chunk			otherwise
 *
 * A form that the peer does not take is passed over for the last one of its
 * list, which has one chunk.
 */
#include <linux/errno.h>
#include <linux/export.h>

#include <rpcrdma2/plan.h>

static u32 write_list_len(unsigned int segs)
{
	return RPCRDMA2_WRITE_CHUNK_LEN + segs * RPCRDMA2_SEG_LEN;
}

static u32 reply_chunk_len(unsigned int segs)
{
	return RPCRDMA2_REPLY_CHUNK_LEN + segs * RPCRDMA2_SEG_LEN;
}

/* C-002, C-030, E-15: chunks for the Reply exactly when it may not fit */
static bool plan_reply(const struct rpcrdma2_call_sizes *sz,
		       struct rpcrdma2_call_plan *plan)
{
	const struct rpcrdma2_call_limits *cl = &sz->sz_limits;
	u32 rest = sz->sz_reply_rest, needed = sz->sz_reply_needed;
	bool both;

	if (rpcrdma2_reply_fits_inline(sz))
		return true;
	/* The Reply's header repeats the Write list. */
	both = needed || sz->sz_hdr_min + write_list_len(sz->sz_write_segs) +
			 rest > sz->sz_reply_threshold;
	plan->cp_write = sz->sz_reply_ddp && needed <= rest &&
			 cl->cl_writes && sz->sz_write_segs <= cl->cl_segs &&
			 !(both && sz->sz_reply_rest_segs > cl->cl_segs);
	plan->cp_reply = both || !plan->cp_write;
	return plan->cp_write || (sz->sz_reply_segs <= cl->cl_segs &&
				  needed <= rest + sz->sz_reply_pages);
}

/* @hdr: the header with the chunks for the Reply */
static bool plan_call(const struct rpcrdma2_call_sizes *sz,
		      struct rpcrdma2_call_plan *plan, u32 hdr)
{
	const struct rpcrdma2_call_limits *cl = &sz->sz_limits;

	if (rpcrdma2_call_fits_inline(sz, hdr))
		return true;
	if (sz->sz_call_ddp && cl->cl_reads && sz->sz_read_segs <= cl->cl_segs) {
		plan->cp_read = true;
		hdr += sz->sz_read_segs * RPCRDMA2_READ_SEG_LEN;
		if (hdr + sz->sz_call_rest <= sz->sz_call_threshold)
			return true;
	}
	plan->cp_proc = RDMA2_NOMSG;
	plan->cp_poszero = true;
	plan->cp_read &= cl->cl_reads > 1 && sz->sz_rest_segs <= cl->cl_segs;
	if (plan->cp_read)
		return true;
	if (plan->cp_reply)
		return sz->sz_call_segs <= cl->cl_segs;
	if (sz->sz_closed_segs <= cl->cl_segs)
		return true;
	plan->cp_copy = sz->sz_call_rest + sz->sz_call_pages <= sz->sz_copy_max;
	return plan->cp_copy && cl->cl_segs;
}

int rpcrdma2_plan_call(const struct rpcrdma2_call_sizes *sz,
		       struct rpcrdma2_call_plan *plan)
{
	u32 hdr = sz->sz_hdr_min;

	*plan = (struct rpcrdma2_call_plan){ .cp_proc = RDMA2_MSG };
	if (!plan_reply(sz, plan))
		return -EMSGSIZE;
	if (plan->cp_write)
		hdr += write_list_len(sz->sz_write_segs);
	if (plan->cp_reply)
		hdr += reply_chunk_len(plan->cp_write ? sz->sz_reply_rest_segs :
							sz->sz_reply_segs);
	return plan_call(sz, plan, hdr) ? 0 : -EMSGSIZE;
}
EXPORT_SYMBOL_GPL(rpcrdma2_plan_call);
