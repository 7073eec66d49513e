/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Injects single faults into kernels with fault injection.
 */
#ifndef _RPCRDMA2_KUNIT_FAULT_ONCE_H
#define _RPCRDMA2_KUNIT_FAULT_ONCE_H

#include <rpcrdma2/fault.h>

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
/* Arms the fault: it strikes once, at the @nth opportunity. */
static inline void fault_once(struct fault_attr *attr, unsigned long nth)
{
	attr->probability = 100;
	attr->verbose = 0;
	attr->interval = nth;
	attr->count = 0;
	atomic_set(&attr->times, 1);
}

/* Disarms the fault. Return: true if it struck. */
static inline bool fault_struck(struct fault_attr *attr)
{
	attr->probability = 0;
	return !atomic_read(&attr->times);
}
#endif

#endif /* _RPCRDMA2_KUNIT_FAULT_ONCE_H */
