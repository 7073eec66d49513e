// SPDX-License-Identifier: GPL-2.0
/*
 * What debugfs shows: xprtrdma2/counters, and xprtrdma2/connections, where each
 * transport has a line.
 *
 * The server's file of that name has the same words: "send" is the largest message
 * that this end sends, "receive" the largest that it can be sent.
 */
#include "xprtrdma2.h"

#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include <rpcrdma2/counters.h>
#include <rpcrdma2/fault.h>

DEFINE_PER_CPU(u64 [XPRT2_C_COUNT], xprt2_counters);

static struct dentry *debug_dir;
static DEFINE_MUTEX(transports_lock);	/* guards the list */
static LIST_HEAD(transports);

/**
 * xprt2_list_transport - show a transport
 * @xp: transport, complete
 */
void xprt2_list_transport(struct xprt2_xprt *xp)
{
	guard(mutex)(&transports_lock);
	list_add_tail(&xp->xp_listed, &transports);
}

/**
 * xprt2_unlist_transport - show it no more
 * @xp: transport, also one that was never shown
 */
void xprt2_unlist_transport(struct xprt2_xprt *xp)
{
	guard(mutex)(&transports_lock);
	list_del_init(&xp->xp_listed);
}

/**
 * xprt2_take_size - apply a module parameter to connections that are there
 * @receive: receive_size, and not send_size
 */
void xprt2_take_size(bool receive)
{
	struct xprt2_xprt *xp;

	guard(mutex)(&transports_lock);
	list_for_each_entry(xp, &transports, xp_listed) {
		guard(mutex)(&xp->xp_fence_mutex);
		if (!xp->xp_ep || !xprt2_ep_is_ready(xp->xp_ep))
			continue;
		xprt2_sizes_changed(xp->xp_ep, receive);
	}
}

static const char *phase_name(const struct xprt2_ep *ep)
{
	if (!ep || !xprt2_ep_is_ready(ep))
		return "down";
	return READ_ONCE(ep->ep_nego.ng_phase) == XPRT2_TRIAL ? "trial" : "up";
}

static void show_transport(struct seq_file *seq, struct xprt2_xprt *xp)
{
	const struct xprt2_ep *ep;

	guard(mutex)(&xp->xp_fence_mutex);
	ep = xp->xp_ep;
	seq_printf(seq, "peer=%pISpc state=%s", &xp->xp_xprt.addr,
		   phase_name(ep));
	if (ep)
		seq_printf(seq, " device=%s version=%u credits=%u receive=%u send=%u",
			   rpcrdma2_conn_device(&ep->ep_conn)->name,
			   ep->ep_vers, READ_ONCE(ep->ep_grant),
			   READ_ONCE(ep->ep_reply_threshold),
			   READ_ONCE(ep->ep_call_threshold));
	seq_putc(seq, '\n');
}

static int connections_show(struct seq_file *seq, void *unused)
{
	struct xprt2_xprt *xp;

	guard(mutex)(&transports_lock);
	list_for_each_entry(xp, &transports, xp_listed)
		show_transport(seq, xp);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(connections);

static int counters_show(struct seq_file *seq, void *unused)
{
	static const char *const names[] = {
#define XPRT2_NAME(name) #name,
		XPRT2_COUNTERS(XPRT2_NAME)
#undef XPRT2_NAME
	};

	rpcrdma2_counters_show(seq, xprt2_counters, names, ARRAY_SIZE(names));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

/**
 * xprt2_debugfs_init - make the files
 */
void xprt2_debugfs_init(void)
{
	debug_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("counters", 0444, debug_dir, NULL, &counters_fops);
	debugfs_create_file("connections", 0444, debug_dir, NULL,
			    &connections_fops);
	rpcrdma2_faults_init(debug_dir);
}

/**
 * xprt2_debugfs_exit - undo xprt2_debugfs_init()
 */
void xprt2_debugfs_exit(void)
{
	debugfs_remove_recursive(debug_dir);
}
