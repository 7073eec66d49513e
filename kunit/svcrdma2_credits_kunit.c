// SPDX-License-Identifier: GPL-2.0
/*
 * R6: Receives are posted before a grant that counts on them, and a header carries the
 * grant at the time of its post.
 *
 * The fake device accepts all work requests and records the grant. Send contexts come from
 * svcrdma2_send_kunit.c, and entries of the Send Queue from svcrdma2_sq_kunit.c.
 */
#include <kunit/test.h>

#include "../svcrdma2/grant.c"
#include "../svcrdma2/svcrdma2.h"

/* in KiB; suffices for all Receives of the suite */
struct rpcrdma2_param svc2_receive_memory = { .pm_value = 65536 };

#define CREDITS	64
#define ENTRIES	64

/**
 * struct fixture - a connection, and a record of its device
 * @sp: connection
 * @id: its identifier
 * @qp: its queue pair
 * @cq: its send CQ
 * @pd: its protection domain
 * @device: its device
 * @recvs: number of posted Receives
 * @granted: largest grant in force during a post of Receives
 * @credits: grant in the header of the last Send
 */
struct fixture {
	struct svc2_xprt	sp;
	struct rdma_cm_id	id;
	struct ib_qp		qp;
	struct ib_cq		cq;
	struct ib_pd		pd;
	struct ib_device	device;
	unsigned int		recvs;
	u32			granted;
	u32			credits;
};

static int fake_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad)
{
	struct fixture *f = container_of(qp, struct fixture, qp);

	f->granted = max(f->granted, READ_ONCE(f->sp.sp_grant));
	for (; wr; wr = wr->next)
		f->recvs++;
	return 0;
}

static int fake_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	struct fixture *f = container_of(qp, struct fixture, qp);
	const struct svc2_tx *tx = container_of(wr, struct svc2_tx, tx_wr);
	const __be32 *word = tx->tx_buf;

	f->credits = be32_to_cpu(word[2]);
	return 0;
}

static void drained(struct ib_qp *qp)
{
}

static void ignore_room(struct rpcrdma2_conn *co)
{
}

static const struct rpcrdma2_conn_ops conn_ops = { .room = ignore_room };

static int credits_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct svc2_xprt *sp;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	sp = &f->sp;
	set_bit(XPT_BUSY, &sp->sp_xprt.xpt_flags);
	init_waitqueue_head(&sp->sp_waitq);
	rpcrdma2_conn_init(&sp->sp_conn, &conn_ops);
	f->device.ops.post_recv = fake_post_recv;
	f->device.ops.post_send = fake_post_send;
	f->device.ops.drain_sq = drained;
	f->pd.device = &f->device;
	f->qp.device = &f->device;
	f->qp.send_cq = &f->cq;
	f->id.qp = &f->qp;
	f->id.device = &f->device;
	f->cq.cq_context = &sp->sp_conn;
	sp->sp_conn.co_id = &f->id;
	sp->sp_conn.co_pd = &f->pd;
	sp->sp_conn.co_send_cq = &f->cq;
	svc2_budget_set();
	svc2_sem_init(&sp->sp_sq_sem, &sp->sp_conn.co_sq.sq_units, SVC2_C_sq_waits);
	svc2_sem_init(&sp->sp_tx_sem, NULL, SVC2_C_tx_waits);
	svc2_sem_init(&sp->sp_mr_sem, NULL, SVC2_C_mr_waits);
	spin_lock_init(&sp->sp_tx_lock);
	init_llist_head(&sp->sp_txs);
	rpcrdma2_rpool_init(&sp->sp_rpool);
	sp->sp_rpool.rp_size = PAGE_SIZE;
	sp->sp_rpool.rp_reposted = true;
	sp->sp_credits = CREDITS;
	sp->sp_sq_depth = ENTRIES;
	sp->sp_sq_longest = ENTRIES;
	sp->sp_tx_sges = SVC2_TX_EXTRA_SGES + 1;
	rpcrdma2_sq_open(&sp->sp_conn, ENTRIES, 0, 1, 0);
	svc2_grant_begin(sp);
	KUNIT_ASSERT_EQ(test, svc2_txs_create(sp), 0);
	KUNIT_ASSERT_EQ(test, svc2_grant_fill(sp, 0), 0);
	return 0;
}

