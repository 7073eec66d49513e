// SPDX-License-Identifier: GPL-2.0
/*
 * Payload of several connections: in which turn they get it, and what is one address.
 *
 * The limits are those of svcrdma2_sem_kunit.c. The connections have no device but one
 * that says what kind it is, and no svc thread takes them up: they are busy for the RPC
 * layer.
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
/* pages for all; an address may have half */
#define MOST		16384L

/**
 * struct peer - a connection and its Calls
 * @sp: connection
 * @id: what rdma_cm knows of it
 * @path: where it comes from
 * @calls: Calls
 */
struct peer {
	struct svc2_xprt		sp;
	struct rdma_cm_id		id;
	struct sa_path_rec		path;
	struct svc2_msg			calls[CALLS];
};

/* The routing table's answer for the GID of a peer */
struct route_case {
	const char	*desc;
	int		error, status, network;
	u8		own[ETH_ALEN], next[ETH_ALEN];
	bool		gid_counts;
};

/* too large for kmalloc() to have it for certain */
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

/* A moment later */
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
static void set_most(long pages)
{
	unsigned int i;

	svc2_transfer_memory.pm_value = pages << (PAGE_SHIFT - 10);
	for (i = 0; i < CONNS; i++)
		if (fixture.peers[i].sp.sp_quota.qu_address)
			svc2_conn_list(&fixture.peers[i].sp);
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

/* From a port on the link; the GID and the address that it claims end in @claim. */
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
	svc2_pages_init(sp);
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

/* The first @n of them, so many from each port */
static void arrive_all(struct kunit *test, unsigned int n, unsigned int each)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, arrive(test->priv, i, i / each, i / each), 0);
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
	set_most(MOST);
	return 0;
}

static void pages_exit(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	cancel_delayed_work_sync(&f->answer);
	for (i = 0; i < CONNS; i++)
		if (f->peers[i].sp.sp_quota.qu_address)
			flush(f, i);
	for (i = 0; i < CONNS; i++)
		svc2_pages_give(&f->peers[i].sp,
				f->peers[i].sp.sp_quota.qu_pages);
	for (i = 0; i < CONNS; i++)
		svc2_address_put(&f->peers[i].sp);
}

/* A Reply that was not posted */
static void untake(struct svc2_msg *call, unsigned int pages)
{
	call->sm_charged += pages;
	call->sm_reply_pages += pages;
}

static int want(struct fixture *f, unsigned int peer, unsigned int call, long pages)
{
	struct svc2_msg *msg = &f->peers[peer].calls[call];

	rpcrdma2_rw_init(&msg->sm_rw, DMA_FROM_DEVICE);
	msg->sm_msg.mg_hdr.h_nreads = 1;
	msg->sm_charged = 0;
	return svc2_pages_reserve(&f->peers[peer].sp, msg, pages);
}

/* No Read chunks, but memory for a Reply of so many pages */
static int want_reply(struct fixture *f, unsigned int peer, unsigned int call,
		      unsigned int pages)
{
	struct svc2_msg *msg = &f->peers[peer].calls[call];

	msg->sm_reply_pages = pages;
	return svc2_pages_reserve(&f->peers[peer].sp, msg, pages);
}

static bool has(struct fixture *f, unsigned int peer, unsigned int call)
{
	return f->peers[peer].calls[call].sm_charged;
}

static long pages_of(struct fixture *f, unsigned int peer)
{
	return f->peers[peer].sp.sp_quota.qu_pages;
}

/* Two pages more, as a Call of one page has, unless one waits already */
static bool nibble(struct fixture *f, unsigned int peer)
{
	struct svc2_quota *qu = &f->peers[peer].sp.sp_quota;

	if (!list_empty(&qu->qu_calls))
		return false;
	return !want(f, peer, 0, 2);
}

static void nibble_all(struct fixture *f, unsigned int conns)
{
	unsigned int i;
	bool any;

	do {
		any = false;
		for (i = 0; i < conns; i++)
			any |= nibble(f, i);
	} while (any);
}

/*
 * Three addresses with eleven connections each take what they can get, two pages at a
 * time: the largest Call of another finds its pages at once.
 */
