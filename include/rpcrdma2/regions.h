/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory regions: what the peer may read or write, and for how long.
 *
 * What an RPC offers to the peer is exposed: ranges of an xdr_buf become a chunk
 * of a header, each segment of it a memory region of the connection. A region
 * holds as many pages as the device's page list allows, so a payload of 1 MiB
 * is one region on any current device. The REG_MR requests that make regions
 * live are chained in front of the Send. They die in one of four ways:
 *
 *   - the peer's answer invalidated one: rpcrdma2_exposed_invalidated(), at no
 *     cost;
 *   - else a LOCAL_INV is posted for each that is left: rpcrdma2_fence();
 *   - the Send was never posted: rpcrdma2_unexpose();
 *   - the connection is lost and its Send Queue drained: rpcrdma2_strip() for
 *     one RPC, rpcrdma2_regions_destroy() for all.
 *
 * In each the pages are unmapped before the region is taken from its RPC.
 *
 * The entries of the Send Queue for a region are two: its REG_MR and, promised
 * with it, its LOCAL_INV. An invalidation cannot wait for room: the RPC that it
 * ends may be what others wait for. Where it can wait, and a peer may keep many regions
 * for long, the owner takes the second entry when it comes to that (ex_later).
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
 * @rg_type: their kind
 * @rg_depth: pages that each holds
 * @rg_max: bound of @rg_num; its owner's to set
 * @rg_lock: guards the next six
 * @rg_free: regions not in use
 * @rg_num_free: how many
 * @rg_num_idle: of these, at least so many since rpcrdma2_regions_trim() was last called
 * @rg_all: all regions
 * @rg_num: how many
 * @rg_wanted: free regions that an RPC waits for, or 0
 * @rg_refill: allocates regions
 * @rg_failures: how often in a row it allocated none; its own
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
 * struct rpcrdma2_exposed - what one RPC exposes
 * @ex_regions: its regions. Changed by what builds the message, then by what
 *	handles the answer, then by what ends the fence; never by two at a time
 * @ex_later: their owner takes the entries for their LOCAL_INVs before it calls
 *	rpcrdma2_fence(), and not with those for their REG_MRs. Set before there are any
 * @ex_fence: their LOCAL_INVs
 * @ex_done: ends the fence, and is called exactly once for it. @ok is false when
 *	the regions may be live still, and the connection has been lost then.
 *	Send CQ, or what calls rpcrdma2_sq_drain()
 */
struct rpcrdma2_exposed {
	struct list_head	ex_regions;
	bool			ex_later;
	struct rpcrdma2_post	ex_fence;
	void			(*ex_done)(struct rpcrdma2_conn *co,
					   struct rpcrdma2_exposed *ex,
					   bool ok);
};

