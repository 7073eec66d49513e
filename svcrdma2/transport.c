// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners, and connections from the request to connect to the last reference.
 *
 * Loss of a connection begins with svc2_lose(), which marks the svc_xprt, and
 * wakes the threads that wait for a semaphore; an svc thread then detaches the
 * connection. The RPC layer also sets XPT_CLOSE by itself, when the service
 * stops or the connection is idle; then it is lost in ->xpo_detach.
 *
 * For a connection the removal of a device is a loss like any other, and
 * svc2_listen_retry() replaces a listener on one address: no ib_client is
 * necessary. The rdma_cm sends an event to every cm_id of the device,
 * connected or not, and waits for all of them to be destroyed before it
 * releases the device (cma_process_remove()).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/wait_bit.h>

#include <linux/sunrpc/addr.h>

#include <net/net_namespace.h>

#include <rdma/rw.h>

#include <rpcrdma2/fault.h>

#include "svcrdma2.h"
#include "trace.h"

struct svc2_ended svc2_ended[SVC2_ENDED];

static struct svc2_ended *svc2_conn_note_end(const struct svc2_xprt *sp)
{
	static unsigned int next;
	struct svc2_ended *ed = &svc2_ended[next++ % SVC2_ENDED];

	lockdep_assert_held(&svc2_conns_mutex);
	ed->ed_net = sp->sp_xprt.xpt_net->net_cookie;
	strscpy(ed->ed_peer, sp->sp_xprt.xpt_remotebuf, sizeof(ed->ed_peer));
	ed->ed_version = sp->sp_last_vers;
	ed->ed_error = 0;
	return ed;
}

/* Records the end of a connection that was accepted. */
static void svc2_conn_report_end(const struct svc2_xprt *sp)
{
	char what[96];

	guard(mutex)(&svc2_conns_mutex);
	snprintf(what, sizeof(what), "of client %s",
		 sp->sp_xprt.xpt_remotebuf);
	svc2_count_ended(rpcrdma2_conn_report_end(&sp->sp_conn,
						  &svc2_conn_note_end(sp)->ed_end,
						  "svcrdma2", what));
}

/* Records that a connection was not accepted. */
static void svc2_conn_refused(const struct svc2_xprt *sp, int error)
{
	struct svc2_ended *ed;

	guard(mutex)(&svc2_conns_mutex);
	ed = svc2_conn_note_end(sp);
	ed->ed_error = error;
	ed->ed_end = (struct rpcrdma2_end){
		.en_why	= RPCRDMA2_LOSS_NONE,
		.en_at	= ktime_get_boottime_seconds(),
	};
}

/*
 * Connections wait on ls_pending until an svc thread accepts them; meanwhile
 * their own CM events may end them. The task that takes one off ls_pending
 * decides. Work ends it: a handler cannot wait for the end of its own cm_id.
 */

/* Guards ls_pending, ls_npending, sp_pending, and XPT_CONN of all listeners. */
static DEFINE_SPINLOCK(pending_lock);

static void svc2_pending_unlink(struct svc2_xprt *sp)
{
	lockdep_assert_held(&pending_lock);
	list_del_init(&sp->sp_pending);
	sp->sp_listener->ls_npending--;
}

static void svc2_reap(struct work_struct *work)
{
	struct svc2_xprt *sp = container_of(work, struct svc2_xprt, sp_reap);

	svc_xprt_put(&sp->sp_xprt);
}

static void svc2_pending_reap(struct svc2_xprt *sp)
{
	svc2_count(accept_failures);
	queue_work(svc2_wq, &sp->sp_reap);
}

/*
 * Ends a connection, if it was never accepted. Return: false when the RPC layer
 * has to close it. CM handler of @sp
 */
static bool svc2_pending_end(struct svc2_xprt *sp)
{
	guard(spinlock)(&pending_lock);
	if (list_empty(&sp->sp_pending))
		return false;
	svc2_pending_unlink(sp);
	svc2_pending_reap(sp);
	return true;
}

/* CM handler of @sp */
static void svc2_pending_add(struct svc2_listener *ls, struct svc2_xprt *sp)
{
	INIT_WORK(&sp->sp_reap, svc2_reap);
	sp->sp_listener = ls;

	spin_lock(&pending_lock);
	list_add_tail(&sp->sp_pending, &ls->ls_pending);
	ls->ls_npending++;
	set_bit(XPT_CONN, &ls->ls_xprt.xpt_flags);
	spin_unlock(&pending_lock);
	svc_xprt_enqueue(&ls->ls_xprt);
}

/* Return: a connection to accept or reap, or NULL. */
static struct svc2_xprt *svc2_pending_next(struct svc2_listener *ls)
{
	struct svc2_xprt *sp;

	guard(spinlock)(&pending_lock);
	sp = list_first_entry_or_null(&ls->ls_pending, struct svc2_xprt,
				      sp_pending);
	if (sp)
		svc2_pending_unlink(sp);
	else
		clear_bit(XPT_CONN, &ls->ls_xprt.xpt_flags);
	return sp;
}

/* ->lost of the connection, perhaps in atomic context */
static void svc2_lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	struct svc2_xprt *sp = svc2_from_conn(co);

	if (why == RPCRDMA2_LOSS_NO_MESSAGE)
		svc2_count(receives_bad);
	if (READ_ONCE(co->co_sq.sq_overdue))
		svc2_count(overdue);
	if (why != RPCRDMA2_LOSS_ENDED)
		svc_xprt_deferred_close(&sp->sp_xprt);
	wake_up_all(&sp->sp_waitq);
}

