// SPDX-License-Identifier: GPL-2.0
/*
 * svcrdma2: RPC-over-RDMA version 2 for RPC servers, i.e. for nfsd.
 *
 * The module registers the transport class "rdma2", and "rdma" if that name is
 * free; "rdma2 20049" in nfsd's portlist loads it by the alias that every such
 * class has. Listeners and connections hold a reference on the module. Its
 * state is in /proc/net/rpc/svcrdma2 and in debugfs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>

#include <rpcrdma2/release.h>

#include "svcrdma2.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * The names of listeners. "rdma2" always belongs to this module. "rdma" is the
 * name that nfs.conf, rpc.nfsd and nfsd's netlink interface use: this module
 * takes it too if the kernel's own rpcrdma does not have it.
 */

static DEFINE_MUTEX(rdma_mutex);	/* guards the next three */
static bool rdma_enabled = true;
static bool rdma_registered;
static bool classes_open;	/* between svcrdma2_init() and _exit() */

/* Takes the name or gives it back. Listeners and connections stay. */
static int svc2_register_rdma(void)
{
	int ret;

	lockdep_assert_held(&rdma_mutex);
	if (rdma_registered && !rdma_enabled)
		svc_unreg_xprt_class(&svc2_rdma_class);
	if (rdma_registered || !rdma_enabled) {
		rdma_registered = rdma_enabled;
		return 0;
	}
	ret = svc_reg_xprt_class(&svc2_rdma_class);
	rdma_registered = !ret;
	if (ret)
		pr_warn("rpcrdma serves listeners named rdma, svcrdma2 only those named rdma2: stop nfsd, run 'rmmod rpcrdma', then 'echo Y >/sys/module/svcrdma2/parameters/rdma'\n");
	return ret;
}

static int svc2_param_set_rdma(const char *val, const struct kernel_param *kp)
{
	int ret = 0;

	guard(mutex)(&rdma_mutex);
	ret = param_set_bool(val, kp);
	if (!ret && classes_open)
		ret = svc2_register_rdma();
	return ret;
}

/* The actual state, not the requested one, once the module is loaded */
static int svc2_param_get_rdma(char *buffer, const struct kernel_param *kp)
{
	guard(mutex)(&rdma_mutex);
	return sysfs_emit(buffer, "%c\n", rdma_registered ? 'Y' : 'N');
}

static const struct kernel_param_ops rdma_ops = {
	.flags	= KERNEL_PARAM_OPS_FL_NOARG,
	.set	= svc2_param_set_rdma,
	.get	= svc2_param_get_rdma,
};
module_param_cb(rdma, &rdma_ops, &rdma_enabled, 0644);
__MODULE_PARM_TYPE(rdma, "bool");
MODULE_PARM_DESC(rdma, "Serve listeners named rdma too, where rpcrdma does not (default Y); applies to new listeners");

struct workqueue_struct *svc2_wq;
/* of its own: its work may wait for peers, see svc2_unpin() */
struct workqueue_struct *svc2_unpin_wq;
struct kmem_cache *svc2_msg_cache;

RPCRDMA2_PARAM(svc2_credits, credits, "uint",
	       "Maximum number of outstanding Calls of a client on a connection (4 to 1024, default 64); applies to new connections",
	       SVC2_CREDITS_DEFAULT, SVC2_CREDITS_MIN, SVC2_CREDITS_MAX);
RPCRDMA2_PARAM(svc2_receive_size, receive_size, "uint",
	       "Size of a Receive in bytes, rounded up to pages (4096 to 65536, default 20480); increases also apply to existing connections of version 2, there up to 13 pages, decreases only to new connections",
	       5 * RPCRDMA2_INLINE_DEFAULT, RPCRDMA2_INLINE_DEFAULT,
	       RPCRDMA2_INLINE_MAX, .pm_changed = svc2_sizes_set);
