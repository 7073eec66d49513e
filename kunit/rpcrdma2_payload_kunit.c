// SPDX-License-Identifier: GPL-2.0
/*
 * Valid messages with a single fault: the verdict, and the direction.
 */
#include <kunit/test.h>

#include <rpcrdma2/wire.h>

#include "util.h"
#include <vectors.h>

/**
 * struct mutation - a vector with changes
 * @desc: requirement, claim
 * @data: original vector
 * @len: number of bytes kept
 * @edits: word numbers and new values; a word number of 0 ends the list
 * @verdict: expected verdict
 * @direction: expected direction
 */
struct mutation {
	const char		*desc;
	const u8		*data;
	size_t			len;
	struct {
		unsigned int	word;
		u32		value;
	} edits[4];
	enum rpcrdma2_errcode	verdict;
	u32			direction;
};

#define WHOLE(_v)	.data = _v, .len = sizeof(_v)
#define CUT(_v, _len)	.data = _v, .len = (_len)
#define CALL(_verdict)	.verdict = _verdict, .direction = RDMA2_CALL
#define REPLY(_verdict)	.verdict = _verdict, .direction = RDMA2_REPLY
#define NODIR(_verdict)	.verdict = _verdict, .direction = RDMA2_NODIR
#define BAD		RDMA2_ERR_BAD_XDR

