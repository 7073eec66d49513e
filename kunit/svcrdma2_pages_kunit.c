// SPDX-License-Identifier: GPL-2.0
/*
 * Payload of several connections: the order in which connections get pages, and the address
 * that identifies a peer.
 *
 * The limits come from svcrdma2_sem_kunit.c. The fake device only reports its type. The
 * connections are busy for the RPC layer, and no svc thread handles them.
 */
#include <kunit/test.h>

#include <linux/seq_file.h>
#include <linux/sunrpc/addr.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_sa.h>

#include "payload_1mib.h"
#include "../svcrdma2/svcrdma2.h"
#include "counters.h"
#include "limits.h"

struct rpcrdma2_param svc2_address_connections;

struct rpcrdma2_param svc2_transfer_memory = {
	.pm_default = svc2_memory_default,
};

struct rpcrdma2_param svc2_connections = {
	.pm_default = svc2_connections_default,
};

#define CONNS		36
#define CALLS		3
/* pages of a large Call */
#define LARGE		258L
/* total of pages; an address may have half of them */
#define MOST		16384L

/**
 * struct peer - a connection and its Calls
 * @sp: connection
 * @id: its rdma_cm identifier
 * @path: path record of the peer
 * @calls: Calls
 */
struct peer {
	struct svc2_xprt		sp;
	struct rdma_cm_id		id;
	struct sa_path_rec		path;
	struct svc2_msg			calls[CALLS];
};

/* Result of the route lookup for the GID of a peer */
struct route_case {
	const char	*desc;
	int		error, status, network;
	u8		own[ETH_ALEN], next[ETH_ALEN];
	bool		gid_counts;
};

/* static: kmalloc() may fail for this size */
static struct fixture {
	struct ib_device	dev;
	struct ib_port_data	ports[2];
	struct ib_gid_attr	sgid;
	struct peer		peers[CONNS];
	bool			lids;
	const struct route_case	*route;
	struct delayed_work	answer;
	struct rdma_dev_addr	*route_addr;
	resolved_t		*resolved;
	void			*context;
	struct sockaddr_storage	route_from, route_to;
	unsigned long		route_ms;
	bool			route_by_gid;
	u8			lmc;
	int			lmc_error;
} fixture;

/* Answers the lookup a moment later. */
static void answer(struct work_struct *work)
{
	const struct route_case *c = fixture.route;
	struct rdma_dev_addr *addr = fixture.route_addr;

	addr->network = c->network;
	memcpy(addr->src_dev_addr, c->own, ETH_ALEN);
	memcpy(addr->dst_dev_addr, c->next, ETH_ALEN);
	fixture.resolved(c->status, NULL, addr, fixture.context);
}

static int fake_resolve_ip(struct sockaddr *src, const struct sockaddr *dst,
			   struct rdma_dev_addr *addr, unsigned long ms,
			   resolved_t *done, bool by_gid, void *context)
{
	const struct route_case *c = fixture.route;

	memcpy(&fixture.route_from, src, sizeof(fixture.route_from));
	memcpy(&fixture.route_to, dst, sizeof(fixture.route_to));
	fixture.route_ms = ms;
	fixture.route_by_gid = by_gid;
	if (c->error)
		return c->error;
	fixture.route_addr = addr;
	fixture.resolved = done;
	fixture.context = context;
	queue_delayed_work(system_percpu_wq, &fixture.answer, 1);
	return 0;
}

static int fake_cached_lmc(struct ib_device *dev, u32 port, u8 *lmc)
{
	*lmc = fixture.lmc;
	return fixture.lmc_error;
}

/* Connections that are counted are listed meanwhile. */
static void set_total(long pages)
{
	unsigned int i;

	svc2_transfer_memory.pm_value = pages << (PAGE_SHIFT - 10);
	for (i = 0; i < CONNS; i++)
		if (fixture.peers[i].sp.sp_quota.qu_address)
			list_add_tail(&fixture.peers[i].sp.sp_listed, &svc2_conns);
	svc2_pages_set();
	for (i = 0; i < CONNS; i++)
		if (fixture.peers[i].sp.sp_quota.qu_address)
			list_del(&fixture.peers[i].sp.sp_listed);
}

static void flush(struct fixture *f, unsigned int peer)
{
	LIST_HEAD(line);

	svc2_pages_flush(&f->peers[peer].sp, &line);
}

/*
 * A peer connects from a port on the link. The GID and the address that it claims end in
 * @claim.
 */
static int arrive(struct fixture *f, unsigned int peer, u8 port, u8 claim)
{
	struct peer *pr = &f->peers[peer];
	struct svc2_xprt *sp = &pr->sp;
	struct sockaddr_in *sin = (struct sockaddr_in *)&pr->id.route.addr.dst_addr;

	set_bit(XPT_BUSY, &sp->sp_xprt.xpt_flags);
	spin_lock_init(&sp->sp_recv_lock);
	INIT_LIST_HEAD(&sp->sp_start_q);
	INIT_LIST_HEAD(&sp->sp_ready_q);
	init_waitqueue_head(&sp->sp_waitq);
	svc2_sem_init(&sp->sp_sq_sem, NULL, SVC2_C_sq_waits);
	svc2_sem_init(&sp->sp_tx_sem, NULL, SVC2_C_tx_waits);
	svc2_sem_init(&sp->sp_mr_sem, NULL, SVC2_C_mr_waits);
	svc2_sem_open(&sp->sp_tx_sem, 1);
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(0xc0000200 + claim);
	ipv6_addr_set_v4mapped(sin->sin_addr.s_addr,
			       (struct in6_addr *)&pr->path.dgid);
	pr->path.rec_type = f->lids ? SA_PATH_REC_TYPE_IB : SA_PATH_REC_TYPE_ROCE_V2;
	if (!f->lids)
		pr->path.roce.dmac[5] = port;
	pr->id.route.path_rec = &pr->path;
	pr->id.device = &f->dev;
	pr->id.port_num = 1;
	sp->sp_conn.co_id = &pr->id;
	return svc2_address_get(sp);
}

