# shellcheck shell=bash disable=SC2154 # kernel.sh has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by kernel.sh: the kernel of the debian guest. Installing its image package would
# write to /boot, and its headers depend on that package. All packages are therefore
# unpacked into the cache, and paths to /usr are changed.

package_of()
{
	apt-cache depends --important "$1" | sed -n 's/^  Depends: \(linux-[a-z]*-[0-9].*\)/\1/p' | head -n 1
}

# Of some 4,000 modules the guest needs a hundred. They are uncompressed, so that they load
# faster, and few, so that depmod is fast after each build of the modules.
pick_modules()
{
	local all=$1 dir=$2 release=$3 to module file

	depmod -b "$all" "$release" || return 1
	to=$dir/root/lib/modules/$release
	mkdir -p "$to"
	sed '/^#/d;/^$/d' "$vmdir/debian-modules" | while read -r module; do
		modprobe -q -d "$all" -S "$release" --show-depends "$module" ||
			say "the kernel has no module $module"
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | sort -u |
	while read -r file; do
		module=${file##*/lib/modules/"$release"/}
		mkdir -p "$to/${module%/*}"
		case $file in
		*.xz)	xz -dc "$file" >"$to/${module%.xz}" ;;
		*)	cp "$file" "$to/$module" ;;
		esac
	done
	cp "$all/lib/modules/$release"/modules.{order,builtin,builtin.modinfo} "$to/"
	depmod -b "$dir/root" "$release"
}

# Creates the initramfs: modules for the host's root, a static busybox, and a script that
# changes to this root.
make_initramfs()
{
	local dir=$1 release=$2 tree=$1/initramfs.d module

	rm -rf "$tree" "$dir/busybox"
	mkdir -p "$tree"/{bin,proc,sys,dev,lower,top,lib}
	unpack_packages "$dir/busybox" busybox-static
	cp "$dir"/busybox/{,usr/}bin/busybox "$tree/bin/" 2>/dev/null
	[ -x "$tree/bin/busybox" ] || die "no busybox"
	ln -s busybox "$tree/bin/sh"
	sed '/^#/d;/^$/,$d' "$vmdir/debian-modules" | while read -r module; do
		modprobe -d "$dir/root" -S "$release" --show-depends "$module"
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' |
	while read -r module; do
		cp "$module" "$tree/lib/"
		basename "$module"
	done >"$tree/lib/order"
	cp "$vmdir/initramfs.sh" "$tree/init"
	chmod +x "$tree/init"
	(cd "$tree" && find . | cpio -o -H newc --quiet) >"$dir/initramfs" ||
		die "cannot make the initramfs"
	rm -rf "$tree" "$dir/busybox"
}

build_debian()
{
	local dir=$1 image headers release start kbuild src

	start=$SECONDS
	need_packages kmod xz-utils cpio libelf1 make gcc-12
	[ -n "$(package_of "$image_package")" ] || apt_refresh
	image=$(package_of "$image_package")
	headers=$(package_of "$headers_package")
	release=${image#linux-image-}
	[ "$image/$headers" = "linux-image-$release/linux-headers-$release" ] ||
		die "image '$image' and headers '$headers' do not match"

	say "fetching $image and its headers"
	rm -rf "${dir:?}/all" "${dir:?}/root" "${dir:?}/usr"
	unpack_packages "$dir/all" "$image" "$headers" \
		"linux-headers-${release%-*}-common" \
		"linux-kbuild-${release%-*}"
	src=$dir/all/usr/src/linux-headers-$release
	kbuild=$dir/all/usr/src/linux-headers-${release%-*}-common
	grep -rl --include=Makefile --include=.kernelvariables ' /usr/src' "$src" |
		xargs -r sed -i "s| /usr/src/| $dir/all/usr/src/|"
	[ -e "$kbuild/Makefile" ] || die "no $kbuild/Makefile"

	say "picking modules"
	pick_modules "$dir/all" "$dir" "$release" || die "cannot pick modules"
	make_initramfs "$dir" "$release"
	mv "$dir/all/boot/vmlinuz-$release" "$dir/boot"
	mv "$dir/all/usr" "$dir/usr"
	sed -i "s|$dir/all/usr|$dir/usr|" "$dir/usr/src/linux-headers-$release/Makefile"
	ln -sfn "usr/src/linux-headers-$release" "$dir/build"
	rm -rf "$dir/all"
	printf '%s\n' "$release" >"$dir/release"
	touch "$dir/.complete"
	say "debian is unpacked: $((SECONDS - start)) s"
}
