// SPDX-License-Identifier: GPL-2.0
/*
 * The exchange of property messages: decisions, without the sending.
 */
#include <linux/export.h>

#include <rpcrdma2/exchange.h>

void rpcrdma2_exchange_init(struct rpcrdma2_exchange *ex, bool responder)
{
	rpcrdma2_peer_props_init(&ex->ex_peer);
	rpcrdma2_props_default(&ex->ex_told);
	ex->ex_owed = responder;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_init);

void rpcrdma2_exchange_announce(struct rpcrdma2_exchange *ex,
				struct rpcrdma2_propmsg *pm)
{
	*pm = (struct rpcrdma2_propmsg){
		.pm_type  = RDMA2_OPT_CONNPROP,
		.pm_nochg = RPCRDMA2_PROPS_ALL,
	};
	rpcrdma2_propset_init(&pm->pm_set, RPCRDMA2_PROPS_ALL, &ex->ex_able);
	ex->ex_told = ex->ex_able;
	ex->ex_owed = false;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_announce);

u32 rpcrdma2_exchange_take(struct rpcrdma2_exchange *ex,
			   const struct rpcrdma2_propmsg *pm)
{
	const struct rpcrdma2_propset *ps = &pm->pm_set;

	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		return rpcrdma2_apply_connprop(&ex->ex_peer, &ps->ps_val,
					       ps->ps_rows, pm->pm_nochg);
	case RDMA2_OPT_UPDPROP:
		return rpcrdma2_apply_updprop(&ex->ex_peer, &ps->ps_val,
					      ps->ps_rows);
	case RDMA2_OPT_RESPROP:
		rpcrdma2_apply_resprop(&ex->ex_peer, pm);
		return 0;
	default:
		return 0;
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_take);

bool rpcrdma2_exchange_answer(struct rpcrdma2_exchange *ex,
			      const struct rpcrdma2_propmsg *pm,
			      struct rpcrdma2_propmsg *answer)
{
	switch (pm->pm_type) {
	case RDMA2_OPT_CONNPROP:
		if (!ex->ex_owed)
			return false;
		rpcrdma2_exchange_announce(ex, answer);
		return true;
	case RDMA2_OPT_REQPROP:
		rpcrdma2_answer_reqprop(answer, &pm->pm_set, &ex->ex_told,
					&ex->ex_able);
		return true;
	default:
		return false;
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_exchange_answer);
