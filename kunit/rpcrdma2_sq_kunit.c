// SPDX-License-Identifier: GPL-2.0
/*
 * The Send Queue, over a device that accepts and completes work requests as the test cases
 * choose.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/lockdep.h>
#include <linux/module.h>

#include <rpcrdma2/compat.h>
#include <rpcrdma2/conn.h>

#define ENTRIES	16
#define BATCH	4

/**
 * struct chain - a chain of work requests and its outcome
 * @post: record of the queue
 * @wrs: work requests
 * @done: calls of po_done
 * @refused: calls of po_refused
 * @ok: argument of the last call of po_done
 * @turn: position in the order of completed chains
 */
struct chain {
	struct rpcrdma2_post	post;
	struct ib_send_wr	wrs[3];
	unsigned int		done;
	unsigned int		refused;
	bool			ok;
	unsigned int		turn;
};

/**
 * struct queue - a connection, and a record of events
 * @test: the test case
 * @co: connection
 * @id: its identifier
 * @qp: its queue pair
 * @cq: its send CQ
 * @device: its device
 * @takes: number of work requests that the device still accepts
 * @posted: number of accepted work requests
 * @rooms: calls of ->room
 * @losses: calls of ->lost
 * @why: reason that the last call passed
 * @ports: data of the device's ports
 * @state: state that the queue pair was put into, or 0
 * @reclaim: flags of the task then, by which drivers allocate memory
 * @flushes: chain that the device flushes in the error state, or NULL
 * @extra: po_extra of the chains to post
 * @c: chains of the test cases
 */
struct queue {
	struct kunit		*test;
	struct rpcrdma2_conn	co;
	struct rdma_cm_id	id;
	struct ib_qp		qp;
	struct ib_cq		cq;
	struct ib_device	device;
	unsigned int		takes;
	unsigned int		posted;
	unsigned int		rooms;
	unsigned int		losses;
	enum rpcrdma2_loss	why;
	struct ib_port_data	ports[1];
	enum ib_qp_state	state;
	unsigned int		reclaim;
	struct chain		*flushes;
	unsigned int		extra;
	struct chain		c[6];
};

static unsigned int turns;

static int fake_post(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct queue *q = container_of(qp, struct queue, qp);

	for (; wr; wr = wr->next) {
		if (!q->takes) {
			*bad = wr;
			return -ENOMEM;
		}
		q->takes--;
		q->posted++;
	}
	return 0;
}

static void fake_drain(struct ib_qp *qp)
{
}

static int fake_modify(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
		       struct ib_udata *udata)
{
	struct queue *q = container_of(qp, struct queue, qp);
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };

	q->state = attr->qp_state;
	q->reclaim = current->flags & (PF_MEMALLOC | PF_MEMALLOC_NOFS);
	if (q->flushes) {
		wc.wr_cqe = &q->flushes->post.po_cqe;
		wc.wr_cqe->done(&q->cq, &wc);
	}
	return 0;
}

static void lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	struct queue *q = container_of(co, struct queue, co);

	q->losses++;
	q->why = why;
}

static void room(struct rpcrdma2_conn *co)
{
	container_of(co, struct queue, co)->rooms++;
}

static const struct rpcrdma2_conn_ops ops = { .lost = lost, .room = room };

static struct queue *open_queue(struct kunit *test, unsigned long timeout)
{
	struct queue *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, q);
	q->test = test;
	rpcrdma2_conn_init(&q->co, &ops);
	q->device.ops.post_send = fake_post;
	q->device.ops.drain_sq = fake_drain;
	q->device.ops.modify_qp = fake_modify;
	q->device.port_data = q->ports;
	q->qp.real_qp = &q->qp;
	q->qp.device = &q->device;
	q->qp.send_cq = &q->cq;
	q->id.qp = &q->qp;
	q->co.co_id = &q->id;
	q->co.co_send_cq = &q->cq;
	q->cq.cq_context = &q->co;
	q->takes = UINT_MAX;
	rpcrdma2_sq_open(&q->co, ENTRIES, 0, BATCH, timeout);
	turns = 0;
	return q;
}

