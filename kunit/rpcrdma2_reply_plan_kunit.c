// SPDX-License-Identifier: GPL-2.0
/*
 * The transfer of a Reply: rpcrdma2_plan_reply() against a table.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <rpcrdma2/plan.h>

#define SEND_MAX	RPCRDMA2_INLINE_DEFAULT
#define HDR		RPCRDMA2_HDR_MIN
#define INLINE_MAX	(SEND_MAX - HDR)

/* Lengths of the Write chunks; NOSEGS is a chunk without segments. */
#define NOSEGS		0xffffffff
#define CHUNKS(...)	.nwrites = sizeof((u32[]){ __VA_ARGS__ }) / sizeof(u32), \
			.writes = { __VA_ARGS__ }
#define RESULTS(_n, ...) .nresults = (_n), .results = { __VA_ARGS__ }

struct plan_case {
	const char		*desc;
	u32			length;
	unsigned int		nresults;
	struct rpcrdma2_range	results[RPCRDMA2_MAX_WRITE_CHUNKS];
	unsigned int		nwrites;
	u32			writes[RPCRDMA2_MAX_WRITE_CHUNKS];
	bool			has_reply;
	u32			reply;
	u32			hdrlen;		/* 0: HDR */
	u32			send_max;	/* 0: SEND_MAX */
	struct rpcrdma2_reply_plan	want;
};

