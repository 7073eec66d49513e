# shellcheck shell=bash disable=SC2015,SC2034,SC2086,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the version that a mount negotiates with each kind of server, and
# the cost of this; and property messages during a connection: announcements, requests and
# answers. The servers are cases of the tester; trace events have the client's decisions.

events=/sys/kernel/tracing/events/xprtrdma2
params=/sys/module/xprtrdma2/parameters

# Modules of the tester for this group
negotiation='client_fallback client_negotiation client_pinned client_refused'

# By case of the tester: the versions that the client settled for, and its decisions as
# answer>action, in the words of the trace event with _ for a blank. After "fail" mount.nfs
# reports EPROTONOSUPPORT, and the log has the reason.
conclusions='
client_fallback.reply_in_version_one	1	version_1>version_1
client_fallback.lost_before_the_first_reply 1,1	ERR_VERS>version_1
client_fallback.dialect_of_version_two	1	foreign>connect_again,_version_1
client_fallback.garbage			1	foreign>connect_again,_version_1
client_fallback.version_one_when_it_can_connect 2,1 CONNPROP>version_2,foreign>connect_again,_version_1
client_fallback.plainly_when_it_can_connect 2,2	CONNPROP>version_2,BAD_XDR>connect_again,_plainly,CONNPROP>version_2
client_fallback.lost_during_the_probe	2	lost>connect_later,CONNPROP>version_2
client_fallback.lost_twice_during_the_probe 2	lost>connect_later,lost>connect_later,CONNPROP>version_2
client_fallback.lost_each_time		1	lost>connect_later,lost>connect_later,lost>connect_again,_version_1
client_fallback.bad_connprop		2	silence>try_version_2,Reply>version_2
client_fallback.late_connprop		2	silence>try_version_2,CONNPROP>version_2
client_fallback.late_invalid_option	2	silence>try_version_2,lacks_properties>version_2
client_fallback.late_bad_xdr		2	silence>try_version_2,BAD_XDR>connect_again,_plainly,CONNPROP>version_2
client_fallback.silence			1	silence>try_version_2,silence>connect_again,_version_1
client_fallback.silence_and_an_impatient_rpc 1	silence>try_version_2,silence>connect_again,_version_1
client_fallback.lost_on_trial		1	silence>try_version_2,lost>connect_again,_version_1
client_fallback.err_vers_on_trial	1	silence>try_version_2,ERR_VERS>connect_again,_version_1
client_fallback.dialect_on_trial	1	silence>try_version_2,foreign>connect_again,_version_1
client_fallback.invalid_option_on_trial	1	silence>try_version_2,lacks_RPCs>connect_again,_version_1
client_fallback.no_common_version_on_trial -	silence>try_version_2,ERR_VERS>fail
client_fallback.version_two_is_asked_for_each_time 2,2 CONNPROP>version_2,CONNPROP>version_2
client_fallback.version_one_is_remembered 1,1	ERR_VERS>version_1
client_fallback.version_one_after_silence_is_remembered 1,1 silence>try_version_2,silence>connect_again,_version_1
client_fallback.version_one_after_losses_is_remembered 1,1 lost>connect_later,lost>connect_later,lost>connect_again,_version_1
client_fallback.version_one_after_garbage_is_remembered 1,1 foreign>connect_again,_version_1
client_fallback.version_one_without_a_reply 1,2	foreign>connect_again,_version_1,CONNPROP>version_2
client_fallback.version_one_is_refused_too 1,2	ERR_VERS>version_1,ERR_VERS>connect_again,CONNPROP>version_2
client_fallback.version_one_is_gone	1,1,2	ERR_VERS>version_1,ERR_VERS>connect_again,CONNPROP>version_2
client_fallback.version_one_is_lost	1,1,2	ERR_VERS>version_1,CONNPROP>version_2
client_fallback.version_one_is_silent	1,1,2	ERR_VERS>version_1,CONNPROP>version_2
client_fallback.version_two_is_gone	2,1	CONNPROP>version_2,ERR_VERS>version_1
client_negotiation.version_one_in_err_vers 1	ERR_VERS>version_1
client_negotiation.no_common_version	-	ERR_VERS>fail
client_negotiation.no_properties	2	lacks_properties>version_2
client_negotiation.experimental_ids_refused 2	BAD_XDR>connect_again,_plainly,CONNPROP>version_2
client_negotiation.another_dialect	1	BAD_XDR>connect_again,_plainly,BAD_XDR>connect_again,_version_1
client_negotiation.another_error	1	foreign>connect_again,_version_1
client_negotiation.the_server_speaks_first 2	CONNPROP>version_2
client_refused.invalid_proc_for_the_first 2,1	CONNPROP>version_2,lacks_RPCs>connect_again,_version_1
client_refused.invalid_option_for_the_first 2,1	CONNPROP>version_2,lacks_RPCs>connect_again,_version_1
client_refused.invalid_proc_for_the_fourth 2,1	CONNPROP>version_2,lacks_RPCs>connect_again,_version_1
client_refused.both_versions_for_the_first 2,1	CONNPROP>version_2,lacks_RPCs>connect_again,_version_1,ERR_VERS>fail
client_refused.both_versions_for_the_fourth 2,1	CONNPROP>version_2,lacks_RPCs>connect_again,_version_1,ERR_VERS>fail
client_refused.vers_for_one_each_time	2,2	CONNPROP>version_2,ERR_VERS>connect_again,CONNPROP>version_2
client_pinned.to_version_one		1	-
client_pinned.to_version_one_in_vain	1	ERR_VERS>fail
client_pinned.to_version_two		2	CONNPROP>version_2
client_pinned.to_version_two_in_vain	-	ERR_VERS>fail
client_pinned.to_version_two_another_dialect -	foreign>fail
client_pinned.refused_with_invalid_option 2	CONNPROP>version_2,lacks_RPCs>fail
client_pinned.refused_with_invalid_proc	2	CONNPROP>version_2,lacks_RPCs>fail
client_pinned.least_version		-	ERR_VERS>fail
client_pinned.least_version_refused	2	CONNPROP>version_2,lacks_RPCs>fail
'

