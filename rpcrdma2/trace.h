/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of the core, for client and server. "cq.id" is the id of a CQ of
 * a connection, which the events of xprtrdma2 and svcrdma2 also contain. "cq.id
 * id" matches a posted work request with its completion.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rpcrdma2

#if !defined(_RPCRDMA2_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RPCRDMA2_TRACE_H

#include <linux/tracepoint.h>

#include <rdma/ib_cm.h>

#include <trace/misc/rdma.h>

#include <rpcrdma2/compat.h>
#include <rpcrdma2/conn.h>

#define RPCRDMA2_DEFINE_LOSS(_name, ...) TRACE_DEFINE_ENUM(RPCRDMA2_LOSS_##_name);
#define RPCRDMA2_SHOW_LOSS(_name, _text, ...)	{ RPCRDMA2_LOSS_##_name, _text },
RPCRDMA2_LOSSES(RPCRDMA2_DEFINE_LOSS)

TRACE_EVENT(rpcrdma2_lost,
	TP_PROTO(const struct rpcrdma2_conn *co, enum rpcrdma2_loss why),
	TP_ARGS(co, why),
	TP_STRUCT__entry(
		__sockaddr(peer, sizeof(struct sockaddr_in6))
		__field(int, reason)
	),
	TP_fast_assign(
		__assign_sockaddr(peer, &co->co_id->route.addr.dst_addr,
				  sizeof(struct sockaddr_in6));
		__entry->reason = why;
	),
	TP_printk("peer=%pISpc reason=%s", __get_sockaddr(peer),
		  __print_symbolic(__entry->reason,
				   RPCRDMA2_LOSSES(RPCRDMA2_SHOW_LOSS) { -1, NULL }))
);

TRACE_EVENT(rpcrdma2_post_send,
	TP_PROTO(const struct rpcrdma2_conn *co,
		 const struct rpcrdma2_post *post,
		 const struct ib_send_wr *last),
	TP_ARGS(co, post, last),
	TP_STRUCT__entry(
		__field(u32, cq_id)
		__field(u32, id)
		__field(unsigned int, opcode)
		__field(unsigned int, wrs)
		__field(int, avail)
		__field(int, num_sge)
		__field(u32, inv)
		__field(bool, signaled)
	),
	TP_fast_assign(
		__entry->cq_id = co->co_send_cq->res.id;
		__entry->id = post->po_id;
		__entry->opcode = last->opcode;
		__entry->wrs = post->po_wrs;
		__entry->avail = atomic_read(&co->co_sq.sq_units.un_free);
		__entry->num_sge = last->num_sge;
		__entry->inv = last->opcode == IB_WR_SEND_WITH_INV ?
			       last->ex.invalidate_rkey : 0;
		__entry->signaled = post->po_signal;
	),
	TP_printk("cq.id=%u id=%u opcode=%u wrs=%u avail=%d num_sge=%d inv_handle=0x%08x%s",
		  __entry->cq_id, __entry->id, __entry->opcode, __entry->wrs,
		  __entry->avail, __entry->num_sge, __entry->inv,
		  __entry->signaled ? " signaled" : "")
);

DECLARE_EVENT_CLASS(rpcrdma2_wc,
	TP_PROTO(const struct ib_cq *cq, u32 id, const struct ib_wc *wc),
	TP_ARGS(cq, id, wc),
	TP_STRUCT__entry(
		__field(u32, cq_id)
		__field(u32, id)
		__field(unsigned int, status)
		__field(unsigned int, vendor)
		__field(unsigned int, opcode)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->cq_id = cq->res.id;
		__entry->id = id;
		__entry->status = wc->status;
		__entry->vendor = wc->status ? wc->vendor_err : 0;
		__entry->opcode = wc->status ? 0 : wc->opcode;
		__entry->len = __entry->opcode & IB_WC_RECV ? wc->byte_len : 0;
	),
	TP_printk("cq.id=%u id=%u status=%s (0x%x) opcode=%u len=%u",
		  __entry->cq_id, __entry->id,
		  rdma_show_wc_status(__entry->status), __entry->vendor,
		  __entry->opcode, __entry->len)
);

DEFINE_EVENT(rpcrdma2_wc, rpcrdma2_wc_send,
	TP_PROTO(const struct ib_cq *cq, u32 id, const struct ib_wc *wc),
	TP_ARGS(cq, id, wc));
/* Failures only, of a work request before the last of a chain, without an id */
DEFINE_EVENT(rpcrdma2_wc, rpcrdma2_wc_front,
	TP_PROTO(const struct ib_cq *cq, u32 id, const struct ib_wc *wc),
	TP_ARGS(cq, id, wc));
DEFINE_EVENT(rpcrdma2_wc, rpcrdma2_wc_receive,
	TP_PROTO(const struct ib_cq *cq, u32 id, const struct ib_wc *wc),
	TP_ARGS(cq, id, wc));

TRACE_EVENT(rpcrdma2_expose,
	TP_PROTO(const struct rpcrdma2_conn *co, u32 xid,
		 const struct ib_reg_wr *reg, int nents),
	TP_ARGS(co, xid, reg, nents),
	TP_STRUCT__entry(
		__field(u32, cq_id)
		__field(u32, xid)
		__field(u32, handle)
		__field(u64, len)
		__field(u64, offset)
		__field(int, nents)
		__field(int, access)
	),
	TP_fast_assign(
		__entry->cq_id = co->co_send_cq->res.id;
		__entry->xid = xid;
		__entry->handle = reg->mr->rkey;
		__entry->len = reg->mr->length;
		__entry->offset = reg->mr->iova;
		__entry->nents = nents;
		__entry->access = reg->access;
	),
	TP_printk("cq.id=%u xid=0x%08x handle=0x%08x len=%llu offset=0x%016llx pages=%d access=0x%x",
		  __entry->cq_id, __entry->xid, __entry->handle,
		  __entry->len, __entry->offset, __entry->nents,
		  __entry->access)
);

#endif /* _RPCRDMA2_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
