// SPDX-License-Identifier: GPL-2.0
/*
 * Waits for a server have time limits: for the chains of a backward Reply, and for the
 * fence of an aborted RPC.
 *
 * The fake device accepts work requests up to one that the test case chooses, and completes
 * none.
 */
#include <kunit/test.h>

#include "../xprtrdma2/xprtrdma2.h"
#include "fake_mr.h"

/* no trace events of a second module */
#define _XPRTRDMA2_TRACE_H
#define trace_xprt2_complete(...)	do { } while (0)
#define trace_xprt2_fence(...)		do { } while (0)

static unsigned long answer_timeout;
#undef XPRT2_ANSWER_TIMEOUT
#define XPRT2_ANSWER_TIMEOUT answer_timeout

static unsigned int fence_waits;
static unsigned long fence_timeout;

static bool fake_revoke_wait(struct rpcrdma2_exposed *ex, unsigned long timeout)
{
	fence_waits++;
	fence_timeout = timeout;
	return false;
}

/* Message buffers cannot be allocated. */
static bool no_buffers;
#undef kmalloc
#define kmalloc(size, gfp)	(no_buffers ? NULL : kzalloc(size, gfp))

#define rpcrdma2_revoke_wait fake_revoke_wait
#undef pr_fmt
#include "../xprtrdma2/req.c"
#undef rpcrdma2_revoke_wait

#define REGIONS	2

/**
 * struct wait - a request on a connection
 * @xp: its transport
 * @ep: its endpoint
 * @fake: verbs objects of the endpoint
 * @takes: number of work requests that the device still accepts
 * @req: the request
 * @ended: completes the chain of the request
 * @send: Send of the request
 * @post: chain of the Send
 */
struct wait {
	struct xprt2_xprt	xp;
	struct xprt2_ep		ep;
	struct fake_conn	fake;
	unsigned int		takes;
	struct xprt2_req	req;
	struct delayed_work	ended;
	struct ib_send_wr	send;
	struct rpcrdma2_post	post;
};

static int fake_post(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct wait *w = container_of(qp, struct wait, fake.qp);

	for (; wr && w->takes; wr = wr->next)
		w->takes--;
	*bad = wr;
	return wr ? -ENOMEM : 0;
}

static void end_chain(struct work_struct *work)
{
	struct wait *w = container_of(to_delayed_work(work), struct wait, ended);

	if (atomic_dec_and_test(&w->req.rq2_posts))
		wake_up_var(&w->req.rq2_posts);
}

/* The drain of a lost connection completes the chains. */
static void lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	struct wait *w = container_of(co, struct wait, ep.ep_conn);

	w->fake.why = why;
	mod_delayed_work(system_percpu_wq, &w->ended, 0);
}

static const struct rpcrdma2_conn_ops lost_ops = {
	.lost	= lost,
	.room	= fake_room,
	.grown	= fake_grown,
	.trimmed = fake_trimmed,
};

static int wait_init(struct kunit *test)
{
	struct wait *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	INIT_DELAYED_WORK(&w->ended, end_chain);
	test->priv = w;
	mutex_init(&w->xp.xp_fence_mutex);
	spin_lock_init(&w->xp.xp_req_lock);
	w->xp.xp_ep = &w->ep;
	w->ep.ep_xp = &w->xp;
	w->takes = UINT_MAX;
	KUNIT_ASSERT_EQ(test, fake_conn_init(&w->ep.ep_conn, &w->fake, fake_post,
					     16, REGIONS), 0);
	w->ep.ep_conn.co_ops = &lost_ops;
	w->req.rq2_slot.rq_xprt = &w->xp.xp_xprt;
	w->req.rq2_ep = &w->ep;
	rpcrdma2_exposed_init(&w->req.rq2_exposed);
	atomic_set(&w->req.rq2_posts, 1);
	answer_timeout = MAX_SCHEDULE_TIMEOUT;
	fence_waits = 0;
	fence_timeout = 0;
	return 0;
}

static void wait_exit(struct kunit *test)
{
	struct wait *w = test->priv;

	if (!w)
		return;
	cancel_delayed_work_sync(&w->ended);
	rpcrdma2_regions_destroy(&w->ep.ep_conn);
	fake_conn_exit(&w->fake);
}

