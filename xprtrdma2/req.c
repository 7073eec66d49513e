// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: pools and buffers, match of a Reply, completion of the RPC; fences,
 * and the memory and credits of aborted RPCs
 */
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include <rpcrdma2/chunks.h>
#include <rpcrdma2/fault.h>

#include "xprtrdma2.h"
#include "trace.h"

/*
 * A bounded pool of requests for each direction, with the lifetime of the
 * transport (X4), grows on demand and reuses the most recently used request
 * first. A request that returns is freed if the pool has more than it keeps.
 * A DMA mapping is made on first use and undone by xprt2_reqs_detach(), or when
 * the request is freed.
 */

static struct kmem_cache *xprt2_req_cache;
struct kmem_cache *xprt2_rep_cache;

/**
 * xprt2_reqs_start - prepare for the allocation of requests and Receives
 *
 * Return: 0, or -ENOMEM.
 */
int xprt2_reqs_start(void)
{
	xprt2_req_cache = kmem_cache_create("xprt2_req",
					    sizeof(struct xprt2_req), 0,
					    SLAB_HWCACHE_ALIGN, NULL);
	/* kmalloc() would take 1 KiB for each, nearly twice as much. */
	xprt2_rep_cache = kmem_cache_create("xprt2_rep",
					    sizeof(struct xprt2_rep), 0,
					    SLAB_HWCACHE_ALIGN, NULL);
	if (xprt2_req_cache && xprt2_rep_cache)
		return 0;
	xprt2_reqs_stop();
	return -ENOMEM;
}

/**
 * xprt2_reqs_stop - undo xprt2_reqs_start(); no request or Receive is left
 */
void xprt2_reqs_stop(void)
{
	kmem_cache_destroy(xprt2_req_cache);
	kmem_cache_destroy(xprt2_rep_cache);
}

/* The service encodes into a page in any case. */
#define XPRT2_BACKWARD_SIZE	roundup_pow_of_two(XPRT2_HEADROOM + PAGE_SIZE)

static struct xprt2_req *xprt2_req_create(struct xprt2_xprt *xp,
					  struct xprt2_pool *pool, gfp_t gfp)
{
	struct xprt2_req *req;

	req = kmem_cache_zalloc(xprt2_req_cache, gfp);
	if (!req)
		return NULL;
	/* Any backward request may become the one that is left for errors. */
	if (pool == &xp->xp_backward) {
		req->rq2_sendsize = XPRT2_BACKWARD_SIZE;
		req->rq2_sendbuf = kmalloc(req->rq2_sendsize, gfp);
		if (!req->rq2_sendbuf)
			goto out_free;
	}
	rpcrdma2_exposed_init(&req->rq2_exposed);
	/* No RPC timer ends the wait of a killed task for this fence. */
	req->rq2_exposed.em_fence.po_timed = true;
	req->rq2_home = pool;
	req->rq2_sends[0].se_req = req;
	req->rq2_sends[1].se_req = req;

	scoped_guard(spinlock, &xp->xp_req_lock) {
		if (pool->pl_count < pool->pl_max) {
			pool->pl_count++;
			list_add(&req->rq2_all, &xp->xp_all_reqs);
			return req;
		}
	}
	kfree(req->rq2_sendbuf);
out_free:
	kmem_cache_free(xprt2_req_cache, req);
	return NULL;
}

static struct xprt2_req *xprt2_req_pop(struct xprt2_xprt *xp,
				       struct xprt2_pool *pool, bool last)
{
	struct llist_node *node;

	scoped_guard(spinlock, &xp->xp_req_lock)
		node = xprt2_pool_pop(pool, last);
	return node ? llist_entry(node, struct xprt2_req, rq2_pool) : NULL;
}

/**
 * xprt2_req_get - take a request from its pool
 * @xp: transport
 * @pool: xp_forward or xp_backward
 * @last: see xprt2_pool_pop()
 * @gfp: allocation flags for when the pool has to grow
 *
 * Return: a request that only the caller references, or NULL.
 */
struct xprt2_req *xprt2_req_get(struct xprt2_xprt *xp, struct xprt2_pool *pool,
				bool last, gfp_t gfp)
{
	struct xprt2_req *req;

	req = xprt2_req_pop(xp, pool, last);
	if (!req && READ_ONCE(pool->pl_count) < pool->pl_max)
		req = xprt2_req_create(xp, pool, gfp);
	if (req)
		kref_init(&req->rq2_kref);
	return req;
}

/**
 * xprt2_backward_uncount - stop counting a Call of the server
 * @req: request that is about to be answered, or never will be; no effect when
 *	it is not counted, or was on another connection
 */
void xprt2_backward_uncount(struct xprt2_req *req)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(req->rq2_slot.rq_xprt);

	if (likely(!req->rq2_backward_of))
		return;
	guard(spinlock)(&xp->xp_req_lock);
	/* not a Call of another connection */
	if (req->rq2_backward_of == xp->xp_serial)
		xp->xp_backward_out--;
	req->rq2_backward_of = 0;
}

static void xprt2_req_free(struct xprt2_req *req)
{
	kfree(req->rq2_sendbuf);
	kfree(req->rq2_plainbuf);
	kfree(req->rq2_recvbuf);
	kmem_cache_free(xprt2_req_cache, req);
}

/* Under xp_req_lock, or by the only user left */
static void xprt2_req_unmap_locked(struct xprt2_req *req)
{
	if (!req->rq2_device)
		return;
	ib_dma_unmap_single(req->rq2_device, req->rq2_dma, req->rq2_sendsize,
			    DMA_TO_DEVICE);
	req->rq2_device = NULL;
}

