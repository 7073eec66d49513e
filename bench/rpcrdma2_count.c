// SPDX-License-Identifier: GPL-2.0
/*
 * Counts work requests and completions of soft-RoCE, for any transport. Probes cost
 * instructions, so this module is not loaded for time measurements.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <rdma/ib_verbs.h>

#define COUNTS(C)							\
	C(doorbells)		/* calls of ib_post_send() */		\
	C(send)			/* work requests of each kind */	\
	C(send_inv)							\
	C(rdma_read)							\
	C(rdma_write)							\
	C(reg_mr)							\
	C(local_inv)							\
	C(other)							\
	C(signaled)		/* of all these */			\
	C(recv_doorbells)	/* calls of ib_post_recv() */		\
	C(recv)			/* Receives posted */			\
	C(send_completions)	/* entries of Completion Queues */	\
	C(recv_completions)						\
	C(cq_runs)		/* times that a worker polls a CQ */

enum count {
#define COUNT_ENUM(name) COUNT_##name,
	COUNTS(COUNT_ENUM)
#undef COUNT_ENUM
	COUNT_MAX
};

static const char *const names[] = {
#define COUNT_NAME(name) #name,
	COUNTS(COUNT_NAME)
#undef COUNT_NAME
};

static atomic64_t counts[COUNT_MAX];
static struct dentry *dir;

static void count(enum count what)
{
	atomic64_inc(&counts[what]);
}

static enum count count_of(const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND:		return COUNT_send;
	case IB_WR_SEND_WITH_INV:	return COUNT_send_inv;
	case IB_WR_RDMA_READ:		return COUNT_rdma_read;
	case IB_WR_RDMA_READ_WITH_INV:	return COUNT_rdma_read;
	case IB_WR_RDMA_WRITE:		return COUNT_rdma_write;
	case IB_WR_REG_MR:		return COUNT_reg_mr;
	case IB_WR_LOCAL_INV:		return COUNT_local_inv;
	default:			return COUNT_other;
	}
}

/* rxe_post_send(qp, wr, bad_wr) */
static int on_post_send(struct kprobe *probe, struct pt_regs *regs)
{
	const struct ib_send_wr *wr = (void *)regs_get_kernel_argument(regs, 1);

	count(COUNT_doorbells);
	for (; wr; wr = wr->next) {
		count(count_of(wr));
		if (wr->send_flags & IB_SEND_SIGNALED)
			count(COUNT_signaled);
	}
	return 0;
}

/* rxe_post_recv(qp, wr, bad_wr) */
static int on_post_recv(struct kprobe *probe, struct pt_regs *regs)
{
	const struct ib_recv_wr *wr = (void *)regs_get_kernel_argument(regs, 1);

	count(COUNT_recv_doorbells);
	for (; wr; wr = wr->next)
		count(COUNT_recv);
	return 0;
}

/* rxe_cq_post(cq, cqe, solicited): the entry begins with a struct ib_wc. */
static int on_completion(struct kprobe *probe, struct pt_regs *regs)
{
	const struct ib_wc *wc = (void *)regs_get_kernel_argument(regs, 1);

	count(wc->opcode & IB_WC_RECV ? COUNT_recv_completions :
					COUNT_send_completions);
	return 0;
}

static int on_poll(struct kprobe *probe, struct pt_regs *regs)
{
	count(COUNT_cq_runs);
	return 0;
}

static struct kprobe probes[] = {
	{ .symbol_name = "rxe_post_send", .pre_handler = on_post_send },
	{ .symbol_name = "rxe_post_recv", .pre_handler = on_post_recv },
	{ .symbol_name = "rxe_cq_post", .pre_handler = on_completion },
	{ .symbol_name = "ib_cq_poll_work", .pre_handler = on_poll },
};

static struct kprobe *probe_list[ARRAY_SIZE(probes)];

static int counters_show(struct seq_file *seq, void *unused)
{
	int i;

	for (i = 0; i < COUNT_MAX; i++)
		seq_printf(seq, "%s %lld\n", names[i],
			   atomic64_read(&counts[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int __init count_init(void)
{
	int i, rc;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		probe_list[i] = &probes[i];
	rc = register_kprobes(probe_list, ARRAY_SIZE(probes));
	if (rc)
		return rc;
	dir = debugfs_create_dir("rpcrdma2_count", NULL);
	debugfs_create_file("counters", 0444, dir, NULL, &counters_fops);
	return 0;
}
module_init(count_init);

static void __exit count_exit(void)
{
	debugfs_remove_recursive(dir);
	unregister_kprobes(probe_list, ARRAY_SIZE(probes));
}
module_exit(count_exit);

MODULE_DESCRIPTION("Counts work requests and completions of soft-RoCE");
MODULE_LICENSE("GPL");
