#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the unit tests in a guest. The kernel's own kunit.py reads the results: a
# case that was planned and has none is a failure too.
#
#	kunit.sh [--cases] [KERNEL]
#
# --cases shows one line a case, also of those that pass.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

hidden='^ok '
[ "${1:-}" != --cases ] || { hidden='^$'; shift; }
kernel=${1:-uml}
export KUNIT=1

need_packages python3
kdir=$("$vmdir/kernel.sh" "$kernel") || exit 1
parser=$kdir/build/source/tools/testing/kunit/kunit.py
mkdir -p "$cache/run"
out=$(mktemp -d "$cache/run/kunit-$kernel-$(date +%H%M%S)-XXXXXX")
# shellcheck disable=SC2016 # for the guest's shell
"$top/scripts/vm.sh" "$kernel" --out "$out" --timeout 300 -- \
	bash -c '
	rc=0
	for ko in /lib/modules/$(uname -r)/updates/*_kunit.ko; do
		name=$(basename "$ko" .ko)
		modprobe "$name" || { echo "FAIL kunit $name: does not load"; rc=1; }
	done
	for suite in /sys/kernel/debug/kunit/*/; do
		cat "$suite/results" >"/run/vm/$(basename "$suite").ktap"
	done
	for ko in /lib/modules/$(uname -r)/updates/*_kunit.ko; do
		rmmod "$(basename "$ko" .ko)" || rc=1
	done
	exit $rc'
rc=$?

[ "$rc" -eq 0 ] || echo "FAIL kunit $kernel: the guest ended with $rc"

bad='^\[(FAILED|ERROR)\]'
# A case with parameters is as many cases as it has parameters.
for ktap in "$out"/*.ktap; do
	suite="kunit $kernel $(basename "$ktap" .ktap)"
	said=$(set -o pipefail
		python3 -B "$parser" parse "$ktap" 2>&1 | sed 's/^\[[0-9:]*\] //') ||
		grep -qE "$bad" <<<"$said" || said+=$'\n[FAILED] see below'
	sed -nE "s/^\[PASSED\] /ok $suite: /p; s/^\[SKIPPED\] /skip $suite: /p
		s/^\[(FAILED|ERROR)\] /FAIL $suite: /p" <<<"$said"
	! grep -qE "$bad" <<<"$said" ||
		sed '/^\[PASSED\]/d; s/^/# /' <<<"$said"
done >"$out/cases"
grep -v "$hidden" "$out/cases"
! grep -q '^FAIL ' "$out/cases" || [ "$rc" -ne 0 ] || rc=1
[ "$rc" -ne 0 ] || echo "ok kunit $kernel: kernel log clean"
echo "# kunit $kernel: $(grep -c '^ok ' "$out/cases") cases passed, all are in $out/cases"
exit "$rc"
