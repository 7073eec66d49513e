// SPDX-License-Identifier: GPL-2.0
/*
 * Which version to speak: the table of answers of section 2.2 of
 * Documentation/protocol.rst, and that it never loops.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/module.h>

#include "../xprtrdma2/negotiate.h"

struct first_case {
	const char		*desc;
	u32			min, max, known;
	enum xprt2_phase	want;
};

static const struct first_case first_cases[] = {
	{ "C-096 a server nobody knows is probed", 1, 2, 0, XPRT2_PROBE },
	{ "S34 one remembered as version 1 is not", 1, 2, 1, XPRT2_SETTLED },
	{ "C-102 one remembered as version 2 gets an RPC at once",
	  1, 2, 2, XPRT2_TRIAL },
	{ "S34 pinned to version 1: nothing is tried", 1, 1, 0, XPRT2_SETTLED },
	{ "S34 pinned to version 1, whatever is remembered",
	  1, 1, 2, XPRT2_SETTLED },
	{ "S34 pinned to version 2: a memory of version 1 is probed",
	  2, 2, 1, XPRT2_PROBE },
	{ "S34 pinned to version 2, known to speak it", 2, 2, 2, XPRT2_TRIAL },
};

KUNIT_ARRAY_PARAM_DESC(first, first_cases, desc);

static void first(struct kunit *test)
{
	const struct first_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, xprt2_first_phase(c->min, c->max, c->known),
			c->want);
}

struct move_case {
	const char		*desc;
	struct xprt2_nego	ng;
	enum xprt2_answer	answer;
	enum xprt2_move		want;
};

#define PROBE(_probes)	.ng = { .ng_phase = XPRT2_PROBE, .ng_min = 1, \
				.ng_probes = (_probes), \
				.ng_low = 1, .ng_high = 1 }
#define TRIAL		.ng = { .ng_phase = XPRT2_TRIAL, .ng_min = 1, \
				.ng_low = 1, .ng_high = 1 }
#define RECALLED	.ng = { .ng_phase = XPRT2_TRIAL, .ng_min = 1, \
				.ng_recalled = true, \
				.ng_low = 1, .ng_high = 1 }
#define SETTLED		.ng = { .ng_phase = XPRT2_SETTLED, .ng_min = 1 }
#define RANGE(_min, _low, _high) \
			.ng = { .ng_phase = XPRT2_PROBE, .ng_min = (_min), \
				.ng_low = (_low), .ng_high = (_high) }

static const struct move_case move_cases[] = {
	{ "S29 CONNPROP: version 2 with properties",
	  PROBE(1), XPRT2_A_CONNPROP, XPRT2_M_TWO },
	{ "C-026 code 3 or 9: version 2 without properties",
	  PROBE(1), XPRT2_A_ERR_LACKS, XPRT2_M_TWO },
	{ "C-101 ERR_VERS: version 1 on the same connection",
	  PROBE(1), XPRT2_A_ERR_VERS, XPRT2_M_ONE },
	{ "S36 ERR_VERS with low above high: version 1",
	  RANGE(1, 3, 2), XPRT2_A_ERR_VERS, XPRT2_M_ONE },
	{ "S36 ERR_VERS 1 to 2, below the one refused: version 1",
	  RANGE(1, 1, 2), XPRT2_A_ERR_VERS, XPRT2_M_ONE },
	{ "S36 ERR_VERS 0 to 0xffffffff: version 1",
	  RANGE(1, 0, U32_MAX), XPRT2_A_ERR_VERS, XPRT2_M_ONE },
	{ "S36 ERR_VERS 3 to 4: no common version",
	  RANGE(1, 3, 4), XPRT2_A_ERR_VERS, XPRT2_M_FAIL },
	{ "S36 ERR_VERS 2 to 2: no common version",
	  RANGE(1, 2, 2), XPRT2_A_ERR_VERS, XPRT2_M_FAIL },
	{ "S34 ERR_VERS, but never version 1: fail",
	  RANGE(2, 1, 1), XPRT2_A_ERR_VERS, XPRT2_M_FAIL },
	{ "S37 another error: another dialect",
	  PROBE(1), XPRT2_A_ERR_OTHER, XPRT2_M_AGAIN_ONE },
	{ "S37 a message nobody knows: another dialect",
	  PROBE(1), XPRT2_A_FOREIGN, XPRT2_M_AGAIN_ONE },
	{ "C-104 a version 1 message: version 1",
	  PROBE(1), XPRT2_A_ONE, XPRT2_M_ONE },
	{ "S29 silence: an RPC is tried",
	  PROBE(1), XPRT2_A_SILENCE, XPRT2_M_TRIAL },
	{ "C-103 connection lost: once more",
	  PROBE(1), XPRT2_A_LOST, XPRT2_M_AGAIN },
	{ "C-103 connection lost twice: version 1",
	  PROBE(2), XPRT2_A_LOST, XPRT2_M_AGAIN_ONE },
	{ "S29 a Reply to no RPC is no answer",
	  PROBE(1), XPRT2_A_REPLY_TWO, XPRT2_M_WAIT },

	{ "C-099 a Reply to the trial: version 2",
	  TRIAL, XPRT2_A_REPLY_TWO, XPRT2_M_TWO },
	{ "S29 a late CONNPROP: version 2",
	  TRIAL, XPRT2_A_CONNPROP, XPRT2_M_TWO },
	{ "C-076 an error in version 2 is an answer in version 2",
	  TRIAL, XPRT2_A_ERR_OTHER, XPRT2_M_TWO },
	{ "C-103 silence: version 1 on the next connection",
	  TRIAL, XPRT2_A_SILENCE, XPRT2_M_AGAIN_ONE },
	{ "C-103 connection lost: version 1 on the next",
	  TRIAL, XPRT2_A_LOST, XPRT2_M_AGAIN_ONE },
	{ "S33 ERR_VERS: version 1 on the next, the RPC marshalled anew",
	  TRIAL, XPRT2_A_ERR_VERS, XPRT2_M_AGAIN_ONE },

	{ "S34 a remembered server that is silent is probed",
	  RECALLED, XPRT2_A_SILENCE, XPRT2_M_AGAIN },
	{ "S34 a remembered server that goes away is probed",
	  RECALLED, XPRT2_A_LOST, XPRT2_M_AGAIN },
	{ "C-099 a remembered server that answers",
	  RECALLED, XPRT2_A_REPLY_TWO, XPRT2_M_TWO },

	{ "S34 never version 1: a silent server is waited for",
	  .ng = { .ng_phase = XPRT2_TRIAL, .ng_min = 2 },
	  XPRT2_A_SILENCE, XPRT2_M_TWO },
	{ "S34 never version 1: one that goes away is tried later",
	  .ng = { .ng_phase = XPRT2_TRIAL, .ng_min = 2 },
	  XPRT2_A_LOST, XPRT2_M_LATER },
	{ "S34 never version 1: the second lost probe backs off",
	  .ng = { .ng_phase = XPRT2_PROBE, .ng_min = 2,
		  .ng_probes = XPRT2_PROBES_MAX },
	  XPRT2_A_LOST, XPRT2_M_LATER },
	{ "S37 never version 1: another dialect is a failure",
	  .ng = { .ng_phase = XPRT2_PROBE, .ng_min = 2, .ng_probes = 1 },
	  XPRT2_A_FOREIGN, XPRT2_M_FAIL },

	{ "C-101 ERR_VERS when settled: negotiate again",
	  SETTLED, XPRT2_A_ERR_VERS, XPRT2_M_AGAIN },
	{ "C-078 other errors when settled are their RPC's",
	  SETTLED, XPRT2_A_ERR_OTHER, XPRT2_M_WAIT },
	{ "C-099 Replies when settled", SETTLED, XPRT2_A_REPLY_TWO,
	  XPRT2_M_WAIT },
};

KUNIT_ARRAY_PARAM_DESC(move, move_cases, desc);

static void move(struct kunit *test)
{
	const struct move_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, xprt2_next_move(&c->ng, c->answer), c->want);
}

/* S34, 2.2: with any answers at all two connections are spent at the most */
static void ends(struct kunit *test)
{
	static const enum xprt2_answer answers[] = {
		XPRT2_A_CONNPROP, XPRT2_A_ERR_VERS, XPRT2_A_ERR_LACKS,
		XPRT2_A_ERR_OTHER, XPRT2_A_REPLY_TWO, XPRT2_A_ONE,
		XPRT2_A_FOREIGN, XPRT2_A_SILENCE, XPRT2_A_LOST,
	};
	unsigned int probes, again, i;
	u32 known;

	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		known = 0;
		again = 0;
		for (probes = 1; ; probes++) {
			struct xprt2_nego ng = {
				.ng_phase	= xprt2_first_phase(1, 2, known),
				.ng_min		= 1,
				.ng_probes	= probes,
				.ng_low		= 1,
				.ng_high	= 1,
			};
			enum xprt2_move m;

			if (ng.ng_phase == XPRT2_SETTLED)
				break;
			m = xprt2_next_move(&ng, answers[i]);
			if (m == XPRT2_M_AGAIN_ONE)
				known = RPCRDMA2_VERS_ONE;
			else if (m != XPRT2_M_AGAIN)
				break;
			KUNIT_ASSERT_LE(test, ++again, XPRT2_PROBES_MAX);
		}
	}
}