/* The first @n peers connect, @each from every port. */
static void arrive_all(struct kunit *test, unsigned int n, unsigned int each)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, arrive(test->priv, i, i / each, i / each), 0);
}

/* The first @n peers are on the list of connections, for the work. */
static void list_all(struct fixture *f, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		list_add_tail(&f->peers[i].sp.sp_listed, &svc2_conns);
}

static int arrive_ib(struct fixture *f, unsigned int peer, u8 lid, u8 claim)
{
	int ret;

	f->peers[peer].path.ib.dlid = cpu_to_be16(lid);
	f->lids = true;
	ret = arrive(f, peer, 0, claim);
	f->lids = false;
	return ret;
}

static int pages_init(struct kunit *test)
{
	struct fixture *f = &fixture;

	memset(f, 0, sizeof(*f));
	test->priv = f;
	machine = (struct machine){
		.ram_pages	= 1UL << 20,
		.resolve_ip	= fake_resolve_ip,
		.cached_lmc	= fake_cached_lmc,
	};
	INIT_DELAYED_WORK(&f->answer, answer);
	f->dev.port_data = f->ports;
	f->ports[1].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	svc2_address_connections.pm_value = CONNS;
	svc2_connections.pm_value = 2 * CONNS;
	set_total(MOST);
	return 0;
}

static void pages_exit(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	cancel_delayed_work_sync(&f->answer);
	INIT_LIST_HEAD(&svc2_conns);
	for (i = 0; i < CONNS; i++)
		if (f->peers[i].sp.sp_quota.qu_address)
			flush(f, i);
	for (i = 0; i < CONNS; i++)
		svc2_pages_give(&f->peers[i].sp,
				atomic_long_read(&f->peers[i].sp.sp_quota.qu_pages));
	cancel_delayed_work_sync(&svc2_pages_work);
	for (i = 0; i < CONNS; i++)
		svc2_address_put(&f->peers[i].sp);
}

/* Returns the pages of a Reply that was not posted. */
static void return_reply(struct svc2_msg *call, unsigned int pages)
{
	call->sm_charged += pages;
	call->sm_reply_pages += pages;
}

static int reserve(struct fixture *f, unsigned int peer, unsigned int call, long pages)
{
	struct svc2_msg *msg = &f->peers[peer].calls[call];

	rpcrdma2_rw_init(&msg->sm_rw, DMA_FROM_DEVICE);
	msg->sm_msg.mg_hdr.h_nreads = 1;
	msg->sm_charged = 0;
	return svc2_pages_reserve(&f->peers[peer].sp, msg, pages);
}

/* Reserves pages for a Reply; the Call has no Read chunks. */
static int reserve_reply(struct fixture *f, unsigned int peer, unsigned int call,
			 unsigned int pages)
{
	struct svc2_msg *msg = &f->peers[peer].calls[call];

	msg->sm_reply_pages = pages;
	return svc2_pages_reserve(&f->peers[peer].sp, msg, pages);
}

static bool has_pages(struct fixture *f, unsigned int peer, unsigned int call)
{
	return f->peers[peer].calls[call].sm_charged;
}

static long pages_of(struct fixture *f, unsigned int peer)
{
	return atomic_long_read(&f->peers[peer].sp.sp_quota.qu_pages);
}

/* Reserves two pages, the need of a Call of one page, unless a Call waits already. */
static bool take_two(struct fixture *f, unsigned int peer)
{
	struct svc2_quota *qu = &f->peers[peer].sp.sp_quota;

	if (!list_empty(&qu->qu_calls))
		return false;
	return !reserve(f, peer, 0, 2);
}

static void take_two_each(struct fixture *f, unsigned int conns)
{
	unsigned int i;
	bool any;

	do {
		any = false;
		for (i = 0; i < conns; i++)
			any |= take_two(f, i);
	} while (any);
}

/*
 * Three addresses with eleven connections each take all available pages in steps of two.
 * The largest Call of another address finds its pages at once.
 */
static void large_call_beside_greedy(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	arrive_all(test, 34, 11);
	take_two_each(f, 33);
	KUNIT_EXPECT_GT(test, pages_of(f, 0), 300);
	KUNIT_EXPECT_EQ(test, reserve(f, 33, 0, LARGE), 0);
	KUNIT_EXPECT_EQ(test, pages_of(f, 33), LARGE);
	for (i = 0; i < 33; i++)
		flush(f, i);
}

/*
 * The pages are used up, and all connections replace two returned pages at once. A large
 * Call of a connection without pages gets the returned pages.
 */