/* Frees Receives and contexts, as after the drain of a queue pair. */
static void credits_exit(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct rpcrdma2_recv *rv, *next;
	struct svc2_xprt *sp = &f->sp;

	rpcrdma2_sq_drain(&sp->sp_conn);
	svc2_txs_destroy(sp);
	list_for_each_entry_safe(rv, next, &sp->sp_rpool.rp_all, rv_all)
		rpcrdma2_recv_free(rv);
	sp->sp_rpool.rp_nfree = 0;
}

static void r6_receives_before_the_grant(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	unsigned int before = f->recvs;
	u32 grant = sp->sp_grant;

	KUNIT_ASSERT_EQ(test, grant, SVC2_CREDITS_FIRST);
	KUNIT_EXPECT_GE(test, before, grant + RPCRDMA2_CONTROL_RECVS);
	while (sp->sp_grant < CREDITS) {
		grant = sp->sp_grant;
		f->granted = 0;
		set_bit(SVC2_F_MORE_CREDITS, &sp->sp_flags);
		svc2_grant_raise(sp);
		KUNIT_ASSERT_EQ(test, sp->sp_grant, 2 * grant);
		/* The old grant was in force during the post. */
		KUNIT_EXPECT_EQ(test, f->granted, grant);
		KUNIT_EXPECT_GE(test, f->recvs,
				sp->sp_grant + RPCRDMA2_CONTROL_RECVS);
	}
}

static void r6_grant_of_the_post(struct kunit *test)
{
	static const u32 grants[] = { 8, 5, 64, 4 };
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	struct rpcrdma2_hdr *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	struct svc2_tx *tx;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, h);
	for (i = 0; i < ARRAY_SIZE(grants); i++) {
		rpcrdma2_hdr_begin(h, i, RPCRDMA2_VERS_TWO, 17, RDMA2_MSG,
				   RDMA2_REPLY);
		tx = svc2_tx_get(sp);
		KUNIT_ASSERT_FALSE(test, IS_ERR(tx));
		svc2_tx_header(tx, h);
		/* between the header and the post */
		sp->sp_grant = grants[i];
		KUNIT_ASSERT_EQ(test, svc2_tx_post(sp, tx, 0, NULL), 0);
		KUNIT_EXPECT_EQ(test, f->credits, grants[i]);
	}
}

/*
 * B-17: the credit of a Call comes back with its answer, but its send context when the device
 * reports its Send, perhaps later. The next Calls, as many as the credits, have contexts, too.
 */
static void b17_answered_before_sent(struct kunit *test)
{
	struct svc2_tx *sent[SVC2_TX_RESERVE / 2], *next[ARRAY_SIZE(sent)];
	static struct svc2_callback callback;
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, svc2_grant_fill(sp, 1), 0);
	KUNIT_ASSERT_EQ(test, svc2_grant_fill(sp, ARRAY_SIZE(sent)), 0);
	sp->sp_backward_max = ARRAY_SIZE(sent);
	KUNIT_EXPECT_GE(test, svc2_sq_backward_wrs(sp),
			(unsigned int)atomic_read(&sp->sp_backward_free));
	for (i = 0; i < ARRAY_SIZE(sent); i++) {
		sent[i] = svc2_tx_try_get(sp, &callback);
		KUNIT_ASSERT_NOT_NULL(test, sent[i]);
	}
	for (i = 0; i < ARRAY_SIZE(next); i++) {
		next[i] = svc2_tx_try_get(sp, &callback);
		KUNIT_EXPECT_NOT_NULL(test, next[i]);
	}
	for (i = 0; i < ARRAY_SIZE(next); i++) {
		svc2_tx_put(sp, sent[i]);
		if (next[i])
			svc2_tx_put(sp, next[i]);
	}
}

static struct kunit_case credits_cases[] = {
	KUNIT_CASE(r6_receives_before_the_grant),
	KUNIT_CASE(r6_grant_of_the_post),
	KUNIT_CASE(b17_answered_before_sent),
	{}
};

static struct kunit_suite credits_suite = {
	.name		= "svcrdma2_credits",
	.init		= credits_init,
	.exit		= credits_exit,
	.test_cases	= credits_cases,
};

kunit_test_suite(credits_suite);
