// SPDX-License-Identifier: GPL-2.0
/*
 * What debugfs shows: svcrdma2/counters, svcrdma2/connections, which is
 * /proc/net/rpc/svcrdma2 for all network namespaces together, and how much memory
 * all Receives have, svcrdma2/receives, and all payload under way, svcrdma2/transfers
 */
#include <linux/debugfs.h>
#include <linux/module.h>

#include <rpcrdma2/counters.h>

#include "svcrdma2.h"

static struct dentry *debug_dir;

static const char *const counter_names[] = {
#define SVC2_NAME(name) #name,
	SVC2_COUNTERS(SVC2_NAME)
#undef SVC2_NAME
#define SVC2_NAME(name, ...) "ended_" #name,
	RPCRDMA2_LOSSES(SVC2_NAME)
#undef SVC2_NAME
};

static int svc2_counters_show(struct seq_file *seq, void *unused)
{
	rpcrdma2_counters_show(seq, svc2_counters, counter_names,
			       ARRAY_SIZE(counter_names));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc2_counters);

static int svc2_connections_show(struct seq_file *seq, void *unused)
{
	svc2_show_connections(seq, NULL);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc2_connections);

static int svc2_receives_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "octets %lu\nmost %lu\n",
		   atomic_long_read(&svc2_budget.bu_pages) << PAGE_SHIFT,
		   READ_ONCE(svc2_budget.bu_most) << PAGE_SHIFT);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc2_receives);

static int svc2_transfers_show(struct seq_file *seq, void *unused)
{
	svc2_transfer_show(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc2_transfers);

/**
 * svc2_debugfs_init - make the files
 *
 * A kernel without debugfs counts all the same.
 */
void svc2_debugfs_init(void)
{
	debug_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("counters", 0444, debug_dir, NULL,
			    &svc2_counters_fops);
	debugfs_create_file("connections", 0400, debug_dir, NULL,
			    &svc2_connections_fops);
	debugfs_create_file("receives", 0444, debug_dir, NULL,
			    &svc2_receives_fops);
	debugfs_create_file("transfers", 0400, debug_dir, NULL,
			    &svc2_transfers_fops);
}

/**
 * svc2_debugfs_exit - undo svc2_debugfs_init()
 */
void svc2_debugfs_exit(void)
{
	debugfs_remove_recursive(debug_dir);
}
