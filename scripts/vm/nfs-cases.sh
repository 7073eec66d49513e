#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2013,SC2015,SC2119,SC2120,SC2154
#
# Runs one group of test cases on a mount, in a guest. Each case prints one line, "ok NAME"
# or "FAIL NAME: why"; the exit status is 1 if a case failed.
#
#	nfs-cases.sh GROUP TRANSPORT
#
# vm.sh checks the kernel's log after the run.

set -u
# shellcheck source=scripts/vm/cases.sh
. "$(dirname "$0")/cases.sh" || exit 2

group=$1
proto=${2:-rdma2}

# In-tree rpcrdma occupies the processor forever when many large READs of unaligned buffers
# arrive at once. It runs here for comparison only, with smaller READs.
common=''
[ "$proto" = rdma ] && common=rsize=262144,wsize=262144

# exercise LABEL TRANSPORT VERSION [OPTIONS]: runs the file tests on a new mount
exercise()
{
	local label=$1 p=$2 vers=$3 opts=${4:-}

	opts=${common:+$common${opts:+,}}$opts
	check "$label: mount" mount_nfs "$p" "$vers" /mnt "$opts" || return
	grep -q " /mnt .*proto=$p," /proc/mounts && ok "$label: /proc/mounts has proto=$p" ||
		fail "$label: /proc/mounts: $(grep ' /mnt nfs' /proc/mounts)"
	verdicts "$label" "$VM_TOP/scripts/fs-exercise.py" "$vers" /mnt "$export_dir"
	check "$label: umount" umount_all
	rm -rf "${export_dir:?}"/*
}

# finish: the last case of each group that has called nfs_up
finish()
{
	[ -z "${realm_is_up:-}" ] || kerberos_down
	check "unload after use" stop_and_unload || users_of_sunrpc | sed 's/^/# /'
	nfs_is_up=''
}

# regions_are BEFORE NUMBER: succeeds if the client has this number of memory regions that it
# has allocated since
regions_are()
{
	risen "$1"
	[ $((rose[c_mrs_allocated] - rose[c_mrs_trimmed])) -eq "$2" ]
}

# reads_at_once: 16 READs at a time, as soon as the server's grant permits them. dd waits for the
# reader of its output with the file open; mountd then keeps nfsd from a Reply until all READs are
# sent. Sets rose[] to the rise since $before, at this moment: a clock that counts instructions
# may leap by minutes while the guest waits for a file of the host.
reads_at_once()
{
	local i

	for i in {1..50}; do
		dd if=/mnt/file of=/dev/null bs=16M count=1 iflag=direct status=none
		[ "$(connection credits)" -lt 16 ] || break
	done
	mkfifo /tmp/fifo
	dd if=/mnt/file of=/tmp/fifo bs=16M count=1 iflag=direct status=none &
	await [ "/proc/$!/fd/0" -ef /mnt/file ] || complain "dd does not open the file"
	risen "$before"
	i=${rose[c_calls]}
	pkill -STOP rpc.mountd
	echo $(($(date +%s) + 1)) >/proc/net/rpc/nfsd.export/flush
	cat /tmp/fifo >/dev/null &
	await has_risen c_calls -ge $((i + 16)) || complain "$((rose[c_calls] - i)) READs are sent"
	pkill -CONT rpc.mountd
	wait $!
	rm /tmp/fifo
}

# A connection begins with the memory region of one payload. It gets more for READs at once, and
# frees these when they were idle for 30 to 60 seconds.
idle_regions()
{
	local name="memory regions" before allocated

	dd if=/dev/zero of="$export_dir/file" bs=1M count=16 status=none
	await no_transport
	before=$(counters)
	mount_nfs "$proto" 4.2 /mnt || { fail "$name: mount"; return; }
	dd if=/mnt/file of=/dev/null bs=1M count=1 iflag=direct status=none
	regions_are "$before" 1 && ok "$name: one for one READ at a time" ||
		fail "$name: ${rose[c_mrs_allocated]} for one READ at a time"
	reads_at_once
	expect "$name: more for READs at once" \
		"c_mrs_allocated - c_mrs_trimmed >= 16 && c_mrs_allocated - c_mrs_trimmed <= 35"
	happens_in 68 regions_are "$before" 1 &&
		ok "$name: ${rose[c_mrs_trimmed]} of ${rose[c_mrs_allocated]} are freed when they are idle" ||
		fail "$name: ${rose[c_mrs_trimmed]} of ${rose[c_mrs_allocated]} are freed when they are idle"
	allocated=${rose[c_mrs_allocated]}
	dd if=/mnt/file of=/dev/null bs=16M count=1 iflag=direct status=none
	risen "$before"
	expect "$name: more again afterwards" "c_mrs_allocated > $allocated"
	check "$name: umount" umount_all
	expect "$name: no connection was lost" "c_disconnects == 0 && c_connects == 1"
	rm "$export_dir/file"
}

group_files()
{
	local v

	nfs_up "$proto" || { fail "server"; return; }
	for v in ${VERSIONS:-3 4.0 4.1 4.2}; do
		exercise "NFSv$v" "$proto" "$v"
	done
	[ "$proto" != rdma2 ] || idle_regions
}

# Other ways to reach the server: IPv6, several connections, small sizes.
group_paths()
{
	nfs_up "$proto" || { fail "server"; return; }
	exercise "IPv6" "${proto}6" 4.2
	exercise "IPv6, NFSv3" "${proto}6" 3
	exercise "nconnect=4" "$proto" 4.2 nconnect=4
	exercise "nconnect=4, NFSv3" "$proto" 3 nconnect=4
	exercise "small rsize and wsize" "$proto" 4.1 rsize=4096,wsize=4096
}

# vectors_of VIEW: prints the completion vector of the Receives of each connection
vectors_of()
{
	sed -n '/ state=up /s/.* vectors=[0-9]*,\([0-9]*\).*/\1/p' "$1"
}

