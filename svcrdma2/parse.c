// SPDX-License-Identifier: GPL-2.0
/*
 * A message becomes a Call, an error or nothing.
 *
 * What is on the wire is read and judged by rpcrdma2_msg_read(): steps 1 to 8
 * of the responder's order of checks (section 2.5 of
 * Documentation/protocol.rst), and the body of a property message. From there
 * on it is trusted. What happens to the message then depends on its type and
 * direction, which is the table below; which message may be answered with an
 * error is decided here and nowhere else.
 */
#include "arg.h"
#include "svcrdma2.h"
#include "trace.h"

/* C-007: whatever the Call says, the device must know how */
static u32 svc2_recv_pick_inv_handle(const struct svc2_xprt *sp,
				     const struct rpcrdma2_hdr *h)
{
	u32 handle = svc2_inv_handle(h, &sp->sp_peer);

	if (h->h_inv_handle && !handle)
		svc2_count(bad_inv_handle);
	return sp->sp_can_invalidate ? handle : 0;
}

static int svc2_resume(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	if (unlikely(call->sm_msg.mg_hdr.h_proc == RDMA2_ERROR))
		return svc2_take_answer(rqstp, call);
	if (call->sm_msg.mg_hdr.h_nreads)
		return svc2_read_resume(rqstp, call);
	return svc2_arg_inline(rqstp, call);
}

/* Pages that its Reply may have in the memory that it offers */
static unsigned int svc2_recv_reply_pages(const struct svc_rqst *rqstp,
					  const struct rpcrdma2_hdr *h)
{
	u64 offered = h->h_has_reply ? h->h_reply.ck_length : 0;
	unsigned int i;

	for (i = 0; i < h->h_nwrites; i++)
		offered += h->h_writes[i].ck_length;
	return svc2_reply_pages(offered, svc_serv_maxpages(rqstp->rq_server));
}

static int svc2_recv_handle_call(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;

	if (svc2_was_lost(sp, h->h_xid)) {
		svc2_count(calls_lost_again);
		return svc2_refuse(sp, call, RDMA2_ERR_SYSTEM);
	}
	call->sm_inv_handle = svc2_recv_pick_inv_handle(sp, h);
	call->sm_inline = h->h_proc == RDMA2_MSG ? call->sm_msg.mg_paylen : 0;
	call->sm_reply_pages = svc2_recv_reply_pages(rqstp, h);
	if (h->h_nreads)
		return svc2_read_chunks(rqstp, call);
	if (call->sm_reply_pages &&
	    svc2_transfer_enter(sp, call, call->sm_reply_pages))
		return 0;
	return svc2_arg_inline(rqstp, call);
}

static int svc2_recv_drop_reply(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	return svc2_discard_reply(svc2_from_xprt(rqstp->rq_xprt), call);
}

static int svc2_recv_refuse_type(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	return svc2_refuse(svc2_from_xprt(rqstp->rq_xprt), call,
			   RDMA2_ERR_INVALID_PROC);
}

typedef int (*message_handler)(struct svc_rqst *rqstp, struct svc2_msg *call);

/*
 * What a message type means to a server, by the role its sender takes (S38).
 * Unlike a Call, a Reply is handled even if something is wrong with it: it may
 * be waited for.
 */
static const message_handler handlers[][RDMA2_UPDPROP + 1] = {
	[RDMA2_CALL] = {
		[RDMA2_MSG]	= svc2_recv_handle_call,
		[RDMA2_NOMSG]	= svc2_recv_handle_call,
		[RDMA2_OPTIONAL] = svc2_take_property,	/* S39 */
		[RDMA2_CONNPROP] = svc2_take_property,
		[RDMA2_REQPROP]	= svc2_take_property,
		[RDMA2_UPDPROP]	= svc2_take_property,
	},
	[RDMA2_REPLY] = {
		[RDMA2_MSG]	= svc2_take_answer,
		[RDMA2_NOMSG]	= svc2_take_answer,
		[RDMA2_ERROR]	= svc2_take_error,
		[RDMA2_OPTIONAL] = svc2_take_granted,
		[RDMA2_RESPROP]	= svc2_take_granted,
	},
};

static message_handler svc2_recv_choose_handler(u32 direction, u32 proc)
{
	message_handler handler = NULL;

	if (proc < ARRAY_SIZE(handlers[0]))
		handler = handlers[direction][proc];
	if (handler)
		return handler;
	return direction == RDMA2_REPLY ? svc2_recv_drop_reply :
					  svc2_recv_refuse_type;
}

/*
 * In version 1 the server makes no Calls with a Reply chunk: what looks like
 * the answer to one is a Call that lacks its Read list (E-24).
 */
static bool svc2_recv_lacks_reads(const struct rpcrdma2_hdr *h)
{
	return h->h_vers == RPCRDMA2_VERS_ONE && h->h_proc == RDMA2_NOMSG &&
	       h->h_direction == RDMA2_REPLY;
}

