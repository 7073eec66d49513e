/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Check of Receive completions
 */
#ifndef _RPCRDMA2_RECEIVE_H
#define _RPCRDMA2_RECEIVE_H

#include <rdma/ib_verbs.h>

/**
 * rpcrdma2_received_message - check whether a Send filled this Receive
 * @wc: Receive completion
 * @posted: size of the buffers posted for it
 *
 * A peer may also consume a Receive with an RDMA Write with Immediate, which no
 * version of the protocol uses. The length in such a completion is that of the
 * RDMA Write, and the buffers still hold an earlier message.
 *
 * Return: true if the first byte_len bytes of the buffers are a message.
 * Otherwise no byte of them may be read, and the connection has to be closed:
 * the peer or the device violates the protocol.
 */
static inline bool rpcrdma2_received_message(const struct ib_wc *wc,
					     unsigned int posted)
{
	return wc->opcode == IB_WC_RECV && wc->byte_len <= posted;
}

#endif /* _RPCRDMA2_RECEIVE_H */
