# shellcheck shell=bash disable=SC2015,SC2034,SC2086,SC2154 # as in nfs-cases.sh
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the tester calls the client of kunit/echo with valid and invalid
# chunks, and the service of kunit/echo calls the tester, with Calls of any size.

# The tester's trigger: a client connects to the tester, takes its Calls, and makes an RPC
# that begins before these Calls and ends after them.
step_echo-run()
{
	local rc=1

	# A failed case ends this process; its RPC would otherwise be retried for minutes
	# and hold the transport.
	trap 'echo_do abort; echo_do disconnect; exit 1' TERM
	echo_do disconnect
	if echo_port=$PORT echo_connect; then
		echo_do "run direction=forward count=1 window=1 retry call=8192 reply=4096" &
		wait "$!" && came forward=1 wrong=0 failed=0 && rc=0
	fi
	echo_do disconnect
	exit $rc
}

other_mount_is_well()
{
	echo 3 >/proc/sys/vm/drop_caches
	grep "^peer=$addr4:$port " /proc/net/rpc/xprtrdma2 >/tmp/view
	cmp /mnt/other "$export_dir/other" &&
		[ "$(words_of /tmp/view state connects)" = "state=up connects=1 " ] ||
		complain "$(cat /tmp/view)"
}

# The tester's settings: parameters of the service's Calls, and the server's parameter
# shellcheck disable=SC2016 # the tester's variables
called_set='
	case $SETTING in
	call)	[ -z "$VALUE" ] || echo "run direction=backward $VALUE" \
			>/sys/kernel/debug/rpcrdma2_echo/control &
		exit ;;
	calls)	[ -z "$VALUE" ] || echo "run direction=backward $VALUE" \
			>/sys/kernel/debug/rpcrdma2_echo/control || :
		exit ;;
	backward) echo "${VALUE:-genl}" >/sys/module/svcrdma2/parameters/backward ;;
	esac'

# The tester's settings of a client: an RPCSEC_GSS context of its service; its parameter; whether
# VALUE Calls are outstanding, which the service holds until then; and whether VALUE more Calls
# have been given up since VALUE was 0
# shellcheck disable=SC2016 # the tester's variables
caller_set='
	case $SETTING in
	gss_context)	gss_context; exit ;;
	receive_size)	echo "${VALUE:-20480}" >/sys/module/xprtrdma2/parameters/receive_size
			exit ;;
	held)	[ -n "$VALUE" ] || exit 0
		until grep -qw "backward_used=$VALUE" /proc/net/rpc/xprtrdma2; do sleep 0.1; done
		# A thread of the service may not hold its Call yet.
		while grep -q "backward_used=[1-9]" /proc/net/rpc/xprtrdma2; do
			echo release >/sys/kernel/debug/rpcrdma2_echo/control
			sleep 0.1
		done
		exit ;;
	esac
	number() { awk "\$1 == \"backward_unanswered\" { print \$2 }" \
		/sys/kernel/debug/xprtrdma2/counters; }
	case $VALUE in
	"") exit ;;
	0) number >/tmp/unanswered; exit ;;
	esac
	read -r before </tmp/unanswered
	for i in $(seq 200); do
		[ $(($(number) - before)) -lt "$VALUE" ] || exit 0
		sleep 0.1
	done
	echo "$(($(number) - before)) of $VALUE were given up" >&2
	exit 1'

# calls_of_service CASE RESULT...: runs a case of the tester, and checks the results of the
# service's RPCs
calls_of_service()
{
	counted tester "" --set "$called_set" "$addr4" "$echo_port" \
		"callback_sizes.$1" || failed=1
	check "$1: RPCs of the service: ${*:2}" came "${@:2}"
}

# A Call that is too long and may have no chunk fails, but not immediately.
calls_of_any_size()
{
	local before name

	check "a service that sends Calls" echo_do "serve $echo_port" || return
	for name in a_large_call_and_inline \
		a_large_call_of_a_server_that_is_inline \
		a_large_reply_and_inline; do
		calls_of_service "$name" backward=3 wrong=0 failed=1 error=-5
		[[ $name = *_reply_* ]] ||
			expect "$name: the server has not sent it" \
				"s_backward_too_long == 1 && s_backward_calls == 3"
		expect "$name: no chunk" \
			"s_backward_read_chunks + s_backward_write_chunks +
			s_backward_reply_chunks + s_backward_registrations == 0"
	done
	calls_of_service many_large_calls_and_inline backward=1 wrong=0 failed=0
	expect "many_large_calls_and_inline: the server has not sent them" \
		"s_backward_too_long == 40 && s_backward_calls == 1 && s_backward_errors == 0"
	calls_of_service a_large_call_in_chunks backward=1 wrong=0 failed=0
	expect "a_large_call_in_chunks: one Read chunk" \
		"s_backward_read_chunks == 1"
	calls_of_service a_large_reply_of_another_xid backward=2 wrong=0 failed=1 error=-5
	expect "a_large_reply_of_another_xid: Reply chunks" \
		"s_backward_reply_chunks == 3"
	before=$(counters)
	calls_of_service handle_of_another_call backward=0 wrong=0
	ended_for "handle_of_another_call" "$server_view" "foreign handle invalidated"
	calls_of_service handle_in_a_resprop backward=0 wrong=0
	ended_for "handle_in_a_resprop" "$server_view" "foreign handle invalidated"
	check "the service ends" echo_do close
}

# called_cases PORT CASE...: runs cases of the tester against a client with a service
called_cases()
{
	tester "" --server --set "$gss_set$caller_set" --trigger \
		"$VM_TOP/scripts/vm/nfs-cases.sh echo-run rdma2" "$addr4" "$@"
}

# With backward=none a loaded service gets no Calls.
calls_in_vain()
{
	local at=/sys/module/xprtrdma2/parameters/backward

	echo none >"$at"
	refuses "$at" some
	counted called_cases 23900 client_called.a_service_that_takes_no_calls ||
		failed=1
	expect "S20 backward=none: the service got no Call" \
		"c_backward_calls == 0 && c_backward_refused == 1"
	echo genl >"$at"
}

# The client closes a connection on which it has no free request for an error.
no_answer_left()
{
	counted called_cases 23950 client_called.no_request_for_an_error ||
		failed=1
	expect "S46 no free request for an error: the Reply is the reason" \
		"c_ended_REPLY == 1"
}

group_backward-rpc-called()
{
	nfs_up rdma2 && modprobe rpcrdma2_echo && backward_level genl ||
		{ fail "server"; return; }
	check "another mount" eval \
		"mount_nfs rdma2 4.2 /mnt && head -c 1000000 /dev/urandom >/mnt/other"
	inapplicable=client_called.a_service_that_takes_no_calls \
		called_cases 23000 ${CASES:-client_chunks client_called} || failed=1
	if [ -z "${CASES:-}" ]; then
		calls_in_vain
		no_answer_left
	fi
	check "the other mount keeps its connection, and its data are correct" \
		other_mount_is_well
	check "umount" umount_all
	check "all transports to the tester are gone" unused
	[ -n "${CASES:-}" ] || calls_of_any_size
	rmmod rpcrdma2_echo
}
