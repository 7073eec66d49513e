// SPDX-License-Identifier: GPL-2.0
/*
 * The share of payload of a connection.
 */
#include <kunit/test.h>

#include "../svcrdma2/pure.h"

/* @conns connections of one address take single pages up to their limit. */
static long take_all(long most, unsigned int conns, long *each)
{
	long all = 0;
	unsigned int i;
	bool any;

	memset(each, 0, conns * sizeof(*each));
	do {
		any = false;
		for (i = 0; i < conns; i++) {
			if (!svc2_pages_quota_allows(most, all, all, each[i], 1))
				continue;
			each[i]++;
			all++;
			any = true;
		}
	} while (any);
	return all;
}

/* A single connection has a quarter; several of one address share less than half. */
static void shares(struct kunit *test)
{
	static long each[64];
	unsigned int n;
	long all;

	KUNIT_EXPECT_EQ(test, take_all(1024, 1, each), 256);
	KUNIT_EXPECT_EQ(test, take_all(1024, 3, each), 384);
	for (n = 1; n <= ARRAY_SIZE(each); n++) {
		all = take_all(1 << 16, n, each);
		KUNIT_EXPECT_LE(test, all, 1 << 15);
		KUNIT_EXPECT_GE(test, all, (1 << 15) / (n + 1) * n - n);
		/* a further connection of this address, and one of another */
		KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(1 << 16, all, all, 0,
								each[n - 1] / 2));
		KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(1 << 16, all, 0, 0,
								1 << 13));
	}
}

/* The requested pages count on both sides, and the limits are independent. */
static void limits(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(400, 0, 0, 0, 100));
	KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(400, 0, 0, 50, 75));
	KUNIT_EXPECT_FALSE(test, svc2_pages_quota_allows(400, 0, 0, 50, 76));
	KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(400, 150, 0, 50, 75));
	KUNIT_EXPECT_FALSE(test, svc2_pages_quota_allows(400, 151, 0, 50, 75));
	KUNIT_EXPECT_FALSE(test, svc2_pages_quota_allows(400, 200, 200, 0, 1));
	/* A connection without pages may take all free pages. */
	KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(400, 300, 0, 0, 100));
	KUNIT_EXPECT_FALSE(test, svc2_pages_quota_allows(400, 301, 0, 0, 100));
	KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(400, 0, 100, 0, 100));
	KUNIT_EXPECT_FALSE(test, svc2_pages_quota_allows(400, 0, 101, 0, 100));
	KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(400, 100, 100, 100, 0));
	KUNIT_EXPECT_FALSE(test, svc2_pages_quota_allows(400, 101, 101, 101, 0));
}

/* A quarter of the total, divided by the connections, minus the pages in use */
static void small_calls(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, svc2_pages_is_small(400, 1, 0, 100));
	KUNIT_EXPECT_FALSE(test, svc2_pages_is_small(400, 1, 0, 101));
	KUNIT_EXPECT_TRUE(test, svc2_pages_is_small(400, 4, 20, 5));
	KUNIT_EXPECT_FALSE(test, svc2_pages_is_small(400, 4, 20, 6));
	KUNIT_EXPECT_FALSE(test, svc2_pages_is_small(400, 128, 0, 1));
}

/* Replies in a few pages, and copied Replies, do not count. */
static void replies(struct kunit *test)
{
	unsigned int few = max(32768 / PAGE_SIZE, 1UL);

	KUNIT_EXPECT_EQ(test, svc2_reply_pages(0, 260), 0);
	KUNIT_EXPECT_EQ(test, svc2_reply_pages(few * PAGE_SIZE, 260), 0);
	KUNIT_EXPECT_EQ(test, svc2_reply_pages(few * PAGE_SIZE + 1, 260), few + 4);
	KUNIT_EXPECT_EQ(test, svc2_reply_pages(256 * PAGE_SIZE, 260), 259);
	KUNIT_EXPECT_EQ(test, svc2_reply_pages(8ULL * U32_MAX, 260), 260);
	/* The actual Reply: a copy has no pages, and other pages in use do not matter. */
	KUNIT_EXPECT_FALSE(test, svc2_reply_counts(0, 64));
	KUNIT_EXPECT_FALSE(test, svc2_reply_counts(few, 16));
	KUNIT_EXPECT_FALSE(test, svc2_reply_counts(few, -4));
	KUNIT_EXPECT_TRUE(test, svc2_reply_counts(1, 17));
	KUNIT_EXPECT_TRUE(test, svc2_reply_counts(few + 1, 0));
}

