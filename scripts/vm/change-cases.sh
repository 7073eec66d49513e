# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after size-cases.sh and grant-cases.sh: the sizes of messages
# change during a connection, while it is idle and while it is busy.

# traffic: messages about a file of the server, and the client's own file, of which the client
# may have a delegation
traffic()
{
	local i

	for i in $(seq 40); do
		stat -c %i /mnt/seen
		echo "$i" >>/mnt/c
		lines=$((lines + 1))
	done >/dev/null
	sync /mnt/c
}

# sends_are CALLS REPLIES: checks the largest Sends that both ends have for the connection
sends_are()
{
	got="$(connection send) $(connection receive) $(of_connections send_v2)"
	[ "$got" = "$1 $2 $2" ]
}

# set_size MODULE PARAMETER BYTES CALLS REPLIES COUNTERS: sets a parameter and generates
# messages until it is in force and announced. Receives change their size only when they are
# posted again, some wait for others before that, and messages about sizes have a minimum
# distance in time (2.3, S53).
set_size()
{
	local i

	size_parameter "$1" "$2" "$3"
	for i in $(seq 40); do
		sleep 0.2
		traffic
		risen "$before"		# the value at the start of measure()
		sends_are "$4" "$5" && [[ $(expect "it is announced" "$6") == ok* ]] && break
	done
	sleep 0.2
	traffic
}

# changes NAME MODULE PARAMETER BYTES CALLS REPLIES COUNTERS: changes a size, and checks the
# resulting largest Sends and the messages that announced them
changes()
{
	local name=$1 got=''

	measure set_size "${@:2}"
	sends_are "$5" "$6" && ok "$name: the largest Sends have $5 and $6 bytes" ||
		fail "$name: the largest Sends do not have $5 and $6 bytes: $got"
	expect "$name: announced by the expected messages" \
		"$7 && c_connects == 0 && c_properties_in_vain == 0 && s_properties_in_vain == 0 && c_frozen_properties + s_frozen_properties == 0"
}

group_changes()
{
	local lines=0

	nfs_up rdma2 || { fail "server"; return; }
	receives 16384 16384
	: >"$export_dir/seen"
	mount_nfs rdma2 4.2 /mnt noac || { fail "mount"; return; }
	: >/mnt/c
	traffic

	changes "C-034 the client's largest Send is lowered" xprtrdma2 send_size 8192 8192 16384 \
		"c_reqprops_sent == 1 && c_resprops == 1 && s_reqprops == 1 && c_updprops_sent == 1 && s_updprops == 1"
	same "C-033 the server's Receives are lowered" "$(of_connections receive)" 8192
	changes "C-032 the client's largest Send is raised" xprtrdma2 send_size 65536 16384 16384 \
		"c_reqprops_sent == 1 && c_resprops == 1 && s_updprops_sent == 1 && c_updprops == 1 && c_updprops_sent == 1"
	changes "C-034 the server's largest Send is lowered" svcrdma2 send_size 8192 16384 8192 \
		"s_reqprops_sent == 1 && s_resprops == 1 && c_reqprops == 1 && s_updprops_sent == 1 && c_updprops == 1"
	sleep 2
	changes "C-032 the server's largest Send is raised" svcrdma2 send_size 65536 16384 16384 \
		"s_reqprops_sent == 1 && s_resprops == 1 && c_updprops_sent == 1 && s_updprops == 1 && s_updprops_sent == 1"
	sleep 2
	changes "C-034 the server's largest Send is lowered to a part of two pages" \
		svcrdma2 send_size 6000 16384 6000 \
		"s_reqprops_sent == 1 && s_resprops == 1 && c_reqprops == 1 && s_updprops_sent == 1 && c_updprops == 1"
	sleep 2
	changes "C-032 it is raised within its pages" svcrdma2 send_size 8192 16384 8192 \
		"s_reqprops_sent == 1 && s_resprops == 1 && c_updprops_sent == 1 && s_updprops == 1 && s_updprops_sent == 1"
	changes "C-034 the client's largest Send is lowered to a part of two pages" \
		xprtrdma2 send_size 6000 6000 8192 \
		"c_reqprops_sent == 1 && c_resprops == 1 && s_reqprops == 1 && c_updprops_sent == 1 && s_updprops == 1"
	sleep 2
	changes "C-032 it is raised within its pages" xprtrdma2 send_size 8192 8192 8192 \
		"c_reqprops_sent == 1 && c_resprops == 1 && s_updprops_sent == 1 && c_updprops == 1 && c_updprops_sent == 1"
	sleep 2
	changes "C-032 it is raised beyond them" xprtrdma2 send_size 65536 16384 8192 \
		"c_reqprops_sent == 1 && c_resprops == 1 && s_updprops_sent == 1 && c_updprops == 1 && c_updprops_sent == 1"
	changes "C-032 the server's largest Send is, too" svcrdma2 send_size 65536 16384 16384 \
		"s_reqprops_sent == 1 && s_resprops == 1 && c_updprops_sent == 1 && s_updprops == 1 && s_updprops_sent == 1"
	changes "C-032 the server's Receives are raised" svcrdma2 receive_size 65536 53248 16384 \
		"s_updprops_sent == 1 && c_updprops == 1 && c_reqprops_sent + s_reqprops_sent == 0"
	changes "C-032 the client's Receives are raised" xprtrdma2 receive_size 65536 53248 53248 \
		"c_updprops_sent == 1 && s_updprops == 1 && c_reqprops_sent + s_reqprops_sent == 0"
	changes "C-033 the server's Receives are not lowered without a request" \
		svcrdma2 receive_size 4096 53248 53248 \
		"s_updprops_sent + s_reqprops_sent == 0"
	same "all data are written" "$(wc -l <"$export_dir/c")" "$lines"
	check "umount" umount_all
}

