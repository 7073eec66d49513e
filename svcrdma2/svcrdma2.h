/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The responder: an svc_xprt that speaks RPC-over-RDMA.
 *
 * A Call's way through the files: receive.c, recvfrom.c, the RPC layer, sendto.c (its
 * Reply, or an RDMA2_ERROR), send.c. Under them lie message.c (the life of a message),
 * grant.c (the number of Receives), sizes.c (their size), sq.c (entries of the Send
 * Queue), gate.c (waiting for something scarce), transfer.c (pages of payload), conns.c
 * (connections, and Calls that cost them), enqueue.c (bringing an svc thread to a
 * connection) and the core's Send Queue, RDMA Reads and Writes. recvfrom.c hands property
 * messages to props.c, and Replies to Calls of the server to backchannel.c. Calls of the
 * server begin in backchannel.c and join the Replies in send.c.
 *
 * Contexts, by the name the comments use for them
 *
 *   svc thread	a thread of the RPC service, in an svc_xprt_ops of this module
 *   receive CQ, send CQ
 *		completion handlers in a workqueue; each CQ serialises its own
 *   CM handler	rdma_cm's events, under the cm_id's handler mutex
 *   QP handler	asynchronous events of a QP, in any context, perhaps atomic
 *   work	svc2_wq
 *   RPC task	a task with a Call of the server. Its send path must not wait for the
 *		connection; the end of one that is given up waits for its answer, and
 *		for its fence
 *
 * Ownership invariants
 *
 *   R1 A Receive belongs to the device from post to completion, then to
 *	sp_recv_q, then to the Call found in it, until svc2_recv_put().
 *   R2 A Call belongs to the svc thread that parsed it; to a gate, tr_line or
 *	sp_short_q while what its RDMA Reads need is not to be had, and then to
 *	sp_served_q; to the Send Queue while they are posted, and then to sp_ready_q.
 *	From tr_line and the gate of the Send Queue, where it waits for pages and
 *	entries of its Reply, a Call goes there too, when it has no RDMA Reads or they
 *	are done. At last, as rq_xprt_ctxt, it belongs to the RPC layer, which gives
 *	it back through ->xpo_release_ctxt.
 *   R3 What is posted belongs to the Send Queue until its po_done, which is
 *	called exactly once (Q1 in rpcrdma2/sq.h).
 *   R4 Pages of a reply stay with their svc_rqst, except those the device
 *	reads: these belong to the send context until its po_done.
 *   R5 What is taken from a gate is given back once: Send Queue entries when
 *	their chain is retired, a send context by svc2_tx_put(), memory
 *	regions when their RDMA Reads are done. So are pages of payload that
 *	are counted: with the message, or the send context's chain.
 *	sp_backward_free is for send contexts alone: there are Send Queue entries
 *	for as many. All of it is back when the connection is freed (asserted there).
 *   R6 Receives that are posted or held by a Call never number less than the
 *	grant plus what control messages need: a Call's Receive is put back
 *	before the Reply that returns its credit leaves, and rp_lock is held
 *	until a batch that has left rp_free is posted. Those for a larger
 *	grant join them before it is, and one that goes for good lowers the
 *	grant before the Reply leaves. The grant is written into each header
 *	at the post, under sq_lock, so that no larger one follows it. Those
 *	for the answers to Calls of the server join before the first of these
 *	is made.
 *   R7 The cm_id is destroyed last. Until then the device cannot go away.
 *   R8 No Call of the server ends while a memory region of it is live: sc_exposed
 *	is empty in svc2_call_end() (asserted there), and when svc2_bc_free() frees
 *	it. A Call is pinned while its answer is looked at, from svc2_bc_claim_call() to
 *	svc2_call_unpin().
 */
