# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # the sourcing scripts have and use the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by adapter-cases.sh and link-cases.sh: the script for machines with an adapter
# (scripts/adapter.py), over soft-RoCE.

adapter=$VM_TOP/scripts/adapter.py
adapter_report=/run/vm/adapter
adapter_short=(--size 16 --seconds 1)
adapter_folder=/tmp/adapter	# the current one of refused runs, which stays empty

# adapter_state: prints all that a run must leave as it was: mounts and their folders, exports,
# threads of nfsd, mountd, modules, pins, reports
adapter_state()
{
	mkdir -p "$adapter_folder"
	cat /proc/mounts
	find /run/rdma2-adapter "$adapter_folder"
	cat /var/lib/nfs/etab /proc/fs/nfsd/threads /sys/module/xprtrdma2/parameters/pin
	pidof rpc.mountd
	grep -oE '^(rpcrdma|rpcrdma2|xprtrdma2|svcrdma2) ' /proc/modules | sort
} 2>&1

# adapter_same NAME STATE: a case that the state is this one
adapter_same()
{
	without "$1" "$(diff <(echo "$2") <(adapter_state) | paste -sd' ')"
}

# adapter_refuses NAME TEXT ARGUMENT...: a case that the script ends with this error, and one that
# nothing has changed
adapter_refuses()
{
	local name=$1 text=$2 said was

	shift 2
	was=$(adapter_state)
	! said=$(cd "$adapter_folder" && "$adapter" "$@" 2>&1) && grep -q -- "$text" <<<"$said" &&
		! grep Traceback <<<"$said" && ok "$name" || fail "$name: $said"
	adapter_same "$name: nothing changes" "$was"
}

# adapter_reported FILE VARIANT: succeeds if the report has right files only, and all rows
adapter_reported()
{
	grep -A 1 "^$2\$" "$1" | grep -q '^    files: [1-9][0-9]* right, 0 wrong$' &&
		[ "$(grep -cE "^    $2( +[0-9.]+){5}${3:-}\$" "$1")" -eq 10 ]
}
