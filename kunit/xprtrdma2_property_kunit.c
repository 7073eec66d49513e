// SPDX-License-Identifier: GPL-2.0
/*
 * The effect of a property message on the number of the client's Calls.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/module.h>

#include "../xprtrdma2/pure.h"

/* 2.3: the message takes a slot before its Send, but never the last slot. */
static void calls_with_property_message(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	KUNIT_EXPECT_EQ(test, xprt2_calls_allowed(false, 32), 32);
	KUNIT_EXPECT_EQ(test, xprt2_calls_allowed(true, 32), 31);
	KUNIT_EXPECT_EQ(test, xprt2_calls_allowed(true, 2), 1);
	KUNIT_EXPECT_EQ(test, xprt2_calls_allowed(true, 1), 1);
	KUNIT_EXPECT_EQ(test, xprt2_calls_allowed(false, 1), 1);

	rpcrdma2_exchange_init(&ex, NULL, false);
	KUNIT_EXPECT_FALSE(test, xprt2_props_needs_credit(false, &ex));
	KUNIT_EXPECT_TRUE(test, xprt2_props_needs_credit(true, &ex));
	ex.ex_peer.pp_now = ex.ex_supported;		/* with the mark */
	KUNIT_EXPECT_FALSE(test, xprt2_props_needs_credit(true, &ex));
	KUNIT_EXPECT_FALSE(test, xprt2_props_needs_credit(false, &ex));
}

static struct kunit_case property_cases[] = {
	KUNIT_CASE(calls_with_property_message),
	{}
};

static struct kunit_suite property_suite = {
	.name		= "xprtrdma2_property",
	.test_cases	= property_cases,
};

kunit_test_suite(property_suite);
