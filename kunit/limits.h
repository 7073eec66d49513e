/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server's limits. svcrdma2_sem_kunit.c compiles them in, and svcrdma2_pages_kunit.c
 * and svcrdma2_sq_kunit.c use the same copy. This header declares the simulated machine and
 * wrappers of static functions.
 */
#ifndef _RPCRDMA2_KUNIT_LIMITS_H
#define _RPCRDMA2_KUNIT_LIMITS_H

#include "../svcrdma2/svcrdma2.h"

struct rdma_dev_addr;
struct sockaddr;

typedef void resolved_t(int status, struct sockaddr *src, struct rdma_dev_addr *addr,
			void *context);

/**
 * struct machine - the machine as the limits see it
 * @ram_pages: pages of memory
 * @high_pages: of these, pages that the kernel maps only temporarily
 * @no_memory: all allocations fail
 * @stall_timeout: limit of a thread's wait for Send Queue entries, in jiffies
 * @resolve_ip: looks up a route
 * @cached_lmc: returns the LMC of a port
 */
struct machine {
	unsigned long	ram_pages, high_pages;
	bool		no_memory;
	unsigned long	stall_timeout;
	int		(*resolve_ip)(struct sockaddr *src, const struct sockaddr *dst,
				      struct rdma_dev_addr *addr, unsigned long ms,
				      resolved_t *done, bool by_gid, void *context);
	int		(*cached_lmc)(struct ib_device *dev, u32 port, u8 *lmc);
};

extern struct machine machine;

/* Limit on the pages of payload of all connections */
long limit_of_pages(void);
/* Limit on the number of connections */
unsigned int limit_of_connections(void);
/* Number of Send Queue entries for the Reply to a Call */
unsigned int entries_of_reply(const struct svc2_xprt *sp, const struct svc2_msg *call);
/* Number of entries that a waiting Call leaves to other users */
unsigned int entries_left_by_waiters(const struct svc2_xprt *sp);

#endif /* _RPCRDMA2_KUNIT_LIMITS_H */
