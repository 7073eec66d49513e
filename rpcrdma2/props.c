// SPDX-License-Identifier: GPL-2.0
/* Transport properties of version 2. Nothing here touches a device. */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include <asm/barrier.h>

#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

#include "core.h"

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

/**
 * struct rpcrdma2_prop_row - one property
 * @row_which: rpcrdma2_propid
 * @row_at: index of its first word in struct rpcrdma2_props
 * @row_words: number of words
 * @row_change: whether it may change
 * @row_most: largest first word. An unusual but possible value is well-formed,
 *	and handled where it is used (S13)
 * @row_default: value of a peer that has announced none
 */
struct rpcrdma2_prop_row {
	u32				row_which;
	u8				row_at;
	u8				row_words;
	enum rpcrdma2_prop_change	row_change;
	u32				row_most;
	u32				row_default[RPCRDMA2_PROP_WORDS];
};

#define PROP_ROW(_id, _field, _change, _most, ...)			\
	[RPCRDMA2_PROP_##_id] = {					\
		.row_which	= RDMA2_PROPID_##_id,			\
		.row_at		= offsetof(struct rpcrdma2_props,	\
					   pr_##_field) / sizeof(u32),	\
		.row_words	= sizeof_field(struct rpcrdma2_props,	\
					       pr_##_field) / sizeof(u32), \
		.row_change	= RPCRDMA2_CHANGE_##_change,		\
		.row_most	= _most,				\
		.row_default	= { __VA_ARGS__ },			\
	},

static const struct rpcrdma2_prop_row rpcrdma2_prop_rows[] = {
	RPCRDMA2_PROPERTIES(PROP_ROW)
};

/* The words of a value */
static const u32 *rpcrdma2_prop_get(const struct rpcrdma2_props *pr,
				    enum rpcrdma2_prop r)
{
	return (const u32 *)pr + rpcrdma2_prop_rows[r].row_at;
}

/* Bytes of a value */
static size_t rpcrdma2_prop_size(enum rpcrdma2_prop r)
{
	return rpcrdma2_prop_rows[r].row_words * sizeof(u32);
}

/* The server's callbacks read values without a lock. */
static void rpcrdma2_prop_set(struct rpcrdma2_props *pr, enum rpcrdma2_prop r,
			      const u32 *value)
{
	u32 *words = (u32 *)pr + rpcrdma2_prop_rows[r].row_at;
	unsigned int w;

	for (w = 0; w < rpcrdma2_prop_rows[r].row_words; w++)
		WRITE_ONCE(words[w], value[w]);
}

static void rpcrdma2_props_copy(struct rpcrdma2_props *to,
				const struct rpcrdma2_props *from, u32 rows)
{
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rows & BIT(r))
			rpcrdma2_prop_set(to, r, rpcrdma2_prop_get(from, r));
}

void rpcrdma2_props_default(struct rpcrdma2_props *pr)
{
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		rpcrdma2_prop_set(pr, r, rpcrdma2_prop_rows[r].row_default);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_props_default);

bool rpcrdma2_props_marked(const struct rpcrdma2_props *pr)
{
	static const u32 mark[] = RPCRDMA2_MARK;

	return !memcmp(pr->pr_mark, mark, sizeof(mark));
}
EXPORT_SYMBOL_GPL(rpcrdma2_props_marked);

/*
 * The property messages on the wire. A message is decoded to its end before any
 * of it is applied (S11); an unknown property only has an index (C-019).
 */

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

/* Empty data is the default, excess data is cut (C-017, C-018, C-020, S12). */
static bool rpcrdma2_decode_propdata(const struct rpcrdma2_prop_row *row,
				     u32 *value, const __be32 *data, u32 len)
{
	unsigned int w;

	memcpy(value, row->row_default, sizeof(row->row_default));
	if (!len)
		return true;
	if (len < row->row_words * XDR_UNIT)
		return false;
	for (w = 0; w < row->row_words; w++)
		value[w] = be32_to_cpup(data + w);
	return value[0] <= row->row_most;
}

/* Read rdma_which and @len bytes of rdma_data (C-016), or return NULL. */
static const __be32 *rpcrdma2_decode_propelem(struct rpcrdma2_cursor *cu,
					      u32 *which, u32 *len)
{
	const __be32 *p = rpcrdma2_take(cu, XDR_UNIT);

	if (!p || !rpcrdma2_take_count(cu, 1, len))
		return NULL;
	*which = be32_to_cpup(p);
	return rpcrdma2_take(cu, *len);
}

/*
 * Whether a set of @count elements has the mark (2.6), which may follow the
 * properties that depend on it (C-021). The last of duplicates counts (S12).
 */
static bool rpcrdma2_propset_has_mark(struct rpcrdma2_cursor cu, u32 count)
{
	const struct rpcrdma2_prop_row *row =
		&rpcrdma2_prop_rows[RPCRDMA2_PROP_X_MARK];
	struct rpcrdma2_props pr = { };
	const __be32 *data;
	u32 which, len;

	for (; count; count--) {
		data = rpcrdma2_decode_propelem(&cu, &which, &len);
		if (!data)
			return false;
		if (which == row->row_which)
			rpcrdma2_decode_propdata(row, pr.pr_mark, data, len);
	}
	return rpcrdma2_props_marked(&pr);
}

/*
 * Decode element @index of the set. The last of duplicates counts, but in a
 * REQPROP the first (S12). Return: false if the element is malformed.
 */
static bool rpcrdma2_decode_propval(struct rpcrdma2_propset *ps, u32 index,
				    bool first, u32 known,
				    struct rpcrdma2_cursor *cu)
{
	u32 value[RPCRDMA2_PROP_WORDS], which, len;
	unsigned int r = 0;
	const __be32 *data;

	data = rpcrdma2_decode_propelem(cu, &which, &len);
	if (!data)
		return false;
	/* ids are not dense (C-108) */
	while (r < RPCRDMA2_NPROPS && rpcrdma2_prop_rows[r].row_which != which)
		r++;
	if (!(known & BIT(r))) /* unknown (C-019, C-060) */
		return true;

	if (!rpcrdma2_decode_propdata(&rpcrdma2_prop_rows[r], value, data, len))
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
	rpcrdma2_prop_set(&ps->ps_val, r, value);
	return true;
}

/* Decode the set of @pm, whose pm_type is known */
static bool rpcrdma2_decode_propset(struct rpcrdma2_propmsg *pm,
				    struct rpcrdma2_cursor *cu)
{
	bool first = pm->pm_type == RDMA2_OPT_REQPROP;
	struct rpcrdma2_propset *ps = &pm->pm_set;
	u32 known = RPCRDMA2_PROPS_ALL, i;

	memset(ps, 0, sizeof(*ps));
	if (!rpcrdma2_take_count(cu, RPCRDMA2_PROPVAL_MIN, &ps->ps_count))
		return false;
	if (!pm->pm_marked &&
	    (first || !rpcrdma2_propset_has_mark(*cu, ps->ps_count)))
		known &= ~RPCRDMA2_PROPS_MARKED;
	for (i = 0; i < ps->ps_count; i++)
		if (!rpcrdma2_decode_propval(ps, i, first, known, cu))
			return false;
	return true;
}

/* Rows of @ps whose bits are set in a bitmap of @count words (S04) */
static u32 rpcrdma2_subset_rows(const struct rpcrdma2_propset *ps,
				const __be32 *bitmap, u32 count)
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
 * Omitted words are zero, and bits beyond the set are ignored (C-022, S17): all
 * bits if @ps is NULL.
 */
static bool rpcrdma2_decode_subset(u32 *rows, const struct rpcrdma2_propset *ps,
				   struct rpcrdma2_cursor *cu)
{
	const __be32 *bitmap;
	u32 count;

	if (!rpcrdma2_take_count(cu, XDR_UNIT, &count))
		return false;
	bitmap = rpcrdma2_take(cu, count * XDR_UNIT);
	*rows = ps ? rpcrdma2_subset_rows(ps, bitmap, count) : 0;
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
		good = rpcrdma2_decode_propset(pm, &cu) &&
		       rpcrdma2_decode_subset(&pm->pm_nochg, ps, &cu);
		break;
	case RDMA2_OPT_RESPROP:
		good = rpcrdma2_decode_subset(&pm->pm_done, pm->pm_want, &cu) &&
		       rpcrdma2_decode_subset(&pm->pm_rejected, pm->pm_want,
					      &cu) &&
		       rpcrdma2_decode_propset(pm, &cu);
		break;
	case RDMA2_OPT_REQPROP:
		good = rpcrdma2_decode_propset(pm, &cu);
		if (good && ps->ps_count > RPCRDMA2_REQPROP_MAX)
			return RDMA2_ERR_SYSTEM; /* too many (S53) */
		break;
	case RDMA2_OPT_UPDPROP:
		good = rpcrdma2_decode_propset(pm, &cu);
		break;
	default:
		return RDMA2_ERR_INVALID_OPTION; /* unknown opttype (C-012) */
	}
	return good ? RDMA2_OK : RDMA2_ERR_BAD_XDR;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_decode_propmsg);

