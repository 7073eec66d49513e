#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the unit tests in a guest: one line a case, whether it passed or not.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

kernel=${1:-uml}
export KUNIT=1

if [ ! -e "$top/kunit/Kbuild" ]; then
	echo "skip kunit: no suites"
	exit 0
fi
mkdir -p "$cache/run"
out=$(mktemp -d "$cache/run/kunit-$kernel-$(date +%H%M%S)-XXXXXX")
# shellcheck disable=SC2016 # for the guest's shell
"$top/scripts/vm.sh" "$kernel" --out "$out" --timeout "${KUNIT_TIMEOUT:-300}" -- \
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

for ktap in "$out"/*.ktap; do
	[ -e "$ktap" ] || continue
	awk -v group=kunit -f "$top/scripts/ktap.awk" "$ktap"
done >"$out/cases"
# Passed cases are many; they are counted here and listed in the file.
grep -v '^ok ' "$out/cases"
awk '/^ok / { split($3, s, ":"); n[s[1]]++ }
	END { for (i in n) printf "# %s: %d passed\n", i, n[i] }' "$out/cases" | sort
echo "# every case: $out/cases"
if [ "$rc" -ne 0 ]; then
	echo "FAIL kunit: the guest ended with $rc"
elif ! grep -q '^ok ' "$out/cases"; then
	echo "FAIL kunit: no case ran"
	rc=1
else
	echo "ok kunit: kernel log clean"
fi
[ -n "${CASES_FILE:-}" ] && cat "$out/cases" >>"$CASES_FILE"
grep -q '^FAIL' "$out/cases" && rc=1
exit "$rc"
