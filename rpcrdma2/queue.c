// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of a connection: its loss, with a reason and advice for the
 * administrator, then Receives, then the Send Queue. See rpcrdma2/conn.h.
 */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/highmem.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <rpcrdma2/compat.h>
#include <rpcrdma2/conn.h>
#include <rpcrdma2/fault.h>

#include "core.h"
#include "trace.h"

/* Indexed by enum rpcrdma2_loss */
#define LOSS_ROW(_name, ...)	{ __VA_ARGS__ },
static const struct {
	const char	*name;
	bool		innocent;
	const char	*advice;
} losses[] = {
	{ "none" },
	RPCRDMA2_LOSSES(LOSS_ROW)
};

bool rpcrdma2_loss_is_innocent(enum rpcrdma2_loss why)
{
	return losses[why].innocent;
}
EXPORT_SYMBOL_GPL(rpcrdma2_loss_is_innocent);

/*
 * Whether the reason can be the cause of a flush. The others stem from the
 * owner, often because the connection is lost already.
 */
static bool rpcrdma2_loss_is_cause(const struct rpcrdma2_conn *co,
				   enum rpcrdma2_loss why)
{
	switch (why) {
	case RPCRDMA2_LOSS_PEER:
		/* The IB CM reports the end by the peer before any flush. */
		return rpcrdma2_conn_device(co)->node_type == RDMA_NODE_RNIC;
	case RPCRDMA2_LOSS_UNREACHABLE:
		/* The CM flushes the queues before it reports a REJECT. */
	case RPCRDMA2_LOSS_QP:
	case RPCRDMA2_LOSS_RECEIVE:
	case RPCRDMA2_LOSS_NO_MESSAGE:
	case RPCRDMA2_LOSS_SEND:
	case RPCRDMA2_LOSS_READ:
	case RPCRDMA2_LOSS_REGION:
		return true;
	default:
		return false;
	}
}

void rpcrdma2_conn_blame(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	int old = RPCRDMA2_LOSS_NONE;
	bool replaces;

	if (rpcrdma2_loss_is_innocent(why))
		replaces = atomic_xchg(&co->co_why, why) != why;
	else
		replaces = !atomic_try_cmpxchg(&co->co_why, &old, why) &&
			   old == RPCRDMA2_LOSS_FLUSHED &&
			   rpcrdma2_loss_is_cause(co, why) &&
			   atomic_try_cmpxchg(&co->co_why, &old, why);
	/* rpcrdma2_conn_lose() traces the first reason of a loss. */
	if (replaces && rpcrdma2_conn_is_lost(co))
		trace_rpcrdma2_lost(co, why);
}
EXPORT_SYMBOL_GPL(rpcrdma2_conn_blame);

void rpcrdma2_conn_lose(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	rpcrdma2_conn_blame(co, why);
	if (atomic_xchg(&co->co_lost, true))
		return;
	why = rpcrdma2_conn_why(co);
	trace_rpcrdma2_lost(co, why);
	co->co_ops->lost(co, why);
}
EXPORT_SYMBOL_GPL(rpcrdma2_conn_lose);

static void rpcrdma2_conn_lose_wc(struct rpcrdma2_conn *co,
				  const struct ib_wc *wc,
				  enum rpcrdma2_loss why)
{
	rpcrdma2_conn_lose(co, wc->status == IB_WC_WR_FLUSH_ERR ?
			       RPCRDMA2_LOSS_FLUSHED : why);
}

enum rpcrdma2_loss rpcrdma2_conn_report_end(const struct rpcrdma2_conn *co,
					    struct rpcrdma2_end *en,
					    const char *module,
					    const char *what)
{
	enum rpcrdma2_loss why = rpcrdma2_conn_why(co);

	WRITE_ONCE(en->en_at, ktime_get_boottime_seconds());
	WRITE_ONCE(en->en_why, why);
	if (losses[why].advice)
		pr_warn_ratelimited("%s: the connection %s has ended: %s; %s\n",
				    module, what, losses[why].name,
				    losses[why].advice);
	return why;
}
EXPORT_SYMBOL_GPL(rpcrdma2_conn_report_end);

void rpcrdma2_end_show(struct seq_file *seq, const struct rpcrdma2_end *en)
{
	enum rpcrdma2_loss why = READ_ONCE(en->en_why);

	if (why == RPCRDMA2_LOSS_NONE)
		return;
	rpcrdma2_word_show(seq, "ended", losses[why].name);
	seq_printf(seq, " ended_ago=%lld",
		   ktime_get_boottime_seconds() - READ_ONCE(en->en_at));
}
EXPORT_SYMBOL_GPL(rpcrdma2_end_show);

/*
 * Receives. Their pages are mapped when they are made for a device, or first
 * posted there, and stay mapped until the connection is torn down.
 */

/* Pages that each Receive of the pool should have */
static unsigned int rpcrdma2_recv_num_pages(const struct rpcrdma2_rpool *rp)
{
	return READ_ONCE(rp->rp_size) >> PAGE_SHIFT;
}

u32 rpcrdma2_recv_size(const struct rpcrdma2_conn *co, u32 needed)
{
	return min_t(u32, round_up(needed, PAGE_SIZE),
		     co->co_recv_pages << PAGE_SHIFT);
}
EXPORT_SYMBOL_GPL(rpcrdma2_recv_size);

u32 rpcrdma2_recv_begin(struct rpcrdma2_conn *co, u32 needed)
{
	u32 pages = max_t(u32, DIV_ROUND_UP(needed, PAGE_SIZE),
			  RPCRDMA2_RECV_PAGES_LATER);

	pages = min_t(u32, pages, RPCRDMA2_RECV_PAGES);
	co->co_recv_pages = clamp_t(u32, rpcrdma2_conn_device(co)->attrs.max_recv_sge,
				    1, pages);
	return rpcrdma2_recv_size(co, needed);
}
EXPORT_SYMBOL_GPL(rpcrdma2_recv_begin);

