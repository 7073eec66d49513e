// SPDX-License-Identifier: GPL-2.0
/* Work can be kept from being queued. */
#include <linux/workqueue.h>

static inline bool probe(struct work_struct *work, struct delayed_work *dwork)
{
	return disable_work_sync(work) && disable_delayed_work_sync(dwork);
}
