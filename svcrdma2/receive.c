// SPDX-License-Identifier: GPL-2.0
/*
 * Receives: their memory, their posting, and the first step of a message.
 *
 * A Receive is one piece of memory, mapped for good: whatever lies in it, the
 * RPC header above all, is read without asking where a page ends.
 *
 * All are made before the connection is accepted, but those for the answers to
 * our own Calls, which NFSv3 and most connections of a trunk never need (B-12).
 * They are posted a batch at a time, when that many lie idle: there are enough
 * to allow for a batch that is short of one (R6), so a credit never reaches the
 * peer before the Receive it stands for is posted.
 *
 * Two queues wait for svc threads: messages as they arrived, and Calls whose
 * RDMA Reads are done. The latter go first; they have waited before.
 */
#include <linux/slab.h>

#include <rpcrdma2/credit.h>
#include <rpcrdma2/receive.h>

#include "svcrdma2.h"
#include "trace.h"

static void svc2_wc_receive(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svc2_recv *rc = container_of(wc->wr_cqe, struct svc2_recv,
					    rc_cqe);
	struct svc2_xprt *sp = svc2_cq_to_xprt(cq);

	trace_svc2_wc_receive(&rc->rc_cid, wc);
	if (wc->status != IB_WC_SUCCESS) {
		svc2_close(sp, RPCRDMA2_LOSS_RECEIVE);
		svc2_recv_put(sp, rc);
		return;
	}
	/* before an octet of it is looked at, by any thread */
	if (unlikely(!rpcrdma2_received_message(wc, rc->rc_sge.length))) {
		svc2_count(recvs_bad);
		svc2_close(sp, RPCRDMA2_LOSS_NO_MESSAGE);
		svc2_recv_put(sp, rc);
		return;
	}

	rc->rc_len = wc->byte_len;
	svc2_count(recvs);
	svc2_count_add(recv_bytes, wc->byte_len);
	spin_lock(&sp->sp_recv_lock);
	list_add_tail(&rc->rc_list, &sp->sp_recv_q);
	set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	spin_unlock(&sp->sp_recv_lock);
	svc_xprt_enqueue(&sp->sp_xprt);
}

static void free_recv(struct svc2_recv *rc)
{
	ib_dma_unmap_single(rc->rc_pool->rp_pd->device, rc->rc_sge.addr,
			    rc->rc_sge.length, DMA_FROM_DEVICE);
	kfree(rc->rc_buf);
	kfree(rc);
}

static struct svc2_recv *alloc_recv(struct svc2_rpool *rp)
{
	struct ib_device *dev = rp->rp_pd->device;
	int node = ibdev_to_node(dev);
	struct svc2_recv *rc;

	rc = kzalloc_node(sizeof(*rc), GFP_KERNEL, node);
	if (!rc)
		return NULL;
	/* where it is several pages, no report: the caller copes with failure */
	rc->rc_buf = kmalloc_node(rp->rp_size, GFP_KERNEL | __GFP_NOWARN |
					       __GFP_RETRY_MAYFAIL, node);
	if (!rc->rc_buf)
		goto out_free;
	rc->rc_sge.addr = ib_dma_map_single(dev, rc->rc_buf, rp->rp_size,
					    DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(dev, rc->rc_sge.addr))
		goto out_free_buf;

	rc->rc_pool = rp;
	rc->rc_page = virt_to_page(rc->rc_buf);
	rc->rc_sge.length = rp->rp_size;
	rc->rc_sge.lkey = rp->rp_pd->local_dma_lkey;
	rc->rc_cqe.done = svc2_wc_receive;
	rc->rc_wr.wr_cqe = &rc->rc_cqe;
	rc->rc_wr.sg_list = &rc->rc_sge;
	rc->rc_wr.num_sge = 1;
	return rc;

out_free_buf:
	kfree(rc->rc_buf);
out_free:
	kfree(rc);
	return NULL;
}

/*
 * Posts what is on @list, in one call, and empties it. What the device does
 * not take is freed with the pool.
 *
 * Return: false when it did not take all, and the connection is to be closed.
 */
static bool post_recvs(struct svc2_xprt *sp, struct list_head *list)
{
	struct svc2_rpool *rp = &sp->sp_rpool;
	struct ib_recv_wr *first = NULL;
	const struct ib_recv_wr *bad = NULL;
	struct svc2_recv *rc;
	int ret;

	lockdep_assert_held(&rp->rp_lock);
	list_for_each_entry(rc, list, rc_list) {
		rc->rc_wr.next = first;
		first = &rc->rc_wr;
		trace_svc2_post_recv(&rc->rc_cid);
	}
	INIT_LIST_HEAD(list);
	svc2_count(post_recv);
	ret = ib_post_recv(sp->sp_conn.co_id->qp, first, &bad);
	if (likely(!ret))
		return true;

	for (; bad; bad = bad->next) {
		rc = container_of(bad, struct svc2_recv, rc_wr);
		list_add(&rc->rc_list, &rp->rp_free);
		rp->rp_nfree++;
	}
	return false;
}

