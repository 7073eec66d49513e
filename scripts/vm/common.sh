# shellcheck shell=bash disable=SC2034,SC2154 # the sourcing scripts use the variables
# SPDX-License-Identifier: GPL-2.0
#
# All scripts source this file: paths of the cache, installation of packages, and lookup of
# kernels and of this checkout's builds.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
vmdir=$top/scripts/vm
# The scripts that these start have other current folders.
[ -z "${RPCRDMA2_CACHE:-}" ] || RPCRDMA2_CACHE=$(realpath -m "$RPCRDMA2_CACHE")
default_cache=${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma2
cache=${RPCRDMA2_CACHE:-$default_cache}
# clean.sh removes a folder with this marker, and thus none that existed before.
[ -e "$cache" ] || { mkdir -p "$cache" && touch "$cache/.rpcrdma2"; }
jobs=$(nproc)

# Debian 12's package of Linux 6.12. The User-Mode Linux guests are built from the source
# package; users run the image package.
source_package=linux-source-6.12
smp_source_package=linux-source-7.3
image_package=linux-image-6.12-amd64
headers_package=linux-headers-6.12-amd64

say()
{
	printf '%s %s\n' "$(date +%H:%M:%S)" "$*" >&2
}

die()
{
	say "error: $*"
	exit 1
}

# known WHAT NAME KNOWN...: dies unless the name is known
known()
{
	[[ " ${*:3} " == *" $2 "* ]] || die "no $1 is called '$2': ${*:3}"
}

known_kernel()
{
	# shellcheck disable=SC2046 # a list of words
	known kernel "$1" uml uml-debug uml-dma uml-smp kcsan debian \
		$(sed -n 's/^\(debian-[0-9.]*\)\t.*/\1/p' "$vmdir/releases.sh")
}

# has_test_modules KERNEL: succeeds if this kernel has KUnit, and its builds the modules for tests
has_test_modules()
{
	[[ $1 == uml* || $1 == kcsan ]]
}

# number NAME VALUE: dies unless the value is a number
number()
{
	[[ $2 =~ ^[0-9]+$ ]] || die "$1 is '$2', not a number"
}

# result NAME STATUS [FILE]: prints a case of $suite; if it failed, also the end of its
# output, which is in the file or in $work/said
result()
{
	if [ "$2" -eq 0 ]; then
		echo "ok $suite: $1"
	else
		echo "FAIL $suite: $1"
		tail -n 30 "${3:-$work/said}" | sed 's/^/# /'
		failed=1
	fi
}

# expect NAME COMMAND...: a case that the command succeeds, on $system if there are several;
# returns its exit status
expect()
{
	local rc

	"${@:2}" >"$work/said" 2>&1
	rc=$?
	result "${system:+$system: }$1" "$rc"
	return "$rc"
}

# with_lock FILE COMMAND...: runs the command under a lock, so that only one of two
# checkouts builds a kernel and the other one waits. The subshell that runs the command
# holds the lock.
with_lock()
{
	local lock=$1

	shift
	mkdir -p "$(dirname "$lock")"
	(
		flock -n 9 || { say "waiting for $lock"; flock 9; }
		"$@" 9>&-
	) 9>"$lock"
}

# apt LOG COMMAND...: runs apt-get, as soon as no other process holds a lock of apt's
apt()
{
	local log=$1

	shift
	until DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1 </dev/null; do
		grep -q '^E: Could not get lock' "$log" ||
			die "not prepared: apt-get $1: $(tail -n 3 "$log")"
		say "apt-get $1 waits: $(grep -m 1 'Could not get lock' "$log")"
		sleep 5
	done
}

# The callers of the next two functions hold apt.lock.
refresh_lists()
{
	# Package lists are refreshed at most once an hour. apt's download folder has the
	# time of the last refresh.
	[ -n "$(find /var/lib/apt/lists/partial -maxdepth 0 -mmin -60 2>/dev/null)" ] &&
		[ -n "$(find /var/lib/apt/lists -name '*Packages*' -print -quit)" ] &&
		return 0
	[ "$(id -u)" -eq 0 ] || die "apt-get update needs root"
	say "refreshing the package lists"
	apt "$cache/apt-update.log" update
}

install_packages()
{
	local missing

	missing=$(missing_packages "$@")
	[ -z "$missing" ] && return 0
	refresh_lists
	say "installing $missing"
	# shellcheck disable=SC2086 # a list of words
	apt "$cache/apt-install.log" install -y --no-install-recommends $missing
}

apt_refresh()
{
	with_lock "$cache/apt.lock" refresh_lists || exit 1
}

missing_packages()
{
	local p installed

	installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" \
		2>/dev/null | sed -n 's/^installed //p' | tr '\n' ' ')"
	for p in "$@"; do
		case $installed in
		*" $p "*) ;;
		*)	printf '%s ' "$p" ;;
		esac
	done
}

