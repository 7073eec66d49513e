// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection into posted chains. Without fault injection in the kernel there is one
 * case.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <rpcrdma2/conn.h>

#include "fault_once.h"

#define ENTRIES	16

/**
 * struct fixture - a connection, and a chain
 * @co: connection
 * @id: its identifier
 * @qp: its queue pair
 * @device: its device; accepts all work requests
 * @refuses: the device refuses all work requests
 * @posted: number of accepted work requests
 * @losses: number of losses of the connection
 * @why: reason of the loss
 * @post: the queue's record of the chain
 * @wrs: work requests of the chain
 * @done: number of calls of po_done
 */
struct fixture {
	struct rpcrdma2_conn	co;
	struct rdma_cm_id	id;
	struct ib_qp		qp;
	struct ib_device	device;
	bool			refuses;
	unsigned int		posted;
	unsigned int		losses;
	enum rpcrdma2_loss	why;
	struct rpcrdma2_post	post;
	struct ib_send_wr	wrs[3];
	unsigned int		done;
};

static int fake_post(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct fixture *f = container_of(qp, struct fixture, qp);

	if (f->refuses) {
		*bad = wr;
		return -ENOMEM;
	}
	for (; wr; wr = wr->next)
		f->posted++;
	return 0;
}

static void fake_drain(struct ib_qp *qp)
{
}

static void lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	struct fixture *f = container_of(co, struct fixture, co);

	f->losses++;
	f->why = why;
}

static const struct rpcrdma2_conn_ops ops = { .lost = lost };

static void chain_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post, bool ok)
{
	container_of(post, struct fixture, post)->done++;
}

static int fault_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	rpcrdma2_conn_init(&f->co, &ops);
	f->device.ops.post_send = fake_post;
	f->device.ops.drain_sq = fake_drain;
	f->qp.device = &f->device;
	f->id.qp = &f->qp;
	f->co.co_id = &f->id;
	f->post.po_done = chain_done;
	rpcrdma2_sq_open(&f->co, ENTRIES, 0, 4, 0);
	return 0;
}

static int post(struct fixture *f, enum ib_wr_opcode opcode, unsigned int count)
{
	unsigned int i;

	memset(f->wrs, 0, sizeof(f->wrs));
	f->posted = 0;
	f->post.po_signal = true;
	for (i = 0; i < count; i++) {
		f->wrs[i].opcode = opcode;
		f->wrs[i].next = i < count - 1 ? &f->wrs[i + 1] : NULL;
	}
	rpcrdma2_sq_take(&f->co, count, false);
	return rpcrdma2_sq_post(&f->co, &f->post, f->wrs);
}

/* Draining the queue completes each chain that is on it. */
static void drain(struct kunit *test, unsigned int done)
{
	struct fixture *f = test->priv;

	rpcrdma2_sq_drain(&f->co);
	KUNIT_EXPECT_EQ(test, f->done, done);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_sq_is_whole(&f->co));
}

/* Posts a chain of @count requests: @posted of them reach the device, and the chain is done. */
static void expect_posted(struct kunit *test, enum ib_wr_opcode opcode, unsigned int count,
			  unsigned int posted)
{
	struct fixture *f = test->priv;
	unsigned int done = f->done;

	KUNIT_EXPECT_EQ(test, post(f, opcode, count), 0);
	KUNIT_EXPECT_EQ(test, f->posted, posted);
	drain(test, done + 1);
}

/* No fault happens before a case sets one. */
static void no_fault(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->post.po_bytes = 1;
	expect_posted(test, IB_WR_LOCAL_INV, 3, 3);
	expect_posted(test, IB_WR_RDMA_READ, 1, 1);
}

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
static const struct silence {
	const char		*desc;
	struct fault_attr	*attr;
	enum ib_wr_opcode	opcode, other;
} silences[] = {
	{ "fail_read", &rpcrdma2_faults[RPCRDMA2_FAIL_read], IB_WR_RDMA_READ, IB_WR_LOCAL_INV },
	{ "fail_inv", &rpcrdma2_faults[RPCRDMA2_FAIL_inv], IB_WR_LOCAL_INV, IB_WR_RDMA_READ },
};

