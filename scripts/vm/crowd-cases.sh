# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: many hostile connections at once (the tester's crowd.py), and their
# effects on a mount beside them, on the server's memory, and on its shutdown.

crowd_size=64
crowd_py=(python3 -m rpcrdma2_test.crowd)
transfers=/sys/kernel/debug/svcrdma2/transfers

# crowd_up [NUMBER [MANNER]]: starts hostile connections and waits until all are established
crowd_up()
{
	local n=${1:-$crowd_size}

	: >/tmp/crowd		# not the output of the last crowd
	"${crowd_py[@]}" "$addr4" "$port" "$n" ${2:+"$2"} >/tmp/crowd 2>&1 &
	crowd=$!
	await eval "grep -qx ready /tmp/crowd || have_ended $crowd"
	grep -qx ready /tmp/crowd && ok "$n hostile connections${2:+ that $2}" && return
	fail "hostile connections: $(cat /tmp/crowd)"
	return 1
}

# The program ends by itself only if it has failed.
crowd_down()
{
	kill "$crowd"
	wait "$crowd" || fail "the hostile connections' program: $(tail -n 1 /tmp/crowd)"
	sed 's/^/# /' /tmp/crowd
	cat /tmp/crowd >>/tmp/crowds
}

# crowd_total MANNER KEY: prints the total of all crowds so far
crowd_total()
{
	tr ' ' '\n' < <(grep "^$1 " /tmp/crowds) |
		sed -n "s/^$2=//p" | awk '{ n += $1 } END { print n + 0 }'
}

# crowd_operations FOLDER GETATTRS WRITES: sends as many GETATTRs, and WRITEs of 1 MiB
crowd_operations()
{
	perl -MFcntl=:DEFAULT,O_DIRECT -e '
		my ($dir, $getattrs, $writes) = @ARGV;
		my $bytes = pack("N*", 1 .. 262144);
		for (1 .. $getattrs) {
			stat("$dir/.") or die $!;
		}
		exit if !$writes;
		sysopen(my $file, "$dir/beside", O_WRONLY | O_CREAT | O_DIRECT) or die $!;
		for (1 .. $writes) {
			sysseek($file, 0, 0);
			syswrite($file, $bytes) == length($bytes) or die $!;
		}' "$@"
}

# turns ADDRESS: looks in the trace for the Calls of this client. An RPC begins when its
# connection is queued for a thread, and a WRITE is queued again when its RDMA Reads are
# done. Prints the number of Replies to other RPCs, and the most work items of other
# connections that threads took between the beginning of one and its Reply; the number of
# Replies to WRITEs, and the most work items of others while one was queued; and the longest
# time of an RPC, in ms.
turns()
{
	awk -v client=" client=$1:" '
		!index($0, client) { others += /: svc_xprt_dequeue:/; next }
		{ match($0, /[0-9]+\.[0-9]+: svc_/); time = substr($0, RSTART) + 0 }
		/: svc_xprt_enqueue:.*DATA/ && !/BUSY/ && !queued {
			queued = 1
			before = others
			if (!begun) { begun = time; first = others; steps = ahead = 0 }
		}
		/: svc_xprt_dequeue:/ && queued {
			queued = 0
			steps++
			if (others - before > ahead) ahead = others - before
		}
		/: svc_send:/ && begun {
			kind = steps > 1
			n = kind ? ahead : others - first
			replies[kind]++
			if (n > most[kind]) most[kind] = n
			if (time - begun > longest) longest = time - begun
			begun = queued = 0
		}
		END { print replies[0] + 0, most[0] + 0, replies[1] + 0, most[1] + 0,
			int(longest * 1000) }' /sys/kernel/tracing/trace
}