# vectors_spread NAME: cases for 8 connections, of whose 16 ends each takes the next vector.
# soft-RoCE has a vector for each processor. Both ends are on one device, so in the worst order
# one of them takes every second vector: 8 of 16 turns are no fewer than half of N vectors.
vectors_spread()
{
	local vectors=$(($(nproc) < 8 ? $(nproc) : 8)) used

	grep -h ' state=up ' /proc/net/rpc/{xprtrdma2,svcrdma2} >/tmp/connections
	[ -s /tmp/connections ] && ! grep -qv ' vectors=\([0-9]*\),\1\b' /tmp/connections &&
		ok "$1: a connection has one completion vector" ||
		fail "$1: vectors: $(grep -o ' vectors=.*' /tmp/connections | tr '\n' ' ')"
	same "$1: the Receives use all completion vectors" \
		"$(vectors_of /tmp/connections | sort -u | wc -l)" "$(nproc)"
	# With two, each end uses half of them in any order.
	[ "$vectors" -gt 2 ] || return 0
	used=$(vectors_of /proc/net/rpc/xprtrdma2 | sort -u | wc -l)
	bounded "$1: the client's use $used of $(nproc)" "$used" $(((vectors + 1) / 2))
	used=$(vectors_of /proc/net/rpc/svcrdma2 | sort -u | wc -l)
	bounded "$1: the server's use $used of $(nproc)" "$used" $(((vectors + 1) / 2))
}

# Load over several connections at once, for guests with several processors
group_nconnect()
{
	local v name

	nfs_up "$proto" || { fail "server"; return; }
	for v in 4.2 3; do
		name="NFSv$v, nconnect=8"
		mount_nfs "$proto" "$v" /mnt nconnect=8 || { fail "$name: mount"; return; }
		check "$name: load" "$load_sh" /mnt "$export_dir" 30 4
		check "$name: 8 connections" [ "$(grep -c ' state=up ' /proc/net/rpc/xprtrdma2)" -eq 8 ]
		vectors_spread "$name"
		check "$name: umount" umount_all
	done
}

# A connection has memory regions for one Call of the maximum number of segments, and a few
# more.
siw_regions()
{
	local before

	modprobe -qa ib_uverbs rdma_ucm
	counted tester "" "$addr4" "$port" chunks.many_read_segments_at_once || failed=1
	expect "S46 siw: Calls wait for memory regions, and then have them" \
		"s_mr_waits > 0 && s_errors_system == 0"
	before=$(counters)
	# On siw the failure of the queue pair is the first event that the server receives.
	tester "" "$addr4" "$port" lost.a_message_that_is_too_long || failed=1
	ended_for "S46 siw: a message longer than a Receive" "$server_view" \
		"queue pair failed"
}

