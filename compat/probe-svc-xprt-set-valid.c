// SPDX-License-Identifier: GPL-2.0
/* The RPC layer counts connections on which no requester has authenticated yet. */
#include <linux/sunrpc/svc_xprt.h>

#ifndef RPCRDMA2_PROBE_WITHOUT
static inline void probe(struct svc_xprt *xprt)
{
	svc_xprt_set_valid(xprt);
}
#else
/* An older kernel does not have the flag. */
enum { XPT_PEER_VALID };
#endif
