// SPDX-License-Identifier: GPL-2.0
/*
 * Gates: what a Call has that waited, and when the connection is taken up again.
 *
 * The gates are compiled in, over a connection without a device. No svc thread takes it
 * up: it is busy for the RPC layer. No Call here waits for payload: see
 * svcrdma2_transfer_kunit.c.
 */
#include <kunit/test.h>

#include "../svcrdma2/enqueue.c"
#include "../svcrdma2/gate.c"
#include "../svcrdma2/message.c"

#define ENTRIES	10
#define KEPT	1

DEFINE_PER_CPU(u64 [SVC2_C_COUNT], svc2_counters);
struct kmem_cache *svc2_msg_cache;

void svc2_recv_put(struct svc2_xprt *sp, struct rpcrdma2_recv *rv)
{
}

void svc2_sinks_put(struct svc2_msg *call)
{
}

/**
 * struct fixture - a connection, and Calls with RDMA Reads
 * @sp: connection with ENTRIES entries of the Send Queue, KEPT of them kept, and a
 *	send context
 * @calls: Calls
 * @reads: what their RDMA Reads are made of
 */
struct fixture {
	struct svc2_xprt	sp;
	struct svc2_msg		calls[3];
	struct list_head	reads[3];
};

static int gate_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct svc2_xprt *sp;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	sp = &f->sp;
	set_bit(XPT_BUSY, &sp->sp_xprt.xpt_flags);
	init_waitqueue_head(&sp->sp_line);
	spin_lock_init(&sp->sp_recv_lock);
	INIT_LIST_HEAD(&sp->sp_recv_q);
	INIT_LIST_HEAD(&sp->sp_served_q);
	INIT_LIST_HEAD(&sp->sp_ready_q);
	svc2_transfer_init(sp);
	svc2_gate_init(&sp->sp_sq, NULL, SVC2_C_sq_waits);
	svc2_gate_init(&sp->sp_tx_gate, NULL, SVC2_C_tx_waits);
	svc2_gate_init(&sp->sp_mrs, NULL, SVC2_C_mr_waits);
	svc2_gate_open(&sp->sp_sq, ENTRIES);
	sp->sp_sq.ga_own.un_kept = KEPT;
	svc2_gate_open(&sp->sp_tx_gate, 1);
	for (i = 0; i < ARRAY_SIZE(f->calls); i++) {
		rpcrdma2_rw_init(&f->calls[i].sm_rw, DMA_FROM_DEVICE);
		f->calls[i].sm_msg.mg_hdr.h_nreads = 1;
		list_add(&f->reads[i], &f->calls[i].sm_rw.rw_parts);
	}
	return 0;
}

static int enter(struct fixture *f, unsigned int call, unsigned int units,
		 unsigned int spare)
{
	struct svc2_msg *msg = &f->calls[call];

	return svc2_gate_enter(&f->sp, &f->sp.sp_sq, msg, units, spare,
			       &msg->sm_entries);
}

static struct svc2_msg *first_served(struct fixture *f)
{
	return list_first_entry_or_null(&f->sp.sp_served_q, struct svc2_msg,
					sm_list);
}

/* A Call leaves what is kept, and what is for Sends. */
static void leaves_some(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, enter(f, 0, 6, 3), 0);
	KUNIT_EXPECT_EQ(test, f->calls[0].sm_entries, 6);
	KUNIT_EXPECT_EQ(test, svc2_gate_avail(&f->sp.sp_sq), KEPT + 3);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 1, 3), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 0);
	KUNIT_EXPECT_EQ(test, svc2_gate_avail(&f->sp.sp_sq), KEPT + 3);
}

/* First come, first served, and each has what it waited for. */
static void in_turn(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 5, 0), -EINPROGRESS);
	/* there is enough for this one, but not before the other */
	svc2_gate_give(&f->sp, &f->sp.sp_sq, 4);
	KUNIT_EXPECT_EQ(test, enter(f, 2, 4, 0), -EINPROGRESS);
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), NULL);

	svc2_gate_give(&f->sp, &f->sp.sp_sq, 5);
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), &f->calls[1]);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 5);
	KUNIT_EXPECT_EQ(test, f->calls[2].sm_entries, 4);
	KUNIT_EXPECT_EQ(test, svc2_gate_avail(&f->sp.sp_sq), KEPT);
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &f->sp.sp_xprt.xpt_flags));
}

/* A thread does not wait for what a Call waits for: the peer decides on that. */
static void threads_first(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_gate *ga = &f->sp.sp_sq;
	struct svc2_waiter first = { .wt_units = 2, .wt_spare = KEPT };
	struct svc2_waiter second = { .wt_units = 1, .wt_spare = KEPT };

	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 6, 3), -EINPROGRESS);
	KUNIT_EXPECT_FALSE(test, join_line(&f->sp, ga, &first));
	KUNIT_EXPECT_FALSE(test, join_line(&f->sp, ga, &second));

	svc2_gate_give(&f->sp, ga, 2);
	KUNIT_EXPECT_TRUE(test, is_served(&first));
	KUNIT_EXPECT_FALSE(test, is_served(&second));
	svc2_gate_give(&f->sp, ga, 1);
	KUNIT_EXPECT_TRUE(test, is_served(&second));
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 0);
	svc2_gate_give(&f->sp, ga, 9);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 6);
}

/*
 * While there is a line no message is taken up. But a Call that was served is: another
 * one may wait in a line for what it holds, and nothing else would move that.
 */
static void served_is_taken_up(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc_xprt *xprt = &f->sp.sp_xprt;

	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 1);
	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 8, 0), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, enter(f, 2, 8, 0), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));

	svc2_gate_give(&f->sp, &f->sp.sp_sq, 9);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 8);
	KUNIT_EXPECT_EQ(test, f->calls[2].sm_entries, 0);
	KUNIT_EXPECT_FALSE(test, list_empty(&f->sp.sp_sq.ga_line));
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 1);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), &f->calls[1]);
}

/* But not a Call whose RDMA Reads are done: no other waits for what it holds. */
static void done_is_not(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct page *pages[1];

	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 8, 0), -EINPROGRESS);
	INIT_LIST_HEAD(&f->calls[0].sm_rw.rw_parts);
	f->calls[0].sm_pages = pages;
	svc2_msg_ready(&f->sp, &f->calls[0]);
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), NULL);
	KUNIT_EXPECT_FALSE(test, list_empty(&f->sp.sp_ready_q));
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&f->sp.sp_xprt), 0);
}

static struct kunit_case gate_cases[] = {
	KUNIT_CASE(leaves_some),
	KUNIT_CASE(in_turn),
	KUNIT_CASE(threads_first),
	KUNIT_CASE(served_is_taken_up),
	KUNIT_CASE(done_is_not),
	{}
};

static struct kunit_suite gate_suite = {
	.name		= "svcrdma2_gate",
	.init		= gate_init,
	.test_cases	= gate_cases,
};

kunit_test_suite(gate_suite);
