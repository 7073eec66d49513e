// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the RDMA CM for a failed connection attempt, and the resulting errors.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../xprtrdma2/pure.h"

struct step_case {
	const char		*desc;
	enum rdma_cm_event_type	event;
	int			status;
	int			want;
};

static const struct step_case step_cases[] = {
	{ "an interface without RDMA",
	  RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, -EPROTO },
	{ "an address without an ARP reply",
	  RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, -EHOSTUNREACH },
	{ "an address without a route",
	  RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH, -EHOSTUNREACH },
	{ "no path in time",
	  RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT, -EHOSTUNREACH },
	{ "no path because of the device",
	  RDMA_CM_EVENT_ROUTE_ERROR, -ENODEV, -EHOSTUNREACH },
	{ "a failed accept",
	  RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL, -ENOTCONN },
	{ "a server that does not reply",
	  RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, -EHOSTUNREACH },
	{ "a server with a stale connection",
	  RDMA_CM_EVENT_REJECTED, IB_CM_REJ_STALE_CONN, -ENOTCONN },
	{ "a server that does not listen", RDMA_CM_EVENT_REJECTED,
	  IB_CM_REJ_INVALID_SERVICE_ID, -ECONNREFUSED },
	{ "a server that rejects", RDMA_CM_EVENT_REJECTED,
	  IB_CM_REJ_CONSUMER_DEFINED, -ECONNREFUSED },
	{ "a server without free queue pairs",
	  RDMA_CM_EVENT_REJECTED, IB_CM_REJ_NO_QP, -ECONNREFUSED },
	{ "iWARP: a server that rejects",
	  RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, -ECONNREFUSED },
	{ "iWARP: a server that rejects with another reason",
	  RDMA_CM_EVENT_REJECTED, -ECONNRESET, -ECONNREFUSED },
	{ "an address is resolved", RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0 },
	{ "a path is resolved", RDMA_CM_EVENT_ROUTE_RESOLVED, 0, 0 },
	{ "a connection", RDMA_CM_EVENT_ESTABLISHED, 0, 0 },
	{ "the end of a connection, which is not a step",
	  RDMA_CM_EVENT_DISCONNECTED, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(step, step_cases, desc);

static void step(struct kunit *test)
{
	const struct step_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, xprt2_step_error(c->event, c->status), c->want);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(step, step_gen_params),
	{}
};

static struct kunit_suite step_suite = {
	.name		= "xprtrdma2_step",
	.test_cases	= cases,
};

kunit_test_suite(step_suite);
