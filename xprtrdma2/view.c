// SPDX-License-Identifier: GPL-2.0
/*
 * The transports there are, a line each, in /proc/net/rpc/xprtrdma2: key=value, without
 * blanks in a value. That file needs no debugfs, is there for each network namespace,
 * and is for all to read, as mountstats is. Keys are added at the end.
 *
 * The server's file has the same words: "send" is the largest message that this end
 * sends, "receive" the largest that it can be sent.
 */
#include "xprtrdma2.h"

#include <linux/ktime.h>
#include <linux/sunrpc/addr.h>

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

/*
 * next_transport - the transport behind @xp, or the first one
 *
 * It cannot go away until it is given back to this function, and so stays on the
 * list; the list is not locked meanwhile, and others come and go. One that is being
 * destroyed is passed over.
 */
static struct xprt2_xprt *next_transport(struct xprt2_xprt *xp)
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

#define for_each_transport(_xp)						\
	for ((_xp) = next_transport(NULL); (_xp); (_xp) = next_transport(_xp))

/**
 * xprt2_take_size - apply a module parameter to connections that are there
 * @receive: receive_size, and not send_size
 */
void xprt2_take_size(bool receive)
{
	struct xprt2_xprt *xp;

	for_each_transport(xp) {
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

/* Of the connection there is, also of one that is being made */
static void show_connection(struct seq_file *seq, const struct xprt2_ep *ep)
{
	const char *why = READ_ONCE(ep->ep_why);

	seq_printf(seq, " device=%s version=%u credits=%u receive=%u send=%u",
		   rpcrdma2_conn_device(&ep->ep_conn)->name, ep->ep_vers,
		   READ_ONCE(ep->ep_grant), READ_ONCE(ep->ep_reply_threshold),
		   READ_ONCE(ep->ep_call_threshold));
	seq_printf(seq, " local=%pISpc",
		   &ep->ep_conn.co_id->route.addr.src_addr);
	if (why)
		rpcrdma2_word_show(seq, "why", why);
	rpcrdma2_peer_show(seq, &ep->ep_ex.ex_peer);
}

/* Calls of the server: its credits, and what there was of them */
static void show_backward(struct seq_file *seq, const struct xprt2_xprt *xp)
{
	seq_printf(seq, " backward_credits=%u",
		   READ_ONCE(xp->xp_backward_credits));
	rpcrdma2_backward_show(seq, &xp->xp_called, READ_ONCE(xp->xp_calls));
}

static void show_transport(struct seq_file *seq, struct xprt2_xprt *xp)
{
	const struct xprt2_stats *st = &xp->xp_stats;
	struct rpc_xprt *xprt = &xp->xp_xprt;

	guard(mutex)(&xp->xp_fence_mutex);
	seq_printf(seq, "peer=%pISpc state=%s", &xprt->addr,
		   phase_name(xp->xp_ep));
	if (xp->xp_ep)
		show_connection(seq, xp->xp_ep);
	seq_printf(seq, " netid=%s used=%lu waiting=%u connects=%lu",
		   xprt->address_strings[RPC_DISPLAY_NETID],
		   READ_ONCE(xprt->cong) >> RPC_CWNDSHIFT,
		   READ_ONCE(xprt->backlog.qlen), xprt->stat.connect_count);
	seq_printf(seq, " read_chunks=%lu write_chunks=%lu reply_chunks=%lu bad_replies=%lu",
		   st->st_read_chunks, st->st_write_chunks,
		   st->st_reply_chunks, st->st_bad_replies);
	rpcrdma2_errors_show(seq, &st->st_errors);
	show_backward(seq, xp);
	rpcrdma2_end_show(seq, &xp->xp_end);
	rpcrdma2_error_show(seq, READ_ONCE(xp->xp_error),
			    READ_ONCE(xp->xp_error_at));
	seq_putc(seq, '\n');
}

/**
 * xprt2_show_transports - a line for each transport
 * @seq: where to
 * @net: network namespace, or NULL for all
 */
void xprt2_show_transports(struct seq_file *seq, const struct net *net)
{
	struct xprt2_xprt *xp;

	for_each_transport(xp)
		if (!net || xp->xp_xprt.xprt_net == net)
			show_transport(seq, xp);
}

static int view_show(struct seq_file *seq, void *unused)
{
	xprt2_show_transports(seq, seq->private);
	return 0;
}

RPCRDMA2_VIEW(view_net_ops, "rpc/xprtrdma2", view_show);

/**
 * xprt2_view_init - make the file, in each network namespace
 *
 * Return: 0, or a negative errno.
 */
int xprt2_view_init(void)
{
	return register_pernet_subsys(&view_net_ops);
}

/**
 * xprt2_view_exit - undo xprt2_view_init()
 */
void xprt2_view_exit(void)
{
	unregister_pernet_subsys(&view_net_ops);
}
