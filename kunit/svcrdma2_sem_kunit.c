// SPDX-License-Identifier: GPL-2.0
/*
 * Semaphores: the units of a Call after its wait, and the wakeup of its connection.
 *
 * The suite compiles in the server's limits, over a connection without a device. The
 * connection is busy for the RPC layer, and no svc thread handles it. Calls here do not
 * wait for payload: see svcrdma2_pages_kunit.c.
 */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "payload_1mib.h"
#include "counters.h"
#include "limits.h"

#undef SVC2_STALL_TIMEOUT
#define SVC2_STALL_TIMEOUT machine.stall_timeout

struct machine machine;

static void *fake_kzalloc(size_t size, gfp_t gfp)
{
	return machine.no_memory ? NULL : kzalloc(size, gfp);
}

/* wakeups of svc threads */
static unsigned int wakeups;

static void count_wakeup(struct svc_xprt *xprt)
{
	wakeups++;
	svc_xprt_enqueue(xprt);
}

static const struct page *page_on_list, *bad_page;

/*
 * The receive CQ: messages that a poll finds in it, and whether an event may have been missed
 * when it is empty.
 */
static struct {
	struct rpcrdma2_recv	*at;
	unsigned int		n;
	bool			missed;
} arrivals;

static bool fake_recvs_poll(struct rpcrdma2_conn *co, unsigned int most);

/* The simulated machine */
#undef totalram_pages
#undef kzalloc
#undef svc_xprt_enqueue
#define totalram_pages()	machine.ram_pages
#define totalhigh_pages()	machine.high_pages
#define kzalloc			fake_kzalloc
#define svc_xprt_enqueue	count_wakeup
#define PageLRU(page)		((page) == page_on_list)
#define PageHWPoison(page)	((page) == bad_page)
#define rdma_resolve_ip		machine.resolve_ip
#define ib_get_cached_lmc	machine.cached_lmc
#define svc2_wq			system_percpu_wq
#define rpcrdma2_recvs_poll	fake_recvs_poll

#include "../svcrdma2/limits.c"
#include "../svcrdma2/message.c"

#define ENTRIES	10
#define KEPT	1

DEFINE_PER_CPU(u64 [SVC2_C_COUNT], svc2_counters);
struct kmem_cache *svc2_msg_cache;

long limit_of_pages(void)
{
	return svc2_pages_most;
}

unsigned int limit_of_connections(void)
{
	return rpcrdma2_param(&svc2_connections);
}

unsigned int entries_of_reply(const struct svc2_xprt *sp, const struct svc2_msg *call)
{
	return svc2_sq_measure(sp, call);
}

unsigned int entries_left_by_waiters(const struct svc2_xprt *sp)
{
	return svc2_sq_left(sp);
}

/**
 * struct fixture - a connection, and Calls with RDMA Reads
 * @sp: connection with ENTRIES Send Queue entries, KEPT of them reserved, and one send
 *	context
 * @id: its rdma_cm identifier
 * @serv: its service
 * @losses: number of losses of the connection
 * @calls: Calls
 * @reads: RDMA Reads of the Calls
 * @later: returns entries as soon as a task waits for them
 */
struct fixture {
	struct svc2_xprt	sp;
	struct rdma_cm_id	id;
	struct svc_serv		serv;
	unsigned int		losses;
	struct svc2_msg		calls[3];
	struct list_head	reads[3];
	struct delayed_work	later;
};

static void lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	container_of(co, struct fixture, sp.sp_conn)->losses++;
}

static const struct rpcrdma2_conn_ops ops = { .lost = lost };

static int sem_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct svc2_xprt *sp;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	sp = &f->sp;
	set_bit(XPT_BUSY, &sp->sp_xprt.xpt_flags);
	sp->sp_xprt.xpt_server = &f->serv;
	sp->sp_conn.co_ops = &ops;
	sp->sp_conn.co_id = &f->id;
	wakeups = 0;
	machine.stall_timeout = MAX_SCHEDULE_TIMEOUT;
	init_waitqueue_head(&sp->sp_waitq);
	spin_lock_init(&sp->sp_recv_lock);
	INIT_LIST_HEAD(&sp->sp_recv_q);
	INIT_LIST_HEAD(&sp->sp_start_q);
	INIT_LIST_HEAD(&sp->sp_ready_q);
	INIT_LIST_HEAD(&sp->sp_short_q);
	svc2_sem_init(&sp->sp_sq_sem, NULL, SVC2_C_sq_waits);
	svc2_sem_init(&sp->sp_tx_sem, NULL, SVC2_C_tx_waits);
	svc2_sem_init(&sp->sp_mr_sem, NULL, SVC2_C_mr_waits);
	svc2_sem_open(&sp->sp_sq_sem, ENTRIES);
	sp->sp_sq_sem.se_own.un_kept = KEPT;
	svc2_sem_open(&sp->sp_tx_sem, 1);
	for (i = 0; i < ARRAY_SIZE(f->calls); i++) {
		rpcrdma2_rw_init(&f->calls[i].sm_rw, DMA_FROM_DEVICE);
		f->calls[i].sm_msg.mg_hdr.h_nreads = 1;
		list_add(&f->reads[i], &f->calls[i].sm_rw.rw_parts);
	}
	return 0;
}

static int enter(struct fixture *f, unsigned int call, unsigned int units,
		 unsigned int spare)
{
	struct svc2_msg *msg = &f->calls[call];

	return svc2_sem_take_call(&f->sp, &f->sp.sp_sq_sem, msg, units, spare,
				  &msg->sm_entries);
}

static bool join(struct fixture *f, struct svc2_waiter *wt)
{
	return svc2_sem_join(&f->sp, &f->sp.sp_sq_sem, wt);
}

static struct svc2_msg *first_served(struct fixture *f)
{
	return list_first_entry_or_null(&f->sp.sp_start_q, struct svc2_msg,
					sm_wait.wt_list);
}

