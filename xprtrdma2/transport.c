// SPDX-License-Identifier: GPL-2.0
/* Operations for the RPC layer. Their table, at the end, is in order of use. */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <linux/sunrpc/addr.h>

#include "xprtrdma2.h"
#include "trace.h"

/* 60 seconds, without retransmission on the same connection */
static const struct rpc_timeout xprt2_default_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static const struct rpc_xprt_ops xprt2_ops;

/* @new comes from kasprintf() and may be NULL. */
static int xprt2_set_string(struct rpc_xprt *xprt,
			    enum rpc_display_format_t which, const char *new)
{
	swap(xprt->address_strings[which], new);
	kfree(new);
	return xprt->address_strings[which] ? 0 : -ENOMEM;
}

static int xprt2_set_port_strings(struct rpc_xprt *xprt, unsigned short port)
{
	return xprt2_set_string(xprt, RPC_DISPLAY_PORT,
				kasprintf(GFP_KERNEL, "%u", port)) ?:
	       xprt2_set_string(xprt, RPC_DISPLAY_HEX_PORT,
				kasprintf(GFP_KERNEL, "%4hx", port));
}

static int xprt2_set_address_strings(struct rpc_xprt *xprt)
{
	struct sockaddr *sap = (struct sockaddr *)&xprt->addr;
	bool v6 = sap->sa_family == AF_INET6;
	const void *bytes = v6 ?
		(void *)&((struct sockaddr_in6 *)sap)->sin6_addr :
		(void *)&((struct sockaddr_in *)sap)->sin_addr;
	char text[INET6_ADDRSTRLEN + 1 + IPV6_SCOPE_ID_LEN];

	if (!v6 && sap->sa_family != AF_INET)
		return -EAFNOSUPPORT;
	/* With the scope of a link-local address: /proc/mounts shows it. */
	rpc_ntop(sap, text, sizeof(text));
	return xprt2_set_string(xprt, RPC_DISPLAY_ADDR,
				kstrdup(text, GFP_KERNEL)) ?:
	       xprt2_set_string(xprt, RPC_DISPLAY_HEX_ADDR,
				kasprintf(GFP_KERNEL, "%*phN", v6 ? 16 : 4, bytes)) ?:
	       xprt2_set_string(xprt, RPC_DISPLAY_NETID,
				kstrdup(xprt2_netid(v6), GFP_KERNEL)) ?:
	       xprt2_set_string(xprt, RPC_DISPLAY_PROTO,
				kstrdup("rdma", GFP_KERNEL)) ?:
	       xprt2_set_port_strings(xprt, rpc_get_port(sap));
}

/*
 * All transports that have begun to connect: a module parameter applies to each,
 * and /proc shows each.
 */
static DEFINE_MUTEX(xprt2_transports_lock);	/* guards the list */
static LIST_HEAD(xprt2_transports);

static void xprt2_free(struct xprt2_xprt *xp)
{
	unsigned int i;

	scoped_guard(mutex, &xprt2_transports_lock)
		list_del_init(&xp->xp_listed);
	/* All credits are back, but those of RPCs without a Reply. */
	WARN_ON_ONCE(xp->xp_xprt.cong != xp->xp_kept * RPC_CWNDSCALE);
	xprt2_reqs_destroy(xp);
	rpcrdma2_rpool_destroy(&xp->xp_rpool);
	for (i = 0; i < RPC_DISPLAY_MAX; i++)
		kfree(xp->xp_xprt.address_strings[i]);
	xprt_free(&xp->xp_xprt);
	module_put(THIS_MODULE);
}

/*
 * Lists a transport at its first connect. Not earlier: when the RPC layer cannot
 * complete a transport, it destroys it, whoever has a reference.
 */
static void xprt2_list_transport(struct xprt2_xprt *xp)
{
	if (!list_empty(&xp->xp_listed))
		return;
	guard(mutex)(&xprt2_transports_lock);
	list_add_tail(&xp->xp_listed, &xprt2_transports);
}

static void xprt2_put_work(struct work_struct *work)
{
	xprt_put(&container_of(work, struct xprt2_xprt, xp_put_work)->xp_xprt);
}

/*
 * With the last reference xprt_put() waits for XPRT_LOCKED, which a connect may
 * hold for a minute and more. Work waits instead of the reader.
 */
