// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions and the Send Queue entries reserved for their invalidation, for every way
 * in which an RPC and its connection end (Q2). The fake device accepts work requests, and
 * test cases complete them.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/sunrpc/xprt.h>

#include "window.h"

#define xprt_wait_for_buffer_space	windowed_wait
#include <rpcrdma2/conn.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/wire.h>

#include "fake_mr.h"

#define ENTRIES	16
#define REGIONS	4

/**
 * struct rpc - an RPC that exposes memory
 * @ex: exposed memory
 * @fences: calls of em_done
 * @ok: argument of the last call of em_done
 * @send: its Send
 * @post: the chain of the Send
 */
struct rpc {
	struct rpcrdma2_exposed	ex;
	unsigned int		fences;
	bool			ok;
	struct ib_send_wr	send;
	struct rpcrdma2_post	post;
};

/**
 * struct link - a connection with REGIONS regions
 * @co: connection
 * @fake: its verbs objects
 * @last: last work request posted
 * @takes: the device accepts work requests
 * @later: RPCs take the entries for a fence when the fence is posted
 * @rpcs: RPCs of the test cases
 */
struct link {
	struct rpcrdma2_conn	co;
	struct fake_conn	fake;
	const struct ib_send_wr	*last;
	bool			takes;
	bool			later;
	struct rpc		rpcs[2];
};

static int fake_post(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct link *ln = container_of(qp, struct link, fake.qp);

	if (!ln->takes) {
		*bad = wr;
		return -ENOMEM;
	}
	for (; wr; wr = wr->next)
		ln->last = wr;
	return 0;
}

static int regions_init(struct kunit *test)
{
	struct link *ln = kunit_kzalloc(test, sizeof(*ln), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ln);
	test->priv = ln;
	ln->takes = true;
	KUNIT_ASSERT_EQ(test, fake_conn_init(&ln->co, &ln->fake, fake_post,
					     ENTRIES, REGIONS), 0);
	return 0;
}

static void regions_exit(struct kunit *test)
{
	struct link *ln = test->priv;

	if (ln)
		fake_conn_exit(&ln->fake);
}

static void send_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
		      bool ok)
{
}

static void fence_done(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		       bool ok)
{
	struct rpc *rpc = container_of(ex, struct rpc, ex);

	rpc->fences++;
	rpc->ok = ok;
}

/* A Call that exposes @count pages, posted as by xprt2_send_message() */
static int call(struct kunit *test, struct rpc *rpc, unsigned int count)
{
	struct link *ln = test->priv;
	struct ib_send_wr *first = &rpc->send;
	unsigned int i, wrs;

	memset(rpc, 0, sizeof(*rpc));
	rpcrdma2_exposed_init(&rpc->ex);
	rpc->ex.em_later = ln->later;
	rpc->ex.em_done = fence_done;
	ln->fake.hdr.h_nsegs = 0;
	for (i = 0; i < count; i++)
		KUNIT_ASSERT_EQ(test, fake_expose(&ln->co, &rpc->ex), 0);
	rpc->send.opcode = IB_WR_SEND;
	rpc->post.po_signal = true;
	rpc->post.po_done = send_done;
	wrs = 1 + rpcrdma2_exposed_chain(&rpc->ex, &first);
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&ln->co, ln->later ? wrs : 2 * wrs - 1,
						 false));
	return rpcrdma2_sq_post(&ln->co, &rpc->post, first);
}

static void complete_last(struct link *ln, enum ib_wc_status status)
{
	struct ib_wc wc = { .wr_cqe = ln->last->wr_cqe, .status = status };

	wc.wr_cqe->done(&ln->fake.cq, &wc);
}

static void receive_reply(struct kunit *test, struct rpc *rpc)
{
	struct link *ln = test->priv;

	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test,
			  rpcrdma2_exposed_invalidated(&ln->co, &rpc->ex,
						       ln->fake.hdr.h_segs[0].rs_handle));
}

