// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of connections: wakeup of threads, the address by which a peer is
 * counted, quotas for payload, wait queues for scarce resources, and the
 * entries of the Send Queue
 */
#include <linux/highmem.h>
#include <linux/seq_file.h>

#include <linux/sunrpc/addr.h>

#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "svcrdma2.h"

/**
 * svc2_msg_ready - queue a Call for a thread that goes on with it
 * @sp: its connection
 * @call: Call; no longer the caller's (R2)
 *
 * Context: any task, send CQ.
 */
void svc2_msg_ready(struct svc2_xprt *sp, struct svc2_msg *call)
{
	struct list_head *queue = svc2_msg_is_read(call) ? &sp->sp_ready_q :
							   &sp->sp_start_q;

	spin_lock(&sp->sp_recv_lock);
	list_add_tail(&call->sm_wait.wt_list, queue);
	/* pairs with svc2_recv_take_next() */
	smp_mb__before_atomic();
	set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	/*
	 * Pairs with smp_mb__after_atomic() in svc2_has_wspace(): a thread that
	 * releases the connection clears XPT_BUSY before that barrier and reads
	 * both queues behind it. Either it finds the Call, or
	 * svc_xprt_enqueue() below finds XPT_BUSY clear.
	 */
	smp_mb__after_atomic();
	spin_unlock(&sp->sp_recv_lock);
	svc_xprt_enqueue(&sp->sp_xprt);
}

/**
 * svc2_shortage_begin - note that a Call has met a shortage
 * @sp: its connection
 *
 * Return: true if the caller retries, until svc2_shortage_end(); false if
 * another thread already does.
 */
bool svc2_shortage_begin(struct svc2_xprt *sp)
{
	bool begins;

	guard(spinlock)(&sp->sp_recv_lock);
	begins = !sp->sp_shortage;
	sp->sp_shortage = true;
	return begins;
}

/**
 * svc2_shortage_queue - queue a Call until the waiting thread goes on
 * @sp: its connection
 * @call: Call whose RDMA Reads have not begun; no longer the caller's (R2)
 */
void svc2_shortage_queue(struct svc2_xprt *sp, struct svc2_msg *call)
{
	svc2_count(shortages);
	scoped_guard(spinlock, &sp->sp_recv_lock) {
		if (sp->sp_shortage) {
			list_add_tail(&call->sm_wait.wt_list, &sp->sp_short_q);
			return;
		}
	}
	/* the shortage has just passed */
	svc2_msg_ready(sp, call);
}

/**
 * svc2_shortage_end - end a shortage that has passed, or lasted too long
 * @sp: connection for which svc2_shortage_begin() chose this thread
 */
void svc2_shortage_end(struct svc2_xprt *sp)
{
	spin_lock(&sp->sp_recv_lock);
	sp->sp_shortage = false;
	list_splice_tail_init(&sp->sp_short_q, &sp->sp_start_q);
	/* pairs with svc2_recv_take_next() */
	smp_mb__before_atomic();
	if (!list_empty(&sp->sp_start_q))
		set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	/* a full barrier, as in svc2_msg_ready(): set_bit() may have been skipped */
	smp_mb();
	spin_unlock(&sp->sp_recv_lock);
	svc_xprt_enqueue(&sp->sp_xprt);
}

/**
 * svc2_shortage_retry - decide whether to retry after a failed attempt
 * @sp: connection; closed when the shortage lasts
 * @tries: number of retries so far; 0 before the first call
 * @ret: result of the last attempt; -ENOTCONN when the connection is lost
 *
 * C-093: a transient shortage never becomes an error, which would end an RPC
 * that is perhaps carried out. After the loss of the connection the requester
 * sends the Call again, and the reply cache answers it.
 *
 * Return: true, after SVC2_SHORTAGE_PAUSE, to try again; otherwise @ret is the
 * final result.
 */
bool svc2_shortage_retry(struct svc2_xprt *sp, unsigned int *tries, int *ret)
{
	if (likely(!svc2_is_shortage(*ret)))
		return false;
	if (!svc_xprt_is_dead(&sp->sp_xprt)) {
		if ((*tries)++ < SVC2_SHORTAGE_TRIES) {
			svc2_count(shortages);
			schedule_timeout_uninterruptible(SVC2_SHORTAGE_PAUSE);
			return true;
		}
		svc2_lose(sp, RPCRDMA2_LOSS_MEMORY);
	}
	*ret = -ENOTCONN;
	return false;
}

/*
 * Queues a connection for which svc2_has_wspace() was false. The caller has
 * given something back, and passed a full barrier since. Any task, send CQ
 */
static void svc2_unthrottle(struct svc2_xprt *sp)
{
	if (test_bit(SVC2_F_THROTTLED, &sp->sp_flags) &&
	    test_and_clear_bit(SVC2_F_THROTTLED, &sp->sp_flags))
		svc_xprt_enqueue(&sp->sp_xprt);
}

DEFINE_MUTEX(svc2_conns_mutex);		/* guards the next */
LIST_HEAD(svc2_conns);

/*
 * A peer is counted by an address that it cannot choose: with iWARP the address
 * of its TCP connection, on a link its LID or MAC, and with RoCE its GID behind
 * a router. "Memory of the server" in Documentation/architecture.rst
 * has the reasons. It has no scope id: the peer chooses the interface.
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

/* The peer's address, its port meaningless. Sleeps, but waits for no host. */
struct sockaddr_storage svc2_address_of(const struct svc2_xprt *sp)
{
	const struct rdma_cm_id *id = sp->sp_conn.co_id;
	struct sockaddr_storage address = *svc2_peer(sp);
	struct sockaddr_in6 *link = (struct sockaddr_in6 *)&address;
	struct sa_path_rec *path = id->route.path_rec;
	struct svc2_route rt = { };
	u8 lmc;

	if (!path || !rdma_ib_or_roce(id->device, id->port_num))
		return address;
	if (!sa_path_is_roce(path)) {
		/* of this port: a subnet usually has one for all ports of hosts */
		if (ib_get_cached_lmc(id->device, id->port_num, &lmc))
			lmc = 0;
		*link = svc2_lid_address(be32_to_cpu(sa_path_get_dlid(path)), lmc);
		return address;
	}
	memcpy(rt.mac, sa_path_get_dmac(path), ETH_ALEN);
	svc2_find_route(id, path, &rt);
	if (svc2_gid_counts(&rt))
		rdma_gid2ip((struct sockaddr *)&address, &path->dgid);
	else
		*link = svc2_link_address(rt.mac);
	return address;
}