#ifndef _SVCRDMA2_H
#define _SVCRDMA2_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <rpcrdma2/cm.h>
#include <rpcrdma2/compat.h>
#include <rpcrdma2/conn.h>
#include <rpcrdma2/error.h>
#include <rpcrdma2/exchange.h>
#include <rpcrdma2/message.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/proto.h>
#include <rpcrdma2/recv.h>
#include <rpcrdma2/rw.h>
#include <rpcrdma2/sq.h>
#include <rpcrdma2/view.h>
#include <rpcrdma2/walk.h>

#include "counters.h"
#include "gate.h"
#include "send.h"
#include "transfer.h"
#include "versions.h"

struct svc2_call;
struct svc2_xprt;

/*
 * The class ident. It only names the backchannel's rpc_xprt class, so it may be one
 * that the NFS client does not know.
 */
#ifdef XPRT_TRANSPORT_RDMA2
#define SVC2_IDENT		XPRT_TRANSPORT_RDMA2
#else
#define SVC2_IDENT		259
#endif

enum {
	SVC2_CREDITS_MIN	= 4,
	/* what a connection begins with */
	SVC2_CREDITS_FIRST	= 8,
	SVC2_CREDITS_DEFAULT	= 64,
	SVC2_CREDITS_MAX	= 1024,

	/* Calls of the server that may be outstanding, if the peer grants as many */
	SVC2_BACKWARD_CREDITS	= 16,
	SVC2_BACKWARD_MAX	= 256,
	/* and so many before these are in use all at once */
	SVC2_BACKWARD_FIRST	= 4,
	/* memory regions that one takes as a rule: three pieces of each message */
	SVC2_CALL_REGIONS	= 6,
	/* regions at least that the Send Queue has entries for at once */
	SVC2_BACKWARD_REGIONS	= 16,

	/* one completion for so many Sends, where ownership allows */
	SVC2_SIGNAL_BATCH	= 16,

	/* widest work request that is asked for */
	SVC2_MAX_SGES		= 32,
	/* Calls with the largest payload that the Send Queue has room for */
	SVC2_LARGE_CALLS	= 16,
	/*
	 * RDMA Reads one header can ask for: a segment each, and one more for
	 * each place where a Position-Zero chunk is interrupted.
	 */
	SVC2_MAX_READS		= RPCRDMA2_MAX_SEGMENTS + RPCRDMA2_MAX_READ_CHUNKS,

	/* connections of an address, unless the module parameter says otherwise */
	SVC2_ADDRESS_CONNS	= 128,
	/* likewise of all: one for so many MiB of the memory, and at least so many */
	SVC2_CONN_MIB		= 8,
	SVC2_CONNS_MIN		= 64,

	/* requests to connect that wait for an svc thread */
	SVC2_BACKLOG		= 128,
};

/*
 * The longest that a thread waits in a gate, whatever moves meanwhile; then the
 * connection is given up. Few do (gate.c). While one waits a pool of threads that may
 * grow does not, and a service that stops waits for one thread after the other: so it is
 * short.
 *
 * A Reply takes a thread through two gates, and through a third where its Call was put
 * off. With what a shortage of memory may add in four places (SVC2_SHORTAGE_TRIES) nfsd
 * ends within 30 s.
 */
#define SVC2_STALL_TIMEOUT	(1UL * HZ)

/*
 * What is on the Send Queue, and is to be reported, has to be done so long after it has
 * become the oldest, and RPCRDMA2_SQ_PATIENCE times as long after it was posted. Until
 * then RDMA Reads keep the pages they fill, RDMA Writes and Sends
 * those they are taken from, and a peer can make its device hold them back
 * without end.
 */
#define SVC2_CHAIN_TIMEOUT	(20 * HZ)

/*
 * The handshake ends when the peer confirms it. Until that, or a message, has come, the
 * peer has shown no more than that it can send a datagram, and the connection manager
 * waits for as long as the request to connect has asked for.
 */
#define SVC2_ESTABLISH_TIMEOUT	(30 * HZ)

/*
 * What memory or mappings are too short for is tried again after a pause, this
 * often: for two to three seconds, depending on HZ.
 */