/* A message under construction, in words: @count > @room if it does not fit */
struct sheet {
	__be32	*words;
	size_t	room;
	size_t	count;
};

static void rpcrdma2_propmsg_put(struct sheet *sh, u32 word)
{
	if (sh->count < sh->room)
		sh->words[sh->count] = cpu_to_be32(word);
	sh->count++;
}

/* Word @word of the bitmap of @rows, or with @others of all other elements */
static u32 rpcrdma2_subset_word(const struct rpcrdma2_propset *ps, u32 rows,
				bool others, u32 word)
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

/* Trailing zero words are omitted (C-022). */
static void rpcrdma2_encode_subset(struct sheet *sh,
				   const struct rpcrdma2_propset *ps, u32 rows,
				   bool others)
{
	u32 words = DIV_ROUND_UP(ps->ps_count, 32), word;

	while (words && !rpcrdma2_subset_word(ps, rows, others, words - 1))
		words--;
	rpcrdma2_propmsg_put(sh, words);
	for (word = 0; word < words; word++)
		rpcrdma2_propmsg_put(sh, rpcrdma2_subset_word(ps, rows, others,
							      word));
}

/* In table order, without duplicates and with exact lengths (S12) */
static void rpcrdma2_encode_propset(struct sheet *sh,
				    const struct rpcrdma2_propset *ps)
{
	unsigned int r, w;

	rpcrdma2_propmsg_put(sh, hweight32(ps->ps_rows));
	for (r = 0; r < RPCRDMA2_NPROPS; r++) {
		if (!(ps->ps_rows & BIT(r)))
			continue;
		rpcrdma2_propmsg_put(sh, rpcrdma2_prop_rows[r].row_which);
		rpcrdma2_propmsg_put(sh, rpcrdma2_prop_size(r));
		for (w = 0; w < rpcrdma2_prop_rows[r].row_words; w++)
			rpcrdma2_propmsg_put(sh, rpcrdma2_prop_get(&ps->ps_val,
								   r)[w]);
	}
}

