// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: the limit on pending requests, events of the device and the CM, and
 * resources for callbacks.
 *
 * The parts of a connection come from the other suites or are stubs; the suite creates no
 * real connection.
 */
#include <kunit/test.h>

#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/wait_bit.h>
#include <rdma/rw.h>

#include <rpcrdma2/fault.h>
#include <rpcrdma2/props.h>

#include "../svcrdma2/svcrdma2.h"
#include "counters.h"
#include "fake_queues.h"

/* no trace events of a second module */
#define _SVCRDMA2_TRACE_H
#define trace_svc2_event(...)	do { } while (0)
#define trace_svc2_accept(...)	do { } while (0)

/* number of allocations, all of which fail */
static unsigned int created;

static void *fake_kzalloc_node(size_t size)
{
	created++;
	return NULL;
}

/* last event passed to the connection manager */
static enum ib_event_type notified;

static int fake_notify(struct rdma_cm_id *id, enum ib_event_type event)
{
	notified = event;
	return 0;
}

/* calls of rdma_disconnect(), svc_xprt_get(), svc_xprt_put() and svc2_msg_put() */
static unsigned int disconnects, taken, given, freed_calls;
/* the result of rdma_accept() */
static int accepts;

#undef pr_fmt
#undef kzalloc_node
#define kzalloc_node(size, gfp, node)	fake_kzalloc_node(size)
#define rdma_notify			fake_notify
#define rdma_disconnect(id)		((void)(id), disconnects++)
#define rdma_accept(id, param)		((void)(id), (void)(param), accepts)
#define rdma_lock_handler(id)		((void)(id))
#define rdma_unlock_handler(id)		((void)(id))
#define rdma_set_min_rnr_timer(id, timer)	((void)(id))
#define svc_xprt_get(xprt)		((void)(xprt), taken++)
#define svc_xprt_put(xprt)		((void)(xprt), given++)
#define svc_xprt_set_valid(xprt)	((void)(xprt))
#define svc2_msg_put(sp, msg)		((void)(sp), (void)(msg), freed_calls++)
/* no quota */
#define svc2_pages_flush(sp, calls)	((void)(sp), (void)(calls))
#define svc2_wq				system_percpu_wq
#define svc2_unpin_wq			system_percpu_wq
#include "../svcrdma2/transport.c"
#undef rdma_notify
#undef rdma_disconnect
#undef rdma_accept
#undef rdma_lock_handler
#undef rdma_unlock_handler
#undef rdma_set_min_rnr_timer
#undef svc_xprt_get
#undef svc_xprt_put
#undef svc_xprt_set_valid
#undef svc2_msg_put
#undef svc2_pages_flush
#undef rpcrdma2_conn_create
#undef svc2_wq
#undef svc2_unpin_wq

struct rpcrdma2_param svc2_credits;
struct rpcrdma2_param svc2_backward_credits;
struct rpcrdma2_param svc2_receive_size;
struct rpcrdma2_param svc2_send_size;
struct rpcrdma2_param svc2_backward;

/* S46: SVC2_BACKLOG limits the pending requests to connect; the next one takes no memory. */
static void s46_backlog(struct kunit *test)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_CONNECT_REQUEST };
	struct svc2_listener *ls = kunit_kzalloc(test, sizeof(*ls), GFP_KERNEL);
	struct rdma_cm_id *id = kunit_kzalloc(test, sizeof(*id), GFP_KERNEL);
	u64 before = count_of(SVC2_C_accept_failures);

	KUNIT_ASSERT_NOT_NULL(test, ls);
	KUNIT_ASSERT_NOT_NULL(test, id);
	id->context = ls;
	created = 0;
	ls->ls_npending = SVC2_BACKLOG - 1;
	KUNIT_EXPECT_EQ(test, svc2_listen_event(id, &event), -ENOMEM);
	KUNIT_EXPECT_EQ(test, created, 1);
	/* The limit is reached: the CM refuses the request, and destroys its identifier. */
	ls->ls_npending++;
	KUNIT_EXPECT_EQ(test, svc2_listen_event(id, &event), -ENOMEM);
	KUNIT_EXPECT_EQ(test, created, 1);
	KUNIT_EXPECT_EQ(test, ls->ls_npending, SVC2_BACKLOG);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_accept_failures), before + 2);
	/* The server accepts a request. */
	ls->ls_npending--;
	KUNIT_EXPECT_EQ(test, svc2_listen_event(id, &event), -ENOMEM);
	KUNIT_EXPECT_EQ(test, created, 2);
}

