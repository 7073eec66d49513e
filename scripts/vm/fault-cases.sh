# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after storm-cases.sh: random allocation failures in each state of
# a connection, by the kernel's fault injection, limited to the modules
# (faults/rpcrdma2_scope.c).

debug=/sys/kernel/debug
faulty="$debug/failslab $debug/fail_page_alloc"
# Each injected failure decrements these counts.
fault_times=1000000000

# The functions in which allocations fail in each state, as MODULE:NAME. The negotiation
# with a server of version 2 allocates no memory.
declare -A states=(
	[connecting]="xprtrdma2:xprt2_ep_alloc xprtrdma2:xprt2_ep_resolve
		xprtrdma2:xprt2_ep_create_queues
		xprtrdma2:xprt2_ep_reach xprtrdma2:xprt2_cm_handler
		svcrdma2:svc2_listen_event svcrdma2:svc2_accept"
	[in-flight]="xprtrdma2:xprt2_alloc_slot xprtrdma2:xprt2_buf_alloc
		xprtrdma2:xprt2_send_request xprtrdma2:xprt2_received
		rpcrdma2:rpcrdma2_regions_grow
		svcrdma2:svc2_recvfrom svcrdma2:svc2_sendto"
	[closing]="xprtrdma2:xprt2_close xprtrdma2:xprt2_ep_disconnect
		xprtrdma2:xprt2_inject_disconnect
		svcrdma2:svc2_detach svcrdma2:svc2_free"
)

# aim FUNCTION...: limits the failures to these functions; "all" selects every function, no
# argument selects none
aim()
{
	local f where=''

	for f in "$@"; do
		[ "$f" = all ] || f=$(awk -v name="${f#*:}" -v module="[${f%:*}]" '
			$3 == name && $4 == module { print $1 }' /proc/kallsyms)
		[ -n "$f" ] || { fail "there is no function $f in $*"; return 1; }
		where+=" $f"
	done
	echo "$where" >"$debug/rpcrdma2_aim"
}

# short PERCENT: the share of allocations that fail: 0.1, a whole number, or 0 for none
short()
{
	local dir percent=$1 interval=1

	[ "$percent" != 0.1 ] || percent=1 interval=10
	for dir in $faulty; do
		settings "$dir" probability=0 task-filter=Y ignore-gfp-wait=N verbose=0 \
			interval=$interval
		[ "$percent" = 0 ] || echo "$fault_times" >"$dir/times"
		[ ! -e "$dir/min-order" ] || echo 0 >"$dir/min-order"
		[ ! -e "$dir/cache-filter" ] || echo N >"$dir/cache-filter"
		echo "$percent" >"$dir/probability"
	done
}

# injected: prints the number of injected failures since short()
injected()
{
	local dir n=0

	for dir in $faulty; do
		n=$((n + fault_times - $(cat "$dir/times")))
	done
	echo "$n"
}

# lose: disconnects at the next RPC of either end
lose()
{
	settings "$debug/fail_sunrpc" ignore-cache-wait=1 ignore-client-disconnect=0 \
		ignore-server-disconnect=0 verbose=0 times=1 probability=100
}

keep()
{
	settings "$debug/fail_sunrpc" probability=0 times=0
}

# goes_on NAME: checks that the load continues after the shortage. A Call whose Reply was
# lost with the connection is repeated only after the mount's timeout.
goes_on()
{
	local before

	before=$(counters)
	happens_in 30 has_risen c_calls -ge 100 || fail "$1: no RPC is answered"
}

# happened STATE BEFORE: checks that the shortage had its effect. An RPC that waits for the
# mount's timeout delays the load, and thereby the disconnects, possibly for longer than the
# shortage lasts.
happened()
{
	[ "$1" != in-flight ] || return 0
	risen "$2"
	case $1 in
	connecting|all)
		[ $((rose[c_connect_failures] + rose[s_accept_failures])) -gt 0 ] ;;
	*)	[ "${rose[c_disconnects]}" -gt 0 ] && [ "${rose[s_disconnects]}" -gt 0 ] ;;
	esac
}

# short_in STATE PERCENT LEAST: injects failures for some seconds, and then until LEAST were
# injected and had their effect, or the load has ended. In the states of connecting and closing
# the connection is lost now and then.
short_in()
{
	local end name="$1, $2 % of the memory" before n=0

	# shellcheck disable=SC2086 # a list of words
	aim ${states[$1]:-$1} || return
	before=$(counters)
	short "$2"
	end=$((SECONDS + short_time))
	while [ "$SECONDS" -lt "$end" ] || [ "$n" -lt "$3" ] || ! happened "$1" "$before"; do
		kill -0 "$load" 2>/dev/null || break
		[ "$1" = in-flight ] || lose
		sleep 0.2
		n=$(injected)
	done
	keep
	short 0
	aim
	n=$(injected)
	goes_on "$name" || return
	risen "$before"
	bounded "$name: $n allocations failed" "$n" "$3"
	case $1 in
	in-flight) expect "$name: on the same connections" \
		"c_connects == 0 && c_calls > 0" ;;
	connecting|all) expect "$name: connections fail, and are established again" \
		"c_connects > 0 && c_connect_failures + s_accept_failures > 0" ;;
	*)	expect "$name: connections end, and are established again" \
		"c_connects > 0 && c_disconnects > 0 && s_disconnects > 0" ;;
	esac
	echo "# $name: $n times, ${rose[c_connects]} connections, ${rose[c_connect_failures]}" \
		"and ${rose[s_accept_failures]} that failed, ${rose[c_disconnects]} ended," \
		"${rose[c_calls]} Calls, ${rose[s_shortages]} steps of the server tried again"
}

