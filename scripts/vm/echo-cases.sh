# shellcheck shell=bash disable=SC2015,SC2034,SC2086,SC2119,SC2120,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: RPCs of any size in both directions of one connection, with the
# RPC program of kunit/echo, which verifies each byte at both ends. Both ends run in one
# kernel; kunit/echo/control.c describes the parameters of a run.

echo_folder=/sys/kernel/debug/rpcrdma2_echo
echo_port=20070
echo_timeout=/sys/module/rpcrdma2_echo/parameters/backward_timeout

# echo_up [LEVEL]: loads the modules, with this level of backward operation at both ends
echo_up()
{
	client_up rdma2 && modprobe rpcrdma2_echo &&
		backward_level "${1:-inline}" && echo_do "serve $echo_port"
}

echo_do()
{
	printf '%s\n' "$1" >"$echo_folder/control"
}

connections_now()
{
	grep -cE "state=(up|closing) " /proc/net/rpc/svcrdma2
}

# echo_connect [CONNECTIONS]: connects a client
echo_connect()
{
	connections_now >/tmp/connections.before
	echo_do "connect $addr4 $echo_port ${1:-1}"
}

# echo_disconnect: disconnects the only client and waits until the server has detected it,
# so that the server's next Calls do not use that connection
echo_disconnect()
{
	echo_do disconnect &&
		await eval "[ \$(connections_now) -le $(cat /tmp/connections.before) ]"
}

# came NAME=VALUE...: checks the result of the last run, and prints all of it on failure
came()
{
	local word

	for word in "$@"; do
		grep -qw -- "$word" "$echo_folder/result" ||
			complain "not $word: $(cat "$echo_folder/result")" || return
	done
}

# all_right DIRECTION COUNT WORDS: runs COUNT RPCs in the direction, or in both, and checks
# that all of them succeed
all_right()
{
	echo_do "run direction=$1 count=$2 $3" &&
		came "wrong=0" "failed=0" "retried=0" || return
	case $1 in
	forward)	came "forward=$2" "backward=0" ;;
	backward)	came "forward=0" "backward=$2" ;;
	both)		came "forward=$2" "backward=$2" ;;
	esac
}

# echo_result NAME RESULT EXPRESSION COMMAND...: cases that the RPCs of the command end with
# this result, and that the counters have risen as the expression has it
echo_result()
{
	measure "${@:4}"
	check "$1: $2" came $2
	expect "$1: the counters" "$3"
}

# echo_fault NAME FAULT TIMES RESULT EXPRESSION WORDS: the same for backward RPCs, which meet
# the fault so many times
echo_fault()
{
	can_fail "$faults/$2" "$1" || return
	echo_result "$1" "$4" "$5" with_fault "$2" "$3" echo_do "run direction=backward $6"
	check "$1: the fault was injected" was_injected "$2"
}

was_injected()
{
	[ "$(cat "$faults/$1/times")" -eq 0 ]
}

# echo_begin WORDS: starts backward RPCs; $run is the process that makes them
echo_begin()
{
	echo_do "run direction=backward $1" &
	run=$!
}

# connected NAME COMMAND...: cases that a client connects and disconnects; the command, which
# sees $name, runs meanwhile. The service gives up its Calls after $gives_up seconds.
connected()
{
	local name=$1 run before

	echo "${gives_up:-20}" >"$echo_timeout"
	check "$name: connect" echo_connect "${clients:-1}" || return
	"${@:2}"
	check "$name: disconnect" echo_disconnect
}

# right_again COUNT WORDS: all backward RPCs succeed in the end, after a lost connection
right_again()
{
	echo_do "run direction=backward count=$1 retry $2" && came backward="$1" wrong=0 failed=0
}

echo_down()
{
	echo_do disconnect && echo_do close && rmmod rpcrdma2_echo && unload rdma2
}

