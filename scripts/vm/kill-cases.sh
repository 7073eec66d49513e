# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: tasks that are killed, and RPCs that end, while the
# server is at work on them. Other tasks verify all that they read and write,
# and the connection stays.

# Attributes and lists are asked for each time; a lease would hide OPEN.
kill_options=noac,lookupcache=none
client_params=/sys/module/xprtrdma2/parameters

# shown LABEL: counters of the client that say what happened, and where connections
# ended those of soft-RoCE since the guest began
shown()
{
	local name said=''

	for name in disconnects bad_invalidations calls calls_nomsg reply_chunks_used mapped_bytes credit_waits \
		credits_kept dead_rpcs dead_waits dead_answered dead_fences dead_unanswered; do
		said+=" $name ${rose[c_$name]:-?},"
	done
	echo "# $1:${said%,}"
	[ "${rose[c_disconnects]:-0}" -eq 0 ] ||
		echo "# $1: ended:$(reasons);$(cd /sys/class/infiniband/rxe0/ports/1/hw_counters &&
			grep -Hs '[1-9]' ./*_err ./*_request | tr -d ./ | tr '\n' ' ')"
}

# A client of NFSv4.1 probes the slots that RPCs left behind, after 15 s, and only
# then lets go of its connection.
no_client()
{
	local i

	for i in $(seq 60); do
		grep -q '^v' /proc/fs/nfsfs/servers || return 0
		sleep 1
	done
	cat /proc/fs/nfsfs/servers
	return 1
}

# spoken: the versions of all connections to the server, on one line
spoken()
{
	sed -n "s/^peer=[^ ]*:$port .*version=\([^ ]*\).*/\1/p" \
		/sys/kernel/debug/xprtrdma2/connections | sort -u | paste -sd' '
}

