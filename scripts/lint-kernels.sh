#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the build finds out about a kernel, and what the code asks of that, are the
# same; and headers of which nothing can be found out end the build. Prints what is
# not as it should be.
#
#	lint-kernels.sh BUILD	a build of a kernel that is supported

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for probe in compat/probe-*.c; do
	name=${probe#*/probe-}
	echo "${name%.c}" | tr a-z- A-Z_
done | sort >"$work/probes"
{
	echo CONTROL
	git grep -ohE 'RPCRDMA2_HAS_[A-Z_]+' -- '*.[ch]' |
		sed 's/^RPCRDMA2_HAS_//'
} | sort -u >"$work/asked"
comm -3 "$work/probes" "$work/asked" |
	sed 's/^\t/no probe finds out: /; t; s/^/no code asks for: /'

# Through kbuild, with the modules' own Kbuild files: nothing else is compiled.
mkdir "$work/m"
cp -a Kbuild include compat rpcrdma2 xprtrdma2 svcrdma2 kunit "$work/m"
find "$work/m" \( -name '*.o' -o -name '*.cmd' -o -name '*.ko' -o -name '*.mod*' \
	-o -name features.h \) -delete
echo '#error no such kernel' >>"$work/m/compat/probe-control.c"
arch=$(grep -qsx CONFIG_UML=y "$build/.config" && echo ARCH=um)
# shellcheck disable=SC2086 # nothing or one word
make -C "$build" M="$work/m" $arch -j2 modules >"$work/log" 2>&1 &&
	echo "kbuild built for headers that do not compile"
for line in 'no such kernel' 'not even what every kernel has compiles'; do
	grep -q "$line" "$work/log" && continue
	echo "kbuild does not say '$line':"
	cat "$work/log"
done
find "$work/m" -path "$work/m/compat" -prune -o -name '*.o' -printf '%P was compiled\n'
# shellcheck disable=SC2086 # nothing or one word
make -C "$build" M="$work/m" $arch clean >"$work/log" 2>&1 ||
	{ echo "nothing can be cleaned up:"; cat "$work/log"; }
find "$work/m/compat" ! -name '*.c' ! -name namespace.h ! -name Kbuild -type f \
	-printf 'clean leaves %P\n'
exit 0
