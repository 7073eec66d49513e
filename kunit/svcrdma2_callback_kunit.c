// SPDX-License-Identifier: GPL-2.0
/*
 * The backchannel of a connection that is lost, or that all others have put. Abandoned Calls of
 * the server with exposed memory: the wait for a late answer, and the revocation of their memory
 * regions.
 */
#include <kunit/test.h>
#include <linux/sunrpc/xprt.h>

#include "window.h"

#define xprt_wait_for_buffer_space	windowed_wait
#include "../svcrdma2/svcrdma2.h"
#include "counters.h"
#include "fake_mr.h"

/* Only svc2_bc_send_request() has an event. */
#define _SVCRDMA2_TRACE_H
#define trace_svc2_backward_call(sp, h, len, ret)	((void)(h))

/* A short timeout makes a stalled revocation fail at once. */
static unsigned long revoke_timeout;
#undef SVC2_REVOKE_TIMEOUT
#define SVC2_REVOKE_TIMEOUT revoke_timeout

/* The wait for an answer takes no time: the macro counts it, and simulates events during it. */
static unsigned int waited;
static int late_waiters;	/* during the last of them */
static long overslept;		/* time of the wait after these events */
static void simulate_events(void);
#include <linux/wait_bit.h>
#undef wait_var_event_timeout
#define wait_var_event_timeout(var, condition, timeout) ({		\
	waited++;							\
	late_waiters = atomic_read(&svc2_bc_late_waiters);		\
	simulate_events();						\
	(condition) ? (timeout) - overslept : 0;			\
})

/* Last references of connections that were passed to work */
static unsigned int puts;
#include <linux/workqueue.h>
#undef queue_work
#define queue_work(wq, work)	(puts++)

/* Looks at the fences of answers that are due, all of them after @look_delay */
static unsigned int looks;
static unsigned long look_delay;
#undef queue_delayed_work
#define queue_delayed_work(wq, work, delay)				\
	((void)(work), look_delay = min_t(unsigned long, look_delay, delay), looks++)

/*
 * An answer of these test cases has no Receive. Whether it was put back, and whether a credit
 * came back before
 */
static bool put_back, too_early;
static void (*meanwhile)(void);		/* happens before the Receive is back */
#define svc2_msg_put(sp, msg)		put_answer(msg)
#define svc2_discard_reply(sp, msg)	put_answer(msg)
static int put_answer(struct svc2_msg *answer)
{
	if (meanwhile)
		meanwhile();
	put_back = true;
	return 0;
}

#define rpcrdma2_window_raised(xprt)	return_credit()
#define xprt_complete_rqst(task, copied)	return_credit()
#define rpcrdma2_wake_with(task, status)	return_credit()
static void return_credit(void)
{
	too_early |= !put_back;
}

/* Whether a Call gets a credit */
static bool credit;
#define xprt_request_get_cong(xprt, rqst)	get_credit()
static bool get_credit(void)
{
	if (!credit)
		pass(BEHIND_DENIAL);
	return credit;
}

/* The Call that an answer finds, and the sleep of a task */
static struct rpc_rqst *found;
#define xprt_lookup_rqst(xprt, xid)	(found)
static rpc_action woken;
static long slept;
#define rpc_sleep_on_timeout(queue, task, action, until)	\
	(woken = (action), slept = (long)((until) - jiffies))

/* The result of the offer of chunks, and the send context of the Call */
static int offered;
static struct svc2_tx *context;
#define rpcrdma2_offer(...)		(offered)
#define svc2_tx_try_get(sp, sc)		(context)
#define svc2_tx_put(sp, tx)		((void)(tx))

/* The result of the post of a Call */
static int posted;
static int post_call(struct svc2_xprt *sp);
#define svc2_tx_header(tx, h)			((void)(tx))
#define svc2_tx_post(sp, tx, inv_handle, rw)	post_call(sp)

/* The result of the Receives that a backchannel needs */
static int filled;
#define svc2_grant_fill(sp, limit)	grant_fill(sp, limit)
static int grant_fill(struct svc2_xprt *sp, u32 limit)
{
	return filled;
}

#undef smp_mb
#define smp_mb()	windowed_barrier()	/* a place */
#include "../svcrdma2/backchannel.c"

/* The wait for an answer */

#define CALLS	4

/**
 * struct call - an abandoned Call
 * @rqst: request of the RPC client
 * @region: the only exposed region
 * @sc: the Call itself
 */
struct call {
	struct rpc_rqst		rqst;
	struct list_head	region;
	struct svc2_callback	*sc;
};

/**
 * struct fixture - a connection, and Calls that its peer has received
 * @sp: connection
 * @bc: the RPC client's view of the connection
 * @calls: Calls of XID 0 and up
 */
struct fixture {
	struct svc2_xprt	sp;
	struct backchannel	*bc;
	struct call		calls[CALLS];
};

