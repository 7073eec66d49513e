// SPDX-License-Identifier: GPL-2.0
/*
 * What an end says of its properties while a connection lasts: it asks the peer to
 * change, and tells what has changed of itself.
 */
#include <linux/jiffies.h>

#include <rpcrdma2/props.h>

#include "exchange.h"
#include "util.h"
#include <vectors.h>

#define RBSIZ	BIT(RPCRDMA2_PROP_RBSIZ)
#define BRS	BIT(RPCRDMA2_PROP_BRS)
#define SBSIZ	BIT(RPCRDMA2_PROP_X_SBSIZ)
#define XID	0x70000003
#define NOW	1000UL

static const struct rpcrdma2_props able = {
	.pr_rbsiz = 8192, .pr_brs = RDMA2_BKREQSUP_INLINE,
	.pr_mark = RPCRDMA2_MARK, .pr_sbsiz = 65536,
};

/* The peer says what @rows it has; Receives of 16384 bytes among them. */
static void peer_says(struct kunit *test, struct rpcrdma2_exchange *ex,
		      u32 type, u32 rows, u32 nochg)
{
	struct rpcrdma2_propmsg pm = { .pm_type = type, .pm_nochg = nochg };
	struct rpcrdma2_props val = able;

	val.pr_rbsiz = 16384;
	rpcrdma2_propset_init(&pm.pm_set, rows, &val);
	rpcrdma2_exchange_take(ex, &pm);
}

/* A requester and a peer that have announced themselves */
static void meet(struct kunit *test, struct rpcrdma2_exchange *ex, u32 rows,
		 u32 nochg)
{
	struct rpcrdma2_propmsg pm;

	memset(ex, 0xff, sizeof(*ex));
	memset(&rec, 0, sizeof(rec));
	rec.xid = XID;
	rpcrdma2_exchange_init(ex, &record_ops, false);
	ex->ex_supported = able;
	rpcrdma2_exchange_announce(ex, RPCRDMA2_PROPS_ALL, &pm);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(ex));
	rpcrdma2_exchange_received(ex, NOW);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_busy(ex));
	peer_says(test, ex, RDMA2_OPT_CONNPROP, rows, nochg);
}

/* The next message has to be this one, and is sent. */
static void say(struct kunit *test, struct rpcrdma2_exchange *ex, u32 type,
		u32 rows)
{
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(ex));
	memset(&rec.pm, 0xff, sizeof(rec.pm));
	KUNIT_ASSERT_TRUE(test, is_sent(ex, NOW));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_type, type);
	KUNIT_EXPECT_EQ(test, rec.pm.pm_nochg, 0);
	KUNIT_EXPECT_PTR_EQ(test, rec.pm.pm_want, NULL);
	KUNIT_EXPECT_FALSE(test, rec.pm.pm_option);
	KUNIT_EXPECT_EQ(test, rec.pm.pm_set.ps_rows, rows);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(ex));
	KUNIT_EXPECT_FALSE(test, is_sent(ex, NOW));
}

static void has_nothing_to_say(struct kunit *test, struct rpcrdma2_exchange *ex)
{
	KUNIT_EXPECT_FALSE(test, is_sent(ex, NOW));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_busy(ex));
}

/* Limits its Sends to 4096 bytes, and asks for Receives of that size. */
static void ask(struct kunit *test, struct rpcrdma2_exchange *ex)
{
	meet(test, ex, RBSIZ | BRS, BRS);
	has_nothing_to_say(test, ex);
	rpcrdma2_exchange_resize(ex, 8192, 4096);
	say(test, ex, RDMA2_OPT_REQPROP, RBSIZ);
	rpcrdma2_exchange_resize(ex, 8192, 65536);
}

