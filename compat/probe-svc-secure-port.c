// SPDX-License-Identifier: GPL-2.0
/* A transport is asked for RQ_SECURE when it has received a Call (older kernels). */
#include <linux/sunrpc/svc_xprt.h>

static inline void probe(struct svc_xprt_ops *ops)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	ops->xpo_secure_port = NULL;
#else
	ops->xpo_has_wspace = NULL;
#endif
}