static int late_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct rpc_xprt *xprt;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->bc = kunit_kzalloc(test, struct_size(f->bc, bc_posted, CALLS), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->bc);
	xprt = &f->bc->bc_xprt;
	spin_lock_init(&xprt->transport_lock);
	spin_lock_init(&xprt->queue_lock);
	INIT_LIST_HEAD(&f->bc->bc_answered);
	f->sp.sp_backward_max = CALLS;
	for (i = 0; i < CALLS; i++) {
		struct call *de = &f->calls[i];
		struct svc2_callback *sc;

		sc = kunit_kzalloc(test, sizeof(*sc), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, sc);
		de->sc = sc;
		de->rqst.rq_xprt = xprt;
		de->rqst.rq_xid = cpu_to_be32(i);
		sc->sc_sp = &f->sp;
		sc->sc_rqst = &de->rqst;
		rpcrdma2_exposed_init(&sc->sc_exposed);
		list_add(&de->region, &sc->sc_exposed.em_regions);
		svc2_bc_note_posting(&f->sp, xprt, i, sc);
		svc2_bc_note_copies(&f->sp, xprt, i, SVC2_BC_POSTING, SVC2_BC_SENT);
		KUNIT_ASSERT_NOT_NULL(test, svc2_bc_find_posted(&f->sp, xprt, i));
	}
	return 0;
}

static void late_exit(struct kunit *test)
{
	window = NOWHERE;
	credit = false;
	offered = 0;
	context = NULL;
}

static void receive_answer(struct fixture *f, unsigned int number)
{
	struct rpcrdma2_msg msg = { .mg_hdr.h_xid = number };

	svc2_bc_late_reply(&f->sp, &f->bc->bc_xprt, &msg);
}

/* An answer, or the end of the connection, during a wait */
static struct fixture *answers;
static unsigned int answered;
static struct svc2_xprt *detached;

static void simulate_events(void)
{
	if (answers)
		receive_answer(answers, answered);
	if (detached)
		set_bit(XPT_DEAD, &detached->sp_xprt.xpt_flags);
}

/* Return: true if the end of the Call waits for an answer. */
static bool waits_for_answer(struct call *de)
{
	unsigned int before = waited;

	svc2_bc_await_late(de->sc);
	return waited != before;
}

/*
 * C-009: after a wait without an answer, the server does not wait for this peer again until
 * the peer answers a Call.
 */
static void c009_silent_peer(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 silent = count_of(SVC2_C_backward_silent);

	KUNIT_EXPECT_TRUE(test, waits_for_answer(&f->calls[0]));
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_backward_silent), ++silent);
	KUNIT_EXPECT_FALSE(test, waits_for_answer(&f->calls[1]));
	KUNIT_EXPECT_FALSE(test, waits_for_answer(&f->calls[2]));
	/* This answer is too late for its Call, but shows that the peer is alive. */
	receive_answer(f, 1);
	KUNIT_EXPECT_FALSE(test, f->calls[1].sc->sc_late);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_backward_silent), silent);
	KUNIT_EXPECT_TRUE(test, waits_for_answer(&f->calls[3]));
}

/* C-009: the server waits for every late answer of a slow peer. */
static void c009_slow_peer(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 silent = count_of(SVC2_C_backward_silent);

	answers = f;
	for (answered = 0; answered < CALLS - 1; answered++) {
		KUNIT_EXPECT_TRUE(test, waits_for_answer(&f->calls[answered]));
		KUNIT_EXPECT_TRUE(test, f->calls[answered].sc->sc_late);
	}
	answers = NULL;
	KUNIT_EXPECT_FALSE(test, f->sp.sp_silent);
	/* A Call with an answer does not wait. */
	receive_answer(f, CALLS - 1);
	KUNIT_EXPECT_FALSE(test, waits_for_answer(&f->calls[CALLS - 1]));
	KUNIT_EXPECT_FALSE(test, f->sp.sp_silent);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_backward_silent), silent);
}

/* The end of the connection ends a wait, and prevents later ones. */
static void c009_lost_peer(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 silent = count_of(SVC2_C_backward_silent);

	detached = &f->sp;
	KUNIT_EXPECT_TRUE(test, waits_for_answer(&f->calls[0]));
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_backward_silent), silent);
	/* A wait that nothing wakes takes all of its time. */
	clear_bit(XPT_DEAD, &f->sp.sp_xprt.xpt_flags);
	overslept = SVC2_BC_ANSWER_TIMEOUT - 1;
	KUNIT_EXPECT_TRUE(test, waits_for_answer(&f->calls[1]));
	overslept = 0;
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_backward_silent), silent + 1);
	detached = NULL;
	KUNIT_EXPECT_FALSE(test, f->sp.sp_silent);
	KUNIT_EXPECT_FALSE(test, waits_for_answer(&f->calls[2]));
}

/* S46: a limit applies to the waiting tasks of all connections together. */
static void s46_waiter_limit(struct kunit *test)
{
	struct fixture *f = test->priv;

	/* Tasks that wait for an invalidation have a limit of their own. */
	atomic_set(&svc2_bc_fence_waiters, SVC2_BC_FENCE_MAX);
	atomic_set(&svc2_bc_late_waiters, SVC2_BC_LATE_MAX);
	KUNIT_EXPECT_FALSE(test, waits_for_answer(&f->calls[0]));
	KUNIT_EXPECT_EQ(test, atomic_read(&svc2_bc_late_waiters), SVC2_BC_LATE_MAX);
	/* A peer does not count as silent because of that limit. */
	atomic_set(&svc2_bc_late_waiters, SVC2_BC_LATE_MAX - 1);
	KUNIT_EXPECT_TRUE(test, waits_for_answer(&f->calls[1]));
	KUNIT_EXPECT_EQ(test, late_waiters, SVC2_BC_LATE_MAX);
	KUNIT_EXPECT_EQ(test, atomic_read(&svc2_bc_late_waiters), SVC2_BC_LATE_MAX - 1);
	atomic_set(&svc2_bc_late_waiters, 0);
	atomic_set(&svc2_bc_fence_waiters, 0);
}

