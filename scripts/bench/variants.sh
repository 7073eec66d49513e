# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Sourced in the benchmark's guests: what "in-tree, tuned" means.

# intree_limits INLINE SLOTS CREDITS: of the ends that this kernel has
intree_limits()
{
	local dir=/proc/sys/sunrpc

	echo "$1" >"$dir/rdma_max_inline_read" &&
	echo "$1" >"$dir/rdma_max_inline_write" &&
	echo "$2" >"$dir/rdma_slot_table_entries" &&
	echo "$1" >"$dir/svc_rdma/max_req_size" &&
	echo "$3" >"$dir/svc_rdma/max_requests"
}