/* A Call leaves the reserved entries, and those for Sends. */
static void call_leaves_reserve(struct kunit *test)
{
	u64 waits = count_of(SVC2_C_sq_waits);
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, enter(f, 0, 6, 3), 0);
	KUNIT_EXPECT_EQ(test, f->calls[0].sm_entries, 6);
	KUNIT_EXPECT_EQ(test, svc2_sem_avail(&f->sp.sp_sq_sem), KEPT + 3);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_sq_waits), waits);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 1, 3), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_sq_waits), waits + 1);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 0);
	KUNIT_EXPECT_EQ(test, svc2_sem_avail(&f->sp.sp_sq_sem), KEPT + 3);
}

/* Calls are served in FIFO order, and get the entries that they waited for. */
static void fifo_order(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 5, 0), -EINPROGRESS);
	/* The entries suffice for this Call, but it must not overtake the first. */
	svc2_sem_give(&f->sp, &f->sp.sp_sq_sem, 4);
	KUNIT_EXPECT_EQ(test, enter(f, 2, 4, 0), -EINPROGRESS);
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), NULL);

	svc2_sem_give(&f->sp, &f->sp.sp_sq_sem, 5);
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), &f->calls[1]);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 5);
	KUNIT_EXPECT_EQ(test, f->calls[2].sm_entries, 4);
	KUNIT_EXPECT_EQ(test, svc2_sem_avail(&f->sp.sp_sq_sem), KEPT);
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &f->sp.sp_xprt.xpt_flags));
}

/*
 * Units that come back before any waiter is served serve all waiters. The Call that finds
 * them has not waited.
 */
static void return_serves_waiters(struct kunit *test)
{
	u64 waits = count_of(SVC2_C_sq_waits);
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 5, 0), -EINPROGRESS);
	set_bit(SVC2_F_THROTTLED, &f->sp.sp_flags);
	atomic_add(6, &f->sp.sp_sq_sem.se_own.un_free);
	KUNIT_EXPECT_EQ(test, enter(f, 2, 1, 0), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 5);
	KUNIT_EXPECT_EQ(test, f->calls[2].sm_entries, 1);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_sq_waits), waits + 1);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));
}

/* Threads precede Calls, because the peer decides how long a Call waits. */
static void threads_first(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_sem *sem = &f->sp.sp_sq_sem;
	struct svc2_waiter first = { .wt_units = 2, .wt_spare = KEPT };
	struct svc2_waiter second = { .wt_units = 1, .wt_spare = KEPT };

	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 6, 3), -EINPROGRESS);
	KUNIT_EXPECT_FALSE(test, join(f, &first));
	KUNIT_EXPECT_FALSE(test, join(f, &second));

	svc2_sem_give(&f->sp, sem, 2);
	KUNIT_EXPECT_TRUE(test, svc2_sem_is_granted(&first));
	KUNIT_EXPECT_FALSE(test, svc2_sem_is_granted(&second));
	svc2_sem_give(&f->sp, sem, 1);
	KUNIT_EXPECT_TRUE(test, svc2_sem_is_granted(&second));
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 0);
	svc2_sem_give(&f->sp, sem, 9);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 6);

	/* With enough entries a thread does not wait at all. */
	KUNIT_EXPECT_EQ(test, enter(f, 2, 4, 0), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, svc2_sem_take(&f->sp, sem, 2, 0), 0);
	KUNIT_EXPECT_EQ(test, svc2_sem_avail(sem), KEPT + 1);
	KUNIT_EXPECT_EQ(test, f->calls[2].sm_entries, 0);
}

/* A thread gets units that were returned before it joined or before it left. */
static void join_and_leave(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_waiter wt = { .wt_units = ENTRIES - KEPT, .wt_spare = KEPT };
	struct svc2_waiter large = { .wt_units = 5, .wt_spare = KEPT };
	struct svc2_waiter small = { .wt_units = 1, .wt_spare = KEPT };
	struct svc2_sem *sem = &f->sp.sp_sq_sem;

	set_bit(SVC2_F_THROTTLED, &f->sp.sp_flags);
	KUNIT_EXPECT_TRUE(test, join(f, &wt));
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));
	KUNIT_EXPECT_EQ(test, svc2_sem_avail(sem), KEPT);

	KUNIT_EXPECT_FALSE(test, join(f, &wt));
	svc2_sem_give(&f->sp, sem, ENTRIES - KEPT);
	KUNIT_EXPECT_TRUE(test, svc2_sem_leave(&f->sp, sem, &wt));
	KUNIT_EXPECT_EQ(test, svc2_sem_avail(sem), KEPT);

	/* Its units go to the next waiter. */
	KUNIT_EXPECT_FALSE(test, join(f, &large));
	KUNIT_EXPECT_FALSE(test, join(f, &small));
	svc2_sem_give(&f->sp, sem, 2);
	KUNIT_EXPECT_FALSE(test, svc2_sem_is_granted(&small));
	set_bit(SVC2_F_THROTTLED, &f->sp.sp_flags);
	KUNIT_EXPECT_FALSE(test, svc2_sem_leave(&f->sp, sem, &large));
	KUNIT_EXPECT_TRUE(test, svc2_sem_is_granted(&small));
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));
	KUNIT_EXPECT_EQ(test, svc2_sem_avail(sem), KEPT + 1);
	/* A return of no units has no effect. */
	set_bit(SVC2_F_THROTTLED, &f->sp.sp_flags);
	svc2_sem_give(&f->sp, sem, 0);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));
}

/*
 * While Calls wait, the connection handles no new message. It handles a served Call: other
 * Calls may wait for resources that this one holds, and nothing else would release them.
 */