static void large_call_gets_returned_pages(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i, gives = 0;

	set_total(1040);
	arrive_all(test, 34, 11);
	take_two_each(f, 33);
	for (i = 0; i < 33; i++)
		flush(f, i);
	KUNIT_ASSERT_EQ(test, reserve(f, 33, 0, LARGE), -EINPROGRESS);
	while (!has_pages(f, 33, 0) && gives < 2000) {
		i = gives++ % 33;
		if (pages_of(f, i) > 2) {
			svc2_pages_give(&f->peers[i].sp, 2);
			take_two(f, i);
		}
	}
	KUNIT_EXPECT_TRUE(test, has_pages(f, 33, 0));
	KUNIT_EXPECT_LT(test, gives, 500);
	for (i = 0; i < 33; i++)
		flush(f, i);
}

/* The addresses take turns, and the connections of an address take turns. */
static void turns_of_addresses(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_total(1040);
	/*
	 * Two Calls use the whole share of one address, and two more Calls wait. Another
	 * address has no Call yet.
	 */
	arrive_all(test, 5, 4);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, LARGE), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 1, 0, LARGE), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 2, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, reserve(f, 3, 0, LARGE), -EINPROGRESS);
	/*
	 * The waiting Calls do not delay another address. They delay connections with pages,
	 * and later Calls.
	 */
	KUNIT_EXPECT_EQ(test, reserve(f, 4, 0, LARGE), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 1, 70), -EINPROGRESS);
	svc2_pages_give(&f->peers[0].sp, LARGE);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 2, 0));
	KUNIT_EXPECT_FALSE(test, has_pages(f, 3, 0));
	/* The first connection has no pages now, but it waits behind the fourth. */
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 1));
	svc2_pages_give(&f->peers[1].sp, LARGE);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 3, 0));
	svc2_pages_give(&f->peers[2].sp, LARGE);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 1));
}

/*
 * Calls of up to 1040 / 4 / 5 pages overtake a waiting connection. When a waiting
 * connection closes, the others get its reserved pages.
 */
static void small_calls_overtake(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_total(1040);
	arrive_all(test, 5, 5);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, LARGE), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 1, 0, LARGE - 140), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 2, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, reserve(f, 3, 0, 53), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, reserve(f, 4, 0, 50), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 4, 1, 2), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 4, 2, 2), -EINPROGRESS);
	flush(f, 2);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->peers[2].sp.sp_quota.qu_starved));
	KUNIT_EXPECT_TRUE(test, has_pages(f, 3, 0));
}

/* A connection that closes during its wait keeps no reservation. */
static void closed_connection_frees_reservation(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_total(1040);
	arrive_all(test, 3, 3);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, LARGE + 100), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 1, 0, LARGE), -EINPROGRESS);
	flush(f, 1);
	KUNIT_EXPECT_EQ(test, reserve(f, 2, 0, 100), 0);
}

/* S46: the turn of a lost or closed connection passes to the next one. */
static void s46_lost_connection_passes_turn(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	set_total(1040);
	arrive_all(test, 5, 1);
	svc2_pages_take(&f->peers[4].sp, &f->peers[4].calls[0], 900);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, reserve(f, i, 0, LARGE), -EINPROGRESS);
	flush(f, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->peers[1].sp.sp_quota.qu_address->ad_waiting));
	atomic_set(&f->peers[0].sp.sp_conn.co_lost, true);
	svc2_pages_give(&f->peers[4].sp, 118);
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 0));
	KUNIT_EXPECT_TRUE(test, has_pages(f, 2, 0));
	KUNIT_EXPECT_FALSE(test, has_pages(f, 3, 0));
}

/* The addresses take turns if the pages suffice for a single one. */
static void one_address_at_a_time(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_total(1040);
	arrive_all(test, 4, 2);
	svc2_pages_take(&f->peers[3].sp, &f->peers[3].calls[0], 900);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, reserve(f, 1, 0, LARGE), -EINPROGRESS);
	KUNIT_ASSERT_EQ(test, arrive(f, 4, 4, 4), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 4, 0, LARGE), -EINPROGRESS);
	svc2_pages_give(&f->peers[3].sp, 300);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 0));
	svc2_pages_give(&f->peers[3].sp, 100);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 4, 0));
	KUNIT_EXPECT_FALSE(test, has_pages(f, 1, 0));
	/* A later Call does not take the reserved pages. */
	KUNIT_ASSERT_EQ(test, arrive(f, 5, 5, 5), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 5, 0, 60), -EINPROGRESS);
	svc2_pages_give(&f->peers[3].sp, 100);
	KUNIT_EXPECT_FALSE(test, has_pages(f, 5, 0));
	flush(f, 1);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 5, 0));
}

/* The connections of an address take turns too, and one that returned its pages waits again. */
static void one_connection_at_a_time(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_total(1040);
	arrive_all(test, 4, 4);
	svc2_pages_take(&f->peers[2].sp, &f->peers[2].calls[0], 400);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 1, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, reserve(f, 1, 0, LARGE), -EINPROGRESS);
	svc2_pages_give(&f->peers[2].sp, 300);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 0));
	KUNIT_EXPECT_FALSE(test, has_pages(f, 1, 0));
	KUNIT_EXPECT_EQ(test, reserve(f, 3, 0, 100), -EINPROGRESS);
	svc2_pages_give(&f->peers[0].sp, LARGE);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 1, 0));
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 1));
	flush(f, 0);
	flush(f, 3);
}

