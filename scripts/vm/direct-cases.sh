# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: WRITEs whose data nfsd passes to a disk without a copy. The
# disk's driver uses the physical address of each page that the transport has put into
# rq_arg, so all of them have to be pages.

# The export is a file system on the disk.
direct_up()
{
	modprobe nvme && await test -b /dev/nvme0n1 &&
		mkfs.ext4 -q -F /dev/nvme0n1 || complain "no disk" || return 1
	export_device=/dev/nvme0n1
	nfs_up "$proto" && chmod 1777 "$export_dir"
}

# as_written FILE: compares the file on the disk with /tmp/data, after dropping the server's
# page cache
as_written()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	cmp /tmp/data "$export_dir/$1"
}

# passes_the_cache LABEL BLOCK CHUNKS: writes eight blocks with one WRITE each, which has
# this number of Read chunks, and verifies that all of them bypass the cache and reach the
# disk
passes_the_cache()
{
	local label=$1 block=$2 chunks=$3 file=$1-$2
	local events=/sys/kernel/tracing writes

	dd if=/dev/urandom of=/tmp/data bs="$block" count=8 status=none
	# nfsd does not write directly to a file that the same OPEN has created.
	cp --no-preserve=all /dev/null "$export_dir/$file"
	chmod 666 "$export_dir/$file"
	: >"$events/trace"
	counted check "$label, WRITE of $block" dd if=/tmp/data of="/mnt/$file" bs="$block" \
		oflag=direct conv=notrunc status=none || return
	writes=$(grep -c ' nfsd_write_direct:' "$events/trace")
	same "$label, WRITE of $block: 8 direct ones" "$writes" 8
	expect "$label, WRITE of $block: Read chunks each, $chunks" \
		"s_read_chunks == 8 * $chunks"
	check "$label, WRITE of $block: the disk has the data" as_written "$file"
}

# mapped_heads on|seen|off: a kprobe records the head of each WRITE. nfsd builds a bio_vec
# of the head, which needs a struct page, and an address in a mapping has none. Without
# KASLR mappings begin at ffa0000000000000 with five levels of page tables, and at
# ffffc90000000000 with four.
mapped_heads()
{
	local events=/sys/kernel/tracing probe=rdma2/head

	case $1 in
	on)	echo "p:$probe xdr_buf_to_bvec head=+0(%dx):x64 len=+8(%dx):u64" \
			>>"$events/kprobe_events" &&
			: >"$events/trace" && echo 1 >"$events/events/$probe/enable" ;;
	seen)	sed -n 's/.* head: .* head=0x\([0-9a-f]*\) len=\([0-9]*\)$/\1 \2/p' \
			"$events/trace" >/tmp/heads ;;
	off)	echo 0 >"$events/events/$probe/enable" &&
			echo "-:$probe" >>"$events/kprobe_events" ;;
	esac
}

# Through the page cache the contents are right even with such a head, because it is copied;
# only the kprobe detects it.
heads_have_pages()
{
	local name="inline WRITEs of 8 KiB" heads

	dd if=/dev/urandom of=/tmp/data bs=8K count=8 status=none
	check "$name: kprobe" mapped_heads on || return
	check "$name: dd" dd if=/tmp/data of=/mnt/heads bs=8K oflag=direct status=none
	mapped_heads seen
	heads=$(awk '$2 > 0 && ($1 >= "ffa0000000000000" && $1 < "ffd2000000000000" ||
		$1 >= "ffffc90000000000" && $1 < "ffffe90000000000")' /tmp/heads | wc -l)
	[ "$(wc -l </tmp/heads)" -ge 8 ] && [ "$heads" -eq 0 ] &&
		ok "$name: the head of each Call is in a page" ||
		fail "$name: $heads of $(wc -l </tmp/heads) heads are mappings: $(head -n 2 /tmp/heads)"
	check "$name: the kprobe is removed" mapped_heads off
	check "$name: the disk has the data" as_written heads
}

group_direct()
{
	local v block

	direct_up || { fail "server"; return; }
	if mount_nfs "$proto" 3 /mnt; then
		heads_have_pages
		check "umount" umount_all
	else
		fail "mount"
	fi
	echo 2 >/sys/kernel/debug/nfsd/io_cache_write || { fail "nfsd has no direct WRITEs"; return; }
	echo 1 >/sys/kernel/tracing/events/nfsd/nfsd_write_direct/enable ||
		fail "no trace event of direct WRITEs"
	for v in ${VERSIONS:-3 4.2}; do
		mount_nfs "$proto" "$v" /mnt || { fail "mount"; return; }
		for block in 4K 8K 12K 16K; do
			passes_the_cache "NFSv$v" "$block" 0
		done
		passes_the_cache "NFSv$v" 1M 1
		check "NFSv$v: umount" umount_all
	done
}
