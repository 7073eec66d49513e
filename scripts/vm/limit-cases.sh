# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by hostile-clients.sh: clients that make the server wait, and shortages
# of memory in the server. A client (scripts/rdma-peer.c) that posts no Receives
# keeps the server's first Reply, and every RDMA Read behind it, under way.

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

# copies N MESSAGE: that many on one line
copies()
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

# until_risen BEFORE N COUNTER...: until the sum of these counters has risen by N,
# and for 15 s at most
until_risen()
{
	local before=$1 n=$2 last=$((SECONDS + 15)) names

	shift 2
	names=" $* "
	while [ "$SECONDS" -lt "$last" ]; do
		{ echo "$before"; echo ---; counters; } | awk -v names="$names" -v n="$n" '
			/^---/ { after = 1; next }
			index(names, " " $1 " ") { sum += after ? $2 : -$2 }
			END { exit sum < n }' && return
		sleep 0.2
	done
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
	grep -c "rpcrdma2_lost: .*reason=$1" /sys/kernel/tracing/trace
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

# RDMA Reads that the peer's device serves, one that it refuses, and one that the
# server does not ask for
client_reads()
{
	local before

	before=$(closes 'RDMA Read failed')
	converse "a Read chunk of 64 segments is pulled" '' \
		"$(pulled 64 00000001)" "$reply_v2"
	converse "a Read chunk with a bad handle loses the connection" '' \
		"$(pulled 1 00001000 00001234)" closed
	check "S46 and the reason is the RDMA Read" \
		[ "$(closes 'RDMA Read failed')" -eq $((before + 1)) ]
	converse "C-093 C-106 a Call larger than any may be is answered with code 10" '' \
		"$(pulled 1 7ffffff0)" "$(error_of 0b 00000002 0000000a)" \
		"$call_v2" "$reply_v2"
}

# Calls of 1 MiB each whose RDMA Reads get no response
withhold_reads()
{
	hold reads "$call_v2 -" "$(copies 8 "$(pulled 1 00100000)") -" '!wait 35'
}

# Three Calls of 64 RDMA Reads each fit on the Send Queue beside 32 Replies. A
# thread waits for the entries of the next one, and should be the only one. Each
# batch of Replies that the peer lets go gives back some entries, but too few.
trickle=("$(copies 16 "CALL") -" "$(copies 16 "CALL") -"
	"$(copies 3 "READS") -" "$(copies 6 "READS") -" '!sleep 8' '!receive 16' '!sleep 8' '!receive 16'
	'!wait 45')

# hold_trickle NAME [PROC]: with that proc of version 1 in place of version 2's MSG
hold_trickle()
{
	local lines=("${trickle[@]//CALL/$call_v2}") reads

	reads=$(pulled 64 00000001)
	[ -z "${2:-}" ] ||
		reads=${reads/00000002 00000020 00000000/00000001 00000020 $2}
	hold "$1" "${lines[@]//READS/$reads}"
}

# shortage TIMES [CACHE]: so often there is no memory for what is in that cache,
# contexts of RDMA Reads and Writes
shortage()
{
	local dir=/sys/kernel/debug/failslab

	echo 0 >"$dir/times"
	echo 0 | tee /sys/kernel/slab/svc2_*/failslab >/dev/null
	echo 1 >"/sys/kernel/slab/${2:-rpcrdma2_rw}/failslab"
	echo Y >"$dir/cache-filter"
	echo N >"$dir/ignore-gfp-wait"
	echo 0 >"$dir/verbose"
	echo 1 >"$dir/interval"
	echo "$1" >"$dir/times"
	echo 100 >"$dir/probability"
}

no_shortage()
{
	local dir=/sys/kernel/debug/failslab

	echo 0 >"$dir/times"
	echo 0 >"$dir/probability"
	echo N >"$dir/cache-filter"
	echo 0 | tee /sys/kernel/slab/svc2_*/failslab >/dev/null
}

short_happened()
{
	[ "$(cat /sys/kernel/debug/failslab/times)" -eq 0 ]
}

# A directory is made, and the Reply is too long to go inline.
client_shortage_mkdir()
{
	local getfh cred='00000001 00000014 00000000 00000000 00000000 00000000 00000000 00000000 00000000'
	local rpc="00000000 00000002 000186a3 00000004 00000001 $cred"
	local dir='00000006 00000002 00000005 6d616465 2d000000 00000000 00000000'
	local said

	getfh=$(copies 35 0000000a)
	getfh=${getfh//+}
	shortage 1
	said=$(expand <<<"0a 00000001 00000020 00000000 00000000 00000000 00000001 00000001 H 00100000 M0000 0a $rpc 00000000 00000000 00000025 00000018 $dir $getfh" |
		"$tools/rdma-peer" "$addr4" "$port" 2>&1)
	check "a shortage with the Reply: that there was one" short_happened
	check "a shortage with the Reply: the directory is made" \
		[ -d "$export_dir/made-" ]
	if [[ $said == "0000000a 00000001 00000008 00000001 "* ]]; then
		ok "C-093 a shortage with the Reply: the client is told"
	else
		fail "C-093 a shortage with the Reply: $said"
	fi
	no_shortage
	rm -rf "$export_dir/made-"
}

client_shortage_passes()
{
	dd if=/dev/urandom of="$peers/data" bs=1M count=4 status=none
	shortage 3
	check "C-093 WRITE in a passing shortage" \
		dd if="$peers/data" of=/mnt/short bs=1M oflag=direct status=none
	check "WRITE in a passing shortage: that there was one" short_happened
	check "WRITE in a passing shortage: the data" \
		cmp "$peers/data" "$export_dir/short"

	cp "$peers/data" "$export_dir/read"
	shortage 3
	check "C-093 READ in a passing shortage" \
		dd if=/mnt/read of="$peers/back" bs=1M iflag=direct status=none
	check "READ in a passing shortage: that there was one" short_happened
	check "READ in a passing shortage: the data" \
		cmp "$peers/data" "$peers/back"

	shortage 3 svc2_msg
	check "any Call in a passing shortage" \
		dd if=/mnt/read of=/dev/null bs=4k count=1 iflag=direct
	check "any Call in a passing shortage: that there was one" short_happened
	no_shortage
}

client_shortage_lasts()
{
	local before writer closed

	before=$(counters)
	closed=$(closes 'no memory')
	shortage -1
	dd if="$peers/data" of=/mnt/long bs=1M oflag=direct status=none \
		2>"$peers/long" &
	writer=$!
	sleep 5
	check "a shortage that lasts: the connection is closed for it" \
		[ "$(closes 'no memory')" -gt "$closed" ]
	no_shortage
	if wait "$writer"; then
		ok "a shortage that lasts: WRITE succeeds when it has ended"
	else
		fail "a shortage that lasts: $(cat "$peers/long")"
	fi
	check "a shortage that lasts: the data" \
		cmp "$peers/data" "$export_dir/long"
	risen "$before"
	expect "a shortage that lasts: no error was sent" "s_errors_system == 0"
	rm -f /mnt/short /mnt/long /mnt/read
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
	until_risen "$before" 8 s_sq_waits s_tx_waits
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
	rpc.nfsd "$nfsd_threads"
	listen_on rdma2
	end_grace
	kill "${held[@]}" 2>/dev/null
	wait "${held[@]}"
}

limits_end()
{
	no_shortage
	echo 0 >/sys/kernel/tracing/events/rpcrdma2/rpcrdma2_lost/enable
	rm -rf "$peers" "${export_dir:?}"/*
}

hostile_limits()
{
	local contexts objects before begin held=()

	peers=$(mktemp -d)
	echo 1 >/sys/kernel/tracing/events/rpcrdma2/rpcrdma2_lost/enable
	client_reads

	objects=$(slab_objects rpcrdma2_rw)
	before=$(counters)
	begin=$SECONDS
	hold_trickle trickle
	until_risen "$before" 1 s_sq_waits
	sleep 1
	risen "$before"
	expect "a Send Queue that is full keeps one thread" "s_sq_waits == 1"
	# rdma_align and rdma_thresh stand before the lists.
	before=$(counters)
	hold_trickle padded 00000002
	until_risen "$before" 1 s_sq_waits
	sleep 1
	risen "$before"
	expect "E-23 a Send Queue that MSGP Calls fill keeps one thread" \
		"s_sq_waits == 1"

	before=$(counters)
	withhold_reads
	until_risen "$before" $((8 * 8)) s_rdma_reads
	until_risen "$before" $((8 << 20)) s_read_chunk_bytes
	risen "$before"
	expect "RDMA Reads without response: that there are" \
		"s_rdma_reads >= 8 * 8 && s_read_chunk_bytes >= 8 << 20"
	contexts=$(slab_objects rpcrdma2_rw)
	check "RDMA Reads without response: they hold contexts" \
		[ "$contexts" -ge $((objects + 8 + 64)) ]

	mount_nfs rdma2 4.2 /mnt || { fail "mount"; limits_end; return; }
	busy 5
	end_busy "a mount beside peers that hold RDMA Reads"
	client_shortage_passes
	client_shortage_mkdir
	client_shortage_lasts
	check "umount" umount_all

	until_closed $((begin + 28)) reads trickle padded
	sleep 1
	check "what the Reads held is given back" \
		[ "$(slab_objects rpcrdma2_rw)" -le "$objects" ]
	wait "${held[@]}"
	closed_within "S46 RDMA Reads without response have a deadline" reads 18 25
	check "and it is given as the reason" \
		[ "$(closes 'RDMA Read failed')" -ge 2 ]
	closed_within "a peer that gives back a little keeps a thread for no longer" \
		trickle 0 8

	client_stops_service
	mount_nfs rdma2 4.2 /mnt || { fail "mount"; limits_end; return; }
	check "the service works again" \
		dd if="$peers/data" of=/mnt/again bs=1M oflag=direct status=none
	check "umount at the end" umount_all
	limits_end
}
