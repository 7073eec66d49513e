// SPDX-License-Identifier: GPL-2.0
/*
 * The Send Queue: see rpcrdma2/sq.h.
 */
#include <linux/export.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/sq.h>

#include "trace.h"

bool rpcrdma2_sq_take(struct rpcrdma2_conn *co, unsigned int count,
		      bool control)
{
	return rpcrdma2_units_take(&co->co_sq.sq_units, count, control);
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_take);

void rpcrdma2_sq_give(struct rpcrdma2_conn *co, unsigned int count)
{
	if (rpcrdma2_units_give(&co->co_sq.sq_units, count))
		co->co_ops->room(co);
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_give);

/* What is broken when a work request fails */
static enum rpcrdma2_loss loss_of(enum ib_wr_opcode opcode)
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

/* Work requests in front of the last of a chain report failure only. */
struct front {
	struct ib_cqe		cqe;
	enum rpcrdma2_loss	why;
};

static void wc_front(struct ib_cq *cq, struct ib_wc *wc)
{
	trace_rpcrdma2_wc_front(cq, 0, wc);
	rpcrdma2_conn_lose(cq->cq_context,
			   container_of(wc->wr_cqe, struct front, cqe)->why);
}

static struct ib_cqe *front_cqe(const struct ib_send_wr *wr)
{
	static struct front read = { { wc_front }, RPCRDMA2_LOSS_READ };
	static struct front region = { { wc_front }, RPCRDMA2_LOSS_REGION };
	static struct front write = { { wc_front }, RPCRDMA2_LOSS_SEND };

	switch (loss_of(wr->opcode)) {
	case RPCRDMA2_LOSS_READ:
		return &read.cqe;
	case RPCRDMA2_LOSS_REGION:
		return &region.cqe;
	default:
		return &write.cqe;
	}
}

/* From the queue to @done; its entries are added to @wrs. */
static void unlink_post(struct rpcrdma2_post *post, struct list_head *done,
			unsigned int *wrs)
{
	*wrs += post->po_wrs;
	post->po_wrs = 0;
	list_move_tail(&post->po_list, done);
}

/* The owners of those without a completion do not look at @ok. */
static void finish(struct rpcrdma2_conn *co, struct list_head *done,
		   unsigned int wrs, bool ok)
{
	struct rpcrdma2_post *post, *next;

	rpcrdma2_sq_give(co, wrs);
	list_for_each_entry_safe(post, next, done, po_list) {
		list_del(&post->po_list);
		post->po_done(co, post, ok);
	}
}

static void wc_post(struct ib_cq *cq, struct ib_wc *wc)
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
	if (unlikely(!ok))
		rpcrdma2_conn_lose(co, loss_of(post->po_opcode));

	spin_lock(&sq->sq_lock);
	if (!WARN_ON_ONCE(!post->po_wrs)) {	/* Q1 */
		list_for_each_entry_safe(each, next, &sq->sq_posted, po_list) {
			/* errors may overtake each other; each chain has one */
			if (each == post || !ok)
				break;
			if (!each->po_signal)
				unlink_post(each, &done, &wrs);
		}
		unlink_post(post, &done, &wrs);
	}
	spin_unlock(&sq->sq_lock);
	finish(co, &done, wrs, ok);
}

/* The oldest chain with a deadline, and when that is; NULL when there is none */
static const struct rpcrdma2_post *oldest_locked(const struct rpcrdma2_sq *sq)
{
	const struct rpcrdma2_post *post;

	lockdep_assert_held(&sq->sq_lock);
	list_for_each_entry(post, &sq->sq_posted, po_list)
		if (post->po_signal)
			return post;
	return NULL;
}

