// SPDX-License-Identifier: GPL-2.0
/*
 * Backchannel: Calls of the service, which NFSv4.1 and later name callbacks,
 * and the peer's answers.
 *
 * When a client accepts callbacks on a connection (B-13), the service requests
 * an rpc_xprt that calls back on it:
 *
 *   setup:   rpc_create --> svc2_bc_setup, and Receives for the answers
 *   Call:    RPC task --> svc2_bc_send_request --> svc2_callback_build:
 *	      regions --> svc2_tx_post: REG_MR .. REG_MR, Send
 *   answer:  svc thread: recvfrom.c --> svc2_take_answer -->
 *	      svc2_callback_answered: fences the regions that are still valid -->
 *	      svc2_callback_end, perhaps in the send CQ --> RPC task
 *   abort:   svc2_callback_revoke, after the wait for the answer, and before the
 *	      RPC client gets the memory back
 *
 * The rpc_xprt has no connection of its own and cannot connect. The RPC layer
 * closes it when it closes the svc_xprt. A callback holds a reference on the
 * svc_xprt as long as it has a buffer: on Linux 7.3 the end of an RPC client
 * leaves a task behind that waits for a slot, and the service then puts its own
 * reference. Without a buffer a callback uses nothing of the connection.
 *
 * The credits of the two directions are independent (B-04, B-17): the RPC
 * layer's congestion window is the peer's grant (B-05), less the aborted
 * callbacks that the peer has not answered.
 */
#include <linux/inet.h>
#include <linux/wait_bit.h>

#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/sched.h>

#include "svcrdma2.h"
#include "trace.h"

/*
 * A callback offers chunks, by the client's rules (rpcrdma2/plan.h), where both
 * ends have announced RDMA2_BKREQSUP_GENL (C-037); elsewhere it goes inline, or
 * not at all, and its Reply has to come inline. RPCSEC_GSS encrypts into pages
 * that the RPC client may free at any time: a callback with it offers no
 * chunks.
 */
static int svc2_callback_make_plan(struct svc2_xprt *sp, u32 vers, u32 most,
				   const struct rpc_rqst *rqst,
				   struct rpcrdma2_call_plan *plan)
{
	struct rpcrdma2_call_sizes sz = {
		.sz_call_threshold	= most,
		.sz_limits		= RPCRDMA2_NO_LIMITS,
		.sz_hdr_min		= rpcrdma2_hdr_min(vers),
	};

	*plan = (struct rpcrdma2_call_plan){ .cp_proc = RDMA2_MSG };
	if (rpcrdma2_backward_level(&sp->sp_ex, vers) != RDMA2_BKREQSUP_GENL ||
	    rpcrdma2_touches_data(rqst->rq_cred->cr_auth))
		return 0;
	sz.sz_reply_threshold = rpcrdma2_exchange_reply_max(&sp->sp_ex);
	rpcrdma2_offer_sizes(&sz, &rqst->rq_snd_buf, &rqst->rq_rcv_buf, true);
	if (rpcrdma2_fits_inline(&sz))
		return 0;
	rpcrdma2_exchange_bound(&sp->sp_ex, &sz.sz_limits);
	rpcrdma2_offer_measure(&sp->sp_conn, &sz, &rqst->rq_snd_buf,
			       &rqst->rq_rcv_buf);
	return rpcrdma2_plan_call(&sz, plan);
}

static int svc2_callback_copy_inline(struct svc2_tx *tx,
				     const struct xdr_buf *buf,
				     const struct rpcrdma2_call_plan *plan,
				     u32 most)
{
	u32 head = buf->head[0].iov_len, from = head, rest;

	if (plan->cp_proc == RDMA2_NOMSG)
		return 0;
	if (plan->cp_read)	/* the padding is not inline (E-07) */
		from += buf->page_len + rpcrdma2_pad_len(buf);
	rest = buf->len - from;
	if (tx->tx_len > most || head + rest > most - tx->tx_len)
		return -EMSGSIZE;
	svc2_count_add(inline_bytes, head + rest);
	svc2_count_add(pullup_bytes, head + rest);
	memcpy(tx->tx_buf + tx->tx_len, buf->head[0].iov_base, head);
	read_bytes_from_xdr_buf(buf, from, tx->tx_buf + tx->tx_len + head, rest);
	tx->tx_len += head + rest;
	return 0;
}

/*
 * Makes a callback, with xid, version and credits in @h, ready to be posted.
 * Return: 0, then it is posted, rpcrdma2_unexpose() is called, or its regions are
 * left to an answer (svc2_bc_withdraw()); -EAGAIN when regions are short,
 * -ENOBUFS when memory cannot be mapped now, -EMSGSIZE when it is too long for
 * the connection; other errors when it cannot be sent.
 * RPC task, one at a time for each connection
 */
static int svc2_callback_build(struct svc2_xprt *sp, struct svc2_tx *tx,
			       struct rpcrdma2_hdr *h, struct rpc_rqst *rqst)
{
	u32 most = min_t(u32, READ_ONCE(sp->sp_send_max[h->h_vers]),
			 SVC2_TX_BUFSIZE);
	struct svc2_callback *sc = svc2_callback_of(rqst);
	struct rpcrdma2_call_plan plan;
	int ret;