# Clients that begin the handshake of iWARP and then send nothing, one more than nfsd has threads.
# The last message, an RDMA Write without data, follows after a line on standard input. Soft-iWARP
# crashes the kernel if a client closes its socket before that.
silent_clients='
import socket, struct, sys
server, count = sys.argv[1], int(sys.argv[2])
request = b"MPA ID Req Frame" + struct.pack(">HHHH", 0x1002, 4, 0x8001, 0x8000)
clients = []
for _ in range(count):
    client = socket.create_connection((server, 20049))
    client.sendall(request)
    assert client.recv(20, socket.MSG_WAITALL)[:16] == b"MPA ID Rep Frame"
    clients.append(client)
print("silent", flush=True)
sys.stdin.readline()
for client in clients:
    client.sendall(struct.pack(">HHLQL", 14, 0xc140, 0, 0, 0))
for client in clients:
    try:
        while client.recv(4096):
            pass
    except ConnectionResetError:
        pass
'

# none_is_left: succeeds if the server has no connection that is ending
none_is_left()
{
	! grep -q " state=closing " /proc/net/rpc/svcrdma2
}

siw_handshakes()
{
	local before clients=$((nfsd_threads + 1)) go=/tmp/go to pid

	before=$(counters)
	mkfifo "$go"
	python3 -c "$silent_clients" "$addr4" "$clients" <"$go" >/tmp/silent 2>&1 &
	pid=$!
	exec {to}>"$go"
	check "siw: clients are silent in the handshake" await grep -qx silent /tmp/silent
	check "S46 siw: the server ends their connections, and no thread waits for them" \
		await has_risen s_disconnects -ge "$clients"
	check "S46 siw: another client mounts" mount_nfs "$proto" 4.2 /mnt &&
		check "S46 siw: umount" umount_all
	check "S46 siw: nfsd stops and starts" eval \
		"rpc.nfsd 0 && rpc.nfsd $nfsd_threads && listen_on $proto"
	echo >&"$to"
	exec {to}>&-
	wait "$pid"
	check "S46 siw: the clients see the end" [ $? -eq 0 ] || sed 's/^/# /' /tmp/silent
	check "S46 siw: the server has none of the connections left" await none_is_left
}

group_siw()
{
	local DEVICE=siw

	nfs_up "$proto" || { fail "server"; return; }
	exercise "siw, NFSv4.2" "$proto" 4.2
	exercise "siw, NFSv3" "$proto" 3
	if [ "$proto" = rdma2 ]; then
		siw_regions
		siw_handshakes
	fi
	finish
	check "siw: device removed" device_down
}

stats()
{
	local i

	for i in $(seq "$1"); do
		stat /mnt/file
	done
}

# The client opens files that it has not seen; for others a delegation would answer the
# OPEN.
opens()
{
	local i

	for i in $(seq "$1"); do
		: <"/mnt/open-$i"
	done
}

puts()
{
	dd if=/dev/zero bs="${2:-1M}" count="$1" oflag=direct conv=notrunc >&7
}

