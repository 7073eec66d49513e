// SPDX-License-Identifier: GPL-2.0
/*
 * Connection setup and teardown. An endpoint has no refcount: the connect
 * worker builds and publishes it in xp_ep; the same worker, ->close or
 * ->destroy tears it down, all with XPRT_LOCKED held. All other users
 * (completion handlers, the CM handler, regions of requests, requests of the
 * backward direction, the end of a trial) are quiet when xprt2_ep_destroy() has
 * drained the QP and destroyed the cm_id.
 *
 * rpcrdma2_conn_lose() is the only way to give a connection up, from any
 * context, any number of times. Device removal is a loss like any other:
 * rdma_cm waits until the cm_id, which goes last, is gone.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/slab.h>

#include <linux/sunrpc/addr.h>
#include <linux/wait_bit.h>

#include <rpcrdma2/chunks.h>
#include <rpcrdma2/fault.h>

#include "xprtrdma2.h"
#include "trace.h"

/*
 * A transport that keeps retrying logs each error once until it is connected.
 * Documentation/troubleshooting.rst lists all log lines.
 */

/* @what: the reason, as text behind the name of the device */
static int xprt2_report_device(struct xprt2_ep *ep, const char *what)
{
	struct xprt2_xprt *xp = ep->ep_xp;

	if (xp->xp_logged != -EOPNOTSUPP)
		pr_err_ratelimited("device %s %s; use another device\n",
				   ep->ep_conn.co_id->device->name, what);
	xp->xp_logged = -EOPNOTSUPP;
	return -EOPNOTSUPP;
}

#define NO_ANSWER	"no answer; see that it is up and no firewall is in between (RoCE: UDP port 4791)"

static const struct {
	int		error;
	const char	*text;
} advices[] = {
	{ -EPROTO,
	  "the interface on the way there has no RDMA device; see 'rdma link', or mount with proto=tcp",
	},
	{ -ECONNREFUSED,
	  "it refuses; load svcrdma2 there and let nfsd listen on that port ('rdma=y' in nfs.conf), and see its log",
	},
	{ -ENETUNREACH, NO_ANSWER },
	{ -EHOSTUNREACH, NO_ANSWER },
	{ -ETIMEDOUT, NO_ANSWER },
	{ -ENOBUFS,
	  "no memory for queues and buffers here; see 'free', or lower the module parameters slots and receive_size",
	},
};

/*
 * Records and logs the result of a connect attempt: @error, which is @status
 * for the RPC layer.
 */
static void xprt2_report_connect(struct xprt2_xprt *xp, int error, int status)
{
	const struct rpc_xprt *xprt = &xp->xp_xprt;
	const char *text = NULL;
	char other[80];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(advices); i++)
		if (advices[i].error == status)
			text = advices[i].text;
	/* RPCs wait this error out, and no advice explains it */
	if (status == -ENOTCONN && error != -ENOTCONN && error != -EAGAIN) {
		snprintf(other, sizeof(other),
			 "error %d; see the kernel's log, and the port in 'rdma link'",
			 -error);
		text = other;
	}
	WRITE_ONCE(xp->xp_error_at, ktime_get_boottime_seconds());
	WRITE_ONCE(xp->xp_error, status);
	if (!status)
		xp->xp_logged = 0;
	if (!text || xp->xp_logged == error)
		return;
	xp->xp_logged = error;
	pr_warn_ratelimited("no connection to server %s port %s: %s\n",
			    xprt->address_strings[RPC_DISPLAY_ADDR],
			    xprt->address_strings[RPC_DISPLAY_PORT], text);
}

static void xprt2_report_end(struct xprt2_ep *ep)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	char what[80];

	snprintf(what, sizeof(what), "to server %s port %s",
		 xprt->address_strings[RPC_DISPLAY_ADDR],
		 xprt->address_strings[RPC_DISPLAY_PORT]);
	xprt2_count_ended(rpcrdma2_conn_report_end(&ep->ep_conn,
						   &ep->ep_xp->xp_end,
						   "xprtrdma2", what));
}

