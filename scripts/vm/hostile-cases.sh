# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: peers that violate the protocol. In each case the tester, as a
# peer, does this in one way; the case checks that the peer did it, and that only its own
# RPC or its own connection was affected.

# Modules of the tester
hostilities='client_replies client_resends'

# hostile_server OPTIONS CASE...: runs cases of the tester, which all have to apply, with
# these mount options
hostile_server()
{
	local options=$1

	shift
	tester "" --server --actions --observe --trigger "$(trigger "$options")" \
		"$addr4" $((next_port += 100)) "$@" || failed=1
	rm -rf "${export_dir:?}"/*
}

# Two answers to the Calls of client_backward are valid. This client refuses Calls before it
# creates a session, and has a callback service when it does.
hostile_servers()
{
	next_port=21000
	modprobe -qa ib_uverbs rdma_ucm
	# shellcheck disable=SC2086 # words
	hostile_server "" ${CASES:-$hostilities}
	[ -z "${CASES:-}" ] || [ "$CASES" = "$hostilities" ] || return
	hostile_server vers=4.1 client_resends.each_call_is_refused_once \
		client_backward.a_call_before_a_session client_backward.a_call_as_a_session_begins
}

# A Receive that was consumed by an RDMA Write with Immediate holds no message. The server
# closes that connection, and the mount's connection stays.
client_immediate()
{
	local name="an RDMA Write with Immediate closes the connection" before

	mount_nfs rdma2 4.2 /mnt || { fail "$name: mount"; return; }
	before=$(counters)
	tester "" "$addr4" "$port" lost.a_write_with_immediate || failed=1
	ended_for "$name" "$server_view" "Receive without a message"
	check "$name: a mount on another connection" eval \
		"echo some >/mnt/beside && rm $export_dir/beside && stat /mnt"
	risen "$before"
	expect "$name, and no other connection" \
		"s_receives_bad==1&&s_disconnects==s_accepts&&c_connects==0"
	umount /mnt
}

# A message that is longer than a Receive makes the Receive fail.
client_too_long()
{
	local name="S46 a message longer than a Receive" before

	before=$(counters)
	tester "" "$addr4" "$port" lost.a_message_that_is_too_long || failed=1
	ended_for "$name" "$server_view" "Receive failed"
}

# The server can send this client neither a Reply nor an error. The tester's first message
# stays unanswered and its case fails; the output is discarded.
client_no_answer()
{
	local name="S46 no Reply and no error can be sent" before

	can_fail "$faults/fail_send_max" "$name" || return
	before=$(counters)
	with_fault fail_send_max -1 tester "" "$addr4" "$port" versions >/dev/null
	ended_for "$name" "$server_view" "cannot reply"
	risen "$before"
	expect "$name: the connection ends" "s_ended_REPLY == 1 && s_accepts == 1"
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
		tester "" --set "$set" "$addr4" "$port" "held.$one" ||
			failed=1
	done
	counted tester "" --set "$set" "$addr4" "$port" \
		held.reads_that_begin_late || failed=1
	expect "$name, 20 times: mapping is retried" \
		"s_shortages == 20 && s_read_chunks == 7 && s_errors_system == 0"
	rpc.nfsd "$nfsd_threads"
}

group_hostile()
{
	nfs_up rdma2 || { fail "server"; return; }
	hostile_servers
	[ -z "${CASES:-}" ] || return
	client_immediate
	client_too_long
	client_no_answer
	client_unmapped
	hostile_limits
}
