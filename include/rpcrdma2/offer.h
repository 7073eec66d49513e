/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a requester offers with a Call: which octets of the Call and of its Reply
 * become the chunks that rpcrdma2_plan_call() has chosen.
 */
#ifndef _RPCRDMA2_OFFER_H
#define _RPCRDMA2_OFFER_H

#include <linux/minmax.h>
#include <linux/sunrpc/xdr.h>
#include <linux/sunrpc/xprt.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/header.h>
#include <rpcrdma2/plan.h>

/* Octets of the tail that are the XDR pad of the pages */
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
 * rpcrdma2_offer_segs - segments that a chunk would take, before it is offered
 * @co: connection
 * @buf: message
 * @part: what of it
 *
 * Return: an upper bound; exact for RPCRDMA2_PART_PAGES, and on devices whose
 * page lists may have holes.
 */
unsigned int rpcrdma2_offer_segs(const struct rpcrdma2_conn *co,
				 const struct xdr_buf *buf,
				 enum rpcrdma2_part part);

/**
 * rpcrdma2_offer_sizes - what the plan is made from, as far as messages say
 * @sz: sets the octets of both, and what may be placed directly
 * @call: encoded Call
 * @reply: where the Reply is to go
 * @ddp: nothing works on the octets of the RPC (E-26)
 */
void rpcrdma2_offer_sizes(struct rpcrdma2_call_sizes *sz,
			  const struct xdr_buf *call,
			  const struct xdr_buf *reply, bool ddp);

/**
 * rpcrdma2_offer_measure - the segments of all chunks that there may be
 * @co: connection
 * @sz: sets sz_*_segs
 * @call: encoded Call
 * @reply: where the Reply is to go
 */
void rpcrdma2_offer_measure(const struct rpcrdma2_conn *co,
			    struct rpcrdma2_call_sizes *sz,
			    const struct xdr_buf *call,
			    const struct xdr_buf *reply);

/**
 * rpcrdma2_offer - make the chunks of a plan
 * @co: connection
 * @ex: gets the regions
 * @plan: which chunks
 * @call: encoded Call
 * @whole: what a Position-Zero chunk of all of it is made from: @call, or a copy
 * @reply: where the Reply is to go
 * @h: header without lists; gets them, and nominates a handle
 *
 * On error the caller undoes all of it with rpcrdma2_unexpose().
 *
 * Context: as rpcrdma2_expose().
 * Return: what rpcrdma2_expose() returned.
 */
int rpcrdma2_offer(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		   const struct rpcrdma2_call_plan *plan,
		   const struct xdr_buf *call, const struct xdr_buf *whole,
		   const struct xdr_buf *reply, struct rpcrdma2_hdr *h);

/**
 * rpcrdma2_trim_reply - let the head of a Reply end where it ends
 * @rqst: request
 * @came: octets that came besides what a Write chunk brought
 *
 * The head of rq_rcv_buf has room for the most octets that come before the
 * payload. Fewer came: behind them lies nothing of this Reply, and the RPC layer
 * counts the payload from there.
 */
void rpcrdma2_trim_reply(struct rpc_rqst *rqst, size_t came);

#endif /* _RPCRDMA2_OFFER_H */
