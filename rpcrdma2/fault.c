// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection points: see rpcrdma2/fault.h.
 */
#include <linux/debugfs.h>
#include <linux/export.h>

#include <rpcrdma2/fault.h>

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

DECLARE_FAULT_ATTR(rpcrdma2_fail_handle);
DECLARE_FAULT_ATTR(rpcrdma2_fail_map);
DECLARE_FAULT_ATTR(rpcrdma2_fail_fence);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_fence);
DECLARE_FAULT_ATTR(rpcrdma2_fail_buffer);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_buffer);
DECLARE_FAULT_ATTR(rpcrdma2_fail_done);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_done);
DECLARE_FAULT_ATTR(rpcrdma2_fail_entries);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_entries);
DECLARE_FAULT_ATTR(rpcrdma2_fail_extensions);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_extensions);
DECLARE_FAULT_ATTR(rpcrdma2_fail_inv);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_inv);
DECLARE_FAULT_ATTR(rpcrdma2_fail_map_recv);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_map_recv);
DECLARE_FAULT_ATTR(rpcrdma2_fail_map_rw);
DECLARE_FAULT_ATTR(rpcrdma2_fail_map_send);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_map_send);
DECLARE_FAULT_ATTR(rpcrdma2_fail_mr);
DECLARE_FAULT_ATTR(rpcrdma2_fail_nominate);
DECLARE_FAULT_ATTR(rpcrdma2_fail_poszero);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_poszero);
DECLARE_FAULT_ATTR(rpcrdma2_fail_read);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_read);
DECLARE_FAULT_ATTR(rpcrdma2_fail_reply);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_reply);
DECLARE_FAULT_ATTR(rpcrdma2_fail_send_max);
EXPORT_SYMBOL_GPL(rpcrdma2_fail_send_max);

/* Injected faults are deliberate and not logged. */
static void rpcrdma2_fault_show(struct dentry *dir, const char *name,
				struct fault_attr *attr)
{
	attr->verbose = 0;
	fault_create_debugfs_attr(name, dir, attr);
}

void rpcrdma2_faults_init(struct dentry *dir)
{
	rpcrdma2_fault_show(dir, "fail_buffer", &rpcrdma2_fail_buffer);
	rpcrdma2_fault_show(dir, "fail_done", &rpcrdma2_fail_done);
	rpcrdma2_fault_show(dir, "fail_entries", &rpcrdma2_fail_entries);
	rpcrdma2_fault_show(dir, "fail_extensions", &rpcrdma2_fail_extensions);
	rpcrdma2_fault_show(dir, "fail_fence", &rpcrdma2_fail_fence);
	rpcrdma2_fault_show(dir, "fail_handle", &rpcrdma2_fail_handle);
	rpcrdma2_fault_show(dir, "fail_inv", &rpcrdma2_fail_inv);
	rpcrdma2_fault_show(dir, "fail_map", &rpcrdma2_fail_map);
	rpcrdma2_fault_show(dir, "fail_map_recv", &rpcrdma2_fail_map_recv);
	rpcrdma2_fault_show(dir, "fail_map_rw", &rpcrdma2_fail_map_rw);
	rpcrdma2_fault_show(dir, "fail_map_send", &rpcrdma2_fail_map_send);
	rpcrdma2_fault_show(dir, "fail_mr", &rpcrdma2_fail_mr);
	rpcrdma2_fault_show(dir, "fail_nominate", &rpcrdma2_fail_nominate);
	rpcrdma2_fault_show(dir, "fail_poszero", &rpcrdma2_fail_poszero);
	rpcrdma2_fault_show(dir, "fail_read", &rpcrdma2_fail_read);
	rpcrdma2_fault_show(dir, "fail_reply", &rpcrdma2_fail_reply);
	rpcrdma2_fault_show(dir, "fail_send_max", &rpcrdma2_fail_send_max);
}
EXPORT_SYMBOL_GPL(rpcrdma2_faults_init);

#endif
