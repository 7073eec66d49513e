// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: their arrival, and their pages.
 *
 * The suite compiles in the server's messages, over a connection without a device. The
 * connection is busy for the RPC layer, and no svc thread handles it. Its limits come from
 * svcrdma2_sem_kunit.c.
 */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/slab.h>

#include "payload_1mib.h"
#include "counters.h"
#include "limits.h"

static const struct page *page_on_list, *bad_page;

/*
 * The receive CQ: messages that a poll finds in it, whether an event may have been missed when it
 * is empty, and whether one comes as soon as the poll has requested it.
 */
static struct {
	struct rpcrdma2_recv	*at;
	unsigned int		n;
	bool			missed;
	bool			late;
} arrivals;

static bool fake_recvs_poll(struct rpcrdma2_conn *co, unsigned int most);

/* Wakeups of svc threads, and how many of the threads would find a message */
static unsigned int wakeups, found;

static void wake_thread(struct svc_xprt *xprt)
{
	struct svc2_xprt *sp = container_of(xprt, struct svc2_xprt, sp_xprt);

	wakeups++;
	found += test_bit(XPT_DATA, &xprt->xpt_flags) && (sp->sp_event || sp->sp_arrived.first);
	svc_xprt_enqueue(xprt);
}

#undef svc_xprt_enqueue
#define svc_xprt_enqueue	wake_thread
#define PageLRU(page)		((page) == page_on_list)
#define PageHWPoison(page)	((page) == bad_page)
#define rpcrdma2_recvs_poll	fake_recvs_poll

#include "../svcrdma2/message.c"

/**
 * struct fixture - a connection, and Calls
 * @sp: connection
 * @serv: its service
 * @calls: Calls
 */
struct fixture {
	struct svc2_xprt	sp;
	struct svc_serv		serv;
	struct svc2_msg		calls[2];
};

static int message_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	set_bit(XPT_BUSY, &f->sp.sp_xprt.xpt_flags);
	f->sp.sp_xprt.xpt_server = &f->serv;
	INIT_LIST_HEAD(&f->sp.sp_recv_q);
	return 0;
}

/*
 * S46: the RPC layer does not defer a Call with data in pages. The last word of a Call with
 * counted pages moves to a page, for any length of that word; other Calls do not change.
 */
