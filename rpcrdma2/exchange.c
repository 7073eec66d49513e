// SPDX-License-Identifier: GPL-2.0
/*
 * The exchange of property messages: decisions, without the sending.
 */
#include <linux/export.h>
#include <linux/minmax.h>

#include <rpcrdma2/error.h>
#include <rpcrdma2/exchange.h>

#include "wire.h"

void rpcrdma2_exchange_init(struct rpcrdma2_exchange *ex, bool responder)
{
	static const struct rpcrdma2_props own = {
		.pr_mark = RPCRDMA2_MARK,
	};

	*ex = (struct rpcrdma2_exchange){
		.ex_able	= own,
		.ex_responder	= responder,
	};
	rpcrdma2_peer_props_init(&ex->ex_peer);
	rpcrdma2_props_default(&ex->ex_told);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_init);

/*
 * What may be said to the peer. A requester that does not know X_SBSIZ takes a
 * responder to send as much as it receives (S14): so this one claims to receive no
 * more than it sends.
 */
static struct rpcrdma2_props offer(const struct rpcrdma2_exchange *ex)
{
	struct rpcrdma2_props pr = ex->ex_able;

	if (ex->ex_responder && !rpcrdma2_props_marked(&ex->ex_peer.pp_now))
		pr.pr_rbsiz = min(pr.pr_rbsiz, pr.pr_sbsiz);
	return pr;
}

/* A message of this end that is no answer waits from here on. */
static void begin_wait(struct rpcrdma2_exchange *ex, u32 type)
{
	ex->ex_sent = type;
	ex->ex_open = true;
	ex->ex_late = false;
	ex->ex_away = false;
}

/* It is answered, or will never be. */
static void end_wait(struct rpcrdma2_exchange *ex)
{
	ex->ex_sent = 0;
	ex->ex_open = false;
}

void rpcrdma2_exchange_announce(struct rpcrdma2_exchange *ex,
				struct rpcrdma2_propmsg *pm)
{
	*pm = (struct rpcrdma2_propmsg){
		.pm_type  = RDMA2_OPT_CONNPROP,
		.pm_nochg = rpcrdma2_props_changing(RPCRDMA2_CHANGE_NEVER),
	};
	ex->ex_told = offer(ex);
	ex->ex_said = true;
	if (!ex->ex_responder)
		begin_wait(ex, RDMA2_OPT_CONNPROP);
	rpcrdma2_propset_init(&pm->pm_set, RPCRDMA2_PROPS_ALL, &ex->ex_told);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_announce);

void rpcrdma2_exchange_resize(struct rpcrdma2_exchange *ex, u32 recv, u32 send)
{
	ex->ex_able.pr_rbsiz = recv;
	if (ex->ex_able.pr_sbsiz == send)
		return;
	ex->ex_able.pr_sbsiz = send;
	ex->ex_wish.pr_rbsiz = send;
	ex->ex_wished = BIT(RPCRDMA2_PROP_RBSIZ);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_resize);

static bool knows(const struct rpcrdma2_exchange *ex, u32 type)
{
	return !(ex->ex_lacks & BIT(type));
}

/* C-047, S16: rows that are wished to be otherwise, and may be asked for */
static u32 questions(const struct rpcrdma2_exchange *ex)
{
	const struct rpcrdma2_peer_props *peer = &ex->ex_peer;

	if (!knows(ex, RDMA2_OPT_REQPROP))
		return 0;
	return ex->ex_wished & peer->pp_askable &
	       rpcrdma2_props_changing(RPCRDMA2_CHANGE_RAISE) &
	       rpcrdma2_props_differ(&ex->ex_wish, &peer->pp_now);
}

/*
 * S53: the peer may reject a wish for less than before that comes soon after another.
 * It has had that one before it answered.
 */
static bool rpcrdma2_asks_too_soon(const struct rpcrdma2_exchange *ex,
				   unsigned long now)
{
	return ex->ex_asks && now - ex->ex_asked < RPCRDMA2_ASK_REST &&
	       ex->ex_wish.pr_rbsiz < max(ex->ex_peer.pp_now.pr_rbsiz,
					  ex->ex_want.ps_val.pr_rbsiz);
}

/* C-027, C-059: rows in which @now is not what the peer knows */
static u32 updates(const struct rpcrdma2_exchange *ex,
		   const struct rpcrdma2_props *now)
{
	u32 rows = rpcrdma2_props_news(&ex->ex_told, now);

	if (!rpcrdma2_props_marked(&ex->ex_peer.pp_now))
		rows &= ~RPCRDMA2_PROPS_MARKED;
	return knows(ex, RDMA2_OPT_UPDPROP) ? rows : 0;
}

/* S14: the peer knows the last X_SBSIZ, and expects Replies of that size inline. */
static bool rpcrdma2_sends_less(const struct rpcrdma2_exchange *ex)
{
	return ex->ex_able.pr_sbsiz < ex->ex_told.pr_sbsiz &&
	       updates(ex, &ex->ex_able) & BIT(RPCRDMA2_PROP_X_SBSIZ);
}