/* S46: a server that accepts the Reply keeps its connection. */
static void s46_reply_accepted(struct kunit *test)
{
	struct wait *w = test->priv;

	queue_delayed_work(system_percpu_wq, &w->ended, 1);
	xprt2_req_await_posts(&w->req);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->req.rq2_posts), 0);
	KUNIT_EXPECT_EQ(test, w->fake.why, RPCRDMA2_LOSS_NONE);
}

/*
 * S46: a server that does not accept the Reply loses its connection, and the wait continues
 * until the chain is complete.
 */
static void s46_reply_not_accepted(struct kunit *test)
{
	struct wait *w = test->priv;

	answer_timeout = 1;
	xprt2_req_await_posts(&w->req);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->req.rq2_posts), 0);
	KUNIT_EXPECT_EQ(test, w->fake.why, RPCRDMA2_LOSS_STALLED);
}

/* S46: the connection may be gone already. */
static void s46_reply_after_teardown(struct kunit *test)
{
	struct wait *w = test->priv;

	w->req.rq2_ep = NULL;
	answer_timeout = 0;
	queue_delayed_work(system_percpu_wq, &w->ended, 1);
	xprt2_req_await_posts(&w->req);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->req.rq2_posts), 0);
	KUNIT_EXPECT_EQ(test, w->fake.why, RPCRDMA2_LOSS_NONE);
}

static void send_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post, bool ok)
{
}

/* An aborted RPC exposes the page twice. */
static void expose(struct kunit *test)
{
	struct wait *w = test->priv;
	struct ib_send_wr *first = &w->send;
	unsigned int i, wrs = 1;

	w->send.opcode = IB_WR_SEND;
	w->post.po_signal = true;
	w->post.po_done = send_done;
	for (i = 0; i < REGIONS; i++)
		KUNIT_ASSERT_EQ(test, fake_expose(&w->ep.ep_conn,
						  &w->req.rq2_exposed), 0);
	wrs += rpcrdma2_exposed_chain(&w->req.rq2_exposed, &first);
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&w->ep.ep_conn, wrs + REGIONS, true));
	KUNIT_ASSERT_EQ(test, rpcrdma2_sq_post(&w->ep.ep_conn, &w->post, first), 0);
}

/* X2: a fence that the device accepts has a timeout, which ends the connection. */
static void x2_fence_waits(struct kunit *test)
{
	struct wait *w = test->priv;

	expose(test);
	xprt2_revoke(&w->req, false);
	KUNIT_EXPECT_EQ(test, fence_waits, 1);
	KUNIT_EXPECT_EQ(test, fence_timeout, (unsigned long)XPRT2_FENCE_TIMEOUT);
	KUNIT_EXPECT_FALSE(test, xprt2_holds_memory(&w->req));
	KUNIT_EXPECT_EQ(test, w->fake.why, RPCRDMA2_LOSS_STALLED);
}

/* X2: a fence that the device accepts in part ends the connection at once. */
static void x2_partial_fence(struct kunit *test)
{
	struct wait *w = test->priv;

	expose(test);
	w->takes = 1;
	xprt2_revoke(&w->req, false);
	KUNIT_EXPECT_EQ(test, w->takes, 0);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_conn_is_lost(&w->ep.ep_conn));
	KUNIT_EXPECT_EQ(test, fence_waits, 0);
	KUNIT_EXPECT_FALSE(test, xprt2_holds_memory(&w->req));
}

/* An RPC with Replies of @size bytes begins, and ends. Return: its receive buffer */
static void *rpc(struct kunit *test, struct xprt2_req *req, size_t size)
{
	req->rq2_slot.rq_rcvsize = size;
	KUNIT_ASSERT_EQ(test, xprt2_req_buffers(req, GFP_KERNEL), 0);
	KUNIT_ASSERT_NOT_NULL(test, req->rq2_slot.rq_rbuffer);
	KUNIT_EXPECT_GE(test, req->rq2_recvsize, size);
	return req->rq2_slot.rq_rbuffer;
}

