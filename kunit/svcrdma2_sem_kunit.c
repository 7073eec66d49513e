// SPDX-License-Identifier: GPL-2.0
/*
 * Semaphores: the units of a Call after its wait, and the wakeup of its connection.
 *
 * The suite compiles in the server's limits, over a connection without a device. The
 * connection is busy for the RPC layer, and no svc thread handles it. The order of Calls that
 * wait for payload has a suite of its own, svcrdma2_pages_kunit.c.
 */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "payload_1mib.h"
#include "counters.h"
#include "limits.h"
#include "window.h"

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
	pass(AT_WAKEUP);
	svc_xprt_enqueue(xprt);
}

static bool windowed_take(struct rpcrdma2_units *un, unsigned int count, unsigned int spare)
{
	bool taken = rpcrdma2_units_take(un, count, spare);

	if (!taken)
		pass(BEHIND_DENIAL);
	return taken;
}

static bool windowed_give(struct rpcrdma2_units *un, unsigned int count)
{
	bool denied;

	pass(BEFORE_RETURN);
	denied = rpcrdma2_units_give(un, count);
	pass(BEHIND_RETURN);
	return denied;
}

static bool windowed_allows(long most, long all, long address, long own, long more)
{
	bool allows = svc2_pages_quota_allows(most, all, address, own, more);

	pass(allows ? BEHIND_GRANT : BEHIND_QUOTA);
	return allows;
}

/* The lock of all quotas, and how often it was about to be taken */
static spinlock_t pages_lock;
static unsigned int pages_locks;

static spinlock_t *count_pages_lock(void)
{
	pages_locks++;
	return &pages_lock;
}

/* The simulated machine */
#undef DEFINE_SPINLOCK
#undef totalram_pages
#undef kzalloc
#undef svc_xprt_enqueue
#undef set_bit
#undef smp_mb
#undef smp_mb__after_atomic
#undef smp_store_release
#define totalram_pages()	machine.ram_pages
#define totalhigh_pages()	machine.high_pages
#define kzalloc			fake_kzalloc
#define svc_xprt_enqueue	count_wakeup
#define rpcrdma2_units_take	windowed_take
#define rpcrdma2_units_give	windowed_give
#define svc2_pages_quota_allows	windowed_allows
#define set_bit(nr, word)	windowed_set_bit(nr, word)
#define smp_mb()		windowed_barrier()	/* a place */
#define smp_mb__after_atomic()	windowed_barrier()	/* a place */
#define smp_store_release	windowed_release	/* a place */
#define rdma_resolve_ip		machine.resolve_ip
#define ib_get_cached_lmc	machine.cached_lmc
#define svc2_wq			system_percpu_wq
#define DEFINE_SPINLOCK(lock)	spinlock_t pages_lock = __SPIN_LOCK_UNLOCKED(pages_lock)
#define svc2_pages_lock		(*count_pages_lock())

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
	window = NOWHERE;
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
	sp->sp_sq_sem.se_own.un_reserved = KEPT;
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
	return !svc2_sem_join(&f->sp, &f->sp.sp_sq_sem, wt);
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
	svc2_lose(&f->sp, RPCRDMA2_LOSS_PEER);
	svc2_sem_sleep(&f->sp, &wt);
	KUNIT_EXPECT_FALSE(test, svc2_sem_leave(&f->sp, &f->sp.sp_sq_sem, &wt));
	KUNIT_EXPECT_EQ(test, svc2_sem_take(&f->sp, &f->sp.sp_sq_sem, 1, 0), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_stalls), stalls);
	/* Calls do not start to wait either. */
	KUNIT_EXPECT_EQ(test, enter(f, 0, 1, 0), -ENOTCONN);
	/* The loss came behind the first look. */
	wt.wt_call = &f->calls[0];
	KUNIT_EXPECT_EQ(test, svc2_sem_join(&f->sp, &f->sp.sp_sq_sem, &wt), -ENOTCONN);
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

/*
 * Lost wakeups. In each case the other side does all that it does in one of the windows of a wait,
 * where it may not know of the waiter.
 */

