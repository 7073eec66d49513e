/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credit accounting of property messages: whether a message of the client
 * occupies the credit of a Call.
 */
#ifndef _XPRTRDMA2_PROPERTY_H
#define _XPRTRDMA2_PROPERTY_H

#include <rpcrdma2/exchange.h>

/**
 * xprt2_takes_place - check whether a message occupies a Call's credit
 * @busy: rpcrdma2_exchange_busy()
 * @ex: properties
 *
 * A message that may get no answer occupies a Call's credit (2.3), from before
 * it is sent until a message from the server shows that it has arrived. The
 * exception is a server that has advertised the vendor property: once both ends
 * have announced themselves, it has separate Receives for such messages.
 */
static inline bool xprt2_takes_place(bool busy,
				     const struct rpcrdma2_exchange *ex)
{
	return busy && !rpcrdma2_props_marked(&ex->ex_peer.pp_now);
}

/**
 * xprt2_calls_beside - RPCs that may be outstanding at the same time
 * @beside: xprt2_takes_place()
 * @calls: limit from grant and Receives, at least 1
 */
static inline u32 xprt2_calls_beside(bool beside, u32 calls)
{
	return beside && calls > 1 ? calls - 1 : calls;
}

#endif /* _XPRTRDMA2_PROPERTY_H */
