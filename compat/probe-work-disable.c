// SPDX-License-Identifier: GPL-2.0
/* Work items can be disabled. */
#include <linux/workqueue.h>

static inline bool probe(struct work_struct *work, struct delayed_work *dwork)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	return disable_work_sync(work) && disable_delayed_work_sync(dwork);
#else
	return atomic_long_read(&work->data) & WORK_OFFQ_CANCELING &&
		cancel_delayed_work_sync(dwork);
#endif
}
