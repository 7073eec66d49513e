// SPDX-License-Identifier: GPL-2.0
/*
 * How a connection is lost, and why.
 */
#include <linux/export.h>

#include <rpcrdma2/conn.h>

#include "trace.h"

/* In the order of enum rpcrdma2_loss */
#define LOSS_ROW(_name, ...)	{ __VA_ARGS__ },
static const struct {
	const char	*name;
	bool		innocent;
} losses[] = {
	{ "none" },
	RPCRDMA2_LOSSES(LOSS_ROW)
};

bool rpcrdma2_loss_is_innocent(enum rpcrdma2_loss why)
{
	return losses[why].innocent;
}
EXPORT_SYMBOL_GPL(rpcrdma2_loss_is_innocent);

const char *rpcrdma2_loss_name(enum rpcrdma2_loss why)
{
	return losses[why].name;
}
EXPORT_SYMBOL_GPL(rpcrdma2_loss_name);

void rpcrdma2_conn_blame(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	if (rpcrdma2_loss_is_innocent(why))
		atomic_set(&co->co_why, why);
	else
		atomic_cmpxchg(&co->co_why, RPCRDMA2_LOSS_NONE, why);
}
EXPORT_SYMBOL_GPL(rpcrdma2_conn_blame);

void rpcrdma2_conn_lose(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	rpcrdma2_conn_blame(co, why);
	if (atomic_xchg(&co->co_lost, true))
		return;
	why = rpcrdma2_conn_why(co);
	trace_rpcrdma2_lost(co, why);
	co->co_ops->lost(co, why);
}
EXPORT_SYMBOL_GPL(rpcrdma2_conn_lose);
