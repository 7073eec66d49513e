/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compatibility with all supported kernels.
 *
 * The code is written for the newest kernel. If probe-NAME.c did not compile
 * (see compat/Kbuild), this file provides the missing interface, under the
 * kernel's own name where possible. Where no single name has the same meaning
 * in all kernels, an rpcrdma2_ function covers both cases.
 *
 * Two differences are handled elsewhere: the namespace of exports in
 * compat/namespace.h, and the form in which a Call is passed on in
 * svcrdma2/recvfrom.c.
 */
#ifndef _RPCRDMA2_COMPAT_H
#define _RPCRDMA2_COMPAT_H

#include <features.h>	/* made by compat/Kbuild */

#include <linux/kthread.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <linux/sunrpc/auth.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>

#include <rdma/rw.h>

#include <rpcrdma2/plan.h>

/* For TP_fast_assign(): @src is the source given to __string() for @dst. */
#ifdef RPCRDMA2_HAS_TRACE_ASSIGN_STR
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst)
#else
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst, src)
#endif

/*
 * Pages of an nfsd thread. If RPCRDMA2_HAS_SVC_REPLY_PAGES is defined, rq_pages
 * and rq_respages are two arrays. Before the next request the RPC layer fills
 * the first rq_pages_nfree entries of rq_pages, and the entries of rq_respages
 * in front of rq_next_page; it ignores the rest.
 *
 * Otherwise there is one array: the Reply uses the pages that the Call has
 * left, the transport sets where they begin, and the RPC layer fills every
 * empty entry. It releases the entries in front of rq_next_page, none of which
 * may be empty.
 */

/* Prepare a thread, without pages of a Reply yet, before it looks for a Call */
static inline void rpcrdma2_rqst_begin(struct svc_rqst *rqstp)
{
#ifndef RPCRDMA2_HAS_SVC_REPLY_PAGES
	rqstp->rq_respages = rqstp->rq_pages;
#endif
	rqstp->rq_next_page = rqstp->rq_respages;
}

/* Pages of a Call were taken: rq_pages has empty entries only before @end. */
static inline void rpcrdma2_rqst_call_taken(struct svc_rqst *rqstp,
					    unsigned long end)
{
#ifdef RPCRDMA2_HAS_SVC_REPLY_PAGES
	if (rqstp->rq_pages_nfree < end)
		rqstp->rq_pages_nfree = end;
#endif
}

/* Pages of a Reply were taken: from @first in rq_respages to rq_next_page */
static inline void rpcrdma2_rqst_reply_taken(struct svc_rqst *rqstp,
					     unsigned long first)
{
#ifdef RPCRDMA2_HAS_SVC_REPLY_PAGES
	if (rqstp->rq_respages + first < rqstp->rq_next_page)
		return;
#endif
	rqstp->rq_next_page = rqstp->rq_respages;
}

#ifndef RPCRDMA2_HAS_SVC_SERV_MAXPAGES
static inline unsigned long svc_serv_maxpages(const struct svc_serv *serv)
{
	return RPCSVC_MAXPAGES;
}
#endif

/* Kernels without this function have no count that it could update. */
#ifndef RPCRDMA2_HAS_SVC_XPRT_SET_VALID
static inline void svc_xprt_set_valid(struct svc_xprt *xprt)
{
}
#endif

/*
 * Older kernels call xpo_secure_port without checking that it is set, also for
 * a deferred Call: the thread that resumes it still has the flag of its last
 * request.
 */
#ifdef RPCRDMA2_HAS_SVC_SECURE_PORT
static inline void rpcrdma2_secure_port(struct svc_rqst *rqstp)
{
	set_bit(RQ_SECURE, &rqstp->rq_flags);
}

#define RPCRDMA2_SECURE_PORT	.xpo_secure_port = rpcrdma2_secure_port,
#else
#define RPCRDMA2_SECURE_PORT
#endif

/*
 * Whether a flavor processes the data of an RPC (E-26). Authentication alone
 * (krb5) processes the header only, but its flag is random: the kernel sets
 * bits of au_flags in memory that it has not cleared (gss_create_new()).
 */
static inline bool rpcrdma2_touches_data(const struct rpc_auth *auth)
{
	return test_bit(RPCAUTH_AUTH_DATATOUCH, &auth->au_flags) &&
	       auth->au_flavor != RPC_AUTH_GSS_KRB5;
}

