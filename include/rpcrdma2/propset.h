/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The four property messages on the wire: sets of values, and subsets, which
 * are bitmaps over the elements of a set. Draft sections 5.1.1 and 5.3.
 *
 * A message is read to its end before anything comes of it (S11). Properties
 * we do not know leave no trace but their place in the numbering (C-019); so
 * the decoded form has a fixed size, whatever the peer sends.
 */
#ifndef _RPCRDMA2_PROPSET_H
#define _RPCRDMA2_PROPSET_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/math.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/codec.h>
#include <rpcrdma2/props.h>

/* rdma_which and the length of rdma_data */
#define RPCRDMA2_PROPVAL_MIN	(2 * XDR_UNIT)

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
 */
struct rpcrdma2_propmsg {
	u32				pm_type;
	struct rpcrdma2_propset		pm_set;
	u32				pm_nochg;
	u32				pm_done;
	u32				pm_rejected;
	const struct rpcrdma2_propset	*pm_want;
};

/**
 * rpcrdma2_propset_init - a set to be sent
 * @ps: to be filled
 * @rows: properties in it, in the order of the table, each once (S12)
 * @val: their values
 */
static inline void rpcrdma2_propset_init(struct rpcrdma2_propset *ps, u32 rows,
					 const struct rpcrdma2_props *val)
{
	unsigned int r;

	BUILD_BUG_ON(RPCRDMA2_NPROPS > 32);

	memset(ps, 0, sizeof(*ps));
	ps->ps_rows = rows & RPCRDMA2_PROPS_ALL;
	ps->ps_val = *val;
	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (ps->ps_rows & BIT(r))
			ps->ps_index[r] = ps->ps_count++;
}

/* C-017, C-018, C-020: no data is the default; too much is cut (S12) */
static inline enum rpcrdma2_errcode
rpcrdma2_decode_propdata(struct rpcrdma2_props *val, enum rpcrdma2_prop r,
			 const __be32 *data, u32 len)
{
	const struct rpcrdma2_prop_row *row = rpcrdma2_prop_row(r);
	u32 *value = rpcrdma2_prop_value(val, r);
	unsigned int i;

	rpcrdma2_props_default(val);
	if (!len)
		return RDMA2_OK;
	if (len < row->row_size)
		return RDMA2_ERR_BAD_XDR;
	for (i = 0; i < row->row_size / XDR_UNIT; i++)
		value[i] = be32_to_cpup(data + i);
	return row->row_valid(value) ? RDMA2_OK : RDMA2_ERR_BAD_XDR;
}

/*
 * Element @index of the set. S12: of duplicates the last one counts, but in a
 * REQPROP the first.
 */
static inline enum rpcrdma2_errcode
rpcrdma2_decode_propval(struct rpcrdma2_propset *ps, u32 index, bool first,
			struct xdr_stream *xdr)
{
	struct rpcrdma2_props val;
	enum rpcrdma2_errcode ret;
	enum rpcrdma2_prop r;
	const __be32 *p;
	u32 len;

	p = xdr_inline_decode(xdr, RPCRDMA2_PROPVAL_MIN);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	r = rpcrdma2_prop_find(be32_to_cpup(p));
	len = be32_to_cpup(p + 1);
	if (len > xdr_stream_remaining(xdr))		/* C-016 */
		return RDMA2_ERR_BAD_XDR;
	p = xdr_inline_decode(xdr, len);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	if (r == RPCRDMA2_NPROPS)			/* C-019, C-060 */
		return RDMA2_OK;

	ret = rpcrdma2_decode_propdata(&val, r, p, len);
	if (ret)
		return ret;
	if (len > rpcrdma2_prop_row(r)->row_size)
		ps->ps_odd++;
	if (ps->ps_rows & BIT(r)) {
		ps->ps_odd++;
		if (first)
			return RDMA2_OK;
	}
	ps->ps_rows |= BIT(r);
	ps->ps_index[r] = index;
	rpcrdma2_props_copy(&ps->ps_val, &val, BIT(r));
	return RDMA2_OK;
}

