#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
#	prepare.sh FOLDER SUITE...
#
# Writes what a build over the shim takes, from the top of the sources: below
# FOLDER/include the shim under the name of every kernel header that is included
# anywhere, and in FOLDER/suites.c the list of the suites, which are named after
# their files. FOLDER/prepared says for what; nothing is written when it is the
# same as before.

set -eu
out=$1
shift

mkdir -p "$out"
{
	grep -rhoE --include='*.[ch]' '<(asm|kunit|linux|net|rdma|trace)/[^>]+>' \
		include kunit ./*rdma2 |
		tr -d '<>' | sort -u
	echo "$@"
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
	linux/seq_file.h | linux/slab.h | linux/spinlock.h | linux/time64.h | \
	linux/tracepoint.h | linux/vmalloc.h | linux/wait.h | linux/workqueue.h)	shim=system.h ;;
	*)			shim=shim.h ;;
	esac
	mkdir -p "$out/include/$(dirname "$header")"
	echo "#include \"$shim\"" >"$out/include/$header"
done
# the shim is a kernel of one kind
mkdir -p "$out/include/rpcrdma2"
echo '#include "sunrpc.h"' >"$out/include/rpcrdma2/compat.h"
{
	echo '#include "kunit.h"'
	printf 'extern struct kunit_suite *const %s[];\n' "$@"
	echo 'struct kunit_suite *const *const host_lists[] = {'
	printf '\t%s,\n' "$@" NULL
	echo '};'
} >"$out/suites.c"
mv "$out/prepared.new" "$out/prepared"
