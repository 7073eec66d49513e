// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of properties during a connection: an end requests them from the peer
 * (REQPROP), and announces its own (UPDPROP).
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

/* The peer announces @rows, with Receives of 16384 bytes. */
static void peer_announces(struct kunit *test, struct rpcrdma2_exchange *ex,
			   u32 type, u32 rows, u32 nochg)
{
	struct rpcrdma2_propmsg pm = { .pm_type = type, .pm_nochg = nochg };
	struct rpcrdma2_props val = able;

	val.pr_rbsiz = 16384;
	rpcrdma2_propset_init(&pm.pm_set, rows, &val);
	rpcrdma2_exchange_take(ex, &pm);
}

/* A requester and a peer that have sent their CONNPROPs */
static void begin(struct kunit *test, struct rpcrdma2_exchange *ex, u32 rows,
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
	KUNIT_EXPECT_TRUE(test, is_applied(ex));
	peer_announces(test, ex, RDMA2_OPT_CONNPROP, rows, nochg);
	KUNIT_EXPECT_TRUE(test, is_applied(ex));
}

/* The message is due, and the end sends it. */
static void expect_message(struct kunit *test, struct rpcrdma2_exchange *ex,
			   u32 type, u32 rows)
{
	u32 *sent = &rec.counts[type == RDMA2_OPT_REQPROP ?
				RPCRDMA2_C_reqprops_sent :
				RPCRDMA2_C_updprops_sent], before = *sent;

	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(ex));
	memset(&rec.pm, 0xff, sizeof(rec.pm));
	KUNIT_ASSERT_TRUE(test, is_sent(ex, NOW));
	KUNIT_EXPECT_TRUE(test, is_applied(ex));
	KUNIT_EXPECT_EQ(test, *sent, before + 1);
	KUNIT_EXPECT_EQ(test, rec.pm.pm_type, type);
	KUNIT_EXPECT_EQ(test, rec.pm.pm_nochg, 0);
	KUNIT_EXPECT_PTR_EQ(test, rec.pm.pm_want, NULL);
	KUNIT_EXPECT_FALSE(test, rec.pm.pm_option);
	KUNIT_EXPECT_EQ(test, rec.pm.pm_set.ps_rows, rows);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(ex));
	KUNIT_EXPECT_FALSE(test, is_sent(ex, NOW));
}

static void expect_no_message(struct kunit *test, struct rpcrdma2_exchange *ex)
{
	KUNIT_EXPECT_FALSE(test, is_sent(ex, NOW));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_busy(ex));
}

/* The end limits its Sends to 4096 bytes and requests Receives of that size. */
static void request_smaller(struct kunit *test, struct rpcrdma2_exchange *ex)
{
	begin(test, ex, RBSIZ | BRS, BRS);
	expect_no_message(test, ex);
	rpcrdma2_exchange_resize(ex, 8192, 4096);
	expect_message(test, ex, RDMA2_OPT_REQPROP, RBSIZ);
	rpcrdma2_exchange_resize(ex, 8192, 65536);
}

/*
 * A RESPROP with the bits of the only request, and with another value of RBSIZ if @other is
 * not 0
 */
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

/* S16: both ends send a CONNPROP first. */
static void connprops_come_first(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propmsg pm;

	rpcrdma2_exchange_init(&ex, &record_ops, true);
	ex.ex_supported = able;
	rpcrdma2_exchange_resize(&ex, 65536, 4096);
	expect_no_message(test, &ex);
	peer_announces(test, &ex, RDMA2_OPT_CONNPROP, RBSIZ, 0);
	expect_no_message(test, &ex);
	rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
	expect_message(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);

	rpcrdma2_exchange_init(&ex, &record_ops, false);
	ex.ex_supported = able;
	rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
	rpcrdma2_exchange_resize(&ex, 65536, 4096);
	rpcrdma2_exchange_received(&ex, NOW);
	expect_no_message(test, &ex);
}

