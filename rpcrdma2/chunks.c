// SPDX-License-Identifier: GPL-2.0
/*
 * The three chunk lists of a MSG or NOMSG header. Both versions lay them out
 * alike, and they come last.
 *
 * A count is believed only as far as octets follow it. An item more than the
 * decoded form can hold is still checked, then forgotten but for a note:
 * damage further on outranks it (2.5 of Documentation/protocol.rst, step 6
 * before step 8).
 */
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "wire.h"

static void decode_segment(const __be32 *p, struct rpcrdma2_segment *seg)
{
	seg->rs_handle = be32_to_cpup(p++);
	seg->rs_length = be32_to_cpup(p++);
	seg->rs_offset = (u64)be32_to_cpup(p) << 32 | be32_to_cpup(p + 1);
}

static __be32 *encode_segment(__be32 *p, const struct rpcrdma2_segment *seg)
{
	*p++ = cpu_to_be32(seg->rs_handle);
	*p++ = cpu_to_be32(seg->rs_length);
	*p++ = cpu_to_be32(upper_32_bits(seg->rs_offset));
	*p++ = cpu_to_be32(lower_32_bits(seg->rs_offset));
	return p;
}

/* S05: optional-data is a bool; another value is another dialect */
static enum rpcrdma2_errcode decode_present(struct xdr_stream *xdr,
					    bool *present)
{
	const __be32 *p = xdr_inline_decode(xdr, XDR_UNIT);
	u32 word;

	if (!p)
		return RDMA2_ERR_BAD_XDR;
	word = be32_to_cpup(p);
	*present = word;
	return word > 1 ? RDMA2_ERR_BAD_XDR : RDMA2_OK;
}

/*
 * The Read chunk at @position, or NULL when there is no room for another.
 * Searched from the end: peers send positions in ascending order.
 */
static struct rpcrdma2_chunk *read_chunk_at(struct rpcrdma2_hdr *h,
					    u32 position)
{
	struct rpcrdma2_chunk *ck;
	unsigned int i = h->h_nreads;

	while (i && h->h_reads[i - 1].ck_position > position)
		i--;
	if (i && h->h_reads[i - 1].ck_position == position)
		return &h->h_reads[i - 1];
	if (h->h_nreads == RPCRDMA2_MAX_READ_CHUNKS)
		return NULL;

	ck = &h->h_reads[i];
	memmove(ck + 1, ck, (h->h_nreads - i) * sizeof(*ck));
	/* its segments go where those of the chunk it displaced began */
	if (i == h->h_nreads)
		ck->ck_first = h->h_nsegs;
	ck->ck_position = position;
	ck->ck_length = 0;
	ck->ck_nsegs = 0;
	h->h_nreads++;
	return ck;
}

/* Appends to @ck. What belongs to the Read chunks behind it moves up. */
static void insert_read_segment(struct rpcrdma2_hdr *h,
				struct rpcrdma2_chunk *ck,
				const struct rpcrdma2_segment *seg)
{
	unsigned int at = ck->ck_first + ck->ck_nsegs;

	memmove(&h->h_segs[at + 1], &h->h_segs[at],
		(h->h_nsegs - at) * sizeof(*seg));
	h->h_segs[at] = *seg;
	h->h_nsegs++;
	ck->ck_nsegs++;
	for (ck++; ck < &h->h_reads[h->h_nreads]; ck++)
		ck->ck_first++;
}

/* S09: any order, grouped by position; empty segments mean nothing */
static enum rpcrdma2_errcode
add_read_segment(struct rpcrdma2_hdr *h, struct rpcrdma2_excess *ex,
		 u32 position, const struct rpcrdma2_segment *seg)
{
	struct rpcrdma2_chunk *ck;

	if (!seg->rs_length)
		return RDMA2_OK;
	if (position % XDR_UNIT)
		return RDMA2_ERR_BAD_XDR;

	ck = read_chunk_at(h, position);
	if (!ck) {
		ex->ex_reads = true;
		ex->ex_zero |= !position;
		return RDMA2_OK;
	}
	ck->ck_length += seg->rs_length;
	if (h->h_nsegs == RPCRDMA2_MAX_SEGMENTS)
		ex->ex_segs = true;
	else
		insert_read_segment(h, ck, seg);
	return RDMA2_OK;
}

/*
 * S05: the chunks of the list are parts of one RPC message, in which each octet
 * has a position; so all of them together stay below 2^32, whether the decoded
 * form holds them or not.
 */
