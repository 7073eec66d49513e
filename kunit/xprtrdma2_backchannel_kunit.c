// SPDX-License-Identifier: GPL-2.0
/*
 * The verdict on Calls of a server, and the errors for refused ones: xprt2_judge_backward()
 * and xprt2_refuse_backward() on complete messages.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <rpcrdma2/wire.h>

#include "../xprtrdma2/pure.h"
#include "util.h"

#define XID	0x0badcafe

/* Words behind the fixed part of a header */
#define NONE		0
#define SEGMENT		0x77, 64, 0, 0x1000
#define CALL		XID, RDMA2_CALL
#define WHOLE_CALL	CALL, 2, 0x40000000, 1, 1, 0, 0, 0, 0
#define REPLY		XID, RDMA2_REPLY
#define NO_LISTS	NONE, NONE, NONE

struct backward_case {
	const char	*desc;
	u32		proc;
	u32		words[32];
	unsigned int	nwords;
	u32		verdict;	/* verdict in both versions */
};

#define WORDS(...)	.words = { __VA_ARGS__ }, \
			.nwords = sizeof((u32[]){ __VA_ARGS__ }) / sizeof(u32)

static const struct backward_case backward_cases[] = {
	{ "B-15 S25 a Call without chunks is accepted", RDMA2_MSG,
	  WORDS(NO_LISTS, CALL), RDMA2_OK },
	{ "S23 with a Read chunk: READ_CHUNKS, at most 0", RDMA2_MSG,
	  WORDS(1, 40, SEGMENT, NONE, NONE, NONE, WHOLE_CALL),
	  RDMA2_ERR_READ_CHUNKS },
	{ "S23 with a Position-Zero chunk: READ_CHUNKS, at most 0", RDMA2_NOMSG,
	  WORDS(1, 0, SEGMENT, NONE, NONE, NONE),
	  RDMA2_ERR_READ_CHUNKS },
	{ "S23 with a Write chunk: WRITE_CHUNKS, at most 0", RDMA2_MSG,
	  WORDS(NONE, 1, 1, SEGMENT, NONE, NONE, CALL),
	  RDMA2_ERR_WRITE_CHUNKS },
	{ "S23 with both: READ_CHUNKS takes precedence", RDMA2_MSG,
	  WORDS(1, 40, SEGMENT, NONE, 1, 1, SEGMENT, NONE, NONE,
		WHOLE_CALL),
	  RDMA2_ERR_READ_CHUNKS },
	{ "S23 with a Reply chunk only: accepted", RDMA2_MSG,
	  WORDS(NONE, NONE, 1, 1, SEGMENT, CALL), RDMA2_OK },
	{ "S08 with another xid after the header: BAD_XDR", RDMA2_MSG,
	  WORDS(NO_LISTS, XID + 1, RDMA2_CALL), RDMA2_ERR_BAD_XDR },
	{ "S44 another xid and a Read chunk: BAD_XDR", RDMA2_MSG,
	  WORDS(1, 8, SEGMENT, NONE, NONE, NONE, XID + 1, RDMA2_CALL),
	  RDMA2_ERR_BAD_XDR },
	{ "S44 another xid and a Write chunk: BAD_XDR", RDMA2_MSG,
	  WORDS(NONE, 1, 1, SEGMENT, NONE, NONE, XID + 1, RDMA2_CALL),
	  RDMA2_ERR_BAD_XDR },
};