/* The RPC layer then closes the transport, and connects it again to send. */
static void xprt2_lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	struct xprt2_ep *ep = xprt2_conn_to_ep(co);
	enum xprt2_ep_state old = atomic_xchg(&ep->ep_state, XPRT2_EP_LOST);

	if (old == XPRT2_EP_LOST)
		return;
	if (why == RPCRDMA2_LOSS_NO_MESSAGE)
		xprt2_count(receives_bad);
	if (READ_ONCE(co->co_sq.sq_overdue))
		xprt2_count(overdue);
	if (old == XPRT2_EP_READY) {
		xprt_force_disconnect(&ep->ep_xp->xp_xprt);
	} else {
		/*
		 * A status from the CM takes precedence, before or after this:
		 * the CM flushes the queues before it reports.
		 */
		cmpxchg(&ep->ep_status, 0, -ENOTCONN);
		complete(&ep->ep_done);
	}
	complete(&ep->ep_answered);
	/* ep_state ends the waits in xprt2_aborted_await_reply() */
	wake_up_var(ep->ep_xp);
}

/* ->grown, in connect or the core's workqueue */
static void xprt2_grown(struct rpcrdma2_conn *co, unsigned int made, bool failed)
{
	u32 needed = READ_ONCE(co->co_regions.rg_needed);
	struct xprt2_ep *ep = xprt2_conn_to_ep(co);
	const struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;

	xprt2_stat_add(ep->ep_xp, mrs_allocated, made);
	xprt2_count_add(mrs_allocated, made);
	if (!failed)
		return;
	xprt2_count(mrs_unavailable);
	if (needed <= co->co_regions.rg_num || ep->ep_short)
		return;
	ep->ep_short = true;	/* one line for each connection */
	pr_warn_ratelimited("RPCs to server %s port %s wait: one needs %u memory regions, and device %s gives no more than %u; see 'free' and 'rdma resource'\n",
			    xprt->address_strings[RPC_DISPLAY_ADDR],
			    xprt->address_strings[RPC_DISPLAY_PORT], needed,
			    co->co_id->device->name, co->co_regions.rg_num);
}

static void xprt2_trimmed(struct rpcrdma2_conn *co, unsigned int freed)
{
	xprt2_count_add(mrs_trimmed, freed);
}

/* ->room: the send path has found too few Send Queue entries, or regions. */
static void xprt2_room(struct rpcrdma2_conn *co)
{
	struct xprt2_ep *ep = xprt2_conn_to_ep(co);

	xprt_write_space(&ep->ep_xp->xp_xprt);
	xprt2_chunked_room(ep);
}

static const struct rpcrdma2_conn_ops xprt2_conn_ops = {
	.lost		= xprt2_lost,
	.room		= xprt2_room,
	.grown		= xprt2_grown,
	.trimmed	= xprt2_trimmed,
	.received	= xprt2_received,
};

/* Never destroys the cm_id: xprt2_ep_destroy() does that. */
static int xprt2_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct xprt2_ep *ep = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		rpcrdma2_cm_decode(&ep->ep_peer,
				   event->param.conn.private_data,
				   event->param.conn.private_data_len);
		fallthrough;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		WRITE_ONCE(ep->ep_status, xprt2_step_error(event->event,
							   event->status));
		complete(&ep->ep_done);
		/* over RoCE also when the server's MAC address has changed */
		if (event->event == RDMA_CM_EVENT_UNREACHABLE)
			rpcrdma2_conn_lose(&ep->ep_conn,
					   RPCRDMA2_LOSS_UNREACHABLE);
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_ADDRESS);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_DEVICE);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_PEER);
		break;
	default:
		break;
	}
	return 0;
}

/*
 * A step completes ep_done once, and a loss once more, for the next step. After
 * a loss the CM may be about to report the reason: wait for its handler.
 */
static int xprt2_ep_await_step(struct xprt2_ep *ep, unsigned long timeout)
{
	int status;

	if (!wait_for_completion_timeout(&ep->ep_done, timeout))
		return -ETIMEDOUT;
	status = READ_ONCE(ep->ep_status);
	if (status == -ENOTCONN) {
		rdma_lock_handler(ep->ep_conn.co_id);
		status = READ_ONCE(ep->ep_status);
		rdma_unlock_handler(ep->ep_conn.co_id);
	}
	return status;
}

/* Only negotiation connects again at once: other errors wait for a delay. */
static int xprt2_ep_again_later(int ret)
{
	return ret == -EAGAIN ? -ENETDOWN : ret;
}

