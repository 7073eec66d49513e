// SPDX-License-Identifier: GPL-2.0
/*
 * Module load and unload, the module parameters, diagnostics (counters,
 * /proc/net/rpc/xprtrdma2 and debugfs), and the mount option proto=rdma2
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>

#include <linux/sunrpc/addr.h>

#include <rpcrdma2/fault.h>
#include <rpcrdma2/release.h>

#include "xprtrdma2.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

RPCRDMA2_PARAM(xprt2_param_slots, slots, "uint",
	       "Maximum number of outstanding RPCs of a connection (4 to 16384, default 64); applies to new mounts",
	       XPRT2_SLOTS_DEFAULT, XPRT2_SLOTS_MIN, XPRT2_SLOTS_MAX);

static void xprt2_apply_size(bool receive)
{
	struct xprt2_xprt *xp;

	xprt2_for_each_transport(xp) {
		guard(mutex)(&xp->xp_fence_mutex);
		if (!xp->xp_ep || !xprt2_ep_is_ready(xp->xp_ep))
			continue;
		xprt2_sizes_changed(xp->xp_ep, receive);
	}
}

static void xprt2_receive_size_set(void)
{
	xprt2_apply_size(true);
}

static void xprt2_send_size_set(void)
{
	xprt2_apply_size(false);
}

RPCRDMA2_PARAM(xprt2_param_receive_size, receive_size, "uint",
	       "Size of a Receive in bytes, rounded up to pages (4096 to 65536, default 20480); increases also apply to existing connections of version 2, there up to 13 pages, decreases only to new connections",
	       5 * RPCRDMA2_INLINE_DEFAULT, RPCRDMA2_INLINE_DEFAULT,
	       RPCRDMA2_INLINE_MAX, .pm_changed = xprt2_receive_size_set);
RPCRDMA2_PARAM(xprt2_param_send_size, send_size, "uint",
	       "Size of the largest Send in bytes, if the server can receive it (4096 to 65536, default 65536); applies to existing connections of version 2 too",
	       RPCRDMA2_INLINE_MAX, RPCRDMA2_INLINE_DEFAULT,
	       RPCRDMA2_INLINE_MAX, .pm_changed = xprt2_send_size_set);
RPCRDMA2_PARAM(xprt2_param_versions, versions, "charp",
	       "The only version of RPC-over-RDMA to use: 1, 2 or any (default any); applies to new connections",
	       0, 0, RPCRDMA2_VERS_TWO, .pm_names = rpcrdma2_version_names);

struct rpcrdma2_param xprt2_param_backward_credits = {
	XPRT2_BACKWARD_CREDITS, 1, XPRT2_BACKWARD_MAX
};

RPCRDMA2_PARAM(xprt2_param_backward, backward, "charp",
	       "Callbacks to accept: none, inline (without chunks) or genl (with chunks, but not over iWARP), which applies to new connections; and behind a colon the maximum number of outstanding ones (1 to 256), which applies to new mounts (default inline:16)",
	       RDMA2_BKREQSUP_INLINE, 0, RDMA2_BKREQSUP_GENL,
	       .pm_names = rpcrdma2_backward_names,
	       .pm_second = &xprt2_param_backward_credits);

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
	rpcrdma2_backward_show(seq, &xp->xp_called,
			       READ_ONCE(xp->xp_backward_out));
	rpcrdma2_end_show(seq, &xp->xp_end);
	rpcrdma2_error_show(seq, READ_ONCE(xp->xp_error),
			    READ_ONCE(xp->xp_error_at));
	if (ep) {
		rpcrdma2_vectors_show(seq, &ep->ep_conn);
		/* the limits of the connection, which its device may lower */
		seq_printf(seq, " slots=%u regions_max=%u region_pages=%u",
			   ep->ep_max_reqs, ep->ep_conn.co_regions.rg_max,
			   ep->ep_conn.co_regions.rg_depth);
	}
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

/* Create the files in each network namespace, and in debugfs. */
static int __init xprt2_view_init(void)
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

static void xprt2_view_exit(void)
{
	debugfs_remove_recursive(debug_dir);
	unregister_pernet_subsys(&view_net_ops);
}

/*
 * Mount option "proto=rdma2" for the NFS client of an unmodified kernel.
 *
 * The NFS client looks up the value of proto= in a constant table of its own
 * before it passes the string to sunrpc, which would find this module. A
 * kretprobe on the look-up changes the result for a table that has an entry
 * "rdma": there the name "rdma2" means the same as "rdma", and "rdma26" the
 * same as "rdma6". No memory of the kernel is written to.
 *
 * The transport does not receive the name, because the NFS client has one ident
 * for both. So the probe records the task that looks "rdma2" up: that task
 * creates the transport in the same system call, or in the next. /proc/mounts
 * then shows the name of the mount option, where mount.nfs reads it for remount
 * and umount. Without a record it shows "rdma", which mount.nfs accepts without
 * a line in /etc/netconfig.
 *
 * A kernel with an ident for this class has the names in its table.
 */

#if defined(XPRT2_REPLACES_RPCRDMA) && defined(CONFIG_KRETPROBES) && \
	defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)

#include <linux/fs_parser.h>
#include <linux/hash.h>
#include <linux/kprobes.h>

#define NOTES_BITS	5
#define NOTE_SECONDS	60

/*
 * Tasks that looked "rdma2" up: pid and time in seconds, 0 for none. A hash
 * collision loses the entry; the mount is then shown as "rdma".
 */
static atomic64_t notes[1 << NOTES_BITS];

static __always_inline atomic64_t *
xprt2_netid_note_of(const struct task_struct *task)
{
	return &notes[hash_32(task->pid, NOTES_BITS)];
}

