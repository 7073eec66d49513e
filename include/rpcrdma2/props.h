/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Properties of a connection: their values, and the effect of the
 * announcements, requests and grants of a peer. Draft section 5. See propset.h
 * for their encoding.
 */
#ifndef _RPCRDMA2_PROPS_H
#define _RPCRDMA2_PROPS_H

#include <linux/bits.h>
#include <linux/types.h>

#include <rpcrdma2/wire.h>

/* Words of the longest value */
#define RPCRDMA2_PROP_WORDS	4

/**
 * struct rpcrdma2_props - one value of each property
 * @pr_rbsiz: least size of every Receive, in bytes
 * @pr_brs: enum rpcrdma2_bkreqsup
 * @pr_mark: RPCRDMA2_MARK, or zeros: the extensions that its end supports
 * @pr_limits: limits for one Call to its end: most segments of a chunk, most
 *	bytes of a segment, most Read chunks, most Write chunks
 * @pr_sbsiz: largest Send of its end, in bytes, or 0 if unknown
 *
 * All are XDR words, in wire order.
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

/**
 * enum rpcrdma2_prop_change - how a property may change during a connection
 * @RPCRDMA2_CHANGE_NEVER: it never changes, and is announced as nochg (C-045)
 * @RPCRDMA2_CHANGE_RAISE: its end raises it, and announces that afterwards
 *	(C-032); the peer may request any value, and only then is it lowered
 *	(C-033)
 * @RPCRDMA2_CHANGE_FREE: its end changes it on its own, and announces that
 */
enum rpcrdma2_prop_change {
	RPCRDMA2_CHANGE_NEVER,
	RPCRDMA2_CHANGE_RAISE,
	RPCRDMA2_CHANGE_FREE,
};

/* State to update when a property has changed; a set of bits */
enum rpcrdma2_prop_effect {
	RPCRDMA2_EFFECT_NONE	 = 0,
	RPCRDMA2_EFFECT_MESSAGES = BIT(0), /* message sizes, both ways */
	RPCRDMA2_EFFECT_CHUNKS	 = BIT(1), /* the chunks of a Call to its end */
};

/*
 * The table of properties: RDMA2_PROPID_<id>, its field pr_<field>,
 * RPCRDMA2_CHANGE_<change>, RPCRDMA2_EFFECT_<effect> of a change,
 * rpcrdma2_valid_<check>() and rpcrdma2_wish_<rule>() of props.c, and the words
 * of the default (C-024). A property is defined by its row and its field alone.
 * Properties that depend on the mark come last.
 */
#define RPCRDMA2_PROPERTIES(_row)					\
	_row(RBSIZ, rbsiz, RAISE, MESSAGES, any, rbsiz, RPCRDMA2_INLINE_DEFAULT) \
	_row(BRS, brs, NEVER, NONE, brs, brs, RDMA2_BKREQSUP_INLINE)	\
	_row(X_MARK, mark, NEVER, NONE, any, none, 0)			\
	_row(X_LIMITS, limits, NEVER, CHUNKS, any, none, -1, -1, -1, -1)	\
	_row(X_SBSIZ, sbsiz, FREE, MESSAGES, any, none, 0)

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
 * enum rpcrdma2_wish - result of a peer's request for a value
 * @RPCRDMA2_WISH_REJECTED: the value stays
 * @RPCRDMA2_WISH_DONE: the requested value is in force
 * @RPCRDMA2_WISH_OTHER: a third value is in force
 */
enum rpcrdma2_wish {
	RPCRDMA2_WISH_REJECTED,
	RPCRDMA2_WISH_DONE,
	RPCRDMA2_WISH_OTHER,
};

/**
 * rpcrdma2_props_default - set the values of a peer that has announced none
 * @pr: properties to fill, for each connection anew (C-024, S19)
 */
void rpcrdma2_props_default(struct rpcrdma2_props *pr);

/**
 * rpcrdma2_props_marked - check whether experimental properties count
 * @pr: known properties of their end
 *
 * Any extension may use the ids of the experimental range (C-060), so the
 * properties count only from an end that has sent the same mark.
 */
