# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the server's own Calls, octet by octet. A peer in
# user space opens a session of NFSv4.1 and in it a file, which is delegated to
# it; an open of the file on the server's side then makes nfsd recall it. What
# fails nfsd tries again at once, in a Call with another xid, so that the next
# message tells how the last one ended; a Call that is not answered ends after
# nine seconds.
#
# What begins with a verb does something and says whether it went well. What is
# named after a thing makes it, and leaves it in a variable of that name: a
# process for each would make most of the time it takes.

call=00000000
reply=00000001
auth_sys='00000001 00000014 00000000 00000000 00000000 00000000 00000000 00000000 00000000'
channel='00000000 00001000 00001000 00000400 00000008 00000010 00000000'

# speak VERSION: of RPC-over-RDMA, in what the peer says from there on
speak()
{
	version=$1
	header=$((version == 1 ? 7 : 9))
}

# dial: what is said later goes to file 8, what is heard comes from file 9. A
# case runs in a shell of its own: they are closed, and the connection, when it
# ends.
dial()
{
	mkfifo "/tmp/told-$tag" "/tmp/answers-$tag"
	"$tools/rdma-peer" "$addr4" "$port" \
		<"/tmp/told-$tag" >"/tmp/answers-$tag" 2>&1 &
	exec 8>"/tmp/told-$tag" 9<"/tmp/answers-$tag"
	next=$((0x10000000))
}

# tell [MESSAGE]: the answer, and its words
tell()
{
	echo "$*" >&8
	read -r -t 20 answer <&9 || answer=closed
	read -ra words <<<"$answer"
}

# silence [MESSAGE]: it gets no answer.
silence()
{
	tell "$* -"
	[ "$answer" = - ] || complain "not silent: $answer"
}

# message DIRECTION XID [CREDIT]: as far as the headers of transport and RPC say
# the same
message()
{
	message="$2 0000000$version ${3:-00000010} 00000000"
	[ "$version" = 1 ] || message+=" $1 00000000"
	message+=" $lists $2 $1"
}

# new_call: begins one of the peer's.
new_call()
{
	printf -v xid '%08x' "$((next++))"
	message "$call" "$xid"
}

# ask MESSAGE...: the Reply comes first.
ask()
{
	tell "$*"
	[ "${words[*]:0:2}" = "$xid 0000000$version" ] ||
		complain "to $*: $answer"
}

null_call()
{
	new_call
	ask "$message 00000002 000186a3 00000004 00000000" \
		"00000000 00000000 00000000 00000000"
}

# compound COUNT OPERATIONS
compound()
{
	local count

	new_call
	printf -v count '%08x' "$1"
	compound="$message 00000002 000186a3 00000004 00000001"
	compound+=" $auth_sys 00000000 00000001 $count $2"
}

# nfs COUNT OPERATIONS: with success
nfs()
{
	compound "$@"
	ask "$compound" || return
	[ "${words[header + 6]}" = 00000000 ] ||
		complain "operation ${words[header + 9]}: $answer"
}

# result FROM WORDS: behind the first operation's status
result()
{
	result=${words[*]:header + 11 + $1:$2}
}

# sequence SLOT NUMBER: the operation
sequence()
{
	printf -v sequence '00000035 %s %08x %08x 0000000f 00000000' \
		"$session" "$2" "$1"
}

# in_session COUNT OPERATIONS
in_session()
{
	turn=$((turn + 1))
	sequence 0 "$turn"
	nfs "$(($1 + 1))" "$sequence $2"
}

# letters WORD: four of them, in hex
letters()
{
	printf -v letters '%02x%02x%02x%02x' \
		"'${1:0:1}" "'${1:1:1}" "'${1:2:1}" "'${1:3:1}"
}

# open_session LETTER [FLAGS]: of a client named after the case; its connection
# is for callbacks too.
open_session()
{
	name=$tag${1}0 turn=0
	letters "$name"
	owner=$letters
	nfs 1 "0000002a 12345678 $owner 00000004 $owner 00000000 00000000 00000000" ||
		return
	result 0 3
	client=${result% *}
	nfs 1 "0000002b $result ${2:-00000002} $channel $channel 40000000 00000001 00000000" ||
		return
	result 0 4
	session=$result
	in_session 1 "0000003a 00000000"
}

# open_file NAME: of four letters; delegated: what for
open_file()
{
	echo old >"$export_dir/$1"
	letters "$1"
	in_session 2 "00000018 00000012 00000000 00000101 00000000 $client 00000004 $owner 00000000 00000000 00000004 $letters" ||
		return
	result 25 1
	delegated=$result
}

