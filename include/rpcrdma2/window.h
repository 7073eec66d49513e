/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The congestion window of the RPC layer, which is the grant of the peer.
 */
#ifndef _RPCRDMA2_WINDOW_H
#define _RPCRDMA2_WINDOW_H

#include <linux/sunrpc/xprt.h>

/**
 * rpcrdma2_window_raised - wake Calls that wait for credits
 * @xprt: transport whose cwnd has been raised
 *
 * The RPC layer itself wakes them only when a Call ends.
 *
 * Context: any that may take the transport_lock.
 */
static inline void rpcrdma2_window_raised(struct rpc_xprt *xprt)
{
	clear_bit(XPRT_CWND_WAIT, &xprt->state);
	xprt_wait_for_buffer_space(xprt);
	xprt_write_space(xprt);
}

#endif /* _RPCRDMA2_WINDOW_H */
