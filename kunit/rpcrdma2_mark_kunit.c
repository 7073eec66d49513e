// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of the experimental range, and the mark that makes them valid.
 */
#include <kunit/test.h>

#include <rpcrdma2/props.h>

#include "util.h"

#define RBSIZ	BIT(RPCRDMA2_PROP_RBSIZ)
#define MARKED	RPCRDMA2_PROPS_MARKED

/* X_MARK of @len bytes; @word replaces its first word unless it is 0 */
static void put_mark(struct words *m, u32 len, u32 word)
{
	static const u32 mark[] = RPCRDMA2_MARK;
	u32 i;

	put(m, RDMA2_PROPID_X_MARK);
	put(m, len);
	for (i = 0; i < DIV_ROUND_UP(len, 4); i++)
		put(m, i % 4 || !word ? mark[i % 4] : word);
}

static void put_limits(struct words *m, u32 len, u32 value)
{
	put_propval(m, RDMA2_PROPID_X_LIMITS, len, value);
}

/*
 * 2.6, C-019, C-060, S11: ids of the experimental range are valid beside the mark, in any
 * order. Without the mark they are unknown, and their values are not checked.
 */
static const struct marked_case {
	const char	*desc;
	u32		proc;
	bool		before;		/* an earlier message had the mark */
	u32		mark_len;	/* in this message; U32_MAX: no mark */
	u32		mark_word;	/* wrong first word, if not 0 */
	bool		last;		/* the mark follows the others */
	u32		limits_len;
	bool		bad;
	u32		rows;		/* valid rows */
} marked_cases[] = {
	{ "C-060 experimental properties beside the mark",
	  RDMA2_CONNPROP, false, 16, 0, false, 16, false, RBSIZ | MARKED },
	{ "C-021 C-060 the mark comes last", RDMA2_CONNPROP, false, 16, 0, true,
	  16, false, RBSIZ | MARKED },
	{ "C-060 the mark in an UPDPROP",
	  RDMA2_UPDPROP, false, 16, 0, false, 16, false, RBSIZ | MARKED },
	{ "C-060 a longer mark is truncated",
	  RDMA2_CONNPROP, false, 20, 0, false, 16, false, RBSIZ | MARKED },
	{ "C-019 no mark", RDMA2_CONNPROP, false, U32_MAX, 0, false, 16, false,
	  RBSIZ },
	{ "C-019 S11 no mark, and bad values", RDMA2_CONNPROP, false, U32_MAX,
	  0, false, 15, false, RBSIZ },
	{ "C-019 the mark of another extension", RDMA2_CONNPROP, false, 16, 7,
	  false, 16, false, RBSIZ },
	{ "C-019 S11 the mark of another extension, and bad values",
	  RDMA2_CONNPROP, false, 16, 7, false, 4, false, RBSIZ },
	{ "S11 a mark that is too short", RDMA2_CONNPROP, false, 15, 0, false,
	  16, false, RBSIZ },
	{ "C-020 an empty mark is not a mark",
	  RDMA2_CONNPROP, false, 0, 0, false, 16, false, RBSIZ },
	{ "C-018 a value that is too short, beside the mark, is bad",
	  RDMA2_CONNPROP, false, 16, 0, false, 15, true, 0 },
	{ "C-018 also if the mark comes last",
	  RDMA2_CONNPROP, false, 16, 0, true, 12, true, 0 },
	{ "C-060 the mark came in an earlier message",
	  RDMA2_UPDPROP, true, U32_MAX, 0, false,
	  16, false, RBSIZ | (MARKED & ~BIT(RPCRDMA2_PROP_X_MARK)) },
	{ "C-018 the mark came earlier, and a value is too short",
	  RDMA2_UPDPROP, true, U32_MAX, 0, false, 8, true, 0 },
	{ "C-018 the mark came earlier, and is too short now",
	  RDMA2_UPDPROP, true, 12, 0, false, 16, true, 0 },
	{ "C-060 a request for the mark does not mark its sender",
	  RDMA2_REQPROP, false, 16, 0, false, 4, false, RBSIZ },
	{ "C-053 a request of an end with the mark", RDMA2_REQPROP, true, 16, 0,
	  false, 16, false, RBSIZ | MARKED },
};

KUNIT_ARRAY_PARAM_DESC(marked, marked_cases, desc);

