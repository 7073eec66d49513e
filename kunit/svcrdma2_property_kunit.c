// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that the thread with XPT_BUSY handles.
 *
 * The suite sends nothing. The queues come from svcrdma2_sem_kunit.c.
 */
#include <kunit/test.h>

#include "../svcrdma2/svcrdma2.h"

/* no trace events of a second module */
#define _SVCRDMA2_TRACE_H
#define trace_svc2_read_resume(...)	do { } while (0)
#define trace_svc2_decode(...)		do { } while (0)

/* Number of requested send contexts */
static unsigned int gets;

static struct svc2_tx *fake_get(struct svc2_xprt *sp)
{
	gets++;
	return ERR_PTR(-ENOTCONN);
}

/* The test cases set the sizes of a connection. */
static void fake_bound(struct svc2_xprt *sp, u32 vers)
{
}

static void fake_wanted(struct rpcrdma2_exchange *ex, u32 bytes)
{
}

static void fake_update(struct svc2_xprt *sp)
{
}

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

static int property_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct svc2_xprt *sp;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	sp = &f->sp;
	set_bit(XPT_BUSY, &sp->sp_xprt.xpt_flags);
	spin_lock_init(&sp->sp_recv_lock);
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
	sp->sp_ex.ex_pending = true;
	sp->sp_ex.ex_sent_at = at - 8 * HZ;
	sp->sp_ex.ex_sending = true;
	sp->sp_ex.ex_number = 2;
	sp->sp_ex.ex_done = 1;
	rpcrdma2_exchange_received(&sp->sp_ex, at);
	KUNIT_EXPECT_TRUE(test, sp->sp_ex.ex_pending);
	sp->sp_ex.ex_done_at = at;
	sp->sp_ex.ex_done = 2;
	rpcrdma2_exchange_received(&sp->sp_ex, at - 2 * HZ);
	KUNIT_EXPECT_TRUE(test, sp->sp_ex.ex_pending);
	rpcrdma2_exchange_received(&sp->sp_ex, at + HZ - 1);
	KUNIT_EXPECT_TRUE(test, sp->sp_ex.ex_pending);
	rpcrdma2_exchange_received(&sp->sp_ex, at + HZ);
	KUNIT_EXPECT_FALSE(test, sp->sp_ex.ex_pending);
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
	gets = 0;
	svc2_props_update(sp);
	KUNIT_EXPECT_EQ(test, gets, 0);
	KUNIT_EXPECT_TRUE(test, sp->sp_props_busy);
	svc2_sem_open(&sp->sp_tx_sem, 2);
	svc2_props_update(sp);
	KUNIT_EXPECT_EQ(test, gets, 1);
	KUNIT_EXPECT_TRUE(test, sp->sp_props_busy);
}

static struct kunit_case property_cases[] = {
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
