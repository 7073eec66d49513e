// SPDX-License-Identifier: GPL-2.0
/*
 * Resources of a client's connection for callbacks, by the level of backward operation in
 * force. The suite creates no connection: the limits of the device suffice.
 */
#include <kunit/test.h>

#include "../xprtrdma2/xprtrdma2.h"
#include "fake_queues.h"

/* no trace events of a second module */
#define _XPRTRDMA2_TRACE_H
#define trace_xprt2_connect(...)	do { } while (0)

/* Steps of a connect attempt: the address is resolved, the others have an error */
static struct rdma_cm_id *created;
static int step_error;
static int resolve_addr(struct rdma_cm_id *id);
#undef rdma_create_id
#define rdma_create_id(net, handler, context, ps, type)	(created)
#define rdma_resolve_addr(id, src, dst, timeout)	((void)(dst), resolve_addr(id))
#define rdma_resolve_route(id, timeout)			(step_error)
#define rdma_connect(id, param)				((void)(param), step_error)
#define rdma_set_min_rnr_timer(id, timer)		((void)(id))

#define rpcrdma2_regions_grow(co)			(0)

#undef pr_fmt
#include "../xprtrdma2/connect.c"

/* Stubs for the other files of the client, except for props.c: see xprtrdma2_props_kunit.c */
DEFINE_PER_CPU(u64 [XPRT2_C_COUNT], xprt2_counters);
struct workqueue_struct *xprt2_wq;
struct rpcrdma2_param xprt2_param_receive_size = { RPCRDMA2_INLINE_DEFAULT };
struct rpcrdma2_param xprt2_param_send_size = { RPCRDMA2_INLINE_DEFAULT };
struct rpcrdma2_param xprt2_param_backward;

void xprt2_begin_version(struct xprt2_ep *ep) { }
void xprt2_end_version(struct xprt2_ep *ep) { }
void xprt2_trial_lost(struct xprt2_ep *ep) { }
int xprt2_negotiate(struct xprt2_ep *ep) { return 0; }
u32 xprt2_post_receives(struct xprt2_ep *ep, u32 credits, gfp_t gfp)
{
	ep->ep_recvs_posted = rpcrdma2_receives_needed(1, 0);
	return credits;
}

void xprt2_received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
		    const struct ib_wc *wc)
{
}

void xprt2_trial_timeout(struct work_struct *work) { }

#define SLOTS	128
#define CREDITS	16
/* three regions of up to 258 pages, and 16 callbacks */
#define DEPTH	xprt2_sq_depth(SLOTS, 3, CREDITS)

/**
 * struct endpoint - an endpoint over a device without limits
 * @xp: its transport
 * @ep: the endpoint
 * @id: its identifier
 * @device: its device
 * @ports: its ports; port 1 is in use
 * @size: resources of the endpoint
 */
struct endpoint {
	struct xprt2_xprt	xp;
	struct xprt2_ep		ep;
	struct rdma_cm_id	id;
	struct ib_device	device;
	struct ib_port_data	ports[2];
	struct rpcrdma2_conn_size size;
};

static struct endpoint *endpoint_for_level(struct kunit *test, u32 level, u32 port,
					   u32 threshold)
{
	struct endpoint *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	rpcrdma2_conn_init(&f->ep.ep_conn, &xprt2_conn_ops);
	rpcrdma2_regions_init(&f->ep.ep_conn);
	rpcrdma2_rpool_init(&f->xp.xp_rpool);
	f->ports[1].immutable.core_cap_flags = port;
	f->device.port_data = f->ports;
	f->device.phys_port_cnt = 1;
	f->device.attrs = (struct ib_device_attr){
		.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
		.max_qp_wr = 4096, .max_cqe = 4096, .max_mr = 65536,
		.max_send_sge = 32, .max_recv_sge = 32, .max_sge_rd = 32,
		.max_sgl_rd = threshold, .max_qp_init_rd_atom = 128,
		.max_fast_reg_page_list_len = 512,
	};
	f->id.device = &f->device;
	f->id.port_num = 1;
	f->ep.ep_conn.co_id = &f->id;
	f->ep.ep_xp = &f->xp;
	f->xp.xp_xprt.max_reqs = SLOTS;
	f->xp.xp_backward_target = CREDITS;
	xprt2_param_backward.pm_value = level;
	KUNIT_ASSERT_EQ(test, xprt2_ep_check_device(&f->ep, &f->size), 0);
	/* The entries for Calls, and for messages without chunks, do not depend on the level. */
	KUNIT_EXPECT_EQ(test, f->ep.ep_max_reqs, SLOTS);
	KUNIT_EXPECT_EQ(test, f->size.sends - XPRT2_DRAIN_WRS,
			f->ep.ep_conn.co_sq.sq_entries);
	KUNIT_EXPECT_EQ(test, f->ep.ep_conn.co_sq.sq_entries,
			DEPTH + atomic_read(&f->ep.ep_chunk_units.un_free));
	return f;
}