static void rpcrdma2_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_recv *rv = container_of(wc->wr_cqe,
						struct rpcrdma2_recv, rv_cqe);
	enum rpcrdma2_loss why = RPCRDMA2_LOSS_NONE;
	struct rpcrdma2_conn *co = cq->cq_context;

	trace_rpcrdma2_wc_receive(cq, rv->rv_id, wc);
	if (unlikely(wc->status != IB_WC_SUCCESS))
		why = RPCRDMA2_LOSS_RECEIVE;
	/* checked before any byte of it is read (E-20) */
	else if (unlikely(!rpcrdma2_received_message(wc, rpcrdma2_recv_room(rv))))
		why = RPCRDMA2_LOSS_NO_MESSAGE;
	if (unlikely(why)) {
		rpcrdma2_recv_put(rv);
		rpcrdma2_conn_lose_wc(co, wc, why);
		return;
	}
	rv->rv_len = wc->byte_len;
	co->co_ops->received(co, rv, wc);
}

static void rpcrdma2_recv_unmap(struct rpcrdma2_recv *rv, unsigned int from,
				unsigned int end)
{
	struct ib_device *dev = rv->rv_device;
	unsigned int i;

	if (ib_uses_virt_dma(dev))
		return;
	for (i = from; i < end; i++)
		dma_unmap_page_attrs(dev->dma_device, rv->rv_sges[i].addr,
				     PAGE_SIZE, DMA_FROM_DEVICE,
				     DMA_ATTR_SKIP_CPU_SYNC);
}

/* Map for rv_device. Return: false if no page is mapped. */
static bool rpcrdma2_recv_map(struct rpcrdma2_recv *rv, unsigned int from,
			      unsigned int end)
{
	struct ib_device *dev = rv->rv_device;
	unsigned int i;

	for (i = from; i < end; i++) {
		if (rpcrdma2_fault(map_recv))
			goto out_unmap;
		rv->rv_sges[i].addr = ib_dma_map_page(dev, rv->rv_pages[i], 0,
						      PAGE_SIZE,
						      DMA_FROM_DEVICE);
		if (ib_dma_mapping_error(dev, rv->rv_sges[i].addr))
			goto out_unmap;
	}
	return true;

out_unmap:
	rpcrdma2_recv_unmap(rv, from, i);
	return false;
}

static bool rpcrdma2_recv_map_for(const struct rpcrdma2_conn *co,
				  struct rpcrdma2_recv *rv)
{
	unsigned int i;
	bool mapped;

	for (i = 0; i < ARRAY_SIZE(rv->rv_sges); i++) {
		rv->rv_sges[i].length = PAGE_SIZE;
		rv->rv_sges[i].lkey = co->co_pd->local_dma_lkey;
	}
	guard(spinlock)(&rv->rv_pool->rp_lock);
	rv->rv_device = rpcrdma2_conn_device(co);
	mapped = rpcrdma2_recv_map(rv, 0, rv->rv_npages);
	if (!mapped)
		rv->rv_device = NULL;
	return mapped;
}

/*
 * Add @pages to those in use, or subtract them if negative. A Receive that grows
 * leaves bu_reserved free. Return: false if too few are left.
 */
static bool rpcrdma2_rpool_spend(struct rpcrdma2_rpool *rp, long pages,
				 bool grows)
{
	struct rpcrdma2_budget *all = rp->rp_budget;
	long now;

	if (!all)
		return true;
	now = atomic_long_read(&all->bu_pages);
	do {
		if (pages > 0 && now + pages > READ_ONCE(all->bu_limit) -
		    (grows ? READ_ONCE(all->bu_reserved) : 0))
			return false;
	} while (!atomic_long_try_cmpxchg(&all->bu_pages, &now, now + pages));
	return true;
}

static void rpcrdma2_recv_drop_pages(struct rpcrdma2_recv *rv,
				     unsigned int from, unsigned int end)
{
	if (rv->rv_device)
		rpcrdma2_recv_unmap(rv, from, end);
	rpcrdma2_rpool_spend(rv->rv_pool, -(long)(end - from), false);
	for (; from < end; from++)
		__free_page(rv->rv_pages[from]);
}

/* Add pages. Return: false if none was added. */
static bool rpcrdma2_recv_new_pages(struct rpcrdma2_recv *rv, unsigned int from,
				    unsigned int end, gfp_t gfp)
{
	unsigned int i;

	if (!rpcrdma2_rpool_spend(rv->rv_pool, end - from, from > 0))
		return false;
	for (i = from; i < end; i++) {
		rv->rv_pages[i] = alloc_pages_node(rv->rv_pool->rp_node, gfp, 0);
		if (!rv->rv_pages[i])
			goto out_free;
	}
	if (!rv->rv_device || rpcrdma2_recv_map(rv, from, end))
		return true;

out_free:
	rpcrdma2_rpool_spend(rv->rv_pool, -(long)(end - from), false);
	while (i-- > from)
		__free_page(rv->rv_pages[i]);
	return false;
}

#ifdef RPCRDMA2_STRETCHES
static void rpcrdma2_recv_set_stretch(struct rpcrdma2_recv *rv, void *buf)
{
	if (is_vmalloc_addr(rv->rv_buf))
		vunmap(rv->rv_buf);
	rv->rv_buf = buf;
}

/* Map the first @n pages as one stretch, if needed. Return: false on failure. */
static bool rpcrdma2_recv_make_stretch(struct rpcrdma2_recv *rv, unsigned int n)
{
	void *buf = NULL;

	if (n == 1) {
		buf = page_address(rv->rv_pages[0]);
	} else if (rv->rv_pool->rp_reposted) {
		if (!rpcrdma2_fault(map_recv))
			buf = vmap(rv->rv_pages, n, VM_MAP, PAGE_KERNEL);
		if (!buf)
			return false;
	}
	rpcrdma2_recv_set_stretch(rv, buf);
	return true;
}

static void rpcrdma2_recv_sync_stretch(struct rpcrdma2_recv *rv)
{
	if (rv->rv_pool->rp_reposted && rv->rv_npages > 1)
		invalidate_kernel_vmap_range(rv->rv_buf, rv->rv_len);
}
#else
static void rpcrdma2_recv_set_stretch(struct rpcrdma2_recv *rv, void *buf)
{
}

static bool rpcrdma2_recv_make_stretch(struct rpcrdma2_recv *rv, unsigned int n)
{
	return true;
}

static void rpcrdma2_recv_sync_stretch(struct rpcrdma2_recv *rv)
{
}
#endif

static bool rpcrdma2_recv_is_fit(const struct rpcrdma2_recv *rv)
{
	return rv->rv_npages == rpcrdma2_recv_num_pages(rv->rv_pool);
}

