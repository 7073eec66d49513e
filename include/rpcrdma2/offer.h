/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The chunks that a requester offers with a Call: the bytes of the Call and of
 * its Reply that become the chunks of a plan of rpcrdma2_plan_call().
 */
#ifndef _RPCRDMA2_OFFER_H
#define _RPCRDMA2_OFFER_H

#include <linux/minmax.h>
#include <linux/sunrpc/xdr.h>
#include <linux/sunrpc/xprt.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/wire.h>

/* Bytes of the tail that are the XDR pad of the pages */
static inline u32 rpcrdma2_pad_len(const struct xdr_buf *buf)
{
	return min_t(u32, xdr_pad_size(buf->page_len), buf->tail[0].iov_len);
}

enum rpcrdma2_part {
	RPCRDMA2_PART_ALL,	/* head, pages, tail */
	RPCRDMA2_PART_PAGES,
	RPCRDMA2_PART_REST,	/* head, and tail without the pages' pad */
};

/**
 * rpcrdma2_offer_segs - number of segments that a chunk would need
 * @co: connection
 * @buf: message
 * @part: part of the message
 *
 * Return: an upper bound; exact for RPCRDMA2_PART_PAGES, and on devices whose
 * page lists may have holes.
 */
unsigned int rpcrdma2_offer_segs(const struct rpcrdma2_conn *co,
				 const struct xdr_buf *buf,
				 enum rpcrdma2_part part);

/**
 * rpcrdma2_offer_sizes - set the sizes of a plan from Call and Reply
 * @sz: gets the lengths of both, and which parts may be placed directly
 * @call: encoded Call
 * @reply: buffer for the Reply
 * @ddp: no layer transforms the bytes of the RPC (E-26)
 */
void rpcrdma2_offer_sizes(struct rpcrdma2_call_sizes *sz,
			  const struct xdr_buf *call,
			  const struct xdr_buf *reply, bool ddp);

/**
 * rpcrdma2_offer_measure - count the segments of all possible chunks
 * @co: connection
 * @sz: gets sz_*_segs
 * @call: encoded Call
 * @reply: buffer for the Reply
 */
void rpcrdma2_offer_measure(const struct rpcrdma2_conn *co,
			    struct rpcrdma2_call_sizes *sz,
			    const struct xdr_buf *call,
			    const struct xdr_buf *reply);

/**
 * rpcrdma2_offer - make the chunks of a plan
 * @co: connection
 * @ex: gets the regions
 * @plan: chunks to make
 * @call: encoded Call
 * @whole: source of a Position-Zero chunk of the whole Call: @call, or a copy
 * @reply: buffer for the Reply
 * @h: header without lists; gets them and a nominated handle
 *
 * On error the caller releases the regions with rpcrdma2_unexpose().
 *
 * Context: as rpcrdma2_expose().
 * Return: result of rpcrdma2_expose().
 */
int rpcrdma2_offer(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		   const struct rpcrdma2_call_plan *plan,
		   const struct xdr_buf *call, const struct xdr_buf *whole,
		   const struct xdr_buf *reply, struct rpcrdma2_hdr *h);

/**
 * rpcrdma2_trim_reply - trim the head of a Reply to its actual length
 * @rqst: request
 * @came: bytes received, except for those in a Write chunk
 *
 * The head of rq_rcv_buf has room for the most bytes that can precede the
 * payload. If fewer bytes arrived, the rest of the head does not belong to this
 * Reply, and the RPC layer counts the payload from the end of the head.
 */
void rpcrdma2_trim_reply(struct rpc_rqst *rqst, size_t came);

#endif /* _RPCRDMA2_OFFER_H */
