// SPDX-License-Identifier: GPL-2.0
/*
 * Send Queue entries of the server: for Calls before their execution, for Replies, and for
 * callbacks.
 *
 * The fake device accepts all work requests and completes none. The semaphores come from
 * svcrdma2_sem_kunit.c, which also contains the code under test.
 */
#include <kunit/test.h>

#include "counters.h"
#include "limits.h"

#define DEPTH		64
#define BACKWARD	2
/* for callbacks: two Sends and sixteen regions, twice */
#define BACKWARD_WRS	(2 * BACKWARD + 2 * SVC2_BACKWARD_REGIONS)
#define SPARE		4
#define BATCH		4
#define WIDTH		4
#define LONGEST		(DEPTH - BACKWARD_WRS - BATCH)
/* for the chunk that sq_init() offers: (8 + 3 + 1 + 3) / WIDTH, and the Send */
#define NEED		4

/**
 * struct fixture - a connection, and Calls that offer a Write chunk
 * @sp: connection with DEPTH entries, BACKWARD of them reserved
 * @id: its rdma_cm identifier
 * @qp: its queue pair
 * @device: its device
 * @serv: its service
 * @posts: records of the posted chains; none completes
 * @posted: number of used entries of @posts
 * @taken: number of work requests that the device has accepted
 * @wrs: work requests of the last chain
 * @calls: Calls
 * @later: returns entries as soon as a thread waits, one too few, and then one more
 * @waited_on: the thread still waited before the last entry
 */
struct fixture {
	struct svc2_xprt	sp;
	struct rdma_cm_id	id;
	struct ib_qp		qp;
	struct ib_device	device;
	struct svc_serv		serv;
	struct rpcrdma2_post	posts[DEPTH];
	unsigned int		posted;
	unsigned int		taken;
	struct ib_send_wr	wrs[48];
	struct svc2_msg		calls[4];
	struct delayed_work	later;
	bool			waited_on;
};

static int fake_post(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	for (; wr; wr = wr->next)
		container_of(qp, struct fixture, qp)->taken++;
	return 0;
}

static void lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
}

static void room(struct rpcrdma2_conn *co)
{
	struct svc2_xprt *sp = svc2_from_conn(co);

	svc2_sem_wake(sp, &sp->sp_sq_sem);
}

static const struct rpcrdma2_conn_ops ops = { .lost = lost, .room = room };

/* A Write chunk of @bytes in @segs segments */
static void offer(struct svc2_msg *call, u32 bytes, u32 segs)
{
	struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;

	h->h_nwrites = 1;
	h->h_writes[0].ck_length = bytes;
	h->h_writes[0].ck_nsegs = segs;
	call->sm_offered = bytes;
}

static int sq_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct svc2_xprt *sp;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	machine.stall_timeout = MAX_SCHEDULE_TIMEOUT;
	sp = &f->sp;
	rpcrdma2_conn_init(&sp->sp_conn, &ops);
	f->device.ops.post_send = fake_post;
	f->qp.device = &f->device;
	f->qp.max_write_sge = WIDTH;
	f->id.qp = &f->qp;
	sp->sp_conn.co_id = &f->id;
	f->serv.sv_max_mesg = 1 << 20;
	sp->sp_xprt.xpt_server = &f->serv;
	set_bit(XPT_BUSY, &sp->sp_xprt.xpt_flags);
	init_waitqueue_head(&sp->sp_waitq);
	spin_lock_init(&sp->sp_recv_lock);
	INIT_LIST_HEAD(&sp->sp_recv_q);
	INIT_LIST_HEAD(&sp->sp_start_q);
	INIT_LIST_HEAD(&sp->sp_ready_q);
	INIT_LIST_HEAD(&sp->sp_short_q);
	svc2_sem_init(&sp->sp_sq_sem, &sp->sp_conn.co_sq.sq_units, SVC2_C_sq_waits);
	svc2_sem_init(&sp->sp_tx_sem, NULL, SVC2_C_tx_waits);
	svc2_sem_init(&sp->sp_mr_sem, NULL, SVC2_C_mr_waits);
	svc2_sem_open(&sp->sp_tx_sem, 8);
	sp->sp_backward_max = BACKWARD;
	sp->sp_sq_depth = DEPTH;
	sp->sp_sq_longest = LONGEST;
	sp->sp_ex.ex_supported.pr_brs = RDMA2_BKREQSUP_GENL;
	sp->sp_sq_spare = SPARE;
	rpcrdma2_sq_open(&sp->sp_conn, DEPTH, BACKWARD, BATCH, 0);
	for (i = 0; i < ARRAY_SIZE(f->calls); i++) {
		rpcrdma2_rw_init(&f->calls[i].sm_rw, DMA_FROM_DEVICE);
		/* 8 pages, and additional entries: see svc2_reply_wrs() */
		offer(&f->calls[i], 8 * PAGE_SIZE, 1);
	}
	return 0;
}

