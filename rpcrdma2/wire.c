// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding and decoding of the transport headers of versions 1 and 2, and of
 * the private data of the CM; decoding of a received message. Nothing here
 * touches a device or a connection.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include <asm/byteorder.h>

#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

#include "core.h"

/* Private data of the connection manager, RFC 8797: for version 1 only (S28) */

void rpcrdma2_cm_encode(struct rpcrdma2_cm_private *pm,
			const struct rpcrdma2_cm_limits *cl)
{
	BUILD_BUG_ON(sizeof(*pm) != 8);

	pm->cm_magic = cpu_to_be32(RPCRDMA2_CM_MAGIC);
	pm->cm_version = RPCRDMA2_CM_VERSION;
	pm->cm_flags = cl->cl_inv ? RPCRDMA2_CM_F_INV : 0;
	pm->cm_send_size = rpcrdma2_cm_encode_size(cl->cl_send);
	pm->cm_recv_size = rpcrdma2_cm_encode_size(cl->cl_recv);
}
EXPORT_SYMBOL_GPL(rpcrdma2_cm_encode);

bool rpcrdma2_cm_decode(struct rpcrdma2_cm_limits *cl, const void *data,
			size_t len)
{
	struct rpcrdma2_cm_private pm;

	cl->cl_send = RPCRDMA1_INLINE_DEFAULT;
	cl->cl_recv = RPCRDMA1_INLINE_DEFAULT;
	cl->cl_inv = false;

	if (!data || len < sizeof(pm))
		return false;
	memcpy(&pm, data, sizeof(pm));
	if (pm.cm_magic != cpu_to_be32(RPCRDMA2_CM_MAGIC) ||
	    pm.cm_version != RPCRDMA2_CM_VERSION)
		return false;

	cl->cl_send = (pm.cm_send_size + 1) * RPCRDMA2_CM_UNIT;
	cl->cl_recv = (pm.cm_recv_size + 1) * RPCRDMA2_CM_UNIT;
	cl->cl_inv = pm.cm_flags & RPCRDMA2_CM_F_INV;
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_cm_decode);

/* RDMA2_ERROR and its remedies, 2.4 of Documentation/protocol.rst */

/* An error of version 2 */
struct code {
	u8			args;	/* words that follow it */
	u8			arg;	/* word 1, if a decoder's limit */
	u8			arg2;	/* word 2, if a decoder's limit */
	enum rpcrdma2_remedy	remedy;	/* reaction, once for each RPC */
	bool			needs;	/* word 1 must not be 0 */
};

static const struct code codes[] = {
	[RDMA2_ERR_VERS]	= {	/* C-079, C-100 */
		2, RPCRDMA2_VERS_ONE, RPCRDMA2_VERS_TWO },
	[RDMA2_ERR_READ_CHUNKS]	= {	/* C-083 */
		1, RPCRDMA2_MAX_READ_CHUNKS, 0, RPCRDMA2_REMEDY_FEWER_READS },
	[RDMA2_ERR_WRITE_CHUNKS] = {	/* C-084 */
		1, RPCRDMA2_MAX_WRITE_CHUNKS, 0, RPCRDMA2_REMEDY_NO_WRITES },
	[RDMA2_ERR_SEGMENTS]	= {	/* C-085 */
		1, 0, 0, RPCRDMA2_REMEDY_FEWER_SEGMENTS, true },
	[RDMA2_ERR_WRITE_RESOURCE] = { 2 },
	[RDMA2_ERR_REPLY_RESOURCE] = {	/* 0 is unknown (S41) */
		1, 0, 0, RPCRDMA2_REMEDY_LARGER_REPLY, true },
	[RDMA2_ERR_SYSTEM]	= { },
};

/* Version 1 has a single code besides ERR_VERS, without words. */
static const struct code *rpcrdma2_find_errcode(u32 vers, u32 code)
{
	if (code >= ARRAY_SIZE(codes) ||
	    (vers == RPCRDMA2_VERS_ONE && code != RDMA2_ERR_VERS))
		code = RDMA2_ERR_SYSTEM;
	return &codes[code];
}