static enum rpcrdma2_errcode decode_reads(struct rpcrdma2_hdr *h,
					  struct rpcrdma2_excess *ex,
					  struct xdr_stream *xdr)
{
	struct rpcrdma2_segment seg;
	enum rpcrdma2_errcode ret;
	const __be32 *p;
	bool present;
	u32 sum = 0;

	for (;;) {
		ret = decode_present(xdr, &present);
		if (ret || !present)
			return ret;
		p = xdr_inline_decode(xdr, XDR_UNIT + RPCRDMA2_SEG_LEN);
		if (!p)
			return RDMA2_ERR_BAD_XDR;
		decode_segment(p + 1, &seg);
		if (check_add_overflow(sum, seg.rs_length, &sum))
			return RDMA2_ERR_BAD_XDR;
		ret = add_read_segment(h, ex, be32_to_cpup(p), &seg);
		if (ret)
			return ret;
	}
}

/* The counted segments of a Write or Reply chunk */
static enum rpcrdma2_errcode decode_counted(struct rpcrdma2_hdr *h,
					    struct rpcrdma2_chunk *ck,
					    struct rpcrdma2_excess *ex,
					    struct xdr_stream *xdr)
{
	struct rpcrdma2_segment seg;
	const __be32 *p;
	u32 count;

	p = xdr_inline_decode(xdr, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	count = be32_to_cpup(p);
	if (count > xdr_stream_remaining(xdr) / RPCRDMA2_SEG_LEN)
		return RDMA2_ERR_BAD_XDR;

	memset(ck, 0, sizeof(*ck));
	ck->ck_first = h->h_nsegs;
	for (; count; count--) {
		p = xdr_inline_decode(xdr, RPCRDMA2_SEG_LEN);
		if (!p)
			return RDMA2_ERR_BAD_XDR;
		decode_segment(p, &seg);
		if (check_add_overflow(ck->ck_length, seg.rs_length,
				       &ck->ck_length))
			return RDMA2_ERR_BAD_XDR; /* S05 */
		if (h->h_nsegs == RPCRDMA2_MAX_SEGMENTS) {
			ex->ex_segs = true;
			continue;
		}
		h->h_segs[h->h_nsegs++] = seg;
		ck->ck_nsegs++;
	}
	return RDMA2_OK;
}

static enum rpcrdma2_errcode decode_writes(struct rpcrdma2_hdr *h,
					   struct rpcrdma2_excess *ex,
					   struct xdr_stream *xdr)
{
	enum rpcrdma2_errcode ret;
	struct rpcrdma2_chunk ck;
	bool present;

	for (;;) {
		ret = decode_present(xdr, &present);
		if (ret || !present)
			return ret;
		ret = decode_counted(h, &ck, ex, xdr);
		if (ret)
			return ret;
		if (h->h_nwrites == RPCRDMA2_MAX_WRITE_CHUNKS)
			ex->ex_writes = true;
		else
			h->h_writes[h->h_nwrites++] = ck;
	}
}

enum rpcrdma2_errcode rpcrdma2_decode_chunks(struct rpcrdma2_hdr *h,
					     struct rpcrdma2_excess *ex,
					     struct xdr_stream *xdr)
{
	enum rpcrdma2_errcode ret;

	BUILD_BUG_ON(RPCRDMA2_MAX_READ_CHUNKS > U8_MAX);
	BUILD_BUG_ON(RPCRDMA2_MAX_WRITE_CHUNKS > U8_MAX);
	BUILD_BUG_ON(RPCRDMA2_MAX_SEGMENTS > U8_MAX);

	ret = decode_reads(h, ex, xdr);
	if (ret)
		return ret;
	ret = decode_writes(h, ex, xdr);
	if (ret)
		return ret;
	ret = decode_present(xdr, &h->h_has_reply);
	if (ret || !h->h_has_reply)
		return ret;
	return decode_counted(h, &h->h_reply, ex, xdr);
}

size_t rpcrdma2_chunks_size(const struct rpcrdma2_hdr *h)
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

static __be32 *encode_counted(__be32 *p, const struct rpcrdma2_hdr *h,
			      const struct rpcrdma2_chunk *ck)
{
	unsigned int i;

	*p++ = cpu_to_be32(ck->ck_nsegs);
	for (i = 0; i < ck->ck_nsegs; i++)
		p = encode_segment(p, &h->h_segs[ck->ck_first + i]);
	return p;
}

__be32 *rpcrdma2_encode_chunks(__be32 *p, const struct rpcrdma2_hdr *h)
{
	const struct rpcrdma2_chunk *ck;
	unsigned int i, j;

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
