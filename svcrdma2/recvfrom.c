// SPDX-License-Identifier: GPL-2.0
/*
 * From a message to nfsd's Call: RDMA Reads of its chunks, and rq_arg; or to
 * the answer to a property message
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/random.h>

#include "svcrdma2.h"
#include "trace.h"

/*
 * rq_arg is made of a Call's Receive and its pages, in the form in which the
 * kernel's nfsd takes the data of a WRITE (probe-svc-write-bvec.c in compat/):
 * "The server's path" in Documentation/architecture.rst.
 *
 * rq_arg never has a tail: the upper layer walks from the head into the pages
 * for the length of an item, without a check for the end of the pages. So the
 * part behind a chunk, usually a few words, is copied behind it.
 */

#ifndef RPCRDMA2_STRETCHES
/*
 * In pages: the head is the part in the first page. Data may begin anywhere,
 * and a disk's driver may need the physical address of a page: nothing is
 * mapped.
 */

/* The message, as far as the first page holds it */
static void *svc2_arg_message(const struct svc2_msg *call)
{
	return rpcrdma2_recv_at(call->sm_recv, 0) + call->sm_msg.mg_hdr.h_len;
}

/* True if the data of a Call with Read chunks can stay separate */
static bool svc2_arg_splits(const struct svc2_msg *call)
{
	return svc2_layout_splits_paged(&call->sm_msg.mg_hdr,
					svc2_arg_message(call),
					call->sm_inline);
}

static enum rpcrdma2_errcode
svc2_arg_build_inline(struct svc2_xprt *sp, struct svc2_msg *call,
		      struct xdr_buf *arg)
{
	rpcrdma2_recv_buf_paged(call->sm_recv, call->sm_msg.mg_hdr.h_len, arg);
	return RDMA2_OK;
}

static enum rpcrdma2_errcode
svc2_arg_join(struct svc2_xprt *sp, struct svc2_msg *call, struct xdr_buf *arg)
{
	return RDMA2_OK;
}
#else
/*
 * In one piece: nfsd writes data that begins in a page of rq_arg from the
 * beginning of that page. So all of a Call is its head, at consecutive
 * addresses, or the data begins where a page does. RPCSEC_GSS takes the
 * physical address of the head: with it an inline Call is copied, the head of a
 * flat Call is the first page, and a Call whose data could begin in another is
 * refused.
 */

static void *svc2_arg_message(const struct svc2_msg *call)
{
	return call->sm_recv->rv_buf + call->sm_msg.mg_hdr.h_len;
}

static bool svc2_arg_splits(const struct svc2_msg *call)
{
	return svc2_layout_splits(&call->sm_msg.mg_hdr, svc2_arg_message(call),
				  call->sm_inline);
}

static enum rpcrdma2_errcode
svc2_arg_build_inline(struct svc2_xprt *sp, struct svc2_msg *call,
		      struct xdr_buf *arg)
{
	struct kvec *head = &arg->head[0];

	rpcrdma2_recv_buf(call->sm_recv, call->sm_msg.mg_hdr.h_len, arg);
	if (likely(call->sm_recv->rv_len <= PAGE_SIZE) ||
	    !svc2_layout_is_gss(svc2_arg_message(call), call->sm_inline))
		return RDMA2_OK;
	call->sm_copy = svc2_retry_alloc(sp, kmemdup(head->iov_base,
						     head->iov_len,
						     GFP_KERNEL | __GFP_NOWARN));
	head->iov_base = call->sm_copy;
	return call->sm_copy ? RDMA2_OK : RDMA2_DROP;
}

static enum rpcrdma2_errcode svc2_arg_judge_gss(const struct svc2_msg *call,
						u32 head)
{
	const struct rpcrdma2_arg ar = svc2_msg_to_arg(call);
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	const struct rpcrdma2_chunk *ck = h->h_reads;
	__be32 before = 0;

	if (h->h_proc == RDMA2_NOMSG)
		ck++;
	if (ck < h->h_reads + h->h_nreads)
		before = *(__be32 *)rpcrdma2_arg_at(&ar, ck->ck_position -
						    XDR_UNIT);
	return svc2_layout_judge_gss(h, call->sm_inline, head, before);
}

