// SPDX-License-Identifier: GPL-2.0
/*
 * A message's life: from its Receive to the RPC layer, or to its end.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "svcrdma2.h"
#include "trace.h"

/**
 * svc2_call_get - begin with a message, and read it
 * @sp: its connection
 * @rv: Receive it came in
 *
 * Context: svc thread; may sleep.
 * Return: a Call that owns @rv, or NULL when the connection is lost.
 */
struct svc2_call *svc2_call_get(struct svc2_xprt *sp, struct rpcrdma2_recv *rv)
{
	struct svc2_call *call;
	unsigned int tries = 0;
	int ret;

	do {
		call = kmem_cache_alloc(svc2_call_cache, GFP_KERNEL);
		ret = call ? 0 : -ENOMEM;
	} while (svc2_try_again(sp, &tries, &ret));
	if (!call)
		return NULL;

	call->ca_recv = rv;
	rpcrdma2_rw_init(&call->ca_rw, DMA_FROM_DEVICE);
	call->ca_mrs = 0;
	call->ca_pages = NULL;
	call->ca_npages = 0;
	call->ca_map = NULL;
	call->ca_inv_handle = 0;
	call->ca_nresults = 0;
	rpcrdma2_msg_read(&call->ca_msg, rv->rv_buf, rv->rv_len, 0);
	return call;
}

/**
 * svc2_reads_free - free what a Call's RDMA Reads were made of (R5)
 * @sp: connection
 * @call: Call; none of them is posted
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_reads_free(struct svc2_xprt *sp, struct svc2_call *call)
{
	rpcrdma2_rw_free(&sp->sp_conn, &call->ca_rw);
	svc2_gate_give(sp, &sp->sp_mrs, call->ca_mrs);
	call->ca_mrs = 0;
}

/**
 * svc2_call_put - let go of a Call
 * @sp: its connection
 * @call: Call
 *
 * Context: svc thread; may sleep. When @call has not been to the RPC layer yet,
 * send CQ and ->xpo_free too.
 */
void svc2_call_put(struct svc2_xprt *sp, struct svc2_call *call)
{
	svc2_reads_free(sp, call);
	if (call->ca_map)
		vm_unmap_ram(call->ca_map, svc2_call_pages(call));
	svc2_sinks_put(call);
	if (call->ca_recv)
		svc2_recv_put(sp, call->ca_recv);
	kmem_cache_free(svc2_call_cache, call);
}

/**
 * svc2_call_put_recv - put a Call's Receive back before the Call is done with
 * @sp: its connection
 * @call: Call; nothing in its Receive is looked at any more
 *
 * R6: before anything leaves that tells the peer so.
 *
 * Context: svc thread.
 */
void svc2_call_put_recv(struct svc2_xprt *sp, struct svc2_call *call)
{
	if (!call->ca_recv)
		return;
	svc2_recv_put(sp, call->ca_recv);
	call->ca_recv = NULL;
}

/**
 * svc2_discard - let go of a message that draws nothing
 * @sp: its connection
 * @call: message
 * @counter: why
 *
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_discard(struct svc2_xprt *sp, struct svc2_call *call,
		 enum svc2_counter counter)
{
	this_cpu_inc(svc2_counters[counter]);
	svc2_call_put(sp, call);
	return 0;
}

/**
 * svc2_deliver - hand a Call, with rq_arg built, to the RPC layer
 * @rqstp: thread
 * @call: Call
 *
 * Return: octets of the Call, for ->xpo_recvfrom to return.
 */
int svc2_deliver(struct svc_rqst *rqstp, struct svc2_call *call)
{
	svc2_count(calls);
	if (call->ca_msg.mg_hdr.h_vers == RPCRDMA2_VERS_ONE)
		svc2_count(calls_v1);
	rqstp->rq_xprt_ctxt = call;
	/* no IP protocol; the reply cache asks for one */
	rqstp->rq_prot = IPPROTO_MAX;
	svc_xprt_copy_addrs(rqstp, rqstp->rq_xprt);
	/* there are no privileged ports on an RDMA fabric */
	set_bit(RQ_SECURE, &rqstp->rq_flags);
	return rqstp->rq_arg.len;
}

/**
 * svc2_messages_flush - give up what waits for an svc thread
 * @sp: connection whose queue pair has been drained
 */
void svc2_messages_flush(struct svc2_xprt *sp)
{
	struct svc2_call *call, *next_call;
	struct rpcrdma2_recv *rv, *next;

	list_for_each_entry_safe(call, next_call, &sp->sp_read_q, ca_list) {
		list_del(&call->ca_list);
		svc2_call_put(sp, call);
	}
	list_for_each_entry_safe(rv, next, &sp->sp_recv_q, rv_list) {
		list_del(&rv->rv_list);
		rpcrdma2_recv_put(rv);
	}
}