static int entries(const struct queue *q)
{
	return atomic_read(&q->co.co_sq.sq_units.un_free);
}

static void chain_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
		       bool ok)
{
	struct chain *c = container_of(post, struct chain, post);

	c->done++;
	c->ok = ok;
	c->turn = ++turns;
}

/* C-093: the Call is recorded before the peer can connect and repeat it. */
static void chain_refused(struct rpcrdma2_conn *co, struct rpcrdma2_post *post)
{
	struct queue *q = container_of(co, struct queue, co);
	struct chain *c = container_of(post, struct chain, post);

	KUNIT_EXPECT_EQ(q->test, q->losses, 0);
	KUNIT_EXPECT_EQ(q->test, c->done, 0);
	c->refused++;
}

/* Posts a chain of @count requests: @front ones, and @opcode at the end */
static int post(struct queue *q, struct chain *c, enum ib_wr_opcode front,
		enum ib_wr_opcode opcode, unsigned int count, bool signal)
{
	unsigned int i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < count; i++) {
		c->wrs[i].opcode = i == count - 1 ? opcode : front;
		c->wrs[i].next = i == count - 1 ? NULL : &c->wrs[i + 1];
		/* Every other request has a stale flag from an earlier use. */
		c->wrs[i].send_flags = IB_SEND_FENCE |
				       ((c - q->c + i) % 2 ? 0 : IB_SEND_SIGNALED);
	}
	c->post.po_done = chain_done;
	c->post.po_refused = chain_refused;
	c->post.po_signal = signal;
	c->post.po_extra = q->extra;
	if (!rpcrdma2_sq_take(&q->co, count, false))
		return -EAGAIN;
	return rpcrdma2_sq_post(&q->co, &c->post, c->wrs);
}

static int post_send(struct queue *q, struct chain *c, bool signal)
{
	return post(q, c, IB_WR_SEND, IB_WR_SEND, 1, signal);
}

static void complete_wr(struct queue *q, const struct ib_send_wr *wr,
			enum ib_wc_status status)
{
	struct ib_wc wc = { .wr_cqe = wr->wr_cqe, .status = status };

	wr->wr_cqe->done(&q->cq, &wc);
}

/* The queue changes no other flag. */
static bool is_signaled(const struct ib_send_wr *wr)
{
	return (wr->send_flags ^ IB_SEND_FENCE) == IB_SEND_SIGNALED;
}

static bool is_unsignaled(const struct ib_send_wr *wr)
{
	return wr->send_flags == IB_SEND_FENCE;
}

/* Q1: a completion also retires all earlier chains without a completion of their own. */
static void retires_unsignaled(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);
	struct chain *c = q->c;
	unsigned int i;

	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, post_send(q, &c[i], i == 2), 0);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES - 4);
	complete_wr(q, c[2].wrs, IB_WC_SUCCESS);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, c[i].done, 1);
		KUNIT_EXPECT_TRUE(test, c[i].ok);
		KUNIT_EXPECT_EQ(test, c[i].refused, 0);
		KUNIT_EXPECT_EQ(test, c[i].post.po_wrs, 0);
		KUNIT_EXPECT_EQ(test, c[i].turn, i + 1);
	}
	KUNIT_EXPECT_EQ(test, c[3].done, 0);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES - 1);
	KUNIT_EXPECT_EQ(test, q->rooms, 0);

	rpcrdma2_sq_drain(&q->co);
	KUNIT_EXPECT_EQ(test, c[2].done, 1);
	KUNIT_EXPECT_EQ(test, c[3].done, 1);
	KUNIT_EXPECT_FALSE(test, c[3].ok);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
}