	ret = svc2_callback_make_plan(sp, h->h_vers, most, rqst, &plan);
	if (ret)
		return ret;
	h->h_proc = plan.cp_proc;
	ret = rpcrdma2_offer(&sp->sp_conn, &sc->sc_exposed, &plan,
			     &rqst->rq_snd_buf, &rqst->rq_snd_buf,
			     &rqst->rq_rcv_buf, h);
	if (!ret) {
		svc2_tx_header(tx, h);
		ret = svc2_callback_copy_inline(tx, &rqst->rq_snd_buf, &plan,
						most);
	}
	if (ret) {
		rpcrdma2_unexpose(&sp->sp_conn, &sc->sc_exposed);
		return ret;
	}
	sc->sc_write_max = plan.cp_write ? h->h_writes[0].ck_length : 0;
	sc->sc_reply_max = plan.cp_reply ? h->h_reply.ck_length : 0;
	svc2_count_add(backward_read_chunks, h->h_nreads);
	svc2_count_add(backward_write_chunks, h->h_nwrites);
	svc2_count_add(backward_reply_chunks, h->h_has_reply);
	return 0;
}

/* Inline data goes around that of a Write chunk (E-07), which is in place. */
static u32 svc2_callback_place_reply(struct rpc_rqst *rqst,
				     const struct svc2_msg *answer)
{
	const struct rpcrdma2_msg *msg = &answer->sm_msg;
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	struct xdr_buf *buf = &rqst->rq_rcv_buf;
	u32 written = xdr_align_size(h->h_nwrites ? h->h_writes[0].ck_length : 0);
	u32 head, came = msg->mg_paylen;

	if (h->h_proc == RDMA2_NOMSG)
		came = h->h_reply.ck_length;
	if (h->h_proc == RDMA2_MSG || written)
		rpcrdma2_trim_reply(rqst, came);
	if (h->h_proc == RDMA2_MSG) {
		head = buf->head[0].iov_len;
		rpcrdma2_recv_copy(answer->sm_recv, h->h_len, head, buf, 0);
		rpcrdma2_recv_copy(answer->sm_recv, h->h_len + head,
				   came - head, buf, head + written);
	}
	rqst->rq_private_buf = *buf;
	return came + written;
}

/* Copies of a callback: one that the peer has to answer, one to be posted */
#define SVC2_BC_SENT	BIT(0)
#define SVC2_BC_POSTING	BIT(1)

/* A callback of which there is a copy */
struct svc2_bc_posted {
	u32			ps_xid;
	u32			ps_copies;
	bool			ps_aborted;	/* aborted (B-05) */
	/* NULL when no answer may reach it any longer */
	struct svc2_callback	*ps_callback;
};

/* A connection, as the RPC client sees it */
struct backchannel {
	struct rpc_xprt		bc_xprt;
	/* of the Call that the RPC task with XPRT_LOCKED sends */
	struct rpcrdma2_hdr	bc_hdr;
	/* callbacks whose answers are in process; under queue_lock */
	struct list_head	bc_answered;
	struct delayed_work	bc_watch;	/* of their fences */
	char			bc_addr[INET6_ADDRSTRLEN];
	/* sp_nposted callbacks, of sp_backward_max; under transport_lock */
	struct svc2_bc_posted	bc_posted[];
};

static struct backchannel *svc2_bc_from_xprt(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct backchannel, bc_xprt);
}

