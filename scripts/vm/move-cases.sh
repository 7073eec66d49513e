# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after name-cases.sh: the interface below a connection changes, a
# connection is idle, or a network namespace or the kernel ends with its connections.

# without_rpcs: the client closes a connection after 5 minutes without an RPC. An idle NFSv3
# mount sends none. The timer wheel adds up to 5.12 s at 100 Hz.
without_rpcs()
{
	local name="NFSv3, 5 minutes without an RPC" before

	mount_nfs rdma2 3 /mnt nolock || { fail "$name: mount"; return; }
	check "$name: a file" dd if=/dev/urandom of=/mnt/idle bs=1M count=1 conv=fsync \
		status=none
	before=$(counters)
	sleep 290
	check "$name: the connection is up after 290 s" [ "$(connection state)" = up ]
	sleep 20
	check "$name: the connection is closed after 310 s" [ "$(connection state)" = down ]
	ended_for "$name, client" "$client_view" "ended by its owner"
	ended_for "$name, server" "$server_view" peer
	risen "$before"
	expect "$name: no other connection was closed" "c_disconnects == 1 && c_ended_ENDED == 1 &&
		s_ended_PEER == 1 && s_disconnects == 1 && c_connects == 0"
	echo 3 >/proc/sys/vm/drop_caches
	check "$name: the next access gets the correct data" cmp /mnt/idle "$export_dir/idle"
	risen "$before"
	expect "$name: over a new connection, without an error" "c_connects == 1 &&
		s_accepts == 1 && c_connect_failures == 0 && s_accept_failures == 0 &&
		c_errors_received == 0 && c_replies_bad == 0"
	check "$name: umount" umount_all
}

# rpcs_apart: the five minutes count from the last RPC, on the next connection, too.
rpcs_apart()
{
	local name i

	mount_nfs rdma2 3 /mnt nolock || { fail "NFSv3, RPCs 200 s apart: mount"; return; }
	for i in 1 2; do
		name="NFSv3, RPCs 200 s apart, connection $i"
		dd if=/dev/zero of=/mnt/apart bs=4k count=1 conv=fsync status=none
		sleep 200
		dd if=/dev/zero of=/mnt/apart bs=4k count=1 conv=fsync status=none
		sleep 200
		check "$name: it is up after 400 s" [ "$(connection state)" = up ]
		sleep 110
		check "$name: it is closed 310 s after the last RPC" \
			[ "$(connection state)" = down ]
	done
	check "NFSv3, RPCs 200 s apart: umount" umount_all
}

# silent_peer: nfsd checks every 6 minutes, and closes connections that had no Call at two
# checks in a row.
silent_peer()
{
	local held=() name="a peer that sends nothing" before

	modprobe -qa ib_uverbs rdma_ucm
	await no_connections
	before=$(counters)
	hold "$addr4"
	check "$name: the server has its connection" await has_risen s_accepts -eq 1
	sleep 350
	check "$name: the connection is up after 350 s" has_risen s_disconnects -eq 0
	sleep 400
	check "$name: the connection is closed after 750 s" has_risen s_ended_ENDED -eq 1
	let_go
}

set_mtu()
{
	ip link set "$netdev" mtu "$1"
}

# mtu_packets NAME FROM TO: a case that the packets for each MiB of a WRITE are in this range
mtu_packets()
{
	local counter=/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts before

	exec 7<>/mnt/mtu
	before=$(cat $counter)
	puts 16 2>/dev/null
	exec 7>&-
	bounded "$1" $((($(cat $counter) - before) / 16)) "$2" "$3"
}

