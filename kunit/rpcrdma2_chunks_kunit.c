// SPDX-License-Identifier: GPL-2.0
/*
 * The chunk lists: the decoder groups segments into chunks, and its checks have an order.
 */
#include <kunit/test.h>

#include <rpcrdma2/wire.h>

#include "util.h"

/* Contents of a header */
struct order_case {
	const char		*desc;
	u32			proc;
	u32			direction;
	unsigned int		reads;		/* positions from 40, in steps of 8 */
	bool			zero;		/* a further one at position 0, last */
	bool			zero_first;
	unsigned int		more;		/* after the one at position 0 */
	unsigned int		writes;		/* of one segment each */
	unsigned int		segs;		/* of a Reply chunk */
	u32			flag;		/* its discriminator, if not 1 */
	u32			msg_type;	/* of the payload */
	enum rpcrdma2_errcode	verdict;
};

#define MSG_CALL	.proc = RDMA2_MSG, .direction = RDMA2_CALL
#define NOMSG_CALL	.proc = RDMA2_NOMSG, .direction = RDMA2_CALL
#define MSG_REPLY	.proc = RDMA2_MSG, .direction = RDMA2_REPLY, \
			.msg_type = RDMA2_REPLY

static const struct order_case order_cases[] = {
	{ "C-083 16 Read chunks are accepted",
	  MSG_CALL, .reads = 16, .verdict = RDMA2_OK },
	{ "C-083 17 Read chunks get READ_CHUNKS",
	  MSG_CALL, .reads = 17, .verdict = RDMA2_ERR_READ_CHUNKS },
	{ "C-084 8 Write chunks are accepted",
	  MSG_CALL, .writes = 8, .verdict = RDMA2_OK },
	{ "C-084 9 Write chunks get WRITE_CHUNKS",
	  MSG_CALL, .writes = 9, .verdict = RDMA2_ERR_WRITE_CHUNKS },
	{ "C-085 63 segments are accepted",
	  MSG_CALL, .segs = 63, .verdict = RDMA2_OK },
	{ "C-085 64 segments are accepted",
	  MSG_CALL, .segs = 64, .verdict = RDMA2_OK },
	{ "C-085 65 segments get SEGMENTS",
	  MSG_CALL, .segs = 65, .verdict = RDMA2_ERR_SEGMENTS },
	{ "C-085 64 segments over three lists are accepted",
	  MSG_CALL, .reads = 16, .writes = 8, .segs = 40,
	  .verdict = RDMA2_OK },
	{ "C-085 65 segments over three lists get SEGMENTS",
	  MSG_CALL, .reads = 16, .writes = 8, .segs = 41,
	  .verdict = RDMA2_ERR_SEGMENTS },
	{ "S44 too many of all gets READ_CHUNKS",
	  MSG_CALL, .reads = 17, .writes = 9, .segs = 65,
	  .verdict = RDMA2_ERR_READ_CHUNKS },
	{ "S44 too many Write chunks and segments gets WRITE_CHUNKS",
	  MSG_CALL, .writes = 9, .segs = 65,
	  .verdict = RDMA2_ERR_WRITE_CHUNKS },
	{ "S44 too many of all and a bad list gets BAD_XDR",
	  MSG_CALL, .reads = 17, .writes = 9, .segs = 65, .flag = 2,
	  .verdict = RDMA2_ERR_BAD_XDR },
	{ "S44 too many segments and a bad msg_type gets BAD_XDR",
	  MSG_CALL, .segs = 65, .msg_type = RDMA2_REPLY,
	  .verdict = RDMA2_ERR_BAD_XDR },
	{ "S44 too many Read chunks and no payload gets BAD_XDR",
	  NOMSG_CALL, .reads = 17, .verdict = RDMA2_ERR_BAD_XDR },
	{ "S44 S07 MSG, Position-Zero behind too many gets BAD_XDR",
	  MSG_CALL, .reads = 16, .zero = true,
	  .verdict = RDMA2_ERR_BAD_XDR },
	{ "S44 S07 MSG, Position-Zero among too many: BAD_XDR",
	  MSG_CALL, .reads = 16, .zero = true, .more = 3,
	  .verdict = RDMA2_ERR_BAD_XDR },
	{ "S44 E-04 NOMSG, Position-Zero among too many: READ_CHUNKS",
	  NOMSG_CALL, .reads = 16, .zero = true, .more = 3,
	  .verdict = RDMA2_ERR_READ_CHUNKS },
	{ "S44 S07 MSG, Position-Zero before too many gets BAD_XDR",
	  MSG_CALL, .reads = 16, .zero_first = true,
	  .verdict = RDMA2_ERR_BAD_XDR },
	{ "S44 E-04 NOMSG, Position-Zero before too many gets READ_CHUNKS",
	  NOMSG_CALL, .reads = 16, .zero_first = true,
	  .verdict = RDMA2_ERR_READ_CHUNKS },
	{ "S44 E-04 NOMSG, Position-Zero behind too many gets READ_CHUNKS",
	  NOMSG_CALL, .reads = 16, .zero = true,
	  .verdict = RDMA2_ERR_READ_CHUNKS },
	{ "E-04 NOMSG, Position-Zero last of 16 is accepted",
	  NOMSG_CALL, .reads = 15, .zero = true, .verdict = RDMA2_OK },
	{ "C-078 a Reply with 8 Write chunks is accepted",
	  MSG_REPLY, .writes = 8, .verdict = RDMA2_OK },
	{ "C-078 a Reply with 9 Write chunks is bad",
	  MSG_REPLY, .writes = 9, .verdict = RDMA2_ERR_BAD_XDR },
};