/* Return: true if all regions, and then all entries, are back. */
static bool all_released(struct link *ln)
{
	bool whole;

	rpcrdma2_sq_drain(&ln->co);
	whole = rpcrdma2_regions_are_whole(&ln->co);
	rpcrdma2_regions_destroy(&ln->co);
	return whole && rpcrdma2_sq_is_whole(&ln->co);
}

/* Q2: the Reply invalidates one region, and a fence invalidates the other. */
static void q2_reply_and_fence(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_is_whole(&ln->co));
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_exposed(&ln->co), 2);
	receive_reply(test, rpc);
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_exposed(&ln->co), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), 0);
	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, rpc->ok);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&ln->co));
	KUNIT_EXPECT_EQ(test, ln->co.co_regions.rg_num_free, REGIONS);
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/* Q2: the same without an entry reserved for the fence. */
static void q2_entries_taken_for_fence(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	ln->later = true;
	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	receive_reply(test, rpc);
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_exposed(&ln->co), 1);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&ln->co));
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&ln->co, 1, false));
	KUNIT_EXPECT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), 0);
	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, rpc->ok);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&ln->co));
	/* The connection is lost before the fence. */
	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	complete_last(ln, IB_WC_SUCCESS);
	rpcrdma2_lose_exposed(&ln->co, &rpc->ex);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&ln->co));
	ln->later = false;
	KUNIT_ASSERT_EQ(test, call(test, &ln->rpcs[1], 2), 0);
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/* Q2: the loss of the connection frees the regions of RPCs and their reserved entries. */
static void q2_lost_with_rpcs(struct kunit *test)
{
	struct link *ln = test->priv;

	KUNIT_ASSERT_EQ(test, call(test, &ln->rpcs[0], 2), 0);
	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, call(test, &ln->rpcs[1], 1), 0);
	rpcrdma2_conn_lose(&ln->co, RPCRDMA2_LOSS_PEER);
	KUNIT_EXPECT_TRUE(test, all_released(ln));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_exposed(&ln->rpcs[0].ex));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_exposed(&ln->rpcs[1].ex));
}

/* An RPC with two regions; a queue pair in error state flushes its fence */
static void fence_flushed(struct kunit *test, struct rpc *rpc)
{
	struct link *ln = test->priv;

	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), 0);
	complete_last(ln, IB_WC_WR_FLUSH_ERR);
}

/* Q2: a fence that fails releases its entries, and the RPC loses its regions. */
static void q2_fence_fails(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	fence_flushed(test, rpc);
	KUNIT_EXPECT_EQ(test, rpc->fences, 1);
	KUNIT_EXPECT_FALSE(test, rpc->ok);
	rpcrdma2_lose_exposed(&ln->co, &rpc->ex);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_exposed(&rpc->ex));
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/* Q2: a Reply after a failed fence does not release the entries a second time. */
static void q2_reply_after_failed_fence(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	fence_flushed(test, rpc);
	KUNIT_EXPECT_TRUE(test,
			  rpcrdma2_exposed_invalidated(&ln->co, &rpc->ex,
						       ln->fake.hdr.h_segs[0].rs_handle));
	rpcrdma2_lose_exposed(&ln->co, &rpc->ex);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&ln->co));
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/* Q2: a fence that the device refuses also releases its entries. */
static void q2_fence_refused(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	complete_last(ln, IB_WC_SUCCESS);
	ln->takes = false;
	KUNIT_EXPECT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), -ENOTCONN);
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/* Q2: a Call that the device refuses releases the entries of its regions. */
static void q2_call_refused(struct kunit *test)
{
	struct link *ln = test->priv;

	ln->takes = false;
	KUNIT_ASSERT_EQ(test, call(test, &ln->rpcs[0], 2), -ENOTCONN);
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/* Q2: the check detects entries that are missing or that were released twice. */
static void q2_detects_leaked_entries(struct kunit *test)
{
	struct link *ln = test->priv;

	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&ln->co, 1, false));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_is_whole(&ln->co));
	rpcrdma2_sq_give(&ln->co, 2);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_is_whole(&ln->co));
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&ln->co, 1, false));
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

