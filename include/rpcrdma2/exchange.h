/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exchange of property messages on one connection: what each end has
 * announced, and what a message is answered with. Draft section 5.
 *
 * The ends are alike but for one thing: a requester announces its properties
 * when it sees fit, a responder answers the requester's announcement with its
 * own. Then either may ask the other to change something (REQPROP), and says what
 * has changed (UPDPROP). Each end sends by its own means:
 *
 *	rpcrdma2_exchange_next()	what there is to be said, if its time has come;
 *					from here on it bounds messages
 *	rpcrdma2_exchange_sent()	it is posted
 *	rpcrdma2_exchange_unsent()	it could not be; it is said the next time
 *	rpcrdma2_exchange_arrived()	its Send is done, where the owner looks at that
 *
 * Of such messages one at a time waits for an answer; an UPDPROP, which has none, waits
 * for a message that comes a second later, of whatever kind (2.3). Nothing is locked:
 * property messages of a connection are dealt with one at a time, in the order in
 * which they came (S16), and so is what this end says.
 */
#ifndef _RPCRDMA2_EXCHANGE_H
#define _RPCRDMA2_EXCHANGE_H

#include <linux/jiffies.h>

#include <rpcrdma2/header.h>
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
 * @ex_wished: rows of @ex_wish that the peer is to be asked for
 * @ex_wish: what is wished of it
 * @ex_want: what the last REQPROP asked for
 * @ex_sent: the message of this end that was sent last, answers left out: enum
 *	rpcrdma2_opttype, or 0
 * @ex_open: nothing has come since, or not what it waits for
 * @ex_late: it is a REQPROP whose answer takes long
 * @ex_xid: its xid
 * @ex_away: its Send is not known to be done; its owner's to set
 * @ex_since: when it was sent, or its Send was done, in jiffies
 * @ex_lacks: messages that the peer does not know, a bit for each opttype (C-026)
 * @ex_recv_wish: Receives of so many octets the peer has asked for last; 0 when it
 *	has not, or when this end has looked at it and set it to 0
 * @ex_recv_last: the last such wish, or 0
 * @ex_cuts: such a wish has been for less than before
 * @ex_cut: when the last one was, in jiffies
 * @ex_asks: this end has sent a REQPROP
 * @ex_asked: when the last one was still to be answered, in jiffies
 */
struct rpcrdma2_exchange {
	struct rpcrdma2_peer_props	ex_peer;
	struct rpcrdma2_props		ex_told;
	struct rpcrdma2_props		ex_able;
	bool				ex_responder;
	bool				ex_said;
	u32				ex_wished;
	struct rpcrdma2_props		ex_wish;
	struct rpcrdma2_propset		ex_want;
	u32				ex_sent;
	bool				ex_open;
	bool				ex_late;
	bool				ex_away;
	u32				ex_xid;
	unsigned long			ex_since;
	u32				ex_lacks;
	u32				ex_recv_wish;
	u32				ex_recv_last;
	bool				ex_cuts;
	unsigned long			ex_cut;
	bool				ex_asks;
	unsigned long			ex_asked;
};

/* S16: a REQPROP that is not answered for so long is counted */
#define RPCRDMA2_ANSWER_TIMEOUT	(30 * HZ)

/* S53: from one wish for smaller Receives to the next, and as long as it is waited */
#define RPCRDMA2_CUT_REST	HZ
#define RPCRDMA2_ASK_REST	(HZ + HZ / 4)

/* 2.3: an UPDPROP has been seen when a message comes so long after it */
#define RPCRDMA2_UPDPROP_REST	HZ

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
 * caller sends it once (S15). When a requester has, rpcrdma2_exchange_sent() follows.
 */
