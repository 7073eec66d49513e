# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: devices of every size. soft-RoCE of uml-dma takes the limits of
# each adapter in the table "devices", one after the other in one guest.

devices=$(dirname "${BASH_SOURCE[0]}")/devices
rxe_limits=/sys/module/rdma_rxe/parameters/limits
force_mr=/sys/module/ib_core/parameters/force_mr

# device_of LIMITS: comes up with these
device_of()
{
	echo "$1" >$rxe_limits && device_up
}

# moves: both ways by RDMA, inline, and a long Reply
moves()
{
	dd if=/dev/urandom of=/tmp/data bs=1M count=1 status=none &&
		dd if=/tmp/data of=/mnt/large bs=1M oflag=direct status=none &&
		cmp /tmp/data "$export_dir/large" &&
		dd if=/mnt/large of=/tmp/back bs=1M iflag=direct status=none &&
		cmp /tmp/data /tmp/back &&
		echo "$name" >/mnt/small && echo "$name" | cmp - "$export_dir/small" &&
		echo 2 >/proc/sys/vm/drop_caches && echo "$name" | cmp - /mnt/small &&
		lists_long
}

lists_long()
{
	diff <(ls /mnt/long) <(ls "$export_dir/long")
}

# taken END EVENT FIELD: prints a field of the allocations of the RDMA core, which belong to
# the server in threads of nfsd, and to the client in all other tasks
taken()
{
	awk -v server="$([ "$1" != server ] || echo 1)" -v event=" $2: " -v field="$3" '
	index($0, event) && (/^ *nfsd-/ ? server : !server) {
		match($0, " " field "=[0-9]+")
		print substr($0, RSTART + length(field) + 2, RLENGTH - length(field) - 2)
	}' /tmp/taken
}

# queue_memory: prints the KiB of all queues of soft-RoCE
queue_memory()
{
	awk -v FS='pages=' '/ rxe_queue_init\+/ { pages += $2 } END { print 4 * pages }' \
		/proc/vmallocinfo
}