static unsigned int trim(struct link *ln, unsigned int keep)
{
	ln->co.co_regions.rg_keep = keep;
	return rpcrdma2_regions_trim(&ln->co);
}

/*
 * The trim frees regions that were idle since the last trim, except for a minimum. Regions
 * in occasional use stay.
 */
static void trim_frees_idle_regions(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpcrdma2_regions *rg = &ln->co.co_regions;
	struct rpc *rpc = &ln->rpcs[0];
	unsigned int i;

	ln->later = true;
	/* New regions count as used. */
	KUNIT_EXPECT_EQ(test, trim(ln, 1), 0);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, call(test, rpc, 3), 0);
		complete_last(ln, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, trim(ln, 3), i ? 0 : 1);
		KUNIT_EXPECT_EQ(test, rg->rg_num, 3);
		KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&ln->co, 3, false));
		KUNIT_ASSERT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), 0);
		complete_last(ln, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, trim(ln, 1), 0);
		KUNIT_EXPECT_EQ(test, rg->rg_num_free, 3);
	}
	rg->rg_needed = 4;
	KUNIT_EXPECT_EQ(test, trim(ln, 1), 0);
	rg->rg_needed = 0;
	KUNIT_EXPECT_EQ(test, trim(ln, 1), 2);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 1);
	KUNIT_EXPECT_EQ(test, trim(ln, 1), 0);
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/* The pool begins with the minimum, and doubles up to its limit. */
static void pool_doubles(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpcrdma2_regions *rg = &ln->co.co_regions;

	KUNIT_EXPECT_EQ(test, rg->rg_num, rg->rg_keep);
	trim(ln, 1);
	trim(ln, 1);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 1);
	rg->rg_max = 50;
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_grow(&ln->co), 0);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 2);
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_grow(&ln->co), 0);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 4);
	rpcrdma2_regions_grow(&ln->co);
	rpcrdma2_regions_grow(&ln->co);
	rpcrdma2_regions_grow(&ln->co);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 32);
	/* by 16 at most, and not beyond the limit */
	rpcrdma2_regions_grow(&ln->co);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 48);
	rpcrdma2_regions_grow(&ln->co);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 50);
	/* An empty pool gets the minimum at once: an RPC of that size does not wait. */
	trim(ln, 0);
	trim(ln, 0);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 0);
	rg->rg_keep = 16;
	rpcrdma2_regions_grow(&ln->co);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 16);
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/*
 * The work that trims runs while there are more regions than the minimum. It frees none of
 * an RPC, and none that an RPC has returned since the last time. Its end is the
 * connection's, at the latest.
 */
static void trim_runs_until_the_minimum(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpcrdma2_regions *rg = &ln->co.co_regions;
	struct rpc *rpc = &ln->rpcs[0];

	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&rg->rg_trim));
	rg->rg_keep = 1;
	rpcrdma2_regions_grow(&ln->co);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&rg->rg_trim));
	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	flush_delayed_work(&rg->rg_trim);
	KUNIT_EXPECT_EQ(test, ln->fake.trimmed, 0);
	flush_delayed_work(&rg->rg_trim);
	KUNIT_EXPECT_EQ(test, ln->fake.trimmed, 2);
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_exposed(&ln->co), 2);
	receive_reply(test, rpc);
	flush_delayed_work(&rg->rg_trim);
	KUNIT_EXPECT_EQ(test, ln->fake.trimmed, 2);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&rg->rg_trim));
	flush_delayed_work(&rg->rg_trim);
	KUNIT_EXPECT_EQ(test, ln->fake.trimmed, 3);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&rg->rg_trim));
	/* The region of the RPC is the last one. */
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_exposed(&ln->co), 1);
	rpcrdma2_regions_grow(&ln->co);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&rg->rg_trim));
	KUNIT_EXPECT_TRUE(test, all_released(ln));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&rg->rg_trim));
}

static struct ib_mr *no_mr(struct ib_pd *pd, enum ib_mr_type type, u32 depth)
{
	return ERR_PTR(-ENOMEM);
}

