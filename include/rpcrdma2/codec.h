/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transport headers to and from the wire, whatever their version.
 *
 * This is the border: what has passed rpcrdma2_decode_hdr() is trusted, and
 * nothing leaves but through rpcrdma2_encode_hdr(). Pure functions; no
 * allocation; any context. A message lies in one piece of memory, or the
 * stream has a scratch buffer of RPCRDMA2_READ_SEG_LEN octets.
 */
#ifndef _RPCRDMA2_CODEC_H
#define _RPCRDMA2_CODEC_H

#include <linux/errno.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/codec_v1.h>
#include <rpcrdma2/codec_v2.h>
#include <rpcrdma2/payload.h>
#include <rpcrdma2/sendable.h>

/* S31: the xid of a message shorter than this cannot be trusted */
static inline bool rpcrdma2_decode_prefix(struct rpcrdma2_hdr *h,
					  struct xdr_stream *xdr)
{
	const __be32 *p = xdr_inline_decode(xdr, RPCRDMA2_PREFIX_LEN);

	h->h_direction = RDMA2_NODIR;
	h->h_inv_handle = 0;
	h->h_len = RPCRDMA2_PREFIX_LEN;
	h->h_nreads = 0;
	h->h_nwrites = 0;
	h->h_has_reply = false;
	h->h_nsegs = 0;
	if (!p)
		return false;
	h->h_xid = be32_to_cpup(p++);
	h->h_vers = be32_to_cpup(p++);
	h->h_credit = be32_to_cpup(p++);
	h->h_proc = be32_to_cpup(p);
	return true;
}

/*
 * S36: ERR_VERS may carry the version it complains of, so code 1 is looked at
 * before rdma_vers. Any other error of an unknown version is dropped: an
 * error never draws an error (S38).
 */
static inline enum rpcrdma2_errcode
rpcrdma2_decode_foreign(struct rpcrdma2_hdr *h, struct xdr_stream *xdr)
{
	if (h->h_proc != RDMA2_ERROR)
		return RDMA2_ERR_VERS;		/* C-079 */
	if (rpcrdma2_decode_error(h, xdr) ||
	    h->h_error.er_code != RDMA2_ERR_VERS)
		return RDMA2_DROP;
	return RDMA2_OK;
}

/**
 * rpcrdma2_is_excess - is a Call refused for nothing but its size?
 * @verdict: of rpcrdma2_decode_hdr()
 *
 * Its lists are well-formed then, and hold more than the decoded form does.
 */
static inline bool rpcrdma2_is_excess(enum rpcrdma2_errcode verdict)
{
	return verdict == RDMA2_ERR_READ_CHUNKS ||
	       verdict == RDMA2_ERR_WRITE_CHUNKS ||
	       verdict == RDMA2_ERR_SEGMENTS;
}

/* Step 8 of the order of checks; C-083, C-084, C-085 */
static inline enum rpcrdma2_errcode
rpcrdma2_judge_excess(const struct rpcrdma2_excess *ex)
{
	if (ex->ex_reads)
		return RDMA2_ERR_READ_CHUNKS;
	if (ex->ex_writes)
		return RDMA2_ERR_WRITE_CHUNKS;
	return ex->ex_segs ? RDMA2_ERR_SEGMENTS : RDMA2_OK;
}

/*
 * Steps 7 and 8 for a header whose lists are well-formed. Codes 4 to 6 answer
 * Calls; a Reply with more than it can have been asked for is just bad.
 */
static inline enum rpcrdma2_errcode
rpcrdma2_judge_rpc(struct rpcrdma2_hdr *h, const struct rpcrdma2_excess *ex,
		   const struct xdr_stream *xdr)
{
	struct rpcrdma2_payload pl;

	rpcrdma2_peek_payload(&pl, xdr);
	if (h->h_nreads && h->h_proc == RDMA2_MSG)
		rpcrdma2_peek_call_hdr(&pl, xdr);
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		h->h_direction = rpcrdma2_infer_direction(h, &pl);

	switch (h->h_direction) {
	case RDMA2_CALL:
		if (!rpcrdma2_call_agrees(h, &pl, ex))
			return RDMA2_ERR_BAD_XDR;
		return rpcrdma2_judge_excess(ex);
	case RDMA2_REPLY:
		if (!rpcrdma2_reply_agrees(h, &pl) || rpcrdma2_judge_excess(ex))
			return RDMA2_ERR_BAD_XDR;
		return RDMA2_OK;
	default:
		return RDMA2_ERR_BAD_XDR;
	}
}

