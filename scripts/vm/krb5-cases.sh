# shellcheck shell=bash disable=SC2015,SC2034,SC2153,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the placement of data with RPCSEC_GSS, and RPCs that are encrypted
# again.

# With any transport, nfsd cannot decode contiguous items longer than a page from an
# encrypted Call; the tests therefore have no long symlinks and no large xattrs.
gss_files()
{
	local v=$1 sec=$2 words some=('odd sizes' directory)

	check "NFSv$v, $sec: mount" mount_nfs "$proto" "$v" /mnt "sec=$sec" ||
		return
	check "NFSv$v, $sec: /proc/mounts shows it" \
		grep -q " /mnt .*sec=$sec," /proc/mounts
	[ -n "${QUICK:-}" ] || some+=('large file' vectors rename owner locks)
	for words in "${some[@]}"; do
		CASES=$words verdicts "NFSv$v, $sec" "$VM_TOP/scripts/fs-exercise.py" \
			"$v" /mnt "$export_dir"
	done
}

# Data that is encrypted or covered by a checksum must not be placed directly; if it does
# not fit inline, it goes in Position-Zero and Reply chunks. krb5 protects no data.
gss_placement()
{
	local v=$1 sec=$2 name="E-26 NFSv$1, $2"

	dd if=/dev/urandom of=/tmp/mega bs=1M count=4 status=none
	measure dd if=/tmp/mega of=/mnt/mega bs=1M oflag=direct
	case $sec in
	sys|krb5) expect "$name: WRITE of 1 MiB: a Read chunk for the data" \
			"s_read_chunks == 4 && s_long_calls == 0" ;;
	krb5?)	expect "$name: WRITE of 1 MiB: all of it in a Position-Zero chunk" \
			"s_read_chunks == 4 && s_long_calls == 4" ;;
	esac
	check "$name: the server has the data" cmp /tmp/mega "$export_dir/mega"

	echo 3 >/proc/sys/vm/drop_caches
	measure dd if=/mnt/mega of=/tmp/back bs=1M iflag=direct
	case $sec in
	sys|krb5) expect "$name: READ of 1 MiB: a Write chunk for the data" \
			"s_write_chunks == 4 && s_reply_chunks_used == 0" ;;
	krb5?)	expect "$name: READ of 1 MiB: all of it in a Reply chunk" \
			"s_write_chunks == 0 && s_reply_chunks_used == 4" ;;
	esac
	check "$name: the client has the data" cmp /tmp/mega /tmp/back
}

# slow_writes: writes to open files while mountd is stopped
slow_writes()
{
	local i writers=()

	for i in 1 2 3 4; do
		dd if=/tmp/mega bs=1M count=1 oflag=direct conv=notrunc \
			1>&"${slow[i]}" 2>/dev/null &
		writers+=($!)
	done
	sleep 3
	pkill -CONT rpc.mountd
	wait "${writers[@]}"
}

# nfsd sends no Replies until mountd continues. With NFSv3 the RPC layer retransmits a WRITE
# after a second, and encrypts it again, into other pages.
gss_timeouts()
{
	local i fd slow=() name="X2 NFSv3, krb5p, no Reply in time"

	check "$name: mount" mount_nfs "$proto" 3 /mnt \
		sec=krb5p,timeo=10,retrans=1 || return
	dd if=/dev/urandom of=/tmp/mega bs=1M count=1 status=none
	for i in 1 2 3 4; do
		exec {fd}<>"/mnt/slow$i"
		slow[i]=$fd
	done
	pkill -STOP rpc.mountd
	exportfs -f
	measure slow_writes
	expect "$name: the RPC is encrypted again" "c_pages_revoked >= 1"
	expect "$name: on another connection" "c_connects >= 1"
	for i in 1 2 3 4; do
		fd=${slow[i]}
		exec {fd}>&-
		check "$name: file $i" cmp /tmp/mega "$export_dir/slow$i"
	done
	check "$name: umount" umount_all
}

# inline_writes FLAVOR: Calls of three pages that are completely in their Receive. The
# in-tree client can be configured to send such Calls.
inline_writes()
{
	local name="NFSv4.2, $1, WRITE of 12 KiB"

	check "$name: mount" mount_nfs rdma 4.2 /mnt \
		"sec=$1,rsize=262144,wsize=262144" || return
	dd if=/dev/urandom of=/tmp/inline bs=12k count=8 status=none
	measure dd if=/tmp/inline of=/mnt/inline bs=12k oflag=direct
	expect "$name: inline" \
		"s_read_chunks == 0 && s_calls >= 8 && s_recv_bytes > 8 * 12288"
	check "$name: the server has the data" cmp /tmp/inline "$export_dir/inline"
	check "$name: umount" umount_all
}

