// SPDX-License-Identifier: GPL-2.0
/* Headers that every kernel has, and that the other probes and compat.h need */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