/**
 * rpcrdma2_decode_hdr - read and judge the transport header of a message
 * @h: to be filled
 * @xdr: the whole message received, from its first octet
 *
 * One bounded pass: steps 1 to 8 of the responder's order of checks, 2.5 of
 * Documentation/protocol.rst. On RDMA2_OK all of @h is valid, h_len is the
 * header's length, and the stream stands behind the header: at the RPC
 * message of a MSG, at the body of a property message, at whatever follows
 * the body of an RDMA2_OPTIONAL. Octets after a NOMSG or an ERROR mean
 * nothing (S07).
 *
 * Otherwise only h_xid, h_vers, h_credit, h_proc and h_direction are valid,
 * and after RDMA2_DROP perhaps not even these; h_len is not past the end of the
 * message, but for one that has no prefix. When rpcrdma2_is_excess(), a
 * list that is not empty has an h_nreads or h_nwrites that is not 0.
 * h_direction tells what an error verdict asks for:
 *
 * * RDMA2_CALL: answer it, rpcrdma2_set_error();
 * * RDMA2_REPLY: end the RPC it answers, if there is one, with -EIO; send
 *   nothing (C-078);
 * * RDMA2_NODIR: a server takes it for a Call; a client drops it (S06), or
 *   in version 1, where it can only have asked for Replies with chunks, ends
 *   the RPC of that xid.
 *
 * Return: RDMA2_OK; the code the draft demands; or RDMA2_DROP for what must
 * be discarded in silence (E-22, S31, S38, S39).
 */
static inline enum rpcrdma2_errcode
rpcrdma2_decode_hdr(struct rpcrdma2_hdr *h, struct xdr_stream *xdr)
{
	struct rpcrdma2_excess ex = { };
	enum rpcrdma2_errcode ret;

	if (!rpcrdma2_decode_prefix(h, xdr))
		return RDMA2_DROP;

	switch (h->h_vers) {
	case RPCRDMA2_VERS_ONE:
		ret = rpcrdma2_decode_v1(h, &ex, xdr);
		break;
	case RPCRDMA2_VERS_TWO:
		ret = rpcrdma2_decode_v2(h, &ex, xdr);
		break;
	default:
		ret = rpcrdma2_decode_foreign(h, xdr);
		break;
	}
	if (ret)
		return ret;

	h->h_len = xdr_stream_pos(xdr);
	if (h->h_proc == RDMA2_MSG || h->h_proc == RDMA2_NOMSG)
		return rpcrdma2_judge_rpc(h, &ex, xdr);
	return RDMA2_OK;
}

/**
 * rpcrdma2_hdr_size - octets rpcrdma2_encode_hdr() produces
 * @h: header to be sent
 *
 * Without the body of a property message or of an RDMA2_OPTIONAL.
 */
static inline size_t rpcrdma2_hdr_size(const struct rpcrdma2_hdr *h)
{
	if (h->h_proc == RDMA2_ERROR)
		return RPCRDMA2_PREFIX_LEN + XDR_UNIT +
		       rpcrdma2_error_args(h->h_vers, h->h_error.er_code) *
		       XDR_UNIT;
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		return rpcrdma2_size_v1(h);
	return rpcrdma2_size_v2(h);
}

/**
 * rpcrdma2_encode_hdr - lay out a transport header in the form of its version
 * @xdr: where
 * @h: what; chunk lengths and counts are checked against its segments
 *
 * The body of a property message (propset.h) or of an RDMA2_OPTIONAL is
 * appended by the caller; so is the RPC message of a MSG.
 *
 * Return: 0; -EINVAL when the header breaks a rule of sending, with nothing
 * written; -EMSGSIZE when it does not fit, with nothing written.
 */
static inline int rpcrdma2_encode_hdr(struct xdr_stream *xdr,
				      const struct rpcrdma2_hdr *h)
{
	__be32 *p;

	if (!rpcrdma2_sendable(h))
		return -EINVAL;
	p = xdr_reserve_space(xdr, rpcrdma2_hdr_size(h));
	if (!p)
		return -EMSGSIZE;

	*p++ = cpu_to_be32(h->h_xid);
	*p++ = cpu_to_be32(h->h_vers);
	*p++ = cpu_to_be32(h->h_credit);
	*p++ = cpu_to_be32(h->h_proc);
	if (h->h_proc == RDMA2_ERROR)
		rpcrdma2_encode_error(p, h);
	else if (h->h_vers == RPCRDMA2_VERS_ONE)
		rpcrdma2_encode_v1(p, h);
	else
		rpcrdma2_encode_v2(p, h);
	return 0;
}

#endif /* _RPCRDMA2_CODEC_H */