/*
 * Return: true if the pool has more requests than it keeps, and one of them is
 * free, which the next error can take (S46); @req is not counted then.
 */
static bool xprt2_req_leave_pool(struct xprt2_xprt *xp, struct xprt2_req *req)
{
	struct xprt2_pool *pool = req->rq2_home;

	if (likely(READ_ONCE(pool->pl_count) <= READ_ONCE(pool->pl_keep)))
		return false;
	guard(spinlock)(&xp->xp_req_lock);
	if (pool->pl_count <= pool->pl_keep || llist_empty(&pool->pl_free))
		return false;
	pool->pl_count--;
	list_del(&req->rq2_all);
	xprt2_req_unmap_locked(req);
	return true;
}

/*
 * The request is in the pool before the search for a waiter, and a task that is
 * about to wait checks the pool again in xprt2_alloc_slot(). llist_add() is a
 * full barrier, and pairs with the one there: one of them sees the effect of the
 * other.
 */
static void xprt2_req_push(struct xprt2_xprt *xp, struct xprt2_req *req)
{
	struct xprt2_pool *pool = req->rq2_home;
	struct rpc_xprt *xprt = &xp->xp_xprt;

	do {
		llist_add(&req->rq2_pool, &pool->pl_free);
		if (likely(!READ_ONCE(xprt->backlog.qlen)) ||
		    pool != &xp->xp_forward)
			return;
		req = xprt2_req_pop(xp, pool, true);
		if (!req)
			return;
		kref_init(&req->rq2_kref);
	} while (!xprt_wake_up_backlog(xprt, &req->rq2_slot));
}

static void xprt2_req_release(struct kref *kref)
{
	struct xprt2_req *req = container_of(kref, struct xprt2_req, rq2_kref);
	struct rpc_rqst *rqst = &req->rq2_slot;
	struct xprt2_xprt *xp = xprt2_from_xprt(rqst->rq_xprt);
	bool unsent;

	/* X3, X2 */
	WARN_ON_ONCE(req->rq2_sends[0].se_post.po_wrs ||
		     req->rq2_sends[1].se_post.po_wrs ||
		     req->rq2_exposed.em_fence.po_wrs);
	WARN_ON_ONCE(rpcrdma2_is_exposed(&req->rq2_exposed));

	xprt2_backward_uncount(req);

	unsent = req->rq2_unsent;
	req->rq2_unsent = false;
	req->rq2_waits = 0;
	memset(rqst, 0, sizeof(*rqst));
	if (unlikely(xprt2_req_leave_pool(xp, req)))
		xprt2_req_free(req);
	else
		xprt2_req_push(xp, req);
	if (unsent)
		atomic_dec(&xp->xp_unsent);
}

/**
 * xprt2_req_put - drop a reference (X3)
 * @req: request
 */
void xprt2_req_put(struct xprt2_req *req)
{
	kref_put(&req->rq2_kref, xprt2_req_release);
}

/**
 * xprt2_req_end_post - count a chain as done, or as not posted
 * @req: request; may be gone afterwards
 *
 * Context: any.
 */
void xprt2_req_end_post(struct xprt2_req *req)
{
	if (atomic_dec_and_test(&req->rq2_posts))
		wake_up_var(&req->rq2_posts);
	xprt2_req_put(req);
}

/**
 * xprt2_req_await_posts - wait until the Send Queue has no chain of a request
 * @req: backward request whose task is about to end
 *
 * S46: the waiting thread of the callback service serves other servers too, so
 * after XPRT2_ANSWER_TIMEOUT the connection ends, and with it the chains.
 *
 * Context: task of the Reply; sleeps.
 */
void xprt2_req_await_posts(struct xprt2_req *req)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(req->rq2_slot.rq_xprt);

	if (wait_var_event_timeout(&req->rq2_posts,
				   !atomic_read(&req->rq2_posts),
				   XPRT2_ANSWER_TIMEOUT))
		return;
	scoped_guard(mutex, &xp->xp_fence_mutex)
		if (req->rq2_ep)
			rpcrdma2_conn_lose(&req->rq2_ep->ep_conn,
					   RPCRDMA2_LOSS_STALLED);
	wait_var_event(&req->rq2_posts, !atomic_read(&req->rq2_posts));
}

/* Buffers are powers of two, naturally aligned, and never shrink. */
static int xprt2_req_grow(struct xprt2_req *req, void **buf, size_t *size,
			  size_t needed, gfp_t gfp)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(req->rq2_slot.rq_xprt);
	void *old = *buf, *new;

	if (*size >= needed)
		return 0;
	needed = roundup_pow_of_two(needed);
	new = kmalloc(needed, gfp);
	if (!new)
		return -ENOMEM;

	spin_lock(&xp->xp_req_lock);
	xprt2_req_unmap_locked(req);
	*buf = new;
	*size = needed;
	spin_unlock(&xp->xp_req_lock);
	if (old)
		xprt2_stat_add(xp, hardway, needed);
	kfree(old);
	return 0;
}

/**
 * xprt2_req_pass_recvbuf - leave the receive buffer to the next RPC
 * @req: request of an RPC that has ended, and exposes no memory. It may get
 *	another buffer instead
 *
 * An RPC needs its receive buffer only until it ends, but a Send that no
 * completion covers yet holds its request longer. So RPCs that follow one
 * another use one buffer, not one for each request. A larger buffer stays with
 * its request.
 *
 * Context: release.
 */
