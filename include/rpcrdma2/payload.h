/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a well-formed MSG or NOMSG header agrees with what it carries:
 * step 7 of the order of checks in Documentation/protocol.rst, S06 to S09.
 */
#ifndef _RPCRDMA2_PAYLOAD_H
#define _RPCRDMA2_PAYLOAD_H

#include <linux/math.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/chunks.h>
#include <rpcrdma2/header.h>

/* The words of an RPC message that the transport looks at: xid, msg_type */
#define RPCRDMA2_RPC_PEEK	(2 * XDR_UNIT)

/*
 * The header of a Call, RFC 5531: six words, then credential and verifier,
 * each a flavor, a length and a body
 */
#define RPCRDMA2_CALL_FIXED	(6 * XDR_UNIT)
#define RPCRDMA2_CALL_FLAVOR	6
#define RPCRDMA2_AUTH_MAX	400
#define RPCRDMA2_CALL_HDR_MIN	(RPCRDMA2_CALL_FIXED + 4 * XDR_UNIT)
#define RPCRDMA2_CALL_HDR_MAX	(RPCRDMA2_CALL_HDR_MIN + 2 * RPCRDMA2_AUTH_MAX)

/**
 * rpcrdma2_call_hdr_len - where the header of an RPC Call ends
 * @p: the Call, from its xid
 * @len: octets of it that are there
 *
 * The lengths of credential and verifier are what the peer says.
 *
 * Return: octets up to the end of the verifier; 0 when not all of them are
 * there, or a body is longer than it may be.
 */
static inline u32 rpcrdma2_call_hdr_len(const __be32 *p, u32 len)
{
	u32 at = RPCRDMA2_CALL_FIXED, body;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (len < at + 2 * XDR_UNIT)
			return 0;
		body = be32_to_cpup(p + at / XDR_UNIT + 1);
		if (body > RPCRDMA2_AUTH_MAX)
			return 0;
		at += 2 * XDR_UNIT + round_up(body, XDR_UNIT);
	}
	return at <= len ? at : 0;
}

/**
 * struct rpcrdma2_payload - the RPC message behind the header
 * @pl_xid: its xid
 * @pl_type: its msg_type
 * @pl_len: octets in the message received; less than RPCRDMA2_RPC_PEEK when
 *	the fields above could not be read
 * @pl_hdr: octets of the header of a Call, see rpcrdma2_peek_call_hdr()
 */
struct rpcrdma2_payload {
	u32	pl_xid;
	u32	pl_type;
	u32	pl_len;
	u32	pl_hdr;
};

/* Looks ahead; the stream stays where it is, at the end of the header. */
static inline void rpcrdma2_peek_payload(struct rpcrdma2_payload *pl,
					 const struct xdr_stream *xdr)
{
	unsigned int pos = xdr_stream_pos(xdr);
	struct xdr_stream ahead = *xdr;
	const __be32 *p;

	pl->pl_hdr = 0;
	pl->pl_len = xdr->buf->len > pos ? xdr->buf->len - pos : 0;
	if (pl->pl_len < RPCRDMA2_RPC_PEEK)
		return;
	p = xdr_inline_decode(&ahead, RPCRDMA2_RPC_PEEK);
	if (!p) {
		pl->pl_len = 0;
		return;
	}
	pl->pl_xid = be32_to_cpup(p);
	pl->pl_type = be32_to_cpup(p + 1);
}

/* Only Read chunks make it necessary to know where the RPC header ends. */
static inline void rpcrdma2_peek_call_hdr(struct rpcrdma2_payload *pl,
					  const struct xdr_stream *xdr)
{
	u32 len = min_t(u32, pl->pl_len, RPCRDMA2_CALL_HDR_MAX);
	struct xdr_stream ahead = *xdr;
	const __be32 *p;

	len -= len % XDR_UNIT;
	p = xdr_inline_decode(&ahead, len);
	if (p)
		pl->pl_hdr = rpcrdma2_call_hdr_len(p, len);
}

/*
 * S09: each Read chunk must start in what remains of the message when the
 * chunks are taken out, behind the RPC header, and not before the end of the
 * chunk in front of it. A position counts the octets of the chunks before it,
 * with their padding (E-05, E-07).
 *
 * The RPC header is no data item. RPCSEC_GSS computes its length as the
 * difference of two addresses and reads as much before it knows the peer, so
 * the header must lie in one piece.
 *
 * @ck: chunks in ascending order, none of them at position zero
 * @len: octets of the reduced message
 * @hdr: octets of its RPC header; 0 when it is not whole
 */
static inline bool rpcrdma2_positions_fit(const struct rpcrdma2_chunk *ck,
					  unsigned int count, u32 len, u32 hdr)
{
	u64 taken = 0, least = hdr;

	if (count && !hdr)
		return false;

	for (; count; count--, ck++) {
		if (ck->ck_position < taken + least ||
		    ck->ck_position > taken + len)
			return false;
		least = ck->ck_position - taken;
		taken += round_up((u64)ck->ck_length, XDR_UNIT);
	}
	return true;
}

/*
 * When Read chunks were left out the sums do not add up, and positions say
 * nothing; the header draws READ_CHUNKS next. What is in a Position-Zero chunk
 * has not been read: where the RPC header ends in it is the responder's to find
 * out.
 */
static inline bool rpcrdma2_call_agrees(const struct rpcrdma2_hdr *h,
					const struct rpcrdma2_payload *pl,
					const struct rpcrdma2_excess *ex)
{
	const struct rpcrdma2_chunk *ck = h->h_reads;
	bool zero = h->h_nreads && !ck->ck_position;

	if (h->h_proc == RDMA2_NOMSG) {
		if (!zero)					/* S07 */
			return ex->ex_zero;
		if (ck->ck_length < RPCRDMA2_RPC_PEEK)
			return false;
		return ex->ex_reads ||
		       rpcrdma2_positions_fit(ck + 1, h->h_nreads - 1,
					      ck->ck_length,
					      RPCRDMA2_CALL_HDR_MIN);
	}

	if (zero || ex->ex_zero || pl->pl_len < RPCRDMA2_RPC_PEEK) /* S07 */
		return false;
	if (pl->pl_xid != h->h_xid || pl->pl_type != RDMA2_CALL) /* S08, S06 */
		return false;
	return ex->ex_reads ||
	       rpcrdma2_positions_fit(ck, h->h_nreads, pl->pl_len, pl->pl_hdr);
}

/* S07, S10, E-06, E-22: a Reply chunk of no octets is one not used */
static inline bool rpcrdma2_reply_agrees(const struct rpcrdma2_hdr *h,
					 const struct rpcrdma2_payload *pl)
{
	u32 length = h->h_has_reply ? h->h_reply.ck_length : 0;

	if (h->h_nreads)
		return false;
	if (h->h_proc == RDMA2_NOMSG)
		return length >= RPCRDMA2_RPC_PEEK;
	return !length && pl->pl_len >= RPCRDMA2_RPC_PEEK &&
	       pl->pl_xid == h->h_xid && pl->pl_type == RDMA2_REPLY;
}

#endif /* _RPCRDMA2_PAYLOAD_H */
