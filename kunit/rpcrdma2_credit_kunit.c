// SPDX-License-Identifier: GPL-2.0
/*
 * Credit grants, and the limits in the private data of the connection manager.
 */
#include <kunit/test.h>

#include <rpcrdma2/plan.h>
#include <rpcrdma2/wire.h>

#include <vectors.h>

static const struct grant_case {
	const char	*desc;
	u32		wire;
	u32		max;
	u32		want;
} grant_cases[] = {
	{ "S26 0 is read as 1", 0, 64, 1 },
	{ "1 is 1", 1, 64, 1 },
	{ "one below the maximum", 63, 64, 63 },
	{ "the maximum", 64, 64, 64 },
	{ "S26 one above the maximum is clamped", 65, 64, 64 },
	{ "S26 2^32 - 1 is clamped", U32_MAX, 64, 64 },
	{ "S26 0 with a maximum of 1", 0, 1, 1 },
	{ "S26 2^32 - 1 with a maximum of 1", U32_MAX, 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(grant, grant_cases, desc);

static void grant_sanitised(struct kunit *test)
{
	const struct grant_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rpcrdma2_grant_sanitise(c->wire, c->max),
			c->want);
}

static const struct next_case {
	const char		*desc;
	struct rpcrdma2_hdr	hdr;
	bool			granted;
	u32			want;	/* the grant in force is 5, the maximum 64 */
} next_cases[] = {
	{ "B-03 a Reply grants",
	  { .h_proc = RDMA2_MSG, .h_direction = RDMA2_REPLY, .h_credit = 9 },
	  true, 9 },
	{ "B-03 a NOMSG Reply grants",
	  { .h_proc = RDMA2_NOMSG, .h_direction = RDMA2_REPLY, .h_credit = 9 },
	  false, 9 },
	{ "B-03 a grant may be lowered",
	  { .h_proc = RDMA2_MSG, .h_direction = RDMA2_REPLY, .h_credit = 2 },
	  true, 2 },
	{ "S26 a Reply that grants 0 grants 1",
	  { .h_proc = RDMA2_MSG, .h_direction = RDMA2_REPLY }, true, 1 },
	{ "S26 a Reply with a grant above the maximum",
	  { .h_proc = RDMA2_MSG, .h_direction = RDMA2_REPLY,
	    .h_credit = U32_MAX }, true, 64 },
	{ "B-04 the credits of a Call are a request, not a grant",
	  { .h_proc = RDMA2_MSG, .h_direction = RDMA2_CALL, .h_credit = 9 },
	  true, 5 },
	{ "C-097 an error does not grant before the first grant",
	  { .h_proc = RDMA2_ERROR, .h_credit = 9, .h_error.er_code = 10 },
	  false, 5 },
	{ "S26 an error grants after the first grant",
	  { .h_proc = RDMA2_ERROR, .h_credit = 9, .h_error.er_code = 10 },
	  true, 9 },
	{ "S36 VERS never grants",
	  { .h_proc = RDMA2_ERROR, .h_credit = 9, .h_error.er_code = 1 },
	  true, 5 },
	{ "S26 CONNPROP grants",
	  { .h_proc = RDMA2_CONNPROP, .h_credit = 9 }, false, 9 },
	{ "S26 RESPROP grants",
	  { .h_proc = RDMA2_RESPROP, .h_credit = 9 }, true, 9 },
	{ "S26 REQPROP does not",
	  { .h_proc = RDMA2_REQPROP, .h_credit = 9 }, true, 5 },
	{ "S26 UPDPROP does not",
	  { .h_proc = RDMA2_UPDPROP, .h_credit = 9 }, true, 5 },
	{ "S01 CONNPROP as an option grants",
	  { .h_proc = RDMA2_OPTIONAL, .h_credit = 9, .h_opttype = 1 },
	  false, 9 },
	{ "S01 RESPROP as an option grants",
	  { .h_proc = RDMA2_OPTIONAL, .h_credit = 9, .h_opttype = 3 },
	  false, 9 },
	{ "S26 another option does not",
	  { .h_proc = RDMA2_OPTIONAL, .h_credit = 9, .h_opttype = 5 },
	  true, 5 },
};

KUNIT_ARRAY_PARAM_DESC(next, next_cases, desc);

static void grant_after_message(struct kunit *test)
{
	const struct next_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rpcrdma2_grant_next(&c->hdr, 5, 64, c->granted),
			c->want);
}

/* S27, B-09: Receives for the Replies, for the peer's Calls, and two more */
static void receives_needed(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rpcrdma2_receives_needed(1, 0), 3);
	KUNIT_EXPECT_EQ(test, rpcrdma2_receives_needed(128, 16), 146);
}

/* C-097, S13, and the port assigned by IANA to NFS over RDMA */
static void draft_constants(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, RPCRDMA2_CREDIT_INITIAL, 1);
	KUNIT_EXPECT_EQ(test, RPCRDMA2_INLINE_MAX, 65536);
	KUNIT_EXPECT_EQ(test, RPCRDMA2_PORT, 20049);
}

