// SPDX-License-Identifier: GPL-2.0
/*
 * Version 1 transport headers, behind the four words that every version
 * begins with.
 *
 * Version 1 knows no direction word, no nominated handle, no options and no
 * properties. All that is wrong with a header is answered with one code,
 * ERR_CHUNK: the verdict is as precise as in version 2, and
 * rpcrdma2_set_error() flattens it.
 */
#include "wire.h"

/* rdma_align and rdma_thresh of MSGP */
#define PADDING_LEN	(2 * XDR_UNIT)

enum rpcrdma2_errcode rpcrdma2_decode_v1(struct rpcrdma2_hdr *h,
					 struct rpcrdma2_excess *ex,
					 struct xdr_stream *xdr)
{
	switch (h->h_proc) {
	case RDMA1_MSGP: /* E-23 */
		h->h_proc = RDMA2_MSG;
		if (!xdr_inline_decode(xdr, PADDING_LEN))
			return RDMA2_ERR_BAD_XDR;
		return rpcrdma2_decode_chunks(h, ex, xdr);
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return rpcrdma2_decode_chunks(h, ex, xdr);
	case RDMA1_DONE: /* E-22 */
		return RDMA2_DROP;
	case RDMA2_ERROR:
		return rpcrdma2_decode_error(h, xdr);
	default:
		return RDMA2_ERR_INVALID_PROC;
	}
}

u32 rpcrdma2_infer_direction(const struct rpcrdma2_hdr *h,
			     const struct rpcrdma2_payload *pl)
{
	if (h->h_proc == RDMA2_NOMSG) {
		if (h->h_nreads)
			return RDMA2_CALL;
		return h->h_has_reply ? RDMA2_REPLY : RDMA2_NODIR;
	}
	if (pl->pl_len < RPCRDMA2_RPC_PEEK || pl->pl_type > RDMA2_REPLY)
		return RDMA2_NODIR;
	return pl->pl_type;
}

size_t rpcrdma2_size_v1(const struct rpcrdma2_hdr *h)
{
	return RPCRDMA1_HDR_MIN + rpcrdma2_chunks_size(h);
}

__be32 *rpcrdma2_encode_v1(__be32 *p, const struct rpcrdma2_hdr *h)
{
	return rpcrdma2_encode_chunks(p, h);
}
