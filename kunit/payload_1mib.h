/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of the server includes this header first: the figures of its suite apply to a
 * largest payload of 1 MiB, and kernels differ in that limit.
 */
#include <linux/sunrpc/svc.h>

#undef RPCSVC_MAXPAYLOAD
#define RPCSVC_MAXPAYLOAD	0x100000U
