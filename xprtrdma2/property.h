/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When to say something of the client's properties: the decision, without the doing.
 *
 * A server that is asked for its version gets a CONNPROP first and alone
 * (S29). One that is known gets an RPC first, so that no RPC waits; and since
 * nothing may be sent behind that before it is answered (C-097), the CONNPROP comes
 * after the first Reply.
 *
 *   NONE	a CONNPROP went first, or the server has no use for one
 *   DUE	there is one to be sent
 *   OUT	it is sent; until the next message comes, of whatever kind
 */
#ifndef _XPRTRDMA2_PROPERTY_H
#define _XPRTRDMA2_PROPERTY_H

#include <rpcrdma2/exchange.h>

#include "negotiate.h"

enum xprt2_intro {
	XPRT2_INTRO_NONE,
	XPRT2_INTRO_DUE,
	XPRT2_INTRO_OUT,
};

/**
 * xprt2_first_intro - how a connection begins
 * @phase: what xprt2_first_phase() says
 * @props: the server has answered a CONNPROP before
 */
static inline enum xprt2_intro xprt2_first_intro(enum xprt2_phase phase,
						 bool props)
{
	return phase == XPRT2_TRIAL && props ? XPRT2_INTRO_DUE :
					       XPRT2_INTRO_NONE;
}

/**
 * xprt2_may_introduce - is this the time for a CONNPROP?
 * @intro: state of the announcement
 * @phase: of the negotiation
 * @grant: RPCs that the server allows, 0 before its first word (C-097)
 *
 * With a single credit it would take the place of all Calls.
 */
static inline bool xprt2_may_introduce(enum xprt2_intro intro,
				       enum xprt2_phase phase, u32 grant)
{
	return intro == XPRT2_INTRO_DUE && phase == XPRT2_SETTLED && grant > 1;
}

/**
 * xprt2_takes_place - does a message take the place of a Call?
 * @intro: state of the announcement
 * @busy: rpcrdma2_exchange_busy()
 * @ex: properties
 *
 * 2.3: one that may get no answer does, from before it is sent until the server is
 * heard of; but what a server with the mark is told when both have announced
 * themselves has Receives of its own there.
 */
static inline bool xprt2_takes_place(enum xprt2_intro intro, bool busy,
				     const struct rpcrdma2_exchange *ex)
{
	return intro != XPRT2_INTRO_NONE ||
	       (busy && !rpcrdma2_props_marked(&ex->ex_peer.pp_now));
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
