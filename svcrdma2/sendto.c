// SPDX-License-Identifier: GPL-2.0
/* From nfsd's Reply to the Send Queue, or an RDMA2_ERROR in its place. */
#include <linux/highmem.h>

#include <rpcrdma2/fault.h>

#include "svcrdma2.h"
#include "trace.h"

/*
 * Send contexts: a Send, its buffer, and the resources it holds until it is
 * done. Contexts are made on demand, up to the number of credits, of unsignaled
 * Sends that can linger on the Send Queue, and a few, which are made before the
 * connection is accepted: when there is no memory, one of these comes back.
 *
 * The transport header is built in the context's buffer, parts of 4 KiB that stay
 * mapped. The inline part of a Reply is copied there while that is cheaper:
 * then the Send is unsignaled, and the pages stay with the thread. Pages that
 * the device reads, for the Send or for RDMA Writes in front of it, go with the
 * context (R4).
 *
 * A thread that lacks a context or parts posts nothing, and so completes no
 * unsignaled Send. A Send whose buffer gets parts is therefore signaled. After
 * each attempt that finds memory short, the next Sends are, too, whatever their
 * length: a context may have parts that its Send does not use. Unsignaled Sends
 * from before the first attempt, a batch at most, stay until the next Send: a
 * connection ends if all its threads lack what these hold and nothing else
 * (svc2_shortage_retry()).
 */

/* A full barrier: a trim that begins sees earlier changes. */
static void svc2_trim_later(void)
{
	queue_delayed_work(svc2_wq, &svc2_trim_work, SVC2_TRIM_TIME);
}

/* The next Sends, @sends at least, return early what they hold. */
static void svc2_tx_set_scarce(struct svc2_xprt *sp, unsigned int sends)
{
	WRITE_ONCE(sp->sp_tx_scarce, max(READ_ONCE(sp->sp_tx_scarce), sends));
}

/*
 * Counts a Send. Two at once may count as one, or undo svc2_tx_set_scarce(): a
 * thread in need calls that again. What comes back may be idle: a trim is due.
 * Return: whether the Send must be signaled.
 */
static bool svc2_tx_is_scarce(struct svc2_xprt *sp)
{
	unsigned int left = READ_ONCE(sp->sp_tx_scarce);

	if (likely(!left))
		return false;
	WRITE_ONCE(sp->sp_tx_scarce, left - 1);
	svc2_trim_later();
	return true;
}

/* Under sq_lock. Writes the current grant: no Send gets in between (R6). */
static void svc2_send_begin(struct rpcrdma2_conn *co, struct rpcrdma2_post *post)
{
	struct svc2_tx *tx = container_of(post, struct svc2_tx, tx_post);
	__be32 *word = tx->tx_buf;

	if (tx->tx_callback)
		/* see svc2_bc_claim_callback(); a peer may guess the xid */
		smp_store_release(&tx->tx_callback->sc_vers, tx->tx_vers);
	else
		word[2] = cpu_to_be32(READ_ONCE(svc2_from_conn(co)->sp_grant));
	ib_dma_sync_single_for_device(co->co_pd->device, tx->tx_sge[0].addr,
				      tx->tx_sge[0].length, DMA_TO_DEVICE);
}

/* The peer's device has rejected a message, or the RDMA Writes of a Reply. */
static void svc2_send_refused(struct rpcrdma2_conn *co,
			      struct rpcrdma2_post *post)
{
	struct svc2_tx *tx = container_of(post, struct svc2_tx, tx_post);
	const __be32 *word = tx->tx_buf;

	if (!tx->tx_callback && be32_to_cpu(word[3]) <= RDMA2_NOMSG)
		svc2_breaker_note(svc2_from_conn(co), be32_to_cpu(word[0]));
}

static void svc2_send_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
			   bool ok)
{
	struct svc2_tx *tx = container_of(post, struct svc2_tx, tx_post);
	struct svc2_xprt *sp = svc2_from_conn(co);

	if (post->po_signal)
		svc2_count(send_completions);
	if (unlikely(tx->tx_props))
		rpcrdma2_exchange_send_done(&sp->sp_ex, tx->tx_props, jiffies);
	svc2_tx_put(sp, tx);
}

/*
 * Allocates a part: a page, or 4 KiB of the slab if pages are larger. soft-iWARP
 * passes pages to TCP by reference, but copies memory of the slab.
 */
static void *svc2_tx_alloc_part(int node, gfp_t gfp)
{
	struct page *page;

	if (PAGE_SIZE > SVC2_TX_BUFSIZE)
		return kmalloc_node(SVC2_TX_BUFSIZE, gfp, node);
	page = alloc_pages_node(node, gfp, 0);
	return page ? page_address(page) : NULL;
}

static void svc2_tx_free_part(void *buf)
{
	if (PAGE_SIZE > SVC2_TX_BUFSIZE)
		kfree(buf);
	else
		free_page((unsigned long)buf);
}

