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
static bool decode_propdata(const struct rpcrdma2_prop_row *row, u32 *value,
			    const __be32 *data, u32 len)
{
	unsigned int w;

	memcpy(value, row->row_default, sizeof(row->row_default));
	if (!len)
		return true;
	if (len < row->row_words * XDR_UNIT)
		return false;
	for (w = 0; w < row->row_words; w++)
		value[w] = be32_to_cpup(data + w);
	return row->row_valid(value);
}

/* C-016: rdma_which, and @len octets of rdma_data; NULL when they are not there */
static const __be32 *take_propval(struct rpcrdma2_cursor *cu, u32 *which,
				  u32 *len)
{
	const __be32 *p = rpcrdma2_take(cu, XDR_UNIT);

	if (!p || !rpcrdma2_take_count(cu, 1, len))
		return NULL;
	*which = be32_to_cpup(p);
	return rpcrdma2_take(cu, *len);
}

/*
 * 2.6: does a set of @count elements have the mark? It may stand behind what
 * counts only beside it (C-021). Of duplicates the last one counts (S12).
 */
static bool finds_mark(struct rpcrdma2_cursor cu, u32 count)
{
	const struct rpcrdma2_prop_row *row =
		&rpcrdma2_prop_rows[RPCRDMA2_PROP_X_MARK];
	struct rpcrdma2_props pr = { };
	const __be32 *data;
	u32 which, len;

	for (; count; count--) {
		data = take_propval(&cu, &which, &len);
		if (!data)
			return false;
		if (which == row->row_which)
			decode_propdata(row, pr.pr_mark, data, len);
	}
	return rpcrdma2_props_marked(&pr);
}

/*
 * Element @index of the set. S12: of duplicates the last one counts, but in a
 * REQPROP the first. False when it is malformed.
 */
static bool decode_propval(struct rpcrdma2_propset *ps, u32 index, bool first,
			   u32 known, struct rpcrdma2_cursor *cu)
{
	u32 value[RPCRDMA2_PROP_WORDS], which, len;
	enum rpcrdma2_prop r;
	const __be32 *data;

	data = take_propval(cu, &which, &len);
	if (!data)
		return false;
	r = rpcrdma2_prop_find(which);
	if (!(known & BIT(r))) /* C-019, C-060 */
		return true;

	if (!decode_propdata(&rpcrdma2_prop_rows[r], value, data, len))
		return false;
	if (len > rpcrdma2_prop_size(r))
		ps->ps_odd++;
	if (ps->ps_rows & BIT(r)) {
		ps->ps_odd++;
		if (first)
			return true;
	}
	ps->ps_rows |= BIT(r);
	ps->ps_index[r] = index;
	memcpy(rpcrdma2_prop_words(&ps->ps_val, r), value,
	       rpcrdma2_prop_size(r));
	return true;
}

/* The set of @pm, whose pm_type is known */
static bool decode_propset(struct rpcrdma2_propmsg *pm,
			   struct rpcrdma2_cursor *cu)
{
	bool first = pm->pm_type == RDMA2_OPT_REQPROP;
	struct rpcrdma2_propset *ps = &pm->pm_set;
	u32 known = RPCRDMA2_PROPS_ALL, i;

	memset(ps, 0, sizeof(*ps));
	if (!rpcrdma2_take_count(cu, RPCRDMA2_PROPVAL_MIN, &ps->ps_count))
		return false;
	if (!pm->pm_marked && (first || !finds_mark(*cu, ps->ps_count)))
		known &= ~RPCRDMA2_PROPS_MARKED;
	for (i = 0; i < ps->ps_count; i++)
		if (!decode_propval(ps, i, first, known, cu))
			return false;
	return true;
}

/* Rows of @ps whose bits are set in a bitmap of @count words (S04) */
static u32 subset_rows(const struct rpcrdma2_propset *ps, const __be32 *bitmap,
		       u32 count)
{
	unsigned int r;
	u32 rows = 0;

	for (r = 0; r < RPCRDMA2_NPROPS; r++) {
		u32 word = ps->ps_index[r] / 32;

		if (ps->ps_rows & BIT(r) && word < count &&
		    be32_to_cpup(bitmap + word) & BIT(ps->ps_index[r] % 32))
			rows |= BIT(r);
	}
	return rows;
}

