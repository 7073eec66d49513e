// SPDX-License-Identifier: GPL-2.0
/*
 * Receives: memory, posting and completions.
 */
#include "../rpcrdma2/core.h"
#include "fault_once.h"
#include "recv_queue.h"

/* One doorbell posts a chain of distinct Receives. */
static void posts_a_chain(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 16, 1);
	unsigned long ids = 0;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, post(q, 8), 8);
	KUNIT_EXPECT_EQ(test, q->doorbells, 1);
	KUNIT_ASSERT_EQ(test, q->nposted, 8);
	for (i = 0; i < 8; i++) {
		struct rpcrdma2_recv *rv = q->posted[i];

		ids |= BIT(rv->rv_id);
		KUNIT_EXPECT_EQ(test, container_of(rv, struct letter, recv)->mark,
				0);
		KUNIT_EXPECT_EQ(test, rv->rv_wr.num_sge, 1);
		KUNIT_EXPECT_EQ(test, rv->rv_wr.sg_list->length, PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, rv->rv_wr.sg_list->lkey, LKEY);
		KUNIT_EXPECT_PTR_EQ(test, rv->rv_device, &q->device);
#ifdef RPCRDMA2_STRETCHES
		/* A single page is contiguous without a mapping. */
		KUNIT_EXPECT_PTR_EQ(test, rv->rv_buf, page_address(rv->rv_pages[0]));
#endif
		KUNIT_EXPECT_PTR_EQ(test, rpcrdma2_recv_at(rv, 0),
				    page_address(rv->rv_pages[0]));
	}
	KUNIT_EXPECT_EQ(test, ids, GENMASK(8, 1));
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 8);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 0);
	close_queue(test, q);
}

/* The Receive released last is posted first, and the pool allocates no new one. */
static void reposts_last_used(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 16, 1);
	struct rpcrdma2_recv *first, *last;

	KUNIT_ASSERT_EQ(test, post(q, 4), 4);
	first = receive(q, 100);
	last = receive(q, 100);
	rpcrdma2_recv_put(first);
	rpcrdma2_recv_put(last);
	KUNIT_EXPECT_EQ(test, post(q, 1), 1);
	KUNIT_EXPECT_PTR_EQ(test, q->posted[2], last);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 1);
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 4);
	close_queue(test, q);
}

/* Bytes of the largest Receive: 64 KiB, in whole pages */
#define MOST	max_t(u32, 1 << 16, PAGE_SIZE)

static const struct size_case {
	const char	*desc;
	int		sges;
	/* with pages of 4 KiB; larger pages limit them to MOST */
	u32		want, size, pages;
} size_cases[] = {
	{ "one byte", 16, 1, PAGE_SIZE, 13 },
	{ "one page", 16, PAGE_SIZE, PAGE_SIZE, 13 },
	{ "one byte more", 16, PAGE_SIZE + 1, 2 * PAGE_SIZE, 13 },
	{ "room to grow", 16, 13 * PAGE_SIZE, 13 * PAGE_SIZE, 13 },
	{ "more than that", 16, 13 * PAGE_SIZE + 1, 14 * PAGE_SIZE, 14 },
	{ "a device without room to grow", 5, 5 * PAGE_SIZE, 5 * PAGE_SIZE, 5 },
	{ "the limit of the device", 16, 16 * PAGE_SIZE,
	  16 * PAGE_SIZE, 16 },
	{ "more", 16, 17 * PAGE_SIZE, 16 * PAGE_SIZE, 16 },
	{ "more than the maximum", INT_MAX, 17 * PAGE_SIZE, 16 * PAGE_SIZE, 16 },
	{ "a device with one SGE", 1, 16 * PAGE_SIZE, PAGE_SIZE, 1 },
	{ "a device without a limit for SGEs", 0, 16 * PAGE_SIZE, PAGE_SIZE, 1 },
	{ "a device with INT_MAX SGEs",
	  INT_MAX, 16 * PAGE_SIZE, 16 * PAGE_SIZE, 16 },
};

KUNIT_ARRAY_PARAM_DESC(size, size_cases, desc);

static void sizes(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct ib_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct rpcrdma2_conn *co = kunit_kzalloc(test, sizeof(*co), GFP_KERNEL);
	u32 size = min_t(u32, c->size, MOST), pages = min_t(u32, c->pages, MOST / PAGE_SIZE);
	struct rdma_cm_id id = { .device = dev };

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, co);
	co->co_id = &id;
	dev->attrs.max_recv_sge = c->sges;
	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_begin(co, c->want), size);
	KUNIT_EXPECT_EQ(test, co->co_recv_pages, pages);
	/* later the connection may grow to what its Receive Queue has room for */
	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_size(co, RPCRDMA2_INLINE_MAX),
			pages * PAGE_SIZE);
}

