// SPDX-License-Identifier: GPL-2.0
/*
 * Property messages on the wire: their encoding, and the handling of hostile ones.
 */
#include <kunit/test.h>

#include <rpcrdma2/props.h>

#include "util.h"
#include <vectors.h>

#define RBSIZ	BIT(RPCRDMA2_PROP_RBSIZ)
#define BRS	BIT(RPCRDMA2_PROP_BRS)

/* V19 and V26: the same CONNPROP in the two encodings (S01) */
static void connprop_in_both_encodings(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test,
				i ? read_body(test, &pm, v26, sizeof(v26)) :
				    read_body(test, &pm, v19, sizeof(v19)),
				RDMA2_OK);
		KUNIT_EXPECT_EQ(test, pm.pm_type, RDMA2_OPT_CONNPROP);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_count, 2);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, RBSIZ | BRS);
		KUNIT_EXPECT_EQ(test, pm.pm_nochg, RBSIZ | BRS);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_rbsiz, 8192);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_brs,
				RDMA2_BKREQSUP_GENL);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_odd, 0);
	}
}

/* V19, V20, V23 and, in the other encoding, V26 */
static void messages_sent(struct kunit *test)
{
	static const struct rpcrdma2_props val = {
		.pr_rbsiz = 8192, .pr_brs = RDMA2_BKREQSUP_GENL,
	};
	static const struct rpcrdma2_props larger = { .pr_rbsiz = 16384 };
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_CONNPROP };

	rpcrdma2_propset_init(&pm.pm_set, RBSIZ | BRS, &val);
	pm.pm_nochg = RPCRDMA2_PROPS_ALL;
	expect_sent(test, &pm, 0x70000001, 32, 0, v19, sizeof(v19));
	expect_sent(test, &pm, 0x70000001, 32, RDMA2_CONNPROP, v19,
		    sizeof(v19));
	expect_sent(test, &pm, 0x70000006, 32, RDMA2_OPTIONAL, v26,
		    sizeof(v26));

	rpcrdma2_propset_init(&pm.pm_set, 0, &val);
	expect_sent(test, &pm, 0x70000002, 32, 0, v20, sizeof(v20));

	pm.pm_type = RDMA2_OPT_UPDPROP;
	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &larger);
	expect_sent(test, &pm, 0x70000004, 64, 0, v23, sizeof(v23));
}

/*
 * C-022, C-045: the numbering of a received set includes unknown properties. The set has
 * fewer elements when it is encoded again, and its bitmap follows the new numbering.
 */
static void received_set_is_renumbered(struct kunit *test)
{
	static const struct {
		u32		ids[3];		/* on the wire; 0 ends the list */
		u32		nochg;		/* on the wire */
		u32		count;		/* sent */
		u32		bits;		/* sent */
	} sets[] = {
		{ { 0x1234, RDMA2_PROPID_RBSIZ }, 2, 1, 1 },
		{ { 0x1234, RDMA2_PROPID_BRS, RDMA2_PROPID_RBSIZ }, 2, 2, 2 },
		{ { RDMA2_PROPID_BRS, RDMA2_PROPID_RBSIZ }, 1, 2, 2 },
		{ { RDMA2_PROPID_RBSIZ, 0x1234, RDMA2_PROPID_BRS }, 4, 2, 2 },
		{ { RDMA2_PROPID_BRS, 0x1234 }, 3, 1, 1 },
	};
	struct rpcrdma2_propset again;
	struct rpcrdma2_propmsg got = { }, back = { };
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct words *m = words_new(test);
	unsigned int i, j;
	struct wire w;
	int len;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		put_start(m, 2, RDMA2_CONNPROP, 0);
		m->count = 5;
		for (j = 0; j < 3 && sets[i].ids[j]; j++)
			put_propval(m, sets[i].ids[j], 4, 2);
		m->word[4] = cpu_to_be32(j);
		put(m, 1);
		put(m, sets[i].nochg);
		KUNIT_ASSERT_EQ(test, read_words(test, &got, m), RDMA2_OK);
		rpcrdma2_propset_init(&again, got.pm_set.ps_rows,
				      &got.pm_set.ps_val);
		got.pm_set = again;
		h->h_credit = 1;
		h->h_proc = 0;
		room(test, &w, 4096);

		len = send_propmsg(&w, h, &got);

		KUNIT_ASSERT_GT(test, len, 0);
		KUNIT_ASSERT_EQ(test, read_body(test, &back, w.data, len),
				RDMA2_OK);
		KUNIT_EXPECT_EQ(test, back.pm_set.ps_count, sets[i].count);
		KUNIT_EXPECT_EQ(test, back.pm_set.ps_rows, got.pm_set.ps_rows);
		KUNIT_EXPECT_EQ_MSG(test, back.pm_nochg, got.pm_nochg,
				    "set %u", i);
		KUNIT_EXPECT_EQ(test,
				be32_to_cpup((__be32 *)w.data +
					     len / XDR_UNIT - 1),
				sets[i].bits);
	}
}

