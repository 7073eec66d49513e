// SPDX-License-Identifier: GPL-2.0
/* The namespace of exports is a string, and no bare word. */
#define DEFAULT_SYMBOL_NAMESPACE "PROBE"
#include <linux/export.h>

int probe;
EXPORT_SYMBOL_GPL(probe);