/* The RPC belongs to the RPC client again, with or without a result (R8). */
static void svc2_callback_unpin(struct svc2_callback *sc, u32 copied, bool ends)
{
	struct rpc_rqst *rqst = sc->sc_rqst;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc2_xprt *sp = sc->sc_sp;

	svc2_msg_put(sp, sc->sc_answer);	/* R6 */
	spin_lock(&xprt->queue_lock);
	sc->sc_answer = NULL;
	list_del(&sc->sc_answered);
	/* after some errors the RPC client sends it again: with new regions */
	WRITE_ONCE(sc->sc_vers, 0);
	if (ends && sc->sc_verdict == SVC2_ANSWER_REPLY) {
		xprt_complete_rqst(rqst->rq_task, copied);
		WRITE_ONCE(sp->sp_backward_errors, 0);
		svc2_count(backward_replies);
	} else if (ends) {
		WRITE_ONCE(sp->sp_backward_failed, jiffies);
		/* pairs with svc2_bc_is_pausing() */
		smp_store_release(&sp->sp_backward_errors,
				  sp->sp_backward_errors + 1);
		/* ->wait_for_reply_request finds it, if the status is lost */
		WRITE_ONCE(sc->sc_failed, true);
		rpcrdma2_wake_with(rqst->rq_task, -EIO);
		xprt->stat.recvs++;
		svc2_count(backward_errors);
	}
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/* Ends a pinned, answered callback without regions. Svc thread, send CQ */
static void svc2_callback_end(struct svc2_callback *sc)
{
	const struct rpc_rqst *rqst = sc->sc_rqst;
	u32 copied = 0;

	WARN_ON_ONCE(rpcrdma2_is_exposed(&sc->sc_exposed));	/* R8 */
	if (sc->sc_verdict == SVC2_ANSWER_REPLY &&
	    sc->sc_answer->sm_msg.mg_hdr.h_proc == RDMA2_NOMSG &&
	    !rpcrdma2_offer_holds_reply(&rqst->rq_rcv_buf, rqst->rq_xid))
		sc->sc_verdict = SVC2_ANSWER_FAIL;
	if (sc->sc_verdict == SVC2_ANSWER_REPLY)
		copied = svc2_callback_place_reply(sc->sc_rqst, sc->sc_answer);
	svc2_callback_unpin(sc, copied, true);
}

static void svc2_callback_fenced(struct rpcrdma2_conn *co,
				 struct rpcrdma2_exposed *ex, bool ok)
{
	struct svc2_callback *sc = container_of(ex, struct svc2_callback,
						sc_exposed);

	if (ok)
		svc2_callback_end(sc);
	else
		svc2_callback_unpin(sc, 0, false);
}

/* Takes Send Queue entries for the fence. Return: as svc2_sq_take_invs(). */
static int svc2_callback_take_invs(struct svc2_callback *sc)
{
	unsigned int regions = list_count_nodes(&sc->sc_exposed.em_regions);

	svc2_count_add(backward_local_invs, regions);
	return svc2_sq_take_invs(sc->sc_sp, regions);
}

/* An invalidated handle must belong to the callback (C-009, S50). */
static void svc2_callback_invalidated(struct svc2_callback *sc, u32 handle)
{
	struct svc2_xprt *sp = sc->sc_sp;

	if (!handle)
		return;
	if (rpcrdma2_exposed_invalidated(&sp->sp_conn, &sc->sc_exposed, handle)) {
		svc2_count(backward_remote_invs);
		atomic_long_inc(&sp->sp_called.bw_invs);
	} else {
		svc2_lose(sp, RPCRDMA2_LOSS_HANDLE);
	}
}

/* Processes the answer to a pinned callback, unless the connection is lost. */
static void svc2_callback_answered(struct svc2_callback *sc)
{
	struct svc2_xprt *sp = sc->sc_sp;

	svc2_callback_invalidated(sc, sc->sc_answer->sm_msg.mg_handle);
	if (!rpcrdma2_is_exposed(&sc->sc_exposed)) {
		svc2_callback_end(sc);
		return;
	}
	queue_delayed_work(svc2_wq,
			   &svc2_bc_from_xprt(sc->sc_rqst->rq_xprt)->bc_watch,
			   SVC2_REVOKE_TIMEOUT);
	if (svc2_callback_take_invs(sc) ||
	    rpcrdma2_fence(&sp->sp_conn, &sc->sc_exposed))
		svc2_callback_unpin(sc, 0, false);
	else if (unlikely(rpcrdma2_conn_is_lost(&sp->sp_conn)))
		/* @sc may be gone; a fence posted in part reports nothing */
		rpcrdma2_sq_drain(&sp->sp_conn);
}

/*
 * A task that aborts a callback waits, in the RPC layer and without a limit,
 * until the fence of its answer has ended, which may be behind Replies that the
 * peer delays. This work looks for such a task once in SVC2_REVOKE_TIMEOUT, and
 * closes the connection when it finds the same one a second time.
 */
static void svc2_bc_watch(struct work_struct *work)
{
	struct backchannel *bc = container_of(to_delayed_work(work),
					      struct backchannel, bc_watch);
	struct svc2_xprt *sp = NULL;
	struct svc2_callback *sc;

	scoped_guard(spinlock, &bc->bc_xprt.queue_lock)
		list_for_each_entry(sc, &bc->bc_answered, sc_answered) {
			if (!test_bit(RPC_TASK_MSG_PIN_WAIT,
				      &sc->sc_rqst->rq_task->tk_runstate))
				continue;
			if (sc->sc_awaited) {
				sp = sc->sc_sp;
				svc_xprt_get(&sp->sp_xprt);
				break;
			}
			sc->sc_awaited = true;
		}
	if (sp) {
		svc2_lose(sp, RPCRDMA2_LOSS_STALLED);
		rpcrdma2_sq_drain(&sp->sp_conn);
		svc_xprt_put(&sp->sp_xprt);
	} else if (!list_empty_careful(&bc->bc_answered)) {
		queue_delayed_work(svc2_wq, &bc->bc_watch, SVC2_REVOKE_TIMEOUT);
	}
}

/*
 * Limits on the tasks that wait for peers, on all connections: for a late answer,
 * and for a fence of their own, with the Send Queue entries for it. They block
 * the RPC layer's workqueue, which other tasks need. Tasks that wait for the
 * fence of an answer are not counted: see svc2_bc_watch().
 */
#define SVC2_BC_LATE_MAX	16
#define SVC2_BC_FENCE_MAX	16

static atomic_t svc2_bc_late_waiters, svc2_bc_fence_waiters;

/*
 * Return: false when the connection is lost, too many tasks wait, or the Send
 * Queue waits too long.
 */
static bool svc2_callback_fence_aborted(struct svc2_callback *sc)
{
	struct rpcrdma2_conn *co = &sc->sc_sp->sp_conn;
	struct rpcrdma2_exposed *ex = &sc->sc_exposed;
	bool fenced;

	if (!atomic_add_unless(&svc2_bc_fence_waiters, 1, SVC2_BC_FENCE_MAX))
		return false;
	/* an answer's fence may have failed (Q2), or been posted in part */
	fenced = !rpcrdma2_conn_is_lost(co) && !svc2_callback_take_invs(sc) &&
		 !rpcrdma2_revoke(co, ex) && !rpcrdma2_conn_is_lost(co) &&
		 rpcrdma2_revoke_wait(ex, SVC2_REVOKE_TIMEOUT);
	atomic_dec(&svc2_bc_fence_waiters);
	return fenced;
}

/*
 * Revokes the memory of an aborted callback, which no answer reaches any longer.
 * If the Send Queue has to wait for the peer for too long, or if too many tasks
 * wait already, the connection is closed, and the queue pair with it. RPC task
 */
static void svc2_callback_revoke(struct svc2_callback *sc)
{
	struct rpcrdma2_conn *co = &sc->sc_sp->sp_conn;
	struct rpcrdma2_exposed *ex = &sc->sc_exposed;

	svc2_count(backward_revoked);
	if (sc->sc_late) {
		svc2_count(backward_late);
		svc2_callback_invalidated(sc, sc->sc_late_handle);
	}
	if (rpcrdma2_is_exposed(ex) && !svc2_callback_fence_aborted(sc))
		rpcrdma2_lose_exposed(co, ex);
}

/* Limit on the wait for the answer to an aborted callback */
#define SVC2_BC_ANSWER_TIMEOUT	(5 * HZ)

/* Return: the connection, with a reference; NULL when it is closed. */
static struct svc2_xprt *svc2_bc_get(struct rpc_xprt *xprt)
{
	/* ->close clears the flag under the lock, before the connection goes */
	guard(spinlock)(&xprt->transport_lock);
	if (!xprt_connected(xprt))
		return NULL;
	svc_xprt_get(xprt->bc_xprt);
	return svc2_from_xprt(xprt->bc_xprt);
}

/*
 * The last reference is put by work: svc2_free() waits for the cm_id and the
 * queue pair, whose work does not have rpciod's guarantee of memory.
 */
static void svc2_bc_put(struct svc2_xprt *sp)
{
	if (likely(refcount_dec_not_one(&sp->sp_xprt.xpt_ref.refcount)))
		return;
	queue_work(svc2_wq, &sp->sp_reap);
}

/* Return: 0; -ENOMEM, to be called again; -ENOTCONN, which ends the task. */
static int svc2_bc_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	size_t callsize = round_up(rqst->rq_callsize, 8);
	struct svc2_callback *sc;
	struct svc2_xprt *sp;

	sp = svc2_bc_get(rqst->rq_xprt);
	if (!sp)
		return -ENOTCONN;
	sc = kmalloc(struct_size(sc, sc_data, callsize + rqst->rq_rcvsize),
		     rpc_task_gfp_mask());
	if (!sc) {
		svc2_bc_put(sp);
		return -ENOMEM;
	}
	*sc = (struct svc2_callback){
		.sc_sp		= sp,
		.sc_rqst	= rqst,
	};
	rpcrdma2_exposed_init(&sc->sc_exposed);
	sc->sc_exposed.em_later = true;
	sc->sc_exposed.em_done = svc2_callback_fenced;
	rqst->rq_buffer = sc->sc_data;
	rqst->rq_rbuffer = sc->sc_data + callsize;
	return 0;
}