/* The smallest Call gets the last two pages, except on a lost connection. */
static void last_pages(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_total(1040);
	arrive_all(test, 3, 3);
	svc2_pages_take(&f->peers[0].sp, &f->peers[0].calls[0], 522);
	KUNIT_EXPECT_EQ(test, reserve(f, 1, 0, 2), -EINPROGRESS);
	svc2_pages_give(&f->peers[0].sp, 3);
	KUNIT_EXPECT_FALSE(test, has_pages(f, 1, 0));
	svc2_pages_give(&f->peers[0].sp, 1);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 1, 0));
	KUNIT_EXPECT_EQ(test, reserve(f, 1, 1, 2), -EINPROGRESS);
	atomic_set(&f->peers[1].sp.sp_conn.co_lost, true);
	svc2_pages_give(&f->peers[0].sp, 518);
	KUNIT_EXPECT_FALSE(test, has_pages(f, 1, 1));
	flush(f, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->peers[1].sp.sp_quota.qu_starved));
}

/* A connection without pages is served even if its address uses its whole share. */
static void full_address(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;

	set_total(1040);
	arrive_all(test, 2, 2);
	svc2_pages_take(&f->peers[1].sp, &f->peers[1].calls[0], 600);
	svc2_pages_take(sp, &f->peers[0].calls[0], 10);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	svc2_pages_give(sp, 9);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	svc2_pages_give(sp, 1);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 1);
}

/*
 * S46: a connection with pages is served at once when it returns pages or sends a Call. When
 * others return pages only work serves it, which finds no connection here.
 */
static void s46_served_by_own_pages(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;

	set_total(1040);
	arrive_all(test, 2, 2);
	svc2_pages_take(&f->peers[1].sp, &f->peers[1].calls[0], 500);
	svc2_pages_take(sp, &f->peers[0].calls[0], 20);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 1, 100), -EINPROGRESS);
	svc2_pages_give(&f->peers[1].sp, 400);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 1));
	svc2_pages_give(sp, 1);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 1));

	KUNIT_EXPECT_EQ(test, reserve(f, 0, 2, 250), -EINPROGRESS);
	svc2_pages_give(&f->peers[1].sp, 100);
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 2));
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, 2), -EINPROGRESS);
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 2));
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 0));
	flush(f, 0);
}

/* Three peers, of as many addresses: the first takes @own of 1040 pages, the others @each. */
static void share_1040_pages(struct kunit *test, unsigned int own, unsigned int each)
{
	struct fixture *f = test->priv;
	unsigned int i;

	set_total(1040);
	arrive_all(test, 3, 1);
	list_all(f, 3);
	if (own)
		KUNIT_ASSERT_EQ(test, reserve(f, 0, 0, own), 0);
	for (i = 1; i < 3; i++)
		svc2_pages_take(&f->peers[i].sp, &f->peers[i].calls[0], each);
}

/*
 * S46: the pages of two other addresses come back while a connection is throttled that still
 * has the pages of a slow Call. Nothing happens on this connection in between.
 */
static void s46_throttled_until_others_return(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;

	share_1040_pages(test, 20, 450);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	/* The connection holds 20 pages, and the quota allows it 19. */
	svc2_pages_give(&f->peers[1].sp, 29);
	flush_delayed_work(&svc2_pages_work);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	svc2_pages_give(&f->peers[2].sp, 1);
	flush_delayed_work(&svc2_pages_work);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 1);
	/* Nothing waits any longer: a return starts no work. */
	svc2_pages_give(&f->peers[1].sp, 1);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&svc2_pages_work));
}

/* S46: Calls of a connection with pages get those that other connections return. */
static void s46_calls_get_pages_of_others(struct kunit *test)
{
	struct fixture *f = test->priv;

	share_1040_pages(test, 20, 450);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 1, 100), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 2, 100), -EINPROGRESS);
	svc2_pages_give(&f->peers[1].sp, 229);
	flush_delayed_work(&svc2_pages_work);
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 1));
	svc2_pages_give(&f->peers[1].sp, 1);
	flush_delayed_work(&svc2_pages_work);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 1));
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 2));
	/* The next search begins with another connection. */
	KUNIT_EXPECT_PTR_EQ(test, list_first_entry(&svc2_conns, struct svc2_xprt, sp_listed),
			    &f->peers[2].sp);
	svc2_pages_give(&f->peers[2].sp, 200);
	flush_delayed_work(&svc2_pages_work);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 2));
}

/* S46: the first of its Calls got pages as that of a starved connection; the next has to wait. */
static void s46_second_call_of_starved(struct kunit *test)
{
	struct fixture *f = test->priv;

	share_1040_pages(test, 0, 520);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, 100), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 1, 50), -EINPROGRESS);
	svc2_pages_give(&f->peers[1].sp, 100);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 0));
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 1));
	svc2_pages_give(&f->peers[1].sp, 420);
	flush_delayed_work(&svc2_pages_work);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 1));
}

/*
 * S46: a connection with pages waits for no turn of its own, but behind a starved connection.
 * It is served when that one ends.
 */
