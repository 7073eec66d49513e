// SPDX-License-Identifier: GPL-2.0
/*
 * R6: Receives are posted before a grant that counts on them, and a header carries the
 * grant at the time of its post.
 *
 * The fake device accepts all work requests and records the grant. Send contexts come from
 * svcrdma2_send_kunit.c, and entries of the Send Queue from svcrdma2_sq_kunit.c.
 */
#include <kunit/test.h>

#include "../svcrdma2/svcrdma2.h"
#include "window.h"

#undef set_bit
#define set_bit(nr, word)	windowed_set_bit(nr, word)
#include "../svcrdma2/grant.c"

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
 * @recvs: number of Receives that were posted
 * @posted: Receives of the device, oldest first
 * @nposted: number of entries in @posted
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
	struct rpcrdma2_recv	*posted[2 * CREDITS];
	unsigned int		nposted;
	u32			granted;
	u32			credits;
};

static int fake_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad)
{
	struct fixture *f = container_of(qp, struct fixture, qp);

	f->granted = max(f->granted, READ_ONCE(f->sp.sp_grant));
	for (; wr; wr = wr->next) {
		if (f->nposted == ARRAY_SIZE(f->posted)) {
			*bad = wr;
			return -ENOMEM;
		}
		f->posted[f->nposted++] = container_of(wr, struct rpcrdma2_recv,
						       rv_wr);
		f->recvs++;
	}
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
	rpcrdma2_rpool_init(&sp->sp_rpool);
}

