#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015
#
# In a guest whose clock counts instructions: measures the cells of a plan and writes the
# results, in the format of ops.c, to /run/vm/raw.
#
#	guest.sh PLAN
#
# Each line of the plan is a cell:
#
#	VARIANT NCONNECT DEPTH ROW BYTES OPERATIONS PASS
#
# VARIANT is intree, tuned, rdma2 (this checkout's transport), base, tcp or floor.
# NCONNECT is the number of connections of the mount; 1+1000 adds 1,000 idle connections of
# other mounts, which are a cell of their own: the row CONNECT has the cost of making one.
# Consecutive cells with the same VARIANT, NCONNECT and PASS share a mount. PASS is cost;
# count, with probes that count work requests and completions; or profile, with samples of
# perf in /run/vm/VARIANT-ROW-BYTES.perf. The floor repeats with bare verbs the messages of
# an earlier cell of rdma2. With SEC in the environment all mounts have that flavor
# of Kerberos.

set -u
here=$(dirname "$0")
# shellcheck source=scripts/vm/cases.sh
. "$here/../vm/cases.sh"
# shellcheck source=scripts/bench/variants.sh
. "$here/variants.sh"
# shellcheck source=scripts/bench/mounts.sh
. "$here/mounts.sh"
# shellcheck source=scripts/vm/realm.sh
. "$here/../vm/realm.sh"

plan=$1
raw=/run/raw
messages=/run/messages
device=/sys/class/infiniband/rxe0/ports/1/hw_counters
probes=/sys/kernel/debug/rpcrdma2_count/counters
floor=/sys/kernel/debug/rpcrdma2_floor/floor

control=/run/perf
# Instructions between two samples. The number is prime, so that samples do not coincide
# with periodic work.
period=20011

