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
 * XPRT2_BACKWARD_REQS of them at a time: each has a request of that pool until
 * its entry is free again. So it always finds an entry.
 */
#ifndef _XPRTRDMA2_SQ_H
#define _XPRTRDMA2_SQ_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "backchannel.h"

enum {
	/* one completion for so many work requests */
	XPRT2_SEND_BATCH	= 16,
	/* entries beside those for the requests of Calls */
	XPRT2_SQ_SPARE		= XPRT2_SEND_BATCH + XPRT2_BACKWARD_REQS,
	/* Work Requests of a typical RPC: register, Send, invalidate */
	XPRT2_WRS_PER_RPC	= 3,
};

/* Entries of one Call and its regions, invalidations included */
static inline unsigned int xprt2_sq_largest(unsigned int segs)
{
	return 2 * segs + 1;
}

/**
 * xprt2_sq_depth - entries that a queue needs
 * @reqs: RPCs outstanding
 * @segs: most regions of one RPC
 */
static inline unsigned int xprt2_sq_depth(unsigned int reqs, unsigned int segs)
{
	return max(reqs * XPRT2_WRS_PER_RPC, xprt2_sq_largest(segs)) +
	       XPRT2_SQ_SPARE;
}

#endif /* _XPRTRDMA2_SQ_H */
