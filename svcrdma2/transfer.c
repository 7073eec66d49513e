// SPDX-License-Identifier: GPL-2.0
/*
 * Quotas for the pages of Calls and Replies: of all connections, of an address,
 * and of a connection.
 */
#include "svcrdma2.h"

#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>

#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "address.h"
#include "share.h"

/*
 * The address by which a peer is counted, where a limit is that of an address.
 *
 * With iWARP it is the address of a TCP connection. With InfiniBand and RoCE
 * the peer can write any IP address into the private data of its request to
 * connect, and any GID into the request itself. On a link neither determines
 * the path of this end's packets: the queue pair sends to a LID, or a MAC, and
 * only writes the GID into the packets. So on a link a peer is counted by its
 * LID or MAC.
 *
 * The subnet manager assigns the LIDs; if a port has several, which are
 * consecutive, the first stands for all. A host can have more than one MAC, but
 * the switch limits their number. With RoCE a peer behind a router is counted
 * by its GID: the router forwards the packets to the owner of the GID, and
 * without an answer from there the connection does not last
 * (SVC2_ESTABLISH_TIMEOUT). With InfiniBand the answer goes to the LID that the
 * request came from, independent of the subnet of its GIDs. A host of this
 * subnet can claim a GID of another subnet, so hosts behind a router share its
 * port's LID. The interface is no part of the address: on a link with more than
 * one of them, the peer chooses the interface of its request. So hosts with the
 * same LID in two subnets are counted as one.
 */

/* The request has just used the route: there is no need to wait for it. */
#define SVC2_ROUTE_MS	1

struct svc2_lookup {
	struct rdma_dev_addr	lk_addr;
	struct completion	lk_done;
	int			lk_status;
};

static void svc2_looked_up(int status, struct sockaddr *src,
			   struct rdma_dev_addr *addr, void *context)
{
	struct svc2_lookup *lk = context;

	lk->lk_status = status;
	complete(&lk->lk_done);
}

static void svc2_find_route(const struct rdma_cm_id *id,
			    const struct sa_path_rec *path, struct svc2_route *rt)
{
	const struct rdma_dev_addr *dev = &id->route.addr.dev_addr;
	struct svc2_lookup lk = { .lk_addr.sgid_attr = dev->sgid_attr,
				  .lk_addr.net = dev->net };
	struct sockaddr_storage src = { }, dst = { };

	if (!dev->sgid_attr)
		return;
	/* the address bound here, not the one in the request */
	rdma_gid2ip((struct sockaddr *)&src, &dev->sgid_attr->gid);
	rdma_gid2ip((struct sockaddr *)&dst, &path->dgid);
	init_completion(&lk.lk_done);
	if (rdma_resolve_ip((struct sockaddr *)&src, (struct sockaddr *)&dst,
			    &lk.lk_addr, SVC2_ROUTE_MS, svc2_looked_up, true, &lk))
		return;
	wait_for_completion(&lk.lk_done);
	rt->known = !lk.lk_status;
	rt->gateway = lk.lk_addr.network != RDMA_NETWORK_IB;
	memcpy(rt->own, lk.lk_addr.src_dev_addr, ETH_ALEN);
	memcpy(rt->next, lk.lk_addr.dst_dev_addr, ETH_ALEN);
}

static void svc2_address_roce(const struct rdma_cm_id *id, struct sa_path_rec *path,
			      struct sockaddr_storage *address)
{
	struct svc2_route rt = { };

	memcpy(rt.mac, sa_path_get_dmac(path), ETH_ALEN);
	svc2_find_route(id, path, &rt);
	if (svc2_gid_counts(&rt))
		rdma_gid2ip((struct sockaddr *)address, &path->dgid);
	else
		*(struct sockaddr_in6 *)address = svc2_link_address(rt.mac);
}

static void svc2_address_ib(const struct rdma_cm_id *id, struct sa_path_rec *path,
			    struct sockaddr_storage *address)
{
	u8 lmc;

