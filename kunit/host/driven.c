// SPDX-License-Identifier: GPL-2.0
/*
 * Substitutes for functions in files of the core and the server that are not part of
 * this build.
 */
#include <rpcrdma2/chunks.h>
#include <rpcrdma2/conn.h>
#include <rpcrdma2/fault.h>

#include "../../rpcrdma2/core.h"
#include "../../svcrdma2/svcrdma2.h"

struct workqueue_struct *rpcrdma2_wq;

struct fault_attr rpcrdma2_faults[] = {
	[0 ... RPCRDMA2_NFAULTS - 1] = FAULT_ATTR_INITIALIZER
};

/* A connection without regions */
void rpcrdma2_conn_init(struct rpcrdma2_conn *co,
			const struct rpcrdma2_conn_ops *ops)
{
	memset(co, 0, sizeof(*co));
	co->co_ops = ops;
	INIT_WORK(&co->co_recv_work, rpcrdma2_recv_work);
	rpcrdma2_sq_init(co);
}

void rpcrdma2_word_show(struct seq_file *seq, const char *key, const char *text)
{
	seq_printf(seq, " %s=%s", key, text);
}

/* No test case returns a Receive. */
void svc2_grant_reposted(struct svc2_xprt *sp, unsigned int reposted)
{
}