static bool rpcrdma2_recv_is_small(const struct rpcrdma2_recv *rv)
{
	return rv->rv_npages < rpcrdma2_recv_num_pages(rv->rv_pool);
}

/* Resize from @had pages to @n. Return: false on failure. */
static bool rpcrdma2_recv_resize(struct rpcrdma2_recv *rv, unsigned int had,
				 unsigned int n, gfp_t gfp)
{
	if (n > had && !rpcrdma2_recv_new_pages(rv, had, n, gfp))
		return false;
	if (!rpcrdma2_recv_make_stretch(rv, n)) {
		if (n > had)
			rpcrdma2_recv_drop_pages(rv, had, n);
		return false;
	}
	if (n < had)
		rpcrdma2_recv_drop_pages(rv, n, had);
	/* for rpcrdma2_recv_sync_for_device() */
	rv->rv_len = min_t(u32, rv->rv_len, n << PAGE_SHIFT);
	rv->rv_wr.num_sge = n;
	return true;
}

/* Record the number of pages. Both comparisons need the same size of the pool. */
static void rpcrdma2_rpool_note_pages(struct rpcrdma2_recv *rv, unsigned int n)
{
	struct rpcrdma2_rpool *rp = rv->rv_pool;

	lockdep_assert_held(&rp->rp_lock);
	rp->rp_small -= rpcrdma2_recv_is_small(rv);
	rv->rv_npages = n;
	rp->rp_small += rpcrdma2_recv_is_small(rv);
}

/* A Receive that is not reposted adopts the size of its pool in any context. */
static void rpcrdma2_recv_fit_locked(struct rpcrdma2_recv *rv)
{
	unsigned int n = rpcrdma2_recv_num_pages(rv->rv_pool);

	if (likely(rv->rv_npages == n) || rv->rv_pool->rp_reposted)
		return;
	if (rpcrdma2_recv_resize(rv, rv->rv_npages, n,
				 GFP_NOWAIT | __GFP_NOWARN))
		rpcrdma2_rpool_note_pages(rv, n);
}

/* Move the Receives on rp_returned to rp_free, the last one returned first. */
static void rpcrdma2_rpool_collect_locked(struct rpcrdma2_rpool *rp)
{
	struct rpcrdma2_recv *rv, *next;
	LIST_HEAD(returned);

	llist_for_each_entry_safe(rv, next, llist_del_all(&rp->rp_returned),
				  rv_node)
		list_add_tail(&rv->rv_list, &returned);
	list_splice(&returned, &rp->rp_free);
}

static void rpcrdma2_rpool_fit_free_locked(struct rpcrdma2_rpool *rp)
{
	struct rpcrdma2_recv *rv;

	list_for_each_entry(rv, &rp->rp_free, rv_list)
		rpcrdma2_recv_fit_locked(rv);
}

/*
 * May sleep, and the size of the pool may grow meanwhile. So rp_small counts a
 * Receive that shrinks by its new number of pages beforehand.
 */
static void rpcrdma2_recv_fit_reposted(struct rpcrdma2_recv *rv)
{
	struct rpcrdma2_rpool *rp = rv->rv_pool;
	unsigned int had = rv->rv_npages, n;

	scoped_guard(spinlock, &rp->rp_lock) {
		n = rpcrdma2_recv_num_pages(rp);
		rpcrdma2_rpool_note_pages(rv, min(had, n));
	}
	if (!rpcrdma2_recv_resize(rv, had, n, RPCRDMA2_GFP))
		n = had;
	guard(spinlock)(&rp->rp_lock);
	rpcrdma2_rpool_note_pages(rv, n);
}

static void rpcrdma2_recv_free_memory(struct rpcrdma2_rpool *rp, void *memory)
{
	if (rp->rp_cache)
		kmem_cache_free(rp->rp_cache, memory);
	else
		kfree(memory);
}

static void rpcrdma2_recv_destroy(struct rpcrdma2_recv *rv)
{
	rpcrdma2_recv_set_stretch(rv, NULL);
	rpcrdma2_recv_drop_pages(rv, 0, rv->rv_npages);
	rpcrdma2_recv_free_memory(rv->rv_pool, (void *)rv - rv->rv_pool->rp_before);
}

static struct rpcrdma2_recv *rpcrdma2_recv_alloc(struct rpcrdma2_rpool *rp,
						 gfp_t gfp)
{
	unsigned int n = rpcrdma2_recv_num_pages(rp);
	struct rpcrdma2_recv *rv;
	void *memory;

	if (rp->rp_cache)
		memory = kmem_cache_alloc_node(rp->rp_cache, gfp | __GFP_ZERO,
					       rp->rp_node);
	else
		memory = kzalloc_node(rp->rp_before + sizeof(*rv), gfp,
				      rp->rp_node);
	if (!memory)
		return NULL;
	rv = memory + rp->rp_before;
	rv->rv_pool = rp;
	rv->rv_cqe.done = rpcrdma2_recv_done;
	rv->rv_wr.wr_cqe = &rv->rv_cqe;
	rv->rv_wr.sg_list = rv->rv_sges;
	if (!rpcrdma2_recv_resize(rv, 0, n, gfp)) {
		rpcrdma2_recv_free_memory(rp, memory);
		return NULL;
	}
	rv->rv_npages = n;
	return rv;
}

/*
 * Add a new Receive to its pool. The size of the pool may have grown since the
 * allocation, and may already be announced. Return: false if the Receive is
 * smaller, and was not added.
 */
static bool rpcrdma2_recv_join(struct rpcrdma2_recv *rv)
{
	struct rpcrdma2_rpool *rp = rv->rv_pool;

	guard(spinlock)(&rp->rp_lock);
	if (unlikely(rpcrdma2_recv_is_small(rv)))
		return false;
	rp->rp_count++;
	rv->rv_id = ++rp->rp_last_id;
	list_add(&rv->rv_all, &rp->rp_all);
	return true;
}

/* Make a Receive, in use and mapped for the device, and add it to the pool */
static struct rpcrdma2_recv *rpcrdma2_recv_make(const struct rpcrdma2_conn *co,
						struct rpcrdma2_rpool *rp,
						gfp_t gfp)
{
	struct rpcrdma2_recv *rv;

	while ((rv = rpcrdma2_recv_alloc(rp, gfp)) &&
	       rpcrdma2_recv_map_for(co, rv)) {
		if (likely(rpcrdma2_recv_join(rv)))
			return rv;
		rpcrdma2_recv_destroy(rv);
	}
	if (rv)
		rpcrdma2_recv_destroy(rv);
	return NULL;
}

