# shellcheck shell=bash disable=SC2015,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by hostile-cases.sh: what a hostile server does to the client. The
# servers are scripts/peer.

# Replies that break the protocol, a row each, all on one mount. A fault is
# the name of a file or folder: the peer makes it when that is read. The columns:
#
#	requirement
#	fault, as in scripts/peer/faults.c
#	octets of the file, which are read at once; or "folder"
#	what the reader gets: data, the right ones; EIO; end, it comes to one
#	Replies with the fault; n is some
#	connections lost: the RPC layer sends the Call again when it cannot read
#	the RPC header of the Reply, twice, and each time on a new connection
#	what the counters rise by
fault_rows='
E-20	writes-too-much		65536	EIO	1 0	c_replies_bad==1
E-20	writes-two-chunks	65536	EIO	1 0	c_replies_bad==1
E-20	writes-wrap-list	65536	EIO	1 0	c_replies_bad==1
S05	writes-wrap-chunk	65536	EIO	1 0	c_replies_bad==1
E-20	writes-unasked		512	EIO	1 0	c_replies_bad==1
E-20	writes-nothing		65536	EIO	n 0	c_replies_bad==0&&c_write_chunk_bytes==0
E-20	writes-half		65536	data	n 0	c_replies_bad==0&&c_write_chunk_bytes>32768
E-07	writes-and-more		65536	data	1 0	c_replies_bad==0&&c_write_chunk_bytes==65536
E-20	writes-half-and-more	65536	data	n 0	c_replies_bad==0&&c_write_chunk_bytes>=32768
E-20	writes-headless		65536	end	n 0	c_replies_bad==0&&c_write_chunk_bytes>=65536
S13	header-of-a-page	5120	data	10 0	c_replies_bad==0&&c_fixup_bytes>5120+500
E-20	inline-too-long		512	data	1 0	c_replies_bad==0
E-20	inline-too-short	512	data	n 0	c_replies_bad==0
E-20	inline-says-more	512	data	1 0	c_replies_bad==0
E-20	inline-says-all		512	EIO	n 0	c_replies_bad==0
E-20	cut-in-result		512	EIO	1 0	c_replies_bad==0
E-20	cut-in-rpc		512	EIO	3 2	c_replies_bad==0
S07	cut-in-type		512	EIO	1 0	c_replies_bad==1
E-20	cut-in-word		512	EIO	3 2	c_replies_bad==0
E-06	chunk-unasked		512	EIO	1 0	c_replies_bad==1
S07	chunk-missing		512	EIO	1 0	c_replies_bad==1
E-06	chunk-used		folder	data	1 0	c_replies_bad==0&&c_reply_chunks_used==1
E-20	chunk-too-long		folder	EIO	1 0	c_replies_bad==1
S05	chunk-wraps		folder	EIO	1 0	c_replies_bad==1
E-20	chunk-cut		folder	EIO	3 2	c_replies_bad==0&&c_reply_chunk_bytes==24
S07	chunk-and-inline	folder	EIO	1 0	c_replies_bad==1
X6	answers-stranger	512	data	1 0	c_replies_unknown==1
X6	answers-again		1024	data	2 0	c_replies_unknown==1
'

# fault_file NAME SIZE: what the peer will be asked for
fault_file()
{
	if [ "$2" = folder ]; then
		mkdir "$export_dir/$1" && : >"$export_dir/$1/a-file"
	else
		head -c "$2" /dev/urandom >"$export_dir/$1"
	fi
}

# read_fault NAME SIZE FOLDER: prints what the reader gets, "hangs" where it had to
# be killed; 1024 octets are read in two READs, 5120 in ten.
read_fault()
{
	local from=$3/$1 size=$2 count=1 said status

	[ "$size" != 1024 ] || count=2
	[ "$size" != 5120 ] || count=10
	if [ "$size" = folder ]; then
		said=$(timeout -s KILL 30 ls "$from" 2>&1)
		status=$?
		[ "$status" -eq 0 ] && [ "$said" = a-file ] && echo data && return
	else
		said=$(timeout -s KILL 30 dd if="$from" of=/tmp/read iflag=direct \
			bs="$((size / count))" count="$count" 2>&1)
		status=$?
		[ "$status" -eq 0 ] && cmp -s /tmp/read "$export_dir/$1" &&
			echo data && return
	fi
	case $status in
	124|137)	echo hangs; return ;;
	esac
	grep -o 'Input/output error' <<<"$said" || echo "${said:-nothing}"
}

# wrong_outcome GOT EXPECTED
wrong_outcome()
{
	case $2 in
	EIO)	[ "$1" != 'Input/output error' ] ;;
	end)	[ "$1" = hangs ] ;;
	*)	[ "$1" != "$2" ] ;;
	esac
}