# delegated_file LETTER: is what it is called from there on. nfsd refuses at
# times, when it takes the file for one that it has recalled.
declare -A files
delegated_file()
{
	local i

	for i in 1 2 3 4 5; do
		files[$1]=$tag$1$i
		open_file "${files[$1]}" || return
		[ "$delegated" != 00000001 ] || return 0
	done
	complain "no delegation: $answer"
}

# recall_file LETTER: an open that does not wait is enough for that.
recall_file()
{
	dd of="$export_dir/${files[$1]}" oflag=nonblock conv=notrunc count=0 \
		2>/dev/null
	return 0
}

# is_call: what was heard is a Call of the server's.
is_call()
{
	backward=${words[0]:-}
	[ "${words[*]:1:1}" = "0000000$version" ] &&
	[ "${words[*]:header:4}" = "$backward $call 00000002 40000000" ] ||
		complain "not a Call of the server's: $answer"
	cb_sequence="${words[*]:header + 15:6} 00000000 00000000"
}

called()
{
	tell && is_call
}

# cb_reply [CREDIT]: a proper one to that Call
cb_reply()
{
	message "$reply" "$backward" "${1:-}"
	cb_reply="$message 00000000 00000000 00000000 00000000 00000000"
	cb_reply+=" 00000000 00000002 0000000b 00000000 $cb_sequence"
	cb_reply+=" 00000004 00000000"
}

# settle [CREDIT]
settle()
{
	cb_reply "${1:-}"
	silence "$cb_reply"
}

# recalled: how most cases begin
recalled()
{
	dial && open_session A && delegated_file a && recall_file a && called
}

# another LETTER: a file, all the way
another()
{
	delegated_file "$1" && recall_file "$1" && called && settle
}

