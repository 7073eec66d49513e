/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection for tests in a guest that is client and server: failures that
 * no peer can cause and no software device causes by itself. It is empty in a
 * kernel without fault injection. A point is the directory xprtrdma2/fail_NAME
 * in debugfs, with the files of Documentation/fault-injection/ of the kernel.
 */
#ifndef _RPCRDMA2_FAULT_H
#define _RPCRDMA2_FAULT_H

/* 6.1 needs these first. */
#include <linux/types.h>
#include <linux/gfp.h>

#include <linux/fault-inject.h>

struct dentry;

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

#define RPCRDMA2_FAULTS(F)						\
	/* a Reply of more than a page can be neither copied nor gathered, */ \
	/* except for pages that another Reply has left */		\
	F(buffer)							\
	F(done)		/* a backward Reply is sent: reported 20 ms late */ \
	F(entries)	/* too few Send Queue entries for a Call */	\
	/* the device of a new connection supports neither memory */	\
	/* registration by work requests nor Send with Invalidate */	\
	F(extensions)							\
	F(fence)	/* of several LOCAL_INVs the first is accepted */ \
	F(handle)	/* a Call has an invalid handle */		\
	F(inv)		/* invalidations are not posted: no completion */ \
	F(map)		/* a region cannot be mapped (transient) */	\
	/* transient, too: a page of a Receive, or several as one stretch; */ \
	/* memory for RDMA Reads and Writes; memory that a Send gathers */ \
	F(map_recv) F(map_rw) F(map_send)				\
	F(mr)		/* no region can be allocated (transient) */	\
	F(nominate)	/* a Call nominates no handle for invalidation */ \
	F(poszero)	/* a Position-Zero chunk cannot be sent, anywhere */ \
	F(pullup)	/* a short payload is sent from its pages */	\
	F(read)		/* RDMA Reads are not posted: no response */	\
	F(reply)	/* a Reply cannot be built, now or later */	\
	F(refused)	/* the peer refused a chain: reported 20 ms late */ \
	F(send)		/* a Send of mapped pages is not posted: no completion */ \
	/* the peer's Receives became too small since a message was built */ \
	F(send_max)

enum rpcrdma2_fail {
#define RPCRDMA2_FAIL(name) RPCRDMA2_FAIL_##name,
	RPCRDMA2_FAULTS(RPCRDMA2_FAIL)
#undef RPCRDMA2_FAIL
	RPCRDMA2_NFAULTS
};

extern struct fault_attr rpcrdma2_faults[RPCRDMA2_NFAULTS];

#define rpcrdma2_fault(name) \
	should_fail(&rpcrdma2_faults[RPCRDMA2_FAIL_##name], 1)

/**
 * rpcrdma2_faults_init - create the debugfs directories
 * @dir: the client's directory in debugfs
 */
void rpcrdma2_faults_init(struct dentry *dir);

#else

#define rpcrdma2_fault(name)	false

static inline void rpcrdma2_faults_init(struct dentry *dir)
{
}

#endif

#endif /* _RPCRDMA2_FAULT_H */