/* C-046, S32: the largest CONNPROP fits the first Receive of any peer. */
static void connprop_is_small(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_CONNPROP };
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct rpcrdma2_props val;
	struct wire w;

	rpcrdma2_props_default(&val);
	rpcrdma2_propset_init(&pm.pm_set, RPCRDMA2_PROPS_ALL, &val);
	pm.pm_nochg = RPCRDMA2_PROPS_ALL;
	h->h_proc = RDMA2_OPTIONAL;
	h->h_credit = 1;
	room(test, &w, RPCRDMA2_INLINE_FIRST);
	KUNIT_EXPECT_EQ(test, send_propmsg(&w, h, &pm),
			RPCRDMA2_OPTIONAL_LEN + 96);
}

/* V27, V28, C-017: a malformed message has no effect. */
static void bad_properties(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { };
	__be32 words[13];

	KUNIT_EXPECT_EQ(test, read_body(test, &pm, v27, sizeof(v27)),
			RDMA2_ERR_BAD_XDR);
	KUNIT_EXPECT_EQ(test, read_body(test, &pm, v28, sizeof(v28)),
			RDMA2_ERR_BAD_XDR);

	memcpy(words, v19, sizeof(v19));
	words[10] = cpu_to_be32(7);
	KUNIT_EXPECT_EQ(test, read_body(test, &pm, words, sizeof(v19)),
			RDMA2_ERR_BAD_XDR);
	words[10] = cpu_to_be32(3);	/* GENL plus one */
	KUNIT_EXPECT_EQ(test, read_body(test, &pm, words, sizeof(v19)),
			RDMA2_ERR_BAD_XDR);
}

/* S12: the last duplicate in rdma_other counts, too. */
static void duplicates_in_an_answer(struct kunit *test)
{
	static const struct rpcrdma2_props requested = { 16384, 2 };
	struct rpcrdma2_propset want;
	struct rpcrdma2_propmsg pm = { .pm_want = &want };
	struct words *m = words_new(test);

	rpcrdma2_propset_init(&want, RBSIZ, &requested);
	put_start(m, 2, RDMA2_RESPROP, 0);
	m->count = 4;
	put(m, 0);
	put(m, 0);
	put(m, 2);
	put_propval(m, RDMA2_PROPID_RBSIZ, 4, 5000);
	put_propval(m, RDMA2_PROPID_RBSIZ, 4, 7000);

	KUNIT_ASSERT_EQ(test, read_words(test, &pm, m), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_odd, 1);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_rbsiz, 7000);
}

/* Unknown and empty properties have no effect (V29, C-019, C-020, C-060, C-108). */
static void unknown_and_empty_properties(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { };
	__be32 words[12];

	KUNIT_ASSERT_EQ(test, read_body(test, &pm, v29, sizeof(v29)), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_count, 2);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, RBSIZ);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_index[RPCRDMA2_PROP_RBSIZ], 1);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_rbsiz, 4096);

	/* the first and the last experimental id */
	memcpy(words, v29, sizeof(v29));
	words[5] = cpu_to_be32(4294967040U);
	KUNIT_EXPECT_EQ(test, read_body(test, &pm, words, sizeof(v29)),
			RDMA2_OK);
	words[5] = cpu_to_be32(4294967295U);
	KUNIT_EXPECT_EQ(test, read_body(test, &pm, words, sizeof(v29)),
			RDMA2_OK);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, RBSIZ);
}

