/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included in front of code of the server: the figures of its suite are those of a
 * largest payload of 1 MiB, whatever the kernel has.
 */
#include <linux/sunrpc/svc.h>

#undef RPCSVC_MAXPAYLOAD
#define RPCSVC_MAXPAYLOAD	0x100000U
