// SPDX-License-Identifier: GPL-2.0
/*
 * The client's counters in debugfs: xprtrdma2/counters
 */
#include "xprtrdma2.h"

#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include <rpcrdma2/counters.h>

#include "fault.h"

u64 __percpu *xprt2_counters;

static struct dentry *counters_dir;

static const char *const counter_names[] = {
#define XPRT2_NAME(name) #name,
	XPRT2_COUNTERS(XPRT2_NAME)
#undef XPRT2_NAME
};

static int counters_show(struct seq_file *seq, void *unused)
{
	rpcrdma2_counters_show(seq, xprt2_counters, counter_names,
			       ARRAY_SIZE(counter_names));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

/**
 * xprt2_counters_init - allocate the counters and show them
 *
 * Return: 0, or -ENOMEM. A kernel without debugfs counts all the same.
 */
int xprt2_counters_init(void)
{
	xprt2_counters = __alloc_percpu(XPRT2_C_COUNT * sizeof(u64),
					__alignof__(u64));
	if (!xprt2_counters)
		return -ENOMEM;
	counters_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("counters", 0444, counters_dir, NULL,
			    &counters_fops);
	xprt2_connections_init(counters_dir);
	xprt2_faults_init(counters_dir);
	return 0;
}

/**
 * xprt2_counters_exit - undo xprt2_counters_init()
 */
void xprt2_counters_exit(void)
{
	debugfs_remove_recursive(counters_dir);
	free_percpu(xprt2_counters);
}