static void watch(struct work_struct *work)
{
	struct rpcrdma2_conn *co = container_of(to_delayed_work(work),
						struct rpcrdma2_conn,
						co_sq.sq_watch);
	enum rpcrdma2_loss why = RPCRDMA2_LOSS_NONE;
	struct rpcrdma2_sq *sq = &co->co_sq;
	const struct rpcrdma2_post *post;
	long left = 0;

	spin_lock(&sq->sq_lock);
	post = oldest_locked(sq);
	if (post) {
		left = post->po_since + sq->sq_timeout - jiffies;
		why = loss_of(post->po_opcode);
	}
	spin_unlock(&sq->sq_lock);

	if (left > 0) {
		/* a chain may have queued it for later meanwhile */
		mod_delayed_work(system_wq, &sq->sq_watch, left);
	} else if (post) {
		WRITE_ONCE(sq->sq_overdue, true);
		rpcrdma2_conn_lose(co, why);
	}
}

void rpcrdma2_sq_init(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_sq *sq = &co->co_sq;

	spin_lock_init(&sq->sq_lock);
	INIT_LIST_HEAD(&sq->sq_posted);
	INIT_DELAYED_WORK(&sq->sq_watch, watch);
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_init);

void rpcrdma2_sq_open(struct rpcrdma2_conn *co, unsigned int entries,
		      unsigned int kept, unsigned int batch,
		      unsigned long timeout)
{
	struct rpcrdma2_sq *sq = &co->co_sq;

	atomic_set(&sq->sq_units.un_free, entries);
	sq->sq_units.un_kept = kept;
	sq->sq_batch = batch;
	sq->sq_timeout = timeout;
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_open);

/* Readies a chain but for its last work request, which it returns. */
static struct ib_send_wr *ready_front(struct rpcrdma2_post *post,
				      struct ib_send_wr *wr)
{
	for (post->po_wrs = 1; wr->next; wr = wr->next) {
		wr->wr_cqe = front_cqe(wr);
		wr->send_flags &= ~IB_SEND_SIGNALED;
		post->po_wrs++;
	}
	return wr;
}

static void choose_signal(struct rpcrdma2_sq *sq, struct rpcrdma2_post *post,
			  struct ib_send_wr *last)
{
	sq->sq_unsignaled += post->po_wrs;
	if (post->po_signal || sq->sq_unsignaled >= sq->sq_batch) {
		post->po_signal = true;
		last->send_flags |= IB_SEND_SIGNALED;
		sq->sq_unsignaled = 0;
	} else {
		last->send_flags &= ~IB_SEND_SIGNALED;
	}
}

int rpcrdma2_sq_post(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
		     struct ib_send_wr *first)
{
	struct ib_send_wr *last = ready_front(post, first);
	const struct ib_send_wr *bad = NULL;
	struct rpcrdma2_sq *sq = &co->co_sq;
	unsigned int wrs = post->po_wrs;
	bool signal;
	int ret;

	last->wr_cqe = &post->po_cqe;
	post->po_cqe.done = wc_post;
	post->po_opcode = last->opcode;
	post->po_since = jiffies;

	spin_lock(&sq->sq_lock);
	choose_signal(sq, post, last);
	signal = post->po_signal;
	post->po_id = ++sq->sq_last_id;
	trace_rpcrdma2_post_send(co, post, last);
	list_add_tail(&post->po_list, &sq->sq_posted);
	if (post->po_begin)
		post->po_begin(co, post);
	ret = ib_post_send(rpcrdma2_conn_qp(co), first, &bad);
	if (unlikely(ret && bad == first)) {
		list_del(&post->po_list);
		post->po_wrs = 0;
	}
	spin_unlock(&sq->sq_lock);
	if (likely(!ret)) {
		/* @post may be gone */
		if (signal && sq->sq_timeout &&
		    !delayed_work_pending(&sq->sq_watch))
			queue_delayed_work(system_wq, &sq->sq_watch,
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

	cancel_delayed_work_sync(&sq->sq_watch);
	spin_lock(&sq->sq_lock);
	last = sq->sq_last_id;
	spin_unlock(&sq->sq_lock);

	ib_drain_sq(rpcrdma2_conn_qp(co));

	/* All that these had to report has been reported. */
	spin_lock(&sq->sq_lock);
	list_for_each_entry_safe(post, next, &sq->sq_posted, po_list) {
		if ((s32)(post->po_id - last) > 0)
			break;
		unlink_post(post, &done, &wrs);
	}
	spin_unlock(&sq->sq_lock);
	finish(co, &done, wrs, false);
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_drain);
