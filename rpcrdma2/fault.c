// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection points: see rpcrdma2/fault.h.
 */
#include <linux/debugfs.h>
#include <linux/export.h>

#include <rpcrdma2/fault.h>

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

struct fault_attr rpcrdma2_faults[] = {
	[0 ... RPCRDMA2_NFAULTS - 1] = FAULT_ATTR_INITIALIZER
};
EXPORT_SYMBOL_GPL(rpcrdma2_faults);

static const char *const rpcrdma2_fault_names[] = {
#define RPCRDMA2_NAME(name) "fail_" #name,
	RPCRDMA2_FAULTS(RPCRDMA2_NAME)
#undef RPCRDMA2_NAME
};

void rpcrdma2_faults_init(struct dentry *dir)
{
	unsigned int i;

	for (i = 0; i < RPCRDMA2_NFAULTS; i++) {
		/* Injected faults are deliberate and not logged. */
		rpcrdma2_faults[i].verbose = 0;
		fault_create_debugfs_attr(rpcrdma2_fault_names[i], dir,
					  &rpcrdma2_faults[i]);
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_faults_init);

#endif
