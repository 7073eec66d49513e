#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks the probes in compat/: the features that the build detects are the features that
# the code uses, and the build fails for headers that cannot be probed and for a probe that
# fails for an unrelated reason. Prints the faults.
#
#	lint-kernels.sh BUILD	a build of a supported kernel

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
	sed 's/^\t/no probe for: /; t; s/^/no code uses: /'

grep -L RPCRDMA2_PROBE_WITHOUT compat/probe-*.c | grep -v /probe-control.c |
	sed 's/$/: any failure of it means an older kernel (RPCRDMA2_PROBE_WITHOUT)/'

# The builds use the modules' own Kbuild files, and compile nothing but the probes.
mkdir "$work/m"
cp -a Kbuild include compat rpcrdma2 xprtrdma2 svcrdma2 kunit "$work/m"
find "$work/m" \( -name '*.o' -o -name '*.cmd' -o -name '*.ko' -o -name '*.mod*' \
	-o -name features.h \) -delete
arch=$(grep -qsx CONFIG_UML=y "$build/.config" && echo ARCH=um)

# ends_with PROBE CODE LINE...: adds the code to a probe; the build has to fail and print
# these lines
ends_with()
{
	local line probe=$work/m/compat/probe-$1.c

	cp -a "$probe" "$work/probe.c"
	echo "$2" >>"$probe"
	# shellcheck disable=SC2086 # nothing or one word
	make -C "$build" M="$work/m" $arch -j2 modules >"$work/log" 2>&1 &&
		echo "kbuild built in spite of $1: $2"
	for line in "${@:3}"; do
		grep -q "$line" "$work/log" && continue
		echo "the output of kbuild lacks '$line':"
		cat "$work/log"
	done
	cp "$work/probe.c" "$probe"
}

# The kernel has the feature of the first probe, and lacks that of the second one.
ends_with work-disable '#include <linux/no-such-header.h>' no-such-header.h \
	'probe-work-disable.c compiles neither with the feature nor without it'
ends_with svc-secure-port 'int wrong = ;' \
	'probe-svc-secure-port.c compiles neither with the feature nor without it'
ends_with control '#error no such kernel' 'no such kernel' \
	'probe-control.c does not compile, so features cannot be detected'
find "$work/m" -path "$work/m/compat" -prune -o -name '*.o' -printf '%P was compiled\n'
# shellcheck disable=SC2086 # nothing or one word
make -C "$build" M="$work/m" $arch clean >"$work/log" 2>&1 ||
	{ echo "nothing can be cleaned up:"; cat "$work/log"; }
find "$work/m/compat" ! -name '*.c' ! -name namespace.h ! -name Kbuild -type f \
	-printf 'clean leaves %P\n'
exit 0
