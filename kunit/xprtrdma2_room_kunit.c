// SPDX-License-Identifier: GPL-2.0
/*
 * Waits of the client's Calls: for Send Queue entries, memory regions, and requests. These may come
 * back before the RPC layer knows that a Call waits for them: then nothing would wake the Call
 * later. And the list of transports, whose readers do not wait for a connect.
 *
 * The suite posts nothing. Other files of the client come from the other suites.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/sunrpc/xprt.h>

#include "window.h"

#define xprt_wait_for_buffer_space	windowed_wait
#include <rpcrdma2/chunks.h>
#include "../xprtrdma2/xprtrdma2.h"

/* no trace events of a second module */
#define _XPRTRDMA2_TRACE_H
#define trace_xprt2_post_send(...)	do { } while (0)
#define trace_xprt2_marshal(...)	do { } while (0)

static void windowed_backlog(struct rpc_xprt *xprt, struct rpc_task *task)
{
	pass(BEFORE_WAIT);
	xprt_add_backlog_noncongested(xprt, task);
}

static int find_no_region(struct rpcrdma2_conn *co)
{
	co->co_regions.rg_needed = 1;
	return -EAGAIN;
}

/* References that were dropped in the task itself, requests revoked, and work that was queued */
static unsigned int puts, revokes;
static struct work_struct *queued;

#define xprt_put(xprt)				((void)(xprt), puts++)
#define xprt2_revoke(req, wait)			((void)(req), revokes++)
#define schedule_work(work)			(queued = (work))
#undef smp_mb
#undef smp_mb__after_atomic
#define smp_mb()				windowed_barrier()	/* a place */
#define smp_mb__after_atomic()			windowed_barrier()	/* a place */
#define xprt_add_backlog_noncongested		windowed_backlog
#define rpcrdma2_offer(co, ex, plan, call, whole, reply, h)	\
	((void)(whole), find_no_region(co))
#include "../xprtrdma2/send.c"
#include "../xprtrdma2/transport.c"

/* Stubs for the other files of the client */
struct rpcrdma2_param xprt2_param_slots = { XPRT2_SLOTS_MIN };
struct rpcrdma2_param xprt2_param_backward_credits = { 1 };
const char *xprt2_netid(bool v6) { return "rdma2"; }

#define ENTRIES		8
#define KEPT		2
/* all requests of a transport */
#define REQUESTS	(XPRT2_SLOTS_MIN + XPRT2_SEND_BATCH)

/**
 * struct fixture - a transport, and its connection without a device
 * @xp: the transport
 * @ep: its endpoint, with ENTRIES Send Queue entries, KEPT of them reserved
 * @id: identifier of the connection
 * @pd: its protection domain
 * @reqs: requests in use
 * @task: task that waits for one
 */
static struct fixture {
	struct xprt2_xprt	*xp;
	struct xprt2_ep		ep;
	struct rdma_cm_id	id;
	struct ib_pd		pd;
	struct xprt2_req	*reqs[REQUESTS];
	struct rpc_task		task;
} *fixture;

static void room(struct rpcrdma2_conn *co)
{
	xprt_write_space(&xprt2_conn_to_ep(co)->ep_xp->xp_xprt);
}

static const struct rpcrdma2_conn_ops ops = { .room = room };

static int room_init(struct kunit *test)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct xprt_create args = {
		.net		= &init_net,
		.dstaddr	= (struct sockaddr *)&address,
		.addrlen	= sizeof(address),
	};
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct rpc_xprt *xprt;

	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_ASSERT_EQ(test, xprt2_reqs_start(), 0);
	xprt = xprt2_setup(&args);
	KUNIT_ASSERT_FALSE(test, IS_ERR(xprt));
	fixture = f;
	test->priv = f;
	window = NOWHERE;
	f->xp = xprt2_from_xprt(xprt);
	f->ep.ep_xp = f->xp;
	rpcrdma2_conn_init(&f->ep.ep_conn, &ops);
	rpcrdma2_regions_init(&f->ep.ep_conn);
	f->ep.ep_conn.co_id = &f->id;
	f->ep.ep_conn.co_pd = &f->pd;
	rpcrdma2_sq_open(&f->ep.ep_conn, ENTRIES, KEPT, ENTRIES, 0);
	f->task.tk_runstate = BIT(RPC_TASK_ACTIVE);
	/* the task that sends */
	set_bit(XPRT_LOCKED, &xprt->state);
	return 0;
}

