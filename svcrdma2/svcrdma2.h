/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The responder: an svc_xprt for RPC-over-RDMA.
 *
 * Path of a Call: message.c (its Receive, its pages and its life cycle),
 * recvfrom.c, the RPC layer, sendto.c (its Reply, or an RDMA2_ERROR, and the
 * Send). Below these are grant.c (number and size of Receives), limits.c
 * (entries of the Send Queue and other scarce resources, payload quotas, wakeup
 * of svc threads) and the core. recvfrom.c also answers property messages, and
 * passes Replies to callbacks to backchannel.c, where callbacks begin, too.
 * transport.c has listeners and connections.
 *
 * Contexts, by their names in the comments. Without one a function that another
 * file calls runs in an svc thread, and may sleep; if its name ends in _init or
 * _exit and it has no arguments, in module init or exit.
 *
 *   svc thread	a thread of the RPC service, in an svc_xprt_ops of this module
 *   receive CQ	completion handler in the svc thread with XPT_BUSY, which polls;
 *		without SVC2_THREADS_POLL, and at the end of the connection, in
 *		a workqueue
 *   send CQ	completion handler in a workqueue. A chain also ends in a task
 *		that drains the Send Queue
 *   CM handler	rdma_cm's events, under the cm_id's handler mutex
 *   QP handler	asynchronous events of a QP, in any context, perhaps in a hard
 *		interrupt
 *   work	svc2_wq, svc2_unpin_wq
 *   ->xpo_free	end of the last reference, in any task that may sleep: no thread
 *		uses the connection
 *   RPC task	a task with a callback. Its send path must not wait for the
 *		connection; the end of an aborted callback waits for its answer,
 *		and for its fence
 *
 * Ownership invariants
 *
 *   R1 A Receive belongs to the device from post to completion, then to
 *	sp_arrived and sp_recv_q, then to the Call found in it, until
 *	svc2_recv_put(), or until svc2_grant_lower() frees it.
 *   R2 A Call belongs, one after the other, to
 *	  - the svc thread that parsed it;
 *	  - a semaphore, qu_calls or sp_short_q while a resource for its RDMA
 *	    Reads is missing, then sp_start_q;
 *	  - the Send Queue while its RDMA Reads are posted, then sp_ready_q;
 *	  - a semaphore or qu_calls while pages or Send Queue entries for its
 *	    Reply are missing, then sp_ready_q;
 *	  - the RPC layer, as rq_xprt_ctxt, until ->xpo_release_ctxt.
 *   R3 A posted chain belongs to the Send Queue until its po_done, which is
 *	called exactly once (Q1 in rpcrdma2/conn.h).
 *   R4 Pages of a reply stay with their svc_rqst, except those the device
 *	reads: these belong to the send context until its po_done. A thread
 *	gets back pages that nfsd has replaced (sm_spares), but none of these.
 *   R5 Units taken from a semaphore are given back once: Send Queue entries
 *	when their chain is retired, a send context by svc2_tx_put(), memory
 *	regions when their RDMA Reads are done. Counted pages of payload are
 *	given back with the message, or with the send context's chain.
 *	sp_backward_free counts send contexts alone: the same number has Send
 *	Queue entries. All units are back when the connection is freed
 *	(asserted there).
 *   R6 Receives that are posted or held by a Call never number less than the
 *	grant plus those for control messages: a Call's Receive is put back
 *	before the Reply that returns its credit leaves. rp_nfree counts a batch
 *	until it is posted: a thread that finds a batch counted waits for
 *	rp_lock, under which the batch is posted. Receives for a larger grant
 *	are posted before it is raised. A freed Receive was spare, or the
 *	grant is lowered before the Reply leaves. The grant is written into each
 *	header at the post, under sq_lock, so that a lowered grant is never
 *	followed by its old value. Receives for the answers to callbacks are
 *	posted before the first of these callbacks is made, and that of an
 *	answer is put back before the callback's credit returns.
 *   R7 The cm_id is destroyed last. Until then the device cannot go away.
 *   R8 No callback ends while one of its memory regions is live: sc_exposed is
 *	empty in svc2_callback_end() (asserted there), and when svc2_bc_free()
 *	frees the callback. It is pinned while its answer is processed, from
 *	svc2_bc_claim_callback() to svc2_callback_unpin().
 */
#ifndef _SVCRDMA2_H
#define _SVCRDMA2_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <rpcrdma2/chunks.h>
#include <rpcrdma2/compat.h>
#include <rpcrdma2/conn.h>
#include <rpcrdma2/param.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

#include "pure.h"

struct svc2_callback;
struct svc2_msg;
struct svc2_xprt;

/* Names the backchannel's rpc_xprt class, which the NFS client does not use */
#ifdef XPRT_TRANSPORT_RDMA2
#define SVC2_IDENT		XPRT_TRANSPORT_RDMA2
#else
#define SVC2_IDENT		259
#endif

