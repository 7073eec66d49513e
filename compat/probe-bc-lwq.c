// SPDX-License-Identifier: GPL-2.0
/* The queue of backward Calls for the service is lockless (lwq). */
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>

static inline void probe(struct svc_serv *serv, struct rpc_rqst *rqst)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	lwq_enqueue(&rqst->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
#else
	spin_lock_bh(&serv->sv_cb_lock);
	list_add_tail(&rqst->rq_bc_list, &serv->sv_cb_list);
	wake_up(&serv->sv_cb_waitq);
	spin_unlock_bh(&serv->sv_cb_lock);
#endif
}
