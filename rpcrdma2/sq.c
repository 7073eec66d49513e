// SPDX-License-Identifier: GPL-2.0
/* The Send Queue. See rpcrdma2/conn.h. */
#include <linux/export.h>

#include <rpcrdma2/compat.h>
#include <rpcrdma2/conn.h>
#include <rpcrdma2/fault.h>

#include "core.h"
#include "trace.h"

bool rpcrdma2_sq_take(struct rpcrdma2_conn *co, unsigned int count,
		      bool control)
{
	struct rpcrdma2_units *un = &co->co_sq.sq_units;

	return rpcrdma2_units_take(un, count, control ? 0 : un->un_kept);
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_take);

void rpcrdma2_sq_give(struct rpcrdma2_conn *co, unsigned int count)
{
	if (rpcrdma2_units_give(&co->co_sq.sq_units, count))
		co->co_ops->room(co);
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_give);

/* Reason for the loss of the connection when a work request fails */
static enum rpcrdma2_loss rpcrdma2_sq_loss_of(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return RPCRDMA2_LOSS_READ;
	case IB_WR_REG_MR:
	case IB_WR_LOCAL_INV:
		return RPCRDMA2_LOSS_REGION;
	default:
		return RPCRDMA2_LOSS_SEND;
	}
}

/* Whether the peer's device has rejected this work request permanently */
static bool rpcrdma2_sq_is_refused(const struct ib_wc *wc)
{
	return wc->status == IB_WC_REM_ACCESS_ERR ||
	       wc->status == IB_WC_REM_INV_REQ_ERR ||
	       wc->status == IB_WC_REM_OP_ERR;
}

static void rpcrdma2_sq_wc_front(struct ib_cq *cq, struct ib_wc *wc);

/* Completions of all but the last of a chain, by rpcrdma2_sq_loss_of() */
static struct ib_cqe rpcrdma2_fronts[] = {
	[RPCRDMA2_LOSS_SEND]	= { rpcrdma2_sq_wc_front },
	[RPCRDMA2_LOSS_READ]	= { rpcrdma2_sq_wc_front },
	[RPCRDMA2_LOSS_REGION]	= { rpcrdma2_sq_wc_front },
};

/* The rest of the chain is flushed. */
static void rpcrdma2_sq_wc_front(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_conn *co = cq->cq_context;

	trace_rpcrdma2_wc_front(cq, 0, wc);
	co->co_sq.sq_refused |= rpcrdma2_sq_is_refused(wc);
	rpcrdma2_conn_lose(co, wc->wr_cqe - rpcrdma2_fronts);
}

/* Move a chain from the queue to @done and add its entries to @wrs. */
static void rpcrdma2_sq_unlink_post(struct rpcrdma2_post *post,
				    struct list_head *done, unsigned int *wrs)
{
	*wrs += post->po_wrs;
	post->po_wrs = 0;
	list_move_tail(&post->po_list, done);
}

/* Owners of chains without a completion ignore @ok. */
static void rpcrdma2_sq_finish(struct rpcrdma2_conn *co, struct list_head *done,
			       unsigned int wrs, bool ok)
{
	struct rpcrdma2_post *post, *next;

	rpcrdma2_sq_give(co, wrs);
	list_for_each_entry_safe(post, next, done, po_list) {
		list_del(&post->po_list);
		post->po_done(co, post, ok);
	}
}

static bool rpcrdma2_post_has_deadline(const struct rpcrdma2_sq *sq,
				       const struct rpcrdma2_post *post)
{
	return post->po_signal && sq->sq_timeout &&
	       (sq->sq_all_timed || post->po_timed);
}

static void rpcrdma2_sq_wc_post(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_post *post = container_of(wc->wr_cqe,
						  struct rpcrdma2_post, po_cqe);
	struct rpcrdma2_conn *co = cq->cq_context;
	bool ok = wc->status == IB_WC_SUCCESS;
	struct rpcrdma2_sq *sq = &co->co_sq;
	struct rpcrdma2_post *each, *next;
	unsigned int wrs = 0;
	LIST_HEAD(done);

	trace_rpcrdma2_wc_send(cq, post->po_id, wc);
	if (unlikely(!ok)) {
		post->po_refused = sq->sq_refused || rpcrdma2_sq_is_refused(wc);
		sq->sq_refused = false;
		rpcrdma2_conn_lose(co, rpcrdma2_sq_loss_of(post->po_opcode));
	}

	spin_lock(&sq->sq_lock);
	if (!WARN_ON_ONCE(!post->po_wrs)) {	/* retired once (Q1) */
		list_for_each_entry_safe(each, next, &sq->sq_posted, po_list) {
			/* errors come in any order, one for each chain */
			if (each == post || !ok)
				break;
			if (!each->po_signal)
				rpcrdma2_sq_unlink_post(each, &done, &wrs);
		}
		if (rpcrdma2_post_has_deadline(sq, post) &&
		    list_is_first(&post->po_list, &sq->sq_posted))
			sq->sq_moved = jiffies;
		rpcrdma2_sq_unlink_post(post, &done, &wrs);
	}
	spin_unlock(&sq->sq_lock);
	rpcrdma2_sq_finish(co, &done, wrs, ok);
}