static void s46_counted_call_not_deferred(struct kunit *test)
{
	static const char rpc[] = "the forty-four bytes of an RPC of an NFS Call";
	struct fixture *f = test->priv;
	struct svc2_msg *call = &f->calls[0];
	struct page *page = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
	struct page *next = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
	struct svc_rqst *rqst = kunit_kzalloc(test, sizeof(*rqst), GFP_KERNEL);
	struct page *reply_pages[2] = { NULL, next };
	struct xdr_buf *arg = &rqst->rq_arg;
	struct rpcrdma2_recv *rv = kunit_kzalloc(test, sizeof(*rv), GFP_KERNEL);
	u32 len;

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_NOT_NULL(test, next);
	KUNIT_ASSERT_NOT_NULL(test, rqst);
	KUNIT_ASSERT_NOT_NULL(test, rv);
	rqst->rq_xprt = &f->sp.sp_xprt;
	rqst->rq_server = &f->serv;
	rqst->rq_respages = reply_pages;
	rv->rv_pages[0] = page;
	call->sm_recv = rv;
	for (len = 41; len <= 44; len++) {
		*arg = (struct xdr_buf){ .len = len };
		arg->head[0].iov_base = memcpy(page_address(page) + 100, rpc, 44);
		arg->head[0].iov_len = len;
		call->sm_charged = 0;
		KUNIT_EXPECT_EQ(test, svc2_deliver(rqst, call), len);
		KUNIT_EXPECT_EQ(test, arg->page_len, 0);
		KUNIT_EXPECT_EQ(test, arg->head[0].iov_len, len);
		KUNIT_EXPECT_PTR_EQ(test, call->sm_second, next);

		call->sm_charged = 1;
		KUNIT_EXPECT_EQ(test, svc2_deliver(rqst, call), len);
		KUNIT_EXPECT_EQ(test, arg->head[0].iov_len, 40);
		KUNIT_EXPECT_EQ(test, arg->page_len, len - 40);
		KUNIT_EXPECT_EQ(test, arg->page_base, 0);
		KUNIT_EXPECT_PTR_EQ(test, arg->pages[0], page);
		KUNIT_EXPECT_MEMEQ(test, page_address(page), rpc + 40, len - 40);
		/* A Call with data in pages does not change either. */
		KUNIT_EXPECT_EQ(test, svc2_deliver(rqst, call), len);
		KUNIT_EXPECT_EQ(test, arg->head[0].iov_len, 40);
	}
	/* A message too short for a Call stays in the head: Linux 6.1 reads two words there. */
	for (len = 8; len < 40; len++) {
		*arg = (struct xdr_buf){ .len = len };
		arg->head[0].iov_base = page_address(page) + 100;
		arg->head[0].iov_len = len;
		KUNIT_EXPECT_EQ(test, svc2_deliver(rqst, call), len);
		KUNIT_EXPECT_EQ(test, arg->head[0].iov_len, len);
		KUNIT_EXPECT_EQ(test, arg->page_len, 0);
	}
	/*
	 * The word does not overwrite a Call that was moved to the beginning of its page, as
	 * happens in a Receive of several pages.
	 */
	*arg = (struct xdr_buf){ .len = 44 };
	arg->head[0].iov_base = memcpy(page_address(page), rpc, 44);
	arg->head[0].iov_len = 44;
	if (ARRAY_SIZE(rv->rv_pages) > 1) {
		rv->rv_pages[1] = next;
		rv->rv_len = 44;
		KUNIT_EXPECT_EQ(test, svc2_deliver(rqst, call), 44);
		KUNIT_EXPECT_PTR_EQ(test, arg->pages[0], next);
		KUNIT_EXPECT_MEMEQ(test, page_address(page), rpc, 40);
		KUNIT_EXPECT_MEMEQ(test, page_address(next), rpc + 40, 4);
		/* The device gets the bytes of both pages that the CPU has written to. */
		KUNIT_EXPECT_EQ(test, rv->rv_len, PAGE_SIZE + 4);
	}
	__free_page(next);
	__free_page(page);
}

/* Gives the Call new pages. */
static void new_sinks(struct kunit *test, struct svc2_msg *call, unsigned int n)
{
	call->sm_pages = kmalloc_array(n, sizeof(*call->sm_pages), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, call->sm_pages);
	call->sm_length = n * PAGE_SIZE;
	while (n--)
		call->sm_pages[n] = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
}

/*
 * S46: a Call has exactly the pages that are counted for it, even if it reuses the pages of
 * larger ones, and the number of kept pages is limited.
 */
