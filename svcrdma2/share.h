/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quota of a connection for payload, and the cost of a Reply in pages and in
 * entries of the Send Queue. Pure functions.
 */
#ifndef _SVCRDMA2_SHARE_H
#define _SVCRDMA2_SHARE_H

#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

/* 1/8 of all pages is reserved for connections without any */
#define SVC2_TRANSFER_KEPT	8
/* a Reply up to this number of pages is not counted: 32 KiB, at least a page */
#define SVC2_REPLY_FEW		DIV_ROUND_UP(32768, PAGE_SIZE)
/* if at most this number of Sends is in progress */
#define SVC2_REPLIES_FEW	16
/* pages of a Reply besides its payload: head, tail, unaligned start */
#define SVC2_REPLY_BESIDE	3

/**
 * svc2_transfer_room - check whether a connection may have more pages
 * @most: limit on the pages of all connections
 * @all: pages that all connections have
 * @address: pages that the connections of its address have
 * @own: pages that it has
 * @more: pages that it requests
 *
 * The connections of one address may have half of all pages. A connection
 * without pages may have any pages that are left. A connection with pages may
 * have at most the amount that is left afterwards, of the half and of the whole
 * without the reserve. Thus each of n connections of an address holds at most
 * 1/(n+1) of the half, the same amount is left for one more connection, and the
 * reserve is left for other addresses.
 */
static inline bool svc2_transfer_room(long most, long all, long address,
				      long own, long more)
{
	long left = most / 2 - address - more;

	if (!own)
		return min(most - all - more, left) >= 0;
	return own + more <= min(most - most / SVC2_TRANSFER_KEPT - all - more, left);
}

/**
 * svc2_transfer_is_little - check whether a connection would still have little
 * @most: limit on the pages of all connections
 * @conns: connections of its address, or all of them
 * @own: pages that it has
 * @more: pages that it requests
 *
 * If each connection had this amount, they would have a quarter of the whole:
 * at most half of their quota.
 */
static inline bool svc2_transfer_is_little(long most, unsigned int conns, long own,
					   long more)
{
	return own + more <= most / 4 / conns;
}

/**
 * svc2_reply_pages - pages that the Reply to a Call may have
 * @offered: bytes of the Call's Write chunks and Reply chunk
 * @most: pages that a thread has for a Reply
 *
 * Return: number of pages that are counted before the Call is carried out.
 */
static inline unsigned int svc2_reply_pages(u64 offered, unsigned int most)
{
	u64 pages = DIV_ROUND_UP(offered, PAGE_SIZE);

	if (pages <= SVC2_REPLY_FEW)
		return 0;
	return min_t(u64, pages + SVC2_REPLY_BESIDE, most);
}

/**
 * svc2_reply_wrs - Send Queue entries that a Reply with RDMA Writes may take
 * @pages: pages of the memory that its Call offers, up to the limit of a Reply
 * @chunks: Write chunks and the Reply chunk
 * @segs: segments of these
 * @width: pages that an RDMA Write can gather
 *
 * The part of the Reply in a chunk begins and ends within a page, and may cross
 * from the head to the pages and from these to the tail; a segment ends within
 * a page. An RDMA Write of each segment may be narrower than the others.
 *
 * Return: number of entries, including one for the Send.
 */
static inline unsigned int svc2_reply_wrs(unsigned int pages, unsigned int chunks,
					  unsigned int segs, unsigned int width)
{
	unsigned int pieces = pages + 3 * chunks + segs;

	return (pieces + segs * (width - 1)) / width + 1;
}

/**
 * svc2_reply_counts - check whether the pages of a Reply are counted
 * @pages: pages that it has
 * @under_way: Sends of its connection in progress, without those that may have
 *	completed unsignaled
 */
static inline bool svc2_reply_counts(unsigned int pages, int under_way)
{
	return pages > SVC2_REPLY_FEW || (pages && under_way > SVC2_REPLIES_FEW);
}

#endif /* _SVCRDMA2_SHARE_H */