gss_long_messages()
{
	local flavor max=/proc/sys/sunrpc/rdma_max_inline_write

	modprobe rpcrdma && echo 65536 >$max ||
		{ fail "the kernel's own client"; return; }
	echo 65536 >/sys/module/svcrdma2/parameters/receive_size
	for flavor in krb5 krb5i krb5p; do
		inline_writes "$flavor"
	done
	echo 20480 >/sys/module/svcrdma2/parameters/receive_size
	rmmod rpcrdma
}

# fail_pages TIMES: this number of page allocations fail in tasks with make-it-fail
fail_pages()
{
	settings /sys/kernel/debug/fail_page_alloc min-order=0 task-filter=Y ignore-gfp-wait=N \
		verbose=0 times="$1" probability=$(($1 ? 100 : 0))
}

# Succeeds if encoding attempts got no pages for the encrypted Call.
pages_failed()
{
	local times

	read -r times </sys/kernel/debug/fail_page_alloc/times
	[ "$times" -lt $((10000 - 2)) ]
}

# The plain text of a Call stays in memory until pages for its encrypted form can be
# allocated. If krb5 has no memory for a checksum either, the RPC layer ends the RPC with
# EIO, and the link is created again. The tester's server is an impostor that looks for the
# plain text. Its time is limited to 4 s (see client_counter), so the action "watch" starts
# earlier.
group_krb5-run()
{
	local port=$PORT dir=/mnt.$PORT before counter sec=krb5p nfs_host=$realm_server

	[ "$CASE" != client_overheard.in_plain_text ] || sec=sys
	trap 'fail_pages 0; umount -f -l "$dir"; exit 1' TERM
	case $ACTION in
	mount)	fail_pages 0
		mount_nfs rdma2 3 "$dir" "nolock,actimeo=600,sec=$sec" &&
			! stat "$dir/in-plain-text" ;;
	drain)	stat -f "$dir" "$dir" "$dir" ;;
	victim)	echo 1 >/proc/self/make-it-fail &&
			exec ln -s target "$dir/in-plain-text" ;;
	watch)	client_counter calls
		before=$counter
		echo begins
		await is_past calls "$before" || exit
		fail_pages 10000
		echo called
		[ "$sec" = sys ] || await pages_failed || exit
		echo again ;;
	pages)	fail_pages 0 ;;
	link*)	{ [ "$ACTION" = linked ] || {
			[ "$sec" != sys ] && ln -s target "$dir/in-plain-text"
		}; } && [ "$(readlink "$export_dir/in-plain-text")" = target ] &&
			rm "$export_dir/in-plain-text" ;;
	unmount) umount "$dir" || umount -l "$dir" ;;
	esac
	exit
}

gss_overheard()
{
	can_fail /sys/kernel/debug/fail_page_alloc X8 || return
	all_apply=1 tester "" --server --actions --trigger \
		"exec $VM_TOP/scripts/vm/nfs-cases.sh krb5-run rdma2" \
		"$addr4" 20500 client_overheard || failed=1
	# A failed case leaves the fault injection on.
	fail_pages 0
	unmount_visits
}

gss_again()
{
	local options

	next_port=20450
	modprobe -qa ib_uverbs rdma_ucm
	for options in vers=3,sec=krb5i vers=3,sec=krb5p vers=4.1,sec=krb5i; do
		echo "# S45 X2 $options: a repeated RPC is encrypted again"
		hostile_server "$options" client_resends.each_call_is_refused_once
	done
	gss_overheard
}

group_krb5()
{
	local v sec

	kerberos_up || { fail "server"; return; }
	for v in ${VERSIONS:-4.2 3}; do
		check "NFSv$v, sys: mount" \
			mount_nfs "$proto" "$v" /mnt sec=sys &&
			gss_placement "$v" sys
		check "NFSv$v, sys: umount" umount_all
		for sec in krb5 krb5i krb5p; do
			gss_files "$v" "$sec" && gss_placement "$v" "$sec"
			check "NFSv$v, $sec: umount" umount_all
			rm -rf "${export_dir:?}"/*
		done
	done
	gss_timeouts
	gss_again
	gss_long_messages
}