KUNIT_ARRAY_PARAM_DESC(order, order_cases, desc);

static void put_case(struct words *m, const struct order_case *c, u32 vers)
{
	unsigned int i;

	put_start(m, vers, c->proc, c->direction);
	if (c->zero_first)
		put_read(m, 0, 4096);
	for (i = 0; i < c->reads; i++)
		put_read(m, 40 + 8 * i, 4);
	if (c->zero)
		put_read(m, 0, 4096);
	for (; i < c->reads + c->more; i++)
		put_read(m, 40 + 8 * i, 4);
	put(m, 0);
	for (i = 0; i < c->writes; i++) {
		put(m, 1);
		put_segments(m, 1);
	}
	put(m, 0);
	if (c->segs) {
		put(m, c->flag ?: 1);
		put_segments(m, c->segs);
	} else {
		put(m, 0);
	}
	if (c->proc == RDMA2_MSG)
		put_payload(m, c->msg_type, 128);
}

static void order_of_checks(struct kunit *test)
{
	const struct order_case *c = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);

	put_case(m, c, 2);

	KUNIT_EXPECT_EQ(test, judge_words(test, h, m), c->verdict);
	KUNIT_EXPECT_EQ(test, h->h_direction, c->direction);
}

/* C-095: version 1 has a single error code, but the same checks. */
static void order_of_checks_version_one(struct kunit *test)
{
	const struct order_case *c = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	enum rpcrdma2_errcode verdict;

	put_case(m, c, 1);

	verdict = judge_words(test, h, m);

	/* The msg_type determines the direction; the two cannot differ. */
	if (c->msg_type == c->direction)
		KUNIT_EXPECT_EQ(test, verdict, c->verdict);
	if (!verdict)
		return;
	rpcrdma2_set_error(h, verdict, 0, 0);
	KUNIT_EXPECT_EQ(test, h->h_error.er_code, RDMA2_ERR_BAD_XDR);
	KUNIT_EXPECT_EQ(test, rpcrdma2_hdr_size(h), 20);
}

/*
 * S09: segments arrive in any order. Chunks are sorted by position, and their segments keep
 * the order of the list.
 */
static void segments_grouped_by_position(struct kunit *test)
{
	static const struct {
		u32	position;
		u32	length;
	} wire[] = {
		{ 4152, 8 }, { 56, 1 }, { 5000, 0 }, { 4152, 16 }, { 48, 4 },
		{ 56, 3 }, { 4152, 32 }, { 48, 4 }, { 56, 4088 },
	};
	static const struct rpcrdma2_chunk want[] = {
		{ 48, 8, 0, 2 }, { 56, 4092, 2, 3 }, { 4152, 56, 5, 3 },
	};
	static const u32 lengths[] = { 4, 4, 1, 3, 4088, 8, 16, 32 };
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int i;

	put_start(m, 2, RDMA2_MSG, RDMA2_CALL);
	for (i = 0; i < ARRAY_SIZE(wire); i++)
		put_read(m, wire[i].position, wire[i].length);
	put(m, 0);
	put(m, 0);
	put(m, 0);
	put_payload(m, RDMA2_CALL, 72);

	KUNIT_ASSERT_EQ(test, judge_words(test, h, m), RDMA2_OK);

	KUNIT_ASSERT_EQ(test, h->h_nreads, ARRAY_SIZE(want));
	KUNIT_ASSERT_EQ(test, h->h_nsegs, ARRAY_SIZE(lengths));
	KUNIT_EXPECT_MEMEQ(test, h->h_reads, want, sizeof(want));
	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		KUNIT_EXPECT_EQ(test, h->h_segs[i].rs_length, lengths[i]);
}

