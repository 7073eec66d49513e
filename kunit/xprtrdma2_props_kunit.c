// SPDX-License-Identifier: GPL-2.0
/*
 * Property messages of a hostile server, and their effect on the client. The suite sends
 * nothing. Other files of the client come from the suites "wait" and "connect".
 */
#include <kunit/test.h>

#include "../xprtrdma2/xprtrdma2.h"

/* Effects of a message, and the result of the post of an answer */
static struct {
	unsigned int	counted[XPRT2_C_COUNT], puts, checks, posts;
	u32		refused;
} seen;
static int post_result;

/* A connection with a message */
struct client {
	struct xprt2_xprt	xp;
	struct xprt2_ep		ep;
	struct rdma_cm_id	id;
	struct ib_device	device;
	struct xprt2_req	req;
	u8			buf[RPCRDMA2_INLINE_FIRST];
	struct rpcrdma2_msg	msg;
};

#undef xprt2_count
#define xprt2_count(name)				(seen.counted[XPRT2_C_##name]++)
#define rpcrdma2_recv_put(rv)				(seen.puts++)
#define xprt2_check_handle(ep, msg)			(seen.checks++)
#define xprt2_send_error(ep, h)				(seen.refused = (h)->h_error.er_code)
#define xprt2_backward_req(xprt, last, gfp)		\
	((void)(gfp), &container_of(xprt, struct client, xp)->req)
#define xprt2_req_put(req)				((void)(req))
#define xprt2_post_backward(ep, req, len, proc, apart)	(seen.posts++, post_result)
#define _XPRTRDMA2_TRACE_H	/* no trace events of a second module */
#include "../xprtrdma2/props.c"

#define OWN	8192U	/* size of Receives, and half of the largest Send */
static void lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why) { }

static const struct rpcrdma2_conn_ops ops = { .lost = lost };

/* A connection whose client has announced its properties */
static int props_init(struct kunit *test)
{
	struct client *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct xprt2_ep *ep;

	KUNIT_ASSERT_NOT_NULL(test, c);
	test->priv = c;
	ep = &c->ep;
	spin_lock_init(&c->xp.xp_xprt.reserve_lock);
	rpcrdma2_rpool_init(&c->xp.xp_rpool);
	c->xp.xp_rpool.rp_size = OWN;
	rpcrdma2_conn_init(&ep->ep_conn, &ops);
	c->device.attrs.max_recv_sge = 32;
	c->id.device = &c->device;
	ep->ep_conn.co_id = &c->id;
	ep->ep_xp = &c->xp;
	mutex_init(&ep->ep_prop_mutex);
	ep->ep_vers = RPCRDMA2_VERS_TWO;
	ep->ep_max_reqs = 32;
	ep->ep_recv_size = OWN;
	ep->ep_send_size = 2 * OWN;
	c->req.rq2_slot.rq_buffer = c->buf;
	post_result = 0;
	xprt2_begin_properties(ep);
	KUNIT_ASSERT_EQ(test, xprt2_send_connprop(ep), 0);
	memset(&seen, 0, sizeof(seen));
	return 0;
}

