// SPDX-License-Identifier: GPL-2.0
/*
 * Selection of the version: the table of answers in section 2.2 of
 * Documentation/protocol.rst, and the end of every negotiation.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/module.h>

#include "../xprtrdma2/pure.h"

struct first_case {
	const char		*desc;
	u32			min, max;
	bool			one;
	enum xprt2_phase	want;
};

static const struct first_case first_cases[] = {
	{ "C-096 a server is probed", 1, 2, false, XPRT2_PROBE },
	{ "S34 a known server of version 1 is not probed",
	  1, 2, true, XPRT2_SETTLED },
	{ "S34 a known server of version 1 is not probed, lowest version 0",
	  0, 2, true, XPRT2_SETTLED },
	{ "S34 pinned to version 1: no probe",
	  1, 1, false, XPRT2_SETTLED },
	{ "S34 pinned to version 1, a known server of version 1", 1, 1, true,
	  XPRT2_SETTLED },
	{ "S34 pinned to version 2: a known server of version 1 is probed",
	  2, 2, true, XPRT2_PROBE },
	{ "S34 pinned to version 2", 2, 2, false, XPRT2_PROBE },
};

KUNIT_ARRAY_PARAM_DESC(first, first_cases, desc);

static void first(struct kunit *test)
{
	const struct first_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, xprt2_first_phase(c->min, c->max, c->one),
			c->want);
}

/*
 * S34: the client probes again after an hour, or after weeks, but not for an RPC that has waited
 * already
 */
static void probes_again(struct kunit *test)
{
	u64 since[] = { 0, 5, -1UL, -3600UL * HZ, -1800UL * HZ, 1ULL << 32 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(since); i++) {
		u64 due = since[i] + 3600 * HZ;

		KUNIT_EXPECT_FALSE(test, xprt2_probe_is_due(since[i], since[i],
							    false));
		KUNIT_EXPECT_FALSE(test, xprt2_probe_is_due(since[i], due - 1,
							    false));
		KUNIT_EXPECT_TRUE(test, xprt2_probe_is_due(since[i], due, false));
		KUNIT_EXPECT_TRUE(test, xprt2_probe_is_due(since[i], due + HZ,
							   false));
		KUNIT_EXPECT_TRUE(test, xprt2_probe_is_due(since[i], due + (1ULL << 31),
							   false));
		KUNIT_EXPECT_TRUE(test, xprt2_probe_is_due(since[i], since[i] + (1ULL << 32),
							   false));
		KUNIT_EXPECT_FALSE(test, xprt2_probe_is_due(since[i], due, true));
		KUNIT_EXPECT_FALSE(test, xprt2_probe_is_due(since[i], due + HZ,
							    true));
	}
}

/*
 * S34: the result of a connection remains valid longer than the longest back-off. A timer
 * expires late by at most an eighth. Without an answer of the server, the result remains
 * valid over three back-offs.
 */
static void s34_note_expiry(struct kunit *test)
{
	u64 noted[] = { 0, 5, -1UL, -240UL * HZ, -90UL * HZ, 1ULL << 32 };
	unsigned long delay = xprt2_connect_delay(XPRT2_PAST_FAILED, 60UL * HZ,
						  0, U32_MAX);
	unsigned int i;

	delay += delay / 8;
	for (i = 0; i < ARRAY_SIZE(noted); i++) {
		u64 end = xprt2_note_end(XPRT2_A_ERR_VERS, noted[i]);
		u64 mute = xprt2_note_end(XPRT2_A_LOST, noted[i]);

		KUNIT_EXPECT_TRUE(test, time_before64(noted[i] + delay, end));
		KUNIT_EXPECT_TRUE(test, time_before64(noted[i] + 3 * delay, mute));
		/* Another server may run by then. */
		KUNIT_EXPECT_FALSE(test, time_before64(noted[i] + 4 * delay, mute));
		KUNIT_EXPECT_EQ(test, end, noted[i] + 90 * HZ);
		KUNIT_EXPECT_EQ(test, mute, noted[i] + 240 * HZ);
		KUNIT_EXPECT_EQ(test, mute, xprt2_note_end(XPRT2_A_NONE, noted[i]));
		KUNIT_EXPECT_EQ(test, end, xprt2_note_end(XPRT2_A_ERR_BAD_XDR, noted[i]));
	}
}

/* S34: the client probes a server of version 1 at once if it sent no Reply in version 1. */
static void doubts_version_1(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, xprt2_doubts_v1(1, false, true, false));
	KUNIT_EXPECT_FALSE(test, xprt2_doubts_v1(2, false, true, false));
	KUNIT_EXPECT_FALSE(test, xprt2_doubts_v1(1, true, true, false));
	KUNIT_EXPECT_FALSE(test, xprt2_doubts_v1(1, false, false, false));
	KUNIT_EXPECT_FALSE(test, xprt2_doubts_v1(1, false, true, true));
}