static int avail(const struct fixture *f)
{
	return svc2_sem_avail(&f->sp.sp_sq_sem);
}

/* All send contexts are in use, and no completion is pending. */
static void exhaust_contexts(struct fixture *f)
{
	atomic_set(&f->sp.sp_tx_sem.se_units->un_free, 0);
	f->sp.sp_conn.co_sq.sq_batch = 0;
}

/* Posts a Reply or a callback with @wrs work requests. */
static int post(struct fixture *f, unsigned int wrs, bool backward, unsigned int *held)
{
	unsigned int i;

	memset(f->wrs, 0, sizeof(f->wrs));
	for (i = 0; i < wrs; i++) {
		f->wrs[i].opcode = IB_WR_RDMA_WRITE;
		f->wrs[i].next = i < wrs - 1 ? &f->wrs[i + 1] : NULL;
	}
	f->wrs[wrs - 1].opcode = IB_WR_SEND;
	return svc2_sq_post(&f->sp, &f->posts[f->posted++], f->wrs, backward, held);
}

/* Posts the RDMA Reads of a Call, @count in one chain. */
static int post_reads(struct fixture *f, struct svc2_msg *call, unsigned int count)
{
	unsigned int i;

	memset(f->wrs, 0, sizeof(f->wrs));
	for (i = 0; i < count; i++) {
		f->wrs[i].opcode = i % 2 ? IB_WR_RDMA_READ_WITH_INV : IB_WR_RDMA_READ;
		f->wrs[i].next = i < count - 1 ? &f->wrs[i + 1] : NULL;
	}
	call->sm_chain = f->wrs;
	return svc2_sq_post_reads(&f->sp, call);
}

/* The entries for each purpose, added up by hand */
static void computed_entries(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct rpcrdma2_hdr *h = &f->calls[0].sm_msg.mg_hdr;

	KUNIT_EXPECT_EQ(test, svc2_sq_backward_wrs(&f->sp), 2 * 2 + 2 * 16);
	KUNIT_EXPECT_EQ(test, f->sp.sp_sq_longest, 64 - 36 - 4);
	f->sp.sp_backward_max = 20;
	KUNIT_EXPECT_EQ(test, svc2_sq_backward_wrs(&f->sp), 2 * 20 + 2 * 20);
	f->sp.sp_backward_max = BACKWARD;
	/* C-036: without chunks, callbacks have no regions. */
	f->sp.sp_ex.ex_supported.pr_brs = RDMA2_BKREQSUP_INLINE;
	KUNIT_EXPECT_EQ(test, svc2_sq_backward_wrs(&f->sp), 2 * 2);

	/* 15 pages in three chunks of four segments: (15 + 9 + 4 + 4 * 3) / 4 + 1 */
	offer(&f->calls[0], 4 * PAGE_SIZE, 1);
	h->h_nwrites = 2;
	h->h_writes[1] = h->h_writes[0];
	h->h_writes[2] = h->h_writes[0];
	h->h_has_reply = true;
	h->h_reply.ck_length = 6 * PAGE_SIZE + 1;
	h->h_reply.ck_nsegs = 2;
	f->calls[0].sm_offered = 14 * PAGE_SIZE + 1;
	KUNIT_EXPECT_EQ(test, entries_of_reply(&f->sp, &f->calls[0]), 11);
}

