#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: the client's part when the tester is a server, on port $PORT, that runs $CASE:
#
#	visit.sh ADDRESS EXPORT [OPTIONS]
#
# It mounts, uses small files, which need no chunks, and does additional work of the case;
# each effect is also checked on the server's side. Where the server violates the protocol,
# the work is that of use_chunks. $ACTION selects a part of this: an RPC that waits, or a
# record of the client's decisions so far.

trace=/sys/kernel/tracing/trace

# use FOLDER: small operations, checked on the server's side
use()
{
	local dir=$1 name

	name=$(mktemp -u d-XXXXXXXX)
	mkdir "$dir/$name" && echo some >"$dir/$name/f" &&
		[ "$(cat "$dir/$name/f")" = some ] &&
		[ "$(ls "$dir/$name")" = f ] &&
		[ "$(cat "$export_dir/$name/f")" = some ]
}

# beside WHEN: if the folder $BESIDE exists, stores the client's counters and connections
# there, for the first work of the case
beside()
{
	local to=${BESIDE:-}/$CASE

	[ -n "${BESIDE:-}" ] && [ ! -e "$to.$1" ] || return
	client_counters >"$to.$1"
	cat /proc/net/rpc/xprtrdma2 >"$to.view"
}

# chunks_come_back FOLDER NAME: writes, reads and lists files and a long symlink
chunks_come_back()
{
	local dir=$1/$2 at=$export_dir/$2 back=/tmp/back.$$ long

	printf -v long '%04090d' 0
	mkdir "$dir" && dd if=/tmp/work.f of="$dir/f" bs=512 oflag=direct &&
		dd if=/tmp/work.g of="$dir/g" bs=100000 oflag=direct && ln -s "$long" "$dir/l" &&
		cmp /tmp/work.f "$at/f" && cmp /tmp/work.g "$at/g" &&
		[ "$(readlink "$at/l")" = "$long" ] &&
		dd if="$dir/f" of="$back" bs=512 count=10 iflag=direct && cmp "$back" /tmp/work.f &&
		dd if="$dir/g" of="$back" bs=100000 count=1 iflag=direct &&
		cmp "$back" /tmp/work.g && [ "$(cd "$dir" && echo ./*)" = "./f ./g ./l" ]
}

use_chunks()
{
	local rc

	[ -e /tmp/work.g ] || head -c 5120 /dev/urandom >/tmp/work.f
	[ -e /tmp/work.g ] || head -c 100000 /dev/urandom >/tmp/work.g
	beside before
	chunks_come_back "$1" "w-$PORT-$$"
	rc=$?
	beside after
	rm -f "/tmp/back.$$"
	return "$rc"
}

# symlinks FOLDER: three concurrent SYMLINKs; prints how many were made and how many refused
symlinks()
{
	local dir=$1 name i pids=()

	name=$(mktemp -u s-XXXXXXXX)
	mkdir -p "$dir/$name"/{1,2,3} || return
	for i in 1 2 3; do
		ln -s "to-$i" "$dir/$name/$i/l" 2>"/tmp/symlink.$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	echo "$(find "$export_dir/$name" -type l | wc -l) made, $(
		cat /tmp/symlink.[123] | grep -c 'Protocol not supported') refused"
}

# refused_symlinks FOLDER: sequential SYMLINKs; prints how many failed with EIO
refused_symlinks()
{
	local i

	for i in $(seq 30); do
		ln -s x "$1/never-$i" 2>&1
	done | grep -c 'Input/output error'
}

# rounds FOLDER COUNT: each round writes files of several lengths in a new folder, and reads
# other files that were created on the server's side
rounds()
{
	local dir name n text i

	for ((i = 0; i < $2; i++)); do
		name=$(mktemp -u r-XXXXXXXX) dir=$1/$name
		mkdir "$dir" || return
		for n in 700 1500 3500 5000 7000 9000; do
			printf -v text '%0*d' "$n" "$n"
			printf '%s' "$text" >"$dir/w-$n"
			[ "$(<"$export_dir/$name/w-$n")" = "$text" ] || return
		done
		for n in 1000 3000 5000 12000; do
			printf -v text '%0*d' "$n" "$n"
			printf '%s' "$text" >"$export_dir/$name/r-$n"
			[ "$(<"$dir/r-$n")" = "$text" ] || return
		done
	done
}

