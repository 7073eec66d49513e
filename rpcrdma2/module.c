// SPDX-License-Identifier: GPL-2.0
/*
 * What both ends of RPC-over-RDMA have in common. Nothing here knows an RPC
 * layer: xprtrdma2 puts an rpc_xprt on top of it, svcrdma2 an svc_xprt.
 */
#include <linux/module.h>

#include "core.h"

static int __init rpcrdma2_init(void)
{
	return rpcrdma2_rw_start();
}

static void __exit rpcrdma2_exit(void)
{
	rpcrdma2_rw_stop();
}

module_init(rpcrdma2_init);
module_exit(rpcrdma2_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 2: the core of both ends");
MODULE_LICENSE("GPL");
