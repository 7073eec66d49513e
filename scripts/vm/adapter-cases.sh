# shellcheck shell=bash disable=SC2015,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the script for machines with an adapter (scripts/adapter.py), over
# soft-RoCE.

adapter=$VM_TOP/scripts/adapter.py
adapter_report=/run/vm/adapter

# adapter_is_gone: succeeds if the script has left no mount, no server and no module in use
adapter_is_gone()
{
	! grep ' /run/rdma2-adapter' /proc/mounts && [ "$(cat /proc/fs/nfsd/threads)" -eq 0 ] &&
		unload rdma2
}

# adapter_refuses NAME TEXT ARGUMENT...: a case that the script ends with this error
adapter_refuses()
{
	local name=$1 text=$2 said

	shift 2
	! said=$("$adapter" "$@" 2>&1) && grep -q -- "$text" <<<"$said" && ok "$name" ||
		fail "$name: $said"
}

# adapter_reported FILE VARIANT: succeeds if the report has right files only, and all rows
adapter_reported()
{
	grep -A 1 "^$2\$" "$1" | grep -q '^    files: [1-9][0-9]* right, 0 wrong$' &&
		[ "$(grep -cE "^    $2( +[0-9.]+){5}" "$1")" -eq 10 ]
}

group_adapter()
{
	local client pid short=(--size 16 --seconds 1)

	device_up || { fail "device"; return; }
	touch /etc/exports
	adapter_refuses "no command" "usage: "
	adapter_refuses "unknown client" "the kernel has no client for NFSv3" \
		loopback "$addr4" --clients v2,v3
	adapter_refuses "too large" "MiB of memory" loopback "$addr4" --size 1000000
	nfs_up rdma2
	adapter_refuses "nfsd runs" "systemctl stop nfs-server" loopback "$addr4" --output "$adapter_report.nfsd"
	adapter_refuses "a server of another origin" "^FAILED: this script has not started the server" \
		client "$addr4" --output "$adapter_report.other"
	adapter_refuses "no folder for the report" "No such file" client "$addr4" --output /none/x
	stop_and_unload || { fail "nfsd does not stop"; return; }
	locking_up

	check "loopback" "$adapter" loopback "$addr4" "${short[@]}" --output "$adapter_report"
	for client in 'rdma2, version 2' 'rdma2, version 1' rpcrdma; do
		check "loopback: $client" adapter_reported "$adapter_report" "$client"
	done
	check "loopback: all is cleaned up" adapter_is_gone

	rmmod rpcrdma && modprobe -a xprtrdma2 svcrdma2 && echo 2 >/sys/module/svcrdma2/parameters/versions
	adapter_refuses "a server of version 2 only" "^FAILED: rdma2, version 1: " loopback "$addr4" \
		"${short[@]}" --clients v1,v2 --output "$adapter_report.2"
	check "a server of version 2 only: the other client" adapter_reported "$adapter_report.2" \
		'rdma2, version 2'
	same "pin has its previous value" "$(cat /sys/module/xprtrdma2/parameters/pin)" ''
	check "a server of version 2 only: all is cleaned up" adapter_is_gone

	"$adapter" server "${short[@]}" >"$adapter_report.server" 2>&1 &
	pid=$!
	await grep -q listens "$adapter_report.server"
	check "client" "$adapter" client "$addr4" "${short[@]}" --clients v2 \
		--output "$adapter_report.client"
	check "client: rows" grep -qE '( +[0-9.]+){5} / [0-9.]+$' "$adapter_report.client"
	kill "$pid"
	wait "$pid" && ok "server: ends" || fail "server: ends: $(cat "$adapter_report.server")"
	check "server: nothing stays" adapter_is_gone
}