# two_at_once FOLDER: two concurrent Calls after a MKDIR
two_at_once()
{
	local dir

	dir=$1/$(mktemp -u t-XXXXXXXX)
	mkdir "$dir" || return
	stat "$dir/x" 2>/dev/null &
	stat "$dir/y" 2>/dev/null &
	wait
}

# no_listing FOLDER: a READDIR that cannot be sent has to fail without a delay
no_listing()
{
	local name

	name=$(mktemp -u n-XXXXXXXX)
	timeout 20 mkdir "$1/$name" && ! timeout 20 ls "$1/$name" 2>/tmp/listing &&
		grep 'Input/output error' /tmp/listing && timeout 20 rmdir "$1/$name"
}

# traced PORT EVENT SED-SCRIPT: prints the fields of the server's trace events in a line
traced()
{
	grep ":$1 " "$trace" | sed -n "s/.* xprt2_$2: .*$3/p" | tr ' \n' '_,' |
		sed 's/,$//'
}

actions()
{
	traced "$1" negotiate 'answer=\(.*\) action=\(.*\)/\1>\2'
}

settled()
{
	traced "$1" settled 'version=\(.*\)/\1'
}

client_counters()
{
	sed 's/^/c_/' /sys/kernel/debug/xprtrdma2/counters
}

# rises COUNTER NUMBER: waits until the counter has risen by NUMBER since the last look
rises()
{
	local last

	last=$looks.$(wc -l <"$looks")
	until client_counters | awk -v name="c_$1" -v number="$2" '
		$1 == name && NR == FNR { was = $2 }
		$1 == name && NR != FNR { now = $2 }
		END { exit now - was < number }' "$last" -; do
		sleep 0.05
	done
}

# make_link: uses neither READ nor READDIR, which some servers leave unanswered
make_link()
{
	local new

	new=$(mktemp -u d-XXXXXXXX)
	timeout -s KILL 30 mkdir "$dir/$new" &&
		timeout -s KILL 30 ln -s target "$dir/$new/l" &&
		[ "$(readlink "$export_dir/$new/l")" = target ]
}

# no_faults: switches off the fault injection of a case
no_faults()
{
	local probability

	for probability in /sys/kernel/debug/xprtrdma2/fail_*/probability; do
		[ ! -e "$probability" ] || echo 0 >"$probability"
	done
}

# look ADDRESS: records versions, actions, the number of log lines about version 1, the
# counters, and the connections
look()
{
	echo "$(settled "$PORT") $(actions "$PORT") $(dmesg |
		grep -c "version 1 of RPC-over-RDMA with server $1 port $PORT ")" >>"$looks"
	client_counters >"$looks.$(wc -l <"$looks")"
	cat /proc/net/rpc/xprtrdma2 >"$looks.view"
}

# work FOLDER: the additional work of the case, and use()
work()
{
	case $CASE in
	client_replies.*|client_resends.*|client_backward.*)
		use_chunks "$1"
		return ;;
	client_refused.*_of_three)
		[ "$(symlinks "$1")" = "3 made, 0 refused" ] || return ;;
	client_refused.vers_for_one_each_time)
		[ "$(symlinks "$1")" = "2 made, 0 refused" ] || return ;;
	client_pinned.one_of_three)
		[ "$(symlinks "$1")" = "2 made, 1 refused" ] || return ;;
	client_pinned.all_of_three)
		[ "$(symlinks "$1")" = "0 made, 3 refused" ] || return ;;
	client_refused.bad_xdr_for_each)
		[ "$(refused_symlinks "$1")" = 30 ] || return ;;
	client_properties.no_chunks)
		no_listing "$1"
		return ;;
	client_properties.place_of_a_wish)
		two_at_once "$1" || return ;;
	client_properties.updates)
		rounds "$1" 3 || return ;;
	client_properties.*)
		rounds "$1" 2 || return ;;
	client_negotiation.*)
		ln -s "$(printf '%01500d' 0)" "$1/l-$PORT" || return ;;
	esac
	use "$1"
}