static void s46_reused_pages(struct kunit *test)
{
	u64 reused = count_of(SVC2_C_sinks_reused);
	struct svc_rqst *rqst = kunit_kzalloc(test, sizeof(*rqst), GFP_KERNEL);
	struct svc2_msg *calls = ((struct fixture *)test->priv)->calls, *call = &calls[0];
	unsigned int i, n = SVC2_KEPT_LEAST + 2, large = 2 * SVC2_KEPT_BATCH + 1, most;
	struct page *was[SVC2_KEPT_LEAST + 2], *some[3];
	struct shrink_control sc = { };
	struct svc2_page_cache *kept;

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	if (!svc2_sinks_is_kept(n))
		return;
	machine.ram_pages = 1;
	KUNIT_EXPECT_EQ(test, svc2_sinks_most(), SVC2_KEPT_CALL);
	machine.high_pages = 1UL << 18;
	machine.ram_pages = machine.high_pages +
			    64UL * num_online_cpus() * (SVC2_KEPT_CALL + 7);
	KUNIT_EXPECT_EQ(test, svc2_sinks_most(), SVC2_KEPT_CALL + 7);
	machine.high_pages = 0;
	machine.ram_pages *= 100;
	most = svc2_sinks_most();
	KUNIT_EXPECT_EQ(test, most, 8 * SVC2_KEPT_CALL);
	KUNIT_ASSERT_EQ(test, svc2_sinks_init(), 0);
	migrate_disable();
	kept = raw_cpu_ptr(&svc2_page_cache);
	new_sinks(test, call, n);
	memcpy(was, call->sm_pages, sizeof(was));
	svc2_sinks_put(call, true);
	KUNIT_EXPECT_NULL(test, call->sm_pages);
	KUNIT_EXPECT_EQ(test, kept->kp_num, n);

	/* The order stays, because neighbours in it may be neighbours in memory. */
	call->sm_length = SVC2_KEPT_LEAST * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, svc2_sinks_take(rqst, call), 0);
	KUNIT_EXPECT_MEMEQ(test, call->sm_pages, was, SVC2_KEPT_LEAST * sizeof(*was));
	KUNIT_EXPECT_EQ(test, kept->kp_num, 2);
	KUNIT_EXPECT_EQ(test, count_of(SVC2_C_sinks_reused), reused + 1);
	/* Several Calls have kept pages, but none in use elsewhere, on a list, or bad. */
	new_sinks(test, &calls[1], n);
	get_page(calls[1].sm_pages[1]);
	was[1] = calls[1].sm_pages[1];
	page_on_list = calls[1].sm_pages[0];
	bad_page = calls[1].sm_pages[2];
	svc2_sinks_put(&calls[1], true);
	page_on_list = NULL;
	bad_page = NULL;
	svc2_sinks_put(call, true);
	KUNIT_EXPECT_EQ(test, kept->kp_num, 2 * n - 3);
	put_page(was[1]);

	/* The kernel frees the number that it needs; the pages that were used last stay. */
	KUNIT_EXPECT_EQ(test, svc2_sinks_count(NULL, &sc), 2 * n - 3);
	sc.nr_to_scan = 2 * n - 3 - SVC2_KEPT_LEAST;
	KUNIT_EXPECT_EQ(test, svc2_sinks_scan(NULL, &sc), sc.nr_to_scan);
	KUNIT_EXPECT_EQ(test, kept->kp_num, SVC2_KEPT_LEAST);
	call->sm_length = SVC2_KEPT_LEAST * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, svc2_sinks_take(rqst, call), 0);
	KUNIT_EXPECT_PTR_EQ(test, call->sm_pages[0], was[0]);
	/* A Call that meets a shortage keeps nothing. */
	svc2_sinks_put(call, false);
	KUNIT_EXPECT_NULL(test, call->sm_pages);
	KUNIT_EXPECT_EQ(test, kept->kp_num, 0);
	KUNIT_EXPECT_EQ(test, svc2_sinks_scan(NULL, &sc), 0);

	for (i = 0; i < 2; i++) {
		new_sinks(test, call, most - 1);
		svc2_sinks_put(call, true);
	}
	KUNIT_EXPECT_EQ(test, kept->kp_num, most);
	/* A large Call has its pages in order, too. */
	call->sm_length = large * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, svc2_sinks_take(rqst, call), 0);
	KUNIT_EXPECT_EQ(test, kept->kp_num, most - large);
	for (i = 0; i < ARRAY_SIZE(some); i++)
		some[i] = call->sm_pages[i * SVC2_KEPT_BATCH];
	svc2_sinks_put(call, true);
	KUNIT_EXPECT_EQ(test, kept->kp_num, most);
	KUNIT_ASSERT_EQ(test, svc2_sinks_take(rqst, call), 0);
	for (i = 0; i < ARRAY_SIZE(some); i++)
		KUNIT_EXPECT_PTR_EQ(test, call->sm_pages[i * SVC2_KEPT_BATCH], some[i]);
	svc2_sinks_put(call, false);
	KUNIT_EXPECT_EQ(test, kept->kp_num, most - large);
	svc2_sinks_exit();
	KUNIT_EXPECT_EQ(test, kept->kp_num, 0);
	migrate_enable();
}