group_counters()
{
	local i

	nfs_up rdma2 && mount_nfs rdma2 4.2 /mnt noac ||
		{ fail "mount"; return; }
	# Each processor keeps free pages of its own, so a thread must stay on one processor.
	for i in $(pgrep -x nfsd); do
		taskset -cp 0 "$i" >/dev/null || fail "a thread of nfsd is not pinned"
	done
	dd if=/dev/urandom of=/mnt/file bs=1M count=16 status=none
	exec 7<>/mnt/file
	dd bs=1M count=1 iflag=direct of=/dev/null status=none <&7

	exec 7<>/mnt/file
	measure dd bs=1M count=16 iflag=direct of=/dev/null <&7
	expect "READ of 1 MiB: one registration per READ" "c_registrations == 16"
	expect "READ of 1 MiB: no local invalidation" "c_local_invalidations == 0"
	expect "READ of 1 MiB: the server invalidates" "c_remote_invalidations == 16"
	expect "READ of 1 MiB: one doorbell per Call" "c_doorbells == c_calls"
	expect "READ of 1 MiB: all bytes by RDMA Write" "s_write_chunk_bytes == 16 * 1048576"
	expect "READ of 1 MiB: no Reply chunk used" "s_reply_chunks_used == 0"

	exec 7<>/mnt/file
	measure puts 16
	expect "WRITE of 1 MiB: one registration per WRITE" "c_registrations == 16"
	expect "WRITE of 1 MiB: no local invalidation" "c_local_invalidations == 0"
	expect "WRITE of 1 MiB: one doorbell per Call" "c_doorbells == c_calls"
	expect "WRITE of 1 MiB: all bytes by RDMA Read" "s_read_chunk_bytes == 16 * 1048576"
	expect "WRITE of 1 MiB: the server reuses pages of completed WRITEs" "s_sinks_reused >= 15"
	# calls all shrinkers
	echo 2 >/proc/sys/vm/drop_caches
	measure puts 1
	expect "WRITE of 1 MiB: the kernel frees pages that the server keeps" \
		"s_calls >= 1 && s_sinks_reused == 0"
	measure puts 1
	expect "WRITE of 1 MiB: the server keeps pages again" "s_sinks_reused == 1"
	measure puts 16 64K
	expect "WRITE of 64 KiB: one RDMA Read per WRITE" "s_rdma_reads == 16"
	exec 7>&-

	measure stats 20
	expect "GETATTR: at least one per stat" "c_calls >= 20"
	expect "GETATTR: no registration" "c_registrations == 0"
	expect "GETATTR: one doorbell per Call" "c_doorbells == c_calls"
	expect "GETATTR: one doorbell per Reply" "s_doorbells == s_replies"
	expect "GETATTR: one doorbell for two Receives" \
		"2 * s_recv_doorbells <= s_calls + 2"
	one_thread_each

	touch "$export_dir"/open-{1..20}
	measure opens 20
	expect "OPEN: 20 go out" "o_open == 20"
	expect "C-031 OPEN: no RDMA Write for a reply that fits inline" \
		"s_rdma_writes == 0 && s_reply_chunks_used == 0"

	ln -s "$(printf '%0100d' 0)" "$export_dir/short"
	ln -s "$(printf '%04095d' 0)" "$export_dir/long"
	test -L /mnt/short && test -L /mnt/long
	measure readlink /mnt/short
	expect "READLINK of 100 bytes: one READLINK is sent" "o_readlink == 1"
	expect "C-031 READLINK of 100 bytes: the Reply is inline" \
		"s_rdma_writes == 0 && s_reply_chunks_used == 0"
	measure readlink /mnt/long
	expect "READLINK of 4095 bytes: one READLINK is sent" "o_readlink == 1"
	expect "C-031 READLINK of 4095 bytes: the Reply is inline" \
		"s_rdma_writes == 0 && s_reply_chunks_used == 0"
	counters >/run/vm/counters
	monitored
}

# The server hands a connection to one thread for each Call, and never to a thread that
# would find no Call.
one_thread_each()
{
	local events=/sys/kernel/tracing handed

	echo 1 >"$events/events/sunrpc/svc_xprt_dequeue/enable"
	echo >"$events/trace"
	measure stats 20
	echo 0 >"$events/events/sunrpc/svc_xprt_dequeue/enable"
	handed=$(grep -c svc_xprt_dequeue: "$events/trace")
	[ "$handed" -ge 20 ] && [ "$handed" -le $((rose[s_calls] + 2)) ] &&
		ok "GETATTR: one thread per Call" ||
		fail "GETATTR: $handed threads for ${rose[s_calls]} Calls"
}

# Monitoring tools parse mountstats, with a connection and without one.
monitored()
{
	[ "$(connection state)" = up ] || fail "mountstats: no connection"
	check "mountstats of a mount that is connected" figures /mnt
	device_down || fail "mountstats: device removed"
	[ "$(connection state)" = down ] || fail "mountstats: still a connection"
	check "mountstats of a mount that is not" figures /mnt
	device_up || fail "mountstats: device back"
	check "the mount works again" stat /mnt
}