RPCRDMA2_PARAM(svc2_send_size, send_size, "uint",
	       "Size of the largest Send in bytes, if the client can receive it (4096 to 65536, default 65536); applies to existing connections of version 2 too",
	       RPCRDMA2_INLINE_MAX, RPCRDMA2_INLINE_DEFAULT,
	       RPCRDMA2_INLINE_MAX, .pm_changed = svc2_sizes_set);
RPCRDMA2_PARAM(svc2_receive_memory, receive_memory, "uint",
	       "Memory for the Receives of all connections in KiB (at least 64 pages; default, or for 0: a sixteenth of the memory); applies at once",
	       0, 0, UINT_MAX, .pm_default = svc2_memory_default,
	       .pm_changed = svc2_budget_set);
RPCRDMA2_PARAM(svc2_transfer_memory, transfer_memory, "uint",
	       "Memory for the payload in progress on all connections in KiB, of which one address may use half (at least four times the largest payload that the kernel supports; default, or for 0: a sixteenth of the memory); applies at once",
	       0, 0, UINT_MAX, .pm_default = svc2_memory_default,
	       .pm_changed = svc2_pages_set);
RPCRDMA2_PARAM(svc2_versions, versions, "charp",
	       "The only version of RPC-over-RDMA to support: 1, 2 or any (default any); applies to new messages on all connections",
	       0, 0, RPCRDMA2_VERS_TWO, .pm_names = rpcrdma2_version_names);

struct rpcrdma2_param svc2_address_connections = {
	SVC2_ADDRESS_CONNS, 1, UINT_MAX
};

RPCRDMA2_PARAM(svc2_connections, connections, "charp",
	       "Maximum number of connections (default, or for 0: one for each 8 MiB of the memory, with pages of 64 KiB for each 12 MiB, at least 64); and behind a colon that of one address, which may use half of them at most, rounded up (default 128); applies to new connections",
	       0, 0, UINT_MAX, .pm_default = svc2_connections_default,
	       .pm_second = &svc2_address_connections);

struct rpcrdma2_param svc2_backward_credits = {
	SVC2_BACKWARD_CREDITS, 1, SVC2_BACKWARD_MAX
};

RPCRDMA2_PARAM(svc2_backward, backward, "charp",
	       "Callbacks to send: none, inline (without chunks) or genl (with chunks); and behind a colon the maximum number of outstanding ones, if the client grants that number (1 to 256) (default inline:16); applies to new connections",
	       RDMA2_BKREQSUP_INLINE, 0, RDMA2_BKREQSUP_GENL,
	       .pm_names = rpcrdma2_backward_names,
	       .pm_second = &svc2_backward_credits);

/*
 * /proc/net/rpc/svcrdma2 has a line for each connection, of key=value pairs
 * without blanks in a value. The file does not need debugfs, exists in each
 * network namespace, and is readable by all, as its neighbours are. New keys
 * are added at the end.
 */

