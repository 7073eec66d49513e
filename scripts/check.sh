#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every test. One line a case; the last line counts them. What was skipped is
# not counted as passed.
#
#	check.sh [SUITE...]	lint kunit fuzz uml uml-debug debian

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

cd "$top" || exit 1
[ $# -gt 0 ] || set -- lint kunit fuzz uml uml-debug debian
started=$SECONDS
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

wanted()
{
	case " $suites " in
	*" $1 "*)	return 0 ;;
	esac
	return 1
}
suites=$*

# suite NAME COMMAND...: a suite that fails without saying which case is a
# failure too, and so is one that says nothing at all.
suite()
{
	local name=$1 rc

	shift
	say "$name"
	"$@" 2>"$work/$name.err" | tee "$work/$name.out"
	rc=${PIPESTATUS[0]}
	if [ "$rc" -ne 0 ] && ! grep -q '^FAIL ' "$work/$name.out"; then
		echo "FAIL $name: ended with $rc" | tee -a "$work/$name.out"
	elif ! grep -qE '^(ok|FAIL|skip) ' "$work/$name.out"; then
		echo "FAIL $name: no result" | tee -a "$work/$name.out"
	fi
	if grep -q '^FAIL ' "$work/$name.out"; then
		tail -n 40 "$work/$name.err" | sed "s/^/# $name: /"
	fi
	say "$name: done, $((SECONDS - started)) s since the start"
}

fuzz()
{
	if [ ! -x scripts/fuzz/run.sh ]; then
		echo "skip fuzz: no fuzzer"
		return
	fi
	if FUZZ_SECONDS=${CHECK_FUZZ_SECONDS:-60} scripts/fuzz/run.sh >"$work/fuzz.log" 2>&1; then
		echo "ok fuzz: $(tail -n 1 "$work/fuzz.log")"
	else
		tail -n 30 "$work/fuzz.log" | sed 's/^/# /'
		echo "FAIL fuzz: $(tail -n 1 "$work/fuzz.log")"
	fi
}

# Every case by name, in a file of its own: they are many.
kunit()
{
	local rc=0

	CASES_FILE=$work/kunit.cases scripts/kunit.sh uml || rc=1
	CASES_FILE=$work/kunit-debug.cases scripts/kunit.sh uml-debug |
		sed -u 's/ kunit/ kunit, uml-debug/'
	[ "${PIPESTATUS[0]}" -eq 0 ] || rc=1
	return "$rc"
}

# Kernels first: a failure to get them is no failure of a test.
prepare()
{
	local kernel

	for kernel in uml uml-debug debian; do
		case $kernel in
		uml)	wanted uml || wanted kunit || wanted lint || continue ;;
		uml-debug) wanted uml-debug || wanted kunit || continue ;;
		debian)	wanted debian || wanted lint || continue ;;
		esac
		scripts/vm/kernel.sh "$kernel" >/dev/null || exit 1
	done
}

# User-Mode Linux has one processor: two lanes share the machine.
lane()
{
	local name

	for name in "$@"; do
		wanted "$name" || continue
		case $name in
		lint)	suite lint scripts/lint.sh ;;
		kunit)	suite kunit kunit ;;
		fuzz)	suite fuzz fuzz ;;
		*)	suite "$name" scripts/nfs-test.sh "$name" ;;
		esac
	done
}

prepare
say "kernels are there, $((SECONDS - started)) s since the start"
lane lint uml-debug &
lane kunit fuzz uml debian &
wait

# Of the unit tests that passed, the suite shows only sums.
passed=$(cat "$work"/*.out "$work"/*.cases 2>/dev/null | grep -c '^ok ')
failed=$(cat "$work"/*.out | grep -c '^FAIL ')
skipped=$(cat "$work"/*.out | grep -c '^skip ')
if [ "$failed" -gt 0 ]; then
	echo "# what failed:"
	cat "$work"/*.out | grep '^FAIL '
fi
say "$((SECONDS - started)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
