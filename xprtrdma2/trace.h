/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events. Every line begins with the key of its object: the server's
 * address for a connection, the xid for an RPC. Loss of a connection, Receives
 * and the Send Queue have their events in rpcrdma2/trace.h.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM xprtrdma2

#if !defined(_XPRTRDMA2_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _XPRTRDMA2_TRACE_H

#include <linux/tracepoint.h>

#include <rpcrdma2/wire.h>

#include "xprtrdma2.h"

/* For tools in user space: enum values as numbers in the events' formats */
#define RPCRDMA2_DEFINE_PAIR(_value, _name)	TRACE_DEFINE_ENUM(_value);
RPCRDMA2_NAMES(RPCRDMA2_DEFINE_PAIR)

/* A connection */

DECLARE_EVENT_CLASS(xprt2_ep_class,
	TP_PROTO(const struct xprt2_ep *ep, int value),
	TP_ARGS(ep, value),
	TP_STRUCT__entry(
		__sockaddr(peer, ep->ep_xp->xp_xprt.addrlen)
		__field(int, value)
	),
	TP_fast_assign(
		__assign_sockaddr(peer, &ep->ep_xp->xp_xprt.addr,
				  ep->ep_xp->xp_xprt.addrlen);
		__entry->value = value;
	),
	TP_printk("peer=%pISpc status=%d", __get_sockaddr(peer), __entry->value)
);

/* value: result of the connect worker */
DEFINE_EVENT(xprt2_ep_class, xprt2_connect,
	TP_PROTO(const struct xprt2_ep *ep, int value),
	TP_ARGS(ep, value));

#define DEFINE_EP_EVENT(_name, _format, _value)				\
	DEFINE_EVENT_PRINT(xprt2_ep_class, _name,			\
		TP_PROTO(const struct xprt2_ep *ep, int value),		\
		TP_ARGS(ep, value),					\
		TP_printk("peer=%pISpc " _format, __get_sockaddr(peer), _value))

/* RPCs that may be outstanding from now on */
DEFINE_EP_EVENT(xprt2_grant, "credits=%d", __entry->value);
/* a property message that had an effect */
DEFINE_EP_EVENT(xprt2_property, "opttype=%d", __entry->value);
/* version in use from now on */
DEFINE_EP_EVENT(xprt2_settled, "version=%d", __entry->value);

#define XPRT2_DEFINE_ANSWER(_name, _text) TRACE_DEFINE_ENUM(XPRT2_A_##_name);
#define XPRT2_DEFINE_ACTION(_name, _text)	TRACE_DEFINE_ENUM(XPRT2_ACT_##_name);
XPRT2_ANSWERS(XPRT2_DEFINE_ANSWER)
XPRT2_ACTIONS(XPRT2_DEFINE_ACTION)

#define XPRT2_SHOW_ANSWER(_name, _text)	{ XPRT2_A_##_name, _text },
#define XPRT2_SHOW_ACTION(_name, _text)	{ XPRT2_ACT_##_name, _text },

TRACE_EVENT(xprt2_negotiate,
	TP_PROTO(const struct xprt2_ep *ep, int answer, int action),
	TP_ARGS(ep, answer, action),
	TP_STRUCT__entry(
		__sockaddr(peer, ep->ep_xp->xp_xprt.addrlen)
		__field(int, answer)
		__field(int, action)
	),
	TP_fast_assign(
		__assign_sockaddr(peer, &ep->ep_xp->xp_xprt.addr,
				  ep->ep_xp->xp_xprt.addrlen);
		__entry->answer = answer;
		__entry->action = action;
	),
	TP_printk("peer=%pISpc answer=%s action=%s", __get_sockaddr(peer),
		  __print_symbolic(__entry->answer,
				   XPRT2_ANSWERS(XPRT2_SHOW_ANSWER) { -1, NULL }),
		  __print_symbolic(__entry->action,
				   XPRT2_ACTIONS(XPRT2_SHOW_ACTION) { -1, NULL }))
);

/* Messages */

TRACE_EVENT(xprt2_marshal,
	TP_PROTO(const struct xprt2_req *req, const struct rpcrdma2_hdr *h,
		 size_t hdrlen),
	TP_ARGS(req, h, hdrlen),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, proc)
		__field(u32, inv_handle)
		__field(u32, header_len)
		__field(u32, len)
		__field(u32, page_len)
		__field(u32, segs)
		__field(u8, reads)
		__field(u8, writes)
		__field(bool, reply)
	),
	TP_fast_assign(
		__entry->xid = h->h_xid;
		__entry->proc = h->h_proc;
		__entry->inv_handle = h->h_inv_handle;
		__entry->header_len = hdrlen;
		__entry->len = req->rq2_slot.rq_snd_buf.len;
		__entry->page_len = req->rq2_slot.rq_snd_buf.page_len;
		__entry->segs = h->h_nsegs;
		__entry->reads = h->h_nreads;
		__entry->writes = h->h_nwrites;
		__entry->reply = h->h_has_reply;
	),
	TP_printk("xid=0x%08x proc=%s inv_handle=0x%08x header_len=%u len=%u page_len=%u reads=%u writes=%u reply=%u segs=%u",
		  __entry->xid, rpcrdma2_show_proc(__entry->proc),
		  __entry->inv_handle, __entry->header_len, __entry->len,
		  __entry->page_len, __entry->reads, __entry->writes,
		  __entry->reply, __entry->segs)
);