# fault_row PORT ID FAULT SIZE OUTCOME TIMES LOST EXPRESSION
fault_row()
{
	local port=$1 id=$2 name=$3 size=$4 outcome=$5 times=$6 lost=$7 why=''
	local got n before

	lost=$((lost + $(received "$port" ' down$')))
	before=$(counters)
	got=$(read_fault "$name" "$size" "/mnt.$port")
	risen "$before"
	wrong_outcome "$got" "$outcome" && why+=", the reader gets $got"
	n=$(received "$port" " fault $name\$")
	matches "$n" "$times" || why+=", $n Replies with the fault"
	use "/mnt.$port" || why+=", no use afterwards"
	n=$(received "$port" ' down$')
	[ "$n" -eq "$lost" ] || why+=", $n connections lost so far (not $lost)"
	if [ -n "$why" ]; then
		fail "$id $name: ${why#, }"
	else
		expect "$id $name: $outcome" "$8"
	fi
}

faulty_up()
{
	peer_up "$1" faulty && peer_mount "$1" nordirplus ||
		{ fail "a mount of a faulty server"; peer_down; return 1; }
}

faulty_down()
{
	umount "/mnt.$1" || umount -l "/mnt.$1"
	peer_down
	rm -rf "${export_dir:?}"/*
}

faults()
{
	local port=$((++next_port)) row

	while read -ra row; do
		[ ${#row[@]} -eq 0 ] || fault_file "${row[1]}" "${row[2]}"
	done <<<"$fault_rows"
	faulty_up "$port" || return
	while read -ra row; do
		[ ${#row[@]} -eq 0 ] || fault_row "$port" "${row[@]}"
	done <<<"$fault_rows"
	faulty_down "$port"
}

# Second Replies that came while the regions of the first one's RPC were being
# invalidated: by xid, the fence is posted, a message dropped, the RPC complete.
dropped_in_fence()
{
	sed -nE 's/.* xprt2_(fence|drop|complete): xid=(0x[0-9a-f]+) .*/\1 \2/p' \
		"$trace" | awk '
		$1 == "fence" { open[$2] = 1 }
		$1 == "drop" && open[$2] { n++ }
		$1 == "complete" { delete open[$2] }
		END { print n + 0 }'
}

answered_twice()
{
	local port=$((++next_port)) name="X6 answers-twice" n why='' event
	local before

	head -c 65536 /dev/urandom >"$export_dir/answers-twice"
	faulty_up "$port" || return
	for event in fence drop complete; do
		echo 1 >"$events/xprt2_$event/enable"
	done
	: >"$trace"
	before=$(counters)
	for n in $(seq 20); do
		[ "$(read_fault answers-twice 65536 "/mnt.$port")" = data ] ||
			why+=", wrong data from READ $n"
	done
	n=$(dropped_in_fence)
	for event in fence drop complete; do
		echo 0 >"$events/xprt2_$event/enable"
	done
	risen "$before"
	[ "$n" -gt 0 ] || why+=", no second Reply during a fence"
	n=$(received "$port" '^1 fault answers-twice$')
	[ "$n" -eq 20 ] || why+=", $n Calls answered twice"
	use "/mnt.$port" || why+=", no use afterwards"
	n=$(received "$port" ' (up|down)$')
	[ "$n" -eq 1 ] || why+=", connection lost"
	if [ -n "$why" ]; then
		fail "$name: ${why#, }"
	else
		expect "$name: the second Reply is dropped" \
			"c_replies_unknown==20&&c_local_invalidations==20"
	fi
	faulty_down "$port"
}

# A Receive that an RDMA Write with Immediate consumed: its length is that of the
# Write, and it holds what the last message in it left, which here is a Reply to
# the very RPC.
immediate()
{
	local port=$((++next_port)) name="E-20 writes-with-immediate" why='' n
	local before

	head -c 1048576 /dev/urandom >"$export_dir/writes-with-immediate"
	faulty_up "$port" || return
	before=$(counters)
	n=$(read_fault writes-with-immediate 1048576 "/mnt.$port")
	risen "$before"
	[ "$n" = data ] || why+=", the reader gets $n"
	n=$(received "$port" '^1 wrote len=1048576 with immediate')
	[ "$n" -eq 1 ] || why+=", $n RDMA Writes with Immediate"
	n=$(received "$port" '^1 down$')
	[ "$n" -eq 1 ] || why+=", the connection is not lost"
	n=$(received "$port" '^2 wrote len=1048576$')
	[ "$n" -eq 1 ] || why+=", $n READs on the next connection"
	use "/mnt.$port" || why+=", no use afterwards"
	if [ -n "$why" ]; then
		fail "$name: ${why#, }"
	else
		expect "$name: the connection is lost, the READ is not" \
			"c_receives_bad==1&&c_connects==1&&c_replies_bad==0"
	fi
	faulty_down "$port"
}