static const struct event_case {
	const char		*desc;
	enum ib_event_type	type;
	enum rpcrdma2_loss	why;
} event_cases[] = {
	{ "the first message precedes the CM's last one", IB_EVENT_COMM_EST,
	  RPCRDMA2_LOSS_NONE },
	{ "path migration", IB_EVENT_PATH_MIG, RPCRDMA2_LOSS_NONE },
	{ "the Send Queue is drained",
	  IB_EVENT_SQ_DRAINED, RPCRDMA2_LOSS_NONE },
	{ "the last Receive is used", IB_EVENT_QP_LAST_WQE_REACHED,
	  RPCRDMA2_LOSS_NONE },
	{ "fatal error of the queue pair",
	  IB_EVENT_QP_FATAL, RPCRDMA2_LOSS_QP },
	{ "the peer has sent an invalid request", IB_EVENT_QP_REQ_ERR,
	  RPCRDMA2_LOSS_QP },
	{ "the peer has accessed invalid memory",
	  IB_EVENT_QP_ACCESS_ERR, RPCRDMA2_LOSS_QP },
};

KUNIT_ARRAY_PARAM_DESC(event, event_cases, desc);

static struct svc2_xprt *accepted(struct kunit *test)
{
	struct svc2_xprt *sp = kunit_kzalloc(test, sizeof(*sp), GFP_KERNEL);
	struct rdma_cm_id *id = kunit_kzalloc(test, sizeof(*id), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sp);
	KUNIT_ASSERT_NOT_NULL(test, id);
	rpcrdma2_conn_init(&sp->sp_conn, &svc2_conn_ops);
	rpcrdma2_regions_init(&sp->sp_conn);
	sp->sp_conn.co_id = id;
	id->context = sp;
	INIT_LIST_HEAD(&sp->sp_pending);
	INIT_WORK(&sp->sp_failed, svc2_qp_failed);
	init_waitqueue_head(&sp->sp_waitq);
	/* No svc thread handles the connection. */
	set_bit(XPT_BUSY, &sp->sp_xprt.xpt_flags);
	return sp;
}

static void expect_loss(struct kunit *test, const struct svc2_xprt *sp,
			enum rpcrdma2_loss why)
{
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&sp->sp_conn), why);
	KUNIT_EXPECT_EQ(test, test_bit(XPT_CLOSE, &sp->sp_xprt.xpt_flags),
			why != RPCRDMA2_LOSS_NONE);
}

/*
 * An event that ends the queue pair closes the connection, not in the handler, which may run in a
 * hard interrupt, but in work.
 */
static void events(struct kunit *test)
{
	const struct event_case *c = test->param_value;
	struct ib_event event = { .event = c->type };
	struct svc2_xprt *sp = accepted(test), *freed = accepted(test);

	notified = -1;
	svc2_qp_event(&event, &sp->sp_conn);
	flush_work(&sp->sp_failed);
	expect_loss(test, sp, c->why);
	/* The handler itself, or an event after the end, only records the reason. */
	disable_work_sync(&freed->sp_failed);
	svc2_qp_event(&event, &freed->sp_conn);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&freed->sp_conn), c->why);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_conn_is_lost(&freed->sp_conn));
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_CLOSE, &freed->sp_xprt.xpt_flags));
	/* Only this event makes the CM establish the connection. */
	KUNIT_EXPECT_EQ(test, (int)notified,
			c->type == IB_EVENT_COMM_EST ? (int)IB_EVENT_COMM_EST : -1);
}

static const struct cm_event_case {
	const char			*desc;
	enum rdma_cm_event_type		type;
	enum rpcrdma2_loss		why;
} cm_event_cases[] = {
	{ "the peer has disconnected", RDMA_CM_EVENT_DISCONNECTED,
	  RPCRDMA2_LOSS_PEER },
	{ "the peer is unreachable", RDMA_CM_EVENT_UNREACHABLE,
	  RPCRDMA2_LOSS_UNREACHABLE },
	{ "the last message of the handshake is bad", RDMA_CM_EVENT_CONNECT_ERROR,
	  RPCRDMA2_LOSS_UNREACHABLE },
	{ "the peer has rejected the reply", RDMA_CM_EVENT_REJECTED,
	  RPCRDMA2_LOSS_UNREACHABLE },
	{ "the address has moved to another device", RDMA_CM_EVENT_ADDR_CHANGE,
	  RPCRDMA2_LOSS_ADDRESS },
	{ "the device is removed", RDMA_CM_EVENT_DEVICE_REMOVAL,
	  RPCRDMA2_LOSS_DEVICE },
	{ "the end of TIMEWAIT", RDMA_CM_EVENT_TIMEWAIT_EXIT,
	  RPCRDMA2_LOSS_NONE },
};