state_is()
{
	local i state

	for i in 1 2 3 4 5 6 7 8 9 10; do
		state=$(cat /proc/fs/nfsd/clients/*/info |
			sed -n "/^name: \"$name\"/,/^callback st/s/^callback state: //p")
		[ "$state" = "$1" ] && return
		sleep 0.1
	done
	complain "the callback path is $state"
}

# count NAME: a counter of the server's
count()
{
	local counter value

	count=''
	while read -r counter value; do
		[ "$counter" != "$1" ] || count=$value
	done </sys/kernel/debug/svcrdma2/counters
	[ -n "$count" ] || complain "there is no counter $1"
}

# counts NAME N COMMAND...: while it runs
counts()
{
	local counter=$1 want=$2 before

	shift 2
	count "$counter" || return
	before=$count
	"$@" && count "$counter" || return
	[ $((count - before)) -eq "$want" ] ||
		complain "$counter rose by $((count - before)), not by $want"
}

# Every octet that is not nfsd's
octets()
{
	local start credit

	recalled || return
	credit=${words[2]}
	[ "$credit" != 00000000 ] || complain "no credit: $answer" || return
	message "$call" "$backward" "$credit"
	start="$message 00000002 40000000 00000001 00000001 00000000 00000000 00000000 00000000"
	[ "${words[*]:0:header + 10}" = "$start" ] ||
		complain "not $start: $answer" || return
	[ "${words[*]:header + 14:5}" = "0000000b $session" ] ||
		complain "not of this session: $answer"
}

proper_reply()
{
	recalled && counts backward_replies 1 settle && state_is UP && null_call
}

# The session's connection is not for callbacks, until the client binds it.
no_call_before_consent()
{
	dial && open_session A 00000000 && open_file "${tag}a0" || return
	[ "$delegated" = 00000003 ] || complain "delegated: $answer" || return
	counts backward_calls 0 silence || return
	nfs 1 "00000029 $session 00000003 00000000" && another b
}

reply_without_credit()
{
	recalled && settle 00000000 && another b
}

# ended_by MESSAGE: nfsd makes the same callback again, as another Call.
ended_by()
{
	local last=$backward

	counts backward_errors 1 tell "$1" && is_call || return
	[ "$backward" != "$last" ] || complain "the same once more: $answer" ||
		return
	null_call
}

# error CODE [ARGUMENT...]
error()
{
	error="$backward 0000000$version 00000010 00000004 $*"
}

errors()
{
	local code

	recalled || return
	for code in "$@"; do
		error "$code"
		ended_by "$error" || return
	done
	state_is FAULT && settle
}

# dropped COUNTER MESSAGE: nothing else happens.
dropped()
{
	counts "$1" 1 silence "$2" && null_call
}

# drops_both: a Reply and an error
drops_both()
{
	cb_reply
	error 00000002
	dropped dropped_reply "$cb_reply" && dropped dropped_error "$error"
}

strays()
{
	local own

	recalled || return
	own=$backward backward=0badcafe
	drops_both || return
	backward=$own
	counts backward_replies 1 settle && drops_both
}

# Nor does such a Reply say which version the next Call shall have.
other_version()
{
	recalled && delegated_file b || return
	speak $((3 - version))
	cb_reply
	error 00000002
	speak $((3 - version))
	dropped dropped_reply "$cb_reply" &&
	dropped dropped_error "$error" &&
	silence "$error" && settle && recall_file b && called && settle
}

version_of_last_call()
{
	recalled && settle && delegated_file b && delegated_file c || return
	speak $((3 - version))
	null_call && recall_file b && called && settle || return
	speak $((3 - version))
	null_call && recall_file c && called && settle
}

# Read list, Write list, Reply chunk
segment='00001234 00001000 00000000 00000000'
with_reads="00000001 00000008 $segment 00000000 00000000 00000000"
with_writes="00000000 00000001 00000001 $segment 00000000 00000000"
with_reply_chunk="00000000 00000000 00000001 00000001 $segment"

# reply_with LISTS: otherwise a proper one
reply_with()
{
	local lists=$1

	cb_reply
}

chunks()
{
	local chunk

	recalled || return
	for chunk in "$with_reads" "$with_writes" "$with_reply_chunk"; do
		reply_with "$chunk"
		ended_by "$cb_reply" || return
	done
	settle
}

# ended_by_header PROC REST: of version 2, and nothing else
ended_by_header()
{
	ended_by "$backward 00000002 00000010 $1 00000001 00000000 $2"
}

out_of_line()
{
	recalled && ended_by_header 00000001 "$lists" &&
	ended_by_header 00000001 "$with_reply_chunk" && settle
}

short_replies()
{
	recalled && ended_by_header 00000000 "$lists" &&
	ended_by_header 00000000 "$lists $backward" && settle
}

# rdma_xid says whose it is, and the RPC message that it is not.
two_xids()
{
	recalled || return
	cb_reply
	ended_by "${cb_reply/" $backward "/ 0badcafe }" && settle
}

# More than a callback has room for, and than a page has
long_reply()
{
	local zeroes

	recalled || return
	cb_reply
	printf -v zeroes '%016000d' 0
	ended_by "$cb_reply $zeroes" && settle
}

same_xid()
{
	recalled || return
	next=$((16#$backward))
	null_call && counts backward_replies 1 settle && null_call
}

# window COUNT: Calls, each in a slot of the session
window()
{
	local slot

	window=''
	for ((slot = 1; slot <= $1; slot++)); do
		sequence "$slot" 1
		compound 2 "$sequence 00000018"
		window+="$compound + "
	done
}

# collect COUNT: so many messages, and none beyond
collect()
{
	local n=0 word

	while [ "$n" -lt "$1" ]; do
		tell
		case $answer in
		-|*closed) complain "$n of $1, then $answer"; return ;;
		esac
		for word in + "${words[@]}"; do
			[ "$word" != + ] || n=$((n + 1))
		done
	done
	[ "$n" -eq "$1" ] || complain "$n messages, not $1" || return
	silence
}

# All Calls that were granted wait for mountd, and nfsd's threads with them. The
# Reply comes on top, and the peer does not try twice.
reply_behind_window()
{
	window 8
	cb_reply
	pkill -STOP rpc.mountd
	exportfs -f
	silence "$window$cb_reply"
	pkill -CONT rpc.mountd
	[ "$answer" = - ] && collect 8
}

full_window()
{
	recalled && counts backward_replies 1 reply_behind_window && null_call
}

# hear: Calls, until there are no more
hear()
{
	local message

	calls=()
	tell
	while [ "$answer" != - ]; do
		while read -r message; do
			read -ra words <<<"$message"
			is_call || return
			calls+=("$backward $cb_sequence")
		done <<<"${answer// + /$'\n'}"
		tell -
	done
}

# hear_of COUNT LETTER...: so many Calls come when these files are recalled.
hear_of()
{
	local count=$1 letter

	shift
	for letter in "$@"; do
		recall_file "$letter"
	done
	hear && [ "${#calls[@]}" -eq "$count" ] ||
		complain "${#calls[@]} Calls, not $count"
}

# replies CREDIT: to all of them
replies()
{
	local entry

	replies=''
	for entry in "${calls[@]}"; do
		read -r backward cb_sequence <<<"$entry"
		cb_reply "$1"
		replies+="${replies:+ + }$cb_reply"
	done
}

# Two clients on one connection: nfsd makes one callback for each at a time.
grant()
{
	local letter

	dial && open_session A || return
	for letter in a b c; do
		delegated_file "$letter" || return
	done
	open_session B || return
	for letter in d e f; do
		delegated_file "$letter" || return
	done

	# The peer has granted no more than one yet.
	hear_of 1 a d || return
	replies 00000002
	tell "$replies" && is_call && settle 00000002 && hear_of 2 b e || return
	replies 00000001
	silence "$replies" && hear_of 1 c f
}

# connprop_of BRS: the peer's readiness to be called
connprop_of()
{
	new_call
	ask "$xid 00000002 00000020 00000006 00000001 00000002 00000004 $1 00000001 00000001"
}

no_backchannel()
{
	dial && connprop_of 00000000 && open_session A || return
	result 8 1
	[ "$result" = 00000001 ] ||
		complain "SEQUENCE does not say that the path is down: $answer" ||
		return
	open_file "${tag}a0" && [ "$delegated" = 00000003 ] ||
		complain "delegated: $answer" || return
	counts backward_calls 0 silence && state_is DOWN && null_call
}

# Which it has taken so far. What fails at once nfsd makes again at once, for as
# long as the client is there.
calls_no_more()
{
	local events=/sys/kernel/tracing

	dial && connprop_of 00000001 && open_session A && delegated_file a &&
	silence "$xid 00000002 00000020 00000009 00000001 00000002 00000004 00000000" ||
		return
	echo 1 >"$events/events/nfsd/nfsd_cb_restart/enable"
	recall_file a
	counts backward_calls 0 silence && null_call || return
	[ "$(grep -c nfsd_cb_restart: "$events/trace")" -lt 4 ] ||
		complain "called again $(grep -c nfsd_cb_restart: "$events/trace") times"
}

hang_up()
{
	recalled || return
	exec 8>&-
	state_is DOWN
}

# The administrator removes a client that is being called.
late_reply()
{
	recalled || return
	echo expire >"$(dirname "$(grep -l "\"$name\"" \
		/proc/fs/nfsd/clients/*/info)")/ctl" ||
		complain "not expired" || return
	counts backward_replies 0 counts dropped_reply 1 settle && null_call
}

