/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requester: an rpc_xprt that speaks RPC-over-RDMA.
 *
 * Contexts, by the name the comments use for them
 *
 *   send path	->send_request, in rpciod or the caller's task, one at a time
 *		per transport because it holds the transport's XPRT_LOCKED bit
 *   receive CQ, send CQ
 *		completion handlers in a workqueue; each CQ serialises its own
 *   CM handler	rdma_cm's events, under the cm_id's handler mutex
 *   connect	the connect worker and ->close, both with XPRT_LOCKED
 *   release	->buf_free and ->free_slot, in any task, without any lock
 *
 * Ownership invariants
 *
 *   X1 A Receive buffer belongs to the device from post to completion, then
 *	to the receive CQ, then to the request that matched it until that
 *	request is released. It is in xp_rpool otherwise.
 *   X2 No RPC completes while a memory region registered for it is live:
 *	rq2_exposed is empty when xprt_complete_rqst() is called (asserted in
 *	xprt2_reply_complete()). Nor while a Send has pages of it mapped. Nor are
 *	pages that a Call was encrypted into freed before: the RPC layer frees
 *	them by way of xprt2_release_pages() (asserted in
 *	xprt2_prepare_request()). An RPC that is to be sent again because of
 *	what an error says completes in this sense.
 *   X3 A request returns to its pool only when the RPC layer, the Send and
 *	the LOCAL_INV of a dead RPC have all let go of it (rq2_kref; asserted
 *	in xprt2_req_release()).
 *   X4 Memory regions, CQs, the QP and the PD live and die with their
 *	endpoint; requests and Receive buffers live with the transport and are
 *	only mapped for an endpoint's device.
 *   X5 After teardown of an endpoint no request and no Receive buffer has a
 *	DMA mapping or a memory region left (asserted when the pools are freed).
 *   X6 A Reply is for a request only if it came on the endpoint that the
 *	request was last posted on: rq2_ep is set by xprt2_send_begin() and cleared
 *	before the RPC layer waits for a Reply again (checked in xprt2_claim_rqst()).
 *	When the RPC has ended by then, the Reply only tells that the server
 *	has done with its memory (xprt2_answer_dead()).
 *   X7 A backward Reply goes out on the endpoint its Call came on, or not at
 *	all: rq2_ep is set by xprt2_bc_accept_call() and cleared by teardown, which
 *	excludes the send path (checked in xprt2_send_backward()), and wakes what
 *	waits for that (xprt2_reserve()). Its request holds a reference of the
 *	transport from xprt2_bc_accept_call() to xprt2_bc_free_rqst(), and its Receive as in X1.
 *   X8 What the device may read of a Call of RPCSEC_GSS is encrypted if it is to
 *	be. Such a Call is encoded in rq2_plainbuf, in plain text at first, which
 *	no work request and no region refers to. The send path copies it to the
 *	Send buffer (xprt2_marshal_call()).
 */
#ifndef _XPRTRDMA2_H
#define _XPRTRDMA2_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <rpcrdma2/cm.h>
#include <rpcrdma2/compat.h>
#include <rpcrdma2/conn.h>
#include <rpcrdma2/exchange.h>
#include <rpcrdma2/message.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/proto.h>
#include <rpcrdma2/recv.h>
#include <rpcrdma2/sq.h>
#include <rpcrdma2/view.h>
#include <rpcrdma2/walk.h>

#include "backward.h"
#include "backoff.h"
#include "counters.h"
#include "negotiate.h"
#include "pool.h"
#include "property.h"
#include "sq.h"

struct xprt2_chunked;
struct xprt2_ep;
struct xprt2_rep;
struct xprt2_xprt;

