/* SPDX-License-Identifier: GPL-2.0 */
/* Order of the RPC layer's transmit queue, where this transport changes it. */
#ifndef _XPRTRDMA2_QUEUE_H
#define _XPRTRDMA2_QUEUE_H

#include <linux/list.h>

#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/xprt.h>

/**
 * xprt2_move_replies - move backward Replies out of the queue (B-04)
 * @queue: xmit_queue, locked
 * @replies: list to append them to, in queue order
 *
 * xprt2_prepare_request() sets rq_cong of a Reply, so the RPC layer queues it
 * before the first message without rq_cong. The walk ends there: it looks at
 * one Call that waits for a credit, regardless of the number of such Calls.
 *
 * Return: number of messages looked at.
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
