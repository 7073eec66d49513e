// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of the server that were given up with memory exposed: for which of them an answer
 * is waited for, and how their memory regions are taken back.
 */
#include <kunit/test.h>

#include "../svcrdma2/svcrdma2.h"
#include "fake_mr.h"

/* svc2_bc_send_request() alone has an event */
#define _SVCRDMA2_TRACE_H
#define trace_svc2_backward_call(sp, h, len, ret)	((void)(h))

/* one that never ends has its time at once */
static unsigned long revoke_timeout;
#undef SVC2_REVOKE_TIMEOUT
#define SVC2_REVOKE_TIMEOUT revoke_timeout

/* The wait for an answer takes no time: counted, with what comes meanwhile */
static unsigned int waited;
static void come_meanwhile(void);
#include <linux/wait_bit.h>
#undef wait_var_event_timeout
#define wait_var_event_timeout(var, condition, timeout) ({		\
	waited++;							\
	come_meanwhile();						\
	(condition) ? 1 : 0;						\
})

#include "../svcrdma2/backchannel.c"

/*
 * The wait for an answer. Receives are those of svcrdma2_credits_kunit.c.
 */

#define CALLS	4

/**
 * struct dead - a Call that was given up
 * @rqst: what the RPC client sees
 * @region: what it exposes
 * @sc: it
 */
struct dead {
	struct rpc_rqst		rqst;
	struct list_head	region;
	struct svc2_callback	*sc;
};

/**
 * struct fixture - a connection, and Calls that its peer has
 * @sp: connection
 * @bc: as the RPC client sees it
 * @calls: of xid 0 and up
 */
struct fixture {
	struct svc2_xprt	sp;
	struct backchannel	*bc;
	struct dead		calls[CALLS];
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
	f->sp.sp_backward_max = CALLS;
	for (i = 0; i < CALLS; i++) {
		struct dead *de = &f->calls[i];
		struct svc2_callback *sc;

		sc = kunit_kzalloc(test, sizeof(*sc), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, sc);
		de->sc = sc;
		de->rqst.rq_xprt = xprt;
		de->rqst.rq_xid = cpu_to_be32(i);
		sc->sc_sp = &f->sp;
		sc->sc_rqst = &de->rqst;
		rpcrdma2_exposed_init(&sc->sc_exposed);
		list_add(&de->region, &sc->sc_exposed.ex_regions);
		KUNIT_ASSERT_TRUE(test,
				  svc2_bc_note_posted(&f->sp, xprt, i, sc));
	}
	return 0;
}

static void answer_comes(struct fixture *f, unsigned int number)
{
	struct rpcrdma2_msg msg = { .mg_hdr.h_xid = number };

	svc2_bc_late_reply(&f->sp, &f->bc->bc_xprt, &msg);
}

/* An answer, or the end of the connection, that comes during a wait */
static struct fixture *answers;
static unsigned int answered;
static struct svc2_xprt *detached;

static void come_meanwhile(void)
{
	if (answers)
		answer_comes(answers, answered);
	if (detached)
		set_bit(XPT_DEAD, &detached->sp_xprt.xpt_flags);
}

/* Return: whether the end of the Call waits, for as long as the peer is silent. */
static bool waits(struct dead *de)
{
	unsigned int before = waited;

	svc2_bc_await_late(de->sc);
	return waited != before;
}

/*
 * C-009: a peer that has let one Call wait in vain is not waited for again until it
 * answers.
 */
static void c009_a_silent_peer_is_waited_for_once(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_TRUE(test, waits(&f->calls[0]));
	KUNIT_EXPECT_FALSE(test, waits(&f->calls[1]));
	KUNIT_EXPECT_FALSE(test, waits(&f->calls[2]));
	/* late for that, and nothing of it is exposed for this answer any more */
	answer_comes(f, 1);
	KUNIT_EXPECT_FALSE(test, f->calls[1].sc->sc_late);
	KUNIT_EXPECT_TRUE(test, waits(&f->calls[3]));
}

/* C-009: one that answers what was given up is waited for each time. */
static void c009_a_slow_peer_is_waited_for(struct kunit *test)
{
	struct fixture *f = test->priv;

	answers = f;
	for (answered = 0; answered < CALLS - 1; answered++) {
		KUNIT_EXPECT_TRUE(test, waits(&f->calls[answered]));
		KUNIT_EXPECT_TRUE(test, f->calls[answered].sc->sc_late);
	}
	answers = NULL;
	KUNIT_EXPECT_FALSE(test, f->sp.sp_silent);
	/* one that has answered before the end is not */
	answer_comes(f, CALLS - 1);
	KUNIT_EXPECT_FALSE(test, waits(&f->calls[CALLS - 1]));
	KUNIT_EXPECT_FALSE(test, f->sp.sp_silent);
}

/* The end of the connection ends the wait, and no other begins. */
static void c009_a_peer_that_is_gone(struct kunit *test)
{
	struct fixture *f = test->priv;

	detached = &f->sp;
	KUNIT_EXPECT_TRUE(test, waits(&f->calls[0]));
	detached = NULL;
	KUNIT_EXPECT_FALSE(test, f->sp.sp_silent);
	KUNIT_EXPECT_FALSE(test, waits(&f->calls[1]));
}

