#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What is installed, looked at in a folder: the packages and what lintian says of
# them, modules built from their sources for the debian guest's kernel, and what
# modprobe makes of the names that others use. Nothing is installed here; a guest
# where it is: check-install.sh.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

cd "$top" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# result NAME STATUS: with what was said
result()
{
	if [ "$2" -eq 0 ]; then
		echo "ok packages: $1"
	else
		echo "FAIL packages: $1"
		tail -n 20 "$work/said"
		failed=1
	fi
}

# expect NAME COMMAND...
expect()
{
	"${@:2}" >"$work/said" 2>&1
	result "$1" $?
}

kdir=$(scripts/vm/kernel.sh debian) || exit 1
release=$(cat "$kdir/release")
root=$work/root
debs=$work/debs

make_()
{
	make -s -C "$1" KDIR="$kdir/build" MODULES="$root/lib/modules" W=0 -j"$jobs" \
		CONFIG_DEBUG_INFO_BTF_MODULES= "${@:2}"
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

# In that root, with its version
tool_runs()
{
	"$root/usr/bin/rdma2" --version | grep -x "rdma2 $version" &&
		"$root/usr/bin/rdma2" show --json | grep -x '  "client": null,'
}

# The folders that a package has below /etc belong to an administrator.
nothing_in_etc()
{
	! find "$root/etc" -type f 2>/dev/null | grep .
}

build_and_install()
{
	local m

	openssl req -new -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=rdma2 test" \
		-keyout "$work/key" -outform DER -out "$work/cert" || return 1
	make_ "$source" all && make_ "$source" sign SIGN_KEY="$work/key" \
		SIGN_CERT="$work/cert" &&
		make_ "$source" install-modules DESTDIR="$root" || return 1
	for m in rpcrdma2 xprtrdma2 svcrdma2; do
		[ "$(modinfo -F version -k "$release" -b "$root" "$m")" = "$version" ] &&
			[ "$(modinfo -F signer -k "$release" -b "$root" "$m")" = "rdma2 test" ] ||
			return 1
	done
}

# leads_to NAME MODULE: the last of what modprobe would load, and what it needs first
leads_to()
{
	local shown

	shown=$(modprobe -d "$root" -C "$root/usr/lib/modprobe.d" -S "$release" \
		--show-depends "$1") || return 1
	echo "$shown"
	tail -n 1 <<<"$shown" | grep -q "/$2\.ko" &&
		grep -q '/rpcrdma2\.ko' <<<"$shown"
}

# The packages' own man pages are compressed: apt removes these.
in_tree_is_back()
{
	find "$root/usr/share/man" -name '*.gz' -delete
	make_ "$top" install-utils DESTDIR="$root" &&
		[ -e "$root/usr/share/man/man8/rdma2.8" ] &&
		make_ "$top" uninstall DESTDIR="$root" || return 1
	rm -r "$source"
	find "$root" -iname '*rdma2*' ! -path '*/share/doc/*' | grep . && return 1
	modprobe -d "$root" -C "$root/usr/lib/modprobe.d" -S "$release" \
		--show-depends svcrdma | tail -n 1 | grep '/rpcrdma\.ko'
}

# refuses_vendor FILE: a module below updates/ that is not the kernel's own
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

expect "the packages are built, and lintian has nothing to say" \
	packaging/deb.sh "$debs"
expect "the packages are unpacked" unpack
source=$(echo "$root"/usr/src/rdma2-*)
version=${source##*-}
expect "no file of theirs is in /etc" nothing_in_etc
expect "the tool runs" tool_runs
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
expect "make uninstall leaves nothing, and brings rpcrdma back" in_tree_is_back
exit "$failed"
