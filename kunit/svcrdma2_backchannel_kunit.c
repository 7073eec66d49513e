// SPDX-License-Identifier: GPL-2.0
/*
 * What a Call of the server looks like on the wire, and which of its answers
 * ends it, and how: svcrdma2/backchannel.h.
 */
#include <linux/module.h>

#include "../svcrdma2/backchannel.h"

#include "util.h"

#define XID	0x0badcafe

static void header_is(struct kunit *test, u32 vers, const u32 *want,
		      unsigned int nwords)
{
	struct rpcrdma2_hdr *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	struct wire w;
	unsigned int i;
	__be32 *p;

	KUNIT_ASSERT_NOT_NULL(test, h);
	/* what was there before does not shine through */
	memset(h, 0xff, sizeof(*h));
	svc2_call_header(h, vers, XID, 16);
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

	header_is(test, RPCRDMA2_VERS_ONE, want, ARRAY_SIZE(want));
}

static void c036_s25_call_in_version_two(struct kunit *test)
{
	static const u32 want[] = {
		XID, 2, 16, RDMA2_MSG, RDMA2_CALL, 0, 0, 0, 0
	};

	header_is(test, RPCRDMA2_VERS_TWO, want, ARRAY_SIZE(want));
}

static void c035_s20_s21_who_is_called(struct kunit *test)
{
	struct rpcrdma2_props props;

	KUNIT_EXPECT_FALSE(test, svc2_may_call(2, RDMA2_BKREQSUP_NONE));
	KUNIT_EXPECT_TRUE(test, svc2_may_call(1, RDMA2_BKREQSUP_NONE));
	KUNIT_EXPECT_TRUE(test, svc2_may_call(2, RDMA2_BKREQSUP_GENL));
	/* C-024: a peer that says nothing */
	rpcrdma2_props_default(&props);
	KUNIT_EXPECT_TRUE(test, svc2_may_call(2, props.pr_brs));
}

struct answer_case {
	const char	*desc;
	u32		called;		/* version of the Call */
	u32		vers;
	u32		proc;
	u32		code;		/* of an error */
	u32		verdict;
	u32		nwrites;
	u32		length;
	u32		want;
};

#define ROOM	1000

#define REPLY_IN(_called, _vers) \
	.called = _called, .vers = _vers, .proc = RDMA2_MSG, .length = 100
#define ERROR_IN(_called, _vers, _code) \
	.called = _called, .vers = _vers, .proc = RDMA2_ERROR, .code = _code

static const struct answer_case answer_cases[] = {
	{ "B-16 a Reply", REPLY_IN(1, 1), .want = SVC2_ANSWER_REPLY },
	{ "C-066 a Reply", REPLY_IN(2, 2), .want = SVC2_ANSWER_REPLY },
	{ "S35 version 1 for 2", REPLY_IN(2, 1), .want = SVC2_ANSWER_DROP },
	{ "S35 version 2 for 1", REPLY_IN(1, 2), .want = SVC2_ANSWER_DROP },
	{ "S35 before the Call", REPLY_IN(0, 2), .want = SVC2_ANSWER_DROP },
	{ "S35 a bad one in another version", REPLY_IN(2, 1),
	  .verdict = RDMA2_ERR_BAD_XDR, .want = SVC2_ANSWER_DROP },
	{ "S06 S07 S08 a bad one", REPLY_IN(2, 2),
	  .verdict = RDMA2_ERR_BAD_XDR, .want = SVC2_ANSWER_FAIL },
	{ "S07 NOMSG", .called = 2, .vers = 2, .proc = RDMA2_NOMSG,
	  .want = SVC2_ANSWER_FAIL },
	{ "C-036 with a Write list", REPLY_IN(2, 2), .nwrites = 1,
	  .want = SVC2_ANSWER_FAIL },
	{ "the largest", .called = 1, .vers = 1, .proc = RDMA2_MSG,
	  .length = ROOM, .want = SVC2_ANSWER_REPLY },
	{ "C-106 larger", .called = 1, .vers = 1, .proc = RDMA2_MSG,
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
	{ "S36 but a whole one", ERROR_IN(2, 1, RDMA2_ERR_VERS),
	  .verdict = RDMA2_ERR_BAD_XDR, .want = SVC2_ANSWER_DROP },
	{ "S07 a short error", ERROR_IN(2, 2, 0),
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
	if (ac->proc == RDMA2_ERROR)
		h->h_error.er_code = ac->code;
	KUNIT_EXPECT_EQ(test, svc2_judge_answer(msg, ac->called, ROOM),
			ac->want);
}

static struct kunit_case backchannel_cases[] = {
	KUNIT_CASE(b15_call_in_version_one),
	KUNIT_CASE(c036_s25_call_in_version_two),
	KUNIT_CASE(c035_s20_s21_who_is_called),
	KUNIT_CASE_PARAM(answers, answers_gen_params),
	{}
};

static struct kunit_suite backchannel_suite = {
	.name = "svcrdma2_backchannel",
	.test_cases = backchannel_cases,
};

kunit_test_suite(backchannel_suite);
