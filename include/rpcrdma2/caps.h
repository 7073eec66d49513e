/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The abilities of a device, as its attributes have them. Pure.
 *
 * An attribute is an int in older kernels and a u32 in newer ones, where some devices
 * report more than an int holds. So each is taken as a u32, and nothing is subtracted
 * from it before it is known to be there.
 */
#ifndef _RPCRDMA2_CAPS_H
#define _RPCRDMA2_CAPS_H

#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

/* rdma_rw's own bound for the pages of a region */
#define RPCRDMA2_RW_REGION_PAGES	256

/**
 * rpcrdma2_caps_room - the rest of a queue
 * @most: entries that the device can have
 * @beside: entries for something else
 *
 * Return: how many, 0 for too few; as an int has it.
 */
static inline u32 rpcrdma2_caps_room(u32 most, u32 beside)
{
	most = min_t(u32, most, INT_MAX);
	return most > beside ? most - beside : 0;
}

/**
 * rpcrdma2_caps_depth - RDMA Reads at once
 * @most: that the device can have
 *
 * Return: how many, as the connection manager takes it.
 */
static inline u8 rpcrdma2_caps_depth(u32 most)
{
	return min_t(u32, most, U8_MAX);
}

/**
 * struct rpcrdma2_caps_read - how RDMA Reads are carried out
 * @cr_regions: each part goes into a memory region
 * @cr_pages: most pages of a part, the first and the last one as well; 0 for any
 * @cr_width: gather entries of a work request, 0 when the device can not do it
 */
struct rpcrdma2_caps_read {
	bool		cr_regions;
	unsigned int	cr_pages;
	unsigned int	cr_width;
};

/**
 * rpcrdma2_caps_reads - find out how RDMA Reads are carried out
 * @needs: the device takes memory regions for all of them
 * @region: pages of a region, as the device reports it
 * @threshold: gather entries from which on rdma_rw takes a region where it is not
 *	needed, 0 for never
 * @sges: gather entries of an RDMA Read
 *
 * Where regions are needed a part is what one of them takes. The IOMMU may make one
 * piece of all pages of a part, and rdma_rw does not divide a piece. Where they are
 * not, there are none, and a part has no more entries than rdma_rw does without.
 */
static inline struct rpcrdma2_caps_read
rpcrdma2_caps_reads(bool needs, u32 region, u32 threshold, u32 sges)
{
	if (needs) {
		region = min_t(u32, region, RPCRDMA2_RW_REGION_PAGES);
		return (struct rpcrdma2_caps_read){
			.cr_regions = true, .cr_pages = region,
			.cr_width = region ? sges : 0,
		};
	}
	if (!threshold || !sges)
		return (struct rpcrdma2_caps_read){ .cr_width = sges };
	sges = min(sges, threshold);
	return (struct rpcrdma2_caps_read){
		.cr_pages = threshold / sges * sges, .cr_width = sges,
	};
}

/**
 * rpcrdma2_caps_cut - where a part ends
 * @pages: most pages that it may have, 0 for any
 * @off: where it begins in the first one
 * @len: bytes that are left to be read
 *
 * Return: bytes of the part.
 */
static inline u32 rpcrdma2_caps_cut(unsigned int pages, u32 off, u32 len)
{
	return pages ? min_t(u64, len, pages * (u64)PAGE_SIZE - off) : len;
}

#endif /* _RPCRDMA2_CAPS_H */