# served NAME ADDRESS OTHERS COMMAND...: cases that the RPCs of a mount from this address take
# their turn beside OTHERS connections and listeners, while the command uses the mount. The RPC
# layer queues each connection once: a Call waits for one work item of each, and its Reply for
# what the other threads begin meanwhile. Time is compared on the guest's clock, for which only
# waits count.
served()
{
	local at=/sys/kernel/tracing event lost gets between puts ahead longest
	local events=(svc_xprt_enqueue svc_xprt_dequeue svc_send)

	echo >$at/trace
	for event in "${events[@]}"; do
		echo 1 >"$at/events/sunrpc/$event/enable"
	done
	"${@:4}" || fail "a mount $1"
	for event in "${events[@]}"; do
		echo 0 >"$at/events/sunrpc/$event/enable"
	done
	lost=$(awk '/^overrun:/ { n += $2 } END { print n }' $at/per_cpu/cpu*/stats)
	[ "$lost" -eq 0 ] || fail "the trace has lost $lost events"
	read -r gets between puts ahead longest < <(turns "$2")
	[ "$gets" -ge 100 ] && [ "$between" -le $(($3 + nfsd_threads)) ] &&
		ok "GETATTR $1: $gets Replies, each after at most $between others" ||
		fail "GETATTR $1: $gets Replies, one after $between others"
	[ "$puts" -ge 20 ] && [ "$ahead" -le "$3" ] &&
		ok "WRITE of 1 MiB $1: $puts Replies, each step after at most $ahead others" ||
		fail "WRITE of 1 MiB $1: $puts Replies, a step after $ahead others"
	[ "$VM_CLOCK" != guest ] || bounded "the longest RPC $1: $longest ms of the guest" \
		"$longest" 0 999
}

# transfers_of WORD...: prints the number that follows these words in the server's transfers
transfers_of()
{
	sed -n "s/^$* \([0-9]*\).*/\1/p" $transfers
}

# available: prints the KiB that the kernel could give to programs
available()
{
	awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo
}

# crowd_did MANNER KEY LEAST NONE NAME: checks two totals, the second one for 0; N in the name
# is the first one
crowd_did()
{
	local n

	n=$(crowd_total "$1" "$2")
	[ "$n" -ge "$3" ] && [ "$(crowd_total "$1" "$4")" -eq 0 ] && ok "${5/ N / $n }" ||
		fail "$5: $(grep "^$1 " /tmp/crowds | tr '\n' ' ')"
}

# Checks that each manner of hostile connection has happened.
crowd_happened()
{
	local each=$((crowd_size / 5))

	crowd_did withhold taken $((9 * 2 * crowd_size / 5)) replies \
		"withheld: N Calls, no RDMA Read answered"
	crowd_did slow replies $each - "slow: N Receives, one in 19 s"
	crowd_did chunks replies $((20 * crowd_size / 5)) - "chunk lists: N Calls answered"
	crowd_did mute up $((2 * each)) calls "mute: N connections without a message"
	crowd_did rnr taken $((8 * 2 * each)) replies "RNR: N Calls, no Receive for a Reply"
}

# The transfers of one address take at most half of the memory, and those of the mount one
# WRITE. The memory of the peers counts too, with their queue pairs, because they run in the
# same kernel.
crowd_memory()
{
	local most peak kib each=1536

	# plus a sanitizer's overhead: 1640 KiB were measured
	[[ $VM_KERNEL != uml-debug && $VM_KERNEL != uml-smp ]] || each=2048

	most=$(transfers_of most) peak=$(transfers_of peak)
	kib=$((mem_before - mem_least))
	bounded "S46 payload: $((peak >> 10)) KiB at most, of $((most >> 11)) KiB for an address" \
		"$peak" $((most / 8 + 1)) $((most / 2 + (2 << 20)))
	bounded "memory: $kib KiB less during the connections" "$kib" 0 \
		$(((most >> 11) + crowd_size * each))
}

# while_crowded FOLDER SECONDS: uses a mount for so long, and measures the minimum of available
# memory meanwhile
while_crowded()
{
	local free now end

	uptime
	end=$((now + 100 * $2))
	while uptime && [ "$now" -lt "$end" ]; do
		crowd_operations "$1" 5 1 || return
		free=$(available)
		[ "$free" -ge "$mem_least" ] || mem_least=$free
		pause 0.3
	done
}

crowd_ends_service()
{
	local before begin took n

	kill -USR1 "$crowd"
	sleep 1
	n=$(grep -c ' state=up ' "$server_view")
	[ "$n" -ge $((crowd_size / 2)) ] ||
		fail "nfsd stops: only $n connections are up"
	begin=$SECONDS before=$(counters)
	rpc.nfsd 0
	took=$((SECONDS - begin))
	bounded "nfsd stops with $n connections (in $took s)" "$took" 0 $((30 * patience - 1))
	ended_for "nfsd stops with $n connections" "$server_view" \
		"ended by its owner"
}

