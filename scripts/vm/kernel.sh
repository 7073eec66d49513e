#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Puts a guest's kernel into the cache and prints the folder it is in:
#
#	boot		what to start: a program (uml) or a bzImage (debian)
#	build		KDIR for modules
#	release		what uname -r will say
#	root/lib/modules/RELEASE	the kernel's own modules
#	initramfs	debian only: enough to reach the host's root
#	chroot		the system with the compiler for build, where it is not the host's
#
# "kernel.sh --headers" is for what is only compiled against: without boot, root and
# initramfs where they would have to be fetched.
#
# Nothing is installed into the host for it but compilers and tools.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=scripts/vm/releases.sh
. "$vmdir/releases.sh"
# shellcheck source=scripts/vm/debian.sh
. "$vmdir/debian.sh"

usage()
{
	echo "usage: $0 [--headers] uml|uml-debug|debian|debian-RELEASE" >&2
	exit 2
}

# One patched tree serves both User-Mode Linux builds.
unpack_source()
{
	local tree=$1 tmp=$1.tmp p

	[ -e "$tree/.complete" ] && return 0
	need_packages "$source_package" xz-utils patch
	say "unpacking $source_package"
	rm -rf "$tree" "$tmp"
	mkdir -p "$tmp"
	tar -C "$tmp" --strip-components=1 \
		-xf "/usr/src/$source_package.tar.xz" || die "cannot unpack"
	for p in "$vmdir"/patches/*.patch; do
		patch -d "$tmp" -p1 -s <"$p" || die "$p does not apply"
	done
	touch "$tmp/.complete"
	mv "$tmp" "$tree"
}

# Prints a line now and then: a build of minutes must not look like a hang.
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

build_uml()
{
	local name=$1 dir=$2 version tree start

	start=$SECONDS
	need_packages gcc make flex bison bc libc6-dev kmod rsync
	version=$(kernel_version "$source_package") || exit 1
	tree=$cache/source-$({ printf '%s\n' "$version"; cat "$vmdir"/patches/*; } |
		sha1sum | cut -c1-10)
	with_lock "$tree.lock" unpack_source "$tree" || exit 1

	say "building $name ($version), some minutes; log: $dir/build.log"
	mkdir -p "$dir/build"
	cat "$vmdir/kernel.config" >"$dir/fragment"
	[ "$name" = uml-debug ] && cat "$vmdir/debug.config" >>"$dir/fragment"
	# For an option given twice the last one counts, and kconfig says so.
	make -s -C "$tree" O="$dir/build" ARCH=um \
		KCONFIG_ALLCONFIG="$dir/fragment" allnoconfig \
		>"$dir/config.log" 2>&1 ||
		die "configuration failed, see $dir/config.log"
	check_config "$dir"
	run_build "$dir/build.log" "$name" nice make -C "$tree" \
		O="$dir/build" ARCH=um -j"$jobs" linux modules
	make -s -C "$tree" O="$dir/build" ARCH=um modules_install \
		INSTALL_MOD_PATH="$dir/root" DEPMOD=true \
		>"$dir/install.log" 2>&1 || die "see $dir/install.log"
	make -s -C "$tree" O="$dir/build" ARCH=um kernelrelease >"$dir/release"
	rm -f "$dir/root/lib/modules/$(cat "$dir/release")/"{build,source}
	depmod -b "$dir/root" "$(cat "$dir/release")"
	ln -sfn build/linux "$dir/boot"
	touch "$dir/.complete"
	say "$name is built: $((SECONDS - start)) s"
}

# An option that kconfig dropped for want of another one would be missed only
# when a test that needs it passes for the wrong reason.
check_config()
{
	local fragment line bad=0

	fragment=$(cat "$1/fragment")

	while read -r line; do
		case $line in
		CONFIG_*) ;;
		*) continue ;;
		esac
		if grep -qx -- "$line" "$1/build/.config"; then
			continue
		fi
		# overruled by a later line of the fragment
		grep "^${line%%=*}=" <<<"$fragment" | tail -n 1 |
			grep -qx -- "$line" || continue
		say "not in the configuration: $line"
		bad=1
	done <<<"$fragment"
	[ "$bad" -eq 0 ] || die "the configuration is not what was asked for"
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
		*)	build_uml "$name" "$dir" ;;
		esac || exit 1
	fi
	[ ! -e "$dir/chroot" ] || [ "$headers" = --headers ] ||
		fetch_release "$name" "$dir" || exit 1
	touch "$dir/.used"
}

headers=''
[ "${1:-}" != --headers ] || { headers=$1; shift; }
[ $# -eq 1 ] || usage
dir=$(kernel_dir "$1") || exit 1
if [ ! -e "$dir/.complete" ] || [ ! -e "$dir/boot" ]; then
	with_lock "$dir.lock" main "$1" || exit 1
fi
printf '%s\n' "$dir"