int rpcrdma2_encode_propmsg(void *to, size_t room, u32 credit,
			    const struct rpcrdma2_propmsg *pm)
{
	struct sheet sh = { .words = to, .room = room / XDR_UNIT };
	const struct rpcrdma2_propset *ps = &pm->pm_set;
	size_t body;

	rpcrdma2_propmsg_put(&sh, pm->pm_xid);
	rpcrdma2_propmsg_put(&sh, RPCRDMA2_VERS_TWO);
	rpcrdma2_propmsg_put(&sh, credit);
	if (pm->pm_option) {
		rpcrdma2_propmsg_put(&sh, RDMA2_OPTIONAL);
		rpcrdma2_propmsg_put(&sh, rpcrdma2_property_direction(pm->pm_type));
		rpcrdma2_propmsg_put(&sh, pm->pm_type);
		rpcrdma2_propmsg_put(&sh, 0);
	} else {
		rpcrdma2_propmsg_put(&sh, RDMA2_CONNPROP + pm->pm_type -
					  RDMA2_OPT_CONNPROP);
	}
	body = sh.count;
	if (pm->pm_type == RDMA2_OPT_RESPROP) { /* C-057: disjoint, and whole */
		rpcrdma2_encode_subset(&sh, pm->pm_want, pm->pm_done, false);
		rpcrdma2_encode_subset(&sh, pm->pm_want,
				       pm->pm_done | ps->ps_rows, true);
	}
	rpcrdma2_encode_propset(&sh, ps);
	if (pm->pm_type == RDMA2_OPT_CONNPROP)
		rpcrdma2_encode_subset(&sh, ps, pm->pm_nochg, false);
	if (sh.count > sh.room)
		return -EMSGSIZE;
	if (pm->pm_option)
		sh.words[body - 1] = cpu_to_be32((sh.count - body) * XDR_UNIT);
	return sh.count * XDR_UNIT;
}
EXPORT_SYMBOL_GPL(rpcrdma2_encode_propmsg);

/* The exchange of property messages */

void rpcrdma2_exchange_init(struct rpcrdma2_exchange *ex,
			    const struct rpcrdma2_props_ops *ops,
			    bool responder)
{
	static const struct rpcrdma2_props own = {
		.pr_mark = RPCRDMA2_MARK,
	};

	*ex = (struct rpcrdma2_exchange){
		.ex_ops		= ops,
		.ex_supported	= own,
		.ex_responder	= responder,
	};
	rpcrdma2_props_default(&ex->ex_peer.pp_now);
	rpcrdma2_props_default(&ex->ex_announced);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_init);

