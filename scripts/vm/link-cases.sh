#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015
#
# Groups of test cases for client and server in separate guests, joined by a link. "rdma2"
# is the transport under test; "rdma" is in-tree's, which implements version 1 of the
# protocol.
#
#	link-cases.sh GROUP
#
# The script runs in both guests; the client's drives the test, see node.sh.

set -u
# shellcheck source=scripts/vm/cases.sh
. "$(dirname "$0")/cases.sh" || exit 2
# shellcheck source=scripts/vm/node.sh
. "$(dirname "$0")/node.sh" || exit 2
# shellcheck source=scripts/vm/loss-cases.sh
. "$(dirname "$0")/loss-cases.sh" || exit 2
# shellcheck source=scripts/vm/apart-cases.sh
. "$(dirname "$0")/apart-cases.sh" || exit 2
# shellcheck source=scripts/vm/adapter.sh
. "$(dirname "$0")/adapter.sh" || exit 2

group=${1#link-}

# On one processor larger READs make in-tree's server spin forever.
intree_opts=rsize=262144,wsize=262144

# A pair has the host's clock. RPCs time out after ten minutes of it, not after one, and
# "not responding" is logged after half an hour: a busy host is no reason for either.
patient=timeo=6000

# The prefix of commands for the server's side, which is in the other guest by default
server_side=(on_server)

# counters: like that of cases.sh, with the server's from its guest; in-tree's server has a few
server_counters()
{
	local i

	sed 's/^/s_/' /sys/kernel/debug/svcrdma2/counters 2>/dev/null
	for i in recv read write; do
		echo "s_intree_$i $(cat "/proc/sys/sunrpc/svc_rdma/rdma_stat_$i" 2>/dev/null)"
	done | grep ' .'
	true
}

counters()
{
	sed 's/^/c_/' /sys/kernel/debug/xprtrdma2/counters 2>/dev/null
	"${server_side[@]}" server_counters
}

# make_tree FOLDER: creates files with sizes around every boundary, a large file, and
# folders
make_tree()
{
	local size

	mkdir -p "$1"/{a/b/c,d} || return
	for size in 0 1 3 511 1023 1025 3000 4095 4096 4097 8191 8193 16384 65535 65536 65537 \
			100003 262144 262145 1048577; do
		head -c "$size" /dev/urandom >"$1/$size" &&
			head -c "$size" /dev/urandom >"$1/a/b/c/$size" || return
	done
	head -c 6000001 /dev/urandom >"$1/d/large"
}

# trees: the client copies a tree to the server, which compares checksums; the server
# creates a tree, and the client compares checksums.
trees()
{
	local here

	here=$(sums /tmp/tree) &&
	cp -r /tmp/tree /mnt/put &&
	sync &&
	[ "$(on_server sums "$export_dir/put")" = "$here" ] ||
		complain "the server does not have the files that the client wrote" || return 1
	echo 3 >/proc/sys/vm/drop_caches
	[ "$(sums /mnt/put)" = "$here" ] ||
		complain "the client reads other files than it wrote" || return 1
	here=$(on_server "make_tree $export_dir/got && sums $export_dir/got") &&
	[ "$(sums /mnt/got)" = "$here" ] ||
		complain "the client reads other files than the server has" || return 1
	rm -r /mnt/put /mnt/got
}

# mount_figures FOLDER: prints the mount's counters of the RPC layer and the transport, as
# "name value"
mount_figures()
{
	figures "$1" | awk '
	$1 == "xprt" { print $2, $3 }
	$1 == "op" { calls += $3; sent += $4; timeouts += $5 }
	END { print "calls", calls; print "sent_again", sent - calls
		print "timeouts", timeouts }'
}

# repeats FOLDER: prints the mount's counters that are not those of one connection on which
# each RPC was sent once. The file tests do not detect a connection that was lost and
# established again.
repeats()
{
	mount_figures "$1" | awk '
	/^(bad_xids|bad_replies|sent_again|timeouts|connects) / {
		n++
		if ($2 != ($1 == "connects")) printf " %s=%s", $1, $2
	}
	END { if (n != 5) printf " %d counters", n }'
}

# sent_once LABEL FOLDER
sent_once()
{
	without "$1: one connection, no repeated RPC" "$(repeats "$2")"
}

# undisturbed LABEL CLIENT SERVER: the same, and counters of both transports
undisturbed()
{
	local label=$1 client=$2 server=$3 name names=() bad text
	local -A figure

	while read -r name text; do
		figure[$name]=$text
	done < <(mount_figures /mnt)
	bad=$(repeats /mnt)
	[ "$client" != rdma2 ] || names+=(c_connect_failures c_disconnects c_replies_bad
		c_dropped_silently c_errors_received c_replies_unknown c_calls_unsendable
		c_bad_invalidations c_properties_refused c_{odd,frozen}_properties)
	[ "$server" != rdma2 ] || names+=(s_accept_failures s_disconnects s_bad_nominations
		s_stalls s_overdue s_dropped_{silently,reply,error,option}
		s_errors_{vers,bad_xdr,invalid_proc,read_chunks,write_chunks,segments}
		s_errors_{write_resource,reply_resource,invalid_option,system}
		s_backward_errors s_{odd,frozen}_properties)
	# The names above must exist. Further counters of these two kinds have to stay at 0, too.
	for name in "${!rose[@]}"; do
		[[ $name != [cs]_@(errors|dropped)_* || " ${names[*]} " == *" $name "* ]] ||
			names+=("$name")
	done
	for name in ${names[@]+"${names[@]}"}; do
		[ "${rose[$name]-absent}" = 0 ] || bad+=" $name+${rose[$name]-absent}"
	done
	if [ -z "$bad" ]; then
		ok "$label: one connection, no repeated RPC, no error on either side"
	else
		echo "# $label: client's device: $(hw_figures)"
		echo "# $label: server's device: $(on_server hw_figures)"
		fail "$label:$bad"
	fi
	case $client in
	rdma2)	expect "$label: the client's chunks" \
			"c_connects == 1 && c_read_chunks > 0 && c_write_chunks > 0" ;;
	*)	[ "${figure[read_chunks]}" -gt 0 ] &&
		[ "${figure[write_chunks]}" -gt 0 ] &&
			ok "$label: the client's chunks" ||
			fail "$label: the client's chunks" ;;
	esac
	case $server in
	rdma2)	expect "$label: the server's chunks" \
			"s_accepts == 1 && s_read_chunk_bytes > 0 && s_write_chunk_bytes > 0" ;;
	*)	expect "$label: the server's chunks" \
			"s_intree_recv > 0 && s_intree_read > 0 && s_intree_write > 0" ;;
	esac
	text=''
	[ "$client" = rdma ] || text=", version $(connection version), thresholds $(
		connection send)/$(connection receive), credits $(
		connection credits)"
	echo "# $label: ${figure[calls]} RPCs$text"
}

