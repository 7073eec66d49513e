// SPDX-License-Identifier: GPL-2.0
/*
 * The names of listeners. "rdma2" is always this module's. "rdma" is the name that
 * nfs.conf, rpc.nfsd and nfsd's netlink interface know: this module takes it too
 * where the kernel's own rpcrdma has not, so that they open, and open again, a
 * listener of this module without any change.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>

#include "svcrdma2.h"

static DEFINE_MUTEX(rdma_mutex);	/* guards the next three */
static bool want_rdma = true;
static bool have_rdma;
static bool classes_open;	/* between svc2_classes_init() and _exit() */

/* Take the name or give it back. Listeners and connections stay. */
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

/* What is so, and not what was asked for, once the module is loaded */
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
MODULE_PARM_DESC(rdma, "serve listeners that are called rdma too, where rpcrdma does not (default Y)");

/**
 * svc2_classes_init - make the names known
 *
 * That another module has the name "rdma" is no error.
 *
 * Return: 0, or a negative errno.
 */
int svc2_classes_init(void)
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
void svc2_classes_exit(void)
{
	scoped_guard(mutex, &rdma_mutex) {
		classes_open = false;
		want_rdma = false;
		svc2_register_rdma();
	}
	svc_unreg_xprt_class(&svc2_class);
}