/* "cq.id id" identifies the chain on the Send Queue. */
TRACE_EVENT(xprt2_post_send,
	TP_PROTO(const struct xprt2_ep *ep, const struct xprt2_req *req,
		 u32 len, int status),
	TP_ARGS(ep, req, len, status),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, cq_id)
		__field(u32, id)
		__field(u32, len)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->xid = be32_to_cpu(req->rq2_slot.rq_xid);
		__entry->cq_id = ep->ep_conn.co_send_cq->res.id;
		__entry->id = req->rq2_sends[req->rq2_resent].se_post.po_id;
		__entry->len = len;
		__entry->status = status;
	),
	TP_printk("xid=0x%08x cq.id=%u id=%u len=%u status=%d", __entry->xid,
		  __entry->cq_id, __entry->id, __entry->len, __entry->status)
);

TRACE_EVENT(xprt2_reply,
	TP_PROTO(const struct rpc_rqst *rqst, const struct xprt2_rep *rep,
		 const struct rpcrdma2_hdr *h),
	TP_ARGS(rqst, rep, h),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, credit)
		__field(u32, proc)
		__field(u32, inlined)
		__field(u32, written)
		__field(u32, reply_len)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->xid = be32_to_cpu(rqst->rq_xid);
		__entry->vers = h->h_vers;
		__entry->credit = h->h_credit;
		__entry->proc = h->h_proc;
		__entry->inlined = rep->rep_paylen;
		__entry->written = rep->rep_written;
		__entry->reply_len = rep->rep_replylen;
		__entry->status = rep->rep_status;
	),
	TP_printk("xid=0x%08x version=%u credit=%u proc=%s inline=%u written=%u reply_len=%u status=%d",
		  __entry->xid, __entry->vers, __entry->credit,
		  rpcrdma2_show_proc(__entry->proc), __entry->inlined,
		  __entry->written, __entry->reply_len, __entry->status)
);

DECLARE_EVENT_CLASS(xprt2_rpc_class,
	TP_PROTO(const struct xprt2_ep *ep, u32 xid, int value),
	TP_ARGS(ep, xid, value),
	TP_STRUCT__entry(
		__field(u32, xid)
		__sockaddr(peer, ep->ep_xp->xp_xprt.addrlen)
		__field(int, value)
	),
	TP_fast_assign(
		__entry->xid = xid;
		__assign_sockaddr(peer, &ep->ep_xp->xp_xprt.addr,
				  ep->ep_xp->xp_xprt.addrlen);
		__entry->value = value;
	),
	TP_printk("xid=0x%08x peer=%pISpc len=%d", __entry->xid,
		  __get_sockaddr(peer), __entry->value)
);

/* value: length of the RPC Reply in bytes, 0 with an error */
DEFINE_EVENT(xprt2_rpc_class, xprt2_complete,
	TP_PROTO(const struct xprt2_ep *ep, u32 xid, int value),
	TP_ARGS(ep, xid, value));

#define DEFINE_RPC_EVENT(_name, _format, _value)			\
	DEFINE_EVENT_PRINT(xprt2_rpc_class, _name,			\
		TP_PROTO(const struct xprt2_ep *ep, u32 xid, int value), \
		TP_ARGS(ep, xid, value),				\
		TP_printk("xid=0x%08x peer=%pISpc " _format,		\
			  __entry->xid, __get_sockaddr(peer), _value))

/* message that is ignored: its rdma_proc */
DEFINE_RPC_EVENT(xprt2_drop, "proc=%s", rpcrdma2_show_proc(__entry->value));
/* number of regions that a LOCAL_INV was posted for */
DEFINE_RPC_EVENT(xprt2_fence, "regions=%d", __entry->value);
/* length of the RPC Call in bytes */
DEFINE_RPC_EVENT(xprt2_backward_call, "len=%d", __entry->value);
/* length of the RPC Reply in bytes, or an errno */
DEFINE_RPC_EVENT(xprt2_backward_reply, "result=%d", __entry->value);
DEFINE_RPC_EVENT(xprt2_backward_refuse, "code=%s",
		 rpcrdma2_show_errcode(__entry->value));

#endif /* _XPRTRDMA2_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