# has_bytes LEAST MOST: checks the payload that counts for the hostile address
has_bytes()
{
	local bytes

	bytes=$(sed -n "s/^address $addr4 .* bytes //p" $transfers)
	[ "${bytes:-0}" -ge "$1" ] && [ "${bytes:-0}" -le "$2" ]
}

# holds NAME LEAST MOST: checks that the payload reaches these bounds, in MiB, and is within
# them a second later. A Call counts one page more than its payload. MOST is 0 after the end
# of connections: the server then returns their payload at once, and not only when their
# chains are too old (SVC2_CHAIN_TIMEOUT, 20 s).
holds()
{
	local least=$(($2 << 20)) most=$((($3 << 20) + 65536)) soon=(await)

	[ "$3" -gt 0 ] || soon=(happens_in 5)
	"${soon[@]}" has_bytes "$least" "$most"
	sleep 1
	has_bytes "$least" "$most" &&
		ok "$1 ($(sed -n "s/^address $addr4 .* bytes //p" $transfers) bytes)" ||
		fail "$1: not $2 to $3 MiB: $(tr '\n' ' ' <$transfers)"
}

# write_to FOLDER SIZE: succeeds if a WRITE ends within 5 s
write_to()
{
	timeout 5 dd if=/dev/zero of="$1/written" bs="$2" count=1 oflag=direct status=none
}

# 16 MiB for all connections allow 8 for an address and 4 for a connection.
bounds_payload()
{
	local before

	set_parameter transfer_memory 16384
	before=$(counters)
	crowd_up 1 withhold || return
	holds "S46 one connection holds a quarter of the memory" 3 4
	crowd_down
	holds "it holds no memory after its end" 0 0
	crowd_up 12 withhold || return
	holds "S46 twelve of an address hold half of it" 6 8
	check "WRITE of 1 MiB from another address" write_to /mnt2 1M
	check "WRITE of 64 KiB from the same address" write_to /mnt 64K
	risen "$before"
	expect "Calls waited" "s_transfer_waits >= 20 && s_stalls == 0"
	set_parameter transfer_memory 0
	holds "with more memory they continue" 56 64
	crowd_down

	set_parameter transfer_memory 16384
	head -c 1048576 /dev/urandom >"$export_dir/hoard"
	crowd_up 1 hoard || return
	holds "S46 Replies that the client does not take: a quarter of the memory" 3 4
	check "READ of 1 MiB from another address" cmp "$export_dir/hoard" /mnt2/hoard
	crowd_down
	holds "all memory is free again" 0 0
	set_parameter transfer_memory 0
}

# Twice as many connections as nfsd threads, each with more READs than its Send Queue takes
# Replies: no connection occupies a thread.
bounds_threads()
{
	local before i

	set_parameter transfer_memory $((2 << 20))
	before=$(counters)
	crowd_up $((2 * nfsd_threads)) hoard || return
	await has_risen s_sq_waits -ge "$nfsd_threads"
	for i in 1 2 3; do
		check "S46 GETATTR from another address, with full Send Queues" \
			stat -t /mnt2/.
	done
	risen "$before"
	expect "READs beyond the Send Queue wait, and occupy no thread" \
		"s_sq_waits >= $nfsd_threads && s_overdue == 0 && s_stalls == 0 && s_disconnects == 0"
	crowd_down
	holds "their memory is free again" 0 0
	set_parameter transfer_memory 0
}

# READs wait for mountd; a Call that holds counted pages is not deferred. The RPC layer ends
# the wait, and the client sends the READs again. The files are open in advance, and after a
# load there are credits enough, so that the READs are sent at once.
bounds_upcall()
{
	local before i fds=() run=() said=same

	for i in $(seq 0 11); do
		head -c 1048576 /dev/urandom >"$export_dir/late$i"
		# shellcheck disable=SC1083,SC2093 # a descriptor for the shell
		exec {fds[i]}<"/mnt/late$i"
	done
	deep /mnt
	before=$(counters)
	pkill -STOP rpc.mountd
	exportfs -f
	for i in "${!fds[@]}"; do
		cmp <(timeout 60 dd bs=1M iflag=direct status=none <&"${fds[i]}") \
			"$export_dir/late$i" &
		run+=($!)
	done
	await has_bytes $((4 << 20)) $((16 << 20)) &&
		ok "READs wait for mountd, and hold pages" ||
		fail "READs wait for mountd: $(tr '\n' ' ' <$transfers)"
	happens_in 20 has_bytes 0 0 &&
		ok "S46 READs hold pages for a limited time while mountd does not reply" ||
		fail "READs that wait for mountd: $(tr '\n' ' ' <$transfers)"
	pkill -CONT rpc.mountd
	for i in "${run[@]}"; do
		wait "$i" || said=other
	done
	check "they get their data when mountd replies" [ $said = same ]
	for i in "${fds[@]}"; do
		exec {i}<&-
	done
	risen "$before"
	expect "no thread has waited for a peer" "s_stalls == 0 && s_overdue == 0"
	holds "their memory is free again" 0 0
}

