/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capabilities of a device, derived from its attributes. Pure functions.
 *
 * An attribute is an int in older kernels and a u32 in newer kernels, where
 * some devices report more than INT_MAX. So attributes are passed as u32, and
 * compared before anything is subtracted from them.
 */
#ifndef _RPCRDMA2_CAPS_H
#define _RPCRDMA2_CAPS_H

#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

/* Limit of rdma_rw for the pages of a region */
#define RPCRDMA2_RW_REGION_PAGES	256

/**
 * rpcrdma2_caps_room - entries left in a queue
 * @most: entries that the device supports
 * @beside: entries for other purposes
 *
 * Return: the entries left, at most INT_MAX; 0 if there are too few.
 */
static inline u32 rpcrdma2_caps_room(u32 most, u32 beside)
{
	most = min_t(u32, most, INT_MAX);
	return most > beside ? most - beside : 0;
}

/**
 * rpcrdma2_caps_depth - number of concurrent RDMA Reads
 * @most: limit of the device
 *
 * Return: the number in the range of the connection manager.
 */
static inline u8 rpcrdma2_caps_depth(u32 most)
{
	return min_t(u32, most, U8_MAX);
}

/**
 * struct rpcrdma2_caps_read - properties of RDMA Reads on a device
 * @cr_regions: every part uses a memory region
 * @cr_pages: most pages of a part, including a partial first or last page; 0
 *	for no limit
 * @cr_width: gather entries of a work request, 0 if the device does not support
 *	RDMA Reads
 */
struct rpcrdma2_caps_read {
	bool		cr_regions;
	unsigned int	cr_pages;
	unsigned int	cr_width;
};

/**
 * rpcrdma2_caps_reads - determine how RDMA Reads are carried out
 * @needs: the device needs memory regions for all of them
 * @region: pages of a region, as reported by the device
 * @threshold: gather entries from which on rdma_rw uses a region that is not
 *	required, 0 for never
 * @sges: gather entries of an RDMA Read
 *
 * If regions are required, a part is limited to one region: the IOMMU may merge
 * all pages of a part into one piece, and rdma_rw does not divide a piece.
 * Otherwise no regions are used, and a part is limited to the entries that
 * rdma_rw handles without a region.
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
 * rpcrdma2_caps_cut - length of a part
 * @pages: most pages of a part, 0 for no limit
 * @off: offset of the part in its first page
 * @len: bytes left to read
 *
 * Return: bytes of the part.
 */
static inline u32 rpcrdma2_caps_cut(unsigned int pages, u32 off, u32 len)
{
	return pages ? min_t(u64, len, pages * (u64)PAGE_SIZE - off) : len;
}

#endif /* _RPCRDMA2_CAPS_H */
