# shellcheck shell=bash disable=SC2015,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: which version a mount comes to speak, at what cost,
# with every kind of server. The servers are scripts/peer, which counts what
# it receives; what the client concluded is in its trace events.

events=/sys/kernel/tracing/events/xprtrdma2
trace=/sys/kernel/tracing/trace
params=/sys/module/xprtrdma2/parameters

# What is expected of a mount, a row for each kind of server. The columns:
#
#	requirement and name of the case, without blanks
#	options: peer's and mount's, or -
#	manners of the server, on one connection after the other
#	mount: up, or no: EPROTONOSUPPORT and one line that tells why
#	connections, probes, Calls in version 2, in version 1; n is some
#	versions settled for
#	answer>move, in the words of the trace event, _ for a blank
default_rows='
S29-version-2-with-properties	-	two		up 1 1 n 0	2	CONNPROP>version_2
S11-a-bad-CONNPROP-is-none	-	two-short	up 1 1 n 0	2	silence>try_version_2,Reply>version_2
S30-server-speaks-first		-	two-early	up 1 1 n 0	2	CONNPROP>version_2
S31-messages-that-answer-nothing - two-stray	up 1 1 n 0	2	CONNPROP>version_2
C-026-code-9			-	code9		up 1 1 n 0	2	lacks_properties>version_2
C-026-code-3			-	code3		up 1 1 n 0	2	lacks_properties>version_2
C-101-ERR_VERS			-	one		up 1 1 0 n	1	ERR_VERS>version_1
S36-ERR_VERS-echoes-version-2	-	one-echo	up 1 1 0 n	1	ERR_VERS>version_1
C-102-lost-after-ERR_VERS	-	one-then-hang	up 2 1 0 n	1,1	ERR_VERS>version_1
C-102-lost-before-the-first-Reply -	one-hang-rpc,one up 2 1 0 n	1,1	ERR_VERS>version_1
C-104-version-1-message		-	speaks-one	up 1 1 0 n	1	version_1>version_1
C-103-killed-during-the-probe	-	hang,two	up 2 2 n 0	2	lost>connect_later,CONNPROP>version_2
C-103-two-lost-in-one-outage	-	hang,hang,two	up 3 3 n 0	2	lost>connect_later,lost>connect_later,CONNPROP>version_2
C-103-hangs-up-on-each-probe	-	hang		up 4 3 0 n	1	lost>connect_later,lost>connect_later,lost>connect_again,_try_version_1
S37-another-dialect		-	dialect		up 2 1 0 n	1	foreign>connect_again,_try_version_1
S37-garbage			-	garbage		up 2 1 0 n	1	foreign>connect_again,_try_version_1
S36-no-common-version		-	newer		no 1 1 0 0	-	ERR_VERS>fail
S29-one-way-reader		-	one-way		up 1 1 n 0	2	silence>try_version_2,Reply>version_2
S29-late-CONNPROP		-	two-late	up 1 1 n 0	2	silence>try_version_2,CONNPROP>version_2
C-026-late-code-9		-	code9-late	up 1 1 n 0	2	silence>try_version_2,lacks_properties>version_2
C-103-silent-server		-	mute		up 2 1 1 n	1	silence>try_version_2,silence>connect_again,_try_version_1
C-103-silent-server-impatient-RPC timeo=40,retrans=5 mute		up 3 2 1 n	1	silence>try_version_2,silence>connect_again,_try_version_1
C-103-hangs-up-on-trial		-	hang-on-trial	up 2 1 1 n	1	silence>try_version_2,lost>connect_again,_try_version_1
S33-ERR_VERS-on-trial		-	one-on-trial	up 2 1 1 n	1	silence>try_version_2,ERR_VERS>connect_again,_version_1
S37-another-dialect-on-trial	-	dialect-on-trial up 2 1 1 n	1	silence>try_version_2,foreign>connect_again,_try_version_1
S42-code-3-for-the-first-RPC	-	lacks-rpc3	up 2 1 1 n	2,1	CONNPROP>version_2,lacks_RPCs>connect_again,_version_1
S42-code-9-for-the-first-RPC	-	lacks-rpc9	up 2 1 1 n	2,1	CONNPROP>version_2,lacks_RPCs>connect_again,_version_1
S42-code-3-for-the-fourth	-	lacks-rpc4th	up 2 1 4 n	2,1	CONNPROP>version_2,lacks_RPCs>connect_again,_version_1
S42-code-9-on-trial		-	lacks-on-trial	up 2 1 1 n	1	silence>try_version_2,lacks_RPCs>connect_again,_version_1
S42-then-ERR_VERS-in-version-1	-	lacks-both	no 2 1 1 1	2,1	CONNPROP>version_2,lacks_RPCs>connect_again,_version_1,ERR_VERS>fail
S42-ERR_VERS-for-the-fourth	-	lacks-both4th	no 2 1 4 1	2,1	CONNPROP>version_2,lacks_RPCs>connect_again,_version_1,ERR_VERS>fail
S42-codes-that-answer-no-RPC	-	stray-codes	up 1 1 n 0	2	CONNPROP>version_2
S36-no-common-version-on-trial	-	newer-on-trial	no 1 1 1 0	-	silence>try_version_2,ERR_VERS>fail
'

