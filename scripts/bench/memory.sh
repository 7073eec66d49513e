#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015
#
# In a guest: what connections take of its memory, both ends together, idle and
# after each has been in use. Prints a line for each variant and number of
# connections: KiB per connection, idle and used.
#
#	memory.sh OPS VARIANTS [CONNECTIONS...]
#
# OPS is the program of ops.c. A mount has 16 connections at most; each mount is
# of an address of its own, and by a client of its own.

set -u
here=$(dirname "$0")
# shellcheck source=scripts/vm/cases.sh
. "$here/../vm/cases.sh"
# shellcheck source=scripts/bench/variants.sh
. "$here/variants.sh"

ops=$1 variants=$2
shift 2

stop()
{
	echo "FAIL memory: $*"
	exit 1
}

# used: KiB, without what is cached
used()
{
	sleep 0.5
	echo 3 >/proc/sys/vm/drop_caches
	sleep 0.2
	awk '/^MemTotal:/ { n = $2 } /^MemFree:/ { n -= $2 }
		END { print n }' /proc/meminfo
}

# connected: how many connections mounts have, and have made
connected()
{
	awk '$1 == "xprt:" && $5 > 0 { n++ } END { print n + 0 }' \
		/proc/self/mountstats
}

# connect NUMBER: of connections, on /mnt.1 and so on. A mount's are made when
# their turn comes to send something.
connect()
{
	local left=$1 i=0 n

	while [ "$left" -gt 0 ]; do
		i=$((i + 1))
		n=$((left < 16 ? left : 16))
		[ "$i" -eq 1 ] ||
			ip addr replace "10.0.1.$i/32" dev "$netdev"
		nfs_identity "$RANDOM-$i"
		addr4=$([ "$i" -eq 1 ] && echo "$addr4" || echo "10.0.1.$i") \
			mount_nfs "$transport" 4.2 "/mnt.$i" "noac,nconnect=$n" ||
			return 1
		"$ops" -w 1 -n 64 GETATTR "/mnt.$i" "$export_dir" >/dev/null ||
			return 1
		left=$((left - n))
	done
}

# use: every mount, all of its connections, 32 READs and WRITEs at a time
use()
{
	local dir

	for dir in /mnt.*; do
		mkdir -m 777 "$export_dir/cell"
		"$ops" -j 32 -w 1 -n 128 -s 65536 READ "$dir/cell" \
			"$export_dir/cell" >/dev/null &&
		"$ops" -j 32 -w 1 -n 128 -s 65536 WRITE "$dir/cell" \
			"$export_dir/cell" >/dev/null || return 1
		rm -rf "${export_dir:?}/cell"
	done
}

disconnect()
{
	local dir

	for dir in /mnt.*; do
		umount "$dir" || return 1
		rmdir "$dir"
	done
}

measure_memory()
{
	local variant=$1 n=$2 before idle

	load "$variant" || stop "$variant: modules"
	rpc.nfsd 8 || stop "$variant: nfsd"
	echo Y >/proc/fs/nfsd/v4_end_grace
	[ "$transport" = tcp ] || listen_on "$transport" || stop "$variant: port"
	# What is kept for the next one is there before.
	connect 1 && use && disconnect || stop "$variant: one connection"
	before=$(used)
	connect "$n" || stop "$variant: $n connections"
	[ "$(connected)" -eq "$n" ] ||
		stop "$variant: $(connected) connections, not $n"
	idle=$(used)
	use || stop "$variant: use"
	echo "$variant,$n,$(((idle - before) / n)),$((($(used) - before) / n))"
	disconnect || stop "$variant: umount"
	rpc.nfsd 0
	[ "$transport" = tcp ] || unload "$transport" || stop "$variant: unload"
}

echo 0 >/proc/sys/fs/leases-enable
device_up rxe && teach_netconfig && LEASE=3600 server_up tcp || stop "server"
rpc.nfsd 0
echo variant,connections,idle_kib,used_kib
for variant in $variants; do
	for n in "$@"; do
		measure_memory "$variant" "$n"
	done
done
server_down
