#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of properties of the guests that all tests rely on. Each detector works: a guest
# with one fault has to report exactly this fault and fail, and a guest without a fault has
# to pass. Guests do not see the machine's files in the folders that tests write to. One
# line per case.
#
#	canary.sh [uml-debug|kcsan]

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

kernel=${1:-uml-debug}
failed=0 suite=canary
mkdir -p "$cache/run"
work=$(mktemp -d "$cache/run/canary-$(date +%H%M%S)-XXXXXX")
clone=$(mktemp -d /tmp/canary-XXXXXX)

# Each guest is a process group.
stop()
{
	local pid

	trap '' INT TERM HUP
	for pid in $(jobs -p); do
		kill -TERM -- "-$pid" 2>/dev/null
	done
	wait 2>/dev/null
	rm -rf "$clone" "$clone.beside"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

bdir=$(KUNIT=1 "$vmdir/modules.sh" "$kernel") || exit 1
# A copy, because the unit tests may rebuild their modules at any time
cp "$bdir/src/kunit/canary.ko" "$work" || exit 1

# Kind, exit status, pattern of the report. Kinds with @ are commands, all others are faults
# of kunit/canary.c.
canaries='
none		0	-
warn		126	WARNING: .*canary
leak		126	unreferenced object
locks		126	possible circular locking dependency detected
bounds		126	KASAN: slab-out-of-bounds in .*canary
shift		126	UBSAN: shift-out-of-bounds in .*canary
sleep		126	sleeping function called from invalid context
hung		126	INFO: task canary:[0-9]* blocked for more than
killable	126	init: BUG: task canary:[0-9]* blocked for more than
unlocked	126	init: BUG: lockdep is off
@kmemleak-off	126	init: BUG: kmemleak is off
@died		126	Oops: double fault
@emulator	123	the emulator failed, no processor has EFLAGS: 0a22a202
@earlier	126	WARNING: before
@idle		124	no end after 15 s without work
@spins		124	no end after 15 s of a processor
'
# The detector of data races, with several processors
[ "$kernel" != kcsan ] || canaries='
none		0	-
race		126	KCSAN: data-race in .*canary
@theirs		0	-
@below		0	-
@ours		126	KCSAN: data-race in rpcrdma2_one .rpcrdma2. / schedule
@beside		126	WARNING: beside
@cut		126	KCSAN: data-race in schedule
'
end_of_race=('Reported by Kernel Concurrency Sanitizer on:'
	'==========================')

# race_of FUNCTIONS LINE...: prints commands that log a report of a race with these functions
# in the title, and with these lines
race_of()
{
	printf "echo '%s' >/dev/kmsg\n" "BUG: KCSAN: data-race in $1" \
		' schedule+0x10/0x20' "${@:2}"
}

# death_with FLAGS: prints commands that log a double fault with these flags
death_with()
{
	echo "echo 'Oops: double fault: 0000 [#1]' >/dev/kmsg
		echo 'RSP: 0018:ffa00000000fbc40 EFLAGS: $1' >/dev/kmsg"
}

# command_of KIND: prints the command for the guest. The hung-task detector checks once per
# timeout.
command_of()
{
	case $1 in
	@kmemleak-off)
		echo 'echo off >/sys/kernel/debug/kmemleak' ;;
	@died)	death_with 00210202 ;;
	@emulator)
		death_with 0a22a202 ;;
	@theirs)
		race_of 'schedule / schedule' "${end_of_race[@]}" ;;
	@below)	race_of 'schedule / schedule' ' rpcrdma2_one+0x10/0x20 [rpcrdma2]' \
			"${end_of_race[@]}" ;;
	@ours)	race_of 'rpcrdma2_one [rpcrdma2] / schedule' "${end_of_race[@]}" ;;
	@beside)
		race_of 'schedule / schedule' 'WARNING: beside' "${end_of_race[@]}" ;;
	@cut)	race_of 'schedule / schedule' "${end_of_race[1]}" ;;
	@earlier)
		echo "echo 'WARNING: before' >/dev/kmsg"
		death_with 0a22a202 ;;
	@idle)	echo 'sleep 9999' ;;
	@spins)	echo 'while :; do :; done' ;;
	hung)	echo "echo 2 >/proc/sys/kernel/hung_task_timeout_secs
			insmod $work/canary.ko trouble=hung && sleep 5" ;;
	*)	echo "insmod $work/canary.ko trouble=$1" ;;
	esac
}

# guest NAME COMMAND [ARGUMENT...]: runs a guest from the checkout in $here. Afterwards no
# process of it is left, which could hold a lock of vm.sh.
guest()
{
	local timeout=600

	[[ $1 != @idle && $1 != @spins ]] || timeout=15
	{
		flock 9
		"$here/scripts/vm.sh" "$kernel" --no-modules --mem 512 --timeout "$timeout" \
			--out "$work/$1" -- sh -c "${@:2}" >"$work/$1.said" 2>&1
		echo $? >"$work/$1.rc"
	} 9>"$work/$1.lock"
	flock -n "$work/$1.lock" true || echo 1 >"$work/$1.rc"
}

# A checkout in the machine's /tmp, beside another file
own_folders()
{
	cp -r "$top/scripts" "$clone/"
	# shellcheck disable=SC2016 # for the guest's shell
	cd "$clone" && here=. guest folders '
		ls -A /tmp
		test -x scripts/canary.sh && test ! -e "$PWD.beside"'
}

# The same, with the machine's /tmp as the current folder
own_tmp()
{
	# shellcheck disable=SC2016 # for the guest's shell
	cd /tmp && guest tmp '
		ls -A /tmp
		test "$PWD" = /tmp && test ! -e "$0"' "$clone.beside"
}

here=$top
set -m
if [ "$kernel" = uml-debug ]; then
	touch "$clone.beside"
	own_folders &
	own_tmp &
fi
# The guests sleep most of the time.
while read -r kind _; do
	[ -n "$kind" ] || continue
	while [ "$(jobs -pr | wc -l)" -ge "$((jobs + 1))" ]; do
		wait -n
	done
	guest "$kind" "$(command_of "$kind")" &
done <<<"$canaries"
wait
if [ "$kernel" = uml-debug ]; then
	result "/tmp of a guest has its checkout, and no other files" \
		"$(cat "$work/folders.rc")" "$work/folders.said"
	result "a guest that is started in /tmp has a private /tmp" \
		"$(cat "$work/tmp.rc")" "$work/tmp.said"
fi

while read -r kind status report; do
	[ -n "$kind" ] || continue
	rc=$(cat "$work/$kind.rc")
	if [ "$rc" -ne "$status" ]; then
		why="the run ends with $rc, not $status"
	elif [ "$status" -ne 0 ] && ! grep -q "$report" "$work/$kind.said"; then
		why="the run did not report it"
	else
		case $kind.$status in
		none.0)	echo "ok canary: without a fault the run passes" ;;
		*.0)	echo "ok canary: ${kind#@}: the run passes" ;;
		*)	echo "ok canary: ${kind#@}: the run fails, \"$report\"" ;;
		esac
		continue
	fi
	echo "FAIL canary: ${kind#@}: $why, see $work"
	failed=1
done <<<"$canaries"
exit "$failed"
