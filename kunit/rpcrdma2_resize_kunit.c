// SPDX-License-Identifier: GPL-2.0
/*
 * Receives that change size, and pools that change their number of Receives.
 */
#include "recv_queue.h"

/* The Receive has @pages pages, and the device and the CPU see the same memory. */
static void expect_pages(struct kunit *test, struct rpcrdma2_recv *rv,
			 unsigned int pages)
{
	u32 at;

	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_room(rv), pages << PAGE_SHIFT);
	KUNIT_EXPECT_EQ(test, rv->rv_wr.num_sge, pages);
	for (at = 0; at < rpcrdma2_recv_room(rv); at += PAGE_SIZE)
		*byte(rv, at) = 1 + (at >> PAGE_SHIFT);
#ifdef RPCRDMA2_STRETCHES
	for (at = 0; rv->rv_buf && at < rpcrdma2_recv_room(rv); at += PAGE_SIZE)
		KUNIT_EXPECT_EQ(test, ((u8 *)rv->rv_buf)[at],
				1 + (at >> PAGE_SHIFT));
#endif
}

/* Fills the oldest Receive with a message and reposts it, @times times. */
static void cycle(struct kunit *test, struct queue *q, unsigned int times)
{
	struct rpcrdma2_recv *rv;

	while (times--) {
		rv = receive(q, rpcrdma2_recv_room(q->posted[0]));
		rpcrdma2_recv_sync(rv);
		rpcrdma2_recv_repost(&q->co, rv);
	}
	KUNIT_EXPECT_EQ(test, q->losses, 0);
}

static const struct resize_case {
	const char	*desc;
	unsigned int	from, to;
} resize_cases[] = {
	{ "C-032 from a page to the largest", 1, RPCRDMA2_RECV_PAGES },
	{ "C-032 from a page to two", 1, 2 },
	{ "C-032 from three to four", 3, 4 },
	{ "C-033 from the largest to a page", RPCRDMA2_RECV_PAGES, 1 },
	{ "C-033 from four to three", 4, 3 },
	{ "C-033 from two to one", 2, 1 },
};

KUNIT_ARRAY_PARAM_DESC(resize, resize_cases, desc);

/*
 * Each Receive changes size when it is reposted; after a full round no Receive has the old
 * size. One Receive waits for its batch when the change begins.
 */
static void resizes_when_reposted(struct kunit *test)
{
	const struct resize_case *c = test->param_value;
	struct queue *q;
	bool raise = c->to > c->from;
	unsigned int i;

	need_pages(test, max3(c->from, c->to, 2U));
	q = open_queue(test, c->from, 12, 4);
	q->least = min(c->from, c->to);
	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 12), 0);
	cycle(test, q, 1);
	rpcrdma2_rpool_resize(&q->pool, c->to << PAGE_SHIFT);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, raise ? 12 : 0);
	/* The Receive that was not posted completes last. */
	for (i = 1; i <= 15; i++) {
		cycle(test, q, 1);
		if (i <= 11)
			KUNIT_EXPECT_EQ(test, q->pool.rp_small,
					raise ? 12 - i : 0);
	}
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 0);
	q->least = c->to;
	cycle(test, q, 12);
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 12);
	KUNIT_ASSERT_EQ(test, q->nposted, 12);
	for (i = 0; i < 12; i++)
		expect_pages(test, q->posted[i], c->to);
	close_queue(test, q);
}

/* Without contiguous mappings, free Receives change size at once. */
static void resizes_when_put(struct kunit *test)
{
	const struct resize_case *c = test->param_value;
	struct queue *q;
	bool raise = c->to > c->from;
	struct rpcrdma2_recv *held;
	unsigned int i;

	need_pages(test, max3(c->from, c->to, 2U));
	q = open_queue(test, c->from, 8, 0);
	q->pool.rp_reposted = false;
	q->least = min(c->from, c->to);
	KUNIT_ASSERT_EQ(test, post(q, 6), 6);
	rpcrdma2_recv_put(receive(q, 100));
	rpcrdma2_recv_put(receive(q, 100));
	held = receive(q, c->from << PAGE_SHIFT);
	rpcrdma2_rpool_resize(&q->pool, c->to << PAGE_SHIFT);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, raise ? 4 : 0);
	rpcrdma2_recv_sync(held);
	rpcrdma2_recv_put(held);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, raise ? 3 : 0);
	KUNIT_ASSERT_EQ(test, post(q, 5), 5);
	for (i = 3; i < 8; i++)
		expect_pages(test, q->posted[i], c->to);
	for (i = 0; i < 3; i++)
		rpcrdma2_recv_put(receive(q, 100));
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 0);
	q->least = c->to;
	KUNIT_ASSERT_EQ(test, post(q, 3), 3);
	for (i = 0; i < 8; i++)
		expect_pages(test, q->posted[i], c->to);
	close_queue(test, q);
}

/* The size changes again before the first change is complete. */
static void resizes_twice(struct kunit *test)
{
	struct queue *q;

	need_pages(test, 4);
	q = open_queue(test, 1, 4, 1);
	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 4), 0);
	rpcrdma2_rpool_resize(&q->pool, 4 * PAGE_SIZE);
	cycle(test, q, 2);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 2);
	rpcrdma2_rpool_resize(&q->pool, 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 2);
	cycle(test, q, 1);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 1);
	rpcrdma2_rpool_resize(&q->pool, 3 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 2);
	cycle(test, q, 4);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 0);
	q->least = 3;
	cycle(test, q, 4);
	close_queue(test, q);
}

/*
 * A Receive that finds no page in the budget keeps its size and retries later. The
 * connection survives.
 */
