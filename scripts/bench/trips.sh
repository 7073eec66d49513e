#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015
#
# In both of two joined guests: what the quickest operation of a row takes in units
# of the round trip, where a link has a delay that everything else is small
# against.
#
#	trips.sh OPS [MILLISECONDS [OPERATIONS]]
#
# OPS is the program of ops.c, the time is the delay each way. The client prints,
# in the end, a line a row: variant, row, bytes, round trips.

set -u
here=$(dirname "$0")
# shellcheck source=scripts/vm/cases.sh
. "$here/../vm/cases.sh"
# shellcheck source=scripts/vm/node.sh
. "$here/../vm/node.sh"
# shellcheck source=scripts/bench/variants.sh
. "$here/variants.sh"

ops=$1 delay=${2:-5} count=${3:-20}
intree_port=20050

trips_of()
{
	local variant=$1 row size result

	while read -r row size; do
		mkdir -m 777 /mnt/cell
		result=$("$ops" -e -n "$count" -w 2 -s "$size" "$row" \
			/mnt/cell /mnt/cell) || { fail "$variant: $row"; return; }
		rm -rf /mnt/cell
		awk -v variant="$variant" -v row="$row" -v size="$size" \
			-v ms="$delay" '{
			for (i = 2; i <= NF; i++) {
				split($i, w, "=")
				n[w[1]] = w[2]
			}
			printf "%s,%s,%s,%.2f\n", variant, row, size,
				n["least"] / (2e6 * ms)
		}' <<<"$result" >>/tmp/trips.csv
	done <<-END
		GETATTR 0
		LOOKUP 0
		OPEN 0
		READ 512
		READ 4096
		READ 65536
		READ 1048576
		WRITE 512
		WRITE 4096
		WRITE 65536
		WRITE 1048576
	END
}

# variant NAME TRANSPORT PORT
variant()
{
	nfs_identity "$1"
	port=$3 mount_nfs "$2" 4.2 /mnt noac || { fail "$1: mount"; return; }
	delayed "$delay" && on_server delayed "$delay"
	trips_of "$1"
	delayed 0 && on_server delayed 0
	umount /mnt
}

# Both servers run beside each other; the client's node has room for one client at
# a time.
measure_all()
{
	net_up
	on_server "echo 0 >/proc/sys/fs/leases-enable; nfs_up rdma2 &&
		load_modules rdma && listen_on rdma $intree_port" ||
		{ fail "the server's node"; return; }
	client_up rdma || { fail "the client's node"; return; }
	echo variant,row,size,round_trips >/tmp/trips.csv
	variant intree rdma "$intree_port"
	# Its server has a listener for these limits too, and takes them from now on.
	intree_limits 65536 128 128 &&
	on_server intree_limits 65536 128 128
	variant tuned rdma "$intree_port"
	unload rdma
	load_modules rdma2
	variant rdma2 rdma2 "$port"
	variant tcp tcp 2049
	on_server server_down
	cat /tmp/trips.csv
}

run_node measure_all
