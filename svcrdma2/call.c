// SPDX-License-Identifier: GPL-2.0
/*
 * Callbacks with chunks: registration and revocation of the memory that the
 * peer may read or write.
 *
 * The server is the requester here. It plans and offers chunks as the client
 * does (rpcrdma2/plan.h, rpcrdma2/offer.h). A callback offers chunks where both
 * ends have announced RDMA2_BKREQSUP_GENL (C-037); elsewhere it goes inline, or
 * not at all, and its Reply has to come inline.
 *
 *  send:    svc2_call_build: regions; svc2_tx_post: REG_MR .. REG_MR, Send
 *  answer:  svc2_call_answered: fences the regions that are not invalidated yet
 *  end:     svc2_call_end, in the thread with the answer or the send CQ
 *  abort:   svc2_call_revoke, after the wait for the answer, and before the RPC
 *           client gets the memory back
 *
 * RPCSEC_GSS encrypts into pages that the RPC client may free at any time. A
 * callback with it offers no chunks.
 */
#include <linux/sunrpc/clnt.h>

#include <rpcrdma2/backward.h>
#include <rpcrdma2/codec.h>
#include <rpcrdma2/offer.h>

#include "call.h"

static bool svc2_call_offers_chunks(const struct svc2_xprt *sp, u32 vers,
				    const struct rpc_rqst *rqst)
{
	const struct rpc_auth *auth = rqst->rq_cred->cr_auth;

	return rpcrdma2_backward_level(&sp->sp_ex, vers) == RDMA2_BKREQSUP_GENL &&
	       !test_bit(RPCAUTH_AUTH_DATATOUCH, &auth->au_flags);
}

static int svc2_call_make_plan(struct svc2_xprt *sp, u32 vers, u32 most,
			       const struct rpc_rqst *rqst,
			       struct rpcrdma2_call_plan *plan)
{
	struct rpcrdma2_call_sizes sz = {
		.sz_call_threshold	= most,
		.sz_limits		= RPCRDMA2_NO_LIMITS,
		.sz_hdr_min		= rpcrdma2_hdr_min(vers),
	};

