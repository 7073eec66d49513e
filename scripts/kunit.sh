#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the unit tests in a guest. The kernel's own kunit.py parses the results, so that a
# planned case without a result is a failure too.
#
#	kunit.sh [--rest] [KERNEL]
#
# --rest also prints a line for each case that passes, except cases that also pass in user
# space, which kunit-host.sh counts.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

rest=''
[ "${1:-}" != --rest ] || { rest=1; shift; }
kernel=${1:-uml}
known_kernel "$kernel"
has_test_modules "$kernel" || die "$kernel has no unit tests: use a kernel of User-Mode Linux"

need_packages python3
kdir=$("$vmdir/kernel.sh" "$kernel") || exit 1
# Cases wait for a watchdog.
clock=host
[[ ! $kernel =~ ^uml(-debug)?$ ]] || clock=guest
parser=$kdir/build/source/tools/testing/kunit/kunit.py
mkdir -p "$cache/run"
out=$(mktemp -d "$cache/run/kunit-$kernel-$(date +%H%M%S)-XXXXXX")
# shellcheck disable=SC2016 # for the guest's shell
"$top/scripts/vm.sh" "$kernel" --out "$out" --clock "$clock" -- \
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

# kunit.py prints an error about a suite after its cases.
bad='^\[(FAILED|ERROR)\]'
for ktap in "$out"/*.ktap; do
	[ -e "$ktap" ] || continue
	awk -v group="kunit $kernel" -f "$top/scripts/ktap.awk" "$ktap" >"$out/suite"
	said=$(set -o pipefail
		python3 -B "$parser" parse "$ktap" 2>&1 | sed 's/^\[[0-9:]*\] //') ||
		grep -qE "$bad" <<<"$said" || said+=$'\n[FAILED] see below'
	if grep -qE "$bad" <<<"$said"; then
		grep -q '^FAIL ' "$out/suite" ||
			echo "FAIL kunit $kernel $(basename "$ktap" .ktap): no result of some" \
				>>"$out/suite"
		sed '/^\[PASSED\]/d; s/^/# /' <<<"$said" >>"$out/suite"
	fi
	cat "$out/suite"
done >"$out/cases"

if [ -n "$rest" ]; then
	: >"$out/host"
	if "$top/scripts/kunit-host.sh" >/dev/null; then
		sed -n "s/^ok kunit-host \(.*: \)/ok kunit $kernel \1/p" \
			"$(host_dir)/cases" >"$out/host"
	else
		echo "FAIL kunit $kernel: kunit-host fails, so every case is shown"
		[ "$rc" -ne 0 ] || rc=1
	fi
	grep -vxFf "$out/host" "$out/cases"
	# If nfsd takes pages there is no contiguous mapping of them, and two cases do not
	# exist.
	if grep -q SVC_WRITE_BVEC "$(build_dir "$kernel")/src/compat/features.h"; then
		sed -i '/: stretch_fails$/d; /: grown_while_shrinking$/d' "$out/host"
	fi
	sed 's/^[^ ]* //' "$out/cases" >"$out/names"
	if [ ! -s "$out/names" ]; then
		echo "FAIL kunit $kernel: no case has a result"
	else
		sed 's/^ok //' "$out/host" | grep -vxFf "$out/names" |
			sed 's/.*/FAIL &: only in user space/' | tee "$out/missing"
	fi
	[ ! -s "$out/missing" ] || [ "$rc" -ne 0 ] || rc=1
else
	grep -v '^ok ' "$out/cases"
fi
! grep -q '^FAIL ' "$out/cases" || [ "$rc" -ne 0 ] || rc=1
[ "$rc" -ne 0 ] || echo "ok kunit $kernel: kernel log clean"
echo "# kunit $kernel: $(grep -c '^ok ' "$out/cases") cases passed, all are in $out/cases"
exit "$rc"
