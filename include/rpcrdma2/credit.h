/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits. A grant on the wire is an absolute limit on the RPCs outstanding in
 * one direction; control messages neither take nor return a credit (2.3 of
 * Documentation/protocol.rst).
 */
#ifndef _RPCRDMA2_CREDIT_H
#define _RPCRDMA2_CREDIT_H

#include <linux/minmax.h>

#include <rpcrdma2/wire.h>

/* The credits before the first grant of the peer (C-097) */
#define RPCRDMA2_CREDIT_INITIAL	1

/**
 * rpcrdma2_grant_sanitise - clamp a grant or request to the usable range (S26)
 * @wire: rdma_credit
 * @max: largest value used, at least 1
 *
 * Return: 1 to @max; a peer that grants nothing would wait forever.
 */
static inline u32 rpcrdma2_grant_sanitise(u32 wire, u32 max)
{
	return clamp(wire, 1U, max);
}

/**
 * rpcrdma2_grant_next - grant in force after a message
 * @h: well-formed message of the peer that grants
 * @now: grant in force
 * @max: largest grant used
 * @granted: an earlier message has granted credits on this connection
 *
 * Replies always grant. An error grants only after another message has (C-097),
 * an ERR_VERS never (S36). A server's CONNPROP or RESPROP grants, too (S26).
 *
 * Return: grant in force from now on.
 */
u32 rpcrdma2_grant_next(const struct rpcrdma2_hdr *h, u32 now, u32 max,
			bool granted);

/**
 * rpcrdma2_receives_needed - number of Receives that a connection keeps posted
 * @answers: own Calls that may be outstanding
 * @calls: Calls granted to the peer
 *
 * Every Call needs a Receive, and control messages need theirs (S27, B-09 to
 * B-12).
 */
static inline u32 rpcrdma2_receives_needed(u32 answers, u32 calls)
{
	return answers + calls + RPCRDMA2_CONTROL_RECVS;
}

#endif /* _RPCRDMA2_CREDIT_H */