#define SVC2_SHORTAGE_PAUSE	(HZ / 50 + 1)
#define SVC2_SHORTAGE_TRIES	100

/* A send context that has not been used for so long, or twice that, is freed. */
#define SVC2_TRIM_TIME		(5 * HZ)

/* A listener that was lost is tried again after so long, then twice that ... */
#define SVC2_RELISTEN_MIN	(1 * HZ)
#define SVC2_RELISTEN_MAX	(30 * HZ)

/**
 * struct svc2_param - a module parameter
 * @pm_value: what it is set to, perhaps just now
 * @pm_min: least that it can be set to
 * @pm_max: most
 * @pm_changed: called after it was set, or NULL
 */
struct svc2_param {
	unsigned int	pm_value;
	unsigned int	pm_min;
	unsigned int	pm_max;
	void		(*pm_changed)(void);
};

/**
 * struct svc2_msg - a message that is being worked on; mostly a Call (R2)
 * @sm_list: on sp_served_q, sp_ready_q or sp_short_q
 * @sm_wait: where it waits for what its RDMA Reads need, or on tr_served
 * @sm_recv: the Receive it came in; NULL when that has been put back (R6)
 * @sm_post: its RDMA Reads
 * @sm_rw: what they are made of
 * @sm_chain: their work requests; NULL when they are not built, or done
 * @sm_mrs: memory regions taken for them
 * @sm_entries: Send Queue entries taken for them, and then for its Reply, which they
 *	are not posted in yet. While it is on tr_served svc2_transfer_defer() may take them
 * @sm_pages: where they go; its own until svc2_msg_put()
 * @sm_npages: how many, at least as many as are read into
 * @sm_charged: how many are counted, see svc2_transfer_enter(), with the next
 * @sm_reply_pages: how many its Reply may have; 0 once the Reply has them, and for one
 *	that can only be short
 * @sm_deferred: it was put off for an upcall, and has none that are counted. Under
 *	transfer_lock with the two before, while it is on tr_served
 * @sm_thread: the first thread at work on it; NULL before, and when none were counted
 * @sm_map: where they are mapped as one piece, or NULL (RPCRDMA2_STRETCHES). Made for
 *	rq_arg by the thread that builds it, undone by svc2_msg_put()
 * @sm_copy: an inline Call for RPCSEC_GSS that is longer than a page, or NULL;
 *	likewise
 * @sm_apart: octets in front of the only chunk that stay in @sm_recv; 0 when all
 *	of the Call is laid out in @sm_pages
 * @sm_inline: octets of the RPC message in @sm_recv
 * @sm_length: octets in @sm_pages, with padding
 * @sm_inv_handle: handle the Reply invalidates, or 0
 * @sm_nresults: entries of @sm_results
 * @sm_results: eligible results, as the upper layer encoded them
 * @sm_msg: what was received; its header becomes that of the answer
 */
struct svc2_msg {
	struct list_head	sm_list;
	struct svc2_waiter	sm_wait;
	struct rpcrdma2_recv	*sm_recv;

	struct rpcrdma2_post	sm_post;
	struct rpcrdma2_rw	sm_rw;
	struct ib_send_wr	*sm_chain;
	unsigned int		sm_mrs;
	unsigned int		sm_entries;
	struct page		**sm_pages;
	unsigned int		sm_npages;
	unsigned int		sm_charged;
	unsigned int		sm_reply_pages;
	bool			sm_deferred;
	const struct task_struct *sm_thread;
#ifdef RPCRDMA2_STRETCHES
	void			*sm_map;
	void			*sm_copy;
#endif
	u32			sm_apart;
	u32			sm_inline;
	u32			sm_length;

	u32			sm_inv_handle;
	unsigned int		sm_nresults;
	struct rpcrdma2_range	sm_results[RPCRDMA2_MAX_WRITE_CHUNKS];
	struct rpcrdma2_msg	sm_msg;
};

