// SPDX-License-Identifier: GPL-2.0
/*
 * What goes to the Send Queue (rpcrdma2/sq.h), and which entries it may take.
 *
 * Calls stand in line for entries: for those of their RDMA Reads, and before they are
 * carried out for those that their Reply may take, by their chunk lists. A peer decides
 * when entries come back, so none of its Calls has a thread before its Reply can be
 * posted. A few entries are kept for the Calls of the server: an RPC task, which sends
 * those, cannot stand in line for that. And what stands in line leaves one for each send context,
 * beside those: a Send that stands alone, and its thread, never wait for a peer.
 *
 * No Call that has entries waits for pages or memory regions; a send context, which it
 * waits for without a thread (svc2_gate_has_room()), comes back from what is posted.
 */
#include "svcrdma2.h"

/* Return: entries that a chain takes. */
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

/* Regions of Calls of the server for which the queue has entries at once */
static unsigned int svc2_live_regions(const struct svc2_xprt *sp)
{
	return max_t(unsigned int, sp->sp_backward_max, SVC2_BACKWARD_REGIONS);
}

/**
 * svc2_backward_wrs - Send Queue entries for Calls of the server
 * @sp: connection
 *
 * For the Sends of those that are posted, for as many meanwhile, and for regions that are
 * being registered or invalidated. A Call that the peer keeps has no entry, nor have its
 * regions: see svc2_sq_take_invs().
 */
unsigned int svc2_backward_wrs(const struct svc2_xprt *sp)
{
	return 2 * sp->sp_backward_max + 2 * svc2_live_regions(sp);
}

/*
 * The longest chain. What it leaves of the queue is for Calls of the server, and for a
 * tail of Sends that no completion covers: so nothing can keep it waiting.
 */
static unsigned int svc2_sq_bounded_by(const struct svc2_xprt *sp)
{
	return sp->sp_sq_depth - svc2_backward_wrs(sp) -
	       sp->sp_conn.co_sq.sq_batch;
}

/*
 * What stands in line leaves so many entries: for Sends that stand alone, and for the
 * memory regions of Calls of the server. Sends of these are kept apart.
 */
static unsigned int svc2_sq_left(const struct svc2_xprt *sp)
{
	return sp->sp_sq_spare +
	       2 * min(READ_ONCE(sp->sp_conn.co_regions.rg_num),
		       svc2_live_regions(sp));
}

/*
 * Sends that may still need an entry: one for each send context that is free, that a
 * thread may have in hand, or that a completion gives back after its entry. What is on the
 * Send Queue has one. For Sends of Calls of the server entries are kept, of which more
 * regions than these have entries for could take some.
 */
static unsigned int svc2_sq_sends(const struct svc2_xprt *sp)
{
	int sends = svc2_gate_avail(&sp->sp_tx_gate);

	/* a context that was in hand is with its thread still, or has been posted */
	smp_rmb();
	sends += atomic_read(&sp->sp_xprt.xpt_nr_rqsts) +
		 (int)sp->sp_conn.co_sq.sq_batch;
	sends = clamp(sends, 0, (int)sp->sp_sq_spare);
	if (READ_ONCE(sp->sp_conn.co_regions.rg_num) > svc2_live_regions(sp))
		sends += atomic_read(&sp->sp_backward_free);
	return sends;
}

/*
 * Which entries a Call of the server may take: its Send, for which some are kept, any;
 * REG_MRs and LOCAL_INVs none that Sends may need.
 */
static bool svc2_sq_take_backward(struct svc2_xprt *sp, unsigned int wrs, bool regions)
{
	return rpcrdma2_units_take(&sp->sp_conn.co_sq.sq_units, wrs,
				   regions ? svc2_sq_sends(sp) : 0);
}

/* Entries that the Reply to a Call is to have before the Call is carried out, or 0 */
static unsigned int svc2_sq_measure(const struct svc2_xprt *sp,
				    const struct svc2_msg *call)
{
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	unsigned int i, segs = 0, chunks = h->h_nwrites;
	u64 pages, offered = 0;

	for (i = 0; i < h->h_nwrites; i++) {
		offered += h->h_writes[i].ck_length;
		segs += h->h_writes[i].ck_nsegs;
	}
	if (h->h_has_reply) {
		offered += h->h_reply.ck_length;
		segs += h->h_reply.ck_nsegs;
		chunks++;
	}
	if (likely(!chunks))
		return 0;
	pages = min_t(u64, DIV_ROUND_UP(offered, PAGE_SIZE),
		      svc_serv_maxpages(sp->sp_xprt.xpt_server));
	return min(svc2_reply_wrs(pages, chunks, segs,
				  rpcrdma2_conn_qp(&sp->sp_conn)->max_write_sge),
		   svc2_sq_bounded_by(sp) - sp->sp_sq_spare);
}

/**
 * svc2_sq_reserve - take entries for the Reply to a Call, or have the Call wait for them
 * @sp: connection
 * @call: Call that is about to be handed to the RPC layer; sets sm_entries
 *
 * Context: svc thread.
 * Return: 0; or what svc2_gate_enter() returned, and the Call is the thread's no longer.
 */
