# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: WRITEs whose data nfsd hands to a disk without a copy.
# The disk's driver takes the physical address of each page that the transport has
# put into rq_arg, so each of them has to be one.

# The file system is on the disk, and nfsd passes its page cache by.
direct_up()
{
	local knob=/sys/kernel/debug/nfsd/io_cache_write

	modprobe nvme && await test -b /dev/nvme0n1 &&
		mkfs.ext4 -q -F /dev/nvme0n1 || complain "no disk" || return 1
	export_device=/dev/nvme0n1
	nfs_up "$proto" && chmod 1777 "$export_dir" || return 1
	echo 2 >"$knob" || complain "nfsd has no direct WRITEs"
}

# as_written FILE: what the disk has is what /tmp/data has. The server's page cache
# is dropped first.
as_written()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	cmp /tmp/data "$export_dir/$1"
}

# passes_the_cache LABEL BLOCK CHUNKS: eight WRITEs of a block each, with so many Read
# chunks in each of them; all of them reach the disk as they are
passes_the_cache()
{
	local label=$1 block=$2 chunks=$3 file=$1-$2
	local events=/sys/kernel/tracing before writes

	dd if=/dev/urandom of=/tmp/data bs="$block" count=8 status=none
	# What OPEN creates nfsd does not write to directly.
	cp --no-preserve=all /dev/null "$export_dir/$file"
	chmod 666 "$export_dir/$file"
	: >"$events/trace"
	before=$(counters)
	check "$label, WRITE of $block" dd if=/tmp/data of="/mnt/$file" bs="$block" \
		oflag=direct conv=notrunc status=none || return
	risen "$before"
	writes=$(grep -c ' nfsd_write_direct:' "$events/trace")
	[ "$writes" -eq 8 ] &&
		ok "$label, WRITE of $block: 8 direct ones" ||
		fail "$label, WRITE of $block: $writes direct ones of 8"
	expect "$label, WRITE of $block: Read chunks each, $chunks" \
		"s_read_chunks == 8 * $chunks"
	check "$label, WRITE of $block: the disk has it" as_written "$file"
}

group_direct()
{
	local v block

	direct_up || { fail "server"; return; }
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
	finish
}