static __always_inline void
rpcrdma2_recv_sync_pages(struct rpcrdma2_recv *rv,
			 void (*sync)(struct ib_device *dev, u64 addr,
				      size_t len, enum dma_data_direction dir))
{
	u32 left = rv->rv_len, n;
	unsigned int i;

	for (i = 0; left; i++, left -= n) {
		n = min_t(u32, left, PAGE_SIZE);
		sync(rv->rv_device, rv->rv_sges[i].addr, n, DMA_FROM_DEVICE);
	}
}

void rpcrdma2_recv_sync(struct rpcrdma2_recv *rv)
{
	rpcrdma2_recv_sync_pages(rv, ib_dma_sync_single_for_cpu);
	rpcrdma2_recv_sync_stretch(rv);
}
EXPORT_SYMBOL_GPL(rpcrdma2_recv_sync);

/* Only the bytes of the last message: the CPU may have written to these. */
static void rpcrdma2_recv_sync_for_device(struct rpcrdma2_recv *rv)
{
	rpcrdma2_recv_sync_pages(rv, ib_dma_sync_single_for_device);
}

/* Post the Receives on @recvs, @n of them; refused Receives stay there. */
static bool rpcrdma2_recvs_post_list(struct rpcrdma2_conn *co,
				     struct list_head *recvs, unsigned int *n)
{
	const struct ib_recv_wr *bad = NULL;
	struct ib_recv_wr *first = NULL;
	struct rpcrdma2_recv *rv;

	*n = 0;
	list_for_each_entry(rv, recvs, rv_list) {
		rv->rv_wr.next = first;
		first = &rv->rv_wr;
		++*n;
	}
	INIT_LIST_HEAD(recvs);
	if (!first || likely(!ib_post_recv(rpcrdma2_conn_qp(co), first, &bad)))
		return true;
	for (; bad; bad = bad->next) {
		rv = container_of(bad, struct rpcrdma2_recv, rv_wr);
		list_add(&rv->rv_list, recvs);
		--*n;
	}
	return false;
}

void rpcrdma2_rpool_init(struct rpcrdma2_rpool *rp)
{
	*rp = (struct rpcrdma2_rpool){ .rp_node = NUMA_NO_NODE };
	spin_lock_init(&rp->rp_lock);
	INIT_LIST_HEAD(&rp->rp_free);
	INIT_LIST_HEAD(&rp->rp_all);
}
EXPORT_SYMBOL_GPL(rpcrdma2_rpool_init);

void rpcrdma2_rpool_resize(struct rpcrdma2_rpool *rp, u32 size)
{
	struct rpcrdma2_recv *rv;

	guard(spinlock)(&rp->rp_lock);
	rpcrdma2_rpool_collect_locked(rp);
	WRITE_ONCE(rp->rp_size, size);
	rp->rp_small = 0;
	list_for_each_entry(rv, &rp->rp_all, rv_all)
		rp->rp_small += rpcrdma2_recv_is_small(rv);
	rpcrdma2_rpool_fit_free_locked(rp);
}
EXPORT_SYMBOL_GPL(rpcrdma2_rpool_resize);