/*
 * An svc thread polls the receive CQ: the device's event wakes it, without a
 * worker in between. In older kernels svc_xprt_enqueue() takes a lock that
 * cannot be taken with interrupts disabled.
 */
#ifdef RPCRDMA2_HAS_BC_LWQ
#define SVC2_THREADS_POLL
#endif

enum {
	SVC2_CREDITS_MIN	= 4,	/* initial grant of a connection */
	SVC2_CREDITS_DEFAULT	= 64,
	SVC2_CREDITS_MAX	= 1024,

	/* callbacks that may be outstanding, if the peer grants that many */
	SVC2_BACKWARD_CREDITS	= 16,
	SVC2_BACKWARD_MAX	= 256,
	SVC2_BACKWARD_FIRST	= 4,	/* doubled when all are outstanding */
	/* memory regions of a usual callback: three pieces of each message */
	SVC2_CALLBACK_REGIONS	= 6,
	/* minimum number of regions that the Send Queue has entries for */
	SVC2_BACKWARD_REGIONS	= 16,

	SVC2_SIGNAL_BATCH	= 16,	/* Sends for a completion, at most */
	SVC2_POLL_BATCH		= 16,	/* messages that a thread polls for */
	/*
	 * Gather entries of a work request: for the largest Send with pages of
	 * 4 KiB. An entry of soft-RoCE's Send Queue then takes 512 bytes.
	 */
	SVC2_MAX_SGES		= 19,
	/*
	 * The largest Calls in the Send Queue: with RDMA Reads of 1 or 4 pages
	 * these take a little less than a power of two.
	 */
	SVC2_LARGE_CALLS	= 14,
	/*
	 * RDMA Reads that a header can request: its segments, and one more for
	 * each place where a Position-Zero chunk is interrupted.
	 */
	SVC2_MAX_READS		= RPCRDMA2_MAX_SEGMENTS + RPCRDMA2_MAX_READ_CHUNKS,

	/* default limits on connections */
	SVC2_ADDRESS_CONNS	= 128,	/* of an address */
	SVC2_CONNS_MIN		= 64,	/* of all, at least */

	SVC2_BACKLOG		= 128,	/* requests that wait for a thread */
};

/*
 * Limit on a thread's wait for a semaphore, even if other waiters make
 * progress. While a thread waits, a dynamic pool of threads does not grow, and
 * a service that stops waits for its threads one by one. A thread takes two
 * semaphores with a Reply: with the pauses for memory, in at most six places,
 * nfsd stops within 30 s.
 */
#define SVC2_STALL_TIMEOUT	(1UL * HZ)

/*
 * Limit on the time that a signaled chain is the oldest one on the Send Queue.
 * The limit since its post is RPCRDMA2_SQ_PATIENCE times as long. Until a chain
 * is done it holds pages, and a peer can make its device delay it without end.
 */
#define SVC2_CHAIN_TIMEOUT	(20 * HZ)

/*
 * Limit on the handshake: before the peer's confirmation, or its first message,
 * it has only shown that it can send a datagram, and specifies the time that
 * the connection manager waits.
 */
#define SVC2_ESTABLISH_TIMEOUT	(30 * HZ)

/* A step that lacks memory or mappings is retried for two to three seconds. */
#define SVC2_SHORTAGE_PAUSE	(HZ / 50 + 1)
#define SVC2_SHORTAGE_TRIES	100

/* Send contexts are freed when they were idle for once or twice this time. */
#define SVC2_TRIM_TIME		(5 * HZ)

/* Retries for a lost listener: first delay, doubled up to the maximum */
#define SVC2_RELISTEN_MIN	(1 * HZ)
#define SVC2_RELISTEN_MAX	(30 * HZ)

/*
 * Counters of the server, summed over all connections and shown in debugfs as
 * svcrdma2/counters. The errors sent are in the order of their codes:
 * svc2_error_instead() depends on it.
 */
#define SVC2_COUNTERS(C)						\
	C(accepts)		/* connections accepted */		\
	C(accept_failures)	/* requests to connect that failed */	\
	C(disconnects)		/* connections lost or ended */		\
	C(calls)		/* Calls handed to the RPC layer */	\
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
	C(dropped_silently)	/* DONE, short, options (E-22, S31, S39) */ \
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
	C(backward_silent)	/* of these, waited for the answer in vain */ \
	C(mrs_allocated)	/* memory regions for callbacks */	\
	RPCRDMA2_PROPS_COUNTERS(C)					\
	C(bad_nominations)	/* nominated, but not in the header */	\
	C(read_chunks)							\
	C(read_chunk_bytes)						\
	C(long_calls)		/* Calls in a Position-Zero chunk */	\
	C(sinks_reused)		/* Calls read into at least one kept page */ \
	C(write_chunks)		/* Write chunks written to */		\
	C(write_chunk_bytes)						\
	C(reply_chunks_used)	/* written to */			\
	C(reply_chunk_bytes)	/* placed in them */			\
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
	C(grants_unused)	/* by one credit, as Calls did not use them */ \
	C(grants_denied)	/* not raised, or Receives small from the start */ \
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
	C(replies_planned_again) /* Receives of the peer got smaller */	\
	C(buffer_parts_moved)	/* from one send context to another */	\
	C(shortages)		/* pauses for lack of memory or mappings */ \
	C(stalls)		/* waits that ended the connection */	\
	C(overdue)		/* chains that ended it, see SVC2_CHAIN_TIMEOUT */