static void served_call_is_handled(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc_xprt *xprt = &f->sp.sp_xprt;

	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 1);
	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 8, 0), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, enter(f, 2, 8, 0), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));

	svc2_sem_give(&f->sp, &f->sp.sp_sq_sem, 9);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 8);
	KUNIT_EXPECT_EQ(test, f->calls[2].sm_entries, 0);
	KUNIT_EXPECT_FALSE(test, list_empty(&f->sp.sp_sq_sem.se_waiters));
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 1);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), &f->calls[1]);
}

/* It also handles a Call with completed RDMA Reads, if a send context is left for its Reply. */
static void s46_completed_call_is_handled(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct page *pages[1];

	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 8, 0), -EINPROGRESS);
	INIT_LIST_HEAD(&f->calls[0].sm_rw.rw_parts);
	f->calls[0].sm_pages = pages;
	svc2_msg_ready(&f->sp, &f->calls[0]);
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), NULL);
	KUNIT_EXPECT_FALSE(test, list_empty(&f->sp.sp_ready_q));
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&f->sp.sp_xprt), 1);
	atomic_inc(&f->sp.sp_xprt.xpt_nr_rqsts);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&f->sp.sp_xprt), 0);
}

/* S46: the send contexts limit the number of messages in progress. */
static void s46_contexts_limit_messages(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc_xprt *xprt = &f->sp.sp_xprt;

	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 1);
	atomic_inc(&xprt->xpt_nr_rqsts);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));
	svc2_sem_give(&f->sp, &f->sp.sp_tx_sem, 1);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 1);
}

/* S46: a deferred Call is handled, because it may hold entries that other Calls wait for. */
static void s46_deferred_call_is_handled(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc_xprt *xprt = &f->sp.sp_xprt;

	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 8, 0), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 0);
	set_bit(XPT_DEFERRED, &xprt->xpt_flags);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 1);
}

/* S46: a deferred Call precedes a served one, and needs a send context. */
static void s46_deferred_call_needs_context(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc_xprt *xprt = &f->sp.sp_xprt;

	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 8, 0), -EINPROGRESS);
	svc2_sem_give(&f->sp, &f->sp.sp_sq_sem, 9);
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), &f->calls[1]);
	set_bit(XPT_DEFERRED, &xprt->xpt_flags);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 1);
	atomic_set(&xprt->xpt_nr_rqsts, 1000);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 0);
	clear_bit(XPT_DEFERRED, &xprt->xpt_flags);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 1);
}

/* S46: a thread's wait has a timeout, which ends only this connection. */
static void s46_wait_timeout(struct kunit *test)
{
	u64 stalls = count_of(SVC2_C_stalls);
	struct fixture *f = test->priv;
	unsigned long since;

	machine.stall_timeout = 2;
	KUNIT_EXPECT_EQ(test, svc2_sem_take(&f->sp, &f->sp.sp_sq_sem, 6, 3), 0);
	since = jiffies;
	KUNIT_EXPECT_EQ(test, svc2_sem_take(&f->sp, &f->sp.sp_sq_sem, 1, 3), -ENOTCONN);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, since + 2));
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_stalls), stalls + 1);
	KUNIT_EXPECT_EQ(test, f->losses, 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&f->sp.sp_conn),
			RPCRDMA2_LOSS_STALLED);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->sp.sp_sq_sem.se_waiters));
	/* Units that are returned too late are free. */
	svc2_sem_give(&f->sp, &f->sp.sp_sq_sem, 6);
	KUNIT_EXPECT_EQ(test, svc2_sem_avail(&f->sp.sp_sq_sem), ENTRIES);
}

static void give_to_waiter(struct work_struct *work)
{
	struct fixture *f = container_of(to_delayed_work(work), struct fixture, later);

	if (list_empty_careful(&f->sp.sp_sq_sem.se_waiters))
		queue_delayed_work(system_percpu_wq, &f->later, 1);
	else
		svc2_sem_give(&f->sp, &f->sp.sp_sq_sem, 9);
}

/* S46: a served thread wakes; its wait has no timeout here. */
static void s46_served_thread_wakes(struct kunit *test)
{
	u64 waits = count_of(SVC2_C_sq_waits);
	struct fixture *f = test->priv;

	INIT_DELAYED_WORK(&f->later, give_to_waiter);
	KUNIT_EXPECT_EQ(test, svc2_sem_take(&f->sp, &f->sp.sp_sq_sem, 9, 0), 0);
	queue_delayed_work(system_percpu_wq, &f->later, 1);
	KUNIT_EXPECT_EQ(test, svc2_sem_take(&f->sp, &f->sp.sp_sq_sem, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_sq_waits), waits + 1);
	KUNIT_EXPECT_EQ(test, svc2_sem_avail(&f->sp.sp_sq_sem), KEPT + 1);
	KUNIT_EXPECT_EQ(test, f->losses, 0);
	cancel_delayed_work_sync(&f->later);
}

/* A condition that is true at the timeout counts. */
static void condition_at_timeout(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, wait_event_timeout(f->sp.sp_waitq, true, 0), 1);
	KUNIT_EXPECT_EQ(test, wait_event_timeout(f->sp.sp_waitq, false, 0), 0);
}

/* C-093: transient failures are retried for a while, and then end the connection. */
static void c093_retries(struct kunit *test)
{
	static const int passing[] = { -ENOMEM, -EAGAIN, -EIO };
	u64 shortages = count_of(SVC2_C_shortages);
	struct fixture *f = test->priv;
	unsigned int i, tries = 0;
	unsigned long since;
	int ret = 0;

	KUNIT_EXPECT_FALSE(test, svc2_try_again(&f->sp, &tries, &ret));
	KUNIT_EXPECT_EQ(test, ret, 0);
	ret = -EINVAL;
	KUNIT_EXPECT_FALSE(test, svc2_try_again(&f->sp, &tries, &ret));
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	KUNIT_EXPECT_EQ(test, tries, 0);
	for (i = 0; i < ARRAY_SIZE(passing); i++) {
		since = jiffies;
		ret = passing[i];
		KUNIT_EXPECT_TRUE(test, svc2_try_again(&f->sp, &tries, &ret));
		KUNIT_EXPECT_EQ(test, tries, i + 1);
		KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, since +
						      SVC2_SHORTAGE_PAUSE));
	}
	tries = SVC2_SHORTAGE_TRIES - 1;
	KUNIT_EXPECT_TRUE(test, svc2_try_again(&f->sp, &tries, &ret));
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_shortages), shortages + 4);
	KUNIT_EXPECT_EQ(test, f->losses, 0);
	KUNIT_EXPECT_FALSE(test, svc2_try_again(&f->sp, &tries, &ret));
	KUNIT_EXPECT_EQ(test, ret, -ENOTCONN);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&f->sp.sp_conn), RPCRDMA2_LOSS_MEMORY);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_shortages), shortages + 4);
}

