/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limits of the server, which svcrdma2_sem_kunit.c compiles in for
 * svcrdma2_pages_kunit.c and svcrdma2_sq_kunit.c too: the machine that they see,
 * and functions of theirs alone.
 */
#ifndef _RPCRDMA2_KUNIT_LIMITS_H
#define _RPCRDMA2_KUNIT_LIMITS_H

#include "../svcrdma2/svcrdma2.h"

struct rdma_dev_addr;
struct sockaddr;

typedef void resolved_t(int status, struct sockaddr *src, struct rdma_dev_addr *addr,
			void *context);

/**
 * struct machine - what the limits see of the machine
 * @ram_pages: pages of memory
 * @no_memory: none of it can be allocated
 * @stall_timeout: limit of a thread's wait for Send Queue entries, in jiffies
 * @resolve_ip: the routing table
 * @cached_lmc: LMC of a port
 */
struct machine {
	unsigned long	ram_pages;
	bool		no_memory;
	unsigned long	stall_timeout;
	int		(*resolve_ip)(struct sockaddr *src, const struct sockaddr *dst,
				      struct rdma_dev_addr *addr, unsigned long ms,
				      resolved_t *done, bool by_gid, void *context);
	int		(*cached_lmc)(struct ib_device *dev, u32 port, u8 *lmc);
};

extern struct machine machine;

/* Pages of payload that all connections may have */
long limit_of_pages(void);
/* Connections that there may be */
unsigned int limit_of_connections(void);
/* Entries of the Send Queue to take for the Reply to a Call */
unsigned int entries_of_reply(const struct svc2_xprt *sp, const struct svc2_msg *call);
/* Entries that a Call that waits for some leaves to others */
unsigned int entries_left_by_waiters(const struct svc2_xprt *sp);

#endif /* _RPCRDMA2_KUNIT_LIMITS_H */
