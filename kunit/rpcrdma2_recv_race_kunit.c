// SPDX-License-Identifier: GPL-2.0
/*
 * Receives that are made, or get another size, while their pool is given another
 * one: a peer that was told of larger Receives finds no smaller one (C-028, C-032).
 *
 * The tracepoint of kmalloc() is where the pool gets its size: in the middle of
 * what is done to a Receive.
 */
#include <kunit/test.h>
#include <trace/events/kmem.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/recv.h>

/**
 * struct race - a connection with a pool
 * @co: connection
 * @id: its identifier
 * @qp: its queue pair
 * @cq: its receive CQ
 * @pd: its protection domain
 * @device: its device; one without mappings
 * @pool: its Receives
 * @task: the next kmalloc() of this one gives the pool another size; then NULL
 * @pages: which
 * @told: pages that each Receive has, as far as the peer knows
 * @posted: Receives that the device has, oldest first
 * @nposted: how many
 * @too_small: of all that it got, so many had fewer pages than @told
 */
struct race {
	struct rpcrdma2_conn	co;
	struct rdma_cm_id	id;
	struct ib_qp		qp;
	struct ib_cq		cq;
	struct ib_pd		pd;
	struct ib_device	device;
	struct rpcrdma2_rpool	pool;
	struct task_struct	*task;
	unsigned int		pages;
	unsigned int		told;
	struct rpcrdma2_recv	*posted[8];
	unsigned int		nposted;
	unsigned int		too_small;
};

static int take_all(struct ib_qp *qp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad)
{
	struct race *ra = container_of(qp, struct race, qp);

	for (; wr && ra->nposted < ARRAY_SIZE(ra->posted); wr = wr->next) {
		ra->too_small += wr->num_sge < ra->told;
		ra->posted[ra->nposted++] = container_of(wr, struct rpcrdma2_recv,
							 rv_wr);
	}
	*bad = wr;
	return wr ? -ENOMEM : 0;
}

static void lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
}

static void received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
		     const struct ib_wc *wc)
{
}

static const struct rpcrdma2_conn_ops ops = {
	.lost		= lost,
	.received	= received,
};

/* The owner of the pool tells the peer when it may. */
static void tell(struct race *ra)
{
	if (!ra->pool.rp_small)
		ra->told = ra->pool.rp_size >> PAGE_SHIFT;
}

static void at_kmalloc(void *data, unsigned long call_site, const void *ptr,
		       size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
		       int node)
{
	struct race *ra = data;

	if (current != ra->task)
		return;
	ra->task = NULL;
	rpcrdma2_rpool_resize(&ra->pool, ra->pages << PAGE_SHIFT);
	tell(ra);
}

static struct race *begin_race(struct kunit *test, unsigned int pages)
{
	struct race *ra = kunit_kzalloc(test, sizeof(*ra), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ra);
	rpcrdma2_conn_init(&ra->co, &ops);
	ra->device.ops.post_recv = take_all;
	ra->qp.device = &ra->device;
	ra->id.device = &ra->device;
	ra->id.qp = &ra->qp;
	ra->cq.cq_context = &ra->co;
	ra->co.co_id = &ra->id;
	ra->co.co_pd = &ra->pd;
	rpcrdma2_rpool_init(&ra->pool);
	ra->pool.rp_size = pages << PAGE_SHIFT;
	ra->pool.rp_mapped = true;
	ra->pool.rp_batch = 1;
	ra->told = pages;
	return ra;
}

static void race_at_kmalloc(struct kunit *test, struct race *ra,
			    unsigned int pages)
{
	KUNIT_ASSERT_EQ(test, register_trace_kmalloc(at_kmalloc, ra), 0);
	ra->pages = pages;
	ra->task = current;
}

static void end_race(struct kunit *test, struct race *ra)
{
	unregister_trace_kmalloc(at_kmalloc, ra);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_NULL(test, ra->task);
}

static void close_race(struct kunit *test, struct race *ra)
{
	while (ra->nposted)
		rpcrdma2_recv_put(ra->posted[--ra->nposted]);
	KUNIT_EXPECT_EQ(test, ra->too_small, 0);
	rpcrdma2_rpool_unmap(&ra->pool);
	rpcrdma2_rpool_destroy(&ra->pool);
}

/* The oldest one completes. */
static struct rpcrdma2_recv *receive(struct race *ra)
{
	struct rpcrdma2_recv *rv = ra->posted[0];
	struct ib_wc wc = {
		.status		= IB_WC_SUCCESS,
		.opcode		= IB_WC_RECV,
		.byte_len	= 100,
		.wr_cqe		= rv->rv_wr.wr_cqe,
	};

	memmove(ra->posted, ra->posted + 1,
		--ra->nposted * sizeof(*ra->posted));
	wc.wr_cqe->done(&ra->cq, &wc);
	return rv;
}

/* No memory makes it larger when it is posted. */
static void raised_while_one_is_made(struct kunit *test)
{
	struct rpcrdma2_budget budget = { .bu_most = 100, .bu_kept = 100 };
	struct race *ra = begin_race(test, 1);

	ra->pool.rp_budget = &budget;
	race_at_kmalloc(test, ra, 3);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_fill(&ra->co, &ra->pool, 2), 0);
	end_race(test, ra);
	KUNIT_EXPECT_EQ(test, ra->told, 3);
	KUNIT_EXPECT_EQ(test, ra->nposted, 2);
	KUNIT_EXPECT_EQ(test, ra->pool.rp_count, 2);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 6);
	close_race(test, ra);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 0);
}

static void raised_while_one_gets_smaller(struct kunit *test)
{
	struct race *ra = begin_race(test, 4);
	struct rpcrdma2_recv *rv;

	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&ra->co, &ra->pool, 2), 0);
	rpcrdma2_rpool_resize(&ra->pool, 2 * PAGE_SIZE);
	ra->told = 2;
	rv = receive(ra);
	race_at_kmalloc(test, ra, 4);
	rpcrdma2_recv_repost(&ra->co, rv);
	end_race(test, ra);
	KUNIT_EXPECT_EQ(test, ra->told, 2);
	KUNIT_EXPECT_EQ(test, ra->pool.rp_small, 1);

	rpcrdma2_recv_repost(&ra->co, receive(ra));
	rpcrdma2_recv_repost(&ra->co, receive(ra));
	tell(ra);
	KUNIT_EXPECT_EQ(test, ra->told, 4);
	rpcrdma2_recv_repost(&ra->co, receive(ra));
	close_race(test, ra);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(raised_while_one_is_made),
	KUNIT_CASE(raised_while_one_gets_smaller),
	{}
};

static struct kunit_suite race_suite = {
	.name		= "rpcrdma2_recv_race",
	.test_cases	= race_cases,
};

kunit_test_suite(race_suite);