/* C-093: a closed connection does not retry, and keeps its reason. */
static void c093_no_retry_when_closed(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int tries = 0;
	int ret = -ENOMEM;

	set_bit(XPT_CLOSE, &f->sp.sp_xprt.xpt_flags);
	KUNIT_EXPECT_FALSE(test, svc2_try_again(&f->sp, &tries, &ret));
	KUNIT_EXPECT_EQ(test, ret, -ENOTCONN);
	KUNIT_EXPECT_EQ(test, tries, 0);
	KUNIT_EXPECT_EQ(test, f->losses, 0);
}

/* S46: the loss of the connection ends a thread's wait, which has no timeout here. */
static void s46_loss_ends_wait(struct kunit *test)
{
	struct svc2_waiter wt = { .wt_units = 1, .wt_spare = KEPT };
	u64 stalls = count_of(SVC2_C_stalls);
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, svc2_sem_take(&f->sp, &f->sp.sp_sq_sem, 9, 0), 0);
	KUNIT_EXPECT_FALSE(test, join(f, &wt));
	svc2_close(&f->sp, RPCRDMA2_LOSS_PEER);
	svc2_sem_sleep(&f->sp, &wt);
	KUNIT_EXPECT_FALSE(test, svc2_sem_leave(&f->sp, &f->sp.sp_sq_sem, &wt));
	KUNIT_EXPECT_EQ(test, svc2_sem_take(&f->sp, &f->sp.sp_sq_sem, 1, 0), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_stalls), stalls);
	/* Calls do not start to wait either. */
	KUNIT_EXPECT_EQ(test, enter(f, 0, 1, 0), -ENOTCONN);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->sp.sp_sq_sem.se_waiters));
}

/*
 * S46: the RPC layer does not defer a Call with data in pages. The last word of a Call with
 * counted pages moves to a page, for any length of that word; other Calls do not change.
 */
static void s46_counted_call_not_deferred(struct kunit *test)
{
	static const char rpc[] = "the forty-four bytes of an RPC of an NFS Call";
	struct fixture *f = test->priv;
	struct svc2_msg *call = &f->calls[0];
	struct page *page = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
	struct page *next = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
	struct svc_rqst *rqst = kunit_kzalloc(test, sizeof(*rqst), GFP_KERNEL);
	struct xdr_buf *arg = &rqst->rq_arg;
	struct rpcrdma2_recv *rv = kunit_kzalloc(test, sizeof(*rv), GFP_KERNEL);
	u32 len;

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_NOT_NULL(test, next);
	KUNIT_ASSERT_NOT_NULL(test, rqst);
	KUNIT_ASSERT_NOT_NULL(test, rv);
	rqst->rq_xprt = &f->sp.sp_xprt;
	rqst->rq_server = &f->serv;
	rv->rv_pages[0] = page;
	call->sm_recv = rv;
	for (len = 41; len <= 44; len++) {
		*arg = (struct xdr_buf){ .len = len };
		arg->head[0].iov_base = memcpy(page_address(page) + 100, rpc, 44);
		arg->head[0].iov_len = len;
		call->sm_charged = 0;
		KUNIT_EXPECT_EQ(test, svc2_deliver(rqst, call), len);
		KUNIT_EXPECT_EQ(test, arg->page_len, 0);
		KUNIT_EXPECT_EQ(test, arg->head[0].iov_len, len);

		call->sm_charged = 1;
		KUNIT_EXPECT_EQ(test, svc2_deliver(rqst, call), len);
		KUNIT_EXPECT_EQ(test, arg->head[0].iov_len, 40);
		KUNIT_EXPECT_EQ(test, arg->page_len, len - 40);
		KUNIT_EXPECT_EQ(test, arg->page_base, 0);
		KUNIT_EXPECT_PTR_EQ(test, arg->pages[0], page);
		KUNIT_EXPECT_MEMEQ(test, page_address(page), rpc + 40, len - 40);
		/* A Call with data in pages does not change either. */
		KUNIT_EXPECT_EQ(test, svc2_deliver(rqst, call), len);
		KUNIT_EXPECT_EQ(test, arg->head[0].iov_len, 40);
	}
	/* A message too short for a Call stays in the head: Linux 6.1 reads two words there. */
	for (len = 8; len < 40; len++) {
		*arg = (struct xdr_buf){ .len = len };
		arg->head[0].iov_base = page_address(page) + 100;
		arg->head[0].iov_len = len;
		KUNIT_EXPECT_EQ(test, svc2_deliver(rqst, call), len);
		KUNIT_EXPECT_EQ(test, arg->head[0].iov_len, len);
		KUNIT_EXPECT_EQ(test, arg->page_len, 0);
	}
	/* The word does not overwrite a Call that was moved to the beginning of its page. */
	*arg = (struct xdr_buf){ .len = 44 };
	arg->head[0].iov_base = memcpy(page_address(page), rpc, 44);
	arg->head[0].iov_len = 44;
	rv->rv_pages[1] = next;
	KUNIT_EXPECT_EQ(test, svc2_deliver(rqst, call), 44);
	KUNIT_EXPECT_PTR_EQ(test, arg->pages[0], next);
	KUNIT_EXPECT_MEMEQ(test, page_address(page), rpc, 40);
	KUNIT_EXPECT_MEMEQ(test, page_address(next), rpc + 40, 4);
	__free_page(next);
	__free_page(page);
}

