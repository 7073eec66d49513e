/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a message about the client's properties costs its Calls: the decision, without
 * the doing.
 */
#ifndef _XPRTRDMA2_PROPERTY_H
#define _XPRTRDMA2_PROPERTY_H

#include <rpcrdma2/exchange.h>

/**
 * xprt2_takes_place - does a message take the place of a Call?
 * @busy: rpcrdma2_exchange_busy()
 * @ex: properties
 *
 * 2.3: one that may get no answer does, from before it is sent until a message of the
 * server shows that it has arrived; but a server with the mark, when both have
 * announced themselves, has Receives of its own for such messages.
 */
static inline bool xprt2_takes_place(bool busy,
				     const struct rpcrdma2_exchange *ex)
{
	return busy && !rpcrdma2_props_marked(&ex->ex_peer.pp_now);
}

/**
 * xprt2_calls_beside - RPCs that may be outstanding meanwhile
 * @beside: xprt2_takes_place()
 * @calls: what grant and Receives allow, at least 1
 */
static inline u32 xprt2_calls_beside(bool beside, u32 calls)
{
	return beside && calls > 1 ? calls - 1 : calls;
}

#endif /* _XPRTRDMA2_PROPERTY_H */
