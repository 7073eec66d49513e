/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One message received, as both ends look at it.
 */
#ifndef _RPCRDMA2_MESSAGE_H
#define _RPCRDMA2_MESSAGE_H

#include <rpcrdma2/exchange.h>
#include <rpcrdma2/header.h>

/**
 * struct rpcrdma2_msg - a message received
 * @mg_hdr: its header; how much of it is valid depends on the verdict, see
 *	rpcrdma2_decode_hdr()
 * @mg_verdict: of the header, and then of the body of a property message or an
 *	option
 * @mg_bad_body: @mg_verdict is about that body; the header is well-formed
 * @mg_prop: a property message, when @mg_verdict is RDMA2_OK and
 *	rpcrdma2_msg_is_control()
 * @mg_paylen: octets that follow the header, when @mg_verdict is RDMA2_OK, otherwise 0
 * @mg_handle: handle that its arrival invalidated, or 0 (S47)
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
 * rpcrdma2_msg_is_control - is it a property message or an option?
 * @msg: message whose verdict is not RDMA2_DROP
 */
static inline bool rpcrdma2_msg_is_control(const struct rpcrdma2_msg *msg)
{
	return msg->mg_hdr.h_proc >= RDMA2_OPTIONAL;
}

/**
 * rpcrdma2_msg_is_error - is it a well-formed RDMA2_ERROR?
 * @msg: message
 */
static inline bool rpcrdma2_msg_is_error(const struct rpcrdma2_msg *msg)
{
	return msg->mg_verdict == RDMA2_OK &&
	       msg->mg_hdr.h_proc == RDMA2_ERROR;
}

/**
 * rpcrdma2_msg_read - read a message, and judge what the transport reads of it
 * @msg: to be filled
 * @base: where it begins
 * @room: octets that lie in one piece from there on. Header, property message and
 *	the first words of the payload have to be among them
 * @len: octets of the message
 * @handle: handle that its arrival invalidated, or 0
 * @ex: properties of the connection: what a property message is about
 *
 * A property message is read to its end (S11). Nothing of a message counts
 * whose verdict is not RDMA2_OK; what it asks for, see rpcrdma2_decode_hdr().
 */
void rpcrdma2_msg_read(struct rpcrdma2_msg *msg, void *base, u32 room,
		       u32 len, u32 handle, const struct rpcrdma2_exchange *ex);

#endif /* _RPCRDMA2_MESSAGE_H */
