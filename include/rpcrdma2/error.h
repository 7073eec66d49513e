/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA2_ERROR: its body on the wire, the conversion of a Call into the error
 * that answers it, and the reaction of a requester (2.4 of
 * Documentation/protocol.rst).
 */
#ifndef _RPCRDMA2_ERROR_H
#define _RPCRDMA2_ERROR_H

#include <rpcrdma2/header.h>

/**
 * rpcrdma2_set_error - turn a received Call into the error that answers it
 * @h: decoded header, valid at least up to rdma_proc, with code 6 to its end;
 *	overwritten
 * @code: verdict
 * @arg: the code's first word, or 0 for the limit of the codec: the lowest
 *	version in code 1, chunks in codes 4 and 5, segments for each chunk of
 *	the Call in code 6
 * @arg2: the code's second word, or 0 for the limit of the codec: the highest
 *	version in code 1
 *
 * The xid and the version stay (C-076). The caller sets h_credit to its grant
 * (C-077), and ensures that the message may be answered (C-078, S38). Version 1
 * has a single code for all errors in a header.
 */
void rpcrdma2_set_error(struct rpcrdma2_hdr *h, enum rpcrdma2_errcode code,
			u32 arg, u32 arg2);

/**
 * enum rpcrdma2_remedy - reaction of a requester to an error
 * @RPCRDMA2_REMEDY_FAIL: end the RPC with -EIO
 * @RPCRDMA2_REMEDY_RENEGOTIATE: reconnect and negotiate the version again
 * @RPCRDMA2_REMEDY_VERSION_ONE: reconnect with version 1 and send the RPC again
 * @RPCRDMA2_REMEDY_FEWER_READS: send again with at most er_arg Read chunks, or
 *	all of it in a Position-Zero chunk
 * @RPCRDMA2_REMEDY_NO_WRITES: send again without a Write list but with a Reply
 *	chunk
 * @RPCRDMA2_REMEDY_FEWER_SEGMENTS: remember er_arg for the connection and send
 *	again with at most that number of segments
 * @RPCRDMA2_REMEDY_LARGER_WRITE: send again if the upper layer's buffer holds
 *	er_arg2 bytes, else fail
 * @RPCRDMA2_REMEDY_LARGER_REPLY: send again with a Reply chunk of er_arg bytes
 *	if the receive buffer holds them, else fail
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
 * rpcrdma2_remedy - select the reaction to an error that answers an RPC
 * @vers: version of the connection (an ERR_VERS may carry another, S36)
 * @er: the error
 * @resent: the RPC was already sent again once because of an error
 *
 * Unknown codes end the RPC (S43). An RPC is rebuilt at most once (S45).
 */
enum rpcrdma2_remedy rpcrdma2_remedy(u32 vers, const struct rpcrdma2_error *er,
				     bool resent);

/**
 * rpcrdma2_lacks_message - check whether the peer does not know a message
 * @er: error that answers a property message or RDMA2_OPTIONAL
 *
 * Return: true if messages of that type must not be sent again on this
 * connection (C-026); false if only this message was refused.
 */
bool rpcrdma2_lacks_message(const struct rpcrdma2_error *er);

#endif /* _RPCRDMA2_ERROR_H */