/* The counters distinguish the kinds of work requests, and the device gets every chain. */
static void request_counters(struct kunit *test)
{
	u64 writes = count_of(SVC2_C_rdma_writes), reads = count_of(SVC2_C_rdma_reads);
	u64 doorbells = count_of(SVC2_C_doorbells);
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, post(f, 1, false, NULL), 0);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_rdma_writes), writes);
	KUNIT_EXPECT_EQ(test, post(f, 3, false, NULL), 0);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_rdma_writes), writes + 2);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_rdma_reads), reads);
	KUNIT_EXPECT_EQ(test, post_reads(f, &f->calls[0], 1), 0);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_rdma_reads), reads + 1);
	KUNIT_EXPECT_EQ(test, post_reads(f, &f->calls[1], 4), 0);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_rdma_reads), reads + 5);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_rdma_writes), writes + 2);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_doorbells), doorbells + 4);
	KUNIT_EXPECT_EQ(test, f->taken, 1 + 3 + 1 + 4);
	/* A chain that the queue refuses returns its entries. */
	f->posts[f->posted].po_bytes = 2;
	rpcrdma2_sq_bound(&f->sp.sp_conn, 1);
	KUNIT_EXPECT_EQ(test, post(f, 1, false, NULL), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, avail(f), DEPTH - 9);
}

/* RDMA Reads take their entries, or the Call waits for them and then holds them. */
static void reads_have_entries(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct rpcrdma2_conn *co = &f->sp.sp_conn;
	struct svc2_msg *call = &f->calls[0], *next = &f->calls[1];

	KUNIT_EXPECT_EQ(test, post_reads(f, call, LONGEST - SPARE + 1), -E2BIG);
	KUNIT_EXPECT_EQ(test, post_reads(f, call, LONGEST - SPARE), 0);
	KUNIT_EXPECT_EQ(test, f->taken, LONGEST - SPARE);
	KUNIT_EXPECT_EQ(test, avail(f), DEPTH - LONGEST + SPARE);
	KUNIT_EXPECT_EQ(test, call->sm_entries, 0);
	KUNIT_EXPECT_NULL(test, call->sm_chain);

	/* The Call leaves the entries for Sends, and those for the region of a callback. */
	co->co_regions.rg_num = 1;
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(co, avail(f) - BACKWARD - SPARE -
						 2 * 1 - 2, true));
	KUNIT_EXPECT_EQ(test, post_reads(f, next, 3), -EINPROGRESS);
	KUNIT_EXPECT_PTR_EQ(test, next->sm_chain, &f->wrs[0]);
	rpcrdma2_sq_give(co, 1);
	KUNIT_EXPECT_EQ(test, next->sm_entries, 3);
	KUNIT_EXPECT_EQ(test, svc2_sq_post_reads(&f->sp, next), 0);
	KUNIT_EXPECT_EQ(test, f->taken, LONGEST - SPARE + 3);
	KUNIT_EXPECT_EQ(test, next->sm_entries, 0);
	KUNIT_EXPECT_EQ(test, avail(f), BACKWARD + SPARE + 2 * 1);
	rpcrdma2_conn_lose(co, RPCRDMA2_LOSS_PEER);
	KUNIT_EXPECT_EQ(test, post_reads(f, &f->calls[2], 1), -ENOTCONN);
	KUNIT_EXPECT_PTR_EQ(test, f->calls[2].sm_chain, &f->wrs[0]);
}

