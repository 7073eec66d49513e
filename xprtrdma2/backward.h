/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of a backward Call, decided from its header alone.
 *
 * Version 2 can say that there are no chunks to be, and that there is no service or
 * no room; version 1 can only complain about chunks, the lack of one for a long
 * Reply included, and stays silent about the rest.
 */
#ifndef _XPRTRDMA2_BACKWARD_H
#define _XPRTRDMA2_BACKWARD_H

#include <linux/minmax.h>

#include <rpcrdma2/codec.h>
#include <rpcrdma2/credit.h>
#include <rpcrdma2/error.h>
#include <rpcrdma2/message.h>

enum {
	/* Calls of the peer that may be outstanding, unless a parameter says otherwise */
	XPRT2_BACKWARD_CREDITS	= 16,
	XPRT2_BACKWARD_MAX	= 256,

	/* what one of them may have, at GENL: Read chunks, and as many Write chunks */
	XPRT2_BACKWARD_CHUNKS	= 2,
	/* segments in each chunk; a Reply's header then fits the headroom */
	XPRT2_BACKWARD_SEGS	= 8,
	/* parts it is read or written in: a data item may interrupt a segment */
	XPRT2_BACKWARD_PARTS	= (XPRT2_BACKWARD_CHUNKS + 1) * XPRT2_BACKWARD_SEGS,
};

/*
 * Requests for @credits Calls, and for Replies and errors whose Send is not known to be
 * done, or which the service's threads have not let go of yet: the server counts neither
 * as outstanding. One more is kept for errors: see xprt2_pool_pop().
 */
static inline unsigned int xprt2_backward_reqs(unsigned int credits)
{
	return 4 * max_t(unsigned int, credits, XPRT2_BACKWARD_CREDITS) + 1;
}

/* How many of these Replies may have: Calls, and answers of other kinds, find the rest. */
static inline unsigned int xprt2_backward_answers(unsigned int credits)
{
	return 2 * max_t(unsigned int, credits, XPRT2_BACKWARD_CREDITS);
}

/**
 * xprt2_share_receives - RPCs of both directions that there are Receives for
 * @posted: Receives
 * @credits: Calls of the client that the server allows
 * @wanted: Calls of the server that are to be granted
 * @calls: as many may be granted. It does not become less, for the server may know it;
 *	and is 1 at least, which the server need not be told (C-097)
 *
 * When there are too few each direction has half of them.
 *
 * Return: Calls of the client, 1 at least.
 */
static inline u32 xprt2_share_receives(u32 posted, u32 credits, u32 wanted,
				       u32 *calls)
{
	u32 left = posted - min_t(u32, posted, RPCRDMA2_CONTROL_RECVS);
	u32 most = left < credits + wanted ? min(left / 2, wanted) : wanted;

	*calls = max3(*calls, most, 1U);
	left -= min(left, wanted ? *calls : 0);
	return clamp(left, 1U, credits);
}

/**
 * xprt2_is_granted - may the server have one more Call outstanding? (S56)
 * @outstanding: Calls of it that no answer was posted to
 * @granted: what xprt2_share_receives() has come to on their connection
 */
static inline bool xprt2_is_granted(u32 outstanding, u32 granted)
{
	return outstanding < granted;
}

/* C-083 to C-085: 0 where the number is 0, or that of the decoder */
static inline u32 xprt2_backward_limit(u32 level, enum rpcrdma2_errcode code)
{
	if (level != RDMA2_BKREQSUP_GENL)
		return 0;
	if (code == RDMA2_ERR_SEGMENTS)
		return XPRT2_BACKWARD_SEGS;
	return code == RDMA2_ERR_READ_CHUNKS || code == RDMA2_ERR_WRITE_CHUNKS ?
	       XPRT2_BACKWARD_CHUNKS : 0;
}

/* One to read, or to say something of in the Reply: a Write chunk may be empty (E-10) */
static inline bool xprt2_has_chunks(const struct rpcrdma2_hdr *h)
{
	return h->h_nsegs || h->h_nwrites;
}

/* Within what the client announces that it takes (2.6)? */
static inline enum rpcrdma2_errcode
xprt2_judge_chunks(const struct rpcrdma2_hdr *h)
{
	u32 most = h->h_has_reply ? h->h_reply.ck_nsegs : 0;
	unsigned int i;

	if (h->h_nreads > XPRT2_BACKWARD_CHUNKS)
		return RDMA2_ERR_READ_CHUNKS;
	if (h->h_nwrites > XPRT2_BACKWARD_CHUNKS)
		return RDMA2_ERR_WRITE_CHUNKS;
	for (i = 0; i < h->h_nreads; i++)
		most = max_t(u32, most, h->h_reads[i].ck_nsegs);
	for (i = 0; i < h->h_nwrites; i++)
		most = max_t(u32, most, h->h_writes[i].ck_nsegs);
	return most > XPRT2_BACKWARD_SEGS ? RDMA2_ERR_SEGMENTS : RDMA2_OK;
}

/**
 * xprt2_judge_backward - is this a Call that the requester takes?
 * @msg: the message; of its header only as much is looked at as is valid
 * @level: enum rpcrdma2_bkreqsup that is in force
 *
 * GENL takes what a responder takes, within limits of its own (C-037). INLINE, S23:
 * the code names the first list that is there, also when the lists hold more than the
 * decoder does. A Reply chunk is no harm, the Reply comes inline all the same; only
 * one of more segments than the decoder holds is refused, with SEGMENTS. NONE is like
 * no service (S24).
 *
 * Return: RDMA2_OK, or the code that refuses it.
 */
static inline enum rpcrdma2_errcode
xprt2_judge_backward(const struct rpcrdma2_msg *msg, u32 level)
{
	enum rpcrdma2_errcode verdict = msg->mg_verdict;
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;

	if (verdict != RDMA2_OK && !rpcrdma2_is_excess(verdict))
		return verdict;
	if (level == RDMA2_BKREQSUP_NONE)
		return RDMA2_ERR_SYSTEM;
	if (level == RDMA2_BKREQSUP_GENL)
		return verdict ?: xprt2_judge_chunks(h);
	if (h->h_nreads)
		return RDMA2_ERR_READ_CHUNKS;
	return h->h_nwrites ? RDMA2_ERR_WRITE_CHUNKS : verdict;
}

/**
 * xprt2_refuse_backward - turn a backward Call into the error that answers it
 * @h: its header, or one with its xid and version; overwritten
 * @code: why
 * @arg: octets of the Reply, or what else goes with the code
 * @arg2: likewise, of code 7
 *
 * Return: false when there is nothing to be said (S24).
 */
static inline bool xprt2_refuse_backward(struct rpcrdma2_hdr *h,
					 enum rpcrdma2_errcode code, u32 arg,
					 u32 arg2)
{
	if (code == RDMA2_DROP ||
	    (code == RDMA2_ERR_SYSTEM && h->h_vers == RPCRDMA2_VERS_ONE))
		return false;

	rpcrdma2_set_error(h, code, arg, arg2);
	if (code != RDMA2_ERR_SEGMENTS)
		h->h_error.er_arg = arg;	/* S23: and not one chunk */
	return true;
}

#endif /* _XPRTRDMA2_BACKWARD_H */