/* C-047, S16: the end requests a changeable property whose value differs. */
static void requests_respect_connprop(struct kunit *test)
{
	static const struct { u32 rows, nochg, send; bool changeable; } peers[] = {
		{ RBSIZ | BRS, BRS, 4096, true },
		{ RBSIZ | BRS, 0, 4096, true },
		{ RBSIZ, BRS, 32768, true },
		{ RBSIZ | BRS, RBSIZ, 4096, false },
		{ BRS, 0, 8192, false },	/* not announced */
		{ RBSIZ, 0, 16384, false },
	};
	struct rpcrdma2_exchange ex;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(peers); i++) {
		begin(test, &ex, peers[i].rows, peers[i].nochg);
		rpcrdma2_exchange_resize(&ex, 8192, peers[i].send);
		if (peers[i].changeable) {
			expect_message(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
			KUNIT_EXPECT_EQ(test, ex.ex_requested.ps_val.pr_rbsiz,
					peers[i].send);
		} else {
			expect_no_message(test, &ex);
		}
	}
}

/* C-034: the limit applies from before the Send of the request until its answer. */
static void smaller_request_limits_sends(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	request_smaller(test, &ex);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	answer(test, &ex, XID, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);

	/* A request that cannot be posted remains due. */
	begin(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	ex.ex_supported.pr_sbsiz = 65536;
	rec.ret = -ENOMEM;
	KUNIT_ASSERT_TRUE(test, is_sent(&ex, NOW));
	KUNIT_EXPECT_EQ(test, rec.send_max, 4096);
	rec.ret = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);
	expect_message(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);

	/* A request for larger Receives does not raise the limit. */
	begin(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 8192, 32768);
	expect_message(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
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
	{ "S17 bits beyond the request", XID, 6, 1, 0, 16384 },
	{ "C-048 S17 another xid", XID + 1, 1, 0, 0, 16384, true },
};

KUNIT_ARRAY_PARAM_DESC(answer, answer_cases, desc);

static void answers(struct kunit *test)
{
	const struct answer_case *c = test->param_value;
	struct rpcrdma2_exchange ex;

	request_smaller(test, &ex);
	ex.ex_request = 0;
	KUNIT_EXPECT_EQ(test, answer(test, &ex, c->xid, c->done, c->rejected,
				     c->other), RDMA2_OK);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, c->rbsiz);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_busy(&ex), c->waits);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex),
			c->waits ? 4096 : c->rbsiz);
}

/* S17: a second answer has no effect. */
static void duplicate_answer(struct kunit *test)
{
	struct rpcrdma2_propmsg pm;
	struct rpcrdma2_exchange ex;

	request_smaller(test, &ex);
	answer(test, &ex, XID, 1, 0, 0);
	rpcrdma2_exchange_expect(&ex, XID, &pm);
	KUNIT_EXPECT_PTR_EQ(test, pm.pm_want, NULL);
}

/* C-048: other messages of the peer may have the XID of the REQPROP. */
static void update_does_not_answer(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_UPDPROP };
	struct rpcrdma2_props val = { .pr_rbsiz = 12288 };
	struct rpcrdma2_exchange ex;

	request_smaller(test, &ex);
	ex.ex_request = 0;
	rpcrdma2_exchange_expect(&ex, XID, &pm);
	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
	pm.pm_done = RBSIZ;
	rpcrdma2_exchange_take(&ex, &pm);
	KUNIT_EXPECT_EQ(test, ex.ex_peer.pp_now.pr_rbsiz, 12288);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
}

/* S11: a malformed answer rejects all properties. */
static void malformed_answer(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	request_smaller(test, &ex);
	ex.ex_request = 0;
	KUNIT_EXPECT_FALSE(test, is_malformed(&ex, RDMA2_OPT_RESPROP, XID + 1));
	/* C-048: a message of another type with this XID is not an answer. */
	KUNIT_EXPECT_FALSE(test, is_malformed(&ex, RDMA2_OPT_UPDPROP, XID));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
	KUNIT_EXPECT_TRUE(test, is_malformed(&ex, RDMA2_OPT_RESPROP, XID));
	KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_properties_in_vain], 1);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_busy(&ex));
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);
	KUNIT_EXPECT_TRUE(test, is_applied(&ex));
	KUNIT_EXPECT_FALSE(test, is_malformed(&ex, RDMA2_OPT_RESPROP, XID));
}

