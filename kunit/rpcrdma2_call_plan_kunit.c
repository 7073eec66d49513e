// SPDX-License-Identifier: GPL-2.0
/*
 * The transfer of a Call and its Reply: rpcrdma2_plan_call() against a table. Neighboring
 * rows lie on the two sides of a threshold.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <rpcrdma2/plan.h>

struct plan_case {
	const char		*desc;
	struct rpcrdma2_call_sizes	sz;
	struct rpcrdma2_call_plan	want;
	int			ret;
};

#define THRESHOLDS(_call, _reply, _hdr)		\
	.sz_call_threshold	= (_call),	\
	.sz_reply_threshold	= (_reply),	\
	.sz_hdr_min		= (_hdr)
#define LIMITS(_call, _reply, _hdr)		\
	THRESHOLDS(_call, _reply, _hdr),	\
	.sz_limits		= RPCRDMA2_NO_LIMITS
#define SEGS(_count)				\
	.sz_read_segs		= (_count),	\
	.sz_write_segs		= (_count),	\
	.sz_reply_rest_segs	= (_count),	\
	.sz_reply_segs		= (_count)

/* Version 2 with default properties; chunks of one segment */
#define V2	LIMITS(RPCRDMA2_INLINE_DEFAULT, RPCRDMA2_INLINE_DEFAULT, \
		       RPCRDMA2_HDR_MIN), SEGS(1)
#define FIRST	LIMITS(RPCRDMA2_INLINE_FIRST, RPCRDMA2_INLINE_DEFAULT, \
		       RPCRDMA2_HDR_MIN), SEGS(1)

/* Segments of chunks: Read 2, Write 3, Reply 5, or 4 beside a Write chunk */
#define UNEVEN(_call, _reply)	LIMITS(_call, _reply, RPCRDMA2_HDR_MIN), \
	.sz_read_segs = 2, .sz_write_segs = 3, .sz_reply_segs = 5, \
	.sz_reply_rest_segs = 4
#define READ_LIST_2	(2 * RPCRDMA2_READ_SEG_LEN)
#define WRITE_LIST_3	(RPCRDMA2_WRITE_CHUNK_LEN + 3 * RPCRDMA2_SEG_LEN)
#define REPLY_CHUNK_4	(RPCRDMA2_REPLY_CHUNK_LEN + 4 * RPCRDMA2_SEG_LEN)
#define REPLY_CHUNK_5	(RPCRDMA2_REPLY_CHUNK_LEN + 5 * RPCRDMA2_SEG_LEN)

/*
 * Version 2 with a server whose errors have reported limits. The number of segments differs
 * between the chunks.
 */
#define TAKES(_reads, _writes, _segs)					\
	THRESHOLDS(RPCRDMA2_INLINE_DEFAULT, RPCRDMA2_INLINE_DEFAULT,	\
		   RPCRDMA2_HDR_MIN),					\
	.sz_limits = { _reads, _writes, _segs },			\
	.sz_read_segs = 5, .sz_rest_segs = 6, .sz_call_segs = 9,	\
	.sz_closed_segs = 8, .sz_copy_max = 8192,			\
	.sz_write_segs = 3, .sz_reply_rest_segs = 4, .sz_reply_segs = 7
#define MANY		U32_MAX

/* Messages that need chunks */
#define WRITE_CALL	.sz_call_rest = 200, .sz_call_pages = 65536,	\
			.sz_call_ddp = true
#define LONG_WRITE	.sz_call_rest = 5000, .sz_call_pages = 65536,	\
			.sz_call_ddp = true
#define LONG_CALL(_rest) .sz_call_rest = (_rest)
#define READ_CALL	.sz_call_rest = 40, .sz_reply_rest = 400,	\
			.sz_reply_pages = 65536, .sz_reply_ddp = true
#define LONG_READ	.sz_call_rest = 40, .sz_reply_rest = 5000,	\
			.sz_reply_pages = 65536, .sz_reply_ddp = true
#define LONG_REPLY	.sz_call_rest = 40, .sz_reply_rest = 5000
#define SMALL		.sz_call_rest = 40, .sz_reply_rest = 400

