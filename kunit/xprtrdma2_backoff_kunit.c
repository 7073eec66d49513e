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
	{ "lost after Replies",
	  true, true, false, XPRT2_PAST_LOST },
	{ "closed after Replies",
	  true, false, false, XPRT2_PAST_NONE },
	{ "lost without a Reply",
	  false, true, false, XPRT2_PAST_FAILED },
	{ "lost with its device without a Reply",
	  false, true, true, XPRT2_PAST_LOST },
	{ "failed without a Reply",
	  false, false, false, XPRT2_PAST_FAILED },
};

KUNIT_ARRAY_PARAM_DESC(past, past_cases, desc);

static void past(struct kunit *test)
{
	const struct past_case *c = test->param_value;

	unsigned int brief = 0;

	KUNIT_EXPECT_EQ(test, c->want,
			xprt2_judge_past(c->replied, c->lost, c->innocent, 0,
					 &brief));
}

/* An hour of connections that each last this long, bring one good Reply, and are lost */
struct storm_case {
	const char	*desc;
	bool		innocent;
	unsigned long	lasted;
	unsigned int	least, most;
};

static const struct storm_case storm_cases[] = {
	/* 33 at once, then after 3 s, 6 s, ... 60 s */
	{ "each is lost immediately: back-off",
	  false, HZ / 20, 33 + 55, 33 + 65 },
	{ "each is lost just before it counts as good: back-off",
	  false, 3 * HZ - 1, 33 + 55, 33 + 65 },
	{ "each lasts for 3 s: no back-off",
	  false, 3 * HZ, 3600 / 4, 3600 / 3 },
	{ "the server is not the cause: no back-off",
	  true, HZ, 3600 / 2, 3600 },
};

KUNIT_ARRAY_PARAM_DESC(storm, storm_cases, desc);

static void storm(struct kunit *test)
{
	const struct storm_case *c = test->param_value;
	unsigned long now = 0, distance = 0;
	unsigned int brief = 0, count;
	enum xprt2_past past;

	for (count = 0; now < 3600UL * HZ; count++) {
		past = xprt2_judge_past(true, true, c->innocent, c->lasted,
					&brief);
		if (past != XPRT2_PAST_FAILED)
			distance = 0;
		now += c->lasted + xprt2_connect_delay(past, distance, c->lasted,
						       U32_MAX / 2);
		if (past == XPRT2_PAST_FAILED)
			distance = clamp(2 * distance, 3UL * HZ, 60UL * HZ);
	}
	KUNIT_EXPECT_GE(test, count, c->least);
	KUNIT_EXPECT_LE(test, count, c->most);
}

/* A connection that lasted ends a row, one that the client closed does not add to it. */
static void brief_rows(struct kunit *test)
{
	unsigned int brief = 0, i;

	for (i = 0; i < 32; i++) {
		KUNIT_EXPECT_EQ(test, xprt2_judge_past(true, true, false, 0, &brief),
				XPRT2_PAST_LOST);
		KUNIT_EXPECT_EQ(test, xprt2_judge_past(true, false, false, 0, &brief),
				XPRT2_PAST_NONE);
	}
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, xprt2_judge_past(true, true, false, 0, &brief),
				XPRT2_PAST_FAILED);
	KUNIT_EXPECT_EQ(test, xprt2_judge_past(true, true, true, 0, &brief),
			XPRT2_PAST_LOST);
	KUNIT_EXPECT_EQ(test, xprt2_judge_past(true, true, false, 3 * HZ, &brief),
			XPRT2_PAST_LOST);
	KUNIT_EXPECT_EQ(test, xprt2_judge_past(true, true, false, 0, &brief),
			XPRT2_PAST_LOST);
}

/* Attempts that bring no Reply back off anyway: they do not shorten the next row. */
static void brief_without_replies(struct kunit *test)
{
	unsigned int brief = 0, i;

	for (i = 0; i < 40; i++)
		KUNIT_EXPECT_EQ(test, xprt2_judge_past(false, true, false, 0, &brief),
				XPRT2_PAST_FAILED);
	KUNIT_EXPECT_EQ(test, xprt2_judge_past(true, true, false, 0, &brief),
			XPRT2_PAST_LOST);
}

struct delay_case {
	const char	*desc;
	enum xprt2_past	past;
	unsigned long	distance, since;
	unsigned long	least, most;
};

static const struct delay_case delay_cases[] = {
	{ "the first connection: no delay",
	  XPRT2_PAST_NONE, 0, 0, 0, 0 },
	{ "the client closed it: no delay, even after failures",
	  XPRT2_PAST_NONE, 60 * HZ, 0, 0, 0 },
	{ "lost: spread over a quarter of a second",
	  XPRT2_PAST_LOST, 0, 0, 0, HZ / 4 },
	{ "lost: spread",
	  XPRT2_PAST_LOST, 0, 100 * HZ, 0, XPRT2_SPREAD },
	{ "lost, after an earlier failure",
	  XPRT2_PAST_LOST, 60 * HZ, 0, 0, XPRT2_SPREAD },
	{ "the first failure: spread",
	  XPRT2_PAST_FAILED, 0, 0, 0, XPRT2_SPREAD },
	{ "the second failure: 3 s after the last attempt",
	  XPRT2_PAST_FAILED, 3 * HZ, HZ, 2 * HZ,
	  2 * HZ + 3 * HZ / 8 },
	{ "the maximum of a minute: spread over an eighth more",
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
	KUNIT_CASE_PARAM(storm, storm_gen_params),
	KUNIT_CASE(brief_rows),
	KUNIT_CASE(brief_without_replies),
	KUNIT_CASE_PARAM(delay, delay_gen_params),
	{}
};

static struct kunit_suite backoff_suite = {
	.name		= "xprtrdma2_backoff",
	.test_cases	= backoff_cases,
};

kunit_test_suite(backoff_suite);
