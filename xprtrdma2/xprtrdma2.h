/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Client transport (requester): an rpc_xprt for RPC-over-RDMA.
 *
 * Contexts, by the name the comments use for them
 *
 *   send path	->send_request, in rpciod or the caller's task, under the
 *		transport's XPRT_LOCKED bit
 *   receive CQ, send CQ
 *		completion handlers in a workqueue; each CQ serialises its own
 *   CM handler	rdma_cm's events, under the cm_id's handler mutex
 *   connect	the connect worker and ->close, both with XPRT_LOCKED
 *   release	->buf_free and ->free_slot, in any task, which holds no lock
 *
 * Ownership invariants
 *
 *   X1 A Receive buffer belongs to the device from post to completion, then
 *	to the receive CQ, then to the request that matched it until that
 *	request is released. It is in xp_rpool otherwise.
 *   X2 An RPC completes, or is sent again because of an error, only when none
 *	of its memory regions is live: rq2_exposed is empty (asserted in
 *	xprt2_reply_complete()); and when no Send has pages of it mapped.
 *	Pages that a Call was encrypted into are not freed before: the RPC
 *	layer frees them through xprt2_release_pages() (asserted in
 *	xprt2_prepare_request()).
 *   X3 A request returns to its pool, or is freed because the pool has enough,
 *	only when the RPC layer and the Send have both dropped their references
 *	(rq2_kref; asserted in xprt2_req_release()), and the RPC layer has waited
 *	for the LOCAL_INV of an aborted RPC (xprt2_revoke()).
 *   X4 CQs, the QP and the PD have the lifetime of their endpoint, and no
 *	memory region outlives it; requests and Receive buffers belong to the
 *	transport. They may outlive an endpoint, and are only mapped for its
 *	device.
 *   X5 After teardown of an endpoint no request and no Receive buffer has a
 *	DMA mapping or a memory region left (asserted when the pools are freed).
 *	One that is freed before has no mapping either.
 *   X6 A Reply matches a request only if it came on the endpoint that the
 *	request was last posted on: rq2_ep is set by xprt2_send_begin() and
 *	cleared before the RPC layer waits for a Reply again (checked in
 *	xprt2_req_claim()). When the RPC has ended by then, the Reply only
 *	shows that the server no longer uses its memory (xprt2_take_late_reply()).
 *   X7 A backward Reply goes out on the endpoint its Call came on, or not at
 *	all: rq2_ep is set by xprt2_bc_accept_call() and cleared by teardown,
 *	which excludes the send path (checked in xprt2_send_backward()), and
 *	wakes the Replies that wait to be sent (xprt2_reserve()). Until
 *	xprt2_bc_free_rqst() the request holds a reference of the transport,
 *	and its Receive as in X1.
 *   X8 Data of an RPCSEC_GSS Call that the device may read is encrypted if
 *	the Call requires it. Such a Call is encoded in rq2_plainbuf, at first
 *	in plain text; no work request and no region refers to that buffer. The
 *	send path copies it to the Send buffer (xprt2_marshal_call()).
 */
#ifndef _XPRTRDMA2_H
#define _XPRTRDMA2_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <rpcrdma2/compat.h>
#include <rpcrdma2/conn.h>
#include <rpcrdma2/param.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

#include "pure.h"

/*
 * The NFS client of an unmodified kernel supports one RDMA transport, so there
 * this class uses the ident of rpcrdma. A kernel with an ident for this class
 * has room for both.
 */
#ifdef XPRT_TRANSPORT_RDMA2
#define XPRT2_IDENT		XPRT_TRANSPORT_RDMA2
#else
#define XPRT2_IDENT		XPRT_TRANSPORT_RDMA
#define XPRT2_REPLACES_RPCRDMA	1
#endif

enum {
	XPRT2_MAX_PAYLOAD	= 1 << 20,
	/* one page more when the payload does not begin on a page boundary */
	XPRT2_MAX_PAGES		= (XPRT2_MAX_PAYLOAD >> PAGE_SHIFT) + 1,
	/* a chunk of a whole message: a payload on page boundaries, head, tail */
	XPRT2_REGION_PAGES	= (XPRT2_MAX_PAYLOAD >> PAGE_SHIFT) + 2,

	XPRT2_SLOTS_MIN		= 4,
	XPRT2_SLOTS_MAX		= 16384,
	/* a session of NFSv4 has as many, and svcrdma2 grants as many credits */
	XPRT2_SLOTS_DEFAULT	= 64,

	/* room in front of the RPC Call for the transport header */
	XPRT2_HEADROOM		= 512,
	XPRT2_SENDBUF_SIZE	= 4096,
	/* larger payloads are not copied: Documentation/performance.rst */
	XPRT2_PULLUP_MAX	= 8192,
	XPRT2_RECVBUF_SIZE	= 8192,

