/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand, for tests: what no peer can cause and no device in software
 * does by itself. A kernel without fault injection has none of this.
 *
 *	fail_map	memory of a region can not be mapped, which passes
 *	fail_mr		a memory region can not be allocated, which passes
 *
 * The client shows them in debugfs, with its own.
 */
#ifndef _RPCRDMA2_FAULT_H
#define _RPCRDMA2_FAULT_H

#include <linux/fault-inject.h>

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

extern struct fault_attr rpcrdma2_fail_map;
extern struct fault_attr rpcrdma2_fail_mr;

#define rpcrdma2_fault(name)	should_fail(&rpcrdma2_fail_##name, 1)

#else

#define rpcrdma2_fault(name)	false

#endif

#endif /* _RPCRDMA2_FAULT_H */
