// SPDX-License-Identifier: GPL-2.0
/*
 * Splits ranges of an RPC message into pieces. The pieces hold the bytes of the ranges in
 * order, and no piece crosses the end of a page.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/plan.h>

enum {
	PAGES		= 6,
	/* Head and tail each lie in two pages of their own. */
	IOV_PAGES	= 2,
	MESSAGE_MAX	= (PAGES + 2 * IOV_PAGES) * PAGE_SIZE,
	RANGES_MAX	= 3,
};

/**
 * struct walk_case - a message and ranges of it
 * @desc: description
 * @head: offset in a page and length of the head
 * @pages: offset in the first page and length of the pages
 * @tail: as @head
 * @nranges: entries of @ranges
 * @ranges: ranges to walk
 * @pieces: expected number of pieces
 */
struct walk_case {
	const char		*desc;
	u32			head[2];
	u32			pages[2];
	u32			tail[2];
	unsigned int		nranges;
	struct rpcrdma2_range	ranges[RANGES_MAX];
	unsigned int		pieces;
};

#define P	PAGE_SIZE
#define RANGES(_n, ...)	.nranges = (_n), .ranges = { __VA_ARGS__ }
#define EXPECT(_pieces)	.pieces = (_pieces)

static const struct walk_case walk_cases[] = {
	{ "no range", { 0, 100 }, RANGES(0), EXPECT(0) },
	{ "a range of an empty message",
	  { 0, 0 }, RANGES(1, { 0, 0 }), EXPECT(0) },
	{ "an empty range", { 0, 100 }, { 0, P }, { 0, 8 },
	  RANGES(1, { 100, 0 }), EXPECT(0) },
	{ "all of a message", { 0, 100 }, { 0, P }, { 0, 8 },
	  RANGES(1, { 0, P + 108 }), EXPECT(3) },
	{ "a head", { 128, 200 }, RANGES(1, { 0, 200 }), EXPECT(1) },
	{ "a part of the head", { 128, 200 },
	  RANGES(1, { 40, 60 }), EXPECT(1) },
	{ "a head across a page boundary", { P - 96, 200 },
	  RANGES(1, { 0, 200 }), EXPECT(2) },
	{ "pages, without head and tail", { 0, 0 }, { 0, 2 * P },
	  RANGES(1, { 0, 2 * P }), EXPECT(2) },
	{ "a tail", { 0, 0 }, { 0, 0 }, { P - 6, 12 },
	  RANGES(1, { 0, 12 }), EXPECT(2) },
	{ "head and tail without pages", { 0, 100 }, { 0, 0 }, { 200, 50 },
	  RANGES(1, { 0, 150 }), EXPECT(2) },
	{ "pages from the middle of a page", { 0, 100 }, { 1000, 2 * P + 808 },
	  RANGES(1, { 100, 2 * P + 808 }), EXPECT(3) },
	{ "pages from the second page", { 0, 100 }, { P + 904, P },
	  RANGES(1, { 100, P }), EXPECT(2) },
	{ "five pages", { 0, 100 }, { 0, 5 * P },
	  RANGES(1, { 100, 5 * P }), EXPECT(5) },
	{ "four pages and one byte", { 0, 100 }, { P - 1, 3 * P + 2 },
	  RANGES(1, { 100, 3 * P + 2 }), EXPECT(5) },
	{ "pages that end within a page", { 0, 100 }, { 0, P + 1 },
	  RANGES(1, { 100, P + 1 }), EXPECT(2) },
	{ "a part of the pages", { 0, 100 }, { 1000, 2 * P + 808 },
	  RANGES(1, { P - 900, P + 1 }), EXPECT(2) },
	{ "E-07 the rest: head, and tail after the padding", { 0, 100 },
	  { 0, P - 3 }, { 100, 11 },
	  RANGES(2, { 0, 100 }, { P + 100, 8 }), EXPECT(2) },
	{ "E-07 the rest of a message whose tail is padding", { 0, 100 },
	  { 0, P - 3 }, { 100, 3 },
	  RANGES(2, { 0, 100 }, { P + 100, 0 }), EXPECT(1) },
	{ "head and a part of the pages", { 0, 100 }, { 0, 2 * P },
	  RANGES(1, { 50, P + 50 }), EXPECT(2) },
	{ "the end of the pages and the tail", { 0, 100 }, { 0, 2 * P },
	  { 0, 40 }, RANGES(1, { 2 * P - 1, 141 }), EXPECT(2) },
	{ "two adjacent ranges", { 0, 100 }, { 0, 2 * P },
	  RANGES(2, { 100, P }, { P + 100, P }), EXPECT(2) },
	{ "two ranges in one page", { 0, 100 }, { 0, P },
	  RANGES(2, { 100, 40 }, { 200, 40 }), EXPECT(2) },
	{ "three ranges, one in each part", { 4, 100 }, { 12, 2 * P + 808 },
	  { 20, 60 }, RANGES(3, { 96, 4 }, { 100, 2 * P + 808 }, { 2 * P + 908, 60 }),
	  EXPECT(5) },
	{ "three ranges, the second one empty", { 0, 100 }, { 0, P },
	  { 0, 8 }, RANGES(3, { 0, 100 }, { 100, 0 }, { P + 100, 8 }),
	  EXPECT(2) },
	{ "three ranges, only the last one not empty", { 0, 100 },
	  { 0, P }, RANGES(3, { 0, 0 }, { 100, 0 }, { 100, P }),
	  EXPECT(1) },
	{ "ranges in descending order", { 0, 100 }, { 0, P }, { 0, 8 },
	  RANGES(3, { P + 100, 8 }, { 100, P }, { 0, 100 }), EXPECT(3) },
	{ "a range beyond the end of the message", { 0, 100 }, { 0, P },
	  { 0, 8 }, RANGES(2, { P + 104, 400 }, { 0, 100 }), EXPECT(1) },
	{ "a range after the message", { 0, 100 }, { 0, P }, { 0, 8 },
	  RANGES(1, { P + 109, 4 }), EXPECT(0) },
};