static const struct mutation mutations[] = {
	/* The prefix */
	{ "S31 a Call truncated to 12 bytes is dropped",
	  CUT(v01, 12), .verdict = RDMA2_DROP, .direction = RDMA2_NODIR },
	{ "S31 an error truncated to 12 bytes is dropped",
	  CUT(v10, 12), .verdict = RDMA2_DROP, .direction = RDMA2_NODIR },
	{ "C-079 version 3 gets VERS",
	  WHOLE(v01), { { 1, 3 } }, NODIR(RDMA2_ERR_VERS) },
	{ "C-079 version 0 gets VERS",
	  WHOLE(v19), { { 1, 0 } }, NODIR(RDMA2_ERR_VERS) },
	{ "C-079 version 0xffffffff gets VERS, even in 16 bytes",
	  CUT(v01, 16), { { 1, U32_MAX } }, NODIR(RDMA2_ERR_VERS) },
	{ "S36 VERS is accepted in version 1",
	  WHOLE(v09), { { 1, 1 } }, REPLY(RDMA2_OK) },
	{ "S36 VERS is accepted in version 2",
	  WHOLE(v09), { { 1, 2 } }, REPLY(RDMA2_OK) },
	{ "S38 another error of an unknown version is dropped",
	  WHOLE(v10), { { 1, 3 } }, REPLY(RDMA2_DROP) },
	{ "S38 truncated VERS of an unknown version is dropped",
	  CUT(v09, 24), REPLY(RDMA2_DROP) },
	{ "C-080 proc 2 gets INVALID_PROC",
	  WHOLE(v01), { { 3, 2 } }, NODIR(RDMA2_ERR_INVALID_PROC) },
	{ "C-080 proc 3 gets INVALID_PROC",
	  WHOLE(v01), { { 3, 3 } }, NODIR(RDMA2_ERR_INVALID_PROC) },
	{ "C-080 V19 with proc 10 gets INVALID_PROC",
	  WHOLE(v19), { { 3, 10 } }, NODIR(RDMA2_ERR_INVALID_PROC) },
	{ "C-080 proc 0xffffffff gets INVALID_PROC",
	  WHOLE(v01), { { 3, U32_MAX } }, NODIR(RDMA2_ERR_INVALID_PROC) },

	/* Direction and payload */
	{ "S06 a direction of 2 is undefined",
	  WHOLE(v01), { { 4, 2 } }, NODIR(BAD) },
	{ "S06 a direction of 0xffffffff is undefined",
	  WHOLE(v01), { { 4, U32_MAX } }, NODIR(BAD) },
	{ "S06 REPLY before msg_type CALL is a bad Reply",
	  WHOLE(v01), { { 4, 1 } }, REPLY(BAD) },
	{ "S06 CALL before msg_type REPLY gets BAD_XDR",
	  WHOLE(v01), { { 10, 1 } }, CALL(BAD) },
	{ "S06 CALL before msg_type 2 gets BAD_XDR",
	  WHOLE(v01), { { 10, 2 } }, CALL(BAD) },
	{ "S07 a Call without its RPC message gets BAD_XDR",
	  CUT(v01, 36), CALL(BAD) },
	{ "S07 7 bytes of payload get BAD_XDR",
	  CUT(v01, 43), CALL(BAD) },
	{ "S07 8 bytes of payload are enough for the transport",
	  CUT(v01, 44), CALL(RDMA2_OK) },
	{ "S07 a Reply without its RPC message is bad",
	  CUT(v08, 36), REPLY(BAD) },
	{ "S07 a Reply with 8 bytes of payload is good",
	  CUT(v08, 44), REPLY(RDMA2_OK) },
	{ "S08 a Call with two xids gets BAD_XDR",
	  WHOLE(v01), { { 9, 1 } }, CALL(BAD) },
	{ "S08 a Reply with two xids is bad",
	  WHOLE(v08), { { 9, 1 } }, REPLY(BAD) },

	/* Read chunks */
	{ "S07 E-05 Position-Zero in a MSG Call gets BAD_XDR",
	  WHOLE(v02), { { 7, 0 }, { 13, 0 } }, CALL(BAD) },
	{ "S09 an empty Position-Zero segment in a MSG Call is ignored",
	  WHOLE(v02), { { 7, 0 }, { 9, 0 } }, CALL(RDMA2_OK) },
	{ "S09 position 70 is within the Call, and misaligned",
	  WHOLE(v02), { { 7, 70 }, { 13, 70 } }, CALL(BAD) },
	{ "S09 position 69 is within the Call, and misaligned",
	  WHOLE(v02), { { 7, 69 }, { 13, 69 } }, CALL(BAD) },
	{ "S09 position 72 is the end of the Call",
	  WHOLE(v02), { { 7, 72 }, { 13, 72 } }, CALL(RDMA2_OK) },
	{ "S09 position 76 is past the end of the Call",
	  WHOLE(v02), { { 7, 76 }, { 13, 76 } }, CALL(BAD) },
	{ "S09 position 68 is within the Call",
	  WHOLE(v02), { { 7, 68 }, { 13, 68 } }, CALL(RDMA2_OK) },
	{ "S09 position 0xfffffffc is past the end",
	  WHOLE(v02), { { 7, 0xfffffffc }, { 13, 0xfffffffc } }, CALL(BAD) },
	{ "S06 position 4 would hide msg_type",
	  WHOLE(v02), { { 7, 4 }, { 13, 4 } }, CALL(BAD) },
	{ "S09 position 40, after the verifier, is the lowest valid one",
	  WHOLE(v02), { { 7, 40 }, { 13, 40 } }, CALL(RDMA2_OK) },
	{ "S09 position 36 is in the verifier",
	  WHOLE(v02), { { 7, 36 }, { 13, 36 } }, CALL(BAD) },
	{ "S09 position 32 is between credential and verifier",
	  WHOLE(v02), { { 7, 32 }, { 13, 32 } }, CALL(BAD) },
	{ "S09 position 8 is in the fixed part of the RPC header",
	  WHOLE(v02), { { 7, 8 }, { 13, 8 } }, CALL(BAD) },
	{ "S09 a credential of 20 bytes: position 60 is after the header",
	  WHOLE(v02), { { 28, 20 }, { 7, 60 }, { 13, 60 } }, CALL(RDMA2_OK) },
	{ "S09 a credential of 17 bytes is padded: position 60 is after the header",
	  WHOLE(v02), { { 28, 17 }, { 7, 60 }, { 13, 60 } }, CALL(RDMA2_OK) },
	{ "S09 a credential of 17 bytes is padded: position 56 is in the header",
	  WHOLE(v02), { { 28, 17 }, { 7, 56 }, { 13, 56 } }, CALL(BAD) },
	{ "S09 a credential that ends with the message has no verifier",
	  WHOLE(v02), { { 28, 40 } }, CALL(BAD) },
	{ "S09 a credential of 404 bytes is invalid",
	  WHOLE(v02), { { 28, 404 } }, CALL(BAD) },
	{ "S09 a credential of 0xffffffff bytes is invalid",
	  WHOLE(v02), { { 28, 0xffffffff } }, CALL(BAD) },
	{ "S09 a verifier of 28 bytes: position 68 is after the header",
	  WHOLE(v02), { { 30, 28 }, { 7, 68 }, { 13, 68 } }, CALL(RDMA2_OK) },
	{ "S09 a verifier of 32 bytes: position 68 is in the header",
	  WHOLE(v02), { { 30, 32 }, { 7, 68 }, { 13, 68 } }, CALL(BAD) },
	{ "S09 a verifier of 0xfffffffd bytes is invalid",
	  WHOLE(v02), { { 30, 0xfffffffd } }, CALL(BAD) },
	{ "S09 without Read chunks only the RPC layer checks the RPC header",
	  WHOLE(v01), { { 16, 404 } }, CALL(RDMA2_OK) },
	{ "S09 two adjacent chunks",
	  WHOLE(v02), { { 7, 68 }, { 13, 68 + 8192 } }, CALL(RDMA2_OK) },
	{ "S09 two chunks, in descending order",
	  WHOLE(v02), { { 7, 68 + 4096 }, { 13, 68 } }, CALL(RDMA2_OK) },
	{ "S09 the second chunk at the end of the reduced message",
	  WHOLE(v02), { { 7, 68 }, { 13, 72 + 8192 } }, CALL(RDMA2_OK) },
	{ "S09 the second chunk past the end of the reduced message",
	  WHOLE(v02), { { 7, 68 }, { 13, 76 + 8192 } }, CALL(BAD) },
	{ "S09 the second chunk starts inside the first",
	  WHOLE(v02), { { 7, 68 }, { 13, 64 + 8192 } }, CALL(BAD) },
	{ "S09 E-07 the padding of the first chunk counts",
	  WHOLE(v02), { { 7, 68 }, { 9, 8189 }, { 13, 68 + 8192 } },
	  CALL(RDMA2_OK) },
	{ "S09 E-07 the second chunk may start after the padding",
	  WHOLE(v02), { { 7, 68 }, { 9, 8189 }, { 13, 72 + 8192 } },
	  CALL(RDMA2_OK) },
	{ "S09 E-07 the second chunk may not start before the padding",
	  WHOLE(v02), { { 7, 68 }, { 9, 8189 }, { 13, 68 + 8188 } },
	  CALL(BAD) },
	{ "S05 lengths of one chunk that add up to 2^32 get BAD_XDR",
	  WHOLE(v02), { { 9, 0xfffff000 } }, CALL(BAD) },
	{ "S05 lengths of one chunk that add up to 2^32 - 1 are accepted",
	  WHOLE(v02), { { 9, 0xffffefff } }, CALL(RDMA2_OK) },
	{ "S05 a discriminator of 2 gets BAD_XDR",
	  WHOLE(v02), { { 6, 2 } }, CALL(BAD) },
	{ "S05 a discriminator of 0xffffffff gets BAD_XDR",
	  WHOLE(v02), { { 12, U32_MAX } }, CALL(BAD) },
	{ "S47 a nominated handle that the Call does not contain is accepted",
	  WHOLE(v02), { { 5, 0x11111111 } }, CALL(RDMA2_OK) },
	{ "S07 NOMSG without Position-Zero gets BAD_XDR",
	  WHOLE(v03), { { 7, 72 }, { 13, 72 } }, CALL(BAD) },
	{ "S07 NOMSG with empty segments only gets BAD_XDR",
	  WHOLE(v03), { { 9, 0 }, { 15, 0 } }, CALL(BAD) },
	{ "S07 NOMSG whose RPC message has 7 bytes gets BAD_XDR",
	  WHOLE(v03), { { 9, 3 }, { 15, 4 } }, CALL(BAD) },
	{ "S07 NOMSG whose RPC message has 8 bytes is accepted",
	  WHOLE(v03), { { 9, 4 }, { 15, 4 } }, CALL(RDMA2_OK) },
	{ "E-04 NOMSG with a second chunk inside the RPC message",
	  WHOLE(v03), { { 13, 72 } }, CALL(RDMA2_OK) },
	{ "E-04 NOMSG with a second chunk at the end of the RPC message",
	  WHOLE(v03), { { 13, 4096 } }, CALL(RDMA2_OK) },
	{ "E-04 S09 NOMSG with a second chunk within any RPC header",
	  WHOLE(v03), { { 13, 36 } }, CALL(BAD) },
	{ "E-04 S09 NOMSG with a second chunk past the end of the RPC message",
	  WHOLE(v03), { { 13, 4100 } }, CALL(BAD) },
	{ "E-22 a Reply with a Read list is bad",
	  WHOLE(v02), { { 4, 1 }, { 22, 1 } }, REPLY(BAD) },

	/* Write and Reply chunks */
	{ "S05 after a count of 0 a handle is decoded as a discriminator",
	  WHOLE(v04), { { 8, 0 } }, CALL(BAD) },
	{ "S05 C-106 a count of 0x40000001 gets BAD_XDR",
	  WHOLE(v04), { { 8, 0x40000001 } }, CALL(BAD) },
	{ "S05 C-106 a count of 0xffffffff gets BAD_XDR",
	  WHOLE(v04), { { 8, U32_MAX } }, CALL(BAD) },
	{ "S05 a count that is too high by 1 runs into the payload",
	  WHOLE(v04), { { 8, 4 } }, CALL(BAD) },
	{ "S05 lengths of a Write chunk that add up to 2^32 get BAD_XDR",
	  WHOLE(v04), { { 10, 0xffffe000 } }, CALL(BAD) },
	{ "S05 a Write list discriminator of 2 gets BAD_XDR",
	  WHOLE(v04), { { 7, 2 } }, CALL(BAD) },
	{ "S05 a Reply chunk discriminator of 2 gets BAD_XDR",
	  WHOLE(v01), { { 8, 2 } }, CALL(BAD) },
	{ "S07 NOMSG Reply without a Reply chunk is bad",
	  WHOLE(v08), { { 3, 1 } }, REPLY(BAD) },
	{ "S10 NOMSG Reply with an unused Reply chunk is bad",
	  WHOLE(v06), { { 11, 0 }, { 15, 0 } }, REPLY(BAD) },
	{ "S07 NOMSG Reply of 1 byte is bad",
	  WHOLE(v06), { { 11, 1 }, { 15, 0 } }, REPLY(BAD) },
	{ "S07 NOMSG Reply of 7 bytes is bad",
	  WHOLE(v06), { { 11, 4 }, { 15, 3 } }, REPLY(BAD) },
	{ "S07 NOMSG Reply of 8 bytes is good",
	  WHOLE(v06), { { 11, 4 }, { 15, 4 } }, REPLY(RDMA2_OK) },
	{ "S07 NOMSG Reply of 8 bytes, after an empty segment",
	  WHOLE(v06), { { 11, 0 }, { 15, 8 } }, REPLY(RDMA2_OK) },
	{ "E-06 MSG Reply that uses a Reply chunk is bad",
	  WHOLE(v06), { { 3, 0 } }, REPLY(BAD) },
	{ "C-066 NOMSG Reply with the direction of a Call gets BAD_XDR",
	  WHOLE(v06), { { 4, 0 } }, CALL(BAD) },

	/* Errors, options, properties */
	{ "S43 an unknown code is accepted",
	  WHOLE(v10), { { 4, 11 } }, REPLY(RDMA2_OK) },
	{ "S43 an unknown code is accepted with any arguments",
	  WHOLE(v16), { { 4, U32_MAX } }, REPLY(RDMA2_OK) },
	{ "C-062 an error without a code is bad",
	  CUT(v10, 16), REPLY(BAD) },
	{ "C-091 REPLY_RESOURCE without its length is bad",
	  CUT(v16, 20), REPLY(BAD) },
	{ "C-087 WRITE_RESOURCE without its length is bad",
	  CUT(v15, 24), REPLY(BAD) },
	{ "S39 an option of direction 2 is discarded",
	  WHOLE(v24), { { 4, 2 } }, NODIR(RDMA2_DROP) },
	{ "S39 an option of direction 2 that ends there is discarded",
	  CUT(v24, 20), { { 4, 2 } }, NODIR(RDMA2_DROP) },
	{ "C-016 an option longer than the message gets BAD_XDR",
	  WHOLE(v24), { { 6, 9 } }, CALL(BAD) },
	{ "C-106 an option of 0xffffffff bytes gets BAD_XDR",
	  WHOLE(v24), { { 6, U32_MAX } }, CALL(BAD) },
	{ "S39 a bad option in a Reply gets no answer",
	  WHOLE(v24), { { 4, 1 }, { 6, 9 } }, REPLY(BAD) },
	{ "S38 RESPROP as an option is a Reply, even with direction CALL",
	  WHOLE(v24), { { 5, 3 } }, REPLY(RDMA2_OK) },
	{ "S52 CONNPROP as an option is a Call, even with direction REPLY",
	  WHOLE(v26), { { 4, 1 } }, CALL(RDMA2_OK) },
	{ "S52 REQPROP as an option is a Call, even with direction REPLY",
	  WHOLE(v24), { { 4, 1 }, { 5, 2 } }, CALL(RDMA2_OK) },
	{ "S52 UPDPROP as an option is a Call, even with direction REPLY",
	  WHOLE(v24), { { 4, 1 }, { 5, 4 } }, CALL(RDMA2_OK) },
	{ "S52 a bad UPDPROP as an option is answered",
	  WHOLE(v24), { { 4, 1 }, { 5, 4 }, { 6, 9 } }, CALL(BAD) },
	{ "S39 S52 opttype 5 is not a property message",
	  WHOLE(v24), { { 4, 1 }, { 5, 5 } }, REPLY(RDMA2_OK) },
	{ "S11 S38 RESPROP as an option that ends before its length is a bad Reply",
	  CUT(v24, 24), { { 5, 3 } }, REPLY(BAD) },
	{ "C-081 another option that ends before its length gets BAD_XDR",
	  CUT(v24, 24), CALL(BAD) },

	/* Version 1 */
	{ "E-22 DONE is ignored",
	  WHOLE(v32), { { 3, 3 } }, NODIR(RDMA2_DROP) },
	{ "C-105 version 1 does not define proc 5",
	  WHOLE(v32), { { 3, 5 } }, NODIR(RDMA2_ERR_INVALID_PROC) },
	{ "E-23 MSGP without its two additional words is bad",
	  CUT(v32, 20), { { 3, 2 } }, NODIR(BAD) },
	{ "C-066 in version 1 the RPC message has the direction",
	  WHOLE(v32), { { 8, 1 } }, REPLY(RDMA2_OK) },
	{ "S06 version 1 msg_type 2 is undefined",
	  WHOLE(v32), { { 8, 2 } }, NODIR(BAD) },
	{ "S06 version 1 msg_type 3 is undefined",
	  WHOLE(v32), { { 8, 3 } }, NODIR(BAD) },
	{ "S06 version 1 msg_type 0xffffffff is undefined",
	  WHOLE(v32), { { 8, U32_MAX } }, NODIR(BAD) },
	{ "S07 version 1 MSG with 7 bytes of an RPC message has no direction",
	  CUT(v32, 35), NODIR(BAD) },
	{ "S07 version 1 MSG with 8 bytes of an RPC message has one",
	  CUT(v32, 36), CALL(RDMA2_OK) },
	{ "S08 version 1 Call with two xids gets BAD_XDR",
	  WHOLE(v32), { { 7, 1 } }, CALL(BAD) },
	{ "S08 version 1 Reply with two xids is bad",
	  WHOLE(v32), { { 7, 1 }, { 8, 1 } }, REPLY(BAD) },
	{ "S07 version 1 MSG without an RPC message has no direction",
	  CUT(v32, 28), NODIR(BAD) },
	{ "S07 version 1 NOMSG without any chunk has no direction",
	  WHOLE(v32), { { 3, 1 } }, NODIR(BAD) },
	{ "S05 version 1 discriminator of 2",
	  WHOLE(v32), { { 4, 2 } }, NODIR(BAD) },
	{ "S43 version 1 error of an unknown code is accepted",
	  WHOLE(v31), { { 4, 7 } }, REPLY(RDMA2_OK) },
	{ "C-100 version 1 ERR_VERS without its range is bad",
	  CUT(v30, 24), { { 1, 1 } }, REPLY(BAD) },
};

