// SPDX-License-Identifier: GPL-2.0
/*
 * Transport headers to and from the wire, whatever their version.
 *
 * This is the border: what has passed rpcrdma2_decode_hdr() is trusted, and
 * nothing leaves but through rpcrdma2_encode_hdr(). Pure functions; no
 * allocation; any context. A message lies in one piece of memory, or the
 * stream has a scratch buffer of RPCRDMA2_READ_SEG_LEN octets.
 */
#include <linux/errno.h>
#include <linux/export.h>

#include "wire.h"

/* S31: the xid of a message shorter than this cannot be trusted */
static bool decode_prefix(struct rpcrdma2_hdr *h, struct xdr_stream *xdr)
{
	const __be32 *p = xdr_inline_decode(xdr, RPCRDMA2_PREFIX_LEN);

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

/*
 * S36: ERR_VERS may carry the version it complains of, so code 1 is looked at
 * before rdma_vers. Any other error of an unknown version is dropped: an
 * error is never answered with an error (S38).
 */
static enum rpcrdma2_errcode decode_foreign(struct rpcrdma2_hdr *h,
					    struct xdr_stream *xdr)
{
	if (h->h_proc != RDMA2_ERROR)
		return RDMA2_ERR_VERS; /* C-079 */
	if (rpcrdma2_decode_error(h, xdr) ||
	    h->h_error.er_code != RDMA2_ERR_VERS)
		return RDMA2_DROP;
	return RDMA2_OK;
}

/* Step 8 of the order of checks; C-083, C-084, C-085 */
static enum rpcrdma2_errcode judge_excess(const struct rpcrdma2_excess *ex)
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
static enum rpcrdma2_errcode judge_rpc(struct rpcrdma2_hdr *h,
				       const struct rpcrdma2_excess *ex,
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
		return judge_excess(ex);
	case RDMA2_REPLY:
		if (!rpcrdma2_reply_agrees(h, &pl) || judge_excess(ex))
			return RDMA2_ERR_BAD_XDR;
		return RDMA2_OK;
	default:
		return RDMA2_ERR_BAD_XDR;
	}
}

enum rpcrdma2_errcode rpcrdma2_decode_hdr(struct rpcrdma2_hdr *h,
					  struct xdr_stream *xdr)
{
	struct rpcrdma2_excess ex = {};
	enum rpcrdma2_errcode ret;

	if (!decode_prefix(h, xdr))
		return RDMA2_DROP;

	switch (h->h_vers) {
	case RPCRDMA2_VERS_ONE:
		ret = rpcrdma2_decode_v1(h, &ex, xdr);
		break;
	case RPCRDMA2_VERS_TWO:
		ret = rpcrdma2_decode_v2(h, &ex, xdr);
		break;
	default:
		ret = decode_foreign(h, xdr);
		break;
	}
	if (ret)
		return ret;

	h->h_len = xdr_stream_pos(xdr);
	if (h->h_proc == RDMA2_MSG || h->h_proc == RDMA2_NOMSG)
		return judge_rpc(h, &ex, xdr);
	return RDMA2_OK;
}
EXPORT_SYMBOL_GPL(rpcrdma2_decode_hdr);

size_t rpcrdma2_hdr_size(const struct rpcrdma2_hdr *h)
{
	if (h->h_proc == RDMA2_ERROR)
		return RPCRDMA2_PREFIX_LEN + XDR_UNIT +
		       rpcrdma2_error_args(h->h_vers, h->h_error.er_code) *
			       XDR_UNIT;
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		return rpcrdma2_size_v1(h);
	return rpcrdma2_size_v2(h);
}
EXPORT_SYMBOL_GPL(rpcrdma2_hdr_size);

int rpcrdma2_encode_hdr(struct xdr_stream *xdr, const struct rpcrdma2_hdr *h)
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
EXPORT_SYMBOL_GPL(rpcrdma2_encode_hdr);
