// SPDX-License-Identifier: GPL-2.0
/*
 * E-26: flavors of RPCSEC_GSS that process the data of an RPC, for both ends.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../xprtrdma2/xprtrdma2.h"

static const struct flavor_case {
	const char	*desc;
	u32		flavor;
	unsigned long	flags;
	bool		touches;
} flavor_cases[] = {
	{ "E-26 sys", RPC_AUTH_UNIX, 0, false },
	{ "E-26 krb5", RPC_AUTH_GSS_KRB5, 0, false },
	{ "E-26 krb5, flags with bits of other memory", RPC_AUTH_GSS_KRB5, ~0UL, false },
	{ "E-26 krb5i", RPC_AUTH_GSS_KRB5I, BIT(RPCAUTH_AUTH_DATATOUCH), true },
	{ "E-26 krb5p", RPC_AUTH_GSS_KRB5P, BIT(RPCAUTH_AUTH_DATATOUCH), true },
};

KUNIT_ARRAY_PARAM_DESC(flavor, flavor_cases, desc);

static void touches_data(struct kunit *test)
{
	const struct flavor_case *c = test->param_value;
	struct rpc_auth auth = { .au_flavor = c->flavor, .au_flags = c->flags };
	struct rpc_cred cred = { .cr_auth = &auth };
	struct rpc_rqst *rqst = kunit_kzalloc(test, sizeof(*rqst), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	rqst->rq_cred = &cred;
	KUNIT_EXPECT_EQ(test, xprt2_touches_data(rqst), c->touches);
}

static struct kunit_case gss_cases[] = {
	KUNIT_CASE_PARAM(touches_data, flavor_gen_params),
	{}
};

static struct kunit_suite gss_suite = {
	.name		= "xprtrdma2_gss",
	.test_cases	= gss_cases,
};

kunit_test_suite(gss_suite);