void rpcrdma2_rpool_unmap(struct rpcrdma2_rpool *rp)
{
	struct rpcrdma2_recv *rv;

	guard(spinlock)(&rp->rp_lock);
	list_for_each_entry(rv, &rp->rp_all, rv_all) {
		if (rv->rv_device)
			rpcrdma2_recv_unmap(rv, 0, rv->rv_npages);
		rv->rv_device = NULL;
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_rpool_unmap);

void rpcrdma2_rpool_destroy(struct rpcrdma2_rpool *rp)
{
	struct rpcrdma2_recv *rv, *next;

	rpcrdma2_rpool_collect_locked(rp);
	WARN_ON_ONCE(list_count_nodes(&rp->rp_free) != rp->rp_count);
	list_for_each_entry_safe(rv, next, &rp->rp_all, rv_all) {
		WARN_ON_ONCE(rv->rv_device);
		rpcrdma2_recv_destroy(rv);
	}
	INIT_LIST_HEAD(&rp->rp_all);
}
EXPORT_SYMBOL_GPL(rpcrdma2_rpool_destroy);

void rpcrdma2_recv_put(struct rpcrdma2_recv *rv)
{
	struct rpcrdma2_rpool *rp = rv->rv_pool;

	if (unlikely(!rpcrdma2_recv_is_fit(rv))) {
		guard(spinlock)(&rp->rp_lock);
		rpcrdma2_recv_fit_locked(rv);
	}
	llist_add(&rv->rv_node, &rp->rp_returned);
}
EXPORT_SYMBOL_GPL(rpcrdma2_recv_put);

void rpcrdma2_recv_free(struct rpcrdma2_recv *rv)
{
	struct rpcrdma2_rpool *rp = rv->rv_pool;

	scoped_guard(spinlock, &rp->rp_lock) {
		list_del(&rv->rv_all);
		rp->rp_count--;
		rp->rp_small -= rpcrdma2_recv_is_small(rv);
	}
	rpcrdma2_recv_destroy(rv);
}
EXPORT_SYMBOL_GPL(rpcrdma2_recv_free);

/* Move at most @count free Receives to @recvs. Return: number moved. */
static unsigned int rpcrdma2_rpool_take_free(struct rpcrdma2_rpool *rp,
					     unsigned int count,
					     struct list_head *recvs)
{
	struct rpcrdma2_recv *rv, *next;
	unsigned int n = 0;

	guard(spinlock)(&rp->rp_lock);
	rpcrdma2_rpool_collect_locked(rp);
	if (unlikely(rp->rp_small))
		rpcrdma2_rpool_fit_free_locked(rp);
	list_for_each_entry_safe(rv, next, &rp->rp_free, rv_list) {
		if (n == count)
			break;
		/* rpcrdma2_recv_put() may have compared it with an old size */
		rpcrdma2_recv_fit_locked(rv);
		list_move(&rv->rv_list, recvs);
		n++;
	}
	return n;
}

unsigned int rpcrdma2_recvs_post(struct rpcrdma2_conn *co,
				 struct rpcrdma2_rpool *rp, unsigned int count,
				 unsigned int least, unsigned int total,
				 gfp_t gfp)
{
	struct rpcrdma2_recv *rv, *next;
	LIST_HEAD(recvs);
	unsigned int n, had;

	n = rpcrdma2_rpool_take_free(rp, count, &recvs);
	list_for_each_entry_safe(rv, next, &recvs, rv_list) {
		if (likely(rv->rv_device)) {
			rpcrdma2_recv_sync_for_device(rv);
		} else if (!rpcrdma2_recv_map_for(co, rv)) {
			list_del(&rv->rv_list);
			rpcrdma2_recv_put(rv);
			n--;
		}
	}
	for (; n < count; n++) {
		had = READ_ONCE(rp->rp_count);
		if ((n >= least && had >= total) || had >= rp->rp_max)
			break;
		rv = rpcrdma2_recv_make(co, rp, gfp);
		if (!rv)
			break;
		list_add(&rv->rv_list, &recvs);
	}
	if (likely(rpcrdma2_recvs_post_list(co, &recvs, &n)))
		return n;
	list_for_each_entry_safe(rv, next, &recvs, rv_list)
		rpcrdma2_recv_put(rv);
	rpcrdma2_conn_lose(co, RPCRDMA2_LOSS_POST);
	return n;
}
EXPORT_SYMBOL_GPL(rpcrdma2_recvs_post);

bool rpcrdma2_rpool_trim(struct rpcrdma2_rpool *rp, unsigned int most)
{
	struct rpcrdma2_recv *rv;

	if (likely(READ_ONCE(rp->rp_count) <= most))
		return false;
	scoped_guard(spinlock, &rp->rp_lock) {
		rpcrdma2_rpool_collect_locked(rp);
		if (list_empty(&rp->rp_free))
			return false;
		rv = list_last_entry(&rp->rp_free, struct rpcrdma2_recv, rv_list);
		list_del(&rv->rv_list);
	}
	rpcrdma2_recv_free(rv);
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_rpool_trim);

static bool rpcrdma2_rpool_has_batch(const struct rpcrdma2_rpool *rp)
{
	/* pairs with rpcrdma2_recvs_post_batch_locked() */
	return atomic_read_acquire(&rp->rp_nfree) >=
	       (int)READ_ONCE(rp->rp_batch);
}

/* Post the free Receives if they make a batch. Return: number posted. */
static unsigned int
rpcrdma2_recvs_post_batch_locked(struct rpcrdma2_conn *co,
				 struct rpcrdma2_rpool *rp, bool *taken)
{
	unsigned int n;

	lockdep_assert_held(&rp->rp_lock);
	if (!rpcrdma2_rpool_has_batch(rp) || rpcrdma2_conn_is_lost(co))
		return 0;
	rpcrdma2_rpool_collect_locked(rp);
	*taken = rpcrdma2_recvs_post_list(co, &rp->rp_free, &n);
	smp_mb__before_atomic();	/* they are posted when others see this */
	atomic_sub(n, &rp->rp_nfree);
	rp->rp_posts += n;
	return n;
}

unsigned int rpcrdma2_recv_repost(struct rpcrdma2_conn *co,
				  struct rpcrdma2_recv *rv)
{
	struct rpcrdma2_rpool *rp = rv->rv_pool;
	bool taken = true;
	unsigned int n;

	rpcrdma2_recv_sync_for_device(rv);
	if (unlikely(!rpcrdma2_recv_is_fit(rv)) && rp->rp_reposted &&
	    !rpcrdma2_conn_is_lost(co))
		rpcrdma2_recv_fit_reposted(rv);
	llist_add(&rv->rv_node, &rp->rp_returned);
	atomic_inc(&rp->rp_nfree);
	smp_mb__after_atomic();	/* pairs with rpcrdma2_rpool_batch() */
	if (!rpcrdma2_rpool_has_batch(rp))
		return 0;
	scoped_guard(spinlock, &rp->rp_lock)
		n = rpcrdma2_recvs_post_batch_locked(co, rp, &taken);
	if (unlikely(!taken))
		rpcrdma2_conn_lose(co, RPCRDMA2_LOSS_POST);
	return n;
}
EXPORT_SYMBOL_GPL(rpcrdma2_recv_repost);

/* Drain twice: a message handled during the first drain may post Receives. */
void rpcrdma2_recvs_drain(struct rpcrdma2_conn *co)
{
	ib_drain_rq(rpcrdma2_conn_qp(co));
	ib_drain_rq(rpcrdma2_conn_qp(co));
}
EXPORT_SYMBOL_GPL(rpcrdma2_recvs_drain);

/*
 * A Receive CQ that its owner polls, until the end of the connection: then
 * co_recv_work does.
 */

/* Completions that the work handles before it lets others run */
#define RPCRDMA2_POLL_MOST	64

/**
 * rpcrdma2_recv_work - co_recv_work: poll after the end of the connection
 * @work: co_recv_work
 *
 * Context: workqueue.
 */
void rpcrdma2_recv_work(struct work_struct *work)
{
	struct rpcrdma2_conn *co = container_of(work, struct rpcrdma2_conn,
						co_recv_work);

	while (rpcrdma2_recvs_poll(co, RPCRDMA2_POLL_MOST))
		cond_resched();
}

/**
 * rpcrdma2_recv_event - handle an event of a Receive CQ that the owner polls
 * @cq: the CQ
 * @context: the connection
 *
 * Context: any; drivers call it, some with interrupts disabled.
 */
void rpcrdma2_recv_event(struct ib_cq *cq, void *context)
{
	struct rpcrdma2_conn *co = context;

	if (likely(READ_ONCE(co->co_recv_polled)))
		co->co_ops->arrived(co);
	else
		queue_work(rpcrdma2_wq, &co->co_recv_work);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_recv_event);

bool rpcrdma2_recvs_poll(struct rpcrdma2_conn *co, unsigned int most)
{
	struct ib_cq *cq = co->co_recv_cq;

	return ib_process_cq_direct(cq, most) >= (int)most ||
	       ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				    IB_CQ_REPORT_MISSED_EVENTS) > 0;
}
EXPORT_SYMBOL_GPL(rpcrdma2_recvs_poll);

