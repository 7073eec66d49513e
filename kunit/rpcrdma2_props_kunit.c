// SPDX-License-Identifier: GPL-2.0
/*
 * Properties: the effect of messages on a connection's values, and the answer to a REQPROP
 * of the peer.
 */
#include <kunit/test.h>

#include <rpcrdma2/props.h>

#include "exchange.h"
#include "util.h"
#include <vectors.h>

#define RBSIZ	BIT(RPCRDMA2_PROP_RBSIZ)
#define BRS	BIT(RPCRDMA2_PROP_BRS)

/* C-024: the default of each property */
static void defaults(struct kunit *test)
{
	struct rpcrdma2_props pr;
	unsigned int i;

	memset(&pr, 0xff, sizeof(pr));
	rpcrdma2_props_default(&pr);
	KUNIT_EXPECT_EQ(test, pr.pr_rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, pr.pr_brs, RDMA2_BKREQSUP_INLINE);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, pr.pr_mark[i], 0);
		KUNIT_EXPECT_EQ(test, pr.pr_limits[i], U32_MAX);
	}
	KUNIT_EXPECT_EQ(test, pr.pr_sbsiz, 0);
}

/* Rows of the UPDPROP of a requester whose supported values differ from the announced ones */
static u32 updates(const struct rpcrdma2_props *announced,
		   const struct rpcrdma2_props *now)
{
	struct rpcrdma2_exchange ex;

	rpcrdma2_exchange_init(&ex, &record_ops, false);
	ex.ex_peer.pp_now = ex.ex_supported;	/* with the mark */
	ex.ex_peer.pp_announced = true;
	ex.ex_connprop_sent = true;
	ex.ex_marked = true;
	ex.ex_announced = *announced;
	ex.ex_supported = *now;
	if (!is_sent(&ex, 0))
		return 0;
	return rec.pm.pm_type == RDMA2_OPT_UPDPROP ? rec.pm.pm_set.ps_rows : ~0U;
}

/* C-027, C-032, C-033, C-045: the changes that an UPDPROP announces */
static void announced_changes(struct kunit *test)
{
	static const struct rpcrdma2_props announced = {
		.pr_rbsiz = 8192, .pr_brs = 1, .pr_sbsiz = 8192,
	};
	struct rpcrdma2_props now = {
		.pr_rbsiz = 8193, .pr_brs = 2, .pr_mark = RPCRDMA2_MARK,
		.pr_limits = { 1 }, .pr_sbsiz = 8191,
	};

	KUNIT_EXPECT_EQ(test, updates(&announced, &now),
			RBSIZ | BIT(RPCRDMA2_PROP_X_SBSIZ));
	now.pr_rbsiz = 8191;
	now.pr_sbsiz = 8193;
	KUNIT_EXPECT_EQ(test, updates(&announced, &now),
			BIT(RPCRDMA2_PROP_X_SBSIZ));
	now = announced;
	KUNIT_EXPECT_EQ(test, updates(&announced, &now), 0);
}

/* The answer of an end that has announced @now */
static void answer_reqprop(struct rpcrdma2_propmsg *res,
			   const struct rpcrdma2_propset *want,
			   struct rpcrdma2_props *now,
			   const struct rpcrdma2_props *supported)
{
	const struct rpcrdma2_propmsg req = {
		.pm_type = RDMA2_OPT_REQPROP, .pm_set = *want,
	};
	struct rpcrdma2_exchange ex;

	rpcrdma2_exchange_init(&ex, &record_ops, false);
	ex.ex_announced = *now;
	ex.ex_supported = *supported;
	is_answered(&ex, &req, 0);
	*res = rec.pm;
	*now = ex.ex_announced;
}

/* C-053: the peer's request does not change a fixed property. */
static void requests_for_fixed_properties(struct kunit *test)
{
	static const struct rpcrdma2_props able = {
		.pr_mark = RPCRDMA2_MARK, .pr_limits = { 1, 2, 3, 4 },
		.pr_sbsiz = 4096,
	};
	const struct rpcrdma2_props val = { };
	struct rpcrdma2_props now = able;
	struct rpcrdma2_propset want;
	struct rpcrdma2_propmsg pm;

	rpcrdma2_propset_init(&want, RPCRDMA2_PROPS_MARKED, &val);
	answer_reqprop(&pm, &want, &now, &able);
	KUNIT_EXPECT_EQ(test, pm.pm_done, 0);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, 0);
	KUNIT_EXPECT_MEMEQ(test, &now, &able, sizeof(now));
}

