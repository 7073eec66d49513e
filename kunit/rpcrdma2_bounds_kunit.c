// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile sizes: every truncation of a message, every count around its limit, invalid
 * discriminators and types. KASAN watches the memory behind the message.
 */
#include <kunit/test.h>

#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

#include "util.h"
#include <vectors.h>

#define VECTOR(_v)	{ #_v, _v, sizeof(_v) }

static const struct whole {
	const char	*desc;
	const u8	*data;
	size_t		len;
} wholes[] = {
	VECTOR(v01), VECTOR(v02), VECTOR(v03), VECTOR(v04), VECTOR(v05),
	VECTOR(v06), VECTOR(v07), VECTOR(v08), VECTOR(v09), VECTOR(v10),
	VECTOR(v11), VECTOR(v12), VECTOR(v13), VECTOR(v14), VECTOR(v15),
	VECTOR(v16), VECTOR(v17), VECTOR(v18), VECTOR(v19), VECTOR(v20),
	VECTOR(v21), VECTOR(v22), VECTOR(v23), VECTOR(v24), VECTOR(v25),
	VECTOR(v26), VECTOR(v29), VECTOR(v30), VECTOR(v31), VECTOR(v32),
};

KUNIT_ARRAY_PARAM_DESC(whole, wholes, desc);

/* Expected verdict on a truncated message. The decoder never accepts a truncated header. */
static void expect_cut(struct kunit *test, const struct rpcrdma2_hdr *want,
		       const struct rpcrdma2_hdr *h,
		       enum rpcrdma2_errcode verdict, size_t len)
{
	size_t least = want->h_len;

	if (len < RPCRDMA2_PREFIX_LEN) {
		KUNIT_EXPECT_EQ_MSG(test, verdict, RDMA2_DROP, "%zu", len);
		return;
	}
	if (want->h_proc == RDMA2_MSG)	/* S09: a chunk starts within the payload */
		least += want->h_nreads ? want->h_reads[0].ck_position :
					  RPCRDMA2_RPC_PEEK;
	if (len >= least) {
		KUNIT_EXPECT_EQ_MSG(test, verdict, RDMA2_OK, "%zu", len);
		KUNIT_EXPECT_EQ(test, h->h_len, want->h_len);
		return;
	}
	/* S38: a receiver drops VERS of an unknown version. */
	if (want->h_vers > 2)
		KUNIT_EXPECT_EQ_MSG(test, verdict, RDMA2_DROP, "%zu", len);
	else
		KUNIT_EXPECT_EQ_MSG(test, verdict, RDMA2_ERR_BAD_XDR, "%zu",
				    len);
	if (want->h_proc == RDMA2_ERROR)
		KUNIT_EXPECT_EQ(test, h->h_direction, RDMA2_REPLY);
}

/* A message that ends early is dropped or malformed (S31, C-081, S07). */
static void every_truncation(struct kunit *test)
{
	const struct whole *v = test->param_value;
	struct rpcrdma2_hdr *want = hdr_new(test);
	struct rpcrdma2_hdr *h = hdr_new(test);
	enum rpcrdma2_errcode verdict;
	size_t len;

	KUNIT_ASSERT_EQ(test, judge(test, want, v->data, v->len), RDMA2_OK);

	for (len = 0; len < v->len; len++) {
		verdict = judge(test, h, v->data, len);
		expect_cut(test, want, h, verdict, len);
	}
}

/* S11: a property message is malformed if it is truncated anywhere. */
static void every_truncation_of_properties(struct kunit *test)
{
	static const struct whole properties[] = {
		VECTOR(v19), VECTOR(v20), VECTOR(v21), VECTOR(v22),
		VECTOR(v23), VECTOR(v29),
	};
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct rpcrdma2_propmsg pm = { };
	enum rpcrdma2_errcode verdict;
	struct wire w;
	unsigned int i;
	size_t len;

	for (i = 0; i < ARRAY_SIZE(properties); i++) {
		const struct whole *v = &properties[i];

		for (len = RPCRDMA2_PREFIX_LEN; len <= v->len; len++) {
			receive(test, &w, v->data, len);
			verdict = rpcrdma2_decode_hdr(h, w.data, w.len, w.len);
			KUNIT_ASSERT_EQ(test, verdict, RDMA2_OK);

			verdict = rpcrdma2_decode_propmsg(&pm, h, w.data);

			KUNIT_EXPECT_EQ_MSG(test, verdict,
					    len < v->len ? RDMA2_ERR_BAD_XDR :
							   RDMA2_OK,
					    "%s cut to %zu", v->desc, len);
		}
	}
}

