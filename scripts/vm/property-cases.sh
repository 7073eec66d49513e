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

# client_sends OCTETS: the largest, whatever the server takes; it is heard of
client_sends()
{
	echo "$1" >/sys/module/xprtrdma2/parameters/send_size
	sleep 0.3
}

# Of a server whose Receives of 8192 octets may change: its answers to a REQPROP.
# The columns: requirement and name of the case; manners; the largest Send when the
# client limits itself to 6144 octets, what it is when the client does so no more,
# and how many REQPROPs there were then; counters of both.
answer_rows='
C-052-C-054-done,-then-another-value	grants		6144 8192 2	c_resprops==2&&c_properties_in_vain==0
S01-done,-spelled-as-an-option		grants-option	6144 65536 2	c_resprops==2&&c_properties_in_vain==0
C-053-rejected				rejects		6144 8192 2	c_resprops==2&&c_properties_in_vain==0
C-057-C-058-done-and-rejected		contradicts	6144 8192 2	c_resprops==2&&c_properties_in_vain==0
C-055-C-056-what-was-not-asked		digresses	6144 8192 2	c_resprops==2&&c_properties_in_vain==0
S11-a-bad-RESPROP			mumbles		6144 8192 2	c_resprops==0&&c_properties_in_vain==2
S17-an-answer-with-another-xid		another-answer	6144 6144 1	c_resprops==0&&c_properties_in_vain==0&&c_dropped_silently==1
C-034-S16-no-answer-yet			ignores		6144 6144 1	c_resprops==0&&c_properties_in_vain==0
S18-code-2				refuses-2	6144 8192 2	c_properties_in_vain==2&&c_replies_unknown==0
C-026-S18-code-3			refuses-3	6144 8192 1	c_properties_in_vain==1&&c_replies_unknown==0
C-026-S18-code-9			refuses-9	6144 8192 1	c_properties_in_vain==1&&c_replies_unknown==0
'

