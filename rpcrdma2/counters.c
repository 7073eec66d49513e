// SPDX-License-Identifier: GPL-2.0
/*
 * Per-CPU event counters with names.
 *
 * A module lists its counters once, in an X-macro; the list makes the enum
 * and the names. Counting is one per-CPU add without a shared cache line;
 * reading sums over the possible CPUs and may miss events in flight.
 */
#include <linux/export.h>

#include <rpcrdma2/counters.h>

static u64 counter_sum(const u64 __percpu *counters, unsigned int which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(counters + which, cpu));
	return sum;
}

void rpcrdma2_counters_show(struct seq_file *seq, const u64 __percpu *counters,
			    const char *const *names, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		seq_printf(seq, "%s %llu\n", names[i],
			   counter_sum(counters, i));
}
EXPORT_SYMBOL_GPL(rpcrdma2_counters_show);
