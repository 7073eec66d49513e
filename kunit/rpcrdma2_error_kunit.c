// SPDX-License-Identifier: GPL-2.0
/*
 * Errors: their construction from a Call, in both versions, and the requester's remedies.
 */
#include <kunit/test.h>

#include <rpcrdma2/wire.h>

#include "util.h"
#include <vectors.h>

static const struct made {
	const char		*desc;
	const u8		*data;
	size_t			len;
	u32			xid;
	u32			vers;
	enum rpcrdma2_errcode	code;
	u32			arg;
	u32			arg2;
} mades[] = {
	{ "V09 C-079 VERS with the range of this end", v09, sizeof(v09),
	  0x1a2b3c5e, 3, RDMA2_ERR_VERS },
	{ "V10 C-081 BAD_XDR", v10, sizeof(v10),
	  0x1a2b3c5f, 2, RDMA2_ERR_BAD_XDR },
	{ "V11 C-080 INVALID_PROC", v11, sizeof(v11),
	  0x1a2b3c60, 2, RDMA2_ERR_INVALID_PROC },
	{ "V12 C-083 READ_CHUNKS, S23 with a limit from the caller",
	  v12, sizeof(v12), 0x1a2b3c61, 2, RDMA2_ERR_READ_CHUNKS, 1 },
	{ "V13 C-084 WRITE_CHUNKS", v13, sizeof(v13),
	  0x1a2b3c62, 2, RDMA2_ERR_WRITE_CHUNKS, 1 },
	{ "V14 C-085 SEGMENTS", v14, sizeof(v14),
	  0x1a2b3c63, 2, RDMA2_ERR_SEGMENTS, 16 },
	{ "V15 C-086 WRITE_RESOURCE", v15, sizeof(v15),
	  0x1a2b3c64, 2, RDMA2_ERR_WRITE_RESOURCE, 1, 12000 },
	{ "V16 C-090 REPLY_RESOURCE", v16, sizeof(v16),
	  0x1a2b3c65, 2, RDMA2_ERR_REPLY_RESOURCE, 20480 },
	{ "V17 C-012 INVALID_OPTION", v17, sizeof(v17),
	  0x1a2b3c66, 2, RDMA2_ERR_INVALID_OPTION },
	{ "V18 C-093 SYSTEM", v18, sizeof(v18),
	  0x1a2b3c67, 2, RDMA2_ERR_SYSTEM },
	{ "V30 C-100 VERS with a range from the caller", v30, sizeof(v30),
	  0x70000001, 2, RDMA2_ERR_VERS, 1, 1 },
	{ "V31 C-095 version 1 BAD_XDR", v31, sizeof(v31),
	  0x1a2b3c52, 1, RDMA2_ERR_BAD_XDR },
	{ "V31 C-095 version 1 INVALID_PROC", v31, sizeof(v31),
	  0x1a2b3c52, 1, RDMA2_ERR_INVALID_PROC },
	{ "V31 C-095 version 1 SEGMENTS", v31, sizeof(v31),
	  0x1a2b3c52, 1, RDMA2_ERR_SEGMENTS },
	{ "V31 C-095 version 1 REPLY_RESOURCE", v31, sizeof(v31),
	  0x1a2b3c52, 1, RDMA2_ERR_REPLY_RESOURCE, 20480 },
};

KUNIT_ARRAY_PARAM_DESC(made, mades, desc);

/*
 * An error has the Call's xid and version, a grant, and no chunks or direction
 * (C-076, C-077, C-071, S02).
 */
static void error_from_call(struct kunit *test)
{
	const struct made *e = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct wire w;

	/* A Call with many chunks */
	KUNIT_ASSERT_EQ(test, judge(test, h, v02, sizeof(v02)), RDMA2_OK);
	h->h_nwrites = 1;
	h->h_has_reply = true;
	h->h_xid = e->xid;
	h->h_vers = e->vers;

	rpcrdma2_set_error(h, e->code, e->arg, e->arg2);
	h->h_credit = 64;
	send_hdr(test, &w, h);

	KUNIT_EXPECT_EQ(test, h->h_direction, RDMA2_REPLY);
	KUNIT_EXPECT_EQ(test, h->h_inv_handle, 0);
	KUNIT_EXPECT_EQ(test, h->h_nreads, 0);
	KUNIT_EXPECT_EQ(test, h->h_nwrites, 0);
	KUNIT_EXPECT_FALSE(test, h->h_has_reply);
	KUNIT_EXPECT_EQ(test, h->h_nsegs, 0);
	KUNIT_ASSERT_EQ(test, w.len, e->len);
	KUNIT_EXPECT_LE(test, w.len, RPCRDMA2_ERROR_MAX);
	KUNIT_EXPECT_MEMEQ(test, w.data, e->data, e->len);
}