/* S11: encoded as an option, it is a RESPROP from its opttype on, wherever it is truncated. */
static void truncated_option(struct kunit *test)
{
	static struct rpcrdma2_msg msg;
	struct words *m = words_new(test);
	struct rpcrdma2_exchange ex;
	struct wire w;
	size_t len;

	put_start(m, RPCRDMA2_VERS_TWO, RDMA2_OPTIONAL, RDMA2_REPLY);
	m->word[0] = cpu_to_be32(XID);
	m->count = 5;
	put(m, RDMA2_OPT_RESPROP);
	put(m, 16);	/* optinfo: 0 is done, no bit is rejected, no other value */
	put(m, 1);
	put(m, 1);
	put(m, 0);
	put(m, 0);
	for (len = RPCRDMA2_PREFIX_LEN; len <= words_len(m); len++) {
		bool taken = len >= RPCRDMA2_PREFIX_LEN + 2 * XDR_UNIT &&
			     len < words_len(m);

		request_smaller(test, &ex);
		ex.ex_request = 0;
		receive(test, &w, m->word, len);
		rpcrdma2_msg_read(&msg, w.data, w.len, w.len, 0, &ex);
		KUNIT_EXPECT_EQ(test, !msg.mg_verdict, len == words_len(m));
		KUNIT_EXPECT_EQ_MSG(test, msg.mg_verdict &&
				    rpcrdma2_exchange_malformed(&ex, &msg),
				    taken, "%zu bytes", len);
		KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_busy(&ex), !taken);
	}
}

/*
 * S16, C-034: until the answer arrives (C-052), the end sends no other message, and the
 * request limits Sends.
 */
static void no_answer(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	request_smaller(test, &ex);
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
	expect_message(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
	KUNIT_EXPECT_TRUE(test, is_late(&ex, NOW + 30 * HZ));

	/* jiffies wrap */
	request_smaller(test, &ex);
	ex.ex_sent_at = -1UL;
	KUNIT_EXPECT_FALSE(test, is_late(&ex, 5));
	KUNIT_EXPECT_TRUE(test, is_late(&ex, 30 * HZ + 5));
}

/* C-026, S18, 2.4: an error with the XID of the request answers it. */
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
		request_smaller(test, &ex);
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
			expect_message(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
			KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
		} else {
			expect_no_message(test, &ex);
		}
		/* The end still sends messages of the other type. */
		rpcrdma2_exchange_resize(&ex, 12288, 32768);
		expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
		if (errs[i].again)
			continue;
		/* A refusal of that type stops them, too. */
		KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
		rpcrdma2_exchange_resize(&ex, 20480, 16384 + 4096);
		expect_no_message(test, &ex);
	}
}

/*
 * C-026, C-059, 2.4: after a refused UPDPROP the values that were announced before it are in
 * force at the peer. The same message would be refused again, so the end sends none.
 */
static void refused_update(struct kunit *test)
{
	static const u32 codes[] = {
		RDMA2_ERR_BAD_XDR, RDMA2_ERR_SYSTEM, 77, RDMA2_ERR_INVALID_PROC,
		RDMA2_ERR_INVALID_OPTION, RDMA2_ERR_VERS,
	};
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_REQPROP };
	struct rpcrdma2_props val = { .pr_rbsiz = 5000 };
	struct rpcrdma2_exchange ex;
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(codes); i++) {
		struct rpcrdma2_hdr *h = error(test, XID, codes[i / 2]);
		bool late = i % 2;

		begin(test, &ex, RPCRDMA2_PROPS_ALL, 0);
		rpcrdma2_exchange_resize(&ex, 12288, 65536);
		expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
		KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 12288);
		KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_reply_max(&ex), 12288);
		if (late) {
			rpcrdma2_exchange_received(&ex, NOW + HZ);
			expect_no_message(test, &ex);
		}
		KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
		KUNIT_EXPECT_EQ_MSG(test, ex.ex_announced.pr_rbsiz, 8192,
				    "code %u", codes[i / 2]);
		KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_reply_max(&ex), 8192);
		KUNIT_EXPECT_TRUE(test, is_applied(&ex));
		expect_no_message(test, &ex);
		rpcrdma2_exchange_resize(&ex, 20480, 65536);
		expect_no_message(test, &ex);
		/* A request of the peer still leads to its size. */
		rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
		KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
		KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 5000);
	}
	/* The peer has requested another value meanwhile. */
	begin(test, &ex, RPCRDMA2_PROPS_ALL, 0);
	rpcrdma2_exchange_resize(&ex, 12288, 65536);
	expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
	KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 5000);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, error(test, XID, 2)));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 5000);
	/* A smaller largest Send: it applies, as for a peer without UPDPROP (S14). */
	begin(test, &ex, RPCRDMA2_PROPS_ALL & ~RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	expect_message(test, &ex, RDMA2_OPT_UPDPROP, SBSIZ);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, error(test, XID, 2)));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_sbsiz, 65536);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	expect_no_message(test, &ex);
}