/* S09: the least favorable order, at the limits of chunks and of segments */
static void segments_in_descending_order(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int i;

	put_start(m, 2, RDMA2_MSG, RDMA2_CALL);
	for (i = 0; i < RPCRDMA2_MAX_SEGMENTS; i++)
		put_read(m, 40 + 16 * (15 - i % 16), 4);
	put(m, 0);
	put(m, 0);
	put(m, 0);
	put_payload(m, RDMA2_CALL, 40);

	KUNIT_ASSERT_EQ(test, judge_words(test, h, m), RDMA2_OK);

	KUNIT_ASSERT_EQ(test, h->h_nreads, 16);
	for (i = 0; i < 16; i++) {
		KUNIT_EXPECT_EQ(test, h->h_reads[i].ck_position, 40 + 16 * i);
		KUNIT_EXPECT_EQ(test, h->h_reads[i].ck_first, 4 * i);
		KUNIT_EXPECT_EQ(test, h->h_reads[i].ck_nsegs, 4);
		KUNIT_EXPECT_EQ(test, h->h_reads[i].ck_length, 16);
	}
}

/*
 * S09: all chunks except the first and the last are inserted between two others. The
 * handles identify the segments; put_read() derives a handle from the place of the segment.
 */
static void chunks_inserted_between(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int i, k, at;
	u32 handles[16][4];

	put_start(m, 2, RDMA2_MSG, RDMA2_CALL);
	for (i = 0; i < RPCRDMA2_MAX_SEGMENTS; i++) {
		k = i * 7 % 16;
		handles[k][i / 16] = 0x100 + m->count + 2;
		put_read(m, 40 + 16 * k, 4);
	}
	put(m, 0);
	put(m, 0);
	put(m, 0);
	put_payload(m, RDMA2_CALL, 40);

	KUNIT_ASSERT_EQ(test, judge_words(test, h, m), RDMA2_OK);

	KUNIT_ASSERT_EQ(test, h->h_nreads, 16);
	KUNIT_ASSERT_EQ(test, h->h_nsegs, RPCRDMA2_MAX_SEGMENTS);
	for (k = 0; k < 16; k++) {
		KUNIT_EXPECT_EQ(test, h->h_reads[k].ck_position, 40 + 16 * k);
		KUNIT_EXPECT_EQ(test, h->h_reads[k].ck_first, 4 * k);
		KUNIT_EXPECT_EQ(test, h->h_reads[k].ck_nsegs, 4);
		for (at = 0; at < 4; at++) {
			const struct rpcrdma2_segment *seg =
				&h->h_segs[4 * k + at];

			KUNIT_EXPECT_EQ(test, seg->rs_handle, handles[k][at]);
			KUNIT_EXPECT_EQ(test, seg->rs_length, 4);
			KUNIT_EXPECT_EQ(test, seg->rs_offset,
					handles[k][at] << 12);
		}
	}
}

/*
 * S44: the decoder leaves out the first chunk, and its sums are incomplete. It must not
 * report a valid list with too many chunks as malformed.
 */
static void too_many_in_descending_order(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	int i;

	put_start(m, 2, RDMA2_MSG, RDMA2_CALL);
	for (i = RPCRDMA2_MAX_READ_CHUNKS; i >= 0; i--)
		put_read(m, 40 + 4096 * i, 4096);
	put(m, 0);
	put(m, 0);
	put(m, 0);
	put_payload(m, RDMA2_CALL, 40);

	KUNIT_EXPECT_EQ(test, judge_words(test, h, m), RDMA2_ERR_READ_CHUNKS);

	put_start(m, 2, RDMA2_NOMSG, RDMA2_CALL);
	for (i = RPCRDMA2_MAX_READ_CHUNKS; i > 0; i--)
		put_read(m, 40 + 4096 * i, 4096);
	put_read(m, 40, 4096);
	put_read(m, 0, 40);
	put(m, 0);
	put(m, 0);
	put(m, 0);

	KUNIT_EXPECT_EQ(test, judge_words(test, h, m), RDMA2_ERR_READ_CHUNKS);
}

/*
 * S05, S44: two segments at the end of a Read list, behind chunks of 4 bytes. The decoder
 * also checks the chunks that it leaves out.
 */
