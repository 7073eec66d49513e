// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of a transport: their pool and buffers, and the end of their RPCs.
 */
#include "xprtrdma2.h"

#include <linux/slab.h>

#include <rpcrdma2/fault.h>
#include <rpcrdma2/offer.h>

#include "trace.h"

/*
 * Requests: a bounded pool for each direction, which lives as long as the
 * transport does (X4).
 *
 * It grows on demand and hands out what was used last, so that an idle mount
 * keeps little memory and a busy one a warm cache. Its memory survives a lost
 * connection; only its DMA mappings follow the device, made on first use and
 * undone by xprt2_reqs_wake() at teardown.
 */

static struct xprt2_req *xprt2_req_create(struct xprt2_xprt *xp,
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

static struct xprt2_req *xprt2_req_pop(struct xprt2_xprt *xp,
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

	req = xprt2_req_pop(xp, pool, last);
	if (!req && READ_ONCE(pool->pl_count) < pool->pl_max)
		req = xprt2_req_create(xp, pool, gfp);
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
static void xprt2_req_unmap_locked(struct xprt2_req *req)
{
	if (!req->rq2_device)
		return;
	ib_dma_unmap_single(req->rq2_device, req->rq2_dma, req->rq2_sendsize,
			    DMA_TO_DEVICE);
	req->rq2_device = NULL;
}

/* Naturally aligned, of a power of two; a buffer once grown stays. */
static int xprt2_req_grow(struct xprt2_req *req, void **buf, size_t *size,
			  size_t want, gfp_t gfp)
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
	xprt2_req_unmap_locked(req);
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

	if (xprt2_req_grow(req, &req->rq2_sendbuf, &req->rq2_sendsize,
			   max_t(size_t, call, XPRT2_SENDBUF_SIZE), gfp))
		return -ENOMEM;
	/* What is no forward Call has no Reply. */
	if (rqst->rq_rcvsize &&
	    xprt2_req_grow(req, &req->rq2_recvbuf, &req->rq2_recvsize,
			   max_t(size_t, rqst->rq_rcvsize, XPRT2_RECVBUF_SIZE),
			   gfp))
		return -ENOMEM;

	/* Without it the device gathers the payload. */
	if (unlikely(req->rq2_pullup_size > req->rq2_sendsize))
		xprt2_req_grow(req, &req->rq2_sendbuf, &req->rq2_sendsize,
			       req->rq2_pullup_size, GFP_NOWAIT | __GFP_NOWARN);

	rqst->rq_buffer = req->rq2_sendbuf + XPRT2_HEADROOM;
	/* What is no forward Call has no credential. */
	if (rqst->rq_cred && xprt2_touches_data(rqst)) {
		if (xprt2_req_grow(req, &req->rq2_plainbuf, &req->rq2_plainsize,
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

static void xprt2_pool_create(struct xprt2_pool *pool, unsigned int max)
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
	xprt2_pool_create(&xp->xp_forward, xp->xp_xprt.max_reqs + XPRT2_SEND_BATCH);
	xprt2_pool_create(&xp->xp_backward,
			  xprt2_backward_reqs(xp->xp_backward_wanted));
	for (i = 0; i < XPRT2_SLOTS_MIN + XPRT2_SEND_BATCH; i++) {
		req = xprt2_req_create(xp, &xp->xp_forward, GFP_KERNEL);
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
			xprt2_req_unmap_locked(req);
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

/*
 * The end of an RPC: the Reply goes where the upper layer expects it, or an
 * error takes its place, and the task is woken.
 *
 * An RPC completes only after every region it registered was fenced, and the
 * device has read the pages of its Send (X2). Until then the request is pinned
 * and owns the Receive buffer through rq2_reply.
 */

/*
 * Where a Reply has its head, which may be given to ciphers: they need one stretch
 * of the linear mapping. That is the page of the Receive in which the Reply begins,
 * and else a copy in the request's own buffer.
 *
 * Return: octets that are in place with that.
 */
static size_t xprt2_reply_place_head(struct rpc_rqst *rqst,
				     const struct xprt2_rep *rep)
{
	struct kvec *head = &rqst->rq_rcv_buf.head[0];
	size_t placed = 0;

	if (rep->rep_at + head->iov_len <= PAGE_SIZE) {
		head->iov_base = page_address(rep->rep_recv.rv_pages[0]) +
				 rep->rep_at;
		placed = head->iov_len;
	} else {
		head->iov_base = rqst->rq_rbuffer;
	}
	rqst->rq_private_buf.head[0].iov_base = head->iov_base;
	return placed;
}

/* Octets behind the head that there is memory for: see xprt2_marshal_fill_sparse_pages() */
static size_t xprt2_reply_room_behind_head(const struct xdr_buf *buf)
{
	size_t at = buf->page_base, end = at + buf->page_len;

	if (unlikely(buf->flags & XDRBUF_SPARSE_PAGES))
		for (; at < end; at = round_down(at, PAGE_SIZE) + PAGE_SIZE)
			if (!buf->pages[at >> PAGE_SHIFT])
				return at - buf->page_base;
	return buf->page_len + buf->tail[0].iov_len;
}

/* Copy @len octets of a Receive, from @at on, behind the first @to of a buffer. */
static void xprt2_reply_copy(const struct xdr_buf *buf, size_t to,
			     const struct rpcrdma2_recv *rv, u32 at, size_t len)
{
	xprt2_count_add(fixup_bytes, len);
	rpcrdma2_recv_copy(rv, at, len, buf, to);
}

/*
 * Put an inline Reply where rq_rcv_buf expects it. The head points into the
 * Receive where it can, which stays with the request (X1), and is no longer than
 * what came there. What belongs in pages and tail is copied, once: the RPC layer
 * moves data between them, and counts on all the room it gave them. What has no room
 * there is dropped.
 *
 * When a Write chunk brought the payload, what follows it inline begins right
 * behind the head (E-07), and goes behind the payload and its XDR pad.
 */
static u32 xprt2_reply_place_inline(struct rpc_rqst *rqst,
				    const struct xprt2_rep *rep)
{
	struct xdr_buf *buf = &rqst->rq_rcv_buf;
	size_t head, written = xdr_align_size(rep->rep_written);
	size_t placed, to, end, left = rep->rep_paylen;

	rpcrdma2_trim_reply(rqst, left);
	head = buf->head[0].iov_len;
	placed = xprt2_reply_place_head(rqst, rep);
	xprt2_reply_copy(buf, placed, &rep->rep_recv, rep->rep_at + placed,
			 head - placed);

	end = head + xprt2_reply_room_behind_head(buf);
	to = min(head + written, end);
	xprt2_reply_copy(buf, to, &rep->rep_recv, rep->rep_at + head,
			 min(left - head, end - to));
	return min(left + written, end);
}

/* A Reply chunk was registered over rq_rcv_buf itself: all is in place. */
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
 * An error may end its RPC when no region is live (X2). When regions could not
 * be fenced it has to wait until the connection is gone.
 */
static int xprt2_req_error_locked(const struct xprt2_req *req)
{
	return rpcrdma2_is_exposed(&req->rq2_exposed) ? 0 : req->rq2_status;
}

/*
 * The RPC layer forgets what the status of a task was when it puts it to sleep
 * after it has sent, or finds that another task has sent for it. So the RPC
 * keeps waiting, as far as the books go, and the error stays with it: whenever
 * its task comes back to wait, or to send again, it finds it there.
 *
 * With -EAGAIN the task encodes its Call again, if the cookie is not that of the
 * connection, and sends it. The cookie belongs to the task that sends as long as
 * the Call is queued; then the task of the RPC has yet to come back to wait.
 */
static void xprt2_req_wake_with(struct rpc_task *task, int status)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpc_xprt *xprt = rqst->rq_xprt;

	if (status == -EAGAIN &&
	    !test_bit(RPC_TASK_NEED_XMIT, &task->tk_runstate))
		rqst->rq_connect_cookie = xprt->connect_cookie - 1;
	task->tk_status = status;
	rpc_wake_up_queued_task(&xprt->pending, task);
}

static void xprt2_reply_end_rpc(struct xprt2_rep *rep, int copied)
{
	struct rpc_rqst *rqst = rep->rep_rqst;
	struct rpc_xprt *xprt = rqst->rq_xprt;

	spin_lock(&xprt->queue_lock);
	rep->rep_rqst = NULL;
	if (!rep->rep_status) {
		xprt_complete_rqst(rqst->rq_task, copied);
	} else {
		xprt->stat.recvs++;
		WRITE_ONCE(xprt2_rqst_to_req(rqst)->rq2_status,
			   rep->rep_status);
		xprt2_req_wake_with(rqst->rq_task, rep->rep_status);
	}
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/**
 * xprt2_wait_for_reply - put a task to sleep until its RPC is answered
 * @task: whose Call was sent
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
 * xprt2_end_unsent - end an RPC whose Call can not be sent
 * @req: request
 *
 * Its task may be another one than the one that sends. The caller reports it as
 * sent; its task then waits for a Reply, and xprt2_wait_for_reply() ends it.
 *
 * Context: send path.
 */
void xprt2_end_unsent(struct xprt2_req *req)
{
	struct rpc_xprt *xprt = req->rq2_slot.rq_xprt;

	xprt2_count(calls_unsendable);
	spin_lock(&xprt->queue_lock);
	WRITE_ONCE(req->rq2_status, -EIO);
	spin_unlock(&xprt->queue_lock);
}

/**
 * xprt2_has_error - did an error end an RPC that is to be sent (again)?
 * @req: request
 *
 * An error that comes after the look outside the lock came after the Call.
 *
 * Context: send path.
 * Return: true when there is nothing to be sent; xprt2_wait_for_reply() ends
 * it.
 */
bool xprt2_has_error(const struct xprt2_req *req)
{
	struct rpc_xprt *xprt = req->rq2_slot.rq_xprt;
	int status;

	if (likely(!READ_ONCE(req->rq2_status)))
		return false;
	spin_lock(&xprt->queue_lock);
	status = xprt2_req_error_locked(req);
	spin_unlock(&xprt->queue_lock);
	return status;
}

/**
 * xprt2_begin_again - an RPC is about to wait for a Reply (again)
 * @req: request, on no queue and not pinned
 *
 * Where an error is the reason it is as if it had never been sent, but that this
 * happens once on a connection (S45). It asks for a credit when its turn comes, since the server
 * may grant less now.
 *
 * Context: task of the RPC.
 */
void xprt2_begin_again(struct xprt2_req *req)
{
	struct rpc_rqst *rqst = &req->rq2_slot;

	if (likely(req->rq2_status != -EAGAIN))
		return;
	xprt2_drop_reply(req);
	WRITE_ONCE(req->rq2_status, 0);
	spin_lock(&rqst->rq_xprt->transport_lock);
	xprt_release_rqst_cong(rqst->rq_task);
	spin_unlock(&rqst->rq_xprt->transport_lock);
}

/*
 * An RDMA2_ERROR that comes this far, and a Reply that breaks the protocol, ends
 * the RPC, mostly with EIO; or the RPC is sent again in the form that the error
 * asks for.
 */
static void xprt2_reply_complete(struct xprt2_rep *rep)
{
	struct rpc_rqst *rqst = rep->rep_rqst;
	struct xprt2_stats *st = &rep->rep_ep->ep_xp->xp_stats;
	int copied = 0;

	/* X2 */
	WARN_ON_ONCE(rpcrdma2_is_exposed(&xprt2_rqst_to_req(rqst)->rq2_exposed));

	if (rep->rep_status == -EAGAIN) {
		xprt2_rqst_to_req(rqst)->rq2_refused = rep->rep_ep->ep_serial;
		xprt2_count(calls_again);
	} else if (rep->rep_status) {
		st->st_bad_replies++;
		xprt2_count(replies_bad);
	} else if (rep->rep_proc == RDMA2_MSG) {
		copied = xprt2_reply_place_inline(rqst, rep);
	} else {
		copied = xprt2_reply_place_chunk(rqst, rep);
	}
	st->st_reply_bytes += rep->rep_written + rep->rep_replylen;
	xprt2_count_add(write_chunk_bytes, rep->rep_written);
	trace_xprt2_complete(rep->rep_ep, be32_to_cpu(rqst->rq_xid), copied);
	xprt2_reply_end_rpc(rep, copied);
}

/**
 * xprt2_release_reply - one of the two things a Reply waits for has happened
 * @req: request; its regions are fenced, or its Send was the one that had
 *	pages mapped and is done
 *
 * Whichever comes second completes the RPC (X2).
 *
 * Context: receive CQ, send CQ, or teardown.
 */
void xprt2_release_reply(struct xprt2_req *req)
{
	if (atomic_dec_and_test(&req->rq2_holds))
		xprt2_reply_complete(req->rq2_reply);
}

/**
 * xprt2_abandon_reply - let go of an RPC whose regions could not be fenced
 * @rep: its Reply, which is not used
 *
 * The connection is lost. The RPC is sent again on the next one, or ends there
 * if this was an error that ends it.
 *
 * Context: receive CQ, send CQ, or what drains the Send Queue; @rep's request is
 * pinned, and unpinned on return.
 */
void xprt2_abandon_reply(struct xprt2_rep *rep)
{
	struct rpc_rqst *rqst = rep->rep_rqst;
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);
	struct xprt2_xprt *xp = rep->rep_ep->ep_xp;

	spin_lock(&xp->xp_xprt.queue_lock);
	if (rep->rep_status != -EAGAIN)
		WRITE_ONCE(req->rq2_status, rep->rep_status);
	req->rq2_reply = NULL;
	rep->rep_rqst = NULL;
	xprt_unpin_rqst(rqst);
	spin_unlock(&xp->xp_xprt.queue_lock);
	rpcrdma2_recv_put(&rep->rep_recv);
}
