/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exchange of property messages on one connection: the properties that each
 * end has announced, and the answers to messages. Draft section 5.
 *
 * Both ends work alike, with one exception: a requester announces its
 * properties on its own initiative, a responder answers the requester's
 * announcement with its own. Then either end may request changes from the peer
 * (REQPROP), and announces its own changes (UPDPROP). Both ends send by their
 * own means:
 *
 *	rpcrdma2_exchange_next()	make the message that is due, if any;
 *					from here on it limits Sends
 *	rpcrdma2_exchange_sent()	the message is posted
 *	rpcrdma2_exchange_unsent()	it could not be posted, and is due again
 *	rpcrdma2_exchange_arrived()	its Send is done, for owners that track
 *					it
 *
 * At most one of these messages waits for an answer at a time; an UPDPROP,
 * which has no answer, waits for a message of any kind that arrives a second
 * later (2.3). There is no lock: property messages of a connection are handled
 * one at a time in the order of their arrival (S16), so the messages of this
 * end are in order, too.
 */
#ifndef _RPCRDMA2_EXCHANGE_H
#define _RPCRDMA2_EXCHANGE_H

#include <linux/jiffies.h>

#include <rpcrdma2/plan.h>
#include <rpcrdma2/props.h>
#include <rpcrdma2/propset.h>
#include <rpcrdma2/wire.h>

/**
 * struct rpcrdma2_exchange - properties of both ends of a connection
 * @ex_peer: properties of the peer
 * @ex_told: properties of this end, as announced
 * @ex_able: best values that this end supports
 * @ex_responder: this end answers the peer's announcement with its own
 * @ex_said: this end has sent its announcement
 * @ex_wished: rows of @ex_wish to request from the peer
 * @ex_wish: values to request from the peer
 * @ex_want: values that the last REQPROP requested
 * @ex_sent: type of the last message of this end other than an answer: enum
 *	rpcrdma2_opttype, or 0
 * @ex_open: the message of @ex_sent still waits
 * @ex_late: the message of @ex_sent is a REQPROP whose answer is late
 * @ex_xid: xid of the message of @ex_sent
 * @ex_away: the Send of that message may not be done yet; set by the owner
 * @ex_since: when that message was sent, or its Send was done, in jiffies
 * @ex_lacks: messages that the peer does not know, a bit for each opttype
 *	(C-026)
 * @ex_recv_wish: size of Receives that the peer requested last, in bytes; 0 if
 *	it has not, or after this end has handled the request
 * @ex_recv_last: the last such request, or 0
 * @ex_cuts: the peer has requested a smaller size than before
 * @ex_cut: when its last such request counted, in jiffies
 * @ex_asks: this end has sent a REQPROP
 * @ex_asked: when the last REQPROP was last known to wait for its answer, in
 *	jiffies
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

/* A REQPROP that waits for its answer for this time is counted (S16). */
#define RPCRDMA2_ANSWER_TIMEOUT	(30 * HZ)

/*
 * Pause between two requests for smaller Receives (S53): the least that a
 * receiver accepts, and the pause that a sender keeps
 */
#define RPCRDMA2_CUT_REST	HZ
#define RPCRDMA2_ASK_REST	(HZ + HZ / 4)

/*
 * The peer has seen an UPDPROP when a message arrives this time after it (2.3).
 */
#define RPCRDMA2_UPDPROP_REST	HZ

/**
 * rpcrdma2_exchange_init - initialise: nothing is announced (C-005, C-024, S19)
 * @ex: properties of a new connection
 * @responder: this end answers a CONNPROP with its own
 *
 * The caller sets ex_able, except for pr_mark, before a message can arrive.
 */
void rpcrdma2_exchange_init(struct rpcrdma2_exchange *ex, bool responder);

/**
 * rpcrdma2_exchange_announce - make this end's CONNPROP
 * @ex: properties
 * @pm: message to fill
 *
 * The message announces all properties (C-043), and marks those that never
 * change according to the table (C-045). The caller sends it once (S15). On a
 * requester rpcrdma2_exchange_sent() follows.
 */