/* Gives the Call new pages. */
static void new_sinks(struct kunit *test, struct svc2_msg *call, unsigned int n)
{
	call->sm_pages = kmalloc_array(n, sizeof(*call->sm_pages), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, call->sm_pages);
	call->sm_length = n * PAGE_SIZE;
	while (n--)
		call->sm_pages[n] = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
}

/*
 * S46: a Call has exactly the pages that are counted for it, even if it reuses the pages of
 * larger ones, and the number of kept pages is limited.
 */
static void s46_reused_pages(struct kunit *test)
{
	u64 reused = count_of(SVC2_C_sinks_reused);
	struct svc_rqst *rqst = kunit_kzalloc(test, sizeof(*rqst), GFP_KERNEL);
	struct svc2_msg *calls = ((struct fixture *)test->priv)->calls, *call = &calls[0];
	unsigned int i, n = SVC2_KEPT_LEAST + 2, large = 2 * SVC2_KEPT_BATCH + 1, most;
	struct page *was[SVC2_KEPT_LEAST + 2], *some[3];
	struct shrink_control sc = { };
	struct svc2_kept *kept;

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	if (!svc2_sinks_is_kept(n))
		return;
	machine.ram_pages = 1;
	KUNIT_EXPECT_EQ(test, svc2_sinks_most(), SVC2_KEPT_CALL);
	machine.high_pages = 1UL << 18;
	machine.ram_pages = machine.high_pages +
			    64UL * num_online_cpus() * (SVC2_KEPT_CALL + 7);
	KUNIT_EXPECT_EQ(test, svc2_sinks_most(), SVC2_KEPT_CALL + 7);
	machine.high_pages = 0;
	machine.ram_pages *= 100;
	most = svc2_sinks_most();
	KUNIT_EXPECT_EQ(test, most, 8 * SVC2_KEPT_CALL);
	KUNIT_ASSERT_EQ(test, svc2_sinks_init(), 0);
	migrate_disable();
	kept = raw_cpu_ptr(&svc2_kept);
	new_sinks(test, call, n);
	memcpy(was, call->sm_pages, sizeof(was));
	svc2_sinks_put(call, true);
	KUNIT_EXPECT_NULL(test, call->sm_pages);
	KUNIT_EXPECT_EQ(test, kept->kp_num, n);

	/* The order stays, because neighbours in it may be neighbours in memory. */
	call->sm_length = SVC2_KEPT_LEAST * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, svc2_sinks_take(rqst, call), 0);
	KUNIT_EXPECT_MEMEQ(test, call->sm_pages, was, SVC2_KEPT_LEAST * sizeof(*was));
	KUNIT_EXPECT_EQ(test, kept->kp_num, 2);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_sinks_reused), reused + 1);
	/* Several Calls have kept pages, but none in use elsewhere, on a list, or bad. */
	new_sinks(test, &calls[1], n);
	get_page(calls[1].sm_pages[1]);
	was[1] = calls[1].sm_pages[1];
	page_on_list = calls[1].sm_pages[0];
	bad_page = calls[1].sm_pages[2];
	svc2_sinks_put(&calls[1], true);
	page_on_list = NULL;
	bad_page = NULL;
	svc2_sinks_put(call, true);
	KUNIT_EXPECT_EQ(test, kept->kp_num, 2 * n - 3);
	put_page(was[1]);

	/* The kernel frees the number that it needs; the pages that were used last stay. */
	KUNIT_EXPECT_EQ(test, svc2_sinks_count(NULL, &sc), 2 * n - 3);
	sc.nr_to_scan = 2 * n - 3 - SVC2_KEPT_LEAST;
	KUNIT_EXPECT_EQ(test, svc2_sinks_scan(NULL, &sc), sc.nr_to_scan);
	KUNIT_EXPECT_EQ(test, kept->kp_num, SVC2_KEPT_LEAST);
	call->sm_length = SVC2_KEPT_LEAST * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, svc2_sinks_take(rqst, call), 0);
	KUNIT_EXPECT_PTR_EQ(test, call->sm_pages[0], was[0]);
	/* A Call that meets a shortage keeps nothing. */
	svc2_sinks_put(call, false);
	KUNIT_EXPECT_NULL(test, call->sm_pages);
	KUNIT_EXPECT_EQ(test, kept->kp_num, 0);
	KUNIT_EXPECT_EQ(test, svc2_sinks_scan(NULL, &sc), 0);

	for (i = 0; i < 2; i++) {
		new_sinks(test, call, most - 1);
		svc2_sinks_put(call, true);
	}
	KUNIT_EXPECT_EQ(test, kept->kp_num, most);
	/* A large Call has its pages in order, too. */
	call->sm_length = large * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, svc2_sinks_take(rqst, call), 0);
	KUNIT_EXPECT_EQ(test, kept->kp_num, most - large);
	for (i = 0; i < ARRAY_SIZE(some); i++)
		some[i] = call->sm_pages[i * SVC2_KEPT_BATCH];
	svc2_sinks_put(call, true);
	KUNIT_EXPECT_EQ(test, kept->kp_num, most);
	KUNIT_ASSERT_EQ(test, svc2_sinks_take(rqst, call), 0);
	for (i = 0; i < ARRAY_SIZE(some); i++)
		KUNIT_EXPECT_PTR_EQ(test, call->sm_pages[i * SVC2_KEPT_BATCH], some[i]);
	svc2_sinks_put(call, false);
	KUNIT_EXPECT_EQ(test, kept->kp_num, most - large);
	svc2_sinks_exit();
	KUNIT_EXPECT_EQ(test, kept->kp_num, 0);
	migrate_enable();
}

