# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0
#
# Sourced in the benchmark's guests: the variants.

base_modules=${BASE_MODULES:-}

stop()
{
	echo "FAIL $*"
	exit 1
}

# intree_limits INLINE SLOTS CREDITS: sets the limits of in-tree's client and server
intree_limits()
{
	local dir=/proc/sys/sunrpc

	echo "$1" >"$dir/rdma_max_inline_read" &&
	echo "$1" >"$dir/rdma_max_inline_write" &&
	echo "$2" >"$dir/rdma_slot_table_entries" &&
	echo "$1" >"$dir/svc_rdma/max_req_size" &&
	echo "$3" >"$dir/svc_rdma/max_requests"
}

# load VARIANT: loads the modules; sets $transport and $port for the mount
load()
{
	transport=rdma2 port=20049
	case $1 in
	tcp)	transport=tcp port=2049 ;;
	intree)	transport=rdma
		modprobe rpcrdma && intree_limits 4096 128 64 ;;
	tuned)	transport=rdma
		modprobe rpcrdma && intree_limits 65536 128 128 ;;
	rdma2)	modprobe -a xprtrdma2 svcrdma2 ;;
	base)	modprobe -a sunrpc rdma_cm &&
		{ [ ! -e "$base_modules/rpcrdma2.ko" ] ||
			insmod "$base_modules/rpcrdma2.ko"; } &&
		insmod "$base_modules/xprtrdma2.ko" &&
		insmod "$base_modules/svcrdma2.ko" ;;
	*)	complain "there is no variant $1" ;;
	esac
}

# serve_variant VARIANT: loads the modules and starts nfsd
serve_variant()
{
	load "$1" && rpc.nfsd 8 || return 1
	end_grace
	[ "$transport" = tcp ] || listen_on "$transport"
}

unserve_variant()
{
	rpc.nfsd 0
	[ "$transport" = tcp ] || unload "$transport"
}
