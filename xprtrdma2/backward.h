/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Disposition of a backward Call, decided from its header alone.
 *
 * A version 2 error can report that chunks are not accepted, that there is no
 * service, or that resources are short. A version 1 error can only report bad
 * chunks, including a missing Reply chunk for a long Reply; in all other cases
 * the Call is dropped silently.
 */
#ifndef _XPRTRDMA2_BACKWARD_H
#define _XPRTRDMA2_BACKWARD_H

#include <linux/minmax.h>

#include <rpcrdma2/codec.h>
#include <rpcrdma2/credit.h>
#include <rpcrdma2/error.h>
#include <rpcrdma2/message.h>

enum {
	/* outstanding Calls of the peer: default, maximum of the parameter */
	XPRT2_BACKWARD_CREDITS	= 16,
	XPRT2_BACKWARD_MAX	= 256,

	/* Read chunks of a Call at level GENL, and limit of Write chunks */
	XPRT2_BACKWARD_CHUNKS	= 2,
	/* segments in each chunk; a Reply's header then fits the headroom */
	XPRT2_BACKWARD_SEGS	= 8,
	/* parts of its RDMA Reads or Writes: a data item may split a segment */
	XPRT2_BACKWARD_PARTS	= (XPRT2_BACKWARD_CHUNKS + 1) * XPRT2_BACKWARD_SEGS,
};

/*
 * Backward requests that @credits Calls need. This includes Replies and errors
 * whose Send is not known to be complete, and requests that service threads
 * still hold: the server counts neither as outstanding. A further request is
 * reserved for errors: see xprt2_pool_pop().
 */
static inline unsigned int xprt2_backward_reqs(unsigned int credits)
{
	return 4 * max_t(unsigned int, credits, XPRT2_BACKWARD_CREDITS) + 1;
}

/* Limit of these requests for Replies. Calls and other answers use the rest. */
static inline unsigned int xprt2_backward_answers(unsigned int credits)
{
	return 2 * max_t(unsigned int, credits, XPRT2_BACKWARD_CREDITS);
}

/**
 * xprt2_share_receives - split the posted Receives between both directions
 * @posted: Receives
 * @credits: Calls of the client that the server allows
 * @wanted: Calls of the server that the client intends to grant
 * @calls: Calls granted to the server so far; updated to the number that may be
 *	granted now. It never decreases, because the server may know the old
 *	value, and is at least 1, which the server may use without a grant
 *	(C-097)
 *
 * When Receives are short, each direction gets half of them.
 *
 * Return: Calls of the client, at least 1.
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
 * xprt2_is_granted - check one more Call of the server against the grant (S56)
 * @outstanding: Calls of the server that no answer was posted to
 * @granted: result of xprt2_share_receives() on the connection of these Calls
 */
static inline bool xprt2_is_granted(u32 outstanding, u32 granted)
{
	return outstanding < granted;
}

/*
 * Limit to report with an error (C-083 to C-085). 0 means that no chunk is
 * accepted or, with SEGMENTS, that the limit of the decoder applies.
 */
static inline u32 xprt2_backward_limit(u32 level, enum rpcrdma2_errcode code)
{
	if (level != RDMA2_BKREQSUP_GENL)
		return 0;
	if (code == RDMA2_ERR_SEGMENTS)
		return XPRT2_BACKWARD_SEGS;
	return code == RDMA2_ERR_READ_CHUNKS || code == RDMA2_ERR_WRITE_CHUNKS ?
	       XPRT2_BACKWARD_CHUNKS : 0;
}

/*
 * True with a chunk to read, or to return in the Reply. A Write chunk may be
 * empty (E-10).
 */
static inline bool xprt2_has_chunks(const struct rpcrdma2_hdr *h)
{
	return h->h_nsegs || h->h_nwrites;
}

/* Check the chunks against the limits that the client announces (2.6). */
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
 * xprt2_judge_backward - decide whether the client accepts a backward Call
 * @msg: the message; only the valid part of its header is read
 * @level: enum rpcrdma2_bkreqsup in force
 *
 * GENL accepts the chunks that a responder accepts, within limits of its own
 * (C-037).
 *
 * INLINE, S23: the code names the first chunk list that is present, even when
 * the lists exceed the limits of the decoder. A Reply chunk is harmless,
 * because the Reply comes inline anyway; only a Reply chunk with more segments
 * than the decoder holds is refused, with SEGMENTS.
 *
 * NONE is handled like a missing service (S24).
 *
 * Return: RDMA2_OK, or the code that refuses the Call.
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
 * @h: header of the Call, or a header with its xid and version; overwritten
 * @code: reason
 * @arg: length of the Reply in bytes, or another first argument of the code
 * @arg2: second argument, for code 7
 *
 * Return: false when no error can be reported (S24).
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
		h->h_error.er_arg = arg;	/* S23: 0 means no chunk */
	return true;
}

#endif /* _XPRTRDMA2_BACKWARD_H */