# shellcheck source=scripts/vm/visit.sh
. "$(dirname "${BASH_SOURCE[0]}")/visit.sh" || exit 2

peer_mount()
{
	mkdir -p "/mnt.$1"
	timeout -s KILL 60 mount -t nfs -o "vers=3,proto=rdma2,nolock,port=$1" \
		"$addr4:$export_dir" "/mnt.$1" 2>"/tmp/mount.$1"
}

# refusal PORT: checks the error of mount.nfs, and that the log has the reason once
refusal()
{
	local port=$1 lines

	grep -q 'Protocol not supported' "/tmp/mount.$port" ||
		{ cat "/tmp/mount.$port"; return 1; }
	lines=$(dmesg | grep "no common version with server $addr4 port $port:")
	if [ "$(grep -c . <<<"$lines")" -ne 1 ]; then
		echo "the kernel's log: $lines"
		return 1
	fi
}

# Checks the decisions of all clients of the tester, which have separate ports.
all_concluded()
{
	local name versions acted port why got

	while read -r name versions acted; do
		[ -n "$name" ] || continue
		port=$(port_of "$name") why=''
		got=$(actions "${port:-0}")
		[ "$got" = "${acted#-}" ] || why+=", actions $got"
		got=$(settled "${port:-0}")
		[ "$got" = "${versions#-}" ] || why+=", settled for $got"
		[[ $acted != *">fail" ]] || got=$(refusal "${port:-0}") || why+=", $got"
		without "$name: actions" "$why"
	done <<<"$conclusions"
}

port_of()
{
	awk -v name="$1" '$1 == name { print $2; exit }' /tmp/visits
}

# If version 1 is not allowed, a refused RPC fails, and the log has the reason once.
refusals_logged()
{
	local name n

	for name in client_pinned.{one,all}_of_three; do
		n=$(dmesg | grep -c \
			"no common version with server $addr4 port $(port_of "$name"):")
		same "$name: logged once" "$n" 1
	done
	check "C-094 BAD_XDR for the first RPC: the mount fails with EIO" \
		grep 'mount system call failed' \
		"/tmp/mount.$(port_of client_refused.bad_xdr_for_the_first)"
}

# The tester's settings: a pin of the tester's port, or of its address; versions; send_size
# shellcheck disable=SC2016 # the tester's variables
client_set='
	case $SETTING in
	pin)	set -- $VALUE
		echo "${1:+$ADDRESS:$PORT=$1}${2:+ $ADDRESS=$2}" ;;
	versions)	echo "${VALUE:-any}" ;;
	send_size)	echo "${VALUE:-65536}" ;;
	esac >"/sys/module/xprtrdma2/parameters/$SETTING"'

