/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receives: their memory, their posting, and the completions that deliver a
 * message.
 *
 * A Receive is made of single pages, one scatter entry each. Where a Call has to be
 * handed on in one piece (RPCRDMA2_STRETCHES), those of several pages are also mapped
 * as one stretch. That takes time, and may sleep.
 */
#ifndef _RPCRDMA2_RECV_H
#define _RPCRDMA2_RECV_H

#include <features.h>

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/spinlock.h>

#include <linux/sunrpc/xdr.h>

#include <rdma/ib_verbs.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/proto.h>

/* nfsd takes a WRITE's data as pages, or else where a stretch of addresses has it. */
#ifndef RPCRDMA2_HAS_SVC_WRITE_BVEC
#define RPCRDMA2_STRETCHES
#endif

/* A Receive of the largest size has so many. */
#define RPCRDMA2_RECV_PAGES	DIV_ROUND_UP(RPCRDMA2_INLINE_MAX, PAGE_SIZE)

/**
 * struct rpcrdma2_budget - memory for the Receives of several pools
 * @bu_pages: pages that they have
 * @bu_most: pages that they may have, for what is added from now on
 * @bu_kept: of these, so many are for new Receives: none is made larger with them
 */
struct rpcrdma2_budget {
	atomic_long_t	bu_pages;
	long		bu_most;
	long		bu_kept;
};

/**
 * struct rpcrdma2_rpool - Receives, in use or not
 * @rp_size: octets that each shall have, whole pages. This and the next six are
 *	the owner's to set before the first Receive is made. Later it is
 *	rpcrdma2_rpool_resize()'s to change, under rp_lock
 * @rp_reposted: they are posted by rpcrdma2_recv_repost(), where they may also take
 *	another size; the others by rpcrdma2_recvs_post(). With RPCRDMA2_STRETCHES
 *	they are one stretch too
 * @rp_before: octets of each that the owner has in front of its struct
 *	rpcrdma2_recv
 * @rp_max: most that there may be
 * @rp_batch: rpcrdma2_recv_repost() posts so many at once; later it is
 *	rpcrdma2_rpool_batch()'s to change, under rp_lock
 * @rp_node: NUMA node of their memory
 * @rp_budget: what their pages are taken from, or NULL
 * @rp_lock: guards the next seven. rpcrdma2_recv_repost() holds it over
 *	ib_post_recv(): what has left @rp_free is posted when the next one gets
 *	the lock
 * @rp_free: those not in use, most recently used first
 * @rp_nfree: how many
 * @rp_all: all
 * @rp_count: how many
 * @rp_small: how many of these have fewer octets than they shall have, be they
 *	posted, in use or free
 *
 * @rp_last_id: rv_id of the last one that was made
 * @rp_posts: how many rpcrdma2_recv_repost() has posted, all in all
 *
 * A Receive belongs to a pool, not to a connection, which a pool may outlive.
 */
struct rpcrdma2_rpool {
	unsigned int		rp_size;
	bool			rp_reposted;
	unsigned int		rp_before;
	unsigned int		rp_max;
	unsigned int		rp_batch;
	int			rp_node;
	struct rpcrdma2_budget	*rp_budget;
	spinlock_t		rp_lock;	/* guards next seven */
	struct list_head	rp_free;
	unsigned int		rp_nfree;
	struct list_head	rp_all;
	unsigned int		rp_count;
	unsigned int		rp_small;
	unsigned int		rp_last_id;
	unsigned int		rp_posts;
};

/**
 * struct rpcrdma2_recv - a Receive
 * @rv_list: on rp_free, or its user's
 * @rv_all: on rp_all
 * @rv_pool: where it comes from
 * @rv_id: its number there
 * @rv_device: device that it is mapped for, or NULL; changed under rp_lock
 * @rv_cqe: its completion
 * @rv_wr: its work request
 * @rv_len: octets of the message in it
 * @rv_handle: handle that its arrival invalidated, or 0; for an owner that wants to know
 * @rv_at: when it came, in jiffies; likewise
 * @rv_buf: all of its memory, as one stretch (RPCRDMA2_STRETCHES); NULL where it has
 *	several pages and they are not mapped
 * @rv_npages: how many pages it has; changed under rp_lock, and never while it is
 *	posted
 * @rv_pages: its pages
 * @rv_sges: the same, as the device sees them
 */