/**
 * struct scarce - what a connection without room for a message lacks
 * @f: connection
 * @wt: thread that waits for units
 * @other: connection with pages, of another address
 * @address: address of the connection
 * @other_address: address of @other
 * @third: a third connection
 * @third_address: its address
 * @most: limit of all pages, without this case
 * @pages: pages of a Call
 * @used: pages in use when a connection looks
 * @waiters: waiting Calls that a connection finds
 * @ret: result of a reservation
 */
static struct scarce {
	struct fixture		*f;
	struct svc2_waiter	wt;
	struct svc2_xprt	other, third;
	struct svc2_address	address, other_address, third_address;
	long			most, pages, used;
	unsigned long		waiters;
	int			ret;
} scarce;

static void begin_scarce(struct kunit *test)
{
	scarce = (struct scarce){
		.f	= test->priv,
		.wt	= { .wt_units = ENTRIES - KEPT, .wt_spare = KEPT },
		.most	= svc2_pages_most,
	};
}

static void take_context(void)
{
	rpcrdma2_units_take(scarce.f->sp.sp_tx_sem.se_units, 1, 0);
}

static void give_context(void)
{
	svc2_sem_give(&scarce.f->sp, &scarce.f->sp.sp_tx_sem, 1);
}

static void take_entries(void)
{
	rpcrdma2_units_take(scarce.f->sp.sp_sq_sem.se_units, ENTRIES - KEPT, KEPT);
	join(scarce.f, &scarce.wt);
}

/* The thread that waits gets them. */
static void give_entries(void)
{
	svc2_sem_give(&scarce.f->sp, &scarce.f->sp.sp_sq_sem, ENTRIES - KEPT);
}

/* The thread gives up. */
static void leave_entries(void)
{
	svc2_sem_leave(&scarce.f->sp, &scarce.f->sp.sp_sq_sem, &scarce.wt);
}

static void take_regions(void)
{
	scarce.wt.wt_spare = 0;
	svc2_sem_join(&scarce.f->sp, &scarce.f->sp.sp_mr_sem, &scarce.wt);
}

static void give_regions(void)
{
	svc2_sem_give(&scarce.f->sp, &scarce.f->sp.sp_mr_sem, ENTRIES - KEPT);
}

/* Counts pages for a connection. Only a connection that is listed is served later. */
static void take_pages_of(struct svc2_xprt *sp, struct svc2_address *ad, long pages)
{
	struct svc2_quota *qu = &sp->sp_quota;

	INIT_LIST_HEAD(&ad->ad_starved);
	INIT_LIST_HEAD(&ad->ad_waiting);
	INIT_LIST_HEAD(&qu->qu_calls);
	INIT_LIST_HEAD(&qu->qu_starved);
	qu->qu_address = ad;
	svc2_pages_account(sp, pages);
}

/* Two connections have all pages. */
static void take_pages(void)
{
	svc2_pages_most = SVC2_PAGES_MIN;
	svc2_pages_short = false;
	take_pages_of(&scarce.other, &scarce.other_address, SVC2_PAGES_MIN - 1);
	take_pages_of(&scarce.f->sp, &scarce.address, 1);
	list_add(&scarce.f->sp.sp_listed, &svc2_conns);
}

static void give_pages(void)
{
	svc2_pages_give(&scarce.f->sp, 1);
}

/* The other connection returns its pages, and the work for the others is done if it is due. */
static void give_other_pages(void)
{
	svc2_pages_give(&scarce.other, atomic_long_read(&scarce.other.sp_quota.qu_pages));
	flush_delayed_work(&svc2_pages_work);
}

static void end_scarce(void)
{
	if (scarce.address.ad_starved.next) {
		svc2_pages_give(&scarce.other, atomic_long_read(&scarce.other.sp_quota.qu_pages));
		svc2_pages_give(&scarce.f->sp, atomic_long_read(&scarce.f->sp.sp_quota.qu_pages));
		cancel_delayed_work_sync(&svc2_pages_work);
		list_del(&scarce.f->sp.sp_listed);
	}
	svc2_pages_most = scarce.most;
	svc2_pages_short = false;
}

