// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA2_ERROR: what its body holds, how a Call turns into the error that answers
 * it, and what a requester does about one (2.4 of Documentation/protocol.rst).
 */
#include <linux/export.h>
#include <linux/minmax.h>

#include "wire.h"

/**
 * struct code - an error of version 2
 * @args: words that follow it
 * @arg: the first one, where it is a limit of the decoder
 * @arg2: the second one, likewise
 * @remedy: what a requester does about it, once
 * @needs: the word that must not be 0 for that: 1, 2, or 0 for none
 */
struct code {
	u8			args;
	u8			arg;
	u8			arg2;
	enum rpcrdma2_remedy	remedy;
	u8			needs;
};

static const struct code codes[] = {
	[RDMA2_ERR_VERS]	= {	/* C-079, C-100 */
		2, RPCRDMA2_VERS_ONE, RPCRDMA2_VERS_TWO,
		RPCRDMA2_REMEDY_RENEGOTIATE },
	[RDMA2_ERR_READ_CHUNKS]	= {	/* C-083 */
		1, RPCRDMA2_MAX_READ_CHUNKS, 0, RPCRDMA2_REMEDY_FEWER_READS },
	[RDMA2_ERR_WRITE_CHUNKS] = {	/* C-084 */
		1, RPCRDMA2_MAX_WRITE_CHUNKS, 0, RPCRDMA2_REMEDY_NO_WRITES },
	[RDMA2_ERR_SEGMENTS]	= {	/* C-085 */
		1, 0, 0, RPCRDMA2_REMEDY_FEWER_SEGMENTS, 1 },
	[RDMA2_ERR_WRITE_RESOURCE] = {
		2, 0, 0, RPCRDMA2_REMEDY_LARGER_WRITE, 2 },
	[RDMA2_ERR_REPLY_RESOURCE] = {	/* S41: 0 is unknown */
		1, 0, 0, RPCRDMA2_REMEDY_LARGER_REPLY, 1 },
	[RDMA2_ERR_SYSTEM]	= { },
};

/* Version 1 has one code besides ERR_VERS, without words. */
static const struct code *find_code(u32 vers, u32 code)
{
	if (code >= ARRAY_SIZE(codes) ||
	    (vers == RPCRDMA2_VERS_ONE && code != RDMA2_ERR_VERS))
		code = RDMA2_ERR_SYSTEM;
	return &codes[code];
}

unsigned int rpcrdma2_error_args(u32 vers, u32 code)
{
	return find_code(vers, code)->args;
}

/*
 * C-085 is about each chunk, and what the decoder holds is a number of all together:
 * so many of each chunk of this Call are within it.
 */
static u32 segments_each(const struct rpcrdma2_hdr *h)
{
	unsigned int chunks = h->h_nreads + h->h_nwrites + h->h_has_reply;

	return RPCRDMA2_MAX_SEGMENTS / max(chunks, 1U);
}

void rpcrdma2_set_error(struct rpcrdma2_hdr *h, enum rpcrdma2_errcode code,
			u32 arg, u32 arg2)
{
	const struct code *c = find_code(h->h_vers, code);

	if (code == RDMA2_ERR_SEGMENTS && !arg)
		arg = segments_each(h);
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
	const struct code *c = find_code(vers, er->er_code);

	if (vers != RPCRDMA2_VERS_ONE && rpcrdma2_lacks_message(er))
		return RPCRDMA2_REMEDY_VERSION_ONE;
	if (resent || (c->needs == 1 && !er->er_arg) ||
	    (c->needs == 2 && !er->er_arg2))
		return RPCRDMA2_REMEDY_FAIL;
	return c->remedy;
}
EXPORT_SYMBOL_GPL(rpcrdma2_remedy);

bool rpcrdma2_lacks_message(const struct rpcrdma2_error *er)
{
	return er->er_code == RDMA2_ERR_INVALID_PROC ||
	       er->er_code == RDMA2_ERR_INVALID_OPTION;
}
EXPORT_SYMBOL_GPL(rpcrdma2_lacks_message);
