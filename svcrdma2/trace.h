/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of the server. "xid" links the events of one RPC. Events of a
 * connection have its peer, or the id of one of its CQs; "cq.id id" links those
 * in rpcrdma2/trace.h.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM svcrdma2

#if !defined(_SVCRDMA2_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SVCRDMA2_TRACE_H

#include <linux/tracepoint.h>

#include <rpcrdma2/compat.h>
#include <rpcrdma2/wire.h>

#include "svcrdma2.h"

/* Resolves the enums to numbers in the event formats, for user space tools */
#define RPCRDMA2_DEFINE_PAIR(_value, _name)	TRACE_DEFINE_ENUM(_value);
RPCRDMA2_NAMES(RPCRDMA2_DEFINE_PAIR)

/* Events of the CM and the queue pair; steps of listeners and connections */
TRACE_EVENT(svc2_event,
	TP_PROTO(const void *sa, const char *event, int status),
	TP_ARGS(sa, event, status),
	TP_STRUCT__entry(
		__sockaddr(addr, sizeof(struct sockaddr_in6))
		__string(event, event)
		__field(int, status)
	),
	TP_fast_assign(
		__assign_sockaddr(addr, sa, sizeof(struct sockaddr_in6));
		rpcrdma2_assign_str(event, event);
		__entry->status = status;
	),
	TP_printk("addr=%pISpc event=%s status=%d", __get_sockaddr(addr),
		  __get_str(event), __entry->status)
);

TRACE_EVENT(svc2_accept,
	TP_PROTO(const struct svc2_xprt *sp, int status),
	TP_ARGS(sp, status),
	TP_STRUCT__entry(
		__sockaddr(peer, sizeof(struct sockaddr_in6))
		__field(int, status)
		__field(unsigned int, mrs)
		__field(unsigned int, ord)
		__field(unsigned int, ird)
		__field(u32, send_cq)
		__field(u32, recv_cq)
	),
	TP_fast_assign(
		const struct rpcrdma2_conn *co = &sp->sp_conn;

		__assign_sockaddr(peer, svc2_peer(sp),
				  sizeof(struct sockaddr_in6));
		__entry->status = status;
		__entry->mrs = co->co_rw_mrs;
		__entry->ord = sp->sp_ord;
		__entry->ird = sp->sp_ird;
		__entry->send_cq = co->co_send_cq ? co->co_send_cq->res.id : 0;
		__entry->recv_cq = co->co_recv_cq ? co->co_recv_cq->res.id : 0;
	),
	TP_printk("peer=%pISpc status=%d mrs=%u ord=%u ird=%u send cq.id=%u receive cq.id=%u",
		  __get_sockaddr(peer), __entry->status, __entry->mrs,
		  __entry->ord, __entry->ird, __entry->send_cq,
		  __entry->recv_cq)
);

DECLARE_EVENT_CLASS(svc2_message,
	TP_PROTO(const struct ib_cq *cq, u32 id, const struct rpcrdma2_hdr *h,
		 u32 len, enum rpcrdma2_errcode code),
	TP_ARGS(cq, id, h, len, code),
	TP_STRUCT__entry(
		__field(u32, cq_id)
		__field(u32, id)
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, credit)
		__field(u32, proc)
		__field(u32, direction)
		__field(u32, len)
		__field(unsigned int, code)
	),
	TP_fast_assign(
		__entry->cq_id = cq->res.id;
		__entry->id = id;
		__entry->xid = h->h_xid;
		__entry->vers = h->h_vers;
		__entry->credit = h->h_credit;
		__entry->proc = h->h_proc;
		__entry->direction = h->h_direction;
		__entry->len = len;
		__entry->code = code;
	),
	TP_printk("cq.id=%u id=%u xid=0x%08x version=%u credit=%u proc=%s%s len=%u code=%s",
		  __entry->cq_id, __entry->id, __entry->xid, __entry->vers,
		  __entry->credit, rpcrdma2_show_proc(__entry->proc),
		  rpcrdma2_show_direction(__entry->direction),
		  __entry->len, rpcrdma2_show_errcode(__entry->code))
);

/* A message that was received, with the decoder's verdict */
DEFINE_EVENT(svc2_message, svc2_decode,
	TP_PROTO(const struct ib_cq *cq, u32 id, const struct rpcrdma2_hdr *h,
		 u32 len, enum rpcrdma2_errcode code),
	TP_ARGS(cq, id, h, len, code));
/* The chain gets its id when it is posted, right after this event. */
DEFINE_EVENT(svc2_message, svc2_send_error,
	TP_PROTO(const struct ib_cq *cq, u32 id, const struct rpcrdma2_hdr *h,
		 u32 len, enum rpcrdma2_errcode code),
	TP_ARGS(cq, id, h, len, code));

/* A Call whose RDMA Reads are done; their chain is "cq.id id". */
TRACE_EVENT(svc2_read_resume,
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

TRACE_EVENT(svc2_plan_reply,
	TP_PROTO(const struct svc2_msg *call, const struct rpcrdma2_reply_plan *plan),
	TP_ARGS(call, plan),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(unsigned int, code)
		__field(unsigned int, results)
		__field(unsigned int, chunks)
		__field(u32, first)
		__field(u32, rest)
		__field(bool, long_reply)
	),
	TP_fast_assign(
		__entry->xid = call->sm_msg.mg_hdr.h_xid;
		__entry->code = plan->pn_code;
		__entry->results = call->sm_nresults;
		__entry->chunks = call->sm_msg.mg_hdr.h_nwrites;
		__entry->first = plan->pn_writes[0].ra_len;
		__entry->rest = plan->pn_len;
		__entry->long_reply = plan->pn_reply_chunk;
	),
	TP_printk("xid=0x%08x code=%s results=%u write_chunks=%u first=%u rest=%u %s",
		  __entry->xid, rpcrdma2_show_errcode(__entry->code),
		  __entry->results, __entry->chunks, __entry->first,
		  __entry->rest,
		  __entry->long_reply ? "in the Reply chunk" : "inline")
);

/* A callback; status is the reason why it is not posted. */
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

#endif /* _SVCRDMA2_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