/*
 * Jiffies until the oldest chain with a deadline is overdue. Time that it
 * spends behind others does not count; but a peer that lets a chain complete
 * now and then cannot delay the last chain without limit.
 */
static long rpcrdma2_sq_left(const struct rpcrdma2_sq *sq,
			     const struct rpcrdma2_post *post)
{
	unsigned long since = post->po_since;
	long most = since + RPCRDMA2_SQ_PATIENCE * sq->sq_timeout - jiffies;

	lockdep_assert_held(&sq->sq_lock);
	if (time_after(sq->sq_moved, since))
		since = sq->sq_moved;
	return min_t(long, since + sq->sq_timeout - jiffies, most);
}

static void rpcrdma2_sq_watch(struct work_struct *work)
{
	struct rpcrdma2_conn *co = container_of(to_delayed_work(work),
						struct rpcrdma2_conn,
						co_sq.sq_watch);
	enum rpcrdma2_loss why = RPCRDMA2_LOSS_NONE;
	struct rpcrdma2_sq *sq = &co->co_sq;
	const struct rpcrdma2_post *post;
	long left = 0;

	spin_lock(&sq->sq_lock);
	list_for_each_entry(post, &sq->sq_posted, po_list) {
		if (!rpcrdma2_post_has_deadline(sq, post))
			continue;
		left = rpcrdma2_sq_left(sq, post);
		why = rpcrdma2_sq_loss_of(post->po_opcode);
		break;
	}
	spin_unlock(&sq->sq_lock);

	if (left > 0) {
		/* a new chain may have queued the work with a longer delay */
		mod_delayed_work(rpcrdma2_wq, &sq->sq_watch, left);
	} else if (why) {
		WRITE_ONCE(sq->sq_overdue, true);
		rpcrdma2_conn_lose(co, why);
	}
}

void rpcrdma2_sq_init(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_sq *sq = &co->co_sq;

	spin_lock_init(&sq->sq_lock);
	INIT_LIST_HEAD(&sq->sq_posted);
	sq->sq_send_max = U32_MAX;
	mutex_init(&sq->sq_drain_mutex);
	INIT_DELAYED_WORK(&sq->sq_watch, rpcrdma2_sq_watch);
}

void rpcrdma2_sq_open(struct rpcrdma2_conn *co, unsigned int entries,
		      unsigned int kept, unsigned int batch,
		      unsigned long timeout)
{
	struct rpcrdma2_sq *sq = &co->co_sq;

	atomic_set(&sq->sq_units.un_free, entries);
	sq->sq_entries = entries;
	sq->sq_units.un_kept = kept;
	sq->sq_batch = batch;
	sq->sq_timeout = timeout;
	sq->sq_moved = jiffies;
	sq->sq_all_timed = true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_open);

void rpcrdma2_sq_bound(struct rpcrdma2_conn *co, u32 bytes)
{
	guard(spinlock)(&co->co_sq.sq_lock);
	co->co_sq.sq_send_max = bytes;
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_bound);

/* Prepare all of a chain but its last work request, which is returned */
static struct ib_send_wr *rpcrdma2_sq_ready_front(struct rpcrdma2_post *post,
						  struct ib_send_wr *wr)
{
	for (post->po_wrs = 1; wr->next; wr = wr->next) {
		wr->wr_cqe = &rpcrdma2_fronts[rpcrdma2_sq_loss_of(wr->opcode)];
		wr->send_flags &= ~IB_SEND_SIGNALED;
		post->po_wrs++;
	}
	return wr;
}

static void rpcrdma2_sq_choose_signal(struct rpcrdma2_sq *sq,
				      struct rpcrdma2_post *post,
				      struct ib_send_wr *last)
{
	sq->sq_unsignaled += post->po_wrs + post->po_extra;
	if (post->po_signal || sq->sq_unsignaled >= sq->sq_batch) {
		post->po_signal = true;
		last->send_flags |= IB_SEND_SIGNALED;
		sq->sq_unsignaled = 0;
	} else {
		last->send_flags &= ~IB_SEND_SIGNALED;
	}
}

