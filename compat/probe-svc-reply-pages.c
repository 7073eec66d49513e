// SPDX-License-Identifier: GPL-2.0
/*
 * The pages of a Reply are an array of their own, and a transport says how many
 * pages of a Call it has taken.
 */
#include <linux/sunrpc/svc.h>

static inline void probe(struct svc_rqst *rqstp)
{
	rqstp->rq_pages_nfree = 1;
}