/* Q1: pending RDMA Reads stay posted when later chains complete. */
static void keeps_pending_reads(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);
	struct chain *read = &q->c[0], *silent = &q->c[1], *send = &q->c[2];

	KUNIT_ASSERT_EQ(test, post(q, read, IB_WR_RDMA_READ, IB_WR_RDMA_READ,
				   3, true), 0);
	KUNIT_ASSERT_EQ(test, post_send(q, silent, false), 0);
	KUNIT_ASSERT_EQ(test, post_send(q, send, true), 0);
	complete_wr(q, send->wrs, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, silent->done, 1);
	KUNIT_EXPECT_EQ(test, send->done, 1);
	KUNIT_EXPECT_EQ(test, read->done, 0);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES - 3);

	complete_wr(q, &read->wrs[2], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, read->done, 1);
	KUNIT_EXPECT_TRUE(test, read->ok);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES);
}

/* One completion covers BATCH entries; only the last request of a chain is signaled. */
static void moderates(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);
	struct chain *c = q->c, *regs = c + BATCH;
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		KUNIT_ASSERT_EQ(test, post_send(q, &c[i], false), 0);
		KUNIT_EXPECT_EQ(test, is_signaled(c[i].wrs), i == BATCH - 1);
		KUNIT_EXPECT_EQ(test, is_unsignaled(c[i].wrs), i < BATCH - 1);
		KUNIT_EXPECT_EQ(test, c[i].post.po_signal, i == BATCH - 1);
	}
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, post(q, &regs[i], IB_WR_REG_MR,
					   IB_WR_SEND, 3, false), 0);
		KUNIT_EXPECT_TRUE(test, is_unsignaled(&regs[i].wrs[0]));
		KUNIT_EXPECT_TRUE(test, is_unsignaled(&regs[i].wrs[1]));
		KUNIT_EXPECT_EQ(test, is_signaled(&regs[i].wrs[2]), i == 1);
	}
	complete_wr(q, &regs[1].wrs[2], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, regs[0].done, 1);
	KUNIT_EXPECT_EQ(test, c[0].done, 1);
	/* This chain has its own completion. */
	KUNIT_EXPECT_EQ(test, c[BATCH - 1].done, 0);
	complete_wr(q, c[BATCH - 1].wrs, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES);
}

/* The reservations of a chain count for moderation, but take no entries. */
static void counts_extra(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);
	unsigned int i;

	q->extra = BATCH / 2 - 1;
	for (i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, post_send(q, &q->c[i], false), 0);
		KUNIT_EXPECT_EQ(test, is_signaled(q->c[i].wrs), i % 2);
	}
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES - 4);
	complete_wr(q, q->c[1].wrs, IB_WC_SUCCESS);
	complete_wr(q, q->c[3].wrs, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES);
}

static const struct failure {
	const char		*desc;
	enum ib_wr_opcode	front, last;
	unsigned int		failed;
	enum rpcrdma2_loss	why;
} failures[] = {
	{ "first of two RDMA Reads", IB_WR_RDMA_READ, IB_WR_RDMA_READ, 0,
	  RPCRDMA2_LOSS_READ },
	{ "last RDMA Read", IB_WR_REG_MR, IB_WR_RDMA_READ_WITH_INV, 1,
	  RPCRDMA2_LOSS_READ },
	{ "RDMA Write", IB_WR_RDMA_WRITE, IB_WR_SEND, 0, RPCRDMA2_LOSS_SEND },
	{ "Send", IB_WR_RDMA_WRITE, IB_WR_SEND, 1, RPCRDMA2_LOSS_SEND },
	{ "Send With Invalidate", IB_WR_RDMA_WRITE, IB_WR_SEND_WITH_INV, 1,
	  RPCRDMA2_LOSS_SEND },
	{ "registration", IB_WR_REG_MR, IB_WR_SEND, 0, RPCRDMA2_LOSS_REGION },
	{ "first of two LOCAL_INVs", IB_WR_LOCAL_INV, IB_WR_LOCAL_INV, 0,
	  RPCRDMA2_LOSS_REGION },
	{ "last of two LOCAL_INVs", IB_WR_LOCAL_INV, IB_WR_LOCAL_INV, 1,
	  RPCRDMA2_LOSS_REGION },
};

