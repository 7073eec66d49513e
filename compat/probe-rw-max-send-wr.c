// SPDX-License-Identifier: GPL-2.0
/* rdma_rw exports the number of Send Queue entries that it adds to a queue pair. */
#include <rdma/rw.h>

static inline unsigned int probe(struct ib_device *dev)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	return rdma_rw_max_send_wr(dev, 1, 1, 0);
#else
	return rdma_rw_mr_factor(dev, 1, 1);
#endif
}