static const struct plan_case plan_cases[] = {
	{ "C-031 a Reply that just fits goes inline", .length = INLINE_MAX,
	  .want = { .pn_len = INLINE_MAX, .pn_nrest = 1,
		    .pn_rest = { { 0, INLINE_MAX } } } },
	{ "C-031 also if a Reply chunk is offered", .length = INLINE_MAX,
	  .has_reply = true, .reply = 65536,
	  .want = { .pn_len = INLINE_MAX, .pn_nrest = 1,
		    .pn_rest = { { 0, INLINE_MAX } } } },
	{ "C-031 four bytes more go in the Reply chunk",
	  .length = INLINE_MAX + 4, .has_reply = true, .reply = INLINE_MAX + 4,
	  .want = { .pn_reply_chunk = true, .pn_len = INLINE_MAX + 4, .pn_nrest = 1,
		    .pn_rest = { { 0, INLINE_MAX + 4 } } } },
	{ "C-090 C-091 without a Reply chunk it gets code 8",
	  .length = INLINE_MAX + 4,
	  .want = { .pn_code = RDMA2_ERR_REPLY_RESOURCE,
		    .pn_arg = INLINE_MAX + 4, .pn_reply_chunk = true,
		    .pn_len = INLINE_MAX + 4, .pn_nrest = 1,
		    .pn_rest = { { 0, INLINE_MAX + 4 } } } },
	{ "C-090 with a Reply chunk that is a byte too short it gets code 8",
	  .length = INLINE_MAX + 4, .has_reply = true, .reply = INLINE_MAX + 3,
	  .want = { .pn_code = RDMA2_ERR_REPLY_RESOURCE,
		    .pn_arg = INLINE_MAX + 4, .pn_reply_chunk = true,
		    .pn_len = INLINE_MAX + 4, .pn_nrest = 1,
		    .pn_rest = { { 0, INLINE_MAX + 4 } } } },

	{ "E-11 a result goes in its chunk although it fits inline",
	  .length = 104, RESULTS(1, { 100, 4 }), CHUNKS(4),
	  .want = { .pn_len = 100, .pn_nrest = 1, .pn_rest = { { 0, 100 } },
		    .pn_writes = { { 100, 4 } } } },
	{ "E-08 the padding of a result is not sent", .length = 208,
	  RESULTS(1, { 100, 5 }), CHUNKS(8),
	  .want = { .pn_len = 200, .pn_nrest = 2,
		    .pn_rest = { { 0, 100 }, { 108, 100 } },
		    .pn_writes = { { 100, 5 } } } },
	{ "E-09 a chunk without room for the padding suffices", .length = 108,
	  RESULTS(1, { 100, 5 }), CHUNKS(5),
	  .want = { .pn_len = 100, .pn_nrest = 1, .pn_rest = { { 0, 100 } },
		    .pn_writes = { { 100, 5 } } } },
	{ "E-10 results go to the chunks in order",
	  .length = 332, RESULTS(2, { 100, 13 }, { 216, 14 }), CHUNKS(20, 16),
	  .want = { .pn_len = 300, .pn_nrest = 3,
		    .pn_rest = { { 0, 100 }, { 116, 100 }, { 232, 100 } },
		    .pn_writes = { { 100, 13 }, { 216, 14 } } } },
	{ "E-12 chunks without a result stay unused", .length = 40,
	  CHUNKS(4096, 4096),
	  .want = { .pn_len = 40, .pn_nrest = 1, .pn_rest = { { 0, 40 } } } },
	{ "E-28 results without a chunk go inline", .length = 232,
	  RESULTS(2, { 100, 16 }, { 216, 16 }), CHUNKS(16),
	  .want = { .pn_len = 216, .pn_nrest = 2,
		    .pn_rest = { { 0, 100 }, { 116, 116 } },
		    .pn_writes = { { 100, 16 } } } },
	{ "S10 the result for a chunk without segments goes inline",
	  .length = 232, RESULTS(2, { 100, 16 }, { 216, 16 }),
	  CHUNKS(NOSEGS, 16),
	  .want = { .pn_len = 216, .pn_nrest = 1, .pn_rest = { { 0, 216 } },
		    .pn_writes = { { 0, 0 }, { 216, 16 } } } },
	{ "E-10 an empty result consumes its chunk", .length = 132,
	  RESULTS(2, { 100, 0 }, { 116, 16 }), CHUNKS(16, 16),
	  .want = { .pn_len = 116, .pn_nrest = 1, .pn_rest = { { 0, 116 } },
		    .pn_writes = { { 0, 0 }, { 116, 16 } } } },

	{ "C-086 C-088 a chunk that is a byte too short gets code 7",
	  .length = 116, RESULTS(1, { 100, 16 }), CHUNKS(15),
	  .want = { .pn_code = RDMA2_ERR_WRITE_RESOURCE, .pn_arg = 1,
		    .pn_arg2 = 16 } },
	{ "C-087 the second chunk is number 2", .length = 132,
	  RESULTS(2, { 100, 4 }, { 108, 24 }), CHUNKS(16, 23),
	  .want = { .pn_code = RDMA2_ERR_WRITE_RESOURCE, .pn_arg = 2,
		    .pn_arg2 = 24, .pn_len = 100, .pn_nrest = 1,
		    .pn_rest = { { 0, 100 } },
		    .pn_writes = { { 100, 4 } } } },
	{ "C-031 the rest fits after a result went to a Write chunk",
	  .length = 100 + 65536, RESULTS(1, { 100, 65536 }), CHUNKS(65536),
	  .want = { .pn_len = 100, .pn_nrest = 1, .pn_rest = { { 0, 100 } },
		    .pn_writes = { { 100, 65536 } } } },
	{ "E-14 version 1 at 1024 bytes, a Reply that just fits",
	  .length = 996, .hdrlen = 28, .send_max = 1024,
	  .want = { .pn_len = 996, .pn_nrest = 1, .pn_rest = { { 0, 996 } } } },
	{ "E-14 version 1 at 1024 bytes, four bytes more", .length = 1000,
	  .hdrlen = 28, .send_max = 1024,
	  .want = { .pn_code = RDMA2_ERR_REPLY_RESOURCE, .pn_arg = 1000,
		    .pn_reply_chunk = true, .pn_len = 1000, .pn_nrest = 1,
		    .pn_rest = { { 0, 1000 } } } },
	{ "C-001 the Write list counts in the header",
	  .length = INLINE_MAX, .hdrlen = HDR + 24,
	  .has_reply = true, .reply = INLINE_MAX,
	  .want = { .pn_reply_chunk = true, .pn_len = INLINE_MAX, .pn_nrest = 1,
		    .pn_rest = { { 0, INLINE_MAX } } } },
	{ "E-28 more results than chunks, and the last one ends the Reply",
	  .length = 132, RESULTS(2, { 100, 16 }, { 116, 16 }), CHUNKS(16),
	  .want = { .pn_len = 116, .pn_nrest = 2,
		    .pn_rest = { { 0, 100 }, { 116, 16 } },
		    .pn_writes = { { 100, 16 } } } },
	{ "E-12 results beyond the count are ignored",
	  .length = 232, RESULTS(1, { 100, 16 }, { 132, 16 }), CHUNKS(16, 16),
	  .want = { .pn_len = 216, .pn_nrest = 2,
		    .pn_rest = { { 0, 100 }, { 116, 116 } },
		    .pn_writes = { { 100, 16 } } } },
	{ "E-10 eight results in eight chunks, with other data between",
	  .length = 68,
	  RESULTS(8, { 4, 4 }, { 12, 4 }, { 20, 4 }, { 28, 4 }, { 36, 4 },
		  { 44, 4 }, { 52, 4 }, { 60, 4 }),
	  CHUNKS(4, 4, 4, 4, 4, 4, 4, 4),
	  .want = { .pn_len = 36, .pn_nrest = 9,
		    .pn_rest = { { 0, 4 }, { 8, 4 }, { 16, 4 }, { 24, 4 },
				 { 32, 4 }, { 40, 4 }, { 48, 4 }, { 56, 4 },
				 { 64, 4 } },
		    .pn_writes = { { 4, 4 }, { 12, 4 }, { 20, 4 }, { 28, 4 },
				   { 36, 4 }, { 44, 4 }, { 52, 4 },
				   { 60, 4 } } } },
	{ "E-10 a Reply that begins with its result", .length = 16,
	  RESULTS(1, { 0, 16 }), CHUNKS(16),
	  .want = { .pn_writes = { { 0, 16 } } } },
	{ "E-06 if the rest does not fit, Write and Reply chunks are used",
	  .length = 5000 + 65536, RESULTS(1, { 100, 65536 }), CHUNKS(65536),
	  .has_reply = true, .reply = 5000,
	  .want = { .pn_reply_chunk = true, .pn_len = 5000, .pn_nrest = 2,
		    .pn_rest = { { 0, 100 }, { 65636, 4900 } },
		    .pn_writes = { { 100, 65536 } } } },
};

