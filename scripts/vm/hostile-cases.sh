# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: peers that violate the protocol. In each case the tester, as a
# peer, does this in one way; the case checks that the peer did it, and that only its own
# RPC or its own connection was affected. This file checks what the tester cannot see on the
# wire.

# Modules of the tester
hostilities='client_replies client_resends'

# By case of the tester: an expression over the rise of the client's counters during its
# first work
beside_rows='
client_replies.more_than_the_write_chunk_holds	c_replies_bad==1
client_replies.more_write_chunks_than_offered	c_replies_bad==1
client_replies.write_list_that_wraps		c_replies_bad==1
client_replies.write_chunk_that_wraps		c_replies_bad==1
client_replies.write_chunk_where_none_is	c_replies_bad==1
client_replies.write_chunk_that_holds_nothing	c_replies_bad==0&&c_write_chunk_bytes==0
client_replies.write_chunk_that_holds_half	c_replies_bad==0&&c_write_chunk_bytes>50000
client_replies.more_behind_a_full_write_chunk	c_replies_bad==0&&c_write_chunk_bytes==100000
client_replies.data_go_on_inline		c_replies_bad==0&&c_write_chunk_bytes>=50000
client_replies.write_chunk_without_a_head	c_replies_bad==0&&c_write_chunk_bytes>=100000
client_replies.reply_behind_a_long_header	c_replies_bad==0&&c_fixup_bytes>5120+500
client_replies.bytes_behind_the_reply		c_replies_bad==0
client_replies.less_data_than_is_said		c_replies_bad==0
client_replies.more_data_is_said		c_replies_bad==0
client_replies.all_data_are_said		c_replies_bad==0
client_replies.cut_in_the_results		c_replies_bad==0
client_replies.cut_in_the_rpc_header		c_replies_bad==0&&c_connects==1
client_replies.cut_in_the_msg_type		c_replies_bad==1
client_replies.cut_in_a_word			c_replies_bad==0&&c_connects==1
client_replies.each_call_is_denied_once	c_replies_bad==0&&c_connects==0&&c_disconnects==0
client_replies.reply_chunk_that_was_not_needed	c_replies_bad==0&&c_reply_chunks_used==1
client_replies.more_than_the_reply_chunk_holds	c_replies_bad==1
client_replies.reply_chunk_that_wraps		c_replies_bad==1
client_replies.reply_chunk_cut_short		c_replies_bad==0&&c_reply_chunk_bytes==24&&c_connects==1
client_replies.reply_chunk_and_inline		c_replies_bad==1
client_replies.reply_to_a_stranger		c_replies_unknown==10
client_replies.reply_to_the_last_rpc		c_replies_unknown==9
client_replies.reply_in_another_version	c_replies_bad==0&&c_dropped_silently==10&&c_replies_unknown==0
client_replies.reply_twice			c_replies_unknown>=20&&c_local_invalidations>=20
client_replies.write_with_immediate		c_receives_bad==1&&c_connects==1&&c_replies_bad==0
client_resends.segments_that_are_not_there	c_calls_again==0
client_resends.reply_resource_of_nothing	c_calls_again==0
client_resends.reply_resource_without_bounds	c_calls_again==1&&c_calls_unsendable==1&&c_aborted_rpcs==0
'

# By case: the reason for which its connection ended
ended_rows='
client_replies.cut_in_the_rpc_header	ended by its owner
client_replies.cut_in_a_word		ended by its owner
client_replies.reply_chunk_cut_short	ended by its owner
client_replies.write_with_immediate	Receive without a message
client_resends.what_was_learnt_is_lost	peer
'

# hostile_server OPTIONS CASE...: runs cases of the tester, which all have to apply, with
# these mount options
hostile_server()
{
	local options=$1

	shift
	all_apply=1 tester "" --server --actions --trigger \
		"exec $VM_TOP/scripts/vm/visit.sh ${nfs_host:-$addr4} $export_dir $options" \
		"$addr4" $((next_port += 100)) "$@" || failed=1
	rm -rf "${export_dir:?}"/*
}

# Two answers are valid. This client refuses Calls before it creates a session, and has a
# callback service when it does.
before_a_session()
{
	counted hostile_server vers=4.1 client_backward.a_call_before_a_session
	expect "S24 a Call before CREATE_SESSION: refused" \
		"c_backward_refused == 1 && c_backward_calls == 0"
	counted hostile_server vers=4.1 client_backward.a_call_as_a_session_begins
	expect "S24 a Call during CREATE_SESSION: answered" \
		"c_backward_refused == 0 && c_backward_calls == 1 && c_backward_replies == 1"
}

hostile_servers()
{
	local name expression

	next_port=21000
	modprobe -qa ib_uverbs rdma_ucm
	BESIDE=$(mktemp -d)
	export BESIDE
	# shellcheck disable=SC2086 # words
	hostile_server "" ${CASES:-$hostilities}
	[ -z "${CASES:-}" ] || [ "$CASES" = "$hostilities" ] || return
	while read -r name expression; do
		[ -n "$name" ] || continue
		rise "$BESIDE/$name.before" "$BESIDE/$name.after"
		expect "beside $name" "$expression"
	done <<<"$beside_rows"
	while read -r name expression; do
		[ -z "$name" ] || ended_for "$name" "$BESIDE/$name.view" "$expression"
	done <<<"$ended_rows"
	hostile_server vers=4.1 client_resends.each_call_is_refused_once
	before_a_session
	rm -rf "$BESIDE"
	unset BESIDE
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