KUNIT_ARRAY_PARAM_DESC(failure, failures, desc);

/* S46: a failure ends the connection, and the chain is done exactly once. */
static void failure_ends_connection(struct kunit *test)
{
	const struct failure *f = test->param_value;
	struct queue *q = open_queue(test, 0);
	struct chain *silent = &q->c[0], *c = &q->c[1], *flushed = &q->c[2];
	unsigned int i;

	KUNIT_ASSERT_EQ(test, post_send(q, silent, false), 0);
	KUNIT_ASSERT_EQ(test, post(q, c, f->front, f->last, 2, true), 0);
	KUNIT_ASSERT_EQ(test, post_send(q, flushed, false), 0);
	for (i = f->failed; i < 2; i++)
		complete_wr(q, &c->wrs[i], i == f->failed ? IB_WC_REM_ACCESS_ERR :
							   IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_EQ(test, q->why, f->why);
	KUNIT_EXPECT_EQ(test, silent->done, 0);
	KUNIT_EXPECT_EQ(test, c->done, 1);
	KUNIT_EXPECT_FALSE(test, c->ok);
	complete_wr(q, flushed->wrs, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, flushed->done, 1);
	KUNIT_EXPECT_FALSE(test, flushed->ok);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	rpcrdma2_sq_drain(&q->co);
	KUNIT_EXPECT_EQ(test, c->done + flushed->done + silent->done, 3);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES);
}

/* A work request that was flushed is not the reason, if another queue has one. */
static void flushed_before_its_cause(struct kunit *test)
{
	unsigned int failed, i;

	for (failed = 0; failed < 2; failed++) {
		struct queue *q = open_queue(test, 0);
		struct chain *c = &q->c[0];

		KUNIT_ASSERT_EQ(test, post(q, c, IB_WR_RDMA_WRITE, IB_WR_SEND, 2, true), 0);
		for (i = failed; i < 2; i++)
			complete_wr(q, &c->wrs[i], IB_WC_WR_FLUSH_ERR);
		KUNIT_EXPECT_EQ(test, q->why, RPCRDMA2_LOSS_FLUSHED);
		rpcrdma2_conn_lose(&q->co, RPCRDMA2_LOSS_RECEIVE);
		KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&q->co), RPCRDMA2_LOSS_RECEIVE);
		rpcrdma2_sq_drain(&q->co);
	}
}

static const struct refusal {
	const char		*desc;
	unsigned int		failed;
	enum ib_wc_status	status;
	bool			refused;
} refusals[] = {
	{ "remote access error, first work request",
	  0, IB_WC_REM_ACCESS_ERR, true },
	{ "remote access error, last work request",
	  2, IB_WC_REM_ACCESS_ERR, true },
	{ "Receive too small", 2, IB_WC_REM_INV_REQ_ERR, true },
	{ "remote operation error", 2, IB_WC_REM_OP_ERR, true },
	{ "retries exceeded", 0, IB_WC_RETRY_EXC_ERR, false },
	{ "RNR retries exceeded", 2, IB_WC_RNR_RETRY_EXC_ERR, false },
	{ "flushed", 0, IB_WC_WR_FLUSH_ERR, false },
	{ "local protection error", 0, IB_WC_LOC_PROT_ERR, false },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, desc);

