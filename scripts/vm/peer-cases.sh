# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: groups about the answers of the server. "peer"
# says things no client would, octet by octet; "versions" has in-tree's client
# beside rdma2's on one listener.

# Parts of messages. Lists are empty, calls and replies are NFSv4's NULL.
lists='00000000 00000000 00000000'
rpc_call='00000000 00000002 000186a3 00000004 00000000 00000000 00000000 00000000 00000000'
rpc_reply='00000001 00000000 00000000 00000000 00000000'
grant=00000008

call_v1="0a 00000001 00000020 00000000 $lists 0a $rpc_call"
reply_v1="0a 00000001 $grant 00000000 $lists 0a $rpc_reply"
call_v2="0b 00000002 00000020 00000000 00000000 00000000 $lists 0b $rpc_call"
reply_v2="0b 00000002 $grant 00000000 00000001 00000000 $lists 0b $rpc_reply"
connprop='0c 00000002 00000020 00000006 00000002 00000001 00000004 00001000 00000002 00000004 00000001 00000001 00000003'
rbsiz=00004000
# RBSIZ, BRS, the mark, limits, the largest Send; the first and the last may change
our_props='00000005 00000001 00000004 RBSIZ 00000002 00000004 00000001 ffffff00 00000010 4b3c712e 362644af 9d2c3e28 063801e6 ffffff01 00000010 00000040 ffffffff 00000010 00000008 ffffff02 00000004 SBSIZ 00000001 0000000e'
private='f6ab0e18 01000303'
private_inv='f6ab0e18 01010303'

# Xids are written short, that of what the server asks or tells is X; RBSIZ stands for
# what the server announces. Its largest Send depends on the device.
expand()
{
	sed -E "s/(^| )(0[a-f])( |\$)/\1000000\2\3/g; s/(^| )(0[a-f])( |\$)/\1000000\2\3/g; s/RBSIZ/$rbsiz/g"
}