/* Sets up the backchannel, as nfsd does. */
static struct rpc_xprt *set_up(struct fixture *f)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct xprt_create args = {
		.net		= &init_net,
		.bc_xprt	= &f->sp.sp_xprt,
		.dstaddr	= (struct sockaddr *)&address,
		.addrlen	= sizeof(address),
	};

	f->sp.sp_last_vers = RPCRDMA2_VERS_ONE;
	f->sp.sp_ex.ex_supported.pr_brs = RDMA2_BKREQSUP_INLINE;
	f->sp.sp_ex.ex_announced.pr_brs = RDMA2_BKREQSUP_INLINE;
	return svc2_bc_setup(&args);
}

/* The first Call of a connection with a backchannel is ready to be sent. */
static struct rpc_rqst *set_up_call(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct rpc_rqst *rqst = &f->calls[0].rqst;
	struct svc2_callback *sc = f->calls[0].sc;

	filled = 0;
	rqst->rq_xprt = set_up(f);
	KUNIT_ASSERT_FALSE(test, IS_ERR(rqst->rq_xprt));
	rqst->rq_buffer = sc->sc_data;
	INIT_LIST_HEAD(&sc->sc_exposed.em_regions);
	return rqst;
}

/*
 * The connection is lost during the setup: nfsd gets its transport, on which Calls fail, and no
 * error. Without memory for Receives it may set up another one later.
 */
static void lost_during_setup(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct rpc_rqst *rqst = &f->calls[0].rqst;

	filled = -ENOMEM;
	KUNIT_EXPECT_EQ(test, PTR_ERR(set_up(f)), -ENOMEM);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_BACKWARD, &f->sp.sp_flags));

	filled = -EIO;
	set_bit(XPT_DEAD, &f->sp.sp_xprt.xpt_flags);
	rqst->rq_xprt = set_up(f);
	KUNIT_ASSERT_FALSE(test, IS_ERR(rqst->rq_xprt));
	KUNIT_EXPECT_PTR_EQ(test, f->sp.sp_xprt.xpt_bc_xprt, rqst->rq_xprt);
	rqst->rq_buffer = f->calls[0].sc->sc_data;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -ENOTCONN);
	KUNIT_EXPECT_NULL(test, svc2_bc_get(rqst->rq_xprt));
	svc2_bc_destroy(rqst->rq_xprt);
}

/*
 * A Call with a buffer holds the connection, also when nfsd has put its reference. The last
 * reference is put by work. After the end of the connection there is no buffer.
 */
static void held_by_buffers(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct rpc_rqst *rqst = &f->calls[0].rqst;
	struct rpc_task task = { .tk_rqstp = rqst };
	struct kref *ref = &f->sp.sp_xprt.xpt_ref;

	filled = 0;
	kref_init(ref);
	rqst->rq_xprt = set_up(f);
	KUNIT_ASSERT_FALSE(test, IS_ERR(rqst->rq_xprt));
	KUNIT_ASSERT_EQ(test, svc2_bc_alloc(&task), 0);
	KUNIT_EXPECT_EQ(test, kref_read(ref), 2);
	puts = 0;
	svc2_bc_free(&task);
	KUNIT_EXPECT_EQ(test, kref_read(ref), 1);
	KUNIT_EXPECT_EQ(test, puts, 0);

	KUNIT_ASSERT_EQ(test, svc2_bc_alloc(&task), 0);
	rqst->rq_xprt->ops->close(rqst->rq_xprt);
	refcount_set(&ref->refcount, 1);
	svc2_bc_free(&task);
	KUNIT_EXPECT_EQ(test, kref_read(ref), 1);
	KUNIT_EXPECT_EQ(test, puts, 1);
	KUNIT_EXPECT_EQ(test, svc2_bc_alloc(&task), -ENOTCONN);

	/* A task without a buffer uses nothing of the connection. */
	memset(&f->sp, 0xff, sizeof(f->sp));
	rqst->rq_buffer = NULL;
	spin_lock(&rqst->rq_xprt->transport_lock);
	svc2_bc_release_request(&task);
	spin_unlock(&rqst->rq_xprt->transport_lock);
	svc2_bc_destroy(rqst->rq_xprt);
}

/*
 * A Call pauses after errors of the peer. On 32 bit, jiffies since the last one may exceed half of
 * their range.
 */
static void pause_after_errors(struct kunit *test)
{
	struct rpc_rqst *rqst = set_up_call(test);
	struct fixture *f = test->priv;

	f->sp.sp_backward_failed = jiffies;
	f->sp.sp_backward_errors = SVC2_BACKWARD_ERRORS;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -EBADSLT);
	f->sp.sp_backward_errors = SVC2_BACKWARD_ERRORS + SVC2_BACKWARD_PAUSE;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -ENOBUFS);
	f->sp.sp_backward_failed = jiffies - SVC2_BACKWARD_PAUSE * HZ / 4;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -EBADSLT);
	f->sp.sp_backward_failed = jiffies - ULONG_MAX / 2 - SVC2_BACKWARD_PAUSE * HZ;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -EBADSLT);
	svc2_bc_destroy(rqst->rq_xprt);
}

