#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest whose clock counts instructions: works through a plan of cells and
# leaves what was measured, as ops.c says it, in /run/vm/raw.
#
#	guest.sh PLAN
#
# A line of the plan is a cell:
#
#	VARIANT NCONNECT INFLIGHT ROW OCTETS OPERATIONS PASS
#
# VARIANT is intree, tuned, ours, base or tcp. Cells of one variant and one
# NCONNECT that follow each other share a mount.

set -u
# shellcheck source=scripts/vm/cases.sh
. "$(dirname "$0")/../vm/cases.sh"

plan=$1
raw=/run/raw
base_modules=${BASE_MODULES:-}
device=/sys/class/infiniband/rxe0/ports/1/hw_counters

stop()
{
	echo "FAIL bench: $*"
	exit 1
}

# intree_limits INLINE SLOTS CREDITS
intree_limits()
{
	local dir=/proc/sys/sunrpc

	echo "$1" >"$dir/rdma_max_inline_read" &&
	echo "$1" >"$dir/rdma_max_inline_write" &&
	echo "$2" >"$dir/rdma_slot_table_entries" &&
	echo "$1" >"$dir/svc_rdma/max_req_size" &&
	echo "$3" >"$dir/svc_rdma/max_requests"
}

# load VARIANT: its modules. $transport is its name, as a mount has it.
load()
{
	case $1 in
	tcp)	transport=tcp port=2049 ;;
	intree)	modprobe rpcrdma && intree_limits 4096 128 64
		transport=rdma port=20049 ;;
	tuned)	modprobe rpcrdma && intree_limits 65536 128 128
		transport=rdma port=20049 ;;
	ours)	modprobe -a xprtrdma2 svcrdma2
		transport=rdma2 port=20049 ;;
	base)	modprobe -a sunrpc rdma_cm &&
		insmod "$base_modules/xprtrdma2.ko" &&
		insmod "$base_modules/svcrdma2.ko"
		transport=rdma2 port=20049 ;;
	*)	complain "there is no variant $1" ;;
	esac
}

# variant_up VARIANT NCONNECT
variant_up()
{
	load "$1" || stop "$1: modules"
	rpc.nfsd 8 || stop "$1: nfsd"
	echo Y >/proc/fs/nfsd/v4_end_grace
	[ "$transport" = tcp ] || listen_on "$transport" || stop "$1: port"
	# Of a client that comes back the server would have something to forget.
	nfs_identity "$1-$2-$RANDOM"
	mount_nfs "$transport" 4.2 /mnt "noac,nconnect=$2" || stop "$1: mount"
	sed -n 's/^.* \/mnt nfs4 /# /p' /proc/mounts
	files=()
	for f in /proc/self/mountstats "$device"/* /proc/sys/sunrpc/svc_rdma/rdma_stat_* \
			/sys/kernel/debug/{xprtrdma2,svcrdma2,rpcrdma2_bench}/counters; do
		[ -e "$f" ] && files+=(-f "$f")
	done
}

variant_down()
{
	umount /mnt || stop "$1: umount"
	rpc.nfsd 0
	[ "$transport" = tcp ] || unload "$transport" || stop "$1: unload"
}

# cell VARIANT NCONNECT INFLIGHT ROW OCTETS OPERATIONS PASS
cell()
{
	local dir=cell

	mkdir -m 777 "$export_dir/$dir"
	# In-tree's counters cannot be read above a million.
	for f in /proc/sys/sunrpc/svc_rdma/rdma_stat_*; do
		[ ! -e "$f" ] || echo 0 >"$f"
	done
	echo "@cell variant=$1 nconnect=$2 inflight=$3 row=$4 size=$5 pass=$7" >>"$raw"
	"$tools/ops" -j "$3" -s "$5" -n "$6" "${files[@]}" "$4" \
		"/mnt/$dir" "$export_dir/$dir" >>"$raw" ||
		stop "$1, nconnect=$2, $3 in flight: $4 of $5"
	rm -rf "${export_dir:?}/$dir"
}

# What has leases is served without asking, which is not what is measured.
echo 0 >/proc/sys/fs/leases-enable
device_up rxe && teach_netconfig && LEASE=300 server_up tcp || stop "server"
rpc.nfsd 0
: >"$raw"
mounted=''
while read -r variant nconnect inflight row octets ops pass; do
	if [ "$mounted" != "$variant $nconnect" ]; then
		[ -z "$mounted" ] || variant_down "${mounted% *}"
		variant_up "$variant" "$nconnect"
		mounted="$variant $nconnect"
	fi
	cell "$variant" "$nconnect" "$inflight" "$row" "$octets" "$ops" "$pass"
done <"$plan"
variant_down "$variant"
server_down
cp "$raw" /run/vm/raw
