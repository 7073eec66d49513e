// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on demand: see rpcrdma2/fault.h.
 */
#include <linux/debugfs.h>
#include <linux/export.h>

#include <rpcrdma2/fault.h>

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

DECLARE_FAULT_ATTR(rpcrdma2_fail_map);
DECLARE_FAULT_ATTR(rpcrdma2_fail_mr);
DECLARE_FAULT_ATTR(rpcrdma2_fail_poszero);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_poszero);

/* A fault that was asked for is nothing to log. */
static void show_fault(struct dentry *dir, const char *name,
		       struct fault_attr *attr)
{
	attr->verbose = 0;
	fault_create_debugfs_attr(name, dir, attr);
}

void rpcrdma2_faults_init(struct dentry *dir)
{
	show_fault(dir, "fail_map", &rpcrdma2_fail_map);
	show_fault(dir, "fail_mr", &rpcrdma2_fail_mr);
	show_fault(dir, "fail_poszero", &rpcrdma2_fail_poszero);
}
EXPORT_SYMBOL_GPL(rpcrdma2_faults_init);

#endif