/* S46: the queue marks the chain that the peer's device refused, and no other chain. */
static void refused_by_peer(struct kunit *test)
{
	const struct refusal *r = test->param_value;
	struct queue *q = open_queue(test, 0);
	struct chain *c = &q->c[0], *flushed = &q->c[1];
	unsigned int i;

	KUNIT_ASSERT_EQ(test, post(q, c, IB_WR_RDMA_WRITE, IB_WR_SEND, 3, true), 0);
	KUNIT_ASSERT_EQ(test, post_send(q, flushed, true), 0);
	for (i = r->failed; i < 3; i++)
		complete_wr(q, &c->wrs[i], i == r->failed ? r->status :
							   IB_WC_WR_FLUSH_ERR);
	complete_wr(q, flushed->wrs, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, c->done, 1);
	KUNIT_EXPECT_EQ(test, c->refused, r->refused);
	KUNIT_EXPECT_EQ(test, flushed->refused, 0);
	rpcrdma2_sq_drain(&q->co);
}

/* A chain of which the device accepts nothing remains with the caller. */
static void refused(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);
	struct chain *c = q->c;

	q->takes = 0;
	KUNIT_EXPECT_EQ(test, post(q, c, IB_WR_REG_MR, IB_WR_SEND, 3, true),
			-ENOTCONN);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_EQ(test, q->why, RPCRDMA2_LOSS_POST);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES);
	KUNIT_EXPECT_EQ(test, c->post.po_wrs, 0);
	rpcrdma2_sq_drain(&q->co);
	KUNIT_EXPECT_EQ(test, c->done, 0);
}

/* A chain that the device accepts in part stays on the queue until the drain. */
static void refused_in_part(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);
	struct chain *c = q->c;

	q->takes = 1;
	KUNIT_EXPECT_EQ(test, post(q, c, IB_WR_REG_MR, IB_WR_SEND, 3, true), 0);
	KUNIT_EXPECT_EQ(test, q->why, RPCRDMA2_LOSS_POST);
	KUNIT_EXPECT_EQ(test, q->posted, 1);
	KUNIT_EXPECT_EQ(test, c->done, 0);
	rpcrdma2_sq_drain(&q->co);
	KUNIT_EXPECT_EQ(test, c->done, 1);
	KUNIT_EXPECT_FALSE(test, c->ok);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES);
}

/* ->room runs once for each failed attempt to take entries. */
static void room_callback(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);
	struct chain *c = q->c;

	KUNIT_ASSERT_EQ(test, post_send(q, c, true), 0);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_take(&q->co, ENTRIES, true));
	complete_wr(q, c->wrs, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, q->rooms, 1);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_take(&q->co, ENTRIES, true));
	rpcrdma2_sq_give(&q->co, ENTRIES);
	KUNIT_EXPECT_EQ(test, q->rooms, 1);
}

/* S46: Calls cannot take the entries that are reserved for other uses. */
static void reserves_entries(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);

	rpcrdma2_sq_open(&q->co, ENTRIES, 2, BATCH, 0);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_take(&q->co, ENTRIES - 1, false));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_take(&q->co, ENTRIES - 2, false));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_take(&q->co, 1, false));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_take(&q->co, 2, true));
	KUNIT_EXPECT_EQ(test, entries(q), 0);
	rpcrdma2_sq_give(&q->co, 2);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_take(&q->co, 1, false));
	rpcrdma2_sq_give(&q->co, 1);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_take(&q->co, 1, false));
	rpcrdma2_sq_give(&q->co, ENTRIES - 1);
}

/* S46: a signaled chain has a deadline; its opcode determines the reason of the loss. */
static void overdue(struct kunit *test)
{
	struct queue *q = open_queue(test, 2);
	struct chain *send = &q->c[0], *read = &q->c[1];

	KUNIT_ASSERT_EQ(test, post_send(q, send, false), 0);
	msleep(50);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	KUNIT_ASSERT_EQ(test, post(q, read, IB_WR_RDMA_READ, IB_WR_RDMA_READ,
				   2, true), 0);
	msleep(100);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_EQ(test, q->why, RPCRDMA2_LOSS_READ);
	KUNIT_EXPECT_TRUE(test, q->co.co_sq.sq_overdue);
	KUNIT_EXPECT_EQ(test, read->done, 0);
	rpcrdma2_sq_drain(&q->co);
	KUNIT_EXPECT_EQ(test, read->done, 1);
}

