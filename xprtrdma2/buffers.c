// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: a bounded pool for each direction, which lives as long as the
 * transport does (X4).
 *
 * It grows on demand and hands out what was used last, so that an idle mount
 * keeps little memory and a busy one a warm cache. Its memory survives a lost
 * connection; only its DMA mappings follow the device, made on first use and
 * undone by xprt2_reqs_wake() at teardown.
 */
#include "xprtrdma2.h"

#include <linux/slab.h>

#include <rpcrdma2/fault.h>

static struct xprt2_req *create_req(struct xprt2_xprt *xp,
				    struct xprt2_pool *pool, gfp_t gfp)
{
	struct xprt2_req *req;

	req = kzalloc(sizeof(*req), gfp);
	if (!req)
		return NULL;
	rpcrdma2_exposed_init(&req->rq2_exposed);
	/* A killed task waits for the fence of its Reply, and has no timer any more. */
	req->rq2_exposed.ex_fence.po_timed = true;
	INIT_LIST_HEAD(&req->rq2_pool);
	init_completion(&req->rq2_event);
	req->rq2_home = pool;
	req->rq2_sends[0].se_req = req;
	req->rq2_sends[1].se_req = req;

	spin_lock(&xp->xp_req_lock);
	if (pool->pl_count < pool->pl_max) {
		pool->pl_count++;
		list_add(&req->rq2_all, &xp->xp_all_reqs);
	} else {
		kfree(req);
		req = NULL;
	}
	spin_unlock(&xp->xp_req_lock);
	return req;
}

static struct xprt2_req *pop_req(struct xprt2_xprt *xp,
				 struct xprt2_pool *pool, bool last)
{
	struct list_head *pos;

	spin_lock(&xp->xp_req_lock);
	pos = xprt2_pool_pop(pool, last);
	spin_unlock(&xp->xp_req_lock);
	return pos ? list_entry(pos, struct xprt2_req, rq2_pool) : NULL;
}

/**
 * xprt2_req_get - take a request from its pool
 * @xp: transport
 * @pool: xp_forward or xp_backward
 * @last: see xprt2_pool_pop()
 * @gfp: how hard to try when the pool has to grow
 *
 * Return: a request whose only reference is the caller's, or NULL when the
 * pool is empty and may not or can not grow.
 */
struct xprt2_req *xprt2_req_get(struct xprt2_xprt *xp, struct xprt2_pool *pool,
				bool last, gfp_t gfp)
{
	struct xprt2_req *req;

	req = pop_req(xp, pool, last);
	if (!req && READ_ONCE(pool->pl_count) < pool->pl_max)
		req = create_req(xp, pool, gfp);
	if (req)
		kref_init(&req->rq2_kref);
	return req;
}

/**
 * xprt2_count_call - the server has made a Call with this request
 * @ep: endpoint it came on
 * @req: request of the backward direction
 *
 * S56: ep_calls is no less than what any message of this connection has granted.
 *
 * Context: receive CQ.
 * Return: false when the server has as many outstanding as it is granted (B-06).
 */
bool xprt2_count_call(struct xprt2_ep *ep, struct xprt2_req *req)
{
	struct xprt2_xprt *xp = ep->ep_xp;

	guard(spinlock)(&xp->xp_req_lock);
	if (!xprt2_is_granted(xp->xp_calls, READ_ONCE(ep->ep_calls)))
		return false;
	xp->xp_calls++;
	req->rq2_call_of = ep->ep_serial;
	return true;
}

/**
 * xprt2_uncount_call - the Call is about to be answered, or will not be
 * @req: request; no harm when it is not counted, or on another connection
 */
void xprt2_uncount_call(struct xprt2_req *req)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(req->rq2_slot.rq_xprt);

	if (likely(!req->rq2_call_of))
		return;
	guard(spinlock)(&xp->xp_req_lock);
	if (req->rq2_call_of == xp->xp_serial)
		xp->xp_calls--;
	req->rq2_call_of = 0;
}

/*
 * It is in the pool before a waiter is looked for, and a task that is about to wait looks
 * into the pool again, xprt2_alloc_slot(): whichever takes xp_req_lock second sees what
 * the other one did. One that is taken out for a waiter that has gone goes back.
 */