KUNIT_ARRAY_PARAM_DESC(mutation, mutations, desc);

static void mutated_message(struct kunit *test)
{
	const struct mutation *m = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	enum rpcrdma2_errcode verdict;
	__be32 words[64];
	unsigned int i;

	KUNIT_ASSERT_LE(test, m->len, sizeof(words));
	memcpy(words, m->data, m->len);
	for (i = 0; i < ARRAY_SIZE(m->edits) && m->edits[i].word; i++)
		words[m->edits[i].word] = cpu_to_be32(m->edits[i].value);

	verdict = judge(test, h, words, m->len);

	KUNIT_EXPECT_EQ(test, verdict, m->verdict);
	KUNIT_EXPECT_EQ(test, h->h_direction, m->direction);
	KUNIT_EXPECT_LE(test, h->h_len,
			max_t(size_t, m->len, RPCRDMA2_PREFIX_LEN));
	if (m->len < RPCRDMA2_PREFIX_LEN) {
		KUNIT_EXPECT_EQ(test, h->h_xid, 0);
		KUNIT_EXPECT_EQ(test, h->h_vers, 0);
		KUNIT_EXPECT_EQ(test, h->h_credit, 0);
	}
}

/* S07: the decoder ignores bytes behind a header that ends the message. */
static void trailing_bytes_ignored(struct kunit *test)
{
	static const struct {
		const u8	*data;
		size_t		len;
	} whole[] = {
		{ v03, sizeof(v03) }, { v06, sizeof(v06) },
		{ v09, sizeof(v09) }, { v10, sizeof(v10) },
		{ v15, sizeof(v15) }, { v30, sizeof(v30) },
	};
	struct rpcrdma2_hdr *h = hdr_new(test);
	u8 longer[256];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(whole); i++) {
		memset(longer, 0xff, sizeof(longer));
		memcpy(longer, whole[i].data, whole[i].len);
		KUNIT_EXPECT_EQ(test, judge(test, h, longer, sizeof(longer)),
				RDMA2_OK);
		KUNIT_EXPECT_EQ(test, h->h_len, whole[i].len);
	}
}

