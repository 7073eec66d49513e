# shellcheck shell=bash disable=SC2015,SC2016,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: diagnostics for administrators. /proc/net/rpc shows the
# connections; the log and mount.nfs report what is missing. Each row of
# Documentation/troubleshooting.rst is provoked and compared with these.

client_view=/proc/net/rpc/xprtrdma2
server_view=/proc/net/rpc/svcrdma2
pages=$VM_TOP/Documentation/troubleshooting.rst

# rows_of HEADING: prints the rows of the table below the heading, as "first
# column<tab>second<tab>third"
rows_of()
{
	python3 -c '
import re, sys

rows = []
for line in sys.stdin.read().split(f"\n{sys.argv[1]}\n", 1)[1].split("\n"):
    if rows and re.match(r"\S", line):
        break
    if line.startswith("   * - "):
        rows.append([line[7:]])
    elif rows and line.startswith("     - "):
        rows[-1].append(line[7:])
    elif rows:
        rows[-1][-1] += line
for row in rows[1:]:
    print(*(" ".join(cell.split()) for cell in row), sep="\t")' "$1" <"$pages"
}

# reads MISSING [HEADING]: a case that the texts of this row are in the log or in the output
# of mount.nfs
reads()
{
	local name="read for want of $1" row text

	row=$(rows_of "${2:-What is missing}" | grep "^$1	" | cut -f2)
	[ -n "$row" ] || { fail "$name: the table has no such row"; return; }
	echo "$1" >>/tmp/rows
	# Literals of the row; ADDRESS, PORT, NUMBER and WHY stand for any text
	grep -o '``.*[^`]``\(;\|$\)' <<<"${row//\`\`; /\`\`;$'\n'}" |
		sed 's/^``//; s/``;*$//' >/tmp/texts
	[ -s /tmp/texts ] || { fail "$name: no text in the row"; return; }
	while read -r text; do
		text=$(sed 's/[][\\.*^$]/\\&/g; s/\<\(ADDRESS\|PORT\|NUMBER\)\>/[^ ]*/g
			s/\<WHY\>/.*/g' <<<"$text")
		if ! { dmesg; cat /tmp/said; } | grep -q -- "$text\$"; then
			fail "$name: no '$text' in $({ dmesg | grep rdma2 | tail -n 2
				tail -n 2 /tmp/said; } | tr '\n' '|')"
			return
		fi
	done </tmp/texts
	ok "$name"
}

# log_of COMMAND...: runs the command and keeps its messages for reads()
log_of()
{
	dmesg -C
	"$@" >/tmp/said 2>&1
}

# try_mount ADDRESS PORT: sets $tried to the exit status of the mount, which must end by itself
try_mount()
{
	log_of timeout -s KILL 60 mount -t nfs -o \
		"vers=4.2,proto=rdma2,port=$2,retry=0,soft,timeo=100,retrans=1" \
		"$1:/" /mnt
	tried=$?
	case $tried in
	0)	echo "it is mounted" >>/tmp/said; umount /mnt ;;
	137)	echo "the mount had to be killed" >>/tmp/said
		fail "a mount of $1 port $2 does not end in 60 s" ;;
	esac
}

# value FILE PATTERN KEY: prints the value in the first matching line
value()
{
	grep -- "$2" "$1" | head -n 1 | tr ' ' '\n' | sed -n "s/^$3=//p"
}