	/* of a message with a payload: the header fits the headroom */
	XPRT2_MAX_SEGS		= 16,
	/* header and head, pages of the largest Send at any offset, tail */
	XPRT2_MAX_SGE		= 3 + DIV_ROUND_UP(RPCRDMA2_INLINE_MAX, PAGE_SIZE),
	XPRT2_MIN_SGE		= 4,	/* 4096 bytes may lie in two pages */

	/*
	 * Entries of each queue for ib_drain_sq() or ib_drain_rq(): drains
	 * follow one another, so one is needed, and one is spare.
	 */
	XPRT2_DRAIN_WRS		= 2,
};

#define XPRT2_RESOLVE_TIMEOUT	(5 * MSEC_PER_SEC)
#define XPRT2_BIND_TIMEOUT	(60U * HZ)
#define XPRT2_IDLE_TIMEOUT	(5U * 60 * HZ)
/*
 * Limit on waits for the server: of an aborted RPC for its Reply and its Send,
 * of a backward Reply for earlier Sends (xprt2_bc_may_reply()) and for its own
 * chains (xprt2_req_await_posts())
 */
#define XPRT2_ANSWER_TIMEOUT	(5U * HZ)
#define XPRT2_FENCE_TIMEOUT	(5U * HZ)	/* then for its fence */
/*
 * Deadline of fences, of Sends of mapped pages, and of chains for backward Calls
 * with chunks
 */
#define XPRT2_CHAIN_TIMEOUT	(20U * HZ)

/* Counters summed over all transports, in debugfs as xprtrdma2/counters */

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
	C(mrs_trimmed)		/* of these, freed because they were idle */ \
	C(doorbells)		/* chains handed to the Send Queue */	\
	C(recv_doorbells)	/* chains handed to the Receive Queue */ \
	C(recvs_trimmed)	/* Receives freed: the grant needs fewer */ \
	C(send_completions)						\
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
	C(aborted_rpcs)		/* RPCs that ended without a Reply */	\
	C(aborted_waits)	/* of these, with memory the server may use */ \
	C(aborted_answered)	/* of these, the Reply came late */	\
	C(aborted_fences)	/* of these, with regions to invalidate */ \
	C(aborted_unanswered)	/* fenced while the server was silent */ \
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
	RPCRDMA2_PROPS_COUNTERS(C)					\
	C(properties_refused)	/* messages answered with an error */

#define XPRT2_C(name)		XPRT2_C_##name,
#define XPRT2_C_ENDED(name, ...)	XPRT2_C_ended_##name,

RPCRDMA2_COUNTERS(xprt2, XPRT2)