static void room_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	if (!f)
		return;
	xprt2_free(f->xp);
	KUNIT_EXPECT_TRUE(test, list_empty(&xprt2_transports));
	xprt2_reqs_stop();
}

/* The RPC layer sends nothing meanwhile. */
static bool waits(void)
{
	return test_bit(XPRT_WRITE_SPACE, &fixture->xp->xp_xprt.state);
}

static struct xprt2_req *get_request(struct kunit *test)
{
	struct xprt2_xprt *xp = fixture->xp;
	struct xprt2_req *req = xprt2_req_get(xp, &xp->xp_forward, true, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, req);
	req->rq2_slot.rq_xprt = &xp->xp_xprt;
	return req;
}

/* All entries that Calls can take are in use, and a Call needs four. */
static bool take_four(struct kunit *test, enum place at, void (*act)(void))
{
	struct fixture *f = fixture;
	struct xprt2_req *req = get_request(test);
	bool taken;

	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&f->ep.ep_conn, ENTRIES - KEPT, false));
	open_window(at, act);
	taken = xprt2_send_take_entries(&f->ep, req, 4);
	expect_passed(test);
	xprt2_req_put(req);
	return taken;
}

static void give_four(void)
{
	rpcrdma2_sq_give(&fixture->ep.ep_conn, 4);
}

static void give_one(void)
{
	rpcrdma2_sq_give(&fixture->ep.ep_conn, 1);
}

static void give_three(void)
{
	rpcrdma2_sq_give(&fixture->ep.ep_conn, 3);
}

/* Entries that come back wake a Call that waits for them. */
static void entries_after_wait(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, take_four(test, NOWHERE, NULL));
	KUNIT_EXPECT_TRUE(test, waits());
	give_four();
	KUNIT_EXPECT_FALSE(test, waits());
}

/* The Call has entries that come back before the RPC layer knows that it waits. */
static void entries_before_wait(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, take_four(test, BEFORE_WAIT, give_four));
	KUNIT_EXPECT_FALSE(test, waits());
}

/* Entries that come back after that are the Call's, or it does not sleep. */
static void entries_before_second_look(struct kunit *test)
{
	bool taken = take_four(test, BEHIND_BARRIER, give_four);

	KUNIT_EXPECT_FALSE(test, waits());
	if (taken)
		KUNIT_EXPECT_EQ(test, atomic_read(&fixture->ep.ep_conn.co_sq.sq_units.un_free),
				KEPT);
}

/* The Call waits for the rest, if some of its entries have come back before. */
static void some_entries_before_wait(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, take_four(test, BEFORE_WAIT, give_one));
	KUNIT_EXPECT_TRUE(test, waits());
	give_three();
	KUNIT_EXPECT_FALSE(test, waits());
}

/* The size of a payload for which a Call has a Write chunk */
#define PAYLOAD		(16 * PAGE_SIZE)

