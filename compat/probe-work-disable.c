// SPDX-License-Identifier: GPL-2.0
/* Work items can be disabled. */
#include <linux/workqueue.h>

static inline bool probe(struct work_struct *work, struct delayed_work *dwork)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	return disable_work_sync(work) && disable_delayed_work_sync(dwork);
#else
	return test_and_set_bit(__WORK_OFFQ_CANCELING, work_data_bits(work)) &&
		cancel_delayed_work_sync(dwork);
#endif
}
