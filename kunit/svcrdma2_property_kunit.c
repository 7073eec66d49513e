// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that the thread with XPT_BUSY handles.
 *
 * The suite sends nothing. The queues come from svcrdma2_sem_kunit.c.
 */
#include <kunit/test.h>

#include "../svcrdma2/svcrdma2.h"
#include "window.h"

/* no trace events of a second module */
#define _SVCRDMA2_TRACE_H
#define trace_svc2_read_resume(...)	do { } while (0)
#define trace_svc2_decode(...)		do { } while (0)

/* Number of requested send contexts */
static unsigned int tx_gets;

static struct svc2_tx *fake_get(struct svc2_xprt *sp)
{
	tx_gets++;
	return ERR_PTR(-ENOTCONN);
}

/* The test cases set the sizes of a connection. */
static void fake_bound(struct svc2_xprt *sp, u32 vers)
{
}

static void fake_wanted(struct rpcrdma2_exchange *ex, u32 bytes)
{
}

/*
 * A message can arrive while a thread takes one: before and after XPT_DATA is cleared, after the
 * thread has looked for messages, before XPT_DATA is set for the rest, and, if a thread did that,
 * before XPT_DATA is cleared again. Sizes can change before and after SVC2_F_CHANGED is cleared,
 * and after the update. @clears counts how often a flag was cleared since the window was opened.
 */
static unsigned int clears;

static void windowed_clear_bit(unsigned int nr, unsigned long *word)
{
	pass(clears++ ? BEFORE_SECOND_CLEAR : BEFORE_CLEAR);
	clear_bit(nr, word);
}

/* Changes of sizes, and how many of them an update has found */
static unsigned int changes, found;

static void fake_update(struct svc2_xprt *sp)
{
	found = changes;
	pass(BEHIND_UPDATE);
}

static void fake_poll(struct svc2_xprt *sp);

static void windowed_sort(struct svc2_xprt *sp)
{
	svc2_recv_sort(sp);
	pass(BEHIND_LOOK);
}

#undef clear_bit
#undef set_bit
#undef smp_mb__after_atomic
#define clear_bit(nr, word)	windowed_clear_bit(nr, word)
#define set_bit(nr, word)	windowed_set_bit(nr, word)
#define smp_mb__after_atomic()	windowed_barrier()	/* a place */
#define svc2_recv_poll		fake_poll
#define svc2_recv_sort		windowed_sort
#define svc2_tx_get		fake_get
#define svc2_bound_sends	fake_bound
#define svc2_receives_resize	fake_wanted
#define svc2_sizes_update	fake_update
#undef pr_fmt
#include "../svcrdma2/recvfrom.c"

struct rpcrdma2_param svc2_versions;

/**
 * struct fixture - a connection with a thread and a message
 * @sp: connection
 * @rqst: thread
 * @msg: message
 */
struct fixture {
	struct svc2_xprt	sp;
	struct svc_rqst		rqst;
	struct svc2_msg		msg;
};

/* The connection of the case, and its messages: @in_cq are in the receive CQ. */
static struct fixture *fixture;
static struct rpcrdma2_recv *recvs;
static unsigned int in_cq;

static void receive(void)
{
	static const struct ib_wc wc;

	svc2_received(&fixture->sp.sp_conn, recvs++, &wc);
}

/* A thread polls after an event. */
static void fake_poll(struct svc2_xprt *sp)
{
	if (!sp->sp_event)
		return;
	sp->sp_event = false;
	for (; in_cq; in_cq--)
		receive();
}

static void message_arrives(void)
{
#ifdef SVC2_THREADS_POLL
	in_cq++;
	svc2_arrived(&fixture->sp.sp_conn);
#else
	receive();
#endif
}

static void queue_call(struct svc2_msg *call)
{
	INIT_LIST_HEAD(&call->sm_rw.rw_parts);
	call->sm_msg.mg_hdr.h_nreads = 1;
	svc2_msg_ready(&fixture->sp, call);
}

static void call_is_to_start(void)
{
	queue_call(&fixture->msg);
}

static void call_is_read(void)
{
	call_is_to_start();
	list_move_tail(&fixture->msg.sm_wait.wt_list, &fixture->sp.sp_ready_q);
}

static int property_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct svc2_xprt *sp;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	sp = &f->sp;
	set_bit(XPT_BUSY, &sp->sp_xprt.xpt_flags);
	spin_lock_init(&sp->sp_recv_lock);
	INIT_LIST_HEAD(&sp->sp_recv_q);
	INIT_LIST_HEAD(&sp->sp_start_q);
	INIT_LIST_HEAD(&sp->sp_ready_q);
	svc2_sem_init(&sp->sp_tx_sem, NULL, SVC2_C_tx_waits);
	rpcrdma2_exchange_init(&sp->sp_ex, &svc2_props_ops, true);
	f->rqst.rq_xprt = &sp->sp_xprt;
	return 0;
}