/* A Call with these sizes of its head, of the payload in its pages, and of the Reply's payload */
static struct xprt2_req *encoded_call(struct kunit *test, struct rpc_cred *cred, u32 head,
				      u32 payload, u32 reply)
{
	struct fixture *f = fixture;
	struct xprt2_req *req = get_request(test);
	struct rpc_rqst *rqst = &req->rq2_slot;
	struct page **pages = kunit_kzalloc(test, (PAYLOAD >> PAGE_SHIFT) * sizeof(*pages),
					    GFP_KERNEL);

	f->id.device = kunit_kzalloc(test, sizeof(*f->id.device), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->id.device);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	f->ep.ep_vers = RPCRDMA2_VERS_TWO;
	f->ep.ep_grant = 1;
	f->ep.ep_limits = (struct rpcrdma2_call_limits)RPCRDMA2_NO_LIMITS;
	f->ep.ep_max_sge = XPRT2_MIN_SGE;
	f->ep.ep_call_threshold = RPCRDMA2_INLINE_DEFAULT;
	f->ep.ep_reply_threshold = RPCRDMA2_INLINE_DEFAULT;
	f->ep.ep_conn.co_regions.rg_depth = XPRT2_REGION_PAGES;
	rqst->rq_cred = cred;
	rqst->rq_callsize = 2 * head;
	rqst->rq_rcvsize = 100;
	KUNIT_ASSERT_EQ(test, xprt2_req_buffers(req, GFP_KERNEL), 0);
	xdr_buf_init(&rqst->rq_snd_buf, rqst->rq_buffer, rqst->rq_callsize);
	rqst->rq_snd_buf.head[0].iov_len = head;
	rqst->rq_snd_buf.pages = pages;
	rqst->rq_snd_buf.page_len = payload;
	rqst->rq_snd_buf.len = head + payload;
	xdr_buf_init(&rqst->rq_rcv_buf, rqst->rq_rbuffer, 100);
	rqst->rq_rcv_buf.pages = pages;
	rqst->rq_rcv_buf.page_len = reply;
	rqst->rq_rcv_buf.buflen += reply;
	rqst->rq_rcv_buf.flags |= reply ? XDRBUF_READ : 0;
	return req;
}

/* A Call with a chunk finds no region. The region that it needs comes back at @at. */
static void call_without_region(struct kunit *test, enum place at, void (*act)(void))
{
	struct rpc_auth auth = { .au_flavor = RPC_AUTH_UNIX };
	struct rpc_cred cred = { .cr_auth = &auth };
	struct xprt2_req *req = encoded_call(test, &cred, 100, 0, PAYLOAD);
	struct fixture *f = fixture;

	open_window(at, act);
	KUNIT_EXPECT_EQ(test, xprt2_marshal_call(&f->ep, req), -EAGAIN);
	expect_passed(test);
	f->ep.ep_conn.co_regions.rg_needed = 0;
	cancel_delayed_work_sync(&f->ep.ep_conn.co_regions.rg_refill);
	xprt2_req_put(req);
	xprt2_reqs_detach(f->xp);
}

/* Copies the message of a prepared Send. The DMA addresses are kernel addresses. */
static void *message_of(struct kunit *test, const struct xprt2_req *req, u32 len)
{
	char *copy = kunit_kzalloc(test, len, GFP_KERNEL);
	unsigned int i;
	u32 at = 0;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	for (i = 0; i < req->rq2_wr.num_sge; i++) {
		KUNIT_ASSERT_LE(test, at + req->rq2_sge[i].length, len);
		memcpy(copy + at, (void *)(uintptr_t)req->rq2_sge[i].addr,
		       req->rq2_sge[i].length);
		at += req->rq2_sge[i].length;
	}
	KUNIT_EXPECT_EQ(test, at, len);
	return copy;
}

/*
 * X2: the RPC layer encodes a Call again while a device may still read its first Send, after a
 * timeout, or when a connection is closed. The same words are written in the same places, and the
 * message does not change: neither its payload nor the tail that the RPC layer puts behind the
 * head.
 */