/* X2: an RPC that has ended leaves its receive buffer to the next, each buffer to one. */
static void recvbuf_passed_on(struct kunit *test)
{
	struct xprt2_req *reqs = kunit_kzalloc(test, 3 * sizeof(*reqs), GFP_KERNEL);
	struct rpc_auth auth = { .au_flavor = RPC_AUTH_UNIX };
	struct rpc_cred cred = { .cr_auth = &auth };
	struct wait *w = test->priv;
	void *first, *second, *large;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, reqs);
	for (i = 0; i < 3; i++) {
		reqs[i].rq2_slot.rq_xprt = &w->xp.xp_xprt;
		reqs[i].rq2_slot.rq_cred = &cred;
	}
	first = rpc(test, &reqs[0], 100);
	xprt2_req_pass_recvbuf(&reqs[0]);
	KUNIT_EXPECT_NULL(test, reqs[0].rq2_recvbuf);
	/* an RPC that ends before it has buffers */
	xprt2_req_pass_recvbuf(&reqs[0]);
	KUNIT_EXPECT_PTR_EQ(test, rpc(test, &reqs[1], 200), first);
	second = rpc(test, &reqs[0], 100);
	KUNIT_EXPECT_PTR_NE(test, second, first);
	/* Two end; one buffer is passed on, and the other one stays. */
	xprt2_req_pass_recvbuf(&reqs[1]);
	xprt2_req_pass_recvbuf(&reqs[0]);
	KUNIT_EXPECT_PTR_EQ(test, rpc(test, &reqs[0], 100), first);
	KUNIT_EXPECT_PTR_EQ(test, rpc(test, &reqs[2], 100), second);
	/* A larger one stays with its request. */
	xprt2_req_pass_recvbuf(&reqs[2]);
	large = rpc(test, &reqs[1], XPRT2_RECVBUF_SIZE + 1);
	xprt2_req_pass_recvbuf(&reqs[1]);
	KUNIT_EXPECT_NULL(test, w->xp.xp_recvbuf);
	KUNIT_EXPECT_PTR_EQ(test, rpc(test, &reqs[1], 100), large);
	for (i = 0; i < 3; i++) {
		kfree(reqs[i].rq2_sendbuf);
		kfree(reqs[i].rq2_recvbuf);
	}
}

/*
 * X8: without memory for the buffer of a Call with RPCSEC_GSS, the RPC has no buffer at all. The
 * RPC layer repeats the allocation only then.
 */
static void x8_no_plain_buffer(struct kunit *test)
{
	struct rpc_auth auth = {
		.au_flavor	= RPC_AUTH_GSS_KRB5I,
		.au_flags	= BIT(RPCAUTH_AUTH_DATATOUCH),
	};
	struct rpc_cred cred = { .cr_auth = &auth };
	struct wait *w = test->priv;
	struct xprt2_req *req = &w->req;
	struct rpc_rqst *rqst = &req->rq2_slot;
	size_t size = req->rq2_sendsize;

	rqst->rq_cred = &cred;
	rqst->rq_callsize = 2 * KMALLOC_MAX_SIZE;
	req->rq2_sendsize = SIZE_MAX;
	KUNIT_EXPECT_EQ(test, xprt2_req_buffers(req, GFP_KERNEL | __GFP_NOWARN), -ENOMEM);
	KUNIT_EXPECT_NULL(test, rqst->rq_buffer);

	rqst->rq_callsize = 100;
	KUNIT_EXPECT_EQ(test, xprt2_req_buffers(req, GFP_KERNEL), 0);
	KUNIT_EXPECT_PTR_EQ(test, rqst->rq_buffer, req->rq2_plainbuf);
	kfree(req->rq2_plainbuf);
	req->rq2_plainbuf = NULL;
	kfree(req->rq2_recvbuf);
	req->rq2_recvbuf = NULL;
	req->rq2_recvsize = 0;
	req->rq2_sendsize = size;
	rqst->rq_cred = NULL;
}

/* A transport without requests, whose pool for backward Calls has these limits */
static struct xprt2_xprt *backward_pool(struct kunit *test, unsigned int max, unsigned int keep)
{
	struct wait *w = test->priv;
	struct xprt2_xprt *xp = &w->xp;

