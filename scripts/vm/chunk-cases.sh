# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after echo-cases.sh: failures of backward Calls with chunks. The
# counters of both ends show them; kunit/echo verifies the data.

namespace_addr=10.0.1.1
there=(nsenter --net=/run/netns/other)

# Chunks of every kind in turn, in 16 concurrent Calls
large="window=16 call=65536/70000/300001 reply=65536/4096/100003 ddp=2 reply_ddp=2"

# The service gives up some Calls after two seconds, while the client processes them. The
# client answers about 0.7 s later, with RDMA Writes and a Send With Invalidate.
chunks_given_up()
{
	echo_result "$name" "backward=40 failed=4 wrong=0 error=-5" \
		"s_backward_given_up == 4 && s_backward_revoked == 4 && s_backward_late == 4 &&
		c_disconnects + s_disconnects == 0" \
		echo_do "run direction=backward count=44 $large hold=2700 every=11"
	check "$name: all credits are available" all_right backward 48 "$large"
}

# kept_until_killed WORDS: the service gives up the Calls that the client holds, when no
# others are left
kept_until_killed()
{
	echo_begin "count=31 $1 hold=60000 every=2"
	await came backward=16
	# A thread that starts to hold its Call after "release" would do so for 60 s.
	await came holding=15
	echo_do kill
	await has_risen s_backward_given_up -eq 15
	echo_do release
	wait "$run"
}

# Of 16 concurrent Calls with six memory regions each, the maximum number, the client holds 15
# until they are given up by a signal. Meanwhile the sixteenth credit carries other Calls.
chunks_kept()
{
	local words="window=16 call=300001 reply=100003 base=100"

	check "$name: 16 credits are granted" grant_grows 16
	check "$name: 64 succeed" all_right backward 64 "$words"
	echo_result "$name" "backward=16 failed=15 wrong=0 error=-512" \
		"s_backward_registrations == 6 * 31 && s_backward_calls == 31 &&
		s_backward_given_up == 15 && s_backward_revoked == 15 &&
		s_backward_late == 15 && c_disconnects + s_disconnects == 0" \
		kept_until_killed "$words"
	check "$name: all credits are available" all_right backward 48 "$words"
}

# The answers come so late that the service, which has waited for a Reply in vain, first
# invalidates the memory that it had offered. This ends the connection.
chunks_abandoned()
{
	echo_result "$name" wrong=0 \
		"s_backward_revoked >= 2 && s_backward_late == 0 && s_backward_silent >= 1" \
		echo_do "run direction=backward count=8 $large hold=8000 every=4"
	# It may hold the Calls of the lost connection still.
	await came holding=0 2>/dev/null || fail "$name: the client holds $(come holding) still"
	check "$name: later RPCs succeed" right_again 48 "$large"
}

# A signal to the tasks kills Calls in flight, several times; the client replies to each.
chunks_killed()
{
	check "$name: 16 credits are granted" grant_grows 16
	echo_result "$name" "wrong=0 failed=0" \
		"s_backward_given_up >= 16 && s_backward_revoked >= 16 &&
		s_backward_late == s_backward_revoked && c_disconnects + s_disconnects == 0" \
		chunks_kill
}

chunks_kill()
{
	local i

	echo_begin "count=100000000 $large retry hold=200 every=3"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.4
		echo_do kill
	done
	sleep 0.5
	echo_do halt
	wait "$run"
}

# The device is removed while killed Calls wait for answers that are not due soon. The end of
# the connection ends these waits; if it did not, they would delay the removal by their time.
chunks_killed_cut()
{
	before=$(counters)
	echo_begin "count=100000000 $large retry hold=12000 every=4"
	await came holding=16 2>/dev/null || fail "$name: the client does not hold 16"
	echo_do kill
	await has_risen s_backward_given_up -ge 16 || fail "$name: not all Calls are given up"
	device_down || fail "$name: device removed"
	risen "$before"
	expect "$name: these Calls do not delay the removal" "s_backward_silent == 0"
	device_up || fail "$name: device back"
	echo_do halt
	wait "$run"
	check "$name: all data are correct" came wrong=0
	risen "$before"
	expect "$name: Calls waited" \
		"s_backward_revoked >= 16 && s_backward_late < s_backward_revoked"
}

# chunks_disconnected TIMES: fault injection disconnects at the end that sends next
chunks_disconnected()
{
	counted interrupted "$name" "$1" lose
	keep
	expect "$name: each time a connection was lost, and Calls ended with exposed memory" \
		"c_connects >= $1 && s_backward_revoked >= $1"
}

called_in_vain()
{
	risen_now
	[ $((rose[c_backward_refused] + rose[c_backward_unanswered])) -gt 0 ]
}