/*
 * RDMA Writes for a chunk of @bytes, from a message that begins at offset @off of a page,
 * in segments of @seg bytes; and the Send
 */
static unsigned int wrs_of(u64 bytes, unsigned int off, u64 seg, unsigned int width)
{
	unsigned int wrs = 1, pieces;
	u64 n;

	for (; bytes; bytes -= n, off = (off + n) % PAGE_SIZE) {
		n = min(bytes, seg);
		pieces = DIV_ROUND_UP(off + n, PAGE_SIZE);
		wrs += DIV_ROUND_UP(pieces, width);
	}
	return wrs;
}

/* S46: the entries reserved before the execution of a Call suffice for its Reply. */
static void s46_entries_of_replies(struct kunit *test)
{
	static const unsigned int widths[] = { 1, 2, 6, 30, 32 };
	unsigned int i, off, pages;
	u64 bytes, seg, segs;

	/* the exact number for READs of 1 MiB and of 32 KiB in pages of 4 KiB */
	KUNIT_EXPECT_EQ(test, svc2_reply_wrs(256, 1, 1, 32), 10);
	KUNIT_EXPECT_EQ(test, svc2_reply_wrs(8, 1, 1, 32), 2);
	KUNIT_EXPECT_EQ(test, svc2_reply_wrs(256, 1, 1, 32),
			wrs_of(256 * PAGE_SIZE, 4, 256 * PAGE_SIZE, 32));
	/* A page of data: head, the end of a page and most of the next, tail */
	KUNIT_EXPECT_GE(test, svc2_reply_wrs(1, 1, 1, 1), 4 + 1);
	for (i = 0; i < ARRAY_SIZE(widths); i++)
		for (bytes = 4; bytes < 3 << 20; bytes = bytes * 2 + 4)
			for (segs = 1; segs <= 64; segs += 9)
				for (off = 0; off < PAGE_SIZE; off += 1020) {
					pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
					seg = DIV_ROUND_UP(bytes, segs);
					KUNIT_EXPECT_GE(test, svc2_reply_wrs(pages, 1, segs,
									     widths[i]),
							wrs_of(bytes, off, seg, widths[i]));
				}
}

/* S46: a Call with many segments counts the memory of its RDMA Reads, and a usual one a page. */
static void s46_reads_are_counted(struct kunit *test)
{
	unsigned int segs, chunks, bytes, counted;

	KUNIT_EXPECT_EQ(test, svc2_read_charge(0, 1, 1, 1000), 1);
	KUNIT_EXPECT_EQ(test, svc2_read_charge(300, 1, 1, 1000), 301);
	/* the largest Call, where half of the least quota has no room for all of it */
	KUNIT_EXPECT_EQ(test, svc2_read_charge(519, 64, 16, 519), 519);
	for (segs = 1; segs <= RPCRDMA2_MAX_SEGMENTS; segs++)
		for (chunks = 1; chunks <= RPCRDMA2_MAX_READ_CHUNKS; chunks++) {
			bytes = SVC2_MSG_BYTES + (segs + chunks) * RPCRDMA2_RW_PART_BYTES;
			counted = svc2_read_charge(0, segs, chunks, 1000) * PAGE_SIZE;
			KUNIT_EXPECT_GE(test, counted, bytes);
			KUNIT_EXPECT_LT(test, counted, bytes + PAGE_SIZE);
		}
}

/* Bytes of a transport header, and of the tail of a Reply */
#define HDR	200
#define TAIL	4

/*
 * Gather entries of a Send of @bytes whose head has @head bytes, and whose pages begin at
 * offset @off of the first
 */
static unsigned int gathered(u32 bytes, u32 head, u32 off)
{
	return 1 + (HDR + head > SVC2_TX_BUFSIZE) +
	       DIV_ROUND_UP(off + bytes - HDR - head - TAIL, PAGE_SIZE) + 1;
}