/* A Reply with the exact number of entries, a Reply that is not sent, and the longest one */
static void reply_takes_reserved(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_msg *call = &f->calls[0];
	unsigned int held = 0;

	KUNIT_EXPECT_EQ(test, svc2_sq_reserve(&f->sp, call), 0);
	KUNIT_EXPECT_EQ(test, post(f, NEED, false, &call->sm_entries), 0);
	KUNIT_EXPECT_EQ(test, avail(f), DEPTH - NEED);
	KUNIT_EXPECT_EQ(test, svc2_sq_reserve(&f->sp, call), 0);
	KUNIT_EXPECT_EQ(test, avail(f), DEPTH - 2 * NEED);
	svc2_sq_release(&f->sp, &call->sm_entries);
	KUNIT_EXPECT_EQ(test, call->sm_entries, 0);
	KUNIT_EXPECT_EQ(test, avail(f), DEPTH - NEED);
	svc2_sq_release(&f->sp, &held);
	KUNIT_EXPECT_EQ(test, held, 0);
	KUNIT_EXPECT_EQ(test, avail(f), DEPTH - NEED);
	KUNIT_EXPECT_EQ(test, post(f, LONGEST, false, NULL), 0);
}

/* S46: a Call on a lost connection gets no entries, and does not wait. */
static void s46_lost_before_reserve(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_msg *call = &f->calls[0];

	offer(call, PAGE_SIZE, 1);
	rpcrdma2_conn_lose(&f->sp.sp_conn, RPCRDMA2_LOSS_PEER);
	KUNIT_EXPECT_EQ(test, svc2_sq_reserve(&f->sp, call), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, call->sm_entries, 0u);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->sp.sp_sq_sem.se_waiters));
}

/*
 * S46: a Call gets the entries of its Reply before its execution, or waits without a
 * thread. Other Sends find entries meanwhile.
 */
static void s46_replies_have_entries(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, svc2_sq_reserve(sp, &f->calls[0]), 0);
	KUNIT_EXPECT_EQ(test, f->calls[0].sm_entries, NEED);
	KUNIT_EXPECT_EQ(test, avail(f), DEPTH - NEED);
	/* A second reservation has no effect. */
	KUNIT_EXPECT_EQ(test, svc2_sq_reserve(sp, &f->calls[0]), 0);
	KUNIT_EXPECT_EQ(test, avail(f), DEPTH - NEED);

	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&sp->sp_conn,
						 avail(f) - BACKWARD - SPARE, true));
	KUNIT_EXPECT_EQ(test, svc2_sq_reserve(sp, &f->calls[1]), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 0);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	for (i = 0; i < SPARE; i++)
		KUNIT_EXPECT_EQ(test, post(f, 1, false, NULL), 0);
	KUNIT_EXPECT_EQ(test, avail(f), BACKWARD);

	/* The Reply takes one entry less than reserved. */
	KUNIT_EXPECT_EQ(test, post(f, NEED - 1, false, &f->calls[0].sm_entries), 0);
	KUNIT_EXPECT_EQ(test, f->calls[0].sm_entries, 0);
	KUNIT_EXPECT_EQ(test, avail(f), BACKWARD + 1);

	/* The peer accepts the Sends, and the waiting Call can be executed. */
	rpcrdma2_sq_give(&sp->sp_conn, SPARE + NEED - 1);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, NEED);
	KUNIT_EXPECT_PTR_EQ(test, list_first_entry_or_null(&sp->sp_ready_q,
							   struct svc2_msg, sm_wait.wt_list),
			    &f->calls[1]);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 1);
	KUNIT_EXPECT_EQ(test, svc2_sq_reserve(sp, &f->calls[1]), 0);
	KUNIT_EXPECT_EQ(test, avail(f), BACKWARD + SPARE);
	/* An abandoned Call returns its entries. */
	svc2_reads_free(sp, &f->calls[1]);
	KUNIT_EXPECT_EQ(test, avail(f), BACKWARD + SPARE + NEED);
}

