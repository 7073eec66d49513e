// SPDX-License-Identifier: GPL-2.0
/* Diagnostics: log lines, counters, /proc/net/rpc/xprtrdma2 and debugfs */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/seq_file.h>

#include <linux/sunrpc/addr.h>

#include <rpcrdma2/fault.h>

#include "xprtrdma2.h"

/*
 * A transport that keeps retrying logs each error once until it is connected.
 * Documentation/troubleshooting.rst lists all log lines.
 */

/**
 * xprt2_report_device - log that a device is unsuitable
 * @ep: endpoint
 * @what: reason, as text behind the name of the device
 *
 * Return: -EOPNOTSUPP.
 */
int xprt2_report_device(struct xprt2_ep *ep, const char *what)
{
	struct xprt2_xprt *xp = ep->ep_xp;

	if (xp->xp_logged != -EOPNOTSUPP)
		pr_err("device %s %s; use another device\n",
		       ep->ep_conn.co_id->device->name, what);
	xp->xp_logged = -EOPNOTSUPP;
	return -EOPNOTSUPP;
}

/**
 * xprt2_report_regions - log that RPCs wait for more regions than exist
 * @ep: endpoint, on which no more regions can be allocated now
 * @needed: number of regions that an RPC needs
 *
 * Context: connect, or the core's workqueue; once for each connection.
 */
void xprt2_report_regions(const struct xprt2_ep *ep, u32 needed)
{
	const struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;

	pr_warn_ratelimited("RPCs to server %s port %s wait: one needs %u memory regions, and device %s gives no more than %u; see 'free' and 'rdma resource'\n",
			    xprt->address_strings[RPC_DISPLAY_ADDR],
			    xprt->address_strings[RPC_DISPLAY_PORT], needed,
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

/**
 * xprt2_report_connect - record and log the result of a connect attempt
 * @xp: transport
 * @status: 0, or the error for the RPC layer
 *
 * Context: connect.
 */
void xprt2_report_connect(struct xprt2_xprt *xp, int status)
{
	const struct rpc_xprt *xprt = &xp->xp_xprt;
	const char *text = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(advices); i++)
		if (advices[i].error == status)
			text = advices[i].text;
	WRITE_ONCE(xp->xp_error_at, ktime_get_boottime_seconds());
	WRITE_ONCE(xp->xp_error, status);
	if (!status)
		xp->xp_logged = 0;
	if (!text || xp->xp_logged == status)
		return;
	xp->xp_logged = status;
	pr_warn_ratelimited("no connection to server %s port %s: %s\n",
			    xprt->address_strings[RPC_DISPLAY_ADDR],
			    xprt->address_strings[RPC_DISPLAY_PORT], text);
}

/**
 * xprt2_report_version_one - log that a server uses version 1
 * @xp: transport
 * @why: its answer in version 2
 */
void xprt2_report_version_one(const struct xprt2_xprt *xp, const char *why)
{
	const struct rpc_xprt *xprt = &xp->xp_xprt;

	pr_info_ratelimited("version 1 of RPC-over-RDMA with server %s port %s (%s); version 2 is probed again after %lu minutes\n",
			    xprt->address_strings[RPC_DISPLAY_ADDR],
			    xprt->address_strings[RPC_DISPLAY_PORT], why,
			    XPRT2_MEMORY_TIME / (60 * HZ));
}

/**
 * xprt2_report_end - log and count the end of a connection
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

/**
 * xprt2_count_error - count a received RDMA2_ERROR
 * @ep: endpoint
 * @h: its header
 */
void xprt2_count_error(struct xprt2_ep *ep, const struct rpcrdma2_hdr *h)
{
	xprt2_count(errors_received);
	rpcrdma2_errors_count(&ep->ep_xp->xp_stats.st_errors,
			      h->h_error.er_code);
}

/*
 * /proc/net/rpc/xprtrdma2: a line of key=value for each transport, without
 * blanks in a value, for all users. New keys are added at the end. As in the
 * server's file "send" is the largest message that this end sends, "receive"
 * the largest that can be sent to it.
 */

static DEFINE_MUTEX(transports_lock);	/* guards the list */
static LIST_HEAD(transports);

/**
 * xprt2_list_transport - add a transport to the list
 * @xp: transport, complete
 */
void xprt2_list_transport(struct xprt2_xprt *xp)
{
	guard(mutex)(&transports_lock);
	list_add_tail(&xp->xp_listed, &transports);
}

/**
 * xprt2_unlist_transport - remove a transport from the list
 * @xp: transport, which may never have been added
 */
void xprt2_unlist_transport(struct xprt2_xprt *xp)
{
	guard(mutex)(&transports_lock);
	list_del_init(&xp->xp_listed);
}

/**
 * xprt2_next_transport - iterate over all transports
 * @xp: transport that the last call returned, or NULL
 *
 * Return: a transport that is referenced, and stays on the list, until it is
 * passed to this function again; NULL at the end. The list is not locked
 * meanwhile.
 */
struct xprt2_xprt *xprt2_next_transport(struct xprt2_xprt *xp)
{
	struct list_head *pos = xp ? &xp->xp_listed : &transports;
	struct xprt2_xprt *next = NULL;

	scoped_guard(mutex, &transports_lock) {
		while ((pos = pos->next) != &transports) {
			next = list_entry(pos, struct xprt2_xprt, xp_listed);
			if (xprt_get(&next->xp_xprt))
				break;
			next = NULL;
		}
	}
	if (xp)
		xprt_put(&xp->xp_xprt);
	return next;
}

/* Print the connection, which may still be under construction. */
static void xprt2_view_connection(struct seq_file *seq,
				  const struct xprt2_ep *ep)
{
	const char *why = READ_ONCE(ep->ep_why);

	seq_printf(seq, " device=%s version=%u credits=%u receive=%u send=%u local=%pISpc",
		   rpcrdma2_conn_device(&ep->ep_conn)->name, ep->ep_vers,
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
		   st->st_read_chunks, st->st_write_chunks,
		   st->st_reply_chunks, st->st_bad_replies);
	rpcrdma2_errors_show(seq, &st->st_errors);
	seq_printf(seq, " backward_credits=%u",
		   READ_ONCE(xp->xp_backward_credits));
	rpcrdma2_backward_show(seq, &xp->xp_called, READ_ONCE(xp->xp_calls));
	rpcrdma2_end_show(seq, &xp->xp_end);
	rpcrdma2_error_show(seq, READ_ONCE(xp->xp_error),
			    READ_ONCE(xp->xp_error_at));
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
