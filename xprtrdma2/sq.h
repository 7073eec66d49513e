/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many entries the Send Queue has: the arithmetic, without the queue.
 *
 *   |<------------- xprt2_sq_depth() ----------------------------->|
 *   | requests of Calls            | a tail that no   | kept for   |
 *   |                              | completion       | messages   |
 *   |                              | covers yet       | that are   |
 *   |                              |                  | no Calls   |
 *
 * The tail is less than XPRT2_SEND_BATCH. A message that is no Call (a property
 * message, an error, a backward Reply) is one Send, and there are at most
 * xprt2_backward_reqs() of them at a time: each has a request of that pool until
 * its entry is free again. So it always finds an entry. Where the device has fewer
 * entries than the pool has requests, errors may take them all. A Reply then is
 * tried again, and an error ends the connection (S46).
 */
#ifndef _XPRTRDMA2_SQ_H
#define _XPRTRDMA2_SQ_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "backward.h"

enum {
	/* one completion for so many work requests */
	XPRT2_SEND_BATCH	= 16,
	/* Work Requests of a typical RPC: register, Send, invalidate */
	XPRT2_WRS_PER_RPC	= 3,
};

/* Entries of one Call and its regions, invalidations included */
static inline unsigned int xprt2_sq_largest(unsigned int segs)
{
	return 2 * segs + 1;
}

/* Entries beside those for the requests of Calls */
static inline unsigned int xprt2_sq_spare(unsigned int backward)
{
	return XPRT2_SEND_BATCH + xprt2_backward_reqs(backward);
}

/**
 * xprt2_sq_depth - entries that a queue needs
 * @reqs: RPCs outstanding
 * @segs: most regions of one RPC
 * @backward: Calls of the server outstanding
 */
static inline unsigned int xprt2_sq_depth(unsigned int reqs, unsigned int segs,
					  unsigned int backward)
{
	return max(reqs * XPRT2_WRS_PER_RPC, xprt2_sq_largest(segs)) +
	       xprt2_sq_spare(backward);
}

/**
 * xprt2_sq_backward - Calls of the server that a queue has entries for
 * @depth: entries
 * @wanted: Calls
 *
 * More than XPRT2_BACKWARD_CREDITS only while Calls of the client have half of the queue.
 */
static inline unsigned int xprt2_sq_backward(unsigned int depth,
					     unsigned int wanted)
{
	while (wanted > XPRT2_BACKWARD_CREDITS &&
	       2 * xprt2_sq_spare(wanted) > depth)
		wanted = max_t(unsigned int, wanted / 2, XPRT2_BACKWARD_CREDITS);
	return wanted;
}

#endif /* _XPRTRDMA2_SQ_H */
