#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whether the unit tests see a fault in the code that runs in user space: changes one
# place of it at a time, builds the suites that include it, and runs them there until
# one fails. What no suite notices is printed.
#
#	mutants.sh [FILE...]	only what is changed in these
#
# kunit/mutants.equivalent lists the changes that make no difference, and why.
#
# Exit status: 0; 1 less than 98 % of the others were noticed, or the list has
# what is not true any more; 2 nothing was run.

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