/*
 * S18, B-08: a thread without XPT_BUSY handles an error for a Call of the server,
 * well-formed or not, because the regions of the Call may have to wait for the peer.
 */
static void s18_errors_of_calls(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct rpcrdma2_msg *mg = &f->msg.sm_msg;
	struct list_head *queue = &f->sp.sp_ready_q;

	rpcrdma2_hdr_begin(&mg->mg_hdr, 5, RPCRDMA2_VERS_TWO, 32, RDMA2_ERROR,
			   RDMA2_REPLY);
	for (mg->mg_verdict = RDMA2_OK; mg->mg_verdict <= RDMA2_ERR_BAD_XDR;
	     mg->mg_verdict += RDMA2_ERR_BAD_XDR) {
		KUNIT_EXPECT_EQ(test, svc2_handle_error(&f->sp, &f->msg), 0);
		KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &f->sp.sp_xprt.xpt_flags));
		KUNIT_ASSERT_PTR_EQ(test, list_first_entry_or_null(queue, struct svc2_msg,
								   sm_wait.wt_list), &f->msg);
		list_del(&f->msg.sm_wait.wt_list);
	}
}

/*
 * 2.3: the interval runs from the completion of the UPDPROP's Send to the arrival of a
 * message.
 */
static void s16_interval_after_send(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	const unsigned long at = jiffies;

	sp->sp_ex.ex_sent = RDMA2_OPT_UPDPROP;
	sp->sp_ex.ex_sent_at = at - 8 * HZ;
	sp->sp_ex.ex_sending = true;
	sp->sp_ex.ex_number = 2;
	sp->sp_ex.ex_done = 1;
	rpcrdma2_exchange_received(&sp->sp_ex, at);
	KUNIT_EXPECT_EQ(test, sp->sp_ex.ex_sent, RDMA2_OPT_UPDPROP);
	sp->sp_ex.ex_done_at = at;
	sp->sp_ex.ex_done = 2;
	rpcrdma2_exchange_received(&sp->sp_ex, at - 2 * HZ);
	KUNIT_EXPECT_EQ(test, sp->sp_ex.ex_sent, RDMA2_OPT_UPDPROP);
	rpcrdma2_exchange_received(&sp->sp_ex, at + HZ - 1);
	KUNIT_EXPECT_EQ(test, sp->sp_ex.ex_sent, RDMA2_OPT_UPDPROP);
	rpcrdma2_exchange_received(&sp->sp_ex, at + HZ);
	KUNIT_EXPECT_EQ(test, sp->sp_ex.ex_sent, 0);
}

/*
 * S46: an announcement waits for a message that finds a spare send context, in addition to
 * those of the threads with a Call. A thread with XPT_BUSY never waits for a send context.
 */
static void s46_announcement_does_not_wait(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	struct rpcrdma2_exchange *ex = &sp->sp_ex;

	ex->ex_connprop_sent = true;
	ex->ex_peer.pp_announced = true;
	sp->sp_recv_size = 65536;
	sp->sp_send_own = 65536;
	ex->ex_supported.pr_sbsiz = sp->sp_send_own;
	atomic_set(&sp->sp_xprt.xpt_nr_rqsts, 1);
	svc2_sem_open(&sp->sp_tx_sem, 1);
	tx_gets = 0;
	svc2_props_update(sp);
	KUNIT_EXPECT_EQ(test, tx_gets, 0);
	KUNIT_EXPECT_TRUE(test, sp->sp_props_busy);
	svc2_sem_open(&sp->sp_tx_sem, 2);
	svc2_props_update(sp);
	KUNIT_EXPECT_EQ(test, tx_gets, 1);
	KUNIT_EXPECT_TRUE(test, sp->sp_props_busy);
}

static void sizes_change(void)
{
	changes++;
	set_bit(SVC2_F_CHANGED, &fixture->sp.sp_flags);
}

/* A change of sizes that comes during an update is found by it, or leads to another update. */
static void change_during_update(struct kunit *test)
{
	static const enum place places[] = { BEFORE_CLEAR, BEHIND_BARRIER, BEHIND_UPDATE };
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	unsigned int i;

	fixture = test->priv;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		sizes_change();
		open_window(places[i], sizes_change);
		clears = 0;
		svc2_props_update(sp);
		expect_passed(test);
		KUNIT_EXPECT_TRUE(test, found == changes ||
				  test_bit(SVC2_F_CHANGED, &sp->sp_flags));
		svc2_props_update(sp);
		KUNIT_EXPECT_EQ(test, found, changes);
		KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_CHANGED, &sp->sp_flags));
	}
}

static const struct arrival_case {
	const char	*desc;
	void		(*arrive)(void);
} arrival_cases[] = {
	{ "a message", message_arrives },
	{ "a Call before its RDMA Reads", call_is_to_start },
	{ "a Call with its data", call_is_read },
};