static void name_case(const struct backward_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(backward, backward_cases, name_case);

static struct rpcrdma2_msg *message(struct kunit *test,
				    const struct backward_case *c, u32 vers)
{
	struct words *m = words_new(test);
	unsigned int i;

	put(m, XID);
	put(m, vers);
	put(m, 1);
	put(m, c->proc);
	if (vers == RPCRDMA2_VERS_TWO) {
		put(m, RDMA2_CALL);
		put(m, 0);
	}
	for (i = 0; i < c->nwords; i++)
		put(m, c->words[i]);
	return read_message(test, m->word, words_len(m), 0);
}

static void same_verdict_in_both_versions(struct kunit *test)
{
	const struct backward_case *c = test->param_value;
	u32 vers;

	for (vers = RPCRDMA2_VERS_ONE; vers <= RPCRDMA2_VERS_TWO; vers++) {
		struct rpcrdma2_msg *msg = message(test, c, vers);
		enum rpcrdma2_errcode code =
			xprt2_judge_backward(msg, RDMA2_BKREQSUP_INLINE);
		struct rpcrdma2_hdr *h = &msg->mg_hdr;

		KUNIT_EXPECT_EQ(test, h->h_direction, RDMA2_CALL);
		KUNIT_EXPECT_EQ_MSG(test, (u32)code, c->verdict,
				    "version %u", vers);
		if (code == RDMA2_OK)
			continue;

		KUNIT_ASSERT_TRUE(test, xprt2_refuse_backward(h, code, 0, 0));
		h->h_credit = XPRT2_BACKWARD_CREDITS;
		KUNIT_EXPECT_TRUE(test, rpcrdma2_sendable(h));
		KUNIT_EXPECT_EQ(test, h->h_xid, XID);		/* C-076 */
		KUNIT_EXPECT_EQ(test, h->h_vers, vers);		/* S35 */
		KUNIT_EXPECT_EQ(test, h->h_error.er_code,
				vers == RPCRDMA2_VERS_ONE ?
				RDMA2_ERR_BAD_XDR : c->verdict);
		KUNIT_EXPECT_EQ(test, h->h_error.er_arg, 0);
	}
}

static const struct rpcrdma2_hdr simple_call = {
	.h_xid		= XID,
	.h_vers		= RPCRDMA2_VERS_TWO,
	.h_credit	= 1,
	.h_proc		= RDMA2_MSG,
	.h_direction	= RDMA2_CALL,
};

/*
 * S23 with more chunks than the decoder holds: the code names the first list of the header,
 * and the reported maximum is 0. A Reply chunk is not a list: only its length can be wrong,
 * and C-085 limits that.
 */
static const struct excess_case {
	const char	*desc;
	unsigned int	chunks;		/* Read chunks */
	unsigned int	read_segs;	/* per chunk */
	unsigned int	writes;		/* Write chunks */
	unsigned int	write_segs;	/* per chunk */
	unsigned int	reply_segs;
	u32		code;
	u32		arg;
	u32		genl;		/* code at GENL */
} excess_cases[] = {
	{ "S23 a Read chunk of 64 segments", 1, 64, 0, 0, 0,
	  RDMA2_ERR_READ_CHUNKS, 0, RDMA2_ERR_SEGMENTS },
	{ "S23 a Read chunk of 65 segments", 1, 65, 0, 0, 0,
	  RDMA2_ERR_READ_CHUNKS, 0, RDMA2_ERR_SEGMENTS },
	{ "S23 17 Read chunks", 17, 1, 0, 0, 0, RDMA2_ERR_READ_CHUNKS, 0,
	  RDMA2_ERR_READ_CHUNKS },
	{ "S23 a Write chunk of 65 segments", 0, 0, 1, 65, 0,
	  RDMA2_ERR_WRITE_CHUNKS, 0, RDMA2_ERR_SEGMENTS },
	{ "S23 9 Write chunks", 0, 0, 9, 1, 0, RDMA2_ERR_WRITE_CHUNKS, 0,
	  RDMA2_ERR_WRITE_CHUNKS },
	{ "S23 a Read chunk, and 9 Write chunks", 1, 1, 9, 1, 0,
	  RDMA2_ERR_READ_CHUNKS, 0, RDMA2_ERR_WRITE_CHUNKS },
	{ "S23 a Read chunk, and a Reply chunk of 65 segments", 1, 1, 0, 0, 65,
	  RDMA2_ERR_READ_CHUNKS, 0, RDMA2_ERR_SEGMENTS },
	{ "S23 a Write chunk, and a Reply chunk of 65 segments", 0, 0, 1, 1, 65,
	  RDMA2_ERR_WRITE_CHUNKS, 0, RDMA2_ERR_SEGMENTS },
	{ "S23 C-085 a Reply chunk of 65 segments", 0, 0, 0, 0, 65,
	  RDMA2_ERR_SEGMENTS, RPCRDMA2_MAX_SEGMENTS, RDMA2_ERR_SEGMENTS },
	{ "S44 C-083 3 Read chunks of 66 segments in all", 3, 22, 0, 0, 0,
	  RDMA2_ERR_READ_CHUNKS, 0, RDMA2_ERR_READ_CHUNKS },
	{ "S44 C-083 3 Read chunks, and 9 Write chunks", 3, 1, 9, 1, 0,
	  RDMA2_ERR_READ_CHUNKS, 0, RDMA2_ERR_READ_CHUNKS },
	{ "S44 C-084 3 Write chunks, and a Reply chunk of 65 segments", 0, 0, 3, 1, 65,
	  RDMA2_ERR_WRITE_CHUNKS, 0, RDMA2_ERR_WRITE_CHUNKS },
};

KUNIT_ARRAY_PARAM_DESC(excess, excess_cases, desc);

static void excess_of_lists(struct kunit *test)
{
	const struct excess_case *c = test->param_value;
	struct words *m = words_new(test);
	enum rpcrdma2_errcode code;
	struct rpcrdma2_msg *msg;
	struct rpcrdma2_hdr *h;
	unsigned int i, j;

	put_start(m, 2, RDMA2_MSG, RDMA2_CALL);
	for (i = 0; i < c->chunks; i++)
		for (j = 0; j < c->read_segs; j++)
			put_read(m, 40 + 4 * c->read_segs * i, 4);
	put(m, 0);
	for (i = 0; i < c->writes; i++) {
		put(m, 1);
		put_segments(m, c->write_segs);
	}
	put(m, 0);
	put(m, !!c->reply_segs);
	if (c->reply_segs)
		put_segments(m, c->reply_segs);
	put_payload(m, RDMA2_CALL, 40);

	msg = read_message(test, m->word, words_len(m), 0);
	KUNIT_EXPECT_EQ(test, xprt2_judge_backward(msg, RDMA2_BKREQSUP_NONE),
			RDMA2_ERR_SYSTEM);
	KUNIT_EXPECT_EQ(test, xprt2_judge_backward(msg, RDMA2_BKREQSUP_GENL), c->genl);
	code = xprt2_judge_backward(msg, RDMA2_BKREQSUP_INLINE);
	h = &msg->mg_hdr;

	KUNIT_EXPECT_EQ(test, code, c->code);
	KUNIT_ASSERT_TRUE(test, xprt2_refuse_backward(h, code, 0, 0));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sendable(h));
	KUNIT_EXPECT_EQ(test, h->h_error.er_code, c->code);
	KUNIT_EXPECT_EQ(test, h->h_error.er_arg, c->arg);
}