void rpcrdma2_exchange_announce(struct rpcrdma2_exchange *ex,
				struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_resize - messages of other sizes than before
 * @ex: properties
 * @recv: octets that every Receive of this end holds (C-028)
 * @send: octets of the largest Send it makes
 *
 * Where @send has changed the peer is asked for Receives of that size, if it ever
 * changes them. A smaller one is in force once it is announced (S14).
 */
void rpcrdma2_exchange_resize(struct rpcrdma2_exchange *ex, u32 recv, u32 send);

/**
 * rpcrdma2_exchange_next - make the message that is to be sent now
 * @ex: properties
 * @now: jiffies
 * @pm: to be filled
 *
 * A REQPROP: after the peer's CONNPROP, for what that allows to be asked (C-047,
 * S16). An UPDPROP: what has changed since the peer was told (C-027, C-032, C-059).
 * Neither while another message waits (2.3), nor one that the peer does not know
 * (C-026), nor a wish for less right behind another (S53), nor a wish before the peer
 * knows that Sends are smaller (S14). From here on a smaller RBSIZ that is asked for bounds
 * Sends (C-034).
 *
 * Return: whether there is one. Then rpcrdma2_exchange_sent() or
 * rpcrdma2_exchange_unsent() follows, before any other call.
 */
bool rpcrdma2_exchange_next(struct rpcrdma2_exchange *ex, unsigned long now,
			    struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_busy - is there something to be said, or waited for?
 * @ex: properties
 */
bool rpcrdma2_exchange_busy(const struct rpcrdma2_exchange *ex);

/**
 * rpcrdma2_exchange_sent - a message of this end is posted; send_max may be lower now
 * @ex: properties
 * @pm: message
 * @xid: its xid: that of no RPC that this end waits for (S18)
 * @now: jiffies
 */
void rpcrdma2_exchange_sent(struct rpcrdma2_exchange *ex,
			    const struct rpcrdma2_propmsg *pm, u32 xid,
			    unsigned long now);

/**
 * rpcrdma2_exchange_unsent - a REQPROP or an UPDPROP of this end could not be posted
 * @ex: properties, as if it had not been made
 */
void rpcrdma2_exchange_unsent(struct rpcrdma2_exchange *ex);

/**
 * rpcrdma2_exchange_arrived - the Send of a message of this end is done
 * @ex: properties
 * @at: when, in jiffies
 *
 * For an owner that has set ex_away when the message was posted: what is in front of it
 * on the Send Queue may take seconds. May be called again.
 */
void rpcrdma2_exchange_arrived(struct rpcrdma2_exchange *ex, unsigned long at);

/**
 * rpcrdma2_exchange_heard - a message has come, of whatever kind
 * @ex: properties
 * @now: when, in jiffies; it may be longer ago than what else is known
 *
 * 2.3. A message that comes right behind an UPDPROP may have left before that arrived,
 * and proves nothing. A REQPROP waits for its own answer, however long that takes:
 * what it asks for may be in force at the peer by now (C-034, C-052, S16).
 *
 * Return: whether a REQPROP has waited for too long, once.
 */
bool rpcrdma2_exchange_heard(struct rpcrdma2_exchange *ex, unsigned long now);

/**
 * rpcrdma2_exchange_expect - what is known of a property message not yet read
 * @ex: properties
 * @xid: of the message
 * @pm: pm_want and pm_marked are set, for rpcrdma2_decode_propmsg()
 *
 * S17: a RESPROP with another xid than that of the REQPROP answers nothing.
 */
void rpcrdma2_exchange_expect(const struct rpcrdma2_exchange *ex, u32 xid,
			      struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_spoilt - a RESPROP has come that is malformed
 * @ex: properties
 * @xid: of the message
 *
 * S11: as if all were rejected.
 *
 * Return: whether it answers the REQPROP of this end.
 */
bool rpcrdma2_exchange_spoilt(struct rpcrdma2_exchange *ex, u32 xid);

/**
 * rpcrdma2_exchange_refused - does an error answer the message of this end?
 * @ex: properties
 * @h: RDMA2_ERROR, well-formed
 *
 * S18, 2.4: the message is refused and not repeated; after code 3 or 9 no other of
 * its kind is sent either (C-026). One for a CONNPROP belongs to the negotiation.
 * Code 1 belongs there too, and ends the wait all the same.
 *
 * Return: whether it does; then it is no RPC's.
 */
bool rpcrdma2_exchange_refused(struct rpcrdma2_exchange *ex,
			       const struct rpcrdma2_hdr *h);

/**
 * rpcrdma2_exchange_take - take over the properties of the sender of a message
 * @ex: properties
 * @pm: property message that was good throughout (S11)
 * @effects: what has to be looked at again: enum rpcrdma2_prop_effect, a set
 *
 * A second CONNPROP is an update (S15). A REQPROP has no properties of its sender,
 * nor has a RESPROP that answers nothing (S17).
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
 * @now: jiffies
 * @answer: to be filled; refers to @pm until it is encoded
 *
 * A responder answers the first CONNPROP with its own (C-023, S29), both ends a
 * REQPROP with a RESPROP (C-049, S16), and nothing else. Receives get smaller once a
 * second at most (S53).
 *
 * Return: whether there is an answer.
 */
bool rpcrdma2_exchange_answer(struct rpcrdma2_exchange *ex,
			      const struct rpcrdma2_propmsg *pm,
			      unsigned long now,
			      struct rpcrdma2_propmsg *answer);

/**
 * rpcrdma2_exchange_send_max - largest Send toward the peer (C-034, S13, S33)
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