static void s46_ended_connection_serves_others(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_total(1040);
	arrive_all(test, 5, 1);
	list_all(f, 5);
	KUNIT_ASSERT_EQ(test, reserve(f, 0, 0, 10), 0);
	svc2_pages_take(&f->peers[1].sp, &f->peers[1].calls[0], 390);
	svc2_pages_take(&f->peers[2].sp, &f->peers[2].calls[0], 390);
	KUNIT_EXPECT_EQ(test, reserve(f, 3, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 1, 50), -EINPROGRESS);
	svc2_pages_give(&f->peers[1].sp, 1);
	flush_delayed_work(&svc2_pages_work);
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 1));
	flush(f, 3);
	flush_delayed_work(&svc2_pages_work);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 1));
}

static void note_lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
}

/*
 * S46: decryption may remove the data from the pages, and the RPC layer then defers the
 * Call during an upcall. The deferral releases the Call's pages, and ends its connection.
 */
static void s46_deferred_by_gss(struct kunit *test)
{
	static const struct rpcrdma2_conn_ops ops = { .lost = note_lost };
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;
	struct svc2_msg *calls = f->peers[0].calls;
	struct task_struct *other = (struct task_struct *)&f->dev;

	arrive_all(test, 1, 1);
	sp->sp_conn.co_ops = &ops;
	KUNIT_ASSERT_EQ(test, reserve(f, 0, 0, 100), 0);
	KUNIT_ASSERT_EQ(test, reserve(f, 0, 1, 200), 0);
	calls[0].sm_reply_pages = 60;
	svc2_pages_deferred(sp);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&sp->sp_quota.qu_pages), 300);
	svc2_pages_track(sp, &calls[0]);
	svc2_pages_track(sp, &calls[1]);
	calls[1].sm_thread = other;
	svc2_pages_deferred(sp);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&sp->sp_quota.qu_pages), 200);
	KUNIT_EXPECT_EQ(test, calls[0].sm_charged, 0);
	KUNIT_EXPECT_EQ(test, calls[0].sm_reply_pages, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&sp->sp_conn), RPCRDMA2_LOSS_REPLY);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&sp->sp_quota.qu_gss), 1);
	/* The Call belongs to another thread, or has ended. */
	svc2_pages_deferred(sp);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&sp->sp_quota.qu_pages), 200);
	calls[1].sm_thread = current;
	svc2_pages_untrack(sp, &calls[1]);
	svc2_pages_deferred(sp);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&sp->sp_quota.qu_pages), 200);
	svc2_pages_untrack(sp, &calls[0]);
	svc2_pages_give(sp, 200);
	/* The Call resumes, and its Reply is posted, before its first thread is done. */
	KUNIT_ASSERT_EQ(test, reserve(f, 0, 2, 100), 0);
	calls[2].sm_reply_pages = 60;
	svc2_pages_track(sp, &calls[2]);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, &calls[2], 60), 60);
	/* The end of the Call has nothing to undo any more. */
	KUNIT_EXPECT_NULL(test, calls[2].sm_thread);
	svc2_pages_deferred(sp);
	KUNIT_EXPECT_EQ(test, calls[2].sm_charged, 40);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&sp->sp_quota.qu_pages), 100);
	svc2_pages_give(sp, 100);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&sp->sp_quota.qu_pages), 0);
}

/* With one page left in total, a connection throttled for another reason stays throttled. */
static void total_below_two_pages(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;

	set_total(1040);
	arrive_all(test, 3, 1);
	svc2_pages_take(&f->peers[1].sp, &f->peers[1].calls[0], 520);
	svc2_pages_take(&f->peers[2].sp, &f->peers[2].calls[0], 520);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, 2), -EINPROGRESS);
	set_bit(SVC2_F_THROTTLED, &sp->sp_flags);
	svc2_pages_give(&f->peers[1].sp, 1);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 0));
	svc2_pages_give(&f->peers[1].sp, 1);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 0));
}

/*
 * The limit depends on the low memory of the machine, and a higher limit serves waiting Calls.
 */
static void parameters(struct kunit *test)
{
	struct fixture *f = test->priv;
	const unsigned long low = machine.ram_pages;

	machine.high_pages = 3UL << 20;
	machine.ram_pages += machine.high_pages;
	set_total(1);
	KUNIT_EXPECT_EQ(test, limit_of_pages(), 4 * (RPCSVC_MAXPAYLOAD / PAGE_SIZE + 4));
	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	svc2_pages_take(&f->peers[0].sp, &f->peers[0].calls[0],
			limit_of_pages());
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, 2), -EINPROGRESS);
	set_total(0);
	KUNIT_EXPECT_EQ(test, limit_of_pages(), low / 16);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 0));
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 4 * (RPCSVC_MAXPAYLOAD / PAGE_SIZE + 4) + 2);
	svc2_connections.pm_value = 0;
	if (PAGE_SIZE == 4096 || PAGE_SIZE == 65536)
		KUNIT_EXPECT_EQ(test, limit_of_connections(), low /
				((PAGE_SIZE == 4096 ? 8 : 12) << (20 - PAGE_SHIFT)));
	machine.high_pages = 0;
	machine.ram_pages = 1;
	KUNIT_EXPECT_EQ(test, limit_of_connections(), SVC2_CONNS_MIN);
	/* 64 TiB: the whole pages that a parameter in KiB can hold */
	machine.ram_pages = (unsigned long)(1ULL << 46 >> PAGE_SHIFT);
	if (ULONG_MAX > UINT_MAX)
		KUNIT_EXPECT_EQ(test, svc2_memory_default(),
				UINT_MAX - PAGE_SIZE / 1024 + 1);
}

