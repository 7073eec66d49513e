// SPDX-License-Identifier: GPL-2.0
/*
 * Something scarce, counted without a lock: see rpcrdma2/units.h.
 */
#include <linux/export.h>

#include <rpcrdma2/units.h>

static bool take_some(struct rpcrdma2_units *un, unsigned int count,
		      bool control)
{
	int least = control ? count : count + un->un_kept;
	int avail = atomic_read(&un->un_free);

	do {
		if (avail < least)
			return false;
	} while (!atomic_try_cmpxchg(&un->un_free, &avail, avail - (int)count));
	return true;
}

bool rpcrdma2_units_take(struct rpcrdma2_units *un, unsigned int count,
			 bool control)
{
	if (likely(take_some(un, count, control)))
		return true;
	/* What is given after the second look is given to a taker. */
	smp_store_mb(un->un_wanted, true);
	return take_some(un, count, control);
}
EXPORT_SYMBOL_GPL(rpcrdma2_units_take);

bool rpcrdma2_units_give(struct rpcrdma2_units *un, unsigned int count)
{
	if (!count)
		return false;
	/* A full barrier: pairs with the one in rpcrdma2_units_take() */
	atomic_add_return(count, &un->un_free);
	return unlikely(READ_ONCE(un->un_wanted)) &&
	       xchg(&un->un_wanted, false);
}
EXPORT_SYMBOL_GPL(rpcrdma2_units_give);
