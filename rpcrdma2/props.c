// SPDX-License-Identifier: GPL-2.0
/*
 * The table of properties, and what a peer's words do to their values.
 */
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "wire.h"

/*
 * Checks: is this a value of the type? (C-017) An odd but possible value is
 * well-formed, and dealt with where it is used (S13).
 */
static bool valid_any(const u32 *value)
{
	return true;
}

static bool valid_brs(const u32 *value)
{
	return *value <= RDMA2_BKREQSUP_GENL;
}

/*
 * Rules: what a REQPROP for a value results in (S16). @now is the value
 * announced, @able the best that can be done; @other is set for WISH_OTHER.
 */

/* Receives of the real size are also Receives of any smaller one. */
static enum rpcrdma2_wish wish_rbsiz(u32 want, u32 now, u32 able, u32 *other)
{
	if (want > able) {
		*other = able;
		return able == now ? RPCRDMA2_WISH_REJECTED :
				     RPCRDMA2_WISH_OTHER;
	}
	return want < RPCRDMA2_INLINE_DEFAULT ? RPCRDMA2_WISH_REJECTED :
						RPCRDMA2_WISH_DONE;
}

/*
 * C-045: what was announced to stay does, and nothing else is in force. A default that
 * was never announced may be more than this end is able to do.
 */
static enum rpcrdma2_wish wish_brs(u32 want, u32 now, u32 able, u32 *other)
{
	return want == now && want <= able ? RPCRDMA2_WISH_DONE :
					     RPCRDMA2_WISH_REJECTED;
}

/* What is not the peer's to change (C-053) */
static enum rpcrdma2_wish wish_none(u32 want, u32 now, u32 able, u32 *other)
{
	return RPCRDMA2_WISH_REJECTED;
}

#define PROP_ROW(_id, _field, _change, _effect, _check, _rule, ...)	\
	[RPCRDMA2_PROP_##_id] = {					\
		.row_which	= RDMA2_PROPID_##_id,			\
		.row_at		= offsetof(struct rpcrdma2_props,	\
					   pr_##_field) / sizeof(u32),	\
		.row_words	= sizeof_field(struct rpcrdma2_props,	\
					       pr_##_field) / sizeof(u32), \
		.row_change	= RPCRDMA2_CHANGE_##_change,		\
		.row_effect	= RPCRDMA2_EFFECT_##_effect,		\
		.row_valid	= valid_##_check,			\
		.row_wish	= wish_##_rule,				\
		.row_default	= { __VA_ARGS__ },			\
	},

const struct rpcrdma2_prop_row rpcrdma2_prop_rows[] = {
	RPCRDMA2_PROPERTIES(PROP_ROW)
};

enum rpcrdma2_prop rpcrdma2_prop_find(u32 which)
{
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rpcrdma2_prop_rows[r].row_which == which)
			break;
	return r;
}

void rpcrdma2_props_copy(struct rpcrdma2_props *to,
			 const struct rpcrdma2_props *from, u32 rows)
{
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rows & BIT(r))
			memcpy(rpcrdma2_prop_words(to, r),
			       rpcrdma2_prop_get(from, r),
			       rpcrdma2_prop_size(r));
}

void rpcrdma2_props_default(struct rpcrdma2_props *pr)
{
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		memcpy(rpcrdma2_prop_words(pr, r),
		       rpcrdma2_prop_rows[r].row_default, rpcrdma2_prop_size(r));
}
EXPORT_SYMBOL_GPL(rpcrdma2_props_default);

bool rpcrdma2_props_marked(const struct rpcrdma2_props *pr)
{
	static const u32 mark[] = RPCRDMA2_MARK;

	return !memcmp(pr->pr_mark, mark, sizeof(mark));
}
EXPORT_SYMBOL_GPL(rpcrdma2_props_marked);