/* The end has announced Receives of 12288 bytes, and a message has arrived a second later. */
static void begin_announced(struct kunit *test, struct rpcrdma2_exchange *ex, u32 nochg)
{
	begin(test, ex, RBSIZ, nochg);
	rpcrdma2_exchange_resize(ex, 12288, 65536);
	expect_message(test, ex, RDMA2_OPT_UPDPROP, RBSIZ);
	rpcrdma2_exchange_received(ex, NOW + HZ);
	rec.xid = XID + 1;
}

/*
 * 2.3, S18: an UPDPROP no longer waits when a message arrives a second later, so a peer may
 * refuse it after the next message of this end.
 */
static void late_refusal(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_REQPROP };
	struct rpcrdma2_props val = { .pr_rbsiz = 5000 };
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_hdr *h;
	u32 order;

	/* Of two UPDPROPs the peer refuses both, in either order. */
	for (order = 0; order < 2; order++) {
		begin(test, &ex, RPCRDMA2_PROPS_ALL, RBSIZ);
		rpcrdma2_exchange_resize(&ex, 12288, 32768);
		expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ | SBSIZ);
		rpcrdma2_exchange_received(&ex, NOW + HZ);
		rec.xid = XID + 1;
		rpcrdma2_exchange_resize(&ex, 16384, 32768);
		expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
		h = error(test, XID + order, RDMA2_ERR_BAD_XDR);
		KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
		KUNIT_EXPECT_TRUE(test, is_applied(&ex));
		KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, order ? 12288 : 16384);
		KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_sbsiz, order ? 32768 : 65536);
		KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_busy(&ex), !order);
		KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_refused(&ex, h));
		h = error(test, XID + !order, RDMA2_ERR_BAD_XDR);
		KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
		KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 8192);
		KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_sbsiz, 65536);
		expect_no_message(test, &ex);
		KUNIT_EXPECT_EQ(test, rec.counts[RPCRDMA2_C_properties_in_vain], 2);
	}
	/* A REQPROP continues to wait. */
	begin_announced(test, &ex, 0);
	rpcrdma2_exchange_resize(&ex, 12288, 4096);
	expect_message(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, error(test, XID, 3)));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 8192);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, error(test, XID + 1, 2)));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_busy(&ex));
	/* The peer has requested another value meanwhile. */
	begin_announced(test, &ex, RBSIZ);
	rpcrdma2_exchange_resize(&ex, 16384, 65536);
	expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
	KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, error(test, XID, 2)));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, error(test, XID + 1, 2)));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 5000);
}

/* S18: the negotiation handles an error for the CONNPROP. */
static void error_for_connprop(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_hdr *h;

	begin(test, &ex, RBSIZ, 0);
	h = error(test, XID - 1, RDMA2_ERR_INVALID_PROC);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_refused(&ex, h));
}

/* S35: an error of version 1 does not refuse properties. */
static void error_of_version_one(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_hdr *h;

	request_smaller(test, &ex);
	h = error(test, XID, RDMA2_ERR_BAD_XDR);
	h->h_vers = RPCRDMA2_VERS_ONE;
	KUNIT_EXPECT_FALSE(test, rpcrdma2_exchange_refused(&ex, h));
	/* S36: ERR_VERS does. */
	h->h_error.er_code = RDMA2_ERR_VERS;
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
}