	/* this port's: usually a subnet has one LMC for all ports of hosts */
	if (ib_get_cached_lmc(id->device, id->port_num, &lmc))
		lmc = 0;
	*(struct sockaddr_in6 *)address =
		svc2_lid_address(be32_to_cpu(sa_path_get_dlid(path)), lmc);
}

/**
 * svc2_address - find the address by which a peer is counted
 * @sp: connection
 *
 * Context: svc thread; sleeps, but waits for no other host.
 * Return: the address; its port is meaningless.
 */
struct sockaddr_storage svc2_address(const struct svc2_xprt *sp)
{
	const struct rdma_cm_id *id = sp->sp_conn.co_id;
	struct sockaddr_storage address = *svc2_peer(sp);
	struct sa_path_rec *path = id->route.path_rec;

	if (!path || !rdma_ib_or_roce(id->device, id->port_num))
		return address;
	if (sa_path_is_roce(path))
		svc2_address_roce(id, path, &address);
	else
		svc2_address_ib(id, path, &address);
	return address;
}

/*
 * Quotas for payload: pages that RDMA Reads fill, and pages that RDMA Writes
 * and Sends read.
 *
 * A peer decides when these come back, and may be unauthenticated. So all
 * connections together may have the amount in the module parameter
 * transfer_memory, the connections of one address half of that, and one
 * connection at most the amount that is then left (svc2_transfer_room()).
 *
 * The pages of a Call are counted before they are taken: pages that its Read
 * chunks fill, and pages that its Reply may have in the memory that it offers.
 * If they exceed the quota the Call waits in the queue of its connection,
 * without a thread; other Calls go on. It gets all of them at once, and before
 * any other resource that another Call can wait for: so a holder of pages never
 * waits for pages.
 *
 * Further pages of a Reply, at most those that fit a Send, are counted when the
 * Reply exists. While a connection exceeds its quota no further message of it
 * is taken up. Replies of a few pages are not counted while there are only a
 * few of them.
 *
 * A connection that holds no pages and waits is starved: until it has its pages
 * only small requests bypass it (svc2_transfer_is_little()), and released pages
 * are kept for it. The other connections hold their pages while a thread is at
 * work, and for a limited time besides (SVC2_CHAIN_TIMEOUT). So a large Call
 * gets its turn, independent of other peers. Addresses are served round robin,
 * and so are the connections of an address. A connection that waits for others
 * of its address blocks that address only.
 *
 * A Call that the RPC layer defers for an upcall gives back its counted pages:
 * the upcall may take minutes. When it resumes, its Reply bypasses the queues.
 * If the quota of its address or of all connections is exceeded, the Reply is
 * retried for a while (svc2_try_again()); then it is dropped with the
 * connection: the requester sends the Call again, which then waits for its
 * turn.
 *
 * The number of connections is limited too, by the module parameter
 * connections, and that of an address by address_connections and by half of
 * connections. So the fixed memory of all connections has a limit as well.
 */

/* minimum that allows the largest Calls */
#define SVC2_TRANSFER_MIN \
	(4L * (DIV_ROUND_UP(RPCSVC_MAXPAYLOAD, PAGE_SIZE) + 4))
/* pages of the smallest Call: a page, and one more (svc2_transfer_enter()) */
#define SVC2_TRANSFER_LEAST	2

/**
 * struct svc2_address - state shared by the connections of one address
 * @ad_list: on addresses
 * @ad_addr: the address; its port is meaningless
 * @ad_conns: number of connections
 * @ad_pages: pages of their payload
 * @ad_owed: a connection without pages waits until others of the address give
 *	some back
 * @ad_line: connections that wait for pages, in the order of their turns
 * @ad_waiting: on waiting while @ad_line is not empty
 */
struct svc2_address {
	struct list_head	ad_list;
	struct sockaddr_storage	ad_addr;
	unsigned int		ad_conns;
	long			ad_pages;
	bool			ad_owed;
	struct list_head	ad_line;
	struct list_head	ad_waiting;
};

/*
 * Guards all below, every svc2_address, and every svc2_transfer. sp_recv_lock
 * and locks of the RPC layer are taken under it, never the other way round.
 *
 * Calls take pages first: a Call has no Send Queue entries, send context,
 * memory regions or thread until it has all its pages. A Call that has them may
 * wait for any of the others. These come back from Calls that wait for no
 * pages, or the connection is lost (SVC2_CHAIN_TIMEOUT).
 */