# A connection keeps its packet size; the next one uses the new MTU. Soft-RoCE's path to its
# own address accepts packets of any size.
mtu_changes()
{
	local name="the MTU changes under load" before mtu good=1

	mount_nfs rdma2 4.2 /mnt || { fail "$name: mount"; return; }
	busy 600
	before=$(counters)
	for mtu in 1500 9000 1280 9000 1500; do
		set_mtu "$mtu" && transfers_go_on 8 || { good=''; break; }
	done
	risen "$before"
	kill "$load"
	[ -n "$good" ] && ok "$name: transfers continue" || fail "$name: no transfer with $mtu"
	expect "$name: on the same connection" "c_disconnects + s_disconnects == 0"
	end_busy "$name"
	mtu_packets "$name: the connection keeps its packets of 4096 bytes" 256 400
	check "$name: umount" umount_all
	mount_nfs rdma2 4.2 /mnt || { fail "$name: mount"; return; }
	mtu_packets "$name: the next connection has packets of 1024 bytes" 1024 1200
	set_mtu 9000
	check "$name: umount" umount_all
	rm -rf "${export_dir:?}"/*
}

# gid_of INTERFACE: succeeds if the device has a GID for the interface
gid_of()
{
	grep -qsx "$1" /sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/*
}

# no_connection: succeeds if the IDs of rdma_cm are listed, and all of them are listeners
no_connection()
{
	local ids

	ids=$(rdma resource show cm_id) || return
	! grep . <<<"$ids" | grep -v ' state LISTEN '
}

# A VLAN has an address of its own, and a GID on the RDMA device of the interface below it. Its
# connections end before it is deleted: when soft-RoCE cannot send a message of the CM, its QP 1
# stays in the state ERR, and the device makes no other connection.
vlan()
{
	local name="a VLAN on the interface" addr4=10.0.5.1

	ip link add link "$netdev" name d0.5 type vlan id 5 && ip link set d0.5 up &&
		ip addr add "$addr4/24" dev d0.5 || { fail "$name"; return; }
	check "$name: the device has a GID for it" await gid_of d0.5
	check "$name: all transports are gone" await no_transport
	mount_nfs rdma2 4.2 /mnt || { fail "$name: mount"; return; }
	check "$name: a file" dd if=/dev/urandom of=/mnt/vlan bs=1M count=4 conv=fsync \
		status=none
	echo 3 >/proc/sys/vm/drop_caches
	check "$name: the data are correct" cmp /mnt/vlan "$export_dir/vlan"
	is "$name: the client's line" "$client_view" "peer=$addr4:$port" state=up device=rxe0
	is "$name: the server's line" "$server_view" state=up device=rxe0 "local=$addr4:$port"
	check "$name: umount" umount_all
	check "$name: no connection is left" await no_connection
	check "$name: the interface is deleted" set_address ip link del d0.5
	check "$name: its GID is removed" await eval "! gid_of d0.5"
}

# listener: prints the number of rdma_cm's listening ID
listener()
{
	rdma resource show cm_id |
		sed -n "s/.* cm-idn \([0-9]*\) state LISTEN .*src-addr $addr4:$port .*/\1/p"
}

# listens_anew: succeeds if the address has another listener than $listener
listens_anew()
{
	local now

	now=$(listener)
	[ -n "$now" ] && [ "$now" != "$listener" ]
}

# both_have_lost: succeeds if both ends have counted the reason of one loss or more
both_have_lost()
{
	risen_now
	[[ $(reasons) == *c_ended_* && $(reasons) == *s_ended_* ]]
}

# The interface gets another Ethernet address, as a bond does when it fails over to another
# link. The connection under load also loses its GID, so an end may see a failed message before
# its event: a connection that ends for that counts for neither.
address_moves()
{
	local listener

	listener=$(listener)
	await ends_are_counted || complain "the end of an earlier connection is not counted" ||
		return
	before=$(counters)
	fails_over "$1" || return
	await both_have_lost || complain "no loss at both ends, ended:$(reasons)" || return
	: $((client += rose[c_ended_ADDRESS])) $((server += rose[s_ended_ADDRESS]))
	rmmod rpcrdma2_failover
	await listens_anew || complain "nfsd does not listen again" || return
	transfers_go_on 8
}

