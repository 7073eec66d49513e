// SPDX-License-Identifier: GPL-2.0
/*
 * Send contexts: a Send, its buffer, and what it needs until it is done.
 *
 * The transport header is built in the context's buffer, one page that stays
 * mapped. What of a Reply goes inline behind it is copied there while that is
 * cheaper, or sent from where the upper layer left it. A copied Reply leaves
 * nothing behind that waits for the Send: the pages stay with the thread, and
 * no completion is asked for. Pages that the device reads, for the Send or
 * for RDMA Writes in front of it, go with the context (R4).
 *
 * There are as many contexts as credits, as can linger on the Send Queue, and
 * a few more, made on demand and kept. A thread that finds none waits in line.
 * The first few are made before the connection is accepted; when there is no
 * memory for another, one of those comes back. Those for Calls of the server are
 * counted apart.
 */
#include <linux/highmem.h>
#include <linux/slab.h>

#include <rpcrdma2/propset.h>

#include "svcrdma2.h"
#include "trace.h"

/* What is granted just now: no Send can get in between (R6). */
static void svc2_send_begin(struct rpcrdma2_conn *co, struct rpcrdma2_post *post)
{
	struct svc2_tx *tx = container_of(post, struct svc2_tx, tx_post);
	__be32 *word = tx->tx_buf;

	if (!tx->tx_backward)
		word[2] = cpu_to_be32(READ_ONCE(svc2_from_conn(co)->sp_grant));
	ib_dma_sync_single_for_device(co->co_pd->device, tx->tx_sge[0].addr,
				      tx->tx_len, DMA_TO_DEVICE);
}

static void svc2_send_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
			   bool ok)
{
	if (post->po_signal)
		svc2_count(send_completions);
	svc2_tx_put(svc2_from_conn(co),
		    container_of(post, struct svc2_tx, tx_post));
}

static void free_tx(struct svc2_xprt *sp, struct svc2_tx *tx)
{
	ib_dma_unmap_single(sp->sp_conn.co_pd->device, tx->tx_sge[0].addr,
			    SVC2_TX_BUFSIZE, DMA_TO_DEVICE);
	free_page((unsigned long)tx->tx_buf);
	kfree(tx);
}

static struct svc2_tx *alloc_tx(struct svc2_xprt *sp, gfp_t gfp)
{
	struct ib_device *dev = sp->sp_conn.co_pd->device;
	int node = ibdev_to_node(dev);
	struct svc2_tx *tx;
	unsigned int i;

	tx = kzalloc_node(struct_size(tx, tx_sge, sp->sp_tx_sges), gfp, node);
	if (!tx)
		return NULL;
	tx->tx_buf = (void *)__get_free_page(gfp);
	if (!tx->tx_buf)
		goto out_free;
	tx->tx_sge[0].addr = ib_dma_map_single(dev, tx->tx_buf,
					       SVC2_TX_BUFSIZE, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(dev, tx->tx_sge[0].addr))
		goto out_free_buf;
	for (i = 0; i < sp->sp_tx_sges; i++)
		tx->tx_sge[i].lkey = sp->sp_conn.co_pd->local_dma_lkey;
	tx->tx_wr.sg_list = tx->tx_sge;
	tx->tx_wr.num_sge = 1;
	tx->tx_post.po_begin = svc2_send_begin;
	tx->tx_post.po_done = svc2_send_done;
	tx->tx_pages = tx->tx_few;
	rpcrdma2_rw_init(&tx->tx_rw, DMA_TO_DEVICE);
	return tx;

out_free_buf:
	free_page((unsigned long)tx->tx_buf);
out_free:
	kfree(tx);
	return NULL;
}

static void push_tx(struct svc2_xprt *sp, struct svc2_tx *tx)
{
	llist_add(&tx->tx_list, &sp->sp_txs);
}

static struct svc2_tx *pop_tx(struct svc2_xprt *sp)
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
		tx = alloc_tx(sp, GFP_KERNEL);
		if (!tx)
			return -ENOMEM;
		push_tx(sp, tx);
	}
	svc2_gate_open(&sp->sp_tx_gate, sp->sp_credits + SVC2_TX_RESERVE +
					sp->sp_conn.co_sq.sq_batch);
	return 0;
}

/**
 * svc2_txs_destroy - free the send contexts, all of which are back
 * @sp: connection
 */
void svc2_txs_destroy(struct svc2_xprt *sp)
{
	struct svc2_tx *tx;

	while ((tx = pop_tx(sp)))
		free_tx(sp, tx);
}

/**
 * svc2_tx_get - take a send context, or wait for one
 * @sp: connection
 *
 * Context: svc thread; sleeps.
 * Return: the context, or an ERR_PTR() when the connection is lost.
 */
struct svc2_tx *svc2_tx_get(struct svc2_xprt *sp)
{
	unsigned int tries = 0;
	struct svc2_tx *tx;
	int ret;