/* Pages that its RDMA Reads fill */
static inline unsigned int svc2_msg_pages(const struct svc2_msg *call)
{
	return DIV_ROUND_UP(call->sm_length, PAGE_SIZE);
}

/* Are its RDMA Reads done, or has it none? */
static inline bool svc2_msg_is_read(const struct svc2_msg *call)
{
	return !call->sm_msg.mg_hdr.h_nreads ||
	       (call->sm_pages && rpcrdma2_rw_is_empty(&call->sm_rw));
}

/**
 * struct svc2_listener - accepts connections
 * @ls_xprt: what the RPC layer sees
 * @ls_addr: where it listens
 * @ls_mutex: guards the next three; never taken in a CM handler
 * @ls_id: the rdma_cm's listener, NULL while there is none
 * @ls_delay: until the next attempt
 * @ls_detached: there is no next attempt
 * @ls_work: replaces a listener that was lost
 * @ls_pending: connections not yet accepted; each holds a reference on this one
 * @ls_npending: how many
 */
struct svc2_listener {
	struct svc_xprt		ls_xprt;
	struct sockaddr_storage	ls_addr;
	struct mutex		ls_mutex;	/* guards next three */
	struct rdma_cm_id	*ls_id;
	unsigned long		ls_delay;
	bool			ls_detached;
	struct delayed_work	ls_work;
	struct list_head	ls_pending;
	unsigned int		ls_npending;
};

/* Bits of sp_flags */
enum {
	SVC2_F_THROTTLED,	/* ->xpo_has_wspace has said no */
	SVC2_F_BACKWARD,	/* there is a backchannel, or about to be */
	SVC2_F_BUSY,		/* more credits would be of use */
	SVC2_F_RESIZING,	/* Receives get larger, and the peer is not told yet */
	SVC2_F_CHANGED,		/* see svc2_sizes_changed() */
};

