# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the credits of connections, and the memory that their Receives
# take in the server.

grants=/sys/kernel/debug/svcrdma2

# mounts LAST [FIRST]: mounts FIRST (or 1) to LAST, with separate addresses and 16 connections
# each
mounts()
{
	local i

	for i in $(seq "${2:-1}" "$1"); do
		ip addr show dev "$netdev" | grep -q "10.0.0.$((100 + i))/" ||
			ip addr add "10.0.0.$((100 + i))/24" dev "$netdev" ||
			return 1
		addr4=10.0.0.$((100 + i)) mount_nfs rdma2 3 "/mnt-$i" \
			nconnect=16,nolock,noac || return 1
	done
}

unmounts()
{
	local i

	for i in $(seq "$1"); do
		umount "/mnt-$i" || return 1
	done
}

# visit COUNT: a few Calls on each connection
visit()
{
	local i n

	for i in $(seq "$1"); do
		for n in $(seq 32); do
			stat -t "/mnt-$i" >/dev/null || return 1
		done
	done
}

# of_connections NAME: prints this value of each connection
of_connections()
{
	sed -n "/ state=up /s/.* $1=\([0-9]*\) .*/\1/p" /proc/net/rpc/svcrdma2
}

receive_bytes()
{
	awk '$1 == "bytes" { print $2 }' "$grants/receives"
}

# For 4 credits, two control messages, and one that waits to be posted in a batch
receives_of_an_idle_connection=7

idle_connections()
{
	local conns

	check "the connections of 112 mounts" mounts 7 || return
	check "each connection is used" visit 7
	conns=$(of_connections credits | wc -l)
	same "S27 bytes of $receives_of_an_idle_connection Receives for each of $conns idle connections" \
		"$(receive_bytes)" $((conns * receives_of_an_idle_connection * 20480))
	echo "# $conns connections, $(receive_bytes) bytes in Receives, credits $(
		of_connections credits | sort -n | uniq -c | tr -s ' \n' ' ')"
	check "umount" unmounts 7
}

# deep MOUNT [SECONDS]: 128 concurrent READs, by default for three seconds
deep()
{
	fio --name=deep --directory="$1" --rw=randread --bs=4k --size=4m --direct=1 \
		--ioengine=libaio --iodepth=128 --time_based --runtime="${2:-3}" \
		--output-format=terse >/tmp/deep
}

# credits_are CREDITS: succeeds if the only connection has these
credits_are()
{
	[ "$(of_connections credits)" = "$1" ]
}

# deep_until CREDITS: READs for three seconds, and on until the only connection has these
deep_until()
{
	local pid status

	deep /mnt $((60 * patience)) &
	pid=$!
	pause 3
	happens_in 30 credits_are "$1"
	status=$?
	pkill -P "$pid" fio
	wait "$pid"
	return "$status"
}

# Calls that follow one another, more than the server waits for before it lowers a grant
idle_again()
{
	local i

	for i in {1..5}; do
		stats 1500
		[ "$(of_connections credits)" != 4 ] || break
	done
}

busy_connection()
{
	# Linux 7.3 delegates the attributes of a file that the client has created, and a stat
	# of it sends nothing then.
	: >"$export_dir/file"
	check "mount" mount_nfs rdma2 4.2 /mnt noac || return
	measure deep_until 64
	expect "S26 S27 a connection in use gets more credits" \
		"s_grants_raised >= 3 && s_grants_lowered == 0 && s_grants_denied == 0"
	same "S26 S27 and finally 64" "$(of_connections credits)" 64
	measure idle_again
	expect "S26 credits that Calls do not use are taken back" \
		"c_calls >= 1500 && s_grants_unused >= 60 && s_grants_lowered == 0"
	same "S26 down to the least" "$(of_connections credits)" 4
	# of those for 64 credits, 4 callbacks and two control messages, twice those for 4 stay
	expect "S26 the client frees Receives, too" "c_recvs_trimmed >= 50"
	same "S26 and so are the Receives, but for those of four callbacks" \
		"$(of_connections receives)" 11
	expect "S27 each Call finds a Receive" "c_connects == 0 && s_disconnects == 0"
	check "umount" umount_all
}

# rnr: prints the numbers of messages that found no Receive and were sent again
rnr()
{
	cat /sys/class/infiniband/rxe0/ports/1/hw_counters/{rcvd,send}_rnr_err |
		paste -sd' '
}

# watch_budget BYTES: prints the maximum of the Receives' memory until /tmp/watching is
# removed
watch_budget()
{
	local most=0 now

	while [ -e /tmp/watching ]; do
		now=$(receive_bytes)
		[ "$now" -le "$most" ] || most=$now
		sleep 0.05
	done
	echo "$most"
}

# strain COUNT: a verified load on each mount, and as many concurrent READs as the
# connections carry
strain()
{
	local i pid pids=() bad=0

	for i in $(seq "$1"); do
		mkdir -p "/mnt-$i/$i"
		"$load_sh" "/mnt-$i/$i" "$export_dir/$i" 6 1 >"/tmp/load-$i" 2>&1 &
		pids+=($!)
		deep "/mnt-$i" >"/tmp/deep-$i" 2>&1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || bad=1
	done
	[ $bad = 0 ] || cat /tmp/load-* /tmp/deep-*
	return $bad
}

