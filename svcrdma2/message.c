// SPDX-License-Identifier: GPL-2.0
/* Life cycle of a message: from its Receive to the RPC layer, or to its end. */
#include <linux/slab.h>

#include "arg.h"

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
	struct kvec copy = { .iov_len = msg->sm_recv->rv_len };
	unsigned int tries = 0;
	struct xdr_buf buf;
	int ret;

	do {
		copy.iov_base = kvmalloc(copy.iov_len, GFP_KERNEL);
		ret = copy.iov_base ? 0 : -ENOMEM;
	} while (svc2_try_again(sp, &tries, &ret));
	if (ret)
		return false;
	xdr_buf_from_iov(&copy, &buf);
	rpcrdma2_recv_copy(msg->sm_recv, 0, copy.iov_len, &buf, 0);
	svc2_msg_read_from(sp, msg, copy.iov_base, copy.iov_len);
	kvfree(copy.iov_base);
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
	    (!mg->mg_verdict && !rpcrdma2_msg_is_control(mg)))
		return true;
	return svc2_msg_read_copy(sp, msg);
}
#endif

/**
 * svc2_msg_get - allocate a message for a Receive, and decode it
 * @sp: its connection
 * @rv: Receive it came in
 *
 * Context: svc thread; may sleep.
 * Return: a Call that owns @rv, or NULL when the connection is lost.
 */
struct svc2_msg *svc2_msg_get(struct svc2_xprt *sp, struct rpcrdma2_recv *rv)
{
	struct svc2_msg *msg;
	unsigned int tries = 0;
	int ret;

	do {
		msg = kmem_cache_alloc(svc2_msg_cache, GFP_KERNEL);
		ret = msg ? 0 : -ENOMEM;
	} while (svc2_try_again(sp, &tries, &ret));
	if (!msg)
		return NULL;

	msg->sm_recv = rv;
	rpcrdma2_rw_init(&msg->sm_rw, DMA_FROM_DEVICE);
	msg->sm_chain = NULL;
	msg->sm_mrs = 0;
	msg->sm_entries = 0;
	msg->sm_pages = NULL;
	msg->sm_npages = 0;
	msg->sm_charged = 0;
	msg->sm_reply_pages = 0;
	msg->sm_deferred = false;
	msg->sm_thread = NULL;
	svc2_arg_init(msg);
	msg->sm_inv_handle = 0;
	msg->sm_nresults = 0;
	if (likely(svc2_msg_read(sp, msg)))
		return msg;
	kmem_cache_free(svc2_msg_cache, msg);
	return NULL;
}

/**
 * svc2_reads_free - free the resources of a Call's RDMA Reads (R5)
 * @sp: connection
 * @msg: Call; none of its RDMA Reads is posted
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_reads_free(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	rpcrdma2_rw_free(&sp->sp_conn, &msg->sm_rw);
	msg->sm_chain = NULL;
	svc2_gate_give(sp, &sp->sp_mrs, msg->sm_mrs);
	msg->sm_mrs = 0;
	/* may race with svc2_transfer_defer() */
	if (unlikely(msg->sm_entries))
		rpcrdma2_sq_give(&sp->sp_conn, xchg(&msg->sm_entries, 0));
}

/**
 * svc2_msg_put - free a message
 * @sp: its connection
 * @msg: Call
 *
 * Context: svc thread; may sleep. When @msg has not been to the RPC layer yet,
 * send CQ and ->xpo_free too.
 */
void svc2_msg_put(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	svc2_reads_free(sp, msg);
	svc2_arg_free(msg);
	svc2_sinks_put(msg);
	svc2_transfer_leave(sp, msg);
	if (msg->sm_recv)
		svc2_recv_put(sp, msg->sm_recv);
	kmem_cache_free(svc2_msg_cache, msg);
}

/**
 * svc2_msg_put_recv - put a Call's Receive back before the Call ends
 * @sp: its connection
 * @msg: Call; its Receive is not read any longer
 *
 * R6: before a message leaves that returns the credit to the peer.
 *
 * Context: svc thread.
 */
void svc2_msg_put_recv(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	if (!msg->sm_recv)
		return;
	svc2_recv_put(sp, msg->sm_recv);
	msg->sm_recv = NULL;
}

/**
 * svc2_discard - free a message that is not answered
 * @sp: its connection
 * @msg: message
 * @counter: reason
 *
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_discard(struct svc2_xprt *sp, struct svc2_msg *msg,
		 enum svc2_counter counter)
{
	this_cpu_inc(svc2_counters[counter]);
	svc2_msg_put(sp, msg);
	return 0;
}

/**
 * svc2_discard_reply - free a Reply that no RPC waits for
 * @sp: its connection
 * @msg: message; RDMA2_ERROR and options, which must not be answered, have
 *	their own counters
 *
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_discard_reply(struct svc2_xprt *sp, struct svc2_msg *msg)
{
	switch (msg->sm_msg.mg_hdr.h_proc) {
	case RDMA2_ERROR:
		return svc2_discard(sp, msg, SVC2_C_dropped_error);
	case RDMA2_OPTIONAL:
		return svc2_discard(sp, msg, SVC2_C_dropped_option);
	default:
		return svc2_discard(sp, msg, SVC2_C_dropped_reply);
	}
}

/**
 * svc2_deliver - pass a Call, with rq_arg built, to the RPC layer
 * @rqstp: thread
 * @msg: Call
 *
 * Return: bytes of the Call, for ->xpo_recvfrom to return.
 */
int svc2_deliver(struct svc_rqst *rqstp, struct svc2_msg *msg)
{
	svc2_count(calls);
	if (msg->sm_msg.mg_hdr.h_vers == RPCRDMA2_VERS_ONE)
		svc2_count(calls_v1);
	svc2_transfer_serve(svc2_from_xprt(rqstp->rq_xprt), msg);
	rqstp->rq_xprt_ctxt = msg;
	/* no IP protocol; the reply cache uses this field */
	rqstp->rq_prot = IPPROTO_MAX;
	svc_xprt_copy_addrs(rqstp, rqstp->rq_xprt);
	/* there are no privileged ports on an RDMA fabric */
	set_bit(RQ_SECURE, &rqstp->rq_flags);
	return rqstp->rq_arg.len;
}

/**
 * svc2_messages_flush - free the messages that wait for an svc thread
 * @sp: connection whose queue pair has been drained
 */
void svc2_messages_flush(struct svc2_xprt *sp)
{
	struct svc2_msg *msg, *next_msg;
	struct rpcrdma2_recv *rv, *next;
	struct svc2_waiter *wt, *next_wt;
	LIST_HEAD(line);

	svc2_transfer_flush(sp, &line);
	svc2_gate_flush(&sp->sp_mrs, &line);
	svc2_gate_flush(&sp->sp_sq, &line);
	list_for_each_entry_safe(wt, next_wt, &line, wt_list) {
		list_del(&wt->wt_list);
		svc2_msg_put(sp, wt->wt_call);
	}
	list_splice_tail_init(&sp->sp_served_q, &sp->sp_ready_q);
	list_splice_tail_init(&sp->sp_short_q, &sp->sp_ready_q);
	list_for_each_entry_safe(msg, next_msg, &sp->sp_ready_q, sm_list) {
		list_del(&msg->sm_list);
		svc2_msg_put(sp, msg);
	}
	list_for_each_entry_safe(rv, next, &sp->sp_recv_q, rv_list) {
		list_del(&rv->rv_list);
		rpcrdma2_recv_put(rv);
	}
}