/* At GENL: the limits that the client has announced, and the code for an excess */
static const struct limit_case {
	const char	*desc;
	unsigned int	reads;
	unsigned int	writes;
	unsigned int	segs;		/* of the last chunk, or of the Reply chunk */
	u32		code;
	u32		arg;
} limit_cases[] = {
	{ "C-037 two Read chunks and two Write chunks of 8", 2, 2, 8, RDMA2_OK, 0 },
	{ "C-083 three Read chunks", 3, 3, 9, RDMA2_ERR_READ_CHUNKS, 2 },
	{ "C-084 three Write chunks", 2, 3, 9, RDMA2_ERR_WRITE_CHUNKS, 2 },
	{ "C-085 9 segments of a Read chunk", 1, 0, 9, RDMA2_ERR_SEGMENTS, 8 },
	{ "C-085 9 segments of the second Read chunk", 2, 0, 9,
	  RDMA2_ERR_SEGMENTS, 8 },
	{ "C-085 9 segments of a Write chunk", 0, 1, 9, RDMA2_ERR_SEGMENTS, 8 },
	{ "C-085 9 segments of the second Write chunk", 0, 2, 9,
	  RDMA2_ERR_SEGMENTS, 8 },
	{ "C-085 9 segments of a Reply chunk", 0, 0, 9, RDMA2_ERR_SEGMENTS, 8 },
};

KUNIT_ARRAY_PARAM_DESC(limits, limit_cases, desc);