static void xprt2_req_push(struct xprt2_xprt *xp, struct xprt2_req *req)
{
	struct xprt2_pool *pool = req->rq2_home;
	struct rpc_xprt *xprt = &xp->xp_xprt;

	do {
		spin_lock(&xp->xp_req_lock);
		list_add(&req->rq2_pool, &pool->pl_free);
		spin_unlock(&xp->xp_req_lock);
		if (likely(!READ_ONCE(xprt->backlog.qlen)) ||
		    pool != &xp->xp_forward)
			return;
		req = pop_req(xp, pool, true);
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
	bool answers;

	/* X3, X2 */
	WARN_ON_ONCE(req->rq2_sends[0].se_post.po_wrs ||
		     req->rq2_sends[1].se_post.po_wrs ||
		     req->rq2_exposed.ex_fence.po_wrs);
	WARN_ON_ONCE(rpcrdma2_is_exposed(&req->rq2_exposed));

	xprt2_uncount_call(req);
	if (unlikely(req->rq2_release_chunked))
		req->rq2_release_chunked(req);
	req->rq2_inv_handle = 0;

	answers = req->rq2_answers;
	req->rq2_answers = false;
	req->rq2_waits = 0;
	memset(rqst, 0, sizeof(*rqst));
	xprt2_req_push(xp, req);
	if (answers)
		atomic_dec(&xp->xp_answers);
}

/**
 * xprt2_req_put - drop one of the references of X3
 * @req: request
 */
void xprt2_req_put(struct xprt2_req *req)
{
	kref_put(&req->rq2_kref, xprt2_req_release);
}

/**
 * xprt2_req_begin_post - a chain of a backward request is about to be posted
 * @req: request
 */
void xprt2_req_begin_post(struct xprt2_req *req)
{
	kref_get(&req->rq2_kref);
	atomic_inc(&req->rq2_posts);
}

/**
 * xprt2_req_end_post - it is done, or was not posted
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
 * xprt2_req_await_posts - wait until the device has read the pages of a Reply
 * @req: backward request, the task of which is about to end
 *
 * Its chains have a deadline.
 *
 * Context: task of the Reply; sleeps.
 */
void xprt2_req_await_posts(struct xprt2_req *req)
{
	if (req->rq2_slot.rq_snd_buf.page_len)
		wait_var_event(&req->rq2_posts, !atomic_read(&req->rq2_posts));
}

/* Caller holds xp_req_lock, or is the only user left. */
static void unmap_req_locked(struct xprt2_req *req)
{
	if (!req->rq2_device)
		return;
	ib_dma_unmap_single(req->rq2_device, req->rq2_dma, req->rq2_sendsize,
			    DMA_TO_DEVICE);
	req->rq2_device = NULL;
}

/* Naturally aligned, of a power of two; a buffer once grown stays. */
static int grow(struct xprt2_req *req, void **buf, size_t *size, size_t want,
		gfp_t gfp)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(req->rq2_slot.rq_xprt);
	void *old = *buf, *new;

	if (*size >= want)
		return 0;
	want = roundup_pow_of_two(want);
	new = kmalloc(want, gfp);
	if (!new)
		return -ENOMEM;

	spin_lock(&xp->xp_req_lock);
	unmap_req_locked(req);
	*buf = new;
	*size = want;
	spin_unlock(&xp->xp_req_lock);
	if (old)
		xp->xp_stats.st_hardway += want;
	kfree(old);
	return 0;
}

/**
 * xprt2_req_buffers - give an RPC the memory its messages are built in
 * @req: request; rq_callsize and rq_rcvsize say how much it needs
 * @gfp: allocation flags
 *
 * A slot soon fits whatever runs through it.
 *
 * Return: 0, or -ENOMEM.
 */
int xprt2_req_buffers(struct xprt2_req *req, gfp_t gfp)
{
	struct rpc_rqst *rqst = &req->rq2_slot;
	size_t call = XPRT2_HEADROOM + rqst->rq_callsize;

	if (grow(req, &req->rq2_sendbuf, &req->rq2_sendsize,
		 max_t(size_t, call, XPRT2_SENDBUF_SIZE), gfp))
		return -ENOMEM;
	/* What is no forward Call has no Reply. */
	if (rqst->rq_rcvsize &&
	    grow(req, &req->rq2_recvbuf, &req->rq2_recvsize,
		 max_t(size_t, rqst->rq_rcvsize, XPRT2_RECVBUF_SIZE), gfp))
		return -ENOMEM;

	/* Without it the device gathers the payload. */
	if (unlikely(req->rq2_pullup_size > req->rq2_sendsize))
		grow(req, &req->rq2_sendbuf, &req->rq2_sendsize,
		     req->rq2_pullup_size, GFP_NOWAIT | __GFP_NOWARN);

	rqst->rq_buffer = req->rq2_sendbuf + XPRT2_HEADROOM;
	/* What is no forward Call has no credential. */
	if (rqst->rq_cred && xprt2_touches_data(rqst)) {
		if (grow(req, &req->rq2_plainbuf, &req->rq2_plainsize,
			 rqst->rq_callsize, gfp))
			return -ENOMEM;
		rqst->rq_buffer = req->rq2_plainbuf;	/* X8 */
	}
	rqst->rq_rbuffer = req->rq2_recvbuf;
	return 0;
}

