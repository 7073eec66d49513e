/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand, for tests of a guest that is client and server: what no peer can
 * cause and no device in software does by itself. A kernel without fault injection
 * has none of this.
 *
 *	fail_buffer	a Reply of more than a page can neither be copied nor
 *			gathered, but for pages that another Reply has left
 *	fail_done	the client sees 20 ms late that a backward Reply is sent
 *	fail_entries	the Send Queue of the client seems to have too few entries for a
 *			Call
 *	fail_extensions	the device of a connection that begins can not register memory
 *			by work requests, nor send with invalidation
 *	fail_fence	of several regions the device is told to invalidate the first
 *			alone, and takes no more
 *	fail_handle	a Call has a handle that is none
 *	fail_inv	invalidations never end: the device is not told of them
 *	fail_map	memory of a region can not be mapped, which passes
 *	fail_map_recv	likewise a page of a Receive of either end, or several in one stretch
 *	fail_map_rw	likewise memory for RDMA Reads and Writes of the server
 *	fail_map_send	likewise what a Send gathers, or its buffer, at either end
 *	fail_mr		a memory region can not be allocated, which passes
 *	fail_nominate	a Call nominates no handle to be invalidated
 *	fail_poszero	a Call that needs a Position-Zero chunk can not be
 *			sent, on this connection or any other
 *	fail_read	RDMA Reads of either end get no response: the device is not told of
 *			them
 *	fail_reply	a Reply can not be built, now or later
 *	fail_send_max	the peer's Receives have become too small for a message
 *			since it was built
 *
 * Each is a folder below xprtrdma2/ in debugfs, with the files that
 * Documentation/fault-injection/ of the kernel describes.
 */
#ifndef _RPCRDMA2_FAULT_H
#define _RPCRDMA2_FAULT_H

/* 6.1 wants these in front. */
#include <linux/types.h>
#include <linux/gfp.h>

#include <linux/fault-inject.h>

struct dentry;

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

extern struct fault_attr rpcrdma2_fail_buffer;
extern struct fault_attr rpcrdma2_fail_done;
extern struct fault_attr rpcrdma2_fail_entries;
extern struct fault_attr rpcrdma2_fail_extensions;
extern struct fault_attr rpcrdma2_fail_fence;
extern struct fault_attr rpcrdma2_fail_handle;
extern struct fault_attr rpcrdma2_fail_inv;
extern struct fault_attr rpcrdma2_fail_map;
extern struct fault_attr rpcrdma2_fail_map_recv;
extern struct fault_attr rpcrdma2_fail_map_rw;
extern struct fault_attr rpcrdma2_fail_map_send;
extern struct fault_attr rpcrdma2_fail_mr;
extern struct fault_attr rpcrdma2_fail_nominate;
extern struct fault_attr rpcrdma2_fail_poszero;
extern struct fault_attr rpcrdma2_fail_read;
extern struct fault_attr rpcrdma2_fail_reply;
extern struct fault_attr rpcrdma2_fail_send_max;

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
