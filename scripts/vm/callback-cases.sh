# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015,SC2034,SC2154
#
# Sourced by nfs-cases.sh: mounts of the kernel's own server, which speaks
# version 1 and calls back. It listens beside ours in the same kernel. What
# takes a delegation back is an open of the file on the server's side, which
# waits until the client has returned it.

intree_port=20050
storm=${QUICK:+32}
storm=${storm:-64}

# nfsd gives no delegation while lockd waits for locks to be reclaimed.
grace_over()
{
	sleep "$(($(cat /proc/sys/fs/nfs/nlm_grace_period) + 1))"
}

# One server for both; ours is there because nfs_up starts it.
intree_up()
{
	nfs_up rdma2 && modprobe rpcrdma && listen_on rdma "$intree_port" &&
		grace_over
}

# It has as much trouble with many large READs as its client; see common.
mount_intree()
{
	port=$intree_port mount_nfs rdma2 "$1" /mnt \
		"rsize=262144,wsize=262144${2:+,$2}"
}

delegations()
{
	cat /proc/fs/nfsd/clients/*/states 2>/dev/null | grep -c 'type: deleg'
}

# through_mount COMMAND...: with the names of all files, on the client's side
through_mount()
{
	local names

	names=("$export_dir"/d*)
	"$@" "${names[@]/#"$export_dir"//mnt}"
}

# delegate COUNT: the client opens files until it may keep so many. For a minute
# after a recall the server does not delegate the file again; it remembers some
# 60 of them, and then takes other files for these. Hence a guest for each kind
# of test below. Nor may a client expect much of a file that is replaced on the
# server under the same name: no name is used twice.
delegate()
{
	local i n batch

	for n in 1 2 3 4 5 6 7 8; do
		batch=$(date +%s%N)
		for i in $(seq "$1"); do
			echo old >"$export_dir/d$batch.$i"
		done
		through_mount cat >/dev/null || return 1
		[ "$(delegations)" -ge "$1" ] && return
	done
	complain "$(delegations) delegations for $((n * $1)) files"
}

# recall: all at once; took: how long, in ms.
recall()
{
	local f start writers=()

	start=$(date +%s%N)
	for f in "$export_dir"/d*; do
		(echo new >"$f") &
		writers+=($!)
	done
	wait "${writers[@]}"
	took=$((($(date +%s%N) - start) / 1000000))
}

# all_new: what the client reads after it lost its delegations.
all_new()
{
	[ "$(through_mount sort -u)" = new ] ||
		complain "$(through_mount sort | uniq -c | tr '\n' ' ')"
}

# within MS NAME: a callback that is lost costs ten seconds or more.
within()
{
	if [ "$took" -lt "$1" ]; then
		ok "$2: $took ms"
	else
		fail "$2: $took ms"
	fi
}

# The client hears that the path is down from its next renewal.
callback_path_up()
{
	local i

	for i in $(seq 30); do
		grep -q 'callback state: UP' /proc/fs/nfsd/clients/*/info &&
			return
		sleep 1
	done
	complain "$(grep state /proc/fs/nfsd/clients/*/info)"
}

# delegate_again COUNT: the server finds out in its own time that the path is
# down or up, and gives no delegation before.
delegate_again()
{
	local i

	for i in $(seq 6); do
		callback_path_up && delegate "$1" 2>/dev/null && return
		rm -f "$export_dir"/d*
		sleep 5
	done
	delegate "$1"
}

# recalls LABEL COUNT
recalls()
{
	check "$1: $2 delegations" delegate "$2" || return
	recall
	within 9000 "$1: all recalled at once"
	check "$1: the client sees what was written" all_new
	rm -f "$export_dir"/d*
}

callbacks_of()
{
	local label="NFSv$1"

	check "$label: mount of the in-tree server" mount_intree "$1" || return
	check "$label: its callback path is up" callback_path_up
	measure recalls_said "$label"
	cat /tmp/said
	grep -q ^FAIL /tmp/said && failed=1
	expect "$label: a Call for each" "c_backward_calls > $storm"
	expect "$label: a Reply for each Call" \
		"c_backward_replies == c_backward_calls"
	expect "$label: none refused, none unanswered" \
		"c_backward_refused == 0 && c_backward_unanswered == 0"
	check "$label: umount" umount_all
}

recalls_said()
{
	{
		recalls "$1" 1
		recalls "$1" "$storm"
	} >/tmp/said
}