/*
 * Quotas for payload, pages that RDMA Reads fill, or RDMA Writes and Sends
 * read: "Memory of the server" in Documentation/architecture.rst.
 *
 * A Call gets all pages at once, for its Read chunks and for its Reply, before
 * any other resource that another Call can wait for: so a holder of pages never
 * waits for pages. The other resources come back from Calls that wait for no
 * pages, or the connection is lost (SVC2_CHAIN_TIMEOUT).
 *
 * A connection that holds no pages and waits is starved: until it has its pages
 * only small requests bypass it (svc2_pages_is_small()), and released pages
 * are kept for it.
 */

/*
 * Guards the addresses, the waiters of every svc2_address and svc2_quota, and
 * the variables below where they do not say otherwise. sp_recv_lock and locks
 * of the RPC layer are taken under it, never the other way round. While no Call
 * waits, Calls take and return pages without it.
 */
static DEFINE_SPINLOCK(svc2_pages_lock);
static LIST_HEAD(svc2_addresses);
/* the address whose turn it is comes first; see ad_waiting */
static LIST_HEAD(svc2_addresses_waiting);
unsigned int svc2_addresses_conns;
/* limit on the pages of all connections */
static long svc2_pages_most;
/*
 * Calls in qu_calls of all connections, and one that looks whether it must
 * wait; also read without the lock
 */
static unsigned long svc2_pages_waiters;
/*
 * Perhaps a connection with pages waits for the quota: its Calls do, or it is
 * throttled. Also set without the lock
 */
static bool svc2_pages_short;
/* pages of all connections, and their maximum so far; changed without the lock */
static atomic_long_t svc2_pages_used ____cacheline_aligned_in_smp;
static atomic_long_t svc2_pages_peak;

/* Whether a connection may have @more pages; @own of its pages do not count */
static bool svc2_pages_allowed(const struct svc2_xprt *sp, long own, long more)
{
	const struct svc2_quota *qu = &sp->sp_quota;

	return svc2_pages_quota_allows(READ_ONCE(svc2_pages_most),
				       atomic_long_read(&svc2_pages_used) - own,
				       atomic_long_read(&qu->qu_address->ad_pages) - own,
				       atomic_long_read(&qu->qu_pages) - own, more);
}

static void svc2_pages_account(struct svc2_xprt *sp, long pages)
{
	struct svc2_quota *qu = &sp->sp_quota;

	atomic_long_add(pages, &svc2_pages_used);
	atomic_long_add(pages, &qu->qu_address->ad_pages);
	atomic_long_add(pages, &qu->qu_pages);
}

/* Notes the maximum after a Call, or its Reply, has got pages. */
static void svc2_pages_note_peak(void)
{
	long used = atomic_long_read(&svc2_pages_used);
	long peak = atomic_long_read(&svc2_pages_peak);

	while (unlikely(used > peak) &&
	       !atomic_long_try_cmpxchg(&svc2_pages_peak, &peak, used))
		;
}

/* A Call waits, or is about to look whether it must. */
static void svc2_pages_wait_begins(void)
{
	lockdep_assert_held(&svc2_pages_lock);
	WRITE_ONCE(svc2_pages_waiters, svc2_pages_waiters + 1);
	/*
	 * Pairs with svc2_pages_try() and svc2_pages_serve(): either they find
	 * the waiter, or the waiter finds what they have taken or returned.
	 */
	smp_mb();
}

/* Calls have their pages, or will not take any. */
static void svc2_pages_wait_ends(unsigned long calls)
{
	lockdep_assert_held(&svc2_pages_lock);
	/* pairs with svc2_pages_try(), whose look includes their pages then */
	smp_store_release(&svc2_pages_waiters, svc2_pages_waiters - calls);
}

static struct svc2_waiter *svc2_pages_first_waiter(struct svc2_xprt *sp)
{
	return list_first_entry_or_null(&sp->sp_quota.qu_calls,
					struct svc2_waiter, wt_list);
}

static void svc2_pages_wake_call(struct svc2_xprt *sp, struct svc2_waiter *wt)
{
	list_del(&wt->wt_list);
	svc2_pages_account(sp, wt->wt_units);
	svc2_pages_note_peak();
	svc2_pages_wait_ends(1);
	wt->wt_call->sm_charged = wt->wt_units;
	svc2_msg_ready(sp, wt->wt_call);
}

/* True if a starved connection comes before @more pages for @sp */
static bool svc2_pages_must_wait(const struct svc2_xprt *sp, long more)
{
	const struct svc2_address *ad = sp->sp_quota.qu_address;
	long own = atomic_long_read(&sp->sp_quota.qu_pages);

	return (!list_empty(&svc2_addresses_waiting) &&
		!svc2_pages_is_small(svc2_pages_most, svc2_addresses_conns, own,
				     more)) ||
	       (!list_empty(&ad->ad_starved) &&
		!svc2_pages_is_small(svc2_pages_most, ad->ad_conns, own, more));
}

/*
 * Take lost connections off the list: svc2_calls_flush() frees their Calls. Return:
 * the starved connection of an address whose turn it is, or NULL if there is
 * none, or it waits for others of the address.
 */
static struct svc2_xprt *svc2_pages_next_starved(struct svc2_address *ad)
{
	long left = svc2_pages_most / 2 - atomic_long_read(&ad->ad_pages);
	struct svc2_xprt *sp;

	while ((sp = list_first_entry_or_null(&ad->ad_starved, struct svc2_xprt,
					      sp_quota.qu_starved)) &&
	       rpcrdma2_conn_is_lost(&sp->sp_conn))
		list_del_init(&sp->sp_quota.qu_starved);
	return sp && (long)svc2_pages_first_waiter(sp)->wt_units <= left ? sp :
									   NULL;
}

/* Delay of svc2_pages_work, which looks at all connections */
#define SERVE_DELAY	(HZ / 50)

/*
 * Serves the connections that wait with pages, in work: the time of a return
 * does not depend on their number, and many returns need one search.
 */
static void svc2_pages_serve_later(void)
{
	if (unlikely(READ_ONCE(svc2_pages_short)))
		queue_delayed_work(svc2_wq, &svc2_pages_work, SERVE_DELAY);
}