static void room_beside_greedy(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	arrive_all(test, 34, 11);
	nibble_all(f, 33);
	KUNIT_EXPECT_GT(test, pages_of(f, 0), 300);
	KUNIT_EXPECT_EQ(test, want(f, 33, 0, LARGE), 0);
	KUNIT_EXPECT_EQ(test, pages_of(f, 33), LARGE);
	for (i = 0; i < 33; i++)
		flush(f, i);
}

/*
 * There is no room for it, and each connection takes two pages as soon as it has given
 * back as many: a large Call of one that has none gets what comes back.
 */
static void turn_beside_greedy(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i, gives = 0;

	set_most(1040);
	arrive_all(test, 34, 11);
	nibble_all(f, 33);
	for (i = 0; i < 33; i++)
		flush(f, i);
	KUNIT_ASSERT_EQ(test, want(f, 33, 0, LARGE), -EINPROGRESS);
	while (!has(f, 33, 0) && gives < 2000) {
		i = gives++ % 33;
		if (pages_of(f, i) > 2) {
			svc2_pages_give(&f->peers[i].sp, 2);
			nibble(f, i);
		}
	}
	KUNIT_EXPECT_TRUE(test, has(f, 33, 0));
	KUNIT_EXPECT_LT(test, gives, 500);
	for (i = 0; i < 33; i++)
		flush(f, i);
}

/* The addresses take turns, then the connections of each. */
static void turns_of_addresses(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_most(1040);
	/* two of an address have all that it may have; two more, and one of another */
	arrive_all(test, 5, 4);
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, LARGE), 0);
	KUNIT_EXPECT_EQ(test, want(f, 1, 0, LARGE), 0);
	KUNIT_EXPECT_EQ(test, want(f, 2, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, want(f, 3, 0, LARGE), -EINPROGRESS);
	/* not in the way of another address, but of what has pages, or comes later */
	KUNIT_EXPECT_EQ(test, want(f, 4, 0, LARGE), 0);
	KUNIT_EXPECT_EQ(test, want(f, 0, 1, 70), -EINPROGRESS);
	svc2_pages_give(&f->peers[0].sp, LARGE);
	KUNIT_EXPECT_TRUE(test, has(f, 2, 0));
	KUNIT_EXPECT_FALSE(test, has(f, 3, 0));
	/* the first has none now, but has come later */
	KUNIT_EXPECT_FALSE(test, has(f, 0, 1));
	svc2_pages_give(&f->peers[1].sp, LARGE);
	KUNIT_EXPECT_TRUE(test, has(f, 3, 0));
	svc2_pages_give(&f->peers[2].sp, LARGE);
	KUNIT_EXPECT_TRUE(test, has(f, 0, 1));
}

/*
 * What is little goes past a connection that waits: 1040 / 4 / 5 pages. What it waits for
 * is the others' when it goes away.
 */
static void little_goes_past(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_most(1040);
	arrive_all(test, 5, 5);
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, LARGE), 0);
	KUNIT_EXPECT_EQ(test, want(f, 1, 0, LARGE - 140), 0);
	KUNIT_EXPECT_EQ(test, want(f, 2, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, want(f, 3, 0, 53), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, want(f, 4, 0, 50), 0);
	KUNIT_EXPECT_EQ(test, want(f, 4, 1, 2), 0);
	KUNIT_EXPECT_EQ(test, want(f, 4, 2, 2), -EINPROGRESS);
	flush(f, 2);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->peers[2].sp.sp_quota.qu_starved));
	KUNIT_EXPECT_TRUE(test, has(f, 3, 0));
}

/* No pages are kept for a connection that has gone while it waited. */
static void nothing_kept_for_the_gone(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_most(1040);
	arrive_all(test, 3, 3);
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, LARGE + 100), 0);
	KUNIT_EXPECT_EQ(test, want(f, 1, 0, LARGE), -EINPROGRESS);
	flush(f, 1);
	KUNIT_EXPECT_EQ(test, want(f, 2, 0, 100), 0);
}

