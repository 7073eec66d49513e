// SPDX-License-Identifier: GPL-2.0
/*
 * The layout of a Call with Read chunks: rpcrdma2_layout_next() against a table; and the
 * placement of data in pages.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../svcrdma2/pure.h"

/* Bytes of the inline message, or of Read chunk ps_chunk - 1 */
struct piece {
	unsigned int	ps_chunk;
	u32		ps_src;
	u32		ps_len;
	u32		ps_sink;
};

struct layout_case {
	const char		*desc;
	u32			proc;
	u32			inlined;
	unsigned int		nreads;
	struct rpcrdma2_chunk	reads[4];
	u64			length;
	unsigned int		npieces;
	struct piece		pieces[8];
};

#define CHUNK(_position, _length) \
	{ .ck_position = (_position), .ck_length = (_length) }
#define READS(_n, ...)	.nreads = (_n), .reads = { __VA_ARGS__ }
#define PIECES(_n, ...)	.npieces = (_n), .pieces = { __VA_ARGS__ }

static const struct layout_case layout_cases[] = {
	{ "V02 one Read chunk at the end", RDMA2_MSG, .inlined = 72,
	  READS(1, CHUNK(72, 12288)), .length = 72 + 12288,
	  PIECES(2, { 0, 0, 72, 0 }, { 1, 0, 12288, 72 }) },
	{ "E-07 padding after an odd chunk, then the rest", RDMA2_MSG,
	  .inlined = 100, READS(1, CHUNK(72, 5)), .length = 108,
	  PIECES(3, { 0, 0, 72, 0 }, { 1, 0, 5, 72 }, { 0, 72, 28, 80 }) },
	{ "E-05 the second position includes the first chunk and its padding",
	  RDMA2_MSG, .inlined = 100, READS(2, CHUNK(40, 5), CHUNK(88, 7)),
	  .length = 116,
	  PIECES(5, { 0, 0, 40, 0 }, { 1, 0, 5, 40 }, { 0, 40, 40, 48 },
		 { 2, 0, 7, 88 }, { 0, 80, 20, 96 }) },
	{ "E-02 two adjacent chunks", RDMA2_MSG,
	  .inlined = 60, READS(2, CHUNK(40, 8), CHUNK(48, 6)), .length = 76,
	  PIECES(4, { 0, 0, 40, 0 }, { 1, 0, 8, 40 }, { 2, 0, 6, 48 },
		 { 0, 40, 20, 56 }) },
	{ "V03 a Position-Zero chunk", RDMA2_NOMSG,
	  READS(1, CHUNK(0, 5000)), .length = 5000,
	  PIECES(1, { 0, 0, 5000, 0 }) },
	{ "S07 bytes after a NOMSG header are not part of the Call",
	  RDMA2_NOMSG, .inlined = 12, READS(1, CHUNK(0, 5001)),
	  .length = 5001, PIECES(1, { 0, 0, 5001, 0 }) },
	{ "E-04 a Position-Zero chunk and a Read chunk", RDMA2_NOMSG,
	  READS(2, CHUNK(0, 5000), CHUNK(72, 4097)), .length = 5000 + 4100,
	  PIECES(3, { 0, 0, 72, 0 }, { 2, 0, 4097, 72 },
		 { 0, 72, 4928, 4172 }) },
	{ "E-04 a Position-Zero chunk and two Read chunks", RDMA2_NOMSG,
	  READS(3, CHUNK(0, 200), CHUNK(72, 3), CHUNK(100, 4)), .length = 208,
	  PIECES(5, { 0, 0, 72, 0 }, { 2, 0, 3, 72 }, { 0, 72, 24, 76 },
		 { 3, 0, 4, 100 }, { 0, 96, 104, 104 }) },
	{ "C-106 lengths near 2^32 do not wrap", RDMA2_MSG, .inlined = 40,
	  READS(2, CHUNK(40, 0xffffffff), CHUNK(44, 0xffffffff)),
	  .length = 40 + 2 * 0x100000000ULL },
};

KUNIT_ARRAY_PARAM_DESC(layout, layout_cases, desc);

