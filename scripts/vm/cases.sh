# shellcheck shell=bash disable=SC2013,SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# The functions that groups of test cases share; guests source this file. Each case prints
# one line, "ok NAME" or "FAIL NAME: why", and the exit status is 1 if a case failed.
#
# This file does not judge the kernel's log; vm.sh does that after the run.

# shellcheck source=scripts/vm/nfs.sh
. "$(dirname "${BASH_SOURCE[0]}")/nfs.sh" || exit 2

tools=$VM_BUILD/tools
export PYTHONPATH=$VM_TOP/tester RPCRDMA2_TEST_LIBRARY=$tools/libendpoint.so
load_sh=$VM_TOP/scripts/load.sh
failed=0

# Factor of bounds in seconds: with the host's clock an event may be late on a busy machine, and
# kcsan is slow.
case $VM_CLOCK/$VM_KERNEL in
guest/*|instructions/*) patience=1 ;;
*/kcsan) patience=30 ;;
*)	patience=4 ;;
esac

ok()
{
	echo "ok $*"
}

fail()
{
	echo "FAIL $*"
	failed=1
}

# check NAME COMMAND...: one case, which passes if the command succeeds; the end of the
# command's output is printed when it fails
check()
{
	local name=$1 out

	shift
	if out=$("$@" 2>&1); then
		ok "$name"
	else
		fail "$name: $(tail -n 3 <<<"$out" | tr '\n' ' ')"
		return 1
	fi
}

# same NAME VALUE WANTED: a case that both values are equal
same()
{
	[ "$2" = "$3" ] && ok "$1" || fail "$1: $2, not $3"
}

# bounded NAME NUMBER LEAST [MOST]: a case that the number lies between both
bounded()
{
	[ "$2" -ge "$3" ] && [ "$2" -le "${4:-$2}" ] && ok "$1" ||
		fail "$1: $2, not $3 to ${4:-any}"
}

# without NAME WHY: a case that nothing was added to the reasons for a failure
without()
{
	[ -z "$2" ] && ok "$1" || fail "$1: ${2#, }"
}

# can_fail FILE NAME: succeeds if this kernel has the fault injection FILE. The kernels without
# it are listed here, and have fewer cases in scripts/plan; on all others FILE has to exist.
can_fail()
{
	case $VM_KERNEL/${1##*/} in
	uml/*|debian*|kcsan/fail_page_alloc)
		[ ! -e "$1" ] || fail "$2: $VM_KERNEL is listed as a kernel without ${1##*/}"
		echo "# $2: not in $VM_KERNEL"
		return 1 ;;
	esac
	[ -e "$1" ] || { fail "$2: there is no $1"; return 1; }
}

# settings FOLDER FILE=VALUE...: writes the values to files of fault injection, in this
# order
settings()
{
	local pair

	for pair in "${@:2}"; do
		echo "${pair#*=}" >"$1/${pair%%=*}"
	done
}

# refuses FILE VALUE: fails unless the module parameter exists, rejects the value, and keeps
# its old value
refuses()
{
	local was

	if [ ! -w "$1" ]; then
		fail "there is no $1"
		return
	fi
	was=$(cat "$1")
	if (echo "$2" >"$1") 2>/dev/null; then
		fail "$1 takes $2"
	elif [ -z "$was" ] || [ "$(cat "$1")" != "$was" ]; then
		fail "$1 was '$was' and is '$(cat "$1")', after $2"
	fi
}

# at_work [PROCESS FILE]: waits until a load, by default process $load with its output in
# /tmp/load, has begun, or has ended
at_work()
{
	while kill -0 "${1:-$load}" 2>/dev/null && ! grep -qs '^# begins' "${2:-/tmp/load}"; do
		sleep 0.2
	done
}

# has_verified NAME PROCESS FILE: waits for a load and makes a case of its exit status; FILE
# has its output
has_verified()
{
	wait "$2" && ok "$1 verified ($(sed -n 's/^# \(.* verified\)/\1/p' "$3" | paste -sd ';'))" ||
		fail "$1: $(tr '\n' ' ' <"$3")"
}

# Test cases leave no mount behind for the next case. The mount points are folders of the
# guest and stay.
umount_all()
{
	local i

	for i in /mnt /mnt2; do
		if grep -q " $i nfs" /proc/mounts; then
			umount "$i" || { umount -f "$i"; umount -l "$i"; return 1; }
		fi
	done
}

# no_volume_is_left: succeeds if no mount is in use. After "umount -l" /proc/mounts does not have
# it, but a process may still have one of its files open.
no_volume_is_left()
{
	! grep -qs '^v' /proc/fs/nfsfs/volumes
}

