/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private data of the connection manager, RFC 8797. It is always sent, but used
 * only on a version 1 connection (S28).
 */
#ifndef _RPCRDMA2_CM_H
#define _RPCRDMA2_CM_H

#include <linux/minmax.h>
#include <linux/types.h>

#include <rpcrdma2/proto.h>

#define RPCRDMA2_CM_MAGIC	0xf6ab0e18
#define RPCRDMA2_CM_VERSION	1
#define RPCRDMA2_CM_F_INV	0x01	/* accepts Send With Invalidate */

/* Sizes are encoded in these units, minus one: 1 KB to 256 KB (P-11). */
#define RPCRDMA2_CM_UNIT	1024
#define RPCRDMA2_CM_UNITS_MAX	256

/**
 * struct rpcrdma2_cm_private - private data on the wire
 * @cm_magic: format identifier
 * @cm_version: format version
 * @cm_flags: RPCRDMA2_CM_F_INV; the other bits are zero (P-10)
 * @cm_send_size: largest Send of the sender
 * @cm_recv_size: size of the sender's Receives
 */
struct rpcrdma2_cm_private {
	__be32	cm_magic;
	u8	cm_version;
	u8	cm_flags;
	u8	cm_send_size;
	u8	cm_recv_size;
};

/**
 * struct rpcrdma2_cm_limits - decoded private data
 * @cl_send: largest Send, in bytes
 * @cl_recv: size of a Receive, in bytes
 * @cl_inv: the sender accepts a Send With Invalidate
 */
struct rpcrdma2_cm_limits {
	u32	cl_send;
	u32	cl_recv;
	bool	cl_inv;
};

static inline u8 rpcrdma2_cm_encode_size(u32 bytes)
{
	return clamp(bytes / RPCRDMA2_CM_UNIT, 1U,
		     (u32)RPCRDMA2_CM_UNITS_MAX) - 1;
}

static inline u32 rpcrdma2_cm_decode_size(u8 wire)
{
	return (wire + 1) * RPCRDMA2_CM_UNIT;
}

/**
 * rpcrdma2_cm_encode - encode private data
 * @pm: private data to send
 * @cl: own limits; sizes are rounded down to whole units
 */
void rpcrdma2_cm_encode(struct rpcrdma2_cm_private *pm,
			const struct rpcrdma2_cm_limits *cl);

/**
 * rpcrdma2_cm_decode - decode the peer's private data
 * @cl: limits of the peer; the defaults of version 1 if there is no private
 *	data (P-04)
 * @data: private data of the CM event, unaligned, or NULL
 * @len: length of @data; may exceed the format, because the CM pads (S28)
 *
 * Return: true if the data is of this format (P-05, P-06).
 */
bool rpcrdma2_cm_decode(struct rpcrdma2_cm_limits *cl, const void *data,
			size_t len);

#endif /* _RPCRDMA2_CM_H */
