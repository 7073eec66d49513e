/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rules of sending, which are stricter than those of decoding. The modules build no header
 * that breaks them, and do not check; the tests do.
 */
#ifndef _RPCRDMA2_SENDABLE_H
#define _RPCRDMA2_SENDABLE_H

#include <linux/overflow.h>

#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/wire.h>

/*
 * Whether the segments of a chunk exist, and their lengths add up to its length
 * (S05, S09). A Read chunk has segments, and none is empty: @least is 1.
 */
static inline bool rpcrdma2_chunk_sound(const struct rpcrdma2_hdr *h,
					const struct rpcrdma2_chunk *ck, u32 least)
{
	const struct rpcrdma2_segment *seg;
	unsigned int i;
	u32 sum = 0;

	if (ck->ck_first + ck->ck_nsegs > h->h_nsegs)
		return false;
	seg = &h->h_segs[ck->ck_first];
	for (i = 0; i < ck->ck_nsegs; i++, seg++)
		if (seg->rs_length < least ||
		    check_add_overflow(sum, seg->rs_length, &sum))
			return false;
	return sum == ck->ck_length && ck->ck_nsegs >= least;
}

/* Positions are aligned and ascend, and lengths add up to < 2^32 (S05, S09). */
static inline bool rpcrdma2_reads_sendable(const struct rpcrdma2_hdr *h)
{
	const struct rpcrdma2_chunk *ck = h->h_reads;
	unsigned int i;
	u32 sum = 0;

	for (i = 0; i < h->h_nreads; i++, ck++) {
		if (ck->ck_position % XDR_UNIT ||
		    !rpcrdma2_chunk_sound(h, ck, 1))
			return false;
		if (i && ck->ck_position <= ck[-1].ck_position)
			return false;
		if (check_add_overflow(sum, ck->ck_length, &sum))
			return false;
	}
	return true;
}

/*
 * A Call offers no Write chunk without segments (S10). A Reply returns the list
 * of the Call with all its chunks (E-10).
 */
static inline bool rpcrdma2_writes_sendable(const struct rpcrdma2_hdr *h)
{
	unsigned int i;

	for (i = 0; i < h->h_nwrites; i++) {
		if (!h->h_writes[i].ck_nsegs && h->h_direction == RDMA2_CALL)
			return false;
		if (!rpcrdma2_chunk_sound(h, &h->h_writes[i], 0))
			return false;
	}
	if (!h->h_has_reply)
		return true;
	return h->h_reply.ck_nsegs && rpcrdma2_chunk_sound(h, &h->h_reply, 0);
}

/* The handle is one of this Call, or 0; a Reply has 0 (C-072, C-073, S47). */
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

/* A Reply has no Read chunks, and no unused Reply chunk (E-06, E-22, S10). */
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

	switch (h->h_direction) { /* C-067, S06 */
	case RDMA2_CALL: /* a NOMSG has a Position-Zero chunk (E-05, S07) */
		return (h->h_nreads && !h->h_reads[0].ck_position) ==
		       (h->h_proc == RDMA2_NOMSG);
	case RDMA2_REPLY:
		return rpcrdma2_reply_sendable(h);
	default:
		return false;
	}
}

/* Ten codes, or two in version 1; ERR_VERS may carry any version (S36). */
static inline bool rpcrdma2_error_sendable(const struct rpcrdma2_hdr *h)
{
	u32 code = h->h_error.er_code;

	if (h->h_direction != RDMA2_REPLY)
		return false;
	if (code == RDMA2_ERR_VERS)
		return h->h_error.er_arg <= h->h_error.er_arg2;
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		return code == RDMA2_ERR_BAD_XDR;
	return h->h_vers == RPCRDMA2_VERS_TWO && code > RDMA2_ERR_VERS &&
	       code <= RDMA2_ERR_SYSTEM;
}

/*
 * Whether a header obeys the rules of sending: C-067, C-072, S05 to S10, S47, and no credit of
 * zero (B-07, C-077, S26). The words of the RPC message (C-067, S08) are not available here.
 */
static inline bool rpcrdma2_sendable(const struct rpcrdma2_hdr *h)
{
	if (!h->h_credit)
		return false;
	if (h->h_proc == RDMA2_ERROR)
		return rpcrdma2_error_sendable(h);
	if (h->h_vers != RPCRDMA2_VERS_ONE && h->h_vers != RPCRDMA2_VERS_TWO)
		return false;
	return h->h_proc <= RDMA2_NOMSG && rpcrdma2_rpc_sendable(h);
}

#endif /* _RPCRDMA2_SENDABLE_H */
