// SPDX-License-Identifier: GPL-2.0
/*
 * Receives that are made, or get another size, while their pool is given another
 * one: a peer that was told of larger Receives finds no smaller one (C-028, C-032).
 *
 * The tracepoint of kmalloc() is where the pool gets its size: in the middle of
 * what is done to a Receive.
 */
#include <linux/slab.h>
#include <trace/events/kmem.h>

#include "recv_queue.h"

/**
 * struct race - a Receive Queue whose pool is given another size
 * @q: the queue; its @least is what the peer was told
 * @task: the next kmalloc() of this one does it; then NULL
 * @pages: how many each Receive shall have then
 */
struct race {
	struct queue		*q;
	struct task_struct	*task;
	unsigned int		pages;
};

/* The owner of the pool tells the peer when it may. */
static void tell(struct queue *q)
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
	tell(ra->q);
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

/* No memory makes it larger when it is posted. */
static void raised_while_one_is_made(struct kunit *test)
{
	struct rpcrdma2_budget budget = { .bu_most = 100, .bu_kept = 100 };
	struct queue *q = open_queue(test, 1, 8, 1);
	struct race *ra;

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
/* The Receive allocates its new stretch with kmalloc(). */
static void raised_while_one_gets_smaller(struct kunit *test)
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
	tell(q);
	KUNIT_EXPECT_EQ(test, q->least, 4);
	rpcrdma2_recv_repost(&q->co, receive(q, 100));
	close_queue(test, q);
}
#endif

static struct kunit_case race_cases[] = {
	KUNIT_CASE(raised_while_one_is_made),
#ifdef RPCRDMA2_STRETCHES
	KUNIT_CASE(raised_while_one_gets_smaller),
#endif
	{}
};

static struct kunit_suite race_suite = {
	.name		= "rpcrdma2_recv_race",
	.test_cases	= race_cases,
};

kunit_test_suite(race_suite);