static const u32 roce = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
static const u32 iwarp = RDMA_CORE_PORT_IWARP;

static const struct level_case {
	const char	*desc;
	u32		level;
	const u32	*port;
	bool		takes;
} level_cases[] = {
	{ "C-035 NONE", RDMA2_BKREQSUP_NONE, &roce, false },
	{ "C-036 INLINE", RDMA2_BKREQSUP_INLINE, &roce, false },
	{ "C-037 GENL", RDMA2_BKREQSUP_GENL, &roce, true },
	{ "C-037 GENL over iWARP", RDMA2_BKREQSUP_GENL, &iwarp, false },
};

KUNIT_ARRAY_PARAM_DESC(level, level_cases, desc);

/* Two of the longest chains: 24 parts, and 257 pages in Reads of 19 pages */
static void entries(struct kunit *test)
{
	const struct level_case *c = test->param_value;
	struct endpoint *f = endpoint_for_level(test, c->level, *c->port, 0);

	KUNIT_EXPECT_EQ(test, f->ep.ep_chunk_max, c->takes ? 39 : 0);
	KUNIT_EXPECT_EQ(test, f->size.sends,
			DEPTH + (c->takes ? 2 * 39 : 0) + XPRT2_DRAIN_WRS);
}

/* B-09: the client grants four Calls at first, or as many as the parameter if these are fewer. */
static void first_grant(struct kunit *test)
{
	static const u32 grants[][2] = {	/* parameter, first */
		{ 1, 1 }, { 2, 2 }, { 4, 4 }, { 16, 4 },
	};
	struct endpoint *f = endpoint_for_level(test, RDMA2_BKREQSUP_INLINE, roce, 0);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(grants); i++) {
		f->xp.xp_backward_target = grants[i][0];
		KUNIT_ASSERT_EQ(test, xprt2_ep_check_device(&f->ep, &f->size), 0);
		KUNIT_EXPECT_EQ(test, f->xp.xp_backward_credits, grants[i][0]);
		KUNIT_EXPECT_EQ(test, f->ep.ep_backward_next, grants[i][1]);
	}
}

/*
 * A device with the least queues has entries for the largest Call, behind Sends that no completion
 * covers, and memory regions for it. A device with less is refused.
 */
static void least_device(struct kunit *test)
{
	static const struct {
		unsigned int pages, regions, wrs;
	} least[] = { { 512, 6, 96 }, { 19, 19, 122 } };
	struct rpcrdma2_units *un;
	struct ib_device_attr *at;
	struct endpoint *f;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(least); i++) {
		f = endpoint_for_level(test, RDMA2_BKREQSUP_GENL, roce, 0);
		at = &f->device.attrs;
		at->max_fast_reg_page_list_len = least[i].pages;
		at->max_mr = least[i].regions;
		at->max_qp_wr = least[i].wrs;
		KUNIT_ASSERT_EQ(test, xprt2_ep_check_device(&f->ep, &f->size), 0);
		KUNIT_EXPECT_EQ(test, f->size.sends, least[i].wrs);
		KUNIT_EXPECT_EQ(test, f->ep.ep_conn.co_regions.rg_max, least[i].regions);
		un = &f->ep.ep_conn.co_sq.sq_units;
		KUNIT_EXPECT_TRUE(test, rpcrdma2_units_take(un, XPRT2_SEND_BATCH - 1,
							    un->un_reserved));
		KUNIT_EXPECT_TRUE(test, rpcrdma2_units_take(un, 2 * least[i].regions + 1,
							    un->un_reserved));
		at->max_qp_wr--;
		KUNIT_EXPECT_EQ(test, xprt2_ep_check_device(&f->ep, &f->size), -EOPNOTSUPP);
		at->max_qp_wr++;
		at->max_cqe = least[i].wrs - 1;
		KUNIT_EXPECT_EQ(test, xprt2_ep_check_device(&f->ep, &f->size), -EOPNOTSUPP);
		at->max_cqe = least[i].wrs;
		KUNIT_EXPECT_EQ(test, xprt2_ep_check_device(&f->ep, &f->size), 0);
		at->max_mr--;
		KUNIT_EXPECT_EQ(test, xprt2_ep_check_device(&f->ep, &f->size), -EOPNOTSUPP);
	}
}

