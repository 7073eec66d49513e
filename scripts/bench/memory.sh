#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015
#
# In both guests of a pair: measures the kernel memory that a number of connections takes at
# each end.
#
#	memory.sh VARIANTS [CONNECTIONS...]
#
# Mounts are limited to 16 connections each; each mount uses a server address and a client
# identity of its own. At the end the client prints a line for each variant, number of
# connections and end, with the number of mounts that these connections have, and the KiB of
# all of them:
#
#	idle	connected; each connection has carried a few small RPCs
#	loaded	the maximum while every connection had two READs or WRITEs of 16 KiB in
#		flight
#	after	after these have ended
#	left	after the unmounts; should be 0
#
# Lines that begin with # are remarks for the report.

set -u
here=$(dirname "$0")
# shellcheck source=scripts/vm/cases.sh
. "$here/../vm/cases.sh"
# shellcheck source=scripts/vm/node.sh
. "$here/../vm/node.sh"
# shellcheck source=scripts/bench/variants.sh
. "$here/variants.sh"
# shellcheck source=scripts/bench/mounts.sh
. "$here/mounts.sh"

variants=$1
shift
in_flight=2		# READs or WRITEs per connection, as many of one as of the other
bytes=16384		# of each READ or WRITE
results=/tmp/memory.csv