static void address_allocation_fails(struct kunit *test)
{
	struct fixture *f = test->priv;

	machine.no_memory = true;
	KUNIT_EXPECT_EQ(test, arrive(f, 0, 1, 1), -ENOMEM);
	KUNIT_EXPECT_NULL(test, f->peers[0].sp.sp_quota.qu_address);
}

/* A Call that fits the share of its address still waits for the total. */
static void address_share_suffices(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_total(1040);
	arrive_all(test, 2, 2);
	KUNIT_ASSERT_EQ(test, arrive(f, 2, 2, 2), 0);
	KUNIT_ASSERT_EQ(test, arrive(f, 3, 3, 3), 0);
	svc2_pages_take(&f->peers[1].sp, &f->peers[1].calls[0], 520 - LARGE);
	svc2_pages_take(&f->peers[2].sp, &f->peers[2].calls[0], 521);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, LARGE), -EINPROGRESS);
	/* Its reservation leaves less than 1040 / 4 / 4 pages for later Calls. */
	KUNIT_EXPECT_EQ(test, reserve(f, 3, 0, 66), -EINPROGRESS);
	flush(f, 0);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 3, 0));
}

/* The file in debugfs */
static void debugfs_file(struct kunit *test)
{
	const u64 more = 1 << 20;
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;
	static char output[256], expected[256];
	struct seq_file seq = { .buf = output, .size = sizeof(output) };

	memset(output, 0, sizeof(output));
	arrive_all(test, 2, 2);
	svc2_pages_take(sp, &f->peers[0].calls[0], more);
	svc2_pages_give(sp, more - 3);
	svc2_pages_show(&seq, NULL);
	snprintf(expected, sizeof(expected), "bytes %lu\nmost %lu\npeak %llu\n"
		 "connections 2 most %u\naddress %pISc connections 2 bytes %lu\n",
		 3 * PAGE_SIZE, MOST * PAGE_SIZE, more * PAGE_SIZE, 2 * CONNS,
		 &sp->sp_quota.qu_address->ad_addr, 3 * PAGE_SIZE);
	KUNIT_EXPECT_STREQ(test, output, expected);
}

/* Excess pages in Replies delay small Calls; a waiting large Call does not. */
static void small_beside_large(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;

	set_total(1040);
	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	svc2_pages_take(sp, &f->peers[0].calls[1], 280);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	svc2_pages_give(sp, 20);
	KUNIT_EXPECT_FALSE(test, has_pages(f, 0, 0));
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 1);
	svc2_pages_give(sp, 260);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 0, 0));
}

/* A Call with a possibly large Reply waits like one with Read chunks. */
static void reply_waits(struct kunit *test)
{
	u64 waits = count_of(SVC2_C_transfer_waits);
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[1].sp;
	struct svc2_msg *call = &f->peers[1].calls[0];

	set_total(1040);
	arrive_all(test, 2, 2);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, 300), 0);
	KUNIT_EXPECT_EQ(test, reserve_reply(f, 1, 0, 259), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_transfer_waits), waits + 1);
	svc2_pages_give(&f->peers[0].sp, 300);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 259);
	KUNIT_EXPECT_TRUE(test, list_empty(&sp->sp_quota.qu_starved));
	/* A thread can pass the Call on, as after its RDMA Reads. */
	KUNIT_EXPECT_PTR_EQ(test, list_first_entry_or_null(&sp->sp_ready_q,
							   struct svc2_msg,
							   sm_wait.wt_list), call);
	KUNIT_EXPECT_TRUE(test, list_empty(&sp->sp_start_q));
}

/* A Reply takes the pages counted for it, and additional pages if necessary. */
static void reply_takes_pages(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;
	struct svc2_msg *call = &f->peers[0].calls[0];
	unsigned int most = max(32768 / PAGE_SIZE, 3UL);

	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, reserve_reply(f, 0, 0, 259), 0);
	call->sm_charged += 100;
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 257), 259);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 100);
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 259);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 20), 20);
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 279);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 100);
	return_reply(call, 20);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 120);
	/* A Reply keeps a surplus of 32 KiB, or three pages, but no larger one. */
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 20 - most), 20);
	return_reply(call, 20);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 19 - most), 19 - most);
}

/* After two Replies that were not posted, the third one takes the pages of both. */
static void two_unposted_replies(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;
	struct svc2_msg *call = &f->peers[0].calls[0];

	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 20), 20);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 30), 30);
	return_reply(call, 20);
	return_reply(call, 30);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 50);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 50), 50);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 0);
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 50);
}

/* S46: a shorter Reply returns the surplus, also when it is planned again. */
static void short_reply_returns_pages(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;
	struct svc2_msg *call = &f->peers[0].calls[0];

	set_total(1040);
	arrive_all(test, 2, 2);
	KUNIT_EXPECT_EQ(test, reserve_reply(f, 0, 0, 300), 0);
	KUNIT_EXPECT_EQ(test, reserve_reply(f, 1, 0, 259), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 13), 13);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 0);
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 13);
	KUNIT_EXPECT_TRUE(test, has_pages(f, 1, 0));
	return_reply(call, 13);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 13);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 14), 14);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 0);
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 14);
}

