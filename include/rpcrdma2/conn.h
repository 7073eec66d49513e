/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections: Send Queue, memory regions, verbs objects, Receives, and the
 * state that is shown. Functions without a stated context run in process
 * context, CQ handlers included, and do not sleep.
 */
#ifndef _RPCRDMA2_CONN_H
#define _RPCRDMA2_CONN_H

#include <features.h>	/* made by compat/Kbuild */

#include <linux/atomic.h>
#include <linux/dma-direction.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pfn.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <linux/workqueue.h>

#include <linux/sunrpc/xdr.h>
#include <linux/sunrpc/xprt.h>

#include <net/net_namespace.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <rpcrdma2/plan.h>
#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

struct rpcrdma2_conn;
struct rpcrdma2_recv;

/*
 * For memory without which the caller goes on, or tries again later. The end of
 * a connection may wait for the caller: if that waited for memory, the kernel
 * could not write to a swap file on the server, and no memory would be freed.
 */
#define RPCRDMA2_GFP	(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN)

/*
 * The Send Queue of a connection, with an exact count of its entries.
 *
 * A chain of work requests goes to the device in one call and has one owner,
 * who takes the entries first and then posts. From then on the chain belongs to
 * the Send Queue, until po_done returns it.
 *
 * Sends are carried out in order. So a good completion retires its own chain
 * and all unsignaled chains before it, and one signaled chain in every sq_batch
 * entries is enough, unless an owner needs to be called at once. Only its own
 * completion retires a signaled chain, and an owner signals each chain with an
 * RDMA Read: an iWARP device completes a Send while an earlier RDMA Read still
 * runs. Fewer than sq_batch entries can linger behind the last completion: the
 * owner makes the queue larger by that number.
 *
 * A chain that fails completes with an error even if it is unsignaled, and the
 * queue is flushed behind it. Errors may come in any order, so each retires its
 * own chain only. rpcrdma2_sq_drain() retires chains that never complete:
 * unsignaled chains that succeeded, and chains that the device accepted in
 * part.
 *
 * A peer can keep a chain from completing: it posts no Receives, or its device
 * does not answer RDMA Reads, and retries are unlimited. So a signaled chain
 * can have a deadline: sq_timeout after it has become the oldest chain with a
 * deadline, since it cannot overtake those before it, and in any case
 * RPCRDMA2_SQ_PATIENCE times sq_timeout after it was posted. A delayed work
 * item checks the first chain on sq_posted that has a deadline; when it is
 * overdue, the connection is lost, and the queue pair put into the error state.
 * Where the owner supervises most chains itself, only chains with po_timed have
 * a deadline.
 *
 *   Q1	A chain on sq_posted belongs to the Send Queue. po_done is called
 *	exactly once for it: by its own completion, by a later completion if
 *	it is unsignaled, or by rpcrdma2_sq_drain(). Until then only the Send
 *	Queue accesses it: po_list and po_wrs under sq_lock, the rest also in
 *	the handler of its completion.
 *   Q2	Every entry that was taken is returned once: with its chain, by its
 *	taker, or with the region that it was reserved for. When the queue
 *	pair is destroyed, all entries that the queue was opened with are free.
 */

/* Limit for a chain behind others that complete, in units of sq_timeout */
#define RPCRDMA2_SQ_PATIENCE	3

/**
 * struct rpcrdma2_post - a chain of work requests on the Send Queue
 * @po_begin: called under sq_lock just before the device gets the chain, or
 *	NULL. It completes before any other chain can be posted behind this one
 * @po_done: returns the chain, after its entries, exactly once for each post.
 *	@ok is false if the chain may not have been carried out; then the
 *	connection is lost. Called from the Send CQ, or by the caller of
 *	rpcrdma2_sq_drain()
 * @po_refused: called because the peer's device rejected the chain: there is no
 *	such memory, or no Receive as large as the Send. This ends the
 *	connection, or another completion already has. Or NULL. Called from the
 *	Send CQ
 * @po_signal: set by the owner if po_done must be called as soon as the chain
 *	is done; once it is posted, whether the chain is signaled
 * @po_timed: sq_timeout applies to this chain, if it is signaled, even where it
 *	does not apply to all chains
 * @po_bytes: bytes of the Send at its end, if sq_send_max limits that; else 0
 * @po_extra: the choice of the next chain to be signaled counts this number of
 *	further entries, for the memory that the chain keeps until it is done
 *
 * The owner sets these seven. The others belong to the Send Queue:
 *
 * @po_id: identifies it in trace events
 * @po_list: entry of sq_posted
 * @po_cqe: completion of the last work request
 * @po_opcode: opcode of that work request
 * @po_wrs: number of its entries; 0 if it is not on @sq_posted
 * @po_since: when it was posted, in jiffies
 */
struct rpcrdma2_post {
	void			(*po_begin)(struct rpcrdma2_conn *co,
					    struct rpcrdma2_post *post);
	void			(*po_done)(struct rpcrdma2_conn *co,
					   struct rpcrdma2_post *post, bool ok);
	void			(*po_refused)(struct rpcrdma2_conn *co,
					      struct rpcrdma2_post *post);
	bool			po_signal;
	bool			po_timed;
	u32			po_bytes;
	unsigned int		po_extra;

	u32			po_id;
	struct list_head	po_list;
	struct ib_cqe		po_cqe;
	enum ib_wr_opcode	po_opcode;
	unsigned int		po_wrs;
	unsigned long		po_since;
};

/**
 * struct rpcrdma2_sq - a Send Queue
 * @sq_units: its entries that are known to be free; counted without a lock
 * @sq_entries: number of entries that it was opened with
 * @sq_batch: entries for each completion, where no owner sets po_signal
 * @sq_timeout: jiffies in which a signaled chain must be done once it is the
 *	oldest; 0 for no deadline
 * @sq_all_timed: the deadline also applies to chains without po_timed; set by
 *	rpcrdma2_sq_open()
 * @sq_overdue: the connection was lost because a chain was not done in time
 * @sq_refused: the peer's device has rejected a work request, not the last one,
 *	of a chain that is not done yet; for the send CQ only
 * @sq_watch: checks for an overdue chain. Queued while a chain could be overdue
 * @sq_drain_mutex: held by rpcrdma2_sq_drain(): the queue has an entry for
 *	one drain
 * @sq_lock: guards the rest. Held over ib_post_send(): the order of @sq_posted
 *	is that of the queue
 * @sq_send_max: largest Send that the peer has Receives for. It may change
 *	between the building and the posting of a message (C-034)
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
	struct mutex		sq_drain_mutex;	/* serializes drains */

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
 * @reserve: entries of these that only takers with @reserved get
 * @batch: entries for each completion: sq_batch
 * @timeout: deadline of a chain in jiffies, or 0: sq_timeout
 */
void rpcrdma2_sq_open(struct rpcrdma2_conn *co, unsigned int entries,
		      unsigned int reserve, unsigned int batch,
		      unsigned long timeout);

/**
 * rpcrdma2_sq_bound - limit the Sends that are posted from now on (C-034)
 * @co: connection
 * @bytes: largest Send, in bytes
 */
void rpcrdma2_sq_bound(struct rpcrdma2_conn *co, u32 bytes);

