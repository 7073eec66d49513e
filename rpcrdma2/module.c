// SPDX-License-Identifier: GPL-2.0
/* The core module, which client and server share */
#include <linux/module.h>
#include <linux/workqueue.h>

#include <rpcrdma2/release.h>

#include "core.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Memory reclaim may wait for the work queued here. */
struct workqueue_struct *rpcrdma2_wq;

static int __init rpcrdma2_init(void)
{
	int ret;

	rpcrdma2_wq = alloc_workqueue("rpcrdma2", WQ_MEM_RECLAIM | WQ_UNBOUND,
				      0);
	if (!rpcrdma2_wq)
		return -ENOMEM;
	ret = rpcrdma2_rw_start();
	if (ret)
		destroy_workqueue(rpcrdma2_wq);
	return ret;
}

static void __exit rpcrdma2_exit(void)
{
	rpcrdma2_rw_stop();
	destroy_workqueue(rpcrdma2_wq);
}

module_init(rpcrdma2_init);
module_exit(rpcrdma2_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 2: core of client and server");
MODULE_LICENSE("GPL");
MODULE_VERSION(RPCRDMA2_RELEASE);
