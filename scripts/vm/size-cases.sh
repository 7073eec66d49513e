# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: Receives of several sizes at each end, and the messages that are
# inline with these.

# receives CLIENT SERVER: sets the sizes in bytes for new connections
receives()
{
	echo "$1" >/sys/module/xprtrdma2/parameters/receive_size
	echo "$2" >/sys/module/svcrdma2/parameters/receive_size
}

# write_and_read BYTES: four WRITEs and four READs of this size
write_and_read()
{
	exec 7<>/mnt/direct
	dd if=/tmp/direct bs="$1" count=4 oflag=direct conv=notrunc >&7
	exec 7<>/mnt/direct
	dd bs="$1" count=4 iflag=direct of=/tmp/back <&7
	exec 7>&-
}

# in_form LABEL BYTES CALLS REPLIES: checks that a payload is inline if it fits the largest
# Send of its direction together with the rest of the message, and in a chunk otherwise. No
# payload here is close to a limit.
in_form()
{
	local label="$1, $2 bytes" bytes=$2 reads=0 writes=0

	[ "$bytes" -lt "$3" ] || reads=4
	[ "$bytes" -lt "$4" ] || writes=4
	measure write_and_read "$bytes"
	expect "$label: four WRITEs and READs, $reads and $writes in a chunk" \
		"o_write == 4 && o_read == 4 && c_read_chunks == $reads && c_write_chunks == $writes && c_registrations == $((reads + writes)) + c_reply_chunks"
	expect "$label: RDMA Read and Write transfer no other bytes" \
		"s_read_chunk_bytes == $((reads * bytes)) && s_write_chunk_bytes == $((writes * bytes)) && s_reply_chunks_used == 0"
	cmp -n $((bytes * 4)) /tmp/direct "$export_dir/direct" &&
		cmp -n $((bytes * 4)) /tmp/direct /tmp/back ||
		fail "$label: wrong data"
}

# forms LABEL CALLS REPLIES: payloads of several sizes, with these largest Sends
forms()
{
	local n

	dd if=/dev/urandom of=/tmp/direct bs=256k count=1 status=none
	cp /tmp/direct "$export_dir/direct"
	for n in 2048 4096 12288 61440; do
		in_form "$1" "$n" "$2" "$3"
	done
	rm -f "$export_dir/direct"
}

# thresholds_are CALLS REPLIES: checks the connection's largest Sends
thresholds_are()
{
	local got

	got="$(connection send) $(connection receive)"
	[ "$got" = "$1 $2" ] || complain "they are $got"
}

# ends CLIENT SERVER CALLS REPLIES: sizes of the Receives at each end, and the resulting
# largest Sends
ends()
{
	local name="C-001 C-002 Receives of $1 and $2 bytes"

	receives "$1" "$2"
	check "$name: mount" mount_nfs rdma2 4.2 /mnt noac || return
	: >/mnt/first
	check "$name: largest Sends are $3 and $4" thresholds_are "$3" "$4"
	forms "$name" "$3" "$4"
	check "$name: umount" umount_all
}

# unregistered LABEL OPERATION COMMAND...: a case that the operation is sent without
# offering memory
unregistered()
{
	local label=$1 op=$2

	shift 2
	measure "$@"
	expect "C-031 $label: no memory is registered" \
		"o_$op >= 1 && c_registrations == 0 && c_reply_chunks == 0 && s_rdma_reads == 0 && s_rdma_writes == 0"
}

# acl NUMBER: prints a POSIX ACL, as an xattr, with this many users and the four other
# entries
acl()
{
	perl -e 'binmode STDOUT;
		sub entry { return pack("vvV", @_); }
		print pack("V", 2), entry(1, 6, -1),
			map({ entry(2, 4, 1000 + $_) } 1 .. $ARGV[0]),
			entry(4, 4, -1), entry(16, 7, -1), entry(32, 0, -1)' "$1"
}

# set_acl FILE: sets the ACL from standard input
set_acl()
{
	python3 -IS -c 'import os, sys
os.setxattr(sys.argv[1], "system.posix_acl_access", sys.stdin.buffer.read())' "$1"
}

# get_xattr FILE NAME SIZE: prints the value, read into a buffer of SIZE bytes
get_xattr()
{
	perl -e 'my ($file, $name, $value) = (@ARGV[0, 1], "\0" x $ARGV[2]);
		my $n = syscall(191, $file, $name, $value, length($value));
		$n >= 0 or die "getxattr: $!\n";
		print substr($value, 0, $n)' "$@"
}

many()
{
	local i

	for i in $(seq 20); do
		"$1" "$2-$i" || return
	done
}

symlink()
{
	ln -s "$(printf '%04095d' 0)" "$1"
}

# direct_writes BYTES NUMBER: WRITEs of this size
direct_writes()
{
	exec 7<>/mnt/file
	dd if=/dev/zero bs="$1" count="$2" oflag=direct conv=notrunc >&7 2>/dev/null
	exec 7>&-
}