/* E-23: the decoder skips rdma_align and rdma_thresh, and treats the rest as a MSG. */
static void msgp_decoded_as_msg(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);

	put_start(m, 1, RDMA1_MSGP, RDMA2_CALL);
	put(m, 512);
	put(m, 1024);
	put(m, 0);
	put(m, 0);
	put(m, 0);
	put_payload(m, RDMA2_CALL, 40);

	KUNIT_EXPECT_EQ(test, judge_words(test, h, m), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, h->h_proc, RDMA2_MSG);
	KUNIT_EXPECT_EQ(test, h->h_direction, RDMA2_CALL);
	KUNIT_EXPECT_EQ(test, h->h_len, RPCRDMA1_HDR_MIN + 8);
}

/* C-066 has no counterpart in version 1: the chunks of a NOMSG determine its direction. */
static void version_one_nomsg_direction(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);

	put_start(m, 1, RDMA2_NOMSG, RDMA2_CALL);
	put_read(m, 0, 4096);
	put(m, 0);
	put(m, 0);
	put(m, 1);
	put_segments(m, 1);
	KUNIT_EXPECT_EQ(test, judge_words(test, h, m), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, h->h_direction, RDMA2_CALL);

	put_start(m, 1, RDMA2_NOMSG, RDMA2_REPLY);
	put(m, 0);
	put(m, 0);
	put(m, 1);
	put_segments(m, 1);
	KUNIT_EXPECT_EQ(test, judge_words(test, h, m), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, h->h_direction, RDMA2_REPLY);
}