static inline enum rpcrdma2_errcode
rpcrdma2_decode_propset(struct rpcrdma2_propset *ps, bool first,
			struct xdr_stream *xdr)
{
	enum rpcrdma2_errcode ret;
	const __be32 *p;
	u32 i;

	memset(ps, 0, sizeof(*ps));
	p = xdr_inline_decode(xdr, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	ps->ps_count = be32_to_cpup(p);
	if (ps->ps_count > xdr_stream_remaining(xdr) / RPCRDMA2_PROPVAL_MIN)
		return RDMA2_ERR_BAD_XDR;
	for (i = 0; i < ps->ps_count; i++) {
		ret = rpcrdma2_decode_propval(ps, i, first, xdr);
		if (ret)
			return ret;
	}
	return RDMA2_OK;
}

/* Rows of @ps whose bits are set in @bits, word @word of a bitmap (S04) */
static inline u32 rpcrdma2_subset_rows(const struct rpcrdma2_propset *ps,
				       u32 word, u32 bits)
{
	unsigned int r;
	u32 rows = 0;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (ps->ps_rows & BIT(r) && ps->ps_index[r] / 32 == word &&
		    bits & BIT(ps->ps_index[r] % 32))
			rows |= BIT(r);
	return rows;
}

/*
 * C-022, S17: words left out are zero, bits beyond the set mean nothing. @ps
 * may be NULL, then all are beyond.
 */
static inline enum rpcrdma2_errcode
rpcrdma2_decode_subset(u32 *rows, const struct rpcrdma2_propset *ps,
		       struct xdr_stream *xdr)
{
	const __be32 *p;
	u32 count, word;

	*rows = 0;
	p = xdr_inline_decode(xdr, XDR_UNIT);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	count = be32_to_cpup(p);
	if (count > xdr_stream_remaining(xdr) / XDR_UNIT)
		return RDMA2_ERR_BAD_XDR;
	for (word = 0; word < count; word++) {
		p = xdr_inline_decode(xdr, XDR_UNIT);
		if (!p)
			return RDMA2_ERR_BAD_XDR;
		if (ps)
			*rows |= rpcrdma2_subset_rows(ps, word,
						      be32_to_cpup(p));
	}
	return RDMA2_OK;
}

static inline enum rpcrdma2_errcode
rpcrdma2_decode_propbody(struct rpcrdma2_propmsg *pm, struct xdr_stream *xdr)
{
	enum rpcrdma2_errcode ret;

	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		ret = rpcrdma2_decode_propset(&pm->pm_set, false, xdr);
		if (ret)
			return ret;
		return rpcrdma2_decode_subset(&pm->pm_nochg, &pm->pm_set, xdr);
	case RDMA2_OPT_REQPROP:
		return rpcrdma2_decode_propset(&pm->pm_set, true, xdr);
	case RDMA2_OPT_RESPROP:
		ret = rpcrdma2_decode_subset(&pm->pm_done, pm->pm_want, xdr);
		if (ret)
			return ret;
		ret = rpcrdma2_decode_subset(&pm->pm_rejected, pm->pm_want, xdr);
		if (ret)
			return ret;
		return rpcrdma2_decode_propset(&pm->pm_set, false, xdr);
	case RDMA2_OPT_UPDPROP:
		return rpcrdma2_decode_propset(&pm->pm_set, false, xdr);
	default:
		return RDMA2_ERR_INVALID_OPTION;	/* C-012 */
	}
}

