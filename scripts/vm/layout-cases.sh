# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: Calls that a client lays out as it likes, with real
# memory behind their Read chunks. The words are those of backward-cases.sh.

# size_of HEX: in octets
size_of()
{
	local digits=${1//[[:space:]]/}

	size=$((${#digits} / 2))
}

# offer HEX: the server may read it.
offer()
{
	echo "= $1" >&8
}

# chunk POSITION LENGTH [OCTET]: of a Read list; of what is offered
chunk()
{
	printf -v chunk '00000001 %08x H %08x M%04x' "$1" "$2" "${3:-0}"
}

# call_with PROC READS RPC: a Call, its Read list, what is inline
call_with()
{
	local direction=" $call 00000000"

	[ "$version" = 2 ] || direction=''
	call_with="$xid 0000000$version 00000010 $1$direction"
	call_with+=" $2 00000000 00000000 00000000 $3"
}

# refused_with CODE [ARGUMENT...]: it was refused.
refused_with()
{
	local want="$xid 0000000$version 00000008 00000004 $*"

	[ "$answer" = "$want" ] || complain "not $want: $answer"
}

# A context that the server knows, and a checksum that is wrong
gss_handle=bad0c0de
gss_credential="00000001 00000000 00000001 00000001 00000004 $gss_handle"
gss_verifier="00000006 0000001c 040400ff ffffffff 00000000 00000001 00000000 00000000 00000000"
gss_call="$call 00000002 000186a3 00000004 00000000 00000006 00000018 $gss_credential $gss_verifier"

# header_chunk PROC POSITION: a chunk in the middle of a Call with RPCSEC_GSS,
# and the rest of it behind that
header_chunk()
{
	local reads='' whole inline rest

	new_call
	whole="$xid $gss_call"
	whole=${whole// /}
	inline=${whole:0:$2 * 2} rest=${whole:$2 * 2}
	size_of "$rest"
	chunk "$2" "$size" 4096
	reads=$chunk
	offer "$inline$(printf '%0*d' $((0x2000 - $2 * 2)) 0)$rest"
	if [ "$1" = 00000001 ]; then
		chunk 0 "$2"
		reads="$chunk $reads" inline=''
	fi
	call_with "$1" "$reads" "$inline"
	tell "$call_with"
}

# header_chunks PROC: credential and verifier begin, go on or end in the chunk.
header_chunks()
{
	local position

	"$tools/gss-contexts" "$gss_handle" && dial || return
	for position in 24 28 32 36 52 56 60 84; do
		header_chunk "$1" "$position"
		refused_with 00000002 || return
	done
	null_call
}

# words_from FIRST COUNT: that many, each one of its own
words_from()
{
	local list

	printf -v list '%s ' $(seq "$1" $(($1 + $2 - 1)))
	# shellcheck disable=SC2086 # a list of words
	printf -v words_from '%08x' $list
}

# write_head OFFSET LENGTH: all of the operation but its data; anonymous
write_head()
{
	printf -v write_head '00000026 00000000 00000000 00000000 00000000 00000000 %08x 00000002 %08x' \
		"$1" "$2"
}

# two_writes COUNT COUNT: words of each. A Call that writes them to a file, one
# behind the other, and is here in pieces: in front of the first's data, between
# the two, behind.
two_writes()
{
	file=tw$tag
	: >"$export_dir/$file"
	letters "$file"
	turn=$((turn + 1))
	sequence 0 "$turn"
	new_call
	words_from $((0x41000000)) "$1"
	data_a=$words_from
	words_from $((0x42000000)) "$2"
	data_b=$words_from
	write_head 0 $(($1 * 4))
	front="$xid $call 00000002 000186a3 00000004 00000001 $auth_sys"
	front+=" 00000000 00000001 00000005 $sequence 00000018"
	front+=" 0000000f 00000004 $letters $write_head"
	write_head $(($1 * 4)) $(($2 * 4))
	between=$write_head
}

# written: both, and the server's file holds what they say.
written()
{
	tell "$call_with"
	[ "${words[*]:header + 6:1}" = 00000000 ] ||
		complain "refused: $answer" || return
	[ "$(od -An -v -tx1 "$export_dir/$file" | tr -d ' \n')" = \
		"$data_a$data_b" ] ||
		complain "wrong data:" "$(od -An -v -tx4 --endian=big -w4 \
			"$export_dir/$file" 2>/dev/null | awk -v a="$data_a$data_b" \
			'{ w = substr(a, NR * 8 - 7, 8) }
			$1 != w { print "word", NR - 1, "is", $1 ", not", w; exit }')"
}

# A session whose Calls may be as long as these
write_session()
{
	local channel='00000000 00010000 00001000 00000400 00000008 00000010 00000000'

	dial && open_session A
}

two_chunks()
{
	local first

	write_session || return
	two_writes 2048 2048
	offer "$data_a$data_b"
	size_of "$front"
	chunk "$size" 8192
	first=$chunk
	chunk $((size + 8192 + 36)) 8192 8192
	call_with 00000000 "$first $chunk" "$front $between"
	counts read_chunks 2 written
}

inline_behind_chunk()
{
	write_session || return
	two_writes 2048 700
	offer "$data_a"
	size_of "$front"
	chunk "$size" 8192
	call_with 00000000 "$chunk" "$front $between $data_b"
	counts read_chunks 1 written
}

# A chunk that ends in the middle of the first data
split_data()
{
	write_session || return
	two_writes 2048 700
	offer "$data_a"
	size_of "$front"
	chunk "$size" 8188
	call_with 00000000 "$chunk" "$front ${data_a: -8} $between $data_b"
	counts read_chunks 1 written
}

# A chunk in which there is more than data
all_in_chunk()
{
	write_session || return
	two_writes 2048 2048
	offer "$data_a${between// /}$data_b"
	size_of "$front"
	chunk "$size" $((16384 + 36))
	call_with 00000000 "$chunk" "$front"
	counts read_chunks 1 written
}

position_zero()
{
	local whole

	write_session || return
	two_writes 2048 2048
	whole="$front$data_a$between$data_b"
	offer "$whole"
	size_of "$whole"
	chunk 0 "$size"
	call_with 00000001 "$chunk" ''
	counts long_calls 1 written
}

# The last word of the second data is not there: nothing takes its place.
lacks_word()
{
	local whole

	write_session || return
	two_writes 2048 2048
	whole="$front$data_a$between${data_b:0:-8}"
	offer "$whole"
	size_of "$whole"
	chunk 0 "$size"
	call_with 00000001 "$chunk" ''
	counts long_calls 1 tell "$call_with" || return
	[ "${words[*]:header + 6:1}" = 00002734 ] ||
		complain "not NFS4ERR_BADXDR: $answer" || return
	[ "$(stat -c %s "$export_dir/$file")" -eq 8192 ] ||
		complain "written: $(stat -c %s "$export_dir/$file") octets"
}

position_zero_and_another()
{
	local whole first at

	write_session || return
	two_writes 2048 2048
	whole="$front$between$data_b"
	size_of "$whole"
	chunk 0 "$size"
	first=$chunk
	offer "${whole// /}$data_a"
	at=$size
	size_of "$front"
	chunk "$size" 8192 "$at"
	call_with 00000001 "$first $chunk" ''
	counts long_calls 1 written
}

# A long Call that waits for mountd is not copied: GETATTR over NFSv3, of the
# export, with three pages behind it that mean nothing. The RPC layer comes to
# that after five seconds; what it does not copy it drops, and the connection with
# it, as it does over TCP.
not_deferred()
{
	local events=/sys/kernel/tracing whole before

	dial || return
	echo 1 >"$events/events/sunrpc/svc_defer/enable"
	before=$(grep -c svc_defer: "$events/trace")
	new_call
	whole="$xid $call 00000002 000186a3 00000003 00000001 $auth_sys"
	whole+=" 00000008 01000100 00000000$(printf '%024576d' 0)"
	offer "$whole"
	size_of "$whole"
	chunk 0 "$size"
	call_with 00000001 "$chunk" ''
	pkill -STOP rpc.mountd
	exportfs -f
	(sleep 6; pkill -CONT rpc.mountd) &
	counts long_calls 1 silence "$call_with" || return
	tell
	[ "$answer" = closed ] || tell
	case $answer in
	-|closed) ;;
	*)	complain "answered: $answer"; return ;;
	esac
	[ "$(grep -c svc_defer: "$events/trace")" -eq "$before" ] ||
		complain "copied"
}

inline_both()
{
	write_session || return
	two_writes 1500 1500
	call_with 00000000 '' "$front $data_a $between $data_b"
	counts read_chunks 0 written
}

# gss_refused CODE READS BEHIND: a Call with RPCSEC_GSS, with a data item of two
# pages behind its header; the server does not come to look at the checksum.
gss_refused()
{
	local zeroes

	new_call
	printf -v zeroes '%0*d' $(($3 * 2)) 0
	call_with 00000000 "$2" "$xid $gss_call 00002000 $zeroes"
	tell "$call_with"
	[ "$version" = 2 ] || set -- 00000002
	refused_with "$1"
}

gss_pages()
{
	local first second

	"$tools/gss-contexts" "$gss_handle" && dial || return
	chunk 96 8192
	first=$chunk
	chunk $((96 + 8192)) 4
	second=$chunk
	gss_refused '00000004 00000001' "$first $second" 0 &&
		gss_refused 0000000a "$first" 40 || return
	# The checksum is found to be wrong, and nothing else.
	new_call
	call_with 00000000 "$first" "$xid $gss_call 00002000 $(printf '%072d' 0)"
	tell "$call_with"
	[ "${words[*]:header:5}" = "$xid $reply 00000001 00000001 0000000d" ] ||
		complain "$answer"
}

# A Call of two pages with RPCSEC_GSS, all of it inline: the checksum is found to
# be wrong, and nothing else.
gss_inline()
{
	"$tools/gss-contexts" "$gss_handle" && dial || return
	new_call
	call_with 00000000 '' "$xid $gss_call $(printf '%016384d' 0)"
	tell "$call_with"
	[ "${words[*]:header:5}" = "$xid $reply 00000001 00000001 0000000d" ] ||
		complain "$answer"
}

# The same behind a header of about a page: empty segments take room in it and mean
# nothing. Wherever the Call begins, the server reads that and nothing else.
gss_behind_segments()
{
	local n empty

	"$tools/gss-contexts" "$gss_handle" && dial || return
	for n in 150 164 166 168 170 175 200; do
		new_call
		printf -v empty '00000001 00000100 %032d ' $(seq -f 0 "$n")
		call_with 00000000 "$empty" "$xid $gss_call $(printf '%016384d' 0)"
		tell "$call_with"
		[ "${words[*]:header:5}" = "$xid $reply 00000001 00000001 0000000d" ] ||
			{ complain "$n: $answer"; return; }
	done
}

# hostile NAME COMMAND...: a case with a connection of its own
hostile()
{
	printf -v tag '%02d' "$((case_number++))"
	check "$@"
}

hostile_layout()
{
	local v

	trap '' PIPE
	for v in 1 2; do
		speak "$v"
		hostile "S09 v$v: a chunk within the RPC header is answered with BAD_XDR" \
			header_chunks 00000000
		hostile "S09 v$v: so is one within that of a Position-Zero chunk" \
			header_chunks 00000001
		hostile "C-083 v$v: RPCSEC_GSS: no WRITE behind one in a chunk" \
			gss_pages
		hostile "E-07 v$v: two WRITEs, each in a Read chunk" two_chunks
		hostile "E-07 v$v: a WRITE inline behind one in a chunk" \
			inline_behind_chunk
		hostile "E-07 v$v: a WRITE of which the last word is inline" \
			split_data
		hostile "E-07 v$v: two WRITEs in one Read chunk" all_in_chunk
		hostile "E-07 v$v: two WRITEs in a Position-Zero chunk" \
			position_zero
		hostile "E-07 v$v: a Call that lacks its last word" lacks_word
		hostile "E-07 v$v: one in a Position-Zero chunk, one in another" \
			position_zero_and_another
		hostile "E-07 v$v: two WRITEs inline, in more than a page" \
			inline_both
		hostile "v$v: RPCSEC_GSS in more than a page" gss_inline
		hostile "v$v: RPCSEC_GSS behind a header of a page" \
			gss_behind_segments
	done
	hostile "a Call of several pages waits without a copy" not_deferred
	trap - PIPE
}
