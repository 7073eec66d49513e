// SPDX-License-Identifier: GPL-2.0
/*
 * Send Queue entries: Calls never take those of the messages that are no Calls.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../xprtrdma2/sq.h"

struct size_case {
	const char	*desc;
	unsigned int	reqs, segs;
};

static const struct size_case size_cases[] = {
	{ "the least a device may have", 1, 3 },
	{ "many small regions", 1, 16 },
	{ "the fewest slots", 4, 3 },
	{ "the default", 128, 3 },
	{ "the most slots", 16384, 3 },
};

KUNIT_ARRAY_PARAM_DESC(size, size_cases, desc);

/* A model of a queue whose completions are all late */
struct model {
	unsigned int depth, used;
};

static bool take(struct model *q, unsigned int count, bool call)
{
	if (!xprt2_sq_has_room(q->depth, q->used, count, call))
		return false;
	q->used += count;
	return true;
}

/* Calls of this many entries until no more fits, then all the others */
static void fill(struct kunit *test, struct model *q, unsigned int entries)
{
	unsigned int i;

	while (take(q, entries, true))
		;
	KUNIT_EXPECT_LE(test, q->used, q->depth - XPRT2_BACKWARD_REQS);
	for (i = 0; i < XPRT2_BACKWARD_REQS; i++)
		KUNIT_EXPECT_TRUE(test, take(q, 1, false));
	KUNIT_EXPECT_LE(test, q->used, q->depth);
	KUNIT_EXPECT_FALSE(test, take(q, 1, true));
}

/* S46: what is no Call finds an entry, whatever Calls have taken. */
static void full(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	unsigned int entries;

	for (entries = 1; entries <= xprt2_sq_largest(c->segs); entries++) {
		struct model q = { xprt2_sq_depth(c->reqs, c->segs) };

		fill(test, &q, entries);
	}
}

/* The same when the others are there first: none is taken twice. */
static void others_first(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	unsigned int early, i;

	for (early = 0; early <= XPRT2_BACKWARD_REQS; early++) {
		struct model q = { xprt2_sq_depth(c->reqs, c->segs) };

		for (i = 0; i < early; i++)
			KUNIT_EXPECT_TRUE(test, take(&q, 1, false));
		while (take(&q, 1, true))
			;
		for (; i < XPRT2_BACKWARD_REQS; i++)
			KUNIT_EXPECT_TRUE(test, take(&q, 1, false));
		KUNIT_EXPECT_LE(test, q.used, q.depth);
	}
}

/* The largest Call fits behind any tail that no completion covers. */
static void largest(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct model q = { xprt2_sq_depth(c->reqs, c->segs) };

	q.used = XPRT2_SEND_BATCH - 1;
	KUNIT_EXPECT_TRUE(test, take(&q, xprt2_sq_largest(c->segs), true));
}

/* The figures of 128 slots with three regions each, added up by hand */
static void figures(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, xprt2_sq_largest(3), 7);
	KUNIT_EXPECT_EQ(test, xprt2_sq_depth(128, 3), 128 * 3 + 16 + 32);
	KUNIT_EXPECT_EQ(test, xprt2_sq_depth(1, 16), 33 + 16 + 32);
	KUNIT_EXPECT_EQ(test, xprt2_sq_for_calls(432), 400);
	KUNIT_EXPECT_EQ(test, XPRT2_SEND_BATCH, 16);
	KUNIT_EXPECT_EQ(test, XPRT2_BACKWARD_CREDITS, 16);
	KUNIT_EXPECT_EQ(test, XPRT2_BACKWARD_REQS, 32);
}

/* The last entry is an entry. */
static void last_entry(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, xprt2_sq_has_room(432, 399, 1, true));
	KUNIT_EXPECT_FALSE(test, xprt2_sq_has_room(432, 400, 1, true));
	KUNIT_EXPECT_TRUE(test, xprt2_sq_has_room(432, 431, 1, false));
	KUNIT_EXPECT_FALSE(test, xprt2_sq_has_room(432, 432, 1, false));
}

static struct kunit_case sq_cases[] = {
	KUNIT_CASE_PARAM(full, size_gen_params),
	KUNIT_CASE_PARAM(others_first, size_gen_params),
	KUNIT_CASE_PARAM(largest, size_gen_params),
	KUNIT_CASE(figures),
	KUNIT_CASE(last_entry),
	{}
};

static struct kunit_suite sq_suite = {
	.name		= "xprtrdma2_sq",
	.test_cases	= sq_cases,
};

kunit_test_suite(sq_suite);
