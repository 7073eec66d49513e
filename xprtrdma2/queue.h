/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RPC layer's queue of messages to be sent, as far as this transport changes their
 * order; and its window.
 */
#ifndef _XPRTRDMA2_QUEUE_H
#define _XPRTRDMA2_QUEUE_H

#include <linux/list.h>

#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/xprt.h>

/**
 * xprt2_move_replies - take backward Replies out of the queue (B-04)
 * @queue: xmit_queue, locked
 * @replies: list that they are moved to, in their order
 *
 * A Reply is queued with rq_cong set, and so in front of the first message without
 * (xprt2_prepare_request()). There the walk ends: it passes no Call that waits for a
 * credit but one, however many there are.
 *
 * Return: messages that were looked at.
 */
static inline unsigned int xprt2_move_replies(struct list_head *queue,
					      struct list_head *replies)
{
	struct rpc_rqst *rqst, *next;
	unsigned int count = 0;

	list_for_each_entry_safe(rqst, next, queue, rq_xmit) {
		count++;
		if (likely(!rqst->rq_cong))
			break;
		if (bc_prealloc(rqst))
			list_move_tail(&rqst->rq_xmit, replies);
	}
	return count;
}

#endif /* _XPRTRDMA2_QUEUE_H */
