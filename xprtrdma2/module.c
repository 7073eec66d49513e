// SPDX-License-Identifier: GPL-2.0
/*
 * RPC-over-RDMA version 2, client side: what is set up at load, in order.
 */
#include "xprtrdma2.h"

#include <linux/module.h>

unsigned int xprt2_param_slots = XPRT2_SLOTS_DEFAULT;
module_param_named(slots, xprt2_param_slots, uint, 0644);
MODULE_PARM_DESC(slots, "Most RPCs outstanding per connection, 4 to 16384 (default 128)");

static int set_size(const char *val, const struct kernel_param *kp)
{
	int ret = param_set_uint_minmax(val, kp, RPCRDMA2_INLINE_DEFAULT,
					RPCRDMA2_INLINE_MAX);

	if (!ret)
		xprt2_take_size(kp->arg == &xprt2_param_receive_size);
	return ret;
}

static const struct kernel_param_ops size_ops = {
	.set = set_size,
	.get = param_get_uint,
};

unsigned int xprt2_param_receive_size = 4 * RPCRDMA2_INLINE_DEFAULT;
module_param_cb(receive_size, &size_ops, &xprt2_param_receive_size, 0644);
__MODULE_PARM_TYPE(receive_size, "uint");
MODULE_PARM_DESC(receive_size, "Octets of a Receive, rounded up to pages, 4096 to 65536 (default 16384)");

unsigned int xprt2_param_send_size = RPCRDMA2_INLINE_MAX;
module_param_cb(send_size, &size_ops, &xprt2_param_send_size, 0644);
__MODULE_PARM_TYPE(send_size, "uint");
MODULE_PARM_DESC(send_size, "Octets of the largest Send, where the server takes it, 4096 to 65536 (default 65536)");

unsigned int xprt2_param_pullup_max = 8192;
module_param_named(pullup_max, xprt2_param_pullup_max, uint, 0644);
MODULE_PARM_DESC(pullup_max, "Largest inline payload that is copied rather than sent from its pages, in bytes (default 8192)");

unsigned int xprt2_param_min_version = RPCRDMA2_VERS_ONE;
module_param_named(min_version, xprt2_param_min_version, uint, 0644);
MODULE_PARM_DESC(min_version, "Lowest RPC-over-RDMA version to speak, 1 or 2 (default 1); applies to new connections");

unsigned int xprt2_param_max_version = RPCRDMA2_VERS_TWO;
module_param_named(max_version, xprt2_param_max_version, uint, 0644);
MODULE_PARM_DESC(max_version, "Highest RPC-over-RDMA version to speak, 1 or 2 (default 2); applies to new connections");

/* Connects and grows pools; memory reclaim may depend on both. */
struct workqueue_struct *xprt2_wq;

static int register_class(void)
{
	int ret = xprt_register_transport(&xprt2_class);

#ifdef XPRT2_REPLACES_RPCRDMA
	if (ret == -EEXIST) {
		pr_err("xprtrdma2: this kernel has room for one RDMA transport and rpcrdma is loaded: unmount NFS/RDMA, run 'modprobe -r rpcrdma', then load xprtrdma2 again\n");
		/* modprobe takes -EEXIST for "loaded already" and succeeds */
		ret = -EBUSY;
	}
#endif
	return ret;
}

static int __init xprt2_init(void)
{
	int ret;

	xprt2_wq = alloc_workqueue("xprtrdma2", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!xprt2_wq)
		return -ENOMEM;
	ret = register_class();
	if (ret) {
		destroy_workqueue(xprt2_wq);
		return ret;
	}
	xprt2_debugfs_init();
	xprt2_netid_init();
	return 0;
}

/* Runs only when no transport is left: each holds a module reference. */
static void __exit xprt2_exit(void)
{
	xprt2_netid_exit();
	xprt2_debugfs_exit();
	xprt_unregister_transport(&xprt2_class);
	destroy_workqueue(xprt2_wq);
	xprt2_forget_servers();
}

module_init(xprt2_init);
module_exit(xprt2_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 2 client transport");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(RPCRDMA2);
/* sunrpc asks for "rpc" and the netid of the mount option */
MODULE_ALIAS("rpcrdma2");
MODULE_ALIAS("rpcrdma26");