void rpcrdma2_recvs_finish(struct rpcrdma2_conn *co)
{
	if (xchg(&co->co_recv_polled, false))
		queue_work(rpcrdma2_wq, &co->co_recv_work);
	ib_drain_rq(rpcrdma2_conn_qp(co));
	/* ib_drain_rq() polls such a CQ itself, perhaps beside the work */
	flush_work(&co->co_recv_work);
}
EXPORT_SYMBOL_GPL(rpcrdma2_recvs_finish);

void rpcrdma2_rpool_batch(struct rpcrdma2_conn *co, struct rpcrdma2_rpool *rp,
			  unsigned int batch)
{
	bool taken = true;

	scoped_guard(spinlock, &rp->rp_lock) {
		WRITE_ONCE(rp->rp_batch, batch);
		smp_mb();	/* pairs with rpcrdma2_recv_repost() */
		rpcrdma2_recvs_post_batch_locked(co, rp, &taken);
	}
	if (unlikely(!taken))
		rpcrdma2_conn_lose(co, RPCRDMA2_LOSS_POST);
}
EXPORT_SYMBOL_GPL(rpcrdma2_rpool_batch);

int rpcrdma2_recvs_fill(struct rpcrdma2_conn *co, struct rpcrdma2_rpool *rp,
			unsigned int total)
{
	struct rpcrdma2_recv *rv;

	while (rp->rp_count < total) {
		/* fail rather than invoke the OOM killer */
		rv = rpcrdma2_recv_make(co, rp,
					GFP_KERNEL | __GFP_RETRY_MAYFAIL |
						__GFP_NOWARN);
		if (!rv)
			return -ENOMEM;
		rpcrdma2_recv_repost(co, rv);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rpcrdma2_recvs_fill);

void rpcrdma2_recv_copy(const struct rpcrdma2_recv *rv, u32 at, u32 len,
			const struct xdr_buf *buf, u32 to)
{
	const struct rpcrdma2_range range = { to, len };
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;
	u32 done, n;

	rpcrdma2_walk_begin(&wk, buf, &range, 1);
	while (rpcrdma2_walk_next(&wk, &pc)) {
		/* At most a page, so the compiler copies without a call. */
		for (done = 0; done < pc.pc_len; done += n, at += n) {
			n = min_t(u32, pc.pc_len - done,
				  PAGE_SIZE - offset_in_page(at));
			memcpy_to_page(pc.pc_page, pc.pc_off + done,
				       rpcrdma2_recv_at(rv, at), n);
		}
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_recv_copy);

#ifdef RPCRDMA2_STRETCHES
void rpcrdma2_recv_buf(struct rpcrdma2_recv *rv, u32 at,
		       struct xdr_buf *buf)
{
	/* a single page is in the kernel's linear mapping */
	void *base = rv->rv_len <= PAGE_SIZE ? page_address(rv->rv_pages[0]) :
					       rv->rv_buf;
	u32 len = rv->rv_len - at;

	*buf = (struct xdr_buf){
		.head[0].iov_base = base + at,
		.head[0].iov_len  = len,
		.pages		  = rv->rv_pages,
		.buflen		  = len,
		.len		  = len,
	};
}
EXPORT_SYMBOL_GPL(rpcrdma2_recv_buf);
#endif

/* Remove @at bytes from the beginning of a message. */
static void rpcrdma2_recv_cut(struct rpcrdma2_recv *rv, u32 at)
{
	u32 to, n;

	rv->rv_len -= at;
	for (to = 0; to < rv->rv_len; to += n, at += n) {
		n = min3(rv->rv_len - to, (u32)(PAGE_SIZE - offset_in_page(to)),
			 (u32)(PAGE_SIZE - offset_in_page(at)));
		memmove(rpcrdma2_recv_at(rv, to), rpcrdma2_recv_at(rv, at), n);
	}
}

void rpcrdma2_recv_buf_paged(struct rpcrdma2_recv *rv, u32 at,
			     struct xdr_buf *buf)
{
	struct page **page;
	u32 off, len, head;

	if (unlikely(!rpcrdma2_layout_has_head(at, rv->rv_len))) {
		rpcrdma2_recv_cut(rv, at);
		at = 0;
	}
	page = rv->rv_pages + (at >> PAGE_SHIFT);
	off = offset_in_page(at);
	len = rv->rv_len - at;
	head = min_t(u32, len, PAGE_SIZE - off);
	*buf = (struct xdr_buf){
		.head[0].iov_base = len ? page_address(*page) + off : NULL,
		.head[0].iov_len  = head,
		.pages		  = len > head ? page + 1 : rv->rv_pages,
		.page_len	  = len - head,
		.buflen		  = len,
		.len		  = len,
	};
}
EXPORT_SYMBOL_GPL(rpcrdma2_recv_buf_paged);

/* The Send Queue */

bool rpcrdma2_sq_take(struct rpcrdma2_conn *co, unsigned int count,
		      bool reserved)
{
	struct rpcrdma2_units *un = &co->co_sq.sq_units;

	return rpcrdma2_units_take(un, count, reserved ? 0 : un->un_reserved);
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_take);

void rpcrdma2_sq_give(struct rpcrdma2_conn *co, unsigned int count)
{
	if (rpcrdma2_units_give(&co->co_sq.sq_units, count))
		co->co_ops->room(co);
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_give);

/* Reason for the loss of the connection when a work request fails */
static enum rpcrdma2_loss rpcrdma2_sq_loss_of(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return RPCRDMA2_LOSS_READ;
	case IB_WR_REG_MR:
	case IB_WR_LOCAL_INV:
		return RPCRDMA2_LOSS_REGION;
	default:
		return RPCRDMA2_LOSS_SEND;
	}
}

/* Whether the peer's device has rejected this work request permanently */
static bool rpcrdma2_sq_is_refused(const struct ib_wc *wc)
{
	return wc->status == IB_WC_REM_ACCESS_ERR ||
	       wc->status == IB_WC_REM_INV_REQ_ERR ||
	       wc->status == IB_WC_REM_OP_ERR;
}

static void rpcrdma2_sq_wc_front(struct ib_cq *cq, struct ib_wc *wc);

/* Completions of all but the last of a chain. The index is the reason. */
static struct ib_cqe rpcrdma2_fronts[] = {
	[RPCRDMA2_LOSS_SEND]	= { rpcrdma2_sq_wc_front },
	[RPCRDMA2_LOSS_READ]	= { rpcrdma2_sq_wc_front },
	[RPCRDMA2_LOSS_REGION]	= { rpcrdma2_sq_wc_front },
};

/*
 * Such a work request completes only if it fails. The rest is flushed, and the
 * last one of the chain loses the connection.
 */
static void rpcrdma2_sq_wc_front(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_conn *co = cq->cq_context;

	trace_rpcrdma2_wc_front(cq, 0, wc);
	co->co_sq.sq_refused |= rpcrdma2_sq_is_refused(wc);
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		rpcrdma2_conn_blame(co, wc->wr_cqe - rpcrdma2_fronts);
}

/* Move a chain from the queue to @done and add its entries to @wrs. */
static void rpcrdma2_sq_unlink_post(struct rpcrdma2_post *post,
				    struct list_head *done, unsigned int *wrs)
{
	*wrs += post->po_wrs;
	post->po_wrs = 0;
	list_move_tail(&post->po_list, done);
}

/*
 * rpcrdma2_sq_drain() passes false also for unsignaled chains that succeeded:
 * their owners ignore @ok.
 */
static void rpcrdma2_sq_finish(struct rpcrdma2_conn *co, struct list_head *done,
			       unsigned int wrs, bool ok)
{
	struct rpcrdma2_post *post, *next;

	rpcrdma2_sq_give(co, wrs);
	list_for_each_entry_safe(post, next, done, po_list) {
		list_del(&post->po_list);
		post->po_done(co, post, ok);
	}
}

static bool rpcrdma2_post_has_deadline(const struct rpcrdma2_sq *sq,
				       const struct rpcrdma2_post *post)
{
	return post->po_signal && sq->sq_timeout &&
	       (sq->sq_all_timed || post->po_timed);
}

static void rpcrdma2_sq_wc_post(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_post *post = container_of(wc->wr_cqe,
						  struct rpcrdma2_post, po_cqe);
	struct rpcrdma2_conn *co = cq->cq_context;
	bool ok = wc->status == IB_WC_SUCCESS;
	struct rpcrdma2_sq *sq = &co->co_sq;
	struct rpcrdma2_post *each, *next;
	unsigned int wrs = 0;
	LIST_HEAD(done);

	trace_rpcrdma2_wc_send(cq, post->po_id, wc);
	if (unlikely(!ok)) {
		if ((sq->sq_refused || rpcrdma2_sq_is_refused(wc)) &&
		    post->po_refused) {
			if (rpcrdma2_fault(refused))
				msleep(20);
			post->po_refused(co, post);
		}
		sq->sq_refused = false;
		rpcrdma2_conn_lose_wc(co, wc,
				      rpcrdma2_sq_loss_of(post->po_opcode));
	}

	spin_lock(&sq->sq_lock);
	if (!WARN_ON_ONCE(!post->po_wrs)) {	/* retired once (Q1) */
		list_for_each_entry_safe(each, next, &sq->sq_posted, po_list) {
			/* errors come in any order, one for each chain */
			if (each == post || !ok)
				break;
			if (!each->po_signal)
				rpcrdma2_sq_unlink_post(each, &done, &wrs);
		}
		if (rpcrdma2_post_has_deadline(sq, post) &&
		    list_is_first(&post->po_list, &sq->sq_posted))
			sq->sq_moved = jiffies;
		rpcrdma2_sq_unlink_post(post, &done, &wrs);
	}
	spin_unlock(&sq->sq_lock);
	rpcrdma2_sq_finish(co, &done, wrs, ok);
}

/*
 * Jiffies until the oldest chain with a deadline is overdue. Time that it
 * spends behind others does not count; but a peer that lets a chain complete
 * now and then cannot delay the last chain without limit.
 */
static long rpcrdma2_sq_left(const struct rpcrdma2_sq *sq,
			     const struct rpcrdma2_post *post)
{
	unsigned long since = post->po_since;
	long most = since + RPCRDMA2_SQ_PATIENCE * sq->sq_timeout - jiffies;

	lockdep_assert_held(&sq->sq_lock);
	if (time_after(sq->sq_moved, since))
		since = sq->sq_moved;
	return min_t(long, since + sq->sq_timeout - jiffies, most);
}

/*
 * The owner closes a lost connection, but its task may wait for the overdue chain
 * first: a task of the RPC layer can hold XPRT_LOCKED while it waits for its RPC
 * to be unpinned. In the error state the device returns the chain.
 */
static void rpcrdma2_sq_flush(struct rpcrdma2_conn *co)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	/* Drivers allocate, and reclaim may wait for an RPC of the connection. */
	unsigned int flags = rpcrdma2_reclaim_begin(READ_ONCE(co->co_swaps));

	ib_modify_qp(rpcrdma2_conn_qp(co), &attr, IB_QP_STATE);
	rpcrdma2_reclaim_end(flags);
}