# cycle VERSION: loads the modules, mounts, does I/O, unmounts, and unloads the modules
cycle()
{
	load_modules "$proto" &&
	rpc.nfsd 4 &&
	end_grace &&
	listen_on "$proto" &&
	mount_nfs "$proto" "$1" /mnt "$common" &&
	dd if=/dev/urandom of=/mnt/f bs=300001 count=5 status=none &&
	dd if=/dev/urandom of=/mnt/g bs=1M count=2 oflag=direct status=none &&
	echo 3 >/proc/sys/vm/drop_caches &&
	cmp /mnt/f "$export_dir/f" &&
	cmp /mnt/g "$export_dir/g" &&
	umount /mnt &&
	rpc.nfsd 0 &&
	unload "$proto"
}

unreclaimable()
{
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^(SUnreclaim|VmallocUsed|Percpu|KernelStack):/ { n += $2 }
		END { print n }' /proc/meminfo
}

# takes_less KIB: compares the memory in use, and sets $now to it; some is freed later
takes_less()
{
	now=$(unreclaimable)
	[ "$now" -lt "$1" ]
}

group_cycle()
{
	local i n=50 base=0 now vers=(4.2 3 4.1 4.0)

	nfs_up "$proto" || { fail "server"; return; }
	rpc.nfsd 0
	unload "$proto" || fail "unload before the first cycle"
	for i in $(seq "$n"); do
		cycle "${vers[i % 4]}" || { fail "cycle $i of $n"; return; }
		[ "$i" -eq 10 ] && base=$(unreclaimable)
	done
	ok "load, mount, I/O, umount, unload: $n times"
	# KASAN's quarantine makes the memory in use meaningless; kmemleak detects leaks
	# there.
	if [[ $VM_KERNEL == uml-debug || $VM_KERNEL == uml-smp ]]; then
		:
	elif await takes_less $((base + 2048)); then
		ok "no growth over $((n - 10)) cycles ($base to $now KiB)"
	else
		fail "growth over $((n - 10)) cycles: $base to $now KiB"
	fi
	server_down
}

# outlived: a Call waits in nfsd for mountd until its client gives up and closes the
# connection; mountd then continues, and nfsd processes the Call.
outlived()
{
	local dir=/mnt.outlived before

	mkdir -p "$dir"
	mount_nfs "$proto" 3 "$dir" soft,timeo=10,retrans=1,noac || return 1
	before=$(counters)
	pkill -STOP rpc.mountd
	exportfs -f
	kill_after 60 stat "$dir/after" >/dev/null 2>&1
	await has_risen s_disconnects -ge 1
	pkill -CONT rpc.mountd
	umount -f "$dir" 2>/dev/null || umount -l "$dir"
}

# If sunrpc counted the end of a connection twice, it would reject every later connection as
# one too many.
outlived_calls()
{
	local i before name="a Call that outlives its connection"

	before=$(counters)
	for i in 1 2 3; do
		outlived
	done
	risen "$before"
	expect "$name: connections were closed" "s_disconnects >= 3"
	check "$name: the server takes new ones" timeout 30 mount -t nfs \
		-o "vers=3,proto=$proto,port=$port" "$addr4:$export_dir" /mnt.outlived &&
		umount /mnt.outlived
}

# paged_out MIB: pages out this much memory of a process, and verifies it after a reconnect.
# A first MADV_PAGEOUT writes the pages but leaves them in the swap cache. Reading them back
# and paging them out again frees them without another write.
paged_out()
{
	python3 -B -c '
import mmap, subprocess, sys, time

def kib(path, name):
    return next(int(line.split()[1]) for line in open(path) if line.startswith(name + ":"))

def right():
    return all(area[i << 12:(i + 1) << 12] == page for i, page in enumerate(pages))

def send_out():
    area.madvise(21)                    # MADV_PAGEOUT
    while kib("/proc/meminfo", "Writeback"):
        time.sleep(0.05)

size = int(sys.argv[1]) << 20
pages = [i.to_bytes(8, "big") * 512 for i in range(size >> 12)]
area = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area[:] = b"".join(pages)
send_out()
assert right(), "other bytes in memory"
send_out()
gone = kib("/proc/self/status", "VmSwap") - kib("/proc/meminfo", "SwapCached")
assert gone << 10 > size // 2, f"only {gone} KiB were swapped out"
subprocess.run(sys.argv[2:], check=True)
assert right(), "other bytes are read back"
' "$1" "$VM_TOP/scripts/vm/nfs-cases.sh" lose-device "$proto"
}