/*
 * The class ident. The NFS client of an unmodified kernel knows one RDMA
 * transport, so there this class stands in for it; a kernel with an ident for this
 * class has room for both.
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

	XPRT2_SLOTS_MIN		= 4,
	XPRT2_SLOTS_MAX		= 16384,
	XPRT2_SLOTS_DEFAULT	= 128,

	/* room in front of the RPC Call for the transport header */
	XPRT2_HEADROOM		= 512,
	XPRT2_SENDBUF_SIZE	= 4096,
	XPRT2_RECVBUF_SIZE	= 8192,

	/* of one Call and its Reply; a header that fits the headroom */
	XPRT2_MAX_SEGS		= 16,

	/* header and head, pages of the largest Send, which may begin anywhere, tail */
	XPRT2_MAX_SGE		= 3 + RPCRDMA2_INLINE_MAX / 4096,
	XPRT2_MIN_SGE		= 4,	/* a payload of 4096 may lie in two */

	/* ib_drain_qp() at teardown, and of a dead RPC's fence */
	XPRT2_DRAIN_WRS		= 2,
};

#define XPRT2_RESOLVE_TIMEOUT	(5 * MSEC_PER_SEC)
#define XPRT2_BIND_TIMEOUT	(60U * HZ)
#define XPRT2_IDLE_TIMEOUT	(5U * 60 * HZ)
#define XPRT2_REEST_TIMEOUT	(3U * HZ)
/* a dead RPC waits so long for its Reply and its Send, a backward Reply for other Sends */
#define XPRT2_ANSWER_TIMEOUT	(5U * HZ)
#define XPRT2_FENCE_TIMEOUT	(5U * HZ)	/* then for its fence */
/* Fences, and RDMA Reads and Writes for the server's Calls, have to be done after so long */
#define XPRT2_CHAIN_TIMEOUT	(20U * HZ)

/**
 * struct xprt2_send - a Send of a request, and the registrations in front of it
 * @se_post: on the Send Queue, or not
 * @se_req: the request
 */
struct xprt2_send {
	struct rpcrdma2_post	se_post;
	struct xprt2_req	*se_req;
};

/**
 * struct xprt2_req - one RPC on this transport
 * @rq2_slot: what the RPC layer sees
 * @rq2_kref: X3; one reference of the RPC layer, one for each Send that is
 *	posted, one while a dead RPC's LOCAL_INV is
 * @rq2_home: pool it comes from
 * @rq2_pool: on pl_free of that
 * @rq2_all: on xp_all_reqs
 * @rq2_exposed: registered memory regions, and their fence. Send path, then the
 *	CQ that fences them, then the release path, which meets teardown under xp_fence_mutex
 * @rq2_reply: Receive buffer whose contents rq_rcv_buf points into: the
 *	Reply to its Call, or the Call that this one is to reply to
 * @rq2_status: what the RPC ends with when an error answered it, or when it can
 *	not be sent; -EAGAIN when it is to be sent again; 0 otherwise. Set under
 *	the transport's queue_lock; that it is -EAGAIN ends in
 *	xprt2_begin_again(), which has the RPC to itself
 * @rq2_refused: ep_serial of the connection on which an error was the answer and it
 *	is to be sent again, or 0. Set while a Reply has it, read by the send path
 * @rq2_resent: it is sent again on the connection that refused it (S45). Of the
 *	send path, and of what completes the Send
 * @rq2_sendbuf: XPRT2_HEADROOM octets, then the RPC message
 * @rq2_sendsize: its size
 * @rq2_pullup_size: the size that the last Call would have had it to be to have
 *	its payload copied there
 * @rq2_small: its payload may be copied there, as pullup_max was when the Send was
 *	planned
 * @rq2_plainbuf: where RPCSEC_GSS encodes a Call that it encrypts or signs (X8)
 * @rq2_plainsize: its size, 0 before the first such Call
 * @rq2_recvbuf: where a Reply chunk lands
 * @rq2_recvsize: its size
 * @rq2_dma: DMA address of @rq2_sendbuf
 * @rq2_device: device it is mapped for, or NULL; changed under xp_req_lock
 * @rq2_sends: the Send, and the one of an RPC that is sent again: the first one
 *	may not be retired by then, if no completion was asked for
 * @rq2_wr: the Send
 * @rq2_ep: endpoint it was last posted on (X6), or came on (X7)
 * @rq2_holds: what a Reply waits for before it completes the RPC: its own
 *	fence, and the end of a Send with mapped pages
 * @rq2_write_max: octets that the Write chunk of its Call offers, 0 without one
 * @rq2_reply_max: octets that the Reply chunk offers, likewise
 * @rq2_reply_needed: octets that it has to offer, the server has said; or 0
 * @rq2_release_pages: what xprt2_release_pages() stands for
 * @rq2_chunked: of a backward request with chunks, or pages, or NULL
 * @rq2_release_chunked: ends that with the request
 * @rq2_posts: of one with pages or chunks: chains that are posted, or are to be. The
 *	device may read the Reply's pages
 * @rq2_call_of: ep_serial of the connection whose xp_calls it is one of, or 0
 * @rq2_inv_handle: handle that its Send invalidates, or 0
 * @rq2_answers: counted in xp_answers
 * @rq2_waits: since when it waits to be, in jiffies, or 0
 * @rq2_dead: the RPC has ended without a Reply and the release path waits
 * @rq2_event: completed for that waiter: the Reply came, the Send or the
 *	LOCAL_INV is done, or the connection is lost
 * @rq2_late: the Reply came when the RPC had ended. This and the next are
 *	written under xp_req_lock; the send path clears it without. A store
 *	that is late makes a dead RPC not wait for its Reply, no more
 * @rq2_late_handle: handle that it invalidated, or 0
 * @rq2_num_mapped: entries of @rq2_sge, from the second, that are mapped pages
 * @rq2_sge: its gather list; the first entry lies in @rq2_sendbuf
 */
