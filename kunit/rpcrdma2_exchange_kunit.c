// SPDX-License-Identifier: GPL-2.0
/*
 * The exchange of property messages: effects of received messages, and answers.
 */
#include <rpcrdma2/props.h>

#include "exchange.h"
#include "util.h"
#include <vectors.h>

#define RBSIZ	BIT(RPCRDMA2_PROP_RBSIZ)
#define BRS	BIT(RPCRDMA2_PROP_BRS)
#define NOW	1000UL

static const struct rpcrdma2_props able = {
	.pr_rbsiz = 16384, .pr_brs = RDMA2_BKREQSUP_INLINE,
	.pr_mark = RPCRDMA2_MARK, .pr_limits = { 16, 17, 18, 19 },
	.pr_sbsiz = 65536,
};

static void begin(struct kunit *test, struct rpcrdma2_exchange *ex,
		  bool responder)
{
	memset(ex, 0xff, sizeof(*ex));
	memset(&rec, 0, sizeof(rec));
	rpcrdma2_exchange_init(ex, &record_ops, responder);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_props_marked(&ex->ex_supported));
	ex->ex_supported = able;
}

/* Takes a message that changes no property declared constant. */
static void take(struct kunit *test, struct rpcrdma2_exchange *ex,
		 const struct rpcrdma2_propmsg *pm)
{
	u32 frozen = rec.counts[RPCRDMA2_C_frozen_properties];

	rpcrdma2_exchange_take(ex, pm);
	KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_frozen_properties], frozen);
}

/* A CONNPROP of a peer that supports @rows, with its largest Receive and Send */
static void take_connprop(struct kunit *test, struct rpcrdma2_exchange *ex,
			  u32 rows, u32 rbsiz, u32 sbsiz)
{
	struct rpcrdma2_propmsg pm = {
		.pm_type = RDMA2_OPT_CONNPROP,
		.pm_nochg = RPCRDMA2_PROPS_ALL & ~RBSIZ,
	};
	struct rpcrdma2_props val = able;

	val.pr_rbsiz = rbsiz;
	val.pr_sbsiz = sbsiz;
	rpcrdma2_propset_init(&pm.pm_set, rows, &val);
	take(test, ex, &pm);
}

static void read_vector(struct kunit *test, struct rpcrdma2_propmsg *pm,
			const void *data, size_t len)
{
	memset(pm, 0, sizeof(*pm));
	KUNIT_ASSERT_EQ(test, read_body(test, pm, data, len), RDMA2_OK);
}

/* A new connection begins with the default values (C-005, C-024, S19). */
static void initial_values(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	begin(test, &ex, true);
	KUNIT_EXPECT_FALSE(test, ex.ex_peer.pp_announced);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_brs, RDMA2_BKREQSUP_INLINE);
}

/* C-043, C-045: a CONNPROP has all properties, and marks the constant ones. */
static void connprop_is_complete(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propmsg pm;

	begin(test, &ex, false);
	rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
	KUNIT_EXPECT_EQ(test, pm.pm_type, RDMA2_OPT_CONNPROP);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_rows, RPCRDMA2_PROPS_ALL);
	KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_rbsiz, 16384);
	KUNIT_EXPECT_EQ(test, pm.pm_nochg, RPCRDMA2_PROPS_ALL & ~RBSIZ &
			~BIT(RPCRDMA2_PROP_X_SBSIZ));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 16384);
	KUNIT_EXPECT_MEMEQ(test, &pm.pm_set.ps_val, &able, sizeof(able));
}

/* C-023, S15, S29: a responder answers the first CONNPROP, and no other. */
static void first_connprop_is_answered(struct kunit *test)
{
	struct rpcrdma2_propmsg pm;
	struct rpcrdma2_exchange ex;

	begin(test, &ex, true);
	read_vector(test, &pm, v19, sizeof(v19));
	take(test, &ex, &pm);
	KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_connprops], 1);
	KUNIT_EXPECT_TRUE(test, ex.ex_peer.pp_announced);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 8192);
	KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_type, RDMA2_OPT_CONNPROP);
	KUNIT_EXPECT_EQ(test, rec.pm.pm_set.ps_val.pr_rbsiz, 16384);

	/* V19 declared all properties constant. */
	rpcrdma2_exchange_take(&ex, &pm);
	KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_frozen_properties], 2);
	KUNIT_EXPECT_FALSE(test, is_answered(&ex, &pm, NOW));
}

static void requester_does_not_answer_connprop(struct kunit *test)
{
	struct rpcrdma2_propmsg pm;
	struct rpcrdma2_exchange ex;

	begin(test, &ex, false);
	read_vector(test, &pm, v19, sizeof(v19));
	take(test, &ex, &pm);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 8192);
	KUNIT_EXPECT_FALSE(test, is_answered(&ex, &pm, NOW));
}

