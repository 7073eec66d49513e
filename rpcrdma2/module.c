// SPDX-License-Identifier: GPL-2.0
/*
 * The core module, which client and server share: module parameters of these,
 * their files in debugfs and /proc/net/rpc, and fault injection points
 */
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/fault.h>
#include <rpcrdma2/param.h>
#include <rpcrdma2/release.h>
#include <rpcrdma2/wire.h>

#include "core.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

const char *const rpcrdma2_backward_names[] = {
	[RDMA2_BKREQSUP_NONE]	= "none",
	[RDMA2_BKREQSUP_INLINE]	= "inline",
	[RDMA2_BKREQSUP_GENL]	= "genl",
};
EXPORT_SYMBOL_GPL(rpcrdma2_backward_names);

const char *const rpcrdma2_version_names[] = { "any", "1", "2" };
EXPORT_SYMBOL_GPL(rpcrdma2_version_names);

static int rpcrdma2_param_parse(const struct rpcrdma2_param *pm,
				const char *val, unsigned int *value)
{
	int ret;

	if (pm->pm_names) {
		ret = __sysfs_match_string(pm->pm_names, pm->pm_max + 1, val);
		*value = ret;
		return min(ret, 0);
	}
	ret = kstrtouint(val, 0, value);
	if (!ret && (*value < pm->pm_min || *value > pm->pm_max))
		ret = -EINVAL;
	return ret;
}

static int rpcrdma2_param_set(const char *val, const struct kernel_param *kp)
{
	struct rpcrdma2_param *pm = kp->arg, *also = pm->pm_second;
	const char *colon = strchrnul(val, ':');
	unsigned int value, second = 0;
	char first[16];
	int ret;

	if (colon - val >= sizeof(first) || (*colon && !also))
		return -EINVAL;
	strscpy(first, val, colon - val + 1);
	ret = rpcrdma2_param_parse(pm, first, &value);
	if (!ret && *colon)
		ret = rpcrdma2_param_parse(also, colon + 1, &second);
	if (ret)
		return ret;
	WRITE_ONCE(pm->pm_value, value);
	if (*colon)
		WRITE_ONCE(also->pm_value, second);
	if (pm->pm_changed)
		pm->pm_changed();
	return 0;
}

static int rpcrdma2_param_get(char *buffer, const struct kernel_param *kp)
{
	const struct rpcrdma2_param *pm = kp->arg;
	int len;

	if (pm->pm_names)
		len = sysfs_emit(buffer, "%s",
				 pm->pm_names[READ_ONCE(pm->pm_value)]);
	else
		len = sysfs_emit(buffer, "%u", rpcrdma2_param(pm));
	if (pm->pm_second)
		len += sysfs_emit_at(buffer, len, ":%u",
				     rpcrdma2_param(pm->pm_second));
	return len + sysfs_emit_at(buffer, len, "\n");
}

const struct kernel_param_ops rpcrdma2_param_ops = {
	.set = rpcrdma2_param_set,
	.get = rpcrdma2_param_get,
};
EXPORT_SYMBOL_GPL(rpcrdma2_param_ops);

/* Event counters, and the state of connections */

