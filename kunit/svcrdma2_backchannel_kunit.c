// SPDX-License-Identifier: GPL-2.0
/*
 * The header of the server's Calls, and the verdict on their answers: svcrdma2/pure.h.
 */
#include <linux/module.h>

#include <rpcrdma2/props.h>

#include "../svcrdma2/pure.h"

#include "util.h"

#define XID	0x0badcafe

static void expect_header(struct kunit *test, u32 vers, const u32 *want,
			  unsigned int nwords)
{
	struct rpcrdma2_hdr *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	struct wire w;
	unsigned int i;
	__be32 *p;

	KUNIT_ASSERT_NOT_NULL(test, h);
	/* Stale contents of the header must not remain. */
	memset(h, 0xff, sizeof(*h));
	svc2_callback_header(h, vers, XID, 16);
	KUNIT_EXPECT_EQ(test, h->h_nsegs, 0);
	send_hdr(test, &w, h);
	KUNIT_ASSERT_EQ(test, w.len, nwords * XDR_UNIT);
	p = w.data;
	for (i = 0; i < nwords; i++)
		KUNIT_EXPECT_EQ_MSG(test, be32_to_cpu(p[i]), want[i],
				    "word %u", i);
}

/* B-07, B-18: three empty lists, and a request for credits that is not 0 */
static void b15_call_in_version_one(struct kunit *test)
{
	static const u32 want[] = { XID, 1, 16, RDMA2_MSG, 0, 0, 0 };

	expect_header(test, RPCRDMA2_VERS_ONE, want, ARRAY_SIZE(want));
}

static void c036_s25_call_in_version_two(struct kunit *test)
{
	static const u32 want[] = {
		XID, 2, 16, RDMA2_MSG, RDMA2_CALL, 0, 0, 0, 0
	};

	expect_header(test, RPCRDMA2_VERS_TWO, want, ARRAY_SIZE(want));
}

/* The levels that both ends have announced, and the permitted level in versions 1 and 2 */
static const struct level_case {
	const char	*desc;
	u32		supported;
	u32		announced;
	u32		peer;
	u32		want[2];
} level_cases[] = {
	{ "C-037 GENL at both ends", 2, 2, 2, { 1, 2 } },
	{ "C-036 INLINE at the peer", 2, 2, 1, { 1, 1 } },
	{ "C-036 INLINE here", 1, 1, 2, { 1, 1 } },
	{ "C-024 no announcement of the server yet", 2, 1, 2, { 1, 1 } },
	{ "C-035 S20 NONE at the peer, which does not apply to version 1",
	  2, 2, 0, { 1, 0 } },
	{ "C-035 NONE here", 0, 0, 2, { 0, 0 } },
	{ "C-035 NONE here, before the announcement", 0, 1, 2, { 0, 0 } },
};

KUNIT_ARRAY_PARAM_DESC(levels, level_cases, desc);

static void levels(struct kunit *test)
{
	const struct level_case *c = test->param_value;
	struct rpcrdma2_exchange *ex = kunit_kzalloc(test, sizeof(*ex), GFP_KERNEL);
	u32 vers;

	KUNIT_ASSERT_NOT_NULL(test, ex);
	rpcrdma2_exchange_init(ex, NULL, true);
	ex->ex_supported.pr_brs = c->supported;
	ex->ex_announced.pr_brs = c->announced;
	ex->ex_peer.pp_now.pr_brs = c->peer;
	for (vers = 1; vers <= 2; vers++)
		KUNIT_EXPECT_EQ_MSG(test, rpcrdma2_backward_level(ex, vers),
				    c->want[vers - 1], "version %u", vers);
}

static void b05_abandoned_calls_hold_credit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, svc2_backward_window(0, 4, 0), 1);
	KUNIT_EXPECT_EQ(test, svc2_backward_window(0, 4, 1), 0);
	KUNIT_EXPECT_EQ(test, svc2_backward_window(1, 4, 1), 0);
	KUNIT_EXPECT_EQ(test, svc2_backward_window(16, 4, 1), 3);
	KUNIT_EXPECT_EQ(test, svc2_backward_window(16, 16, 16), 0);
	/* The peer lowers its grant. */
	KUNIT_EXPECT_EQ(test, svc2_backward_window(2, 16, 5), 0);
}