/* V19 with word 12 all ones: bits beyond the set are legal. C-021, C-022, S04 */
static void bits_beyond_the_set(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { };
	__be32 words[15];

	memcpy(words, v19, sizeof(v19));
	words[12] = cpu_to_be32(U32_MAX);
	KUNIT_EXPECT_EQ(test, read_body(test, &pm, words, sizeof(v19)),
			RDMA2_OK);
	KUNIT_EXPECT_EQ(test, pm.pm_nochg, RBSIZ | BRS);

	words[11] = cpu_to_be32(3);
	words[12] = cpu_to_be32(2);
	words[13] = cpu_to_be32(1);
	words[14] = cpu_to_be32(1);
	KUNIT_EXPECT_EQ(test, read_body(test, &pm, words, sizeof(words)),
			RDMA2_OK);
	KUNIT_EXPECT_EQ(test, pm.pm_nochg, BRS);

	/* The same set in reverse order; bit 0 is its first element */
	words[5] = cpu_to_be32(RDMA2_PROPID_BRS);
	words[7] = cpu_to_be32(RDMA2_BKREQSUP_GENL);
	words[8] = cpu_to_be32(RDMA2_PROPID_RBSIZ);
	words[10] = cpu_to_be32(8192);
	KUNIT_EXPECT_EQ(test, read_body(test, &pm, words, sizeof(words)),
			RDMA2_OK);
	KUNIT_EXPECT_EQ(test, pm.pm_nochg, RBSIZ);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_rbsiz, 8192);
}

/* C-018, C-020, S12: every length of a property of four bytes */
static void every_property_length(struct kunit *test)
{
	struct words *m = words_new(test);
	struct rpcrdma2_propmsg pm = { };
	u32 len;

	for (len = 0; len <= 12; len++) {
		put_start(m, 2, RDMA2_UPDPROP, 0);
		m->count = 4;
		put(m, 1);
		put_propval(m, RDMA2_PROPID_RBSIZ, len, 0x3000);

		if (len && len < 4) {
			KUNIT_EXPECT_EQ(test, read_words(test, &pm, m),
					RDMA2_ERR_BAD_XDR);
			continue;
		}
		KUNIT_ASSERT_EQ(test, read_words(test, &pm, m), RDMA2_OK);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_rbsiz,
				len ? 0x3000 : 4096);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_odd, len > 4);
	}
}

/* C-016, C-106: lengths that exceed the message, even if their sums overflow */
static void property_exceeds_message(struct kunit *test)
{
	static const u32 lengths[] = {
		5, 8, 9, 64, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffc,
		0xfffffffd, U32_MAX,
	};
	struct words *m = words_new(test);
	struct rpcrdma2_propmsg pm = { };
	unsigned int i, id;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (id = 1; id <= 3; id++) {
			put_start(m, 2, RDMA2_UPDPROP, 0);
			m->count = 4;
			put(m, 1);
			put(m, id);
			put(m, lengths[i]);
			put(m, 1);
			KUNIT_EXPECT_EQ_MSG(test, read_words(test, &pm, m),
					    RDMA2_ERR_BAD_XDR, "%x",
					    lengths[i]);
		}
	}
}

/* C-016: a value without its complete padding is malformed. */
static void value_without_padding(struct kunit *test)
{
	struct words *m = words_new(test);
	struct rpcrdma2_propmsg pm = { };
	u32 cut;

	put_start(m, 2, RDMA2_UPDPROP, 0);
	m->count = 4;
	put(m, 1);
	put_propval(m, RDMA2_PROPID_RBSIZ, 5, 8192);
	for (cut = 0; cut <= 3; cut++)
		KUNIT_EXPECT_EQ(test, read_body(test, &pm, m->word,
						words_len(m) - cut),
				cut ? RDMA2_ERR_BAD_XDR : RDMA2_OK);
}