/* S46: nor is any while as many tasks as may wait do, of whatever connection. */
static void s46_few_wait(struct kunit *test)
{
	struct fixture *f = test->priv;

	atomic_set(&svc2_bc_late_waiters, SVC2_BC_LATE_MAX);
	KUNIT_EXPECT_FALSE(test, waits(&f->calls[0]));
	KUNIT_EXPECT_EQ(test, atomic_read(&svc2_bc_late_waiters), SVC2_BC_LATE_MAX);
	/* which says nothing of the peer */
	atomic_set(&svc2_bc_late_waiters, SVC2_BC_LATE_MAX - 1);
	KUNIT_EXPECT_TRUE(test, waits(&f->calls[1]));
	KUNIT_EXPECT_EQ(test, atomic_read(&svc2_bc_late_waiters), SVC2_BC_LATE_MAX - 1);
	atomic_set(&svc2_bc_late_waiters, 0);
}

static struct kunit_case late_cases[] = {
	KUNIT_CASE(c009_a_silent_peer_is_waited_for_once),
	KUNIT_CASE(c009_a_slow_peer_is_waited_for),
	KUNIT_CASE(c009_a_peer_that_is_gone),
	KUNIT_CASE(s46_few_wait),
	{}
};

static struct kunit_suite late_suite = {
	.name		= "svcrdma2_late",
	.init		= late_init,
	.test_cases	= late_cases,
};

/*
 * The end: memory regions are taken back whether the device says so in time or not (R8).
 *
 * Over a device that takes what it is given and reports what a case has it report.
 */

/**
 * struct revocation - a connection, and a Call that offers a page
 * @sp: connection
 * @fake: its verbs objects
 * @report: the send CQ
 * @last: work request that was posted last
 * @reports: the device reports what is posted
 * @drains: the Send Queue was drained while the page was exposed, this often
 * @callback: it
 */
struct revocation {
	struct svc2_xprt	sp;
	struct fake_conn	fake;
	struct work_struct	report;
	const struct ib_send_wr	*last;
	bool			reports;
	unsigned int		drains;
	struct svc2_callback	callback;
};

static int fake_post(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct revocation *f = container_of(qp, struct revocation, fake.qp);

	while (wr->next)
		wr = wr->next;
	f->last = wr;
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

static void sent(struct rpcrdma2_conn *co, struct rpcrdma2_post *post, bool ok)
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
	f->callback.sc_exposed.ex_later = true;
	return 0;
}

static void revoke_exit(struct kunit *test)
{
	struct revocation *f = test->priv;

	if (f)
		fake_conn_exit(&f->fake);
}

/* The Call is posted, and its Send is done. */
static void begin(struct kunit *test)
{
	struct revocation *f = test->priv;
	struct rpcrdma2_exposed *ex = &f->callback.sc_exposed;
	struct ib_send_wr send = { .opcode = IB_WR_SEND }, *first = &send;
	struct rpcrdma2_post post = { .po_signal = true, .po_done = sent };
	unsigned int wrs;

	KUNIT_ASSERT_EQ(test, fake_expose(&f->sp.sp_conn, ex), 0);
	wrs = 1 + rpcrdma2_exposed_chain(ex, &first);
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&f->sp.sp_conn, wrs, true));
	KUNIT_ASSERT_EQ(test, rpcrdma2_sq_post(&f->sp.sp_conn, &post, first), 0);
	report(&f->report);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_is_exposed(ex));
}

/* Regions and entries are all there. */
static void ends_whole(struct kunit *test)
{
	struct revocation *f = test->priv;
	struct rpcrdma2_conn *co = &f->sp.sp_conn;

	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_exposed(&f->callback.sc_exposed));
	rpcrdma2_sq_drain(co);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_regions_are_whole(co));
	rpcrdma2_regions_destroy(co);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(co));
}

/* R8: the device invalidates the region, and the connection goes on. */
static void r8_revoked(struct kunit *test)
{
	struct revocation *f = test->priv;

	begin(test);
	revoke_timeout = MAX_SCHEDULE_TIMEOUT;
	f->reports = true;
	svc2_callback_revoke(&f->callback);
	flush_work(&f->report);
	KUNIT_EXPECT_EQ(test, f->fake.why, RPCRDMA2_LOSS_NONE);
	KUNIT_EXPECT_EQ(test, f->sp.sp_conn.co_regions.rg_num_free, 1);
	ends_whole(test);
}

static void drained(struct fake_conn *fc)
{
	struct revocation *f = container_of(fc, struct revocation, fake);

	f->drains += rpcrdma2_is_exposed(&f->callback.sc_exposed);
}

/*
 * R8: it does not in time, since the peer holds up the Send Queue. The page is
 * taken back when the device has left the queue.
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
	ends_whole(test);
}

static struct kunit_case revoke_cases[] = {
	KUNIT_CASE(r8_revoked),
	KUNIT_CASE(r8_revoked_too_late),
	{}
};

static struct kunit_suite revoke_suite = {
	.name		= "svcrdma2_revoke",
	.init		= revoke_init,
	.exit		= revoke_exit,
	.test_cases	= revoke_cases,
};

kunit_test_suites(&late_suite, &revoke_suite);