/* S46: the turn of a connection that is lost, or gone, is the next one's. */
static void s46_turns_of_the_lost(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	set_most(1040);
	arrive_all(test, 5, 1);
	svc2_pages_take(&f->peers[4].sp, &f->peers[4].calls[0], 900);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, want(f, i, 0, LARGE), -EINPROGRESS);
	flush(f, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->peers[1].sp.sp_quota.qu_address->ad_waiting));
	atomic_set(&f->peers[0].sp.sp_conn.co_lost, true);
	svc2_pages_give(&f->peers[4].sp, 118);
	KUNIT_EXPECT_FALSE(test, has(f, 0, 0));
	KUNIT_EXPECT_TRUE(test, has(f, 2, 0));
	KUNIT_EXPECT_FALSE(test, has(f, 3, 0));
}

/* The addresses take turns while there is enough for one of them at a time. */
static void one_address_at_a_time(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_most(1040);
	arrive_all(test, 4, 2);
	svc2_pages_take(&f->peers[3].sp, &f->peers[3].calls[0], 900);
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, want(f, 1, 0, LARGE), -EINPROGRESS);
	KUNIT_ASSERT_EQ(test, arrive(f, 4, 4, 4), 0);
	KUNIT_EXPECT_EQ(test, want(f, 4, 0, LARGE), -EINPROGRESS);
	svc2_pages_give(&f->peers[3].sp, 300);
	KUNIT_EXPECT_TRUE(test, has(f, 0, 0));
	svc2_pages_give(&f->peers[3].sp, 100);
	KUNIT_EXPECT_TRUE(test, has(f, 4, 0));
	KUNIT_EXPECT_FALSE(test, has(f, 1, 0));
	/* a later Call does not take the pages that are kept for it */
	KUNIT_ASSERT_EQ(test, arrive(f, 5, 5, 5), 0);
	KUNIT_EXPECT_EQ(test, want(f, 5, 0, 60), -EINPROGRESS);
	svc2_pages_give(&f->peers[3].sp, 100);
	KUNIT_EXPECT_FALSE(test, has(f, 5, 0));
	flush(f, 1);
	KUNIT_EXPECT_TRUE(test, has(f, 5, 0));
}

/* So do the connections of each, also one that has given back what it had. */
static void one_connection_at_a_time(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_most(1040);
	arrive_all(test, 4, 4);
	svc2_pages_take(&f->peers[2].sp, &f->peers[2].calls[0], 400);
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, want(f, 0, 1, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, want(f, 1, 0, LARGE), -EINPROGRESS);
	svc2_pages_give(&f->peers[2].sp, 300);
	KUNIT_EXPECT_TRUE(test, has(f, 0, 0));
	KUNIT_EXPECT_FALSE(test, has(f, 1, 0));
	KUNIT_EXPECT_EQ(test, want(f, 3, 0, 100), -EINPROGRESS);
	svc2_pages_give(&f->peers[0].sp, LARGE);
	KUNIT_EXPECT_TRUE(test, has(f, 1, 0));
	KUNIT_EXPECT_FALSE(test, has(f, 0, 1));
	flush(f, 0);
	flush(f, 3);
}

/* The smallest Call gets the last two pages, but not on a connection that is lost. */
static void last_pages(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_most(1040);
	arrive_all(test, 3, 3);
	svc2_pages_take(&f->peers[0].sp, &f->peers[0].calls[0], 522);
	KUNIT_EXPECT_EQ(test, want(f, 1, 0, 2), -EINPROGRESS);
	svc2_pages_give(&f->peers[0].sp, 3);
	KUNIT_EXPECT_FALSE(test, has(f, 1, 0));
	svc2_pages_give(&f->peers[0].sp, 1);
	KUNIT_EXPECT_TRUE(test, has(f, 1, 0));
	KUNIT_EXPECT_EQ(test, want(f, 1, 1, 2), -EINPROGRESS);
	atomic_set(&f->peers[1].sp.sp_conn.co_lost, true);
	svc2_pages_give(&f->peers[0].sp, 518);
	KUNIT_EXPECT_FALSE(test, has(f, 1, 1));
	flush(f, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->peers[1].sp.sp_quota.qu_starved));
}

