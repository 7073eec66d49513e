/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the RPC layer that the server's semaphores use. A connection has XPT_BUSY
 * set all the time, so that no thread takes it up.
 */
#ifndef _RPCRDMA2_HOST_SUNRPC_H
#define _RPCRDMA2_HOST_SUNRPC_H

#include "inet.h"
#include "system.h"

#define RPCSVC_MAXPAYLOAD	(1U << 20)

/* Bits of xpt_flags and rq_flags */
enum {
	XPT_BUSY,
	XPT_CLOSE,
	XPT_DATA,
	XPT_DEAD,
	XPT_DEFERRED,
	RQ_SECURE		= 0,
};

/* No Call waits for credits. */
struct rpc_xprt {
	unsigned long	state;
};

#define XPRT_CWND_WAIT			0
#define xprt_wait_for_buffer_space(xprt)	((void)0)
#define xprt_write_space(xprt)			((void)0)

struct svc_xprt_class;
struct xprt_class;

struct rpc_rqst {
	void	*rq_buffer;
};

struct svc_serv {
	unsigned int	sv_max_mesg;
};

struct svc_xprt {
	unsigned long	xpt_flags;
	struct svc_serv	*xpt_server;
	struct net	*xpt_net;
	char		xpt_remotebuf[56];
	atomic_t	xpt_nr_rqsts;
};

struct svc_rqst {
	struct svc_xprt	*rq_xprt;
	void		*rq_xprt_ctxt;
	unsigned long	rq_flags;
	struct svc_serv	*rq_server;
	struct page	**rq_pages;
	struct page	**rq_respages;
	struct page	**rq_next_page;
	void		*rq_deferred;
	int		rq_prot;
	struct xdr_buf	rq_arg;
};

#define svc_serv_maxpages(serv) \
	((unsigned long)DIV_ROUND_UP((serv)->sv_max_mesg, PAGE_SIZE) + 3)
#define rpcrdma2_rqst_call_taken(rqstp, end)	((void)0)
#define rpcrdma2_rqst_reply_taken(rqstp, first)	((void)(first))
#define svc_xprt_copy_addrs(rqstp, xprt)	((void)0)
#define svc_xprt_enqueue(xprt) \
	must_not(!test_bit(XPT_BUSY, &(xprt)->xpt_flags))

static inline bool svc_xprt_is_dead(const struct svc_xprt *xprt)
{
	return test_bit(XPT_DEAD, &xprt->xpt_flags) ||
	       test_bit(XPT_CLOSE, &xprt->xpt_flags);
}

#endif /* _RPCRDMA2_HOST_SUNRPC_H */
