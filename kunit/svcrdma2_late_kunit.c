// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of the server that were given up with memory exposed: for which of them an answer
 * is waited for.
 *
 * No Call is sent and none is answered: what the wait ends with is there before it
 * begins, and a wait takes it. Receives are those of svcrdma2_credits_kunit.c.
 */
#include <kunit/test.h>

/* svc2_bc_send_request() alone has an event */
#define _SVCRDMA2_TRACE_H
#define trace_svc2_backward_call(sp, h, len, ret)	((void)(h))

#include "../svcrdma2/backchannel.c"

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
	struct svc2_call	*sc;
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
		struct svc2_call *sc = kunit_kzalloc(test, sizeof(*sc), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, sc);
		de->sc = sc;
		de->rqst.rq_xprt = xprt;
		de->rqst.rq_xid = cpu_to_be32(i);
		sc->sc_sp = &f->sp;
		sc->sc_rqst = &de->rqst;
		rpcrdma2_exposed_init(&sc->sc_exposed);
		list_add(&de->region, &sc->sc_exposed.ex_regions);
		init_completion(&sc->sc_revoked);
		KUNIT_ASSERT_TRUE(test,
				  svc2_bc_note_posted(&f->sp, xprt, i, sc));
	}
	return 0;
}

/* Return: whether the end of the Call waits, for as long as the peer is silent. */
static bool waits(struct dead *de)
{
	complete(&de->sc->sc_revoked);
	svc2_bc_await_late(de->sc);
	return !completion_done(&de->sc->sc_revoked);
}

static void answer_comes(struct fixture *f, unsigned int number)
{
	struct rpcrdma2_msg msg = { .mg_hdr.h_xid = number };

	svc2_bc_late_reply(&f->sp, &f->bc->bc_xprt, &msg);
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
	unsigned int i;

	for (i = 0; i < CALLS; i++) {
		answer_comes(f, i);
		KUNIT_EXPECT_TRUE(test, f->calls[i].sc->sc_late);
		svc2_bc_await_late(f->calls[i].sc);
		KUNIT_EXPECT_FALSE(test, completion_done(&f->calls[i].sc->sc_revoked));
	}
	KUNIT_EXPECT_FALSE(test, f->sp.sp_silent);
}

/* S46: nor is any while as many tasks as may wait do, of whatever connection. */
static void s46_few_wait(struct kunit *test)
{
	struct fixture *f = test->priv;

	atomic_set(&late_waiters, LATE_MAX);
	KUNIT_EXPECT_FALSE(test, waits(&f->calls[0]));
	KUNIT_EXPECT_EQ(test, atomic_read(&late_waiters), LATE_MAX);
	/* which says nothing of the peer */
	atomic_set(&late_waiters, LATE_MAX - 1);
	KUNIT_EXPECT_TRUE(test, waits(&f->calls[1]));
	KUNIT_EXPECT_EQ(test, atomic_read(&late_waiters), LATE_MAX - 1);
	atomic_set(&late_waiters, 0);
}

static struct kunit_case late_cases[] = {
	KUNIT_CASE(c009_a_silent_peer_is_waited_for_once),
	KUNIT_CASE(c009_a_slow_peer_is_waited_for),
	KUNIT_CASE(s46_few_wait),
	{}
};

static struct kunit_suite late_suite = {
	.name		= "svcrdma2_late",
	.init		= late_init,
	.test_cases	= late_cases,
};

kunit_test_suite(late_suite);