# direct_reads BYTES NUMBER: READs of this size
direct_reads()
{
	exec 7</mnt/file
	dd bs="$1" count="$2" iflag=direct of=/dev/null <&7 2>/dev/null
	exec 7<&-
}

# The server copies small payloads too. The more it copies, the more completions it
# requests, because its buffers wait for them.
reply_copies()
{
	local name=$1 bytes completions

	truncate -s 2M /mnt/file
	while read -r bytes completions; do
		direct_reads "$bytes" 50
		measure direct_reads "$bytes" 50
		expect "$name, READ of $bytes bytes: copied" \
			"o_read == 50 && s_pullup_bytes >= 50 * $bytes && s_send_completions <= $completions && s_rdma_writes == 0"
	done <<-EOF
		4096 10
		8192 14
		16384 20
	EOF
}

# The client copies a small payload into the Send buffer, once the slot has a larger buffer,
# and then few Sends have a completion.
payload_copies()
{
	local name=$1 bytes

	for bytes in 4096 8192; do
		direct_writes "$bytes" 100
		measure direct_writes "$bytes" 50
		expect "$name, WRITE of $bytes bytes: copied" \
			"o_write == 50 && c_mapped_bytes <= 10 * $bytes && c_pullup_bytes >= 40 * $bytes && c_send_completions <= 20 && c_registrations == 0"
	done
	measure direct_writes 12288 50
	expect "$name, WRITE of 12288 bytes: from its pages" \
		"o_write == 50 && c_mapped_bytes == 50 * 12288 && c_registrations == 0"
}

# If the server takes no such payload inline, no Send buffer is enlarged for it.
small_sendbufs()
{
	local name='Receives of 4096 bytes, WRITE of 8192 bytes' before

	receives 4096 4096
	check "$name: mount" mount_nfs rdma2 4.2 /mnt noac || return
	: >/mnt/file
	before=$(figure /mnt 'xprt hardway')
	measure direct_writes 8192 100
	expect "$name: in Read chunks" "o_write == 100 && c_read_chunks == 100"
	check "$name: the Send buffers do not grow" \
		[ "$(figure /mnt 'xprt hardway')" -eq "$before" ]
	check "$name: umount" umount_all
}

# direct_io BYTES: ten WRITEs and ten READs
direct_io()
{
	direct_writes "$1" 10
	direct_reads "$1" 10
}

# READ and WRITE at the default size: a payload is sent with a header, a credential, and the
# rest of the RPC message.
inline_payloads()
{
	local name=$1 bytes

	for bytes in 4096 8192 16384; do
		unregistered "$name, WRITE of $bytes bytes" write \
			direct_writes "$bytes" 10
		unregistered "$name, READ of $bytes bytes" read \
			direct_reads "$bytes" 10
	done
	measure direct_io 20480
	expect "$name, READ and WRITE of 20480 bytes: in chunks" \
		"o_read == 10 && o_write == 10 && c_registrations == 20 && s_rdma_writes == 10"
}