/* Where Calls are passed on contiguously, the CPU sees one range of addresses. */
static void expect_one_stretch(struct kunit *test, struct rpcrdma2_recv *rv)
{
#ifdef RPCRDMA2_STRETCHES
	const u32 len = rv->rv_len;
	struct xdr_buf buf;
	u8 *base;
	u32 at;

	rpcrdma2_recv_buf(rv, 0, &buf);
	base = buf.head[0].iov_base;
	for (at = 0; at < rv->rv_len; at++)
		if (base[at] != at % 251)
			break;
	KUNIT_EXPECT_EQ(test, at, rv->rv_len);

	rpcrdma2_recv_buf(rv, 40, &buf);
	KUNIT_EXPECT_PTR_EQ(test, buf.head[0].iov_base, base + 40);
	KUNIT_EXPECT_EQ(test, buf.head[0].iov_len, rv->rv_len - 40);
	KUNIT_EXPECT_EQ(test, buf.page_len, 0);
	KUNIT_EXPECT_EQ(test, buf.len, rv->rv_len - 40);

	/* A message that ends in its first page has a physical address there. */
	rv->rv_len = PAGE_SIZE;
	rpcrdma2_recv_buf(rv, 40, &buf);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)buf.head[0].iov_base, byte(rv, 40));
	rv->rv_len = PAGE_SIZE + 1;
	rpcrdma2_recv_buf(rv, 40, &buf);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)buf.head[0].iov_base, base + 40);
	rv->rv_len = len;
#endif
}

static const struct head_case {
	const char	*desc;
	u32		at, len;
	bool		enough;
} head_cases[] = {
	{ "a Call in its first page", 40, PAGE_SIZE, true },
	{ "a Call of more than a page", 40, PAGE_SIZE + 4, true },
	{ "a Call after the largest header",
	  RPCRDMA2_HDR_MAX, 3 * PAGE_SIZE, true },
	{ "1024 bytes in the first page", PAGE_SIZE - 1024,
	  PAGE_SIZE + 4, true },
	{ "1020 bytes in the first page, and one in the next", PAGE_SIZE - 1020,
	  PAGE_SIZE + 1, false },
	{ "1020 bytes in the first page, and none in the next",
	  PAGE_SIZE - 1020, PAGE_SIZE, true },
	{ "a word in the first page", PAGE_SIZE - 4, PAGE_SIZE + 4, false },
	{ "no byte in the first page", PAGE_SIZE, 3 * PAGE_SIZE, true },
	{ "a word in the second page", 2 * PAGE_SIZE - 4, 3 * PAGE_SIZE,
	  false },
	{ "an empty Call", PAGE_SIZE, PAGE_SIZE, true },
};

KUNIT_ARRAY_PARAM_DESC(head, head_cases, desc);

/* The first page of a Call in pages holds its head. */
static void head_in_first_page(struct kunit *test)
{
	const struct head_case *hc = test->param_value;

	KUNIT_EXPECT_EQ(test, rpcrdma2_layout_has_head(hc->at, hc->len),
			hc->enough);
}

/*
 * A Call with too small a head moves to the beginning of its message, across pages, and
 * changes no other byte.
 */
static void expect_moved(struct kunit *test, struct rpcrdma2_recv *rv, u32 from)
{
	u32 at, was = rv->rv_len;
	struct xdr_buf buf;

	for (at = 0; at < was; at++)
		*byte(rv, at) = at % 251;
	rpcrdma2_recv_buf_paged(rv, from, &buf);
	KUNIT_ASSERT_EQ(test, rv->rv_len, was - from);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)buf.head[0].iov_base, byte(rv, 0));
	KUNIT_EXPECT_EQ(test, buf.head[0].iov_len, PAGE_SIZE);
	KUNIT_EXPECT_PTR_EQ(test, buf.pages[0], rv->rv_pages[1]);
	KUNIT_EXPECT_EQ(test, buf.page_len, was - from - PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, buf.len, was - from);
	for (at = 0; at < rv->rv_len; at++)
		if (*byte(rv, at) != (at + from) % 251)
			break;
	KUNIT_EXPECT_EQ(test, at, rv->rv_len);
	for (; at < was; at++)
		if (*byte(rv, at) != at % 251)
			break;
	KUNIT_EXPECT_EQ(test, at, was);
}

/* The device scatters into single pages; the CPU view depends on the kernel */
static void several_pages(struct kunit *test)
{
	struct queue *q = open_queue(test, 3, 4, 1);
	const u32 len = 2 * PAGE_SIZE + 100;
	struct rpcrdma2_recv *rv;
	struct xdr_buf buf;
	u32 at;

	KUNIT_ASSERT_EQ(test, post(q, 2), 2);
	KUNIT_EXPECT_EQ(test, q->doorbells, 1);
	rv = q->posted[0];
	KUNIT_EXPECT_EQ(test, rv->rv_wr.num_sge, 3);
	for (at = 0; at < 3; at++) {
		KUNIT_EXPECT_EQ(test, rv->rv_sges[at].length, PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, rv->rv_sges[at].lkey, LKEY);
	}
	for (at = 0; at < len; at++)
		*byte(rv, at) = at % 251;
	KUNIT_EXPECT_PTR_EQ(test, receive(q, len), rv);
	KUNIT_ASSERT_PTR_EQ(test, q->got, rv);
	KUNIT_EXPECT_EQ(test, rv->rv_len, len);
	rpcrdma2_recv_sync(rv);
	for (at = 0; at < 3; at++)
		KUNIT_EXPECT_TRUE(test, host_page_is_cpus(rv->rv_pages[at]));
	expect_one_stretch(test, rv);

	rpcrdma2_recv_buf_paged(rv, PAGE_SIZE + 40, &buf);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)buf.head[0].iov_base,
			    byte(rv, PAGE_SIZE + 40));
	KUNIT_EXPECT_EQ(test, buf.head[0].iov_len, PAGE_SIZE - 40);
	KUNIT_EXPECT_PTR_EQ(test, buf.pages[0], rv->rv_pages[2]);
	KUNIT_EXPECT_EQ(test, buf.page_len, 100);
	KUNIT_EXPECT_EQ(test, buf.len, len - PAGE_SIZE - 40);

	/* The xdr_buf has a pages array even if the message ends in its first page. */
	rpcrdma2_recv_buf_paged(rv, 2 * PAGE_SIZE + 40, &buf);
	KUNIT_EXPECT_EQ(test, buf.head[0].iov_len, 60);
	KUNIT_EXPECT_EQ(test, buf.page_len, 0);
	KUNIT_EXPECT_PTR_EQ(test, buf.pages[0], rv->rv_pages[0]);
	expect_moved(test, rv, PAGE_SIZE - 52);
	rpcrdma2_recv_put(rv);
	close_queue(test, q);
}