static void rpcrdma2_sq_watch(struct work_struct *work)
{
	struct rpcrdma2_conn *co = container_of(to_delayed_work(work),
						struct rpcrdma2_conn,
						co_sq.sq_watch);
	enum rpcrdma2_loss why = RPCRDMA2_LOSS_NONE;
	struct rpcrdma2_sq *sq = &co->co_sq;
	const struct rpcrdma2_post *post;
	long left = 0;

	spin_lock(&sq->sq_lock);
	list_for_each_entry(post, &sq->sq_posted, po_list) {
		if (!rpcrdma2_post_has_deadline(sq, post))
			continue;
		left = rpcrdma2_sq_left(sq, post);
		why = rpcrdma2_sq_loss_of(post->po_opcode);
		break;
	}
	spin_unlock(&sq->sq_lock);

	if (left > 0) {
		/* a new chain may have queued the work with a longer delay */
		mod_delayed_work(rpcrdma2_wq, &sq->sq_watch, left);
	} else if (why) {
		WRITE_ONCE(sq->sq_overdue, true);
		rpcrdma2_conn_lose(co, why);
		rpcrdma2_sq_flush(co);
	}
}

void rpcrdma2_sq_init(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_sq *sq = &co->co_sq;

	spin_lock_init(&sq->sq_lock);
	INIT_LIST_HEAD(&sq->sq_posted);
	sq->sq_send_max = U32_MAX;
	mutex_init(&sq->sq_drain_mutex);
	INIT_DELAYED_WORK(&sq->sq_watch, rpcrdma2_sq_watch);
}