static enum rpcrdma2_errcode
svc2_arg_join(struct svc2_xprt *sp, struct svc2_msg *call, struct xdr_buf *arg)
{
	struct kvec *head = &arg->head[0];

	if (svc2_layout_is_gss(head->iov_base, head->iov_len))
		return svc2_arg_judge_gss(call, head->iov_len);
	call->sm_map = svc2_retry_alloc(sp, vm_map_ram(call->sm_pages,
						       svc2_msg_pages(call),
						       NUMA_NO_NODE));
	head->iov_base = call->sm_map;
	head->iov_len = call->sm_length;
	arg->page_len = 0;
	return call->sm_map ? RDMA2_OK : RDMA2_DROP;
}
#endif

static enum rpcrdma2_errcode
svc2_arg_build_chunked(struct svc2_xprt *sp, struct svc2_msg *call,
		       struct xdr_buf *arg)
{
	const struct rpcrdma2_arg ar = svc2_msg_to_arg(call);
	struct kvec *head = &arg->head[0];

	*arg = (struct xdr_buf){
		.pages		= call->sm_pages,
		.page_len	= call->sm_length,
	};
	if (call->sm_apart) {
		head->iov_base = svc2_arg_message(call);
		head->iov_len = call->sm_apart;
		return RDMA2_OK;
	}
	head->iov_base = rpcrdma2_arg_at(&ar, 0);
	head->iov_len = min_t(u32, call->sm_length, PAGE_SIZE);
	arg->pages++;
	arg->page_len -= head->iov_len;
	return arg->page_len ? svc2_arg_join(sp, call, arg) : RDMA2_OK;
}

/*
 * A Call that is dropped for lack of memory has not been processed: the
 * requester sends it again when the connection is lost.
 */
static int svc2_arg_hand_on(struct svc_rqst *rqstp, struct svc2_msg *call,
			    enum rpcrdma2_errcode verdict)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct xdr_buf *arg = &rqstp->rq_arg;

	if (unlikely(verdict == RDMA2_DROP)) {
		svc2_msg_put(sp, call);
		return 0;
	}
	/* a single Read chunk would do; other errors carry no number (C-083) */
	if (unlikely(verdict))
		return svc2_refuse(sp, call, verdict, 1, 0);

	arg->len = arg->head[0].iov_len + arg->page_len;
	arg->buflen = arg->len;
	return svc2_deliver(rqstp, call);
}

/* Whether the Call has entries for its Reply; if not, it waits or has ended. */
static bool svc2_arg_reserve(struct svc2_xprt *sp, struct svc2_msg *call)
{
	int ret = svc2_sq_reserve(sp, call);

	if (ret == -ENOTCONN)
		svc2_msg_put(sp, call);
	return !ret;
}

/* Passes a Call without Read chunks to the RPC layer. */
static int svc2_arg_inline(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);

	if (!svc2_arg_reserve(sp, call))
		return 0;
	return svc2_arg_hand_on(rqstp, call,
				svc2_arg_build_inline(sp, call,
						      &rqstp->rq_arg));
}

/*
 * Calls with Read chunks. The data of a WRITE goes to the beginning of a page
 * if it is the only chunk, and the Receive serves as head of rq_arg. All other
 * Calls are laid out flat (plan.h), from the beginning of a page.
 *
 * The thread waits neither for the RDMA Reads nor for their resources (R2): a
 * thread goes on with svc2_read_resume(). Only when memory or mappings are
 * short one thread of the connection waits, and other Calls wait for it.
 */

static void svc2_read_refused(struct rpcrdma2_conn *co,
			      struct rpcrdma2_post *post)
{
	struct svc2_msg *call = container_of(post, struct svc2_msg, sm_post);

	svc2_breaker_note(svc2_from_conn(co), call->sm_msg.mg_hdr.h_xid);
}

static void svc2_read_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
			   bool ok)
{
	struct svc2_msg *call = container_of(post, struct svc2_msg, sm_post);
	struct svc2_xprt *sp = svc2_from_conn(co);

	svc2_count(send_completions);
	svc2_reads_free(sp, call);
	/* on iWARP chains still complete after the end: svc2_calls_flush() */
	if (ok && !svc_xprt_is_dead(&sp->sp_xprt))
		svc2_msg_ready(sp, call);
	else
		svc2_msg_put(sp, call);
}