/* A connection without pages is served again, though its address has its whole share. */
static void full_address(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;

	set_most(1040);
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
 * S46: a connection that has pages is served when it gives some back, or when a Call of it
 * comes, whatever others give back.
 */
static void s46_served_by_its_own(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;

	set_most(1040);
	arrive_all(test, 2, 2);
	svc2_pages_take(&f->peers[1].sp, &f->peers[1].calls[0], 500);
	svc2_pages_take(sp, &f->peers[0].calls[0], 20);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	KUNIT_EXPECT_EQ(test, want(f, 0, 1, 100), -EINPROGRESS);
	svc2_pages_give(&f->peers[1].sp, 400);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_FALSE(test, has(f, 0, 1));
	svc2_pages_give(sp, 1);
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_TRUE(test, has(f, 0, 1));

	KUNIT_EXPECT_EQ(test, want(f, 0, 2, 250), -EINPROGRESS);
	svc2_pages_give(&f->peers[1].sp, 100);
	KUNIT_EXPECT_FALSE(test, has(f, 0, 2));
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, 2), -EINPROGRESS);
	KUNIT_EXPECT_FALSE(test, has(f, 0, 2));
	KUNIT_EXPECT_FALSE(test, has(f, 0, 0));
	flush(f, 0);
}

static void note_lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
}

/*
 * S46: decryption may take the data out of the pages, and then the RPC layer defers a
 * Call for as long as an upcall takes. It gives back its pages, and costs its connection.
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
	KUNIT_ASSERT_EQ(test, want(f, 0, 0, 100), 0);
	KUNIT_ASSERT_EQ(test, want(f, 0, 1, 200), 0);
	calls[0].sm_reply_pages = 60;
	svc2_pages_deferred(sp);
	KUNIT_EXPECT_EQ(test, sp->sp_quota.qu_pages, 300);
	svc2_pages_track(sp, &calls[0]);
	svc2_pages_track(sp, &calls[1]);
	calls[1].sm_thread = other;
	svc2_pages_deferred(sp);
	KUNIT_EXPECT_EQ(test, sp->sp_quota.qu_pages, 200);
	KUNIT_EXPECT_EQ(test, calls[0].sm_charged, 0);
	KUNIT_EXPECT_EQ(test, calls[0].sm_reply_pages, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_conn_why(&sp->sp_conn), RPCRDMA2_LOSS_REPLY);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&sp->sp_quota.qu_gss), 1);
	/* it was another thread's, or has ended */
	svc2_pages_deferred(sp);
	KUNIT_EXPECT_EQ(test, sp->sp_quota.qu_pages, 200);
	calls[1].sm_thread = current;
	svc2_pages_untrack(&calls[1]);
	svc2_pages_deferred(sp);
	KUNIT_EXPECT_EQ(test, sp->sp_quota.qu_pages, 200);
	svc2_pages_untrack(&calls[0]);
	svc2_pages_give(sp, 200);
	/* resumed, and answered, before its first thread is done */
	KUNIT_ASSERT_EQ(test, want(f, 0, 2, 100), 0);
	calls[2].sm_reply_pages = 60;
	svc2_pages_track(sp, &calls[2]);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, &calls[2], 60), 60);
	svc2_pages_deferred(sp);
	KUNIT_EXPECT_EQ(test, calls[2].sm_charged, 40);
	KUNIT_EXPECT_EQ(test, sp->sp_quota.qu_pages, 100);
	svc2_pages_give(sp, 100);
	KUNIT_EXPECT_EQ(test, sp->sp_quota.qu_pages, 0);
}

/* With a single page left for all a connection that is throttled for another reason stays so. */
static void all_without_two_pages(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;

	set_most(1040);
	arrive_all(test, 3, 1);
	svc2_pages_take(&f->peers[1].sp, &f->peers[1].calls[0], 520);
	svc2_pages_take(&f->peers[2].sp, &f->peers[2].calls[0], 520);
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, 2), -EINPROGRESS);
	set_bit(SVC2_F_THROTTLED, &sp->sp_flags);
	svc2_pages_give(&f->peers[1].sp, 1);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_FALSE(test, has(f, 0, 0));
	svc2_pages_give(&f->peers[1].sp, 1);
	KUNIT_EXPECT_TRUE(test, has(f, 0, 0));
}