/* A connection that ends, before it is closed */
static struct svc2_xprt *ending;

static void end_connection(void)
{
	set_bit(XPT_DEAD, &ending->sp_xprt.xpt_flags);
}

/* The connection ends at the next barrier. */
static void end_at_barrier(void)
{
	open_window(BEHIND_BARRIER, end_connection);
}

/* The task of a Call does not sleep if @act happens at @at: nothing would wake it later. */
static void expect_end_noticed(struct kunit *test, struct rpc_rqst *rqst, enum place at,
			       void (*act)(void))
{
	struct fixture *f = test->priv;

	ending = &f->sp;
	clear_bit(XPT_DEAD, &f->sp.sp_xprt.xpt_flags);
	xprt_set_connected(rqst->rq_xprt);
	open_window(at, act);
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -ENOTCONN);
	expect_passed(test);
	KUNIT_EXPECT_FALSE(test, xprt_connected(rqst->rq_xprt));
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &rqst->rq_xprt->state));
}

/* A Call does not sleep for a credit of a connection that ends meanwhile. */
static void b05_lost_before_sleep(struct kunit *test)
{
	struct rpc_rqst *rqst = set_up_call(test);

	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -EBADSLT);
	expect_end_noticed(test, rqst, BEHIND_DENIAL, end_connection);
	expect_end_noticed(test, rqst, BEHIND_DENIAL, end_at_barrier);
	svc2_bc_destroy(rqst->rq_xprt);
}

/* The first Call of a connection has a credit, but finds too few regions. */
static struct rpc_rqst *set_up_without_regions(struct kunit *test)
{
	struct rpc_rqst *rqst = set_up_call(test);
	struct fixture *f = test->priv;

	context = kunit_kzalloc(test, sizeof(*context), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, context);
	rpcrdma2_regions_init(&f->sp.sp_conn);
	credit = true;
	offered = -EAGAIN;
	return rqst;
}

/*
 * A Call that found too few regions is sent again at once, if regions have come back before its
 * task sleeps.
 */
static void regions_back_before_sleep(struct kunit *test)
{
	struct rpc_rqst *rqst = set_up_without_regions(test);
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &rqst->rq_xprt->state));
	f->sp.sp_conn.co_regions.rg_needed = 1;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -EAGAIN);
	KUNIT_EXPECT_TRUE(test, test_bit(XPRT_WRITE_SPACE, &rqst->rq_xprt->state));
	svc2_bc_destroy(rqst->rq_xprt);
}

/* A Call does not sleep for regions of a connection that ends meanwhile. */
static void b05_lost_before_wait_for_regions(struct kunit *test)
{
	struct rpc_rqst *rqst = set_up_without_regions(test);
	struct fixture *f = test->priv;

	f->sp.sp_conn.co_regions.rg_needed = 1;
	expect_end_noticed(test, rqst, BEFORE_WAIT, end_connection);
	expect_end_noticed(test, rqst, BEHIND_WAIT, end_connection);
	expect_end_noticed(test, rqst, BEHIND_WAIT, end_at_barrier);
	svc2_bc_destroy(rqst->rq_xprt);
}

/* R8: the memory of a Call whose Send was refused belongs to an answer that came nevertheless. */
static void r8_refused_and_answered(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_callback *sc = f->calls[0].sc;
	static struct svc2_msg answer;

	sc->sc_vers = RPCRDMA2_VERS_TWO;
	sc->sc_answer = &answer;
	KUNIT_EXPECT_FALSE(test, svc2_bc_withdraw(sc));
	KUNIT_EXPECT_EQ(test, sc->sc_vers, RPCRDMA2_VERS_TWO);
	sc->sc_answer = NULL;
	KUNIT_EXPECT_TRUE(test, svc2_bc_withdraw(sc));
	KUNIT_EXPECT_EQ(test, sc->sc_vers, 0);
}

/*
 * R8: a Call whose answer makes the RPC client send it again gets new regions; until it is posted
 * again, no second answer can end it.
 */
static void r8_sent_again(struct kunit *test)
{
	static struct svc2_msg answer;
	struct fixture *f = test->priv;
	struct call *de = &f->calls[0];
	struct rpc_task task = {};

	de->rqst.rq_task = &task;
	de->sc->sc_vers = RPCRDMA2_VERS_TWO;
	de->sc->sc_answer = &answer;
	list_add(&de->sc->sc_answered, &f->bc->bc_answered);
	xprt_pin_rqst(&de->rqst);
	svc2_callback_unpin(de->sc, 0, false);
	KUNIT_EXPECT_NULL(test, de->sc->sc_answer);
	KUNIT_EXPECT_EQ(test, de->sc->sc_vers, 0);
}

/*
 * R8: before a Call is built once more, an answer to its first copy has ended, or prevents the
 * second copy; later no answer reaches the Call until it is posted.
 */