# need_packages PACKAGE...: installs tools and libraries. Packages that start a service or
# change /boot are unpacked into the cache instead, see kernel.sh.
need_packages()
{
	local missing

	missing=$(missing_packages "$@")
	[ -z "$missing" ] && return 0
	[ "$(id -u)" -eq 0 ] ||
		die "not root, cannot install what is missing; please run: apt-get install $missing"
	with_lock "$cache/apt.lock" install_packages "$@" || exit 1
}

# need_cross_compiler NAME PACKAGE...: installs a cross compiler, or skips case NAME if apt
# would have to remove this machine's gcc-multilib for it
need_cross_compiler()
{
	if [ -n "$(missing_packages "${@:2}")" ] && [ -z "$(missing_packages gcc-multilib)" ]
	then
		echo "skip $1 # gcc-multilib is installed, which apt would remove for the cross compiler"
		return 1
	fi
	need_packages "${@:2}"
}

# unpack_packages DIR PACKAGE...: downloads packages and unpacks them without installing
# them
unpack_packages()
{
	local into=$1 debs

	shift
	[ -n "$(candidate_version "$1")" ] || apt_refresh
	debs=$(mktemp -d "$cache/debs.XXXXXX")
	chmod 755 "$debs"
	(cd "$debs" && apt "$debs/log" download "$@") || exit 1
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$into" || die "cannot unpack $deb"
	done
	rm -rf "$debs"
}

# archive LABEL: prints the address of the machine's package archive; LABEL is Debian or
# Debian-Security
archive()
{
	# shellcheck disable=SC2016 # apt's
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		"Label: $1" | sort -u | head -n 1
}

# debian_root SUITE DIR PACKAGES [OPTION...]: creates a Debian root in DIR/root from the
# machine's archive, with these options of mmdebstrap, whose output is in DIR.log
debian_root()
{
	local suite=$1 dir=$2 packages=$3 main security

	need_packages mmdebstrap
	[ -n "$(archive Debian)" ] || apt_refresh
	main=$(archive Debian)
	security=$(archive Debian-Security)
	# shellcheck disable=SC2086 # a list of words
	mmdebstrap --variant=minbase --mode=root --skip=cleanup/apt \
		--dpkgopt=force-unsafe-io \
		--aptopt='APT::Install-Recommends "false"' \
		--include="$(echo $packages | tr ' ' ,)" "${@:4}" \
		"$suite" "$dir/root" \
		"deb $main $suite main" \
		"deb $main $suite-updates main" \
		"deb $main $suite-backports main" \
		"deb $security $suite-security main" >"$dir.log" 2>&1 ||
		{ tail -n 20 "$dir.log" >&2; return 1; }
}

candidate_version()
{
	apt-cache policy "$1" | sed -n 's/^  Candidate: //p'
}

# patches_of KERNEL: prints the patch files in order; some are for one release of Linux only
patches_of()
{
	local dirs=("$vmdir/patches")

	case $1 in
	uml-smp) dirs+=("$vmdir/patches/7.3") ;;
	uml-dma) dirs+=("$vmdir/patches/6.12" "$vmdir/patches/dma") ;;
	*)	dirs+=("$vmdir/patches/6.12") ;;
	esac
	find "${dirs[@]}" -maxdepth 1 -name '*.patch' |
		awk -F/ '{ print $NF "\t" $0 }' | sort | cut -f2
}

cat_patches()
{
	patches_of "$1" | xargs cat
}

cat_configs()
{
	case $1 in
	uml)	cat "$vmdir/kernel.config" ;;
	uml-debug|uml-dma) cat "$vmdir/kernel.config" "$vmdir/${1#uml-}.config" ;;
	uml-smp) cat "$vmdir"/{kernel,debug,smp}.config ;;
	kcsan)	cat "$vmdir"/{kernel,kcsan}.config ;;
	esac
}

# kernel_key KERNEL: prints everything that a cached kernel depends on besides its version
kernel_key()
{
	case $1 in
	uml|uml-debug|uml-dma|uml-smp)
		cat_configs "$1"
		cat_patches "$1" ;;
	kcsan)
		cat_configs "$1"
		cat_patches "$1"
		cat "$vmdir/initramfs.sh" ;;
	debian)
		cat "$vmdir/debian-modules" "$vmdir/debian.sh" \
			"$vmdir/initramfs.sh" ;;
	debian-*)
		cat "$vmdir/releases.sh" "$vmdir/debian-modules" "$vmdir/debian.sh" \
			"$vmdir/initramfs.sh" ;;
	esac
}

# kernel_version PACKAGE: prints the version with which the cache was filled. It stays the
# same until the cache is emptied, so that a new version in the archive does not change the
# runs.
kernel_version()
{
	local file=$cache/version-$1 version

	if [ ! -s "$file" ]; then
		mkdir -p "$cache"
		version=$(candidate_version "$1")
		if [ -z "$version" ] || [ "$version" = "(none)" ]; then
			apt_refresh
			version=$(candidate_version "$1")
		fi
		case $version in
		''|"(none)")	die "no package $1 in the archive" ;;
		esac
		printf '%s\n' "$version" >"$file.$$"
		mv "$file.$$" "$file"
	fi
	cat "$file"
}