/* S16, C-049: the RESPROP has the granted value, so it counts as announced. */
static void reqprop_is_answered(struct kunit *test)
{
	struct rpcrdma2_propmsg pm;
	struct rpcrdma2_exchange ex;

	begin(test, &ex, false);
	ex.ex_supported.pr_brs = RDMA2_BKREQSUP_GENL;
	ex.ex_announced.pr_rbsiz = 8192;
	ex.ex_announced.pr_brs = RDMA2_BKREQSUP_INLINE;
	read_vector(test, &pm, v21, sizeof(v21));
	take(test, &ex, &pm);
	KUNIT_EXPECT_FALSE(test, ex.ex_peer.pp_announced);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 4096);

	KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
	expect_sent(test, &rec.pm, 0x70000003, 64, RDMA2_REQPROP, v22,
		    sizeof(v22));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 16384);
}

/* S01: the answer has the encoding of the request. */
static void s01_answer_keeps_encoding(struct kunit *test)
{
	static struct rpcrdma2_msg msg = { .mg_prop.pm_type = RDMA2_OPT_REQPROP };
	struct rpcrdma2_exchange ex;

	begin(test, &ex, true);
	msg.mg_hdr.h_proc = RDMA2_REQPROP;
	rpcrdma2_exchange_answer(&ex, &msg, NOW);
	KUNIT_EXPECT_FALSE(test, rec.pm.pm_option);
	msg.mg_hdr.h_proc = RDMA2_OPTIONAL;
	rpcrdma2_exchange_answer(&ex, &msg, NOW);
	KUNIT_EXPECT_TRUE(test, rec.pm.pm_option);
}

/* C-023: an UPDPROP gets no answer. */
static void updprop_is_applied(struct kunit *test)
{
	struct rpcrdma2_propmsg pm;
	struct rpcrdma2_exchange ex;

	begin(test, &ex, true);
	read_vector(test, &pm, v23, sizeof(v23));
	pm.pm_set.ps_odd = 2;
	take(test, &ex, &pm);
	KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_updprops], 1);
	KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_odd_properties], 2);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 16384);
	KUNIT_EXPECT_FALSE(test, ex.ex_peer.pp_announced);
	KUNIT_EXPECT_FALSE(test, is_answered(&ex, &pm, NOW));
}

/* S17, C-058: a RESPROP without a REQPROP changes nothing. */
static void unsolicited_resprop(struct kunit *test)
{
	struct rpcrdma2_propmsg want, pm;
	struct rpcrdma2_exchange ex;

	begin(test, &ex, false);
	read_vector(test, &pm, v22, sizeof(v22));
	take(test, &ex, &pm);
	KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_resprops], 0);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 4096);
	KUNIT_EXPECT_FALSE(test, is_answered(&ex, &pm, NOW));

	read_vector(test, &want, v21, sizeof(v21));
	pm.pm_want = &want.pm_set;
	take(test, &ex, &pm);
	KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_resprops], 1);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 16384);
}

/*
 * S14: a requester without X_SBSIZ assumes that a responder's Sends are as large as its
 * Receives. The responder announces the smaller size to such a requester, and both sizes to
 * others.
 */
static void responder_with_small_sends(struct kunit *test)
{
	static const struct { bool responder, marked; u32 rbsiz; } ends[] = {
		{ true, false, 4096 }, { true, true, 16384 },
		{ false, false, 16384 }, { false, true, 16384 },
	};
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propmsg pm;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		begin(test, &ex, ends[i].responder);
		ex.ex_supported.pr_sbsiz = 4096;
		take_connprop(test, &ex, ends[i].marked ? RPCRDMA2_PROPS_ALL :
			      RBSIZ | BRS, 8192, 8192);
		rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
		KUNIT_EXPECT_EQ_MSG(test, pm.pm_set.ps_val.pr_rbsiz,
				    ends[i].rbsiz, "end %u", i);
		KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, ends[i].rbsiz);
		KUNIT_EXPECT_EQ(test, pm.pm_set.ps_val.pr_sbsiz, 4096);
	}
}

/*
 * S14: the mark of a requester comes behind the CONNPROPs. The responder has announced no X_SBSIZ,
 * so its Receives stay no larger than its Sends.
 */
static void s14_late_mark(struct kunit *test)
{
	struct rpcrdma2_propmsg pm, update = { .pm_type = RDMA2_OPT_UPDPROP };
	struct rpcrdma2_props val = able;
	struct rpcrdma2_exchange ex;

	begin(test, &ex, true);
	ex.ex_supported.pr_sbsiz = 4096;
	take_connprop(test, &ex, RBSIZ | BRS, 8192, 8192);
	rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
	rpcrdma2_exchange_received(&ex, 0);
	rpcrdma2_propset_init(&update.pm_set, BIT(RPCRDMA2_PROP_X_MARK), &val);
	rpcrdma2_exchange_take(&ex, &update);
	rpcrdma2_exchange_send_next(&ex, HZ);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_updprops_sent], 0);
}

