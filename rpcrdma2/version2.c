// SPDX-License-Identifier: GPL-2.0
/*
 * Version 2 transport headers, behind the four words that every version
 * begins with. Draft section 6.2.
 */
#include "wire.h"

/* S06: what is neither Call nor Reply cannot be told from the other */
static enum rpcrdma2_errcode decode_direction(struct rpcrdma2_hdr *h,
					      const __be32 *p)
{
	u32 direction = be32_to_cpup(p);

	if (direction > RDMA2_REPLY)
		return RDMA2_ERR_BAD_XDR;
	h->h_direction = direction;
	return RDMA2_OK;
}

static enum rpcrdma2_errcode decode_rpc(struct rpcrdma2_hdr *h,
					struct rpcrdma2_excess *ex,
					struct xdr_stream *xdr)
{
	enum rpcrdma2_errcode ret;
	const __be32 *p;

	p = xdr_inline_decode(xdr, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	ret = decode_direction(h, p);
	if (ret)
		return ret;
	p = xdr_inline_decode(xdr, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	h->h_inv_handle = be32_to_cpup(p);
	return rpcrdma2_decode_chunks(h, ex, xdr);
}

/*
 * The body stays where it is: what an opttype means is for the receiver to
 * say. S39: an unreadable direction must not be answered. A RESPROP is an
 * answer, whatever it says of itself (S01, S38): the opttype alone decides,
 * so a RESPROP that ends right behind it is not answered either (S11).
 */
static enum rpcrdma2_errcode decode_optional(struct rpcrdma2_hdr *h,
					     struct xdr_stream *xdr)
{
	const __be32 *p;

	p = xdr_inline_decode(xdr, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	if (decode_direction(h, p))
		return RDMA2_DROP;

	p = xdr_inline_decode(xdr, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	h->h_opttype = be32_to_cpup(p);
	if (h->h_opttype == RDMA2_OPT_RESPROP)
		h->h_direction = RDMA2_REPLY;

	p = xdr_inline_decode(xdr, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	h->h_optlen = be32_to_cpup(p);
	h->h_optoff = xdr_stream_pos(xdr);
	if (h->h_optlen > xdr_stream_remaining(xdr) ||
	    !xdr_inline_decode(xdr, h->h_optlen))
		return RDMA2_ERR_BAD_XDR;
	return RDMA2_OK;
}

/*
 * A property message takes the rest of the message, as the option body it
 * also may come as (S01); propset.c reads either.
 */
static enum rpcrdma2_errcode decode_property(struct rpcrdma2_hdr *h,
					     struct xdr_stream *xdr)
{
	h->h_direction = h->h_proc == RDMA2_RESPROP ? RDMA2_REPLY : RDMA2_CALL;
	h->h_opttype = h->h_proc - RDMA2_CONNPROP + RDMA2_OPT_CONNPROP;
	h->h_optoff = xdr_stream_pos(xdr);
	h->h_optlen = xdr->buf->len - h->h_optoff;
	return RDMA2_OK;
}

enum rpcrdma2_errcode rpcrdma2_decode_v2(struct rpcrdma2_hdr *h,
					 struct rpcrdma2_excess *ex,
					 struct xdr_stream *xdr)
{
	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return decode_rpc(h, ex, xdr);
	case RDMA2_ERROR:
		return rpcrdma2_decode_error(h, xdr);
	case RDMA2_OPTIONAL:
		return decode_optional(h, xdr);
	case RDMA2_CONNPROP:
	case RDMA2_REQPROP:
	case RDMA2_RESPROP:
	case RDMA2_UPDPROP:
		return decode_property(h, xdr);
	default:
		return RDMA2_ERR_INVALID_PROC; /* C-080 */
	}
}

size_t rpcrdma2_size_v2(const struct rpcrdma2_hdr *h)
{
	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return RPCRDMA2_HDR_MIN + rpcrdma2_chunks_size(h);
	case RDMA2_OPTIONAL:
		return RPCRDMA2_OPTIONAL_LEN;
	default:
		return RPCRDMA2_PREFIX_LEN;
	}
}

__be32 *rpcrdma2_encode_v2(__be32 *p, const struct rpcrdma2_hdr *h)
{
	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		*p++ = cpu_to_be32(h->h_direction);
		*p++ = cpu_to_be32(h->h_inv_handle);
		return rpcrdma2_encode_chunks(p, h);
	case RDMA2_OPTIONAL:
		*p++ = cpu_to_be32(h->h_direction);
		*p++ = cpu_to_be32(h->h_opttype);
		*p++ = cpu_to_be32(h->h_optlen);
		return p;
	default:
		return p;
	}
}