size_parameter()
{
	echo "$3" >"/sys/module/$1/parameters/$2"
}

# both_have_announced: succeeds if each end has sent more than two messages of each kind
both_have_announced()
{
	risen_now
	[ "${rose[c_reqprops_sent]}" -gt 2 ] && [ "${rose[s_reqprops_sent]}" -gt 2 ] &&
		[ "${rose[c_updprops_sent]}" -gt 2 ] && [ "${rose[s_updprops_sent]}" -gt 2 ]
}

# change_all_sizes ROUNDS: each end first lowers its largest Send and then raises it above
# its peer's Receives, with a request to the peer each time. In between the peer enlarges
# its Receives without a request. Each round has four changes. On the host's clock it takes up to
# four times the rounds, until both ends have announced their sizes. It fails if the load ends
# before.
change_all_sizes()
{
	local i=0 sizes=(4096 65536 8192 32768)

	until [ "$i" -ge "$1" ] &&
			{ [[ $VM_CLOCK = guest || $i -ge $((4 * $1)) ]] || both_have_announced; }; do
		kill -0 "$load" 2>/dev/null || return
		size_parameter xprtrdma2 send_size "${sizes[i % 4]}" || return
		sleep 0.16
		size_parameter svcrdma2 send_size "${sizes[i % 4]}" || return
		sleep 0.16
		size_parameter xprtrdma2 receive_size "${sizes[(i + 1) % 4]}" || return
		sleep 0.16
		size_parameter svcrdma2 receive_size "${sizes[(i + 1) % 4]}" || return
		sleep 0.16
		i=$((i + 1))
	done
}

# have_settled RECEIVE/SEND: sends messages, and succeeds if the client then has these sizes
have_settled()
{
	dd if=/dev/zero of=/mnt/settle bs=512 count=50 oflag=direct status=none
	[ "$(connection receive)/$(connection send)" = "$1" ]
}

# sizes_settle RECEIVE/SEND: waits for these sizes at the client. They are reached after as
# many messages as there were Receives, and after the minimum time between two messages
# about sizes (2.3, S53).
sizes_settle()
{
	happens_in 10 have_settled "$1" && return
	cat /proc/net/rpc/{xprtrdma2,svcrdma2}
	complain "receive/send are $(connection receive)/$(connection send), not $1"
}