# backward_counted COUNT: checks the backward Calls that both ends have counted. An RPC that
# was not sent must not count.
backward_counted()
{
	expect "B-04 $1 Calls and Replies at both ends, none refused or dropped" \
		"c_backward_calls == $1 && s_backward_calls == $1 &&
		c_backward_replies == $1 && s_backward_replies == $1 &&
		c_backward_refused + c_backward_unanswered + s_backward_errors + s_dropped_reply == 0"
}

inline=call=0/1/2/3/4/511/1023/2048/3500
inline_reply=reply=0/1/2/3/4/511/1023/2048/3500

# echo_inline LABEL COUNT: RPCs that fit a page with their headers, in either version
echo_inline()
{
	local label=$1 count=$2 d

	for d in forward backward both; do
		check "$label: $count RPCs $d, 16 outstanding" all_right "$d" "$count" \
			"window=16 head $inline $inline_reply"
	done
}

# The service of each end holds each Call until a Call of the other direction with the same
# xid has arrived, so both RPCs are outstanding at both ends with one xid.
echo_same_xids()
{
	local label=$1 count=$2

	check "C-066 B-02 $label: $count xids in both directions" \
		all_right both "$count" "meet window=8 head call=100/7 reply=99/64"
	check "C-066 B-02 $label: each xid was in use in both directions at the same time" \
		came "met=$count" alone=0
}

echo_connections()
{
	grep -c "^peer=[^ ]*:$echo_port .* version=$1 " \
		/proc/net/rpc/xprtrdma2
}

# echo_in_version VERSION COUNT: runs the inline RPCs of one version
echo_in_version()
{
	local label="version $1" count=$2

	check "$label: a client that accepts Calls" pinned "$1" echo_connect || return
	check "B-09 $label: the grant grows with use, to 16" grant_grows 16
	counted echo_inline "$label" "$count" 2>/dev/null
	check "$label: one connection in that version" test "$(echo_connections "$1")" -eq 1
	backward_counted "$((2 * count))"
	echo_same_xids "$label" 10000
	check "$label: disconnect" echo_disconnect
}

# come NAME: prints a value of the last run's result
come()
{
	local word

	for word in $(<"$echo_folder/result"); do
		[ "${word%%=*}" != "$1" ] || echo "${word#*=}"
	done
}

# The RPCs of an interrupted run, and how many have to succeed after each interruption
rpcs="window=16 head $inline $inline_reply"
steps=500

# echo_run_begins: starts RPCs in both directions until echo_run_ends; $run is the process
# that makes them. A failed RPC is repeated on the next connection.
echo_run_begins()
{
	local before

	before=$(counters)
	echo_do "run direction=both count=100000000 retry $rpcs" &
	run=$!
	await has_risen c_replies -ge 1 || fail "RPCs of a run: no Reply forward"
	await has_risen s_backward_replies -ge 1 || fail "RPCs of a run: no Reply backward"
}

# echo_goes_on: waits until more RPCs of both directions have succeeded
echo_goes_on()
{
	await have_come $(($(come forward) + steps)) $(($(come backward) + steps)) ||
		complain "not after 600 attempts: $(cat "$echo_folder/result")"
}

have_come()
{
	[ "$(come forward)" -gt "$1" ] && [ "$(come backward)" -gt "$2" ]
}

# echo_run_ends NAME: ends the run, and checks that RPCs were interrupted and that all of
# them succeeded
echo_run_ends()
{
	echo_do halt
	wait "$run" || fail "$1: the run"
	check "$1: all data are correct, and no RPC is lost" came wrong=0 failed=0
	check "$1: $(come retried) RPCs were repeated" test "$(come retried)" -gt 0
	check "$1: both directions continue" all_right both "$((steps / 2))" "$rpcs"
}

# interrupted NAME TIMES COMMAND...: a run continues after each time the command interrupts it
interrupted()
{
	local i

	echo_run_begins
	for i in $(seq "$2"); do
		"${@:3}" && echo_goes_on || fail "$1: number $i"
	done
	echo_run_ends "$1"
}

