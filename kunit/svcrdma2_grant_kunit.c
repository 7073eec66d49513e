// SPDX-License-Identifier: GPL-2.0
/*
 * Credit grants, and the number of Receives for them.
 */
#include <kunit/test.h>

#include "../svcrdma2/pure.h"

static const struct next_case {
	const char	*desc;
	u32		grant;
	unsigned int	busy;
	u32		max, next;
} next_cases[] = {
	{ "idle", 8, 0, 64, 8 },
	{ "half of the grant is in use", 8, 4, 64, 8 },
	{ "less than three quarters are in use", 8, 5, 64, 8 },
	{ "three quarters are in use", 8, 6, 64, 16 },
	{ "more than the grant is in use", 8, 80, 64, 16 },
	{ "not a power of two", 5, 4, 64, 10 },
	{ "the grant is the maximum", 64, 64, 64, 64 },
	{ "the maximum is below twice the grant", 48, 48, 64, 64 },
	{ "a maximum below the grant", 8, 8, 6, 6 },
};

KUNIT_ARRAY_PARAM_DESC(next, next_cases, desc);

static void next_grant(struct kunit *test)
{
	const struct next_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, svc2_grant_next(c->grant, c->busy, c->max),
			c->next);
}

/*
 * S27: while all Receives of a batch except one wait, the posted ones cover the grant,
 * control messages and answers. One more credit takes one more Receive, or two if the batch
 * grows too: credits can be taken back in single steps.
 */
static void receives_for_a_grant(struct kunit *test)
{
	static const u32 answers[] = { 0, 1, 16 };
	unsigned int i, recvs, more;
	u32 grant;

	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		for (grant = 1; grant <= 1024; grant++) {
			recvs = svc2_grant_recvs(answers[i], grant);
			KUNIT_EXPECT_EQ(test,
					recvs - (rpcrdma2_recv_batch(grant) - 1),
					answers[i] + grant + RPCRDMA2_CONTROL_RECVS);
			more = svc2_grant_recvs(answers[i], grant + 1) - recvs;
			KUNIT_EXPECT_EQ(test, more, 1 +
					rpcrdma2_recv_batch(grant + 1) -
					rpcrdma2_recv_batch(grant));
		}
	}
}

/* A batch of Receives that returns at once does not raise the grant. */
static void batch_of_a_grant(struct kunit *test)
{
	u32 grant;

	for (grant = 4; grant <= 1024; grant++)
		KUNIT_EXPECT_EQ(test, grant,
				svc2_grant_next(grant, rpcrdma2_recv_batch(grant),
						1024));
}

/*
 * S26: the same number of busy Calls that raises a grant also keeps it, and a grant that is
 * lowered until they use it is not raised by them. Calls that follow one another use none.
 */
static void used_grants(struct kunit *test)
{
	u32 grant, next, others;

	for (grant = 4; grant <= 1024; grant++) {
		KUNIT_EXPECT_FALSE(test, svc2_grant_is_used(grant, 0));
		for (others = 1; others <= grant; others++) {
			next = svc2_grant_next(grant, others + rpcrdma2_recv_batch(grant), 2048);
			if (next == grant)
				continue;
			KUNIT_EXPECT_TRUE_MSG(test, svc2_grant_is_used(next, others),
					      "%u busy raise %u, and do not keep %u",
					      others, grant, next);
			KUNIT_EXPECT_TRUE_MSG(test, svc2_grant_is_used(grant + 1, others),
					      "%u busy raise the lowered grant %u",
					      others, grant);
		}
	}
}

/*
 * A quarter is reserved for new connections; at half of this reserve all connections return
 * credits.
 */
static void soft_and_hard_limit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, svc2_grant_soft_limit(1024), 768);
	KUNIT_EXPECT_EQ(test, svc2_grant_soft_limit(64), 48);
	KUNIT_EXPECT_EQ(test, svc2_grant_soft_limit(0), 0);
	KUNIT_EXPECT_EQ(test, svc2_grant_hard_limit(1024), 896);
	KUNIT_EXPECT_EQ(test, svc2_grant_hard_limit(64), 56);
	KUNIT_EXPECT_EQ(test, svc2_grant_hard_limit(0), 0);
}

static const struct fit_case {
	const char	*desc;
	u32		answers, grant;
	unsigned int	most;
	bool		fits;
	u32		has_answers, has_grant;
} fit_cases[] = {
	{ "both", 16, 64, 97, true, 16, 64 },
	{ "one Receive too few", 16, 64, 96, true, 16, 32 },
	{ "the larger number of answers is halved",
	  256, 64, 240, true, 128, 64 },
	{ "of equal numbers the answers are halved", 16, 16, 40, true, 8, 16 },
	{ "the grant is halved down to its minimum", 2, 8, 14, true, 2, 4 },
	{ "both are halved in turn", 256, 64, 100, true, 32, 32 },
	{ "the minimum of both", 16, 64, 8, true, 1, 4 },
	{ "no room for the minimum", 16, 64, 7, false, 1, 4 },
	{ "no room at all", 1, 4, 0, false, 1, 4 },
	{ "the grant is not halved below its minimum", 1, 7, 11, false, 1, 7 },
};

KUNIT_ARRAY_PARAM_DESC(fit, fit_cases, desc);

/* C-003: the larger of the two numbers is halved until the device has Receives for both. */
static void fit(struct kunit *test)
{
	const struct fit_case *c = test->param_value;
	u32 answers = c->answers, grant = c->grant;

	KUNIT_EXPECT_EQ(test, svc2_grant_fit(&answers, &grant, 4, c->most),
			c->fits);
	KUNIT_EXPECT_EQ(test, answers, c->has_answers);
	KUNIT_EXPECT_EQ(test, grant, c->has_grant);
	if (c->fits)
		KUNIT_EXPECT_LE(test, svc2_grant_recvs(answers, grant), c->most);
}

static struct kunit_case grant_cases[] = {
	KUNIT_CASE_PARAM(next_grant, next_gen_params),
	KUNIT_CASE(receives_for_a_grant),
	KUNIT_CASE(batch_of_a_grant),
	KUNIT_CASE(used_grants),
	KUNIT_CASE(soft_and_hard_limit),
	KUNIT_CASE_PARAM(fit, fit_gen_params),
	{}
};

static struct kunit_suite grant_suite = {
	.name		= "svcrdma2_grant",
	.test_cases	= grant_cases,
};

kunit_test_suite(grant_suite);
