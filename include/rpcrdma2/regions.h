/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory regions: memory that the peer may read or write, and its life cycle.
 *
 * An RPC exposes memory to the peer: ranges of an xdr_buf become a chunk of a
 * header, in which each segment is a memory region of the connection. A region
 * holds the pages that fit the device's page list, so a payload of 1 MiB is one
 * region on any current device. The REG_MR requests that make regions live are
 * chained in front of the Send. A region is released in one of four ways:
 *
 *   - the peer's answer invalidated it: rpcrdma2_exposed_invalidated(), at no
 *     cost;
 *   - otherwise a LOCAL_INV is posted for each region left: rpcrdma2_fence();
 *   - the Send was never posted: rpcrdma2_unexpose();
 *   - the connection is lost and its Send Queue drained: rpcrdma2_strip() for
 *     one RPC, rpcrdma2_regions_destroy() for all.
 *
 * In all four the pages are unmapped before the region is taken from its RPC.
 *
 * A region needs two entries of the Send Queue: for its REG_MR and, reserved
 * together with it, for its LOCAL_INV. An invalidation cannot wait for room:
 * other RPCs may wait for the RPC that it ends. Where it can wait, and a peer
 * may keep many regions for a long time, the owner takes the second entry only
 * before the invalidation (ex_later).
 */
#ifndef _RPCRDMA2_REGIONS_H
#define _RPCRDMA2_REGIONS_H

#include <linux/dma-direction.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/pfn.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>

#include <rpcrdma2/sq.h>

struct rpcrdma2_chunk;
struct rpcrdma2_conn;
struct rpcrdma2_hdr;
struct rpcrdma2_range;
struct xdr_buf;

/**
 * struct rpcrdma2_regions - the memory regions of a connection
 * @rg_type: their type
 * @rg_depth: pages that each region holds
 * @rg_max: limit of @rg_num; set by the owner
 * @rg_lock: guards the next six
 * @rg_free: free regions
 * @rg_num_free: number of free regions
 * @rg_num_idle: least number of free regions since the last
 *	rpcrdma2_regions_trim()
 * @rg_all: all regions
 * @rg_num: number of all regions
 * @rg_wanted: number of free regions that an RPC waits for, or 0
 * @rg_refill: work that allocates regions
 * @rg_failures: consecutive runs of @rg_refill that allocated none; for its use
 *	only
 * @rg_num_stripped: regions that rpcrdma2_strip() took from RPCs; under rg_lock
 */
struct rpcrdma2_regions {
	enum ib_mr_type		rg_type;
	unsigned int		rg_depth;
	unsigned int		rg_max;
	spinlock_t		rg_lock ____cacheline_aligned_in_smp; /* guards next six */
	struct list_head	rg_free;
	unsigned int		rg_num_free;
	unsigned int		rg_num_idle;
	struct list_head	rg_all;
	unsigned int		rg_num;
	unsigned int		rg_wanted;
	struct delayed_work	rg_refill;
	unsigned int		rg_failures;
	unsigned int		rg_num_stripped;
};

/**
 * struct rpcrdma2_exposed - memory that one RPC exposes
 * @ex_regions: its regions. Changed by the code that builds the message, then
 *	by the handler of the answer, then by the end of the fence; never
 *	concurrently
 * @ex_later: the owner takes the entries for the LOCAL_INVs before it calls
 *	rpcrdma2_fence(), and not with those for the REG_MRs. Set before there
 *	are regions
 * @ex_fence: chain of the LOCAL_INVs
 * @ex_done: ends the fence, and is called exactly once for it. @ok is false if
 *	the regions may still be live; then the connection has been lost. Called
 *	from the Send CQ, or by the caller of rpcrdma2_sq_drain()
 */
struct rpcrdma2_exposed {
	struct list_head	ex_regions;
	bool			ex_later;
	struct rpcrdma2_post	ex_fence;
	void			(*ex_done)(struct rpcrdma2_conn *co,
					   struct rpcrdma2_exposed *ex,
					   bool ok);
};

