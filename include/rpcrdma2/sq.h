/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Send Queue of a connection, accounted to the entry.
 *
 * What is posted is a chain: work requests that go to the device in one call
 * and have one owner. The owner takes the entries first, then it posts. From
 * then on the chain belongs to the Send Queue, until po_done gives it back.
 *
 * Sends are carried out in order. So a good completion retires its own chain
 * and all unsignaled chains before it, and most chains can be unsignaled: one
 * signaled chain in sq_batch entries is enough, unless the owner of a chain
 * needs to be called at once. A signaled chain is retired by its own completion
 * and by no other: an iWARP device completes a Send while an RDMA Read before
 * it still runs. The entries of fewer than sq_batch work requests can linger
 * behind the last completion: the owner makes the queue larger by as many.
 *
 * A chain that fails completes with an error even if it is unsignaled, and the
 * queue is flushed behind it. The errors may come in another order, so each
 * retires its own chain and no other. What never completes, unsignaled chains
 * that succeeded, and chains that the device took only in part, is retired by
 * rpcrdma2_sq_drain().
 *
 * A peer can keep a chain from being done: it posts no Receives, its device
 * does not answer RDMA Reads, and the number of retries is set to without end.
 * So a signaled chain can have a deadline: sq_timeout after it has become the
 * oldest of those, for what is behind others moves as fast as they do, and in any case
 * RPCRDMA2_SQ_PATIENCE times as long after it was posted. The oldest one is first
 * on sq_posted; one delayed work for the connection looks at it. A connection
 * whose owner looks after most chains itself has one for those with po_timed.
 *
 *   Q1	What is on sq_posted belongs to the Send Queue. po_done is called exactly
 *	once for each chain there: by its own completion, by a later one if it
 *	is unsignaled, or by rpcrdma2_sq_drain(). Until then only sq_watch
 *	looks at it, under sq_lock.
 *   Q2	Each entry that was taken comes back once: with its chain, from its taker, or
 *	from the region that it was kept for. When the queue pair is destroyed there
 *	are as many as the queue was opened with.
 */
#ifndef _RPCRDMA2_SQ_H
#define _RPCRDMA2_SQ_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>

#include <rpcrdma2/units.h>

struct rpcrdma2_conn;

/* What moves may take so many times as long as what stands still. */
#define RPCRDMA2_SQ_PATIENCE	3

/**
 * struct rpcrdma2_post - a chain of work requests on the Send Queue
 * @po_begin: called just before the device gets the chain, or NULL. What it does
 *	is done before any other chain can be posted behind this one. Under
 *	sq_lock
 * @po_done: takes it back, and is called exactly once for each time that it was
 *	posted, after its entries have come back. @ok is false when it may not
 *	have been carried out, and the connection has been lost then. Send CQ,
 *	or what calls rpcrdma2_sq_drain()
 * @po_signal: set by the owner when po_done shall be called as soon as the chain
 *	is done; from then on whether the chain is signaled
 * @po_timed: sq_timeout counts for it, if it is signaled, also where it does not
 *	count for all
 * @po_octets: of the Send at its end, when sq_send_max bounds that; else 0
 * @po_extra: it counts as so many entries more when it is chosen which chain is
 *	signaled: for the memory that it keeps until it is done
 *
 * The owner sets these six. The others belong to the Send Queue:
 *
 * @po_list: on sq_posted
 * @po_cqe: of the last work request of the chain
 * @po_opcode: likewise
 * @po_wrs: entries it has; 0 when it is not on @sq_posted
 * @po_id: joins its trace events
 * @po_since: when it was posted, in jiffies
 * @po_refused: it failed, and the peer's device said that this is why: there is no
 *	such memory, or no Receive as large as the Send. Valid in po_done
 */
struct rpcrdma2_post {
	void			(*po_begin)(struct rpcrdma2_conn *co,
					    struct rpcrdma2_post *post);
	void			(*po_done)(struct rpcrdma2_conn *co,
					   struct rpcrdma2_post *post, bool ok);
	bool			po_signal;
	bool			po_timed;
	u32			po_octets;
	unsigned int		po_extra;

	struct list_head	po_list;
	struct ib_cqe		po_cqe;
	enum ib_wr_opcode	po_opcode;
	unsigned int		po_wrs;
	u32			po_id;
	unsigned long		po_since;
	bool			po_refused;
};