/**
 * svc2_recv_put - a Receive has been looked at
 * @sp: connection it came from
 * @rc: Receive
 *
 * Posts a batch when there is one, in the order in which they will be used.
 * The lock is held until the device has them (R6): a thread that puts its
 * Receive meanwhile waits, and with it the credit that its Reply returns.
 *
 * Context: svc thread, either CQ.
 */
void svc2_recv_put(struct svc2_xprt *sp, struct svc2_recv *rc)
{
	struct svc2_rpool *rp = rc->rc_pool;
	bool posted = true;

	ib_dma_sync_single_for_device(rp->rp_pd->device, rc->rc_sge.addr,
				      rc->rc_len, DMA_FROM_DEVICE);
	spin_lock(&rp->rp_lock);
	list_add(&rc->rc_list, &rp->rp_free);
	rp->rp_nfree++;
	if (rp->rp_nfree >= rp->rp_batch && !svc_xprt_is_dead(&sp->sp_xprt)) {
		rp->rp_nfree = 0;
		posted = post_recvs(sp, &rp->rp_free);
	}
	spin_unlock(&rp->rp_lock);
	if (unlikely(!posted))
		svc2_close(sp, RPCRDMA2_LOSS_POST);
}

/* All of @count Receives on @list, or none */
static int make_recvs(struct svc2_xprt *sp, unsigned int count,
		      struct list_head *list)
{
	struct svc2_recv *rc, *next;

	for (; count; count--) {
		rc = alloc_recv(&sp->sp_rpool);
		if (!rc)
			goto out_free;
		svc2_new_cid(sp, sp->sp_conn.co_recv_cq, &rc->rc_cid);
		list_add(&rc->rc_list, list);
	}
	return 0;

out_free:
	list_for_each_entry_safe(rc, next, list, rc_list) {
		list_del(&rc->rc_list);
		free_recv(rc);
	}
	return -ENOMEM;
}

/**
 * svc2_recvs_add - make Receives, and post them
 * @sp: connection with a queue pair that has room for them
 * @count: how many more shall be posted or in use at any time
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM with nothing done, or -EIO when the connection is lost.
 */
int svc2_recvs_add(struct svc2_xprt *sp, unsigned int count)
{
	LIST_HEAD(recvs);
	bool posted;

	if (make_recvs(sp, count, &recvs))
		return -ENOMEM;
	spin_lock(&sp->sp_rpool.rp_lock);
	posted = post_recvs(sp, &recvs);
	spin_unlock(&sp->sp_rpool.rp_lock);
	if (!posted)
		svc2_close(sp, RPCRDMA2_LOSS_POST);
	return svc_xprt_is_dead(&sp->sp_xprt) ? -EIO : 0;
}

/**
 * svc2_recvs_create - make the Receives of a connection, and post them
 * @sp: connection with a queue pair
 * @posted: Receives that shall be posted or in use at any time
 *
 * Context: svc thread, before the connection is accepted.
 * Return: 0, -ENOMEM, or -EIO when the device would not take them.
 */
int svc2_recvs_create(struct svc2_xprt *sp, unsigned int posted)
{
	struct svc2_rpool *rp = &sp->sp_rpool;

	rp->rp_pd = sp->sp_conn.co_pd;
	rp->rp_size = sp->sp_recv_size;
	/* so many may lie idle, short of a batch */
	if (make_recvs(sp, rp->rp_batch - 1, &rp->rp_free))
		return -ENOMEM;
	rp->rp_nfree = rp->rp_batch - 1;
	return svc2_recvs_add(sp, posted);
}

/**
 * svc2_recvs_destroy - free all Receives
 * @sp: connection without a queue pair, all Receives back in the pool
 */
void svc2_recvs_destroy(struct svc2_xprt *sp)
{
	struct svc2_recv *rc, *next;

	list_for_each_entry_safe(rc, next, &sp->sp_rpool.rp_free, rc_list)
		free_recv(rc);
	INIT_LIST_HEAD(&sp->sp_rpool.rp_free);
}

/**
 * svc2_recv_buf - describe a message as the XDR functions like it
 * @rc: Receive that holds it
 * @buf: to be set; points into @rc
 */
void svc2_recv_buf(const struct svc2_recv *rc, struct xdr_buf *buf)
{
	memset(buf, 0, sizeof(*buf));
	buf->head[0].iov_base = rc->rc_buf;
	buf->head[0].iov_len = rc->rc_len;
	buf->pages = (struct page **)&rc->rc_page;
	buf->len = rc->rc_len;
	buf->buflen = rc->rc_len;
}