# echo_interrupted CONNECTIONS: interrupts runs by removing the device, stopping the
# service, and unloading modules
echo_interrupted()
{
	local i

	check "$1 connections" echo_connect "$1" || return
	check "$1 connections: in version 2" test "$(echo_connections 2)" -eq "$1"
	check "$1 connections: $((2 * steps)) RPCs, over all in turn" \
		all_right both "$((2 * steps))" "$rpcs"
	interrupted "device removed, 3 times, $1 connections" 3 outage device_down device_up
	interrupted "service stopped and started, 3 times, $1 connections" 3 \
		outage "echo_do close" "echo_do 'serve $echo_port'"
	echo_run_begins
	for i in xprtrdma2 svcrdma2 rpcrdma2; do
		check "$i cannot be unloaded during a run" in_use "$i"
	done
	echo_do halt
	wait "$run"
	check "interrupted: disconnect" echo_disconnect
}

# Each end detects the change itself, or sees a disconnect by the other end if that was
# faster.
ended_for_an_address()
{
	risen_now
	[ $((rose[c_ended_ADDRESS] + rose[c_ended_PEER])) -eq 1 ] &&
		[ $((rose[s_ended_ADDRESS] + rose[s_ended_PEER])) -eq 1 ] &&
		[ $((rose[c_ended_ADDRESS] + rose[s_ended_ADDRESS])) -gt 0 ]
}