/* S34: a good Reply in version 1 after a probe of version 2 */
static void proves_version_1(struct kunit *test)
{
	struct xprt2_nego ng = { .ng_max = 2 };

	KUNIT_EXPECT_TRUE(test, xprt2_proves_v1(&ng, 1));
	KUNIT_EXPECT_FALSE(test, xprt2_proves_v1(&ng, 2));
	ng.ng_known = true;
	KUNIT_EXPECT_FALSE(test, xprt2_proves_v1(&ng, 1));
	ng.ng_known = false;
	ng.ng_max = 1;
	KUNIT_EXPECT_FALSE(test, xprt2_proves_v1(&ng, 1));
}

struct action_case {
	const char		*desc;
	struct xprt2_nego	ng;
	enum xprt2_answer	answer;
	enum xprt2_action	want;
};

#define PROBE(_probes)	.ng = { .ng_phase = XPRT2_PROBE, .ng_min = 1, \
				.ng_max = 2, .ng_probes = (_probes), \
				.ng_low = 1, .ng_high = 1 }
#define PROBE_APART(_probes) \
			.ng = { .ng_phase = XPRT2_PROBE, .ng_min = 1, \
				.ng_max = 2, .ng_probes = (_probes), \
				.ng_outlasted = true, \
				.ng_low = 1, .ng_high = 1 }
#define PROBE_TWO(_probes) \
			.ng = { .ng_phase = XPRT2_PROBE, .ng_min = 2, \
				.ng_max = 2, .ng_probes = (_probes), \
				.ng_outlasted = true }
#define TRIAL		.ng = { .ng_phase = XPRT2_TRIAL, .ng_min = 1, \
				.ng_max = 2, .ng_trial_sent = true, \
				.ng_low = 1, .ng_high = 1 }
#define PROBE_PLAIN(_probes) \
			.ng = { .ng_phase = XPRT2_PROBE, .ng_min = 1, \
				.ng_max = 2, .ng_probes = (_probes), \
				.ng_plain = true, \
				.ng_low = 1, .ng_high = 1 }
#define PROBED_AGAIN(_min) \
			.ng = { .ng_phase = XPRT2_PROBE, .ng_min = (_min), \
				.ng_max = 2, .ng_probes = 1, \
				.ng_expired = true, \
				.ng_low = 1, .ng_high = 1 }
#define TRIAL_PLAIN	.ng = { .ng_phase = XPRT2_TRIAL, .ng_min = 1, \
				.ng_max = 2, .ng_trial_sent = true, \
				.ng_plain = true }
#define TRIAL_TWO	.ng = { .ng_phase = XPRT2_TRIAL, .ng_min = 2, \
				.ng_max = 2, .ng_trial_sent = true }
#define TRIAL_UNSENT	.ng = { .ng_phase = XPRT2_TRIAL, .ng_min = 1, \
				.ng_max = 2 }
#define SETTLED(_vers, _min, _max, _low, _high, _refused) \
			.ng = { .ng_phase = XPRT2_SETTLED, \
				.ng_vers = (_vers), \
				.ng_min = (_min), .ng_max = (_max), \
				.ng_low = (_low), .ng_high = (_high), \
				.ng_refused = (_refused) }
#define RANGE(_min, _low, _high) \
			.ng = { .ng_phase = XPRT2_PROBE, .ng_min = (_min), \
				.ng_max = 2, \
				.ng_low = (_low), .ng_high = (_high) }

