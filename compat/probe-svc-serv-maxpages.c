// SPDX-License-Identifier: GPL-2.0
/* The number of pages of a thread depends on the service, and is not a constant. */
#include <linux/sunrpc/svc.h>

#ifndef RPCRDMA2_PROBE_WITHOUT
static inline unsigned long probe(const struct svc_serv *serv)
{
	return svc_serv_maxpages(serv);
}
#else
static inline void probe(const struct svc_rqst *rqstp)
{
	static_assert(ARRAY_SIZE(rqstp->rq_pages) >= RPCSVC_MAXPAGES);
}
#endif