static void r6_receives_before_the_grant(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	unsigned int before = f->recvs;
	u32 grant = sp->sp_grant;

	KUNIT_ASSERT_EQ(test, grant, SVC2_CREDITS_MIN);
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

/* A Call arrives in a Receive that is posted. */
static struct rpcrdma2_recv *arrives(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct rpcrdma2_recv *rv = f->posted[0];

	KUNIT_ASSERT_GT(test, f->nposted, 0);
	memmove(f->posted, f->posted + 1, --f->nposted * sizeof(*f->posted));
	f->sp.sp_received++;
	return rv;
}

/* The server replies to a Call, which frees its Receive or posts it again. */
static void is_answered(struct fixture *f, struct rpcrdma2_recv *rv)
{
	struct svc2_xprt *sp = &f->sp;
	struct svc2_msg call = { .sm_recv = rv };
	unsigned int n;

	svc2_grant_lower(sp, &call);
	if (!call.sm_recv)
		return;
	n = rpcrdma2_recv_repost(&sp->sp_conn, rv);
	if (n)
		svc2_grant_reposted(sp, n);
	svc2_grant_raise(sp);
}

/* @count Calls, one after the other */
static void calls(struct kunit *test, unsigned int count)
{
	while (count--)
		is_answered(test->priv, arrives(test));
}

/* @count Calls, each of which arrives when @busy others are in process */
static void calls_among(struct kunit *test, unsigned int count, unsigned int busy)
{
	struct fixture *f = test->priv;
	struct rpcrdma2_recv *held[CREDITS];
	unsigned int i;

	for (i = 0; i < busy; i++)
		held[i] = arrives(test);
	for (i = 0; i < count; i++) {
		held[busy] = arrives(test);
		is_answered(f, held[0]);
		memmove(held, held + 1, busy * sizeof(*held));
	}
	for (i = 0; i < busy; i++)
		is_answered(f, held[i]);
}

/* Raises the grant as far as possible; at this moment the connection is busy. */
static void raise(struct svc2_xprt *sp)
{
	while (sp->sp_grant < CREDITS) {
		set_bit(SVC2_F_MORE_CREDITS, &sp->sp_flags);
		svc2_grant_raise(sp);
	}
	sp->sp_grant_used = sp->sp_rpool.rp_posts;
}

/* Calls until batches with more than SVC2_GRANT_UNUSED Receives are posted */
static unsigned int calls_until_unused(const struct svc2_xprt *sp)
{
	return roundup(SVC2_GRANT_UNUSED + 1, sp->sp_rpool.rp_batch) -
	       atomic_read(&sp->sp_rpool.rp_nfree);
}

/* A grant that Calls no longer use returns to its minimum, and so do the Receives. */
static void s26_unused_grant(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	unsigned int idle = sp->sp_rpool.rp_count;

	raise(sp);
	calls(test, calls_until_unused(sp));
	KUNIT_EXPECT_EQ(test, sp->sp_grant, CREDITS);
	KUNIT_EXPECT_EQ(test, sp->sp_rpool.rp_count, svc2_grant_recvs(0, CREDITS));
	calls(test, 1);
	KUNIT_EXPECT_EQ(test, sp->sp_grant, CREDITS - 1);
	calls(test, 2 * CREDITS);
	KUNIT_EXPECT_EQ(test, sp->sp_grant, SVC2_CREDITS_MIN);
	KUNIT_EXPECT_EQ(test, sp->sp_rpool.rp_count, idle);

	/* Half of the minimum in use is no reason to free more. */
	calls(test, 2 * SVC2_GRANT_UNUSED);
	KUNIT_EXPECT_EQ(test, sp->sp_rpool.rp_count, idle);
}

/* As many Calls in process as would raise half of the grant keep it. */
static void s26_used_grant(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;

	raise(sp);
	calls_among(test, 3 * SVC2_GRANT_UNUSED, CREDITS / 8);
	KUNIT_EXPECT_EQ(test, sp->sp_grant, CREDITS);

	raise(sp);
	calls_among(test, 2 * SVC2_GRANT_UNUSED, CREDITS / 8 - 1);
	KUNIT_EXPECT_LT(test, sp->sp_grant, CREDITS);
}

/*
 * No Receive is posted again while the grant is lowered, but it is lowered no further when
 * it is in use, and for the next Calls.
 */
static void s26_used_while_lowered(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	u32 grant;

	raise(sp);
	calls(test, calls_until_unused(sp) + CREDITS / 4);
	grant = sp->sp_grant;
	KUNIT_ASSERT_LT(test, grant, CREDITS);
	KUNIT_ASSERT_GT(test, grant, CREDITS / 2);
	calls_among(test, CREDITS / 2, CREDITS / 4);
	KUNIT_EXPECT_EQ(test, sp->sp_grant, grant);
	calls(test, SVC2_GRANT_UNUSED);
	KUNIT_EXPECT_EQ(test, sp->sp_grant, grant);
	calls(test, 2 * CREDITS);
	KUNIT_EXPECT_EQ(test, sp->sp_grant, SVC2_CREDITS_MIN);
}

/* A load that does not change gets a grant that does not change for long. */
static void s26_steady_load(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	unsigned int others;
	u32 grant;

	for (others = 0; others < CREDITS / 2; others++) {
		raise(sp);
		calls_among(test, 2 * SVC2_GRANT_UNUSED, others);
		grant = sp->sp_grant;
		KUNIT_EXPECT_GE_MSG(test, grant, others + 1, "%u others", others);
		calls_among(test, 4 * SVC2_GRANT_UNUSED, others);
		KUNIT_EXPECT_EQ_MSG(test, sp->sp_grant, grant, "%u others", others);
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

/* Receives get larger over time, and are announced then (C-032); smaller ones at once (C-033). */
static void c033_requested_size(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	u32 large = min_t(u32, 2 * PAGE_SIZE, RPCRDMA2_INLINE_MAX);
	bool grows = large > PAGE_SIZE;

	sp->sp_conn.co_recv_pages = RPCRDMA2_RECV_PAGES;
	sp->sp_ex.ex_peer.pp_announced = true;
	svc2_receive_size.pm_value = RPCRDMA2_INLINE_MAX;

	/* the pages of a Receive are announced before they become more */
	sp->sp_recv_size = RPCRDMA2_INLINE_DEFAULT - 8;
	svc2_receives_resize(&sp->sp_ex, large);
	KUNIT_EXPECT_EQ(test, sp->sp_recv_size, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, sp->sp_recv_requested, large);
	KUNIT_EXPECT_EQ(test, sp->sp_rpool.rp_size, large);
	KUNIT_EXPECT_EQ(test, test_bit(SVC2_F_RESIZING, &sp->sp_flags), grows);
	KUNIT_EXPECT_EQ(test, sp->sp_rpool.rp_small, grows ? sp->sp_rpool.rp_count : 0);

	sp->sp_recv_size = 2 * PAGE_SIZE;
	svc2_receives_resize(&sp->sp_ex, RPCRDMA2_INLINE_DEFAULT);
	KUNIT_EXPECT_EQ(test, sp->sp_recv_size, RPCRDMA2_INLINE_DEFAULT);
	KUNIT_EXPECT_EQ(test, sp->sp_recv_requested, RPCRDMA2_INLINE_DEFAULT);
	KUNIT_EXPECT_EQ(test, sp->sp_rpool.rp_size, PAGE_SIZE);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_RESIZING, &sp->sp_flags));
	KUNIT_EXPECT_EQ(test, sp->sp_rpool.rp_small, 0);

	/* no Receive can be that large */
	svc2_receives_resize(&sp->sp_ex, U32_MAX);
	KUNIT_EXPECT_EQ(test, sp->sp_recv_requested, RPCRDMA2_INLINE_MAX);
	rpcrdma2_rpool_resize(&sp->sp_rpool, PAGE_SIZE);
}

/* The connection whose sizes change, and whether the change was noted before the wakeup */
static struct svc2_xprt *changing;
static bool noted_first;

static void at_wakeup(void)
{
	noted_first = test_bit(SVC2_F_CHANGED, &changing->sp_flags) &&
		      !test_bit(XPT_DATA, &changing->sp_xprt.xpt_flags);
}

static void at_note(void)
{
	open_window(BEFORE_SET, at_wakeup);
}

/* A thread that is woken by a change of the sizes finds the change. */
static void changed_sizes_are_noted_first(struct kunit *test)
{
	struct fixture *f = test->priv;

	changing = &f->sp;
	noted_first = false;
	list_add(&f->sp.sp_listed, &svc2_conns);
	open_window(BEFORE_SET, at_note);
	svc2_sizes_set();
	expect_passed(test);
	list_del(&f->sp.sp_listed);
	KUNIT_EXPECT_TRUE(test, noted_first);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_CHANGED, &f->sp.sp_flags));
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &f->sp.sp_xprt.xpt_flags));
}

static struct kunit_case credits_cases[] = {
	KUNIT_CASE(c033_requested_size),
	KUNIT_CASE(changed_sizes_are_noted_first),
	KUNIT_CASE(r6_receives_before_the_grant),
	KUNIT_CASE(s26_unused_grant),
	KUNIT_CASE(s26_used_grant),
	KUNIT_CASE(s26_used_while_lowered),
	KUNIT_CASE(s26_steady_load),
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