# answered NAME MANNERS LIMITED THEN QUESTIONS COUNTERS: as in a row
answered()
{
	local name=${1//-/ } why='' got before n dir

	name=${name//C /C-}
	property_mount "$name" "$2" || return
	dir=/mnt.$next_port
	before=$(counters)
	client_sends 6144
	got=$(send_limit "$next_port")
	[ "$got" = "$3" ] || why+=", send=$got"
	use "$dir" || why+=", no use while it is asked"
	client_sends 65536
	use "$dir" || why+=", no use afterwards"
	got=$(send_limit "$next_port")
	[ "$got" = "$4" ] || why+=", then send=$got"
	n=$(received "$next_port" 'recv v2 REQPROP xid=.* len=32 body=00000001000000010000000400001800')
	[ "$n" -eq 1 ] || why+=", $n REQPROPs of 6144 octets"
	n=$(received "$next_port" 'recv v2 REQPROP')
	[ "$n" -eq "$5" ] || why+=", $n REQPROPs"
	n=$(received "$next_port" '^[0-9]+ up$')
	[ "$n" -eq 1 ] || why+=", $n connections"
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
	risen "$before"
	expect "$name: counters" "$6&&c_reqprops_sent==$5&&c_updprops_sent==0"
	property_umount
}

answers()
{
	local columns

	while read -r -a columns; do
		[ -z "${columns[*]}" ] || answered "${columns[@]}"
	done <<<"$answer_rows"
	# C-047: what a server said that it would not change
	if property_mount "C-047 RBSIZ is not to change" two-large; then
		client_sends 6144
		use "/mnt.$next_port" >/dev/null
		client_sends 65536
		[ "$(received "$next_port" 'recv v2 (REQ|UPD)PROP')" -eq 0 ] &&
			ok "C-047 RBSIZ is not to change: no REQPROP" ||
			fail "C-047 $(grep PROP "/tmp/peer.$next_port" | tail -n 1)"
		property_umount
	fi
}

# send_size is changed when the client has asked for the version, and has no answer.
changes_meanwhile()
{
	local name="C-034 send_size changes while a connection is made" why='' i port

	next_port=$((next_port + 1))
	peer_up "$next_port" hesitates || { fail "$name: no peer"; return; }
	port=$next_port mount_nfs rdma2 4.2 "/mnt.$next_port" &
	for i in $(seq 100); do
		[ "$(received "$next_port" 'recv v2 CONNPROP')" -gt 0 ] && break
		sleep 0.05
	done
	client_sends 6144
	[ "$(received "$next_port" 'sent v2 CONNPROP')" -eq 0 ] ||
		why+=", answered already"
	wait $!
	use "/mnt.$next_port" || why+=", no use"
	[ "$(send_limit "$next_port")" = 6144 ] ||
		why+=", send=$(send_limit "$next_port")"
	[ "$(received "$next_port" '^[0-9]+ up$')" -eq 1 ] ||
		why+=", $(received "$next_port" '^[0-9]+ up$') connections"
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
	property_umount
	client_sends 65536
}

# A server that takes no chunk at all: what needs one ends with an error, at once.
no_chunks()
{
	local name="C-085 S13 a server with limits of 0" why='' before dir n

	next_port=$((next_port + 1))
	dir=/mnt.$next_port
	peer_up "$next_port" is-miserly && peer_mount "$next_port" ||
		{ fail "$name: mount"; peer_down; return; }
	before=$(counters)
	n="$(send_limit "$next_port") $(reply_limit "$next_port")"
	[ "$n" = "1024 1024" ] || why+=", $n octets"
	timeout 20 mkdir "$dir/$next_port" || why+=", no mkdir"
	timeout 20 ls "$dir/$next_port" 2>/tmp/ls && why+=", a READDIR"
	grep -q 'Input/output error' /tmp/ls || why+=", $(cat /tmp/ls)"
	timeout 20 rmdir "$dir/$next_port" || why+=", no rmdir"
	n=$(received "$next_port" '^[0-9]+ up$')
	[ "$n" -eq 1 ] || why+=", $n connections"
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
	risen "$before"
	expect "$name: nothing is registered, nothing is sent again" \
		"c_calls_unsendable > 0 && c_calls_unsendable < 10 && c_registrations == 0 && c_calls_again == 0"
	property_umount
}

# Property messages of all kinds and sizes, answers to no question among them, with
# the xid of each RPC, while send_size changes
babbles()
{
	local name="S15 S17 properties at any time, in any order" why='' n i before

	property_mount "$name" babbles || return
	before=$(counters)
	for i in 4096 6144 8192 5000 6144; do
		client_sends "$i"
		use "/mnt.$next_port" || why+=", no use with $i"
	done
	n=$(received "$next_port" '^[0-9]+ up$')
	[ "$n" -eq 1 ] || why+=", $n connections"
	n=$(received "$next_port" 'recv v2 ERROR')
	[ "$n" -eq 0 ] || why+=", $n errors"
	[ -z "$why" ] && ok "$name" || fail "$name: ${why#, }"
	risen "$before"
	expect "$name: each counts" "c_connprops >= 5 * c_calls &&
		c_reqprops == 4 * c_calls && c_updprops == 4 * c_calls &&
		c_dropped_silently > 3 * c_calls && c_reqprops_sent > 0"
	property_umount
	client_sends 65536
}

# reply_limit PORT: octets, as the connection's line says
reply_limit()
{
	sed -n "s/^peer=$addr4:$1 .* receive=\([0-9]*\) .*/\1/p" \
		/sys/kernel/debug/xprtrdma2/connections
}

# S14: what is said later does not bring the guess back.
guesses()
{
	local name="S14 code 8 for a Reply that should fit" got dir

	next_port=$((next_port + 1))
	dir=/mnt.$next_port
	peer_up "$next_port" refuses-reply && peer_mount "$next_port" ||
		{ fail "$name: mount"; peer_down; return; }
	got=$(reply_limit "$next_port")
	mkdir "$dir/refused" && rmdir "$dir/refused" || got+=", no folder"
	got+=" $(reply_limit "$next_port")"
	poke "$next_port"
	check "$name: use" use "$dir"
	got+=" $(reply_limit "$next_port")"
	[ "$got" = "8192 4096 4096" ] &&
		ok "$name: 4096 octets, also after an UPDPROP" ||
		fail "$name: receive=$got"
	[ "$(received "$next_port" 'sent v2 ERROR .* code=8 arg=200')" -eq 1 ] &&
		[ "$(received "$next_port" '^[0-9]+ up$')" -eq 1 ] &&
		ok "$name: once, on one connection" ||
		fail "$name: $(grep -c code=8 "/tmp/peer.$next_port")"
	property_umount
}

# write_once PORT: a WRITE of a payload for a chunk, which the peer refuses in any
# form; how many Read chunks and Position-Zero chunks there were
write_once()
{
	local from

	from=$(($(wc -l <"/tmp/peer.$1") + 1))
	dd if=/dev/zero of="/mnt.$1/marked" bs=32k count=1 conv=fsync status=none \
		2>/dev/null
	rm "/mnt.$1/marked"
	sed -n "$from,\$p" "/tmp/peer.$1" | awk '
		/recv v2 MSG .* reads=[1-9]/ { read++ }
		/recv v2 NOMSG .* reads=[1-9]/ { zero++ }
		END { print read + 0, zero + 0 }'
}

# What counts from a server with the mark, and from no other
extensions()
{
	local name="C-060 a server with the mark" log n

	if property_mount "$name" marked; then
		[ "$(reply_limit "$next_port")" = 2048 ] &&
			ok "S14 $name: its largest Send is the threshold" ||
			fail "S14 $name: receive=$(reply_limit "$next_port")"
		n=$(write_once "$next_port")
		[ "${n% *}" -eq 0 ] && [ "${n#* }" -gt 0 ] &&
			ok "C-083 $name: it takes no Read chunk and gets none" ||
			fail "C-083 $name: $n"
		client_sends 6144
		use "/mnt.$next_port" >/dev/null
		n=$(received "$next_port" 'recv v2 UPDPROP xid=.* len=32 body=00000001ffffff020000000400001800$')
		[ "$n" -eq 1 ] && ok "C-023 C-059 $name: UPDPROP of the largest Send" ||
			fail "C-059 $name: $(grep UPDPROP "/tmp/peer.$next_port")"
		client_sends 65536
		property_umount
	fi
	name="C-019 S11 a server with another mark"
	if property_mount "$name" marked-otherwise; then
		[ "$(reply_limit "$next_port")" = 8192 ] &&
			ok "$name: its RBSIZ is the threshold" ||
			fail "$name: receive=$(reply_limit "$next_port")"
		n=$(write_once "$next_port")
		[ "${n% *}" -gt 0 ] && ok "$name: Read chunks" ||
			fail "$name: $n"
		property_umount
	fi
	name="C-019 C-060 experimental properties in an UPDPROP"
	if property_mount "$name" experimental; then
		poke "$next_port"
		use "/mnt.$next_port"
		[ "$(send_limit "$next_port")" = 8192 ] &&
			[ "$(received "$next_port" 'recv v2 ERROR')" -eq 0 ] &&
			ok "$name: they are skipped" ||
			fail "$name: send=$(send_limit "$next_port")"
		property_umount
	fi
	name="C-048 S18 a REQPROP with the xid of each RPC"
	if property_mount "$name" asks-same-xid; then
		log=/tmp/peer.$next_port
		check "$name: use" use "/mnt.$next_port"
		n=$(received "$next_port" 'recv v2 N?O?MSG')
		[ "$(received "$next_port" 'recv v2 RESPROP')" -eq "$n" ] &&
			[ "$(received "$next_port" '^[0-9]+ up$')" -eq 1 ] &&
			ok "$name: each has its RESPROP" ||
			fail "$name: $n RPCs, $(grep -c RESPROP "$log")"
		property_umount
	fi
}

group_properties()
{
	negotiate_up 20200 || return
	introductions
	updates
	questions
	answers
	changes_meanwhile
	babbles
	no_chunks
	guesses
	extensions
	finish
}
