#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks the packages, unpacked in a folder: lintian's findings, modules built from the
# packaged sources for the debian guest's kernel, and modprobe's choices for the names that
# other software uses. Nothing is installed; check-install.sh does that in a guest.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"
# shellcheck source=scripts/vm/releases.sh
. "$vmdir/releases.sh"

cd "$top" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 suite=packages

kdir=$(scripts/vm/kernel.sh debian) || exit 1
release=$(cat "$kdir/release")
root=$work/root
debs=$work/debs

make_()
{
	make -s -C "$1" KDIR="$kdir/build" MODULES="$root/lib/modules" W=0 -j"$jobs" \
		CONFIG_DEBUG_INFO= CONFIG_DEBUG_INFO_BTF_MODULES= "${@:2}"
}

unpack()
{
	local deb

	mkdir -p "$root/usr/lib/modules"
	ln -s usr/lib "$root/lib"
	cp -r "$kdir/root/lib/modules/$release" "$root/lib/modules/"
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$root" || return 1
	done
}

# dkms.sh tests the sources and the file for DKMS that "make install-source" installs.
sources_are_installed_ones()
{
	make_ "$top" install-source DESTDIR="$work/plain" &&
		diff -r "$work/plain/usr/src" "$root/usr/src" &&
		diff -r "$work/plain/usr/share/dkms" "$root/usr/share/dkms" &&
		diff <(cd "$work/plain/usr/src" && find . -perm -u=x | sort) \
			<(cd "$root/usr/src" && find . -perm -u=x | sort)
}

# Keeps the objects for the next run, but not the modules, which are signed.
build_and_install()
{
	local m built
	local -x KUNIT=1 FAULTS=1 BENCH=1	# of the environment: no effect

	need_packages rsync
	built=$(own_dir "$top")/packages || return 1
	exec 8>"$built.lock"
	flock 8
	sync_sources "$built" "$source/" || return 1
	find "$built" -name '*.ko' -delete

	openssl req -new -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=rdma2 test" \
		-keyout "$work/key" -outform DER -out "$work/cert" || return 1
	make_ "$built" all && make_ "$built" sign SIGN_KEY="$work/key" \
		SIGN_CERT="$work/cert" &&
		make_ "$built" install-modules DESTDIR="$root" || return 1
	for m in rpcrdma2 xprtrdma2 svcrdma2; do
		[ "$(modinfo -F version -k "$release" -b "$root" "$m")" = "$version" ] &&
			[ "$(modinfo -F signer -k "$release" -b "$root" "$m")" = "rdma2 test" ] ||
			return 1
	done
}

