// SPDX-License-Identifier: GPL-2.0
/*
 * Receives: the first step of a message, and the last.
 *
 * They are made on demand (grant.c), and posted in batches, when a full batch
 * is idle: there are enough to spare a batch less one (R6), so a credit never
 * reaches the peer before its Receive is posted.
 *
 * Three queues wait for svc threads: messages as they arrived (sp_recv_q),
 * Calls that have waited and whose RDMA Reads, if any, are done (sp_ready_q,
 * with errors that may answer callbacks), and Calls whose RDMA Reads can begin
 * or go on (sp_served_q). sp_served_q goes first, because other Calls may wait
 * for resources of its Calls. sp_recv_q goes last, because the Calls on the
 * other queues have waited before.
 */
#include "svcrdma2.h"

/**
 * svc2_received - implement ->received of the connection
 * @co: connection
 * @rv: Receive with a message
 * @wc: its completion
 *
 * Context: receive CQ.
 */
void svc2_received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
		   const struct ib_wc *wc)
{
	struct svc2_xprt *sp = svc2_from_conn(co);

	svc2_count(recv_completions);
	svc2_count_add(recv_bytes, wc->byte_len);
	rv->rv_handle = wc->wc_flags & IB_WC_WITH_INVALIDATE ?
			wc->ex.invalidate_rkey : 0;
	rv->rv_at = jiffies;
	WRITE_ONCE(sp->sp_received, sp->sp_received + 1);
	spin_lock(&sp->sp_recv_lock);
	list_add_tail(&rv->rv_list, &sp->sp_recv_q);
	set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	spin_unlock(&sp->sp_recv_lock);
	svc_xprt_enqueue(&sp->sp_xprt);
}

/**
 * svc2_recv_put - put a Receive back
 * @sp: connection it came from
 * @rv: Receive, no longer read
 *
 * A thread that puts its Receive while a batch is posted waits, and delays the
 * credit that its Reply returns (R6).
 *
 * Context: svc thread, either CQ.
 */
void svc2_recv_put(struct svc2_xprt *sp, struct rpcrdma2_recv *rv)
{
	unsigned int n = rpcrdma2_recv_repost(&sp->sp_conn, rv);

	if (!n)
		return;
	svc2_count(recv_doorbells);
	svc2_grant_used(sp, n);
	svc2_sizes_reposted(sp);
}
