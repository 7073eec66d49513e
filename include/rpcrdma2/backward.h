/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backward direction: the level of support that an end has announced, and
 * the Calls that this permits.
 */
#ifndef _RPCRDMA2_BACKWARD_H
#define _RPCRDMA2_BACKWARD_H

#include <linux/minmax.h>

#include <rpcrdma2/exchange.h>

/*
 * Operations of a module parameter that sets the RDMA2_BKREQSUP of new
 * connections: none, inline or genl. The value is a u32.
 */
extern const struct kernel_param_ops rpcrdma2_backward_ops;

/**
 * rpcrdma2_backward_own - backward messages that this end accepts
 * @ex: properties of the connection
 * @vers: version of the connection
 *
 * This is the announced level, or the default before an announcement (C-024);
 * in version 1, which cannot announce a level, at most INLINE (C-035 to C-037,
 * S25).
 *
 * Return: enum rpcrdma2_bkreqsup.
 */
static inline u32 rpcrdma2_backward_own(const struct rpcrdma2_exchange *ex,
					u32 vers)
{
	u32 own = min(READ_ONCE(ex->ex_told.pr_brs), ex->ex_able.pr_brs);

	return vers == RPCRDMA2_VERS_ONE ?
	       min_t(u32, own, RDMA2_BKREQSUP_INLINE) : own;
}

/**
 * rpcrdma2_backward_level - backward messages that both ends accept
 * @ex: properties of the connection
 * @vers: version of the connection
 *
 * In version 1 only the upper layer of the peer knows its level (B-13). In
 * version 2 the upper layer must permit backward Calls, too (S20, S21).
 *
 * Return: enum rpcrdma2_bkreqsup.
 */
static inline u32 rpcrdma2_backward_level(const struct rpcrdma2_exchange *ex,
					  u32 vers)
{
	u32 own = rpcrdma2_backward_own(ex, vers);

	return vers == RPCRDMA2_VERS_ONE ? own :
	       min(own, READ_ONCE(ex->ex_peer.pp_now.pr_brs));
}

#endif /* _RPCRDMA2_BACKWARD_H */