void xprt2_req_pass_recvbuf(struct xprt2_req *req)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(req->rq2_slot.rq_xprt);

	if (unlikely(req->rq2_recvsize != XPRT2_RECVBUF_SIZE))
		return;
	req->rq2_recvbuf = xchg(&xp->xp_recvbuf, req->rq2_recvbuf);
	if (likely(!req->rq2_recvbuf))
		req->rq2_recvsize = 0;
}

/**
 * xprt2_req_buffers - allocate the message buffers of an RPC
 * @req: request with rq_callsize and rq_rcvsize
 * @gfp: allocation flags
 *
 * Return: 0, or -ENOMEM.
 */
int xprt2_req_buffers(struct xprt2_req *req, gfp_t gfp)
{
	struct rpc_rqst *rqst = &req->rq2_slot;
	size_t call = XPRT2_HEADROOM + rqst->rq_callsize;
	struct xprt2_xprt *xp = xprt2_from_xprt(rqst->rq_xprt);
	void *buffer;

	if (xprt2_req_grow(req, &req->rq2_sendbuf, &req->rq2_sendsize,
			   max_t(size_t, call, XPRT2_SENDBUF_SIZE), gfp))
		return -ENOMEM;
	if (!req->rq2_recvbuf) {
		req->rq2_recvbuf = xchg(&xp->xp_recvbuf, NULL);
		req->rq2_recvsize = req->rq2_recvbuf ? XPRT2_RECVBUF_SIZE : 0;
	}
	if (xprt2_req_grow(req, &req->rq2_recvbuf, &req->rq2_recvsize,
			   max_t(size_t, rqst->rq_rcvsize, XPRT2_RECVBUF_SIZE),
			   gfp))
		return -ENOMEM;

	/* On failure the device gathers the payload. */
	if (unlikely(req->rq2_pullup_size > req->rq2_sendsize))
		xprt2_req_grow(req, &req->rq2_sendbuf, &req->rq2_sendsize,
			       req->rq2_pullup_size, GFP_NOWAIT | __GFP_NOWARN);

	buffer = req->rq2_sendbuf + XPRT2_HEADROOM;
	if (xprt2_touches_data(rqst)) {
		if (xprt2_req_grow(req, &req->rq2_plainbuf, &req->rq2_plainsize,
				   rqst->rq_callsize, gfp))
			return -ENOMEM;
		buffer = req->rq2_plainbuf;	/* X8 */
	}
	/* The RPC layer does not come back for an RPC with rq_buffer. */
	rqst->rq_buffer = buffer;
	rqst->rq_rbuffer = req->rq2_recvbuf;
	return 0;
}

/**
 * xprt2_req_map - map the Send buffer for the endpoint's device
 * @ep: endpoint
 * @req: request
 *
 * Return: 0, or -ENOBUFS when the device cannot map it now.
 */
int xprt2_req_map(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct ib_device *device = ep->ep_conn.co_id->device;
	u64 dma;

	if (likely(req->rq2_device == device))
		return 0;

	if (rpcrdma2_fault(map_send))
		goto out_wait;
	dma = ib_dma_map_single(device, req->rq2_sendbuf, req->rq2_sendsize,
				DMA_TO_DEVICE);
	if (ib_dma_mapping_error(device, dma))
		goto out_wait;
	spin_lock(&ep->ep_xp->xp_req_lock);
	req->rq2_dma = dma;
	req->rq2_device = device;
	spin_unlock(&ep->ep_xp->xp_req_lock);
	return 0;

out_wait:
	xprt2_count(map_waits);
	return -ENOBUFS;
}

/**
 * xprt2_backward_req - get a request for a message that is no forward Call
 * @xp: transport
 * @last: for an error or an answer that must be sent: see xprt2_pool_pop()
 * @gfp: allocation flags
 *
 * Return: a request with a page in rq_snd_buf, or NULL.
 */
struct xprt2_req *xprt2_backward_req(struct xprt2_xprt *xp, bool last, gfp_t gfp)
{
	struct xprt2_req *req;
	struct rpc_rqst *rqst;

	req = xprt2_req_get(xp, &xp->xp_backward, last, gfp);
	if (!req)
		return NULL;
	rqst = &req->rq2_slot;
	rqst->rq_xprt = &xp->xp_xprt;
	__set_bit(RPC_BC_PA_IN_USE, &rqst->rq_bc_pa_state);
	rqst->rq_buffer = req->rq2_sendbuf + XPRT2_HEADROOM;
	rqst->rq_callsize = PAGE_SIZE;	/* a copied payload is behind it */
	xdr_buf_init(&rqst->rq_snd_buf, rqst->rq_buffer, PAGE_SIZE);
	return req;
}

/**
 * xprt2_reqs_reserve - make sure that enough requests are free
 * @xp: transport
 * @pool: xp_forward or xp_backward
 * @needed: number of requests, with the last one: see xprt2_pool_pop()
 * @gfp: allocation flags
 *
 * Free requests stay in the pool, for messages that need one meanwhile.
 *
 * Return: 0, or -ENOMEM, when there may be some more.
 */
int xprt2_reqs_reserve(struct xprt2_xprt *xp, struct xprt2_pool *pool,
		       unsigned int needed, gfp_t gfp)
{
	struct xprt2_req *req;
	unsigned int count;

	scoped_guard(spinlock, &xp->xp_req_lock)
		count = xprt2_pool_count_free(pool);
	for (; count < needed; count++) {
		req = xprt2_req_create(xp, pool, gfp);
		if (!req)
			return -ENOMEM;
		llist_add(&req->rq2_pool, &pool->pl_free);
	}
	return 0;
}