/*
 * A copy across the end of a page of the message, from the head through two pages, in descending
 * order, to the tail. No other byte of these is written.
 */
static void expect_copy(struct kunit *test, const struct rpcrdma2_recv *rv)
{
	u8 *mem = kunit_kzalloc(test, 4 * PAGE_SIZE, GFP_KERNEL);
	struct page *pages[2];
	struct xdr_buf buf = {
		.pages	   = pages,
		.page_base = PAGE_SIZE - 3,
		.page_len  = 5,
		.len	   = 8 + 5 + 8,
		.buflen	   = 8 + 5 + 8,
	};
	unsigned int i, written = 0;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	mem = PTR_ALIGN(mem, PAGE_SIZE);
	buf.head[0] = (struct kvec){ mem, 8 };
	buf.tail[0] = (struct kvec){ mem + 8, 8 };
	pages[0] = virt_to_page(mem + 2 * PAGE_SIZE);
	pages[1] = virt_to_page(mem + PAGE_SIZE);
	for (i = 0; i < 12; i++)
		*byte((struct rpcrdma2_recv *)rv, PAGE_SIZE - 6 + i) = 1 + i;
	rpcrdma2_recv_copy(rv, PAGE_SIZE - 6, 12, &buf, 4);
	for (i = 0; i < 12; i++) {
		u8 *to = i < 4 ? mem + 4 + i :
			 i < 7 ? mem + 3 * PAGE_SIZE - 7 + i :
			 i < 9 ? mem + PAGE_SIZE - 7 + i : mem + 8 - 9 + i;

		KUNIT_EXPECT_EQ(test, *to, 1 + i);
	}
	for (i = 0; i < 3 * PAGE_SIZE; i++)
		written += mem[i] != 0;
	KUNIT_EXPECT_EQ(test, written, 12);
}

/* A Receive that is not reposted is never mapped contiguously: readers go page by page. */
static void several_pages_unmapped(struct kunit *test)
{
	struct queue *q = open_queue(test, 2, 4, 1);
	struct rpcrdma2_recv *rv;
	struct xdr_buf buf;

	q->pool.rp_reposted = false;
	KUNIT_ASSERT_EQ(test,
			rpcrdma2_recvs_post(&q->co, &q->pool, 1, 1, 0, GFP_NOWAIT), 1);
	rv = receive(q, PAGE_SIZE + 8);
	KUNIT_ASSERT_PTR_EQ(test, q->got, rv);
	rpcrdma2_recv_sync(rv);
	*byte(rv, 40) = 40;
	*byte(rv, PAGE_SIZE) = 41;
	rpcrdma2_recv_buf_paged(rv, 40, &buf);
	KUNIT_EXPECT_EQ(test, *(u8 *)buf.head[0].iov_base, 40);
	KUNIT_EXPECT_EQ(test, buf.head[0].iov_len, PAGE_SIZE - 40);
	KUNIT_EXPECT_EQ(test, buf.page_len, 8);
	KUNIT_EXPECT_EQ(test, *(u8 *)page_address(buf.pages[0]), 41);
	expect_copy(test, rv);
	rpcrdma2_recv_put(rv);
	close_queue(test, q);
}

/* E-20: the size of its own Receive limits a message, not the new size of the pool. */
static void message_exceeds_receive(struct kunit *test)
{
	struct queue *q;

	need_pages(test, 3);
	q = open_queue(test, 2, 4, 1);
	q->pool.rp_reposted = false;
	KUNIT_ASSERT_EQ(test, post(q, 1), 1);
	rpcrdma2_rpool_resize(&q->pool, 3 * PAGE_SIZE);
	receive(q, 2 * PAGE_SIZE + 1);
	KUNIT_EXPECT_EQ(test, q->messages, 0);
	KUNIT_EXPECT_EQ(test, q->why, RPCRDMA2_LOSS_NO_MESSAGE);
	close_queue(test, q);
}

/*
 * The watermark: Receives are reposted in full batches only. The post runs under the lock
 * of the pool, and the batch is counted until it is done. So another thread that returns a
 * Receive meanwhile waits for the lock, and grants no credits for Receives that the device does
 * not have (R6).
 */
static void reposts_by_batch(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 12, 4);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 12), 0);
	KUNIT_EXPECT_EQ(test, q->nposted, 12);
	KUNIT_EXPECT_EQ(test, q->doorbells, 3);
	for (i = 1; i <= 8; i++) {
		KUNIT_EXPECT_EQ(test,
				rpcrdma2_recv_repost(&q->co, receive(q, 100)),
				i % 4 ? 0 : 4);
		KUNIT_EXPECT_EQ(test, q->doorbells, 3 + i / 4);
		KUNIT_EXPECT_EQ(test, q->nposted, 12 - i % 4);
	}
	KUNIT_EXPECT_EQ(test, q->messages, 8);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	if (IS_ENABLED(CONFIG_LOCKDEP))
		KUNIT_EXPECT_EQ(test, q->locked, q->doorbells);
	KUNIT_EXPECT_EQ(test, q->counted, q->doorbells);
	close_queue(test, q);
}