/*
 * C-022, S17: words left out are zero, bits beyond the set mean nothing. @ps
 * may be NULL, then all are beyond.
 */
static bool decode_subset(u32 *rows, const struct rpcrdma2_propset *ps,
			  struct rpcrdma2_cursor *cu)
{
	const __be32 *bitmap;
	u32 count;

	if (!rpcrdma2_take_count(cu, XDR_UNIT, &count))
		return false;
	bitmap = rpcrdma2_take(cu, count * XDR_UNIT);
	*rows = ps ? subset_rows(ps, bitmap, count) : 0;
	return true;
}

enum rpcrdma2_errcode rpcrdma2_decode_propmsg(struct rpcrdma2_propmsg *pm,
					      const struct rpcrdma2_hdr *h,
					      const void *base)
{
	struct rpcrdma2_cursor cu = { base + h->h_optoff, h->h_optlen };
	struct rpcrdma2_propset *ps = &pm->pm_set;
	bool good;

	pm->pm_type = h->h_opttype;
	pm->pm_nochg = 0;
	pm->pm_done = 0;
	pm->pm_rejected = 0;
	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		good = decode_propset(pm, &cu) &&
		       decode_subset(&pm->pm_nochg, ps, &cu);
		break;
	case RDMA2_OPT_RESPROP:
		good = decode_subset(&pm->pm_done, pm->pm_want, &cu) &&
		       decode_subset(&pm->pm_rejected, pm->pm_want, &cu) &&
		       decode_propset(pm, &cu);
		break;
	case RDMA2_OPT_REQPROP:
		good = decode_propset(pm, &cu);
		if (good && ps->ps_count > RPCRDMA2_WISHES_MAX)
			return RDMA2_ERR_SYSTEM; /* S53 */
		break;
	case RDMA2_OPT_UPDPROP:
		good = decode_propset(pm, &cu);
		break;
	default:
		return RDMA2_ERR_INVALID_OPTION; /* C-012 */
	}
	return good ? RDMA2_OK : RDMA2_ERR_BAD_XDR;
}
EXPORT_SYMBOL_GPL(rpcrdma2_decode_propmsg);

/**
 * struct sheet - a message in the making
 * @words: where it is laid out
 * @room: words that there are
 * @count: words that it has, more than @room when it does not fit
 */
struct sheet {
	__be32	*words;
	size_t	room;
	size_t	count;
};

static void put(struct sheet *sh, u32 word)
{
	if (sh->count < sh->room)
		sh->words[sh->count] = cpu_to_be32(word);
	sh->count++;
}

/*
 * Word @word of the bitmap of @rows of @ps; with @others, of all elements but
 * these, whether they have a row or not.
 */
static u32 subset_word(const struct rpcrdma2_propset *ps, u32 rows, bool others,
		       u32 word)
{
	u32 left = ps->ps_count - word * 32, bits = 0;
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rows & ps->ps_rows & BIT(r) && ps->ps_index[r] / 32 == word)
			bits |= BIT(ps->ps_index[r] % 32);
	if (others)
		bits = ~bits & (left < 32 ? BIT(left) - 1 : U32_MAX);
	return bits;
}

/* Trailing words of zero are left out (C-022). */
static void encode_subset(struct sheet *sh, const struct rpcrdma2_propset *ps,
			  u32 rows, bool others)
{
	u32 words = DIV_ROUND_UP(ps->ps_count, 32), word;

	while (words && !subset_word(ps, rows, others, words - 1))
		words--;
	put(sh, words);
	for (word = 0; word < words; word++)
		put(sh, subset_word(ps, rows, others, word));
}

/* In the order of the table; S12: each once, with its exact length */
static void encode_propset(struct sheet *sh, const struct rpcrdma2_propset *ps)
{
	unsigned int r, w;

	put(sh, hweight32(ps->ps_rows));
	for (r = 0; r < RPCRDMA2_NPROPS; r++) {
		if (!(ps->ps_rows & BIT(r)))
			continue;
		put(sh, rpcrdma2_prop_rows[r].row_which);
		put(sh, rpcrdma2_prop_size(r));
		for (w = 0; w < rpcrdma2_prop_rows[r].row_words; w++)
			put(sh, rpcrdma2_prop_get(&ps->ps_val, r)[w]);
	}
}