struct xprt2_req {
	struct rpc_rqst		rq2_slot;
	struct kref		rq2_kref;
	struct xprt2_pool	*rq2_home;
	struct list_head	rq2_pool;
	struct list_head	rq2_all;
	struct rpcrdma2_exposed	rq2_exposed;
	struct xprt2_rep	*rq2_reply;
	int			rq2_status;
	u32			rq2_refused;
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
	struct xprt2_ep		*rq2_ep;
	atomic_t		rq2_holds;
	u32			rq2_write_max;
	u32			rq2_reply_max;
	u32			rq2_reply_needed;
	void			(*rq2_release_pages)(struct rpc_rqst *rqst);
	struct xprt2_chunked	*rq2_chunked;
	void			(*rq2_release_chunked)(struct xprt2_req *req);
	atomic_t		rq2_posts;
	u32			rq2_call_of;
	u32			rq2_inv_handle;
	bool			rq2_answers;
	unsigned long		rq2_waits;
	bool			rq2_dead;
	bool			rq2_late;
	u32			rq2_late_handle;
	struct completion	rq2_event;
	unsigned int		rq2_num_mapped;
	struct ib_sge		rq2_sge[XPRT2_MAX_SGE];
};

static inline struct xprt2_req *xprt2_rqst_to_req(struct rpc_rqst *rqst)
{
	return container_of(rqst, struct xprt2_req, rq2_slot);
}

/*
 * RPCSEC_GSS works on the octets of the RPC, so that none is placed directly
 * (E-26), and encodes its Call apart (X8).
 */
static inline bool xprt2_touches_data(const struct rpc_rqst *rqst)
{
	return test_bit(RPCAUTH_AUTH_DATATOUCH,
			&rqst->rq_cred->cr_auth->au_flags);
}

/* The Send to be prepared, or the last that was posted */
static inline struct rpcrdma2_post *xprt2_req_post(struct xprt2_req *req)
{
	return &req->rq2_sends[req->rq2_resent].se_post;
}

