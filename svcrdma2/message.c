// SPDX-License-Identifier: GPL-2.0
/* Messages: their arrival, their pages, and their life cycle. */
#include <linux/mm.h>
#include <linux/shrinker.h>

#include <net/net_namespace.h>

#include "svcrdma2.h"

/**
 * svc2_received - implement ->received of the connection
 * @co: connection
 * @rv: Receive with a message
 * @wc: its completion
 *
 * Context: receive CQ.
 */
void svc2_received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
		   const struct ib_wc *wc)
{
	struct svc2_xprt *sp = svc2_from_conn(co);

	svc2_count(recv_completions);
	svc2_count_add(recv_bytes, wc->byte_len);
	rv->rv_handle = wc->wc_flags & IB_WC_WITH_INVALIDATE ?
			wc->ex.invalidate_rkey : 0;
#ifdef SVC2_THREADS_POLL
	/* It may have waited for a thread. */
	rv->rv_at = READ_ONCE(sp->sp_event_at);
#else
	rv->rv_at = jiffies;
#endif
	WRITE_ONCE(sp->sp_received, READ_ONCE(sp->sp_received) + 1);
	llist_add(&rv->rv_node, &sp->sp_arrived);
#ifndef SVC2_THREADS_POLL
	set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	svc_xprt_enqueue(&sp->sp_xprt);
#endif
}

/**
 * svc2_arrived - implement ->arrived of the connection
 * @co: connection
 *
 * Context: any, even with interrupts disabled.
 */
void svc2_arrived(struct rpcrdma2_conn *co)
{
	struct svc2_xprt *sp = svc2_from_conn(co);

	/* Since a poll that did not empty the CQ it may have older messages. */
	if (likely(!READ_ONCE(sp->sp_polled)))
		WRITE_ONCE(sp->sp_event_at, jiffies);
	WRITE_ONCE(sp->sp_event, true);
	/* pairs with svc2_recv_take_next() */
	smp_mb__before_atomic();
	set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	svc_xprt_enqueue(&sp->sp_xprt);
}

/*
 * Updates sp_event_at after a poll that began at @at, found @found messages, and
 * causes no event. If the CQ is never empty, all messages behind as many as there
 * are Receives arrived after the mark was set.
 */
static void svc2_recv_date(struct svc2_xprt *sp, unsigned int found,
			   unsigned long at)
{
	if (found < SVC2_POLL_BATCH) {
		sp->sp_mark_left = 0;
		WRITE_ONCE(sp->sp_event_at, at);
		return;
	}
	if (!sp->sp_mark_left) {
		sp->sp_mark_left = svc2_grant_recvs(sp->sp_backward_max,
						    sp->sp_credits);
		sp->sp_mark_at = at;
	}
	sp->sp_mark_left -= min(sp->sp_mark_left, found);
	if (!sp->sp_mark_left)
		WRITE_ONCE(sp->sp_event_at, sp->sp_mark_at);
}

/**
 * svc2_recv_poll - poll the receive CQ, after an event
 * @sp: connection
 *
 * The next event comes when the CQ is empty.
 *
 * Context: svc thread with XPT_BUSY.
 */
void svc2_recv_poll(struct svc2_xprt *sp)
{
	unsigned int before = sp->sp_received;
	unsigned long at = jiffies;

	if (!READ_ONCE(sp->sp_event))
		return;
	WRITE_ONCE(sp->sp_polled, true);
	WRITE_ONCE(sp->sp_event, false);
	/* the request of the next event comes after these */
	smp_mb();
	if (rpcrdma2_recvs_poll(&sp->sp_conn, SVC2_POLL_BATCH)) {
		svc2_recv_date(sp, sp->sp_received - before, at);
		WRITE_ONCE(sp->sp_event, true);
	} else {
		sp->sp_mark_left = 0;
		/* the event of a message before this changes no time */
		WRITE_ONCE(sp->sp_polled, false);
	}
}

/**
 * svc2_recv_sort - move the messages that have arrived to sp_recv_q
 * @sp: connection; no message is on sp_recv_q
 *
 * Context: svc thread with XPT_BUSY, ->xpo_free.
 */
