/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Free list of a bounded pool of requests. The caller does locking and
 * allocation; see req.c.
 */
#ifndef _XPRTRDMA2_POOL_H
#define _XPRTRDMA2_POOL_H

#include <linux/list.h>

/**
 * struct xprt2_pool - requests of one direction
 * @pl_free: free requests, most recently used first
 * @pl_count: all requests, free or in use
 * @pl_max: limit of @pl_count
 */
struct xprt2_pool {
	struct list_head	pl_free;
	unsigned int		pl_count;
	unsigned int		pl_max;
};

/**
 * xprt2_pool_pop - take a free request
 * @pl: pool, locked
 * @last: may take the last free request. The backward pool keeps that for an
 *	error or another mandatory answer, which then needs no allocation
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
 * xprt2_pool_is_whole - check that all requests have been returned
 * @pl: pool that is no longer in use; may never have had a request
 */
static inline bool xprt2_pool_is_whole(struct xprt2_pool *pl)
{
	return !pl->pl_count || list_count_nodes(&pl->pl_free) == pl->pl_count;
}

#endif /* _XPRTRDMA2_POOL_H */
