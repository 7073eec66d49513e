#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Puts a guest's kernel into the cache and prints its folder, which contains:
#
#	boot		the kernel: a program (uml) or a bzImage (kcsan, debian)
#	build		KDIR of the modules
#	release		the output of uname -r
#	root/lib/modules/RELEASE	the kernel's own modules
#	initramfs	kcsan, debian: mounts the host's root
#	chroot		the root with the compiler for build, if it is not the host's
#
# "kernel.sh --headers" prepares only what a compilation needs: it does not download boot,
# root and initramfs.
#
# It installs only compilers and tools on the host.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=scripts/vm/releases.sh
. "$vmdir/releases.sh"
# shellcheck source=scripts/vm/debian.sh
. "$vmdir/debian.sh"

usage()
{
	echo "usage: $0 [--headers] uml|uml-debug|uml-dma|uml-smp|kcsan|debian|debian-RELEASE" >&2
	exit 2
}

# fetch_source KERNEL DIR: installs Debian 12's source package, or downloads the source
# package of another release with the apt of that release; prints the archive
fetch_source()
{
	local package=$source_package root

	if [ "$1" != uml-smp ]; then
		need_packages "$package"
		echo "/usr/src/$package.tar.xz"
		return
	fi
	package=$smp_source_package
	root=$(root_of debian-7.3) || return 1
	download "$2" "$root" "$package"
	dpkg-deb -x "$2"/*.deb "$2" || return 1
	echo "$2/usr/src/$package.tar.xz"
}

# All kernels with the same version and patches share one source tree.
unpack_source()
{
	local name=$1 tree=$2 tmp=$2.tmp debs=$2.debs archive p

	[ -e "$tree/.complete" ] && return 0
	need_packages xz-utils patch
	say "unpacking the source of $name"
	rm -rf "$tree" "$tmp" "$debs"
	mkdir -p "$tmp" "$debs"
	archive=$(fetch_source "$name" "$debs") || exit 1
	tar -C "$tmp" --strip-components=1 -xf "$archive" || die "cannot unpack"
	rm -rf "$debs"
	for p in $(patches_of "$name"); do
		patch -d "$tmp" -p1 -s <"$p" || die "$p does not apply"
	done
	touch "$tmp/.complete"
	mv "$tmp" "$tree"
}

# Runs a build of several minutes and prints its progress, so that it does not seem to hang.
run_build()
{
	local log=$1 what=$2 pid n

	shift 2
	"$@" >"$log" 2>&1 &
	pid=$!
	while sleep 5; kill -0 "$pid" 2>/dev/null; do
		n=$((${n:-0} + 1))
		[ $((n % 6)) -eq 0 ] &&
			say "$what: $(wc -l <"$log") steps, $(tail -n 1 "$log" | cut -c1-60)"
	done
	wait "$pid" || { tail -n 30 "$log" >&2; die "$what failed, see $log"; }
}

build_source()
{
	local name=$1 dir=$2 version tree start arch=um target=linux image=linux

	start=$SECONDS
	need_packages gcc make flex bison bc libc6-dev kmod rsync
	if [ "$name" = kcsan ]; then
		need_packages libelf-dev cpio
		arch=x86_64 target=bzImage image=arch/x86/boot/bzImage
	fi
	case $name in
	uml-smp) version=$(smp_version) ;;
	*)	version=$(kernel_version "$source_package") ;;
	esac || exit 1
	tree=$cache/source-$({ printf '%s\n' "$version"; cat_patches "$name"; } |
		sha1sum | cut -c1-10)
	with_lock "$tree.lock" unpack_source "$name" "$tree" || exit 1

	say "building $name ($version), some minutes; log: $dir/build.log"
	mkdir -p "$dir/build"
	config_of "$name" >"$dir/fragment"
	make -s -C "$tree" O="$dir/build" ARCH="$arch" \
		KCONFIG_ALLCONFIG="$dir/fragment" allnoconfig \
		>"$dir/config.log" 2>&1 ||
		die "configuration failed, see $dir/config.log"
	check_config "$dir"
	run_build "$dir/build.log" "$name" nice make -C "$tree" \
		O="$dir/build" ARCH="$arch" -j"$jobs" "$target" modules
	make -s -C "$tree" O="$dir/build" ARCH="$arch" modules_install \
		INSTALL_MOD_PATH="$dir/root" DEPMOD=true \
		>"$dir/install.log" 2>&1 || die "see $dir/install.log"
	make -s -C "$tree" O="$dir/build" ARCH="$arch" kernelrelease >"$dir/release"
	rm -f "$dir/root/lib/modules/$(cat "$dir/release")/"{build,source}
	depmod -b "$dir/root" "$(cat "$dir/release")"
	[ "$name" != kcsan ] || make_initramfs "$dir" "$(cat "$dir/release")"
	ln -sfn "build/$image" "$dir/boot"
	touch "$dir/.complete"
	say "$name is built: $((SECONDS - start)) s"
}

# config_of KERNEL: merges the configuration files; the last value of an option wins
config_of()
{
	cat_configs "$1" | awk '
	/^CONFIG_/ { split($0, part, "="); option[part[1]] = $0 }
	/^# CONFIG_.* is not set$/ { option[$2] = $0 }
	END { for (name in option) print option[name] }'
}

# Detects options that kconfig dropped because of a missing dependency. Without this check a
# test that needs such an option could pass without testing anything.
check_config()
{
	local line bad=0

	while read -r line; do
		case $line in
		CONFIG_*) ;;
		*) continue ;;
		esac
		! grep -qx -- "$line" "$1/build/.config" || continue
		say "not in the configuration: $line"
		bad=1
	done <"$1/fragment"
	[ "$bad" -eq 0 ] || die "the configuration lacks requested options"
}

main()
{
	local name=$1 dir

	dir=$(kernel_dir "$name") || exit 1
	if [ ! -e "$dir/.complete" ]; then
		mkdir -p "$dir"
		case $name in
		debian)	build_debian "$dir" ;;
		debian-*) build_release "$name" "$dir" ;;
		*)	build_source "$name" "$dir" ;;
		esac || exit 1
	fi
	[ ! -e "$dir/chroot" ] || [ "$headers" = --headers ] ||
		fetch_release "$name" "$dir" || exit 1
	touch "$dir/.used"
}

headers=''
[ "${1:-}" != --headers ] || { headers=$1; shift; }
[ $# -eq 1 ] || usage
known_kernel "$1"
dir=$(kernel_dir "$1") || exit 1
if [ ! -e "$dir/.complete" ] || [ ! -e "$dir/boot" ]; then
	with_lock "$dir.lock" main "$1" || exit 1
fi
printf '%s\n' "$dir"