/* A RESPROP: bits of the only wish, and another value of RBSIZ, if not 0 */
static enum rpcrdma2_errcode answer(struct kunit *test,
				    struct rpcrdma2_exchange *ex, u32 xid,
				    u32 done, u32 rejected, u32 other)
{
	struct words *m = words_new(test);
	struct rpcrdma2_propmsg pm = { };
	enum rpcrdma2_errcode verdict;
	u32 frozen = rec.counts[RPCRDMA2_C_frozen_properties];

	put_start(m, 2, RDMA2_RESPROP, 0);
	m->count = 4;
	put(m, 1);
	put(m, done);
	put(m, 1);
	put(m, rejected);
	put(m, !!other);
	if (other)
		put_propval(m, RDMA2_PROPID_RBSIZ, 4, other);
	rpcrdma2_exchange_expect(ex, xid, &pm);
	KUNIT_EXPECT_EQ(test, !!pm.pm_want, xid == XID);
	verdict = read_words(test, &pm, m);
	if (!verdict)
		rpcrdma2_exchange_take(ex, &pm);
	KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_frozen_properties], frozen);
	return verdict;
}

static struct rpcrdma2_hdr *error(struct kunit *test, u32 xid, u32 code)
{
	struct rpcrdma2_hdr *h = hdr_new(test);

	rpcrdma2_hdr_begin(h, xid, RPCRDMA2_VERS_TWO, 32, RDMA2_ERROR,
			   RDMA2_REPLY);
	h->h_error.er_code = code;
	return h;
}

/* S16: not before both have announced themselves */
static void nothing_is_said_too_soon(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propmsg pm;

	rpcrdma2_exchange_init(&ex, &record_ops, true);
	ex.ex_supported = able;
	rpcrdma2_exchange_resize(&ex, 65536, 4096);
	has_nothing_to_say(test, &ex);
	peer_says(test, &ex, RDMA2_OPT_CONNPROP, RBSIZ, 0);
	has_nothing_to_say(test, &ex);
	rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
	say(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);

	rpcrdma2_exchange_init(&ex, &record_ops, false);
	ex.ex_supported = able;
	rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
	rpcrdma2_exchange_resize(&ex, 65536, 4096);
	rpcrdma2_exchange_received(&ex, NOW);
	has_nothing_to_say(test, &ex);
}

/* C-047, S16: what may be asked for. What is so already is not asked for. */
static void what_may_be_asked(struct kunit *test)
{
	static const struct { u32 rows, nochg, send; bool asked; } peers[] = {
		{ RBSIZ | BRS, BRS, 4096, true },
		{ RBSIZ | BRS, 0, 4096, true },
		{ RBSIZ, BRS, 32768, true },
		{ RBSIZ | BRS, RBSIZ, 4096, false },
		{ BRS, 0, 8192, false },	/* left out */
		{ RBSIZ, 0, 16384, false },
	};
	struct rpcrdma2_exchange ex;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(peers); i++) {
		meet(test, &ex, peers[i].rows, peers[i].nochg);
		rpcrdma2_exchange_resize(&ex, 8192, peers[i].send);
		if (peers[i].asked) {
			say(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
			KUNIT_EXPECT_EQ(test, ex.ex_requested.ps_val.pr_rbsiz,
					peers[i].send);
		} else {
			has_nothing_to_say(test, &ex);
		}
	}
}

/* C-034: from before it leaves until there is an answer */
static void a_wish_for_less_binds(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	ask(test, &ex);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	answer(test, &ex, XID, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);

	/* one that cannot be posted; it is still to be said */
	meet(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	ex.ex_supported.pr_sbsiz = 65536;
	rec.ret = -ENOMEM;
	KUNIT_ASSERT_TRUE(test, is_sent(&ex, NOW));
	KUNIT_EXPECT_EQ(test, rec.send_max, 4096);
	rec.ret = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);
	say(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);

	/* one for more does not allow more */
	meet(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 8192, 32768);
	say(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);
}

