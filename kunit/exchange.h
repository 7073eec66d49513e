/* SPDX-License-Identifier: GPL-2.0 */
/* An end of a connection that records the effects of the exchange of properties */
#ifndef _RPCRDMA2_KUNIT_EXCHANGE_H
#define _RPCRDMA2_KUNIT_EXCHANGE_H

#include <linux/string.h>

#include <rpcrdma2/props.h>

/**
 * struct limits - the values that ->changed() reads
 * @send_max: rpcrdma2_exchange_send_max()
 * @reply_max: rpcrdma2_exchange_reply_max()
 * @busy: rpcrdma2_exchange_busy()
 */
struct limits {
	u32	send_max;
	u32	reply_max;
	bool	busy;
};

/**
 * struct record - what one end recorded
 * @ret: result of the Sends that follow
 * @xid: XID of the requests that this end sends
 * @sends: number of messages, including those whose Send failed
 * @pm: the last message
 * @send_max: largest Send that the end applied when it sent @pm
 * @applied: limits that the end applies, as of the last ->changed()
 * @resize: size of Receives that the peer requested last
 * @counts: counters
 */
struct record {
	int			ret;
	u32			xid;
	unsigned int		sends;
	struct rpcrdma2_propmsg	pm;
	u32			send_max;
	struct limits		applied;
	u32			resize;
	u32			counts[RPCRDMA2_PROPS_NCOUNTERS];
};

static struct record rec;

static int record_send(struct rpcrdma2_exchange *ex, struct rpcrdma2_hdr *h,
		       struct rpcrdma2_propmsg *pm)
{
	if (!h)
		pm->pm_xid = rec.xid;
	rec.sends++;
	rec.pm = *pm;
	rec.send_max = rec.applied.send_max;
	return rec.ret;
}

static void record_changed(struct rpcrdma2_exchange *ex)
{
	rec.applied = (struct limits){
		rpcrdma2_exchange_send_max(ex), rpcrdma2_exchange_reply_max(ex),
		rpcrdma2_exchange_busy(ex),
	};
}

static void record_resize(struct rpcrdma2_exchange *ex, u32 bytes)
{
	rec.resize = bytes;
}

static void record_count(enum rpcrdma2_props_counter which, u32 n)
{
	rec.counts[which] += n;
}

static const struct rpcrdma2_props_ops record_ops = {
	.send		= record_send,
	.changed	= record_changed,
	.resize		= record_resize,
	.count		= record_count,
};

/* True if the end applies the limits that are in force */
static inline bool is_applied(const struct rpcrdma2_exchange *ex)
{
	return rec.applied.send_max == rpcrdma2_exchange_send_max(ex) &&
	       rec.applied.reply_max == rpcrdma2_exchange_reply_max(ex) &&
	       rec.applied.busy == rpcrdma2_exchange_busy(ex);
}

/* True if the end answers the message; the record then holds the answer */
static inline bool is_answered(struct rpcrdma2_exchange *ex,
			       const struct rpcrdma2_propmsg *pm,
			       unsigned long now)
{
	static struct rpcrdma2_msg msg;
	unsigned int before = rec.sends;

	msg.mg_prop = *pm;
	rec.resize = 0;
	rpcrdma2_exchange_answer(ex, &msg, now);
	return rec.sends != before;
}

/* True if a message is due; the end sends it, and the record holds it */
static inline bool is_sent(struct rpcrdma2_exchange *ex, unsigned long now)
{
	unsigned int before = rec.sends;

	rpcrdma2_exchange_send_next(ex, now);
	return rec.sends != before;
}

/* True if the arrival of a message at @at makes a pending REQPROP count as unanswered */
static inline bool is_late(struct rpcrdma2_exchange *ex, unsigned long at)
{
	u32 before = rec.counts[RPCRDMA2_C_properties_in_vain];

	rpcrdma2_exchange_received(ex, at);
	return rec.counts[RPCRDMA2_C_properties_in_vain] == before + 1;
}

/* True if this malformed message counts as the answer to the REQPROP */
static inline bool is_malformed(struct rpcrdma2_exchange *ex, u32 type, u32 xid)
{
	static struct rpcrdma2_msg msg = { .mg_verdict = RDMA2_ERR_BAD_XDR };

	msg.mg_hdr.h_vers = RPCRDMA2_VERS_TWO;
	msg.mg_hdr.h_proc = RDMA2_CONNPROP + type - RDMA2_OPT_CONNPROP;
	msg.mg_hdr.h_opttype = type;
	msg.mg_hdr.h_xid = xid;
	return rpcrdma2_exchange_malformed(ex, &msg);
}

#endif /* _RPCRDMA2_KUNIT_EXCHANGE_H */
