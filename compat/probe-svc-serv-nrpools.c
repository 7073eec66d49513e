// SPDX-License-Identifier: GPL-2.0
/* The number of a service's pools of threads is asked for, and no member. */
#include <linux/sunrpc/svc.h>

static inline unsigned int probe(const struct svc_serv *serv)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	return svc_serv_nrpools(serv);
#else
	return serv->sv_nrpools;
#endif
}