static void xprt2_put(struct xprt2_xprt *xp)
{
	if (!refcount_dec_not_one(&xp->xp_xprt.kref.refcount))
		schedule_work(&xp->xp_put_work);
}

/**
 * xprt2_next_transport - walk the list of transports
 * @xp: the last result, whose reference is dropped; or NULL at the beginning
 *
 * The list is not locked between two calls.
 *
 * Context: sleeps.
 * Return: the next transport, which is referenced and stays on the list until
 * the next call; or NULL at the end.
 */
struct xprt2_xprt *xprt2_next_transport(struct xprt2_xprt *xp)
{
	struct list_head *pos = xp ? &xp->xp_listed : &xprt2_transports;
	struct xprt2_xprt *next = NULL;

	scoped_guard(mutex, &xprt2_transports_lock) {
		while ((pos = pos->next) != &xprt2_transports) {
			next = list_entry(pos, struct xprt2_xprt, xp_listed);
			if (xprt_get(&next->xp_xprt))
				break;
			next = NULL;
		}
	}
	if (xp)
		xprt2_put(xp);
	return next;
}

static void xprt2_connect_worker(struct work_struct *work)
{
	struct xprt2_xprt *xp = container_of(work, struct xprt2_xprt,
					     xp_connect_work.work);
	struct rpc_xprt *xprt = &xp->xp_xprt;
	unsigned int flags = rpcrdma2_reclaim_begin(xprt2_swaps(xp));
	int ret;

	xprt2_list_transport(xp);
	xprt2_ep_disconnect(xp);
	xp->xp_tried = jiffies;
	ret = xprt2_ep_connect(xp);
	/*
	 * Also after a failure: a task that waited has the RPC layer close the
	 * connection of the cookie that it has read, which must not be the next
	 * one.
	 */
	xprt->connect_cookie++;
	xprt_clear_connecting(xprt);
	if (!ret) {
		xprt->stat.connect_count++;
		xprt->stat.connect_time += (long)jiffies -
					   xprt->stat.connect_start;
		xprt_set_connected(xprt);
		if (xp->xp_idle_timeout)
			mod_delayed_work(xprt2_wq, &xp->xp_idle_work,
					 xp->xp_idle_timeout);
		ret = -EAGAIN;
	}
	/*
	 * Wake tasks while none can send: otherwise a task that waits for its
	 * Reply would be woken to send again.
	 */
	xprt_wake_pending_tasks(xprt, ret);
	xprt_unlock_connect(xprt, xp);
	rpcrdma2_reclaim_end(flags);
}

/*
 * Close a connection that had no RPC for xp_idle_timeout. The RPC layer's own
 * timer is off, because each RPC would stop it and start it again; without it
 * the RPC layer still sets last_used at the end of each RPC. While an RPC is in
 * flight, xprt->cong exceeds the kept credits. Only the RPC layer's work, which
 * closes the connection, wakes a task that waits for XPRT_LOCKED to destroy the
 * transport.
 */
static void xprt2_idle_worker(struct work_struct *work)
{
	struct xprt2_xprt *xp = container_of(work, struct xprt2_xprt,
					     xp_idle_work.work);
	struct rpc_xprt *xprt = &xp->xp_xprt;
	unsigned long wait = xp->xp_idle_timeout, idle = 0;

	if (!xprt_connected(xprt))
		return;
	guard(spinlock)(&xprt->transport_lock);
	if (xprt->cong == xp->xp_kept * RPC_CWNDSCALE)
		idle = jiffies - xprt->last_used;
	if (idle < wait) {
		wait -= idle;
	} else if (!test_and_set_bit(XPRT_LOCKED, &xprt->state)) {
		queue_work(xprtiod_workqueue, &xprt->task_cleanup);
		return;
	}
	queue_delayed_work(xprt2_wq, &xp->xp_idle_work, wait);
}

static void xprt2_init_xprt(struct rpc_xprt *xprt, const struct xprt_create *args)
{
	xprt->ops = &xprt2_ops;
	xprt->xprt_class = &xprt2_class;
	/* side protocols that use the address expect TCP */
	xprt->prot = IPPROTO_TCP;
	xprt->addrlen = args->addrlen;
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	if (rpc_get_port(args->dstaddr))
		xprt_set_bound(xprt);

	xprt->timeout = &xprt2_default_timeout;
	xprt->connect_timeout = xprt2_default_timeout.to_initval;
	xprt->max_reconnect_timeout = xprt2_default_timeout.to_maxval;
	xprt->bind_timeout = XPRT2_BIND_TIMEOUT;
	xprt->reestablish_timeout = 0;
	xprt->max_payload = XPRT2_MAX_PAYLOAD;
}

