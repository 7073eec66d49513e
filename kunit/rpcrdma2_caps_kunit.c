// SPDX-License-Identifier: GPL-2.0
/*
 * Limits that follow from a device's attributes.
 */
#include <kunit/test.h>

#include <rpcrdma2/plan.h>

#define LARGE	0x90000000U	/* negative as an int */

static void queues(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(100, 2), 98U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(3, 2), 1U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(2, 2), 0U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(1, 2), 0U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(0, 1), 0U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(INT_MAX, 2), INT_MAX - 2U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(LARGE, 2), INT_MAX - 2U);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_room(U32_MAX, 2), INT_MAX - 2U);
}

static const struct reads_case {
	const char			*desc;
	bool				needs;
	u32				region, threshold, sges;
	struct rpcrdma2_caps_read	want;
} reads_cases[] = {
	{ "iWARP", true, 512, 0, 13, { true, 256, 13 } },
	{ "iWARP with small regions", true, 128, 0, 4, { true, 128, 4 } },
	{ "iWARP with regions of more than INT_MAX pages",
	  true, LARGE, 0, 4, { true, 256, 4 } },
	{ "iWARP without regions", true, 0, 0, 4, { true, 0, 0 } },
	{ "RoCE without a threshold for regions",
	  false, 512, 0, 32, { false, 0, 32 } },
	{ "RoCE with a threshold for regions", false, 512, 16, 4,
	  { false, 16, 4 } },
	{ "a threshold that is not a multiple of the entries",
	  false, 512, 16, 5, { false, 15, 5 } },
	{ "a threshold below the entries", false, 512, 4, 30, { false, 4, 4 } },
	{ "a threshold above INT_MAX", false, 512, LARGE, 30,
	  { false, LARGE / 30 * 30, 30 } },
	{ "entries above INT_MAX", false, 512, 16, U32_MAX,
	  { false, 16, 16 } },
	{ "no entries", false, 512, 16, 0, { false, 0, 0 } },
};

KUNIT_ARRAY_PARAM_DESC(reads, reads_cases, desc);

static void reads(struct kunit *test)
{
	const struct reads_case *c = test->param_value;
	struct rpcrdma2_caps_read got;

	got = rpcrdma2_caps_reads(c->needs, c->region, c->threshold, c->sges);
	KUNIT_EXPECT_EQ(test, got.cr_regions, c->want.cr_regions);
	KUNIT_EXPECT_EQ(test, got.cr_pages, c->want.cr_pages);
	KUNIT_EXPECT_EQ(test, got.cr_width, c->want.cr_width);
}

/* Number of pages that @len bytes span from offset @off of the first page */
static unsigned int spanned(u32 off, u32 len)
{
	return DIV_ROUND_UP((u64)off + len, PAGE_SIZE);
}

/*
 * The IOMMU may merge a part into one piece. Wherever a part begins, it spans at most the
 * pages of a region. All parts except the last span exactly this number, and the parts
 * cover all bytes.
 */
static void parts(struct kunit *test)
{
	static const unsigned int most[] = { 1, 2, 4, 32, 128, 256 };
	static const u32 offs[] = { 0, 1, 4, PAGE_SIZE / 2, PAGE_SIZE - 1 };
	static const u32 lens[] = {
		1, 4, PAGE_SIZE, PAGE_SIZE + 1, 255 * PAGE_SIZE, 256 * PAGE_SIZE - 1,
		256 * PAGE_SIZE, 256 * PAGE_SIZE + 1, 257 * PAGE_SIZE, 0x410004,
	};
	unsigned int i, j, k, n;
	u32 off, left, cut;

	for (i = 0; i < ARRAY_SIZE(most) * ARRAY_SIZE(offs) * ARRAY_SIZE(lens); i++) {
		j = i / ARRAY_SIZE(lens) % ARRAY_SIZE(offs);
		k = i / ARRAY_SIZE(lens) / ARRAY_SIZE(offs);
		off = offs[j];
		n = spanned(off, lens[i % ARRAY_SIZE(lens)]);
		for (left = lens[i % ARRAY_SIZE(lens)]; left; left -= cut) {
			cut = rpcrdma2_caps_cut(most[k], off, left);
			KUNIT_ASSERT_GT(test, cut, 0U);
			KUNIT_ASSERT_LE(test, cut, left);
			KUNIT_ASSERT_EQ(test, spanned(off, cut), min(n, most[k]));
			n -= min(n, most[k]);
			off = (off + cut) % PAGE_SIZE;
		}
		KUNIT_EXPECT_EQ(test, n, 0U);
	}
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_cut(0, 5, U32_MAX), U32_MAX);
	KUNIT_EXPECT_EQ(test, rpcrdma2_caps_cut(U32_MAX, 5, U32_MAX), U32_MAX);
}

static struct kunit_case caps_suite_cases[] = {
	KUNIT_CASE(queues),
	KUNIT_CASE_PARAM(reads, reads_gen_params),
	KUNIT_CASE(parts),
	{ }
};

static struct kunit_suite caps_suite = {
	.name = "rpcrdma2_caps",
	.test_cases = caps_suite_cases,
};

kunit_test_suite(caps_suite);