static const struct room_case {
	const char	*desc;
	void		(*take)(void);
	void		(*give)(void);
	enum place	places[2];	/* of @give, for a mark */
} room_cases[] = {
	{ "a send context", take_context, give_context,
	  { BEFORE_RETURN, BEHIND_RETURN } },
	{ "Send Queue entries for a thread", take_entries, give_entries,
	  { BEFORE_RETURN, BEHIND_RETURN } },
	{ "a thread gives up", take_entries, leave_entries, { BEHIND_BARRIER } },
	{ "regions for a thread", take_regions, give_regions,
	  { BEFORE_RETURN, BEHIND_RETURN } },
	{ "pages of this connection", take_pages, give_pages, { BEHIND_BARRIER } },
	{ "pages of another connection", take_pages, give_other_pages, { BEHIND_BARRIER } },
};

KUNIT_ARRAY_PARAM_DESC(room, room_cases, desc);

/* A connection without room for a message is queued when there is room. */
static void room_wakes_connection(struct kunit *test)
{
	const struct room_case *c = test->param_value;
	struct fixture *f = test->priv;

	begin_scarce(test);
	c->take();
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&f->sp.sp_xprt), 0);
	KUNIT_EXPECT_EQ(test, wakeups, 0);
	c->give();
	KUNIT_EXPECT_EQ(test, wakeups, 1);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&f->sp.sp_xprt), 1);
	end_scarce();
}

/*
 * If there is room before the connection is marked, or afterwards but before it is checked again,
 * the check finds the room, or the connection is queued.
 */
static void room_before_mark(struct kunit *test)
{
	const struct room_case *c = test->param_value;
	struct fixture *f = test->priv;

	begin_scarce(test);
	c->take();
	open_window(BEFORE_SET, c->give);
	KUNIT_EXPECT_TRUE(test, svc2_has_wspace(&f->sp.sp_xprt) || wakeups);
	expect_passed(test);
	end_scarce();
}

/* The barrier behind the mark: the first look may have passed others. */
static void (*behind_mark)(void);

static void open_behind_mark(void)
{
	open_window(BEHIND_BARRIER, behind_mark);
}

static void room_behind_mark(struct kunit *test)
{
	const struct room_case *c = test->param_value;
	struct fixture *f = test->priv;

	begin_scarce(test);
	c->take();
	behind_mark = c->give;
	open_window(BEFORE_SET, open_behind_mark);
	KUNIT_EXPECT_TRUE(test, svc2_has_wspace(&f->sp.sp_xprt) || wakeups);
	expect_passed(test);
	end_scarce();
}

static bool has_room;

static void look_for_room(void)
{
	has_room = svc2_has_wspace(&scarce.f->sp.sp_xprt);
}

/* The mark may also come while there is about to be room. */
static void mark_during_return(struct kunit *test)
{
	const struct room_case *c = test->param_value;
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(c->places) && c->places[i]; i++) {
		begin_scarce(test);
		c->take();
		has_room = false;
		wakeups = 0;
		clear_bit(SVC2_F_THROTTLED, &f->sp.sp_flags);
		open_window(c->places[i], look_for_room);
		c->give();
		expect_passed(test);
		KUNIT_EXPECT_TRUE(test, has_room || wakeups);
		end_scarce();
	}
}

static void serve_all(void)
{
	svc2_pages_serve_all();
}

/* The pages of others come back after all connections were served, before this one is marked. */
static void pages_after_service(struct kunit *test)
{
	struct fixture *f = test->priv;

	begin_scarce(test);
	take_pages();
	open_window(BEFORE_SET, serve_all);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&f->sp.sp_xprt), 0);
	expect_passed(test);
	KUNIT_EXPECT_EQ(test, wakeups, 0);
	give_other_pages();
	KUNIT_EXPECT_EQ(test, wakeups, 1);
	end_scarce();
}

/* Pages that come back while the quota is checked are found, or lead to a later service. */
static void pages_during_check(struct kunit *test)
{
	static const enum place places[] = { BEHIND_QUOTA, BEHIND_BARRIER };
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		begin_scarce(test);
		take_pages();
		set_bit(SVC2_F_THROTTLED, &f->sp.sp_flags);
		wakeups = 0;
		open_window(places[i], give_other_pages);
		KUNIT_EXPECT_TRUE(test, svc2_pages_in_quota(&f->sp) || wakeups);
		expect_passed(test);
		end_scarce();
	}
}

/* Reserves pages for a Call of the connection. */
static int reserve_pages(struct svc2_xprt *sp, struct svc2_msg *call, unsigned int pages)
{
	call->sm_charged = 0;
	return svc2_pages_reserve(sp, call, pages);
}

