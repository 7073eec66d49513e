// SPDX-License-Identifier: GPL-2.0
/* Event counters and connection state in debugfs and /proc/net/rpc */
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/proc_fs.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/wire.h>

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

/*
 * proc_create_net_single() gets the namespace from the parent directory, which
 * sunrpc's directory does not provide. The namespace outlives the file.
 */
void rpcrdma2_view_make(struct net *net, const char *path,
			int (*show)(struct seq_file *seq, void *unused))
{
	proc_create_single_data(path, 0444, net->proc_net, show, net);
}
EXPORT_SYMBOL_GPL(rpcrdma2_view_make);