static int xprt2_ep_resolve(struct xprt2_ep *ep)
{
	unsigned long timeout = msecs_to_jiffies(2 * XPRT2_RESOLVE_TIMEOUT);
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(xprt->xprt_net, xprt2_cm_handler, ep, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ep->ep_conn.co_id = id;
	ret = rdma_resolve_addr(id, NULL, (struct sockaddr *)&xprt->addr,
				XPRT2_RESOLVE_TIMEOUT);
	if (ret == -ENODEV)
		return -EPROTO;
	/* -EAGAIN when the InfiniBand port knows no subnet manager */
	ret = ret ?:
	      xprt2_ep_await_step(ep, timeout) ?:
	      rdma_resolve_route(id, XPRT2_RESOLVE_TIMEOUT) ?:
	      xprt2_ep_await_step(ep, timeout);
	return xprt2_ep_again_later(ret);
}

/*
 * A Receive in use, or without memory to grow, may still be smaller: then the
 * client announces the size that all Receives have
 */
static void xprt2_ep_size_receives(struct xprt2_ep *ep)
{
	struct rpcrdma2_rpool *rp = &ep->ep_xp->xp_rpool;
	u32 bytes = rpcrdma2_param(&xprt2_param_receive_size);

	rpcrdma2_rpool_resize(rp, rpcrdma2_recv_begin(&ep->ep_conn, bytes));
	ep->ep_recv_size = READ_ONCE(rp->rp_small) ? RPCRDMA2_INLINE_DEFAULT :
						     rp->rp_size;
}

/*
 * Send Queue entries for two of the longest chains of backward Calls with
 * chunks. An iWARP device gets no such chunks: there RDMA Reads go into regions
 * that the server may write to, and that are not invalidated before they are
 * used again (X2).
 */
static unsigned int xprt2_ep_size_backward(struct xprt2_ep *ep,
					   unsigned int room,
					   struct rpcrdma2_conn_size *size)
{
	const struct rdma_cm_id *id = ep->ep_conn.co_id;
	unsigned int longest;

	ep->ep_chunk_max = 0;
	atomic_set(&ep->ep_chunk_units.un_free, 0);
	if (rpcrdma2_param(&xprt2_param_backward) != RDMA2_BKREQSUP_GENL ||
	    rdma_protocol_iwarp(id->device, id->port_num))
		return 0;
	if (!rpcrdma2_rw_size(&ep->ep_conn, XPRT2_MAX_PAGES,
			      XPRT2_BACKWARD_PARTS, size, &longest) ||
	    2 * longest > room) {
		size->rw_mrs = 0;
		return 0;
	}
	ep->ep_chunk_max = longest;
	atomic_set(&ep->ep_chunk_units.un_free, 2 * longest);
	return 2 * longest;
}

/* Memory regions for the payload of one RPC */
static unsigned int xprt2_ep_payload_regions(const struct xprt2_ep *ep)
{
	return DIV_ROUND_UP(XPRT2_MAX_PAGES, ep->ep_conn.co_regions.rg_depth);
}

/*
 * Memory regions to keep: for a payload, because without RPCSEC_GSS few RPCs have
 * other chunks. An RPC with more waits while memory is short, and the RPCs behind
 * it wait too. With a swap file, only these may free memory, so the regions of
 * any RPC stay then.
 */
static unsigned int xprt2_ep_kept_regions(const struct xprt2_ep *ep)
{
	return xprt2_ep_payload_regions(ep) +
	       (xprt2_swaps(ep->ep_xp) ? 2 + XPRT2_OTHER_SEGS : 0);
}

static void xprt2_keep_regions_locked(struct xprt2_xprt *xp)
{
	struct xprt2_ep *ep = xp->xp_ep;

	lockdep_assert_held(&xp->xp_fence_mutex);
	if (!ep)
		return;
	WRITE_ONCE(ep->ep_conn.co_swaps, xprt2_swaps(xp));
	rpcrdma2_regions_keep(&ep->ep_conn, xprt2_ep_kept_regions(ep));
}

/**
 * xprt2_keep_regions - apply a change of the use for swap files
 * @xp: transport
 *
 * Context: any task; sleeps.
 */
void xprt2_keep_regions(struct xprt2_xprt *xp)
{
	guard(mutex)(&xp->xp_fence_mutex);
	xprt2_keep_regions_locked(xp);
}

/* Size a connection for the limits of its device, or fail below the least. */
static int xprt2_ep_check_device(struct xprt2_ep *ep,
				 struct rpcrdma2_conn_size *size)
{
	const struct ib_device_attr *attrs = &ep->ep_conn.co_id->device->attrs;
	struct rpcrdma2_regions *rg = &ep->ep_conn.co_regions;
	unsigned int segs, depth, entries, backward, calls;

	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    !attrs->max_fast_reg_page_list_len || rpcrdma2_fault(extensions))
		return xprt2_report_device(ep, "can not register memory by work requests");
	if (attrs->max_send_sge < XPRT2_MIN_SGE)
		return xprt2_report_device(ep, "has too few gather entries for a Send");

	ep->ep_max_sge = min_t(unsigned int, attrs->max_send_sge,
			       XPRT2_MAX_SGE);
	rpcrdma2_regions_measure(&ep->ep_conn, XPRT2_REGION_PAGES);

	/* regions of payload, head and tail */
	segs = xprt2_ep_payload_regions(ep) + 2;
	depth = rpcrdma2_conn_room(&ep->ep_conn, XPRT2_DRAIN_WRS);
	calls = xprt2_sq_backward(depth, ep->ep_xp->xp_backward_target);
	if (segs > XPRT2_MAX_SEGS || attrs->max_mr < segs + XPRT2_OTHER_SEGS)
		return xprt2_report_device(ep,
				"has too small or too few memory regions for 1 MiB payloads");
	if (depth < xprt2_sq_depth(1, segs, calls))
		return xprt2_report_device(ep, "has too small queues for 1 MiB payloads");

	WRITE_ONCE(ep->ep_xp->xp_backward_credits, calls);
	ep->ep_backward_next = min_t(u32, calls, XPRT2_BACKWARD_FIRST);
	*size = (struct rpcrdma2_conn_size){ .send_sges = ep->ep_max_sge };
	backward = xprt2_ep_size_backward(ep, depth - xprt2_sq_depth(1, segs, calls),
					  size);
	depth -= backward;
	ep->ep_send_size = rpcrdma2_param(&xprt2_param_send_size);
	xprt2_ep_size_receives(ep);
	ep->ep_max_reqs = min(ep->ep_xp->xp_xprt.max_reqs,
			      xprt2_sq_reqs(depth - xprt2_sq_spare(calls)));
	entries = xprt2_sq_depth(ep->ep_max_reqs, segs, calls) + backward;
	rpcrdma2_sq_open(&ep->ep_conn, entries,
			 xprt2_backward_reqs(calls) + backward,
			 XPRT2_SEND_BATCH, XPRT2_CHAIN_TIMEOUT);
	ep->ep_conn.co_sq.sq_all_timed = false;
	rg->rg_max = min_t(unsigned int, attrs->max_mr,
			   max(ep->ep_max_reqs * segs, segs + XPRT2_OTHER_SEGS));
	rg->rg_keep = xprt2_ep_kept_regions(ep);
	size->sends = entries + XPRT2_DRAIN_WRS;
	size->recvs = rpcrdma2_receives_needed(ep->ep_max_reqs, calls) +
		      rpcrdma2_recv_batch(ep->ep_max_reqs) + XPRT2_DRAIN_WRS;
	return 0;
}