KUNIT_ARRAY_PARAM_DESC(arrival, arrival_cases, desc);

/* Whether a connection without a thread, and with XPT_DATA, would find a message */
static bool has_message(const struct svc2_xprt *sp)
{
	return in_cq || !list_empty(&sp->sp_recv_q) || !llist_empty(&sp->sp_arrived) ||
	       !list_empty(&sp->sp_start_q) || !list_empty(&sp->sp_ready_q);
}

/* A thread takes the first of @had messages, and another one arrives at @at. */
static void take_while_one_arrives(struct kunit *test, unsigned int had, enum place at)
{
	const struct arrival_case *c = test->param_value;
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->sp;
	struct rpcrdma2_recv *rv, *memory;
	struct svc2_msg *call;
	unsigned int i;

	memory = kunit_kzalloc(test, (had + 1) * sizeof(*memory), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	recvs = memory;
	fixture = f;
	in_cq = 0;
	sp->sp_event = false;
	for (i = 0; i < had; i++)
		receive();
	svc2_recv_sort(sp);
	set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	open_window(at, c->arrive);
	clears = 0;
	call = svc2_recv_take_next(sp, &rv);
	/* A place that this thread does not pass */
	if (window)
		pass(window);
	KUNIT_EXPECT_TRUE_MSG(test, test_bit(XPT_DATA, &sp->sp_xprt.xpt_flags) ||
			      !has_message(sp), "%u messages, place %u", had, at);
	if (had)
		KUNIT_EXPECT_TRUE(test, call || rv);
	INIT_LIST_HEAD(&sp->sp_recv_q);
	sp->sp_arrived.first = NULL;
	INIT_LIST_HEAD(&sp->sp_start_q);
	INIT_LIST_HEAD(&sp->sp_ready_q);
}

/*
 * A message that arrives while a thread takes the last one, or finds none, is found by this thread,
 * or leaves XPT_DATA set: otherwise no thread would look for it.
 */
static void arrival_is_noticed(struct kunit *test)
{
	enum place at;
	unsigned int had;

	for (had = 0; had <= 2; had++)
		for (at = BEFORE_CLEAR; at <= BEFORE_SECOND_CLEAR; at++)
			take_while_one_arrives(test, had, at);
}

/* A thread that takes one of two Calls leaves XPT_DATA set for the other one. */
static void second_call_is_noticed(struct kunit *test)
{
	struct svc2_msg *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	struct rpcrdma2_recv *rv;

	KUNIT_ASSERT_NOT_NULL(test, other);
	fixture = test->priv;
	call_is_to_start();
	queue_call(other);
	KUNIT_EXPECT_PTR_EQ(test, svc2_recv_take_next(sp, &rv), &fixture->msg);
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &sp->sp_xprt.xpt_flags));
	KUNIT_EXPECT_PTR_EQ(test, svc2_recv_take_next(sp, &rv), other);
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_DATA, &sp->sp_xprt.xpt_flags));

	call_is_read();
	queue_call(other);
	KUNIT_EXPECT_PTR_EQ(test, svc2_recv_take_next(sp, &rv), other);
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &sp->sp_xprt.xpt_flags));
	KUNIT_EXPECT_PTR_EQ(test, svc2_recv_take_next(sp, &rv), &fixture->msg);
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_DATA, &sp->sp_xprt.xpt_flags));
}

/* A thread passes each of these places, so the barrier is there, too. */
static void places_are_passed(struct kunit *test)
{
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	struct rpcrdma2_recv *rv;
	enum place at;

	fixture = test->priv;
	for (at = BEFORE_CLEAR; at <= BEFORE_SET; at++) {
		in_cq = 0;
		recvs = kunit_kzalloc(test, 2 * sizeof(*rv), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, recvs);
		receive();
		receive();
		open_window(at, call_is_to_start);
		clears = 0;
		svc2_recv_take_next(sp, &rv);
		expect_passed(test);
		INIT_LIST_HEAD(&sp->sp_recv_q);
		sp->sp_arrived.first = NULL;
		INIT_LIST_HEAD(&sp->sp_start_q);
	}
}

static struct kunit_case property_cases[] = {
	KUNIT_CASE_PARAM(arrival_is_noticed, arrival_gen_params),
	KUNIT_CASE(change_during_update),
	KUNIT_CASE(second_call_is_noticed),
	KUNIT_CASE(places_are_passed),
	KUNIT_CASE(s18_errors_of_calls),
	KUNIT_CASE(s16_interval_after_send),
	KUNIT_CASE(s46_announcement_does_not_wait),
	{}
};

static struct kunit_suite property_suite = {
	.name		= "svcrdma2_property",
	.init		= property_init,
	.test_cases	= property_cases,
};

kunit_test_suite(property_suite);
