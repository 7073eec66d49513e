# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: tasks are killed, and RPCs end, while the server processes them.
# Other tasks verify all data that they read and write, and the connection stays.

# No caching of attributes and names; leases would hide OPEN and are disabled.
kill_options=noac,lookupcache=none
client_params=/sys/module/xprtrdma2/parameters

# shown LABEL: prints the client's counters, and, if connections ended, soft-RoCE's error
# counters since the boot
shown()
{
	local name said=''

	for name in disconnects bad_invalidations calls calls_nomsg reply_chunks_used \
			mapped_bytes credit_waits credits_kept \
			aborted_{rpcs,waits,answered,fences,unanswered}; do
		said+=" $name ${rose[c_$name]:-?},"
	done
	echo "# $1:${said%,}"
	[ "${rose[c_disconnects]:-0}" -eq 0 ] ||
		echo "# $1: ended:$(reasons); $(hw_figures)"
}

# spoken: prints the versions of all connections to the server on one line
spoken()
{
	sed -n "s/^peer=[^ ]*:$port .*version=\([^ ]*\).*/\1/p" \
		/proc/net/rpc/xprtrdma2 | sort -u | paste -sd' '
}

# kill_beside LABEL NFS-VERSION RPC-OVER-RDMA-VERSION WAITS ARGUMENT...: runs fs-kill.py with
# these arguments beside a load on /mnt, on one connection. At least WAITS RPCs have to end
# while the server uses their memory. Sets $backlog to the sum of the slot queue's length
# over all Calls. The load has $workers workers (default one).
kill_beside()
{
	local label=$1 waits=$4 load before

	echo "$addr4:$port=$3" >"$client_params/pin"
	mount_nfs rdma2 "$2" /mnt "$kill_options" &&
		mount_nfs rdma2 "$2" /mnt2 "$kill_options,nosharecache" ||
		{ fail "$label: mount"; return; }
	check "$label: the connection has version $3" [ "$(spoken)" = "$3" ]
	shift 4
	before=$(counters)
	busy 600 "${workers:-1}"
	verdicts "$label" "$VM_TOP/scripts/fs-kill.py" "$@" ${SEED:+"$SEED"}
	kill "$load"
	end_busy "$label" " of others"
	risen "$before"
	backlog=$(figure /mnt "xprt bklog_u")
	shown "$label"
	expect "$label: RPCs ended without a Reply" "c_aborted_rpcs > 0"
	expect "$label: the server no longer used their memory" \
		"c_aborted_unanswered == 0 && c_aborted_answered >= $waits"
	expect "$label: one connection throughout" \
		"c_connects == 0 && c_disconnects == 0 && c_connect_failures == 0"
	expect "$label: S50 messages invalidate only handles of their own RPC" \
		"c_bad_invalidations == 0"
	check "$label: umount" umount_all
	# An NFSv4.1 client first probes the slots of abandoned RPCs, after 15 s.
	check "$label: the client releases its connection" \
		await eval "! grep '^v' /proc/fs/nfsfs/servers"
	rm -rf "${export_dir:?}"/*
}

# kill_loop NFS-VERSION RPC-OVER-RDMA-VERSION KILLS WHAT: kills tasks by signals
kill_loop()
{
	kill_beside "NFSv$1, version $2, $4" "$1" "$2" 0 /mnt "$export_dir" "$3"
}

# Signals do not end the RPCs of READ and WRITE, but umount -f does.
kill_force()
{
	kill_beside "NFSv$1, version $2, umount -f" "$1" "$2" 10 \
		-f /mnt2 "$export_dir" "$3"
}

# Servers that stay silent, answer late, invalidate the handle of another RPC, die, or have
# no Receive posted.
kill_peers()
{
	local cases=client_killed

	can_fail "$faults/fail_inv" "hanging fences and Sends" ||
		cases=$("$VM_TOP/tester/rpcrdma2-test" --list $cases |
			grep "^$cases" | grep -v _that_hang)
	[ -n "$cases" ] || { fail "no case of client_killed"; return; }
	# shellcheck disable=SC2086 # words
	observed=1 visits ${CASES:-$cases}
}

group_kill-peer()
{
	nfs_up rdma2 || { fail "server"; return; }
	echo >"$client_params/pin"
	kill_peers
}

group_kill()
{
	local kills=${QUICK:+60} seconds=${QUICK:+4} backlog=0
	local pages="inline pages copied"

	kills=${kills:-500} seconds=${seconds:-3}
	nfs_up rdma2 || { fail "server"; return; }
	echo 0 >/proc/sys/fs/leases-enable
	kill_force 3 2 "$seconds"
	kill_force 4.2 2 "$seconds"
	kill_loop 4.2 2 "$kills" "as usual"
	# With four slots, tasks also wait for a slot or for a credit.
	echo 4 >"$client_params/slots"
	workers=2 kill_loop 3 2 "$kills" "4 slots"
	check "tasks waited for a slot (a queue of ${backlog:-0} in all)" \
		[ "${backlog:-0}" -gt 0 ]
	echo 64 >"$client_params/slots"
	can_fail "$faults/fail_pullup" "inline pages mapped" && fault fail_pullup -1 &&
		pages="inline pages mapped"
	kill_loop 4.2 1 "$kills" "$pages"
	echo 4 >/sys/module/svcrdma2/parameters/credits
	kill_loop 3 1 "$kills" "$pages, 4 credits"
	expect "Calls waited for a credit" "c_credit_waits > 0"
	echo 64 >/sys/module/svcrdma2/parameters/credits
	[ "$pages" = "inline pages copied" ] || no_fault fail_pullup
	echo >"$client_params/pin"
}