static void consecutive_errors(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, svc2_backward_pause(1), 0);
	KUNIT_EXPECT_EQ(test, svc2_backward_pause(17), 1);
	KUNIT_EXPECT_EQ(test, svc2_backward_pause(1000), 40);
	KUNIT_EXPECT_EQ(test, svc2_backward_pause(SVC2_BACKWARD_ERRORS), 0);
	KUNIT_EXPECT_EQ(test, svc2_backward_pause(SVC2_BACKWARD_ERRORS + 1), 1);
	KUNIT_EXPECT_EQ(test, svc2_backward_pause(SVC2_BACKWARD_ERRORS + 8), 8);
	KUNIT_EXPECT_EQ(test, svc2_backward_pause(U32_MAX), SVC2_BACKWARD_PAUSE);
}

struct answer_case {
	const char	*desc;
	u32		called;		/* version of the Call */
	u32		vers;
	u32		proc;
	u32		code;		/* of an error */
	u32		verdict;
	u32		nwrites;
	bool		has_reply;
	u32		written;	/* in the Write chunk */
	u32		placed;		/* in the Reply chunk */
	u32		length;
	u32		write_max;	/* lengths of the offered chunks */
	u32		reply_max;
	u32		want;
};

#define ROOM	1000

#define REPLY_IN(_called, _vers) \
	.called = _called, .vers = _vers, .proc = RDMA2_MSG, .length = 100
#define ERROR_IN(_called, _vers, _code) \
	.called = _called, .vers = _vers, .proc = RDMA2_ERROR, .code = _code

static const struct answer_case answer_cases[] = {
	{ "B-16 a Reply in version 1",
	  REPLY_IN(1, 1), .want = SVC2_ANSWER_REPLY },
	{ "C-066 a Reply in version 2",
	  REPLY_IN(2, 2), .want = SVC2_ANSWER_REPLY },
	{ "S35 a Reply in version 1 to a Call in version 2",
	  REPLY_IN(2, 1), .want = SVC2_ANSWER_DROP },
	{ "S35 a Reply in version 2 to a Call in version 1",
	  REPLY_IN(1, 2), .want = SVC2_ANSWER_DROP },
	{ "S35 a bad Reply in another version", REPLY_IN(2, 1),
	  .verdict = RDMA2_ERR_BAD_XDR, .want = SVC2_ANSWER_DROP },
	{ "S06 S07 S08 a bad Reply", REPLY_IN(2, 2),
	  .verdict = RDMA2_ERR_BAD_XDR, .want = SVC2_ANSWER_FAIL },
	{ "S07 NOMSG without a Reply chunk",
	  .called = 2, .vers = 2, .proc = RDMA2_NOMSG,
	  .want = SVC2_ANSWER_FAIL },
	{ "S07 MSGP", .called = 1, .vers = 1, .proc = RDMA1_MSGP,
	  .length = 100,
	  .want = SVC2_ANSWER_FAIL },
	{ "C-036 a Reply with a Write list", REPLY_IN(2, 2), .nwrites = 1,
	  .want = SVC2_ANSWER_FAIL },
	{ "C-037 a full Write chunk", REPLY_IN(2, 2), .nwrites = 1,
	  .written = 897, .write_max = 897, .want = SVC2_ANSWER_REPLY },
	{ "C-106 a Reply whose Write chunk and padding are too long",
	  REPLY_IN(2, 2),
	  .nwrites = 1, .written = 901, .write_max = 901, .want = SVC2_ANSWER_FAIL },
	{ "E-20 more data than the Write chunk has",
	  REPLY_IN(2, 2), .nwrites = 1,
	  .written = 65, .write_max = 64, .want = SVC2_ANSWER_FAIL },
	{ "C-037 two Write chunks, one offered", REPLY_IN(2, 2), .nwrites = 2,
	  .written = 64, .write_max = 64, .want = SVC2_ANSWER_FAIL },
	{ "C-037 a full Reply chunk", .called = 2, .vers = 2,
	  .proc = RDMA2_NOMSG, .has_reply = true, .placed = 1000,
	  .reply_max = 1000, .want = SVC2_ANSWER_REPLY },
	{ "E-20 more data than the Reply chunk has", .called = 2, .vers = 2,
	  .proc = RDMA2_NOMSG, .has_reply = true, .placed = 65,
	  .reply_max = 64, .want = SVC2_ANSWER_FAIL },
	{ "E-20 a Reply chunk that was not offered", .called = 2, .vers = 2,
	  .proc = RDMA2_NOMSG, .has_reply = true, .placed = 64,
	  .want = SVC2_ANSWER_FAIL },
	{ "S07 a Reply chunk and an inline Reply", REPLY_IN(2, 2),
	  .verdict = RDMA2_ERR_BAD_XDR, .has_reply = true, .placed = 64,
	  .reply_max = 64, .want = SVC2_ANSWER_FAIL },
	{ "S10 an unused Reply chunk and an inline Reply", REPLY_IN(2, 2),
	  .has_reply = true, .reply_max = 64, .want = SVC2_ANSWER_REPLY },
	{ "S10 C-106 an unused Reply chunk and an inline Reply that is too long",
	  .called = 2, .vers = 2,
	  .proc = RDMA2_MSG, .length = ROOM + 1, .has_reply = true,
	  .reply_max = 64, .want = SVC2_ANSWER_FAIL },
	{ "S07 an answer of an unknown type", .called = 2, .vers = 2,
	  .proc = RDMA2_NOMSG + 1, .length = 100, .want = SVC2_ANSWER_FAIL },
	{ "C-037 a Write chunk and a Reply chunk",
	  .called = 2, .vers = 2, .proc = RDMA2_NOMSG,
	  .has_reply = true, .placed = 100, .reply_max = 100, .nwrites = 1,
	  .written = 900, .write_max = 900, .want = SVC2_ANSWER_REPLY },
	{ "the largest Reply", .called = 1, .vers = 1, .proc = RDMA2_MSG,
	  .length = ROOM, .want = SVC2_ANSWER_REPLY },
	{ "C-106 a Reply that is too long",
	  .called = 1, .vers = 1, .proc = RDMA2_MSG,
	  .length = ROOM + 1, .want = SVC2_ANSWER_FAIL },
	{ "C-094 SYSTEM", ERROR_IN(2, 2, RDMA2_ERR_SYSTEM),
	  .want = SVC2_ANSWER_FAIL },
	{ "2.4 READ_CHUNKS", ERROR_IN(2, 2, RDMA2_ERR_READ_CHUNKS),
	  .want = SVC2_ANSWER_FAIL },
	{ "2.4 REPLY_RESOURCE", ERROR_IN(2, 2, RDMA2_ERR_REPLY_RESOURCE),
	  .want = SVC2_ANSWER_FAIL },
	{ "ERR_CHUNK", ERROR_IN(1, 1, RDMA2_ERR_BAD_XDR),
	  .want = SVC2_ANSWER_FAIL },
	{ "S43 an unknown code", ERROR_IN(2, 2, 77),
	  .want = SVC2_ANSWER_FAIL },
	{ "S35 an error in another version",
	  ERROR_IN(2, 1, RDMA2_ERR_BAD_XDR), .want = SVC2_ANSWER_DROP },
	{ "S36 ERR_VERS in any version", ERROR_IN(2, 1, RDMA2_ERR_VERS),
	  .want = SVC2_ANSWER_FAIL },
	{ "S36 malformed ERR_VERS", ERROR_IN(2, 1, RDMA2_ERR_VERS),
	  .verdict = RDMA2_ERR_BAD_XDR, .want = SVC2_ANSWER_DROP },
	{ "S07 a truncated error", ERROR_IN(2, 2, 0),
	  .verdict = RDMA2_ERR_BAD_XDR, .want = SVC2_ANSWER_FAIL },
};

