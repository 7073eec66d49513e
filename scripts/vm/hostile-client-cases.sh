# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: hostile clients of the tester, against the server.

# A Receive that was consumed by an RDMA Write with Immediate holds no message. The server
# closes that connection, and the mount's connection stays.
client_immediate()
{
	local name="an RDMA Write with Immediate closes the connection" before

	mount_nfs rdma2 4.2 /mnt || { fail "$name: mount"; return; }
	before=$(counters)
	tester "" "$addr4" "$port" lost.a_write_with_immediate || failed=1
	ended_for "$name" "$server_view" "Receive without a message"
	check "$name: a mount on another connection" use_beside
	risen "$before"
	expect "$name, and no other connection" \
		"s_receives_bad==1&&s_disconnects==s_accepts&&c_connects==0"
	umount /mnt
}

# A message that is longer than a Receive makes the Receive fail.
client_too_long()
{
	local name="S46 a message longer than a Receive"

	tester "" "$addr4" "$port" lost.a_message_that_is_too_long || failed=1
	ended_for "$name" "$server_view" "Receive failed"
}

# The server can send this client neither a Reply nor an error. The tester's first message
# stays unanswered and its case fails; the output is discarded.
client_no_answer()
{
	local name="S46 no Reply and no error can be sent"

	can_fail "$faults/fail_send_max" "$name" || return
	counted with_fault fail_send_max -1 tester "" "$addr4" "$port" versions >/dev/null
	expect "$name: the connection ends" "s_ended_REPLY == 1 && s_accepts == 1"
	ended_for "$name" "$server_view" "cannot reply"
}

use_beside()
{
	echo some >/mnt/beside && rm "$export_dir/beside" && stat /mnt
}

# shellcheck disable=SC2016 # the tester's variables
unmapped_set='
	echo 0 >probability
	[ -z "$VALUE" ] || { echo "$VALUE" >times && echo 0 >space && echo 100 >probability; }'

# L8: memory for RDMA Reads cannot be mapped. Each of the first two cases ends its
# connection; fewer threads exist than Calls that need this memory.
client_unmapped()
{
	local name="L8 memory for RDMA Reads cannot be mapped" one
	local set="cd $faults/fail_map_rw || exit; $unmapped_set"

	rpc.nfsd 4
	for one in reads_that_can_not_begin reads_that_keep_one_thread; do
		all_apply=1 tester "" --set "$set" "$addr4" "$port" "held.$one" ||
			failed=1
	done
	all_apply=1 counted tester "" --set "$set" "$addr4" "$port" \
		held.reads_that_begin_late || failed=1
	expect "$name, 20 times: mapping is retried" \
		"s_shortages == 20 && s_read_chunks == 7 && s_errors_system == 0"
	rpc.nfsd "$nfsd_threads"
}

hostile_clients()
{
	client_immediate
	client_too_long
	client_no_answer
	client_unmapped
	hostile_limits
}