/*
 * Without chunks, parts have no size. With chunks, each part ends below the threshold for
 * reads by regions. Over iWARP all RDMA Reads need regions.
 */
static void regions(struct kunit *test)
{
	const struct level_case *c = test->param_value;
	struct endpoint *f = endpoint_for_level(test, c->level, *c->port, 16);

	KUNIT_EXPECT_EQ(test, f->size.rw_mrs, 0);
	KUNIT_EXPECT_EQ(test, !!f->size.rw_pages, c->takes);
}

static void depth(struct kunit *test)
{
	const struct level_case *c = test->param_value;
	struct endpoint *f = endpoint_for_level(test, c->level, *c->port, 0);

	KUNIT_EXPECT_EQ(test, xprt2_ep_initiator_depth(&f->ep),
			c->takes ? CREDITS : 0);
}

/*
 * Drivers that count blocks of 64 bytes refuse queues of fewer than max_qp_wr entries. The client
 * halves the larger queue, down to 256 entries: callbacks beyond the default are reduced first.
 */
static void refused_queues(struct kunit *test)
{
	static const struct {
		unsigned int slots, callbacks, most;
		int error, ret;
		unsigned int attempts, got, got_callbacks;
	} cases[] = {
		{ 1024, 16, 1449, -EINVAL, 0, 1, 1024, 16 },
		{ 1024, 16, 1448, -EINVAL, 0, 2, 480, 16 },
		{ 1024, 16, 400, -ENOMEM, 0, 3, 208, 16 },
		{ 64, 256, 600, -EINVAL, 0, 2, 64, 64 },
		{ 1024, 16, 0, -ENOMEM, -ENOMEM, 4, 129, 16 },
		{ 64, 16, 0, -EINVAL, -EINVAL, 1, 64, 16 },
		{ 1024, 16, 512, -EIO, -EIO, 1, 1024, 16 },
	};
	struct endpoint *f;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		f = endpoint_for_level(test, RDMA2_BKREQSUP_INLINE, roce, 0);
		f->xp.xp_xprt.max_reqs = cases[i].slots;
		f->xp.xp_backward_target = cases[i].callbacks;
		most_entries = cases[i].most;
		refusal = cases[i].error;
		attempts = 0;
		KUNIT_EXPECT_EQ(test, xprt2_ep_create_queues(&f->ep), cases[i].ret);
		KUNIT_EXPECT_EQ(test, attempts, cases[i].attempts);
		KUNIT_EXPECT_EQ(test, f->ep.ep_max_reqs, cases[i].got);
		KUNIT_EXPECT_EQ(test, f->xp.xp_backward_credits, cases[i].got_callbacks);
	}
}

/* B-04: the chunks of an earlier attempt leave no entries to a later one without chunks. */
static void no_chunks_left(struct kunit *test)
{
	struct endpoint *f = endpoint_for_level(test, RDMA2_BKREQSUP_GENL, roce, 0);

	KUNIT_EXPECT_NE(test, f->ep.ep_chunk_max, 0);
	xprt2_param_backward.pm_value = RDMA2_BKREQSUP_INLINE;
	KUNIT_ASSERT_EQ(test, xprt2_ep_check_device(&f->ep, &f->size), 0);
	KUNIT_EXPECT_EQ(test, f->ep.ep_chunk_max, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->ep.ep_chunk_units.un_free), 0);
}

/* A device without free entries for chunks */
static void device_without_entries(struct kunit *test)
{
	struct rpcrdma2_conn_size size = { .send_sges = 19 };
	struct endpoint *f;

	f = endpoint_for_level(test, RDMA2_BKREQSUP_INLINE, roce, 0);
	xprt2_param_backward.pm_value = RDMA2_BKREQSUP_GENL;
	KUNIT_EXPECT_EQ(test, xprt2_ep_size_backward(&f->ep, 77, &size), 0);
	KUNIT_EXPECT_EQ(test, f->ep.ep_chunk_max, 0);
	KUNIT_EXPECT_EQ(test, size.rw_mrs, 0);
	KUNIT_EXPECT_EQ(test, xprt2_ep_initiator_depth(&f->ep), 0);
	KUNIT_EXPECT_EQ(test, xprt2_ep_size_backward(&f->ep, 78, &size), 78);
}