/*
 * C-083, C-084, C-085, C-079: the limits are those of the decoder unless the caller passes
 * others.
 */
static void error_carries_the_limits(struct kunit *test)
{
	static const struct rpcrdma2_error errors[] = {
		{ RDMA2_ERR_VERS, 1, 2 },
		{ RDMA2_ERR_READ_CHUNKS, RPCRDMA2_MAX_READ_CHUNKS, 0 },
		{ RDMA2_ERR_WRITE_CHUNKS, RPCRDMA2_MAX_WRITE_CHUNKS, 0 },
		{ RDMA2_ERR_SEGMENTS, RPCRDMA2_MAX_SEGMENTS, 0 },
		{ RDMA2_ERR_WRITE_RESOURCE, 0, 0 },
		{ RDMA2_ERR_REPLY_RESOURCE, 0, 0 },
	};
	struct rpcrdma2_hdr *h = hdr_new(test);
	const struct rpcrdma2_error *er;

	h->h_vers = RPCRDMA2_VERS_TWO;
	for (er = errors; er < errors + ARRAY_SIZE(errors); er++) {
		rpcrdma2_set_error(h, er->er_code, 0, 0);
		KUNIT_EXPECT_EQ(test, h->h_error.er_code, er->er_code);
		KUNIT_EXPECT_EQ(test, h->h_error.er_arg, er->er_arg);
		KUNIT_EXPECT_EQ(test, h->h_error.er_arg2, er->er_arg2);
	}
}

/*
 * C-085: if all chunks of the Call have the reported number of segments, the decoder can
 * hold them.
 */
static void segments_of_each_chunk(struct kunit *test)
{
	static const struct {
		u8	reads, writes;
		bool	reply;
		u32	arg;
	} rows[] = {
		{ 0, 1, false, 64 }, { 1, 0, true, 32 }, { 0, 2, false, 32 },
		{ 1, 1, true, 21 }, { 16, 8, true, 2 },
	};
	struct rpcrdma2_hdr *h = hdr_new(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		h->h_vers = RPCRDMA2_VERS_TWO;
		h->h_nreads = rows[i].reads;
		h->h_nwrites = rows[i].writes;
		h->h_has_reply = rows[i].reply;
		rpcrdma2_set_error(h, RDMA2_ERR_SEGMENTS, 0, 0);
		KUNIT_EXPECT_EQ(test, h->h_error.er_arg, rows[i].arg);
	}
}

/* C-095, S36: version 1 has one other code, for a version that is not permitted. */
static void version_one_refused(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);

	h->h_vers = RPCRDMA2_VERS_ONE;
	rpcrdma2_set_error(h, RDMA2_ERR_VERS, 2, 2);
	KUNIT_EXPECT_EQ(test, h->h_error.er_code, RDMA2_ERR_VERS);
	KUNIT_EXPECT_EQ(test, h->h_error.er_arg, 2);
	KUNIT_EXPECT_EQ(test, h->h_error.er_arg2, 2);
}

/* C-062: the constant is the size of the largest error. */
static void largest_error(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	size_t largest = 0;
	u32 code;

	h->h_vers = RPCRDMA2_VERS_TWO;
	for (code = RDMA2_ERR_VERS; code <= RDMA2_ERR_SYSTEM; code++) {
		rpcrdma2_set_error(h, code, 1, 1);
		largest = max(largest, rpcrdma2_hdr_size(h));
	}
	KUNIT_EXPECT_EQ(test, largest, RPCRDMA2_ERROR_MAX);
}

#define REMEDY(_what)	RPCRDMA2_REMEDY_##_what

