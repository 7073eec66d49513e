// SPDX-License-Identifier: GPL-2.0
/*
 * A pool gets a new size while a Receive is created or resized: after an announcement of
 * larger Receives the peer must not find a smaller one (C-028, C-032).
 *
 * The tracepoint of kmalloc() changes the size of the pool, in the middle of an operation
 * on a Receive.
 */
#include <linux/slab.h>
#include <trace/events/kmem.h>

#include "recv_queue.h"

/**
 * struct race - a Receive Queue whose pool is resized during an allocation
 * @q: queue; its @least is the size that is announced to the peer
 * @task: task whose next kmalloc() triggers the resize; NULL afterwards
 * @pages: new number of pages of each Receive
 */
struct race {
	struct queue		*q;
	struct task_struct	*task;
	unsigned int		pages;
};

/* The owner of the pool announces the size when no smaller Receive is left. */
static void announce(struct queue *q)
{
	if (!q->pool.rp_small)
		q->least = q->pool.rp_size >> PAGE_SHIFT;
}

static void at_kmalloc(void *data, unsigned long call_site, const void *ptr,
		       size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
		       int node)
{
	struct race *ra = data;

	if (current != ra->task)
		return;
	ra->task = NULL;
	rpcrdma2_rpool_resize(&ra->q->pool, ra->pages << PAGE_SHIFT);
	announce(ra->q);
}

static struct race *race_at_kmalloc(struct kunit *test, struct queue *q,
				    unsigned int pages)
{
	struct race *ra = kunit_kzalloc(test, sizeof(*ra), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ra);
	ra->q = q;
	ra->pages = pages;
	KUNIT_ASSERT_EQ(test, register_trace_kmalloc(at_kmalloc, ra), 0);
	ra->task = current;
	return ra;
}

static void end_race(struct kunit *test, struct race *ra)
{
	unregister_trace_kmalloc(at_kmalloc, ra);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_NULL(test, ra->task);
}

/* A lack of memory prevents its growth at the post. */
static void grown_while_creating(struct kunit *test)
{
	struct rpcrdma2_budget budget = { .bu_limit = 100, .bu_reserved = 100 };
	struct queue *q;
	struct race *ra;

	need_pages(test, 3);
	q = open_queue(test, 1, 8, 1);
	q->pool.rp_budget = &budget;
	ra = race_at_kmalloc(test, q, 3);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 2), 0);
	end_race(test, ra);
	KUNIT_EXPECT_EQ(test, q->least, 3);
	KUNIT_EXPECT_EQ(test, q->nposted, 2);
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 2);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 6);
	close_queue(test, q);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 0);
}

#ifdef RPCRDMA2_STRETCHES
/* The Receive allocates its new contiguous mapping with kmalloc(). */
static void grown_while_shrinking(struct kunit *test)
{
	struct queue *q = open_queue(test, 4, 8, 1);
	struct rpcrdma2_recv *rv;
	struct race *ra;

	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 2), 0);
	rpcrdma2_rpool_resize(&q->pool, 2 * PAGE_SIZE);
	q->least = 2;
	rv = receive(q, 100);
	ra = race_at_kmalloc(test, q, 4);
	rpcrdma2_recv_repost(&q->co, rv);
	end_race(test, ra);
	KUNIT_EXPECT_EQ(test, q->least, 2);
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 1);

	rpcrdma2_recv_repost(&q->co, receive(q, 100));
	rpcrdma2_recv_repost(&q->co, receive(q, 100));
	announce(q);
	KUNIT_EXPECT_EQ(test, q->least, 4);
	rpcrdma2_recv_repost(&q->co, receive(q, 100));
	close_queue(test, q);
}
#endif

static struct kunit_case race_cases[] = {
	KUNIT_CASE(grown_while_creating),
#ifdef RPCRDMA2_STRETCHES
	KUNIT_CASE(grown_while_shrinking),
#endif
	{}
};

static struct kunit_suite race_suite = {
	.name		= "rpcrdma2_recv_race",
	.test_cases	= race_cases,
};

kunit_test_suite(race_suite);
