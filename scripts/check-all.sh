#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs all test targets, one after the other; a failing target does not stop it:
#
#	check-all.sh [TARGET...]	OUT=DIR is the folder of the logs and the report
#
# A skipped case fails its target. report.txt in that folder has the result and the duration
# of each target and its failed cases, and the table of coverage, which covers all guests of
# the other targets.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

targets=(check conformance check-long check-kernels check-arches check-dma check-races check-smp check-install soak mutants guest-mutants fuzz-wire bench demo coverage)
[ $# -eq 0 ] || targets=("$@")
out=${OUT:-$cache/check-all-$(date +%Y%m%d-%H%M%S)}
mkdir -p "$out/entered" || exit 1
COVERAGE=$(realpath "$out/entered")
export COVERAGE
report=$out/report.txt
git -C "$top" log -1 --format='%h %s' >"$report" 2>/dev/null
failed=0

for target in "${targets[@]}"; do
	say "$target: begins; log: $out/$target.log"
	start=$SECONDS
	CI=true make -C "$top" "$target" >"$out/$target.log" 2>&1 </dev/null
	rc=$?
	verdict=passed
	[ "$rc" -eq 0 ] || { verdict="FAILED ($rc)"; failed=$((failed + 1)); }
	line=$(printf '%-14s %-12s %4d min' "$target" "$verdict" $(((SECONDS - start) / 60)))
	say "$line"
	echo "$line" >>"$report"
	grep -aE '^(not ok|FAIL|[0-9]+ passed, )' "$out/$target.log" |
		sort -u | sed 's/^/    /' >>"$report"
	[ "$target" != coverage ] ||
		sed -n '/^module  /,$s/^/    /p' "$out/$target.log" >>"$report"
done
cat "$report"
echo "$((${#targets[@]} - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