/**
 * xprt2_req_map - make the Send buffer ready for the endpoint's device
 * @ep: endpoint
 * @req: request
 *
 * Context: send path.
 * Return: 0, or -ENOBUFS when the device can not map it now.
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

static void init_pool(struct xprt2_pool *pool, unsigned int max)
{
	INIT_LIST_HEAD(&pool->pl_free);
	pool->pl_max = max;
}

/**
 * xprt2_reqs_create - put the first requests into the pool
 * @xp: transport under construction
 *
 * Enough that a mount makes progress however short memory is later: those of
 * unsignaled Sends, which come back only when more is sent, and a few.
 *
 * Return: 0, or -ENOMEM.
 */
int xprt2_reqs_create(struct xprt2_xprt *xp)
{
	struct xprt2_req *req;
	int i;

	/* A Send not yet known to be complete keeps its request. */
	init_pool(&xp->xp_forward, xp->xp_xprt.max_reqs + XPRT2_SEND_BATCH);
	init_pool(&xp->xp_backward,
		  xprt2_backward_reqs(xp->xp_backward_wanted));
	for (i = 0; i < XPRT2_SLOTS_MIN + XPRT2_SEND_BATCH; i++) {
		req = create_req(xp, &xp->xp_forward, GFP_KERNEL);
		if (!req)
			return -ENOMEM;
		list_add(&req->rq2_pool, &xp->xp_forward.pl_free);
	}
	return 0;
}

/**
 * xprt2_reqs_wake - the connection is lost: dead RPCs need not wait any more
 * @xp: transport
 * @detach: its endpoint was drained: part all requests from that and its device
 *
 * Context: any that a connection may be lost in.
 */
void xprt2_reqs_wake(struct xprt2_xprt *xp, bool detach)
{
	struct xprt2_req *req;

	spin_lock(&xp->xp_req_lock);
	list_for_each_entry(req, &xp->xp_all_reqs, rq2_all) {
		if (detach) {
			WRITE_ONCE(req->rq2_ep, NULL);	/* X6, X7 */
			unmap_req_locked(req);
		}
		if (READ_ONCE(req->rq2_dead))
			complete(&req->rq2_event);
	}
	spin_unlock(&xp->xp_req_lock);
}

/**
 * xprt2_reqs_destroy - free the pool
 * @xp: transport with no users and no endpoint left
 *
 * X4: each request is back, and no Call of the server counts.
 */
void xprt2_reqs_destroy(struct xprt2_xprt *xp)
{
	struct xprt2_req *req, *next;

	WARN_ON_ONCE(!xprt2_pool_is_whole(&xp->xp_forward) ||
		     !xprt2_pool_is_whole(&xp->xp_backward));
	WARN_ON_ONCE(xp->xp_calls || atomic_read(&xp->xp_answers));
	list_for_each_entry_safe(req, next, &xp->xp_all_reqs, rq2_all) {
		WARN_ON_ONCE(req->rq2_device);		/* X5 */
		kfree(req->rq2_sendbuf);
		kfree(req->rq2_plainbuf);
		kfree(req->rq2_recvbuf);
		kfree(req);
	}
}

/**
 * xprt2_drop_reply - the request no longer points into a Receive buffer
 * @req: request that is freed, or about to be sent (again)
 *
 * No handler works on a Reply to it: either its RPC is over, or the
 * connection that its last Reply came from was drained.
 */
void xprt2_drop_reply(struct xprt2_req *req)
{
	if (req->rq2_reply)
		rpcrdma2_recv_put(&req->rq2_reply->rep_recv);
	req->rq2_reply = NULL;
}
