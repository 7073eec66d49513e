// SPDX-License-Identifier: GPL-2.0
/*
 * What goes to the Send Queue (rpcrdma2/sq.h), and which entries it may take.
 *
 * Calls with RDMA Reads, and svc threads with RDMA Writes, stand in line for entries.
 * A few are kept for the Calls of the server: an RPC task, which sends those, cannot
 * stand in line. And RDMA Reads leave as many as there can be Sends: a peer that
 * holds them back does not keep the Reply to another Call, and its thread, waiting.
 */
#include "svcrdma2.h"

/* Return: entries that a chain takes. */
static unsigned int survey(const struct ib_send_wr *wr)
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

/**
 * svc2_backward_regions - most memory regions that Calls of the server have
 * @sp: connection
 */
unsigned int svc2_backward_regions(const struct svc2_xprt *sp)
{
	return max_t(unsigned int, sp->sp_backward_max, SVC2_BACKWARD_REGIONS);
}

/**
 * svc2_backward_wrs - Send Queue entries for Calls of the server
 * @sp: connection
 *
 * For those that are posted, with all their regions, and for as many Sends meanwhile.
 */
unsigned int svc2_backward_wrs(const struct svc2_xprt *sp)
{
	return 2 * sp->sp_backward_max + 2 * svc2_backward_regions(sp);
}

/*
 * The longest chain. What it leaves of the queue is for Calls of the server that
 * are posted, with their regions, for Sends of those that may be posted meanwhile, and
 * for a tail of Sends that no completion covers: so nothing can keep it waiting.
 */
static unsigned int limit(const struct svc2_xprt *sp)
{
	return sp->sp_sq_depth - svc2_backward_wrs(sp) -
	       sp->sp_conn.co_sq.sq_batch;
}

/**
 * svc2_sq_post - take entries and post a chain
 * @sp: connection
 * @post: its owner's record of it; see rpcrdma2_sq_post()
 * @first: its work requests
 * @backward: it is a Call of the server
 *
 * Context: svc thread; sleeps while the queue is full. RPC task with @backward,
 * which does not.
 * Return: 0 when the chain belongs to the Send Queue, perhaps not for long; the
 * connection may have been lost. -E2BIG when it is longer than the queue can ever
 * take, -EMSGSIZE when the Send at its end is too large (C-034), -EAGAIN when there
 * is no entry for a Call now, -ENOTCONN when the connection is lost: the chain still
 * is the caller's.
 */
int svc2_sq_post(struct svc2_xprt *sp, struct rpcrdma2_post *post,
		 struct ib_send_wr *first, bool backward)
{
	unsigned int wrs = survey(first);
	int ret = 0;

	if (unlikely(wrs > limit(sp)))
		return -E2BIG;
	/* with one for the LOCAL_INV of each region that it registers */
	if (backward)
		ret = rpcrdma2_sq_take(&sp->sp_conn, 2 * wrs - 1, true) ?
		      0 : -EAGAIN;
	else if (wrs > 1 || !rpcrdma2_sq_take(&sp->sp_conn, wrs, false))
		ret = svc2_gate_take(sp, &sp->sp_sq, wrs);
	if (ret)
		return ret;
	svc2_count(doorbells);
	ret = rpcrdma2_sq_post(&sp->sp_conn, post, first);
	if (ret && backward)
		rpcrdma2_sq_give(&sp->sp_conn, wrs - 1);
	return ret;
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
		wrs = survey(first);
		if (unlikely(wrs > limit(sp) - sp->sp_sq_spare))
			return -E2BIG;
		ret = svc2_gate_enter(sp, &sp->sp_sq, call, wrs,
				      sp->sp_sq_spare, &call->sm_entries);
		if (ret)
			return ret;
	}
	/* The Send Queue has them, or gives them back. */
	call->sm_entries = 0;
	call->sm_chain = NULL;
	svc2_count(doorbells);
	return rpcrdma2_sq_post(&sp->sp_conn, &call->sm_post, first);
}