/**
 * struct xprt2_rep - a message of the server, and the Receive it is in
 * @rep_ep: endpoint it was received on
 * @rep_rqst: pinned request it answers
 * @rep_proc: what follows was read from the message by xprt2_handle_reply()
 * @rep_status: what the RPC ends with, when it is not a Reply that answers it;
 *	-EAGAIN when it is to be sent again
 * @rep_at: where the inline RPC Reply begins, in the first page of the Receive
 * @rep_paylen: its octets
 * @rep_written: octets that Write chunks brought
 * @rep_replylen: octets that the Reply chunk brought
 * @rep_recv: the Receive; last, for most of it is scatter entries
 */
struct xprt2_rep {
	struct xprt2_ep		*rep_ep;
	struct rpc_rqst		*rep_rqst;
	u32			rep_proc;
	int			rep_status;
	u32			rep_at;
	u32			rep_paylen;
	u32			rep_written;
	u32			rep_replylen;
	struct rpcrdma2_recv	rep_recv;
};

/*
 * A connection's life:
 *
 *   CONNECTING --> READY --> LOST
 *       |                     ^
 *       +---------------------+
 *
 * The connect worker makes it READY. All other code can only move it to LOST, with
 * rpcrdma2_conn_lose().
 */
enum xprt2_ep_state {
	XPRT2_EP_CONNECTING,
	XPRT2_EP_READY,
	XPRT2_EP_LOST,
};

/**
 * struct xprt2_ep - one connection and all that lives and dies with it (X4)
 * @ep_conn: its verbs objects
 * @ep_xp: transport it serves
 * @ep_state: enum xprt2_ep_state
 * @ep_done: completed by the CM handler for the connect worker
 * @ep_status: what the CM handler found
 * @ep_replied: it brought a good Reply. Receive CQ, and teardown
 * @ep_vers: RPC-over-RDMA version spoken
 * @ep_nego: how that is found out. Connect at first, then receive CQ and @ep_trial
 * @ep_complained: the log says that there is no common version
 * @ep_answer: the answer to the probe, once it is there
 * @ep_answered: completed then, and when the connection is lost
 * @ep_connprop_sent: the probe is on its way
 * @ep_connprop_xid: its xid
 * @ep_trial: ends a trial that got no answer
 * @ep_peer: limits in the server's CM private data, for version 1
 * @ep_prop_mutex: guards @ep_ex, and the order of messages about it; see props.c
 * @ep_ex: properties of both ends, for version 2
 * @ep_talk: says what has changed of the client
 * @ep_talking: something is to be said to the server, or waited for: so the receive
 *	CQ takes @ep_prop_mutex. Written under it
 * @ep_beside: that takes the place of a Call. Written under @ep_prop_mutex
 * @ep_max_reqs: most RPCs this connection can carry
 * @ep_max_sge: gather entries of a Send
 * @ep_recv_size: octets that each Receive holds, or more: what the server is told
 * @ep_send_size: octets of the largest Send this end makes, whatever the server
 *	takes
 * @ep_call_threshold: largest Send of this end (C-001). This and the next may
 *	change between any two messages (S15): written by the receive CQ once
 *	the version is settled, read anywhere
 * @ep_reply_threshold: largest Send the peer makes
 * @ep_serial: it is the transport's connection of that number, from 1
 * @ep_limits: what the server has announced, or refused to take more of. Written
 *	by the receive CQ; the send path may see some of it late
 * @ep_grant: RPCs the server allows; 0 until its first word. Written by the
 *	receive CQ, read anywhere
 * @ep_silent: an RPC that has ended waited for its Reply in vain, and nothing
 *	was received since. Set by the release path, cleared by the receive CQ
 * @ep_why: what version it speaks that for, a word or two; NULL before there is an
 *	answer. Written once the version is known, read anywhere
 * @ep_was_up: RPCs could be sent. Connect
 * @ep_short: the log says that it has too few regions. Connect, then the core's workqueue
 * @ep_recvs_posted: Receives the device has, until the connection is lost. Receive
 *	CQ only, once connected
 * @ep_calls: Calls that the server is granted. Written by connect, then by the receive CQ
 * @ep_recv_batch: Receives posted at once
 * @ep_chunk_max: entries of the longest chain for a backward Call; 0 when these can
 *	have no chunks
 * @ep_chunk_units: entries of the Send Queue for such chains
 * @ep_chunk_work: moves their chunks; see backchannel.c
 * @ep_chunk_lock: guards the next two
 * @ep_chunked: what waits for that
 * @ep_chunk_off: it is over
 * @ep_msg: message under inspection. Receive CQ only
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
	bool			ep_complained;
	enum xprt2_answer	ep_answer;
	struct completion	ep_answered;
	bool			ep_connprop_sent;
	u32			ep_connprop_xid;
	struct delayed_work	ep_trial;
	struct rpcrdma2_cm_limits ep_peer;
	struct mutex		ep_prop_mutex;	/* guards ep_ex */
	struct rpcrdma2_exchange ep_ex;
	struct work_struct	ep_talk;
	bool			ep_talking;
	bool			ep_beside;
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
	u32			ep_calls;
	unsigned int		ep_recv_batch;
	unsigned int		ep_chunk_max;
	struct rpcrdma2_units	ep_chunk_units;
	struct delayed_work	ep_chunk_work;
	spinlock_t		ep_chunk_lock;	/* guards the next two */
	struct list_head	ep_chunked;
	bool			ep_chunk_off;
	struct rpcrdma2_msg	ep_msg;
};