static void svc2_room(struct rpcrdma2_conn *co)
{
	struct svc2_xprt *sp = svc2_from_conn(co);
	struct rpc_xprt *xprt;

	svc2_sem_wake(sp, &sp->sp_sq_sem);
	/*
	 * The RPC layer puts its transport when this connection goes, after it
	 * is lost, and frees it a grace period later. Its waiters were woken
	 * when it was closed.
	 */
	rcu_read_lock();
	/* pairs with svc2_bc_setup() */
	xprt = smp_load_acquire(&sp->sp_xprt.xpt_bc_xprt);
	if (xprt && !rpcrdma2_conn_is_lost(co) &&
	    test_bit(XPRT_WRITE_SPACE, &xprt->state))
		xprt_write_space(xprt);
	rcu_read_unlock();
}

static void svc2_grown(struct rpcrdma2_conn *co, unsigned int made, bool failed)
{
	svc2_count_add(mrs_allocated, made);
}

static void svc2_trimmed(struct rpcrdma2_conn *co, unsigned int freed)
{
	svc2_count_add(mrs_trimmed, freed);
}

static const struct rpcrdma2_conn_ops svc2_conn_ops = {
	.lost		= svc2_lost,
	.received	= svc2_received,
#ifdef SVC2_THREADS_POLL
	.arrived	= svc2_arrived,
#endif
	.room		= svc2_room,
	.grown		= svc2_grown,
	.trimmed	= svc2_trimmed,
};

/*
 * S46: from rdma_accept() until the connection is established, the CM of iWARP
 * lets rdma_disconnect() and rdma_destroy_id() wait, without a limit, and the
 * peer decides when that is. No thread of nfsd may be one of these callers. So
 * a reference keeps the connection until then, and work does what svc2_detach()
 * had to leave. The limits on connections include it.
 *
 * Context: with the handler of the identifier locked.
 */
static void svc2_conn_pin(struct svc2_xprt *sp)
{
	const struct rdma_cm_id *id = sp->sp_conn.co_id;

	if (rdma_cap_ib_cm(id->device, id->port_num))
		return;
	svc_xprt_get(&sp->sp_xprt);
	set_bit(SVC2_F_PINNED, &sp->sp_flags);
}

/* Work. When the device goes, the CM has no further event: this waits for it. */
static void svc2_unpin(struct work_struct *work)
{
	struct svc2_xprt *sp = container_of(work, struct svc2_xprt, sp_unpin);

	if (test_bit(XPT_DEAD, &sp->sp_xprt.xpt_flags) ||
	    !test_bit(SVC2_F_ESTABLISHED, &sp->sp_flags))
		rdma_disconnect(sp->sp_conn.co_id);
	svc_xprt_put(&sp->sp_xprt);
}

static void svc2_conn_unpin(struct svc2_xprt *sp, bool established)
{
	if (!test_and_clear_bit(SVC2_F_PINNED, &sp->sp_flags))
		return;
	if (established)
		set_bit(SVC2_F_ESTABLISHED, &sp->sp_flags);
	/* pairs with svc2_detach() */
	smp_mb__after_atomic();
	queue_work(svc2_unpin_wq, &sp->sp_unpin);
}

/* CM handler. The RPC layer closes only accepted connections. */
static int svc2_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	static const enum rpcrdma2_loss losses[] = {
		[RDMA_CM_EVENT_CONNECT_ERROR]	= RPCRDMA2_LOSS_UNREACHABLE,
		[RDMA_CM_EVENT_UNREACHABLE]	= RPCRDMA2_LOSS_UNREACHABLE,
		[RDMA_CM_EVENT_REJECTED]	= RPCRDMA2_LOSS_UNREACHABLE,
		[RDMA_CM_EVENT_DISCONNECTED]	= RPCRDMA2_LOSS_PEER,
		[RDMA_CM_EVENT_DEVICE_REMOVAL]	= RPCRDMA2_LOSS_DEVICE,
		[RDMA_CM_EVENT_ADDR_CHANGE]	= RPCRDMA2_LOSS_ADDRESS,
	};
	struct svc2_xprt *sp = id->context;

	trace_svc2_event(svc2_peer(sp), rdma_event_msg(event->event),
			 event->status);
	if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		cancel_delayed_work(&sp->sp_deadline);
	if (event->event == RDMA_CM_EVENT_ESTABLISHED ||
	    event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		svc2_conn_unpin(sp, event->event == RDMA_CM_EVENT_ESTABLISHED);
	if (event->event >= ARRAY_SIZE(losses) || !losses[event->event])
		return 0;
	if (!svc2_pending_end(sp))
		svc2_lose(sp, losses[event->event]);
	return 0;
}

/*
 * Work. A message proves that the peer has the server's answer. Where threads
 * poll the receive CQ, its event counts: a message is counted later. The end of
 * the time is not the cause of an earlier loss.
 */
static void svc2_not_established(struct work_struct *work)
{
	struct svc2_xprt *sp = container_of(to_delayed_work(work),
					    struct svc2_xprt, sp_deadline);

	if (!READ_ONCE(sp->sp_received) && !READ_ONCE(sp->sp_event_at) &&
	    !rpcrdma2_conn_is_lost(&sp->sp_conn))
		svc2_lose(sp, RPCRDMA2_LOSS_UNREACHABLE);
}

static void svc2_qp_failed(struct work_struct *work)
{
	struct svc2_xprt *sp = container_of(work, struct svc2_xprt, sp_failed);

	svc2_lose(sp, RPCRDMA2_LOSS_QP);
}

