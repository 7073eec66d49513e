/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of the client. Every line begins with what joins it to its
 * neighbours: the server's address for a connection, the xid for an RPC.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM xprtrdma2

#if !defined(_XPRTRDMA2_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _XPRTRDMA2_TRACE_H

#include <linux/tracepoint.h>

#include "xprtrdma2.h"

#ifndef _XPRTRDMA2_TRACE_STRINGS
#define _XPRTRDMA2_TRACE_STRINGS
static inline const char *xprt2_trace_addr(const struct xprt2_ep *ep)
{
	return ep->ep_xp->xp_xprt.address_strings[RPC_DISPLAY_ADDR];
}

static inline const char *xprt2_trace_port(const struct xprt2_ep *ep)
{
	return ep->ep_xp->xp_xprt.address_strings[RPC_DISPLAY_PORT];
}
#endif

DECLARE_EVENT_CLASS(xprt2_ep_class,
	TP_PROTO(const struct xprt2_ep *ep, long value),
	TP_ARGS(ep, value),
	TP_STRUCT__entry(
		__string(addr, xprt2_trace_addr(ep))
		__string(port, xprt2_trace_port(ep))
		__field(long, value)
	),
	TP_fast_assign(
		__assign_str(addr);
		__assign_str(port);
		__entry->value = value;
	),
	TP_printk("peer=[%s]:%s value=%ld", __get_str(addr), __get_str(port),
		  __entry->value)
);

/* value: 0, or the errno the connect worker returns */
DEFINE_EVENT(xprt2_ep_class, xprt2_connect,
	     TP_PROTO(const struct xprt2_ep *ep, long value),
	     TP_ARGS(ep, value));

/* value: RPCs that may be outstanding from now on */
DEFINE_EVENT(xprt2_ep_class, xprt2_grant,
	     TP_PROTO(const struct xprt2_ep *ep, long value),
	     TP_ARGS(ep, value));

/* value: enum rpcrdma2_opttype of a message that was taken */
DEFINE_EVENT(xprt2_ep_class, xprt2_property,
	     TP_PROTO(const struct xprt2_ep *ep, long value),
	     TP_ARGS(ep, value));

/* value: version spoken from now on */
DEFINE_EVENT(xprt2_ep_class, xprt2_settled,
	     TP_PROTO(const struct xprt2_ep *ep, long value),
	     TP_ARGS(ep, value));

#define xprt2_show_answer(answer)				\
	__print_symbolic(answer,				\
		{ XPRT2_A_CONNPROP,	"CONNPROP" },		\
		{ XPRT2_A_ERR_VERS,	"ERR_VERS" },		\
		{ XPRT2_A_ERR_LACKS,	"lacks properties" },	\
		{ XPRT2_A_ERR_LACKS_RPC, "lacks RPCs" },	\
		{ XPRT2_A_ERR_OTHER,	"other error" },	\
		{ XPRT2_A_REPLY_TWO,	"Reply" },		\
		{ XPRT2_A_ONE,		"version 1" },		\
		{ XPRT2_A_FOREIGN,	"foreign" },		\
		{ XPRT2_A_SILENCE,	"silence" },		\
		{ XPRT2_A_LOST,		"lost" })

#define xprt2_show_move(move)					\
	__print_symbolic(move,					\
		{ XPRT2_M_WAIT,		"wait" },		\
		{ XPRT2_M_TRIAL,	"try version 2" },	\
		{ XPRT2_M_ONE,		"version 1" },		\
		{ XPRT2_M_TWO,		"version 2" },		\
		{ XPRT2_M_AGAIN,	"connect again" },	\
		{ XPRT2_M_AGAIN_ONE,	"connect again, version 1" }, \
		{ XPRT2_M_TRY_ONE,	"connect again, try version 1" }, \
		{ XPRT2_M_LATER,	"connect later" },	\
		{ XPRT2_M_FAIL,		"fail" })

TRACE_EVENT(xprt2_negotiate,
	TP_PROTO(const struct xprt2_ep *ep, enum xprt2_answer answer,
		 enum xprt2_move move),
	TP_ARGS(ep, answer, move),
	TP_STRUCT__entry(
		__string(addr, xprt2_trace_addr(ep))
		__string(port, xprt2_trace_port(ep))
		__field(int, answer)
		__field(int, move)
	),
	TP_fast_assign(
		__assign_str(addr);
		__assign_str(port);
		__entry->answer = answer;
		__entry->move = move;
	),
	TP_printk("peer=[%s]:%s answer=%s move=%s", __get_str(addr),
		  __get_str(port), xprt2_show_answer(__entry->answer),
		  xprt2_show_move(__entry->move))
);

TRACE_EVENT(xprt2_ep_state,
	TP_PROTO(const struct xprt2_ep *ep, const char *state),
	TP_ARGS(ep, state),
	TP_STRUCT__entry(
		__string(addr, xprt2_trace_addr(ep))
		__string(port, xprt2_trace_port(ep))
		__string(state, state)
	),
	TP_fast_assign(
		__assign_str(addr);
		__assign_str(port);
		__assign_str(state);
	),
	TP_printk("peer=[%s]:%s state=%s", __get_str(addr), __get_str(port),
		  __get_str(state))
);

