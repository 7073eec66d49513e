/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection: its verbs objects, and the one way to lose it.
 */
#ifndef _RPCRDMA2_CONN_H
#define _RPCRDMA2_CONN_H

#include <linux/atomic.h>
#include <linux/seq_file.h>
#include <linux/time64.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <rpcrdma2/regions.h>
#include <rpcrdma2/sq.h>

struct rpcrdma2_conn;
struct rpcrdma2_recv;

/*
 * Why a connection was lost, see rpcrdma2_conn_lose(); its name for the log; whether
 * the peer has no part in it; and what can be done about it, or NULL where that is
 * not for the log to say
 */
#define RPCRDMA2_LOSSES(_loss)						\
	_loss(PEER,		"peer", false, NULL)			\
	_loss(UNREACHABLE,	"unreachable", false, NULL)		\
	_loss(ADDRESS,		"address changed", true, NULL)		\
	_loss(DEVICE,		"device removed", true, NULL)		\
	_loss(QP,		"queue pair failed", false,		\
	      "see what the device's driver says")			\
	_loss(RECEIVE,		"Receive failed", false,		\
	      "the peer sent more than a Receive has, or the device failed") \
	_loss(NO_MESSAGE,	"Receive without a message", false,	\
	      "the peer does not speak RPC-over-RDMA")			\
	_loss(SEND,		"Send failed", false,			\
	      "the peer is gone, or the network loses packets: see 'rdma statistic'") \
	_loss(READ,		"RDMA Read failed", false,		\
	      "the peer is gone or has no such memory, or packets get lost: see 'rdma statistic'") \
	_loss(REGION,		"registration or invalidation failed", false, \
	      "see what the device's driver says")			\
	_loss(HANDLE,		"foreign handle invalidated", false,	\
	      "the peer is at fault")					\
	_loss(POST,		"cannot post", false,			\
	      "see what the device's driver says")			\
	_loss(STALLED,		"stalled", false,			\
	      "the peer does not take what it asked for: see whether it hangs") \
	_loss(TIMEOUT,		"RPC timed out", true, NULL)		\
	_loss(VERSION,		"version changes", false, NULL)		\
	_loss(INJECTED,		"fault injection", true, NULL)		\
	_loss(MEMORY,		"no memory", false,			\
	      "see 'free' on this machine")				\
	_loss(REPLY,		"cannot reply", false,			\
	      "see the errors in the module's counters")		\
	_loss(ENDED,		"ended by its owner", false, NULL)

enum rpcrdma2_loss {
	RPCRDMA2_LOSS_NONE = 0,
#define RPCRDMA2_LOSS_ENUM(_name, ...) RPCRDMA2_LOSS_##_name,
	RPCRDMA2_LOSSES(RPCRDMA2_LOSS_ENUM)
#undef RPCRDMA2_LOSS_ENUM
};

/**
 * struct rpcrdma2_end - the end of a connection
 * @en_why: reason, RPCRDMA2_LOSS_NONE when there was none
 * @en_at: when, in seconds since boot
 */
struct rpcrdma2_end {
	enum rpcrdma2_loss	en_why;
	time64_t		en_at;
};

/**
 * struct rpcrdma2_conn_ops - what a connection calls its owner for
 * @lost: the connection is of no more use; called once. Any context, even
 *	atomic
 * @received: a message has come, of rv_len octets; the Receive is the owner's
 *	until rpcrdma2_recv_put() or rpcrdma2_recv_repost(). The CPU sees the
 *	message after rpcrdma2_recv_sync(). Receive CQ
 * @room: Send Queue entries or regions have come back, and a taker has found too
 *	few. Send CQ, or what gives them back
 * @grown: the pool of regions was to grow: @made were allocated, and when @failed
 *	another one could not be. Of a connection that exposes memory; may sleep
 */
struct rpcrdma2_conn_ops {
	void (*lost)(struct rpcrdma2_conn *co, enum rpcrdma2_loss why);
	void (*received)(struct rpcrdma2_conn *co, struct rpcrdma2_recv *rv,
			 const struct ib_wc *wc);
	void (*room)(struct rpcrdma2_conn *co);
	void (*grown)(struct rpcrdma2_conn *co, unsigned int made, bool failed);
};

/**
 * struct rpcrdma2_conn - the verbs objects of one connection
 * @co_ops: its owner's
 * @co_why: enum rpcrdma2_loss; RPCRDMA2_LOSS_NONE while it is good
 * @co_lost: ->lost has been called, or is being called
 * @co_id: connection identifier, with the queue pair. The device can not go
 *	away before it is destroyed
 * @co_pd: protection domain
 * @co_send_cq: completions of Sends, RDMA Reads and Writes, registrations and
 *	invalidations
 * @co_recv_cq: completions of Receives
 * @co_rw_mrs: memory regions that rdma_rw keeps for RDMA Reads, 0 where the
 *	device does without
 * @co_rw_pages: most pages of a part that is read, 0 for any
 * @co_sq: the Send Queue
 * @co_regions: what the peer can be offered memory with; empty on a connection
 *	that offers none
 *
 * The context of both CQs is the connection.
 */