static void shortage_while_resizing(struct kunit *test)
{
	struct rpcrdma2_budget budget = { .bu_limit = 4 };
	struct queue *q;

	need_pages(test, 3);
	q = open_queue(test, 1, 6, 1);
	q->pool.rp_budget = &budget;
	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 4), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 4);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 5), -ENOMEM);
	rpcrdma2_rpool_resize(&q->pool, 3 * PAGE_SIZE);
	cycle(test, q, 4);
	KUNIT_EXPECT_EQ(test, q->nposted, 4);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 4);
	budget.bu_limit = 9;
	cycle(test, q, 4);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 2);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 8);
	budget.bu_limit = 12;
	budget.bu_reserved = 3;
	cycle(test, q, 4);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 2);
	/* The pool gives surplus pages back step by step. */
	budget.bu_limit = 2;
	cycle(test, q, 4);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 2);
	rpcrdma2_rpool_resize(&q->pool, PAGE_SIZE);
	cycle(test, q, 4);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 4);
	close_queue(test, q);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 0);
}

/* Where free Receives change size at once, every post retries. */
static void shortage_while_free(struct kunit *test)
{
	struct rpcrdma2_budget budget = { .bu_limit = 6 };
	struct queue *q;

	need_pages(test, 2);
	q = open_queue(test, 1, 6, 0);
	q->pool.rp_reposted = false;
	q->pool.rp_budget = &budget;
	KUNIT_ASSERT_EQ(test, post(q, 6), 6);
	rpcrdma2_recv_put(receive(q, 100));
	rpcrdma2_recv_put(receive(q, 100));
	rpcrdma2_rpool_resize(&q->pool, 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 6);
	KUNIT_EXPECT_EQ(test, post(q, 1), 1);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 6);
	budget.bu_limit = 8;
	/* The release retries too, for the Receive that stays free. */
	rpcrdma2_recv_put(receive(q, 100));
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 5);
	KUNIT_EXPECT_EQ(test, post(q, 1), 1);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 4);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 1);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	close_queue(test, q);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 0);
}

/*
 * A Receive comes back without the lock while its pool shrinks, perhaps for a device with
 * fewer scatter entries: it shrinks before its next post.
 */
static void shrinks_while_put(struct kunit *test)
{
	struct queue *q = open_queue(test, 3, 2, 0);
	struct rpcrdma2_recv *rv;

	q->pool.rp_reposted = false;
	KUNIT_ASSERT_EQ(test, post(q, 1), 1);
	rv = receive(q, 100);
	q->least = 1;
	/* rpcrdma2_recv_put() has compared the sizes before, and goes on after the resize. */
	rpcrdma2_rpool_resize(&q->pool, PAGE_SIZE);
	llist_add(&rv->rv_node, &q->pool.rp_returned);
	KUNIT_EXPECT_EQ(test, post(q, 1), 1);
	KUNIT_EXPECT_PTR_EQ(test, q->posted[0], rv);
	KUNIT_EXPECT_EQ(test, rv->rv_wr.num_sge, 1);
	KUNIT_EXPECT_EQ(test, rv->rv_npages, 1);
	close_queue(test, q);
}

/* A smaller batch size posts the waiting Receives at once; a larger one waits for more. */
static void changes_batch(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 16, 4);

	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 8), 0);
	cycle(test, q, 3);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 3);
	rpcrdma2_rpool_batch(&q->co, &q->pool, 3);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 0);
	KUNIT_EXPECT_EQ(test, q->nposted, 8);
	KUNIT_EXPECT_EQ(test, q->pool.rp_posts, 11);
	rpcrdma2_rpool_batch(&q->co, &q->pool, 5);
	cycle(test, q, 4);
	KUNIT_EXPECT_EQ(test, q->nposted, 4);
	cycle(test, q, 1);
	KUNIT_EXPECT_EQ(test, q->nposted, 8);
	rpcrdma2_rpool_batch(&q->co, &q->pool, 1);
	KUNIT_EXPECT_EQ(test, q->pool.rp_posts, 16);
	close_queue(test, q);
}

/* The pool frees a Receive of any size; a new Receive has a unique id. */
static void frees_receives(struct kunit *test)
{
	struct rpcrdma2_budget budget = { .bu_limit = 64 };
	struct queue *q;
	unsigned int i;

	need_pages(test, 3);
	q = open_queue(test, 2, 16, 1);
	q->pool.rp_budget = &budget;
	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 6), 0);
	rpcrdma2_recv_free(receive(q, 2 * PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 5);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 10);
	rpcrdma2_rpool_resize(&q->pool, 3 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 5);
	rpcrdma2_recv_free(receive(q, 100));
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 4);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 8);
	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 5), 0);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_NE(test, q->posted[i]->rv_id,
				q->posted[4]->rv_id);
	close_queue(test, q);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 0);
}

static struct kunit_case resize_cases_of_pools[] = {
	KUNIT_CASE_PARAM(resizes_when_reposted, resize_gen_params),
	KUNIT_CASE_PARAM(resizes_when_put, resize_gen_params),
	KUNIT_CASE(resizes_twice),
	KUNIT_CASE(shortage_while_resizing),
	KUNIT_CASE(shortage_while_free),
	KUNIT_CASE(shrinks_while_put),
	KUNIT_CASE(changes_batch),
	KUNIT_CASE(frees_receives),
	{}
};

static struct kunit_suite resize_suite = {
	.name		= "rpcrdma2_resize",
	.test_cases	= resize_cases_of_pools,
};

kunit_test_suite(resize_suite);
