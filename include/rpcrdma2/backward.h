/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backward direction: what an end has announced of it, and what that allows.
 */
#ifndef _RPCRDMA2_BACKWARD_H
#define _RPCRDMA2_BACKWARD_H

#include <linux/minmax.h>

#include <rpcrdma2/exchange.h>

/*
 * Of a module parameter with the RDMA2_BKREQSUP of new connections: none, inline or
 * genl. Its value is a u32.
 */
extern const struct kernel_param_ops rpcrdma2_backward_ops;

/**
 * rpcrdma2_backward_own - backward messages that this end takes
 * @ex: properties of the connection
 * @vers: version spoken
 *
 * What was announced, and the default while nothing was (C-024); in version 1, which
 * has no word for it, at most INLINE. C-035 to C-037, S25.
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
 * rpcrdma2_backward_level - backward messages that both ends take
 * @ex: properties of the connection
 * @vers: version spoken
 *
 * In version 1 only the upper layer of the peer knows (B-13), which must have said so
 * in version 2, too (S20, S21).
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
