// SPDX-License-Identifier: GPL-2.0
/* Loss of a connection, with a reason and advice for the administrator */
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/printk.h>

#include <rpcrdma2/conn.h>

#include "trace.h"

/* Indexed by enum rpcrdma2_loss */
#define LOSS_ROW(_name, ...)	{ __VA_ARGS__ },
static const struct {
	const char	*name;
	bool		innocent;
	const char	*advice;
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

enum rpcrdma2_loss rpcrdma2_conn_ended(const struct rpcrdma2_conn *co,
				       struct rpcrdma2_end *en,
				       const char *module, const char *what)
{
	enum rpcrdma2_loss why = rpcrdma2_conn_why(co);

	WRITE_ONCE(en->en_at, ktime_get_boottime_seconds());
	WRITE_ONCE(en->en_why, why);
	if (losses[why].advice)
		pr_warn_ratelimited("%s: the connection %s has ended: %s; %s\n",
				    module, what, losses[why].name,
				    losses[why].advice);
	return why;
}
EXPORT_SYMBOL_GPL(rpcrdma2_conn_ended);

void rpcrdma2_end_show(struct seq_file *seq, const struct rpcrdma2_end *en)
{
	enum rpcrdma2_loss why = READ_ONCE(en->en_why);

	if (why == RPCRDMA2_LOSS_NONE)
		return;
	rpcrdma2_word_show(seq, "ended", losses[why].name);
	seq_printf(seq, " ended_ago=%lld",
		   ktime_get_boottime_seconds() - READ_ONCE(en->en_at));
}
EXPORT_SYMBOL_GPL(rpcrdma2_end_show);
