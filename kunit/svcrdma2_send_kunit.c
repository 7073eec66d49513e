// SPDX-License-Identifier: GPL-2.0
/*
 * Send contexts: the pages of a Reply.
 *
 * Payload and semaphores come from svcrdma2_pages_kunit.c and svcrdma2_sem_kunit.c. The
 * suite creates and posts no context.
 */
#include <kunit/test.h>

/* no trace events of a second module */
#define _SVCRDMA2_TRACE_H
#define trace_svc2_send_error(...)	do { } while (0)
#define trace_svc2_plan_reply(...)	do { } while (0)

#include "../svcrdma2/sendto.c"

struct workqueue_struct *svc2_wq;

#define PAGES	259

/**
 * struct fixture - a connection, and a thread with a Reply
 * @sp: connection
 * @id: its rdma_cm identifier
 * @losses: number of losses of the connection
 * @rqst: thread
 * @pages: page array of the Reply, without pages
 * @call: Call
 * @tx: send context
 */
struct fixture {
	struct svc2_xprt	sp;
	struct rdma_cm_id	id;
	unsigned int		losses;
	struct svc_rqst		rqst;
	struct page		*pages[PAGES];
	struct svc2_msg		call;
	struct svc2_tx		tx;
};

static void lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	container_of(co, struct fixture, sp.sp_conn)->losses++;
}

static const struct rpcrdma2_conn_ops ops = { .lost = lost };

/*
 * S46: a Reply without chunks gets its pages even beyond the quota, and they are counted.
 * The connection then exceeds its quota, and takes no further Call.
 */
static void s46_pages_are_counted(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct svc2_xprt *sp;
	struct svc2_tx *tx;

	KUNIT_ASSERT_NOT_NULL(test, f);
	sp = &f->sp;
	tx = &f->tx;
	sp->sp_conn.co_ops = &ops;
	sp->sp_conn.co_id = &f->id;
	sp->sp_credits = SVC2_CREDITS_DEFAULT;
	svc2_sem_init(&sp->sp_tx_sem, NULL, SVC2_C_tx_waits);
	svc2_sem_open(&sp->sp_tx_sem, SVC2_CREDITS_DEFAULT + SVC2_TX_RESERVE);
	svc2_sem_init(&sp->sp_sq_sem, NULL, SVC2_C_sq_waits);
	svc2_sem_init(&sp->sp_mr_sem, NULL, SVC2_C_mr_waits);
	INIT_LIST_HEAD(&sp->sp_start_q);
	INIT_LIST_HEAD(&sp->sp_ready_q);
	/* the minimum; an address may have 520 pages */
	svc2_transfer_memory.pm_value = 1;
	svc2_pages_set();
	svc2_address_connections.pm_value = 1;
	svc2_connections.pm_value = 2;
	KUNIT_ASSERT_EQ(test, svc2_address_get(sp), 0);

	f->rqst.rq_xprt = &sp->sp_xprt;
	f->rqst.rq_xprt_ctxt = &f->call;
	f->rqst.rq_respages = f->pages;
	f->rqst.rq_next_page = f->pages + PAGES;
	tx->tx_pages = tx->tx_few;
	tx->tx_reads_pages = true;
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, &f->call, PAGES), PAGES);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 1);

	KUNIT_EXPECT_EQ(test, svc2_tx_take_pages(&f->rqst, tx), 0);
	KUNIT_EXPECT_EQ(test, tx->tx_npages, PAGES - 1);
	KUNIT_EXPECT_EQ(test, tx->tx_charged, PAGES - 1);
	KUNIT_EXPECT_EQ(test, sp->sp_quota.qu_pages, PAGES + PAGES - 1);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	KUNIT_EXPECT_EQ(test, f->losses, 0);
	kfree(tx->tx_pages);
	svc2_pages_give(sp, PAGES + PAGES - 1);
	svc2_address_put(sp);
}

#define IDLE	3

/* Returns a connection with idle contexts; a Reply takes the last one of @txs first. */
static struct fixture *with_idle(struct kunit *test, struct svc2_tx **txs)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	rpcrdma2_conn_init(&f->sp.sp_conn, &ops);
	rpcrdma2_regions_init(&f->sp.sp_conn);
	spin_lock_init(&f->sp.sp_tx_lock);
	init_llist_head(&f->sp.sp_txs);
	for (i = 0; i < IDLE; i++) {
		txs[i] = kunit_kzalloc(test, sizeof(*txs[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, txs[i]);
		txs[i]->tx_used = jiffies;
		txs[i]->tx_nbufs = 1;
		llist_add(&txs[i]->tx_list, &f->sp.sp_txs);
	}
	return f;
}

static void are_in_order(struct kunit *test, struct svc2_xprt *sp, struct svc2_tx **txs)
{
	int i;

	for (i = IDLE - 1; i >= 0; i--)
		KUNIT_EXPECT_PTR_EQ(test, svc2_tx_pop(sp), txs[i]);
	KUNIT_EXPECT_NULL(test, svc2_tx_pop(sp));
}

/* The trim keeps the order of contexts: a Reply takes the one used last. */
static void trim_keeps_order(struct kunit *test)
{
	struct svc2_tx *txs[IDLE];
	struct fixture *f = with_idle(test, txs);

	KUNIT_EXPECT_FALSE(test, svc2_trim(&f->sp));
	are_in_order(test, &f->sp, txs);
}

/* A context gets a page of an idle one, and the idle ones keep their order. */
static void borrow_keeps_order(struct kunit *test)
{
	struct svc2_tx *txs[IDLE];
	struct fixture *f = with_idle(test, txs);

	txs[1]->tx_nbufs = 2;
	txs[1]->tx_bufs[1].tp_addr = 1;
	f->tx.tx_nbufs = 1;

	KUNIT_EXPECT_EQ(test, svc2_tx_borrow(&f->sp, &f->tx, 2), 0);
	KUNIT_EXPECT_EQ(test, f->tx.tx_nbufs, 2);
	KUNIT_EXPECT_EQ(test, f->tx.tx_bufs[1].tp_addr, 1);
	KUNIT_EXPECT_EQ(test, txs[1]->tx_nbufs, 1);
	are_in_order(test, &f->sp, txs);
}

/* fail_buffer strikes Replies of any length: a context gets no more pages than it has room for. */
static void borrow_within_bounds(struct kunit *test)
{
	struct svc2_tx *txs[IDLE];
	struct fixture *f = with_idle(test, txs);
	int i;

	for (i = 0; i < IDLE; i++)
		txs[i]->tx_nbufs = SVC2_TX_BUF_PAGES;
	f->tx.tx_nbufs = 1;

	KUNIT_EXPECT_EQ(test, svc2_tx_borrow(&f->sp, &f->tx, SVC2_TX_BUF_PAGES + 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, f->tx.tx_nbufs, 1);
	KUNIT_EXPECT_EQ(test, svc2_tx_borrow(&f->sp, &f->tx, SVC2_TX_BUF_PAGES), 0);
	KUNIT_EXPECT_EQ(test, f->tx.tx_nbufs, SVC2_TX_BUF_PAGES);
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE(s46_pages_are_counted),
	KUNIT_CASE(borrow_keeps_order),
	KUNIT_CASE(borrow_within_bounds),
	KUNIT_CASE(trim_keeps_order),
	{}
};

static struct kunit_suite send_suite = {
	.name		= "svcrdma2_send",
	.test_cases	= send_cases,
};

kunit_test_suite(send_suite);