static const struct answer_case {
	const char	*desc;
	u32		xid, done, rejected, other;
	u32		rbsiz;	/* of the peer afterwards; 16384 before */
	bool		waits;	/* for another answer */
} answer_cases[] = {
	{ "C-040 C-051 C-052 done", XID, 1, 0, 0, 4096 },
	{ "C-053 rejected", XID, 0, 1, 0, 16384 },
	{ "C-054 another value", XID, 0, 0, 5000, 5000 },
	{ "S17 another value that is the old one", XID, 0, 0, 16384, 16384 },
	{ "C-058 done and rejected", XID, 1, 1, 0, 16384 },
	{ "C-058 done and another value", XID, 1, 0, 5000, 16384 },
	{ "C-058 neither", XID, 0, 0, 0, 16384 },
	{ "S17 bits beyond the wish", XID, 6, 1, 0, 16384 },
	{ "C-048 S17 another xid", XID + 1, 1, 0, 0, 16384, true },
};

KUNIT_ARRAY_PARAM_DESC(answer, answer_cases, desc);

static void answers(struct kunit *test)
{
	const struct answer_case *c = test->param_value;
	struct rpcrdma2_exchange ex;

	ask(test, &ex);
	ex.ex_request = 0;
	KUNIT_EXPECT_EQ(test, answer(test, &ex, c->xid, c->done, c->rejected,
				     c->other), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, c->rbsiz);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_busy(&ex), c->waits);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex),
			c->waits ? 4096 : c->rbsiz);
}

/* S17: a second answer answers nothing. */
static void an_answer_counts_once(struct kunit *test)
{
	struct rpcrdma2_propmsg pm;
	struct rpcrdma2_exchange ex;

	ask(test, &ex);
	answer(test, &ex, XID, 1, 0, 0);
	rpcrdma2_exchange_expect(&ex, XID, &pm);
	KUNIT_EXPECT_PTR_EQ(test, pm.pm_want, NULL);
}

/* C-048: other messages of the peer may have the xid of the REQPROP. */
static void an_update_is_no_answer(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_UPDPROP };
	struct rpcrdma2_props val = { .pr_rbsiz = 12288 };
	struct rpcrdma2_exchange ex;

	ask(test, &ex);
	ex.ex_request = 0;
	rpcrdma2_exchange_expect(&ex, XID, &pm);
	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
	pm.pm_done = RBSIZ;
	rpcrdma2_exchange_take(&ex, &pm);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 12288);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
}

/* S11: a bad answer rejects all. */
static void a_spoilt_answer(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	ask(test, &ex);
	ex.ex_request = 0;
	KUNIT_EXPECT_FALSE(test, is_malformed(&ex, XID + 1));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
	KUNIT_EXPECT_TRUE(test, is_malformed(&ex, XID));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_busy(&ex));
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);
	KUNIT_EXPECT_FALSE(test, is_malformed(&ex, XID));
}

/*
 * S16, C-034: no answer is none: nothing else is said, and the wish binds, until it
 * comes (C-052).
 */