KUNIT_ARRAY_PARAM_DESC(answers, answer_cases, desc);

static void answers(struct kunit *test)
{
	const struct answer_case *ac = test->param_value;
	struct rpcrdma2_msg *msg = kunit_kzalloc(test, sizeof(*msg),
						 GFP_KERNEL);
	struct rpcrdma2_hdr *h = &msg->mg_hdr;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	msg->mg_verdict = ac->verdict;
	msg->mg_paylen = ac->length;
	h->h_xid = XID;
	h->h_vers = ac->vers;
	h->h_proc = ac->proc;
	h->h_direction = RDMA2_REPLY;
	h->h_nwrites = ac->nwrites;
	h->h_has_reply = ac->has_reply;
	h->h_writes[0].ck_length = ac->written;
	h->h_reply.ck_length = ac->placed;
	if (ac->proc == RDMA2_ERROR)
		h->h_error.er_code = ac->code;
	KUNIT_EXPECT_EQ(test, svc2_judge_answer(msg, ac->called, ROOM,
						ac->write_max, ac->reply_max),
			ac->want);
}

static struct kunit_case backchannel_cases[] = {
	KUNIT_CASE(b15_call_in_version_one),
	KUNIT_CASE(c036_s25_call_in_version_two),
	KUNIT_CASE_PARAM(levels, levels_gen_params),
	KUNIT_CASE(b05_abandoned_calls_hold_credit),
	KUNIT_CASE(consecutive_errors),
	KUNIT_CASE_PARAM(answers, answers_gen_params),
	{}
};

static struct kunit_suite backchannel_suite = {
	.name = "svcrdma2_backchannel",
	.test_cases = backchannel_cases,
};

kunit_test_suite(backchannel_suite);