int svc2_sq_reserve(struct svc2_xprt *sp, struct svc2_msg *call)
{
	unsigned int wrs = svc2_sq_measure(sp, call);
	int ret;

	if (!wrs || call->sm_entries)
		return 0;
	ret = svc2_gate_enter(sp, &sp->sp_sq, call, wrs, svc2_sq_left(sp),
			      &call->sm_entries);
	if (ret == -ENOTCONN)
		svc2_msg_put(sp, call);
	return ret;
}

/**
 * svc2_sq_regain - take the entries that a Call has given back when it was put off
 * @sp: connection; closed when there are too few for long
 * @call: Call that has been carried out; sets sm_entries
 *
 * In front of the Calls that wait: behind them it would find too few each time, as they
 * take what comes back. The thread has no entries, no counted pages and no send context
 * meanwhile.
 *
 * Context: svc thread; sleeps as svc2_gate_take() does.
 * Return: 0, or -ENOTCONN when the connection is lost.
 */
int svc2_sq_regain(struct svc2_xprt *sp, struct svc2_msg *call)
{
	unsigned int wrs = svc2_sq_measure(sp, call);
	int ret;

	if (!wrs || call->sm_entries)
		return 0;
	ret = svc2_gate_take(sp, &sp->sp_sq, wrs, svc2_sq_left(sp));
	if (!ret)
		call->sm_entries = wrs;
	return ret;
}

/**
 * svc2_sq_release - give back the entries of a Reply that is not sent
 * @sp: connection
 * @held: as for svc2_sq_post()
 *
 * Before its thread waits for an entry for the error in its place.
 *
 * Context: svc thread.
 */
void svc2_sq_release(struct svc2_xprt *sp, unsigned int *held)
{
	if (held && *held)
		rpcrdma2_sq_give(&sp->sp_conn, xchg(held, 0));
}

/*
 * A Reply has its entries, and gives back what it does not take. Where it takes more all
 * the same, as with registered memory for RDMA Writes, the thread stands in line without
 * any: nobody who has some waits for others.
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
	return svc2_gate_take(sp, &sp->sp_sq, wrs, 0);
}

/**
 * svc2_sq_post - take entries and post a chain
 * @sp: connection
 * @post: its owner's record of it; see rpcrdma2_sq_post()
 * @first: its work requests
 * @backward: it is a Call of the server
 * @held: entries that were taken for it, or more, or NULL; set to 0 unless it is too long
 *
 * Context: svc thread; sleeps while the queue is full, if too few were taken. RPC task
 * with @backward, which does not.
 * Return: 0 when the chain belongs to the Send Queue, perhaps not for long; the
 * connection may have been lost. -E2BIG when it is longer than the queue can ever
 * take, -EMSGSIZE when the Send at its end is too large (C-034), -EAGAIN when there
 * is no entry for a Call now, -ENOTCONN when the connection is lost: the chain still
 * is the caller's.
 */
int svc2_sq_post(struct svc2_xprt *sp, struct rpcrdma2_post *post,
		 struct ib_send_wr *first, bool backward, unsigned int *held)
{
	unsigned int wrs = svc2_sq_count_entries(first);
	int ret = 0;

	if (unlikely(wrs > svc2_sq_bounded_by(sp)))
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
 * svc2_sq_take_invs - take entries for LOCAL_INVs of regions of a Call of the server
 * @sp: connection; closed when there are too few for long
 * @wrs: how many
 *
 * A peer that keeps such Calls keeps no entries with them. Those that Replies leave are
 * nearly always enough. In line more are left: Sends come back meanwhile, and go again.
 *
 * Context: svc thread, RPC task; sleeps as svc2_gate_take() does.
 * Return: 0, or -ENOTCONN when the connection is lost.
 */
int svc2_sq_take_invs(struct svc2_xprt *sp, unsigned int wrs)
{
	if (likely(svc2_sq_take_backward(sp, wrs, true)))
		return 0;
	return svc2_gate_take(sp, &sp->sp_sq, wrs, sp->sp_sq_spare);
}

/**
 * svc2_sq_post_reads - take entries for a Call's RDMA Reads, and post them
 * @sp: connection
 * @call: Call with sm_chain and sm_post
 *
 * Context: svc thread.
 * Return: 0 when the Call belongs to the Send Queue. -EINPROGRESS when it waits, and
 * belongs to the gate. -E2BIG and -ENOTCONN as svc2_sq_post(): it still is the
 * caller's.
 */
int svc2_sq_post_reads(struct svc2_xprt *sp, struct svc2_msg *call)
{
	struct ib_send_wr *first = call->sm_chain;
	unsigned int wrs;
	int ret;

	if (!call->sm_entries) {
		wrs = svc2_sq_count_entries(first);
		if (unlikely(wrs > svc2_sq_bounded_by(sp) - sp->sp_sq_spare))
			return -E2BIG;
		ret = svc2_gate_enter(sp, &sp->sp_sq, call, wrs,
				      svc2_sq_left(sp), &call->sm_entries);
		if (ret)
			return ret;
	}
	/* The Send Queue has them, or gives them back. */
	call->sm_entries = 0;
	call->sm_chain = NULL;
	svc2_count(doorbells);
	return rpcrdma2_sq_post(&sp->sp_conn, &call->sm_post, first);
}