/* The minimum of memory suffices for the largest Call with the largest Reply. */
static void minimum_memory_suffices(struct kunit *test)
{
	struct svc_serv serv = { .sv_max_mesg = RPCSVC_MAXPAYLOAD + PAGE_SIZE };
	unsigned int pages = serv.sv_max_mesg / PAGE_SIZE + 1 +
			     svc_serv_maxpages(&serv);
	struct fixture *f = test->priv;

	set_total(1);
	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, reserve(f, 0, 0, pages), 0);
}

/* A deferred Call waits like a new one while its connection exceeds its share. */
static void deferred_call_waits(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;

	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	svc2_pages_take(sp, &f->peers[0].calls[0], MOST / 4 + 1);
	set_bit(XPT_DEFERRED, &sp->sp_xprt.xpt_flags);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	svc2_pages_give(sp, 1);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 1);
}

/*
 * But not if the Call that holds the pages waits for Send Queue entries, which the deferred
 * Call may hold: neither would ever go on.
 */
static void s46_deferred_call_holds_entries(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;
	struct svc2_msg *large = &f->peers[0].calls[0], *deferred = &f->peers[0].calls[1];

	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	svc2_sem_open(&sp->sp_sq_sem, 8);
	KUNIT_ASSERT_EQ(test, svc2_sem_take_call(sp, &sp->sp_sq_sem, deferred, 8, 0,
						 &deferred->sm_entries), 0);
	KUNIT_ASSERT_EQ(test, reserve(f, 0, 0, MOST / 4 + 1), 0);
	KUNIT_ASSERT_EQ(test, svc2_sem_take_call(sp, &sp->sp_sq_sem, large, 8, 0,
						 &large->sm_entries), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	/* The upcall is over. */
	set_bit(XPT_DEFERRED, &sp->sp_xprt.xpt_flags);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 1);
	svc2_sem_give(sp, &sp->sp_sq_sem, deferred->sm_entries);
	KUNIT_EXPECT_EQ(test, large->sm_entries, 8);
	clear_bit(XPT_DEFERRED, &sp->sp_xprt.xpt_flags);
}

/*
 * S46: a peer can choose its IP address, but not its port on the link. The limit applies to
 * the port.
 */
