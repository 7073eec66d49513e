/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Properties of a connection: their values, the messages that carry them, the
 * exchange of these, the level of backward operation, and received messages,
 * which the properties bound. Draft section 5. The functions touch no device,
 * and do not sleep unless an operation of struct rpcrdma2_props_ops does.
 */
#ifndef _RPCRDMA2_PROPS_H
#define _RPCRDMA2_PROPS_H

#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/plan.h>
#include <rpcrdma2/wire.h>

/* Words of the longest value */
#define RPCRDMA2_PROP_WORDS	4

/**
 * struct rpcrdma2_props - one value of each property, XDR words in wire order
 * @pr_rbsiz: least size of every Receive, in bytes
 * @pr_brs: enum rpcrdma2_bkreqsup
 * @pr_mark: RPCRDMA2_MARK, or zeros: the extensions that its end supports
 * @pr_limits: limits for one Call to its end: most segments of a chunk, most
 *	bytes of a segment, most Read chunks, most Write chunks
 * @pr_sbsiz: largest Send of its end, in bytes, or 0 if unknown
 */
struct rpcrdma2_props {
	u32	pr_rbsiz;
	u32	pr_brs;
	u32	pr_mark[4];
	u32	pr_limits[4];
	u32	pr_sbsiz;
};

/* Words of pr_limits */
enum {
	RPCRDMA2_LIMIT_SEGS,
	RPCRDMA2_LIMIT_BYTES,
	RPCRDMA2_LIMIT_READS,
	RPCRDMA2_LIMIT_WRITES,
};

/*
 * The table of properties: RDMA2_PROPID_<id>, its field pr_<field>,
 * RPCRDMA2_CHANGE_<change> of props.c, the largest first word that belongs to
 * the type (C-017), and the words of the default (C-024). Properties that
 * depend on the mark come last. Documentation/architecture.rst has the steps to
 * add one.
 */
#define RPCRDMA2_PROPERTIES(_row)					\
	_row(RBSIZ, rbsiz, RAISE, U32_MAX, RPCRDMA2_INLINE_DEFAULT)	\
	_row(BRS, brs, NEVER, RDMA2_BKREQSUP_GENL, RDMA2_BKREQSUP_INLINE) \
	_row(X_MARK, mark, NEVER, U32_MAX, 0)				\
	_row(X_LIMITS, limits, NEVER, U32_MAX, -1, -1, -1, -1)		\
	_row(X_SBSIZ, sbsiz, FREE, U32_MAX, 0)

/* Rows are named RPCRDMA2_PROP_<id>; a set of rows is a word of such bits. */
enum rpcrdma2_prop {
#define RPCRDMA2_PROP_NAME(_id, ...) RPCRDMA2_PROP_##_id,
	RPCRDMA2_PROPERTIES(RPCRDMA2_PROP_NAME)
#undef RPCRDMA2_PROP_NAME
	RPCRDMA2_NPROPS
};

#define RPCRDMA2_PROPS_ALL	GENMASK(RPCRDMA2_NPROPS - 1, 0)
#define RPCRDMA2_PROPS_MARKED	(RPCRDMA2_PROPS_ALL &			\
				 ~(BIT(RPCRDMA2_PROP_X_MARK) - 1))

/**
 * rpcrdma2_props_default - set the values of a peer that has announced none
 * @pr: properties to fill, for each connection anew (C-024, S19)
 */
void rpcrdma2_props_default(struct rpcrdma2_props *pr);

/**
 * rpcrdma2_props_marked - check whether experimental properties count
 * @pr: known properties of their end, which must have sent the same mark: any
 *	extension may use the ids of the experimental range (C-060)
 */
bool rpcrdma2_props_marked(const struct rpcrdma2_props *pr);

/* Known properties of the peer */
struct rpcrdma2_peer_props {
	struct rpcrdma2_props	pp_now;		/* values in force */
	/* rows that a REQPROP may request to change (C-047, S16) */
	u32			pp_changeable;
	bool			pp_announced;	/* a CONNPROP has arrived */
	/* a Reply that was expected inline was refused (S14) */
	bool			pp_short;
};

/*
 * The four property messages on the wire: sets of values, and subsets, which
 * are bitmaps over the elements of a set. Draft sections 5.1.1 and 5.3. The
 * decoded form has a fixed size, whatever the peer sends.
 */

