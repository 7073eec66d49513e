/* SPDX-License-Identifier: GPL-2.0 */
/* An end of a connection that records what the exchange of properties makes it do */
#ifndef _RPCRDMA2_KUNIT_EXCHANGE_H
#define _RPCRDMA2_KUNIT_EXCHANGE_H

#include <linux/string.h>

#include <rpcrdma2/props.h>

/**
 * struct limits - what ->changed() makes an end look at
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
 * struct record - record of an end
 * @ret: result of the Sends to come
 * @xid: xid of messages to come that are no answers
 * @sends: number of messages, with those that could not be sent
 * @pm: the last one
 * @send_max: largest Send that the end applied when it was sent
 * @applied: limits that the end applies, as they were at the last ->changed()
 * @resize: size of Receives that the peer has requested last
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

/* Whether the end applies the limits that are in force */
static inline bool is_applied(const struct rpcrdma2_exchange *ex)
{
	return rec.applied.send_max == rpcrdma2_exchange_send_max(ex) &&
	       rec.applied.reply_max == rpcrdma2_exchange_reply_max(ex) &&
	       rec.applied.busy == rpcrdma2_exchange_busy(ex);
}

/* Whether the message is answered; the answer is recorded */
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

/* Whether a message is due; it is sent and recorded */
static inline bool is_sent(struct rpcrdma2_exchange *ex, unsigned long now)
{
	unsigned int before = rec.sends;

	rpcrdma2_exchange_send_next(ex, now);
	return rec.sends != before;
}

/* Whether the message that arrives shows that the answer to a REQPROP is late */
static inline bool is_late(struct rpcrdma2_exchange *ex, unsigned long at)
{
	u32 before = rec.counts[RPCRDMA2_C_properties_in_vain];

	rpcrdma2_exchange_received(ex, at);
	return rec.counts[RPCRDMA2_C_properties_in_vain] == before + 1;
}

/* Whether this malformed message answers the REQPROP */
static inline bool is_malformed(struct rpcrdma2_exchange *ex, u32 type, u32 xid)
{
	static struct rpcrdma2_msg msg = { .mg_bad_body = true };

	msg.mg_prop.pm_type = type;
	msg.mg_hdr.h_xid = xid;
	return rpcrdma2_exchange_malformed(ex, &msg);
}

#endif /* _RPCRDMA2_KUNIT_EXCHANGE_H */