# all_are_unmounted: fails if a mount stays in use. Its server must not stop then, because the
# CLOSE of the last process would wait for that server for ever.
all_are_unmounted()
{
	umount_all && await no_volume_is_left ||
		complain "a mount is in use, so the server stays"
}

# reason_in FILE: prints the first line behind the frames of the last traceback, or the last
# line
reason_in()
{
	awk '	/Traceback \(most recent call last\)/ { frames = 1; next }
		frames && /^[^ ]/ { why = $0; frames = 0 }
		{ last = $0 }
		END { print why == "" ? last : why }' "$1"
}

# verdicts LABEL COMMAND...: runs a program that prints test cases, and puts the label
# before their names. A program that crashes, also in a thread or behind its last case, is a
# failed case with the program's name and the reason.
verdicts()
{
	local label=$1 why='' dir rc

	shift
	dir=$(mktemp -d)
	# Each line is printed at once, because the guest may end before the program does.
	{ { "$@"; echo $? >"$dir/rc"; } 2>&1 >&3 | tee "$dir/errors" >&2; } 3>&1 |
		sed -u "s|^ok |&$label: |; s|^FAIL |&$label: |" | tee "$dir/said"
	rc=$(cat "$dir/rc")
	! grep -q '^FAIL ' "$dir/said" || failed=1
	case $rc in
	0)	;;
	1)	grep -q '^FAIL ' "$dir/said" || why="ends with 1, without a failed case" ;;
	*)	why="ends with $rc" ;;
	esac
	! grep -q 'Traceback (most recent call last)' "$dir/errors" || why=crashes
	[ -z "$why" ] || fail "$label: ${1##*/} $why: $(reason_in "$dir/errors")"
	rm -r "$dir"
}

# unload TRANSPORT: removes the modules of rdma2 or rdma
unload()
{
	local i

	# The last transports are destroyed in the background. The bound is generous because
	# this takes more than 5 s on a busy machine; only a module that never becomes
	# unused is a failure.
	for i in $(seq 600); do
		case $1 in
		rdma2)	rmmod svcrdma2 xprtrdma2 rpcrdma2 2>/dev/null
			lsmod | grep -qE '^(svc|xprt|rpc)rdma2 ' || return 0 ;;
		*)	rmmod rpcrdma 2>/dev/null
			lsmod | grep -q '^rpcrdma ' || return 0 ;;
		esac
		sleep 0.1
	done
	lsmod | grep rdma
	return 1
}

# none_recovers: succeeds if no client recovers its state. A client whose mount has ended
# meanwhile keeps its transport until the server has answered.
none_recovers()
{
	! grep -qs -e '-manager$' /proc/[0-9]*/comm
}

# stop_and_unload: ends the server of this guest, and unloads the modules of both ends
stop_and_unload()
{
	all_are_unmounted || return
	await none_recovers
	server_down
	unload "${proto:-rdma2}"
}

