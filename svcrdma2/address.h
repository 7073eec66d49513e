/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The address that a peer counts by, see transfer.c. Pure.
 */
#ifndef _SVCRDMA2_ADDRESS_H
#define _SVCRDMA2_ADDRESS_H

#include <linux/if_ether.h>
#include <linux/string.h>
#include <linux/types.h>

#include <linux/sunrpc/addr.h>

/**
 * struct svc2_route - where packets to a peer with RoCE go
 * @mac: the queue pair's; the connection manager has it from where the request to
 *	connect came from
 * @known: the routing table has a way to the GID that the peer claims, which the others
 *	are about
 * @own: where that begins
 * @next: where it goes on
 * @gateway: that is a router
 */
struct svc2_route {
	u8	mac[ETH_ALEN];
	bool	known;
	u8	own[ETH_ALEN];
	u8	next[ETH_ALEN];
	bool	gateway;
};

/**
 * svc2_gid_counts - is a GID more than a claim of the peer?
 * @rt: where packets to the peer go
 *
 * A peer behind a router has only its GID to be known by, and one that claims another's
 * gets no packet: the router sends them elsewhere. So it is within this machine. On the
 * link the GID is only written in the packets, and each host has as many as it likes.
 */
static inline bool svc2_gid_counts(const struct svc2_route *rt)
{
	return rt->known && !memcmp(rt->next, rt->mac, ETH_ALEN) &&
	       (rt->gateway || !memcmp(rt->own, rt->mac, ETH_ALEN));
}

/**
 * svc2_link_address - the address that stands for a port on the link
 * @mac: of the port
 *
 * Return: the link-local one that is made from it.
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
 * svc2_lid_address - the address that stands for a port of an InfiniBand subnet
 * @lid: one of its LIDs
 * @lmc: how many low bits of a LID name a path, not a port
 *
 * Return: the link-local one that is made from the port's first LID.
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