static void limits(struct kunit *test)
{
	const struct limit_case *c = test->param_value;
	struct rpcrdma2_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	struct rpcrdma2_hdr *h = &msg->mg_hdr;
	enum rpcrdma2_errcode code;
	u32 limit;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	*h = simple_call;
	h->h_nreads = c->reads;
	h->h_nwrites = c->writes;
	h->h_has_reply = true;
	if (c->reads)
		h->h_reads[c->reads - 1].ck_nsegs = c->segs;
	else if (c->writes)
		h->h_writes[c->writes - 1].ck_nsegs = c->segs;
	else
		h->h_reply.ck_nsegs = c->segs;
	/* Stale chunks of another header */
	h->h_reads[c->reads].ck_nsegs = 99;
	h->h_writes[c->writes].ck_nsegs = 99;
	code = xprt2_judge_backward(msg, RDMA2_BKREQSUP_GENL);
	KUNIT_EXPECT_EQ(test, code, c->code);
	if (code == RDMA2_OK)
		return;
	limit = xprt2_backward_limit(RDMA2_BKREQSUP_GENL, code);
	KUNIT_ASSERT_TRUE(test, xprt2_refuse_backward(h, code, limit, 0));
	KUNIT_EXPECT_EQ(test, h->h_error.er_arg, c->arg);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sendable(h));
}

/* S24, B-06: the client has no service, or no free request */
static void s24_no_service(struct kunit *test)
{
	struct rpcrdma2_hdr h = simple_call;

	KUNIT_ASSERT_TRUE(test, xprt2_refuse_backward(&h, RDMA2_ERR_SYSTEM, 0, 0));
	KUNIT_EXPECT_EQ(test, h.h_error.er_code, RDMA2_ERR_SYSTEM);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sendable(&h));

	h = simple_call;
	h.h_vers = RPCRDMA2_VERS_ONE;
	KUNIT_EXPECT_FALSE(test, xprt2_refuse_backward(&h, RDMA2_ERR_SYSTEM, 0, 0));
}

/* C-037, 2.6: the limits in errors for a server that offers more; the maximum is 24 segments. */
static void limits_of_level(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, XPRT2_BACKWARD_PARTS, 24);
	KUNIT_EXPECT_EQ(test, xprt2_backward_limit(RDMA2_BKREQSUP_GENL,
						   RDMA2_ERR_READ_CHUNKS), 2);
	KUNIT_EXPECT_EQ(test, xprt2_backward_limit(RDMA2_BKREQSUP_GENL,
						   RDMA2_ERR_SYSTEM), 0);
	KUNIT_EXPECT_EQ(test, xprt2_backward_limit(RDMA2_BKREQSUP_INLINE,
						   RDMA2_ERR_READ_CHUNKS), 0);
	KUNIT_EXPECT_EQ(test, xprt2_backward_limit(RDMA2_BKREQSUP_INLINE,
						   RDMA2_ERR_SEGMENTS), 0);
}

/* E-10: an empty Write chunk counts as a chunk. */
static void detects_chunks(struct kunit *test)
{
	struct rpcrdma2_hdr h = simple_call;

	KUNIT_EXPECT_FALSE(test, xprt2_has_chunks(&h));
	h.h_nwrites = 1;
	KUNIT_EXPECT_TRUE(test, xprt2_has_chunks(&h));
	h.h_nwrites = 0;
	h.h_nsegs = 1;
	KUNIT_EXPECT_TRUE(test, xprt2_has_chunks(&h));
}

/* C-079: a version that neither end supports; the error has the complete range. */
static void c079_unknown_version(struct kunit *test)
{
	struct rpcrdma2_hdr h = simple_call;

	h.h_vers = 3;
	KUNIT_ASSERT_TRUE(test, xprt2_refuse_backward(&h, RDMA2_ERR_VERS, 1, 0));
	KUNIT_EXPECT_EQ(test, h.h_error.er_arg, 1);
	KUNIT_EXPECT_EQ(test, h.h_error.er_arg2, 2);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sendable(&h));
}

/* C-090, C-091: the error has the required length */
static void c091_reply_too_long(struct kunit *test)
{
	struct rpcrdma2_hdr h = simple_call;

	KUNIT_ASSERT_TRUE(test, xprt2_refuse_backward(&h, RDMA2_ERR_REPLY_RESOURCE, 4096, 0));
	KUNIT_EXPECT_EQ(test, h.h_error.er_code, RDMA2_ERR_REPLY_RESOURCE);
	KUNIT_EXPECT_EQ(test, h.h_error.er_arg, 4096);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sendable(&h));
}

