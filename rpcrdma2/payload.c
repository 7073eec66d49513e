// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a well-formed MSG or NOMSG header agrees with what it carries:
 * step 7 of the order of checks in Documentation/protocol.rst, S06 to S09.
 */
#include <linux/export.h>
#include <linux/math.h>

#include "wire.h"

u32 rpcrdma2_call_hdr_len(const __be32 *p, u32 len)
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
EXPORT_SYMBOL_GPL(rpcrdma2_call_hdr_len);

void rpcrdma2_peek_payload(struct rpcrdma2_payload *pl,
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

void rpcrdma2_peek_call_hdr(struct rpcrdma2_payload *pl,
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
static bool positions_fit(const struct rpcrdma2_chunk *ck, unsigned int count,
			  u32 len, u32 hdr)
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

bool rpcrdma2_call_agrees(const struct rpcrdma2_hdr *h,
			  const struct rpcrdma2_payload *pl,
			  const struct rpcrdma2_excess *ex)
{
	const struct rpcrdma2_chunk *ck = h->h_reads;
	bool zero = h->h_nreads && !ck->ck_position;

	if (h->h_proc == RDMA2_NOMSG) {
		if (!zero) /* S07 */
			return ex->ex_zero;
		if (ck->ck_length < RPCRDMA2_RPC_PEEK)
			return false;
		return ex->ex_reads ||
		       positions_fit(ck + 1, h->h_nreads - 1, ck->ck_length,
				     RPCRDMA2_CALL_HDR_MIN);
	}

	if (zero || ex->ex_zero || pl->pl_len < RPCRDMA2_RPC_PEEK) /* S07 */
		return false;
	if (pl->pl_xid != h->h_xid || pl->pl_type != RDMA2_CALL) /* S08, S06 */
		return false;
	return ex->ex_reads ||
	       positions_fit(ck, h->h_nreads, pl->pl_len, pl->pl_hdr);
}

bool rpcrdma2_reply_agrees(const struct rpcrdma2_hdr *h,
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
