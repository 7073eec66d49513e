/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of the server, summed over all connections and shown in debugfs as
 * svcrdma2/counters. The list below is the only definition.
 */
#ifndef _SVCRDMA2_COUNTERS_H
#define _SVCRDMA2_COUNTERS_H

#include <linux/percpu.h>

#include <rpcrdma2/conn.h>

/*
 * The errors sent are in the order of their codes: svc2_count_error() depends
 * on it.
 */
#define SVC2_COUNTERS(C)						\
	C(accepts)		/* connections accepted */		\
	C(accept_failures)	/* requests to connect that failed */	\
	C(disconnects)		/* connections lost or ended */		\
	C(calls)		/* Calls handed to the RPC layer */	\
	C(calls_v1)		/* of these, in version 1 */		\
	C(calls_lost)		/* connection lost: a transfer was refused */ \
	C(calls_lost_again)	/* refused after such losses */		\
	C(replies)		/* Replies posted */			\
	C(errors_vers)							\
	C(errors_bad_xdr)						\
	C(errors_invalid_proc)						\
	C(errors_read_chunks)						\
	C(errors_write_chunks)						\
	C(errors_segments)						\
	C(errors_write_resource)					\
	C(errors_reply_resource)					\
	C(errors_invalid_option)					\
	C(errors_system)						\
	C(dropped_silently)	/* E-22, S31, S39 */			\
	C(dropped_reply)	/* Replies to no Call of this end */	\
	C(dropped_error)	/* the same for RDMA2_ERROR messages */	\
	C(dropped_option)	/* options that must not be answered */	\
	C(backward_calls)	/* callbacks posted */			\
	C(backward_replies)	/* Replies to them */			\
	C(backward_errors)	/* ended by an error or a bad Reply */	\
	C(backward_too_long)	/* ended: too long for the connection */ \
	C(backward_given_up)	/* aborted before their answer */	\
	C(backward_read_chunks)	/* offered with callbacks */		\
	C(backward_write_chunks)					\
	C(backward_reply_chunks)					\
	C(backward_registrations) /* REG_MR work requests */		\
	C(backward_remote_invs)	/* regions that an answer invalidated */ \
	C(backward_local_invs)	/* LOCAL_INV work requests */		\
	C(backward_revoked)	/* aborted while memory was registered */ \
	C(backward_late)	/* of these, answered soon after */	\
	C(mrs_allocated)	/* memory regions for callbacks */	\
	C(connprops)		/* property messages taken */		\
	C(reqprops)							\
	C(updprops)							\
	C(resprops)		/* answers to REQPROPs of the server */	\
	C(reqprops_sent)						\
	C(updprops_sent)						\
	C(properties_in_vain)	/* refused, or without a valid answer */ \
	C(odd_properties)	/* S12: more than once, or too long */	\
	C(frozen_properties)	/* S15: fixed, but changed by the peer */ \
	C(bad_inv_handle)	/* nominated, but not in the header */	\
	C(read_chunks)							\
	C(read_chunk_bytes)						\
	C(long_calls)		/* Calls in a Position-Zero chunk */	\
	C(sinks_reused)		/* Calls read into pages of a finished Call */ \
	C(write_chunks)		/* Write chunks written to */		\
	C(write_chunk_bytes)						\
	C(reply_chunks_used)	/* written to */			\
	C(reply_chunk_bytes)	/* placed in them */			\
	C(reply_chunks_unused)	/* offered, but the Reply fit inline */	\
	C(rdma_reads)		/* RDMA Read work requests */		\
	C(rdma_writes)		/* RDMA Write work requests */		\
	C(doorbells)		/* chains handed to the Send Queue */	\
	C(sends)							\
	C(sends_with_inv)	/* of these, Send With Invalidate */	\
	C(send_completions)	/* completions of any chain */		\
	C(receives_raised)	/* changes to larger Receives */	\
	C(receives_lowered)	/* and to smaller ones, as the peer requested */ \
	C(grants_raised)	/* up to twice the credits */		\
	C(grants_lowered)	/* by one credit, when memory is short */ \
	C(grants_denied)	/* not raised, or small from the start */ \
	C(recv_doorbells)	/* chains handed to the Receive Queue */ \
	C(recv_completions)	/* messages received */			\
	C(recv_bytes)							\
	C(receives_bad)		/* consumed without a message: connections lost */ \
	C(pullup_bytes)		/* copied into the Send buffer */	\
	C(inline_bytes)		/* RPC payload sent inline */		\
	C(sq_waits)		/* waits for Send Queue entries */	\
	C(tx_waits)		/* waits for a send context */		\
	C(mrs_trimmed)		/* idle regions of callbacks that were freed */ \
	C(contexts_trimmed)	/* send contexts freed after a burst */	\
	C(mr_waits)		/* waits for memory regions */		\
	C(transfer_waits)	/* Calls that waited for payload pages */ \
	C(transfer_deferred)	/* Calls with pages, deferred for an upcall */ \
	C(replies_planned_again) /* Receives of the peer got smaller */	\
	C(buffer_pages_moved)	/* from one send context to another */	\
	C(shortages)		/* pauses for lack of memory or mappings */ \
	C(stalls)		/* waits that ended the connection */	\
	C(overdue)		/* chains that ended it, see SVC2_CHAIN_TIMEOUT */

enum svc2_counter {
#define SVC2_ENUM(name) SVC2_C_##name,
	SVC2_COUNTERS(SVC2_ENUM)
#undef SVC2_ENUM
	/* connections that have ended, by reason */
#define SVC2_ENUM(name, ...) SVC2_C_ended_##name,
	RPCRDMA2_LOSSES(SVC2_ENUM)
#undef SVC2_ENUM
	SVC2_C_COUNT
};

DECLARE_PER_CPU(u64 [SVC2_C_COUNT], svc2_counters);

#define svc2_count_add(name, n) \
	this_cpu_add(svc2_counters[SVC2_C_##name], (n))
#define svc2_count(name)	svc2_count_add(name, 1)

static inline void svc2_count_ended(enum rpcrdma2_loss why)
{
	if (why != RPCRDMA2_LOSS_NONE)
		this_cpu_inc(svc2_counters[SVC2_C_ended_PEER + why -
					 RPCRDMA2_LOSS_PEER]);
}

void svc2_count_error(u32 code);

#endif /* _SVCRDMA2_COUNTERS_H */
