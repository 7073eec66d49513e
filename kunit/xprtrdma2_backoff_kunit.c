// SPDX-License-Identifier: GPL-2.0
/*
 * The time of a connection attempt: back-off and spread.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/module.h>

#include "../xprtrdma2/pure.h"

struct past_case {
	const char	*desc;
	bool		replied, lost, innocent;
	enum xprt2_past	want;
};

static const struct past_case past_cases[] = {
	{ "lost, and had brought Replies",
	  true, true, false, XPRT2_PAST_LOST },
	{ "closed, and had brought Replies",
	  true, false, false, XPRT2_PAST_NONE },
	{ "lost without one Reply",
	  false, true, false, XPRT2_PAST_FAILED },
	{ "lost with its device without one Reply",
	  false, true, true, XPRT2_PAST_LOST },
	{ "given up without one Reply",
	  false, false, false, XPRT2_PAST_FAILED },
};

KUNIT_ARRAY_PARAM_DESC(past, past_cases, desc);

static void past(struct kunit *test)
{
	const struct past_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, c->want,
			xprt2_judge_past(c->replied, c->lost, c->innocent));
}

struct delay_case {
	const char	*desc;
	enum xprt2_past	past;
	unsigned long	distance, since;
	unsigned long	least, most;
};

static const struct delay_case delay_cases[] = {
	{ "the first connection: at once",
	  XPRT2_PAST_NONE, 0, 0, 0, 0 },
	{ "the client closed it: at once, whatever was before",
	  XPRT2_PAST_NONE, 60 * HZ, 0, 0, 0 },
	{ "lost: spread over a quarter of a second",
	  XPRT2_PAST_LOST, 0, 0, 0, HZ / 4 },
	{ "lost: spread",
	  XPRT2_PAST_LOST, 0, 100 * HZ, 0, XPRT2_SPREAD },
	{ "lost, with a distance left over from an earlier failure",
	  XPRT2_PAST_LOST, 60 * HZ, 0, 0, XPRT2_SPREAD },
	{ "the first failure: spread",
	  XPRT2_PAST_FAILED, 0, 0, 0, XPRT2_SPREAD },
	{ "the second: 3 s from the last attempt",
	  XPRT2_PAST_FAILED, 3 * HZ, HZ, 2 * HZ,
	  2 * HZ + 3 * HZ / 8 },
	{ "a minute: spread over an eighth more",
	  XPRT2_PAST_FAILED, 60 * HZ, 0, 60 * HZ, 60 * HZ + 60 * HZ / 8 },
	{ "a failure long ago",
	  XPRT2_PAST_FAILED, 3 * HZ, 3 * HZ, 0, XPRT2_SPREAD },
};

KUNIT_ARRAY_PARAM_DESC(delay, delay_cases, desc);

static void delay(struct kunit *test)
{
	const struct delay_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, xprt2_connect_delay(c->past, c->distance,
						  c->since, 0), c->least);
	KUNIT_EXPECT_EQ(test, xprt2_connect_delay(c->past, c->distance,
						  c->since, U32_MAX), c->most);
}

static struct kunit_case backoff_cases[] = {
	KUNIT_CASE_PARAM(past, past_gen_params),
	KUNIT_CASE_PARAM(delay, delay_gen_params),
	{}
};

static struct kunit_suite backoff_suite = {
	.name		= "xprtrdma2_backoff",
	.test_cases	= backoff_cases,
};

kunit_test_suite(backoff_suite);