/* Log limits below the module parameters. */
static void xprt2_ep_log_limits(struct xprt2_ep *ep)
{
	const struct xprt2_xprt *xp = ep->ep_xp;
	static struct rpcrdma2_limit callbacks = { "callbacks", "backward" };
	static struct rpcrdma2_limit rpcs = { "RPCs", "slots" };

	rpcrdma2_conn_log_limit(&ep->ep_conn, &callbacks,
				xp->xp_backward_credits, xp->xp_backward_target);
	rpcrdma2_conn_log_limit(&ep->ep_conn, &rpcs, ep->ep_max_reqs,
				xp->xp_xprt.max_reqs);
}

static int xprt2_ep_create_queues(struct xprt2_ep *ep)
{
	struct rpcrdma2_conn_size size;
	int ret;

	do {
		ret = xprt2_ep_check_device(ep, &size);
		if (ret)
			return ret;
		ret = rpcrdma2_conn_create(&ep->ep_conn, &size, NULL);
	} while (rpcrdma2_conn_shrink(&ep->ep_conn, &size, ret));
	if (ret == -EOPNOTSUPP)
		return xprt2_report_device(ep, "has no reliable connections");
	if (!ret) {
		xprt2_ep_log_limits(ep);
		xprt2_begin_properties(ep);
		ret = rpcrdma2_regions_grow(&ep->ep_conn);
	}
	/* retry after a delay, and not at once as negotiation does */
	return ret == -EAGAIN ? -ENOMEM : ret;
}

