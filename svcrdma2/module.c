// SPDX-License-Identifier: GPL-2.0
/*
 * svcrdma2: RPC-over-RDMA version 2 for RPC servers, i.e. for nfsd.
 *
 * The module registers the transport class "rdma2", and "rdma" if that name is
 * free; "rdma2 20049" in nfsd's portlist loads it by the alias that every such
 * class has. Listeners and connections hold a reference on the module.
 */
#include "svcrdma2.h"

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <rpcrdma2/props.h>
#include <rpcrdma2/version.h>

/*
 * The names of listeners. "rdma2" always belongs to this module. "rdma" is the
 * name that nfs.conf, rpc.nfsd and nfsd's netlink interface use: this module
 * takes it too if the kernel's own rpcrdma does not have it, so that they open,
 * and reopen, a listener of this module without any change.
 */

static DEFINE_MUTEX(rdma_mutex);	/* guards the next three */
static bool want_rdma = true;
static bool have_rdma;
static bool classes_open;	/* between svc2_classes_init() and _exit() */

/* Takes the name or gives it back. Listeners and connections stay. */
static int svc2_register_rdma(void)
{
	int ret;

	lockdep_assert_held(&rdma_mutex);
	if (have_rdma && !want_rdma)
		svc_unreg_xprt_class(&svc2_rdma_class);
	if (have_rdma || !want_rdma) {
		have_rdma = want_rdma;
		return 0;
	}
	ret = svc_reg_xprt_class(&svc2_rdma_class);
	have_rdma = !ret;
	if (ret)
		pr_warn("svcrdma2: rpcrdma serves the listeners that are called rdma: stop nfsd, run 'rmmod rpcrdma', then 'echo Y >/sys/module/svcrdma2/parameters/rdma'; those that are called rdma2 are served\n");
	return ret;
}

static int svc2_param_set_rdma(const char *val, const struct kernel_param *kp)
{
	int ret = 0;

	guard(mutex)(&rdma_mutex);
	ret = param_set_bool(val, kp);
	if (!ret && classes_open)
		ret = svc2_register_rdma();
	return ret;
}

/* The actual state, not the requested one, once the module is loaded */
static int svc2_param_get_rdma(char *buffer, const struct kernel_param *kp)
{
	guard(mutex)(&rdma_mutex);
	return sysfs_emit(buffer, "%c\n", have_rdma ? 'Y' : 'N');
}

static const struct kernel_param_ops rdma_ops = {
	.flags	= KERNEL_PARAM_OPS_FL_NOARG,
	.set	= svc2_param_set_rdma,
	.get	= svc2_param_get_rdma,
};
module_param_cb(rdma, &rdma_ops, &want_rdma, 0644);
__MODULE_PARM_TYPE(rdma, "bool");
MODULE_PARM_DESC(rdma, "serve listeners named rdma too, where rpcrdma does not (default Y)");

/**
 * svc2_classes_init - register the names
 *
 * A name "rdma" that belongs to another module is no error.
 *
 * Return: 0, or a negative errno.
 */
static int svc2_classes_init(void)
{
	int ret = svc_reg_xprt_class(&svc2_class);

	if (ret)
		return ret;
	guard(mutex)(&rdma_mutex);
	classes_open = true;
	svc2_register_rdma();
	return 0;
}

/**
 * svc2_classes_exit - undo svc2_classes_init()
 */
static void svc2_classes_exit(void)
{
	scoped_guard(mutex, &rdma_mutex) {
		classes_open = false;
		want_rdma = false;
		svc2_register_rdma();
	}
	svc_unreg_xprt_class(&svc2_class);
}

struct workqueue_struct *svc2_wq;
struct kmem_cache *svc2_msg_cache;

static int svc2_param_set(const char *val, const struct kernel_param *kp)
{
	const struct svc2_param *pm = container_of(kp->arg, struct svc2_param,
						   pm_value);

	int ret = param_set_uint_minmax(val, kp, pm->pm_min, pm->pm_max);

	if (!ret && pm->pm_changed)
		pm->pm_changed();
	return ret;
}

static const struct kernel_param_ops param_ops = {
	.set = svc2_param_set,
	.get = param_get_uint,
};