static void layout_call(struct kunit *test)
{
	const struct layout_case *lc = test->param_value;
	const struct piece *ps = lc->pieces;
	struct rpcrdma2_stretch st;
	struct rpcrdma2_hdr *h;
	struct rpcrdma2_layout lo;
	unsigned int n = 0;

	h = kunit_kmalloc(test, sizeof(*h), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, h);
	/* Behind the counted chunks lie stale chunks of an earlier Call. */
	memset(h, 0xff, sizeof(*h));
	h->h_proc = lc->proc;
	h->h_nreads = lc->nreads;
	memcpy(h->h_reads, lc->reads, lc->nreads * sizeof(lc->reads[0]));

	KUNIT_EXPECT_EQ(test, rpcrdma2_layout_length(h, lc->inlined), lc->length);
	if (!lc->npieces)
		return;

	/* Empty stretches have no meaning. */
	rpcrdma2_layout_begin(&lo, h, lc->inlined);
	while (rpcrdma2_layout_next(&lo, &st)) {
		if (!st.st_len)
			continue;
		KUNIT_ASSERT_LT(test, n, lc->npieces);
		KUNIT_EXPECT_EQ(test, st.st_chunk ? st.st_chunk - h->h_reads + 1
						  : 0, ps[n].ps_chunk);
		KUNIT_EXPECT_EQ(test, st.st_src, ps[n].ps_src);
		KUNIT_EXPECT_EQ(test, st.st_len, ps[n].ps_len);
		KUNIT_EXPECT_EQ(test, st.st_sink, ps[n].ps_sink);
		n++;
	}
	KUNIT_EXPECT_EQ(test, n, lc->npieces);
	KUNIT_EXPECT_EQ(test, lo.lo_sink, lc->length);
}

struct split_case {
	const char		*desc;
	u32			proc;
	u32			inlined;
	u32			before;		/* value of the word before the chunk */
	u32			head;		/* bytes of the head, for GSS */
	u32			hdr;		/* bytes of the header */
	unsigned int		nreads;
	struct rpcrdma2_chunk	reads[4];
	bool			splits;		/* for a contiguous message */
	bool			paged;		/* for a message in pages */
	enum rpcrdma2_errcode	gss;
};

#define BEFORE(_before)	.before = (_before), .head = PAGE_SIZE

/* Bytes of a WRITE, more than a page */
#define DATA		(2 * PAGE_SIZE)

static const struct split_case split_cases[] = {
	{ "a WRITE's data at the end", RDMA2_MSG, .inlined = 72,
	  BEFORE(DATA), READS(1, CHUNK(72, DATA)), .splits = true, .paged = true },
	{ "36 bytes after the data", RDMA2_MSG, .inlined = 108,
	  BEFORE(DATA), READS(1, CHUNK(72, DATA)), .splits = true, .paged = true },
	{ "40 bytes after the data can be a WRITE", RDMA2_MSG, .inlined = 112,
	  BEFORE(DATA), READS(1, CHUNK(72, DATA)), .paged = true,
	  .gss = RDMA2_ERR_SYSTEM },
	{ "39 bytes after the data, not whole words", RDMA2_MSG, .inlined = 111,
	  BEFORE(DATA), READS(1, CHUNK(72, DATA)), .splits = true, .paged = true },
	{ "C-083 two chunks that fill the head", RDMA2_MSG, .inlined = 72,
	  BEFORE(512), READS(2, CHUNK(72, 512),
			     CHUNK(72 + 512, PAGE_SIZE - 72 - 512)) },
	{ "C-083 two chunks that exceed the head by a byte",
	  RDMA2_MSG, .inlined = 72, BEFORE(512), READS(2, CHUNK(72, 512),
			     CHUNK(72 + 512, PAGE_SIZE - 72 - 512 + 1)),
	  .gss = RDMA2_ERR_READ_CHUNKS },
	{ "E-04 data that begins at the end of the head", RDMA2_NOMSG,
	  BEFORE(DATA), READS(2, CHUNK(0, PAGE_SIZE),
			      CHUNK(PAGE_SIZE, DATA)) },
	{ "40 bytes in the first page of a Call", RDMA2_MSG, .inlined = 112,
	  BEFORE(512), READS(1, CHUNK(72, 512)), .paged = true },
	{ "the first page ends before the data", RDMA2_MSG,
	  .inlined = PAGE_SIZE - 60, .hdr = 60, BEFORE(512),
	  READS(1, CHUNK(PAGE_SIZE - 60, 512)), .splits = true, .paged = true },
	{ "the first page ends a word before the data", RDMA2_MSG,
	  .inlined = PAGE_SIZE - 56, .hdr = 60, BEFORE(512),
	  READS(1, CHUNK(PAGE_SIZE - 56, 512)), .splits = true },
	{ "the first page ends in the header", RDMA2_MSG,
	  .inlined = 72, .hdr = PAGE_SIZE + 4, BEFORE(512),
	  READS(1, CHUNK(72, 512)), .splits = true },
	{ "an odd length", RDMA2_MSG, .inlined = 72,
	  BEFORE(DATA - 3), READS(1, CHUNK(72, DATA - 3)), .splits = true, .paged = true },
	{ "the chunk includes the padding", RDMA2_MSG, .inlined = 72,
	  BEFORE(DATA - 3), READS(1, CHUNK(72, DATA)), .splits = true, .paged = true },
	{ "the chunk is shorter than the item", RDMA2_MSG, .inlined = 76,
	  BEFORE(DATA + 4), READS(1, CHUNK(72, DATA)),
	  .gss = RDMA2_ERR_SYSTEM },
	{ "the chunk is longer than the item", RDMA2_MSG, .inlined = 72,
	  BEFORE(DATA / 2), READS(1, CHUNK(72, DATA)),
	  .gss = RDMA2_ERR_SYSTEM },
	{ "C-083 two chunks", RDMA2_MSG, .inlined = 72,
	  BEFORE(DATA), READS(2, CHUNK(72, DATA), CHUNK(72 + DATA, 4)),
	  .gss = RDMA2_ERR_READ_CHUNKS },
	{ "two chunks in the first page of a Call", RDMA2_MSG, .inlined = 72,
	  BEFORE(512), READS(2, CHUNK(72, 512), CHUNK(72 + 512, 4)) },
	{ "E-26 a Position-Zero chunk", RDMA2_NOMSG,
	  READS(1, CHUNK(0, 12 * DATA)), .head = PAGE_SIZE },
	{ "E-04 a Position-Zero chunk and a Read chunk", RDMA2_NOMSG,
	  BEFORE(DATA), READS(2, CHUNK(0, 100), CHUNK(72, DATA)) },
	{ "E-04 with room for a WRITE after the Read chunk", RDMA2_NOMSG,
	  BEFORE(DATA), READS(2, CHUNK(0, 112), CHUNK(72, DATA)),
	  .gss = RDMA2_ERR_SYSTEM },
	{ "E-04 with data that begins in a page", RDMA2_NOMSG,
	  BEFORE(DATA), READS(2, CHUNK(0, DATA + 808),
			      CHUNK(DATA + 808, DATA)),
	  .gss = RDMA2_ERR_SYSTEM },
	{ "C-083 E-04 a Position-Zero chunk and two Read chunks", RDMA2_NOMSG,
	  BEFORE(DATA), READS(3, CHUNK(0, 100), CHUNK(72, DATA),
			      CHUNK(72 + DATA, 4)),
	  .gss = RDMA2_ERR_READ_CHUNKS },
};