KUNIT_ARRAY_PARAM_DESC(cm_event, cm_event_cases, desc);

/* A CM event that makes the peer unreachable closes it, too. */
static void cm_events(struct kunit *test)
{
	const struct cm_event_case *c = test->param_value;
	struct rdma_cm_event event = { .event = c->type };
	struct svc2_xprt *sp = accepted(test);

	KUNIT_EXPECT_EQ(test, svc2_cm_event(sp->sp_conn.co_id, &event), 0);
	expect_loss(test, sp, c->why);
}

/* The port of @sp gets these capabilities. */
static void on_port(struct kunit *test, struct svc2_xprt *sp, u32 caps)
{
	struct ib_device *device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, device);
	device->port_data = kunit_kcalloc(test, 2, sizeof(*device->port_data), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, device->port_data);
	device->port_data[1].immutable.core_cap_flags = caps;
	sp->sp_conn.co_id->device = device;
	sp->sp_conn.co_id->port_num = 1;
	INIT_DELAYED_WORK(&sp->sp_deadline, svc2_not_established);
	INIT_WORK(&sp->sp_unpin, svc2_unpin);
	accepts = 0;
	spin_lock_init(&sp->sp_recv_lock);
	INIT_LIST_HEAD(&sp->sp_short_q);
	INIT_LIST_HEAD(&sp->sp_start_q);
	INIT_LIST_HEAD(&sp->sp_ready_q);
	svc2_sem_init(&sp->sp_mr_sem, NULL, SVC2_C_mr_waits);
	svc2_sem_init(&sp->sp_sq_sem, NULL, SVC2_C_sq_waits);
	taken = 0;
	given = 0;
	disconnects = 0;
	freed_calls = 0;
}

static void accept_on(struct kunit *test, struct svc2_xprt *sp, u32 caps)
{
	on_port(test, sp, caps);
	KUNIT_EXPECT_EQ(test, svc2_conn_accept(sp), 0);
	cancel_delayed_work_sync(&sp->sp_deadline);
}

static void cm_event(struct svc2_xprt *sp, enum rdma_cm_event_type type)
{
	struct rdma_cm_event event = { .event = type };

	svc2_cm_event(sp->sp_conn.co_id, &event);
	flush_work(&sp->sp_unpin);
}

static void end(struct svc2_xprt *sp)
{
	set_bit(XPT_DEAD, &sp->sp_xprt.xpt_flags);
	svc2_detach(&sp->sp_xprt);
}

/*
 * S46: no thread of nfsd calls rdma_disconnect(), and none puts the last reference, while a peer
 * of iWARP delays the end of the handshake. Work disconnects then.
 */
static void s46_iwarp_ended_first(struct kunit *test)
{
	struct svc2_xprt *sp = accepted(test);

	accept_on(test, sp, RDMA_CORE_PORT_IWARP);
	end(sp);
	KUNIT_EXPECT_EQ(test, disconnects, 0);
	KUNIT_EXPECT_EQ(test, taken, 1);
	KUNIT_EXPECT_EQ(test, given, 0);
	cm_event(sp, RDMA_CM_EVENT_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, disconnects, 1);
	KUNIT_EXPECT_EQ(test, given, 1);
}

static void s46_iwarp_established_first(struct kunit *test)
{
	struct svc2_xprt *sp = accepted(test);

	accept_on(test, sp, RDMA_CORE_PORT_IWARP);
	cm_event(sp, RDMA_CM_EVENT_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, disconnects, 0);
	KUNIT_EXPECT_EQ(test, taken, 1);
	KUNIT_EXPECT_EQ(test, given, 1);
	end(sp);
	KUNIT_EXPECT_EQ(test, disconnects, 1);
}

/* The CM has no event behind the removal of the device: work waits in rdma_disconnect(). */
static void s46_iwarp_device_goes(struct kunit *test)
{
	struct svc2_xprt *sp = accepted(test);

	accept_on(test, sp, RDMA_CORE_PORT_IWARP);
	cm_event(sp, RDMA_CM_EVENT_DEVICE_REMOVAL);
	KUNIT_EXPECT_EQ(test, disconnects, 1);
	KUNIT_EXPECT_EQ(test, given, 1);
	end(sp);
	KUNIT_EXPECT_EQ(test, disconnects, 1);
	KUNIT_EXPECT_EQ(test, given, 1);
}

