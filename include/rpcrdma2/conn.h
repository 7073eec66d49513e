/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection: its verbs objects, and rpcrdma2_conn_lose(), the only way to
 * lose it.
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
 * Reasons for the loss of a connection, see rpcrdma2_conn_lose(): identifier;
 * name in the log; whether the peer had no part in it; advice for the
 * administrator, or NULL
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
 * @en_why: reason, RPCRDMA2_LOSS_NONE if there was none
 * @en_at: time of the end, in seconds since boot
 */
struct rpcrdma2_end {
	enum rpcrdma2_loss	en_why;
	time64_t		en_at;
};

/**
 * struct rpcrdma2_conn_ops - callbacks from a connection to its owner
 * @lost: the connection was lost; called once, in any context, even atomic
 * @received: a message of rv_len bytes has arrived; the owner holds the Receive
 *	until rpcrdma2_recv_put() or rpcrdma2_recv_repost(). The CPU sees the
 *	message after rpcrdma2_recv_sync(). Called from the Receive CQ
 * @room: Send Queue entries or regions were returned after a taker had found
 *	too few. Called from the Send CQ, or by the code that returns them
 * @grown: refill of the region pool finished: @made were allocated, and @failed
 *	is set if an allocation failed. Only for a connection that exposes
 *	memory; may sleep
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
 * @co_ops: callbacks to its owner
 * @co_why: enum rpcrdma2_loss; RPCRDMA2_LOSS_NONE while the connection is good
 * @co_lost: ->lost has been called, or is being called
 * @co_id: connection identifier, with the queue pair. The device cannot be
 *	removed before the identifier is destroyed
 * @co_pd: protection domain
 * @co_send_cq: completions of Sends, RDMA Reads and Writes, registrations and
 *	invalidations
 * @co_recv_cq: completions of Receives
 * @co_rw_mrs: memory regions that rdma_rw keeps for RDMA Reads, 0 if the device
 *	does not need them
 * @co_rw_pages: most pages of a part that is read, 0 for no limit
 * @co_sq: the Send Queue
 * @co_regions: memory regions for the peer; empty on a connection that exposes
 *	no memory
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
 * struct rpcrdma2_conn_size - sizes of the queues of a connection
 * @sends: entries of the Send Queue, including those for draining it
 * @recvs: entries of the Receive Queue, including those for draining it
 * @send_sges: gather entries of a Send; rpcrdma2_conn_create() may raise it
 * @rw_mrs: memory regions that rdma_rw keeps for RDMA Reads, 0 for none
 * @rw_pages: most pages of a part that is read, 0 for no limit
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
 * rpcrdma2_conn_init - initialise a connection without verbs objects
 * @co: connection
 * @ops: callbacks to its owner
 */
void rpcrdma2_conn_init(struct rpcrdma2_conn *co,
			const struct rpcrdma2_conn_ops *ops);

/**
 * rpcrdma2_conn_create - create protection domain, CQs and queue pair
 * @co: connection with an identifier that has a device
 * @size: sizes of the queues
 * @event: handler of the queue pair's asynchronous events, or NULL; its context
 *	is @co
 *
 * Context: may sleep.
 * Return: 0, or a negative errno; rpcrdma2_conn_destroy() releases what was
 * created.
 */
int rpcrdma2_conn_create(struct rpcrdma2_conn *co,
			 struct rpcrdma2_conn_size *size,
			 void (*event)(struct ib_event *event, void *context));

/**
 * rpcrdma2_conn_tell_backward - log that the device limits backward Calls
 * @co: connection with an identifier that has a device
 * @told: number in the last log line; only a different number is logged
 * @module: the name of its owner's module
 * @calls: number of concurrent backward Calls that the queues of the device
 *	permit
 *
 * Context: any.
 */
void rpcrdma2_conn_tell_backward(const struct rpcrdma2_conn *co, u32 *told,
				 const char *module, u32 calls);

/**
 * rpcrdma2_conn_destroy_qp - destroy the queue pair, if there is one
 * @co: connection whose queue pair has been drained, and whose Send Queue
 *	entries have all been returned (Q2)
 */
void rpcrdma2_conn_destroy_qp(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_conn_destroy - destroy all verbs objects, the identifier last
 * @co: connection
 *
 * Context: may sleep.
 */
void rpcrdma2_conn_destroy(struct rpcrdma2_conn *co);

/**
 * rpcrdma2_conn_blame - record why a connection is about to be lost
 * @co: connection
 * @why: reason
 *
 * The first reason counts. A reason in which the peer had no part always
 * replaces it: a device that is removed flushes its queues first.
 *
 * Context: any.
 */
void rpcrdma2_conn_blame(struct rpcrdma2_conn *co, enum rpcrdma2_loss why);

/**
 * rpcrdma2_conn_lose - lose a connection
 * @co: connection
 * @why: reason
 *
 * This is the only way to lose a connection, for use when the state of the
 * queue pair, of a region or of the credits is no longer known. It does nothing
 * if the connection is already lost.
 *
 * Context: any that the owner's ->lost may be called in.
 */
void rpcrdma2_conn_lose(struct rpcrdma2_conn *co, enum rpcrdma2_loss why);

/**
 * rpcrdma2_loss_is_innocent - check whether the peer had no part in a loss
 * @why: reason
 */
bool rpcrdma2_loss_is_innocent(enum rpcrdma2_loss why);

/**
 * rpcrdma2_loss_name - name of a reason, for the log
 * @why: reason
 */
const char *rpcrdma2_loss_name(enum rpcrdma2_loss why);

/**
 * rpcrdma2_conn_ended - record how a connection ended, and log advice
 * @co: connection that has ended
 * @en: where to record it
 * @module: module name, for the log
 * @what: name of the connection, for the log
 *
 * A line is logged only if an administrator can act on the reason.
 *
 * Return: the reason.
 */
enum rpcrdma2_loss rpcrdma2_conn_ended(const struct rpcrdma2_conn *co,
				       struct rpcrdma2_end *en,
				       const char *module, const char *what);

/**
 * rpcrdma2_end_show - print " ended=REASON ended_ago=SECONDS", or nothing
 * @seq: output
 * @en: the end
 */
void rpcrdma2_end_show(struct seq_file *seq, const struct rpcrdma2_end *en);

#endif /* _RPCRDMA2_CONN_H */