static const struct cm_case {
	const char			*desc;
	const u8			*data;
	struct rpcrdma2_cm_limits	limits;
} cm_cases[] = {
	{ "V33 4096 in both directions, invalidation",
	  v33, { 4096, 4096, true } },
	{ "V34 4096 in both directions", v34, { 4096, 4096, false } },
	{ "V35 65536 and 8192", v35, { 65536, 8192, true } },
};

KUNIT_ARRAY_PARAM_DESC(cm, cm_cases, desc);

/* P-01: private data with the format identifier */
static void cm_decodes(struct kunit *test)
{
	const struct cm_case *c = test->param_value;
	struct rpcrdma2_cm_limits limits;

	KUNIT_ASSERT_TRUE(test, rpcrdma2_cm_decode(&limits, c->data, 8));
	KUNIT_EXPECT_EQ(test, limits.cl_send, c->limits.cl_send);
	KUNIT_EXPECT_EQ(test, limits.cl_recv, c->limits.cl_recv);
	KUNIT_EXPECT_EQ(test, limits.cl_inv, c->limits.cl_inv);
}

static void cm_encodes(struct kunit *test)
{
	const struct cm_case *c = test->param_value;
	struct rpcrdma2_cm_private pm;

	rpcrdma2_cm_encode(&pm, &c->limits);
	KUNIT_EXPECT_MEMEQ(test, &pm, c->data, 8);
}

static void expect_no_limits(struct kunit *test, const void *data, size_t len)
{
	struct rpcrdma2_cm_limits limits = { 1, 2, true };

	KUNIT_EXPECT_FALSE(test, rpcrdma2_cm_decode(&limits, data, len));
	KUNIT_EXPECT_EQ(test, limits.cl_send, 1024);
	KUNIT_EXPECT_EQ(test, limits.cl_recv, 1024);
	KUNIT_EXPECT_FALSE(test, limits.cl_inv);
}

/* Private data in another format are ignored (P-04, P-05, P-06, S28). */
static void cm_foreign_data(struct kunit *test)
{
	u8 data[57] = { };
	size_t len;

	memcpy(data + 1, v33, sizeof(v33));
	expect_no_limits(test, NULL, 0);
	for (len = 0; len < sizeof(v33); len++)
		expect_no_limits(test, v33, len);
	data[4]++;
	expect_no_limits(test, data + 1, 56);
	data[4]--;
	data[5] = 2;
	expect_no_limits(test, data + 1, 56);
}

/* S28: the CM pads the data and does not align it; P-10: other flags */
static void cm_padded_and_unaligned(struct kunit *test)
{
	struct rpcrdma2_cm_limits limits;
	u8 data[57] = { };

	memcpy(data + 1, v34, sizeof(v34));
	data[6] = 0xfe;
	data[7] = 0xff;
	data[8] = 0;
	KUNIT_ASSERT_TRUE(test, rpcrdma2_cm_decode(&limits, data + 1, 56));
	KUNIT_EXPECT_EQ(test, limits.cl_send, 262144);
	KUNIT_EXPECT_EQ(test, limits.cl_recv, 1024);
	KUNIT_EXPECT_FALSE(test, limits.cl_inv);
}

/* P-11: other sizes are rounded down, or limited to the range */
static void cm_sizes(struct kunit *test)
{
	static const struct {
		u32	bytes;
		u8	wire;
	} sizes[] = {
		{ 0, 0 }, { 1023, 0 }, { 1024, 0 }, { 2047, 0 }, { 2048, 1 },
		{ 262143, 254 }, { 262144, 255 }, { 262145, 255 },
		{ U32_MAX, 255 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		KUNIT_EXPECT_EQ(test, rpcrdma2_cm_encode_size(sizes[i].bytes),
				sizes[i].wire);
}

/* A queue with room for the batch of the largest grant has room for all others. */
static void batch_of_receives(struct kunit *test)
{
	u32 grant;

	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_batch(0), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_batch(1), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_batch(2), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_batch(8), 4);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_batch(33), 16);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_batch(1024), 16);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_batch(U32_MAX), 16);
	for (grant = 0; grant < 1024; grant++)
		KUNIT_EXPECT_LE(test, rpcrdma2_recv_batch(grant),
				rpcrdma2_recv_batch(grant + 1));
}

static struct kunit_case credit_cases[] = {
	KUNIT_CASE_PARAM(grant_sanitised, grant_gen_params),
	KUNIT_CASE_PARAM(grant_after_message, next_gen_params),
	KUNIT_CASE(receives_needed),
	KUNIT_CASE(batch_of_receives),
	KUNIT_CASE(draft_constants),
	{ }
};

static struct kunit_case cm_suite_cases[] = {
	KUNIT_CASE_PARAM(cm_decodes, cm_gen_params),
	KUNIT_CASE_PARAM(cm_encodes, cm_gen_params),
	KUNIT_CASE(cm_foreign_data),
	KUNIT_CASE(cm_padded_and_unaligned),
	KUNIT_CASE(cm_sizes),
	{ }
};

static struct kunit_suite credit_suite = {
	.name = "rpcrdma2_credit",
	.test_cases = credit_cases,
};

static struct kunit_suite cm_suite = {
	.name = "rpcrdma2_cm",
	.test_cases = cm_suite_cases,
};

kunit_test_suites(&credit_suite, &cm_suite);