/* V21 gets V22: S16, C-049, C-051, C-053, C-057 */
static void reqprop_is_answered(struct kunit *test)
{
	struct rpcrdma2_props now = {
		.pr_rbsiz = 8192, .pr_brs = RDMA2_BKREQSUP_INLINE,
	};
	static const struct rpcrdma2_props able = {
		.pr_rbsiz = 16384, .pr_brs = RDMA2_BKREQSUP_GENL,
	};
	struct rpcrdma2_propmsg req = { }, res;

	KUNIT_ASSERT_EQ(test, read_body(test, &req, v21, sizeof(v21)),
			RDMA2_OK);

	answer_reqprop(&res, &req.pm_set, &now, &able);

	KUNIT_EXPECT_EQ(test, res.pm_done, BRS);
	KUNIT_EXPECT_EQ(test, now.pr_rbsiz, 16384);
	KUNIT_EXPECT_EQ(test, now.pr_brs, RDMA2_BKREQSUP_INLINE);
	expect_sent(test, &res, 0x70000003, 64, RDMA2_REQPROP, v22,
		    sizeof(v22));
}

enum result { REJECTED, DONE, OTHER };

static const struct request_case {
	const char	*desc;
	u32		row;
	u32		want;
	u32		now;
	u32		able;
	enum result	request;
} request_cases[] = {
	{ "S16 RBSIZ 4095", RBSIZ, 4095, 8192, 16384, REJECTED },
	{ "S16 RBSIZ 4096", RBSIZ, 4096, 8192, 16384, DONE },
	{ "S16 RBSIZ of the current value", RBSIZ, 8192, 8192, 16384, DONE },
	{ "S16 RBSIZ of the posted Receives", RBSIZ, 16384, 8192, 16384,
	  DONE },
	{ "S16 RBSIZ above the posted Receives", RBSIZ, 16385, 8192, 16384,
	  OTHER },
	{ "S16 RBSIZ above the posted Receives, whose size is announced",
	  RBSIZ, 16385, 16384, 16384, REJECTED },
	{ "S16 RBSIZ 0", RBSIZ, 0, 4096, 4096, REJECTED },
	{ "S16 RBSIZ 2^32 - 1", RBSIZ, U32_MAX, 4096, 4096,
	  REJECTED },
	{ "C-045 BRS NONE", BRS, 0, 2, 2, REJECTED },
	{ "C-045 BRS below a frozen value", BRS, 1, 2, 2,
	  REJECTED },
	{ "S16 BRS GENL, the current value", BRS, 2, 2, 2, DONE },
	{ "S16 BRS of the current value", BRS, 1, 1, 1, DONE },
	{ "S16 BRS above the current value", BRS, 2, 1, 1, REJECTED },
	{ "S16 BRS of the default, which this end does not support",
	  BRS, 1, 1, 0, REJECTED },
};

KUNIT_ARRAY_PARAM_DESC(request, request_cases, desc);

static void requests(struct kunit *test)
{
	const struct request_case *c = test->param_value;
	struct rpcrdma2_props now = { c->now, c->now };
	const struct rpcrdma2_props able = { c->able, c->able };
	const struct rpcrdma2_props val = { c->want, c->want };
	struct rpcrdma2_propset want;
	struct rpcrdma2_propmsg pm;
	u32 after;

	rpcrdma2_propset_init(&want, c->row, &val);

	answer_reqprop(&pm, &want, &now, &able);

	after = c->row == RBSIZ ? now.pr_rbsiz : now.pr_brs;
	switch (c->request) {
	case DONE:
		KUNIT_EXPECT_EQ(test, pm.pm_done, c->row);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, 0);
		KUNIT_EXPECT_EQ(test, after, c->want);
		break;
	case OTHER:
		KUNIT_EXPECT_EQ(test, pm.pm_done, 0);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, c->row);
		KUNIT_EXPECT_EQ(test, after, c->able);
		break;
	default:
		KUNIT_EXPECT_EQ(test, pm.pm_done, 0);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, 0);
		KUNIT_EXPECT_EQ(test, after, c->now);
		break;
	}
}