# Uses a file on the mount as a swap area.
swaps()
{
	local before file=/mnt/swap

	before=$(counters)
	dd if=/dev/zero of="$file" bs=1M count=48 conv=fsync status=none
	chmod 600 "$file"
	mkswap "$file" >/dev/null
	check "swap: swapon" swapon "$file" || return
	check "swap: pages are written, and read back after the device was removed" paged_out 16
	check "swap: swapoff" swapoff "$file"
	risen "$before"
	[ "$proto" != rdma2 ] || expect "swap: on another connection" "c_connects == 1"
	rm -f "$file"
}

step_lose-device()
{
	device_again
}

group_inuse()
{
	local client=rpcrdma server=rpcrdma m

	[ "$proto" = rdma2 ] && client=xprtrdma2 server=svcrdma2
	nfs_up "$proto" && mount_nfs "$proto" 4.2 /mnt "$common" ||
		{ fail "mount"; return; }
	for m in "$client" "$server"; do
		if rmmod "$m" 2>/tmp/said; then
			fail "unload of $m while mounted is refused"
		elif grep -q 'in use' /tmp/said; then
			ok "unload of $m while mounted fails as \"in use\""
		else
			fail "unload of $m while mounted: $(cat /tmp/said)"
		fi
	done
	dd if=/dev/zero of=/mnt/after bs=64K count=4 status=none
	check "the mount still works" cmp -n 262144 /mnt/after /dev/zero
	[ "$proto" != rdma2 ] || outlived_calls
	swaps
}

# busy SECONDS [WORKERS]: starts a load in the background; end_busy checks its result
busy()
{
	"$load_sh" /mnt "$export_dir" "$1" "${2:-1}" >/tmp/load 2>&1 &
	load=$!
	at_work
}

# end_busy NAME [WHOSE]: the case that the load has verified all data; WHOSE completes its
# name
end_busy()
{
	has_verified "$1: all data${2:-}" "$load" /tmp/load
}

# under_load NAME NUMBER EXPRESSION ENDED-AT-THE-SERVER ENDED-AT-THE-CLIENT COMMAND...: runs
# the command NUMBER times under load. Each time has to cost one connection; the expression
# is about the reasons for all of these ends (see losses). The views have to show the given
# reasons for one of them; '' means that the client may see either of two reasons.
under_load()
{
	local name=$1 before

	before=$(counters)
	busy 600
	losses "$name" "$2" "c_connects == times && $3" "${@:6}"
	kill "$load"
	end_busy "$name"
	ended_for "$name, server" "$server_view" "$4"
	[ -z "$5" ] || ended_for "$name, client" "$client_view" "$5"
	check "$name: umount" umount_all
}

# Both ends are on the device. The one that is notified first may disconnect, and the other
# one then has its peer as the reason.
removals="c_ended_DEVICE + c_ended_PEER == times && s_ended_DEVICE + s_ended_PEER == times"
removals+=" && c_ended_DEVICE + s_ended_DEVICE >= times"
restarts="s_ended_ENDED == times && c_ended_PEER == times"

group_unplug()
{
	local v

	nfs_up "$proto" || { fail "server"; return; }
	for v in 4.2 3; do
		mount_nfs "$proto" "$v" /mnt "$common" || { fail "mount"; return; }
		under_load "NFSv$v, rdma link del under load" 3 "$removals" \
			"device removed" '' outage device_down device_up
		device_removed "NFSv$v, rdma link del under load"
	done
}

group_restart()
{
	nfs_up "$proto" || { fail "server"; return; }
	mount_nfs "$proto" 3 /mnt "$common" || { fail "mount"; return; }
	under_load "NFSv3, nfsd stopped and started under load" 4 "$restarts" \
		"ended by its owner" peer lose_server
	mount_nfs "$proto" 4.2 /mnt "$common" || { fail "mount"; return; }
	under_load "NFSv4.2, nfsd stopped and started under load" 2 "$restarts" \
		"ended by its owner" peer server_restart "$proto"
	[ "$proto" != rdma2 ] || never_accepted
}

