// SPDX-License-Identifier: GPL-2.0
/*
 * Limits that follow from a device's attributes.
 */
#include <kunit/test.h>

#include <rpcrdma2/caps.h>

#define LARGE	0x90000000U	/* less than 0 as an int */

static void queues(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(100, 2), 98U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(3, 2), 1U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(2, 2), 0U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(1, 2), 0U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(0, 1), 0U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(INT_MAX, 2), INT_MAX - 2U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(LARGE, 2), INT_MAX - 2U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(U32_MAX, 2), INT_MAX - 2U);
}

static void depths(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_depth(0), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_depth(16), 16);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_depth(U8_MAX), U8_MAX);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_depth(U8_MAX + 1), U8_MAX);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_depth(LARGE), U8_MAX);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_depth(U32_MAX), U8_MAX);
}

static struct kunit_case caps_suite_cases[] = {
	KUNIT_CASE(queues),
	KUNIT_CASE(depths),
	{ }
};

static struct kunit_suite caps_suite = {
	.name = "rpcrdma2_caps",
	.test_cases = caps_suite_cases,
};

kunit_test_suite(caps_suite);