/*
 * Whether a requester takes the size of this responder's Receives for that of
 * its Sends (S14): X_SBSIZ was not announced to it, and is not if its mark comes
 * late, because the responder's own mark is announced once (C-059)
 */
static bool rpcrdma2_exchange_is_assumed(const struct rpcrdma2_exchange *ex)
{
	return ex->ex_responder && !ex->ex_marked;
}

/* The properties to announce: Receives no larger than the Sends, if need be */
static struct rpcrdma2_props
rpcrdma2_exchange_limit_sbsiz(const struct rpcrdma2_exchange *ex)
{
	struct rpcrdma2_props pr = ex->ex_supported;

	if (rpcrdma2_exchange_is_assumed(ex))
		pr.pr_rbsiz = min(pr.pr_rbsiz, pr.pr_sbsiz);
	return pr;
}

void rpcrdma2_exchange_announce(struct rpcrdma2_exchange *ex, u32 rows,
				struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_props own;
	unsigned int r;

	/* for this peer their ids may belong to another extension (C-060) */
	if (ex->ex_responder && !rpcrdma2_props_marked(&ex->ex_peer.pp_now))
		rows &= ~RPCRDMA2_PROPS_MARKED;
	ex->ex_marked = rows & RPCRDMA2_PROPS_MARKED;
	own = rpcrdma2_exchange_limit_sbsiz(ex);
	*pm = (struct rpcrdma2_propmsg){ .pm_type = RDMA2_OPT_CONNPROP };
	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rpcrdma2_prop_rows[r].row_change == RPCRDMA2_CHANGE_NEVER)
			pm->pm_nochg |= BIT(r);
	rpcrdma2_props_copy(&ex->ex_announced, &own, RPCRDMA2_PROPS_ALL);
	/* Pairs with xprt2_negotiate_message(), which has no lock */
	smp_store_release(&ex->ex_connprop_sent, true);
	if (!ex->ex_responder)
		ex->ex_sent = RDMA2_OPT_CONNPROP;
	rpcrdma2_propset_init(&pm->pm_set, rows, &ex->ex_announced);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_announce);

void rpcrdma2_exchange_resize(struct rpcrdma2_exchange *ex, u32 recv, u32 send)
{
	ex->ex_supported.pr_rbsiz = recv;
	if (ex->ex_supported.pr_sbsiz == send)
		return;
	ex->ex_supported.pr_sbsiz = send;
	ex->ex_request = send;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_resize);

/* Whether to request another RBSIZ; the peer permits it (C-047, S16). */
static bool rpcrdma2_exchange_has_request(const struct rpcrdma2_exchange *ex)
{
	const struct rpcrdma2_peer_props *peer = &ex->ex_peer;

	return ex->ex_request && ex->ex_request != peer->pp_now.pr_rbsiz &&
	       peer->pp_changeable & BIT(RPCRDMA2_PROP_RBSIZ) &&
	       !(ex->ex_unsupported & BIT(RDMA2_OPT_REQPROP));
}

/*
 * Whether a request for a smaller size would follow the previous request too
 * soon: the peer may reject it (S53). The peer received the previous one before
 * it answered, so the interval counts from the answer.
 */
static bool rpcrdma2_request_is_early(const struct rpcrdma2_exchange *ex,
				      unsigned long now)
{
	return ex->ex_reqprop_sent &&
	       now - ex->ex_reqprop_at < RPCRDMA2_REQUEST_INTERVAL &&
	       ex->ex_request < max(ex->ex_peer.pp_now.pr_rbsiz,
				    ex->ex_requested.ps_val.pr_rbsiz);
}

/*
 * Rows to announce in an UPDPROP, for the values @now in force (C-059). A
 * property that never changes is not announced again, and one that is lowered
 * only at the peer's request is announced when it is higher (C-027, C-032,
 * C-033, C-045).
 */
static u32 rpcrdma2_exchange_updates(const struct rpcrdma2_exchange *ex,
				     const struct rpcrdma2_props *now)
{
	u32 known = RPCRDMA2_PROPS_ALL, rows = 0;
	unsigned int r;

	if (ex->ex_unsupported & BIT(RDMA2_OPT_UPDPROP))
		return 0;
	if (!ex->ex_marked || !rpcrdma2_props_marked(&ex->ex_peer.pp_now))
		known &= ~RPCRDMA2_PROPS_MARKED;
	for (r = 0; r < RPCRDMA2_NPROPS; r++) {
		enum rpcrdma2_prop_change change = rpcrdma2_prop_rows[r].row_change;
		const u32 *old = rpcrdma2_prop_get(&ex->ex_announced, r);
		const u32 *new = rpcrdma2_prop_get(now, r);

		if (change != RPCRDMA2_CHANGE_NEVER &&
		    (change == RPCRDMA2_CHANGE_FREE || *new > *old) &&
		    memcmp(new, old, rpcrdma2_prop_size(r)))
			rows |= BIT(r);
	}
	return rows & known;
}

