// SPDX-License-Identifier: GPL-2.0
/* Memory regions, and the parts of a Call and its Reply that they cover */
#include <linux/export.h>
#include <linux/scatterlist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include <rpcrdma2/chunks.h>
#include <rpcrdma2/conn.h>
#include <rpcrdma2/fault.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/wire.h>

#include "core.h"
#include "trace.h"

/* Most regions allocated at a time; below this the pool doubles */
#define BATCH		16U
/* A region that was free between two of these times is not needed. */
#define TRIM_TIME	(30 * HZ)
/* Delay before a failed allocation is retried for a waiting RPC */
#define REFILL_DELAY	(HZ / 4)
/*
 * Failed allocations in a row during which the RPC waits. The next failure wakes
 * it although regions are still short: it may have been killed, and the RPCs
 * behind it must not wait for its regions.
 */
#define REFILL_TRIES	3

/**
 * struct region - a memory region, used by one RPC at a time
 * @list: entry of rg_free, or of the em_regions of the RPC that uses it
 * @all: entry of rg_all
 * @ibmr: verbs memory region
 * @sg: scatterlist of rg_depth entries
 * @nents: scatterlist entries that are mapped for DMA
 * @dir: direction of that mapping
 * @spent: no Send Queue entry is reserved for its LOCAL_INV, or the entry was
 *	returned although the region may still be live
 * @reg: REG_MR work request; its key is the handle while that is in use, else 0
 * @inv: LOCAL_INV work request
 */
struct region {
	struct list_head	list;
	struct list_head	all;
	struct ib_mr		*ibmr;
	struct scatterlist	*sg;
	int			nents;
	enum dma_data_direction	dir;
	bool			spent;
	struct ib_reg_wr	reg;
	struct ib_send_wr	inv;
};

static struct region *rpcrdma2_region_create(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_regions *rg = &co->co_regions;
	struct region *re;

	if (rpcrdma2_fault(mr))
		return NULL;

	re = kzalloc(sizeof(*re), RPCRDMA2_GFP);
	if (!re)
		return NULL;
	re->sg = kvmalloc_array(rg->rg_depth, sizeof(*re->sg), RPCRDMA2_GFP);
	if (!re->sg)
		goto out_free;
	sg_init_table(re->sg, rg->rg_depth);
	re->ibmr = ib_alloc_mr(co->co_pd, rg->rg_type, rg->rg_depth);
	if (IS_ERR(re->ibmr))
		goto out_free_sg;

	re->reg.mr = re->ibmr;
	re->reg.wr.opcode = IB_WR_REG_MR;
	re->inv.opcode = IB_WR_LOCAL_INV;
	return re;

out_free_sg:
	kvfree(re->sg);
out_free:
	kfree(re);
	return NULL;
}

static void rpcrdma2_region_destroy(struct region *re)
{
	ib_dereg_mr(re->ibmr);
	kvfree(re->sg);
	kfree(re);
}

static void rpcrdma2_regions_trim_later(struct rpcrdma2_regions *rg)
{
	if (READ_ONCE(rg->rg_num) > READ_ONCE(rg->rg_keep))
		queue_delayed_work(rpcrdma2_wq, &rg->rg_trim, TRIM_TIME);
}