# real_server NAME PORT VERSION
real_server()
{
	check "$1: mount" peer_mount "$2" &&
		check "$1: use" use "/mnt.$2" &&
		check "$1: the view has version $3" grep -q \
			"^peer=$addr4:$2 state=up .*version=$3 " /proc/net/rpc/xprtrdma2
	umount "/mnt.$2"
}

# In-tree's server, which has version 1 only, and svcrdma2, in one kernel
real_servers()
{
	local before name

	if load_modules rdma 2>/dev/null && listen_on rdma 20050; then
		name="C-101 the in-tree server"
		real_server "$name" 20050 1
		same "$name: version 1 by ERR_VERS" "$(actions 20050) $(settled 20050)" "ERR_VERS>version_1 1"
	else
		echo "skip C-101 the in-tree server # this kernel has none beside svcrdma2"
	fi
	name="S29 svcrdma2"
	real_server "$name" "$port" 2
	before=$(actions "$port")
	same "$name: version 2 ($before)" "$(settled "$port")" 2
}

# pin_refused VALUE WORD: a case that the parameter keeps its value, and that one line in
# the log names the word
pin_refused()
{
	local old said

	old=$(cat "$params/pin")
	dmesg -C
	if echo "$1" 2>/dev/null >"$params/pin"; then
		fail "S34 pin '$1' is accepted"
		return
	fi
	said=$(dmesg | grep 'parameter pin')
	[ "$(wc -l <<<"$said")" -eq 1 ] && grep -qF "'$2'" <<<"$said" &&
		[ "$(cat "$params/pin")" = "$old" ] &&
		ok "S34 pin '$1' is refused, and the log has the reason" ||
		fail "S34 pin '$1': $said"
}

pins()
{
	local value="192.0.2.1=1 [fd00::2]:20049=2,$addr4=2"

	echo "$value" >"$params/pin"
	same "S34 reading pin returns its value" "$(cat "$params/pin")" "$value"
	pin_refused "192.0.2.1=1 192.0.2.300=1" 192.0.2.300=1
	pin_refused "192.0.2.1=3" 192.0.2.1=3
	pin_refused "[fd00::2=1" "[fd00::2=1"
	echo >"$params/pin"
}

negotiate_up()
{
	nfs_up rdma2 || { fail "server"; return 1; }
	modprobe -qa ib_uverbs rdma_ucm
	echo any >"$params/versions"
	echo 1 >"$events/xprt2_negotiate/enable"
	echo 1 >"$events/xprt2_settled/enable"
}

# unmount_visits: unmounts the mounts of failed cases
unmount_visits()
{
	local dir

	sed -n 's|^[^ ]* \(/mnt\.[0-9]*\) nfs .*|\1|p' /proc/mounts |
		while read -r dir; do
			umount -f -l "$dir"
		done
}

# visits CASE...: runs cases of the tester, each with one or more mounts
visits()
{
	rm -f /tmp/visits /tmp/go.*
	patience=$patience ADDRESS=$addr4 all_apply=1 tester "" --server --actions --set "$client_set" \
		--trigger "exec $VM_TOP/scripts/vm/visit.sh $addr4 $export_dir" \
		"$addr4" 21000 "$@" || failed=1
	no_faults
	unmount_visits
}

# By case, one row for each of its looks: the client's versions and actions, and the number
# of log lines about them
looks='
refused		1,1	ERR_VERS>version_1 1
refused		1,1,1,1	ERR_VERS>version_1 1
refused		1,1,1,1,1,1 ERR_VERS>version_1,ERR_VERS>version_1 2
silent		1,1	silence>try_version_2,silence>connect_again,_version_1 1
silent		1,1,1,1	silence>try_version_2,silence>connect_again,_version_1 1
silent		1,1,1,1,1,1 silence>try_version_2,silence>connect_again,_version_1,silence>connect_again,_version_1 2
closing		1,1	lost>connect_later,lost>connect_later,lost>connect_again,_version_1 1
closing		1,1,1,1	lost>connect_later,lost>connect_later,lost>connect_again,_version_1 1
closing		1,1,1,1,1,1 lost>connect_later,lost>connect_later,lost>connect_again,_version_1,lost>connect_later 1
not_under_an_rpc 1,1	silence>try_version_2,silence>connect_again,_version_1 1
not_under_an_rpc 1,1,2	silence>try_version_2,silence>connect_again,_version_1,CONNPROP>version_2 1
not_under_an_rpc 1,1,2,2 silence>try_version_2,silence>connect_again,_version_1,CONNPROP>version_2,CONNPROP>version_2 1
version_two_now	*,2,2	* *
not_in_vain	1	ERR_VERS>version_1 1
not_in_vain	1	ERR_VERS>version_1 1
not_in_vain	1,2	ERR_VERS>version_1,CONNPROP>version_2 1
replaced_while_it_was_down 2,1,1 CONNPROP>version_2,ERR_VERS>version_1 1
down_with_its_answer *	*,ERR_VERS>version_1 *
down_with_its_answer 2,1,2 CONNPROP>version_2,ERR_VERS>version_1,CONNPROP>version_2 0
down_by_each_probe 2,1	CONNPROP>version_2,lost>connect_later,lost>connect_again,_version_1 1
'

