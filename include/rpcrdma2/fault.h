/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection for tests in a guest that is client and server: failures that
 * no peer can cause and no software device causes by itself. It is empty in a
 * kernel without fault injection. A point is a directory below xprtrdma2/ in
 * debugfs, with the files of Documentation/fault-injection/ of the kernel.
 *
 *	fail_buffer	a Reply of more than a page can neither be copied nor
 *			gathered, except for pages that another Reply has left
 *	fail_done	the client is notified 20 ms late that a backward Reply
 *			is sent
 *	fail_entries	the client's Send Queue has too few entries for a Call
 *	fail_extensions	the device of a new connection supports neither memory
 *			registration by work requests nor Send with Invalidate
 *	fail_fence	of several LOCAL_INVs the device accepts the first only
 *	fail_handle	a Call has an invalid handle
 *	fail_inv	invalidations never complete: they are not posted
 *	fail_map	a region cannot be mapped (transient)
 *	fail_map_recv	a page of a Receive of either end, or several pages as
 *			one stretch, cannot be mapped (transient)
 *	fail_map_rw	the server's memory for RDMA Reads and Writes cannot be
 *			mapped (transient)
 *	fail_map_send	memory that a Send of either end gathers, or its buffer,
 *			cannot be mapped (transient)
 *	fail_mr		a memory region cannot be allocated (transient)
 *	fail_nominate	a Call nominates no handle for invalidation
 *	fail_poszero	a Call that needs a Position-Zero chunk cannot be sent,
 *			on this connection or any other
 *	fail_pullup	the payload of a Call is sent from its pages, although
 *			it is short enough to be copied
 *	fail_read	RDMA Reads of either end get no response: they are not
 *			posted
 *	fail_reply	a Reply cannot be built, now or later
 *	fail_send_max	the peer's Receives have become too small for a message
 *			since it was built
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
	F(buffer) F(done) F(entries) F(extensions) F(fence) F(handle)	\
	F(inv) F(map) F(map_recv) F(map_rw) F(map_send) F(mr)		\
	F(nominate) F(poszero) F(pullup) F(read) F(reply) F(send_max)

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
