/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a Reply travels. Pure: sizes and chunks in, a plan out.
 *
 * First the Write chunks get the results they were offered for. What remains
 * goes inline if it fits the requester's Receives, else in the Reply chunk
 * (C-031). A chunk that is too small is found out here, before any octet is
 * written (S45).
 */
#ifndef _SVCRDMA2_PLAN_H
#define _SVCRDMA2_PLAN_H

#include <linux/string.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/header.h>
#include <rpcrdma2/walk.h>

/**
 * struct svc2_plan - how a Reply travels
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
struct svc2_plan {
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

static inline void svc2_add_rest(struct svc2_plan *plan, u32 from, u32 to)
{
	if (from >= to)
		return;
	plan->pn_rest[plan->pn_nrest++] = (struct rpcrdma2_range){ from, to - from };
	plan->pn_len += to - from;
}

static inline void svc2_plan_error(struct svc2_plan *plan,
				   enum rpcrdma2_errcode code,
				   u32 arg, u32 arg2)
{
	plan->pn_code = code;
	plan->pn_arg = arg;
	plan->pn_arg2 = arg2;
}

/**
 * svc2_plan_reply - decide how a Reply travels
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
static inline void
svc2_plan_reply(struct svc2_plan *plan, const struct rpcrdma2_hdr *h,
		const struct rpcrdma2_range *results, unsigned int nresults,
		u32 length, u32 hdrlen, u32 send_max)
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
			svc2_plan_error(plan, RDMA2_ERR_WRITE_RESOURCE,
					i + 1, ra->ra_len);
			return;
		}
		plan->pn_writes[i] = *ra;
		svc2_add_rest(plan, off, ra->ra_off);
		off = ra->ra_off + xdr_align_size(ra->ra_len);
	}
	svc2_add_rest(plan, off, length);

	if (hdrlen + plan->pn_len <= send_max)
		return;
	plan->pn_long = true;
	if (!h->h_has_reply ||
	    h->h_reply.ck_length < plan->pn_len)	/* C-090, C-091 */
		svc2_plan_error(plan, RDMA2_ERR_REPLY_RESOURCE,
				plan->pn_len, 0);
}

#endif /* _SVCRDMA2_PLAN_H */
