// SPDX-License-Identifier: GPL-2.0
/*
 * The exchange of property messages: what is taken, and what is answered.
 */
#include <rpcrdma2/exchange.h>

#include "util.h"
#include "vectors.h"

static const struct rpcrdma2_props able = {
	.pr_rbsiz = 16384, .pr_brs = RDMA2_BKREQSUP_INLINE,
};

static void begin(struct rpcrdma2_exchange *ex, bool responder)
{
	memset(ex, 0xff, sizeof(*ex));
	rpcrdma2_exchange_init(ex, responder);
	ex->ex_able = able;
}

static void read_vector(struct kunit *test, struct rpcrdma2_propmsg *pm,
			const void *data, size_t len)
{
	memset(pm, 0, sizeof(*pm));
	KUNIT_ASSERT_EQ(test, read_body(test, pm, data, len), RDMA2_OK);
}

/* C-005, C-024, S19 */
static void nothing_is_known_at_first(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	begin(&ex, true);
	KUNIT_EXPECT_FALSE(test, ex.ex_peer.pp_spoken);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, ex.ex_told.pr_rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, ex.ex_told.pr_brs, RDMA2_BKREQSUP_INLINE);
}

/* C-043, C-045: all of it, for good; from then on the peer knows. */
static void an_announcement_says_all(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propmsg pm;

	begin(&ex, false);
	rpcrdma2_exchange_announce(&ex, &pm);
	KUNIT_EXPECT_EQ(test, pm.pm_type, RDMA2_OPT_CONNPROP);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, RPCRDMA2_PROPS_ALL);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_rbsiz, 16384);
	KUNIT_EXPECT_EQ(test, pm.pm_nochg, RPCRDMA2_PROPS_ALL);
	KUNIT_EXPECT_EQ(test, ex.ex_told.pr_rbsiz, 16384);
}

/* C-023, S15, S29: the first CONNPROP is answered, by a responder, once. */
static void a_connprop_is_answered_once(struct kunit *test)
{
	struct rpcrdma2_propmsg pm, answer;
	struct rpcrdma2_exchange ex;

	begin(&ex, true);
	read_vector(test, &pm, v19, sizeof(v19));
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_take(&ex, &pm), 0);
	KUNIT_EXPECT_TRUE(test, ex.ex_peer.pp_spoken);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 8192);
	KUNIT_ASSERT_TRUE(test, rpcrdma2_exchange_answer(&ex, &pm, &answer));
	KUNIT_EXPECT_EQ(test, answer.pm_type, RDMA2_OPT_CONNPROP);
	KUNIT_EXPECT_EQ(test, answer.pm_set.ps_val.pr_rbsiz, 16384);

	/* V19 said that nothing would change */
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_take(&ex, &pm),
			RPCRDMA2_PROPS_ALL);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_answer(&ex, &pm, &answer));
}

static void a_requester_answers_no_connprop(struct kunit *test)
{
	struct rpcrdma2_propmsg pm, answer;
	struct rpcrdma2_exchange ex;

	begin(&ex, false);
	read_vector(test, &pm, v19, sizeof(v19));
	rpcrdma2_exchange_take(&ex, &pm);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 8192);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_answer(&ex, &pm, &answer));
}

/* S16, C-049: what was granted is known to the peer from then on. */
static void a_reqprop_is_answered(struct kunit *test)
{
	struct rpcrdma2_propmsg pm, answer;
	struct rpcrdma2_exchange ex;

	begin(&ex, false);
	ex.ex_able.pr_brs = RDMA2_BKREQSUP_GENL;
	ex.ex_told.pr_rbsiz = 8192;
	ex.ex_told.pr_brs = RDMA2_BKREQSUP_GENL;
	read_vector(test, &pm, v21, sizeof(v21));
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_take(&ex, &pm), 0);
	KUNIT_EXPECT_FALSE(test, ex.ex_peer.pp_spoken);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 4096);

	KUNIT_ASSERT_TRUE(test, rpcrdma2_exchange_answer(&ex, &pm, &answer));
	expect_sent(test, &answer, 0x70000003, 64, RDMA2_REQPROP, v22,
		    sizeof(v22));
	KUNIT_EXPECT_EQ(test, ex.ex_told.pr_rbsiz, 16384);
}

/* C-023: it is no answer that is owed to an UPDPROP. */
static void an_updprop_is_taken(struct kunit *test)
{
	struct rpcrdma2_propmsg pm, answer;
	struct rpcrdma2_exchange ex;

	begin(&ex, true);
	read_vector(test, &pm, v23, sizeof(v23));
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_take(&ex, &pm), 0);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 16384);
	KUNIT_EXPECT_FALSE(test, ex.ex_peer.pp_spoken);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_answer(&ex, &pm, &answer));
}

/* S17, C-058: a RESPROP that answers no REQPROP changes nothing. */
static void a_resprop_counts_when_it_answers(struct kunit *test)
{
	struct rpcrdma2_propmsg want, pm, answer;
	struct rpcrdma2_exchange ex;

	begin(&ex, false);
	read_vector(test, &pm, v22, sizeof(v22));
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_take(&ex, &pm), 0);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 4096);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_answer(&ex, &pm, &answer));

	read_vector(test, &want, v21, sizeof(v21));
	pm.pm_want = &want.pm_set;
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_take(&ex, &pm), 0);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 16384);
}

static struct kunit_case exchange_cases[] = {
	KUNIT_CASE(nothing_is_known_at_first),
	KUNIT_CASE(an_announcement_says_all),
	KUNIT_CASE(a_connprop_is_answered_once),
	KUNIT_CASE(a_requester_answers_no_connprop),
	KUNIT_CASE(a_reqprop_is_answered),
	KUNIT_CASE(an_updprop_is_taken),
	KUNIT_CASE(a_resprop_counts_when_it_answers),
	{ }
};

static struct kunit_suite exchange_suite = {
	.name = "rpcrdma2_exchange",
	.test_cases = exchange_cases,
};

kunit_test_suite(exchange_suite);