/* C-055, C-057, C-022: elements far apart, in bitmaps of several words */
static void answer_to_many_requests(struct kunit *test)
{
	static const struct rpcrdma2_props able = {
		.pr_rbsiz = 4096, .pr_brs = RDMA2_BKREQSUP_INLINE,
	};
	static const u32 words[] = {
		2, 0, 0x100,			/* done: element 40 */
		3, U32_MAX, 0xfffffeff, 0x3f,	/* rejected: all others */
		0,				/* other: none */
	};
	struct rpcrdma2_props now = able;
	struct words *m = words_new(test);
	struct rpcrdma2_propmsg req = { }, res;
	struct rpcrdma2_hdr *h = hdr_new(test);
	unsigned int i;
	struct wire w;

	put_start(m, 2, RDMA2_REQPROP, 0);
	m->count = 4;
	put(m, 70);
	for (i = 0; i < 70; i++)
		put_propval(m, i == 40 ? RDMA2_PROPID_RBSIZ :
			       i == 3 ? RDMA2_PROPID_BRS : 1000 + i, 4,
			    i == 3 ? RDMA2_BKREQSUP_GENL : 4096);
	KUNIT_ASSERT_EQ(test, read_words(test, &req, m), RDMA2_OK);
	answer_reqprop(&res, &req.pm_set, &now, &able);
	h->h_credit = 1;
	room(test, &w, 16 + sizeof(words));

	KUNIT_ASSERT_EQ(test, send_propmsg(&w, h, &res), w.len);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		KUNIT_EXPECT_EQ(test,
				be32_to_cpup((__be32 *)w.data + 4 + i), words[i]);
}

/*
 * S53: the answer to the longest REQPROP is no longer than any peer accepts, in the
 * longer encoding, too; a REQPROP with one element more is refused.
 */