# users_of_sunrpc: prints the clients, transports and RPCs that still exist, and the stacks
# of threads that may use them
users_of_sunrpc()
{
	local i

	grep -H . /sys/kernel/debug/sunrpc/rpc_{clnt,xprt}/*/* 2>/dev/null
	grep nfs /proc/mounts
	for i in /proc/[0-9]*; do
		grep -qE 'nfs|lockd|manager|:20049|rpciod|rdma2' "$i/comm" 2>/dev/null || continue
		echo "$(<"$i/comm"): $(tr '\n' ' ' <"$i/stack")"
	done
}

# sums FOLDER: prints the checksums of all files
sums()
{
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 b2sum)
}

# module_counters: prints one "name value" per line: the client's counters with the prefix c_, the
# server's with s_, and the guest's time in hundredths of a second
module_counters()
{
	local now

	uptime
	echo "uptime $now"
	sed 's/^/c_/' /sys/kernel/debug/xprtrdma2/counters
	sed 's/^/s_/' /sys/kernel/debug/svcrdma2/counters
}

# counters: prints these, and the operations that the mount on /mnt has sent with o_
counters()
{
	module_counters
	[[ $(</proc/self/mounts) != *" /mnt nfs"* ]] || figures /mnt 2>/dev/null |
		awk '$1 == "op" { print "o_" tolower($2), $4 }'
}

# rise BEFORE AFTER: sets rose[NAME] to the difference between two files of counters
declare -A rose
rise()
{
	local name value

	rose=()
	while read -r name value; do
		rose[$name]=$value
	done < <(awk 'NR == FNR { was[$1] = $2; next } { print $1, $2 - was[$1] }' \
		"$1" "$2")
	# It may have a file of the mount open, as this shell has.
	wait "$!"
}

# risen BEFORE: sets rose[] to the difference between BEFORE and the current counters
risen()
{
	# Completions of the last RPC may still be pending.
	sleep 0.2
	rise <(echo "$1") <(counters)
}

# risen_now: sets rose[] to the current rise of the modules' counters since $before. Unlike risen
# it is fast enough for a loop.
risen_now()
{
	rise <(echo "$before") <(module_counters)
}

# client_counter NAME: sets $counter to the value. It starts no process, because that is
# slow on a busy machine: while a peer has no Receives posted, soft-RoCE repeats a Send for
# 4 s. It counts the wait for each missing ACK as a timeout, and the client allows 6 of
# these.
client_counter()
{
	local name

	while read -r name counter; do
		[ "$name" != "$1" ] || return 0
	done </sys/kernel/debug/xprtrdma2/counters
	return 1
}

# is_past NAME NUMBER: succeeds if the client's counter is above the number
is_past()
{
	client_counter "$1"
	[ "$counter" -gt "$2" ]
}

# pause SECONDS: sleeps without a process of its own, because the guest of sanitizers starts
# one in 50 ms. Nothing is written to the pipe.
exec {nothing}<> <(:)
pause()
{
	read -rt "$1" -u "$nothing"
	return 0
}

# await COMMAND...: runs the command until it succeeds, at most 600 times. The pauses alone are
# a minute; the time of slow commands is added to them, so this is no bound on a time.
await()
{
	local i

	for i in {1..600}; do
		"$@" && return
		pause 0.1
	done
	return 1
}

# uptime: sets $now to the time since the guest's boot, in hundredths of a second
uptime()
{
	read -r now _ </proc/uptime
	now=$((10#${now/.}))
}

# happens_in SECONDS COMMAND...: runs the command until it succeeds, for cases that something
# happens in this time of the guest, or in $patience times this time. A pause is a quarter of
# the time since the beginning, and at least 0.1 s. The last attempt is the first one that
# begins behind the time, by no more than an attempt and 0.1 s.
happens_in()
{
	local now begin end gap

	uptime
	begin=$now
	end=$((now + 100 * patience * $1))
	until uptime && "${@:2}"; do
		[ "$now" -lt "$end" ] || return 1
		gap=$(((now - begin) / 4))
		[ "$gap" -le $((end - now)) ] || gap=$((end - now))
		[ "$gap" -ge 10 ] || gap=10
		printf -v gap %d.%02d $((gap / 100)) $((gap % 100))
		pause "$gap"
	done
}

# have_ended PROCESS...: succeeds if none of these processes exists
have_ended()
{
	! kill -0 "$@" 2>/dev/null
}

# outage DOWN UP: runs the command DOWN, and UP behind it; fails unless the client has failed to
# connect in between. In-tree's client does not count that.
outage()
{
	local counter was='' tried=0

	[ "$proto" = rdma ] || { client_counter connect_failures && was=$counter; } || return
	eval "$1" || return
	[ -z "$was" ] || await is_past connect_failures "$was" || tried=1
	eval "$2" && return "$tried"
}

# server_restart TRANSPORT: the clients have state to reclaim. The server has its listener again,
# also if this fails because no client has attempted to connect.
server_restart()
{
	outage "rpc.nfsd 0" "rpc.nfsd $nfsd_threads && listen_on $1"
}

# has_risen COUNTER -eq|-ge NUMBER: succeeds if the module's counter has risen so since $before
has_risen()
{
	risen_now
	[ -n "${rose[$1]+set}" ] || complain "there is no counter $1" || return
	test "${rose[$1]}" "$2" "$3"
}

# counted COMMAND...: runs the command and sets rose[] to the rise of the counters; returns
# its exit status
counted()
{
	local before status

	before=$(counters)
	"$@"
	status=$?
	risen "$before"
	return "$status"
}

# measure COMMAND...: like counted, but without the command's output and exit status
measure()
{
	local before

	before=$(counters)
	"$@" >/dev/null 2>&1
	risen "$before"
}

# pinned VERSION COMMAND...: runs the command; for version 1 a pin is set meanwhile
pinned()
{
	local status pin=/sys/module/xprtrdma2/parameters/pin

	[ "$1" -eq 2 ] || echo "$addr4=1" >"$pin"
	"${@:2}"
	status=$?
	echo >"$pin"
	return "$status"
}

# reasons: prints the c_ended_* and s_ended_* counters in rose[], the reasons for which
# connections ended
reasons()
{
	local name

	for name in "${!rose[@]}"; do
		[[ $name != [cs]_ended_* || ${rose[$name]} -eq 0 ]] ||
			echo -n " $name ${rose[$name]}"
	done
}

# hw_figures: prints the counters of this guest's device that are not 0
hw_figures()
{
	grep -sH . /sys/class/infiniband/*/ports/1/hw_counters/* |
		sed -n '/:0$/d; s|.*/||; s/:/=/p' | paste -sd' '
}