#define INLINE_MAX	(RPCRDMA2_INLINE_DEFAULT - RPCRDMA2_HDR_MIN)
#define READ_SEG	RPCRDMA2_READ_SEG_LEN
#define WRITE_LIST	(RPCRDMA2_WRITE_CHUNK_LEN + RPCRDMA2_SEG_LEN)
#define REPLY_CHUNK	(RPCRDMA2_REPLY_CHUNK_LEN + RPCRDMA2_SEG_LEN)

static const struct plan_case plan_cases[] = {
	{ "C-073 a small Call with a small Reply has no chunks",
	  { V2, .sz_call_rest = 40, .sz_reply_rest = 24 },
	  { .cp_proc = RDMA2_MSG } },

	/* The Call */
	{ "C-001 a Call as long as the threshold goes inline",
	  { V2, .sz_call_rest = INLINE_MAX },
	  { .cp_proc = RDMA2_MSG } },
	{ "C-002 a Call of threshold+4 goes NOMSG with a Position-Zero chunk",
	  { V2, .sz_call_rest = INLINE_MAX + 4 },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true } },
	{ "C-002 also if it has pages that are not DDP-eligible",
	  { V2, .sz_call_rest = 200, .sz_call_pages = 8192 },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true } },
	{ "C-001 a DDP-eligible payload that fits goes inline",
	  { V2, .sz_call_rest = 200, .sz_call_pages = INLINE_MAX - 200,
	    .sz_call_ddp = true },
	  { .cp_proc = RDMA2_MSG } },
	{ "C-001 a DDP-eligible payload that does not fit goes in a Read chunk",
	  { V2, .sz_call_rest = 200, .sz_call_pages = INLINE_MAX - 196,
	    .sz_call_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_read = true } },
	{ "C-001 also one in more parts than a Send has SGEs",
	  { V2, .sz_call_rest = 200, .sz_call_pages = INLINE_MAX - 200,
	    .sz_call_scattered = true, .sz_call_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_read = true } },
	{ "C-002 a scattered payload that is not DDP-eligible: Position-Zero chunk",
	  { V2, .sz_call_rest = 200, .sz_call_pages = INLINE_MAX - 200,
	    .sz_call_scattered = true },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true } },
	{ "C-001 the Read list counts: the rest just fits",
	  { V2, .sz_call_rest = INLINE_MAX - READ_SEG,
	    .sz_call_pages = 4096, .sz_call_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_read = true } },
	{ "E-04 the rest does not fit: Position-Zero chunk and Read chunk",
	  { V2, .sz_call_rest = INLINE_MAX - READ_SEG + 4,
	    .sz_call_pages = 4096, .sz_call_ddp = true },
	  { .cp_proc = RDMA2_NOMSG, .cp_read = true, .cp_poszero = true } },
	{ "C-001 each segment of the Read list counts",
	  { LIMITS(4096, 4096, RPCRDMA2_HDR_MIN), SEGS(3),
	    .sz_call_rest = INLINE_MAX - 3 * READ_SEG,
	    .sz_call_pages = 12288, .sz_call_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_read = true } },
	{ "C-001 five segments: the rest just fits",
	  { LIMITS(4096, 4096, RPCRDMA2_HDR_MIN), SEGS(5),
	    .sz_call_rest = 4096 - 36 - 5 * 24,
	    .sz_call_pages = 20480, .sz_call_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_read = true } },
	{ "C-001 five segments: the rest does not fit",
	  { LIMITS(4096, 4096, RPCRDMA2_HDR_MIN), SEGS(5),
	    .sz_call_rest = 4096 - 36 - 5 * 24 + 4,
	    .sz_call_pages = 20480, .sz_call_ddp = true },
	  { .cp_proc = RDMA2_NOMSG, .cp_read = true, .cp_poszero = true } },
	{ "C-098 S32 a first Call of 1024 bytes goes inline",
	  { FIRST,
	    .sz_call_rest = RPCRDMA2_INLINE_FIRST - RPCRDMA2_HDR_MIN },
	  { .cp_proc = RDMA2_MSG } },
	{ "C-098 a longer first Call does not go inline",
	  { FIRST,
	    .sz_call_rest = RPCRDMA2_INLINE_FIRST - RPCRDMA2_HDR_MIN + 4 },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true } },
	{ "C-029 a larger threshold needs no Position-Zero chunk",
	  { LIMITS(8192, 4096, RPCRDMA2_HDR_MIN), SEGS(1),
	    .sz_call_rest = 6000 },
	  { .cp_proc = RDMA2_MSG } },

	/* The Reply */
	{ "C-030 a Reply that fits needs no chunk",
	  { V2, .sz_reply_rest = 400, .sz_reply_pages = INLINE_MAX - 400 },
	  { .cp_proc = RDMA2_MSG } },
	{ "C-030 a Reply one byte longer gets a Reply chunk",
	  { V2, .sz_reply_rest = 401, .sz_reply_pages = INLINE_MAX - 400 },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "E-15 a DDP-eligible result gets a Write chunk instead",
	  { V2, .sz_reply_rest = 401, .sz_reply_pages = INLINE_MAX - 400,
	    .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_write = true } },
	{ "E-15 but not if the whole Reply fits",
	  { V2, .sz_reply_rest = 400, .sz_reply_pages = INLINE_MAX - 400,
	    .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_MSG } },
	{ "C-030 the Reply repeats the Write list: the rest just fits",
	  { V2, .sz_reply_rest = INLINE_MAX - WRITE_LIST,
	    .sz_reply_pages = 65536, .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_write = true } },
	{ "C-030 one byte more: Write chunk with Reply chunk",
	  { V2, .sz_reply_rest = INLINE_MAX - WRITE_LIST + 1,
	    .sz_reply_pages = 65536, .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_write = true, .cp_reply = true } },
	{ "C-030 a larger threshold needs no Reply chunk",
	  { LIMITS(4096, 8192, RPCRDMA2_HDR_MIN), SEGS(1),
	    .sz_reply_rest = 5076 },
	  { .cp_proc = RDMA2_MSG } },
	{ "C-001 thresholds differ by direction",
	  { LIMITS(8192, 4096, RPCRDMA2_HDR_MIN), SEGS(1),
	    .sz_call_rest = 5000,
	    .sz_reply_rest = 5000 },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },

	/* Both */
	{ "C-001 the Reply chunk counts in the Call: it just fits",
	  { V2, .sz_call_rest = INLINE_MAX - REPLY_CHUNK,
	    .sz_reply_rest = 5000 },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "C-001 the Reply chunk counts in the Call: it does not fit",
	  { V2, .sz_call_rest = INLINE_MAX - REPLY_CHUNK + 1,
	    .sz_reply_rest = 5000 },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true, .cp_reply = true } },
	{ "C-001 the Write list counts in the Call",
	  { V2, .sz_call_rest = INLINE_MAX - WRITE_LIST + 4,
	    .sz_reply_pages = 65536, .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true, .cp_write = true } },
	{ "E-04 all kinds of chunks",
	  { V2, .sz_call_rest = 5000, .sz_call_pages = 65536,
	    .sz_call_ddp = true, .sz_reply_rest = 5000,
	    .sz_reply_pages = 65536, .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_NOMSG, .cp_read = true, .cp_poszero = true,
	    .cp_write = true, .cp_reply = true } },
	{ "C-001 a Read list of 2 segments: the rest just fits",
	  { UNEVEN(4096, 1024), .sz_call_rest = INLINE_MAX - READ_LIST_2,
	    .sz_call_pages = 65536, .sz_call_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_read = true } },
	{ "C-001 a Read list of 2 segments: the rest does not fit",
	  { UNEVEN(4096, 65536), .sz_call_rest = INLINE_MAX - READ_LIST_2 + 4,
	    .sz_call_pages = 65536, .sz_call_ddp = true },
	  { .cp_proc = RDMA2_NOMSG, .cp_read = true, .cp_poszero = true } },
	{ "C-001 a Write list of 3 segments counts in the Call: it just fits",
	  { UNEVEN(4096, 1024), .sz_call_rest = INLINE_MAX - WRITE_LIST_3,
	    .sz_reply_pages = 65536, .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_write = true } },
	{ "C-001 a Write list of 3 segments counts in the Call: it does not",
	  { UNEVEN(4096, 65536 - 4),
	    .sz_call_rest = INLINE_MAX - WRITE_LIST_3 + 4,
	    .sz_reply_pages = 65536, .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true, .cp_write = true } },
	{ "C-030 a Write list of 3 segments counts in the Reply: it just fits",
	  { UNEVEN(65536, 4096), .sz_reply_rest = INLINE_MAX - WRITE_LIST_3,
	    .sz_reply_pages = 65536, .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_write = true } },
	{ "C-030 a Write list of 3 segments counts in the Reply: it does not",
	  { UNEVEN(1024, 4096), .sz_reply_rest = INLINE_MAX - WRITE_LIST_3 + 1,
	    .sz_reply_pages = 65536, .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_write = true, .cp_reply = true } },
	{ "C-001 a Reply chunk of 5 segments counts in the Call: it just fits",
	  { UNEVEN(4096, 1024), .sz_call_rest = INLINE_MAX - REPLY_CHUNK_5,
	    .sz_reply_rest = 1024 },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "C-001 a Reply chunk of 5 segments counts in the Call: it does not",
	  { UNEVEN(4096, 1024), .sz_call_rest = INLINE_MAX - REPLY_CHUNK_5 + 4,
	    .sz_reply_rest = 1024 },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true, .cp_reply = true } },
	{ "C-001 all three count in the Call: it just fits",
	  { UNEVEN(4096, 1024),
	    .sz_call_rest = INLINE_MAX - READ_LIST_2 - WRITE_LIST_3 -
			    REPLY_CHUNK_4,
	    .sz_call_pages = 65536, .sz_call_ddp = true,
	    .sz_reply_rest = 1024, .sz_reply_pages = 4, .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_MSG, .cp_read = true, .cp_write = true,
	    .cp_reply = true } },
	{ "C-001 all three count in the Call: it does not",
	  { UNEVEN(4096, 1024),
	    .sz_call_rest = INLINE_MAX - READ_LIST_2 - WRITE_LIST_3 -
			    REPLY_CHUNK_4 + 4,
	    .sz_call_pages = 65536, .sz_call_ddp = true,
	    .sz_reply_rest = 1024, .sz_reply_pages = 4, .sz_reply_ddp = true },
	  { .cp_proc = RDMA2_NOMSG, .cp_read = true, .cp_poszero = true,
	    .cp_write = true, .cp_reply = true } },
	{ "C-001 the Read list is not charged when the payload fits inline",
	  { UNEVEN(4096, 1024), .sz_call_rest = INLINE_MAX - 4,
	    .sz_call_pages = 4, .sz_call_ddp = true },
	  { .cp_proc = RDMA2_MSG } },
	{ "E-29 version 1 at 1024 bytes, header of 28",
	  { LIMITS(RPCRDMA1_INLINE_DEFAULT, RPCRDMA1_INLINE_DEFAULT,
		   RPCRDMA1_HDR_MIN), SEGS(1),
	    .sz_call_rest = RPCRDMA1_INLINE_DEFAULT - RPCRDMA1_HDR_MIN,
	    .sz_reply_rest = RPCRDMA1_INLINE_DEFAULT - RPCRDMA1_HDR_MIN },
	  { .cp_proc = RDMA2_MSG } },

	/* Read chunks */
	{ "C-083 a limit of one Read chunk, and there is one",
	  { TAKES(1, MANY, MANY), WRITE_CALL },
	  { .cp_proc = RDMA2_MSG, .cp_read = true } },
	{ "C-083 a limit of no Read chunks: Position-Zero chunk with all",
	  { TAKES(0, MANY, MANY), WRITE_CALL },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true } },
	{ "C-083 a limit of two: Position-Zero chunk and Read chunk",
	  { TAKES(2, MANY, MANY), LONG_WRITE },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true, .cp_read = true } },
	{ "C-083 a limit of one: Position-Zero chunk with all",
	  { TAKES(1, MANY, MANY), LONG_WRITE },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true } },
	{ "C-083 a Call without Read chunks is not changed",
	  { TAKES(0, MANY, MANY), LONG_CALL(5000) },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true } },
	{ "C-083 a small Call is not changed by any limit",
	  { TAKES(0, 0, 0), SMALL }, { .cp_proc = RDMA2_MSG } },

	/* Write chunks */
	{ "C-084 a limit of one Write chunk",
	  { TAKES(MANY, 1, MANY), READ_CALL },
	  { .cp_proc = RDMA2_MSG, .cp_write = true } },
	{ "C-084 a limit of no Write chunks: Reply chunk for all",
	  { TAKES(MANY, 0, MANY), READ_CALL },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "C-084 a limit of no Write chunks applies beside a Reply chunk too",
	  { TAKES(MANY, 0, MANY), LONG_READ },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },

	/* Segments of a Call's chunks: Read 5, rest 6, all 8 or 9 */
	{ "C-085 the limit equals the segments of the Read chunk",
	  { TAKES(MANY, MANY, 5), WRITE_CALL },
	  { .cp_proc = RDMA2_MSG, .cp_read = true } },
	{ "C-085 one segment less, and the Call is too long for a copy",
	  { TAKES(MANY, MANY, 4), WRITE_CALL }, .ret = -EMSGSIZE },
	{ "C-085 one segment less, but the Call can be copied",
	  { TAKES(MANY, MANY, 4), .sz_call_rest = 200,
	    .sz_call_pages = 7992, .sz_call_ddp = true },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true, .cp_copy = true } },
	{ "C-085 the limit suffices for both chunks",
	  { TAKES(MANY, MANY, 6), LONG_WRITE },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true, .cp_read = true } },
	{ "C-085 the limit is one below the segments of the rest",
	  { TAKES(MANY, MANY, 5), LONG_WRITE }, .ret = -EMSGSIZE },
	{ "C-085 the limit equals the segments of the whole Call",
	  { TAKES(MANY, MANY, 8), LONG_CALL(8196) },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true } },
	{ "C-085 one segment less, and the whole Call is too long for a copy",
	  { TAKES(MANY, MANY, 7), LONG_CALL(8196) }, .ret = -EMSGSIZE },
	{ "C-085 one segment less, but the whole Call can be copied",
	  { TAKES(MANY, MANY, 7), LONG_CALL(8192) },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true, .cp_copy = true } },
	{ "C-085 a copy is one segment",
	  { TAKES(MANY, MANY, 1), LONG_CALL(8192) },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true, .cp_copy = true } },
	{ "C-085 a copy exceeds a limit of no segments",
	  { TAKES(MANY, MANY, 0), LONG_CALL(8192) }, .ret = -EMSGSIZE },
	{ "C-085 beside a Reply chunk the gaps stay: the limit equals these segments",
	  { TAKES(MANY, MANY, 9), LONG_CALL(5000), .sz_reply_rest = 5000 },
	  { .cp_proc = RDMA2_NOMSG, .cp_poszero = true, .cp_reply = true } },
	{ "C-085 beside a Reply chunk nothing is copied: one segment less",
	  { TAKES(MANY, MANY, 8), LONG_CALL(5000), .sz_reply_rest = 5000 },
	  .ret = -EMSGSIZE },

	/* Segments of the Reply's chunks: Write 3, rest 4, all 7 */
	{ "C-085 the limit equals the segments of the Write chunk",
	  { TAKES(MANY, MANY, 3), READ_CALL },
	  { .cp_proc = RDMA2_MSG, .cp_write = true } },
	{ "C-085 one segment less, and a Reply chunk would have more",
	  { TAKES(MANY, MANY, 2), READ_CALL }, .ret = -EMSGSIZE },
	{ "C-085 one segment less, but a Reply chunk has fewer",
	  { THRESHOLDS(4096, 4096, RPCRDMA2_HDR_MIN),
	    .sz_limits = { MANY, MANY, 2 }, .sz_write_segs = 3,
	    .sz_reply_segs = 2, READ_CALL },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "C-085 the limit suffices for Write chunk and Reply chunk",
	  { TAKES(MANY, MANY, 4), LONG_READ },
	  { .cp_proc = RDMA2_MSG, .cp_write = true, .cp_reply = true } },
	{ "C-085 one segment less, and a single Reply chunk would have more",
	  { TAKES(MANY, MANY, 3), LONG_READ }, .ret = -EMSGSIZE },
	{ "C-085 one segment less, but a single Reply chunk has fewer",
	  { THRESHOLDS(4096, 4096, RPCRDMA2_HDR_MIN),
	    .sz_limits = { MANY, MANY, 1 }, .sz_write_segs = 1,
	    .sz_reply_rest_segs = 2, .sz_reply_segs = 1, LONG_READ },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "C-085 the limit equals the segments of the Reply chunk",
	  { TAKES(MANY, MANY, 7), LONG_REPLY },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "C-085 the limit is one below the segments of the Reply chunk",
	  { TAKES(MANY, MANY, 6), LONG_REPLY }, .ret = -EMSGSIZE },

	/* The server has reported that the Reply needs a chunk */
	{ "C-091 a Reply that should fit gets a Reply chunk",
	  { V2, SMALL, .sz_reply_needed = 4 },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "C-091 the whole receive buffer",
	  { V2, SMALL, .sz_reply_needed = 400 },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "C-091 more than the receive buffer",
	  { V2, SMALL, .sz_reply_needed = 401 },
	  .ret = -EMSGSIZE },
	{ "C-091 far more than the receive buffer",
	  { V2, SMALL, .sz_reply_needed = U32_MAX }, .ret = -EMSGSIZE },
	{ "C-091 a Reply chunk beside the Write chunk",
	  { V2, READ_CALL, .sz_reply_needed = 400 },
	  { .cp_proc = RDMA2_MSG, .cp_write = true, .cp_reply = true } },
	{ "C-091 more: no Write chunk, but a larger Reply chunk",
	  { V2, READ_CALL, .sz_reply_needed = 401 },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "C-091 a Reply chunk for all of the pages",
	  { V2, READ_CALL, .sz_reply_needed = 65936 },
	  { .cp_proc = RDMA2_MSG, .cp_reply = true } },
	{ "C-091 more than all of the pages",
	  { V2, READ_CALL, .sz_reply_needed = 65937 }, .ret = -EMSGSIZE },
};

