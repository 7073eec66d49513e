// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions and the Send Queue entries that are kept for them, in all the ways
 * that an RPC and its connection end (Q2). The device takes what it is given, and
 * completes what a case has it complete.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/wire.h>

#include "fake_mr.h"

#define ENTRIES	16
#define REGIONS	4

/**
 * struct rpc - an RPC that offers memory
 * @ex: what it offers
 * @fences: calls of ex_done
 * @ok: what the last one reported
 * @send: its Send
 * @post: its chain
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
 * @last: work request that was posted last
 * @takes: the device takes what is posted
 * @later: RPCs take the entries for a fence when it comes to that
 * @rpcs: for the cases
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

/* A Call that offers @count pages, as xprt2_send_message() posts it */
static int call(struct kunit *test, struct rpc *rpc, unsigned int count)
{
	struct link *ln = test->priv;
	struct ib_send_wr *first = &rpc->send;
	unsigned int i, wrs;

	memset(rpc, 0, sizeof(*rpc));
	rpcrdma2_exposed_init(&rpc->ex);
	rpc->ex.ex_later = ln->later;
	rpc->ex.ex_done = fence_done;
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

static void answered(struct kunit *test, struct rpc *rpc)
{
	struct link *ln = test->priv;

	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test,
			  rpcrdma2_exposed_invalidated(&ln->co, &rpc->ex,
						       ln->fake.hdr.h_segs[0].rs_handle));
}

/* Return: whether regions, and then entries, are all there. */
static bool ends_whole(struct link *ln)
{
	bool whole;

	rpcrdma2_sq_drain(&ln->co);
	whole = rpcrdma2_regions_are_whole(&ln->co);
	rpcrdma2_regions_destroy(&ln->co);
	return whole && rpcrdma2_sq_is_whole(&ln->co);
}

/* Q2: the answer has invalidated one region, and a fence the other. */
static void q2_answered(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_is_whole(&ln->co));
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_exposed(&ln->co), 2);
	answered(test, rpc);
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_exposed(&ln->co), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), 0);
	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, rpc->ok);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&ln->co));
	KUNIT_EXPECT_EQ(test, ln->co.co_regions.rg_num_free, REGIONS);
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

/* Q2: likewise, where no entry is kept for the fence. */
static void q2_entries_for_the_fence_alone(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	ln->later = true;
	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	answered(test, rpc);
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_exposed(&ln->co), 1);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&ln->co));
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&ln->co, 1, false));
	KUNIT_EXPECT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), 0);
	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, rpc->ok);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&ln->co));
	/* and where there is no fence, as the connection is lost */
	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	complete_last(ln, IB_WC_SUCCESS);
	rpcrdma2_lose_exposed(&ln->co, &rpc->ex);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&ln->co));
	ln->later = false;
	KUNIT_ASSERT_EQ(test, call(test, &ln->rpcs[1], 2), 0);
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

/* Q2: the connection goes under an RPC, with what was kept for its regions. */
static void q2_lost_with_an_rpc(struct kunit *test)
{
	struct link *ln = test->priv;

	KUNIT_ASSERT_EQ(test, call(test, &ln->rpcs[0], 2), 0);
	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, call(test, &ln->rpcs[1], 1), 0);
	rpcrdma2_conn_lose(&ln->co, RPCRDMA2_LOSS_PEER);
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_exposed(&ln->rpcs[0].ex));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_exposed(&ln->rpcs[1].ex));
}

/* An RPC with two regions, whose fence comes back from a queue pair in error */
static void fence_flushed(struct kunit *test, struct rpc *rpc)
{
	struct link *ln = test->priv;

	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), 0);
	complete_last(ln, IB_WC_WR_FLUSH_ERR);
}

/* Q2: a fence that fails has used the entries, and the RPC loses its regions. */
static void q2_fence_fails(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	fence_flushed(test, rpc);
	KUNIT_EXPECT_EQ(test, rpc->fences, 1);
	KUNIT_EXPECT_FALSE(test, rpc->ok);
	rpcrdma2_lose_exposed(&ln->co, &rpc->ex);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_exposed(&rpc->ex));
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

/* Q2: a Reply that comes after that gives no entry back once more. */
static void q2_answered_when_the_fence_has_failed(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	fence_flushed(test, rpc);
	KUNIT_EXPECT_TRUE(test,
			  rpcrdma2_exposed_invalidated(&ln->co, &rpc->ex,
						       ln->fake.hdr.h_segs[0].rs_handle));
	rpcrdma2_lose_exposed(&ln->co, &rpc->ex);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&ln->co));
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

