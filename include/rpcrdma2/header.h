/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A decoded transport header.
 *
 * All other code uses headers in this form only: a received header passes
 * through rpcrdma2_decode_hdr() once and is trusted from there on; a header to
 * be sent is built in this form and encoded by rpcrdma2_encode_hdr(). Versions
 * 1 and 2 share the form; the version is a field of it.
 */
#ifndef _RPCRDMA2_HEADER_H
#define _RPCRDMA2_HEADER_H

#include <linux/types.h>

#include <rpcrdma2/proto.h>

/**
 * struct rpcrdma2_segment - a range of the requester's registered memory
 * @rs_handle: steering tag
 * @rs_length: length in bytes
 * @rs_offset: address that the tag was registered under
 */
struct rpcrdma2_segment {
	u32	rs_handle;
	u32	rs_length;
	u64	rs_offset;
};

/**
 * struct rpcrdma2_chunk - consecutive segments that carry one data item
 * @ck_position: XDR position (Read chunks only; 0 is a Position-Zero chunk)
 * @ck_length: sum of the segments' lengths; never wraps, nor does the sum over
 *	all Read chunks (S05)
 * @ck_first: index of its first segment in h_segs
 * @ck_nsegs: number of segments
 */
struct rpcrdma2_chunk {
	u32	ck_position;
	u32	ck_length;
	u16	ck_first;
	u16	ck_nsegs;
};

/**
 * struct rpcrdma2_error - body of RDMA2_ERROR
 * @er_code: enum rpcrdma2_errcode, or a value unknown to the draft (S43)
 * @er_arg: codes 4, 5: most chunks; 6: most segments; 8: bytes needed; 1:
 *	lowest version; 7: index of the short chunk, counted from 1
 * @er_arg2: 1: highest version; 7: bytes needed
 */
struct rpcrdma2_error {
	u32	er_code;
	u32	er_arg;
	u32	er_arg2;
};

/**
 * struct rpcrdma2_hdr - a decoded transport header
 * @h_xid: transaction
 * @h_vers: version found on the wire, or to be sent
 * @h_credit: grant or request, as on the wire; see credit.h
 * @h_proc: enum rpcrdma2_proc; version 1 MSGP is decoded as RDMA2_MSG
 * @h_direction: enum rpcrdma2_direction; RDMA2_NODIR only with a verdict other
 *	than RDMA2_OK. Version 1 has no such field: it is inferred from the RPC
 *	message that follows the header, or from the chunks of a NOMSG.
 *	RDMA2_REPLY for an ERROR in either version (C-071), and for a RESPROP
 *	(S38)
 * @h_inv_handle: nominated handle (C-072), 0 in version 1
 * @h_len: length of the header; the RPC message starts there
 * @h_nreads: entries of h_reads, which has an entry for each position,
 *	ascending, whatever the order on the wire (S09); segments of length 0
 *	are removed
 * @h_nwrites: entries of h_writes, in wire order
 * @h_has_reply: h_reply is present
 * @h_nsegs: entries of h_segs
 * @h_reads: Read chunks
 * @h_writes: Write chunks; ck_nsegs 0 requests the result inline (S10)
 * @h_reply: Reply chunk
 * @h_segs: segments of all chunks
 * @h_error: body of an RDMA2_ERROR
 * @h_opttype: type of an RDMA2_OPTIONAL, or of a property message, which gets
 *	the enum rpcrdma2_opttype of its other encoding (S01)
 * @h_optoff: offset of the body of the option or property message
 * @h_optlen: length of that body
 */
struct rpcrdma2_hdr {
	u32	h_xid;
	u32	h_vers;
	u32	h_credit;
	u32	h_proc;
	u32	h_direction;
	u32	h_inv_handle;
	u32	h_len;

	u8	h_nreads;
	u8	h_nwrites;
	bool	h_has_reply;
	u8	h_nsegs;

	union {
		struct {
			struct rpcrdma2_chunk	h_reads[RPCRDMA2_MAX_READ_CHUNKS];
			struct rpcrdma2_chunk	h_writes[RPCRDMA2_MAX_WRITE_CHUNKS];
			struct rpcrdma2_chunk	h_reply;
			struct rpcrdma2_segment	h_segs[RPCRDMA2_MAX_SEGMENTS];
		};
		struct rpcrdma2_error	h_error;
		struct {
			u32	h_opttype;
			u32	h_optoff;
			u32	h_optlen;
		};
	};
};

/**
 * rpcrdma2_hdr_begin - initialise a header without chunks and nominated handle
 * @h: header to fill
 * @xid: transaction
 * @vers: version
 * @credit: grant or request
 * @proc: enum rpcrdma2_proc
 * @direction: enum rpcrdma2_direction
 */
static inline void rpcrdma2_hdr_begin(struct rpcrdma2_hdr *h, u32 xid, u32 vers,
				      u32 credit, u32 proc, u32 direction)
{
	h->h_xid = xid;
	h->h_vers = vers;
	h->h_credit = credit;
	h->h_proc = proc;
	h->h_direction = direction;
	h->h_inv_handle = 0;
	h->h_nreads = 0;
	h->h_nwrites = 0;
	h->h_has_reply = false;
	h->h_nsegs = 0;
}

/**
 * rpcrdma2_hdr_min - length of a header with three empty lists
 * @vers: version of the connection
 */
static inline u32 rpcrdma2_hdr_min(u32 vers)
{
	return vers == RPCRDMA2_VERS_ONE ? RPCRDMA1_HDR_MIN : RPCRDMA2_HDR_MIN;
}

/**
 * rpcrdma2_can_nominate - check whether a Call can nominate a handle
 * @vers: version of the connection
 */
static inline bool rpcrdma2_can_nominate(u32 vers)
{
	return vers != RPCRDMA2_VERS_ONE;
}

#endif /* _RPCRDMA2_HEADER_H */