# expect NAME EXPRESSION: a case that evaluates the expression over the counters in rose[]
expect()
{
	local name=$1 text=$2 expression=$2 word

	for word in $(grep -oE '\<[cso]_[A-Za-z_]+' <<<"$text" | sort -ur); do
		if [ -z "${rose[$word]+set}" ]; then
			fail "$name: there is no counter $word"
			return
		fi
		expression=${expression//$word/${rose[$word]}}
	done
	[ $((expression)) -ne 0 ] && ok "$name" ||
		fail "$name: not $text: $expression, ended:$(reasons)"
}

# figures FOLDER: parses the visible mount in /proc/self/mountstats as strictly as the strictest
# existing readers: format 1.1, 27 numbers of a transport named rdma, 9 of each operation.
# Prints "xprt NAME VALUE" for each number of each connection, and "op NAME CALLS SENT
# TIMEOUTS BYTES-SENT BYTES-RECEIVED".
figures()
{
	python3 -IS -c '
import re, sys
names = """port binds connects connect_time idle sends recvs bad_xids req_u bklog_u read_chunks
    write_chunks reply_chunks request_bytes reply_bytes pullup_bytes fixup_bytes hardway
    failed_marshal bad_replies nomsg_calls mrs_recycled mrs_orphaned mrs_allocated local_inv
    no_sq reply_waits""".split()
folder = sys.argv[1]

def numbers(what, n, fields):
    wrong = [field for field in fields if not re.fullmatch("[0-9]{1,20}", field)]
    if wrong or len(fields) != n:
        sys.exit(f"{what} has {len(fields)} numbers, not {n}, or {wrong}")
    return fields

mounts = re.finditer(rf"^device \S+ mounted on {re.escape(folder)} with fstype (.*)\n"
                     r"((?!device ).*\n)*", open("/proc/self/mountstats").read(), re.M)
# The last one covers the others.
*_, stats = [None, *mounts]
if not stats or not re.fullmatch("nfs4? statvers=1.1", stats[1]):
    sys.exit(f"no statistics of {folder} in version 1.1")
xprts = re.findall(r"^\txprt:\t(\S+) (.*)", stats[0], re.M)
ops = re.findall(r"^\t *([A-Z0-9_]+): (.*)", stats[0].split("\tper-op statistics")[1], re.M)
for protocol, fields in xprts:
    protocol == "rdma" or sys.exit(f"a transport {protocol}")
    for pair in zip(names, numbers("xprt", 27, fields.split(" "))):
        print("xprt", *pair)
for op, fields in ops:
    print("op", op, *numbers(op, 9, fields.split(" "))[:5])
xprts and ops or sys.exit(f"no statistics of {folder}")' "$1"
}

# figure FOLDER WORDS: prints the word that follows WORDS at the beginning of a line of
# figures
figure()
{
	figures "$1" | sed -n "s/^$2 \([^ ]*\).*/\1/p"
}

# connection KEY: prints a field of the client's only connection to the server of mount_nfs
connection()
{
	sed -n "s/^peer=[^ ]*:$port \(.* \)\?$1=\([^ ]*\).*/\2/p" \
		/proc/net/rpc/xprtrdma2 | head -n 1
}

# chosen CASE...: runs the cases of these that CASES names, or all
chosen()
{
	local c

	for c in ${CASES:-$*}; do
		if [[ " $* " == *" $c "* ]]; then
			"$c"
		else
			fail "no case is called $c: $*"
		fi
	done
}

# run_group NAME: runs a group, or a step of one, which is a process of its own
run_group()
{
	local run=group_$1

	declare -F "$run" >/dev/null || run=step_$1
	if ! declare -F "$run" >/dev/null; then
		echo "FAIL there is no group $1"
		exit 2
	fi
	# A mount may cover the initial folder.
	cd / || exit 2
	"$run"
	[ -z "$nfs_is_up" ] || finish
	exit "$failed"
}
