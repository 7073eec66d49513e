/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A bounded pool of requests, without its locks and its memory; see req.c.
 */
#ifndef _XPRTRDMA2_POOL_H
#define _XPRTRDMA2_POOL_H

#include <linux/list.h>

/**
 * struct xprt2_pool - requests of one direction
 * @pl_free: those not in use, most recently used first
 * @pl_count: how many there are, in use or not
 * @pl_max: bound of @pl_count
 */
struct xprt2_pool {
	struct list_head	pl_free;
	unsigned int		pl_count;
	unsigned int		pl_max;
};

/**
 * xprt2_pool_pop - take a request that is not in use
 * @pl: pool, locked
 * @last: also the last one. Of the backward direction that is kept for an error, or for
 *	another answer that has to be sent, which then need no memory
 *
 * Return: its list head, or NULL.
 */
static inline struct list_head *xprt2_pool_pop(struct xprt2_pool *pl, bool last)
{
	struct list_head *first = pl->pl_free.next;

	if (list_empty(&pl->pl_free) || (!last && list_is_singular(&pl->pl_free)))
		return NULL;
	list_del_init(first);
	return first;
}

/**
 * xprt2_pool_is_whole - is each request back?
 * @pl: pool that nobody uses any more, perhaps one that has never had any request
 */
static inline bool xprt2_pool_is_whole(struct xprt2_pool *pl)
{
	return !pl->pl_count || list_count_nodes(&pl->pl_free) == pl->pl_count;
}

#endif /* _XPRTRDMA2_POOL_H */