/*
 * S09: a Read chunk begins behind the RPC header. Its length depends on the credential and
 * the verifier, which have at most 400 bytes each (RFC 5531).
 */
static const struct auth_case {
	const char	*desc;
	u32		cred;
	u32		verf;
	u32		there;		/* bytes of the RPC message */
	u32		position;	/* of the Read chunk */
	bool		good;
} auth_cases[] = {
	{ "S09 an empty credential and an empty verifier", 0, 0, 40, 40, true },
	{ "S09 a credential of 4 bytes", 4, 0, 44, 44, true },
	{ "S09 a credential of 4 bytes moves the end of the header",
	  4, 0, 44, 40, false },
	{ "S09 a verifier of 4 bytes", 0, 4, 44, 44, true },
	{ "S09 a credential of 5 bytes takes 8", 5, 0, 48, 48, true },
	{ "S09 a credential of 5 bytes: the header ends after 8",
	  5, 0, 48, 44, false },
	{ "S09 400 bytes in credential and verifier",
	  400, 400, 840, 840, true },
	{ "S09 401 bytes in the credential", 401, 0, 444, 444, false },
	{ "S09 401 bytes in the verifier", 0, 401, 444, 444, false },
	{ "S09 the message ends within the credential", 8, 0, 40, 40, false },
	{ "S09 the message ends within the verifier", 0, 8, 44, 44, false },
	{ "S09 the message ends before the verifier", 0, 0, 32, 32, false },
	{ "S09 bytes after the last complete word", 0, 0, 42, 40, true },
	{ "S09 bytes after the last complete word, with a credential",
	  4, 0, 47, 44, true },
};