static void flush_pages_wait(struct svc2_xprt *sp)
{
	LIST_HEAD(calls);

	svc2_pages_flush(sp, &calls);
}

/* Three connections of different addresses: two of them may have pages already. */
static void begin_pages(struct kunit *test, long other, long third)
{
	begin_scarce(test);
	svc2_pages_most = SVC2_PAGES_MIN;
	scarce.pages = SVC2_PAGES_MIN / 2;
	take_pages_of(&scarce.f->sp, &scarce.address, 0);
	take_pages_of(&scarce.other, &scarce.other_address, other);
	take_pages_of(&scarce.third, &scarce.third_address, third);
	atomic_long_set(&svc2_pages_peak, 0);
}

static void end_pages(struct kunit *test)
{
	cancel_delayed_work_sync(&svc2_pages_work);
	KUNIT_EXPECT_EQ(test, svc2_pages_waiters, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&svc2_pages_used), 0);
	svc2_pages_most = scarce.most;
	svc2_pages_short = false;
}

/*
 * While no Call waits, a READ and a WRITE take and return their pages without the lock of all
 * quotas: a Call, its shorter Reply, and a Reply that was not counted before.
 */
static void pages_without_lock(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_msg *call = &f->calls[0];
	const unsigned int pages = SVC2_PAGES_MIN / 4;

	begin_pages(test, 0, 0);
	pages_locks = 0;
	KUNIT_EXPECT_EQ(test, reserve_pages(&f->sp, call, pages), 0);
	KUNIT_EXPECT_EQ(test, call->sm_charged, pages);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&svc2_pages_peak), pages);
	call->sm_reply_pages = pages / 2;
	KUNIT_EXPECT_EQ(test, svc2_pages_take(&f->sp, call, 1), 1);
	svc2_pages_give(&f->sp, 1);
	svc2_pages_give(&f->sp, call->sm_charged);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(&f->sp, call, 2 * pages), 2 * pages);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&svc2_pages_peak), 2 * pages);
	svc2_pages_give(&f->sp, 2 * pages);
	KUNIT_EXPECT_EQ(test, pages_locks, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&f->sp.sp_quota.qu_pages), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&scarce.address.ad_pages), 0);
	/* a refusal takes it */
	KUNIT_EXPECT_EQ(test, reserve_pages(&f->sp, call, SVC2_PAGES_MIN), -EINPROGRESS);
	KUNIT_EXPECT_GT(test, pages_locks, 0);
	flush_pages_wait(&f->sp);
	/* and on a lost connection no Call begins to wait, which all others would notice */
	atomic_set(&f->sp.sp_conn.co_lost, true);
	KUNIT_EXPECT_EQ(test, reserve_pages(&f->sp, call, SVC2_PAGES_MIN), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, svc2_pages_waiters, 0);
	atomic_set(&f->sp.sp_conn.co_lost, false);
	end_pages(test);
}

/* This connection takes pages meanwhile. */
static void reserve_meanwhile(void)
{
	scarce.ret = reserve_pages(&scarce.f->sp, &scarce.f->calls[0], scarce.pages);
}

static const struct taken_case {
	const char	*desc;
	enum place	place;	/* of the other connection, where this one acts */
	int		ret;	/* of this one */
} taken_cases[] = {
	{ "between the other's first look and its account", BEHIND_GRANT, 0 },
	{ "behind the other's account", BEHIND_BARRIER, -EINPROGRESS },
};

KUNIT_ARRAY_PARAM_DESC(taken, taken_cases, desc);

/*
 * Of two connections that take the last pages at once, without the lock, exactly one gets them,
 * and a Call of the other one waits.
 */
static void pages_taken_at_once(struct kunit *test)
{
	const struct taken_case *c = test->param_value;
	struct fixture *f = test->priv;
	struct svc2_msg *calls = f->calls;

	begin_pages(test, 0, SVC2_PAGES_MIN / 2);
	open_window(c->place, reserve_meanwhile);
	KUNIT_EXPECT_EQ(test, reserve_pages(&scarce.other, &calls[1], scarce.pages), -EINPROGRESS);
	expect_passed(test);
	KUNIT_EXPECT_EQ(test, scarce.ret, c->ret);
	KUNIT_EXPECT_EQ(test, calls[0].sm_charged, scarce.pages);
	KUNIT_EXPECT_EQ(test, calls[1].sm_charged, 0);
	KUNIT_EXPECT_EQ(test, svc2_pages_waiters, 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&svc2_pages_used), SVC2_PAGES_MIN);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&svc2_pages_peak), SVC2_PAGES_MIN);
	flush_pages_wait(&scarce.other);
	svc2_pages_give(&f->sp, scarce.pages);
	svc2_pages_give(&scarce.third, scarce.pages);
	end_pages(test);
}

