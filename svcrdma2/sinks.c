// SPDX-License-Identifier: GPL-2.0
/*
 * Pages in which RDMA Reads place a Call.
 *
 * The pages are the thread's own, and the thread gets new ones before its next
 * request. Where the kernel clears the pages it allocates (init_on_alloc), a
 * WRITE of 1 MiB costs 256 cleared pages, which the RDMA Reads then overwrite.
 * So the pages of large Calls stay together when a Call is done, and the next
 * large Call takes them before it takes the thread's. The kept pages of all
 * connections together are limited to SVC2_KEPT_SETS times SVC2_KEPT_MOST, and
 * the kernel gets them back when memory is short. They are not cleared: all
 * bytes in rq_arg come from an RDMA Read or a copy.
 */
#include <linux/mm.h>
#include <linux/shrinker.h>
#include <linux/slab.h>

#include "arg.h"

#define SVC2_KEPT_SETS	4
#define SVC2_KEPT_LEAST	16	/* minimum pages of a large Call */
#define SVC2_KEPT_MOST	260	/* 1 MiB, rest of the Call, svc2_arg_extra() */

/* A set is removed as a whole, so that the lock is held for a short time. */
struct kept_set {
	struct page	**ks_pages;	/* with room for SVC2_KEPT_MOST */
	unsigned int	ks_npages;
};

static DEFINE_SPINLOCK(kept_lock);	/* guards the two below */
static struct kept_set kept[SVC2_KEPT_SETS];
static unsigned int nkept;

static struct shrinker *kept_shrinker;

/*
 * False where the kernel clears freed pages: a kept page would not be cleared.
 */
static bool svc2_sinks_is_kept(unsigned int sinks)
{
	return sinks >= SVC2_KEPT_LEAST && sinks < SVC2_KEPT_MOST &&
	       !want_init_on_free();
}

static bool svc2_sinks_pop_kept(struct kept_set *set)
{
	bool any;

	spin_lock(&kept_lock);
	any = nkept;
	if (any)
		*set = kept[--nkept];
	spin_unlock(&kept_lock);
	return any;
}

static bool svc2_sinks_take_kept(struct svc2_msg *call)
{
	struct kept_set set;

	if (!svc2_sinks_pop_kept(&set))
		return false;
	call->sm_pages = set.ks_pages;
	call->sm_npages = set.ks_npages;
	svc2_count(sinks_reused);
	return true;
}

static bool svc2_sinks_put_kept(struct svc2_msg *call)
{
	bool room;

	spin_lock(&kept_lock);
	room = nkept < SVC2_KEPT_SETS;
	if (room)
		kept[nkept++] = (struct kept_set){ call->sm_pages,
						   call->sm_npages };
	spin_unlock(&kept_lock);
	return room;
}

/**
 * svc2_sinks_take - get pages for a Call's Read chunks
 * @rqstp: thread; gives pages of its own, and gets new ones later
 * @call: Call; sets sm_pages and sm_npages
 *
 * There is one entry more than pages that are filled: nfsd uses pages[0] even
 * when page_len is 0.
 *
 * Context: svc thread; may sleep.
 * Return: 0 or -ENOMEM.
 */
int svc2_sinks_take(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	unsigned int n = svc2_msg_pages(call), taken = n + svc2_arg_extra(call);
	unsigned int have;

	if (!svc2_sinks_is_kept(n) || !svc2_sinks_take_kept(call))
		call->sm_pages = kmalloc_array(svc2_sinks_is_kept(n) ? SVC2_KEPT_MOST : n + 1,
					       sizeof(*call->sm_pages), GFP_KERNEL);
	if (!call->sm_pages)
		return -ENOMEM;
	have = call->sm_npages;
	if (have < taken) {
		memcpy(call->sm_pages + have, rqstp->rq_pages + have,
		       (taken - have) * sizeof(*call->sm_pages));
		memset(rqstp->rq_pages + have, 0,
		       (taken - have) * sizeof(*call->sm_pages));
		rpcrdma2_rqst_call_taken(rqstp, taken);
		call->sm_npages = taken;
	}
	if (call->sm_npages == n)
		call->sm_pages[n] = call->sm_pages[0];
	return 0;
}

/* Pages that are still in use elsewhere are not kept. */
static void svc2_sinks_release_used(struct svc2_msg *call)
{
	unsigned int i = 0;
	struct page *page;

	while (i < call->sm_npages) {
		page = call->sm_pages[i];
		if (page_ref_count(page) == 1) {
			i++;
			continue;
		}
		call->sm_pages[i] = call->sm_pages[--call->sm_npages];
		put_page(page);
	}
}

/**
 * svc2_sinks_put - release a Call's pages
 * @call: Call; no RDMA Read fills them, and nothing maps them any longer
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_sinks_put(struct svc2_msg *call)
{
	if (!call->sm_pages)
		return;
	if (svc2_sinks_is_kept(svc2_msg_pages(call))) {
		svc2_sinks_release_used(call);
		if (svc2_sinks_put_kept(call))
			return;
	}
	release_pages(call->sm_pages, call->sm_npages);
	kfree(call->sm_pages);
}

static unsigned long svc2_sinks_count_kept(struct shrinker *shrinker,
					   struct shrink_control *sc)
{
	unsigned long pages = 0;
	unsigned int i;

	spin_lock(&kept_lock);
	for (i = 0; i < nkept; i++)
		pages += kept[i].ks_npages;
	spin_unlock(&kept_lock);
	return pages ?: SHRINK_EMPTY;
}

static unsigned long svc2_sinks_free_kept(struct shrinker *shrinker,
					  struct shrink_control *sc)
{
	unsigned long freed = 0;
	struct kept_set set;

	while (freed < sc->nr_to_scan && svc2_sinks_pop_kept(&set)) {
		release_pages(set.ks_pages, set.ks_npages);
		kfree(set.ks_pages);
		freed += set.ks_npages;
	}
	sc->nr_scanned = freed;
	return freed ?: SHRINK_STOP;
}

/**
 * svc2_sinks_init - register a shrinker for the kept pages
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int svc2_sinks_init(void)
{
	kept_shrinker = shrinker_alloc(0, "svcrdma2-sinks");
	if (!kept_shrinker)
		return -ENOMEM;
	kept_shrinker->count_objects = svc2_sinks_count_kept;
	kept_shrinker->scan_objects = svc2_sinks_free_kept;
	shrinker_register(kept_shrinker);
	return 0;
}

/**
 * svc2_sinks_exit - free the kept pages
 *
 * Context: module exit, after the last Call.
 */
void svc2_sinks_exit(void)
{
	struct shrink_control all = { .nr_to_scan = ULONG_MAX };

	shrinker_free(kept_shrinker);
	svc2_sinks_free_kept(NULL, &all);
}
