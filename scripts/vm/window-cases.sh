# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the number of outstanding Calls of the server, with the RPC
# program of kunit/echo (echo-cases.sh).

# window_of CLIENT SERVER: sets the maximum at each end
window_of()
{
	echo "genl:$1" >/sys/module/xprtrdma2/parameters/backward &&
		echo "genl:$2" >/sys/module/svcrdma2/parameters/backward
}

# words_of VIEW WORD...: prints these words of a connection
words_of()
{
	local view=$1 word

	for word in "${@:2}"; do
		grep -ow "$word=[^ ]*" "$view"
	done | tr '\n' ' '
}

# has_words VIEW WORDS: succeeds if the connection has these words now; sets $seen to its
# current ones
has_words()
{
	local names

	mapfile -t names < <(tr ' ' '\n' <<<"$2" | sed 's/=.*//')
	seen=$(words_of "$1" "${names[@]}")
	[ "$seen" = "$2 " ]
}

# view_says VIEW WORDS: waits until the connection has these words
view_says()
{
	await has_words "$@" || complain "$seen"
}

both_have_words()
{
	local server bad=0

	has_words /proc/net/rpc/svcrdma2 "$1" || bad=1
	server=$seen
	has_words /proc/net/rpc/xprtrdma2 "$2" || bad=1
	seen="server $server, client $seen"
	return "$bad"
}

# views_say SERVER-WORDS CLIENT-WORDS: waits until both ends have these words at the same
# time
views_say()
{
	await both_have_words "$@" || complain "$seen"
}

# grants CREDITS: succeeds if the client grants this number of Calls. If it does not, all that it
# grants may be outstanding now: the service replies to those that it holds, and the Replies
# announce the next grant.
grants()
{
	has_words /proc/net/rpc/svcrdma2 "backward_credits=$1" && return
	echo_do release
	return 1
}

released_and_over()
{
	echo_do release
	have_ended "$run"
}

# grant_grows CREDITS: has as many Calls outstanding as the client of the only connection
# grants, until it grants this number. It grants less before.
grant_grows()
{
	local run grown='' before

	before=$(words_of /proc/net/rpc/svcrdma2 backward_credits)
	[ "${before//[^0-9]/}" -lt "$1" ] || complain "before: $before" || return
	echo_begin "count=1000000 window=$1 hold=60000 head" >/dev/null 2>&1
	await grants "$1" && grown=1
	echo_do halt
	await released_and_over || complain "the run does not end" || return
	wait "$run" || complain "the run ended with $?" || return
	[ -n "$grown" ] || complain "$seen" || return
	came wrong=0 failed=0 retried=0
}

# window_held LABEL GRANT WINDOW: the service holds all Calls until both ends have been
# checked. A thread that is released holds its next Call too, so the release is repeated.
window_held()
{
	local label=$1 calls=$((2 * $3 < 256 ? 2 * $3 : 256)) run

	echo_begin "count=$calls window=$calls hold=60000 head call=0 reply=0"
	check "B-05 B-09 $label: $3 of $calls are outstanding in both views" views_say \
		"backward_credits=$3 backward_used=$3" \
		"backward_credits=$2 backward_used=$3"
	await released_and_over || { fail "$label: the run does not end"; return; }
	wait "$run"
	check "$label: all get Replies" came "backward=$calls" wrong=0 failed=0 retried=0
	check "$label: then no Call is outstanding" view_says \
		/proc/net/rpc/svcrdma2 "backward_used=0"
}

# window_case CLIENT SERVER WINDOW: one combination of maxima, and the resulting window
window_case()
{
	local label="the client grants $1, the server requests $2"

	check "$label: connect" window_of "$1" "$2" || return
	check "$label: connect" echo_connect || return
	check "B-09 $label: the grant grows with use" grant_grows "$3"
	check "B-12 $label: 1000 Calls, 64 concurrently" all_right backward 1000 \
		"window=64 head $inline $inline_reply"
	window_held "$label" "$1" "$3"
	check "$label: disconnect" echo_disconnect
}

all_are_over()
{
	echo_do release
	have_ended "$run" && have_ended "$end"
}

# A client's service ends while its 24 threads hold a Call each and 40 more Calls wait.
window_not_begun()
{
	local label="a service ends with Calls that it has not started" before run end

	window_of 64 64 && echo_connect || { fail "$label: connect"; window_of 16 16; return; }
	check "B-09 $label: the grant grows with use, to 64" grant_grows 64
	before=$(counters)
	echo_begin "count=64 window=64 hold=60000 head call=0 reply=0"
	check "$label: 64 are outstanding" views_say \
		"backward_credits=64 backward_used=64" "backward_credits=64 backward_used=64"
	await came holding=24 2>/dev/null ||
		fail "$label: the service holds $(come holding)"
	echo_do disconnect &
	end=$!
	await has_risen c_backward_unanswered -eq 40
	risen "$before"
	expect "$label: 40 Calls are dropped" \
		"c_backward_unanswered == 40 && c_backward_calls == 64"
	# Revoked Calls get no answer, and the service would wait for one.
	echo_do kill
	await all_are_over || fail "$label: the run does not end"
	wait "$end"
	wait "$run"
	check "$label: all data are correct" came wrong=0
	window_of 16 16
}