	KUNIT_ASSERT_EQ(test, xprt2_reqs_start(), 0);
	INIT_LIST_HEAD(&xp->xp_all_reqs);
	init_llist_head(&xp->xp_backward.pl_free);
	xp->xp_backward.pl_max = max;
	xp->xp_backward.pl_keep = keep;
	return xp;
}

static void destroy_pool(struct xprt2_xprt *xp)
{
	xprt2_reqs_destroy(xp);
	xprt2_reqs_stop();
}

/* S46: when memory is short, an error still finds the request that is reserved for it. */
static void s46_request_without_memory(struct kunit *test)
{
	struct xprt2_xprt *xp = backward_pool(test, 3, 3);
	struct xprt2_req *req;

	KUNIT_EXPECT_EQ(test, xprt2_reqs_reserve(xp, &xp->xp_backward, 1, GFP_KERNEL), 0);
	no_buffers = true;
	KUNIT_EXPECT_NULL(test, xprt2_backward_req(xp, false, GFP_KERNEL));
	req = xprt2_backward_req(xp, true, GFP_KERNEL);
	no_buffers = false;
	KUNIT_EXPECT_NOT_NULL(test, req);
	if (req) {
		KUNIT_EXPECT_NOT_NULL(test, req->rq2_slot.rq_buffer);
		KUNIT_EXPECT_EQ(test, req->rq2_slot.rq_snd_buf.buflen, PAGE_SIZE);
		xprt2_req_put(req);
	}
	/* The pool can grow again. */
	KUNIT_EXPECT_EQ(test, xprt2_reqs_reserve(xp, &xp->xp_backward, 2, GFP_KERNEL), 0);
	destroy_pool(xp);
}

/* Requests beyond those that a pool keeps are freed when they come back. */
static void superfluous_requests_freed(struct kunit *test)
{
	struct xprt2_xprt *xp = backward_pool(test, 5, 2);
	struct xprt2_req *reqs[4];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reqs); i++) {
		reqs[i] = xprt2_backward_req(xp, false, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, reqs[i]);
	}
	for (i = 0; i < ARRAY_SIZE(reqs); i++)
		xprt2_req_put(reqs[i]);
	KUNIT_EXPECT_EQ(test, xp->xp_backward.pl_count, 2);
	KUNIT_EXPECT_EQ(test, xprt2_pool_count_free(&xp->xp_backward), 2);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&xp->xp_all_reqs), 2);
	KUNIT_EXPECT_EQ(test, xprt2_reqs_reserve(xp, &xp->xp_backward, 4, GFP_KERNEL), 0);
	KUNIT_EXPECT_EQ(test, xp->xp_backward.pl_count, 4);
	destroy_pool(xp);
}

/*
 * S46: the last free request stays, even if the pool has more than it keeps: the others may
 * be in use for long.
 */
static void s46_last_free_request_stays(struct kunit *test)
{
	struct xprt2_xprt *xp = backward_pool(test, 3, 1);
	struct xprt2_req *reqs[2];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reqs); i++) {
		reqs[i] = xprt2_backward_req(xp, false, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, reqs[i]);
	}
	xprt2_req_put(reqs[0]);
	KUNIT_EXPECT_EQ(test, xprt2_pool_count_free(&xp->xp_backward), 1);
	KUNIT_EXPECT_EQ(test, xp->xp_backward.pl_count, 2);
	xprt2_req_put(reqs[1]);
	KUNIT_EXPECT_EQ(test, xprt2_pool_count_free(&xp->xp_backward), 1);
	KUNIT_EXPECT_EQ(test, xp->xp_backward.pl_count, 1);
	destroy_pool(xp);
}

