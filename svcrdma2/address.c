// SPDX-License-Identifier: GPL-2.0
/*
 * The address that a peer counts by, where a bound is one of an address.
 *
 * With iWARP it is the address of a TCP connection. With InfiniBand and RoCE the IP
 * address is whatever the peer writes into the private data of its request to connect,
 * and the GID whatever it writes into the request itself. On a link neither decides which
 * way the packets of this end take: the queue pair sends to a LID, or a MAC, and only
 * writes the GID into the packets. So there a peer counts by that.
 *
 * The LID is the subnet manager's to give; where a port has several, one after the other,
 * the first stands for all. A host can have more than one MAC, but only as many as the
 * switch lets it have. With RoCE a peer behind a router counts by its GID: the router
 * takes the packets to whom that belongs to, and without an answer from there the
 * connection does not last (SVC2_ESTABLISH_TIMEOUT). With InfiniBand the answer goes to
 * the LID that the request came from, whatever subnet its GIDs are of. A host of this
 * subnet can state another one's, so hosts behind a router share its port's LID. The
 * interface is no part of the address: on a link with more than one of them, which one a
 * request is for is the peer's choice. So hosts with the same LID in two subnets count as
 * one.
 */
#include <linux/completion.h>

#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "address.h"
#include "svcrdma2.h"

/* The route is that of the request, of a moment ago: there is nothing to wait for. */
#define SVC2_ROUTE_MS	1

struct svc2_lookup {
	struct rdma_dev_addr	lk_addr;
	struct completion	lk_done;
	int			lk_status;
};

static void svc2_looked_up(int status, struct sockaddr *src,
			   struct rdma_dev_addr *addr, void *context)
{
	struct svc2_lookup *lk = context;

	lk->lk_status = status;
	complete(&lk->lk_done);
}

static void svc2_find_route(const struct rdma_cm_id *id,
			    const struct sa_path_rec *path, struct svc2_route *rt)
{
	const struct rdma_dev_addr *dev = &id->route.addr.dev_addr;
	struct svc2_lookup lk = { .lk_addr.sgid_attr = dev->sgid_attr,
				  .lk_addr.net = dev->net };
	struct sockaddr_storage src = { }, dst = { };

	if (!dev->sgid_attr)
		return;
	/* what is bound here, not the one that the request names */
	rdma_gid2ip((struct sockaddr *)&src, &dev->sgid_attr->gid);
	rdma_gid2ip((struct sockaddr *)&dst, &path->dgid);
	init_completion(&lk.lk_done);
	if (rdma_resolve_ip((struct sockaddr *)&src, (struct sockaddr *)&dst,
			    &lk.lk_addr, SVC2_ROUTE_MS, svc2_looked_up, true, &lk))
		return;
	wait_for_completion(&lk.lk_done);
	rt->known = !lk.lk_status;
	rt->gateway = lk.lk_addr.network != RDMA_NETWORK_IB;
	memcpy(rt->own, lk.lk_addr.src_dev_addr, ETH_ALEN);
	memcpy(rt->next, lk.lk_addr.dst_dev_addr, ETH_ALEN);
}

static void svc2_address_roce(const struct rdma_cm_id *id, struct sa_path_rec *path,
			      struct sockaddr_storage *address)
{
	struct svc2_route rt = { };

	memcpy(rt.mac, sa_path_get_dmac(path), ETH_ALEN);
	svc2_find_route(id, path, &rt);
	if (svc2_gid_counts(&rt))
		rdma_gid2ip((struct sockaddr *)address, &path->dgid);
	else
		*(struct sockaddr_in6 *)address = svc2_link_address(rt.mac);
}

static void svc2_address_ib(const struct rdma_cm_id *id, struct sa_path_rec *path,
			    struct sockaddr_storage *address)
{
	u8 lmc;

	/* this port's: a subnet manager usually gives all ports of hosts the same */
	if (ib_get_cached_lmc(id->device, id->port_num, &lmc))
		lmc = 0;
	*(struct sockaddr_in6 *)address =
		svc2_lid_address(be32_to_cpu(sa_path_get_dlid(path)), lmc);
}

/**
 * svc2_address - find the address that a peer counts by
 * @sp: connection
 *
 * Context: svc thread; sleeps, but waits for no other host.
 * Return: the address; its port means nothing.
 */
struct sockaddr_storage svc2_address(const struct svc2_xprt *sp)
{
	const struct rdma_cm_id *id = sp->sp_conn.co_id;
	struct sockaddr_storage address = *svc2_peer(sp);
	struct sa_path_rec *path = id->route.path_rec;

	if (!path || !rdma_ib_or_roce(id->device, id->port_num))
		return address;
	if (sa_path_is_roce(path))
		svc2_address_roce(id, path, &address);
	else
		svc2_address_ib(id, path, &address);
	return address;
}