window_chunks()
{
	check "64 with chunks: connect" echo_connect || return
	check "64 with chunks: 128 Calls, 64 outstanding" all_right backward 128 \
		"window=64 call=4097/65536 reply=65535/4096 ddp=2 reply_ddp=2"
	check "both views: each Call has had its chunks and an invalidation" views_say \
		"backward_calls=128 backward_invs=128" "backward_calls=128 backward_invs=128"
	echo_disconnect
}

# window_late LABEL: the client's send completions for Replies are late. Further Replies
# wait before they are posted, and leave Send Queue entries for other messages.
window_late()
{
	local label="$1: late Send completions of Replies"

	can_fail "$faults/fail_done" "$label" || return 0
	counted with_fault fail_done 200 check "$label" \
		all_right backward 500 "window=64 head $inline $inline_reply"
	expect "B-04 $label: some Replies waited" "c_backward_waits > 0"
}

# logged_once CLIENT SERVER CALLS: succeeds if the log has one line of each end, with its number
logged_once()
{
	local line="rdma2: device rxe0 has queues for"

	[ "$(dmesg | grep -c "xprt$line $1 $3 at once")" -eq 1 ] &&
		[ "$(dmesg | grep -c "svc$line $2 $3 at once")" -eq 1 ]
}

# window_small ENTRIES CLIENT SERVER [COMPLETIONS]: on a device whose queues are limited to
# these numbers of work requests and completions, both ends grant only what fits, and log
# this once
window_small()
{
	local label="256 on both sides, queues of $1${4:+, and of $4 completions}"
	local least=$(($2 < $3 ? $2 : $3))

	check "$label: the device" modprobe rpcrdma2_small max_qp_wr="$1" \
		${4:+max_cqe="$4"} || return
	dmesg -C
	check "C-003 $label: connect" echo_connect
	check "B-05 B-09 $label: the grant grows to the lower one" grant_grows "$least"
	check "$label: 500 Calls" all_right backward 500 \
		"window=64 head $inline $inline_reply"
	check "B-04 B-05 B-12 $label: the client grants $2, the server accepts $3, and uses $least" \
		views_say "backward_credits_max=$3 backward_credits=$least" "backward_credits=$2"
	window_late "$label"
	check "$label: disconnect first" echo_disconnect
	check "$label: connect again" echo_connect
	check "$label: disconnect" echo_disconnect
	[ -n "${4:-}" ] || check "$label: the log has one line for each end" \
		logged_once "$2" "$3" callbacks
	check "$label: the device with its original limits" rmmod rpcrdma2_small
}

# The number of 8 KiB buffers, if the kernel counts them: a message to be sent is in one, a
# received Reply in another.
buffers_now()
{
	[ ! -d /sys/kernel/slab/kmalloc-8k ] || slab_objects kmalloc-8k
}

# one_buffer_each BEFORE: allows one buffer for each of 257 backward requests, and 128 for
# the forward direction
one_buffer_each()
{
	local more

	more=$(($(buffers_now) - $1))
	[ "$more" -lt $((257 + 128)) ] || complain "$more buffers for 257 requests"
}

# The next connection of a transport is on a device with smaller queues.
window_moves()
{
	local label="256 on both sides, the next connection with queues of 1000"

	check "$label: connect" echo_connect
	check "$label: the client grants 256" view_says \
		/proc/net/rpc/xprtrdma2 "backward_credits=256"
	device_again && modprobe rpcrdma2_small max_qp_wr=1000 ||
		fail "$label: the device"
	check "B-04 $label: 500 Calls" right_again 500 "window=64 head $inline $inline_reply"
	check "B-04 $label: the client grants 64" view_says \
		/proc/net/rpc/xprtrdma2 "backward_credits=64"
	check "$label: disconnect" echo_disconnect
	check "$label: the device with its original limits" rmmod rpcrdma2_small
}