/**
 * xprt2_reqs_create - allocate the first requests
 * @xp: transport under construction
 *
 * Enough for a mount to make progress when memory is short: for the unsignaled
 * Sends, whose requests return only when more is sent, and a few more.
 *
 * Return: 0, or -ENOMEM.
 */
int xprt2_reqs_create(struct xprt2_xprt *xp)
{
	init_llist_head(&xp->xp_forward.pl_free);
	init_llist_head(&xp->xp_backward.pl_free);
	/* A Send that is not known to be complete holds its request. */
	xp->xp_forward.pl_max = xp->xp_xprt.max_reqs + XPRT2_SEND_BATCH;
	xp->xp_forward.pl_keep = xp->xp_forward.pl_max;
	xp->xp_backward.pl_max = xprt2_backward_reqs(xp->xp_backward_target);
	/*
	 * Without callbacks more are only in use for property messages: they are
	 * allocated for each.
	 */
	xp->xp_backward.pl_keep = 1;
	return xprt2_reqs_reserve(xp, &xp->xp_forward,
				  XPRT2_SLOTS_MIN + XPRT2_SEND_BATCH,
				  GFP_KERNEL);
}

/**
 * xprt2_reqs_detach - detach all requests from an endpoint that is drained
 * @xp: transport
 *
 * Context: teardown, under xp_fence_mutex.
 */
void xprt2_reqs_detach(struct xprt2_xprt *xp)
{
	struct xprt2_req *req;

	spin_lock(&xp->xp_req_lock);
	list_for_each_entry(req, &xp->xp_all_reqs, rq2_all) {
		WRITE_ONCE(req->rq2_ep, NULL);	/* X6, X7 */
		xprt2_req_unmap_locked(req);
	}
	spin_unlock(&xp->xp_req_lock);
	wake_up_var(xp);	/* see xprt2_aborted_await_reply() */
}

/**
 * xprt2_reqs_destroy - free all requests (X4)
 * @xp: transport with no users and no endpoint left
 */
void xprt2_reqs_destroy(struct xprt2_xprt *xp)
{
	struct xprt2_req *req, *next;

	WARN_ON_ONCE(!xprt2_pool_is_whole(&xp->xp_forward) ||
		     !xprt2_pool_is_whole(&xp->xp_backward));
	WARN_ON_ONCE(xp->xp_backward_out || atomic_read(&xp->xp_unsent));
	list_for_each_entry_safe(req, next, &xp->xp_all_reqs, rq2_all) {
		WARN_ON_ONCE(req->rq2_device);		/* X5 */
		xprt2_req_free(req);
	}
	kfree(xp->xp_recvbuf);
}

/**
 * xprt2_put_rep - release the Receive that a request points into
 * @req: request that is freed, or about to be sent (again). No handler works
 *	on a Reply for it
 */
void xprt2_put_rep(struct xprt2_req *req)
{
	if (req->rq2_rep)
		rpcrdma2_recv_put(&req->rq2_rep->rep_recv);
	WRITE_ONCE(req->rq2_rep, NULL);
}

/*
 * The RPC layer matches Replies to an RPC before it is posted (again). A Reply
 * that comes too soon, or while the RPC is fenced for another one, is not for
 * this RPC (X6). xprt2_put_rep() runs while the RPC is not queued, or rq2_ep
 * is NULL.
 */
static struct rpc_rqst *xprt2_find_rqst_locked(struct xprt2_ep *ep, u32 xid)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	struct rpc_rqst *rqst;
	struct xprt2_req *req;

	lockdep_assert_held(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(xid));
	if (!rqst)
		return NULL;
	req = xprt2_rqst_to_req(rqst);
	/* Pairs with xprt2_send_begin(): rq2_holds is set */
	return smp_load_acquire(&req->rq2_ep) == ep && !req->rq2_rep &&
	       !req->rq2_status ? rqst : NULL;
}

/**
 * xprt2_req_claim - find the RPC that a message answers
 * @ep: endpoint
 * @rep: the message
 * @xid: its xid
 *
 * Context: receive CQ.
 * Return: the RPC, pinned and linked with @rep; NULL when no RPC waits.
 */
struct rpc_rqst *xprt2_req_claim(struct xprt2_ep *ep, struct xprt2_rep *rep,
				 u32 xid)
{
	struct rpc_rqst *rqst;

	guard(spinlock)(&ep->ep_xp->xp_xprt.queue_lock);
	rqst = xprt2_find_rqst_locked(ep, xid);
	if (rqst) {
		xprt_pin_rqst(rqst);
		WRITE_ONCE(xprt2_rqst_to_req(rqst)->rq2_rep, rep);
	}
	return rqst;
}

/**
 * xprt2_req_is_awaited - check if a Call waits for a message with this xid
 * @ep: endpoint it came on
 * @xid: xid of the message
 *
 * Context: receive CQ.
 */
bool xprt2_req_is_awaited(struct xprt2_ep *ep, u32 xid)
{
	guard(spinlock)(&ep->ep_xp->xp_xprt.queue_lock);
	return xprt2_find_rqst_locked(ep, xid);
}

/**
 * xprt2_req_note_refusal - note that the server refused a Call for its version
 * @ep: endpoint
 * @xid: xid of the refusal
 *
 * Context: receive CQ.
 * Return: versions in which this RPC was refused before, a bit each; 0 when no
 * RPC waits.
 */
u32 xprt2_req_note_refusal(struct xprt2_ep *ep, u32 xid)
{
	struct rpc_rqst *rqst;
	struct xprt2_req *req;
	u32 before;

	guard(spinlock)(&ep->ep_xp->xp_xprt.queue_lock);
	rqst = xprt2_find_rqst_locked(ep, xid);
	if (!rqst)
		return 0;
	req = xprt2_rqst_to_req(rqst);
	before = req->rq2_versions;
	req->rq2_versions |= BIT(ep->ep_vers);
	return before;
}