static DEFINE_SPINLOCK(transfer_lock);
static LIST_HEAD(addresses);
/* addresses with waiters; the next to be served comes first */
static LIST_HEAD(waiting);
/* a connection without pages waits until any connection gives some back */
static bool owed;
/* connections of all addresses */
static unsigned int conns;
static long used, peak;
static long most;

static bool svc2_transfer_may_take(const struct svc2_xprt *sp, long more)
{
	const struct svc2_transfer *tr = &sp->sp_transfer;

	return svc2_transfer_room(READ_ONCE(most), READ_ONCE(used),
				  READ_ONCE(tr->tr_address->ad_pages),
				  READ_ONCE(tr->tr_pages), more);
}

static void svc2_transfer_account(struct svc2_xprt *sp, long pages)
{
	struct svc2_transfer *tr = &sp->sp_transfer;

	lockdep_assert_held(&transfer_lock);
	WRITE_ONCE(used, used + pages);
	WRITE_ONCE(tr->tr_address->ad_pages, tr->tr_address->ad_pages + pages);
	WRITE_ONCE(tr->tr_pages, tr->tr_pages + pages);
	peak = max(peak, used);
}

static struct svc2_waiter *svc2_transfer_first_call(struct svc2_xprt *sp)
{
	return list_first_entry_or_null(&sp->sp_transfer.tr_line,
					struct svc2_waiter, wt_list);
}

static void svc2_transfer_begin_call(struct svc2_xprt *sp,
				     struct svc2_waiter *wt)
{
	list_del(&wt->wt_list);
	svc2_transfer_account(sp, wt->wt_units);
	wt->wt_call->sm_charged = wt->wt_units;
	svc2_msg_ready(sp, wt->wt_call);
}

static void svc2_transfer_join(struct svc2_xprt *sp)
{
	struct svc2_address *ad = sp->sp_transfer.tr_address;

	lockdep_assert_held(&transfer_lock);
	if (!list_empty(&sp->sp_transfer.tr_waiting))
		return;
	if (list_empty(&ad->ad_line))
		list_add_tail(&ad->ad_waiting, &waiting);
	list_add_tail(&sp->sp_transfer.tr_waiting, &ad->ad_line);
}

static void svc2_transfer_unqueue(struct svc2_xprt *sp)
{
	struct svc2_address *ad = sp->sp_transfer.tr_address;

	lockdep_assert_held(&transfer_lock);
	if (list_empty(&sp->sp_transfer.tr_waiting))
		return;
	list_del_init(&sp->sp_transfer.tr_waiting);
	if (!list_empty(&ad->ad_line))
		return;
	list_del(&ad->ad_waiting);
	ad->ad_owed = false;
}

/*
 * True if a starved connection comes before @more pages for @sp. A request may
 * bypass it if enough is left for it even when all connections take the same
 * amount.
 */
static bool svc2_transfer_is_starved(const struct svc2_xprt *sp, long more)
{
	const struct svc2_transfer *tr = &sp->sp_transfer;
	const struct svc2_address *ad = tr->tr_address;

	return (owed && !svc2_transfer_is_little(most, conns, tr->tr_pages, more)) ||
	       (ad->ad_owed && !svc2_transfer_is_little(most, ad->ad_conns,
							tr->tr_pages, more));
}

/* @sp has no pages, and @pages exceed its quota. */
static void svc2_transfer_set_starved(const struct svc2_xprt *sp, long pages)
{
	struct svc2_address *ad = sp->sp_transfer.tr_address;

	if (pages > most / 2 - ad->ad_pages)
		ad->ad_owed = true;
	else
		owed = true;
}

/* True if not even the smallest Call could get its pages */
static bool svc2_transfer_is_full(const struct svc2_address *ad)
{
	return min(most - used, most / 2 - ad->ad_pages) < SVC2_TRANSFER_LEAST;
}

/*
 * The connection without pages that has waited longest. Calls that wait on a
 * lost connection are freed with it.
 */