/* Another connection returns its pages, up to its look for waiters. */
static void return_unseen(void)
{
	svc2_pages_account(&scarce.other, -scarce.pages);
	smp_mb();	/* as in svc2_pages_serve() */
	scarce.waiters = svc2_pages_waiters;
}

/* Two places, one after the other; the other side acts at the second one. */
static enum place second;
static void (*at_second)(void);

static void pass_first(void)
{
	open_window(second, at_second);
}

static void open_windows(enum place first, enum place then, void (*act)(void))
{
	second = then;
	at_second = act;
	open_window(first, pass_first);
}

static const struct return_case {
	const char	*desc;
	enum place	place;	/* of the return, behind the look without the lock */
} return_cases[] = {
	{ "before the Call looks again", BEHIND_BARRIER },
	{ "after it has looked again", BEHIND_QUOTA },
};

KUNIT_ARRAY_PARAM_DESC(return, return_cases, desc);

/* Pages come back, without the lock, while a Call is about to wait for them: it finds them. */
static void pages_before_call_waits(struct kunit *test)
{
	const struct return_case *c = test->param_value;
	struct fixture *f = test->priv;
	struct svc2_msg *call = &f->calls[0];

	begin_pages(test, SVC2_PAGES_MIN / 2, SVC2_PAGES_MIN / 2);
	open_windows(BEHIND_QUOTA, c->place, return_unseen);
	reserve_pages(&f->sp, call, scarce.pages);
	expect_passed(test);
	KUNIT_EXPECT_EQ(test, call->sm_charged, scarce.pages);
	svc2_pages_give(&f->sp, scarce.pages);
	svc2_pages_give(&scarce.third, scarce.pages);
	end_pages(test);
}

/* The other side returns its pages behind the third look. */
static unsigned int looks;

static void return_at_third(void)
{
	if (++looks < 3)
		open_window(BEHIND_QUOTA, return_at_third);
	else
		return_unseen();
}

/*
 * A connection that has pages gets more of them in time, not at once: pages that come back behind
 * the last look of its Call find the Call, and the service of all connections is due.
 */
static void pages_behind_last_look(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_msg *call = &f->calls[0];
	const unsigned int pages = SVC2_PAGES_MIN / 8;

	begin_pages(test, SVC2_PAGES_MIN / 2, SVC2_PAGES_MIN / 2 - 1);
	svc2_pages_account(&f->sp, 1);
	looks = 0;
	open_window(BEHIND_QUOTA, return_at_third);
	KUNIT_EXPECT_EQ(test, reserve_pages(&f->sp, call, pages), -EINPROGRESS);
	expect_passed(test);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 0);
	KUNIT_EXPECT_EQ(test, scarce.waiters, 1);
	KUNIT_EXPECT_TRUE(test, svc2_pages_short);
	list_add(&f->sp.sp_listed, &svc2_conns);
	svc2_pages_serve_all();
	list_del(&f->sp.sp_listed);
	KUNIT_EXPECT_EQ(test, call->sm_charged, pages);
	svc2_pages_give(&f->sp, pages + 1);
	svc2_pages_give(&scarce.third, SVC2_PAGES_MIN / 2 - 1);
	end_pages(test);
}

/* A third connection takes pages without the lock, if it may. */
static void try_third(void)
{
	scarce.ret = svc2_pages_try(&scarce.third, scarce.pages);
}

/* Its pages come back, and it takes them again behind the look of the Call that finds them. */
static void return_and_try(void)
{
	svc2_pages_account(&scarce.third, -scarce.pages);
	pass_first();
}

static const struct granted_case {
	const char	*desc;
	enum place	place;
} granted_cases[] = {
	{ "behind the look", BEHIND_GRANT },
	{ "when the Call no longer waits", BEHIND_RELEASE },
};