/* The bound goes by the memory of the machine, and a larger one serves who waits. */
static void parameters(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_most(1);
	KUNIT_EXPECT_EQ(test, limit_of_pages(), 4 * (RPCSVC_MAXPAYLOAD / PAGE_SIZE + 4));
	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	svc2_pages_take(&f->peers[0].sp, &f->peers[0].calls[0],
			limit_of_pages());
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, 2), -EINPROGRESS);
	set_most(0);
	KUNIT_EXPECT_EQ(test, limit_of_pages(), machine.ram_pages / 16);
	KUNIT_EXPECT_TRUE(test, has(f, 0, 0));
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 4 * (RPCSVC_MAXPAYLOAD / PAGE_SIZE + 4) + 2);
	svc2_connections.pm_value = 0;
	KUNIT_EXPECT_EQ(test, limit_of_connections(),
			machine.ram_pages / (8 << (20 - PAGE_SHIFT)));
	machine.ram_pages = 1;
	KUNIT_EXPECT_EQ(test, limit_of_connections(), SVC2_CONNS_MIN);
	/* 64 TiB: as many whole pages as a parameter can hold, in KiB */
	machine.ram_pages = (unsigned long)(1ULL << 46 >> PAGE_SHIFT);
	if (ULONG_MAX > UINT_MAX)
		KUNIT_EXPECT_EQ(test, svc2_memory_default(),
				UINT_MAX - PAGE_SIZE / 1024 + 1);
}

static void no_memory_for_an_address(struct kunit *test)
{
	struct fixture *f = test->priv;

	machine.no_memory = true;
	KUNIT_EXPECT_EQ(test, arrive(f, 0, 1, 1), -ENOMEM);
	KUNIT_EXPECT_NULL(test, f->peers[0].sp.sp_quota.qu_address);
}

/* A Call that its address has just enough pages for waits for those of all. */
static void address_has_enough(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_most(1040);
	arrive_all(test, 2, 2);
	KUNIT_ASSERT_EQ(test, arrive(f, 2, 2, 2), 0);
	KUNIT_ASSERT_EQ(test, arrive(f, 3, 3, 3), 0);
	svc2_pages_take(&f->peers[1].sp, &f->peers[1].calls[0], 520 - LARGE);
	svc2_pages_take(&f->peers[2].sp, &f->peers[2].calls[0], 521);
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, LARGE), -EINPROGRESS);
	/* that leaves less than 1040 / 4 / 4 pages for what comes later */
	KUNIT_EXPECT_EQ(test, want(f, 3, 0, 66), -EINPROGRESS);
	flush(f, 0);
	KUNIT_EXPECT_TRUE(test, has(f, 3, 0));
}

/* The file in debugfs */
static void shows(struct kunit *test)
{
	const u64 more = 1 << 20;
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;
	static char seen[256], said[256];
	struct seq_file seq = { .buf = seen, .size = sizeof(seen) };

	memset(seen, 0, sizeof(seen));
	arrive_all(test, 2, 2);
	svc2_pages_take(sp, &f->peers[0].calls[0], more);
	svc2_pages_give(sp, more - 3);
	svc2_pages_show(&seq);
	snprintf(said, sizeof(said), "bytes %lu\nmost %lu\npeak %llu\n"
		 "connections 2 most %u\naddress %pISc connections 2 bytes %lu\n",
		 3 * PAGE_SIZE, MOST * PAGE_SIZE, more * PAGE_SIZE, 2 * CONNS,
		 &sp->sp_quota.qu_address->ad_addr, 3 * PAGE_SIZE);
	KUNIT_EXPECT_STREQ(test, seen, said);
}

/* Replies with too many pages keep small Calls waiting; a large Call in front does not. */
static void small_beside_large(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;

	set_most(1040);
	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	svc2_pages_take(sp, &f->peers[0].calls[1], 280);
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, LARGE), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	svc2_pages_give(sp, 20);
	KUNIT_EXPECT_FALSE(test, has(f, 0, 0));
	KUNIT_EXPECT_FALSE(test, test_bit(SVC2_F_THROTTLED, &sp->sp_flags));
	KUNIT_EXPECT_EQ(test, svc2_has_wspace(&sp->sp_xprt), 1);
	svc2_pages_give(sp, 260);
	KUNIT_EXPECT_TRUE(test, has(f, 0, 0));
}