/* Messages are taken up in the order in which they arrive (S16), also while more do. */
static void s16_messages_stay_in_order(struct kunit *test)
{
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	struct rpcrdma2_recv *rv = kunit_kzalloc(test, 5 * sizeof(*rv), GFP_KERNEL);
	static const struct ib_wc wc;
	struct rpcrdma2_recv *at;
	unsigned int i = 0;

	KUNIT_ASSERT_NOT_NULL(test, rv);
	for (i = 0; i < 3; i++)
		svc2_received(&sp->sp_conn, &rv[i], &wc);
#ifdef SVC2_THREADS_POLL
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_DATA, &sp->sp_xprt.xpt_flags));
	svc2_arrived(&sp->sp_conn);
	KUNIT_EXPECT_TRUE(test, sp->sp_event);
	/* The other two wait for a thread, and count as of the event (2.3). */
	sp->sp_event_at = jiffies - 10 * HZ;
#endif
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &sp->sp_xprt.xpt_flags));
	svc2_recv_sort(sp);
	for (; i < 5; i++)
		svc2_received(&sp->sp_conn, &rv[i], &wc);
	i = 0;
	list_for_each_entry(at, &sp->sp_recv_q, rv_list)
		KUNIT_EXPECT_PTR_EQ(test, at, &rv[i++]);
	KUNIT_EXPECT_EQ(test, i, 3);
#ifdef SVC2_THREADS_POLL
	KUNIT_EXPECT_EQ(test, rv[4].rv_at, sp->sp_event_at);
#endif
	INIT_LIST_HEAD(&sp->sp_recv_q);
	svc2_recv_sort(sp);
	list_for_each_entry(at, &sp->sp_recv_q, rv_list)
		KUNIT_EXPECT_PTR_EQ(test, at, &rv[i++]);
	KUNIT_EXPECT_EQ(test, i, 5);
	INIT_LIST_HEAD(&sp->sp_recv_q);
}

static bool fake_recvs_poll(struct rpcrdma2_conn *co, unsigned int most)
{
	static const struct ib_wc wc;
	unsigned int i, n = min(arrivals.n, most);

	/* A message may come before these are found. */
	if (arrivals.missed)
		svc2_arrived(co);
	for (i = 0; i < n; i++)
		svc2_received(co, arrivals.at++, &wc);
	arrivals.n -= n;
	if (arrivals.late)
		svc2_arrived(co);
	return n == most || arrivals.missed;
}

/* Polls with @n messages in the CQ, the first of @rv. */
static void poll(struct svc2_xprt *sp, struct rpcrdma2_recv *rv, unsigned int n)
{
	arrivals.at = rv;
	arrivals.n = n;
	sp->sp_event = true;
	svc2_recv_poll(sp);
	svc2_recv_sort(sp);
	INIT_LIST_HEAD(&sp->sp_recv_q);
}

/*
 * 2.3, S53: messages that come after a poll has emptied the CQ are not counted as of an event
 * before, even if they cause none. An event for a later one may still come.
 */
static void s53_missed_event(struct kunit *test)
{
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	struct rpcrdma2_recv *rv = kunit_kzalloc(test, SVC2_POLL_BATCH * sizeof(*rv),
						 GFP_KERNEL);
	const unsigned long begin = jiffies, stale = begin - 10 * HZ;

	KUNIT_ASSERT_NOT_NULL(test, rv);
	arrivals.missed = false;
	sp->sp_event_at = stale;
	poll(sp, rv, SVC2_POLL_BATCH - 1);
	KUNIT_EXPECT_FALSE(test, sp->sp_event);
	KUNIT_EXPECT_EQ(test, sp->sp_event_at, stale);
	arrivals.missed = true;
	poll(sp, rv, SVC2_POLL_BATCH - 1);
#ifdef SVC2_THREADS_POLL
	KUNIT_EXPECT_EQ(test, rv[SVC2_POLL_BATCH - 2].rv_at, stale);
#endif
	KUNIT_EXPECT_TRUE(test, sp->sp_event);
	KUNIT_EXPECT_TRUE(test, time_after_eq(sp->sp_event_at, begin));
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, sp->sp_event_at));
	/* The next polls find messages that arrived before this event, and one during the poll. */
	sp->sp_event_at = stale;
	svc2_arrived(&sp->sp_conn);
	KUNIT_EXPECT_EQ(test, sp->sp_event_at, stale);
	poll(sp, rv, SVC2_POLL_BATCH - 1);
