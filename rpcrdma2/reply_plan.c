// SPDX-License-Identifier: GPL-2.0
/*
 * How a Reply travels.
 *
 * First the Write chunks get the results they were offered for. What remains
 * goes inline if it fits the requester's Receives, else in the Reply chunk
 * (C-031). A chunk that is too small is found out here, before any octet is
 * written (S45).
 */
#include <linux/export.h>
#include <linux/string.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/plan.h>

static void add_rest(struct rpcrdma2_reply_plan *plan, u32 from, u32 to)
{
	if (from >= to)
		return;
	plan->pn_rest[plan->pn_nrest++] = (struct rpcrdma2_range){
		.ra_off = from,
		.ra_len = to - from,
	};
	plan->pn_len += to - from;
}

void rpcrdma2_plan_reply(struct rpcrdma2_reply_plan *plan,
			 const struct rpcrdma2_hdr *h,
			 const struct rpcrdma2_range *results,
			 unsigned int nresults, u32 length, u32 hdrlen,
			 u32 send_max)
{
	const struct rpcrdma2_chunk *ck = h->h_writes;
	unsigned int i;
	u32 off = 0;

	memset(plan, 0, sizeof(*plan));
	plan->pn_send_max = send_max;
	for (i = 0; i < h->h_nwrites && i < nresults; i++, ck++) {
		const struct rpcrdma2_range *ra = &results[i];

		if (!ck->ck_nsegs || !ra->ra_len)
			continue;
		if (ra->ra_len > ck->ck_length) {	/* C-086 to C-088 */
			rpcrdma2_plan_error(plan, RDMA2_ERR_WRITE_RESOURCE,
					    i + 1, ra->ra_len);
			return;
		}
		plan->pn_writes[i] = *ra;
		add_rest(plan, off, ra->ra_off);
		off = ra->ra_off + xdr_align_size(ra->ra_len);
	}
	add_rest(plan, off, length);

	if (hdrlen + plan->pn_len <= send_max)
		return;
	plan->pn_long = true;
	if (!h->h_has_reply ||
	    h->h_reply.ck_length < plan->pn_len)	/* C-090, C-091 */
		rpcrdma2_plan_error(plan, RDMA2_ERR_REPLY_RESOURCE,
				    plan->pn_len, 0);
}
EXPORT_SYMBOL_GPL(rpcrdma2_plan_reply);