# Both ends and the listener of the address get an event from rdma_cm. Which end is first
# varies.
moves_under_load()
{
	local name="the address of the interface changes under load" was before tries=0 good=1
	local client=0 server=0 n again

	rpc.nfsd 0
	LISTEN=$addr4 check "$name: the listener is set" set_listeners rdma "$port" &&
		rpc.nfsd "$nfsd_threads" || return
	end_grace
	mount_nfs rdma2 4.2 /mnt || { fail "$name: mount"; return; }
	busy 600
	was=$(cat "/sys/class/net/$netdev/address")
	read -r n again < <(transfers)
	while [ "$tries" -lt 3 ] || [ "$client" -eq 0 ] || [ "$server" -eq 0 ]; do
		[ "$tries" -lt 30 ] && : $((tries += 1)) &&
			address_moves "02:00:00:00:01:$(printf %02x "$tries")" \
				>/tmp/said 2>&1 || { good=''; break; }
	done
	[ -n "$good" ] && ok "$name: each end has ended a connection for this reason, and transfers continue" ||
		fail "$name: the client has ended $client connections for that, the server $server, in $tries tries: $(tail -n 3 /tmp/said)"
	echo "# $name: $tries times, the client ended $client connections for that, the server $server, $(resent "$again") transfers were in flight"
	kill "$load"
	end_busy "$name"
	check "$name: umount" umount_all
	address_is_back
	rpc.nfsd 0
	nfsd_up
	rm -rf "${export_dir:?}"/*
}

# nfsd in a network namespace, until this process is killed. rpcbind runs in the initial
# namespace, and mountd does not need it. nfsd has no record of clients here and ends its
# grace period itself.
step_served-in-namespace()
{
	mount -t nfsd nfsd /proc/fs/nfsd && echo 10 >/proc/fs/nfsd/nfsv4gracetime &&
		listen_on rdma2 && echo 4 >/proc/fs/nfsd/threads &&
		rpc.mountd -N 2 -N 3 &&
		echo $$ >/tmp/served && exec sleep infinity
}

# A mount with a file in a network namespace, until this process is killed. The mount is
# soft, so that RPCs end even if nfsd has ended first.
step_mounted-in-namespace()
{
	local addr4=$namespace_addr

	mount_nfs rdma2 4.2 /mnt soft,timeo=10,retrans=1 &&
		dd if=/dev/urandom of=/mnt/file bs=1M count=4 conv=fsync status=none &&
		cmp /mnt/file "$export_dir/file" &&
		echo $$ >/tmp/mounted && exec sleep infinity
}

# in_namespace WHAT: starts WHAT in the background and waits until the file has its process
# ID
in_namespace()
{
	rm -f "/tmp/$1"
	"${there[@]}" unshare -m "$VM_TOP/scripts/vm/nfs-cases.sh" "$1-in-namespace" rdma2 \
		>/tmp/said 2>&1 &
	await [ -s "/tmp/$1" ] || complain "$(cat /tmp/said)"
}

# view_of PROCESS VIEW PATTERN: succeeds if the view of the process's namespace has a
# matching line
view_of()
{
	grep -q "$3" "/proc/$1/net/rpc/$(basename "$2")"
}

# lives_in_namespace NAME: starts nfsd and a mount in a namespace and deletes the
# namespace's name; the processes are $server, $client and $mountd
lives_in_namespace()
{
	namespace_up || { fail "$1: a device"; return 1; }
	check "$1: nfsd there" in_namespace served || return
	server=$(cat /tmp/served)
	check "$1: a mount there" in_namespace mounted || return
	client=$(cat /tmp/mounted)
	mountd=$(ip netns pids other | grep -vx "$server\|$client")
	check "$1: the name is deleted" ip netns del other
	echo 3 >/proc/sys/vm/drop_caches
	check "$1: the mount works without a name" \
		cmp "/proc/$client/root/mnt/file" "$export_dir/file"
}

# has_ended NAME: checks that the namespace ends; a transport that waits to reconnect, for
# up to a minute, delays this
has_ended()
{
	check "$1: the namespace ends, and its device with it" \
		happens_in 150 [ ! -e /sys/class/infiniband/rxe1 ]
	ip link del d1
	risen "$before"
	expect "$1: no connection is left" "c_connects == 1 && c_disconnects == 1 &&
		s_accepts == 1 && s_disconnects == 1"
}

# A mount ends with the last process of its mount namespace, nfsd with its file system.
namespace_ends()
{
	local addr4=$namespace_addr client server mountd before name

	name="a network namespace, the client ends first"
	before=$(counters)
	lives_in_namespace "$name" || return
	kill -9 "$client"
	check "$name: the server's view has the reason" \
		await view_of "$server" "$server_view" ended=peer
	check "$name: the client's transport is gone" await eval "! view_of $server $client_view ."
	kill -9 "$server" "$mountd"
	has_ended "$name"

	name="a network namespace, the server ends first"
	before=$(counters)
	lives_in_namespace "$name" || return
	kill -9 "$server" "$mountd"
	check "$name: the client's view has the reason" \
		await view_of "$client" "$client_view" ended=peer
	kill -9 "$client"
	has_ended "$name"
}

# The kernel shuts down as before a reboot. vm.sh detects reports in the log, and by the file
# "ends" also a guest that hangs behind its result.
switched_off()
{
	local name="a mount under load"

	nfs_up rdma2 && mount_nfs rdma2 4.2 /mnt || { fail "$name"; return; }
	busy 600
	nfs_is_up=''
	: >/run/vm/ends
	transfers_go_on 8 && ok "$name when the kernel is switched off" ||
		fail "$name: $(cat /tmp/load)"
}

group_moves()
{
	nfs_up rdma2 || { fail "server"; return; }
	chosen without_rpcs silent_peer rpcs_apart mtu_changes vlan moves_under_load \
		namespace_ends
	finish
	switched_off
}
