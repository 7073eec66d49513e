/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SVCRDMA2_CONNS_H
#define _SVCRDMA2_CONNS_H

#include <linux/sunrpc/svc_xprt.h>

#include <rpcrdma2/conn.h>

struct svc2_xprt;

/**
 * struct svc2_ended - a connection that has ended
 * @ed_net: cookie of its network namespace, 0 in an unused entry
 * @ed_peer: address
 * @ed_version: version of its last Call, 0 for none
 * @ed_error: error with which the connection was refused, or 0
 * @ed_end: reason and time of its end, or time of its refusal
 */
struct svc2_ended {
	u64			ed_net;
	char			ed_peer[sizeof_field(struct svc_xprt,
						     xpt_remotebuf)];
	u32			ed_version;
	int			ed_error;
	struct rpcrdma2_end	ed_end;
};

void svc2_conn_list(struct svc2_xprt *sp);
void svc2_conn_unlist(struct svc2_xprt *sp);
void svc2_conn_refused(const struct svc2_xprt *sp, int error);
void svc2_conns_each(void (*fn)(struct svc2_xprt *sp, void *arg), void *arg);
void svc2_ended_each(void (*fn)(const struct svc2_ended *ed, void *arg),
		     void *arg);

#endif /* _SVCRDMA2_CONNS_H */