# The kernel limits its messages about versions to ten in 5 s.
log_has_room()
{
	dmesg | awk -v now="$(cut -d' ' -f1 /proc/uptime)" '
		/no common version with/ {
			gsub(/^[^0-9]*/, "")
			n += $1 + 0 > now - 6
		}
		END { exit n > 9 }'
}

arrive()
{
	local options=${2:-vers=3},proto=rdma2,nolock,port=$PORT path=$export_dir

	[[ $options != vers=4* ]] || path=/
	case $CASE in
	client_replies.*|client_resends.*|client_backward.*)
		options+=,nordirplus ;;
	client_fallback.silence_and_an_impatient_rpc|client_fallback.version_one_is_silent)
		options+=,timeo=40,retrans=5 ;;
	client_hours.rpc_longer_than_the_idle_timeout)
		options+=,timeo=6000 ;;
	client_hours.refused|client_hours.silent|client_hours.closing|client_hours.version_two_now)
		options+=,nconnect=2 ;;
	client_killed.credits_of_small_rpcs)
		options+=,actimeo=60,lookupcache=none ;;
	client_killed.sends_that_hang*)
		options+=,actimeo=60 ;;
	client_killed.*)
		options+=,noac,lookupcache=none ;;
	esac
	until log_has_room; do
		sleep 0.1
	done
	echo "$CASE $PORT" >>/tmp/visits
	mkdir -p "$dir"
	timeout --foreground -s KILL $((60 * ${patience:-1})) mount -t nfs -o "$options" \
		"$1:$path" "$dir" 2>"/tmp/mount.$PORT" || return
	[[ $CASE != client_killed.* ]] || {
		mkdir -p "$dir"/d{1..12}
		head -c 65536 /dev/zero >"$export_dir/data"
	}
}

leave()
{
	umount "$dir" || umount -f -l "$dir"
}

whole_visit()
{
	local rc=1

	client_counters >"/tmp/before.$CASE"
	if arrive "$@"; then
		work "$dir" && rc=0
		leave
	else
		cat "/tmp/mount.$PORT"
	fi
	client_counters >"/tmp/after.$CASE"
	return $rc
}

# Scripts that source this file use its functions only.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	export_dir=$2 dir=/mnt.$PORT
	trap 'umount -f -l "$dir"; exit 1' TERM
	looks=/tmp/looks.$CASE faults=/sys/kernel/debug/xprtrdma2
	read -r action number more <<<"${ACTION:-}"
	case $action in
	mount)		no_faults
			arrive "$1" "${3:-}" || { cat "/tmp/mount.$PORT"; exit 1; } ;;
	work)		work "$dir" ;;
	stat)		exec stat "$dir/n$number" ;;
	look)		look "$1" ;;
	misses)		exec perl -e '-e "$ARGV[0]/no-$$-$_" for 1 .. 40' "$dir" ;;
	unmount)	no_faults
			leave ;;
	make)		make_link ;;
	acted)		until [[ $(actions "$PORT") == *"$number" ]]; do
				sleep 0.05
			done ;;
	# Fills the client's caches, so that it sends no other Call before the SYMLINKs.
	ready)		for i in {1..12}; do
				[ -w "$dir/d$i" ] || exit
			done ;;
	list)		exec ls "$dir/d$number" ;;
	read)		exec dd if="$dir/data" of=/dev/null bs=64K iflag=direct ;;
	link)		exec perl -e 'select(undef, undef, undef, 0.05) until -e "/tmp/go.$ENV{CASE}";
				symlink("x" x 900, $ARGV[0])' "$dir/d$number/l" ;;
	go)		: >"/tmp/go.$CASE"
			rises mapped_bytes "$number" && rm "/tmp/go.$CASE" ;;
	force)		umount -i -f "$dir" ;;
	rises)		rises "$number" "$more" ;;
	fault)		echo "${more:-1}" >"$faults/$number/times"
			echo 0 >"$faults/$number/space"
			echo 100 >"$faults/$number/probability" ;;
	faulted)	until [ "$(<"$faults/$number/times")" -eq 0 ]; do
				sleep 0.1
			done
			echo 0 >"$faults/$number/probability" ;;
	*)		whole_visit "$1" "${3:-}" ;;
	esac
fi
