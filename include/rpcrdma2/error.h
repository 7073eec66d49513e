/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA2_ERROR: its body on the wire, how a Call turns into the error that
 * answers it, and what a requester does about one (2.4 of
 * Documentation/protocol.rst).
 */
#ifndef _RPCRDMA2_ERROR_H
#define _RPCRDMA2_ERROR_H

#include <linux/string.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/header.h>

/**
 * rpcrdma2_error_args - words that follow rdma_err
 * @vers: version of the header
 * @code: rdma_err
 *
 * Version 1 knows ERR_VERS and ERR_CHUNK; what else it may say is a bare code.
 *
 * Return: 0 to 2; 0 for a code unknown to the version (S43).
 */
static inline unsigned int rpcrdma2_error_args(u32 vers, u32 code)
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

/**
 * rpcrdma2_decode_error - read the body of RDMA2_ERROR
 * @h: version already known; h_direction and h_error are filled
 * @xdr: received message, standing behind rdma_proc
 *
 * S02: no direction word; an error is a Reply (C-071). S43: a code we do not
 * know is passed on, whatever follows it.
 *
 * Return: RDMA2_OK or RDMA2_ERR_BAD_XDR.
 */
static inline enum rpcrdma2_errcode
rpcrdma2_decode_error(struct rpcrdma2_hdr *h, struct xdr_stream *xdr)
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

/* C-062: exactly the words of the code, nothing behind them */
static inline __be32 *rpcrdma2_encode_error(__be32 *p,
					    const struct rpcrdma2_hdr *h)
{
	unsigned int args = rpcrdma2_error_args(h->h_vers, h->h_error.er_code);

	*p++ = cpu_to_be32(h->h_error.er_code);
	if (args > 0)
		*p++ = cpu_to_be32(h->h_error.er_arg);
	if (args > 1)
		*p++ = cpu_to_be32(h->h_error.er_arg2);
	return p;
}

/* Ten codes in version 2, two in version 1; S36: VERS under any version */
static inline bool rpcrdma2_error_sendable(const struct rpcrdma2_hdr *h)
{
	u32 code = h->h_error.er_code;

	if (h->h_direction != RDMA2_REPLY)
		return false;
	if (code == RDMA2_ERR_VERS)
		return h->h_error.er_arg <= h->h_error.er_arg2;
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		return code == RDMA2_ERR_BAD_XDR;
	return h->h_vers == RPCRDMA2_VERS_TWO &&
	       code > RDMA2_ERR_VERS && code <= RDMA2_ERR_SYSTEM;
}

/**
 * rpcrdma2_set_error - turn a received Call into the error that answers it
 * @h: decoded header, valid at least up to rdma_proc; overwritten
 * @code: verdict
 * @arg: the code's first word; 0 stands for our own limit in codes 1, 4, 5, 6
 * @arg2: the code's second word; 0 stands for our own limit in code 1
 *
 * xid and version stay (C-076). The caller sets h_credit to its grant
 * (C-077), and makes sure that the message was one that may be answered
 * (C-078, S38). Version 1 has one code for all that is wrong with a header.
 */
static inline void rpcrdma2_set_error(struct rpcrdma2_hdr *h,
				      enum rpcrdma2_errcode code,
				      u32 arg, u32 arg2)
{
	if (h->h_vers == RPCRDMA2_VERS_ONE && code != RDMA2_ERR_VERS)
		code = RDMA2_ERR_BAD_XDR;

	switch (code) {
	case RDMA2_ERR_VERS:			/* C-079, C-100 */
		arg = arg ?: RPCRDMA2_VERS_ONE;
		arg2 = arg2 ?: RPCRDMA2_VERS_TWO;
		break;
	case RDMA2_ERR_READ_CHUNKS:		/* C-083 */
		arg = arg ?: RPCRDMA2_MAX_READ_CHUNKS;
		break;
	case RDMA2_ERR_WRITE_CHUNKS:		/* C-084 */
		arg = arg ?: RPCRDMA2_MAX_WRITE_CHUNKS;
		break;
	case RDMA2_ERR_SEGMENTS:		/* C-085 */
		arg = arg ?: RPCRDMA2_MAX_SEGMENTS;
		break;
	default:
		break;
	}

	h->h_proc = RDMA2_ERROR;
	h->h_direction = RDMA2_REPLY;
	h->h_inv_handle = 0;
	h->h_nreads = 0;
	h->h_nwrites = 0;
	h->h_has_reply = false;
	h->h_nsegs = 0;
	h->h_error.er_code = code;
	h->h_error.er_arg = arg;
	h->h_error.er_arg2 = arg2;
}

/**
 * enum rpcrdma2_remedy - what a requester does about an error
 * @RPCRDMA2_REMEDY_FAIL: end the RPC with -EIO
 * @RPCRDMA2_REMEDY_RENEGOTIATE: reconnect, find the version again
 * @RPCRDMA2_REMEDY_VERSION_ONE: reconnect with version 1; the RPC is sent
 *	again there
 * @RPCRDMA2_REMEDY_FEWER_READS: send again with at most er_arg Read chunks,
 *	or all of it in a Position-Zero chunk
 * @RPCRDMA2_REMEDY_NO_WRITES: send again without a Write list but with a
 *	Reply chunk
 * @RPCRDMA2_REMEDY_FEWER_SEGMENTS: remember er_arg for the connection, send
 *	again with no more segments than that
 * @RPCRDMA2_REMEDY_LARGER_WRITE: send again if the upper layer's buffer holds
 *	er_arg2 octets, else fail
 * @RPCRDMA2_REMEDY_LARGER_REPLY: send again with a Reply chunk of er_arg
 *	octets if the receive buffer holds them, else fail
 */
enum rpcrdma2_remedy {
	RPCRDMA2_REMEDY_FAIL,
	RPCRDMA2_REMEDY_RENEGOTIATE,
	RPCRDMA2_REMEDY_VERSION_ONE,
	RPCRDMA2_REMEDY_FEWER_READS,
	RPCRDMA2_REMEDY_NO_WRITES,
	RPCRDMA2_REMEDY_FEWER_SEGMENTS,
	RPCRDMA2_REMEDY_LARGER_WRITE,
	RPCRDMA2_REMEDY_LARGER_REPLY,
};

/**
 * rpcrdma2_remedy - what to do about an error that answers an RPC
 * @vers: version of the connection (an ERR_VERS may carry another, S36)
 * @er: the error
 * @resent: the RPC has been sent again once for an error already
 *
 * Unknown codes end the RPC (S43). An RPC is rebuilt once at most (S45).
 */
static inline enum rpcrdma2_remedy
rpcrdma2_remedy(u32 vers, const struct rpcrdma2_error *er, bool resent)
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
	case RDMA2_ERR_REPLY_RESOURCE:	/* S41: 0 is unknown */
		return resent || !er->er_arg ? RPCRDMA2_REMEDY_FAIL :
				RPCRDMA2_REMEDY_LARGER_REPLY;
	default:
		return RPCRDMA2_REMEDY_FAIL;
	}
}

/**
 * rpcrdma2_lacks_message - does an error say that the peer lacks the message?
 * @er: error that answers a property message or RDMA2_OPTIONAL
 *
 * Return: true when no message of that type may follow on this connection
 * (C-026); false when just this one was refused.
 */
static inline bool rpcrdma2_lacks_message(const struct rpcrdma2_error *er)
{
	return er->er_code == RDMA2_ERR_INVALID_PROC ||
	       er->er_code == RDMA2_ERR_INVALID_OPTION;
}

#endif /* _RPCRDMA2_ERROR_H */
