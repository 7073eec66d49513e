/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RPC layer's congestion window, which is what the peer has granted.
 */
#ifndef _RPCRDMA2_WINDOW_H
#define _RPCRDMA2_WINDOW_H

#include <linux/sunrpc/xprt.h>

/**
 * rpcrdma2_window_raised - wake Calls that wait for credits: there are more now
 * @xprt: transport whose cwnd is larger than it was
 *
 * The RPC layer does so only when a Call ends.
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