# Creates a substitute for modprobe that prints the modules it would load. It runs the
# commands of an "install" line in a shell, as modprobe does, with itself in the place of
# modprobe.
dry_modprobe()
{
	cat >"$work/modprobe" <<-'END'
	#!/bin/bash
	options=()
	while [ $# -gt 1 ]; do
		[ "$1" = -q ] || options+=("$1")
		shift
	done
	shown=$(modprobe -d "$root" -C "$root/usr/lib/modprobe.d" -S "$release" \
		"${options[@]}" --show-depends "$1") && [ -n "$shown" ] || exit
	line=${shown##*$'\n'}
	case $line in
	install*) line=${line#install } line=${line/\$CMDLINE_OPTS/}
		line=${line//\/sbin\/modprobe/$work/modprobe}
		exec sh -c "${line//\/dev\/kmsg/$work/kmsg}" ;;
	*)	echo "$shown" ;;
	esac
	END
	chmod +x "$work/modprobe"
	export root release work
}

# leads_to NAME MODULE: succeeds if modprobe would load the module last, and rpcrdma2 before
# it
leads_to()
{
	local shown

	: >"$work/kmsg"
	shown=$("$work/modprobe" -q "$1") || return 1
	echo "$shown"
	tail -n 1 <<<"$shown" | grep -q "/$2\.ko" &&
		grep -q '/rpcrdma2\.ko' <<<"$shown" && [ ! -s "$work/kmsg" ]
}

# falls_back NAME MODULE: succeeds if rpcrdma is loaded because the module was not built,
# and the log has a line about that
falls_back()
{
	local shown

	: >"$work/kmsg"
	shown=$("$work/modprobe" -q "$1")
	echo "$shown"
	cat "$work/kmsg"
	tail -n 1 <<<"$shown" | grep -q '/kernel/.*/rpcrdma\.ko' &&
		grep -q "^<4>rdma2: $2 cannot be loaded" "$work/kmsg"
}

in_tree_is_back()
{
	make_ "$top" install-utils DESTDIR="$root" &&
		[ -e "$root/usr/share/man/man8/rdma2.8.gz" ] &&
		make_ "$top" uninstall DESTDIR="$root" || return 1
	rm -r "$source" "$root/usr/share/dkms"	# of rdma2-dkms
	find "$root" -iname '*rdma2*' ! -path '*/share/doc/*' | grep . && return 1
	modprobe -d "$root" -C "$root/usr/lib/modprobe.d" -S "$release" \
		--show-depends svcrdma | tail -n 1 | grep '/rpcrdma\.ko'
}

# refuses_vendor FILE: succeeds if the build fails because of this module, which is not the
# kernel's own
refuses_vendor()
{
	local file=$root/lib/modules/$release/$1

	mkdir -p "$(dirname "$file")"
	: >"$file"
	make_ "$source" all >"$work/vendor" 2>&1 && return 1
	cat "$work/vendor"
	rm "$file"
	grep -q "rdma2: Linux $release has the RDMA modules of a vendor ($1)" "$work/vendor"
}

# An untested kernel is rejected by its name, unless the administrator requests it.
untested_is_refused()
{
	local supported=$source/packaging/supported.sh

	make_ "$source" all release=7.9.1-amd64 >"$work/untested" 2>&1 && return 1
	cat "$work/untested"
	grep -q 'not tested with Linux 7.9.1-amd64, only .*RDMA2_LINUX=7.9 .* allows the build$' \
		"$work/untested" || return 1
	echo 'RDMA2_LINUX="7.8 7.9"' >"$work/default"
	RDMA2_CONF=$work/default "$supported" 7.9.1-amd64 "$work" &&
		RDMA2_LINUX=7.9 "$supported" 7.9-rc1 "$work" &&
		! RDMA2_LINUX=7.9 "$supported" 7.10.1 "$work" &&
		! "$supported" 6.120.1 "$work"
}

expect "the packages are built, and lintian has no findings" \
	packaging/deb.sh "$debs"
expect "the packages are unpacked" unpack
source=$(echo "$root"/usr/src/rdma2-*)
version=${source##*-}
expect "rdma2-dkms has the files of make install-source" sources_are_installed_ones
# /etc belongs to the administrator.
expect "the packages have no files in /etc" eval "! find $root/etc -type f 2>/dev/null | grep ."
expect "the tool runs" eval "$root/usr/bin/rdma2 --version | grep -x 'rdma2 $version' &&
	$root/usr/bin/rdma2 show --json | grep -x '  \"client\": null,'"
expect "the tool reports all faults of machines, and no others" \
	scripts/tool_test.py "$root/usr/bin/rdma2"
dry_modprobe
for name in rpcrdma rpcrdma6 xprtrdma; do
	expect "$name leads to rpcrdma on a kernel without xprtrdma2" \
		falls_back "$name" xprtrdma2
done
expect "svcrdma leads to rpcrdma on a kernel without svcrdma2" falls_back svcrdma svcrdma2
for name in rpcrdma2 rpcrdma26 xprtrdma2; do
	expect "$name loads no module there" eval "! $work/modprobe -q $name | grep ."
done
# See releases.sh.
expect "the kernels of the tests are supported" diff \
	<("$source/packaging/supported.sh" --tested | tr ' ' '\n' | sort) \
	<(sed -n 's/^debian-\([0-9]*[.][0-9]*\).*/\1/p' <<<"$release_kernels" | sort -u)
expect "an untested kernel is not supported, unless RDMA2_LINUX has it" untested_is_refused
expect "modules are built from rdma2-dkms signed and installed, with their version" \
	build_and_install
for name in rpcrdma rpcrdma6 xprtrdma rpcrdma2 rpcrdma26; do
	expect "$name leads to xprtrdma2" leads_to "$name" xprtrdma2
done
for name in svcrdma svcrdma2; do
	expect "$name leads to svcrdma2" leads_to "$name" svcrdma2
done
expect "a kernel with MLNX_OFED is refused by name (Debian)" \
	refuses_vendor updates/dkms/mlx_compat.ko
expect "a kernel with MLNX_OFED is refused by name (Red Hat)" \
	refuses_vendor extra/mlnx-ofa_kernel/drivers/infiniband/core/ib_core.ko.xz
expect "make uninstall removes everything, and rpcrdma is used again" in_tree_is_back
exit "$failed"