/*
 * Until an RPC completes, after its fence and the end of a Send with its pages
 * (X2), the request is pinned, owns the Receive through rq2_rep, and keeps
 * rq2_ep: the RPC layer waits for the unpin, and teardown drains the queues.
 */

/* Bytes of pages and tail, up to the first page that is missing (sparse) */
static size_t xprt2_reply_room_behind_head(const struct xdr_buf *buf)
{
	size_t at = buf->page_base, end = at + buf->page_len;

	if (unlikely(buf->flags & XDRBUF_SPARSE_PAGES))
		for (; at < end; at = round_down(at, PAGE_SIZE) + PAGE_SIZE)
			if (!buf->pages[at >> PAGE_SHIFT])
				return at - buf->page_base;
	return buf->page_len + buf->tail[0].iov_len;
}

/* Copy @len bytes of a Receive, from @at on, to offset @to of a buffer. */
static void xprt2_reply_copy(const struct xdr_buf *buf, size_t to,
			     const struct rpcrdma2_recv *rv, u32 at, size_t len)
{
	if (!len)
		return;
	xprt2_count_add(fixup_bytes, len);
	rpcrdma2_recv_copy(rv, at, len, buf, to);
}

/*
 * Put an inline Reply where rq_rcv_buf expects it. Ciphers may process the
 * head, so it must be contiguous in the linear mapping: it stays in the first
 * page of the Receive, which stays with the request (X1), or is copied. Pages
 * and tail are copied: the RPC layer moves data between them, and expects all
 * the room it provided.
 *
 * After a Write chunk with the payload, the inline part continues right behind
 * the head (E-07). It is copied behind the payload and its XDR pad.
 */
static u32 xprt2_reply_place_inline(struct rpc_rqst *rqst,
				    const struct xprt2_rep *rep)
{
	struct xdr_buf *buf = &rqst->rq_rcv_buf;
	size_t head, written = xdr_align_size(rep->rep_written);
	size_t placed = 0, to, end, left = rep->rep_paylen;

	rpcrdma2_trim_reply(rqst, left);
	head = buf->head[0].iov_len;
	buf->head[0].iov_base = rqst->rq_rbuffer;
	if (rep->rep_at + head <= PAGE_SIZE) {
		buf->head[0].iov_base = page_address(rep->rep_recv.rv_pages[0]) +
					rep->rep_at;
		placed = head;
	}
	rqst->rq_private_buf.head[0].iov_base = buf->head[0].iov_base;
	xprt2_reply_copy(buf, placed, &rep->rep_recv, rep->rep_at + placed,
			 head - placed);

	end = head + xprt2_reply_room_behind_head(buf);
	to = min(head + written, end);
	xprt2_reply_copy(buf, to, &rep->rep_recv, rep->rep_at + head,
			 min(left - head, end - to));
	return min(left + written, end);
}

/* The Reply chunk was registered over rq_rcv_buf: all data is in place. */
static u32 xprt2_reply_place_chunk(struct rpc_rqst *rqst,
				   const struct xprt2_rep *rep)
{
	if (rep->rep_written)
		rpcrdma2_trim_reply(rqst, rep->rep_replylen);
	xprt2_count(reply_chunks_used);
	xprt2_count_add(reply_chunk_bytes, rep->rep_replylen);
	return min_t(u32, rep->rep_replylen + xdr_align_size(rep->rep_written),
		     rqst->rq_rcv_buf.buflen);
}

/*
 * An error may end its RPC only when no region is live (X2). If regions could
 * not be fenced, the error waits until the connection is gone.
 */
static int xprt2_req_error_locked(const struct xprt2_req *req)
{
	return rpcrdma2_is_exposed(&req->rq2_exposed) ? 0 : req->rq2_status;
}

/*
 * The RPC layer clears the status of a task that goes to sleep after sending,
 * or finds its Call sent by another task. So the RPC stays queued for a Reply,
 * and its task finds the error in rq2_status when it returns to wait or to
 * send.
 *
 * With -EAGAIN the task encodes its Call again, unless the cookie is that of
 * the connection. While the Call is queued the cookie belongs to the sending
 * task; the task of the RPC has yet to come back to wait.
 */
static void xprt2_req_wake_with(struct rpc_task *task, int status)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpc_xprt *xprt = rqst->rq_xprt;

	if (status == -EAGAIN &&
	    !test_bit(RPC_TASK_NEED_XMIT, &task->tk_runstate))
		rqst->rq_connect_cookie = xprt->connect_cookie - 1;
	rpcrdma2_wake_with(task, status);
}

static void xprt2_reply_end_rpc(struct xprt2_req *req, int copied)
{
	struct rpc_rqst *rqst = &req->rq2_slot;
	struct xprt2_rep *rep = req->rq2_rep;
	struct rpc_xprt *xprt = rqst->rq_xprt;

	guard(spinlock)(&xprt->queue_lock);
	if (!rep->rep_status) {
		xprt_complete_rqst(rqst->rq_task, copied);
	} else {
		xprt->stat.recvs++;
		WRITE_ONCE(req->rq2_status, rep->rep_status);
		xprt2_req_wake_with(rqst->rq_task, rep->rep_status);
	}
	xprt_unpin_rqst(rqst);
}

/**
 * xprt2_wait_for_reply - ->wait_for_reply_request of the transport
 * @task: task whose Call was sent
 *
 * Context: send path, or after it; under the transport's queue_lock.
 */
