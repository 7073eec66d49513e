# shellcheck shell=bash disable=SC2154 # common.sh has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by kernel.sh and modules.sh: kernels of Debian's releases. Modules are built with
# the release's compiler, in a root of that release, and booted under QEMU. A root has the
# headers of all its kernels; a kernel itself is downloaded for its first boot.

# Names, each with its Debian release and a pattern of Linux releases, of which the newest
# available one is used. Debian 13 had 6.12.107 before; its archive drops older ones.
release_kernels='
debian-6.1	bookworm	6[.]1[.][^-]*-[0-9]*-amd64
debian-6.12.107	trixie	6[.]12[.]107[+][^-]*-amd64
debian-6.12	trixie	6[.]12[.][^-]*-amd64
debian-7.2	trixie	7[.]2[.][^-]*-amd64
debian-7.3	trixie	7[.]3[.][^-]*-amd64
'

# Checks of W=1 need Perl and Python.
root_packages=(make kmod libc6-dev perl python3)

release_field()
{
	awk -v name="$1" -v n="$2" '$1 == name { print $n }' <<<"$release_kernels"
}

# root_of KERNEL: prints the folder of its root
root_of()
{
	local suite

	suite=$(release_field "$1" 2)
	[ -n "$suite" ] || die "no kernel is called '$1'"
	printf '%s/kernels-%s-%s\n' "$cache" "$suite" \
		"$({ printf '%s\n' "$release_kernels" "${root_packages[@]}"
			declare -f make_root debian_root; } | sha1sum | cut -c1-10)"
}

# in_root ROOT COMMAND...: runs the command in the root, with /proc, which objtool reads,
# and with the cache
in_root()
{
	local root=$1/root

	shift
	mkdir -p "$root$cache"
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount bash -c 'root=$1 cache=$2 && shift 2 &&
		mount -t proc proc "$root/proc" &&
		mount --bind "$cache" "$root$cache" &&
		exec chroot "$root" "$@"' -- "$root" "$cache" "$@"
}

# newest ROOT PATTERN: prints the newest matching release whose headers apt knows in the
# root
newest()
{
	in_root "$1" apt-cache pkgnames linux-headers- |
		sed -n "s/^linux-headers-\($2\)\$/\1/p" | sort -V | tail -n 1
}

# needed_by ROOT PACKAGE: prints the packages that headers depend on, including the kernel's
# compiler. Kernel images are left out, because they would create an initramfs.
needed_by()
{
	in_root "$1" apt-cache depends --important "$2" |
		sed -n 's/^  Depends: \([^<>]*\)$/\1/p' | grep -vx 'linux-image-.*'
}

# apt_in_root ROOT NAME...: installs packages with their dependencies
apt_in_root()
{
	in_root "$1" env DEBIAN_FRONTEND=noninteractive \
		apt-get install -q -y "${@:2}" </dev/null >>"$1.log" 2>&1 ||
		{ tail -n 20 "$1.log" >&2; return 1; }
}

# download DIR ROOT NAME...: downloads packages as files
download()
{
	# shellcheck disable=SC2016 # the inner shell's
	in_root "$2" bash -c 'cd "$1" && shift && apt-get download -q "$@"' \
		-- "$1" "${@:3}" >"$1/log" 2>&1 ||
		die "apt-get download failed: $(tail -n 3 "$1/log")"
}

make_root()
{
	local dir=$1 suite=$2 start=$SECONDS name release headers=() needed

	[ ! -e "$dir/.complete" ] || return 0
	say "making a Debian $suite with the headers of its kernels, some minutes; log: $dir.log"
	rm -rf "$dir"
	mkdir -p "$dir"
	debian_root "$suite" "$dir" "${root_packages[*]}" || return 1
	say "Debian $suite is there, the headers follow"
	while read -r name release; do
		release=$(newest "$dir" "$release")
		[ -n "$release" ] || { say "no headers for $name"; continue; }
		echo "$name $release" >>"$dir/kernels"
		headers+=("linux-headers-$release")
	done < <(awk -v suite="$suite" '$2 == suite { print $1, $3 }' \
		<<<"$release_kernels")
	mapfile -t needed < <(for name in "${headers[@]}"; do
		needed_by "$dir" "$name"
	done | sort -u)
	apt_in_root "$dir" "${needed[@]}" || return 1
	mkdir -p "$dir/debs"
	download "$dir/debs" "$dir" "${headers[@]}"
	for name in "$dir"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$name" | tar -C "$dir/root" -x \
			--keep-directory-symlink || return 1
	done
	rm -rf "$dir/debs"
	touch "$dir/.complete"
	say "Debian $suite has ${headers[*]#linux-headers-}: $((SECONDS - start)) s"
}

# Creates the folder that modules are built against, see kernel.sh.
build_release()
{
	local name=$1 dir=$2 root release

	root=$(root_of "$name") || exit 1
	with_lock "$root.lock" make_root "$root" "$(release_field "$name" 2)" ||
		die "no Debian for $name"
	release=$(awk -v name="$name" '$1 == name { print $2 }' "$root/kernels")
	[ -n "$release" ] || die "the archive has no headers for $name any more"
	printf '%s\n' "$release" >"$dir/release"
	ln -sfn "/lib/modules/$release/build" "$dir/build"
	ln -sfn "$root" "$dir/chroot"
	touch "$dir/.complete"
}

# Downloads and unpacks a kernel for booting. Its packages differ from one release to the
# next.
fetch_release()
{
	local name=$1 dir=$2 release root debs

	[ ! -e "$dir/boot" ] || return 0
	need_packages kmod xz-utils cpio
	release=$(cat "$dir/release")
	root=$dir/chroot
	debs=$cache/debs-$name.$$
	say "fetching the kernel $release"
	mkdir -p "$debs"
	# A security update has headers and an unsigned image first, the signed one a day later.
	in_root "$root" apt-cache pkgnames linux- |
		grep -xE "linux-(image|base|binary|modules)-${release//[.+]/[&]}(-unsigned)?" |
		in_root "$root" xargs apt-cache policy |
		awk '/^[^ ]/ { sub(/:$/, ""); name = $1 }
			/^ *Candidate: [^(]/ { found[name] }
			END {
				for (name in found) {
					signed = name
					if (!sub(/-unsigned$/, "", signed) ||
							!(signed in found))
						print name
				}
			}' >"$debs/names"
	# shellcheck disable=SC2046 # a list of words
	download "$debs" "$root" $(cat "$debs/names")
	rm -rf "$dir/all"
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$dir/all" || die "cannot unpack $deb"
	done
	rm -rf "$debs"
	[ -d "$dir/all/lib/modules" ] || ln -s usr/lib "$dir/all/lib"
	pick_modules "$dir/all" "$dir" "$release" || die "cannot pick modules"
	make_initramfs "$dir" "$release"
	mv "$(find "$dir/all" -name "vmlinuz-$release" -o \
		-path "*/modules/$release/vmlinuz" | head -n 1)" "$dir/boot" ||
		die "no kernel in the packages of $release"
	rm -rf "$dir/all"
}
