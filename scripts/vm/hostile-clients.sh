# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by hostile-cases.sh: what a hostile client does to our server. The
# clients are scripts/rdma-peer.c. One that posts no Receives keeps the server's
# first Reply, and every RDMA Read posted behind it, under way.

# pulled SEGMENTS LENGTH [HANDLE]: a NULL Call with a Read chunk behind it
pulled()
{
	local i reads=''

	for ((i = 0; i < $1; i++)); do
		reads+="00000001 00000028 ${3:-H} $2 M0000 "
	done
	echo "0b 00000002 00000020 00000000 00000000 00000000 $reads" \
		"00000000 00000000 00000000 0b $rpc_call"
}

# times N MESSAGE: that many on one line
times()
{
	local i

	for ((i = 1; i < $1; i++)); do
		printf '%s + ' "$2"
	done
	printf '%s' "$2"
}

# hold NAME LINE...: a peer without Receives says that, in the background
hold()
{
	local name=$1

	shift
	printf '%s\n' "$@" | expand |
		"$tools/rdma-peer" -n "$addr4" "$port" >"$peers/$name" 2>&1 &
	held+=($!)
}

# until_closed SECOND NAME...: of the group, or until all these peers are done
until_closed()
{
	local last=$1 name

	shift
	for name in "$@"; do
		until grep -q closed "$peers/$name" || [ "$SECONDS" -ge "$last" ]; do
			sleep 0.2
		done
	done
}

closes()
{
	grep -c "svc2_close: .*reason=$1" /sys/kernel/tracing/trace
}

# Also flushes what a processor, or a sanitizer, keeps of freed ones
slab_objects()
{
	echo 1 >"/sys/kernel/slab/$1/shrink"
	awk '{ print $1 }' "/sys/kernel/slab/$1/objects"
}

# closed_within NAME FILE LEAST MOST: what a peer's "!wait" said
closed_within()
{
	local after

	after=$(sed -n 's/^closed after //p' "$peers/$2")
	if [ -n "$after" ] && [ "$after" -ge "$3" ] && [ "$after" -le "$4" ]; then
		ok "$1 (after $after s)"
	else
		fail "$1: $(tail -n 1 "$peers/$2"), not after $3 to $4 s"
	fi
}

# A Read that the peer's device refuses, after one that it serves
client_bad_handle()
{
	local before

	before=$(closes 'RDMA Read failed')
	converse "a Read chunk of 64 segments is pulled" '' \
		"$(pulled 64 00000001)" "$reply_v2"
	converse "a Read chunk with a bad handle loses the connection" '' \
		"$(pulled 1 00001000 00001234)" closed
	check "and the reason is the RDMA Read" \
		[ "$(closes 'RDMA Read failed')" -eq $((before + 1)) ]
}

# Calls of 1 MiB each whose RDMA Reads get no response
withhold_reads()
{
	hold reads "$call_v2 -" "$(times 20 "$(pulled 1 00100000)") -" '!wait 35'
}

# A Receive that an RDMA Write with Immediate consumed holds no message: that
# connection goes, and the one of a mount stays.
client_immediate()
{
	local name="an RDMA Write with Immediate closes the connection" before

	mount_nfs rdma2 4.2 /mnt || { fail "$name: mount"; return; }
	before=$(counters)
	converse "$name" '' "$call_v2" "$reply_v2" immediate closed
	check "$name: a mount has its own" use_beside
	risen "$before"
	expect "$name, and no other" \
		"s_recvs_bad==1&&s_accepts==1&&s_closes==1&&c_connects==0"
	umount /mnt
}

use_beside()
{
	echo some >/mnt/beside && rm "$export_dir/beside" && stat /mnt
}

# Three Calls of 64 RDMA Reads each fit on the Send Queue beside 32 Replies. For
# the next one a thread waits, and each batch of Replies that the peer lets go
# gives it hope; for those that come with it no thread has to.
trickle=("$(times 16 "CALL") -" "$(times 16 "CALL") -"
	"$(times 3 "READS") -" "$(times 6 "READS") -" '!sleep 8' '!receive 16' '!sleep 8' '!receive 16'
	'!wait 45')

hold_trickle()
{
	local lines=("${trickle[@]//CALL/$call_v2}")

	hold "$1" "${lines[@]//READS/$(pulled 64 00000001)}"
}

# More connections than threads, each of which makes threads wait
client_stops_service()
{
	local i begin took before

	held=()
	before=$(counters)
	for i in $(seq 12); do
		hold_trickle "stop$i"
	done
	sleep 3
	risen "$before"
	expect "nfsd stops while peers hold threads: that they do" \
		"s_sq_waits + s_tx_waits >= 8"
	begin=$SECONDS
	rpc.nfsd 0
	took=$((SECONDS - begin))
	if [ "$took" -lt 30 ]; then
		ok "nfsd stops while peers hold threads (in $took s)"
	else
		fail "nfsd stops while peers hold threads: in $took s"
	fi
	rpc.nfsd "${NFSD_THREADS:-8}"
	listen_on rdma2
	echo Y >/proc/fs/nfsd/v4_end_grace
	kill "${held[@]}" 2>/dev/null
	wait "${held[@]}"
}

hostile_clients()
{
	local contexts objects before begin held=()

	client_immediate
	hostile_layout
	peers=$(mktemp -d)
	echo 1 >/sys/kernel/tracing/events/svcrdma2/svc2_close/enable
	client_bad_handle

	objects=$(slab_objects svc2_rw)
	before=$(counters)
	begin=$SECONDS
	hold_trickle trickle
	sleep 2
	risen "$before"
	expect "a Send Queue that is full keeps one thread" "s_sq_waits == 1"

	before=$(counters)
	withhold_reads
	sleep 2
	risen "$before"
	expect "RDMA Reads without response: that there are" \
		"s_rdma_reads >= 20 * 8 && s_read_bytes >= 20 << 20"
	contexts=$(slab_objects svc2_rw)
	check "RDMA Reads without response: they hold contexts" \
		[ "$contexts" -ge $((objects + 20 + 64)) ]

	mount_nfs rdma2 4.2 /mnt || { fail "mount"; return; }
	busy 5
	end_busy "a mount beside peers that hold RDMA Reads"
	check "umount" umount_all

	until_closed $((begin + 28)) reads trickle
	sleep 1
	check "what the Reads held is given back" \
		[ "$(slab_objects svc2_rw)" -le "$objects" ]
	wait "${held[@]}"
	closed_within "RDMA Reads without response have a deadline" reads 18 25
	check "and it is given as the reason" \
		[ "$(closes 'RDMA Read failed')" -ge 2 ]
	closed_within "a peer that gives back a little keeps a thread for no longer" \
		trickle 1 8

	client_stops_service
	mount_nfs rdma2 4.2 /mnt || { fail "mount"; return; }
	check "the service works again" \
		dd if=/dev/zero of=/mnt/again bs=1M count=2 oflag=direct status=none
	check "umount at the end" umount_all
	rm -rf "$peers" "${export_dir:?}"/*
}