static void address_is_port(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	svc2_address_connections.pm_value = 2;
	KUNIT_EXPECT_EQ(test, arrive(f, 0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, arrive(f, 1, 1, 2), 0);
	KUNIT_EXPECT_EQ(test, arrive(f, 2, 1, 3), -EUSERS);
	KUNIT_EXPECT_PTR_EQ(test, f->peers[0].sp.sp_quota.qu_address,
			    f->peers[1].sp.sp_quota.qu_address);
	/* another peer, whose GID they claim */
	KUNIT_EXPECT_EQ(test, arrive(f, 3, 2, 2), 0);
	/* InfiniBand: the LID identifies the peer, with any subnet prefix */
	f->ports[1].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	for (i = 7; i < 9; i++)
		KUNIT_EXPECT_EQ(test, arrive_ib(f, i, 3, i), 0);
	KUNIT_EXPECT_EQ(test, arrive_ib(f, 9, 3, 9), -EUSERS);
	KUNIT_EXPECT_EQ(test, arrive_ib(f, 9, 4, 9), 0);
	f->peers[10].path.sgid.global.subnet_prefix = cpu_to_be64(1);
	KUNIT_EXPECT_EQ(test, arrive_ib(f, 10, 3, 10), -EUSERS);
	/* iWARP connections have no GID; the address of TCP identifies the peer */
	f->ports[1].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IWARP;
	for (i = 4; i < 6; i++)
		KUNIT_EXPECT_EQ(test, arrive(f, i, 1, 4), 0);
	KUNIT_EXPECT_EQ(test, arrive(f, 6, 5, 4), -EUSERS);
}

#define PEER	{ [5] = 7 }
#define SERVER	{ [5] = 8 }

static const struct route_case route_cases[] = {
	{ "no route", .error = -ENODEV, .own = PEER, .next = PEER },
	{ "the lookup fails", .status = -ENODEV, .own = PEER, .next = PEER },
	{ "on the link", .own = SERVER, .next = PEER },
	{ "within the machine", .own = PEER, .next = PEER, .gid_counts = true },
	{ "behind a router", .network = RDMA_NETWORK_IPV4, .own = SERVER, .next = PEER,
	  .gid_counts = true },
};

KUNIT_ARRAY_PARAM_DESC(route, route_cases, desc);

/* S46: The route decides whether the GID counts; the IP address never does. */
static void address_by_route(struct kunit *test)
{
	const struct route_case *c = test->param_value;
	struct fixture *f = test->priv;
	struct peer *pr = &f->peers[0];
	struct sockaddr_in *sin = (struct sockaddr_in *)&pr->id.route.addr.dst_addr;
	struct sockaddr_storage found;
	struct sockaddr_in6 link;

	KUNIT_ASSERT_EQ(test, arrive(f, 0, 7, 1), 0);
	link = svc2_link_address(pr->path.roce.dmac);
	ipv6_addr_set_v4mapped(htonl(0xc00002fe), (struct in6_addr *)&f->sgid.gid);
	pr->id.route.addr.dev_addr.sgid_attr = &f->sgid;
	sin->sin_addr.s_addr = htonl(0xc0000263);
	f->route = c;
	found = svc2_address_of(&pr->sp);
	sin = (struct sockaddr_in *)&found;
	if (c->gid_counts) {
		KUNIT_EXPECT_EQ(test, sin->sin_family, AF_INET);
		KUNIT_EXPECT_EQ(test, ntohl(sin->sin_addr.s_addr), 0xc0000201);
	} else {
		KUNIT_EXPECT_TRUE(test, rpc_cmp_addr((struct sockaddr *)&found,
						     (struct sockaddr *)&link));
	}
	/* The lookup uses the bound address, and a short timeout. */
	sin = (struct sockaddr_in *)&f->route_from;
	KUNIT_EXPECT_EQ(test, ntohl(sin->sin_addr.s_addr), 0xc00002fe);
	sin = (struct sockaddr_in *)&f->route_to;
	KUNIT_EXPECT_EQ(test, ntohl(sin->sin_addr.s_addr), 0xc0000201);
	KUNIT_EXPECT_TRUE(test, f->route_by_gid);
	KUNIT_EXPECT_EQ(test, f->route_ms, 1);
}

/* The path bits of a LID do not count if the device reports their number. */
static void address_by_lid(struct kunit *test)
{
	struct sockaddr_in6 port = svc2_lid_address(0x3b, 2);
	struct sockaddr_in6 path = svc2_lid_address(0x3b, 0);
	struct fixture *f = test->priv;
	struct sockaddr_storage found;

	f->lmc = 2;
	KUNIT_ASSERT_EQ(test, arrive_ib(f, 0, 0x3b, 1), 0);
	found = svc2_address_of(&f->peers[0].sp);
	KUNIT_EXPECT_TRUE(test, rpc_cmp_addr((struct sockaddr *)&found,
					     (struct sockaddr *)&port));
	f->lmc_error = -EINVAL;
	found = svc2_address_of(&f->peers[0].sp);
	KUNIT_EXPECT_TRUE(test, rpc_cmp_addr((struct sockaddr *)&found,
					     (struct sockaddr *)&path));
}

/* S46: the total of connections is limited, and an address may have half of it. */
static void connection_limits(struct kunit *test)
{
	struct fixture *f = test->priv;

	svc2_connections.pm_value = 4;
	KUNIT_EXPECT_EQ(test, arrive(f, 0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, arrive(f, 1, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, arrive(f, 2, 1, 1), -EUSERS);
	svc2_connections.pm_value = 3;
	KUNIT_EXPECT_EQ(test, arrive(f, 2, 1, 1), -EUSERS);
	KUNIT_EXPECT_EQ(test, arrive(f, 3, 2, 2), 0);
	KUNIT_EXPECT_EQ(test, arrive(f, 4, 2, 2), -ENFILE);
	KUNIT_EXPECT_EQ(test, arrive(f, 5, 3, 3), -ENFILE);
	KUNIT_EXPECT_NULL(test, f->peers[5].sp.sp_quota.qu_address);
	svc2_address_put(&f->peers[1].sp);
	f->peers[1].sp.sp_quota.qu_address = NULL;
	KUNIT_EXPECT_EQ(test, arrive(f, 5, 3, 3), 0);
	/* The default depends on the memory of the machine. */
	svc2_connections.pm_value = 0;
	KUNIT_EXPECT_EQ(test, arrive(f, 4, 2, 2), 0);
}

static struct kunit_case pages_cases[] = {
	KUNIT_CASE(large_call_beside_greedy),
	KUNIT_CASE(large_call_gets_returned_pages),
	KUNIT_CASE(turns_of_addresses),
	KUNIT_CASE(small_calls_overtake),
	KUNIT_CASE(closed_connection_frees_reservation),
	KUNIT_CASE(s46_lost_connection_passes_turn),
	KUNIT_CASE(one_address_at_a_time),
	KUNIT_CASE(one_connection_at_a_time),
	KUNIT_CASE(last_pages),
	KUNIT_CASE(full_address),
	KUNIT_CASE(s46_served_by_own_pages),
	KUNIT_CASE(s46_throttled_until_others_return),
	KUNIT_CASE(s46_calls_get_pages_of_others),
	KUNIT_CASE(s46_second_call_of_starved),
	KUNIT_CASE(s46_ended_connection_serves_others),
	KUNIT_CASE(s46_deferred_by_gss),
	KUNIT_CASE(total_below_two_pages),
	KUNIT_CASE(parameters),
	KUNIT_CASE(address_allocation_fails),
	KUNIT_CASE(address_share_suffices),
	KUNIT_CASE(debugfs_file),
	KUNIT_CASE(small_beside_large),
	KUNIT_CASE(reply_waits),
	KUNIT_CASE(reply_takes_pages),
	KUNIT_CASE(two_unposted_replies),
	KUNIT_CASE(short_reply_returns_pages),
	KUNIT_CASE(minimum_memory_suffices),
	KUNIT_CASE(deferred_call_waits),
	KUNIT_CASE(s46_deferred_call_holds_entries),
	KUNIT_CASE(address_is_port),
	KUNIT_CASE_PARAM(address_by_route, route_gen_params),
	KUNIT_CASE(address_by_lid),
	KUNIT_CASE(connection_limits),
	{}
};

static struct kunit_suite pages_suite = {
	.name		= "svcrdma2_pages",
	.init		= pages_init,
	.exit		= pages_exit,
	.test_cases	= pages_cases,
};

kunit_test_suite(pages_suite);