static void x2_encoded_again(struct kunit *test)
{
	struct rpc_auth auth = { .au_flavor = RPC_AUTH_UNIX };
	struct rpc_cred cred = { .cr_auth = &auth };
	struct xprt2_req *req = encoded_call(test, &cred, 100, 512, 0);
	struct xdr_buf *buf = &req->rq2_slot.rq_snd_buf, encoded;
	u32 hdrlen = RPCRDMA2_HDR_MIN, len = hdrlen + 100 + 512 + 8;
	char *first, *again, *end;

	buf->pages[0] = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
	KUNIT_ASSERT_NOT_NULL(test, buf->pages[0]);
	memset(page_address(buf->pages[0]), 'P', 512);
	end = memset(buf->head[0].iov_base, 'H', 100) + 100;
	buf->tail[0].iov_base = memset(end, 'T', 8);
	buf->tail[0].iov_len = 8;
	buf->len += 8;
	encoded = *buf;
	KUNIT_ASSERT_EQ(test, xprt2_marshal_call(&fixture->ep, req), 0);
	first = message_of(test, req, len);
	KUNIT_EXPECT_EQ(test, first[hdrlen + 99], 'H');
	KUNIT_EXPECT_EQ(test, first[hdrlen + 100], 'P');
	KUNIT_EXPECT_EQ(test, first[hdrlen + 611], 'P');
	KUNIT_EXPECT_EQ(test, first[hdrlen + 612], 'T');

	*buf = encoded;
	memset(end, 'T', 8);
	again = message_of(test, req, len);
	KUNIT_EXPECT_MEMEQ(test, again, first, len);
	KUNIT_EXPECT_EQ(test, xprt2_marshal_call(&fixture->ep, req), 0);
	KUNIT_EXPECT_MEMEQ(test, message_of(test, req, len), first, len);

	__free_page(buf->pages[0]);
	xprt2_req_put(req);
	xprt2_reqs_detach(fixture->xp);
}

/* The Reply to a Call of the server, with this payload */
static struct xprt2_req *encoded_reply(struct kunit *test, u32 payload)
{
	struct fixture *f = fixture;
	struct xprt2_req *req = xprt2_backward_req(f->xp, true, GFP_KERNEL);
	unsigned int i, n = DIV_ROUND_UP(payload, PAGE_SIZE);
	struct xdr_buf *buf;

	KUNIT_ASSERT_NOT_NULL(test, req);
	f->id.device = kunit_kzalloc(test, sizeof(*f->id.device), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->id.device);
	f->ep.ep_max_sge = XPRT2_MIN_SGE;
	buf = &req->rq2_slot.rq_snd_buf;
	buf->pages = kunit_kzalloc(test, n * sizeof(*buf->pages), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf->pages);
	buf->pages[0] = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
	KUNIT_ASSERT_NOT_NULL(test, buf->pages[0]);
	for (i = 1; i < n; i++)
		buf->pages[i] = buf->pages[0];
	buf->page_len = payload;
	buf->head[0].iov_len = 100;
	buf->len = 100 + payload;
	return req;
}

static void put_reply(struct xprt2_req *req)
{
	__free_page(req->rq2_slot.rq_snd_buf.pages[0]);
	xprt2_req_put(req);
	xprt2_reqs_detach(fixture->xp);
}

/* A Reply's payload is copied behind the page that the callback service encodes in. */
static void copied_payload_of_a_reply(struct kunit *test)
{
	const struct rpcrdma2_call_plan plan = { .cp_proc = RDMA2_MSG };
	struct xprt2_req *req = encoded_reply(test, 512);
	struct xdr_buf *buf = &req->rq2_slot.rq_snd_buf;
	struct fixture *f = fixture;
	char *end, *sent;

	memset(page_address(buf->pages[0]), 'P', 512);
	end = memset(buf->head[0].iov_base, 'H', 100) + 100;
	buf->tail[0].iov_base = memset(end, 'T', 8);
	buf->tail[0].iov_len = 8;
	buf->len += 8;
	KUNIT_ASSERT_EQ(test, xprt2_req_map(&f->ep, req), 0);
	req->rq2_small = true;
	KUNIT_EXPECT_EQ(test, xprt2_prepare_send(&f->ep, req, 0, &plan), 0);
	sent = message_of(test, req, buf->len);
	KUNIT_EXPECT_MEMEQ(test, sent, buf->head[0].iov_base, 100);
	KUNIT_EXPECT_MEMEQ(test, sent + 100, page_address(buf->pages[0]), 512);
	KUNIT_EXPECT_MEMEQ(test, sent + 612, end, 8);
	KUNIT_EXPECT_EQ(test, *end, 'T');
	put_reply(req);
}

