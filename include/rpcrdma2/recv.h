/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receives: their memory, their posting, and the completions that deliver a
 * message.
 *
 * A Receive is made of single pages, one scatter entry each. Where it has more
 * than one they can also be mapped as one stretch, so that a message is read
 * without asking where a page ends. That takes time, and may sleep.
 */
#ifndef _RPCRDMA2_RECV_H
#define _RPCRDMA2_RECV_H

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/spinlock.h>

#include <linux/sunrpc/xdr.h>

#include <rdma/ib_verbs.h>

#include <rpcrdma2/conn.h>

/**
 * struct rpcrdma2_rpool - Receives, in use or not
 * @rp_size: octets of each, whole pages. This and the next five are the owner's
 *	to set before the first Receive is made
 * @rp_mapped: those of several pages are one stretch too
 * @rp_before: octets of each that the owner has in front of its struct
 *	rpcrdma2_recv
 * @rp_max: most that there may be
 * @rp_batch: rpcrdma2_recv_repost() posts so many at once
 * @rp_node: NUMA node of their memory
 * @rp_lock: guards the next four. rpcrdma2_recv_repost() holds it over
 *	ib_post_recv(): what has left @rp_free is posted when the next one gets
 *	the lock
 * @rp_free: those not in use, most recently used first
 * @rp_nfree: how many
 * @rp_all: all
 * @rp_count: how many
 *
 * A Receive belongs to a pool, not to a connection, which a pool may outlive.
 */
struct rpcrdma2_rpool {
	unsigned int		rp_size;
	bool			rp_mapped;
	unsigned int		rp_before;
	unsigned int		rp_max;
	unsigned int		rp_batch;
	int			rp_node;
	spinlock_t		rp_lock;	/* guards next four */
	struct list_head	rp_free;
	unsigned int		rp_nfree;
	struct list_head	rp_all;
	unsigned int		rp_count;
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
 * @rv_buf: all of its memory, as one stretch; NULL where it has several pages and
 *	they are not mapped
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
	void			*rv_buf;
	struct page		**rv_pages;
	struct ib_sge		rv_sges[];
};

/**
 * rpcrdma2_recv_size - how large the Receives of a connection can be
 * @dev: its device
 * @want: octets that its owner needs for the largest message
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
 * @gfp: how hard to try when the pool has to grow. It allows to sleep where
 *	several pages are mapped
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
 * Context: any task or either CQ.
 * Return: how many were posted.
 */
unsigned int rpcrdma2_recv_repost(struct rpcrdma2_conn *co,
				  struct rpcrdma2_recv *rv);

/**
 * rpcrdma2_recv_sync - make a message visible to the CPU
 * @rv: Receive that holds it
 */
void rpcrdma2_recv_sync(struct rpcrdma2_recv *rv);

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
void rpcrdma2_recv_buf(const struct rpcrdma2_recv *rv, u32 at,
		       struct xdr_buf *buf);

/**
 * rpcrdma2_recv_buf_paged - describe octets of a message page by page
 * @rv: Receive that holds it
 * @at: the first octet
 * @buf: becomes all from there on: to the end of its page as the head, the rest
 *	in pages
 *
 * For code that needs the physical address of the head: RPCSEC_GSS hands it to
 * ciphers.
 */
void rpcrdma2_recv_buf_paged(const struct rpcrdma2_recv *rv, u32 at,
			     struct xdr_buf *buf);

#endif /* _RPCRDMA2_RECV_H */