static void r8_built_again(struct kunit *test)
{
	static struct svc2_msg answer;
	struct fixture *f = test->priv;
	struct svc2_callback *sc = f->calls[0].sc;
	struct rpc_rqst *rqst = set_up_call(test);

	/* With no level of the peer the Call cannot be built. */
	f->sp.sp_ex.ex_announced.pr_brs = RDMA2_BKREQSUP_NONE;
	credit = true;

	sc->sc_vers = RPCRDMA2_VERS_ONE;
	sc->sc_answer = &answer;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), 0);
	KUNIT_EXPECT_EQ(test, sc->sc_vers, RPCRDMA2_VERS_ONE);
	sc->sc_answer = NULL;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, sc->sc_vers, 0);
	credit = false;
	svc2_bc_destroy(rqst->rq_xprt);
}

/* B-05: an answer that comes before a Call is posted once more returns the first copy's credit. */
static void b05_answered_before_sent_again(struct kunit *test)
{
	struct svc2_msg *answer = kunit_kzalloc(test, sizeof(*answer), GFP_KERNEL);
	struct fixture *f = test->priv;
	struct call *de = &f->calls[0];

	KUNIT_ASSERT_NOT_NULL(test, answer);
	answer->sm_msg.mg_hdr.h_vers = RPCRDMA2_VERS_TWO;
	f->sp.sp_xprt.xpt_bc_xprt = &f->bc->bc_xprt;
	de->rqst.rq_buffer = de->sc->sc_data;
	found = &de->rqst;
	svc2_take_answer(&f->sp, answer);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, CALLS - 1);
	KUNIT_EXPECT_NULL(test, svc2_bc_find_posted(&f->sp, &f->bc->bc_xprt, 0));
	/* The Call cannot be sent again, because it is too long now. */
	de->sc->sc_vers = RPCRDMA2_VERS_TWO;
	de->sc->sc_failed = true;
	answer->sm_msg.mg_hdr.h_xid = 1;
	svc2_take_answer(&f->sp, answer);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, CALLS - 2);
	found = NULL;
}

/* The Call that is sent again, and the result */
static struct rpc_rqst *again;
static int sent_again;

static void send_again(void)
{
	sent_again = svc2_bc_send_request(again);
}

/* An answer that comes just before the Call is posted, perhaps to a Call that has failed */
static struct svc2_msg *overtaking;
static bool fails;

static int post_call(struct svc2_xprt *sp)
{
	if (fails)
		svc2_callback_of(again)->sc_failed = true;
	if (overtaking)
		svc2_take_answer(sp, overtaking);
	if (!posted)
		svc2_callback_of(again)->sc_vers = RPCRDMA2_VERS_ONE;
	return posted;
}

/* Sets up the backchannel and its first Call, which can be sent. */
static struct rpc_rqst *set_up_sendable(struct kunit *test)
{
	struct rpc_rqst *rqst = set_up_call(test);
	struct fixture *f = test->priv;

	context = kunit_kzalloc(test, sizeof(*context), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, context);
	f->sp.sp_nposted = 0;
	credit = true;
	posted = 0;
	again = rqst;
	return rqst;
}

/*
 * B-05: the RPC layer does not find the Call of an answer, and sends the Call before the answer's
 * Receive is back. The answer does not return the credit of this copy, whether the peer has had an
 * earlier one or not.
 */
static void b05_sent_again_before_receive(struct kunit *test)
{
	struct rpc_rqst *rqst = set_up_sendable(test);
	struct fixture *f = test->priv;
	static struct svc2_msg answer;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		meanwhile = send_again;
		svc2_take_answer(&f->sp, &answer);
		meanwhile = NULL;
		KUNIT_EXPECT_EQ(test, sent_again, 0);
		KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, 1);
	}
	svc2_take_answer(&f->sp, &answer);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, 0);
	credit = false;
	svc2_bc_destroy(rqst->rq_xprt);
}

/*
 * B-05: an answer that comes just before a Call is posted does not return the credit of this
 * Call. Of a Call that is not posted the peer has an earlier copy, or none.
 */
static void b05_answered_before_post(struct kunit *test)
{
	struct rpc_rqst *rqst = set_up_sendable(test);
	struct fixture *f = test->priv;
	static struct svc2_msg answer;

	found = rqst;
	overtaking = &answer;
	/* The peer guesses the XID; then it answers the first copy. */
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), 0);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, 1);
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), 0);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, 1);

	posted = -ENOTCONN;
	overtaking = NULL;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, 1);
	overtaking = &answer;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, 0);
	overtaking = NULL;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, 0);

	found = NULL;
	credit = false;
	svc2_bc_destroy(rqst->rq_xprt);
}

/*
 * B-05: a copy of a failed callback is answered before the poster knows that it is posted. The
 * answer returns its credit, for no other will come.
 */
static void b05_answered_during_post(struct kunit *test)
{
	struct rpc_rqst *rqst = set_up_sendable(test);
	struct fixture *f = test->priv;
	static struct svc2_msg answer;

	found = rqst;
	overtaking = &answer;
	fails = true;
	KUNIT_EXPECT_EQ(test, svc2_bc_send_request(rqst), 0);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, 0);
	fails = false;
	overtaking = NULL;

	found = NULL;
	credit = false;
	svc2_bc_destroy(rqst->rq_xprt);
}