	ret = svc2_gate_take(sp, &sp->sp_tx_gate, 1);
	if (ret)
		return ERR_PTR(ret);
	do {
		/* Out of memory: another Send's context will do. */
		tx = pop_tx(sp) ?: alloc_tx(sp, GFP_KERNEL);
		ret = tx ? 0 : -ENOMEM;
	} while (svc2_try_again(sp, &tries, &ret));
	if (tx)
		return tx;
	svc2_gate_give(sp, &sp->sp_tx_gate, 1);
	return ERR_PTR(ret);
}

/**
 * svc2_tx_try_get - take a send context for a Call of the server
 * @sp: connection
 *
 * Context: RPC task.
 * Return: the context, or NULL when there is none now.
 */
struct svc2_tx *svc2_tx_try_get(struct svc2_xprt *sp)
{
	struct svc2_tx *tx;

	if (atomic_dec_if_positive(&sp->sp_backward_free) < 0)
		return NULL;
	tx = pop_tx(sp) ?: alloc_tx(sp, GFP_NOWAIT | __GFP_NOWARN);
	if (tx)
		tx->tx_backward = true;
	else
		atomic_inc(&sp->sp_backward_free);
	return tx;
}

/**
 * svc2_tx_reset - undo what was built in a send context
 * @sp: connection
 * @tx: send context; not on the Send Queue
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_tx_reset(struct svc2_xprt *sp, struct svc2_tx *tx)
{
	rpcrdma2_rw_free(&sp->sp_conn, &tx->tx_rw);
	while (tx->tx_wr.num_sge > 1) {
		struct ib_sge *sge = &tx->tx_sge[--tx->tx_wr.num_sge];

		ib_dma_unmap_page(sp->sp_conn.co_pd->device, sge->addr, sge->length,
				  DMA_TO_DEVICE);
	}
	if (tx->tx_npages)
		release_pages(tx->tx_pages, tx->tx_npages);
	if (tx->tx_pages != tx->tx_few)
		kfree(tx->tx_pages);
	tx->tx_pages = tx->tx_few;
	tx->tx_npages = 0;
	tx->tx_head = NULL;
	tx->tx_reads_head = false;
	tx->tx_reads_pages = false;
}

/**
 * svc2_tx_put - give a send context back
 * @sp: connection
 * @tx: send context; not on the Send Queue
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_tx_put(struct svc2_xprt *sp, struct svc2_tx *tx)
{
	bool backward = tx->tx_backward;

	svc2_tx_reset(sp, tx);
	tx->tx_backward = false;
	push_tx(sp, tx);
	if (backward)
		atomic_inc(&sp->sp_backward_free);
	else
		svc2_gate_give(sp, &sp->sp_tx_gate, 1);
}

/**
 * svc2_tx_header - lay the transport header out in the buffer
 * @tx: send context
 * @h: header
 * @pm: property message that goes with it, or NULL; @h is changed to suit it, see
 *	rpcrdma2_encode_propmsg()
 *
 * Return: 0, or a negative errno of the encoder.
 */
int svc2_tx_header(struct svc2_tx *tx, struct rpcrdma2_hdr *h,
		   const struct rpcrdma2_propmsg *pm)
{
	int ret;

	BUILD_BUG_ON(SVC2_TX_BUFSIZE < RPCRDMA2_HDR_MAX);

	ret = pm ? rpcrdma2_encode_propmsg(tx->tx_buf, SVC2_TX_BUFSIZE, h, pm) :
		   rpcrdma2_encode_hdr(tx->tx_buf, h);
	tx->tx_len = max(ret, 0);
	return min(ret, 0);
}

/**
 * svc2_tx_reads - note which pages of a reply the device will read (R4)
 * @tx: send context
 * @res: the Reply
 * @range: octets of it that the device reads
 * @ranges: how many ranges
 *
 * The head lies in its page; the tail may.
 */
void svc2_tx_reads(struct svc2_tx *tx, const struct xdr_buf *res,
		   const struct rpcrdma2_range *range, unsigned int ranges)
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
		if (end <= tail)
			continue;
		if (virt_to_page(res->tail[0].iov_base) == tx->tx_head)
			tx->tx_reads_head = true;
		else
			tx->tx_reads_pages = true;
	}
}

static int map_piece(struct svc2_xprt *sp, struct svc2_tx *tx,
		     const struct rpcrdma2_piece *pc)
{
	struct ib_sge *sge = &tx->tx_sge[tx->tx_wr.num_sge];
	struct ib_device *dev = sp->sp_conn.co_pd->device;

	sge->addr = ib_dma_map_page(dev, pc->pc_page, pc->pc_off, pc->pc_len,
				    DMA_TO_DEVICE);
	if (ib_dma_mapping_error(dev, sge->addr))
		return -EIO;
	sge->length = pc->pc_len;
	tx->tx_wr.num_sge++;
	return 0;
}

/**
 * svc2_tx_gathers - can a Send gather what is to go inline?
 * @sp: connection
 * @res: the Reply
 * @plan: what of it goes inline
 */