# costs IDLE: entries of the Send Queue, which its CQ has as well, and of the Receive Queue;
# and regions, by their size in pages. The memory of the queues is what came to the KiB IDLE.
costs()
{
	local end kib queues regions

	kib=$(($(queue_memory) - $1))
	[ "$kib" -gt 0 ] || fail "$name: the queues of both ends have $kib KiB"
	echo "# $name: the queues of both ends have $kib KiB"
	for end in client server; do
		mapfile -t queues < <(taken $end cq_alloc nr_cqe)
		[ ${#queues[@]} -ge 2 ] ||
			{ fail "$name: the trace has ${#queues[@]} queues of the $end"; continue; }
		regions=$(taken $end mr_alloc max_num_sg | sort -n | uniq -c |
			awk '{ printf "%s%d of %d pages", sep, $1, $2; sep = ", " }')
		echo "# $name: the $end has ${queues[0]} entries for Sends, ${queues[1]} for Receives, regions: ${regions:-none}"
	done
}

# gone: removes the device, and checks that no mapping is left
gone()
{
	check "$name: umount" umount_all
	check "$name: device removed" device_down
	check "$name: no page is mapped" eval '! dmesg | grep "pages are mapped"'
}

# works LIMITS CLIENT SERVER: with these words in the views
works()
{
	local words regions idle

	dmesg -C
	check "$name: device" device_of "$1" || return
	# ib_mad has queues of its own.
	echo >/sys/kernel/tracing/trace
	idle=$(queue_memory)
	check "$name: mount" timeout -s KILL 60 bash -c "mount_nfs rdma2 4.2 /mnt retry=0" ||
		{ gone; return; }
	counted check "$name: READ and WRITE of 1 MiB and of a few bytes, READDIR" \
		timeout -s KILL 60 bash -c moves
	expect "$name: RDMA for large files and the listing" \
		"s_read_chunk_bytes == 1048576 && s_write_chunk_bytes == 1048576 && s_reply_chunks_used > 0"
	read -ra words <<<"$2"
	is "$name: the client's view" "$client_view" "peer=$addr4:$port" state=up \
		version=2 "${words[@]}"
	read -ra words <<<"$3"
	is "$name: the server's view" "$server_view" "state=up" version=2 "${words[@]}"
	regions=$(value "$server_view" state=up read_regions)
	cp /sys/kernel/tracing/trace /tmp/taken
	costs "$idle"
	[ -n "$(taken client mr_alloc max_num_sg)" ] &&
		[ "$(taken server mr_alloc max_num_sg | wc -l)" = "$regions" ] &&
		ok "$name: the server has the regions of its view for RDMA Reads, $regions" ||
		fail "$name: regions of the client: $(taken client mr_alloc max_num_sg | wc -l), of the server: $(taken server mr_alloc max_num_sg | wc -l), not $regions"
	gone
}

# serves LIMITS SERVER: a server without a client beside it, with these words in its view. The
# device refuses each Send With Invalidate.
serves()
{
	local held=() words

	check "$name: the client is not loaded" await eval 'rmmod xprtrdma2 2>/dev/null'
	check "$name: device" device_of "$1"
	hold "$addr4"
	check "$name: a connection" await grep -q state=up "$server_view"
	read -ra words <<<"$2"
	is "$name: the server's view" "$server_view" state=up "${words[@]}"
	let_go
	tester "" --export "$export_dir" "$addr4" "$port" connection.private_data_of_version_two \
		invalidation.none_without_a_handle chunks.call_in_memory chunks.read_chunk |
		sed -u "s/^\(ok\|FAIL\) /&$name: /"
	[ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
	check "C-007 $name: plain Sends for nominated handles" sends_are_plain
	gone
	modprobe xprtrdma2
}

# refused LIMITS TEXT: the mount ends by itself with an error that depends on the end that
# refuses, and the log has the text
refused()
{
	local tried said

	case $2 in
	svcrdma2:*)		said='Connection refused' ;;
	*'no RDMA device')	said='Protocol error' ;;
	# EOPNOTSUPP
	*)	said='requested NFS version or transport protocol is not supported' ;;
	esac
	check "$name: device" device_of "$1"
	try_mount "$addr4" "$port"
	if [ "$tried" -eq 0 ]; then
		fail "$name: the mount succeeds"
	elif [ "$tried" -ne 32 ] || ! grep -q "^mount\.nfs: $said" /tmp/said; then
		fail "$name: the mount ends with $tried, not '$said': $(tail -n 3 /tmp/said | tr '\n' '|')"
	elif dmesg | grep -q "$2"; then
		ok "$name: the mount fails, and the log has the reason"
	else
		fail "$name: no '$2' in $({ cat /tmp/said; dmesg; } | tail -n 3 | tr '\n' '|')"
	fi
	gone
}

# force_regions LIMITS: the RDMA core has regions for the RDMA Reads of a device that needs them
force_regions()
{
	if [[ " $1 " == *" iwarp_reads "* ]]; then
		echo Y >$force_mr
	else
		echo N >$force_mr
	fi
}

# refuses_limits: of other names or values soft-RoCE makes no device
refuses_limits()
{
	local limits

	for limits in max_qp=1 max_qp_wr= max_qp_wr=x max_qp_wr no_mem_mgt=1; do
		! device_of "max_cqe=1024 $limits" 2>&1 || return
	done
}

# long_directory: makes one whose names take more than a message
long_directory()
{
	mkdir "$export_dir/long" && touch "$export_dir/long/$(printf '%0100d' 0)"-{1..300} &&
		ok "a long directory" || fail "a long directory"
}

