// SPDX-License-Identifier: GPL-2.0
/*
 * The decoded form of received messages.
 */
#include "util.h"
#include <vectors.h>

#define HANDLE	0x1234

static void call_with_payload(struct kunit *test)
{
	struct words *m = words_new(test);
	struct rpcrdma2_msg *msg;

	put_start(m, RPCRDMA2_VERS_TWO, RDMA2_MSG, RDMA2_CALL);
	put(m, 0);
	put(m, 0);
	put(m, 0);
	put_payload(m, RDMA2_CALL, 80);
	msg = read_message(test, m->word, words_len(m), 0);

	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_OK);
	KUNIT_EXPECT_FALSE(test, msg->mg_bad_body);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_msg_is_optional(msg));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_msg_is_error(msg));
	KUNIT_EXPECT_EQ(test, msg->mg_handle, 0);
	KUNIT_EXPECT_EQ(test, msg->mg_paylen, 80);
}

/* The decoder reads the first, contiguous part of a message; the rest may lie elsewhere. */
static void message_in_pieces(struct kunit *test)
{
	const u32 hdr = RPCRDMA2_HDR_MIN;
	struct words *m = words_new(test);
	struct rpcrdma2_msg *msg;

	put_start(m, RPCRDMA2_VERS_TWO, RDMA2_MSG, RDMA2_CALL);
	put(m, 0);
	put(m, 0);
	put(m, 0);
	put_payload(m, RDMA2_CALL, 80);

	msg = read_part(test, m->word, hdr + RPCRDMA2_RPC_PEEK, 5000, 0);
	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_OK);
	KUNIT_EXPECT_EQ(test, msg->mg_paylen, 5000 - hdr);

	msg = read_part(test, m->word, hdr + RPCRDMA2_RPC_PEEK - 1, 5000, 0);
	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_ERR_BAD_XDR);
	KUNIT_EXPECT_EQ(test, msg->mg_paylen, 0);

	msg = read_part(test, v19, sizeof(v19) - 1, sizeof(v19), 0);
	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_ERR_BAD_XDR);

	msg = read_part(test, m->word, 5000, hdr + 80, 0);
	KUNIT_EXPECT_EQ(test, msg->mg_paylen, 80);
}

/* E-05, S09: a Read chunk may begin in a part of the message that lies elsewhere. */
static void position_in_another_piece(struct kunit *test)
{
	static const struct {
		u32	position;
		u32	room;
		u32	verdict;
	} cases[] = {
		{ 1000, 100, RDMA2_OK },
		{ 1004, 100, RDMA2_ERR_BAD_XDR },	/* beyond the end */
		{ 36, 100, RDMA2_ERR_BAD_XDR },		/* in the RPC header */
		{ 40, 100, RDMA2_OK },
		{ 1000, 96, RDMA2_ERR_BAD_XDR },	/* no whole RPC header */
	};
	const u32 hdr = RPCRDMA2_HDR_MIN + RPCRDMA2_READ_SEG_LEN;
	struct rpcrdma2_msg *msg;
	struct words *m;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, hdr, 60);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		m = words_new(test);
		put_start(m, RPCRDMA2_VERS_TWO, RDMA2_MSG, RDMA2_CALL);
		put_read(m, cases[i].position, 64);
		put(m, 0);
		put(m, 0);
		put(m, 0);
		put_payload(m, RDMA2_CALL, 40);
		msg = read_part(test, m->word, cases[i].room, hdr + 1000, 0);
		KUNIT_EXPECT_EQ_MSG(test, msg->mg_verdict, cases[i].verdict,
				    "position %u", cases[i].position);
		if (msg->mg_verdict == RDMA2_OK)
			KUNIT_EXPECT_EQ(test, msg->mg_paylen, 1000);
	}
}

/* S50: the handle is that of the Send With Invalidate, for messages of all kinds. */
static void handle_of_any_message(struct kunit *test)
{
	struct rpcrdma2_msg *msg;

	msg = read_message(test, v10, sizeof(v10), HANDLE);
	KUNIT_EXPECT_EQ(test, msg->mg_handle, HANDLE);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_msg_is_error(msg));

	msg = read_message(test, v10, 8, HANDLE);
	KUNIT_EXPECT_EQ(test, msg->mg_handle, HANDLE);
	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_DROP);
}