struct rpcrdma2_conn {
	const struct rpcrdma2_conn_ops	*co_ops;
	atomic_t			co_why;
	atomic_t			co_lost;
	struct rdma_cm_id		*co_id;
	struct ib_pd			*co_pd;
	struct ib_cq			*co_send_cq;
	struct ib_cq			*co_recv_cq;
	unsigned int			co_rw_mrs;
	unsigned int			co_rw_pages;
	struct rpcrdma2_sq		co_sq;
	struct rpcrdma2_regions		co_regions;
};

/**
 * struct rpcrdma2_conn_size - how large the queues of a connection are
 * @sends: entries of the Send Queue, those for draining it included
 * @recvs: entries of the Receive Queue, likewise
 * @send_sges: gather entries of a Send; rpcrdma2_conn_create() may raise it
 * @rw_mrs: memory regions that rdma_rw keeps for RDMA Reads, 0 for none
 * @rw_pages: most pages of a part that is read, 0 for any
 */
struct rpcrdma2_conn_size {
	unsigned int	sends;
	unsigned int	recvs;
	unsigned int	send_sges;
	unsigned int	rw_mrs;
	unsigned int	rw_pages;
};

static inline struct ib_device *rpcrdma2_conn_device(const struct rpcrdma2_conn *co)
{
	return co->co_id->device;
}

static inline struct ib_qp *rpcrdma2_conn_qp(const struct rpcrdma2_conn *co)
{
	return co->co_id->qp;
}

static inline bool rpcrdma2_conn_is_lost(const struct rpcrdma2_conn *co)
{
	return atomic_read(&co->co_lost);
}

static inline enum rpcrdma2_loss rpcrdma2_conn_why(const struct rpcrdma2_conn *co)
{
	return atomic_read(&co->co_why);
}

/**
 * rpcrdma2_conn_init - begin with nothing
 * @co: connection
 * @ops: its owner's
 */
void rpcrdma2_conn_init(struct rpcrdma2_conn *co,
			const struct rpcrdma2_conn_ops *ops);

/**
 * rpcrdma2_conn_create - make protection domain, CQs and queue pair
 * @co: connection with an identifier that has a device
 * @size: how large
 * @event: handler of the queue pair's asynchronous events, or NULL; its
 *	context is @co
 *
 * Context: may sleep.
 * Return: 0, or a negative errno; rpcrdma2_conn_destroy() undoes what was done.
 */
int rpcrdma2_conn_create(struct rpcrdma2_conn *co,
			 struct rpcrdma2_conn_size *size,
			 void (*event)(struct ib_event *event, void *context));

/**
 * rpcrdma2_conn_tell_backward - the device has queues for fewer Calls backward
 * @co: connection with an identifier that has a device
 * @told: the last figure in the log; each is told once, until there is another
 * @module: the name of its owner's module
 * @calls: how many there can be at once
 *
 * Context: any.
 */
void rpcrdma2_conn_tell_backward(const struct rpcrdma2_conn *co, u32 *told,
				 const char *module, u32 calls);

/**
 * rpcrdma2_conn_destroy_qp - destroy the queue pair, if there is one
 * @co: connection whose queue pair has been drained, with all Send Queue entries (Q2)
 */
void rpcrdma2_conn_destroy_qp(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_conn_destroy - destroy what there is, the identifier last
 * @co: connection
 *
 * Context: may sleep.
 */
void rpcrdma2_conn_destroy(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_conn_blame - note why a connection is about to be lost
 * @co: connection
 * @why: reason
 *
 * The first reason counts. What the peer has no part in counts always: a device
 * that goes away flushes its queues first.
 *
 * Context: any.
 */
void rpcrdma2_conn_blame(struct rpcrdma2_conn *co, enum rpcrdma2_loss why);

/**
 * rpcrdma2_conn_lose - lose a connection
 * @co: connection
 * @why: reason
 *
 * The only way to do it, where the state of the queue pair, of a region or of
 * the credits is not known any more. Harmless when it is lost already.
 *
 * Context: any that the owner's ->lost may be called in.
 */
void rpcrdma2_conn_lose(struct rpcrdma2_conn *co, enum rpcrdma2_loss why);

/**
 * rpcrdma2_loss_is_innocent - did the peer have no part in it?
 * @why: reason
 */
bool rpcrdma2_loss_is_innocent(enum rpcrdma2_loss why);

/**
 * rpcrdma2_loss_name - a reason, for the log
 * @why: reason
 */
const char *rpcrdma2_loss_name(enum rpcrdma2_loss why);

/**
 * rpcrdma2_conn_ended - note how a connection ended, and say what to do
 * @co: connection that has ended
 * @en: where to note it
 * @module: for the log
 * @what: which connection, likewise
 *
 * Where there is something that an administrator can do the log has a line.
 *
 * Return: the reason.
 */
enum rpcrdma2_loss rpcrdma2_conn_ended(const struct rpcrdma2_conn *co,
				       struct rpcrdma2_end *en,
				       const char *module, const char *what);

/**
 * rpcrdma2_end_show - print " ended=REASON ended_ago=SECONDS", or nothing
 * @seq: where to
 * @en: the end
 */
void rpcrdma2_end_show(struct seq_file *seq, const struct rpcrdma2_end *en);

#endif /* _RPCRDMA2_CONN_H */