static void xprt2_init_receives(struct xprt2_xprt *xp)
{
	struct rpcrdma2_rpool *rp = &xp->xp_rpool;

	rpcrdma2_rpool_init(rp);
	/*
	 * The size is set for each connection. A Receive has single pages: the
	 * receive CQ, which may not sleep, allocates them too.
	 */
	rp->rp_size = PAGE_SIZE;
	rp->rp_before = offsetof(struct xprt2_rep, rep_recv);
	rp->rp_cache = xprt2_rep_cache;
	/* posted, or held by a request while its message is read */
	rp->rp_max = 2 * rpcrdma2_receives_needed(xp->xp_xprt.max_reqs +
						  XPRT2_SEND_BATCH,
						  xp->xp_backward_target);
}

static struct rpc_xprt *xprt2_setup(struct xprt_create *args)
{
	struct xprt2_xprt *xp;
	struct rpc_xprt *xprt;
	int ret;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-EIO);

	xprt = xprt_alloc(args->net, sizeof(struct xprt2_xprt), 0,
			  rpcrdma2_param(&xprt2_param_slots));
	if (!xprt) {
		module_put(THIS_MODULE);
		return ERR_PTR(-ENOMEM);
	}
	xprt2_init_xprt(xprt, args);

	xp = xprt2_from_xprt(xprt);
	INIT_DELAYED_WORK(&xp->xp_connect_work, xprt2_connect_worker);
	INIT_DELAYED_WORK(&xp->xp_idle_work, xprt2_idle_worker);
	if (!(args->flags & XPRT_CREATE_NO_IDLE_TIMEOUT))
		xp->xp_idle_timeout = XPRT2_IDLE_TIMEOUT;
	mutex_init(&xp->xp_fence_mutex);
	spin_lock_init(&xp->xp_req_lock);
	INIT_LIST_HEAD(&xp->xp_all_reqs);
	xp->xp_backward_target = rpcrdma2_param(&xprt2_param_backward_credits);
	xp->xp_backward_credits = xp->xp_backward_target;
	xprt2_init_receives(xp);
	INIT_LIST_HEAD(&xp->xp_listed);
	INIT_WORK(&xp->xp_put_work, xprt2_put_work);

	/* with a request for an error, however short memory is later */
	ret = xprt2_set_address_strings(xprt) ?: xprt2_reqs_create(xp) ?:
	      xprt2_reqs_reserve(xp, &xp->xp_backward, 1, GFP_KERNEL);
	if (ret) {
		xprt2_free(xp);
		return ERR_PTR(ret);
	}
	return xprt;
}

static void xprt2_alloc_slot(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);
	struct xprt2_req *req;

	req = xprt2_req_get(xp, &xp->xp_forward, true, rpc_task_gfp_mask());
	if (req) {
		task->tk_rqstp = &req->rq2_slot;
		task->tk_status = 0;
		return;
	}

	task->tk_status = -EAGAIN;
	xprt_add_backlog_noncongested(xprt, task);
	/*
	 * A request freed before the task was on the backlog woke no task. The
	 * barrier pairs with the one in xprt2_req_push().
	 */
	smp_mb();
	req = xprt2_req_get(xp, &xp->xp_forward, true,
			    GFP_NOWAIT | __GFP_NOWARN);
	if (req) {
		req->rq2_slot.rq_xprt = xprt;
		xprt2_req_put(req);
	}
}

static void xprt2_free_slot(struct rpc_xprt *xprt, struct rpc_rqst *rqst)
{
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);

	xprt2_put_rep(req);
	req->rq2_status = 0;
	req->rq2_refused = 0;
	req->rq2_versions = 0;
	req->rq2_reply_needed = 0;
	xprt2_req_put(req);
}

static void xprt2_set_port(struct rpc_xprt *xprt, unsigned short port)
{
	rpc_set_port((struct sockaddr *)&xprt->addr, port);
	xprt2_set_port_strings(xprt, port);
}