static bool may_speak(const struct rpcrdma2_exchange *ex)
{
	return ex->ex_said && ex->ex_peer.pp_spoken;
}

bool rpcrdma2_exchange_busy(const struct rpcrdma2_exchange *ex)
{
	const struct rpcrdma2_props now = offer(ex);

	return ex->ex_open ||
	       (may_speak(ex) && (questions(ex) || updates(ex, &now)));
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_busy);

bool rpcrdma2_exchange_next(struct rpcrdma2_exchange *ex, unsigned long now,
			    struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_props own = offer(ex);
	u32 rows;

	if (ex->ex_open || !may_speak(ex))
		return false;
	*pm = (struct rpcrdma2_propmsg){ };
	rows = questions(ex);
	if (rows && !rpcrdma2_sends_less(ex) &&
	    !rpcrdma2_asks_too_soon(ex, now)) {
		rpcrdma2_propset_init(&ex->ex_want, rows, &ex->ex_wish);
		pm->pm_type = RDMA2_OPT_REQPROP;
		pm->pm_set = ex->ex_want;
	} else {
		rows = updates(ex, &own);
		pm->pm_type = RDMA2_OPT_UPDPROP;
		rpcrdma2_propset_init(&pm->pm_set, rows, &own);
	}
	if (!rows)
		return false;
	begin_wait(ex, pm->pm_type);
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_next);

