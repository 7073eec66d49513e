/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the server's counters, for suites that compile a part of the server in.
 */
#ifndef _RPCRDMA2_KUNIT_COUNTERS_H
#define _RPCRDMA2_KUNIT_COUNTERS_H

#include "../svcrdma2/svcrdma2.h"

static u64 count_of(enum svc2_counter counter)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += per_cpu(svc2_counters, cpu)[counter];
	return sum;
}

#endif /* _RPCRDMA2_KUNIT_COUNTERS_H */