/* Gives starved connections their pages in turn, after a change at @ad. */
static void svc2_pages_wake_starved(struct svc2_address *ad)
{
	struct svc2_waiter *wt;
	struct svc2_xprt *sp;

	lockdep_assert_held(&svc2_pages_lock);
	for (;;) {
		if (list_empty(&ad->ad_waiting) && svc2_pages_next_starved(ad))
			list_add_tail(&ad->ad_waiting, &svc2_addresses_waiting);
		ad = list_first_entry_or_null(&svc2_addresses_waiting,
					      struct svc2_address, ad_waiting);
		if (!ad)
			return;
		sp = svc2_pages_next_starved(ad);
		wt = sp ? svc2_pages_first_waiter(sp) : NULL;
		if (wt && (long)wt->wt_units >
			  svc2_pages_most - atomic_long_read(&svc2_pages_used))
			return;
		list_del_init(&ad->ad_waiting);
		if (!wt)
			continue;
		list_del_init(&sp->sp_quota.qu_starved);
		svc2_pages_wake_call(sp, wt);
		/* its other Calls wait with pages now */
		if (svc2_pages_first_waiter(sp)) {
			WRITE_ONCE(svc2_pages_short, true);
			svc2_pages_serve_later();
		}
	}
}

/*
 * Gives the Calls of a connection their pages, unless it waits for its turn. If
 * it has no pages then, it is starved.
 */
static void svc2_pages_wake_calls(struct svc2_xprt *sp)
{
	struct svc2_quota *qu = &sp->sp_quota;
	struct svc2_waiter *wt;

	if (!list_empty(&qu->qu_starved) ||
	    rpcrdma2_conn_is_lost(&sp->sp_conn))
		return;
	while ((wt = svc2_pages_first_waiter(sp)) &&
	       !svc2_pages_must_wait(sp, wt->wt_units) &&
	       svc2_pages_allowed(sp, 0, wt->wt_units))
		svc2_pages_wake_call(sp, wt);
	if (!wt)
		return;
	if (atomic_long_read(&qu->qu_pages)) {
		WRITE_ONCE(svc2_pages_short, true);
		return;
	}
	list_add_tail(&qu->qu_starved, &qu->qu_address->ad_starved);
	svc2_pages_wake_starved(qu->qu_address);
}

/* After it has returned false, returned pages lead to svc2_pages_serve_all(). */
static bool svc2_pages_in_quota(const struct svc2_xprt *sp)
{
	if (likely(!atomic_long_read(&sp->sp_quota.qu_pages)) ||
	    svc2_pages_allowed(sp, 0, 0))
		return true;
	if (!READ_ONCE(svc2_pages_short))
		WRITE_ONCE(svc2_pages_short, true);
	smp_mb();	/* pairs with svc2_pages_serve() */
	return svc2_pages_allowed(sp, 0, 0);
}

/*
 * Serves what waits on a connection, and the starved ones, after a change of
 * the pages in use or of their limit.
 */
static void svc2_pages_serve(struct svc2_xprt *sp)
{
	/*
	 * Pairs with svc2_pages_wait_begins(), svc2_has_wspace() and
	 * svc2_pages_in_quota()
	 */
	smp_mb();
	if (unlikely(READ_ONCE(svc2_pages_waiters))) {
		guard(spinlock)(&svc2_pages_lock);
		svc2_pages_wake_starved(sp->sp_quota.qu_address);
		svc2_pages_wake_calls(sp);
	}
	if (unlikely(test_bit(SVC2_F_THROTTLED, &sp->sp_flags)) &&
	    svc2_pages_in_quota(sp))
		svc2_unthrottle(sp);
}

/*
 * Serves all connections: pages that one has returned may suffice for another,
 * which itself may return none for a long time.
 */
static void svc2_pages_serve_all(void)
{
	struct svc2_xprt *sp;

	guard(mutex)(&svc2_conns_mutex);
	/* before the barrier in svc2_pages_serve() */
	WRITE_ONCE(svc2_pages_short, false);
	list_for_each_entry(sp, &svc2_conns, sp_listed)
		svc2_pages_serve(sp);
	/* another is the first to get pages the next time */
	list_rotate_left(&svc2_conns);
}

static void svc2_pages_returned(struct work_struct *work)
{
	svc2_pages_serve_all();
}

DECLARE_DELAYED_WORK(svc2_pages_work, svc2_pages_returned);

/**
 * svc2_low_pages - return the pages of memory without high memory
 *
 * All that the server allocates is in low memory, which on 32 bits is a part.
 *
 * Context: any.
 */
unsigned long svc2_low_pages(void)
{
	return totalram_pages() - totalhigh_pages();
}

/**
 * svc2_memory_default - compute a sixteenth of the memory, in KiB
 *
 * Context: any.
 */
unsigned int svc2_memory_default(void)
{
	return min_t(unsigned long, svc2_low_pages() / 16,
		     UINT_MAX >> (PAGE_SHIFT - 10)) << (PAGE_SHIFT - 10);
}

/*
 * Memory of a connection beside Receives and counted payload, by default: send
 * contexts, a part of a buffer and less than 2 KiB each, two for a callback
 * (svc2_backward_contexts()), further parts of their buffers, and the pages of
 * shorter Replies
 */
#define CONN_BYTES							\
	((1UL * SVC2_CREDITS_DEFAULT + SVC2_TX_RESERVE +		\
	  SVC2_SIGNAL_BATCH + 2 * SVC2_BACKWARD_CREDITS) * (SVC2_TX_BUFSIZE + 2048) + \
	 SVC2_TX_EXTRA_PARTS * SVC2_TX_BUFSIZE +			\
	 (SVC2_REPLIES_FEW + SVC2_SIGNAL_BATCH) * SVC2_REPLY_FEW * PAGE_SIZE)

/* Memory for each connection: all of them together have a quarter of it */
#define CONN_MIB	DIV_ROUND_UP(4 * CONN_BYTES, 1UL << 20)

/**
 * svc2_connections_default - compute the number for the existing memory
 *
 * Context: any, even under svc2_pages_lock.
 */
unsigned int svc2_connections_default(void)
{
	unsigned long mib = svc2_low_pages() >> (20 - PAGE_SHIFT);

	return max_t(unsigned long, mib / CONN_MIB, SVC2_CONNS_MIN);
}

/**
 * svc2_pages_set - apply transfer_memory; starved connections may get pages
 *
 * Context: module init, write of the parameter; may sleep.
 */
void svc2_pages_set(void)
{
	unsigned long kib = rpcrdma2_param(&svc2_transfer_memory);

	scoped_guard(spinlock, &svc2_pages_lock)
		WRITE_ONCE(svc2_pages_most,
			   max_t(long, kib >> (PAGE_SHIFT - 10), SVC2_PAGES_MIN));
	svc2_pages_serve_all();
}

static struct svc2_address *svc2_address_find(const struct sockaddr *sa)
{
	struct svc2_address *ad;

	lockdep_assert_held(&svc2_pages_lock);
	list_for_each_entry(ad, &svc2_addresses, ad_list)
		if (rpc_cmp_addr((struct sockaddr *)&ad->ad_addr, sa))
			return ad;
	return NULL;
}

