/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A received message, decoded in the same way at both ends.
 */
#ifndef _RPCRDMA2_MESSAGE_H
#define _RPCRDMA2_MESSAGE_H

#include <rpcrdma2/exchange.h>
#include <rpcrdma2/wire.h>

/**
 * struct rpcrdma2_msg - a received message
 * @mg_hdr: its header; the verdict determines which fields are valid, see
 *	rpcrdma2_decode_hdr()
 * @mg_verdict: verdict on the header, then on the body of a property message or
 *	an option
 * @mg_bad_body: @mg_verdict is about that body; the header is well-formed
 * @mg_prop: the property message, if @mg_verdict is RDMA2_OK and
 *	rpcrdma2_msg_is_control()
 * @mg_paylen: bytes that follow the header if @mg_verdict is RDMA2_OK,
 *	otherwise 0
 * @mg_handle: handle that the arrival of the message invalidated, or 0 (S47)
 */
struct rpcrdma2_msg {
	struct rpcrdma2_hdr	mg_hdr;
	enum rpcrdma2_errcode	mg_verdict;
	bool			mg_bad_body;
	struct rpcrdma2_propmsg	mg_prop;
	u32			mg_paylen;
	u32			mg_handle;
};

/**
 * rpcrdma2_msg_is_control - check whether it is a property message or an option
 * @msg: message whose verdict is not RDMA2_DROP
 */
static inline bool rpcrdma2_msg_is_control(const struct rpcrdma2_msg *msg)
{
	return msg->mg_hdr.h_proc >= RDMA2_OPTIONAL;
}

/**
 * rpcrdma2_msg_is_error - check whether a message is a well-formed RDMA2_ERROR
 * @msg: message
 */
static inline bool rpcrdma2_msg_is_error(const struct rpcrdma2_msg *msg)
{
	return msg->mg_verdict == RDMA2_OK &&
	       msg->mg_hdr.h_proc == RDMA2_ERROR;
}

/**
 * rpcrdma2_msg_read - decode and check a message
 * @msg: message to fill
 * @base: start of the message
 * @room: contiguous bytes at @base, which must include header, property message
 *	and the first words of the payload
 * @len: length of the message
 * @handle: handle that the arrival of the message invalidated, or 0
 * @ex: properties of the connection, for a property message
 *
 * A property message is decoded to its end (S11). A message whose verdict is
 * not RDMA2_OK must not be used; see rpcrdma2_decode_hdr() for the reaction to
 * it.
 */
void rpcrdma2_msg_read(struct rpcrdma2_msg *msg, void *base, u32 room,
		       u32 len, u32 handle, const struct rpcrdma2_exchange *ex);

#endif /* _RPCRDMA2_MESSAGE_H */
