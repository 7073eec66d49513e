// SPDX-License-Identifier: GPL-2.0
/*
 * Credits: what a grant on the wire means. Grants are absolute limits on the
 * RPCs outstanding in one direction; control messages neither take nor return
 * one (2.3 of Documentation/protocol.rst).
 */
#include <linux/export.h>

#include <rpcrdma2/credit.h>

u32 rpcrdma2_grant_next(const struct rpcrdma2_hdr *h, u32 now, u32 max,
			bool granted)
{
	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		if (h->h_direction != RDMA2_REPLY)
			return now;
		break;
	case RDMA2_ERROR:
		if (!granted || h->h_error.er_code == RDMA2_ERR_VERS)
			return now;
		break;
	case RDMA2_CONNPROP:
	case RDMA2_RESPROP:
		break;
	case RDMA2_OPTIONAL:
		if (h->h_opttype != RDMA2_OPT_CONNPROP &&
		    h->h_opttype != RDMA2_OPT_RESPROP)
			return now;
		break;
	default:
		return now;
	}
	return rpcrdma2_grant_sanitise(h->h_credit, max);
}
EXPORT_SYMBOL_GPL(rpcrdma2_grant_next);
