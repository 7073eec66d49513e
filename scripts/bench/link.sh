#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015
#
# In a guest whose clock counts instructions: measures a mount on a link with delay and
# loss.
#
#	link.sh OPS [trips]
#
# OPS is the program of ops.c. The ends of the link are two interfaces of this guest with an
# RDMA device each, so both ends have the same clock. The results are in /run/vm:
#
# trips.csv	time of the quickest operation of a row in round trips; a round trip is
#		10 ms, which is much longer than everything else
# link.csv	MiB a second of READ and WRITE of 1 MiB, with 1, 8 and 32 in flight; omitted
#		with "trips"

set -u
here=$(dirname "$0")
# shellcheck source=scripts/vm/cases.sh
. "$here/../vm/cases.sh"
# shellcheck source=scripts/bench/variants.sh
. "$here/variants.sh"

ops=$1 form=${2:-}
client4=10.0.0.2
# The interfaces of the client and the server
ends=(l0 l1)
mebibyte=1048576

# end INTERFACE ADDRESS PEER'S-ADDRESS PEER'S-MAC: sets up one end of the link. The kernel
# delivers packets to its own addresses locally, unless a rule with higher priority routes
# them to the link.
end()
{
	echo 1 >"/proc/sys/net/ipv4/conf/$1/accept_local"
	echo 0 >"/proc/sys/net/ipv4/conf/$1/rp_filter"
	ip link set "$1" mtu "${MTU:-9000}" up &&
		ip addr add "$2/32" dev "$1" &&
		ip neigh add "$3" lladdr "$4" dev "$1" nud permanent &&
		ip route add "$3" dev "$1" src "$2" table 100 &&
		# The RDMA CM looks up the route to the peer's address with the interface.
		ip rule add pref 2 oif "$1" lookup 100
}

link_up()
{
	local i

	modprobe -qa veth sch_netem rdma_rxe
	echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
	echo 65536 >/proc/sys/net/core/netdev_max_backlog
	ip link add "${ends[0]}" type veth peer name "${ends[1]}" &&
		end "${ends[0]}" "$client4" "$addr4" "$(mac "${ends[1]}")" &&
		end "${ends[1]}" "$addr4" "$client4" "$(mac "${ends[0]}")" &&
		ip rule add pref 1 dev lo lookup 100 &&
		ip rule add pref 3 lookup local &&
		ip rule del pref 0 || return
	for i in 0 1; do
		rdma link add "rxe$i" type rxe netdev "${ends[i]}" || return
	done
}

mac()
{
	cat "/sys/class/net/$1/address"
}

# link_is DELAY LOSS: sets netem's parameters in both directions
link_is()
{
	local i

	for i in "${ends[@]}"; do
		tc qdisc replace dev "$i" root netem delay "$1" loss "$2" limit 100000 ||
			stop "netem: $1, $2"
	done
}

# run_row ROW OPTION...: runs the operations of a row and prints the result of "ops"
run_row()
{
	local row=$1
	shift

	mkdir -m 777 "$export_dir/cell"
	"$ops" "$@" "$row" /mnt/cell "$export_dir/cell" || stop "$variant: $row"
	rm -rf "${export_dir:?}/cell"
}

# result_of NAME: extracts a value from the result of "ops" on standard input
result_of()
{
	sed -n "s/^@result.* $1=\([0-9]*\).*/\1/p"
}

trips_of()
{
	local row size least

	link_is 5ms 0%
	while read -r row size; do
		least=$(run_row "$row" -e -n 20 -w 2 -s "$size" | result_of least)
		awk "BEGIN { printf \"%s,%s,%s,%.2f\n\", \"$variant\", \"$row\", \"$size\", \
			$least / 1e7 }" >>/run/vm/trips.csv
	done <<-END
		GETATTR 0
		LOOKUP 0
		OPEN 0
		READ 512
		READ 4096
		READ 65536
		READ $mebibyte
		WRITE 512
		WRITE 4096
		WRITE 65536
		WRITE $mebibyte
	END
}

rates_of()
{
	local row trip loss depth n ns

	for trip in 1 10; do
		for loss in 0 0.01 0.1; do
			link_is "$((trip * 500))us" "$loss%"
			for depth in 1 8 32; do
				# Losses are rare: one in 40 READs at 0.01 %.
				n=$((depth == 1 ? 200 : 640))
				for row in READ WRITE; do
					ns=$(run_row "$row" -j "$depth" -n "$n" -w 2 -s "$mebibyte" |
						result_of ns)
					awk "BEGIN { printf \"%s,%s,%s,%s,%s,%.1f\n\", \"$variant\", \
						\"$row\", $trip, $loss, $depth, $n / ($ns / 1e9) }" \
						>>/run/vm/link.csv
				done
			done
		done
	done
}

# All transports are measured with one connection.
measure_variant()
{
	variant=$1
	serve_variant "$variant" || stop "$variant: server"
	nfs_identity "$variant-$RANDOM"
	mount_nfs "$transport" 4.2 /mnt noac || stop "$variant: mount"
	trips_of
	[ "$form" = trips ] || rates_of
	link_is 0ms 0%
	umount /mnt || stop "$variant: umount"
	unserve_variant || stop "$variant: unload"
}

echo 0 >/proc/sys/fs/leases-enable
link_up && teach_netconfig && LEASE=3600 server_up tcp || stop "link"
rpc.nfsd 0
echo variant,row,size,round_trips >/run/vm/trips.csv
echo variant,row,trip_ms,loss_percent,depth,mib_per_second >/run/vm/link.csv
for i in ${VARIANTS:-intree tuned tcp rdma2}; do
	measure_variant "$i"
done
server_down