/* For the Read chunks of the server's Calls */
static u8 xprt2_ep_initiator_depth(const struct xprt2_ep *ep)
{
	const struct ib_device_attr *attrs = &ep->ep_conn.co_id->device->attrs;

	return ep->ep_chunk_max ? min3(ep->ep_xp->xp_backward_credits,
				       (u32)attrs->max_qp_init_rd_atom,
				       (u32)U8_MAX) : 0;
}

/* Connect the queue pair; no message is exchanged yet. */
static int xprt2_ep_reach(struct xprt2_ep *ep)
{
	const struct ib_device_attr *attrs = &ep->ep_conn.co_id->device->attrs;
	const struct rpcrdma2_cm_limits limits = {
		.cl_send	= ep->ep_send_size,
		.cl_recv	= ep->ep_recv_size,
		.cl_inv		= true,
	};
	struct rpcrdma2_cm_private private;
	struct rdma_conn_param param = {
		/* always sent; version 2 ignores the server's (S28) */
		.private_data		= &private,
		.private_data_len	= sizeof(private),
		.responder_resources	= min_t(u32, attrs->max_qp_rd_atom,
						U8_MAX),
		.initiator_depth	= xprt2_ep_initiator_depth(ep),
		.retry_count		= 6,
		/* control messages of the peer cannot be counted (2.3) */
		.rnr_retry_count	= 7,
	};
	int ret;

	/* at least three before the server can send (S27) */
	xprt2_post_receives(ep, 1, RPCRDMA2_GFP);
	if (ep->ep_recvs_posted < rpcrdma2_receives_needed(1, 0))
		return rpcrdma2_conn_is_lost(&ep->ep_conn) ? -ENOTCONN : -ENOMEM;

	rpcrdma2_cm_encode(&private, &limits);
	/* a server that finds no Receive retries soon, not after 0.6 s */
	rdma_set_min_rnr_timer(ep->ep_conn.co_id, IB_RNR_TIMER_000_64);
	ret = rdma_connect(ep->ep_conn.co_id, &param) ?:
	      xprt2_ep_await_step(ep, ep->ep_xp->xp_xprt.connect_timeout);
	return xprt2_ep_again_later(ret);
}

static int xprt2_ep_establish(struct xprt2_ep *ep)
{
	int ret = xprt2_ep_reach(ep) ?: xprt2_negotiate(ep);

	if (ret)
		return ret;
	xprt2_backward_measure(ep);
	if (atomic_cmpxchg(&ep->ep_state, XPRT2_EP_CONNECTING,
			   XPRT2_EP_READY) != XPRT2_EP_CONNECTING)
		return -ENOTCONN;
	ep->ep_was_up = true;
	/* xprt2_apply_size() skipped this endpoint until it was ready. */
	xprt2_sizes_changed(ep, true);
	xprt2_sizes_changed(ep, false);
	return 0;
}

static struct xprt2_ep *xprt2_ep_alloc(struct xprt2_xprt *xp)
{
	struct xprt2_ep *ep;

	ep = kzalloc(sizeof(*ep), RPCRDMA2_GFP);
	if (!ep)
		return NULL;
	rpcrdma2_conn_init(&ep->ep_conn, &xprt2_conn_ops);
	rpcrdma2_regions_init(&ep->ep_conn);
	ep->ep_xp = xp;
	scoped_guard(spinlock, &xp->xp_req_lock) {
		ep->ep_serial = ++xp->xp_serial;
		xp->xp_backward_out = 0;
	}
	ep->ep_limits = (struct rpcrdma2_call_limits)RPCRDMA2_NO_LIMITS;
	ep->ep_backward_grant = RPCRDMA2_CREDIT_INITIAL;
	atomic_set(&ep->ep_state, XPRT2_EP_CONNECTING);
	init_completion(&ep->ep_done);
	init_completion(&ep->ep_answered);
	INIT_DELAYED_WORK(&ep->ep_trial, xprt2_trial_timeout);
	mutex_init(&ep->ep_prop_mutex);
	INIT_DELAYED_WORK(&ep->ep_props_work, xprt2_props_work);
	spin_lock_init(&ep->ep_chunk_lock);
	INIT_LIST_HEAD(&ep->ep_chunked);
	INIT_DELAYED_WORK(&ep->ep_chunk_work, xprt2_chunked_work);
	xprt2_begin_version(ep);
	return ep;
}