/* Frees the parts of the buffer but the first @stay. */
static void svc2_tx_free_parts(struct svc2_xprt *sp, struct svc2_tx *tx,
			       unsigned int stay)
{
	struct svc2_tx_part *tp;

	while (tx->tx_nbufs > stay) {
		tp = &tx->tx_bufs[--tx->tx_nbufs];
		ib_dma_unmap_single(sp->sp_conn.co_pd->device, tp->tp_addr,
				    SVC2_TX_BUFSIZE, DMA_TO_DEVICE);
		svc2_tx_free_part(tp->tp_buf);
		if (tx->tx_nbufs)
			atomic_dec(&sp->sp_tx_parts);
	}
}

static void svc2_tx_free(struct svc2_xprt *sp, struct svc2_tx *tx)
{
	atomic_dec(&sp->sp_tx_count);
	svc2_tx_free_parts(sp, tx, 0);
	kfree(tx);
}

/* Return: false when the buffer of a context could not get another part. */
static bool svc2_tx_add_part(struct svc2_xprt *sp, struct svc2_tx *tx,
			     gfp_t gfp)
{
	struct svc2_tx_part *tp = &tx->tx_bufs[tx->tx_nbufs];
	struct ib_device *dev = sp->sp_conn.co_pd->device;

	tp->tp_buf = svc2_tx_alloc_part(ibdev_to_node(dev), gfp);
	if (!tp->tp_buf)
		return false;
	if (rpcrdma2_fault(map_send))
		goto out_free;
	tp->tp_addr = ib_dma_map_single(dev, tp->tp_buf, SVC2_TX_BUFSIZE,
					DMA_TO_DEVICE);
	if (ib_dma_mapping_error(dev, tp->tp_addr))
		goto out_free;
	tx->tx_nbufs++;
	return true;

out_free:
	svc2_tx_free_part(tp->tp_buf);
	return false;
}

static struct svc2_tx *svc2_tx_alloc(struct svc2_xprt *sp, gfp_t gfp)
{
	int node = ibdev_to_node(sp->sp_conn.co_pd->device);
	struct svc2_tx *tx;
	unsigned int i;

	tx = kzalloc_node(struct_size(tx, tx_sge, sp->sp_tx_sges), gfp, node);
	if (!tx || !svc2_tx_add_part(sp, tx, gfp)) {
		svc2_tx_set_scarce(sp, SVC2_TX_SCARCE);
		kfree(tx);
		return NULL;
	}
	tx->tx_buf = tx->tx_bufs[0].tp_buf;
	tx->tx_sge[0].addr = tx->tx_bufs[0].tp_addr;
	for (i = 0; i < sp->sp_tx_sges; i++)
		tx->tx_sge[i].lkey = sp->sp_conn.co_pd->local_dma_lkey;
	tx->tx_wr.sg_list = tx->tx_sge;
	tx->tx_wr.num_sge = 1;
	tx->tx_post.po_begin = svc2_send_begin;
	tx->tx_post.po_done = svc2_send_done;
	tx->tx_post.po_refused = svc2_send_refused;
	tx->tx_pages = tx->tx_few;
	rpcrdma2_rw_init(&tx->tx_rw, DMA_TO_DEVICE);
	if (atomic_inc_return(&sp->sp_tx_count) > SVC2_TX_RESERVE)
		svc2_trim_later();
	return tx;
}

static struct svc2_tx *svc2_tx_pop(struct svc2_xprt *sp)
{
	struct llist_node *first;

	spin_lock(&sp->sp_tx_lock);
	first = llist_del_first(&sp->sp_txs);
	spin_unlock(&sp->sp_tx_lock);
	return first ? llist_entry(first, struct svc2_tx, tx_list) : NULL;
}

/**
 * svc2_txs_create - make the first send contexts of a connection
 * @sp: connection
 *
 * Return: 0 or -ENOMEM.
 */
int svc2_txs_create(struct svc2_xprt *sp)
{
	struct svc2_tx *tx;
	unsigned int i;

	for (i = 0; i < SVC2_TX_RESERVE; i++) {
		tx = svc2_tx_alloc(sp, GFP_KERNEL);
		if (!tx)
			return -ENOMEM;
		llist_add(&tx->tx_list, &sp->sp_txs);
	}
	svc2_sem_open(&sp->sp_tx_sem, sp->sp_credits + SVC2_TX_RESERVE +
		      sp->sp_conn.co_sq.sq_batch);
	return 0;
}

/**
 * svc2_txs_destroy - free the send contexts, all of which are back
 * @sp: connection
 *
 * Context: ->xpo_free.
 */
void svc2_txs_destroy(struct svc2_xprt *sp)
{
	struct svc2_tx *tx;

	while ((tx = svc2_tx_pop(sp)))
		svc2_tx_free(sp, tx);
}

/*
 * The contexts in use may be those of Sends that linger, perhaps for as long as
 * the connection lasts, if these have so many unsignaled entries. So the next
 * Send brings them back, and schedules the trim. Return: whether contexts are
 * left to free before it.
 */
