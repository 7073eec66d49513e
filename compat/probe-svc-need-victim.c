// SPDX-License-Identifier: GPL-2.0
/* A thread is asked to end by a flag of its pool, which any thread may heed. */
#include <linux/sunrpc/svc.h>

#ifndef RPCRDMA2_PROBE_WITHOUT
static inline bool probe(const struct svc_pool *pool)
{
	return test_bit(SP_NEED_VICTIM, &pool->sp_flags);
}
#else
/* The names are free. */
enum { SP_NEED_VICTIM, SP_VICTIM_REMAINS };
#endif