group_devices()
{
	local name limits client server rows=0

	nfs_up rdma2 || { fail "server"; return; }
	modprobe -qa ib_uverbs rdma_ucm
	device_down
	long_directory
	export name export_dir addr4 port
	export -f moves lists_long mount_nfs complain
	check "other limits are refused" refuses_limits
	echo 1 | tee /sys/kernel/tracing/events/rdma_core/{cq,mr}_alloc/enable >/dev/null
	while IFS='|' read -r name limits client server; do
		name=${name%% *}
		[ -n "$name" ] && [ "$name" != '#' ] || continue
		[[ " ${CASES:-$name} " == *" $name "* ]] || continue
		: $((rows += 1))
		force_regions "$limits" || fail "$name: no $force_mr"
		case $client in
		*refused:*)	refused "$limits" "${client#*refused: }" ;;
		*server-only*)	serves "$limits" "$server" ;;
		*)		works "$limits" "$client" "$server" ;;
		esac
	done <"$devices"
	[ "$rows" -gt 0 ] || fail "the table has no row ${CASES:-}"
	echo >$rxe_limits
	force_regions ''
	check "default limits again" device_up
}

# writes SIZE OFFSET: WRITEs of a file, of which the server then has the data
writes()
{
	rm -f /mnt/large
	head -c "$1" /dev/urandom >/run/data &&
		dd if=/run/data of=/mnt/large bs=1M seek="$2" oflag=direct,seek_bytes status=none &&
		cmp -i "0:$2" /run/data "$export_dir/large"
}

# reads_back SIZE OFFSET: READs of the data that writes() wrote
reads_back()
{
	dd if=/mnt/large of=/run/back bs=1M skip="$2" iflag=direct,skip_bytes status=none &&
		cmp /run/data /run/back
}

# The RDMA core reads into memory regions on any device (ib_core.force_mr=1), as on iWARP, and
# writes from regions, as on none. The pages of a part are one segment for the device, as behind
# an IOMMU, and a region has fewer pages than that if nothing limits the part.
group_regions()
{
	local name="regions of 64 pages" size
	local good="s_errors_system + c_errors_received + c_connects == 0"

	nfs_up rdma2 || { fail "server"; return; }
	modprobe -qa ib_uverbs rdma_ucm
	device_down
	echo 1 >/sys/kernel/tracing/events/rdma_core/mr_alloc/enable
	check "$name: device" device_of max_fast_reg_page_list_len=64
	check "$name: mount" mount_nfs rdma2 4.2 /mnt || return
	counted check "$name: WRITE of 1 MiB" writes 1048576 0
	cp /sys/kernel/tracing/trace /tmp/taken
	same "$name: the server's regions" "$(taken server mr_alloc max_num_sg | sort -u)" 64
	expect "$name: a part is one region" "s_rdma_reads == 4"
	counted check "$name: READ of 1 MiB" reads_back 1048576 0
	expect "$name: READ of 1 MiB: no error, the same connection" "$good && s_rdma_writes == 4"
	for size in 65537 262143 262145 1048575; do
		counted check "$name: WRITE of $size bytes at an odd offset" writes "$size" 4095
		expect "$name: WRITE of $size bytes at an odd offset: no error, the same connection" \
			"$good && s_rdma_reads > 0"
		counted check "$name: READ of $size bytes at an odd offset" reads_back "$size" 4095
		expect "$name: READ of $size bytes at an odd offset: no error, the same connection" \
			"$good && s_write_chunks > 0"
	done
	check "$name: umount" umount_all
	# Head, pages and tail of its Replies leave holes.
	long_directory
	check "$name: NFSv3: mount" mount_nfs rdma2 3 /mnt || return
	counted check "$name: NFSv3: READDIR" lists_long
	expect "$name: NFSv3: READDIR: no error, the same connection" "$good && s_reply_chunks_used > 0"
	check "$name: NFSv3: umount" umount_all
	# A client whose region has all 257 pages of a Call
	counted tester "" --export "$export_dir" "$addr4" "$port" chunks.long_call_in_memory ||
		failed=1
	expect "$name: a segment of 257 pages is read in five parts" "s_rdma_reads == 5"
	finish
	check "$name: device removed" device_down
}
