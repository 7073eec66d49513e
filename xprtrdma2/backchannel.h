/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of a backward Call, decided from its header alone.
 *
 * The client is at RDMA2_BKREQSUP_INLINE: no chunks. Version 2 can say so, and that
 * there is no service or no room; version 1 can only complain about chunks,
 * the lack of one for a long Reply included, and stays silent about the rest.
 */
#ifndef _XPRTRDMA2_BACKCHANNEL_H
#define _XPRTRDMA2_BACKCHANNEL_H

#include <rpcrdma2/codec.h>
#include <rpcrdma2/error.h>
#include <rpcrdma2/message.h>

enum {
	/* Calls of the peer that may be outstanding (B-04, B-09) */
	XPRT2_BACKWARD_CREDITS	= 16,
	/* those, and Replies and errors whose Send is not known to be done */
	XPRT2_BACKWARD_REQS	= 2 * XPRT2_BACKWARD_CREDITS,
};

/**
 * xprt2_judge_backward - is this a Call that an INLINE requester takes?
 * @msg: the message; of its header only as much is looked at as is valid
 *
 * S23: the code names the first list that is there, also when the lists hold
 * more than the decoder does. A Reply chunk is no harm, the Reply comes inline
 * all the same; only one of more segments than the decoder holds is refused,
 * with SEGMENTS.
 *
 * Return: RDMA2_OK, or the code that refuses it.
 */
static inline enum rpcrdma2_errcode
xprt2_judge_backward(const struct rpcrdma2_msg *msg)
{
	enum rpcrdma2_errcode verdict = msg->mg_verdict;
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;

	if (verdict != RDMA2_OK && !rpcrdma2_is_excess(verdict))
		return verdict;
	if (h->h_nreads)
		return RDMA2_ERR_READ_CHUNKS;
	return h->h_nwrites ? RDMA2_ERR_WRITE_CHUNKS : verdict;
}

/**
 * xprt2_refuse_backward - turn a backward Call into the error that answers it
 * @h: its header, or one with its xid and version; overwritten
 * @code: why
 * @length: octets of the Reply, when that is why
 *
 * Return: false when there is nothing to be said (S24).
 */
static inline bool xprt2_refuse_backward(struct rpcrdma2_hdr *h,
					 enum rpcrdma2_errcode code, u32 length)
{
	if (code == RDMA2_DROP ||
	    (code == RDMA2_ERR_SYSTEM && h->h_vers == RPCRDMA2_VERS_ONE))
		return false;

	rpcrdma2_set_error(h, code, 0, 0);
	if (code != RDMA2_ERR_SEGMENTS)
		h->h_error.er_arg = length;	/* S23: and not one chunk */
	h->h_credit = XPRT2_BACKWARD_CREDITS;
	return true;
}

#endif /* _XPRTRDMA2_BACKCHANNEL_H */
