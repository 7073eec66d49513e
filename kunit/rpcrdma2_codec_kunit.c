// SPDX-License-Identifier: GPL-2.0
/*
 * All messages of section 4 of Documentation/protocol.rst, decoded and encoded again, byte
 * for byte.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <rpcrdma2/wire.h>

#include "util.h"
#include <vectors.h>

/**
 * struct golden - a vector and its decoded form
 * @desc: name of the vector, and requirements
 * @data: its bytes
 * @len: length in bytes
 * @hdr: decoded form
 */
struct golden {
	const char		*desc;
	const u8		*data;
	size_t			len;
	struct rpcrdma2_hdr	hdr;
};

#define VECTOR(_v)	.data = _v, .len = sizeof(_v)
#define SEGMENT(_handle, _length, _offset) \
	{ .rs_handle = _handle, .rs_length = _length, .rs_offset = _offset }
#define ERROR_HDR(_xid, _vers, _len, _code, ...)			\
	.hdr = {							\
		.h_xid = _xid, .h_vers = _vers, .h_credit = 64,		\
		.h_proc = RDMA2_ERROR, .h_direction = RDMA2_REPLY,	\
		.h_len = _len, .h_error = { .er_code = _code, __VA_ARGS__ } \
	}
#define PROPERTY_HDR(_xid, _credit, _proc, _direction, _len)		\
	.hdr = {							\
		.h_xid = _xid, .h_vers = 2, .h_credit = _credit,	\
		.h_proc = _proc, .h_direction = _direction, .h_len = 16, \
		.h_opttype = _proc - 5, .h_optoff = 16, .h_optlen = (_len) - 16 \
	}