static void no_answer(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	ask(test, &ex);
	KUNIT_EXPECT_FALSE(test, is_late(&ex, NOW));
	KUNIT_EXPECT_FALSE(test, is_late(&ex, NOW + 30 * HZ - 1));
	KUNIT_EXPECT_TRUE(test, is_late(&ex, NOW + 30 * HZ));
	KUNIT_EXPECT_FALSE(test, is_late(&ex, NOW + 60 * HZ));
	rpcrdma2_exchange_resize(&ex, 12288, 65536);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
	KUNIT_EXPECT_FALSE(test, is_sent(&ex, NOW));
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);

	answer(test, &ex, XID, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	say(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
	KUNIT_EXPECT_TRUE(test, is_late(&ex, NOW + 30 * HZ));

	/* jiffies wrap */
	ask(test, &ex);
	ex.ex_sent_at = -1UL;
	KUNIT_EXPECT_FALSE(test, is_late(&ex, 5));
	KUNIT_EXPECT_TRUE(test, is_late(&ex, 30 * HZ + 5));
}

/* C-026, S18, 2.4: an error with its xid is an answer. */
static void errors(struct kunit *test)
{
	static const struct { u32 xid, code; bool taken, again; } errs[] = {
		{ XID, RDMA2_ERR_BAD_XDR, true, true },
		{ XID, RDMA2_ERR_SYSTEM, true, true },
		{ XID, 77, true, true },
		{ XID, RDMA2_ERR_INVALID_PROC, true, false },
		{ XID, RDMA2_ERR_INVALID_OPTION, true, false },
		{ XID, RDMA2_ERR_VERS, true, true },
		{ XID + 1, RDMA2_ERR_INVALID_PROC, false, false },
	};
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_hdr *h;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errs); i++) {
		ask(test, &ex);
		h = error(test, errs[i].xid, errs[i].code);
		KUNIT_EXPECT_EQ_MSG(test, rpcrdma2_exchange_refused(&ex, h),
				    errs[i].taken, "error %u", i);
		KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex),
				errs[i].taken ? 16384 : 4096);
		if (!errs[i].taken)
			continue;
		KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_refused(&ex, h));
		rpcrdma2_exchange_resize(&ex, 8192, 32768);
		if (errs[i].again) {
			say(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
			KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
		} else {
			has_nothing_to_say(test, &ex);
		}
		/* what it does not lack is said */
		rpcrdma2_exchange_resize(&ex, 12288, 32768);
		say(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
		if (errs[i].again)
			continue;
		/* until it lacks that too */
		KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
		rpcrdma2_exchange_resize(&ex, 20480, 16384 + 4096);
		has_nothing_to_say(test, &ex);
	}
}

/* S18: one for the CONNPROP is the negotiation's. */
static void an_error_for_the_announcement(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_hdr *h;

	meet(test, &ex, RBSIZ, 0);
	h = error(test, XID - 1, RDMA2_ERR_INVALID_PROC);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_refused(&ex, h));
}

/* S35: nor is one of version 1 about properties. */
static void an_error_of_version_one(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_hdr *h;

	ask(test, &ex);
	h = error(test, XID, RDMA2_ERR_BAD_XDR);
	h->h_vers = RPCRDMA2_VERS_ONE;
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_refused(&ex, h));
	/* S36: but for ERR_VERS */
	h->h_error.er_code = RDMA2_ERR_VERS;
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
}

/* C-027, C-032, C-059, S15: larger Receives are told when they are there. */
static void larger_receives_are_told(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_hdr *h;

	meet(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 12288, 65536);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 8192);
	say(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 12288);
	/* 2.3: one at a time, until a message comes that it can have led to */
	rpcrdma2_exchange_resize(&ex, 16384, 65536);
	KUNIT_EXPECT_FALSE(test, is_late(&ex, NOW + HZ - 1));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
	KUNIT_EXPECT_FALSE(test, is_sent(&ex, NOW));
	KUNIT_EXPECT_FALSE(test, is_late(&ex, NOW + HZ));
	say(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
	rpcrdma2_exchange_received(&ex, NOW + HZ);
	has_nothing_to_say(test, &ex);
	/* C-026: a peer that does not know them is told nothing more */
	h = error(test, XID, RDMA2_ERR_INVALID_OPTION);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
	rpcrdma2_exchange_resize(&ex, 65536, 65536);
	has_nothing_to_say(test, &ex);
}

/*
 * 2.3: the second begins when the Send is done, where that is looked at. A message that
 * came before, and waited, is no sign that the peer has seen the UPDPROP.
 */