static void s53_most_requests(struct kunit *test)
{
	u32 count = 3584, words = 5 + 2 * count, i;
	struct rpcrdma2_props now = { .pr_rbsiz = 4096 }, able = now;
	struct rpcrdma2_propmsg req = { }, res;
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct wire w;
	__be32 *p;

	able.pr_rbsiz = 8192;
	p = kunit_kzalloc(test, (words + 2) * XDR_UNIT, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	p[1] = cpu_to_be32(RPCRDMA2_VERS_TWO);
	p[3] = cpu_to_be32(RDMA2_REQPROP);
	p[4] = cpu_to_be32(count);
	for (i = 0; i <= count; i++)
		p[5 + 2 * i] = cpu_to_be32(1000 + i);
	/* An element without data is the default, 4096: done */
	p[5 + 2 * (count - 1)] = cpu_to_be32(RDMA2_PROPID_RBSIZ);
	KUNIT_ASSERT_EQ(test, read_body(test, &req, p, words * XDR_UNIT),
			RDMA2_OK);
	answer_reqprop(&res, &req.pm_set, &now, &able);
	KUNIT_EXPECT_EQ(test, res.pm_done, BIT(RPCRDMA2_PROP_RBSIZ));
	h->h_credit = 1;
	h->h_proc = RDMA2_OPTIONAL;
	room(test, &w, RPCRDMA2_INLINE_FIRST);
	KUNIT_EXPECT_EQ(test, send_propmsg(&w, h, &res), 28 + 3 * 4 + 2 * 448);

	p[4] = cpu_to_be32(count + 1);
	KUNIT_EXPECT_EQ(test, read_body(test, &req, p, (words + 2) * XDR_UNIT),
			RDMA2_ERR_SYSTEM);
	p[3] = cpu_to_be32(RDMA2_UPDPROP);
	KUNIT_EXPECT_EQ(test, read_body(test, &req, p, (words + 2) * XDR_UNIT),
			RDMA2_OK);
}

/*
 * C-022, C-057: the words of an answer. RBSIZ and BRS stand among unknown properties, at
 * the ends of words and beside them.
 */
static const struct numbered_case {
	const char	*desc;
	unsigned int	count;		/* elements of the REQPROP */
	unsigned int	rbsiz, brs;	/* their places; absent if not below @count */
	u32		want_rbsiz;	/* 16384 are posted, 8192 are announced */
	u32		want_brs;	/* INLINE */
} numbered_cases[] = {
	{ "C-057 two requests granted", 2, 0, 1, 16384, RDMA2_BKREQSUP_INLINE },
	{ "C-057 two requests granted, in the other order", 2, 1, 0,
	  16384, RDMA2_BKREQSUP_INLINE },
	{ "C-057 two requests rejected", 2, 0, 1, 0, RDMA2_BKREQSUP_NONE },
	{ "C-054 one granted, one with another value", 2, 0, 1,
	  65536, RDMA2_BKREQSUP_INLINE },
	{ "C-057 a single request", 1, 0, 1, 4096, 0 },
	{ "C-057 no request", 0, 0, 0, 0, 0 },
	{ "C-022 both at the ends of a 32-bit word", 32, 0, 31,
	  16384, RDMA2_BKREQSUP_INLINE },
	{ "C-022 both at the ends of a 32-bit word, rejected",
	  32, 0, 31, 0, RDMA2_BKREQSUP_NONE },
	{ "C-022 one of 31 elements", 31, 30, 31, 16384, 0 },
	{ "C-022 elements 31 and 32 of 33", 33, 31, 32,
	  16384, RDMA2_BKREQSUP_INLINE },
	{ "C-022 elements 32 and 31 of 33", 33, 32, 31,
	  16384, RDMA2_BKREQSUP_NONE },
	{ "C-054 element 32 gets another value", 33, 32, 33, 65536, 0 },
	{ "C-022 elements 63 and 0 of 64", 64, 63, 0,
	  16384, RDMA2_BKREQSUP_INLINE },
	{ "C-022 elements 64 and 63 of 65", 65, 64, 63,
	  16384, RDMA2_BKREQSUP_INLINE },
	{ "C-022 only element 64 of 65", 65, 64, 65, 0, 0 },
	{ "C-022 only unknown properties", 40, 40, 40, 0, 0 },
	{ "C-022 elements 62 and 31 of 63", 63, 62, 31,
	  16384, RDMA2_BKREQSUP_INLINE },
	{ "C-022 63 elements, all rejected", 63, 62, 31,
	  0, RDMA2_BKREQSUP_NONE },
};

KUNIT_ARRAY_PARAM_DESC(numbered, numbered_cases, desc);

#define MAP_WORDS	4

static void map_set(u32 *map, unsigned int bit)
{
	map[bit / 32] |= 1U << bit % 32;
}

static void put_map(struct words *m, const u32 *map)
{
	unsigned int words = MAP_WORDS, i;

	while (words && !map[words - 1])
		words--;
	put(m, words);
	for (i = 0; i < words; i++)
		put(m, map[i]);
}

static void answer_numbering(struct kunit *test)
{
	const struct numbered_case *c = test->param_value;
	static const struct rpcrdma2_props able = {
		.pr_rbsiz = 16384, .pr_brs = RDMA2_BKREQSUP_GENL,
	};
	struct rpcrdma2_props now = {
		.pr_rbsiz = 8192, .pr_brs = RDMA2_BKREQSUP_INLINE,
	};
	u32 done[MAP_WORDS] = { }, rejected[MAP_WORDS] = { };
	struct rpcrdma2_propmsg req = { }, res, back = { };
	struct words *m = words_new(test);
	bool other = false;
	unsigned int i;

	/* The request, and in @m the expected answer */
	put_start(m, 2, RDMA2_REQPROP, 0);
	m->count = 4;
	put(m, c->count);
	for (i = 0; i < c->count; i++) {
		if (i == c->rbsiz) {
			put_propval(m, RDMA2_PROPID_RBSIZ, 4, c->want_rbsiz);
			if (c->want_rbsiz > able.pr_rbsiz)
				other = true;
			else
				map_set(c->want_rbsiz < 4096 ? rejected : done, i);
		} else if (i == c->brs) {
			put_propval(m, RDMA2_PROPID_BRS, 4, c->want_brs);
			map_set(c->want_brs ? done : rejected, i);
		} else {
			put_propval(m, 1000 + i, 4, 7);
			map_set(rejected, i);
		}
	}
	KUNIT_ASSERT_EQ(test, read_words(test, &req, m), RDMA2_OK);
	put_start(m, 2, RDMA2_RESPROP, 0);
	m->count = 4;
	put_map(m, done);
	put_map(m, rejected);
	put(m, other);
	if (other)
		put_propval(m, RDMA2_PROPID_RBSIZ, 4, able.pr_rbsiz);

	answer_reqprop(&res, &req.pm_set, &now, &able);

	expect_sent(test, &res, WORDS_XID, 32, RDMA2_REQPROP,
		    (const u8 *)m->word, words_len(m));
	back.pm_want = &req.pm_set;
	KUNIT_ASSERT_EQ(test, read_words(test, &back, m), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, back.pm_done, res.pm_done);
	KUNIT_EXPECT_EQ(test, back.pm_set.ps_rows, res.pm_set.ps_rows);
	KUNIT_EXPECT_EQ(test, back.pm_rejected,
			req.pm_set.ps_rows & ~res.pm_done &
			~res.pm_set.ps_rows);
}

/* S01, C-066: an option has a direction, in its header. */
static void option_directions(struct kunit *test)
{
	static const struct rpcrdma2_props val = { 8192, 1 };
	struct rpcrdma2_propmsg pm = { };
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct rpcrdma2_propset want;
	struct wire w;

	rpcrdma2_propset_init(&want, RBSIZ, &val);
	pm.pm_want = &want;
	for (pm.pm_type = 1; pm.pm_type <= 4; pm.pm_type++) {
		const __be32 *p;

		h->h_xid = WORDS_XID;
		h->h_credit = 1;
		h->h_proc = RDMA2_OPTIONAL;
		room(test, &w, 4096);
		KUNIT_ASSERT_GT(test, send_propmsg(&w, h, &pm), 0);
		p = w.data;
		KUNIT_EXPECT_EQ(test, be32_to_cpu(p[4]), pm.pm_type == 3);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(p[5]), pm.pm_type);
	}
}