static int rpcrdma2_sq_post_chain(struct rpcrdma2_conn *co,
				  struct ib_send_wr *first,
				  const struct ib_send_wr **bad)
{
	struct ib_send_wr *rest = first->next;
	int ret;

	if (first->opcode == IB_WR_RDMA_READ && rpcrdma2_fault(read))
		return 0;
	if (first->opcode == IB_WR_LOCAL_INV && rpcrdma2_fault(inv))
		return 0;
	if (first->opcode != IB_WR_LOCAL_INV || !rest || !rpcrdma2_fault(fence))
		return ib_post_send(rpcrdma2_conn_qp(co), first, bad);
	first->next = NULL;
	ret = ib_post_send(rpcrdma2_conn_qp(co), first, bad);
	first->next = rest;
	if (ret)
		return ret;
	*bad = rest;
	return -ENOMEM;
}

int rpcrdma2_sq_post(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
		     struct ib_send_wr *first)
{
	struct ib_send_wr *last = rpcrdma2_sq_ready_front(post, first);
	const struct ib_send_wr *bad = NULL;
	struct rpcrdma2_sq *sq = &co->co_sq;
	unsigned int wrs = post->po_wrs;
	bool timed;
	int ret;

	last->wr_cqe = &post->po_cqe;
	post->po_cqe.done = rpcrdma2_sq_wc_post;
	post->po_opcode = last->opcode;
	post->po_since = jiffies;
	post->po_refused = false;

	spin_lock(&sq->sq_lock);
	/* a request for smaller Receives comes after the limit (C-034) */
	if (unlikely(post->po_bytes > sq->sq_send_max) ||
	    (post->po_bytes && rpcrdma2_fault(send_max))) {
		post->po_wrs = 0;
		spin_unlock(&sq->sq_lock);
		rpcrdma2_sq_give(co, wrs);
		return -EMSGSIZE;
	}
	rpcrdma2_sq_choose_signal(sq, post, last);
	timed = rpcrdma2_post_has_deadline(sq, post);
	post->po_id = ++sq->sq_last_id;
	trace_rpcrdma2_post_send(co, post, last);
	list_add_tail(&post->po_list, &sq->sq_posted);
	if (post->po_begin)
		post->po_begin(co, post);
	ret = rpcrdma2_sq_post_chain(co, first, &bad);
	if (unlikely(ret && bad == first)) {
		list_del(&post->po_list);
		post->po_wrs = 0;
	}
	spin_unlock(&sq->sq_lock);
	if (likely(!ret)) {
		/* @post may have been freed */
		if (timed && !delayed_work_pending(&sq->sq_watch))
			queue_delayed_work(rpcrdma2_wq, &sq->sq_watch,
					   sq->sq_timeout);
		return 0;
	}

	rpcrdma2_conn_lose(co, RPCRDMA2_LOSS_POST);
	if (bad != first)
		return 0;
	rpcrdma2_sq_give(co, wrs);
	return -ENOTCONN;
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_post);

void rpcrdma2_sq_drain(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_sq *sq = &co->co_sq;
	struct rpcrdma2_post *post, *next;
	unsigned int wrs = 0;
	LIST_HEAD(done);
	u32 last;

	mutex_lock(&sq->sq_drain_mutex);
	cancel_delayed_work_sync(&sq->sq_watch);
	spin_lock(&sq->sq_lock);
	last = sq->sq_last_id;
	spin_unlock(&sq->sq_lock);

	ib_drain_sq(rpcrdma2_conn_qp(co));

	/* All completions of these chains have been reported. */
	spin_lock(&sq->sq_lock);
	list_for_each_entry_safe(post, next, &sq->sq_posted, po_list) {
		if ((s32)(post->po_id - last) > 0)
			break;
		rpcrdma2_sq_unlink_post(post, &done, &wrs);
	}
	spin_unlock(&sq->sq_lock);
	rpcrdma2_sq_finish(co, &done, wrs, false);
	mutex_unlock(&sq->sq_drain_mutex);
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_drain);

bool rpcrdma2_sq_is_whole(const struct rpcrdma2_conn *co)
{
	const struct rpcrdma2_sq *sq = &co->co_sq;

	return atomic_read(&sq->sq_units.un_free) == (int)sq->sq_entries &&
	       list_empty(&sq->sq_posted);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_sq_is_whole);
