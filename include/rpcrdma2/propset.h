/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The four property messages on the wire: sets of values, and subsets, which
 * are bitmaps over the elements of a set. Draft sections 5.1.1 and 5.3.
 *
 * A message is read to its end before anything comes of it (S11). Properties
 * without a row in the table leave no trace but their place in the numbering
 * (C-019); so the decoded form has a fixed size, whatever the peer sends.
 */
#ifndef _RPCRDMA2_PROPSET_H
#define _RPCRDMA2_PROPSET_H

#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/codec.h>
#include <rpcrdma2/props.h>

/* rdma_which and the length of rdma_data */
#define RPCRDMA2_PROPVAL_MIN	(2 * XDR_UNIT)

/*
 * S53: most elements of a REQPROP. The answer has two bitmaps of so many bits; with
 * header and values it is no longer than any peer takes.
 */
#define RPCRDMA2_WISHES_MAX	((RPCRDMA2_INLINE_FIRST - 128) / 2 * 8)

/**
 * struct rpcrdma2_propset - values of some properties
 * @ps_count: elements on the wire, known or not
 * @ps_rows: known ones
 * @ps_index: the number of each known one among the elements
 * @ps_val: their values
 * @ps_odd: elements that were duplicates, or longer than their type (S12);
 *	to be counted, no more
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
 * @pm_type: enum rpcrdma2_opttype, in either spelling (S01)
 * @pm_set: rdma_start, rdma_want, rdma_other or rdma_now
 * @pm_nochg: CONNPROP: rows of rdma_nochg
 * @pm_done: RESPROP: rows of rdma_done
 * @pm_rejected: RESPROP received: rows of rdma_rejected. In one to be sent,
 *	what is neither done nor other is rejected
 * @pm_want: RESPROP: the set of the REQPROP it answers, in whose numbering
 *	its bitmaps are. May be NULL in one received: it answers nothing
 * @pm_marked: its sender has sent the mark before (2.6)
 */
struct rpcrdma2_propmsg {
	u32				pm_type;
	struct rpcrdma2_propset		pm_set;
	u32				pm_nochg;
	u32				pm_done;
	u32				pm_rejected;
	const struct rpcrdma2_propset	*pm_want;
	bool				pm_marked;
};

/**
 * rpcrdma2_propset_init - a set to be sent
 * @ps: to be filled
 * @rows: properties in it, in the order of the table, each once (S12)
 * @val: their values
 */
void rpcrdma2_propset_init(struct rpcrdma2_propset *ps, u32 rows,
			   const struct rpcrdma2_props *val);

/**
 * rpcrdma2_decode_propmsg - read a property message, in either spelling
 * @pm: to be filled; for a RESPROP, pm_want is the set it answers, or NULL.
 *	pm_marked is set too
 * @h: its header: one of procs 6 to 9, or RDMA2_OPTIONAL
 * @base: the message @h was decoded from
 *
 * Nothing may be applied from a message that is not RDMA2_OK throughout. As
 * after rpcrdma2_decode_hdr(), h_direction says whether the verdict may be
 * answered: a RESPROP never is, and a bad one counts as all rejected (S11).
 *
 * Return: RDMA2_OK, RDMA2_ERR_BAD_XDR, RDMA2_ERR_SYSTEM for a REQPROP of too many
 * wishes (S53), or RDMA2_ERR_INVALID_OPTION for an opttype that is no property
 * message; only a Call is answered with that one (C-012, S39).
 */
enum rpcrdma2_errcode
rpcrdma2_decode_propmsg(struct rpcrdma2_propmsg *pm,
			const struct rpcrdma2_hdr *h, const void *base);

/**
 * rpcrdma2_encode_propmsg - lay out a whole property message
 * @to: where
 * @room: octets there
 * @h: h_xid and h_credit are set, and h_proc is that of the message this one
 *	answers or 0: only a peer that spells property messages as options is
 *	answered so (S01). The other fields are filled in here
 * @pm: what; rpcrdma2_propset_init() has made its set
 *
 * Return: octets of the message, always whole words; -EINVAL for one that must
 * not be sent; -EMSGSIZE when it does not fit.
 */
int rpcrdma2_encode_propmsg(void *to, size_t room, struct rpcrdma2_hdr *h,
			    const struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_answer_reqprop - decide what a REQPROP results in
 * @pm: RESPROP to be sent
 * @want: set of the REQPROP; stays in use until @pm is encoded
 * @now: properties of this end as they were announced; changed to what the
 *	answer announces
 * @able: the best that can be done at once
 *
 * S16, C-049. What is unknown, and every copy but the first, is rejected
 * (C-053, S12).
 */
void rpcrdma2_answer_reqprop(struct rpcrdma2_propmsg *pm,
			     const struct rpcrdma2_propset *want,
			     struct rpcrdma2_props *now,
			     const struct rpcrdma2_props *able);

/**
 * rpcrdma2_apply_resprop - take over what the peer has granted
 * @pp: of the peer
 * @pm: RESPROP that was good throughout, and pm_want the REQPROP that it answers
 *
 * C-056, C-058, S17: what the peer names twice, not at all, or beyond the REQPROP
 * counts as rejected.
 *
 * Return: rows in force as wanted, or as the peer offered instead.
 */
u32 rpcrdma2_apply_resprop(struct rpcrdma2_peer_props *pp,
			   const struct rpcrdma2_propmsg *pm);

#endif /* _RPCRDMA2_PROPSET_H */