/* Return: as svc2_sem_take_call(); -EMSGSIZE if it needs more than exist. */
static int svc2_read_take_mrs(struct svc2_xprt *sp, struct svc2_msg *call)
{
	unsigned int mrs = rpcrdma2_rw_mrs(&sp->sp_conn, &call->sm_rw);

	if (!mrs || call->sm_mrs)
		return 0;
	if (mrs > sp->sp_conn.co_rw_mrs)
		return -EMSGSIZE;
	return svc2_sem_take_call(sp, &sp->sp_mr_sem, call, mrs, 0,
				  &call->sm_mrs);
}

/*
 * Takes the resources of RDMA Reads: pages, and memory regions. A step that is
 * done is not repeated; on failure the Call may have pages.
 */
static int svc2_read_prepare(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct rpcrdma2_conn *co = &sp->sp_conn;
	struct rpcrdma2_arg ar;
	int ret = 0;

	if (rpcrdma2_rw_is_empty(&call->sm_rw)) {
		if (!call->sm_pages)
			ret = svc2_sinks_take(rqstp, call);
		ar = svc2_msg_to_arg(call);
		if (!ret)
			ret = rpcrdma2_arg_reads(co, &ar, &call->sm_rw);
		if (ret)
			rpcrdma2_rw_free(co, &call->sm_rw);
	}
	return ret ?: svc2_read_take_mrs(sp, call) ?:
		      rpcrdma2_rw_map(co, &call->sm_rw);
}

static void svc2_read_build_chain(struct svc2_xprt *sp, struct svc2_msg *call)
{
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	struct rpcrdma2_post *post = &call->sm_post;

	svc2_count_add(read_chunks, h->h_nreads);
	atomic_long_add(h->h_nreads, &sp->sp_read_chunks);
	svc2_count_add(read_chunk_bytes,
		       call->sm_apart + call->sm_length - call->sm_inline);
	if (h->h_proc == RDMA2_NOMSG)
		svc2_count(long_calls);

	post->po_signal = true;
	post->po_done = svc2_read_done;
	post->po_refused = svc2_read_refused;
	call->sm_chain = rpcrdma2_rw_chain(&sp->sp_conn, &call->sm_rw,
					   &post->po_cqe, NULL);
}

/*
 * Return: 0 when the Call belongs to the Send Queue, -EINPROGRESS when it
 * waits, to be resumed; else why it cannot be read, and it still is the
 * caller's.
 */
static int svc2_read_start(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	unsigned int tries = 0;
	bool waits = false;
	int ret;

	if (call->sm_chain)
		return svc2_sq_post_reads(sp, call);
	do {
		ret = svc2_read_prepare(rqstp, call);
		if (unlikely(svc2_is_shortage(ret)) && !waits) {
			waits = svc2_shortage_begin(sp);
			if (!waits) {
				/* begins again, with pages of a later thread */
				svc2_reads_free(sp, call);
				svc2_sinks_put(call, false);
				svc2_shortage_queue(sp, call);
				return -EINPROGRESS;
			}
		}
	} while (svc2_try_again(sp, &tries, &ret));
	if (unlikely(waits))
		svc2_shortage_end(sp);
	if (ret)
		return ret;
	svc2_read_build_chain(sp, call);
	return svc2_sq_post_reads(sp, call);
}

/* @ret: result of the attempt. Return: 0, for ->xpo_recvfrom to return. */
static int svc2_read_release(struct svc2_xprt *sp, struct svc2_msg *call,
			     int ret)
{
	if (!ret || ret == -EINPROGRESS)
		return 0;
	if (ret == -ENOTCONN) {
		svc2_msg_put(sp, call);
		return 0;
	}
	/* more than the Send Queue can ever take (C-093) */
	return svc2_refuse(sp, call, RDMA2_ERR_SYSTEM, 0, 0);
}

/* Starts the RDMA Reads of a Call, which is no longer the thread's (R2). */
static int svc2_read_chunks(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	u64 whole = rpcrdma2_layout_length(h, call->sm_inline);
	unsigned int i, pages, segs = 0;
	int ret;

	/* longer than any Call may be; no other error reports that (C-106) */
	if (whole > rqstp->rq_server->sv_max_mesg)
		return svc2_refuse(sp, call, RDMA2_ERR_SYSTEM, 0, 0);

	call->sm_apart = svc2_arg_splits(call) ? h->h_reads->ck_position : 0;
	call->sm_length = whole - call->sm_apart;

	for (i = 0; i < h->h_nreads; i++)
		segs += h->h_reads[i].ck_nsegs;
	pages = svc2_read_charge(svc2_msg_pages(call) + call->sm_reply_pages,
				 segs, h->h_nreads, SVC2_PAGES_MIN / 2 - 1);
	ret = svc2_pages_reserve(sp, call, pages);
	return svc2_read_release(sp, call, ret ?: svc2_read_start(rqstp, call));
}

