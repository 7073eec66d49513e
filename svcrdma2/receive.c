// SPDX-License-Identifier: GPL-2.0
/*
 * Receives: the first step of a message, and the last.
 *
 * They are made as they are needed (grant.c), and posted a batch at a time, when
 * that many lie idle: there are enough to allow for a batch that is short of one
 * (R6), so a credit never reaches the peer before the Receive it stands for is
 * posted.
 *
 * Two queues wait for svc threads: messages as they arrived, and Calls whose
 * RDMA Reads are done. The latter go first; they have waited before.
 */
#include "svcrdma2.h"

/**
 * svc2_received - ->received of the connection
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
	WRITE_ONCE(sp->sp_received, sp->sp_received + 1);
	spin_lock(&sp->sp_recv_lock);
	list_add_tail(&rv->rv_list, &sp->sp_recv_q);
	set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	spin_unlock(&sp->sp_recv_lock);
	svc_xprt_enqueue(&sp->sp_xprt);
}

/**
 * svc2_recv_put - a Receive has been looked at
 * @sp: connection it came from
 * @rv: Receive
 *
 * A thread that puts its Receive while a batch is posted waits, and with it the
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

/**
 * svc2_recvs_add - make Receives, and post them
 * @sp: connection with a queue pair that has room for them
 * @total: how many it has afterwards; fewer than a batch of them are neither
 *	posted nor in use at any time
 *
 * Context: may sleep; one at a time for each connection.
 * Return: 0; -ENOMEM when it has fewer; or -EIO when the connection is lost.
 */
int svc2_recvs_add(struct svc2_xprt *sp, unsigned int total)
{
	if (rpcrdma2_recvs_fill(&sp->sp_conn, &sp->sp_rpool, total))
		return -ENOMEM;
	return svc_xprt_is_dead(&sp->sp_xprt) ? -EIO : 0;
}
