/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reconnect policy: when to connect again, decided from how the last connection
 * went. Pure functions without side effects.
 */
#ifndef _XPRTRDMA2_BACKOFF_H
#define _XPRTRDMA2_BACKOFF_H

#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

/*
 * After a server restart its clients reconnect spread over this time, not all
 * at the same moment. It is short for an application and long for a server: of
 * a thousand clients four connect in each millisecond.
 */
#define XPRT2_SPREAD		(HZ / 4)

enum xprt2_past {
	XPRT2_PAST_NONE = 0,	/* no connection yet, or closed by the client */
	XPRT2_PAST_LOST,	/* lost, the server is not at fault */
	XPRT2_PAST_FAILED,	/* it never came up, or brought no good Reply */
};

/**
 * xprt2_judge_past - classify how a connection went
 * @replied: it brought a good Reply
 * @lost: the peer, the network or the device ended it
 * @innocent: the peer did not cause the loss, or an RPC of the client timed out
 *
 * A connection that comes up proves little about a server: the server may end
 * each connection at the first Call.
 */
static inline enum xprt2_past xprt2_judge_past(bool replied, bool lost,
					       bool innocent)
{
	if (!replied && !innocent)
		return XPRT2_PAST_FAILED;
	return lost ? XPRT2_PAST_LOST : XPRT2_PAST_NONE;
}

/**
 * xprt2_connect_delay - compute the delay before the next connect
 * @past: how the last connection went
 * @distance: back-off interval between two attempts, in jiffies
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