/* A chain that completes in time does not end the connection. */
static void completes_in_time(struct kunit *test)
{
	struct queue *q = open_queue(test, 2);
	struct chain *c = q->c;

	KUNIT_ASSERT_EQ(test, post_send(q, c, true), 0);
	complete_wr(q, c->wrs, IB_WC_SUCCESS);
	msleep(100);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	KUNIT_EXPECT_FALSE(test, q->co.co_sq.sq_overdue);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&q->co.co_sq.sq_watch));
	rpcrdma2_sq_drain(&q->co);
}

/* Shifts the queue's timestamps by @time jiffies, and runs the watchdog */
static void pass(struct queue *q, unsigned long time)
{
	struct rpcrdma2_sq *sq = &q->co.co_sq;
	struct rpcrdma2_post *post;

	list_for_each_entry(post, &sq->sq_posted, po_list)
		post->po_since -= time;
	sq->sq_moved -= time;
	mod_delayed_work(system_percpu_wq, &sq->sq_watch, 0);
	flush_delayed_work(&sq->sq_watch);
}

#define TIMEOUT	(20UL * HZ)

/* S46: the time of a chain behind others starts when the chain becomes the oldest. */
static void overdue_when_oldest(struct kunit *test)
{
	struct queue *q = open_queue(test, TIMEOUT);
	struct chain *c = q->c;
	unsigned int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, post_send(q, &c[i], true), 0);
	for (i = 0; i < 2; i++) {
		pass(q, TIMEOUT - HZ);
		KUNIT_EXPECT_EQ(test, q->losses, 0);
		complete_wr(q, c[i].wrs, IB_WC_SUCCESS);
	}
	pass(q, TIMEOUT - HZ);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&q->co.co_sq.sq_watch));
	pass(q, HZ);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_TRUE(test, q->co.co_sq.sq_overdue);
	rpcrdma2_sq_drain(&q->co);
}

/* S46: occasional progress does not extend the deadline of later chains forever. */
static void overdue_despite_progress(struct kunit *test)
{
	struct queue *q = open_queue(test, TIMEOUT);
	struct chain *c = q->c;
	unsigned int i;

	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, post_send(q, &c[i], true), 0);
	for (i = 0; i < 4 && !q->losses; i++) {
		pass(q, TIMEOUT - HZ);
		complete_wr(q, c[i].wrs, IB_WC_SUCCESS);
	}
	KUNIT_EXPECT_EQ(test, i, 4);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_TRUE(test, q->co.co_sq.sq_overdue);
	rpcrdma2_sq_drain(&q->co);
}

/* S46: progress of later chains does not extend the deadline of the oldest. */
static void overdue_behind_the_oldest(struct kunit *test)
{
	struct queue *q = open_queue(test, TIMEOUT);
	struct chain *read = &q->c[0], *send = &q->c[1];

	KUNIT_ASSERT_EQ(test, post(q, read, IB_WR_RDMA_READ, IB_WR_RDMA_READ,
				   1, true), 0);
	KUNIT_ASSERT_EQ(test, post_send(q, send, true), 0);
	pass(q, TIMEOUT - HZ);
	complete_wr(q, send->wrs, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	pass(q, HZ);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_EQ(test, q->why, RPCRDMA2_LOSS_READ);
	rpcrdma2_sq_drain(&q->co);
}

/*
 * S46: the owner of an overdue chain gets it back, even if the task that has to close the
 * connection waits for this chain.
 */
static void overdue_is_flushed(struct kunit *test)
{
	struct queue *q = open_queue(test, TIMEOUT);
	struct chain *c = q->c;

	KUNIT_ASSERT_EQ(test, post_send(q, c, true), 0);
	q->flushes = c;
	pass(q, TIMEOUT - HZ);
	KUNIT_EXPECT_EQ(test, q->state, 0);
	KUNIT_EXPECT_EQ(test, c->done, 0);
	pass(q, HZ);
	KUNIT_EXPECT_EQ(test, q->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, q->reclaim, PF_MEMALLOC_NOFS);
	KUNIT_EXPECT_EQ(test, c->done, 1);
	KUNIT_EXPECT_FALSE(test, c->ok);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_EQ(test, q->why, RPCRDMA2_LOSS_SEND);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&q->co), RPCRDMA2_LOSS_SEND);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES);
}