# RDMA2_ERRORs that ask for another form, a row each, all on one mount; what is
# refused once is not tried again. The columns:
#
#	requirement
#	refusal, as in scripts/peer/faults.c
#	what is done to a file of that name, and how many octets
#	what comes of it: data, the right ones; or EIO
#	Calls with one xid, and their answers: MSG or NOMSG with the numbers of
#	Read segments, Write chunks and Reply chunks; error and argument
#	what the counters rise by
refusal_rows='
C-085	sees-segments		read,512	EIO	MSG,6/1			c_calls_again==0
S41	needs-nothing		read,512	EIO	MSG,8/0			c_calls_again==0
C-091	needs-little		read,512	data	MSG,8/100,MSG-011,NOMSG	c_calls_again==1&&c_reply_chunks_used==1
S45	needs-little-always	read,512	EIO	MSG,8/100,MSG-011,8/100	c_calls_again==1
C-092	needs-more		read,65536	data	MSG-010,8/40000,MSG-001,NOMSG	c_calls_again==1&&c_reply_chunks_used==1
C-092	needs-too-much		read,65536	EIO	MSG-010,8/2147483647	c_calls_again==1&&c_calls_unsendable==1&&c_dead_rpcs==0
S45	takes-many-reads	write,65536	EIO	MSG-100,4/4294967295,MSG-100,4/4294967295	c_calls_again==1
C-083	takes-no-reads		write,65536	data	MSG-100,4/0,NOMSG-100,MSG	c_calls_again==1&&c_calls_nomsg==1
C-083	takes-no-reads-now	write,65536	data	NOMSG-100,MSG		c_calls_again==0&&c_calls_nomsg==1
S45	takes-no-reads-at-all	write,65536	EIO	NOMSG-100,4/0,NOMSG-100,4/0	c_calls_again==1
S45	takes-many-segments	symlink,3950	EIO	NOMSG-300,6/4294967295,NOMSG-300,6/4294967295	c_calls_again==1
C-085	takes-no-segment	symlink,3950	EIO	NOMSG-300,6/0		c_calls_again==0
C-085	takes-one-segment	symlink,3950	data	NOMSG-300,6/1,NOMSG-100,MSG	c_calls_again==1
C-085	takes-one-segment-now	symlink,3950	data	NOMSG-100,MSG		c_calls_again==0
C-084	takes-no-writes		read,65536	data	MSG-010,5/0,MSG-001,NOMSG	c_calls_again==1&&c_reply_chunks_used==1
C-084	takes-no-writes-now	read,65536	data	MSG-001,NOMSG		c_calls_again==0&&c_reply_chunks_used==1
S45	takes-no-writes-at-all	read,65536	EIO	MSG-001,5/0,MSG-001,5/0	c_calls_again==1
'

# refusal_use NAME WHAT SIZE FOLDER: prints what comes of it
refusal_use()
{
	local name=$1 size=$3 folder=$4 said

	# A file that is made need not be looked up.
	[ ! -e "$folder/$name" ] || [ "$2" = read ] || return
	case $2 in
	read)	read_fault "$name" "$size" "$folder"; return ;;
	write)	head -c "$size" /dev/urandom >/tmp/written
		said=$(timeout -s KILL 30 dd if=/tmp/written bs="$size" count=1 \
			of="$folder/$name" oflag=direct 2>&1) &&
			cmp -s /tmp/written "$export_dir/$name" && echo data && return ;;
	symlink) said=$(printf "%0${size}d" 1)
		said=$(timeout -s KILL 30 ln -s "$said" "$folder/$name" 2>&1) &&
			[ "$(readlink "$export_dir/$name" | wc -c)" -eq $((size + 1)) ] &&
			echo data && return ;;
	esac
	grep -o 'Input/output error' <<<"$said" || echo "${said:-nothing}"
}

# exchanged FROM PORT: the Calls and answers of the last xid with chunks or errors
# behind that line of the log
exchanged()
{
	tail -n "+$(($1 + 1))" "/tmp/peer.$2" | awk '
		$2 != "recv" && $2 != "sent" { next }
		{ x = $5; said = $4 }
		/ reads=/ { list = $0; sub(/.* reads=/, "", list)
			gsub(/[^0-9]/, "", list); said = said "-" list }
		$4 == "ERROR" { said = $0; sub(/.* code=/, "", said)
			sub(/ arg=/, "/", said) }
		$2 == "recv" && !(x in of) { order[++n] = x }
		$2 == "sent" { sub(/-.*/, "", said) }
		{ of[x] = of[x] "," said }
		/ reads=| ERROR / && $2 == "recv" || $4 == "ERROR" { last = x }
		END { print substr(of[last], 2) }'
}

