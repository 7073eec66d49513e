/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of the server.
 *
 * "xid" joins what belongs to one RPC. Events of a connection name its peer, or
 * the id of a CQ of it. Loss of a connection, Receives and chains on the Send
 * Queue have their events in rpcrdma2/trace.h; "cq.id id" joins them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM svcrdma2

#if !defined(_SVCRDMA2_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SVCRDMA2_TRACE_H

#include <linux/tracepoint.h>

#include <rdma/ib_cm.h>

#include <trace/misc/rdma.h>

#include <rpcrdma2/show.h>

#include "backchannel.h"
#include "svcrdma2.h"

#define SVC2_ADDR_LEN	(INET6_ADDRSTRLEN + 10)

#define svc2_show_gate(x)				\
	__print_symbolic(x,				\
		{ SVC2_C_sq_waits, "Send Queue" },	\
		{ SVC2_C_tx_waits, "send context" },	\
		{ SVC2_C_mr_waits, "memory regions" })
TRACE_DEFINE_ENUM(SVC2_C_sq_waits);
TRACE_DEFINE_ENUM(SVC2_C_tx_waits);
TRACE_DEFINE_ENUM(SVC2_C_mr_waits);

/*
 * Life of listeners and connections
 */

TRACE_EVENT(svc2_listen,
	TP_PROTO(const struct sockaddr *sa, int status),
	TP_ARGS(sa, status),
	TP_STRUCT__entry(
		__array(char, addr, SVC2_ADDR_LEN)
		__field(int, status)
	),
	TP_fast_assign(
		snprintf(__entry->addr, SVC2_ADDR_LEN, "%pISpc", sa);
		__entry->status = status;
	),
	TP_printk("addr=%s status=%d", __entry->addr, __entry->status)
);

TRACE_EVENT(svc2_cm_event,
	TP_PROTO(const struct rdma_cm_id *id, const struct rdma_cm_event *event),
	TP_ARGS(id, event),
	TP_STRUCT__entry(
		__array(char, addr, SVC2_ADDR_LEN)
		__field(unsigned int, event)
		__field(int, status)
	),
	TP_fast_assign(
		snprintf(__entry->addr, SVC2_ADDR_LEN, "%pISpc",
			 &id->route.addr.dst_addr);
		__entry->event = event->event;
		__entry->status = event->status;
	),
	TP_printk("peer=%s event=%s status=%d", __entry->addr,
		  rdma_show_cm_event(__entry->event), __entry->status)
);

TRACE_EVENT(svc2_connect_request,
	TP_PROTO(const struct svc2_xprt *sp,
		 const struct rdma_conn_param *param),
	TP_ARGS(sp, param),
	TP_STRUCT__entry(
		__array(char, addr, SVC2_ADDR_LEN)
		__field(unsigned int, ord)
		__field(unsigned int, ird)
		__field(unsigned int, rnr)
		__field(u32, peer_send)
		__field(u32, peer_recv)
	),
	TP_fast_assign(
		strscpy(__entry->addr, sp->sp_xprt.xpt_remotebuf,
			SVC2_ADDR_LEN);
		__entry->ord = param->initiator_depth;
		__entry->ird = param->responder_resources;
		__entry->rnr = param->rnr_retry_count;
		__entry->peer_send = sp->sp_peer.cl_send;
		__entry->peer_recv = sp->sp_peer.cl_recv;
	),
	TP_printk("peer=%s ord=%u ird=%u rnr_retry=%u send=%u receive=%u",
		  __entry->addr, __entry->ord, __entry->ird, __entry->rnr,
		  __entry->peer_send, __entry->peer_recv)
);

