/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations shared by the files of the core and by no other module
 */
#ifndef _RPCRDMA2_CORE_H
#define _RPCRDMA2_CORE_H

#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

struct ib_cq;
struct work_struct;
struct workqueue_struct;

/* module.c */
extern struct workqueue_struct *rpcrdma2_wq;

/* queue.c: the Receive CQ of an owner that polls it, see rpcrdma2_recvs_poll() */
void rpcrdma2_recv_work(struct work_struct *work);
void rpcrdma2_recv_event(struct ib_cq *cq, void *context);

/* rw.c */
int rpcrdma2_rw_start(void);
void rpcrdma2_rw_stop(void);

/* Helpers of wire.c and props.c, which decode headers and property messages */

/* A position in received bytes, which are contiguous */
struct rpcrdma2_cursor {
	const __be32	*cu_at;
	u32		cu_left;
	u32		cu_beyond;	/* of the message, somewhere else */
};

/**
 * rpcrdma2_take - consume bytes and their XDR padding
 * @cu: position
 * @len: number of bytes; 0 never fails
 *
 * Return: the first word, or NULL if the message is too short.
 */
static inline const __be32 *rpcrdma2_take(struct rpcrdma2_cursor *cu, u32 len)
{
	const __be32 *p = cu->cu_at;

	if (unlikely(len > cu->cu_left))
		return NULL;
	len = xdr_align_size(len);
	if (unlikely(len > cu->cu_left))
		return NULL;
	cu->cu_at += len / XDR_UNIT;
	cu->cu_left -= len;
	return p;
}

/**
 * rpcrdma2_take_count - read a count and check it against the bytes that follow
 * @cu: position
 * @size: size of the smallest item, in bytes
 * @count: number of items
 *
 * Return: false if there is no room for @count items (C-016, C-106).
 */
static inline bool rpcrdma2_take_count(struct rpcrdma2_cursor *cu, u32 size,
				       u32 *count)
{
	const __be32 *p = rpcrdma2_take(cu, XDR_UNIT);

	if (!p)
		return false;
	*count = be32_to_cpup(p);
	return *count <= cu->cu_left / size;
}

/* Direction of a property message (S52) */
static inline enum rpcrdma2_direction rpcrdma2_property_direction(u32 opttype)
{
	return opttype == RDMA2_OPT_RESPROP ? RDMA2_REPLY : RDMA2_CALL;
}

#endif /* _RPCRDMA2_CORE_H */