# disconnects SIDE NUMBER: injects disconnects with sunrpc's fault injection, one at a time;
# the next RPC triggers each. A disconnect waits until the current connection has brought a
# Reply, because connections that end at their first Call are another test (storms). Prints the
# number of disconnects before the end of the load. One process does it, because starting sleep
# processes beside a load would double the time.
disconnects()
{
	local dir=/sys/kernel/debug/fail_sunrpc

	settings "$dir" ignore-cache-wait=1 ignore-client-disconnect=1 \
		ignore-server-disconnect=1 "ignore-$1-disconnect=0" verbose=0 probability=100
	python3 -IS -c '
import os, sys, time

def works():
    return os.path.exists("/proc/" + sys.argv[3])

def counters():
    with open("/sys/kernel/debug/xprtrdma2/counters") as opened:
        now = dict(line.split() for line in opened)
    return now["connects"], now["replies"]

taken = 0
while taken < int(sys.argv[2]) and works():
    now, before = counters(), (0, 0)
    while works() and (now[0] != before[0] or now[1] == before[1]):
        before = now
        time.sleep(0.1)
        now = counters()
    with open(sys.argv[1], "w") as opened:
        opened.write("1\n")
    left = 1
    while left > 0 and works():
        time.sleep(0.1)
        with open(sys.argv[1]) as opened:
            left = int(opened.read())
    taken += left == 0
print(taken)' "$dir/times" "$2" "$load"
	settings "$dir" probability=0 times=0
}

group_disconnect()
{
	local side name number=50 before

	can_fail /sys/kernel/debug/fail_sunrpc disconnects || return
	nfs_up "$proto" || { fail "server"; return; }
	mount_nfs "$proto" 4.2 /mnt "$common" || { fail "mount"; return; }
	for side in client server; do
		name="the $side disconnects $number times"
		before=$(counters)
		busy 1100
		disconnected "$side" "$number" 25
		kill "$load"
		end_busy "$name"
		case $side in
		client)	ended_for "$name, client" "$client_view" "fault injection"
			ended_for "$name, server" "$server_view" peer ;;
		server)	ended_for "$name, client" "$client_view" peer
			ended_for "$name, server" "$server_view" "ended by its owner" ;;
		esac
	done
}

# In-tree rpcrdma and rdma2 in a kernel that has a transport ident for each. rpcrdma is
# loaded first, so that lookups for rdma2 pass its classes.
group_both()
{
	local file=/proc/sys/sunrpc/svc_rdma/rdma_stat_read reads

	load_modules rdma && nfs_up rdma2 && listen_on rdma 20050 ||
		{ fail "server"; return; }
	ok "rpcrdma and xprtrdma2 in one kernel"
	check "in-tree mount beside rdma2" mount -t nfs -o \
		"vers=3,proto=rdma,port=20050,rsize=262144,wsize=262144" \
		"$addr4:$export_dir" /mnt || return
	mkdir -p /mnt2
	check "rdma2 mount beside in-tree" mount_nfs rdma2 4.2 /mnt2 || return
	check "mountstats of in-tree" figures /mnt
	check "mountstats of rdma2, in the same format" figures /mnt2
	reads=$(<"$file")
	measure dd if=/dev/urandom of=/mnt/a bs=1M count=8 conv=fsync
	rose[s_intree_read]=$(($(<"$file") - reads))
	expect "the in-tree mount uses rpcrdma alone" \
		"s_intree_read >= 8 && c_registrations == 0 && s_read_chunks == 0"
	reads=$(<"$file")
	measure dd if=/dev/urandom of=/mnt2/b bs=1M count=8 conv=fsync
	rose[s_intree_read]=$(($(<"$file") - reads))
	expect "the rdma2 mount uses xprtrdma2 and svcrdma2 alone" \
		"s_intree_read == 0 && c_registrations >= 8 && s_read_chunks >= 8"
	echo 3 >/proc/sys/vm/drop_caches
	check "rdma2 reads the data of in-tree" cmp /mnt2/a "$export_dir/a"
	check "in-tree reads the data of rdma2" cmp /mnt/b "$export_dir/b"
	check "umount" umount_all
}

