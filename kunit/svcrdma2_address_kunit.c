// SPDX-License-Identifier: GPL-2.0
/*
 * The address that identifies a peer with RoCE or InfiniBand.
 */
#include <kunit/test.h>

#include "../svcrdma2/pure.h"

#define PEER	{ 0x52, 0x54, 0, 0x12, 0x34, 0x56 }
#define SERVER	{ 0x52, 0x54, 0, 0x12, 0x34, 0x57 }
#define ROUTER	{ 0x52, 0x54, 0, 0x12, 0x34, 0x58 }

static const struct route_case {
	const char		*desc;
	struct svc2_route	rt;
	bool			want;
} route_cases[] = {
	{ "S46 a peer on the link",
	  { .mac = PEER, .known = true, .own = SERVER, .next = PEER }, false },
	{ "S46 a peer that claims the GID of another on the link",
	  { .mac = PEER, .known = true, .own = SERVER, .next = ROUTER }, false },
	{ "S46 a peer that claims a GID behind the router",
	  { .mac = PEER, .known = true, .own = SERVER, .next = ROUTER,
	    .gateway = true }, false },
	{ "S46 a peer behind the router",
	  { .mac = ROUTER, .known = true, .own = SERVER, .next = ROUTER,
	    .gateway = true }, true },
	{ "S46 a peer behind the router that claims a GID on the link",
	  { .mac = ROUTER, .known = true, .own = SERVER, .next = PEER }, false },
	{ "S46 the router itself",
	  { .mac = ROUTER, .known = true, .own = SERVER, .next = ROUTER }, false },
	{ "S46 a peer within the machine",
	  { .mac = SERVER, .known = true, .own = SERVER, .next = SERVER }, true },
	{ "S46 a peer that claims a GID of the machine",
	  { .mac = PEER, .known = true, .own = SERVER, .next = SERVER }, false },
	{ "S46 a peer that claims an unknown GID", { .mac = PEER }, false },
};

KUNIT_ARRAY_PARAM_DESC(route, route_cases, desc);

static void gid_counts(struct kunit *test)
{
	const struct route_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, svc2_gid_counts(&c->rt), c->want);
}

static bool same_address(struct sockaddr_in6 a, struct sockaddr_in6 b)
{
	return rpc_cmp_addr((struct sockaddr *)&a, (struct sockaddr *)&b);
}

static void link_addresses(struct kunit *test)
{
	static const u8 peer[] = PEER, router[] = ROUTER, want[] = {
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 0x12, 0x34, 0x56,
	};
	struct sockaddr_in6 a = svc2_link_address(peer);

	KUNIT_EXPECT_EQ(test, a.sin6_family, AF_INET6);
	KUNIT_EXPECT_MEMEQ(test, &a.sin6_addr, want, sizeof(want));
	KUNIT_EXPECT_TRUE(test, same_address(a, a));
	KUNIT_EXPECT_FALSE(test, same_address(a, svc2_link_address(router)));
}

/* S46: the choice of a path does not change a peer's address. LIDs of OPA have 32 bits. */
static void lid_addresses(struct kunit *test)
{
	static const u8 want[] = {
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0xc5, 0xff, 0xfe, 0xa7, 0x13, 0x38,
	};
	struct sockaddr_in6 a = svc2_lid_address(0xc5a7133b, 2);

	KUNIT_EXPECT_MEMEQ(test, &a.sin6_addr, want, sizeof(want));
	KUNIT_EXPECT_TRUE(test, same_address(a, svc2_lid_address(0xc5a71338, 2)));
	KUNIT_EXPECT_FALSE(test, same_address(a, svc2_lid_address(0xc5a7133c, 2)));
	KUNIT_EXPECT_FALSE(test, same_address(a, svc2_lid_address(0xc5a71337, 2)));
	KUNIT_EXPECT_FALSE(test, same_address(a, svc2_lid_address(0xc5a6133b, 2)));
	KUNIT_EXPECT_FALSE(test, same_address(a, svc2_lid_address(0xc5a7133b, 0)));
}

static struct kunit_case address_suite_cases[] = {
	KUNIT_CASE_PARAM(gid_counts, route_gen_params),
	KUNIT_CASE(link_addresses),
	KUNIT_CASE(lid_addresses),
	{ }
};

static struct kunit_suite address_suite = {
	.name = "svcrdma2_address",
	.test_cases = address_suite_cases,
};

kunit_test_suite(address_suite);