/* A reserve creates the requests that are missing, and takes none of those that are free. */
static void reserve_without_memory(struct kunit *test)
{
	struct xprt2_xprt *xp = backward_pool(test, 5, 5);
	struct xprt2_req *req;

	KUNIT_EXPECT_EQ(test, xprt2_reqs_reserve(xp, &xp->xp_backward, 2, GFP_KERNEL), 0);
	no_buffers = true;
	KUNIT_EXPECT_EQ(test, xprt2_reqs_reserve(xp, &xp->xp_backward, 4, GFP_KERNEL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, xprt2_pool_count_free(&xp->xp_backward), 2);
	KUNIT_EXPECT_EQ(test, xprt2_reqs_reserve(xp, &xp->xp_backward, 2, GFP_KERNEL), 0);
	no_buffers = false;
	KUNIT_EXPECT_EQ(test, xp->xp_backward.pl_count, 2);
	KUNIT_EXPECT_EQ(test, xprt2_reqs_reserve(xp, &xp->xp_backward, 4, GFP_KERNEL), 0);
	KUNIT_EXPECT_EQ(test, xprt2_pool_count_free(&xp->xp_backward), 4);
	KUNIT_EXPECT_EQ(test, xp->xp_backward.pl_count, 4);
	/* One is in use: the pool has its maximum before five are free. */
	req = xprt2_backward_req(xp, false, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, req);
	KUNIT_EXPECT_EQ(test, xprt2_reqs_reserve(xp, &xp->xp_backward, 5, GFP_KERNEL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, xprt2_pool_count_free(&xp->xp_backward), 4);
	xprt2_req_put(req);
	destroy_pool(xp);
}

/* A task that a signal has ended keeps its status when a bad Reply comes. */
static void ended_task_keeps_status(struct kunit *test)
{
	struct wait *w = test->priv;
	struct rpc_task task = {
		.tk_rqstp	= &w->req.rq2_slot,
		.tk_status	= -ERESTARTSYS,
	};

	rpc_init_wait_queue(&w->xp.xp_xprt.pending, "pending");
	xprt2_req_wake_with(&task, -EIO);
	KUNIT_EXPECT_EQ(test, task.tk_status, -ERESTARTSYS);
	rpc_destroy_wait_queue(&w->xp.xp_xprt.pending);
}

/* An error wakes a task that waits for its Reply, and no task in another queue. */
static void pending_task_gets_status(struct kunit *test)
{
	struct wait *w = test->priv;
	struct rpc_wait_queue *pending = &w->xp.xp_xprt.pending;
	struct rpc_wait_queue *sending = &w->xp.xp_xprt.sending;
	struct rpc_task task = {
		.tk_rqstp	= &w->req.rq2_slot,
		.tk_runstate	= BIT(RPC_TASK_ACTIVE),
	};

	rpc_init_wait_queue(pending, "pending");
	rpc_init_wait_queue(sending, "sending");

	rpc_sleep_on(pending, &task, NULL);
	rpcrdma2_wake_with(&task, -EIO);
	KUNIT_EXPECT_EQ(test, task.tk_status, -EIO);
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&task));

	rpc_sleep_on(sending, &task, NULL);
	task.tk_status = -ENOTCONN;
	rpcrdma2_wake_with(&task, -EIO);
	KUNIT_EXPECT_EQ(test, task.tk_status, -ENOTCONN);
	KUNIT_EXPECT_TRUE(test, RPC_IS_QUEUED(&task));
	rpc_wake_up_queued_task(sending, &task);

	rpc_destroy_wait_queue(sending);
	rpc_destroy_wait_queue(pending);
}

static struct kunit_case wait_cases[] = {
	KUNIT_CASE(ended_task_keeps_status),
	KUNIT_CASE(pending_task_gets_status),
	KUNIT_CASE(s46_request_without_memory),
	KUNIT_CASE(superfluous_requests_freed),
	KUNIT_CASE(s46_last_free_request_stays),
	KUNIT_CASE(reserve_without_memory),
	KUNIT_CASE(recvbuf_passed_on),
	KUNIT_CASE(x8_no_plain_buffer),
	KUNIT_CASE(s46_reply_accepted),
	KUNIT_CASE(s46_reply_not_accepted),
	KUNIT_CASE(s46_reply_after_teardown),
	KUNIT_CASE(x2_fence_waits),
	KUNIT_CASE(x2_partial_fence),
	{}
};

static struct kunit_suite wait_suite = {
	.name		= "xprtrdma2_wait",
	.init		= wait_init,
	.exit		= wait_exit,
	.test_cases	= wait_cases,
};

kunit_test_suite(wait_suite);