static bool svc2_trim(struct svc2_xprt *sp)
{
	struct llist_node **end = &sp->sp_txs.first, *idle;
	unsigned long since = jiffies - SVC2_TRIM_TIME;
	struct svc2_tx *tx, *next;
	unsigned int stay = 0;
	bool in_use;

	/* The first was used last. Without the lock others are only added. */
	scoped_guard(spinlock, &sp->sp_tx_lock) {
		for (; (idle = READ_ONCE(*end)); end = &idle->next, stay++) {
			tx = llist_entry(idle, struct svc2_tx, tx_list);
			if (stay < SVC2_TX_RESERVE ||
			    time_after_eq(tx->tx_used, since))
				continue;
			*end = NULL;
			break;
		}
	}
	llist_for_each_entry_safe(tx, next, idle, tx_list) {
		svc2_count(contexts_trimmed);
		svc2_tx_free(sp, tx);
	}
	/* data_race(): a Send meanwhile causes one trim more, or none */
	in_use = data_race(sp->sp_conn.co_sq.sq_unsignaled) + stay <
		 atomic_read(&sp->sp_tx_count);
	if (in_use || stay > SVC2_TX_RESERVE)
		return true;
	if (atomic_read(&sp->sp_tx_count) > SVC2_TX_RESERVE)
		svc2_tx_set_scarce(sp, 1);
	return false;
}

/* Work: frees idle contexts after a burst */
static void svc2_txs_trim(struct work_struct *work)
{
	struct svc2_xprt *sp;
	bool more = false;

	scoped_guard(mutex, &svc2_conns_mutex)
		list_for_each_entry(sp, &svc2_conns, sp_listed)
			more |= svc2_trim(sp);
	if (more)
		svc2_trim_later();
}

DECLARE_DELAYED_WORK(svc2_trim_work, svc2_txs_trim);

/**
 * svc2_tx_get - take a send context, or wait for one
 * @sp: connection
 *
 * Return: the context, or ERR_PTR(-ENOTCONN) when the connection is lost.
 */
struct svc2_tx *svc2_tx_get(struct svc2_xprt *sp)
{
	int ret = svc2_sem_take(sp, &sp->sp_tx_sem, 1, 0);
	struct svc2_tx *tx;

	if (ret)
		return ERR_PTR(ret);
	/* Out of memory: retry until a context comes back. */
	tx = svc2_retry_alloc(sp, svc2_tx_pop(sp) ?:
				  svc2_tx_alloc(sp, GFP_KERNEL));
	if (tx)
		return tx;
	svc2_sem_give(sp, &sp->sp_tx_sem, 1);
	return ERR_PTR(-ENOTCONN);
}

/**
 * svc2_tx_try_get - take a send context for a callback
 * @sp: connection
 * @sc: callback that it carries
 *
 * Context: RPC task; does not wait.
 * Return: the context, or NULL when there is none now.
 */
struct svc2_tx *svc2_tx_try_get(struct svc2_xprt *sp, struct svc2_callback *sc)
{
	struct svc2_tx *tx;

	if (atomic_dec_if_positive(&sp->sp_backward_free) < 0)
		return NULL;
	tx = svc2_tx_pop(sp) ?: svc2_tx_alloc(sp, GFP_NOWAIT | __GFP_NOWARN);
	if (tx)
		tx->tx_callback = sc;
	else
		atomic_inc(&sp->sp_backward_free);
	return tx;
}

/* Undoes the contents of a context. Svc thread, send CQ, ->xpo_free */
static void svc2_tx_reset(struct svc2_xprt *sp, struct svc2_tx *tx)
{
	if (!rpcrdma2_rw_is_empty(&tx->tx_rw))
		rpcrdma2_rw_free(&sp->sp_conn, &tx->tx_rw);
	for (; tx->tx_nmapped; tx->tx_nmapped--) {
		struct ib_sge *sge = &tx->tx_sge[tx->tx_nmapped];

		ib_dma_unmap_page(sp->sp_conn.co_pd->device, sge->addr, sge->length,
				  DMA_TO_DEVICE);
	}
	tx->tx_wr.num_sge = 1;
	if (tx->tx_npages)
		release_pages(tx->tx_pages, tx->tx_npages);
	if (tx->tx_pages != tx->tx_few)
		kfree(tx->tx_pages);
	tx->tx_pages = tx->tx_few;
	tx->tx_npages = 0;
	svc2_pages_give(sp, tx->tx_charged);
	tx->tx_charged = 0;
	tx->tx_head = NULL;
	tx->tx_reads_head = false;
	tx->tx_reads_pages = false;
	tx->tx_props = 0;
}

/**
 * svc2_tx_put - give a send context back
 * @sp: connection
 * @tx: send context; not on the Send Queue
 *
 * Context: svc thread, send CQ, RPC task.
 */
void svc2_tx_put(struct svc2_xprt *sp, struct svc2_tx *tx)
{
	bool backward = tx->tx_callback;

	svc2_tx_reset(sp, tx);
	tx->tx_callback = NULL;
	tx->tx_signal = false;
	tx->tx_used = jiffies;
	llist_add(&tx->tx_list, &sp->sp_txs);
	if (backward)
		atomic_inc(&sp->sp_backward_free);
	else
		svc2_sem_give(sp, &sp->sp_tx_sem, 1);
}

/**
 * svc2_tx_header - build the transport header in the buffer
 * @tx: send context
 * @h: header
 *
 * Context: svc thread, RPC task.
 */