/* C-106: the encoder refuses a message that exceeds the memory. */
static void property_message_size_limit(struct kunit *test)
{
	static const struct rpcrdma2_props val = { 8192, 1 };
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_UPDPROP };
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct wire w;
	size_t len;

	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
	for (len = 0; len <= 32; len += 4) {
		h->h_credit = 1;
		h->h_proc = 0;
		room(test, &w, len);
		KUNIT_EXPECT_EQ_MSG(test,
				    send_propmsg(&w, h, &pm),
				    len < 32 ? -EMSGSIZE : 32, "%zu", len);
	}
}

/* C-108: a set has only the rows of the table. */
static void rows_limited_to_table(struct kunit *test)
{
	static const struct rpcrdma2_props val = { 8192, 2 };
	struct rpcrdma2_propset ps;

	rpcrdma2_propset_init(&ps, U32_MAX, &val);
	KUNIT_EXPECT_EQ(test, ps.ps_rows, 0x1f);
	KUNIT_EXPECT_EQ(test, ps.ps_count, 5);
}

/* A RESPROP to a REQPROP for RBSIZ 16384 (element 0) and BRS GENL (1) */
static const struct grant_case {
	const char	*desc;
	u32		done;
	u32		rejected;
	u32		other;		/* rows in rdma_other */
	u32		rbsiz;		/* afterwards; 8192 before */
	u32		brs;		/* afterwards; INLINE before */
} grant_cases[] = {
	{ "C-052 both done", 3, 0, 0, 16384, 2 },
	{ "C-053 both rejected", 0, 3, 0, 8192, 1 },
	{ "C-054 one done, one other", 2, 0, RBSIZ, 12288, 2 },
	{ "C-058 done and rejected", 3, 1, 0, 8192, 2 },
	{ "C-058 done and other", 3, 0, RBSIZ, 8192, 2 },
	{ "C-058 rejected and other", 2, 1, RBSIZ, 8192, 2 },
	{ "C-058 all three", 3, 3, RBSIZ | BRS, 8192, 1 },
	{ "C-058 one missing", 2, 0, 0, 8192, 2 },
	{ "C-058 all missing", 0, 0, 0, 8192, 1 },
	{ "S17 bits beyond the requests", 0xfffffffc, 3, 0, 8192, 1 },
};