static const struct sum_case {
	const char		*desc;
	unsigned int		before;		/* chunks */
	bool			apart;		/* two chunks instead of one */
	u32			first, second;
	enum rpcrdma2_errcode	verdict;
} sum_cases[] = {
	{ "S05 the second chunk adds up to 2^32", 1, false,
	  0x80000000, 0x80000000, RDMA2_ERR_BAD_XDR },
	{ "S05 the second chunk stays below 2^32", 1, false,
	  0x80000000, 0x7ffffffb, RDMA2_OK },
	{ "S05 the list adds up to 2^32", 1, false,
	  0x80000000, 0x7ffffffc, RDMA2_ERR_BAD_XDR },
	{ "S05 the list adds up to 2^32, in three chunks", 1, true,
	  0x80000000, 0x7ffffffc, RDMA2_ERR_BAD_XDR },
	{ "S05 the list stays below 2^32, in three chunks", 1, true,
	  0x7ffffffc, 0x7fffffff, RDMA2_OK },
	{ "S44 the 16th chunk adds up to 2^32", 15, false,
	  0x80000000, 0x80000000, RDMA2_ERR_BAD_XDR },
	{ "S44 the 17th chunk adds up to 2^32", 16, false,
	  0x80000000, 0x80000000, RDMA2_ERR_BAD_XDR },
	{ "S44 the 17th chunk stays below 2^32", 16, false,
	  0x80000000, 0x7fffffff - 64, RDMA2_ERR_READ_CHUNKS },
	{ "S44 the 40th chunk adds up to 2^32", 39, false,
	  1, U32_MAX, RDMA2_ERR_BAD_XDR },
	{ "S44 the 40th chunk stays below 2^32", 39, false,
	  1, 1, RDMA2_ERR_READ_CHUNKS },
};

KUNIT_ARRAY_PARAM_DESC(sum, sum_cases, desc);

static void sums(struct kunit *test)
{
	const struct sum_case *c = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	u32 vers, position;
	unsigned int i;

	for (vers = 1; vers <= 2; vers++) {
		put_start(m, vers, RDMA2_MSG, RDMA2_CALL);
		for (i = 0; i < c->before; i++)
			put_read(m, 40 + 4 * i, 4);
		position = 40 + 4 * i;
		put_read(m, position, c->first);
		put_read(m, position + (c->apart ? c->first : 0), c->second);
		put(m, 0);
		put(m, 0);
		put(m, 0);
		put_payload(m, RDMA2_CALL, 40);

		KUNIT_EXPECT_EQ(test, judge_words(test, h, m), c->verdict);
	}
}

/*
 * S07, S09: segments without bytes are not a Read list, in a Reply as in a Call. With a
 * single byte they are a Read list, and the Reply is malformed.
 */
static void reply_with_empty_read_segments(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	u32 vers, proc, i, bytes;

	for (i = 0; i < 8; i++) {
		vers = 1 + i % 2;
		proc = i / 2 % 2;
		bytes = i / 4;
		put_start(m, vers, proc, RDMA2_REPLY);
		put_read(m, 8, 0);
		put_read(m, 3, 0);
		put_read(m, 8, bytes);
		put(m, 0);
		put(m, 0);
		put(m, proc == RDMA2_NOMSG);
		if (proc == RDMA2_NOMSG)
			put_segments(m, 1);
		else
			put_payload(m, RDMA2_REPLY, 24);

		/* NOMSG of version 1 is a Call if it has Read segments, even empty ones. */
		KUNIT_EXPECT_EQ_MSG(test, judge_words(test, h, m),
				    bytes ? RDMA2_ERR_BAD_XDR : RDMA2_OK,
				    "version %u, proc %u", vers, proc);
		if (bytes)
			continue;
		KUNIT_EXPECT_EQ(test, h->h_direction, RDMA2_REPLY);
		KUNIT_EXPECT_EQ(test, h->h_nreads, 0);
		KUNIT_EXPECT_EQ(test, h->h_nsegs, proc == RDMA2_NOMSG);
	}
}

/*
 * S05: a fault must not pass for the end of its list: the words behind the fault resemble
 * the end of all lists and a Call.
 */
