// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA2_ERROR: its body on the wire, how a Call turns into the error that
 * answers it, and what a requester does about one (2.4 of
 * Documentation/protocol.rst).
 */
#include <linux/export.h>

#include "wire.h"

unsigned int rpcrdma2_error_args(u32 vers, u32 code)
{
	if (code == RDMA2_ERR_VERS)
		return 2;
	if (vers == RPCRDMA2_VERS_ONE)
		return 0;

	switch (code) {
	case RDMA2_ERR_WRITE_RESOURCE:
		return 2;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
	case RDMA2_ERR_SEGMENTS:
	case RDMA2_ERR_REPLY_RESOURCE:
		return 1;
	default:
		return 0;
	}
}

enum rpcrdma2_errcode rpcrdma2_decode_error(struct rpcrdma2_hdr *h,
					    struct xdr_stream *xdr)
{
	struct rpcrdma2_error *er = &h->h_error;
	unsigned int args;
	const __be32 *p;

	h->h_direction = RDMA2_REPLY;
	p = xdr_inline_decode(xdr, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	er->er_code = be32_to_cpup(p);
	er->er_arg = 0;
	er->er_arg2 = 0;

	args = rpcrdma2_error_args(h->h_vers, er->er_code);
	if (!args)
		return RDMA2_OK;
	p = xdr_inline_decode(xdr, args * XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	er->er_arg = be32_to_cpup(p);
	if (args == 2)
		er->er_arg2 = be32_to_cpup(p + 1);
	return RDMA2_OK;
}

__be32 *rpcrdma2_encode_error(__be32 *p, const struct rpcrdma2_hdr *h)
{
	unsigned int args = rpcrdma2_error_args(h->h_vers, h->h_error.er_code);

	*p++ = cpu_to_be32(h->h_error.er_code);
	if (args > 0)
		*p++ = cpu_to_be32(h->h_error.er_arg);
	if (args > 1)
		*p++ = cpu_to_be32(h->h_error.er_arg2);
	return p;
}

bool rpcrdma2_error_sendable(const struct rpcrdma2_hdr *h)
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

void rpcrdma2_set_error(struct rpcrdma2_hdr *h, enum rpcrdma2_errcode code,
			u32 arg, u32 arg2)
{
	if (h->h_vers == RPCRDMA2_VERS_ONE && code != RDMA2_ERR_VERS)
		code = RDMA2_ERR_BAD_XDR;

	switch (code) {
	case RDMA2_ERR_VERS: /* C-079, C-100 */
		arg = arg ?: RPCRDMA2_VERS_ONE;
		arg2 = arg2 ?: RPCRDMA2_VERS_TWO;
		break;
	case RDMA2_ERR_READ_CHUNKS: /* C-083 */
		arg = arg ?: RPCRDMA2_MAX_READ_CHUNKS;
		break;
	case RDMA2_ERR_WRITE_CHUNKS: /* C-084 */
		arg = arg ?: RPCRDMA2_MAX_WRITE_CHUNKS;
		break;
	case RDMA2_ERR_SEGMENTS: /* C-085 */
		arg = arg ?: RPCRDMA2_MAX_SEGMENTS;
		break;
	default:
		break;
	}

	rpcrdma2_hdr_begin(h, h->h_xid, h->h_vers, h->h_credit, RDMA2_ERROR,
			   RDMA2_REPLY);
	h->h_error.er_code = code;
	h->h_error.er_arg = arg;
	h->h_error.er_arg2 = arg2;
}
EXPORT_SYMBOL_GPL(rpcrdma2_set_error);

enum rpcrdma2_remedy rpcrdma2_remedy(u32 vers, const struct rpcrdma2_error *er,
				     bool resent)
{
	if (er->er_code == RDMA2_ERR_VERS)
		return resent ? RPCRDMA2_REMEDY_FAIL :
				RPCRDMA2_REMEDY_RENEGOTIATE;
	if (vers == RPCRDMA2_VERS_ONE)
		return RPCRDMA2_REMEDY_FAIL;

	switch (er->er_code) {
	case RDMA2_ERR_INVALID_PROC:
	case RDMA2_ERR_INVALID_OPTION:
		return RPCRDMA2_REMEDY_VERSION_ONE;
	case RDMA2_ERR_READ_CHUNKS:
		return resent ? RPCRDMA2_REMEDY_FAIL :
				RPCRDMA2_REMEDY_FEWER_READS;
	case RDMA2_ERR_WRITE_CHUNKS:
		return resent ? RPCRDMA2_REMEDY_FAIL :
				RPCRDMA2_REMEDY_NO_WRITES;
	case RDMA2_ERR_SEGMENTS:
		return resent || !er->er_arg ? RPCRDMA2_REMEDY_FAIL :
					       RPCRDMA2_REMEDY_FEWER_SEGMENTS;
	case RDMA2_ERR_WRITE_RESOURCE:
		return resent || !er->er_arg2 ? RPCRDMA2_REMEDY_FAIL :
						RPCRDMA2_REMEDY_LARGER_WRITE;
	case RDMA2_ERR_REPLY_RESOURCE: /* S41: 0 is unknown */
		return resent || !er->er_arg ? RPCRDMA2_REMEDY_FAIL :
					       RPCRDMA2_REMEDY_LARGER_REPLY;
	default:
		return RPCRDMA2_REMEDY_FAIL;
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_remedy);

bool rpcrdma2_lacks_message(const struct rpcrdma2_error *er)
{
	return er->er_code == RDMA2_ERR_INVALID_PROC ||
	       er->er_code == RDMA2_ERR_INVALID_OPTION;
}
EXPORT_SYMBOL_GPL(rpcrdma2_lacks_message);