static void the_second_begins_when_it_is_sent(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	meet(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 12288, 65536);
	say(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
	ex.ex_sending = true;
	rpcrdma2_exchange_send_done(&ex, ex.ex_number - 1, NOW);
	rpcrdma2_exchange_received(&ex, NOW + 5 * HZ);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
	rpcrdma2_exchange_send_done(&ex, ex.ex_number, NOW + 7 * HZ);
	rpcrdma2_exchange_received(&ex, NOW + 6 * HZ);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
	rpcrdma2_exchange_received(&ex, NOW + 8 * HZ);
	has_nothing_to_say(test, &ex);
}

/* C-033: smaller ones are not. */
static void smaller_receives_are_not(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	meet(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 4096, 65536);
	has_nothing_to_say(test, &ex);
}

/* C-060: what only a peer with the mark knows, and it may be less */
static void the_largest_send_is_told(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	meet(test, &ex, RPCRDMA2_PROPS_ALL, RBSIZ);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	say(test, &ex, RDMA2_OPT_UPDPROP, SBSIZ);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_sbsiz, 4096);
	rpcrdma2_exchange_received(&ex, NOW + HZ);
	rpcrdma2_exchange_resize(&ex, 12288, 32768);
	say(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ | SBSIZ);

	meet(test, &ex, RBSIZ, RBSIZ);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	has_nothing_to_say(test, &ex);
}

/* A question goes first; what has become more waits for its answer. */
static void questions_first(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	meet(test, &ex, RPCRDMA2_PROPS_ALL, BRS);
	ex.ex_announced.pr_sbsiz = 4096;
	rpcrdma2_exchange_resize(&ex, 12288, 32768);
	say(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
	answer(test, &ex, XID, 1, 0, 0);
	say(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ | SBSIZ);
}

/*
 * S14: a Reply that the peer has a right to is not refused: Sends get smaller when it
 * has been told, and only then are smaller Receives asked for, which binds (C-034).
 */
static void s14_a_smaller_send_is_told_first(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	meet(test, &ex, RPCRDMA2_PROPS_ALL, BRS);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);
	rec.ret = -ENOMEM;
	KUNIT_ASSERT_TRUE(test, is_sent(&ex, NOW));
	KUNIT_EXPECT_EQ(test, rec.send_max, 16384);
	rec.ret = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);
	say(test, &ex, RDMA2_OPT_UPDPROP, SBSIZ);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	rpcrdma2_exchange_received(&ex, NOW + HZ);
	say(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
	answer(test, &ex, XID, 1, 0, 0);
	has_nothing_to_say(test, &ex);

	/* more is in force before it is told (C-059), as far as the peer takes it */
	rpcrdma2_exchange_resize(&ex, 8192, 12288);
	peer_says(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 12288);

	/* a peer that cannot be told */
	rpcrdma2_exchange_resize(&ex, 8192, 2048);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	ex.ex_unsupported = BIT(RDMA2_OPT_UPDPROP);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 2048);
	meet(test, &ex, RBSIZ, BRS);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
}

/* C-033, S16: what the peer asks for, this end does or looks at later. */
static void the_peer_asks(struct kunit *test)
{
	static const struct { u32 want, told, wish; } asks[] = {
		{ 4096, 4096, 4096 },
		{ 5000, 5000, 5000 },
		{ 8192, 8192, 8192 },
		{ 32768, 8192, 32768 },
		{ 17, 8192, 0 },
		{ 4095, 8192, 0 },
	};
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_REQPROP }, res;
	struct rpcrdma2_props val = { };
	struct rpcrdma2_exchange ex;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(asks); i++) {
		meet(test, &ex, RBSIZ, RBSIZ);
		val.pr_rbsiz = asks[i].want;
		rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
		KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
		KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, asks[i].told);
		KUNIT_EXPECT_EQ(test, ex.ex_supported.pr_rbsiz, asks[i].told);
		KUNIT_EXPECT_EQ(test, rec.resize, asks[i].wish);
		has_nothing_to_say(test, &ex);
	}
	/* of a responder that says less than it could do (S14) */
	rpcrdma2_exchange_init(&ex, &record_ops, true);
	ex.ex_supported = able;
	ex.ex_supported.pr_sbsiz = 4096;
	rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &res);
	val.pr_rbsiz = 32768;
	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
	KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, ex.ex_supported.pr_rbsiz, 8192);
	/* of another property */
	meet(test, &ex, RBSIZ, RBSIZ);
	rpcrdma2_propset_init(&pm.pm_set, BRS, &able);
	KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
	KUNIT_EXPECT_EQ(test, ex.ex_supported.pr_rbsiz, 8192);
	KUNIT_EXPECT_EQ(test, rec.resize, 0);
}