static void svc2_bc_set_window_locked(const struct svc2_xprt *sp,
				      struct rpc_xprt *xprt)
{
	lockdep_assert_held(&xprt->transport_lock);
	xprt->cwnd = svc2_backward_window(sp->sp_backward_grant,
					  READ_ONCE(sp->sp_backward_limit),
					  sp->sp_naborted) << RPC_CWNDSHIFT;
}

static struct svc2_bc_posted *
svc2_bc_find_posted(struct svc2_xprt *sp, struct rpc_xprt *xprt, u32 xid)
{
	struct svc2_bc_posted *ps = svc2_bc_from_xprt(xprt)->bc_posted;
	u32 i;

	for (i = 0; i < sp->sp_nposted; i++)
		if (ps[i].ps_xid == xid)
			return &ps[i];
	return NULL;
}

/* A callback is about to be posted. With its credit there is room. */
static void svc2_bc_note_posting(struct svc2_xprt *sp, struct rpc_xprt *xprt,
				 u32 xid, struct svc2_callback *sc)
{
	struct svc2_bc_posted *ps;

	guard(spinlock)(&xprt->transport_lock);
	ps = svc2_bc_find_posted(sp, xprt, xid);
	if (!ps) {
		if (sp->sp_nposted >= sp->sp_backward_max)
			return;
		ps = &svc2_bc_from_xprt(xprt)->bc_posted[sp->sp_nposted++];
		*ps = (struct svc2_bc_posted){
			.ps_xid = xid, .ps_callback = sc };
	}
	ps->ps_copies |= SVC2_BC_POSTING;
}

/*
 * Removes @gone from the copies of a callback, then adds @more, and forgets the
 * callback when none is left.
 */
static void svc2_bc_note_copies(struct svc2_xprt *sp, struct rpc_xprt *xprt,
				u32 xid, u32 gone, u32 more)
{
	struct svc2_bc_posted *ps;
	bool aborted;

	scoped_guard(spinlock, &xprt->transport_lock) {
		ps = svc2_bc_find_posted(sp, xprt, xid);
		if (!ps)
			return;
		ps->ps_copies = (ps->ps_copies & ~gone) | more;
		if (ps->ps_copies)
			return;
		aborted = ps->ps_aborted;
		*ps = svc2_bc_from_xprt(xprt)->bc_posted[--sp->sp_nposted];
		if (aborted) {
			sp->sp_naborted--;
			svc2_bc_set_window_locked(sp, xprt);
		}
	}
	if (aborted)
		rpcrdma2_window_raised(xprt);
}

/*
 * The peer no longer uses the memory of a callback that was aborted, or is
 * about to be. svc2_callback_revoke() handles the invalidated handle. Return:
 * false when the peer had no such callback; otherwise svc2_bc_note_copies() is
 * due when the Receive is back (R6).
 */
static bool svc2_bc_late_reply(struct svc2_xprt *sp, struct rpc_xprt *xprt,
			       struct rpcrdma2_msg *msg)
{
	struct svc2_bc_posted *ps;
	struct svc2_callback *sc;