/* A Call whose Reply may be large waits as one with Read chunks does. */
static void reply_waits(struct kunit *test)
{
	u64 waits = count_of(SVC2_C_transfer_waits);
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[1].sp;
	struct svc2_msg *call = &f->peers[1].calls[0];

	set_most(1040);
	arrive_all(test, 2, 2);
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, 300), 0);
	KUNIT_EXPECT_EQ(test, want_reply(f, 1, 0, 259), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_transfer_waits), waits + 1);
	svc2_pages_give(&f->peers[0].sp, 300);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 259);
	KUNIT_EXPECT_TRUE(test, list_empty(&sp->sp_quota.qu_starved));
	/* as one whose RDMA Reads are done: a thread can hand it on */
	KUNIT_EXPECT_PTR_EQ(test, list_first_entry_or_null(&sp->sp_ready_q,
							   struct svc2_msg,
							   sm_wait.wt_list), call);
	KUNIT_EXPECT_TRUE(test, list_empty(&sp->sp_start_q));
}

/* What is counted for a Reply is the Reply's, and what it has beyond that too. */
static void reply_takes(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;
	struct svc2_msg *call = &f->peers[0].calls[0];

	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, want_reply(f, 0, 0, 259), 0);
	call->sm_charged += 100;
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 257), 259);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 100);
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 259);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 20), 20);
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 279);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 100);
	untake(call, 20);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 120);
	/* a few more than it has are its own, and no others */
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 20 - SVC2_REPLY_FEW), 20);
	untake(call, 20);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 19 - SVC2_REPLY_FEW),
			19 - SVC2_REPLY_FEW);
}

/* Two Replies that were not posted: the third one has the pages of both. */
static void two_not_posted(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;
	struct svc2_msg *call = &f->peers[0].calls[0];

	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 20), 20);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 30), 30);
	untake(call, 20);
	untake(call, 30);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 50);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 50), 50);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 0);
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 50);
}

/* S46: one that turns out much shorter gives the rest back, also when it is planned again. */
static void reply_gives_the_rest_back(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct svc2_xprt *sp = &f->peers[0].sp;
	struct svc2_msg *call = &f->peers[0].calls[0];

	set_most(1040);
	arrive_all(test, 2, 2);
	KUNIT_EXPECT_EQ(test, want_reply(f, 0, 0, 300), 0);
	KUNIT_EXPECT_EQ(test, want_reply(f, 1, 0, 259), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 13), 13);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 0);
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 13);
	KUNIT_EXPECT_TRUE(test, has(f, 1, 0));
	untake(call, 13);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 13);
	KUNIT_EXPECT_EQ(test, svc2_pages_take(sp, call, 14), 14);
	KUNIT_EXPECT_EQ(test, call->sm_charged, 0);
	KUNIT_EXPECT_EQ(test, pages_of(f, 0), 14);
}

/* With the least memory there is a turn for the largest Call with the largest Reply. */
static void least_is_enough(struct kunit *test)
{
	struct svc_serv serv = { .sv_max_mesg = RPCSVC_MAXPAYLOAD + PAGE_SIZE };
	unsigned int pages = serv.sv_max_mesg / PAGE_SIZE + 1 +
			     svc_serv_maxpages(&serv);
	struct fixture *f = test->priv;

	set_most(1);
	KUNIT_ASSERT_EQ(test, arrive(f, 0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, want(f, 0, 0, pages), 0);
}

/* It waits as what is new does while its connection has too much. */
static void deferred_is_taken_up(struct kunit *test)
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

/* S46: a peer may choose its address, but not its port on the link, which is limited. */
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
	/* another peer whose GID they claim */
	KUNIT_EXPECT_EQ(test, arrive(f, 3, 2, 2), 0);
	/* with InfiniBand it has a LID, whatever subnet it claims to be of */
	f->ports[1].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	for (i = 7; i < 9; i++)
		KUNIT_EXPECT_EQ(test, arrive_ib(f, i, 3, i), 0);
	KUNIT_EXPECT_EQ(test, arrive_ib(f, 9, 3, 9), -EUSERS);
	KUNIT_EXPECT_EQ(test, arrive_ib(f, 9, 4, 9), 0);
	f->peers[10].path.sgid.global.subnet_prefix = cpu_to_be64(1);
	KUNIT_EXPECT_EQ(test, arrive_ib(f, 10, 3, 10), -EUSERS);
	/* iWARP connections have no GID, but those of TCP */
	f->ports[1].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IWARP;
	for (i = 4; i < 6; i++)
		KUNIT_EXPECT_EQ(test, arrive(f, i, 1, 4), 0);
	KUNIT_EXPECT_EQ(test, arrive(f, 6, 5, 4), -EUSERS);
}