# Calls wait for credits all the time, and Replies must not (B-04, B-17).
callbacks_without_credits()
{
	local i

	echo 4 >/sys/module/xprtrdma2/parameters/slots
	check "4 credits: mount" mount_intree 4.2 || return
	busy 12 6
	for i in 1 2 3; do
		recalls "4 credits, all in use, round $i" 8
	done
	end_busy "4 credits, with callbacks"
	check "4 credits: umount" umount_all
	rm -rf "${export_dir:?}"/*
	echo 128 >/sys/module/xprtrdma2/parameters/slots
}

# The device goes away with callbacks on their way, in a state that is a
# different one each time. The server gives up a recall that it has no path
# for, and revokes the delegation; what its client then reads is their affair.
callbacks_cut_off()
{
	local i n=4 writers

	check "cut off: mount" mount_intree 4.2 || return
	for i in $(seq "$n"); do
		check "cut off, round $i: delegations" delegate_again 12
		recall &
		writers=$!
		sleep "0.0$((i * 2 % 10))"
		device_down
		sleep 0.2
		device_up
		wait "$writers"
		rm -f "$export_dir"/d*
	done
	ok "device removed with a dozen callbacks on their way, $n times"
	# When a Reply was lost the server counts its Call as never made, and the
	# next one has its sequence number: spent on finding that out.
	check "after that: the path comes up again" delegate_again 1
	recall
	rm -f "$export_dir"/d*
	check "after that: and stays up" callback_path_up
	recalls "after that" 8
	check "cut off: umount" umount_all
	rm -rf "${export_dir:?}"/*
}

unused()
{
	local i

	for i in $(seq 50); do
		[ "$(cat /sys/module/xprtrdma2/refcnt)" -eq 0 ] && return
		sleep 0.1
	done
	return 1
}

# Nothing of a callback may be left when the mount is gone: each would hold the
# transport, and that the module. The connection goes first: were a callback at
# work when the mount goes, its thread would do the unmounting and wait for its
# own end, whatever the transport.
callbacks_at_umount()
{
	local i n=4 versions=(4.1 4.2) writers umounts

	for i in $(seq "$n"); do
		mount_intree "${versions[i % 2]}" || { fail "umount: mount"; return; }
		check "umount, round $i: delegations" delegate_again 12
		recall &
		writers=$!
		sleep "0.0$((i * 3 % 10))"
		device_down
		sleep 0.3
		umount -f /mnt 2>/dev/null &
		umounts=$!
		sleep 1
		device_up
		wait "$umounts"
		umount_all || fail "umount, round $i"
		wait "$writers"
		rm -f "$export_dir"/d*
		unused || fail "umount, round $i: a transport is left"
	done
	ok "umount with a dozen callbacks cut off: nothing is left, $n times"
}

# callbacks_in_two VERSION PORT: what nfsd says of backward messages in version 2
# through scripts/peer, which has the wire from the drafts alone
callbacks_in_two()
{
	local v=$1 port=$2 label="version 2, NFSv$1"

	peer_up "$port" two || { fail "$label: no peer"; return; }
	check "$label: mount" mount_nfs rdma2 "$v" /mnt || return
	recalls "$label" 12
	check "$label: umount" umount_all
	peer_down
	check "$label: a Reply for each Call" test \
		"$(received "$port" 'sent v2 MSG .* call')" -eq \
		"$(received "$port" 'recv v2 MSG .* reply credit')"
	check "B-07 $label: with our grant" test \
		"$(received "$port" 'recv v2 MSG .* reply credit=16')" -ge 12
	check "$label: on one connection" test \
		"$(received "$port" '^[0-9]+ up$')" -eq 1
}

# An NFSv3 mount expects no Calls.
callbacks_refused()
{
	local port=$1

	peer_up "$port" two-calls || { fail "refusals: no peer"; return; }
	check "refusals: mount" mount_nfs rdma2 3 /mnt nolock || return
	echo some >/mnt/f
	check "refusals: the mount works" cmp /mnt/f "$export_dir/f"
	check "refusals: umount" umount_all
	peer_down
	check "S23 a Read chunk: code 4, at most 0" test \
		"$(received "$port" 'recv v2 ERROR xid=00000cb4 .* code=4 arg=0$')" -eq 1
	check "S23 a Write chunk: code 5, at most 0" test \
		"$(received "$port" 'recv v2 ERROR xid=00000cb5 .* code=5 arg=0$')" -eq 1
	check "S24 no service: code 10" test \
		"$(received "$port" 'recv v2 ERROR .* code=10$')" -eq 41
	check "B-06 and still the same connection" test \
		"$(received "$port" '^[0-9]+ up$')" -eq 1
	rm -f "$export_dir/f"
}

callbacks_of_peer()
{
	callbacks_refused 20061
	callbacks_in_two 4.1 20062
	callbacks_in_two 4.2 20063
}

callback_group()
{
	intree_up || { fail "server"; return; }
	"$@"
	finish
}

group_callbacks-4.1()
{
	callback_group callbacks_of 4.1
}

group_callbacks-4.2()
{
	callback_group callbacks_of 4.2
}

group_callbacks-busy()
{
	callback_group callbacks_without_credits
}

group_callbacks-cut()
{
	callback_group callbacks_cut_off
}

group_callbacks-umount()
{
	callback_group callbacks_at_umount
}

group_callbacks-two()
{
	callback_group callbacks_of_peer
}

# The same file tests as of our own server.
group_intree()
{
	local v

	intree_up || { fail "server"; return; }
	port=$intree_port
	common=rsize=262144,wsize=262144
	for v in ${VERSIONS:-3 4.0 4.1 4.2}; do
		exercise "in-tree server, NFSv$v" rdma2 "$v"
	done
	finish
}