/*
 * Drain the Receives first: a received Reply may still post a LOCAL_INV. Only
 * then all messages that the peer sent before the loss are known. Drain the
 * Send Queue twice: completed RDMA Reads may post an error.
 */
static void xprt2_ep_drain(struct xprt2_ep *ep, bool lost)
{
	struct xprt2_xprt *xp = ep->ep_xp;

	rdma_disconnect(ep->ep_conn.co_id);
	mutex_lock(&xp->xp_fence_mutex);
	rpcrdma2_recvs_drain(&ep->ep_conn);
	if (lost)
		xprt2_trial_lost(ep);
	rpcrdma2_sq_drain(&ep->ep_conn);
	rpcrdma2_sq_drain(&ep->ep_conn);
	xprt2_chunked_flush(ep);
	WARN_ON_ONCE(atomic_read(&ep->ep_chunk_units.un_free) !=
		     (int)(2 * ep->ep_chunk_max));
	rpcrdma2_regions_destroy(&ep->ep_conn);
	xprt2_reqs_detach(xp);
	rpcrdma2_rpool_unmap(&xp->xp_rpool);
	xp->xp_ep = NULL;
	mutex_unlock(&xp->xp_fence_mutex);
	/* A Reply has seen that rq2_ep is NULL, or waits: xprt2_reserve(). */
	scoped_guard(spinlock, &xp->xp_xprt.transport_lock)
		rpc_wake_up(&xp->xp_xprt.sending);
}

/* Tear down an endpoint in any state, however much of it was built. */
static void xprt2_ep_destroy(struct xprt2_ep *ep)
{
	bool lost = atomic_xchg(&ep->ep_state, XPRT2_EP_LOST) == XPRT2_EP_LOST;
	struct xprt2_xprt *xp = ep->ep_xp;
	bool innocent;

	cancel_delayed_work_sync(&ep->ep_trial);
	disable_delayed_work_sync(&ep->ep_props_work);
	disable_delayed_work_sync(&ep->ep_chunk_work);
	/* Later reasons count only as exceptions of rpcrdma2_conn_blame(). */
	if (ep->ep_conn.co_id)
		rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_ENDED);
	if (ep->ep_conn.co_id && ep->ep_conn.co_id->qp)
		xprt2_ep_drain(ep, lost);
	/* a slow server has not failed; RPC timeouts provide enough delay */
	if (xchg(&xp->xp_timed_out, false))
		rpcrdma2_conn_blame(&ep->ep_conn, RPCRDMA2_LOSS_TIMEOUT);
	if (ep->ep_was_up)
		xprt2_report_end(ep);
	innocent = rpcrdma2_loss_is_innocent(rpcrdma2_conn_why(&ep->ep_conn));
	xp->xp_past = xprt2_judge_past(ep->ep_replied, lost, innocent,
				       jiffies - xp->xp_tried, &xp->xp_brief);
	/* The server worked: reset the reconnect back-off. */
	if (ep->ep_replied && xp->xp_past != XPRT2_PAST_FAILED)
		xp->xp_xprt.reestablish_timeout = 0;
	xprt2_end_version(ep);
	rpcrdma2_conn_destroy(&ep->ep_conn);
	kfree(ep);
}

/*
 * A hard mount waits for memory and for devices that come back, but not for a
 * device that cannot register memory.
 */
static int xprt2_connect_status(int ret)
{
	switch (ret) {
	case 0:
	case -ECONNREFUSED:
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -ETIMEDOUT:
	case -EOPNOTSUPP:
	case -EPROTO:
	case -EPROTONOSUPPORT:
	case -ENOBUFS:
		return ret;
	case -ENOMEM:
		return -ENOBUFS;
	default:
		return -ENOTCONN;
	}
}

