#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs all test targets, one after the other; a failing target does not stop it:
#
#	check-all.sh [TARGET...]	OUT=DIR is the folder of the logs and the report
#
# A skipped case fails its target. report.txt in that folder has the result and the duration
# of each target and its failed cases, and the table of coverage, which covers all guests of
# the other targets. With the folder of an earlier run of the same commit, targets that have
# passed do not run again.

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
failed=0

commit_now()
{
	git -C "$top" describe --always --dirty 2>/dev/null || echo unknown
}

# passed TARGET: prints the minutes that it took when it passed for this commit
passed()
{
	[[ $commit != *dirty && $commit != unknown ]] &&
		awk -v commit="$commit" '$1 == commit { print $2; found = 1 } END { exit !found }' \
			"$out/$1.passed" 2>/dev/null
}

commit=$(commit_now)
printf '%s\n' "$commit" >"$report"
for target in "${targets[@]}"; do
	verdict=passed
	# A target that failed in an earlier run keeps its log, and the report says so.
	for log in "$out/$target".log.failed-*; do
		[ ! -e "$log" ] || echo "$target failed before: $log" >>"$report"
	done
	if ! minutes=$(passed "$target"); then
		say "$target: begins; log: $out/$target.log"
		start=$SECONDS
		CI=true make -C "$top" "$target" >"$out/$target.log" 2>&1 </dev/null
		rc=$?
		minutes=$(((SECONDS - start) / 60))
		! grep -aq '^skip ' "$out/$target.log" || rc="$rc, skipped cases"
		# The result is not of this commit if the sources have changed meanwhile.
		if [ "$rc" = 0 ]; then
			[ "$(commit_now)" != "$commit" ] ||
				echo "$commit $minutes" >"$out/$target.passed"
		else
			cp "$out/$target.log" "$out/$target.log.failed-$(date +%Y%m%d-%H%M%S)"
			verdict="FAILED ($rc)"
			failed=$((failed + 1))
		fi
	fi
	total=$((${total:-0} + minutes))
	line=$(printf '%-14s %-12s %4d min' "$target" "$verdict" "$minutes")
	say "$line"
	echo "$line" >>"$report"
	took+=("$minutes $target")
	grep -aE '^(not ok|FAIL|skip |[0-9]+ passed, )' "$out/$target.log" |
		sort -u | sed 's/^/    /' >>"$report"
	[ "$target" != coverage ] ||
		sed -n '/^module  /,$s/^/    /p' "$out/$target.log" >>"$report"
done
longest=$(printf '%s\n' "${took[@]}" | sort -rn | head -n 5 |
	awk '{ printf "%s%s %d min", sep, $2, $1; sep = ", " }')
echo "$total min; the longest: $longest" >>"$report"
cat "$report"
echo "$((${#targets[@]} - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