/* Goes on with a Call whose RDMA Reads are done, or can begin. */
static int svc2_read_resume(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct rpcrdma2_arg ar;

	if (!svc2_msg_is_read(call))
		return svc2_read_release(sp, call,
					 svc2_read_start(rqstp, call));
	if (!svc2_arg_reserve(sp, call))
		return 0;
	trace_svc2_read_resume(call, sp->sp_conn.co_send_cq);
	/* all of it is in place, except for the part in its Receive */
	ar = svc2_msg_to_arg(call);
	rpcrdma2_arg_finish(&ar);
	if (call->sm_msg.mg_hdr.h_proc == RDMA2_NOMSG &&
	    !rpcrdma2_arg_is_call(&ar, call->sm_length))
		return svc2_refuse(sp, call, RDMA2_ERR_BAD_XDR, 0, 0);
	return svc2_arg_hand_on(rqstp, call,
				svc2_arg_build_chunked(sp, call,
						       &rqstp->rq_arg));
}

/*
 * Properties of both ends. The server answers the CONNPROP of a version 2
 * client with its own, once (S29). Control messages come one at a time, in the
 * order of arrival, to the thread with XPT_BUSY, which sends the server's
 * property messages in between. Therefore nothing here is locked.
 */

/* Any peer has room for the longest message (RPCRDMA2_REQPROP_MAX). */
static int svc2_props_encode(struct svc2_xprt *sp, struct svc2_tx *tx,
			     const struct rpcrdma2_propmsg *pm)
{
	int len = rpcrdma2_encode_propmsg(tx->tx_buf, RPCRDMA2_INLINE_FIRST,
					  READ_ONCE(sp->sp_grant), pm);	/* S26 */

	tx->tx_len = len;
	tx->tx_vers = RPCRDMA2_VERS_TWO;
	return min(len, 0);
}

/* @h: header of the message that is answered, if need be with an error */
static void svc2_props_answer(struct svc2_xprt *sp, struct rpcrdma2_hdr *h,
			      const struct rpcrdma2_propmsg *pm)
{
	struct svc2_tx *tx = svc2_tx_get(sp);
	struct rpcrdma2_reply_plan plan = { };
	int ret;

	if (IS_ERR(tx))
		return;
	/* a plain Send (S49) */
	ret = svc2_props_encode(sp, tx, pm) ?: svc2_tx_post(sp, tx, 0, NULL);
	if (ret)
		svc2_error_instead(sp, tx, h, &plan, ret);
}

/*
 * An error carries only an xid, so a property message must not have the xid of
 * a callback: its xid is taken from the sequence of the callbacks (S18).
 */
static u32 svc2_props_take_xid(struct svc2_xprt *sp)
{
	/* pairs with svc2_bc_setup() */
	struct rpc_xprt *xprt = smp_load_acquire(&sp->sp_xprt.xpt_bc_xprt);

	if (!xprt)
		return get_random_u32();
	guard(spinlock)(&xprt->reserve_lock);
	return be32_to_cpu((__force __be32)xprt->xid++);
}

static int svc2_props_send(struct rpcrdma2_exchange *ex,
			   struct rpcrdma2_hdr *h, struct rpcrdma2_propmsg *pm)
{
	struct svc2_xprt *sp = container_of(ex, struct svc2_xprt, sp_ex);
	struct svc2_tx *tx;
	int ret;

