# shellcheck shell=bash disable=SC2015,SC2034,SC2086,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the tester (tester/) against the ends of this project and against
# the kernel's own. A tester's case that does not apply to a peer counts neither as passed
# nor as skipped; a comment has the reason, and lists in this file have the names.

# tester KNOWN ARGUMENT...: runs cases of the tester. Cases in the lines of KNOWN have to fail,
# with the text behind the name in the reason. At least one case has to apply. Cases in
# $inapplicable must not apply to the peer, and all others have to, except that "any" of them
# may do either.
tester()
{
	local status options=(--lines --wait "$patience" --known "$1")

	[ "${inapplicable:-}" = any ] || options+=(--not-applicable "${inapplicable:-}")

	"$VM_TOP/tester/rpcrdma2-test" "${options[@]}" "${@:2}" 2>&1 |
		sed -u 's/^rpcrdma2-test: /FAIL &/; s/^Traceback/FAIL the tester: &/; /^\(ok\|FAIL\|#\) /!s/^/# /'
	status=${PIPESTATUS[0]}
	case $status in
	[012])	;;
	3)	echo "FAIL the tester: no case applies of ${*: -1}" ;;
	*)	echo "FAIL the tester ended early, with $status" ;;
	esac
	return "$status"
}

# known_of LINES: of these lines for KNOWN, prints those whose cases are in $CASES
known_of()
{
	grep -Ff <("$VM_TOP/tester/rpcrdma2-test" --list ${CASES:-} |
		sed -n 's/^[a-z_]*\.[^ ]*$/&: /p') <<<"$1"
}

# require VERSION...: demands at least one passed case of each of these versions, if all cases
# run: a peer without a version would leave all its cases out
require()
{
	local version

	required=()
	[ "$proto" = rdma2 ] && [ -z "${CASES:-}" ] || return
	for version in "$@"; do
		required+=(--require "$version")
	done
}

# A function for the tester's settings: the services of this machine get an RPCSEC_GSS context
# with the handle VALUE, in the format of the kernel: the flags of RFC 4121, the time of its
# end, a sequence number, the enctype of aes256-cts-hmac-sha1-96, and a key
# shellcheck disable=SC2016 # the tester's variables
gss_set='
	gss_context() {
		[ -n "$VALUE" ] || return 0
		end=$(($(date +%s) + 3600))
		le=$(printf %08x $end | sed "s/\(..\)\(..\)\(..\)\(..\)/\4\3\2\1/")
		printf "\\\\x%s %d 0 0 0 krb5 \\\\x02000000%s%016d12000000%s client@TEST\n" \
			"$VALUE" $end $le 0 "$(printf %02x $(seq 32))" \
			>/proc/net/rpc/auth.rpcsec.context/channel
	}'