KUNIT_ARRAY_PARAM_DESC(granted, granted_cases, desc);

/*
 * Others take no pages, without the lock, that a Call is about to take under it: neither after it
 * has looked for them, nor when it is no longer among the waiters.
 */
static void pages_behind_grant(struct kunit *test)
{
	const struct granted_case *c = test->param_value;
	struct fixture *f = test->priv;
	struct svc2_msg *call = &f->calls[0];

	begin_pages(test, SVC2_PAGES_MIN / 2, SVC2_PAGES_MIN / 2);
	open_windows(BEHIND_QUOTA, c->place, try_third);
	open_window(BEHIND_QUOTA, return_and_try);
	KUNIT_EXPECT_EQ(test, reserve_pages(&f->sp, call, scarce.pages), 0);
	expect_passed(test);
	KUNIT_EXPECT_FALSE(test, scarce.ret);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&svc2_pages_used), SVC2_PAGES_MIN);
	svc2_pages_give(&f->sp, scarce.pages);
	svc2_pages_give(&scarce.other, scarce.pages);
	end_pages(test);
}

/* The same for a Call that has waited */
static void pages_behind_wait(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_msg *call = &f->calls[0];

	begin_pages(test, SVC2_PAGES_MIN / 2, SVC2_PAGES_MIN / 2);
	KUNIT_EXPECT_EQ(test, reserve_pages(&f->sp, call, scarce.pages), -EINPROGRESS);
	open_window(BEHIND_RELEASE, try_third);
	svc2_pages_give(&scarce.third, scarce.pages);
	expect_passed(test);
	KUNIT_EXPECT_FALSE(test, scarce.ret);
	KUNIT_EXPECT_EQ(test, call->sm_charged, scarce.pages);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&svc2_pages_used), SVC2_PAGES_MIN);
	svc2_pages_give(&f->sp, scarce.pages);
	svc2_pages_give(&scarce.other, scarce.pages);
	end_pages(test);
}

static void note_used(void)
{
	scarce.used = atomic_long_read(&svc2_pages_used);
}

/* While a Call waits, or over its own quota, a connection does not count pages before it looks. */
static void pages_counted_late(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_msg *calls = f->calls;

	begin_pages(test, SVC2_PAGES_MIN / 2, 0);
	KUNIT_EXPECT_EQ(test, reserve_pages(&f->sp, &calls[0], SVC2_PAGES_MIN), -EINPROGRESS);
	open_window(BEHIND_BARRIER, note_used);
	KUNIT_EXPECT_EQ(test, reserve_pages(&scarce.third, &calls[1], 1), 0);
	expect_passed(test);
	KUNIT_EXPECT_EQ(test, scarce.used, SVC2_PAGES_MIN / 2);
	flush_pages_wait(&f->sp);
	open_window(BEHIND_BARRIER, note_used);
	KUNIT_EXPECT_EQ(test, reserve_pages(&f->sp, &calls[0], SVC2_PAGES_MIN), -EINPROGRESS);
	expect_passed(test);
	KUNIT_EXPECT_EQ(test, scarce.used, SVC2_PAGES_MIN / 2 + 1);
	flush_pages_wait(&f->sp);
	svc2_pages_give(&scarce.third, 1);
	svc2_pages_give(&scarce.other, scarce.pages);
	end_pages(test);
}

/* Units that come back before a Call is known as a waiter are the Call's, and wake a thread. */
static void units_before_call_waits(struct kunit *test)
{
	struct fixture *f = test->priv;

	begin_scarce(test);
	KUNIT_ASSERT_EQ(test, enter(f, 0, ENTRIES - KEPT, 0), 0);
	open_window(BEHIND_DENIAL, give_entries);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 5, 0), -EINPROGRESS);
	expect_passed(test);
	KUNIT_EXPECT_EQ(test, f->calls[1].sm_entries, 5);
	KUNIT_EXPECT_PTR_EQ(test, first_served(f), &f->calls[1]);
	KUNIT_EXPECT_GE(test, wakeups, 1);
}

