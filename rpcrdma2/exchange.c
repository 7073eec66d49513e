// SPDX-License-Identifier: GPL-2.0
/*
 * The exchange of property messages: decisions, without the sending.
 */
#include <linux/export.h>
#include <linux/minmax.h>

#include <rpcrdma2/exchange.h>

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

void rpcrdma2_exchange_announce(struct rpcrdma2_exchange *ex,
				struct rpcrdma2_propmsg *pm)
{
	*pm = (struct rpcrdma2_propmsg){
		.pm_type  = RDMA2_OPT_CONNPROP,
		.pm_nochg = rpcrdma2_props_changing(RPCRDMA2_CHANGE_NEVER),
	};
	ex->ex_told = offer(ex);
	ex->ex_said = true;
	rpcrdma2_propset_init(&pm->pm_set, RPCRDMA2_PROPS_ALL, &ex->ex_told);
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_announce);

void rpcrdma2_exchange_expect(const struct rpcrdma2_exchange *ex,
			      struct rpcrdma2_propmsg *pm)
{
	pm->pm_want = NULL;	/* this end sends no REQPROP */
	pm->pm_marked = rpcrdma2_props_marked(&ex->ex_peer.pp_now);
}

u32 rpcrdma2_exchange_take(struct rpcrdma2_exchange *ex,
			   const struct rpcrdma2_propmsg *pm, u32 *effects)
{
	const struct rpcrdma2_props before = ex->ex_peer.pp_now;
	const struct rpcrdma2_propset *ps = &pm->pm_set;
	bool spoken = ex->ex_peer.pp_spoken;
	u32 frozen = 0, rows;

	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		frozen = rpcrdma2_apply_connprop(&ex->ex_peer, &ps->ps_val,
						 ps->ps_rows, pm->pm_nochg);
		break;
	case RDMA2_OPT_UPDPROP:
		frozen = rpcrdma2_apply_updprop(&ex->ex_peer, &ps->ps_val,
						ps->ps_rows);
		break;
	case RDMA2_OPT_RESPROP:
		rpcrdma2_apply_resprop(&ex->ex_peer, pm);
		break;
	default:
		break;
	}
	rows = spoken == ex->ex_peer.pp_spoken ?
	       rpcrdma2_props_differ(&before, &ex->ex_peer.pp_now) :
	       RPCRDMA2_PROPS_ALL;
	*effects = rpcrdma2_props_effects(rows);
	return frozen;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_take);

static void answer_reqprop(struct rpcrdma2_exchange *ex,
			   const struct rpcrdma2_propset *want,
			   struct rpcrdma2_propmsg *answer)
{
	const struct rpcrdma2_props able = offer(ex);

	rpcrdma2_answer_reqprop(answer, want, &ex->ex_told, &able);
}

bool rpcrdma2_exchange_answer(struct rpcrdma2_exchange *ex,
			      const struct rpcrdma2_propmsg *pm,
			      struct rpcrdma2_propmsg *answer)
{
	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		if (!ex->ex_responder || ex->ex_said)
			return false;
		rpcrdma2_exchange_announce(ex, answer);
		return true;
	case RDMA2_OPT_REQPROP:
		answer_reqprop(ex, &pm->pm_set, answer);
		return true;
	default:
		return false;
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_answer);

u32 rpcrdma2_exchange_send_max(const struct rpcrdma2_exchange *ex)
{
	return rpcrdma2_send_limit(&ex->ex_peer.pp_now, ex->ex_able.pr_sbsiz);
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
	u32 most = rpcrdma2_exchange_reply_max(ex);

	if (most > RPCRDMA2_HDR_MIN && needed <= most - RPCRDMA2_HDR_MIN)
		ex->ex_peer.pp_short = true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_reply_refused);
