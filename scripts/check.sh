#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every test. One line a case; the last line counts them. What was skipped is
# not counted as passed; where CI is "true" it is a failure.
#
#	check.sh [SUITE...]	kunit-host lint kunit fuzz canary uml uml-debug debian
#
# The unit tests in user space take seconds and are run first, alone.
# Guests spend part of their time waiting, and User-Mode Linux has one processor:
# JOBS at a time, one more than there are processors, take from one queue. What
# took longest the last time goes first.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

cd "$top" || exit 1
[ $# -gt 0 ] || set -- kunit-host lint kunit fuzz canary uml uml-debug debian
suites=$*
slots=${JOBS:-$((jobs + 1))}
took=$cache/seconds
work=$(mktemp -d)
started=$SECONDS
declare -A job_of=() began_at=()
queue=()
ended=0

# Whatever ends this script ends its jobs, each of which is a process group.
stop()
{
	local pid

	trap '' INT TERM HUP
	for pid in "${!job_of[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null
	done
	wait 2>/dev/null
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

wanted()
{
	case " $suites " in
	*" $1 "*)	return 0 ;;
	esac
	return 1
}

fuzz()
{
	if FUZZ_SECONDS=${CHECK_FUZZ_SECONDS:-60} scripts/fuzz/run.sh >"$work/fuzz.log" 2>&1; then
		echo "ok fuzz: $(tail -n 1 "$work/fuzz.log")"
	else
		tail -n 30 "$work/fuzz.log" | sed 's/^/# /'
		echo "FAIL fuzz: $(tail -n 1 "$work/fuzz.log")"
	fi
}

# Kernels first: a failure to get them is no failure of a test. Then what all
# groups of a kernel have in common.
prepare()
{
	local kernel

	for kernel in uml uml-debug debian; do
		case $kernel in
		uml)	wanted uml || wanted kunit || wanted lint || continue ;;
		uml-debug) wanted uml-debug || wanted kunit || wanted canary || continue ;;
		debian)	wanted debian || wanted lint || continue ;;
		esac
		scripts/vm/kernel.sh "$kernel" >/dev/null || exit 1
	done
	say "kernels are there, $((SECONDS - started)) s since the start"
	for kernel in uml uml-debug debian; do
		wanted "$kernel" || continue
		scripts/nfs-test.sh --build "$kernel" || exit 1
	done
}

# Every job of the suites that are wanted, by name, one a line
list()
{
	local kernel

	wanted lint && echo lint
	for kernel in uml-debug debian uml; do
		wanted "$kernel" && scripts/nfs-test.sh --groups "$kernel" |
			sed "s/^/$kernel /"
	done
	wanted kunit && printf 'kunit %s\n' uml-debug uml
	wanted fuzz && echo fuzz
	wanted canary && echo canary
	true
}

# Jobs that nobody has seen yet are first, in the order in which they are listed.
longest_first()
{
	awk 'NR == FNR { took[$2 $3] = $1; next }
		{ print (($1 $2) in took ? took[$1 $2] : 86400), $0 }' \
		<(cat "$took" 2>/dev/null; echo) - | sort -s -k1,1nr | cut -d' ' -f2-
}

run_job()
{
	case $1 in
	lint)	scripts/lint.sh ;;
	fuzz)	fuzz ;;
	kunit-host) CASES_FILE=$work/kunit-host.cases scripts/kunit-host.sh ;;
	canary)	scripts/canary.sh ;;
	kunit)	scripts/kunit.sh --cases "$2" ;;
	*)	scripts/nfs-test.sh --built "$1" "$2" ;;
	esac
}

begin()
{
	local out=$work/${1// /-}

	set -m
	# shellcheck disable=SC2086 # words
	run_job $1 </dev/null >"$out.out" 2>"$out.err" &
	set +m
	job_of[$!]=$1
	began_at[$!]=$SECONDS
	say "$1: begins"
}

# One that fails without saying which case is a failure too, and so is one that
# says nothing at all.
end()
{
	local pid rc name out

	wait -n -p pid "${!job_of[@]}"
	rc=$?
	name=${job_of[$pid]}
	out=$work/${name// /-}
	unset "job_of[$pid]"
	if [ "$rc" -ne 0 ] && ! grep -q '^FAIL ' "$out.out"; then
		echo "FAIL $name: ended with $rc" >>"$out.out"
	elif ! grep -qE '^(ok|FAIL|skip) ' "$out.out"; then
		echo "FAIL $name: no result" >>"$out.out"
	fi
	cat "$out.out"
	if grep -q '^FAIL ' "$out.out"; then
		tail -n 40 "$out.err" | sed "s/^/# $name: /"
	else
		echo "$((SECONDS - began_at[$pid])) $name" >>"$work/seconds"
	fi
	ended=$((ended + 1))
	say "$name: ends after $((SECONDS - began_at[$pid])) s, $ended of ${#queue[@]}, $((SECONDS - started)) s since the start"
}

# What was not run today took what it took before.
remember()
{
	[ -s "$work/seconds" ] || return
	awk '!seen[$2 $3]++' "$work/seconds" <(cat "$took" 2>/dev/null) \
		>"$took.$$"
	mv "$took.$$" "$took"
}

if wanted kunit-host; then
	queue=(kunit-host)
	begin kunit-host
	end
fi
prepare
mapfile -t queue < <(list | longest_first)
ended=0
for job in "${queue[@]}"; do
	[ "${#job_of[@]}" -lt "$slots" ] || end
	begin "$job"
done
while [ "${#job_of[@]}" -gt 0 ]; do
	end
done
remember

passed=$(cat "$work"/*.out 2>/dev/null | grep -c '^ok ')
failed=$(cat "$work"/*.out 2>/dev/null | grep -c '^FAIL ')
skipped=$(cat "$work"/*.out 2>/dev/null | grep -c '^skip ')
if [ "$failed" -gt 0 ]; then
	echo "# what failed:"
	cat "$work"/*.out | grep '^FAIL '
fi
if [ "$skipped" -gt 0 ]; then
	echo "# what was skipped:"
	cat "$work"/*.out | grep '^skip '
fi
say "$((SECONDS - started)) s"
echo "$passed passed, $failed failed, $skipped skipped"
if [ "${CI:-}" = true ] && [ "$skipped" -gt 0 ]; then
	echo "# a skipped case fails this run, because CI=true"
	exit 1
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