/* Messages are taken up in the order in which they arrive (S16), also while more do. */
static void s16_messages_stay_in_order(struct kunit *test)
{
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	struct rpcrdma2_recv *rv = kunit_kzalloc(test, 5 * sizeof(*rv), GFP_KERNEL);
	static const struct ib_wc wc;
	struct rpcrdma2_recv *at;
	unsigned int i = 0;

	KUNIT_ASSERT_NOT_NULL(test, rv);
	for (i = 0; i < 3; i++)
		svc2_received(&sp->sp_conn, &rv[i], &wc);
#ifdef SVC2_THREADS_POLL
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_DATA, &sp->sp_xprt.xpt_flags));
	svc2_arrived(&sp->sp_conn);
	KUNIT_EXPECT_TRUE(test, sp->sp_event);
	/* The other two wait for a thread, and count as of the event (2.3). */
	sp->sp_event_at = jiffies - 10 * HZ;
#endif
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &sp->sp_xprt.xpt_flags));
	svc2_recv_sort(sp);
	for (; i < 5; i++)
		svc2_received(&sp->sp_conn, &rv[i], &wc);
	i = 0;
	list_for_each_entry(at, &sp->sp_recv_q, rv_list)
		KUNIT_EXPECT_PTR_EQ(test, at, &rv[i++]);
	KUNIT_EXPECT_EQ(test, i, 3);
#ifdef SVC2_THREADS_POLL
	KUNIT_EXPECT_EQ(test, rv[4].rv_at, sp->sp_event_at);
#endif
	INIT_LIST_HEAD(&sp->sp_recv_q);
	svc2_recv_sort(sp);
	list_for_each_entry(at, &sp->sp_recv_q, rv_list)
		KUNIT_EXPECT_PTR_EQ(test, at, &rv[i++]);
	KUNIT_EXPECT_EQ(test, i, 5);
	INIT_LIST_HEAD(&sp->sp_recv_q);
}

static bool fake_recvs_poll(struct rpcrdma2_conn *co, unsigned int most)
{
	static const struct ib_wc wc;
	unsigned int i, n = min(arrivals.n, most);

	/* A message may come before these are found. */
	if (arrivals.missed)
		svc2_arrived(co);
	for (i = 0; i < n; i++)
		svc2_received(co, arrivals.at++, &wc);
	arrivals.n -= n;
	return n == most || arrivals.missed;
}

/* Polls with @n messages in the CQ, the first of @rv. */
static void poll(struct svc2_xprt *sp, struct rpcrdma2_recv *rv, unsigned int n)
{
	arrivals.at = rv;
	arrivals.n = n;
	sp->sp_event = true;
	svc2_recv_poll(sp);
	svc2_recv_sort(sp);
	INIT_LIST_HEAD(&sp->sp_recv_q);
}

/*
 * 2.3, S53: messages that come after a poll has emptied the CQ are not counted as of an event
 * before, even if they cause none. An event for a later one may still come.
 */
static void s53_missed_event(struct kunit *test)
{
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	struct rpcrdma2_recv *rv = kunit_kzalloc(test, SVC2_POLL_BATCH * sizeof(*rv),
						 GFP_KERNEL);
	const unsigned long begin = jiffies, stale = begin - 10 * HZ;

	KUNIT_ASSERT_NOT_NULL(test, rv);
	arrivals.missed = false;
	sp->sp_event_at = stale;
	poll(sp, rv, SVC2_POLL_BATCH - 1);
	KUNIT_EXPECT_FALSE(test, sp->sp_event);
	KUNIT_EXPECT_EQ(test, sp->sp_event_at, stale);
	arrivals.missed = true;
	poll(sp, rv, SVC2_POLL_BATCH - 1);
#ifdef SVC2_THREADS_POLL
	KUNIT_EXPECT_EQ(test, rv[SVC2_POLL_BATCH - 2].rv_at, stale);
#endif
	KUNIT_EXPECT_TRUE(test, sp->sp_event);
	KUNIT_EXPECT_TRUE(test, time_after_eq(sp->sp_event_at, begin));
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, sp->sp_event_at));
	/* The next polls find messages that arrived before this event, and one during the poll. */
	sp->sp_event_at = stale;
	svc2_arrived(&sp->sp_conn);
	KUNIT_EXPECT_EQ(test, sp->sp_event_at, stale);
	poll(sp, rv, SVC2_POLL_BATCH - 1);
#ifdef SVC2_THREADS_POLL
	KUNIT_EXPECT_EQ(test, rv[0].rv_at, stale);
#endif
	/* When the CQ was empty an event counts again. */
	arrivals.missed = false;
	poll(sp, rv, 0);
	sp->sp_event_at = stale;
	svc2_arrived(&sp->sp_conn);
	KUNIT_EXPECT_TRUE(test, time_after_eq(sp->sp_event_at, begin));
}

/*
 * 2.3, S53: a busy CQ may never be empty. Messages behind as many as there are Receives have
 * arrived after the first of these polls.
 */
static void s53_full_batches(struct kunit *test)
{
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	struct rpcrdma2_recv *rv = kunit_kzalloc(test, SVC2_POLL_BATCH * sizeof(*rv),
						 GFP_KERNEL);
	const unsigned long begin = jiffies, stale = begin - 10 * HZ;
	unsigned int most, polls, i, round;

	KUNIT_ASSERT_NOT_NULL(test, rv);
	arrivals.missed = false;
	sp->sp_backward_max = SVC2_BACKWARD_CREDITS;
	sp->sp_credits = SVC2_CREDITS_DEFAULT;
	most = svc2_grant_recvs(sp->sp_backward_max, sp->sp_credits);
	polls = DIV_ROUND_UP(most, SVC2_POLL_BATCH);
	for (round = 0; round < 2; round++) {
		sp->sp_event_at = stale;
		for (i = 1; i < polls; i++)
			poll(sp, rv, SVC2_POLL_BATCH);
		KUNIT_EXPECT_EQ(test, sp->sp_event_at, stale);
		poll(sp, rv, SVC2_POLL_BATCH);
		KUNIT_EXPECT_TRUE(test, sp->sp_event);
		KUNIT_EXPECT_TRUE(test, time_after_eq(sp->sp_event_at, begin));
		KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, sp->sp_event_at));
	}
	/* The count begins again after the CQ was empty, with or without a missed event. */
	for (round = 0; round < 2; round++) {
		for (i = 1; i < polls; i++)
			poll(sp, rv, SVC2_POLL_BATCH);
		arrivals.missed = round;
		poll(sp, rv, 0);
		sp->sp_event_at = stale;
		for (i = 1; i < polls; i++)
			poll(sp, rv, SVC2_POLL_BATCH);
		KUNIT_EXPECT_EQ(test, sp->sp_event_at, stale);
		poll(sp, rv, 0);
	}
}