/*
 * R6: the Receive of an answer is posted again before the credit of its Call comes back, with a
 * Reply, with an error, and late.
 */
static void r6_receive_before_credit(struct kunit *test)
{
	static struct svc2_msg answer;
	struct fixture *f = test->priv;
	struct call *de = &f->calls[0];
	struct rpc_task task = {};
	unsigned int i;

	de->rqst.rq_task = &task;
	for (i = SVC2_ANSWER_FAIL; i <= SVC2_ANSWER_REPLY; i++) {
		de->sc->sc_verdict = i;
		de->sc->sc_answer = &answer;
		list_add(&de->sc->sc_answered, &f->bc->bc_answered);
		xprt_pin_rqst(&de->rqst);
		put_back = false;
		too_early = false;
		svc2_callback_unpin(de->sc, 0, true);
		KUNIT_EXPECT_TRUE(test, put_back);
		KUNIT_EXPECT_FALSE(test, too_early);
	}

	f->sp.sp_xprt.xpt_bc_xprt = &f->bc->bc_xprt;
	f->sp.sp_backward_limit = CALLS;
	f->sp.sp_backward_grant = CALLS;
	f->sp.sp_naborted = 1;
	f->bc->bc_posted[0].ps_aborted = true;
	put_back = false;
	svc2_take_answer(&f->sp, &answer);
	KUNIT_EXPECT_TRUE(test, put_back);
	KUNIT_EXPECT_FALSE(test, too_early);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, CALLS - 1);
	KUNIT_EXPECT_EQ(test, f->sp.sp_naborted, 0);
	KUNIT_EXPECT_EQ(test, f->bc->bc_xprt.cwnd, CALLS << RPC_CWNDSHIFT);
}

/* The fixture whose first Call is aborted */
static struct fixture *aborted;

static void abort_call(void)
{
	aborted->bc->bc_posted[0].ps_aborted = true;
	aborted->sp.sp_naborted = 1;
}

/*
 * R6: the RPC layer no longer finds the Call of an answer, and releases it before the Receive is
 * posted again. The Call's credit does not come back until then.
 */
static void r6_aborted_before_receive(struct kunit *test)
{
	static struct svc2_msg answer;
	struct fixture *f = test->priv;

	aborted = f;
	f->sp.sp_xprt.xpt_bc_xprt = &f->bc->bc_xprt;
	f->sp.sp_backward_limit = CALLS;
	f->sp.sp_backward_grant = CALLS;
	put_back = false;
	too_early = false;
	meanwhile = abort_call;
	svc2_take_answer(&f->sp, &answer);
	meanwhile = NULL;
	KUNIT_EXPECT_FALSE(test, too_early);
	KUNIT_EXPECT_EQ(test, f->sp.sp_nposted, CALLS - 1);
	KUNIT_EXPECT_EQ(test, f->sp.sp_naborted, 0);
	KUNIT_EXPECT_EQ(test, f->bc->bc_xprt.cwnd, CALLS << RPC_CWNDSHIFT);
}

/*
 * A Call that is too long ends with an error after a pause, during which it holds no credit and
 * its task can be woken.
 */
static void too_long(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct rpc_xprt *xprt = &f->bc->bc_xprt;
	struct rpc_rqst *rqst = &f->calls[0].rqst;
	struct rpc_task task = { .tk_rqstp = rqst };

	/* A task transmits. */
	set_bit(XPRT_LOCKED, &xprt->state);
	xprt->cong = 2 * RPC_CWNDSCALE;
	rqst->rq_task = &task;
	rqst->rq_buffer = f->calls[0].sc->sc_data;
	rqst->rq_cong = 1;
	INIT_LIST_HEAD(&f->calls[0].sc->sc_exposed.em_regions);
	svc2_callback_too_long(f->calls[0].sc);
	KUNIT_EXPECT_EQ(test, xprt->cong, RPC_CWNDSCALE);
	KUNIT_EXPECT_TRUE(test, f->calls[0].sc->sc_failed);
	/* The peer has the first copy, and its credit. */
	KUNIT_EXPECT_EQ(test, f->sp.sp_naborted, 1U);

	woken = NULL;
	svc2_bc_wait_for_reply(&task);
	KUNIT_ASSERT_NOT_NULL(test, woken);
	KUNIT_EXPECT_GT(test, slept, HZ / 4 - 2);
	KUNIT_EXPECT_LE(test, slept, HZ / 4);
	task.tk_status = -ERESTARTSYS;
	woken(&task);
	KUNIT_EXPECT_EQ(test, task.tk_status, -ERESTARTSYS);
	task.tk_status = -ETIMEDOUT;
	woken(&task);
	KUNIT_EXPECT_EQ(test, task.tk_status, -EIO);
}