/* rdma_which and the length of rdma_data */
#define RPCRDMA2_PROPVAL_MIN	(2 * XDR_UNIT)

/*
 * Most elements of a REQPROP (S53). The answer has two bitmaps of that number
 * of bits; with header and values it is no longer than any peer accepts.
 */
#define RPCRDMA2_REQPROP_MAX	((RPCRDMA2_INLINE_FIRST - 128) / 2 * 8)

/**
 * struct rpcrdma2_propset - values of some properties
 * @ps_count: elements on the wire, with or without a row in the table
 * @ps_rows: rows of the elements
 * @ps_index: index of the element of each row
 * @ps_val: values of the rows
 * @ps_odd: number of elements that were duplicates, or longer than their type;
 *	these are only counted (S12)
 */
struct rpcrdma2_propset {
	u32			ps_count;
	u32			ps_rows;
	u32			ps_index[RPCRDMA2_NPROPS];
	struct rpcrdma2_props	ps_val;
	u32			ps_odd;
};

/**
 * struct rpcrdma2_propmsg - a property message
 * @pm_xid: message to send: its xid
 * @pm_option: message to send: encoded as an option, as the message that it
 *	answers (S01)
 * @pm_type: enum rpcrdma2_opttype, in either encoding (S01)
 * @pm_set: rdma_start, rdma_want, rdma_other or rdma_now
 * @pm_nochg: CONNPROP: rows of rdma_nochg
 * @pm_done: RESPROP: rows of rdma_done
 * @pm_rejected: received RESPROP: rows of rdma_rejected. In a RESPROP to send,
 *	rows that are neither done nor other are rejected
 * @pm_want: RESPROP: set of the REQPROP that it answers, whose numbering its
 *	bitmaps use. NULL in a received RESPROP that answers nothing
 * @pm_marked: its sender has sent the mark before (2.6)
 */
struct rpcrdma2_propmsg {
	u32				pm_xid;
	bool				pm_option;
	u32				pm_type;
	struct rpcrdma2_propset		pm_set;
	u32				pm_nochg;
	u32				pm_done;
	u32				pm_rejected;
	const struct rpcrdma2_propset	*pm_want;
	bool				pm_marked;
};

/**
 * rpcrdma2_propset_init - initialise a set to send
 * @ps: set to fill
 * @rows: properties of the set, in table order, without duplicates (S12)
 * @val: their values
 */
void rpcrdma2_propset_init(struct rpcrdma2_propset *ps, u32 rows,
			   const struct rpcrdma2_props *val);

/**
 * rpcrdma2_decode_propmsg - decode a property message, in either encoding
 * @pm: message to fill; pm_marked is set, and for a RESPROP pm_want
 * @h: its header, of procs 6 to 9 or RDMA2_OPTIONAL
 * @base: the message @h was decoded from
 *
 * No part of a message may be applied unless all of it is RDMA2_OK. h_direction
 * determines whether the verdict may be answered: a RESPROP is never answered,
 * and a malformed one counts as all rejected (S11).
 *
 * Return: RDMA2_OK, RDMA2_ERR_BAD_XDR, RDMA2_ERR_SYSTEM for a REQPROP with too
 * many elements (S53), or RDMA2_ERR_INVALID_OPTION for an opttype that is no
 * property message; only a Call is answered with that code (C-012, S39).
 */
enum rpcrdma2_errcode
rpcrdma2_decode_propmsg(struct rpcrdma2_propmsg *pm,
			const struct rpcrdma2_hdr *h, const void *base);

/**
 * rpcrdma2_encode_propmsg - encode a whole property message
 * @to: buffer
 * @room: size of the buffer, in bytes
 * @credit: grant or request, not 0
 * @pm: message; rpcrdma2_propset_init() has made its set. A RESPROP has only
 *	rows of its REQPROP, each once (C-055, C-057)
 *
 * Return: length of the message, always whole words; -EMSGSIZE if it does not
 * fit.
 */
int rpcrdma2_encode_propmsg(void *to, size_t room, u32 credit,
			    const struct rpcrdma2_propmsg *pm);