/* One list of a header, with a count that the test chooses */
struct counted {
	const char		*desc;
	u32			vers;
	unsigned int		limit;
	enum rpcrdma2_errcode	beyond;
	void (*put)(struct words *m, u32 real, u32 claimed);
};

static void put_rest(struct words *m, unsigned int lists)
{
	while (lists--)
		put(m, 0);
	put_payload(m, RDMA2_CALL, 512);
}

static void put_read_chunks(struct words *m, u32 real, u32 claimed)
{
	u32 i;

	for (i = 0; i < real; i++)
		put_read(m, 40 + 16 * i, 16);
	put_rest(m, 3);
}

static void put_read_segments(struct words *m, u32 real, u32 claimed)
{
	u32 i;

	for (i = 0; i < real; i++)
		put_read(m, 40, 16);
	put_rest(m, 3);
}

static void put_write_chunks(struct words *m, u32 real, u32 claimed)
{
	u32 i;

	put(m, 0);
	for (i = 0; i < real; i++) {
		put(m, 1);
		put_segments(m, 1);
	}
	put_rest(m, 2);
}

static void put_claimed(struct words *m, u32 real, u32 claimed)
{
	unsigned int at = m->count;

	put_segments(m, real);
	m->word[at] = cpu_to_be32(claimed);
}

static void put_write_segments(struct words *m, u32 real, u32 claimed)
{
	put(m, 0);
	put(m, 1);
	put_claimed(m, real, claimed);
	put_rest(m, 2);
}

static void put_reply_segments(struct words *m, u32 real, u32 claimed)
{
	put(m, 0);
	put(m, 0);
	put(m, 1);
	put_claimed(m, real, claimed);
	put_rest(m, 0);
}

#define COUNTED(_id, _what, _limit, _beyond, _put)			\
	{ _id " version 1 " _what, 1, _limit, _beyond, _put },		\
	{ _id " version 2 " _what, 2, _limit, _beyond, _put }

/* Lists of optional items that end with a discriminator */
static const struct counted lists[] = {
	COUNTED("C-083", "Read chunks", RPCRDMA2_MAX_READ_CHUNKS,
		RDMA2_ERR_READ_CHUNKS, put_read_chunks),
	COUNTED("C-085", "segments of a Read chunk", RPCRDMA2_MAX_SEGMENTS,
		RDMA2_ERR_SEGMENTS, put_read_segments),
	COUNTED("C-084", "Write chunks", RPCRDMA2_MAX_WRITE_CHUNKS,
		RDMA2_ERR_WRITE_CHUNKS, put_write_chunks),
};

/* Arrays that begin with a count */
static const struct counted arrays[] = {
	COUNTED("C-085", "segments of a Write chunk", RPCRDMA2_MAX_SEGMENTS,
		RDMA2_ERR_SEGMENTS, put_write_segments),
	COUNTED("C-085", "segments of a Reply chunk", RPCRDMA2_MAX_SEGMENTS,
		RDMA2_ERR_SEGMENTS, put_reply_segments),
};

KUNIT_ARRAY_PARAM_DESC(list, lists, desc);
KUNIT_ARRAY_PARAM_DESC(array, arrays, desc);

static void counts_around_the_limit(struct kunit *test)
{
	const struct counted *c = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	u32 count;

	for (count = c->limit - 1; count <= c->limit + 1; count++) {
		put_start(m, c->vers, RDMA2_MSG, RDMA2_CALL);
		c->put(m, count, count);
		KUNIT_EXPECT_EQ(test, judge_words(test, h, m),
				count > c->limit ? c->beyond : RDMA2_OK);
		KUNIT_EXPECT_LE(test, h->h_nreads, RPCRDMA2_MAX_READ_CHUNKS);
		KUNIT_EXPECT_LE(test, h->h_nwrites, RPCRDMA2_MAX_WRITE_CHUNKS);
		KUNIT_EXPECT_LE(test, h->h_nsegs, RPCRDMA2_MAX_SEGMENTS);
	}
}

/*
 * S05, C-106: a count is valid only if the message holds its items, even if their size
 * overflows.
 */
static void counts_beyond_the_message(struct kunit *test)
{
	static const u32 claims[] = {
		U32_MAX, U32_MAX - 1, 0x80000000, 0x7fffffff, 0x40000001,
		0x40000000, 0x10000001, 0x10000000, 0x0fffffff, 65, 64, 63,
		34,
	};
	const struct counted *c = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int i;

	/* One segment and 512 bytes: they hold 32 more segments, but not 33. */
	for (i = 0; i < ARRAY_SIZE(claims); i++) {
		put_start(m, c->vers, RDMA2_MSG, RDMA2_CALL);
		c->put(m, 1, claims[i]);
		KUNIT_EXPECT_EQ_MSG(test, judge_words(test, h, m),
				    RDMA2_ERR_BAD_XDR, "%x", claims[i]);
	}
}

