#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: fio keeps a folder of a mount busy for a while and verifies everything that it
# reads, and in the end all files, on the mount and on the server's side. Tests run it while
# they disturb the connection.
#
#	load.sh FOLDER EXPORT SECONDS WORKERS
#	load.sh verify EXPORT WORKERS
#
# A worker is the four jobs of load.fio, or, with LOAD_LARGE=1, only the job with transfers
# of 1 MiB. All files are written and read once before the time begins. The script prints "#
# begins" when fio is at work; from then on SIGTERM ends it early. LOAD_LOOPS ends it when
# each job has written its file that often. If the server's side is in another guest, EXPORT
# is "-", and the second form verifies the files there.

set -u

[ "${1:-}" != verify ] || set -- - "$2" 1 "$3"
if [ $# -ne 4 ] || [ "$3" -lt 1 ] || [ "$4" -lt 1 ]; then
	echo "usage: $0 FOLDER EXPORT SECONDS WORKERS, at least one of each"
	exit 2
fi
workers=$4 each=4 only=()
[ -z "${LOAD_LARGE:-}" ] || each=1 only=(--section=large)
# The job's think time in us: a clock that stops while the guest computes advances only
# while a job sleeps.
think=0
[ "${VM_CLOCK:-}" != guest ] || think=${LOAD_THINK:-2000}
# The server's file system may have no direct I/O with blocks of any size.
direct=1
out=$(mktemp)
trap 'rm -f "$out" "$out.busy"' EXIT
trap 'over=1; [ -z "${begun:-}" ] || kill "$fio"' TERM

# handles_term: succeeds if fio has installed its signal handler; before that a signal would
# end it without results
handles_term()
{
	awk '/^Name:/ { name = $2 } /^SigCgt:/ { caught = $2 }
		END { exit !(name == "fio" && substr(caught, length(caught) - 3, 1) ~ /[4-7c-f]/) }
	' "/proc/$fio/status"
}

# times_of FILE: prints the time of the last write, on both sides
times_of()
{
	stat -c %.9Y "$folder/$1" "$export/$1" 2>/dev/null
}

# await_work: waits until fio handles signals and has written to each of the large files
# since their times in $before, or has ended. Both sides count, because the server's time of
# a file with a delegation may be out of date.
await_work()
{
	local file was

	while kill -0 "$fio" 2>/dev/null && ! handles_term 2>/dev/null; do
		sleep 0.1
	done
	[ "$export" != - ] || return
	while read -r file was; do
		while kill -0 "$fio" 2>/dev/null &&
				[ "$(times_of "$file" | paste -sd' ')" = "$was" ]; do
			sleep 0.1
		done
	done <<<"$before"
}

# work randwrite|read FOLDER [OPTION...]: runs fio and checks that each job ran without an
# error, because fio's exit status is unreliable after a signal. Error 512 is accepted after
# a signal: NFS returns ERESTARTSYS for an interrupted read.
work()
{
	LOAD_RW=$1 LOAD_DIR=$2 LOAD_WORKERS=$workers LOAD_THINK=$think LOAD_DIRECT=$direct \
		fio --max-jobs=$((each * workers)) "${only[@]}" --thread --terse-version=3 \
		--output-format=terse "${@:3}" "$(dirname "$0")/load.fio" \
		>"$out" 2>&1 &
	fio=$!
	if [ -n "${before:-}" ]; then
		await_work
		begun=1
		echo "# begins"
		[ -z "${over:-}" ] || kill "$fio" 2>/dev/null
	fi
	while kill -0 "$fio" 2>/dev/null; do
		wait "$fio"
	done
	if ! awk -F';' -v jobs=$((each * workers)) -v stopped="${over:-0}" '
		$2 ~ /^fio-/ { jobs--; bad += $5 && !(stopped && $5 == 512) }
		END { exit jobs || bad }' "$out"; then
		grep -v '^3;' "$out"
		awk -F';' '$5 { printf "%s: error %d; ", $3, $5 }' "$out"
		echo "fio $1 $2: an error"
		exit 1
	fi
}

if [ "$1" = - ]; then
	direct=0
	work read "$2"
	exit
fi
rm -f "$1"/{large,direct,cached,small}.*
work randwrite "$1"
folder=$1 export=$2
before=$(cd "$1" && for file in large.*; do
	echo "$file $(times_of "$file" | paste -sd' ')"
done)
work randwrite "$1" --loops="${LOAD_LOOPS:-1000000}" --runtime="$3"
before='' begun=''
mv "$out" "$out.busy"
work read "$1"
cat "$out" >>"$out.busy"
direct=0
[ "$2" = - ] || work read "$2"
# A load that has written no large file in its time has failed.
awk -F';' -v workers="$workers" '
	{ seen += $6; written += $47 } $3 == "large" { large += $47 }
	END { printf "# %d workers: %d MiB written, %d by 1 MiB, %d verified\n",
		workers, written / 1024, large / 1024, seen / 1024
		exit !large }' "$out.busy"