/*
 * The exchange of property messages on one connection.
 *
 * A requester announces its properties on its own initiative, and a responder
 * answers with its own. Then either end may request changes from the peer
 * (REQPROP), and announces its own changes (UPDPROP). An end posts the messages
 * and applies the limits (struct rpcrdma2_props_ops), and calls:
 *
 *	rpcrdma2_exchange_received()	for each message while the exchange is
 *					busy; then, depending on its type:
 *	rpcrdma2_exchange_take()	a property message without errors
 *	rpcrdma2_exchange_answer()	a CONNPROP, REQPROP or UPDPROP
 *	rpcrdma2_exchange_malformed()	a RESPROP with errors
 *	rpcrdma2_exchange_refused()	an RDMA2_ERROR
 *	rpcrdma2_exchange_resize()	after that, and when the sizes of this
 *	rpcrdma2_exchange_send_next()	end may have changed
 *
 * At most one of these messages waits for an answer at a time; an UPDPROP,
 * which has no answer, waits for a message of any kind that arrives a second
 * later (2.3).
 *
 * The exchange has no lock. An end calls these functions one at a time, in the
 * order in which the messages arrived (S16), so the messages of this end are in
 * order, too: the client under ep_prop_mutex, the server under XPT_BUSY. The
 * operations are called from these functions. rpcrdma2_exchange_send_done()
 * alone may run beside them.
 */

struct rpcrdma2_exchange;
struct rpcrdma2_msg;

/* Counters for property messages; the first four as in enum rpcrdma2_opttype */
#define RPCRDMA2_PROPS_COUNTERS(C)					\
	C(connprops)		/* property messages taken */		\
	C(reqprops)							\
	C(resprops)		/* answers to REQPROPs of this end */	\
	C(updprops)							\
	C(reqprops_sent)						\
	C(updprops_sent)						\
	C(properties_in_vain)	/* refused, or without a valid answer */ \
	C(odd_properties)	/* S12: more than once, or too long */	\
	C(frozen_properties)	/* fixed, but changed by the peer (S15) */

enum rpcrdma2_props_counter {
#define RPCRDMA2_PROPS_ENUM(name) RPCRDMA2_C_##name,
	RPCRDMA2_PROPS_COUNTERS(RPCRDMA2_PROPS_ENUM)
#undef RPCRDMA2_PROPS_ENUM
	RPCRDMA2_PROPS_NCOUNTERS
};

/**
 * struct rpcrdma2_props_ops - operations of an end on its property messages
 * @send: encode and post a message. @h is the header of the message that it
 *	answers, and may be overwritten; the operation itself handles an answer
 *	that cannot be sent. Without @h, the operation sets pm_xid, to an xid
 *	that no RPC of this end has (S18), and after an error the message is due
 *	again.
 *	Return: 0, or an error
 * @changed: the results of rpcrdma2_exchange_send_max(),
 *	rpcrdma2_exchange_reply_max() and rpcrdma2_exchange_busy() may have
 *	changed, and apply from now on. Called after each event, and before a
 *	message that lowers them is sent (C-034)
 * @resize: the peer requests Receives of a size in bytes, at least
 *	RPCRDMA2_INLINE_DEFAULT; a smaller size has been granted
 * @count: add to a counter
 * @confirms: rpcrdma2_exchange_send_done() reports the end of each Send
 */
struct rpcrdma2_props_ops {
	int	(*send)(struct rpcrdma2_exchange *ex, struct rpcrdma2_hdr *h,
			struct rpcrdma2_propmsg *pm);
	void	(*changed)(struct rpcrdma2_exchange *ex);
	void	(*resize)(struct rpcrdma2_exchange *ex, u32 bytes);
	void	(*count)(enum rpcrdma2_props_counter which, u32 n);
	bool	confirms;
};

/* An UPDPROP of this end, which the peer may still refuse */
struct rpcrdma2_update {
	bool			up_sent;	/* and not refused */
	u32			up_xid;
	/* rows announced, except those that the peer has requested since */
	u32			up_rows;
	struct rpcrdma2_props	up_before;	/* values announced before it */
};