/*
 * Some drivers call it in a hard interrupt, and svc_xprt_enqueue() of older
 * kernels takes a lock for which interrupts must be enabled. So work closes the
 * connection: no flush follows for certain.
 */
static void svc2_qp_event(struct ib_event *event, void *context)
{
	struct svc2_xprt *sp = svc2_from_conn(context);

	trace_svc2_event(svc2_peer(sp), ib_event_msg(event->event), 0);
	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/* the peer's last message of the handshake is late or lost */
		rdma_notify(sp->sp_conn.co_id, event->event);
		break;
	case IB_EVENT_PATH_MIG:
	case IB_EVENT_SQ_DRAINED:
	case IB_EVENT_QP_LAST_WQE_REACHED:
		break;
	default:
		rpcrdma2_conn_blame(&sp->sp_conn, RPCRDMA2_LOSS_QP);
		queue_work(svc2_wq, &sp->sp_failed);
		break;
	}
}

static const struct svc_xprt_ops svc2_ops;

/*
 * Makes the object for a request to connect, and sets the handler of @id. It
 * gets the service and the namespace of its listener. CM handler of @id
 *
 * Return: a connection, with a reference on the module; NULL without memory.
 */
static struct svc2_xprt *svc2_conn_create(struct svc_xprt *listener,
					  struct rdma_cm_id *id,
					  const struct rdma_conn_param *param)
{
	struct sockaddr *remote = (struct sockaddr *)&id->route.addr.dst_addr;
	struct sockaddr *local = (struct sockaddr *)&id->route.addr.src_addr;
	struct svc2_xprt *sp;

	sp = kzalloc_node(sizeof(*sp), GFP_KERNEL, ibdev_to_node(id->device));
	if (!sp)
		return NULL;
	svc_xprt_init(listener->xpt_net, listener->xpt_class, &sp->sp_xprt,
		      listener->xpt_server);
	sp->sp_xprt.xpt_ops = &svc2_ops;
	__module_get(THIS_MODULE);	/* the listener holds one */
	/* requests are paced by credits: RFC 7530 section 3.1 */
	set_bit(XPT_CONG_CTRL, &sp->sp_xprt.xpt_flags);

	INIT_LIST_HEAD(&sp->sp_listed);
	INIT_LIST_HEAD(&sp->sp_pending);
	INIT_DELAYED_WORK(&sp->sp_deadline, svc2_not_established);
	INIT_WORK(&sp->sp_unpin, svc2_unpin);
	INIT_WORK(&sp->sp_failed, svc2_qp_failed);
	rpcrdma2_conn_init(&sp->sp_conn, &svc2_conn_ops);
	rpcrdma2_regions_init(&sp->sp_conn);
	init_waitqueue_head(&sp->sp_waitq);
	svc2_sem_init(&sp->sp_sq_sem, &sp->sp_conn.co_sq.sq_units,
		      SVC2_C_sq_waits);
	svc2_sem_init(&sp->sp_tx_sem, NULL, SVC2_C_tx_waits);
	spin_lock_init(&sp->sp_tx_lock);
	init_llist_head(&sp->sp_txs);
	svc2_sem_init(&sp->sp_mr_sem, NULL, SVC2_C_mr_waits);
	spin_lock_init(&sp->sp_recv_lock);
	init_llist_head(&sp->sp_arrived);
	INIT_LIST_HEAD(&sp->sp_recv_q);
	INIT_LIST_HEAD(&sp->sp_start_q);
	INIT_LIST_HEAD(&sp->sp_ready_q);
	INIT_LIST_HEAD(&sp->sp_short_q);
	rpcrdma2_rpool_init(&sp->sp_rpool);
	sp->sp_rpool.rp_reposted = true;
	sp->sp_rpool.rp_node = ibdev_to_node(id->device);

	sp->sp_conn.co_id = id;
	id->context = sp;
	id->event_handler = svc2_cm_event;
	svc_xprt_set_remote(&sp->sp_xprt, remote, svc_addr_len(remote));
	/* so that the reply cache recognizes the next connection */
	rpc_set_port((struct sockaddr *)&sp->sp_xprt.xpt_remote, 0);
	svc_xprt_set_local(&sp->sp_xprt, local, svc_addr_len(local));

	sp->sp_ord = min_t(u32, param->initiator_depth,
			   id->device->attrs.max_qp_init_rd_atom);
	sp->sp_ird = param->responder_resources;
	rpcrdma2_exchange_init(&sp->sp_ex, &svc2_props_ops, true);
	rpcrdma2_cm_decode(&sp->sp_peer, param->private_data,
			   param->private_data_len);
	return sp;
}

/* @why: reason that no retry changes, and a remedy, for the log */
static int svc2_conn_refuse(struct svc2_xprt *sp, const char *why)
{
	sp->sp_refusal = why;
	return -EOPNOTSUPP;
}

#define SMALL_QUEUES	"the device has too small queues; use another device"

/* A WRITE needs RDMA Reads: by this end's device, and allowed by the client's. */
static int svc2_conn_check(struct svc2_xprt *sp)
{
	const struct ib_device *dev = rpcrdma2_conn_device(&sp->sp_conn);
	u32 port = sp->sp_conn.co_id->port_num;

	if (!rdma_ib_or_roce(dev, port) && !rdma_protocol_iwarp(dev, port))
		return svc2_conn_refuse(sp,
				"the device has neither InfiniBand, RoCE nor iWARP; use another device");
	if (!dev->attrs.max_qp_init_rd_atom)
		return svc2_conn_refuse(sp,
				"the device initiates no RDMA Reads; use another device");
	if (!sp->sp_ord)
		return svc2_conn_refuse(sp,
				"the client allows no RDMA Reads; use another device there");
	return 0;
}

