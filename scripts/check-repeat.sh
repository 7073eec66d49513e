#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks that make check gives the same verdicts each time:
#
#	check-repeat.sh		RUNS=10
#
# Every other run has load beside it: stress-ng with two busy processes, and a compiler in a
# loop. The cache keeps the verdicts of each run of this commit, so the ten runs can be
# split over several invocations; the table has all of them. The script fails if a run
# failed, or if the verdicts of two runs differ.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

cd "$top" || exit 1
[ $# -eq 0 ] || die "unknown option '$1'"
runs=${RUNS:-10}
number RUNS "$runs"
[ -z "$(git status --porcelain)" ] || die "the tree has changes, and runs belong to a commit"

out=$cache/repeat/$(git rev-parse --short HEAD)
mkdir -p "$out"
work=$(mktemp -d)

compile_for_ever()
{
	while :; do
		rm -rf "$work/compiled"
		make -s -f kunit/host/Makefile OUT="$work/compiled" >/dev/null 2>&1
	done
}

# A signal ends the run at once: bash would wait for a command in the foreground first.
leave()
{
	[ -z "${check:-}" ] || kill -TERM "$check" 2>/dev/null
	[ -z "${company:-}" ] || kill -TERM -- "${company[@]/#/-}" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$work"
}
trap leave EXIT
trap 'exit 130' INT TERM HUP

# run NUMBER: makes a run; even numbers have load beside them
run()
{
	local log=$out/$1.log beside=nothing start=$SECONDS rc

	company=()
	rm -f "$out/$1.verdicts.new"
	if [ $(($1 % 2)) -eq 0 ]; then
		beside="2 busy, 1 compiler"
		set -m
		stress-ng --quiet --cpu 2 & company+=($!)
		compile_for_ever & company+=($!)
		set +m
	fi
	CI=true VERDICTS=$out/$1.verdicts.new \
		scripts/check.sh >"$log" 2>&1 </dev/null &
	check=$!
	wait "$check"
	rc=$?
	check=''
	[ ${#company[@]} -eq 0 ] || kill -TERM -- "${company[@]/#/-}"
	company=()
	[ -s "$out/$1.verdicts.new" ] || return
	[ "$rc" -eq 0 ] && rc=passed || rc="FAILED ($rc)"
	printf '%3d  %-18s %4d min  %s: %s, %s\n' "$1" "$beside" $(((SECONDS - start) / 60)) \
		"$rc" "$(tail -n 1 "$log")" "$(grep -o 'digest of .*' "$log")" >"$out/$1.row"
	# An interrupted run has no verdicts file and is repeated.
	mv "$out/$1.verdicts.new" "$out/$1.verdicts" && cat "$out/$1.row"
}

# made NUMBER: succeeds if the run has its verdicts and its status
made()
{
	[ -s "$out/$1.verdicts" ] && [ -s "$out/$1.row" ]
}

need_packages stress-ng make gcc
for ((n = 1; n <= runs; n++)); do
	made "$n" || run "$n" || die "run $n did not end, see $out/$n.log"
done

sort -n "$out"/*.row
! grep -q ' FAILED (' "$out"/*.row && ! grep -q '^not ok' "$out"/*.verdicts
failed=$?
for file in "$out"/*.verdicts; do
	diff "$out/1.verdicts" "$file" >"$work/diff" || {
		failed=1
		echo "$(basename "$file" .verdicts) differs from 1:"
		cat "$work/diff"
	}
done
exit "$failed"
