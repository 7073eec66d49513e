# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after fault-cases.sh: connections end while transfers of 1 MiB
# are in flight, and the losses are counted.

# transfers: prints how many READs and WRITEs have completed, and how many were sent again
transfers()
{
	figures /mnt | awk '$1 == "op" && ($2 == "READ" || $2 == "WRITE") {
		calls += $3; sent += $4 }
		END { print calls + 0, sent - calls }'
}

# resent WAS: prints how many were sent again since there were WAS
resent()
{
	local n again

	read -r n again < <(transfers)
	echo $((again - $1))
}

# in_flight NAME NUMBER WAS: a case that at least NUMBER transfers were lost and sent again
# since there were WAS
in_flight()
{
	local again

	again=$(resent "$3")
	bounded "$1: $again transfers were in flight" "$again" "$2"
}

# begin_losses VERSION [OPTIONS]: mounts and keeps four transfers of 1 MiB in flight, or, with
# LOAD_LARGE='', transfers of all sizes
begin_losses()
{
	mount_nfs "${proto:-rdma2}" "$1" /mnt "timeo=100${2:+,$2}" || { fail "mount"; return 1; }
	LOAD_LARGE=${LOAD_LARGE-1} "$load_sh" /mnt - 7000 4 >/tmp/load 2>&1 &
	load=$!
	at_work
}

# end_losses NAME [on_server]: ends the load and verifies the data; "on_server" is the
# prefix of commands for the server's side. LOAD_LARGE is that of begin_losses.
end_losses()
{
	kill "$load"
	has_verified "$1: all data" "$load" /tmp/load
	check "$1: umount" umount_all
	check "$1: the server has the written data" \
		${2:+"$2"} env LOAD_LARGE="${LOAD_LARGE-1}" "$load_sh" verify "$export_dir" 4
	${2:+"$2"} rm -rf "${export_dir:?}"/*
}

# transfers_go_on NUMBER: waits until NUMBER more transfers have completed, or the load has ended
transfers_go_on()
{
	local first again

	read -r first again < <(transfers)
	until has_transferred $((first + $1)); do
		! have_ended "$load" || complain "the load has ended" || return
		pause 0.1
	done
}

has_transferred()
{
	local now again

	read -r now again < <(transfers)
	[ "$now" -ge "$1" ]
}

# await_ends NAME: waits until the server has counted the ends of the connections that were lost. It
# does so when no thread uses them, possibly behind transfers on the next connection. A server in
# the other guest is not asked.
await_ends()
{
	[ "${proto:-rdma2}" != rdma2 ] || [ -n "${VM_NODE:-}" ] || await ends_are_counted ||
		fail "$1: the end of a connection is not counted"
}

# losses NAME NUMBER EXPRESSION COMMAND...: runs the command, which ends the connection, at
# least NUMBER times; after each time transfers have to continue. A transfer is not always
# in flight at that moment, so this repeats until NUMBER transfers were lost. In the
# expression "times" is the number of repetitions.
losses()
{
	local name=$1 before bad='' was n times=0

	before=$(counters)
	read -r n was < <(transfers)
	while [ "$times" -lt "$2" ] ||
			{ [ "$times" -lt $((10 * $2)) ] && [ "$(resent "$was")" -lt "$2" ]; }; do
		: $((times += 1))
		"${@:4}" && transfers_go_on 8 || { bad="the $times. time"; break; }
	done
	[ -z "$bad" ] && ok "$name, $2 times" || fail "$name: $bad"
	await_ends "$name"
	risen "$before"
	[ "${proto:-rdma2}" != rdma2 ] || expect "$name, $2 times: connections" "$3"
	in_flight "$name" "$2" "$was"
	echo "# $name: $times times, ${rose[c_connects]:-} connections, ended:$(reasons)"
}

# The counter of each end for the reason, when sunrpc's fault injection disconnects a side
declare -A faults_at=([client]="c_ended_INJECTED s_ended_PEER"
	[server]="c_ended_PEER s_ended_ENDED")

# have_reasons SIDE: succeeds if both ends have counted the reason of each connection that was lost
# since $before
have_reasons()
{
	local end

	risen_now
	for end in ${faults_at[$1]}; do
		[ "${rose[$end]}" -eq "${rose[c_connects]}" ] || return
	done
}

# disconnected SIDE NUMBER LEAST: sunrpc's fault injection disconnects this many times, with
# at least LEAST transfers in flight
disconnected()
{
	local name="the $1 disconnects $2 times" before taken was n end

	before=$(counters)
	read -r n was < <(transfers)
	taken=$(disconnects "$1" "$2")
	transfers_go_on 8 || fail "$name: after the last loss"
	same "$name: the fault was injected" "$taken" "$2"
	await have_reasons "$1"
	risen "$before"
	expect "$name: each fault ends one connection" \
		"c_connects >= $2 && c_connects <= $2 + 1"
	for end in ${faults_at[$1]}; do
		expect "$name: each has the reason, $end" "$end == c_connects"
	done
	in_flight "$name" "$3" "$was"
	echo "# $name: ${rose[c_connects]} connections, ended:$(reasons)"
}

# lose_link: drops all packets between two guests, until the client has lost its connection.
# Setting the link down instead would leave soft-RoCE without a route and its CM queue pair in
# the error state.
lose_link()
{
	local counter was

	client_counter disconnects || return
	was=$counter
	on_server "tc qdisc replace dev \$netdev root netem loss 100%" &&
		tc qdisc replace dev "$netdev" root netem loss 100% || return
	until is_past disconnects "$was" || have_ended "$load"; do
		pause 0.1
	done
	tc qdisc del dev "$netdev" root &&
		on_server "tc qdisc del dev \$netdev root" && is_past disconnects "$was"
}

# Restarts the server of an NFSv3 mount, which has no state to reclaim.
lose_server()
{
	server_restart "$proto" && end_grace
}

group_soak-losses()
{
	nfs_up "$proto" || { fail "server"; return; }
	begin_losses 4.2 || return
	disconnected client 150 150
	disconnected server 150 150
	losses "the device is removed" 20 "c_connects == times && c_ended_DEVICE == times" outage device_down device_up
	end_losses "losses, NFSv4.2"
	begin_losses 3 || return
	losses "the server is restarted" 20 "c_connects == times && c_ended_PEER == times" lose_server
	end_losses "losses, NFSv3"
}
