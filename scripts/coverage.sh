#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Prints a table of the functions of the modules that guests of uml-debug enter: runs the
# unit tests and all groups there.
#
#	coverage.sh	COVERAGE=DIR: uses the results of guests in DIR,
#			or runs the guests if DIR is empty
#
# Fails below 97 %, and if faults/unreached is wrong.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

cd "$top" || exit 1
need_packages binutils python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
COVERAGE=$(realpath "${COVERAGE:-$work}") || exit 1
export COVERAGE
mkdir -p "$COVERAGE" || exit 1
rc=0
[ -n "$(ls -A "$COVERAGE")" ] ||
	scripts/check.sh kunit uml-debug uml-debug-long || rc=1
bdir=$(scripts/vm/modules.sh uml-debug) || exit 1
scripts/coverage.py "$COVERAGE" "$bdir/src" || rc=1
exit "$rc"
