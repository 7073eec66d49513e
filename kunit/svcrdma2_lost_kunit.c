// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that end their connections twice are answered with an error.
 */
#include <kunit/test.h>

#include "../svcrdma2/pure.h"

#define BEGIN	(ULONG_MAX - 10)	/* jiffies wrap during the test */
#define TWO_MINUTES	(120 * HZ)
/* capacity of the table */
#define MOST		64

static const struct sockaddr_in here = {
	.sin_family = AF_INET, .sin_addr.s_addr = cpu_to_be32(0xc0000201),
}, there = {
	.sin_family = AF_INET, .sin_addr.s_addr = cpu_to_be32(0xc0000202),
};

static const struct sockaddr_in6 link_local = {
	.sin6_family = AF_INET6, .sin6_addr.s6_addr = { 0xfe, 0x80, [15] = 1 },
};

static struct svc2_loss key_of(u64 net, const void *peer, u32 xid)
{
	struct svc2_loss key = { .ls_net = net, .ls_xid = xid };

	memcpy(&key.ls_peer, peer, svc_addr_len(peer));
	return key;
}

static struct svc2_losses *losses(struct kunit *test)
{
	struct svc2_losses *lo = kunit_kzalloc(test, sizeof(*lo), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, lo);
	return lo;
}

/* Entries in use */
static unsigned int used(const struct svc2_losses *lo)
{
	unsigned int i, n = 0;

	for (i = 0; i < MOST; i++)
		n += !!lo->lo_all[i].ls_times;
	return n;
}

static void note(struct svc2_losses *lo, struct svc2_loss key, unsigned long at)
{
	svc2_loss_note(lo, &key, at);
}

static bool is_last(struct svc2_losses *lo, struct svc2_loss key,
		    unsigned long at)
{
	return svc2_loss_is_last(lo, &key, at);
}

#define NOTE(_lo, _at, ...)	note(_lo, key_of(__VA_ARGS__), _at)
#define IS_LAST(_lo, _at, ...)	is_last(_lo, key_of(__VA_ARGS__), _at)

/* After the first loss the upper layer executes the Call again or uses its reply cache. */
static void error_after_second_loss(struct kunit *test)
{
	struct svc2_losses *lo = losses(test);

	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN, 1, &here, 7));
	NOTE(lo, BEGIN, 1, &here, 7);
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN, 1, &here, 7));
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN, 1, &here, 7));
	NOTE(lo, BEGIN + 5, 1, &here, 7);
	KUNIT_EXPECT_EQ(test, used(lo), 1U);
	KUNIT_EXPECT_TRUE(test, IS_LAST(lo, BEGIN + 5, 1, &here, 7));
	/* The Call then counts as new. */
	KUNIT_EXPECT_EQ(test, used(lo), 0U);
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN + 5, 1, &here, 7));
	NOTE(lo, BEGIN + 5, 1, &here, 7);
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN + 5, 1, &here, 7));
}

static void distinct_keys(struct kunit *test)
{
	struct svc2_losses *lo = losses(test);

	NOTE(lo, BEGIN, 1, &here, 7);
	NOTE(lo, BEGIN, 2, &here, 7);
	NOTE(lo, BEGIN, 1, &there, 7);
	NOTE(lo, BEGIN, 1, &link_local, 7);
	NOTE(lo, BEGIN, 1, &here, 8);
	KUNIT_EXPECT_EQ(test, used(lo), 5U);
	NOTE(lo, BEGIN, 1, &here, 7);
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN, 2, &here, 7));
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN, 1, &there, 7));
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN, 1, &link_local, 7));
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN, 1, &here, 8));
	KUNIT_EXPECT_TRUE(test, IS_LAST(lo, BEGIN, 1, &here, 7));
	KUNIT_EXPECT_EQ(test, used(lo), 4U);
}

/* A loss expires two minutes after it was noted. */
static void losses_expire(struct kunit *test)
{
	struct svc2_losses *lo = losses(test);

	NOTE(lo, BEGIN, 1, &here, 7);
	NOTE(lo, BEGIN + TWO_MINUTES, 1, &here, 7);
	NOTE(lo, BEGIN + TWO_MINUTES, 1, &here, 8);
	NOTE(lo, BEGIN + TWO_MINUTES, 1, &here, 8);
	KUNIT_EXPECT_TRUE(test, IS_LAST(lo, BEGIN + 2 * TWO_MINUTES, 1, &here, 7));
	KUNIT_EXPECT_EQ(test, used(lo), 1U);
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN + 2 * TWO_MINUTES + 1, 1, &here, 8));
	KUNIT_EXPECT_EQ(test, used(lo), 0U);
	/* The first of the two losses has expired. */
	NOTE(lo, BEGIN, 1, &here, 9);
	NOTE(lo, BEGIN + TWO_MINUTES + 1, 1, &here, 9);
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN + TWO_MINUTES + 1, 1, &here, 9));
}

