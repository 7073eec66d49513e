/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Substitutes for <linux/sunrpc/addr.h> and <net/net_namespace.h>: addresses of
 * servers, as sunrpc parses and compares them. Scopes of link-local addresses are not
 * supported.
 */
#ifndef _RPCRDMA2_HOST_INET_H
#define _RPCRDMA2_HOST_INET_H

#include <arpa/inet.h>
#include <netinet/in.h>

#include "shim.h"

#define ETH_ALEN		6

struct net {
	u64	net_cookie;
};

static struct net init_net __maybe_unused;

static inline in_port_t *host_port(const struct sockaddr *sap)
{
	if (sap->sa_family == AF_INET6)
		return &((struct sockaddr_in6 *)sap)->sin6_port;
	return &((struct sockaddr_in *)sap)->sin_port;
}

static inline unsigned short rpc_get_port(const struct sockaddr *sap)
{
	return ntohs(*host_port(sap));
}

static inline void rpc_set_port(struct sockaddr *sap, unsigned short port)
{
	*host_port(sap) = htons(port);
}

static inline size_t svc_addr_len(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
					   sizeof(struct sockaddr_in);
}

/* Return: the size of the address, or 0 if the text is not an address. */
static inline size_t rpc_pton(struct net *net, const char *text, size_t len,
			      struct sockaddr *sap, size_t room)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)sap;
	struct sockaddr_in *sin = (struct sockaddr_in *)sap;
	char copy[INET6_ADDRSTRLEN];

	if (len >= sizeof(copy) || room < sizeof(*sin6))
		return 0;
	memcpy(copy, text, len);
	copy[len] = '\0';
	memset(sap, 0, sizeof(*sin6));
	if (inet_pton(AF_INET, copy, &sin->sin_addr) == 1) {
		sap->sa_family = AF_INET;
		return sizeof(*sin);
	}
	if (inet_pton(AF_INET6, copy, &sin6->sin6_addr) == 1) {
		sap->sa_family = AF_INET6;
		return sizeof(*sin6);
	}
	return 0;
}

/* As in the kernel, this ignores the ports. */
static inline bool rpc_cmp_addr(const struct sockaddr *a,
				const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr,
			       sizeof(struct in6_addr));
	return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

#endif /* _RPCRDMA2_HOST_INET_H */
