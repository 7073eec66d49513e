// SPDX-License-Identifier: GPL-2.0
/*
 * What the client counts. debugfs.c shows it.
 */
#include "xprtrdma2.h"

DEFINE_PER_CPU(u64 [XPRT2_C_COUNT], xprt2_counters);

/**
 * xprt2_count_error - count an RDMA2_ERROR that has come
 * @ep: endpoint
 * @h: its header
 */
void xprt2_count_error(struct xprt2_ep *ep, const struct rpcrdma2_hdr *h)
{
	xprt2_count(errors_received);
	rpcrdma2_errors_count(&ep->ep_xp->xp_stats.st_errors,
			      h->h_error.er_code);
}
