// SPDX-License-Identifier: GPL-2.0
/* The RPC layer calls a method of the transport to set RQ_SECURE (older kernels). */
#include <linux/sunrpc/svc_xprt.h>

static inline void probe(struct svc_xprt_ops *ops)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	ops->xpo_secure_port = NULL;
#else
	ops->xpo_has_wspace = NULL;
#endif
}