# As at an unmount, the callback service ends before the connection does.
chunks_without_service()
{
	local name="the callback service ends with 16 concurrent Calls" before

	check "$name: connect" echo_connect || return
	before=$(counters)
	echo_run_begins
	check "$name: the service ends" echo_do disconnect
	await called_in_vain || fail "$name: no Call has come"
	echo_do halt
	wait "$run"
	check "$name: all data are correct" came wrong=0
	risen "$before"
	expect "$name: Calls found no service" "c_backward_refused + c_backward_unanswered > 0"
}

# The service calls a client of version 1 and one of version 2 in turn. Calls to the first
# are small and inline, those to the second have chunks.
chunks_beside()
{
	local name="a client of version 2 beside one of version 1"

	check "$name: connect" pinned 1 echo_connect || return
	echo_do "client 1"
	check "$name: connect in version 2" pinned 2 echo_connect || return
	check "$name: one connection of each" \
		test "$(echo_connections 1).$(echo_connections 2)" = 1.1
	echo_result "C-035 $name" "backward=200 wrong=0 failed=0 retried=0" \
		"c_backward_read_chunks >= 100 && c_backward_read_chunks <= 200 &&
		c_backward_read_bytes >= 100 * 300000 && c_backward_refused == 0 &&
		c_disconnects + s_disconnects == 0" \
		all_right backward 200 "window=16 call=300/300001 reply=100 head ddp=2"
	check "$name: disconnect" echo_disconnect
	echo_do "client 0"
	check "$name: disconnect the other client" echo_do disconnect
}

# lost_for REASON: checks the trace of lost connections for this reason
lost_for()
{
	grep -q "rpcrdma2_lost: .*reason=$1" /sys/kernel/tracing/trace ||
		complain "$(grep -o 'rpcrdma2_lost: .*' /sys/kernel/tracing/trace)"
}

# The client connects to the tester's server, which lets RDMA Reads hang. While a Send waits
# for a Receive, soft-RoCE counts the time as time without a response and gives up after
# five seconds; on other devices the client's deadline is effective.
chunks_that_hang()
{
	local name="hanging RDMA Reads for a Call of the server" ret=0

	echo 1 >/sys/kernel/tracing/events/rpcrdma2/rpcrdma2_lost/enable
	tester "" --server --trigger \
		"printf 'connect $addr4 %s 1\\n' \$PORT >$echo_folder/control" \
		"$addr4" 23000 client_backward.reads_that_hang || ret=1
	check "S46 $name: the connection ends" \
		lost_for "\(RDMA Read\|Send\) failed"
	check "$name: disconnect" echo_do disconnect
	return "$ret"
}

# If the device does not give up, the client does. Other RPCs continue until then, on this
# connection and on another one.
chunks_overdue()
{
	# Only the first Reply on each connection grants more than one credit.
	check "$name: both connections are in use" all_right backward 32 "$large"
	echo_fault "$name" fail_read 1 "backward=96 wrong=0 failed=0 retried=1" \
		"c_overdue == 1 && c_disconnects == 1 && c_connects == 1 &&
		s_disconnects == 1 && s_overdue == 0" "count=96 $large retry"
	bounded "$name: its deadline ends the Call" "$(come ms)" \
		19000 $((19000 + 7000 * patience - 1))
}

killed_at_fence()
{
	fault fail_inv 1
	echo_begin "count=1 window=1 call=65536 reply=65536"
	await was_injected fail_inv
	echo_do kill
	wait "$run"
	no_fault fail_inv
	await has_risen s_ended_STALLED -ge 1
}

# The answer to a Call has come, and the invalidation of its memory hangs. The service waits
# for that without a limit, but a killed Call closes the connection before it is overdue.
chunks_fence_hangs()
{
	echo_result "$name" "backward=0 failed=1 wrong=0 error=-512" \
		"s_backward_calls == 1 && s_ended_STALLED == 1 && s_overdue == 0" killed_at_fence
	check "$name: the fault was injected" was_injected fail_inv
}

there_up()
{
	"${there[@]}" rdma link add rxe1 type rxe netdev d1
}

there_down()
{
	"${there[@]}" rdma link del rxe1
}

# Creates the network namespace "other" with a device on $addr4. Soft-RoCE always sends from
# the initial namespace, so that one gets a device with the same index and address.
namespace_up()
{
	ip netns add other &&
		"${there[@]}" ip link set lo up &&
		"${there[@]}" ip link add d1 index 77 type dummy &&
		"${there[@]}" ip link set d1 up mtu 9000 &&
		"${there[@]}" ip addr add "$addr4/24" dev d1 &&
		there_up &&
		ip link add d1 index 77 type dummy &&
		ip link set d1 up mtu 9000 &&
		ip addr add "$addr4/24" dev d1
}