void svc2_tx_header(struct svc2_tx *tx, const struct rpcrdma2_hdr *h)
{
	BUILD_BUG_ON(SVC2_TX_BUFSIZE < RPCRDMA2_HDR_MAX);

	tx->tx_len = rpcrdma2_encode_hdr(tx->tx_buf, h);
	tx->tx_vers = h->h_vers;
}

/*
 * Records which pages the device will read (R4). The head's page may have the
 * tail.
 */
static void svc2_tx_note_page(struct svc2_tx *tx, const struct page *page)
{
	if (page == tx->tx_head)
		tx->tx_reads_head = true;
	else
		tx->tx_reads_pages = true;
}

/* The same for ranges that RDMA Writes will read */
static void svc2_tx_note_pages(struct svc2_tx *tx, const struct xdr_buf *res,
			       const struct rpcrdma2_range *range,
			       unsigned int ranges)
{
	u32 pages = res->head[0].iov_len, tail = pages + res->page_len, end;

	for (; ranges; ranges--, range++) {
		if (!range->ra_len)
			continue;
		end = range->ra_off + range->ra_len;
		if (range->ra_off < pages)
			tx->tx_reads_head = true;
		if (res->page_len && range->ra_off < tail && end > pages)
			tx->tx_reads_pages = true;
		if (end > tail)
			svc2_tx_note_page(tx, virt_to_page(res->tail[0].iov_base));
	}
}

static int svc2_tx_map_piece(struct svc2_xprt *sp, struct svc2_tx *tx,
			     const struct rpcrdma2_piece *pc)
{
	struct ib_sge *sge = &tx->tx_sge[tx->tx_wr.num_sge];
	struct ib_device *dev = sp->sp_conn.co_pd->device;

	if (rpcrdma2_fault(map_send))
		return -EIO;
	svc2_tx_note_page(tx, pc->pc_page);
	sge->addr = ib_dma_map_page(dev, pc->pc_page, pc->pc_off, pc->pc_len,
				    DMA_TO_DEVICE);
	if (ib_dma_mapping_error(dev, sge->addr))
		return -EIO;
	sge->length = pc->pc_len;
	tx->tx_wr.num_sge++;
	tx->tx_nmapped++;
	return 0;
}

/*
 * Checks whether @len bytes can be copied behind the header, to @parts; gets
 * these. Return: 0; -EMSGSIZE when there is too much data; -ENOMEM when memory
 * is short, or the buffers of the connection have their maximum of parts.
 */
static int svc2_tx_copies(struct svc2_xprt *sp, struct svc2_tx *tx, u32 len,
			  unsigned int parts)
{
	if (len > SVC2_PULLUP_MAX || parts > sp->sp_tx_sges)
		return -EMSGSIZE;
	while (unlikely(tx->tx_nbufs < parts)) {
		tx->tx_signal = true;
		if (!atomic_add_unless(&sp->sp_tx_parts, 1, SVC2_TX_EXTRA_PARTS))
			return -ENOMEM;
		if (!svc2_tx_add_part(sp, tx, RPCRDMA2_GFP)) {
			atomic_dec(&sp->sp_tx_parts);
			return -ENOMEM;
		}
	}
	return 0;
}

/* Moves parts until @to has @parts, or @from has one. Both are idle, or own */
static void svc2_tx_move_parts(struct svc2_tx *to, struct svc2_tx *from,
			       unsigned int parts)
{
	while (to->tx_nbufs < parts && from->tx_nbufs > 1)
		to->tx_bufs[to->tx_nbufs++] = from->tx_bufs[--from->tx_nbufs];
}

/*
 * Gets the parts from idle contexts. If there are too few, the context keeps
 * only its first one: two Replies that wait must not each have what the other
 * lacks. The others go to idle contexts, or are freed when these are full.
 * Return: 0 or -ENOMEM.
 */
static int svc2_tx_borrow(struct svc2_xprt *sp, struct svc2_tx *tx,
			  unsigned int parts)
{
	unsigned int own = tx->tx_nbufs;
	struct svc2_tx *other;

	/* Without the lock contexts are only added, in front of the first one. */
	scoped_guard(spinlock, &sp->sp_tx_lock) {
		struct llist_node *first = READ_ONCE(sp->sp_txs.first);

		/* fail_buffer alone lets a Reply get here that needs more. */
		if (parts <= ARRAY_SIZE(tx->tx_bufs))
			llist_for_each_entry(other, first, tx_list)
				svc2_tx_move_parts(tx, other, parts);
		if (tx->tx_nbufs >= parts) {
			svc2_count_add(buffer_parts_moved, tx->tx_nbufs - own);
			return 0;
		}
		llist_for_each_entry(other, first, tx_list)
			svc2_tx_move_parts(other, tx, ARRAY_SIZE(tx->tx_bufs));
	}
	svc2_tx_free_parts(sp, tx, 1);
	return -ENOMEM;
}

