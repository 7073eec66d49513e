/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Size of the Send Queue.
 *
 *   |<------------- xprt2_sq_depth() ----------------------------->|
 *   | requests of Calls            | a tail that no   | kept for   |
 *   |                              | completion       | messages   |
 *   |                              | covers yet       | that are   |
 *   |                              |                  | no Calls   |
 *
 * The tail is shorter than XPRT2_SEND_BATCH. A message that is not a Call (a
 * property message, an error, a backward Reply) is one Send and occupies a
 * request of the backward pool until its entry is free again. At most
 * xprt2_backward_reqs() of them exist, so each finds an entry. On a device with
 * fewer entries than the pool has requests, errors may take all entries. A
 * Reply is then retried, and an error ends the connection (S46).
 */
#ifndef _XPRTRDMA2_SQ_H
#define _XPRTRDMA2_SQ_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "backward.h"

enum {
	/* work requests for each completion */
	XPRT2_SEND_BATCH	= 16,
	/* work requests of a typical RPC: register, Send, invalidate */
	XPRT2_WRS_PER_RPC	= 3,
};

/* Entries of a Call and its regions, invalidations included */
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
 * @segs: maximum number of regions of an RPC
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
 * Grants more than XPRT2_BACKWARD_CREDITS only while Calls of the client keep
 * half of the queue.
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