/* C-027, C-032, C-059, S15: the end announces larger Receives once they are posted. */
static void larger_receives_announced(struct kunit *test)
{
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_hdr *h;

	begin(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 12288, 65536);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 8192);
	expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 12288);
	/* 2.3: the next UPDPROP waits for a message that arrives at least a second later. */
	rpcrdma2_exchange_resize(&ex, 16384, 65536);
	KUNIT_EXPECT_FALSE(test, is_late(&ex, NOW + HZ - 1));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
	KUNIT_EXPECT_FALSE(test, is_sent(&ex, NOW));
	KUNIT_EXPECT_FALSE(test, is_late(&ex, NOW + HZ));
	expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
	rpcrdma2_exchange_received(&ex, NOW + HZ);
	expect_no_message(test, &ex);
	/* C-026: the end stops sending UPDPROPs to a peer that refuses them. */
	h = error(test, XID, RDMA2_ERR_INVALID_OPTION);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_refused(&ex, h));
	rpcrdma2_exchange_resize(&ex, 65536, 65536);
	expect_no_message(test, &ex);
}

/*
 * 2.3: if the end reports completions, the second starts when the Send completes. A message
 * that arrived earlier does not show that the peer has received the UPDPROP.
 */
static void interval_starts_at_completion(struct kunit *test)
{
	struct rpcrdma2_props_ops reports = record_ops;
	struct rpcrdma2_exchange ex;
	u32 i;

	begin(test, &ex, RBSIZ, 0);
	reports.confirms = true;
	ex.ex_ops = &reports;
	for (i = 1; i <= 2; i++) {
		rpcrdma2_exchange_resize(&ex, 8192 + i * 4096, 65536);
		expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ);
		rpcrdma2_exchange_received(&ex, NOW + 5 * HZ);
		KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
		rpcrdma2_exchange_send_done(&ex, i, NOW + 7 * HZ);
		rpcrdma2_exchange_received(&ex, NOW + 6 * HZ);
		KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
		rpcrdma2_exchange_received(&ex, NOW + 8 * HZ - 1);
		KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
		rpcrdma2_exchange_received(&ex, NOW + 8 * HZ);
		expect_no_message(test, &ex);
	}
}

/* C-033: smaller Receives are not announced without a request of the peer. */
static void smaller_receives_not_announced(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	begin(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 4096, 65536);
	expect_no_message(test, &ex);
}

/* C-060: the end announces X_SBSIZ to a peer with the mark; the value may decrease. */
static void largest_send_announced(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	begin(test, &ex, RPCRDMA2_PROPS_ALL, RBSIZ);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	expect_message(test, &ex, RDMA2_OPT_UPDPROP, SBSIZ);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_sbsiz, 4096);
	rpcrdma2_exchange_received(&ex, NOW + HZ);
	rpcrdma2_exchange_resize(&ex, 12288, 32768);
	expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ | SBSIZ);

	begin(test, &ex, RBSIZ, RBSIZ);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	expect_no_message(test, &ex);
}

/* The end sends the request first; the announcement of larger sizes waits for the answer. */
static void requests_first(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	begin(test, &ex, RPCRDMA2_PROPS_ALL, BRS);
	ex.ex_announced.pr_sbsiz = 4096;
	rpcrdma2_exchange_resize(&ex, 12288, 32768);
	expect_message(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
	answer(test, &ex, XID, 1, 0, 0);
	expect_message(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ | SBSIZ);
}

/*
 * S14: Replies of the announced size must remain possible. The end announces smaller Sends
 * before it applies them. It requests smaller Receives, which limit Sends as well, only
 * afterwards (C-034).
 */
static void s14_smaller_sends_announced_first(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	begin(test, &ex, RPCRDMA2_PROPS_ALL, BRS);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);
	rec.ret = -ENOMEM;
	KUNIT_ASSERT_TRUE(test, is_sent(&ex, NOW));
	KUNIT_EXPECT_EQ(test, rec.send_max, 16384);
	rec.ret = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 16384);
	expect_message(test, &ex, RDMA2_OPT_UPDPROP, SBSIZ);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	rpcrdma2_exchange_received(&ex, NOW + HZ);
	expect_message(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
	answer(test, &ex, XID, 1, 0, 0);
	expect_no_message(test, &ex);

	/* A larger size applies before its announcement (C-059), up to the peer's limit. */
	rpcrdma2_exchange_resize(&ex, 8192, 12288);
	peer_announces(test, &ex, RDMA2_OPT_UPDPROP, RBSIZ, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 12288);

	/* a peer that does not support UPDPROP */
	rpcrdma2_exchange_resize(&ex, 8192, 2048);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	ex.ex_unsupported = BIT(RDMA2_OPT_UPDPROP);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 2048);
	begin(test, &ex, RBSIZ, BRS);
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
}