/*
 * Begin with one credit (C-097). A request that waits for retransmission takes
 * a new credit when it is sent.
 */
static void xprt2_reset_credits(struct xprt2_xprt *xp)
{
	struct rpc_xprt *xprt = &xp->xp_xprt;
	struct xprt2_req *req;

	guard(spinlock)(&xprt->transport_lock);
	scoped_guard(spinlock, &xp->xp_req_lock)
		list_for_each_entry(req, &xp->xp_all_reqs, rq2_all)
			req->rq2_slot.rq_cong = 0;
	xp->xp_kept = 0;
	xprt->cong = 0;
	xprt->cwnd = RPC_CWNDSCALE;
}

static int xprt2_ep_connect_once(struct xprt2_xprt *xp)
{
	struct xprt2_ep *ep;
	int ret;

	ep = xprt2_ep_alloc(xp);
	if (!ep)
		return -ENOMEM;
	/* an RPC may have timed out during the teardown of the last connection */
	WRITE_ONCE(xp->xp_timed_out, false);

	ret = xprt2_ep_resolve(ep) ?: xprt2_ep_create_queues(ep);
	if (!ret) {
		xprt2_reset_credits(xp);
		scoped_guard(mutex, &xp->xp_fence_mutex) {
			xp->xp_ep = ep;
			xprt2_keep_regions_locked(xp);
		}
		ret = xprt2_ep_establish(ep);
	}
	trace_xprt2_connect(ep, ret);
	if (ret) {
		xprt2_count(connect_failures);
		xprt2_ep_destroy(ep);
	} else {
		xprt2_count(connects);
	}
	return ret;
}

/**
 * xprt2_ep_connect - build a connection
 * @xp: transport without one
 *
 * Context: connect.
 * Return: 0, and xp_ep is ready; or an error as in xprt2_connect_status().
 */
int xprt2_ep_connect(struct xprt2_xprt *xp)
{
	unsigned int left = XPRT2_PROBES_MAX;
	int ret, status;

	if (xchg(&xp->xp_no_version, false))
		return -EPROTONOSUPPORT;
	/* Retry at once, but only as often as negotiation needs */
	do {
		ret = xprt2_ep_connect_once(xp);
	} while (ret == -EAGAIN && left--);
	status = xprt2_connect_status(ret);
	xprt2_report_connect(xp, ret, status);
	return status;
}

/**
 * xprt2_set_connect_timeout - limit the time for a connect, and the back-off
 * @xprt: transport
 * @connect_timeout: jiffies from the request for a connection to its end. The NFS
 *	client takes the server's lease time, which may be 0, so there is a minimum
 * @reconnect_timeout: longest interval of the back-off in jiffies
 *
 * Context: task of the NFS client; either only becomes shorter.
 */
void xprt2_set_connect_timeout(struct rpc_xprt *xprt,
			       unsigned long connect_timeout,
			       unsigned long reconnect_timeout)
{
	struct xprt2_xprt *xp = xprt2_from_xprt(xprt);

	connect_timeout = max_t(unsigned long, connect_timeout,
				XPRT2_CONNECT_TIMEOUT_MIN);
	guard(spinlock)(&xprt->transport_lock);
	if (connect_timeout < xprt->connect_timeout) {
		xp->xp_timeout = *xprt->timeout;
		xp->xp_timeout.to_initval = connect_timeout;
		xp->xp_timeout.to_maxval = xp->xp_timeout.to_initval;
		xprt->timeout = &xp->xp_timeout;
		xprt->connect_timeout = connect_timeout;
	}
	if (reconnect_timeout < xprt->max_reconnect_timeout)
		xprt->max_reconnect_timeout = reconnect_timeout;
}

/**
 * xprt2_ep_disconnect - tear down a transport's connection, if any
 * @xp: transport. On return no handler of the connection runs or will run, and
 *	nothing of the transport is mapped or registered (X5)
 *
 * Context: connect; sleeps.
 */
void xprt2_ep_disconnect(struct xprt2_xprt *xp)
{
	if (!xp->xp_ep)
		return;
	xprt2_count(disconnects);
	xprt2_ep_destroy(xp->xp_ep);
}
