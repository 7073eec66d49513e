/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many Calls a connection is granted, and the Receives it has for them. Pure.
 */
#ifndef _SVCRDMA2_GRANT_H
#define _SVCRDMA2_GRANT_H

#include <linux/minmax.h>

#include <rpcrdma2/credit.h>

/* most that are posted at once; larger batches save little */
#define SVC2_RECV_BATCH	16U

/*
 * Receives that are posted again at once. One Call after the other keeps so many busy,
 * which is too few for a larger grant: see svc2_grant_next().
 */
static inline unsigned int svc2_grant_batch(u32 grant)
{
	return clamp(grant / 2, 1U, SVC2_RECV_BATCH);
}

/**
 * svc2_grant_recvs - Receives that a connection has
 * @answers: Calls of the server that may be outstanding
 * @grant: Calls that the peer is granted
 *
 * So many that the needed ones are posted or in use while others wait for a batch.
 */
static inline unsigned int svc2_grant_recvs(u32 answers, u32 grant)
{
	return rpcrdma2_receives_needed(answers, grant) +
	       svc2_grant_batch(grant) - 1;
}

/**
 * svc2_grant_fit - grant in both directions what a device has Receives for
 * @answers: Calls of the server that may be outstanding; made less, but not 0
 * @grant: Calls that the peer is granted; made less
 * @least: of these
 * @most: Receives that the device has
 *
 * The larger of the two is halved until there are enough.
 *
 * Return: false when there are never.
 */
static inline bool svc2_grant_fit(u32 *answers, u32 *grant, u32 least,
				  unsigned int most)
{
	while (svc2_grant_recvs(*answers, *grant) > most) {
		if (*answers > 1 && (*answers >= *grant || *grant / 2 < least))
			*answers /= 2;
		else if (*grant / 2 >= least)
			*grant /= 2;
		else
			return false;
	}
	return true;
}

/**
 * svc2_grant_next - what a connection is to grant, if it can
 * @grant: what it does now
 * @busy: Calls that are in process, or were just now
 * @max: most that it can
 *
 * Return: twice as many when three quarters are in use, else @grant.
 */
static inline u32 svc2_grant_next(u32 grant, unsigned int busy, u32 max)
{
	return 4 * busy < 3 * grant ? grant : min(2 * grant, max);
}

/**
 * svc2_grant_room - pages that connections may have before memory counts as short
 * @most: pages that they may ever have
 *
 * The rest is for new connections, each of which begins with a few Receives.
 */
static inline long svc2_grant_room(long most)
{
	return most - most / 4;
}

/**
 * svc2_grant_last - pages that connections may have before all of them give some back
 * @most: pages that they may ever have
 */
static inline long svc2_grant_last(long most)
{
	return most - most / 8;
}

#endif /* _SVCRDMA2_GRANT_H */