/**
 * rpcrdma2_sq_take - take entries
 * @co: connection
 * @count: number of entries
 * @reserved: take reserved entries too: at the client for messages that are no
 *	Calls, at the server for callbacks
 *
 * Return: true if the caller has the entries. Otherwise ->room is called when
 * entries are returned; perhaps before this function returns.
 */
bool rpcrdma2_sq_take(struct rpcrdma2_conn *co, unsigned int count,
		      bool reserved);

/**
 * rpcrdma2_sq_give - return entries that nothing was posted in
 * @co: connection
 * @count: number of entries, perhaps 0
 *
 * Context: any in which the owner's ->room may be called.
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
 * Return: 0 if the chain belongs to the Send Queue; on a lost connection it is
 * flushed. -EMSGSIZE if the peer no longer has Receives of that size (C-034),
 * -ENOTCONN if the device has taken none of it, which loses the connection: the
 * chain is still the caller's, its entries have been returned.
 */
int rpcrdma2_sq_post(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
		     struct ib_send_wr *first);

/**
 * rpcrdma2_sq_drain - wait for all posted chains, and retire them
 * @co: connection with a queue pair, which will not be used again. Chains that
 *	are posted meanwhile may be left; they will be flushed
 *
 * Context: sleeps.
 */
void rpcrdma2_sq_drain(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_sq_is_whole - check whether every entry was returned once (Q2)
 * @co: connection whose Send Queue is drained, and whose regions are destroyed
 */
bool rpcrdma2_sq_is_whole(const struct rpcrdma2_conn *co);

/*
 * Memory regions: memory that the peer may read or write, and its life cycle.
 *
 * Ranges of an xdr_buf become a chunk of a header, in which each segment is a
 * memory region of the connection. A region holds the pages that fit the
 * device's page list, so a payload of 1 MiB is one region on any current
 * device. The REG_MRs that make regions live are chained in front of the Send.
 * A region is released in one of four ways; in all four its pages are unmapped
 * before it is taken from its RPC:
 *
 *   - the peer's answer invalidated it: rpcrdma2_exposed_invalidated();
 *   - otherwise a LOCAL_INV is posted for each region left: rpcrdma2_fence(), or
 *     rpcrdma2_revoke() for an aborted RPC, whose Send may still be posted;
 *   - the Send was never posted: rpcrdma2_unexpose();
 *   - the connection is lost and its Send Queue drained: for one RPC by
 *     rpcrdma2_lose_exposed(), for all by rpcrdma2_regions_destroy().
 *
 * The pool grows when an RPC finds too few free regions, and shrinks when they
 * are idle. A region on rg_free has no work request that is not done, and no
 * page: so it may be freed at any time, by whoever takes it from the list under
 * rg_lock.
 *
 * A region needs an entry of the Send Queue for its REG_MR and, reserved
 * together with it, one for its LOCAL_INV: an invalidation cannot wait for
 * room, because other RPCs may wait for the RPC that it ends. Where it can
 * wait, and a peer may keep many regions for a long time, the owner takes the
 * second entry only before the invalidation (em_later).
 */

/**
 * struct rpcrdma2_regions - the memory regions of a connection
 * @rg_type: their type
 * @rg_depth: pages that each region holds
 * @rg_max: limit of @rg_num; set by the owner
 * @rg_keep: regions at first, at most 16, which also stay when none is in use;
 *	set by the owner, and changed by rpcrdma2_regions_keep()
 * @rg_lock: guards the next six
 * @rg_free: free regions
 * @rg_num_free: number of free regions
 * @rg_num_idle: least number of free regions since the last run of @rg_trim
 * @rg_all: all regions
 * @rg_num: number of all regions; also read without @rg_lock, as it may change
 *	at any time anyway
 * @rg_needed: number of free regions that an RPC waits for, or 0
 * @rg_refill: work that allocates regions
 * @rg_trim: work that frees regions; queued while there are more than @rg_keep
 * @rg_failures: consecutive runs of @rg_refill that allocated none; only
 *	@rg_refill uses it
 */
struct rpcrdma2_regions {
	enum ib_mr_type		rg_type;
	unsigned int		rg_depth;
	unsigned int		rg_max;
	unsigned int		rg_keep;
	spinlock_t		rg_lock ____cacheline_aligned_in_smp; /* guards next six */
	struct list_head	rg_free;
	unsigned int		rg_num_free;
	unsigned int		rg_num_idle;
	struct list_head	rg_all;
	unsigned int		rg_num;
	unsigned int		rg_needed;
	struct delayed_work	rg_refill;
	struct delayed_work	rg_trim;
	unsigned int		rg_failures;
};

/**
 * struct rpcrdma2_exposed - memory that one RPC exposes
 * @em_regions: its regions. Changed by the code that builds the message, then
 *	by the handler of the answer, then by the end of the fence; never
 *	concurrently
 * @em_later: the owner takes the entries for the LOCAL_INVs before
 *	rpcrdma2_fence(), and not with those for the REG_MRs. Set before there
 *	are regions
 * @em_fencing: a fence of rpcrdma2_revoke() has not ended
 * @em_fence: chain of the LOCAL_INVs
 * @em_done: ends the fence, and is called exactly once for it. @ok is false if
 *	the regions may still be live; then the connection is lost. Called from
 *	the Send CQ, or by the caller of rpcrdma2_sq_drain()
 */
struct rpcrdma2_exposed {
	struct list_head	em_regions;
	bool			em_later;
	bool			em_fencing;
	struct rpcrdma2_post	em_fence;
	void			(*em_done)(struct rpcrdma2_conn *co,
					   struct rpcrdma2_exposed *ex,
					   bool ok);
};

/**
 * rpcrdma2_regions_init - initialise an empty pool of regions
 * @co: connection that exposes memory, initialised by rpcrdma2_conn_init()
 */
void rpcrdma2_regions_init(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_measure - choose type and depth of regions for a device
 * @co: connection with a device; sets rg_type and rg_depth
 * @pages: most pages of a payload
 */
void rpcrdma2_regions_measure(struct rpcrdma2_conn *co, unsigned int pages);

/**
 * rpcrdma2_regions_grow - allocate regions, up to rg_max
 * @co: connection; its ->grown is called
 *
 * These are as many as there are, at least rg_keep and at most 16.
 *
 * Context: may sleep; not concurrent with rpcrdma2_regions_destroy().
 * Return: 0, or -ENOMEM if the connection has no region at all.
 */
int rpcrdma2_regions_grow(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_keep - change rg_keep, and the number of regions over time
 * @co: connection
 * @keep: as rg_keep
 *
 * Context: any; not concurrent with rpcrdma2_regions_destroy().
 */
void rpcrdma2_regions_keep(struct rpcrdma2_conn *co, unsigned int keep);

/**
 * rpcrdma2_regions_trim - free the regions that RPCs did not use for a while
 * @co: connection. Of those beyond rg_keep the ones that were never in use since
 *	the last call are freed, but none while an RPC waits for regions
 *
 * Context: rg_trim; may sleep.
 * Return: number of regions freed.
 */
unsigned int rpcrdma2_regions_trim(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_awaited - check whether an RPC still waits for regions
 * @co: connection. rpcrdma2_expose() has returned -EAGAIN, and the caller has
 *	returned its regions with rpcrdma2_unexpose() and is ready for ->room
 *
 * Return: true if ->room will be called; false if it was called already, or
 * enough regions are free.
 */
bool rpcrdma2_regions_awaited(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_destroy - destroy all regions, including those of RPCs
 * @co: connection whose queues are drained; nothing is posted any more. The
 *	Send Queue entries reserved for live regions are returned (Q2)
 *
 * Context: sleeps.
 */
void rpcrdma2_regions_destroy(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_exposed - count the regions that RPCs use
 * @co: connection
 */
unsigned int rpcrdma2_regions_exposed(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_are_whole - check that regions are free or in use
 * @co: connection; no region is added or removed meanwhile
 */
bool rpcrdma2_regions_are_whole(struct rpcrdma2_conn *co);

/* @ex: zeroed, but for what its owner sets */
static inline void rpcrdma2_exposed_init(struct rpcrdma2_exposed *ex)
{
	INIT_LIST_HEAD(&ex->em_regions);
}

/*
 * Whether the peer may access memory of an RPC. The result is false only after
 * the last page was unmapped: the function pairs with the barrier in
 * rpcrdma2_region_put().
 */
static inline bool rpcrdma2_is_exposed(const struct rpcrdma2_exposed *ex)
{
	return !list_empty_careful(&ex->em_regions);
}

/**
 * rpcrdma2_expose - expose ranges of a message as a chunk
 * @co: connection
 * @ex: gets the regions
 * @buf: message
 * @range: ranges of the message
 * @ranges: number of ranges
 * @dir: DMA_TO_DEVICE for memory that the peer reads, else DMA_FROM_DEVICE
 * @h: header that gets the segments. All its segments are regions of @ex
 * @ck: chunk of that header
 *
 * On error the caller releases all chunks with rpcrdma2_unexpose().
 *
 * Context: process; does not sleep. Serialized for each connection.
 * Return: 0; -EAGAIN if no region is free: see rpcrdma2_regions_awaited();
 * -ENOBUFS if the memory cannot be mapped now; -EIO if no region can hold it.
 */
int rpcrdma2_expose(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		    const struct xdr_buf *buf,
		    const struct rpcrdma2_range *range, unsigned int ranges,
		    enum dma_data_direction dir, struct rpcrdma2_hdr *h,
		    struct rpcrdma2_chunk *ck);

/**
 * rpcrdma2_exposed_chain - link the REG_MRs in front of a Send
 * @ex: regions that were never posted, perhaps none
 * @first: the Send; becomes the first work request
 *
 * Return: number of REG_MRs; the Send Queue must provide another entry for the
 * LOCAL_INV of each, unless em_later is set.
 */
unsigned int rpcrdma2_exposed_chain(struct rpcrdma2_exposed *ex,
				    struct ib_send_wr **first);

/**
 * rpcrdma2_unexpose - release regions that no peer can access: they were never
 *	posted, or all are invalidated
 * @co: connection
 * @ex: the regions. If they, and regions returned meanwhile, are enough for a
 *	waiting RPC, ->room is called: no other event may do so
 */
void rpcrdma2_unexpose(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex);

/**
 * rpcrdma2_exposed_invalidated - release a region that the peer has invalidated
 * @co: connection
 * @ex: regions of the RPC that the message answers
 * @handle: handle that the message invalidated
 *
 * Context: handler of the answer; does not sleep.
 * Return: true if the handle was a region of @ex, which is free now; false if
 * it was not, and the state of this end differs from that of the device (S50).
 */
bool rpcrdma2_exposed_invalidated(struct rpcrdma2_conn *co,
				  struct rpcrdma2_exposed *ex, u32 handle);

/**
 * rpcrdma2_handle_in_use - find the RPC of a region by its handle
 * @co: connection
 * @handle: handle, not 0
 * @xid: set to the xid of the RPC that the region was exposed for
 *
 * Return: true if a region of some RPC has that handle.
 */
bool rpcrdma2_handle_in_use(struct rpcrdma2_conn *co, u32 handle, u32 *xid);

/**
 * rpcrdma2_fence - invalidate the regions that an RPC still exposes
 * @co: connection
 * @ex: live regions, at least one, and em_done, which ends the fence
 *
 * The LOCAL_INVs form one chain with one completion. Their entries were taken
 * with those for the REG_MRs, or by the caller (em_later). There is no retry:
 * on failure the connection is lost, and the entries have been returned.
 *
 * Context: process; does not sleep.
 * Return: 0, or -ENOTCONN: em_done will not be called.
 */
int rpcrdma2_fence(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex);

/**
 * rpcrdma2_revoke - fence the regions of an RPC that ended without an answer
 * @co: connection
 * @ex: live regions, at least one
 *
 * As rpcrdma2_fence(), but in place of em_done the owner calls
 * rpcrdma2_revoke_wait(), and, if that returns false, rpcrdma2_lose_exposed()
 * before @ex is freed. Nothing else ends a fence that was posted in part.
 *
 * Context: process; does not sleep.
 * Return: as rpcrdma2_fence().
 */
int rpcrdma2_revoke(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex);

/**
 * rpcrdma2_revoke_wait - wait for the end of rpcrdma2_revoke()
 * @ex: its regions
 * @timeout: limit on the wait, in jiffies. The peer does not delay the fence
 *	itself, but chains in front of it
 *
 * Context: sleeps; the connection may end meanwhile.
 * Return: true when the regions are free and the fence no longer uses @ex.
 */
bool rpcrdma2_revoke_wait(struct rpcrdma2_exposed *ex, unsigned long timeout);

/**
 * rpcrdma2_lose_exposed - lose a connection, and take all regions from an RPC
 * @co: connection that does not complete the fence of @ex, or a Send
 * @ex: the regions, perhaps none. The Send Queue is drained first: then neither
 *	the device nor a fence uses them
 *
 * Context: sleeps.
 */
void rpcrdma2_lose_exposed(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex);

/* A connection. rpcrdma2_conn_lose() is the only way to lose it. */

/*
 * Reasons for the loss of a connection: identifier; name in the log; whether
 * the peer had no part in it; advice for the administrator, or NULL
 */
#define RPCRDMA2_LOSSES(_loss)						\
	_loss(PEER,		"peer", false, NULL)			\
	_loss(UNREACHABLE,	"unreachable", false, NULL)		\
	_loss(ADDRESS,		"address changed", true, NULL)		\
	_loss(DEVICE,		"device removed", true, NULL)		\
	_loss(QP,		"queue pair failed", false,		\
	      "see the log of the device's driver")			\
	_loss(FLUSHED,		"queue flushed", false,			\
	      "the peer or the network is gone, or a device failed: see the drivers' logs") \
	_loss(RECEIVE,		"Receive failed", false,		\
	      "the peer sent more than a Receive has, or the device failed") \
	_loss(NO_MESSAGE,	"Receive without a message", false,	\
	      "the peer does not use RPC-over-RDMA")			\
	_loss(SEND,		"Send failed", false,			\
	      "the peer is gone, slow or refuses data, or packets get lost: see 'rdma statistic'") \
	_loss(READ,		"RDMA Read failed", false,		\
	      "the peer is gone or has no such memory, or packets get lost: see 'rdma statistic'") \
	_loss(REGION,		"registration or invalidation failed", false, \
	      "see the log of the device's driver")			\
	_loss(HANDLE,		"foreign handle invalidated", false,	\
	      "the peer is at fault")					\
	_loss(POST,		"cannot post", false,			\
	      "see the log of the device's driver")			\
	_loss(STALLED,		"stalled", false,			\
	      "the peer does not accept what it requested: see whether it hangs") \
	_loss(TIMEOUT,		"RPC timed out", true, NULL)		\
	_loss(VERSION,		"version changes", false, NULL)		\
	_loss(INJECTED,		"fault injection", true, NULL)		\
	_loss(MEMORY,		"no memory", false,			\
	      "see 'free' on this machine")				\
	_loss(REPLY,		"cannot reply", false,			\
	      "not even an error could be sent: see 'free' and the driver's log")		\
	_loss(ENDED,		"ended by its owner", false, NULL)

enum rpcrdma2_loss {
	RPCRDMA2_LOSS_NONE = 0,
#define RPCRDMA2_LOSS_ENUM(_name, ...) RPCRDMA2_LOSS_##_name,
	RPCRDMA2_LOSSES(RPCRDMA2_LOSS_ENUM)
#undef RPCRDMA2_LOSS_ENUM
};

/* The end of a connection */
struct rpcrdma2_end {
	enum rpcrdma2_loss	en_why;	/* LOSS_NONE if there was none */
	time64_t		en_at;	/* seconds since boot */
};

/**
 * struct rpcrdma2_conn_ops - callbacks from a connection to its owner
 * @lost: the connection was lost; called once, in any context, even atomic
 * @received: a message of rv_len bytes has arrived, which rpcrdma2_recv_sync()
 *	makes visible. The owner holds the Receive until rpcrdma2_recv_put(),
 *	rpcrdma2_recv_repost() or rpcrdma2_recv_free(). Called from the Receive
 *	CQ: by a workqueue, or by rpcrdma2_recvs_poll()
 * @arrived: NULL, or the owner polls the Receive CQ itself: rpcrdma2_recvs_poll()
 *	has something to do. Called in any context, even with interrupts disabled
 * @room: Send Queue entries or regions were returned after a taker had found
 *	too few. Called from the Send CQ, or by the code that returns them
 * @grown: refill of the region pool finished: @made were allocated, @failed if
 *	an allocation failed. Only for a connection that exposes memory, as the
 *	next; both may sleep
 * @trimmed: @freed regions that were idle for 30 seconds or more are gone. Not
 *	after rpcrdma2_regions_destroy()
 */
struct rpcrdma2_conn_ops {
	void (*lost)(struct rpcrdma2_conn *co, enum rpcrdma2_loss why);
	void (*received)(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
			 const struct ib_wc *wc);
	void (*arrived)(struct rpcrdma2_conn *co);
	void (*room)(struct rpcrdma2_conn *co);
	void (*grown)(struct rpcrdma2_conn *co, unsigned int made, bool failed);
	void (*trimmed)(struct rpcrdma2_conn *co, unsigned int freed);
};

/**
 * struct rpcrdma2_conn - the verbs objects of one connection
 * @co_ops: callbacks to its owner
 * @co_why: enum rpcrdma2_loss; RPCRDMA2_LOSS_NONE while the connection is good
 * @co_lost: ->lost has been called, or is being called
 * @co_id: connection identifier, with the queue pair. The device cannot be
 *	removed before the identifier is destroyed
 * @co_pd: protection domain
 * @co_send_cq: completions of all but Receives
 * @co_recv_cq: completions of Receives
 * @co_vector: completion vector of both CQs, that of the first one created; -1
 *	before
 * @co_max_wr: most entries of a queue, once a device has refused more; or 0
 * @co_recv_polled: the owner polls @co_recv_cq; not bool, for xchg()
 * @co_recv_work: polls @co_recv_cq when the owner no longer does
 * @co_recv_pages: pages of the largest Receive, by rpcrdma2_recv_begin()
 * @co_rw_mrs: memory regions that rdma_rw keeps, which the server counts for
 *	RDMA Reads; 0 if the device does not need them
 * @co_rw_pages: most pages that rdma_rw gets at once to read into, 0 for no limit
 * @co_write_pages: most pages of a region that an RDMA Write reads, 0 if the
 *	device needs none for it
 * @co_swaps: a swap file depends on it: its work may use memory reserves
 * @co_sq: the Send Queue
 * @co_regions: memory regions for the peer; empty on a connection that exposes
 *	no memory
 *
 * The context of both CQs is the connection.
 */
struct rpcrdma2_conn {
	const struct rpcrdma2_conn_ops	*co_ops;
	atomic_t			co_why;
	atomic_t			co_lost;
	struct rdma_cm_id		*co_id;
	struct ib_pd			*co_pd;
	struct ib_cq			*co_send_cq;
	struct ib_cq			*co_recv_cq;
	int				co_vector;
	u32				co_max_wr;
	unsigned int			co_recv_polled;
	struct work_struct		co_recv_work;
	unsigned int			co_recv_pages;
	unsigned int			co_rw_mrs;
	unsigned int			co_rw_pages;
	unsigned int			co_write_pages;
	bool				co_swaps;
	struct rpcrdma2_sq		co_sq;
	struct rpcrdma2_regions		co_regions;
};

/* Sizes of the queues of a connection; entries include those for draining */
struct rpcrdma2_conn_size {
	unsigned int	sends;
	unsigned int	recvs;
	unsigned int	send_sges;	/* rpcrdma2_conn_create() may raise it */
	unsigned int	rw_mrs;		/* as co_rw_mrs */
	unsigned int	rw_pages;	/* as co_rw_pages */
};

/*
 * Most pages of an RDMA Write. Over soft-RoCE, which leaves at most 128 packets
 * without an acknowledgment, a READ of 1 MiB takes a round trip less with 16 or
 * 32 pages of 4 KiB than with 19 (measured). It is not a number of bytes: with
 * pages of 64 KiB, 64 KiB would be one page, and a Reply of 1 MiB in nine chunks
 * of 64 segments in all could take 111 entries of the server's Send Queue, whose
 * longest chain has 82 if an RDMA Write gathers 19 pages.
 */
#define RPCRDMA2_WRITE_PAGES	16

/**
 * rpcrdma2_reclaim_begin - allocate memory as work that writeback may wait for
 * @swaps: a swap file depends on it, so it may use memory reserves
 *
 * Context: workqueue. The allocations of drivers are meant, too.
 * Return: flags for rpcrdma2_reclaim_end().
 */
static inline unsigned int rpcrdma2_reclaim_begin(bool swaps)
{
	unsigned int flags = current->flags;

	current->flags |= PF_MEMALLOC_NOFS | (swaps ? PF_MEMALLOC : 0);
	return flags;
}

static inline void rpcrdma2_reclaim_end(unsigned int flags)
{
	current_restore_flags(flags, PF_MEMALLOC | PF_MEMALLOC_NOFS);
}

static inline struct ib_device *rpcrdma2_conn_device(const struct rpcrdma2_conn *co)
{
	return co->co_id->device;
}

/* Entries that the device permits in a queue, besides @beside */
static inline u32 rpcrdma2_conn_room(const struct rpcrdma2_conn *co, u32 beside)
{
	const struct ib_device_attr *attrs = &rpcrdma2_conn_device(co)->attrs;
	u32 most = min_t(u32, attrs->max_qp_wr, attrs->max_cqe);

	return rpcrdma2_caps_room(min(most, co->co_max_wr ?: most), beside);
}

static inline struct ib_qp *rpcrdma2_conn_qp(const struct rpcrdma2_conn *co)
{
	return co->co_id->qp;
}

static inline bool rpcrdma2_conn_is_lost(const struct rpcrdma2_conn *co)
{
	return atomic_read(&co->co_lost);
}

static inline enum rpcrdma2_loss rpcrdma2_conn_why(const struct rpcrdma2_conn *co)
{
	return atomic_read(&co->co_why);
}

/**
 * rpcrdma2_conn_init - initialise a connection without verbs objects
 * @co: connection
 * @ops: callbacks to its owner
 */
void rpcrdma2_conn_init(struct rpcrdma2_conn *co,
			const struct rpcrdma2_conn_ops *ops);

/**
 * rpcrdma2_conn_create - create protection domain, CQs and queue pair
 * @co: connection with an identifier that has a device
 * @size: sizes of the queues
 * @event: handler of the queue pair's asynchronous events, or NULL; its context
 *	is @co
 *
 * Context: may sleep.
 * Return: 0, or a negative errno, and there are neither CQs nor a queue pair.
 */
int rpcrdma2_conn_create(struct rpcrdma2_conn *co,
			 struct rpcrdma2_conn_size *size,
			 void (*event)(struct ib_event *event, void *context));

/* Smaller queues are not tried; the default needs more only over a few devices. */
#define RPCRDMA2_WR_LEAST	256U

/**
 * rpcrdma2_conn_shrink - size queues for less, after a device has refused them
 * @co: connection
 * @size: sizes of the refused queues
 * @ret: result of rpcrdma2_conn_create()
 *
 * A driver may refuse queues of fewer than max_qp_wr entries, because it counts
 * blocks of 64 bytes, of which a wide work request takes several; its error may
 * be -ENOMEM. With regions of rdma_rw that may concern these, of which a smaller
 * queue has as many; and without a protection domain no queue was refused.
 *
 * Return: true when rpcrdma2_conn_room() has become less: the caller computes
 * the sizes again, and tries again.
 */
static inline bool rpcrdma2_conn_shrink(struct rpcrdma2_conn *co,
					const struct rpcrdma2_conn_size *size,
					int ret)
{
	u32 most = max(size->sends, size->recvs);

	if (!co->co_pd || most <= RPCRDMA2_WR_LEAST ||
	    (ret != -EINVAL && (ret != -ENOMEM || size->rw_mrs)))
		return false;
	co->co_max_wr = max(most / 2, RPCRDMA2_WR_LEAST);
	return true;
}

/**
 * struct rpcrdma2_limit - a number of Calls that the queues of a device limit
 * @li_calls: kind of Calls
 * @li_param: name of the module parameter that permits more
 * @li_logged: number in the last log line, or 0
 */
struct rpcrdma2_limit {
	const char	*li_calls;
	const char	*li_param;
	u32		li_logged;
};

/**
 * rpcrdma2_conn_log_limit - log that a connection has fewer Calls than configured
 * @co: connection with an identifier that has a device
 * @limit: limit; only a number that differs from its last one is logged
 * @number: concurrent Calls that the queues of the connection permit
 * @configured: concurrent Calls that the module parameter permits
 *
 * The name of the module in the line comes from the caller's pr_fmt().
 */
static inline void rpcrdma2_conn_log_limit(const struct rpcrdma2_conn *co,
					   struct rpcrdma2_limit *limit,
					   u32 number, u32 configured)
{
	if (number < configured && xchg(&limit->li_logged, number) != number)
		pr_info_ratelimited("device %s has queues for %u %s at once, fewer than the module parameter %s\n",
				    rpcrdma2_conn_device(co)->name, number,
				    limit->li_calls, limit->li_param);
}

/**
 * rpcrdma2_conn_destroy - destroy all verbs objects, the identifier last
 * @co: connection whose queue pair, if there is one, has been drained, and whose
 *	Send Queue entries have all been returned (Q2)
 *
 * Context: may sleep.
 */
void rpcrdma2_conn_destroy(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_conn_blame - record why a connection is about to be lost
 * @co: connection
 * @why: reason. The first one counts, with two exceptions. A flush has a cause,
 *	which may be found later, in another queue: a reason that can be the
 *	cause replaces FLUSHED. A reason in which the peer had no part replaces
 *	any: a device that is removed breaks its queues first
 *
 * Context: any.
 */
void rpcrdma2_conn_blame(struct rpcrdma2_conn *co, enum rpcrdma2_loss why);

/**
 * rpcrdma2_conn_lose - lose a connection, unless it is already lost
 * @co: connection
 * @why: reason
 *
 * For use when the state of the queue pair, of a region or of the credits is no
 * longer known.
 *
 * Context: any that the owner's ->lost may be called in.
 */
void rpcrdma2_conn_lose(struct rpcrdma2_conn *co, enum rpcrdma2_loss why);

/**
 * rpcrdma2_loss_is_innocent - check whether the peer had no part in a loss
 * @why: reason
 */
bool rpcrdma2_loss_is_innocent(enum rpcrdma2_loss why);

/**
 * rpcrdma2_conn_report_end - record how a connection ended, and log advice
 * @co: connection that has ended
 * @en: where to record it
 * @module: module name, for the log
 * @what: name of the connection, for the log
 *
 * A line is logged only if an administrator can act on the reason.
 *
 * Return: the reason.
 */
enum rpcrdma2_loss rpcrdma2_conn_report_end(const struct rpcrdma2_conn *co,
					    struct rpcrdma2_end *en,
					    const char *module,
					    const char *what);

/**
 * rpcrdma2_end_show - print " ended=REASON ended_ago=SECONDS", or nothing
 * @seq: output
 * @en: the end
 */
void rpcrdma2_end_show(struct seq_file *seq, const struct rpcrdma2_end *en);

/*
 * Receives: their memory, their posting, and the completions that deliver a
 * message.
 *
 * A Receive consists of single pages, with one scatter entry for each. nfsd
 * takes the data of a WRITE as pages, or in older kernels from a stretch of
 * addresses: there (RPCRDMA2_STRETCHES) a Receive of several pages is also
 * mapped as one stretch. The mapping takes time, and may sleep.
 */

#ifndef RPCRDMA2_HAS_SVC_WRITE_BVEC
#define RPCRDMA2_STRETCHES
#endif

/* Pages of a Receive of the largest size */
#define RPCRDMA2_RECV_PAGES	DIV_ROUND_UP(RPCRDMA2_INLINE_MAX, PAGE_SIZE)

/*
 * Pages that a Receive may grow to on an existing connection, even if it began
 * with fewer. With 14 pages an entry of soft-RoCE's Receive Queue takes 512
 * bytes, with 13 it takes 256.
 */
#define RPCRDMA2_RECV_PAGES_LATER	13

/**
 * struct rpcrdma2_budget - memory budget for the Receives of several pools
 * @bu_pages: pages in use
 * @bu_limit: limit of @bu_pages, checked when pages are added
 * @bu_reserved: part of @bu_limit for new Receives: no Receive grows into it
 */
struct rpcrdma2_budget {
	atomic_long_t	bu_pages;
	long		bu_limit;
	long		bu_reserved;
};

/**
 * struct rpcrdma2_rpool - a pool of Receives, which may outlive a connection
 * @rp_size: bytes that each Receive should have, whole pages. The owner sets
 *	this and the next six before the first Receive is made; later
 *	rpcrdma2_rpool_resize() changes it, under rp_lock
 * @rp_reposted: Receives are posted by rpcrdma2_recv_repost(), which may also
 *	resize them; otherwise by rpcrdma2_recvs_post(). With RPCRDMA2_STRETCHES
 *	they are also mapped as one stretch
 * @rp_before: bytes that the owner has in front of each struct rpcrdma2_recv
 * @rp_max: limit of @rp_count for rpcrdma2_recvs_post(); not used with
 *	@rp_reposted
 * @rp_batch: number of Receives that rpcrdma2_recv_repost() posts at once;
 *	later rpcrdma2_rpool_batch() changes it, under rp_lock
 * @rp_node: NUMA node of their memory
 * @rp_budget: budget for their pages, or NULL
 * @rp_returned: free Receives that are not on @rp_free yet, the last one first;
 *	added without the lock. All that an RPC needs of the pool is in one cache
 *	line, up to @rp_free
 * @rp_nfree: number of free Receives, with @rp_reposted only. A Receive is
 *	counted just after it was added to @rp_returned, so another thread may
 *	post it before: then the number may be negative. It falls after a post
 * @rp_lock: guards the next six. rpcrdma2_recv_repost() holds it over
 *	ib_post_recv(): a Receive that has left @rp_free is posted when the next
 *	holder gets the lock
 * @rp_free: free Receives, most recently used first
 * @rp_all: all Receives
 * @rp_count: number of all Receives
 * @rp_small: Receives with fewer bytes than they should have, in any state
 * @rp_last_id: rv_id of the Receive made last
 * @rp_posts: total number posted by rpcrdma2_recv_repost()
 * @rp_cache: for a struct rpcrdma2_recv and rp_before bytes; NULL for kmalloc().
 *	Also set by the owner before the first Receive is made; here because no
 *	RPC needs it, and the cache line up to @rp_free is full
 */
struct rpcrdma2_rpool {
	unsigned int		rp_size;
	bool			rp_reposted;
	unsigned int		rp_before;
	unsigned int		rp_max;
	unsigned int		rp_batch;
	int			rp_node;
	struct rpcrdma2_budget	*rp_budget;
	struct llist_head	rp_returned;
	atomic_t		rp_nfree;
	spinlock_t		rp_lock;	/* guards next six */
	struct list_head	rp_free;
	struct list_head	rp_all;
	unsigned int		rp_count;
	unsigned int		rp_small;
	unsigned int		rp_last_id;
	unsigned int		rp_posts;
	struct kmem_cache	*rp_cache;
};

/**
 * struct rpcrdma2_recv - a Receive
 * @rv_list: entry of rp_free, or of a list of its user
 * @rv_node: in its place: entry of rp_returned, or of a list of its user
 *	without a lock
 * @rv_all: entry of rp_all
 * @rv_pool: pool that it belongs to
 * @rv_id: its number in the pool
 * @rv_device: device that it is mapped for, or NULL; changed under rp_lock
 * @rv_cqe: its completion
 * @rv_wr: its work request
 * @rv_len: length of the message in it
 * @rv_handle: handle that its arrival invalidated, or 0; for the owner
 * @rv_at: earliest time at which it can have arrived, in jiffies; for the owner
 * @rv_buf: all of its memory, as one stretch (RPCRDMA2_STRETCHES); NULL if it
 *	has several pages that are not mapped
 * @rv_npages: number of its pages; changed under rp_lock, never while it is
 *	posted
 * @rv_pages: its pages
 * @rv_sges: its pages, mapped for the device
 */
struct rpcrdma2_recv {
	union {
		struct list_head	rv_list;
		struct llist_node	rv_node;
	};
	struct list_head	rv_all;
	struct rpcrdma2_rpool	*rv_pool;
	unsigned int		rv_id;
	struct ib_device	*rv_device;
	struct ib_cqe		rv_cqe;
	struct ib_recv_wr	rv_wr;
	u32			rv_len;
	u32			rv_handle;
	unsigned long		rv_at;
#ifdef RPCRDMA2_STRETCHES
	void			*rv_buf;
#endif
	unsigned int		rv_npages;
	struct page		*rv_pages[RPCRDMA2_RECV_PAGES];
	struct ib_sge		rv_sges[RPCRDMA2_RECV_PAGES];
};

/**
 * rpcrdma2_recv_begin - choose the size of the Receives of a new connection
 * @co: connection with an identifier, and without a queue pair; sets
 *	co_recv_pages, at least RPCRDMA2_RECV_PAGES_LATER if the device permits
 * @needed: bytes that its owner needs for the largest message; at most
 *	RPCRDMA2_INLINE_MAX count
 *
 * Return: as rpcrdma2_recv_size()
 */
u32 rpcrdma2_recv_begin(struct rpcrdma2_conn *co, u32 needed);

/**
 * rpcrdma2_recv_size - compute the size of the Receives of a connection
 * @co: connection
 * @needed: bytes that its owner needs for the largest message
 *
 * Return: bytes, whole pages: enough for @needed, or the most that an entry of
 * the Receive Queue scatters a message over.
 */
u32 rpcrdma2_recv_size(const struct rpcrdma2_conn *co, u32 needed);

/**
 * rpcrdma2_rpool_init - initialise an empty pool
 * @rp: pool
 */
void rpcrdma2_rpool_init(struct rpcrdma2_rpool *rp);

/**
 * rpcrdma2_rpool_resize - change the size of the Receives
 * @rp: pool
 * @size: bytes, whole pages, that the device can scatter a message over
 *
 * Receives that are posted or in use adopt the new size when they come back,
 * before they are posted again; free Receives adopt it here, unless the pool
 * reposts its Receives: then they are posted once as they are. A Receive that
 * cannot get more pages keeps its size, and retries the next time.
 *
 * A larger size may be announced to the peer once rp_small is 0 (C-032). A
 * smaller size that the peer requested is announced at once (C-033): the peer
 * limits its own Sends before it sends the request (C-034).
 */
void rpcrdma2_rpool_resize(struct rpcrdma2_rpool *rp, u32 size);

/**
 * rpcrdma2_rpool_unmap - unmap all Receives from a device
 * @rp: pool, no Receive of which is posted. Receives in use are unmapped, too,
 *	without a sync for the CPU: they were synchronised when their messages
 *	arrived, which may be decrypted in place at this moment
 */
void rpcrdma2_rpool_unmap(struct rpcrdma2_rpool *rp);

/**
 * rpcrdma2_rpool_destroy - free all Receives
 * @rp: pool, no Receive of which is mapped, posted or in use
 *
 * Context: may sleep.
 */
void rpcrdma2_rpool_destroy(struct rpcrdma2_rpool *rp);

/**
 * rpcrdma2_recvs_post - post Receives, with one doorbell
 * @co: connection, which is lost if the device refuses a Receive
 * @rp: pool of the Receives
 * @count: number to post, if the pool has them
 * @least: of these, number to post even if the pool has to grow
 * @total: number of Receives up to which the pool grows in any case
 * @gfp: allocation flags, if the pool has to grow
 *
 * Context: serialised for each pool, not concurrent with
 * rpcrdma2_recv_repost().
 * Return: number posted.
 */
unsigned int rpcrdma2_recvs_post(struct rpcrdma2_conn *co,
				 struct rpcrdma2_rpool *rp, unsigned int count,
				 unsigned int least, unsigned int total,
				 gfp_t gfp);

/**
 * rpcrdma2_rpool_trim - free one Receive of a pool that has too many
 * @rp: pool that rpcrdma2_recvs_post() posts from
 * @most: number that it may have. Of the free ones, the least recently used one
 *	is freed
 *
 * Context: may sleep, as rpcrdma2_recv_free(); serialised for each pool.
 * Return: true if one was freed.
 */
bool rpcrdma2_rpool_trim(struct rpcrdma2_rpool *rp, unsigned int most);

/**
 * rpcrdma2_recvs_fill - make Receives that rpcrdma2_recv_repost() posts
 * @co: connection with a queue pair that has room for them
 * @rp: its pool
 * @total: number of Receives in the pool afterwards; fewer than a batch may be
 *	left to post
 *
 * Context: may sleep; serialised for each pool.
 * Return: 0, or -ENOMEM if the pool has fewer.
 */
int rpcrdma2_recvs_fill(struct rpcrdma2_conn *co, struct rpcrdma2_rpool *rp,
			unsigned int total);

/**
 * rpcrdma2_recv_put - return a Receive to its pool
 * @rv: Receive without references to its contents; adopts the size of its pool,
 *	unless the pool reposts it: then the connection has to be over, because
 *	no batch counts it
 */
void rpcrdma2_recv_put(struct rpcrdma2_recv *rv);

/**
 * rpcrdma2_recv_repost - return a Receive to its pool, and post a full batch
 * @co: connection that it was received on; lost if the device refuses a Receive
 * @rv: Receive without references to its contents
 *
 * On return, fewer than a batch are neither posted nor in use; the Receive of a
 * caller that has not returned counts as in use.
 *
 * Context: any task or either CQ. Sleeps if the size of the pool has changed
 * and the connection is good.
 * Return: number posted.
 */
unsigned int rpcrdma2_recv_repost(struct rpcrdma2_conn *co,
				  struct rpcrdma2_recv *rv);

/**
 * rpcrdma2_recvs_poll - handle completions of Receives
 * @co: connection whose owner has ->arrived
 * @most: number of completions
 *
 * Context: as ->received; serialised for each connection.
 * Return: true if there may be more; otherwise ->arrived is called for the next.
 */
bool rpcrdma2_recvs_poll(struct rpcrdma2_conn *co, unsigned int most);

/**
 * rpcrdma2_recvs_finish - wait for all posted Receives, for the last time
 * @co: connection that is disconnected, and whose owner polls no longer
 *
 * Context: may sleep.
 */
void rpcrdma2_recvs_finish(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_recvs_drain - wait for all posted Receives
 * @co: connection that is disconnected, and whose ->received may post more
 *
 * Context: may sleep.
 */
void rpcrdma2_recvs_drain(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_rpool_batch - set the batch size of rpcrdma2_recv_repost()
 * @co: connection, which is lost if the device refuses a Receive
 * @rp: its pool; free Receives that now make a batch are posted
 * @batch: number of Receives to post at once
 *
 * Context: process; serialised for each pool.
 */
void rpcrdma2_rpool_batch(struct rpcrdma2_conn *co, struct rpcrdma2_rpool *rp,
			  unsigned int batch);

/**
 * rpcrdma2_recv_free - free a Receive and remove it from its pool
 * @rv: Receive in use, without references to its contents
 *
 * Context: may sleep.
 */
void rpcrdma2_recv_free(struct rpcrdma2_recv *rv);

/**
 * rpcrdma2_recv_sync - make a message visible to the CPU
 * @rv: Receive that holds it
 */
void rpcrdma2_recv_sync(struct rpcrdma2_recv *rv);

/*
 * Whether a Send filled a Receive of @posted bytes. A peer may also consume a
 * Receive with an RDMA Write with Immediate, which no version of the protocol
 * uses; its completion has the length of the RDMA Write, and the buffers hold
 * an earlier message. If false, no byte of them may be read, and the connection
 * has to be closed.
 */
static inline bool rpcrdma2_received_message(const struct ib_wc *wc,
					     unsigned int posted)
{
	return wc->opcode == IB_WC_RECV && wc->byte_len <= posted;
}

/* Bytes that a Receive can hold */
static inline u32 rpcrdma2_recv_room(const struct rpcrdma2_recv *rv)
{
	return rv->rv_npages << PAGE_SHIFT;
}

/* Address of byte @at of a message, which is contiguous in its page */
static inline void *rpcrdma2_recv_at(const struct rpcrdma2_recv *rv, u32 at)
{
	return page_address(rv->rv_pages[at >> PAGE_SHIFT]) + offset_in_page(at);
}

/**
 * rpcrdma2_recv_copy - copy bytes of a message
 * @rv: Receive that holds the message
 * @at: offset of the first byte
 * @len: number of bytes
 * @buf: destination; its head and tail are in the linear mapping
 * @to: offset in the destination
 */
void rpcrdma2_recv_copy(const struct rpcrdma2_recv *rv, u32 at, u32 len,
			const struct xdr_buf *buf, u32 to);

#ifdef RPCRDMA2_STRETCHES
/**
 * rpcrdma2_recv_buf - describe bytes of a message as one stretch
 * @rv: Receive that holds the message, with rv_buf if it is longer than a page
 * @at: offset of the first byte
 * @buf: gets all bytes from there on, in the head; and one page in pages, which
 *	nfsd accesses even if page_len is 0
 */
void rpcrdma2_recv_buf(struct rpcrdma2_recv *rv, u32 at,
		       struct xdr_buf *buf);
#endif

/**
 * rpcrdma2_recv_buf_paged - describe a Call page by page
 * @rv: Receive that holds the message
 * @at: offset of the Call. If rpcrdma2_layout_has_head() is false, the Call is
 *	moved to the beginning of the message, and no offset in the message
 *	holds any longer
 * @buf: gets all bytes from there on: up to the end of the page in the head,
 *	the rest in pages. There is always a page, as for rpcrdma2_recv_buf()
 *
 * For code that needs the physical address of the head: ciphers and disks.
 */
void rpcrdma2_recv_buf_paged(struct rpcrdma2_recv *rv, u32 at,
			     struct xdr_buf *buf);

/**
 * rpcrdma2_window_raised - wake Calls that wait for credits
 * @xprt: transport whose congestion window, the grant of the peer, was raised;
 *	the RPC layer itself wakes them only when a Call ends
 *
 * Context: any that may take the transport_lock.
 */
static inline void rpcrdma2_window_raised(struct rpc_xprt *xprt)
{
	clear_bit(XPRT_CWND_WAIT, &xprt->state);
	xprt_wait_for_buffer_space(xprt);
	xprt_write_space(xprt);
}

/**
 * rpcrdma2_await_regions - wait for the regions that a Call needs
 * @co: connection; rpcrdma2_expose() returned -EAGAIN, and the Call has
 *	returned the regions it had
 * @xprt: transport of the Call. The task sleeps on xprt->sending until ->room
 *	calls xprt_write_space(). No other Call is sent meanwhile, so none takes
 *	the regions
 *
 * Context: send path of the RPC layer.
 */
static inline void rpcrdma2_await_regions(struct rpcrdma2_conn *co,
					  struct rpc_xprt *xprt)
{
	xprt_wait_for_buffer_space(xprt);
	/* Regions that came back before this woke no task. */
	if (!rpcrdma2_regions_awaited(co))
		xprt_write_space(xprt);
}

/* State of connections, in a file in /proc/net/rpc of each network namespace */

/* Number of RDMA2_ERROR messages on a connection, for each code */
struct rpcrdma2_errors {
	atomic_t	er_codes[RDMA2_ERR_SYSTEM + 1];
};

/* Count an error; an unknown code is ignored. */
static inline void rpcrdma2_errors_count(struct rpcrdma2_errors *er, u32 code)
{
	if (code <= RDMA2_ERR_SYSTEM)
		atomic_inc(&er->er_codes[code]);
}

/**
 * rpcrdma2_errors_show - print " errors=NAME:COUNT,...", or nothing
 * @seq: output
 * @er: errors of a connection
 */
void rpcrdma2_errors_show(struct seq_file *seq, const struct rpcrdma2_errors *er);

/*
 * Number of backward Calls that a server has posted, or that a client has
 * passed to its service, and of their chunks
 */
struct rpcrdma2_backward {
	atomic_long_t	bw_calls;
	atomic_long_t	bw_read_chunks;
	atomic_long_t	bw_write_chunks;
	atomic_long_t	bw_reply_chunks;
	atomic_long_t	bw_invs;	/* Replies sent with invalidation */
};

/* Count the chunks of a backward Call */
static inline void rpcrdma2_backward_chunks(struct rpcrdma2_backward *bw,
					    const struct rpcrdma2_hdr *h)
{
	atomic_long_add(h->h_nreads, &bw->bw_read_chunks);
	atomic_long_add(h->h_nwrites, &bw->bw_write_chunks);
	atomic_long_add(h->h_has_reply, &bw->bw_reply_chunks);
}

/**
 * rpcrdma2_backward_show - print " backward_used=COUNT", and so on
 * @seq: output
 * @bw: backward Calls of a connection
 * @used: credits in use
 */
void rpcrdma2_backward_show(struct seq_file *seq,
			    const struct rpcrdma2_backward *bw, unsigned int used);

/**
 * rpcrdma2_vectors_show - print " vectors=SENDS,RECEIVES"
 * @seq: output
 * @co: connection with verbs objects
 */
void rpcrdma2_vectors_show(struct seq_file *seq, const struct rpcrdma2_conn *co);

/**
 * rpcrdma2_peer_show - print " rbsiz=BYTES brs=LEVEL" as announced
 * @seq: output
 * @pp: properties of the peer; nothing is printed before it has announced any
 */
void rpcrdma2_peer_show(struct seq_file *seq, const struct rpcrdma2_peer_props *pp);

/**
 * rpcrdma2_error_show - print " error=ERRNO error_ago=SECONDS"
 * @seq: output
 * @error: negative errno; nothing is printed for 0
 * @at: time of the error, in seconds since boot
 */
void rpcrdma2_error_show(struct seq_file *seq, int error, time64_t at);

/**
 * rpcrdma2_word_show - print " key=text", the text as one word
 * @seq: output
 * @key: name
 * @text: text; blanks are printed as "-"
 */
void rpcrdma2_word_show(struct seq_file *seq, const char *key, const char *text);

/*
 * RPCRDMA2_VIEW - define the operations that keep a file in each network
 * namespace
 * @_ops: name of the operations, for register_pernet_subsys()
 * @_path: path of the file, below /proc/net; sunrpc provides the directory
 * @_show: prints the file; the namespace is in seq->private
 *
 * proc_create_net_single() gets the namespace from the parent directory, which
 * sunrpc's directory does not provide. The namespace outlives the file. No
 * transport depends on the file, and remove_proc_subtree() does not warn if it
 * does not exist.
 */
#define RPCRDMA2_VIEW(_ops, _path, _show)				\
	static int __net_init _ops##_make(struct net *net)		\
	{								\
		proc_create_single_data(_path, 0444, net->proc_net,	\
					_show, net);			\
		return 0;						\
	}								\
	static void __net_exit _ops##_remove(struct net *net)		\
	{								\
		remove_proc_subtree(_path, net->proc_net);		\
	}								\
	static struct pernet_operations _ops = {			\
		.init	= _ops##_make,					\
		.exit	= _ops##_remove,				\
	}

/*
 * RPCRDMA2_COUNTERS - declare the per-CPU event counters of a module
 * @_pre: prefix of the module's functions
 * @_PRE: prefix of its macros: _PRE_COUNTERS() lists the names, _PRE_C() and
 *	_PRE_C_ENDED() make an enumerator of a name and of a reason for a loss
 *
 * There is a counter for each name, and for each reason for a loss. A sum over
 * the possible CPUs may miss events in flight.
 */
#define RPCRDMA2_COUNTERS(_pre, _PRE)					\
	enum _pre##_counter {						\
		_PRE##_COUNTERS(_PRE##_C)				\
		RPCRDMA2_LOSSES(_PRE##_C_ENDED)				\
		_PRE##_C_COUNT						\
	};								\
									\
	DECLARE_PER_CPU(u64 [_PRE##_C_COUNT], _pre##_counters);		\
									\
	static inline void _pre##_count_ended(enum rpcrdma2_loss why)	\
	{								\
		unsigned int i = _PRE##_C_ended_PEER + why -		\
				 RPCRDMA2_LOSS_PEER;			\
									\
		if (why != RPCRDMA2_LOSS_NONE)				\
			this_cpu_inc(_pre##_counters[i]);		\
	}

#define RPCRDMA2_COUNTER_NAME(_name)		#_name,
#define RPCRDMA2_COUNTER_ENDED(_name, ...)	"ended_" #_name,

/*
 * RPCRDMA2_COUNTERS_FILE - define the counters and their file in debugfs
 * @_pre: as above; the operations of the file are _pre_counters_fops
 * @_PRE: as above
 */
#define RPCRDMA2_COUNTERS_FILE(_pre, _PRE)				\
	DEFINE_PER_CPU(u64 [_PRE##_C_COUNT], _pre##_counters);		\
									\
	static int _pre##_counters_show(struct seq_file *seq, void *unused) \
	{								\
		static const char *const names[] = {			\
			_PRE##_COUNTERS(RPCRDMA2_COUNTER_NAME)		\
			RPCRDMA2_LOSSES(RPCRDMA2_COUNTER_ENDED)		\
		};							\
									\
		rpcrdma2_counters_show(seq, _pre##_counters, names,	\
				       ARRAY_SIZE(names));		\
		return 0;						\
	}								\
	DEFINE_SHOW_ATTRIBUTE(_pre##_counters)

/**
 * rpcrdma2_counters_show - print counters, one "name value" a line
 * @seq: output
 * @counters: per-CPU array
 * @names: names of the counters
 * @count: number of counters
 */
void rpcrdma2_counters_show(struct seq_file *seq, const u64 __percpu *counters,
			    const char *const *names, unsigned int count);

#endif /* _RPCRDMA2_CONN_H */