# thresholds_of VERSION: limits the server's versions to this one. A first connection begins
# with the size that every version allows, and then uses larger messages.
thresholds_of()
{
	local name="draft-cel-nfsv4-rpcrdma-version-two-01 5.2: the thresholds of version $1"

	[ "$1" = 2 ] || size_parameter svcrdma2 versions "$1"
	measure mount_nfs "$proto" 4.2 /mnt
	expect "$name: in force on the connection that negotiates" \
		"c_connects == 1 && c_connect_failures == 0 && s_accepts == 1 && s_disconnects == 0"
	[ "$(connection version) $(connection send)/$(connection receive)" = \
		"$1 20480/20480" ] &&
		ok "$name: 20480 bytes in both directions" ||
		fail "$name: $(connection version) $(connection send)/$(connection receive)"
	check "$name: umount" umount_all
	size_parameter svcrdma2 versions any
}

# forget_server: reloads the client's module, which discards the cached version of the
# server, and waits until all connections are closed
forget_server()
{
	unused && rmmod xprtrdma2 && modprobe xprtrdma2 || return 1
	await eval "! grep -qE 'state=(up|closing) ' /proc/net/rpc/svcrdma2" ||
		complain "$(cat /proc/net/rpc/svcrdma2)"
}

group_size-storm()
{
	local before rnr_before rounds=50 load
	local name="C-027 C-032 C-033 C-034 C-052 C-059 sizes change under load"

	[ -z "${QUICK:-}" ] || rounds=25
	nfs_up "$proto" || { fail "server"; return; }
	thresholds_of 1
	check "the client forgets the version of the server" forget_server
	thresholds_of 2
	check "the client forgets it again" forget_server
	# Taken before the mount, so that all messages of its only connection count.
	before=$(counters)
	check "mount" mount_nfs "$proto" 4.2 /mnt || return
	mkdir /mnt/load
	"$load_sh" /mnt/load "$export_dir/load" 7000 2 >/tmp/load 2>&1 &
	load=$!
	at_work
	rnr_before=$(rnr)
	change_all_sizes "$rounds" && kill -TERM "$load" && ok "$name: $((4 * rounds)) changes" ||
		fail "$name: a change had no effect, or the load ended"
	has_verified "$name: all data are correct" "$load" /tmp/load
	# The load lasts longer than the changes, so no message about sizes is outstanding.
	risen "$before"
	expect "$name: both ends request and announce changes" \
		"c_reqprops_sent > 2 && s_reqprops_sent > 2 && c_updprops_sent > 2 && s_updprops_sent > 2"
	expect "$name: each message arrives" \
		"c_reqprops == s_reqprops_sent && s_reqprops == c_reqprops_sent && c_updprops == s_updprops_sent && s_updprops == c_updprops_sent"
	expect "$name: no connection is lost" "c_connects == 1 && s_accepts == 1 && s_disconnects == 0"
	# A Call may be in flight when the server lowers its largest Send.
	expect "$name: S14 Calls are refused only for their Replies, and repeated with a Reply chunk" \
		"s_errors_reply_resource == c_errors_received && c_calls_again == c_errors_received && c_replies_bad == 0"
	same "$name: each message finds a Receive" "$(rnr)" "$rnr_before"
	echo "# $(for i in c_reqprops_sent s_reqprops_sent c_updprops_sent s_updprops_sent; do
		echo "$i ${rose[$i]}"; done | paste -sd' ')"

	size_parameter xprtrdma2 receive_size 65536
	size_parameter svcrdma2 receive_size 65536
	size_parameter xprtrdma2 send_size 65536
	size_parameter svcrdma2 send_size 65536
	check "$name: finally the largest sizes" sizes_settle 53248/53248
	size_parameter xprtrdma2 send_size 4096
	size_parameter svcrdma2 send_size 4096
	check "$name: finally the smallest sizes" sizes_settle 4096/4096
	check "umount" umount_all
}