/*
 * S46: a Call without chunks needs no entries; the largest Call is not refused for its
 * entries.
 */
static void s46_least_and_most(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->calls[0].sm_msg.mg_hdr.h_nwrites = 0;
	KUNIT_EXPECT_EQ(test, svc2_sq_reserve(&f->sp, &f->calls[0]), 0);
	KUNIT_EXPECT_EQ(test, f->calls[0].sm_entries, 0);
	offer(&f->calls[1], U32_MAX, 64);
	KUNIT_EXPECT_EQ(test, svc2_sq_reserve(&f->sp, &f->calls[1]), 0);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries,
			f->sp.sp_sq_longest - SPARE);
	/* A Reply that is too long is refused, and its Call keeps the reserved entries. */
	KUNIT_EXPECT_EQ(test, post(f, f->sp.sp_sq_longest + 1, false,
				   &f->calls[1].sm_entries), -E2BIG);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries,
			f->sp.sp_sq_longest - SPARE);
}

/*
 * S46: a Reply that needs more than its reservation holds no entry while it waits for all
 * of them.
 */
static void s46_more_than_reserved(struct kunit *test)
{
	struct fixture *f = test->priv;
	int all = avail(f);

	KUNIT_EXPECT_EQ(test, svc2_sq_reserve(&f->sp, &f->calls[0]), 0);
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&f->sp.sp_conn,
						 avail(f) - BACKWARD - 1, true));
	/* one free entry, and the four reserved ones */
	KUNIT_EXPECT_EQ(test, post(f, NEED + 1, false, &f->calls[0].sm_entries), 0);
	KUNIT_EXPECT_EQ(test, f->calls[0].sm_entries, 0);
	KUNIT_EXPECT_EQ(test, avail(f), BACKWARD);
	rpcrdma2_sq_give(&f->sp.sp_conn, all - avail(f));
}

/*
 * B-05: a callback that the peer holds has no entries. The LOCAL_INVs of its regions take
 * entries on demand, even if Replies find none.
 */
static void b05_invalidation_entries(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, post(f, 4, true, NULL), 0);
	KUNIT_EXPECT_EQ(test, avail(f), DEPTH - 4);
	rpcrdma2_sq_give(&f->sp.sp_conn, 4);
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&f->sp.sp_conn, DEPTH - BACKWARD, true));
	KUNIT_EXPECT_EQ(test, post(f, BACKWARD + 1, true, NULL), -EAGAIN);
	/* All Sends are posted. */
	exhaust_contexts(f);
	KUNIT_EXPECT_EQ(test, svc2_sq_take_invs(&f->sp, BACKWARD), 0);
	KUNIT_EXPECT_EQ(test, avail(f), 0);
	rpcrdma2_conn_lose(&f->sp.sp_conn, RPCRDMA2_LOSS_PEER);
	KUNIT_EXPECT_EQ(test, svc2_sq_take_invs(&f->sp, 1), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, avail(f), 0);
}

/*
 * B-08: callbacks, with all memory regions, leave the entries that chains leave for single
 * Sends. No Send waits here: a wait on a lost connection fails.
 */
static void b08_callbacks_leave_entries(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	unsigned int i;

	sp->sp_sq_spare_all = true;
	sp->sp_conn.co_regions.rg_num = 4;
	while (!svc2_sq_reserve(sp, &f->calls[0]))
		f->calls[0].sm_entries = 0;
	/* the minimum that chains of any length leave */
	KUNIT_ASSERT_GE(test, avail(f), BACKWARD + 2 * 4 + SPARE);
	rpcrdma2_sq_take(&sp->sp_conn, avail(f) - BACKWARD - 2 * 4 - SPARE, true);
	rpcrdma2_conn_lose(&sp->sp_conn, RPCRDMA2_LOSS_PEER);
	/* two regions and a Send each */
	for (i = 0; i < BACKWARD; i++)
		KUNIT_EXPECT_EQ(test, post(f, 3, true, NULL), 0);
	/* The service aborts the callbacks, and their regions are invalidated. */
	KUNIT_EXPECT_EQ(test, svc2_sq_take_invs(sp, 4), 0);
	for (i = 0; i < SPARE; i++)
		KUNIT_EXPECT_EQ(test, post(f, 1, false, NULL), 0);
	KUNIT_EXPECT_EQ(test, avail(f), 0);
}