/**
 * struct rpcrdma2_exchange - properties of both ends of a connection
 * @ex_ops: operations of this end
 * @ex_peer: properties of the peer
 * @ex_announced: properties of this end, as announced
 * @ex_updates: the last two UPDPROPs, the later one first
 * @ex_supported: best values that this end supports
 * @ex_responder: this end answers the peer's announcement with its own
 * @ex_connprop_sent: this end has sent its announcement
 * @ex_marked: it had the mark and the experimental properties
 * @ex_request: size of Receives to request from the peer, in bytes, or 0
 * @ex_requested: values that the last REQPROP requested
 * @ex_sent: type of the message of this end, other than an answer, that still
 *	waits: enum rpcrdma2_opttype, or 0 if none does
 * @ex_late: the message of @ex_sent is a REQPROP whose answer is late
 * @ex_sending: the Send of the last such message may not be done yet
 * @ex_xid: xid of the last such message, even if it no longer waits
 * @ex_sent_at: when that message was sent, or its Send was done, in jiffies
 * @ex_number: number of that message, counting from 1
 * @ex_done: number of the last message whose Send is done; only
 *	rpcrdma2_exchange_send_done() writes this and the next
 * @ex_done_at: when it was done, in jiffies
 * @ex_unsupported: messages that the peer does not support, and UPDPROP if it
 *	has refused one, a bit for each opttype (C-026)
 * @ex_recv_requested: size of Receives that the peer requested last, in bytes,
 *	or 0
 * @ex_lowered: the peer has requested a smaller size than before
 * @ex_lowered_at: when its last such request counted, in jiffies
 * @ex_reqprop_sent: this end has sent a REQPROP
 * @ex_reqprop_at: when the last REQPROP was last known to wait, in jiffies
 */
struct rpcrdma2_exchange {
	const struct rpcrdma2_props_ops	*ex_ops;
	struct rpcrdma2_peer_props	ex_peer;
	struct rpcrdma2_props		ex_announced;
	struct rpcrdma2_update		ex_updates[2];
	struct rpcrdma2_props		ex_supported;
	bool				ex_responder;
	bool				ex_connprop_sent;
	bool				ex_marked;
	u32				ex_request;
	struct rpcrdma2_propset		ex_requested;
	u32				ex_sent;
	bool				ex_late;
	bool				ex_sending;
	u32				ex_xid;
	unsigned long			ex_sent_at;
	u32				ex_number;
	u32				ex_done;
	unsigned long			ex_done_at;
	u32				ex_unsupported;
	u32				ex_recv_requested;
	bool				ex_lowered;
	unsigned long			ex_lowered_at;
	bool				ex_reqprop_sent;
	unsigned long			ex_reqprop_at;
};

/* A REQPROP that waits for its answer for this time is counted (S16). */
#define RPCRDMA2_ANSWER_TIMEOUT	(30 * HZ)

/* Time between requests for smaller Receives (S53): least accepted, and kept */
#define RPCRDMA2_LOWER_INTERVAL		HZ
#define RPCRDMA2_REQUEST_INTERVAL	(HZ + HZ / 4)

/* The peer has received an UPDPROP if a message comes this time later (2.3). */
#define RPCRDMA2_UPDPROP_INTERVAL	HZ

/**
 * rpcrdma2_exchange_init - initialise: nothing is announced (C-005, C-024, S19)
 * @ex: properties of a new connection; the caller sets ex_supported, except for
 *	pr_mark, before a message can arrive
 * @ops: operations of this end
 * @responder: this end answers a CONNPROP with its own
 */
void rpcrdma2_exchange_init(struct rpcrdma2_exchange *ex,
			    const struct rpcrdma2_props_ops *ops,
			    bool responder);

/**
 * rpcrdma2_exchange_announce - make this end's CONNPROP
 * @ex: properties
 * @rows: properties to announce; a responder announces experimental ones only
 *	to a requester that has sent the mark
 * @pm: message to fill, except for pm_xid
 *
 * The message marks the properties that never change (C-045). A requester sends
 * it once (S15).
 */