KUNIT_ARRAY_PARAM_DESC(auth, auth_cases, desc);

static void end_of_the_rpc_header(struct kunit *test)
{
	const struct auth_case *c = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int call, verf;
	u32 vers;

	verf = 8 + DIV_ROUND_UP(c->cred, 4);
	for (vers = 1; vers <= 2; vers++) {
		put_start(m, vers, RDMA2_MSG, RDMA2_CALL);
		put_read(m, c->position, 4);
		put(m, 0);
		put(m, 0);
		put(m, 0);
		call = m->count;
		put_payload(m, RDMA2_CALL, 1000);
		m->word[call + 7] = cpu_to_be32(c->cred);
		m->word[call + verf + 1] = cpu_to_be32(c->verf);

		KUNIT_EXPECT_EQ_MSG(test, judge(test, h, m->word,
						call * 4 + c->there),
				    c->good ? RDMA2_OK : RDMA2_ERR_BAD_XDR,
				    "version %u", vers);
	}
}

/* S07: the decoder reads the two words of the payload only if both are complete. */
static void seven_bytes_rejected(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	u32 there, header;

	KUNIT_ASSERT_EQ(test, judge(test, h, v01, sizeof(v01)), RDMA2_OK);
	header = h->h_len;
	for (there = 6; there < 10; there++)
		KUNIT_EXPECT_EQ(test, judge(test, h, v01, header + there),
				there < 8 ? RDMA2_ERR_BAD_XDR : RDMA2_OK);

	KUNIT_ASSERT_EQ(test, judge(test, h, v08, sizeof(v08)), RDMA2_OK);
	header = h->h_len;
	for (there = 6; there < 10; there++)
		KUNIT_EXPECT_EQ(test, judge(test, h, v08, header + there),
				there < 8 ? RDMA2_ERR_BAD_XDR : RDMA2_OK);
}

static struct kunit_case payload_cases[] = {
	KUNIT_CASE_PARAM(mutated_message, mutation_gen_params),
	KUNIT_CASE(trailing_bytes_ignored),
	KUNIT_CASE(msgp_decoded_as_msg),
	KUNIT_CASE(version_one_nomsg_direction),
	KUNIT_CASE_PARAM(end_of_the_rpc_header, auth_gen_params),
	KUNIT_CASE(seven_bytes_rejected),
	{ }
};

static struct kunit_suite payload_suite = {
	.name = "rpcrdma2_payload",
	.test_cases = payload_cases,
};

kunit_test_suite(payload_suite);