/* S31: the fields of an earlier message are cleared. */
static void short_message(struct kunit *test)
{
	struct rpcrdma2_msg *msg = read_message(test, v19, 15, 0);

	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_DROP);
	KUNIT_EXPECT_FALSE(test, msg->mg_bad_body);
	KUNIT_EXPECT_EQ(test, msg->mg_hdr.h_xid, 0);
	KUNIT_EXPECT_EQ(test, msg->mg_hdr.h_proc, 0);
	KUNIT_EXPECT_EQ(test, msg->mg_paylen, 0);
}

static void property_message(struct kunit *test)
{
	struct rpcrdma2_msg *msg = read_message(test, v19, sizeof(v19), 0);

	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_OK);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_msg_is_optional(msg));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_msg_is_error(msg));
	KUNIT_EXPECT_EQ(test, msg->mg_prop.pm_type, RDMA2_OPT_CONNPROP);
	KUNIT_EXPECT_EQ(test, msg->mg_prop.pm_nochg,
			BIT(RPCRDMA2_PROP_RBSIZ) | BIT(RPCRDMA2_PROP_BRS));
	KUNIT_EXPECT_EQ(test, msg->mg_prop.pm_set.ps_val.pr_rbsiz, 8192);
}

/* Without a REQPROP, the bitmaps of a RESPROP have no meaning (S17). */
static void unsolicited_resprop(struct kunit *test)
{
	struct rpcrdma2_msg *msg = read_message(test, v22, sizeof(v22), 0);

	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_OK);
	KUNIT_EXPECT_EQ(test, msg->mg_hdr.h_direction, RDMA2_REPLY);
	KUNIT_EXPECT_PTR_EQ(test, msg->mg_prop.pm_want, NULL);
	KUNIT_EXPECT_EQ(test, msg->mg_prop.pm_done, 0);
}

/* S11: truncated within the body; C-012: an option that is not a property message */
static void bad_body_and_bad_header(struct kunit *test)
{
	struct rpcrdma2_msg *msg;

	msg = read_message(test, v19, sizeof(v19) - 4, 0);
	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_ERR_BAD_XDR);
	KUNIT_EXPECT_TRUE(test, msg->mg_bad_body);
	KUNIT_EXPECT_EQ(test, msg->mg_paylen, 0);
	KUNIT_EXPECT_EQ(test, msg->mg_hdr.h_direction, RDMA2_CALL);

	msg = read_message(test, v24, sizeof(v24), 0);
	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_ERR_INVALID_OPTION);
	KUNIT_EXPECT_TRUE(test, msg->mg_bad_body);

	msg = read_message(test, v24, 24, 0);
	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_ERR_BAD_XDR);
	KUNIT_EXPECT_FALSE(test, msg->mg_bad_body);
}

/* Only a well-formed error counts as an error. */
static void truncated_error(struct kunit *test)
{
	struct rpcrdma2_msg *msg = read_message(test, v10, 16, 0);

	KUNIT_EXPECT_EQ(test, msg->mg_verdict, RDMA2_ERR_BAD_XDR);
	KUNIT_EXPECT_EQ(test, msg->mg_hdr.h_proc, RDMA2_ERROR);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_msg_is_error(msg));
}

/*
 * S55: a header that continues behind the contiguous part is malformed, with any number of
 * chunks. A header that ends within this part has too many chunks.
 */
static void s55_header_of_two_pages(struct kunit *test)
{
	struct words *m = words_new(test);
	unsigned int count, i;

	for (count = 167; count <= 169; count++) {
		put_start(m, 2, RDMA2_MSG, RDMA2_CALL);
		for (i = 1; i <= count; i++)
			put_read(m, 4 * i, 4);
		put(m, 0);
		put(m, 0);
		put(m, 0);
		put_payload(m, RDMA2_CALL, 4096);
		KUNIT_EXPECT_EQ_MSG(test, read_part(test, m->word, 4096,
						    words_len(m), 0)->mg_verdict,
				    count <= 168 ? RDMA2_ERR_READ_CHUNKS :
						   RDMA2_ERR_BAD_XDR,
				    "%u segments", count);
	}
}

static struct kunit_case message_cases[] = {
	KUNIT_CASE(call_with_payload),
	KUNIT_CASE(message_in_pieces),
	KUNIT_CASE(position_in_another_piece),
	KUNIT_CASE(handle_of_any_message),
	KUNIT_CASE(short_message),
	KUNIT_CASE(property_message),
	KUNIT_CASE(unsolicited_resprop),
	KUNIT_CASE(bad_body_and_bad_header),
	KUNIT_CASE(truncated_error),
	KUNIT_CASE(s55_header_of_two_pages),
	{ }
};

static struct kunit_suite message_suite = {
	.name = "rpcrdma2_message",
	.test_cases = message_cases,
};

kunit_test_suite(message_suite);