/* Whether Sends get smaller, while the peer expects larger Replies (S14) */
static bool rpcrdma2_exchange_lowers_sends(const struct rpcrdma2_exchange *ex)
{
	return ex->ex_supported.pr_sbsiz < ex->ex_announced.pr_sbsiz &&
	       rpcrdma2_exchange_updates(ex, &ex->ex_supported) &
		       BIT(RPCRDMA2_PROP_X_SBSIZ);
}

static bool rpcrdma2_exchange_may_send(const struct rpcrdma2_exchange *ex)
{
	return ex->ex_connprop_sent && ex->ex_peer.pp_announced;
}

bool rpcrdma2_exchange_busy(const struct rpcrdma2_exchange *ex)
{
	const struct rpcrdma2_props now = rpcrdma2_exchange_limit_sbsiz(ex);

	return ex->ex_sent || (rpcrdma2_exchange_may_send(ex) &&
			       (rpcrdma2_exchange_has_request(ex) ||
				rpcrdma2_exchange_updates(ex, &now)));
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_busy);

/* Make the message that is due now. Return: false if there is none. */
static bool rpcrdma2_exchange_next(struct rpcrdma2_exchange *ex,
				   unsigned long now,
				   struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_props own = rpcrdma2_exchange_limit_sbsiz(ex);

	if (ex->ex_sent || !rpcrdma2_exchange_may_send(ex))
		return false;
	*pm = (struct rpcrdma2_propmsg){ };
	if (rpcrdma2_exchange_has_request(ex) &&
	    !rpcrdma2_exchange_lowers_sends(ex) &&
	    !rpcrdma2_request_is_early(ex, now)) {
		own.pr_rbsiz = ex->ex_request;
		rpcrdma2_propset_init(&ex->ex_requested,
				      BIT(RPCRDMA2_PROP_RBSIZ), &own);
		pm->pm_type = RDMA2_OPT_REQPROP;
		pm->pm_set = ex->ex_requested;
	} else {
		pm->pm_type = RDMA2_OPT_UPDPROP;
		rpcrdma2_propset_init(&pm->pm_set,
				      rpcrdma2_exchange_updates(ex, &own), &own);
	}
	return pm->pm_set.ps_rows;
}

void rpcrdma2_exchange_send_next(struct rpcrdma2_exchange *ex,
				 unsigned long now)
{
	struct rpcrdma2_propmsg pm;

	if (!rpcrdma2_exchange_next(ex, now, &pm))
		goto out;
	ex->ex_sent = pm.pm_type;
	ex->ex_late = false;
	ex->ex_ops->changed(ex);		/* before it is sent (C-034) */
	ex->ex_number++;
	if (ex->ex_ops->send(ex, NULL, &pm)) {
		ex->ex_sent = 0;
		goto out;
	}
	ex->ex_xid = pm.pm_xid;
	ex->ex_sent_at = now;
	ex->ex_sending = ex->ex_ops->confirms;
	if (pm.pm_type == RDMA2_OPT_REQPROP) {
		ex->ex_request = 0;
		ex->ex_reqprop_sent = true;
		ex->ex_ops->count(RPCRDMA2_C_reqprops_sent, 1);
	} else {
		ex->ex_updates[1] = ex->ex_updates[0];
		ex->ex_updates[0] = (struct rpcrdma2_update){
			.up_sent	= true,
			.up_xid		= pm.pm_xid,
			.up_rows	= pm.pm_set.ps_rows,
			.up_before	= ex->ex_announced,
		};
		rpcrdma2_props_copy(&ex->ex_announced, &pm.pm_set.ps_val,
				    pm.pm_set.ps_rows);
		ex->ex_ops->count(RPCRDMA2_C_updprops_sent, 1);
	}
out:
	ex->ex_ops->changed(ex);		/* once it is sent (S14) */
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_send_next);

void rpcrdma2_exchange_send_done(struct rpcrdma2_exchange *ex, u32 number,
				 unsigned long at)
{
	ex->ex_done_at = at;
	/* pairs with rpcrdma2_exchange_received() */
	smp_store_release(&ex->ex_done, number);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_send_done);