TRACE_EVENT(xprt2_lost,
	TP_PROTO(const struct xprt2_ep *ep, enum rpcrdma2_loss why),
	TP_ARGS(ep, why),
	TP_STRUCT__entry(
		__string(addr, xprt2_trace_addr(ep))
		__string(port, xprt2_trace_port(ep))
		__string(reason, rpcrdma2_loss_name(why))
	),
	TP_fast_assign(
		__assign_str(addr);
		__assign_str(port);
		__assign_str(reason);
	),
	TP_printk("peer=[%s]:%s reason=%s", __get_str(addr), __get_str(port),
		  __get_str(reason))
);

TRACE_EVENT(xprt2_cm_event,
	TP_PROTO(const struct xprt2_ep *ep, const struct rdma_cm_event *event),
	TP_ARGS(ep, event),
	TP_STRUCT__entry(
		__string(addr, xprt2_trace_addr(ep))
		__string(port, xprt2_trace_port(ep))
		__string(event, rdma_event_msg(event->event))
		__field(int, status)
	),
	TP_fast_assign(
		__assign_str(addr);
		__assign_str(port);
		__assign_str(event);
		__entry->status = event->status;
	),
	TP_printk("peer=[%s]:%s event=%s status=%d", __get_str(addr),
		  __get_str(port), __get_str(event), __entry->status)
);

/* A Receive that failed; not the flushes that follow from it */
TRACE_EVENT_CONDITION(xprt2_wc_error,
	TP_PROTO(const struct xprt2_ep *ep, const struct ib_wc *wc),
	TP_ARGS(ep, wc),
	TP_CONDITION(wc->status != IB_WC_WR_FLUSH_ERR),
	TP_STRUCT__entry(
		__string(addr, xprt2_trace_addr(ep))
		__string(port, xprt2_trace_port(ep))
		__string(status, ib_wc_status_msg(wc->status))
		__field(u32, vendor_err)
	),
	TP_fast_assign(
		__assign_str(addr);
		__assign_str(port);
		__assign_str(status);
		__entry->vendor_err = wc->vendor_err;
	),
	TP_printk("peer=[%s]:%s status=%s vendor_err=%u", __get_str(addr),
		  __get_str(port), __get_str(status), __entry->vendor_err)
);

/* A Receive that no message consumed, which lost the connection */
TRACE_EVENT(xprt2_no_message,
	TP_PROTO(const struct xprt2_ep *ep, const struct ib_wc *wc),
	TP_ARGS(ep, wc),
	TP_STRUCT__entry(
		__string(addr, xprt2_trace_addr(ep))
		__string(port, xprt2_trace_port(ep))
		__field(u32, opcode)
		__field(u32, length)
	),
	TP_fast_assign(
		__assign_str(addr);
		__assign_str(port);
		__entry->opcode = wc->opcode;
		__entry->length = wc->byte_len;
	),
	TP_printk("peer=[%s]:%s opcode=%u length=%u", __get_str(addr),
		  __get_str(port), __entry->opcode, __entry->length)
);

TRACE_EVENT(xprt2_marshal,
	TP_PROTO(const struct xprt2_req *req, const struct rpcrdma2_hdr *h,
		 size_t hdrlen),
	TP_ARGS(req, h, hdrlen),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, proc)
		__field(u32, inv_handle)
		__field(u32, hdrlen)
		__field(u32, calllen)
		__field(u32, pagelen)
		__field(u32, segs)
		__field(u8, reads)
		__field(u8, writes)
		__field(bool, reply)
	),
	TP_fast_assign(
		__entry->xid = h->h_xid;
		__entry->proc = h->h_proc;
		__entry->inv_handle = h->h_inv_handle;
		__entry->hdrlen = hdrlen;
		__entry->calllen = req->rq2_slot.rq_snd_buf.len;
		__entry->pagelen = req->rq2_slot.rq_snd_buf.page_len;
		__entry->segs = h->h_nsegs;
		__entry->reads = h->h_nreads;
		__entry->writes = h->h_nwrites;
		__entry->reply = h->h_has_reply;
	),
	TP_printk("xid=0x%08x proc=%u inv_handle=0x%08x hdrlen=%u calllen=%u pagelen=%u reads=%u writes=%u reply=%u segs=%u",
		  __entry->xid, __entry->proc, __entry->inv_handle,
		  __entry->hdrlen, __entry->calllen, __entry->pagelen,
		  __entry->reads, __entry->writes, __entry->reply,
		  __entry->segs)
);