KUNIT_ARRAY_PARAM_DESC(grant, grant_cases, desc);

static void grants(struct kunit *test)
{
	static const struct rpcrdma2_props requested = { 16384, 2 };
	const struct grant_case *c = test->param_value;
	struct rpcrdma2_exchange ex;
	struct words *m = words_new(test);
	struct rpcrdma2_propset want;
	struct rpcrdma2_propmsg pm = { .pm_want = &want };

	rpcrdma2_exchange_init(&ex, &record_ops, false);
	ex.ex_peer.pp_now.pr_rbsiz = 8192;
	rpcrdma2_propset_init(&want, RBSIZ | BRS, &requested);
	put_start(m, 2, RDMA2_RESPROP, 0);
	m->count = 4;
	put(m, 1);
	put(m, c->done);
	put(m, 1);
	put(m, c->rejected);
	put(m, hweight32(c->other));
	if (c->other & RBSIZ)
		put_propval(m, RDMA2_PROPID_RBSIZ, 4, 12288);
	if (c->other & BRS)
		put_propval(m, RDMA2_PROPID_BRS, 4, 0);
	KUNIT_ASSERT_EQ(test, read_words(test, &pm, m), RDMA2_OK);

	rpcrdma2_exchange_take(&ex, &pm);

	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, c->rbsiz);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_brs, c->brs);
}

/* C-056, S17: answers beyond the request, or without one */
static void grants_without_request(struct kunit *test)
{
	static const struct rpcrdma2_props requested = { 16384, 2 };
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propset want;
	struct rpcrdma2_propmsg pm = { .pm_want = &want };

	rpcrdma2_exchange_init(&ex, &record_ops, false);
	rpcrdma2_propset_init(&want, BRS, &requested);
	KUNIT_ASSERT_EQ(test, read_body(test, &pm, v22, sizeof(v22)),
			RDMA2_OK);
	rpcrdma2_exchange_take(&ex, &pm);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_brs, 2);

	pm.pm_want = NULL;
	rpcrdma2_exchange_init(&ex, &record_ops, false);
	KUNIT_ASSERT_EQ(test, read_body(test, &pm, v22, sizeof(v22)),
			RDMA2_OK);
	rpcrdma2_exchange_take(&ex, &pm);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 4096);
}

/* Takes a CONNPROP or UPDPROP. Return: number of changes to constant properties. */
static u32 take(struct rpcrdma2_exchange *ex, u32 type,
		const struct rpcrdma2_props *val, u32 rows, u32 nochg)
{
	struct rpcrdma2_propmsg pm = { .pm_type = type, .pm_nochg = nochg };
	u32 before = rec.counts[RPCRDMA2_C_frozen_properties];

	rpcrdma2_propset_init(&pm.pm_set, rows, val);
	rpcrdma2_exchange_take(ex, &pm);
	return rec.counts[RPCRDMA2_C_frozen_properties] - before;
}

/* Changes by CONNPROP and UPDPROP (C-045, C-047, S15, S16, S19) */
static void announcements(struct kunit *test)
{
	static const struct rpcrdma2_props first = { 8192, 2 };
	static const struct rpcrdma2_props second = { 2048, 0 };
	struct rpcrdma2_exchange ex;

	rpcrdma2_exchange_init(&ex, &record_ops, false);
	KUNIT_EXPECT_FALSE(test, ex.ex_peer.pp_announced);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_changeable, 0);

	/* An update before the CONNPROP cannot change constant properties. */
	KUNIT_EXPECT_EQ(test, take(&ex, RDMA2_OPT_UPDPROP, &first, BRS, 0), 0);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_brs, 2);

	/* A property that the CONNPROP leaves out has its default. */
	KUNIT_EXPECT_EQ(test, take(&ex, RDMA2_OPT_CONNPROP, &first, RBSIZ, 0),
			0);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 8192);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_brs, 1);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_changeable, RBSIZ);

	/*
	 * A second CONNPROP acts as an update: BRS was declared constant, and changes
	 * nevertheless.
	 */
	KUNIT_EXPECT_EQ(test,
			take(&ex, RDMA2_OPT_CONNPROP, &second, RBSIZ | BRS, 0),
			1);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 2048);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_brs, 0);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_changeable, RBSIZ);

	/* A new connection, with properties declared constant */
	rpcrdma2_exchange_init(&ex, &record_ops, false);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 4096);
	take(&ex, RDMA2_OPT_CONNPROP, &first, RBSIZ | BRS, RBSIZ);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_changeable, BRS);
}

