# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: callbacks to the tester. The tester's client opens a file in an
# NFSv4.1 session and gets a delegation; its NFSv3 WRITE then makes nfsd recall it. The
# cases here check the server's counters.

# converses NAME EXPRESSION CASE: runs a case of the tester and checks the rise of the
# server's counters
converses()
{
	all_apply=1 counted tester "" --export "$export_dir" --set "$server_set" \
		"$addr4" "$port" "$3" || failed=1
	expect "$1" "$2"
}

# The client accepted Calls before. nfsd repeats a callback that fails immediately, without
# a pause, as long as the client exists.
calls_no_more()
{
	local at=/sys/kernel/tracing n

	echo >"$at/trace"
	echo 1 >"$at/events/nfsd/nfsd_cb_restart/enable"
	converses "C-035 S15: no Call to a client that changed its BRS to NONE" \
		"s_backward_calls == 0" callback_answers.no_calls_after_brs_none
	echo 0 >"$at/events/nfsd/nfsd_cb_restart/enable"
	n=$(grep -c nfsd_cb_restart: "$at/trace")
	[ "$n" -lt 4 ] && ok "C-035 S15: nfsd does not retry forever" ||
		fail "C-035 S15: nfsd tries $n times"
}

group_backward()
{
	local v

	LEASE=90 nfs_up rdma2 || { fail "server"; return; }
	grace_over
	! set_parameter backward sometimes 2>/dev/null &&
		ok "C-035 backward=sometimes is refused" ||
		fail "C-035 backward=sometimes is accepted"
	for v in "" _in_version_one; do
		converses "B-01 a valid Reply${v//_/ }" \
			"s_backward_calls == 1 && s_backward_replies == 1" \
			"callbacks.form_of_a_call$v"
		converses "B-13 S21 one Call, after the session is ready${v//_/ }" \
			"s_backward_calls == 1 && s_backward_replies == 1" \
			"callback_paths.no_call_before_consent$v"
		converses "B-05 an abandoned Call keeps its credit${v//_/ }" \
			"s_backward_given_up == 1 && s_backward_calls == 2 && s_backward_replies == 1" \
			"callback_paths.a_call_that_is_given_up_keeps_its_credit$v"
		converses "a Reply to an abandoned callback${v//_/ }" \
			"s_dropped_reply == 1 && s_backward_replies == 1" \
			"callback_paths.an_answer_that_comes_late$v"
	done
	converses "C-035 S20: no Call to a client with BRS NONE" \
		"s_backward_calls == 0" callback_paths.a_client_that_takes_none
	converses "C-035: no Call from a server with backward=none" \
		"s_backward_calls == 0" callback_paths.a_server_that_is_to_make_none
	calls_no_more
	finish
}