static void svc2_view_connection(struct seq_file *seq, struct svc2_xprt *sp)
{
	const struct svc2_tx *tx;

	seq_printf(seq, "peer=%s state=%s device=%s version=%u credits=%u credits_max=%u receive=%u announced=%u receives=%u send_v1=%u send_v2=%u",
		   sp->sp_xprt.xpt_remotebuf,
		   rpcrdma2_conn_is_lost(&sp->sp_conn) ? "closing" : "up",
		   rpcrdma2_conn_device(&sp->sp_conn)->name,
		   READ_ONCE(sp->sp_last_vers),
		   READ_ONCE(sp->sp_grant), sp->sp_credits,
		   READ_ONCE(sp->sp_rpool.rp_size),
		   READ_ONCE(sp->sp_recv_size),
		   READ_ONCE(sp->sp_rpool.rp_count),
		   READ_ONCE(sp->sp_send_max[RPCRDMA2_VERS_ONE]),
		   READ_ONCE(sp->sp_send_max[RPCRDMA2_VERS_TWO]));
	/* limits and properties of the peer, as received */
	seq_printf(seq, " private_send=%u private_receive=%u private_inv=%u",
		   sp->sp_peer.cl_send, sp->sp_peer.cl_recv,
		   sp->sp_peer.cl_inv);
	rpcrdma2_peer_show(seq, &sp->sp_ex.ex_peer);
	seq_printf(seq, " backward_credits=%u", READ_ONCE(sp->sp_backward_grant));
	seq_printf(seq, " sq=%d/%u send_contexts=%d/%u",
		   svc2_sem_avail(&sp->sp_sq_sem), sp->sp_sq_depth,
		   svc2_sem_avail(&sp->sp_tx_sem),
		   sp->sp_credits + SVC2_TX_RESERVE + sp->sp_conn.co_sq.sq_batch);
	seq_printf(seq, " local=%pISpc netid=%s transfer=%lu",
		   &sp->sp_xprt.xpt_local, sp->sp_xprt.xpt_class->xcl_name,
		   atomic_long_read(&sp->sp_quota.qu_pages) << PAGE_SHIFT);
	/* used: Calls that threads are working on */
	seq_printf(seq, " used=%d read_chunks=%ld write_chunks=%ld reply_chunks=%ld",
		   atomic_read(&sp->sp_xprt.xpt_nr_rqsts),
		   atomic_long_read(&sp->sp_read_chunks),
		   atomic_long_read(&sp->sp_write_chunks),
		   atomic_long_read(&sp->sp_reply_chunks));
	rpcrdma2_errors_show(seq, &sp->sp_errors);
	seq_printf(seq, " send_memory=%lu backward_credits_max=%u",
		   (struct_size(tx, tx_sge, sp->sp_tx_sges) + SVC2_TX_BUFSIZE) *
		   atomic_read(&sp->sp_tx_count) +
		   1UL * SVC2_TX_BUFSIZE * atomic_read(&sp->sp_tx_parts),
		   sp->sp_backward_max);
	rpcrdma2_backward_show(seq, &sp->sp_called, READ_ONCE(sp->sp_nposted));
	rpcrdma2_vectors_show(seq, &sp->sp_conn);
	/* RDMA Reads, which the device and the client may limit */
	seq_printf(seq, " reads_max=%u read_pages=%u read_regions=%u\n",
		   sp->sp_ord, sp->sp_conn.co_rw_pages, sp->sp_conn.co_rw_mrs);
}

static void svc2_view_ended(struct seq_file *seq, const struct svc2_ended *ed)
{
	seq_printf(seq, "peer=%s state=%s version=%u", ed->ed_peer,
		   ed->ed_error ? "refused" : "ended", ed->ed_version);
	rpcrdma2_end_show(seq, &ed->ed_end);
	rpcrdma2_error_show(seq, ed->ed_error, ed->ed_end.en_at);
	seq_putc(seq, '\n');
}

/* The network namespace of the file is in seq->private. */
static int svc2_view_show(struct seq_file *seq, void *unused)
{
	const struct net *net = seq->private;
	struct svc2_xprt *sp;
	unsigned int i;

	guard(mutex)(&svc2_conns_mutex);
	list_for_each_entry(sp, &svc2_conns, sp_listed)
		if (sp->sp_xprt.xpt_net == net)
			svc2_view_connection(seq, sp);
	for (i = 0; i < SVC2_ENDED; i++)
		if (svc2_ended[i].ed_net == net->net_cookie)
			svc2_view_ended(seq, &svc2_ended[i]);
	return 0;
}

RPCRDMA2_VIEW(view_net_ops, "rpc/svcrdma2", svc2_view_show);

static struct dentry *debug_dir;

RPCRDMA2_COUNTERS_FILE(svc2, SVC2);

static int svc2_receives_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "bytes %lu\nmost %lu\n",
		   atomic_long_read(&svc2_budget.bu_pages) << PAGE_SHIFT,
		   READ_ONCE(svc2_budget.bu_limit) << PAGE_SHIFT);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc2_receives);

DEFINE_SHOW_ATTRIBUTE(svc2_pages);

