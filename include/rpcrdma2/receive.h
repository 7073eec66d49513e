/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which Receive completions deliver a message.
 */
#ifndef _RPCRDMA2_RECEIVE_H
#define _RPCRDMA2_RECEIVE_H

#include <rdma/ib_verbs.h>

/**
 * rpcrdma2_received_message - did a Send of the peer fill this Receive?
 * @wc: Receive completion
 * @posted: octets of the buffers that were posted for it
 *
 * A peer may consume a Receive with an RDMA Write with Immediate as well, for
 * which no version of the protocol has a use. The length in such a completion
 * is that of the RDMA Write, and the buffers hold what an earlier message left
 * in them.
 *
 * Return: true when the first byte_len octets of the buffers are a message.
 * Else not one octet of them may be looked at, and the connection has to go:
 * the peer breaks the protocol, or the device does.
 */
static inline bool rpcrdma2_received_message(const struct ib_wc *wc,
					     unsigned int posted)
{
	return wc->opcode == IB_WC_RECV && wc->byte_len <= posted;
}

#endif /* _RPCRDMA2_RECEIVE_H */