/* 1 MiB from any offset in a page; and 1 MiB between a head and a tail (E-26) */
static void one_region(struct kunit *test)
{
	struct endpoint *f = endpoint_for_level(test, RDMA2_BKREQSUP_GENL, roce, 0);
	unsigned int depth = f->ep.ep_conn.co_regions.rg_depth;

	KUNIT_EXPECT_LE(test, (XPRT2_MAX_PAYLOAD >> PAGE_SHIFT) + 1, depth);
	KUNIT_EXPECT_LE(test, 1 + (XPRT2_MAX_PAYLOAD >> PAGE_SHIFT) + 1, depth);
}

/*
 * An RPC that waits for regions holds up the ones behind it, and while a swap file is in use
 * there may be no memory before one of them is done.
 */
static void regions_for_swap(struct kunit *test)
{
	struct endpoint *f = endpoint_for_level(test, RDMA2_BKREQSUP_INLINE, roce, 0);
	struct rpcrdma2_regions *rg = &f->ep.ep_conn.co_regions;

	mutex_init(&f->xp.xp_fence_mutex);
	KUNIT_EXPECT_EQ(test, rg->rg_keep, 1);
	atomic_set(&f->xp.xp_xprt.swapper, 1);
	xprt2_keep_regions(&f->xp);		/* without a connection */
	KUNIT_ASSERT_EQ(test, xprt2_ep_check_device(&f->ep, &f->size), 0);
	KUNIT_EXPECT_EQ(test, rg->rg_keep, 6);
	rg->rg_keep = 1;
	rg->rg_num = 6;
	f->xp.xp_ep = &f->ep;
	xprt2_keep_regions(&f->xp);
	KUNIT_EXPECT_EQ(test, rg->rg_keep, 6);
	rg->rg_num = 1;
	atomic_set(&f->xp.xp_xprt.swapper, 0);
	xprt2_keep_regions(&f->xp);
	KUNIT_EXPECT_EQ(test, rg->rg_keep, 1);
}

/*
 * A server that is out of reach: the error of the step, if the connection is being made; and
 * the end of an established connection (RoCE: its MAC address has changed)
 */
static void out_of_reach(struct kunit *test)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_UNREACHABLE, .status = -ETIMEDOUT
	};
	struct endpoint *f;

	f = endpoint_for_level(test, RDMA2_BKREQSUP_INLINE, roce, 0);
	spin_lock_init(&f->xp.xp_xprt.transport_lock);
	/* no task closes the transport */
	set_bit(XPRT_LOCKED, &f->xp.xp_xprt.state);
	init_completion(&f->ep.ep_done);
	init_completion(&f->ep.ep_answered);
	f->id.context = &f->ep;

	xprt2_cm_handler(&f->id, &event);
	KUNIT_EXPECT_EQ(test, xprt2_ep_await_step(&f->ep, 1), -EHOSTUNREACH);

	atomic_set(&f->ep.ep_conn.co_lost, false);
	atomic_set(&f->ep.ep_conn.co_why, RPCRDMA2_LOSS_NONE);
	atomic_set(&f->ep.ep_state, XPRT2_EP_READY);
	xprt2_cm_handler(&f->id, &event);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_conn_is_lost(&f->ep.ep_conn));
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&f->ep.ep_conn),
			RPCRDMA2_LOSS_UNREACHABLE);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->ep.ep_state), XPRT2_EP_LOST);
	KUNIT_EXPECT_TRUE(test, test_bit(XPRT_CLOSE_WAIT, &f->xp.xp_xprt.state));
}

static int resolve_addr(struct rdma_cm_id *id)
{
	struct xprt2_ep *ep = id->context;

	complete(&ep->ep_done);
	return 0;
}

/* Only negotiation has the client connect again at once. */
static void steps_wait(struct kunit *test)
{
	static const int errors[] = { -EAGAIN, -EINVAL };
	struct endpoint *f;
	unsigned int i;

	f = endpoint_for_level(test, RDMA2_BKREQSUP_INLINE, roce, 0);
	init_completion(&f->ep.ep_done);
	f->id.context = &f->ep;
	created = &f->id;
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		step_error = errors[i];
		KUNIT_EXPECT_EQ(test, xprt2_ep_resolve(&f->ep), i ? errors[i] : -ENETDOWN);
		KUNIT_EXPECT_EQ(test, xprt2_ep_reach(&f->ep), i ? errors[i] : -ENETDOWN);
	}
}