void rpcrdma2_exchange_received(struct rpcrdma2_exchange *ex, unsigned long at)
{
	/* pairs with rpcrdma2_exchange_send_done() */
	if (ex->ex_sending && smp_load_acquire(&ex->ex_done) == ex->ex_number) {
		ex->ex_sending = false;
		ex->ex_sent_at = ex->ex_done_at;
	}
	if (ex->ex_sent == RDMA2_OPT_REQPROP) {
		ex->ex_reqprop_at = at;
		if (!ex->ex_late && !time_before(at, ex->ex_sent_at +
						 RPCRDMA2_ANSWER_TIMEOUT)) {
			ex->ex_late = true;
			ex->ex_ops->count(RPCRDMA2_C_properties_in_vain, 1);
		}
	} else if (ex->ex_sent != RDMA2_OPT_UPDPROP ||
		   (!ex->ex_sending &&
		    !time_before(at, ex->ex_sent_at +
				     RPCRDMA2_UPDPROP_INTERVAL))) {
		ex->ex_sent = 0;
	}
	ex->ex_ops->changed(ex);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_received);

/* Whether a message with this xid can answer the REQPROP of this end */
static bool rpcrdma2_exchange_awaits(const struct rpcrdma2_exchange *ex,
				     u32 xid)
{
	return ex->ex_sent == RDMA2_OPT_REQPROP && ex->ex_xid == xid;
}

void rpcrdma2_exchange_expect(const struct rpcrdma2_exchange *ex, u32 xid,
			      struct rpcrdma2_propmsg *pm)
{
	pm->pm_want = rpcrdma2_exchange_awaits(ex, xid) ? &ex->ex_requested :
							  NULL;
	pm->pm_marked = rpcrdma2_props_marked(&ex->ex_peer.pp_now);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_exchange_expect);

/* The message with this xid, which may no longer wait, has been refused. */
static void rpcrdma2_exchange_fail(struct rpcrdma2_exchange *ex, u32 xid)
{
	if (ex->ex_xid == xid)
		ex->ex_sent = 0;
	ex->ex_ops->count(RPCRDMA2_C_properties_in_vain, 1);
	ex->ex_ops->changed(ex);
}

bool rpcrdma2_exchange_malformed(struct rpcrdma2_exchange *ex,
				 const struct rpcrdma2_msg *msg)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;

	/* the header of an option is malformed too when its body is cut short */
	if (!msg->mg_verdict || h->h_opttype != RDMA2_OPT_RESPROP ||
	    !rpcrdma2_exchange_awaits(ex, h->h_xid))
		return false;
	rpcrdma2_exchange_fail(ex, h->h_xid);
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_malformed);

/*
 * The peer keeps the values from before an UPDPROP that it refuses, and would
 * refuse them again. Values that a later UPDPROP announced may be in force.
 * Return: false if this end sent none with this xid.
 */
static bool rpcrdma2_exchange_undo(struct rpcrdma2_exchange *ex, u32 xid)
{
	struct rpcrdma2_update *last = &ex->ex_updates[0], *up = last;

	if (!up->up_sent || up->up_xid != xid)
		up++;
	if (!up->up_sent || up->up_xid != xid)
		return false;
	if (up != last) {
		rpcrdma2_props_copy(&last->up_before, &up->up_before,
				    up->up_rows);
		up->up_rows &= ~last->up_rows;
	}
	rpcrdma2_props_copy(&ex->ex_announced, &up->up_before, up->up_rows);
	*up = (struct rpcrdma2_update){ };
	ex->ex_unsupported |= BIT(RDMA2_OPT_UPDPROP);
	return true;
}

bool rpcrdma2_exchange_refused(struct rpcrdma2_exchange *ex,
			       const struct rpcrdma2_hdr *h)
{
	if (h->h_vers != RPCRDMA2_VERS_TWO &&
	    h->h_error.er_code != RDMA2_ERR_VERS)	/* S36 */
		return false;
	if (!rpcrdma2_exchange_awaits(ex, h->h_xid)) {
		if (!rpcrdma2_exchange_undo(ex, h->h_xid))
			return false;
	} else if (rpcrdma2_lacks_message(&h->h_error)) {
		ex->ex_unsupported |= BIT(RDMA2_OPT_REQPROP);
	}
	rpcrdma2_exchange_fail(ex, h->h_xid);
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_refused);

/* Return: number of rows that the peer had announced would not change (S15). */
static u32 rpcrdma2_apply_updprop(struct rpcrdma2_peer_props *peer,
				  const struct rpcrdma2_propset *ps)
{
	rpcrdma2_props_copy(&peer->pp_now, &ps->ps_val, ps->ps_rows);
	return peer->pp_announced ?
	       hweight32(ps->ps_rows & ~peer->pp_changeable) : 0;
}