u32 rpcrdma2_props_changing(enum rpcrdma2_prop_change change)
{
	unsigned int r;
	u32 rows = 0;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rpcrdma2_prop_rows[r].row_change == change)
			rows |= BIT(r);
	return rows;
}
EXPORT_SYMBOL_GPL(rpcrdma2_props_changing);

u32 rpcrdma2_props_effects(u32 rows)
{
	u32 effects = 0;
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (rows & BIT(r))
			effects |= rpcrdma2_prop_rows[r].row_effect;
	return effects;
}
EXPORT_SYMBOL_GPL(rpcrdma2_props_effects);

u32 rpcrdma2_props_differ(const struct rpcrdma2_props *a,
			  const struct rpcrdma2_props *b)
{
	unsigned int r;
	u32 rows = 0;

	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (memcmp(rpcrdma2_prop_get(a, r), rpcrdma2_prop_get(b, r),
			   rpcrdma2_prop_size(r)))
			rows |= BIT(r);
	return rows;
}

u32 rpcrdma2_props_news(const struct rpcrdma2_props *told,
			const struct rpcrdma2_props *now)
{
	u32 rows = rpcrdma2_props_differ(told, now);
	unsigned int r;

	for (r = 0; r < RPCRDMA2_NPROPS; r++) {
		enum rpcrdma2_prop_change change = rpcrdma2_prop_rows[r].row_change;

		if (change == RPCRDMA2_CHANGE_NEVER ||
		    (change == RPCRDMA2_CHANGE_RAISE &&
		     *rpcrdma2_prop_get(now, r) < *rpcrdma2_prop_get(told, r)))
			rows &= ~BIT(r);
	}
	return rows;
}
EXPORT_SYMBOL_GPL(rpcrdma2_props_news);

void rpcrdma2_peer_props_init(struct rpcrdma2_peer_props *pp)
{
	*pp = (struct rpcrdma2_peer_props){ };
	rpcrdma2_props_default(&pp->pp_now);
}
EXPORT_SYMBOL_GPL(rpcrdma2_peer_props_init);

u32 rpcrdma2_apply_updprop(struct rpcrdma2_peer_props *pp,
			   const struct rpcrdma2_props *val, u32 rows)
{
	rpcrdma2_props_copy(&pp->pp_now, val, rows);
	return pp->pp_spoken ? rows & ~pp->pp_askable : 0;
}
EXPORT_SYMBOL_GPL(rpcrdma2_apply_updprop);

u32 rpcrdma2_apply_connprop(struct rpcrdma2_peer_props *pp,
			    const struct rpcrdma2_props *val, u32 rows,
			    u32 nochg)
{
	if (pp->pp_spoken)
		return rpcrdma2_apply_updprop(pp, val, rows);

	rpcrdma2_props_default(&pp->pp_now);
	rpcrdma2_props_copy(&pp->pp_now, val, rows);
	pp->pp_askable = rows & ~nochg;
	pp->pp_spoken = true;
	return 0;
}
EXPORT_SYMBOL_GPL(rpcrdma2_apply_connprop);

u32 rpcrdma2_send_limit(const struct rpcrdma2_props *peer, u32 own)
{
	return min(own, max_t(u32, peer->pr_rbsiz, RPCRDMA2_INLINE_FIRST));
}
EXPORT_SYMBOL_GPL(rpcrdma2_send_limit);

u32 rpcrdma2_reply_limit(const struct rpcrdma2_peer_props *pp, u32 own)
{
	if (!pp->pp_spoken || pp->pp_short)
		return min_t(u32, own, RPCRDMA2_INLINE_DEFAULT);
	if (pp->pp_now.pr_sbsiz)
		return min(own, max_t(u32, pp->pp_now.pr_sbsiz,
				      RPCRDMA2_INLINE_FIRST));
	return rpcrdma2_send_limit(&pp->pp_now, own);
}
EXPORT_SYMBOL_GPL(rpcrdma2_reply_limit);