/* S31, S38: a message that the decoder drops gets no answer */
static void s38_no_answer(struct kunit *test)
{
	struct rpcrdma2_hdr h = simple_call;

	KUNIT_EXPECT_FALSE(test, xprt2_refuse_backward(&h, RDMA2_DROP, 0, 0));
}

/* B-04: neither direction uses the Receives of the other */
static void receives_shared(struct kunit *test)
{
	u32 calls = 0;

	/*
	 * C-097: the server may make one Call without a grant; the client's share is
	 * complete.
	 */
	KUNIT_EXPECT_EQ(test, xprt2_share_receives(6, 64, 0, &calls), 4);
	KUNIT_EXPECT_EQ(test, calls, 1);
	/* The Receives suffice only for this Call of the server. */
	KUNIT_EXPECT_EQ(test, xprt2_share_receives(3, 1, 0, &calls), 1);
	KUNIT_EXPECT_EQ(test, calls, 1);
	KUNIT_EXPECT_EQ(test, xprt2_share_receives(1, 64, 16, &calls), 1);
	KUNIT_EXPECT_EQ(test, calls, 1);
	/* Both directions get half of them, for any grant of the client. */
	KUNIT_EXPECT_EQ(test, xprt2_share_receives(42, 1, 256, &calls), 1);
	KUNIT_EXPECT_EQ(test, calls, 20);
	KUNIT_EXPECT_EQ(test, xprt2_share_receives(42, 64, 256, &calls), 20);
	KUNIT_EXPECT_EQ(test, calls, 20);
	/* The server may use its grant, so the grant does not decrease. */
	KUNIT_EXPECT_EQ(test, xprt2_share_receives(12, 64, 256, &calls), 1);
	KUNIT_EXPECT_EQ(test, calls, 20);
	/* Receives for both directions */
	KUNIT_EXPECT_EQ(test, xprt2_share_receives(322, 64, 256, &calls), 64);
	KUNIT_EXPECT_EQ(test, calls, 256);
}

/* S56: the actual grant is the limit, not the grant with sufficient Receives */
static void s56_checked_against_grant(struct kunit *test)
{
	u32 calls = RPCRDMA2_CREDIT_INITIAL;

	KUNIT_EXPECT_TRUE(test, xprt2_is_granted(0, calls));
	KUNIT_EXPECT_FALSE(test, xprt2_is_granted(1, calls));
	xprt2_share_receives(42, 64, 256, &calls);
	KUNIT_EXPECT_TRUE(test, xprt2_is_granted(19, calls));
	KUNIT_EXPECT_FALSE(test, xprt2_is_granted(20, calls));
	KUNIT_EXPECT_FALSE(test, xprt2_is_granted(255, calls));
	/* The Calls under way were granted. */
	xprt2_share_receives(12, 64, 256, &calls);
	KUNIT_EXPECT_TRUE(test, xprt2_is_granted(19, calls));
	xprt2_share_receives(322, 64, 256, &calls);
	KUNIT_EXPECT_TRUE(test, xprt2_is_granted(255, calls));
	KUNIT_EXPECT_FALSE(test, xprt2_is_granted(256, calls));
}

static struct kunit_case backchannel_cases[] = {
	KUNIT_CASE_PARAM(same_verdict_in_both_versions, backward_gen_params),
	KUNIT_CASE_PARAM(excess_of_lists, excess_gen_params),
	KUNIT_CASE_PARAM(limits, limits_gen_params),
	KUNIT_CASE(limits_of_level),
	KUNIT_CASE(detects_chunks),
	KUNIT_CASE(s24_no_service),
	KUNIT_CASE(c079_unknown_version),
	KUNIT_CASE(c091_reply_too_long),
	KUNIT_CASE(s38_no_answer),
	KUNIT_CASE(receives_shared),
	KUNIT_CASE(s56_checked_against_grant),
	{}
};

static struct kunit_suite backchannel_suite = {
	.name = "xprtrdma2_backchannel",
	.test_cases = backchannel_cases,
};

kunit_test_suite(backchannel_suite);
