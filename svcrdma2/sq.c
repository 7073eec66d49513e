// SPDX-License-Identifier: GPL-2.0
/*
 * The Send Queue, accounted to the entry.
 *
 * What is posted is a chain: RDMA Reads; or RDMA Writes, if any, and a Send.
 * Its work requests are counted, as many entries are taken from the gate
 * sp_sq, and the chain goes to the device in one call. From then on it is on
 * sp_posted, in the order of the queue, until it is retired. A few entries are
 * set aside for our own Calls: who sends those cannot stand in line.
 *
 * Sends are carried out in order. So a completion retires its own chain and
 * all Sends before it that asked for none, and most need none of their own:
 * only one in sp_signal_batch asks for it, unless the owner of the chain does
 * (pages wait to be released, a Call waits for its RDMA Reads) or send
 * contexts have run out. At most sp_signal_batch - 1 Sends linger after the
 * last completion; sp_sq_limit keeps every chain short enough to fit beside
 * them.
 *
 * A chain that asked is retired by its own completion and by no other: an
 * iWARP device completes a Send while an RDMA Read before it still runs.
 *
 * A chain that fails completes with an error even if it asked for nothing,
 * and the queue is flushed behind it. What the device never reports, Sends
 * that succeeded with nobody asking and chains it took only in part, is
 * retired by svc2_sq_flush() when the queue pair has been drained.
 *
 * A peer can keep a chain from being done: it posts no Receives, its device
 * does not answer RDMA Reads, and it has set the number of retries to without
 * end. So a chain that asked has a deadline, SVC2_CHAIN_TIMEOUT. The oldest one
 * is first on sp_posted; one delayed work for the connection looks at it.
 */
#include "svcrdma2.h"
#include "trace.h"

static void retire(struct svc2_xprt *sp, struct list_head *done, bool ok)
{
	struct svc2_post *post, *next;
	unsigned int wrs = 0;

	list_for_each_entry(post, done, po_list) {
		post->po_posted = false;
		if (!post->po_reserved)
			wrs += post->po_wrs;
	}
	svc2_gate_give(sp, &sp->sp_sq, wrs);

	/* The owners of those without a completion do not look at @ok. */
	list_for_each_entry_safe(post, next, done, po_list) {
		list_del(&post->po_list);
		post->po_done(sp, post, ok);
	}
}

static void svc2_wc_post(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svc2_post *post = container_of(wc->wr_cqe, struct svc2_post,
					      po_cqe);
	bool ok = wc->status == IB_WC_SUCCESS;
	struct svc2_xprt *sp = svc2_cq_to_xprt(cq);
	struct svc2_post *each, *next;
	LIST_HEAD(done);

	svc2_count(send_completions);
	trace_svc2_wc_send(&post->po_cid, wc);
	if (!ok)
		svc2_close(sp, post->po_reason);

	spin_lock(&sp->sp_post_lock);
	if (!WARN_ON_ONCE(!post->po_posted)) {	/* R3 */
		list_for_each_entry_safe(each, next, &sp->sp_posted, po_list) {
			if (each == post)
				break;
			if (!each->po_signal)
				list_move_tail(&each->po_list, &done);
		}
		list_move_tail(&post->po_list, &done);
	}
	spin_unlock(&sp->sp_post_lock);
	retire(sp, &done, ok);
}

/* Work requests in front of the last of a chain report failure only. */
static void svc2_wc_read(struct ib_cq *cq, struct ib_wc *wc)
{
	trace_svc2_wc_front(cq, wc);
	rpcrdma2_conn_lose(cq->cq_context, RPCRDMA2_LOSS_READ);
}

static void svc2_wc_write(struct ib_cq *cq, struct ib_wc *wc)
{
	trace_svc2_wc_front(cq, wc);
	rpcrdma2_conn_lose(cq->cq_context, RPCRDMA2_LOSS_SEND);
}

/*
 * How long the oldest chain that is to be reported still has, in jiffies; its
 * @reason is what to close for when that is nothing.
 *
 * Return: false when there is no such chain.
 */
static bool time_left(struct svc2_xprt *sp, long *left,
		      enum rpcrdma2_loss *reason)
{
	const struct svc2_post *post;
	bool found = false;

	spin_lock(&sp->sp_post_lock);
	list_for_each_entry(post, &sp->sp_posted, po_list) {
		found = post->po_signal;
		if (found) {
			*left = post->po_since + SVC2_CHAIN_TIMEOUT - jiffies;
			*reason = post->po_reason;
			break;
		}
	}
	spin_unlock(&sp->sp_post_lock);
	return found;
}

static void watch(struct work_struct *work)
{
	struct svc2_xprt *sp = container_of(to_delayed_work(work),
					    struct svc2_xprt, sp_watch);
	enum rpcrdma2_loss reason;
	long left;

	if (!time_left(sp, &left, &reason))
		return;
	if (left > 0) {
		/* a chain may have queued it for later meanwhile */
		mod_delayed_work(svc2_wq, &sp->sp_watch, left);
		return;
	}
	if (!rpcrdma2_conn_is_lost(&sp->sp_conn))
		svc2_count(overdue);
	svc2_close(sp, reason);
}

