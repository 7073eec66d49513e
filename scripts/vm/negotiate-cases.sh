# shellcheck shell=bash disable=SC2015,SC2034,SC2086,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the version that a mount negotiates with each kind of server, and
# the cost of this; and property messages during a connection: announcements, requests and
# answers. The servers are cases of the tester, which have the client's decisions and counters
# that it compares.

events=/sys/kernel/tracing/events/xprtrdma2
trace=/sys/kernel/tracing/trace
params=/sys/module/xprtrdma2/parameters

# Modules of the tester for this group
negotiation='client_fallback client_negotiation client_pinned client_refused'

peer_mount()
{
	mkdir -p "/mnt.$1"
	timeout -s KILL 60 mount -t nfs -o "vers=3,proto=rdma2,nolock,port=$1" \
		"$addr4:$export_dir" "/mnt.$1"
}

port_of()
{
	awk -v name="$1" '$1 == name { print $2; exit }' /tmp/visits
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

# acts PORT ACTION: mounts from this port, uses the mount or unmounts it
acts()
{
	PORT=$1 CASE=client_fallback. ACTION=$2 sh -c "$(trigger vers=3)"
}

# decisions PORT: prints the versions and the actions of the client
decisions()
{
	python3 -c "from rpcrdma2_test import observe; print(observe.decisions($1))"
}

# real_server NAME PORT VERSION
real_server()
{
	check "$1: mount" acts "$2" mount &&
		check "$1: use" acts "$2" work &&
		check "$1: the view has version $3" grep -q \
			"^peer=$addr4:$2 state=up .*version=$3 " /proc/net/rpc/xprtrdma2
	acts "$2" unmount
}

# In-tree's server, which has version 1 only, and svcrdma2, in one kernel
real_servers()
{
	local settled acted name

	if load_modules rdma 2>/dev/null && listen_on rdma 20050; then
		name="C-101 the in-tree server"
		real_server "$name" 20050 1
		same "$name: version 1 by ERR_VERS" "$(decisions 20050)" "1 ERR_VERS>version_1"
	else
		echo "skip C-101 the in-tree server # this kernel has none beside svcrdma2"
	fi
	name="S29 svcrdma2"
	real_server "$name" "$port" 2
	read -r settled acted < <(decisions "$port")
	same "$name: version 2 ($acted)" "$settled" 2
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

# trigger OPTIONS: prints the tester's trigger, which mounts from the tester
trigger()
{
	echo "exec python3 -S -m rpcrdma2_test.visit ${nfs_host:-$addr4} $export_dir $1"
}

# visits CASE...: runs cases of the tester, each with one or more mounts; with observed=1 the
# tester compares what the client counts and decides
visits()
{
	rm -f /tmp/visits
	ADDRESS=$addr4 tester "" --server --actions ${observed:+--observe} \
		--set "$client_set" \
		--trigger "echo \$CASE \$PORT >>/tmp/visits; $(trigger vers=3)" \
		"$addr4" 21000 "$@" || failed=1
	unmount_visits
}

# S34: the client's memory of a server of version 1, over hours of the guest's clock
group_negotiate-hour()
{
	negotiate_up || return
	observed=1 visits ${CASES:-client_hours}
}

group_negotiate()
{
	negotiate_up || return
	observed=1 visits ${CASES:-$negotiation}
	if [ -z "${CASES:-}" ]; then
		pins
		real_servers
	fi
}

group_properties()
{
	negotiate_up || return
	observed=1 visits ${CASES:-client_properties}
}