#define PEER	{ [5] = 7 }
#define SERVER	{ [5] = 8 }

static const struct route_case route_cases[] = {
	{ "no route", .error = -ENODEV, .own = PEER, .next = PEER },
	{ "no answer", .status = -ENODEV, .own = PEER, .next = PEER },
	{ "on the link", .own = SERVER, .next = PEER },
	{ "within the machine", .own = PEER, .next = PEER, .gid_counts = true },
	{ "behind a router", .network = RDMA_NETWORK_IPV4, .own = SERVER, .next = PEER,
	  .gid_counts = true },
};

KUNIT_ARRAY_PARAM_DESC(route, route_cases, desc);

/* S46: The route decides whether the GID counts; the IP address never does. */
static void address_is_of_the_route(struct kunit *test)
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
	/* from the address that is bound, for a moment */
	sin = (struct sockaddr_in *)&f->route_from;
	KUNIT_EXPECT_EQ(test, ntohl(sin->sin_addr.s_addr), 0xc00002fe);
	sin = (struct sockaddr_in *)&f->route_to;
	KUNIT_EXPECT_EQ(test, ntohl(sin->sin_addr.s_addr), 0xc0000201);
	KUNIT_EXPECT_TRUE(test, f->route_by_gid);
	KUNIT_EXPECT_EQ(test, f->route_ms, 1);
}

/* The bits of a LID that name a path do not count, where the device knows them. */
static void address_is_of_the_lid(struct kunit *test)
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

/* S46: so many connections in all, and half of them for an address. */
static void connections_of_all(struct kunit *test)
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
	/* by the memory */
	svc2_connections.pm_value = 0;
	KUNIT_EXPECT_EQ(test, arrive(f, 4, 2, 2), 0);
}

static struct kunit_case pages_cases[] = {
	KUNIT_CASE(room_beside_greedy),
	KUNIT_CASE(turn_beside_greedy),
	KUNIT_CASE(turns_of_addresses),
	KUNIT_CASE(little_goes_past),
	KUNIT_CASE(nothing_kept_for_the_gone),
	KUNIT_CASE(s46_turns_of_the_lost),
	KUNIT_CASE(one_address_at_a_time),
	KUNIT_CASE(one_connection_at_a_time),
	KUNIT_CASE(last_pages),
	KUNIT_CASE(full_address),
	KUNIT_CASE(s46_served_by_its_own),
	KUNIT_CASE(s46_deferred_by_gss),
	KUNIT_CASE(all_without_two_pages),
	KUNIT_CASE(parameters),
	KUNIT_CASE(no_memory_for_an_address),
	KUNIT_CASE(address_has_enough),
	KUNIT_CASE(shows),
	KUNIT_CASE(small_beside_large),
	KUNIT_CASE(reply_waits),
	KUNIT_CASE(reply_takes),
	KUNIT_CASE(two_not_posted),
	KUNIT_CASE(reply_gives_the_rest_back),
	KUNIT_CASE(least_is_enough),
	KUNIT_CASE(deferred_is_taken_up),
	KUNIT_CASE(address_is_port),
	KUNIT_CASE_PARAM(address_is_of_the_route, route_gen_params),
	KUNIT_CASE(address_is_of_the_lid),
	KUNIT_CASE(connections_of_all),
	{}
};

static struct kunit_suite pages_suite = {
	.name		= "svcrdma2_pages",
	.init		= pages_init,
	.exit		= pages_exit,
	.test_cases	= pages_cases,
};

kunit_test_suite(pages_suite);