static void s46_iwarp_not_accepted(struct kunit *test)
{
	struct svc2_xprt *sp = accepted(test);

	on_port(test, sp, RDMA_CORE_PORT_IWARP);
	accepts = -ENOMEM;
	KUNIT_EXPECT_EQ(test, svc2_conn_accept(sp), -ENOMEM);
	cancel_delayed_work_sync(&sp->sp_deadline);
	KUNIT_EXPECT_EQ(test, taken, 1);
	KUNIT_EXPECT_EQ(test, given, 1);
	cm_event(sp, RDMA_CM_EVENT_DEVICE_REMOVAL);
	KUNIT_EXPECT_EQ(test, given, 1);
	KUNIT_EXPECT_EQ(test, disconnects, 0);
}

/*
 * S46: Calls that wait end with their connection, even if a Call that the RPC layer has deferred
 * keeps it for minutes. A thread that waits leaves by itself.
 */
static void s46_waiting_calls_end(struct kunit *test)
{
	struct svc2_waiter thread = { .wt_units = 1 };
	struct svc2_xprt *sp = accepted(test);
	struct list_head *queues[] = {
		&sp->sp_short_q, &sp->sp_start_q, &sp->sp_ready_q,
		&sp->sp_mr_sem.se_waiters, &sp->sp_sq_sem.se_waiters,
	};
	struct svc2_msg *calls;
	unsigned int i;

	calls = kunit_kcalloc(test, ARRAY_SIZE(queues), sizeof(*calls), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, calls);
	on_port(test, sp, RDMA_CORE_PORT_IWARP);
	list_add_tail(&thread.wt_list, &sp->sp_sq_sem.se_waiters);
	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		calls[i].sm_wait.wt_call = &calls[i];
		list_add_tail(&calls[i].sm_wait.wt_list, queues[i]);
	}
	end(sp);
	KUNIT_EXPECT_EQ(test, freed_calls, ARRAY_SIZE(queues));
	KUNIT_EXPECT_PTR_EQ(test, sp->sp_sq_sem.se_waiters.next, &thread.wt_list);
	KUNIT_EXPECT_PTR_EQ(test, thread.wt_list.next, &sp->sp_sq_sem.se_waiters);
	for (i = 0; i + 1 < ARRAY_SIZE(queues); i++)
		KUNIT_EXPECT_TRUE(test, list_empty(queues[i]));
}

/* The CM of InfiniBand and RoCE waits for no peer. */
static void s46_roce(struct kunit *test)
{
	struct svc2_xprt *sp = accepted(test);

	accept_on(test, sp, RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP);
	cm_event(sp, RDMA_CM_EVENT_ESTABLISHED);
	cm_event(sp, RDMA_CM_EVENT_DEVICE_REMOVAL);
	KUNIT_EXPECT_EQ(test, taken, 0);
	KUNIT_EXPECT_EQ(test, given, 0);
	KUNIT_EXPECT_EQ(test, disconnects, 0);
}

/* S46: the deadline of the handshake ends a connection, but is not the cause of a flush. */
static void s46_deadline(struct kunit *test)
{
	struct svc2_xprt *sp = accepted(test);

	svc2_not_established(&sp->sp_deadline.work);
	expect_loss(test, sp, RPCRDMA2_LOSS_UNREACHABLE);
	sp = accepted(test);
	svc2_lose(sp, RPCRDMA2_LOSS_FLUSHED);
	svc2_not_established(&sp->sp_deadline.work);
	expect_loss(test, sp, RPCRDMA2_LOSS_FLUSHED);
	sp = accepted(test);
	sp->sp_received = 1;
	svc2_not_established(&sp->sp_deadline.work);
	expect_loss(test, sp, RPCRDMA2_LOSS_NONE);
}

/**
 * struct sizes - the resources that a connection takes, most of them for callbacks
 * @sends: Send Queue entries in all
 * @width: gather entries of each
 * @entries: Send Queue entries, except those of the longest chain
 * @regions: limit on memory regions
 * @depth: number of RDMA Reads that the peer may have outstanding
 */
struct sizes {
	unsigned int	sends;
	unsigned int	width;
	unsigned int	entries;
	unsigned int	regions;
	u8		depth;
};

