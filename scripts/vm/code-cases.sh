# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after storm-cases.sh: error replies of the server whose cause is
# not in the Call, and cases in which it has to send none. The modules' fault injection
# (rpcrdma2/fault.h) produces them, in uml-debug.

# read_file NAME SIZE: prints "data" if the contents are right, or dd's error
read_file()
{
	timeout -s KILL 60 dd if="/mnt/$1" of="/tmp/back.$1" bs="$2" iflag=direct \
		status=none 2>"/tmp/said.$1" && cmp -s "/tmp/back.$1" "$export_dir/$1" &&
		echo data || error_of "/tmp/said.$1"
}

error_of()
{
	grep -o 'Input/output error' "$1" || echo "other: $(cat "$1")"
}

# An error code that reports only that the server could not build a Reply
no_reply_built()
{
	local name="C-093 C-094 a Reply that cannot be built" before got

	storm_mount 3 nolock || return
	head -c 65536 /dev/urandom >"$export_dir/a"
	stat /mnt/a >/dev/null
	before=$(counters)
	got=$(with_fault fail_reply 1 read_file a 65536)
	check "$name: the reader gets EIO" [ "$got" = "Input/output error" ]
	check "$name: the next attempt gets the data" [ "$(read_file a 65536)" = data ]
	risen "$before"
	expect "$name: one error with code 10, on the same connection, and no repetition" \
		"s_errors_system==1&&c_errors_received==1&&c_calls_again==0&&c_connects==0"
	umount_all
	rm -f "$export_dir/a"
}

# read_at_once FILE...: reads the files concurrently and prints the counted results
read_at_once()
{
	local f pids=()

	for f; do
		read_file "$f" 16384 >"/tmp/got.$f" &
		pids+=("$!")
	done
	wait "${pids[@]}"
	cat "${@/#//tmp/got.}" | sort | uniq -c
}

# Replies of 16 KiB fit the client's Receives. When the server can neither copy nor gather
# them, they wait for the pages that other Replies are sent from.
no_buffers()
{
	local name="C-093 no buffer for a Reply" before i why='' got

	storm_mount 3 nolock,rsize=16384 || return
	for i in 1 2 3 4 5 6; do
		head -c 262144 /dev/urandom >"$export_dir/b$i"
		stat "/mnt/b$i" >/dev/null
	done
	before=$(counters)
	got=$(read_at_once b1 b2)
	[ "${got// /}" = 2data ] || why+=", before: $got"
	got=$(with_fault fail_buffer -1 read_at_once b1 b2 b3 b4 b5 b6)
	[ "${got// /}" = 6data ] || why+=", $got"
	risen "$before"
	without "$name: the data are correct" "$why"
	expect "$name: Replies waited, or moved pages of the buffer" \
		"s_shortages + s_buffer_pages_moved > 0"
	expect "$name: no error, the same connection" \
		"s_errors_reply_resource==0&&s_errors_system==0&&c_errors_received==0&&c_connects==0"
	expect "$name: each Reply is counted once" \
		"s_inline_bytes >= 8*262144 && s_inline_bytes < 8*262144 + 100000"
	echo "# ${rose[s_shortages]} waits, ${rose[s_buffer_pages_moved]} pages"
	umount_all
	rm -f "$export_dir"/b?
}

# lost_call NAME COMMAND...: a Call that ends its connection each time it is sent
lost_call()
{
	local name=$1 before got

	shift
	storm_mount 3 nolock || return
	head -c 32768 /dev/urandom >"$export_dir/l"
	stat /mnt/l >/dev/null
	before=$(counters)
	got=$(with_fault fail_handle -1 "$@")
	check "$name: EIO, not $got" [ "$got" = "Input/output error" ]
	check "$name: other mounts are served" [ "$(read_file l 32768)" = data ]
	risen "$before"
	# With soft-RoCE, one time in six, the client disconnects before the server's device
	# has received the NAK. Each of these costs one more connection.
	expect "$name: the third attempt gets code 10" \
		"s_calls_lost==2&&s_calls_lost_again==1&&s_errors_system==1&&c_connects>=2&&c_connects<=8"
	umount_all
	rm -f "$export_dir/l"
}

write_file()
{
	timeout -s KILL 60 dd if="/tmp/back.l" of="/mnt/l" bs=32768 oflag=direct \
		conv=notrunc status=none 2>/tmp/said.l && echo written || error_of /tmp/said.l
}

lost_calls()
{
	lost_call "C-093 S46 a READ with an invalid handle" read_file l 32768
	lost_call "C-093 S46 a WRITE with an invalid handle" write_file
}
