// SPDX-License-Identifier: GPL-2.0
/*
 * S46: of the backward direction's requests the last is for errors.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../xprtrdma2/xprtrdma2.h"

/* What Calls leave, and errors take */
static void the_last(struct kunit *test)
{
	struct list_head reqs[3];
	struct xprt2_pool pl;
	unsigned int i;

	INIT_LIST_HEAD(&pl.pl_free);
	KUNIT_EXPECT_NULL(test, xprt2_pool_pop(&pl, false));
	KUNIT_EXPECT_NULL(test, xprt2_pool_pop(&pl, true));
	for (i = 0; i < 3; i++)
		list_add(&reqs[i], &pl.pl_free);

	KUNIT_EXPECT_PTR_EQ(test, xprt2_pool_pop(&pl, false), &reqs[2]);
	KUNIT_EXPECT_PTR_EQ(test, xprt2_pool_pop(&pl, false), &reqs[1]);
	KUNIT_EXPECT_NULL(test, xprt2_pool_pop(&pl, false));
	KUNIT_EXPECT_PTR_EQ(test, xprt2_pool_pop(&pl, true), &reqs[0]);
	KUNIT_EXPECT_NULL(test, xprt2_pool_pop(&pl, true));
}

/* An error that is done gives its request back to errors, and no Call takes it. */
static void put_back(struct kunit *test)
{
	struct list_head req, *got;
	struct xprt2_pool pl;

	INIT_LIST_HEAD(&pl.pl_free);
	list_add(&req, &pl.pl_free);
	got = xprt2_pool_pop(&pl, true);
	KUNIT_ASSERT_PTR_EQ(test, got, &req);
	KUNIT_EXPECT_TRUE(test, list_empty(got));
	list_add(got, &pl.pl_free);
	KUNIT_EXPECT_NULL(test, xprt2_pool_pop(&pl, false));
	KUNIT_EXPECT_PTR_EQ(test, xprt2_pool_pop(&pl, true), &req);
}

/* X4: one that is away is missed, and one that came twice. */
static void x4_whole(struct kunit *test)
{
	struct list_head reqs[2], *got;
	struct xprt2_pool pl = { };

	KUNIT_EXPECT_TRUE(test, xprt2_pool_is_whole(&pl));
	INIT_LIST_HEAD(&pl.pl_free);
	list_add(&reqs[0], &pl.pl_free);
	pl.pl_count = 1;
	KUNIT_EXPECT_TRUE(test, xprt2_pool_is_whole(&pl));
	got = xprt2_pool_pop(&pl, true);
	KUNIT_EXPECT_FALSE(test, xprt2_pool_is_whole(&pl));
	list_add(got, &pl.pl_free);
	list_add(&reqs[1], &pl.pl_free);
	KUNIT_EXPECT_FALSE(test, xprt2_pool_is_whole(&pl));
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(the_last),
	KUNIT_CASE(put_back),
	KUNIT_CASE(x4_whole),
	{}
};

static struct kunit_suite pool_suite = {
	.name		= "xprtrdma2_pool",
	.test_cases	= pool_cases,
};

kunit_test_suite(pool_suite);