static __always_inline void xprt2_netid_note_task(bool two)
{
	u64 note = (u64)current->pid << 32 | (u32)(jiffies / HZ);

	if (two)
		atomic64_set(xprt2_netid_note_of(current), note);
	else if (atomic64_read(xprt2_netid_note_of(current)) >> 32 ==
		 current->pid)
		atomic64_set(xprt2_netid_note_of(current), 0);
}

static bool xprt2_netid_is_noted(void)
{
	u64 note = atomic64_read(xprt2_netid_note_of(current));

	return note >> 32 == current->pid &&
	       (u32)(jiffies / HZ) - (u32)note <= NOTE_SECONDS;
}

/* After a non-zero return the look-up returns its own result. */
static int xprt2_lookup_entry(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	const struct constant_table *entry =
		(const void *)regs_get_kernel_argument(regs, 0);
	const char *name = (const void *)regs_get_kernel_argument(regs, 1);
	int *value = (int *)ri->data;

	if (!entry || !name)
		return 1;
	if (!strcmp(name, "rdma") || !strcmp(name, "rdma6"))
		xprt2_netid_note_task(false);
	if (!strcmp(name, "rdma2"))
		name = "rdma";
	else if (!strcmp(name, "rdma26"))
		name = "rdma6";
	else
		return 1;
	for (; entry->name; entry++) {
		if (!strcmp(entry->name, name)) {
			*value = entry->value;
			xprt2_netid_note_task(true);
			return 0;
		}
	}
	return 1;
}

static int xprt2_lookup_return(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	regs_set_return_value(regs, *(int *)ri->data);
	return 0;
}

NOKPROBE_SYMBOL(xprt2_lookup_entry);
NOKPROBE_SYMBOL(xprt2_lookup_return);

static struct kretprobe lookup_probe = {
	.kp.symbol_name	= "lookup_constant",
	.entry_handler	= xprt2_lookup_entry,
	.handler	= xprt2_lookup_return,
	.data_size	= sizeof(int),
};

static bool registered;

/* Register the mount option, if the kernel allows it. */
static void __init xprt2_netid_init(void)
{
	int ret = register_kretprobe(&lookup_probe);

	registered = !ret;
	if (ret)
		pr_warn("mount option proto=rdma2 is not available (error %d); use proto=rdma, which reaches this module\n",
			ret);
}

/* Wait for look-ups under way. */
static void __exit xprt2_netid_exit(void)
{
	if (registered)
		unregister_kretprobe(&lookup_probe);
}

#else

static bool xprt2_netid_is_noted(void)
{
	return XPRT2_IDENT != XPRT_TRANSPORT_RDMA;
}

static void __init xprt2_netid_init(void)
{
#ifdef XPRT2_REPLACES_RPCRDMA
	pr_warn("mount option proto=rdma2 is not available without CONFIG_KRETPROBES, or on this architecture; use proto=rdma, which reaches this module\n");
#endif
}

static void __exit xprt2_netid_exit(void)
{
}

#endif

/**
 * xprt2_netid - netid of a transport under construction
 * @v6: over IPv6
 *
 * Context: the task that creates the transport.
 * Return: the name in the mount option, if that is known to be rdma2 or rdma26;
 * else rdma or rdma6.
 */
const char *xprt2_netid(bool v6)
{
	if (xprt2_netid_is_noted())
		return v6 ? "rdma26" : "rdma2";
	return v6 ? "rdma6" : "rdma";
}

/* Connect workers and work of connections: memory reclaim may depend on it. */
struct workqueue_struct *xprt2_wq;

static int xprt2_register_class(void)
{
	int ret = xprt_register_transport(&xprt2_class);

#ifdef XPRT2_REPLACES_RPCRDMA
	if (ret == -EEXIST) {
		pr_err("this kernel has room for one RDMA transport and rpcrdma is loaded: unmount NFS/RDMA, run 'rmmod rpcrdma', then load xprtrdma2 again\n");
		/* modprobe takes -EEXIST for "already loaded" and succeeds */
		ret = -EBUSY;
	}
#endif
	return ret;
}

static int __init xprt2_init(void)
{
	int ret;

	xprt2_wq = alloc_workqueue("xprtrdma2", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!xprt2_wq)
		return -ENOMEM;
	ret = xprt2_reqs_start();
	if (ret)
		goto out_wq;
	ret = xprt2_view_init();
	if (ret)
		goto out_reqs;
	ret = xprt2_register_class();
	if (ret)
		goto out_view;
	xprt2_netid_init();
	return 0;

out_view:
	xprt2_view_exit();
out_reqs:
	xprt2_reqs_stop();
out_wq:
	destroy_workqueue(xprt2_wq);
	return ret;
}

/*
 * Runs only when no transport is left: each holds a module reference. The work
 * that put the last one, or has destroyed it, may not have returned from this
 * module.
 */
static void __exit xprt2_exit(void)
{
	xprt2_netid_exit();
	xprt_unregister_transport(&xprt2_class);
	xprt2_view_exit();
	destroy_workqueue(xprt2_wq);
	synchronize_rcu_tasks();
	xprt2_reqs_stop();
	xprt2_forget_servers();
}

module_init(xprt2_init);
module_exit(xprt2_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 2 client transport");
MODULE_LICENSE("GPL");
MODULE_VERSION(RPCRDMA2_RELEASE);
MODULE_INFO(import_ns, "RPCRDMA2");
/* sunrpc requests the module "rpc" plus the netid of the mount option */
MODULE_ALIAS("rpcrdma2");
MODULE_ALIAS("rpcrdma26");