	if (h) {
		svc2_props_answer(sp, h, pm);
		return 0;
	}
	/*
	 * A Call may have been taken up without a context (svc2_may_receive()),
	 * and XPT_BUSY does not wait for the peer.
	 */
	if (svc2_sem_avail(&sp->sp_tx_sem) <=
	    atomic_read(&sp->sp_xprt.xpt_nr_rqsts))
		return -EAGAIN;
	tx = svc2_tx_get(sp);
	if (IS_ERR(tx))
		return PTR_ERR(tx);
	pm->pm_xid = svc2_props_take_xid(sp);
	tx->tx_props = ex->ex_number;
	tx->tx_signal = true;
	ret = svc2_props_encode(sp, tx, pm) ?: svc2_tx_post(sp, tx, 0, NULL);
	if (ret)
		svc2_tx_put(sp, tx);
	return ret;
}

static void svc2_props_changed(struct rpcrdma2_exchange *ex)
{
	struct svc2_xprt *sp = container_of(ex, struct svc2_xprt, sp_ex);

	svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
	WRITE_ONCE(sp->sp_props_busy, rpcrdma2_exchange_busy(ex));
}

static void svc2_props_count(enum rpcrdma2_props_counter which, u32 n)
{
	this_cpu_add(svc2_counters[SVC2_C_connprops + which], n);
}

const struct rpcrdma2_props_ops svc2_props_ops = {
	.send		= svc2_props_send,
	.changed	= svc2_props_changed,
	.resize		= svc2_receives_resize,
	.count		= svc2_props_count,
	.confirms	= true,
};

/* A property message, well-formed, in either spelling (S01) */
static int svc2_handle_property(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	svc2_msg_put_recv(sp, msg);		/* R6 */
	rpcrdma2_exchange_take(&sp->sp_ex, &msg->sm_msg.mg_prop);
	rpcrdma2_exchange_answer(&sp->sp_ex, &msg->sm_msg, jiffies);
	svc2_msg_put(sp, msg);
	return 0;
}

/* A RESPROP, or an option that is an answer; perhaps malformed */
static int svc2_handle_resprop(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	const struct rpcrdma2_msg *mg = &msg->sm_msg;

	svc2_check_handle(sp, mg);		/* S50 */
	if (!mg->mg_verdict && mg->mg_prop.pm_want)
		rpcrdma2_exchange_take(&sp->sp_ex, &mg->mg_prop);
	else if (!rpcrdma2_exchange_malformed(&sp->sp_ex, mg))
		return svc2_discard_reply(sp, msg); /* no request (S17, S39) */
	svc2_msg_put(sp, msg);
	return 0;
}

/*
 * An error, perhaps malformed, answers a property message of the server, or
 * else a callback (S18). The memory regions of a callback may have to wait for
 * entries of the Send Queue, and so for the peer. Such an error is left to the
 * thread that finds it on sp_ready_q.
 */
static int svc2_handle_error(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	if (rpcrdma2_msg_is_error(&msg->sm_msg) &&
	    rpcrdma2_exchange_refused(&sp->sp_ex, &msg->sm_msg.mg_hdr)) {
		svc2_check_handle(sp, &msg->sm_msg);	/* S50 */
		svc2_msg_put(sp, msg);
	} else {
		svc2_msg_ready(sp, msg);
	}
	return 0;
}

/* Updates the sizes; sends the next property message, if due. Under XPT_BUSY */
static void svc2_props_update(struct svc2_xprt *sp)
{
	clear_bit(SVC2_F_CHANGED, &sp->sp_flags);
	/* pairs with svc2_sizes_changed() */
	smp_mb__after_atomic();
	svc2_sizes_update(sp);
	rpcrdma2_exchange_resize(&sp->sp_ex, sp->sp_recv_size, sp->sp_send_own);
	rpcrdma2_exchange_send_next(&sp->sp_ex, jiffies);
}

/*
 * Dispatch. rpcrdma2_msg_read() has judged the message: steps 1 to 8 of the
 * responder's order of checks (section 2.5 of Documentation/protocol.rst), and
 * the body of a property message. From there on it is trusted. Only this code
 * decides which message may be answered with an error.
 */