/* The back-off counts from the beginning of the last attempt, not from now. */
static void xprt2_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);
	unsigned long delay;

	WARN_ON_ONCE(!xprt_lock_connect(xprt, task, xp));

	delay = xprt2_connect_delay(xp->xp_past, xprt->reestablish_timeout,
				    jiffies - xp->xp_tried, get_random_u32());
	if (xp->xp_past == XPRT2_PAST_FAILED)
		xprt_reconnect_backoff(xprt, XPRT2_REEST_TIMEOUT);
	queue_delayed_work(xprt2_wq, &xp->xp_connect_work, delay);
}

static int xprt2_buf_alloc(struct rpc_task *task)
{
	return xprt2_req_buffers(xprt2_rqst_to_req(task->tk_rqstp),
				 rpc_task_gfp_mask());
}

static void xprt2_buf_free(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);
	struct rpc_xprt *xprt = rqst->rq_xprt;

	/* An error of this end may have ended a refused RPC. */
	if (unlikely(rqst->rq_xmit_bytes_sent && !req->rq2_rep &&
		     !req->rq2_status))
		xprt2_count(aborted_rpcs);
	/* a backward Reply was not aborted: xprt2_bc_free_rqst() waits for it */
	if (unlikely(xprt2_holds_memory(req)) && !bc_prealloc(rqst))
		xprt2_revoke(req, true);
	xprt2_req_pass_recvbuf(req);
	if (unlikely(rqst->rq_cong)) {
		spin_lock(&xprt->transport_lock);
		if (!xprt2_keep_credit(req))
			xprt_release_rqst_cong(task);
		spin_unlock(&xprt->transport_lock);
	}
}

/*
 * An answered RPC starts over as if it had never been sent, once on a
 * connection (S45): after -EAGAIN, or when the RPC layer cannot use the Reply.
 * It requests a new credit: the server may grant fewer now. It has none from
 * before it is queued: in the queue, messages with a credit come first.
 */
static void xprt2_begin_again(struct xprt2_req *req)
{
	struct rpc_rqst *rqst = &req->rq2_slot;

	if (likely(!req->rq2_rep))
		return;
	if (req->rq2_status == -EAGAIN) {
		xprt2_put_rep(req);
		WRITE_ONCE(req->rq2_status, 0);
	}
	guard(spinlock)(&rqst->rq_xprt->transport_lock);
	xprt_release_rqst_cong(rqst->rq_task);
}

/*
 * The RPC layer is about to wait for a Reply, or to queue a message. A message
 * that comes before the Call is posted (again) is not its Reply (X6).
 *
 * A backward Reply needs no forward credit. rq_cong lets it overtake Calls that
 * wait for one, and perhaps for this Reply (B-04). The window does not count
 * that credit, so rq_cong is cleared before the RPC layer would return it.
 */
static int xprt2_prepare_request(struct rpc_rqst *rqst, struct xdr_buf *buf)
{
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);

	if (buf == &rqst->rq_rcv_buf) {
		WRITE_ONCE(req->rq2_ep, NULL);
		xprt2_begin_again(req);
		/* the pages of the last encrypted copy are free already (X2) */
		WARN_ON_ONCE(rqst->rq_release_snd_buf &&
			     xprt2_holds_memory(req));
	} else if (bc_prealloc(rqst)) {
		rqst->rq_cong = 1;
	}
	return 0;
}

/*
 * While the server processes an aborted RPC, the Call also holds a Receive of
 * the server, so its credit is kept (E-16). If memory of the RPC is still in
 * use, xprt2_buf_free() does that.
 */
static void xprt2_release_request(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);

	if (bc_prealloc(rqst))
		rqst->rq_cong = 0;
	else if (likely(req->rq2_rep) ||
		 (!xprt2_holds_memory(req) && !xprt2_keep_credit(req)))
		xprt_release_rqst_cong(task);
}

/* Keep the transport. Under XPRT_LOCKED: send path, or RPC layer's autoclose */
static void xprt2_close(struct rpc_xprt *xprt)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);
	unsigned int flags = rpcrdma2_reclaim_begin(xprt2_swaps(xp));

	xprt2_ep_disconnect(xp);
	rpcrdma2_reclaim_end(flags);
	xprt->connect_cookie++;
	xprt_disconnect_done(xprt);
}

/*
 * A Call is about to be sent a second time on its connection. The server may
 * still answer an unanswered one, with memory that no longer belongs to the
 * RPC, and a second copy would take a credit that was not granted. The RPC
 * layer encodes an answered Call again when it cannot use the Reply, for
 * example when a context of RPCSEC_GSS expires while the server decrypts the
 * Call. That Call starts over, once on a connection: xprt2_begin_again() has
 * released its credit.
 *
 * Under XPRT_LOCKED. Return: false when the connection has to end first.
 */