/* C-060: a responder announces experimental properties to a requester with the mark. */
static void c060_responder_waits_for_the_mark(struct kunit *test)
{
	static const struct { bool responder, marked; } ends[] = {
		{ true, false }, { true, true }, { false, false },
	};
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propmsg pm;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		bool hides = ends[i].responder && !ends[i].marked;

		begin(test, &ex, ends[i].responder);
		take_connprop(test, &ex, ends[i].marked ? RPCRDMA2_PROPS_ALL :
			      RBSIZ | BRS, 8192, 8192);
		rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
		KUNIT_EXPECT_EQ_MSG(test, pm.pm_set.ps_rows,
				    hides ? RBSIZ | BRS : RPCRDMA2_PROPS_ALL,
				    "end %u", i);
	}
}

/* 2.6: the exchange passes the mark on to the decoder */
static void mark_is_recorded(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { };
	struct rpcrdma2_exchange ex;

	begin(test, &ex, false);
	rpcrdma2_exchange_expect(&ex, 7, &pm);
	KUNIT_EXPECT_FALSE(test, pm.pm_marked);
	take_connprop(test, &ex, RPCRDMA2_PROPS_ALL, 8192, 8192);
	rpcrdma2_exchange_expect(&ex, 7, &pm);
	KUNIT_EXPECT_TRUE(test, pm.pm_marked);
	KUNIT_EXPECT_PTR_EQ(test, pm.pm_want, NULL);
}

/* C-001, S13, S14, S33: the limits of messages, from the start of the connection */
static void message_limits(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propmsg pm;

	begin(test, &ex, false);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_reply_max(&ex), 4096);
	rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_reply_max(&ex), 4096);
	take_connprop(test, &ex, RPCRDMA2_PROPS_ALL, 32768, 12288);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 32768);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_reply_max(&ex), 12288);
	ex.ex_supported.pr_sbsiz = 8192;
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 32768);
	ex.ex_announced.pr_sbsiz = 8192;	/* S14: not before */
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 8192);
}

/*
 * S14: an error ends the assumption about the size of Replies. Later announcements of the
 * peer's Receives do not restore it.
 */
static void reply_limit_is_corrected(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propmsg pm;

	begin(test, &ex, false);
	rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
	take_connprop(test, &ex, RBSIZ | BRS, 8192, 0);
	rpcrdma2_exchange_reply_refused(&ex, 8192 - RPCRDMA2_HDR_MIN + 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_reply_max(&ex), 8192);
	rpcrdma2_exchange_reply_refused(&ex, U32_MAX);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_reply_max(&ex), 8192);
	rpcrdma2_exchange_reply_refused(&ex, 8192 - RPCRDMA2_HDR_MIN);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_reply_max(&ex), 4096);

	take_connprop(test, &ex, RBSIZ, 16384, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_reply_max(&ex), 4096);
}

/* C-083 to C-085: limits that the peer has announced apply at once. */
static void call_limits(struct kunit *test)
{
	struct rpcrdma2_call_limits cl = RPCRDMA2_NO_LIMITS;
	struct rpcrdma2_exchange ex;

	begin(test, &ex, false);
	rpcrdma2_exchange_bound(&ex, &cl);
	KUNIT_EXPECT_EQ(test, cl.cl_segs, U32_MAX);
	KUNIT_EXPECT_EQ(test, cl.cl_reads, U32_MAX);
	KUNIT_EXPECT_EQ(test, cl.cl_writes, U32_MAX);
	take_connprop(test, &ex, RPCRDMA2_PROPS_ALL, 8192, 8192);
	cl.cl_writes = 1;	/* learned earlier */
	rpcrdma2_exchange_bound(&ex, &cl);
	KUNIT_EXPECT_EQ(test, cl.cl_segs, 16);
	KUNIT_EXPECT_EQ(test, cl.cl_reads, 18);
	KUNIT_EXPECT_EQ(test, cl.cl_writes, 1);
	cl.cl_writes = U32_MAX;
	rpcrdma2_exchange_bound(&ex, &cl);
	KUNIT_EXPECT_EQ(test, cl.cl_writes, 19);
}

static struct kunit_case exchange_cases[] = {
	KUNIT_CASE(initial_values),
	KUNIT_CASE(connprop_is_complete),
	KUNIT_CASE(first_connprop_is_answered),
	KUNIT_CASE(requester_does_not_answer_connprop),
	KUNIT_CASE(reqprop_is_answered),
	KUNIT_CASE(s01_answer_keeps_encoding),
	KUNIT_CASE(updprop_is_applied),
	KUNIT_CASE(unsolicited_resprop),
	KUNIT_CASE(responder_with_small_sends),
	KUNIT_CASE(s14_late_mark),
	KUNIT_CASE(c060_responder_waits_for_the_mark),
	KUNIT_CASE(mark_is_recorded),
	KUNIT_CASE(message_limits),
	KUNIT_CASE(reply_limit_is_corrected),
	KUNIT_CASE(call_limits),
	{ }
};

static struct kunit_suite exchange_suite = {
	.name = "rpcrdma2_exchange",
	.test_cases = exchange_cases,
};

kunit_test_suite(exchange_suite);
