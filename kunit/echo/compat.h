/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels in the functions for an RPC service. Only this program
 * uses them.
 */
#ifndef _ECHO_COMPAT_H
#define _ECHO_COMPAT_H

#include <features.h>

#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/svcsock.h>

/* A member of svc_version, an array for each processor */
#ifdef RPCRDMA2_HAS_SVC_VERSION_COUNT
#define ECHO_VERSION_COUNT(calls)	.vs_count = calls,
#else
#define ECHO_VERSION_COUNT(calls)
#endif

/**
 * echo_backward_pages - get pages for the Reply to a backward Call
 * @rqstp: context of the thread that processes the Call
 *
 * Return: the pages of the thread behind the first one, up to rq_page_end.
 */
static inline struct page **echo_backward_pages(struct svc_rqst *rqstp)
{
#ifdef RPCRDMA2_HAS_SVC_REPLY_PAGES
	return rqstp->rq_respages + 1;
#else
	return rqstp->rq_pages + 1;
#endif
}

/**
 * echo_set_threads - set the number of a service's threads
 * @serv: service
 * @count: threads in all of its pools together
 *
 * Return: 0, or a negative errno.
 */
static inline int echo_set_threads(struct svc_serv *serv, unsigned int count)
{
#ifdef RPCRDMA2_HAS_SVC_LEAST_THREADS
	return svc_set_num_threads(serv, 0, count);
#else
	return svc_set_num_threads(serv, NULL, count);
#endif
}

/**
 * echo_recv - process one Call; wait until there is one
 * @rqstp: context of the thread
 */
static inline void echo_recv(struct svc_rqst *rqstp)
{
#ifdef RPCRDMA2_HAS_SVC_LEAST_THREADS
	svc_recv(rqstp, 0);
#else
	svc_recv(rqstp);
#endif
}

/**
 * echo_destroy_xprts - close all transports of a service without rpcbind
 * @serv: service
 * @net: network namespace of the transports
 */
static inline void echo_destroy_xprts(struct svc_serv *serv, struct net *net)
{
#ifdef RPCRDMA2_HAS_SVC_LEAST_THREADS
	svc_xprt_destroy_all(serv, net, false);
#else
	svc_xprt_destroy_all(serv, net);
#endif
}

#endif /* _ECHO_COMPAT_H */