/*
 * S14: a requester without the mark takes the responder's Receives for its Sends. If it does not
 * change its own Receives, no REQPROP can correct that, and a Reply has to arrive.
 */
static void s14_smaller_sends_never_announced(struct kunit *test)
{
	static const struct { u32 nochg, before, after; } peers[] = {
		{ RBSIZ | BRS, 8192, 8192 }, { BRS, 8192, 4096 },
	};
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propmsg pm;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(peers); i++) {
		memset(&rec, 0, sizeof(rec));
		rec.xid = XID;
		rpcrdma2_exchange_init(&ex, &record_ops, true);
		ex.ex_supported = able;
		peer_announces(test, &ex, RDMA2_OPT_CONNPROP, RBSIZ | BRS, peers[i].nochg);
		rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &pm);
		rpcrdma2_exchange_received(&ex, NOW);
		rpcrdma2_exchange_resize(&ex, 8192, 4096);
		KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), peers[i].before);
		KUNIT_EXPECT_EQ(test, is_sent(&ex, NOW), peers[i].after == 4096);
		KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), peers[i].after);
	}
}

/* C-033, S16: the end grants the peer's request at once, or allocates larger Receives later. */
static void peer_requests(struct kunit *test)
{
	static const struct { u32 requested, announced, resize; } requests[] = {
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

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		begin(test, &ex, RBSIZ, RBSIZ);
		val.pr_rbsiz = requests[i].requested;
		rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
		KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
		KUNIT_EXPECT_TRUE(test, is_applied(&ex));
		KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, requests[i].announced);
		KUNIT_EXPECT_EQ(test, ex.ex_supported.pr_rbsiz, requests[i].announced);
		KUNIT_EXPECT_EQ(test, rec.resize, requests[i].resize);
		expect_no_message(test, &ex);
	}
	/* a responder that announces less than it supports (S14) */
	rpcrdma2_exchange_init(&ex, &record_ops, true);
	ex.ex_supported = able;
	ex.ex_supported.pr_sbsiz = 4096;
	rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &res);
	val.pr_rbsiz = 32768;
	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
	KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, ex.ex_supported.pr_rbsiz, 8192);
	/* C-033: and whose Sends are smaller than when it announced its Receives */
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		rpcrdma2_exchange_init(&ex, &record_ops, true);
		ex.ex_supported = able;
		rpcrdma2_exchange_announce(&ex, RPCRDMA2_PROPS_ALL, &res);
		rpcrdma2_exchange_resize(&ex, 8192, 4096);
		val.pr_rbsiz = requests[i].requested;
		rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
		KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
		KUNIT_EXPECT_EQ(test, !!rec.pm.pm_done,
				requests[i].resize == requests[i].announced);
		KUNIT_EXPECT_EQ(test, rec.pm.pm_set.ps_rows, 0);
		KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, requests[i].announced);
		KUNIT_EXPECT_EQ(test, rec.resize, requests[i].resize);
	}
	/* another property */
	begin(test, &ex, RBSIZ, RBSIZ);
	rpcrdma2_propset_init(&pm.pm_set, BRS, &able);
	KUNIT_ASSERT_TRUE(test, is_answered(&ex, &pm, NOW));
	KUNIT_EXPECT_EQ(test, ex.ex_supported.pr_rbsiz, 8192);
	KUNIT_EXPECT_EQ(test, rec.resize, 0);
}

