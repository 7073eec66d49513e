/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between the kernels that are supported: all of them are here.
 *
 * The code is written for the newest kernel. Where probe-NAME.c did not compile
 * (see compat/Kbuild), what it asks for is made up for here, with the kernel's own names
 * where that can be. Where no single name could mean the same on all, a function
 * of rpcrdma2_ does, in both versions, one below the other.
 *
 * Two things are matters of their own: the namespace of exports, see
 * compat/namespace.h, and what a Call is handed on as, see svcrdma2/recvfrom.c.
 */
#ifndef _RPCRDMA2_COMPAT_H
#define _RPCRDMA2_COMPAT_H

#include <features.h>

#include <linux/kthread.h>
#include <linux/shrinker.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/workqueue.h>

/* In TP_fast_assign(): @src is what __string() has for @dst. */
#ifdef RPCRDMA2_HAS_TRACE_ASSIGN_STR
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst)
#else
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst, src)
#endif

/*
 * Pages of an nfsd thread. In a kernel of the first kind rq_pages and rq_respages
 * are two arrays. The RPC layer fills the first rq_pages_nfree entries of one before
 * the next request, and of the other those in front of rq_next_page; it does not look
 * at the rest.
 *
 * In one of the second kind there is one array, the Reply takes what the Call has
 * left, the transport says from where on, and the RPC layer fills every entry that
 * is empty. Those in front of rq_next_page it releases, and must find none empty.
 */

/**
 * rpcrdma2_rqst_begin - a thread begins to look for a Call
 * @rqstp: thread; no page of it is a Reply's yet
 */
static inline void rpcrdma2_rqst_begin(struct svc_rqst *rqstp)
{
#ifndef RPCRDMA2_HAS_SVC_REPLY_PAGES
	rqstp->rq_respages = rqstp->rq_pages;
#endif
	rqstp->rq_next_page = rqstp->rq_respages;
}

/**
 * rpcrdma2_rqst_call_taken - pages were taken from a thread's Call
 * @rqstp: thread
 * @end: rq_pages has empty entries in front of this one, and none behind it
 */
static inline void rpcrdma2_rqst_call_taken(struct svc_rqst *rqstp,
					    unsigned long end)
{
#ifdef RPCRDMA2_HAS_SVC_REPLY_PAGES
	if (rqstp->rq_pages_nfree < end)
		rqstp->rq_pages_nfree = end;
#endif
}

/**
 * rpcrdma2_rqst_reply_taken - pages were taken from a thread's Reply
 * @rqstp: thread
 * @first: entries of rq_respages from this one on are empty, up to rq_next_page
 */
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

/* Without the count there is nothing to be counted off. */
#ifndef RPCRDMA2_HAS_SVC_XPRT_SET_VALID
static inline void svc_xprt_set_valid(struct svc_xprt *xprt)
{
}
#endif

/*
 * A member of svc_xprt_ops that older kernels call without a look whether it is there,
 * also for a Call that was put off: the thread that takes it up has what its last
 * request left. Newer kernels have nothing to set it with then.
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

/**
 * rpcrdma2_bc_queue - give a backward Call to a service
 * @serv: service
 * @rqst: Call
 */
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
 * rpcrdma2_bc_retract - take back backward Calls that a service has not begun with
 * @serv: service
 * @xprt: transport that they came on; those of others stay
 * @drop: called for each of them
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
 * A task that waits for a slot must not set XPRT_CONGESTED, which xprt_add_backlog()
 * does: a task that sees it goes to the backlog too, perhaps when there is nothing
 * left that would wake it. The RPC layer looks at it under the same lock.
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
 * Work that is pending is not queued again, and work that says that it is being
 * cancelled is not waited for by the one that would queue it. So it keeps both
 * marks for good.
 */
#ifndef RPCRDMA2_HAS_WORK_DISABLE
static inline bool disable_work_sync(struct work_struct *work)
{
	bool was = cancel_work_sync(work);

	while (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		was |= cancel_work_sync(work);
	set_bit(__WORK_OFFQ_CANCELING, work_data_bits(work));
	return was;
}

static inline bool disable_delayed_work_sync(struct delayed_work *dwork)
{
	bool was = cancel_delayed_work_sync(dwork);

	while (test_and_set_bit(WORK_STRUCT_PENDING_BIT,
				work_data_bits(&dwork->work)))
		was |= cancel_delayed_work_sync(dwork);
	set_bit(__WORK_OFFQ_CANCELING, work_data_bits(&dwork->work));
	return was;
}
#endif

/*
 * A shrinker is a static one for the kernel; only its flags and its name are
 * missing. One that cannot be registered is not called, and can be freed.
 */
#ifndef RPCRDMA2_HAS_SHRINKER_ALLOC
#include <linux/slab.h>

struct rpcrdma2_shrinker {
	struct shrinker	sh_shrinker;
	const char	*sh_name;
};

static inline struct shrinker *shrinker_alloc(unsigned int flags,
					      const char *name)
{
	struct rpcrdma2_shrinker *sh = kzalloc(sizeof(*sh), GFP_KERNEL);

	if (!sh)
		return NULL;
	sh->sh_shrinker.flags = flags;
	sh->sh_shrinker.seeks = DEFAULT_SEEKS;
	sh->sh_name = name;
	return &sh->sh_shrinker;
}

static inline void shrinker_register(struct shrinker *shrinker)
{
	struct rpcrdma2_shrinker *sh =
		container_of(shrinker, struct rpcrdma2_shrinker, sh_shrinker);

	if (register_shrinker(shrinker, "%s", sh->sh_name))
		pr_warn("%s: not registered\n", sh->sh_name);
}

static inline void shrinker_free(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(container_of(shrinker, struct rpcrdma2_shrinker, sh_shrinker));
}
#endif

#endif /* _RPCRDMA2_COMPAT_H */