# more_credits CREDITS: succeeds if each connection has more credits than this
more_credits()
{
	local least

	least=$(of_connections credits | sort -n | head -n 1)
	[ "$least" -gt "$1" ] || complain "one has $least"
}

# strain_until_raised COUNT: strains each connection until it has more than the minimum. A grant
# is raised after some Calls; with the host's clock one strain may be too short for these.
strain_until_raised()
{
	local i

	for ((i = 0; i < patience; i++)); do
		strain "$1" >/tmp/strain 2>&1 || { cat /tmp/strain; return 1; }
		! more_credits 4 2>/dev/null || return 0
	done
	more_credits 4
}

# 48 connections. The first 16 get as many Receives as the memory permits, and have to give
# some of them back.
small_memory()
{
	local before budget=$((4096 * 1024)) rnr_before watch

	set_parameter receive_memory $((budget / 1024))
	check "16 connections" mounts 1 || return
	check "each has more than the minimum" strain_until_raised 1
	check "32 more connections" mounts 3 2 || return
	check "each connection is used" visit 3
	touch /tmp/watching
	watch_budget >/tmp/most &
	watch=$!
	before=$(counters)
	rnr_before=$(rnr)
	check "S27 little memory for Receives: the load's data are correct" strain 3
	rm /tmp/watching
	wait "$watch"
	risen "$before"
	expect "S27 little memory for Receives: no connection is lost" \
		"c_connects == 0 && s_disconnects == 0 && s_accepts == 0"
	same "S27 little memory for Receives: each message finds a Receive" \
		"$(rnr)" "$rnr_before"
	expect "S26 grants are lowered" \
		"s_grants_lowered > 0 && s_grants_denied > 0"
	bounded "the Receives stay within their limit" "$(cat /tmp/most)" 0 "$budget"
	echo "# at most $(cat /tmp/most) of $budget bytes; grants raised ${rose[s_grants_raised]}, lowered ${rose[s_grants_lowered]}, denied ${rose[s_grants_denied]}; credits $(
		of_connections credits | sort -n | uniq -c | tr -s ' \n' ' ')"

	set_parameter receive_memory 0
	before=$(counters)
	check "S26 each grant exceeds the minimum" strain_until_raised 3
	risen "$before"
	expect "S26 with more memory grants are raised" \
		"s_grants_raised > 0 && s_grants_lowered == 0 && s_grants_denied == 0"
	echo "# credits $(of_connections credits | sort -n | uniq -c | tr -s ' \n' ' ')"
	check "umount" unmounts 3
}

# have_sizes BYTES KEY...: sends a message, and succeeds if the only connection has these sizes.
# Receives change their size only when they are posted again.
have_sizes()
{
	local bytes=$1 key

	shift
	stat -t /mnt >/dev/null
	for key; do
		[ "$(of_connections "$key")" = "$bytes" ] || return
	done
}

# sizes_are BYTES KEY...: waits for these sizes, because messages about sizes have a minimum
# distance in time (2.3, S53)
sizes_are()
{
	await have_sizes "$@" ||
		complain "$(for key in "${@:2}"; do echo "$key $(of_connections "$key")"; done)"
}

# receives_are BYTES: waits until the Receives of both ends have this size
receives_are()
{
	sizes_are "$1" receive announced
}

# The server's Receives grow and shrink while a connection is in use.
group_resize()
{
	local before

	nfs_up rdma2 || { fail "server"; return; }
	check "mount" mount_nfs rdma2 4.2 /mnt noac || return
	check "Receives are 20480 bytes" receives_are 20480
	before=$(counters)
	set_parameter receive_size 65536
	check "C-027 C-032 the administrator raises their size" receives_are 53248
	set_parameter receive_size 8192
	stat -t /mnt >/dev/null
	check "C-033 the administrator lowers it: they keep their size" receives_are 53248
	# The server learns the client's new size from a REQPROP.
	size_parameter xprtrdma2 send_size 4096
	check "C-033 the client requests smaller Receives" receives_are 4096
	size_parameter xprtrdma2 send_size 65536
	check "C-032 the client requests larger Receives, up to the limit" receives_are 8192
	risen "$before"
	expect "C-023 C-059 each change has one message of each end" \
		"s_reqprops == 2 && s_updprops_sent == 2 && s_receives_raised == 2 && s_receives_lowered == 1"

	set_parameter send_size 4096
	check "S14 the server's Sends become smaller" sizes_are 4096 send_v2
	dd if=/dev/urandom of="$export_dir/file" bs=64k count=16 status=none
	exec 7</mnt/file
	measure dd bs=8k count=8 iflag=direct <&7
	exec 7<&-
	expect "C-034 they are" "s_write_chunks == 8"
	set_parameter send_size 65536
}

group_grants()
{
	nfs_up rdma2 || { fail "server"; return; }
	idle_connections
	busy_connection
	tester "" --set "$server_set" "$addr4" "$port" \
		credits.grants_while_memory_is_short \
		credits.shares_while_memory_is_short || failed=1
	small_memory
}