static inline struct xprt2_ep *xprt2_conn_to_ep(struct rpcrdma2_conn *co)
{
	return container_of(co, struct xprt2_ep, ep_conn);
}

/**
 * struct xprt2_xprt - a transport: the client's end of one connection
 * @xp_xprt: what the RPC layer sees
 * @xp_ep: the connection, or NULL; changed with XPRT_LOCKED held
 * @xp_connect_work: connect worker
 * @xp_past: how the last connection went, if it is over. Connect
 * @xp_timed_out: an RPC's timeout ends the connection. Set by ->timer, cleared by connect
 * @xp_serial: connections begun so far. Connect worker, under xp_req_lock
 * @xp_tried: when the last attempt to make one began, in jiffies. Connect
 * @xp_end: how the last connection ended. Written by teardown, read anywhere
 * @xp_error: why the last attempt to connect failed, or 0 when it did not; and
 * @xp_error_at: when, in seconds since boot. Written by connect, read anywhere
 * @xp_told: error that the log has told about since the last connection. Connect
 * @xp_probes: connections spent on probing since a version was settled or tried, within
 *	XPRT2_MEMORY_TIME. Connect
 * @xp_probed: when the first of them was over, in jiffies. Connect
 * @xp_busy: RPCs wait since the last connection ended. Connect
 * @xp_plain: the next probe is to have no experimental properties
 * @xp_try_one: the next connection is to be made in version 1, for this answer; or NULL
 * @xp_note_end: when neither of these two counts any more, in jiffies
 * @xp_refused: versions in which RPCs were refused since the last Reply, a bit each
 * @xp_no_version: no version is common: the next attempt to connect ends with that
 * @xp_timeout: replaces the default when the mount asks for shorter ones
 * @xp_hdr: header being marshalled. Send path only
 * @xp_fence_mutex: the release path posts a dead RPC's LOCAL_INV under it, and
 *	strips its request; teardown strips all requests under it. No wait for
 *	the peer happens under it
 * @xp_backward_wanted: Calls that the server is to be granted
 * @xp_backward_credits: likewise, if the device of this connection, or the last, has
 *	queues for so many (B-04). Written by connect before there are any
 * @xp_answers: backward requests whose Reply is being sent, or is not known to be sent
 * @xp_reply_waits: a backward Reply may sleep that could be sent; see xprt2_release()
 * @xp_backward_max: octets of an inline backward RPC message, or 0 at first
 * @xp_serves: the upper layer's service for callbacks is up: see xprt2_bc_num_slots().
 *	Under bc_pa_lock
 * @xp_kept: credits of RPCs that are over, and may not be for the server. Under
 *	transport_lock
 * @xp_req_lock: guards the next four, every rq2_device and every rq2_late.
 *	It is taken inside any other lock
 * @xp_calls: Calls of the server on this connection that no answer was posted to
 * @xp_forward: requests of the client's Calls
 * @xp_backward: requests of the server's
 * @xp_all_reqs: all of both
 * @xp_rpool: Receives, each with a struct xprt2_rep around it
 * @xp_stats: figures for mountstats
 * @xp_called: what there was of backward Calls
 * @xp_listed: on the list of all transports
 */
