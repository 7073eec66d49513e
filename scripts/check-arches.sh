#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The modules compiled for other architectures, by Debian's cross compilers and sparse,
# against the defconfig of the 6.12 kernel there: other sizes of words and pages, and
# another byte order. Nothing is linked against the kernel, and nothing is run.
#
#	check-arches.sh [ARCH...]	arm64 arm64-64k riscv64 s390x ppc64le i386

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

all=(arm64 arm64-64k riscv64 s390x ppc64le i386)
# Behind the name, what kbuild and Debian call it, and the configuration
table='
arm64		arm64	aarch64-linux-gnu	defconfig
arm64-64k	arm64	aarch64-linux-gnu	defconfig
riscv64		riscv	riscv64-linux-gnu	defconfig
s390x		s390	s390x-linux-gnu		defconfig
ppc64le		powerpc	powerpc64le-linux-gnu	pseries_le_defconfig
i386		i386	i686-linux-gnu		i386_defconfig
'
options=(-e INFINIBAND -e INFINIBAND_ADDR_TRANS -e IPV6 -e DEBUG_FS -m SUNRPC_XPRT_RDMA
	-e NFS_FS -e NFS_V4 -e NFS_V4_1 -m NFSD -e NFSD_V4 -d DEBUG_INFO_BTF -d WERROR)

# configure DIR CONFIG OPTION...: until it is as it should be
configure()
{
	local dir=$1 config=$2

	shift 2
	[ -e "$dir/.complete" ] && return 0
	mkdir -p "$dir"
	"${make[@]}" O="$dir" "$config" &&
		"$source/scripts/config" --file "$dir/.config" "$@" &&
		"${make[@]}" O="$dir" olddefconfig &&
		"${make[@]}" O="$dir" -j"$jobs" modules_prepare || return 1
	touch "$dir/.complete"
}

compile()
{
	local name=$1 arch cross config dir out log start=$SECONDS

	read -r arch cross config < <(awk -v name="$name" '$1 == name {
		print $2, $3, $4 }' <<<"$table")
	[ -n "$arch" ] || die "no architecture is called '$name': ${all[*]}"
	! excludes "gcc-$cross" ||
		die "gcc-multilib is installed, which excludes gcc-$cross: remove it"
	need_packages "gcc-$cross"
	make=(make -s -C "$source" ARCH="$arch" CROSS_COMPILE="$cross-")
	dir=$cache/arch-$name-$(basename "$source")
	out=$(own_dir "$top")/arch-$name
	log=$out.log
	set -- "${options[@]}"
	[ "$name" != arm64-64k ] || set -- "$@" -d ARM64_4K_PAGES -e ARM64_64K_PAGES
	say "$name: begins"
	with_lock "$dir.lock" configure "$dir" "$config" "$@" >"$log" 2>&1 || {
		sed 's/^/# /' "$log"
		echo "FAIL compile: $name: no configuration"
		return 1
	}
	# Objects that were made by the last run would hide their warnings.
	rm -rf "$out"
	mkdir -p "$out"
	cp -r Kbuild include compat rpcrdma2 xprtrdma2 svcrdma2 "$out"
	"${make[@]}" -C "$dir" M="$out" W=1 C=1 KBUILD_MODPOST_WARN=1 -j"$jobs" modules \
		>"$log" 2>&1 || echo "error: make ended with $?" >>"$log"
	# There is no Module.symvers; and sparse does not follow guard().
	if grep -E '(warning|error): ' "$log" | grep -v 'context imbalance' >"$log.said" ||
			[ "$(find "$out" -name '*rdma2.ko' | wc -l)" -ne 3 ]; then
		sed 's/^/# /' "$log.said"
		echo "FAIL compile: $name"
		return 1
	fi
	echo "ok compile: $name, three modules, no warning"
	echo "# $((SECONDS - start)) s"
}

cd "$top" || exit 1
[ $# -gt 0 ] || set -- "${all[@]}"
need_packages make gcc libc6-dev flex bison bc libssl-dev libelf-dev sparse
kdir=$(scripts/vm/kernel.sh uml) || exit 1
source=$(realpath "$kdir/build/source")
rc=0
for name in "$@"; do
	compile "$name" || rc=1
done
exit "$rc"