# variant_up VARIANT NCONNECT PASS: loads modules, starts nfsd, and mounts
variant_up()
{
	[ "$3" != count ] || modprobe rpcrdma2_count || stop "no probes"
	if [ "$1" = floor ]; then
		modprobe rpcrdma2_floor || stop "$1: modules"
		"$here/tables.py" messages "$raw" >"$messages" || stop "$1: messages"
		return
	fi
	[[ $2 != *+* ]] || allow_mounts || stop "$1: addresses"
	serve_variant "$1" || stop "$1: server"
	# A new identity, because the server would first have to discard the state of a
	# returning client.
	nfs_identity "$1-$2-$RANDOM"
	mount_nfs "$transport" 4.2 /mnt "noac,nconnect=${2%+*}${SEC:+,sec=$SEC}" ||
		stop "$1: mount"
	[[ $2 != *+* ]] || crowd_up "$@"
	files=()
	for f in /proc/self/mountstats "$device"/* \
			/proc/sys/sunrpc/svc_rdma/rdma_stat_* "$probes" \
			/sys/kernel/debug/{xprtrdma2,svcrdma2}/counters; do
		[ -e "$f" ] && files+=(-f "$f")
	done
}

# clock: sets $ns to the time, and $busy to the time of the processor outside its idle task
clock()
{
	local word

	# The time of a task counts when it stops to run.
	pause 0.01
	ns=${EPOCHREALTIME/./}000
	while read -r word _ _ _ _ _ _ busy _; do
		[[ $word != cpu* ]] || break
	done </proc/schedstat
}

# crowd_up VARIANT NCONNECT PASS: makes the idle connections, and measures it as the row
# CONNECT
crowd_up()
{
	local ns busy ns0 busy0 n=${2#*+} before

	allow_connections || stop "$1: limits"
	before=$(connections 1)
	clock
	ns0=$ns busy0=$busy
	mounts connect "$n" "$most_per_mount" || stop "$1: $n connections"
	clock
	[ $(($(connections 1) - before)) -eq "$n" ] ||
		stop "$1: $(connections 1) connections, not $n beside $before"
	crowd=$(connections_served)
	echo "@cell variant=$1 nconnect=$2 depth=1 row=CONNECT size=0 pass=$3" >>"$raw"
	echo "@result ops=$n ns=$((ns - ns0)) busy=$((busy - busy0))" >>"$raw"
}

crowd_down()
{
	[ "$(connections_served)" -ge "$crowd" ] ||
		stop "$1: $(connections_served) of $crowd connections are left"
	mounts disconnect || stop "$1: umount"
}

# variant_down VARIANT NCONNECT PASS: undoes variant_up
variant_down()
{
	if [ "$1" = floor ]; then
		rmmod rpcrdma2_floor
	else
		[[ $2 != *+* ]] || crowd_down "$1"
		umount /mnt || stop "$1: umount"
		unserve_variant || stop "$1: unload"
	fi
	[ "$3" != count ] || rmmod rpcrdma2_count
	# Saves the results so far, in case the run is aborted.
	cp "$raw" /run/vm/raw
}

snapshot()
{
	for f in "$probes" "$device/sent_pkts"; do
		[ ! -e "$f" ] || { echo "@$1 $f"; cat "$f"; }
	done
}

# verbs BYTES... DEPTH OPERATIONS: measures the floor's messages and adds the time to $ns
verbs()
{
	echo "$addr4 $*" >"$floor" || stop "floor: $*"
	snapshot before >>"$raw"
	ns=$((ns + $(cat "$floor")))
	snapshot after >>"$raw"
}

# profile_up VARIANT ROW BYTES: starts perf. Its limit of sampling time is disabled, because
# a clock that counts instructions exceeds it. perf's buffer holds all samples and is
# written at the end, because the guest would wait for the host meanwhile.
profile_up()
{
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
	[ -p "$control" ] || mkfifo "$control" "$control.ack" || stop "fifo"
	perf record -q -a -e cpu-clock:I -c "$period" -g --kernel-callchains \
		-m 64M -B -N -D -1 --control "fifo:$control,$control.ack" \
		-o /run/perf.data &
	perf_pid=$!
	samples=/run/vm/$1-$2-$3
}

# floor_cell DEPTH ROW BYTES OPERATIONS: repeats the Calls of an operation; one of them
# carries the payload
floor_cell()
{
	local ns=0 calls call reply read write

	read -r calls call reply read write < <(sed -n "s/^$1 $2 $3 //p" "$messages") ||
		stop "floor: $2 of $3 was not measured"
	for ((; calls > 1; calls--)); do
		verbs "$call" "$reply" 0 0 "$1" "$4"
	done
	verbs "$call" "$reply" "$read" "$write" "$1" "$4"
	echo "@result ops=$4 ns=$ns busy=$ns" >>"$raw"
}

# cell VARIANT NCONNECT DEPTH ROW BYTES OPERATIONS PASS: measures one cell
cell()
{
	local dir=cell perf_pid='' samples

	echo "@cell variant=$1 nconnect=$2 depth=$3 row=$4 size=$5 pass=$7" >>"$raw"
	if [ "$1" = floor ]; then
		floor_cell "$3" "$4" "$5" "$6"
		return
	fi
	[ "$7" != profile ] || profile_up "$1" "$4" "$5"
	mkdir -m 777 "$export_dir/$dir"
	# In-tree's counters become unreadable above a million.
	for f in /proc/sys/sunrpc/svc_rdma/rdma_stat_*; do
		[ ! -e "$f" ] || echo 0 >"$f"
	done
	"$tools/ops" -j "$3" -s "$5" -n "$6" "${files[@]}" \
		${perf_pid:+-p "$control"} "$4" \
		"/mnt/$dir" "$export_dir/$dir" >>"$raw" ||
		stop "$1, nconnect=$2, $3 in flight: $4 of $5"
	rm -rf "${export_dir:?}/$dir"
	[ "$7" = profile ] || return 0
	kill -INT "$perf_pid"
	wait "$perf_pid"
	cp /proc/kallsyms "$samples.kallsyms"
	cp /run/perf.data "$samples.perf"
}

# With leases clients would have delegations and send fewer RPCs.
echo 0 >/proc/sys/fs/leases-enable
device_up rxe && teach_netconfig || stop "device"
if [ -n "${SEC:-}" ]; then
	EXPORT_OPTIONS=sec=$SEC nfs_host=$realm_server
	realm_up || stop "realm"
fi
LEASE=3600 server_up tcp || stop "server"
[ -z "${SEC:-}" ] || realm_daemons gssproxy || stop "daemons"
rpc.nfsd 0
: >"$raw"
mounted=''
while read -r variant nconnect depth row bytes ops pass; do
	if [ "$mounted" != "$variant $nconnect $pass" ]; then
		# shellcheck disable=SC2086 # words
		[ -z "$mounted" ] || variant_down $mounted
		variant_up "$variant" "$nconnect" "$pass"
		mounted="$variant $nconnect $pass"
	fi
	cell "$variant" "$nconnect" "$depth" "$row" "$bytes" "$ops" "$pass"
done <"$plan"
# shellcheck disable=SC2086 # words
variant_down $mounted
[ -z "${SEC:-}" ] || realm_down
server_down