/* Return: 0, -ENFILE, or -EUSERS when @ad has too many; it may be NULL. */
static int svc2_address_may_connect(const struct svc2_address *ad)
{
	unsigned int all = rpcrdma2_param(&svc2_connections);

	lockdep_assert_held(&svc2_pages_lock);
	if (ad && ad->ad_conns >= min(rpcrdma2_param(&svc2_address_connections),
				      all - all / 2))
		return -EUSERS;
	return svc2_addresses_conns < all ? 0 : -ENFILE;
}

/**
 * svc2_address_get - count a connection for its address
 * @sp: connection; initializes its quota
 *
 * Return: 0; -EUSERS at the limit of the address; -ENFILE at the limit of all
 * connections; or -ENOMEM.
 */
int svc2_address_get(struct svc2_xprt *sp)
{
	struct svc2_quota *qu = &sp->sp_quota;
	struct svc2_address *new, *ad;
	int ret;

	INIT_LIST_HEAD(&qu->qu_calls);
	INIT_LIST_HEAD(&qu->qu_starved);
	INIT_LIST_HEAD(&qu->qu_gss);
	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	new->ad_addr = svc2_address_of(sp);
	INIT_LIST_HEAD(&new->ad_starved);
	INIT_LIST_HEAD(&new->ad_waiting);

	scoped_guard(spinlock, &svc2_pages_lock) {
		ad = svc2_address_find((struct sockaddr *)&new->ad_addr);
		ret = svc2_address_may_connect(ad);
		if (ret)
			break;
		if (!ad) {
			ad = new;
			list_add(&ad->ad_list, &svc2_addresses);
		}
		ad->ad_conns++;
		WRITE_ONCE(svc2_addresses_conns, svc2_addresses_conns + 1);
		qu->qu_address = ad;
	}
	if (ad != new)
		kfree(new);
	return ret;
}

/**
 * svc2_address_put - undo svc2_address_get(), if it was called
 * @sp: connection without any payload
 *
 * Context: ->xpo_free.
 */
void svc2_address_put(struct svc2_xprt *sp)
{
	struct svc2_address *ad = sp->sp_quota.qu_address;

	if (!ad)
		return;
	WARN_ON_ONCE(atomic_long_read(&sp->sp_quota.qu_pages) ||
		     !list_empty(&sp->sp_quota.qu_starved) ||
		     !list_empty(&sp->sp_quota.qu_gss));
	scoped_guard(spinlock, &svc2_pages_lock) {
		WRITE_ONCE(svc2_addresses_conns, svc2_addresses_conns - 1);
		if (--ad->ad_conns)
			return;
		list_del(&ad->ad_list);
	}
	WARN_ON_ONCE(!list_empty(&ad->ad_waiting));
	kfree(ad);
}

/**
 * svc2_pages_give - return counted pages to the quota
 * @sp: connection
 * @pages: number, of a Call or of a Reply
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_pages_give(struct svc2_xprt *sp, unsigned int pages)
{
	if (!pages)
		return;
	svc2_pages_account(sp, -(long)pages);
	svc2_pages_serve(sp);
	svc2_pages_serve_later();
}

/*
 * Counts pages without the lock, unless a Call waits. The second look is for
 * others that count theirs at the same time: of two Calls that together exceed a
 * quota, at most one gets its pages here. A refused Call looks again, under the
 * lock.
 */
static bool svc2_pages_try(struct svc2_xprt *sp, unsigned int pages)
{
	if (unlikely(READ_ONCE(svc2_pages_waiters) ||
		     !svc2_pages_allowed(sp, 0, pages)))
		return false;
	svc2_pages_account(sp, pages);
	/* pairs with svc2_pages_wait_begins() */
	smp_mb__after_atomic();
	/*
	 * Pairs with svc2_pages_wait_ends(): the look includes the pages of
	 * Calls that no longer wait.
	 */
	if (likely(!smp_load_acquire(&svc2_pages_waiters) &&
		   svc2_pages_allowed(sp, pages, pages)))
		return true;
	svc2_pages_give(sp, pages);
	return false;
}

/**
 * svc2_pages_reserve - count pages for a Call and its Reply, or queue the Call
 * @sp: connection
 * @call: Call; sets sm_charged
 * @pages: number, sm_reply_pages included; less than half of SVC2_PAGES_MIN, so
 *	that the half of an address has room for it
 *
 * Return: 0; -EINPROGRESS when it waits, and belongs to the queue (R2);
 * -ENOTCONN when the connection is lost.
 */
int svc2_pages_reserve(struct svc2_xprt *sp, struct svc2_msg *call,
		       unsigned int pages)
{
	struct svc2_quota *qu = &sp->sp_quota;

	if (unlikely(!svc2_pages_try(sp, pages))) {
		guard(spinlock)(&svc2_pages_lock);
		svc2_pages_wait_begins();
		/* svc2_pages_flush() is behind the loss */
		if (rpcrdma2_conn_is_lost(&sp->sp_conn)) {
			svc2_pages_wait_ends(1);
			return -ENOTCONN;
		}
		if (!list_empty(&qu->qu_calls) ||
		    svc2_pages_must_wait(sp, pages) ||
		    !svc2_pages_allowed(sp, 0, pages)) {
			svc2_count(transfer_waits);
			call->sm_wait = (struct svc2_waiter){
				.wt_units = pages,
				.wt_call  = call,
			};
			list_add_tail(&call->sm_wait.wt_list, &qu->qu_calls);
			svc2_pages_wake_calls(sp);
			return -EINPROGRESS;
		}
		svc2_pages_account(sp, pages);
		svc2_pages_wait_ends(1);
	}
	svc2_pages_note_peak();
	call->sm_charged = pages;
	return 0;
}

/**
 * svc2_pages_untrack - undo svc2_pages_track(), if it was called
 * @sp: its connection
 * @call: Call; from now on sm_charged and sm_reply_pages are the caller's
 *
 * Context: as svc2_msg_put().
 */
void svc2_pages_untrack(struct svc2_xprt *sp, struct svc2_msg *call)
{
	if (likely(!call->sm_thread))
		return;
	guard(spinlock)(&sp->sp_recv_lock);
	list_del_init(&call->sm_wait.wt_list);
	call->sm_thread = NULL;
}

/**
 * svc2_pages_take - count the pages of a Reply
 * @sp: connection
 * @call: its Call; sm_reply_pages are the Reply's now
 * @pages: pages that it has; if the Call allows many more, these come back
 *
 * Return: number of counted pages, for svc2_pages_give().
 */