/* Number of words that follow rdma_err; 0 for an unknown code (S43) */
static unsigned int rpcrdma2_error_args(const struct rpcrdma2_hdr *h)
{
	return rpcrdma2_find_errcode(h->h_vers, h->h_error.er_code)->args;
}

void rpcrdma2_set_error(struct rpcrdma2_hdr *h, enum rpcrdma2_errcode code,
			u32 arg, u32 arg2)
{
	const struct code *c = rpcrdma2_find_errcode(h->h_vers, code);

	/* the code limits each chunk (C-085), the decoder limits the total */
	if (code == RDMA2_ERR_SEGMENTS && !arg)
		arg = RPCRDMA2_MAX_SEGMENTS /
		      max(h->h_nreads + h->h_nwrites + h->h_has_reply, 1);
	if (h->h_vers == RPCRDMA2_VERS_ONE && code != RDMA2_ERR_VERS)
		code = RDMA2_ERR_BAD_XDR;

	rpcrdma2_hdr_begin(h, h->h_xid, h->h_vers, h->h_credit, RDMA2_ERROR,
			   RDMA2_REPLY);
	h->h_error.er_code = code;
	h->h_error.er_arg = arg ?: c->arg;
	h->h_error.er_arg2 = arg2 ?: c->arg2;
}
EXPORT_SYMBOL_GPL(rpcrdma2_set_error);

enum rpcrdma2_remedy rpcrdma2_remedy(u32 vers, const struct rpcrdma2_error *er,
				     bool resent)
{
	const struct code *c = rpcrdma2_find_errcode(vers, er->er_code);

	if (vers != RPCRDMA2_VERS_ONE && rpcrdma2_lacks_message(er))
		return RPCRDMA2_REMEDY_VERSION_ONE;
	return resent || (c->needs && !er->er_arg) ? RPCRDMA2_REMEDY_FAIL :
						     c->remedy;
}
EXPORT_SYMBOL_GPL(rpcrdma2_remedy);

/* Encoding of transport headers, which obey the rules of sending */

size_t rpcrdma2_hdr_size(const struct rpcrdma2_hdr *h)
{
	size_t size = rpcrdma2_hdr_min(h->h_vers);
	unsigned int i;

	if (h->h_proc == RDMA2_ERROR)
		return RPCRDMA2_PREFIX_LEN +
		       (1 + rpcrdma2_error_args(h)) * XDR_UNIT;
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
EXPORT_SYMBOL_GPL(rpcrdma2_hdr_size);

static __be32 *rpcrdma2_encode_segment(__be32 *p,
				       const struct rpcrdma2_segment *seg)
{
	*p++ = cpu_to_be32(seg->rs_handle);
	*p++ = cpu_to_be32(seg->rs_length);
	*p++ = cpu_to_be32(upper_32_bits(seg->rs_offset));
	*p++ = cpu_to_be32(lower_32_bits(seg->rs_offset));
	return p;
}

static __be32 *rpcrdma2_encode_counted(__be32 *p, const struct rpcrdma2_hdr *h,
				       const struct rpcrdma2_chunk *ck)
{
	unsigned int i;

	*p++ = cpu_to_be32(ck->ck_nsegs);
	for (i = 0; i < ck->ck_nsegs; i++)
		p = rpcrdma2_encode_segment(p, &h->h_segs[ck->ck_first + i]);
	return p;
}

static __be32 *rpcrdma2_encode_rpc(__be32 *p, const struct rpcrdma2_hdr *h)
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
			p = rpcrdma2_encode_segment(p, &h->h_segs[ck->ck_first + j]);
		}
	}
	*p++ = xdr_zero;
	for (i = 0; i < h->h_nwrites; i++) {
		*p++ = xdr_one;
		p = rpcrdma2_encode_counted(p, h, &h->h_writes[i]);
	}
	*p++ = xdr_zero;
	*p++ = h->h_has_reply ? xdr_one : xdr_zero;
	if (h->h_has_reply)
		p = rpcrdma2_encode_counted(p, h, &h->h_reply);
	return p;
}