/* New Receives join those that wait, and a full batch is posted. */
static void fills_a_batch(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 16, 4);

	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 2), 0);
	KUNIT_EXPECT_EQ(test, q->nposted, 0);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 2);
	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 4), 0);
	KUNIT_EXPECT_EQ(test, q->nposted, 4);
	KUNIT_EXPECT_EQ(test, q->doorbells, 1);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 0);
	close_queue(test, q);
}

/* A lost connection posts no Receives. */
static void lost_connection_posts_nothing(struct kunit *test)
{
	struct queue *q;
	unsigned int i;

	need_pages(test, 2);
	q = open_queue(test, 1, 8, 2);
	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 8), 0);
	rpcrdma2_conn_lose(&q->co, RPCRDMA2_LOSS_PEER);
	rpcrdma2_rpool_resize(&q->pool, 2 * PAGE_SIZE);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test,
				rpcrdma2_recv_repost(&q->co, receive(q, 100)),
				0);
	/* Nor does it resize them. */
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 8);
	KUNIT_EXPECT_EQ(test, q->doorbells, 4);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 4);
	close_queue(test, q);
}

/* Receives that the device refuses are free, and the connection is lost. */
static void refused(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 16, 4);

	q->takes = 3;
	KUNIT_EXPECT_EQ(test, post(q, 8), 3);
	KUNIT_EXPECT_EQ(test, q->nposted, 3);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 5);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_EQ(test, q->why, RPCRDMA2_LOSS_POST);
	close_queue(test, q);
}

static void refused_when_reposted(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 8, 4);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 8), 0);
	q->takes = 1;
	for (i = 0; i < 3; i++)
		rpcrdma2_recv_repost(&q->co, receive(q, 100));
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recv_repost(&q->co, receive(q, 100)), 1);
	KUNIT_EXPECT_EQ(test, q->nposted, 5);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 3);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_EQ(test, q->why, RPCRDMA2_LOSS_POST);
	close_queue(test, q);
}

static void refused_by_batch(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 8, 4);

	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 2), 0);
	q->takes = 1;
	rpcrdma2_rpool_batch(&q->co, &q->pool, 2);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 1);
	KUNIT_EXPECT_EQ(test, q->why, RPCRDMA2_LOSS_POST);
	close_queue(test, q);
}

/*
 * The drain flushes the Receives that the device had when the drain began. The first one
 * completes with a message, whose handler posts another Receive.
 */
static void fake_drain(struct ib_qp *qp)
{
	const struct ib_wc flush = { .status = IB_WC_WR_FLUSH_ERR };
	struct queue *q = container_of(qp, struct queue, qp);
	unsigned int n = q->nposted;

	if (n && !q->messages) {
		rpcrdma2_recv_repost(&q->co, receive(q, 100));
		n--;
	}
	while (n--)
		complete_with(q, flush);
}

/* After the drain the device has no Receive. */
static void drained(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 4, 1);

	q->device.ops.drain_rq = fake_drain;
	q->qp.recv_cq = &q->cq;
	KUNIT_ASSERT_EQ(test, post(q, 3), 3);
	rpcrdma2_recvs_drain(&q->co);
	KUNIT_EXPECT_EQ(test, q->messages, 1);
	KUNIT_EXPECT_EQ(test, q->doorbells, 2);
	KUNIT_EXPECT_EQ(test, q->nposted, 0);
	close_queue(test, q);
}

/**
 * struct polled - a Receive Queue whose owner polls the CQ
 * @q: the queue
 * @waiting: completions in the CQ
 * @missed: the next request for an event finds completions in the CQ
 * @requests: requests for an event
 * @flags: flags of the last one
 * @arrivals: calls of ->arrived
 * @drains: drains of the Receive Queue
 */
struct polled {
	struct queue		*q;
	unsigned int		waiting;
	bool			missed;
	unsigned int		requests;
	enum ib_cq_notify_flags	flags;
	unsigned int		arrivals;
	unsigned int		drains;
};

/* The fake device has no place for it. */
static struct polled polled;

static int fake_poll(struct ib_cq *cq, int num, struct ib_wc *wc)
{
	struct queue *q = polled.q;
	int n;

	for (n = 0; n < num && polled.waiting; n++) {
		wc[n] = (struct ib_wc){ .status = IB_WC_SUCCESS, .opcode = IB_WC_RECV,
					.byte_len = 100 };
		wc[n].wr_cqe = q->posted[--q->nposted]->rv_wr.wr_cqe;
		polled.waiting--;
	}
	return n;
}

static int fake_notify(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	bool missed = polled.missed;

	polled.requests++;
	polled.flags = flags;
	polled.missed = false;
	return missed;
}

static void arrived(struct rpcrdma2_conn *co)
{
	polled.arrivals++;
}

static void polled_received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
			    const struct ib_wc *wc)
{
	polled.q->messages++;
	rpcrdma2_recv_put(rv);
}

static void polled_drain(struct ib_qp *qp)
{
	polled.drains++;
}

static const struct rpcrdma2_conn_ops polled_ops = {
	.lost		= lost,
	.received	= polled_received,
	.arrived	= arrived,
};

