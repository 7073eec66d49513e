// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of a server that end without an answer: the server would wait for its credit, so the
 * connection ends (S46).
 *
 * The suite sends nothing. Other files of the client come from xprtrdma2_wait_kunit.c and
 * xprtrdma2_connect_kunit.c.
 */
#include <kunit/test.h>

#include "../xprtrdma2/xprtrdma2.h"

/* no trace events of a second module */
#define _XPRTRDMA2_TRACE_H
#define trace_xprt2_backward_call(...)		do { } while (0)
#define trace_xprt2_backward_refuse(...)	do { } while (0)
#define trace_xprt2_backward_reply(ep, xid, ret)	((void)(xid), (void)(ret))

/* The request is not freed. */
#define xprt2_req_put(req)	((void)(req))
#define xprt_put(xprt)		((void)(xprt))

/* Requests for more Calls, or none because memory is short */
static unsigned int reserved;
static bool no_requests;
#define xprt2_reqs_reserve(xp, pool, needed, gfp) \
	((void)(pool), reserved = (needed), no_requests ? -ENOMEM : 0)

/* The request of each Call, which goes to a service */
static struct xprt2_req *free_req;
static struct svc_serv service;
#define xprt2_backward_req(xp, last, gfp)	((void)(xp), free_req)
#define rpcrdma2_recv_buf_paged(rv, at, buf)	((void)(rv), (void)(at), (void)(buf))
#define rpcrdma2_bc_queue(serv, rqst)		((void)(serv), (void)(rqst))
#define xprt_get(xprt)				(xprt)

/* Receives given back at once: no service gets their Calls */
static unsigned int returned;
#define rpcrdma2_recv_put(rv)			((void)(rv), returned++)

/* The result of the post of a Reply */
static int posted;
#define xprt2_encode_header(req, h, len)			((void)(len), 0)
#define xprt2_post_backward(ep, req, hdrlen, proc, apart)	(posted)

#include "../xprtrdma2/backchannel.c"

/**
 * struct unanswered - a Call of the server
 * @xp: transport
 * @ep: endpoint that the Call came on
 * @id: its identifier
 * @req: request of the Call
 * @rep: its Receive buffer
 * @msg: its message
 * @task: task of its Reply
 * @why: reason for the end of the connection
 */
struct unanswered {
	struct xprt2_xprt	xp;
	struct xprt2_ep		ep;
	struct rdma_cm_id	id;
	struct xprt2_req	req;
	struct xprt2_rep	rep;
	struct rpcrdma2_msg	msg;
	struct rpc_task		task;
	enum rpcrdma2_loss	why;
};

static void lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	container_of(co, struct unanswered, ep.ep_conn)->why = why;
}

static const struct rpcrdma2_conn_ops ops = { .lost = lost };

static int unanswered_init(struct kunit *test)
{
	struct unanswered *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	rpcrdma2_conn_init(&f->ep.ep_conn, &ops);
	f->ep.ep_conn.co_id = &f->id;
	f->ep.ep_xp = &f->xp;
	f->ep.ep_serial = 1;
	f->ep.ep_backward_grant = 1;
	f->ep.ep_backward_next = 1;
	reserved = 0;
	no_requests = false;
	atomic_set(&f->ep.ep_state, XPRT2_EP_READY);
	spin_lock_init(&f->xp.xp_req_lock);
	spin_lock_init(&f->xp.xp_xprt.bc_pa_lock);
	f->xp.xp_xprt.bc_serv = &service;
	f->xp.xp_serves = true;
	free_req = &f->req;
	mutex_init(&f->xp.xp_fence_mutex);
	f->xp.xp_serial = 1;
	f->req.rq2_slot.rq_xprt = &f->xp.xp_xprt;
	f->req.rq2_ep = &f->ep;
	KUNIT_ASSERT_TRUE(test, xprt2_backward_count(&f->ep, &f->req));
	return 0;
}

static u64 count_unanswered(void)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += per_cpu(xprt2_counters, cpu)[XPRT2_C_backward_unanswered];
	return sum;
}

/* The service drops the Call, or gets no task for the Reply. */
static void s46_no_task(struct kunit *test)
{
	struct unanswered *f = test->priv;
	u64 before = count_unanswered();

	xprt2_bc_free_rqst(&f->req.rq2_slot);
	KUNIT_EXPECT_EQ(test, f->why, RPCRDMA2_LOSS_REPLY);
	KUNIT_EXPECT_EQ(test, count_unanswered() - before, 1);
}

