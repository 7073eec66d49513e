/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Send Queue of a connection, with an exact count of its entries.
 *
 * Work requests are posted as a chain: it goes to the device in one call and
 * has one owner. The owner takes the entries first, then it posts. From then on
 * the chain belongs to the Send Queue, until po_done returns it.
 *
 * Sends are carried out in order. So a good completion retires its own chain
 * and all unsignaled chains before it, and most chains can be unsignaled: a
 * signaled chain in sq_batch entries is enough, unless the owner of a chain
 * needs to be called at once. A signaled chain is retired by its own completion
 * and by no other: an iWARP device completes a Send while an earlier RDMA Read
 * still runs. The entries of fewer than sq_batch work requests can linger
 * behind the last completion: the owner makes the queue larger by that number.
 *
 * A chain that fails completes with an error even if it is unsignaled, and the
 * queue is flushed behind it. The errors may come in a different order, so each
 * error retires its own chain and no other. Chains that never complete, namely
 * unsignaled chains that succeeded and chains that the device accepted only in
 * part, are retired by rpcrdma2_sq_drain().
 *
 * A peer can keep a chain from completing: it posts no Receives, its device
 * does not answer RDMA Reads, and the number of retries is unlimited. So a
 * signaled chain can have a deadline: sq_timeout after it has become the oldest
 * chain with a deadline, since a chain cannot overtake those before it; and in
 * any case RPCRDMA2_SQ_PATIENCE times sq_timeout after it was posted. The
 * oldest chain is first on sq_posted; a delayed work item of the connection
 * checks it. On a connection whose owner supervises most chains itself, only
 * chains with po_timed have a deadline.
 *
 *   Q1	A chain on sq_posted belongs to the Send Queue. po_done is called
 *	exactly once for it: by its own completion, by a later completion if
 *	it is unsignaled, or by rpcrdma2_sq_drain(). Until then only sq_watch
 *	accesses it, under sq_lock.
 *   Q2	Every entry that was taken is returned once: with its chain, by its
 *	taker, or with the region that it was reserved for. When the queue
 *	pair is destroyed, all entries that the queue was opened with are free.
 */
#ifndef _RPCRDMA2_SQ_H
#define _RPCRDMA2_SQ_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>

#include <rpcrdma2/plan.h>

struct rpcrdma2_conn;

/* Limit for a chain behind others that complete, in units of sq_timeout */
#define RPCRDMA2_SQ_PATIENCE	3

/**
 * struct rpcrdma2_post - a chain of work requests on the Send Queue
 * @po_begin: called just before the device gets the chain, or NULL. It
 *	completes before any other chain can be posted behind this one. Called
 *	under sq_lock
 * @po_done: returns the chain, and is called exactly once for each time that it
 *	was posted, after its entries were returned. @ok is false if the chain
 *	may not have been carried out; then the connection has been lost. Called
 *	from the Send CQ, or by the caller of rpcrdma2_sq_drain()
 * @po_signal: set by the owner if po_done must be called as soon as the chain
 *	is done; once it is posted, whether the chain is signaled
 * @po_timed: sq_timeout applies to this chain, if it is signaled, even where it
 *	does not apply to all chains
 * @po_bytes: bytes of the Send at its end, if sq_send_max limits that; else 0
 * @po_extra: additional entries that it counts as when the chain to be signaled
 *	is chosen: for the memory that it keeps until it is done
 *
 * The owner sets these six. The others belong to the Send Queue:
 *
 * @po_list: entry of sq_posted
 * @po_cqe: completion of the last work request of the chain
 * @po_opcode: opcode of the last work request of the chain
 * @po_wrs: number of its entries; 0 if it is not on @sq_posted
 * @po_id: identifies it in trace events
 * @po_since: when it was posted, in jiffies
 * @po_refused: it failed because the peer's device rejected it: there is no
 *	such memory, or no Receive as large as the Send. Valid in po_done
 */