static int svc2_recv_handle_call(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	unsigned int i;
	int ret;
	u32 handle;

	if (svc2_take_breaker(sp, h->h_xid)) {
		svc2_count(calls_lost_again);
		return svc2_refuse(sp, call, RDMA2_ERR_SYSTEM, 0, 0);
	}
	/* in version 1 the private data allows it (P-07, P-09) */
	handle = rpcrdma2_inv_handle(h, sp->sp_peer.cl_inv);
	if (h->h_inv_handle && !handle)
		svc2_count(bad_nominations);
	/* the device must support remote invalidation, too (C-007) */
	call->sm_inv_handle = sp->sp_can_invalidate ? handle : 0;
	call->sm_inline = h->h_proc == RDMA2_MSG ? call->sm_msg.mg_paylen : 0;
	call->sm_offered = h->h_has_reply ? h->h_reply.ck_length : 0;
	for (i = 0; i < h->h_nwrites; i++)
		call->sm_offered += h->h_writes[i].ck_length;
	call->sm_reply_pages =
		svc2_reply_pages(call->sm_offered,
				 svc_serv_maxpages(rqstp->rq_server));
	if (h->h_nreads)
		return svc2_read_chunks(rqstp, call);
	ret = call->sm_reply_pages ?
	      svc2_pages_reserve(sp, call, call->sm_reply_pages) : 0;
	return ret ? svc2_read_release(sp, call, ret) : svc2_arg_inline(rqstp, call);
}

/*
 * Handles a message by its type and the role the sender takes (S38): the codec
 * lets a role send no other types, sets the role of a property message in
 * either spelling, and none for an unknown type. Unlike a Call, a malformed
 * Reply is handled: an RPC may wait for it.
 */
static int svc2_recv_handle(struct svc_rqst *rqstp, struct svc2_msg *msg,
			    bool reply)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);

	switch (msg->sm_msg.mg_hdr.h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return reply ? svc2_take_answer(sp, msg) :
			       svc2_recv_handle_call(rqstp, msg);
	case RDMA2_ERROR:
		return svc2_handle_error(sp, msg);
	default:		/* a property message; other options: see S39 */
		return reply ? svc2_handle_resprop(sp, msg) :
			       svc2_handle_property(sp, msg);
	}
}

/*
 * In version 1 the server makes no Calls with a Reply chunk: an apparent answer
 * to such a Call is a Call that lacks its Read list (E-24).
 */
static bool svc2_recv_lacks_reads(const struct rpcrdma2_hdr *h)
{
	return h->h_vers == RPCRDMA2_VERS_ONE && h->h_proc == RDMA2_NOMSG &&
	       h->h_direction == RDMA2_REPLY;
}

/*
 * A Reply, an error or an answer is not answered, even if it is malformed
 * (C-078, S38). A message of unknown direction counts as a Call (S06).
 */
static bool svc2_recv_is_reply(const struct rpcrdma2_hdr *h)
{
	return h->h_proc == RDMA2_ERROR ||
	       (h->h_direction == RDMA2_REPLY && !svc2_recv_lacks_reads(h));
}

/*
 * Step 2 of the order of checks: refuses a version that the server does not
 * support, or the administrator does not allow, with the versions it accepts.
 * Answers are not refused (C-078, C-079, E-17, S36).
 */
static bool svc2_recv_refuse_version(struct svc2_xprt *sp,
				     struct svc2_msg *call)
{
	u32 only = READ_ONCE(svc2_versions.pm_value);
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;

	if (call->sm_recv->rv_len < RPCRDMA2_PREFIX_LEN ||
	    svc2_recv_is_reply(h) || svc2_version_is_allowed(only, h->h_vers))
		return false;
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		pr_warn_ratelimited("client %s uses RPC-over-RDMA version 1, which the module parameter versions=any allows\n",
				    sp->sp_xprt.xpt_remotebuf);
	svc2_refuse(sp, call, RDMA2_ERR_VERS, only ?: RPCRDMA2_VERS_ONE,
		    only ?: RPCRDMA2_VERS_TWO);
	return true;
}

static void svc2_msg_read_from(struct svc2_xprt *sp, struct svc2_msg *msg,
			       void *base, u32 room)
{
	const struct rpcrdma2_recv *rv = msg->sm_recv;

	rpcrdma2_msg_read(&msg->sm_msg, base, room, rv->rv_len, rv->rv_handle,
			  &sp->sp_ex);
}

#ifdef RPCRDMA2_STRETCHES
static bool svc2_msg_read(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	svc2_msg_read_from(sp, msg, msg->sm_recv->rv_buf,
			   msg->sm_recv->rv_len);
	return true;
}
#else
/* Decodes a contiguous copy. Return: false when the connection is lost. */
static bool svc2_msg_read_copy(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	u32 len = msg->sm_recv->rv_len, at, n;
	void *copy;

	copy = svc2_retry_alloc(sp, kvmalloc(len, GFP_KERNEL));
	if (!copy)
		return false;
	for (at = 0; at < len; at += n) {
		n = min_t(u32, len - at, PAGE_SIZE);
		memcpy(copy + at, rpcrdma2_recv_at(msg->sm_recv, at), n);
	}
	svc2_msg_read_from(sp, msg, copy, len);
	kvfree(copy);
	return true;
}

