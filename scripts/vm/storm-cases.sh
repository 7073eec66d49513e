# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after negotiate-cases.sh: temporary failures and limits on their
# effects. The client does not flood a server that drops connections, failed allocations
# delay RPCs and end none, and an RPC that cannot be sent fails alone. The tester's servers
# drop connections; the modules' fault injection (rpcrdma2/fault.h) makes allocations fail,
# in uml-debug.

faults=/sys/kernel/debug/xprtrdma2

# fault NAME [TIMES [SPACE]]: after the first SPACE attempts, TIMES attempts fail (-1: all)
fault()
{
	# An attempt has the size 1 and succeeds only while "space" is larger than that.
	settings "$faults/$1" probability=0 times="${2:--1}" space=$((${3:--1} + 1)) \
		probability=100
}

no_fault()
{
	echo 0 >"$faults/$1/probability"
}

# with_fault NAME TIMES COMMAND...: runs the command while the fault is on
with_fault()
{
	local status

	fault "$1" "$2"
	"${@:3}"
	status=$?
	no_fault "$1"
	return "$status"
}

# kill_after SECONDS COMMAND...: runs the command, and kills it if it hangs
kill_after()
{
	timeout -s KILL $(($1 * patience)) "${@:2}"
}

# connects_traced 0|1: the trace has the client's connects, and the timers of their delays
connects_traced()
{
	local event function text=0

	while read -r event function; do
		[ "$1" -eq 0 ] || text="function.function == $function"
		echo "$text" >"/sys/kernel/tracing/events/$event/filter"
		echo "$1" >"/sys/kernel/tracing/events/$event/enable"
	done <<-END
	timer/timer_start delayed_work_timer_fn
	timer/timer_expire_entry delayed_work_timer_fn
	workqueue/workqueue_queue_work xprt2_connect_worker
	workqueue/workqueue_execute_start xprt2_connect_worker
	END
	echo "$1" >"$events/xprt2_connect/enable"
}

# delays PORT: prints three numbers of ticks, of 10 ms, for each connect to this port: its
# delay; the time from the last connect to the end of the delay; and the time from the last
# connect to the beginning of the delay, which the last connection did not outlast. They are
# those of the client's timer, so load of the host makes no delay longer. The timer queues the
# work in a softirq ("s"). A connect without a delay has no timer; it was queued at the time
# of the last timer or later.
delays()
{
	awk -v port=":$1 " '
	function word(name) {
		if (!match($0, "( |\\[)" name "=[^] ]+")) return ""
		return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
	}
	# the processor and the flags behind the task
	{ match($0, /\[[0-9]+\] [^ ]+/); split(substr($0, RSTART, RLENGTH), at, " ") }
	{ task = substr($0, 1, RSTART - 1) }
	/ timer_start: / {
		timer = word("timer")
		due[timer] = word("expires") + 0; delay[timer] = word("timeout") + 0
		if (due[timer] - delay[timer] > now) now = due[timer] - delay[timer]
	}
	/ timer_expire_entry: / { fired[at[1]] = word("timer"); now = word("now") + 0 }
	/ workqueue_queue_work: / {
		work = word("struct"); timer = fired[at[1]]; queued[work] = now
		waited[work] = at[2] ~ /s/ ? delay[timer] : 0
		begun[work] = at[2] ~ /s/ ? due[timer] : now
	}
	/ workqueue_execute_start: / { match($0, /struct [^:]+/)
		runs[task] = substr($0, RSTART + 7, RLENGTH - 7) }
	/ xprt2_connect: / && index($0, port) {
		work = runs[task]
		since = begun[work] - (last ? last : begun[work])
		print waited[work], since, since - waited[work]
		last = queued[work]
	}' "$trace"
}

