// SPDX-License-Identifier: GPL-2.0
/* The core module, which client and server share; module parameters of these */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include <rpcrdma2/param.h>
#include <rpcrdma2/release.h>
#include <rpcrdma2/wire.h>

#include "core.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

const char *const rpcrdma2_backward_names[] = {
	[RDMA2_BKREQSUP_NONE]	= "none",
	[RDMA2_BKREQSUP_INLINE]	= "inline",
	[RDMA2_BKREQSUP_GENL]	= "genl",
};
EXPORT_SYMBOL_GPL(rpcrdma2_backward_names);

const char *const rpcrdma2_version_names[] = { "any", "1", "2" };
EXPORT_SYMBOL_GPL(rpcrdma2_version_names);

static int rpcrdma2_param_parse(const struct rpcrdma2_param *pm,
				const char *val, unsigned int *value)
{
	int ret;

	if (pm->pm_names) {
		ret = __sysfs_match_string(pm->pm_names, pm->pm_max + 1, val);
		*value = ret;
		return min(ret, 0);
	}
	ret = kstrtouint(val, 0, value);
	if (!ret && (*value < pm->pm_min || *value > pm->pm_max))
		ret = -EINVAL;
	return ret;
}

static int rpcrdma2_param_set(const char *val, const struct kernel_param *kp)
{
	struct rpcrdma2_param *pm = kp->arg, *also = pm->pm_second;
	const char *colon = strchrnul(val, ':');
	unsigned int value, second = 0;
	char first[16];
	int ret;

	if (colon - val >= sizeof(first) || (*colon && !also))
		return -EINVAL;
	strscpy(first, val, colon - val + 1);
	ret = rpcrdma2_param_parse(pm, first, &value);
	if (!ret && *colon)
		ret = rpcrdma2_param_parse(also, colon + 1, &second);
	if (ret)
		return ret;
	WRITE_ONCE(pm->pm_value, value);
	if (*colon)
		WRITE_ONCE(also->pm_value, second);
	if (pm->pm_changed)
		pm->pm_changed();
	return 0;
}

static int rpcrdma2_param_get(char *buffer, const struct kernel_param *kp)
{
	const struct rpcrdma2_param *pm = kp->arg;
	int len;

	if (pm->pm_names)
		len = sysfs_emit(buffer, "%s",
				 pm->pm_names[READ_ONCE(pm->pm_value)]);
	else
		len = sysfs_emit(buffer, "%u", rpcrdma2_param(pm));
	if (pm->pm_second)
		len += sysfs_emit_at(buffer, len, ":%u",
				     rpcrdma2_param(pm->pm_second));
	return len + sysfs_emit_at(buffer, len, "\n");
}

const struct kernel_param_ops rpcrdma2_param_ops = {
	.set = rpcrdma2_param_set,
	.get = rpcrdma2_param_get,
};
EXPORT_SYMBOL_GPL(rpcrdma2_param_ops);

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
