// SPDX-License-Identifier: GPL-2.0
/*
 * What may be sent. Stricter than what is accepted: a header
 * refused here is a bug of the caller, not of the peer.
 */
#include <linux/export.h>
#include <linux/overflow.h>

#include "wire.h"

/* S05: segments that exist, whose lengths add up to that of the chunk */
static bool chunk_sound(const struct rpcrdma2_hdr *h,
			const struct rpcrdma2_chunk *ck)
{
	u32 sum = 0;
	unsigned int i;

	if (ck->ck_first + ck->ck_nsegs > h->h_nsegs)
		return false;
	for (i = 0; i < ck->ck_nsegs; i++)
		if (check_add_overflow(sum,
				       h->h_segs[ck->ck_first + i].rs_length,
				       &sum))
			return false;
	return sum == ck->ck_length;
}

/* S05, S09: ascending aligned positions, no empty segment, less than 2^32 */
static bool reads_sendable(const struct rpcrdma2_hdr *h)
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
		if (!chunk_sound(h, ck) ||
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
static bool writes_sendable(const struct rpcrdma2_hdr *h)
{
	unsigned int i;

	for (i = 0; i < h->h_nwrites; i++) {
		if (!h->h_writes[i].ck_nsegs && h->h_direction == RDMA2_CALL)
			return false;
		if (!chunk_sound(h, &h->h_writes[i]))
			return false;
	}
	if (!h->h_has_reply)
		return true;
	return h->h_reply.ck_nsegs && chunk_sound(h, &h->h_reply);
}

/* C-072, C-073, S47: a handle of the same Call, or 0; always 0 in a Reply */
static bool inv_handle_sendable(const struct rpcrdma2_hdr *h)
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

/* E-05, S07: the RPC message is in the Position-Zero chunk or inline */
static bool call_sendable(const struct rpcrdma2_hdr *h)
{
	bool zero = h->h_nreads && !h->h_reads[0].ck_position;

	return zero == (h->h_proc == RDMA2_NOMSG);
}

/* E-06, E-22, S10: no Reads, and a Reply chunk exactly when it is used */
static bool reply_sendable(const struct rpcrdma2_hdr *h)
{
	if (h->h_nreads)
		return false;
	if (h->h_proc == RDMA2_NOMSG)
		return h->h_has_reply && h->h_reply.ck_length;
	return !h->h_has_reply;
}

static bool rpc_sendable(const struct rpcrdma2_hdr *h)
{
	if (h->h_nreads > RPCRDMA2_MAX_READ_CHUNKS ||
	    h->h_nwrites > RPCRDMA2_MAX_WRITE_CHUNKS ||
	    h->h_nsegs > RPCRDMA2_MAX_SEGMENTS)
		return false;
	if (!reads_sendable(h) || !writes_sendable(h) ||
	    !inv_handle_sendable(h))
		return false;

	switch (h->h_direction) { /* C-067, S06: must be told */
	case RDMA2_CALL:
		return call_sendable(h);
	case RDMA2_REPLY:
		return reply_sendable(h);
	default:
		return false;
	}
}

bool rpcrdma2_sendable(const struct rpcrdma2_hdr *h)
{
	if (!h->h_credit)
		return false;
	if (h->h_proc == RDMA2_ERROR)
		return rpcrdma2_error_sendable(h);

	switch (h->h_vers) {
	case RPCRDMA2_VERS_ONE:
		return h->h_proc <= RDMA2_NOMSG && rpc_sendable(h);
	case RPCRDMA2_VERS_TWO:
		break;
	default:
		return false;
	}

	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return rpc_sendable(h);
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
EXPORT_SYMBOL_GPL(rpcrdma2_sendable);