#ifdef SVC2_THREADS_POLL
	KUNIT_EXPECT_EQ(test, rv[0].rv_at, stale);
#endif
	/* When the CQ was empty an event counts again. */
	arrivals.missed = false;
	poll(sp, rv, 0);
	sp->sp_event_at = stale;
	svc2_arrived(&sp->sp_conn);
	KUNIT_EXPECT_TRUE(test, time_after_eq(sp->sp_event_at, begin));
}

/* An event that comes between its request and the end of the poll leads to another poll. */
static void event_after_poll(struct kunit *test)
{
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;

	arrivals.missed = false;
	arrivals.late = true;
	poll(sp, NULL, 0);
	arrivals.late = false;
	KUNIT_EXPECT_TRUE(test, sp->sp_event);
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &sp->sp_xprt.xpt_flags));
}

/*
 * 2.3, S53: a busy CQ may never be empty. Messages behind as many as there are Receives have
 * arrived after the first of these polls.
 */
static void s53_full_batches(struct kunit *test)
{
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	struct rpcrdma2_recv *rv = kunit_kzalloc(test, SVC2_POLL_BATCH * sizeof(*rv),
						 GFP_KERNEL);
	const unsigned long begin = jiffies, stale = begin - 10 * HZ;
	unsigned int most, polls, i, round;

	KUNIT_ASSERT_NOT_NULL(test, rv);
	arrivals.missed = false;
	sp->sp_backward_max = SVC2_BACKWARD_CREDITS;
	sp->sp_credits = SVC2_CREDITS_DEFAULT;
	most = svc2_grant_recvs(sp->sp_backward_max, sp->sp_credits);
	polls = DIV_ROUND_UP(most, SVC2_POLL_BATCH);
	for (round = 0; round < 2; round++) {
		sp->sp_event_at = stale;
		for (i = 1; i < polls; i++)
			poll(sp, rv, SVC2_POLL_BATCH);
		KUNIT_EXPECT_EQ(test, sp->sp_event_at, stale);
		poll(sp, rv, SVC2_POLL_BATCH);
		KUNIT_EXPECT_TRUE(test, sp->sp_event);
		KUNIT_EXPECT_TRUE(test, time_after_eq(sp->sp_event_at, begin));
		KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, sp->sp_event_at));
	}
	/* The count begins again after the CQ was empty, with or without a missed event. */
	for (round = 0; round < 2; round++) {
		for (i = 1; i < polls; i++)
			poll(sp, rv, SVC2_POLL_BATCH);
		arrivals.missed = round;
		poll(sp, rv, 0);
		sp->sp_event_at = stale;
		for (i = 1; i < polls; i++)
			poll(sp, rv, SVC2_POLL_BATCH);
		KUNIT_EXPECT_EQ(test, sp->sp_event_at, stale);
		poll(sp, rv, 0);
	}
}

#ifndef SVC2_THREADS_POLL
static void receive_message(struct fixture *f)
{
	static const struct ib_wc wc;
	static struct rpcrdma2_recv rv;

	svc2_received(&f->sp.sp_conn, &rv, &wc);
}
#endif

static void receive_event(struct fixture *f)
{
	svc2_arrived(&f->sp.sp_conn);
}

/*
 * A thread that is woken for a message finds it. The same for the event for which the thread polls
 * the receive CQ
 */
static void message_before_wakeup(struct kunit *test)
{
	static void (*const produce[])(struct fixture *f) = {
#ifndef SVC2_THREADS_POLL
		receive_message,
#endif
		receive_event,
	};
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(produce); i++) {
		wakeups = 0;
		found = 0;
		clear_bit(XPT_DATA, &f->sp.sp_xprt.xpt_flags);
		produce[i](f);
		KUNIT_EXPECT_GT(test, wakeups, 0);
		KUNIT_EXPECT_EQ(test, found, wakeups);
		f->sp.sp_arrived.first = NULL;
	}
}

/*
 * A thread gets the pages back that nfsd has replaced, behind the Reply; R4: but no page
 * that the device reads. Pages that a Call held, or that were left in place, are released
 * once.
 */