/* rpcrdma2_conn_init() calls it */
void rpcrdma2_regions_init(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_measure - choose regions by what the device can do
 * @co: connection with a device; sets rg_type and rg_depth
 * @pages: most pages of a payload
 */
void rpcrdma2_regions_measure(struct rpcrdma2_conn *co, unsigned int pages);

/**
 * rpcrdma2_regions_grow - allocate some more regions, up to rg_max
 * @co: connection
 *
 * Calls ->grown.
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM when the connection has not a single one.
 */
int rpcrdma2_regions_grow(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_trim - free regions that no RPC has used for a while
 * @co: connection
 * @keep: so many are not freed
 *
 * Those that were not all in use at once since the last call.
 *
 * Context: may sleep; not beside rpcrdma2_regions_destroy().
 * Return: how many.
 */
unsigned int rpcrdma2_regions_trim(struct rpcrdma2_conn *co, unsigned int keep);

/**
 * rpcrdma2_regions_awaited - does an RPC still wait for regions?
 * @co: connection
 *
 * For a caller that got -EAGAIN from rpcrdma2_expose(), has given back what it
 * held with rpcrdma2_unexpose(), and is ready now for ->room.
 *
 * Return: true when ->room will be called; false when it was called already, or
 * enough are free.
 */
bool rpcrdma2_regions_awaited(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_destroy - take all regions away, from RPCs too
 * @co: connection; nothing is posted any more, and the queues are drained
 *
 * With the Send Queue entries that are kept for live regions (Q2).
 *
 * Context: sleeps.
 */
void rpcrdma2_regions_destroy(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_exposed - how many regions are with RPCs
 * @co: connection; no region comes or goes meanwhile
 */
unsigned int rpcrdma2_regions_exposed(const struct rpcrdma2_conn *co);

/**
 * rpcrdma2_regions_are_whole - is each region free, with an RPC, or stripped from one?
 * @co: connection; no region comes or goes meanwhile
 */
bool rpcrdma2_regions_are_whole(const struct rpcrdma2_conn *co);

static inline void rpcrdma2_exposed_init(struct rpcrdma2_exposed *ex)
{
	INIT_LIST_HEAD(&ex->ex_regions);
}

/**
 * rpcrdma2_is_exposed - may the peer use memory of an RPC?
 * @ex: what it exposes
 *
 * Context: any; the answer is no only after the last page was unmapped.
 */
static inline bool rpcrdma2_is_exposed(const struct rpcrdma2_exposed *ex)
{
	/* Pairs with the barrier in rpcrdma2_region_put() */
	return !list_empty_careful(&ex->ex_regions);
}

/**
 * rpcrdma2_expose - make ranges of a message a chunk
 * @co: connection
 * @ex: gets the regions
 * @buf: message
 * @range: what of it
 * @ranges: how many
 * @dir: DMA_TO_DEVICE for what the peer reads, DMA_FROM_DEVICE for what it
 *	writes
 * @h: header that gets the segments. All its segments are regions of @ex
 * @ck: chunk of that header
 *
 * On error the caller takes all chunks back with rpcrdma2_unexpose().
 *
 * Context: any that may not sleep. One RPC of a connection at a time.
 * Return: 0; -EAGAIN when no region is free, and rpcrdma2_regions_awaited() is
 * to be asked; -ENOBUFS when the memory cannot be mapped now; or -EIO when
 * no region can hold it.
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
 * Return: how many REG_MRs; the Send Queue has to have an entry more for each,
 * for its LOCAL_INV, unless ex_later says otherwise.
 */
unsigned int rpcrdma2_exposed_chain(struct rpcrdma2_exposed *ex,
				    struct ib_send_wr **first);

/**
 * rpcrdma2_unexpose - take back regions that were never posted
 * @co: connection
 * @ex: the regions
 *
 * With what came back to the pool meanwhile they may be enough for an RPC that
 * waits, and no other event may follow.
 */
void rpcrdma2_unexpose(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex);

/**
 * rpcrdma2_exposed_invalidated - a message came with an invalidated handle
 * @co: connection
 * @ex: regions of the RPC that it answers
 * @handle: the handle
 *
 * Context: that in which the answer is handled; may not sleep.
 * Return: true when it was a region of @ex, which is free now; false when it is
 * not, and the books disagree with the device's (S50).
 */
bool rpcrdma2_exposed_invalidated(struct rpcrdma2_conn *co,
				  struct rpcrdma2_exposed *ex, u32 handle);

/**
 * rpcrdma2_handle_in_use - is there a region with that handle on some RPC?
 * @co: connection
 * @handle: the handle
 * @xid: where to leave the xid of the RPC it was exposed for
 *
 * Context: receive CQ.
 */
bool rpcrdma2_handle_in_use(struct rpcrdma2_conn *co, u32 handle, u32 *xid);

/**
 * rpcrdma2_fence - invalidate what an RPC still exposes
 * @co: connection
 * @ex: live regions, at least one, and ex_done, which ends it
 *
 * One chain, one doorbell, one completion; the entries were taken with those for the
 * REG_MRs, or by the caller (ex_later). So it is tried once: where it fails the
 * connection is lost, and the entries have gone back.
 *
 * Context: any that may not sleep.
 * Return: 0, or -ENOTCONN: ex_done will not be called.
 */
int rpcrdma2_fence(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex);

/**
 * rpcrdma2_strip - take all regions away from an RPC
 * @co: connection, lost
 * @ex: the regions; the device uses them no more, and no RPC will again
 */
void rpcrdma2_strip(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex);

#endif /* _RPCRDMA2_REGIONS_H */