/* With a swap file the driver may use memory reserves for that. */
static void overdue_is_flushed_for_swap(struct kunit *test)
{
	struct queue *q = open_queue(test, TIMEOUT);

	q->co.co_swaps = true;
	KUNIT_ASSERT_EQ(test, post_send(q, q->c, true), 0);
	q->flushes = q->c;
	pass(q, TIMEOUT);
	KUNIT_EXPECT_EQ(test, q->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, q->reclaim, PF_MEMALLOC | PF_MEMALLOC_NOFS);
	KUNIT_EXPECT_EQ(test, q->c->done, 1);
}

struct begin_chain {
	struct rpcrdma2_post	post;
	struct ib_send_wr	wr;
	unsigned int		before;
	unsigned int		calls;
};

static void record_begin(struct rpcrdma2_conn *co, struct rpcrdma2_post *post)
{
	struct queue *q = container_of(co, struct queue, co);
	struct begin_chain *b = container_of(post, struct begin_chain, post);

	lockdep_assert_held(&co->co_sq.sq_lock);
	b->before = q->posted;
	b->calls++;
}

static void ignore_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
			bool ok)
{
}

/* The lock covers po_begin and the post: no other chain can be posted between them. */
static void begin_under_lock(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);
	struct begin_chain *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->wr.opcode = IB_WR_SEND;
	b->post.po_begin = record_begin;
	b->post.po_done = ignore_done;
	b->post.po_signal = true;
	KUNIT_ASSERT_EQ(test, post_send(q, q->c, false), 0);
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&q->co, 1, false));
	KUNIT_ASSERT_EQ(test, rpcrdma2_sq_post(&q->co, &b->post, &b->wr), 0);
	KUNIT_EXPECT_EQ(test, b->wr.send_flags, IB_SEND_SIGNALED);
	KUNIT_EXPECT_EQ(test, b->calls, 1);
	KUNIT_EXPECT_EQ(test, b->before, 1);
	KUNIT_EXPECT_EQ(test, q->posted, 2);
	rpcrdma2_sq_drain(&q->co);
	KUNIT_EXPECT_EQ(test, b->calls, 1);
}

static void count_begin(struct rpcrdma2_conn *co, struct rpcrdma2_post *post)
{
	container_of(post, struct chain, post)->done += 10;
}

static int post_bytes(struct queue *q, struct chain *c, u32 bytes)
{
	memset(c, 0, sizeof(*c));
	c->wrs[0].opcode = IB_WR_SEND;
	c->post.po_bytes = bytes;
	c->post.po_begin = count_begin;
	c->post.po_done = chain_done;
	if (!rpcrdma2_sq_take(&q->co, 1, false))
		return -EAGAIN;
	return rpcrdma2_sq_post(&q->co, &c->post, c->wrs);
}