/* C-003: the largest Send of a device does not need more gather entries than it has. */
static void c003_largest_send(struct kunit *test)
{
	static const u32 heads[] = { 128, SVC2_TX_BUFSIZE - HDR, SVC2_TX_BUFSIZE - HDR + 1 },
			 offs[] = { 0, 8, PAGE_SIZE - 8, PAGE_SIZE - 1 };
	unsigned int i, j;
	u32 width, sges, able, most;

	for (width = 1; width <= 32; width++) {
		sges = svc2_send_sges(width);
		KUNIT_EXPECT_LE(test, sges, width);
		able = svc2_send_able(sges);
		KUNIT_EXPECT_GE(test, able, 4096);
		for (most = i = 0; able > SVC2_TX_BUFSIZE && i < ARRAY_SIZE(heads); i++)
			for (j = 0; j < ARRAY_SIZE(offs); j++)
				most = max(most, gathered(able, heads[i], offs[j]));
		KUNIT_EXPECT_LE(test, most, sges);
		/* no entry of a device is left that could gather more */
		if (most && able < 65536)
			KUNIT_EXPECT_EQ(test, most, sges);
	}
	KUNIT_EXPECT_EQ(test, able, 65536);
	/* a buffer has room for a header of 4 KiB and a copy of 17 KiB */
	KUNIT_EXPECT_EQ(test, SVC2_TX_BUF_PARTS, 6);
	KUNIT_EXPECT_GE(test, sges, SVC2_TX_BUF_PARTS);
	if (PAGE_SIZE == 4096)
		KUNIT_EXPECT_EQ(test, sges, 19);
	/* C-093: a rest that is too long to be copied, around all Write chunks */
	KUNIT_EXPECT_LE(test, gathered(SVC2_PULLUP_MAX + HDR + 1, 128, PAGE_SIZE - 1) +
			      RPCRDMA2_MAX_WRITE_CHUNKS, sges);
	/* header, rest of the head, two pages, and the tail; or the buffer alone */
	if (PAGE_SIZE == 65536) {
		KUNIT_EXPECT_EQ(test, svc2_send_able(5), 65536);
		KUNIT_EXPECT_EQ(test, svc2_send_able(4), 4096);
	}
}

/* @addresses with @conns connections each take two pages at a time, counted in @each. */
static long take_pairs(long most, unsigned int addresses, unsigned int conns,
		       long *each, long *address)
{
	long all = 0;
	unsigned int i;
	bool any;

	memset(each, 0, addresses * conns * sizeof(*each));
	memset(address, 0, addresses * sizeof(*address));
	do {
		any = false;
		for (i = 0; i < addresses * conns; i++) {
			if (!svc2_pages_quota_allows(most, all, address[i / conns],
						     each[i], 2))
				continue;
			each[i] += 2;
			address[i / conns] += 2;
			all += 2;
			any = true;
		}
	} while (any);
	return all;
}

/* At full use by others, the largest Call of another address has room. */
static void room_for_large(struct kunit *test)
{
	static long each[512], address[4];
	long all;

	/* 1 GiB of memory, then 16 GiB */
	all = take_pairs(1 << 14, 3, 11, each, address);
	KUNIT_EXPECT_GT(test, all, 1 << 13);
	KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(1 << 14, all, 0, 0, 258));
	all = take_pairs(1 << 14, 4, 128, each, address);
	KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(1 << 14, all, 0, 0, 258));
	all = take_pairs(1 << 18, 4, 128, each, address);
	KUNIT_EXPECT_TRUE(test, svc2_pages_quota_allows(1 << 18, all, 0, 0, 258));
}

static struct kunit_case quota_cases[] = {
	KUNIT_CASE(shares),
	KUNIT_CASE(limits),
	KUNIT_CASE(room_for_large),
	KUNIT_CASE(small_calls),
	KUNIT_CASE(s46_entries_of_replies),
	KUNIT_CASE(s46_reads_are_counted),
	KUNIT_CASE(c003_largest_send),
	KUNIT_CASE(replies),
	{}
};

static struct kunit_suite quota_suite = {
	.name		= "svcrdma2_quota",
	.test_cases	= quota_cases,
};

kunit_test_suite(quota_suite);
