/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Properties of a connection: what they are, what they may hold, what happens
 * when a peer announces them, asks for them or grants them. Draft section 5.
 * Their octets are the business of propset.h.
 */
#ifndef _RPCRDMA2_PROPS_H
#define _RPCRDMA2_PROPS_H

#include <linux/bits.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <rpcrdma2/proto.h>

/**
 * struct rpcrdma2_props - one value of each property
 * @pr_rbsiz: octets of every Receive, at least
 * @pr_brs: enum rpcrdma2_bkreqsup
 *
 * Each is one XDR word.
 */
struct rpcrdma2_props {
	u32	pr_rbsiz;
	u32	pr_brs;
};

/*
 * The table of properties: RDMA2_PROPID_<id>, its field pr_<field>, the
 * default (C-024), valid_<check>() and wish_<rule>() of props.c. One row is
 * all there is to a property besides the field that holds it.
 */
#define RPCRDMA2_PROPERTIES(_row)					\
	_row(RBSIZ, rbsiz, RPCRDMA2_INLINE_DEFAULT, any, rbsiz)		\
	_row(BRS, brs, RDMA2_BKREQSUP_INLINE, brs, brs)

/* Rows are named RPCRDMA2_PROP_<id>; a set of rows is a word of such bits. */
enum rpcrdma2_prop {
#define RPCRDMA2_PROP_INDEX(_id, _field, ...)				\
	RPCRDMA2_PROP_##_id =						\
		offsetof(struct rpcrdma2_props, pr_##_field) / sizeof(u32),
	RPCRDMA2_PROPERTIES(RPCRDMA2_PROP_INDEX)
	RPCRDMA2_NPROPS = sizeof(struct rpcrdma2_props) / sizeof(u32)
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

/**
 * rpcrdma2_props_default - the values of a peer that has announced none
 * @pr: to be filled; anew for each connection (C-024, S19)
 */
void rpcrdma2_props_default(struct rpcrdma2_props *pr);

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
 * S14: no property bounds what the responder sends. One that has announced
 * its own Receives is taken to send as much as it receives.
 */
u32 rpcrdma2_reply_limit(const struct rpcrdma2_peer_props *pp, u32 own);

#endif /* _RPCRDMA2_PROPS_H */
