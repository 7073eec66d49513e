#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the unit tests for user space, with sanitizers, and runs them there: one
# line for each case that fails, with --cases also for those that pass.
#
#	kunit-host.sh [--cases] [--suite NAME]...

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

hidden='^ok '
suites=()
while [ $# -gt 0 ]; do
	case $1 in
	--cases)	hidden='^$' ;;
	--suite)	[ $# -gt 1 ] || die "--suite needs the name of a suite"
			suites+=("$2"); shift ;;
	*)		die "no option is called '$1'" ;;
	esac
	shift
done

need_packages gcc libc6-dev make
out=$(host_dir)
mkdir -p "$out"
cd "$top" || exit 1

if ! with_lock "$out.lock" make -s -j"$jobs" -f kunit/host/Makefile OUT="$out" \
		>"$out/make.log" 2>&1; then
	tail -n 40 "$out/make.log" >&2
	echo "FAIL kunit-host: does not build"
	exit 1
fi
"$out/run" "${suites[@]}" >"$out/ktap" 2>"$out/errors"
rc=$?
[ -s "$out/ktap" ] || { cat "$out/errors" >&2; exit 1; }
awk -v group=kunit-host -f scripts/ktap.awk "$out/ktap" >"$out/cases"
grep '^ *# .*not true' "$out/ktap" >&2
cat "$out/errors" >&2
grep -v "$hidden" "$out/cases"
echo "# kunit-host: $(grep -c '^ok ' "$out/cases") cases passed, all are in $out/cases"

# A run that a sanitizer ends, or that ends by itself, before the last suite is
# not one that passed.
planned=$(sed -n 's/^1\.\.//p' "$out/ktap")
ended=$(grep -cE '^(not )?ok ' "$out/ktap")
if [ "$rc" -gt 1 ] || [ "$ended" -ne "${planned:-0}" ]; then
	echo "FAIL kunit-host: ended with $rc after $ended of ${planned:-0} suites"
	exit 1
fi
echo "ok kunit-host: $ended suites, nothing from the sanitizers"
exit "$rc"