/* A connection at @level, over a device with @sge_rd gather entries of an RDMA Read */
static struct svc2_xprt *on_device(struct kunit *test, u32 level, u32 sge_rd)
{
	struct ib_device *device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);
	struct svc_serv *serv = kunit_kzalloc(test, sizeof(*serv), GFP_KERNEL);
	struct svc2_xprt *sp = accepted(test);

	KUNIT_ASSERT_NOT_NULL(test, device);
	KUNIT_ASSERT_NOT_NULL(test, serv);
	device->port_data = kunit_kcalloc(test, 2, sizeof(*device->port_data),
					  GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, device->port_data);
	device->port_data[1].immutable.core_cap_flags =
		RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	device->phys_port_cnt = 1;
	device->attrs = (struct ib_device_attr){
		.max_qp_wr = 4096, .max_cqe = 4096, .max_send_sge = 32,
		.max_recv_sge = 32, .max_sge_rd = sge_rd, .max_qp_rd_atom = 128,
		.max_fast_reg_page_list_len = 512,
	};
	sp->sp_conn.co_id->device = device;
	sp->sp_conn.co_id->port_num = 1;
	serv->sv_max_mesg = 1 << 20;
	sp->sp_xprt.xpt_server = serv;
	sp->sp_ird = 16;
	sp->sp_can_invalidate = true;
	svc2_receive_size.pm_value = 4096;
	svc2_credits.pm_value = 64;
	svc2_backward_credits.pm_value = 20;
	svc2_backward.pm_value = level;
	rpcrdma2_exchange_init(&sp->sp_ex, NULL, true);
	return sp;
}

static struct sizes sizes_on_device(struct kunit *test, u32 level, u32 sge_rd)
{
	struct svc2_xprt *sp = on_device(test, level, sge_rd);
	struct rpcrdma2_conn_size size = { };

	KUNIT_ASSERT_EQ(test, svc2_conn_size_queues(sp, &size), 0);
	KUNIT_EXPECT_EQ(test, sp->sp_ex.ex_supported.pr_brs, level);
	KUNIT_EXPECT_EQ(test, sp->sp_sq_depth + 1, size.sends);
	return (struct sizes){
		.sends = size.sends,
		.width = size.send_sges,
		.entries = sp->sp_sq_depth - sp->sp_sq_longest -
			   sp->sp_conn.co_sq.sq_batch,
		.regions = sp->sp_conn.co_regions.rg_max,
		.depth = svc2_conn_responder_resources(sp),
	};
}

static struct sizes sizes_for_level(struct kunit *test, u32 level)
{
	return sizes_on_device(test, level, 32);
}

/*
 * The Send Queue by the table in Documentation/performance.rst: with an entry more it would
 * need the next power of two. The last number holds for pages of 64 KiB.
 */
static void send_queue(struct kunit *test)
{
	static const unsigned int sends[][3] = {
		{ 32, 255, 255 }, { 16, 255, 255 }, { 13, 511, 255 }, { 6, 1023, 255 },
		{ 4, 1023, 255 }, { 1, 4095, 511 },
	};
	unsigned int i, column = 1 + (PAGE_SIZE == 65536);
	struct sizes sz;

	for (i = 0; i < ARRAY_SIZE(sends); i++) {
		sz = sizes_on_device(test, RDMA2_BKREQSUP_INLINE, sends[i][0]);
		KUNIT_EXPECT_EQ(test, sz.sends, sends[i][column]);
		/* more would double the entries of soft-RoCE */
		KUNIT_EXPECT_EQ(test, sz.width, 19);
	}
}

/*
 * S46: the entries reserved for a Reply with the most chunks and segments are in the smallest
 * Send Queue, too. RDMA Writes may be narrower than RDMA Reads. With a single gather entry, which
 * no device has, the reservation is limited: it is more than any Reply takes.
 */
static void s46_largest_reply(struct kunit *test)
{
	static const unsigned int widths[] = { 2, 4, 13, 16, 17, 19, 32 };
	struct rpcrdma2_conn_size size = { };
	unsigned int i, mib, width, pages;
	struct ib_device *device;
	struct svc2_xprt *sp;

	for (mib = 1; mib <= 4; mib *= 4) {
		for (i = 0; i < ARRAY_SIZE(widths); i++) {
			sp = on_device(test, RDMA2_BKREQSUP_GENL, widths[i]);
			sp->sp_xprt.xpt_server->sv_max_mesg = mib << 20;
			device = sp->sp_conn.co_id->device;
			device->attrs.max_send_sge = widths[i];
			device->attrs.max_qp_wr = 1;
			while (svc2_conn_size_queues(sp, &size))
				KUNIT_ASSERT_LE(test, ++device->attrs.max_qp_wr, 2048);
			pages = svc_serv_maxpages(sp->sp_xprt.xpt_server);
			width = min_t(unsigned int, size.send_sges, RPCRDMA2_WRITE_PAGES);
			KUNIT_EXPECT_GE_MSG(test, sp->sp_sq_longest - sp->sp_sq_spare,
					    svc2_reply_wrs(pages, RPCRDMA2_MAX_WRITE_CHUNKS + 1,
							   RPCRDMA2_MAX_SEGMENTS, width),
					    "%u MiB, %u gather entries", mib, widths[i]);
		}
	}
}

