// SPDX-License-Identifier: GPL-2.0
/*
 * What goes to the Send Queue (rpcrdma2/sq.h), and which entries it may take.
 *
 * Svc threads stand in line for entries. A few are kept for the Calls of the
 * server: an RPC task, which sends those, cannot stand in line.
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

/*
 * The longest chain. What it leaves of the queue is for Calls of the server that
 * are posted, for those that may be posted meanwhile, and for a tail of Sends that
 * no completion covers: so nothing can keep it waiting.
 */
static unsigned int limit(const struct svc2_xprt *sp)
{
	return sp->sp_sq_depth - 2 * SVC2_BACKWARD_CREDITS -
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
 * connection may have been lost. -EMSGSIZE when it is longer than the queue can
 * ever take, -EAGAIN when there is no entry for a Call now, -ENOTCONN when the
 * connection is lost: the chain still is the caller's.
 */
int svc2_sq_post(struct svc2_xprt *sp, struct rpcrdma2_post *post,
		 struct ib_send_wr *first, bool backward)
{
	unsigned int wrs = survey(first);
	int ret = 0;

	if (unlikely(wrs > limit(sp)))
		return -EMSGSIZE;
	if (!backward)
		ret = svc2_gate_take(sp, &sp->sp_sq, wrs);
	else if (!rpcrdma2_sq_take(&sp->sp_conn, wrs, true))
		ret = -EAGAIN;
	if (ret)
		return ret;
	svc2_count(doorbells);
	return rpcrdma2_sq_post(&sp->sp_conn, post, first);
}