/* A pool gets more regions if it has to keep more, and frees them if it has to keep fewer. */
static void minimum_changes(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpcrdma2_regions *rg = &ln->co.co_regions;

	trim(ln, 1);
	trim(ln, 1);
	KUNIT_ASSERT_EQ(test, rg->rg_num, 1);
	/* While memory is short the work tries again, although no RPC waits. */
	ln->fake.device.ops.alloc_mr = no_mr;
	rpcrdma2_regions_keep(&ln->co, 3);
	flush_delayed_work(&rg->rg_refill);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 1);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&rg->rg_refill));
	ln->fake.device.ops.alloc_mr = fake_alloc_mr;
	flush_delayed_work(&rg->rg_refill);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 4);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&rg->rg_refill));
	rpcrdma2_regions_keep(&ln->co, 1);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&rg->rg_trim));
	flush_delayed_work(&rg->rg_trim);
	flush_delayed_work(&rg->rg_trim);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 1);
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/* The check detects a region that is neither free nor exposed. */
static void detects_lost_region(struct kunit *test)
{
	struct link *ln = test->priv;
	struct list_head *free = &ln->co.co_regions.rg_free, *first = free->next;

	list_del_init(first);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_regions_are_whole(&ln->co));
	ln->co.co_regions.rg_num_free--;
	KUNIT_EXPECT_FALSE(test, rpcrdma2_regions_are_whole(&ln->co));
	list_add(first, free);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_regions_are_whole(&ln->co));
	ln->co.co_regions.rg_num_free++;
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/* S50: a handle identifies its RPC while the region is exposed. */
static void s50_handle_owner(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];
	u32 first, second, xid = 0;

	ln->fake.hdr.h_xid = 0x51de;
	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	first = ln->fake.hdr.h_segs[0].rs_handle;
	second = ln->fake.hdr.h_segs[1].rs_handle;
	KUNIT_EXPECT_TRUE(test, rpcrdma2_handle_in_use(&ln->co, second, &xid));
	KUNIT_EXPECT_EQ(test, xid, 0x51de);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_handle_in_use(&ln->co, ~first, &xid));
	receive_reply(test, rpc);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_handle_in_use(&ln->co, first, &xid));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_handle_in_use(&ln->co, second, &xid));
	KUNIT_EXPECT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), 0);
	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_handle_in_use(&ln->co, second, &xid));
	/* A late message may still carry the old handle when the region is exposed again. */
	KUNIT_EXPECT_FALSE(test, ln->fake.old_in_use);
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/* S50: the transport does not expose a region whose pages the device cannot map. */
static void s50_pages_not_mapped(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	rpcrdma2_exposed_init(&rpc->ex);
	ln->fake.maps_none = true;
	KUNIT_EXPECT_EQ(test, fake_expose(&ln->co, &rpc->ex), -EIO);
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_exposed(&ln->co), 0);
	rpcrdma2_unexpose(&ln->co, &rpc->ex);
	KUNIT_EXPECT_TRUE(test, all_released(ln));
}

/*
 * A transport with a Call that has too few regions. Its task has XPRT_LOCKED, and sleeps afterwards
 * if XPRT_WRITE_SPACE is set.
 */
static struct {
	struct rpc_xprt	xprt;
	struct link	*ln;
} waiting;

static void write_space(struct rpcrdma2_conn *co)
{
	xprt_write_space(&waiting.xprt);
}

static const struct rpcrdma2_conn_ops waiting_ops = {
	.lost	= fake_lost,
	.room	= write_space,
	.grown	= fake_grown,
	.trimmed = fake_trimmed,
};

/* The first RPC, which has not been sent, returns its regions. */
static void return_regions(void)
{
	rpcrdma2_unexpose(&waiting.ln->co, &waiting.ln->rpcs[0].ex);
}

/*
 * The first RPC has all regions but one, and the second one needs two. It returns the region that
 * it has, and waits. Return: whether its task sleeps.
 */