/* The server chooses its lease time, and so the time for a connect: it may be too short. */
static void connect_timeout_has_minimum(struct kunit *test)
{
	static const struct rpc_timeout usual = { .to_initval = 60 * HZ, .to_retries = 2 };
	struct endpoint *f = endpoint_for_level(test, RDMA2_BKREQSUP_INLINE, roce, 0);
	struct rpc_xprt *xprt = &f->xp.xp_xprt;

	spin_lock_init(&xprt->transport_lock);
	xprt->timeout = &usual;
	xprt->connect_timeout = 60 * HZ;
	xprt->max_reconnect_timeout = 300 * HZ;
	xprt2_set_connect_timeout(xprt, 90 * HZ, 400 * HZ);
	KUNIT_EXPECT_EQ(test, xprt->connect_timeout, 60 * HZ);
	KUNIT_EXPECT_PTR_EQ(test, xprt->timeout, &usual);
	xprt2_set_connect_timeout(xprt, 0, 0);
	KUNIT_EXPECT_EQ(test, xprt->connect_timeout, 6 * HZ);
	KUNIT_EXPECT_EQ(test, xprt->timeout->to_initval, 6 * HZ);
	KUNIT_EXPECT_EQ(test, xprt->timeout->to_retries, 2);
	KUNIT_EXPECT_EQ(test, xprt->max_reconnect_timeout, 0);
}

/* A transport whose connections end before they have an identifier */
static struct xprt2_xprt *past_transport(struct kunit *test)
{
	struct endpoint *f = endpoint_for_level(test, RDMA2_BKREQSUP_INLINE, roce, 0);

	mutex_init(&f->xp.xp_fence_mutex);
	spin_lock_init(&f->xp.xp_req_lock);
	spin_lock_init(&f->xp.xp_xprt.transport_lock);
	INIT_LIST_HEAD(&f->xp.xp_all_reqs);
	return &f->xp;
}

/* The timeout of an RPC on the last connection is no excuse for the next one. */
static void timeout_of_last_connection(struct kunit *test)
{
	struct xprt2_xprt *xp = past_transport(test);

	created = ERR_PTR(-ENODEV);
	xp->xp_timed_out = true;
	KUNIT_EXPECT_EQ(test, xprt2_ep_connect_once(xp), -ENODEV);
	KUNIT_EXPECT_EQ(test, xp->xp_past, XPRT2_PAST_FAILED);
}

static const struct error_case {
	const char	*desc;
	int		error;
	int		logged;
} error_cases[] = {
	{ "no error", 0, 0 },
	{ "the connection was lost meanwhile", -ENOTCONN, 0 },
	{ "negotiation needs another connection", -EAGAIN, 0 },
	{ "the server refuses", -ECONNREFUSED, -ECONNREFUSED },
	{ "no memory", -ENOMEM, -ENOMEM },
	{ "no subnet manager", -ENETDOWN, -ENETDOWN },
	{ "the device refuses a call", -EINVAL, -EINVAL },
	{ "the device refuses access", -EACCES, -EACCES },
};

KUNIT_ARRAY_PARAM_DESC(error, error_cases, desc);

/* Errors that RPCs wait out have a line in the log, unless they are part of normal work. */
static void logged_errors(struct kunit *test)
{
	struct xprt2_xprt *xp = kunit_kzalloc(test, sizeof(*xp), GFP_KERNEL);
	const struct error_case *ec = test->param_value;

	KUNIT_ASSERT_NOT_NULL(test, xp);
	xprt2_report_connect(xp, ec->error, xprt2_connect_status(ec->error));
	KUNIT_EXPECT_EQ(test, xp->xp_logged, ec->logged);
	KUNIT_EXPECT_EQ(test, xp->xp_error, xprt2_connect_status(ec->error));
}

static struct kunit_case connect_cases[] = {
	KUNIT_CASE_PARAM(logged_errors, error_gen_params),
	KUNIT_CASE(out_of_reach),
	KUNIT_CASE(timeout_of_last_connection),
	KUNIT_CASE(connect_timeout_has_minimum),
	KUNIT_CASE(steps_wait),
	KUNIT_CASE_PARAM(entries, level_gen_params),
	KUNIT_CASE_PARAM(regions, level_gen_params),
	KUNIT_CASE_PARAM(depth, level_gen_params),
	KUNIT_CASE(first_grant),
	KUNIT_CASE(device_without_entries),
	KUNIT_CASE(refused_queues),
	KUNIT_CASE(no_chunks_left),
	KUNIT_CASE(least_device),
	KUNIT_CASE(one_region),
	KUNIT_CASE(regions_for_swap),
	{}
};

static struct kunit_suite connect_suite = {
	.name		= "xprtrdma2_connect",
	.test_cases	= connect_cases,
};

kunit_test_suite(connect_suite);