/*
 * C-078, S38: a Reply, an error or an answer is not answered, whatever is wrong
 * with it. A direction that cannot be told is taken for a Call (S06).
 */
static bool svc2_recv_is_reply(const struct rpcrdma2_hdr *h)
{
	return h->h_proc == RDMA2_ERROR ||
	       (h->h_direction == RDMA2_REPLY && !svc2_recv_lacks_reads(h));
}

/*
 * Step 2 of the order of checks, which the codec cannot perform: what
 * the rest of the message means depends on it. A version is refused whatever
 * the message is, but for an answer (C-078, C-079, E-17, S36).
 */
static bool svc2_recv_refuse_version(struct svc2_xprt *sp,
				     struct svc2_msg *call)
{
	const struct svc2_versions vs =
		svc2_allowed_versions(svc2_param(&svc2_min_version),
				      svc2_param(&svc2_max_version));
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;

	if (call->sm_recv->rv_len < RPCRDMA2_PREFIX_LEN ||
	    svc2_recv_is_reply(h) || svc2_speaks(&vs, h->h_vers))
		return false;
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		pr_warn_ratelimited("svcrdma2: client %s speaks RPC-over-RDMA version 1, which the module parameter min_version=1 would allow\n",
				    sp->sp_xprt.xpt_remotebuf);
	svc2_refuse_with(sp, call, RDMA2_ERR_VERS, vs.vs_low, vs.vs_high);
	return true;
}

/*
 * In this order: version, verdict, handler.
 *
 * Return: octets of a Call in rq_arg, or 0.
 */
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
	if (msg->mg_verdict == RDMA2_DROP)
		return svc2_discard(sp, call, SVC2_C_dropped_silently);
	if (svc2_recv_is_reply(h))
		return svc2_recv_choose_handler(RDMA2_REPLY, h->h_proc)(rqstp,
									call);
	if (svc2_recv_lacks_reads(h))
		return svc2_refuse(sp, call, RDMA2_ERR_BAD_XDR);
	if (msg->mg_verdict)
		return svc2_refuse(sp, call, msg->mg_verdict);
	WRITE_ONCE(sp->sp_last_vers, h->h_vers);
	return svc2_recv_choose_handler(RDMA2_CALL, h->h_proc)(rqstp, call);
}

/*
 * Does a message carry no RPC? Any version has rdma_proc in the same place, and the
 * types that carry an RPC come first: MSG, NOMSG, and version 1's MSGP. A message that
 * is too short may be taken for anything.
 */
static bool svc2_recv_is_control(const struct rpcrdma2_recv *rv)
{
	const __be32 *p = rpcrdma2_recv_at(rv, 0);

	return be32_to_cpu(p[3]) > RDMA1_MSGP;
}

/* The server has changed, or something that came may be what it has waited for. */
static void svc2_recv_converse(struct svc2_xprt *sp)
{
	if (unlikely(READ_ONCE(sp->sp_talking) ||
		     test_bit(SVC2_F_CHANGED, &sp->sp_flags)))
		svc2_converse(sp);
}

/*
 * Takes what is next in turn: a Call, or else a Receive. With the last of them goes
 * XPT_DATA, or the RPC layer would wake another thread to find nothing.
 */
static struct svc2_msg *svc2_recv_take_next(struct svc2_xprt *sp,
					    struct rpcrdma2_recv **rv)
{
	struct svc2_msg *call;

	*rv = NULL;
	guard(spinlock)(&sp->sp_recv_lock);
	call = list_first_entry_or_null(&sp->sp_served_q, struct svc2_msg,
					sm_list) ?:
	       list_first_entry_or_null(&sp->sp_ready_q, struct svc2_msg,
					sm_list);
	if (call) {
		list_del(&call->sm_list);
	} else {
		*rv = list_first_entry_or_null(&sp->sp_recv_q,
					       struct rpcrdma2_recv, rv_list);
		if (*rv)
			list_del(&(*rv)->rv_list);
	}
	if (list_empty(&sp->sp_served_q) && list_empty(&sp->sp_ready_q) &&
	    list_empty(&sp->sp_recv_q))
		clear_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	return call;
}

/**
 * svc2_recvfrom - ->xpo_recvfrom
 * @rqstp: thread, and where a Call goes
 *
 * Other threads take up the connection's messages as soon as this one has its
 * own, with one exception: a control message is to be obeyed before what follows it,
 * and in its turn (S16).
 *
 * Return: octets of the Call in rq_arg, or 0 when there is none (yet).
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
	if (rv && unlikely(READ_ONCE(sp->sp_talking)))
		svc2_heard(sp, rv->rv_at);
	if (rv && unlikely(svc2_recv_is_control(rv))) {
		ret = svc2_recv_parse(rqstp, rv);
		svc2_recv_converse(sp);
		svc_xprt_received(xprt);
		return ret;
	}

	svc2_recv_converse(sp);
	svc_xprt_received(xprt);
	if (call)
		return svc2_resume(rqstp, call);
	return rv ? svc2_recv_parse(rqstp, rv) : 0;
}