TRACE_EVENT(svc2_accept,
	TP_PROTO(const struct svc2_xprt *sp, int status),
	TP_ARGS(sp, status),
	TP_STRUCT__entry(
		__array(char, addr, SVC2_ADDR_LEN)
		__field(int, status)
		__field(u32, credits)
		__field(u32, recv_size)
		__field(unsigned int, sq_depth)
		__field(unsigned int, mrs)
		__field(u32, send_cq)
		__field(u32, recv_cq)
	),
	TP_fast_assign(
		strscpy(__entry->addr, sp->sp_xprt.xpt_remotebuf,
			SVC2_ADDR_LEN);
		__entry->status = status;
		__entry->credits = sp->sp_credits;
		__entry->recv_size = sp->sp_conn.co_recv_size;
		__entry->sq_depth = sp->sp_sq_depth;
		__entry->mrs = sp->sp_conn.co_rw_mrs;
		__entry->send_cq = sp->sp_conn.co_send_cq ? sp->sp_conn.co_send_cq->res.id : 0;
		__entry->recv_cq = sp->sp_conn.co_recv_cq ? sp->sp_conn.co_recv_cq->res.id : 0;
	),
	TP_printk("peer=%s status=%d credits=%u receive=%u sq=%u mrs=%u send cq.id=%u receive cq.id=%u",
		  __entry->addr, __entry->status, __entry->credits,
		  __entry->recv_size, __entry->sq_depth, __entry->mrs,
		  __entry->send_cq, __entry->recv_cq)
);

TRACE_EVENT(svc2_qp_event,
	TP_PROTO(const struct svc2_xprt *sp, const struct ib_event *event),
	TP_ARGS(sp, event),
	TP_STRUCT__entry(
		__array(char, addr, SVC2_ADDR_LEN)
		__field(unsigned int, event)
	),
	TP_fast_assign(
		strscpy(__entry->addr, sp->sp_xprt.xpt_remotebuf,
			SVC2_ADDR_LEN);
		__entry->event = event->event;
	),
	TP_printk("peer=%s event=%s", __entry->addr,
		  rdma_show_ib_event(__entry->event))
);

TRACE_EVENT(svc2_free,
	TP_PROTO(const struct svc2_xprt *sp),
	TP_ARGS(sp),
	TP_STRUCT__entry(
		__array(char, addr, SVC2_ADDR_LEN)
	),
	TP_fast_assign(
		strscpy(__entry->addr, sp->sp_xprt.xpt_remotebuf,
			SVC2_ADDR_LEN);
	),
	TP_printk("peer=%s", __entry->addr)
);

/*
 * Queues of the device
 */

TRACE_EVENT(svc2_post_recvs,
	TP_PROTO(const struct svc2_xprt *sp, unsigned int count),
	TP_ARGS(sp, count),
	TP_STRUCT__entry(
		__field(u32, cq_id)
		__field(unsigned int, count)
	),
	TP_fast_assign(
		__entry->cq_id = sp->sp_conn.co_recv_cq->res.id;
		__entry->count = count;
	),
	TP_printk("cq.id=%u count=%u", __entry->cq_id, __entry->count)
);

TRACE_EVENT(svc2_gate_wait,
	TP_PROTO(unsigned int counter, unsigned int units),
	TP_ARGS(counter, units),
	TP_STRUCT__entry(
		__field(unsigned int, counter)
		__field(unsigned int, units)
	),
	TP_fast_assign(
		__entry->counter = counter;
		__entry->units = units;
	),
	TP_printk("for=%s units=%u", svc2_show_gate(__entry->counter),
		  __entry->units)
);

/*
 * Messages
 */