/* Copies behind the data in the buffer */
static void svc2_tx_copy_piece(struct svc2_tx *tx,
			       const struct rpcrdma2_piece *pc)
{
	u32 done, n, at;

	for (done = 0; done < pc->pc_len; done += n, tx->tx_len += n) {
		at = tx->tx_len % SVC2_TX_BUFSIZE;
		n = min_t(u32, pc->pc_len - done, SVC2_TX_BUFSIZE - at);
		memcpy_from_page(tx->tx_bufs[tx->tx_len / SVC2_TX_BUFSIZE].tp_buf + at,
				 pc->pc_page, pc->pc_off + done, n);
	}
}

/* The first part is always in the gather list: see svc2_tx_post(). */
static void svc2_tx_gather_buffer(struct svc2_xprt *sp, struct svc2_tx *tx)
{
	struct ib_sge *sge = &tx->tx_sge[1];
	unsigned int i;

	for (i = 1; i * SVC2_TX_BUFSIZE < tx->tx_len; i++, sge++) {
		sge->addr = tx->tx_bufs[i].tp_addr;
		sge->length = min_t(u32, tx->tx_len - i * SVC2_TX_BUFSIZE,
				    SVC2_TX_BUFSIZE);
		ib_dma_sync_single_for_device(sp->sp_conn.co_pd->device,
					      sge->addr, sge->length,
					      DMA_TO_DEVICE);
	}
	tx->tx_wr.num_sge = i;
}

/* Whether the inline data is in the head, and fits the first part */
static bool svc2_tx_is_short(const struct svc2_tx *tx, const struct xdr_buf *res,
			     const struct rpcrdma2_reply_plan *plan)
{
	return plan->pn_nrest == 1 &&
	       plan->pn_rest[0].ra_off + plan->pn_len <= res->head[0].iov_len &&
	       tx->tx_len + plan->pn_len <= SVC2_TX_BUFSIZE;
}

/* Puts the inline data behind the header. Return: 0, or -EIO. */
static int svc2_tx_payload(struct svc2_xprt *sp, struct svc2_tx *tx,
			   const struct xdr_buf *res,
			   const struct rpcrdma2_reply_plan *plan)
{
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;
	int ret = 0;

	if (svc2_tx_is_short(tx, res, plan)) {
		memcpy(tx->tx_buf + tx->tx_len,
		       res->head[0].iov_base + plan->pn_rest[0].ra_off,
		       plan->pn_len);
		tx->tx_len += plan->pn_len;
		tx->tx_wr.num_sge = 1;
		return 0;
	}
	rpcrdma2_walk_begin(&wk, res, plan->pn_rest, plan->pn_nrest);
	wk.wk_left = plan->pn_len - plan->pn_gather;
	while (rpcrdma2_walk_next(&wk, &pc))
		svc2_tx_copy_piece(tx, &pc);
	svc2_tx_gather_buffer(sp, tx);
	wk.wk_left = plan->pn_gather;
	while (!ret && rpcrdma2_walk_next(&wk, &pc))
		ret = svc2_tx_map_piece(sp, tx, &pc);
	return ret;
}

/*
 * Makes the context the holder of the pages that the device reads (R4). The
 * thread's array has them too, until svc2_reply_detach_pages(). Return: 0, or
 * -ENOMEM for a transient shortage; svc2_tx_reset() follows.
 */
static int svc2_tx_hold_pages(struct svc_rqst *rqstp, struct svc2_tx *tx)
{
	struct page **pages = rqstp->rq_respages + !tx->tx_reads_head;
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	int free = svc2_sem_avail(&sp->sp_tx_sem);
	unsigned int held = tx->tx_reads_head;

	if (tx->tx_reads_pages)
		held = rqstp->rq_next_page - pages;
	if (!held)
		return 0;
	if (held > ARRAY_SIZE(tx->tx_few)) {
		tx->tx_pages = kmalloc_array(held, sizeof(*tx->tx_pages),
					     GFP_KERNEL);
		if (!tx->tx_pages)
			return -ENOMEM;
	}
	if (svc2_reply_counts(held, sp->sp_credits + SVC2_TX_RESERVE - free))
		tx->tx_charged = svc2_pages_take(sp, rqstp->rq_xprt_ctxt,
						 held);
	memcpy(tx->tx_pages, pages, held * sizeof(*pages));
	tx->tx_npages = held;
	tx->tx_signal = true;
	return 0;
}

/**
 * svc2_tx_post - post a Send and the RDMA Writes in front of it
 * @sp: connection
 * @tx: send context, built
 * @inv_handle: handle to invalidate (C-075), or 0 for a plain Send (C-074)
 * @held: Send Queue entries that were taken for it, or NULL
 *
 * Context, return: as svc2_sq_post().
 */
