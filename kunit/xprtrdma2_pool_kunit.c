// SPDX-License-Identifier: GPL-2.0
/*
 * S46: the last request of the backward direction is reserved for errors.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../xprtrdma2/xprtrdma2.h"

/* Calls leave the last request, and errors take it. */
static void last_request_reserved(struct kunit *test)
{
	struct llist_node reqs[3];
	struct xprt2_pool pl;
	unsigned int i;

	init_llist_head(&pl.pl_free);
	KUNIT_EXPECT_NULL(test, xprt2_pool_pop(&pl, false));
	KUNIT_EXPECT_NULL(test, xprt2_pool_pop(&pl, true));
	for (i = 0; i < 3; i++)
		llist_add(&reqs[i], &pl.pl_free);

	KUNIT_EXPECT_PTR_EQ(test, xprt2_pool_pop(&pl, false), &reqs[2]);
	KUNIT_EXPECT_PTR_EQ(test, xprt2_pool_pop(&pl, false), &reqs[1]);
	KUNIT_EXPECT_NULL(test, xprt2_pool_pop(&pl, false));
	KUNIT_EXPECT_PTR_EQ(test, xprt2_pool_pop(&pl, true), &reqs[0]);
	KUNIT_EXPECT_NULL(test, xprt2_pool_pop(&pl, true));
}

/* A completed error returns its request for later errors, and no Call takes it. */
static void error_returns_request(struct kunit *test)
{
	struct llist_node req, *got;
	struct xprt2_pool pl;

	init_llist_head(&pl.pl_free);
	llist_add(&req, &pl.pl_free);
	got = xprt2_pool_pop(&pl, true);
	KUNIT_ASSERT_PTR_EQ(test, got, &req);
	llist_add(got, &pl.pl_free);
	KUNIT_EXPECT_NULL(test, xprt2_pool_pop(&pl, false));
	KUNIT_EXPECT_PTR_EQ(test, xprt2_pool_pop(&pl, true), &req);
}

/* X4: the check detects a missing request, and a surplus one. */
static void x4_detects_lost_requests(struct kunit *test)
{
	struct llist_node reqs[2], *got;
	struct xprt2_pool pl = { };

	KUNIT_EXPECT_TRUE(test, xprt2_pool_is_whole(&pl));
	init_llist_head(&pl.pl_free);
	llist_add(&reqs[0], &pl.pl_free);
	pl.pl_count = 1;
	KUNIT_EXPECT_TRUE(test, xprt2_pool_is_whole(&pl));
	got = xprt2_pool_pop(&pl, true);
	KUNIT_EXPECT_FALSE(test, xprt2_pool_is_whole(&pl));
	llist_add(got, &pl.pl_free);
	llist_add(&reqs[1], &pl.pl_free);
	KUNIT_EXPECT_FALSE(test, xprt2_pool_is_whole(&pl));
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(last_request_reserved),
	KUNIT_CASE(error_returns_request),
	KUNIT_CASE(x4_detects_lost_requests),
	{}
};

static struct kunit_suite pool_suite = {
	.name		= "xprtrdma2_pool",
	.test_cases	= pool_cases,
};

kunit_test_suite(pool_suite);