static void r4_pages_come_back(struct kunit *test)
{
	struct svc_rqst *rqst = kunit_kzalloc(test, sizeof(*rqst), GFP_KERNEL);
	struct svc2_msg *call = &((struct fixture *)test->priv)->calls[0];
	struct page *own[5], *other[2], *pages[5], *slots[2];
	struct svc_serv *serv = kunit_kzalloc(test, sizeof(*serv), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	KUNIT_ASSERT_NOT_NULL(test, serv);
	for (i = 0; i < ARRAY_SIZE(own); i++) {
		own[i] = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
		KUNIT_ASSERT_NOT_NULL(test, own[i]);
	}
	for (i = 0; i < ARRAY_SIZE(other); i++) {
		other[i] = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
		KUNIT_ASSERT_NOT_NULL(test, other[i]);
	}
	memcpy(pages, own, sizeof(pages));
	serv->sv_max_mesg = 4 * PAGE_SIZE;
	call->sm_offered = 1 << 20;
	rqst->rq_xprt = &((struct fixture *)test->priv)->sp.sp_xprt;
	rqst->rq_server = serv;
	rqst->rq_respages = pages;

	/* nfsd replaces the first page, and writes the Reply's data to the second one. */
	svc2_spares_hold(rqst, call);
	KUNIT_ASSERT_EQ(test, call->sm_nspares, 4);
	KUNIT_EXPECT_EQ(test, page_ref_count(own[0]), 1);
	put_page(pages[1]);
	pages[1] = other[0];
	memcpy(slots, pages + 1, sizeof(slots));
	KUNIT_EXPECT_FALSE(test, svc2_spares_return(call, pages + 1, 2, true));
	KUNIT_EXPECT_PTR_EQ(test, pages[1], own[1]);
	KUNIT_EXPECT_NULL(test, pages[2]);
	KUNIT_EXPECT_PTR_EQ(test, pages[3], own[3]);
	KUNIT_EXPECT_PTR_EQ(test, slots[0], other[0]);
	KUNIT_EXPECT_PTR_EQ(test, slots[1], own[2]);
	for (i = 0; i < ARRAY_SIZE(own); i++)
		KUNIT_EXPECT_EQ(test, page_ref_count(own[i]), 1);

	/* Both pages were copied and released: the thread has all of its pages. */
	pages[2] = own[2];
	svc2_spares_hold(rqst, call);
	put_page(pages[1]);
	pages[1] = other[1];
	put_page(other[1]);
	put_page(own[2]);
	KUNIT_EXPECT_TRUE(test, svc2_spares_return(call, pages + 1, 2, false));
	KUNIT_EXPECT_MEMEQ(test, pages, own, sizeof(own));
	for (i = 0; i < ARRAY_SIZE(own); i++)
		KUNIT_EXPECT_EQ(test, page_ref_count(own[i]), 1);

	/* nfsd has replaced a page behind the Reply, which it has truncated since. */
	svc2_spares_hold(rqst, call);
	put_page(pages[4]);
	pages[4] = other[0];
	get_page(other[0]);
	KUNIT_EXPECT_TRUE(test, svc2_spares_return(call, pages + 1, 0, false));
	KUNIT_EXPECT_MEMEQ(test, pages, own, sizeof(own));
	KUNIT_EXPECT_EQ(test, page_ref_count(own[4]), 1);
	KUNIT_EXPECT_EQ(test, page_ref_count(other[0]), 1);

	/* A Reply has more pages than its Call held. */
	svc2_spares_hold(rqst, call);
	call->sm_nspares = 1;
	put_page(own[2]);
	put_page(own[3]);
	put_page(own[4]);
	put_page(own[1]);
	put_page(own[2]);
	KUNIT_EXPECT_FALSE(test, svc2_spares_return(call, pages + 1, 2, false));
	KUNIT_EXPECT_PTR_EQ(test, pages[1], own[1]);
	KUNIT_EXPECT_NULL(test, pages[2]);

	/* The Call gets no Reply. */
	pages[2] = alloc_pages_node(NUMA_NO_NODE, GFP_KERNEL, 0);
	KUNIT_ASSERT_NOT_NULL(test, pages[2]);
	svc2_spares_hold(rqst, call);
	svc2_spares_put(call);
	KUNIT_EXPECT_EQ(test, call->sm_nspares, 0);
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		KUNIT_EXPECT_EQ(test, page_ref_count(pages[i]), 1);
		put_page(pages[i]);
	}
	put_page(other[0]);
}