# shortages [STATE PERCENT LEAST]...: one mount for all of these
shortages()
{
	nfs_up "$proto" &&
		mount_nfs "$proto" 4.2 /mnt nconnect=4,timeo=100 ||
		{ fail "mount"; return; }
	busy 3000
	while [ $# -gt 0 ] && kill -0 "$load" 2>/dev/null; do
		short_in "$1" "$2" "$3"
		shift 3
	done
	kill "$load"
	end_busy "some allocations fail"
	umount_all
	rm -rf "${export_dir:?}"/*
}

put()
{
	dd if=/run/data of=/mnt/mapped bs="$1" oflag=direct status=none &&
		cmp /run/data "$export_dir/mapped"
}

get()
{
	dd if=/mnt/mapped of=/run/back bs="$1" iflag=direct status=none &&
		cmp /run/data /run/back
}

# unmapped NAME FAULT TIMES EXPRESSION COMMAND...: DMA mappings fail this many times in a
# row; the command then has to succeed on the same connection
unmapped()
{
	local name=$1

	counted with_fault "$2" "$3" check "$name cannot be mapped, $3 times: the data are correct" \
		"${@:5}"
	[ "$(cat "$faults/$2/times")" -eq 0 ] || fail "$name: the fault was not injected"
	expect "$name cannot be mapped, $3 times: mapping is retried" \
		"$4 && c_connects == 0"
}

# has_not_connected: succeeds if a connection could not be established since $before
has_not_connected()
{
	risen_now
	[ $((rose[c_connect_failures] + rose[s_accept_failures])) -gt 0 ]
}

# put_until_not_connected: writes over up to 50 new connections, until one could not be
# established. Each maps some 20 Receives, so random failures of a tenth of them spare few.
put_until_not_connected()
{
	local n

	for ((n = 0; n < 50; n++)); do
		! has_not_connected || return 0
		lose
		put 1M || return
	done
}

# For a while each end lacks some of a connection's Receives.
unmapped_receives()
{
	local name="Receives of a new connection cannot be mapped" before

	before=$(counters)
	fault fail_map_recv 30
	echo 10 >"$faults/fail_map_recv/probability"
	check "$name: the data are correct" put_until_not_connected
	keep
	no_fault fail_map_recv
	risen "$before"
	expect "$name: the connection is established later" \
		"c_connects >= 1 && c_connect_failures + s_accept_failures >= 1"
	echo "# $name: $((30 - $(cat "$faults/fail_map_recv/times"))) times," \
		"${rose[c_connect_failures]} and ${rose[s_accept_failures]} connections failed"
}

mappings()
{
	mount_nfs "$proto" 4.2 /mnt || { fail "mount"; return; }
	head -c 4194304 /dev/urandom >/run/data
	put 1M
	unmapped "a region of a READ" fail_map 20 "c_map_waits == 20" get 1M
	unmapped "a region of a WRITE" fail_map 20 "c_map_waits == 20" put 1M
	unmapped "memory for RDMA Writes" fail_map_rw 20 "s_shortages == 20" get 1M
	unmapped "memory for RDMA Reads" fail_map_rw 20 "s_shortages == 20" put 1M
	unmapped "pages of a Call" fail_map_send 20 "c_map_waits >= 10" put 16K
	unmapped "pages of a Reply" fail_map_send 20 "s_shortages >= 10" get 18K
	unmapped_receives
	umount_all
}

# One of 50 mappings fails, of either end and of the RDMA core, once there is a connection.
group_unmapped()
{
	local name="one of 50 mappings fails" before size

	nfs_up rdma2 || { fail "server"; return; }
	check "$name: mount" mount_nfs rdma2 4.2 /mnt || return
	head -c 4194304 /dev/urandom >/run/data
	before=$(counters)
	echo 50 >/sys/module/rdma_rxe/parameters/dma_fail
	for size in 4K 16K 18K 64K 1M; do
		check "$name: WRITE of $size" put "$size"
		check "$name: READ of $size" get "$size"
	done
	echo 0 >/sys/module/rdma_rxe/parameters/dma_fail
	risen "$before"
	expect "$name: both ends retry, on the same connection" \
		"c_map_waits >= 10 && s_shortages >= 10 && c_connects + s_disconnects == 0"
	finish
	check "$name: device removed" device_down
	check "$name: no page is mapped" eval '! dmesg | grep "pages are mapped"'
}

group_shortage()
{
	local short_time=2

	shortages in-flight 1 20 in-flight 10 50 closing 10 3 \
		connecting 1 5 all 10 10
	mappings
}

# A minute for each state and percentage
group_soak-shortage()
{
	local short_time=60 state percent list=()

	for state in in-flight closing connecting all; do
		for percent in 0.1 1 10; do
			list+=("$state" "$percent" 0)
		done
		list[-1]=10
	done
	shortages "${list[@]}"
}

# told_written PERCENT SECONDS: allocations fail everywhere, in NFS and nfsd too. A WRITE or
# READ may therefore fail, but the data that it reports as written or read must match. Prints
# the numbers of WRITEs and READs, and how many failed.
told_written()
{
	# shellcheck disable=SC2086 # a list of words
	perl -MFcntl -MPOSIX=:sys_wait_h -e '
		use constant { SIZE => 1 << 20, BLOCKS => 8 };
		my ($path, $copy, $times, $percent, $seconds, @dirs) = @ARGV;
		my (@on, @left, @told, %n);
		sub block { pack("Q>", $_[0]) x (SIZE / 8) }
		my @blocks = map { block($_) } 1 .. 2 * BLOCKS;
		my $back = "\0" x SIZE;
		sysopen(my $file, $path, O_RDWR | O_CREAT | O_SYNC | 040000) or die "$path: $!\n";
		for (@dirs) {
			open(my $out, ">", "$_/probability") or die "$_: $!\n";
			push(@on, $out);
			open(my $in, "<", "$_/times") or die "$_: $!\n";
			push(@left, $in);
		}
		sub set { for my $out (@on) { 1 until syswrite($out, "$_[0]\n") } }
		sub injected {
			my ($n, $left) = 0;
			for my $in (@left) {
				sysseek($in, 0, 0);
				1 until sysread($in, $left, 32);
				$n += $times - $left;
			}
			return $n;
		}
		# A READ or WRITE may wait until allocations succeed again, so the child
		# ends the shortage, also when its parent is gone.
		my $parent = $$;
		my $child = fork() // die "fork: $!\n";
		if (!$child) {
			my $end = time + $seconds;
			sleep(1) until getppid() != $parent || time >= $end && injected() >= 10;
			set(0);
			exit;
		}
		set($percent);
		for (my $i = 0; !waitpid($child, WNOHANG); $i++) {
			my ($at, $what) = ($i % BLOCKS, $i % (2 * BLOCKS));
			sysseek($file, $at * SIZE, 0);
			my $got = syswrite($file, $blocks[$what]);
			$n{writes}++;
			# A failed WRITE may have changed the file.
			$told[$at] = defined($got) && $got == SIZE ? $what : undef;
			$n{unwritten}++ unless defined $told[$at];
			sysseek($file, $at * SIZE, 0);
			$got = sysread($file, $back, SIZE);
			$n{reads}++;
			$n{unread}++ unless defined($got) && $got == SIZE;
			$n{wrong}++ if defined($got) && $got == SIZE &&
				defined $told[$at] && $back ne $blocks[$what];
		}
		close($file);
		for my $name ($path, $copy) {
			open(my $in, "<:raw", $name) or die "$name: $!\n";
			for my $at (0 .. BLOCKS - 1) {
				sysseek($in, $at * SIZE, 0);
				my $got = sysread($in, $back, SIZE);
				$n{wrong}++ if defined $told[$at] && $back ne $blocks[$told[$at]];
			}
		}
		printf("%d %d %d %d %d\n", map { $_ // 0 } @n{qw(writes unwritten reads unread wrong)});
	' /mnt/told "$export_dir/told" "$fault_times" "$@" $faulty
}

# everything LABEL PERCENT SECONDS: one case of allocation failures everywhere
everything()
{
	local name="$1, $2 % of all memory" n dir percent=$2 writes unwritten reads unread wrong

	short 0
	for dir in $faulty; do
		settings "$dir" task-filter=N times="$fault_times"
		[ "$2" != 0.1 ] || echo 10 >"$dir/interval"
	done
	[ "$2" != 0.1 ] || percent=1
	read -r writes unwritten reads unread wrong < <(told_written "$percent" "$3")
	short 0
	n=$(injected)
	bounded "$name: $n allocations failed" "$n" 10
	# With a higher percentage all WRITEs may fail.
	[ "$2" = 1 ] || [ "${unwritten:-1}" -lt "${writes:-0}" ] ||
		fail "$name: no WRITE succeeds"
	[ "${writes:-0}" -gt 0 ] && [ "$wrong" -eq 0 ] &&
		ok "$name: the data match the results ($writes WRITEs, $unwritten failed; $reads READs, $unread failed)" ||
		fail "$name: ${wrong:-no} blocks differ from the results"
}

# Soft-iWARP, because a failed packet allocation leaves the CM's queue pair of soft-RoCE in
# the error state.
group_soak-everything()
{
	local v percent

	nfs_up "$proto" siw || { fail "server"; return; }
	for v in 3 4.2; do
		check "NFSv$v: mount" mount_nfs "$proto" "$v" /mnt timeo=100 || return
		for percent in 0.1 1; do
			everything "NFSv$v" "$percent" 5
		done
		check "NFSv$v: umount" umount_all
	done
}