/* The task ends, by a signal or otherwise, and the Reply is not sent. */
static void s46_task_ends(struct kunit *test)
{
	static const int ends[] = { -ERESTARTSYS, -ETIMEDOUT, 0 };
	struct unanswered *f = test->priv;
	unsigned int i;

	f->req.rq2_slot.rq_task = &f->task;
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		f->why = RPCRDMA2_LOSS_NONE;
		atomic_set(&f->ep.ep_conn.co_lost, false);
		f->task.tk_status = ends[i];
		xprt2_bc_free_rqst(&f->req.rq2_slot);
		KUNIT_EXPECT_EQ(test, f->why, RPCRDMA2_LOSS_REPLY);
	}
}

/* A retracted Call costs its service, which has ended, and not the connection. */
static void retracted(struct kunit *test)
{
	struct unanswered *f = test->priv;
	u64 before = count_unanswered();

	atomic_set(&f->xp.xp_xprt.bc_slot_count, 1);
	xprt2_bc_drop_call(&f->req.rq2_slot);
	KUNIT_EXPECT_EQ(test, f->why, RPCRDMA2_LOSS_NONE);
	KUNIT_EXPECT_EQ(test, f->xp.xp_backward_out, 0);
	KUNIT_EXPECT_EQ(test, count_unanswered() - before, 1);
}

/* The connection was lost before the Reply, and there may be the next one. */
static void lost_before(struct kunit *test)
{
	struct unanswered *f = test->priv;
	u64 before = count_unanswered();

	f->req.rq2_ep = NULL;
	KUNIT_EXPECT_EQ(test, xprt2_send_backward(&f->req.rq2_slot), 0);
	xprt2_bc_free_rqst(&f->req.rq2_slot);
	KUNIT_EXPECT_EQ(test, f->why, RPCRDMA2_LOSS_NONE);
	KUNIT_EXPECT_EQ(test, count_unanswered() - before, 1);
}

/*
 * The task ends while the Reply cannot be posted. The Call is counted again, but only the
 * receive CQ raises the grant.
 */
static void s46_not_posted(struct kunit *test)
{
	struct unanswered *f = test->priv;

	f->xp.xp_backward_credits = 16;
	f->ep.ep_vers = RPCRDMA2_VERS_TWO;
	f->ep.ep_call_threshold = RPCRDMA2_INLINE_DEFAULT;
	posted = -ENOBUFS;
	KUNIT_EXPECT_EQ(test, xprt2_send_backward(&f->req.rq2_slot), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, f->xp.xp_backward_out, 1);
	KUNIT_EXPECT_EQ(test, f->ep.ep_backward_next, 1);
	KUNIT_EXPECT_EQ(test, reserved, 0);
	posted = 0;
	xprt2_bc_free_rqst(&f->req.rq2_slot);
	KUNIT_EXPECT_EQ(test, f->why, RPCRDMA2_LOSS_REPLY);
}

static void replied(struct kunit *test)
{
	struct unanswered *f = test->priv;
	u64 before = count_unanswered();

	f->xp.xp_backward_credits = 1;
	f->ep.ep_vers = RPCRDMA2_VERS_TWO;
	f->ep.ep_call_threshold = RPCRDMA2_INLINE_DEFAULT;
	KUNIT_EXPECT_EQ(test, xprt2_send_backward(&f->req.rq2_slot), 0);
	KUNIT_EXPECT_EQ(test, f->xp.xp_backward_out, 0);
	xprt2_bc_free_rqst(&f->req.rq2_slot);
	KUNIT_EXPECT_EQ(test, f->why, RPCRDMA2_LOSS_NONE);
	KUNIT_EXPECT_EQ(test, count_unanswered() - before, 0);
}

/* Once there are callbacks, the pool keeps its requests. */
static void requests_kept_for_callbacks(struct kunit *test)
{
	static const u32 steps[][2] = {	/* parameter, requests */
		{ 1, 3 }, { 2, 5 }, { 16, 9 }, { 4, 9 },
	};
	struct unanswered *f = test->priv;
	struct xprt2_pool *pool = &f->xp.xp_backward;
	unsigned int i;

	pool->pl_max = 17;
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		pool->pl_keep = 1;
		f->xp.xp_backward_target = steps[i][0];
		KUNIT_EXPECT_EQ(test, xprt2_bc_setup(&f->xp.xp_xprt, 1), 0);
		KUNIT_EXPECT_EQ(test, reserved, steps[i][1]);
		KUNIT_EXPECT_EQ(test, pool->pl_keep, 17);
		KUNIT_EXPECT_EQ(test, f->xp.xp_xprt.bc_alloc_max, i + 1);
	}
	/* Without memory there are no callbacks of this upper layer. */
	no_requests = true;
	KUNIT_EXPECT_EQ(test, xprt2_bc_setup(&f->xp.xp_xprt, 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, f->xp.xp_xprt.bc_alloc_max, i);
}