/* The peer asks for Receives of so many bytes; whether it is done. */
static bool is_done(struct kunit *test, struct rpcrdma2_exchange *ex,
		    u32 bytes, unsigned long now)
{
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_REQPROP };
	struct rpcrdma2_props val = { .pr_rbsiz = bytes };

	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
	KUNIT_EXPECT_TRUE(test, is_answered(ex, &pm, now));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_set.ps_rows, 0);
	return rec.pm.pm_done;
}

/* S53: Receives that are asked to be smaller and larger in turns */
static void s53_sizes_that_flip(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_REQPROP };
	struct rpcrdma2_props val = { };
	struct rpcrdma2_exchange ex;

	meet(test, &ex, RBSIZ, RBSIZ);
	KUNIT_EXPECT_TRUE(test, is_done(test, &ex, 6000, NOW));
	KUNIT_EXPECT_EQ(test, rec.resize, 6000);
	/* less within a second is rejected, and has no effect */
	KUNIT_EXPECT_FALSE(test, is_done(test, &ex, 4096, NOW + HZ - 1));
	KUNIT_EXPECT_EQ(test, rec.resize, 0);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 6000);
	KUNIT_EXPECT_EQ(test, ex.ex_supported.pr_rbsiz, 6000);
	/* the same is no less, and one for more is looked at when there is time */
	KUNIT_EXPECT_TRUE(test, is_done(test, &ex, 6000, NOW + HZ - 1));
	KUNIT_EXPECT_FALSE(test, is_done(test, &ex, 65536, NOW + HZ - 1));
	KUNIT_EXPECT_EQ(test, rec.resize, 65536);
	/* now they grow: a wish for what there was before ends that */
	KUNIT_EXPECT_FALSE(test, is_done(test, &ex, 6000, NOW + HZ - 1));
	KUNIT_EXPECT_FALSE(test, is_done(test, &ex, 65535, NOW + HZ - 1));
	KUNIT_EXPECT_EQ(test, rec.resize, 0);
	KUNIT_EXPECT_TRUE(test, is_done(test, &ex, 4096, NOW + HZ));
	KUNIT_EXPECT_EQ(test, rec.resize, 4096);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 4096);
	KUNIT_EXPECT_FALSE(test, is_done(test, &ex, 65536, NOW + HZ));
	/* a second is one from the last that was done */
	KUNIT_EXPECT_FALSE(test, is_done(test, &ex, 4096, NOW + 2 * HZ - 1));
	KUNIT_EXPECT_TRUE(test, is_done(test, &ex, 4096, NOW + 2 * HZ));
	/* however long ago that was, also where jiffies have 32 bits */
	ex.ex_recv_requested = 65536;
	KUNIT_EXPECT_TRUE(test, is_done(test, &ex, 4096, NOW + 2 * HZ - 1));

	/* what more was asked for at once counts, too */
	meet(test, &ex, RBSIZ, RBSIZ);
	ex.ex_supported.pr_rbsiz = 12288;
	KUNIT_EXPECT_TRUE(test, is_done(test, &ex, 12288, 0));
	KUNIT_EXPECT_TRUE(test, is_done(test, &ex, 8192, 0));
	ex.ex_supported.pr_rbsiz = 12288;
	KUNIT_EXPECT_TRUE(test, is_done(test, &ex, 12288, 1));
	KUNIT_EXPECT_FALSE(test, is_done(test, &ex, 8192, 1));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 12288);

	/* nor is what there is by now kept back (C-054) */
	meet(test, &ex, RBSIZ, RBSIZ);
	KUNIT_EXPECT_TRUE(test, is_done(test, &ex, 4096, 0));
	KUNIT_EXPECT_FALSE(test, is_done(test, &ex, 65536, 0));
	ex.ex_supported.pr_rbsiz = 12288;
	val.pr_rbsiz = 32768;
	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
	KUNIT_EXPECT_TRUE(test, is_answered(&ex, &pm, 0));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_set.ps_rows, RBSIZ);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 12288);
	KUNIT_EXPECT_EQ(test, ex.ex_recv_requested, 65536);
}