void xprt2_wait_for_reply(struct rpc_task *task)
{
	int status = xprt2_req_error_locked(xprt2_rqst_to_req(task->tk_rqstp));

	xprt_wait_for_reply_request_def(task);
	if (status)
		xprt2_req_wake_with(task, status);
}

/**
 * xprt2_has_error - check for an error before an RPC is sent (again)
 * @req: request
 *
 * An error that arrives after this check is handled as if the Call had been
 * sent.
 *
 * Context: send path.
 * Return: true when the RPC must not be sent; xprt2_wait_for_reply() ends it.
 */
bool xprt2_has_error(const struct xprt2_req *req)
{
	if (likely(!READ_ONCE(req->rq2_status)))
		return false;
	guard(spinlock)(&req->rq2_slot.rq_xprt->queue_lock);
	return xprt2_req_error_locked(req);
}

/* An error ends the RPC, mostly with -EIO, or the RPC is sent again. */
static void xprt2_reply_complete(struct xprt2_req *req)
{
	struct rpc_rqst *rqst = &req->rq2_slot;
	struct xprt2_rep *rep = req->rq2_rep;
	struct xprt2_ep *ep = req->rq2_ep;
	int copied = 0;

	WARN_ON_ONCE(rpcrdma2_is_exposed(&req->rq2_exposed));	/* X2 */

	if (!rep->rep_status && rep->rep_proc == RDMA2_NOMSG &&
	    unlikely(!rpcrdma2_offer_holds_reply(&rqst->rq_rcv_buf,
						 rqst->rq_xid)))
		rep->rep_status = -EIO;
	if (rep->rep_status == -EAGAIN) {
		req->rq2_refused = ep->ep_serial;
		xprt2_count(calls_again);
	} else if (rep->rep_status) {
		xprt2_stat_add(ep->ep_xp, bad_replies, 1);
		xprt2_count(replies_bad);
	} else if (rep->rep_proc == RDMA2_MSG) {
		copied = xprt2_reply_place_inline(rqst, rep);
	} else {
		copied = xprt2_reply_place_chunk(rqst, rep);
	}
	xprt2_stat_add(ep->ep_xp, reply_bytes,
		       rep->rep_written + rep->rep_replylen);
	xprt2_count_add(write_chunk_bytes, rep->rep_written);
	trace_xprt2_complete(ep, be32_to_cpu(rqst->rq_xid), copied);
	xprt2_reply_end_rpc(req, copied);
}

/**
 * xprt2_release_reply - drop one of the holds on a Reply
 * @req: request whose regions are fenced, or whose Send with pages is done
 *
 * The last hold completes the RPC (X2).
 *
 * Context: receive CQ, send CQ, or teardown.
 */
void xprt2_release_reply(struct xprt2_req *req)
{
	if (atomic_dec_and_test(&req->rq2_holds))
		xprt2_reply_complete(req);
}

/**
 * xprt2_abandon_reply - drop a Reply because its regions could not be fenced
 * @req: its request, pinned, and unpinned on return
 *
 * The connection is lost. The RPC is sent again on the next one, or ends there
 * if the Reply was an error that ends it.
 *
 * Context: receive CQ, send CQ, or drain of the Send Queue.
 */
void xprt2_abandon_reply(struct xprt2_req *req)
{
	struct rpc_xprt *xprt = req->rq2_slot.rq_xprt;
	struct xprt2_rep *rep = req->rq2_rep;

	spin_lock(&xprt->queue_lock);
	if (rep->rep_status != -EAGAIN)
		WRITE_ONCE(req->rq2_status, rep->rep_status);
	WRITE_ONCE(req->rq2_rep, NULL);
	xprt_unpin_rqst(&req->rq2_slot);
	spin_unlock(&xprt->queue_lock);
	rpcrdma2_recv_put(&rep->rep_recv);
}

/*
 * Invalidate (fence) the regions of an RPC before it completes, or when it has
 * ended without a Reply. The core registers them (rpcrdma2/conn.h). The pages
 * are unmapped before the RPC layer gets them back (X2).
 */

/**
 * xprt2_remote_invalidated - record a region that a Reply has invalidated
 * @ep: endpoint
 * @req: request the Reply is for
 * @rkey: handle of the region
 *
 * Context: receive CQ, request pinned; or release path, under xp_fence_mutex.
 * Return: false when it was no region of @req (S50).
 */
bool xprt2_remote_invalidated(struct xprt2_ep *ep, struct xprt2_req *req,
			      u32 rkey)
{
	if (!rpcrdma2_exposed_invalidated(&ep->ep_conn, &req->rq2_exposed,
					  rkey))
		return false;
	xprt2_count(remote_invalidations);
	return true;
}

/* Fence of an answered RPC: its Reply waits, and the request is pinned. */
static void xprt2_fence_done(struct rpcrdma2_conn *co,
			     struct rpcrdma2_exposed *ex, bool ok)
{
	struct xprt2_req *req = container_of(ex, struct xprt2_req, rq2_exposed);

	if (ok)
		xprt2_release_reply(req);
	else
		xprt2_abandon_reply(req);
}

static void xprt2_fence_count(struct xprt2_ep *ep, struct xprt2_req *req)
{
	unsigned int count = list_count_nodes(&req->rq2_exposed.em_regions);

	xprt2_stat_add(ep->ep_xp, local_inv, count);
	trace_xprt2_fence(ep, be32_to_cpu(req->rq2_slot.rq_xid), count);
	xprt2_count_add(local_invalidations, count);
	xprt2_count(doorbells);
}