struct meaning_case {
	const char		*desc;
	struct rpcrdma2_hdr	h;
	enum rpcrdma2_errcode	verdict;
	bool			connprop;
	enum xprt2_answer	want;
};

#define ERROR(_vers, _code) \
	{ .h_vers = (_vers), .h_proc = RDMA2_ERROR, \
	  .h_direction = RDMA2_REPLY, .h_error.er_code = (_code) }
#define RPC(_vers, _proc, _direction) \
	{ .h_vers = (_vers), .h_proc = (_proc), .h_direction = (_direction) }

static const struct meaning_case meaning_cases[] = {
	{ "S36 ERR_VERS under version 1", ERROR(1, RDMA2_ERR_VERS),
	  .want = XPRT2_A_ERR_VERS },
	{ "S36 ERR_VERS under version 2", ERROR(2, RDMA2_ERR_VERS),
	  .want = XPRT2_A_ERR_VERS },
	{ "C-026 INVALID_PROC", ERROR(2, RDMA2_ERR_INVALID_PROC),
	  .want = XPRT2_A_ERR_LACKS },
	{ "C-026 INVALID_OPTION", ERROR(2, RDMA2_ERR_INVALID_OPTION),
	  .want = XPRT2_A_ERR_LACKS },
	{ "S37 BAD_XDR", ERROR(2, RDMA2_ERR_BAD_XDR),
	  .want = XPRT2_A_ERR_OTHER },
	{ "S37 SYSTEM", ERROR(2, RDMA2_ERR_SYSTEM),
	  .want = XPRT2_A_ERR_OTHER },
	{ "S37 ERR_CHUNK of version 1", ERROR(1, RDMA2_ERR_BAD_XDR),
	  .want = XPRT2_A_FOREIGN },
	{ "C-099 a Reply in version 2", RPC(2, RDMA2_MSG, RDMA2_REPLY),
	  .want = XPRT2_A_REPLY_TWO },
	{ "C-099 a Reply in a chunk", RPC(2, RDMA2_NOMSG, RDMA2_REPLY),
	  .want = XPRT2_A_REPLY_TWO },
	{ "C-066 a backward Call says nothing", RPC(2, RDMA2_MSG, RDMA2_CALL),
	  .want = XPRT2_A_SILENCE },
	{ "C-104 a Reply in version 1", RPC(1, RDMA2_MSG, RDMA2_REPLY),
	  .want = XPRT2_A_ONE },
	{ "S29 CONNPROP", RPC(2, RDMA2_CONNPROP, RDMA2_CALL),
	  .connprop = true, .want = XPRT2_A_CONNPROP },
	{ "S31 a short message says nothing", RPC(2, RDMA2_MSG, RDMA2_REPLY),
	  RDMA2_DROP, .want = XPRT2_A_SILENCE },
	{ "S37 what can not be read is foreign",
	  RPC(2, RDMA2_CONNPROP, RDMA2_CALL), RDMA2_ERR_BAD_XDR,
	  .want = XPRT2_A_FOREIGN },
};

KUNIT_ARRAY_PARAM_DESC(meaning, meaning_cases, desc);

static void meaning(struct kunit *test)
{
	const struct meaning_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, xprt2_classify(&c->h, c->verdict, c->connprop),
			c->want);
}

static struct kunit_case negotiate_cases[] = {
	KUNIT_CASE_PARAM(first, first_gen_params),
	KUNIT_CASE_PARAM(move, move_gen_params),
	KUNIT_CASE(ends),
	KUNIT_CASE_PARAM(meaning, meaning_gen_params),
	{}
};

static struct kunit_suite negotiate_suite = {
	.name		= "xprtrdma2_negotiate",
	.test_cases	= negotiate_cases,
};

kunit_test_suite(negotiate_suite);