/**
 * struct queue_case - a device whose queues have few entries
 * @desc: description
 * @room: entries besides those for the longest chain, a batch of Sends and the drain
 * @backward: callbacks that may be outstanding, or 0 if the connection is refused
 * @spare: entries for single Sends
 */
struct queue_case {
	const char	*desc;
	unsigned int	room;
	unsigned int	backward;
	unsigned int	spare;
};

static const struct queue_case queue_cases[] = {
	{ "room for 20 callbacks, and for 84 Sends", 124, 20, 84 },
	{ "an entry too few", 123, 10, 84 },
	{ "room for 10 callbacks", 20, 10, 0 },
	{ "an entry too few for 10", 19, 5, 9 },
	{ "room for one callback", 2, 1, 0 },
	{ "room for none", 1, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(queue, queue_cases, desc);

/* If the device has too few entries, callbacks get fewer, then single Sends. */
static void few_entries(struct kunit *test)
{
	const struct queue_case *c = test->param_value;
	struct svc2_xprt *sp = on_device(test, RDMA2_BKREQSUP_INLINE, 32);
	unsigned int pages = svc_serv_maxpages(sp->sp_xprt.xpt_server), longest, i;
	struct ib_device_attr *attrs = &sp->sp_conn.co_id->device->attrs;
	struct rpcrdma2_conn_size size = { };

	longest = SVC2_MAX_READS + DIV_ROUND_UP(pages, SVC2_MAX_SGES) + 1;
	sp->sp_ex.ex_supported.pr_brs = RDMA2_BKREQSUP_INLINE;
	/* The Send Queue and its CQ have one limit each. */
	for (i = 0; i < 2; i++) {
		attrs->max_qp_wr = longest + SVC2_SIGNAL_BATCH + 1 + c->room + 100 * i;
		attrs->max_cqe = longest + SVC2_SIGNAL_BATCH + 1 + c->room + 100 * !i;
		sp->sp_credits = 64;
		sp->sp_backward_max = 20;
		KUNIT_ASSERT_EQ(test, svc2_conn_size_sq(sp, &size), c->backward ? 0 : -EOPNOTSUPP);
		if (!c->backward)
			continue;
		KUNIT_EXPECT_EQ(test, sp->sp_backward_max, c->backward);
		KUNIT_EXPECT_EQ(test, size.sends, longest + SVC2_SIGNAL_BATCH + 1 + c->room);
		KUNIT_EXPECT_EQ(test, sp->sp_sq_depth, size.sends - 1);
		KUNIT_EXPECT_EQ(test, sp->sp_sq_longest, longest + c->room - 2 * c->backward);
		KUNIT_EXPECT_EQ(test, sp->sp_sq_spare, c->spare);
		KUNIT_EXPECT_EQ(test, sp->sp_sq_spare_all, c->spare == 84);
		KUNIT_EXPECT_EQ(test, sp->sp_conn.co_sq.sq_entries, sp->sp_sq_depth);
	}
}

/* C-036, C-037: only callbacks with chunks take entries for regions. */
static void c037_entries(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizes_for_level(test, RDMA2_BKREQSUP_NONE).entries, 40);
	KUNIT_EXPECT_EQ(test, sizes_for_level(test, RDMA2_BKREQSUP_INLINE).entries, 40);
	KUNIT_EXPECT_EQ(test, sizes_for_level(test, RDMA2_BKREQSUP_GENL).entries, 80);
}

/* C-036, C-037: only callbacks with chunks take regions. */
static void c037_regions(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizes_for_level(test, RDMA2_BKREQSUP_NONE).regions, 0);
	KUNIT_EXPECT_EQ(test, sizes_for_level(test, RDMA2_BKREQSUP_INLINE).regions, 0);
	KUNIT_EXPECT_EQ(test, sizes_for_level(test, RDMA2_BKREQSUP_GENL).regions, 120);
}