int svc2_tx_post(struct svc2_xprt *sp, struct svc2_tx *tx, u32 inv_handle,
		 unsigned int *held)
{
	struct ib_send_wr *first = &tx->tx_wr;
	bool writes = !rpcrdma2_rw_is_empty(&tx->tx_rw);
	struct svc2_callback *sc = tx->tx_callback;
	unsigned int regions = 0, i;
	int ret;

	tx->tx_sge[0].length = min_t(unsigned int, tx->tx_len, SVC2_TX_BUFSIZE);
	tx->tx_post.po_bytes = 0;
	/* version 1 has no Receives that become smaller (C-034) */
	for (i = 0; tx->tx_vers == RPCRDMA2_VERS_TWO && i < tx->tx_wr.num_sge; i++)
		tx->tx_post.po_bytes += tx->tx_sge[i].length;
	tx->tx_wr.next = NULL;
	tx->tx_wr.opcode = IB_WR_SEND;
	if (inv_handle) {
		tx->tx_wr.opcode = IB_WR_SEND_WITH_INV;
		tx->tx_wr.ex.invalidate_rkey = inv_handle;
	}
	if (writes)
		first = rpcrdma2_rw_chain(&sp->sp_conn, &tx->tx_rw, NULL,
					  &tx->tx_wr);
	if (sc && rpcrdma2_is_exposed(&sc->sc_exposed))
		regions = rpcrdma2_exposed_chain(&sc->sc_exposed, &first);
	/* a Send with the last free context is signaled: takers wait for it */
	tx->tx_post.po_extra = tx->tx_wr.num_sge - 1;
	tx->tx_post.po_signal = svc2_tx_is_scarce(sp) || writes ||
				tx->tx_signal || sc ||
				svc2_sem_avail(&sp->sp_tx_sem) <= 0;
	ret = svc2_sq_post(sp, &tx->tx_post, first, sc, held);
	if (ret)
		return ret;
	if (regions)
		svc2_count_add(backward_registrations, regions);
	svc2_count(sends);
	if (inv_handle)
		svc2_count(sends_with_inv);
	return 0;
}

static_assert(SVC2_C_errors_system - SVC2_C_errors_vers ==
	      RDMA2_ERR_SYSTEM - RDMA2_ERR_VERS);

/**
 * svc2_error_instead - send an error in place of an answer
 * @sp: connection
 * @tx: context of the answer; posted or put back afterwards
 * @h: header of the answer; overwritten
 * @plan: plan of the answer; pn_code is the error, or 0 for an unexpected one
 * @ret: reason why there is no answer (C-093); 0 when none was tried
 *
 * A message that may be answered always is, or the connection is lost (S46).
 *
 * Return: 0 or -ENOTCONN.
 */
int svc2_error_instead(struct svc2_xprt *sp, struct svc2_tx *tx,
		       struct rpcrdma2_hdr *h,
		       struct rpcrdma2_reply_plan *plan, int ret)
{
	if (ret == -ENOTCONN)
		goto out_close;
	if (!plan->pn_code)
		rpcrdma2_plan_error(plan, RDMA2_ERR_SYSTEM, 0, 0);
	svc2_tx_reset(sp, tx);
	rpcrdma2_set_error(h, plan->pn_code, plan->pn_arg, plan->pn_arg2);
	h->h_credit = READ_ONCE(sp->sp_grant);	/* errors grant, too (C-077) */
	svc2_tx_header(tx, h);
	trace_svc2_send_error(sp->sp_conn.co_send_cq, 0, h, tx->tx_len,
			      plan->pn_code);
	/* a plain Send, whatever handle the Call nominated (S49) */
	if (svc2_tx_post(sp, tx, 0, NULL))
		goto out_close;
	this_cpu_inc(svc2_counters[SVC2_C_errors_vers + plan->pn_code -
				   RDMA2_ERR_VERS]);
	rpcrdma2_errors_count(&sp->sp_errors, plan->pn_code);
	return 0;

out_close:
	/* neither answer nor error (S46) */
	svc2_tx_put(sp, tx);
	svc2_lose(sp, RPCRDMA2_LOSS_REPLY);
	return -ENOTCONN;
}

/**
 * svc2_refuse - answer a message with an error
 * @sp: its connection
 * @msg: message, which may be answered (S38); gone afterwards (C-082)
 * @code: code of the error
 * @arg: its argument, 0 for the server's limit: see rpcrdma2_set_error()
 * @arg2: its second argument
 *
 * Return: 0, for ->xpo_recvfrom.
 */
int svc2_refuse(struct svc2_xprt *sp, struct svc2_msg *msg,
		enum rpcrdma2_errcode code, u32 arg, u32 arg2)
{
	struct rpcrdma2_reply_plan plan;
	struct svc2_tx *tx;

	svc2_msg_put_recv(sp, msg);		/* R6 */
	svc2_sq_release(sp, &msg->sm_entries);
	tx = svc2_tx_get(sp);
	if (!IS_ERR(tx)) {
		rpcrdma2_plan_error(&plan, code, arg, arg2);
		svc2_error_instead(sp, tx, &msg->sm_msg.mg_hdr, &plan, 0);
	}
	svc2_msg_put(sp, msg);
	return 0;
}

/**
 * svc2_result_payload - implement ->xpo_result_payload
 * @rqstp: thread
 * @offset: start in rq_res of a result that may go in a Write chunk
 * @length: its bytes
 *
 * Return: 0. svc2_sendto() checks whether the chunk is large enough.
 */
int svc2_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			unsigned int length)
{
	struct svc2_msg *call = rqstp->rq_xprt_ctxt;

	if (call && call->sm_nresults < ARRAY_SIZE(call->sm_results))
		call->sm_results[call->sm_nresults++] =
			(struct rpcrdma2_range){ offset, length };
	return 0;
}

