# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after echo-cases.sh: failures of backward Calls with chunks. The
# counters of both ends show them; kunit/echo verifies the data.

namespace_addr=10.0.1.1
there=(nsenter --net=/run/netns/other)
echo_timeout=/sys/module/rpcrdma2_echo/parameters/backward_timeout

# Chunks of every kind in turn, in 16 concurrent Calls
large="window=16 call=65536/70000/300001 reply=65536/4096/100003 ddp=2 reply_ddp=2"

# The service gives up some Calls after two seconds, while the client processes them. The
# client answers about 0.7 s later, with RDMA Writes and a Send With Invalidate.
chunks_given_up()
{
	local name="C-009 B-05 Calls with chunks, abandoned after 2 s, with Replies after 2.7 s"

	echo 2 >"$echo_timeout"
	check "$name: connect" echo_connect || return
	measure echo_do "run direction=backward count=44 $large hold=2700 every=11"
	check "$name: four time out, all others succeed" \
		came backward=40 failed=4 wrong=0 error=-5
	expect "$name: these four keep their credits" "s_backward_given_up == 4"
	expect "$name: the service waits for their Replies" \
		"s_backward_revoked == 4 && s_backward_late == 4"
	expect "$name: the connection stays" "c_disconnects + s_disconnects == 0"
	check "$name: all credits are available" all_right backward 48 "$large"
	check "$name: disconnect" echo_disconnect
}

# kept_until_killed WORDS: the service gives up the Calls that the client holds, when no
# others are left
kept_until_killed()
{
	echo_do "run direction=backward count=31 $1 hold=60000 every=2" &
	run=$!
	await came backward=16
	# A thread that starts to hold its Call after "release" would do so for 60 s.
	await came holding=15
	echo_do kill
	await has_risen s_backward_given_up -eq 15
	echo_do release
	wait "$run"
}

# Of 16 concurrent Calls with the maximum number of memory regions, the client holds 15
# until they are given up. Meanwhile the sixteenth credit carries other Calls.
chunks_kept()
{
	local name="B-05 Calls with six regions each, the client holds 15 of 16"
	local words="window=16 call=300001 reply=100003 base=100"

	echo 60 >"$echo_timeout"
	check "$name: connect" echo_connect || return
	check "$name: 16 credits are granted" grant_grows 16
	check "$name: 64 succeed" all_right backward 64 "$words"
	measure kept_until_killed "$words"
	check "$name: these 15 end by a signal, all others succeed" \
		came backward=16 failed=15 wrong=0 error=-512
	expect "$name: each has six regions" "s_backward_registrations == 6 * 31"
	expect "$name: each was sent, and is abandoned once" \
		"s_backward_calls == 31 && s_backward_given_up == 15"
	expect "$name: the service waits for their Replies" \
		"s_backward_revoked == 15 && s_backward_late == 15"
	expect "$name: the connection stays" "c_disconnects + s_disconnects == 0"
	check "$name: all credits are available" all_right backward 48 "$words"
	check "$name: disconnect" echo_disconnect
}

# The answers come so late that the service first invalidates the memory that it had
# offered, which ends the connection.
chunks_abandoned()
{
	local name="Calls with chunks, abandoned after 1 s, with Replies after 8 s"

	echo 1 >"$echo_timeout"
	check "$name: connect" echo_connect || return
	measure echo_do "run direction=backward count=8 $large hold=8000 every=4"
	check "$name: all data are correct" came wrong=0
	expect "$name: the service revokes the memory" \
		"s_backward_revoked >= 2 && s_backward_late == 0"
	expect "$name: it has waited for a Reply in vain" "s_backward_silent >= 1"
	# The client has not replied yet.
	sleep 3
	check "$name: later RPCs succeed" right_again 48 "$large"
	check "$name: disconnect" echo_disconnect
}