/* The peer requests Receives of @bytes. Return: true if the end grants them. */
static bool is_granted(struct kunit *test, struct rpcrdma2_exchange *ex,
		       u32 bytes, unsigned long now)
{
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_REQPROP };
	struct rpcrdma2_props val = { .pr_rbsiz = bytes };

	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
	KUNIT_EXPECT_TRUE(test, is_answered(ex, &pm, now));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_set.ps_rows, 0);
	return rec.pm.pm_done;
}

/* S53: alternating requests for smaller and larger Receives */
static void s53_alternating_sizes(struct kunit *test)
{
	struct rpcrdma2_propmsg pm = { .pm_type = RDMA2_OPT_REQPROP };
	struct rpcrdma2_props val = { };
	struct rpcrdma2_exchange ex;

	begin(test, &ex, RBSIZ, RBSIZ);
	KUNIT_EXPECT_TRUE(test, is_granted(test, &ex, 6000, NOW));
	KUNIT_EXPECT_EQ(test, rec.resize, 6000);
	/* Within a second, the end rejects a smaller size, and the request has no effect. */
	KUNIT_EXPECT_FALSE(test, is_granted(test, &ex, 4096, NOW + HZ - 1));
	KUNIT_EXPECT_EQ(test, rec.resize, 0);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 6000);
	KUNIT_EXPECT_EQ(test, ex.ex_supported.pr_rbsiz, 6000);
	/* The same size is not smaller, and the end handles a larger one later. */
	KUNIT_EXPECT_TRUE(test, is_granted(test, &ex, 6000, NOW + HZ - 1));
	KUNIT_EXPECT_FALSE(test, is_granted(test, &ex, 65536, NOW + HZ - 1));
	KUNIT_EXPECT_EQ(test, rec.resize, 65536);
	/* The Receives grow; a request for the old size must not stop them. */
	KUNIT_EXPECT_FALSE(test, is_granted(test, &ex, 6000, NOW + HZ - 1));
	KUNIT_EXPECT_FALSE(test, is_granted(test, &ex, 65535, NOW + HZ - 1));
	KUNIT_EXPECT_EQ(test, rec.resize, 0);
	KUNIT_EXPECT_TRUE(test, is_granted(test, &ex, 4096, NOW + HZ));
	KUNIT_EXPECT_EQ(test, rec.resize, 4096);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 4096);
	KUNIT_EXPECT_FALSE(test, is_granted(test, &ex, 65536, NOW + HZ));
	/* The second starts at the last granted request. */
	KUNIT_EXPECT_FALSE(test, is_granted(test, &ex, 4096, NOW + 2 * HZ - 1));
	KUNIT_EXPECT_TRUE(test, is_granted(test, &ex, 4096, NOW + 2 * HZ));
	/* Any longer time suffices, even if jiffies of 32 bits have wrapped. */
	ex.ex_recv_requested = 65536;
	KUNIT_EXPECT_TRUE(test, is_granted(test, &ex, 4096, NOW + 2 * HZ - 1));

	/* A larger size that was granted at once starts the second, too. */
	begin(test, &ex, RBSIZ, RBSIZ);
	ex.ex_supported.pr_rbsiz = 12288;
	KUNIT_EXPECT_TRUE(test, is_granted(test, &ex, 12288, 0));
	KUNIT_EXPECT_TRUE(test, is_granted(test, &ex, 8192, 0));
	ex.ex_supported.pr_rbsiz = 12288;
	KUNIT_EXPECT_TRUE(test, is_granted(test, &ex, 12288, 1));
	KUNIT_EXPECT_FALSE(test, is_granted(test, &ex, 8192, 1));
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 12288);

	/* The answer reports the size in force (C-054). */
	begin(test, &ex, RBSIZ, RBSIZ);
	KUNIT_EXPECT_TRUE(test, is_granted(test, &ex, 4096, 0));
	KUNIT_EXPECT_FALSE(test, is_granted(test, &ex, 65536, 0));
	ex.ex_supported.pr_rbsiz = 12288;
	val.pr_rbsiz = 32768;
	rpcrdma2_propset_init(&pm.pm_set, RBSIZ, &val);
	KUNIT_EXPECT_TRUE(test, is_answered(&ex, &pm, 0));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_set.ps_rows, RBSIZ);
	KUNIT_EXPECT_EQ(test, ex.ex_announced.pr_rbsiz, 12288);
	KUNIT_EXPECT_EQ(test, ex.ex_recv_requested, 65536);
}

