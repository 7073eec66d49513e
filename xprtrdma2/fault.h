/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand, for tests: what no peer can cause and no device in software
 * does by itself. A kernel without fault injection has none of this.
 *
 *	fail_poszero	a Call that needs a Position-Zero chunk can not be
 *			sent, on this connection or any other
 *
 * It and those of rpcrdma2/fault.h are a folder each below xprtrdma2/ in debugfs,
 * with the files that Documentation/fault-injection/ of the kernel describes.
 */
#ifndef _XPRTRDMA2_FAULT_H
#define _XPRTRDMA2_FAULT_H

#include <linux/fault-inject.h>
#include <linux/types.h>

struct dentry;

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

extern struct fault_attr xprt2_fail_poszero;

void xprt2_faults_init(struct dentry *dir);

#define xprt2_fault(name)	should_fail(&xprt2_fail_##name, 1)

#else

static inline void xprt2_faults_init(struct dentry *dir)
{
}

#define xprt2_fault(name)	false

#endif

#endif /* _XPRTRDMA2_FAULT_H */