/* The task of a Reply waits for a Send that uses its pages, and for no other. */
static void reply_waits_for_its_pages(struct kunit *test)
{
	static const struct {
		u32	payload;
		bool	waits;
	} cases[] = { { 512, false }, { XPRT2_PULLUP_MAX + 1, true } };
	struct fixture *f = fixture;
	struct xprt2_req *req;
	unsigned int i;

	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&f->ep.ep_conn, ENTRIES, true));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		req = encoded_reply(test, cases[i].payload);
		KUNIT_EXPECT_EQ(test, xprt2_post_backward(&f->ep, req, 0, RDMA2_MSG, false),
				-EAGAIN);
		KUNIT_EXPECT_EQ(test, xprt2_req_post(req)->po_timed, cases[i].waits);
		put_reply(req);
	}
}

/*
 * X2: an RPC that ends revokes memory that the server or the device may use. A backward Reply does
 * not: its task waits for the Send later, and the server has nothing to answer.
 */
static void x2_reply_revokes_nothing(struct kunit *test)
{
	struct xprt2_req *call = get_request(test), *reply = encoded_reply(test, 512);
	struct fixture *f = fixture;

	call->rq2_num_mapped = 1;
	reply->rq2_num_mapped = 1;
	revokes = 0;
	f->task.tk_rqstp = &reply->rq2_slot;
	xprt2_ops.buf_free(&f->task);
	KUNIT_EXPECT_EQ(test, revokes, 0);
	f->task.tk_rqstp = &call->rq2_slot;
	xprt2_ops.buf_free(&f->task);
	KUNIT_EXPECT_EQ(test, revokes, 1);
	f->task.tk_rqstp = NULL;
	xprt2_req_put(call);
	put_reply(reply);
}

/* A region of another RPC comes back: see rpcrdma2_regions_kunit.c for all of it. */
static void region_back(void)
{
	fixture->ep.ep_conn.co_regions.rg_needed = 0;
	room(&fixture->ep.ep_conn);
}

/* A Call that finds no region sleeps, unless one has come back before. */
static void region_before_wait(struct kunit *test)
{
	call_without_region(test, NOWHERE, NULL);
	KUNIT_EXPECT_TRUE(test, waits());
	xprt_write_space(&fixture->xp->xp_xprt);
	call_without_region(test, BEFORE_WAIT, region_back);
	KUNIT_EXPECT_FALSE(test, waits());
}

static void put_first(void)
{
	struct fixture *f = fixture;

	xprt2_req_put(f->reqs[0]);
	f->reqs[0] = NULL;
}

/* All requests are in use. A task needs one, and one comes back at @at. */
static void await_request(struct kunit *test, enum place at)
{
	struct fixture *f = fixture;
	unsigned int i;

	for (i = 0; i < REQUESTS; i++)
		f->reqs[i] = get_request(test);
	open_window(at, put_first);
	xprt2_alloc_slot(&f->xp->xp_xprt, &f->task);
	expect_passed(test);
}

/* The task is awake with that request, and the others come back. */
static void expect_request(struct kunit *test)
{
	struct rpc_xprt *xprt = &fixture->xp->xp_xprt;
	struct rpc_task *task = &fixture->task;
	unsigned int i;

	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(task));
	KUNIT_EXPECT_EQ(test, xprt->backlog.qlen, 0);
	KUNIT_EXPECT_NOT_NULL(test, task->tk_rqstp);
	rpc_wake_up_queued_task(&xprt->backlog, task);
	if (task->tk_rqstp) {
		task->tk_rqstp->rq_xprt = xprt;
		xprt2_free_slot(xprt, task->tk_rqstp);
	}
	for (i = 0; i < REQUESTS; i++)
		if (fixture->reqs[i])
			xprt2_req_put(fixture->reqs[i]);
	KUNIT_EXPECT_TRUE(test, xprt2_pool_is_whole(&fixture->xp->xp_forward));
}

/* A request that comes back wakes a task in the backlog. */
static void request_after_wait(struct kunit *test)
{
	await_request(test, NOWHERE);
	KUNIT_EXPECT_TRUE(test, RPC_IS_QUEUED(&fixture->task));
	put_first();
	expect_request(test);
}

/* The same for a request that comes back before the task is in the backlog, or just afterwards */
static void request_before_wait(struct kunit *test)
{
	await_request(test, BEFORE_WAIT);
	expect_request(test);
}