/* The code has exactly its own words, and nothing follows them (C-062). */
static __be32 *rpcrdma2_encode_error(__be32 *p, const struct rpcrdma2_hdr *h)
{
	unsigned int args = rpcrdma2_error_args(h);

	*p++ = cpu_to_be32(h->h_error.er_code);
	if (args > 0)
		*p++ = cpu_to_be32(h->h_error.er_arg);
	if (args > 1)
		*p++ = cpu_to_be32(h->h_error.er_arg2);
	return p;
}

size_t rpcrdma2_encode_hdr(void *to, const struct rpcrdma2_hdr *h)
{
	__be32 *p = to;

	*p++ = cpu_to_be32(h->h_xid);
	*p++ = cpu_to_be32(h->h_vers);
	*p++ = cpu_to_be32(h->h_credit);
	*p++ = cpu_to_be32(h->h_proc);
	p = h->h_proc == RDMA2_ERROR ? rpcrdma2_encode_error(p, h) :
				       rpcrdma2_encode_rpc(p, h);
	return (void *)p - to;
}
EXPORT_SYMBOL_GPL(rpcrdma2_encode_hdr);

/*
 * Decoding of transport headers, and their consistency with the RPC message:
 * one pass in the responder's order of checks (2.5 of
 * Documentation/protocol.rst).
 *
 * The bytes that follow a count must cover it. An item beyond the capacity of
 * the decoded form is still checked, then dropped and recorded: a malformed
 * part further on takes precedence (step 6 before step 8).
 */

/* rdma_align and rdma_thresh of a version 1 MSGP */
#define MSGP_PADDING_LEN	(2 * XDR_UNIT)

/* Items that were left out: they exceed the capacity of the decoded form */
struct excess {
	bool	reads;
	bool	zero;	/* the Position-Zero chunk */
	bool	writes;
	bool	segs;
};

/*
 * The chunk lists, which come last and are the same in both versions. These
 * functions return false for a malformed list (C-081).
 */

static void rpcrdma2_decode_segment(const __be32 *p,
				    struct rpcrdma2_segment *seg)
{
	seg->rs_handle = be32_to_cpup(p++);
	seg->rs_length = be32_to_cpup(p++);
	seg->rs_offset = (u64)be32_to_cpup(p) << 32 | be32_to_cpup(p + 1);
}

/* Optional-data is a bool; any other value is malformed (S05). */
static bool rpcrdma2_decode_present(struct rpcrdma2_cursor *cu, bool *present)
{
	const __be32 *p = rpcrdma2_take(cu, XDR_UNIT);

	*present = p && *p == xdr_one;
	return p && (*present || *p == xdr_zero);
}

/*
 * Find or add the Read chunk at @position, from the end: peers send ascending
 * positions. Return: NULL if there is no room.
 */
static struct rpcrdma2_chunk *rpcrdma2_read_chunk_at(struct rpcrdma2_hdr *h,
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
	/* its segments start where those of the displaced chunk did */
	if (i == h->h_nreads)
		ck->ck_first = h->h_nsegs;
	ck->ck_position = position;
	ck->ck_length = 0;
	ck->ck_nsegs = 0;
	h->h_nreads++;
	return ck;
}

