// SPDX-License-Identifier: GPL-2.0
/*
 * A message becomes a Call, an error or nothing.
 *
 * The codec performs steps 1 to 8 of the responder's order of checks (section
 * 2.5 of Documentation/protocol.rst) and returns a verdict; from there on the
 * header is trusted. What happens to the message then depends on its type and
 * direction, which is the table below; who may be answered with an error is
 * decided here and nowhere else.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <rpcrdma2/codec.h>

#include "svcrdma2.h"
#include "trace.h"

/* Returns NULL when the connection is lost. */
static struct svc2_call *alloc_call(struct svc2_xprt *sp, struct svc2_recv *rc)
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

	call->ca_recv = rc;
	INIT_LIST_HEAD(&call->ca_rws);
	call->ca_mrs = 0;
	call->ca_pages = NULL;
	call->ca_npages = 0;
	call->ca_map = NULL;
	call->ca_inv_handle = 0;
	call->ca_nresults = 0;
	/* shown by a trace event even when a message is too short for them */
	memset(&call->ca_hdr, 0, offsetof(struct rpcrdma2_hdr, h_reads));
	return call;
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
	svc2_rw_free(sp, &call->ca_rws, DMA_FROM_DEVICE, call->ca_mrs);
	if (call->ca_map)
		vm_unmap_ram(call->ca_map,
			     DIV_ROUND_UP(call->ca_length, PAGE_SIZE));
	if (call->ca_pages) {
		release_pages(call->ca_pages, call->ca_npages);
		kfree(call->ca_pages);
	}
	if (call->ca_recv)
		svc2_recv_put(sp, call->ca_recv);
	kmem_cache_free(svc2_call_cache, call);
}

static int refuse(struct svc2_xprt *sp, struct svc2_call *call,
		  enum rpcrdma2_errcode code, u32 arg, u32 arg2)
{
	/* R6: the Receive first */
	svc2_recv_put(sp, call->ca_recv);
	call->ca_recv = NULL;
	svc2_send_error(sp, &call->ca_hdr, code, arg, arg2);
	svc2_call_put(sp, call);
	return 0;
}

/**
 * svc2_refuse - answer a Call with an error that fills in limits of ours
 * @sp: its connection
 * @call: Call; gone afterwards (C-082)
 * @code: which error
 *
 * Context: svc thread; may sleep.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_refuse(struct svc2_xprt *sp, struct svc2_call *call,
		enum rpcrdma2_errcode code)
{
	return refuse(sp, call, code, 0, 0);
}

/**
 * svc2_refuse_chunks - answer a Call with READ_CHUNKS
 * @sp: its connection
 * @call: Call; gone afterwards (C-083)
 * @max: how many Read chunks such a Call may have
 *
 * Context: svc thread; may sleep.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_refuse_chunks(struct svc2_xprt *sp, struct svc2_call *call, u32 max)
{
	return refuse(sp, call, RDMA2_ERR_READ_CHUNKS, max, 0);
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

/* C-007: whatever the Call says, the device must know how */
static u32 pick_inv_handle(const struct svc2_xprt *sp,
			   const struct rpcrdma2_hdr *h)
{
	u32 handle = svc2_inv_handle(h, &sp->sp_peer);

	if (h->h_inv_handle && !handle)
		svc2_count(bad_inv_handle);
	return sp->sp_can_invalidate ? handle : 0;
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
	if (call->ca_hdr.h_vers == RPCRDMA2_VERS_ONE)
		svc2_count(calls_v1);
	rqstp->rq_xprt_ctxt = call;
	/* no IP protocol; the reply cache asks for one */
	rqstp->rq_prot = IPPROTO_MAX;
	svc_xprt_copy_addrs(rqstp, rqstp->rq_xprt);
	/* there are no privileged ports on an RDMA fabric */
	set_bit(RQ_SECURE, &rqstp->rq_flags);
	return rqstp->rq_arg.len;
}

static int handle_call(struct svc_rqst *rqstp, struct svc2_call *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct rpcrdma2_hdr *h = &call->ca_hdr;
	struct xdr_buf message;

	call->ca_inv_handle = pick_inv_handle(sp, h);
	call->ca_inline = h->h_proc == RDMA2_MSG ?
			  call->ca_recv->rc_len - h->h_len : 0;
	if (h->h_nreads)
		return svc2_read_chunks(rqstp, call);

	svc2_recv_buf(call->ca_recv, &message);
	if (xdr_buf_subsegment(&message, &rqstp->rq_arg, h->h_len,
			       call->ca_inline))
		return svc2_refuse(sp, call, RDMA2_ERR_BAD_XDR);
	return svc2_deliver(rqstp, call);
}

static int drop_option(struct svc_rqst *rqstp, struct svc2_call *call,
		       enum rpcrdma2_errcode verdict)
{
	return svc2_discard(svc2_from_xprt(rqstp->rq_xprt), call,
			    SVC2_C_dropped_option);
}

/* S17: we ask for no properties. */
static int drop_reply(struct svc_rqst *rqstp, struct svc2_call *call,
		      enum rpcrdma2_errcode verdict)
{
	return svc2_discard(svc2_from_xprt(rqstp->rq_xprt), call,
			    SVC2_C_dropped_reply);
}