	guard(spinlock)(&xprt->transport_lock);
	ps = svc2_bc_find_posted(sp, xprt, msg->mg_hdr.h_xid);
	if (!ps)
		return false;
	/* the peer may answer a copy before its poster returns */
	ps->ps_copies &= ps->ps_copies & SVC2_BC_SENT ? ~SVC2_BC_SENT :
							~SVC2_BC_POSTING;
	WRITE_ONCE(sp->sp_silent, false);
	sc = ps->ps_callback;
	if (sc && rpcrdma2_is_exposed(&sc->sc_exposed)) {
		sc->sc_late = true;
		sc->sc_late_handle = msg->mg_handle;
		msg->mg_handle = 0;
		wake_up_var(sp);
	}
	return true;
}

/* The peer may soon answer this aborted callback. */
static bool svc2_bc_is_answer_due(const struct svc2_callback *sc)
{
	struct rpc_rqst *rqst = sc->sc_rqst;
	struct svc2_xprt *sp = sc->sc_sp;

	guard(spinlock)(&rqst->rq_xprt->transport_lock);
	return svc2_bc_find_posted(sp, rqst->rq_xprt,
				   be32_to_cpu(rqst->rq_xid)) &&
	       !sc->sc_late && !READ_ONCE(sp->sp_silent) &&
	       !test_bit(XPT_DEAD, &sp->sp_xprt.xpt_flags);
}

/*
 * The peer may still access the memory of an aborted callback. A region that is
 * invalidated during an RDMA Read or Write costs the connection, and so does an
 * answer that invalidates a region which is no longer valid. So the task waits
 * for the answer, as the client does (xprtrdma2/req.c): not if the peer has
 * left an aborted callback unanswered and has answered none since, and not
 * while SVC2_BC_LATE_MAX tasks wait. Afterwards no answer reaches @sc.
 */
static void svc2_bc_await_late(struct svc2_callback *sc)
{
	struct rpc_xprt *xprt = sc->sc_rqst->rq_xprt;
	struct svc2_xprt *sp = sc->sc_sp;
	struct svc2_bc_posted *ps;
	long left = SVC2_BC_ANSWER_TIMEOUT;

	if (svc2_bc_is_answer_due(sc) &&
	    atomic_add_unless(&svc2_bc_late_waiters, 1, SVC2_BC_LATE_MAX)) {
		left = wait_var_event_timeout(sp, !svc2_bc_is_answer_due(sc),
					      SVC2_BC_ANSWER_TIMEOUT);
		atomic_dec(&svc2_bc_late_waiters);
	}

	guard(spinlock)(&xprt->transport_lock);
	/* 1: the time is over, or nearly */
	if (left <= 1 && !sc->sc_late)
		svc2_count(backward_silent);
	ps = svc2_bc_find_posted(sp, xprt, be32_to_cpu(sc->sc_rqst->rq_xid));
	if (!ps)
		return;
	ps->ps_callback = NULL;
	if (!left && !sc->sc_late)
		WRITE_ONCE(sp->sp_silent, true);
}

static void svc2_bc_free(struct rpc_task *task)
{
	struct svc2_callback *sc = svc2_callback_of(task->tk_rqstp);
	struct svc2_xprt *sp = sc->sc_sp;

	if (unlikely(rpcrdma2_is_exposed(&sc->sc_exposed))) {	/* R8 */
		svc2_bc_await_late(sc);
		svc2_callback_revoke(sc);
	}
	kfree(sc);
	svc2_bc_put(sp);
}

/* Form of callbacks in the version of the last Call: C-035, B-13, S20, S21 */
static u32 svc2_bc_level(const struct svc2_xprt *sp)
{
	return rpcrdma2_backward_level(&sp->sp_ex, READ_ONCE(sp->sp_last_vers));
}

/*
 * Before a callback is built, perhaps once more, and when a Send was refused.
 * An answer to an earlier copy, or of a peer that guesses the xid, may have come
 * before: the callback and its memory belong to it, and on a lost connection
 * svc2_bc_free() releases the memory. Return: true when no answer can reach it
 * until it is posted.
 */
static bool svc2_bc_withdraw(struct svc2_callback *sc)
{
	guard(spinlock)(&sc->sc_rqst->rq_xprt->queue_lock);
	if (sc->sc_answer)
		return false;
	WRITE_ONCE(sc->sc_vers, 0);
	return true;
}

/* Return: as svc2_callback_build(). */
static int svc2_bc_send_callback(struct svc2_xprt *sp, struct rpcrdma2_hdr *h,
				 struct rpc_rqst *rqst)
{
	struct svc2_callback *sc = svc2_callback_of(rqst);
	struct svc2_tx *tx;
	int ret;

	svc2_callback_header(h, READ_ONCE(sp->sp_last_vers),
			     be32_to_cpu(rqst->rq_xid), sp->sp_backward_max);
	if (svc2_bc_level(sp) == RDMA2_BKREQSUP_NONE)
		return -EOPNOTSUPP;

	tx = svc2_tx_try_get(sp, sc);
	if (!tx)
		return -ENOBUFS;
	ret = svc2_callback_build(sp, tx, h, rqst);
	if (!ret) {
		rqst->rq_xtime = ktime_get();
		svc2_bc_note_posting(sp, rqst->rq_xprt, h->h_xid, sc);
		/* the callback may be too long now: it is built again */
		ret = svc2_tx_post(sp, tx, 0, NULL) ? -ENOBUFS : 0;
		svc2_bc_note_copies(sp, rqst->rq_xprt, h->h_xid,
				    SVC2_BC_POSTING, ret ? 0 : SVC2_BC_SENT);
		if (ret && svc2_bc_withdraw(sc))
			rpcrdma2_unexpose(&sp->sp_conn, &sc->sc_exposed);
	}
	if (ret)
		svc2_tx_put(sp, tx);
	return ret;
}

