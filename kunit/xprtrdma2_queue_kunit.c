// SPDX-License-Identifier: GPL-2.0
/*
 * B-04: Replies leave the transmit queue, and the search for them skips Calls that wait for
 * a credit.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../xprtrdma2/xprtrdma2.h"

enum {
	CALLS	= 80,
};

struct line {
	struct list_head	queue;
	struct list_head	replies;
	struct rpc_rqst		rqsts[CALLS + 4];
	unsigned int		count;
};

static struct line *line_alloc(struct kunit *test)
{
	struct line *line = kunit_kzalloc(test, sizeof(*line), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, line);
	INIT_LIST_HEAD(&line->queue);
	INIT_LIST_HEAD(&line->replies);
	return line;
}

static struct rpc_rqst *enqueue(struct line *line, bool credit, bool reply)
{
	struct rpc_rqst *rqst = &line->rqsts[line->count++];

	rqst->rq_cong = credit;
	if (reply)
		__set_bit(RPC_BC_PA_IN_USE, &rqst->rq_bc_pa_state);
	list_add_tail(&rqst->rq_xmit, &line->queue);
	return rqst;
}

/* The search visits only one of 80 Calls without a credit: the next one may disappear. */
static void b04_waiting_calls_not_visited(struct kunit *test)
{
	struct line *line = line_alloc(test);
	unsigned int i;

	for (i = 0; i < CALLS; i++)
		enqueue(line, false, false);
	KUNIT_EXPECT_EQ(test, 1, xprt2_move_replies(&line->queue, &line->replies));
	KUNIT_EXPECT_TRUE(test, list_empty(&line->replies));
	KUNIT_EXPECT_EQ(test, CALLS, list_count_nodes(&line->queue));
}

/* The same if a Call with a credit waits for entries in front of Replies */
static void b04_replies_behind_call_with_credit(struct kunit *test)
{
	struct line *line = line_alloc(test);
	struct rpc_rqst *call = enqueue(line, true, false);
	struct rpc_rqst *first = enqueue(line, true, true);
	struct rpc_rqst *second = enqueue(line, true, true);
	unsigned int i;

	for (i = 0; i < CALLS; i++)
		enqueue(line, false, false);
	KUNIT_EXPECT_EQ(test, 4, xprt2_move_replies(&line->queue, &line->replies));
	KUNIT_EXPECT_PTR_EQ(test, line->queue.next, &call->rq_xmit);
	KUNIT_EXPECT_EQ(test, CALLS + 1, list_count_nodes(&line->queue));
	KUNIT_EXPECT_PTR_EQ(test, line->replies.next, &first->rq_xmit);
	KUNIT_EXPECT_PTR_EQ(test, line->replies.prev, &second->rq_xmit);
	KUNIT_EXPECT_EQ(test, 2, list_count_nodes(&line->replies));
}

static void b04_empty_queue(struct kunit *test)
{
	struct line *line = line_alloc(test);

	KUNIT_EXPECT_EQ(test, 0, xprt2_move_replies(&line->queue, &line->replies));
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(b04_waiting_calls_not_visited),
	KUNIT_CASE(b04_replies_behind_call_with_credit),
	KUNIT_CASE(b04_empty_queue),
	{}
};

static struct kunit_suite queue_suite = {
	.name		= "xprtrdma2_queue",
	.test_cases	= queue_cases,
};

kunit_test_suite(queue_suite);