void rpcrdma2_sq_open(struct rpcrdma2_conn *co, unsigned int entries,
		      unsigned int reserve, unsigned int batch,
		      unsigned long timeout)
{
	struct rpcrdma2_sq *sq = &co->co_sq;

	atomic_set(&sq->sq_units.un_free, entries);
	sq->sq_entries = entries;
	sq->sq_units.un_reserved = reserve;
	sq->sq_batch = batch;
	sq->sq_timeout = timeout;
	sq->sq_moved = jiffies;
	sq->sq_all_timed = true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_open);

void rpcrdma2_sq_bound(struct rpcrdma2_conn *co, u32 bytes)
{
	guard(spinlock)(&co->co_sq.sq_lock);
	co->co_sq.sq_send_max = bytes;
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_bound);

/* Prepare all of a chain but its last work request, which is returned */
static struct ib_send_wr *rpcrdma2_sq_ready_front(struct rpcrdma2_post *post,
						  struct ib_send_wr *wr)
{
	for (post->po_wrs = 1; wr->next; wr = wr->next) {
		wr->wr_cqe = &rpcrdma2_fronts[rpcrdma2_sq_loss_of(wr->opcode)];
		wr->send_flags &= ~IB_SEND_SIGNALED;
		post->po_wrs++;
	}
	return wr;
}

static void rpcrdma2_sq_choose_signal(struct rpcrdma2_sq *sq,
				      struct rpcrdma2_post *post,
				      struct ib_send_wr *last)
{
	sq->sq_unsignaled += post->po_wrs + post->po_extra;
	if (post->po_signal || sq->sq_unsignaled >= sq->sq_batch) {
		post->po_signal = true;
		last->send_flags |= IB_SEND_SIGNALED;
		sq->sq_unsignaled = 0;
	} else {
		last->send_flags &= ~IB_SEND_SIGNALED;
	}
}

static int rpcrdma2_sq_post_chain(struct rpcrdma2_conn *co,
				  struct ib_send_wr *first,
				  const struct ib_send_wr **bad)
{
	struct ib_send_wr *rest = first->next;
	int ret;

	if (first->opcode == IB_WR_RDMA_READ && rpcrdma2_fault(read))
		return 0;
	if (first->opcode == IB_WR_LOCAL_INV && rpcrdma2_fault(inv))
		return 0;
	if (first->opcode == IB_WR_SEND && first->num_sge > 1 &&
	    rpcrdma2_fault(send))
		return 0;
	if (first->opcode != IB_WR_LOCAL_INV || !rest || !rpcrdma2_fault(fence))
		return ib_post_send(rpcrdma2_conn_qp(co), first, bad);
	first->next = NULL;
	ret = ib_post_send(rpcrdma2_conn_qp(co), first, bad);
	first->next = rest;
	if (ret)
		return ret;
	*bad = rest;
	return -ENOMEM;
}

int rpcrdma2_sq_post(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
		     struct ib_send_wr *first)
{
	struct ib_send_wr *last = rpcrdma2_sq_ready_front(post, first);
	const struct ib_send_wr *bad = NULL;
	struct rpcrdma2_sq *sq = &co->co_sq;
	unsigned int wrs = post->po_wrs;
	bool timed;
	int ret;

	last->wr_cqe = &post->po_cqe;
	post->po_cqe.done = rpcrdma2_sq_wc_post;
	post->po_opcode = last->opcode;
	post->po_since = jiffies;

	spin_lock(&sq->sq_lock);
	/* no larger Send after rpcrdma2_sq_bound(), even if it was built (C-034) */
	if (unlikely(post->po_bytes > sq->sq_send_max) ||
	    (post->po_bytes && rpcrdma2_fault(send_max))) {
		post->po_wrs = 0;
		spin_unlock(&sq->sq_lock);
		rpcrdma2_sq_give(co, wrs);
		return -EMSGSIZE;
	}
	rpcrdma2_sq_choose_signal(sq, post, last);
	timed = rpcrdma2_post_has_deadline(sq, post);
	post->po_id = ++sq->sq_last_id;
	trace_rpcrdma2_post_send(co, post, last);
	list_add_tail(&post->po_list, &sq->sq_posted);
	if (post->po_begin)
		post->po_begin(co, post);
	ret = rpcrdma2_sq_post_chain(co, first, &bad);
	if (unlikely(ret && bad == first)) {
		list_del(&post->po_list);
		post->po_wrs = 0;
	}
	spin_unlock(&sq->sq_lock);
	if (likely(!ret)) {
		/* @post may have been freed */
		if (timed && !delayed_work_pending(&sq->sq_watch))
			queue_delayed_work(rpcrdma2_wq, &sq->sq_watch,
					   sq->sq_timeout);
		return 0;
	}

	rpcrdma2_conn_lose(co, RPCRDMA2_LOSS_POST);
	if (bad != first)
		return 0;
	rpcrdma2_sq_give(co, wrs);
	return -ENOTCONN;
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_post);

void rpcrdma2_sq_drain(struct rpcrdma2_conn *co)
{
	struct rpcrdma2_sq *sq = &co->co_sq;
	struct rpcrdma2_post *post, *next;
	unsigned int wrs = 0;
	LIST_HEAD(done);
	u32 last;

	mutex_lock(&sq->sq_drain_mutex);
	cancel_delayed_work_sync(&sq->sq_watch);
	spin_lock(&sq->sq_lock);
	last = sq->sq_last_id;
	spin_unlock(&sq->sq_lock);

	ib_drain_sq(rpcrdma2_conn_qp(co));

	/* All completions of these chains have been reported. */
	spin_lock(&sq->sq_lock);
	list_for_each_entry_safe(post, next, &sq->sq_posted, po_list) {
		if ((s32)(post->po_id - last) > 0)
			break;
		rpcrdma2_sq_unlink_post(post, &done, &wrs);
	}
	spin_unlock(&sq->sq_lock);
	rpcrdma2_sq_finish(co, &done, wrs, false);
	mutex_unlock(&sq->sq_drain_mutex);
}
EXPORT_SYMBOL_GPL(rpcrdma2_sq_drain);

bool rpcrdma2_sq_is_whole(const struct rpcrdma2_conn *co)
{
	const struct rpcrdma2_sq *sq = &co->co_sq;

	return atomic_read(&sq->sq_units.un_free) == (int)sq->sq_entries &&
	       list_empty(&sq->sq_posted);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_sq_is_whole);