# spoken VERSION: checks the protocol version of the client's connection
spoken()
{
	[ "$(connection version)" = "$1" ] ||
		complain "version $(connection version)"
}

# limits LABEL CLIENT SERVER: checks the limits of tuned nodes at rdma2's ends of the
# connection. rdma2's client has 128 slots, keeps its default Receives, and sends as much as
# the server's Receives hold; its server grants as many credits as the client uses.
tuned=0
limits()
{
	local label=$1 vers=1 send=20480 grant=128 got

	[ "$2$3" = rdma2rdma2 ] && vers=2
	[ "$3" = rdma2 ] && grant=$(on_server "sed -n 's/^peer=10.0.0.2:.* credits=\([0-9]*\) .*/\1/p' \
			/proc/net/rpc/svcrdma2")
	if [ "$2" = rdma2 ]; then
		got="$(connection send)/$(connection receive) $(connection credits)"
		same "$label: the client's thresholds and credits are $got" "$got" \
			"65536/20480 $grant"
	else
		send=65536
	fi
	[ "$3" = rdma2 ] || return
	check "$label: the server receives 65536 bytes, sends $send, and grants up to 128 credits" \
		on_server "grep '^peer=10.0.0.2:.* version=$vers credits=$grant credits_max=128 receive=65536 .*send_v$vers=$send ' \
			/proc/net/rpc/svcrdma2"
}

# mount_far TRANSPORT VERSION [OPTIONS]: mounts. Soft-iWARP loses the event of a packet that
# arrives between its reply to a connection request and the end of siw_accept(), and the
# first Call would then stay unnoticed. A delay of the link keeps the Call out of this
# window.
device=rxe
mount_far()
{
	local rc

	[ "$device" = siw ] &&
		tc qdisc replace dev "$netdev" root netem delay 30ms
	mount_nfs "$1" "$2" /mnt "$patient${3:+,$3}"
	rc=$?
	[ "$device" = siw ] && tc qdisc del dev "$netdev" root
	return "$rc"
}

# none_is_connected: succeeds if neither node has a connection of rdma2. The last umount returns
# before its connection ends, and both ends count that as a disconnect.
none_is_connected()
{
	! grep -qs . /proc/net/rpc/xprtrdma2 &&
		on_server "! grep -qsvE ' state=(ended|refused) ' /proc/net/rpc/svcrdma2"
}