/*
 * The RPC layer sets XPT_DEAD, and then closes the connection, which wakes tasks.
 * A task that is to sleep afterwards, or a setup that ends then, sees the flag
 * here. Return: @status, or -ENOTCONN when the connection is gone.
 */
static int svc2_bc_unless_gone(struct svc2_xprt *sp, struct rpc_xprt *xprt,
			       int status)
{
	/* after XPRT_CWND_WAIT, XPRT_WRITE_SPACE or xpt_bc_xprt */
	smp_mb();
	if (likely(!test_bit(XPT_DEAD, &sp->sp_xprt.xpt_flags)))
		return status;
	xprt_disconnect_done(xprt);
	return -ENOTCONN;
}

/*
 * An aborted callback keeps its credit until the peer answers it (B-05). The
 * RPC layer gets its own credit back, and the window shrinks by the same
 * amount. Under transport_lock
 */
static void svc2_bc_release_request(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc2_bc_posted *ps;
	struct svc2_callback *sc;
	struct svc2_xprt *sp;

	if (!rqst->rq_cong)	/* perhaps without a buffer */
		return;
	sc = svc2_callback_of(rqst);
	sp = sc->sc_sp;
	ps = svc2_bc_find_posted(sp, xprt, be32_to_cpu(rqst->rq_xid));
	if (ps && !ps->ps_aborted) {
		ps->ps_aborted = true;
		sp->sp_naborted++;
		svc2_count(backward_given_up);
		svc2_bc_set_window_locked(sp, xprt);
	}
	if (ps && !rpcrdma2_is_exposed(&sc->sc_exposed))
		ps->ps_callback = NULL;
	xprt_release_rqst_cong(task);
}

/*
 * This is no error of the peer, and delays no other callback: the credit is
 * free at once. No answer ends the callback any longer.
 */
static void svc2_callback_too_long(struct svc2_callback *sc)
{
	struct rpc_xprt *xprt = sc->sc_rqst->rq_xprt;

	svc2_count(backward_too_long);
	scoped_guard(spinlock, &xprt->queue_lock) {
		sc->sc_too_long = true;
		WRITE_ONCE(sc->sc_failed, true);
	}
	guard(spinlock)(&xprt->transport_lock);
	svc2_bc_release_request(sc->sc_rqst->rq_task);
}

/* True during the pause for a peer that only returns errors */
static bool svc2_bc_is_pausing(const struct svc2_xprt *sp)
{
	/* pairs with svc2_callback_unpin() */
	u32 errors = smp_load_acquire(&sp->sp_backward_errors);
	unsigned long failed = READ_ONCE(sp->sp_backward_failed);
	u32 pause = svc2_backward_pause(errors);

	return jiffies - failed < HZ / 4 * pause;
}

/*
 * A callback that cannot be sent now is retried after a quarter of a second,
 * until the service's timer ends it, or on a lost connection until that is
 * detached. Other callbacks wait behind it. A callback that is too long for the
 * connection ends (svc2_bc_wait_for_reply()).
 *
 * Return: 0 when the callback is posted, or has ended with an error; -EBADSLT
 * to wait for a credit (B-05); -EAGAIN to wait for memory regions; -ENOBUFS to
 * be called again; -ENOTCONN when the connection is gone.
 */
static int svc2_bc_send_request(struct rpc_rqst *rqst)
{
	struct rpcrdma2_hdr *h = &svc2_bc_from_xprt(rqst->rq_xprt)->bc_hdr;
	struct svc2_callback *sc = svc2_callback_of(rqst);
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc2_xprt *sp = sc->sc_sp;
	int ret;

	if (svc2_bc_unless_gone(sp, xprt, 0))
		return -ENOTCONN;
	/* Memory that the peer may still use is not offered twice. */
	if (READ_ONCE(sc->sc_failed) || rpcrdma2_is_exposed(&sc->sc_exposed))
		return 0;
	if (svc2_bc_is_pausing(sp))
		return -ENOBUFS;
	if (!xprt_request_get_cong(xprt, rqst))
		return svc2_bc_unless_gone(sp, xprt, -EBADSLT);
	if (!svc2_bc_withdraw(sc))
		return 0;

	ret = svc2_bc_send_callback(sp, h, rqst);
	trace_svc2_backward_call(sp, h, rqst->rq_snd_buf.len, ret);
	if (ret == -EAGAIN) {
		svc2_count(mr_waits);
		rpcrdma2_await_regions(&sp->sp_conn, xprt);
		return svc2_bc_unless_gone(sp, xprt, -EAGAIN);
	}
	if (ret == -EMSGSIZE) {
		svc2_callback_too_long(sc);
		return 0;
	}
	if (ret)
		return -ENOBUFS;
	svc2_count(backward_calls);
	atomic_long_inc(&sp->sp_called.bw_calls);
	rpcrdma2_backward_chunks(&sp->sp_called, h);
	return 0;
}

/*
 * A task that transmits holds the connection. CONFIG_FAIL_SUNRPC calls it
 * without a check for NULL.
 */
static void svc2_bc_inject_disconnect(struct rpc_xprt *xprt)
{
	svc2_lose(svc2_from_xprt(xprt->bc_xprt), RPCRDMA2_LOSS_INJECTED);
}