/**
 * xprt2_fence_start - invalidate the remaining regions of an answered RPC
 * @ep: endpoint
 * @req: request with live regions, pinned
 *
 * Context: receive CQ.
 * Return: 0, and xprt2_release_reply() or, when the connection is lost,
 * xprt2_abandon_reply() follows; or -ENOTCONN.
 */
int xprt2_fence_start(struct xprt2_ep *ep, struct xprt2_req *req)
{
	/* An earlier fence may have failed, and has returned its entries (Q2). */
	if (unlikely(rpcrdma2_conn_is_lost(&ep->ep_conn)))
		return -ENOTCONN;
	xprt2_fence_count(ep, req);
	req->rq2_exposed.em_done = xprt2_fence_done;
	return rpcrdma2_fence(&ep->ep_conn, &req->rq2_exposed);
}

/*
 * Aborted RPCs ended without a Reply, by a signal or a timeout, while the
 * server may still use their memory: the release path revokes it in
 * xprt2_revoke(). The server does the same for callbacks
 * (svcrdma2/backchannel.c).
 */

/**
 * xprt2_take_late_reply - handle a late Reply to an aborted RPC
 * @ep: endpoint
 * @msg: message for which no RPC waits
 *
 * The server has finished with the RPC's memory, and may have invalidated a
 * region, whose address has the RPC's xid. xprt2_revoke() need not wait, and
 * xprt2_keep_credit() need not keep a credit.
 *
 * Context: receive CQ.
 * Return: false without such an RPC, or with a handle of another RPC (S50).
 */
bool xprt2_take_late_reply(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg)
{
	u32 xid = msg->mg_hdr.h_xid, handle = msg->mg_handle, owner;
	struct xprt2_xprt *xp = ep->ep_xp;
	struct xprt2_req *req;

	if (handle && rpcrdma2_handle_in_use(&ep->ep_conn, handle, &owner) &&
	    owner != xid)
		return false;

	guard(spinlock)(&xp->xp_req_lock);
	list_for_each_entry(req, &xp->xp_all_reqs, rq2_all) {
		/* the RPC layer may begin an RPC with another xid meanwhile */
		if (READ_ONCE(req->rq2_ep) != ep ||
		    READ_ONCE(req->rq2_slot.rq_xid) != cpu_to_be32(xid) ||
		    req->rq2_home != &xp->xp_forward ||
		    READ_ONCE(req->rq2_rep) || READ_ONCE(req->rq2_late))
			continue;
		WRITE_ONCE(req->rq2_late, true);
		req->rq2_late_handle = handle;
		wake_up_var(xp);
		return true;
	}
	return false;
}

/*
 * True while the server may use exposed memory, or the device mapped pages, on
 * a connection that is up. xp_req_lock keeps the endpoint alive: see
 * xprt2_reqs_detach().
 */
static bool xprt2_aborted_is_busy_locked(const struct xprt2_xprt *xp,
					 const struct xprt2_req *req)
{
	const struct xprt2_ep *ep = READ_ONCE(req->rq2_ep);

	lockdep_assert_held(&xp->xp_req_lock);
	return ep && xprt2_ep_is_ready(ep) &&
	       !test_bit(XPRT_CLOSE_WAIT, &xp->xp_xprt.state) &&
	       (READ_ONCE(req->rq2_num_mapped) ||
		(rpcrdma2_is_exposed(&req->rq2_exposed) && !req->rq2_late &&
		 !req->rq2_rep));
}

/*
 * True while the Reply, or the end of the Send, may soon come. If an aborted RPC
 * has waited until its timeout, no RPC waits for a Reply until a message arrives.
 */
static bool xprt2_aborted_is_answer_due(struct xprt2_xprt *xp,
					const struct xprt2_req *req)
{
	guard(spinlock)(&xp->xp_req_lock);
	return xprt2_aborted_is_busy_locked(xp, req) &&
	       (READ_ONCE(req->rq2_num_mapped) ||
		!READ_ONCE(req->rq2_ep->ep_silent));
}

static void xprt2_aborted_await_reply(struct xprt2_xprt *xp,
				      struct xprt2_req *req)
{
	xprt2_count(aborted_waits);
	wait_var_event_timeout(xp, !xprt2_aborted_is_answer_due(xp, req),
			       XPRT2_ANSWER_TIMEOUT);
	guard(spinlock)(&xp->xp_req_lock);
	if (req->rq2_late) {
		xprt2_count(aborted_answered);
	} else if (xprt2_aborted_is_busy_locked(xp, req)) {
		WRITE_ONCE(req->rq2_ep->ep_silent, true);
		xprt2_count(aborted_unanswered);
	}
}

/* Return: true when a fence was posted. Under xp_fence_mutex */
static bool xprt2_aborted_fence(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct rpcrdma2_exposed *ex = &req->rq2_exposed;
	u32 handle;

	scoped_guard(spinlock, &ep->ep_xp->xp_req_lock)
		handle = req->rq2_late ? req->rq2_late_handle : 0;
	if (handle)
		xprt2_remote_invalidated(ep, req, handle);
	/* the fence of a Reply may have failed: Q2 */
	if (!rpcrdma2_is_exposed(ex) || rpcrdma2_conn_is_lost(&ep->ep_conn))
		return false;
	xprt2_count(aborted_fences);
	xprt2_fence_count(ep, req);
	/* A fence that is posted in part ends with the connection. */
	return !rpcrdma2_revoke(&ep->ep_conn, ex) &&
	       !rpcrdma2_conn_is_lost(&ep->ep_conn);
}

