// SPDX-License-Identifier: GPL-2.0
/*
 * Send contexts: the pages and the gather list of a Reply.
 *
 * Payload and semaphores come from svcrdma2_pages_kunit.c and svcrdma2_sem_kunit.c. The
 * suite posts no context.
 */
#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/dma-mapping.h>

#include "fault_once.h"

/* no trace events of a second module */
#define _SVCRDMA2_TRACE_H
#define trace_svc2_send_error(...)	do { } while (0)
#define trace_svc2_plan_reply(...)	do { } while (0)

#include "../svcrdma2/sendto.c"

struct workqueue_struct *svc2_wq;

/* of a Reply of 1 MiB: 259 with pages of 4 KiB */
#define PAGES	((1 << 20) / PAGE_SIZE + 3)

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
	/* no svc thread handles the connection */
	set_bit(XPT_BUSY, &sp->sp_xprt.xpt_flags);
	sp->sp_conn.co_ops = &ops;
	sp->sp_conn.co_id = &f->id;
	sp->sp_credits = SVC2_CREDITS_DEFAULT;
	svc2_sem_init(&sp->sp_tx_sem, NULL, SVC2_C_tx_waits);
	svc2_sem_open(&sp->sp_tx_sem, SVC2_CREDITS_DEFAULT + SVC2_TX_RESERVE);
	svc2_sem_init(&sp->sp_sq_sem, NULL, SVC2_C_sq_waits);
	svc2_sem_init(&sp->sp_mr_sem, NULL, SVC2_C_mr_waits);
	INIT_LIST_HEAD(&sp->sp_start_q);
	INIT_LIST_HEAD(&sp->sp_ready_q);
	/* the minimum: with pages of 4 KiB an address may have 520 */
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

	KUNIT_EXPECT_EQ(test, svc2_tx_hold_pages(&f->rqst, tx), 0);
	KUNIT_EXPECT_EQ(test, tx->tx_npages, PAGES - 1);
	KUNIT_EXPECT_EQ(test, tx->tx_charged, PAGES - 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&sp->sp_quota.qu_pages), PAGES + PAGES - 1);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	KUNIT_EXPECT_EQ(test, f->losses, 0);
	kfree(tx->tx_pages);
	svc2_pages_give(sp, PAGES + PAGES - 1);
	cancel_delayed_work_sync(&svc2_pages_work);
	svc2_address_put(sp);
}

/* Parts that the connection of buffer_parts() may get besides the first */
#define LEFT	3

/* Returns a connection with units for contexts, but without any. */
static struct fixture *without_contexts(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	rpcrdma2_conn_init(&f->sp.sp_conn, &ops);
	rpcrdma2_regions_init(&f->sp.sp_conn);
	spin_lock_init(&f->sp.sp_tx_lock);
	init_llist_head(&f->sp.sp_txs);
	svc2_sem_init(&f->sp.sp_tx_sem, NULL, SVC2_C_tx_waits);
	svc2_sem_open(&f->sp.sp_tx_sem, SVC2_CREDITS_MAX + SVC2_TX_RESERVE + SVC2_SIGNAL_BATCH);
	return f;
}

/* Returns a connection over a device that needs DMA mappings. */
static struct svc2_xprt *over_device(struct kunit *test)
{
	struct fixture *f = without_contexts(test);
	struct ib_device *device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);
	struct ib_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "svcrdma2_send");

	KUNIT_ASSERT_NOT_NULL(test, device);
	KUNIT_ASSERT_NOT_NULL(test, pd);
	KUNIT_ASSERT_FALSE(test, IS_ERR(dev));
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);
	device->dma_device = dev;
	pd->device = device;
	f->sp.sp_conn.co_pd = pd;
	f->sp.sp_tx_sges = SVC2_MAX_SGES;
	atomic_set(&f->sp.sp_tx_parts, SVC2_TX_EXTRA_PARTS - LEFT);
	return &f->sp;
}

/* Without memory or mappings a buffer keeps its parts, and the limit is not used up. */
static void part_fails(struct kunit *test, struct svc2_xprt *sp, struct svc2_tx *tx)
{
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
	struct fault_attr *attr = &rpcrdma2_faults[RPCRDMA2_FAIL_map_send];

	fault_once(attr, 1);
	KUNIT_EXPECT_EQ(test, svc2_tx_copies(sp, tx, 1, 2), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, fault_struck(attr));
	KUNIT_EXPECT_EQ(test, tx->tx_nbufs, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&sp->sp_tx_parts), SVC2_TX_EXTRA_PARTS - LEFT);