void rpcrdma2_exchange_announce(struct rpcrdma2_exchange *ex,
				struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_resize - change the message sizes of this end
 * @ex: properties
 * @recv: bytes that every Receive of this end holds (C-028)
 * @send: largest Send of this end, in bytes
 *
 * If @send has changed, Receives of that size are requested from the peer,
 * provided that the peer ever changes them. A smaller @send is in force once it
 * is announced (S14).
 */
void rpcrdma2_exchange_resize(struct rpcrdma2_exchange *ex, u32 recv, u32 send);

/**
 * rpcrdma2_exchange_next - make the message that is due now
 * @ex: properties
 * @now: jiffies
 * @pm: message to fill
 *
 * A REQPROP follows the peer's CONNPROP, which determines the properties that
 * may be requested (C-047, S16). An UPDPROP announces changes since the last
 * announcement (C-027, C-032, C-059). No message is made while another message
 * waits (2.3) or if the peer does not know its type (C-026), no request for a
 * smaller size soon after another request (S53), and no request before the peer
 * knows of smaller Sends (S14). From here on a smaller RBSIZ that is requested
 * limits Sends (C-034).
 *
 * Return: true if there is a message. Then rpcrdma2_exchange_sent() or
 * rpcrdma2_exchange_unsent() must follow, before any other call.
 */
bool rpcrdma2_exchange_next(struct rpcrdma2_exchange *ex, unsigned long now,
			    struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_busy - check whether a message is due or waits
 * @ex: properties
 */
bool rpcrdma2_exchange_busy(const struct rpcrdma2_exchange *ex);

/**
 * rpcrdma2_exchange_sent - record that a message is posted
 * @ex: properties
 * @pm: message
 * @xid: xid of the message, which no RPC that this end waits for has (S18)
 * @now: jiffies
 */
void rpcrdma2_exchange_sent(struct rpcrdma2_exchange *ex,
			    const struct rpcrdma2_propmsg *pm, u32 xid,
			    unsigned long now);

/**
 * rpcrdma2_exchange_unsent - record that a message could not be posted
 * @ex: properties, restored as if the REQPROP or UPDPROP had not been made
 */
void rpcrdma2_exchange_unsent(struct rpcrdma2_exchange *ex);

/**
 * rpcrdma2_exchange_arrived - record that the Send of a message is done
 * @ex: properties
 * @at: when, in jiffies
 *
 * For an owner that set ex_away when it posted the message: earlier entries of
 * the Send Queue may take seconds. May be called again.
 */
void rpcrdma2_exchange_arrived(struct rpcrdma2_exchange *ex, unsigned long at);

/**
 * rpcrdma2_exchange_heard - record that a message of any kind has arrived
 * @ex: properties
 * @now: time of its arrival, in jiffies; other events may have been recorded
 *	since
 *
 * A message that arrives soon after an UPDPROP may have been sent before the
 * UPDPROP arrived, and proves nothing (2.3). A REQPROP waits for its own
 * answer, without a limit: the values that it requests may already be in force
 * at the peer (C-034, C-052, S16).
 *
 * Return: true, once, if a REQPROP has waited too long.
 */
bool rpcrdma2_exchange_heard(struct rpcrdma2_exchange *ex, unsigned long now);

/**
 * rpcrdma2_exchange_expect - provide the state to decode a property message
 * @ex: properties
 * @xid: xid of the message
 * @pm: pm_want and pm_marked are set, for rpcrdma2_decode_propmsg()
 *
 * A RESPROP with a different xid than the REQPROP answers nothing (S17).
 */
void rpcrdma2_exchange_expect(const struct rpcrdma2_exchange *ex, u32 xid,
			      struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_spoilt - handle a malformed RESPROP
 * @ex: properties
 * @xid: xid of the message
 *
 * The RESPROP counts as a rejection of all requested values (S11).
 *
 * Return: true if it answers the REQPROP of this end.
 */
bool rpcrdma2_exchange_spoilt(struct rpcrdma2_exchange *ex, u32 xid);

/**
 * rpcrdma2_exchange_refused - handle an error that may answer a message
 * @ex: properties
 * @h: RDMA2_ERROR, well-formed
 *
 * The message is refused and not repeated (S18, 2.4); after code 3 or 9 no
 * message of its type is sent again (C-026). An error that answers a CONNPROP
 * belongs to the negotiation. Code 1 belongs there, too, but also ends the
 * wait.
 *
 * Return: true if the error answers such a message, and therefore no RPC.
 */
bool rpcrdma2_exchange_refused(struct rpcrdma2_exchange *ex,
			       const struct rpcrdma2_hdr *h);

/**
 * rpcrdma2_exchange_take - apply the properties of the sender of a message
 * @ex: properties
 * @pm: property message without errors (S11)
 * @effects: state to update: enum rpcrdma2_prop_effect, a set
 *
 * A second CONNPROP is an update (S15). A REQPROP has no properties of its
 * sender, nor has a RESPROP that answers nothing (S17).
 *
 * Return: rows that changed although the peer had announced that they would
 * not; these are only counted (S15).
 */
u32 rpcrdma2_exchange_take(struct rpcrdma2_exchange *ex,
			   const struct rpcrdma2_propmsg *pm, u32 *effects);

/**
 * rpcrdma2_exchange_answer - determine the answer to a property message
 * @ex: properties; values in the answer count as announced
 * @pm: property message without errors, already taken
 * @now: jiffies
 * @answer: message to fill; refers to @pm until it is encoded
 *
 * A responder answers the first CONNPROP with its own (C-023, S29). Both ends
 * answer a REQPROP with a RESPROP (C-049, S16), and nothing else. Receives
 * shrink at most once a second (S53).
 *
 * Return: true if there is an answer.
 */
bool rpcrdma2_exchange_answer(struct rpcrdma2_exchange *ex,
			      const struct rpcrdma2_propmsg *pm,
			      unsigned long now,
			      struct rpcrdma2_propmsg *answer);

/**
 * rpcrdma2_exchange_send_max - largest Send to the peer (C-034, S13, S33)
 * @ex: properties
 */
u32 rpcrdma2_exchange_send_max(const struct rpcrdma2_exchange *ex);

/**
 * rpcrdma2_exchange_reply_max - largest Reply to expect inline (S14)
 * @ex: properties
 */
u32 rpcrdma2_exchange_reply_max(const struct rpcrdma2_exchange *ex);

/**
 * rpcrdma2_exchange_bound - limit Calls to what the peer accepts
 * @ex: properties
 * @cl: limits known so far; lowered to those of the peer (2.6, C-083 to C-085)
 */
void rpcrdma2_exchange_bound(const struct rpcrdma2_exchange *ex,
			     struct rpcrdma2_call_limits *cl);

/**
 * rpcrdma2_exchange_reply_refused - handle REPLY_RESOURCE for an inline Reply
 * @ex: properties
 * @needed: length of the Reply, as reported by the peer; it was offered no
 *	chunk
 *
 * If the Reply was expected inline, the estimate of the peer's Sends is
 * withdrawn until the connection ends (S14). A longer Reply proves nothing
 * about the peer.
 */
void rpcrdma2_exchange_reply_refused(struct rpcrdma2_exchange *ex, u32 needed);

#endif /* _RPCRDMA2_EXCHANGE_H */
