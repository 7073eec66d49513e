/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All exports of a module are in one namespace: in front of every file of the core,
 * since <linux/export.h> looks for it when it is included. Which modules import it,
 * MODULE_INFO() says, which is the same for every kernel.
 */
#include <features.h>

#ifdef RPCRDMA2_HAS_EXPORT_NAMESPACE_STRING
#define DEFAULT_SYMBOL_NAMESPACE "RPCRDMA2"
#else
#define DEFAULT_SYMBOL_NAMESPACE RPCRDMA2
#endif

/* Without the unit tests only what the two ends use is exported. */
#ifdef RPCRDMA2_KUNIT
#define EXPORT_SYMBOL_IF_KUNIT(sym)	EXPORT_SYMBOL_GPL(sym)
#else
#define EXPORT_SYMBOL_IF_KUNIT(sym)
#endif
