#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The demo's work in the guest. The argument is a tar file of the tree to copy.

set -u
# shellcheck source=scripts/vm/cases.sh
. "$(dirname "$0")/cases.sh" || exit 2

say()
{
	printf '%6.1f s  %s\n' "$(cut -d' ' -f1 /proc/uptime)" "$*"
}

die()
{
	say "FAILED: $*"
	exit 1
}

# Prints the uptime in hundredths of a second.
now()
{
	sed 's/ .*//; s/\.//' /proc/uptime
}

# rate FROM TO: prints the MB/s between two times
rate()
{
	awk -v b="$bytes" -v t="$(($2 - $1))" 'BEGIN {
		printf "%.1f", b / 1e4 / (t + 0.1) }'
}

declare -A value
run()
{
	local vers=$1 dir=$export_dir/v$1 at0 at1

	say "NFSv$vers: mount -o vers=$vers,proto=rdma2"
	mount_nfs rdma2 "$vers" /mnt || die "mount"
	grep ' /mnt nfs' /proc/mounts | cut -d' ' -f3,4 | cut -c1-90 | sed 's/^/          /'
	mkdir -p "$dir"
	at0=$(now)
	cp -r /src/. "/mnt/v$vers/" || die "copy"
	sync
	at1=$(now)
	value[write,$vers]=$(rate "$at0" "$at1")
	say "NFSv$vers: $files files, $((bytes / 1000000)) MB copied in"
	echo 3 >/proc/sys/vm/drop_caches

	at0=$(now)
	find "/mnt/v$vers" -type f -print0 | xargs -0 cat >/dev/null || die "read"
	at1=$(now)
	value[read,$vers]=$(rate "$at0" "$at1")
	say "NFSv$vers: caches dropped, all files read back"

	sums "/mnt/v$vers" >/tmp/client || die "checksums of the client"
	sums "$dir" >/tmp/server || die "checksums of the server"
	cmp /tmp/source /tmp/client || die "the client reads other data"
	cmp /tmp/source /tmp/server || die "the server has other data"
	say "NFSv$vers: equal checksums at source, client and server"

	value[version,$vers]=$(connection version)
	value[thresholds,$vers]="$(connection send) / $(connection receive)"
	value[credits,$vers]=$(connection credits)
	umount /mnt || die "umount"
	rm -rf "$dir"
}

line()
{
	printf '  %-44s %18s %18s\n' "$@"
}

# row LABEL KEY: prints a row with one column for each mount
row()
{
	line "$1" "${value[$2,4.2]:-?}" "${value[$2,3]:-?}"
}

rule()
{
	printf '  %s\n' "$(printf '%082d' 0 | tr 0 -)"
}

say "$(uname -sr), soft-RoCE, client and server in this kernel"
nfs_up rdma2 || die "server"
mkdir -p /src
mount -t tmpfs none /src
tar -C /src -xf "$1" || die "tree"
files=$(find /src -type f | wc -l)
bytes=$(du -sb --apparent-size /src | cut -f1)
sums /src >/tmp/source

run 4.2
run 3
server_down

echo
line "$files files, $((bytes / 1000000)) MB in each direction" "NFSv4.2" "NFSv3"
rule
row "RPC-over-RDMA version" version
row "inline thresholds, Call / Reply, bytes" thresholds
row "credits" credits
rule
row "copied in, MB/s" write
row "read back, MB/s" read