# 64 connections that do not take their Replies to READs of 1 MiB stay within the limit of
# their address.
bounds_replies()
{
	local before crowd mem mem_least

	set_parameter transfer_memory 16384
	mem=$(available) mem_least=$mem
	before=$(counters)
	crowd_up "$crowd_size" hoard || return
	holds "S46 Replies that $crowd_size connections do not take: half of the memory" 6 8
	served "beside them" "[$addr6]" $((crowd_size + 2)) while_crowded /mnt2 8
	holds "the memory in use does not grow" 6 8
	echo "# $((mem - mem_least)) KiB less memory, the peers' queue pairs among it"
	crowd_down
	risen "$before"
	expect "Calls waited before their execution" \
		"s_transfer_waits >= $((crowd_size * 8)) && s_stalls == 0"
	holds "their memory is free again" 0 0
	set_parameter transfer_memory 0
}

# send_memory: prints the memory of the send contexts on this end's connection
send_memory()
{
	sed -n "s/^peer=$addr4:.* state=up .* send_memory=\([0-9]*\).*/\1/p" \
		/proc/net/rpc/svcrdma2 | head -n 1
}

# lingers: succeeds if at most an unsignaled batch of Sends and a few contexts remain
lingers()
{
	stat -t /mnt >/dev/null
	[ "$(send_memory)" -le $((32 * 6000)) ]
}

bounds_contexts()
{
	local before most first

	first=$(send_memory)
	before=$(counters)
	deep /mnt
	most=$(send_memory)
	bounded "a burst: send contexts have $most bytes, $first before" "$most" \
		$((40 * 5000)) $((100 * 6000 + 64 * 4096))
	happens_in 20 lingers &&
		ok "$(send_memory) after the burst" ||
		fail "still $(send_memory) bytes of send contexts after the burst"
	risen "$before"
	expect "send contexts were freed" "s_contexts_trimmed >= 20"
	measure deep /mnt
	expect "the next burst allocates its own" "s_calls > 1000 && s_disconnects == 0"
}

# flooded MANNER OPERATION: two connections of another address keep all their credits in use
# with this operation; none of the mount's waits for more than a turn of each
flooded()
{
	local crowd before

	before=$(counters)
	crowd_up 2 "$1" || return
	served "with two floods of $2" "[$addr6]" 2 crowd_operations /mnt 100 20
	# of the floods, and some hundred of the mount
	await has_risen s_replies -ge 2500
	crowd_down
	[ "$(crowd_total "$1" most)" -ge 48 ] && [ "$(crowd_total "$1" replies)" -ge 2000 ] &&
		ok "$(crowd_total "$1" replies) of $2, $(crowd_total "$1" most) at a time" ||
		fail "no flood of $2: $(grep "^$1 " /tmp/crowds)"
}

# crowds_up: a server for hostile connections, and room for the trace, which is then no
# memory of theirs
crowds_up()
{
	nfs_up rdma2 || { fail "server"; return 1; }
	: >/tmp/crowds
	modprobe -qa ib_uverbs rdma_ucm
	echo 16384 >/sys/kernel/tracing/buffer_size_kb
}

# beside_mount: and a mount of another address than theirs
beside_mount()
{
	crowds_up || return
	mount_nfs rdma26 4.2 /mnt noac || { fail "mount"; return 1; }
}

group_flood()
{
	beside_mount || return
	head -c 1048576 /dev/urandom >"$export_dir/hoard"
	flooded flood NULL
	flooded drain READ
	check "the mount's data are correct" \
		cmp /mnt/beside <(perl -e 'print pack("N*", 1 .. 262144)')
}