/*
 * Plans that the device gathers the inline data, but for the head: as much of
 * it as fits the first part of the buffer is copied. Return: whether there are
 * enough gather entries.
 */
static bool svc2_reply_gathers(const struct svc2_xprt *sp,
			       const struct xdr_buf *res, u32 hdrlen,
			       struct rpcrdma2_reply_plan *plan)
{
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;

	rpcrdma2_walk_begin(&wk, res, plan->pn_rest, plan->pn_nrest);
	wk.wk_left = SVC2_TX_BUFSIZE - hdrlen;
	if (!rpcrdma2_walk_next(&wk, &pc))
		return false;
	wk.wk_left = plan->pn_len - pc.pc_len;
	plan->pn_gather = wk.wk_left;
	return rpcrdma2_walk_count(wk) < sp->sp_tx_sges;
}

/*
 * Inline data beyond the first part of the buffer is copied to further parts,
 * or the device gathers it. Return: 0; -ENOMEM when neither is possible now;
 * -EMSGSIZE when neither ever is.
 */
static int svc2_reply_prepare_inline(struct svc2_xprt *sp, struct svc2_tx *tx,
				     const struct xdr_buf *res, u32 hdrlen,
				     struct rpcrdma2_reply_plan *plan)
{
	unsigned int parts = DIV_ROUND_UP(hdrlen + plan->pn_len, SVC2_TX_BUFSIZE);
	bool fails = rpcrdma2_fault(buffer);
	int ret;

	ret = fails ? -ENOMEM : svc2_tx_copies(sp, tx, plan->pn_len, parts);
	if (likely(!ret))
		return 0;
	if (!fails && svc2_reply_gathers(sp, res, hdrlen, plan))
		return 0;
	plan->pn_gather = 0;
	if (ret != -ENOMEM)
		return ret;
	svc2_tx_set_scarce(sp, SVC2_TX_SCARCE);
	return svc2_tx_borrow(sp, tx, parts);
}

/*
 * A Reply that fits the peer's Receives is not refused for lack of a buffer: it
 * goes in the Reply chunk if there is one, and waits if there is none (C-093).
 * Return: 0, -ENOMEM for a transient shortage, -EINVAL for an error.
 */
static int svc2_reply_make_plan(struct svc2_xprt *sp, struct svc2_tx *tx,
				struct svc2_msg *call,
				const struct xdr_buf *res,
				struct rpcrdma2_reply_plan *plan)
{
	struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	u32 hdrlen;
	int ret;

	if (h->h_nwrites)
		rpcrdma2_find_results(res, call->sm_results, call->sm_nresults);
	hdrlen = rpcrdma2_respond_plan(plan, h, call->sm_results,
				       call->sm_nresults, res->len,
				       READ_ONCE(sp->sp_send_max[h->h_vers]));
	if (plan->pn_code)
		return -EINVAL;
	if (plan->pn_reply_chunk || likely(hdrlen + plan->pn_len <= SVC2_TX_BUFSIZE))
		return 0;
	ret = svc2_reply_prepare_inline(sp, tx, res, hdrlen, plan);
	if (likely(!ret))
		return 0;
	rpcrdma2_plan_reply(plan, h, call->sm_results, call->sm_nresults,
			    res->len, hdrlen, SVC2_TX_BUFSIZE);
	if (!plan->pn_code)
		return 0;
	return ret == -ENOMEM ? ret : -EINVAL;
}

/* Return: 0; -EINVAL when @plan is an error; -ENOTCONN: connection lost. */
static int svc2_reply_plan(struct svc_rqst *rqstp, struct svc2_tx *tx,
			   struct svc2_msg *call,
			   struct rpcrdma2_reply_plan *plan)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	unsigned int tries = 0;
	int ret;

	do {
		ret = svc2_reply_make_plan(sp, tx, call, &rqstp->rq_res, plan);
	} while (svc2_try_again(sp, &tries, &ret));
	trace_svc2_plan_reply(call, plan);
	return ret;
}

/* Counts a Reply that was posted. */
static void svc2_reply_count(struct svc2_xprt *sp, const struct rpcrdma2_hdr *h,
			     const struct rpcrdma2_reply_plan *plan)
{
	unsigned int i;

	svc2_count(replies);
	for (i = 0; i < h->h_nwrites; i++) {
		if (plan->pn_writes[i].ra_len) {
			svc2_count(write_chunks);
			atomic_long_inc(&sp->sp_write_chunks);
			svc2_count_add(write_chunk_bytes, plan->pn_writes[i].ra_len);
		}
	}
	if (plan->pn_reply_chunk) {
		svc2_count(reply_chunks_used);
		atomic_long_inc(&sp->sp_reply_chunks);
		svc2_count_add(reply_chunk_bytes, plan->pn_len);
		return;
	}
	svc2_count_add(inline_bytes, plan->pn_len);
	svc2_count_add(pullup_bytes, plan->pn_len - plan->pn_gather);
}