void svc2_recv_sort(struct svc2_xprt *sp)
{
	struct rpcrdma2_recv *rv, *next;

	llist_for_each_entry_safe(rv, next, llist_del_all(&sp->sp_arrived),
				  rv_node)
		list_add(&rv->rv_list, &sp->sp_recv_q);
}

/**
 * svc2_recv_put - put a Receive back
 * @sp: connection it came from
 * @rv: Receive, no longer read
 *
 * It is posted when a full batch is idle: there are enough to spare a batch
 * less one (R6). A thread that puts one back meanwhile waits until all are
 * posted.
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_recv_put(struct svc2_xprt *sp, struct rpcrdma2_recv *rv)
{
	unsigned int n = rpcrdma2_recv_repost(&sp->sp_conn, rv);

	if (!n)
		return;
	svc2_count(recv_doorbells);
	svc2_grant_reposted(sp, n);
}

/*
 * Pages in which RDMA Reads place a Call: the thread's own, which gets new
 * ones. Where the kernel clears these (init_on_alloc), a WRITE of 1 MiB costs
 * 256 cleared pages of 4 KiB. So the pages of a Call stay when it is done, a
 * pool for each processor, for the next Calls, until memory is short. They are
 * not cleared: all bytes in rq_arg come from an RDMA Read or a copy, or are
 * padding that is set.
 */

/* pages of a Call: the least that are kept (16 KiB), and those for 1 MiB */
#define SVC2_KEPT_LEAST	DIV_ROUND_UP(1 << 14, PAGE_SIZE)
#define SVC2_KEPT_CALL	(((1 << 20) >> PAGE_SHIFT) + 4)
/* pages that are moved, or freed by the shrinker, while preemption is off */
#define SVC2_KEPT_BATCH	64

/* The pool of a processor */
struct svc2_page_cache {
	/*
	 * A thread may move to another processor, and reclaim visits all: with
	 * the lock held nothing may allocate memory.
	 */
	spinlock_t		kp_lock;
	struct list_head	kp_pages; /* by lru, the last used one first */
	unsigned int		kp_num;
};

static DEFINE_PER_CPU(struct svc2_page_cache, svc2_page_cache);
static struct shrinker *svc2_shrinker;

/* Shrinker: returns the number of kept pages. Reclaim */
static unsigned long svc2_sinks_count(struct shrinker *shrinker,
				      struct shrink_control *sc)
{
	unsigned long pages = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		pages += READ_ONCE(per_cpu_ptr(&svc2_page_cache, cpu)->kp_num);
	return pages;
}

/* Shrinker: frees kept pages, and returns their number. Reclaim */
static unsigned long svc2_sinks_scan(struct shrinker *shrinker,
				     struct shrink_control *sc)
{
	struct page *page, *next;
	unsigned long freed = 0;
	struct svc2_page_cache *kept;
	LIST_HEAD(old);
	int cpu;

	for_each_possible_cpu(cpu) {
		kept = per_cpu_ptr(&svc2_page_cache, cpu);
		guard(spinlock)(&kept->kp_lock);
		for (; kept->kp_num && freed < sc->nr_to_scan; freed++) {
			list_move(kept->kp_pages.prev, &old);
			kept->kp_num--;
		}
	}
	list_for_each_entry_safe(page, next, &old, lru)
		put_page(page);
	return freed;
}

/**
 * svc2_sinks_init - prepare the pools of kept pages
 *
 * Return: 0 or -ENOMEM.
 */
int svc2_sinks_init(void)
{
	struct svc2_page_cache *kept;
	int cpu;

	for_each_possible_cpu(cpu) {
		kept = per_cpu_ptr(&svc2_page_cache, cpu);
		spin_lock_init(&kept->kp_lock);
		INIT_LIST_HEAD(&kept->kp_pages);
	}
	svc2_shrinker = shrinker_alloc(0, "svcrdma2");
	if (!svc2_shrinker)
		return -ENOMEM;
	svc2_shrinker->count_objects = svc2_sinks_count;
	svc2_shrinker->scan_objects = svc2_sinks_scan;
	svc2_shrinker->batch = SVC2_KEPT_BATCH;
	shrinker_register(svc2_shrinker);
	return 0;
}