# is NAME FILE PATTERN KEY=VALUE...: a case that the first matching line has these values; *
# matches any value
is()
{
	local name=$1 file=$2 pattern=$3 pair why=''

	shift 3
	for pair; do
		# shellcheck disable=SC2053 # a pattern
		[[ $(value "$file" "$pattern" "${pair%%=*}") == ${pair#*=} ]] ||
			why+=", not $pair"
	done
	[ -z "$why" ] && ok "$name" ||
		fail "$name: ${why#, }: $(grep -- "$pattern" "$file" | head -n 2)"
}

# ended_row VIEW REASON TIME: succeeds if the view has a connection that ended for this reason, in
# the second of this time of the guest or later; in the view's words "-" stands for a blank
ended_row()
{
	local now

	uptime
	grep -oE "\<ended=(${2// /-}) ended_ago=[0-9]+" "$1" |
		awk -F = -v most=$((now / 100 - $3 / 100)) '
			$NF <= most { found = 1 }
			END { exit !found }'
}

# ends_of VIEW REASON: prints how many connections of this end have ended for this reason, by
# counters on its input
ends_of()
{
	local end=c

	[[ $1 != */svcrdma2 ]] || end=s
	awk -F '[(," ]+' -v wanted="^($2)\$" -v end="${end}_ended_" '
		FILENAME != "-" { split($0, text, "\""); if (text[2] ~ wanted) name[end $2]; next }
		$1 in name { n += $2 }
		END { print n + 0 }' "$VM_TOP/include/rpcrdma2/conn.h" -
}

# ended_anew VIEW REASON COUNT TIME: succeeds if more connections than this have ended for the
# reason, and the view has one since this time. Later cases then count from here.
declare -A ends_known
ended_anew()
{
	local now ends

	ends=$(module_counters | ends_of "$1" "$2")
	[ "$ends" -gt "$3" ] && ended_row "$1" "$2" "$4" && uptime && ends_known[$1 $2]="$ends $now"
}

# ended_for NAME VIEW REASON: a case that the view has a connection that ended for this reason and
# was counted since $before, and since the last such case. Its row appears after the peer's
# disconnection, when a thread of the server has closed the connection. In-tree's transport has no
# view.
ended_for()
{
	local known since last at

	[ "$proto" = rdma2 ] || return 0
	grep -q '^[cs]_ended_' <<<"${before:-}" || { fail "$1: no counters from before"; return; }
	known=$(ends_of "$2" "$3" <<<"$before") since=$(sed -n 's/^uptime //p' <<<"$before")
	read -r last at <<<"${ends_known[$2 $3]:-0 0}"
	[ "$known" -ge "$last" ] || known=$last since=$at
	await ended_anew "$2" "$3" "$known" "$since" && ok "$1: the view has the reason, $3" ||
		fail "$1: the view has not '$3' after $known: $(grep -o 'ended=.*' "$2" |
			tail -n 4 | tr '\n' '|')"
}

# device_removed NAME: a case that, since measure(), a connection of the client ended
# because of the device. Both ends use the device, and the server may be notified first and
# disconnect.
device_removed()
{
	[ "$proto" != rdma2 ] ||
		expect "$1: the device is the reason" "c_ended_DEVICE > 0"
}

view_of_mount()
{
	local before

	mount_nfs rdma2 4.2 /mnt || { fail "mount"; return; }
	is "the client's line" $client_view "peer=$addr4:$port" state=up \
		device=rxe0 version=2 why=CONNPROP netid=rdma2 connects=1 \
		brs=INLINE error= errors= slots=64 regions_max=192 region_pages=258
	is "the server's line" $server_view "state=up" device=rxe0 version=2 \
		"local=$addr4:$port" brs=INLINE used=0 read_chunks=0 \
		write_chunks=0 errors= reads_max=128 read_pages=0 read_regions=0
	dd if=/dev/zero of=/mnt/chunks bs=1M count=1 conv=fsync 2>/dev/null
	dd if=/mnt/chunks of=/dev/null bs=1M iflag=direct 2>/dev/null
	is "chunks: the server's line" $server_view "state=up" read_chunks=1 \
		write_chunks=1
	perl -e '$) = $> = 65534; open(F, "<", $_) && <F> || exit 1 for @ARGV' \
		$client_view $server_view &&
		ok "all users can read the views" || fail "the views: not readable"
	ip netns add other
	[ -z "$(ip netns exec other cat $client_view $server_view)" ] &&
		ok "another network namespace has no line" ||
		fail "the views of another network namespace"
	check "no view after its end" ip netns del other
	check "mountstats has 27 numbers" figures /mnt

	before=$(counters)
	rpc.nfsd 0
	await eval '[ "$(value $client_view "peer=$addr4:$port" ended)" = peer ]'
	await grep -q 'state=ended' $server_view
	is "the server stops: the client's view" $client_view \
		"peer=$addr4:$port" ended=peer
	is "the server stops: the server's" $server_view "state=ended" \
		ended=ended-by-its-owner version=2
	nfsd_up
	check "the server starts: the mount works" touch /mnt/again
	is "the client's view has the previous reason" $client_view "peer=$addr4:$port" \
		state=up ended=peer connects=2 why=CONNPROP
	risen "$before"
	expect "the end is counted" \
		"c_ended_PEER == 1 && s_ended_ENDED == 1 && s_ended_PEER == 0"
	check "umount" umount_all
}

view_of_version_one()
{
	load_modules rdma && listen_on rdma 20050 || { fail "in-tree"; return; }
	log_of true
	peer_mount 20050 || fail "in-tree: mount"
	is "a server of version 1: why" $client_view "peer=$addr4:20050" \
		version=1 why=ERR_VERS errors=VERS:1
	reads "version 2 at the server"
	check "umount" umount /mnt.20050
	peer_mount 20050 || fail "in-tree: second mount"
	is "the reason when the version is cached" $client_view "peer=$addr4:20050" \
		version=1 why=ERR_VERS
	check "umount" umount /mnt.20050
	echo "$addr4:$port=1" >"$params/pin"
	peer_mount "$port" || fail "pinned: mount"
	is "a pin to version 1: why" $client_view "peer=$addr4:$port" \
		version=1 why=pin
	umount "/mnt.$port"
	echo 2 >/sys/module/svcrdma2/parameters/versions
	log_of peer_mount "$port" && umount "/mnt.$port"
	reads "a common version, at the server"
	reads "a common version"
	echo any >/sys/module/svcrdma2/parameters/versions
	echo >"$params/pin"

	log_of true
	visits client_fallback.garbage client_negotiation.no_common_version
	reads "version 2 at the server"
}

# hold ADDRESS [COUNT]: connected peers that send nothing until let_go
hold()
{
	"${crowd_py[@]}" "$1" "$port" "${2:-1}" hold >/dev/null &
	held+=($!)
}

let_go()
{
	kill "${held[@]}" 2>/dev/null
	wait "${held[@]}" 2>/dev/null
}

# held_and_seen ADDRESS TEXT: a peer; waits until the server's view has the text
held_and_seen()
{
	hold "$1"
	await grep -q "$2" $server_view
}

# The minimum of the memory limit is 64 pages, of which each silent peer takes some. Only one
# peer is refused, because the kernel logs at most ten refusals in 5 s, and this case and the two
# behind it need a line each.
view_of_shortage()
{
	local held=() name="the limit of memory is reached"

	echo 1 >/sys/module/svcrdma2/parameters/receive_memory
	log_of true
	hold "$addr4" 16
	await grep -q state=refused $server_view
	same "$name: one peer is refused" "$(dmesg | grep -c 'svcrdma2: .* is refused')" 1
	is "$name: the view" $server_view state=refused error=12
	reads "memory for Receives"
	let_go
	echo 0 >/sys/module/svcrdma2/parameters/receive_memory
}

# A peer uses up the connections of its address.
view_of_address()
{
	local held=() limit=/sys/module/svcrdma2/parameters/connections
	local name="S46 an address has reached its limit of connections" was

	was=$(cat $limit)
	echo 0:1 >$limit
	log_of true
	held_and_seen "$addr4" state=up
	held_and_seen "$addr4" error=87
	is "$name: the view" $server_view error=87 state=refused
	reads "connections for the client's address"
	hold "$addr6"
	check "$name: another address has a separate limit" \
		await grep -q '^peer=\[.* state=up' $server_view
	let_go
	echo "$was" >$limit
}

# Peers of two addresses use up all connections.
view_of_all()
{
	local held=() limit=/sys/module/svcrdma2/parameters/connections

	echo 1 >$limit
	log_of true
	held_and_seen "$addr4" state=up
	held_and_seen "$addr6" error=23
	is "the limit of all connections is reached: the view" \
		$server_view error=23 state=refused
	reads "connections for all clients"
	let_go
	echo 0 >$limit
}

view_of_read()
{
	local before

	before=$(counters)
	log_of true
	tester "" --export "$export_dir" "$addr4" "$port" \
		lost.an_rdma_read_is_refused || failed=1
	await has_risen s_ended_READ -ge 1 || fail "an RDMA Read fails: no end is counted"
	reads "memory that the client has offered"
	is "the view has the reason" $server_view ended=RDMA-Read-failed \
		state=ended version=2
}

# Each reason that is counted has a row, and each row has a counter.
reasons_have_rows()
{
	diff <(rows_of "Why a connection ended" | cut -f1 | sort) \
		<(sed -n 's/^\(ended_[A-Z_]*\) .*/\1/p' \
			/sys/kernel/debug/svcrdma2/counters | sort)
}

# A device on a separate link without a host at its other end. ARP requests for the address
# stay unanswered there; the guest's dummy device would accept any address.
quiet_link()
{
	modprobe -q veth
	ip link add quiet0 type veth peer name quiet1 &&
		ip addr add 10.9.8.1/24 dev quiet0 &&
		ip link set quiet0 up && ip link set quiet1 up &&
		rdma link add rxe1 type rxe netdev quiet0 || { fail "veth"; return; }
	try_mount 10.9.8.2 "$port"
	reads "an answer"
	rdma link del rxe1
	ip link del quiet0
}

what_is_missing()
{
	beside_rdma try_mount 10.9.9.2 "$port"
	reads "an RDMA device on the way to the server"
	try_mount "$addr4" 21000
	reads "a listener on the server"
	quiet_link
	view_of_read
	view_of_shortage
	view_of_address
	view_of_all

	cp /etc/netconfig /tmp/netconfig
	sed -i /^rdma2/d /etc/netconfig
	try_mount "$addr4" "$port"
	reads "the name rdma2 in /etc/netconfig"
	cp /tmp/netconfig /etc/netconfig
	sed -i /^nfsrdma/d /etc/services
	rpc.nfsd 0
	log_of rpc.nfsd --rdma "$nfsd_threads"
	listen_on rdma2
	reads "the port's name in /etc/services"
	# A rejected value changes nothing.
	refuses "$params/versions" 3
	refuses "$params/slots" 3
}

names_that_are_taken()
{
	unload rdma2 || { fail "unload: $(cat $client_view; grep nfs /proc/mounts)"; return; }
	log_of modprobe xprtrdma2 versions=3
	reads "a value in its range"
	modprobe rpcrdma
	log_of modprobe svcrdma2
	reads "the name rdma for listeners"
	rmmod rpcrdma
	modprobe xprtrdma2
}

every_row()
{
	diff <(sort -u /tmp/rows) <(rows_of "What is missing" | cut -f1 | sort)
}

group_view()
{
	negotiate_up || return
	modprobe -q nfs
	: >/tmp/rows
	view_of_mount
	what_is_missing
	view_of_version_one
	check "each reason has a row in the documentation" reasons_have_rows
	rpc.nfsd 0
	rmmod rpcrdma
	names_that_are_taken
	check "each row of the documentation was tested" every_row
	rpc.nfsd "$nfsd_threads"
	listen_on rdma2
}