/* Applies the configured sizes, within the limits of the device (C-003). */
static int svc2_conn_size_receives(struct svc2_xprt *sp)
{
	u32 bytes = rpcrdma2_recv_begin(&sp->sp_conn,
					rpcrdma2_param(&svc2_receive_size));
	/* one Receive is for the drain */
	u32 most = rpcrdma2_conn_room(&sp->sp_conn, 1);

	static_assert(PAGE_SIZE >= RPCRDMA2_INLINE_DEFAULT);
	sp->sp_rpool.rp_size = bytes;

	sp->sp_credits = rpcrdma2_param(&svc2_credits);
	return svc2_grant_fit(&sp->sp_backward_max, &sp->sp_credits,
			      SVC2_CREDITS_MIN, most) ?
	       0 : svc2_conn_refuse(sp, SMALL_QUEUES);
}

/*
 * The Send Queue holds at least the longest possible chain, which the pages of
 * the service and the capacity of a header limit, and is large enough to keep a
 * device busy, not for all Calls that may be outstanding. If a device has too
 * few entries, callbacks are reduced first.
 */
static int svc2_conn_size_sq(struct svc2_xprt *sp,
			     struct rpcrdma2_conn_size *size)
{
	struct ib_device *dev = rpcrdma2_conn_device(&sp->sp_conn);
	unsigned int pages, per_call, longest, batch, sends, wrs;
	unsigned int most = rpcrdma2_conn_room(&sp->sp_conn, 0);

	pages = svc_serv_maxpages(sp->sp_xprt.xpt_server);
	size->send_sges = min_t(u32, dev->attrs.max_send_sge, SVC2_MAX_SGES);
	per_call = rpcrdma2_rw_size(&sp->sp_conn, pages, SVC2_MAX_READS, size,
				    &longest);
	if (!per_call)
		return svc2_conn_refuse(sp,
				"the device has no memory regions for RDMA Reads; use another device");
	batch = clamp(sp->sp_credits / 4, 1U, (unsigned int)SVC2_SIGNAL_BATCH);
	/* one entry is for the drain */
	longest += batch + 1;
	sends = sp->sp_credits + SVC2_TX_RESERVE + batch;
	/* below the default a reduction saves little: only if necessary */
	while (sp->sp_backward_max > 1 &&
	       longest + svc2_sq_backward_wrs(sp) +
	       (sp->sp_backward_max > SVC2_BACKWARD_CREDITS ? sends : 0) > most)
		sp->sp_backward_max /= 2;
	longest += svc2_sq_backward_wrs(sp);

	wrs = max3(longest + sends, 4 * sp->sp_credits - 1,
		   SVC2_LARGE_CALLS * per_call);
	/* some devices keep an entry free, and round up to a power of two */
	wrs = min_t(u32, roundup_pow_of_two(wrs + 1) - 1, most);
	if (wrs < longest)
		return svc2_conn_refuse(sp, SMALL_QUEUES);
	size->sends = wrs;
	sp->sp_sq_depth = wrs - 1;
	sp->sp_sq_longest = sp->sp_sq_depth - svc2_sq_backward_wrs(sp) - batch;
	sp->sp_sq_spare = min(sends, wrs - longest);
	sp->sp_sq_spare_all = sp->sp_sq_spare == sends;
	rpcrdma2_sq_open(&sp->sp_conn, sp->sp_sq_depth, sp->sp_backward_max,
			 batch, SVC2_CHAIN_TIMEOUT);
	svc2_sem_open(&sp->sp_mr_sem, size->rw_mrs);
	return 0;
}

/* There is room for all Receives that may be made later. */
static int svc2_conn_size_queues(struct svc2_xprt *sp,
				 struct rpcrdma2_conn_size *size)
{
	const struct ib_device_attr *attrs =
		&rpcrdma2_conn_device(&sp->sp_conn)->attrs;
	u32 level = rpcrdma2_param(&svc2_backward);
	unsigned int pages;
	int ret;

	sp->sp_backward_max = rpcrdma2_param(&svc2_backward_credits);
	/* callbacks with chunks need regions that the device registers (C-009) */
	if (!sp->sp_can_invalidate || !attrs->max_fast_reg_page_list_len)
		level = min_t(u32, level, RDMA2_BKREQSUP_INLINE);
	sp->sp_ex.ex_supported.pr_brs = level;
	ret = svc2_conn_size_receives(sp) ?: svc2_conn_size_sq(sp, size);
	if (ret)
		return ret;
	if (sp->sp_ex.ex_supported.pr_brs == RDMA2_BKREQSUP_GENL) {
		pages = svc_serv_maxpages(sp->sp_xprt.xpt_server);
		rpcrdma2_regions_measure(&sp->sp_conn, pages);
		sp->sp_conn.co_regions.rg_max =
			max_t(unsigned int, SVC2_BACKWARD_REGIONS,
			      SVC2_CALLBACK_REGIONS * sp->sp_backward_max);
		sp->sp_conn.co_regions.rg_keep = SVC2_CALLBACK_REGIONS;
	}
	size->recvs = svc2_grant_recvs(sp->sp_backward_max, sp->sp_credits) + 1;
	return 0;
}

