// SPDX-License-Identifier: GPL-2.0
/*
 * Completions of Receives that deliver a message, and others.
 */
#include <kunit/test.h>

#include <rpcrdma2/conn.h>

static const struct receive_case {
	const char	*desc;
	struct ib_wc	wc;
	bool		want;	/* 4096 bytes were posted */
} receive_cases[] = {
	{ "E-20 a Send",
	  { .opcode = IB_WC_RECV, .byte_len = 68 }, true },
	{ "E-20 a Send of no bytes is a message",
	  { .opcode = IB_WC_RECV, .byte_len = 0 }, true },
	{ "E-20 a Send that fills the buffer",
	  { .opcode = IB_WC_RECV, .byte_len = 4096 }, true },
	{ "E-20 one byte more than the buffer",
	  { .opcode = IB_WC_RECV, .byte_len = 4097 }, false },
	{ "E-20 2^32 - 1 bytes",
	  { .opcode = IB_WC_RECV, .byte_len = U32_MAX }, false },
	{ "E-20 a Send With Invalidate",
	  { .opcode = IB_WC_RECV, .byte_len = 68,
	    .wc_flags = IB_WC_WITH_INVALIDATE }, true },
	{ "E-20 an RDMA Write with Immediate",
	  { .opcode = IB_WC_RECV_RDMA_WITH_IMM, .byte_len = 1 << 20,
	    .wc_flags = IB_WC_WITH_IMM }, false },
	{ "E-20 an RDMA Write with Immediate of less than the buffer",
	  { .opcode = IB_WC_RECV_RDMA_WITH_IMM, .byte_len = 68,
	    .wc_flags = IB_WC_WITH_IMM }, false },
	{ "E-20 an RDMA Write with Immediate of no bytes",
	  { .opcode = IB_WC_RECV_RDMA_WITH_IMM, .byte_len = 0,
	    .wc_flags = IB_WC_WITH_IMM }, false },
	{ "E-20 a completion of the Send Queue",
	  { .opcode = IB_WC_SEND, .byte_len = 68 }, false },
};

KUNIT_ARRAY_PARAM_DESC(receive, receive_cases, desc);

static void delivers_message(struct kunit *test)
{
	const struct receive_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rpcrdma2_received_message(&c->wc, 4096),
			c->want);
}

static struct kunit_case receive_suite_cases[] = {
	KUNIT_CASE_PARAM(delivers_message, receive_gen_params),
	{ }
};

static struct kunit_suite receive_suite = {
	.name = "rpcrdma2_receive",
	.test_cases = receive_suite_cases,
};

kunit_test_suite(receive_suite);
