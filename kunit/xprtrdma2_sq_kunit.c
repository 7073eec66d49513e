// SPDX-License-Identifier: GPL-2.0
/*
 * Send Queue entries: Calls never take the entries of other messages.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/module.h>

#include "window.h"

static int windowed_add_return(int count, atomic_t *units)
{
	pass(BEFORE_RETURN);
	return atomic_add_return(count, units);
}

#undef smp_store_mb
/* without a barrier, as there is one task */
#define smp_store_mb(var, value) do {	\
	pass(BEFORE_MARK);		\
	WRITE_ONCE(var, value);		\
	pass(BEHIND_MARK);		\
} while (0)
#undef atomic_add_return
#define atomic_add_return(count, units)	windowed_add_return(count, units)
#include <rpcrdma2/plan.h>

#include "../xprtrdma2/pure.h"

struct size_case {
	const char	*desc;
	unsigned int	reqs, segs, backward_grant;
};

static const struct size_case size_cases[] = {
	{ "the minimum of a device", 1, 3, 1 },
	{ "many small regions", 1, 16, 16 },
	{ "minimum of slots", 4, 3, 16 },
	{ "default", 64, 3, 16 },
	{ "default of slots on iWARP", 64, 16, 16 },
	{ "maximum of slots", 16384, 3, 16 },
	{ "maximum of backward Calls", 128, 3, XPRT2_BACKWARD_MAX },
};

KUNIT_ARRAY_PARAM_DESC(size, size_cases, desc);

/* The entries of a queue without completions */
static void open_queue(struct rpcrdma2_units *un, const struct size_case *c)
{
	*un = (struct rpcrdma2_units){
		.un_reserved = xprt2_backward_reqs(c->backward_grant),
	};
	atomic_set(&un->un_free, xprt2_sq_depth(c->reqs, c->segs, c->backward_grant));
}

/* Takes @entries per Call until none fits, and then all reserved entries */
static void fill(struct kunit *test, struct rpcrdma2_units *un,
		 unsigned int entries)
{
	unsigned int i;

	while (rpcrdma2_units_take(un, entries, un->un_reserved))
		;
	KUNIT_EXPECT_GE(test, atomic_read(&un->un_free), un->un_reserved);
	for (i = 0; i < un->un_reserved; i++)
		KUNIT_EXPECT_TRUE(test, rpcrdma2_units_take(un, 1, 0));
	KUNIT_EXPECT_GE(test, atomic_read(&un->un_free), 0);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_units_take(un, 1, un->un_reserved));
}

/* S46: other messages find an entry behind any number of Calls. */
static void reserve_behind_calls(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct rpcrdma2_units un;
	unsigned int entries;

	for (entries = 1; entries <= xprt2_sq_largest(c->segs); entries++) {
		open_queue(&un, c);
		fill(test, &un, entries);
	}
}

/* The same if the other messages are first: no entry is taken twice. */
static void reserve_before_calls(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct rpcrdma2_units un;
	unsigned int early, i;

	for (early = 0; early <= xprt2_backward_reqs(c->backward_grant); early++) {
		open_queue(&un, c);
		for (i = 0; i < early; i++)
			KUNIT_EXPECT_TRUE(test,
					  rpcrdma2_units_take(&un, 1, 0));
		while (rpcrdma2_units_take(&un, 1, un.un_reserved))
			;
		for (; i < un.un_reserved; i++)
			KUNIT_EXPECT_TRUE(test,
					  rpcrdma2_units_take(&un, 1, 0));
		KUNIT_EXPECT_GE(test, atomic_read(&un.un_free), 0);
	}
}

/*
 * The largest Call fits behind a maximum of entries without a completion: one with the
 * regions of a payload, and the three of a Call or Reply of less than a page.
 */
static void largest_call(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct rpcrdma2_units un;

	open_queue(&un, c);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_units_take(&un, XPRT2_SEND_BATCH - 1,
						    un.un_reserved));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_units_take(&un,
						    2 * (c->segs + 3) + 1,
						    un.un_reserved));
}

/* A return reports a failed attempt to take entries once, and nothing else. */
static void give_reports_shortage(struct kunit *test)
{
	struct rpcrdma2_units un = { .un_reserved = 1 };

	atomic_set(&un.un_free, 3);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_units_take(&un, 2, un.un_reserved));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_units_give(&un, 2));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_units_take(&un, 3, un.un_reserved));
	KUNIT_EXPECT_EQ(test, atomic_read(&un.un_free), 3);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_units_give(&un, 0));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_units_give(&un, 1));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_units_give(&un, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&un.un_free), 5);
}

/* Three of four units are in use, and a taker needs two. */
static struct rpcrdma2_units scarce;
static bool taken, reported;

static void take_two(void)
{
	taken = rpcrdma2_units_take(&scarce, 2, 0);
}

static void give_three(void)
{
	reported = rpcrdma2_units_give(&scarce, 3);
}

static void open_scarce(enum place place, void (*act)(void))
{
	scarce = (struct rpcrdma2_units){ };
	atomic_set(&scarce.un_free, 1);
	taken = false;
	reported = false;
	open_window(place, act);
}

/*
 * Units that come back while a taker finds too few, and before it waits, are the taker's, or the
 * return reports that a taker waits. The same for a taker that comes during a return.
 */