/*
 * What a message type means to a server, by the role its sender takes (S38).
 * Where there is no handler the type does not go in that direction. Unlike a
 * Call, a Reply is handled even if something is wrong with it: it may be
 * waited for.
 */
static const struct {
	int (*on_call)(struct svc_rqst *rqstp, struct svc2_call *call);
	int (*on_reply)(struct svc_rqst *rqstp, struct svc2_call *call,
			enum rpcrdma2_errcode verdict);
} procs[] = {
	[RDMA2_MSG]	 = { handle_call,	svc2_take_answer },
	[RDMA2_NOMSG]	 = { handle_call,	svc2_take_answer },
	[RDMA2_ERROR]	 = { NULL,		svc2_take_answer },
	[RDMA2_OPTIONAL] = { svc2_take_property, drop_option },	/* S39 */
	[RDMA2_CONNPROP] = { svc2_take_property, NULL },
	[RDMA2_REQPROP]	 = { svc2_take_property, NULL },
	[RDMA2_RESPROP]	 = { NULL,		drop_reply },
	[RDMA2_UPDPROP]	 = { svc2_take_property, NULL },
};

static_assert(ARRAY_SIZE(procs) == RDMA2_UPDPROP + 1);

/*
 * In version 1 we make no Calls with a Reply chunk: what looks like the answer
 * to one is a Call that lacks its Read list (E-24).
 */
static bool lacks_reads(const struct rpcrdma2_hdr *h)
{
	return h->h_vers == RPCRDMA2_VERS_ONE && h->h_proc == RDMA2_NOMSG &&
	       h->h_direction == RDMA2_REPLY;
}

/*
 * C-078, S38: a Reply, an error or an answer draws nothing, whatever is wrong
 * with it. A direction that cannot be told is taken for a Call (S06).
 */
static bool is_reply(const struct rpcrdma2_hdr *h)
{
	return h->h_proc == RDMA2_ERROR ||
	       (h->h_direction == RDMA2_REPLY && !lacks_reads(h));
}

/*
 * Step 2 of the order of checks, which the codec cannot perform for us: what
 * the rest of the message means depends on it. A version is refused whatever
 * the message is, but for an answer (C-078, C-079, E-17, S36).
 */
static bool refuse_version(struct svc2_xprt *sp, struct svc2_call *call)
{
	const struct svc2_versions vs =
		svc2_allowed_versions(READ_ONCE(svc2_param_min_version),
				      READ_ONCE(svc2_param_max_version));
	const struct rpcrdma2_hdr *h = &call->ca_hdr;

	if (call->ca_recv->rc_len < RPCRDMA2_PREFIX_LEN ||
	    is_reply(h) || svc2_speaks(&vs, h->h_vers))
		return false;
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		pr_warn_ratelimited("svcrdma2: client %s speaks RPC-over-RDMA version 1, which the module parameter min_version=1 would allow\n",
				    sp->sp_xprt.xpt_remotebuf);
	refuse(sp, call, RDMA2_ERR_VERS, vs.vs_low, vs.vs_high);
	return true;
}

static enum rpcrdma2_errcode decode(struct svc2_call *call)
{
	u8 scratch[RPCRDMA2_READ_SEG_LEN];
	struct xdr_stream xdr;
	struct xdr_buf buf;

	svc2_recv_buf(call->ca_recv, &buf);
	xdr_init_decode(&xdr, &buf, buf.head[0].iov_base, NULL);
	xdr_set_scratch_buffer(&xdr, scratch, sizeof(scratch));
	return rpcrdma2_decode_hdr(&call->ca_hdr, &xdr);
}

/**
 * svc2_parse - look at a message
 * @rqstp: thread
 * @rc: message; its Receive is taken care of
 *
 * Context: svc thread; may sleep.
 * Return: octets of a Call in rq_arg, or 0.
 */
int svc2_parse(struct svc_rqst *rqstp, struct svc2_recv *rc)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct svc2_call *call = alloc_call(sp, rc);
	enum rpcrdma2_errcode verdict;
	struct rpcrdma2_hdr *h;

	if (!call) {
		svc2_recv_put(sp, rc);
		return 0;
	}
	h = &call->ca_hdr;
	verdict = decode(call);
	trace_svc2_decode(rc, h, verdict);
	if (refuse_version(sp, call))
		return 0;
	if (verdict == RDMA2_DROP)
		return svc2_discard(sp, call, SVC2_C_dropped_silently);

	if (is_reply(h))
		return procs[h->h_proc].on_reply(rqstp, call, verdict);
	if (lacks_reads(h))
		verdict = RDMA2_ERR_BAD_XDR;
	if (verdict)
		return svc2_refuse(sp, call, verdict);
	WRITE_ONCE(sp->sp_last_vers, h->h_vers);
	if (!procs[h->h_proc].on_call)
		return svc2_refuse(sp, call, RDMA2_ERR_INVALID_PROC);
	return procs[h->h_proc].on_call(rqstp, call);
}
