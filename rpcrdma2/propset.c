// SPDX-License-Identifier: GPL-2.0
/*
 * The four property messages on the wire: sets of values, and subsets, which
 * are bitmaps over the elements of a set. Draft sections 5.1.1 and 5.3.
 *
 * A message is read to its end before anything comes of it (S11). Properties
 * without a row in the table leave no trace but their place in the numbering
 * (C-019); so the decoded form has a fixed size, whatever the peer sends.
 */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/math.h>

#include "wire.h"

void rpcrdma2_propset_init(struct rpcrdma2_propset *ps, u32 rows,
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
EXPORT_SYMBOL_GPL(rpcrdma2_propset_init);

/* C-017, C-018, C-020: no data is the default; too much is cut (S12) */
static enum rpcrdma2_errcode decode_propdata(struct rpcrdma2_props *val,
					     enum rpcrdma2_prop r,
					     const __be32 *data, u32 len)
{
	const struct rpcrdma2_prop_row *row = &rpcrdma2_prop_rows[r];
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
static enum rpcrdma2_errcode decode_propval(struct rpcrdma2_propset *ps,
					    u32 index, bool first,
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
	if (len > xdr_stream_remaining(xdr)) /* C-016 */
		return RDMA2_ERR_BAD_XDR;
	p = xdr_inline_decode(xdr, len);
	if (!p)
		return RDMA2_ERR_BAD_XDR;
	if (r == RPCRDMA2_NPROPS) /* C-019, C-060 */
		return RDMA2_OK;

	ret = decode_propdata(&val, r, p, len);
	if (ret)
		return ret;
	if (len > rpcrdma2_prop_rows[r].row_size)
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

static enum rpcrdma2_errcode decode_propset(struct rpcrdma2_propset *ps,
					    bool first, struct xdr_stream *xdr)
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
		ret = decode_propval(ps, i, first, xdr);
		if (ret)
			return ret;
	}
	return RDMA2_OK;
}

/* Rows of @ps whose bits are set in @bits, word @word of a bitmap (S04) */
static u32 subset_rows(const struct rpcrdma2_propset *ps, u32 word, u32 bits)
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
static enum rpcrdma2_errcode decode_subset(u32 *rows,
					   const struct rpcrdma2_propset *ps,
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
			*rows |= subset_rows(ps, word, be32_to_cpup(p));
	}
	return RDMA2_OK;
}

static enum rpcrdma2_errcode decode_propbody(struct rpcrdma2_propmsg *pm,
					     struct xdr_stream *xdr)
{
	enum rpcrdma2_errcode ret;

	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		ret = decode_propset(&pm->pm_set, false, xdr);
		if (ret)
			return ret;
		return decode_subset(&pm->pm_nochg, &pm->pm_set, xdr);
	case RDMA2_OPT_REQPROP:
		return decode_propset(&pm->pm_set, true, xdr);
	case RDMA2_OPT_RESPROP:
		ret = decode_subset(&pm->pm_done, pm->pm_want, xdr);
		if (ret)
			return ret;
		ret = decode_subset(&pm->pm_rejected, pm->pm_want, xdr);
		if (ret)
			return ret;
		return decode_propset(&pm->pm_set, false, xdr);
	case RDMA2_OPT_UPDPROP:
		return decode_propset(&pm->pm_set, false, xdr);
	default:
		return RDMA2_ERR_INVALID_OPTION; /* C-012 */
	}
}

enum rpcrdma2_errcode rpcrdma2_decode_propmsg(struct rpcrdma2_propmsg *pm,
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
	return decode_propbody(pm, &xdr);
}
EXPORT_SYMBOL_GPL(rpcrdma2_decode_propmsg);

/*
 * Word @word of the bitmap of what is left when @rows of @ps are taken, or of
 * what is taken.
 */
static u32 subset_taken(const struct rpcrdma2_propset *ps, u32 rows, u32 word)
{
	unsigned int r;
	u32 bits = 0;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rows & ps->ps_rows & BIT(r) && ps->ps_index[r] / 32 == word)
			bits |= BIT(ps->ps_index[r] % 32);
	return bits;
}

static u32 subset_left(const struct rpcrdma2_propset *ps, u32 rows, u32 word)
{
	u32 left = ps->ps_count - word * 32;
	u32 all = left < 32 ? BIT(left) - 1 : U32_MAX;

	return all & ~subset_taken(ps, rows, word);
}

typedef u32 (*subset_fn)(const struct rpcrdma2_propset *ps, u32 rows,
			 u32 word);

/* Words of a bitmap, trailing zeroes left out (C-022) */
static u32 subset_words(const struct rpcrdma2_propset *ps, u32 rows,
			subset_fn bits)
{
	u32 words = DIV_ROUND_UP(ps->ps_count, 32);

	while (words && !bits(ps, rows, words - 1))
		words--;
	return words;
}