/* The same for a thread: its wait would end after a timeout, with the connection. */
static void units_before_thread_waits(struct kunit *test)
{
	struct fixture *f = test->priv;

	begin_scarce(test);
	machine.stall_timeout = 1;
	KUNIT_ASSERT_EQ(test, svc2_sem_take(&f->sp, &f->sp.sp_sq_sem, ENTRIES - KEPT, 0), 0);
	open_window(BEHIND_DENIAL, give_entries);
	KUNIT_EXPECT_EQ(test, svc2_sem_take(&f->sp, &f->sp.sp_sq_sem, 5, 0), 0);
	expect_passed(test);
	KUNIT_EXPECT_EQ(test, f->losses, 0);
}

static void ready_to_start(struct fixture *f)
{
	svc2_msg_ready(&f->sp, &f->calls[0]);
}

static void ready_with_data(struct fixture *f)
{
	static struct page *pages[1];

	INIT_LIST_HEAD(&f->calls[0].sm_rw.rw_parts);
	f->calls[0].sm_pages = pages;
	svc2_msg_ready(&f->sp, &f->calls[0]);
}

static void ready_after_shortage(struct fixture *f)
{
	svc2_shortage_begin(&f->sp);
	svc2_shortage_queue(&f->sp, &f->calls[0]);
	svc2_shortage_end(&f->sp);
}

static const struct ready_case {
	const char	*desc;
	void		(*produce)(struct fixture *f);
} ready_cases[] = {
	{ "before its RDMA Reads", ready_to_start },
	{ "with its data", ready_with_data },
	{ "after a shortage", ready_after_shortage },
};

KUNIT_ARRAY_PARAM_DESC(ready, ready_cases, desc);

/* Whether a thread that takes the connection up finds a Call */
static bool found;

static void take_up(void)
{
	struct svc2_xprt *sp = &scarce.f->sp;

	found = test_and_clear_bit(XPT_DATA, &sp->sp_xprt.xpt_flags) &&
		(!list_empty(&sp->sp_start_q) || !list_empty(&sp->sp_ready_q));
}

/* A thread that is woken for a Call finds it. */
static void call_before_wakeup(struct kunit *test)
{
	const struct ready_case *c = test->param_value;

	begin_scarce(test);
	found = false;
	open_window(AT_WAKEUP, take_up);
	c->produce(test->priv);
	expect_passed(test);
	KUNIT_EXPECT_TRUE(test, found);
}

/*
 * While Calls wait for units, a thread that releases the connection finds a Call for which they may
 * wait, once XPT_BUSY is read to see whether the connection was released.
 */
static void call_before_release(struct kunit *test)
{
	const struct ready_case *c = test->param_value;
	struct fixture *f = test->priv;

	begin_scarce(test);
	KUNIT_EXPECT_EQ(test, enter(f, 1, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, enter(f, 2, 8, 0), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&f->sp.sp_xprt), 0);
	has_room = false;
	open_window(BEHIND_BARRIER, look_for_room);
	c->produce(f);
	expect_passed(test);
	KUNIT_EXPECT_TRUE(test, has_room);
	KUNIT_EXPECT_EQ(test, wakeups, 1);
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
	KUNIT_CASE_PARAM(room_wakes_connection, room_gen_params),
	KUNIT_CASE_PARAM(room_before_mark, room_gen_params),
	KUNIT_CASE_PARAM(room_behind_mark, room_gen_params),
	KUNIT_CASE_PARAM(mark_during_return, room_gen_params),
	KUNIT_CASE(pages_after_service),
	KUNIT_CASE(pages_during_check),
	KUNIT_CASE(pages_without_lock),
	KUNIT_CASE_PARAM(pages_taken_at_once, taken_gen_params),
	KUNIT_CASE_PARAM(pages_before_call_waits, return_gen_params),
	KUNIT_CASE(pages_behind_last_look),
	KUNIT_CASE_PARAM(pages_behind_grant, granted_gen_params),
	KUNIT_CASE(pages_behind_wait),
	KUNIT_CASE(pages_counted_late),
	KUNIT_CASE(units_before_call_waits),
	KUNIT_CASE(units_before_thread_waits),
	KUNIT_CASE_PARAM(call_before_wakeup, ready_gen_params),
	KUNIT_CASE_PARAM(call_before_release, ready_gen_params),
	KUNIT_CASE(r5_detects_lost_units),
	{}
};

static struct kunit_suite sem_suite = {
	.name		= "svcrdma2_sem",
	.init		= sem_init,
	.test_cases	= sem_cases,
};

kunit_test_suite(sem_suite);