int rpcrdma2_regions_grow(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_regions *rg = &co->co_regions;
	unsigned int had = READ_ONCE(rg->rg_num), made = 0, most;
	struct region *re = NULL;

	most = clamp(had, READ_ONCE(rg->rg_keep), BATCH);
	while (made < most && READ_ONCE(rg->rg_num) < rg->rg_max) {
		re = rpcrdma2_region_create(co);
		if (!re)
			break;
		spin_lock(&rg->rg_lock);
		list_add(&re->all, &rg->rg_all);
		list_add(&re->list, &rg->rg_free);
		rg->rg_num_free++;
		rg->rg_num++;
		spin_unlock(&rg->rg_lock);
		made++;
	}
	rpcrdma2_regions_trim_later(rg);
	co->co_ops->grown(co, made, made < most &&
				    READ_ONCE(rg->rg_num) < rg->rg_max);
	return READ_ONCE(rg->rg_num) ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_GPL(rpcrdma2_regions_grow);

static bool rpcrdma2_regions_are_short(const struct rpcrdma2_regions *rg)
{
	return READ_ONCE(rg->rg_needed) ||
	       READ_ONCE(rg->rg_num) < READ_ONCE(rg->rg_keep);
}

void rpcrdma2_regions_keep(struct rpcrdma2_conn *co, unsigned int keep)
{
	struct rpcrdma2_regions *rg = &co->co_regions;

	/* the trim sees the new minimum, or this sees what it has freed */
	scoped_guard(spinlock, &rg->rg_lock)
		WRITE_ONCE(rg->rg_keep, keep);
	if (rpcrdma2_regions_are_short(rg))
		queue_delayed_work(rpcrdma2_wq, &rg->rg_refill, 0);
	rpcrdma2_regions_trim_later(rg);
}
EXPORT_SYMBOL_GPL(rpcrdma2_regions_keep);

/* RPCs, their fences and Replies only use regions that are not on rg_free. */
unsigned int rpcrdma2_regions_trim(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_regions *rg = &co->co_regions;
	struct region *re, *next;
	unsigned int count = 0;
	LIST_HEAD(idle);

	scoped_guard(spinlock, &rg->rg_lock) {
		/* a waiting RPC may need these besides those that return */
		while (!rg->rg_needed && count < rg->rg_num_idle &&
		       rg->rg_num > READ_ONCE(rg->rg_keep)) {
			/* the most recently used region is first */
			re = list_last_entry(&rg->rg_free, struct region, list);
			list_move(&re->list, &idle);
			list_del(&re->all);
			rg->rg_num_free--;
			rg->rg_num--;
			count++;
		}
		rg->rg_num_idle = rg->rg_num_free;
	}
	list_for_each_entry_safe(re, next, &idle, list)
		rpcrdma2_region_destroy(re);
	return count;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_regions_trim);

/* Runs as long as the pool is larger than rg_keep. */
static void rpcrdma2_regions_trim_work(struct work_struct *work)
{
	struct rpcrdma2_conn *co = container_of(to_delayed_work(work),
						struct rpcrdma2_conn,
						co_regions.rg_trim);
	unsigned int flags = rpcrdma2_reclaim_begin(READ_ONCE(co->co_swaps));

	co->co_ops->trimmed(co, rpcrdma2_regions_trim(co));
	rpcrdma2_reclaim_end(flags);
	rpcrdma2_regions_trim_later(&co->co_regions);
}

/* A waiting RPC cannot use fewer regions than it waits for. */
static void rpcrdma2_regions_wake_waiter(struct rpcrdma2_conn *co, bool anyway)
{
	struct rpcrdma2_regions *rg = &co->co_regions;
	bool wake;

	if (likely(!READ_ONCE(rg->rg_needed)))
		return;
	spin_lock(&rg->rg_lock);
	wake = rg->rg_needed && (anyway || rg->rg_num_free >= rg->rg_needed);
	if (wake)
		rg->rg_needed = 0;
	spin_unlock(&rg->rg_lock);
	if (wake)
		co->co_ops->room(co);
}

bool rpcrdma2_regions_awaited(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_regions *rg = &co->co_regions;

	guard(spinlock)(&rg->rg_lock);
	return rg->rg_needed;
}
EXPORT_SYMBOL_GPL(rpcrdma2_regions_awaited);

/*
 * Runs while an RPC waits or a region of the minimum is missing, and the pool may
 * grow: again at once if regions were allocated, after a delay if none were. A
 * pool that may not grow has enough regions for any single RPC, and regions in
 * use will return.
 */
static void rpcrdma2_regions_refill(struct work_struct *work)
{
	struct rpcrdma2_conn *co = container_of(to_delayed_work(work),
						struct rpcrdma2_conn,
						co_regions.rg_refill);
	struct rpcrdma2_regions *rg = &co->co_regions;
	unsigned int flags = rpcrdma2_reclaim_begin(READ_ONCE(co->co_swaps));
	unsigned int before = READ_ONCE(rg->rg_num), now;
	bool anyway;

	if (rpcrdma2_regions_are_short(rg))
		rpcrdma2_regions_grow(co);
	now = READ_ONCE(rg->rg_num);
	if (now > before || before == rg->rg_max)
		rg->rg_failures = 0;
	else
		rg->rg_failures++;
	anyway = rg->rg_failures > REFILL_TRIES;
	if (anyway)
		rg->rg_failures = 0;
	rpcrdma2_regions_wake_waiter(co, anyway);
	rpcrdma2_reclaim_end(flags);
	if (rpcrdma2_regions_are_short(rg) && now < rg->rg_max)
		queue_delayed_work(rpcrdma2_wq, &rg->rg_refill,
				   now == before ? REFILL_DELAY : 0);
}

void rpcrdma2_regions_init(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_regions *rg = &co->co_regions;

	spin_lock_init(&rg->rg_lock);
	INIT_LIST_HEAD(&rg->rg_free);
	INIT_LIST_HEAD(&rg->rg_all);
	INIT_DELAYED_WORK(&rg->rg_refill, rpcrdma2_regions_refill);
	INIT_DELAYED_WORK(&rg->rg_trim, rpcrdma2_regions_trim_work);
}
EXPORT_SYMBOL_GPL(rpcrdma2_regions_init);

void rpcrdma2_regions_measure(struct rpcrdma2_conn *co, unsigned int pages)
{
	const struct ib_device_attr *attrs = &rpcrdma2_conn_device(co)->attrs;
	struct rpcrdma2_regions *rg = &co->co_regions;

	rg->rg_type = attrs->kernel_cap_flags & IBK_SG_GAPS_REG ?
		      IB_MR_TYPE_SG_GAPS : IB_MR_TYPE_MEM_REG;
	rg->rg_depth = min(attrs->max_fast_reg_page_list_len, pages);
}
EXPORT_SYMBOL_GPL(rpcrdma2_regions_measure);

/* An RPC that finds none returns its @held regions, and waits for @held + 1. */
static struct region *rpcrdma2_region_get(struct rpcrdma2_conn *co,
					  struct rpcrdma2_exposed *ex,
					  unsigned int held)
{
	struct rpcrdma2_regions *rg = &co->co_regions;
	struct region *re;

	guard(spinlock)(&rg->rg_lock);
	re = list_first_entry_or_null(&rg->rg_free, struct region, list);
	if (unlikely(!re)) {
		rg->rg_needed = held + 1;
		queue_delayed_work(rpcrdma2_wq, &rg->rg_refill, 0);
		return NULL;
	}
	list_move_tail(&re->list, &ex->em_regions);
	re->spent = ex->em_later;
	rg->rg_num_free--;
	rg->rg_num_idle = min(rg->rg_num_idle, rg->rg_num_free);
	return re;
}

static void rpcrdma2_region_put(struct rpcrdma2_conn *co, struct region *re)
{
	struct rpcrdma2_regions *rg = &co->co_regions;

	if (re->nents)
		ib_dma_unmap_sg(rpcrdma2_conn_device(co), re->sg, re->nents,
				re->dir);
	re->nents = 0;
	WRITE_ONCE(re->reg.key, 0);
	/* Pairs with list_empty_careful() in rpcrdma2_is_exposed() */
	smp_wmb();
	guard(spinlock)(&rg->rg_lock);
	list_move(&re->list, &rg->rg_free);
	rg->rg_num_free++;
}

/* Put a region back with the entry of its LOCAL_INV, unless that failed (Q2). */
static void rpcrdma2_region_release(struct rpcrdma2_conn *co, struct region *re)
{
	bool spent = re->spent;

	rpcrdma2_region_put(co, re);
	rpcrdma2_sq_give(co, spent ? 0 : 1);
}

void rpcrdma2_unexpose(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex)
{
	struct region *re, *next;

	list_for_each_entry_safe(re, next, &ex->em_regions, list)
		rpcrdma2_region_put(co, re);
	rpcrdma2_regions_wake_waiter(co, false);
}
EXPORT_SYMBOL_GPL(rpcrdma2_unexpose);

/*
 * Fill the region with pieces from @pc on, which becomes the first piece beyond
 * it; @more becomes false if there is none. Return: number of pieces.
 */
static int rpcrdma2_region_fill(const struct rpcrdma2_regions *rg,
				struct region *re, struct rpcrdma2_walk *wk,
				struct rpcrdma2_piece *pc, bool *more)
{
	unsigned int n = 0, end;

	do {
		sg_set_page(&re->sg[n++], pc->pc_page, pc->pc_len, pc->pc_off);
		end = pc->pc_off + pc->pc_len;
		*more = rpcrdma2_walk_next(wk, pc);
		/* a page list has no holes, unless the device has SG_GAPS */
	} while (*more && n < rg->rg_depth &&
		 (rg->rg_type == IB_MR_TYPE_SG_GAPS ||
		  rpcrdma2_piece_joins(end, pc)));
	return n;
}

/*
 * Map the scatterlist and fill in the REG_MR. The address on the wire consists
 * of the xid and an offset in a page: it reveals no kernel address, and
 * identifies the RPC of the region when the peer returns its handle.
 */
static int rpcrdma2_region_map(struct rpcrdma2_conn *co, struct region *re,
			       int nents, enum dma_data_direction dir, u32 xid)
{
	struct ib_mr *ibmr = re->ibmr;
	int mapped = 0;

	if (!rpcrdma2_fault(map))
		mapped = ib_dma_map_sg(rpcrdma2_conn_device(co), re->sg, nents,
				       dir);
	if (!mapped)
		return -ENOBUFS;
	re->dir = dir;
	re->nents = nents;
	if (ib_map_mr_sg(ibmr, re->sg, mapped, NULL, PAGE_SIZE) != mapped)
		return -EIO;

	ibmr->iova = (u64)xid << 32 | offset_in_page(ibmr->iova);
	ib_update_fast_reg_key(ibmr, ibmr->rkey + 1);
	if (unlikely(!ibmr->rkey))	/* handle 0 cannot be nominated (S47) */
		ib_update_fast_reg_key(ibmr, 1);
	/* The region is in use by its new handle, never by the last one (S50). */
	smp_store_release(&re->reg.key, ibmr->rkey);
	re->reg.access = dir == DMA_FROM_DEVICE ?
			 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE :
			 IB_ACCESS_REMOTE_READ;
	return 0;
}

static int rpcrdma2_expose_segment(struct rpcrdma2_hdr *h,
				   struct rpcrdma2_chunk *ck,
				   const struct ib_mr *ibmr)
{
	struct rpcrdma2_segment *seg = &h->h_segs[h->h_nsegs];

	if (h->h_nsegs == RPCRDMA2_MAX_SEGMENTS)
		return -EIO;
	seg->rs_handle = rpcrdma2_fault(handle) ? ~ibmr->rkey : ibmr->rkey;
	seg->rs_length = ibmr->length;
	seg->rs_offset = ibmr->iova;
	h->h_nsegs++;
	ck->ck_nsegs++;
	ck->ck_length += ibmr->length;
	return 0;
}

int rpcrdma2_expose(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		    const struct xdr_buf *buf,
		    const struct rpcrdma2_range *range, unsigned int ranges,
		    enum dma_data_direction dir, struct rpcrdma2_hdr *h,
		    struct rpcrdma2_chunk *ck)
{
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;
	struct region *re;
	bool more;
	int ret, n;

	ck->ck_first = h->h_nsegs;
	ck->ck_nsegs = 0;
	ck->ck_length = 0;

	rpcrdma2_walk_begin(&wk, buf, range, ranges);
	more = rpcrdma2_walk_next(&wk, &pc);
	while (more) {
		re = rpcrdma2_region_get(co, ex, h->h_nsegs);
		if (!re)
			return -EAGAIN;
		n = rpcrdma2_region_fill(&co->co_regions, re, &wk, &pc, &more);
		ret = rpcrdma2_region_map(co, re, n, dir, h->h_xid);
		if (!ret)
			ret = rpcrdma2_expose_segment(h, ck, re->ibmr);
		if (ret)
			return ret;
		trace_rpcrdma2_expose(co, h->h_xid, &re->reg, n);
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_expose);

unsigned int rpcrdma2_exposed_chain(struct rpcrdma2_exposed *ex,
				    struct ib_send_wr **first)
{
	unsigned int count = 0;
	struct region *re;

	list_for_each_entry(re, &ex->em_regions, list) {
		re->reg.wr.next = *first;
		*first = &re->reg.wr;
		count++;
	}
	return count;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exposed_chain);

bool rpcrdma2_exposed_invalidated(struct rpcrdma2_conn *co,
				  struct rpcrdma2_exposed *ex, u32 handle)
{
	struct region *re;

	list_for_each_entry(re, &ex->em_regions, list) {
		if (re->ibmr->rkey != handle)
			continue;
		rpcrdma2_region_release(co, re);
		rpcrdma2_regions_wake_waiter(co, false);
		return true;
	}
	return false;
}
EXPORT_SYMBOL_GPL(rpcrdma2_exposed_invalidated);

bool rpcrdma2_handle_in_use(struct rpcrdma2_conn *co, u32 handle, u32 *xid)
{
	struct rpcrdma2_regions *rg = &co->co_regions;
	struct region *re;

	guard(spinlock)(&rg->rg_lock);
	list_for_each_entry(re, &rg->rg_all, all) {
		/* pairs with rpcrdma2_region_map(); rg_lock prevents reuse */
		if (smp_load_acquire(&re->reg.key) != handle)
			continue;
		*xid = upper_32_bits(re->ibmr->iova);
		return true;
	}
	return false;
}
EXPORT_SYMBOL_GPL(rpcrdma2_handle_in_use);

/* The LOCAL_INVs may not have been carried out; their entries were returned. */
static void rpcrdma2_regions_spent(struct rpcrdma2_exposed *ex)
{
	struct region *re;

	list_for_each_entry(re, &ex->em_regions, list)
		re->spent = true;
}

static void rpcrdma2_fence_done(struct rpcrdma2_conn *co,
				struct rpcrdma2_post *post, bool ok)
{
	struct rpcrdma2_exposed *ex = container_of(post,
						   struct rpcrdma2_exposed,
						   em_fence);

	if (likely(ok))
		rpcrdma2_unexpose(co, ex);
	else
		rpcrdma2_regions_spent(ex);
	ex->em_done(co, ex, ok);
}

int rpcrdma2_fence(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex)
{
	struct ib_send_wr *first = NULL, **prev = &first;
	struct region *re;
	int ret;

	list_for_each_entry(re, &ex->em_regions, list) {
		re->inv.ex.invalidate_rkey = re->ibmr->rkey;
		re->inv.next = NULL;
		*prev = &re->inv;
		prev = &re->inv.next;
	}
	ex->em_fence.po_done = rpcrdma2_fence_done;
	ex->em_fence.po_signal = true;
	ret = rpcrdma2_sq_post(co, &ex->em_fence, first);
	if (unlikely(ret))
		rpcrdma2_regions_spent(ex);
	return ret;
}
EXPORT_SYMBOL_GPL(rpcrdma2_fence);

/* The owner may free @ex once em_fencing is false. */
static void rpcrdma2_revoke_done(struct rpcrdma2_conn *co,
				 struct rpcrdma2_exposed *ex, bool ok)
{
	/* Pairs with rpcrdma2_revoke_wait(), and xprt2_revoke() */
	smp_store_release(&ex->em_fencing, false);
	smp_mb();	/* before wake_up_var() looks for a waiter */
	wake_up_var(ex);
}

int rpcrdma2_revoke(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex)
{
	int ret;

	ex->em_done = rpcrdma2_revoke_done;
	ex->em_fencing = true;
	ret = rpcrdma2_fence(co, ex);
	if (ret)
		ex->em_fencing = false;
	return ret;
}
EXPORT_SYMBOL_GPL(rpcrdma2_revoke);

bool rpcrdma2_revoke_wait(struct rpcrdma2_exposed *ex, unsigned long timeout)
{
	wait_var_event_timeout(ex, !READ_ONCE(ex->em_fencing), timeout);
	/* Pairs with rpcrdma2_revoke_done() */
	return !smp_load_acquire(&ex->em_fencing) && !rpcrdma2_is_exposed(ex);
}
EXPORT_SYMBOL_GPL(rpcrdma2_revoke_wait);

void rpcrdma2_lose_exposed(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex)
{
	struct region *re, *next;

	rpcrdma2_conn_lose(co, RPCRDMA2_LOSS_STALLED);
	rpcrdma2_sq_drain(co);
	list_for_each_entry_safe(re, next, &ex->em_regions, list)
		rpcrdma2_region_release(co, re);
}
EXPORT_SYMBOL_GPL(rpcrdma2_lose_exposed);

unsigned int rpcrdma2_regions_exposed(struct rpcrdma2_conn *co)
{
	const struct region *re;
	unsigned int n = 0;

	guard(spinlock)(&co->co_regions.rg_lock);
	list_for_each_entry(re, &co->co_regions.rg_all, all)
		n += re->reg.key != 0;
	return n;
}
EXPORT_SYMBOL_GPL(rpcrdma2_regions_exposed);

bool rpcrdma2_regions_are_whole(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_regions *rg = &co->co_regions;

	return rg->rg_num_free + rpcrdma2_regions_exposed(co) == rg->rg_num &&
	       list_count_nodes(&rg->rg_free) == rg->rg_num_free;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_regions_are_whole);

void rpcrdma2_regions_destroy(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_regions *rg = &co->co_regions;
	struct region *re, *next;

	/* in this order: the first queues the second */
	cancel_delayed_work_sync(&rg->rg_refill);
	cancel_delayed_work_sync(&rg->rg_trim);
	/* The region of an RPC has a key: no task is in rpcrdma2_expose(). */
	WARN_ON_ONCE(!rpcrdma2_regions_are_whole(co));
	list_for_each_entry_safe(re, next, &rg->rg_all, all) {
		if (re->reg.key)
			rpcrdma2_region_release(co, re);
		list_del(&re->list);
		rpcrdma2_region_destroy(re);
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_regions_destroy);

/*
 * The chunks of a Call and its Reply. See rpcrdma2/chunks.h.
 */

unsigned int rpcrdma2_offer_segs(const struct rpcrdma2_conn *co,
				 const struct xdr_buf *buf,
				 enum rpcrdma2_part part)
{
	const struct rpcrdma2_regions *rg = &co->co_regions;
	const struct kvec *head = buf->head, *tail = buf->tail;
	u32 pad = part == RPCRDMA2_PART_REST ? rpcrdma2_pad_len(buf) : 0;
	unsigned int pages[3] = {};

	if (part != RPCRDMA2_PART_REST)
		pages[0] = rpcrdma2_pages_of(buf->page_base, buf->page_len);
	if (part != RPCRDMA2_PART_PAGES) {
		pages[1] = rpcrdma2_pages_of((unsigned long)head->iov_base,
					     head->iov_len);
		pages[2] = rpcrdma2_pages_of((unsigned long)tail->iov_base +
					     pad, tail->iov_len - pad);
	}
	return rpcrdma2_count_segs(pages, ARRAY_SIZE(pages), rg->rg_depth,
				   rg->rg_type == IB_MR_TYPE_SG_GAPS);
}
EXPORT_SYMBOL_GPL(rpcrdma2_offer_segs);

void rpcrdma2_offer_sizes(struct rpcrdma2_call_sizes *sz,
			  const struct xdr_buf *call,
			  const struct xdr_buf *reply, bool ddp)
{
	sz->sz_call_pages = call->page_len + rpcrdma2_pad_len(call);
	sz->sz_call_rest = call->len - sz->sz_call_pages;
	sz->sz_call_ddp = ddp && call->page_len &&
			  (call->flags & XDRBUF_WRITE);
	sz->sz_reply_pages = reply->page_len;
	sz->sz_reply_rest = reply->buflen - reply->page_len;
	sz->sz_reply_ddp = ddp && reply->page_len &&
			   (reply->flags & XDRBUF_READ);
}
EXPORT_SYMBOL_GPL(rpcrdma2_offer_sizes);

void rpcrdma2_offer_measure(const struct rpcrdma2_conn *co,
			    struct rpcrdma2_call_sizes *sz,
			    const struct xdr_buf *call,
			    const struct xdr_buf *reply)
{
	sz->sz_read_segs = rpcrdma2_offer_segs(co, call, RPCRDMA2_PART_PAGES);
	sz->sz_rest_segs = rpcrdma2_offer_segs(co, call, RPCRDMA2_PART_REST);
	sz->sz_call_segs = rpcrdma2_offer_segs(co, call, RPCRDMA2_PART_ALL);
	sz->sz_closed_segs = sz->sz_call_segs;
	sz->sz_write_segs = rpcrdma2_offer_segs(co, reply, RPCRDMA2_PART_PAGES);
	sz->sz_reply_rest_segs = rpcrdma2_offer_segs(co, reply,
						     RPCRDMA2_PART_REST);
	sz->sz_reply_segs = rpcrdma2_offer_segs(co, reply, RPCRDMA2_PART_ALL);
}
EXPORT_SYMBOL_GPL(rpcrdma2_offer_measure);

static int
rpcrdma2_offer_part(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		    const struct xdr_buf *buf, enum rpcrdma2_part part,
		    enum dma_data_direction dir, struct rpcrdma2_hdr *h,
		    struct rpcrdma2_chunk *ck)
{
	u32 head = buf->head[0].iov_len, tail = buf->tail[0].iov_len;
	struct rpcrdma2_range range[2] = { { 0, head } };
	u32 pad = rpcrdma2_pad_len(buf);

	if (part == RPCRDMA2_PART_ALL)
		range[0].ra_len += buf->page_len + tail;
	else if (part == RPCRDMA2_PART_PAGES)
		range[0] = (struct rpcrdma2_range){ head, buf->page_len };
	else
		range[1] = (struct rpcrdma2_range){
			head + buf->page_len + pad, tail - pad };
	return rpcrdma2_expose(co, ex, buf, range,
			       part == RPCRDMA2_PART_REST ? 2 : 1, dir, h, ck);
}

int rpcrdma2_offer(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		   const struct rpcrdma2_call_plan *plan,
		   const struct xdr_buf *call, const struct xdr_buf *whole,
		   const struct xdr_buf *reply, struct rpcrdma2_hdr *h)
{
	struct rpcrdma2_chunk *ck;
	int ret = 0;

	if (plan->cp_poszero) {
		ck = &h->h_reads[h->h_nreads++];
		ck->ck_position = 0;
		ret = rpcrdma2_offer_part(co, ex, plan->cp_read ? call : whole,
					  plan->cp_read ? RPCRDMA2_PART_REST :
						  RPCRDMA2_PART_ALL,
					  DMA_TO_DEVICE, h, ck);
	}
	if (!ret && plan->cp_read) {
		/* the position counts from the start of the message (E-05) */
		ck = &h->h_reads[h->h_nreads++];
		ck->ck_position = call->head[0].iov_len;
		ret = rpcrdma2_offer_part(co, ex, call, RPCRDMA2_PART_PAGES,
					  DMA_TO_DEVICE, h, ck);
	}
	if (!ret && plan->cp_write)
		ret = rpcrdma2_offer_part(co, ex, reply, RPCRDMA2_PART_PAGES,
					  DMA_FROM_DEVICE, h,
					  &h->h_writes[h->h_nwrites++]);
	if (!ret && plan->cp_reply) {
		h->h_has_reply = true;
		ret = rpcrdma2_offer_part(co, ex, reply,
					  plan->cp_write ? RPCRDMA2_PART_REST :
							   RPCRDMA2_PART_ALL,
					  DMA_FROM_DEVICE, h, &h->h_reply);
	}
	/* nominate the first region (S48), or 0 if there is none (C-073) */
	if (!ret && h->h_nsegs && h->h_vers != RPCRDMA2_VERS_ONE &&
	    !rpcrdma2_fault(nominate))
		h->h_inv_handle = h->h_segs[0].rs_handle;
	return ret;
}
EXPORT_SYMBOL_GPL(rpcrdma2_offer);

void rpcrdma2_trim_reply(struct rpc_rqst *rqst, size_t came)
{
	size_t delta;

	if (rqst->rq_rcv_buf.head[0].iov_len <= came)
		return;
	delta = rqst->rq_rcv_buf.head[0].iov_len - came;
	rqst->rq_rcv_buf.head[0].iov_len = came;
	rqst->rq_rcv_buf.buflen -= delta;
	rqst->rq_private_buf.head[0].iov_len = came;
	rqst->rq_private_buf.buflen -= delta;
}
EXPORT_SYMBOL_GPL(rpcrdma2_trim_reply);

void rpcrdma2_wake_with(struct rpc_task *task, int status)
{
	struct rpc_wait_queue *pending = &task->tk_rqstp->rq_xprt->pending;

	scoped_guard(spinlock, &pending->lock)
		if (RPC_IS_QUEUED(task) && task->tk_waitqueue == pending)
			task->tk_status = status;
	rpc_wake_up_queued_task(pending, task);
}
EXPORT_SYMBOL_GPL(rpcrdma2_wake_with);