/* Append to @ck. The segments of later Read chunks move up. */
static void rpcrdma2_insert_read_segment(struct rpcrdma2_hdr *h,
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

/* Segments come in any order, and empty segments are ignored (S09). */
static bool rpcrdma2_decode_read_segment(struct rpcrdma2_hdr *h,
					 struct excess *ex, u32 position,
					 const struct rpcrdma2_segment *seg)
{
	struct rpcrdma2_chunk *ck;

	if (!seg->rs_length)
		return true;
	if (position % XDR_UNIT)
		return false;

	ck = rpcrdma2_read_chunk_at(h, position);
	if (!ck) {
		ex->reads = true;
		ex->zero |= !position;
		return true;
	}
	ck->ck_length += seg->rs_length;
	if (h->h_nsegs == RPCRDMA2_MAX_SEGMENTS)
		ex->segs = true;
	else
		rpcrdma2_insert_read_segment(h, ck, seg);
	return true;
}

/*
 * Read chunks are parts of one RPC message. So all of them together stay below
 * 2^32, even those beyond the capacity of the decoded form (S05).
 */
static bool rpcrdma2_decode_reads(struct rpcrdma2_hdr *h, struct excess *ex,
				  struct rpcrdma2_cursor *cu)
{
	struct rpcrdma2_segment seg;
	const __be32 *p;
	bool present;
	u32 sum = 0;

	while (rpcrdma2_decode_present(cu, &present)) {
		if (likely(!present))
			return true;
		p = rpcrdma2_take(cu, XDR_UNIT + RPCRDMA2_SEG_LEN);
		if (!p)
			return false;
		rpcrdma2_decode_segment(p + 1, &seg);
		if (check_add_overflow(sum, seg.rs_length, &sum) ||
		    !rpcrdma2_decode_read_segment(h, ex, be32_to_cpup(p), &seg))
			return false;
	}
	return false;
}

/* The counted segments of a Write or Reply chunk */
static bool rpcrdma2_decode_counted(struct rpcrdma2_hdr *h,
				    struct rpcrdma2_chunk *ck,
				    struct excess *ex,
				    struct rpcrdma2_cursor *cu)
{
	struct rpcrdma2_segment seg;
	const __be32 *p;
	u32 count;

	if (!rpcrdma2_take_count(cu, RPCRDMA2_SEG_LEN, &count))
		return false;
	memset(ck, 0, sizeof(*ck));
	ck->ck_first = h->h_nsegs;
	p = rpcrdma2_take(cu, count * RPCRDMA2_SEG_LEN);
	for (; count; count--, p += RPCRDMA2_SEG_LEN / XDR_UNIT) {
		rpcrdma2_decode_segment(p, &seg);
		if (check_add_overflow(ck->ck_length, seg.rs_length,
				       &ck->ck_length))
			return false; /* 32 bits for all lengths (S05) */
		if (h->h_nsegs == RPCRDMA2_MAX_SEGMENTS) {
			ex->segs = true;
			continue;
		}
		h->h_segs[h->h_nsegs++] = seg;
		ck->ck_nsegs++;
	}
	return true;
}

static bool rpcrdma2_decode_writes(struct rpcrdma2_hdr *h, struct excess *ex,
				   struct rpcrdma2_cursor *cu)
{
	struct rpcrdma2_chunk ck;
	bool present;

	while (rpcrdma2_decode_present(cu, &present)) {
		if (likely(!present))
			return true;
		if (!rpcrdma2_decode_counted(h, &ck, ex, cu))
			return false;
		if (h->h_nwrites == RPCRDMA2_MAX_WRITE_CHUNKS)
			ex->writes = true;
		else
			h->h_writes[h->h_nwrites++] = ck;
	}
	return false;
}

static enum rpcrdma2_errcode rpcrdma2_decode_chunks(struct rpcrdma2_hdr *h,
						    struct excess *ex,
						    struct rpcrdma2_cursor *cu)
{
	const __be32 *p = cu->cu_at;

	BUILD_BUG_ON(RPCRDMA2_MAX_READ_CHUNKS > U8_MAX);
	BUILD_BUG_ON(RPCRDMA2_MAX_WRITE_CHUNKS > U8_MAX);
	BUILD_BUG_ON(RPCRDMA2_MAX_SEGMENTS > U8_MAX);

	/* Most headers have three empty lists. */
	if (likely(cu->cu_left >= 3 * XDR_UNIT && !(p[0] | p[1] | p[2]) &&
		   rpcrdma2_take(cu, 3 * XDR_UNIT)))
		return RDMA2_OK;
	if (!rpcrdma2_decode_reads(h, ex, cu) ||
	    !rpcrdma2_decode_writes(h, ex, cu) ||
	    !rpcrdma2_decode_present(cu, &h->h_has_reply))
		return RDMA2_ERR_BAD_XDR;
	if (h->h_has_reply && !rpcrdma2_decode_counted(h, &h->h_reply, ex, cu))
		return RDMA2_ERR_BAD_XDR;
	return RDMA2_OK;
}

/*
 * An RDMA2_ERROR has no direction word (S02), and is a Reply (C-071). An
 * unknown code is accepted, with any arguments (S43).
 */
static enum rpcrdma2_errcode rpcrdma2_decode_error(struct rpcrdma2_hdr *h,
						   struct rpcrdma2_cursor *cu)
{
	struct rpcrdma2_error *er = &h->h_error;
	unsigned int args;
	const __be32 *p;

	h->h_direction = RDMA2_REPLY;
	p = rpcrdma2_take(cu, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	er->er_code = be32_to_cpup(p);
	args = rpcrdma2_error_args(h);
	p = rpcrdma2_take(cu, args * XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	er->er_arg = args > 0 ? be32_to_cpup(p) : 0;
	er->er_arg2 = args > 1 ? be32_to_cpup(p + 1) : 0;
	return RDMA2_OK;
}

/*
 * Version 1 has neither direction word, nominated handle, options nor
 * properties. The verdict is as precise as in version 2; rpcrdma2_set_error()
 * converts it to ERR_CHUNK.
 */
static enum rpcrdma2_errcode rpcrdma2_decode_v1(struct rpcrdma2_hdr *h,
						struct excess *ex,
						struct rpcrdma2_cursor *cu)
{
	switch (h->h_proc) {
	case RDMA1_MSGP: /* read as MSG (E-23) */
		h->h_proc = RDMA2_MSG;
		if (!rpcrdma2_take(cu, MSGP_PADDING_LEN))
			return RDMA2_ERR_BAD_XDR;
		return rpcrdma2_decode_chunks(h, ex, cu);
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return rpcrdma2_decode_chunks(h, ex, cu);
	case RDMA1_DONE: /* ignored (E-22) */
		return RDMA2_DROP;
	case RDMA2_ERROR:
		return rpcrdma2_decode_error(h, cu);
	default:
		return RDMA2_ERR_INVALID_PROC;
	}
}

/* Any other value is neither Call nor Reply (S06). */
static bool rpcrdma2_decode_direction(struct rpcrdma2_hdr *h,
				      struct rpcrdma2_cursor *cu)
{
	const __be32 *p = rpcrdma2_take(cu, XDR_UNIT);

	if (!p || be32_to_cpup(p) > RDMA2_REPLY)
		return false;
	h->h_direction = be32_to_cpup(p);
	return true;
}

static enum rpcrdma2_errcode rpcrdma2_decode_rpc(struct rpcrdma2_hdr *h,
						 struct excess *ex,
						 struct rpcrdma2_cursor *cu)
{
	const __be32 *p;

	if (!rpcrdma2_decode_direction(h, cu))
		return RDMA2_ERR_BAD_XDR;
	p = rpcrdma2_take(cu, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	h->h_inv_handle = be32_to_cpup(p);
	return rpcrdma2_decode_chunks(h, ex, cu);
}

/*
 * A message with an unreadable direction must not be answered (S39). The
 * opttype alone determines the direction of a property message (S52): a RESPROP
 * is an answer, so one that ends after the opttype is not answered either
 * (S11).
 */
static enum rpcrdma2_errcode
rpcrdma2_decode_optional(struct rpcrdma2_hdr *h, struct rpcrdma2_cursor *cu,
			 const void *base)
{
	const __be32 *p;

	h->h_opttype = 0;
	if (cu->cu_left < XDR_UNIT)
		return RDMA2_ERR_BAD_XDR;
	if (!rpcrdma2_decode_direction(h, cu))
		return RDMA2_DROP;

	p = rpcrdma2_take(cu, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	h->h_opttype = be32_to_cpup(p);
	if (h->h_opttype >= RDMA2_OPT_CONNPROP &&
	    h->h_opttype <= RDMA2_OPT_UPDPROP)	/* S01 */
		h->h_direction = rpcrdma2_property_direction(h->h_opttype);

	if (!rpcrdma2_take_count(cu, 1, &h->h_optlen))
		return RDMA2_ERR_BAD_XDR;
	h->h_optoff = (const void *)cu->cu_at - base;
	return rpcrdma2_take(cu, h->h_optlen) ? RDMA2_OK : RDMA2_ERR_BAD_XDR;
}

/*
 * The messages of draft section 6.2. The body of a property message is the rest
 * of the message, or the body of an option (S01); props.c decodes both.
 */
static enum rpcrdma2_errcode rpcrdma2_decode_v2(struct rpcrdma2_hdr *h,
						struct excess *ex,
						struct rpcrdma2_cursor *cu,
						const void *base)
{
	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return rpcrdma2_decode_rpc(h, ex, cu);
	case RDMA2_ERROR:
		return rpcrdma2_decode_error(h, cu);
	case RDMA2_OPTIONAL:
		return rpcrdma2_decode_optional(h, cu, base);
	case RDMA2_CONNPROP:
	case RDMA2_REQPROP:
	case RDMA2_RESPROP:
	case RDMA2_UPDPROP:
		h->h_opttype = h->h_proc - RDMA2_CONNPROP + RDMA2_OPT_CONNPROP;
		h->h_direction = rpcrdma2_property_direction(h->h_opttype);
		h->h_optoff = RPCRDMA2_PREFIX_LEN;
		h->h_optlen = cu->cu_left;
		return RDMA2_OK;
	default:
		return RDMA2_ERR_INVALID_PROC; /* unknown proc (C-080) */
	}
}

/*
 * ERR_VERS may carry the version that it rejects, so code 1 is checked before
 * rdma_vers (S36). Any other error of an unknown version is dropped: an error
 * is never answered with an error (S38).
 */
static enum rpcrdma2_errcode rpcrdma2_decode_foreign(struct rpcrdma2_hdr *h,
						     struct rpcrdma2_cursor *cu)
{
	if (h->h_proc != RDMA2_ERROR)
		return RDMA2_ERR_VERS; /* unknown version (C-079) */
	if (rpcrdma2_decode_error(h, cu) ||
	    h->h_error.er_code != RDMA2_ERR_VERS)
		return RDMA2_DROP;
	return RDMA2_OK;
}

/*
 * Step 7: whether a well-formed MSG or NOMSG header is consistent with its RPC
 * message, S06 to S09. @rpc is the position after the header.
 */

static bool rpcrdma2_has_rpc(const struct rpcrdma2_cursor *rpc)
{
	return rpc->cu_left >= RPCRDMA2_RPC_PEEK;
}

static u32 rpcrdma2_msg_type(const struct rpcrdma2_cursor *rpc)
{
	return be32_to_cpup(rpc->cu_at + 1);
}

/* The RPC message has the xid and the direction of the header (S08, S06). */
static bool rpcrdma2_is_rpc(const struct rpcrdma2_hdr *h,
			    const struct rpcrdma2_cursor *rpc)
{
	return rpcrdma2_has_rpc(rpc) && be32_to_cpup(rpc->cu_at) == h->h_xid &&
	       rpcrdma2_msg_type(rpc) == h->h_direction;
}

/*
 * Whether a version 1 message is a Call or a Reply: by the msg_type of a MSG; a
 * NOMSG Call has a Read list, a NOMSG Reply only a Reply chunk.
 */
static u32 rpcrdma2_infer_direction(const struct rpcrdma2_hdr *h,
				    const struct rpcrdma2_cursor *rpc)
{
	if (h->h_proc == RDMA2_NOMSG) {
		if (h->h_nreads)
			return RDMA2_CALL;
		return h->h_has_reply ? RDMA2_REPLY : RDMA2_NODIR;
	}
	if (!rpcrdma2_has_rpc(rpc) || rpcrdma2_msg_type(rpc) > RDMA2_REPLY)
		return RDMA2_NODIR;
	return rpcrdma2_msg_type(rpc);
}

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

/*
 * Read chunks must start within the reduced message, after the RPC header, and
 * not before the end of the previous chunk (S09). A position counts the bytes
 * of the chunks before it, with their padding (E-05, E-07).
 *
 * The RPC header is not a data item. RPCSEC_GSS computes its length as the
 * difference of two addresses and reads that number of bytes before it verifies
 * the peer, so the header must be contiguous.
 *
 * @ck: chunks in ascending order, none of them at position zero
 * @len: length of the reduced message
 * @hdr: length of its RPC header; 0 if it is incomplete
 */
static bool rpcrdma2_positions_fit(const struct rpcrdma2_chunk *ck,
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
 * If Read chunks were left out, the sums are incomplete and positions cannot be
 * checked; the next verdict is READ_CHUNKS. The responder determines later
 * where the RPC header ends in a Position-Zero chunk, which has not been read
 * yet.
 */
static bool rpcrdma2_call_agrees(const struct rpcrdma2_hdr *h,
				 const struct excess *ex,
				 const struct rpcrdma2_cursor *rpc)
{
	const struct rpcrdma2_chunk *ck = h->h_reads;
	bool zero = h->h_nreads && !ck->ck_position;

	if (h->h_proc == RDMA2_NOMSG) {
		if (!zero) /* no Position-Zero chunk (S07) */
			return ex->zero;
		if (ck->ck_length < RPCRDMA2_RPC_PEEK)
			return false;
		return ex->reads ||
		       rpcrdma2_positions_fit(ck + 1, h->h_nreads - 1,
					      ck->ck_length,
					      RPCRDMA2_CALL_HDR_MIN);
	}

	/* an MSG has no Position-Zero chunk, but the start of the RPC (S07) */
	if (zero || ex->zero || !rpcrdma2_is_rpc(h, rpc))
		return false;
	/* the end of the RPC header matters to Read chunks only */
	return !h->h_nreads || ex->reads ||
	       rpcrdma2_positions_fit(ck, h->h_nreads,
				      rpc->cu_left + rpc->cu_beyond,
				      rpcrdma2_call_hdr_len(rpc->cu_at,
							    rpc->cu_left));
}

/* A Reply chunk of length 0 is unused (S07, S10, E-06, E-22). */
static bool rpcrdma2_reply_agrees(const struct rpcrdma2_hdr *h,
				  const struct rpcrdma2_cursor *rpc)
{
	u32 length = h->h_has_reply ? h->h_reply.ck_length : 0;

	if (h->h_nreads)
		return false;
	if (h->h_proc == RDMA2_NOMSG)
		return length >= RPCRDMA2_RPC_PEEK;
	return !length && rpcrdma2_is_rpc(h, rpc);
}

/* Step 8 of the order of checks (C-083, C-084, C-085) */
static enum rpcrdma2_errcode rpcrdma2_judge_excess(const struct excess *ex)
{
	if (ex->reads)
		return RDMA2_ERR_READ_CHUNKS;
	if (ex->writes)
		return RDMA2_ERR_WRITE_CHUNKS;
	return ex->segs ? RDMA2_ERR_SEGMENTS : RDMA2_OK;
}

/*
 * Steps 7 and 8 for a header whose lists are well-formed. Codes 4 to 6 answer
 * Calls; a Reply with more than a Call can have offered is malformed.
 */
static enum rpcrdma2_errcode
rpcrdma2_judge_rpc(struct rpcrdma2_hdr *h, const struct excess *ex,
		   const struct rpcrdma2_cursor *rpc)
{
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		h->h_direction = rpcrdma2_infer_direction(h, rpc);

	switch (h->h_direction) {
	case RDMA2_CALL:
		return rpcrdma2_call_agrees(h, ex, rpc) ?
			       rpcrdma2_judge_excess(ex) :
			       RDMA2_ERR_BAD_XDR;
	case RDMA2_REPLY:
		return rpcrdma2_reply_agrees(h, rpc) &&
				       !rpcrdma2_judge_excess(ex) ?
			       RDMA2_OK :
			       RDMA2_ERR_BAD_XDR;
	default:
		return RDMA2_ERR_BAD_XDR;
	}
}

/* The xid of a message shorter than the prefix cannot be trusted (S31). */
static bool rpcrdma2_decode_prefix(struct rpcrdma2_hdr *h,
				   struct rpcrdma2_cursor *cu)
{
	const __be32 *p = rpcrdma2_take(cu, RPCRDMA2_PREFIX_LEN);

	h->h_len = RPCRDMA2_PREFIX_LEN;
	if (unlikely(!p)) {
		rpcrdma2_hdr_begin(h, 0, 0, 0, 0, RDMA2_NODIR);
		return false;
	}
	rpcrdma2_hdr_begin(h, be32_to_cpup(p), be32_to_cpup(p + 1),
			   be32_to_cpup(p + 2), be32_to_cpup(p + 3),
			   RDMA2_NODIR);
	return true;
}

enum rpcrdma2_errcode rpcrdma2_decode_hdr(struct rpcrdma2_hdr *h,
					  const void *base, u32 room, u32 len)
{
	struct rpcrdma2_cursor cu = { base, room, len - room };
	enum rpcrdma2_errcode ret;
	struct excess ex = {};

	if (!rpcrdma2_decode_prefix(h, &cu))
		return RDMA2_DROP;

	switch (h->h_vers) {
	case RPCRDMA2_VERS_ONE:
		ret = rpcrdma2_decode_v1(h, &ex, &cu);
		break;
	case RPCRDMA2_VERS_TWO:
		ret = rpcrdma2_decode_v2(h, &ex, &cu, base);
		break;
	default:
		ret = rpcrdma2_decode_foreign(h, &cu);
		break;
	}
	if (ret)
		return ret;

	h->h_len = room - cu.cu_left;
	if (h->h_proc == RDMA2_MSG || h->h_proc == RDMA2_NOMSG)
		return rpcrdma2_judge_rpc(h, &ex, &cu);
	return RDMA2_OK;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_decode_hdr);

void rpcrdma2_msg_read(struct rpcrdma2_msg *msg, void *base, u32 room,
		       u32 len, u32 handle, const struct rpcrdma2_exchange *ex)
{
	struct rpcrdma2_hdr *h = &msg->mg_hdr;

	msg->mg_bad_body = false;
	msg->mg_paylen = 0;
	msg->mg_handle = handle;

	msg->mg_verdict = rpcrdma2_decode_hdr(h, base, min(room, len), len);
	if (msg->mg_verdict == RDMA2_OK && rpcrdma2_msg_is_optional(msg)) {
		rpcrdma2_exchange_expect(ex, h->h_xid, &msg->mg_prop);
		msg->mg_verdict = rpcrdma2_decode_propmsg(&msg->mg_prop, h,
							  base);
		msg->mg_bad_body = msg->mg_verdict;
	}
	if (likely(msg->mg_verdict == RDMA2_OK))
		msg->mg_paylen = len - h->h_len;
}
EXPORT_SYMBOL_GPL(rpcrdma2_msg_read);

u32 rpcrdma2_grant_next(const struct rpcrdma2_hdr *h, u32 now, u32 max,
			bool granted)
{
	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		if (h->h_direction != RDMA2_REPLY)
			return now;
		break;
	case RDMA2_ERROR:
		if (!granted || h->h_error.er_code == RDMA2_ERR_VERS)
			return now;
		break;
	case RDMA2_CONNPROP:
	case RDMA2_RESPROP:
		break;
	case RDMA2_OPTIONAL:
		if (h->h_opttype != RDMA2_OPT_CONNPROP &&
		    h->h_opttype != RDMA2_OPT_RESPROP)
			return now;
		break;
	default:
		return now;
	}
	return rpcrdma2_grant_sanitise(h->h_credit, max);
}
EXPORT_SYMBOL_GPL(rpcrdma2_grant_next);
