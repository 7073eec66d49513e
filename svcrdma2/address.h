/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address by which the limits of a peer are counted, see limits.c. Pure
 * functions.
 */
#ifndef _SVCRDMA2_ADDRESS_H
#define _SVCRDMA2_ADDRESS_H

#include <linux/if_ether.h>
#include <linux/string.h>
#include <linux/types.h>

#include <linux/sunrpc/addr.h>

/**
 * struct svc2_route - route of packets to a peer with RoCE
 * @mac: destination MAC of the queue pair; the connection manager takes it from
 *	the source of the request to connect
 * @known: the routing table has a route to the GID that the peer claims; the
 *	members below describe that route
 * @own: source MAC of the route
 * @next: MAC of its next hop
 * @gateway: the next hop is a router
 */
struct svc2_route {
	u8	mac[ETH_ALEN];
	bool	known;
	u8	own[ETH_ALEN];
	u8	next[ETH_ALEN];
	bool	gateway;
};

/**
 * svc2_gid_counts - check whether a GID is more than a claim of the peer
 * @rt: route of packets to the peer
 *
 * A peer behind a router is known by its GID only. If it claims the GID of
 * another host, the router sends the packets to that host, and the peer
 * receives none. The same holds within this machine. On the link the GID is
 * just a field of the packets, and a host can use any number of GIDs.
 */
static inline bool svc2_gid_counts(const struct svc2_route *rt)
{
	return rt->known && !memcmp(rt->next, rt->mac, ETH_ALEN) &&
	       (rt->gateway || !memcmp(rt->own, rt->mac, ETH_ALEN));
}

/**
 * svc2_link_address - build the address that stands for a port on the link
 * @mac: MAC of the port
 *
 * Return: the link-local address made from @mac.
 */
static inline struct sockaddr_in6 svc2_link_address(const u8 *mac)
{
	return (struct sockaddr_in6){
		.sin6_family = AF_INET6,
		.sin6_addr.s6_addr = {
			0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2], 0xff,
			0xfe, mac[3], mac[4], mac[5],
		},
	};
}

/**
 * svc2_lid_address - build the address that stands for an InfiniBand port
 * @lid: a LID of the port
 * @lmc: number of low bits of a LID that select a path, not a port
 *
 * Return: the link-local address made from the port's first LID.
 */
static inline struct sockaddr_in6 svc2_lid_address(u32 lid, u8 lmc)
{
	const u32 first = lid >> lmc << lmc;
	const u8 mac[ETH_ALEN] = {
		[2] = first >> 24, first >> 16 & 0xff, first >> 8 & 0xff, first & 0xff,
	};

	return svc2_link_address(mac);
}

#endif /* _SVCRDMA2_ADDRESS_H */
