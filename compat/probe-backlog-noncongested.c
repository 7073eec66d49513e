// SPDX-License-Identifier: GPL-2.0
/* Tasks can wait for a slot without XPRT_CONGESTED. */
#include <linux/sunrpc/xprt.h>

static inline void probe(struct rpc_xprt *xprt, struct rpc_task *task)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	xprt_add_backlog_noncongested(xprt, task);
#else
	xprt_add_backlog(xprt, task);
	clear_bit(XPRT_CONGESTED, &xprt->state);
#endif
}