static const struct action_case action_cases[] = {
	{ "S29 CONNPROP: version 2 with properties",
	  PROBE(1), XPRT2_A_CONNPROP, XPRT2_ACT_TWO },
	{ "C-026 code 3 or 9: version 2 without properties",
	  PROBE(1), XPRT2_A_ERR_LACKS, XPRT2_ACT_TWO },
	{ "C-101 ERR_VERS: version 1 on the same connection",
	  PROBE(1), XPRT2_A_ERR_VERS, XPRT2_ACT_ONE },
	{ "S36 ERR_VERS with low above high: version 1",
	  RANGE(1, 3, 2), XPRT2_A_ERR_VERS, XPRT2_ACT_ONE },
	{ "S36 ERR_VERS 1 to 2, which includes the rejected version: version 1",
	  RANGE(1, 1, 2), XPRT2_A_ERR_VERS, XPRT2_ACT_ONE },
	{ "S36 ERR_VERS 0 to 0xffffffff: version 1",
	  RANGE(1, 0, U32_MAX), XPRT2_A_ERR_VERS, XPRT2_ACT_ONE },
	{ "S36 ERR_VERS 3 to 4: no common version",
	  RANGE(1, 3, 4), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S36 ERR_VERS 2 to 2: no common version",
	  RANGE(1, 2, 2), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S36 ERR_VERS 0 to 0: no common version",
	  RANGE(1, 0, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S36 ERR_VERS 0 to 1: version 1",
	  RANGE(1, 0, 1), XPRT2_A_ERR_VERS, XPRT2_ACT_ONE },
	{ "S36 ERR_VERS 1 to 3: version 1",
	  RANGE(1, 1, 3), XPRT2_A_ERR_VERS, XPRT2_ACT_ONE },
	{ "S36 ERR_VERS 2 to 3: no common version",
	  RANGE(1, 2, 3), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S36 ERR_VERS 2 to 1 is not a range: version 1",
	  RANGE(1, 2, 1), XPRT2_A_ERR_VERS, XPRT2_ACT_ONE },
	{ "S36 ERR_VERS 1 to 0 is not a range: version 1",
	  RANGE(1, 1, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_ONE },
	{ "S34 ERR_VERS, but never version 1: fail",
	  RANGE(2, 1, 1), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S37 an unknown message: another dialect",
	  PROBE(1), XPRT2_A_FOREIGN, XPRT2_ACT_AGAIN_ONE },
	{ "C-104 a version 1 message: version 1",
	  PROBE(1), XPRT2_A_MSG_ONE, XPRT2_ACT_ONE },
	{ "S29 silence: the client tries an RPC",
	  PROBE(1), XPRT2_A_NONE, XPRT2_ACT_TRIAL },
	{ "S34 silence again, after an interrupted trial: version 1",
	  PROBE(2), XPRT2_A_NONE, XPRT2_ACT_AGAIN_ONE },
	{ "C-103 connection lost: a later attempt",
	  PROBE(1), XPRT2_A_LOST, XPRT2_ACT_LATER },
	{ "C-103 connection lost twice in one outage: a later attempt",
	  PROBE(2), XPRT2_A_LOST, XPRT2_ACT_LATER },
	{ "C-103 connection lost many times in one outage: a later attempt",
	  PROBE(20), XPRT2_A_LOST, XPRT2_ACT_LATER },
	{ "C-103 the first connection lost, after any time: a later attempt",
	  PROBE_APART(1), XPRT2_A_LOST, XPRT2_ACT_LATER },
	{ "S36 an RPC gets ERR_VERS 3 to 4: no common version",
	  .ng = { .ng_phase = XPRT2_TRIAL, .ng_min = 1, .ng_max = 2,
		  .ng_trial_sent = true, .ng_low = 3, .ng_high = 4 },
	  XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "C-103 connection lost twice, in two outages: version 1 on trial",
	  PROBE_APART(2), XPRT2_A_LOST, XPRT2_ACT_AGAIN_ONE },
	{ "S29 silence after an outage: the client tries an RPC",
	  PROBE_APART(1), XPRT2_A_NONE, XPRT2_ACT_TRIAL },
	{ "S29 a Reply without an RPC is not an answer",
	  PROBE(1), XPRT2_A_REPLY_TWO, XPRT2_ACT_WAIT },
	{ "S31 an error without an RPC is not an answer",
	  PROBE(1), XPRT2_A_ERR_OTHER, XPRT2_ACT_WAIT },

	{ "C-099 a Reply to the trial: version 2",
	  TRIAL, XPRT2_A_REPLY_TWO, XPRT2_ACT_TWO },
	{ "S29 a late CONNPROP: version 2",
	  TRIAL, XPRT2_A_CONNPROP, XPRT2_ACT_TWO },
	{ "C-026 a late code 3 or 9 for the probe: version 2",
	  TRIAL, XPRT2_A_ERR_LACKS, XPRT2_ACT_TWO },
	{ "S37 an unknown message: version 1 on the next connection",
	  TRIAL, XPRT2_A_FOREIGN, XPRT2_ACT_AGAIN_ONE },
	{ "C-104 a version 1 message: version 1 on the next connection",
	  TRIAL, XPRT2_A_MSG_ONE, XPRT2_ACT_AGAIN_ONE },
	{ "C-076 an error in version 2 is an answer in version 2",
	  TRIAL, XPRT2_A_ERR_OTHER, XPRT2_ACT_TWO },
	{ "C-103 silence: version 1 on the next connection",
	  TRIAL, XPRT2_A_NONE, XPRT2_ACT_AGAIN_ONE },
	{ "C-103 connection lost: version 1 on the next connection",
	  TRIAL, XPRT2_A_LOST, XPRT2_ACT_AGAIN_ONE },
	{ "S33 ERR_VERS: version 1 on the next connection, the RPC marshalled again",
	  TRIAL, XPRT2_A_ERR_VERS, XPRT2_ACT_AGAIN_ONE },

	{ "S34 a server that closes before the RPC is sent: not an answer",
	  TRIAL_UNSENT, XPRT2_A_LOST, XPRT2_ACT_LATER },

	{ "S34 a known server of version 1 is silent: version 1",
	  PROBED_AGAIN(1), XPRT2_A_NONE, XPRT2_ACT_AGAIN_ONE },
	{ "S34 a known server of version 1 goes away: a later attempt",
	  PROBED_AGAIN(1), XPRT2_A_LOST, XPRT2_ACT_LATER },
	{ "S34 a known server of version 1 supports version 2 now",
	  PROBED_AGAIN(1), XPRT2_A_CONNPROP, XPRT2_ACT_TWO },
	{ "S34 a known server of version 1 is of version 1",
	  PROBED_AGAIN(1), XPRT2_A_ERR_VERS, XPRT2_ACT_ONE },
	{ "S34 a known server of version 1, not allowed: the client tries an RPC",
	  PROBED_AGAIN(2), XPRT2_A_NONE, XPRT2_ACT_TRIAL },

	{ "S37 C-060 BAD_XDR: a second probe without experimental properties",
	  PROBE(1), XPRT2_A_ERR_BAD_XDR, XPRT2_ACT_AGAIN_PLAIN },
	{ "S37 C-060 BAD_XDR: also for the last probe",
	  PROBE(2), XPRT2_A_ERR_BAD_XDR, XPRT2_ACT_AGAIN_PLAIN },
	{ "S37 C-060 BAD_XDR: also if it is late",
	  TRIAL, XPRT2_A_ERR_BAD_XDR, XPRT2_ACT_AGAIN_PLAIN },
	{ "S37 C-060 BAD_XDR: also if version 1 is not allowed",
	  PROBE_TWO(1), XPRT2_A_ERR_BAD_XDR, XPRT2_ACT_AGAIN_PLAIN },
	{ "S37 BAD_XDR for a plain probe: another dialect",
	  PROBE_PLAIN(2), XPRT2_A_ERR_BAD_XDR, XPRT2_ACT_AGAIN_ONE },
	{ "S37 BAD_XDR for a plain probe, late",
	  TRIAL_PLAIN, XPRT2_A_ERR_BAD_XDR, XPRT2_ACT_AGAIN_ONE },
	{ "S37 C-060 CONNPROP for a plain probe: version 2",
	  PROBE_PLAIN(2), XPRT2_A_CONNPROP, XPRT2_ACT_TWO },
	{ "S37 a plain probe, and an unknown message",
	  PROBE_PLAIN(2), XPRT2_A_FOREIGN, XPRT2_ACT_AGAIN_ONE },

	{ "S34 version 1 not allowed: the client waits for a silent server",
	  TRIAL_TWO, XPRT2_A_NONE, XPRT2_ACT_WAIT },
	{ "S34 version 1 not allowed: a later attempt after a lost connection",
	  TRIAL_TWO, XPRT2_A_LOST, XPRT2_ACT_LATER },
	{ "S34 version 1 not allowed: back-off after the second lost probe",
	  PROBE_TWO(2), XPRT2_A_LOST, XPRT2_ACT_LATER },
	{ "S34 version 1 not allowed: an RPC after the second silence too",
	  PROBE_TWO(2), XPRT2_A_NONE, XPRT2_ACT_TRIAL },
	{ "S37 version 1 not allowed: another dialect is a failure",
	  PROBE_TWO(1), XPRT2_A_FOREIGN, XPRT2_ACT_FAIL },

	{ "C-101 ERR_VERS when settled: negotiate again",
	  SETTLED(2, 1, 2, 1, 1, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_AGAIN },
	{ "C-101 ERR_VERS when settled, the second time: an error of the RPC",
	  SETTLED(2, 1, 2, 1, 1, BIT(2)), XPRT2_A_ERR_VERS, XPRT2_ACT_WAIT },
	{ "S36 a known server of version 1 supports only version 2",
	  SETTLED(1, 1, 2, 2, 2, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_AGAIN },
	{ "S34 pinned to version 1, the server supports only version 2: fail",
	  SETTLED(1, 1, 1, 2, 2, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S34 pinned to version 2, the server changes to version 1: fail",
	  SETTLED(2, 2, 2, 1, 1, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S36 settled, and an invalid range: connect again",
	  SETTLED(1, 1, 1, 3, 2, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_AGAIN },
	{ "S36 settled, ERR_VERS 0 to 0: fail",
	  SETTLED(2, 1, 2, 0, 0, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S36 settled, ERR_VERS 0 to 1: connect again",
	  SETTLED(2, 1, 2, 0, 1, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_AGAIN },
	{ "S36 settled, ERR_VERS 2 to 3: connect again",
	  SETTLED(2, 1, 2, 2, 3, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_AGAIN },
	{ "S36 settled, ERR_VERS 3 to 3: fail",
	  SETTLED(2, 1, 2, 3, 3, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S36 settled, ERR_VERS 3 to 4: fail",
	  SETTLED(2, 1, 2, 3, 4, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S34 S36 never version 2, ERR_VERS 1 to 1: connect again",
	  SETTLED(1, 1, 1, 1, 1, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_AGAIN },
	{ "S34 S36 never version 1, ERR_VERS 2 to 2: connect again",
	  SETTLED(2, 2, 2, 2, 2, 0), XPRT2_A_ERR_VERS, XPRT2_ACT_AGAIN },
	{ "C-078 other errors when settled are errors of their RPC",
	  SETTLED(2, 1, 2, 0, 0, 0), XPRT2_A_ERR_OTHER, XPRT2_ACT_WAIT },
	{ "C-099 Replies when settled",
	  SETTLED(2, 1, 2, 0, 0, 0), XPRT2_A_REPLY_TWO, XPRT2_ACT_WAIT },

	{ "S42 an RPC gets code 3 or 9: version 1 on the next connection",
	  SETTLED(2, 1, 2, 0, 0, 0), XPRT2_A_ERR_LACKS_RPC,
	  XPRT2_ACT_AGAIN_ONE },
	{ "S42 the RPC on trial gets code 3 or 9: version 1 on the next connection",
	  TRIAL, XPRT2_A_ERR_LACKS_RPC, XPRT2_ACT_AGAIN_ONE },
	{ "S42 version 1 not allowed: fail",
	  SETTLED(2, 2, 2, 0, 0, 0), XPRT2_A_ERR_LACKS_RPC, XPRT2_ACT_FAIL },
	{ "S42 version 1 not allowed, on trial: fail",
	  TRIAL_TWO, XPRT2_A_ERR_LACKS_RPC, XPRT2_ACT_FAIL },
	{ "S42 a second refused RPC: as the first",
	  SETTLED(2, 1, 2, 0, 0, BIT(2)), XPRT2_A_ERR_LACKS_RPC,
	  XPRT2_ACT_AGAIN_ONE },
	{ "S42 version 1 is refused too: no common version",
	  SETTLED(1, 1, 2, 2, 2, BIT(2)), XPRT2_A_ERR_VERS, XPRT2_ACT_FAIL },
	{ "S42 version 1 was refused before: no common version",
	  SETTLED(2, 1, 2, 2, 2, BIT(1)), XPRT2_A_ERR_LACKS_RPC,
	  XPRT2_ACT_FAIL },
	{ "S35 code 3 in version 2 on a connection of version 1",
	  SETTLED(1, 1, 2, 0, 0, 0), XPRT2_A_ERR_LACKS_RPC, XPRT2_ACT_WAIT },
	{ "S31 an error of an RPC is not an answer to the probe",
	  PROBE(1), XPRT2_A_ERR_LACKS_RPC, XPRT2_ACT_WAIT },
};

KUNIT_ARRAY_PARAM_DESC(action, action_cases, desc);

static void action(struct kunit *test)
{
	const struct action_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, xprt2_next_action(&c->ng, c->answer), c->want);
}

/* S34, 2.2: with any repeated answer, the negotiation ends after at most two connections */
static void negotiation_ends(struct kunit *test)
{
	static const enum xprt2_answer answers[] = {
		XPRT2_A_CONNPROP, XPRT2_A_ERR_VERS, XPRT2_A_ERR_LACKS,
		XPRT2_A_ERR_LACKS_RPC, XPRT2_A_ERR_BAD_XDR,
		XPRT2_A_ERR_OTHER, XPRT2_A_REPLY_TWO, XPRT2_A_MSG_ONE,
		XPRT2_A_FOREIGN, XPRT2_A_NONE, XPRT2_A_LOST,
	};
	unsigned int probes, again, i;
	bool one, plain;

	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		one = false;
		plain = false;
		again = 0;
		for (probes = 1; ; probes++) {
			struct xprt2_nego ng = {
				.ng_phase	= xprt2_first_phase(1, 2, one),
				.ng_plain	= plain,
				.ng_min		= 1,
				.ng_max		= 2,
				.ng_probes	= probes,
				.ng_low		= 1,
				.ng_high	= 1,
			};
			enum xprt2_action m;

			if (ng.ng_phase == XPRT2_SETTLED)
				break;
			m = xprt2_next_action(&ng, answers[i]);
			/* worst case: the RPC times out before the trial */
			if (m == XPRT2_ACT_TRIAL)
				m = XPRT2_ACT_AGAIN;
			one = m == XPRT2_ACT_AGAIN_ONE;
			plain = m == XPRT2_ACT_AGAIN_PLAIN;
			if (!one && !plain && m != XPRT2_ACT_AGAIN)
				break;
			KUNIT_ASSERT_LE(test, ++again, XPRT2_PROBES_MAX);
		}
	}
}

/*
 * 2.2, 2.4: a server answers every probe with a CONNPROP, and refuses every RPC. The client
 * fails an RPC after at most three connections.
 */
static void refusals_end(struct kunit *test)
{
	static const enum xprt2_answer refusals[] = {
		XPRT2_A_ERR_VERS, XPRT2_A_ERR_LACKS_RPC,
	};
	bool one = *(const bool *)test->param_value;
	struct xprt2_nego ng = {
		.ng_min = 1, .ng_max = 2, .ng_trial_sent = true,
		.ng_low = 1, .ng_high = 2,
	};
	enum xprt2_action m = XPRT2_ACT_AGAIN;
	unsigned int connections;

	for (connections = 0; m != XPRT2_ACT_FAIL; connections++) {
		KUNIT_ASSERT_LT(test, connections, 3);
		ng.ng_phase = xprt2_first_phase(1, 2, one);
		ng.ng_vers = ng.ng_phase == XPRT2_SETTLED ? 1 : 2;
		if (ng.ng_phase == XPRT2_PROBE)
			ng.ng_phase = XPRT2_SETTLED;
		m = xprt2_next_action(&ng, refusals[ng.ng_vers - 1]);
		KUNIT_EXPECT_NE(test, m, XPRT2_ACT_WAIT);
		ng.ng_refused |= BIT(ng.ng_vers);
		one = m == XPRT2_ACT_AGAIN_ONE;
	}
}

static const bool memories[] = { false, true };

static void describe_memory(const bool *one, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "S42 %s as version 1",
		 *one ? "known" : "not known");
}

KUNIT_ARRAY_PARAM(memory, memories, describe_memory);

struct meaning_case {
	const char		*desc;
	struct rpcrdma2_hdr	h;
	enum rpcrdma2_errcode	verdict;
	bool			bad_body;
	bool			connprop;
	bool			to_probe;
	enum xprt2_answer	want;
};

#define ERROR(_vers, _code) \
	{ .h_vers = (_vers), .h_proc = RDMA2_ERROR, \
	  .h_direction = RDMA2_REPLY, .h_error.er_code = (_code) }
#define RPC(_vers, _proc, _direction) \
	{ .h_vers = (_vers), .h_proc = (_proc), .h_direction = (_direction) }

#define CALL_BUT(_code, _want) \
	{ "S37 a backward Call, verdict " #_code, \
	  RPC(2, RDMA2_MSG, RDMA2_CALL), (_code), .want = (_want) }

static const struct meaning_case meaning_cases[] = {
	{ "S36 ERR_VERS in version 1", ERROR(1, RDMA2_ERR_VERS),
	  .want = XPRT2_A_ERR_VERS },
	{ "S36 ERR_VERS in version 2", ERROR(2, RDMA2_ERR_VERS),
	  .want = XPRT2_A_ERR_VERS },
	{ "C-026 INVALID_PROC", ERROR(2, RDMA2_ERR_INVALID_PROC),
	  .to_probe = true, .want = XPRT2_A_ERR_LACKS },
	{ "C-026 INVALID_OPTION", ERROR(2, RDMA2_ERR_INVALID_OPTION),
	  .to_probe = true, .want = XPRT2_A_ERR_LACKS },
	{ "S37 BAD_XDR for the probe", ERROR(2, RDMA2_ERR_BAD_XDR),
	  .to_probe = true, .want = XPRT2_A_ERR_BAD_XDR },
	{ "S37 SYSTEM for the probe", ERROR(2, RDMA2_ERR_SYSTEM),
	  .to_probe = true, .want = XPRT2_A_FOREIGN },
	{ "S18 BAD_XDR for an RPC", ERROR(2, RDMA2_ERR_BAD_XDR),
	  .want = XPRT2_A_ERR_OTHER },
	{ "S18 INVALID_PROC for an RPC is not of this draft",
	  ERROR(2, RDMA2_ERR_INVALID_PROC), .want = XPRT2_A_ERR_LACKS_RPC },
	{ "S18 INVALID_OPTION for an RPC is not of this draft",
	  ERROR(2, RDMA2_ERR_INVALID_OPTION), .want = XPRT2_A_ERR_LACKS_RPC },
	{ "S37 ERR_CHUNK of version 1", ERROR(1, RDMA2_ERR_BAD_XDR),
	  .want = XPRT2_A_FOREIGN },
	{ "C-099 a Reply in version 2", RPC(2, RDMA2_MSG, RDMA2_REPLY),
	  .want = XPRT2_A_REPLY_TWO },
	{ "C-099 a Reply in a chunk", RPC(2, RDMA2_NOMSG, RDMA2_REPLY),
	  .want = XPRT2_A_REPLY_TWO },
	{ "C-066 a backward Call is not an answer",
	  RPC(2, RDMA2_MSG, RDMA2_CALL),
	  .want = XPRT2_A_NONE },
	{ "C-084 a backward Call with too many chunks is not an answer",
	  RPC(2, RDMA2_MSG, RDMA2_CALL), RDMA2_ERR_WRITE_CHUNKS,
	  .want = XPRT2_A_NONE },
	CALL_BUT(2, XPRT2_A_FOREIGN), CALL_BUT(3, XPRT2_A_FOREIGN),
	CALL_BUT(4, XPRT2_A_NONE), CALL_BUT(5, XPRT2_A_NONE),
	CALL_BUT(6, XPRT2_A_NONE), CALL_BUT(7, XPRT2_A_FOREIGN),
	{ "S37 a Reply with too many chunks is an unknown message",
	  RPC(2, RDMA2_MSG, RDMA2_REPLY), RDMA2_ERR_WRITE_CHUNKS,
	  .want = XPRT2_A_FOREIGN },
	{ "C-104 a Reply in version 1", RPC(1, RDMA2_MSG, RDMA2_REPLY),
	  .want = XPRT2_A_MSG_ONE },
	{ "S29 CONNPROP", RPC(2, RDMA2_CONNPROP, RDMA2_CALL),
	  .connprop = true, .want = XPRT2_A_CONNPROP },
	{ "S31 a short message is not an answer",
	  RPC(2, RDMA2_MSG, RDMA2_REPLY),
	  RDMA2_DROP, .want = XPRT2_A_NONE },
	{ "S37 a malformed message is an unknown message",
	  RPC(2, RDMA2_CONNPROP, RDMA2_CALL), RDMA2_ERR_BAD_XDR,
	  .want = XPRT2_A_FOREIGN },
	{ "S11 a CONNPROP with a bad body is not an answer",
	  RPC(2, RDMA2_CONNPROP, RDMA2_CALL), RDMA2_ERR_BAD_XDR,
	  .connprop = true, .bad_body = true, .want = XPRT2_A_NONE },
	{ "S40 an unknown option is not an answer",
	  RPC(2, RDMA2_OPTIONAL, RDMA2_CALL), RDMA2_ERR_INVALID_OPTION,
	  .bad_body = true, .want = XPRT2_A_NONE },
	{ "S01 CONNPROP as an option", RPC(2, RDMA2_OPTIONAL, RDMA2_CALL),
	  .connprop = true, .want = XPRT2_A_CONNPROP },
	{ "S30 UPDPROP is not an answer", RPC(2, RDMA2_UPDPROP, RDMA2_CALL),
	  .want = XPRT2_A_NONE },
};

KUNIT_ARRAY_PARAM_DESC(meaning, meaning_cases, desc);

static void meaning(struct kunit *test)
{
	const struct meaning_case *c = test->param_value;
	struct rpcrdma2_msg *msg = kunit_kzalloc(test, sizeof(*msg),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, msg);
	msg->mg_hdr = c->h;
	msg->mg_verdict = c->verdict;
	msg->mg_bad_body = c->bad_body;
	msg->mg_prop.pm_type = c->connprop ? RDMA2_OPT_CONNPROP :
					     RDMA2_OPT_UPDPROP;
	KUNIT_EXPECT_EQ(test, xprt2_classify(msg, c->to_probe), c->want);
}

/* S31, 2.4: the errors that may change the version of a connection */
static void error_counts(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, xprt2_error_counts(XPRT2_A_ERR_VERS, true,
						   false));
	KUNIT_EXPECT_TRUE(test, xprt2_error_counts(XPRT2_A_ERR_VERS, false,
						   true));
	KUNIT_EXPECT_FALSE(test, xprt2_error_counts(XPRT2_A_ERR_VERS, false,
						    false));
	/* C-026: a refusal of REQPROP does not concern RPCs. */
	KUNIT_EXPECT_FALSE(test, xprt2_error_counts(XPRT2_A_ERR_LACKS_RPC,
						    true, false));
	KUNIT_EXPECT_FALSE(test, xprt2_error_counts(XPRT2_A_ERR_OTHER, true,
						    true));
	KUNIT_EXPECT_TRUE(test, xprt2_error_counts(XPRT2_A_ERR_LACKS_RPC,
						   false, true));
}

static const struct disposition_case {
	const char		*desc;
	enum xprt2_phase	phase;
	enum xprt2_answer	answer;
	bool			to_probe;
	enum xprt2_disposition	want;
} disposition_cases[] = {
	{ "a message that is not an answer", XPRT2_PROBE,
	  XPRT2_A_NONE, true, XPRT2_D_HANDLE },
	{ "S29 an answer to the probe", XPRT2_PROBE, XPRT2_A_CONNPROP, false,
	  XPRT2_D_PROBE },
	{ "C-026 a refusal of the probe", XPRT2_PROBE, XPRT2_A_ERR_LACKS, true,
	  XPRT2_D_PROBE },
	{ "C-099 the Reply to the trial", XPRT2_TRIAL, XPRT2_A_REPLY_TWO, false,
	  XPRT2_D_NEGOTIATE },
	{ "S29 a CONNPROP during a trial", XPRT2_TRIAL, XPRT2_A_CONNPROP, false,
	  XPRT2_D_NEGOTIATE },
	{ "S37 BAD_XDR for the probe", XPRT2_PROBE, XPRT2_A_ERR_BAD_XDR, true,
	  XPRT2_D_PROBE },
	{ "S37 a late BAD_XDR for the probe",
	  XPRT2_TRIAL, XPRT2_A_ERR_BAD_XDR, true, XPRT2_D_NEGOTIATE },
	{ "2.4 a late CONNPROP is refused", XPRT2_SETTLED, XPRT2_A_ERR_LACKS,
	  true, XPRT2_D_DONE },
	{ "2.4 a late CONNPROP is refused with any code",
	  XPRT2_SETTLED, XPRT2_A_FOREIGN, true, XPRT2_D_DONE },
	{ "S36 except ERR_VERS", XPRT2_SETTLED, XPRT2_A_ERR_VERS, true,
	  XPRT2_D_NEGOTIATE },
	{ "S42 an RPC is refused", XPRT2_SETTLED, XPRT2_A_ERR_LACKS_RPC, false,
	  XPRT2_D_NEGOTIATE },
	{ "S42 an RPC gets another error", XPRT2_SETTLED, XPRT2_A_ERR_OTHER,
	  false, XPRT2_D_NEGOTIATE },
	{ "S36 after another refusal the RPC is sent again",
	  XPRT2_OVER, XPRT2_A_ERR_VERS, false, XPRT2_D_DONE },
	{ "S42 after another refusal of the RPC it is sent again",
	  XPRT2_OVER, XPRT2_A_ERR_LACKS_RPC, false, XPRT2_D_DONE },
	{ "S37 after another invalid message the RPC is sent again",
	  XPRT2_OVER, XPRT2_A_FOREIGN, false, XPRT2_D_DONE },
	{ "an error ends its RPC", XPRT2_OVER, XPRT2_A_ERR_OTHER,
	  false, XPRT2_D_HANDLE },
	{ "a Reply ends its RPC", XPRT2_OVER, XPRT2_A_REPLY_TWO,
	  false, XPRT2_D_HANDLE },
};

KUNIT_ARRAY_PARAM_DESC(disposition, disposition_cases, desc);

static void disposition(struct kunit *test)
{
	const struct disposition_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, xprt2_judge_message(c->phase, c->answer,
						  c->to_probe), c->want);
}

static void disposition_after_action(struct kunit *test)
{
	/* S36: only the refused RPC fails. */
	KUNIT_EXPECT_EQ(test, xprt2_disposition_after(XPRT2_A_ERR_VERS,
						      -EPROTONOSUPPORT),
			XPRT2_D_FAIL);
	KUNIT_EXPECT_EQ(test, xprt2_disposition_after(XPRT2_A_MSG_ONE,
						      -EPROTONOSUPPORT),
			XPRT2_D_DONE);
	/* The connection closes, and the next one sends the RPC again. */
	KUNIT_EXPECT_EQ(test, xprt2_disposition_after(XPRT2_A_ERR_VERS, -EAGAIN),
			XPRT2_D_DONE);
	KUNIT_EXPECT_EQ(test, xprt2_disposition_after(XPRT2_A_REPLY_TWO, 0),
			XPRT2_D_HANDLE);
}

/* S36, S37: the time of a trial ends while its answer is judged. */
static void answer_after_the_trial(struct kunit *test)
{
	static const enum xprt2_answer resent[] = {
		XPRT2_A_ERR_VERS, XPRT2_A_ERR_LACKS_RPC, XPRT2_A_FOREIGN,
	};
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(resent); i++) {
		ret = xprt2_result_given_up(resent[i]);
		KUNIT_EXPECT_EQ(test, xprt2_disposition_after(resent[i], ret),
				XPRT2_D_DONE);
	}
	ret = xprt2_result_given_up(XPRT2_A_REPLY_TWO);
	KUNIT_EXPECT_EQ(test, xprt2_disposition_after(XPRT2_A_REPLY_TWO, ret),
			XPRT2_D_HANDLE);
}

/* S34: the client ignores messages behind an answer that ends the probe. */
static void probe_failed(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, xprt2_probe_failed(XPRT2_PROBE,
						    XPRT2_A_NONE));
	KUNIT_EXPECT_FALSE(test, xprt2_probe_failed(XPRT2_PROBE,
						    XPRT2_A_CONNPROP));
	KUNIT_EXPECT_TRUE(test, xprt2_probe_failed(XPRT2_PROBE,
						   XPRT2_A_ERR_VERS));
	KUNIT_EXPECT_TRUE(test, xprt2_probe_failed(XPRT2_PROBE,
						   XPRT2_A_MSG_ONE));
	KUNIT_EXPECT_FALSE(test, xprt2_probe_failed(XPRT2_SETTLED,
						    XPRT2_A_ERR_LACKS));
	KUNIT_EXPECT_FALSE(test, xprt2_probe_failed(XPRT2_TRIAL,
						    XPRT2_A_ERR_LACKS));
}

/* S34: the time limits of the steps, and the lifetime of a known version */
static void time_limits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, XPRT2_PROBE_TIMEOUT, 2 * HZ);
	KUNIT_EXPECT_EQ(test, XPRT2_TRIAL_TIMEOUT, 10 * HZ);
	KUNIT_EXPECT_EQ(test, XPRT2_MEMORY_TIME, 3600 * HZ);
	KUNIT_EXPECT_EQ(test, XPRT2_OUTAGE, 2 * HZ);
	KUNIT_EXPECT_EQ(test, XPRT2_NOTE_TIME, 90 * HZ);
	KUNIT_EXPECT_EQ(test, XPRT2_NOTE_TIME_SILENT, 240 * HZ);
	KUNIT_EXPECT_EQ(test, XPRT2_ALL_VERSIONS, 6);
}

static struct kunit_case negotiate_cases[] = {
	KUNIT_CASE_PARAM(first, first_gen_params),
	KUNIT_CASE(probes_again),
	KUNIT_CASE(s34_note_expiry),
	KUNIT_CASE(doubts_version_1),
	KUNIT_CASE(proves_version_1),
	KUNIT_CASE_PARAM(action, action_gen_params),
	KUNIT_CASE(negotiation_ends),
	KUNIT_CASE_PARAM(refusals_end, memory_gen_params),
	KUNIT_CASE_PARAM(meaning, meaning_gen_params),
	KUNIT_CASE(error_counts),
	KUNIT_CASE_PARAM(disposition, disposition_gen_params),
	KUNIT_CASE(disposition_after_action),
	KUNIT_CASE(answer_after_the_trial),
	KUNIT_CASE(probe_failed),
	KUNIT_CASE(time_limits),
	{}
};

static struct kunit_suite negotiate_suite = {
	.name		= "xprtrdma2_negotiate",
	.test_cases	= negotiate_cases,
};

kunit_test_suite(negotiate_suite);

MODULE_DESCRIPTION("RPC-over-RDMA version 2 client: unit tests");
MODULE_LICENSE("GPL");
MODULE_INFO(import_ns, "RPCRDMA2");