/**
 * rpcrdma2_decode_propmsg - read a property message, in either spelling
 * @pm: to be filled; for a RESPROP, pm_want is the set it answers, or NULL
 * @h: its header: one of procs 6 to 9, or RDMA2_OPTIONAL
 * @buf: the message @h was decoded from
 *
 * Nothing may be applied from a message that is not RDMA2_OK throughout. As
 * after rpcrdma2_decode_hdr(), h_direction says whether the verdict may be
 * answered: a RESPROP never is, and a bad one counts as all rejected (S11).
 *
 * Return: RDMA2_OK, RDMA2_ERR_BAD_XDR, or RDMA2_ERR_INVALID_OPTION for an
 * opttype that is no property message; that one draws nothing but in a Call
 * (C-012, S39).
 */
static inline enum rpcrdma2_errcode
rpcrdma2_decode_propmsg(struct rpcrdma2_propmsg *pm,
			const struct rpcrdma2_hdr *h,
			const struct xdr_buf *buf)
{
	struct xdr_stream xdr;
	struct xdr_buf body;

	pm->pm_type = h->h_opttype;
	pm->pm_nochg = 0;
	pm->pm_done = 0;
	pm->pm_rejected = 0;
	if (xdr_buf_subsegment(buf, &body, h->h_optoff, h->h_optlen))
		return RDMA2_ERR_BAD_XDR;
	xdr_init_decode(&xdr, &body, NULL, NULL);
	return rpcrdma2_decode_propbody(pm, &xdr);
}

/*
 * Word @word of the bitmap of what is left when @rows of @ps are taken, or of
 * what is taken.
 */
static inline u32 rpcrdma2_subset_taken(const struct rpcrdma2_propset *ps,
					u32 rows, u32 word)
{
	unsigned int r;
	u32 bits = 0;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rows & ps->ps_rows & BIT(r) && ps->ps_index[r] / 32 == word)
			bits |= BIT(ps->ps_index[r] % 32);
	return bits;
}

static inline u32 rpcrdma2_subset_left(const struct rpcrdma2_propset *ps,
				       u32 rows, u32 word)
{
	u32 left = ps->ps_count - word * 32;
	u32 all = left < 32 ? BIT(left) - 1 : U32_MAX;

	return all & ~rpcrdma2_subset_taken(ps, rows, word);
}

typedef u32 (*rpcrdma2_subset_fn)(const struct rpcrdma2_propset *ps, u32 rows,
				  u32 word);

/* Words of a bitmap, trailing zeroes left out (C-022) */
static inline u32 rpcrdma2_subset_words(const struct rpcrdma2_propset *ps,
					u32 rows, rpcrdma2_subset_fn bits)
{
	u32 words = DIV_ROUND_UP(ps->ps_count, 32);

	while (words && !bits(ps, rows, words - 1))
		words--;
	return words;
}

static inline size_t rpcrdma2_subset_size(const struct rpcrdma2_propset *ps,
					  u32 rows, rpcrdma2_subset_fn bits)
{
	return XDR_UNIT + rpcrdma2_subset_words(ps, rows, bits) * XDR_UNIT;
}

static inline __be32 *rpcrdma2_encode_subset(__be32 *p,
					     const struct rpcrdma2_propset *ps,
					     u32 rows, rpcrdma2_subset_fn bits)
{
	u32 words = rpcrdma2_subset_words(ps, rows, bits);
	u32 word;

	*p++ = cpu_to_be32(words);
	for (word = 0; word < words; word++)
		*p++ = cpu_to_be32(bits(ps, rows, word));
	return p;
}

static inline size_t rpcrdma2_propset_size(const struct rpcrdma2_propset *ps)
{
	size_t size = XDR_UNIT;
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (ps->ps_rows & BIT(r))
			size += RPCRDMA2_PROPVAL_MIN +
				rpcrdma2_prop_row(r)->row_size;
	return size;
}