unsigned int svc2_pages_take(struct svc2_xprt *sp, struct svc2_msg *call,
			     unsigned int pages)
{
	unsigned int counted;

	svc2_pages_untrack(sp, call);
	counted = call->sm_reply_pages;
	call->sm_charged -= counted;
	call->sm_reply_pages = 0;
	if (likely(pages <= counted && counted <= pages + SVC2_REPLY_SURPLUS))
		return counted;
	if (pages > counted) {
		svc2_pages_account(sp, pages - counted);
		svc2_pages_note_peak();
	} else {
		svc2_pages_give(sp, counted - pages);
	}
	return pages;
}

/**
 * svc2_pages_track - note that this thread processes a Call of RPCSEC_GSS
 * @sp: its connection
 * @call: Call with counted pages
 */
void svc2_pages_track(struct svc2_xprt *sp, struct svc2_msg *call)
{
	call->sm_thread = current;
	guard(spinlock)(&sp->sp_recv_lock);
	list_add(&call->sm_wait.wt_list, &sp->sp_quota.qu_gss);
}

/**
 * svc2_pages_deferred - end the connection if this thread's Call was deferred
 * @sp: connection; the thread has finished its work, and has no Call
 *
 * S46: the upcall may take minutes, and svc2_deliver() could not prevent it. So
 * the count comes back here, and the requester sends the Call again on another
 * connection. Another thread may have resumed the Call by now. If its Reply
 * exists, svc2_pages_take() has taken the Call off the list; otherwise the Reply
 * is counted later. The data of its Read chunks, 64 KiB at most where decryption
 * left none in pages, stays until the upcall is over, for each of the 300 Calls
 * that the RPC layer defers.
 */
void svc2_pages_deferred(struct svc2_xprt *sp)
{
	struct svc2_msg *call;
	unsigned int pages = 0;

	if (likely(list_empty(&sp->sp_quota.qu_gss)))
		return;
	scoped_guard(spinlock, &sp->sp_recv_lock) {
		list_for_each_entry(call, &sp->sp_quota.qu_gss,
				    sm_wait.wt_list) {
			if (call->sm_thread != current)
				continue;
			list_del_init(&call->sm_wait.wt_list);
			pages = call->sm_charged;	/* not 0: svc2_deliver() */
			call->sm_charged = 0;
			call->sm_reply_pages = 0;
			break;
		}
	}
	if (!pages)
		return;
	svc2_pages_give(sp, pages);
	svc2_lose(sp, RPCRDMA2_LOSS_REPLY);
}

/**
 * svc2_pages_flush - remove the Calls that wait for pages
 * @sp: connection whose messages no thread takes up any longer
 * @calls: list that gets them, by sm_wait
 *
 * Context: ->xpo_detach, ->xpo_free.
 */
void svc2_pages_flush(struct svc2_xprt *sp, struct list_head *calls)
{
	struct svc2_address *ad = sp->sp_quota.qu_address;

	guard(spinlock)(&svc2_pages_lock);
	svc2_pages_wait_ends(list_count_nodes(&sp->sp_quota.qu_calls));
	list_splice_tail_init(&sp->sp_quota.qu_calls, calls);
	list_del_init(&sp->sp_quota.qu_starved);
	if (list_empty(&ad->ad_starved))
		list_del_init(&ad->ad_waiting);
	/* other connections may wait because it was starved */
	svc2_pages_wake_starved(ad);
	svc2_pages_serve_later();
}

/**
 * svc2_pages_show - show the memory of payload, in total and by address
 * @seq: file in debugfs
 * @unused: unused
 *
 * Return: 0.
 */
int svc2_pages_show(struct seq_file *seq, void *unused)
{
	struct svc2_address *ad;

	guard(spinlock)(&svc2_pages_lock);
	seq_printf(seq, "bytes %llu\nmost %llu\npeak %llu\n",
		   (u64)atomic_long_read(&svc2_pages_used) << PAGE_SHIFT,
		   (u64)svc2_pages_most << PAGE_SHIFT,
		   (u64)atomic_long_read(&svc2_pages_peak) << PAGE_SHIFT);
	seq_printf(seq, "connections %u most %u\n", svc2_addresses_conns,
		   rpcrdma2_param(&svc2_connections));
	list_for_each_entry(ad, &svc2_addresses, ad_list)
		seq_printf(seq, "address %pISc connections %u bytes %llu\n",
			   &ad->ad_addr, ad->ad_conns,
			   (u64)atomic_long_read(&ad->ad_pages) << PAGE_SHIFT);
	return 0;
}

/*
 * Semaphores: FIFO wait queues for a connection's scarce resources, which are
 * Send Queue entries, send contexts and memory regions.
 *
 * A Call waits without a thread, for its RDMA Reads or before it is carried
 * out; a thread waits in front of the Calls. While there are waiters only
 * single Sends and the work requests of callbacks may bypass them, and no
 * messages are taken up except those that the waiters may wait for
 * (svc2_may_receive()). So small chains do not starve a large one.
 *
 * Completions serve the queue, and need no resource that a waiter holds. So
 * there is always progress while the connection lives. When it is lost the
 * threads are woken, and leave; svc2_calls_flush() frees the Calls.
 *
 * Threads wait for Send Queue entries with a Reply that takes more than its
 * chunk list allows for, or was planned again (C-034); with LOCAL_INVs for a
 * callback; and with a single Send where the device's queues are too small for
 * all. "The server's path" in architecture.rst lists all waits of a thread.
 */

/**
 * svc2_sem_init - initialize a semaphore
 * @sem: semaphore
 * @units: its units, or NULL when it has units of its own, none so far
 * @counter: enum svc2_counter of the waits
 *
 * Context: CM handler.
 */
void svc2_sem_init(struct svc2_sem *sem, struct rpcrdma2_units *units,
		   unsigned int counter)
{
	sem->se_units = units ?: &sem->se_own;
	spin_lock_init(&sem->se_lock);
	INIT_LIST_HEAD(&sem->se_waiters);
	sem->se_counter = counter;
}

/**
 * svc2_sem_open - set the number of units, before the first is taken
 * @sem: semaphore with units of its own
 * @units: number
 */
void svc2_sem_open(struct svc2_sem *sem, unsigned int units)
{
	atomic_set(&sem->se_own.un_free, units);
	sem->se_total = units;
}

/**
 * svc2_sem_is_whole - check whether all units are back (R5), and none waits
 * @sem: semaphore with units of its own, opened or not
 *
 * Context: ->xpo_free.
 */