struct rpcrdma2_recv {
	struct list_head	rv_list;
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
 * rpcrdma2_recv_size - how large the Receives of a connection can be
 * @dev: its device
 * @want: octets that its owner needs for the largest message; at most
 *	RPCRDMA2_INLINE_MAX count
 *
 * Return: octets, whole pages: as many as hold @want, or as the device scatters
 * a message over.
 */
u32 rpcrdma2_recv_size(const struct ib_device *dev, u32 want);

/**
 * rpcrdma2_rpool_init - begin with an empty pool
 * @rp: pool
 */
void rpcrdma2_rpool_init(struct rpcrdma2_rpool *rp);

/**
 * rpcrdma2_rpool_resize - Receives shall have another size
 * @rp: pool
 * @size: octets, whole pages, that the device can scatter a message over
 *
 * Receives that are posted or in use take the new size when they come back, and
 * before they are posted again. Free ones take it here, but where they are
 * reposted: these are posted once as they are. One that can not get more pages
 * stays as it is, and is tried again the next time.
 *
 * A peer that knew of a smaller size may be told when rp_small is 0 (C-032). One
 * that asked for a smaller size is told at once (C-033): it limits its own Sends
 * before it asks (C-034).
 *
 * Context: any.
 */
void rpcrdma2_rpool_resize(struct rpcrdma2_rpool *rp, u32 size);

/**
 * rpcrdma2_rpool_unmap - take all Receives away from a device
 * @rp: pool; nothing of it is posted
 *
 * Those in use are unmapped too. Their contents were synchronised for the CPU
 * when they arrived, and may be decrypted in place right now: nothing is
 * synchronised here.
 */
void rpcrdma2_rpool_unmap(struct rpcrdma2_rpool *rp);

/**
 * rpcrdma2_rpool_destroy - free all Receives
 * @rp: pool, with nothing posted and nothing in use
 *
 * Context: may sleep.
 */
void rpcrdma2_rpool_destroy(struct rpcrdma2_rpool *rp);

/**
 * rpcrdma2_recvs_post - post Receives, with one doorbell
 * @co: connection
 * @rp: pool to take them from
 * @count: how many
 * @gfp: how hard to try when the pool has to grow
 *
 * The connection is lost when the device refuses one.
 *
 * Context: one at a time for each pool, and not beside rpcrdma2_recv_repost().
 * Return: how many were posted.
 */
unsigned int rpcrdma2_recvs_post(struct rpcrdma2_conn *co,
				 struct rpcrdma2_rpool *rp, unsigned int count,
				 gfp_t gfp);

/**
 * rpcrdma2_recvs_fill - make Receives that rpcrdma2_recv_repost() posts again
 * @co: connection with a queue pair that has room for them
 * @rp: its pool
 * @total: how many the pool has afterwards
 *
 * They are posted in batches; fewer than a batch may be left.
 *
 * Context: may sleep; one at a time for each pool.
 * Return: 0, or -ENOMEM when the pool has fewer.
 */
int rpcrdma2_recvs_fill(struct rpcrdma2_conn *co, struct rpcrdma2_rpool *rp,
			unsigned int total);

/**
 * rpcrdma2_recv_put - a Receive is not in use any more
 * @rv: Receive that nothing points into
 *
 * It takes the size of its pool, where it is not reposted.
 *
 * Context: any task or either CQ.
 */
void rpcrdma2_recv_put(struct rpcrdma2_recv *rv);

/**
 * rpcrdma2_recv_repost - the same, and post a batch when there is one
 * @co: connection that it was received on
 * @rv: Receive that nothing points into
 *
 * The lock of the pool is held until the device has the batch: when this
 * returns, fewer than a batch are neither posted nor in use. The connection is
 * lost when the device refuses one.
 *
 * Context: any task or either CQ. Sleeps when the size of the pool has changed and
 * the connection is good.
 * Return: how many were posted.
 */
unsigned int rpcrdma2_recv_repost(struct rpcrdma2_conn *co,
				  struct rpcrdma2_recv *rv);

/**
 * rpcrdma2_recvs_drain - wait for all Receives that were posted
 * @co: connection that is disconnected, and whose ->received may post more
 *
 * Context: may sleep.
 */
void rpcrdma2_recvs_drain(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_rpool_batch - rpcrdma2_recv_repost() shall post so many at once
 * @co: connection
 * @rp: its pool
 * @batch: how many
 *
 * Context: any task or either CQ; one at a time for each pool.
 */
void rpcrdma2_rpool_batch(struct rpcrdma2_conn *co, struct rpcrdma2_rpool *rp,
			  unsigned int batch);

/**
 * rpcrdma2_recv_free - a Receive is not in use any more, and of no more use
 * @rv: Receive that nothing points into
 *
 * The pool has one less.
 *
 * Context: may sleep.
 */
void rpcrdma2_recv_free(struct rpcrdma2_recv *rv);

/**
 * rpcrdma2_recv_sync - make a message visible to the CPU
 * @rv: Receive that holds it
 */
void rpcrdma2_recv_sync(struct rpcrdma2_recv *rv);

/**
 * rpcrdma2_recv_room - octets that a Receive can hold
 * @rv: Receive
 */
static inline u32 rpcrdma2_recv_room(const struct rpcrdma2_recv *rv)
{
	return rv->rv_npages << PAGE_SHIFT;
}

/**
 * rpcrdma2_recv_at - an octet of a message, and what follows it in its page
 * @rv: Receive that holds it
 * @at: which
 */
static inline void *rpcrdma2_recv_at(const struct rpcrdma2_recv *rv, u32 at)
{
	return page_address(rv->rv_pages[at >> PAGE_SHIFT]) + offset_in_page(at);
}

/**
 * rpcrdma2_recv_copy - copy octets of a message
 * @rv: Receive that holds it
 * @at: the first octet
 * @len: how many
 * @buf: where they go
 * @to: behind so many octets of it
 */
void rpcrdma2_recv_copy(const struct rpcrdma2_recv *rv, u32 at, size_t len,
			const struct xdr_buf *buf, size_t to);

/**
 * rpcrdma2_recv_cut - take octets off the beginning of a message
 * @rv: Receive that holds it
 * @at: how many; what follows is the message from then on
 */
void rpcrdma2_recv_cut(struct rpcrdma2_recv *rv, u32 at);

#ifdef RPCRDMA2_STRETCHES
/**
 * rpcrdma2_recv_base - where a message begins
 * @rv: Receive that holds it, mapped when it is longer than a page
 *
 * Return: the first octet of one stretch, which lies in the kernel's linear
 * mapping when the message is no longer than a page.
 */
static inline void *rpcrdma2_recv_base(const struct rpcrdma2_recv *rv)
{
	return rv->rv_len <= PAGE_SIZE ? page_address(rv->rv_pages[0]) :
					 rv->rv_buf;
}

/**
 * rpcrdma2_recv_buf - describe octets of a message as one stretch
 * @rv: Receive that holds it, mapped when it is longer than a page
 * @at: the first octet
 * @buf: becomes all from there on, all of it in the head
 *
 * As rpcrdma2_recv_base(). There is one page in pages: nfsd looks at it even
 * when page_len is 0.
 */
void rpcrdma2_recv_buf(struct rpcrdma2_recv *rv, u32 at,
		       struct xdr_buf *buf);
#endif

/**
 * rpcrdma2_recv_buf_paged - describe octets of a message page by page
 * @rv: Receive that holds it
 * @at: the first octet
 * @buf: becomes all from there on: to the end of its page as the head, the rest
 *	in pages
 *
 * For code that needs the physical address of the head, as ciphers and disks do.
 * There is one page in pages: nfsd looks at it even when page_len is 0.
 */
void rpcrdma2_recv_buf_paged(struct rpcrdma2_recv *rv, u32 at,
			     struct xdr_buf *buf);

#endif /* _RPCRDMA2_RECV_H */
