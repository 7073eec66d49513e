/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receives: their memory, their posting, and the completions that deliver a
 * message.
 *
 * A Receive consists of single pages, with one scatter entry for each. Where a
 * Call must be passed on contiguously (RPCRDMA2_STRETCHES), a Receive of
 * several pages is also mapped as one stretch. The mapping takes time, and may
 * sleep.
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
#include <rpcrdma2/wire.h>

/*
 * nfsd takes the data of a WRITE as pages, or in older kernels from a stretch
 * of addresses.
 */
#ifndef RPCRDMA2_HAS_SVC_WRITE_BVEC
#define RPCRDMA2_STRETCHES
#endif

/* Pages of a Receive of the largest size */
#define RPCRDMA2_RECV_PAGES	DIV_ROUND_UP(RPCRDMA2_INLINE_MAX, PAGE_SIZE)

/**
 * struct rpcrdma2_budget - memory budget for the Receives of several pools
 * @bu_pages: pages in use
 * @bu_most: most pages, for pages that are added from now on
 * @bu_kept: pages of the budget that are reserved for new Receives: none is
 *	made larger with them
 */
struct rpcrdma2_budget {
	atomic_long_t	bu_pages;
	long		bu_most;
	long		bu_kept;
};

/**
 * struct rpcrdma2_rpool - a pool of Receives, in use or free
 * @rp_size: bytes that each Receive should have, whole pages. The owner sets
 *	this and the next six before the first Receive is made. Later
 *	rpcrdma2_rpool_resize() changes it, under rp_lock
 * @rp_reposted: Receives are posted by rpcrdma2_recv_repost(), which may also
 *	resize them; otherwise by rpcrdma2_recvs_post(). With RPCRDMA2_STRETCHES
 *	they are also mapped as one stretch
 * @rp_before: bytes that the owner has in front of each struct rpcrdma2_recv
 * @rp_max: most Receives of the pool
 * @rp_batch: number of Receives that rpcrdma2_recv_repost() posts at once;
 *	later rpcrdma2_rpool_batch() changes it, under rp_lock
 * @rp_node: NUMA node of their memory
 * @rp_budget: budget for their pages, or NULL
 * @rp_lock: guards the next seven. rpcrdma2_recv_repost() holds it over
 *	ib_post_recv(): a Receive that has left @rp_free is posted when the next
 *	holder gets the lock
 * @rp_free: free Receives, most recently used first
 * @rp_nfree: number of free Receives
 * @rp_all: all Receives
 * @rp_count: number of all Receives
 * @rp_small: number of Receives with fewer bytes than they should have, whether
 *	posted, in use or free
 * @rp_last_id: rv_id of the Receive made last
 * @rp_posts: total number posted by rpcrdma2_recv_repost()
 *
 * A Receive belongs to a pool, not to a connection; a pool may outlive the
 * connection.
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
 * @rv_list: entry of rp_free, or of a list of its user
 * @rv_all: entry of rp_all
 * @rv_pool: pool that it belongs to
 * @rv_id: its number in the pool
 * @rv_device: device that it is mapped for, or NULL; changed under rp_lock
 * @rv_cqe: its completion
 * @rv_wr: its work request
 * @rv_len: length of the message in it
 * @rv_handle: handle that the arrival of the message invalidated, or 0; for use
 *	by the owner
 * @rv_at: time of the arrival, in jiffies; for use by the owner
 * @rv_buf: all of its memory, as one stretch (RPCRDMA2_STRETCHES); NULL if it
 *	has several pages that are not mapped
 * @rv_npages: number of its pages; changed under rp_lock, and never while it is
 *	posted
 * @rv_pages: its pages
 * @rv_sges: its pages, mapped for the device
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
 * rpcrdma2_recv_size - size of the Receives of a connection
 * @dev: its device
 * @want: bytes that its owner needs for the largest message; at most
 *	RPCRDMA2_INLINE_MAX count
 *
 * Return: bytes, whole pages: enough for @want, or the most that the device
 * scatters a message over.
 */
u32 rpcrdma2_recv_size(const struct ib_device *dev, u32 want);

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
 * before they are posted again. Free Receives adopt it here, unless the pool
 * reposts its Receives: then they are posted once as they are. A Receive that
 * cannot get more pages keeps its size, and retries the next time.
 *
 * A larger size may be announced to the peer once rp_small is 0 (C-032). A
 * smaller size that the peer requested is announced at once (C-033): the peer
 * limits its own Sends before it sends the request (C-034).
 *
 * Context: any.
 */
void rpcrdma2_rpool_resize(struct rpcrdma2_rpool *rp, u32 size);

/**
 * rpcrdma2_rpool_unmap - unmap all Receives from a device
 * @rp: pool, no Receive of which is posted
 *
 * Receives in use are unmapped, too. Their contents were synchronised for the
 * CPU when they arrived, and may be decrypted in place at this moment: nothing
 * is synchronised here.
 */
void rpcrdma2_rpool_unmap(struct rpcrdma2_rpool *rp);

/**
 * rpcrdma2_rpool_destroy - free all Receives
 * @rp: pool, no Receive of which is posted or in use
 *
 * Context: may sleep.
 */
void rpcrdma2_rpool_destroy(struct rpcrdma2_rpool *rp);

/**
 * rpcrdma2_recvs_post - post Receives, with one doorbell
 * @co: connection
 * @rp: pool of the Receives
 * @count: number to post
 * @gfp: allocation flags, if the pool has to grow
 *
 * The connection is lost if the device refuses a Receive.
 *
 * Context: serialised for each pool, and not concurrent with
 * rpcrdma2_recv_repost().
 * Return: number posted.
 */