TRACE_EVENT(svc2_decode,
	TP_PROTO(const struct svc2_xprt *sp, const struct rpcrdma2_recv *rv,
		 const struct rpcrdma2_hdr *h, enum rpcrdma2_errcode verdict),
	TP_ARGS(sp, rv, h, verdict),
	TP_STRUCT__entry(
		__field(u32, cq_id)
		__field(u32, id)
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, credit)
		__field(u32, proc)
		__field(u32, direction)
		__field(u32, len)
		__field(unsigned int, verdict)
	),
	TP_fast_assign(
		__entry->cq_id = sp->sp_conn.co_recv_cq->res.id;
		__entry->id = rv->rv_id;
		__entry->xid = h->h_xid;
		__entry->vers = h->h_vers;
		__entry->credit = h->h_credit;
		__entry->proc = h->h_proc;
		__entry->direction = h->h_direction;
		__entry->len = rv->rv_len;
		__entry->verdict = verdict;
	),
	TP_printk("cq.id=%u id=%u xid=0x%08x version=%u credit=%u proc=%s%s len=%u verdict=%s",
		  __entry->cq_id, __entry->id, __entry->xid, __entry->vers,
		  __entry->credit, rpcrdma2_show_proc(__entry->proc),
		  rpcrdma2_show_direction(__entry->direction),
		  __entry->len, rpcrdma2_show_errcode(__entry->verdict))
);

TRACE_EVENT(svc2_property,
	TP_PROTO(const struct svc2_xprt *sp, u32 opttype),
	TP_ARGS(sp, opttype),
	TP_STRUCT__entry(
		__array(char, addr, SVC2_ADDR_LEN)
		__field(u32, opttype)
		__field(u32, rbsiz)
		__field(u32, brs)
		__field(u32, send_max)
	),
	TP_fast_assign(
		strscpy(__entry->addr, sp->sp_xprt.xpt_remotebuf,
			SVC2_ADDR_LEN);
		__entry->opttype = opttype;
		__entry->rbsiz = sp->sp_ex.ex_peer.pp_now.pr_rbsiz;
		__entry->brs = sp->sp_ex.ex_peer.pp_now.pr_brs;
		__entry->send_max = sp->sp_send_max[RPCRDMA2_VERS_TWO];
	),
	TP_printk("peer=%s opttype=%u rbsiz=%u brs=%u send=%u", __entry->addr,
		  __entry->opttype, __entry->rbsiz, __entry->brs,
		  __entry->send_max)
);

DECLARE_EVENT_CLASS(svc2_read,
	TP_PROTO(const struct svc2_msg *call, const struct ib_cq *cq),
	TP_ARGS(call, cq),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, cq_id)
		__field(u32, id)
		__field(unsigned int, chunks)
		__field(u32, position)
		__field(u32, len)
		__field(u32, inlined)
		__field(bool, split)
	),
	TP_fast_assign(
		__entry->xid = call->sm_msg.mg_hdr.h_xid;
		__entry->cq_id = cq->res.id;
		__entry->id = call->sm_post.po_id;
		__entry->chunks = call->sm_msg.mg_hdr.h_nreads;
		__entry->position = call->sm_msg.mg_hdr.h_reads[0].ck_position;
		__entry->len = call->sm_length;
		__entry->inlined = call->sm_inline;
		__entry->split = call->sm_apart;
	),
	TP_printk("xid=0x%08x cq.id=%u id=%u chunks=%u position=%u len=%u inline=%u %s",
		  __entry->xid, __entry->cq_id, __entry->id, __entry->chunks,
		  __entry->position, __entry->len, __entry->inlined,
		  __entry->split ? "split" : "flat")
);

/* The chain has its id when it is posted, right after this. */
DEFINE_EVENT(svc2_read, svc2_post_read,
	TP_PROTO(const struct svc2_msg *call, const struct ib_cq *cq),
	TP_ARGS(call, cq));
DEFINE_EVENT(svc2_read, svc2_read_resume,
	TP_PROTO(const struct svc2_msg *call, const struct ib_cq *cq),
	TP_ARGS(call, cq));