/**
 * svc2_sinks_exit - free all kept pages
 */
void svc2_sinks_exit(void)
{
	struct shrink_control some = { .nr_to_scan = SVC2_KEPT_BATCH };

	shrinker_free(svc2_shrinker);
	while (svc2_sinks_scan(NULL, &some))
		cond_resched();
}

/*
 * S46: limit on the pages of a processor: eight Calls of 1 MiB, but on all
 * processors no more than 1/64 of the memory, or one such Call on each
 */
static unsigned int svc2_sinks_most(void)
{
	return clamp_t(unsigned long, svc2_low_pages() / 64 / num_online_cpus(),
		       SVC2_KEPT_CALL, 8 * SVC2_KEPT_CALL);
}

/* False where the kernel clears freed pages: a kept one would not be */
static bool svc2_sinks_is_kept(unsigned int sinks)
{
	return sinks >= SVC2_KEPT_LEAST && !want_init_on_free();
}

/* Moves at most @n kept pages to @pages, mostly in the order of a Call before. */
static unsigned int svc2_sinks_reuse(struct page **pages, unsigned int n)
{
	struct svc2_page_cache *kept = raw_cpu_ptr(&svc2_page_cache);
	unsigned int i = 0, end;

	while (i < n) {
		guard(spinlock)(&kept->kp_lock);
		end = min3(n, i + SVC2_KEPT_BATCH, i + kept->kp_num);
		if (i == end)
			break;
		kept->kp_num -= end - i;
		for (; i < end; i++) {
			pages[i] = list_first_entry(&kept->kp_pages,
						    struct page, lru);
			list_del(&pages[i]->lru);
		}
	}
	return i;
}

/* False if a page is used elsewhere, is on a list of the kernel, or is bad */
static bool svc2_sink_is_fit(struct page *page)
{
	return page_ref_count(page) == 1 && !PageLRU(page) &&
	       !PageHWPoison(page);
}

/* Keeps pages, and returns the index behind them: the others are moved there. */
static unsigned int svc2_sinks_keep(struct page **pages, unsigned int n)
{
	struct svc2_page_cache *kept = raw_cpu_ptr(&svc2_page_cache);
	unsigned int most = svc2_sinks_most(), others = n;
	struct page *page;

	while (n) {
		guard(spinlock)(&kept->kp_lock);
		do {
			page = pages[--n];
			if (kept->kp_num < most && svc2_sink_is_fit(page)) {
				list_add(&page->lru, &kept->kp_pages);
				kept->kp_num++;
			} else {
				pages[--others] = page;
			}
		} while (n % SVC2_KEPT_BATCH);
	}
	return others;
}

/**
 * svc2_sinks_take - get pages for a Call's Read chunks
 * @rqstp: thread; may give pages of its own, and gets new ones later
 * @call: Call; sets sm_pages
 *
 * Return: 0 or -ENOMEM.
 */
int svc2_sinks_take(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	unsigned int have = 0, n = svc2_msg_pages(call);
	struct page **pages;

	pages = kmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	if (svc2_sinks_is_kept(n))
		have = svc2_sinks_reuse(pages, n);
	if (have)
		svc2_count(sinks_reused);
	if (have < n) {
		memcpy(pages + have, rqstp->rq_pages + have,
		       (n - have) * sizeof(*pages));
		memset(rqstp->rq_pages + have, 0, (n - have) * sizeof(*pages));
		rpcrdma2_rqst_call_taken(rqstp, n);
	}
	call->sm_pages = pages;
	return 0;
}

/**
 * svc2_sinks_put - release the pages of a Call, if it has any
 * @call: Call; no RDMA Read fills them, and nothing maps them any longer
 * @keep: other Calls may have them; false in a shortage
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_sinks_put(struct svc2_msg *call, bool keep)
{
	unsigned int others = 0, n = svc2_msg_pages(call);

	if (!call->sm_pages)
		return;
	if (keep && svc2_sinks_is_kept(n))
		others = svc2_sinks_keep(call->sm_pages, n);
	release_pages(call->sm_pages + others, n - others);
	kfree(call->sm_pages);
	call->sm_pages = NULL;
}

/*
 * Pages of the thread for a Reply. nfsd frees them and puts pages of the page
 * cache in their place, and the RPC layer allocates new ones for the next Call.
 * So the Call holds a reference of each page that its Reply may need, and the
 * thread gets them back when the Reply is posted. Their number is that of the
 * chunks in the Call, or that of recent Replies without chunks, which for most
 * Calls is 0.
 */