# refusal_row PORT ID REFUSAL USE OUTCOME EXCHANGED EXPRESSION
refusal_row()
{
	local port=$1 id=$2 name=$3 what=${4%,*} size=${4#*,} outcome=$5
	local got why='' before from

	from=$(wc -l <"/tmp/peer.$port")
	before=$(counters)
	got=$(refusal_use "$name" "$what" "$size" "/mnt.$port")
	risen "$before"
	wrong_outcome "$got" "$outcome" && why+=", $what gets $got"
	got=$(exchanged "$from" "$port")
	[ "$got" = "$6" ] || why+=", exchanged $got"
	use "/mnt.$port" || why+=", no use afterwards"
	[ "$(received "$port" ' (up|down)$')" -eq 1 ] || why+=", connection lost"
	if [ -n "$why" ]; then
		fail "$id $name: ${why#, }"
	else
		expect "$id $name: $outcome" "$7"
	fi
}

refusals()
{
	local port=$((++next_port)) row

	while read -ra row; do
		[[ ${row[2]:-} != read,* ]] ||
			fault_file "${row[1]}" "${row[2]#*,}"
	done <<<"$refusal_rows"
	faulty_up "$port" || return
	while read -ra row; do
		[ ${#row[@]} -eq 0 ] || refusal_row "$port" "${row[@]}"
	done <<<"$refusal_rows"
	faulty_down "$port"
}

# What a connection has taught is lost with it, and so is that the Call was sent
# again there.
refused_and_lost()
{
	local port=$((++next_port)) name="S45 takes-no-reads-and-goes" why='' before got

	faulty_up "$port" || return
	before=$(counters)
	got=$(refusal_use takes-no-reads-and-goes write 65536 "/mnt.$port")
	risen "$before"
	wrong_outcome "$got" data && why+=", write gets $got"
	got=$(exchanged 0 "$port")
	[ "$got" = MSG-100,4/0,NOMSG-100,MSG-100,4/0,NOMSG-100,MSG ] ||
		why+=", exchanged $got"
	use "/mnt.$port" || why+=", no use afterwards"
	if [ -n "$why" ]; then
		fail "$name: ${why#, }"
	else
		expect "$name: data" "c_calls_again==2&&c_connects==1"
	fi
	faulty_down "$port"
}

# refused_once NAME VERSION [OPTIONS]: a server that answers each Call with a Read
# chunk or a Write chunk with an error when it comes first. The RPC layer of
# NFSv4 sends nothing twice on one connection; RPCSEC_GSS encrypts again.
refused_once()
{
	local name=$1 port=$((++next_port)) why='' n

	peer_up "$port" refusing &&
		mount_nfs rdma2 "$2" "/mnt.$port" "nolock${3:+,$3}" ||
		{ fail "$name: mount"; peer_down; return; }
	head -c 1048576 /dev/urandom >/tmp/mega
	measure timeout -s KILL 60 dd if=/tmp/mega of="/mnt.$port/mega" bs=128k oflag=direct
	check "$name: the server has it" cmp /tmp/mega "$export_dir/mega"
	expect "$name: WRITEs are sent again" \
		"c_calls_again >= 1 && c_calls_nomsg >= 8 && c_connects == 0"
	measure timeout -s KILL 60 dd if="/mnt.$port/mega" of=/tmp/back bs=128k iflag=direct
	check "$name: the client has it" cmp /tmp/mega /tmp/back
	expect "$name: READs get a Reply chunk" \
		"c_reply_chunks_used >= 8 && c_connects == 0"
	n=$(received "$port" '^1 sent v2 ERROR .* code=[45] arg=0$')
	[ "$n" -ge 1 ] && ok "$name: $n errors" || fail "$name: no error"
	# GSS contexts are destroyed behind the umount.
	umount "/mnt.$port" && await_received '^1 down$' 1
	[ -z "$why" ] || fail "$name: ${why#, }"
	peer_down
	rm -rf "${export_dir:?}"/*
}

hostile_servers()
{
	next_port=20400
	modprobe -qa ib_uverbs rdma_ucm
	faults
	refusals
	refused_and_lost
	refused_once "S45 NFSv4.1" 4.1
	answered_twice
	immediate
}
