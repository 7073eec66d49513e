# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: clients that make the server wait, and allocation failures in the
# server. The clients are the tester's. They post no Receives, so that the server's first
# Reply, and every RDMA Read behind it, stay in flight.

# withhold CASE: runs a case in the background; released() checks its result
withhold()
{
	tester "" "$addr4" "$port" "held.$1" >"$peers/$1" 2>&1 &
	held+=($!)
}

# released CASE LEAST MOST: checks that the case has passed, and its duration in seconds, which
# may be $patience times as long
released()
{
	local took

	cat "$peers/$1"
	grep -q '^ok' "$peers/$1" || failed=1
	took=$(sed -n "s/^# held.$1: \([0-9]*\).*/\1/p" "$peers/$1")
	bounded "$1: in time ($took s)" "${took:-0}" "$2" $(($3 * patience))
}

closes()
{
	grep -c "rpcrdma2_lost: .*reason=$1" /sys/kernel/tracing/trace
}

# closes_past REASON NUMBER: succeeds if more connections have ended for this reason
closes_past()
{
	[ "$(closes "$1")" -gt "$2" ]
}

# Shrinking the cache also flushes freed objects that a processor or a sanitizer keeps.
slab_objects()
{
	echo 1 >"/sys/kernel/slab/$1/shrink"
	awk '{ print $1 }' "/sys/kernel/slab/$1/objects"
}

# contexts_are MOST: succeeds if there are no more contexts of RDMA Reads and Writes than this
contexts_are()
{
	[ "$(slab_objects rpcrdma2_rw)" -le "$1" ]
}

# The peer's device refuses an RDMA Read.
client_reads()
{
	local before closed

	before=$(counters) closed=$(closes 'RDMA Read failed')
	tester "" --export "$export_dir" "$addr4" "$port" \
		lost.an_rdma_read_is_refused || failed=1
	check "S46 the failed RDMA Read is the reason" \
		[ "$(closes 'RDMA Read failed')" -eq $((closed + 2)) ]
	ended_for "S46" "$server_view" "RDMA Read failed"
}

# shortage TIMES [CACHE]: this many allocations from the cache fail; the default is the
# cache of contexts of RDMA Reads and Writes
shortage()
{
	local dir=/sys/kernel/debug/failslab

	echo 0 >"$dir/times"
	echo 0 | tee /sys/kernel/slab/svc2_*/failslab >/dev/null
	echo 1 >"/sys/kernel/slab/${2:-rpcrdma2_rw}/failslab"
	settings "$dir" cache-filter=Y ignore-gfp-wait=N verbose=0 interval=1 times="$1" \
		probability=100
}

no_shortage()
{
	settings /sys/kernel/debug/failslab times=0 probability=0 cache-filter=N
	echo 0 | tee /sys/kernel/slab/svc2_*/failslab >/dev/null
}

short_happened()
{
	[ "$(cat /sys/kernel/debug/failslab/times)" -eq 0 ]
}

# A MKDIR whose Reply is too long to be inline
client_shortage_mkdir()
{
	local version

	for version in '' _in_version_one; do
		shortage 1
		tester "" --export "$export_dir" "$addr4" "$port" \
			"chunks.what_is_done_once_and_a_long_reply$version" || failed=1
		check "C-093 a shortage with the Reply: the fault was injected" \
			short_happened
	done
	no_shortage
}

client_shortage_passes()
{
	dd if=/dev/urandom of="$peers/data" bs=1M count=4 status=none
	shortage 3
	check "C-093 WRITE during a temporary shortage" \
		dd if="$peers/data" of=/mnt/short bs=1M oflag=direct status=none
	check "WRITE during a temporary shortage: the fault was injected" short_happened
	check "WRITE during a temporary shortage: the data are correct" \
		cmp "$peers/data" "$export_dir/short"

	cp "$peers/data" "$export_dir/read"
	shortage 3
	check "C-093 READ during a temporary shortage" \
		dd if=/mnt/read of="$peers/back" bs=1M iflag=direct status=none
	check "READ during a temporary shortage: the fault was injected" short_happened
	check "READ during a temporary shortage: the data are correct" \
		cmp "$peers/data" "$peers/back"

	shortage 3 svc2_msg
	check "any Call during a temporary shortage" \
		dd if=/mnt/read of=/dev/null bs=4k count=1 iflag=direct
	check "any Call during a temporary shortage: the fault was injected" short_happened
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
	check "a lasting shortage: this closes the connection" \
		await closes_past 'no memory' "$closed"
	ended_for "a lasting shortage" "$server_view" "no memory"
	no_shortage
	wait "$writer" && ok "a lasting shortage: WRITE succeeds after its end" ||
		fail "a lasting shortage: $(cat "$peers/long")"
	check "a lasting shortage: the data are correct" \
		cmp "$peers/data" "$export_dir/long"
	risen "$before"
	expect "a lasting shortage: no error was sent" "s_errors_system == 0"
	rm -f /mnt/short /mnt/long /mnt/read
}