/* C-034: the queue refuses a message that exceeds a smaller, new size of Receives. */
static void c034_bounds_sends(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);

	KUNIT_EXPECT_EQ(test, post_bytes(q, &q->c[0], U32_MAX), 0);
	rpcrdma2_sq_bound(&q->co, 4096);
	KUNIT_EXPECT_EQ(test, post_bytes(q, &q->c[1], 4097), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES - 1);
	KUNIT_EXPECT_EQ(test, q->c[1].post.po_wrs, 0);
	KUNIT_EXPECT_EQ(test, q->posted, 1);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	KUNIT_EXPECT_EQ(test, post_bytes(q, &q->c[2], 4096), 0);
	/* not a Send */
	KUNIT_EXPECT_EQ(test, post_bytes(q, &q->c[3], 0), 0);
	rpcrdma2_sq_bound(&q->co, 8192);
	KUNIT_EXPECT_EQ(test, post_bytes(q, &q->c[4], 8192), 0);
	KUNIT_EXPECT_EQ(test, q->posted, 4);
	rpcrdma2_sq_drain(&q->co);
	KUNIT_EXPECT_EQ(test, q->c[1].done, 0);
	KUNIT_EXPECT_EQ(test, q->c[4].done, 11);
	KUNIT_EXPECT_EQ(test, entries(q), ENTRIES);
}

/* Posts another chain during the drain. */
static void drain_and_post(struct ib_qp *qp)
{
	struct queue *q = container_of(qp, struct queue, qp);

	post_send(q, &q->c[1], true);
}

/* Q1: the drain does not complete a chain that is posted meanwhile. The watchdog is off. */
static void drained(struct kunit *test)
{
	struct queue *q = open_queue(test, TIMEOUT);

	q->device.ops.drain_sq = drain_and_post;
	KUNIT_ASSERT_EQ(test, post_send(q, &q->c[0], true), 0);
	rpcrdma2_sq_drain(&q->co);
	KUNIT_EXPECT_EQ(test, q->c[0].done, 1);
	KUNIT_EXPECT_EQ(test, q->c[1].done, 0);
	q->device.ops.drain_sq = fake_drain;
	rpcrdma2_sq_drain(&q->co);
	KUNIT_EXPECT_EQ(test, q->c[1].done, 1);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&q->co.co_sq.sq_watch));
}

/* Q2: the check detects a missing entry, a surplus entry and a leftover chain. */
static void q2_detects_lost_entries(struct kunit *test)
{
	struct queue *q = open_queue(test, 0);

	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&q->co));
	KUNIT_ASSERT_EQ(test, post_send(q, &q->c[0], true), 0);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_is_whole(&q->co));
	rpcrdma2_sq_give(&q->co, 1);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_is_whole(&q->co));
	rpcrdma2_sq_drain(&q->co);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_is_whole(&q->co));
}

static struct kunit_case sq_cases[] = {
	KUNIT_CASE(retires_unsignaled),
	KUNIT_CASE(keeps_pending_reads),
	KUNIT_CASE(moderates),
	KUNIT_CASE(counts_extra),
	KUNIT_CASE_PARAM(failure_ends_connection, failure_gen_params),
	KUNIT_CASE(begin_under_lock),
	KUNIT_CASE(c034_bounds_sends),
	KUNIT_CASE(flushed_before_its_cause),
	KUNIT_CASE_PARAM(refused_by_peer, refusal_gen_params),
	KUNIT_CASE(refused),
	KUNIT_CASE(refused_in_part),
	KUNIT_CASE(room_callback),
	KUNIT_CASE(reserves_entries),
	KUNIT_CASE(drained),
	KUNIT_CASE(q2_detects_lost_entries),
	KUNIT_CASE(overdue),
	KUNIT_CASE(completes_in_time),
	KUNIT_CASE(overdue_when_oldest),
	KUNIT_CASE(overdue_despite_progress),
	KUNIT_CASE(overdue_behind_the_oldest),
	KUNIT_CASE(overdue_is_flushed),
	KUNIT_CASE(overdue_is_flushed_for_swap),
	{}
};

static struct kunit_suite sq_suite = {
	.name		= "rpcrdma2_sq",
	.test_cases	= sq_cases,
};

kunit_test_suite(sq_suite);
