// SPDX-License-Identifier: GPL-2.0
/*
 * Posting to the Send Queue (rpcrdma2/conn.h), and the limits on its entries.
 *
 * A peer decides when entries come back. So Calls wait without a thread, for
 * the entries of their RDMA Reads, and before they are carried out for those
 * that their Reply may take. A few entries are reserved for callbacks, whose
 * RPC task cannot wait, and waiters leave one for each send context: a single
 * Send, and its thread, never wait for a peer. A Call that has entries does not
 * wait for pages or memory regions, perhaps for a send context
 * (svc2_may_receive()).
 */
#include "svcrdma2.h"

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

/*
 * Entries for callbacks: for the Sends of posted ones, for the same number of
 * new ones meanwhile, and, if they may have chunks, for regions that are
 * registered or invalidated. A callback that the peer keeps has none, nor have
 * its regions.
 */
unsigned int svc2_sq_backward_wrs(const struct svc2_xprt *sp)
{
	bool chunks = sp->sp_ex.ex_supported.pr_brs == RDMA2_BKREQSUP_GENL;

	return 2 * sp->sp_backward_max +
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

	/* a context that was in hand is still with its thread, or is posted */
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

/*
 * Takes entries for the Reply to a Call before the Call is passed to the RPC
 * layer, or queues the Call. Return: result of svc2_sem_take_call().
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

/*
 * Takes entries for LOCAL_INVs of a callback's regions. Those that Replies
 * leave are nearly always enough. A waiter leaves more of them, because Sends
 * complete meanwhile and are posted again. As svc2_sem_take()
 */
int svc2_sq_take_invs(struct svc2_xprt *sp, unsigned int wrs)
{
	if (likely(svc2_sq_take_backward(sp, wrs, true)))
		return 0;
	return svc2_sem_take(sp, &sp->sp_sq_sem, wrs, sp->sp_sq_spare);
}

/*
 * Takes entries for a Call's RDMA Reads, and posts them. Return: as
 * svc2_sq_post();
 * -EINPROGRESS when the Call waits, and belongs to the semaphore.
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