# window_refused: on a device that refuses queues below its own limits, each end reduces its
# queues in the same attempt to connect, and logs this once
window_refused()
{
	local label="1024 RPCs on both sides, queues of more than 1200 are refused"

	check "$label: the device" modprobe rpcrdma2_small max_created=1200 \
		max_qp_wr=65536 || return
	echo 1024 >/sys/module/xprtrdma2/parameters/slots
	echo 1024 >/sys/module/svcrdma2/parameters/credits
	dmesg -C
	counted check "$label: connect" echo_connect
	expect "$label: the first attempt" "c_connects == 1 && c_connect_failures == 0"
	is "$label: the client's view" /proc/net/rpc/xprtrdma2 state=up slots=451
	is "$label: the server's view" /proc/net/rpc/svcrdma2 state=up credits_max=512 "sq=*/1022"
	check "$label: 500 Calls" all_right both 500 "window=64 head $inline $inline_reply"
	check "$label: disconnect first" echo_disconnect
	check "$label: connect again" echo_connect
	check "$label: disconnect" echo_disconnect
	check "$label: the log has one line for each end" logged_once 451 512 RPCs
	check "$label: the device with its original limits" rmmod rpcrdma2_small
	echo 64 >/sys/module/xprtrdma2/parameters/slots
	echo 64 >/sys/module/svcrdma2/parameters/credits
}

window_cases()
{
	local buffers rnr_before

	window_case 64 64 64
	window_chunks
	window_case 8 64 8
	window_case 64 2 2
	window_case 2 64 2
	window_of 256 256
	buffers=$(buffers_now)
	check "256 on both sides: connect" echo_connect
	rnr_before=$(rnr)
	check "B-09 256 on both sides: the grant grows with use, to 256" grant_grows 256
	[ -z "$buffers" ] ||
		check "256 on both sides: a request has one buffer" one_buffer_each "$buffers"
	window_held "256 on both sides" 256 256
	check "256 on both sides: 500 Calls" all_right backward 500 \
		"window=64 head $inline $inline_reply"
	same "B-10 256 on both sides: each message finds a Receive" "$(rnr)" "$rnr_before"
	check "256 on both sides: disconnect" echo_disconnect
	window_small 1000 64 128
	window_small 300 32 16
	window_small 1000 32 16 300
	window_moves
	window_of 16 16
	window_refused
}

# pages_left COUNT: after this many pages, allocations for the client's Receives fail
pages_left()
{
	aim xprtrdma2:xprt2_post_receives || return
	settings "$debug/fail_page_alloc" task-filter=Y ignore-gfp-wait=N min-order=0 verbose=0 \
		times="$fault_times" space="$1" probability=100
}

# With few Receives each direction gets some of them.
window_short()
{
	local name="about 40 Receives, 256 requested for Calls of the server" most

	window_of 256 256
	echo 1 >"$events/xprt2_grant/enable"
	pages_left 240
	check "$name: connect" echo_connect
	echo_result "B-04 S27 $name" "forward=300 backward=300 wrong=0 failed=0" \
		"c_disconnects + s_disconnects == 0" \
		all_right both 300 "window=16 head $inline $inline_reply"
	echo 0 >"$debug/fail_page_alloc/probability"
	aim
	echo 0 >"$events/xprt2_grant/enable"
	[ "$(cat "$debug/fail_page_alloc/times")" -lt "$fault_times" ] ||
		fail "$name: no allocation failed"
	most=$(sed -n 's/.* xprt2_grant: .*credits=//p' "$trace" | sort -n | tail -n 1)
	bounded "B-04 $name: up to $most Calls of the client" "${most:-1}" 4
	all_right both 300 "window=64 head $inline $inline_reply"
	check "B-09 $name: then Receives for all" grant_grows 256
	check "$name: disconnect" echo_disconnect
	window_of 16 16
}

log_has()
{
	dmesg | grep -q "$1"
}

# window_too_small ENTRIES END MESSAGE THEN: on a device with such small queues this end
# makes no connection and logs the reason. When the device is normal again, a client that
# has given up does not retry, and one that was refused does.
window_too_small()
{
	local label="queues of $1, too small for the $2" then=connected

	check "$label: the device" modprobe rpcrdma2_small max_qp_wr="$1" || return
	dmesg -C
	echo_connect 2>/dev/null &
	run=$!
	happens_in 100 log_has "$3" && ok "$label: the log has the reason" ||
		fail "$label: the log has $(dmesg | tail -n 3)"
	check "$label: the device with its original limits" rmmod rpcrdma2_small
	wait "$run" || then=failed
	same "$label: $then" "$then" "$4"
	echo_disconnect 2>/dev/null
}

group_backward-rpc-window()
{
	local bad

	echo_up genl || { fail "server"; return; }
	for bad in genl:0 genl:257 genl:many; do
		refuses /sys/module/xprtrdma2/parameters/backward "$bad"
		refuses /sys/module/svcrdma2/parameters/backward "$bad"
	done
	counted window_cases 2>/dev/null
	expect "no Call was refused" \
		"c_backward_refused + c_backward_unanswered + s_backward_errors == 0"
	window_not_begun
	window_too_small 64 client 'has too small queues for 1 MiB payloads' failed
	window_too_small 110 server \
		'is refused (error -95): the device has too small queues' connected
	! can_fail "$debug/rpcrdma2_aim" "no memory for Receives" || window_short
	check "unload after use" echo_down
}
