# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after fault-cases.sh: connections that are lost, counted,
# while transfers of 1 MiB are in flight on them.

# transfers: READs and WRITEs that are done, and how many of them were sent again
transfers()
{
	figures /mnt | awk '$1 == "op" && ($2 == "READ" || $2 == "WRITE") {
		calls += $3; sent += $4 }
		END { print calls + 0, sent - calls }'
}

# resent WAS: how many were sent again since their number was that
resent()
{
	local n again

	read -r n again < <(transfers)
	echo $((again - $1))
}

# in_flight NAME NUMBER WAS: at least so many were lost, and sent again, since their
# number was that
in_flight()
{
	local again

	again=$(resent "$3")
	[ "$again" -ge "$2" ] && ok "$1: $again transfers were in flight" ||
		fail "$1: only $again transfers were in flight"
}

# begin_losses VERSION: a mount with four transfers of 1 MiB in flight
begin_losses()
{
	mount_nfs "${proto:-rdma2}" "$1" /mnt timeo=100 || { fail "mount"; return 1; }
	LOAD_LARGE=1 "$load_sh" /mnt - 7000 4 >/tmp/load 2>&1 &
	load=$!
	at_work
}

# end_losses NAME [on_server]: the command that looks at the server's side
end_losses()
{
	kill "$load"
	has_verified "$1: all data" "$load" /tmp/load
	check "$1: umount" umount_all
	check "$1: the server has what was written" \
		${2:+"$2"} env LOAD_LARGE=1 "$load_sh" verify "$export_dir" 4
	${2:+"$2"} rm -rf "${export_dir:?}"/*
}

# transfers_go_on NUMBER: until so many more are done
transfers_go_on()
{
	local first again

	read -r first again < <(transfers)
	tries 300 0.2 has_transferred $((first + $1)) ||
		complain "no transfer is done in a minute"
}

has_transferred()
{
	local now again

	read -r now again < <(transfers)
	[ "$now" -ge "$1" ]
}

# losses NAME NUMBER EXPRESSION COMMAND...: the command ends the connection so often, and
# each time the transfers go on. Whether one is in flight at that moment is chance, so the
# command goes on until as many were; the expression has "times" for how often.
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
	risen "$before"
	[ "${proto:-rdma2}" != rdma2 ] || expect "$name, $2 times: connections" "$3"
	in_flight "$name" "$2" "$was"
	echo "# $name: $times times, ${rose[c_connects]:-} connections, ended:$(reasons)"
}

# disconnected SIDE NUMBER
disconnected()
{
	local name="the $1 disconnects" before taken was n

	before=$(counters)
	read -r n was < <(transfers)
	taken=$(disconnects "$1" "$2" $((20 * $2)))
	transfers_go_on 8 || fail "$name: the last time"
	[ "$taken" -eq "$2" ] && ok "$name, $2 times" || fail "$name: $taken times"
	risen "$before"
	expect "$name, $2 times: each costs one connection" \
		"c_connects >= $2 && c_connects <= $2 + 1"
	in_flight "$name" "$2" "$was"
}

# lose_link SECONDS: each packet between two guests is lost for so long. A link that is
# taken down leaves soft-RoCE without a route, and that ends the queue pair of the CM
# for good.
lose_link()
{
	on_server "tc qdisc replace dev \$netdev root netem loss 100%" &&
		tc qdisc replace dev "$netdev" root netem loss 100% || return
	sleep "$1"
	tc qdisc del dev "$netdev" root &&
		on_server "tc qdisc del dev \$netdev root"
}

lose_device()
{
	device_down && sleep 0.5 && device_up
}

# For NFSv3: nothing has to be reclaimed.
lose_server()
{
	server_restart "$proto" 0.5
	end_grace
}

group_soak-losses()
{
	nfs_up "$proto" || { fail "server"; return; }
	begin_losses 4.2 || return
	disconnected client 150
	disconnected server 150
	losses "the device is removed" 20 "c_connects == times && c_ended_DEVICE == times" lose_device
	end_losses "losses, NFSv4.2"
	begin_losses 3 || return
	losses "the server is restarted" 20 "c_connects == times && c_ended_PEER == times" lose_server
	end_losses "losses, NFSv3"
	finish
}

# links NUMBER: between two guests. When it is a Reply that is lost, and the server's word
# that the connection ends, the client finds out by the RPC's timeout.
links()
{
	nodes rdma2 rdma2 || return
	begin_losses 4.2 || return
	losses "the link is lost" "$1" "c_connects >= times && s_accepts >= times &&
		c_ended_SEND + c_ended_PEER + c_ended_TIMEOUT >= times &&
		c_ended_ENDED == 0" lose_link 8
	end_losses "losses of the link" on_server
	check "the client unloads" unload rdma2
	check "the server unloads" on_server "server_down; unload rdma2"
}

group_loss()
{
	links 2
}

group_soak()
{
	links 20
}