/* In the order of the table; S12: each once, with its exact length */
static inline __be32 *rpcrdma2_encode_propset(__be32 *p,
					      const struct rpcrdma2_propset *ps)
{
	const struct rpcrdma2_prop_row *row;
	const u32 *value;
	unsigned int r, i;

	*p++ = cpu_to_be32(hweight32(ps->ps_rows));
	for (r = 0; r < RPCRDMA2_NPROPS; r++) {
		if (!(ps->ps_rows & BIT(r)))
			continue;
		row = rpcrdma2_prop_row(r);
		value = rpcrdma2_prop_value_const(&ps->ps_val, r);
		*p++ = cpu_to_be32(row->row_which);
		*p++ = cpu_to_be32(row->row_size);
		for (i = 0; i < row->row_size / XDR_UNIT; i++)
			*p++ = cpu_to_be32(value[i]);
	}
	return p;
}

/* Octets of the body; always whole words. A set numbered as it goes out. */
static inline size_t rpcrdma2_propmsg_size(const struct rpcrdma2_propmsg *pm)
{
	const struct rpcrdma2_propset *ps = &pm->pm_set;
	size_t size = rpcrdma2_propset_size(ps);

	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		return size + rpcrdma2_subset_size(ps, pm->pm_nochg,
						   rpcrdma2_subset_taken);
	case RDMA2_OPT_RESPROP:
		return size +
		       rpcrdma2_subset_size(pm->pm_want, pm->pm_done,
					    rpcrdma2_subset_taken) +
		       rpcrdma2_subset_size(pm->pm_want,
					    pm->pm_done | ps->ps_rows,
					    rpcrdma2_subset_left);
	default:
		return size;
	}
}

static inline void rpcrdma2_encode_propbody(__be32 *p,
					    const struct rpcrdma2_propmsg *pm)
{
	const struct rpcrdma2_propset *ps = &pm->pm_set;

	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		p = rpcrdma2_encode_propset(p, ps);
		rpcrdma2_encode_subset(p, ps, pm->pm_nochg,
				       rpcrdma2_subset_taken);
		break;
	case RDMA2_OPT_RESPROP:		/* C-057: disjoint, and all of them */
		p = rpcrdma2_encode_subset(p, pm->pm_want, pm->pm_done,
					   rpcrdma2_subset_taken);
		p = rpcrdma2_encode_subset(p, pm->pm_want,
					   pm->pm_done | ps->ps_rows,
					   rpcrdma2_subset_left);
		rpcrdma2_encode_propset(p, ps);
		break;
	default:
		rpcrdma2_encode_propset(p, ps);
		break;
	}
}

/* C-055, C-057: an answer is made of what was asked, and of nothing twice */
static inline bool rpcrdma2_propmsg_sendable(const struct rpcrdma2_propmsg *pm)
{
	u32 rows = pm->pm_set.ps_rows;

	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
	case RDMA2_OPT_REQPROP:
	case RDMA2_OPT_UPDPROP:
		return true;
	case RDMA2_OPT_RESPROP:
		return pm->pm_want && !(rows & pm->pm_done) &&
		       !((rows | pm->pm_done) & ~pm->pm_want->ps_rows);
	default:
		return false;
	}
}

/**
 * rpcrdma2_encode_propmsg - lay out a whole property message
 * @xdr: where
 * @h: h_xid and h_credit are set, and h_proc is that of the message this one
 *	answers or 0: only a peer that spells property messages as options is
 *	answered so (S01). The other fields are filled in here
 * @pm: what
 *
 * Return: 0; -EINVAL for a message that must not be sent; -EMSGSIZE when it
 * does not fit, and then the stream is of no more use.
 */