static void svc2_bc_destroy(struct rpc_xprt *xprt)
{
	WARN_ON_ONCE(xprt->cong);	/* all credits are back */
	cancel_delayed_work_sync(&svc2_bc_from_xprt(xprt)->bc_watch);
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

static void svc2_bc_take_grant(struct svc2_xprt *sp, struct rpc_xprt *xprt,
			       const struct rpcrdma2_hdr *h)
{
	u32 grant;

	guard(spinlock)(&xprt->transport_lock);
	grant = rpcrdma2_grant_next(h, sp->sp_backward_grant,
				    sp->sp_backward_max, sp->sp_backward_grant);
	WRITE_ONCE(sp->sp_backward_grant, grant);
	svc2_bc_set_window_locked(sp, xprt);
}

/* An event that wakes the task before the end of its pause has another status. */
static void svc2_bc_end_too_long(struct rpc_task *task)
{
	if (task->tk_status == -ETIMEDOUT)
		task->tk_status = -EIO;
}

/*
 * nfsd repeats a callback without a Reply at once, whatever its error, for as
 * long as the peer has a session. So one that is too long ends after a pause.
 * Under queue_lock
 */
static void svc2_bc_wait_for_reply(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct svc2_callback *sc = svc2_callback_of(rqst);

	if (sc->sc_too_long) {
		rpc_sleep_on_timeout(&rqst->rq_xprt->pending, task,
				     svc2_bc_end_too_long, jiffies + HZ / 4);
		return;
	}
	xprt_wait_for_reply_request_def(task);
	if (sc->sc_failed)
		rpcrdma2_wake_with(task, -EIO);
}

/*
 * Doubles the Receives for answers when callbacks, with aborted ones, need all
 * of them, and the peer grants more (B-12).
 */
static void svc2_bc_make_receives(struct svc2_xprt *sp,
				  const struct rpc_xprt *xprt)
{
	u32 limit = READ_ONCE(sp->sp_backward_limit);

	if (unlikely(limit < READ_ONCE(sp->sp_backward_grant) &&
		     READ_ONCE(xprt->cong) +
		     (READ_ONCE(sp->sp_naborted) << RPC_CWNDSHIFT) >=
		     limit << RPC_CWNDSHIFT))
		svc2_grant_fill(sp, min(2 * limit, sp->sp_backward_max));
}

/*
 * Two threads can hold answers to one callback. The first claims the callback,
 * and pins it. @forget: whether svc2_bc_note_copies() is due when the answer's
 * Receive is back. Return: the callback; or NULL when the answer matches none.
 */
static struct svc2_callback *svc2_bc_claim_callback(struct svc2_xprt *sp,
						    struct rpc_xprt *xprt,
						    struct svc2_msg *answer,
						    bool *forget)
{
	struct rpcrdma2_msg *msg = &answer->sm_msg;
	struct svc2_callback *sc;
	struct rpc_rqst *rqst;
	u32 vers;

	guard(spinlock)(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(msg->mg_hdr.h_xid));
	sc = rqst ? svc2_callback_of(rqst) : NULL;
	if (sc && sc->sc_answer)
		return NULL;
	/* the peer may have had an earlier copy, and returns its credit */
	if (!sc || sc->sc_failed) {
		*forget = svc2_bc_late_reply(sp, xprt, msg);
		return NULL;
	}
	/* pairs with svc2_send_begin() */
	vers = smp_load_acquire(&sc->sc_vers);
	if (!vers) {
		svc2_bc_note_copies(sp, xprt, msg->mg_hdr.h_xid,
				    SVC2_BC_SENT, 0);
		return NULL;
	}
	sc->sc_verdict = svc2_judge_answer(msg, vers, rqst->rq_rcv_buf.buflen,
					   sc->sc_write_max, sc->sc_reply_max);
	if (sc->sc_verdict == SVC2_ANSWER_DROP)
		return NULL;
	if (!msg->mg_verdict)
		svc2_bc_take_grant(sp, xprt, &msg->mg_hdr);
	svc2_bc_note_copies(sp, xprt, msg->mg_hdr.h_xid,
			    SVC2_BC_SENT | SVC2_BC_POSTING, 0);
	if (unlikely(READ_ONCE(sp->sp_silent)))
		WRITE_ONCE(sp->sp_silent, false);
	sc->sc_answer = answer;
	sc->sc_awaited = false;
	list_add(&sc->sc_answered, &svc2_bc_from_xprt(xprt)->bc_answered);
	xprt_pin_rqst(rqst);
	return sc;
}

/**
 * svc2_check_handle - check the handle that a message may have invalidated
 * @sp: connection
 * @msg: message that answers no callback
 *
 * S50: if the handle is in use, the server's state disagrees with the device's,
 * and the connection is closed.
 */
void svc2_check_handle(struct svc2_xprt *sp, const struct rpcrdma2_msg *msg)
{
	u32 xid;

	if (msg->mg_handle &&
	    rpcrdma2_handle_in_use(&sp->sp_conn, msg->mg_handle, &xid))
		svc2_lose(sp, RPCRDMA2_LOSS_HANDLE);
}

/**
 * svc2_take_answer - handle a Reply or an RDMA2_ERROR
 * @sp: connection
 * @answer: the message; no longer the caller's
 *
 * It ends the callback that has its xid; callbacks have an xid space of their
 * own (B-02, C-066, C-070). An answer that matches no callback is discarded
 * (S38, C-078).
 *
 * Return: 0, for ->xpo_recvfrom.
 */
int svc2_take_answer(struct svc2_xprt *sp, struct svc2_msg *answer)
{
	u32 xid = answer->sm_msg.mg_hdr.h_xid;
	struct svc2_callback *sc = NULL;
	struct rpc_xprt *xprt;
	bool forget = false;

	/* pairs with svc2_bc_setup(): the transport is complete or absent */
	xprt = smp_load_acquire(&sp->sp_xprt.xpt_bc_xprt);
	if (xprt) {
		svc2_bc_make_receives(sp, xprt);
		sc = svc2_bc_claim_callback(sp, xprt, answer, &forget);
	}
	if (sc) {
		svc2_callback_answered(sc);
		return 0;
	}
	svc2_check_handle(sp, &answer->sm_msg);
	svc2_discard_reply(sp, answer);
	/* R6: the next callback follows, also if this one is aborted just now */
	if (forget)
		svc2_bc_note_copies(sp, xprt, xid, 0, 0);
	return 0;
}

static const struct rpc_xprt_ops svc2_bc_ops = {
	.reserve_xprt		= xprt_reserve_xprt_cong,
	.release_xprt		= xprt_release_xprt_cong,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.buf_alloc		= svc2_bc_alloc,
	.buf_free		= svc2_bc_free,
	.send_request		= svc2_bc_send_request,
	.wait_for_reply_request	= svc2_bc_wait_for_reply,
	.release_request	= svc2_bc_release_request,
	.close			= xprt_disconnect_done,
	.destroy		= svc2_bc_destroy,
	.inject_disconnect	= svc2_bc_inject_disconnect,
};

/* for a service without timeouts of its own */
static const struct rpc_timeout svc2_bc_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static struct rpc_xprt *svc2_bc_create(const struct xprt_create *args,
				       const struct svc2_xprt *sp)
{
	struct backchannel *bc;
	struct rpc_xprt *xprt;

	xprt = xprt_alloc(args->net,
			  struct_size(bc, bc_posted, sp->sp_backward_max), 1,
			  sp->sp_backward_max);
	if (!xprt)
		return NULL;
	bc = svc2_bc_from_xprt(xprt);
	INIT_LIST_HEAD(&bc->bc_answered);
	INIT_DELAYED_WORK(&bc->bc_watch, svc2_bc_watch);

	xprt->prot = svc2_bc_class.ident;
	xprt->xprt_class = &svc2_bc_class;
	xprt->ops = &svc2_bc_ops;
	xprt->timeout = &svc2_bc_timeout;
	xprt->max_payload = READ_ONCE(sp->sp_send_max[READ_ONCE(sp->sp_last_vers)]);
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	rpc_ntop((struct sockaddr *)&xprt->addr, bc->bc_addr,
		 sizeof(bc->bc_addr));
	xprt->address_strings[RPC_DISPLAY_ADDR] = bc->bc_addr;
	xprt->address_strings[RPC_DISPLAY_PORT] = "0";
	xprt->address_strings[RPC_DISPLAY_PROTO] = "rdma";
	xprt->address_strings[RPC_DISPLAY_NETID] =
		xprt->addr.ss_family == AF_INET6 ? "rdma26" : "rdma2";
	xprt_set_bound(xprt);
	xprt_set_connected(xprt);
	return xprt;
}

/*
 * A connection has one such transport; the RPC layer reuses it until the
 * connection ends, and drops its reference with the svc_xprt. Of two sessions
 * that begin on one connection at once, the second may get -EAGAIN here, or
 * find the transport in rpc_create() before its setup is complete, as with
 * every transport. If there is no memory for the name of the server, the RPC
 * layer destroys the transport although the connection refers to it, as with
 * that of rpcrdma.
 *
 * A connection that is lost meanwhile is not an error: nfsd's
 * nfsd4_process_cb_update() handles one by means of its nfsd4_conn, which the
 * end of the connection frees. Callbacks then fail in svc2_bc_alloc(), as when
 * the connection is lost a moment later.
 */
static struct rpc_xprt *svc2_bc_setup(struct xprt_create *args)
{
	struct svc2_xprt *sp = svc2_from_xprt(args->bc_xprt);
	struct rpc_xprt *xprt;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	if (svc2_bc_level(sp) == RDMA2_BKREQSUP_NONE)
		return ERR_PTR(-EOPNOTSUPP);
	if (test_and_set_bit(SVC2_F_BACKWARD, &sp->sp_flags))
		return ERR_PTR(-EAGAIN);

	xprt = svc2_bc_create(args, sp);
	if (!xprt)
		goto out_clear;
	if (svc2_grant_fill(sp, min_t(u32, SVC2_BACKWARD_FIRST,
				      sp->sp_backward_max)) == -ENOMEM)	/* B-12 */
		goto out_free;
	/* the first regions; more are made on demand */
	if (svc2_bc_level(sp) == RDMA2_BKREQSUP_GENL)
		rpcrdma2_regions_grow(&sp->sp_conn);

	__module_get(THIS_MODULE);	/* the class holds one now */
	xprt->bc_xprt = args->bc_xprt;
	/* pairs with svc2_take_answer() */
	smp_store_release(&args->bc_xprt->xpt_bc_xprt, xprt_get(xprt));
	svc2_bc_unless_gone(sp, xprt, 0);
	return xprt;

out_free:
	xprt_free(xprt);
out_clear:
	clear_bit_unlock(SVC2_F_BACKWARD, &sp->sp_flags);
	return ERR_PTR(-ENOMEM);
}

/*
 * Found by its ident alone. It has no netid, but lookups by netid expect a list
 * of these in every class, even an empty one.
 */
struct xprt_class svc2_bc_class = {
	.list	= LIST_HEAD_INIT(svc2_bc_class.list),
	.name	= "rdma2 backchannel",
	.owner	= THIS_MODULE,
	.ident	= SVC2_IDENT | XPRT_TRANSPORT_BC,
	.setup	= svc2_bc_setup,
	.netid	= { "" },
};
