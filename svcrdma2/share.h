/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much payload a connection may have, and a Reply is counted as, in pages and in
 * entries of the Send Queue. Pure.
 */
#ifndef _SVCRDMA2_SHARE_H
#define _SVCRDMA2_SHARE_H

#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

/* one in so many pages of the whole is kept for connections without any */
#define SVC2_TRANSFER_KEPT	8
/* a Reply with no more pages does not count: 32 KiB, and a page in any case */
#define SVC2_REPLY_FEW		DIV_ROUND_UP(32768, PAGE_SIZE)
/* while there are no more of them */
#define SVC2_REPLIES_FEW	16
/* what a Reply has beside its payload: head, tail, and a page that begins before it */
#define SVC2_REPLY_BESIDE	3

/**
 * svc2_transfer_room - may a connection have more pages?
 * @most: pages that all connections may have
 * @all: that they have
 * @address: that those of its address have
 * @own: that it has
 * @more: that it asks for
 *
 * Those of one address may have half of the whole. A connection without any pages may
 * have what there is. One with some may have as much as is left afterwards, of the half
 * and of the whole without what is kept. So however many connections take what they can
 * get, there is as much left for one more of the address as each of them has, and what
 * is kept for one of another.
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
 * svc2_transfer_is_little - would a connection still have little?
 * @most: pages that all connections may have
 * @conns: connections of its address, or all of them
 * @own: pages that it has
 * @more: that it asks for
 *
 * If each had so much, they would have a quarter of the whole: half of what is theirs, or
 * less.
 */
static inline bool svc2_transfer_is_little(long most, unsigned int conns, long own,
					   long more)
{
	return own + more <= most / 4 / conns;
}

/**
 * svc2_reply_pages - pages that the Reply to a Call may have
 * @offered: octets of the Call's Write chunks and Reply chunk
 * @most: pages that a thread has for a Reply
 *
 * Return: how many are counted before the Call is carried out.
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
 * @pages: of the memory that its Call offers, as many as it may have at most
 * @chunks: Write chunks and the Reply chunk
 * @segs: segments of these
 * @width: pages that an RDMA Write can gather
 *
 * A chunk's part of the Reply begins and ends within a page, and may cross from the head
 * to the pages and from these to the tail; a segment ends within a page. An RDMA Write
 * of each segment may be narrower than the others.
 *
 * Return: how many, with one for the Send.
 */
static inline unsigned int svc2_reply_wrs(unsigned int pages, unsigned int chunks,
					  unsigned int segs, unsigned int width)
{
	unsigned int pieces = pages + 3 * chunks + segs;

	return (pieces + segs * (width - 1)) / width + 1;
}

/**
 * svc2_reply_counts - does a Reply count?
 * @pages: pages that it has
 * @under_way: Sends of its connection, without as many as may be done unreported
 */
static inline bool svc2_reply_counts(unsigned int pages, int under_way)
{
	return pages > SVC2_REPLY_FEW || (pages && under_way > SVC2_REPLIES_FEW);
}

#endif /* _SVCRDMA2_SHARE_H */