/* Logs limits below the module parameters. */
static void svc2_conn_log_limits(struct svc2_xprt *sp)
{
	struct rpcrdma2_conn *co = &sp->sp_conn;
	static struct rpcrdma2_limit callbacks = { "callbacks", "backward" };
	static struct rpcrdma2_limit rpcs = { "RPCs", "credits" };

	if (sp->sp_rpool.rp_size < rpcrdma2_param(&svc2_receive_size))
		pr_info_ratelimited("device %s limits Receives to %u bytes, less than the module parameter receive_size\n",
				    dev_name(&rpcrdma2_conn_device(co)->dev),
				    sp->sp_rpool.rp_size);
	rpcrdma2_conn_log_limit(co, &callbacks, sp->sp_backward_max,
				rpcrdma2_param(&svc2_backward_credits));
	rpcrdma2_conn_log_limit(co, &rpcs, sp->sp_credits,
				rpcrdma2_param(&svc2_credits));
}

static int svc2_conn_create_queues(struct svc2_xprt *sp,
				   struct rpcrdma2_conn_size *size)
{
	int ret = 0, err;

	do {
		err = svc2_conn_size_queues(sp, size);
		if (err)
			return ret ?: err;
		ret = rpcrdma2_conn_create(&sp->sp_conn, size, svc2_qp_event);
	} while (rpcrdma2_conn_shrink(&sp->sp_conn, size, ret));
	if (ret == -EOPNOTSUPP)
		return svc2_conn_refuse(sp,
				"the device lacks reliable connections or memory regions; use another device");
	if (ret)
		return ret;
	svc2_conn_log_limits(sp);
	svc2_grant_begin(sp);
	return 0;
}

static void svc2_conn_size_sends(struct svc2_xprt *sp, u32 width)
{
	struct rpcrdma2_props *own = &sp->sp_ex.ex_supported;

	sp->sp_tx_sges = svc2_send_sges(width);
	sp->sp_send_able = svc2_send_able(sp->sp_tx_sges);
	sp->sp_send_own = min_t(u32, sp->sp_send_able,
				rpcrdma2_param(&svc2_send_size));

	sp->sp_recv_size = sp->sp_rpool.rp_size;
	/* properties of this end (S13, S20, S22, 2.6), except for pr_brs */
	own->pr_rbsiz = sp->sp_recv_size;
	own->pr_sbsiz = sp->sp_send_own;
	own->pr_limits[RPCRDMA2_LIMIT_SEGS] = RPCRDMA2_MAX_SEGMENTS;
	own->pr_limits[RPCRDMA2_LIMIT_BYTES] = U32_MAX;
	own->pr_limits[RPCRDMA2_LIMIT_READS] = RPCRDMA2_MAX_READ_CHUNKS;
	own->pr_limits[RPCRDMA2_LIMIT_WRITES] = RPCRDMA2_MAX_WRITE_CHUNKS;
	svc2_bound_sends(sp, RPCRDMA2_VERS_ONE);
	svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
}

/* RDMA Reads of the peer at once: it reads the memory of callbacks alone. */
static u8 svc2_conn_responder_resources(const struct svc2_xprt *sp)
{
	if (sp->sp_ex.ex_supported.pr_brs != RDMA2_BKREQSUP_GENL)
		return 0;
	return min_t(u32, sp->sp_ird,
		     rpcrdma2_conn_device(&sp->sp_conn)->attrs.max_qp_rd_atom);
}

static int svc2_conn_accept(struct svc2_xprt *sp)
{
	const struct rpcrdma2_cm_limits limits = {
		.cl_send = sp->sp_send_own,
		.cl_recv = sp->sp_rpool.rp_size,
		.cl_inv	 = sp->sp_can_invalidate,
	};
	struct rpcrdma2_cm_private private;
	struct rdma_conn_param param = {
		.private_data		= &private,
		.private_data_len	= sizeof(private),
		.responder_resources	= svc2_conn_responder_resources(sp),
		.initiator_depth	= sp->sp_ord,
		/* for the peer's Sends: control messages need no credit */
		.rnr_retry_count	= 7,
	};
	int ret;

	rpcrdma2_cm_encode(&private, &limits);	/* for version 1 (S28) */
	/* a peer that found no Receive retries soon, not after 0.6 s */
	rdma_set_min_rnr_timer(sp->sp_conn.co_id, IB_RNR_TIMER_000_64);

	rdma_lock_handler(sp->sp_conn.co_id);
	svc2_conn_pin(sp);
	/* before an event that cancels it */
	queue_delayed_work(svc2_wq, &sp->sp_deadline, SVC2_ESTABLISH_TIMEOUT);
	ret = rdma_accept(sp->sp_conn.co_id, &param);
	if (ret && test_and_clear_bit(SVC2_F_PINNED, &sp->sp_flags))
		svc_xprt_put(&sp->sp_xprt);
	rdma_unlock_handler(sp->sp_conn.co_id);
	return ret;
}

/*
 * Accepts a connection, taken off ls_pending, with Receives posted before.
 * Return: 0, or a negative errno; the caller's reference undoes all of it.
 */
static int svc2_conn_setup(struct svc2_xprt *sp)
{
	struct ib_device *dev = rpcrdma2_conn_device(&sp->sp_conn);
	struct rpcrdma2_conn_size size = { };
	int ret;

	ret = svc2_conn_check(sp);
	if (ret)
		return ret;
	sp->sp_can_invalidate = dev->attrs.device_cap_flags &
				IB_DEVICE_MEM_MGT_EXTENSIONS &&
				!rpcrdma2_fault(extensions);
	ret = svc2_address_get(sp);
	if (ret)
		return ret;
	svc2_breaker_begin(sp);
	ret = svc2_conn_create_queues(sp, &size);
	if (ret)
		return ret;

	svc2_conn_size_sends(sp, size.send_sges);
	ret = svc2_txs_create(sp);
	if (!ret)
		ret = svc2_grant_fill(sp, 0);
	if (!ret)
		ret = svc2_conn_accept(sp);
	if (ret)
		return ret;
	guard(mutex)(&svc2_conns_mutex);
	list_add_tail(&sp->sp_listed, &svc2_conns);
	return 0;
}