struct xprt2_xprt {
	struct rpc_xprt		xp_xprt;
	struct xprt2_ep		*xp_ep;
	struct delayed_work	xp_connect_work;
	enum xprt2_past		xp_past;
	bool			xp_timed_out;
	u32			xp_serial;
	unsigned long		xp_tried;
	struct rpcrdma2_end	xp_end;
	int			xp_error;
	time64_t		xp_error_at;
	int			xp_told;
	unsigned int		xp_probes;
	unsigned long		xp_probed;
	bool			xp_busy;
	bool			xp_plain;
	const char		*xp_try_one;
	unsigned long		xp_note_end;
	u32			xp_refused;
	bool			xp_no_version;
	struct rpc_timeout	xp_timeout;
	struct rpcrdma2_hdr	xp_hdr;
	struct mutex		xp_fence_mutex;	/* guards xp_ep's end */
	u32			xp_backward_wanted;
	u32			xp_backward_credits;
	atomic_t		xp_answers;
	bool			xp_reply_waits;
	unsigned int		xp_backward_max;
	bool			xp_serves;
	unsigned int		xp_kept;

	spinlock_t		xp_req_lock ____cacheline_aligned_in_smp;
	u32			xp_calls;
	struct xprt2_pool	xp_forward;
	struct xprt2_pool	xp_backward;
	struct list_head	xp_all_reqs;

	struct rpcrdma2_rpool	xp_rpool ____cacheline_aligned_in_smp;

	struct xprt2_stats	xp_stats;
	struct rpcrdma2_backward xp_called;
	struct list_head	xp_listed;
};

static inline struct xprt2_xprt *xprt2_from_xprt(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct xprt2_xprt, xp_xprt);
}

/* module.c */
extern struct workqueue_struct *xprt2_wq;
extern unsigned int xprt2_param_slots;
extern unsigned int xprt2_param_backward_credits;
extern unsigned int xprt2_param_receive_size;
extern unsigned int xprt2_param_send_size;
extern unsigned int xprt2_param_pullup_max;
extern u32 xprt2_param_backward;
extern unsigned int xprt2_param_min_version;
extern unsigned int xprt2_param_max_version;

/* transport.c */
extern struct xprt_class xprt2_class;

/* connect.c */
int xprt2_ep_connect(struct xprt2_xprt *xp);
void xprt2_ep_disconnect(struct xprt2_xprt *xp);

static inline bool xprt2_ep_is_ready(const struct xprt2_ep *ep)
{
	return atomic_read(&ep->ep_state) == XPRT2_EP_READY;
}

/* version.c */
void xprt2_begin_version(struct xprt2_ep *ep);
void xprt2_end_version(struct xprt2_ep *ep);
int xprt2_negotiate(struct xprt2_ep *ep);
enum xprt2_fate xprt2_negotiate_message(struct xprt2_ep *ep,
					const struct rpcrdma2_msg *msg,
					bool to_property);