# counted_anew LABEL: sets $before, which counts no end of an earlier mount
counted_anew()
{
	await_far none_is_connected || fail "$1: a connection of an earlier mount is left"
	before=$(counters)
}

# pairing LABEL CLIENT SERVER VERSION [OPTIONS]: tests one mount
pairing()
{
	local label=$1 client=$2 server=$3 vers=$4 opts=${5:-} before speaks=1
	local from=$SECONDS

	label+=", NFSv$vers"
	[ "$client$server" = rdma2rdma2 ] && speaks=2 || opts=${opts:-$intree_opts}
	counted_anew "$label"
	check "$label: mount" mount_far "$client" "$vers" "$opts" || return
	verdicts "$label" "$VM_TOP/scripts/fs-exercise.py" "$vers" /mnt
	check "$label: a tree in each direction, checksums of both sides" trees
	[ "$client" = rdma ] ||
		check "$label: the version is $speaks" spoken "$speaks"
	risen "$before"
	undisturbed "$label" "$client" "$server"
	[ "$tuned" -eq 0 ] || limits "$label" "$client" "$server"
	check "$label: umount" umount_all
	on_server "rm -rf ${export_dir:?}/*"
	echo "# $label: $((SECONDS - from)) s"
}

# acquaint VERSION: the first mount probes the server's version, and the client caches it. If the
# server is busy and answers after the client's two seconds, an RPC is on trial: an ERR_VERS then
# costs one more connection. The trace has the answers, and each path has to be one of these.
acquaint()
{
	local only=any connects=1 tracing=/sys/kernel/tracing answers

	[ "$1" = 2 ] && only=2
	echo "$only" >/sys/module/xprtrdma2/parameters/versions
	echo >"$tracing/trace"
	echo 1 >"$tracing/events/xprtrdma2/xprt2_negotiate/enable"
	counted check "first mount: version $1" eval \
		"mount_far rdma2 3 && spoken $1 && umount /mnt" || return
	echo 0 >"$tracing/events/xprtrdma2/xprt2_negotiate/enable"
	answers=$(sed -n 's/.* answer=\(.*\) action=/\1>/p' "$tracing/trace" | paste -sd';')
	case "$1 $answers" in
	"2 CONNPROP>version 2"|"2 silence>try version 2;CONNPROP>version 2"|"1 ERR_VERS>version 1") ;;
	"1 silence>try version 2;ERR_VERS>connect again, version 1") connects=2 ;;
	*)	fail "first mount, version $1: $answers" ;;
	esac
	expect "first mount, version $1: on one connection, or on a second one after a late ERR_VERS" \
		"c_connects == $connects && c_connect_failures == 0"
}

# nodes CLIENT SERVER [rxe|siw]: sets up both guests, without a mount
nodes()
{
	device=${3:-rxe}
	make_tree /tmp/tree
	net_up
	check "the server's node" on_server nfs_up "$2" "$device" &&
	check "the client's node" client_up "$1" "$device" &&
	check "the client's locks" locking_up || return
	case $1-$2 in
	rdma2-rdma2)	acquaint 2 ;;
	rdma2-*)	acquaint 1 ;;
	esac
}

complaints()
{
	! dmesg | grep -E 'not responding|still trying|I/O error|error -5|[Dd]isconnect'
}

finish()
{
	check "the client's log" complaints
	check "the server's log" on_server complaints
	pair_down "$@"
}

# pair_down CLIENT SERVER: unloads the protocols of the two ends
pair_down()
{
	all_are_unmounted || { fail "a mount is in use"; return; }
	check "the client unloads" unload "$1"
	check "the server unloads" on_server "server_down; unload $2"
}

# matrix LABEL CLIENT SERVER [rxe|siw] [OPTIONS]: tests a mount of each NFS version
matrix()
{
	local v

	nodes "$2" "$3" "${4:-rxe}" || return
	for v in ${VERSIONS:-3 4.0 4.1 4.2}; do
		pairing "$1" "$2" "$3" "$v" "${5:-}"
	done
	finish "$2" "$3"
}

group_v2()
{
	matrix "rdma2, rdma2" rdma2 rdma2
}

group_client()
{
	matrix "rdma2, in-tree" rdma2 rdma
}

group_server()
{
	matrix "in-tree, rdma2" rdma rdma2
}

# For comparison
group_intree()
{
	matrix "in-tree, in-tree" rdma rdma "${DEVICE:-rxe}" "${OPTS:-}"
}