/* Replies without pages until one page less is held */
#define SVC2_SPARES_PATIENCE	16

static void svc2_spares_hold(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	u32 most = rqstp->rq_server->sv_max_mesg;
	struct page **spares = call->sm_few;
	unsigned int i, n;

	n = DIV_ROUND_UP(READ_ONCE(sp->sp_spares), SVC2_SPARES_PATIENCE);
	n = max_t(unsigned int, n,
		  min_t(u64, call->sm_offered, most) >> PAGE_SHIFT);
	if (likely(!n))
		return;
	if (n > ARRAY_SIZE(call->sm_few))
		spares = kmalloc_array(n, sizeof(*spares), RPCRDMA2_GFP);
	if (!spares)
		return;
	for (i = 0; i < n; i++) {
		spares[i] = rqstp->rq_respages[1 + i];
		get_page(spares[i]);
	}
	call->sm_spares = spares;
	call->sm_nspares = n;
}

/* Notes how many pages a Reply had, without that of its head. */
static void svc2_spares_learn(struct svc2_xprt *sp, const struct svc2_msg *call,
			      unsigned int pages)
{
	unsigned int now = READ_ONCE(sp->sp_spares), next;

	pages = min_t(unsigned int, pages, ARRAY_SIZE(call->sm_few));
	next = max(pages * SVC2_SPARES_PATIENCE, now ? now - 1 : 0);
	if (next != now && !call->sm_offered)
		WRITE_ONCE(sp->sp_spares, next);
}

static void svc2_spares_free(struct svc2_msg *call)
{
	if (call->sm_nspares && call->sm_spares != call->sm_few)
		kfree(call->sm_spares);
	call->sm_nspares = 0;
}

/* Releases held pages: the thread that had them has used them since. */
static void svc2_spares_put(struct svc2_msg *call)
{
	unsigned int i;

	for (i = 0; i < call->sm_nspares; i++)
		put_page(call->sm_spares[i]);
	svc2_spares_free(call);
}

/*
 * Returns held pages to the thread's array, without that of the head, whose
 * first @count are the Reply's: a context has them (@taken), or they are
 * released already. Return: true if no entry of @pages is empty.
 */
static bool svc2_spares_return(struct svc2_msg *call, struct page **pages,
			       unsigned int count, bool taken)
{
	unsigned int i, back = min(count, call->sm_nspares);
	bool full = back == count;
	struct page *page;

	for (i = 0; i < back; i++) {
		page = call->sm_spares[i];
		/* the device reads it, if nfsd has left it in its place (R4) */
		if (unlikely(taken && page == pages[i])) {
			put_page(page);
			page = NULL;
			full = false;
		}
		pages[i] = page;
	}
	if (count > back)
		memset(pages + back, 0, (count - back) * sizeof(*pages));
	/*
	 * nfsd may have replaced pages behind the Reply, too: a result that
	 * does not fit truncates it. No page of a file may stay with the
	 * thread.
	 */
	for (; i < call->sm_nspares; i++) {
		put_page(pages[i]);
		pages[i] = call->sm_spares[i];
	}
	svc2_spares_free(call);
	return full;
}

/**
 * svc2_reply_detach_pages - remove the pages of a Reply from its thread
 * @rqstp: thread whose Reply is posted, or was refused by a lost connection
 * @call: its Call
 * @head: a send context holds the page of the head, which svc2_tx_hold_pages()
 *	has recorded
 * @pages: it holds the other pages; if it does not, they are released
 */