void xprt2_trial_sent(struct xprt2_ep *ep);
void xprt2_trial_timeout(struct work_struct *work);
void xprt2_loss_tells(struct xprt2_ep *ep);
void xprt2_version_works(struct xprt2_ep *ep);
void xprt2_forget_servers(void);

/* req.c */
struct xprt2_req *xprt2_req_get(struct xprt2_xprt *xp, struct xprt2_pool *pool,
				bool last, gfp_t gfp);
bool xprt2_count_call(struct xprt2_ep *ep, struct xprt2_req *req);
void xprt2_uncount_call(struct xprt2_req *req);
void xprt2_req_put(struct xprt2_req *req);
void xprt2_req_begin_post(struct xprt2_req *req);
void xprt2_req_end_post(struct xprt2_req *req);
void xprt2_req_await_posts(struct xprt2_req *req);
int xprt2_req_buffers(struct xprt2_req *req, gfp_t gfp);
int xprt2_req_map(struct xprt2_ep *ep, struct xprt2_req *req);
int xprt2_reqs_create(struct xprt2_xprt *xp);
void xprt2_reqs_wake(struct xprt2_xprt *xp, bool detach);
void xprt2_reqs_destroy(struct xprt2_xprt *xp);
void xprt2_drop_reply(struct xprt2_req *req);
void xprt2_wait_for_reply(struct rpc_task *task);
bool xprt2_has_error(const struct xprt2_req *req);
void xprt2_begin_again(struct xprt2_req *req);
void xprt2_end_unsent(struct xprt2_req *req);
void xprt2_release_reply(struct xprt2_req *req);
void xprt2_abandon_reply(struct xprt2_rep *rep);

/* send.c */
int xprt2_encode_header(struct xprt2_req *req, const struct rpcrdma2_hdr *h,
			size_t len);
int xprt2_marshal_call(struct xprt2_ep *ep, struct xprt2_req *req);
int xprt2_prepare_send(struct xprt2_ep *ep, struct xprt2_req *req, u32 hdrlen,
		       const struct rpcrdma2_call_plan *plan);
int xprt2_send_message(struct xprt2_ep *ep, struct xprt2_req *req);

/* fence.c */
void xprt2_grown(struct rpcrdma2_conn *co, unsigned int made, bool failed);
void xprt2_await_regions(struct xprt2_ep *ep);
bool xprt2_remote_invalidated(struct xprt2_ep *ep, struct xprt2_req *req,
			      u32 rkey);
int xprt2_fence_start(struct xprt2_ep *ep, struct xprt2_req *req);
struct rpc_rqst *xprt2_claim_rqst(struct xprt2_ep *ep, struct xprt2_rep *rep,
				  u32 xid);
bool xprt2_is_awaited(struct xprt2_ep *ep, u32 xid);
void xprt2_lose_to_handle(struct xprt2_ep *ep);
void xprt2_check_handle(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg);
bool xprt2_holds_memory(const struct xprt2_req *req);
bool xprt2_answer_dead(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg);
void xprt2_fence_wait(struct xprt2_req *req);
void xprt2_fence_now(struct xprt2_req *req);

/* credits.c */
void xprt2_recvs_init(struct xprt2_xprt *xp);
u32 xprt2_post_receives(struct xprt2_ep *ep, u32 credits, gfp_t gfp);
void xprt2_receives_grow(struct xprt2_ep *ep, u32 octets);
bool xprt2_receives_rising(const struct xprt2_ep *ep);
void xprt2_receives_rise(struct xprt2_ep *ep);
void xprt2_receives_wanted(struct xprt2_ep *ep, u32 octets);
void xprt2_reset_credits(struct xprt2_xprt *xp);
bool xprt2_keep_credit(struct xprt2_req *req);
bool xprt2_bound_kept(struct rpc_xprt *xprt);
void xprt2_credit_answered(struct xprt2_xprt *xp);

/* recv.c */
void xprt2_received(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
		    const struct ib_wc *wc);