# second_processor 0|1: stops or starts it
second_processor()
{
	echo "$1" >/sys/devices/system/cpu/cpu1/online || fail "the second processor: $1"
}

# On a kernel without an ident for rdma2, rdma2 takes the place of rpcrdma. The guest boots with
# one of its two processors, see nfs-test.sh.
group_exclusive()
{
	modprobe rpcrdma || { fail "rpcrdma"; return; }
	log_of modprobe xprtrdma2 &&
		fail "xprtrdma2 loads although rpcrdma is loaded"
	reads "the place of rpcrdma" "On an unmodified kernel"
	# The kernel also logs a line about any out-of-tree module.
	[ "$(dmesg | grep xprtrdma2 | grep -vc taint)" -eq 1 ] &&
		ok "xprtrdma2 beside rpcrdma: refused, and one line has the reason" ||
		fail "xprtrdma2 beside rpcrdma: $(dmesg | grep xprtrdma2)"
	rmmod rpcrdma
	check "xprtrdma2 loads after rpcrdma is unloaded" modprobe xprtrdma2
	nfs_up rdma2 || { fail "server"; return; }
	netids
	second_processor 1
	check "nconnect=8: mount" mount_nfs rdma2 4.2 /mnt nconnect=8 &&
		check "nconnect=8: files" touch /mnt/{1..16} &&
		vectors_spread "nconnect=8"
	second_processor 0
}

# mount_both VERSION: mounts with rdma2 on /mnt and with in-tree rpcrdma on /mnt2, there
# with smaller READs and WRITEs (see common)
mount_both()
{
	nfs_identity rdma2
	mount_nfs rdma2 "$1" /mnt || return
	nfs_identity predecessor
	mount_nfs rdma "$1" /mnt2 rsize=262144,wsize=262144
}

# Load from both kinds of client at once
both_versions()
{
	local v=$1 old new

	mkdir -m 777 "$export_dir/old" "$export_dir/new"
	mount_both "$v" || { fail "NFSv$v: mounts"; return; }
	check "NFSv$v: both mounts have their version" eval \
		"grep -q ' /mnt .*proto=rdma2,' /proc/mounts &&
		grep -q ' /mnt2 .*proto=rdma,' /proc/mounts"
	"$load_sh" /mnt2/old "$export_dir/old" 10 1 >/tmp/old 2>&1 &
	old=$!
	"$load_sh" /mnt/new "$export_dir/new" 10 1 >/tmp/new 2>&1 &
	new=$!
	has_verified "NFSv$v: version 1 on a listener with version 2" "$old" /tmp/old
	has_verified "NFSv$v: version 2 on a listener with version 1" "$new" /tmp/new
	check "NFSv$v: umount" umount_all
	rm -rf "${export_dir:?}"/*
}

# In-tree's client against svcrdma2, alone and beside rdma2's client. rpcrdma is loaded
# last: its backchannel class has no list of netids, not even an empty one, and a lookup
# that passes this class reads garbage.
group_versions()
{
	local v

	nfs_up rdma2 && modprobe rpcrdma || { fail "server"; return; }
	common=rsize=262144,wsize=262144
	for v in ${VERSIONS:-3 4.0 4.1 4.2}; do
		exercise "NFSv$v, version 1" rdma "$v"
	done
	both_versions 3
	both_versions 4.2
	rmmod rpcrdma
}

# Two groups in one guest, because a boot takes long under emulation
group_stock()
{
	group_exclusive
	finish
	group_files
}

set_parameter()
{
	echo "$2" >"/sys/module/svcrdma2/parameters/$1"
}

# backward_level LEVEL: sets the module parameter at both ends, for new connections
backward_level()
{
	local end

	for end in xprtrdma2 svcrdma2; do
		echo "$1" >"/sys/module/$end/parameters/backward" || return
	done
}

for part in direct negotiate size change grant device callback echo chunk called window \
		kerberos kill name move view tool adapter hostile limit crowd storm fault loss \
		conformance fuzz lock; do
	# shellcheck source=/dev/null
	. "$(dirname "$0")/$part-cases.sh" || exit 2
done

run_group "$group"