# Sets up both transports in both guests; in-tree's server has a separate port. This needs a
# kernel with transport idents for two clients. rdma2 is loaded first, because sunrpc's
# lookup of a netid reads past the end of in-tree's backchannel class.
intree_port=20050
nodes_with_both()
{
	nodes rdma2 rdma2 "${1:-rxe}" &&
	check "in-tree's server beside rdma2" \
		on_server "modprobe xprtrdma2 && load_modules rdma &&
			listen_on rdma $intree_port" &&
	check "in-tree's client beside rdma2" load_modules rdma &&
	port=$intree_port acquaint 1
}

finish_both()
{
	check "in-tree's client unloads" unload rdma
	finish rdma2 rdma2
	check "in-tree's server unloads" on_server unload rdma
}

# Pairings that use version 1, and version 2 beside them
fall_backs()
{
	local v

	for v in ${VERSIONS:-4.2}; do
		port=$intree_port pairing "$1: rdma2, in-tree" rdma2 rdma "$v"
		pairing "$1: in-tree, rdma2" rdma rdma2 "$v"
		pairing "$1: rdma2, rdma2" rdma2 rdma2 "$v"
	done
}

set_sysctl()
{
	echo "$2" >"/proc/sys/sunrpc/$1"
}

# The documented tuning for small files
group_tuned()
{
	nodes_with_both || return
	check "in-tree's client is tuned" eval \
		"set_sysctl rdma_max_inline_read 65536 &&
		set_sysctl rdma_max_inline_write 65536"
	check "rdma2's client is tuned" eval \
		"echo 128 >/sys/module/xprtrdma2/parameters/slots"
	check "both servers are tuned" on_server \
		"set_sysctl svc_rdma/max_req_size 65536 &&
		set_sysctl svc_rdma/max_requests 128 &&
		echo 65536 >/sys/module/svcrdma2/parameters/receive_size &&
		echo 128 >/sys/module/svcrdma2/parameters/credits"
	tuned=1
	fall_backs tuned
	finish_both
}

# On iWARP a server's RDMA Reads need memory regions. In-tree's server hangs with larger
# transfers, with either client.
group_siw()
{
	intree_opts=rsize=65536,wsize=65536
	nodes_with_both siw || return
	fall_backs siw
	finish_both
}

# load FOLDER OTHER: keeps a mount busy. At the end the data is verified through OTHER, a
# mount of the other kind that shares no cached pages; if OTHER is "-", the server verifies
# the files.
load()
{
	mkdir -p "$1"
	[ "$2" = - ] || mkdir -p "$2"
	"$load_sh" "$1" "$2" 600 1 >"/tmp/load${1//\//-}" 2>&1 &
	loads["$1"]=$!
}

# end_loads: ends the loads when each has written to all of its large files
end_loads()
{
	local dir

	for dir in "${!loads[@]}"; do
		at_work "${loads[$dir]}" "/tmp/load${dir//\//-}"
	done
	kill "${loads[@]}"
	for dir in "${!loads[@]}"; do
		has_verified "$dir: all data are correct" "${loads[$dir]}" "/tmp/load${dir//\//-}"
	done
}

# Starts a client in the server's guest, with a load until end_own_load
own_load()
{
	modprobe xprtrdma2 && mount_nfs rdma2 4.2 /mnt "$patient" && mkdir -p /mnt/own || return
	"$load_sh" /mnt/own "$export_dir/own" 600 1 >/tmp/own 2>&1 &
	own=$!
}

end_own_load()
{
	local rc

	at_work "$own" /tmp/own
	kill "$own"
	wait "$own"
	rc=$?
	cat /tmp/own
	[ -z "$(repeats /mnt)" ] || complain "$(repeats /mnt)" || rc=1
	umount /mnt
	return "$rc"
}

# counts_as_one: two addresses of one host on the link count as one in the server's limits
counts_as_one()
{
	local got

	mount_nfs rdma2 3 /mnt/oo "nolock,$patient" &&
		mount_nfs rdma26 3 /mnt/oi "nolock,$patient" ||
		{ fail "S46 mounts from two addresses"; return; }
	got=$(on_server grep ^address /sys/kernel/debug/svcrdma2/transfers)
	[[ $got =~ ^address\ .*fe80::.*\ connections\ [2-9]\ bytes\ 0$ ]] &&
		ok "S46 a host with two addresses counts as one" ||
		fail "S46 a host with two addresses counts as: $got"
	umount /mnt/oo /mnt/oi
}