static const struct limit_case {
	const char	*desc;
	u32		rbsiz;
	bool		has_announced;
	u32		own;
	u32		send;
	u32		reply;
	u32		sbsiz;
	bool		refused;	/* a Reply expected inline was refused */
} limit_cases[] = {
	{ "C-005 S14 a silent peer", 4096, false, 65536, 4096, 4096 },
	{ "S14 a silent peer, and smaller Sends of this end",
	  4096, false, 2048, 2048, 2048 },
	{ "C-001 S33 the peer has the lower limit",
	  8192, true, 65536, 8192, 8192 },
	{ "C-001 S33 this end has the lower limit",
	  65536, true, 8192, 8192, 8192 },
	{ "S13 below the default", 2048, true, 65536, 2048, 2048 },
	{ "S13 below the minimum", 1023, true, 65536, 1024, 1024 },
	{ "S13 0 bytes", 0, true, 65536, 1024, 1024 },
	{ "S13 2^32 - 1", U32_MAX, true, 65536, 65536, 65536 },
	{ "S14 the peer has announced its largest Send",
	  65536, true, 65536, 65536, 8192, 8192 },
	{ "S14 the peer's largest Send exceeds its Receives", 4096, true, 65536,
	  4096, 16384, 16384 },
	{ "S14 the peer has announced its largest Send, and smaller Sends of this end",
	  65536, true, 4096, 4096, 4096, 16384 },
	{ "S14 the peer's largest Send is 1 byte", 65536, true, 65536, 65536,
	  1024, 1 },
	{ "S14 a Reply was refused", 65536, true, 65536, 65536, 4096, 0, true },
	{ "S14 a Reply within X_SBSIZ was refused", 65536, true, 65536,
	  65536, 4096, 65536, true },
	{ "S14 a Reply was refused, and smaller Sends of this end",
	  65536, true, 2048, 2048, 2048, 0, true },
};

KUNIT_ARRAY_PARAM_DESC(limit, limit_cases, desc);

static void inline_limits(struct kunit *test)
{
	const struct limit_case *c = test->param_value;
	struct rpcrdma2_exchange ex;

	rpcrdma2_exchange_init(&ex, &record_ops, false);
	ex.ex_peer.pp_now.pr_rbsiz = c->rbsiz;
	ex.ex_peer.pp_now.pr_sbsiz = c->sbsiz;
	ex.ex_peer.pp_announced = c->has_announced;
	ex.ex_peer.pp_short = c->refused;
	ex.ex_supported.pr_sbsiz = c->own;
	ex.ex_announced.pr_rbsiz = c->own;
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), c->send);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_reply_max(&ex), c->reply);
}

static struct kunit_case props_cases[] = {
	KUNIT_CASE(defaults),
	KUNIT_CASE(announced_changes),
	KUNIT_CASE(requests_for_fixed_properties),
	KUNIT_CASE(reqprop_is_answered),
	KUNIT_CASE_PARAM(requests, request_gen_params),
	KUNIT_CASE(answer_to_many_requests),
	KUNIT_CASE(s53_most_requests),
	KUNIT_CASE_PARAM(answer_numbering, numbered_gen_params),
	KUNIT_CASE(option_directions),
	KUNIT_CASE(property_message_size_limit),
	KUNIT_CASE(rows_limited_to_table),
	KUNIT_CASE_PARAM(grants, grant_gen_params),
	KUNIT_CASE(grants_without_request),
	KUNIT_CASE(announcements),
	KUNIT_CASE_PARAM(inline_limits, limit_gen_params),
	{ }
};

static struct kunit_suite props_suite = {
	.name = "rpcrdma2_props",
	.test_cases = props_cases,
};

kunit_test_suite(props_suite);
