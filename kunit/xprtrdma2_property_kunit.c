// SPDX-License-Identifier: GPL-2.0
/*
 * When the client announces its properties to a server that it remembers.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/module.h>

#include "../xprtrdma2/property.h"

static void first_intro(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, xprt2_first_intro(XPRT2_TRIAL, true),
			XPRT2_INTRO_DUE);
	KUNIT_EXPECT_EQ(test, xprt2_first_intro(XPRT2_TRIAL, false),
			XPRT2_INTRO_NONE);
	KUNIT_EXPECT_EQ(test, xprt2_first_intro(XPRT2_PROBE, true),
			XPRT2_INTRO_NONE);
	KUNIT_EXPECT_EQ(test, xprt2_first_intro(XPRT2_SETTLED, true),
			XPRT2_INTRO_NONE);
}

struct time_case {
	const char		*desc;
	enum xprt2_intro	intro;
	enum xprt2_phase	phase;
	u32			grant;
	bool			want;
};

static const struct time_case time_cases[] = {
	{ "C-097 not before the first RPC is answered",
	  XPRT2_INTRO_DUE, XPRT2_TRIAL, 0, false },
	{ "C-097 not after an error, which grants nothing",
	  XPRT2_INTRO_DUE, XPRT2_SETTLED, 0, false },
	{ "S29 behind the first Reply", XPRT2_INTRO_DUE, XPRT2_SETTLED, 32,
	  true },
	{ "2.3 two credits are enough", XPRT2_INTRO_DUE, XPRT2_SETTLED, 2,
	  true },
	{ "2.3 not where it would displace all Calls",
	  XPRT2_INTRO_DUE, XPRT2_SETTLED, 1, false },
	{ "S15 once a connection", XPRT2_INTRO_OUT, XPRT2_SETTLED, 32, false },
	{ "S29 not when it went first", XPRT2_INTRO_NONE, XPRT2_SETTLED, 32,
	  false },
	{ "S35 not on a connection that is given up",
	  XPRT2_INTRO_DUE, XPRT2_OVER, 32, false },
};

KUNIT_ARRAY_PARAM_DESC(time, time_cases, desc);

static void time(struct kunit *test)
{
	const struct time_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, xprt2_may_introduce(c->intro, c->phase, c->grant),
			c->want);
}

/* 2.3: it holds a slot from before it is sent, and never the last one. */
static void calls_beside(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	KUNIT_EXPECT_EQ(test, xprt2_calls_beside(false, 32), 32);
	KUNIT_EXPECT_EQ(test, xprt2_calls_beside(true, 32), 31);
	KUNIT_EXPECT_EQ(test, xprt2_calls_beside(true, 2), 1);
	KUNIT_EXPECT_EQ(test, xprt2_calls_beside(true, 1), 1);
	KUNIT_EXPECT_EQ(test, xprt2_calls_beside(false, 1), 1);

	rpcrdma2_exchange_init(&ex, false);
	KUNIT_EXPECT_FALSE(test, xprt2_takes_place(XPRT2_INTRO_NONE, false, &ex));
	KUNIT_EXPECT_TRUE(test, xprt2_takes_place(XPRT2_INTRO_DUE, false, &ex));
	KUNIT_EXPECT_TRUE(test, xprt2_takes_place(XPRT2_INTRO_OUT, true, &ex));
	KUNIT_EXPECT_TRUE(test, xprt2_takes_place(XPRT2_INTRO_NONE, true, &ex));
	ex.ex_peer.pp_now = ex.ex_able;		/* with the mark */
	KUNIT_EXPECT_FALSE(test, xprt2_takes_place(XPRT2_INTRO_NONE, true, &ex));
	KUNIT_EXPECT_TRUE(test, xprt2_takes_place(XPRT2_INTRO_OUT, true, &ex));
}

static struct kunit_case property_cases[] = {
	KUNIT_CASE(first_intro),
	KUNIT_CASE_PARAM(time, time_gen_params),
	KUNIT_CASE(calls_beside),
	{}
};

static struct kunit_suite property_suite = {
	.name		= "xprtrdma2_property",
	.test_cases	= property_cases,
};

kunit_test_suite(property_suite);
