// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on demand: see fault.h.
 */
#include "fault.h"

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

#include <linux/debugfs.h>

#include <rpcrdma2/fault.h>

DECLARE_FAULT_ATTR(xprt2_fail_poszero);

/* A fault that was asked for is nothing to log. */
static void show_fault(struct dentry *dir, const char *name,
		       struct fault_attr *attr)
{
	attr->verbose = 0;
	fault_create_debugfs_attr(name, dir, attr);
}

/**
 * xprt2_faults_init - make the folders
 * @dir: folder in debugfs
 */
void xprt2_faults_init(struct dentry *dir)
{
	show_fault(dir, "fail_map", &rpcrdma2_fail_map);
	show_fault(dir, "fail_mr", &rpcrdma2_fail_mr);
	show_fault(dir, "fail_poszero", &xprt2_fail_poszero);
}

#endif
