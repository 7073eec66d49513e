#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Which kernels Kbuild refuses, and what it says: headers that imitate kernels,
# and the real ones of a build. Prints what is not as it should be.
#
#	lint-kernels.sh BUILD	a build of a kernel that is supported

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# imitate NAME SVC_H XPRT_H: headers with as much as Kbuild looks for
imitate()
{
	mkdir -p "$work/$1/include/linux/sunrpc"
	echo "$2" >"$work/$1/include/linux/sunrpc/svc.h"
	echo "$3" >"$work/$1/include/linux/sunrpc/xprt.h"
}

part='struct page **rq_respages;	/* points into rq_pages */'
apart='struct page **rq_respages;'
nfree='unsigned long rq_pages_nfree;'
maxpages='unsigned long svc_serv_maxpages(const struct svc_serv *serv);'
backlog='void xprt_add_backlog(struct rpc_xprt *xprt, struct rpc_task *task);'
noncongested='void xprt_add_backlog_noncongested(struct rpc_xprt *xprt, struct rpc_task *task);'

imitate 6.1 "$part" "$backlog"
imitate 6.12.94 "$part" "$backlog"
imitate 6.12.107 "$part" "$noncongested"
imitate 6.12.117 "$part $maxpages" "$noncongested"
imitate 7.1 "$apart $maxpages" "$noncongested"
imitate 7.3 "$apart $nfree $maxpages" "$noncongested"
imitate both "$part $nfree $maxpages" "$noncongested"

# said HEADERS RELEASE [VARIABLE]: what Kbuild says to a kernel
said()
{
	printf '__build:\n\t@echo accepted\ninclude Kbuild\n' |
		make -s -f - srctree="$1" KERNELRELEASE="$2" src=. "${@:3}" 2>&1
}

# expect PATTERN HEADERS RELEASE [VARIABLE]: one line, and this one
expect()
{
	local pattern=$1 got

	shift
	got=$(said "$work/$1" "${@:2}")
	if [ "$(wc -l <<<"$got")" -ne 1 ] || ! grep -qE "$pattern" <<<"$got"; then
		echo "headers like $1, release ${*:2}: not '$pattern' but: $got"
	fi
}

supported='supported: Linux 6\.12 from 6\.12\.111 on, tested: 6\.12\.117'
untested="has not been tested .*; $supported"
layout="has no struct svc_rqst whose rq_respages points into rq_pages; $supported"

expect '^accepted$' 6.12.117 6.12.117+deb12-amd64
expect "Linux 6\.1\.0-50-amd64 $untested" 6.1 6.1.0-50-amd64
expect '^accepted$' 6.1 6.1.0-50-amd64 ANY_KERNEL=1
expect "Linux 6\.13\.1 $untested" 6.12.117 6.13.1
expect "Linux 6\.120\.1 $untested" 6.12.117 6.120.1
expect "lacks svc_serv_maxpages\(\) xprt_add_backlog_noncongested\(\); $supported" \
	6.12.94 6.12.94+deb13-amd64
expect "lacks svc_serv_maxpages\(\); $supported" 6.12.107 6.12.107+deb13-amd64
expect '^accepted$' 6.12.94 6.12.94+deb13-amd64 ANY_KERNEL=1
# What corrupts memory is refused whatever its release, and whatever is asked.
for release in 6.12.117 7.3.4; do
	for headers in 7.1 7.3 both no-headers-at-all; do
		expect "Linux $release $layout" "$headers" "$release"
		expect "Linux $release $layout" "$headers" "$release" ANY_KERNEL=1
	done
done

# Through kbuild, with the modules' own Kbuild files: nothing is compiled.
mkdir "$work/m"
cp -a Kbuild include rpcrdma2 xprtrdma2 svcrdma2 kunit "$work/m"
find "$work/m" \( -name '*.o' -o -name '*.cmd' -o -name '*.ko' -o -name '*.mod*' \) -delete
arch=$(grep -qsx CONFIG_UML=y "$build/.config" && echo ARCH=um)
for target in '' modules; do
	# shellcheck disable=SC2086 # nothing or one word
	make -C "$build" M="$work/m" $arch -j4 KERNELRELEASE=7.3.4 $target \
		>"$work/log" 2>&1 && echo "kbuild built for Linux 7.3.4"
	if [ "$(grep -c "rdma2: Linux 7\.3\.4 $untested" "$work/log")" -ne 1 ] ||
			grep -q 'error:' "$work/log"; then
		echo "kbuild does not say it in one line:"
		cat "$work/log"
	fi
	find "$work/m" -name '*.o' -printf '%P was compiled\n'
done
# shellcheck disable=SC2086 # nothing or one word
make -C "$build" M="$work/m" $arch KERNELRELEASE=7.3.4 clean >"$work/log" 2>&1 ||
	{ echo "nothing can be cleaned up:"; cat "$work/log"; }
exit 0
