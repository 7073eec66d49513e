// SPDX-License-Identifier: GPL-2.0
/*
 * What debugfs shows: svcrdma2/counters, svcrdma2/connections, and how much memory
 * all Receives have, svcrdma2/receives
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include <rpcrdma2/counters.h>
#include <rpcrdma2/show.h>

#include "svcrdma2.h"

DEFINE_PER_CPU(u64 [SVC2_C_COUNT], svc2_counters);

static struct dentry *debug_dir;
static DEFINE_MUTEX(conns_mutex);	/* guards conns */
static LIST_HEAD(conns);

static const char *const counter_names[] = {
#define SVC2_NAME(name) #name,
	SVC2_COUNTERS(SVC2_NAME)
#undef SVC2_NAME
};

static_assert(SVC2_C_errors_system - SVC2_C_errors_vers ==
	      RDMA2_ERR_SYSTEM - RDMA2_ERR_VERS);

/**
 * svc2_count_error - count an RDMA2_ERROR that was sent
 * @code: which
 */
void svc2_count_error(u32 code)
{
	if (code >= RDMA2_ERR_VERS && code <= RDMA2_ERR_SYSTEM)
		this_cpu_inc(svc2_counters[SVC2_C_errors_vers + code -
					   RDMA2_ERR_VERS]);
}

/**
 * svc2_conn_show - list a connection in debugfs
 * @sp: connection, accepted
 */
void svc2_conn_show(struct svc2_xprt *sp)
{
	guard(mutex)(&conns_mutex);
	list_add_tail(&sp->sp_shown, &conns);
}

/**
 * svc2_conn_hide - undo svc2_conn_show(), if it was called
 * @sp: connection
 */
void svc2_conn_hide(struct svc2_xprt *sp)
{
	guard(mutex)(&conns_mutex);
	list_del_init(&sp->sp_shown);
}

/**
 * svc2_conns_each - do something with each connection that is accepted
 * @fn: what; it is not destroyed meanwhile, but may have been lost
 *
 * Context: may sleep.
 */
void svc2_conns_each(void (*fn)(struct svc2_xprt *sp))
{
	struct svc2_xprt *sp;

	guard(mutex)(&conns_mutex);
	list_for_each_entry(sp, &conns, sp_shown)
		fn(sp);
}

static int counters_show(struct seq_file *seq, void *unused)
{
	rpcrdma2_counters_show(seq, svc2_counters, counter_names,
			       ARRAY_SIZE(counter_names));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

/* Limits and properties of the peer, as it sent them */
static void show_peer(struct seq_file *seq, const struct svc2_xprt *sp)
{
	const struct rpcrdma2_cm_limits *cm = &sp->sp_peer;
	const struct rpcrdma2_props *pr = &sp->sp_ex.ex_peer.pp_now;

	seq_printf(seq, " private_send=%u private_receive=%u private_inv=%u",
		   cm->cl_send, cm->cl_recv, cm->cl_inv);
	if (READ_ONCE(sp->sp_ex.ex_peer.pp_spoken))
		seq_printf(seq, " rbsiz=%u brs=%s", READ_ONCE(pr->pr_rbsiz),
			   rpcrdma2_bkreqsup_name(READ_ONCE(pr->pr_brs)));
}

static void show_connection(struct seq_file *seq, const struct svc2_xprt *sp)
{
	seq_printf(seq, "peer=%s device=%s version=%u credits=%u credits_max=%u receive=%u announced=%u receives=%u send_v1=%u send_v2=%u",
		   sp->sp_xprt.xpt_remotebuf,
		   rpcrdma2_conn_device(&sp->sp_conn)->name,
		   READ_ONCE(sp->sp_last_vers),
		   READ_ONCE(sp->sp_grant), sp->sp_credits,
		   READ_ONCE(sp->sp_rpool.rp_size),
		   READ_ONCE(sp->sp_recv_size),
		   READ_ONCE(sp->sp_rpool.rp_count),
		   READ_ONCE(sp->sp_send_max[RPCRDMA2_VERS_ONE]),
		   READ_ONCE(sp->sp_send_max[RPCRDMA2_VERS_TWO]));
	show_peer(seq, sp);
	seq_printf(seq, " backward_credits=%u", READ_ONCE(sp->sp_backward_grant));
	seq_printf(seq, " sq=%d/%u send_contexts=%d/%u\n",
		   svc2_gate_avail(&sp->sp_sq), sp->sp_sq_depth,
		   svc2_gate_avail(&sp->sp_tx_gate),
		   sp->sp_credits + SVC2_TX_RESERVE + sp->sp_conn.co_sq.sq_batch);
}

static int connections_show(struct seq_file *seq, void *unused)
{
	struct svc2_xprt *sp;

	guard(mutex)(&conns_mutex);
	list_for_each_entry(sp, &conns, sp_shown)
		show_connection(seq, sp);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(connections);

static int receives_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "octets %lu\nmost %lu\n",
		   atomic_long_read(&svc2_budget.bu_pages) << PAGE_SHIFT,
		   READ_ONCE(svc2_budget.bu_most) << PAGE_SHIFT);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(receives);

/**
 * svc2_counters_init - show counters and connections
 *
 * A kernel without debugfs counts all the same.
 */
void svc2_counters_init(void)
{
	debug_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("counters", 0444, debug_dir, NULL, &counters_fops);
	debugfs_create_file("connections", 0400, debug_dir, NULL,
			    &connections_fops);
	debugfs_create_file("receives", 0444, debug_dir, NULL, &receives_fops);
}

/**
 * svc2_counters_exit - undo svc2_counters_init()
 */
void svc2_counters_exit(void)
{
	debugfs_remove_recursive(debug_dir);
}