# The source package of another release is looked up in the root of that release.
smp_version()
{
	local file=$cache/version-$smp_source_package root

	if [ ! -s "$file" ]; then
		root=$(root_of debian-7.3) || exit 1
		"$vmdir/kernel.sh" --headers debian-7.3 >/dev/null || exit 1
		in_root "$root" apt-cache policy "$smp_source_package" |
			sed -n 's/^  Candidate: //p' | grep -vx '(none)' >"$file" ||
			die "no package $smp_source_package in the archive"
	fi
	cat "$file"
}

kernel_dir()
{
	local version

	case $1 in
	debian)	version=$(kernel_version "$image_package") ;;
	debian-*) version='' ;;
	uml-smp) version=$(smp_version) ;;
	*)	version=$(kernel_version "$source_package") ;;
	esac || exit 1
	printf '%s/%s-%s\n' "$cache" "$1" \
		"$({ printf '%s\n' "$version"; kernel_key "$1"; } | sha1sum | cut -c1-10)"
}

# built_of CHECKOUT: prints the folder of the checkout's builds, if it exists
built_of()
{
	local file checkout

	for file in "$cache"/build/*/checkout; do
		{ [ -s "$file" ] && read -r checkout <"$file"; } || continue
		[ "$checkout" != "$1" ] || { dirname "$file"; return; }
	done
	return 1
}

# claim CHECKOUT: assigns a build folder to the checkout. A folder whose checkout is deleted
# and from which no guest runs is reused, so that only files that differ are compiled again;
# of several, the one with the most builds. The user-space builds depend on file times and are
# deleted, as are the guests' tools: a run with a reused folder must not depend on them.
claim()
{
	local file checkout dir='' builds most=0

	! built_of "$1" >/dev/null || return 0
	for file in "$cache"/build/*/checkout; do
		{ [ -s "$file" ] && read -r checkout <"$file"; } || continue
		builds=("$(dirname "$file")"/*/)
		if [ ! -d "$checkout" ] && [ "${#builds[@]}" -gt "$most" ] &&
				flock -n -x "$file" true; then
			dir=$(dirname "$file") most=${#builds[@]}
		fi
	done
	dir=${dir:-$(mktemp -d "$cache/build/XXXXXX")} || return
	rm -rf "$dir/host" "$dir"/*/tools
	printf '%s\n' "$1" >"$dir/checkout"
}

own_dir()
{
	mkdir -p "$cache/build"
	built_of "$1" || { with_lock "$cache/build/lock" claim "$1" && built_of "$1"; }
}

# build_dir KERNEL: prints the folder with the modules of this checkout, or of the sources
# in SOURCE
build_dir()
{
	local own

	own=$(own_dir "${SOURCE:-$top}") || exit 1
	printf '%s/%s\n' "$own" "$(basename "$(kernel_dir "$1")")"
}

# sync_sources INTO FROM...: copies sources next to their objects and updates only files
# whose contents differ, because a new checkout has new file times
sync_sources()
{
	mkdir -p "$1" && rsync -a --no-times --checksum --delete --exclude='*.o' \
		--exclude='*.cmd' --exclude='*.ko' --exclude='*.mod*' \
		--exclude='*.symvers' --exclude='*.order' --exclude=/compat/features.h \
		--exclude='/compat/*.log' --exclude=/kunit/vectors.h "${@:2}" "$1"
}

# host_dir: prints the folder of this checkout's user-space builds
host_dir()
{
	local own

	own=$(own_dir "$top") || exit 1
	printf '%s/host\n' "$own"
}

# The guests' tools: NFS client and server, Kerberos, and fio. Installing these packages
# would start services on this machine, so they are unpacked, and only the libraries that
# they depend on are installed.
tool_packages=(rpcbind nfs-common nfs-kernel-server fio krb5-kdc krb5-admin-server krb5-user gssproxy
	libverto-libev1)

unpack_tools()
{
	local dir=$1 lib

	[ -e "$dir.complete" ] && return 0
	say "fetching ${tool_packages[*]}"
	rm -rf "$dir"
	mkdir -p "$dir"
	unpack_packages "$dir" "${tool_packages[@]}"
	# /sbin and /lib of the host are links into /usr.
	mkdir -p "$dir/usr/sbin" "$dir/usr/lib"
	for lib in sbin lib; do
		[ -d "$dir/$lib" ] || continue
		cp -a "$dir/$lib/." "$dir/usr/$lib/"
		rm -rf "${dir:?}/$lib"
	done
	rm -rf "${dir:?}/usr/share"
	apt-cache depends --important "${tool_packages[@]}" |
		sed -n 's/^ *Depends: \(lib[^<>]*\|keyutils\|zlib1g\)$/\1/p' |
		sort -u >"$dir.needs"
	touch "$dir.complete"
}

guest_tools()
{
	local dir

	dir=$cache/tools-$(sha1sum <<<"${tool_packages[*]}" | cut -c1-8)
	with_lock "$dir.lock" unpack_tools "$dir" || return 1
	# shellcheck disable=SC2046 # a list of words
	need_packages iproute2 kmod netbase perl procps python3 $(cat "$dir.needs") ||
		return 1
	printf '%s\n' "$dir"
}