/* props.c */
void xprt2_begin_properties(struct xprt2_ep *ep);
void xprt2_reply_refused(struct xprt2_ep *ep, u32 needed);
int xprt2_send_connprop(struct xprt2_ep *ep, struct rpcrdma2_hdr *h);
void xprt2_converse(struct xprt2_ep *ep);
void xprt2_talk(struct work_struct *work);
void xprt2_sizes_changed(struct xprt2_ep *ep, bool receive);
void xprt2_take_size(bool receive);
void xprt2_heard(struct xprt2_ep *ep);
bool xprt2_property_refused(struct xprt2_ep *ep,
			    const struct rpcrdma2_msg *msg);
void xprt2_take_properties(struct xprt2_ep *ep,
			   const struct rpcrdma2_propmsg *pm);
void xprt2_handle_property(struct xprt2_ep *ep, struct xprt2_rep *rep,
			   struct rpcrdma2_msg *msg);
void xprt2_handle_granted(struct xprt2_ep *ep, struct xprt2_rep *rep,
			  struct rpcrdma2_msg *msg);

/* backchannel.c */
struct xprt2_req *xprt2_backward_req(struct xprt2_xprt *xp, bool last, gfp_t gfp);
int xprt2_backward_reserve(struct xprt2_xprt *xp, unsigned int want);
int xprt2_post_backward(struct xprt2_ep *ep, struct xprt2_req *req,
			size_t hdrlen, u32 proc);
bool xprt2_send_error(struct xprt2_ep *ep, struct rpcrdma2_hdr *h);
int xprt2_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs);
void xprt2_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs);
size_t xprt2_bc_maxpayload(struct rpc_xprt *xprt);
unsigned int xprt2_bc_num_slots(struct rpc_xprt *xprt);
void xprt2_bc_free_rqst(struct rpc_rqst *rqst);
void xprt2_backward_measure(struct xprt2_ep *ep);
void xprt2_handle_call(struct xprt2_ep *ep, struct xprt2_rep *rep,
		       struct rpcrdma2_msg *msg);
int xprt2_reserve(struct rpc_xprt *xprt, struct rpc_task *task);
void xprt2_replies_first(struct rpc_xprt *xprt);
void xprt2_release(struct rpc_xprt *xprt, struct rpc_task *task);
int xprt2_send_backward(struct rpc_rqst *rqst);
void xprt2_chunked_init(struct xprt2_ep *ep);
void xprt2_chunked_stop(struct xprt2_ep *ep);
void xprt2_chunked_flush(struct xprt2_ep *ep);
void xprt2_chunked_room(struct xprt2_ep *ep);

/* debug.c */
void xprt2_count_error(struct xprt2_ep *ep, const struct rpcrdma2_hdr *h);
void xprt2_debugfs_init(void);
void xprt2_debugfs_exit(void);
void xprt2_list_transport(struct xprt2_xprt *xp);
void xprt2_unlist_transport(struct xprt2_xprt *xp);
struct xprt2_xprt *xprt2_next_transport(struct xprt2_xprt *xp);

#define xprt2_for_each_transport(_xp)					\
	for ((_xp) = xprt2_next_transport(NULL); (_xp);			\
	     (_xp) = xprt2_next_transport(_xp))

int xprt2_view_init(void);
void xprt2_view_exit(void);
void xprt2_report_device(struct xprt2_ep *ep, const char *what);
void xprt2_report_regions(const struct xprt2_ep *ep, u32 wanted);
void xprt2_report_connect(struct xprt2_xprt *xp, int status);
void xprt2_report_version_one(const struct xprt2_xprt *xp, const char *why);
void xprt2_report_end(struct xprt2_ep *ep);

/* netid.c */
void xprt2_netid_init(void);
void xprt2_netid_exit(void);
const char *xprt2_netid(bool v6);

#endif /* _XPRTRDMA2_H */
