/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A lockless counter for a scarce resource: queue entries, contexts, memory
 * regions. A taker that finds too few units sets a flag, and the call that
 * returns units then reports that a taker waits.
 */
#ifndef _RPCRDMA2_UNITS_H
#define _RPCRDMA2_UNITS_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct rpcrdma2_units - a lockless counter for a scarce resource
 * @un_free: free units
 * @un_kept: units of these that are reserved for control messages
 * @un_wanted: a taker found too few units since the last return
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
 * rpcrdma2_units_take - take units, or record that a taker waits
 * @un: units
 * @count: number to take
 * @spare: number to leave
 *
 * Context: any.
 * Return: true if the caller has the units. Otherwise a later
 * rpcrdma2_units_give() reports that a taker waits.
 */
static inline bool rpcrdma2_units_take(struct rpcrdma2_units *un,
				       unsigned int count, unsigned int spare)
{
	if (likely(rpcrdma2_units_try(un, count, spare)))
		return true;
	/* Units returned after this check see un_wanted. */
	smp_store_mb(un->un_wanted, true);
	return rpcrdma2_units_try(un, count, spare);
}

/**
 * rpcrdma2_units_give - return units
 * @un: units
 * @count: number to return
 *
 * Context: any.
 * Return: true if a taker found too few units since the last return.
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
