/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What we allow ourselves to send. Stricter than what we accept: a header
 * refused here is a bug of the caller, not of the peer.
 */
#ifndef _RPCRDMA2_SENDABLE_H
#define _RPCRDMA2_SENDABLE_H

#include <linux/overflow.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/error.h>
#include <rpcrdma2/header.h>

/* S05: segments that exist, whose lengths add up to that of the chunk */
static inline bool rpcrdma2_chunk_sound(const struct rpcrdma2_hdr *h,
					const struct rpcrdma2_chunk *ck)
{
	u32 sum = 0;
	unsigned int i;

	if (ck->ck_first + ck->ck_nsegs > h->h_nsegs)
		return false;
	for (i = 0; i < ck->ck_nsegs; i++)
		if (check_add_overflow(sum, h->h_segs[ck->ck_first + i].rs_length,
				       &sum))
			return false;
	return sum == ck->ck_length;
}

/* S05, S09: ascending aligned positions, no empty segment, less than 2^32 */
static inline bool rpcrdma2_reads_sendable(const struct rpcrdma2_hdr *h)
{
	const struct rpcrdma2_chunk *ck;
	unsigned int i, j;
	u32 sum = 0;

	for (i = 0; i < h->h_nreads; i++) {
		ck = &h->h_reads[i];
		if (ck->ck_position % XDR_UNIT || !ck->ck_nsegs)
			return false;
		if (i && ck->ck_position <= ck[-1].ck_position)
			return false;
		if (!rpcrdma2_chunk_sound(h, ck) ||
		    check_add_overflow(sum, ck->ck_length, &sum))
			return false;
		for (j = 0; j < ck->ck_nsegs; j++)
			if (!h->h_segs[ck->ck_first + j].rs_length)
				return false;
	}
	return true;
}

/*
 * S10: a Call offers no Write chunk without segments. A Reply gives back the
 * list of the Call as it came (E-10).
 */
static inline bool rpcrdma2_writes_sendable(const struct rpcrdma2_hdr *h)
{
	unsigned int i;

	for (i = 0; i < h->h_nwrites; i++) {
		if (!h->h_writes[i].ck_nsegs && h->h_direction == RDMA2_CALL)
			return false;
		if (!rpcrdma2_chunk_sound(h, &h->h_writes[i]))
			return false;
	}
	if (!h->h_has_reply)
		return true;
	return h->h_reply.ck_nsegs && rpcrdma2_chunk_sound(h, &h->h_reply);
}

/* C-072, C-073, S47: a handle of the same Call, or 0; always 0 in a Reply */
static inline bool rpcrdma2_inv_handle_sendable(const struct rpcrdma2_hdr *h)
{
	unsigned int i;

	if (!h->h_inv_handle)
		return true;
	if (h->h_vers != RPCRDMA2_VERS_TWO || h->h_direction != RDMA2_CALL)
		return false;
	for (i = 0; i < h->h_nsegs; i++)
		if (h->h_segs[i].rs_handle == h->h_inv_handle)
			return true;
	return false;
}

/* E-05, S07: the RPC message is in the Position-Zero chunk or behind us */
static inline bool rpcrdma2_call_sendable(const struct rpcrdma2_hdr *h)
{
	bool zero = h->h_nreads && !h->h_reads[0].ck_position;

	return zero == (h->h_proc == RDMA2_NOMSG);
}

/* E-06, E-22, S10: no Reads, and a Reply chunk exactly when it is used */
static inline bool rpcrdma2_reply_sendable(const struct rpcrdma2_hdr *h)
{
	if (h->h_nreads)
		return false;
	if (h->h_proc == RDMA2_NOMSG)
		return h->h_has_reply && h->h_reply.ck_length;
	return !h->h_has_reply;
}

static inline bool rpcrdma2_rpc_sendable(const struct rpcrdma2_hdr *h)
{
	if (h->h_nreads > RPCRDMA2_MAX_READ_CHUNKS ||
	    h->h_nwrites > RPCRDMA2_MAX_WRITE_CHUNKS ||
	    h->h_nsegs > RPCRDMA2_MAX_SEGMENTS)
		return false;
	if (!rpcrdma2_reads_sendable(h) || !rpcrdma2_writes_sendable(h) ||
	    !rpcrdma2_inv_handle_sendable(h))
		return false;

	switch (h->h_direction) {	/* C-067, S06: must be told */
	case RDMA2_CALL:
		return rpcrdma2_call_sendable(h);
	case RDMA2_REPLY:
		return rpcrdma2_reply_sendable(h);
	default:
		return false;
	}
}

/**
 * rpcrdma2_sendable - does a header keep the rules of sending?
 * @h: header about to be encoded
 *
 * C-067, C-072, S05 to S10, S47. A credit of zero is never sent (B-07, C-077,
 * S26). That rdma_xid and rdma_direction equal the words of the RPC message
 * (C-067, S08) is for the caller to see to: the message is not at hand here.
 */
static inline bool rpcrdma2_sendable(const struct rpcrdma2_hdr *h)
{
	if (!h->h_credit)
		return false;
	if (h->h_proc == RDMA2_ERROR)
		return rpcrdma2_error_sendable(h);

	switch (h->h_vers) {
	case RPCRDMA2_VERS_ONE:
		return h->h_proc <= RDMA2_NOMSG && rpcrdma2_rpc_sendable(h);
	case RPCRDMA2_VERS_TWO:
		break;
	default:
		return false;
	}

	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return rpcrdma2_rpc_sendable(h);
	case RDMA2_OPTIONAL:
		return h->h_direction <= RDMA2_REPLY;
	case RDMA2_CONNPROP:
	case RDMA2_REQPROP:
	case RDMA2_RESPROP:
	case RDMA2_UPDPROP:
		return true;
	default:
		return false;
	}
}

#endif /* _RPCRDMA2_SENDABLE_H */