/* Create the files in each network namespace, and in debugfs. */
static int __init svc2_view_init(void)
{
	int ret = register_pernet_subsys(&view_net_ops);

	if (ret)
		return ret;
	debug_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("counters", 0444, debug_dir, NULL,
			    &svc2_counters_fops);
	debugfs_create_file("receives", 0444, debug_dir, NULL,
			    &svc2_receives_fops);
	debugfs_create_file("transfers", 0400, debug_dir, NULL,
			    &svc2_pages_fops);
	return 0;
}

static void svc2_view_exit(void)
{
	debugfs_remove_recursive(debug_dir);
	unregister_pernet_subsys(&view_net_ops);
}

/*
 * A kernel with init_on_alloc or init_on_free does not clear the objects of a
 * cache with a constructor. This saves clearing 2 KiB for each RPC; no byte is
 * read before it is set.
 */
static void svc2_msg_construct(void *msg)
{
	memset(msg, 0, sizeof(struct svc2_msg));
}

static int __init svcrdma2_init(void)
{
	int ret = -ENOMEM;

	svc2_budget_set();
	svc2_pages_set();
	svc2_msg_cache = kmem_cache_create("svc2_msg", sizeof(struct svc2_msg),
					   __alignof__(struct svc2_msg),
					   SLAB_HWCACHE_ALIGN,
					   svc2_msg_construct);
	if (!svc2_msg_cache)
		return ret;
	svc2_wq = alloc_workqueue("svcrdma2", WQ_UNBOUND, 0);
	if (!svc2_wq)
		goto out_cache;
	svc2_unpin_wq = alloc_workqueue("svcrdma2_unpin", WQ_UNBOUND, 0);
	if (!svc2_unpin_wq)
		goto out_wq;
	ret = svc2_sinks_init();
	if (ret)
		goto out_unpin_wq;
	ret = svc2_view_init();
	if (ret)
		goto out_sinks;
	ret = xprt_register_transport(&svc2_bc_class);
	if (ret)
		goto out_view;
	ret = svc_reg_xprt_class(&svc2_class);
	if (ret)
		goto out_bc_class;
	/* A name "rdma" that belongs to another module is no error. */
	scoped_guard(mutex, &rdma_mutex) {
		classes_open = true;
		svc2_register_rdma();
	}
	return 0;

out_bc_class:
	xprt_unregister_transport(&svc2_bc_class);
out_view:
	svc2_view_exit();
out_sinks:
	svc2_sinks_exit();
out_unpin_wq:
	destroy_workqueue(svc2_unpin_wq);
out_wq:
	destroy_workqueue(svc2_wq);
out_cache:
	kmem_cache_destroy(svc2_msg_cache);
	return ret;
}

/*
 * All listeners and connections are gone, but work that put the last of them
 * may not have returned. Neither may svc2_bc_destroy(), which runs in work of
 * the kernel, and only has to return. (A preemptible kernel without
 * CONFIG_TASKS_RCU does not wait for that.)
 */
static void __exit svcrdma2_exit(void)
{
	scoped_guard(mutex, &rdma_mutex) {
		classes_open = false;
		rdma_enabled = false;
		svc2_register_rdma();
	}
	svc_unreg_xprt_class(&svc2_class);
	xprt_unregister_transport(&svc2_bc_class);
	svc2_view_exit();
	cancel_delayed_work_sync(&svc2_trim_work);
	cancel_delayed_work_sync(&svc2_pages_work);
	destroy_workqueue(svc2_unpin_wq);
	destroy_workqueue(svc2_wq);
	synchronize_rcu_tasks();
	svc2_sinks_exit();
	kmem_cache_destroy(svc2_msg_cache);
	WARN_ON_ONCE(atomic_long_read(&svc2_budget.bu_pages));
}

module_init(svcrdma2_init);
module_exit(svcrdma2_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 2, server");
MODULE_LICENSE("GPL");
MODULE_VERSION(RPCRDMA2_RELEASE);
MODULE_INFO(import_ns, "RPCRDMA2");