/*
 * B-08: the same with more regions than there are entries: such a callback is retried.
 * Waiting Calls leave entries for a limited number of regions.
 */
static void b08_many_regions(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;

	sp->sp_conn.co_regions.rg_num = 6 * SVC2_BACKWARD_REGIONS;
	KUNIT_EXPECT_EQ(test, entries_left_by_waiters(sp), SPARE + 2 * SVC2_BACKWARD_REGIONS);
	while (!post(f, 7, true, NULL))
		;
	KUNIT_EXPECT_GE(test, avail(f), SPARE);
	KUNIT_EXPECT_LT(test, avail(f), SPARE + 7);
	KUNIT_EXPECT_EQ(test, post(f, 1, true, NULL), 0);
}

static void give_to_waiter(struct work_struct *work)
{
	struct fixture *f = container_of(to_delayed_work(work), struct fixture, later);
	struct list_head *waiters = &f->sp.sp_sq_sem.se_waiters;

	if (list_empty_careful(waiters)) {
		queue_delayed_work(system_percpu_wq, &f->later, 1);
		return;
	}
	rpcrdma2_sq_give(&f->sp.sp_conn, BACKWARD + SPARE - avail(f));
	f->waited_on = !list_empty_careful(waiters);
	rpcrdma2_sq_give(&f->sp.sp_conn, 1);
}

/* B-08: LOCAL_INVs leave these entries too, but wait. A wait on a lost connection fails. */
static void b08_invalidations_leave_entries(struct kunit *test)
{
	u64 waits = count_of(SVC2_C_sq_waits);
	struct fixture *f = test->priv;
	struct rpcrdma2_conn *co = &f->sp.sp_conn;
	int all = avail(f);

	INIT_DELAYED_WORK(&f->later, give_to_waiter);
	f->sp.sp_sq_spare_all = true;
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(co, all - SPARE - 6, true));
	KUNIT_EXPECT_EQ(test, svc2_sq_take_invs(&f->sp, 6), 0);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_sq_waits), waits);
	KUNIT_EXPECT_EQ(test, avail(f), SPARE);
	KUNIT_EXPECT_EQ(test, post(f, 1, false, NULL), 0);
	queue_delayed_work(system_percpu_wq, &f->later, 1);
	KUNIT_EXPECT_EQ(test, svc2_sq_take_invs(&f->sp, 1), 0);
	cancel_delayed_work_sync(&f->later);
	KUNIT_EXPECT_TRUE(test, f->waited_on);
	KUNIT_EXPECT_EQ(test, avail(f), BACKWARD + SPARE);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_sq_waits), waits + 1);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_conn_is_lost(co));
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(co, BACKWARD, true));
	rpcrdma2_conn_lose(co, RPCRDMA2_LOSS_PEER);
	KUNIT_EXPECT_EQ(test, svc2_sq_take_invs(&f->sp, 1), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, avail(f), SPARE);
	/* All Sends are posted and will return their entries: LOCAL_INVs may use the reserve. */
	exhaust_contexts(f);
	KUNIT_EXPECT_EQ(test, svc2_sq_take_invs(&f->sp, SPARE), 0);
	KUNIT_EXPECT_EQ(test, svc2_sq_take_invs(&f->sp, 1), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, avail(f), 0);
}

/*
 * B-08: a posted Send has its entry. REG_MRs and LOCAL_INVs leave no second one for it, but
 * they leave one for a Send that a thread is building.
 */