# With a pin of the server's port to version 1
pinned_one_rows='
S34-pinned-to-1			-	two		up 1 0 0 n	1	-
S34-pinned-to-1-in-vain		-	two-only	no 1 0 0 1	1	ERR_VERS>fail
'

# and to version 2
pinned_two_rows='
S34-pinned-to-2			-	two		up 1 1 n 0	2	CONNPROP>version_2
S34-pinned-to-2-in-vain		-	one		no 1 1 0 0	-	ERR_VERS>fail
S34-pinned-to-2-another-dialect	-	dialect		no 1 1 0 0	-	foreign>fail
S42-pinned-to-2-in-vain		-	lacks-rpc9	no 1 1 1 0	2	CONNPROP>version_2,lacks_RPCs>fail
S42-pinned-to-2-the-fourth	-	lacks-rpc4th	no 1 1 4 0	2	CONNPROP>version_2,lacks_RPCs>fail
'

# peer_up PORT MANNERS [OPTION]: $peer is its process
peer_up()
{
	local i log=/tmp/peer.$1

	# shellcheck disable=SC2086 # an option or none
	"$tools/peer" ${3:-} "$1" ${2//,/ } >"$log" 2>&1 &
	peer=$!
	for i in $(seq 300); do
		grep -q listens "$log" && return
		sleep 0.1
	done
	cat "$log"
	return 1
}

peer_down()
{
	kill "$peer"
	wait "$peer" 2>/dev/null
}

# received PORT PATTERN...: how many lines of the peer's log have it
received()
{
	grep -cE "$2" "/tmp/peer.$1"
}

# matches NUMBER EXPECTED: the latter a number, or n for some
matches()
{
	[ "$1" = "$2" ] || { [ "$2" = n ] && [ "$1" -gt 0 ]; }
}

# traced PORT EVENT SED-SCRIPT: what the events of a server say, in a line
traced()
{
	grep ":$1 " "$trace" | sed -n "s/.* xprt2_$2: .*$3/p" | tr ' \n' '_,' |
		sed 's/,$//'
}

moves()
{
	traced "$1" negotiate 'answer=\(.*\) move=\(.*\)/\1>\2'
}

settled()
{
	traced "$1" settled 'version=\(.*\)/\1'
}

# use FOLDER: small things, which need no chunks, and their effect beside
use()
{
	local dir=$1 name

	name=$(mktemp -u d-XXXXXXXX)
	mkdir "$dir/$name" && echo some >"$dir/$name/f" &&
		[ "$(cat "$dir/$name/f")" = some ] &&
		[ "$(ls "$dir/$name")" = f ] &&
		[ "$(cat "$export_dir/$name/f")" = some ]
}

peer_mount()
{
	local port=$1 dir=/mnt.$1

	mkdir -p "$dir"
	timeout -s KILL 60 mount -t nfs -o \
		"vers=3,proto=rdma2,nolock,port=$port${2:+,$2}" \
		"$addr4:$export_dir" "$dir" 2>"/tmp/mount.$port"
}

# refusal PORT: the mount says what the error is, the log why, once
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

# row PORT NAME OPTIONS MANNERS MOUNT CONNECTIONS PROBES TWO ONE SETTLED MOVES
row()
{
	local port=$1 name=$2 options=${3#-} manners=$4 up=$5 why='' i n
	local versions=${10#-} want=${11#-} got
	local patterns=('^[0-9]+ up$' 'recv v2 CONNPROP' 'recv v2 N?O?MSG'
		'recv v1 N?O?MSG')

	peer_up "$port" "$manners" || { fail "$name: no peer"; return; }
	if peer_mount "$port" "$options"; then
		[ "$up" = up ] || why+=", is mounted"
		use "/mnt.$port" || why+=", but no use"
		umount "/mnt.$port" || umount -l "/mnt.$port"
	elif [ "$up" = up ]; then
		why+=", no mount: $(cat "/tmp/mount.$port")"
	else
		got=$(refusal "$port") || why+=", $got"
	fi
	shift 5
	for i in "${!patterns[@]}"; do
		n=$(received "$port" "${patterns[i]}")
		matches "$n" "$1" || why+=", $n of '${patterns[i]}' (not $1)"
		shift
	done
	got=$(moves "$port")
	[ "$got" = "$want" ] || why+=", moves $got"
	got=$(settled "$port")
	[ "$got" = "$versions" ] || why+=", settled for $got"
	peer_down
	if [ -z "$why" ]; then
		ok "$name ($manners)"
	else
		fail "$name ($manners): ${why#, }"
	fi
}

# rows TABLE [VERSION]: each on a port of its own, pinned to VERSION. One after
# the other: the NFS client makes one connection to a new server at a time.
rows()
{
	local line

	while read -ra line; do
		[ ${#line[@]} -gt 0 ] || continue
		next_port=$((next_port + 1))
		[ $# -lt 2 ] || echo "$addr4:$next_port=$2" >"$params/pin"
		row "$next_port" "${line[@]}"
	done <<<"$1"
	[ $# -lt 2 ] || echo >"$params/pin"
}

# remembered NAME MANNERS PATTERN: a server's second mount begins with an RPC.
# One that has properties gets those of the client when that is answered.
remembered()
{
	local name=$1 first port=$((++next_port))

	peer_up "$port" "$2" || { fail "$name: no peer"; return; }
	peer_mount "$port" && umount "/mnt.$port" &&
		peer_mount "$port" && use "/mnt.$port" && umount "/mnt.$port" ||
		{ fail "$name: mount"; peer_down; return; }
	first=$(grep -m 1 '^2 recv' "/tmp/peer.$port")
	if grep -qE "$3" <<<"$first"; then
		ok "$name"
	else
		fail "$name: the first message is $first"
	fi
	peer_down
}

# second_mount NAME MANNERS PATTERN...: what the peer's log has after it
second_mount()
{
	local name=$1 why='' pattern port=$((++next_port))

	peer_up "$port" "$2" && peer_mount "$port" && umount "/mnt.$port" &&
		peer_mount "$port" && use "/mnt.$port" && umount "/mnt.$port" ||
		{ fail "$name: mount"; peer_down; return; }
	shift 2
	for pattern; do
		[ "$(received "$port" "$pattern")" -eq 1 ] ||
			why+=", not once '$pattern'"
	done
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
	peer_down
}

# symlinks FOLDER: three at once. What comes of each is in /tmp/symlink.N
symlinks()
{
	local i pids=()

	mkdir "$1"/{1,2,3} || return
	for i in 1 2 3; do
		timeout -s KILL 60 ln -s "to-$i" "$1/$i/l" \
			2>"/tmp/symlink.$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

# three_refused NAME MANNERS: one of three Calls gets code 9, or all do. Each
# one is sent again in version 1, and once.
three_refused()
{
	local name=$1 why='' i n port=$((++next_port)) dir

	dir=/mnt.$port
	peer_up "$port" "$2" && peer_mount "$port" ||
		{ fail "$name: mount"; peer_down; return; }
	symlinks "$dir"
	for i in 1 2 3; do
		[ "$(readlink "$export_dir/$i/l")" = "to-$i" ] ||
			why+=", no link $i: $(cat "/tmp/symlink.$i")"
	done
	for i in 1 2; do
		n=$(received "$port" "recv v$i .* nfs=10")
		[ "$n" -eq 3 ] || why+=", $n SYMLINKs in version $i"
	done
	n=$(received "$port" '^[0-9]+ up$')
	[ "$n" -eq 2 ] || why+=", $n connections"
	use "$dir" || why+=", no use"
	umount "$dir"
	rm -rf "${export_dir:?}"/{1,2,3}
	peer_down
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
}

# three_in_vain NAME MANNERS REFUSED: so many of three Calls draw code 9 where
# version 1 is not allowed. They end, and say why; nothing else does.
three_in_vain()
{
	local name=$1 why='' n port=$((++next_port)) dir

	dir=/mnt.$port
	echo "$addr4:$port=2" >"$params/pin"
	peer_up "$port" "$2" && peer_mount "$port" ||
		{ fail "$name: mount"; peer_down; return; }
	symlinks "$dir"
	n=$(grep -l 'Protocol not supported' /tmp/symlink.[123] | wc -l)
	[ "$n" -eq "$3" ] || why+=", $n refused: $(cat /tmp/symlink.[123])"
	n=$(find "$export_dir"/[123] -type l | wc -l)
	[ "$n" -eq $((3 - $3)) ] || why+=", $n links"
	use "$dir" || why+=", no use afterwards"
	n=$(received "$port" 'recv v2 .* nfs=10')
	[ "$n" -eq 3 ] || why+=", $n SYMLINKs"
	n=$(received "$port" '^[0-9]+ up$')
	[ "$n" -eq 1 ] || why+=", $n connections"
	n=$(dmesg | grep -c "no common version with server $addr4 port $port:")
	[ "$n" -eq 1 ] || why+=", $n lines in the log"
	umount "$dir"
	rm -rf "${export_dir:?}"/{1,2,3}
	peer_down
	echo >"$params/pin"
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
}

# An RPC that gets code 2 is not sent again, however fast the error comes.
ended_once()
{
	local name="S42 code 2, 30 times" why='' i n=0 port=$((++next_port))

	peer_up "$port" bad-symlinks && peer_mount "$port" ||
		{ fail "$name: mount"; peer_down; return; }
	for i in $(seq 30); do
		ln -s x "/mnt.$port/l-$i" 2>&1 | grep -q 'Input/output error' &&
			n=$((n + 1))
	done
	[ "$n" -eq 30 ] || why+=", $n times EIO"
	n=$(received "$port" 'recv v2 .* nfs=10')
	[ "$n" -eq 30 ] || why+=", $n SYMLINKs"
	n=$(received "$port" '^[0-9]+ up$')
	[ "$n" -eq 1 ] || why+=", $n connections"
	umount "/mnt.$port"
	peer_down
	[ -z "$why" ] && ok "$name: an RPC each" || fail "$name: ${why#, }"
}

# The first RPC of a connection has waited for that before it is sent, and an
# error may be faster than its going back to sleep: once, and it ends.
first_refused()
{
	local name=$1 why='' n port=$((++next_port))

	peer_up "$port" bad-rpc || { fail "$name: no peer"; return; }
	peer_mount "$port" && why+=", is mounted"
	# So mount.nfs says EIO. One that hangs is killed, and says nothing.
	grep -q 'mount system call failed' "/tmp/mount.$port" ||
		why+=", says \"$(cat "/tmp/mount.$port")\""
	n=$(received "$port" 'recv v2 N?O?MSG')
	[ "$n" -eq 1 ] || why+=", $n Calls"
	n=$(received "$port" '^[0-9]+ up$')
	[ "$n" -eq 1 ] || why+=", $n connections"
	peer_down
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
}

longest()
{
	sed -n 's/.* recv .* len=\([0-9]*\).*/\1/p' "/tmp/peer.$1" | sort -n |
		tail -n 1
}

# S33: what version 1 goes by. A symlink of 1,500 octets is inline or not.
thresholds()
{
	local port=$((++next_port)) long

	long=$(printf '%01500d' 0)
	peer_up "$port" one && peer_mount "$port" ||
		{ fail "S33 thresholds"; peer_down; return; }
	check "S33 version 1 with private data: 4096 octets go inline" \
		ln -s "$long" "/mnt.$port/l-$port"
	umount "/mnt.$port"
	peer_down

	port=$((++next_port))
	peer_up "$port" one -b && peer_mount "$port" ||
		{ fail "C-104 thresholds"; peer_down; return; }
	ln -s "$long" "/mnt.$port/l-$port" 2>/dev/null
	if [ "$(received "$port" 'recv v1 MSG .* reads=1')" -gt 0 ] &&
	   [ "$(longest "$port")" -le 1024 ]; then
		ok "C-104 version 1 without private data: 1024 octets"
	else
		fail "C-104 version 1 without private data: $(longest "$port")"
	fi
	umount "/mnt.$port"
	peer_down
}

# The kernel's own servers, in one kernel: version 1 alone, and svcrdma2.
real_servers()
{
	local before name

	if load_modules rdma 2>/dev/null && listen_on rdma 20050; then
		name="C-101 the in-tree server"
		check "$name: mount" peer_mount 20050 &&
			check "$name: use" use /mnt.20050 &&
			check "$name: connections says version 1" grep -q \
				"^peer=$addr4:20050 state=up .*version=1 " \
				/sys/kernel/debug/xprtrdma2/connections
		umount /mnt.20050
		[ "$(moves 20050) $(settled 20050)" = "ERR_VERS>version_1 1" ] &&
			ok "$name: version 1 by ERR_VERS" ||
			fail "$name: $(moves 20050), settled $(settled 20050)"
	else
		echo "skip no in-tree server beside svcrdma2 in this kernel"
	fi
	name="S29 svcrdma2"
	check "$name: mount" peer_mount "$port" &&
		check "$name: use" use "/mnt.$port" &&
		check "$name: connections says version 2" grep -q \
			"^peer=$addr4:$port state=up .*version=2 " \
			/sys/kernel/debug/xprtrdma2/connections
	umount "/mnt.$port"
	before=$(moves "$port")
	[ "$(settled "$port")" = 2 ] && ok "$name: version 2 ($before)" ||
		fail "$name: $before, settled $(settled "$port")"
}

# pin_refused VALUE WORD: the old value stays, and one line names the word.
pin_refused()
{
	local old said

	old=$(cat "$params/pin")
	dmesg -C
	if echo "$1" 2>/dev/null >"$params/pin"; then
		fail "S34 pin '$1' is taken"
		return
	fi
	said=$(dmesg | grep 'parameter pin')
	if [ "$(wc -l <<<"$said")" -eq 1 ] && grep -qF "'$2'" <<<"$said" &&
	   [ "$(cat "$params/pin")" = "$old" ]; then
		ok "S34 pin '$1' is refused, and says why"
	else
		fail "S34 pin '$1': $said"
	fi
}

pins()
{
	local value="192.0.2.1=1 [fd00::2]:20049=2,$addr4=2"

	echo "$value" >"$params/pin"
	[ "$(cat "$params/pin")" = "$value" ] && ok "S34 pin reads as it was set" ||
		fail "S34 pin reads $(cat "$params/pin")"
	pin_refused "192.0.2.1=1 192.0.2.300=1" 192.0.2.300=1
	pin_refused "192.0.2.1=3" 192.0.2.1=3
	pin_refused "[fd00::2=1" "[fd00::2=1"
	echo >"$params/pin"

	rows "$pinned_one_rows" 1
	rows "$pinned_two_rows" 2
	# A port's pin goes before its address's, a pin before min_version.
	echo 2 >"$params/min_version"
	echo "$addr4:$((next_port + 1))=1 $addr4=2" >"$params/pin"
	rows 'S34-pin-of-a-port-before-pin-of-an-address - two up 1 0 0 n 1 -'
	echo >"$params/pin"
	rows 'S34-min_version - one no 1 1 0 0 - ERR_VERS>fail
		S42-min_version - lacks-rpc3 no 1 1 1 0 2 CONNPROP>version_2,lacks_RPCs>fail'
	echo 1 >"$params/min_version"
	echo 1 >"$params/max_version"
	rows 'S34-max_version - two up 1 0 0 n 1 -'
	echo 2 >"$params/max_version"
}

negotiate_up()
{
	next_port=$1
	nfs_up rdma2 || { fail "server"; return 1; }
	modprobe -qa ib_uverbs rdma_ucm
	echo 1 >"$params/min_version"
	echo 1 >"$events/xprt2_negotiate/enable"
	echo 1 >"$events/xprt2_settled/enable"
}

group_negotiate()
{
	negotiate_up 20100 || return
	rows "$default_rows"
	remembered "S34 version 2 remembered: an RPC goes first" two 'v2 MSG'
	remembered "S34 version 1 remembered: an RPC goes first" one 'v1 MSG'
	second_mount "S34 remembered as 1, has 2 alone: asked again" \
		one,two-only '^2 sent v1 ERROR .*range=2-2' '^3 recv v2 CONNPROP'
	second_mount "S34 remembered as 2, goes away: asked again" \
		two,hang-on-trial,two '^2 recv v2 MSG' '^3 recv v2 CONNPROP'
	second_mount "C-101 remembered as 2, has 1 alone: version 1 next" \
		two,one '^2 recv v2 MSG' '^2 sent v1 ERROR' '^3 up'
	second_mount "C-103 S37 garbage is not remembered as version 1" \
		garbage,garbage,two '^2 up' '^3 recv v2 CONNPROP'
	second_mount "C-103 nor are lost probes" \
		hang,hang,hang,hang,two '^4 up' '^5 recv v2 CONNPROP'
	first_refused "C-094 the first RPC gets code 2"
	three_refused "S42 the second of three Calls gets code 9" lacks-second
	three_refused "S42 all three Calls draw code 9" lacks-all-three
	three_in_vain "S42 pinned to 2, one of three Calls gets code 9" \
		lacks-first-late 1
	three_in_vain "S42 pinned to 2, all three draw code 9" \
		lacks-all-three 3
	ended_once
	thresholds
	pins
	real_servers
	finish
}