# kill_beside LABEL NFS-VERSION RPC-OVER-RDMA-VERSION WAITS ARGUMENT...: of
# fs-kill, beside a load on /mnt, on one connection. So many RPCs, or more, end
# while the server is at work on their memory. In $backlog is the length of the
# queue for slots, added up over all Calls. The load has $workers workers, or one.
kill_beside()
{
	local label=$1 waits=$4 load before

	echo "$addr4:$port=$3" >"$client_params/pin"
	mount_nfs rdma2 "$2" /mnt "$kill_options" &&
		mount_nfs rdma2 "$2" /mnt2 "$kill_options,nosharecache" ||
		{ fail "$label: mount"; return; }
	check "$label: version $3 is spoken" [ "$(spoken)" = "$3" ]
	shift 4
	before=$(counters)
	"$load_sh" /mnt "$export_dir" 600 "${workers:-1}" >/tmp/load 2>&1 &
	load=$!
	at_work
	verdicts "$label" "$tools/fs-kill" "$@" ${SEED:+"$SEED"}
	kill "$load"
	if wait "$load"; then
		ok "$label: all data of others verified ($(load_sums /tmp/load))"
	else
		fail "$label: others: $(tr '\n' ' ' </tmp/load)"
	fi
	risen "$before"
	backlog=$(figure /mnt "xprt bklog_u")
	shown "$label"
	expect "$label: RPCs ended without a Reply" "c_dead_rpcs > 0"
	expect "$label: the server had done with their memory" \
		"c_dead_unanswered == 0 && c_dead_answered >= $waits"
	expect "$label: one connection throughout" \
		"c_connects == 0 && c_disconnects == 0 && c_connect_failures == 0"
	expect "$label: S50 no handle but of the message's own RPC" \
		"c_bad_invalidations == 0"
	check "$label: umount" umount_all
	check "$label: the client lets go of its connection" no_client
	rm -rf "${export_dir:?}"/*
}

# kill_loop NFS-VERSION RPC-OVER-RDMA-VERSION KILLS WHAT
kill_loop()
{
	kill_beside "NFSv$1, version $2, $4" "$1" "$2" 0 /mnt "$export_dir" "$3"
}

# Signals do not end the RPCs of READ and WRITE; this does.
kill_force()
{
	kill_beside "NFSv$1, version $2, umount -f" "$1" "$2" 10 \
		-f /mnt2 "$export_dir" "$3"
}

# kill_server NAME MANNERS [PEER-OPTION [MOUNT-OPTIONS]]: on $dir
kill_server()
{
	port=$((++next_port)) dir=/mnt.$port why='' name=$1
	peer_up "$port" "$2" "${3:-}" &&
		peer_mount "$port" "${4-$kill_options}" ||
		{ fail "$name: mount"; peer_down; return 1; }
	mkdir -p "$dir"/d{1..12}
	dd if=/dev/zero of="$export_dir/data" bs=64K count=1 status=none
	before=$(counters)
	pids=()
}

# await_received PATTERN N: wait until the peer has received so many
await_received()
{
	local i

	for i in $(seq 300); do
		[ "$(received "$port" "$1")" -ge "$2" ] && return
		sleep 0.1
	done
	why+=", $(received "$port" "$1") of $2 '$1' came"
}

# lists FIRST LAST: of folders, in the background, until the server has them all
lists()
{
	local i

	for i in $(seq "$1" "$2"); do
		ls "$dir/d$i" >/dev/null 2>&1 &
		pids+=($!)
	done
	await_received 'recv .* nfs=1[67]( |$)' "${#pids[@]}"
}

# ended_within LOW HIGH: tenths of a second since $began until all have ended
ended_within()
{
	local tenths

	wait "${pids[@]}" 2>/dev/null
	tenths=$((($(date +%s%N) - began) / 100000000))
	pids=()
	[ "$tenths" -ge "$1" ] && [ "$tenths" -le "$2" ] ||
		why+=", ended after $tenths tenths of a second, not $1 to $2"
}

signal_all()
{
	began=$(date +%s%N)
	kill -KILL "${pids[@]}"
}

# No READ and no READDIR, which some of these servers leave unanswered
works()
{
	local new

	new=$(mktemp -u d-XXXXXXXX)
	timeout -s KILL 30 mkdir "$dir/$new" &&
		timeout -s KILL 30 ln -s target "$dir/$new/l" &&
		[ "$(readlink "$export_dir/$new/l")" = target ] ||
		why+=", the mount does not work"
}

# kill_verdict EXPRESSION [REASON]: why the last connection was lost
kill_verdict()
{
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
	risen "$before"
	shown "$name"
	expect "$name: as counted" "$1"
	[ -z "${2:-}" ] || ended_for "$name" "$client_view" "$2"
	umount "$dir" || umount -l "$dir"
	peer_down
}

# What is killed when a silent server was waited for once is not held up.
kill_in_turn()
{
	local second

	kill_server "killed one after the other, the server stays silent" silent-reads ||
		return
	lists 1 2
	second=${pids[1]}
	pids=("${pids[0]}")
	signal_all
	ended_within 40 75
	pids=("$second")
	signal_all
	ended_within 0 25
	works
	kill_verdict "c_dead_waits == 2 && c_dead_unanswered == 2 && c_disconnects == 0"
}

# The Reply has come, and the memory of its RPC is taken back, which never ends. The task
# that was killed waits for that, and its timer is gone with it.
kill_fence()
{
	local wanted counter

	can_fail "$faults/fail_inv" "a fence that hangs" || return
	kill_server "a fence that hangs, its task killed" two || return
	fault fail_inv 1
	ls "$dir/d1" >/dev/null 2>&1 &
	pids=($!)
	await_fault fail_inv || why+=", there was no fence"
	no_fault fail_inv
	kill -KILL "${pids[@]}"
	client_counter overdue
	wanted=$counter
	await is_past overdue "$wanted" || peer_down
	wait "${pids[@]}" 2>/dev/null
	pids=()
	works
	kill_verdict "c_overdue == 1 && c_disconnects == 1 && c_connects == 1 &&
		c_local_invalidations >= 1" "registration or invalidation failed"
}

# await_fault NAME: one has come true
await_fault()
{
	await eval "[ \"\$(cat $faults/$1/times)\" -eq 0 ]"
}

# mapped_all: the pages of all tasks
mapped_all()
{
	client_counter mapped_bytes
	[ "$counter" -ge "$wanted" ]
}

# The server has few Receives and puts none back: Sends stay on the Send Queue. The
# tasks, which begin at once, are killed when all of them have their pages mapped.
kill_stuck()
{
	local i wanted counter

	kill_server "$1" two "-r 6" actimeo=60 || return
	# So that no other Call comes before SYMLINK
	for i in $(seq 12); do
		[ -w "$dir/d$i" ]
	done
	rm -f /tmp/begin
	for i in $(seq 12); do
		perl -e 'select(undef, undef, undef, 0.05) until -e "/tmp/begin";
			symlink("x" x 900, $ARGV[0])' "$dir/d$i/l" >/dev/null 2>&1 &
		pids+=($!)
	done
	client_counter mapped_bytes
	wanted=$((counter + 12 * 900))
	# There are 4 s from here, see client_counter.
	kill -STOP "$peer"
	: >/tmp/begin
	await mapped_all || why+=", not all pages are mapped in time"
	signal_all
}

# What is ready to be received goes before a signal.
go_silent()
{
	local times

	times=$(received "$port" 'silent$')
	kill -USR1 "$peer"
	await_received 'silent$' "$((times + 1))"
}

# lookups FIRST LAST: of names that are not there, in the background
lookups()
{
	local i

	for i in $(seq "$1" "$2"); do
		stat -t "$dir/n$i" >/dev/null 2>&1 &
		pids+=($!)
	done
}

lookups_came()
{
	[ "$(received "$port" 'recv .* nfs=3( |$)')" -ge "$wanted" ]
}

# under_way N TOTAL: so many LOOKUPs more come, and not one beside; then all are answered
under_way()
{
	local most

	wanted=$((wanted + $1))
	await lookups_came || why+=", $1 LOOKUPs did not come"
	client_counter credit_waits
	await is_past credit_waits "$((waits - 1))" || why+=", none waits for a credit"
	kill -USR1 "$peer"
	wait "${pids[@]}" 2>/dev/null
	pids=()
	most=$(sed -n 's/.* under way: //p' "/tmp/peer.$port" | tail -n 1)
	[ "$most" = "$2" ] || why+=", $most were under way, not $2"
}

# The server is still at work on what was killed, and has a Receive for each Call that it
# granted: 4 of 8 are killed, and later all 8, of which half are kept.
kill_small()
{
	local wanted waits counter

	kill_server "E-16 the credits of small RPCs that are killed" silent-lookups \
		"-g 8" actimeo=60,lookupcache=none || return
	wanted=$(received "$port" 'recv .* nfs=3( |$)')
	client_counter credit_waits
	waits=$((counter + 1))
	go_silent
	lookups 1 4
	wanted=$((wanted + 4))
	await lookups_came || why+=", 4 LOOKUPs did not come"
	signal_all
	ended_within 0 30
	lookups 5 13
	under_way 4 8

	go_silent
	wanted=$(($(received "$port" 'recv .* nfs=3( |$)') + 8))
	lookups 1 8
	await lookups_came || why+=", the credits are not free again"
	signal_all
	ended_within 0 30
	client_counter credit_waits
	waits=$((counter + 1))
	lookups 9 13
	under_way 4 12
	works
	kill_verdict "c_credits_kept == 8 && c_dead_rpcs == 12 && c_replies_unknown == 12 &&
		c_dead_waits == 0 && c_disconnects == 0"
}

kill_peers()
{
	local port next_port=40000 dir why name before began pids

	echo >"$client_params/pin"
	# Side by side, not one after the other
	kill_server "twelve killed, the server stays silent" silent-reads || return
	lists 1 12
	signal_all
	ended_within 40 75
	works
	dd if="$dir/data" of=/dev/null bs=64K iflag=direct status=none 2>/dev/null &
	pids=($!)
	await_received 'recv .* nfs=6( |$)' 1
	began=$(date +%s%N)
	umount -i -f "$dir" 2>/dev/null
	ended_within 40 75
	works
	kill_verdict "c_dead_waits == 13 && c_dead_unanswered == 13 &&
		c_dead_fences == 13 && c_disconnects == 0"

	kill_in_turn
	kill_fence
	kill_server "a Reply comes late and invalidates" late-reads || return
	lists 1 1
	signal_all
	sleep 1
	kill -USR1 "$peer"
	ended_within 10 30
	works
	kill_verdict "c_dead_answered == 1 && c_dead_fences == 0 &&
		c_remote_invalidations == 1 && c_bad_invalidations == 0 &&
		c_disconnects == 0"

	kill_server "S50 another RPC's handle" other-handle || return
	lists 1 1
	kill -USR1 "$peer"
	await_received 'up$' 2
	signal_all
	ended_within 0 75
	works
	kill_verdict "c_bad_invalidations == 1 && c_disconnects == 1 && c_connects == 1" \
		"foreign handle invalidated"

	kill_server "E-16 the credit of a killed RPC" silent-reads "-g 4" || return
	lists 1 4
	signal_all
	sleep 1
	works
	ended_within 40 75
	kill_verdict "c_credit_waits >= 1 && c_dead_waits == 4 && c_disconnects == 0"

	kill_small
	kill_server "the connection is lost while killed RPCs wait" silent-reads ||
		return
	lists 1 12
	signal_all
	sleep 1
	peer_down
	ended_within 10 35
	peer_up "$port" two || why+=", no peer"
	works
	kill_verdict "c_dead_waits == 12 && c_dead_unanswered == 0 && c_connects == 1" \
		peer

	echo 0 >"$client_params/pullup_max"
	kill_stuck "Sends with mapped pages, killed before they are done" || return
	sleep 1
	kill -CONT "$peer"
	ended_within 10 40
	works
	kill_verdict "c_mapped_bytes >= 12 * 900 && c_dead_waits >= 4 &&
		c_dead_fences == 0 && c_disconnects == 0"

	kill_stuck "Sends with mapped pages, killed and never done" || return
	ended_within 10 75
	kill -CONT "$peer"
	works
	# Whichever is first: the device gives up, or what waits for it
	kill_verdict "c_mapped_bytes >= 12 * 900 && c_dead_waits >= 4 &&
		c_ended_SEND + c_ended_STALLED == 1 &&
		c_disconnects == 1 && c_connects == 1"
	echo 8192 >"$client_params/pullup_max"
}

group_kill-peer()
{
	nfs_up rdma2 || { fail "server"; return; }
	kill_peers
	finish
}

group_kill()
{
	local kills=${QUICK:+60} seconds=${QUICK:+4} backlog=0

	kills=${kills:-500} seconds=${seconds:-3}
	nfs_up rdma2 || { fail "server"; return; }
	echo 0 >/proc/sys/fs/leases-enable
	kill_force 3 2 "$seconds"
	kill_force 4.2 2 "$seconds"
	kill_loop 4.2 2 "$kills" "as usual"
	# Tasks wait for a slot, or for a credit, as well.
	echo 4 >"$client_params/slots"
	workers=2 kill_loop 3 2 "$kills" "4 slots"
	check "tasks waited for a slot (a queue of ${backlog:-0} in all)" \
		[ "${backlog:-0}" -gt 0 ]
	echo 128 >"$client_params/slots"
	echo 0 >"$client_params/pullup_max"
	kill_loop 4.2 1 "$kills" "inline pages mapped"
	echo 4 >/sys/module/svcrdma2/parameters/credits
	kill_loop 3 1 "$kills" "inline pages mapped, 4 credits"
	expect "Calls waited for a credit" "c_credit_waits > 0"
	echo 64 >/sys/module/svcrdma2/parameters/credits
	echo 8192 >"$client_params/pullup_max"
	echo >"$client_params/pin"
	finish
}