static size_t subset_size(const struct rpcrdma2_propset *ps, u32 rows,
			  subset_fn bits)
{
	return XDR_UNIT + subset_words(ps, rows, bits) * XDR_UNIT;
}

static __be32 *encode_subset(__be32 *p, const struct rpcrdma2_propset *ps,
			     u32 rows, subset_fn bits)
{
	u32 words = subset_words(ps, rows, bits);
	u32 word;

	*p++ = cpu_to_be32(words);
	for (word = 0; word < words; word++)
		*p++ = cpu_to_be32(bits(ps, rows, word));
	return p;
}

static size_t propset_size(const struct rpcrdma2_propset *ps)
{
	size_t size = XDR_UNIT;
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (ps->ps_rows & BIT(r))
			size += RPCRDMA2_PROPVAL_MIN +
				rpcrdma2_prop_rows[r].row_size;
	return size;
}

/* In the order of the table; S12: each once, with its exact length */
static __be32 *encode_propset(__be32 *p, const struct rpcrdma2_propset *ps)
{
	const struct rpcrdma2_prop_row *row;
	const u32 *value;
	unsigned int r, i;

	*p++ = cpu_to_be32(hweight32(ps->ps_rows));
	for (r = 0; r < RPCRDMA2_NPROPS; r++) {
		if (!(ps->ps_rows & BIT(r)))
			continue;
		row = &rpcrdma2_prop_rows[r];
		value = rpcrdma2_prop_value_const(&ps->ps_val, r);
		*p++ = cpu_to_be32(row->row_which);
		*p++ = cpu_to_be32(row->row_size);
		for (i = 0; i < row->row_size / XDR_UNIT; i++)
			*p++ = cpu_to_be32(value[i]);
	}
	return p;
}

size_t rpcrdma2_propmsg_size(const struct rpcrdma2_propmsg *pm)
{
	const struct rpcrdma2_propset *ps = &pm->pm_set;
	size_t size = propset_size(ps);

	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		return size + subset_size(ps, pm->pm_nochg, subset_taken);
	case RDMA2_OPT_RESPROP:
		return size +
		       subset_size(pm->pm_want, pm->pm_done, subset_taken) +
		       subset_size(pm->pm_want, pm->pm_done | ps->ps_rows,
				   subset_left);
	default:
		return size;
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_propmsg_size);

static void encode_propbody(__be32 *p, const struct rpcrdma2_propmsg *pm)
{
	const struct rpcrdma2_propset *ps = &pm->pm_set;

	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		p = encode_propset(p, ps);
		encode_subset(p, ps, pm->pm_nochg, subset_taken);
		break;
	case RDMA2_OPT_RESPROP: /* C-057: disjoint, and all of them */
		p = encode_subset(p, pm->pm_want, pm->pm_done, subset_taken);
		p = encode_subset(p, pm->pm_want, pm->pm_done | ps->ps_rows,
				  subset_left);
		encode_propset(p, ps);
		break;
	default:
		encode_propset(p, ps);
		break;
	}
}

/* C-055, C-057: an answer is made of what was asked, and of nothing twice */
static bool propmsg_sendable(const struct rpcrdma2_propmsg *pm)
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

int rpcrdma2_encode_propmsg(struct xdr_stream *xdr, struct rpcrdma2_hdr *h,
			    const struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_propmsg out = *pm;
	size_t size;
	__be32 *p;
	int ret;

	if (!propmsg_sendable(pm))
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
	encode_propbody(p, &out);
	return 0;
}
EXPORT_SYMBOL_GPL(rpcrdma2_encode_propmsg);

void rpcrdma2_answer_reqprop(struct rpcrdma2_propmsg *pm,
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
		row = &rpcrdma2_prop_rows[r];
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
EXPORT_SYMBOL_GPL(rpcrdma2_answer_reqprop);

u32 rpcrdma2_apply_resprop(struct rpcrdma2_peer_props *pp,
			   const struct rpcrdma2_propmsg *pm)
{
	u32 done = pm->pm_done & ~pm->pm_rejected & ~pm->pm_set.ps_rows;
	u32 other = pm->pm_set.ps_rows & ~pm->pm_rejected & ~pm->pm_done;

	if (!pm->pm_want)
		return 0;
	other &= pm->pm_want->ps_rows; /* as the bitmaps are by nature */
	rpcrdma2_props_copy(&pp->pp_now, &pm->pm_want->ps_val, done);
	rpcrdma2_props_copy(&pp->pp_now, &pm->pm_set.ps_val, other);
	return done | other;
}
EXPORT_SYMBOL_GPL(rpcrdma2_apply_resprop);
