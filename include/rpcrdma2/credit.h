/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits: what a grant on the wire means. Grants are absolute limits on the
 * RPCs outstanding in one direction; control messages neither take nor return
 * one (2.3 of Documentation/protocol.rst).
 */
#ifndef _RPCRDMA2_CREDIT_H
#define _RPCRDMA2_CREDIT_H

#include <linux/minmax.h>

#include <rpcrdma2/header.h>

/* C-097: before the peer has granted anything */
#define RPCRDMA2_CREDIT_INITIAL	1

/**
 * rpcrdma2_grant_sanitise - read a grant or a request (S26)
 * @wire: rdma_credit
 * @max: most that is made use of, at least 1
 *
 * Return: 1 to @max; a peer that grants nothing would wait for ever.
 */
static inline u32 rpcrdma2_grant_sanitise(u32 wire, u32 max)
{
	return clamp(wire, 1U, max);
}

/**
 * rpcrdma2_grant_next - the grant of the sender of a message
 * @h: message of the peer that grants, well-formed
 * @now: grant in force
 * @max: most that is made use of
 * @granted: a message has granted credits on this connection before
 *
 * Replies always grant. An error does not before something else has (C-097),
 * an ERR_VERS never (S36). A server's CONNPROP or RESPROP grants too (S26).
 *
 * Return: grant in force from now on.
 */
u32 rpcrdma2_grant_next(const struct rpcrdma2_hdr *h, u32 now, u32 max,
			bool granted);

/**
 * rpcrdma2_receives_needed - Receives a connection keeps posted
 * @answers: own Calls that may be outstanding
 * @calls: Calls that the peer has been granted
 *
 * One for each, and the ones for control messages (S27, B-09 to B-12).
 */
static inline u32 rpcrdma2_receives_needed(u32 answers, u32 calls)
{
	return answers + calls + RPCRDMA2_CONTROL_RECVS;
}

#endif /* _RPCRDMA2_CREDIT_H */