static const struct golden goldens[] = {
	{
		.desc = "V01 C-061 C-067 Call without chunks",
		VECTOR(v01),
		.hdr = {
			.h_xid = 0x1a2b3c4d, .h_vers = 2, .h_credit = 32,
			.h_proc = RDMA2_MSG, .h_direction = RDMA2_CALL,
			.h_len = 36,
		},
	}, {
		.desc = "V02 C-072 E-02 two segments make one Read chunk",
		VECTOR(v02),
		.hdr = {
			.h_xid = 0x1a2b3c4e, .h_vers = 2, .h_credit = 32,
			.h_proc = RDMA2_MSG, .h_direction = RDMA2_CALL,
			.h_inv_handle = 0x00011301, .h_len = 84,
			.h_nreads = 1, .h_nsegs = 2,
			.h_reads = { { 72, 12288, 0, 2 } },
			.h_segs = {
				SEGMENT(0x00011301, 8192, 0x1a2b3c4e00001000),
				SEGMENT(0x00011402, 4096, 0x1a2b3c4e00003000),
			},
		},
	}, {
		.desc = "V03 E-03 C-064 Position-Zero chunk of two segments",
		VECTOR(v03),
		.hdr = {
			.h_xid = 0x1a2b3c4f, .h_vers = 2, .h_credit = 32,
			.h_proc = RDMA2_NOMSG, .h_direction = RDMA2_CALL,
			.h_inv_handle = 0x00021501, .h_len = 84,
			.h_nreads = 1, .h_nsegs = 2,
			.h_reads = { { 0, 5000, 0, 2 } },
			.h_segs = {
				SEGMENT(0x00021501, 4096, 0x1a2b3c4f00000000),
				SEGMENT(0x00021602, 904, 0x1a2b3c4f00002000),
			},
		},
	}, {
		.desc = "V04 C-072 Call offers a Write chunk",
		VECTOR(v04),
		.hdr = {
			.h_xid = 0x1a2b3c50, .h_vers = 2, .h_credit = 32,
			.h_proc = RDMA2_MSG, .h_direction = RDMA2_CALL,
			.h_inv_handle = 0x00031701, .h_len = 92,
			.h_nwrites = 1, .h_nsegs = 3,
			.h_writes = { { 0, 12288, 0, 3 } },
			.h_segs = {
				SEGMENT(0x00031701, 4096, 0x1a2b3c5000000000),
				SEGMENT(0x00031802, 4096, 0x1a2b3c5000004000),
				SEGMENT(0x00031903, 4096, 0x1a2b3c5000008000),
			},
		},
	}, {
		.desc = "V05 E-10 Reply keeps the count of segments",
		VECTOR(v05),
		.hdr = {
			.h_xid = 0x1a2b3c50, .h_vers = 2, .h_credit = 64,
			.h_proc = RDMA2_MSG, .h_direction = RDMA2_REPLY,
			.h_len = 92, .h_nwrites = 1, .h_nsegs = 3,
			.h_writes = { { 0, 6000, 0, 3 } },
			.h_segs = {
				SEGMENT(0x00031701, 4096, 0x1a2b3c5000000000),
				SEGMENT(0x00031802, 1904, 0x1a2b3c5000004000),
				SEGMENT(0x00031903, 0, 0x1a2b3c5000008000),
			},
		},
	}, {
		.desc = "V06 E-25 C-064 Reply in a Reply chunk",
		VECTOR(v06),
		.hdr = {
			.h_xid = 0x1a2b3c51, .h_vers = 2, .h_credit = 64,
			.h_proc = RDMA2_NOMSG, .h_direction = RDMA2_REPLY,
			.h_len = 72, .h_has_reply = true, .h_nsegs = 2,
			.h_reply = { 0, 5000, 0, 2 },
			.h_segs = {
				SEGMENT(0x00041a01, 4096, 0x1a2b3c5100000000),
				SEGMENT(0x00041b02, 904, 0x1a2b3c5100002000),
			},
		},
	}, {
		.desc = "V07 C-066 C-070 backward Call",
		VECTOR(v07),
		.hdr = {
			.h_xid = 0x1a2b3c4d, .h_vers = 2, .h_credit = 2,
			.h_proc = RDMA2_MSG, .h_direction = RDMA2_CALL,
			.h_len = 36,
		},
	}, {
		.desc = "V08 C-066 backward Reply",
		VECTOR(v08),
		.hdr = {
			.h_xid = 0x1a2b3c4d, .h_vers = 2, .h_credit = 16,
			.h_proc = RDMA2_MSG, .h_direction = RDMA2_REPLY,
			.h_len = 36,
		},
	}, {
		.desc = "V09 C-079 S36 VERS with the rejected version",
		VECTOR(v09),
		ERROR_HDR(0x1a2b3c5e, 3, 28, 1, .er_arg = 1, .er_arg2 = 2),
	}, {
		.desc = "V10 C-081 BAD_XDR",
		VECTOR(v10),
		ERROR_HDR(0x1a2b3c5f, 2, 20, 2),
	}, {
		.desc = "V11 C-080 INVALID_PROC",
		VECTOR(v11),
		ERROR_HDR(0x1a2b3c60, 2, 20, 3),
	}, {
		.desc = "V12 C-083 READ_CHUNKS",
		VECTOR(v12),
		ERROR_HDR(0x1a2b3c61, 2, 24, 4, .er_arg = 1),
	}, {
		.desc = "V13 C-084 WRITE_CHUNKS",
		VECTOR(v13),
		ERROR_HDR(0x1a2b3c62, 2, 24, 5, .er_arg = 1),
	}, {
		.desc = "V14 C-085 SEGMENTS",
		VECTOR(v14),
		ERROR_HDR(0x1a2b3c63, 2, 24, 6, .er_arg = 16),
	}, {
		.desc = "V15 C-087 C-088 WRITE_RESOURCE",
		VECTOR(v15),
		ERROR_HDR(0x1a2b3c64, 2, 28, 7, .er_arg = 1, .er_arg2 = 12000),
	}, {
		.desc = "V16 C-091 REPLY_RESOURCE",
		VECTOR(v16),
		ERROR_HDR(0x1a2b3c65, 2, 24, 8, .er_arg = 20480),
	}, {
		.desc = "V17 C-012 INVALID_OPTION",
		VECTOR(v17),
		ERROR_HDR(0x1a2b3c66, 2, 20, 9),
	}, {
		.desc = "V18 C-093 SYSTEM",
		VECTOR(v18),
		ERROR_HDR(0x1a2b3c67, 2, 20, 10),
	}, {
		.desc = "V19 C-042 CONNPROP",
		VECTOR(v19),
		PROPERTY_HDR(0x70000001, 32, RDMA2_CONNPROP, RDMA2_CALL, 52),
	}, {
		.desc = "V20 C-098 empty CONNPROP",
		VECTOR(v20),
		PROPERTY_HDR(0x70000002, 32, RDMA2_CONNPROP, RDMA2_CALL, 24),
	}, {
		.desc = "V21 C-048 REQPROP",
		VECTOR(v21),
		PROPERTY_HDR(0x70000003, 32, RDMA2_REQPROP, RDMA2_CALL, 56),
	}, {
		.desc = "V22 C-051 S38 RESPROP is a Reply",
		VECTOR(v22),
		PROPERTY_HDR(0x70000003, 64, RDMA2_RESPROP, RDMA2_REPLY, 48),
	}, {
		.desc = "V23 C-059 UPDPROP",
		VECTOR(v23),
		PROPERTY_HDR(0x70000004, 64, RDMA2_UPDPROP, RDMA2_CALL, 32),
	}, {
		.desc = "V24 C-011 unknown option",
		VECTOR(v24),
		.hdr = {
			.h_xid = 0x70000005, .h_vers = 2, .h_credit = 32,
			.h_proc = RDMA2_OPTIONAL, .h_direction = RDMA2_CALL,
			.h_len = 36, .h_opttype = 0x7fffff01,
			.h_optoff = 28, .h_optlen = 6,
		},
	}, {
		.desc = "V25 C-012 answer to an unknown option",
		VECTOR(v25),
		ERROR_HDR(0x70000005, 2, 20, 9),
	}, {
		.desc = "V26 S01 CONNPROP spelled as an option",
		VECTOR(v26),
		.hdr = {
			.h_xid = 0x70000006, .h_vers = 2, .h_credit = 32,
			.h_proc = RDMA2_OPTIONAL, .h_direction = RDMA2_CALL,
			.h_len = 64, .h_opttype = RDMA2_OPT_CONNPROP,
			.h_optoff = 28, .h_optlen = 36,
		},
	}, {
		.desc = "V27 S11 the header of a CONNPROP with a bad body is good",
		VECTOR(v27),
		PROPERTY_HDR(0x70000007, 32, RDMA2_CONNPROP, RDMA2_CALL, 36),
	}, {
		.desc = "V28 S11 the header of a CONNPROP with a short property is good",
		VECTOR(v28),
		PROPERTY_HDR(0x70000008, 32, RDMA2_CONNPROP, RDMA2_CALL, 36),
	}, {
		.desc = "V29 C-019 CONNPROP with an unknown property",
		VECTOR(v29),
		PROPERTY_HDR(0x70000009, 32, RDMA2_CONNPROP, RDMA2_CALL, 48),
	}, {
		.desc = "V30 C-100 S36 version 1 server refuses version 2",
		VECTOR(v30),
		ERROR_HDR(0x70000001, 2, 28, 1, .er_arg = 1, .er_arg2 = 1),
	}, {
		.desc = "V31 C-095 version 1 ERR_CHUNK",
		VECTOR(v31),
		ERROR_HDR(0x1a2b3c52, 1, 20, 2),
	}, {
		.desc = "V32 C-105 version 1 Call",
		VECTOR(v32),
		.hdr = {
			.h_xid = 0x1a2b3c4d, .h_vers = 1, .h_credit = 128,
			.h_proc = RDMA2_MSG, .h_direction = RDMA2_CALL,
			.h_len = 28,
		},
	},
};