unsigned int rpcrdma2_recvs_post(struct rpcrdma2_conn *co,
				 struct rpcrdma2_rpool *rp, unsigned int count,
				 gfp_t gfp);

/**
 * rpcrdma2_recvs_fill - make Receives that rpcrdma2_recv_repost() posts
 * @co: connection with a queue pair that has room for them
 * @rp: its pool
 * @total: number of Receives in the pool afterwards
 *
 * They are posted in batches; fewer than a batch may be left.
 *
 * Context: may sleep; serialised for each pool.
 * Return: 0, or -ENOMEM if the pool has fewer.
 */
int rpcrdma2_recvs_fill(struct rpcrdma2_conn *co, struct rpcrdma2_rpool *rp,
			unsigned int total);

/**
 * rpcrdma2_recv_put - return a Receive to its pool
 * @rv: Receive without references to its contents
 *
 * The Receive adopts the size of its pool, unless the pool reposts it.
 *
 * Context: any task or either CQ.
 */
void rpcrdma2_recv_put(struct rpcrdma2_recv *rv);

/**
 * rpcrdma2_recv_repost - return a Receive to its pool, and post a full batch
 * @co: connection that it was received on
 * @rv: Receive without references to its contents
 *
 * The lock of the pool is held until the device has the batch: on return, fewer
 * than a batch are neither posted nor in use. The connection is lost if the
 * device refuses a Receive.
 *
 * Context: any task or either CQ. Sleeps if the size of the pool has changed
 * and the connection is good.
 * Return: number posted.
 */
unsigned int rpcrdma2_recv_repost(struct rpcrdma2_conn *co,
				  struct rpcrdma2_recv *rv);

/**
 * rpcrdma2_recvs_drain - wait for all posted Receives
 * @co: connection that is disconnected, and whose ->received may post more
 *
 * Context: may sleep.
 */
void rpcrdma2_recvs_drain(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_rpool_batch - set the batch size of rpcrdma2_recv_repost()
 * @co: connection
 * @rp: its pool
 * @batch: number of Receives to post at once
 *
 * Context: any task or either CQ; serialised for each pool.
 */
void rpcrdma2_rpool_batch(struct rpcrdma2_conn *co, struct rpcrdma2_rpool *rp,
			  unsigned int batch);

/**
 * rpcrdma2_recv_free - free a Receive and remove it from its pool
 * @rv: Receive without references to its contents
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
 * rpcrdma2_recv_room - bytes that a Receive can hold
 * @rv: Receive
 */
static inline u32 rpcrdma2_recv_room(const struct rpcrdma2_recv *rv)
{
	return rv->rv_npages << PAGE_SHIFT;
}

/**
 * rpcrdma2_recv_at - address of a byte of a message, contiguous in its page
 * @rv: Receive that holds the message
 * @at: offset of the byte
 */
static inline void *rpcrdma2_recv_at(const struct rpcrdma2_recv *rv, u32 at)
{
	return page_address(rv->rv_pages[at >> PAGE_SHIFT]) + offset_in_page(at);
}

/**
 * rpcrdma2_recv_copy - copy bytes of a message
 * @rv: Receive that holds the message
 * @at: offset of the first byte
 * @len: number of bytes
 * @buf: destination
 * @to: offset in the destination
 */
void rpcrdma2_recv_copy(const struct rpcrdma2_recv *rv, u32 at, size_t len,
			const struct xdr_buf *buf, size_t to);

/**
 * rpcrdma2_recv_cut - remove bytes from the beginning of a message
 * @rv: Receive that holds the message
 * @at: number of bytes; the rest is the message from then on
 */
void rpcrdma2_recv_cut(struct rpcrdma2_recv *rv, u32 at);

#ifdef RPCRDMA2_STRETCHES
/**
 * rpcrdma2_recv_base - start of a contiguous message
 * @rv: Receive that holds the message, mapped if it is longer than a page
 *
 * Return: first byte of one stretch, which lies in the kernel's linear mapping
 * if the message is no longer than a page.
 */
static inline void *rpcrdma2_recv_base(const struct rpcrdma2_recv *rv)
{
	return rv->rv_len <= PAGE_SIZE ? page_address(rv->rv_pages[0]) :
					 rv->rv_buf;
}

/**
 * rpcrdma2_recv_buf - describe bytes of a message as one stretch
 * @rv: Receive that holds the message, mapped if it is longer than a page
 * @at: offset of the first byte
 * @buf: gets all bytes from there on, in the head
 *
 * As rpcrdma2_recv_base(). There is one page in pages: nfsd accesses it even if
 * page_len is 0.
 */
void rpcrdma2_recv_buf(struct rpcrdma2_recv *rv, u32 at,
		       struct xdr_buf *buf);
#endif

/**
 * rpcrdma2_recv_buf_paged - describe bytes of a message page by page
 * @rv: Receive that holds the message
 * @at: offset of the first byte
 * @buf: gets all bytes from there on: up to the end of the page in the head,
 *	the rest in pages
 *
 * For code that needs the physical address of the head, as ciphers and disks
 * do. There is one page in pages: nfsd accesses it even if page_len is 0.
 */
void rpcrdma2_recv_buf_paged(struct rpcrdma2_recv *rv, u32 at,
			     struct xdr_buf *buf);

#endif /* _RPCRDMA2_RECV_H */