/**
 * svc2_sq_init - make an empty Send Queue
 * @sp: connection
 */
void svc2_sq_init(struct svc2_xprt *sp)
{
	svc2_gate_init(&sp->sp_sq, SVC2_C_sq_waits);
	spin_lock_init(&sp->sp_post_lock);
	INIT_LIST_HEAD(&sp->sp_posted);
	sp->sp_read_cqe.done = svc2_wc_read;
	sp->sp_write_cqe.done = svc2_wc_write;
	INIT_DELAYED_WORK(&sp->sp_watch, watch);
}

/* Counts the work requests up to the last one, which it returns. */
static struct ib_send_wr *survey(struct svc2_xprt *sp, struct svc2_post *post,
				 struct ib_send_wr *wr)
{
	struct ib_cqe *front = post->po_reason == RPCRDMA2_LOSS_READ ?
			       &sp->sp_read_cqe : &sp->sp_write_cqe;
	unsigned int reads = 0, writes = 0;

	for (post->po_wrs = 1; ; post->po_wrs++, wr = wr->next) {
		switch (wr->opcode) {
		case IB_WR_RDMA_READ:
		case IB_WR_RDMA_READ_WITH_INV:
			reads++;
			break;
		case IB_WR_RDMA_WRITE:
			writes++;
			break;
		default:
			break;
		}
		if (!wr->next)
			break;
		wr->wr_cqe = front;
	}
	if (reads)
		svc2_count_add(rdma_reads, reads);
	if (writes)
		svc2_count_add(rdma_writes, writes);
	return wr;
}

/*
 * Sends in a row that nobody is told of are short, and few. With the last
 * send context gone somebody has to be told, or the next taker might wait for
 * ever.
 */
static bool needs_signal(const struct svc2_xprt *sp,
			 const struct svc2_post *post)
{
	return post->po_signal || post->po_wrs > 1 ||
	       sp->sp_unsignaled + 1 >= sp->sp_signal_batch ||
	       !READ_ONCE(sp->sp_tx_gate.ga_avail);
}

/**
 * svc2_sq_post - hand a chain to the device
 * @sp: connection
 * @post: its owner's record of it; po_signal, po_cid and po_done are set
 * @first: its work requests
 *
 * Context: svc thread; sleeps while the queue is full. RPC task, which does
 * not, with po_reserved.
 * Return: 0 when the chain belongs to the Send Queue (R3), perhaps not for
 * long; the connection may have been closed. -EMSGSIZE when it is longer than
 * the queue can ever take, -ENOTCONN when the connection is lost: the chain
 * still is the caller's.
 */
int svc2_sq_post(struct svc2_xprt *sp, struct svc2_post *post,
		 struct ib_send_wr *first)
{
	const struct ib_send_wr *bad = NULL;
	struct ib_send_wr *last;
	bool signal;
	int ret;

	last = survey(sp, post, first);
	if (post->po_wrs > sp->sp_sq_limit)
		return -EMSGSIZE;
	if (!post->po_reserved) {
		ret = svc2_gate_take(sp, &sp->sp_sq, post->po_wrs);
		if (ret)
			return ret;
	}

	post->po_cqe.done = svc2_wc_post;
	last->wr_cqe = &post->po_cqe;
	svc2_count(post_send);

	spin_lock(&sp->sp_post_lock);
	signal = needs_signal(sp, post);
	post->po_signal = signal;
	post->po_since = jiffies;
	if (signal) {
		last->send_flags |= IB_SEND_SIGNALED;
		sp->sp_unsignaled = 0;
	} else {
		last->send_flags &= ~IB_SEND_SIGNALED;
		sp->sp_unsignaled++;
	}
	trace_svc2_post_send(sp, post, last);
	post->po_posted = true;
	list_add_tail(&post->po_list, &sp->sp_posted);
	ret = ib_post_send(sp->sp_conn.co_id->qp, first, &bad);
	if (ret && bad == first) {
		post->po_posted = false;
		list_del(&post->po_list);
	}
	spin_unlock(&sp->sp_post_lock);
	if (likely(!ret)) {
		/* @post may be gone */
		if (signal && !delayed_work_pending(&sp->sp_watch))
			queue_delayed_work(svc2_wq, &sp->sp_watch,
					   SVC2_CHAIN_TIMEOUT);
		return 0;
	}

	/*
	 * What the device may have taken in part stays: svc2_sq_flush()
	 * retires it.
	 */
	svc2_close(sp, RPCRDMA2_LOSS_POST);
	if (bad != first)
		return 0;
	if (!post->po_reserved)
		svc2_gate_give(sp, &sp->sp_sq, post->po_wrs);
	return -ENOTCONN;
}

/**
 * svc2_sq_flush - retire what the device never reported
 * @sp: connection whose queue pair has been drained
 */
void svc2_sq_flush(struct svc2_xprt *sp)
{
	LIST_HEAD(done);

	list_splice_init(&sp->sp_posted, &done);
	retire(sp, &done, false);
}