/* Called by rpcrdma2_conn_init() */
void rpcrdma2_regions_init(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_measure - choose type and depth of regions for a device
 * @co: connection with a device; sets rg_type and rg_depth
 * @pages: most pages of a payload
 */
void rpcrdma2_regions_measure(struct rpcrdma2_conn *co, unsigned int pages);

/**
 * rpcrdma2_regions_grow - allocate more regions, up to rg_max
 * @co: connection
 *
 * Calls ->grown.
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM if the connection has no region at all.
 */
int rpcrdma2_regions_grow(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_trim - free regions that no RPC has used for a while
 * @co: connection
 * @keep: number of regions to keep
 *
 * The function frees the surplus that was never in use since its last call.
 *
 * Context: may sleep; not concurrent with rpcrdma2_regions_destroy().
 * Return: number of regions freed.
 */
unsigned int rpcrdma2_regions_trim(struct rpcrdma2_conn *co, unsigned int keep);

/**
 * rpcrdma2_regions_awaited - check whether an RPC still waits for regions
 * @co: connection
 *
 * For a caller that got -EAGAIN from rpcrdma2_expose(), has returned its
 * regions with rpcrdma2_unexpose(), and is now ready for ->room.
 *
 * Return: true if ->room will be called; false if it was called already, or
 * enough regions are free.
 */
bool rpcrdma2_regions_awaited(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_destroy - destroy all regions, including those of RPCs
 * @co: connection whose queues are drained; nothing is posted any more
 *
 * The Send Queue entries reserved for live regions are returned (Q2).
 *
 * Context: sleeps.
 */
void rpcrdma2_regions_destroy(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_exposed - number of regions that RPCs use
 * @co: connection; no region is added or removed meanwhile
 */
unsigned int rpcrdma2_regions_exposed(const struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_are_whole - check whether all regions are accounted for
 * @co: connection; no region is added or removed meanwhile
 *
 * A region is free, in use by an RPC, or stripped from an RPC.
 */
bool rpcrdma2_regions_are_whole(const struct rpcrdma2_conn *co);

static inline void rpcrdma2_exposed_init(struct rpcrdma2_exposed *ex)
{
	INIT_LIST_HEAD(&ex->ex_regions);
}

/**
 * rpcrdma2_is_exposed - check whether the peer may access memory of an RPC
 * @ex: memory that the RPC exposes
 *
 * Context: any; false only after the last page was unmapped.
 */
static inline bool rpcrdma2_is_exposed(const struct rpcrdma2_exposed *ex)
{
	/* Pairs with the barrier in rpcrdma2_region_put() */
	return !list_empty_careful(&ex->ex_regions);
}

/**
 * rpcrdma2_expose - expose ranges of a message as a chunk
 * @co: connection
 * @ex: gets the regions
 * @buf: message
 * @range: ranges of the message
 * @ranges: number of ranges
 * @dir: DMA_TO_DEVICE for memory that the peer reads, DMA_FROM_DEVICE for
 *	memory that it writes
 * @h: header that gets the segments. All its segments are regions of @ex
 * @ck: chunk of that header
 *
 * On error the caller releases all chunks with rpcrdma2_unexpose().
 *
 * Context: any that may not sleep. Serialised for each connection.
 * Return: 0; -EAGAIN if no region is free: see rpcrdma2_regions_awaited();
 * -ENOBUFS if the memory cannot be mapped now; or -EIO if no region can hold
 * it.
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
 * LOCAL_INV of each, unless ex_later is set.
 */
unsigned int rpcrdma2_exposed_chain(struct rpcrdma2_exposed *ex,
				    struct ib_send_wr **first);

/**
 * rpcrdma2_unexpose - release regions that were never posted
 * @co: connection
 * @ex: the regions
 *
 * Together with regions that were returned meanwhile they may be enough for a
 * waiting RPC, and no other event may wake it.
 */
void rpcrdma2_unexpose(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex);

/**
 * rpcrdma2_exposed_invalidated - release a region that the peer has invalidated
 * @co: connection
 * @ex: regions of the RPC that the message answers
 * @handle: handle that the message invalidated
 *
 * Context: handler of the answer; may not sleep.
 * Return: true if the handle was a region of @ex, which is free now; false if
 * it was not, and the state of this end differs from that of the device (S50).
 */
bool rpcrdma2_exposed_invalidated(struct rpcrdma2_conn *co,
				  struct rpcrdma2_exposed *ex, u32 handle);

/**
 * rpcrdma2_handle_in_use - find the RPC of a region by its handle
 * @co: connection
 * @handle: handle
 * @xid: set to the xid of the RPC that the region was exposed for
 *
 * Context: receive CQ.
 * Return: true if a region of some RPC has that handle.
 */
bool rpcrdma2_handle_in_use(struct rpcrdma2_conn *co, u32 handle, u32 *xid);

/**
 * rpcrdma2_fence - invalidate the regions that an RPC still exposes
 * @co: connection
 * @ex: live regions, at least one, and ex_done, which ends the fence
 *
 * The LOCAL_INVs form one chain, with one doorbell and one completion. Their
 * entries were taken with those for the REG_MRs, or by the caller (ex_later).
 * There is no retry: on failure the connection is lost, and the entries have
 * been returned.
 *
 * Context: any that may not sleep.
 * Return: 0, or -ENOTCONN: ex_done will not be called.
 */
int rpcrdma2_fence(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex);

/**
 * rpcrdma2_strip - take all regions from an RPC
 * @co: lost connection
 * @ex: the regions; the device no longer uses them, and no RPC will again
 */
void rpcrdma2_strip(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex);

#endif /* _RPCRDMA2_REGIONS_H */