/**
 * struct svc2_xprt - a connection
 * @sp_xprt: what the RPC layer sees
 * @sp_flags: SVC2_F bits
 * @sp_listed: on the list of all connections
 *
 * @sp_listener: listener; there while @sp_pending or @sp_reap holds a reference
 *	on it
 * @sp_pending: on ls_pending
 * @sp_reap: ends a connection that was never accepted
 *
 * @sp_deadline: ends a connection whose handshake does not end
 *
 * @sp_conn: its verbs objects (R7)
 * @sp_peer: private data of the peer; counts in version 1 only (S28)
 * @sp_ex: properties of both ends; of use for version 2 only. This and the next
 *	belong to the thread that has XPT_BUSY
 * @sp_talking: something is to be said to the peer, or waited for
 * @sp_notices: property messages of the server, without answers
 * @sp_notice_done: number of the last of these whose Send is done; written by the send
 *	CQ, as the next
 * @sp_notice_at: when it was done, in jiffies
 * @sp_recv_size: octets that each Receive holds, or more: what the peer is told
 * @sp_recv_wish: Receives of so many octets the peer asks for, or 0
 * @sp_ord: RDMA Reads that the peer allows this end at once
 * @sp_ird: RDMA Reads that the peer asks to be allowed
 * @sp_credits: most that can be granted: what the queues are large enough for
 * @sp_grant: what is granted, in every header the server sends; 0 before there
 *	are Receives. Changed under sp_grant_mutex, read at any time
 * @sp_grant_mutex: guards the next, and how many Receives there are
 * @sp_answers: Calls of the server that there are Receives for the answers to, and
 *	so how many may be outstanding
 * @sp_send_able: largest Send that can be gathered
 * @sp_send_own: largest Send this end makes
 * @sp_send_max: largest Send that is also small enough for the peer, by version.
 *	That of version 2 may change between two messages
 * @sp_can_invalidate: the device knows Send With Invalidate (C-007)
 * @sp_last_vers: version the peer last called in; that of Calls of the server (S25)
 * @sp_backward_errors: Calls of the server in a row that have failed, without one that
 *	has a Reply; under queue_lock of the rpc_xprt
 * @sp_backward_after: no Call of the server before, in jiffies
 * @sp_drain_mutex: one at a time drains the Send Queue
 * @sp_backward_max: Calls of the server that may be outstanding, if the peer grants as
 *	many
 * @sp_backward_grant: Calls the peer takes from the server, 0 until it says so;
 *	written under the transport_lock of xpt_bc_xprt
 * @sp_nposted: Calls of the server that the peer has and has not answered; likewise
 * @sp_ngone: how many of them were given up; likewise
 * @sp_silent: the peer has let one that was given up wait in vain for its answer, and
 *	has answered none since
 *
 * @sp_line: where the threads sleep that stand in line at the gates
 * @sp_sq: gate of the Send Queue entries that are not kept for Calls of the
 *	server
 * @sp_sq_depth: how many entries there are, kept ones included
 * @sp_sq_spare: of these, so many chains leave for Sends that stand alone
 * @sp_sq_spare_all: these are enough for all such Sends that there can be
 *
 * @sp_tx_gate: send contexts
 * @sp_tx_sges: gather entries of each
 * @sp_tx_count: how many have been made
 * @sp_tx_pages: pages of their buffers beyond the first of each
 * @sp_tx_lock: for taking from the next; adding to it needs no lock
 * @sp_txs: send contexts not in use
 *
 * @sp_backward_free: Calls of the server that there are send contexts for,
 *	whatever the other direction does (B-17)
 *
 * @sp_mrs: the memory regions that rdma_rw keeps for RDMA Reads
 *
 * @sp_transfer: pages of payload
 *
 * @sp_recv_lock: guards the next five, and XPT_DATA against the first three
 * @sp_recv_q: messages
 * @sp_served_q: Calls that a gate or transfer.c has served, whose RDMA Reads can begin
 *	or go on. Without the lock it can only be told whether there are any
 * @sp_ready_q: Calls whose RDMA Reads are done, or that have waited and have none;
 *	likewise. And errors that may answer a Call of the server
 * @sp_short_q: Calls that wait until a shortage has passed
 * @sp_shortage: a thread waits for that
 * @sp_received: messages, all in all; written by the receive CQ
 * @sp_rpool: Receives
 *
 * @sp_read_chunks: what the client has offered and was used, all in all; for the view
 * @sp_write_chunks: likewise
 * @sp_reply_chunks: likewise
 * @sp_called: likewise of Calls of the server
 * @sp_errors: RDMA2_ERROR messages sent to it
 */
struct svc2_xprt {
	struct svc_xprt		sp_xprt;
	unsigned long		sp_flags;
	struct list_head	sp_listed;

	struct svc2_listener	*sp_listener;
	struct list_head	sp_pending;
	struct work_struct	sp_reap;
	struct delayed_work	sp_deadline;

	struct rpcrdma2_conn	sp_conn;
	struct rpcrdma2_cm_limits sp_peer;
	struct rpcrdma2_exchange sp_ex;
	bool			sp_talking;
	u32			sp_notices;
	u32			sp_notice_done;
	unsigned long		sp_notice_at;
	u32			sp_recv_size;
	u32			sp_recv_wish;
	u8			sp_ord;
	u8			sp_ird;
	u32			sp_credits;
	u32			sp_grant;
	struct mutex		sp_grant_mutex;	/* guards the next */
	u32			sp_answers;
	u32			sp_send_able;
	u32			sp_send_own;
	u32			sp_send_max[RPCRDMA2_VERS_TWO + 1];
	bool			sp_can_invalidate;
	u32			sp_last_vers;
	u32			sp_backward_max;
	u32			sp_backward_grant;
	u32			sp_nposted;
	u32			sp_ngone;
	bool			sp_silent;
	u32			sp_backward_errors;
	unsigned long		sp_backward_after;
	struct mutex		sp_drain_mutex;	/* one drains */