static const u32 not_bools[] = {
	2, 3, 0xff, 0x100, 0x01000000, 0x80000000, 0x80000001, U32_MAX,
};

/* S05: the five words of a header that announce a following item */
static void every_discriminator(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int at[5], i, j;
	u32 vers;

	for (vers = 1; vers <= 2; vers++) {
		put_start(m, vers, RDMA2_MSG, RDMA2_CALL);
		at[0] = m->count;
		put_read(m, 40, 16);
		at[1] = m->count;
		put(m, 0);
		at[2] = m->count;
		put(m, 1);
		put_segments(m, 2);
		at[3] = m->count;
		put(m, 0);
		at[4] = m->count;
		put(m, 1);
		put_segments(m, 2);
		put_payload(m, RDMA2_CALL, 40);
		KUNIT_ASSERT_EQ(test, judge_words(test, h, m), RDMA2_OK);

		for (i = 0; i < ARRAY_SIZE(at); i++) {
			__be32 good = m->word[at[i]];

			for (j = 0; j < ARRAY_SIZE(not_bools); j++) {
				m->word[at[i]] = cpu_to_be32(not_bools[j]);
				KUNIT_EXPECT_EQ_MSG(test,
						    judge_words(test, h, m),
						    RDMA2_ERR_BAD_XDR,
						    "word %u is %x", at[i],
						    not_bools[j]);
			}
			m->word[at[i]] = good;
		}
	}
}

/* C-080, E-22, E-23: the decoder refuses every unknown message type. */
static void every_proc(struct kunit *test)
{
	static const u32 procs[] = {
		2, 3, 10, 11, 255, 256, 65536, 0x80000000, U32_MAX,
	};
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int i;

	put_start(m, 2, RDMA2_MSG, RDMA2_CALL);
	put_rest(m, 3);
	for (i = 0; i < ARRAY_SIZE(procs); i++) {
		m->word[3] = cpu_to_be32(procs[i]);
		KUNIT_EXPECT_EQ(test, judge_words(test, h, m),
				RDMA2_ERR_INVALID_PROC);
		KUNIT_EXPECT_EQ(test, h->h_xid, WORDS_XID);
		KUNIT_EXPECT_EQ(test, h->h_proc, procs[i]);
	}

	put_start(m, 1, RDMA2_MSG, RDMA2_CALL);
	put_rest(m, 3);
	for (i = 5; i < 16; i++) {
		m->word[3] = cpu_to_be32(i);
		KUNIT_EXPECT_EQ(test, judge_words(test, h, m),
				RDMA2_ERR_INVALID_PROC);
	}
}

/* C-079, S36: all other versions, with all message types; only errors are dropped */
static void every_version(struct kunit *test)
{
	static const u32 versions[] = {
		0, 3, 4, 255, 256, 0x01000000, 0x02000000, 0x80000002, U32_MAX,
	};
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int i;
	u32 proc;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		for (proc = 0; proc < 12; proc++) {
			put_start(m, versions[i], proc, RDMA2_CALL);
			put_rest(m, 3);
			KUNIT_EXPECT_EQ(test, judge_words(test, h, m),
					proc == RDMA2_ERROR ? RDMA2_DROP :
							      RDMA2_ERR_VERS);
			KUNIT_EXPECT_EQ(test, h->h_vers, versions[i]);
		}
	}
}

/* S09: the decoder skips segments of length zero, and they take no space. */
static void many_empty_segments(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int i;

	put_start(m, 2, RDMA2_MSG, RDMA2_CALL);
	for (i = 0; i < 600; i++)
		put_read(m, i, 0);
	put_rest(m, 3);

	KUNIT_EXPECT_EQ(test, judge_words(test, h, m), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, h->h_nreads, 0);
	KUNIT_EXPECT_EQ(test, h->h_nsegs, 0);
}

static struct kunit_case bounds_cases[] = {
	KUNIT_CASE_PARAM(every_truncation, whole_gen_params),
	KUNIT_CASE(every_truncation_of_properties),
	KUNIT_CASE_PARAM(counts_around_the_limit, list_gen_params),
	KUNIT_CASE_PARAM(counts_around_the_limit, array_gen_params),
	KUNIT_CASE_PARAM(counts_beyond_the_message, array_gen_params),
	KUNIT_CASE(every_discriminator),
	KUNIT_CASE(every_proc),
	KUNIT_CASE(every_version),
	KUNIT_CASE(many_empty_segments),
	{ }
};

static struct kunit_suite bounds_suite = {
	.name = "rpcrdma2_bounds",
	.test_cases = bounds_cases,
};

kunit_test_suite(bounds_suite);