TRACE_EVENT(xprt2_post_send,
	TP_PROTO(const struct xprt2_ep *ep, const struct xprt2_req *req,
		 u32 octets, unsigned int count, int status),
	TP_ARGS(ep, req, octets, count, status),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, octets)
		__field(u32, count)
		__field(u32, sges)
		__field(bool, signaled)
		__field(u32, cq_id)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->xid = be32_to_cpu(req->rq2_slot.rq_xid);
		__entry->octets = octets;
		__entry->count = count;
		__entry->sges = req->rq2_wr.num_sge;
		__entry->signaled = req->rq2_wr.send_flags & IB_SEND_SIGNALED;
		__entry->cq_id = ep->ep_conn.co_send_cq->res.id;
		__entry->status = status;
	),
	TP_printk("xid=0x%08x octets=%u wrs=%u sges=%u signaled=%u cq.id=%u status=%d",
		  __entry->xid, __entry->octets, __entry->count,
		  __entry->sges, __entry->signaled, __entry->cq_id,
		  __entry->status)
);

TRACE_EVENT(xprt2_reply,
	TP_PROTO(const struct rpc_rqst *rqst, const struct xprt2_rep *rep,
		 const struct rpcrdma2_hdr *h),
	TP_ARGS(rqst, rep, h),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, proc)
		__field(u32, credit)
		__field(u32, paylen)
		__field(u32, written)
		__field(u32, replylen)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->xid = be32_to_cpu(rqst->rq_xid);
		__entry->vers = h->h_vers;
		__entry->proc = h->h_proc;
		__entry->credit = h->h_credit;
		__entry->paylen = rep->rep_paylen;
		__entry->written = rep->rep_written;
		__entry->replylen = rep->rep_replylen;
		__entry->status = rep->rep_status;
	),
	TP_printk("xid=0x%08x vers=%u proc=%u credit=%u inline=%u written=%u replylen=%u status=%d",
		  __entry->xid, __entry->vers, __entry->proc, __entry->credit,
		  __entry->paylen, __entry->written, __entry->replylen,
		  __entry->status)
);

TRACE_EVENT(xprt2_drop,
	TP_PROTO(const struct xprt2_ep *ep, const struct rpcrdma2_hdr *h),
	TP_ARGS(ep, h),
	TP_STRUCT__entry(
		__string(addr, xprt2_trace_addr(ep))
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, proc)
		__field(u32, direction)
	),
	TP_fast_assign(
		__assign_str(addr);
		__entry->xid = h->h_xid;
		__entry->vers = h->h_vers;
		__entry->proc = h->h_proc;
		__entry->direction = h->h_direction;
	),
	TP_printk("xid=0x%08x peer=[%s] vers=%u proc=%u direction=%u",
		  __entry->xid, __get_str(addr), __entry->vers,
		  __entry->proc, __entry->direction)
);

DECLARE_EVENT_CLASS(xprt2_backward_class,
	TP_PROTO(const struct xprt2_ep *ep, u32 xid, int value),
	TP_ARGS(ep, xid, value),
	TP_STRUCT__entry(
		__string(addr, xprt2_trace_addr(ep))
		__field(u32, xid)
		__field(int, value)
	),
	TP_fast_assign(
		__assign_str(addr);
		__entry->xid = xid;
		__entry->value = value;
	),
	TP_printk("xid=0x%08x peer=[%s] value=%d", __entry->xid,
		  __get_str(addr), __entry->value)
);

/* value: octets of the RPC Call */
DEFINE_EVENT(xprt2_backward_class, xprt2_backward_call,
	     TP_PROTO(const struct xprt2_ep *ep, u32 xid, int value),
	     TP_ARGS(ep, xid, value));

/* value: octets of the RPC Reply, or an errno */
DEFINE_EVENT(xprt2_backward_class, xprt2_backward_reply,
	     TP_PROTO(const struct xprt2_ep *ep, u32 xid, int value),
	     TP_ARGS(ep, xid, value));

/* value: enum rpcrdma2_errcode */
DEFINE_EVENT(xprt2_backward_class, xprt2_backward_refuse,
	     TP_PROTO(const struct xprt2_ep *ep, u32 xid, int value),
	     TP_ARGS(ep, xid, value));

DECLARE_EVENT_CLASS(xprt2_rpc_class,
	TP_PROTO(const struct rpc_rqst *rqst, int value),
	TP_ARGS(rqst, value),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(int, value)
	),
	TP_fast_assign(
		__entry->xid = be32_to_cpu(rqst->rq_xid);
		__entry->value = value;
	),
	TP_printk("xid=0x%08x value=%d", __entry->xid, __entry->value)
);

/* value: octets of the RPC Reply, 0 when the RPC ended with an error */
DEFINE_EVENT(xprt2_rpc_class, xprt2_complete,
	     TP_PROTO(const struct rpc_rqst *rqst, int value),
	     TP_ARGS(rqst, value));

/* value: regions that a LOCAL_INV was posted for */
DEFINE_EVENT(xprt2_rpc_class, xprt2_fence,
	     TP_PROTO(const struct rpc_rqst *rqst, int value),
	     TP_ARGS(rqst, value));

#endif /* _XPRTRDMA2_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