static struct queue *open_polled(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 8, 1);

	polled = (struct polled){ .q = q };
	q->device.ops.poll_cq = fake_poll;
	q->device.ops.req_notify_cq = fake_notify;
	q->device.ops.drain_rq = polled_drain;
	q->cq.device = &q->device;
	q->qp.recv_cq = &q->cq;
	q->co.co_ops = &polled_ops;
	q->co.co_recv_cq = &q->cq;
	q->co.co_recv_polled = true;
	return q;
}

/* The result is true if there may be more completions; otherwise the next one is an event. */
static void polled_by_owner(struct kunit *test)
{
	struct queue *q = open_polled(test);

	KUNIT_ASSERT_EQ(test, post(q, 5), 5);
	polled.waiting = 3;
	KUNIT_EXPECT_TRUE(test, rpcrdma2_recvs_poll(&q->co, 2));
	KUNIT_EXPECT_EQ(test, q->messages, 2);
	KUNIT_EXPECT_EQ(test, polled.requests, 0);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_recvs_poll(&q->co, 2));
	KUNIT_EXPECT_EQ(test, q->messages, 3);
	KUNIT_EXPECT_EQ(test, polled.requests, 1);
	KUNIT_EXPECT_EQ(test, polled.flags, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
	polled.missed = true;
	KUNIT_EXPECT_TRUE(test, rpcrdma2_recvs_poll(&q->co, 2));
	KUNIT_EXPECT_EQ(test, polled.requests, 2);
	rpcrdma2_recv_event(&q->cq, &q->co);
	KUNIT_EXPECT_EQ(test, polled.arrivals, 1);
	close_queue(test, q);
}

/* When the owner polls no longer, work handles the messages, and those of later events. */
static void polled_to_the_end(struct kunit *test)
{
	struct queue *q = open_polled(test);

	KUNIT_ASSERT_EQ(test, post(q, 5), 5);
	polled.waiting = 2;
	polled.missed = true;
	rpcrdma2_recvs_finish(&q->co);
	KUNIT_EXPECT_EQ(test, q->messages, 2);
	KUNIT_EXPECT_EQ(test, polled.requests, 2);
	KUNIT_EXPECT_EQ(test, polled.drains, 1);
	polled.waiting = 1;
	rpcrdma2_recv_event(&q->cq, &q->co);
	KUNIT_EXPECT_TRUE(test, flush_work(&q->co.co_recv_work) || !polled.waiting);
	KUNIT_EXPECT_EQ(test, q->messages, 3);
	KUNIT_EXPECT_EQ(test, polled.arrivals, 0);
	close_queue(test, q);
}

/* The RDMA core polls: there is no work. */
static void polled_by_the_rdma_core(struct kunit *test)
{
	struct queue *q = open_polled(test);

	q->co.co_recv_polled = false;
	polled.waiting = 1;
	rpcrdma2_recvs_finish(&q->co);
	KUNIT_EXPECT_EQ(test, polled.drains, 1);
	KUNIT_EXPECT_EQ(test, q->messages, 0);
	KUNIT_EXPECT_EQ(test, polled.requests, 0);
	close_queue(test, q);
}

/* At the limit of the pool, the queue stays short until a Receive is released. */
static void refills_up_to_the_limit(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 6, 1);
	struct rpcrdma2_recv *held[3];
	unsigned int i;

	KUNIT_ASSERT_EQ(test, post(q, 4), 4);
	for (i = 0; i < 3; i++)
		held[i] = receive(q, 100);
	KUNIT_EXPECT_EQ(test, post(q, 3), 2);
	KUNIT_EXPECT_EQ(test, post(q, 1), 0);
	KUNIT_EXPECT_EQ(test, q->doorbells, 2);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	rpcrdma2_recv_put(held[0]);
	KUNIT_EXPECT_EQ(test, post(q, 1), 1);
	KUNIT_EXPECT_EQ(test, q->nposted, 4);
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 6);
	rpcrdma2_recv_put(held[1]);
	rpcrdma2_recv_put(held[2]);
	close_queue(test, q);
}

/* A pool grows for Receives that have to be posted, not for those of a batch. */
static void grows_if_necessary(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 8, 1);
	struct rpcrdma2_recv *held;

	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_post(&q->co, &q->pool, 4, 2, 3,
						  GFP_KERNEL), 3);
	held = receive(q, 100);
	rpcrdma2_recv_put(receive(q, 100));
	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_post(&q->co, &q->pool, 3, 1, 3,
						  GFP_KERNEL), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_post(&q->co, &q->pool, 3, 1, 3,
						  GFP_KERNEL), 1);
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 4);
	rpcrdma2_recv_put(held);
	close_queue(test, q);
}

/* Of the free Receives, the trim frees the one whose last use was first. */
static void trim_frees_one(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 8, 1);
	struct rpcrdma2_recv *first, *last;

	KUNIT_ASSERT_EQ(test, post(q, 3), 3);
	/* none is free */
	KUNIT_EXPECT_FALSE(test, rpcrdma2_rpool_trim(&q->pool, 1));
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 3);
	first = receive(q, 100);
	last = receive(q, 100);
	rpcrdma2_recv_put(first);
	rpcrdma2_recv_put(last);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_rpool_trim(&q->pool, 3));
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 3);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_rpool_trim(&q->pool, 2));
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 2);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 1);
	KUNIT_ASSERT_EQ(test, post(q, 1), 1);
	KUNIT_EXPECT_PTR_EQ(test, q->posted[1], last);
	close_queue(test, q);
}