# All pairings at the same time: two servers in one kernel, two clients in the other one, and
# a client beside the servers
group_both()
{
	local -A loads=()

	nodes_with_both || return
	mkdir -p /mnt/{oo,oi,io,ii}
	counts_as_one
	check "rdma2, rdma2: mount" mount_nfs rdma2 4.2 /mnt/oo "$patient" &&
	check "in-tree, rdma2: mount" mount_nfs rdma 4.1 /mnt/io "$patient,$intree_opts" &&
	port=$intree_port &&
	check "rdma2, in-tree: mount" mount_nfs rdma2 4.0 /mnt/oi "$patient,$intree_opts" &&
	check "in-tree, in-tree: mount" mount_nfs rdma 3 /mnt/ii "$patient,$intree_opts" ||
		return
	check "rdma2 on the server's node" on_server own_load || return
	load /mnt/oo/1 /mnt/ii/1
	load /mnt/oi/2 /mnt/io/2
	load /mnt/io/3 /mnt/oi/3
	load /mnt/ii/4 /mnt/oo/4
	end_loads
	sent_once "rdma2, rdma2" /mnt/oo
	sent_once "in-tree, rdma2" /mnt/io
	sent_once "rdma2, in-tree" /mnt/oi
	sent_once "in-tree, in-tree" /mnt/ii
	check "rdma2 on the server's node: all data are correct" on_server end_own_load
	check "umount" umount /mnt/oo /mnt/io /mnt/oi /mnt/ii
	finish_both
}

# The server's guest unloads rpcrdma and loads rdma2's client in its place.
alone_on_server()
{
	rpc.nfsd 0 && unload rdma && rpc.nfsd 8 && listen_on rdma2 &&
	own_load
}

# The same pairings on an unmodified kernel, which has one ident for RDMA: the client's
# guest uses one transport after the other. At the end, rdma2's client runs in the server's
# guest, beside svcrdma2, which also serves an in-tree client.
group_stock()
{
	local -A loads=()

	nodes rdma2 rdma2 || return
	pairing "rdma2, rdma2" rdma2 rdma2 4.2
	check "in-tree's server beside rdma2" \
		on_server "load_modules rdma && listen_on rdma $intree_port" &&
	port=$intree_port acquaint 1 || return
	port=$intree_port pairing "rdma2, in-tree" rdma2 rdma 4.2
	check "xprtrdma2 unloads" unload rdma2
	check "in-tree's client replaces it" load_modules rdma || return
	pairing "in-tree, rdma2" rdma rdma2 4.2
	check "rdma2 client on the server's node" on_server alone_on_server || return
	check "in-tree, rdma2: mount" mount_nfs rdma 3 /mnt "$patient" || return
	LOAD_LOOPS=2 load /mnt/in-tree -
	has_verified "/mnt/in-tree: all data are correct" "${loads[/mnt/in-tree]}" \
		/tmp/load-mnt-in-tree
	sent_once "in-tree, rdma2: load" /mnt
	check "in-tree, rdma2: the server has the written data" \
		on_server "$load_sh verify $export_dir/in-tree 1"
	check "rdma2 on the server's node: all data are correct" on_server end_own_load
	finish rdma rdma2
}

# session TRANSPORT: a short mount that produces every kind of message
session()
{
	local i

	mount_far "$1" 4.2 "$intree_opts" || return 1
	mkdir /mnt/session &&
	for i in $(seq 60); do
		: >"/mnt/session/$(printf '%0200d' "$i")" || return 1
	done &&
	cp /tmp/tree/{1,1025,4096,100003} /mnt/session &&
	sync &&
	echo 3 >/proc/sys/vm/drop_caches &&
	cmp /tmp/tree/4096 /mnt/session/4096 &&
	cmp /tmp/tree/100003 /mnt/session/100003 &&
	ln -s "$(printf '%02000d' 0)" /mnt/session/link &&
	readlink /mnt/session/link &&
	ls -l /mnt/session &&
	rm -r /mnt/session &&
	umount /mnt
}