void rpcrdma2_exchange_announce(struct rpcrdma2_exchange *ex, u32 rows,
				struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_resize - change the message sizes of this end
 * @ex: properties
 * @recv: bytes that every Receive of this end holds (C-028)
 * @send: largest Send of this end, in bytes; if it has changed, Receives of
 *	that size are requested from a peer that ever changes them
 *
 * A smaller @send is in force once it is announced (S14).
 */
void rpcrdma2_exchange_resize(struct rpcrdma2_exchange *ex, u32 recv, u32 send);

/**
 * rpcrdma2_exchange_busy - check whether a message is due or waits
 * @ex: properties
 */
bool rpcrdma2_exchange_busy(const struct rpcrdma2_exchange *ex);

/**
 * rpcrdma2_exchange_send_next - send the message that is due now, if any
 * @ex: properties
 * @now: jiffies
 *
 * A REQPROP follows the peer's CONNPROP, which determines the properties that
 * may be requested (C-047, S16). An UPDPROP announces changes since the last
 * announcement (C-027, C-032, C-059). No message is sent while another waits
 * (2.3) or if the peer does not support its type (C-026), no request for a
 * smaller size soon after another request (S53), and no request before a
 * smaller X_SBSIZ is announced (S14). A smaller RBSIZ that is requested limits
 * Sends even before the request is sent (C-034).
 */
void rpcrdma2_exchange_send_next(struct rpcrdma2_exchange *ex,
				 unsigned long now);

/**
 * rpcrdma2_exchange_send_done - record that the Send of a message is done
 * @ex: properties, whose operations confirm
 * @number: ex_number when the message was sent
 * @at: when the Send was done, in jiffies: entries before it may take seconds
 *
 * Context: any, one call at a time.
 */
void rpcrdma2_exchange_send_done(struct rpcrdma2_exchange *ex, u32 number,
				 unsigned long at);

/**
 * rpcrdma2_exchange_received - record that a message of any kind has arrived
 * @ex: properties
 * @at: time of its arrival, in jiffies; other events may have been recorded
 *	since
 *
 * A message that arrives soon after an UPDPROP may have been sent before the
 * UPDPROP arrived, and proves nothing (2.3). A REQPROP waits for its own
 * answer, without a limit: the values that it requests may already be in force
 * at the peer (C-034, C-052, S16). A REQPROP that waits too long is counted.
 */
void rpcrdma2_exchange_received(struct rpcrdma2_exchange *ex, unsigned long at);

/**
 * rpcrdma2_exchange_expect - provide the state to decode a property message
 * @ex: properties
 * @xid: of the message; a RESPROP must have that of the REQPROP (S17)
 * @pm: gets pm_want and pm_marked, for rpcrdma2_decode_propmsg()
 */
void rpcrdma2_exchange_expect(const struct rpcrdma2_exchange *ex, u32 xid,
			      struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_take - apply the properties of the sender of a message
 * @ex: properties
 * @pm: property message without errors (S11)
 *
 * A second CONNPROP is an update (S15). A REQPROP has no properties of its
 * sender, nor has a RESPROP that answers nothing (S17). A change that the peer
 * had announced as impossible is only counted (S15).
 */
void rpcrdma2_exchange_take(struct rpcrdma2_exchange *ex,
			    const struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_exchange_answer - answer a property message
 * @ex: properties; values in the answer count as announced
 * @msg: property message without errors, already taken; overwritten
 * @now: jiffies
 *
 * A responder answers the first CONNPROP with its own (C-023, S29). Both ends
 * answer a REQPROP with a RESPROP (C-049, S16), and nothing else. Receives
 * shrink at most once a second (S53).
 */
void rpcrdma2_exchange_answer(struct rpcrdma2_exchange *ex,
			      struct rpcrdma2_msg *msg, unsigned long now);

/**
 * rpcrdma2_exchange_malformed - handle a malformed message that is an answer
 * @ex: properties
 * @msg: RESPROP, or an option that is an answer. A malformed RESPROP counts as a
 *	rejection of all requested values (S11)
 *
 * Return: true if it answers the REQPROP of this end.
 */
bool rpcrdma2_exchange_malformed(struct rpcrdma2_exchange *ex,
				 const struct rpcrdma2_msg *msg);

/**
 * rpcrdma2_exchange_refused - handle an error that may answer a message
 * @ex: properties
 * @h: RDMA2_ERROR, well-formed
 *
 * The message is refused and not repeated (S18, 2.4); after code 3 or 9 no
 * message of its type is sent again (C-026). An UPDPROP may be refused when the
 * next message of this end waits. An error that answers a CONNPROP
 * belongs to the negotiation, and so does code 1, which also ends the wait.
 *
 * Return: true if the error answers such a message, and therefore no RPC.
 */
bool rpcrdma2_exchange_refused(struct rpcrdma2_exchange *ex,
			       const struct rpcrdma2_hdr *h);

/**
 * rpcrdma2_exchange_send_max - compute the largest Send to the peer, in bytes
 * @ex: properties; the peer's are defaults before it announces any (C-005,
 *	C-034, S13, S33)
 */
u32 rpcrdma2_exchange_send_max(const struct rpcrdma2_exchange *ex);

/**
 * rpcrdma2_exchange_reply_max - compute the largest Reply without a Reply chunk
 * @ex: properties
 *
 * The limit, in bytes with the header, is X_SBSIZ. Without it, a responder that
 * has announced its Receives is assumed to send messages of that size, until it
 * refuses such a Reply (S14).
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
 * @needed: length of the Reply, as the peer reports it; it was offered no chunk
 *
 * If the Reply was expected inline, the estimate of the peer's Sends is void
 * until the connection ends (S14). A longer Reply proves nothing.
 */
void rpcrdma2_exchange_reply_refused(struct rpcrdma2_exchange *ex, u32 needed);

/**
 * rpcrdma2_backward_own - get the level of backward Calls that this end accepts
 * @ex: properties of the connection
 * @vers: version of the connection
 *
 * Return: the announced level, or the default before an announcement (C-024);
 * in version 1, which cannot announce any, at most INLINE (C-035 to C-037,
 * S25).
 */
static inline u32 rpcrdma2_backward_own(const struct rpcrdma2_exchange *ex,
					u32 vers)
{
	u32 own = min(READ_ONCE(ex->ex_announced.pr_brs), ex->ex_supported.pr_brs);

	return vers == RPCRDMA2_VERS_ONE ?
	       min_t(u32, own, RDMA2_BKREQSUP_INLINE) : own;
}

/**
 * rpcrdma2_backward_level - get the level that both ends accept
 * @ex: properties of the connection
 * @vers: version of the connection
 *
 * Version 1 has no announcement: the level of the peer is a matter of its upper
 * layer (B-13). In version 2 the upper layer must permit backward Calls, too
 * (S20, S21).
 */
static inline u32 rpcrdma2_backward_level(const struct rpcrdma2_exchange *ex,
					  u32 vers)
{
	u32 own = rpcrdma2_backward_own(ex, vers);

	return vers == RPCRDMA2_VERS_ONE ? own :
	       min(own, READ_ONCE(ex->ex_peer.pp_now.pr_brs));
}

/**
 * struct rpcrdma2_msg - a received message
 * @mg_hdr: its header; the verdict determines which fields are valid, see
 *	rpcrdma2_decode_hdr()
 * @mg_verdict: verdict on the header, then on the body of a property message or
 *	an option
 * @mg_bad_body: @mg_verdict is about that body; the header is well-formed
 * @mg_prop: the property message, if @mg_verdict is RDMA2_OK and
 *	rpcrdma2_msg_is_optional()
 * @mg_paylen: bytes after the header if @mg_verdict is RDMA2_OK, otherwise 0
 * @mg_handle: handle that its arrival invalidated, or 0 (S47)
 */
struct rpcrdma2_msg {
	struct rpcrdma2_hdr	mg_hdr;
	enum rpcrdma2_errcode	mg_verdict;
	bool			mg_bad_body;
	struct rpcrdma2_propmsg	mg_prop;
	u32			mg_paylen;
	u32			mg_handle;
};

/* Whether it is a property message or an option; not defined for RDMA2_DROP */
static inline bool rpcrdma2_msg_is_optional(const struct rpcrdma2_msg *msg)
{
	return msg->mg_hdr.h_proc >= RDMA2_OPTIONAL;
}

static inline bool rpcrdma2_msg_is_error(const struct rpcrdma2_msg *msg)
{
	return msg->mg_verdict == RDMA2_OK &&
	       msg->mg_hdr.h_proc == RDMA2_ERROR;
}

/**
 * rpcrdma2_msg_read - decode and check a message
 * @msg: message to fill
 * @base: start of the message
 * @room: contiguous bytes at @base, which must include header, property message
 *	and the first words of the payload; with Read chunks, the RPC header
 * @len: length of the message
 * @handle: handle that the arrival of the message invalidated, or 0
 * @ex: properties of the connection, for a property message
 *
 * A property message is decoded to its end (S11). A message whose verdict is
 * not RDMA2_OK must not be used; see rpcrdma2_decode_hdr() for the reaction.
 */
void rpcrdma2_msg_read(struct rpcrdma2_msg *msg, void *base, u32 room,
		       u32 len, u32 handle, const struct rpcrdma2_exchange *ex);

#endif /* _RPCRDMA2_PROPS_H */