/* A message behind its credits, what came before, and the effects, unless there are none */
static const struct hostile_case {
	const char	*desc;
	unsigned int	words;
	u32		word[7];
	bool		first;		/* before a grant */
	int		post_result;
	u32		refused;	/* code of the error */
	bool		answered, dropped;
	u32		sends, recvs;	/* largest Send, and size of Receives */
	enum rpcrdma2_loss why;
} hostile_cases[] = {
	{ "C-012 S40 unknown option", 4, { RDMA2_OPTIONAL, RDMA2_CALL, 0x7fffff01, 0 },
	  .refused = RDMA2_ERR_INVALID_OPTION },
	{ "S39 no Call", 4, { RDMA2_OPTIONAL, RDMA2_REPLY, 0x7fffff01, 0 }, .dropped = true },
	{ "S11 cut", 7, { RDMA2_UPDPROP, 2, 1, 4, 1024, 1, 64 }, .refused = RDMA2_ERR_BAD_XDR },
	{ "C-097 the same before a grant", 7, { RDMA2_UPDPROP, 2, 1, 4, 1024, 1, 64 },
	  .first = true, .dropped = true },
	{ "S11 S38 malformed RESPROP", 2, { RDMA2_RESPROP, U32_MAX }, .dropped = true },
	{ "S17 no REQPROP", 7, { RDMA2_RESPROP, 0, 0, 1, 1, 4, 1024 }, .dropped = true },
	{ "S13 S33 server without Receives", 5, { RDMA2_UPDPROP, 1, 1, 4, 0 },
	  .sends = RPCRDMA2_INLINE_FIRST },
	{ "S33 endless Receives", 5, { RDMA2_UPDPROP, 1, 1, 4, U32_MAX }, .sends = 2 * OWN },
	{ "C-028 larger Receives", 5, { RDMA2_REQPROP, 1, 1, 4, 1U << 30 }, .answered = true },
	{ "C-033 request for smaller Receives", 5, { RDMA2_REQPROP, 1, 1, 4, 4096 },
	  .answered = true, .recvs = 4096 },
	{ "C-049 request for no Receives", 5, { RDMA2_REQPROP, 1, 1, 4, 0 }, .answered = true },
	{ "C-097 request before a grant", 5, { RDMA2_REQPROP, 1, 1, 4, 4096 },
	  .first = true, .dropped = true },
	{ "S46 answer that cannot be sent", 5, { RDMA2_REQPROP, 1, 1, 4, 0 },
	  .post_result = -EAGAIN, .answered = true, .why = RPCRDMA2_LOSS_REPLY },
};

KUNIT_ARRAY_PARAM_DESC(hostile, hostile_cases, desc);

/* S50: every message is checked for its handle. X1: its Receive comes back once. */
static void hostile(struct kunit *test)
{
	const struct hostile_case *m = test->param_value;
	__be32 data[10] = { cpu_to_be32(5), cpu_to_be32(RPCRDMA2_VERS_TWO), cpu_to_be32(32) };
	u32 i, len = (3 + m->words) * XDR_UNIT, sends = m->sends ?: RPCRDMA2_INLINE_DEFAULT;
	struct client *c = test->priv;
	struct xprt2_ep *ep = &c->ep;

	for (i = 0; i < m->words; i++)
		data[3 + i] = cpu_to_be32(m->word[i]);
	ep->ep_grant = !m->first;
	post_result = m->post_result;
	rpcrdma2_msg_read(&c->msg, data, len, len, 0, &ep->ep_ex);
	if (!c->msg.mg_verdict)
		rpcrdma2_exchange_take(&ep->ep_ex, &c->msg.mg_prop);
	xprt2_handle_property(ep, NULL, &c->msg);
	KUNIT_EXPECT_EQ(test, seen.checks, 1);
	KUNIT_EXPECT_EQ(test, seen.puts, 1);
	KUNIT_EXPECT_EQ(test, seen.refused, m->refused);
	KUNIT_EXPECT_EQ(test, seen.counted[XPRT2_C_properties_refused], !!m->refused);
	KUNIT_EXPECT_EQ(test, seen.posts, m->answered);
	KUNIT_EXPECT_EQ(test, seen.counted[XPRT2_C_dropped_silently], m->dropped);
	KUNIT_EXPECT_EQ(test, ep->ep_call_threshold, sends);
	KUNIT_EXPECT_EQ(test, ep->ep_conn.co_sq.sq_send_max, sends);
	KUNIT_EXPECT_EQ(test, ep->ep_recv_size, m->recvs ?: OWN);
	KUNIT_EXPECT_EQ(test, c->xp.xp_rpool.rp_size, m->recvs ?: OWN);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&ep->ep_conn), m->why);
}

static struct kunit_case props_cases[] = {
	KUNIT_CASE_PARAM(hostile, hostile_gen_params),
	{}
};

static struct kunit_suite props_suite = {
	.name		= "xprtrdma2_props",
	.init		= props_init,
	.test_cases	= props_cases,
};

kunit_test_suite(props_suite);
