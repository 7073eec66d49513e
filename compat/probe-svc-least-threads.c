// SPDX-License-Identifier: GPL-2.0
/*
 * A service has a minimum number of threads, further threads end after a timeout, and
 * svc_xprt_destroy_all() takes a flag for unregistering from rpcbind. Only
 * kunit/echo/ uses this.
 */
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svcsock.h>

#ifndef RPCRDMA2_PROBE_WITHOUT
static inline void probe(struct svc_serv *serv, struct svc_rqst *rqstp,
			 struct net *net)
{
	int (*set)(struct svc_serv *serv, unsigned int least,
		   unsigned int most) = svc_set_num_threads;

	set(serv, 0, 0);
	svc_recv(rqstp, 0);
	svc_xprt_destroy_all(serv, net, false);
}
#else
static inline void probe(struct svc_serv *serv, struct net *net)
{
	svc_set_num_threads(serv, NULL, 0);
	svc_xprt_destroy_all(serv, net);
}
#endif