	wait_queue_head_t	sp_line;
	struct svc2_gate	sp_sq;
	unsigned int		sp_sq_depth;
	unsigned int		sp_sq_spare;
	bool			sp_sq_spare_all;

	struct svc2_gate	sp_tx_gate ____cacheline_aligned_in_smp;
	unsigned int		sp_tx_sges;
	atomic_t		sp_tx_count;
	atomic_t		sp_tx_pages;
	spinlock_t		sp_tx_lock;	/* for taking from the next */
	struct llist_head	sp_txs;
	atomic_t		sp_backward_free;

	struct svc2_gate	sp_mrs;

	struct svc2_transfer	sp_transfer;

	/* guards next five */
	spinlock_t		sp_recv_lock ____cacheline_aligned_in_smp;
	struct list_head	sp_recv_q;
	struct list_head	sp_served_q;
	struct list_head	sp_ready_q;
	struct list_head	sp_short_q;
	bool			sp_shortage;
	unsigned int		sp_received;
	struct rpcrdma2_rpool	sp_rpool;

	atomic_long_t		sp_read_chunks;
	atomic_long_t		sp_write_chunks;
	atomic_long_t		sp_reply_chunks;
	struct rpcrdma2_backward sp_called;
	struct rpcrdma2_errors	sp_errors;
};

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

static inline void svc2_close(struct svc2_xprt *sp, enum rpcrdma2_loss why)
{
	rpcrdma2_conn_lose(&sp->sp_conn, why);
}

/* module.c */
extern struct workqueue_struct *svc2_wq;
extern struct kmem_cache *svc2_msg_cache;
extern struct svc2_param svc2_credits;
extern struct svc2_param svc2_backward_credits;
extern struct svc2_param svc2_receive_size;
extern struct svc2_param svc2_receive_memory;
extern struct svc2_param svc2_transfer_memory;
extern struct svc2_param svc2_address_connections;
extern struct svc2_param svc2_connections;
extern struct svc2_param svc2_send_size;
extern struct svc2_param svc2_min_version;
extern struct svc2_param svc2_max_version;
extern u32 svc2_backward;

static inline unsigned int svc2_param(const struct svc2_param *pm)
{
	return READ_ONCE(pm->pm_value);
}

/* listen.c */
extern struct svc_xprt_class svc2_class;
extern struct svc_xprt_class svc2_rdma_class;

/* conns.c */
void svc2_add_pending(struct svc2_listener *ls, struct svc2_xprt *sp);
struct svc2_xprt *svc2_next_pending(struct svc2_listener *ls);
bool svc2_reap(struct svc2_xprt *sp);
void svc2_lost_note(struct svc2_xprt *sp, u32 xid);
bool svc2_was_lost(struct svc2_xprt *sp, u32 xid);

/* transport.c */
struct svc2_xprt *svc2_conn_create(struct svc_xprt *listener,
				   struct rdma_cm_id *id,
				   const struct rdma_conn_param *param);
int svc2_conn_setup(struct svc2_xprt *sp);

/* receive.c */
void svc2_received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
		   const struct ib_wc *wc);
void svc2_recv_put(struct svc2_xprt *sp, struct rpcrdma2_recv *rv);

/* recvfrom.c */
int svc2_recvfrom(struct svc_rqst *rqstp);
int svc2_read_resume(struct svc_rqst *rqstp, struct svc2_msg *call);

/* message.c */
void svc2_reads_free(struct svc2_xprt *sp, struct svc2_msg *call);
struct svc2_msg *svc2_msg_get(struct svc2_xprt *sp, struct rpcrdma2_recv *rv);
void svc2_msg_put(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_msg_put_recv(struct svc2_xprt *sp, struct svc2_msg *call);
int svc2_discard(struct svc2_xprt *sp, struct svc2_msg *call,
		 enum svc2_counter counter);
int svc2_discard_reply(struct svc2_xprt *sp, struct svc2_msg *call);
int svc2_deliver(struct svc_rqst *rqstp, struct svc2_msg *call);
void svc2_messages_flush(struct svc2_xprt *sp);

/* sendto.c */
int svc2_refuse(struct svc2_xprt *sp, struct svc2_msg *call,
		enum rpcrdma2_errcode code);
int svc2_refuse_with(struct svc2_xprt *sp, struct svc2_msg *call,
		     enum rpcrdma2_errcode code, u32 arg, u32 arg2);
int svc2_error_instead(struct svc2_xprt *sp, struct svc2_tx *tx,
		       struct rpcrdma2_hdr *h,
		       struct rpcrdma2_reply_plan *plan, int ret);
int svc2_sendto(struct svc_rqst *rqstp);
int svc2_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			unsigned int length);

