/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of the core. "cq.id" is the id of a connection's Send CQ; the
 * events of both ends name it too.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rpcrdma2

#if !defined(_RPCRDMA2_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RPCRDMA2_TRACE_H

#include <linux/tracepoint.h>

#include <rpcrdma2/conn.h>

TRACE_EVENT(rpcrdma2_rw_failed,
	TP_PROTO(const struct rpcrdma2_conn *co, u32 handle, u64 offset,
		 unsigned int nents, int status),
	TP_ARGS(co, handle, offset, nents, status),
	TP_STRUCT__entry(
		__field(u32, cq_id)
		__field(u32, handle)
		__field(u64, offset)
		__field(unsigned int, nents)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->cq_id = co->co_send_cq->res.id;
		__entry->handle = handle;
		__entry->offset = offset;
		__entry->nents = nents;
		__entry->status = status;
	),
	TP_printk("cq.id=%u handle=0x%08x offset=0x%llx nents=%u status=%d",
		  __entry->cq_id, __entry->handle, __entry->offset,
		  __entry->nents, __entry->status)
);

#endif /* _RPCRDMA2_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