/* S53: the end also delays its own smaller requests, by a quarter of a second more. */
static void s53_smaller_requests_delayed(struct kunit *test)
{
	struct rpcrdma2_exchange ex;

	begin(test, &ex, RBSIZ, 0);
	rpcrdma2_exchange_resize(&ex, 8192, 8192);
	expect_message(test, &ex, RDMA2_OPT_REQPROP, RBSIZ);
	rpcrdma2_exchange_received(&ex, NOW + 5 * HZ);
	answer(test, &ex, XID, 1, 0, 0);
	rec.ret = -ENOMEM;	/* this message and all later ones remain due */
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_exchange_busy(&ex));
	KUNIT_EXPECT_FALSE(test, is_sent(&ex, NOW + 5 * HZ));
	KUNIT_EXPECT_FALSE(test, is_sent(&ex, NOW + 6 * HZ + HZ / 4 - 1));
	KUNIT_EXPECT_EQ(test, rpcrdma2_exchange_send_max(&ex), 4096);
	KUNIT_EXPECT_TRUE(test, is_sent(&ex, NOW + 6 * HZ + HZ / 4));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_type, RDMA2_OPT_REQPROP);
	/* The request is smaller than the last one, which the peer rejected. */
	ex.ex_requested.ps_val.pr_rbsiz = 65536;
	rpcrdma2_exchange_resize(&ex, 8192, 16384);
	KUNIT_EXPECT_FALSE(test, is_sent(&ex, NOW + 5 * HZ));
	ex.ex_requested.ps_val.pr_rbsiz = 8192;
	rpcrdma2_exchange_resize(&ex, 8192, 4096);
	/* An announcement, a larger request and one for the same size are not delayed. */
	rpcrdma2_exchange_resize(&ex, 12288, 4096);
	KUNIT_EXPECT_TRUE(test, is_sent(&ex, NOW + 5 * HZ));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_type, RDMA2_OPT_UPDPROP);
	ex.ex_requested.ps_val.pr_rbsiz = 12288;
	rpcrdma2_exchange_resize(&ex, 8192, 12288);
	KUNIT_EXPECT_TRUE(test, is_sent(&ex, NOW + 5 * HZ));
	KUNIT_EXPECT_EQ(test, rec.pm.pm_type, RDMA2_OPT_REQPROP);
}

static struct kunit_case changes_cases[] = {
	KUNIT_CASE(connprops_come_first),
	KUNIT_CASE(requests_respect_connprop),
	KUNIT_CASE(smaller_request_limits_sends),
	KUNIT_CASE_PARAM(answers, answer_gen_params),
	KUNIT_CASE(duplicate_answer),
	KUNIT_CASE(update_does_not_answer),
	KUNIT_CASE(malformed_answer),
	KUNIT_CASE(truncated_option),
	KUNIT_CASE(no_answer),
	KUNIT_CASE(errors),
	KUNIT_CASE(refused_update),
	KUNIT_CASE(late_refusal),
	KUNIT_CASE(error_for_connprop),
	KUNIT_CASE(error_of_version_one),
	KUNIT_CASE(larger_receives_announced),
	KUNIT_CASE(interval_starts_at_completion),
	KUNIT_CASE(smaller_receives_not_announced),
	KUNIT_CASE(largest_send_announced),
	KUNIT_CASE(requests_first),
	KUNIT_CASE(s14_smaller_sends_announced_first),
	KUNIT_CASE(s14_smaller_sends_never_announced),
	KUNIT_CASE(peer_requests),
	KUNIT_CASE(s53_alternating_sizes),
	KUNIT_CASE(s53_smaller_requests_delayed),
	{ }
};

static struct kunit_suite changes_suite = {
	.name = "rpcrdma2_changes",
	.test_cases = changes_cases,
};

kunit_test_suite(changes_suite);