static struct svc2_xprt *
svc2_transfer_first_without_pages(struct svc2_address *ad)
{
	struct svc2_xprt *sp;

	list_for_each_entry(sp, &ad->ad_line, sp_transfer.tr_waiting)
		if (!sp->sp_transfer.tr_pages && svc2_transfer_first_call(sp) &&
		    !rpcrdma2_conn_is_lost(&sp->sp_conn))
			return sp;
	return NULL;
}

/* Return: whether a connection of the address has been served. */
static bool svc2_transfer_serve_address(struct svc2_address *ad)
{
	struct svc2_xprt *sp;

	ad->ad_owed = false;
	sp = svc2_transfer_is_full(ad) ? NULL :
					 svc2_transfer_first_without_pages(ad);
	if (!sp)
		return false;
	if (!svc2_transfer_may_take(sp,
				    svc2_transfer_first_call(sp)->wt_units)) {
		svc2_transfer_set_starved(sp, svc2_transfer_first_call(sp)->wt_units);
		return false;
	}
	svc2_transfer_begin_call(sp, svc2_transfer_first_call(sp));
	list_move_tail(&sp->sp_transfer.tr_waiting, &ad->ad_line);
	list_move_tail(&ad->ad_waiting, &waiting);
	return true;
}

/* Serves the connections without pages first. */
static void svc2_transfer_serve_starved(void)
{
	struct svc2_address *ad, *next;
	bool any;

	owed = false;
	do {
		any = false;
		list_for_each_entry_safe(ad, next, &waiting, ad_waiting) {
			any |= svc2_transfer_serve_address(ad);
			if (owed)
				return;
		}
	} while (any);
}

static void svc2_transfer_serve_connection(struct svc2_xprt *sp)
{
	struct svc2_waiter *wt;

	if (rpcrdma2_conn_is_lost(&sp->sp_conn))
		return;
	while ((wt = svc2_transfer_first_call(sp)) &&
	       !svc2_transfer_is_starved(sp, wt->wt_units) &&
	       svc2_transfer_may_take(sp, wt->wt_units))
		svc2_transfer_begin_call(sp, wt);
	/* messages without payload go on beside the queue */
	if (!svc2_transfer_has_room(sp))
		return;
	if (!svc2_transfer_first_call(sp))
		svc2_transfer_unqueue(sp);
	smp_mb();	/* pairs with svc2_has_wspace(), svc2_transfer_wait() */
	svc2_unthrottle(sp);
}

static void svc2_transfer_serve_all(void)
{
	struct svc2_address *ad, *next_ad;
	struct svc2_xprt *sp, *next;

	lockdep_assert_held(&transfer_lock);
	svc2_transfer_serve_starved();
	list_for_each_entry_safe(ad, next_ad, &waiting, ad_waiting) {
		if (svc2_transfer_is_full(ad))
			continue;
		list_for_each_entry_safe(sp, next, &ad->ad_line,
					 sp_transfer.tr_waiting)
			svc2_transfer_serve_connection(sp);
	}
}

static void svc2_transfer_uncharge(struct svc2_xprt *sp, unsigned int pages)
{
	svc2_transfer_account(sp, -(long)pages);
	svc2_transfer_serve_all();
	/* svc2_transfer_serve_all() skips it if its address is full */
	if (!list_empty(&sp->sp_transfer.tr_waiting))
		svc2_transfer_serve_connection(sp);
}

/**
 * svc2_transfer_set - apply the module parameter transfer_memory
 */
void svc2_transfer_set(void)
{
	unsigned long kib = svc2_param(&svc2_transfer_memory);

	guard(spinlock)(&transfer_lock);
	WRITE_ONCE(most, max_t(long, kib ? kib >> (PAGE_SHIFT - 10) :
			       totalram_pages() / 16, SVC2_TRANSFER_MIN));
	svc2_transfer_serve_all();
}

/**
 * svc2_transfer_init - initialize the quota of a connection
 * @sp: connection
 */