# Compares each look of each case with its row.
all_looks()
{
	local name expected got n=0 last=''

	while read -r name expected; do
		[ -n "$name" ] || continue
		[ "$name" = "$last" ] || n=0
		last=$name n=$((n + 1))
		got=$(sed -n "${n}p" "/tmp/looks.client_hours.$name")
		expected=${expected//$'\t'/ }
		# shellcheck disable=SC2053 # a pattern
		[[ $got == $expected ]] && ok "$name, look $n: $expected" ||
			fail "$name, look $n: not $expected: $got"
	done <<<"$looks"
}

# S34: the client's memory of a server of version 1, over hours of the guest's clock
group_negotiate-hour()
{
	local looks_of=/tmp/looks.client_hours.not_in_vain

	negotiate_up || return
	visits ${CASES:-client_hours}
	if [ -z "${CASES:-}" ]; then
		all_looks
		rise "$looks_of.1" "$looks_of.2"
		expect "S34 an RPC waits for a connection" \
			"c_connects == 0 && c_connect_failures > 1"
	fi
}

group_negotiate()
{
	local refused

	negotiate_up || return
	visits ${CASES:-$negotiation}
	if [ -z "${CASES:-}" ]; then
		all_concluded
		refusals_logged
		# The client closes a connection whose first RPC was refused, to connect with the
		# next version.
		refused=client_refused.invalid_proc_for_the_first
		rise "/tmp/before.$refused" "/tmp/after.$refused"
		expect "$refused: the version is the reason" "c_ended_VERSION == 1"
		pins
		real_servers
	fi
}

# By case: an expression over the rise of the client's counters in a visit
counted='
done_and_another_value	c_resprops==2&&c_properties_in_vain==0&&c_reqprops_sent==2
done_as_an_option	c_resprops==2&&c_properties_in_vain==0&&c_reqprops_sent==2
rejected		c_resprops==2&&c_properties_in_vain==0&&c_reqprops_sent==2
done_and_rejected	c_resprops==2&&c_properties_in_vain==0&&c_reqprops_sent==2
what_was_not_asked	c_resprops==2&&c_properties_in_vain==0&&c_reqprops_sent==2
bad_answer		c_resprops==0&&c_properties_in_vain==2&&c_reqprops_sent==2
bad_answer_as_an_option	c_resprops==0&&c_properties_in_vain==2&&c_reqprops_sent==2
answer_with_another_xid	c_resprops==0&&c_properties_in_vain==0&&c_dropped_silently==1
no_answer_yet		c_resprops==0&&c_properties_in_vain==0&&c_reqprops_sent==1
bad_xdr_for_a_wish	c_properties_in_vain==2&&c_replies_unknown==0&&c_reqprops_sent==2
invalid_proc_for_a_wish	c_properties_in_vain==1&&c_replies_unknown==0&&c_reqprops_sent==1
invalid_option_for_a_wish c_properties_in_vain==1&&c_replies_unknown==0&&c_reqprops_sent==1
err_vers_for_a_wish	c_properties_in_vain==1&&c_replies_unknown==0&&c_reqprops_sent==1&&c_connects==2
err_vers_for_each_wish	c_properties_in_vain==2&&c_replies_unknown==0&&c_reqprops_sent==2&&c_connects==2
anything_at_any_time	c_dropped_silently>3*c_calls&&c_reqprops>4*c_calls&&c_reqprops_sent>0
no_chunks		c_calls_unsendable>0&&c_calls_unsendable<10&&c_registrations==0&&c_calls_again==0
'

all_counted()
{
	local name expression

	while read -r name expression; do
		[ -n "$name" ] || continue
		name=client_properties.$name
		rise "/tmp/before.$name" "/tmp/after.$name"
		expect "$name: counters" "$expression"
	done <<<"$counted"
}

group_properties()
{
	negotiate_up || return
	visits ${CASES:-client_properties}
	[ -n "${CASES:-}" ] || all_counted
}