bool rpcrdma2_props_marked(const struct rpcrdma2_props *pr);

/**
 * rpcrdma2_props_changing - rows of the table with a given kind of change
 * @change: kind of change
 */
u32 rpcrdma2_props_changing(enum rpcrdma2_prop_change change);

/**
 * rpcrdma2_props_effects - state to update after a change
 * @rows: properties that may have changed
 *
 * Return: enum rpcrdma2_prop_effect, a set.
 */
u32 rpcrdma2_props_effects(u32 rows);

/**
 * rpcrdma2_props_differ - compare the values of two sets
 * @a: first set
 * @b: second set
 *
 * Return: rows in which they differ.
 */
u32 rpcrdma2_props_differ(const struct rpcrdma2_props *a,
			  const struct rpcrdma2_props *b);

/**
 * rpcrdma2_props_news - rows to announce in an UPDPROP
 * @told: properties of this end as the peer knows them
 * @now: properties in force (C-059)
 *
 * A property that never changes is not announced again, and a property that is
 * lowered only at the peer's request is announced when it is higher (C-027,
 * C-032, C-033, C-045).
 *
 * Return: rows.
 */
u32 rpcrdma2_props_news(const struct rpcrdma2_props *told,
			const struct rpcrdma2_props *now);

/**
 * struct rpcrdma2_peer_props - known properties of the peer
 * @pp_now: values in force
 * @pp_askable: rows that a REQPROP may request to change (C-047, S16)
 * @pp_spoken: a CONNPROP has arrived
 * @pp_short: a Reply that was expected inline was refused (S14)
 */
struct rpcrdma2_peer_props {
	struct rpcrdma2_props	pp_now;
	u32			pp_askable;
	bool			pp_spoken;
	bool			pp_short;
};

/**
 * rpcrdma2_peer_props_init - initialise the properties for a new connection
 * @pp: properties to fill
 */
void rpcrdma2_peer_props_init(struct rpcrdma2_peer_props *pp);

/**
 * rpcrdma2_apply_updprop - apply changed properties of the peer
 * @pp: properties of the peer
 * @val: values of a message without errors (S11)
 * @rows: rows that the message contains
 *
 * Return: rows that changed although the peer had announced that they would
 * not; these are only counted (S15).
 */
u32 rpcrdma2_apply_updprop(struct rpcrdma2_peer_props *pp,
			   const struct rpcrdma2_props *val, u32 rows);

/**
 * rpcrdma2_apply_connprop - apply announced properties of the peer
 * @pp: properties of the peer
 * @val: values of a message without errors (S11)
 * @rows: rows that the message contains; the other rows have their defaults
 *	permanently (C-047)
 * @nochg: rows that will not change (C-045)
 *
 * A second announcement is an update (S15).
 *
 * Return: as rpcrdma2_apply_updprop().
 */
u32 rpcrdma2_apply_connprop(struct rpcrdma2_peer_props *pp,
			    const struct rpcrdma2_props *val, u32 rows,
			    u32 nochg);

/**
 * rpcrdma2_send_limit - largest Send to a version 2 peer
 * @peer: its properties; defaults while it has announced none (C-005)
 * @own: largest Send of this end
 *
 * S13, S33: a peer with very small Receives still gets up to 1024 bytes,
 * because fewer bytes do not hold a header.
 */
u32 rpcrdma2_send_limit(const struct rpcrdma2_props *peer, u32 own);

/**
 * rpcrdma2_reply_limit - largest Reply to expect without a Reply chunk
 * @pp: properties of the responder
 * @own: RBSIZ that this end has announced
 *
 * The limit is X_SBSIZ. Without it, a responder that has announced its Receives
 * is assumed to send messages of that size, until it refuses such a Reply
 * (S14).
 */
u32 rpcrdma2_reply_limit(const struct rpcrdma2_peer_props *pp, u32 own);

#endif /* _RPCRDMA2_PROPS_H */
