// SPDX-License-Identifier: GPL-2.0
/*
 * What the server counts. debugfs.c shows it.
 */
#include "svcrdma2.h"

DEFINE_PER_CPU(u64 [SVC2_C_COUNT], svc2_counters);

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