# Both ends run in this guest, and soft-RoCE delivers a message without delay, so no message
# is in flight while no counter of the CM changes. The counts of sent and received messages
# may stay different forever, because ib_cm counts a repeated answer twice. With the host's
# clock a message also waits for a processor.
cm_is_quiet()
{
	local was quiet=0.1

	[ "$VM_CLOCK" = guest ] || quiet=1
	was=$(cat /sys/class/infiniband/*/ports/1/cm_[rt]x_msgs/*)
	sleep "$quiet"
	[ -n "$was" ] && [ "$(cat /sys/class/infiniband/*/ports/1/cm_[rt]x_msgs/*)" = "$was" ]
}

# set_address COMMAND...: changes the address by the command. While a CM message is in flight,
# the change would leave soft-RoCE's GSI queue pair in the error state.
set_address()
{
	await cm_is_quiet || complain "messages of the CM continue" || return
	"$@"
}

# fails_over ADDRESS: the interface gets the address and rdma_cm its events, as from a bond
fails_over()
{
	set_address modprobe rpcrdma2_failover interface="$netdev" address="0x${1//:/,0x}"
}

# ends_are_counted: succeeds when the server has counted the end of each connection that is
# not up any more. It does so when the queues of the connection are drained.
ends_are_counted()
{
	[ "$(counters | awk '
		$1 == "s_accepts" { n += $2 }
		/^s_ended_/ { n -= $2 }
		END { print n + 0 }')" -eq "$(grep -c ' state=up ' "$server_view")" ]
}

# One change: a connection ends, and the next one carries RPCs.
address_changes()
{
	local before

	echo_connect || return
	await ends_are_counted || complain "the end of an earlier connection is not counted" ||
		return
	before=$(counters)
	fails_over 02:00:00:00:00:77 &&
		await ended_for_an_address || complain "ended: $(reasons)" || return
	: $((client += rose[c_ended_ADDRESS])) $((server += rose[s_ended_ADDRESS]))
	rmmod rpcrdma2_failover
	echo_do "run direction=both count=$steps retry $rpcs" &&
		came wrong=0 failed=0 && echo_disconnect || return
	set_address ip link set "$netdev" address "$was"
}

# address_is_back: undoes address_changes, regardless of where it failed
address_is_back()
{
	! grep -q '^rpcrdma2_failover ' /proc/modules || rmmod rpcrdma2_failover
	set_address ip link set "$netdev" address "$was" ||
		ip link set "$netdev" address "$was"
}

# The interface changes its address, as a bond does when it fails over to another link. Both
# ends get an event from rdma_cm and reconnect; which end is first varies, so this repeats
# until each end was first once.
echo_address_changes()
{
	local name="the interface has another address" was tries=0 good=1 client=0 server=0

	was=$(cat "/sys/class/net/$netdev/address")
	while [ "$client" -eq 0 ] || [ "$server" -eq 0 ]; do
		[ "$tries" -lt 30 ] && : $((tries += 1)) &&
			address_changes >/tmp/said 2>&1 || { good=''; break; }
	done
	address_is_back
	[ -n "$good" ] &&
		ok "$name: each end has ended a connection for this reason, and RPCs continue (tries: $tries)" ||
		fail "$name: the client has ended $client connections for that, the server $server, in $tries tries: $(tail -n 3 /tmp/said)"
}

in_use()
{
	! rmmod "$1" 2>/tmp/said && grep -q 'in use' /tmp/said
}

group_backward-rpc()
{
	local count=${QUICK:+1000}

	echo_up || { fail "server"; return; }
	echo_in_version 2 "${count:-3000}"
	echo_in_version 1 "${count:-3000}"
	echo_interrupted 4
	echo_address_changes
	check "unload after use" echo_down
}

sizes=0/1/4095/4096/4097/65536/1048576/65535/12345

# Chunks of every kind, alone and combined; COUNT is a number of RPCs.
echo_chunks()
{
	local count=$1 w

	check "C-037: a client that accepts chunks" echo_connect || return
	check "B-09: the grant grows with use, to 16" grant_grows 16
	for w in "call=$sizes reply=0" "call=0 reply=$sizes" \
		"call=0 reply=$sizes reply_ddp=1" "call=$sizes reply=0 ddp=1" \
		"call=$sizes reply=$sizes" "call=$sizes reply=$sizes ddp=1" \
		"call=$sizes reply=$sizes reply_ddp=1" \
		"call=$sizes reply=$sizes ddp=2 reply_ddp=2 base=100"; do
		check "C-009 C-037: $count RPCs backward, 16 outstanding, $w" \
			all_right backward "$count" "window=16 $w"
	done
	check "C-037: RPCs in both directions" all_right both "$count" \
		"window=16 call=$sizes reply=$sizes ddp=2 reply_ddp=2"
}

# The device accepts the first of several LOCAL_INVs and no more: the connection ends, and
# the RPC is repeated on the next one.
echo_half_fenced()
{
	local name="a fence that is posted in part"

	echo_fault "$name" fail_fence 1 "wrong=0 failed=0 backward=20 retried=[1-9][0-9]*" \
		"s_disconnects >= 1" "count=20 window=1 retry call=65536 reply=65536" || return
	bounded "$name: all RPCs end in 40 s" "$(come ms)" 0 $((40000 * patience))
}

injected_run()
{
	lose
	# only the connection on which an RPC is sent, not the one that the service checks
	echo 1 >"$debug/fail_sunrpc/ignore-server-disconnect"
	echo_do "run direction=backward count=20 window=1 retry call=1000 reply=1000"
	keep
	await ends_are_counted
}

# sunrpc's fault injection ends connections for RPCs in either direction. With several
# processors the client's Reply may trigger the injected fault before the server's check.
echo_injected()
{
	local label="fault injection at a Call of the server"

	can_fail "$debug/fail_sunrpc" "$label" || return
	echo_result "$label" "wrong=0 failed=0 backward=20" \
		"s_ended_INJECTED + c_ended_INJECTED == 1 && c_connects == 1" injected_run
}

chunks_undisturbed()
{
	expect "no Call was refused, and no connection lost" "c_backward_refused == 0 &&
		c_backward_unanswered + s_backward_errors + c_disconnects + s_disconnects == 0"
}

# The service nominates no handle, so the server invalidates all regions itself.
chunks_not_nominated()
{
	counted with_fault fail_nominate -1 echo_chunks "$1" >/tmp/said 2>/dev/null
	sed 's/^\(ok\|FAIL\) /&no handle nominated: /' /tmp/said
	expect "C-009 no nominated handles: no remote invalidation" \
		"s_backward_remote_invs == 0 &&
		s_backward_local_invs == s_backward_registrations"
	chunks_undisturbed
	check "disconnect" echo_disconnect
}

# regions_are_few BEFORE: succeeds if at most the first six of the regions that the server
# has allocated since are left
regions_are_few()
{
	risen "$1"
	[ $((rose[s_mrs_allocated] - rose[s_mrs_trimmed])) -le 6 ]
}

group_backward-rpc-chunks()
{
	local count=${QUICK:+81} before

	echo_up genl || { fail "server"; return; }
	before=$(counters)
	counted echo_chunks "${count:-243}" 2>/dev/null
	expect "chunks of each kind, remote invalidation, and more memory regions than are kept" \
		"c_backward_read_chunks > 0 && c_backward_write_chunks > 0 &&
		c_backward_reply_chunks > 0 && s_backward_remote_invs > 0 && s_mrs_allocated > 16"
	chunks_undisturbed
	happens_in 68 regions_are_few "$before" &&
		ok "B-08 ${rose[s_mrs_trimmed]} of ${rose[s_mrs_allocated]} are freed afterwards" ||
		fail "B-08 ${rose[s_mrs_trimmed]} of ${rose[s_mrs_allocated]} are freed afterwards"
	echo_half_fenced
	# The client maps the memory for the chunks of a Call and its Reply. It repeats a failed
	# mapping every 30 ms for 2 s, so one Call may meet all injected failures.
	echo_fault "memory for chunks of the server's Calls cannot be mapped" fail_map_rw 5 \
		"wrong=0 failed=0 retried=0 backward=20" \
		"c_map_waits == 5 && c_disconnects == 0" \
		"count=20 window=4 call=65536 reply=65536"
	echo_injected
	# The client's send completions for Replies are late, after the server has received them
	# and called again; the client must not run out of backward requests.
	echo_fault "C-093 B-04 late Send completions of Replies" fail_done 150 \
		"wrong=0 failed=0 retried=0 backward=1000" \
		"c_backward_waits > 0 && c_backward_refused + c_backward_unanswered == 0" \
		"count=1000 window=16"
	check "disconnect" echo_disconnect
	! can_fail "$faults/fail_nominate" "no handle is nominated" ||
		chunks_not_nominated "${count:-243}"
	check "unload after use" echo_down
}

# A longer run, not part of make check
group_backward-rpc-soak()
{
	local i

	echo_up || { fail "server"; return; }
	for i in $(seq 20); do
		echo_in_version 2 10000
		echo_in_version 1 10000
	done
	echo_interrupted 4
	check "unload after use" echo_down
}

# Also not part of make check: RPCs with chunks. In at least 10,000 the client invalidates a
# region, and in at least 10,000 the server does.
group_backward-rpc-chunks-soak()
{
	local count=2025

	echo_up genl || { fail "server"; return; }
	can_fail "$faults/fail_nominate" "no handle is nominated" || return
	counted echo_chunks "$count" 2>/dev/null
	expect "C-009 the client invalidates" "s_backward_remote_invs >= 10000"
	chunks_undisturbed
	check "disconnect" echo_disconnect
	chunks_not_nominated "$count"
	expect "C-009 the server invalidates" "s_backward_local_invs >= 10000"
	rpcs=$large steps=32
	echo_interrupted 4
	connected "connections end 200 times, 16 concurrent Calls with chunks" \
		chunks_disconnected 200
	check "unload after use" echo_down
}