/* A lack of memory leaves the queue short, and the connection survives. */
static void refills_after_shortage(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 8, 1);

	KUNIT_ASSERT_EQ(test, post(q, 2), 2);
	rpcrdma2_recv_put(receive(q, 100));
	/* exceeds every allocation */
	q->pool.rp_before += KMALLOC_MAX_SIZE;
	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_post(&q->co, &q->pool, 4, 4, 0,
						  GFP_NOWAIT | __GFP_NOWARN), 1);
	KUNIT_EXPECT_EQ(test, q->nposted, 2);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 2);
	q->pool.rp_before -= KMALLOC_MAX_SIZE;
	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_post(&q->co, &q->pool, 3, 3, 0,
						  GFP_NOWAIT | __GFP_NOWARN), 3);
	KUNIT_EXPECT_EQ(test, q->nposted, 5);
	close_queue(test, q);
}

static const struct completion_case {
	const char		*desc;
	struct ib_wc		wc;
	enum rpcrdma2_loss	why;
} completion_cases[] = {
	{ "a message", { .status = IB_WC_SUCCESS, .opcode = IB_WC_RECV,
			 .byte_len = 4096 }, RPCRDMA2_LOSS_NONE },
	{ "a message of no bytes",
	  { .status = IB_WC_SUCCESS, .opcode = IB_WC_RECV },
	  RPCRDMA2_LOSS_NONE },
	{ "E-20 an RDMA Write with Immediate",
	  { .status = IB_WC_SUCCESS, .opcode = IB_WC_RECV_RDMA_WITH_IMM,
	    .byte_len = 100, .wc_flags = IB_WC_WITH_IMM },
	  RPCRDMA2_LOSS_NO_MESSAGE },
	{ "a flush", { .status = IB_WC_WR_FLUSH_ERR, .opcode = IB_WC_RECV,
		       .byte_len = 100 }, RPCRDMA2_LOSS_FLUSHED },
	{ "a message that is too long", { .status = IB_WC_LOC_LEN_ERR },
	  RPCRDMA2_LOSS_RECEIVE },
};

KUNIT_ARRAY_PARAM_DESC(completion, completion_cases, desc);

/* The owner gets each message; any other completion ends the connection. */
static void completions(struct kunit *test)
{
	const struct completion_case *c = test->param_value;
	bool good = c->why == RPCRDMA2_LOSS_NONE;
	struct queue *q = open_queue(test, 1, 2, 1);
	struct rpcrdma2_recv *rv;

	KUNIT_ASSERT_EQ(test, post(q, 2), 2);
	rv = complete_with(q, c->wc);
	KUNIT_EXPECT_EQ(test, q->messages, good);
	KUNIT_EXPECT_EQ(test, q->losses, !good);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&q->co), c->why);
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), !good);
	if (good) {
		KUNIT_EXPECT_EQ(test, rv->rv_len, c->wc.byte_len);
		rpcrdma2_recv_put(rv);
	}
	close_queue(test, q);
}

/* Checks the number of lines in the trace since trace_begin(), in user space. */
#ifdef host_traced
#define trace_begin()			(host_traced = 0)
#define expect_traced(test, n)		KUNIT_EXPECT_EQ(test, host_traced, n)
#else
#define trace_begin()			do { } while (0)
#define expect_traced(test, n)		do { } while (0)
#endif

static const struct cause_case {
	const char		*desc;
	enum rpcrdma2_loss	first;
	enum rpcrdma2_loss	later;
	enum rpcrdma2_loss	why;
	bool			iwarp;
} cause_cases[] = {
	{ "a Send that failed",
	  RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_SEND, RPCRDMA2_LOSS_SEND },
	{ "a Receive that was too short",
	  RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_RECEIVE, RPCRDMA2_LOSS_RECEIVE },
	{ "a device that was removed",
	  RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_DEVICE, RPCRDMA2_LOSS_DEVICE },
	{ "a REJECT",
	  RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_UNREACHABLE, RPCRDMA2_LOSS_UNREACHABLE },
	{ "a flush after the cause",
	  RPCRDMA2_LOSS_SEND, RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_SEND },
	{ "another flush",
	  RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_FLUSHED },
	{ "a Reply that cannot be sent any more",
	  RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_REPLY, RPCRDMA2_LOSS_FLUSHED },
	{ "memory that is fenced by the loss",
	  RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_STALLED, RPCRDMA2_LOSS_FLUSHED },
	{ "the end by the owner",
	  RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_ENDED, RPCRDMA2_LOSS_FLUSHED },
	{ "a flush after the end by the owner",
	  RPCRDMA2_LOSS_ENDED, RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_ENDED },
	{ "the answer to a disconnect",
	  RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_PEER, RPCRDMA2_LOSS_FLUSHED },
	{ "the end of a TCP connection",
	  RPCRDMA2_LOSS_FLUSHED, RPCRDMA2_LOSS_PEER, RPCRDMA2_LOSS_PEER, true },
};

KUNIT_ARRAY_PARAM_DESC(cause, cause_cases, desc);

/* A flush has a cause, which may be found later, in another queue. */
static void flushed_before_its_cause(struct kunit *test)
{
	const struct cause_case *c = test->param_value;
	struct queue *q = open_queue(test, 1, 2, 1);

	q->device.node_type = c->iwarp ? RDMA_NODE_RNIC : RDMA_NODE_IB_CA;
	trace_begin();
	rpcrdma2_conn_lose(&q->co, c->first);
	rpcrdma2_conn_lose(&q->co, c->later);
	expect_traced(test, c->why == c->first ? 1 : 2);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&q->co), c->why);
	rpcrdma2_conn_lose(&q->co, RPCRDMA2_LOSS_READ);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&q->co),
			c->why == RPCRDMA2_LOSS_FLUSHED ? RPCRDMA2_LOSS_READ : c->why);
	close_queue(test, q);
}

