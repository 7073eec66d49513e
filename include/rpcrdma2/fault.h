/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand, for tests of a client: what no peer can cause and no device in
 * software does by itself. A kernel without fault injection has none of this.
 *
 *	fail_map	memory of a region can not be mapped, which passes
 *	fail_mr		a memory region can not be allocated, which passes
 *	fail_poszero	a Call that needs a Position-Zero chunk can not be
 *			sent, on this connection or any other
 *
 * Each is a folder below xprtrdma2/ in debugfs, with the files that
 * Documentation/fault-injection/ of the kernel describes.
 */
#ifndef _RPCRDMA2_FAULT_H
#define _RPCRDMA2_FAULT_H

#include <linux/fault-inject.h>

struct dentry;

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

extern struct fault_attr rpcrdma2_fail_map;
extern struct fault_attr rpcrdma2_fail_mr;
extern struct fault_attr rpcrdma2_fail_poszero;

#define rpcrdma2_fault(name)	should_fail(&rpcrdma2_fail_##name, 1)

/**
 * rpcrdma2_faults_init - make the folders
 * @dir: the client's folder in debugfs
 */
void rpcrdma2_faults_init(struct dentry *dir);

#else

#define rpcrdma2_fault(name)	false

static inline void rpcrdma2_faults_init(struct dentry *dir)
{
}

#endif

#endif /* _RPCRDMA2_FAULT_H */
