# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the group "versions", with in-tree's client and rdma2's on one
# listener.

# mount_both VERSION: mounts with rdma2 on /mnt and with in-tree rpcrdma on /mnt2, there
# with smaller READs and WRITEs (see common)
mount_both()
{
	nfs_identity rdma2
	mount_nfs rdma2 "$1" /mnt || return
	nfs_identity predecessor
	mount_nfs rdma "$1" /mnt2 rsize=262144,wsize=262144
}

# Load from both kinds of client at once
both_versions()
{
	local vers=$1 old new

	mkdir -m 777 "$export_dir/old" "$export_dir/new"
	mount_both "$vers" || { fail "NFSv$vers: mounts"; return; }
	check "NFSv$vers: both mounts have their version" eval \
		"grep -q ' /mnt .*proto=rdma2,' /proc/mounts &&
		grep -q ' /mnt2 .*proto=rdma,' /proc/mounts"
	"$load_sh" /mnt2/old "$export_dir/old" 10 1 >/tmp/old 2>&1 &
	old=$!
	"$load_sh" /mnt/new "$export_dir/new" 10 1 >/tmp/new 2>&1 &
	new=$!
	wait "$old" && ok "NFSv$vers: version 1 on a listener with version 2" ||
		fail "NFSv$vers: version 1: $(tr '\n' ' ' </tmp/old)"
	wait "$new" && ok "NFSv$vers: version 2 on a listener with version 1" ||
		fail "NFSv$vers: version 2: $(tr '\n' ' ' </tmp/new)"
	check "NFSv$vers: umount" umount_all
	rm -rf "${export_dir:?}"/*
}

# In-tree's client against svcrdma2, alone and beside rdma2's client. rpcrdma is loaded
# last: its backchannel class has no list of netids, not even an empty one, and a lookup
# that passes this class reads garbage.
group_versions()
{
	local v device=${DEVICE:-rxe}

	nfs_up rdma2 "$device" && modprobe rpcrdma ||
		{ fail "server"; return; }
	common=rsize=262144,wsize=262144
	for v in ${VERSIONS:-3 4.0 4.1 4.2}; do
		exercise "NFSv$v, version 1" rdma "$v"
	done
	both_versions 3
	both_versions 4.2
	rmmod rpcrdma
	finish
}