static void units_before_wait(struct kunit *test)
{
	static const enum place places[] = { BEFORE_MARK, BEHIND_MARK };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		open_scarce(places[i], give_three);
		take_two();
		expect_passed(test);
		KUNIT_EXPECT_TRUE(test, taken || reported);
	}
	open_scarce(BEFORE_RETURN, take_two);
	give_three();
	expect_passed(test);
	KUNIT_EXPECT_TRUE(test, taken || reported);
}

/* The number of RPCs is the largest that the entries suffice for. */
static void rpcs_of_entries(struct kunit *test)
{
	unsigned int n;

	for (n = 0; n <= 1000; n++) {
		KUNIT_EXPECT_LE(test, xprt2_sq_calls(xprt2_sq_reqs(n)), n);
		KUNIT_EXPECT_GT(test, xprt2_sq_calls(xprt2_sq_reqs(n) + 1), n);
	}
	KUNIT_EXPECT_EQ(test, xprt2_sq_reqs(171), 128);
	KUNIT_EXPECT_EQ(test, xprt2_sq_reqs(INT_MAX), 1610612735);
}

/*
 * All RPCs but one wait for their Replies, with one region each, and no completion covers
 * their last Sends: the last RPC finds the three entries that it needs.
 */
static void call_behind_waiting_rpcs(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct rpcrdma2_units un;

	open_queue(&un, c);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_units_take(&un, c->reqs - 1 + XPRT2_SEND_BATCH - 1,
						    un.un_reserved));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_units_take(&un, 3, un.un_reserved));
}

/* The sizes for 128 slots with three regions each, added up by hand */
static void computed_sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, xprt2_sq_largest(3), 13);
	KUNIT_EXPECT_EQ(test, xprt2_sq_depth(128, 3, 16), 171 + 16 + 65);
	/* With two entries to drain, and one of soft-RoCE, that is less than a power of two. */
	KUNIT_EXPECT_LE(test, xprt2_sq_depth(128, 3, 16) + 3, 256);
	KUNIT_EXPECT_EQ(test, xprt2_sq_depth(1, 16, 16), 39 + 16 + 65);
	KUNIT_EXPECT_EQ(test, XPRT2_SEND_BATCH, 16);
	KUNIT_EXPECT_EQ(test, XPRT2_BACKWARD_CREDITS, 16);
	KUNIT_EXPECT_EQ(test, XPRT2_BACKWARD_MAX, 256);
	KUNIT_EXPECT_EQ(test, xprt2_backward_reqs(16), 65);
	KUNIT_EXPECT_EQ(test, xprt2_backward_reqs(1), 65);
	KUNIT_EXPECT_EQ(test, xprt2_backward_reqs(32), 129);
	/* Half of the requests, except the one for errors, are for Replies. */
	KUNIT_EXPECT_EQ(test, xprt2_backward_replies(16), 32);
	KUNIT_EXPECT_EQ(test, xprt2_backward_replies(1), 32);
	KUNIT_EXPECT_EQ(test, xprt2_backward_replies(32), 64);
}

/* B-04: a small device lowers the grant, but not below the default. */
static void backward_grant(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, xprt2_sq_backward(16383, 256), 256);
	KUNIT_EXPECT_EQ(test, xprt2_sq_backward(2082, 256), 256);
	KUNIT_EXPECT_EQ(test, xprt2_sq_backward(2081, 256), 128);
	KUNIT_EXPECT_EQ(test, xprt2_sq_backward(1000, 256), 64);
	KUNIT_EXPECT_EQ(test, xprt2_sq_backward(100, 256), 16);
	KUNIT_EXPECT_EQ(test, xprt2_sq_backward(100, 31), 16);
	KUNIT_EXPECT_EQ(test, xprt2_sq_backward(100, 17), 16);
	KUNIT_EXPECT_EQ(test, xprt2_sq_backward(0, 16), 16);
	KUNIT_EXPECT_EQ(test, xprt2_sq_backward(0, 1), 1);
}

/* The last free entry can be taken. */
static void last_entry(struct kunit *test)
{
	struct rpcrdma2_units un = { .un_reserved = 32 };

	atomic_set(&un.un_free, 33);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_units_take(&un, 1, un.un_reserved));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_units_take(&un, 1, un.un_reserved));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_units_take(&un, 32, 0));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_units_take(&un, 1, 0));
}

static struct kunit_case sq_cases[] = {
	KUNIT_CASE_PARAM(reserve_behind_calls, size_gen_params),
	KUNIT_CASE_PARAM(reserve_before_calls, size_gen_params),
	KUNIT_CASE_PARAM(largest_call, size_gen_params),
	KUNIT_CASE_PARAM(call_behind_waiting_rpcs, size_gen_params),
	KUNIT_CASE(rpcs_of_entries),
	KUNIT_CASE(computed_sizes),
	KUNIT_CASE(backward_grant),
	KUNIT_CASE(last_entry),
	KUNIT_CASE(give_reports_shortage),
	KUNIT_CASE(units_before_wait),
	{}
};

static struct kunit_suite sq_suite = {
	.name		= "xprtrdma2_sq",
	.test_cases	= sq_cases,
};

kunit_test_suite(sq_suite);