static bool await_two_regions(struct kunit *test)
{
	struct link *ln = test->priv;
	unsigned int i;

	memset(&waiting, 0, sizeof(waiting));
	spin_lock_init(&waiting.xprt.transport_lock);
	set_bit(XPRT_LOCKED, &waiting.xprt.state);
	waiting.ln = ln;
	ln->co.co_ops = &waiting_ops;
	for (i = 0; i < 2; i++) {
		rpcrdma2_exposed_init(&ln->rpcs[i].ex);
		ln->rpcs[i].ex.em_later = true;
	}
	ln->fake.hdr.h_nsegs = 0;
	for (i = 0; i < REGIONS - 1; i++)
		KUNIT_ASSERT_EQ(test, fake_expose(&ln->co, &ln->rpcs[0].ex), 0);
	ln->fake.hdr.h_nsegs = 0;
	KUNIT_ASSERT_EQ(test, fake_expose(&ln->co, &ln->rpcs[1].ex), 0);
	KUNIT_ASSERT_EQ(test, fake_expose(&ln->co, &ln->rpcs[1].ex), -EAGAIN);
	rpcrdma2_unexpose(&ln->co, &ln->rpcs[1].ex);
	rpcrdma2_await_regions(&ln->co, &waiting.xprt);
	return test_bit(XPRT_WRITE_SPACE, &waiting.xprt.state);
}

static void end_wait(struct kunit *test)
{
	expect_passed(test);
	return_regions();
	KUNIT_EXPECT_TRUE(test, all_released(waiting.ln));
}

/* A Call that waits for regions is sent when they come back. */
static void regions_wake_waiter(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, await_two_regions(test));
	return_regions();
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &waiting.xprt.state));
	end_wait(test);
}

/* The same if they come back before the RPC layer has noted that it waits, or just afterwards */
static void regions_back_before_wait(struct kunit *test)
{
	open_window(BEFORE_WAIT, return_regions);
	KUNIT_EXPECT_FALSE(test, await_two_regions(test));
	end_wait(test);
}

static void regions_back_after_wait(struct kunit *test)
{
	open_window(BEHIND_WAIT, return_regions);
	KUNIT_EXPECT_FALSE(test, await_two_regions(test));
	end_wait(test);
}

/* While an RPC waits the pool keeps its idle regions, of which the RPC may need all. */
static void trim_before_wait(struct kunit *test)
{
	struct link *ln = test->priv;

	KUNIT_EXPECT_TRUE(test, await_two_regions(test));
	ln->co.co_regions.rg_keep = 0;
	rpcrdma2_regions_trim(&ln->co);
	rpcrdma2_regions_trim(&ln->co);
	KUNIT_EXPECT_EQ(test, ln->co.co_regions.rg_num, REGIONS);
	return_regions();
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &waiting.xprt.state));
	end_wait(test);
}

static struct kunit_case regions_cases[] = {
	KUNIT_CASE(q2_reply_and_fence),
	KUNIT_CASE(q2_entries_taken_for_fence),
	KUNIT_CASE(q2_lost_with_rpcs),
	KUNIT_CASE(q2_fence_fails),
	KUNIT_CASE(q2_reply_after_failed_fence),
	KUNIT_CASE(q2_fence_refused),
	KUNIT_CASE(q2_call_refused),
	KUNIT_CASE(q2_detects_leaked_entries),
	KUNIT_CASE(s50_handle_owner),
	KUNIT_CASE(s50_pages_not_mapped),
	KUNIT_CASE(detects_lost_region),
	KUNIT_CASE(trim_frees_idle_regions),
	KUNIT_CASE(pool_doubles),
	KUNIT_CASE(trim_runs_until_the_minimum),
	KUNIT_CASE(minimum_changes),
	KUNIT_CASE(regions_wake_waiter),
	KUNIT_CASE(regions_back_before_wait),
	KUNIT_CASE(regions_back_after_wait),
	KUNIT_CASE(trim_before_wait),
	{}
};

static struct kunit_suite regions_suite = {
	.name		= "rpcrdma2_regions",
	.init		= regions_init,
	.exit		= regions_exit,
	.test_cases	= regions_cases,
};

kunit_test_suite(regions_suite);
