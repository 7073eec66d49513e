// SPDX-License-Identifier: GPL-2.0
/*
 * What each transport is connected to, and how: a line each in debugfs,
 * xprtrdma2/connections. The server's file of that name has the same words:
 * "send" is the largest message that this end sends, "receive" the largest that
 * it can be sent.
 */
#include "xprtrdma2.h"

#include <linux/debugfs.h>
#include <linux/seq_file.h>

static DEFINE_MUTEX(transports_lock);	/* guards the list */
static LIST_HEAD(transports);

/**
 * xprt2_list_transport - show a transport
 * @xp: transport, complete
 */
void xprt2_list_transport(struct xprt2_xprt *xp)
{
	mutex_lock(&transports_lock);
	list_add_tail(&xp->xp_listed, &transports);
	mutex_unlock(&transports_lock);
}

/**
 * xprt2_unlist_transport - show it no more
 * @xp: transport, also one that was never shown
 */
void xprt2_unlist_transport(struct xprt2_xprt *xp)
{
	mutex_lock(&transports_lock);
	list_del_init(&xp->xp_listed);
	mutex_unlock(&transports_lock);
}

static const char *phase_name(const struct xprt2_ep *ep)
{
	if (!xprt2_ep_is_ready(ep))
		return "down";
	return READ_ONCE(ep->ep_nego.ng_phase) == XPRT2_TRIAL ? "trial" : "up";
}

static void show_transport(struct seq_file *seq, struct xprt2_xprt *xp)
{
	const struct xprt2_ep *ep;

	seq_printf(seq, "peer=%pISpc", &xp->xp_xprt.addr);
	mutex_lock(&xp->xp_fence_mutex);
	ep = xp->xp_ep;
	if (ep)
		seq_printf(seq, " state=%s device=%s version=%u credits=%u receive=%u send=%u\n",
			   phase_name(ep),
			   rpcrdma2_conn_device(&ep->ep_conn)->name,
			   ep->ep_vers, READ_ONCE(ep->ep_grant),
			   READ_ONCE(ep->ep_reply_threshold),
			   READ_ONCE(ep->ep_call_threshold));
	else
		seq_puts(seq, " state=down\n");
	mutex_unlock(&xp->xp_fence_mutex);
}

static int xprt2_connections_show(struct seq_file *seq, void *unused)
{
	struct xprt2_xprt *xp;

	mutex_lock(&transports_lock);
	list_for_each_entry(xp, &transports, xp_listed)
		show_transport(seq, xp);
	mutex_unlock(&transports_lock);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(xprt2_connections);

/**
 * xprt2_connections_init - make the file
 * @dir: folder in debugfs
 */
void xprt2_connections_init(struct dentry *dir)
{
	debugfs_create_file("connections", 0444, dir, NULL,
			    &xprt2_connections_fops);
}
