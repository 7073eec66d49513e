// SPDX-License-Identifier: GPL-2.0
/*
 * What the log says when there is no connection: what is wrong, and what can be
 * done about it. Documentation/troubleshooting.rst has every line.
 *
 * A transport that goes on trying says each thing once until it is connected.
 */
#include "xprtrdma2.h"

#include <linux/ktime.h>

/**
 * xprt2_report_device - a device is no good
 * @ep: endpoint
 * @what: the device can not do
 */
void xprt2_report_device(struct xprt2_ep *ep, const char *what)
{
	struct xprt2_xprt *xp = ep->ep_xp;

	if (xp->xp_told == -EOPNOTSUPP)
		return;
	xp->xp_told = -EOPNOTSUPP;
	pr_err("xprtrdma2: device %s %s; use another device\n",
	       ep->ep_conn.co_id->device->name, what);
}

/**
 * xprt2_report_regions - an RPC waits for more memory regions than there are
 * @ep: endpoint, on which no more can be allocated now
 * @wanted: how many it needs
 *
 * The RPCs behind it wait as well.
 *
 * Context: connect, or the core's workqueue; once for each connection.
 */
void xprt2_report_regions(const struct xprt2_ep *ep, u32 wanted)
{
	const struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;

	pr_warn_ratelimited("xprtrdma2: RPCs to server %s port %s wait: one needs %u memory regions, and device %s gives no more than %u; see 'free' and 'rdma resource'\n",
			    xprt->address_strings[RPC_DISPLAY_ADDR],
			    xprt->address_strings[RPC_DISPLAY_PORT], wanted,
			    ep->ep_conn.co_id->device->name,
			    ep->ep_conn.co_regions.rg_num);
}

#define NO_ANSWER	"no answer; see that it is up and no firewall is in between (RoCE: UDP port 4791)"

static const struct {
	int		error;
	const char	*text;
} advices[] = {
	{ -EPROTO,
	  "the interface on the way there has no RDMA device; see 'rdma link', or mount with proto=tcp",
	},
	{ -ECONNREFUSED,
	  "it refuses; load svcrdma2 there and let nfsd listen on that port ('rdma=y' in nfs.conf), and see its log",
	},
	{ -ENETUNREACH, NO_ANSWER },
	{ -EHOSTUNREACH, NO_ANSWER },
	{ -ETIMEDOUT, NO_ANSWER },
	{ -ENOBUFS,
	  "no memory for queues and buffers here; see 'free', or lower the module parameters slots and receive_size",
	},
};

static const char *what_to_do(int error)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(advices); i++)
		if (advices[i].error == error)
			return advices[i].text;
	return NULL;
}

/**
 * xprt2_report_connect - an attempt to connect is over
 * @xp: transport
 * @status: 0, or what the RPC layer is told
 *
 * Context: connect.
 */
void xprt2_report_connect(struct xprt2_xprt *xp, int status)
{
	const struct rpc_xprt *xprt = &xp->xp_xprt;
	const char *text = what_to_do(status);

	WRITE_ONCE(xp->xp_error_at, ktime_get_boottime_seconds());
	WRITE_ONCE(xp->xp_error, status);
	if (!status)
		xp->xp_told = 0;
	if (!text || xp->xp_told == status)
		return;
	xp->xp_told = status;
	pr_warn_ratelimited("xprtrdma2: no connection to server %s port %s: %s\n",
			    xprt->address_strings[RPC_DISPLAY_ADDR],
			    xprt->address_strings[RPC_DISPLAY_PORT], text);
}

/**
 * xprt2_report_version_one - a server is found to be of version 1
 * @xp: transport
 * @why: its answer in version 2
 */
void xprt2_report_version_one(const struct xprt2_xprt *xp, const char *why)
{
	const struct rpc_xprt *xprt = &xp->xp_xprt;

	pr_info_ratelimited("xprtrdma2: version 1 of RPC-over-RDMA with server %s port %s (%s); version 2 is asked for again after %lu minutes\n",
			    xprt->address_strings[RPC_DISPLAY_ADDR],
			    xprt->address_strings[RPC_DISPLAY_PORT], why,
			    XPRT2_MEMORY_TIME / (60 * HZ));
}

/**
 * xprt2_report_end - a connection has ended
 * @ep: endpoint
 */
void xprt2_report_end(struct xprt2_ep *ep)
{
	struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	char what[80];

	snprintf(what, sizeof(what), "to server %s port %s",
		 xprt->address_strings[RPC_DISPLAY_ADDR],
		 xprt->address_strings[RPC_DISPLAY_PORT]);
	xprt2_count_ended(rpcrdma2_conn_ended(&ep->ep_conn, &ep->ep_xp->xp_end,
					      "xprtrdma2", what));
}