# converse NAME PRIVATE {MESSAGE ANSWER}...: all on one connection
converse()
{
	local name=$1 private=$2 say='' want='' got

	shift 2
	while [ $# -gt 0 ]; do
		say+="$1"
		[ "$2" != - ] || say+=' -'
		say+=$'\n'
		want+="$2"$'\n'
		shift 2
	done
	want=$(expand <<<"${want%$'\n'}")
	got=$(expand <<<"${say%$'\n'}" |
		"$tools/rdma-peer" "$addr4" "$port" ${private:+"$private"} 2>&1 |
		sed -E 's/(ffffff02 00000004) 000[01][0-9a-f]000 (00000001 0000000e)/\1 SBSIZ \2/
			s/^[0-9a-f]{8} (00000002 [0-9a-f]{8} 0000000[79] )/X \1/')
	if [ "$got" = "$want" ]; then
		ok "$name"
	else
		fail "$name: $(diff <(echo "$want") <(echo "$got") | tr '\n' ' ')"
	fi
}

error_of()
{
	echo "$1 $2 $grant 00000004 ${*:3}"
}

set_parameter()
{
	echo "$2" >"/sys/module/svcrdma2/parameters/$1"
}

peer_version_one()
{
	local segment='00001234 00001000 00000000 00000000'
	local with_chunk="0a 00000001 00000020 00000000 00000000 00000001 00000001 $segment 00000000 00000000 0a $rpc_call"
	local unused="0a 00000001 $grant 00000000 00000000 00000001 00000001 00001234 00000000 00000000 00000000 00000000 00000000 0a $rpc_reply"

	converse "C-105 S35 each Call is answered in its own version" '' \
		"$call_v1" "$reply_v1" "$call_v2" "$reply_v2" \
		"$call_v1" "$reply_v1"
	converse "E-23 MSGP is read as MSG" '' \
		"0a 00000001 00000020 00000002 00000000 00000000 $lists 0a $rpc_call" \
		"$reply_v1"
	converse "E-22 DONE gets no answer" '' \
		"0a 00000001 00000020 00000003" - "$call_v1" "$reply_v1"
	converse "E-24 C-095 whatever is wrong gets ERR_CHUNK, and nothing is lost" '' \
		"0a 00000001 00000020 00000007" \
		"$(error_of 0a 00000001 00000002)" \
		"0a 00000001 00000020 00000000 00000001 00000000" \
		"$(error_of 0a 00000001 00000002)" \
		"0a 00000001 00000020 00000001 $lists" \
		"$(error_of 0a 00000001 00000002)" \
		"0a 00000001 00000020 00000001 00000000 00000000 00000001 00000001 $segment" \
		"$(error_of 0a 00000001 00000002)" \
		"0a 00000001 00000020 00000000 $lists 0d $rpc_call" \
		"$(error_of 0a 00000001 00000002)" \
		"$call_v1" "$reply_v1"
	converse "S38 a version 1 error or Reply gets no answer" '' \
		"0a 00000001 00000020 00000004 00000002" - \
		"0a 00000001 00000020 00000000 $lists 0a $rpc_reply" - \
		"$call_v1" "$reply_v1"
	converse "E-10 an unused Write chunk comes back without length" '' \
		"$with_chunk" "$unused"
	converse "P-09 no invalidation when the requester's flag is clear" \
		"$private" "$with_chunk" "$unused"
	# The handle is none, so that the requester's device takes offence.
	converse "P-07 invalidation when both flags are set" \
		"$private_inv" "$with_chunk" closed
}

peer_version_two()
{
	converse "C-043 S29 the first CONNPROP gets one, with its xid; the second none" '' \
		"$connprop" "0c 00000002 $grant 00000006 $our_props" \
		"$connprop" - "$call_v2" "$reply_v2"
	converse "S29 so does an empty one" '' \
		"0c 00000002 00000020 00000006 00000000 00000000" \
		"0c 00000002 $grant 00000006 $our_props"
	converse "S01 CONNPROP as an option is answered as an option" '' \
		"0c 00000002 00000020 00000005 00000000 00000001 00000024 00000002 00000001 00000004 00002000 00000002 00000004 00000002 00000001 00000003" \
		"0c 00000002 $grant 00000005 00000000 00000001 00000060 $our_props"
	converse "S11 C-016 to C-018 a bad CONNPROP gets BAD_XDR, a good one then its answer" '' \
		"0c 00000002 00000020 00000006 00000001 00000001 00000040 00002000 00000000" \
		"$(error_of 0c 00000002 00000002)" \
		"0c 00000002 00000020 00000006 00000001 00000002 00000002 00020000 00000000" \
		"$(error_of 0c 00000002 00000002)" \
		"0c 00000002 00000020 00000006 00000001 00000002 00000004 00000007 00000000" \
		"$(error_of 0c 00000002 00000002)" \
		"$connprop" "0c 00000002 $grant 00000006 $our_props"
	converse "C-019 C-020 unknown and empty properties are no fault" '' \
		"0c 00000002 00000020 00000006 00000002 00001234 00000005 61626364 65000000 00000001 00000000 00000000" \
		"0c 00000002 $grant 00000006 $our_props"
	converse "C-049 C-053 S16 REQPROP is always answered" '' \
		"0c 00000002 00000020 00000007 00000003 00000002 00000004 00000001 ffffffff 00000004 00000007 00000001 00000004 00010000" \
		"0c 00000002 $grant 00000008 00000001 00000001 00000001 00000002 00000001 00000001 00000004 $rbsiz" \
		"0d 00000002 00000020 00000007 00000001 00000001 00000004 00001000" \
		"0d 00000002 $grant 00000008 00000001 00000001 00000000 00000000" \
		"0e 00000002 00000020 00000007 00000000" \
		"0e 00000002 $grant 00000008 00000000 00000000 00000000"
	converse "C-023 UPDPROP gets no answer, a bad one BAD_XDR" '' \
		"$connprop" "0c 00000002 $grant 00000006 $our_props" \
		"0d 00000002 00000020 00000009 00000001 00000001 00000004 00004000" - \
		"0d 00000002 00000020 00000009 00000001" \
		"$(error_of 0d 00000002 00000002)"
	converse "C-012 S39 an unknown option gets INVALID_OPTION, but not in a Reply" '' \
		"0d 00000002 00000020 00000005 00000000 7fffff01 00000006 deadbeef 01020000" \
		"$(error_of 0d 00000002 00000009)" \
		"0d 00000002 00000020 00000005 00000001 7fffff01 00000000" - \
		"0d 00000002 00000020 00000005 00000002 7fffff01 00000000" -
	converse "C-079 E-17 S36 an unknown version gets the range" '' \
		"0d 00000003 00000020 00000000" \
		"$(error_of 0d 00000003 00000001 00000001 00000002)"
	converse "S11 S38 a RESPROP as an option gets no answer, wherever it is cut" '' \
		"0d 00000002 00000020 00000005 00000000 00000003" - \
		"0d 00000002 00000020 00000005 00000000 00000003 00000008" - \
		"0d 00000002 00000020 00000005 00000000 00000003 00000008 00000000" - \
		"0d 00000002 00000020 00000005 00000000 7fffff01" \
		"$(error_of 0d 00000002 00000002)" \
		"$call_v2" "$reply_v2"
	converse "C-080 S31 S38 an unknown proc is refused, what must not be answered is not" '' \
		"0d 00000002 00000020 0000000a" "$(error_of 0d 00000002 00000003)" \
		"0d 00000002 00000020" - \
		"0d 00000002 00000020 00000004 00000002" - \
		"0d 00000002 00000020 00000008 00000000 00000000 00000000" - \
		"$call_v2" "$reply_v2"
}

# Messages of more than a page, where the server takes them
peer_long()
{
	local blob

	blob=$(head -c 8000 /dev/zero | od -An -v -tx1 | tr -d '\n ')
	converse "C-012 an unknown option of two pages" '' \
		"0d 00000002 00000020 00000005 00000000 7fffff01 00001f40 $blob" \
		"$(error_of 0d 00000002 00000009)"
	converse "C-019 an unknown property of two pages" '' \
		"0c 00000002 00000020 00000006 00000002 00001234 00001f40 $blob 00000001 00000004 00001000 00000000" \
		"0c 00000002 $grant 00000006 $our_props" \
		"$call_v2" "$reply_v2"
}

# A child of a task that gets single pages only has no stack.
is_fragmented()
{
	! (echo 1 >/proc/self/make-it-fail && /bin/true && :) 2>/dev/null
}

# No thread of nfsd gets two pages in a row, where a kernel can be told so.
fragment()
{
	local dir=/sys/kernel/debug/fail_page_alloc pid

	for pid in $(pgrep -x nfsd); do
		echo "$1" >"/proc/$pid/make-it-fail"
	done
	echo 1 >$dir/min-order
	echo Y >$dir/task-filter
	echo N >$dir/ignore-gfp-wait
	echo 0 >$dir/verbose
	echo -1 >$dir/times
	echo $(($1 * 100)) >$dir/probability
}

peer_single_pages()
{
	[ -d /sys/kernel/debug/fail_page_alloc ] || return 0
	rbsiz=00010000
	set_parameter receive_size 65536
	fragment 1
	check "memory is fragmented" is_fragmented
	converse "C-003 Receives of 64 KiB in fragmented memory" '' \
		"$connprop" "0c 00000002 $grant 00000006 $our_props" \
		"$call_v2" "$reply_v2"
	fragment 0
	set_parameter receive_size 16384
	rbsiz=00004000
}

peer_pinned()
{
	set_parameter max_version 1
	converse "S36 max_version=1: version 2 gets ERR_VERS 1 to 1" '' \
		"$connprop" "$(error_of 0c 00000002 00000001 00000001 00000001)" \
		"$call_v2" "$(error_of 0b 00000002 00000001 00000001 00000001)" \
		"$call_v1" "$reply_v1"
	converse "C-078 max_version=1: an answer in version 2 gets no answer" '' \
		"$reply_v2" - \
		"0d 00000002 00000020 00000008 00000000 00000000 00000000" - \
		"0d 00000002 00000020 00000004 00000002" - \
		"$call_v1" "$reply_v1"
	set_parameter max_version 2

	set_parameter min_version 2
	dmesg -C
	converse "S36 min_version=2: version 1 gets ERR_VERS 2 to 2" '' \
		"$call_v1" "$(error_of 0a 00000001 00000001 00000002 00000002)" \
		"0a 00000001 00000020 00000004 00000002" - \
		"$call_v2" "$reply_v2"
	check "min_version=2: the log names the client and the parameter" \
		eval "dmesg | grep -q 'svcrdma2: client $addr4:.* min_version=1'"
	set_parameter min_version 1
}

# What comes of an answer to a REQPROP of the server for Receives of 8192 octets, where
# they are of 16384. The columns: requirement and name of the case; what the server
# asks when its own Sends are of 16384 octets again, and then of 65536; the answer.
asked_rows='
C-052-done				00004000 -	X 00000002 00000020 00000008 00000001 00000001 00000001 00000000 00000000
S01-C-052-done,-as-an-option		00004000 -	X 00000002 00000020 00000005 00000001 00000003 00000014 00000001 00000001 00000001 00000000 00000000
C-054-another-value			00004000 -	X 00000002 00000020 00000008 00000000 00000000 00000001 00000001 00000004 00003000
C-053-rejected				- 00010000	X 00000002 00000020 00000008 00000000 00000001 00000001 00000000
C-058-done-and-rejected			- 00010000	X 00000002 00000020 00000008 00000001 00000001 00000001 00000001 00000000
C-058-done-and-another-value		- 00010000	X 00000002 00000020 00000008 00000001 00000001 00000000 00000001 00000001 00000004 00003000
C-056-C-058-what-was-not-asked		- 00010000	X 00000002 00000020 00000008 00000000 00000000 00000002 00000002 00000004 00000000 ffffff33 00000000
S11-a-bad-RESPROP			- 00010000	X 00000002 00000020 00000008 00000001 00000001 00000001
S17-another-xid				- -		0d 00000002 00000020 00000008 00000001 00000001 00000001 00000000 00000000
C-034-S16-no-answer			- -
S18-code-2				- 00010000	X 00000002 00000020 00000004 00000002
C-026-S18-code-3			- -		X 00000002 00000020 00000004 00000003
C-026-S18-code-9			- -		X 00000002 00000020 00000004 00000009
'

# changed_to OCTETS: a line for the peer
changed_to()
{
	echo "!set $1 /sys/module/svcrdma2/parameters/send_size"
}

# question RBSIZ: the server's; or none
question()
{
	[ "$1" = - ] && echo - ||
		echo "X 00000002 $grant 00000007 00000001 00000001 00000004 $1"
}

peer_asked()
{
	local mark='ffffff00 00000010 4b3c712e 362644af 9d2c3e28 063801e6'
	local name small large answer

	while read -r name small large answer; do
		[ -n "$name" ] || continue
		name=${name//-/ }
		converse "${name//C /C-}: what the server asks" '' \
			"0c 00000002 00000020 00000006 00000001 00000001 00000004 00004000 00000000" \
			"0c 00000002 $grant 00000006 $our_props" \
			"$(changed_to 8192)"$'\n' "$(question 00002000)" \
			"$answer" - \
			"$(changed_to 16384)"$'\n' "$(question "$small")" \
			"$(changed_to 65536)"$'\n' "$(question "$large")" \
			"$call_v2" "$reply_v2"
	done <<<"$asked_rows"
	converse "C-047 what the client will not change is not asked for" '' \
		"$connprop" "0c 00000002 $grant 00000006 $our_props" \
		"$(changed_to 8192)"$'\n' - "$(changed_to 65536)"$'\n' -
	converse "C-059 UPDPROP to a client with the mark" '' \
		"0c 00000002 00000020 00000006 00000001 $mark 00000000" \
		"0c 00000002 $grant 00000006 $our_props" \
		"$(changed_to 8192)"$'\n' "X 00000002 $grant 00000009 00000001 ffffff02 00000004 00002000" \
		"$(changed_to 16384)"$'\n' - "$call_v2" \
		"X 00000002 $grant 00000009 00000001 ffffff02 00000004 00004000 + $reply_v2" \
		"$(changed_to 65536)"$'\n' -
	converse "C-048 S18 REQPROP with the xid of a Call" '' \
		"0b 00000002 00000020 00000007 00000001 00000001 00000004 00001000 + $call_v2" \
		"0b 00000002 $grant 00000008 00000001 00000001 00000000 00000000 + $reply_v2"
}

group_peer()
{
	nfs_up rdma2 || { fail "server"; return; }
	peer_version_one
	peer_version_two
	peer_asked
	peer_long
	peer_single_pages
	peer_pinned
	finish
}

# mount_both VERSION: rdma2's, and in-tree's on /mnt2, which is asked for less
# at a time, for its own good.
mount_both()
{
	nfs_identity rdma2
	mount_nfs rdma2 "$1" /mnt || return
	nfs_identity predecessor
	mount_nfs rdma "$1" /mnt2 rsize=262144,wsize=262144
}

# Both kinds of client at once.
both_versions()
{
	local vers=$1 old new

	mkdir -m 777 "$export_dir/old" "$export_dir/new"
	mount_both "$vers" || { fail "NFSv$vers: mounts"; return; }
	check "NFSv$vers: both are what they say" eval \
		"grep -q ' /mnt .*proto=rdma2,' /proc/mounts &&
		grep -q ' /mnt2 .*proto=rdma,' /proc/mounts"
	"$load_sh" /mnt2/old "$export_dir/old" 10 1 >/tmp/old 2>&1 &
	old=$!
	"$load_sh" /mnt/new "$export_dir/new" 10 1 >/tmp/new 2>&1 &
	new=$!
	if wait "$old"; then
		ok "NFSv$vers: version 1 on a listener with version 2"
	else
		fail "NFSv$vers: version 1: $(tr '\n' ' ' </tmp/old)"
	fi
	if wait "$new"; then
		ok "NFSv$vers: version 2 on a listener with version 1"
	else
		fail "NFSv$vers: version 2: $(tr '\n' ' ' </tmp/new)"
	fi
	check "NFSv$vers: umount" umount_all
	rm -rf "${export_dir:?}"/*
}

# In-tree's client against svcrdma2, alone and beside rdma2's. It is loaded
# last: its backchannel's class has no list of netids, not even an empty one,
# and a look-up that goes on behind it finds garbage.
group_versions()
{
	local v device=${DEVICE:-rxe}

	nfs_up rdma2 "$device" && modprobe rpcrdma ||
		{ fail "server"; return; }
	common=rsize=262144,wsize=262144
	for v in ${VERSIONS:-3 4.0 4.1 4.2}; do
		exercise "NFSv$v, version 1" rdma "$v"
	done
	both_versions 3
	both_versions 4.2
	rmmod rpcrdma
	finish
}