#define SVC2_C(name)		SVC2_C_##name,
#define SVC2_C_ENDED(name, ...)	SVC2_C_ended_##name,

RPCRDMA2_COUNTERS(svc2, SVC2)

#define svc2_count_add(name, n) \
	this_cpu_add(svc2_counters[SVC2_C_##name], (u64)(n))
#define svc2_count(name)	svc2_count_add(name, 1)

/* A semaphore, for which Calls wait without a thread: see limits.c */
struct svc2_sem {
	struct rpcrdma2_units	*se_units;	/* free units */
	/* the units, unless they are counted elsewhere */
	struct rpcrdma2_units	se_own;
	unsigned int		se_total;	/* number of own units */
	unsigned int		se_counter;	/* svc2_counter of the waits */
	spinlock_t		se_lock;	/* guards the next */
	/* FIFO, threads before Calls; without the lock only for list_empty() */
	struct list_head	se_waiters;
};

/* A waiter in a queue; a thread's waiter may be gone once it has its units */
struct svc2_waiter {
	struct list_head	wt_list;	/* until it has its units */
	unsigned int		wt_units;	/* number it waits for */
	unsigned int		wt_spare;	/* number to leave for others */
	struct svc2_msg		*wt_call;	/* NULL for a thread */
	unsigned int		*wt_held;	/* a Call's number goes here */
};

/* Below 1 no unit is free. */
static inline int svc2_sem_avail(const struct svc2_sem *sem)
{
	return atomic_read(&sem->se_units->un_free);
}

/* True for an error that means a lack of memory, mappings or memory regions */
static inline bool svc2_is_shortage(int ret)
{
	return ret == -ENOMEM || ret == -EAGAIN || ret == -EIO;
}

/* Shared by the connections of an address; see svc2_pages_lock */
struct svc2_address {
	struct list_head	ad_list;	/* on the list of all */
	struct sockaddr_storage	ad_addr;	/* without a port */
	unsigned int		ad_conns;
	/* Calls broke connections of it; set under lost_lock, never cleared */
	bool			ad_breaks;
	atomic_long_t		ad_pages;	/* of their payload */
	struct list_head	ad_starved;	/* in order of turns */
	/*
	 * on the list of waiting addresses, if the first of ad_starved waits
	 * for connections of other addresses
	 */
	struct list_head	ad_waiting;
};

/* Payload quota of a connection: see limits.c */
struct svc2_quota {
	/* NULL before svc2_address_get() */
	struct svc2_address	*qu_address;
	atomic_long_t		qu_pages;	/* of its payload */
	/* the next two are written under svc2_pages_lock */
	struct list_head	qu_calls;	/* wait for pages, FIFO */
	/* on ad_starved, if its Calls wait and it has no pages */
	struct list_head	qu_starved;
	/*
	 * Calls of RPCSEC_GSS with counted pages that threads process; written
	 * under sp_recv_lock
	 */
	struct list_head	qu_gss;
};

/* Send contexts: see sendto.c. */
enum {
	/* contexts beyond one for each credit; allocated at accept */
	SVC2_TX_RESERVE		= 4,
	/* parts of all buffers of a connection beyond the first of each */
	SVC2_TX_EXTRA_PARTS	= 64,
	/* Sends that are signaled after a lack of contexts or parts */
	SVC2_TX_SCARCE		= 64,
};

/* A part of a Send buffer, SVC2_TX_BUFSIZE bytes */
struct svc2_tx_part {
	void			*tp_buf;
	u64			tp_addr;	/* its DMA address */
};

/* A Send, and the RDMA Writes in front of it */
struct svc2_tx {
	struct llist_node	tx_list;	/* on sp_txs */
	struct rpcrdma2_post	tx_post;	/* chain on the Send Queue */
	unsigned long		tx_used;	/* when put back, in jiffies */
	/* callback that it carries, or NULL; may be gone once it is posted */
	struct svc2_callback	*tx_callback;
	/* ex_number of a property message that is no answer, or 0 */
	u32			tx_props;
	bool			tx_signal;	/* others need what it holds */
	struct ib_send_wr	tx_wr;		/* the Send */
	struct rpcrdma2_rw	tx_rw;		/* RDMA Writes */

	/*
	 * Buffer for the transport header and the data copied behind it. The
	 * first part stays mapped; others are added when they are needed.
	 */
	struct svc2_tx_part	tx_bufs[SVC2_TX_BUF_PARTS];
	unsigned int		tx_nbufs;	/* entries of tx_bufs */
	void			*tx_buf;	/* address of the first */
	unsigned int		tx_len;		/* bytes in the buffer */
	u32			tx_vers;	/* version of the message */

	/* pages of the Reply, held until the chain is done (R4) */
	/* page of its head; in tx_pages if the device reads it */
	struct page		*tx_head;
	bool			tx_reads_head;
	bool			tx_reads_pages;	/* it reads another page */
	unsigned int		tx_npages;	/* entries of tx_pages */
	unsigned int		tx_charged;	/* of svc2_pages_take() */
	struct page		**tx_pages;	/* tx_few, or allocated */
	struct page		*tx_few[SVC2_REPLY_FEW];

	/* entries of tx_sge, behind the first, mapped for this Send */
	unsigned int		tx_nmapped;
	struct ib_sge		tx_sge[];	/* gather list of tx_wr */
};

/* ended or refused connections that are remembered */
#define SVC2_ENDED	32

struct svc2_ended {
	u64			ed_net;		/* cookie, 0 if unused */
	char			ed_peer[sizeof_field(struct svc_xprt,
						     xpt_remotebuf)];
	u32			ed_version;	/* of its last Call, or 0 */
	int			ed_error;	/* errno if refused, or 0 */
	struct rpcrdma2_end	ed_end;		/* also time of a refusal */
};

/* A message in process; mostly a Call (R2) */
struct svc2_msg {
	/*
	 * On the queue where it waits: of a semaphore, qu_calls, sp_short_q,
	 * sp_start_q or sp_ready_q; more than wt_list for the first two
	 */
	struct svc2_waiter	sm_wait;
	struct rpcrdma2_recv	*sm_recv;	/* NULL when put back (R6) */

	struct rpcrdma2_post	sm_post;	/* its RDMA Reads */
	struct rpcrdma2_rw	sm_rw;		/* the contents of these */
	/* their work requests; NULL when they are not built, or done */
	struct ib_send_wr	*sm_chain;
	unsigned int		sm_mrs;		/* regions taken for them */
	/* entries taken for them, later for the Reply; until the post */
	unsigned int		sm_entries;
	/* they fill these; its own from svc2_sinks_take() to _put() */
	struct page		**sm_pages;
	/* counted pages, sm_reply_pages included: svc2_pages_reserve() */
	unsigned int		sm_charged;
	/* pages its Reply may have, until it has them; 0 for a short one */
	unsigned int		sm_reply_pages;
	struct task_struct	*sm_thread;	/* put it on qu_gss, or NULL */
	u64			sm_offered;	/* bytes offered for a Reply */
#ifdef RPCRDMA2_STRETCHES
	/* made for rq_arg by a thread, undone by svc2_msg_put(); or NULL */
	void			*sm_map;	/* sm_pages in one piece */
	void			*sm_copy;	/* of a long inline GSS Call */
#endif
	/*
	 * bytes in front of the only chunk that stay in sm_recv; 0 when all of
	 * the Call is laid out in sm_pages
	 */
	u32			sm_apart;
	u32			sm_inline;	/* RPC bytes in sm_recv */
	u32			sm_length;	/* bytes in sm_pages, padded */

	u32			sm_inv_handle;	/* the Reply's, or 0 */
	unsigned int		sm_nspares;	/* entries of sm_spares */
	unsigned int		sm_nresults;	/* entries of sm_results */
	struct page		*sm_second;	/* the thread's second page */
	/* held pages of the thread, from the second: sm_few, or allocated */
	struct page		**sm_spares;
	struct page		*sm_few[SVC2_REPLY_FEW];
	/* eligible results, as the upper layer encoded them */
	struct rpcrdma2_range	sm_results[RPCRDMA2_MAX_WRITE_CHUNKS];
	/* as decoded; its header becomes that of the answer */
	struct rpcrdma2_msg	sm_msg;
};

static_assert(sizeof(struct svc2_msg) <= SVC2_MSG_BYTES);

/*
 * Minimum of the pages of all connections: it allows the largest Calls, each
 * less than half of it
 */
#define SVC2_PAGES_MIN \
	(4L * (DIV_ROUND_UP(RPCSVC_MAXPAYLOAD, PAGE_SIZE) + 4))

/* Pages that its RDMA Reads fill */
static inline unsigned int svc2_msg_pages(const struct svc2_msg *call)
{
	return DIV_ROUND_UP(call->sm_length, PAGE_SIZE);
}

/* True if its RDMA Reads are done, or if it has none */
static inline bool svc2_msg_is_read(const struct svc2_msg *call)
{
	return !call->sm_msg.mg_hdr.h_nreads ||
	       (call->sm_pages && rpcrdma2_rw_is_empty(&call->sm_rw));
}

/* A transport that accepts connections */
struct svc2_listener {
	struct svc_xprt		ls_xprt;
	struct sockaddr_storage	ls_addr;	/* on which it listens */
	/* guards the next three; never taken in a CM handler */
	struct mutex		ls_mutex;
	struct rdma_cm_id	*ls_id;		/* the rdma_cm's, or NULL */
	unsigned long		ls_delay;	/* of the next attempt */
	bool			ls_detached;	/* no further attempts */
	struct delayed_work	ls_work;	/* replaces a lost listener */
	struct list_head	ls_pending;	/* connections not yet accepted */
	unsigned int		ls_npending;
};

/* Bits of sp_flags */
enum {
	SVC2_F_THROTTLED,	/* ->xpo_has_wspace has returned 0 */
	SVC2_F_BACKWARD,	/* a backchannel exists, or is being created */
	SVC2_F_MORE_CREDITS,		/* more credits would be used */
	SVC2_F_RESIZING,	/* Receives get larger, not announced yet */
	SVC2_F_CHANGED,		/* see svc2_sizes_changed() */
	SVC2_F_PINNED,		/* svc2_conn_pin() has taken a reference */
	SVC2_F_ESTABLISHED,	/* set with the end of the pin, on iWARP */
};

/* A connection */
struct svc2_xprt {
	struct svc_xprt		sp_xprt;
	unsigned long		sp_flags;	/* SVC2_F bits */
	struct list_head	sp_listed;	/* on svc2_conns */

	struct svc2_listener	*sp_listener;	/* valid on ls_pending */
	struct list_head	sp_pending;	/* on ls_pending */
	/* ends it if never accepted; or puts the last callback's reference */
	struct work_struct	sp_reap;
	struct delayed_work	sp_deadline;	/* of the handshake */
	struct work_struct	sp_unpin;	/* ends svc2_conn_pin() */
	struct work_struct	sp_failed;	/* its queue pair has failed */
	const char		*sp_refusal;	/* why it is not accepted, or NULL */

	struct rpcrdma2_conn	sp_conn;	/* its verbs objects (R7) */
	struct rpcrdma2_cm_limits sp_peer;	/* for version 1 only (S28) */
	/*
	 * Properties of both ends, for version 2 only. This and the next belong
	 * to the thread that has XPT_BUSY. Callbacks read limits without it
	 */
	struct rpcrdma2_exchange sp_ex;
	bool			sp_props_busy;	/* a message is due, or waits */
	/* advertised, in bytes; Receives may be larger */
	u32			sp_recv_size;
	u32			sp_recv_requested; /* by the peer, or 0 */
	/*
	 * concurrent RDMA Reads that the peer and the device allow; and those
	 * that the peer requests
	 */
	u8			sp_ord;
	u8			sp_ird;
	/* limit of the grant; the queues have room for it */
	u32			sp_credits;
	/*
	 * Credits granted in every header the server sends; 0 before there are
	 * Receives. Written under sp_grant_mutex; read at any time, where an
	 * old value does no harm: svc2_send_begin() sets the credits of a Send
	 * again
	 */
	u32			sp_grant;
	/* rp_posts when the grant was last found used: svc2_grant_is_used() */
	unsigned int		sp_grant_used;
	/* guards changes of sp_grant, sp_backward_limit, the number of Receives */
	struct mutex		sp_grant_mutex;
	/* limit on outstanding callbacks, whose answers have Receives */
	u32			sp_backward_limit;
	u32			sp_send_able;	/* largest Send, gathered */
	u32			sp_send_own;	/* largest Send of this end */
	/*
	 * Largest Send that also fits the peer's Receives, by version. The size
	 * for version 2 may change between two messages
	 */
	u32			sp_send_max[RPCRDMA2_VERS_TWO + 1];
	bool			sp_can_invalidate; /* by a Send (C-007) */
	/* of the peer's last Call; callbacks use it (S25) */
	u32			sp_last_vers;

	/* Callbacks. The next three: under transport_lock of xpt_bc_xprt */
	u32			sp_backward_grant; /* by the peer, 0 at first */
	u32			sp_nposted;	/* not answered by the peer */
	u32			sp_naborted;	/* of these, aborted */
	u32			sp_backward_max; /* of sp_backward_limit */
	/* an aborted one was not answered in time, and none since */
	bool			sp_silent;
	/* consecutive ones that failed; under queue_lock of xpt_bc_xprt */
	u32			sp_backward_errors;
	unsigned long		sp_backward_failed; /* the last, in jiffies */

	wait_queue_head_t	sp_waitq;	/* threads in semaphores */
	struct svc2_sem	sp_sq_sem;		/* entries but the reserved */
	unsigned int		sp_sq_depth;	/* all entries */
	/*
	 * Entries of the longest chain. The others are for callbacks, and for a
	 * tail of Sends that no completion covers: nothing can block the chain
	 */
	unsigned int		sp_sq_longest;
	unsigned int		sp_sq_spare;	/* of these, for single Sends */
	bool			sp_sq_spare_all; /* enough for all of them */

	/* Each Reply writes to this cache line, and not to the next. */
	struct svc2_sem	sp_tx_sem ____cacheline_aligned_in_smp;
	struct llist_head	sp_txs;		/* contexts not in use */
	/* for removal from it; to add to it takes no lock */
	spinlock_t		sp_tx_lock;
	unsigned int		sp_tx_scarce;	/* Sends yet to signal; may race */
	unsigned int		sp_tx_sges;	/* gather entries of each */
	atomic_t		sp_tx_count;	/* contexts that exist */
	atomic_t		sp_tx_parts;	/* of buffers, but the first */
	/* callbacks that can get a context, independent of Replies (B-17) */
	atomic_t		sp_backward_free;
	/* pages of Replies without chunks, see svc2_spares_learn(); any thread */
	unsigned int		sp_spares;

	struct svc2_sem	sp_mr_sem;		/* regions, taken for RDMA Reads */

	struct svc2_quota	sp_quota;

	/*
	 * Messages: as they arrive, the last one first, then in their order for
	 * the thread that has XPT_BUSY
	 */
	struct llist_head	sp_arrived ____cacheline_aligned_in_smp;
	bool			sp_event;	/* of the receive CQ: poll it */
	/* from the beginning of a poll until one finds the CQ empty */
	bool			sp_polled;
	/* all messages that are still in the CQ came later, in jiffies */
	unsigned long		sp_event_at;
	/* if the CQ is never empty: its next value, and messages until then */
	unsigned long		sp_mark_at;
	unsigned int		sp_mark_left;
	struct list_head	sp_recv_q;
	unsigned int		sp_received;	/* messages; by receive CQ */
	/*
	 * Guards the next four. Calls with RDMA Reads, and those that have
	 * waited, write to their cache line; all others only read it
	 */
	spinlock_t		sp_recv_lock ____cacheline_aligned_in_smp;
	/*
	 * Calls that have waited, and whose RDMA Reads can begin or go on;
	 * then Calls whose RDMA Reads are done, or that have waited and have
	 * none, and errors that may answer a callback. Without the lock only
	 * emptiness can be tested
	 */
	struct list_head	sp_start_q;
	struct list_head	sp_ready_q;
	/* Calls that wait until a shortage has passed, as a thread does */
	struct list_head	sp_short_q;
	bool			sp_shortage;
	struct rpcrdma2_rpool	sp_rpool ____cacheline_aligned_in_smp; /* Receives */

	/* Totals for the view: chunks that were used, and others */
	atomic_long_t		sp_read_chunks;
	atomic_long_t		sp_write_chunks;
	atomic_long_t		sp_reply_chunks;
	struct rpcrdma2_backward sp_called;	/* callbacks */
	struct rpcrdma2_errors	sp_errors;	/* sent to the client */
};

/*
 * Limit on the wait for the fence of an aborted callback, behind a wait for
 * Send Queue entries (SVC2_STALL_TIMEOUT). If an answer began the fence before
 * the abort, svc2_bc_watch() ends the wait after one to two times as long.
 */
#define SVC2_REVOKE_TIMEOUT	(5 * HZ)

/* A callback, with the buffers of Call and Reply */
struct svc2_callback {
	struct svc2_xprt	*sc_sp;		/* with a reference */
	struct rpc_rqst		*sc_rqst;
	/*
	 * Version it was sent in; 0 while no answer can match. Set when it is
	 * posted, under sq_lock, and cleared before, under queue_lock
	 */
	u32			sc_vers;
	/* bad answer, or too long; written under queue_lock */
	bool			sc_failed;
	bool			sc_too_long;
	/* bytes that it offers, 0 without */
	u32			sc_write_max;	/* of its Write chunk */
	u32			sc_reply_max;	/* of its Reply chunk */
	struct rpcrdma2_exposed	sc_exposed;	/* its memory regions (R8) */
	/*
	 * The answer came after the RPC task had aborted it, and invalidated a
	 * handle, or 0; under transport_lock
	 */
	bool			sc_late;
	u32			sc_late_handle;
	/* answer in process, the RPC is pinned; set under queue_lock */
	struct svc2_msg		*sc_answer;
	enum svc2_answer	sc_verdict;	/* on sc_answer */
	struct list_head	sc_answered;	/* with sc_answer, on bc_answered */
	/* svc2_bc_watch() has found its task waiting for the end of the pin */
	bool			sc_awaited;
	/* rq_buffer, and rq_rbuffer behind it */
	u8			sc_data[] __aligned(8);
};

static inline struct svc2_callback *
svc2_callback_of(const struct rpc_rqst *rqst)
{
	return container_of(rqst->rq_buffer, struct svc2_callback, sc_data);
}

static inline struct svc2_xprt *svc2_from_xprt(struct svc_xprt *xprt)
{
	return container_of(xprt, struct svc2_xprt, sp_xprt);
}

static inline struct svc2_xprt *svc2_from_conn(struct rpcrdma2_conn *co)
{
	return container_of(co, struct svc2_xprt, sp_conn);
}

static inline const struct sockaddr_storage *svc2_peer(const struct svc2_xprt *sp)
{
	return &sp->sp_conn.co_id->route.addr.dst_addr;
}

/* Loses a connection, unless it is lost. Any context but hard interrupts */
static inline void svc2_lose(struct svc2_xprt *sp, enum rpcrdma2_loss why)
{
	rpcrdma2_conn_lose(&sp->sp_conn, why);
}

/*
 * Gives back @held entries of the Send Queue that are not needed: those of a
 * Reply before the thread waits for an entry for the error in its place. Svc
 * thread, send CQ, ->xpo_free
 */
static inline void svc2_sq_release(struct svc2_xprt *sp, unsigned int *held)
{
	if (*held)
		rpcrdma2_sq_give(&sp->sp_conn, *held);
	*held = 0;
}

/* Input for the core, which assembles a Call with Read chunks */
static inline struct rpcrdma2_arg svc2_msg_to_arg(const struct svc2_msg *call)
{
	return (struct rpcrdma2_arg){
		.ar_hdr		= &call->sm_msg.mg_hdr,
		.ar_recv	= call->sm_recv,
		.ar_inline	= call->sm_inline,
		.ar_apart	= call->sm_apart,
		.ar_pages	= call->sm_pages,
	};
}

/*
 * Frees the mapping and the copy behind rq_arg, before the pages of the Call.
 * May sleep; any context if there is neither.
 */
static inline void svc2_arg_free(struct svc2_msg *call)
{
#ifdef RPCRDMA2_STRETCHES
	if (call->sm_map)
		vm_unmap_ram(call->sm_map, svc2_msg_pages(call));
	kfree(call->sm_copy);
#endif
}

/* module.c */
extern struct workqueue_struct *svc2_wq;
extern struct workqueue_struct *svc2_unpin_wq;
extern struct kmem_cache *svc2_msg_cache;
extern struct rpcrdma2_param svc2_credits;
extern struct rpcrdma2_param svc2_backward_credits;
extern struct rpcrdma2_param svc2_receive_size;
extern struct rpcrdma2_param svc2_receive_memory;
extern struct rpcrdma2_param svc2_transfer_memory;
extern struct rpcrdma2_param svc2_address_connections;
extern struct rpcrdma2_param svc2_connections;
extern struct rpcrdma2_param svc2_send_size;
extern struct rpcrdma2_param svc2_versions;
extern struct rpcrdma2_param svc2_backward;

/* transport.c */
/* the last ones, as a ring; under svc2_conns_mutex */
extern struct svc2_ended svc2_ended[SVC2_ENDED];
extern struct svc_xprt_class svc2_class;
extern struct svc_xprt_class svc2_rdma_class;

/* recvfrom.c */
extern const struct rpcrdma2_props_ops svc2_props_ops;
int svc2_recvfrom(struct svc_rqst *rqstp);
void svc2_release_ctxt(struct svc_xprt *xprt, void *ctxt);

/* message.c */
void svc2_arrived(struct rpcrdma2_conn *co);
void svc2_received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
		   const struct ib_wc *wc);
void svc2_recv_poll(struct svc2_xprt *sp);
void svc2_recv_sort(struct svc2_xprt *sp);
void svc2_recv_put(struct svc2_xprt *sp, struct rpcrdma2_recv *rv);
int svc2_sinks_take(struct svc_rqst *rqstp, struct svc2_msg *call);
void svc2_sinks_put(struct svc2_msg *call, bool keep);
int svc2_sinks_init(void);
void svc2_sinks_exit(void);
void svc2_reads_free(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_msg_put(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_msg_put_recv(struct svc2_xprt *sp, struct svc2_msg *call);
int svc2_discard_reply(struct svc2_xprt *sp, struct svc2_msg *call);
int svc2_deliver(struct svc_rqst *rqstp, struct svc2_msg *call);
void svc2_reply_detach_pages(struct svc_rqst *rqstp, struct svc2_msg *call,
			     bool head, bool pages);
void svc2_breaker_begin(struct svc2_xprt *sp);
void svc2_breaker_note(struct svc2_xprt *sp, u32 xid);
bool svc2_take_breaker(struct svc2_xprt *sp, u32 xid);

/* sendto.c */
extern struct delayed_work svc2_trim_work;
int svc2_txs_create(struct svc2_xprt *sp);
void svc2_txs_destroy(struct svc2_xprt *sp);
struct svc2_tx *svc2_tx_get(struct svc2_xprt *sp);
struct svc2_tx *svc2_tx_try_get(struct svc2_xprt *sp, struct svc2_callback *sc);
void svc2_tx_put(struct svc2_xprt *sp, struct svc2_tx *tx);
void svc2_tx_header(struct svc2_tx *tx, const struct rpcrdma2_hdr *h);
int svc2_tx_post(struct svc2_xprt *sp, struct svc2_tx *tx, u32 inv_handle,
		 unsigned int *held);
int svc2_refuse(struct svc2_xprt *sp, struct svc2_msg *call,
		enum rpcrdma2_errcode code, u32 arg, u32 arg2);
int svc2_error_instead(struct svc2_xprt *sp, struct svc2_tx *tx,
		       struct rpcrdma2_hdr *h,
		       struct rpcrdma2_reply_plan *plan, int ret);
int svc2_sendto(struct svc_rqst *rqstp);
int svc2_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			unsigned int length);

/* limits.c */
/* guards the next: connections may be lost, but are not freed under it */
extern struct mutex svc2_conns_mutex;
extern struct list_head svc2_conns;	/* accepted connections */
extern unsigned int svc2_addresses_conns; /* connections of all addresses */
extern struct delayed_work svc2_pages_work;
void svc2_msg_ready(struct svc2_xprt *sp, struct svc2_msg *call);
bool svc2_shortage_begin(struct svc2_xprt *sp);
void svc2_shortage_queue(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_shortage_end(struct svc2_xprt *sp);
struct sockaddr_storage svc2_address_of(const struct svc2_xprt *sp);
unsigned long svc2_low_pages(void);
unsigned int svc2_memory_default(void);
unsigned int svc2_connections_default(void);
void svc2_pages_set(void);
int svc2_address_get(struct svc2_xprt *sp);
void svc2_address_put(struct svc2_xprt *sp);
int svc2_pages_reserve(struct svc2_xprt *sp, struct svc2_msg *call,
		       unsigned int pages);
unsigned int svc2_pages_take(struct svc2_xprt *sp, struct svc2_msg *call,
			     unsigned int pages);
void svc2_pages_give(struct svc2_xprt *sp, unsigned int pages);
void svc2_pages_track(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_pages_untrack(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_pages_deferred(struct svc2_xprt *sp);
void svc2_pages_flush(struct svc2_xprt *sp, struct list_head *calls);
int svc2_pages_show(struct seq_file *seq, void *unused);
void svc2_sem_init(struct svc2_sem *sem, struct rpcrdma2_units *units,
		   unsigned int counter);
void svc2_sem_open(struct svc2_sem *sem, unsigned int units);
bool svc2_sem_is_whole(const struct svc2_sem *sem);
int svc2_sem_take(struct svc2_xprt *sp, struct svc2_sem *sem,
		  unsigned int units, unsigned int spare);
void svc2_sem_flush(struct svc2_sem *sem, struct list_head *calls);
int svc2_sem_take_call(struct svc2_xprt *sp, struct svc2_sem *sem,
		       struct svc2_msg *call, unsigned int units,
		       unsigned int spare, unsigned int *held);
void svc2_sem_wake(struct svc2_xprt *sp, struct svc2_sem *sem);
void svc2_sem_give(struct svc2_xprt *sp, struct svc2_sem *sem,
		   unsigned int units);
bool svc2_shortage_retry(struct svc2_xprt *sp, unsigned int *tries, int *ret);
int svc2_has_wspace(struct svc_xprt *xprt);
unsigned int svc2_sq_backward_wrs(const struct svc2_xprt *sp);
int svc2_sq_take_invs(struct svc2_xprt *sp, unsigned int wrs);
int svc2_sq_reserve(struct svc2_xprt *sp, struct svc2_msg *call);
int svc2_sq_post(struct svc2_xprt *sp, struct rpcrdma2_post *post,
		 struct ib_send_wr *first, bool backward, unsigned int *held);
int svc2_sq_post_reads(struct svc2_xprt *sp, struct svc2_msg *call);

/* grant.c */
extern struct rpcrdma2_budget svc2_budget;
void svc2_budget_set(void);
void svc2_grant_begin(struct svc2_xprt *sp);
int svc2_grant_fill(struct svc2_xprt *sp, u32 limit);
void svc2_grant_raise(struct svc2_xprt *sp);
bool svc2_grant_is_used_up(void);
void svc2_grant_lower(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_grant_reposted(struct svc2_xprt *sp, unsigned int reposted);
void svc2_bound_sends(struct svc2_xprt *sp, u32 vers);
void svc2_sizes_update(struct svc2_xprt *sp);
void svc2_receives_resize(struct rpcrdma2_exchange *ex, u32 bytes);
void svc2_sizes_set(void);

/* backchannel.c */
extern struct xprt_class svc2_bc_class;
int svc2_take_answer(struct svc2_xprt *sp, struct svc2_msg *answer);
void svc2_check_handle(struct svc2_xprt *sp, const struct rpcrdma2_msg *msg);

/* svc2_shortage_retry() for any result of an attempt, mostly 0 */
static inline bool svc2_try_again(struct svc2_xprt *sp, unsigned int *tries,
				  int *ret)
{
	return unlikely(*ret) && svc2_shortage_retry(sp, tries, ret);
}

/*
 * Repeats an allocation while memory is short. Return: its pointer, or NULL
 * when the connection is lost. Svc thread; sleeps
 */
#define svc2_retry_alloc(_sp, _alloc)					\
({									\
	unsigned int _tries = 0;					\
	void *_new;							\
	int _ret;							\
									\
	do {								\
		_new = (_alloc);					\
		_ret = _new ? 0 : -ENOMEM;				\
	} while (svc2_try_again(_sp, &_tries, &_ret));			\
	_new;								\
})

#endif /* _SVCRDMA2_H */