bool svc2_sem_is_whole(const struct svc2_sem *sem)
{
	return atomic_read(&sem->se_own.un_free) == (int)sem->se_total &&
	       list_empty(&sem->se_waiters);
}

static void svc2_sem_wake_locked(struct svc2_xprt *sp, struct svc2_sem *sem)
{
	struct svc2_waiter *wt;
	struct svc2_msg *call;
	bool wake = false;

	lockdep_assert_held(&sem->se_lock);
	while ((wt = list_first_entry_or_null(&sem->se_waiters,
					      struct svc2_waiter, wt_list)) &&
	       rpcrdma2_units_take(sem->se_units, wt->wt_units, wt->wt_spare)) {
		call = wt->wt_call;
		if (call)
			*wt->wt_held = wt->wt_units;
		/* pairs with svc2_sem_is_granted() */
		list_del_init_careful(&wt->wt_list);
		if (call)
			svc2_msg_ready(sp, call);
		else
			wake = true;
	}
	if (wake)
		wake_up_all(&sp->sp_waitq);
}

/* Called when the queue may be empty now, or a Call may have its units. */
static void svc2_sem_unthrottle(struct svc2_xprt *sp)
{
	/* pairs with the barrier in svc2_has_wspace() */
	smp_mb();
	svc2_unthrottle(sp);
}

static bool svc2_sem_is_granted(struct svc2_waiter *wt)
{
	return list_empty_careful(&wt->wt_list);
}

/* Sleeps until @wt has its units, the connection is lost or the time is over */
static void svc2_sem_sleep(struct svc2_xprt *sp, struct svc2_waiter *wt)
{
	wait_event_timeout(sp->sp_waitq, svc2_sem_is_granted(wt) ||
			   rpcrdma2_conn_is_lost(&sp->sp_conn),
			   SVC2_STALL_TIMEOUT);
}

/*
 * A thread joins in front of the Calls: these leave units for threads, and the
 * peer decides how long they wait. A Call belongs to the queue from now on.
 * Return: 0; -EINPROGRESS if it waits; -ENOTCONN for a Call of a lost connection,
 * behind whose loss is svc2_sem_flush().
 */
static int svc2_sem_join(struct svc2_xprt *sp, struct svc2_sem *sem,
			 struct svc2_waiter *wt)
{
	struct list_head *at = &sem->se_waiters;
	bool is_call = wt->wt_call, granted;

	spin_lock(&sem->se_lock);
	if (is_call && rpcrdma2_conn_is_lost(&sp->sp_conn)) {
		spin_unlock(&sem->se_lock);
		return -ENOTCONN;
	}
	if (!is_call) {
		list_for_each(at, &sem->se_waiters)
			if (list_entry(at, struct svc2_waiter, wt_list)->wt_call)
				break;
	}
	list_add_tail(&wt->wt_list, at);
	/* units that came back before have woken no waiter */
	svc2_sem_wake_locked(sp, sem);
	/* a Call that was the last waiter may be gone */
	granted = is_call ? list_empty(&sem->se_waiters) : svc2_sem_is_granted(wt);
	spin_unlock(&sem->se_lock);
	if (!granted)
		this_cpu_inc(svc2_counters[sem->se_counter]);
	svc2_sem_unthrottle(sp);
	return granted ? 0 : -EINPROGRESS;
}

/* Return: whether it has its units, perhaps at the last moment. */
static bool svc2_sem_leave(struct svc2_xprt *sp, struct svc2_sem *sem,
			   struct svc2_waiter *wt)
{
	bool granted;

	spin_lock(&sem->se_lock);
	granted = svc2_sem_is_granted(wt);
	if (!granted) {
		list_del(&wt->wt_list);
		svc2_sem_wake_locked(sp, sem);
	}
	spin_unlock(&sem->se_lock);
	svc2_sem_unthrottle(sp);
	return granted;
}

static int svc2_sem_take_slow(struct svc2_xprt *sp, struct svc2_sem *sem,
			      unsigned int units, unsigned int spare)
{
	struct svc2_waiter wt = {
		.wt_units = units,
		.wt_spare = spare,
	};

	if (!svc2_sem_join(sp, sem, &wt))
		return 0;
	svc2_sem_sleep(sp, &wt);
	if (svc2_sem_leave(sp, sem, &wt))
		return 0;
	if (!rpcrdma2_conn_is_lost(&sp->sp_conn)) {
		svc2_count(stalls);
		svc2_lose(sp, RPCRDMA2_LOSS_STALLED);
	}
	return -ENOTCONN;
}

/**
 * svc2_sem_take - take units, or wait for them
 * @sp: connection; closed when the wait takes too long
 * @sem: semaphore of it
 * @units: number; @units + @spare is at most the number of all its units
 * @spare: units to leave for single Sends
 *
 * Context: svc thread, RPC task; sleeps.
 * Return: 0 when the units are the caller's; -ENOTCONN: connection lost.
 */
int svc2_sem_take(struct svc2_xprt *sp, struct svc2_sem *sem,
		  unsigned int units, unsigned int spare)
{
	spare += sem->se_units->un_reserved;
	might_sleep();
	if (rpcrdma2_conn_is_lost(&sp->sp_conn))
		return -ENOTCONN;
	if (likely(list_empty(&sem->se_waiters) &&
		   rpcrdma2_units_take(sem->se_units, units, spare)))
		return 0;
	return svc2_sem_take_slow(sp, sem, units, spare);
}

/**
 * svc2_sem_wake - wake waiters, after a taker had found too few units
 * @sp: connection
 * @sem: semaphore of it
 *
 * Context: any task, send CQ.
 */
void svc2_sem_wake(struct svc2_xprt *sp, struct svc2_sem *sem)
{
	spin_lock(&sem->se_lock);
	svc2_sem_wake_locked(sp, sem);
	spin_unlock(&sem->se_lock);
	svc2_sem_unthrottle(sp);
}

/**
 * svc2_sem_give - give units back
 * @sp: connection
 * @sem: semaphore of it, with units of its own
 * @units: number that was taken, or 0
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_sem_give(struct svc2_xprt *sp, struct svc2_sem *sem,
		   unsigned int units)
{
	if (!units)
		return;
	/* has a barrier like the one in svc2_sem_unthrottle() */
	if (rpcrdma2_units_give(&sem->se_own, units))
		svc2_sem_wake(sp, sem);
	else
		svc2_unthrottle(sp);
}

/**
 * svc2_sem_flush - remove the Calls that wait
 * @sem: semaphore
 * @calls: list that gets them, by sm_wait; threads leave by themselves
 *
 * Context: any task, once the connection is lost.
 */