TRACE_EVENT(svc2_plan_reply,
	TP_PROTO(const struct svc2_msg *call, const struct rpcrdma2_reply_plan *plan),
	TP_ARGS(call, plan),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(unsigned int, code)
		__field(u32, arg)
		__field(u32, arg2)
		__field(unsigned int, results)
		__field(unsigned int, chunks)
		__field(u32, first)
		__field(u32, rest)
		__field(bool, long_reply)
	),
	TP_fast_assign(
		__entry->xid = call->sm_msg.mg_hdr.h_xid;
		__entry->code = plan->pn_code;
		__entry->arg = plan->pn_arg;
		__entry->arg2 = plan->pn_arg2;
		__entry->results = call->sm_nresults;
		__entry->chunks = call->sm_msg.mg_hdr.h_nwrites;
		__entry->first = plan->pn_writes[0].ra_len;
		__entry->rest = plan->pn_len;
		__entry->long_reply = plan->pn_long;
	),
	TP_printk("xid=0x%08x code=%s (%u, %u) results=%u write_chunks=%u first=%u rest=%u %s",
		  __entry->xid, rpcrdma2_show_errcode(__entry->code), __entry->arg,
		  __entry->arg2, __entry->results, __entry->chunks,
		  __entry->first, __entry->rest,
		  __entry->long_reply ? "in the Reply chunk" : "inline")
);

/*
 * The backward direction
 */

TRACE_EVENT(svc2_backward_call,
	TP_PROTO(const struct svc2_xprt *sp, const struct rpcrdma2_hdr *h,
		 u32 len, int status),
	TP_ARGS(sp, h, len, status),
	TP_STRUCT__entry(
		__field(u32, cq_id)
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, len)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->cq_id = sp->sp_conn.co_send_cq->res.id;
		__entry->xid = h->h_xid;
		__entry->vers = h->h_vers;
		__entry->len = len;
		__entry->status = status;
	),
	TP_printk("xid=0x%08x version=%u len=%u cq.id=%u status=%d", __entry->xid,
		  __entry->vers, __entry->len, __entry->cq_id, __entry->status)
);

#define svc2_show_answer(x)				\
	__print_symbolic(x,				\
		{ SVC2_ANSWER_DROP, "dropped" },	\
		{ SVC2_ANSWER_FAIL, "fails the RPC" },	\
		{ SVC2_ANSWER_REPLY, "ends the RPC" })
TRACE_DEFINE_ENUM(SVC2_ANSWER_DROP);
TRACE_DEFINE_ENUM(SVC2_ANSWER_FAIL);
TRACE_DEFINE_ENUM(SVC2_ANSWER_REPLY);

TRACE_EVENT(svc2_backward_answer,
	TP_PROTO(const struct svc2_xprt *sp, const struct rpcrdma2_hdr *h,
		 enum svc2_answer answer),
	TP_ARGS(sp, h, answer),
	TP_STRUCT__entry(
		__field(u32, cq_id)
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, credit)
		__field(u32, proc)
		__field(unsigned int, answer)
	),
	TP_fast_assign(
		__entry->cq_id = sp->sp_conn.co_recv_cq->res.id;
		__entry->xid = h->h_xid;
		__entry->vers = h->h_vers;
		__entry->credit = h->h_credit;
		__entry->proc = h->h_proc;
		__entry->answer = answer;
	),
	TP_printk("xid=0x%08x version=%u credit=%u proc=%s cq.id=%u %s",
		  __entry->xid, __entry->vers, __entry->credit,
		  rpcrdma2_show_proc(__entry->proc), __entry->cq_id,
		  svc2_show_answer(__entry->answer))
);

TRACE_EVENT(svc2_send_error,
	TP_PROTO(const struct svc2_xprt *sp, const struct rpcrdma2_hdr *h,
		 enum rpcrdma2_errcode code),
	TP_ARGS(sp, h, code),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, vers)
		__field(unsigned int, code)
		__field(u32, cq_id)
	),
	TP_fast_assign(
		__entry->xid = h->h_xid;
		__entry->vers = h->h_vers;
		__entry->code = code;
		__entry->cq_id = sp->sp_conn.co_send_cq->res.id;
	),
	TP_printk("xid=0x%08x version=%u code=%s cq.id=%u", __entry->xid,
		  __entry->vers, rpcrdma2_show_errcode(__entry->code),
		  __entry->cq_id)
);

#endif /* _SVCRDMA2_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