/* sq.c */
unsigned int svc2_backward_wrs(const struct svc2_xprt *sp);
int svc2_sq_take_invs(struct svc2_xprt *sp, unsigned int wrs);
int svc2_sq_reserve(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_sq_release(struct svc2_xprt *sp, unsigned int *held);
int svc2_sq_regain(struct svc2_xprt *sp, struct svc2_msg *call);
int svc2_sq_post(struct svc2_xprt *sp, struct rpcrdma2_post *post,
		 struct ib_send_wr *first, bool backward, unsigned int *held);
int svc2_sq_post_reads(struct svc2_xprt *sp, struct svc2_msg *call);

/* enqueue.c */
void svc2_msg_ready(struct svc2_xprt *sp, struct svc2_msg *call);
bool svc2_shortage_begin(struct svc2_xprt *sp);
void svc2_shortage_wait(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_shortage_end(struct svc2_xprt *sp);
void svc2_unthrottle(struct svc2_xprt *sp);

/* transfer.c */
struct sockaddr_storage svc2_address(const struct svc2_xprt *sp);

/* sinks.c */
int svc2_sinks_take(struct svc_rqst *rqstp, struct svc2_msg *call);
void svc2_sinks_put(struct svc2_msg *call);
int svc2_sinks_init(void);
void svc2_sinks_exit(void);

/* grant.c */
extern struct rpcrdma2_budget svc2_budget;
void svc2_budget_set(void);
void svc2_grant_begin(struct svc2_xprt *sp);
void svc2_grant_end(struct svc2_xprt *sp);
int svc2_grant_fill(struct svc2_xprt *sp, u32 answers);
void svc2_grant_used(struct svc2_xprt *sp, unsigned int reposted);
void svc2_grant_raise(struct svc2_xprt *sp);
bool svc2_grant_has_room(const struct svc2_xprt *sp, u32 size);
bool svc2_grant_is_used_up(void);
void svc2_grant_lower(struct svc2_xprt *sp, struct svc2_msg *call);

/* sizes.c */
void svc2_bound_sends(struct svc2_xprt *sp, u32 vers);
void svc2_sizes_update(struct svc2_xprt *sp);
void svc2_sizes_reposted(struct svc2_xprt *sp);
void svc2_receives_wanted(struct svc2_xprt *sp, u32 octets);
void svc2_sizes_set(void);

/* props.c */
int svc2_take_property(struct svc_rqst *rqstp, struct svc2_msg *call);
int svc2_take_granted(struct svc_rqst *rqstp, struct svc2_msg *call);
int svc2_take_error(struct svc_rqst *rqstp, struct svc2_msg *call);
void svc2_heard(struct svc2_xprt *sp, unsigned long at);
void svc2_converse(struct svc2_xprt *sp);

/* backchannel.c */
extern struct xprt_class svc2_bc_class;
void svc2_bc_detach(struct svc2_xprt *sp);
int svc2_take_answer(struct svc_rqst *rqstp, struct svc2_msg *call);
void svc2_check_handle(struct svc2_xprt *sp, const struct rpcrdma2_msg *msg);

/* debug.c */
void svc2_debugfs_init(void);
void svc2_debugfs_exit(void);
int svc2_view_init(void);
void svc2_view_exit(void);

#endif /* _SVCRDMA2_H */