KUNIT_ARRAY_PARAM_DESC(golden, goldens, desc);

static void expect_chunk(struct kunit *test, const struct rpcrdma2_chunk *got,
			 const struct rpcrdma2_chunk *want)
{
	KUNIT_EXPECT_EQ(test, got->ck_position, want->ck_position);
	KUNIT_EXPECT_EQ(test, got->ck_length, want->ck_length);
	KUNIT_EXPECT_EQ(test, got->ck_first, want->ck_first);
	KUNIT_EXPECT_EQ(test, got->ck_nsegs, want->ck_nsegs);
}

static void expect_lists(struct kunit *test, const struct rpcrdma2_hdr *got,
			 const struct rpcrdma2_hdr *want)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, got->h_nreads, want->h_nreads);
	KUNIT_ASSERT_EQ(test, got->h_nwrites, want->h_nwrites);
	KUNIT_ASSERT_EQ(test, got->h_nsegs, want->h_nsegs);
	for (i = 0; i < want->h_nreads; i++)
		expect_chunk(test, &got->h_reads[i], &want->h_reads[i]);
	for (i = 0; i < want->h_nwrites; i++)
		expect_chunk(test, &got->h_writes[i], &want->h_writes[i]);
	KUNIT_EXPECT_EQ(test, got->h_has_reply, want->h_has_reply);
	if (want->h_has_reply)
		expect_chunk(test, &got->h_reply, &want->h_reply);
	KUNIT_EXPECT_MEMEQ(test, got->h_segs, want->h_segs,
			   want->h_nsegs * sizeof(want->h_segs[0]));
}