static int svc2_reply_fill_tx(struct svc_rqst *rqstp, struct svc2_tx *tx,
			      struct svc2_msg *call,
			      const struct rpcrdma2_reply_plan *plan)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct xdr_buf *res = &rqstp->rq_res;
	struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	int ret;

	if (rpcrdma2_fault(reply))
		return -EINVAL;
	tx->tx_head = rqstp->rq_respages[0];
	svc2_tx_note_pages(tx, res, plan->pn_writes, h->h_nwrites);
	if (plan->pn_reply_chunk)
		svc2_tx_note_pages(tx, res, plan->pn_rest, plan->pn_nrest);
	ret = rpcrdma2_respond_writes(&sp->sp_conn, &tx->tx_rw, res, h, plan) ?:
	      rpcrdma2_rw_map(&sp->sp_conn, &tx->tx_rw);
	if (ret)
		return ret;
	svc2_tx_header(tx, h);
	if (tx->tx_len > plan->pn_send_max)
		return -EMSGSIZE;
	if (!plan->pn_reply_chunk)
		ret = svc2_tx_payload(sp, tx, res, plan);
	return ret ?: svc2_tx_hold_pages(rqstp, tx);
}

/* Return: as svc2_sendto(); -EAGAIN when it must be planned again (C-034). */
static int svc2_reply_send(struct svc_rqst *rqstp, struct svc2_tx *tx,
			   struct svc2_msg *call,
			   const struct rpcrdma2_reply_plan *plan)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	unsigned int tries = 0;
	bool head, pages;
	int ret;

	rpcrdma2_respond_hdr(&call->sm_msg.mg_hdr, plan, READ_ONCE(sp->sp_grant));
	/* the header keeps its lengths after a transient failure */
	do {
		ret = svc2_reply_fill_tx(rqstp, tx, call, plan);
		if (ret)
			svc2_tx_reset(sp, tx);
	} while (svc2_try_again(sp, &tries, &ret));
	if (ret)
		return ret;
	head = tx->tx_reads_head;
	pages = tx->tx_reads_pages;
	ret = svc2_tx_post(sp, tx, call->sm_inv_handle, &call->sm_entries);
	if (unlikely(ret == -EMSGSIZE)) {
		svc2_count(replies_planned_again);
		/* undo svc2_tx_hold_pages(), perhaps for another Reply */
		if (tx->tx_charged) {	/* else svc2_pages_deferred() may run */
			call->sm_charged += tx->tx_charged;
			call->sm_reply_pages += tx->tx_charged;
			tx->tx_charged = 0;
		}
		tx->tx_npages = 0;
		svc2_tx_reset(sp, tx);
		return -EAGAIN;
	}
	svc2_reply_detach_pages(rqstp, call, head, pages);
	return ret;
}

/*
 * The last page of a payload may lie behind rq_next_page: a direct read of nfsd
 * (io_cache_read) begins before the payload, but NFSv4 counts the pages as if
 * the payload began in the first one's first byte. The thread must not use that
 * page again before the device has read it (R4).
 *
 * A READ that the server removes from a Reply, because it does not fit, may
 * leave pages of the file behind rq_next_page, from the second one. The RPC
 * layer would keep them, and other requests would write to them, so it gets all
 * pages to release. Linux 6.1 does that if the maximum of the session is not a
 * multiple of four bytes. A Call that was deferred has a page of another thread:
 * then the RPC layer replaces all pages for nothing.
 */
static void svc2_reply_claim_pages(struct svc_rqst *rqstp)
{
	const struct svc2_msg *call = rqstp->rq_xprt_ctxt;
	const struct xdr_buf *res = &rqstp->rq_res;
	struct page **second = rqstp->rq_respages + 1;
	struct page **end = res->pages +
			    PFN_UP(res->page_base + res->page_len);

	if (unlikely(res->page_len && rqstp->rq_next_page < end))
		rqstp->rq_next_page = end;
	if (unlikely(rqstp->rq_next_page <= second &&
		     *second != call->sm_second))
		rqstp->rq_next_page = rqstp->rq_page_end;
}

/**
 * svc2_sendto - implement ->xpo_sendto
 * @rqstp: thread, with the Reply in rq_res
 *
 * Return: 0 when it, or an error, is posted; -ENOTCONN: connection lost.
 */
int svc2_sendto(struct svc_rqst *rqstp)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct svc2_msg *call = rqstp->rq_xprt_ctxt;
	struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	bool offered = h->h_has_reply;
	struct rpcrdma2_reply_plan plan;
	struct svc2_tx *tx;
	int ret;

	svc2_reply_claim_pages(rqstp);
	if (svc_xprt_is_dead(rqstp->rq_xprt))
		return -ENOTCONN;
	tx = svc2_tx_get(sp);
	if (IS_ERR(tx))
		return -ENOTCONN;

	svc2_grant_lower(sp, call);
	svc2_msg_put_recv(sp, call);		/* R6 */
	do {
		h->h_has_reply = offered;
		ret = svc2_reply_plan(rqstp, tx, call, &plan) ?:
		      svc2_reply_send(rqstp, tx, call, &plan);
	} while (unlikely(ret == -EAGAIN));
	if (ret) {
		svc2_sq_release(sp, &call->sm_entries);
		return svc2_error_instead(sp, tx, h, &plan, ret);
	}
	svc2_reply_count(sp, h, &plan);
	svc2_grant_raise(sp);
	return 0;
}