static bool xprt2_repeats(const struct xprt2_ep *ep, struct xprt2_req *req)
{
	if (!req->rq2_rep || req->rq2_resent)
		return false;
	req->rq2_refused = ep->ep_serial;
	req->rq2_slot.rq_connect_cookie--;
	return true;
}

static int xprt2_send_forward(struct rpc_rqst *rqst)
{
	struct xprt2_req *req = xprt2_rqst_to_req(rqst);
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprt2_ep *ep = xprt2_from_xprt(xprt)->xp_ep;
	int ret;

	if (!xprt_connected(xprt) || !ep || !xprt2_ep_is_ready(ep))
		return -ENOTCONN;
	/* An RPC that has ended counts as sent: see below. */
	if (xprt2_has_error(req))
		return 0;
	/* After an error the cookie differs: see xprt2_req_wake_with(). */
	if (unlikely(rqst->rq_connect_cookie == xprt->connect_cookie) &&
	    !xprt2_repeats(ep, req))
		return -ECONNABORTED;
	if (!xprt_request_get_cong(xprt, rqst)) {
		xprt2_count(credit_waits);
		return -EBADSLT;
	}

	req->rq2_resent = req->rq2_refused == ep->ep_serial;
	ret = xprt2_marshal_call(ep, req);
	if (ret == -EAGAIN || ret == -ENOBUFS)
		return ret;
	if (ret) {
		/*
		 * The Call counts as sent: this may be another task than that
		 * of the RPC, which xprt2_wait_for_reply() ends.
		 */
		xprt2_count(calls_unsendable);
		guard(spinlock)(&xprt->queue_lock);
		WRITE_ONCE(req->rq2_status, -EIO);
		return 0;
	}
	rqst->rq_xtime = ktime_get();
	ret = xprt2_send_message(ep, req);
	if (ret == -EAGAIN || ret == -ENOBUFS) {
		xprt2_from_xprt(xprt)->xp_stats.st_no_sq += ret == -EAGAIN;
		rpcrdma2_unexpose(&ep->ep_conn, &req->rq2_exposed);
		return ret;
	}
	if (ret)
		return -ECONNABORTED;
	xprt2_count(calls);
	if (unlikely(READ_ONCE(ep->ep_nego.ng_phase) == XPRT2_TRIAL)) {
		WRITE_ONCE(ep->ep_nego.ng_trial_sent, true);
		queue_delayed_work(xprt2_wq, &ep->ep_trial, XPRT2_TRIAL_TIMEOUT);
	}
	rqst->rq_xmit_bytes_sent += rqst->rq_snd_buf.len;
	/* Without a Reply its credit would never come back. */
	if (!rpc_reply_expected(rqst->rq_task))
		return -ECONNABORTED;
	return 0;
}

/*
 * A Reply waits for XPRT_LOCKED alone, not for a forward credit, nor for Send
 * Queue entries, of which some are kept for it (B-04, pure.h). The server could
 * make Calls wait for these for a minute, and with them the callback service,
 * which other servers call.
 *
 * A Reply to a Call of a lost connection ends here (X7): it would wait until
 * there is another connection. Teardown wakes Replies that wait.
 *
 * Under transport_lock. Return 1 when the task has XPRT_LOCKED; 0 when it
 * sleeps, or ends with tk_status.
 */
static int xprt2_reserve(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;

	if (likely(!rqst || !bc_prealloc(rqst)))
		return xprt_reserve_xprt_cong(xprt, task);
	if (!READ_ONCE(xprt2_rqst_to_req(rqst)->rq2_ep)) {
		xprt2_count(backward_unanswered);
		xprt2_backward_uncount(xprt2_rqst_to_req(rqst));
		task->tk_status = -ENOTCONN;
		return 0;
	}
	if (!test_and_set_bit(XPRT_LOCKED, &xprt->state)) {
		xprt->snd_task = task;
		return 1;
	}
	/* A Call waits already, and xprt2_replies_first() may be over. */
	if (test_bit(XPRT_WRITE_SPACE, &xprt->state))
		WRITE_ONCE(xprt2_from_xprt(xprt)->xp_reply_waits, true);
	return xprt_reserve_xprt_cong(xprt, task);
}