/* A Call holds the number of pages that recent Replies without chunks had: mostly none. */
static void pages_of_late(struct kunit *test)
{
	struct svc2_xprt *sp = &((struct fixture *)test->priv)->sp;
	struct svc2_msg *call = &((struct fixture *)test->priv)->calls[0];
	unsigned int i;

	svc2_spares_learn(sp, call, 0);
	KUNIT_EXPECT_EQ(test, sp->sp_spares, 0);
	svc2_spares_learn(sp, call, SVC2_REPLY_FEW + 1);
	KUNIT_EXPECT_EQ(test, sp->sp_spares, SVC2_REPLY_FEW * SVC2_SPARES_PATIENCE);
	svc2_spares_learn(sp, call, SVC2_REPLY_FEW - 1);
	for (i = 1; i < SVC2_SPARES_PATIENCE; i++)
		svc2_spares_learn(sp, call, 0);
	KUNIT_EXPECT_EQ(test, sp->sp_spares, (SVC2_REPLY_FEW - 1) * SVC2_SPARES_PATIENCE);
	call->sm_offered = 1;
	svc2_spares_learn(sp, call, 0);
	svc2_spares_learn(sp, call, SVC2_REPLY_FEW);
	KUNIT_EXPECT_EQ(test, sp->sp_spares, (SVC2_REPLY_FEW - 1) * SVC2_SPARES_PATIENCE);
}

/* S46: an address without losses takes no part in those of others, whatever their xids are. */
static void s46_breaker_of_an_address(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct net *net = kunit_kzalloc(test, sizeof(*net), GFP_KERNEL);
	struct svc2_address its = { }, others = { };

	KUNIT_ASSERT_NOT_NULL(test, net);
	((struct sockaddr_in *)&its.ad_addr)->sin_family = AF_INET;
	others = its;
	((struct sockaddr_in *)&others.ad_addr)->sin_addr.s_addr = htonl(0xc0000201);
	f->sp.sp_xprt.xpt_net = net;
	f->sp.sp_quota.qu_address = &its;
	svc2_breaker_note(&f->sp, 7);
	svc2_breaker_note(&f->sp, 7);
	KUNIT_EXPECT_TRUE(test, its.ad_breaks);

	f->sp.sp_quota.qu_address = &others;
	svc2_breaker_begin(&f->sp);
	KUNIT_EXPECT_FALSE(test, others.ad_breaks);
	/* It is not even looked up. */
	others.ad_addr = its.ad_addr;
	KUNIT_EXPECT_FALSE(test, svc2_take_breaker(&f->sp, 7));

	/* The address had no connection for a while. */
	svc2_breaker_begin(&f->sp);
	KUNIT_EXPECT_TRUE(test, others.ad_breaks);
	KUNIT_EXPECT_TRUE(test, svc2_take_breaker(&f->sp, 7));
	KUNIT_EXPECT_FALSE(test, svc2_take_breaker(&f->sp, 7));
}

static struct kunit_case message_cases[] = {
	KUNIT_CASE(s46_breaker_of_an_address),
	KUNIT_CASE(s46_counted_call_not_deferred),
	KUNIT_CASE(s46_reused_pages),
	KUNIT_CASE(s16_messages_stay_in_order),
	KUNIT_CASE(s53_missed_event),
	KUNIT_CASE(event_after_poll),
	KUNIT_CASE(s53_full_batches),
	KUNIT_CASE(message_before_wakeup),
	KUNIT_CASE(r4_pages_come_back),
	KUNIT_CASE(pages_of_late),
	{}
};

static struct kunit_suite message_suite = {
	.name		= "svcrdma2_message",
	.init		= message_init,
	.test_cases	= message_cases,
};

kunit_test_suite(message_suite);
