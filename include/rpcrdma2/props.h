/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Properties of a connection: what they are, what they may hold, what happens
 * when a peer announces them, asks for them or grants them. Draft section 5.
 * Their octets are the business of propset.h.
 */
#ifndef _RPCRDMA2_PROPS_H
#define _RPCRDMA2_PROPS_H

#include <linux/bits.h>
#include <linux/types.h>

#include <rpcrdma2/proto.h>

/* Words of the longest value */
#define RPCRDMA2_PROP_WORDS	4

/**
 * struct rpcrdma2_props - one value of each property
 * @pr_rbsiz: octets of every Receive, at least
 * @pr_brs: enum rpcrdma2_bkreqsup
 * @pr_mark: RPCRDMA2_MARK, or zeros: which extensions its end knows
 * @pr_limits: what its end takes in one Call: most segments of a chunk, most octets
 *	of a segment, most Read chunks, most Write chunks
 * @pr_sbsiz: octets of the largest Send its end makes, or 0: not known
 *
 * All are XDR words, in the order of the wire.
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
	RPCRDMA2_LIMIT_OCTETS,
	RPCRDMA2_LIMIT_READS,
	RPCRDMA2_LIMIT_WRITES,
};

/**
 * enum rpcrdma2_prop_change - what may become of a property while a connection lasts
 * @RPCRDMA2_CHANGE_NEVER: nothing: announced as nochg (C-045)
 * @RPCRDMA2_CHANGE_RAISE: its end raises it, and says so when it is done (C-032);
 *	the peer may ask for any value, and only then is it lowered (C-033)
 * @RPCRDMA2_CHANGE_FREE: its end changes it unasked, and says so
 */
enum rpcrdma2_prop_change {
	RPCRDMA2_CHANGE_NEVER,
	RPCRDMA2_CHANGE_RAISE,
	RPCRDMA2_CHANGE_FREE,
};

/* What has to be looked at again when a property has changed; a set of bits */
enum rpcrdma2_prop_effect {
	RPCRDMA2_EFFECT_NONE	 = 0,
	RPCRDMA2_EFFECT_MESSAGES = BIT(0), /* sizes of messages, both ways */
	RPCRDMA2_EFFECT_CHUNKS	 = BIT(1), /* the chunks of a Call to its end */
};

/*
 * The table of properties: RDMA2_PROPID_<id>, its field pr_<field>,
 * RPCRDMA2_CHANGE_<change>, RPCRDMA2_EFFECT_<effect> of that, valid_<check>() and
 * wish_<rule>() of props.c, and the words of the default (C-024). One row is all there is to a
 * property besides the field that holds it. Those that count only beside the mark
 * come last.
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
 * enum rpcrdma2_wish - answer to a peer that asks for a value
 * @RPCRDMA2_WISH_REJECTED: the value stays
 * @RPCRDMA2_WISH_DONE: the value asked for is in force
 * @RPCRDMA2_WISH_OTHER: yet another value is in force
 */
enum rpcrdma2_wish {
	RPCRDMA2_WISH_REJECTED,
	RPCRDMA2_WISH_DONE,
	RPCRDMA2_WISH_OTHER,
};

/**
 * rpcrdma2_props_default - the values of a peer that has announced none
 * @pr: to be filled; anew for each connection (C-024, S19)
 */
void rpcrdma2_props_default(struct rpcrdma2_props *pr);

/**
 * rpcrdma2_props_marked - do the properties of the experimental range count?
 * @pr: what is known of their end
 *
 * Those ids may be used by any extension (C-060): they count from an end that has
 * sent the same mark.
 */
bool rpcrdma2_props_marked(const struct rpcrdma2_props *pr);

/**
 * rpcrdma2_props_changing - rows with a place in the table like this
 * @change: what may become of them
 */
u32 rpcrdma2_props_changing(enum rpcrdma2_prop_change change);

/**
 * rpcrdma2_props_effects - what has to be looked at again
 * @rows: properties that may have changed
 *
 * Return: enum rpcrdma2_prop_effect, a set.
 */
u32 rpcrdma2_props_effects(u32 rows);

/**
 * rpcrdma2_props_differ - compare two values of each property
 * @a: one
 * @b: the other
 *
 * Return: rows in which they differ.
 */
u32 rpcrdma2_props_differ(const struct rpcrdma2_props *a,
			  const struct rpcrdma2_props *b);

/**
 * rpcrdma2_props_news - what is worth an UPDPROP
 * @told: properties of this end as the peer knows them
 * @now: as they are in force (C-059)
 *
 * C-027, C-032, C-033, C-045: what never changes is not told anew, and what only the
 * peer may ask to be lower is told when it is higher.
 *
 * Return: rows.
 */
u32 rpcrdma2_props_news(const struct rpcrdma2_props *told,
			const struct rpcrdma2_props *now);

/**
 * struct rpcrdma2_peer_props - what is known of the other side
 * @pp_now: values in force
 * @pp_askable: rows that a REQPROP may ask to change (C-047, S16)
 * @pp_spoken: a CONNPROP has come
 * @pp_short: a Reply that was expected inline was refused (S14)
 */
struct rpcrdma2_peer_props {
	struct rpcrdma2_props	pp_now;
	u32			pp_askable;
	bool			pp_spoken;
	bool			pp_short;
};

/**
 * rpcrdma2_peer_props_init - start of a connection
 * @pp: to be filled
 */
void rpcrdma2_peer_props_init(struct rpcrdma2_peer_props *pp);

/**
 * rpcrdma2_apply_updprop - the peer has changed properties
 * @pp: of the peer
 * @val: values of a message that was good throughout (S11)
 * @rows: those it names
 *
 * Return: rows that changed though the peer had announced that they would not; to
 * be counted, no more (S15).
 */
u32 rpcrdma2_apply_updprop(struct rpcrdma2_peer_props *pp,
			   const struct rpcrdma2_props *val, u32 rows);

/**
 * rpcrdma2_apply_connprop - the peer has announced its properties
 * @pp: of the peer
 * @val: values of a message that was good throughout (S11)
 * @rows: those it names; the others have their defaults for good (C-047)
 * @nochg: those it will not change (C-045)
 *
 * A second announcement is an update (S15).
 *
 * Return: as rpcrdma2_apply_updprop().
 */
u32 rpcrdma2_apply_connprop(struct rpcrdma2_peer_props *pp,
			    const struct rpcrdma2_props *val, u32 rows,
			    u32 nochg);

/**
 * rpcrdma2_send_limit - largest Send toward a version 2 peer
 * @peer: its properties; defaults while it has announced none (C-005)
 * @own: largest Send this end makes
 *
 * S13, S33. A peer that takes very little is sent up to 1024 octets all the same,
 * for less does not hold a header.
 */
u32 rpcrdma2_send_limit(const struct rpcrdma2_props *peer, u32 own);

/**
 * rpcrdma2_reply_limit - largest Reply to expect without a Reply chunk
 * @pp: of the responder
 * @own: the RBSIZ this end has announced
 *
 * S14. X_SBSIZ says it; without, a responder that has announced its own Receives
 * is taken to send as much as it receives. One that has refused such a Reply is
 * not taken at its word again.
 */
u32 rpcrdma2_reply_limit(const struct rpcrdma2_peer_props *pp, u32 own);

#endif /* _RPCRDMA2_PROPS_H */
