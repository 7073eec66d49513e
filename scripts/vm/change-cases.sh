# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after size-cases.sh: messages change their size while
# a connection lasts.

traffic()
{
	local i

	for i in $(seq 40); do
		stat -c %i /mnt/c
		echo "$i" >>/mnt/c
		lines=$((lines + 1))
	done >/dev/null
	sync /mnt/c
}

# sends_are CALLS REPLIES: the largest ones, as both ends have it
sends_are()
{
	got="$(connection send) $(connection receive) $(of_server send_v2)"
	[ "$got" = "$1 $2 $2" ]
}

# Until that is so, and has been said, some messages: Receives take another size when
# they come back, some wait for others before they are posted, and there are rests
# between two messages about sizes (2.3, S53).
set_size()
{
	local i

	echo "$3" >"/sys/module/$1/parameters/$2"
	for i in $(seq 40); do
		sleep 0.2
		traffic
		risen "$before"		# of measure
		sends_are "$4" "$5" && [[ $(expect "it is said" "$6") == ok* ]] && break
	done
	sleep 0.2
	traffic
}

# of_server KEY: of the line of the server's one connection
of_server()
{
	sed -n "s/^\(.* \)\?$1=\([^ ]*\).*/\2/p" \
		/proc/net/rpc/svcrdma2 | head -n 1
}

# changes NAME MODULE PARAMETER BYTES CALLS REPLIES COUNTERS: what the largest Sends
# come to be, and what was said
changes()
{
	local name=$1 got=''

	measure set_size "${@:2}"
	sends_are "$5" "$6" && ok "$name: Sends of $5 and $6 bytes" ||
		fail "$name: Sends are not of $5 and $6 bytes: $got"
	expect "$name: by these messages" \
		"$7 && c_connects == 0 && c_properties_in_vain == 0 && s_properties_in_vain == 0 && c_frozen_properties + s_frozen_properties == 0"
}

group_changes()
{
	local lines=0

	nfs_up rdma2 || { fail "server"; return; }
	receives 16384 16384
	mount_nfs rdma2 4.2 /mnt noac || { fail "mount"; return; }
	: >/mnt/c
	traffic

	changes "C-034 the client's largest Send is lowered" xprtrdma2 send_size 8192 8192 16384 \
		"c_reqprops_sent == 1 && c_resprops == 1 && s_reqprops == 1 && c_updprops_sent == 1 && s_updprops == 1"
	[ "$(of_server receive)" = 8192 ] && ok "C-033 the server's Receives are" ||
		fail "C-033 the server's Receives: $(of_server receive)"
	changes "C-032 the client's largest Send is raised" xprtrdma2 send_size 65536 16384 16384 \
		"c_reqprops_sent == 1 && c_resprops == 1 && s_updprops_sent == 1 && c_updprops == 1 && c_updprops_sent == 1"
	changes "C-034 the server's largest Send is lowered" svcrdma2 send_size 8192 16384 8192 \
		"s_reqprops_sent == 1 && s_resprops == 1 && c_reqprops == 1 && s_updprops_sent == 1 && c_updprops == 1"
	sleep 2
	changes "C-032 the server's largest Send is raised" svcrdma2 send_size 65536 16384 16384 \
		"s_reqprops_sent == 1 && s_resprops == 1 && c_updprops_sent == 1 && s_updprops == 1 && s_updprops_sent == 1"
	changes "C-032 the server's Receives are raised" svcrdma2 receive_size 65536 65536 16384 \
		"s_updprops_sent == 1 && c_updprops == 1 && c_reqprops_sent + s_reqprops_sent == 0"
	changes "C-032 the client's Receives are raised" xprtrdma2 receive_size 65536 65536 65536 \
		"c_updprops_sent == 1 && s_updprops == 1 && c_reqprops_sent + s_reqprops_sent == 0"
	changes "C-033 the server's Receives are lowered: not by itself" svcrdma2 receive_size 4096 65536 65536 \
		"s_updprops_sent + s_reqprops_sent == 0"
	[ "$(wc -l <"$export_dir/c")" -eq "$lines" ] &&
		ok "all was written" || fail "$(wc -l <"$export_dir/c") of $lines lines"
	check "umount" umount_all
	finish
}