/*
 * Rows that the peer names twice, not at all, or beyond the REQPROP count as
 * rejected (C-056, C-058, S17).
 */
static void rpcrdma2_apply_resprop(struct rpcrdma2_props *now,
				   const struct rpcrdma2_propmsg *pm)
{
	const struct rpcrdma2_propset *req = pm->pm_want, *other = &pm->pm_set;

	rpcrdma2_props_copy(now, &req->ps_val, pm->pm_done &
			    ~pm->pm_rejected & ~other->ps_rows);
	/* limited to the REQPROP, as the bitmaps are */
	rpcrdma2_props_copy(now, &other->ps_val, other->ps_rows &
			    ~pm->pm_rejected & ~pm->pm_done & req->ps_rows);
}

void rpcrdma2_exchange_take(struct rpcrdma2_exchange *ex,
			    const struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_peer_props *peer = &ex->ex_peer;
	u32 frozen = 0;

	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		/*
		 * Rows that the first announcement lacks have their defaults
		 * permanently (C-047). A second one is an update (S15).
		 */
		if (!peer->pp_announced) {
			rpcrdma2_props_default(&peer->pp_now);
			peer->pp_changeable = pm->pm_set.ps_rows & ~pm->pm_nochg;
		}
		frozen = rpcrdma2_apply_updprop(peer, &pm->pm_set);
		WRITE_ONCE(peer->pp_announced, true);
		break;
	case RDMA2_OPT_UPDPROP:
		frozen = rpcrdma2_apply_updprop(peer, &pm->pm_set);
		break;
	case RDMA2_OPT_RESPROP:
		if (!pm->pm_want)
			return;
		rpcrdma2_apply_resprop(&peer->pp_now, pm);
		ex->ex_sent = 0;
		break;
	}
	ex->ex_ops->count(RPCRDMA2_C_connprops + pm->pm_type -
			  RDMA2_OPT_CONNPROP, 1);
	ex->ex_ops->count(RPCRDMA2_C_odd_properties, pm->pm_set.ps_odd);
	ex->ex_ops->count(RPCRDMA2_C_frozen_properties, frozen);
	ex->ex_ops->changed(ex);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_take);

/*
 * A peer that requests larger and smaller Receives in turns makes this end
 * reallocate every free Receive each time. So Receives do not shrink, or stop
 * growing, soon after they last did (S53).
 */
static bool rpcrdma2_lower_is_early(struct rpcrdma2_exchange *ex, u32 bytes,
				    unsigned long now)
{
	if (bytes >= max(ex->ex_announced.pr_rbsiz, ex->ex_recv_requested))
		return false;
	if (ex->ex_lowered && now - ex->ex_lowered_at < RPCRDMA2_LOWER_INTERVAL)
		return true;
	ex->ex_lowered = true;
	ex->ex_lowered_at = now;
	return false;
}

/*
 * The values that are in force after a REQPROP count as announced (S16, C-049).
 * Receives also satisfy a request for any smaller size. BRS stays, as it was
 * announced (C-045); its default may exceed what this end supports. All other
 * properties, and all duplicates but the first, are rejected (C-053, S12).
 *
 * Return: the size of Receives that the peer requests, or 0.
 */
static u32 rpcrdma2_exchange_answer_reqprop(struct rpcrdma2_exchange *ex,
					    const struct rpcrdma2_propset *req,
					    unsigned long now,
					    struct rpcrdma2_propmsg *answer)
{
	const struct rpcrdma2_props own = rpcrdma2_exchange_limit_sbsiz(ex);
	u32 bytes = req->ps_val.pr_rbsiz, brs = req->ps_val.pr_brs;
	struct rpcrdma2_props *announced = &ex->ex_announced;
	/* a request for too small a size is rejected and changes nothing */
	bool counts = req->ps_rows & BIT(RPCRDMA2_PROP_RBSIZ) &&
		      bytes >= RPCRDMA2_INLINE_DEFAULT;
	bool early = counts && rpcrdma2_lower_is_early(ex, bytes, now);
	/* Sends that got smaller do not reduce what was announced (C-033, S14). */
	u32 most = max(own.pr_rbsiz, announced->pr_rbsiz);
	u32 done = 0, other = 0;