# A signal to the tasks kills Calls in flight, several times.
chunks_killed()
{
	local i name="Calls with chunks, killed 10 times, 16 concurrent Calls"

	echo 20 >"$echo_timeout"
	check "$name: connect" echo_connect || return
	check "$name: 16 credits are granted" grant_grows 16
	measure chunks_kill
	check "$name: all data are correct, and no RPC is lost" came wrong=0 failed=0
	expect "$name: Calls were killed with exposed memory" \
		"s_backward_given_up >= 16 && s_backward_revoked >= 16"
	expect "$name: the client replied to each" \
		"s_backward_late == s_backward_revoked"
	expect "$name: the connection stays" "c_disconnects + s_disconnects == 0"
	check "$name: disconnect" echo_disconnect
}

chunks_kill()
{
	echo_do "run direction=backward count=100000000 $large retry hold=200 every=3" &
	run=$!
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
	local name="the device is removed while killed Calls wait for answers" before

	echo 20 >"$echo_timeout"
	check "$name: connect" echo_connect || return
	before=$(counters)
	echo_do "run direction=backward count=100000000 $large retry hold=12000 every=4" &
	run=$!
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
	check "$name: disconnect" echo_disconnect
}

# chunks_disconnected TIMES: fault injection disconnects at the end that sends next
chunks_disconnected()
{
	local name="connections end $1 times, 16 concurrent Calls with chunks" before i

	check "$name: connect" echo_connect || return
	before=$(counters)
	echo_run_begins
	for i in $(seq "$1"); do
		lose
		echo_goes_on || fail "$name: number $i"
	done
	keep
	echo_run_ends "$name"
	risen "$before"
	expect "$name: each time a connection was lost" "c_connects >= $1"
	expect "$name: Calls ended with exposed memory" "s_backward_revoked >= $1"
	check "$name: disconnect" echo_disconnect
}

# As at an unmount, the callback service ends before the connection does.
chunks_without_service()
{
	local name="the callback service ends with 16 concurrent Calls" before

	check "$name: connect" echo_connect || return
	before=$(counters)
	echo_run_begins
	check "$name: the service ends" echo_do disconnect
	sleep 0.5
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
	measure all_right backward 200 "window=16 call=300/300001 reply=100 head ddp=2"
	check "C-035 $name: 100 Calls inline, 100 with chunks" \
		came backward=200 wrong=0 failed=0 retried=0
	expect "C-035 $name: only the client of version 2 gets chunks" \
		"c_backward_read_chunks >= 100 && c_backward_read_chunks <= 200 &&
		c_backward_read_bytes >= 100 * 300000 && c_backward_refused == 0"
	expect "$name: both connections stay" "c_disconnects + s_disconnects == 0"
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
	all_apply=1 tester "" --server --trigger \
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
	local name="an RDMA Read without a response for a Call of the server" before ms

	echo 60 >"$echo_timeout"
	check "$name: two connections" echo_connect 2 || return
	# Only the first Reply on each connection grants more than one credit.
	check "$name: both are in use" all_right backward 32 "$large"
	before=$(counters)
	with_fault fail_read 1 echo_do "run direction=backward count=96 $large retry"
	check "$name: the fault was injected" test "$(cat "$faults/fail_read/times")" -eq 0
	check "$name: one RPC is repeated, and all succeed" \
		came backward=96 wrong=0 failed=0 retried=1
	ms=$(come ms)
	[ "$ms" -ge 19000 ] && [ "$ms" -lt $((19000 + 7000 * patience)) ] &&
		ok "S46 $name: its deadline ends the Call, after $ms ms" ||
		fail "S46 $name: the Call takes $ms ms"
	risen "$before"
	expect "S46 $name: this ends one connection" \
		"c_overdue == 1 && c_disconnects == 1 && c_connects == 1 &&
		s_disconnects == 1 && s_overdue == 0"
	echo 20 >"$echo_timeout"
	check "$name: disconnect" echo_disconnect
}

was_injected()
{
	[ "$(cat "$faults/$1/times")" -eq 0 ]
}

