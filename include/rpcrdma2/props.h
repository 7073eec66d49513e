/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Properties of a connection: what they are, what they may hold, what happens
 * when a peer announces them, asks for them or grants them. Draft section 5.
 * Their octets are the business of propset.h.
 */
#ifndef _RPCRDMA2_PROPS_H
#define _RPCRDMA2_PROPS_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include <rpcrdma2/proto.h>

/**
 * struct rpcrdma2_props - one value of each property
 * @pr_rbsiz: octets of every Receive, at least
 * @pr_brs: enum rpcrdma2_bkreqsup
 *
 * A value is made of u32 alone, one for each XDR word of it.
 */
struct rpcrdma2_props {
	u32	pr_rbsiz;
	u32	pr_brs;
};

/*
 * The table of properties: RDMA2_PROPID_<id>, its field pr_<field>, the
 * default (C-024), rpcrdma2_valid_<check>, rpcrdma2_wish_<rule>. One row is
 * all there is to a property besides the field that holds it.
 */
#define RPCRDMA2_PROPERTIES(_row)					\
	_row(RBSIZ, rbsiz, RPCRDMA2_INLINE_DEFAULT, any, rbsiz)		\
	_row(BRS, brs, RDMA2_BKREQSUP_INLINE, brs, brs)

/* Rows are named RPCRDMA2_PROP_<id>; a set of rows is a word of such bits. */
enum rpcrdma2_prop {
#define RPCRDMA2_PROP_INDEX(_id, ...)	RPCRDMA2_PROP_##_id,
	RPCRDMA2_PROPERTIES(RPCRDMA2_PROP_INDEX)
	RPCRDMA2_NPROPS
#undef RPCRDMA2_PROP_INDEX
};

#define RPCRDMA2_PROPS_ALL	GENMASK(RPCRDMA2_NPROPS - 1, 0)

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

/*
 * Checks: is this a value of the type? (C-017) An odd but possible value is
 * well-formed, and dealt with where it is used (S13).
 */

static inline bool rpcrdma2_valid_any(const u32 *value)
{
	return true;
}

static inline bool rpcrdma2_valid_brs(const u32 *value)
{
	return *value <= RDMA2_BKREQSUP_GENL;
}

/*
 * Rules: what a peer that wants a value of ours gets (S16). @now is the value
 * announced, @able the best we can do; @other is set for WISH_OTHER.
 */

/* A size is a promise of at least so much: any up to the real one is kept. */
static inline enum rpcrdma2_wish
rpcrdma2_wish_rbsiz(const u32 *want, const u32 *now, const u32 *able,
		    u32 *other)
{
	if (*want > *able) {
		*other = *able;
		return *able == *now ? RPCRDMA2_WISH_REJECTED :
				       RPCRDMA2_WISH_OTHER;
	}
	return *want < RPCRDMA2_INLINE_DEFAULT ? RPCRDMA2_WISH_REJECTED :
						 RPCRDMA2_WISH_DONE;
}

/*
 * S20: backward operation is not given up altogether. A default that was never
 * announced may be more than we are able to do.
 */
static inline enum rpcrdma2_wish
rpcrdma2_wish_brs(const u32 *want, const u32 *now, const u32 *able, u32 *other)
{
	if (*want < RDMA2_BKREQSUP_INLINE || *want > *now || *want > *able)
		return RPCRDMA2_WISH_REJECTED;
	return RPCRDMA2_WISH_DONE;
}

/**
 * struct rpcrdma2_prop_row - one property
 * @row_which: rpcrdma2_propid
 * @row_size: octets of the value, on the wire as in struct rpcrdma2_props
 * @row_offset: of the value in struct rpcrdma2_props
 * @row_valid: check
 * @row_wish: rule
 */
struct rpcrdma2_prop_row {
	u32	row_which;
	u16	row_size;
	u16	row_offset;
	bool	(*row_valid)(const u32 *value);
	enum rpcrdma2_wish (*row_wish)(const u32 *want, const u32 *now,
				       const u32 *able, u32 *other);
};

static inline const struct rpcrdma2_prop_row *
rpcrdma2_prop_row(enum rpcrdma2_prop r)
{
#define RPCRDMA2_PROP_ROW(_id, _field, _default, _check, _rule) {		\
		.row_which	= RDMA2_PROPID_##_id,				\
		.row_size	= sizeof_field(struct rpcrdma2_props, pr_##_field), \
		.row_offset	= offsetof(struct rpcrdma2_props, pr_##_field),	\
		.row_valid	= rpcrdma2_valid_##_check,			\
		.row_wish	= rpcrdma2_wish_##_rule,			\
	},
	static const struct rpcrdma2_prop_row rows[] = {
		RPCRDMA2_PROPERTIES(RPCRDMA2_PROP_ROW)
	};
#undef RPCRDMA2_PROP_ROW

	return &rows[r];
}

/* The row of a property, or RPCRDMA2_NPROPS (C-108: ids are not dense) */
static inline enum rpcrdma2_prop rpcrdma2_prop_find(u32 which)
{
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rpcrdma2_prop_row(r)->row_which == which)
			break;
	return r;
}

