// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA2_ERROR: what its body holds, how a Call turns into the error that answers
 * it, and what a requester does about one (2.4 of Documentation/protocol.rst).
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