/*
 * A thread gets the pages back that nfsd has replaced, behind the Reply; R4: but no page
 * that the device reads. Pages that a Call held, or that were left in place, are released
 * once.
 */
static void r4_pages_come_back(struct kunit *test)
{
	struct svc_rqst *rqst = kunit_kzalloc(test, sizeof(*rqst), GFP_KERNEL);
	struct svc2_msg *call = &((struct fixture *)test->priv)->calls[0];
	struct page *own[5], *other[2], *pages[5], *slots[2];
	struct svc_serv *serv = kunit_kzalloc(test, sizeof(*serv), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	KUNIT_ASSERT_NOT_NULL(test, serv);
	for (i = 0; i < ARRAY_SIZE(own); i++) {
		own[i] = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
		KUNIT_ASSERT_NOT_NULL(test, own[i]);
	}
	for (i = 0; i < ARRAY_SIZE(other); i++) {
		other[i] = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
		KUNIT_ASSERT_NOT_NULL(test, other[i]);
	}
	memcpy(pages, own, sizeof(pages));
	serv->sv_max_mesg = 4 * PAGE_SIZE;
	call->sm_offered = 1 << 20;
	rqst->rq_xprt = &((struct fixture *)test->priv)->sp.sp_xprt;
	rqst->rq_server = serv;
	rqst->rq_respages = pages;

	/* nfsd replaces the first page, and writes the Reply's data to the second one. */
	svc2_spares_hold(rqst, call);
	KUNIT_ASSERT_EQ(test, call->sm_nspares, 4);
	KUNIT_EXPECT_EQ(test, page_ref_count(own[0]), 1);
	put_page(pages[1]);
	pages[1] = other[0];
	memcpy(slots, pages + 1, sizeof(slots));
	KUNIT_EXPECT_FALSE(test, svc2_spares_return(call, pages + 1, 2, true));
	KUNIT_EXPECT_PTR_EQ(test, pages[1], own[1]);
	KUNIT_EXPECT_NULL(test, pages[2]);
	KUNIT_EXPECT_PTR_EQ(test, pages[3], own[3]);
	KUNIT_EXPECT_PTR_EQ(test, slots[0], other[0]);
	KUNIT_EXPECT_PTR_EQ(test, slots[1], own[2]);
	for (i = 0; i < ARRAY_SIZE(own); i++)
		KUNIT_EXPECT_EQ(test, page_ref_count(own[i]), 1);

	/* Both pages were copied and released: the thread has all of its pages. */
	pages[2] = own[2];
	svc2_spares_hold(rqst, call);
	put_page(pages[1]);
	pages[1] = other[1];
	put_page(other[1]);
	put_page(own[2]);
	KUNIT_EXPECT_TRUE(test, svc2_spares_return(call, pages + 1, 2, false));
	KUNIT_EXPECT_MEMEQ(test, pages, own, sizeof(own));
	for (i = 0; i < ARRAY_SIZE(own); i++)
		KUNIT_EXPECT_EQ(test, page_ref_count(own[i]), 1);

	/* nfsd has replaced a page behind the Reply, which it has truncated since. */
	svc2_spares_hold(rqst, call);
	put_page(pages[4]);
	pages[4] = other[0];
	get_page(other[0]);
	KUNIT_EXPECT_TRUE(test, svc2_spares_return(call, pages + 1, 0, false));
	KUNIT_EXPECT_MEMEQ(test, pages, own, sizeof(own));
	KUNIT_EXPECT_EQ(test, page_ref_count(own[4]), 1);
	KUNIT_EXPECT_EQ(test, page_ref_count(other[0]), 1);

	/* A Reply has more pages than its Call held. */
	svc2_spares_hold(rqst, call);
	call->sm_nspares = 1;
	put_page(own[2]);
	put_page(own[3]);
	put_page(own[4]);
	put_page(own[1]);
	put_page(own[2]);
	KUNIT_EXPECT_FALSE(test, svc2_spares_return(call, pages + 1, 2, false));
	KUNIT_EXPECT_PTR_EQ(test, pages[1], own[1]);
	KUNIT_EXPECT_NULL(test, pages[2]);

	/* The Call gets no Reply. */
	pages[2] = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
	KUNIT_ASSERT_NOT_NULL(test, pages[2]);
	svc2_spares_hold(rqst, call);
	svc2_spares_put(call);
	KUNIT_EXPECT_EQ(test, call->sm_nspares, 0);
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		KUNIT_EXPECT_EQ(test, page_ref_count(pages[i]), 1);
		put_page(pages[i]);
	}
	put_page(other[0]);
}

