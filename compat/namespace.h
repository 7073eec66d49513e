/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The namespace of all exports of the core. This file is included in front of every
 * file of the core, because <linux/export.h> evaluates the macro. Modules import the
 * namespace by MODULE_INFO(), which is the same on all kernels.
 */
#include <features.h>

#ifdef RPCRDMA2_HAS_EXPORT_NAMESPACE_STRING
#define DEFAULT_SYMBOL_NAMESPACE "RPCRDMA2"
#else
#define DEFAULT_SYMBOL_NAMESPACE RPCRDMA2
#endif

/* Without the unit tests only symbols that the two ends use are exported. */
#ifdef RPCRDMA2_KUNIT
#define EXPORT_SYMBOL_IF_KUNIT(sym)	EXPORT_SYMBOL_GPL(sym)
#else
#define EXPORT_SYMBOL_IF_KUNIT(sym)
#endif