static inline int rpcrdma2_encode_propmsg(struct xdr_stream *xdr,
					  struct rpcrdma2_hdr *h,
					  const struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_propmsg out = *pm;
	size_t size;
	__be32 *p;
	int ret;

	if (!rpcrdma2_propmsg_sendable(pm))
		return -EINVAL;
	/* numbered as it goes out, which is not as a received set came in */
	rpcrdma2_propset_init(&out.pm_set, pm->pm_set.ps_rows,
			      &pm->pm_set.ps_val);
	size = rpcrdma2_propmsg_size(&out);

	h->h_vers = RPCRDMA2_VERS_TWO;
	h->h_direction = pm->pm_type == RDMA2_OPT_RESPROP ? RDMA2_REPLY :
							    RDMA2_CALL;
	if (h->h_proc != RDMA2_OPTIONAL)
		h->h_proc = RDMA2_CONNPROP + pm->pm_type - RDMA2_OPT_CONNPROP;
	h->h_opttype = pm->pm_type;
	h->h_optlen = size;

	ret = rpcrdma2_encode_hdr(xdr, h);
	if (ret)
		return ret;
	p = xdr_reserve_space(xdr, size);
	if (!p)
		return -EMSGSIZE;
	rpcrdma2_encode_propbody(p, &out);
	return 0;
}

/**
 * rpcrdma2_answer_reqprop - decide what a peer gets of what it wants
 * @pm: RESPROP to be sent
 * @want: set of the REQPROP; stays in use until @pm is encoded
 * @now: our properties as the peer knows them; changed to what it will know
 * @able: the best we can do at once
 *
 * S16, C-049. What we do not know, and every copy but the first, is rejected
 * (C-053, S12).
 */
static inline void rpcrdma2_answer_reqprop(struct rpcrdma2_propmsg *pm,
					   const struct rpcrdma2_propset *want,
					   struct rpcrdma2_props *now,
					   const struct rpcrdma2_props *able)
{
	const struct rpcrdma2_props *wanted = &want->ps_val;
	struct rpcrdma2_props other = *now;
	const struct rpcrdma2_prop_row *row;
	enum rpcrdma2_wish wish;
	unsigned int r;
	u32 rows = 0;

	memset(pm, 0, sizeof(*pm));
	pm->pm_type = RDMA2_OPT_RESPROP;
	pm->pm_want = want;
	for (r = 0; r < RPCRDMA2_NPROPS; r++) {
		if (!(want->ps_rows & BIT(r)))
			continue;
		row = rpcrdma2_prop_row(r);
		wish = row->row_wish(rpcrdma2_prop_value_const(wanted, r),
				     rpcrdma2_prop_value_const(now, r),
				     rpcrdma2_prop_value_const(able, r),
				     rpcrdma2_prop_value(&other, r));
		if (wish == RPCRDMA2_WISH_DONE)
			pm->pm_done |= BIT(r);
		else if (wish == RPCRDMA2_WISH_OTHER)
			rows |= BIT(r);
	}
	rpcrdma2_propset_init(&pm->pm_set, rows, &other);
	rpcrdma2_props_copy(now, wanted, pm->pm_done);
	rpcrdma2_props_copy(now, &other, rows);
}

/**
 * rpcrdma2_apply_resprop - take over what the peer has granted
 * @pp: of the peer
 * @pm: RESPROP that was good throughout, with pm_want what we had asked
 *
 * C-056, C-058, S17: what the peer names twice, not at all, or without having
 * been asked is as if it had been rejected.
 *
 * Return: rows in force as wanted, or as the peer offered instead.
 */
static inline u32 rpcrdma2_apply_resprop(struct rpcrdma2_peer_props *pp,
					 const struct rpcrdma2_propmsg *pm)
{
	u32 done = pm->pm_done & ~pm->pm_rejected & ~pm->pm_set.ps_rows;
	u32 other = pm->pm_set.ps_rows & ~pm->pm_rejected & ~pm->pm_done;

	if (!pm->pm_want)
		return 0;
	other &= pm->pm_want->ps_rows;	/* as the bitmaps are by nature */
	rpcrdma2_props_copy(&pp->pp_now, &pm->pm_want->ps_val, done);
	rpcrdma2_props_copy(&pp->pp_now, &pm->pm_set.ps_val, other);
	return done | other;
}

#endif /* _RPCRDMA2_PROPSET_H */