#define xprt2_count_add(name, n) \
	this_cpu_add(xprt2_counters[XPRT2_C_##name], (u64)(n))
#define xprt2_count(name)	xprt2_count_add(name, 1)

/*
 * For mountstats. The context named increments them without a lock. The last two
 * groups have several contexts, which may lose an increment to each other:
 * xprt2_stat_add(). The send path's are one cache line, and only an RPC with
 * chunks or a copied payload writes to it.
 */
struct xprt2_stats {
	/* send path */
	unsigned long		st_read_chunks ____cacheline_aligned_in_smp;
	unsigned long		st_write_chunks;
	unsigned long		st_reply_chunks;
	unsigned long long	st_request_bytes;
	unsigned long long	st_pullup_bytes;
	unsigned long		st_failed_marshal;
	unsigned long		st_nomsg_calls;
	unsigned long		st_no_sq;	/* as sq_waits, of this mount */
	/* receive CQ */
	struct rpcrdma2_errors	st_errors ____cacheline_aligned_in_smp;
	/* both CQs; st_local_inv: receive CQ and release path */
	unsigned long long	st_reply_bytes;
	unsigned long		st_bad_replies;
	unsigned long		st_local_inv;
	/* tasks of RPCs; st_mrs_allocated: connect, and the core's workqueue */
	unsigned long		st_hardway;
	unsigned long		st_mrs_allocated;
};

/* data_race(): a lost increment does no harm */
#define xprt2_stat_add(xp, name, n)	data_race((xp)->xp_stats.st_##name += (n))

/* Requests of one direction; see req.c */
struct xprt2_pool {
	/* the last one returned first; xp_req_lock guards removals only */
	struct llist_head	pl_free;
	unsigned int		pl_count;	/* all, free or in use */
	unsigned int		pl_max;
	/* more are freed when they return, but not the only free one */
	unsigned int		pl_keep;
};

/**
 * xprt2_pool_pop - take a free request
 * @pl: pool, locked
 * @last: may take the last free request. The backward pool keeps that for an
 *	error or another mandatory answer, which then needs no allocation
 *
 * Return: its list node, or NULL.
 */
static inline struct llist_node *xprt2_pool_pop(struct xprt2_pool *pl, bool last)
{
	struct llist_node *first = READ_ONCE(pl->pl_free.first);

	if (!first || (!last && !first->next))
		return NULL;
	return llist_del_first(&pl->pl_free);
}

/* Number of free requests of a locked pool, or of one without users */
static inline unsigned int xprt2_pool_count_free(const struct xprt2_pool *pl)
{
	const struct llist_node *node;
	unsigned int count = 0;

	llist_for_each(node, READ_ONCE(pl->pl_free.first))
		count++;
	return count;
}

/* Whether all requests have been returned; there may never have been any */
static inline bool xprt2_pool_is_whole(const struct xprt2_pool *pl)
{
	return xprt2_pool_count_free(pl) == pl->pl_count;
}

/*
 * Move backward Replies out of the locked xmit_queue, in order (B-04). Their
 * rq_cong is set by xprt2_prepare_request(), so the RPC layer queues them
 * before the first message without. The walk ends there: it looks at one Call
 * that waits for a credit, regardless of the number of such Calls. Return the
 * number of messages looked at.
 */
static inline unsigned int xprt2_move_replies(struct list_head *queue,
					      struct list_head *replies)
{
	struct rpc_rqst *rqst, *next;
	unsigned int count = 0;

	list_for_each_entry_safe(rqst, next, queue, rq_xmit) {
		count++;
		if (likely(!rqst->rq_cong))
			break;
		if (bc_prealloc(rqst))
			list_move_tail(&rqst->rq_xmit, replies);
	}
	return count;
}

/* A Send of a request, and the registrations in front of it */
struct xprt2_send {
	struct rpcrdma2_post	se_post;
	struct xprt2_req	*se_req;
};

/**
 * struct xprt2_req - an RPC on this transport
 * @rq2_slot: the RPC layer's part
 * @rq2_kref: X3; references of the RPC layer, and of each posted Send. From here
 *	to em_regions of @rq2_exposed stands what the receive CQ needs, in as few cache lines as
 *	possible
 * @rq2_holds: what a Reply waits for: its fence, and a Send with mapped pages
 * @rq2_rep: Receive buffer that rq_rcv_buf points into: the Reply to its
 *	Call, or the Call that this request is to reply to
 * @rq2_ep: endpoint it was last posted on (X6), or its Call came on (X7)
 * @rq2_status: error that ends the RPC, -EAGAIN to send it again, or 0. Set
 *	under the transport's queue_lock. xprt2_begin_again(), which has the RPC
 *	to itself, resets -EAGAIN
 * @rq2_write_max: bytes that the Write chunk of its Call offers, 0 without one
 * @rq2_reply_max: bytes that the Reply chunk of its Call offers, 0 without one
 * @rq2_exposed: registered memory regions, and their fence. Send path, then the
 *	CQ that fences them, then the release path, under xp_fence_mutex
 * @rq2_home: pool it comes from
 * @rq2_pool: on pl_free of @rq2_home
 * @rq2_all: on xp_all_reqs
 * @rq2_late: the Reply came after the RPC had ended without it. Set under
 *	xp_req_lock; cleared by the send path without it, which at worst
 *	makes an aborted RPC not wait for its Reply
 * @rq2_late_handle: with @rq2_late: handle that this Reply invalidated, or 0
 * @rq2_refused: ep_serial of the connection whose error, or useless Reply,
 *	caused the resend, or 0. Set while a Reply owns the request, or by the
 *	send path, which reads it
 * @rq2_versions: versions in which the server refused it, a bit each, on any
 *	connection, until the RPC ends. Set under the transport's queue_lock
 * @rq2_resent: it is sent again on the connection that refused it (S45). Send
 *	path, and completion of the Send
 * @rq2_sendbuf: XPRT2_HEADROOM bytes, then the RPC message
 * @rq2_sendsize: size of @rq2_sendbuf
 * @rq2_pullup_size: buffer size that pull-up of the last Call needs
 * @rq2_small: its payload may be pulled up, as planned for the Send
 * @rq2_plainbuf: for a Call that RPCSEC_GSS encrypts or signs (X8)
 * @rq2_plainsize: its size, 0 before the first such Call
 * @rq2_recvbuf: buffer for a Reply chunk, or a contiguous copy of a Call. NULL
 *	when it was passed on: xprt2_req_pass_recvbuf()
 * @rq2_recvsize: its size, or 0
 * @rq2_dma: DMA address of @rq2_sendbuf
 * @rq2_device: device it is mapped for, or NULL; changed under xp_req_lock
 * @rq2_sends: the Send, and a second Send for an RPC that is sent again: the
 *	first may not be retired by then, if it was unsignaled
 * @rq2_wr: work request of the Send
 * @rq2_reply_needed: bytes it must offer, as reported by the server; or 0
 * @rq2_release_pages: function that xprt2_release_pages() replaces
 * @rq2_chunked: state of a backward Call with chunks, or NULL
 * @rq2_posts: chains of this request that are posted, or about to be, with
 *	po_timed: the device may use pages of its Call or Reply. The task of a
 *	backward request waits until there are none. Other Sends hold rq2_kref
 *	alone
 * @rq2_backward_of: ep_serial of the connection whose xp_backward_out counts
 *	it, or 0
 * @rq2_inv_handle: handle that the Send of a backward Reply invalidates, or 0
 * @rq2_unsent: counted in xp_unsent
 * @rq2_waits: since when it waits to be counted, in jiffies, or 0
 * @rq2_num_mapped: entries of @rq2_sge, from the second, that are mapped pages
 * @rq2_sge: gather list of the Send; the first entry lies in @rq2_sendbuf
 */
struct xprt2_req {
	struct rpc_rqst		rq2_slot;
	struct kref		rq2_kref;
	atomic_t		rq2_holds;
	struct xprt2_rep	*rq2_rep;
	struct xprt2_ep		*rq2_ep;
	int			rq2_status;
	u32			rq2_write_max;
	u32			rq2_reply_max;
	struct rpcrdma2_exposed	rq2_exposed;
	struct xprt2_pool	*rq2_home;
	struct llist_node	rq2_pool;
	struct list_head	rq2_all;
	bool			rq2_late;
	u32			rq2_late_handle;
	u32			rq2_refused;
	u32			rq2_versions;
	bool			rq2_resent;

	void			*rq2_sendbuf;
	size_t			rq2_sendsize;
	size_t			rq2_pullup_size;
	bool			rq2_small;
	void			*rq2_plainbuf;
	size_t			rq2_plainsize;
	void			*rq2_recvbuf;
	size_t			rq2_recvsize;
	u64			rq2_dma;
	struct ib_device	*rq2_device;

	struct xprt2_send	rq2_sends[2];
	struct ib_send_wr	rq2_wr;
	u32			rq2_reply_needed;
	void			(*rq2_release_pages)(struct rpc_rqst *rqst);
	struct xprt2_chunked	*rq2_chunked;
	atomic_t		rq2_posts;
	u32			rq2_backward_of;
	u32			rq2_inv_handle;
	bool			rq2_unsent;
	unsigned long		rq2_waits;
	unsigned int		rq2_num_mapped;
	struct ib_sge		rq2_sge[XPRT2_MAX_SGE];
};

static inline struct xprt2_req *xprt2_rqst_to_req(struct rpc_rqst *rqst)
{
	return container_of(rqst, struct xprt2_req, rq2_slot);
}

/*
 * RPCSEC_GSS processes the bytes of an RPC, so no data is placed directly
 * (E-26), and its Call is encoded in a separate buffer (X8).
 */
static inline bool xprt2_touches_data(const struct rpc_rqst *rqst)
{
	return rpcrdma2_touches_data(rqst->rq_cred->cr_auth);
}

/*
 * Server or device may use memory of the RPC: regions are live, or pages of an
 * incomplete Send are mapped. False only after the last page was unmapped.
 */
static inline bool xprt2_holds_memory(const struct xprt2_req *req)
{
	/* Pairs with xprt2_send_unmap_sges() */
	unsigned int mapped = smp_load_acquire(&req->rq2_num_mapped);

	return mapped || rpcrdma2_is_exposed(&req->rq2_exposed);
}

/* Hold a backward request for a chain to be posted: xprt2_req_end_post() */
static inline void xprt2_req_begin_post(struct xprt2_req *req)
{
	kref_get(&req->rq2_kref);
	atomic_inc(&req->rq2_posts);
}

/* The Send being prepared, or the last one that was posted */
static inline struct rpcrdma2_post *xprt2_req_post(struct xprt2_req *req)
{
	return &req->rq2_sends[req->rq2_resent].se_post;
}

/* A message of the server, and the Receive it is in */
struct xprt2_rep {
	/* error that ends the RPC, -EAGAIN to send it again, or 0 */
	int			rep_status;
	/* of a Reply, set by xprt2_reply_read() */
	u32			rep_proc;
	u32			rep_at;		/* offset in the first page */
	u32			rep_paylen;	/* bytes from there */
	u32			rep_written;	/* bytes in Write chunks */
	u32			rep_replylen;	/* bytes in the Reply chunk */
	/* last, because most of it is scatter entries */
	struct rpcrdma2_recv	rep_recv;
};

/*
 * The connect worker makes an endpoint READY. All other code can only move it
 * to LOST, from either state, with rpcrdma2_conn_lose().
 */
enum xprt2_ep_state {
	XPRT2_EP_CONNECTING,
	XPRT2_EP_READY,
	XPRT2_EP_LOST,
};

/**
 * struct xprt2_ep - a connection, and the objects with its lifetime (X4)
 * @ep_conn: its verbs objects
 * @ep_xp: transport it belongs to
 * @ep_state: enum xprt2_ep_state
 * @ep_done: ends a step of the connect worker. CM handler, or a loss
 * @ep_status: result of the step, from there
 * @ep_replied: it brought a good Reply. Receive CQ, and teardown
 * @ep_vers: RPC-over-RDMA version in use. Connect; may become 1 until a version
 *	is settled, while the receive CQ reads it
 * @ep_nego: negotiation. Connect at first, then receive CQ and @ep_trial
 * @ep_mismatch_logged: the lack of a common version has been logged
 * @ep_answer: the answer to the probe, once received
 * @ep_answered: completed then, and when the connection is lost
 * @ep_connprop_xid: xid of the probe. Connect sets it before ex_connprop_sent;
 *	the receive CQ reads it after that
 * @ep_trial: ends a trial that got no answer
 * @ep_peer: limits in the server's CM private data, for version 1
 * @ep_prop_mutex: guards @ep_ex, and the order of property messages (props.c)
 * @ep_ex: properties of both ends, for version 2
 * @ep_props_work: sends changes of the client's properties
 * @ep_props_busy: a property message is due or waits, or Receives are being
 *	enlarged, so the receive CQ takes @ep_prop_mutex. Written under it
 * @ep_props_credit: a property message takes a Call's credit. As the last
 * @ep_max_reqs: maximum number of RPCs outstanding
 * @ep_max_sge: gather entries of a Send
 * @ep_recv_size: bytes that each Receive holds at least, as announced
 * @ep_send_size: limit of Sends in bytes, whatever the server accepts
 * @ep_call_threshold: largest Send of this end (C-001). This and the next may
 *	change between any two messages (S15): written by connect, and under
 *	@ep_prop_mutex by the receive CQ and @ep_props_work; read anywhere
 * @ep_reply_threshold: largest Send the peer makes
 * @ep_serial: number of this connection of the transport, from 1
 * @ep_limits: limits the server has announced, or has enforced by an error.
 *	Written by the receive CQ; the send path may see old values
 * @ep_grant: RPCs the server allows; 0 before its first message. Written by the
 *	receive CQ, read anywhere
 * @ep_silent: no Reply to an aborted RPC within its timeout, and nothing was
 *	received since. Set by the release path, cleared by the receive CQ
 * @ep_why: reason for the version, in words, or NULL. Read anywhere
 * @ep_was_up: RPCs could be sent. Connect
 * @ep_short: a lack of regions was logged. Connect, then the core's workqueue
 * @ep_recvs_posted: Receives the device has, until the connection is lost.
 *	Receive CQ only, once connected
 * @ep_backward_grant: Calls that the server is granted. Connect, then receive
 *	CQ
 * @ep_backward_next: Calls that the client intends to grant, at most
 *	xp_backward_credits. Connect, then receive CQ
 * @ep_chunk_max: entries of the longest chain for a backward Call; 0 when these
 *	cannot have chunks
 * @ep_chunk_units: entries of the Send Queue for such chains
 * @ep_chunk_work: transfers the chunks (backchannel.c). Disabled at teardown
 * @ep_chunk_lock: guards the next
 * @ep_chunked: backward Calls and Replies that wait for @ep_chunk_work
 * @ep_msg: message being processed. Receive CQ only
 */
struct xprt2_ep {
	struct rpcrdma2_conn	ep_conn;
	struct xprt2_xprt	*ep_xp;
	atomic_t		ep_state;
	struct completion	ep_done;
	int			ep_status;
	bool			ep_replied;

	u32			ep_vers;
	struct xprt2_nego	ep_nego;
	bool			ep_mismatch_logged;
	enum xprt2_answer	ep_answer;
	struct completion	ep_answered;
	u32			ep_connprop_xid;
	struct delayed_work	ep_trial;
	struct rpcrdma2_cm_limits ep_peer;
	struct mutex		ep_prop_mutex;	/* guards ep_ex */
	struct rpcrdma2_exchange ep_ex;
	struct delayed_work	ep_props_work;
	bool			ep_props_busy;
	bool			ep_props_credit;
	unsigned int		ep_max_reqs;
	unsigned int		ep_max_sge;
	unsigned int		ep_recv_size;
	unsigned int		ep_send_size;
	unsigned int		ep_call_threshold;
	unsigned int		ep_reply_threshold;
	u32			ep_serial;
	struct rpcrdma2_call_limits ep_limits;
	u32			ep_grant;
	const char		*ep_why;
	bool			ep_was_up;
	bool			ep_short;

	unsigned int		ep_recvs_posted ____cacheline_aligned_in_smp;
	bool			ep_silent;
	u32			ep_backward_grant;
	u32			ep_backward_next;
	unsigned int		ep_chunk_max;
	struct rpcrdma2_units	ep_chunk_units;
	struct delayed_work	ep_chunk_work;
	spinlock_t		ep_chunk_lock;	/* guards the next */
	struct list_head	ep_chunked;
	struct rpcrdma2_msg	ep_msg;
};

static inline struct xprt2_ep *xprt2_conn_to_ep(struct rpcrdma2_conn *co)
{
	return container_of(co, struct xprt2_ep, ep_conn);
}

/**
 * struct xprt2_xprt - a transport: the client's end of one connection
 * @xp_xprt: the RPC layer's part
 * @xp_ep: the connection, or NULL; changed with XPRT_LOCKED and @xp_fence_mutex
 *	held
 * @xp_connect_work: connect worker
 * @xp_idle_work: closes an idle connection: xprt2_idle_worker()
 * @xp_idle_timeout: time without an RPC until then, in jiffies; 0 for ever
 * @xp_past: how the last connection went, if it is over. Connect
 * @xp_brief: losses in a row: see xprt2_judge_past(). Connect
 * @xp_timed_out: an RPC's timeout ends the connection. ->timer, and connect
 * @xp_serial: connections begun so far. Connect worker, under xp_req_lock
 * @xp_tried: when the last attempt to connect began, in jiffies. Connect
 * @xp_end: how the last connection ended. Written by teardown, read anywhere
 * @xp_error: error of the last attempt to connect, or 0; and
 * @xp_error_at: its time, in seconds since boot. Connect, read anywhere
 * @xp_logged: last error that was logged since the last connection. Connect
 * @xp_probes: connections spent on probing, until version 2 is settled, version
 *	1 is chosen, or XPRT2_MEMORY_TIME is over. Connect
 * @xp_probed: when the first of them was over, get_jiffies_64(). Connect
 * @xp_busy: RPCs wait since the last connection ended. Connect
 * @xp_plain: the next probe has no experimental properties
 * @xp_fallback: answer because of which the next connection uses version 1,
 *	or NULL
 * @xp_note_end: when these two expire, get_jiffies_64()
 * @xp_refused: versions in which RPCs were refused since the last good Reply,
 *	and in which the last refused RPC was refused before, a bit each
 * @xp_prop_vers: an ERR_VERS for a property message has caused a negotiation.
 *	Receive CQ
 * @xp_no_version: there is no common version: the next attempt to connect fails
 * @xp_timeout: replaces the default when the mount sets shorter timeouts
 * @xp_hdr: header being marshalled. Send path only
 * @xp_fence_mutex: keeps @xp_ep alive without XPRT_LOCKED, and excludes the
 *	release path, which fences or force-releases the regions of an aborted
 *	RPC, from teardown. Never held while waiting for the peer
 * @xp_backward_target: most Calls that the client grants the server, from the
 *	parameter
 * @xp_backward_credits: Calls that it can grant: fewer when the device of this
 *	connection, or the last, has too small queues (B-04). Written by connect
 *	before there are any Calls
 * @xp_unsent: backward requests whose Reply is not known to be sent
 * @xp_reply_waits: a backward Reply may be asleep: see xprt2_release()
 * @xp_backward_max: bytes of an inline backward RPC message, or 0 at first
 * @xp_serves: the callback service is up: xprt2_bc_num_slots(). Under
 *	bc_pa_lock
 * @xp_kept: credits kept for aborted RPCs that the server may still process.
 *	Under transport_lock
 * @xp_req_lock: guards @xp_backward_out, @xp_serial, @xp_all_reqs, rq2_device,
 *	rq2_late and the pools. llist_add() adds a free request without it.
 *	Taken in process context, CQ handlers included. Innermost lock
 * @xp_backward_out: Calls of the server on this connection without a posted
 *	answer
 * @xp_forward: requests for the client's Calls
 * @xp_backward: requests for the server's Calls and other messages
 * @xp_recvbuf: receive buffer of XPRT2_RECVBUF_SIZE that no request has, or
 *	NULL. Changed by xchg() alone
 * @xp_all_reqs: all requests of both pools
 * @xp_rpool: Receives, each with a struct xprt2_rep around it
 * @xp_stats: figures for mountstats
 * @xp_called: counters of backward Calls
 * @xp_listed: on the list of all transports, from the first connect on; added by
 *	xp_connect_work
 * @xp_put_work: drops the last reference of xprt2_next_transport()
 */
struct xprt2_xprt {
	struct rpc_xprt		xp_xprt;
	struct xprt2_ep		*xp_ep;
	struct delayed_work	xp_connect_work;
	struct delayed_work	xp_idle_work;
	unsigned long		xp_idle_timeout;
	enum xprt2_past		xp_past;
	unsigned int		xp_brief;
	unsigned int		xp_timed_out;
	u32			xp_serial;
	unsigned long		xp_tried;
	struct rpcrdma2_end	xp_end;
	int			xp_error;
	time64_t		xp_error_at;
	int			xp_logged;
	unsigned int		xp_probes;
	u64			xp_probed;
	bool			xp_busy;
	bool			xp_plain;
	const char		*xp_fallback;
	u64			xp_note_end;
	u32			xp_refused;
	bool			xp_prop_vers;
	unsigned int		xp_no_version;
	struct rpc_timeout	xp_timeout;
	struct rpcrdma2_hdr	xp_hdr;
	struct mutex		xp_fence_mutex;	/* guards xp_ep's end */
	u32			xp_backward_target;
	u32			xp_backward_credits;
	atomic_t		xp_unsent;
	bool			xp_reply_waits;
	unsigned int		xp_backward_max;
	bool			xp_serves;
	unsigned int		xp_kept;

	spinlock_t		xp_req_lock ____cacheline_aligned_in_smp;
	u32			xp_backward_out;
	struct xprt2_pool	xp_forward;
	struct xprt2_pool	xp_backward;
	void			*xp_recvbuf;
	struct list_head	xp_all_reqs;

	struct rpcrdma2_rpool	xp_rpool ____cacheline_aligned_in_smp;

	struct xprt2_stats	xp_stats;
	struct rpcrdma2_backward xp_called;
	struct list_head	xp_listed;
	struct work_struct	xp_put_work;
};

static inline struct xprt2_xprt *xprt2_from_xprt(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct xprt2_xprt, xp_xprt);
}

/* Whether swap files depend on the transport: its work may use memory reserves. */
static inline bool xprt2_swaps(const struct xprt2_xprt *xp)
{
	return atomic_read(&xp->xp_xprt.swapper);
}

/* Count a received RDMA2_ERROR. */
static inline void xprt2_count_error(struct xprt2_ep *ep,
				     const struct rpcrdma2_hdr *h)
{
	xprt2_count(errors_received);
	rpcrdma2_errors_count(&ep->ep_xp->xp_stats.st_errors,
			      h->h_error.er_code);
}

/* module.c */
extern struct workqueue_struct *xprt2_wq;
extern struct rpcrdma2_param xprt2_param_slots;
extern struct rpcrdma2_param xprt2_param_backward_credits;
extern struct rpcrdma2_param xprt2_param_receive_size;
extern struct rpcrdma2_param xprt2_param_send_size;
extern struct rpcrdma2_param xprt2_param_backward;
extern struct rpcrdma2_param xprt2_param_versions;
const char *xprt2_netid(bool v6);

/* transport.c */
extern struct xprt_class xprt2_class;
struct xprt2_xprt *xprt2_next_transport(struct xprt2_xprt *xp);
#define xprt2_for_each_transport(_xp)					\
	for ((_xp) = xprt2_next_transport(NULL); (_xp);			\
	     (_xp) = xprt2_next_transport(_xp))

/* connect.c */
int xprt2_ep_connect(struct xprt2_xprt *xp);
void xprt2_set_connect_timeout(struct rpc_xprt *xprt,
			       unsigned long connect_timeout,
			       unsigned long reconnect_timeout);
void xprt2_ep_disconnect(struct xprt2_xprt *xp);
void xprt2_keep_regions(struct xprt2_xprt *xp);

static inline bool xprt2_ep_is_ready(const struct xprt2_ep *ep)
{
	return atomic_read(&ep->ep_state) == XPRT2_EP_READY;
}

/* version.c */
void xprt2_begin_version(struct xprt2_ep *ep);
void xprt2_end_version(struct xprt2_ep *ep);
int xprt2_negotiate(struct xprt2_ep *ep);
enum xprt2_disposition
xprt2_negotiate_message(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg,
			enum xprt2_phase phase, bool to_property);
void xprt2_trial_timeout(struct work_struct *work);
void xprt2_trial_lost(struct xprt2_ep *ep);
void xprt2_version_works(struct xprt2_ep *ep);
void xprt2_forget_servers(void);

/* req.c */
extern struct kmem_cache *xprt2_rep_cache;
int xprt2_reqs_start(void);
void xprt2_reqs_stop(void);
struct xprt2_req *xprt2_req_get(struct xprt2_xprt *xp, struct xprt2_pool *pool,
				bool last, gfp_t gfp);
void xprt2_backward_uncount(struct xprt2_req *req);
void xprt2_req_put(struct xprt2_req *req);
void xprt2_req_end_post(struct xprt2_req *req);
void xprt2_req_await_posts(struct xprt2_req *req);
int xprt2_req_buffers(struct xprt2_req *req, gfp_t gfp);
void xprt2_req_pass_recvbuf(struct xprt2_req *req);
int xprt2_req_map(struct xprt2_ep *ep, struct xprt2_req *req);
struct xprt2_req *xprt2_backward_req(struct xprt2_xprt *xp, bool last, gfp_t gfp);
int xprt2_reqs_reserve(struct xprt2_xprt *xp, struct xprt2_pool *pool,
		       unsigned int needed, gfp_t gfp);
int xprt2_reqs_create(struct xprt2_xprt *xp);
void xprt2_reqs_detach(struct xprt2_xprt *xp);
void xprt2_reqs_destroy(struct xprt2_xprt *xp);
void xprt2_put_rep(struct xprt2_req *req);
struct rpc_rqst *xprt2_req_claim(struct xprt2_ep *ep, struct xprt2_rep *rep,
				 u32 xid);
bool xprt2_req_is_awaited(struct xprt2_ep *ep, u32 xid);
u32 xprt2_req_note_refusal(struct xprt2_ep *ep, u32 xid);
void xprt2_wait_for_reply(struct rpc_task *task);
bool xprt2_has_error(const struct xprt2_req *req);
void xprt2_release_reply(struct xprt2_req *req);
void xprt2_abandon_reply(struct xprt2_req *req);
bool xprt2_remote_invalidated(struct xprt2_ep *ep, struct xprt2_req *req,
			      u32 rkey);
int xprt2_fence_start(struct xprt2_ep *ep, struct xprt2_req *req);
void xprt2_lose_to_handle(struct xprt2_ep *ep);
void xprt2_check_handle(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg);
bool xprt2_take_late_reply(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg);
void xprt2_revoke(struct xprt2_req *req, bool wait);
bool xprt2_keep_credit(struct xprt2_req *req);
bool xprt2_bound_kept(struct rpc_xprt *xprt);
void xprt2_credit_answered(struct xprt2_xprt *xp);

/* send.c */
int xprt2_encode_header(struct xprt2_req *req, const struct rpcrdma2_hdr *h,
			size_t len);
int xprt2_marshal_call(struct xprt2_ep *ep, struct xprt2_req *req);
int xprt2_prepare_send(struct xprt2_ep *ep, struct xprt2_req *req, u32 hdrlen,
		       const struct rpcrdma2_call_plan *plan);
int xprt2_send_message(struct xprt2_ep *ep, struct xprt2_req *req);
int xprt2_post_backward(struct xprt2_ep *ep, struct xprt2_req *req,
			size_t hdrlen, u32 proc, bool apart);

/* recv.c */
void xprt2_received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
		    const struct ib_wc *wc);