/*
 * A Call whose RDMA Write the peer's device refuses is recorded before the
 * disconnect, because the peer may then send it again (S46). Flushed Receives
 * reach a thread without the worker of the Send CQ, and may be the first to end
 * the connection. A peer that connects again on its own, without the
 * disconnect, can still be faster, which costs one more connection. On
 * InfiniBand and RoCE a disconnect flushes both queues anyway; on iWARP the
 * device sends all messages first, and a drain would prevent that.
 */
static void svc2_sq_flush(struct svc2_xprt *sp)
{
	const struct rdma_cm_id *id = sp->sp_conn.co_id;

	if (rdma_cap_ib_cm(id->device, id->port_num))
		rpcrdma2_sq_drain(&sp->sp_conn);
}

/*
 * Frees the Calls that wait for a thread or a resource: no thread takes them up
 * any longer, and they may have pages of the quota. The RPC layer may hold the
 * connection much longer, for a Call that it has deferred or that sleeps (S46).
 * A chain or a shortage that ends at the same time may still leave a Call here,
 * for svc2_free().
 */
static void svc2_calls_flush(struct svc2_xprt *sp)
{
	struct svc2_msg *call, *next;
	LIST_HEAD(calls);

	/* in the order in which a Call may go on meanwhile */
	svc2_pages_flush(sp, &calls);
	svc2_sem_flush(&sp->sp_mr_sem, &calls);
	svc2_sem_flush(&sp->sp_sq_sem, &calls);
	scoped_guard(spinlock, &sp->sp_recv_lock) {
		list_splice_tail_init(&sp->sp_short_q, &calls);
		list_splice_tail_init(&sp->sp_start_q, &calls);
		list_splice_tail_init(&sp->sp_ready_q, &calls);
	}
	list_for_each_entry_safe(call, next, &calls, sm_wait.wt_list)
		svc2_msg_put(sp, call);
}

/*
 * The RPC layer counts, in sv_tmpcnt, the connections whose requester is not
 * known yet, and closes each new one when the count is below 0. A thread that
 * identifies the requester of this one now would subtract it again:
 * svc_xprt_set_valid() subtracts it before it goes.
 */
static void svc2_detach(struct svc_xprt *xprt)
{
	struct svc2_xprt *sp = svc2_from_xprt(xprt);
	const struct rdma_cm_id *id = sp->sp_conn.co_id;

	svc2_count(disconnects);
	svc_xprt_set_valid(xprt);
	/* completions flushed from now on are no reason to close */
	svc2_lose(sp, RPCRDMA2_LOSS_ENDED);
	/* XPT_DEAD ends the waits for answers to aborted callbacks. */
	wake_up_var(sp);
	svc2_sq_flush(sp);
	svc2_calls_flush(sp);
	/* The RPC layer has set XPT_DEAD, with a barrier: see svc2_conn_unpin(). */
	if (rdma_cap_ib_cm(id->device, id->port_num) ||
	    test_bit(SVC2_F_ESTABLISHED, &sp->sp_flags))
		rdma_disconnect(sp->sp_conn.co_id);
}

/*
 * All units that threads and Calls have taken are back (R5). B-05: callbacks
 * that the peer has not answered were aborted.
 */
static bool svc2_is_whole(const struct svc2_xprt *sp)
{
	return svc2_sem_is_whole(&sp->sp_mr_sem) &&
	       svc2_sem_is_whole(&sp->sp_tx_sem) &&
	       atomic_read(&sp->sp_backward_free) ==
		       (int)svc2_backward_contexts(sp->sp_backward_limit) &&
	       sp->sp_nposted == sp->sp_naborted;
}

/* Frees the messages that wait for a thread, after the drain of the queues. */
static void svc2_messages_flush(struct svc2_xprt *sp)
{
	struct rpcrdma2_recv *rv, *next;

	svc2_calls_flush(sp);
	do {
		list_for_each_entry_safe(rv, next, &sp->sp_recv_q, rv_list) {
			list_del(&rv->rv_list);
			rpcrdma2_recv_put(rv);
		}
		svc2_recv_sort(sp);
	} while (!list_empty(&sp->sp_recv_q));
}

