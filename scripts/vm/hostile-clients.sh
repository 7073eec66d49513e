# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by hostile-cases.sh: what a hostile client does to the server. The
# clients are the tester's.

# shellcheck source=scripts/vm/limit-cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/limit-cases.sh" || exit 2

# A Receive that an RDMA Write with Immediate consumed holds no message: that
# connection goes, and the one of a mount stays.
client_immediate()
{
	local name="an RDMA Write with Immediate closes the connection" before

	mount_nfs rdma2 4.2 /mnt || { fail "$name: mount"; return; }
	before=$(counters)
	tester "" "$addr4" "$port" lost.a_write_with_immediate || failed=1
	ended_for "$name" "$server_view" "Receive without a message"
	check "$name: a mount has its own" use_beside
	risen "$before"
	expect "$name, and no other" \
		"s_receives_bad==1&&s_disconnects==s_accepts&&c_connects==0"
	umount /mnt
}

use_beside()
{
	echo some >/mnt/beside && rm "$export_dir/beside" && stat /mnt
}

hostile_clients()
{
	client_immediate
	hostile_limits
}
