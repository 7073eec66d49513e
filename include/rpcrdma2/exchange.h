/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exchange of property messages on one connection: what each end has
 * announced, and what a message is answered with. Draft section 5.
 *
 * The ends are alike but for one thing: a requester announces its properties
 * when it sees fit, a responder answers the requester's announcement with its
 * own. Each end sends by its own means, and looks up in @ex_peer what bounds
 * its Sends. Nothing is locked: property messages of a connection are dealt
 * with one at a time, in the order in which they came (S16).
 */
#ifndef _RPCRDMA2_EXCHANGE_H
#define _RPCRDMA2_EXCHANGE_H

#include <rpcrdma2/plan.h>
#include <rpcrdma2/props.h>
#include <rpcrdma2/propset.h>

/**
 * struct rpcrdma2_exchange - properties of both ends of a connection
 * @ex_peer: the peer's
 * @ex_told: this end's, as they were announced
 * @ex_able: the best this end can do
 * @ex_responder: it answers the peer's announcement with its own
 * @ex_said: its own is sent
 */
struct rpcrdma2_exchange {
	struct rpcrdma2_peer_props	ex_peer;
	struct rpcrdma2_props		ex_told;
	struct rpcrdma2_props		ex_able;
	bool				ex_responder;
	bool				ex_said;
};

/**
 * rpcrdma2_exchange_init - nothing has been announced (C-005, C-024, S19)
 * @ex: of a new connection
 * @responder: this end answers a CONNPROP with its own
 *
 * The caller sets ex_able, but for pr_mark, before a message can come.
 */
void rpcrdma2_exchange_init(struct rpcrdma2_exchange *ex, bool responder);

/**
 * rpcrdma2_exchange_announce - make this end's CONNPROP
 * @ex: properties
 * @pm: to be filled
 *
 * C-043: everything; and for good, what the table says never changes (C-045). The
 * caller sends it once (S15).
 */
void rpcrdma2_exchange_announce(struct rpcrdma2_exchange *ex,
				struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_expect - what is known of a property message not yet read
 * @ex: properties
 * @pm: pm_want and pm_marked are set, for rpcrdma2_decode_propmsg()
 */
void rpcrdma2_exchange_expect(const struct rpcrdma2_exchange *ex,
			      struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_take - take over the properties of the sender of a message
 * @ex: properties
 * @pm: property message that was good throughout (S11)
 * @effects: what has to be looked at again: enum rpcrdma2_prop_effect, a set
 *
 * A second CONNPROP is an update (S15). A REQPROP has no properties
 * of its sender; nor has a RESPROP as long as this end sends no REQPROP (S17).
 *
 * Return: rows that changed though the peer had announced that they would not;
 * to be counted, no more (S15).
 */
u32 rpcrdma2_exchange_take(struct rpcrdma2_exchange *ex,
			   const struct rpcrdma2_propmsg *pm, u32 *effects);

/**
 * rpcrdma2_exchange_answer - decide what answers a property message
 * @ex: properties; those in the answer count as announced
 * @pm: property message that was good throughout, taken before
 * @answer: to be filled; refers to @pm until it is encoded
 *
 * A responder answers the first CONNPROP with its own (C-023, S29), both ends a
 * REQPROP with a RESPROP (C-049, S16), and nothing else.
 *
 * Return: whether there is an answer.
 */
bool rpcrdma2_exchange_answer(struct rpcrdma2_exchange *ex,
			      const struct rpcrdma2_propmsg *pm,
			      struct rpcrdma2_propmsg *answer);

/**
 * rpcrdma2_exchange_send_max - largest Send toward the peer (S13, S33)
 * @ex: properties
 */
u32 rpcrdma2_exchange_send_max(const struct rpcrdma2_exchange *ex);

/**
 * rpcrdma2_exchange_reply_max - largest Reply to expect inline (S14)
 * @ex: properties
 */
u32 rpcrdma2_exchange_reply_max(const struct rpcrdma2_exchange *ex);

/**
 * rpcrdma2_exchange_bound - keep Calls within what the peer takes
 * @ex: properties
 * @cl: limits known so far; lowered to those of the peer (2.6, C-083 to C-085)
 */
void rpcrdma2_exchange_bound(const struct rpcrdma2_exchange *ex,
			     struct rpcrdma2_call_limits *cl);

/**
 * rpcrdma2_exchange_reply_refused - REPLY_RESOURCE has come for a Reply without chunk
 * @ex: properties
 * @needed: octets of the Reply, as the peer says
 *
 * S14: one that would have been expected inline takes the guess back, for as long
 * as the connection lasts. Another one says nothing about the peer.
 */
void rpcrdma2_exchange_reply_refused(struct rpcrdma2_exchange *ex, u32 needed);

#endif /* _RPCRDMA2_EXCHANGE_H */