void svc2_transfer_init(struct svc2_xprt *sp)
{
	INIT_LIST_HEAD(&sp->sp_transfer.tr_line);
	INIT_LIST_HEAD(&sp->sp_transfer.tr_served);
	INIT_LIST_HEAD(&sp->sp_transfer.tr_waiting);
}

static struct svc2_address *
svc2_transfer_find_address(const struct sockaddr *sa)
{
	struct svc2_address *ad;

	lockdep_assert_held(&transfer_lock);
	list_for_each_entry(ad, &addresses, ad_list)
		if (rpc_cmp_addr((struct sockaddr *)&ad->ad_addr, sa))
			return ad;
	return NULL;
}

/**
 * svc2_transfer_address - address by which the peer of a connection is counted
 * @sp: connection, between svc2_transfer_begin() and svc2_transfer_end()
 *
 * Return: the address; its port is meaningless.
 */
const struct sockaddr_storage *svc2_transfer_address(const struct svc2_xprt *sp)
{
	return &sp->sp_transfer.tr_address->ad_addr;
}

static unsigned int svc2_transfer_max_conns(void)
{
	unsigned int set = svc2_param(&svc2_connections);
	unsigned long mib = totalram_pages() >> (20 - PAGE_SHIFT);

	return set ?: max_t(unsigned long, mib / SVC2_CONN_MIB, SVC2_CONNS_MIN);
}

/* Return: 0, -ENFILE, or -EUSERS when @ad has too many; it may be NULL. */
static int svc2_transfer_may_connect(const struct svc2_address *ad)
{
	unsigned int all = svc2_transfer_max_conns();

	lockdep_assert_held(&transfer_lock);
	if (ad && ad->ad_conns >= min(svc2_param(&svc2_address_connections),
				      DIV_ROUND_UP(all, 2)))
		return -EUSERS;
	return conns < all ? 0 : -ENFILE;
}

/**
 * svc2_transfer_begin - count a connection for its address
 * @sp: connection
 *
 * Context: may sleep.
 * Return: 0; -EUSERS at the limit of the address; -ENFILE at the limit of all
 * connections; or -ENOMEM.
 */
int svc2_transfer_begin(struct svc2_xprt *sp)
{
	struct svc2_address *new, *ad;
	int ret;

	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	new->ad_addr = svc2_address(sp);
	INIT_LIST_HEAD(&new->ad_line);

	scoped_guard(spinlock, &transfer_lock) {
		ad = svc2_transfer_find_address((struct sockaddr *)&new->ad_addr);
		ret = svc2_transfer_may_connect(ad);
		if (ret)
			break;
		if (!ad) {
			ad = new;
			list_add(&ad->ad_list, &addresses);
		}
		ad->ad_conns++;
		conns++;
		sp->sp_transfer.tr_address = ad;
	}
	if (ad != new)
		kfree(new);
	return ret;
}

/**
 * svc2_transfer_end - undo svc2_transfer_begin(), if it was called
 * @sp: connection without any payload
 */
void svc2_transfer_end(struct svc2_xprt *sp)
{
	struct svc2_address *ad = sp->sp_transfer.tr_address;

	if (!ad)
		return;
	WARN_ON_ONCE(sp->sp_transfer.tr_pages ||
		     !list_empty(&sp->sp_transfer.tr_line) ||
		     !list_empty(&sp->sp_transfer.tr_served));
	scoped_guard(spinlock, &transfer_lock) {
		svc2_transfer_unqueue(sp);
		conns--;
		if (--ad->ad_conns)
			return;
		list_del(&ad->ad_list);
	}
	kfree(ad);
}

/**
 * svc2_transfer_enter - count pages for a Call and its Reply, or queue the Call
 * @sp: connection
 * @call: Call; sets sm_charged
 * @pages: number, sm_reply_pages included; less than half of SVC2_TRANSFER_MIN
 *
 * Context: svc thread.
 * Return: 0 when it may have its pages; -EINPROGRESS when it waits, and belongs
 * to the queue (R2).
 */