/* C-036, C-037: only callbacks with chunks need RDMA Reads of the peer. */
static void c037_depth(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizes_for_level(test, RDMA2_BKREQSUP_NONE).depth, 0);
	KUNIT_EXPECT_EQ(test, sizes_for_level(test, RDMA2_BKREQSUP_INLINE).depth, 0);
	KUNIT_EXPECT_EQ(test, sizes_for_level(test, RDMA2_BKREQSUP_GENL).depth, 16);
}

/**
 * struct create_case - a device that refuses queues below its own limits
 * @desc: description
 * @credits: credits by the parameter
 * @callbacks: callbacks by the parameter
 * @level: their form
 * @limit: max_qp_wr of the device
 * @most: the most entries of a queue that it accepts
 * @error: its refusal of more
 * @attempts: number of times that queues are created
 * @got: credits of the connection, or 0 if there is none
 * @got_callbacks: its callbacks
 * @iwarp: RDMA Reads need regions
 */
struct create_case {
	const char	*desc;
	u32		credits, callbacks, level;
	unsigned int	limit, most;
	int		error;
	unsigned int	attempts;
	u32		got, got_callbacks;
	bool		iwarp;
};

#define INLINE	RDMA2_BKREQSUP_INLINE
#define GENL	RDMA2_BKREQSUP_GENL

static const struct create_case create_cases[] = {
	{ "queues for 1024 RPCs", 1024, 16, INLINE, 65536, 4095, -EINVAL, 1, 1024, 16 },
	{ "an entry too few", 1024, 16, INLINE, 65536, 4094, -EINVAL, 2, 1024, 16 },
	{ "no memory for more", 1024, 16, GENL, 65536, 1023, -ENOMEM, 3, 512, 16 },
	{ "callbacks with chunks", 1024, 256, GENL, 1500, 1100, -EINVAL, 2, 256, 64 },
	{ "credits of the default", 64, 256, GENL, 1500, 600, -EINVAL, 3, 64, 32 },
	{ "no memory at all", 1024, 16, INLINE, 65536, 0, -ENOMEM, 5, 0 },
	{ "the default is refused", 64, 16, INLINE, 65536, 0, -ENOMEM, 1, 0 },
	{ "another error", 1024, 16, INLINE, 65536, 1023, -EIO, 1, 0 },
	{ "iWARP: fewer RPCs", 1024, 16, INLINE, 65536, 2000, -EINVAL, 3, 512, 16, true },
	{ "iWARP: no memory for regions", 1024, 16, INLINE, 65536, 2000, -ENOMEM, 1, 0, 0, true },
};

#undef INLINE
#undef GENL

KUNIT_ARRAY_PARAM_DESC(create, create_cases, desc);

/* Drivers that count blocks of 64 bytes refuse queues of fewer than max_qp_wr entries. */
static void refused_queues(struct kunit *test)
{
	const struct create_case *c = test->param_value;
	struct svc2_xprt *sp = on_device(test, c->level, 32);
	struct rpcrdma2_conn_size size = { };

	sp->sp_conn.co_id->device->attrs.max_cqe = 65536;
	sp->sp_conn.co_id->device->attrs.max_qp_wr = c->limit;
	if (c->iwarp)
		sp->sp_conn.co_id->device->port_data[1].immutable.core_cap_flags =
			RDMA_CORE_PORT_IWARP;
	svc2_credits.pm_value = c->credits;
	svc2_backward_credits.pm_value = c->callbacks;
	most_entries = c->most;
	refusal = c->error;
	attempts = 0;
	KUNIT_EXPECT_EQ(test, svc2_conn_create_queues(sp, &size), c->got ? 0 : c->error);
	KUNIT_EXPECT_EQ(test, attempts, c->attempts);
	if (!c->got)
		return;
	KUNIT_EXPECT_EQ(test, sp->sp_credits, c->got);
	KUNIT_EXPECT_EQ(test, sp->sp_backward_max, c->got_callbacks);
}

/* With one page for each RDMA Read, half of the refused queue has no room for 256 pages. */
static void refused_chain(struct kunit *test)
{
	struct svc2_xprt *sp = on_device(test, RDMA2_BKREQSUP_INLINE, 1);
	struct rpcrdma2_conn_size size = { };

	sp->sp_xprt.xpt_server->sv_max_mesg = 256 << PAGE_SHIFT;
	most_entries = 0;
	refusal = -EINVAL;
	attempts = 0;
	KUNIT_EXPECT_EQ(test, svc2_conn_create_queues(sp, &size), -EINVAL);
	KUNIT_EXPECT_GT(test, attempts, 0);
	KUNIT_EXPECT_STREQ(test, sp->sp_refusal,
			   "the device has too small queues; use another device");
}