/*
 * The header of a valid Call ends in the first page, unless it is full of empty
 * segments. Only property messages, and messages that look malformed in the
 * first page, are read as a whole (S11).
 */
static bool svc2_msg_read(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	const struct rpcrdma2_msg *mg = &msg->sm_msg;

	svc2_msg_read_from(sp, msg, rpcrdma2_recv_at(msg->sm_recv, 0),
			   PAGE_SIZE);
	if (likely(msg->sm_recv->rv_len <= PAGE_SIZE) ||
	    (!mg->mg_verdict && !rpcrdma2_msg_is_optional(mg)))
		return true;
	return svc2_msg_read_copy(sp, msg);
}
#endif

/* Return: a decoded message that owns @rv, or NULL: connection lost. */
static struct svc2_msg *svc2_msg_get(struct svc2_xprt *sp,
				     struct rpcrdma2_recv *rv)
{
	struct svc2_msg *msg;

	msg = svc2_retry_alloc(sp, kmem_cache_alloc(svc2_msg_cache, GFP_KERNEL));
	if (!msg)
		return NULL;

	memset(msg, 0, offsetof(struct svc2_msg, sm_spares));
	msg->sm_recv = rv;
	rpcrdma2_rw_init(&msg->sm_rw, DMA_FROM_DEVICE);
	if (likely(svc2_msg_read(sp, msg)))
		return msg;
	kmem_cache_free(svc2_msg_cache, msg);
	return NULL;
}

/* In this order: version, verdict, handler. Return: as svc2_recvfrom(). */
static int svc2_recv_parse(struct svc_rqst *rqstp, struct rpcrdma2_recv *rv)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct svc2_msg *call = svc2_msg_get(sp, rv);
	const struct rpcrdma2_msg *msg;
	const struct rpcrdma2_hdr *h;

	if (!call) {
		svc2_recv_put(sp, rv);
		return 0;
	}
	msg = &call->sm_msg;
	h = &msg->mg_hdr;
	trace_svc2_decode(sp->sp_conn.co_recv_cq, rv->rv_id, h, rv->rv_len,
			  msg->mg_verdict);

	if (unlikely(msg->mg_handle) &&
	    (!svc2_recv_is_reply(h) || msg->mg_verdict == RDMA2_DROP))
		svc2_check_handle(sp, msg);		/* S50 */
	if (svc2_recv_refuse_version(sp, call))
		return 0;
	if (msg->mg_verdict == RDMA2_DROP) {
		svc2_count(dropped_silently);
		svc2_msg_put(sp, call);
		return 0;
	}
	if (svc2_recv_is_reply(h))
		return svc2_recv_handle(rqstp, call, true);
	if (svc2_recv_lacks_reads(h))
		return svc2_refuse(sp, call, RDMA2_ERR_BAD_XDR, 0, 0);
	if (msg->mg_verdict)
		return svc2_refuse(sp, call, msg->mg_verdict, 0, 0);
	/* all threads read this cache line */
	if (unlikely(READ_ONCE(sp->sp_last_vers) != h->h_vers))
		WRITE_ONCE(sp->sp_last_vers, h->h_vers);
	return svc2_recv_handle(rqstp, call, false);
}

/*
 * True for a message without an RPC. The types of the others, MSG, NOMSG and
 * version 1's MSGP, are the lowest, in the same place in all versions. For a
 * message that is too short the result does not matter.
 */
static bool svc2_recv_is_control(const struct rpcrdma2_recv *rv)
{
	const __be32 *p = rpcrdma2_recv_at(rv, 0);

	return be32_to_cpu(p[3]) > RDMA1_MSGP;
}

/* Other Calls may wait for the resources of those on sp_start_q. */
static struct svc2_msg *svc2_recv_take_call(struct svc2_xprt *sp)
{
	struct svc2_msg *call;

