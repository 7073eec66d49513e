// SPDX-License-Identifier: GPL-2.0
/*
 * The pages of a Reply are an array of their own, and a transport says how many
 * pages of a Call it has taken.
 */
#include <linux/sunrpc/svc.h>

static inline void probe(struct svc_rqst *rqstp)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	rqstp->rq_pages_nfree = 1;
#else
	/* One array of pages, with their number in front of it at most */
	static_assert(offsetof(struct svc_rqst, rq_pages) <=
		      offsetofend(struct svc_rqst, rq_res) + sizeof(long));
	rqstp->rq_respages = rqstp->rq_pages;
#endif
}