KUNIT_ARRAY_PARAM_DESC(silence, silences, desc);

/* The fault hides one chain of these requests from the device; all other chains reach it. */
static void chain_not_posted(struct kunit *test)
{
	const struct silence *s = test->param_value;
	struct fixture *f = test->priv;

	fault_once(s->attr, 1);
	expect_posted(test, s->other, 2, 2);
	expect_posted(test, s->opcode, 2, 0);
	expect_posted(test, s->opcode, 2, 2);
	KUNIT_EXPECT_EQ(test, f->losses, 0);
	KUNIT_EXPECT_TRUE(test, fault_struck(s->attr));
}

/* The device takes the first of several invalidations, and the queue keeps the chain. */
static void fence_in_part(struct kunit *test)
{
	struct fixture *f = test->priv;

	fault_once(&rpcrdma2_faults[RPCRDMA2_FAIL_fence], 1);
	expect_posted(test, IB_WR_REG_MR, 2, 2);
	expect_posted(test, IB_WR_LOCAL_INV, 1, 1);
	KUNIT_EXPECT_EQ(test, f->losses, 0);
	KUNIT_EXPECT_EQ(test, post(f, IB_WR_LOCAL_INV, 3), 0);
	KUNIT_EXPECT_EQ(test, f->posted, 1);
	KUNIT_EXPECT_EQ(test, f->why, RPCRDMA2_LOSS_POST);
	KUNIT_EXPECT_PTR_EQ(test, f->wrs[0].next, &f->wrs[1]);
	KUNIT_EXPECT_EQ(test, f->done, 2);
	drain(test, 3);
	KUNIT_EXPECT_TRUE(test, fault_struck(&rpcrdma2_faults[RPCRDMA2_FAIL_fence]));
}

/* The device refuses all requests, and the chain remains with the caller. */
static void fence_refused(struct kunit *test)
{
	struct fixture *f = test->priv;

	fault_once(&rpcrdma2_faults[RPCRDMA2_FAIL_fence], 1);
	f->refuses = true;
	KUNIT_EXPECT_EQ(test, post(f, IB_WR_LOCAL_INV, 3), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, f->why, RPCRDMA2_LOSS_POST);
	KUNIT_EXPECT_PTR_EQ(test, f->wrs[0].next, &f->wrs[1]);
	drain(test, 0);
	KUNIT_EXPECT_TRUE(test, fault_struck(&rpcrdma2_faults[RPCRDMA2_FAIL_fence]));
}

/* C-034: a Send with a size fails once with -EMSGSIZE; a Send without a size is posted. */
static void send_too_large(struct kunit *test)
{
	struct fixture *f = test->priv;

	fault_once(&rpcrdma2_faults[RPCRDMA2_FAIL_send_max], 1);
	KUNIT_EXPECT_EQ(test, post(f, IB_WR_SEND, 1), 0);
	drain(test, 1);
	f->post.po_bytes = 1;
	KUNIT_EXPECT_EQ(test, post(f, IB_WR_SEND, 1), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, f->posted, 0);
	drain(test, 1);
	KUNIT_EXPECT_EQ(test, post(f, IB_WR_SEND, 1), 0);
	drain(test, 2);
	KUNIT_EXPECT_TRUE(test, fault_struck(&rpcrdma2_faults[RPCRDMA2_FAIL_send_max]));
}
#endif

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(no_fault),
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
	KUNIT_CASE_PARAM(chain_not_posted, silence_gen_params),
	KUNIT_CASE(fence_in_part),
	KUNIT_CASE(fence_refused),
	KUNIT_CASE(send_too_large),
#endif
	{}
};

static struct kunit_suite fault_suite = {
	.name		= "rpcrdma2_fault",
	.init		= fault_init,
	.test_cases	= fault_cases,
};

kunit_test_suite(fault_suite);