static void b08_posted_send_needs_no_entry(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;

	sp->sp_conn.co_sq.sq_batch = 0;
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&sp->sp_conn, avail(f) - 3 - SPARE,
						 true));
	KUNIT_EXPECT_EQ(test, svc2_sem_take(sp, &sp->sp_tx_sem, 8 - 1, 0), 0);
	KUNIT_EXPECT_EQ(test, post(f, 3 + SPARE, true, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, post(f, 3 + SPARE - 1, true, NULL), 0);
	KUNIT_EXPECT_EQ(test, avail(f), 1);
	rpcrdma2_sq_give(&sp->sp_conn, 3);
	/* A thread holds the last send context. */
	KUNIT_EXPECT_EQ(test, svc2_sem_take(sp, &sp->sp_tx_sem, 1, 0), 0);
	atomic_set(&sp->sp_xprt.xpt_nr_rqsts, 1);
	KUNIT_EXPECT_EQ(test, post(f, 4, true, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, post(f, 3, true, NULL), 0);
	atomic_set(&sp->sp_xprt.xpt_nr_rqsts, 0);
	KUNIT_EXPECT_EQ(test, svc2_sq_take_invs(sp, 1), 0);
	KUNIT_EXPECT_EQ(test, avail(f), 0);
}

/*
 * B-08: a completion returns the entries first, and then the send contexts. A taker in
 * between leaves the entries that these contexts will need.
 */
static void b08_returning_contexts(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;

	exhaust_contexts(f);
	sp->sp_conn.co_sq.sq_batch = 2;
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&sp->sp_conn, avail(f) - 3, true));
	KUNIT_EXPECT_EQ(test, post(f, 2, true, NULL), -EAGAIN);
	rpcrdma2_sq_give(&sp->sp_conn, 1);
	KUNIT_EXPECT_EQ(test, post(f, 2, true, NULL), 0);
}

/*
 * B-08: with more regions than entries for them, REG_MRs also leave the entries of
 * callbacks without chunks.
 */
static void b08_callbacks_without_chunks(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;

	exhaust_contexts(f);
	sp->sp_conn.co_regions.rg_num = SVC2_BACKWARD_REGIONS;
	atomic_set(&sp->sp_backward_free, 1);
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&sp->sp_conn, avail(f) - 3, true));
	KUNIT_EXPECT_EQ(test, post(f, 3, true, NULL), 0);
	rpcrdma2_sq_give(&sp->sp_conn, 3);
	sp->sp_conn.co_regions.rg_num++;
	KUNIT_EXPECT_EQ(test, post(f, 3, true, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, post(f, 2, true, NULL), 0);
	KUNIT_EXPECT_EQ(test, post(f, 1, true, NULL), 0);
}

static struct kunit_case sq_cases[] = {
	KUNIT_CASE(computed_entries),
	KUNIT_CASE(request_counters),
	KUNIT_CASE(reads_have_entries),
	KUNIT_CASE(reply_takes_reserved),
	KUNIT_CASE(s46_lost_before_reserve),
	KUNIT_CASE(s46_replies_have_entries),
	KUNIT_CASE(s46_least_and_most),
	KUNIT_CASE(s46_more_than_reserved),
	KUNIT_CASE(b05_invalidation_entries),
	KUNIT_CASE(b08_callbacks_leave_entries),
	KUNIT_CASE(b08_many_regions),
	KUNIT_CASE(b08_invalidations_leave_entries),
	KUNIT_CASE(b08_posted_send_needs_no_entry),
	KUNIT_CASE(b08_returning_contexts),
	KUNIT_CASE(b08_callbacks_without_chunks),
	{}
};

static struct kunit_suite sq_suite = {
	.name		= "svcrdma2_sq",
	.init		= sq_init,
	.test_cases	= sq_cases,
};

kunit_test_suite(sq_suite);