static struct kunit_case late_cases[] = {
	KUNIT_CASE(lost_during_setup),
	KUNIT_CASE(held_by_buffers),
	KUNIT_CASE(pause_after_errors),
	KUNIT_CASE(b05_lost_before_sleep),
	KUNIT_CASE(regions_back_before_sleep),
	KUNIT_CASE(b05_lost_before_wait_for_regions),
	KUNIT_CASE(r8_refused_and_answered),
	KUNIT_CASE(r8_sent_again),
	KUNIT_CASE(r8_built_again),
	KUNIT_CASE(b05_answered_before_sent_again),
	KUNIT_CASE(b05_sent_again_before_receive),
	KUNIT_CASE(b05_answered_before_post),
	KUNIT_CASE(b05_answered_during_post),
	KUNIT_CASE(r6_receive_before_credit),
	KUNIT_CASE(r6_aborted_before_receive),
	KUNIT_CASE(too_long),
	KUNIT_CASE(c009_silent_peer),
	KUNIT_CASE(c009_slow_peer),
	KUNIT_CASE(c009_lost_peer),
	KUNIT_CASE(s46_waiter_limit),
	{}
};

static struct kunit_suite late_suite = {
	.name		= "svcrdma2_late",
	.init		= late_init,
	.exit		= late_exit,
	.test_cases	= late_cases,
};

/*
 * The end of a Call: the server takes memory regions back, even if the device reports their
 * invalidation too late (R8).
 *
 * The fake device accepts all work requests, and test cases report their completion.
 */

/**
 * struct revocation - a connection, and a Call that exposes a page
 * @sp: connection
 * @fake: its verbs objects
 * @report: work item that completes the last request
 * @last: last work request posted
 * @reports: the device completes work requests at once
 * @drains: drains of the Send Queue while the page was exposed
 * @waiters: counted tasks that waited during the last post
 * @callback: the Call
 */
struct revocation {
	struct svc2_xprt	sp;
	struct fake_conn	fake;
	struct work_struct	report;
	const struct ib_send_wr	*last;
	bool			reports;
	unsigned int		drains;
	int			waiters;
	struct svc2_callback	callback;
};

static int fake_post(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct revocation *f = container_of(qp, struct revocation, fake.qp);

	while (wr->next)
		wr = wr->next;
	f->last = wr;
	f->waiters = atomic_read(&svc2_bc_fence_waiters);
	if (f->reports)
		schedule_work(&f->report);
	return 0;
}

static void report(struct work_struct *work)
{
	struct revocation *f = container_of(work, struct revocation, report);
	struct ib_wc wc = { .wr_cqe = f->last->wr_cqe, .status = IB_WC_SUCCESS };

	wc.wr_cqe->done(&f->fake.cq, &wc);
}

static void send_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post, bool ok)
{
}

static int revoke_init(struct kunit *test)
{
	struct revocation *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	INIT_WORK(&f->report, report);
	svc2_sem_init(&f->sp.sp_tx_sem, NULL, SVC2_C_tx_waits);
	KUNIT_ASSERT_EQ(test, fake_conn_init(&f->sp.sp_conn, &f->fake, fake_post,
					     16, 1), 0);
	f->callback.sc_sp = &f->sp;
	rpcrdma2_exposed_init(&f->callback.sc_exposed);
	f->callback.sc_exposed.em_later = true;
	return 0;
}

static void revoke_exit(struct kunit *test)
{
	struct revocation *f = test->priv;

	if (f)
		fake_conn_exit(&f->fake);
}

/* Posts the Call, and completes its Send. */
static void begin(struct kunit *test)
{
	struct revocation *f = test->priv;
	struct rpcrdma2_exposed *ex = &f->callback.sc_exposed;
	struct ib_send_wr send = { .opcode = IB_WR_SEND }, *first = &send;
	struct rpcrdma2_post post = { .po_signal = true, .po_done = send_done };
	unsigned int wrs;

	KUNIT_ASSERT_EQ(test, fake_expose(&f->sp.sp_conn, ex), 0);
	wrs = 1 + rpcrdma2_exposed_chain(ex, &first);
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&f->sp.sp_conn, wrs, true));
	KUNIT_ASSERT_EQ(test, rpcrdma2_sq_post(&f->sp.sp_conn, &post, first), 0);
	report(&f->report);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_is_exposed(ex));
}

/* All regions and entries are back. */
static void expect_all_released(struct kunit *test)
{
	struct revocation *f = test->priv;
	struct rpcrdma2_conn *co = &f->sp.sp_conn;

	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_exposed(&f->callback.sc_exposed));
	rpcrdma2_sq_drain(co);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_regions_are_whole(co));
	rpcrdma2_regions_destroy(co);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(co));
}

/* R8: the device invalidates the region, and the connection survives. */
static void r8_revoked(struct kunit *test)
{
	struct revocation *f = test->priv;

	begin(test);
	revoke_timeout = MAX_SCHEDULE_TIMEOUT;
	f->reports = true;
	atomic_set(&svc2_bc_fence_waiters, SVC2_BC_FENCE_MAX - 1);
	svc2_callback_revoke(&f->callback);
	KUNIT_EXPECT_EQ(test, f->waiters, SVC2_BC_FENCE_MAX);
	KUNIT_EXPECT_EQ(test, atomic_read(&svc2_bc_fence_waiters), SVC2_BC_FENCE_MAX - 1);
	atomic_set(&svc2_bc_fence_waiters, 0);
	flush_work(&f->report);
	KUNIT_EXPECT_EQ(test, f->fake.why, RPCRDMA2_LOSS_NONE);
	KUNIT_EXPECT_EQ(test, f->sp.sp_conn.co_regions.rg_num_free, 1);
	expect_all_released(test);
}

