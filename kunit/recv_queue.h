/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Receive Queue over a device that accepts a number of Receives chosen by the test case.
 * The device needs DMA mappings, and kernels with DMA debugging check each of them.
 */
#ifndef _KUNIT_RECV_QUEUE_H
#define _KUNIT_RECV_QUEUE_H

#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/dma-mapping.h>

#include <rpcrdma2/conn.h>

#define LKEY	0x1234

/* Only the tests in user space track the owner of a page. */
#ifndef host_page_is_cpus
#define host_page_is_cpus(page)	true
#endif

/* Container of a Receive. The member in front of it shows that rp_before is honored. */
struct letter {
	u64			mark;
	struct rpcrdma2_recv	recv;
};

/**
 * struct queue - a connection with its pool of Receives, and a record of events
 * @co: connection
 * @id: its identifier
 * @qp: its queue pair
 * @cq: its receive CQ
 * @pd: its protection domain
 * @device: its device
 * @pool: its Receives
 * @takes: number of Receives that the device still accepts
 * @least: minimum pages of a Receive: the size that is announced to the peer
 * @doorbells: chains posted to the device
 * @locked: chains posted under the lock of the pool, counted if lockdep is built in
 * @counted: chains posted while the pool counted a batch of free Receives
 * @too_small: posted Receives with fewer than @least pages
 * @posted: Receives of the device, oldest first
 * @nposted: number of entries in @posted
 * @got: Receive of the last call of ->received
 * @messages: calls of ->received
 * @losses: calls of ->lost
 * @why: reason that the last call passed
 */
struct queue {
	struct rpcrdma2_conn	co;
	struct rdma_cm_id	id;
	struct ib_qp		qp;
	struct ib_cq		cq;
	struct ib_pd		pd;
	struct ib_device	device;
	struct rpcrdma2_rpool	pool;
	unsigned int		takes;
	unsigned int		least;
	unsigned int		doorbells;
	unsigned int		locked;
	unsigned int		counted;
	unsigned int		too_small;
	struct rpcrdma2_recv	*posted[32];
	unsigned int		nposted;
	struct rpcrdma2_recv	*got;
	unsigned int		messages;
	unsigned int		losses;
	enum rpcrdma2_loss	why;
};

static inline int fake_post(struct ib_qp *qp, const struct ib_recv_wr *wr,
			    const struct ib_recv_wr **bad)
{
	struct queue *q = container_of(qp, struct queue, qp);

	q->doorbells++;
	if (IS_ENABLED(CONFIG_LOCKDEP))
		q->locked += lockdep_is_held(&q->pool.rp_lock) == 1;
	q->counted += atomic_read(&q->pool.rp_nfree) >= (int)q->pool.rp_batch;
	for (; wr; wr = wr->next) {
		if (!q->takes || q->nposted == ARRAY_SIZE(q->posted)) {
			*bad = wr;
			return -ENOMEM;
		}
		q->takes--;
		if (wr->num_sge < q->least)
			q->too_small++;
		q->posted[q->nposted++] = container_of(wr, struct rpcrdma2_recv,
						       rv_wr);
	}
	return 0;
}

static inline void lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	struct queue *q = container_of(co, struct queue, co);

	q->losses++;
	q->why = why;
}

static inline void received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
			    const struct ib_wc *wc)
{
	struct queue *q = container_of(co, struct queue, co);

	q->got = rv;
	q->messages++;
}

static const struct rpcrdma2_conn_ops ops = {
	.lost		= lost,
	.received	= received,
};

/* Skip a case with Receives of @pages pages if the largest Receive has fewer. */
static inline void need_pages(struct kunit *test, unsigned int pages)
{
	if (pages > RPCRDMA2_RECV_PAGES)
		kunit_skip(test, "the largest Receive has fewer than %u pages", pages);
}

/* Pool of at most @max Receives of @pages pages, reposted in batches of @batch */
static inline struct queue *open_queue(struct kunit *test, unsigned int pages,
				       unsigned int max, unsigned int batch)
{
	struct queue *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);
	static unsigned int devices;
	struct device *dev;
	char name[32];

	need_pages(test, pages);
	KUNIT_ASSERT_NOT_NULL(test, q);
	snprintf(name, sizeof(name), "rpcrdma2_recv.%u", devices++);
	dev = kunit_device_register(test, name);
	KUNIT_ASSERT_FALSE(test, IS_ERR(dev));
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test,
			dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);
	rpcrdma2_conn_init(&q->co, &ops);
	q->device.dma_device = dev;
	q->device.ops.post_recv = fake_post;
	q->qp.device = &q->device;
	q->id.device = &q->device;
	q->id.qp = &q->qp;
	q->pd.local_dma_lkey = LKEY;
	q->cq.cq_context = &q->co;
	q->co.co_id = &q->id;
	q->co.co_pd = &q->pd;
	q->takes = UINT_MAX;
	q->least = pages;
	rpcrdma2_rpool_init(&q->pool);
	q->pool.rp_size = pages << PAGE_SHIFT;
	q->pool.rp_reposted = true;
	q->pool.rp_before = offsetof(struct letter, recv);
	q->pool.rp_max = max;
	q->pool.rp_batch = batch;
	return q;
}

static inline unsigned int post(struct queue *q, unsigned int count)
{
	return rpcrdma2_recvs_post(&q->co, &q->pool, count, count, 0, GFP_KERNEL);
}

/* Completes the oldest Receive. */
static inline struct rpcrdma2_recv *complete_with(struct queue *q, struct ib_wc wc)
{
	struct rpcrdma2_recv *rv = q->posted[0];

	memmove(q->posted, q->posted + 1, --q->nposted * sizeof(*q->posted));
	wc.wr_cqe = rv->rv_wr.wr_cqe;
	wc.wr_cqe->done(&q->cq, &wc);
	return rv;
}

static inline struct rpcrdma2_recv *receive(struct queue *q, u32 len)
{
	return complete_with(q, (struct ib_wc){ .status = IB_WC_SUCCESS,
						.opcode = IB_WC_RECV,
						.byte_len = len });
}

/* Number of free Receives, collected by the pool or not */
static inline unsigned int nfree(struct rpcrdma2_rpool *rp)
{
	const struct llist_node *node = rp->rp_returned.first;
	unsigned int n = list_count_nodes(&rp->rp_free);

	for (; node; node = node->next)
		n++;
	return n;
}

/* Closes the queue after the queue pair was drained and all messages were released. */
static inline void close_queue(struct kunit *test, struct queue *q)
{
	while (q->nposted)
		rpcrdma2_recv_put(q->posted[--q->nposted]);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), q->pool.rp_count);
	KUNIT_EXPECT_EQ(test, q->too_small, 0);
	rpcrdma2_rpool_unmap(&q->pool);
	rpcrdma2_rpool_destroy(&q->pool);
	KUNIT_EXPECT_TRUE(test, list_empty(&q->pool.rp_all));
}

/* Byte @at of the device's data in @rv */
static inline u8 *byte(struct rpcrdma2_recv *rv, u32 at)
{
	return (u8 *)page_address(rv->rv_pages[at >> PAGE_SHIFT]) +
	       offset_in_page(at);
}

#endif /* _KUNIT_RECV_QUEUE_H */