static void properties_beside_the_mark(struct kunit *test)
{
	const struct marked_case *c = test->param_value;
	struct rpcrdma2_propmsg pm = { .pm_marked = c->before };
	bool has_mark = c->mark_len != U32_MAX;
	struct words *m = words_new(test);

	put_start(m, 2, c->proc, 0);
	m->count = 4;
	put(m, 4 + has_mark);
	if (has_mark && !c->last)
		put_mark(m, c->mark_len, c->mark_word);
	put_limits(m, c->limits_len, 5);
	put_propval(m, RDMA2_PROPID_X_SBSIZ, 4, 20480);
	put_propval(m, RDMA2_PROPID_RBSIZ, 4, 8192);
	put_propval(m, U32_MAX - 1, 4, 7);	/* unknown */
	if (has_mark && c->last)
		put_mark(m, c->mark_len, c->mark_word);
	if (c->proc == RDMA2_CONNPROP) {
		put(m, 1);
		put(m, U32_MAX);
	}

	if (c->bad) {
		KUNIT_EXPECT_EQ(test, read_words(test, &pm, m),
				RDMA2_ERR_BAD_XDR);
		return;
	}
	KUNIT_ASSERT_EQ(test, read_words(test, &pm, m), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, c->rows);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_count, 4 + has_mark);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_rbsiz, 8192);
	KUNIT_EXPECT_EQ(test, pm.pm_nochg,
			c->proc == RDMA2_CONNPROP ? c->rows : 0);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_odd,
			c->rows & MARKED && c->mark_len == 20);
	if (!(c->rows & BIT(RPCRDMA2_PROP_X_SBSIZ)))
		return;
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_limits[0], 5);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_limits[3], 5);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_sbsiz, 20480);
}

/* S12: the last of two marks counts. C-016: a truncated set is malformed in any case. */
static void two_marks(struct kunit *test)
{
	struct words *m = words_new(test);
	struct rpcrdma2_propmsg pm = { };
	unsigned int wrong;

	for (wrong = 0; wrong < 2; wrong++) {
		put_start(m, 2, RDMA2_CONNPROP, 0);
		m->count = 4;
		put(m, 3);
		put_mark(m, 16, wrong ? 0 : 9);
		put_propval(m, RDMA2_PROPID_X_SBSIZ, 4, 20480);
		put_mark(m, 16, wrong ? 9 : 0);
		put(m, 0);
		KUNIT_ASSERT_EQ(test, read_words(test, &pm, m), RDMA2_OK);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, wrong ? 0 : MARKED &
				~BIT(RPCRDMA2_PROP_X_LIMITS));
		m->word[4] = cpu_to_be32(4);
		KUNIT_EXPECT_EQ(test, read_words(test, &pm, m),
				RDMA2_ERR_BAD_XDR);
	}
}

/* A peer of the same kind decodes every announced word. */
static void values_of_several_words(struct kunit *test)
{
	static const struct rpcrdma2_props val = {
		.pr_rbsiz = 8192, .pr_brs = 1, .pr_mark = RPCRDMA2_MARK,
		.pr_limits = { 11, 12, 13, 14 }, .pr_sbsiz = 15,
	};
	struct rpcrdma2_propmsg pm = {
		.pm_type = RDMA2_OPT_CONNPROP, .pm_nochg = MARKED,
	}, back = { };
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct wire w;

	rpcrdma2_propset_init(&pm.pm_set, RPCRDMA2_PROPS_ALL, &val);
	h->h_credit = 1;
	h->h_proc = 0;
	room(test, &w, RPCRDMA2_PREFIX_LEN + 96);
	KUNIT_ASSERT_EQ(test, send_propmsg(&w, h, &pm), w.len);
	KUNIT_ASSERT_EQ(test, read_body(test, &back, w.data, w.len), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, back.pm_set.ps_rows, RPCRDMA2_PROPS_ALL);
	KUNIT_EXPECT_MEMEQ(test, &back.pm_set.ps_val, &val, sizeof(val));
	KUNIT_EXPECT_EQ(test, back.pm_nochg, MARKED);
}

/* 2.6, C-060: the ids and the mark are constants of the wire format. */
static void wire_constants(struct kunit *test)
{
	static const u32 mark[] = RPCRDMA2_MARK, uuid[] = {
		0x4b3c712e, 0x362644af, 0x9d2c3e28, 0x063801e6,
	};

	KUNIT_EXPECT_MEMEQ(test, mark, uuid, sizeof(uuid));
	KUNIT_EXPECT_EQ(test, (u32)RDMA2_PROPID_X_MARK, 4294967040U);
	KUNIT_EXPECT_EQ(test, (u32)RDMA2_PROPID_X_LIMITS, 4294967041U);
	KUNIT_EXPECT_EQ(test, (u32)RDMA2_PROPID_X_SBSIZ, 4294967042U);
}

static struct kunit_case mark_cases[] = {
	KUNIT_CASE_PARAM(properties_beside_the_mark, marked_gen_params),
	KUNIT_CASE(two_marks),
	KUNIT_CASE(values_of_several_words),
	KUNIT_CASE(wire_constants),
	{ }
};

static struct kunit_suite mark_suite = {
	.name = "rpcrdma2_mark",
	.test_cases = mark_cases,
};

kunit_test_suite(mark_suite);
