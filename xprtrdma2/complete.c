// SPDX-License-Identifier: GPL-2.0
/*
 * The end of an RPC: the Reply goes where the upper layer expects it, or an
 * error takes its place, and the task is woken.
 *
 * An RPC completes only after every region it registered was fenced, and the
 * device has read the pages of its Send (X2). Until then the request is pinned
 * and owns the Receive buffer through rq2_reply.
 */
#include "xprtrdma2.h"

#include <rpcrdma2/offer.h>

#include "trace.h"

/*
 * Where a Reply has its head, which may be given to ciphers: they need one stretch
 * of the linear mapping. That is the page of the Receive in which the Reply begins,
 * and else a copy in the request's own buffer.
 *
 * Return: octets that are in place with that.
 */
static size_t place_head(struct rpc_rqst *rqst, const struct xprt2_rep *rep)
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

/* Octets behind the head that there is memory for: see fill_sparse_pages() */
static size_t room_behind_head(const struct xdr_buf *buf)
{
	size_t at = buf->page_base, end = at + buf->page_len;

	if (unlikely(buf->flags & XDRBUF_SPARSE_PAGES))
		for (; at < end; at = round_down(at, PAGE_SIZE) + PAGE_SIZE)
			if (!buf->pages[at >> PAGE_SHIFT])
				return at - buf->page_base;
	return buf->page_len + buf->tail[0].iov_len;
}

/* Copy @len octets of a Receive, from @at on, behind the first @to of a buffer. */
static void copy_received(const struct xdr_buf *buf, size_t to,
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
static u32 place_inline(struct rpc_rqst *rqst, const struct xprt2_rep *rep)
{
	struct xdr_buf *buf = &rqst->rq_rcv_buf;
	size_t head, written = xdr_align_size(rep->rep_written);
	size_t placed, to, end, left = rep->rep_paylen;

	rpcrdma2_trim_reply(rqst, left);
	head = buf->head[0].iov_len;
	placed = place_head(rqst, rep);
	copy_received(buf, placed, &rep->rep_recv, rep->rep_at + placed,
		      head - placed);

	end = head + room_behind_head(buf);
	to = min(head + written, end);
	copy_received(buf, to, &rep->rep_recv, rep->rep_at + head,
		      min(left - head, end - to));
	return min(left + written, end);
}

/* A Reply chunk was registered over rq_rcv_buf itself: all is in place. */
static u32 place_chunk(struct rpc_rqst *rqst, const struct xprt2_rep *rep)
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
static int error_locked(const struct xprt2_req *req)
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
static void wake_with(struct rpc_task *task, int status)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpc_xprt *xprt = rqst->rq_xprt;

	if (status == -EAGAIN &&
	    !test_bit(RPC_TASK_NEED_XMIT, &task->tk_runstate))
		rqst->rq_connect_cookie = xprt->connect_cookie - 1;
	task->tk_status = status;
	rpc_wake_up_queued_task(&xprt->pending, task);
}

static void end_rpc(struct xprt2_rep *rep, int copied)
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
		wake_with(rqst->rq_task, rep->rep_status);
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
	int status = error_locked(xprt2_rqst_to_req(task->tk_rqstp));

	xprt_wait_for_reply_request_def(task);
	if (status)
		wake_with(task, status);
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
	status = error_locked(req);
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
static void complete_reply(struct xprt2_rep *rep)
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
		copied = place_inline(rqst, rep);
	} else {
		copied = place_chunk(rqst, rep);
	}
	st->st_reply_bytes += rep->rep_written + rep->rep_replylen;
	xprt2_count_add(write_chunk_bytes, rep->rep_written);
	trace_xprt2_complete(rep->rep_ep, be32_to_cpu(rqst->rq_xid), copied);
	end_rpc(rep, copied);
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
		complete_reply(req->rq2_reply);
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
