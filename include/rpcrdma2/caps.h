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
#include <linux/minmax.h>
#include <linux/types.h>

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

#endif /* _RPCRDMA2_CAPS_H */
