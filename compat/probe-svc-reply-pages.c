// SPDX-License-Identifier: GPL-2.0
/*
 * The pages of a Reply are in a separate array, and a transport reports the number of
 * pages that it took for a Call.
 */
#include <linux/sunrpc/svc.h>

static inline void probe(struct svc_rqst *rqstp)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	rqstp->rq_pages_nfree = 1;
#else
	/* The thread has a single array of pages, perhaps behind their number */
	static_assert(offsetof(struct svc_rqst, rq_pages) <=
		      offsetofend(struct svc_rqst, rq_res) + sizeof(long));
	rqstp->rq_respages = rqstp->rq_pages;
#endif
}
