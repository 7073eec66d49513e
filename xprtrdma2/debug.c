// SPDX-License-Identifier: GPL-2.0
/* Diagnostics: counters, /proc/net/rpc/xprtrdma2 and debugfs */

#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include <linux/sunrpc/addr.h>

#include <rpcrdma2/fault.h>

#include "xprtrdma2.h"

/*
 * /proc/net/rpc/xprtrdma2: a line of key=value for each transport, without
 * blanks in a value, for all users. New keys are added at the end. As in the
 * server's file "send" is the largest message that this end sends, "receive"
 * the largest that can be sent to it.
 */

/* Print the connection, which may still be under construction. */
static void xprt2_view_connection(struct seq_file *seq,
				  const struct xprt2_ep *ep)
{
	const char *why = READ_ONCE(ep->ep_why);

	seq_printf(seq, " device=%s version=%u credits=%u receive=%u send=%u local=%pISpc",
		   rpcrdma2_conn_device(&ep->ep_conn)->name, READ_ONCE(ep->ep_vers),
		   READ_ONCE(ep->ep_grant), READ_ONCE(ep->ep_reply_threshold),
		   READ_ONCE(ep->ep_call_threshold),
		   &ep->ep_conn.co_id->route.addr.src_addr);
	if (why)
		rpcrdma2_word_show(seq, "why", why);
	rpcrdma2_peer_show(seq, &ep->ep_ex.ex_peer);
}

static void xprt2_view_transport(struct seq_file *seq, struct xprt2_xprt *xp)
{
	const struct xprt2_stats *st = &xp->xp_stats;
	struct rpc_xprt *xprt = &xp->xp_xprt;
	const char *state = "down";
	struct xprt2_ep *ep;

	guard(mutex)(&xp->xp_fence_mutex);
	ep = xp->xp_ep;
	if (ep && xprt2_ep_is_ready(ep))
		state = READ_ONCE(ep->ep_nego.ng_phase) == XPRT2_TRIAL ?
			"trial" : "up";
	seq_printf(seq, "peer=%pISpc state=%s", &xprt->addr, state);
	if (ep)
		xprt2_view_connection(seq, ep);
	seq_printf(seq, " netid=%s used=%lu waiting=%u connects=%lu",
		   xprt->address_strings[RPC_DISPLAY_NETID],
		   READ_ONCE(xprt->cong) >> RPC_CWNDSHIFT,
		   READ_ONCE(xprt->backlog.qlen), xprt->stat.connect_count);
	seq_printf(seq, " read_chunks=%lu write_chunks=%lu reply_chunks=%lu bad_replies=%lu",
		   READ_ONCE(st->st_read_chunks), READ_ONCE(st->st_write_chunks),
		   READ_ONCE(st->st_reply_chunks), READ_ONCE(st->st_bad_replies));
	rpcrdma2_errors_show(seq, &st->st_errors);
	seq_printf(seq, " backward_credits=%u",
		   READ_ONCE(xp->xp_backward_credits));
	rpcrdma2_backward_show(seq, &xp->xp_called, READ_ONCE(xp->xp_calls));
	rpcrdma2_end_show(seq, &xp->xp_end);
	rpcrdma2_error_show(seq, READ_ONCE(xp->xp_error),
			    READ_ONCE(xp->xp_error_at));
	if (ep)
		rpcrdma2_vectors_show(seq, &ep->ep_conn);
	seq_putc(seq, '\n');
}

static int xprt2_view_show(struct seq_file *seq, void *unused)
{
	struct xprt2_xprt *xp;

	xprt2_for_each_transport(xp)
		if (xp->xp_xprt.xprt_net == seq->private)
			xprt2_view_transport(seq, xp);
	return 0;
}

RPCRDMA2_VIEW(view_net_ops, "rpc/xprtrdma2", xprt2_view_show);

static struct dentry *debug_dir;

RPCRDMA2_COUNTERS_FILE(xprt2, XPRT2);

/**
 * xprt2_view_init - create the files in each network namespace, and in debugfs
 *
 * Return: 0, or a negative errno.
 */
int xprt2_view_init(void)
{
	int ret = register_pernet_subsys(&view_net_ops);

	if (ret)
		return ret;
	debug_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("counters", 0444, debug_dir, NULL,
			    &xprt2_counters_fops);
	rpcrdma2_faults_init(debug_dir);
	return 0;
}

/**
 * xprt2_view_exit - undo xprt2_view_init()
 */
void xprt2_view_exit(void)
{
	debugfs_remove_recursive(debug_dir);
	unregister_pernet_subsys(&view_net_ops);
}
