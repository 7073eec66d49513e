# shellcheck shell=bash disable=SC2015,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the script for machines with an adapter (scripts/adapter.py), with both
# ends on one machine.

# shellcheck source=scripts/vm/adapter.sh
. "$(dirname "$0")/adapter.sh" || exit 2

# The machine lacks something that the script needs. tool_test.py has the errors of arguments.
adapter_needs()
{
	net_up
	adapter_refuses "too large" "MiB of memory" loopback "$addr4" --size 1000000
	adapter_refuses "no RDMA device" "device: there is no RDMA device" client "$addr4"
	adapter_refuses "no RDMA device, server" "device: there is no RDMA device" server
	device_up || { fail "device"; return; }
	MODPROBE_OPTIONS='-d /none' adapter_refuses "no module" \
		"there is no module xprtrdma2 for Linux" loopback "$addr4"
	MODPROBE_OPTIONS='-d /none' adapter_refuses "no module of the kernel" \
		"there is no module rpcrdma for Linux" server --intree
	mv /usr/bin/fio /usr/sbin/exportfs /root
	adapter_refuses "no packages" "apt install fio nfs-kernel-server" loopback "$addr4"
	mv /root/fio /usr/bin
	mv /root/exportfs /usr/sbin
	adapter_refuses "an address of another machine" "10.0.0.77 is not an address of this machine" \
		loopback 10.0.0.77
	adapter_refuses "an address without a device" "127.0.0.1 by lo, which has no RDMA device" \
		loopback 127.0.0.1
	adapter_refuses "no route" "route: none to 192.0.2.1" client 192.0.2.1
	adapter_refuses "no folder for the report" "No such file" client "$addr4" --output /none/x
}

# A run that gets a signal during fio
adapter_is_killed()
{
	local was pid report=$adapter_report.killed

	was=$(adapter_state)
	CASES=O_DIRECT "$adapter" loopback "$addr4" --size 16 --seconds 600 --output "$report" \
		>"$report.said" 2>&1 &
	pid=$!
	await grep -qs '^rdma2, version 2' "$report"
	await pidof fio >/dev/null
	kill "$pid"
	! wait "$pid" && grep -q '^FAILED: ended by a signal' "$report" && ok "killed" ||
		fail "killed: $(tail -n 3 "$report.said")"
	! pidof fio && ok "killed: fio ends" || fail "killed: fio runs"
	adapter_same "killed: all is cleaned up" "$was"
}

group_adapter()
{
	local client pid was

	touch /etc/exports
	adapter_needs
	adapter_refuses "no server" '(does "adapter.py server" run on 10.0.0.1?)' client "$addr4" \
		--output "$adapter_report.none"
	nfs_up rdma2
	adapter_refuses "nfsd runs" "systemctl stop nfs-server" loopback "$addr4"
	adapter_refuses "a server of another origin" "^FAILED: this script has not started the server" \
		client "$addr4" --output "$adapter_report.other"
	mount_nfs rdma2 4.2 /mnt
	adapter_refuses "a mount" "/mnt is mounted over RDMA" client "$addr4"
	stop_and_unload || { fail "nfsd does not stop"; return; }
	locking_up
	was=$(adapter_state)

	check "loopback" "$adapter" loopback "$addr4" "${adapter_short[@]}" --output "$adapter_report"
	for client in 'rdma2, version 2' 'rdma2, version 1' rpcrdma; do
		check "loopback: $client" adapter_reported "$adapter_report" "$client"
	done
	adapter_same "loopback: all is cleaned up" "$was"
	adapter_is_killed

	modprobe -a xprtrdma2 svcrdma2 && echo 2 >/sys/module/svcrdma2/parameters/versions
	adapter_refuses "a server of version 2 only" "^FAILED: rdma2, version 1: " loopback "$addr4" \
		"${adapter_short[@]}" --clients v1,v2 --output "$adapter_report.2"
	check "a server of version 2 only: the other client" adapter_reported "$adapter_report.2" \
		'rdma2, version 2'
	check "a server of version 2 only: unload" unload rdma2
}