/**
 * struct rpcrdma2_sq - a Send Queue
 * @sq_units: its entries, as far as they are known to be free
 * @sq_entries: how many it was opened with
 * @sq_batch: one completion for so many entries, where no owner sets po_signal
 * @sq_timeout: a signaled chain has to be done in this time, in jiffies, once it is
 *	the oldest; 0 for no deadline
 * @sq_all_timed: it counts for chains without po_timed, too
 * @sq_overdue: a chain was not, and the connection was lost for that
 * @sq_refused: the peer's device has refused a work request in front of the last of a
 *	chain that is not done yet; of the send CQ alone
 * @sq_watch: looks for such a chain. Queued while one could be overdue
 * @sq_lock: guards the rest. Held over ib_post_send(): the order of @sq_posted
 *	is that of the queue
 * @sq_send_max: largest Send that the peer has Receives for. A message is built
 *	before it is posted, and the bound may change in between (C-034)
 * @sq_posted: chains on the Send Queue
 * @sq_moved: when the oldest of those with a deadline was last done, in jiffies
 * @sq_unsignaled: entries since the last one with a completion
 * @sq_last_id: po_id of the last chain
 */
struct rpcrdma2_sq {
	struct rpcrdma2_units	sq_units;
	unsigned int		sq_entries;
	unsigned int		sq_batch;
	unsigned long		sq_timeout;
	bool			sq_all_timed;
	bool			sq_overdue;
	bool			sq_refused;
	struct delayed_work	sq_watch;

	spinlock_t		sq_lock ____cacheline_aligned_in_smp; /* guards the rest */
	u32			sq_send_max;
	struct list_head	sq_posted;
	unsigned long		sq_moved;
	unsigned int		sq_unsignaled;
	u32			sq_last_id;
};

/**
 * rpcrdma2_sq_init - begin with a queue that has no entries
 * @co: connection under construction
 */
void rpcrdma2_sq_init(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_sq_open - set how large the queue is
 * @co: connection that nothing was posted on
 * @entries: entries, without those for draining the queue
 * @kept: of these, so many are for control messages alone
 * @batch: one completion for so many entries, where no owner sets po_signal
 * @timeout: a signaled chain has to be done in this time, in jiffies, once it is the
 *	oldest; 0 for no deadline
 */
void rpcrdma2_sq_open(struct rpcrdma2_conn *co, unsigned int entries,
		      unsigned int kept, unsigned int batch,
		      unsigned long timeout);

/**
 * rpcrdma2_sq_bound - let no larger Send be posted from now on (C-034)
 * @co: connection
 * @octets: largest Send
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_sq_bound(struct rpcrdma2_conn *co, u32 octets);

/**
 * rpcrdma2_sq_take - take entries
 * @co: connection
 * @count: how many
 * @control: for what is neither Call nor Reply, or cannot wait: may take those
 *	that are kept
 *
 * Context: any.
 * Return: true when they are the caller's. When not, ->room of the connection
 * is called when entries come back; perhaps before this returns.
 */
bool rpcrdma2_sq_take(struct rpcrdma2_conn *co, unsigned int count,
		      bool control);

/**
 * rpcrdma2_sq_give - give entries back that nothing was posted in
 * @co: connection
 * @count: how many
 *
 * Context: any that ->room may be called in.
 */
void rpcrdma2_sq_give(struct rpcrdma2_conn *co, unsigned int count);

/**
 * rpcrdma2_sq_post - hand a chain to the device
 * @co: connection
 * @post: the owner's record of it, with what the owner sets
 * @first: its work requests, for which as many entries were taken. All get their
 *	completions here
 *
 * Context: process; does not sleep.
 * Return: 0 when the chain belongs to the Send Queue, perhaps not for long; the
 * connection may have been lost. -EMSGSIZE when the peer has no Receives any more
 * that are as large (C-034), -ENOTCONN when the connection is lost: the chain still
 * is the caller's, its entries are given back.
 */
int rpcrdma2_sq_post(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
		     struct ib_send_wr *first);

/**
 * rpcrdma2_sq_drain - wait for all that was posted, and retire it
 * @co: connection with a queue pair, which is of no more use
 *
 * What is posted while this waits may be left; it will be flushed.
 *
 * Context: sleeps.
 */
void rpcrdma2_sq_drain(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_sq_is_whole - has each entry come back, and once?
 * @co: connection whose Send Queue is drained, and whose regions are destroyed
 */
bool rpcrdma2_sq_is_whole(const struct rpcrdma2_conn *co);

#endif /* _RPCRDMA2_SQ_H */
