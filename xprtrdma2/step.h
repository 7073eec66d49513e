/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a step of connecting ends, by what the RDMA CM reports.
 */
#ifndef _XPRTRDMA2_STEP_H
#define _XPRTRDMA2_STEP_H

#include <linux/errno.h>

#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

/**
 * xprt2_step_error - what an event means to the step that waits for it
 * @event: of the RDMA CM
 * @status: what goes with it: an error, or why the connection is refused
 *
 * For an interface without RDMA mount.nfs has a hint, which it gives for the error
 * that rpcrdma has for it.
 *
 * Return: 0 for an event that is no failure of a step.
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
		/* The server still holds the last connection: try again. */
		return status == IB_CM_REJ_STALE_CONN ? -ENOTCONN :
							-ECONNREFUSED;
	default:
		return 0;
	}
}

#endif /* _XPRTRDMA2_STEP_H */