/*
 * Move Replies ahead of a Call that has to wait: the RPC layer sends nothing
 * while the first message of its queue cannot be sent.
 */
static void xprt2_replies_first(struct rpc_xprt *xprt)
{
	LIST_HEAD(replies);

	guard(spinlock)(&xprt->queue_lock);
	xprt2_move_replies(&xprt->xmit_queue, &replies);
	if (unlikely(!list_empty(&replies)))
		WRITE_ONCE(xprt2_from_xprt(xprt)->xp_reply_waits, true);
	list_splice(&replies, &xprt->xmit_queue);
}

/*
 * While Calls wait for a credit or for entries, the RPC layer wakes no task.
 * xp_reply_waits shows that a Reply may be among the sleeping tasks: then all
 * are woken, and Calls go to sleep again. The flag is set with XPRT_LOCKED or
 * transport_lock held, and cleared under transport_lock when XPRT_LOCKED is
 * free. If a task that has just got XPRT_LOCKED sets it at this moment, that
 * task comes here itself.
 */
static void xprt2_release(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	xprt_release_xprt_cong(xprt, task);
	if (likely(!READ_ONCE(xp->xp_reply_waits)) ||
	    test_bit(XPRT_LOCKED, &xprt->state))
		return;
	WRITE_ONCE(xp->xp_reply_waits, false);
	rpc_wake_up(&xprt->sending);
}

/*
 * Return only values that xprt_transmit() expects: 0 when sent, or ended with
 * an error; -ENOTCONN to connect and send again; -EAGAIN or -EBADSLT
 * to call again when there is room or credit; -ENOBUFS to call again after a
 * delay. Any other error would end the RPC of the sending task, and @rqst would
 * stay at the head of the queue.
 */
static int xprt2_send_request(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	int ret;

	if (bc_prealloc(rqst)) {
		ret = xprt2_send_backward(rqst);
	} else {
		ret = xprt2_send_forward(rqst);
		if (ret == -EAGAIN || ret == -ENOBUFS || ret == -EBADSLT)
			xprt2_replies_first(xprt);
	}
	if (ret != -ECONNABORTED)
		return ret;
	xprt2_close(xprt);
	return -ENOTCONN;
}

/*
 * No Reply has come in time, and nothing else shows whether the peer is alive.
 * A timeout does not count against the server: with a back-off longer than the
 * RPC's timeout, each retransmission would come too late. The task may run
 * late: it must not close the next connection, where the Call is sent again in
 * any case. The RPC layer exports no function that compares the cookie under
 * its lock, so a connection made right behind the test is closed, too.
 */
static void xprt2_timer(struct rpc_xprt *xprt, struct rpc_task *task)
{
	if (task->tk_rqstp->rq_connect_cookie != READ_ONCE(xprt->connect_cookie))
		return;
	WRITE_ONCE(xprt2_from_xprt(xprt)->xp_timed_out, true);
	xprt_force_disconnect(xprt);
}

static void xprt2_destroy(struct rpc_xprt *xprt)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	cancel_delayed_work_sync(&xp->xp_connect_work);
	cancel_delayed_work_sync(&xp->xp_idle_work);
	xprt2_ep_disconnect(xp);
	xprt2_free(xp);
}

/* Return: false when there is no connection. */
static bool xprt2_source_address(struct rpc_xprt *xprt,
				 struct sockaddr_storage *addr)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	guard(mutex)(&xp->xp_fence_mutex);
	if (xp->xp_ep)
		*addr = xp->xp_ep->ep_conn.co_id->route.addr.src_addr;
	return xp->xp_ep;
}

static int xprt2_get_srcaddr(struct rpc_xprt *xprt, char *buf, size_t buflen)
{
	struct sockaddr_storage addr;

	return xprt2_source_address(xprt, &addr) ?
	       rpc_ntop((struct sockaddr *)&addr, buf, buflen) : -ENOTCONN;
}

static unsigned short xprt2_get_srcport(struct rpc_xprt *xprt)
{
	struct sockaddr_storage addr;

	return xprt2_source_address(xprt, &addr) ?
	       rpc_get_port((struct sockaddr *)&addr) : 0;
}

/*
 * The line "xprt:" of /proc/self/mountstats: "rdma" and the 27 numbers that the
 * in-tree transport prints. Monitoring stores them by position.
 */