	if (likely(list_empty(&sp->sp_start_q) && list_empty(&sp->sp_ready_q)))
		return NULL;
	guard(spinlock)(&sp->sp_recv_lock);
	call = list_first_entry_or_null(&sp->sp_start_q, struct svc2_msg,
					sm_wait.wt_list) ?:
	       list_first_entry_or_null(&sp->sp_ready_q, struct svc2_msg,
					sm_wait.wt_list);
	if (call)
		list_del(&call->sm_wait.wt_list);
	return call;
}

static struct rpcrdma2_recv *svc2_recv_take_message(struct svc2_xprt *sp)
{
	struct rpcrdma2_recv *rv;

	if (list_empty(&sp->sp_recv_q)) {
		svc2_recv_poll(sp);
		svc2_recv_sort(sp);
	}
	rv = list_first_entry_or_null(&sp->sp_recv_q, struct rpcrdma2_recv,
				      rv_list);
	if (rv)
		list_del(&rv->rv_list);
	return rv;
}

/*
 * Takes the next item: a Call, or else a Receive. Afterwards XPT_DATA is set
 * only if there are more, or the RPC layer would wake another thread that finds
 * nothing. An item that is queued meanwhile is visible before it sets XPT_DATA.
 */
static struct svc2_msg *svc2_recv_take_next(struct svc2_xprt *sp,
					    struct rpcrdma2_recv **rv)
{
	struct svc2_msg *call;

	clear_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	/* pairs with the barrier before each set_bit(), or llist_add() */
	smp_mb__after_atomic();
	call = svc2_recv_take_call(sp);
	*rv = call ? NULL : svc2_recv_take_message(sp);
	if (!list_empty(&sp->sp_recv_q) || !llist_empty(&sp->sp_arrived) ||
	    !list_empty(&sp->sp_start_q) || !list_empty(&sp->sp_ready_q) ||
	    READ_ONCE(sp->sp_event))
		set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	return call;
}

/**
 * svc2_recvfrom - implement ->xpo_recvfrom
 * @rqstp: thread, which receives a Call
 *
 * Other threads take up the connection's messages as soon as this one has its
 * own, with one exception: a control message is processed before the messages
 * that follow it, and in its turn (S16).
 *
 * Return: bytes of the Call in rq_arg, or 0 when there is none (yet).
 */
int svc2_recvfrom(struct svc_rqst *rqstp)
{
	struct svc_xprt *xprt = rqstp->rq_xprt;
	struct svc2_xprt *sp = svc2_from_xprt(xprt);
	struct rpcrdma2_recv *rv;
	struct svc2_msg *call;
	int ret;

	rpcrdma2_rqst_begin(rqstp);
	rqstp->rq_xprt_ctxt = NULL;

	call = svc2_recv_take_next(sp, &rv);
	if (rv)
		rpcrdma2_recv_sync(rv);
	if (rv && unlikely(READ_ONCE(sp->sp_props_busy)))
		rpcrdma2_exchange_received(&sp->sp_ex, rv->rv_at);
	if (rv && unlikely(svc2_recv_is_control(rv))) {
		ret = svc2_recv_parse(rqstp, rv);
		svc2_props_update(sp);
		svc_xprt_received(xprt);
		return ret;
	}

	/* the awaited message may have arrived, or sizes have changed */
	if (unlikely(READ_ONCE(sp->sp_props_busy) ||
		     test_bit(SVC2_F_CHANGED, &sp->sp_flags)))
		svc2_props_update(sp);
	svc_xprt_received(xprt);
	if (!call)
		return rv ? svc2_recv_parse(rqstp, rv) : 0;
	if (unlikely(call->sm_msg.mg_hdr.h_proc == RDMA2_ERROR))
		return svc2_take_answer(sp, call);
	return call->sm_msg.mg_hdr.h_nreads ? svc2_read_resume(rqstp, call) :
					      svc2_arg_inline(rqstp, call);
}

/**
 * svc2_release_ctxt - implement ->xpo_release_ctxt
 * @xprt: connection
 * @ctxt: message of the Call; NULL without a Call, or when it was deferred
 *
 * Context: any task; may sleep.
 */
void svc2_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
	struct svc2_xprt *sp = svc2_from_xprt(xprt);

	if (ctxt)
		svc2_msg_put(sp, ctxt);
	else
		svc2_pages_deferred(sp);
}