static inline u32 *rpcrdma2_prop_value(struct rpcrdma2_props *pr,
				       enum rpcrdma2_prop r)
{
	return (void *)pr + rpcrdma2_prop_row(r)->row_offset;
}

static inline const u32 *
rpcrdma2_prop_value_const(const struct rpcrdma2_props *pr, enum rpcrdma2_prop r)
{
	return (const void *)pr + rpcrdma2_prop_row(r)->row_offset;
}

/**
 * rpcrdma2_props_copy - take over the values of some properties
 * @to: where
 * @from: whence
 * @rows: which
 */
static inline void rpcrdma2_props_copy(struct rpcrdma2_props *to,
				       const struct rpcrdma2_props *from,
				       u32 rows)
{
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rows & BIT(r))
			memcpy(rpcrdma2_prop_value(to, r),
			       rpcrdma2_prop_value_const(from, r),
			       rpcrdma2_prop_row(r)->row_size);
}

/**
 * rpcrdma2_props_default - the values of a peer that has said nothing
 * @pr: to be filled; anew for each connection (C-024, S19)
 */
static inline void rpcrdma2_props_default(struct rpcrdma2_props *pr)
{
#define RPCRDMA2_PROP_DEFAULT(_id, _field, _default, ...) \
	.pr_##_field = _default,
	*pr = (struct rpcrdma2_props) {
		RPCRDMA2_PROPERTIES(RPCRDMA2_PROP_DEFAULT)
	};
#undef RPCRDMA2_PROP_DEFAULT
}

/**
 * struct rpcrdma2_peer_props - what is known of the other side
 * @pp_now: values in force
 * @pp_askable: rows that a REQPROP may ask to change (C-047, S16)
 * @pp_spoken: a CONNPROP has come
 */
struct rpcrdma2_peer_props {
	struct rpcrdma2_props	pp_now;
	u32			pp_askable;
	bool			pp_spoken;
};

/**
 * rpcrdma2_peer_props_init - start of a connection
 * @pp: to be filled
 */
static inline void rpcrdma2_peer_props_init(struct rpcrdma2_peer_props *pp)
{
	rpcrdma2_props_default(&pp->pp_now);
	pp->pp_askable = 0;
	pp->pp_spoken = false;
}

/**
 * rpcrdma2_apply_updprop - the peer has changed properties
 * @pp: of the peer
 * @val: values of a message that was good throughout (S11)
 * @rows: those it names
 *
 * Return: rows that changed though the peer had promised they would not; to
 * be counted, no more (S15).
 */
static inline u32 rpcrdma2_apply_updprop(struct rpcrdma2_peer_props *pp,
					 const struct rpcrdma2_props *val,
					 u32 rows)
{
	rpcrdma2_props_copy(&pp->pp_now, val, rows);
	return pp->pp_spoken ? rows & ~pp->pp_askable : 0;
}

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
static inline u32 rpcrdma2_apply_connprop(struct rpcrdma2_peer_props *pp,
					  const struct rpcrdma2_props *val,
					  u32 rows, u32 nochg)
{
	if (pp->pp_spoken)
		return rpcrdma2_apply_updprop(pp, val, rows);

	rpcrdma2_props_default(&pp->pp_now);
	rpcrdma2_props_copy(&pp->pp_now, val, rows);
	pp->pp_askable = rows & ~nochg;
	pp->pp_spoken = true;
	return 0;
}

/**
 * rpcrdma2_send_limit - largest Send toward a version 2 peer
 * @peer: its properties; defaults while it has said nothing (C-005)
 * @own: largest Send we make
 *
 * S13, S33. A peer that takes very little is believed down to 1024 octets,
 * below which headers could not be sent.
 */
static inline u32 rpcrdma2_send_limit(const struct rpcrdma2_props *peer,
				      u32 own)
{
	return min(own, max_t(u32, peer->pr_rbsiz, RPCRDMA2_INLINE_FIRST));
}

/**
 * rpcrdma2_reply_limit - largest Reply to expect without a Reply chunk
 * @pp: of the responder
 * @own: our own RBSIZ, as announced
 *
 * S14: nothing tells how much the responder is willing to send. One that
 * has announced its own Receives is taken to send as much as it receives.
 */
static inline u32 rpcrdma2_reply_limit(const struct rpcrdma2_peer_props *pp,
				       u32 own)
{
	if (!pp->pp_spoken)
		return min_t(u32, own, RPCRDMA2_INLINE_DEFAULT);
	return rpcrdma2_send_limit(&pp->pp_now, own);
}

#endif /* _RPCRDMA2_PROPS_H */
