// SPDX-License-Identifier: GPL-2.0
/* The namespace of exports is a string, not an identifier. */
#ifndef RPCRDMA2_PROBE_WITHOUT
#define DEFAULT_SYMBOL_NAMESPACE "PROBE"
#else
#define DEFAULT_SYMBOL_NAMESPACE PROBE
#endif
#include <linux/export.h>

int probe;
EXPORT_SYMBOL_GPL(probe);