static void grant_four(struct unanswered *f, u32 most)
{
	f->xp.xp_backward_credits = most;
	f->xp.xp_backward_out = 0;
	f->ep.ep_backward_grant = 4;
	f->ep.ep_backward_next = 4;
	no_requests = false;
}

/* Receives are posted for all Calls that the client intends to grant. */
static bool is_accepted(struct unanswered *f)
{
	bool accepted = !xprt2_bc_accept_call(&f->ep, &f->rep, &f->msg, false);

	f->ep.ep_backward_grant = f->ep.ep_backward_next;
	f->req.rq2_rep = NULL;
	return accepted;
}

/* B-09, S27: a server that uses all Calls that it is granted is granted more. */
static void b09_grant_doubles(struct kunit *test)
{
	static const u32 steps[][3] = {	/* outstanding, granted, requests */
		{ 3, 4, 0 }, { 4, 8, 5 }, { 7, 8, 0 }, { 8, 16, 9 }, { 15, 16, 0 },
		{ 16, 20, 5 }, { 20, 20, 0 },
	};
	struct unanswered *f = test->priv;
	unsigned int i;

	grant_four(f, 20);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		reserved = 0;
		while (f->xp.xp_backward_out < steps[i][0])
			KUNIT_ASSERT_TRUE(test, is_accepted(f));
		KUNIT_EXPECT_EQ(test, f->ep.ep_backward_grant, steps[i][1]);
		KUNIT_EXPECT_EQ(test, reserved, steps[i][2]);
	}
	KUNIT_EXPECT_FALSE(test, is_accepted(f));
	/* It stays when the Calls have ended. */
	f->xp.xp_backward_out = 0;
	KUNIT_EXPECT_TRUE(test, is_accepted(f));
	KUNIT_EXPECT_EQ(test, f->ep.ep_backward_grant, 20);
}

/* Without memory the grant stays, and grows when all are outstanding again. */
static void grant_without_memory(struct kunit *test)
{
	struct unanswered *f = test->priv;

	grant_four(f, 16);
	no_requests = true;
	while (f->xp.xp_backward_out < 4)
		KUNIT_ASSERT_TRUE(test, is_accepted(f));
	KUNIT_EXPECT_EQ(test, f->ep.ep_backward_grant, 4);
	KUNIT_EXPECT_FALSE(test, is_accepted(f));
	no_requests = false;
	xprt2_backward_uncount(&f->req);
	KUNIT_EXPECT_EQ(test, f->ep.ep_backward_grant, 4);
	KUNIT_EXPECT_TRUE(test, is_accepted(f));
	KUNIT_EXPECT_EQ(test, f->ep.ep_backward_grant, 8);
}

/* S46: no service gets a Call before the connection may carry RPCs. */
static void s46_call_before_ready(struct kunit *test)
{
	struct unanswered *f = test->priv;

	grant_four(f, 4);
	f->ep.ep_vers = RPCRDMA2_VERS_ONE;
	f->ep.ep_ex.ex_supported.pr_brs = RDMA2_BKREQSUP_INLINE;
	f->ep.ep_ex.ex_announced.pr_brs = RDMA2_BKREQSUP_INLINE;
	f->msg.mg_hdr.h_vers = RPCRDMA2_VERS_ONE;
	returned = 0;
	atomic_set(&f->ep.ep_state, XPRT2_EP_CONNECTING);
	xprt2_handle_call(&f->ep, &f->rep, &f->msg);
	atomic_set(&f->ep.ep_state, XPRT2_EP_LOST);
	xprt2_handle_call(&f->ep, &f->rep, &f->msg);
	KUNIT_EXPECT_EQ(test, f->xp.xp_backward_out, 0);
	KUNIT_EXPECT_EQ(test, returned, 2);
	atomic_set(&f->ep.ep_state, XPRT2_EP_READY);
	xprt2_handle_call(&f->ep, &f->rep, &f->msg);
	KUNIT_EXPECT_EQ(test, f->xp.xp_backward_out, 1);
	KUNIT_EXPECT_EQ(test, returned, 2);
}

static struct kunit_case unanswered_cases[] = {
	KUNIT_CASE(s46_no_task),
	KUNIT_CASE(s46_task_ends),
	KUNIT_CASE(retracted),
	KUNIT_CASE(lost_before),
	KUNIT_CASE(s46_not_posted),
	KUNIT_CASE(replied),
	KUNIT_CASE(requests_kept_for_callbacks),
	KUNIT_CASE(b09_grant_doubles),
	KUNIT_CASE(grant_without_memory),
	KUNIT_CASE(s46_call_before_ready),
	{}
};

static struct kunit_suite unanswered_suite = {
	.name		= "xprtrdma2_unanswered",
	.init		= unanswered_init,
	.test_cases	= unanswered_cases,
};

kunit_test_suite(unanswered_suite);