static void expect_hdr(struct kunit *test, const struct rpcrdma2_hdr *got,
		       const struct rpcrdma2_hdr *want)
{
	KUNIT_EXPECT_EQ(test, got->h_xid, want->h_xid);
	KUNIT_EXPECT_EQ(test, got->h_vers, want->h_vers);
	KUNIT_EXPECT_EQ(test, got->h_credit, want->h_credit);
	KUNIT_EXPECT_EQ(test, got->h_proc, want->h_proc);
	KUNIT_EXPECT_EQ(test, got->h_direction, want->h_direction);
	KUNIT_EXPECT_EQ(test, got->h_inv_handle, want->h_inv_handle);
	KUNIT_EXPECT_EQ(test, got->h_len, want->h_len);
	KUNIT_EXPECT_EQ(test, got->h_nreads, want->h_nreads);
	KUNIT_EXPECT_EQ(test, got->h_nwrites, want->h_nwrites);
	KUNIT_EXPECT_EQ(test, got->h_has_reply, want->h_has_reply);
	KUNIT_EXPECT_EQ(test, got->h_nsegs, want->h_nsegs);

	switch (want->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		expect_lists(test, got, want);
		break;
	case RDMA2_ERROR:
		KUNIT_EXPECT_EQ(test, got->h_error.er_code,
				want->h_error.er_code);
		KUNIT_EXPECT_EQ(test, got->h_error.er_arg,
				want->h_error.er_arg);
		KUNIT_EXPECT_EQ(test, got->h_error.er_arg2,
				want->h_error.er_arg2);
		break;
	default:
		KUNIT_EXPECT_EQ(test, got->h_opttype, want->h_opttype);
		KUNIT_EXPECT_EQ(test, got->h_optoff, want->h_optoff);
		KUNIT_EXPECT_EQ(test, got->h_optlen, want->h_optlen);
		break;
	}
}

/* Decodes a vector; its header ends at the payload. */
static void decodes(struct kunit *test)
{
	const struct golden *g = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	enum rpcrdma2_errcode verdict;
	struct wire w;

	receive(test, &w, g->data, g->len);

	verdict = rpcrdma2_decode_hdr(h, w.data, w.len, w.len);

	KUNIT_ASSERT_EQ(test, verdict, RDMA2_OK);
	expect_hdr(test, h, &g->hdr);
}

