/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows kernel releases, and the macros through which the
 * unit tests reach what is otherwise static.
 *
 * The baseline is 6.12. A difference becomes a capability or a wrapper named
 * for what it offers, with the release that brought it.
 */
#ifndef _RPCRDMA2_COMPAT_H
#define _RPCRDMA2_COMPAT_H

#include <linux/export.h>
#include <linux/module.h>
#include <linux/version.h>

/* 6.13: the namespace of a symbol is a string; before, a bare token */
#if KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE
#define RPCRDMA2_NS(name)	#name
#else
#define RPCRDMA2_NS(name)	name
#endif

/*
 * VISIBLE_IF_RPCRDMA2_KUNIT stands in place of "static" before a function the
 * tests call, EXPORT_SYMBOL_IF_RPCRDMA2_KUNIT() behind it, and the tests say
 * RPCRDMA2_IMPORT_KUNIT_SYMBOLS once a module. Only "make KUNIT=1" makes a
 * difference; any other build has "static" and exports nothing.
 */
#ifdef RPCRDMA2_KUNIT
#define EXPORT_SYMBOL_IF_RPCRDMA2_KUNIT(symbol)	\
	EXPORT_SYMBOL_NS_GPL(symbol, RPCRDMA2_NS(RPCRDMA2_KUNIT_SYMBOLS))
#define VISIBLE_IF_RPCRDMA2_KUNIT
#define RPCRDMA2_IMPORT_KUNIT_SYMBOLS \
	MODULE_IMPORT_NS(RPCRDMA2_NS(RPCRDMA2_KUNIT_SYMBOLS))
#else
#define EXPORT_SYMBOL_IF_RPCRDMA2_KUNIT(symbol)
#define VISIBLE_IF_RPCRDMA2_KUNIT	static
#endif

#endif /* _RPCRDMA2_COMPAT_H */