# Operations that register no memory at the default size
operations()
{
	local name='Receives of 20480 bytes' bytes

	: >"$export_dir/file"
	unregistered "$name, EXCHANGE_ID" exchange_id \
		mount_nfs rdma2 4.2 /mnt noac
	touch "$export_dir"/open-{1..20}
	unregistered "$name, OPEN" open opens 20
	unregistered "$name, CREATE of folders" create many mkdir /mnt/folder
	unregistered "$name, SYMLINK of 4095 bytes" symlink \
		many symlink /mnt/link
	echo 3 >/proc/sys/vm/drop_caches
	unregistered "$name, READLINK of 4095 bytes" readlink \
		many readlink /mnt/link
	check "$name in both directions" thresholds_are 20480 20480
	payload_copies "$name"
	reply_copies "$name"
	inline_payloads "$name"
	acl 400 | set_acl "$export_dir/file"
	unregistered "$name, ACL" getacl \
		get_xattr /mnt/file system.nfs4_acl 8192
	bytes=$(get_xattr /mnt/file system.nfs4_acl 65536 | wc -c)
	[ "$bytes" -gt 7000 ] || fail "$name, ACL: $bytes bytes"
	check "$name: umount" umount_all

	mount_nfs rdma2 4.2 /mnt "noac,rsize=8192" || fail "$name: mount"
	unregistered "$name, READDIR of 8192 bytes" readdir ls /mnt
	check "$name: umount" umount_all
	rm -rf "${export_dir:?}"/*
}

read_acl()
{
	get_xattr /mnt/acl system.posix_acl_access 8192
}

# The client provides pages for the longest possible ACL, but no chunk. nfsd returns no ACL
# with which the Reply would be longer than a page.
seldom_long()
{
	local size name

	acl 326 >/tmp/acl
	for size in 16384 4096; do
		name="C-091 GETACL, Receives of $size bytes"
		receives "$size" "$size"
		check "$name: mount" mount_nfs rdma2 3 /mnt || return
		echo >/mnt/acl
		check "$name: SETACL" set_acl /mnt/acl </tmp/acl
		echo 3 >/proc/sys/vm/drop_caches
		measure read_acl
		if [ "$size" = 16384 ]; then
			expect "$name: the Reply is inline" \
				"c_replies >= 1 && c_registrations == 0 && c_calls_again == 0"
		else
			expect "$name: in a Reply chunk after REPLY_RESOURCE" \
				"c_calls_again == 1 && c_reply_chunks == 1 && c_reply_chunks_used == 1"
		fi
		check "$name: the value is correct" eval "read_acl | cmp - /tmp/acl"
		check "$name: the largest Sends do not change" thresholds_are "$size" "$size"
		check "$name: umount" umount_all
		rm -f "$export_dir/acl"
	done
}

# until_sizes CALLS REPLIES: waits for these largest Sends, which are reached after as many
# messages as there were Receives
until_sizes()
{
	local i

	for i in $(seq 100); do
		thresholds_are "$@" 2>/dev/null && return
		stats 5 >/dev/null
	done
	thresholds_are "$@"
}

# The client's Receives change while a mount is in use.
live_receives()
{
	local name='C-032 receive_size from 4096 to 65536' before grown=53248

	receives 4096 65536
	# A file of the server: of one that the client creates Linux 7.3 delegates the attributes,
	# and then stat sends nothing.
	: >"$export_dir/file"
	check "$name: mount" mount_nfs rdma2 4.2 /mnt noac || return
	check "$name: largest Sends at first" thresholds_are 65536 4096
	before=$(counters)
	receives 65536 65536
	# The queue of a connection that began with less has room for this.
	check "$name: it is announced to the server" until_sizes 65536 "$grown"
	risen "$before"
	expect "$name: by one UPDPROP, on the same connection" \
		"c_updprops_sent == 1 && s_updprops == 1 && c_disconnects == 0"
	forms "$name" 65536 "$grown"
	name='C-033 receive_size from 65536 to 4096'
	receives 4096 65536
	measure stats 100
	[ "${rose[o_getattr]}" -ge 100 ] || fail "$name: ${rose[o_getattr]} GETATTRs for 100 stats"
	check "$name: no change without a request" thresholds_are 65536 "$grown"
	check "$name: umount" umount_all
	check "$name: mount" mount_nfs rdma2 4.2 /mnt noac || return
	: >/mnt/file
	check "$name: in force on a new connection" thresholds_are 65536 4096
	check "$name: umount" umount_all
}

# intree_forms LABEL SIDE: checks with SIDE's counters that READs and WRITEs of 12 and 60
# KiB are inline
intree_forms()
{
	local n

	dd if=/dev/urandom of=/tmp/direct bs=256k count=1 status=none
	: >/mnt/direct
	for n in 12288 61440; do
		measure write_and_read "$n"
		expect "$1: WRITEs and READs of $n bytes go inline" \
			"o_write == 4 && o_read == 4 && $2_read_chunks == 0 && $2_write_chunks == 0"
		check "$1: the data of $n bytes are correct" eval \
			"cmp -n $((n * 4)) /tmp/direct $export_dir/direct &&
			cmp -n $((n * 4)) /tmp/direct /tmp/back"
	done
	rm -f /mnt/direct
}

# In-tree's ends with their largest sizes. In version 1 the private data of each end
# announces its sizes.
tuned_intree()
{
	local opts=noac,rsize=262144,wsize=262144 sysctl=/proc/sys/sunrpc
	local name="P-11 in-tree's server with 64 KiB inline"

	load_modules rdma &&
		echo 65536 >$sysctl/svc_rdma/max_req_size &&
		echo 65536 >$sysctl/rdma_max_inline_read &&
		echo 65536 >$sysctl/rdma_max_inline_write &&
		listen_on rdma "$intree_port" || { fail "in-tree"; return; }
	receives 65536 65536
	nfs_identity rdma2
	port=$intree_port check "$name: mount" \
		mount_nfs rdma2 4.2 /mnt "$opts" &&
		port=$intree_port check "$name: largest Sends" \
			thresholds_are 65536 65536 &&
		intree_forms "$name" c
	check "$name: umount" umount_all

	name="P-11 in-tree's client with 64 KiB inline"
	nfs_identity rdma
	check "$name: mount" mount_nfs rdma 4.2 /mnt "$opts" &&
		intree_forms "$name" s
	check "$name: umount" umount_all
	echo "rdma -$intree_port" >/proc/fs/nfsd/portlist 2>/dev/null
}

group_sizes()
{
	local size

	nfs_up rdma2 || { fail "server"; return; }
	operations
	small_sendbufs
	seldom_long
	live_receives
	for size in 4096 8192 16384 65536; do
		ends "$size" "$size" "$size" "$size"
		exercise "Receives of $size bytes, NFSv4.2" rdma2 4.2
	done
	exercise "Receives of $size bytes, NFSv3" rdma2 3
	# S14: the peer gets the server's largest Send, even if the server's Receives are small
	ends 4096 65536 65536 4096
	ends 65536 4096 4096 65536
	tuned_intree
}