void svc2_sem_flush(struct svc2_sem *sem, struct list_head *calls)
{
	struct svc2_waiter *wt, *next;

	guard(spinlock)(&sem->se_lock);
	list_for_each_entry_safe(wt, next, &sem->se_waiters, wt_list)
		if (wt->wt_call)
			list_move_tail(&wt->wt_list, calls);
}

/**
 * svc2_sem_take_call - take units for a Call, or queue the Call
 * @sp: connection
 * @sem: semaphore of it
 * @call: Call
 * @units: number; with @spare not more than the semaphore has in all
 * @spare: units to leave for single Sends
 * @held: where to store the number of units that @call has
 *
 * Return: 0 when the units are the Call's; -EINPROGRESS when it waits, and
 * belongs to the semaphore (R2), until svc2_msg_ready() queues it with them;
 * -ENOTCONN when the connection is lost.
 */
int svc2_sem_take_call(struct svc2_xprt *sp, struct svc2_sem *sem,
		       struct svc2_msg *call, unsigned int units,
		       unsigned int spare, unsigned int *held)
{
	struct svc2_waiter *wt = &call->sm_wait;

	spare += sem->se_units->un_reserved;
	if (rpcrdma2_conn_is_lost(&sp->sp_conn))
		return -ENOTCONN;
	if (likely(list_empty(&sem->se_waiters) &&
		   rpcrdma2_units_take(sem->se_units, units, spare))) {
		*held = units;
		return 0;
	}
	*wt = (struct svc2_waiter){
		.wt_units = units,
		.wt_spare = spare,
		.wt_call  = call,
		.wt_held  = held,
	};
	/* with its units it waits for a thread */
	return svc2_sem_join(sp, sem, wt) ?: -EINPROGRESS;
}

/*
 * True if there are no waiters, and a send context is left for a further Call
 * besides those that threads process, which xpt_nr_rqsts counts. A posted Reply
 * may count twice, in xpt_nr_rqsts and as a context in use, until its thread
 * releases it; then the RPC layer checks again.
 *
 * Exceptions are Calls that the waiters may wait for: a Call on sp_start_q,
 * whose RDMA Reads can begin; and, if there is a send context, a Call on
 * sp_ready_q, or a Call that was deferred for an upcall.
 */
static bool svc2_may_receive(const struct svc2_xprt *sp)
{
	bool deferred = test_bit(XPT_DEFERRED, &sp->sp_xprt.xpt_flags);
	bool starts = !list_empty(&sp->sp_start_q);

	/* the RPC layer resumes deferred Calls first, which need a context */
	if (starts && likely(!deferred))
		return true;
	if (!list_empty(&sp->sp_tx_sem.se_waiters) ||
	    svc2_sem_avail(&sp->sp_tx_sem) <=
	    atomic_read(&sp->sp_xprt.xpt_nr_rqsts))
		return false;
	if (starts || !list_empty(&sp->sp_ready_q))
		return true;
	if (likely(list_empty(&sp->sp_sq_sem.se_waiters) &&
		   list_empty(&sp->sp_mr_sem.se_waiters)))
		return svc2_pages_in_quota(sp);
	/* whatever the quota: a waiter may hold the pages that exceed it */
	return deferred;
}

/**
 * svc2_has_wspace - implement ->xpo_has_wspace
 * @xprt: connection; svc2_unthrottle() queues it again, or the RPC layer when a
 *	thread is done with a Call
 *
 * Context: any, even atomic.
 * Return: 0 when no thread may take up another message.
 */
int svc2_has_wspace(struct svc_xprt *xprt)
{
	struct svc2_xprt *sp = svc2_from_xprt(xprt);

	if (svc2_may_receive(sp))
		return 1;
	set_bit(SVC2_F_THROTTLED, &sp->sp_flags);
	/* pairs with the barriers before svc2_unthrottle() */
	smp_mb__after_atomic();
	return svc2_may_receive(sp);
}

/*
 * Posting to the Send Queue (rpcrdma2/conn.h), and the limits on its entries.
 *
 * A peer decides when entries come back. A few are reserved for callbacks,
 * whose RPC task cannot wait, and waiters leave one for each send context: a
 * single Send, and its thread, never wait for a peer. A Call that has entries
 * does not wait for pages or memory regions, perhaps for a send context
 * (svc2_may_receive()).
 */

static unsigned int svc2_sq_count_entries(const struct ib_send_wr *wr)
{
	unsigned int wrs, reads = 0, writes = 0;

	if (likely(!wr->next && wr->opcode != IB_WR_RDMA_READ))
		return 1;
	for (wrs = 0; wr; wr = wr->next, wrs++) {
		if (wr->opcode == IB_WR_RDMA_WRITE)
			writes++;
		else if (wr->opcode == IB_WR_RDMA_READ ||
			 wr->opcode == IB_WR_RDMA_READ_WITH_INV)
			reads++;
	}
	svc2_count_add(rdma_reads, reads);
	svc2_count_add(rdma_writes, writes);
	return wrs;
}

/* Most regions of callbacks for which the queue has entries at once */
static unsigned int svc2_sq_live_regions(const struct svc2_xprt *sp)
{
	return max_t(unsigned int, sp->sp_backward_max, SVC2_BACKWARD_REGIONS);
}

/**
 * svc2_sq_backward_wrs - compute the Send Queue entries for callbacks
 * @sp: connection
 *
 * Return: entries for the Sends of posted callbacks, for the same number of new
 * ones meanwhile, and, if they may have chunks, for regions that are registered
 * or invalidated; none for a callback that the peer keeps, and its regions.
 */
unsigned int svc2_sq_backward_wrs(const struct svc2_xprt *sp)
{
	bool chunks = sp->sp_ex.ex_supported.pr_brs == RDMA2_BKREQSUP_GENL;

	return svc2_backward_contexts(sp->sp_backward_max) +
	       (chunks ? 2 * svc2_sq_live_regions(sp) : 0);
}

/*
 * Entries that waiters leave: for single Sends, and for the memory regions of
 * callbacks. The Sends of callbacks have reserved entries.
 */
static unsigned int svc2_sq_left(const struct svc2_xprt *sp)
{
	return sp->sp_sq_spare +
	       2 * min(READ_ONCE(sp->sp_conn.co_regions.rg_num),
		       svc2_sq_live_regions(sp));
}

/*
 * Most Sends that may need an entry soon: one for each send context that is not
 * posted. It is free, or a thread may hold it, or a completion has given back
 * its entry and not yet the context. Callbacks have reserved entries, but
 * regions beyond the limit could take some of these.
 */