void svc2_reply_detach_pages(struct svc_rqst *rqstp, struct svc2_msg *call,
			     bool head, bool pages)
{
	struct page **rest = rqstp->rq_respages + 1;
	unsigned int count = max_t(long, rqstp->rq_next_page - rest, 0);
	bool full;

	if (head)
		rqstp->rq_respages[0] = NULL;
	if (count && !pages)
		release_pages(rest, count);
	svc2_spares_learn(svc2_from_xprt(rqstp->rq_xprt), call,
			  rqstp->rq_res.page_len ? count : 0);
	/* a Call that was deferred holds pages of another thread */
	if (unlikely(rqstp->rq_deferred))
		svc2_spares_put(call);
	full = svc2_spares_return(call, rest, count, pages);
	rpcrdma2_rqst_reply_taken(rqstp, head ? 0 : full ? 1 + count : 1);
}

/**
 * svc2_reads_free - free the resources of a Call's RDMA Reads (R5)
 * @sp: its connection
 * @msg: Call; none of its RDMA Reads is posted
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_reads_free(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	if (!rpcrdma2_rw_is_empty(&msg->sm_rw))
		rpcrdma2_rw_free(&sp->sp_conn, &msg->sm_rw);
	msg->sm_chain = NULL;
	svc2_sem_give(sp, &sp->sp_mr_sem, msg->sm_mrs);
	msg->sm_mrs = 0;
	svc2_sq_release(sp, &msg->sm_entries);
}

/**
 * svc2_msg_put - free a message, and all that it holds
 * @sp: its connection
 * @msg: message
 *
 * Context: any task; may sleep. Send CQ, if the RPC layer never had @msg.
 */
void svc2_msg_put(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	svc2_reads_free(sp, msg);
	svc2_arg_free(msg);
	svc2_sinks_put(msg, true);
	svc2_spares_put(msg);
	svc2_pages_untrack(sp, msg);
	svc2_pages_give(sp, msg->sm_charged);
	if (msg->sm_recv)
		svc2_recv_put(sp, msg->sm_recv);
	kmem_cache_free(svc2_msg_cache, msg);
}

/**
 * svc2_msg_put_recv - put a Receive back before its credit is returned (R6)
 * @sp: its connection
 * @msg: message that it has, and that does not end yet; not read any longer
 */
void svc2_msg_put_recv(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	if (!msg->sm_recv)
		return;
	svc2_recv_put(sp, msg->sm_recv);
	msg->sm_recv = NULL;
}

/**
 * svc2_discard_reply - free a Reply that no RPC waits for
 * @sp: its connection
 * @msg: the Reply; errors and options have counters of their own
 *
 * Return: 0, for ->xpo_recvfrom.
 */
int svc2_discard_reply(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	u32 proc = msg->sm_msg.mg_hdr.h_proc;

	if (proc == RDMA2_ERROR)
		svc2_count(dropped_error);
	else if (proc == RDMA2_OPTIONAL)
		svc2_count(dropped_option);
	else
		svc2_count(dropped_reply);
	svc2_msg_put(sp, msg);
	return 0;
}

/*
 * A Call with counted pages must not be deferred, because an upcall may take
 * minutes, and the RPC layer defers no Call with data in pages (S46). So if all
 * of it is in the head, its last word goes to the beginning of a page: the
 * first of its Receive, in place of the decoded header; or the second one, if
 * the Call was moved to the start of the first. A Call too short for an RPC
 * stays whole: Linux 6.1 does not compare what is left of it with the two words
 * that it reads first.
 */
static void svc2_msg_move_word(const struct svc2_msg *msg, struct xdr_buf *arg)
{
	struct kvec *head = &arg->head[0];
	u32 len = round_down(head->iov_len - 1, XDR_UNIT);

	arg->pages = msg->sm_recv->rv_pages;
	if (head->iov_base == page_address(arg->pages[0])) {
		arg->pages++;
		/* the device gets that page and this word before it writes */
		msg->sm_recv->rv_len = PAGE_SIZE + XDR_UNIT;
	}
	arg->page_len = head->iov_len - len;
	memcpy(page_address(arg->pages[0]), head->iov_base + len,
	       arg->page_len);
	head->iov_len = len;
}

/**
 * svc2_deliver - pass a Call, with rq_arg built, to the RPC layer
 * @rqstp: thread
 * @msg: Call
 *
 * Return: bytes of the Call, for ->xpo_recvfrom.
 */
