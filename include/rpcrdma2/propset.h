/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The four property messages on the wire: sets of values, and subsets, which
 * are bitmaps over the elements of a set. Draft sections 5.1.1 and 5.3.
 *
 * A message is decoded to its end before any of it is applied (S11). Properties
 * without a row in the table only count in the numbering of the elements
 * (C-019), so the decoded form has a fixed size, whatever the peer sends.
 */
#ifndef _RPCRDMA2_PROPSET_H
#define _RPCRDMA2_PROPSET_H

#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

/* rdma_which and the length of rdma_data */
#define RPCRDMA2_PROPVAL_MIN	(2 * XDR_UNIT)

/*
 * Most elements of a REQPROP (S53). The answer has two bitmaps of that number
 * of bits; with header and values it is no longer than any peer accepts.
 */
#define RPCRDMA2_WISHES_MAX	((RPCRDMA2_INLINE_FIRST - 128) / 2 * 8)

/**
 * struct rpcrdma2_propset - values of some properties
 * @ps_count: elements on the wire, known or unknown
 * @ps_rows: rows of the known elements
 * @ps_index: index of each known element
 * @ps_val: values of the known elements
 * @ps_odd: elements that were duplicates, or longer than their type (S12);
 *	these are only counted
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
 * @pm_type: enum rpcrdma2_opttype, in either encoding (S01)
 * @pm_set: rdma_start, rdma_want, rdma_other or rdma_now
 * @pm_nochg: CONNPROP: rows of rdma_nochg
 * @pm_done: RESPROP: rows of rdma_done
 * @pm_rejected: received RESPROP: rows of rdma_rejected. In a RESPROP to send,
 *	rows that are neither done nor other are rejected
 * @pm_want: RESPROP: set of the REQPROP that it answers, whose numbering its
 *	bitmaps use. May be NULL in a received RESPROP, which then answers
 *	nothing
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
 * rpcrdma2_propset_init - initialise a set to send
 * @ps: set to fill
 * @rows: properties of the set, in table order, without duplicates (S12)
 * @val: their values
 */
void rpcrdma2_propset_init(struct rpcrdma2_propset *ps, u32 rows,
			   const struct rpcrdma2_props *val);

/**
 * rpcrdma2_decode_propmsg - decode a property message, in either encoding
 * @pm: message to fill; pm_marked is set, and for a RESPROP pm_want is the set
 *	that it answers, or NULL
 * @h: its header, of procs 6 to 9 or RDMA2_OPTIONAL
 * @base: the message @h was decoded from
 *
 * No part of a message may be applied unless all of it is RDMA2_OK. As after
 * rpcrdma2_decode_hdr(), h_direction determines whether the verdict may be
 * answered: a RESPROP is never answered, and a malformed RESPROP counts as all
 * rejected (S11).
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
 * @h: h_xid and h_credit are set, and h_proc is that of the message which this
 *	message answers, or 0: only a peer that encodes property messages as
 *	options gets such answers (S01). The other fields are filled in here
 * @pm: message; rpcrdma2_propset_init() has made its set
 *
 * Return: length of the message, always whole words; -EINVAL if it must not be
 * sent; -EMSGSIZE if it does not fit.
 */
int rpcrdma2_encode_propmsg(void *to, size_t room, struct rpcrdma2_hdr *h,
			    const struct rpcrdma2_propmsg *pm);

/**
 * rpcrdma2_answer_reqprop - determine the result of a REQPROP
 * @pm: RESPROP to send
 * @want: set of the REQPROP; stays in use until @pm is encoded
 * @now: properties of this end as announced; updated to those that the answer
 *	announces
 * @able: best values that can be in force at once
 *
 * S16, C-049. Unknown properties and all duplicates but the first are rejected
 * (C-053, S12).
 */
void rpcrdma2_answer_reqprop(struct rpcrdma2_propmsg *pm,
			     const struct rpcrdma2_propset *want,
			     struct rpcrdma2_props *now,
			     const struct rpcrdma2_props *able);

/**
 * rpcrdma2_apply_resprop - apply the values that the peer has granted
 * @pp: properties of the peer
 * @pm: RESPROP without errors, with pm_want the REQPROP that it answers
 *
 * Rows that the peer names twice, not at all, or beyond the REQPROP count as
 * rejected (C-056, C-058, S17).
 *
 * Return: rows in force as requested, or as the peer offered instead.
 */
u32 rpcrdma2_apply_resprop(struct rpcrdma2_peer_props *pp,
			   const struct rpcrdma2_propmsg *pm);

#endif /* _RPCRDMA2_PROPSET_H */