static void drained(struct fake_conn *fc)
{
	struct revocation *f = container_of(fc, struct revocation, fake);

	f->drains += rpcrdma2_is_exposed(&f->callback.sc_exposed);
}

/*
 * R8: the peer stalls the Send Queue, and the invalidation exceeds its timeout. The server
 * takes the page back after the drain of the queue.
 */
static void r8_revoked_too_late(struct kunit *test)
{
	struct revocation *f = test->priv;

	begin(test);
	revoke_timeout = 1;
	f->fake.drained = drained;
	svc2_callback_revoke(&f->callback);
	KUNIT_EXPECT_EQ(test, f->fake.why, RPCRDMA2_LOSS_STALLED);
	KUNIT_EXPECT_EQ(test, f->drains, 1);
	KUNIT_EXPECT_EQ(test, f->last->opcode, IB_WR_LOCAL_INV);
	expect_all_released(test);
}

/*
 * R8, S46: with too many tasks in such a wait, the connection is closed at once, even if its
 * device would be fast.
 */
static void s46_revoked_without_wait(struct kunit *test)
{
	struct revocation *f = test->priv;

	begin(test);
	revoke_timeout = MAX_SCHEDULE_TIMEOUT;
	f->reports = true;
	f->fake.drained = drained;
	atomic_set(&svc2_bc_fence_waiters, SVC2_BC_FENCE_MAX);
	svc2_callback_revoke(&f->callback);
	KUNIT_EXPECT_EQ(test, atomic_read(&svc2_bc_fence_waiters), SVC2_BC_FENCE_MAX);
	atomic_set(&svc2_bc_fence_waiters, 0);
	flush_work(&f->report);
	KUNIT_EXPECT_EQ(test, f->fake.why, RPCRDMA2_LOSS_STALLED);
	KUNIT_EXPECT_EQ(test, f->drains, 1);
	KUNIT_EXPECT_NE(test, f->last->opcode, IB_WR_LOCAL_INV);
	expect_all_released(test);
}

/*
 * R8, S46: the peer stalls the Send Queue after its answer. The connection survives until a task
 * waits for the end of the fence, and does so for long; then the queue is drained.
 */
static void r8_fence_awaited_too_long(struct kunit *test)
{
	struct revocation *f = test->priv;
	struct svc2_callback *sc = &f->callback;
	static struct svc2_msg answer;
	struct rpc_task task = {};
	struct backchannel *bc;
	struct rpc_rqst rqst = { .rq_task = &task };

	bc = kunit_kzalloc(test, sizeof(*bc), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bc);
	spin_lock_init(&bc->bc_xprt.queue_lock);
	INIT_LIST_HEAD(&bc->bc_answered);
	kref_init(&f->sp.sp_xprt.xpt_ref);
	rqst.rq_xprt = &bc->bc_xprt;
	sc->sc_rqst = &rqst;
	sc->sc_exposed.em_done = svc2_callback_fenced;
	begin(test);

	sc->sc_answer = &answer;
	list_add(&sc->sc_answered, &bc->bc_answered);
	xprt_pin_rqst(&rqst);
	looks = 0;
	look_delay = ULONG_MAX;
	svc2_callback_answered(sc);
	KUNIT_EXPECT_EQ(test, f->last->opcode, IB_WR_LOCAL_INV);
	KUNIT_EXPECT_EQ(test, looks, 1U);
	svc2_bc_watch(&bc->bc_watch.work);
	svc2_bc_watch(&bc->bc_watch.work);
	set_bit(RPC_TASK_MSG_PIN_WAIT, &task.tk_runstate);
	svc2_bc_watch(&bc->bc_watch.work);
	KUNIT_EXPECT_EQ(test, f->fake.why, RPCRDMA2_LOSS_NONE);
	KUNIT_EXPECT_PTR_EQ(test, sc->sc_answer, &answer);
	KUNIT_EXPECT_EQ(test, looks, 4U);
	KUNIT_EXPECT_EQ(test, look_delay, SVC2_REVOKE_TIMEOUT);
	svc2_bc_watch(&bc->bc_watch.work);
	KUNIT_EXPECT_EQ(test, f->fake.why, RPCRDMA2_LOSS_STALLED);
	KUNIT_EXPECT_NULL(test, sc->sc_answer);
	KUNIT_EXPECT_TRUE(test, list_empty(&bc->bc_answered));
	KUNIT_EXPECT_EQ(test, kref_read(&f->sp.sp_xprt.xpt_ref), 1U);
	KUNIT_EXPECT_EQ(test, looks, 4U);
	svc2_callback_revoke(sc);
	expect_all_released(test);
}

static struct kunit_case revoke_cases[] = {
	KUNIT_CASE(r8_revoked),
	KUNIT_CASE(r8_fence_awaited_too_long),
	KUNIT_CASE(r8_revoked_too_late),
	KUNIT_CASE(s46_revoked_without_wait),
	{}
};

static struct kunit_suite revoke_suite = {
	.name		= "svcrdma2_revoke",
	.init		= revoke_init,
	.exit		= revoke_exit,
	.test_cases	= revoke_cases,
};

kunit_test_suites(&late_suite, &revoke_suite);
