// SPDX-License-Identifier: GPL-2.0
/* Module load and unload, and the module parameters. */
#include "xprtrdma2.h"

#include <linux/module.h>

#include <rpcrdma2/props.h>
#include <rpcrdma2/version.h>

/* Parameters that need only a range check */
struct param_range {
	unsigned int *value;
	unsigned int min;
	unsigned int max;
};

static int xprt2_param_set_in_range(const char *val,
				    const struct kernel_param *kp)
{
	const struct param_range *ra = kp->arg;
	const struct kernel_param value = { .arg = ra->value };

	return param_set_uint_minmax(val, &value, ra->min, ra->max);
}

static int xprt2_param_get_in_range(char *buffer, const struct kernel_param *kp)
{
	const struct param_range *ra = kp->arg;

	return sysfs_emit(buffer, "%u\n", *ra->value);
}

static const struct kernel_param_ops range_ops = {
	.set = xprt2_param_set_in_range,
	.get = xprt2_param_get_in_range,
};

#define XPRT2_PARAM(_name, _default, _min, _max, _desc)			\
	unsigned int xprt2_param_##_name = (_default);			\
	static const struct param_range range_##_name = {			\
		&xprt2_param_##_name, _min, _max			\
	};								\
	module_param_cb(_name, &range_ops, (void *)&range_##_name, 0644); \
	__MODULE_PARM_TYPE(_name, "uint");				\
	MODULE_PARM_DESC(_name, _desc)

XPRT2_PARAM(slots, XPRT2_SLOTS_DEFAULT, XPRT2_SLOTS_MIN, XPRT2_SLOTS_MAX,
	    "Most RPCs outstanding per connection, 4 to 16384 (default 128)");
XPRT2_PARAM(backward_credits, XPRT2_BACKWARD_CREDITS, 1, XPRT2_BACKWARD_MAX,
	    "Most callbacks outstanding per connection, 1 to 256 (default 16); applies to new mounts");
XPRT2_PARAM(pullup_max, 8192, 0, UINT_MAX,
	    "Largest inline payload that is copied rather than sent from its pages, in bytes (default 8192)");
XPRT2_PARAM(min_version, RPCRDMA2_VERS_ONE, RPCRDMA2_VERS_ONE, RPCRDMA2_VERS_TWO,
	    "Lowest RPC-over-RDMA version to use, 1 or 2 (default 1); applies to new connections");
XPRT2_PARAM(max_version, RPCRDMA2_VERS_TWO, RPCRDMA2_VERS_ONE, RPCRDMA2_VERS_TWO,
	    "Highest RPC-over-RDMA version to use, 1 or 2 (default 2); applies to new connections");

u32 xprt2_param_backward = RDMA2_BKREQSUP_GENL;
module_param_cb(backward, &rpcrdma2_backward_ops, &xprt2_param_backward, 0644);
__MODULE_PARM_TYPE(backward, "charp");
MODULE_PARM_DESC(backward, "Callbacks to accept: none, inline (without chunks), or genl (with chunks, but not over iWARP) (default genl); applies to new connections");

static int xprt2_param_set_size(const char *val, const struct kernel_param *kp)
{
	int ret = param_set_uint_minmax(val, kp, RPCRDMA2_INLINE_DEFAULT,
					RPCRDMA2_INLINE_MAX);

	if (!ret)
		xprt2_take_size(kp->arg == &xprt2_param_receive_size);
	return ret;
}

static const struct kernel_param_ops size_ops = {
	.set = xprt2_param_set_size,
	.get = param_get_uint,
};

unsigned int xprt2_param_receive_size = 5 * RPCRDMA2_INLINE_DEFAULT;
module_param_cb(receive_size, &size_ops, &xprt2_param_receive_size, 0644);
__MODULE_PARM_TYPE(receive_size, "uint");
MODULE_PARM_DESC(receive_size, "Size of a Receive in bytes, rounded up to pages, 4096 to 65536 (default 20480)");

unsigned int xprt2_param_send_size = RPCRDMA2_INLINE_MAX;
module_param_cb(send_size, &size_ops, &xprt2_param_send_size, 0644);
__MODULE_PARM_TYPE(send_size, "uint");
MODULE_PARM_DESC(send_size, "Largest Send in bytes, if the server accepts it, 4096 to 65536 (default 65536)");

/*
 * Runs the connect workers and the work of connections. Memory reclaim may
 * depend on it.
 */
struct workqueue_struct *xprt2_wq;

static int xprt2_register_class(void)
{
	int ret = xprt_register_transport(&xprt2_class);

#ifdef XPRT2_REPLACES_RPCRDMA
	if (ret == -EEXIST) {
		pr_err("xprtrdma2: this kernel has room for one RDMA transport and rpcrdma is loaded: unmount NFS/RDMA, run 'rmmod rpcrdma', then load xprtrdma2 again\n");
		/* modprobe takes -EEXIST for "already loaded" and succeeds */
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
	ret = xprt2_view_init();
	if (ret)
		goto out_wq;
	ret = xprt2_register_class();
	if (ret)
		goto out_view;
	xprt2_debugfs_init();
	xprt2_netid_init();
	return 0;

out_view:
	xprt2_view_exit();
out_wq:
	destroy_workqueue(xprt2_wq);
	return ret;
}

/* Runs only when no transport is left: each holds a module reference. */
static void __exit xprt2_exit(void)
{
	xprt2_netid_exit();
	xprt2_debugfs_exit();
	xprt_unregister_transport(&xprt2_class);
	xprt2_view_exit();
	destroy_workqueue(xprt2_wq);
	xprt2_forget_servers();
}

module_init(xprt2_init);
module_exit(xprt2_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 2 client transport");
MODULE_LICENSE("GPL");
MODULE_VERSION(RPCRDMA2_VERSION);
MODULE_INFO(import_ns, "RPCRDMA2");
/* sunrpc requests the module "rpc" plus the netid of the mount option */
MODULE_ALIAS("rpcrdma2");
MODULE_ALIAS("rpcrdma26");
