/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits granted to a connection, and the Receives for them. Pure functions.
 */
#ifndef _SVCRDMA2_GRANT_H
#define _SVCRDMA2_GRANT_H

#include <linux/minmax.h>

#include <rpcrdma2/credit.h>

/* maximum batch of Receives; larger batches save little */
#define SVC2_RECV_BATCH	16U

/*
 * Number of Receives that are reposted at once. Consecutive Calls keep this
 * number busy, which is too few for a larger grant: see svc2_grant_next().
 */
static inline unsigned int svc2_grant_batch(u32 grant)
{
	return clamp(grant / 2, 1U, SVC2_RECV_BATCH);
}

/**
 * svc2_grant_recvs - number of Receives of a connection
 * @answers: callbacks that may be outstanding
 * @grant: Calls that the peer is granted
 *
 * With this number the required Receives are posted or in use while others wait
 * for a full batch.
 */
static inline unsigned int svc2_grant_recvs(u32 answers, u32 grant)
{
	return rpcrdma2_receives_needed(answers, grant) +
	       svc2_grant_batch(grant) - 1;
}

/**
 * svc2_grant_fit - reduce both grants to the Receives that a device supports
 * @answers: callbacks that may be outstanding; reduced, but not to 0
 * @grant: Calls that the peer is granted; reduced
 * @least: minimum for @grant
 * @most: Receives that the device supports
 *
 * The larger of the two is halved until the Receives suffice.
 *
 * Return: false when they never suffice.
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
 * svc2_grant_next - grant that a connection needs next
 * @grant: current grant
 * @busy: Calls in process, now or a moment ago
 * @max: upper limit of the grant
 *
 * Return: twice @grant, up to @max, when three quarters are busy; else @grant.
 */
static inline u32 svc2_grant_next(u32 grant, unsigned int busy, u32 max)
{
	return 4 * busy < 3 * grant ? grant : min(2 * grant, max);
}

/**
 * svc2_grant_room - limit of pages in use before memory counts as short
 * @most: limit on the pages of all connections
 *
 * The rest is reserved for new connections, which begin with a few Receives.
 */
static inline long svc2_grant_room(long most)
{
	return most - most / 4;
}

/**
 * svc2_grant_last - limit of pages in use before all connections give some back
 * @most: limit on the pages of all connections
 */
static inline long svc2_grant_last(long most)
{
	return most - most / 8;
}

#endif /* _SVCRDMA2_GRANT_H */