# More connections than threads; on each of them a Call waits for Send Queue entries,
# without a thread. Later Calls on these connections wait too, Calls on another connection
# do not. nfsd can stop while a Call waits.
client_stops_service()
{
	local begin took before

	counted tester "" --export "$export_dir" "$addr4" "$port" \
		held.more_connections_than_threads || failed=1
	expect "more connections than threads: a Call of each waits" \
		"s_sq_waits >= $nfsd_threads && s_stalls == 0"
	before=$(counters)
	held=()
	withhold replies_in_small_steps
	await has_risen s_sq_waits -ge 1 || fail "nfsd stops while a Call waits: none waits"
	begin=$SECONDS
	rpc.nfsd 0
	took=$((SECONDS - begin))
	bounded "nfsd stops while a Call waits (in $took s)" "$took" 0 $((30 * patience - 1))
	nfsd_up
	pkill -P "${held[0]}"
	wait "${held[@]}" 2>/dev/null
}

limits_end()
{
	no_shortage
	echo 0 >/sys/kernel/tracing/events/rpcrdma2/rpcrdma2_lost/enable
	rm -rf "$peers" "${export_dir:?}"/*
}

hostile_limits()
{
	local contexts objects before held=()

	peers=$(mktemp -d)
	echo 1 >/sys/kernel/tracing/events/rpcrdma2/rpcrdma2_lost/enable
	client_reads

	objects=$(slab_objects rpcrdma2_rw)
	# With several threads, several Calls could be started before the first one waits. A
	# single thread takes up a second one if that has arrived before the first one waits; of
	# nine Calls, seven do not fit. No Send Queue of these connections makes progress until
	# the connection ends. The client sends one Call and then 32 before these, and 8 afterwards
	# on another connection: for each of the 8 the thread has passed over the Calls that wait.
	rpc.nfsd 1
	before=$(counters)
	withhold replies_that_are_not_taken
	await has_risen s_replies -ge $((1 + 32 + 8)) ||
		fail "a full Send Queue: other Calls are not answered"
	risen "$before"
	expect "a full Send Queue: no Call is taken up behind one that waits" \
		"s_sq_waits >= 1 && s_sq_waits <= 2"
	before=$(counters)
	withhold replies_that_are_not_taken_in_version_one
	await has_risen s_replies -ge $((1 + 32 + 8)) ||
		fail "E-23 a Send Queue full of MSGP Calls: other Calls are not answered"
	risen "$before"
	expect "E-23 a Send Queue full of MSGP Calls: no Call is taken up behind one that waits" \
		"s_sq_waits >= 1 && s_sq_waits <= 2"
	rpc.nfsd "$nfsd_threads"

	withhold replies_in_small_steps
	withhold replies_in_small_steps_in_version_one
	before=$(counters)
	withhold reads_without_response
	await has_risen s_rdma_reads -ge $((4 * 8))
	await has_risen s_read_chunk_bytes -ge $((4 << 20))
	risen "$before"
	expect "RDMA Reads without response: they are outstanding" \
		"s_rdma_reads >= 4 * 8 && s_read_chunk_bytes >= 4 << 20"
	contexts=$(slab_objects rpcrdma2_rw)
	check "RDMA Reads without response: they hold contexts" \
		[ "$contexts" -ge $((objects + 4 + 32)) ]

	mount_nfs rdma2 4.2 /mnt || { fail "mount"; limits_end; return; }
	busy 2
	end_busy "a mount beside peers with outstanding RDMA Reads"
	client_shortage_passes
	client_shortage_mkdir
	client_shortage_lasts
	check "umount" umount_all

	wait "${held[@]}"
	check "the contexts of the RDMA Reads are freed" await contexts_are "$objects"
	released reads_without_response 18 27
	released replies_that_are_not_taken 18 60
	released replies_that_are_not_taken_in_version_one 18 60
	# 20 s after the client has taken the first sixteen Replies
	released replies_in_small_steps 34 43
	released replies_in_small_steps_in_version_one 34 43
	check "the failed RDMA Read is the reason" \
		[ "$(closes 'RDMA Read failed')" -ge 2 ]

	client_stops_service
	mount_nfs rdma2 4.2 /mnt || { fail "mount"; limits_end; return; }
	check "the service works again" \
		dd if="$peers/data" of=/mnt/again bs=1M oflag=direct status=none
	check "umount at the end" umount_all
	limits_end
}