/* The trace has a line for a loss, and for each cause that is found after it. */
static void traced_with_its_reason(struct kunit *test)
{
	struct queue *q = open_queue(test, 1, 2, 1);

	trace_begin();
	rpcrdma2_conn_blame(&q->co, RPCRDMA2_LOSS_STALLED);
	expect_traced(test, 0);
	rpcrdma2_conn_lose(&q->co, RPCRDMA2_LOSS_DEVICE);
	expect_traced(test, 1);
	rpcrdma2_conn_lose(&q->co, RPCRDMA2_LOSS_DEVICE);
	expect_traced(test, 1);
	rpcrdma2_conn_blame(&q->co, RPCRDMA2_LOSS_TIMEOUT);
	expect_traced(test, 2);
	KUNIT_EXPECT_EQ(test, q->losses, 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&q->co), RPCRDMA2_LOSS_TIMEOUT);
	close_queue(test, q);
}

/* A pool that outlives its connection is mapped for the device of the next connection. */
static void next_connection(struct kunit *test)
{
	struct queue *q = open_queue(test, 2, 8, 1), *next;
	struct rpcrdma2_recv *held;
	unsigned int i;

	next = open_queue(test, 2, 0, 1);
	KUNIT_ASSERT_EQ(test, post(q, 4), 4);
	held = receive(q, PAGE_SIZE + 1);
	rpcrdma2_recv_sync(held);
	while (q->nposted)
		rpcrdma2_recv_put(q->posted[--q->nposted]);
	rpcrdma2_rpool_unmap(&q->pool);
	KUNIT_EXPECT_NULL(test, held->rv_device);

	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_post(&next->co, &q->pool, 3, 3, 0,
						  GFP_KERNEL), 3);
	for (i = 0; i < next->nposted; i++)
		KUNIT_EXPECT_PTR_EQ(test, next->posted[i]->rv_device,
				    &next->device);
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 4);
	rpcrdma2_recv_put(held);
	while (next->nposted)
		rpcrdma2_recv_put(next->posted[--next->nposted]);
	close_queue(test, q);
}

/* A pool with reposting resizes a Receive only when it reposts it. */
static void resizes_only_at_repost(struct kunit *test)
{
	struct queue *q;
	struct rpcrdma2_recv *rv;

	need_pages(test, 3);
	q = open_queue(test, 2, 4, 1);
	KUNIT_ASSERT_EQ(test, post(q, 1), 1);
	rv = receive(q, 100);
	rpcrdma2_rpool_resize(&q->pool, 3 * PAGE_SIZE);
	rpcrdma2_recv_put(rv);
	KUNIT_EXPECT_EQ(test, rv->rv_npages, 2);
	KUNIT_ASSERT_EQ(test, post(q, 1), 1);
	KUNIT_EXPECT_PTR_EQ(test, q->posted[0], rv);
	KUNIT_EXPECT_EQ(test, rv->rv_npages, 2);
	rpcrdma2_recv_repost(&q->co, receive(q, 100));
	KUNIT_EXPECT_EQ(test, rv->rv_npages, 3);
	close_queue(test, q);
}

/* The initialization clears all state. */
static void init_clears_pool(struct kunit *test)
{
	struct rpcrdma2_rpool rp;

	memset(&rp, 0xff, sizeof(rp));
	rpcrdma2_rpool_init(&rp);
	KUNIT_EXPECT_EQ(test, rp.rp_count, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rp.rp_nfree), 0);
	KUNIT_EXPECT_NULL(test, rp.rp_budget);
	KUNIT_EXPECT_EQ(test, rp.rp_node, NUMA_NO_NODE);
}

/* A software device uses virtual addresses of the CPU. */
static void virtual_addresses(struct kunit *test)
{
	struct queue *q = open_queue(test, 2, 4, 1);

	q->device.dma_device = NULL;
	KUNIT_ASSERT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 2), 0);
	rpcrdma2_rpool_resize(&q->pool, PAGE_SIZE);
	q->least = 1;
	rpcrdma2_recv_repost(&q->co, receive(q, 100));
	close_queue(test, q);
}

/* Only the tests in user space can limit the number of pages and mappings. */
#ifdef host_left
#define LEAST_LEFT	0
#else
#define LEAST_LEFT	4
static unsigned int host_left;
#endif

/* C-028: a Receive has all pages, each of them mapped, or is not created. */
static void page_shortage(struct kunit *test)
{
	struct rpcrdma2_budget budget = { .bu_limit = 100 };
	struct queue *q = open_queue(test, 2, 1, 1);
	unsigned int i;

	q->pool.rp_budget = &budget;
	for (i = LEAST_LEFT; i <= 4; i++) {	/* two pages and two mappings */
		host_left = i;
		KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 1),
				i < 4 ? -ENOMEM : 0);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages),
				i < 4 ? 0 : 2);
	}
	host_left = UINT_MAX;
	close_queue(test, q);
}

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
/* Number of mappings for the contiguous view of a Receive */
#ifdef RPCRDMA2_STRETCHES
#define STRETCH	1
#else
#define STRETCH	0
#endif

