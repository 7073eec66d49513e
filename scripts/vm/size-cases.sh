# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: Receives of several sizes, each end's its own, and what
# goes inline then.

# receives CLIENT SERVER: octets, of what is connected from now on
receives()
{
	echo "$1" >/sys/module/xprtrdma2/parameters/receive_size
	echo "$2" >/sys/module/svcrdma2/parameters/receive_size
}

# write_and_read OCTETS: four RPCs each
write_and_read()
{
	exec 7<>/mnt/direct
	dd if=/tmp/direct bs="$1" count=4 oflag=direct conv=notrunc >&7
	exec 7<>/mnt/direct
	dd bs="$1" count=4 iflag=direct of=/tmp/back <&7
	exec 7>&-
}

# in_form LABEL OCTETS CALLS REPLIES: a payload that fits the largest Send in its
# direction, beside the rest of the message, is in it, and a larger one is in a
# chunk. No payload here comes near a limit.
in_form()
{
	local label="$1, $2 octets" octets=$2 reads=0 writes=0

	[ "$octets" -lt "$3" ] || reads=4
	[ "$octets" -lt "$4" ] || writes=4
	measure write_and_read "$octets"
	expect "$label: four WRITEs and READs, $reads and $writes in a chunk" \
		"o_write == 4 && o_read == 4 && c_read_chunks == $reads && c_write_chunks == $writes && c_registrations == $((reads + writes)) + c_reply_chunks"
	expect "$label: and no octet more by RDMA Read or Write" \
		"s_read_chunk_bytes == $((reads * octets)) && s_write_chunk_bytes == $((writes * octets)) && s_reply_chunks_used == 0"
	cmp -n $((octets * 4)) /tmp/direct "$export_dir/direct" &&
		cmp -n $((octets * 4)) /tmp/direct /tmp/back ||
		fail "$label: wrong data"
}

# forms LABEL CALLS REPLIES: of a mount with Sends of so many octets at most
forms()
{
	local n

	dd if=/dev/urandom of=/tmp/direct bs=256k count=1 status=none
	cp /tmp/direct "$export_dir/direct"
	for n in 2048 4096 8192 12288 32768 61440; do
		in_form "$1" "$n" "$2" "$3"
	done
	rm -f "$export_dir/direct"
}

# thresholds_are CALLS REPLIES
thresholds_are()
{
	local got

	got="$(connection send) $(connection receive)"
	[ "$got" = "$1 $2" ] || complain "they are $got"
}

# ends CLIENT SERVER CALLS REPLIES: Receives of each, and what that makes the
# largest Sends
ends()
{
	local name="C-001 C-002 Receives of $1 and $2 octets"

	receives "$1" "$2"
	check "$name: mount" mount_nfs rdma2 4.2 /mnt noac || return
	: >/mnt/first
	check "$name: largest Sends are $3 and $4" thresholds_are "$3" "$4"
	forms "$name" "$3" "$4"
	check "$name: umount" umount_all
}

group_sizes()
{
	local size

	nfs_up rdma2 || { fail "server"; return; }
	for size in 4096 8192 16384 65536; do
		ends "$size" "$size" "$size" "$size"
		exercise "Receives of $size octets, NFSv4.2" rdma2 4.2
	done
	exercise "Receives of $size octets, NFSv3" rdma2 3
	# S14: how much the server sends is known, however little it receives
	ends 4096 65536 65536 4096
	ends 65536 4096 4096 65536
	finish
}