static void xprt2_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	/* figures may change while they are read */
	const struct xprt2_stats st = data_race(xprt2_from_xprt(xprt)->xp_stats);
	long idle = xprt_connected(xprt) ?
		    (long)(jiffies - xprt->last_used) / HZ : 0;
	seq_printf(seq, "\txprt:\trdma 0 %lu %lu %lu %ld %lu %lu %lu %llu %llu ",
		   xprt->stat.bind_count, xprt->stat.connect_count,
		   xprt->stat.connect_time / HZ, idle, xprt->stat.sends,
		   xprt->stat.recvs, xprt->stat.bad_xids, xprt->stat.req_u,
		   xprt->stat.bklog_u);
	/* 0 for a figure that does not exist, or is not counted by transport */
	seq_printf(seq, "%lu %lu %lu %llu %llu %llu 0 %lu %lu %lu %lu ",
		   st.st_read_chunks, st.st_write_chunks,
		   st.st_reply_chunks, st.st_request_bytes,
		   st.st_reply_bytes, st.st_pullup_bytes, st.st_hardway,
		   st.st_failed_marshal, st.st_bad_replies,
		   st.st_nomsg_calls);
	seq_printf(seq, "0 0 %lu %lu %lu 0\n", st.st_mrs_allocated,
		   st.st_local_inv, st.st_no_sq);
}

/*
 * Let the RPC layer, the work of the connection, and its end use memory
 * reserves, and keep the memory regions of an RPC with all of its chunks.
 */
static int xprt2_enable_swap(struct rpc_xprt *xprt)
{
	atomic_inc(&xprt->swapper);
	xprt2_keep_regions(xprt2_from_xprt(xprt));
	return 0;
}

static void xprt2_disable_swap(struct rpc_xprt *xprt)
{
	atomic_dec(&xprt->swapper);
	xprt2_keep_regions(xprt2_from_xprt(xprt));
}

/* Fault injection, without XPRT_LOCKED when another task sent the Call */
static void xprt2_inject_disconnect(struct rpc_xprt *xprt)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	guard(mutex)(&xp->xp_fence_mutex);
	if (xp->xp_ep) {
		rpcrdma2_conn_blame(&xp->xp_ep->ep_conn,
				    RPCRDMA2_LOSS_INJECTED);
		rdma_disconnect(xp->xp_ep->ep_conn.co_id);
	}
}

static const struct rpc_xprt_ops xprt2_ops = {
	/* a slot, a connection */
	.alloc_slot		= xprt2_alloc_slot,
	.rpcbind		= rpcb_getport_async,
	.set_port		= xprt2_set_port,
	.connect		= xprt2_connect,
	/* a message and its Reply */
	.buf_alloc		= xprt2_buf_alloc,
	.reserve_xprt		= xprt2_reserve,
	.prepare_request	= xprt2_prepare_request,
	.send_request		= xprt2_send_request,
	.release_xprt		= xprt2_release,
	.wait_for_reply_request	= xprt2_wait_for_reply,
	.timer			= xprt2_timer,
	.release_request	= xprt2_release_request,
	.buf_free		= xprt2_buf_free,
	.free_slot		= xprt2_free_slot,
	/* the end */
	.close			= xprt2_close,
	.destroy		= xprt2_destroy,
	/* Calls of the server */
	.bc_setup		= xprt2_bc_setup,
	.bc_maxpayload		= xprt2_bc_maxpayload,
	.bc_num_slots		= xprt2_bc_num_slots,
	.bc_free_rqst		= xprt2_bc_free_rqst,
	.bc_destroy		= xprt2_bc_destroy,
	/* administration */
	.set_connect_timeout	= xprt2_set_connect_timeout,
	.get_srcaddr		= xprt2_get_srcaddr,
	.get_srcport		= xprt2_get_srcport,
	.print_stats		= xprt2_print_stats,
	.enable_swap		= xprt2_enable_swap,
	.disable_swap		= xprt2_disable_swap,
	.inject_disconnect	= xprt2_inject_disconnect,
};

struct xprt_class xprt2_class = {
	.list	= LIST_HEAD_INIT(xprt2_class.list),
	.name	= "rdma2",
	.owner	= THIS_MODULE,
	.ident	= XPRT2_IDENT,
	.setup	= xprt2_setup,
#ifdef XPRT2_REPLACES_RPCRDMA
	.netid	= { "rdma2", "rdma26", "rdma", "rdma6", "" },
#else
	.netid	= { "rdma2", "rdma26", "" },
#endif
};