static const struct remedy_case {
	const char		*desc;
	u32			vers;
	struct rpcrdma2_error	er;
	bool			resent;
	enum rpcrdma2_remedy	want;
} remedy_cases[] = {
	{ "S36 VERS, which the negotiation takes", 2, { 1, 1, 1 }, false,
	  REMEDY(FAIL) },
	{ "S36 VERS a second time", 2, { 1, 1, 1 }, true, REMEDY(FAIL) },
	{ "S42 BAD_XDR", 2, { 2 }, false, REMEDY(FAIL) },
	{ "S42 INVALID_PROC", 2, { 3 }, false, REMEDY(VERSION_ONE) },
	{ "S42 READ_CHUNKS", 2, { 4, 1 }, false, REMEDY(FEWER_READS) },
	{ "S42 READ_CHUNKS with a limit of 0", 2, { 4, 0 }, false,
	  REMEDY(FEWER_READS) },
	{ "S45 READ_CHUNKS a second time", 2, { 4, 1 }, true, REMEDY(FAIL) },
	{ "S42 WRITE_CHUNKS", 2, { 5, 1 }, false, REMEDY(NO_WRITES) },
	{ "S45 WRITE_CHUNKS a second time", 2, { 5, 1 }, true, REMEDY(FAIL) },
	{ "S42 SEGMENTS", 2, { 6, 16 }, false, REMEDY(FEWER_SEGMENTS) },
	{ "S42 SEGMENTS with a limit of 0", 2, { 6, 0 }, false, REMEDY(FAIL) },
	{ "S45 SEGMENTS a second time", 2, { 6, 16 }, true, REMEDY(FAIL) },
	{ "C-089 WRITE_RESOURCE", 2, { 7, 1, 12000 }, false, REMEDY(FAIL) },
	{ "S41 WRITE_RESOURCE of unknown size", 2, { 7, 1, 0 }, false,
	  REMEDY(FAIL) },
	{ "S45 WRITE_RESOURCE a second time", 2, { 7, 1, 12000 }, true,
	  REMEDY(FAIL) },
	{ "C-092 REPLY_RESOURCE", 2, { 8, 20480 }, false,
	  REMEDY(LARGER_REPLY) },
	{ "S41 REPLY_RESOURCE of unknown size", 2, { 8, 0 }, false,
	  REMEDY(FAIL) },
	{ "S45 REPLY_RESOURCE a second time", 2, { 8, 20480 }, true,
	  REMEDY(FAIL) },
	{ "S42 INVALID_OPTION", 2, { 9 }, false, REMEDY(VERSION_ONE) },
	{ "C-094 SYSTEM", 2, { 10 }, false, REMEDY(FAIL) },
	{ "S43 unknown code", 2, { 11, 1, 1 }, false, REMEDY(FAIL) },
	{ "S43 code 0", 2, { 0 }, false, REMEDY(FAIL) },
	{ "version 1 ERR_CHUNK", 1, { 2 }, false, REMEDY(FAIL) },
	{ "S43 version 1 does not define code 8", 1, { 8, 20480 }, false,
	  REMEDY(FAIL) },
	{ "S43 version 1 does not define code 9",
	  1, { 9 }, false, REMEDY(FAIL) },
	{ "S36 version 1 ERR_VERS", 1, { 1, 1, 1 }, false, REMEDY(FAIL) },
};

KUNIT_ARRAY_PARAM_DESC(remedy, remedy_cases, desc);

static void remedy_for_rpc(struct kunit *test)
{
	const struct remedy_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rpcrdma2_remedy(c->vers, &c->er, c->resent),
			c->want);
}

/* C-026: only codes 3 and 9 mean that the peer does not support a type of message. */
static void remedy_for_property_message(struct kunit *test)
{
	u32 code;

	for (code = 0; code < 16; code++) {
		const struct rpcrdma2_error er = { .er_code = code };

		KUNIT_EXPECT_EQ(test, rpcrdma2_lacks_message(&er),
				code == 3 || code == 9);
	}
}

/* A trace event shows a value without a name as a number. */
static void names_are_complete(struct kunit *test)
{
	static const struct {
		u32		value;
		const char	*name;
	} codes[] = {
		RPCRDMA2_ERRCODES(RPCRDMA2_SHOW_PAIR)
	}, procs[] = {
		RPCRDMA2_PROCS(RPCRDMA2_SHOW_PAIR)
	};
	unsigned int i;

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(codes), RDMA2_ERR_SYSTEM + 2);
	for (i = 0; i <= RDMA2_ERR_SYSTEM; i++)
		KUNIT_EXPECT_EQ(test, codes[i].value, i);
	KUNIT_EXPECT_EQ(test, codes[i].value, RDMA2_DROP);

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(procs), RDMA2_UPDPROP + 1);
	for (i = 0; i <= RDMA2_UPDPROP; i++)
		KUNIT_EXPECT_EQ(test, procs[i].value, i);

	KUNIT_EXPECT_STREQ(test, rpcrdma2_bkreqsup_name(0), "NONE");
	KUNIT_EXPECT_STREQ(test, rpcrdma2_bkreqsup_name(2), "GENL");
	KUNIT_EXPECT_STREQ(test, rpcrdma2_bkreqsup_name(3), "?");
}

static struct kunit_case error_cases[] = {
	KUNIT_CASE_PARAM(error_from_call, made_gen_params),
	KUNIT_CASE(error_carries_the_limits),
	KUNIT_CASE(segments_of_each_chunk),
	KUNIT_CASE(version_one_refused),
	KUNIT_CASE(largest_error),
	KUNIT_CASE_PARAM(remedy_for_rpc, remedy_gen_params),
	KUNIT_CASE(remedy_for_property_message),
	KUNIT_CASE(names_are_complete),
	{ }
};

static struct kunit_suite error_suite = {
	.name = "rpcrdma2_error",
	.test_cases = error_cases,
};

kunit_test_suite(error_suite);
