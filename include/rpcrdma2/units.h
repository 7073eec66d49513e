/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Something scarce, counted without a lock: entries of a queue, contexts,
 * memory regions. A taker that finds too few leaves a note, and the call that
 * gives units back returns then that a taker waits.
 */
#ifndef _RPCRDMA2_UNITS_H
#define _RPCRDMA2_UNITS_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct rpcrdma2_units - something scarce, counted without a lock
 * @un_free: units to be had
 * @un_kept: of these, so many are for control messages alone
 * @un_wanted: a taker found too few since units last came back
 */
struct rpcrdma2_units {
	atomic_t	un_free;
	unsigned int	un_kept;
	bool		un_wanted;
};

static inline bool rpcrdma2_units_try(struct rpcrdma2_units *un,
				      unsigned int count, unsigned int spare)
{
	int avail = atomic_read(&un->un_free);

	do {
		if (avail < (int)(count + spare))
			return false;
	} while (!atomic_try_cmpxchg(&un->un_free, &avail, avail - (int)count));
	return true;
}

/**
 * rpcrdma2_units_take - take units, or note that there is a taker
 * @un: units
 * @count: how many
 * @spare: how many to leave
 *
 * Context: any.
 * Return: true when they are the caller's. When not, a later
 * rpcrdma2_units_give() returns that a taker waits.
 */
static inline bool rpcrdma2_units_take(struct rpcrdma2_units *un,
				       unsigned int count, unsigned int spare)
{
	if (likely(rpcrdma2_units_try(un, count, spare)))
		return true;
	/* What is given after the second look is given to a taker. */
	smp_store_mb(un->un_wanted, true);
	return rpcrdma2_units_try(un, count, spare);
}

/**
 * rpcrdma2_units_give - give units back
 * @un: units
 * @count: how many
 *
 * Context: any.
 * Return: true when a taker found too few since units last came back.
 */
static inline bool rpcrdma2_units_give(struct rpcrdma2_units *un,
				       unsigned int count)
{
	if (!count)
		return false;
	/* A full barrier: pairs with the one in rpcrdma2_units_take() */
	atomic_add_return(count, &un->un_free);
	return unlikely(READ_ONCE(un->un_wanted)) &&
	       xchg(&un->un_wanted, false);
}

#endif /* _RPCRDMA2_UNITS_H */