/* A Receive that cannot grow keeps its two pages, and is posted with them. */
static void growth_fails(struct kunit *test, struct queue *q, unsigned int nth)
{
	rpcrdma2_rpool_resize(&q->pool, 5 * PAGE_SIZE);
	fault_once(&rpcrdma2_faults[RPCRDMA2_FAIL_map_recv], nth);
	rpcrdma2_recv_repost(&q->co, receive(q, 2 * PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, fault_struck(&rpcrdma2_faults[RPCRDMA2_FAIL_map_recv]));
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&q->pool.rp_budget->bu_pages), 2);
	rpcrdma2_recv_repost(&q->co, receive(q, 2 * PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, q->pool.rp_small, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&q->pool.rp_budget->bu_pages), 5);
}

/* If one page cannot be mapped, the other pages are unmapped and not counted. */
static void mapping_fails(struct kunit *test)
{
	struct fault_attr *fault = &rpcrdma2_faults[RPCRDMA2_FAIL_map_recv];
	struct rpcrdma2_budget budget = { .bu_limit = 100 };
	struct queue *q;

	need_pages(test, 5);
	q = open_queue(test, 2, 8, 1);
	q->pool.rp_budget = &budget;
	fault_once(fault, 2 * (STRETCH + 2));
	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 2), -ENOMEM);
	KUNIT_EXPECT_EQ(test, q->pool.rp_count, 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 2);
	KUNIT_EXPECT_TRUE(test, fault_struck(fault));

	growth_fails(test, q, 2);
	close_queue(test, q);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 0);
}

#ifdef RPCRDMA2_STRETCHES
/* The contiguous mapping fails when a Receive is created, grows or shrinks */
static void stretch_fails(struct kunit *test)
{
	struct fault_attr *fault = &rpcrdma2_faults[RPCRDMA2_FAIL_map_recv];
	struct rpcrdma2_budget budget = { .bu_limit = 100 };
	struct queue *q;

	need_pages(test, 5);
	q = open_queue(test, 2, 8, 1);
	q->pool.rp_budget = &budget;
	fault_once(fault, 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 1), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, fault_struck(fault));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_recvs_fill(&q->co, &q->pool, 1), 0);
	/* The mapping follows those of the three new pages. */
	growth_fails(test, q, 4);
	/* A Receive that cannot shrink keeps its five pages. */
	rpcrdma2_rpool_resize(&q->pool, 3 * PAGE_SIZE);
	fault_once(fault, 1);
	rpcrdma2_recv_repost(&q->co, receive(q, 5 * PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, fault_struck(fault));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 5);
	close_queue(test, q);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&budget.bu_pages), 0);
}

#endif

/* A free Receive of another device that cannot be mapped stays free for the next attempt. */
static void remapping_fails(struct kunit *test)
{
	struct queue *q = open_queue(test, 2, 2, 1);

	q->pool.rp_reposted = false;
	KUNIT_ASSERT_EQ(test, post(q, 2), 2);
	rpcrdma2_recv_put(receive(q, 100));
	rpcrdma2_recv_put(receive(q, 100));
	rpcrdma2_rpool_unmap(&q->pool);
	fault_once(&rpcrdma2_faults[RPCRDMA2_FAIL_map_recv], 2);
	KUNIT_EXPECT_EQ(test, post(q, 2), 1);
	KUNIT_EXPECT_TRUE(test, fault_struck(&rpcrdma2_faults[RPCRDMA2_FAIL_map_recv]));
	KUNIT_EXPECT_EQ(test, nfree(&q->pool), 1);
	KUNIT_EXPECT_EQ(test, q->losses, 0);
	KUNIT_EXPECT_EQ(test, post(q, 1), 1);
	close_queue(test, q);
}
#endif

static struct kunit_case recv_cases[] = {
	KUNIT_CASE_PARAM(sizes, size_gen_params),
	KUNIT_CASE(posts_a_chain),
	KUNIT_CASE(reposts_last_used),
	KUNIT_CASE_PARAM(head_in_first_page, head_gen_params),
	KUNIT_CASE(several_pages),
	KUNIT_CASE(several_pages_unmapped),
	KUNIT_CASE(message_exceeds_receive),
	KUNIT_CASE(reposts_by_batch),
	KUNIT_CASE(fills_a_batch),
	KUNIT_CASE(lost_connection_posts_nothing),
	KUNIT_CASE(refused),
	KUNIT_CASE(refused_when_reposted),
	KUNIT_CASE(refills_up_to_the_limit),
	KUNIT_CASE(grows_if_necessary),
	KUNIT_CASE(trim_frees_one),
	KUNIT_CASE(refills_after_shortage),
	KUNIT_CASE(drained),
	KUNIT_CASE(polled_by_owner),
	KUNIT_CASE(polled_to_the_end),
	KUNIT_CASE(polled_by_the_rdma_core),
	KUNIT_CASE_PARAM(completions, completion_gen_params),
	KUNIT_CASE_PARAM(flushed_before_its_cause, cause_gen_params),
	KUNIT_CASE(traced_with_its_reason),
	KUNIT_CASE(refused_by_batch),
	KUNIT_CASE(resizes_only_at_repost),
	KUNIT_CASE(init_clears_pool),
	KUNIT_CASE(next_connection),
	KUNIT_CASE(virtual_addresses),
	KUNIT_CASE(page_shortage),
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
	KUNIT_CASE(mapping_fails),
#ifdef RPCRDMA2_STRETCHES
	KUNIT_CASE(stretch_fails),
#endif
	KUNIT_CASE(remapping_fails),
#endif
	{}
};

static struct kunit_suite recv_suite = {
	.name		= "rpcrdma2_recv",
	.test_cases	= recv_cases,
};

kunit_test_suite(recv_suite);