	if (counts && bytes > most && most != announced->pr_rbsiz)
		other = BIT(RPCRDMA2_PROP_RBSIZ);
	else if (counts && bytes <= most && !early)
		done = BIT(RPCRDMA2_PROP_RBSIZ);
	if (done)
		ex->ex_supported.pr_rbsiz = bytes;
	if (brs == announced->pr_brs && brs <= own.pr_brs)
		done |= BIT(RPCRDMA2_PROP_BRS) & req->ps_rows;
	*answer = (struct rpcrdma2_propmsg){
		.pm_type = RDMA2_OPT_RESPROP,
		.pm_want = req,
		.pm_done = done,
	};
	rpcrdma2_propset_init(&answer->pm_set, other, &own);
	rpcrdma2_props_copy(announced, &req->ps_val, done);
	rpcrdma2_props_copy(announced, &own, other);
	ex->ex_updates[0].up_rows &= ~(done | other);
	ex->ex_updates[1].up_rows &= ~(done | other);
	if (!counts || early)
		return 0;
	ex->ex_recv_requested = bytes;
	return bytes;
}

void rpcrdma2_exchange_answer(struct rpcrdma2_exchange *ex,
			      struct rpcrdma2_msg *msg, unsigned long now)
{
	const struct rpcrdma2_propmsg *pm = &msg->mg_prop;
	struct rpcrdma2_propmsg answer;
	u32 resize = 0;

	if (pm->pm_type == RDMA2_OPT_CONNPROP && ex->ex_responder &&
	    !ex->ex_connprop_sent)
		rpcrdma2_exchange_announce(ex, RPCRDMA2_PROPS_ALL, &answer);
	else if (pm->pm_type == RDMA2_OPT_REQPROP)
		resize = rpcrdma2_exchange_answer_reqprop(ex, &pm->pm_set, now,
							  &answer);
	else
		return;
	answer.pm_xid = msg->mg_hdr.h_xid;
	/* the answer has the spelling of the request (S01) */
	answer.pm_option = msg->mg_hdr.h_proc == RDMA2_OPTIONAL;
	ex->ex_ops->send(ex, &msg->mg_hdr, &answer);
	if (resize)
		ex->ex_ops->resize(ex, resize);
	ex->ex_ops->changed(ex);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_answer);

/*
 * A peer with very small Receives still gets up to 1024 bytes, because fewer do
 * not hold a header (S13, S33).
 */
static u32 rpcrdma2_send_limit(const struct rpcrdma2_props *peer, u32 own)
{
	return min(own, max_t(u32, READ_ONCE(peer->pr_rbsiz),
			      RPCRDMA2_INLINE_FIRST));
}

u32 rpcrdma2_exchange_send_max(const struct rpcrdma2_exchange *ex)
{
	u32 own = rpcrdma2_exchange_lowers_sends(ex) ?
		  ex->ex_announced.pr_sbsiz : ex->ex_supported.pr_sbsiz;

	/* Only a REQPROP makes such a peer expect smaller Replies (S14). */
	if (rpcrdma2_exchange_is_assumed(ex))
		own = max(own, READ_ONCE(ex->ex_announced.pr_rbsiz));
	/* A REQPROP requests nothing but RBSIZ. */
	if (ex->ex_sent == RDMA2_OPT_REQPROP)
		own = min(own, ex->ex_requested.ps_val.pr_rbsiz);
	return rpcrdma2_send_limit(&ex->ex_peer.pp_now, own);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_send_max);

u32 rpcrdma2_exchange_reply_max(const struct rpcrdma2_exchange *ex)
{
	const struct rpcrdma2_peer_props *peer = &ex->ex_peer;
	u32 own = READ_ONCE(ex->ex_announced.pr_rbsiz);
	u32 sends = READ_ONCE(peer->pp_now.pr_sbsiz);

	if (!READ_ONCE(peer->pp_announced) || peer->pp_short)
		return min_t(u32, own, RPCRDMA2_INLINE_DEFAULT);
	if (sends)
		return min(own, max_t(u32, sends, RPCRDMA2_INLINE_FIRST));
	return rpcrdma2_send_limit(&peer->pp_now, own);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_reply_max);

void rpcrdma2_exchange_bound(const struct rpcrdma2_exchange *ex,
			     struct rpcrdma2_call_limits *cl)
{
	const u32 *limits = ex->ex_peer.pp_now.pr_limits;

	cl->cl_reads = min(cl->cl_reads, READ_ONCE(limits[RPCRDMA2_LIMIT_READS]));
	cl->cl_writes = min(cl->cl_writes,
			    READ_ONCE(limits[RPCRDMA2_LIMIT_WRITES]));
	cl->cl_segs = min(cl->cl_segs, READ_ONCE(limits[RPCRDMA2_LIMIT_SEGS]));
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_bound);

void rpcrdma2_exchange_reply_refused(struct rpcrdma2_exchange *ex, u32 needed)
{
	if (needed <= rpcrdma2_exchange_reply_max(ex) - RPCRDMA2_HDR_MIN)
		ex->ex_peer.pp_short = true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_reply_refused);