KUNIT_ARRAY_PARAM_DESC(plan, plan_cases, desc);

static void plan(struct kunit *test)
{
	const struct plan_case *c = test->param_value;
	struct rpcrdma2_call_plan got;

	memset(&got, 0xff, sizeof(got));

	KUNIT_EXPECT_EQ(test, rpcrdma2_plan_call(&c->sz, &got), c->ret);
	KUNIT_EXPECT_EQ(test, rpcrdma2_fits_inline(&c->sz),
			!c->ret && c->want.cp_proc == RDMA2_MSG &&
			!c->want.cp_read && !c->want.cp_copy &&
			!c->want.cp_write && !c->want.cp_reply);
	if (c->ret)
		return;

	KUNIT_EXPECT_EQ(test, got.cp_proc, c->want.cp_proc);
	KUNIT_EXPECT_EQ(test, got.cp_read, c->want.cp_read);
	KUNIT_EXPECT_EQ(test, got.cp_poszero, c->want.cp_poszero);
	KUNIT_EXPECT_EQ(test, got.cp_copy, c->want.cp_copy);
	KUNIT_EXPECT_EQ(test, got.cp_write, c->want.cp_write);
	KUNIT_EXPECT_EQ(test, got.cp_reply, c->want.cp_reply);
}

/* Pages of the three parts; segments of at most 4 pages, without and with holes */
static const struct {
	unsigned int pages[3], segs, with_holes;
} counts[] = {
	{ { 0, 0, 0 }, 0, 0 },
	{ { 1, 0, 0 }, 1, 1 },
	{ { 4, 0, 0 }, 1, 1 },
	{ { 5, 0, 0 }, 2, 2 },
	{ { 2, 1, 1 }, 3, 1 },
	{ { 4, 1, 0 }, 2, 2 },
	{ { 7, 1, 1 }, 4, 3 },
};

/* C-085: a limit on segments permits every chunk within this limit. */
static void count_segs(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		KUNIT_EXPECT_EQ(test, counts[i].segs,
				rpcrdma2_count_segs(counts[i].pages, 3, 4,
						    false));
		KUNIT_EXPECT_EQ(test, counts[i].with_holes,
				rpcrdma2_count_segs(counts[i].pages, 3, 4,
						    true));
	}
	KUNIT_EXPECT_EQ(test, rpcrdma2_pages_of(100, 0), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_pages_of(PAGE_SIZE - 1, 1), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_pages_of(PAGE_SIZE - 1, 2), 2);
}

static struct kunit_case plan_suite_cases[] = {
	KUNIT_CASE_PARAM(plan, plan_gen_params),
	KUNIT_CASE(count_segs),
	{}
};

static struct kunit_suite plan_suite = {
	.name		= "rpcrdma2_call_plan",
	.test_cases	= plan_suite_cases,
};

kunit_test_suite(plan_suite);
