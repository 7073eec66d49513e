// SPDX-License-Identifier: GPL-2.0
/*
 * Transport headers to the wire, and what may be sent. Stricter than what is
 * accepted: a header refused here is a bug of the caller, not of the peer.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/overflow.h>

#include "wire.h"

/*
 * S05, S09: segments that exist, whose lengths add up to that of the chunk. A
 * Read chunk has one at least, and @least is 1: none of them is empty.
 */
static bool chunk_sound(const struct rpcrdma2_hdr *h,
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

/* S05, S09: ascending aligned positions, less than 2^32 in all */
static bool reads_sendable(const struct rpcrdma2_hdr *h)
{
	const struct rpcrdma2_chunk *ck = h->h_reads;
	unsigned int i;
	u32 sum = 0;

	for (i = 0; i < h->h_nreads; i++, ck++) {
		if (ck->ck_position % XDR_UNIT || !chunk_sound(h, ck, 1))
			return false;
		if (i && ck->ck_position <= ck[-1].ck_position)
			return false;
		if (check_add_overflow(sum, ck->ck_length, &sum))
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
		if (!chunk_sound(h, &h->h_writes[i], 0))
			return false;
	}
	if (!h->h_has_reply)
		return true;
	return h->h_reply.ck_nsegs && chunk_sound(h, &h->h_reply, 0);
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

	switch (h->h_direction) { /* C-067, S06 */
	case RDMA2_CALL:
		return call_sendable(h);
	case RDMA2_REPLY:
		return reply_sendable(h);
	default:
		return false;
	}
}

/* Ten codes in version 2, two in version 1; S36: VERS under any version */
static bool error_sendable(const struct rpcrdma2_hdr *h)
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

bool rpcrdma2_sendable(const struct rpcrdma2_hdr *h)
{
	if (!h->h_credit)
		return false;
	if (h->h_proc == RDMA2_ERROR)
		return error_sendable(h);
	if (h->h_vers != RPCRDMA2_VERS_ONE && h->h_vers != RPCRDMA2_VERS_TWO)
		return false;
	if (h->h_proc <= RDMA2_NOMSG)
		return rpc_sendable(h);
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		return false;
	if (h->h_proc == RDMA2_OPTIONAL)
		return h->h_direction <= RDMA2_REPLY;
	return h->h_proc >= RDMA2_CONNPROP && h->h_proc <= RDMA2_UPDPROP;
}
EXPORT_SYMBOL_GPL(rpcrdma2_sendable);

/* Octets that the chunks add to three empty lists */
static size_t chunks_size(const struct rpcrdma2_hdr *h)
{
	size_t size = 0;
	unsigned int i;

	for (i = 0; i < h->h_nreads; i++)
		size += h->h_reads[i].ck_nsegs * RPCRDMA2_READ_SEG_LEN;
	for (i = 0; i < h->h_nwrites; i++)
		size += RPCRDMA2_WRITE_CHUNK_LEN +
			h->h_writes[i].ck_nsegs * RPCRDMA2_SEG_LEN;
	if (h->h_has_reply)
		size += RPCRDMA2_REPLY_CHUNK_LEN +
			h->h_reply.ck_nsegs * RPCRDMA2_SEG_LEN;
	return size;
}

size_t rpcrdma2_hdr_size(const struct rpcrdma2_hdr *h)
{
	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return rpcrdma2_hdr_min(h->h_vers) + chunks_size(h);
	case RDMA2_ERROR:
		return RPCRDMA2_PREFIX_LEN + XDR_UNIT +
		       rpcrdma2_error_args(h->h_vers, h->h_error.er_code) *
			       XDR_UNIT;
	case RDMA2_OPTIONAL:
		return RPCRDMA2_OPTIONAL_LEN;
	default:
		return RPCRDMA2_PREFIX_LEN;
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_hdr_size);

static __be32 *encode_segment(__be32 *p, const struct rpcrdma2_segment *seg)
{
	*p++ = cpu_to_be32(seg->rs_handle);
	*p++ = cpu_to_be32(seg->rs_length);
	*p++ = cpu_to_be32(upper_32_bits(seg->rs_offset));
	*p++ = cpu_to_be32(lower_32_bits(seg->rs_offset));
	return p;
}

static __be32 *encode_counted(__be32 *p, const struct rpcrdma2_hdr *h,
			      const struct rpcrdma2_chunk *ck)
{
	unsigned int i;

	*p++ = cpu_to_be32(ck->ck_nsegs);
	for (i = 0; i < ck->ck_nsegs; i++)
		p = encode_segment(p, &h->h_segs[ck->ck_first + i]);
	return p;
}

static __be32 *encode_rpc(__be32 *p, const struct rpcrdma2_hdr *h)
{
	const struct rpcrdma2_chunk *ck;
	unsigned int i, j;

	if (h->h_vers != RPCRDMA2_VERS_ONE) {
		*p++ = cpu_to_be32(h->h_direction);
		*p++ = cpu_to_be32(h->h_inv_handle);
	}
	for (i = 0; i < h->h_nreads; i++) {
		ck = &h->h_reads[i];
		for (j = 0; j < ck->ck_nsegs; j++) {
			*p++ = xdr_one;
			*p++ = cpu_to_be32(ck->ck_position);
			p = encode_segment(p, &h->h_segs[ck->ck_first + j]);
		}
	}
	*p++ = xdr_zero;
	for (i = 0; i < h->h_nwrites; i++) {
		*p++ = xdr_one;
		p = encode_counted(p, h, &h->h_writes[i]);
	}
	*p++ = xdr_zero;
	*p++ = h->h_has_reply ? xdr_one : xdr_zero;
	if (h->h_has_reply)
		p = encode_counted(p, h, &h->h_reply);
	return p;
}

/* C-062: exactly the words of the code, nothing behind them */
static __be32 *encode_error(__be32 *p, const struct rpcrdma2_hdr *h)
{
	unsigned int args = rpcrdma2_error_args(h->h_vers, h->h_error.er_code);

	*p++ = cpu_to_be32(h->h_error.er_code);
	if (args > 0)
		*p++ = cpu_to_be32(h->h_error.er_arg);
	if (args > 1)
		*p++ = cpu_to_be32(h->h_error.er_arg2);
	return p;
}

int rpcrdma2_encode_hdr(void *to, const struct rpcrdma2_hdr *h)
{
	__be32 *p = to;

	if (!rpcrdma2_sendable(h))
		return -EINVAL;

	*p++ = cpu_to_be32(h->h_xid);
	*p++ = cpu_to_be32(h->h_vers);
	*p++ = cpu_to_be32(h->h_credit);
	*p++ = cpu_to_be32(h->h_proc);
	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		p = encode_rpc(p, h);
		break;
	case RDMA2_ERROR:
		p = encode_error(p, h);
		break;
	case RDMA2_OPTIONAL:
		*p++ = cpu_to_be32(h->h_direction);
		*p++ = cpu_to_be32(h->h_opttype);
		*p++ = cpu_to_be32(h->h_optlen);
		break;
	default:
		break;
	}
	return (void *)p - to;
}
EXPORT_SYMBOL_GPL(rpcrdma2_encode_hdr);