/* Smaller queues do not help where there is no protection domain. */
static void no_protection_domain(struct kunit *test)
{
	struct svc2_xprt *sp = on_device(test, RDMA2_BKREQSUP_INLINE, 32);
	struct rpcrdma2_conn_size size = { };

	svc2_credits.pm_value = 1024;
	no_pd = true;
	refusal = -ENOMEM;
	attempts = 0;
	KUNIT_EXPECT_EQ(test, svc2_conn_create_queues(sp, &size), -ENOMEM);
	KUNIT_EXPECT_EQ(test, attempts, 1);
	no_pd = false;
}

static const struct refusal_case {
	const char	*desc;
	u32		port;		/* its protocol */
	int		reads;		/* RDMA Reads that the device initiates */
	u8		ord;		/* RDMA Reads that the client allows */
	int		entries;	/* of a queue */
	int		sge_rd;		/* gather entries of an RDMA Read */
	const char	*why;
} refusal_cases[] = {
	{ "Receive Queue", RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP, 16, 16, 1, 32,
	  "the device has too small queues; use another device" },
	{ "Send Queue", RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP, 16, 16, 60, 32,
	  "the device has too small queues; use another device" },
	{ "no RDMA Reads by the device", RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP, 0, 16, 4096, 32,
	  "the device initiates no RDMA Reads; use another device" },
	{ "no regions for RDMA Reads", RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP, 16, 16,
	  4096, 0, "the device has no memory regions for RDMA Reads; use another device" },
	{ "no RDMA Reads from the client", RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP, 16, 0, 4096, 32,
	  "the client allows no RDMA Reads; use another device there" },
	{ "another protocol", RDMA_CORE_PORT_RAW_PACKET, 16, 16, 4096, 32,
	  "the device has neither InfiniBand, RoCE nor iWARP; use another device" },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusal_cases, desc);

/* Each reason of a refusal has a line of its own in the log. */
static void refusals(struct kunit *test)
{
	const struct refusal_case *c = test->param_value;
	struct svc2_xprt *sp = on_device(test, RDMA2_BKREQSUP_INLINE, c->sge_rd);
	struct ib_device *device = sp->sp_conn.co_id->device;
	struct rpcrdma2_conn_size size = { };

	device->port_data[1].immutable.core_cap_flags = c->port;
	device->attrs.max_qp_init_rd_atom = c->reads;
	device->attrs.max_qp_wr = c->entries;
	sp->sp_ord = c->ord;
	KUNIT_ASSERT_EQ(test, svc2_conn_check(sp) ?: svc2_conn_size_queues(sp, &size),
			-EOPNOTSUPP);
	if (c->entries == 1)	/* even if the Send Queue had room */
		KUNIT_EXPECT_EQ(test, svc2_conn_size_receives(sp), -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, sp->sp_refusal, c->why);
}

static struct kunit_case conn_cases[] = {
	KUNIT_CASE_PARAM(refusals, refusal_gen_params),
	KUNIT_CASE_PARAM(refused_queues, create_gen_params),
	KUNIT_CASE(refused_chain),
	KUNIT_CASE(no_protection_domain),
	KUNIT_CASE(send_queue),
	KUNIT_CASE(s46_largest_reply),
	KUNIT_CASE_PARAM(few_entries, queue_gen_params),
	KUNIT_CASE(c037_entries),
	KUNIT_CASE(c037_regions),
	KUNIT_CASE(c037_depth),
	KUNIT_CASE(s46_backlog),
	KUNIT_CASE(s46_iwarp_ended_first),
	KUNIT_CASE(s46_iwarp_established_first),
	KUNIT_CASE(s46_iwarp_device_goes),
	KUNIT_CASE(s46_iwarp_not_accepted),
	KUNIT_CASE(s46_roce),
	KUNIT_CASE(s46_waiting_calls_end),
	KUNIT_CASE(s46_deadline),
	KUNIT_CASE_PARAM(events, event_gen_params),
	KUNIT_CASE_PARAM(cm_events, cm_event_gen_params),
	{}
};

static struct kunit_suite conn_suite = {
	.name		= "svcrdma2_conn",
	.test_cases	= conn_cases,
};

kunit_test_suite(conn_suite);