/* Q2: so has a fence that the device does not take. */
static void q2_fence_is_not_taken(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	KUNIT_ASSERT_EQ(test, call(test, rpc, 2), 0);
	complete_last(ln, IB_WC_SUCCESS);
	ln->takes = false;
	KUNIT_EXPECT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), -ENOTCONN);
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

/* Q2: a Call that the device does not take leaves the entries for its regions. */
static void q2_call_is_not_taken(struct kunit *test)
{
	struct link *ln = test->priv;

	ln->takes = false;
	KUNIT_ASSERT_EQ(test, call(test, &ln->rpcs[0], 2), -ENOTCONN);
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

/* What leaks is seen: entries that a taker keeps, or gives twice. */
static void q2_sees_entries(struct kunit *test)
{
	struct link *ln = test->priv;

	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&ln->co, 1, false));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_is_whole(&ln->co));
	rpcrdma2_sq_give(&ln->co, 2);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_sq_is_whole(&ln->co));
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&ln->co, 1, false));
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

/*
 * Regions that have not been in use since the last time are freed, but for the first few;
 * those that are used now and then stay.
 */
static void what_is_idle_is_trimmed(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpcrdma2_regions *rg = &ln->co.co_regions;
	struct rpc *rpc = &ln->rpcs[0];
	unsigned int i;

	ln->later = true;
	/* all of them are new */
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_trim(&ln->co, 1), 0);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, call(test, rpc, 3), 0);
		complete_last(ln, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, rpcrdma2_regions_trim(&ln->co, 3), i ? 0 : 1);
		KUNIT_EXPECT_EQ(test, rg->rg_num, 3);
		KUNIT_ASSERT_TRUE(test, rpcrdma2_sq_take(&ln->co, 3, false));
		KUNIT_ASSERT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), 0);
		complete_last(ln, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, rpcrdma2_regions_trim(&ln->co, 1), 0);
		KUNIT_EXPECT_EQ(test, rg->rg_num_free, 3);
	}
	rg->rg_needed = 4;
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_trim(&ln->co, 1), 0);
	rg->rg_needed = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_trim(&ln->co, 1), 2);
	KUNIT_EXPECT_EQ(test, rg->rg_num, 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_trim(&ln->co, 1), 0);
	/* they are made again */
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_grow(&ln->co), 0);
	KUNIT_EXPECT_EQ(test, rg->rg_num, REGIONS);
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

/* And a region that is neither free nor with an RPC */
static void sees_a_region(struct kunit *test)
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
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

/* S50: whose a handle is, for as long as its region is exposed */
static void s50_owner_of_a_handle(struct kunit *test)
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
	answered(test, rpc);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_handle_in_use(&ln->co, first, &xid));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_handle_in_use(&ln->co, second, &xid));
	KUNIT_EXPECT_EQ(test, rpcrdma2_fence(&ln->co, &rpc->ex), 0);
	complete_last(ln, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_handle_in_use(&ln->co, second, &xid));
	/* a late message may still have it while its region is exposed again */
	KUNIT_EXPECT_FALSE(test, ln->fake.old_in_use);
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

/* S50: a region whose pages the device does not map is not exposed. */
static void s50_pages_not_mapped(struct kunit *test)
{
	struct link *ln = test->priv;
	struct rpc *rpc = &ln->rpcs[0];

	rpcrdma2_exposed_init(&rpc->ex);
	ln->fake.maps_none = true;
	KUNIT_EXPECT_EQ(test, fake_expose(&ln->co, &rpc->ex), -EIO);
	KUNIT_EXPECT_EQ(test, rpcrdma2_regions_exposed(&ln->co), 0);
	rpcrdma2_unexpose(&ln->co, &rpc->ex);
	KUNIT_EXPECT_TRUE(test, ends_whole(ln));
}

static struct kunit_case regions_cases[] = {
	KUNIT_CASE(q2_answered),
	KUNIT_CASE(q2_entries_for_the_fence_alone),
	KUNIT_CASE(q2_lost_with_an_rpc),
	KUNIT_CASE(q2_fence_fails),
	KUNIT_CASE(q2_answered_when_the_fence_has_failed),
	KUNIT_CASE(q2_fence_is_not_taken),
	KUNIT_CASE(q2_call_is_not_taken),
	KUNIT_CASE(q2_sees_entries),
	KUNIT_CASE(s50_owner_of_a_handle),
	KUNIT_CASE(s50_pages_not_mapped),
	KUNIT_CASE(sees_a_region),
	KUNIT_CASE(what_is_idle_is_trimmed),
	{}
};

static struct kunit_suite regions_suite = {
	.name		= "rpcrdma2_regions",
	.init		= regions_init,
	.exit		= regions_exit,
	.test_cases	= regions_cases,
};

kunit_test_suite(regions_suite);