KUNIT_ARRAY_PARAM_DESC(walk, walk_cases, desc);

/* A message; @byte holds its bytes in stream order */
struct message {
	struct xdr_buf	buf;
	struct page	*pages[PAGES];
	u8		byte[MESSAGE_MAX];
};

/* Whole pages, aligned to a page */
static void *make_pages(struct kunit *test, unsigned int count)
{
	void *mem = kunit_kzalloc(test, (count + 1) * PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	return PTR_ALIGN(mem, PAGE_SIZE);
}

static const u8 *fill_iov(struct kunit *test, struct kvec *iov,
			  const u32 *place, const u8 *byte)
{
	iov->iov_base = make_pages(test, IOV_PAGES) + place[0];
	iov->iov_len = place[1];
	memcpy(iov->iov_base, byte, place[1]);
	return byte + place[1];
}

/* The pages lie in descending order: contiguous page frames must not hide an error. */
static const u8 *fill_pages(struct kunit *test, struct message *m,
			    const u32 *place, const u8 *byte)
{
	void *mem = make_pages(test, PAGES);
	unsigned int i;
	u32 pos;

	for (i = 0; i < PAGES; i++)
		m->pages[i] = virt_to_page(mem + (PAGES - 1 - i) * PAGE_SIZE);
	for (pos = place[0]; pos < place[0] + place[1]; pos++)
		((u8 *)page_address(m->pages[pos / PAGE_SIZE]))[pos % PAGE_SIZE] =
			*byte++;
	m->buf.pages = m->pages;
	m->buf.page_base = place[0];
	m->buf.page_len = place[1];
	return byte;
}

static struct message *make_message(struct kunit *test,
				    const struct walk_case *wc)
{
	struct message *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	const u8 *byte = m->byte;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	for (i = 0; i < MESSAGE_MAX; i++)
		m->byte[i] = (i * 2654435761U) >> 24;
	byte = fill_iov(test, m->buf.head, wc->head, byte);
	byte = fill_pages(test, m, wc->pages, byte);
	byte = fill_iov(test, m->buf.tail, wc->tail, byte);
	m->buf.len = byte - m->byte;
	m->buf.buflen = m->buf.len;
	return m;
}

/* Fills @byte with the bytes of the ranges in order. Return: their number. */
static u32 expected(const struct walk_case *wc, const struct message *m,
		    u8 *byte)
{
	const struct rpcrdma2_range *ra = wc->ranges;
	u32 count = 0, i;

	for (; ra < wc->ranges + wc->nranges; ra++) {
		for (i = ra->ra_off; i < ra->ra_off + ra->ra_len; i++) {
			if (i >= m->buf.len)
				return count;
			byte[count++] = m->byte[i];
		}
	}
	return count;
}

static u32 take_piece(struct kunit *test, const struct rpcrdma2_piece *pc,
		      u8 *byte)
{
	KUNIT_EXPECT_GT(test, pc->pc_len, 0);
	KUNIT_EXPECT_LT(test, pc->pc_off, PAGE_SIZE);
	KUNIT_ASSERT_LE(test, pc->pc_off + pc->pc_len, PAGE_SIZE);
	memcpy(byte, page_address(pc->pc_page) + pc->pc_off, pc->pc_len);
	return pc->pc_len;
}

static void walks(struct kunit *test)
{
	const struct walk_case *wc = test->param_value;
	struct message *m = make_message(test, wc);
	u8 *want = kunit_kzalloc(test, MESSAGE_MAX, GFP_KERNEL);
	u8 *got = kunit_kzalloc(test, MESSAGE_MAX, GFP_KERNEL);
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;
	unsigned int pieces = 0;
	u32 bytes = 0;

	KUNIT_ASSERT_NOT_NULL(test, want);
	KUNIT_ASSERT_NOT_NULL(test, got);
	rpcrdma2_walk_begin(&wk, &m->buf, wc->ranges, wc->nranges);

	KUNIT_EXPECT_EQ(test, rpcrdma2_walk_count(wk), wc->pieces);
	while (rpcrdma2_walk_next(&wk, &pc)) {
		bytes += take_piece(test, &pc, got + bytes);
		pieces++;
	}
	KUNIT_EXPECT_EQ(test, pieces, wc->pieces);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_walk_next(&wk, &pc));
	KUNIT_ASSERT_EQ(test, bytes, expected(wc, m, want));
	KUNIT_EXPECT_MEMEQ(test, got, want, bytes);
}