/* Encodes the decoded form; the result is the vector up to the body or payload. */
static void encodes(struct kunit *test)
{
	const struct golden *g = test->param_value;
	size_t len = g->hdr.h_len;
	struct wire w;

	/* rpcrdma2_propset and rpcrdma2_props send property messages */
	if (g->hdr.h_proc >= RDMA2_OPTIONAL) {
		KUNIT_EXPECT_FALSE(test, rpcrdma2_sendable(&g->hdr));
		return;
	}

	send_hdr(test, &w, &g->hdr);

	KUNIT_ASSERT_EQ(test, w.len, len);
	KUNIT_EXPECT_MEMEQ(test, w.data, g->data, len);
}

/* Section 3 of protocol.rst: three empty lists, in both versions */
static void smallest_headers(struct kunit *test)
{
	struct rpcrdma2_hdr h = {
		.h_credit = 1, .h_proc = RDMA2_MSG, .h_direction = RDMA2_CALL,
	};

	h.h_vers = RPCRDMA2_VERS_ONE;
	KUNIT_EXPECT_EQ(test, rpcrdma2_hdr_min(h.h_vers), 28);
	KUNIT_EXPECT_EQ(test, rpcrdma2_hdr_size(&h), 28);

	h.h_vers = RPCRDMA2_VERS_TWO;
	KUNIT_EXPECT_EQ(test, rpcrdma2_hdr_min(h.h_vers), 36);
	KUNIT_EXPECT_EQ(test, rpcrdma2_hdr_size(&h), 36);
}

/*
 * S38: receivers handle a Call only without a fault, and a Reply unless its verdict is
 * RDMA2_DROP.
 */
static void add_type(const struct rpcrdma2_hdr *h, enum rpcrdma2_errcode verdict,
		     unsigned long *calls, unsigned long *replies)
{
	if (verdict == RDMA2_DROP)
		return;
	if (h->h_proc == RDMA2_ERROR || h->h_direction == RDMA2_REPLY)
		*replies |= BIT(h->h_proc);
	else if (!verdict)
		*calls |= BIT(h->h_proc);
}

/* All vectors, with all versions, types and directions */
static void s38_types_of_each_role(struct kunit *test)
{
	unsigned long calls = 0, replies = 0;
	struct rpcrdma2_hdr *h = hdr_new(test);
	enum rpcrdma2_errcode verdict;
	unsigned int i, kind;
	struct wire w;
	__be32 *word;

	for (i = 0; i < ARRAY_SIZE(goldens); i++) {
		receive(test, &w, goldens[i].data, goldens[i].len);
		word = w.data;
		for (kind = 0; kind < 3 * 3 * 16; kind++) {
			word[1] = cpu_to_be32(1 + kind % 3);
			word[3] = cpu_to_be32(kind / 9);
			if (w.len > RPCRDMA2_PREFIX_LEN)
				word[4] = cpu_to_be32(kind / 3 % 3);
			verdict = rpcrdma2_decode_hdr(h, w.data, w.len, w.len);
			add_type(h, verdict, &calls, &replies);
		}
	}

	KUNIT_EXPECT_EQ(test, calls,
			BIT(RDMA2_MSG) | BIT(RDMA2_NOMSG) | BIT(RDMA2_OPTIONAL) |
			BIT(RDMA2_CONNPROP) | BIT(RDMA2_REQPROP) | BIT(RDMA2_UPDPROP));
	KUNIT_EXPECT_EQ(test, replies,
			BIT(RDMA2_MSG) | BIT(RDMA2_NOMSG) | BIT(RDMA2_ERROR) |
			BIT(RDMA2_OPTIONAL) | BIT(RDMA2_RESPROP));
}

static struct kunit_case codec_cases[] = {
	KUNIT_CASE_PARAM(decodes, golden_gen_params),
	KUNIT_CASE_PARAM(encodes, golden_gen_params),
	KUNIT_CASE(smallest_headers),
	KUNIT_CASE(s38_types_of_each_role),
	{ }
};

static struct kunit_suite codec_suite = {
	.name = "rpcrdma2_codec",
	.test_cases = codec_cases,
};

kunit_test_suite(codec_suite);

MODULE_DESCRIPTION("KUnit tests of the RPC-over-RDMA version 2 headers");
MODULE_LICENSE("GPL");
MODULE_INFO(import_ns, "RPCRDMA2");
