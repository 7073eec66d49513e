/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-CPU event counters with names.
 *
 * A module lists its counters once, in an X-macro that generates the enum and
 * the names. Counting is one per-CPU add without a shared cache line; reading
 * sums over the possible CPUs and may miss events in flight.
 */
#ifndef _RPCRDMA2_COUNTERS_H
#define _RPCRDMA2_COUNTERS_H

#include <linux/percpu.h>
#include <linux/seq_file.h>

/**
 * rpcrdma2_counters_show - print counters, one "name value" a line
 * @seq: output
 * @counters: per-CPU array
 * @names: names of the counters
 * @count: number of counters
 */
void rpcrdma2_counters_show(struct seq_file *seq, const u64 __percpu *counters,
			    const char *const *names, unsigned int count);

#endif /* _RPCRDMA2_COUNTERS_H */