static unsigned int svc2_sq_sends(const struct svc2_xprt *sp)
{
	int sends = svc2_sem_avail(&sp->sp_tx_sem);

	/* a context that a thread held is still with the thread, or is posted */
	smp_rmb();
	sends += atomic_read(&sp->sp_xprt.xpt_nr_rqsts) +
		 (int)sp->sp_conn.co_sq.sq_batch;
	sends = clamp(sends, 0, (int)sp->sp_sq_spare);
	if (READ_ONCE(sp->sp_conn.co_regions.rg_num) > svc2_sq_live_regions(sp))
		sends += atomic_read(&sp->sp_backward_free);
	return sends;
}

/*
 * Takes entries for a callback. Its Send may take any entry, as some are
 * reserved for it; REG_MRs and LOCAL_INVs take no entry that a Send may need.
 */
static bool svc2_sq_take_backward(struct svc2_xprt *sp, unsigned int wrs, bool regions)
{
	return rpcrdma2_units_take(&sp->sp_conn.co_sq.sq_units, wrs,
				   regions ? svc2_sq_sends(sp) : 0);
}

/* Entries to take for a Reply before its Call is carried out, or 0 */
static unsigned int svc2_sq_measure(const struct svc2_xprt *sp,
				    const struct svc2_msg *call)
{
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	unsigned int i, segs, chunks = h->h_nwrites + h->h_has_reply;
	u64 pages;

	if (likely(!chunks))
		return 0;
	segs = h->h_has_reply ? h->h_reply.ck_nsegs : 0;
	for (i = 0; i < h->h_nwrites; i++)
		segs += h->h_writes[i].ck_nsegs;
	pages = min_t(u64, DIV_ROUND_UP(call->sm_offered, PAGE_SIZE),
		      svc_serv_maxpages(sp->sp_xprt.xpt_server));
	return min(svc2_reply_wrs(pages, chunks, segs,
				  rpcrdma2_conn_qp(&sp->sp_conn)->max_write_sge),
		   sp->sp_sq_longest - sp->sp_sq_spare);
}

/**
 * svc2_sq_reserve - take entries for the Reply to a Call, or queue the Call
 * @sp: connection
 * @call: Call that is about to go to the RPC layer; sets sm_entries
 *
 * Return: as svc2_sem_take_call().
 */
int svc2_sq_reserve(struct svc2_xprt *sp, struct svc2_msg *call)
{
	unsigned int wrs = svc2_sq_measure(sp, call);

	if (!wrs || call->sm_entries)
		return 0;
	return svc2_sem_take_call(sp, &sp->sp_sq_sem, call, wrs,
				  svc2_sq_left(sp), &call->sm_entries);
}

/*
 * A Reply has its entries, and gives back those it does not take. If it takes
 * more after all, as with registered memory for RDMA Writes, the thread waits
 * without any: no holder of entries waits for others.
 */
static int svc2_sq_take(struct svc2_xprt *sp, unsigned int wrs, unsigned int *held)
{
	unsigned int had = held ? *held : 0;

	if (had) {
		*held = 0;
		if (had != wrs)
			rpcrdma2_sq_give(&sp->sp_conn, had < wrs ? had : had - wrs);
		if (had >= wrs)
			return 0;
	} else if (wrs == 1 &&
		   rpcrdma2_sq_take(&sp->sp_conn, wrs, sp->sp_sq_spare_all)) {
		return 0;
	}
	return svc2_sem_take(sp, &sp->sp_sq_sem, wrs, 0);
}

/**
 * svc2_sq_post - take entries and post a chain
 * @sp: connection
 * @post: its owner's record of it; see rpcrdma2_sq_post()
 * @first: its work requests
 * @backward: it is a callback
 * @held: entries that were taken for it, or more, or NULL; set to 0 unless the
 *	chain is too long
 *
 * Context: svc thread; sleeps while the queue is full, if too few were taken.
 * RPC task with @backward, which does not.
 * Return: 0 when the chain belongs to the Send Queue, perhaps for a short time
 * only; the connection may have been lost. -E2BIG when it is longer than the
 * queue can ever take, -EMSGSIZE when the Send at its end is too large (C-034),
 * -EAGAIN when there is no entry for a callback now, -ENOTCONN when the
 * connection is lost: the chain still is the caller's.
 */
int svc2_sq_post(struct svc2_xprt *sp, struct rpcrdma2_post *post,
		 struct ib_send_wr *first, bool backward, unsigned int *held)
{
	unsigned int wrs = svc2_sq_count_entries(first);
	int ret = 0;

	if (unlikely(wrs > sp->sp_sq_longest))
		return -E2BIG;
	if (backward)
		ret = svc2_sq_take_backward(sp, wrs, wrs > 1) ? 0 : -EAGAIN;
	else
		ret = svc2_sq_take(sp, wrs, held);
	if (ret)
		return ret;
	svc2_count(doorbells);
	return rpcrdma2_sq_post(&sp->sp_conn, post, first);
}

/**
 * svc2_sq_take_invs - take entries for LOCAL_INVs of a callback's regions
 * @sp: connection; closed when there are too few for too long
 * @wrs: number of entries
 *
 * Context, return: as svc2_sem_take().
 */
int svc2_sq_take_invs(struct svc2_xprt *sp, unsigned int wrs)
{
	if (likely(svc2_sq_take_backward(sp, wrs, true)))
		return 0;
	/* Sends complete meanwhile, and are posted again */
	return svc2_sem_take(sp, &sp->sp_sq_sem, wrs, sp->sp_sq_spare);
}

/**
 * svc2_sq_post_reads - take entries for a Call's RDMA Reads, and post them
 * @sp: connection
 * @call: Call with sm_chain and sm_post
 *
 * Return: 0 when the Call belongs to the Send Queue; -EINPROGRESS when it
 * waits, and belongs to the semaphore; -E2BIG and -ENOTCONN as svc2_sq_post().
 */
int svc2_sq_post_reads(struct svc2_xprt *sp, struct svc2_msg *call)
{
	struct ib_send_wr *first = call->sm_chain;
	unsigned int wrs;
	int ret;

	if (!call->sm_entries) {
		wrs = svc2_sq_count_entries(first);
		if (unlikely(wrs > sp->sp_sq_longest - sp->sp_sq_spare))
			return -E2BIG;
		ret = svc2_sem_take_call(sp, &sp->sp_sq_sem, call, wrs,
					 svc2_sq_left(sp), &call->sm_entries);
		if (ret)
			return ret;
	}
	/* The Send Queue takes them over, or gives them back. */
	call->sm_entries = 0;
	call->sm_chain = NULL;
	svc2_count(doorbells);
	return rpcrdma2_sq_post(&sp->sp_conn, &call->sm_post, first);
}