/* A new loss replaces the oldest one, and the other counts remain. */
static void oldest_is_replaced(struct kunit *test)
{
	struct svc2_losses *lo = losses(test);
	unsigned int i;

	for (i = 0; i <= MOST; i++)
		NOTE(lo, BEGIN, 1, &here, i);
	KUNIT_EXPECT_EQ(test, used(lo), MOST);
	/* This loss replaces the next oldest one; the others are second losses. */
	NOTE(lo, BEGIN, 1, &here, 0);
	NOTE(lo, BEGIN, 1, &here, 2);
	NOTE(lo, BEGIN, 1, &here, MOST - 1);
	KUNIT_EXPECT_EQ(test, used(lo), MOST);
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN, 1, &here, 0));
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN, 1, &here, 1));
	KUNIT_EXPECT_TRUE(test, IS_LAST(lo, BEGIN, 1, &here, 2));
	KUNIT_EXPECT_TRUE(test, IS_LAST(lo, BEGIN, 1, &here, MOST - 1));
}

/*
 * Calls whose xids are not near that of a lost one need no search, also while there are losses,
 * and none does when the losses are over.
 */
static void few_calls_are_searched_for(struct kunit *test)
{
	struct svc2_losses *lo = losses(test);
	unsigned int i, near = 0;

	KUNIT_EXPECT_FALSE(test, svc2_loss_may_be(lo, 7));
	NOTE(lo, BEGIN, 1, &here, 7);
	NOTE(lo, BEGIN + TWO_MINUTES, 1, &here, 1000);
	KUNIT_EXPECT_TRUE(test, svc2_loss_may_be(lo, 7));
	KUNIT_EXPECT_TRUE(test, svc2_loss_may_be(lo, 1000));
	for (i = 0; i < 640; i++)
		near += svc2_loss_may_be(lo, i);
	KUNIT_EXPECT_LE(test, near, 2 * 640 / 32);
	/* The search for any Call ends the first loss. */
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN + TWO_MINUTES + 1, 1, &here, 7));
	KUNIT_EXPECT_FALSE(test, svc2_loss_may_be(lo, 7));
	KUNIT_EXPECT_TRUE(test, svc2_loss_may_be(lo, 1000));
	/* A Call that was refused is forgotten. */
	NOTE(lo, BEGIN + TWO_MINUTES, 1, &here, 1000);
	KUNIT_EXPECT_TRUE(test, IS_LAST(lo, BEGIN + TWO_MINUTES, 1, &here, 1000));
	KUNIT_EXPECT_FALSE(test, IS_LAST(lo, BEGIN + TWO_MINUTES, 1, &here, 1000));
	KUNIT_EXPECT_FALSE(test, svc2_loss_may_be(lo, 1000));
}

/* S46: a peer whose losses have all possible bits of xids causes no search for Calls of others. */
static void s46_losses_of_a_peer(struct kunit *test)
{
	struct svc2_losses *lo = losses(test);
	struct svc2_loss others = key_of(1, &there, 0), its = key_of(2, &here, 0);
	unsigned int i;

	KUNIT_EXPECT_FALSE(test, svc2_loss_has_peer(lo, &its.ls_peer));
	for (i = 0; i < MOST; i++)
		NOTE(lo, BEGIN, 1, &here, i);
	KUNIT_EXPECT_TRUE(test, svc2_loss_may_be(lo, 1000));
	KUNIT_EXPECT_TRUE(test, svc2_loss_has_peer(lo, &its.ls_peer));
	KUNIT_EXPECT_FALSE(test, svc2_loss_has_peer(lo, &others.ls_peer));
	IS_LAST(lo, BEGIN + TWO_MINUTES + 1, 1, &here, 7);
	KUNIT_EXPECT_FALSE(test, svc2_loss_has_peer(lo, &its.ls_peer));
}

static struct kunit_case lost_suite_cases[] = {
	KUNIT_CASE(error_after_second_loss),
	KUNIT_CASE(distinct_keys),
	KUNIT_CASE(losses_expire),
	KUNIT_CASE(oldest_is_replaced),
	KUNIT_CASE(few_calls_are_searched_for),
	KUNIT_CASE(s46_losses_of_a_peer),
	{ }
};

static struct kunit_suite lost_suite = {
	.name = "svcrdma2_lost",
	.test_cases = lost_suite_cases,
};

kunit_test_suite(lost_suite);