# has_delays CASE WORDS PROGRAM: a case that the awk program sets no "why" for delays()
has_delays()
{
	local why

	why=$(set -o pipefail; delays "$(port_of "client_storms.$1")" |
		awk "{ all = all \" \" \$1 } $3 END { if (why) print why \", delays:\" all }") ||
		why="no delays from the trace, or awk fails"
	without "S34 client_storms.$1: $2" "$why"
}

# backs_off CASE WORDS LEAST...: a case about the first delays. A back-off counts from the last
# connect and is up to an eighth longer; 0 means a delay of up to a quarter of a second. The
# very first connect has no delay.
backs_off()
{
	has_delays "$1" "$2" "
		BEGIN { n = split(\"${*:3}\", least) }
		NR == 1 && \$1 { why = \"a first delay\" }
		NR == 1 || NR > n + 1 { next }
		\$2 < least[NR - 1] || \$1 > (least[NR - 1] ? least[NR - 1] * 9 / 8 : 25) {
			why = \"delay \" NR
		}
		END { if (NR <= n) why = NR \" connects\" }"
}

# shellcheck disable=SC2016 # awk programs
storm_servers()
{
	connects_traced 1
	observed=1 visits client_storms
	connects_traced 0
	backs_off bounded "after 3, 6 and 12 s" 0 300 600 1200
	backs_off recovers "soon, after 3 s, after 6 s, and soon again" 0 300 600 0
	has_delays spread "soon, and spread" '
		$1 > 25 { why = "too late" }
		NR == 2 || NR > 2 && $1 < least { least = $1 }
		$1 > most { most = $1 }
		END { if (NR < 9 || most - least < 5) why = "not spread" }'
	# A connection that may have lasted for 3 s begins a new row of losses. The back-off has
	# no length for the 33rd, and comes with the 34th of a row.
	has_delays wears_out "soon 33 times, then after 3 s" '
		NR == 1 || $3 >= 300 { begins[++rows] = NR }
		backed { next }
		{ is_last = 0; for (i in begins) is_last += NR - begins[i] == 34 }
		$1 > 25 { backed = is_last && $2 >= 300 && $1 <= 337; if (!backed) why = "too late" }
		NR - begins[rows] == 34 && !backed { why = "no back-off" }
		END { if (!backed) why = "no back-off" }'
}

# storm_mount VERSION [OPTIONS]: a new mount, of an empty export
storm_mount()
{
	umount_all
	rm -rf "${export_dir:?}"/*
	mount_nfs rdma2 "$1" /mnt "${2:-}" || { fail "mount"; return 1; }
}

# Mappings fail for a while; writeback loses no data.
passing_shortage()
{
	local name="no mapping, 20 times"

	storm_mount 4.2 || return
	head -c 8388608 /dev/urandom >/run/data
	counted with_fault fail_map 20 eval "cp /run/data /mnt/data && sync /mnt/data" &&
		cmp /run/data "$export_dir/data" && ok "$name: writeback loses no data" ||
		fail "$name: no copy, or not the same data"
	expect "$name: mapping is retried, on the same connection" \
		"c_map_waits == 20 && c_connects == 0"
}

# setxattr FILE SIZE: prints the error, if any
setxattr()
{
	python3 -IS -c 'import os, sys
os.setxattr(sys.argv[1], "user.long", b"v" * int(sys.argv[2]))' "$1" "$2" 2>&1
}

# are_tasks PROCEDURE N: succeeds if at least N of the client's RPCs are of this procedure
are_tasks()
{
	[ "$(cat /sys/kernel/debug/sunrpc/rpc_clnt/*/tasks | grep -cw "$1")" -ge "$2" ]
}

# A Call that cannot be sent is first in the transmit queue when a connection is
# established, and the tasks of other Calls try to transmit it. Only that Call may fail.
unsendable()
{
	local name="a Call that cannot be sent" why='' before first others

	# chmod has to begin with SETATTR, so attributes stay cached longer than the test
	# takes.
	storm_mount 4.2 actimeo=600 || return
	tee /mnt/x{0..5} </dev/null
	before=$(counters)
	rpc.nfsd 0
	fault fail_poszero
	# too long for any Receive
	setxattr /mnt/x0 30000 >/tmp/xattr.0 &
	first=$!
	await are_tasks SETXATTR 1 || why+=", itself does not wait"
	printf '%s\n' /mnt/x{1..5} | kill_after 60 xargs -n 1 -P 5 chmod 755 2>/tmp/chmod &
	others=$!
	await are_tasks SETATTR 5 || why+=", the others do not wait"
	nfsd_up
	wait "$others" || why+=", others end: $(cat /tmp/chmod)"
	wait "$first"
	no_fault fail_poszero
	grep -q 'Input/output error' /tmp/xattr.0 ||
		why+=", itself: '$(cat /tmp/xattr.0)'"
	without "$name: this Call fails, and no other" "$why"
	check "$name: later such a Call succeeds" setxattr /mnt/x1 30000
	risen "$before"
	expect "$name: counted" "c_calls_unsendable == 1"
}

# The connection has one region, gets another, and cannot get more, but an RPC needs three:
# it waits without spinning, and continues when a third one can be allocated.
few_regions()
{
	local name="three regions needed, two available" before pid now begin most

	dmesg -C
	fault fail_mr -1 2
	storm_mount 4.2 || { no_fault fail_mr; return; }
	: >/mnt/x
	before=$(counters)
	uptime
	begin=$now
	setxattr /mnt/x 24000 >/tmp/xattr.1 &
	pid=$!
	await has_risen c_mrs_unavailable -ge 8
	check "$name: the RPC waits" kill -0 "$pid"
	risen "$before"
	# An RPC waits once for the second region, and once for each four attempts to get a third
	# one. Between these is a quarter of a second, except after an RPC has begun to wait.
	uptime
	most=$(((now - begin) / 25))
	expect "$name: the RPC does not spin" \
		"c_mr_waits >= 2 && c_mr_waits <= 3 + c_mrs_unavailable / 4"
	expect "$name: the client tries to allocate more" \
		"c_mrs_unavailable >= 8 && c_mrs_unavailable <= 1 + c_mr_waits + $most"
	same "$name: one line of the log has the reason" "$(dmesg | grep -c \
		'xprtrdma2: RPCs to server .* wait: one needs 3 memory regions, .* no more than 2')" 1
	no_fault fail_mr
	happens_in 3 have_ended "$pid" ||
		fail "$name: the RPC still waits 3 s after regions are available"
	wait "$pid"
	without "$name: then the RPC continues" "$(cat /tmp/xattr.1)"
}

# ten_xattrs FILE: prints the error, if any
ten_xattrs()
{
	python3 -IS -c 'import os, sys
for _ in range(10):
    open(sys.argv[1], "a").close()
    os.setxattr(sys.argv[1], "user.long", b"v" * 24000)' "$1" 2>&1
}

# The same with a load of RPCs that each need some of the regions, until RPCs have waited
few_regions_load()
{
	local name="three regions for all RPCs" before i

	fault fail_mr -1 3
	storm_mount 4.2 || { no_fault fail_mr; return; }
	before=$(counters)
	busy 600
	for i in {1..20}; do
		ten_xattrs /mnt/x
		! has_risen c_mr_waits -ge 10 || break
	done >/tmp/xattr.1
	kill "$load"
	end_busy "$name"
	no_fault fail_mr
	without "$name: xattrs of three regions" "$(tail -n 1 /tmp/xattr.1)"
	risen "$before"
	expect "$name: RPCs waited, on the same connection" "c_mr_waits >= 10 && c_connects == 0"
}

# The peer's largest Receive shrinks between the construction of a message and its posting,
# for every second Send of any kind. Replies are inline, copied or gathered, also if the
# Call offered a Reply chunk.
built_too_large()
{
	local name="C-034 a message becomes too large for the peer" before why='' i bs

	storm_mount 4.2 || return
	mkdir /mnt/many
	touch /mnt/many/{1..50}
	head -c 36864 /dev/urandom >/run/data
	before=$(counters)
	fault fail_send_max -1
	echo 2 >"$faults/fail_send_max/interval"
	for i in 1 2 3; do
		dd if=/run/data of="/mnt/w$i" bs=8192 oflag=direct status=none
		for bs in 4096 18432; do
			dd if="/mnt/w$i" of=/run/back bs=$bs iflag=direct status=none
			cmp /run/data /run/back || why+=", not the same data"
		done
		rm "/mnt/w$i"
	done
	echo 2 >/proc/sys/vm/drop_caches
	[ "$(find /mnt/many -type f | wc -l)" -eq 50 ] || why+=", not all names"
	no_fault fail_send_max
	echo 1 >"$faults/fail_send_max/interval"
	risen "$before"
	without "$name: no RPC fails" "$why"
	expect "$name: Calls are marshalled again, and Replies planned again" \
		"c_calls_marshalled_again >= 5 && s_replies_planned_again >= 5"
	expect "$name: on the same connection, without an error" \
		"c_connects == 0 && c_errors_received == 0 && c_replies_bad == 0"
	echo "# ${rose[c_calls_marshalled_again]} Calls, ${rose[s_replies_planned_again]} Replies"
}

# four_are_open: succeeds if each of four readers has opened its file
four_are_open()
{
	set -- /tmp/opened.*
	[ $# -eq 4 ]
}

# A Call that is not posted returns its Send Queue entries, including those for the
# LOCAL_INV: with four slots the Send Queue has fewer entries than the Call has attempts.
# The file is opened before the fault, so that only READs are retried.
entries_come_back()
{
	local name="C-034 a READ is marshalled again, 52 times" before pids=() i go

	echo 4 >"$params/slots"
	storm_mount 4.2 || return
	head -c 1048576 /dev/urandom >"$export_dir/four"
	mkfifo /tmp/go
	exec {go}<>/tmp/go
	for i in 1 2 3 4; do
		perl -e '
			sysopen(F, $ARGV[0], 040000) or die "$!\n";
			open(O, ">", $ARGV[1]); sysread(STDIN, $b, 1);
			sysread(F, $b, 262144) == 262144 or die "$!\n";
			' /mnt/four "/tmp/opened.$i" </tmp/go >"/tmp/four.$i" 2>&1 &
		pids+=("$!")
	done
	await four_are_open || fail "$name: the files are not open"
	before=$(counters)
	fault fail_send_max 52
	echo 123 >&"$go"
	happens_in 10 have_ended "${pids[@]}" && ok "$name: the READ finds entries" ||
		fail "$name: the READ waits for entries"
	no_fault fail_send_max
	kill -9 "${pids[@]}" 2>/dev/null
	umount -f /mnt 2>/dev/null
	wait "${pids[@]}"
	without "$name: the READ succeeds" "$(cat /tmp/four.*)"
	risen "$before"
	expect "$name: it was marshalled again" "c_calls_marshalled_again >= 48"
	exec {go}>&-
	echo 64 >"$params/slots"
}

# A recall is answered while Calls wait for entries of the Send Queue; each of these Calls
# is retried once or twice meanwhile. The Calls continue when the next Reply returns its
# entries.
reply_without_entries()
{
	local name="B-04 a Reply while Calls wait for entries" pids=() i

	storm_mount 4.2 || return
	for i in $(seq 50); do
		echo old >"$export_dir/r$i"
		cat "/mnt/r$i" >/dev/null
		[ "$(delegations)" -ge 2 ] && break
		sleep 0.2
	done
	check "$name: delegations" [ "$(delegations)" -ge 2 ]
	measure recall_beside_a_call
	expect "$name: Calls waited, and the Reply was sent" \
		"c_sq_waits >= 1 && c_sq_waits < 50 && c_backward_replies == 1"
	measure recall_and_wait
	expect "$name: the Calls continue" "c_backward_replies == 1 && c_disconnects == 0"
}

recall_and_wait()
{
	echo new >"$export_dir/r$i"
	wait "${pids[@]}"
}

recall_beside_a_call()
{
	local counter before

	fault fail_entries
	client_counter sq_waits
	before=$counter
	kill_after 60 stat -f /mnt &
	pids=($!)
	await is_past sq_waits "$before"
	client_counter backward_replies
	before=$counter
	(echo new >"$export_dir/r$((i - 1))") &
	pids+=($!)
	await is_past backward_replies "$before"
	sleep 1
	no_fault fail_entries
}

# The log has one line about a device that becomes unusable, not one for each attempt. The
# client keeps trying to use the device.
useless_device()
{
	local name="a device without memory registration" before why='' i n

	storm_mount 3 noac,nolock || return
	fault fail_extensions
	rpc.nfsd 0
	before=$(counters)
	dmesg -C
	for i in 1 2 3; do
		kill_after 20 stat -t /mnt/. >/dev/null 2>&1 && why+=", it is used"
	done
	n=$(dmesg | grep -c 'xprtrdma2: device .* can not register memory by work requests')
	[ "$n" -eq 1 ] || why+=", the log has $n lines"
	risen "$before"
	[ "${rose[c_connect_failures]}" -ge 3 ] ||
		why+=", ${rose[c_connect_failures]} attempts"
	no_fault fail_extensions
	nfsd_up
	kill_after 30 stat -t /mnt/. >/dev/null || why+=", no use in the end"
	without "$name: one line for ${rose[c_connect_failures]} attempts" "$why"
}

group_storms()
{
	local all=storm_servers

	# nfsd waits a tenth of the lease for the answer to a callback.
	LEASE=$((10 * patience)) negotiate_up || return
	if can_fail "$faults/fail_map" "errors of this end"; then
		all+=" passing_shortage built_too_large entries_come_back unsendable few_regions few_regions_load"
		all+=" reply_without_entries no_reply_built no_buffers lost_calls useless_device"
	fi
	# shellcheck disable=SC2086 # words
	chosen $all
}

# Error replies of the server whose cause is not in the Call, and cases in which it has to
# send none

# read_file NAME SIZE: prints "data" if the contents are right, or dd's error
read_file()
{
	kill_after 60 dd if="/mnt/$1" of="/tmp/back.$1" bs="$2" iflag=direct \
		status=none 2>"/tmp/said.$1" && cmp -s "/tmp/back.$1" "$export_dir/$1" &&
		echo data || error_of "/tmp/said.$1"
}

error_of()
{
	grep -o 'Input/output error' "$1" || echo "other: $(cat "$1")"
}

# An error code that reports only that the server could not build a Reply
no_reply_built()
{
	local name="C-093 C-094 a Reply that cannot be built" before got

	storm_mount 3 nolock || return
	head -c 65536 /dev/urandom >"$export_dir/a"
	stat /mnt/a >/dev/null
	before=$(counters)
	got=$(with_fault fail_reply 1 read_file a 65536)
	check "$name: the reader gets EIO" [ "$got" = "Input/output error" ]
	check "$name: the next attempt gets the data" [ "$(read_file a 65536)" = data ]
	risen "$before"
	expect "$name: one error with code 10, on the same connection, and no repetition" \
		"s_errors_system==1&&c_errors_received==1&&c_calls_again==0&&c_connects==0"
}

# read_at_once FILE...: reads the files concurrently and prints the counted results
read_at_once()
{
	local f pids=()

	for f; do
		read_file "$f" 16384 >"/tmp/got.$f" &
		pids+=("$!")
	done
	wait "${pids[@]}"
	cat "${@/#//tmp/got.}" | sort | uniq -c
}

# short_of_buffers NAME EXPRESSION ROUNDS TIMES FILE...: reads the files in each round, while the
# server fails TIMES times to get a buffer for a Reply. Each Reply meets this, or it has passed.
short_of_buffers()
{
	local name="C-093 no buffer for a Reply: $1" rounds=$3 times=$4 before bytes failed got i why=''

	bytes=$(cd "$export_dir" && cat "${@:5}" | wc -c)
	before=$(counters)
	for ((i = 0; i < rounds; i++)); do
		got=$(with_fault fail_buffer "$times" read_at_once "${@:5}")
		[ "${got// /}" = $(($# - 4))data ] || why+=", $got"
		failed=$((times - $(cat "$faults/fail_buffer/times")))
		[ "$failed" -ge $((bytes / 16384)) ] || why+=", only $failed attempts failed"
	done
	risen "$before"
	without "$name: the data are correct" "$why"
	expect "$name: no error, the same connection, each Reply is counted once" \
		"($2)&&s_errors_reply_resource==0&&s_errors_system==0&&c_errors_received==0&&
		c_connects==0&&s_inline_bytes>=rounds*bytes&&s_inline_bytes<rounds*bytes+100000"
	echo "# ${rose[s_shortages]} waits, ${rose[s_buffer_parts_moved]} parts"
}

# Replies of 16 KiB fit the client's Receives. When the server can neither copy nor gather
# them, they wait for the pages that other Replies are sent from. The server ends a connection
# when a Reply has failed 100 times, so a shortage of 90 attempts ends none, however long
# they take. In a shortage without an end all Replies are sent from the pages of the first
# one, which has waited itself: so the shorter Replies in between return these pages, too.
no_buffers()
{
	local i

	storm_mount 3 nolock,rsize=16384 || return
	head -c 16384 /dev/urandom >"$export_dir/b0"
	for i in 1 2 3 4 5 6; do
		head -c 65536 /dev/urandom >"$export_dir/b$i"
		stat "/mnt/b$i" >/dev/null
	done
	short_of_buffers "one wait" "s_shortages == 1 && s_buffer_parts_moved == 0" 1 1 b0
	short_of_buffers "one reader" 1 1 1000000 b1
	short_of_buffers "waits and moved parts" \
		"s_shortages > 0 && s_buffer_parts_moved > 0" 1 1000000 b1 b2 b3 b4 b5 b6
	short_of_buffers "the end of the shortage" 1 4 90 b1 b2 b3 b4 b5 b6
}

# lost_call NAME COMMAND...: a Call that ends its connection each time it is sent. When the client
# disconnects before the server's device has received the NAK, as it may with soft-RoCE, the
# server cannot know the Call, and counts the end as the peer's.
lost_call()
{
	local name=$1 before

	storm_mount 3 nolock || return
	head -c 32768 /dev/urandom >"$export_dir/l"
	stat /mnt/l >/dev/null
	before=$(counters)
	same "$name: the error" "$(with_fault fail_handle -1 "${@:2}")" "Input/output error"
	check "$name: other mounts are served" [ "$(read_file l 32768)" = data ]
	await ends_are_counted
	risen "$before"
	expect "$name: the third attempt that the server knows gets code 10" \
		"s_calls_lost == 2 && s_calls_lost_again == 1 && s_errors_system == 1 &&
		c_connects == 2 + s_ended_PEER && s_disconnects == c_connects"
}

write_file()
{
	kill_after 60 dd if="/tmp/back.l" of="/mnt/l" bs=32768 oflag=direct \
		conv=notrunc status=none 2>/tmp/said.l && echo written || error_of /tmp/said.l
}

lost_calls()
{
	lost_call "C-093 S46 a READ with an invalid handle" read_file l 32768
	lost_call "C-093 S46 a WRITE with an invalid handle" write_file
}