int svc2_transfer_enter(struct svc2_xprt *sp, struct svc2_msg *call,
			unsigned int pages)
{
	struct svc2_transfer *tr = &sp->sp_transfer;

	guard(spinlock)(&transfer_lock);
	if (likely(list_empty(&tr->tr_line) &&
		   !svc2_transfer_is_starved(sp, pages))) {
		if (likely(svc2_transfer_may_take(sp, pages))) {
			svc2_transfer_account(sp, pages);
			call->sm_charged = pages;
			return 0;
		}
		if (!tr->tr_pages)
			svc2_transfer_set_starved(sp, pages);
	}
	svc2_count(transfer_waits);
	call->sm_wait = (struct svc2_waiter){
		.wt_units = pages,
		.wt_call  = call,
	};
	list_add_tail(&call->sm_wait.wt_list, &tr->tr_line);
	svc2_transfer_join(sp);
	return -EINPROGRESS;
}

/**
 * svc2_transfer_serve - note that this thread is about to carry out a Call
 * @sp: connection
 * @call: Call
 *
 * Context: svc thread.
 */
void svc2_transfer_serve(struct svc2_xprt *sp, struct svc2_msg *call)
{
	if (!call->sm_charged)
		return;
	call->sm_thread = current;
	guard(spinlock)(&transfer_lock);
	list_add(&call->sm_wait.wt_list, &sp->sp_transfer.tr_served);
}

/* Return: Send Queue entries that the Call had for its Reply. */
static unsigned int svc2_transfer_defer_locked(struct svc2_xprt *sp,
					       struct svc2_msg *call)
{
	/* its Reply may be in progress: svc2_reads_free(), svc2_msg_held() */
	unsigned int entries = xchg(&call->sm_entries, 0);

	lockdep_assert_held(&transfer_lock);
	if (call->sm_charged)
		svc2_count(transfer_deferred);
	list_del_init(&call->sm_wait.wt_list);
	svc2_transfer_uncharge(sp, call->sm_charged);
	call->sm_charged = 0;
	call->sm_reply_pages = 0;
	WRITE_ONCE(call->sm_deferred, true);
	return entries;
}

/**
 * svc2_transfer_defer - release the pages of a Call that may have been deferred
 * @sp: connection; the thread has finished its work, and has no Call
 *
 * If the RPC layer has deferred the Call of this thread, the Call gives its
 * pages back, and the Send Queue entries that go with them. By now a second
 * thread may have resumed it.
 *
 * Context: any that may put a message.
 */
void svc2_transfer_defer(struct svc2_xprt *sp)
{
	unsigned int entries = 0;
	struct svc2_msg *call;

	if (likely(list_empty(&sp->sp_transfer.tr_served)))
		return;
	scoped_guard(spinlock, &transfer_lock) {
		list_for_each_entry(call, &sp->sp_transfer.tr_served,
				    sm_wait.wt_list) {
			if (call->sm_thread != current)
				continue;
			entries = svc2_transfer_defer_locked(sp, call);
			break;
		}
	}
	/* not under transfer_lock: the gate's lock comes first */
	rpcrdma2_sq_give(&sp->sp_conn, entries);
}

/* A deferred Call may have any pages left, as if its connection had none. */
static bool svc2_transfer_may_resume(const struct svc2_xprt *sp,
				     const struct svc2_msg *call, long more)
{
	return !call->sm_deferred ||
	       svc2_transfer_room(most, used, sp->sp_transfer.tr_address->ad_pages,
				  0, more);
}

/**
 * svc2_transfer_take - count the pages of a Reply
 * @sp: connection
 * @call: its Call; sm_reply_pages are the Reply's now
 * @pages: pages that it has
 *
 * A Reply that is much shorter than its Call allows gives the rest back.
 *
 * Context: svc thread.
 * Return: number of counted pages, for svc2_transfer_give(); -ENOMEM when the
 * Call was deferred, and the Reply cannot have them now.
 */
int svc2_transfer_take(struct svc2_xprt *sp, struct svc2_msg *call,
		       unsigned int pages)
{
	unsigned int counted;

	guard(spinlock)(&transfer_lock);
	counted = call->sm_reply_pages;
	if (unlikely(pages > counted)) {
		if (!svc2_transfer_may_resume(sp, call, pages - counted))
			return -ENOMEM;
		svc2_transfer_account(sp, pages - counted);
	}
	call->sm_charged -= counted;
	call->sm_reply_pages = 0;
	if (counted <= pages + SVC2_REPLY_FEW)
		return max(pages, counted);
	svc2_transfer_uncharge(sp, counted - pages);
	return pages;
}