KUNIT_ARRAY_PARAM_DESC(split, split_cases, desc);

static void data_placement(struct kunit *test)
{
	const struct split_case *sc = test->param_value;
	__be32 before = cpu_to_be32(sc->before);
	struct rpcrdma2_hdr *h;
	__be32 *p;

	h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	p = kunit_kzalloc(test, sc->inlined + 4, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, h);
	KUNIT_ASSERT_NOT_NULL(test, p);
	h->h_proc = sc->proc;
	h->h_len = sc->hdr;
	h->h_nreads = sc->nreads;
	memcpy(h->h_reads, sc->reads, sizeof(sc->reads));
	if (sc->proc == RDMA2_MSG)
		p[h->h_reads[0].ck_position / 4 - 1] = before;

	KUNIT_EXPECT_EQ(test, svc2_layout_splits(h, p, sc->inlined),
			sc->splits);
	KUNIT_EXPECT_EQ(test, svc2_layout_splits_paged(h, p, sc->inlined),
			sc->paged);
	KUNIT_EXPECT_EQ(test, svc2_layout_judge_gss(h, sc->inlined, sc->head,
						    before), sc->gss);
	if (sc->proc == RDMA2_MSG) {
		p[RPCRDMA2_CALL_FLAVOR] = cpu_to_be32(RPC_AUTH_GSS);
		KUNIT_EXPECT_FALSE(test,
				   svc2_layout_splits(h, p, sc->inlined));
		KUNIT_EXPECT_FALSE(test,
				   svc2_layout_splits_paged(h, p, sc->inlined));
	}
}

/*
 * RFC 5531: word 6 of a Call is the flavor of its credential, and 6 is RPCSEC_GSS. Behind a
 * Call that ends within this word may be bytes of an earlier one.
 */
static void flavor_of_call(struct kunit *test)
{
	__be32 call[10] = { };
	u32 len;

	for (len = 0; len <= sizeof(call); len++)
		KUNIT_EXPECT_FALSE(test, svc2_layout_is_gss(call, len));
	call[6] = cpu_to_be32(6);
	for (len = 0; len <= sizeof(call); len++)
		KUNIT_EXPECT_EQ(test, svc2_layout_is_gss(call, len), len >= 28);
	call[6] = cpu_to_be32(1);
	call[5] = cpu_to_be32(6);
	call[7] = cpu_to_be32(6);
	KUNIT_EXPECT_FALSE(test, svc2_layout_is_gss(call, sizeof(call)));
}

static struct kunit_case layout_kunit_cases[] = {
	KUNIT_CASE_PARAM(layout_call, layout_gen_params),
	KUNIT_CASE_PARAM(data_placement, split_gen_params),
	KUNIT_CASE(flavor_of_call),
	{ }
};

static struct kunit_suite layout_suite = {
	.name		= "svcrdma2_layout",
	.test_cases	= layout_kunit_cases,
};

kunit_test_suite(layout_suite);

MODULE_DESCRIPTION("Tests of the RPC-over-RDMA version 2 server");
MODULE_LICENSE("GPL");
MODULE_INFO(import_ns, "RPCRDMA2");
