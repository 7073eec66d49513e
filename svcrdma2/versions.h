/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules that depend on the version of a Call. Pure functions.
 *
 * The server keeps no version for a connection: the answer to a Call has the
 * version of that Call (S35). The codec handles the header layouts. Here are
 * the checks that remain: whether the version is allowed, how large the Send
 * may be, and which handle it may invalidate.
 */
#ifndef _SVCRDMA2_VERSIONS_H
#define _SVCRDMA2_VERSIONS_H

#include <linux/minmax.h>

#include <rpcrdma2/cm.h>
#include <rpcrdma2/exchange.h>
#include <rpcrdma2/plan.h>

/**
 * struct svc2_versions - versions that the administrator allows
 * @vs_low: lowest
 * @vs_high: highest
 */
struct svc2_versions {
	u32	vs_low;
	u32	vs_high;
};

/**
 * svc2_allowed_versions - make a range of two parameters
 * @min: min_version
 * @max: max_version; @min takes precedence when they contradict each other
 *
 * Return: a range that is never empty.
 */
static inline struct svc2_versions svc2_allowed_versions(u32 min, u32 max)
{
	struct svc2_versions vs;

	vs.vs_low = clamp_t(u32, min, RPCRDMA2_VERS_ONE, RPCRDMA2_VERS_TWO);
	vs.vs_high = clamp_t(u32, max, vs.vs_low, RPCRDMA2_VERS_TWO);
	return vs;
}

static inline bool svc2_speaks(const struct svc2_versions *vs, u32 vers)
{
	return vers >= vs->vs_low && vers <= vs->vs_high;
}

/**
 * svc2_send_limit - largest Send toward a requester
 * @vers: version of the message that is answered
 * @cm: private data of the requester, the limit in version 1 (P-04, P-12, E-14,
 *	S28)
 * @ex: properties of both ends, of which the peer's are the limit in version 2
 *	(C-005, S13, S33)
 */
static inline u32 svc2_send_limit(u32 vers, const struct rpcrdma2_cm_limits *cm,
				  const struct rpcrdma2_exchange *ex)
{
	if (vers == RPCRDMA2_VERS_ONE)
		return min(ex->ex_able.pr_sbsiz, cm->cl_recv);
	return rpcrdma2_exchange_send_max(ex);
}

/**
 * svc2_inv_handle - handle that a Reply invalidates
 * @h: header of the Call
 * @cm: the requester's private data, which allows it in version 1 (P-07, P-09)
 *
 * Return: the handle, or 0 for a plain Send.
 */
static inline u32 svc2_inv_handle(const struct rpcrdma2_hdr *h,
				  const struct rpcrdma2_cm_limits *cm)
{
	return rpcrdma2_inv_handle(h, cm->cl_inv);
}

#endif /* _SVCRDMA2_VERSIONS_H */