# backward NAME COMMAND...: a case; a number tells it from others.
declare -i case_number=0
backward()
{
	printf -v tag '%02d' "$((case_number++))"
	check "$@"
}

backward_in_both()
{
	local v=$1

	speak "$v"
	backward "B-13 S21 v$v: no Call before the client's session wants it" \
		no_call_before_consent
	backward "B-07 B-15 B-18 C-036 C-067 C-073 v$v: the octets of a Call" \
		octets
	backward "B-01 v$v: a proper Reply" proper_reply
	backward "S26 v$v: a grant of 0 is one of 1" reply_without_credit
	backward "B-05 v$v: no more Calls than the client grants" grant
	backward "S31 v$v: what answers no Call of the server's is dropped" strays
	backward "S35 v$v: and what does in another version" other_version
	backward "S25 v$v: the version of the last Call of the client's" \
		version_of_last_call
	backward "S07 v$v: a Reply with chunks ends the callback" chunks
	backward "S08 v$v: so does one of two xids" two_xids
	backward "C-013 C-066 B-02 v$v: the same xid in both directions" same_xid
	backward "v$v: the client hangs up while it is called" hang_up
	backward "v$v: a Reply when the callback was given up" late_reply
	set_parameter credits 8
	backward "B-11 B-12 v$v: a Receive for the Reply, whatever was asked before" \
		full_window
	set_parameter credits 64
	backward "v$v: a Reply of two pages" long_reply
}

group_backward()
{
	LEASE=90 nfs_up rdma2 || { fail "server"; return; }
	grace_over
	trap '' PIPE
	backward_in_both 1
	backward "2.4 v1: errors end the callback at once" errors \
		"00000001 00000001 00000001" 00000002
	backward_in_both 2
	backward "2.4 S43 v2: errors end the callback at once" errors \
		"00000001 00000001 00000001" 00000002 00000003 \
		"00000004 00000000" "00000005 00000000" "00000006 00000001" \
		"00000007 00000001 00000100" "00000008 00000100" \
		00000009 0000000a 00000063
	backward "S07 v2: so does a NOMSG Reply" out_of_line
	backward "S07 v2: and one without an RPC header" short_replies
	backward "C-035 S20: no Call to a client that takes none" no_backchannel
	backward "C-035 S15: no Call to a client that takes no more" calls_no_more
	finish
}