# The answer to a Call has come, and the invalidation of its memory hangs. The service waits
# for that without a limit, but a killed Call closes the connection before it is overdue.
chunks_fence_hangs()
{
	local name="a killed Call whose fence hangs" before

	echo 60 >"$echo_timeout"
	can_fail "$faults/fail_inv" "$name" || return
	check "$name: connect" echo_connect || return
	before=$(counters)
	fault fail_inv 1
	echo_do "run direction=backward count=1 window=1 call=65536 reply=65536" &
	run=$!
	await was_injected fail_inv
	echo_do kill
	wait "$run"
	no_fault fail_inv
	risen "$before"
	check "$name: the fault was injected" was_injected fail_inv
	check "$name: the signal ends it" came backward=0 failed=1 wrong=0 error=-512
	expect "R8 $name: the wait of its task closes the connection" \
		"s_backward_calls == 1 && s_ended_STALLED == 1 && s_overdue == 0"
	echo 20 >"$echo_timeout"
	check "$name: disconnect" echo_disconnect
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
		"${there[@]}" rdma link add rxe1 type rxe netdev d1 &&
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
	measure all_right both 96 "$large"
	check "C-037 $name: RPCs with chunks in both directions" \
		came forward=96 backward=96 wrong=0 failed=0 retried=0
	expect "C-037 $name: chunks of each kind" "c_backward_read_chunks > 0 &&
		c_backward_write_chunks > 0 && c_backward_reply_chunks > 0"
	echo_run_begins
	"${there[@]}" rdma link del rxe1 && sleep 0.3 &&
		"${there[@]}" rdma link add rxe1 type rxe netdev d1 && echo_goes_on ||
		fail "$name: device removed"
	echo_run_ends "$name: device removed"
	check "$name: disconnect" echo_do disconnect
	check "$name: close" echo_do close
	echo_do "serve $echo_port"
	"${there[@]}" rdma link del rxe1
	ip link del d1
	check "$name: the namespace is deleted" ip netns del other
}

# Calls that the client's service still processes from an earlier connection are not
# outstanding on the new one.
calls_held_over()
{
	local name="16 Calls held for 3 s, and a lost connection" before

	check "$name: connect" echo_connect || return
	check "$name: 16 credits are granted" grant_grows 16
	before=$(counters)
	echo_do "run direction=backward count=16 window=16 head retry hold=3000" &
	run=$!
	sleep 1
	device_again || fail "$name: device"
	wait "$run"
	check "$name: each Call is repeated once" \
		came backward=16 wrong=0 failed=0 retried=16
	risen "$before"
	expect "B-06 $name: no Call is refused on the next connection" \
		"c_backward_refused == 0 && c_backward_calls == 32 && c_connects == 1"
	check "$name: disconnect" echo_disconnect
}

group_backward-rpc-killed()
{
	echo_up genl || { fail "server"; return; }
	chunks_given_up
	chunks_kept
	chunks_killed
	chunks_killed_cut
	chunks_abandoned
	check "unload after use" echo_down
}

group_backward-rpc-cut()
{
	local rpcs=$large steps=32 times=${QUICK:+10}

	echo_up genl || { fail "server"; return; }
	counted echo_interrupted 4
	expect "interrupted: Calls ended with exposed memory" "s_backward_revoked > 0"
	! can_fail "$debug/fail_sunrpc" disconnects || chunks_disconnected "${times:-40}"
	calls_held_over
	chunks_without_service
	chunks_beside
	chunks_in_namespace
	check "unload after use" echo_down
}

group_backward-rpc-overdue()
{
	echo_up genl || { fail "server"; return; }
	chunks_overdue
	chunks_fence_hangs
	check "unload after use" echo_down
}

group_backward-rpc-hang()
{
	echo_up genl || { fail "server"; return; }
	chunks_that_hang || failed=1
	check "unload after use" echo_down
}