bool svc2_tx_gathers(const struct svc2_xprt *sp, const struct xdr_buf *res,
		     const struct rpcrdma2_reply_plan *plan)
{
	struct rpcrdma2_walk wk;

	rpcrdma2_walk_begin(&wk, res, plan->pn_rest, plan->pn_nrest);
	return rpcrdma2_walk_count(wk) < sp->sp_tx_sges;
}

/**
 * svc2_tx_payload - put what goes inline behind the header
 * @sp: connection
 * @tx: send context with the header
 * @res: the Reply
 * @plan: what of it goes inline
 *
 * Return: 0, or -EIO when a page cannot be mapped.
 */
int svc2_tx_payload(struct svc2_xprt *sp, struct svc2_tx *tx,
		    const struct xdr_buf *res,
		    const struct rpcrdma2_reply_plan *plan)
{
	struct rpcrdma2_piece pc;
	struct rpcrdma2_walk wk;
	int ret = 0;

	rpcrdma2_walk_begin(&wk, res, plan->pn_rest, plan->pn_nrest);
	svc2_count_add(inline_bytes, plan->pn_len);
	if (plan->pn_gather) {
		svc2_tx_reads(tx, res, plan->pn_rest, plan->pn_nrest);
		while (!ret && rpcrdma2_walk_next(&wk, &pc))
			ret = map_piece(sp, tx, &pc);
		return ret;
	}

	svc2_count_add(pullup_bytes, plan->pn_len);
	while (rpcrdma2_walk_next(&wk, &pc)) {
		memcpy_from_page(tx->tx_buf + tx->tx_len, pc.pc_page,
				 pc.pc_off, pc.pc_len);
		tx->tx_len += pc.pc_len;
	}
	return 0;
}

/**
 * svc2_tx_take_pages - settle what keeps the pages of a reply (R4)
 * @rqstp: thread; keeps the page of the head, unless the device reads it
 * @tx: send context, built; gets the pages the device reads
 *
 * Only the head's page is sure to be the thread's own. The others may be the
 * page cache's; they are released here or when the Send is done.
 *
 * Return: 0, or -ENOMEM with nothing changed.
 */
int svc2_tx_take_pages(struct svc_rqst *rqstp, struct svc2_tx *tx)
{
	unsigned int total = rqstp->rq_next_page - rqstp->rq_respages;
	unsigned int first = tx->tx_reads_head ? 0 : 1;
	unsigned int held = tx->tx_reads_head ? 1 : 0;
	struct page **pages = rqstp->rq_respages;

	if (tx->tx_reads_pages)
		held = total - first;
	if (held > ARRAY_SIZE(tx->tx_few)) {
		tx->tx_pages = kmalloc_array(held, sizeof(*tx->tx_pages),
					     GFP_KERNEL);
		if (!tx->tx_pages) {
			tx->tx_pages = tx->tx_few;
			return -ENOMEM;
		}
	}
	memcpy(tx->tx_pages, pages + first, held * sizeof(*pages));
	tx->tx_npages = held;

	first += held;
	if (first < total)
		release_pages(pages + first, total - first);
	for (first = tx->tx_reads_head ? 0 : 1; first < total; first++)
		pages[first] = NULL;
	rqstp->rq_next_page = rqstp->rq_respages;
	return 0;
}

/**
 * svc2_tx_post - post a Send and the RDMA Writes in front of it
 * @sp: connection
 * @tx: send context, built
 * @inv_handle: handle to be invalidated (C-075), or 0 for a plain Send (C-074)
 *
 * Context: svc thread; sleeps while the Send Queue is full. RPC task with a
 * context from svc2_tx_try_get().
 * Return: 0 when @tx belongs to the Send Queue; else what svc2_sq_post()
 * returned.
 */
int svc2_tx_post(struct svc2_xprt *sp, struct svc2_tx *tx, u32 inv_handle)
{
	struct ib_send_wr *first = &tx->tx_wr;
	bool writes = !rpcrdma2_rw_is_empty(&tx->tx_rw);
	int ret;

	tx->tx_sge[0].length = tx->tx_len;
	tx->tx_wr.next = NULL;
	tx->tx_wr.opcode = IB_WR_SEND;
	if (inv_handle) {
		tx->tx_wr.opcode = IB_WR_SEND_WITH_INV;
		tx->tx_wr.ex.invalidate_rkey = inv_handle;
	}
	if (writes)
		first = rpcrdma2_rw_chain(&sp->sp_conn, &tx->tx_rw, NULL,
					  &tx->tx_wr);

	/*
	 * With the last context gone its thread has to be told when it is back,
	 * or the next taker might wait for ever.
	 */
	tx->tx_post.po_signal = writes || tx->tx_npages || tx->tx_backward ||
				svc2_gate_avail(&sp->sp_tx_gate) <= 0;
	ret = svc2_sq_post(sp, &tx->tx_post, first, tx->tx_backward);
	if (ret)
		return ret;
	svc2_count(sends);
	if (inv_handle)
		svc2_count(sends_with_inv);
	return 0;
}