/* Last reference: no thread uses the connection, but the device may. */
static void svc2_free(struct svc_xprt *xprt)
{
	struct svc2_xprt *sp = svc2_from_xprt(xprt);
	bool listed;	/* it was accepted */

	might_sleep();
	trace_svc2_event(svc2_peer(sp), "free", 0);
	/* svc2_not_established() uses the connection */
	cancel_delayed_work_sync(&sp->sp_deadline);
	/* a late event queues it no longer */
	disable_work_sync(&sp->sp_failed);
	scoped_guard(mutex, &svc2_conns_mutex) {
		listed = !list_empty(&sp->sp_listed);
		list_del_init(&sp->sp_listed);
	}
	if (rpcrdma2_conn_qp(&sp->sp_conn)) {
		rpcrdma2_sq_drain(&sp->sp_conn);
		rpcrdma2_recvs_finish(&sp->sp_conn);
		/* the queues may have had the reason of the end */
		if (listed)
			svc2_conn_report_end(sp);
		/* Calls of the server hold the connection (R8) */
		WARN_ON_ONCE(rpcrdma2_regions_exposed(&sp->sp_conn));
		rpcrdma2_regions_destroy(&sp->sp_conn);
		svc2_messages_flush(sp);
	}
	WARN_ON_ONCE(!svc2_is_whole(sp));
	svc2_txs_destroy(sp);
	WARN_ON_ONCE(atomic_read(&sp->sp_tx_count) || atomic_read(&sp->sp_tx_parts));
	rpcrdma2_rpool_unmap(&sp->sp_rpool);
	rpcrdma2_rpool_destroy(&sp->sp_rpool);
	svc2_address_put(sp);
	rpcrdma2_conn_destroy(&sp->sp_conn);	/* R7 */
	kfree(sp);
}

/*
 * Empty: this runs before ->xpo_detach(), and work here that waits for the peer
 * would delay that.
 */
static void svc2_kill_temp_xprt(struct svc_xprt *xprt)
{
}

static const struct svc_xprt_ops svc2_ops = {
	.xpo_recvfrom		= svc2_recvfrom,
	.xpo_sendto		= svc2_sendto,
	.xpo_result_payload	= svc2_result_payload,
	RPCRDMA2_SECURE_PORT
	.xpo_release_ctxt	= svc2_release_ctxt,
	.xpo_has_wspace		= svc2_has_wspace,
	.xpo_detach		= svc2_detach,
	.xpo_free		= svc2_free,
	.xpo_kill_temp_xprt	= svc2_kill_temp_xprt,
};

/*
 * Listeners. A request to connect becomes a connection in the CM handler, waits
 * on ls_pending, and is accepted by an svc thread (svc2_accept()).
 *
 * A listener on one address belongs to one device. When that device is removed,
 * or the address moves to another device, the CM's listener is useless, and the
 * CM handler can neither destroy nor replace it. So ls_work destroys it, and
 * listens again until it succeeds: the address may come back with another
 * device. The rdma_cm itself follows the devices for listeners on any address.
 */

static int svc2_listen_event(struct rdma_cm_id *id,
			     struct rdma_cm_event *event);

static struct svc2_listener *svc2_listen_from_xprt(struct svc_xprt *xprt)
{
	return container_of(xprt, struct svc2_listener, ls_xprt);
}

static void svc2_listen_stop(struct svc2_listener *ls)
{
	lockdep_assert_held(&ls->ls_mutex);
	if (ls->ls_id)
		rdma_destroy_id(ls->ls_id);
	ls->ls_id = NULL;
}

static int svc2_listen_start(struct svc2_listener *ls)
{
	struct sockaddr *sa = (struct sockaddr *)&ls->ls_addr;
	struct rdma_cm_id *id;
	int ret;

	lockdep_assert_held(&ls->ls_mutex);
	id = rdma_create_id(ls->ls_xprt.xpt_net, svc2_listen_event, ls,
			    RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ls->ls_id = id;
	/* IPv4 and IPv6 listeners share a port */
	ret = rdma_set_afonly(id, 1);
	if (!ret)
		ret = rdma_bind_addr(id, sa);
	if (!ret)
		ret = rdma_listen(id, SVC2_BACKLOG);
	trace_svc2_event(sa, "listen", ret);
	if (ret)
		svc2_listen_stop(ls);
	return ret;
}

/* Work: replaces the cm_id of a listener, or tries again later */
static void svc2_listen_retry(struct work_struct *work)
{
	struct svc2_listener *ls = container_of(to_delayed_work(work),
						struct svc2_listener, ls_work);

	guard(mutex)(&ls->ls_mutex);
	if (ls->ls_detached)
		return;
	svc2_listen_stop(ls);
	if (!svc2_listen_start(ls)) {
		ls->ls_delay = SVC2_RELISTEN_MIN;
		return;
	}
	queue_delayed_work(svc2_wq, &ls->ls_work, ls->ls_delay);
	ls->ls_delay = min(2 * ls->ls_delay, (unsigned long)SVC2_RELISTEN_MAX);
}

/*
 * The new cm_id calls the connection's handler from now on; on error it is
 * destroyed, which rejects the request.
 */
static int svc2_listen_connect_request(struct svc2_listener *ls,
				       struct rdma_cm_id *id,
				       const struct rdma_conn_param *param)
{
	struct svc2_xprt *sp;

	/* Limit: requests cost a client little. */
	if (READ_ONCE(ls->ls_npending) >= SVC2_BACKLOG)
		goto out_busy;
	sp = svc2_conn_create(&ls->ls_xprt, id, param);
	if (!sp)
		goto out_busy;

	svc2_pending_add(ls, sp);
	return 0;

out_busy:
	svc2_count(accept_failures);
	return -ENOMEM;
}

/* CM handler of a listener */
static int svc2_listen_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct svc2_listener *ls = id->context;

	trace_svc2_event(&id->route.addr.dst_addr,
			 rdma_event_msg(event->event), event->status);
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return svc2_listen_connect_request(ls, id, &event->param.conn);
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* removal waits until the work has destroyed the cm_id */
		mod_delayed_work(svc2_wq, &ls->ls_work, 0);
		return 0;
	default:
		return 0;
	}
}