#define SVC2_PARAM(_name, _default, _min, _max, _changed, _desc)	\
	struct svc2_param svc2_##_name = { _default, _min, _max, _changed }; \
	module_param_cb(_name, &param_ops, &svc2_##_name.pm_value, 0644); \
	__MODULE_PARM_TYPE(_name, "uint");				\
	MODULE_PARM_DESC(_name, _desc)

SVC2_PARAM(credits, SVC2_CREDITS_DEFAULT, SVC2_CREDITS_MIN, SVC2_CREDITS_MAX,
	   NULL,
	   "maximum number of outstanding Calls of a client on a new connection (4 to 1024, default 64)");
SVC2_PARAM(backward_credits, SVC2_BACKWARD_CREDITS, 1, SVC2_BACKWARD_MAX, NULL,
	   "maximum number of outstanding callbacks on a new connection, if the client grants that many (1 to 256, default 16)");
SVC2_PARAM(receive_size, 5 * RPCRDMA2_INLINE_DEFAULT, RPCRDMA2_INLINE_DEFAULT,
	   RPCRDMA2_INLINE_MAX, svc2_sizes_set,
	   "size of a Receive in bytes, rounded up to pages (4096 to 65536, default 20480); increases also apply to existing connections of version 2, decreases only to new connections");
SVC2_PARAM(send_size, RPCRDMA2_INLINE_MAX, RPCRDMA2_INLINE_DEFAULT,
	   RPCRDMA2_INLINE_MAX, svc2_sizes_set,
	   "size of the largest Send in bytes, if the client can receive it (4096 to 65536, default 65536); applies to existing connections of version 2 too");
SVC2_PARAM(receive_memory, 0, 0, UINT_MAX, svc2_budget_set,
	   "memory in KiB for the Receives of all connections (at least 64 pages, default 0: a sixteenth of the memory)");
SVC2_PARAM(transfer_memory, 0, 0, UINT_MAX, svc2_pages_set,
	   "memory in KiB for the payload in progress on all connections; one address may use half of it (at least four times the largest payload that the kernel supports, default 0: a sixteenth of the memory)");
SVC2_PARAM(address_connections, SVC2_ADDRESS_CONNS, 1, UINT_MAX, NULL,
	   "maximum number of connections of one address (default 128); applies to new connections");
SVC2_PARAM(connections, 0, 0, UINT_MAX, NULL,
	   "maximum number of connections; one address may use half of them (default 0: one for each 8 MiB of the memory, at least 64); applies to new connections");
SVC2_PARAM(min_version, RPCRDMA2_VERS_ONE, RPCRDMA2_VERS_ONE, RPCRDMA2_VERS_TWO,
	   NULL,
	   "lowest RPC-over-RDMA version to support, 1 or 2 (default 1); applies to new messages on all connections");
SVC2_PARAM(max_version, RPCRDMA2_VERS_TWO, RPCRDMA2_VERS_ONE, RPCRDMA2_VERS_TWO,
	   NULL,
	   "highest RPC-over-RDMA version to support, 1 or 2 (default 2); applies to new messages on all connections");

u32 svc2_backward = RDMA2_BKREQSUP_GENL;
module_param_cb(backward, &rpcrdma2_backward_ops, &svc2_backward, 0644);
__MODULE_PARM_TYPE(backward, "charp");
MODULE_PARM_DESC(backward, "callbacks: none, inline (without chunks) or genl (with chunks) (default genl); applies to new connections");

static int __init svcrdma2_init(void)
{
	int ret = -ENOMEM;

	svc2_budget_set();
	svc2_pages_set();
	svc2_msg_cache = KMEM_CACHE(svc2_msg, 0);
	if (!svc2_msg_cache)
		return ret;
	ret = svc2_sinks_init();
	if (ret)
		goto out_cache;
	ret = -ENOMEM;
	svc2_wq = alloc_workqueue("svcrdma2", WQ_UNBOUND, 0);
	if (!svc2_wq)
		goto out_sinks;
	ret = svc2_view_init();
	if (ret)
		goto out_wq;
	ret = xprt_register_transport(&svc2_bc_class);
	if (ret)
		goto out_view;
	ret = svc2_classes_init();
	if (ret)
		goto out_bc_class;
	svc2_debugfs_init();
	return 0;

out_bc_class:
	xprt_unregister_transport(&svc2_bc_class);
out_view:
	svc2_view_exit();
out_wq:
	destroy_workqueue(svc2_wq);
out_sinks:
	svc2_sinks_exit();
out_cache:
	kmem_cache_destroy(svc2_msg_cache);
	return ret;
}

/*
 * All listeners and connections are gone, but work that put the last of them
 * may not have returned. Neither may svc2_bc_destroy(), which runs in work of
 * the kernel, and only has to return. (A preemptible kernel without
 * CONFIG_TASKS_RCU does not wait for that.)
 */
static void __exit svcrdma2_exit(void)
{
	svc2_classes_exit();
	xprt_unregister_transport(&svc2_bc_class);
	svc2_view_exit();
	svc2_txs_exit();
	destroy_workqueue(svc2_wq);
	synchronize_rcu_tasks();
	svc2_debugfs_exit();
	svc2_sinks_exit();
	kmem_cache_destroy(svc2_msg_cache);
	WARN_ON_ONCE(atomic_long_read(&svc2_budget.bu_pages));
}

module_init(svcrdma2_init);
module_exit(svcrdma2_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 2, server");
MODULE_LICENSE("GPL");
MODULE_VERSION(RPCRDMA2_VERSION);
MODULE_INFO(import_ns, "RPCRDMA2");