void rpcrdma2_exchange_sent(struct rpcrdma2_exchange *ex,
			    const struct rpcrdma2_propmsg *pm, u32 xid,
			    unsigned long now)
{
	ex->ex_xid = xid;
	ex->ex_since = now;
	if (pm->pm_type == RDMA2_OPT_REQPROP) {
		ex->ex_wished = 0;
		ex->ex_asks = true;
	} else {
		rpcrdma2_props_copy(&ex->ex_told, &pm->pm_set.ps_val,
				    pm->pm_set.ps_rows);
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_sent);

void rpcrdma2_exchange_unsent(struct rpcrdma2_exchange *ex)
{
	end_wait(ex);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_unsent);

void rpcrdma2_exchange_arrived(struct rpcrdma2_exchange *ex, unsigned long at)
{
	if (!ex->ex_away)
		return;
	ex->ex_away = false;
	ex->ex_since = at;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_arrived);

bool rpcrdma2_exchange_heard(struct rpcrdma2_exchange *ex, unsigned long now)
{
	if (ex->ex_sent == RDMA2_OPT_UPDPROP &&
	    (ex->ex_away ||
	     time_before(now, ex->ex_since + RPCRDMA2_UPDPROP_REST)))
		return false;
	if (ex->ex_sent != RDMA2_OPT_REQPROP) {
		ex->ex_open = false;
		return false;
	}
	ex->ex_asked = now;
	if (ex->ex_late ||
	    time_before(now, ex->ex_since + RPCRDMA2_ANSWER_TIMEOUT))
		return false;
	ex->ex_late = true;
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_heard);

static bool is_asked(const struct rpcrdma2_exchange *ex, u32 xid)
{
	return ex->ex_sent == RDMA2_OPT_REQPROP && ex->ex_xid == xid;
}

void rpcrdma2_exchange_expect(const struct rpcrdma2_exchange *ex, u32 xid,
			      struct rpcrdma2_propmsg *pm)
{
	pm->pm_want = is_asked(ex, xid) ? &ex->ex_want : NULL;
	pm->pm_marked = rpcrdma2_props_marked(&ex->ex_peer.pp_now);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_expect);

bool rpcrdma2_exchange_spoilt(struct rpcrdma2_exchange *ex, u32 xid)
{
	if (!is_asked(ex, xid))
		return false;
	end_wait(ex);
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_spoilt);

bool rpcrdma2_exchange_refused(struct rpcrdma2_exchange *ex,
			       const struct rpcrdma2_hdr *h)
{
	if ((ex->ex_sent != RDMA2_OPT_REQPROP &&
	     ex->ex_sent != RDMA2_OPT_UPDPROP) ||
	    ex->ex_xid != h->h_xid ||
	    (h->h_vers != RPCRDMA2_VERS_TWO &&
	     h->h_error.er_code != RDMA2_ERR_VERS))	/* S36 */
		return false;
	if (rpcrdma2_lacks_message(&h->h_error))
		ex->ex_lacks |= BIT(ex->ex_sent);
	end_wait(ex);
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_refused);

u32 rpcrdma2_exchange_take(struct rpcrdma2_exchange *ex,
			   const struct rpcrdma2_propmsg *pm, u32 *effects)
{
	const struct rpcrdma2_props before = ex->ex_peer.pp_now;
	const struct rpcrdma2_propset *ps = &pm->pm_set;
	bool spoken = ex->ex_peer.pp_spoken;
	u32 frozen = 0, rows;

	if (pm->pm_type == RDMA2_OPT_CONNPROP) {
		frozen = rpcrdma2_apply_connprop(&ex->ex_peer, &ps->ps_val,
						 ps->ps_rows, pm->pm_nochg);
	} else if (pm->pm_type == RDMA2_OPT_UPDPROP) {
		frozen = rpcrdma2_apply_updprop(&ex->ex_peer, &ps->ps_val,
						ps->ps_rows);
	} else if (pm->pm_type == RDMA2_OPT_RESPROP && pm->pm_want) {
		rpcrdma2_apply_resprop(&ex->ex_peer, pm);
		end_wait(ex);
	}
	rows = spoken == ex->ex_peer.pp_spoken ?
	       rpcrdma2_props_differ(&before, &ex->ex_peer.pp_now) :
	       RPCRDMA2_PROPS_ALL;
	*effects = rpcrdma2_props_effects(rows);
	return frozen;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_take);

/*
 * S53: a peer that asks for larger and for smaller Receives in turns has each free
 * one of them made anew each time. So they do not get smaller, or stop to grow, soon
 * after they did before.
 */
static bool rpcrdma2_cuts_too_soon(struct rpcrdma2_exchange *ex, u32 octets,
				   unsigned long now)
{
	if (octets >= max(ex->ex_told.pr_rbsiz, ex->ex_recv_last))
		return false;
	if (ex->ex_cuts && now - ex->ex_cut < RPCRDMA2_CUT_REST)
		return true;
	ex->ex_cuts = true;
	ex->ex_cut = now;
	return false;
}

static void answer_reqprop(struct rpcrdma2_exchange *ex,
			   const struct rpcrdma2_propset *want,
			   unsigned long now, struct rpcrdma2_propmsg *answer)
{
	const struct rpcrdma2_props able = offer(ex);
	u32 wish = want->ps_val.pr_rbsiz, told = ex->ex_told.pr_rbsiz;
	/* one that is too small is rejected, and Receives stay as they are */
	bool asked = want->ps_rows & BIT(RPCRDMA2_PROP_RBSIZ) &&
		     wish >= RPCRDMA2_INLINE_DEFAULT;
	bool soon = asked && rpcrdma2_cuts_too_soon(ex, wish, now);

	rpcrdma2_answer_reqprop(answer, want, &ex->ex_told, &able);
	if (soon && answer->pm_done & BIT(RPCRDMA2_PROP_RBSIZ)) {
		answer->pm_done &= ~BIT(RPCRDMA2_PROP_RBSIZ);
		ex->ex_told.pr_rbsiz = told;
	}
	if (!asked || soon)
		return;
	if (answer->pm_done & BIT(RPCRDMA2_PROP_RBSIZ))
		ex->ex_able.pr_rbsiz = ex->ex_told.pr_rbsiz;
	ex->ex_recv_wish = wish;
	ex->ex_recv_last = wish;
}

bool rpcrdma2_exchange_answer(struct rpcrdma2_exchange *ex,
			      const struct rpcrdma2_propmsg *pm,
			      unsigned long now,
			      struct rpcrdma2_propmsg *answer)
{
	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		if (!ex->ex_responder || ex->ex_said)
			return false;
		rpcrdma2_exchange_announce(ex, answer);
		return true;
	case RDMA2_OPT_REQPROP:
		answer_reqprop(ex, &pm->pm_set, now, answer);
		return true;
	default:
		return false;
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_answer);

u32 rpcrdma2_exchange_send_max(const struct rpcrdma2_exchange *ex)
{
	u32 own = rpcrdma2_sends_less(ex) ? ex->ex_told.pr_sbsiz :
					    ex->ex_able.pr_sbsiz;

	/* There is nothing else to ask for. */
	if (ex->ex_open && ex->ex_sent == RDMA2_OPT_REQPROP)
		own = min(own, ex->ex_want.ps_val.pr_rbsiz);
	return rpcrdma2_send_limit(&ex->ex_peer.pp_now, own);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_send_max);

u32 rpcrdma2_exchange_reply_max(const struct rpcrdma2_exchange *ex)
{
	return rpcrdma2_reply_limit(&ex->ex_peer, ex->ex_told.pr_rbsiz);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_reply_max);

void rpcrdma2_exchange_bound(const struct rpcrdma2_exchange *ex,
			     struct rpcrdma2_call_limits *cl)
{
	const u32 *limits = ex->ex_peer.pp_now.pr_limits;

	cl->cl_reads = min(cl->cl_reads, limits[RPCRDMA2_LIMIT_READS]);
	cl->cl_writes = min(cl->cl_writes, limits[RPCRDMA2_LIMIT_WRITES]);
	cl->cl_segs = min(cl->cl_segs, limits[RPCRDMA2_LIMIT_SEGS]);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_bound);

void rpcrdma2_exchange_reply_refused(struct rpcrdma2_exchange *ex, u32 needed)
{
	if (needed <= rpcrdma2_exchange_reply_max(ex) - RPCRDMA2_HDR_MIN)
		ex->ex_peer.pp_short = true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_reply_refused);