# dissect FILE VERSION: prints what an independent parser finds in a capture, as "count
# name": Wireshark's own dissector for version 1, this project's for version 2. The second
# pass (-2) reassembles chunks and messages. Opcodes 0 to 5, 22 and 23 are Sends; each
# severity of the dissectors is a bit.
dissect()
{
	local fields=() f own=(rpcordma.{version,msg_type,reads_count,writes_count,reply_count})

	[ "$2" -eq 1 ] || own=(rpcrdma2.{version,procedure,reads,writes,replies})
	for f in infiniband.bth.opcode "${own[@]}" rpc.msgtyp _ws.malformed \
			_ws.expert.severity nfs.read.data_length rpcrdma2.fragment \
			rpcrdma2.cm.receive rpcrdma2.absent; do
		fields+=(-e "$f")
	done
	tshark -X "lua_script:$VM_TOP/utils/rpcrdma2.lua" -2 -r "$1" -T fields \
		-E separator=';' "${fields[@]}" 2>/dev/null |
	awk -F';' -v version="$2" '
	{ n["frames"]++ }
	$2 != "" { n["messages"]++ }
	$2 == version && $7 ~ /0/ { n["Calls"]++ }
	$2 == version && $7 ~ /1/ { n["Replies"]++ }
	version == 2 && $3 >= 6 { n["properties"]++ }
	$11 != "" { n["parts of messages"]++ }
	$12 != "" { n["private data"]++ }
	$13 != "" { n["bytes that are missing"]++ }
	$4 > 0 { n["Read lists"]++ }
	$5 > 0 { n["Write lists"]++ }
	$6 > 0 { n["Reply chunks"]++ }
	$2 != "" && $2 != version { n["other versions"]++ }
	$3 > 1 && $3 < 6 { n["other procedures"]++ }
	($1 ~ /^[0-5]$/ || $1 ~ /^2[23]$/) && $2 $11 == "" { n["unknown Sends"]++ }
	$8 != "" { n["malformed packets"]++ }
	$10 == 4096 || $10 == 100003 { n["READs put together"]++ }
	$9 ~ /8388608/ { n["errors of the dissectors"]++ }
	END { for (i in n) print n[i], i }'
}

