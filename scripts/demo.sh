#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The main use case on Debian's unmodified kernel: mounts with proto=rdma2 over soft-RoCE,
# copies a part of the kernel's source in, reads it back, compares checksums on both sides,
# and prints figures.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

# 100 MB in 2,000 files, small and large ones
parts="kernel lib mm block crypto net/sunrpc drivers/infiniband
	drivers/gpu/drm/amd/include/asic_reg/gc"

pack_tree()
{
	local tar=$1 tmp=$1.tmp list

	[ -e "$tar" ] && return 0
	need_packages "$source_package" xz-utils
	say "packing part of the kernel's source"
	rm -rf "$tmp"
	mkdir -p "$tmp"
	list=()
	for p in $parts; do
		list+=("$source_package/$p")
	done
	tar -C "$tmp" --strip-components=1 \
		-xf "/usr/src/$source_package.tar.xz" "${list[@]}" ||
		die "cannot unpack $source_package"
	tar -C "$tmp" -cf "$tar.part" . || die "cannot pack"
	mv "$tar.part" "$tar"
	rm -rf "$tmp"
}

started=$SECONDS
mkdir -p "$cache"
tar=$cache/demo-$(printf '%s' "$parts" | sha1sum | cut -c1-8).tar
with_lock "$tar.lock" pack_tree "$tar" || exit 1
# A single processor, because emulated processors mostly wait for each other.
"$top/scripts/vm.sh" debian --mem 3072 --cpus 1 --timeout 900 -- \
	"$vmdir/demo.sh" "$tar"
rc=$?
echo
if [ "$rc" -eq 0 ]; then
	echo "The demo took $((SECONDS - started)) s; the kernel's log has no report."
else
	echo "The demo failed ($rc) after $((SECONDS - started)) s."
fi
exit "$rc"