/* Logs the reason and a remedy, unless the client has gone. */
static void svc2_listen_log_refused(const struct svc2_xprt *sp, int error)
{
	const char *why = sp->sp_refusal;

	if (rpcrdma2_conn_is_lost(&sp->sp_conn))
		return;
	if (error == -EUSERS)
		why = "its address has reached its limit, raise the parameter connections";
	if (error == -ENFILE)
		why = "the limit of all addresses is reached, raise the parameter connections";
	if (error == -ENOMEM)
		why = svc2_grant_is_used_up() ?
		      "the limit of Receives is reached, raise the parameter receive_memory" :
		      "no memory, see 'free'; or too few bounce buffers, if the log has swiotlb";
	pr_warn_ratelimited("the connection of client %s is refused (error %d)%s%s\n",
			    sp->sp_xprt.xpt_remotebuf, error, why ? ": " : "",
			    why ?: "");
}

/* Implements ->xpo_accept. Return: a connection, or NULL. */
static struct svc_xprt *svc2_accept(struct svc_xprt *xprt)
{
	struct svc2_xprt *sp = svc2_pending_next(svc2_listen_from_xprt(xprt));
	int ret;

	if (!sp)
		return NULL;
	ret = svc2_conn_setup(sp);
	trace_svc2_accept(sp, ret);
	if (ret) {
		svc2_count(accept_failures);
		svc2_conn_refused(sp, ret);
		svc2_listen_log_refused(sp, ret);
		svc_xprt_put(&sp->sp_xprt);
		sp = NULL;
	} else {
		svc2_count(accepts);
		/* the caller holds a reference on the module for it */
		module_put(THIS_MODULE);
	}
	return sp ? &sp->sp_xprt : NULL;
}

/* Afterwards no connection is accepted, or refers to the listener. */
static void svc2_listener_detach(struct svc_xprt *xprt)
{
	struct svc2_listener *ls = svc2_listen_from_xprt(xprt);
	struct svc2_xprt *sp;

	mutex_lock(&ls->ls_mutex);
	ls->ls_detached = true;
	svc2_listen_stop(ls);
	mutex_unlock(&ls->ls_mutex);
	/* no handler schedules it any longer */
	cancel_delayed_work_sync(&ls->ls_work);
	while ((sp = svc2_pending_next(ls)))
		svc2_pending_reap(sp);
}

static void svc2_listener_free(struct svc_xprt *xprt)
{
	kfree(svc2_listen_from_xprt(xprt));
}

/* The RPC layer calls it after an accept, too. */
static void svc2_listener_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
}

/* Return: a listener, or an ERR_PTR(). */
static struct svc_xprt *svc2_listen_create(struct svc_xprt_class *class,
					   struct svc_serv *serv,
					   struct net *net, struct sockaddr *sa,
					   int salen)
{
	struct svc2_listener *ls;
	int ret;

	if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6)
		return ERR_PTR(-EAFNOSUPPORT);
	ls = kzalloc(sizeof(*ls), GFP_KERNEL);
	if (!ls)
		return ERR_PTR(-ENOMEM);

	svc_xprt_init(net, class, &ls->ls_xprt, serv);
	set_bit(XPT_LISTENER, &ls->ls_xprt.xpt_flags);
	strscpy(ls->ls_xprt.xpt_remotebuf, "listener",
		sizeof(ls->ls_xprt.xpt_remotebuf));
	memcpy(&ls->ls_addr, sa, salen);
	mutex_init(&ls->ls_mutex);
	INIT_DELAYED_WORK(&ls->ls_work, svc2_listen_retry);
	ls->ls_delay = SVC2_RELISTEN_MIN;
	INIT_LIST_HEAD(&ls->ls_pending);

	mutex_lock(&ls->ls_mutex);
	ret = svc2_listen_start(ls);
	if (!ret)
		/* the port may have been chosen just now */
		memcpy(&ls->ls_addr, &ls->ls_id->route.addr.src_addr, salen);
	mutex_unlock(&ls->ls_mutex);
	if (ret) {
		svc2_listener_detach(&ls->ls_xprt);
		/* drops a reference on the module that was not taken yet */
		__module_get(THIS_MODULE);
		svc_xprt_put(&ls->ls_xprt);
		return ERR_PTR(ret);
	}
	svc_xprt_set_local(&ls->ls_xprt, (struct sockaddr *)&ls->ls_addr,
			   salen);
	return &ls->ls_xprt;
}

/*
 * ->xpo_create does not get the class that it was found by. The ident is for
 * the backchannel, which both classes share.
 */
#define SVC2_LISTENER_CLASS(_class, _name)				\
	static struct svc_xprt *_class##_create(struct svc_serv *serv,	\
						struct net *net,	\
						struct sockaddr *sa,	\
						int salen, int flags)	\
	{								\
		return svc2_listen_create(&(_class), serv, net, sa, salen); \
	}								\
	static const struct svc_xprt_ops _class##_ops = {		\
		.xpo_create		= _class##_create,		\
		.xpo_accept		= svc2_accept,			\
		.xpo_release_ctxt	= svc2_listener_release_ctxt,	\
		.xpo_detach		= svc2_listener_detach,		\
		.xpo_free		= svc2_listener_free,		\
	};								\
	struct svc_xprt_class _class = {				\
		.xcl_name	 = _name,				\
		.xcl_owner	 = THIS_MODULE,				\
		.xcl_ops	 = &_class##_ops,			\
		.xcl_max_payload = RPCSVC_MAXPAYLOAD,			\
		.xcl_ident	 = SVC2_IDENT,				\
	}

SVC2_LISTENER_CLASS(svc2_class, "rdma2");
SVC2_LISTENER_CLASS(svc2_rdma_class, "rdma");