# If the server lacks a parameter this script fails, and so does the case.
# shellcheck disable=SC2016 # the tester's variables
server_set=$gss_set'
	case $SETTING in
	send_size)	default=65536 ;;
	versions)	default=any ;;
	credits)	default=64 ;;
	backward)	default=inline ;;
	receive_size)	default=20480 ;;
	receive_memory)	default=0
			# Wait until old connections have released their memory. Each of
			# them, like each listener, holds a reference to the module.
			old=0
			while [ -n "$VALUE" ] && [ "$(cat /sys/module/svcrdma2/refcnt)" -gt \
					"$(grep -c rdma /proc/fs/nfsd/portlist)" ]; do
				[ $((old += 1)) -lt 200 ] ||
					{ echo "old connections stay" >&2; exit 1; }
				sleep 0.1
			done ;;
	expire)	[ -z "$VALUE" ] || {
			# grep also fails if another client disappears meanwhile
			info=$(grep -ls "\"$VALUE\"" /proc/fs/nfsd/clients/*/info)
			[ -n "$info" ] && echo expire >"${info%info}ctl"
		}
		exit ;;
	gss_context)	gss_context; exit ;;
	exports)	[ -n "$VALUE" ] || exec pkill -CONT rpc.mountd
			pkill -STOP rpc.mountd && exec exportfs -f ;;
	esac
	echo "${VALUE:-$default}" >"/sys/module/svcrdma2/parameters/$SETTING"'

# fragment 0|1: fault injection makes all allocations of four or more pages fail in nfsd's
# threads. Two pages are a slab of objects of a page, in a kernel that debugs slabs.
fragment()
{
	local pid

	for pid in $(pgrep -x nfsd); do
		echo "$1" >"/proc/$pid/make-it-fail"
	done
	settings /sys/kernel/debug/fail_page_alloc min-order=2 task-filter=Y ignore-gfp-wait=N \
		verbose=0 times=-1 probability=$(($1 * 100))
}

# Receives of 64 KiB need no pages that lie side by side, or two of them at most.
conformance_fragmented()
{
	can_fail /sys/kernel/debug/fail_page_alloc "Receives without contiguous pages" || return 0
	set_parameter receive_size 65536
	fragment 1
	# fork() can then not allocate a stack.
	check "memory is fragmented" eval \
		"! (echo 1 >/proc/self/make-it-fail && /bin/true && :) 2>/dev/null"
	tester "" --export "$export_dir" "$addr4" "$port" \
		properties.messages_as_long_as_a_receive chunks.read_chunk \
		credits.all_that_is_granted || failed=1
	fragment 0
	set_parameter receive_size 20480
}

# The Send CQ reports a refused chain after the flushed Receives have ended the connection.
conformance_refused()
{
	modprobe xprtrdma2
	can_fail "$faults/fail_refused" "a refused chain is reported late" || return 0
	with_fault fail_refused 100 tester "" --export "$export_dir" "$addr4" "$port" \
		lost.an_rdma_read_is_refused lost.an_rdma_write_is_refused \
		lost.a_send_is_refused || failed=1
	check "S46 a refused chain is reported late: the fault was injected" \
		[ "$(cat "$faults/fail_refused/times")" -eq 94 ]
}

# A Call of several pages that waits for mountd is not deferred as a copy; sunrpc drops it
# and closes the connection, as with TCP. Calls of one page are copied if mountd is slow, so
# only this case runs while the event is traced.
copies_no_call()
{
	local at=/sys/kernel/tracing

	echo 1 >$at/events/sunrpc/svc_defer/enable
	tester "" --export "$export_dir" --set "$server_set" "$addr4" "$port" \
		layout.a_call_that_can_not_begin || failed=1
	check "a Call of several pages waits without a copy" \
		eval "! grep svc_defer: $at/trace"
	echo 0 >$at/events/sunrpc/svc_defer/enable
}

# Cases of C-075, which do not apply to a server that invalidates no handle
nominated='
invalidation.after_the_data
invalidation.handle_of_a_read_chunk
invalidation.handle_of_a_reply_chunk
invalidation.handle_of_a_write_chunk
invalidation.one_of_several_handles
'

# Succeeds if the server invalidates none of the handles that Calls nominate.
sends_are_plain()
{
	local out status

	out=$(inapplicable=$nominated tester "" --export "$export_dir" "$addr4" "$port" $nominated)
	status=$?
	[ "$status $(grep -c 'does not use Send With Invalidate' <<<"$out")" = "3 5" ] ||
		complain "status $status: $out"
}

# A server whose device cannot invalidate uses plain Sends, even if a Call nominates a
# handle.
conformance_plain()
{
	local name="C-007 a device without remote invalidation"

	can_fail /sys/kernel/debug/xprtrdma2/fail_extensions "$name" || return 0
	fault fail_extensions
	check "$name: plain Sends for nominated handles" sends_are_plain
	no_fault fail_extensions
}

# Prints the modules of the tester, except those of the groups hostile and
# backward-rpc-called.
cases_of_servers()
{
	local module

	for module in "$VM_TOP"/tester/rpcrdma2_test/cases/[a-z]*.py; do
		module=$(basename "$module" .py)
		case $module in
		client_*|held|callback_sizes) ;;
		*)	echo "$module" ;;
		esac
	done
}

# Cases that need the status of a refused transfer. soft-iWARP completes a Send and an RDMA Write
# when TCP has taken them, and at the peer's Terminate it flushes an RDMA Read
# (siw_proc_terminate()), so the server does not learn which Call broke the connection.
siw_differs='
lost.a_send_is_refused: code 8, not 10
lost.an_rdma_read_is_refused: the third time: the peer has ended the connection
lost.an_rdma_write_is_refused: the third time: the peer has ended the connection
'

# Cases that do not apply to a server with version 2, with properties, and with remote
# invalidation; and those with a real context, which the group kerberos has
server_inapplicable='
connection.no_invalidation_when_the_flag_of_the_server_is_clear
gss.data_and_checksum_in_pieces
gss.data_and_checksum_in_pieces_in_version_one
gss.header_in_a_chunk
gss.header_in_a_chunk_in_version_one
gss.token_in_pieces
gss.token_in_pieces_in_version_one
gss.wrong_lengths_of_a_token
gss.wrong_lengths_of_a_token_in_version_one
gss.wrong_lengths_of_data
gss.wrong_lengths_of_data_in_version_one
properties.properties_refused
versions.version_two_refused
'

group_conformance()
{
	local known='' beside=''

	# soft-iWARP has no RDMA Write With Immediate.
	[ "${DEVICE:-rxe}" = rxe ] ||
		known=$(known_of "$siw_differs") beside=lost.a_write_with_immediate
	check "the library of messages" "$VM_TOP/tester/rpcrdma2-test" --self-test
	# nfsd waits a tenth of the lease for the answer to a callback, longer than the tester
	# waits for further callbacks.
	LEASE=$((10 * patience)) nfs_up "$proto" || { fail "server"; return; }
	dmesg -C
	require 1 2
	# shellcheck disable=SC2046 # words
	inapplicable=$server_inapplicable$beside tester "$known" --export "$export_dir" \
		--set "$server_set" "${required[@]}" \
		"$addr4" "$port" ${CASES:-$(cases_of_servers)} || failed=1
	if [ -z "${CASES:-}" ]; then
		copies_no_call
		check "S36 the log names the client and the parameter" \
			eval "dmesg | grep -q 'svcrdma2: client $addr4:.* versions=any'"
		conformance_fragmented
		conformance_refused
		conformance_plain
	fi
}

# The largest RPC that nfsd of this kernel supports, 4 MiB from 7.2 on. The kernel's NFS
# client uses at most 1 MiB on all kernels, so the tester sends it.
group_payload()
{
	local most

	nfs_up "$proto" || { fail "server"; return; }
	rpc.nfsd 0
	echo $((16 << 20)) >/proc/fs/nfsd/max_block_size
	most=$(cat /proc/fs/nfsd/max_block_size)
	nfsd_up "$proto"
	mount_nfs "$proto" 3 /mnt "rsize=$most,wsize=$most" || fail "mount"
	check "the client: rsize of 1048576" grep " /mnt .*,rsize=1048576," /proc/mounts
	check "umount" umount_all
	counted tester "" --export "$export_dir" "$addr4" "$port" chunks.largest_payload ||
		failed=1
	expect "$most bytes read and written in one chunk each" \
		"s_read_chunk_bytes == $most && s_write_chunk_bytes == $most && s_read_chunks == 1 && s_write_chunks == 1"
}

# tester_of_clients PORT [CASE...]: runs the tester's server against clients, which mount from
# the tester and use nfsd's files
tester_of_clients()
{
	tester "" --server \
		--trigger "$(trigger "vers=3,proto=$proto,soft,timeo=100,retrans=2")" \
		"${required[@]}" "$addr4" "$@" || failed=1
}

# Modules of the tester that need the client of kunit/echo, or single actions
echo_clients='client_called client_chunks'
by_actions='client_hours client_killed client_overheard client_recalls client_storms'

# Prints the other modules for clients, except those of the groups negotiate, properties and
# hostile.
cases_of_clients()
{
	local module

	for module in "$VM_TOP"/tester/rpcrdma2_test/cases/client_*.py; do
		module=$(basename "$module" .py)
		case " $negotiation client_properties $hostilities $echo_clients $by_actions " in
		*" $module "*) ;;
		*)	echo "$module" ;;
		esac
	done
}

# Cases that do not apply to a client whose callback service takes no chunks, and to the commands
# of client_run
client_inapplicable='
client_backward.a_call_as_a_session_begins
client_backward.a_call_before_a_session
client_backward.a_client_that_takes_no_calls
client_backward.reads_that_hang
client_calls.invalidation_of_one_handle
client_calls.long_calls
client_codes.too_many_chunks_of_a_call
'

# The first RPC of a connection is bound neither by limits of an earlier connection nor by a
# size parameter of this end.
first_rpcs()
{
	local at=/sys/module/xprtrdma2/parameters case=client_calls.first_rpc_of_a_connection

	tester_of_clients 22500 $case
	echo 4096 >$at/send_size
	tester_of_clients 22510 $case
	echo 65536 >$at/send_size
	echo 2 >$at/versions
	tester_of_clients 22520 $case
	echo any >$at/versions
}

# Cases in which a client may choose how it handles Calls of a server, or messages that may
# be Calls; these are the choices of rdma2.
calls_to_rdma2()
{
	local at=/sys/module/xprtrdma2/parameters/backward

	measure tester_of_clients 22100 client_codes.unknown_procs client_codes.other_versions
	expect "S54 messages without a direction get no answer" \
		"c_dropped_silently >= 7 && c_backward_refused + c_properties_refused == 0"
	measure tester_of_clients 22200 client_backward.a_call_in_version_one
	expect "B-19 S24 a Call of version 1 without a service gets no Reply" \
		"c_backward_unanswered == 1 && c_backward_refused == 0"
	measure tester_of_clients 22400 client_backward.a_call_that_is_too_long
	expect "B-14 a Call that is too long: the failed Receive is the reason" \
		"c_ended_RECEIVE == 1"
	echo genl >$at
	tester_of_clients 22000 client_codes.too_many_chunks_of_a_call
	echo none >$at
	tester_of_clients 22300 client_backward.a_client_that_takes_no_calls
	echo inline >$at
}

group_conformance-client()
{
	nfs_up "$proto" || { fail "server"; return; }
	require 2
	# shellcheck disable=SC2046 # words
	inapplicable=$client_inapplicable tester_of_clients 21000 ${CASES:-$(cases_of_clients)}
	required=()
	if [ "$proto" = rdma2 ] && [ -z "${CASES:-}" ]; then
		first_rpcs
		calls_to_rdma2
	fi
}

# Cases that in-tree's server fails, with the reason; conformance.rst has the causes
intree_differs='
callback_answers.a_grant_wakes_all_that_wait_in_version_one: 2 Calls, and none is granted yet
callback_answers.no_more_calls_than_are_granted_in_version_one: 2 Calls, and none is granted yet
callback_answers.replies_of_two_xids_in_version_one: no Call after Raw
callback_answers.replies_with_chunks_in_version_one: after the answer: the peer has ended the connection
connection.default_threshold_of_version_one: a Send of 2204 bytes, more than 1024
connection.invalidation_when_both_flags_are_set: invalidation, but the own flag is clear
connection.no_invalidation_when_the_flag_of_the_server_is_clear: invalidation, but the flag of the server is clear
connection.sizes_are_of_one_connection: a Send of 2204 bytes, more than 1024
headers.msgp: a Reply expected, not Error
headers.version_one_errors: \x00\x00\x00\x01\x00\x00\x00 \x00\x00\x00\x01\x00
headers.version_one_short_messages: a Reply expected, not Error
headers.version_one_two_xids: rdma_xid 0x
held.replies_in_small_steps_in_version_one: the connection goes on
held.replies_that_are_not_taken_in_version_one: the connection goes on
layout.all_in_position_zero_in_version_one: 2048 wrong words, the first at byte [8192]
layout.inline_behind_a_chunk_in_version_one: 700 wrong words, the first at byte [8192]
layout.last_word_inline_in_version_one: 701 wrong words, the first at byte [8188]
layout.more_than_data_in_a_chunk_in_version_one: 2048 wrong words, the first at byte [8192]
layout.position_zero_and_another_in_version_one: status 10044
layout.two_chunks_in_version_one: 2048 wrong words, the first at byte [8192]
'

# Cases of version 1 that do not apply to it: it has no settings, no version 2 and Receives of
# 4096 bytes, and the group has no realm
intree_inapplicable='
callback_answers.version_of_the_last_call_in_version_one
callback_paths.a_call_that_is_given_up_keeps_its_credit_in_version_one
callback_paths.an_answer_beside_calls_that_wait_in_version_one
callback_paths.an_answer_that_comes_late_in_version_one
connection.sizes_last_as_long_as_the_connection
gss.data_and_checksum_in_pieces_in_version_one
gss.header_in_a_chunk_in_version_one
gss.token_in_pieces_in_version_one
gss.wrong_lengths_of_a_token_in_version_one
gss.wrong_lengths_of_data_in_version_one
layout.all_inline_in_version_one
layout.gss_behind_a_chunk_in_version_one
layout.gss_behind_a_long_header_in_version_one
layout.gss_inline_in_version_one
layout.rpc_header_in_a_chunk_in_version_one
layout.rpc_header_in_another_chunk_in_version_one
'

# Cases that apply to a client without version 2; in-tree's passes all of them.
intree_client='
client_backward.a_message_that_finds_no_receive
client_calls.calls_within_the_grant
client_calls.every_call_is_well_formed
client_calls.handles_die_with_their_rpc
client_calls.never_done
client_calls.no_empty_chunks
client_calls.no_reply_chunk_for_small_replies
client_calls.only_data_go_in_chunks
client_calls.positions
client_calls.reply_chunk_for_large_replies
client_calls.write_list_of_a_reply_without_data
client_negotiation.foreign_private_data
client_negotiation.foreign_private_data_in_version_two
client_negotiation.no_private_data
client_negotiation.private_data
client_negotiation.private_data_of_another_format
client_negotiation.use_of_version_one
'

group_conformance-intree()
{
	local inapplicable=${CASES:+any}

	# nfsd does not repeat a callback while the tester waits for further ones.
	LEASE=$((10 * patience)) nfs_up rdma || { fail "server"; return; }
	inapplicable=${inapplicable:-$intree_inapplicable} \
		tester "$(known_of "$intree_differs")" --export "$export_dir" "$addr4" "$port" \
		${CASES:-1} || failed=1
	proto=rdma
	tester_of_clients 21000 ${CASES:-$intree_client}
}
