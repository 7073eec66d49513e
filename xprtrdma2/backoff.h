/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When to connect, by how the last connection went: the decision, without the
 * doing.
 */
#ifndef _XPRTRDMA2_BACKOFF_H
#define _XPRTRDMA2_BACKOFF_H

#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

/*
 * The clients of a server that restarts connect again within this time, not
 * all in one moment. Short for an application, long for a server: a thousand
 * clients are four in a millisecond.
 */
#define XPRT2_SPREAD		(HZ / 4)

enum xprt2_past {
	XPRT2_PAST_NONE = 0,	/* no connection yet, or closed by the client */
	XPRT2_PAST_LOST,	/* lost, and there is no fault in the server */
	XPRT2_PAST_FAILED,	/* it never came up, or brought no good Reply */
};

/**
 * xprt2_judge_past - how did a connection go?
 * @replied: it brought a good Reply
 * @lost: the peer, the network or the device ended it
 * @innocent: and not the peer; or an RPC of the client timed out
 *
 * That a connection comes up says little about a server: it may end each one
 * at the first Call.
 */
static inline enum xprt2_past xprt2_judge_past(bool replied, bool lost,
					       bool innocent)
{
	if (!replied && !innocent)
		return XPRT2_PAST_FAILED;
	return lost ? XPRT2_PAST_LOST : XPRT2_PAST_NONE;
}

/**
 * xprt2_connect_delay - how long to wait before connecting
 * @past: how the last connection went
 * @distance: what the back-off wants between two attempts, in jiffies
 * @since: jiffies since the last attempt began
 * @random: 32 random bits
 *
 * Return: jiffies.
 */
static inline unsigned long xprt2_connect_delay(enum xprt2_past past,
						unsigned long distance,
						unsigned long since,
						u32 random)
{
	unsigned long wait = 0, spread = XPRT2_SPREAD;

	if (past == XPRT2_PAST_NONE)
		return 0;
	if (past == XPRT2_PAST_FAILED && distance > since) {
		wait = distance - since;
		spread = max(spread, distance / 8);
	}
	return wait + mul_u64_u32_shr(spread + 1, random, 32);
}

#endif /* _XPRTRDMA2_BACKOFF_H */