/* Queue a backward Call for a service */
static inline void rpcrdma2_bc_queue(struct svc_serv *serv,
				     struct rpc_rqst *rqst)
{
#ifdef RPCRDMA2_HAS_BC_LWQ
	lwq_enqueue(&rqst->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
#else
	spin_lock_bh(&serv->sv_cb_lock);
	list_add_tail(&rqst->rq_bc_list, &serv->sv_cb_list);
	wake_up(&serv->sv_cb_waitq);
	spin_unlock_bh(&serv->sv_cb_lock);
#endif
}

/**
 * rpcrdma2_bc_retract - take back backward Calls that a service has not started
 * @serv: service
 * @xprt: transport that received the Calls; Calls of other transports stay
 * @drop: called for each of these Calls, without a lock
 */
#ifdef RPCRDMA2_HAS_BC_LWQ
static inline void rpcrdma2_bc_retract(struct svc_serv *serv,
				       const struct rpc_xprt *xprt,
				       void (*drop)(struct rpc_rqst *rqst))
{
	struct llist_node *calls = lwq_dequeue_all(&serv->sv_cb_list);
	struct llist_node **pos, *next;
	struct rpc_rqst *rqst;

	lwq_for_each_safe(rqst, pos, next, &calls, rq_bc_list) {
		if (rqst->rq_xprt != xprt)
			continue;
		drop(rqst);
		rqst = NULL;	/* off the list */
	}
	if (calls) {
		lwq_enqueue_batch(calls, &serv->sv_cb_list);
		svc_pool_wake_idle_thread(&serv->sv_pools[0]);
	}
}
#else
static inline void rpcrdma2_bc_retract(struct svc_serv *serv,
				       const struct rpc_xprt *xprt,
				       void (*drop)(struct rpc_rqst *rqst))
{
	struct rpc_rqst *rqst, *next;
	LIST_HEAD(calls);

	spin_lock_bh(&serv->sv_cb_lock);
	list_for_each_entry_safe(rqst, next, &serv->sv_cb_list, rq_bc_list)
		if (rqst->rq_xprt == xprt)
			list_move_tail(&rqst->rq_bc_list, &calls);
	spin_unlock_bh(&serv->sv_cb_lock);

	list_for_each_entry_safe(rqst, next, &calls, rq_bc_list) {
		list_del(&rqst->rq_bc_list);
		drop(rqst);
	}
}
#endif

/*
 * A task that waits for a slot must not set XPRT_CONGESTED, as
 * xprt_add_backlog() does: a task that sees the flag joins the backlog, too,
 * perhaps when nothing is left to wake it. The RPC layer tests the flag under
 * the same lock.
 */
#ifndef RPCRDMA2_HAS_BACKLOG_NONCONGESTED
static inline void xprt_add_backlog_noncongested(struct rpc_xprt *xprt,
						 struct rpc_task *task)
{
	spin_lock(&xprt->reserve_lock);
	xprt_add_backlog(xprt, task);
	clear_bit(XPRT_CONGESTED, &xprt->state);
	spin_unlock(&xprt->reserve_lock);
}
#endif

/*
 * The kernel does not queue work that is pending. A caller that would queue it
 * does not wait if the work is also marked as being cancelled; without the mark
 * mod_delayed_work() spins. So disabled work gets both flags in one step, and
 * keeps them. Work queued after the cancellation may have begun before that
 * step; flush_work() waits for it.
 */
#ifndef RPCRDMA2_HAS_WORK_DISABLE
/* Return: false if the work was queued meanwhile. */
static inline bool rpcrdma2_work_disable(struct work_struct *work)
{
	long data = atomic_long_read(&work->data);

	return !(data & WORK_STRUCT_PENDING) &&
	       atomic_long_try_cmpxchg(&work->data, &data,
				       data | WORK_STRUCT_PENDING |
					       WORK_OFFQ_CANCELING);
}

static inline void disable_work_sync(struct work_struct *work)
{
	do
		cancel_work_sync(work);
	while (!rpcrdma2_work_disable(work));
	flush_work(work);
}

static inline void disable_delayed_work_sync(struct delayed_work *dwork)
{
	do
		cancel_delayed_work_sync(dwork);
	while (!rpcrdma2_work_disable(&dwork->work));
	flush_work(&dwork->work);
}
#endif

/* If register_shrinker() fails the kernel does not call the shrinker. */
#ifndef RPCRDMA2_HAS_SHRINKER_ALLOC
static inline struct shrinker *shrinker_alloc(unsigned int flags,
					      const char *name)
{
	struct shrinker *shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);

	if (shrinker)
		shrinker->seeks = DEFAULT_SEEKS;
	return shrinker;
}

static inline void shrinker_register(struct shrinker *shrinker)
{
	register_shrinker(shrinker, KBUILD_MODNAME);
}

static inline void shrinker_free(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(shrinker);
}
#endif

/*
 * Send Queue entries that rdma_rw adds to a queue pair for @ctxs max_rdma_ctxs:
 * three for each if it may use memory regions, otherwise one. Some of its
 * reasons to use them are not reported; but with regions it divides a message
 * by the pages of a region, and otherwise by the gather entries of an RDMA
 * Read. If these two are equal, only the reported reasons apply.
 */
static inline unsigned int rpcrdma2_rw_send_wrs(struct ib_device *dev, u32 port,
						unsigned int ctxs)
{
	const struct ib_device_attr *attrs = &dev->attrs;
	u32 region = min_t(u32, attrs->max_fast_reg_page_list_len,
			   RPCRDMA2_RW_REGION_PAGES);
	bool regions = rdma_protocol_iwarp(dev, port) || attrs->max_sgl_rd;

	if (!regions && region && attrs->max_sge_rd)
		regions = region != attrs->max_sge_rd &&
			  rdma_rw_mr_factor(dev, port, region * attrs->max_sge_rd) ==
			  attrs->max_sge_rd;
	return regions ? 3 * ctxs : ctxs;
}

#ifndef RPCRDMA2_HAS_RW_MAX_SEND_WR
#define rdma_rw_max_send_wr(_dev, _port, _ctxs, _flags) \
	rpcrdma2_rw_send_wrs(_dev, _port, _ctxs)
#endif

#endif /* _RPCRDMA2_COMPAT_H */