struct rpcrdma2_post {
	void			(*po_begin)(struct rpcrdma2_conn *co,
					    struct rpcrdma2_post *post);
	void			(*po_done)(struct rpcrdma2_conn *co,
					   struct rpcrdma2_post *post, bool ok);
	bool			po_signal;
	bool			po_timed;
	u32			po_bytes;
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
 * @sq_units: its entries that are known to be free
 * @sq_entries: number of entries that it was opened with
 * @sq_batch: entries for each completion, where no owner sets po_signal
 * @sq_timeout: time in jiffies in which a signaled chain must be done, once it
 *	is the oldest; 0 for no deadline
 * @sq_all_timed: the deadline also applies to chains without po_timed
 * @sq_overdue: a chain was not done in time, and the connection was lost for
 *	that
 * @sq_refused: the peer's device has rejected a work request before the last of
 *	a chain that is not done yet; for the send CQ only
 * @sq_watch: checks for an overdue chain. Queued while a chain could be overdue
 * @sq_lock: guards the rest. Held over ib_post_send(): the order of @sq_posted
 *	is that of the queue
 * @sq_send_max: largest Send that the peer has Receives for. A message is built
 *	before it is posted, and the limit may change in between (C-034)
 * @sq_posted: chains on the Send Queue
 * @sq_moved: when the oldest chain with a deadline was last done, in jiffies
 * @sq_unsignaled: entries since the last signaled chain
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
 * rpcrdma2_sq_init - initialise a queue without entries
 * @co: connection under construction
 */
void rpcrdma2_sq_init(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_sq_open - set the size of the queue
 * @co: connection that nothing was posted on
 * @entries: number of entries, without those for draining the queue
 * @kept: entries of these that are reserved for control messages
 * @batch: entries for each completion, where no owner sets po_signal
 * @timeout: time in jiffies in which a signaled chain must be done, once it is
 *	the oldest; 0 for no deadline
 */
void rpcrdma2_sq_open(struct rpcrdma2_conn *co, unsigned int entries,
		      unsigned int kept, unsigned int batch,
		      unsigned long timeout);

/**
 * rpcrdma2_sq_bound - limit the Sends that are posted from now on (C-034)
 * @co: connection
 * @bytes: largest Send, in bytes
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_sq_bound(struct rpcrdma2_conn *co, u32 bytes);

/**
 * rpcrdma2_sq_take - take entries
 * @co: connection
 * @count: number of entries
 * @control: for a message that is neither Call nor Reply, or cannot wait: may
 *	take reserved entries
 *
 * Context: any.
 * Return: true if the caller has the entries. Otherwise ->room of the
 * connection is called when entries are returned; perhaps before this function
 * returns.
 */
bool rpcrdma2_sq_take(struct rpcrdma2_conn *co, unsigned int count,
		      bool control);

/**
 * rpcrdma2_sq_give - return entries that nothing was posted in
 * @co: connection
 * @count: number of entries
 *
 * Context: any that ->room may be called in.
 */
void rpcrdma2_sq_give(struct rpcrdma2_conn *co, unsigned int count);

/**
 * rpcrdma2_sq_post - post a chain to the device
 * @co: connection
 * @post: the owner's record of it, with the members that the owner sets
 * @first: its work requests; the caller has taken an entry for each. All get
 *	their completions here
 *
 * Context: process; does not sleep.
 * Return: 0 if the chain belongs to the Send Queue, perhaps not for long; the
 * connection may have been lost. -EMSGSIZE if the peer no longer has Receives
 * of that size (C-034), -ENOTCONN if the connection is lost: the chain is still
 * the caller's, its entries have been returned.
 */
int rpcrdma2_sq_post(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
		     struct ib_send_wr *first);

/**
 * rpcrdma2_sq_drain - wait for all posted chains, and retire them
 * @co: connection with a queue pair, which will not be used again
 *
 * Chains that are posted meanwhile may be left; they will be flushed.
 *
 * Context: sleeps.
 */
void rpcrdma2_sq_drain(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_sq_is_whole - check whether every entry was returned exactly once
 * @co: connection whose Send Queue is drained, and whose regions are destroyed
 */
bool rpcrdma2_sq_is_whole(const struct rpcrdma2_conn *co);

#endif /* _RPCRDMA2_SQ_H */