/**
 * xprt2_revoke - revoke the memory of an RPC that got no Reply
 * @req: request that holds memory, and that the RPC layer is about to release,
 *	or has taken off its queues to send it again on another connection
 * @wait: wait for the Reply first
 *
 * Wait for the Reply and for a Send of mapped pages, then fence the regions that
 * are left; if the Send or the fence takes too long, close the connection. "An
 * aborted RPC" in Documentation/architecture.rst has the reasons.
 *
 * The RPC layer has waited for the request to be unpinned, so no Reply handler
 * works on it. Teardown may, hence the mutex.
 *
 * Context: release path, or task of the RPC; sleeps.
 */
void xprt2_revoke(struct xprt2_req *req, bool wait)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(req->rq2_slot.rq_xprt);
	struct rpcrdma2_exposed *ex = &req->rq2_exposed;
	bool fences = false;

	if (wait)
		xprt2_aborted_await_reply(xp, req);
	scoped_guard(mutex, &xp->xp_fence_mutex)
		if (xprt2_holds_memory(req))
			fences = xprt2_aborted_fence(xp->xp_ep, req);
	if (fences)
		rpcrdma2_revoke_wait(ex, XPRT2_FENCE_TIMEOUT);
	/* After teardown there is neither memory nor fence. */
	scoped_guard(mutex, &xp->xp_fence_mutex)
		/* pairs with rpcrdma2_revoke_done() */
		if (smp_load_acquire(&ex->em_fencing) || xprt2_holds_memory(req))
			rpcrdma2_lose_exposed(&xp->xp_ep->ep_conn, ex);
}

/**
 * xprt2_lose_to_handle - give up a connection for a wrong invalidation (S50)
 * @ep: endpoint, whose server has invalidated a region that it must not
 *
 * Context: receive CQ.
 */
void xprt2_lose_to_handle(struct xprt2_ep *ep)
{
	xprt2_count(bad_invalidations);
	rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_HANDLE);
}

/**
 * xprt2_check_handle - check the handle that a message has invalidated (S50)
 * @ep: endpoint
 * @msg: message that answers no waiting RPC
 *
 * A peer may not invalidate a region of an RPC that a task waits for.
 *
 * Context: receive CQ.
 */
void xprt2_check_handle(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg)
{
	u32 xid;

	if (!msg->mg_handle ||
	    !rpcrdma2_handle_in_use(&ep->ep_conn, msg->mg_handle, &xid))
		return;
	if (xid == msg->mg_hdr.h_xid && !xprt2_req_is_awaited(ep, xid) &&
	    xprt2_take_late_reply(ep, msg))
		return;
	xprt2_lose_to_handle(ep);
}

/* Credits of aborted RPCs, which a late Reply gives back */

/* Kept credits are limited to half of the window: a server may drop Calls. */
static unsigned int xprt2_kept_max(const struct rpc_xprt *xprt)
{
	return xprt->cwnd / RPC_CWNDSCALE / 2;
}

/**
 * xprt2_keep_credit - keep the credit of an aborted RPC (E-16)
 * @req: request of a Call whose RPC ends. The server may still process it
 *
 * Context: xprt->transport_lock is held.
 * Return: true when the credit is kept until a Reply arrives that matches no
 * RPC; false when the Call was not sent on this connection, was answered, or the
 * limit is reached.
 */
bool xprt2_keep_credit(struct xprt2_req *req)
{
	struct rpc_xprt *xprt = req->rq2_slot.rq_xprt;
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	lockdep_assert_held(&xprt->transport_lock);
	guard(spinlock)(&xp->xp_req_lock);
	if (!req->rq2_slot.rq_cong || !READ_ONCE(req->rq2_ep) ||
	    req->rq2_late || xp->xp_kept >= xprt2_kept_max(xprt))
		return false;
	/* From here on its Reply matches no RPC: xprt2_take_late_reply(). */
	WRITE_ONCE(req->rq2_ep, NULL);
	req->rq2_slot.rq_cong = 0;
	xp->xp_kept++;
	xprt2_count(credits_kept);
	return true;
}

static bool xprt2_free_kept(struct rpc_xprt *xprt, unsigned int most)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	lockdep_assert_held(&xprt->transport_lock);
	if (likely(xp->xp_kept <= most))
		return false;
	xprt->cong -= (xp->xp_kept - most) * RPC_CWNDSCALE;
	WRITE_ONCE(xp->xp_kept, most);
	return true;
}

/**
 * xprt2_bound_kept - free the kept credits that exceed the limit of the window
 * @xprt: transport, its cwnd set
 *
 * Context: xprt->transport_lock is held.
 * Return: true when Calls that wait for a credit must be woken.
 */
bool xprt2_bound_kept(struct rpc_xprt *xprt)
{
	return xprt2_free_kept(xprt, xprt2_kept_max(xprt));
}

/**
 * xprt2_credit_answered - free a kept credit for a Reply that matches no RPC
 * @xp: transport; the Reply most likely belongs to an aborted RPC
 *
 * Context: receive CQ.
 */
void xprt2_credit_answered(struct xprt2_xprt *xp)
{
	struct rpc_xprt *xprt = &xp->xp_xprt;
	bool freed = false;

	if (likely(!READ_ONCE(xp->xp_kept)))
		return;
	scoped_guard(spinlock, &xprt->transport_lock)
		if (xp->xp_kept)
			freed = xprt2_free_kept(xprt, xp->xp_kept - 1);
	if (freed && test_bit(XPRT_CWND_WAIT, &xprt->state))
		rpcrdma2_window_raised(xprt);
}