/**
 * svc2_transfer_untake - return the pages of a Reply that was not posted
 * @sp: connection
 * @call: its Call; gets the pages back, perhaps for another Reply
 * @pages: number of counted pages
 *
 * Context: svc thread.
 */
void svc2_transfer_untake(struct svc2_xprt *sp, struct svc2_msg *call,
			  unsigned int pages)
{
	guard(spinlock)(&transfer_lock);
	call->sm_charged += pages;
	call->sm_reply_pages += pages;
}

/**
 * svc2_transfer_give - return counted pages to the quota
 * @sp: connection
 * @pages: number of counted pages, of a Call or of a Reply
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_transfer_give(struct svc2_xprt *sp, unsigned int pages)
{
	if (!pages)
		return;
	guard(spinlock)(&transfer_lock);
	svc2_transfer_uncharge(sp, pages);
}

/**
 * svc2_transfer_leave - give back the pages that a Call still has
 * @sp: connection
 * @call: Call
 *
 * Context: as svc2_msg_put().
 */
void svc2_transfer_leave(struct svc2_xprt *sp, struct svc2_msg *call)
{
	if (!call->sm_charged && !call->sm_thread)
		return;
	guard(spinlock)(&transfer_lock);
	if (call->sm_thread)
		list_del(&call->sm_wait.wt_list);
	if (call->sm_charged)
		svc2_transfer_uncharge(sp, call->sm_charged);
}

/**
 * svc2_transfer_has_room - check whether a connection is within its quota
 * @sp: connection
 */
bool svc2_transfer_has_room(const struct svc2_xprt *sp)
{
	return likely(!READ_ONCE(sp->sp_transfer.tr_pages)) ||
	       svc2_transfer_may_take(sp, 0);
}

/**
 * svc2_transfer_wait - queue a connection until it is within its quota
 * @sp: connection; SVC2_F_THROTTLED is set
 *
 * The caller checks again afterwards, and has passed a full barrier since it
 * set that flag. svc2_transfer_serve_connection() may get here with the lock
 * held, when it queues its connection for a thread: this connection has room or
 * waits already, so the lock is not taken again.
 */
void svc2_transfer_wait(struct svc2_xprt *sp)
{
	if (svc2_transfer_has_room(sp) ||
	    !list_empty_careful(&sp->sp_transfer.tr_waiting))
		return;
	guard(spinlock)(&transfer_lock);
	svc2_transfer_join(sp);
}

/**
 * svc2_transfer_flush - remove the Calls that wait
 * @sp: connection that no thread uses any longer
 * @line: where to put them, as struct svc2_waiter
 *
 * Context: ->xpo_free.
 */
void svc2_transfer_flush(struct svc2_xprt *sp, struct list_head *line)
{
	guard(spinlock)(&transfer_lock);
	list_splice_tail_init(&sp->sp_transfer.tr_line, line);
	svc2_transfer_unqueue(sp);
	/* other connections may wait because it was starved */
	svc2_transfer_serve_all();
}

/**
 * svc2_transfer_show - show the memory of payload, in total and by address
 * @seq: destination
 */
void svc2_transfer_show(struct seq_file *seq)
{
	struct svc2_address *ad;

	guard(spinlock)(&transfer_lock);
	seq_printf(seq, "bytes %lu\nmost %lu\npeak %lu\n", used << PAGE_SHIFT,
		   most << PAGE_SHIFT, peak << PAGE_SHIFT);
	seq_printf(seq, "connections %u most %u\n", conns,
		   svc2_transfer_max_conns());
	list_for_each_entry(ad, &addresses, ad_list)
		seq_printf(seq, "address %pISc connections %u bytes %lu\n",
			   &ad->ad_addr, ad->ad_conns,
			   ad->ad_pages << PAGE_SHIFT);
}