static void encode_propbody(struct sheet *sh, const struct rpcrdma2_propmsg *pm)
{
	const struct rpcrdma2_propset *ps = &pm->pm_set;

	if (pm->pm_type == RDMA2_OPT_RESPROP) { /* C-057: disjoint, and whole */
		encode_subset(sh, pm->pm_want, pm->pm_done, false);
		encode_subset(sh, pm->pm_want, pm->pm_done | ps->ps_rows, true);
	}
	encode_propset(sh, ps);
	if (pm->pm_type == RDMA2_OPT_CONNPROP)
		encode_subset(sh, ps, pm->pm_nochg, false);
}

/* C-055, C-057: an answer has rows of the REQPROP alone, and each once */
static bool propmsg_sendable(const struct rpcrdma2_propmsg *pm)
{
	u32 rows = pm->pm_set.ps_rows;

	if (pm->pm_type == RDMA2_OPT_RESPROP)
		return pm->pm_want && !(rows & pm->pm_done) &&
		       !((rows | pm->pm_done) & ~pm->pm_want->ps_rows);
	return rpcrdma2_opt_is_property(pm->pm_type);
}

int rpcrdma2_encode_propmsg(void *to, size_t room, struct rpcrdma2_hdr *h,
			    const struct rpcrdma2_propmsg *pm)
{
	struct sheet sh = { .words = to, .room = room / XDR_UNIT };
	size_t hdrlen;
	int ret;

	if (!propmsg_sendable(pm))
		return -EINVAL;
	rpcrdma2_hdr_begin(h, h->h_xid, RPCRDMA2_VERS_TWO, h->h_credit,
			   h->h_proc == RDMA2_OPTIONAL ? RDMA2_OPTIONAL :
			   RDMA2_CONNPROP + pm->pm_type - RDMA2_OPT_CONNPROP,
			   rpcrdma2_property_direction(pm->pm_type));
	hdrlen = rpcrdma2_hdr_size(h);

	sh.count = hdrlen / XDR_UNIT;
	encode_propbody(&sh, pm);
	if (sh.count > sh.room)
		return -EMSGSIZE;
	h->h_opttype = pm->pm_type;
	h->h_optlen = sh.count * XDR_UNIT - hdrlen;
	ret = rpcrdma2_encode_hdr(to, h);
	return ret < 0 ? ret : ret + h->h_optlen;
}
EXPORT_SYMBOL_GPL(rpcrdma2_encode_propmsg);

void rpcrdma2_answer_reqprop(struct rpcrdma2_propmsg *pm,
			     const struct rpcrdma2_propset *want,
			     struct rpcrdma2_props *now,
			     const struct rpcrdma2_props *able)
{
	const struct rpcrdma2_prop_row *row = rpcrdma2_prop_rows;
	const struct rpcrdma2_props *wanted = &want->ps_val;
	struct rpcrdma2_props other = *now;
	u32 done = 0, rows = 0, value;
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++, row++) {
		if (!(want->ps_rows & BIT(r)))
			continue;
		switch (row->row_wish(*rpcrdma2_prop_get(wanted, r),
				      *rpcrdma2_prop_get(now, r),
				      *rpcrdma2_prop_get(able, r), &value)) {
		case RPCRDMA2_WISH_DONE:
			done |= BIT(r);
			break;
		case RPCRDMA2_WISH_OTHER:
			rows |= BIT(r);
			*rpcrdma2_prop_words(&other, r) = value;
			break;
		case RPCRDMA2_WISH_REJECTED:
			break;
		}
	}
	*pm = (struct rpcrdma2_propmsg){
		.pm_type = RDMA2_OPT_RESPROP,
		.pm_done = done,
		.pm_want = want,
	};
	rpcrdma2_propset_init(&pm->pm_set, rows, &other);
	rpcrdma2_props_copy(now, wanted, done);
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