/* C-021: the next item begins behind all words of a bitmap. */
static void bitmaps_of_several_words(struct kunit *test)
{
	static const struct rpcrdma2_props requested = { 16384, 2 };
	struct rpcrdma2_propset want;
	struct rpcrdma2_propmsg pm = { .pm_want = &want };
	struct words *m = words_new(test);
	unsigned int i;

	rpcrdma2_propset_init(&want, RBSIZ | BRS, &requested);
	put_start(m, 2, RDMA2_RESPROP, 0);
	m->count = 4;
	put(m, 4);
	put(m, BIT(want.ps_index[RPCRDMA2_PROP_RBSIZ]));
	for (i = 0; i < 3; i++)
		put(m, 0);
	put(m, 1);
	put(m, BIT(want.ps_index[RPCRDMA2_PROP_BRS]));
	put(m, 0);

	KUNIT_ASSERT_EQ(test, read_words(test, &pm, m), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, pm.pm_done, RBSIZ);
	KUNIT_EXPECT_EQ(test, pm.pm_rejected, BRS);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_count, 0);
}

/* C-106: counts of a set and of a bitmap that exceed the message */
static void every_property_count(struct kunit *test)
{
	static const u32 claims[] = {
		17, 18, 33, 0x1fffffff, 0x20000000, 0x20000001, 0x3fffffff,
		0x40000000, 0x40000001, 0x80000000, U32_MAX - 1, U32_MAX,
	};
	struct words *m = words_new(test);
	struct rpcrdma2_propmsg pm = { };
	u32 i, count;

	/* sets: the message has 16 elements of 8 bytes */
	for (count = 15; count <= 17; count++) {
		put_start(m, 2, RDMA2_UPDPROP, 0);
		m->count = 4;
		put(m, count);
		for (i = 0; i < 16; i++)
			put_propval(m, RDMA2_PROPID_BRS, 0, 0);
		KUNIT_EXPECT_EQ(test, read_words(test, &pm, m),
				count > 16 ? RDMA2_ERR_BAD_XDR : RDMA2_OK);
		if (count <= 16)
			KUNIT_EXPECT_EQ(test, pm.pm_set.ps_odd, count - 1);
	}
	for (i = 0; i < ARRAY_SIZE(claims); i++) {
		m->word[4] = cpu_to_be32(claims[i]);
		KUNIT_EXPECT_EQ(test, read_words(test, &pm, m),
				RDMA2_ERR_BAD_XDR);
	}

	/* bitmaps: the message has 16 words */
	put_start(m, 2, RDMA2_CONNPROP, 0);
	m->count = 4;
	put(m, 0);
	put(m, 16);
	for (i = 0; i < 16; i++)
		put(m, U32_MAX);
	for (count = 15; count <= 17; count++) {
		m->word[5] = cpu_to_be32(count);
		KUNIT_EXPECT_EQ(test, read_words(test, &pm, m),
				count > 16 ? RDMA2_ERR_BAD_XDR : RDMA2_OK);
	}
	for (i = 0; i < ARRAY_SIZE(claims); i++) {
		m->word[5] = cpu_to_be32(claims[i]);
		KUNIT_EXPECT_EQ(test, read_words(test, &pm, m),
				RDMA2_ERR_BAD_XDR);
	}
}

/* S12: the last duplicate counts, except in a REQPROP, where the first counts. */
static void duplicates(struct kunit *test)
{
	static const u32 procs[] = { RDMA2_UPDPROP, RDMA2_REQPROP };
	struct words *m = words_new(test);
	struct rpcrdma2_propmsg pm = { };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		put_start(m, 2, procs[i], 0);
		m->count = 4;
		put(m, 3);
		put_propval(m, RDMA2_PROPID_RBSIZ, 4, 5000);
		put_propval(m, 0x1234, 4, 6000);
		put_propval(m, RDMA2_PROPID_RBSIZ, 4, 7000);
		KUNIT_ASSERT_EQ(test, read_words(test, &pm, m), RDMA2_OK);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_odd, 1);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_rbsiz,
				i ? 5000 : 7000);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_index[RPCRDMA2_PROP_RBSIZ],
				i ? 0 : 2);
	}
}

/*
 * S12: the count of odd properties includes all duplicates but one, and values that are too
 * long.
 */
