// SPDX-License-Identifier: GPL-2.0
/* State of the server: /proc/net/rpc/svcrdma2 and debugfs */
#include <linux/debugfs.h>
#include <linux/module.h>

#include "svcrdma2.h"

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
		   READ_ONCE(sp->sp_quota.qu_pages) << PAGE_SHIFT);
	/* used: Calls that threads are working on */
	seq_printf(seq, " used=%d read_chunks=%ld write_chunks=%ld reply_chunks=%ld",
		   atomic_read(&sp->sp_xprt.xpt_nr_rqsts),
		   atomic_long_read(&sp->sp_read_chunks),
		   atomic_long_read(&sp->sp_write_chunks),
		   atomic_long_read(&sp->sp_reply_chunks));
	rpcrdma2_errors_show(seq, &sp->sp_errors);
	seq_printf(seq, " send_memory=%lu backward_credits_max=%u",
		   (struct_size(tx, tx_sge, sp->sp_tx_sges) + PAGE_SIZE) *
		   atomic_read(&sp->sp_tx_count) +
		   PAGE_SIZE * atomic_read(&sp->sp_tx_pages),
		   sp->sp_backward_max);
	rpcrdma2_backward_show(seq, &sp->sp_called, READ_ONCE(sp->sp_nposted));
	rpcrdma2_vectors_show(seq, &sp->sp_conn);
	seq_putc(seq, '\n');
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
		   READ_ONCE(svc2_budget.bu_most) << PAGE_SHIFT);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc2_receives);

DEFINE_SHOW_ATTRIBUTE(svc2_pages);

/**
 * svc2_view_init - create the files in each network namespace, and in debugfs
 *
 * Return: 0, or a negative errno.
 */
int svc2_view_init(void)
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

/**
 * svc2_view_exit - undo svc2_view_init()
 */
void svc2_view_exit(void)
{
	debugfs_remove_recursive(debug_dir);
	unregister_pernet_subsys(&view_net_ops);
}
