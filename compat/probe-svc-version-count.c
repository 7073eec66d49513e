// SPDX-License-Identifier: GPL-2.0
/* A version of a program counts its Calls (older kernels). Only kunit/echo/ uses this. */
#include <linux/sunrpc/svc.h>

static inline void probe(struct svc_version *version)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	version->vs_count = NULL;
#else
	version->vs_proc = NULL;
#endif
}
