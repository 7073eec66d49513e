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

/* The simulated machine */
#undef totalram_pages
#undef kzalloc
#undef svc_xprt_enqueue
#define totalram_pages()	machine.ram_pages
#define totalhigh_pages()	machine.high_pages
#define kzalloc			fake_kzalloc
#define svc_xprt_enqueue	count_wakeup
#define rdma_resolve_ip		machine.resolve_ip
#define ib_get_cached_lmc	machine.cached_lmc
#define svc2_wq			system_percpu_wq

#include "../svcrdma2/limits.c"

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