KUNIT_ARRAY_PARAM_DESC(plan, plan_cases, desc);

static void plan_reply(struct kunit *test)
{
	const struct plan_case *pc = test->param_value;
	struct rpcrdma2_hdr *h;
	struct rpcrdma2_reply_plan plan;
	unsigned int i;

	h = kunit_kmalloc(test, sizeof(*h), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, h);
	/*
	 * Behind the counted chunks lie stale chunks of an earlier Call, large enough for
	 * any Reply.
	 */
	memset(h, 0xff, sizeof(*h));
	memset(&plan, 0xff, sizeof(plan));
	h->h_nwrites = pc->nwrites;
	for (i = 0; i < pc->nwrites; i++) {
		if (pc->writes[i] == NOSEGS) {
			h->h_writes[i].ck_nsegs = 0;
			h->h_writes[i].ck_length = 0;
			continue;
		}
		h->h_writes[i].ck_nsegs = 1;
		h->h_writes[i].ck_length = pc->writes[i];
	}
	h->h_has_reply = pc->has_reply;
	if (pc->has_reply)
		h->h_reply.ck_length = pc->reply;

	rpcrdma2_plan_reply(&plan, h, pc->results, pc->nresults, pc->length,
			    pc->hdrlen ?: HDR, pc->send_max ?: SEND_MAX);

	KUNIT_EXPECT_EQ(test, plan.pn_code, pc->want.pn_code);
	KUNIT_EXPECT_EQ(test, plan.pn_arg, pc->want.pn_arg);
	KUNIT_EXPECT_EQ(test, plan.pn_arg2, pc->want.pn_arg2);
	KUNIT_EXPECT_EQ(test, plan.pn_reply_chunk, pc->want.pn_reply_chunk);
	KUNIT_EXPECT_EQ(test, plan.pn_send_max, pc->send_max ?: SEND_MAX);
	KUNIT_EXPECT_EQ(test, plan.pn_gather, 0);
	KUNIT_EXPECT_EQ(test, plan.pn_len, pc->want.pn_len);
	KUNIT_EXPECT_EQ(test, plan.pn_nrest, pc->want.pn_nrest);
	KUNIT_EXPECT_MEMEQ(test, plan.pn_rest, pc->want.pn_rest,
			   sizeof(plan.pn_rest));
	KUNIT_EXPECT_MEMEQ(test, plan.pn_writes, pc->want.pn_writes,
			   sizeof(plan.pn_writes));
}

static struct kunit_case plan_kunit_cases[] = {
	KUNIT_CASE_PARAM(plan_reply, plan_gen_params),
	{ }
};

static struct kunit_suite plan_suite = {
	.name		= "rpcrdma2_reply_plan",
	.test_cases	= plan_kunit_cases,
};

kunit_test_suite(plan_suite);
