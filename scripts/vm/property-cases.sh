# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after negotiate-cases.sh: what servers say of
# themselves while a connection lasts, what they ask, and what they are told.

# send_limit PORT: octets, as the connection's line says
send_limit()
{
	sed -n "s/^peer=$addr4:$1 .* send=\([0-9]*\)$/\1/p" \
		/sys/kernel/debug/xprtrdma2/connections
}

# introduction NAME MANNERS CONNECTION NUMBER OCTETS [OPTION]: a server's second
# mount comes to use this connection, where NUMBER of CONNPROPs are sent, behind
# the first Reply, and then no Call longer than OCTETS.
introduction()
{
	local name=$1 why='' n got port=$((++next_port)) log octets=$5
	local dir=/mnt.$port

	log=/tmp/peer.$port
	peer_up "$port" "$2" "${6:-}" || { fail "$name: no peer"; return; }
	peer_mount "$port" && umount "$dir" || why+=", no mount"
	peer_mount "$port" && use "$dir" || why+=", no use"
	got=$(send_limit "$port")
	[ "$got" = "$octets" ] || why+=", send=$got"
	umount "$dir"
	n=$(received "$port" "^$3 recv v2 CONNPROP xid=.* len=112")
	[ "$n" -eq "$4" ] || why+=", $n CONNPROPs"
	got=$(sed -n "s/^$3 \(recv\|sent\) v2 \([A-Z]*\) .*/\1_\2/p" "$log" |
		head -n 2 | tr '\n' ' ')
	[ "$got" = "recv_MSG sent_MSG " ] || why+=", begins with $got"
	n=$(received "$port" '^[0-9]+ up$')
	[ "$n" -eq "$3" ] || why+=", $n connections"
	peer_down
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
}

introductions()
{
	local name="S29 version 2 and properties remembered"

	introduction "$name: CONNPROP behind the first Reply" two 2 1 4096
	introduction "$name: the server's bind on this connection" \
		two,two-small 2 1 1024
	introduction "S19 but those of the last one do not" \
		two-small,one-way 2 1 4096
	introduction "C-026 code 9 for a CONNPROP behind a Reply" \
		two,code9 2 1 4096
	introduction "C-026 version 2 without properties: no CONNPROP" \
		code9,two 2 0 4096
	introduction "S29 a one-way reader: no CONNPROP" one-way,two 2 0 4096
	introduction "2.3 one credit: no CONNPROP" two 2 0 4096 -g1
	introduction "2.3 two credits" two 2 1 4096 -g2
	introduction "C-103 hangs up on a CONNPROP: no other one" \
		two,hang-on-probe 3 0 4096
}