# kernel_kib: sets $kib to the memory that the kernel uses for itself: total minus free
# memory, also on the lists of processors, minus the contents of files and processes. It
# starts no process, because that would use memory too.
kernel_kib()
{
	local lines line word n=0

	mapfile -t lines </proc/meminfo
	for line in "${lines[@]}"; do
		case $line in
		MemTotal:*)	;;
		MemFree:*|Buffers:*|Cached:*|AnonPages:*)	;;
		KernelStack:*|PageTables:*)			;;
		*)		continue ;;
		esac
		read -r word line _ <<<"$line"
		[ "$word" = MemTotal: ] && n=$((n + line)) || n=$((n - line))
	done
	mapfile -t lines </proc/zoneinfo
	for line in "${lines[@]}"; do
		[[ $line != *count:* ]] || n=$((n - ${line##*:} * 4))
	done
	kib=$n
}

# held: prints the kernel's memory after it has freed everything that can be freed
held()
{
	local last=0 file

	for _ in {1..8}; do
		# The contents of files do not count, and drop_caches=2 keeps those of
		# programs.
		echo 2 >/proc/sys/vm/drop_caches
		# Without this each slab cache keeps a few empty pages.
		for file in /sys/kernel/slab/*/shrink; do
			[ -L "${file%/shrink}" ] || echo 1 >"$file"
		done
		sleep 0.3
		kernel_kib
		[ $((kib - last)) -gt 32 ] || [ $((last - kib)) -gt 32 ] || break
		last=$kib
	done
	echo "$kib"
}

# watch: records the maximum from now until end_watch, which prints it
watch()
{
	rm -f /tmp/most
	touch /tmp/watched
	keep_most &
}

keep_most()
{
	local most=0

	until [ "$most" -gt 0 ] && [ ! -e /tmp/watched ]; do
		kernel_kib
		[ "$kib" -le "$most" ] || most=$kib
		sleep 0.1
	done
	echo "$most" >/tmp/most.part
	mv /tmp/most.part /tmp/most
}

end_watch()
{
	rm /tmp/watched
	until [ -e /tmp/most ]; do
		sleep 0.1
	done
	cat /tmp/most
}

# room_kib: prints the memory that this guest can spare. The remaining tenth is for programs:
# fio has a buffer of $bytes for each READ or WRITE in flight, 32 MiB with 1,000
# connections.
room_kib()
{
	awk '/^MemAvailable:/ { print int($2 * 0.9) }' /proc/meminfo
}

# at_both FUNCTION: runs it at client and server at the same time and sets $both to both
# outputs
at_both()
{
	local client

	on_server "$1" >/tmp/at_server &
	client=$("$1")
	wait $! || stop "the server's node: $1"
	both="$client $(cat /tmp/at_server)"
}

# made: prints how often connections were established
made()
{
	awk '$1 == "xprt:" { n += $5 } END { print n + 0 }' /proc/self/mountstats
}

# under_load NUMBER: prints the maximum at both ends while all connections (NUMBER for each
# mount) are in use
under_load()
{
	local files=(/mnt.*) depth rounds

	files=("${files[@]/%//load}")
	depth=$((${#files[@]} * $1 * in_flight))
	# With many files two rounds are enough: all files stay busy until the last one has
	# had its turns.
	rounds=$((${#files[@]} > 16 ? 2 : 6))
	on_server watch
	watch
	fio --name=load --filename="$(IFS=:; echo "${files[*]}")" --filesize=65536 --rw=randrw \
		--norandommap --bs="$bytes" --direct=1 --ioengine=libaio --iodepth="$depth" \
		--io_size=$((depth * rounds * bytes)) --fallocate=none --thread \
		>/tmp/load 2>&1 || return 1
	echo "$(end_watch) $(on_server end_watch)"
}

disconnect()
{
	mounts disconnect || return 1
	for _ in {1..100}; do
		[ "$(on_server connections_served)" -ne 0 ] || return 0
		sleep 0.1
	done
	return 1
}

# point VARIANT CONNECTIONS PER-MOUNT: measures one number of connections
point()
{
	local variant=$1 n=$2 mounts=$((($2 + $3 - 1) / $3)) started=$SECONDS
	local before idle loaded after made

	at_both held
	before=$both
	mounts connect "$n" "$3" || stop "$variant: $n connections"
	[ "$(connections 1)/$(on_server connections_served)" = "$n/$n" ] ||
		stop "$variant: $(connections 1) connections, the server has" \
			"$(on_server connections_served), not $n"
	at_both held
	idle=$both
	made=$(made)
	loaded=$(under_load $((n < $3 ? n : $3))) ||
		stop "$variant: load: $(cat /tmp/load)"
	[ "$(connections 4)" -eq "$n" ] ||
		stop "$variant: $(connections 4) connections were in use, not $n"
	made=$(($(made) - made))
	[ "$made" -eq 0 ] ||
		echo "# $variant, $n connections: some were lost under load" \
			>>"$results"
	at_both held
	after=$both
	disconnect || stop "$variant: umount"
	at_both held
	awk -v head="$variant,$n,$mounts" '{
			split("client server", name, " ")
			for (end = 1; end <= 2; end++)
				printf "%s,%s,%d,%d,%d,%d\n", head, name[end],
					$(2 + end) - $end, $(4 + end) - $end,
					$(6 + end) - $end, $(8 + end) - $end
		}' <<<"$before $idle $loaded $after $both" >>"$results"
	echo "$variant, $n connections of $mounts mounts: $((SECONDS - started)) s," \
		"$(tail -n 2 "$results" | tr '\n' ' ')" >&2
}

# fits VARIANT CONNECTIONS: prints how many of these connections fit the memory that is left
# ($both), estimated from the earlier measurements of the variant
fits()
{
	awk -F, -v variant="$1" -v n="$2" -v room="$both" '
		BEGIN {
			split(room, kib, " ")
			free["client"] = kib[1]
			free["server"] = kib[2]
		}
		$1 == variant && $2 > 1 {
			each[$4] = ($6 > $7 ? $6 : $7) / $2
		}
		END {
			fit = n
			for (end in each)
				if (each[end] * fit > free[end]) {
					fit = int(free[end] / each[end] / 16) * 16
					why = sprintf("%s, %d connections of %d: " \
						"one takes %d KiB, the %s has " \
						"%d MiB left", variant, fit, n,
						each[end], end, free[end] / 1024)
				}
			print fit, why
		}' "$results"
}

measure_memory()
{
	local variant=$1 n fit why

	shift
	load "$variant" || stop "$variant: modules"
	on_server "serve_variant $variant && allow_connections" || stop "$variant: server"
	# Allocates memory that is kept for later connections before the first measurement.
	mounts connect 16 16 && under_load 16 >/dev/null && disconnect ||
		stop "$variant: first connections"
	for n in "$@"; do
		at_both room_kib
		read -r fit why < <(fits "$variant" "$n")
		[ -z "$why" ] || echo "# fewer: $why" >>"$results"
		[ "$fit" -gt 0 ] || continue
		point "$variant" "$fit" "$most_per_mount"
		# The same connections on separate mounts, to find the memory of a mount
		[ "$n" -ne 16 ] || point "$variant" 16 1
	done
	on_server unserve_variant || stop "$variant: unload at the server"
	[ "$transport" = tcp ] || unload "$transport" || stop "$variant: unload"
}

# Runs at the server

server_ready()
{
	echo 0 >/proc/sys/fs/leases-enable
	device_up rxe && teach_netconfig && LEASE=3600 server_up tcp || return 1
	rpc.nfsd 0
	allow_mounts && truncate -s 65536 "$export_dir/load" && chmod 666 "$export_dir/load"
}

measure_all()
{
	local variant

	modprobe -q nfs
	device_up rxe && teach_netconfig &&
		ip route replace 10.0.1.0/24 dev "$netdev" || stop "client"
	on_server server_ready || stop "server"
	echo variant,connections,mounts,end,idle,loaded,after,left >"$results"
	for variant in $variants; do
		measure_memory "$variant" "$@"
	done
	on_server server_down
	cat "$results"
}

run_node measure_all "$@"