static const struct fault_case {
	const char	*desc;
	unsigned int	nwords;
	u32		words[12];
} fault_cases[] = {
	{ "S05 the message ends within a Read segment",
	  1, { 1 } },
	{ "S05 a Read list that adds up to 2^32",
	  12, { 1, 40, 0x100, U32_MAX, 0, 0x1000,
		1, 40, 0x100, 1, 0, 0x1000 } },
	{ "S09 a Read chunk at a position that is not a multiple of 4",
	  6, { 1, 41, 0x100, 4, 0, 0x1000 } },
	{ "S05 a Write chunk with too high a count of segments",
	  3, { 0, 1, U32_MAX } },
};

KUNIT_ARRAY_PARAM_DESC(fault, fault_cases, desc);

static void fault_in_a_list(struct kunit *test)
{
	const struct fault_case *c = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int i;
	u32 vers;

	for (vers = 1; vers <= 2; vers++) {
		put_start(m, vers, RDMA2_MSG, RDMA2_CALL);
		for (i = 0; i < c->nwords; i++)
			put(m, c->words[i]);
		if (c->words[0])
			put(m, 0);
		put(m, 0);
		put_payload(m, RDMA2_CALL, 8);

		KUNIT_EXPECT_EQ_MSG(test, judge_words(test, h, m),
				    RDMA2_ERR_BAD_XDR, "version %u", vers);
	}
}

/* C-083, C-084, C-085: exactly three verdicts report an excess. */
static void verdicts_on_size(struct kunit *test)
{
	u32 verdict;

	for (verdict = RDMA2_OK; verdict <= RDMA2_DROP; verdict++)
		KUNIT_EXPECT_EQ_MSG(test, rpcrdma2_is_excess(verdict),
				    verdict >= 4 && verdict <= 6, "%u",
				    verdict);
}

/* S10: the result goes inline, and the chunk keeps its place in the list. */
static void write_chunk_without_segments(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	u32 vers;

	for (vers = 1; vers <= 2; vers++) {
		put_start(m, vers, RDMA2_MSG, RDMA2_CALL);
		put(m, 0);
		put(m, 1);
		put_segments(m, 0);
		put(m, 1);
		put_segments(m, 1);
		put(m, 0);
		put(m, 0);
		put_payload(m, RDMA2_CALL, 40);

		KUNIT_ASSERT_EQ(test, judge_words(test, h, m), RDMA2_OK);
		KUNIT_ASSERT_EQ(test, h->h_nwrites, 2);
		KUNIT_EXPECT_EQ(test, h->h_writes[0].ck_nsegs, 0);
		KUNIT_EXPECT_EQ(test, h->h_writes[0].ck_length, 0);
		KUNIT_EXPECT_EQ(test, h->h_writes[1].ck_nsegs, 1);
	}
}

/*
 * S10, E-06: a Reply chunk without bytes is unused, with or without segments. A used Reply
 * chunk requires NOMSG.
 */
static void unused_reply_chunk(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int segs, i, last;

	for (segs = 0; segs <= 2; segs++) {
		put_start(m, 2, RDMA2_MSG, RDMA2_REPLY);
		put(m, 0);
		put(m, 0);
		put(m, 1);
		put(m, segs);
		for (i = 0; i < segs; i++)
			put_segment(m, 0x100 + i, 0);
		last = m->count;
		put_payload(m, RDMA2_REPLY, 24);

		KUNIT_EXPECT_EQ(test, judge_words(test, h, m), RDMA2_OK);
		KUNIT_EXPECT_EQ(test, h->h_reply.ck_length, 0);
		if (!segs)
			continue;

		m->word[last - 3] = cpu_to_be32(1);
		KUNIT_EXPECT_EQ(test, judge_words(test, h, m),
				RDMA2_ERR_BAD_XDR);
	}
}

static struct kunit_case chunks_cases[] = {
	KUNIT_CASE_PARAM(order_of_checks, order_gen_params),
	KUNIT_CASE_PARAM(order_of_checks_version_one, order_gen_params),
	KUNIT_CASE(segments_grouped_by_position),
	KUNIT_CASE(segments_in_descending_order),
	KUNIT_CASE(chunks_inserted_between),
	KUNIT_CASE(too_many_in_descending_order),
	KUNIT_CASE_PARAM(sums, sum_gen_params),
	KUNIT_CASE_PARAM(fault_in_a_list, fault_gen_params),
	KUNIT_CASE(verdicts_on_size),
	KUNIT_CASE(reply_with_empty_read_segments),
	KUNIT_CASE(write_chunk_without_segments),
	KUNIT_CASE(unused_reply_chunk),
	{ }
};

static struct kunit_suite chunks_suite = {
	.name = "rpcrdma2_chunks",
	.test_cases = chunks_cases,
};

kunit_test_suite(chunks_suite);
