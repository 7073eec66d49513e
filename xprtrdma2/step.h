/* SPDX-License-Identifier: GPL-2.0 */
/* Result of a connect step, from the event that the RDMA CM reports. */
#ifndef _XPRTRDMA2_STEP_H
#define _XPRTRDMA2_STEP_H

#include <linux/errno.h>

#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

/**
 * xprt2_step_error - map an RDMA CM event to the result of the current step
 * @event: of the RDMA CM
 * @status: status of the event: an error, or the reason of a reject
 *
 * For an interface without RDMA, return the error of the in-tree rpcrdma:
 * mount.nfs prints a hint for it.
 *
 * Return: 0 for an event that is not a failure of a step.
 */
static inline int xprt2_step_error(enum rdma_cm_event_type event, int status)
{
	switch (event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return status == -ENODEV ? -EPROTO : -EHOSTUNREACH;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return -ENETUNREACH;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return -ENOTCONN;
	case RDMA_CM_EVENT_UNREACHABLE:
		return -EHOSTUNREACH;
	case RDMA_CM_EVENT_REJECTED:
		/* The server still has the last connection: retry. */
		return status == IB_CM_REJ_STALE_CONN ? -ENOTCONN :
							-ECONNREFUSED;
	default:
		return 0;
	}
}

#endif /* _XPRTRDMA2_STEP_H */
