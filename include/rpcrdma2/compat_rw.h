/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The number of Send Queue entries that rdma_rw adds to a queue pair, which
 * older kernels do not report.
 */
#ifndef _RPCRDMA2_COMPAT_RW_H
#define _RPCRDMA2_COMPAT_RW_H

#include <features.h>

#include <linux/minmax.h>

#include <rdma/ib_verbs.h>
#include <rdma/rw.h>

#include <rpcrdma2/plan.h>

/**
 * rpcrdma2_rw_send_wrs - Send Queue entries that rdma_rw adds to a queue pair
 * @dev: device
 * @port: its port
 * @ctxs: max_rdma_ctxs of the queue pair
 *
 * rdma_rw adds three entries for each context if it may use memory regions,
 * otherwise one. Some of its reasons to use them are not reported; but with
 * regions it divides a message by the pages of a region, and otherwise by the
 * gather entries of an RDMA Read. If these two are equal, only the reported
 * reasons apply.
 */
static inline unsigned int rpcrdma2_rw_send_wrs(struct ib_device *dev, u32 port,
						unsigned int ctxs)
{
	const struct ib_device_attr *attrs = &dev->attrs;
	u32 region = min_t(u32, attrs->max_fast_reg_page_list_len,
			   RPCRDMA2_RW_REGION_PAGES);
	bool regions = rdma_protocol_iwarp(dev, port) || attrs->max_sgl_rd;

	if (!regions && region && attrs->max_sge_rd)
		regions = region != attrs->max_sge_rd &&
			  rdma_rw_mr_factor(dev, port, region * attrs->max_sge_rd) ==
			  attrs->max_sge_rd;
	return regions ? 3 * ctxs : ctxs;
}

#ifndef RPCRDMA2_HAS_RW_MAX_SEND_WR
#define rdma_rw_max_send_wr(_dev, _port, _ctxs, _flags) \
	rpcrdma2_rw_send_wrs(_dev, _port, _ctxs)
#endif

#endif /* _RPCRDMA2_COMPAT_RW_H */