#endif
}

/*
 * A buffer gets the parts that it needs, up to the limit of its connection. Each part takes one
 * gather entry. If pages are larger than a part, the parts come from the slab.
 */
static void buffer_parts(struct kunit *test)
{
	struct svc2_xprt *sp = over_device(test);
	struct svc2_tx *tx = svc2_tx_alloc(sp, GFP_KERNEL);
	unsigned int i;
	u8 *buf;

	KUNIT_ASSERT_NOT_NULL(test, tx);
	part_fails(test, sp, tx);
	KUNIT_EXPECT_EQ(test, svc2_tx_copies(sp, tx, SVC2_PULLUP_MAX + 1, 2), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, svc2_tx_copies(sp, tx, 1, SVC2_MAX_SGES + 1), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, tx->tx_nbufs, 1);
	tx->tx_signal = false;
	KUNIT_EXPECT_EQ(test, svc2_tx_copies(sp, tx, SVC2_PULLUP_MAX, LEFT + 1), 0);
	KUNIT_EXPECT_TRUE(test, tx->tx_signal);
	KUNIT_EXPECT_EQ(test, svc2_tx_copies(sp, tx, SVC2_PULLUP_MAX, LEFT + 2), -ENOMEM);
	KUNIT_ASSERT_EQ(test, tx->tx_nbufs, LEFT + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&sp->sp_tx_parts), SVC2_TX_EXTRA_PARTS);
	for (i = 0; i < tx->tx_nbufs; i++)
		memset(tx->tx_bufs[i].tp_buf, i, SVC2_TX_BUFSIZE);
	for (i = 0; i < tx->tx_nbufs; i++) {
		buf = tx->tx_bufs[i].tp_buf;
		KUNIT_EXPECT_EQ(test, buf[0], i);
		KUNIT_EXPECT_EQ(test, buf[SVC2_TX_BUFSIZE - 1], i);
		KUNIT_EXPECT_LE(test, offset_in_page(buf) + SVC2_TX_BUFSIZE, PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, !!folio_test_slab(virt_to_folio(buf)),
				PAGE_SIZE > SVC2_TX_BUFSIZE);
	}
	svc2_tx_free(sp, tx);
	KUNIT_EXPECT_EQ(test, atomic_read(&sp->sp_tx_count), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&sp->sp_tx_parts), SVC2_TX_EXTRA_PARTS - LEFT);
}

#define IDLE	3

