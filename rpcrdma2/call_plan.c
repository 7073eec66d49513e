// SPDX-License-Identifier: GPL-2.0
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
static void plan_reply(const struct rpcrdma2_call_sizes *sz,
		       struct rpcrdma2_call_plan *plan)
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
	plan->cp_reply = write_list_len(sz->sz_write_segs) + sz->sz_reply_rest >
			 inline_max;
}

void rpcrdma2_plan_call(const struct rpcrdma2_call_sizes *sz,
			struct rpcrdma2_call_plan *plan)
{
	u32 hdr = sz->sz_hdr_min;

	*plan = (struct rpcrdma2_call_plan){ .cp_proc = RDMA2_MSG };
	plan_reply(sz, plan);
	if (plan->cp_write)
		hdr += write_list_len(sz->sz_write_segs);
	if (plan->cp_reply)
		hdr += reply_chunk_len(sz->sz_reply_segs);

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
EXPORT_SYMBOL_GPL(rpcrdma2_plan_call);