/*
 * Each remote segment takes a number of bytes, and the next segment continues: a walk in
 * steps of any length visits the same bytes.
 */
static void walks_in_steps(struct kunit *test)
{
	static const u32 steps[] = { 1, 3, P, 100, P - 1, P + 904 };
	const struct walk_case *wc = test->param_value;
	struct message *m = make_message(test, wc);
	u8 *want = kunit_kzalloc(test, MESSAGE_MAX, GFP_KERNEL);
	u8 *got = kunit_kzalloc(test, MESSAGE_MAX, GFP_KERNEL);
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;
	u32 bytes = 0, before;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, want);
	KUNIT_ASSERT_NOT_NULL(test, got);
	rpcrdma2_walk_begin(&wk, &m->buf, wc->ranges, wc->nranges);
	for (i = 0; ; i++) {
		unsigned int pieces, count = 0;

		before = bytes;
		wk.wk_left = steps[i % ARRAY_SIZE(steps)];
		pieces = rpcrdma2_walk_count(wk);
		for (; rpcrdma2_walk_next(&wk, &pc); count++)
			bytes += take_piece(test, &pc, got + bytes);
		KUNIT_EXPECT_EQ(test, count, pieces);
		KUNIT_EXPECT_LE(test, bytes - before,
				steps[i % ARRAY_SIZE(steps)]);
		if (bytes == before)
			break;
	}
	KUNIT_ASSERT_EQ(test, bytes, expected(wc, m, want));
	KUNIT_EXPECT_MEMEQ(test, got, want, bytes);
}

/* A memory region takes pieces up to a hole: one that ends, or begins, within a page. */
static void joined_pieces(struct kunit *test)
{
	static const struct walk_case wc = {
		.head = { P - 100, 100 }, .pages = { 8, 4 * P }, .tail = { 0, 40 },
	};
	static const struct rpcrdma2_range all = { 0, 4 * P + 140 };
	struct message *m = make_message(test, &wc);
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;
	unsigned int i;

	rpcrdma2_walk_begin(&wk, &m->buf, &all, 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_walk_count_joined(wk, 64), 1);	/* head */
	rpcrdma2_walk_next(&wk, &pc);
	KUNIT_EXPECT_EQ(test, rpcrdma2_walk_count_joined(wk, 64), 5);	/* pages */
	KUNIT_EXPECT_EQ(test, rpcrdma2_walk_count_joined(wk, 4), 4);
	wk.wk_left = P;							/* a segment */
	KUNIT_EXPECT_EQ(test, rpcrdma2_walk_count_joined(wk, 64), 2);
	wk.wk_left = U32_MAX;
	for (i = 0; i < 5; i++)
		rpcrdma2_walk_next(&wk, &pc);
	KUNIT_EXPECT_EQ(test, rpcrdma2_walk_count_joined(wk, 64), 1);	/* tail */
	rpcrdma2_walk_next(&wk, &pc);
	KUNIT_EXPECT_EQ(test, rpcrdma2_walk_count_joined(wk, 64), 0);
}

static struct kunit_case walk_suite_cases[] = {
	KUNIT_CASE_PARAM(walks, walk_gen_params),
	KUNIT_CASE_PARAM(walks_in_steps, walk_gen_params),
	KUNIT_CASE(joined_pieces),
	{ }
};

static struct kunit_suite walk_suite = {
	.name = "rpcrdma2_walk",
	.test_cases = walk_suite_cases,
};

kunit_test_suites(&walk_suite);
