/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parser for a word of the module parameter "pin": a server, or a port of it,
 * and the protocol version to use with it.
 *
 *	192.0.2.1=1  192.0.2.1:20050=2  fd00::2=1  [fd00::2]:20049=2
 */
#ifndef _XPRTRDMA2_PIN_H
#define _XPRTRDMA2_PIN_H

#include <linux/string.h>
#include <linux/sunrpc/addr.h>

#include <net/net_namespace.h>

#include <rpcrdma2/proto.h>

/**
 * struct xprt2_pin - a server and its version
 * @pin_addr: address, and a port or 0 for all of them
 * @pin_vers: RPC-over-RDMA version
 */
struct xprt2_pin {
	struct sockaddr_storage	pin_addr;
	u32			pin_vers;
};

/* An address with several colons can have a port only if it is in brackets. */
static inline char *xprt2_split_port(char *addr)
{
	char *colon;

	if (*addr == '[') {
		colon = strchr(addr, ']');
		if (!colon)
			return NULL;
		*colon++ = '\0';
		return colon;
	}
	colon = strchr(addr, ':');
	if (!colon || strchr(colon + 1, ':'))
		return addr + strlen(addr);
	return colon;
}

/**
 * xprt2_parse_pin - parse a word of the parameter
 * @word: the word; modified
 * @pin: filled in
 *
 * Return: NULL, or text that describes the fault.
 */
static inline const char *xprt2_parse_pin(char *word, struct xprt2_pin *pin)
{
	struct sockaddr *sap = (struct sockaddr *)&pin->pin_addr;
	char *vers = strrchr(word, '='), *addr = word, *end;
	u16 port = 0;

	if (!vers)
		return "no '=' and version behind the address";
	*vers++ = '\0';
	if (kstrtou32(vers, 10, &pin->pin_vers) ||
	    pin->pin_vers < RPCRDMA2_VERS_ONE ||
	    pin->pin_vers > RPCRDMA2_VERS_TWO)
		return "the version is neither 1 nor 2";

	end = xprt2_split_port(addr);
	if (!end || (*end && *end != ':'))
		return "the bracket is not closed, or not followed by ':' and port";
	if (*end) {
		*end++ = '\0';
		if (kstrtou16(end, 10, &port) || !port)
			return "the port is no number from 1 to 65535";
	}
	if (*addr == '[')
		addr++;
	memset(&pin->pin_addr, 0, sizeof(pin->pin_addr));
	if (!rpc_pton(&init_net, addr, strlen(addr), sap,
		      sizeof(pin->pin_addr)))
		return "the address is neither IPv4 nor IPv6";
	rpc_set_port(sap, port);
	return NULL;
}

/**
 * xprt2_pin_fits - compare a pin with a server
 * @pin: pin
 * @sap: address and port of the server
 *
 * Return: 0 for no match, 1 for the address, 2 for address and port.
 */
static inline unsigned int xprt2_pin_fits(const struct xprt2_pin *pin,
					  const struct sockaddr *sap)
{
	const struct sockaddr *pinned = (const struct sockaddr *)&pin->pin_addr;
	unsigned short port = rpc_get_port(pinned);

	if (!rpc_cmp_addr(pinned, sap))
		return 0;
	if (!port)
		return 1;
	return port == rpc_get_port(sap) ? 2 : 0;
}

#endif /* _XPRTRDMA2_PIN_H */
