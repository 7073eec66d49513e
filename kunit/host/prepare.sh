#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
#	prepare.sh FOLDER SUITE...
#
# Generates files for a build with the shim, from the top of the sources: below
# FOLDER/include a header for every kernel header that is included anywhere, and
# FOLDER/suites.c with the list of the suites, which have the names of their files.
# FOLDER/prepared lists the headers and suites; if it has not changed, the script
# writes nothing.

set -eu
out=$1
shift

function_of_compat() {
	sed -n "/^static inline .* $1(/,/^}/p" include/rpcrdma2/compat.h
}

mkdir -p "$out"
{
	grep -rhoE --include='*.[ch]' '<(asm|kunit|linux|net|rdma|trace)/[^>]+>' \
		include kunit ./*rdma2 |
		tr -d '<>' | sort -u
	echo "$@"
	function_of_compat rpcrdma2_rw_send_wrs
} >"$out/prepared.new"
cmp -s "$out/prepared.new" "$out/prepared" && exit 0

rm -rf "$out/include"
grep / "$out/prepared.new" | while read -r header; do
	case $header in
	kunit/*)		shim=kunit.h ;;
	net/* | */addr.h)	shim=inet.h ;;
	rdma/* | linux/dma-*)	shim=verbs.h ;;
	*/svc.h | */svc_xprt.h | */xprt.h) shim=sunrpc.h ;;
	trace/* | linux/completion.h | linux/debugfs.h | linux/delay.h | \
	linux/fault-inject.h | linux/*list.h | linux/mutex.h | linux/percpu.h | \
	linux/seq_file.h | linux/shrinker.h | linux/slab.h | linux/spinlock.h | \
	linux/time64.h | linux/tracepoint.h | linux/vmalloc.h | linux/wait.h | linux/workqueue.h)	shim=system.h ;;
	*)			shim=shim.h ;;
	esac
	mkdir -p "$out/include/$(dirname "$header")"
	echo "#include \"$shim\"" >"$out/include/$header"
done
# The shim has no variants of the kernel for compat.h to hide. One function computes a figure
# of the RDMA core, with which a case compares it.
mkdir -p "$out/include/rpcrdma2"
{
	printf '#ifndef _%s\n#define _%s\n' RPCRDMA2_COMPAT_H{,}
	echo '#include "sunrpc.h"'
	echo '#include "verbs.h"'
	echo '#include <rpcrdma2/plan.h>'
	function_of_compat rpcrdma2_rw_send_wrs
	echo '#endif'
} >"$out/include/rpcrdma2/compat.h"
{
	echo '#include "kunit.h"'
	printf 'extern struct kunit_suite *const %s[];\n' "$@"
	echo 'struct kunit_suite *const *const host_lists[] = {'
	printf '\t%s,\n' "$@" NULL
	echo '};'
} >"$out/suites.c"
mv "$out/prepared.new" "$out/prepared"