void rpcrdma2_counters_show(struct seq_file *seq, const u64 __percpu *counters,
			    const char *const *names, unsigned int count)
{
	unsigned int i;
	u64 sum;
	int cpu;

	for (i = 0; i < count; i++) {
		sum = 0;
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(*per_cpu_ptr(counters + i, cpu));
		seq_printf(seq, "%s %llu\n", names[i], sum);
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_counters_show);

void rpcrdma2_word_show(struct seq_file *seq, const char *key, const char *text)
{
	seq_printf(seq, " %s=", key);
	for (; *text; text++)
		seq_putc(seq, *text == ' ' ? '-' : *text);
}
EXPORT_SYMBOL_GPL(rpcrdma2_word_show);

void rpcrdma2_errors_show(struct seq_file *seq, const struct rpcrdma2_errors *er)
{
	static const struct {
		u32		code;
		const char	*name;
	} codes[] = {
		RPCRDMA2_ERRCODES(RPCRDMA2_SHOW_PAIR)
	};
	const char *before = " errors=";
	unsigned int i, count;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		if (codes[i].code > RDMA2_ERR_SYSTEM)
			continue;
		count = atomic_read(&er->er_codes[codes[i].code]);
		if (!count)
			continue;
		seq_printf(seq, "%s%s:%u", before, codes[i].name, count);
		before = ",";
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_errors_show);

void rpcrdma2_backward_show(struct seq_file *seq,
			    const struct rpcrdma2_backward *bw, unsigned int used)
{
	seq_printf(seq, " backward_used=%u backward_calls=%ld backward_read_chunks=%ld backward_write_chunks=%ld backward_reply_chunks=%ld backward_invs=%ld",
		   used, atomic_long_read(&bw->bw_calls),
		   atomic_long_read(&bw->bw_read_chunks),
		   atomic_long_read(&bw->bw_write_chunks),
		   atomic_long_read(&bw->bw_reply_chunks),
		   atomic_long_read(&bw->bw_invs));
}
EXPORT_SYMBOL_GPL(rpcrdma2_backward_show);

void rpcrdma2_vectors_show(struct seq_file *seq, const struct rpcrdma2_conn *co)
{
	seq_printf(seq, " vectors=%u,%u", co->co_send_cq->comp_vector,
		   co->co_recv_cq->comp_vector);
}
EXPORT_SYMBOL_GPL(rpcrdma2_vectors_show);

void rpcrdma2_peer_show(struct seq_file *seq, const struct rpcrdma2_peer_props *pp)
{
	if (READ_ONCE(pp->pp_announced))
		seq_printf(seq, " rbsiz=%u brs=%s",
			   READ_ONCE(pp->pp_now.pr_rbsiz),
			   rpcrdma2_bkreqsup_name(READ_ONCE(pp->pp_now.pr_brs)));
}
EXPORT_SYMBOL_GPL(rpcrdma2_peer_show);

void rpcrdma2_error_show(struct seq_file *seq, int error, time64_t at)
{
	if (error)
		seq_printf(seq, " error=%d error_ago=%lld", -error,
			   ktime_get_boottime_seconds() - at);
}
EXPORT_SYMBOL_GPL(rpcrdma2_error_show);

/* Fault injection points: see rpcrdma2/fault.h. */

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

struct fault_attr rpcrdma2_faults[] = {
	[0 ... RPCRDMA2_NFAULTS - 1] = FAULT_ATTR_INITIALIZER
};
EXPORT_SYMBOL_GPL(rpcrdma2_faults);

static const char *const rpcrdma2_fault_names[] = {
#define RPCRDMA2_NAME(name) "fail_" #name,
	RPCRDMA2_FAULTS(RPCRDMA2_NAME)
#undef RPCRDMA2_NAME
};

void rpcrdma2_faults_init(struct dentry *dir)
{
	unsigned int i;

	for (i = 0; i < RPCRDMA2_NFAULTS; i++) {
		/* Injected faults are deliberate and not logged. */
		rpcrdma2_faults[i].verbose = 0;
		fault_create_debugfs_attr(rpcrdma2_fault_names[i], dir,
					  &rpcrdma2_faults[i]);
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_faults_init);

#endif

/* Memory reclaim may wait for the work queued here. */
struct workqueue_struct *rpcrdma2_wq;

static int __init rpcrdma2_init(void)
{
	int ret;

	rpcrdma2_wq = alloc_workqueue("rpcrdma2", WQ_MEM_RECLAIM | WQ_UNBOUND,
				      0);
	if (!rpcrdma2_wq)
		return -ENOMEM;
	ret = rpcrdma2_rw_start();
	if (ret)
		destroy_workqueue(rpcrdma2_wq);
	return ret;
}

static void __exit rpcrdma2_exit(void)
{
	rpcrdma2_rw_stop();
	destroy_workqueue(rpcrdma2_wq);
}

module_init(rpcrdma2_init);
module_exit(rpcrdma2_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 2: core of client and server");
MODULE_LICENSE("GPL");
MODULE_VERSION(RPCRDMA2_RELEASE);
