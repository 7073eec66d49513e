/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of the client. XPRT2_COUNTERS() defines the counters that are summed
 * over all transports; debugfs shows them as xprtrdma2/counters. Struct
 * xprt2_stats has the figures of one transport, for mountstats.
 */
#ifndef _XPRTRDMA2_COUNTERS_H
#define _XPRTRDMA2_COUNTERS_H

#include <linux/percpu.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/view.h>

#define XPRT2_COUNTERS(C)						\
	C(connects)		/* connections established */		\
	C(connect_failures)	/* attempts that failed */		\
	C(disconnects)		/* connections torn down */		\
	C(calls)		/* Calls posted */			\
	C(calls_nomsg)		/* of these, without inline payload */	\
	C(calls_marshalled_again) /* Receives of the server got smaller */ \
	C(calls_again)		/* sent again in another form */	\
	C(replies)		/* Replies matched to a Call */		\
	C(call_bytes)		/* sent inline, with headers */		\
	C(reply_bytes)		/* received inline */			\
	C(read_chunks)							\
	C(read_chunk_bytes)						\
	C(write_chunks)							\
	C(write_chunk_bytes)	/* placed by the server */		\
	C(reply_chunks)		/* offered */				\
	C(reply_chunks_used)						\
	C(reply_chunk_bytes)	/* placed by the server */		\
	C(registrations)	/* REG_MR work requests */		\
	C(remote_invalidations)						\
	C(local_invalidations)	/* LOCAL_INV work requests */		\
	C(mrs_allocated)						\
	C(doorbells)		/* chains handed to the Send Queue */	\
	C(recv_doorbells)	/* chains handed to the Receive Queue */ \
	C(send_completions)						\
	C(inv_completions)						\
	C(recv_completions)						\
	C(pullup_bytes)		/* copied into the Send buffer */	\
	C(mapped_bytes)		/* sent from their pages */		\
	C(pages_revoked)	/* revoked to encrypt again */		\
	C(fixup_bytes)		/* copied out of Receive buffers */	\
	C(credit_waits)		/* Calls held back: no credit */	\
	C(mr_waits)		/* no free memory region */		\
	C(sq_waits)		/* no room in the Send Queue */		\
	C(map_waits)		/* memory could not be mapped */	\
	C(calls_unsendable)	/* ended: cannot be sent */		\
	C(mrs_unavailable)	/* regions that could not be allocated */ \
	C(errors_received)	/* RDMA2_ERROR messages */		\
	C(replies_unknown)	/* no Call with that xid */		\
	C(replies_bad)		/* Replies that ended their RPC */	\
	C(receives_bad)		/* consumed by no message: connections lost */ \
	C(overdue)		/* connections lost: a chain hung */	\
	C(dropped_silently)	/* messages not answered */		\
	C(dead_rpcs)		/* RPCs that ended without a Reply */	\
	C(dead_waits)		/* of these, with memory the server may use */ \
	C(dead_answered)	/* of these, the Reply came late */	\
	C(dead_fences)		/* of these, with regions to invalidate */ \
	C(dead_unanswered)	/* fenced while the server was silent */ \
	C(credits_kept)		/* of RPCs that ended without a Reply */ \
	C(bad_invalidations)	/* handle not of this RPC (S50) */	\
	C(backward_calls)	/* given to the callback service */	\
	C(backward_replies)	/* Replies to these */			\
	C(backward_waits)	/* a Reply waits for other Sends */	\
	C(backward_refused)	/* backward Calls answered with an error */ \
	C(backward_unanswered)	/* neither Reply nor error sent */	\
	C(backward_read_chunks)	/* offered with backward Calls */	\
	C(backward_write_chunks)					\
	C(backward_reply_chunks)					\
	C(backward_read_bytes)	/* read from them */			\
	C(backward_write_bytes)	/* written to them */			\
	C(sends_with_inv)	/* backward Replies that invalidate */	\
	C(connprops)		/* property messages taken */		\
	C(reqprops)							\
	C(updprops)							\
	C(resprops)		/* answers to REQPROPs of this end */	\
	C(reqprops_sent)						\
	C(updprops_sent)						\
	C(properties_in_vain)	/* refused, or with no good answer */	\
	C(odd_properties)	/* S12: more than once, or too long */	\
	C(frozen_properties)	/* S15: changed nevertheless */		\
	C(properties_refused)	/* messages answered with an error */

enum xprt2_counter {
#define XPRT2_ENUM(name) XPRT2_C_##name,
	XPRT2_COUNTERS(XPRT2_ENUM)
#undef XPRT2_ENUM
	/* connections that ended, by reason */
#define XPRT2_ENUM(name, ...) XPRT2_C_ended_##name,
	RPCRDMA2_LOSSES(XPRT2_ENUM)
#undef XPRT2_ENUM
	XPRT2_C_COUNT
};

DECLARE_PER_CPU(u64 [XPRT2_C_COUNT], xprt2_counters);

#define xprt2_count_add(name, n) \
	this_cpu_add(xprt2_counters[XPRT2_C_##name], (u64)(n))
#define xprt2_count(name)	xprt2_count_add(name, 1)

static inline void xprt2_count_ended(enum rpcrdma2_loss why)
{
	if (why != RPCRDMA2_LOSS_NONE)
		this_cpu_inc(xprt2_counters[XPRT2_C_ended_PEER + why -
					 RPCRDMA2_LOSS_PEER]);
}

/*
 * Per-transport figures for mountstats. The context named increments them
 * without a lock; readers may see an old value.
 */
struct xprt2_stats {
	/* send path */
	unsigned long		st_read_chunks;
	unsigned long		st_write_chunks;
	unsigned long		st_reply_chunks;
	unsigned long long	st_request_bytes;
	unsigned long long	st_pullup_bytes;
	unsigned long		st_failed_marshal;
	unsigned long		st_nomsg_calls;
	unsigned long		st_no_sq;
	/* receive CQ */
	unsigned long long	st_reply_bytes;
	unsigned long		st_bad_replies;
	struct rpcrdma2_errors	st_errors;
	unsigned long		st_local_inv;
	/* release and connect */
	unsigned long		st_hardway;
	unsigned long		st_mrs_allocated;
};

#endif /* _XPRTRDMA2_COUNTERS_H */