u32 xprt2_post_receives(struct xprt2_ep *ep, u32 credits, gfp_t gfp);

/* props.c */
void xprt2_begin_properties(struct xprt2_ep *ep);
void xprt2_reply_refused(struct xprt2_ep *ep, u32 needed);
int xprt2_send_connprop(struct xprt2_ep *ep);
void xprt2_props_update(struct xprt2_ep *ep);
void xprt2_props_work(struct work_struct *work);
void xprt2_backward_measure(struct xprt2_ep *ep);
void xprt2_sizes_changed(struct xprt2_ep *ep, bool receive);
void xprt2_handle_property(struct xprt2_ep *ep, struct xprt2_rep *rep,
			   struct rpcrdma2_msg *msg);

/* backchannel.c */
bool xprt2_send_error(struct xprt2_ep *ep, struct rpcrdma2_hdr *h);
int xprt2_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs);
void xprt2_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs);
size_t xprt2_bc_maxpayload(struct rpc_xprt *xprt);
unsigned int xprt2_bc_num_slots(struct rpc_xprt *xprt);
void xprt2_bc_free_rqst(struct rpc_rqst *rqst);
void xprt2_handle_call(struct xprt2_ep *ep, struct xprt2_rep *rep,
		       struct rpcrdma2_msg *msg);
int xprt2_send_backward(struct rpc_rqst *rqst);
void xprt2_chunked_work(struct work_struct *work);
void xprt2_chunked_flush(struct xprt2_ep *ep);
void xprt2_chunked_room(struct xprt2_ep *ep);

#endif /* _XPRTRDMA2_H */