int svc2_deliver(struct svc_rqst *rqstp, struct svc2_msg *msg)
{
	struct xdr_buf *arg = &rqstp->rq_arg;

	svc2_count(calls);
	/* a Call that counts pages and may be deferred holds no others (S46) */
	if (msg->sm_charged &&
	    svc2_layout_is_gss(arg->head[0].iov_base, arg->head[0].iov_len))
		svc2_pages_track(svc2_from_xprt(rqstp->rq_xprt), msg);
	else
		svc2_spares_hold(rqstp, msg);
	if (msg->sm_charged && !arg->page_len &&
	    arg->head[0].iov_len >= RPCRDMA2_CALL_HDR_MIN)
		svc2_msg_move_word(msg, arg);
	msg->sm_second = rqstp->rq_respages[1];
	rqstp->rq_xprt_ctxt = msg;
	/* no IP protocol; the reply cache uses this field */
	rqstp->rq_prot = IPPROTO_MAX;
	svc_xprt_copy_addrs(rqstp, rqstp->rq_xprt);
	/* there are no privileged ports on an RDMA fabric */
	set_bit(RQ_SECURE, &rqstp->rq_flags);
	return arg->len;
}

/*
 * Calls that broke their connection: the requester's device has refused a
 * transfer, and may do so again when the requester sends the Call again, at the
 * cost of all other RPCs. A Call, recognized by xid and address, that has
 * broken two connections gets an error, which ends that RPC alone (C-093,
 * C-094). Peers that share an address (limits.c), as hosts behind an InfiniBand
 * router do, can get the error for a Call of another peer. A peer that fills
 * the small table evicts the Calls of others: these break one more connection.
 * Calls of an address that has had no entry since its first connection take no
 * lock, whatever entries a peer causes.
 */

static DEFINE_SPINLOCK(lost_lock);	/* guards the next; lo_xids is read without it */
static struct svc2_losses losses ____cacheline_aligned_in_smp;

static struct svc2_loss svc2_breaker_key(const struct svc2_xprt *sp, u32 xid)
{
	return (struct svc2_loss){
		.ls_net	 = sp->sp_xprt.xpt_net->net_cookie,
		.ls_peer = sp->sp_quota.qu_address->ad_addr,
		.ls_xid	 = xid,
	};
}

/**
 * svc2_breaker_begin - note if Calls of a new connection have to be looked up
 * @sp: connection that is counted for its address
 */
void svc2_breaker_begin(struct svc2_xprt *sp)
{
	struct svc2_address *ad = sp->sp_quota.qu_address;

	guard(spinlock)(&lost_lock);
	if (svc2_loss_has_peer(&losses, &ad->ad_addr))
		WRITE_ONCE(ad->ad_breaks, true);
}

/**
 * svc2_breaker_note - record that a Call broke its connection
 * @sp: connection
 * @xid: xid of the Call
 *
 * Context: send CQ.
 */
void svc2_breaker_note(struct svc2_xprt *sp, u32 xid)
{
	const struct svc2_loss key = svc2_breaker_key(sp, xid);

	svc2_count(calls_lost);
	guard(spinlock)(&lost_lock);
	WRITE_ONCE(sp->sp_quota.qu_address->ad_breaks, true);
	svc2_loss_note(&losses, &key, jiffies);
}

/* A function of its own: in svc2_take_breaker() each Call would clear a key. */
static bool svc2_breaker_is_last(const struct svc2_xprt *sp, u32 xid)
{
	const struct svc2_loss key = svc2_breaker_key(sp, xid);

	guard(spinlock)(&lost_lock);
	return svc2_loss_is_last(&losses, &key, jiffies);
}

/**
 * svc2_take_breaker - check whether a Call is refused because it broke connections
 * @sp: connection on which it was received
 * @xid: xid of the Call
 *
 * Return: true once, and its losses are forgotten.
 */
bool svc2_take_breaker(struct svc2_xprt *sp, u32 xid)
{
	return unlikely(svc2_loss_may_be(&losses, xid)) &&
	       READ_ONCE(sp->sp_quota.qu_address->ad_breaks) &&
	       svc2_breaker_is_last(sp, xid);
}
