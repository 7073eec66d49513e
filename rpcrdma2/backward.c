// SPDX-License-Identifier: GPL-2.0
/*
 * The module parameter of the backward direction, for both ends.
 */
#include <linux/export.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include <rpcrdma2/backward.h>

static const char *const levels[] = {
	[RDMA2_BKREQSUP_NONE]	= "none",
	[RDMA2_BKREQSUP_INLINE]	= "inline",
	[RDMA2_BKREQSUP_GENL]	= "genl",
};

static int set_level(const char *val, const struct kernel_param *kp)
{
	int level = sysfs_match_string(levels, val);

	if (level < 0)
		return level;
	WRITE_ONCE(*(u32 *)kp->arg, level);
	return 0;
}

static int get_level(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", levels[READ_ONCE(*(u32 *)kp->arg)]);
}

const struct kernel_param_ops rpcrdma2_backward_ops = {
	.set = set_level,
	.get = get_level,
};
EXPORT_SYMBOL_GPL(rpcrdma2_backward_ops);