/* Returns a connection with idle contexts; a Reply takes the last one of @txs first. */
static struct fixture *with_idle(struct kunit *test, struct svc2_tx **txs)
{
	struct fixture *f = without_contexts(test);
	int i;

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

/* A context gets a part of an idle one, and the idle ones keep their order. */
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

/* fail_buffer strikes Replies of any length: a context gets no more parts than it has room for. */
static void borrow_within_bounds(struct kunit *test)
{
	struct svc2_tx *txs[IDLE];
	struct fixture *f = with_idle(test, txs);
	int i;

	for (i = 0; i < IDLE; i++)
		txs[i]->tx_nbufs = SVC2_TX_BUF_PARTS;
	f->tx.tx_nbufs = 1;

	KUNIT_EXPECT_EQ(test, svc2_tx_borrow(&f->sp, &f->tx, SVC2_TX_BUF_PARTS + 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, f->tx.tx_nbufs, 1);
	KUNIT_EXPECT_EQ(test, svc2_tx_borrow(&f->sp, &f->tx, SVC2_TX_BUF_PARTS), 0);
	KUNIT_EXPECT_EQ(test, f->tx.tx_nbufs, SVC2_TX_BUF_PARTS);
}

/* Replies that each have parts which the other lacks: one hands its own to the idle contexts. */
static void borrow_all_or_nothing(struct kunit *test)
{
	struct svc2_tx *txs[IDLE];
	struct fixture *f = with_idle(test, txs), *g = with_idle(test, txs);
	struct svc2_tx *one = &f->tx, *two = &g->tx;

	one->tx_nbufs = 3;
	two->tx_nbufs = 3;
	one->tx_bufs[1].tp_addr = 1;
	one->tx_bufs[2].tp_addr = 2;
	KUNIT_EXPECT_EQ(test, svc2_tx_borrow(&g->sp, one, 4), -ENOMEM);
	KUNIT_EXPECT_EQ(test, one->tx_nbufs, 1);
	KUNIT_EXPECT_EQ(test, txs[IDLE - 1]->tx_nbufs, 3);
	KUNIT_EXPECT_EQ(test, svc2_tx_borrow(&g->sp, two, 4), 0);
	KUNIT_EXPECT_EQ(test, two->tx_nbufs, 4);
	KUNIT_EXPECT_EQ(test, two->tx_bufs[3].tp_addr +
			txs[IDLE - 1]->tx_bufs[1].tp_addr, 1 + 2);
	KUNIT_EXPECT_EQ(test, txs[IDLE - 1]->tx_nbufs, 2);
	are_in_order(test, &g->sp, txs);
}

/* The same at the limit of a connection's parts, without an idle context: they are freed. */
static void free_all_or_nothing(struct kunit *test)
{
	struct svc2_xprt *sp = over_device(test);
	struct svc2_tx *one = svc2_tx_alloc(sp, GFP_KERNEL);
	struct svc2_tx *two = svc2_tx_alloc(sp, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_ASSERT_NOT_NULL(test, two);
	KUNIT_ASSERT_EQ(test, svc2_tx_copies(sp, two, 1, LEFT), 0);
	KUNIT_EXPECT_EQ(test, svc2_tx_copies(sp, one, 1, LEFT + 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, one->tx_nbufs, 2);
	KUNIT_EXPECT_EQ(test, svc2_tx_copies(sp, two, 1, LEFT + 1), -ENOMEM);

	KUNIT_EXPECT_EQ(test, svc2_tx_borrow(sp, one, LEFT + 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, one->tx_nbufs, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&sp->sp_tx_parts), SVC2_TX_EXTRA_PARTS - 1);
	KUNIT_EXPECT_EQ(test, svc2_tx_copies(sp, two, 1, LEFT + 1), 0);
	svc2_tx_free(sp, one);
	svc2_tx_free(sp, two);
	KUNIT_EXPECT_EQ(test, atomic_read(&sp->sp_tx_parts), SVC2_TX_EXTRA_PARTS - LEFT);
}

/* Bytes of a transport header, and of the tail of a Reply */
#define HDR		200
#define TAIL		4

/* Returns whether the Send is signaled; the connection has no room for it. */
static bool is_signaled(struct kunit *test, struct svc2_xprt *sp, struct svc2_tx *tx)
{
	KUNIT_EXPECT_EQ(test, svc2_tx_post(sp, tx, 0, NULL), -E2BIG);
	return tx->tx_post.po_signal;
}

/* Plans a Reply of two parts, and more gather entries than the connection has. */
static int plan_two_parts(struct kunit *test, struct svc2_xprt *sp, struct svc2_tx *tx)
{
	struct page *pages[3] = { };
	struct xdr_buf res = {
		.head[0].iov_base = kunit_kzalloc(test, 100, GFP_KERNEL),
		.head[0].iov_len = 100,
		.pages = pages,
		.page_base = PAGE_SIZE - 100,
		.page_len = 4900,
		.len = 5000,
	};
	struct rpcrdma2_reply_plan plan;
	struct rpcrdma2_hdr h;

	KUNIT_ASSERT_NOT_NULL(test, res.head[0].iov_base);
	h.h_nwrites = 0;
	rpcrdma2_plan_reply(&plan, &h, NULL, 0, res.len, HDR, U32_MAX);
	return svc2_reply_prepare_inline(sp, tx, &res, HDR, &plan);
}

static struct svc2_tx *with_parts(struct kunit *test, unsigned int parts)
{
	struct svc2_tx *tx = kunit_kzalloc(test, struct_size(tx, tx_sge, 2), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tx);
	tx->tx_nbufs = parts;
	tx->tx_wr.num_sge = 1;
	tx->tx_pages = tx->tx_few;
	rpcrdma2_rw_init(&tx->tx_rw, DMA_TO_DEVICE);
	return tx;
}

/* Posts the Send until it is unsignaled. Returns how often it was signaled. */
static unsigned int signaled(struct kunit *test, struct svc2_xprt *sp, struct svc2_tx *tx)
{
	unsigned int n = 0;

	while (n <= SVC2_TX_SCARCE && is_signaled(test, sp, tx))
		n++;
	return n;
}

/*
 * A Send with enough parts is unsignaled, even if it keeps them for a while. One that had too
 * few is signaled, and so are the next ones, whatever they send.
 */
static void scarce_parts_come_back(struct kunit *test)
{
	struct svc2_tx *txs[IDLE], *rich = with_parts(test, 2), *poor = with_parts(test, 1);
	struct svc2_xprt *sp = &with_idle(test, txs)->sp;

	atomic_set(&sp->sp_tx_parts, SVC2_TX_EXTRA_PARTS);
	sp->sp_tx_sges = 2;
	KUNIT_EXPECT_EQ(test, plan_two_parts(test, sp, rich), 0);
	KUNIT_EXPECT_FALSE(test, is_signaled(test, sp, rich));

	/* each attempt counts anew */
	KUNIT_EXPECT_EQ(test, plan_two_parts(test, sp, poor), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, is_signaled(test, sp, rich));
	KUNIT_EXPECT_EQ(test, plan_two_parts(test, sp, poor), -ENOMEM);
	KUNIT_EXPECT_EQ(test, signaled(test, sp, rich), SVC2_TX_SCARCE);

	txs[0]->tx_nbufs = 2;
	KUNIT_EXPECT_EQ(test, plan_two_parts(test, sp, poor), 0);
	KUNIT_EXPECT_TRUE(test, is_signaled(test, sp, poor));
	KUNIT_EXPECT_EQ(test, signaled(test, sp, rich), SVC2_TX_SCARCE - 1);
	svc2_tx_put(sp, poor);
	KUNIT_EXPECT_EQ(test, plan_two_parts(test, sp, poor), 0);
	KUNIT_EXPECT_FALSE(test, is_signaled(test, sp, poor));
}

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
/* A Reply that finds no memory for a context has the next Sends return theirs. */
static void scarce_contexts_come_back(struct kunit *test)
{
	struct fault_attr *attr = &rpcrdma2_faults[RPCRDMA2_FAIL_map_send];
	struct svc2_xprt *sp = over_device(test);
	struct svc2_tx *tx;

	fault_once(attr, 1);
	tx = svc2_tx_get(sp);
	KUNIT_EXPECT_TRUE(test, fault_struck(attr));
	KUNIT_ASSERT_FALSE(test, IS_ERR(tx));
	KUNIT_EXPECT_EQ(test, signaled(test, sp, tx), SVC2_TX_SCARCE);
	svc2_tx_free(sp, tx);
}
#endif

/*
 * Contexts of Sends that linger on the queue of an idle connection cause no further trim. The next
 * Send is signaled, which brings them back, and causes one.
 */
static void trim_of_lingering(struct kunit *test)
{
	struct svc2_tx *txs[SVC2_TX_RESERVE + 3];
	struct svc2_xprt *sp = over_device(test);
	struct svc2_tx *tx = with_parts(test, 1), *used;
	int i;

	for (i = 0; i < ARRAY_SIZE(txs); i++) {
		txs[i] = svc2_tx_alloc(sp, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, txs[i]);
	}
	for (i = 0; i < SVC2_TX_RESERVE; i++)
		svc2_tx_put(sp, txs[i]);
	/* not all of three linger in two entries */
	sp->sp_conn.co_sq.sq_unsignaled = 2;
	KUNIT_EXPECT_TRUE(test, svc2_trim(sp));
	KUNIT_EXPECT_FALSE(test, is_signaled(test, sp, tx));
	svc2_tx_free(sp, txs[i++]);
	cancel_delayed_work_sync(&svc2_trim_work);
	KUNIT_EXPECT_FALSE(test, svc2_trim(sp));

	/* also a Send that is signaled in any case */
	tx->tx_signal = true;
	KUNIT_EXPECT_TRUE(test, is_signaled(test, sp, tx));
	KUNIT_EXPECT_TRUE(test, cancel_delayed_work_sync(&svc2_trim_work));
	tx->tx_signal = false;
	KUNIT_EXPECT_FALSE(test, is_signaled(test, sp, tx));
	for (; i < ARRAY_SIZE(txs); i++)
		svc2_tx_put(sp, txs[i]);
	KUNIT_EXPECT_TRUE(test, svc2_trim(sp));
	llist_for_each_entry(used, sp->sp_txs.first, tx_list)
		used->tx_used -= SVC2_TRIM_TIME + 1;
	KUNIT_EXPECT_FALSE(test, svc2_trim(sp));
	KUNIT_EXPECT_EQ(test, atomic_read(&sp->sp_tx_count), SVC2_TX_RESERVE);
	KUNIT_EXPECT_FALSE(test, is_signaled(test, sp, tx));
	svc2_txs_destroy(sp);
}

/**
 * struct gathered - a Reply whose pages the device gathers
 * @name: description
 * @head: bytes of its head
 * @page_base: offset of its first page
 * @page_len: bytes in pages
 * @tail_in_head: the tail is in the page of the head
 * @copied: bytes of the head that fit behind the header
 * @entries: gather entries
 */
struct gathered {
	const char	*name;
	u32		head;
	unsigned int	page_base;
	unsigned int	page_len;
	bool		tail_in_head;
	u32		copied;
	unsigned int	entries;
};

static const struct gathered gathered_cases[] = {
	{ "whole pages", 128, 0, 16 * PAGE_SIZE, true, 128, 18 },
	{ "pages from their middle on", 128, 8, 16 * PAGE_SIZE, true, 128, 19 },
	{ "a tail in a page of its own", 128, 8, 16 * PAGE_SIZE, false, 128, 19 },
	{ "a head that just fits", SVC2_TX_BUFSIZE - HDR, 8, 15 * PAGE_SIZE, false,
	  SVC2_TX_BUFSIZE - HDR, 18 },
	/* with pages of 4 KiB the longest Reply of this form: 64 KiB with the header */
	{ "a head that does not fit", SVC2_TX_BUFSIZE - HDR + 1, PAGE_SIZE - 1,
	  15 * PAGE_SIZE - 1 - TAIL, false, SVC2_TX_BUFSIZE - HDR, 19 },
};

KUNIT_ARRAY_PARAM_DESC(gathered, gathered_cases, name);

/* The head is copied behind the header, and the device reads neither it nor its page (R4). */
static void r4_gathered_reply(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct ib_device *device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);
	struct svc2_tx *tx = kunit_kzalloc(test, struct_size(tx, tx_sge, 19), GFP_KERNEL);
	struct rpcrdma2_hdr *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	u8 *pages = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, 5);
	const struct gathered *c = test->param_value;
	struct rpcrdma2_reply_plan plan;
	struct ib_pd pd = { };
	struct xdr_buf res = { };
	unsigned int i;
	u32 sent = 0;

	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_ASSERT_NOT_NULL(test, device);
	KUNIT_ASSERT_NOT_NULL(test, tx);
	KUNIT_ASSERT_NOT_NULL(test, h);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	pd.device = device;
	f->sp.sp_conn.co_pd = &pd;
	tx->tx_buf = pages;
	tx->tx_bufs[0].tp_buf = pages;
	tx->tx_nbufs = 1;
	tx->tx_len = HDR;
	tx->tx_head = virt_to_page(pages + PAGE_SIZE);
	for (i = 0; i < 18; i++)
		f->pages[i] = virt_to_page(pages + (2 + i) * PAGE_SIZE);
	memset(pages + PAGE_SIZE, 0x5a, c->head);
	res.head[0].iov_base = pages + PAGE_SIZE;
	res.head[0].iov_len = c->head;
	res.pages = f->pages;
	res.page_base = c->page_base;
	res.page_len = c->page_len;
	res.tail[0].iov_base = c->tail_in_head ? pages + PAGE_SIZE + c->head :
						 pages + 20 * PAGE_SIZE;
	res.tail[0].iov_len = TAIL;
	res.len = c->head + c->page_len + TAIL;

	rpcrdma2_plan_reply(&plan, h, NULL, 0, res.len, HDR, U32_MAX);
	f->sp.sp_tx_sges = c->entries - 1;
	KUNIT_EXPECT_EQ(test, svc2_reply_prepare_inline(&f->sp, tx, &res, HDR, &plan), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, plan.pn_gather, 0);
	f->sp.sp_tx_sges = c->entries;
	KUNIT_ASSERT_EQ(test, svc2_reply_prepare_inline(&f->sp, tx, &res, HDR, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pn_gather, res.len - c->copied);

	KUNIT_ASSERT_EQ(test, svc2_tx_payload(&f->sp, tx, &res, &plan), 0);
	KUNIT_EXPECT_EQ(test, tx->tx_len, HDR + c->copied);
	KUNIT_EXPECT_MEMEQ(test, pages + HDR, pages + PAGE_SIZE, c->copied);
	KUNIT_EXPECT_EQ(test, tx->tx_wr.num_sge, c->entries);
	KUNIT_EXPECT_EQ(test, tx->tx_nmapped, c->entries - 1);
	for (i = 1; i < c->entries; i++)
		sent += tx->tx_sge[i].length;
	KUNIT_EXPECT_EQ(test, sent, res.len - c->copied);
	KUNIT_EXPECT_EQ(test, tx->tx_reads_head, c->tail_in_head || c->copied < c->head);
	KUNIT_EXPECT_TRUE(test, tx->tx_reads_pages);
	for (; tx->tx_nmapped; tx->tx_nmapped--)
		ib_dma_unmap_page(device, tx->tx_sge[tx->tx_nmapped].addr,
				  tx->tx_sge[tx->tx_nmapped].length, DMA_TO_DEVICE);
	free_pages((unsigned long)pages, 5);
}

/* The Reply of a direct read: NFSv4 has counted one page, the payload ends in the second. */
static void r4_payload_behind_next_page(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct xdr_buf *res;

	KUNIT_ASSERT_NOT_NULL(test, f);
	res = &f->rqst.rq_res;
	res->pages = f->pages + 1;
	f->rqst.rq_xprt_ctxt = &f->call;
	f->rqst.rq_respages = f->pages;
	f->rqst.rq_next_page = f->pages + 2;
	svc2_reply_claim_pages(&f->rqst);
	KUNIT_EXPECT_PTR_EQ(test, f->rqst.rq_next_page, f->pages + 2);

	res->page_len = PAGE_SIZE;
	svc2_reply_claim_pages(&f->rqst);
	KUNIT_EXPECT_PTR_EQ(test, f->rqst.rq_next_page, f->pages + 2);
	res->page_base = 100;
	svc2_reply_claim_pages(&f->rqst);
	KUNIT_EXPECT_PTR_EQ(test, f->rqst.rq_next_page, f->pages + 3);

	/* a splice may have put pages there that the Reply does not use */
	f->rqst.rq_next_page = f->pages + 9;
	svc2_reply_claim_pages(&f->rqst);
	KUNIT_EXPECT_PTR_EQ(test, f->rqst.rq_next_page, f->pages + 9);
}

/*
 * S46: the server has put a page of a file in the place of the thread's second page, and removed
 * the READ from the Reply since. The RPC layer gets all pages of the thread to release, before
 * another request could write to that one.
 */
static void s46_page_of_a_removed_read(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct page *own, *file;

	KUNIT_ASSERT_NOT_NULL(test, f);
	own = kunit_kzalloc(test, 2 * sizeof(*own), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, own);
	file = own + 1;
	f->call.sm_second = own;
	f->pages[1] = own;
	f->rqst.rq_xprt_ctxt = &f->call;
	f->rqst.rq_respages = f->pages;
	f->rqst.rq_page_end = f->pages + PAGES;
	f->rqst.rq_res.pages = f->pages + 1;
	f->rqst.rq_next_page = f->pages + 1;
	svc2_reply_claim_pages(&f->rqst);
	KUNIT_EXPECT_PTR_EQ(test, f->rqst.rq_next_page, f->pages + 1);

	f->pages[1] = file;
	f->rqst.rq_next_page = f->pages + 2;
	svc2_reply_claim_pages(&f->rqst);
	KUNIT_EXPECT_PTR_EQ(test, f->rqst.rq_next_page, f->pages + 2);
	f->rqst.rq_next_page = f->pages + 1;
	svc2_reply_claim_pages(&f->rqst);
	KUNIT_EXPECT_PTR_EQ(test, f->rqst.rq_next_page, f->pages + PAGES);
}

static int send_init(struct kunit *test)
{
	svc2_wq = system_percpu_wq;
	return 0;
}

static void send_exit(struct kunit *test)
{
	cancel_delayed_work_sync(&svc2_trim_work);
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE_PARAM(r4_gathered_reply, gathered_gen_params),
	KUNIT_CASE(r4_payload_behind_next_page),
	KUNIT_CASE(s46_page_of_a_removed_read),
	KUNIT_CASE(s46_pages_are_counted),
	KUNIT_CASE(buffer_parts),
	KUNIT_CASE(borrow_keeps_order),
	KUNIT_CASE(borrow_within_bounds),
	KUNIT_CASE(borrow_all_or_nothing),
	KUNIT_CASE(free_all_or_nothing),
	KUNIT_CASE(scarce_parts_come_back),
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
	KUNIT_CASE(scarce_contexts_come_back),
#endif
	KUNIT_CASE(trim_keeps_order),
	KUNIT_CASE(trim_of_lingering),
	{}
};

static struct kunit_suite send_suite = {
	.name		= "svcrdma2_send",
	.init		= send_init,
	.exit		= send_exit,
	.test_cases	= send_cases,
};

kunit_test_suite(send_suite);