static void many_duplicates(struct kunit *test)
{
	static const u32 procs[] = {
		RDMA2_CONNPROP, RDMA2_REQPROP, RDMA2_UPDPROP,
	};
	struct words *m = words_new(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(procs); i++) {
		bool first = procs[i] == RDMA2_REQPROP;
		struct rpcrdma2_propmsg pm;

		memset(&pm, 0xff, sizeof(pm));
		pm.pm_want = NULL;
		pm.pm_marked = false;
		put_start(m, 2, procs[i], 0);
		m->count = 4;
		put(m, 6);
		put_propval(m, RDMA2_PROPID_RBSIZ, 4, 5000);
		put_propval(m, RDMA2_PROPID_BRS, 4, 0);
		put_propval(m, RDMA2_PROPID_RBSIZ, 8, 6000);
		put_propval(m, RDMA2_PROPID_BRS, 0, 0);
		put_propval(m, RDMA2_PROPID_RBSIZ, 4, 7000);
		put_propval(m, RDMA2_PROPID_BRS, 4, 2);
		if (procs[i] == RDMA2_CONNPROP) {
			put(m, 1);
			put(m, 0x2f);	/* except the last RBSIZ */
		}

		KUNIT_ASSERT_EQ(test, read_words(test, &pm, m), RDMA2_OK);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_count, 6);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, RBSIZ | BRS);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_odd, 5);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_rbsiz,
				first ? 5000 : 7000);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_brs, first ? 0 : 2);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_index[RPCRDMA2_PROP_RBSIZ],
				first ? 0 : 4);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_index[RPCRDMA2_PROP_BRS],
				first ? 1 : 5);
		KUNIT_EXPECT_EQ(test, pm.pm_nochg,
				procs[i] == RDMA2_CONNPROP ? BRS : 0);
		KUNIT_EXPECT_EQ(test, pm.pm_done, 0);
		KUNIT_EXPECT_EQ(test, pm.pm_rejected, 0);
	}
}

/* C-012, S40: an opttype that is not a property message */
static void other_options(struct kunit *test)
{
	static const u32 types[] = { 0, 5, 6, 0x7fffff01, U32_MAX };
	struct rpcrdma2_propmsg pm = { };
	__be32 words[9];
	unsigned int i;

	memcpy(words, v24, sizeof(v24));
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		words[5] = cpu_to_be32(types[i]);
		KUNIT_EXPECT_EQ(test, read_body(test, &pm, words, sizeof(v24)),
				RDMA2_ERR_INVALID_OPTION);
	}
}

/* S01: the length of the option limits its body, with any data behind it. */
static void option_body_is_bounded(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { };
	__be32 words[16];
	u32 len;

	for (len = 0; len <= 36; len++) {
		memcpy(words, v26, sizeof(v26));
		words[6] = cpu_to_be32(len);
		KUNIT_EXPECT_EQ_MSG(test,
				    read_body(test, &pm, words, sizeof(v26)),
				    len < 36 ? RDMA2_ERR_BAD_XDR : RDMA2_OK,
				    "%u", len);
	}
}

static struct kunit_case propset_cases[] = {
	KUNIT_CASE(connprop_in_both_encodings),
	KUNIT_CASE(messages_sent),
	KUNIT_CASE(received_set_is_renumbered),
	KUNIT_CASE(connprop_is_small),
	KUNIT_CASE(bad_properties),
	KUNIT_CASE(unknown_and_empty_properties),
	KUNIT_CASE(bits_beyond_the_set),
	KUNIT_CASE(every_property_length),
	KUNIT_CASE(property_exceeds_message),
	KUNIT_CASE(value_without_padding),
	KUNIT_CASE(bitmaps_of_several_words),
	KUNIT_CASE(every_property_count),
	KUNIT_CASE(duplicates),
	KUNIT_CASE(many_duplicates),
	KUNIT_CASE(duplicates_in_an_answer),
	KUNIT_CASE(other_options),
	KUNIT_CASE(option_body_is_bounded),
	{ }
};

static struct kunit_suite propset_suite = {
	.name = "rpcrdma2_propset",
	.test_cases = propset_cases,
};

kunit_test_suite(propset_suite);
