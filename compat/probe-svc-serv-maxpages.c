// SPDX-License-Identifier: GPL-2.0
/* How many pages a thread has is the service's affair, not a constant. */
#include <linux/sunrpc/svc.h>

static inline unsigned long probe(const struct svc_serv *serv)
{
	return svc_serv_maxpages(serv);
}
