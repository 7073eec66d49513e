// SPDX-License-Identifier: GPL-2.0
/*
 * What debugfs shows: xprtrdma2/counters, and xprtrdma2/connections, which is
 * /proc/net/rpc/xprtrdma2 for all network namespaces together.
 */
#include "xprtrdma2.h"

#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include <rpcrdma2/counters.h>
#include <rpcrdma2/fault.h>

static struct dentry *debug_dir;

static int connections_show(struct seq_file *seq, void *unused)
{
	xprt2_show_transports(seq, NULL);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(connections);

static int counters_show(struct seq_file *seq, void *unused)
{
	static const char *const names[] = {
#define XPRT2_NAME(name) #name,
		XPRT2_COUNTERS(XPRT2_NAME)
#undef XPRT2_NAME
#define XPRT2_NAME(name, ...) "ended_" #name,
		RPCRDMA2_LOSSES(XPRT2_NAME)
#undef XPRT2_NAME
	};

	rpcrdma2_counters_show(seq, xprt2_counters, names, ARRAY_SIZE(names));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

/**
 * xprt2_debugfs_init - make the files
 */
void xprt2_debugfs_init(void)
{
	debug_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("counters", 0444, debug_dir, NULL, &counters_fops);
	debugfs_create_file("connections", 0444, debug_dir, NULL,
			    &connections_fops);
	rpcrdma2_faults_init(debug_dir);
}

/**
 * xprt2_debugfs_exit - undo xprt2_debugfs_init()
 */
void xprt2_debugfs_exit(void)
{
	debugfs_remove_recursive(debug_dir);
}
