/* SPDX-License-Identifier: GPL-2.0 */
/* Check of Receive completions */
#ifndef _RPCRDMA2_RECEIVE_H
#define _RPCRDMA2_RECEIVE_H

#include <rdma/ib_verbs.h>

/*
 * Whether a Send filled a Receive of @posted bytes. A peer may also consume a
 * Receive with an RDMA Write with Immediate, which no version of the protocol
 * uses; its completion has the length of the RDMA Write, and the buffers hold
 * an earlier message. If false, no byte of them may be read, and the connection
 * has to be closed.
 */
static inline bool rpcrdma2_received_message(const struct ib_wc *wc,
					     unsigned int posted)
{
	return wc->opcode == IB_WC_RECV && wc->byte_len <= posted;
}

#endif /* _RPCRDMA2_RECEIVE_H */
