#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Puts a Debian with systemd, NFS, rdma-core, DKMS and a kernel into the cache, like a
# machine without rdma2, and prints its folder, which contains:
#
#	root	the system, with the packages of a later kernel in apt's cache
#	first	the release of its kernel
#	later	the names of the packages of the later kernel
#
# The suite may be one that the machine itself does not use.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
12)	suite=bookworm
	first="linux-image-amd64 linux-headers-amd64"
	later="linux-image-6.12-amd64 linux-headers-6.12-amd64" ;;
13)	suite=trixie
	first="linux-image-amd64 linux-headers-amd64"
	later="-t trixie-backports linux-image-amd64 linux-headers-amd64" ;;
*)	echo "usage: $0 12|13" >&2
	exit 2 ;;
esac
packages="systemd-sysv udev dbus kmod iproute2 netbase procps initramfs-tools zstd
	e2fsprogs rdma-core nfs-kernel-server dkms openssl python3
	trace-cmd bpftrace"

# The initramfs has only the drivers of the guest's disk, and fast compression, because it
# is created for each kernel and unpacked at each boot, under emulation.
# shellcheck disable=SC2016 # $1 is for the shell of the hook
initramfs='mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"
	printf "%s\n" MODULES=list COMPRESS=zstd COMPRESSLEVEL=1 >"$1/etc/initramfs-tools/conf.d/guest"
	printf "%s\n" virtio_pci virtio_blk ext4 >"$1/usr/share/initramfs-tools/modules.d/guest"'

build_root()
{
	local start=$SECONDS

	[ ! -e "$dir/.complete" ] || return 0
	say "making a Debian $suite, some minutes; log: $dir.log"
	rm -rf "$dir"
	mkdir -p "$dir"
	# shellcheck disable=SC2016 # mmdebstrap's $1 is the root
	debian_root "$suite" "$dir" "$packages $first" \
		--essential-hook="$initramfs" \
		--customize-hook='chroot "$1" apt-get clean' \
		--customize-hook='chroot "$1" apt-get install -q -y --download-only '"$later" ||
		die "no Debian $suite"
	ls "$dir/root/lib/modules" >"$dir/first"
	printf '%s\n' "$later" >"$dir/later"
	touch "$dir/.complete"
	say "Debian $suite is there: $((SECONDS - start)) s"
}

dir=$cache/root-$suite-$({ cat "$0"; declare -f debian_root; } | sha1sum | cut -c1-10)
with_lock "$dir.lock" build_root || exit 1
printf '%s\n' "$dir"