/* S53: this end does not ask so either. */
static void s53_wishes_for_less(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	meet(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 8192, 8192);
	say(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
	rpcrdma2_exchange_received(&ex, NOW + 5 * HZ);
	answer(test, &ex, XID, 1, 0, 0);
	rec.ret = -ENOMEM;	/* and all that follow are still due */
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
	KUNIT_EXPECT_FALSE(test, is_sent(&ex, NOW + 5 * HZ));
	KUNIT_EXPECT_FALSE(test, is_sent(&ex, NOW + 5 * HZ + RPCRDMA2_REQUEST_INTERVAL - 1));
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	KUNIT_EXPECT_TRUE(test, is_sent(&ex, NOW + 5 * HZ + RPCRDMA2_REQUEST_INTERVAL));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_type, RDMA2_OPT_REQPROP);
	/* less than was asked for last, though it has not come to be */
	ex.ex_requested.ps_val.pr_rbsiz = 65536;
	rpcrdma2_exchange_resize(&ex, 8192, 16384);
	KUNIT_EXPECT_FALSE(test, is_sent(&ex, NOW + 5 * HZ));
	ex.ex_requested.ps_val.pr_rbsiz = 8192;
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	/* for more it does, and says what has changed */
	rpcrdma2_exchange_resize(&ex, 12288, 4096);
	KUNIT_EXPECT_TRUE(test, is_sent(&ex, NOW + 5 * HZ));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_type, RDMA2_OPT_UPDPROP);
	ex.ex_requested.ps_val.pr_rbsiz = 12288;	/* and for the same again */
	rpcrdma2_exchange_resize(&ex, 8192, 12288);
	KUNIT_EXPECT_TRUE(test, is_sent(&ex, NOW + 5 * HZ));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_type, RDMA2_OPT_REQPROP);
	KUNIT_EXPECT_LT(test, RPCRDMA2_LOWER_INTERVAL, RPCRDMA2_REQUEST_INTERVAL);
}

static struct kunit_case asking_cases[] = {
	KUNIT_CASE(nothing_is_said_too_soon),
	KUNIT_CASE(what_may_be_asked),
	KUNIT_CASE(a_wish_for_less_binds),
	KUNIT_CASE_PARAM(answers, answer_gen_params),
	KUNIT_CASE(an_answer_counts_once),
	KUNIT_CASE(an_update_is_no_answer),
	KUNIT_CASE(a_spoilt_answer),
	KUNIT_CASE(no_answer),
	KUNIT_CASE(errors),
	KUNIT_CASE(an_error_for_the_announcement),
	KUNIT_CASE(an_error_of_version_one),
	KUNIT_CASE(larger_receives_are_told),
	KUNIT_CASE(the_second_begins_when_it_is_sent),
	KUNIT_CASE(smaller_receives_are_not),
	KUNIT_CASE(the_largest_send_is_told),
	KUNIT_CASE(questions_first),
	KUNIT_CASE(s14_a_smaller_send_is_told_first),
	KUNIT_CASE(the_peer_asks),
	KUNIT_CASE(s53_sizes_that_flip),
	KUNIT_CASE(s53_wishes_for_less),
	{ }
};

static struct kunit_suite asking_suite = {
	.name = "rpcrdma2_asking",
	.test_cases = asking_cases,
};

kunit_test_suite(asking_suite);
