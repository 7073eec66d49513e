// SPDX-License-Identifier: GPL-2.0
/*
 * Decisions that depend on the version of a Call, against tables.
 */
#include <kunit/test.h>

#include "../svcrdma2/pure.h"

struct allowed_case {
	const char	*desc;
	u32		only;
	u32		low;
	u32		high;
};

static const struct allowed_case allowed_cases[] = {
	{ "S36 both", 0, 1, 2 },
	{ "S36 version 1 off", 2, 2, 2 },
	{ "S36 version 2 off", 1, 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(allowed, allowed_cases, desc);

static void allowed_versions(struct kunit *test)
{
	const struct allowed_case *ac = test->param_value;
	u32 vers;

	for (vers = 0; vers < 5; vers++)
		KUNIT_EXPECT_EQ(test, svc2_version_is_allowed(ac->only, vers),
				vers >= ac->low && vers <= ac->high);
	KUNIT_EXPECT_FALSE(test, svc2_version_is_allowed(ac->only, U32_MAX));
}

struct limit_case {
	const char	*desc;
	u32		vers;
	u32		private_recv;
	u32		rbsiz;
	u32		own;
	u32		want;
};

static const struct limit_case limit_cases[] = {
	{ "P-04 E-14 version 1 without private data", 1, 1024, 4096, 65536,
	  1024 },
	{ "P-12 in version 1 the requester's Receives are the limit",
	  1, 8192, 4096, 65536, 8192 },
	{ "P-12 in version 1 the server's largest Send is the limit",
	  1, 262144, 4096, 12288, 12288 },
	{ "S33 version 1 ignores properties", 1, 4096, 65536, 65536,
	  4096 },
	{ "C-005 version 2 without properties", 2, 1024, 4096, 65536, 4096 },
	{ "S28 version 2 ignores private data", 2, 65536, 4096, 65536,
	  4096 },
	{ "S13 in version 2 RBSIZ is the limit", 2, 1024, 16384, 65536, 16384 },
	{ "S13 in version 2 the server's largest Send is the limit",
	  2, 1024, U32_MAX, 65536, 65536 },
	{ "S13 an RBSIZ below the default is the limit",
	  2, 4096, 2048, 65536, 2048 },
	{ "S13 the limit is at least 1024", 2, 4096, 0, 65536, 1024 },
};

KUNIT_ARRAY_PARAM_DESC(limit, limit_cases, desc);

static void send_limit(struct kunit *test)
{
	const struct limit_case *lc = test->param_value;
	const struct rpcrdma2_cm_limits cm = { .cl_recv = lc->private_recv };
	const struct rpcrdma2_exchange ex = {
		.ex_peer.pp_now.pr_rbsiz = lc->rbsiz,
		.ex_supported.pr_sbsiz	 = lc->own,
	};

	KUNIT_EXPECT_EQ(test, svc2_send_limit(lc->vers, &cm, &ex), lc->want);
}

struct handle_case {
	const char	*desc;
	u32		vers;
	bool		flag;
	u32		nominated;
	unsigned int	nsegs;
	u32		handles[3];
	u32		want;
};

static const struct handle_case handle_cases[] = {
	{ "P-07 version 1, flag set, one handle", 1, true, 0, 1, { 7 }, 7 },
	{ "P-07 version 1, the same handle again", 1, true, 0, 3, { 7, 7, 7 },
	  7 },
	{ "P-08 version 1, two handles", 1, true, 0, 2, { 7, 8 }, 0 },
	{ "P-08 version 1, the last one differs", 1, true, 0, 3, { 7, 7, 8 },
	  0 },
	{ "P-09 P-13 version 1, flag clear", 1, false, 0, 1, { 7 }, 0 },
	{ "P-09 version 1, no chunk", 1, true, 0, 0, { }, 0 },
	{ "C-075 version 2, the handle nominated", 2, false, 8, 3, { 7, 8, 9 },
	  8 },
	{ "C-008 C-074 version 2, none nominated", 2, true, 0, 1, { 7 }, 0 },
	{ "S47 version 2, a handle that the Call does not contain",
	  2, true, 9, 2, { 7, 8 },
	  0 },
	{ "S28 version 2 ignores the flag", 2, false, 7, 1, { 7 },
	  7 },
};

KUNIT_ARRAY_PARAM_DESC(handle, handle_cases, desc);

static void inv_handle(struct kunit *test)
{
	const struct handle_case *hc = test->param_value;
	struct rpcrdma2_hdr *h;
	unsigned int i;

	h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, h);
	/* Behind the counted segments lies a stale handle of an earlier Call. */
	for (i = hc->nsegs; i < RPCRDMA2_MAX_SEGMENTS; i++)
		h->h_segs[i].rs_handle = hc->nominated;
	h->h_vers = hc->vers;
	h->h_inv_handle = hc->nominated;
	h->h_nsegs = hc->nsegs;
	for (i = 0; i < hc->nsegs; i++)
		h->h_segs[i].rs_handle = hc->handles[i];

	KUNIT_EXPECT_EQ(test, rpcrdma2_inv_handle(h, hc->flag), hc->want);
}

static struct kunit_case versions_kunit_cases[] = {
	KUNIT_CASE_PARAM(allowed_versions, allowed_gen_params),
	KUNIT_CASE_PARAM(send_limit, limit_gen_params),
	KUNIT_CASE_PARAM(inv_handle, handle_gen_params),
	{ }
};

static struct kunit_suite versions_suite = {
	.name		= "svcrdma2_versions",
	.test_cases	= versions_kunit_cases,
};

kunit_test_suite(versions_suite);