	*plan = (struct rpcrdma2_call_plan){ .cp_proc = RDMA2_MSG };
	if (!svc2_call_offers_chunks(sp, vers, rqst))
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

/* Copies all data that is in no chunk behind the header. */
static int svc2_call_copy_inline(struct svc2_tx *tx, const struct xdr_buf *buf,
				 const struct rpcrdma2_call_plan *plan,
				 u32 most)
{
	u32 head = buf->head[0].iov_len, from = head, rest;

	if (plan->cp_proc == RDMA2_NOMSG)
		return 0;
	if (plan->cp_read)	/* E-07 */
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

static void svc2_call_note_chunks(struct svc2_call *sc,
				  const struct rpcrdma2_call_plan *plan,
				  const struct rpcrdma2_hdr *h)
{
	sc->sc_write_max = plan->cp_write ? h->h_writes[0].ck_length : 0;
	sc->sc_reply_max = plan->cp_reply ? h->h_reply.ck_length : 0;
	svc2_count_add(backward_read_chunks, h->h_nreads);
	svc2_count_add(backward_write_chunks, h->h_nwrites);
	if (h->h_has_reply)
		svc2_count(backward_reply_chunks);
}

/**
 * svc2_call_build - make a callback ready to be posted
 * @sp: connection
 * @tx: send context from svc2_tx_try_get()
 * @h: header with xid, version and credits; gets the rest
 * @rqst: request with the encoded Call
 *
 * Context: RPC task, one at a time for each connection.
 * Return: 0, then it is posted or rpcrdma2_unexpose() is called; -EAGAIN when
 * regions are short, -ENOBUFS when memory cannot be mapped now, -EMSGSIZE when
 * it is too long for the connection; other errors when it cannot be sent.
 * Nothing is exposed on error.
 */
int svc2_call_build(struct svc2_xprt *sp, struct svc2_tx *tx,
		    struct rpcrdma2_hdr *h, struct rpc_rqst *rqst)
{
	u32 most = min_t(u32, READ_ONCE(sp->sp_send_max[h->h_vers]),
			 SVC2_TX_BUFSIZE);
	struct svc2_call *sc = svc2_call_of(rqst);
	struct rpcrdma2_call_plan plan;
	int ret;

	ret = svc2_call_make_plan(sp, h->h_vers, most, rqst, &plan);
	if (ret)
		return ret;
	h->h_proc = plan.cp_proc;
	ret = rpcrdma2_offer(&sp->sp_conn, &sc->sc_exposed, &plan,
			     &rqst->rq_snd_buf, &rqst->rq_snd_buf,
			     &rqst->rq_rcv_buf, h);
	if (!ret)
		ret = svc2_tx_header(tx, h, NULL);
	if (!ret)
		ret = svc2_call_copy_inline(tx, &rqst->rq_snd_buf, &plan, most);
	if (ret) {
		rpcrdma2_unexpose(&sp->sp_conn, &sc->sc_exposed);
		return ret;
	}
	svc2_call_note_chunks(sc, &plan, h);
	tx->tx_call = sc;
	return 0;
}

/*
 * The data of Write chunk and Reply chunk is in place. Inline data goes around
 * the payload of a Write chunk (E-07).
 */
static u32 svc2_call_place_reply(struct rpc_rqst *rqst,
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

/*
 * A task that has not gone to sleep yet loses its status when it does; then
 * ->wait_for_reply_request finds sc_failed.
 */
static void svc2_call_fail_locked(struct svc2_call *sc)
{
	struct rpc_rqst *rqst = sc->sc_rqst;

	WRITE_ONCE(sc->sc_failed, true);
	rqst->rq_task->tk_status = -EIO;
	rpc_wake_up_queued_task(&rqst->rq_xprt->pending, rqst->rq_task);
}

/**
 * svc2_call_too_long - end a callback that is too long for the connection
 * @sc: callback that is not posted. It does not count as an error of the peer,
 *	and delays no other callback
 *
 * Context: RPC task that has XPRT_LOCKED, perhaps for another callback.
 */
void svc2_call_too_long(struct svc2_call *sc)
{
	guard(spinlock)(&sc->sc_rqst->rq_xprt->queue_lock);
	svc2_call_fail_locked(sc);
	svc2_count(backward_too_long);
}

/* R8: the RPC belongs to the RPC client again, with or without a result. */
static void svc2_call_unpin(struct svc2_call *sc, u32 copied, bool ends)
{
	struct rpc_rqst *rqst = sc->sc_rqst;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc2_msg *answer = sc->sc_answer;
	struct svc2_xprt *sp = sc->sc_sp;

	spin_lock(&xprt->queue_lock);
	sc->sc_answer = NULL;
	if (ends && sc->sc_verdict == SVC2_ANSWER_REPLY) {
		xprt_complete_rqst(rqst->rq_task, copied);
		sp->sp_backward_errors = 0;
		svc2_count(backward_replies);
	} else if (ends) {
		sp->sp_backward_errors++;
		WRITE_ONCE(sp->sp_backward_after, jiffies + HZ / 4 *
			   svc2_backward_pause(sp->sp_backward_errors));
		svc2_call_fail_locked(sc);
		xprt->stat.recvs++;
		svc2_count(backward_errors);
	}
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
	svc2_msg_put(sp, answer);
}

/**
 * svc2_call_end - end a callback that is answered, and exposes nothing
 * @sc: callback, pinned
 *
 * Context: svc thread, send CQ.
 */
void svc2_call_end(struct svc2_call *sc)
{
	u32 copied = 0;

	WARN_ON_ONCE(rpcrdma2_is_exposed(&sc->sc_exposed));	/* R8 */
	if (sc->sc_verdict == SVC2_ANSWER_REPLY)
		copied = svc2_call_place_reply(sc->sc_rqst, sc->sc_answer);
	svc2_call_unpin(sc, copied, true);
}

static void svc2_call_fenced(struct rpcrdma2_conn *co,
			     struct rpcrdma2_exposed *ex, bool ok)
{
	struct svc2_call *sc = container_of(ex, struct svc2_call, sc_exposed);

	if (ok)
		svc2_call_end(sc);
	else
		svc2_call_unpin(sc, 0, false);
}

static int svc2_call_fence(struct svc2_call *sc,
			   void (*done)(struct rpcrdma2_conn *co,
					struct rpcrdma2_exposed *ex, bool ok))
{
	unsigned int regions = list_count_nodes(&sc->sc_exposed.ex_regions);
	int ret;

	svc2_count_add(backward_local_invs, regions);
	sc->sc_exposed.ex_done = done;
	ret = svc2_sq_take_invs(sc->sc_sp, regions);
	return ret ?: rpcrdma2_fence(&sc->sc_sp->sp_conn, &sc->sc_exposed);
}

static void svc2_call_drain(struct svc2_xprt *sp)
{
	guard(mutex)(&sp->sp_drain_mutex);
	rpcrdma2_sq_drain(&sp->sp_conn);
}

/* C-009, S50: an invalidated handle must belong to the callback. */
static void svc2_call_invalidated(struct svc2_call *sc, u32 handle)
{
	struct svc2_xprt *sp = sc->sc_sp;

	if (!handle)
		return;
	if (rpcrdma2_exposed_invalidated(&sp->sp_conn, &sc->sc_exposed, handle)) {
		svc2_count(backward_remote_invs);
		atomic_long_inc(&sp->sp_called.bw_invs);
	} else {
		svc2_close(sp, RPCRDMA2_LOSS_HANDLE);
	}
}

/**
 * svc2_call_answered - process the answer to a callback
 * @sc: callback, pinned, with sc_answer and sc_verdict
 *
 * If the connection is lost meanwhile the RPC ends with it.
 *
 * Context: svc thread.
 */
void svc2_call_answered(struct svc2_call *sc)
{
	struct svc2_xprt *sp = sc->sc_sp;

	svc2_call_invalidated(sc, sc->sc_answer->sm_msg.mg_handle);
	if (!rpcrdma2_is_exposed(&sc->sc_exposed))
		svc2_call_end(sc);
	else if (svc2_call_fence(sc, svc2_call_fenced))
		svc2_call_unpin(sc, 0, false);
	else if (unlikely(rpcrdma2_conn_is_lost(&sp->sp_conn)))
		/*
		 * @sc may be gone. A fence that was posted in part reports
		 * nothing.
		 */
		svc2_call_drain(sp);
}

static void svc2_call_revoked(struct rpcrdma2_conn *co,
			      struct rpcrdma2_exposed *ex, bool ok)
{
	complete(&container_of(ex, struct svc2_call, sc_exposed)->sc_revoked);
}

/**
 * svc2_call_revoke - revoke the memory that an aborted callback exposes
 * @sc: callback that exposes memory, and that no answer reaches any longer
 *
 * The fence does not depend on the peer, but the Send Queue may have to wait
 * for it: then the connection is closed, and the queue pair with it.
 *
 * Context: RPC task; sleeps.
 */
void svc2_call_revoke(struct svc2_call *sc)
{
	struct svc2_xprt *sp = sc->sc_sp;

	svc2_count(backward_revoked);
	if (sc->sc_late)
		svc2_count(backward_late);
	svc2_call_invalidated(sc, sc->sc_late_handle);
	if (!rpcrdma2_is_exposed(&sc->sc_exposed))
		return;
	reinit_completion(&sc->sc_revoked);
	/*
	 * An answer's fence may have failed (Q2), and a fence that was posted
	 * in part reports nothing.
	 */
	if (!rpcrdma2_conn_is_lost(&sp->sp_conn) &&
	    !svc2_call_fence(sc, svc2_call_revoked) &&
	    !rpcrdma2_conn_is_lost(&sp->sp_conn) &&
	    wait_for_completion_timeout(&sc->sc_revoked, SVC2_REVOKE_TIMEOUT) &&
	    !rpcrdma2_is_exposed(&sc->sc_exposed))
		return;
	/* svc2_call_revoked() may be running until the queue is drained */
	svc2_close(sp, RPCRDMA2_LOSS_STALLED);
	svc2_call_drain(sp);
	rpcrdma2_strip(&sp->sp_conn, &sc->sc_exposed);
}
