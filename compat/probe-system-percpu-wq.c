// SPDX-License-Identifier: GPL-2.0
/* The workqueue that schedule_work() uses says in its name what it is. */
#include <linux/workqueue.h>

static inline bool probe(struct work_struct *work)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	return queue_work(system_percpu_wq, work);
#else
	return queue_work(system_wq, work);
#endif
}