/* A Call holds the number of pages that recent Replies without chunks had: mostly none. */
static void pages_of_late(struct kunit *test)
{
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	struct svc2_msg *call = &((struct fixture *)test->priv)->calls[0];
	unsigned int i;

	svc2_spares_learn(sp, call, 0);
	KUNIT_EXPECT_EQ(test, sp->sp_spares, 0);
	svc2_spares_learn(sp, call, SVC2_REPLY_FEW + 1);
	KUNIT_EXPECT_EQ(test, sp->sp_spares, SVC2_REPLY_FEW * SVC2_SPARES_PATIENCE);
	svc2_spares_learn(sp, call, 1);
	for (i = 1; i < SVC2_SPARES_PATIENCE; i++)
		svc2_spares_learn(sp, call, 0);
	KUNIT_EXPECT_EQ(test, sp->sp_spares, (SVC2_REPLY_FEW - 1) * SVC2_SPARES_PATIENCE);
	call->sm_offered = 1;
	svc2_spares_learn(sp, call, 0);
	svc2_spares_learn(sp, call, SVC2_REPLY_FEW);
	KUNIT_EXPECT_EQ(test, sp->sp_spares, (SVC2_REPLY_FEW - 1) * SVC2_SPARES_PATIENCE);
}

/*
 * L8: one thread of a connection waits for the end of a shortage, and the Calls of the
 * other threads wait for this thread. They continue in their order, as served Calls.
 */
static void l8_one_thread_waits(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc_xprt *xprt = &f->sp.sp_xprt;

	KUNIT_EXPECT_TRUE(test, svc2_shortage_begin(&f->sp));
	KUNIT_EXPECT_FALSE(test, svc2_shortage_begin(&f->sp));
	svc2_shortage_queue(&f->sp, &f->calls[1]);
	svc2_shortage_queue(&f->sp, &f->calls[0]);
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), NULL);
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_DATA, &xprt->xpt_flags));
	/* The connection still handles messages that do not need the scarce memory. */
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(xprt), 1);

	svc2_shortage_end(&f->sp);
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), &f->calls[1]);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&f->sp.sp_start_q), 2);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->sp.sp_short_q));
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &xprt->xpt_flags));
	/* This Call met the shortage just before its end. */
	svc2_shortage_queue(&f->sp, &f->calls[2]);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&f->sp.sp_start_q), 3);
	KUNIT_EXPECT_TRUE(test, svc2_shortage_begin(&f->sp));
}

/* L8: a Call that can continue, the end of a shortage, and free room wake a thread. */
static void l8_wakeups(struct kunit *test)
{
	u64 shortages = count_of(SVC2_C_shortages);
	struct fixture *f = test->priv;

	svc2_msg_ready(&f->sp, &f->calls[0]);
	KUNIT_EXPECT_EQ(test, wakeups, 1);

	KUNIT_EXPECT_TRUE(test, svc2_shortage_begin(&f->sp));
	svc2_shortage_queue(&f->sp, &f->calls[1]);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_shortages), shortages + 1);
	KUNIT_EXPECT_EQ(test, wakeups, 1);
	svc2_shortage_end(&f->sp);
	KUNIT_EXPECT_EQ(test, wakeups, 2);

	svc2_unthrottle(&f->sp);
	KUNIT_EXPECT_EQ(test, wakeups, 2);
	set_bit(SVC2_F_THROTTLED, &f->sp.sp_flags);
	svc2_unthrottle(&f->sp);
	KUNIT_EXPECT_EQ(test, wakeups, 3);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &f->sp.sp_flags));
}

/* R5: the check detects missing units, surplus units, and waiters. */
static void r5_detects_lost_units(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_sem *sem = &f->sp.sp_sq_sem;

	KUNIT_EXPECT_TRUE(test, svc2_sem_is_whole(&f->sp.sp_mr_sem));
	KUNIT_EXPECT_TRUE(test, svc2_sem_is_whole(sem));
	KUNIT_EXPECT_EQ(test, enter(f, 0, 9, 0), 0);
	KUNIT_EXPECT_FALSE(test, svc2_sem_is_whole(sem));
	KUNIT_EXPECT_EQ(test, enter(f, 1, 9, 0), -EINPROGRESS);
	atomic_add(9, &sem->se_own.un_free);
	KUNIT_EXPECT_FALSE(test, svc2_sem_is_whole(sem));
	INIT_LIST_HEAD(&sem->se_waiters);
	KUNIT_EXPECT_TRUE(test, svc2_sem_is_whole(sem));
	svc2_sem_give(&f->sp, sem, 1);
	KUNIT_EXPECT_FALSE(test, svc2_sem_is_whole(sem));
}

static struct kunit_case sem_cases[] = {
	KUNIT_CASE(call_leaves_reserve),
	KUNIT_CASE(fifo_order),
	KUNIT_CASE(return_serves_waiters),
	KUNIT_CASE(threads_first),
	KUNIT_CASE(join_and_leave),
	KUNIT_CASE(served_call_is_handled),
	KUNIT_CASE(s46_completed_call_is_handled),
	KUNIT_CASE(s46_contexts_limit_messages),
	KUNIT_CASE(s46_deferred_call_is_handled),
	KUNIT_CASE(s46_deferred_call_needs_context),
	KUNIT_CASE(s46_wait_timeout),
	KUNIT_CASE(s46_loss_ends_wait),
	KUNIT_CASE(s46_served_thread_wakes),
	KUNIT_CASE(condition_at_timeout),
	KUNIT_CASE(c093_retries),
	KUNIT_CASE(c093_no_retry_when_closed),
	KUNIT_CASE(s46_counted_call_not_deferred),
	KUNIT_CASE(s46_reused_pages),
	KUNIT_CASE(s16_messages_stay_in_order),
	KUNIT_CASE(s53_missed_event),
	KUNIT_CASE(s53_full_batches),
	KUNIT_CASE(r4_pages_come_back),
	KUNIT_CASE(pages_of_late),
	KUNIT_CASE(l8_one_thread_waits),
	KUNIT_CASE(l8_wakeups),
	KUNIT_CASE(r5_detects_lost_units),
	{}
};

static struct kunit_suite sem_suite = {
	.name		= "svcrdma2_sem",
	.init		= sem_init,
	.test_cases	= sem_cases,
};

kunit_test_suite(sem_suite);