# captured LABEL CLIENT VERSION WHAT...: captures a session and checks that it has these
# elements
captured()
{
	local label=$1 version=$3 file=/tmp/${1// /}.pcap dumpcap what

	dumpcap -q -i "$netdev" -B 64 -w "$file" 2>/tmp/dumpcap &
	dumpcap=$!
	await [ -s "$file" ]
	check "$label: session" session "$2"
	# Datagrams behind the session: as soon as the file has one, the file has the session.
	until grep -qa "the end of $label" "$file"; do
		! have_ended "$dumpcap" || { fail "$label: the capture has no end"; break; }
		echo "the end of $label" >"/dev/udp/$addr4/discard"
		pause 0.1
	done
	kill -INT "$dumpcap"
	wait "$dumpcap"
	cp "$file" /run/vm/
	dissect "$file" "$version" >/tmp/found
	for what in Calls Replies "READs put together" "${@:4}"; do
		check "$label: $what" grep " $what\$" /tmp/found
	done
	for what in "other versions" "other procedures" "unknown Sends" \
			"malformed packets" "errors of the dissectors" \
			"bytes that are missing"; do
		grep " $what\$" /tmp/found && fail "$label: no $what" ||
			ok "$label: no $what"
	done
	echo "# $label: $(sort -nr /tmp/found | paste -sd,)"
	grep -q ' [0-9]*/0 (' /tmp/dumpcap ||
		fail "$label: captured: $(tail -n 1 /tmp/dumpcap)"
}

group_capture()
{
	local chunks=("Read lists" "Write lists" "Reply chunks")

	nodes_with_both || return
	port=$intree_port captured "rdma2, in-tree" rdma2 1 "${chunks[@]}"
	captured "in-tree, rdma2" rdma 1 "${chunks[@]}"
	captured "rdma2, rdma2" rdma2 2 "private data" properties "parts of messages"
	# Small Receives, so that version 2 uses as many chunks as version 1
	echo 4096 >/sys/module/xprtrdma2/parameters/receive_size
	on_server "echo 4096 >/sys/module/svcrdma2/parameters/receive_size"
	captured "rdma2, rdma2, 4 KiB" rdma2 2 "${chunks[@]}"
	finish_both
}

# links NUMBER: drops the link between two guests. If a Reply is lost together with the
# server's disconnect, the client detects this by the RPC's timeout.
links()
{
	nodes rdma2 rdma2 || return
	begin_losses 4.2 || return
	losses "the link is lost" "$1" "c_connects >= times && s_accepts >= times &&
		c_ended_SEND + c_ended_PEER + c_ended_TIMEOUT >= times &&
		c_ended_ENDED == 0" lose_link
	end_losses "losses of the link" on_server
	pair_down rdma2 rdma2
}

group_loss()
{
	links 2
}

group_soak()
{
	links 20
}

# disk_up: starts a server that has its files on a disk
disk_up()
{
	export_device=$(losetup -f --show "$share/disk") && nfs_up rdma2
}

# A client that writes while the server's machine restarts. NFSv3 has no grace period.
server_reboots()
{
	local name="the server's machine restarts" before

	truncate -s 1G "$share/disk" && mkfs.ext4 -q "$share/disk" || { fail "a disk"; return; }
	net_up
	check "the server's node" on_server disk_up && check "the client's node" client_up rdma2 &&
		LOAD_LARGE='' begin_losses 3 nolock || return
	check "$name: a file is synced before" eval \
		"head -c 1048577 /dev/urandom | tee /tmp/synced | dd of=/mnt/synced bs=64k conv=fsync"
	before=$(counters)
	check "$name: it runs commands again" restart_server || return
	check "$name: the server is up again" on_server disk_up &&
		check "$name: files are written again" transfers_go_on 8
	risen "$before"
	expect "$name: the client has connected again" "c_connects >= 1 && c_ended_ENDED + c_ended_PEER == 0"
	same "$name: the server has the file that was synced" \
		"$(on_server "b2sum <$export_dir/synced")" "$(b2sum </tmp/synced)"
	[ "$failed" -eq 0 ] || umount -f /mnt
	LOAD_LARGE='' end_losses "$name" on_server
	pair_down rdma2 rdma2
	rm "$share/disk"
	return "$failed"
}

# The other way round: the NFS server is in the guest that drives the cases, and a client in the
# other one, which restart_server restarts. A second client is on the machine of the server.
far_addr4=10.0.0.1
near_addr4=10.0.0.2

near_up()
{
	# both modules
	VM_NODE='' load_modules rdma2 && client_up rdma2 && server_up rdma2
}

# far_up VERSION: mounts the other guest's export
far_up()
{
	local nfs_host=$near_addr4 opts=''

	[ "$1" != 3 ] || opts=nolock
	modprobe xprtrdma2 && device_up && teach_netconfig && mount_nfs rdma2 "$1" /mnt "$opts"
}

# far_syncs NAME: writes files, and keeps the checksum of each in the shared folder once the
# server has it
far_syncs()
{
	local i sum

	for ((i = 1; ; i++)); do
		head -c 1048576 /dev/urandom >"/tmp/$1" && sum=$(b2sum <"/tmp/$1") &&
			dd if="/tmp/$1" of="/mnt/$1.$i" bs=64k conv=fsync status=none || return
		appear "$share/synced.$1.$i" <<<"$sum"
	done
}

# far_writes VERSION: keeps WRITEs of 1 MiB in flight, until the machine restarts
far_writes()
{
	local i

	for i in 1 2 3 4; do
		while dd if=/dev/zero of="/mnt/busy.$i" bs=1M count=16 oflag=direct status=none; do
			:
		done >"/tmp/busy.$i" 2>&1 &
	done
	far_syncs "$1" >/tmp/syncs 2>&1 &
}

# has_synced VERSION NUMBER: succeeds if so many files have been written
has_synced()
{
	[ -e "$share/synced.$1.$2" ]
}

# synced_are_in FOLDER VERSION: compares the files with the checksums
synced_are_in()
{
	local file name n=0

	# without one that was being written
	for file in "$share/synced.$2".*[0-9]; do
		name=${file##*/synced.}
		[ "$(b2sum <"$1/$name")" = "$(cat "$file")" ] || complain "$name" || return
		n=$((n + 1))
	done
	# has_synced has waited for these
	[ "$n" -ge 3 ] || complain "only $n files"
}

# far_is_gone: succeeds if the server has no connection of the other guest
far_is_gone()
{
	! grep -E "^peer=$far_addr4:.* state=(up|closing) " /proc/net/rpc/svcrdma2
}

# clients_are NUMBER: succeeds if the server has connections of so many hosts, and keeps limits
# for as many
clients_are()
{
	local peers addresses

	peers=$(sed -n '/ state=ended /d; s/^peer=\([0-9.]*\):.*/\1/p' /proc/net/rpc/svcrdma2 |
		sort -u | wc -l)
	addresses=$(grep -c '^address ' /sys/kernel/debug/svcrdma2/transfers)
	[ "$peers $addresses" = "$1 $1" ] || complain "$peers peers, $addresses addresses"
}

# far_is_delegated: succeeds if the other guest has a delegation of the file "recalled"
far_is_delegated()
{
	[ "$(on_server cat /mnt/recalled)" = old ] &&
		grep -qs 'type: deleg, .*recalled"' /proc/fs/nfsd/clients/*/states
}

# client_reboots VERSION: the machine of a client restarts while it writes, and the other client
# does not notice. The loss of the server's packets before the restart leaves RDMA Reads and Replies
# in flight. NFSv4: the server revokes the delegation that the first client cannot return.
client_reboots()
{
	local name="the client's machine restarts, NFSv$1" before

	begin_losses 4.2 "$patient" || return
	check "$name: mount" on_server far_up "$1" || return
	if [ "$1" != 3 ]; then
		echo old >"$export_dir/recalled"
		check "$name: a delegation" await far_is_delegated
	fi
	on_server far_writes "$1"
	check "$name: files are written before" await_far has_synced "$1" 3 &&
		check "$name: the server has both clients" await clients_are 2 || return
	before=$(counters)
	check "$name: it runs commands again" restart_server || return
	check "$name: the server ends the connection" await_far far_is_gone
	check "$name: another client continues" transfers_go_on 8
	[ "$1" = 3 ] || check "$name: another client gets what was delegated" \
		eval 'echo new >/mnt/recalled'
	risen "$before"
	expect "$name: one connection ends, and with transfers in flight" \
		"s_disconnects == 1 && s_ended_SEND + s_ended_READ == 1 && c_disconnects == 0"
	check "$name: the server keeps nothing of it" await clients_are 1
	check "$name: the server has the files that were synced" synced_are_in "$export_dir" "$1"
	check "$name: the client is up again" on_server far_up "$1" &&
		check "$name: it reads the files that were synced" on_server synced_are_in /mnt "$1"
	[ "$1" = 3 ] || same "$name: it reads what was delegated" "$(on_server cat /mnt/recalled)" new
	check "$name: umount" on_server umount_all
	end_losses "$name: another client"
}

# clients_reboot VERSION...
clients_reboot()
{
	local v nfs_host=$near_addr4 server_side=()

	net_up
	check "the server, and a client on its machine" near_up || return
	for v in "$@"; do
		client_reboots "$v" || return
	done
	check "the client that restarted unloads" on_server unload rdma2
	check "the server and its client unload" stop_and_unload
}

group_reboot()
{
	server_reboots && clients_reboot 3 4.2
}

# adapter_serves ARGUMENT...: starts the server of adapter.py
adapter_serves()
{
	adapter_was=$(adapter_state)
	rm -f /tmp/adapter.said
	"$adapter" server --size 16 "$@" >/tmp/adapter.said 2>&1 &
	adapter_pid=$!
	await grep -q '^The server listens' /tmp/adapter.said || ! cat /tmp/adapter.said
}

# adapter_stops: stops it by a signal; it has to succeed, and to leave everything as it was
adapter_stops()
{
	kill "$adapter_pid"
	wait "$adapter_pid" || ! cat /tmp/adapter.said || return
	[ "$(adapter_state)" = "$adapter_was" ] || complain "$(adapter_state | paste -sd' ')"
}

# adapter_client NAME ADDRESS SERVER VARIANT...: a client with these variants in its report
adapter_client()
{
	local name=$1 report=$adapter_report.$3 variant was

	was=$(adapter_state)
	check "$name" "$adapter" client "$2" "${adapter_short[@]}" --output "$report"
	for variant in "${@:4}"; do
		check "$name: $variant" adapter_reported "$report" "$variant, server $3" ' / [0-9.]+'
	done
	same "$name: variants" "$(grep -cE '^[a-z].*, server ' "$report")" $(($# - 3))
	adapter_same "$name: all is cleaned up" "$was"
}

# scripts/adapter.py as adapter.rst describes it for two machines, over both families of
# addresses
group_adapter()
{
	local node_up="net_up && device_up && touch /etc/exports && locking_up"

	check "the server's node" on_server "$node_up" && check "the client's node" eval "$node_up" ||
		return
	net_up
	adapter_refuses "no server" '(does "adapter.py server" run on 10.0.0.1?)' client "$addr4" \
		--output "$adapter_report.none"
	check "server" on_server adapter_serves
	adapter_client "client" "$addr4" rdma2 'rdma2, version 2' 'rdma2, version 1' rpcrdma
	adapter_refuses "a larger file" "FAILED: the server has --size 16, less than 17" client "$addr4" \
		--size 17 --output "$adapter_report.size"
	check "server: ends" on_server adapter_stops
	check "server --intree" on_server adapter_serves --intree
	adapter_client "client, server --intree" "$addr6" rpcrdma 'rdma2, version 1' rpcrdma
	adapter_refuses "no client is left" "^FAILED: no client is left" client "$addr4" --clients v2 \
		--size 16 --output "$adapter_report.left"
	check "server --intree: ends" on_server adapter_stops
}

run_node run_group "$group"