# Server and client run in the namespace.
chunks_in_namespace()
{
	local name="in a network namespace" addr4=$namespace_addr

	namespace_up || { fail "$name: a device"; return; }
	echo_do close
	check "$name: serve" "${there[@]}" bash -c "echo serve $echo_port >$echo_folder/control"
	check "$name: connect" "${there[@]}" bash -c \
		"echo connect $addr4 $echo_port 2 >$echo_folder/control" || return
	check "$name: two connections in the namespace only" test "$(
		"${there[@]}" grep -c 'device=rxe1 .*brs=GENL' "$client_view").$(
		wc -l <"$client_view")" = 2.0
	echo_result "C-037 $name" "forward=96 backward=96 wrong=0 failed=0 retried=0" \
		"c_backward_read_chunks > 0 && c_backward_write_chunks > 0 &&
		c_backward_reply_chunks > 0" all_right both 96 "$large"
	interrupted "$name: device removed" 1 outage there_down there_up
	check "$name: disconnect" echo_do disconnect
	check "$name: close" echo_do close
	echo_do "serve $echo_port"
	there_down
	ip link del d1
	check "$name: the namespace is deleted" ip netns del other
}

# waiting: prints how many Calls wait until their connection can send them
waiting()
{
	cat /sys/kernel/debug/sunrpc/rpc_clnt/*/tasks 2>/dev/null |
		grep -c ' ECHO .* q:xprt_sending'
}

# held_and_waiting HELD WAITING: succeeds if the client holds so many Calls, and others wait
held_and_waiting()
{
	held="$(come holding) held, $(waiting) waiting"
	[ "$held" = "$1 held, $2 waiting" ]
}

# hold_over: the client's service holds 16 Calls of a connection, and then the first one of the next
# connection. That is all that may be outstanding there before a Reply: the other 15 wait.
hold_over()
{
	echo_begin "count=16 window=16 head retry hold=60000"
	await held_and_waiting 16 0
	device_again
	await held_and_waiting 17 15
	await released_and_over || held+=", and the run does not end"
	have_ended "$run" && wait "$run"
}

# Calls that the client's service still processes from an earlier connection are not
# outstanding on the new one.
calls_held_over()
{
	local held

	check "$name: 16 credits are granted" grant_grows 16
	echo_result "$name" "backward=16 wrong=0 failed=0 retried=16" \
		"c_backward_refused == 0 && c_backward_calls == 32 && c_connects == 1" hold_over
	same "$name: the client holds 16 and one more" "$held" "17 held, 15 waiting"
}

group_backward-rpc-killed()
{
	echo_up genl || { fail "server"; return; }
	gives_up=2 connected "C-009 B-05 Calls with chunks, abandoned after 2 s, answered after 2.7 s" \
		chunks_given_up
	gives_up=60 connected "B-05 Calls with six regions each, the client holds 15 of 16" \
		chunks_kept
	connected "Calls with chunks, killed 10 times, 16 concurrent Calls" chunks_killed
	connected "the device is removed while killed Calls wait for answers" chunks_killed_cut
	gives_up=1 connected "Calls with chunks, abandoned after 1 s, answered after 8 s" \
		chunks_abandoned
	check "unload after use" echo_down
}

group_backward-rpc-cut()
{
	local rpcs=$large steps=32 times=${QUICK:+10}

	echo_up genl || { fail "server"; return; }
	counted echo_interrupted 4
	expect "interrupted: Calls ended with exposed memory" "s_backward_revoked > 0"
	times=${times:-40}
	! can_fail "$debug/fail_sunrpc" disconnects ||
		connected "connections end $times times, 16 concurrent Calls with chunks" \
			chunks_disconnected "$times"
	connected "B-06 16 Calls held, and a lost connection" calls_held_over
	chunks_without_service
	chunks_beside
	chunks_in_namespace
	check "unload after use" echo_down
}

group_backward-rpc-overdue()
{
	echo_up genl || { fail "server"; return; }
	gives_up=60 clients=2 connected \
		"S46 an RDMA Read without a response for a Call of the server" chunks_overdue
	! can_fail "$faults/fail_inv" "fences" ||
		gives_up=60 connected "R8 a killed Call whose fence hangs" chunks_fence_hangs
	check "unload after use" echo_down
}

group_backward-rpc-hang()
{
	echo_up genl || { fail "server"; return; }
	chunks_that_hang || failed=1
	check "unload after use" echo_down
}