# long_calls NAME PORT OCTETS: a Call that is longer has chunks, a symlink one
# for its payload, an xattr one for all of it. The peer refuses both; what it has
# refused once on a connection has a chunk for all of it.
long_calls()
{
	local name=$1 port=$2 octets=$3 log=/tmp/peer.$2 dir=/mnt.$2 from why=''
	local link

	link=$dir/$(mktemp -u l-XXXXXXXX)
	from=$(($(wc -l <"$log") + 1))
	[ "$(send_limit "$port")" = "$octets" ] ||
		why+=", send=$(send_limit "$port")"
	ln -s "$(printf '%01500d' 0)" "$link" 2>/dev/null
	if [ "$octets" -gt 1500 ]; then
		[ "$(readlink "$export_dir/${link##*/}" | wc -c)" -eq 1501 ] ||
			why+=", no symlink"
	elif [ "$(sed -n "$from,\$p" "$log" |
			grep -cE 'recv v2 (MSG .* reads=1|NOMSG .* reads=)')" -eq 0 ]; then
		why+=", no Read chunk"
	fi
	CASES=xattrs timeout 60 "$tools/fs-exercise" 4.2 "$dir" >/dev/null 2>&1
	sed -n "$from,\$p" "$log" | grep -q 'recv v2 NOMSG .* reads=' ||
		why+=", no NOMSG"
	sed -n "$from,\$p" "$log" >"$log.part"
	[ "$(longest "$port.part")" -le "$octets" ] ||
		why+=", a Send of $(longest "$port.part")"
	[ "$octets" -le 4096 ] || [ "$(longest "$port.part")" -gt 4096 ] ||
		why+=", none longer than 4096"
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
}

# property_mount NAME MANNERS: NFSv4.2, which has Calls of any length
property_mount()
{
	next_port=$((next_port + 1))
	peer_up "$next_port" "$2" &&
		port=$next_port mount_nfs rdma2 4.2 "/mnt.$next_port" && return
	fail "$1: mount"
	peer_down
	return 1
}

property_umount()
{
	umount "/mnt.$next_port" || umount -f -l "/mnt.$next_port"
	peer_down
}

# The server's properties bound the client's Sends, whenever they come.
updates()
{
	local name

	name="S33 a server that receives 8192 octets"
	if property_mount "$name" two-large; then
		long_calls "$name: the client sends them" "$next_port" 8192
		property_umount
	fi
	name="S15 UPDPROP"
	if property_mount "$name" two-resizes; then
		long_calls "$name: none yet, 4096" "$next_port" 4096
		poke "$next_port"
		long_calls "$name: 1024 octets bind at once" "$next_port" 1024
		poke "$next_port"
		long_calls "$name: 8192" "$next_port" 8192
		property_umount
	fi
	name="S15 a second CONNPROP"
	if property_mount "$name" two-again; then
		poke "$next_port"
		long_calls "$name: is an update" "$next_port" 1024
		property_umount
	fi
}

# poke PORT: the peer says the next thing that it has to say, and is heard
poke()
{
	local i sent

	sent=$(received "$1" 'sent .* xid=0000ca11')
	kill -USR1 "$peer"
	for i in $(seq 50); do
		[ "$(received "$1" 'sent .* xid=0000ca11')" -gt "$sent" ] && break
		sleep 0.1
	done
	sleep 0.2
}

# said NAME PATTERN NUMBER: the peer's next message gets this, once, and is
# the NUMBER-th to be answered.
said()
{
	poke "$next_port"
	if [ "$(received "$next_port" "recv .* xid=0000ca11 $2")" -eq 1 ] &&
	   [ "$(received "$next_port" 'recv .* xid=0000ca11')" -eq "$3" ]; then
		ok "$1"
	else
		fail "$1: $(grep xid=0000ca11 "/tmp/peer.$next_port" | tail -n 2)"
	fi
}

questions()
{
	property_mount "S16 questions" two-asks || return
	said "S16 REQPROP: BRS done, unknown and larger Receives rejected" \
		'len=36 body=0000000100000001000000010000000600000000$' 1
	said "S11 a bad UPDPROP gets code 2" 'len=20 code=2' 2
	said "S01 REQPROP as an option gets an option" \
		'len=48 body=00000001000000030000001400000001' 3
	said "S40 an unknown option gets code 9" 'len=20 code=9' 4
	poke "$next_port"
	[ "$(received "$next_port" 'recv .* xid=0000ca11')" -eq 4 ] &&
		ok "S17 a RESPROP that answers nothing gets no answer" ||
		fail "S17 $(tail -n 2 "/tmp/peer.$next_port")"
	[ "$(send_limit "$next_port")" = 4096 ] &&
		ok "S11 nothing of the bad UPDPROP is applied" ||
		fail "S11 send=$(send_limit "$next_port")"
	check "S16 questions: use" use "/mnt.$next_port"
	[ "$(received "$next_port" '^[0-9]+ up$')" -eq 1 ] &&
		ok "S16 questions: one connection" ||
		fail "S16 questions: $(grep -c up "/tmp/peer.$next_port")"
	property_umount
}

group_properties()
{
	negotiate_up 20200 || return
	introductions
	updates
	questions
	finish
}