static void request_before_second_look(struct kunit *test)
{
	await_request(test, BEHIND_BARRIER);
	expect_request(test);
}

/* The RPC layer's use of a transport for a swap file reaches the regions of its connection. */
static void regions_stay_for_swap(struct kunit *test)
{
	struct rpcrdma2_regions *rg = &fixture->ep.ep_conn.co_regions;
	struct rpc_xprt *xprt = &fixture->xp->xp_xprt;

	rg->rg_depth = XPRT2_MAX_PAGES;
	rg->rg_num = 1 + 2 + XPRT2_OTHER_SEGS;	/* there is nothing to allocate or free */
	fixture->xp->xp_ep = &fixture->ep;
	KUNIT_EXPECT_EQ(test, xprt2_ops.enable_swap(xprt), 0);
	KUNIT_EXPECT_EQ(test, rg->rg_keep, rg->rg_num);
	KUNIT_EXPECT_TRUE(test, fixture->ep.ep_conn.co_swaps);
	rg->rg_num = 1;
	xprt2_ops.disable_swap(xprt);
	KUNIT_EXPECT_FALSE(test, fixture->ep.ep_conn.co_swaps);
	KUNIT_EXPECT_EQ(test, rg->rg_keep, 1);
	fixture->xp->xp_ep = NULL;
}

/* A transport is listed from its first connect on, and once. */
static void listed_once(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, list_empty(&xprt2_transports));
	xprt2_list_transport(fixture->xp);
	xprt2_list_transport(fixture->xp);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&xprt2_transports), 1);
	KUNIT_EXPECT_PTR_EQ(test, xprt2_transports.next, &fixture->xp->xp_listed);
}

/*
 * A reader of the list does not put the last reference of a transport that was destroyed
 * meanwhile: xprt_put() would wait for XPRT_LOCKED, which a connect may hold for a minute.
 */
static void last_reference(struct kunit *test)
{
	struct xprt2_xprt *xp = fixture->xp;
	refcount_t *references = &xp->xp_xprt.kref.refcount;

	queued = NULL;
	puts = 0;
	xprt2_list_transport(xp);
	KUNIT_ASSERT_PTR_EQ(test, xprt2_next_transport(NULL), xp);
	KUNIT_EXPECT_EQ(test, refcount_read(references), 2);
	KUNIT_EXPECT_NULL(test, xprt2_next_transport(xp));
	KUNIT_EXPECT_EQ(test, refcount_read(references), 1);
	KUNIT_EXPECT_NULL(test, queued);

	KUNIT_ASSERT_PTR_EQ(test, xprt2_next_transport(NULL), xp);
	refcount_dec(references);	/* the RPC layer's */
	KUNIT_EXPECT_NULL(test, xprt2_next_transport(xp));
	KUNIT_EXPECT_EQ(test, puts, 0);
	KUNIT_ASSERT_PTR_EQ(test, queued, &xp->xp_put_work);
	queued->func(queued);
	KUNIT_EXPECT_EQ(test, puts, 1);
}

static struct kunit_case room_cases[] = {
	KUNIT_CASE(regions_stay_for_swap),
	KUNIT_CASE(listed_once),
	KUNIT_CASE(last_reference),
	KUNIT_CASE(entries_after_wait),
	KUNIT_CASE(entries_before_wait),
	KUNIT_CASE(entries_before_second_look),
	KUNIT_CASE(some_entries_before_wait),
	KUNIT_CASE(region_before_wait),
	KUNIT_CASE(x2_encoded_again),
	KUNIT_CASE(copied_payload_of_a_reply),
	KUNIT_CASE(reply_waits_for_its_pages),
	KUNIT_CASE(x2_reply_revokes_nothing),
	KUNIT_CASE(request_after_wait),
	KUNIT_CASE(request_before_wait),
	KUNIT_CASE(request_before_second_look),
	{}
};

static struct kunit_suite room_suite = {
	.name		= "xprtrdma2_room",
	.init		= room_init,
	.exit		= room_exit,
	.test_cases	= room_cases,
};

kunit_test_suite(room_suite);
