#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks that the unit tests detect faults in the code that runs in user space: changes one
# place at a time, and runs the suites that include it until one fails. Prints the changes
# that no suite detects.
#
#	mutants.sh [FILE...]	only changes in these files
#
# kunit/mutants.equivalent lists changes without an effect, with reasons.
#
# Exit status: 0; 1 less than 98 % of the others were detected, or the list has entries that
# are no longer true; 2 nothing was run.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

need_packages gcc libc6-dev make python3 tcc
cd "$top" || exit 2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
make -s -f kunit/host/Makefile OUT="$out" headers || exit 2
mapfile -t parts < <(make -s -f kunit/host/Makefile list)
printf '%s\n' "${parts[@]}" >"$out/parts"
nice -n 10 python3 scripts/mutants.py "$out" "$@"
