// SPDX-License-Identifier: GPL-2.0
/* Connections whose requester is not known yet are counted. */
#include <linux/sunrpc/svc_xprt.h>

#ifndef RPCRDMA2_PROBE_WITHOUT
static inline void probe(struct svc_xprt *xprt)
{
	svc_xprt_set_valid(xprt);
}
#else
/* The name of its flag is free. */
enum { XPT_PEER_VALID };
#endif