# has_connections NUMBER: checks the connections of all addresses
has_connections()
{
	[ "$(transfers_of connections)" -eq "$1" ]
}

# Four peers that never confirm their connections, during the next cases
half_up()
{
	await has_connections 2 ||
		fail "more than those of the mounts: $(cat $transfers)"
	"${crowd_py[@]}" "$addr4" "$port" 4 half >/tmp/half 2>&1 &
	half=$!
	await has_connections 6 &&
		ok "four connections that are not confirmed" ||
		fail "four connections: $(cat /tmp/half $transfers)"
}

# The server closes the connection after 30 s (SVC2_ESTABLISH_TIMEOUT), although the CM of
# the peers' kernel has requested more time.
half_down()
{
	local before

	before=$(counters)
	happens_in 40 has_connections 2 &&
		ok "S46 a connection that is not confirmed ends" ||
		fail "connections that are not confirmed: $(cat $transfers)"
	ended_for "S46 and that" "$server_view" unreachable
	kill "$half"
	wait "$half" || fail "the peers' program: $(tail -n 1 /tmp/half)"
}

# Prints the connection requests that all devices have received.
connection_requests()
{
	awk '{ n += $1 } END { print n }' /sys/class/infiniband/*/ports/1/cm_rx_msgs/req
}

# nfsd can listen before it has a thread. A connection request that arrives in this state is
# never accepted, and the end of the listener rejects it.
never_accepted()
{
	local name="a connection that no thread accepts" before requests crowd

	modprobe -qa ib_uverbs rdma_ucm
	rpc.nfsd 0
	listen_on "$proto"
	before=$(counters)
	requests=$(connection_requests)
	"${crowd_py[@]}" "$addr4" "$port" 1 mute >/tmp/crowds 2>&1 &
	crowd=$!
	await eval "[ \$(connection_requests) -gt $requests ]" || fail "$name: $(cat /tmp/crowds)"
	# The peer makes no further attempt.
	kill -USR1 "$crowd"
	rpc.nfsd 0
	await has_risen s_accept_failures -eq 1
	risen "$before"
	expect "$name ends when the listener does" "s_accept_failures == 1 && s_accepts == 0"
	# The peer has its answer: a signal before that would end it without a count.
	await grep -qx ready /tmp/crowds || fail "$name: its peer gets no answer"
	kill "$crowd"
	wait "$crowd" || fail "$name: $(tail -n 1 /tmp/crowds)"
	check "$name: its peer gets a reject" [ "$(crowd_total mute refused)" -ge 1 ]
	rpc.nfsd "$nfsd_threads"
	listen_on "$proto"
}

bounds_up()
{
	crowds_up || return
	mkdir -p /mnt2
	mount_nfs rdma2 3 /mnt noac,nolock && mount_nfs rdma26 3 /mnt2 noac,nolock ||
		{ fail "mount"; return 1; }
}

group_bounds()
{
	local crowd half

	bounds_up || return
	bounds_payload
	half_up
	bounds_replies
	half_down
	bounds_threads
	bounds_upcall
	bounds_contexts
}

# The cases of the group bounds that are not about turns
group_bounds-payload()
{
	local crowd half

	bounds_up || return
	half_up
	half_down
	bounds_payload
	bounds_upcall
}

group_crowd()
{
	local before crowd mem_before mem_least

	beside_mount || return
	# The interpreter of the program is no memory of a connection.
	crowd_up 0 >/tmp/up || { cat /tmp/up; return; }
	mem_before=$(available) mem_least=$mem_before
	crowd_down
	before=$(counters)
	crowd_up || return
	served "with $crowd_size hostile connections" "[$addr6]" $((crowd_size + 1)) \
		while_crowded /mnt 23
	cat $transfers | sed 's/^/# /'
	crowd_down
	ended_for "hostile connections" "$server_view" peer
	risen "$before"
	echo "# waits: ${rose[s_transfer_waits]:-0} for pages, ${rose[s_sq_waits]} for Send Queue entries; ${rose[s_stalls]} stalls, ${rose[s_overdue]} overdue"
	crowd_up || return
	while_crowded /mnt 5 || fail "a mount beside the second crowd"
	crowd_ends_service
	crowd_down
	nfsd_up
	check "the mount's data are correct" \
		cmp /mnt/beside <(perl -e 'print pack("N*", 1 .. 262144)')
	crowd_happened
	crowd_memory
}
