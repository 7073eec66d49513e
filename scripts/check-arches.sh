#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The modules compiled for other architectures, by Debian's cross compilers and sparse,
# against the defconfig of the 6.12 kernel there: other sizes of words and pages, and
# another byte order. Nothing is linked against the kernel, and nothing is run.
#
#	check-arches.sh [ARCH...]	arm64 arm64-64k riscv64 s390x ppc64le i386
#
# A skipped architecture fails the run with CI=true in the environment.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

# Name, its names in kbuild and in Debian, configuration, options of its own
table='
arm64		arm64	aarch64-linux-gnu	defconfig
arm64-64k	arm64	aarch64-linux-gnu	defconfig	-d ARM64_4K_PAGES -e ARM64_64K_PAGES
riscv64		riscv	riscv64-linux-gnu	defconfig
s390x		s390	s390x-linux-gnu		defconfig
ppc64le		powerpc	powerpc64le-linux-gnu	pseries_le_defconfig
i386		i386	i686-linux-gnu		i386_defconfig
'
mapfile -t all < <(awk 'NF { print $1 }' <<<"$table")
options=(-e INFINIBAND -e INFINIBAND_ADDR_TRANS -e IPV6 -e DEBUG_FS -m SUNRPC_XPRT_RDMA
	-e NFS_FS -e NFS_V4 -e NFS_V4_1 -m NFSD -e NFSD_V4 -d DEBUG_INFO_BTF -d WERROR)

# configure DIR CONFIG OPTION...: until it is as it should be
configure()
{
	local dir=$1 config=$2 set=("$source/scripts/config" --file "$1/.config")

	shift 2
	[ -e "$dir/.complete" ] && return 0
	mkdir -p "$dir"
	"${make[@]}" O="$dir" "$config" && "${set[@]}" "$@" &&
		"${make[@]}" O="$dir" olddefconfig || return 1
	# Kconfig drops an option that lacks another one.
	while [ $# -gt 0 ]; do
		case "$1 $("${set[@]}" -s "$2")" in
		"-e y"|"-m m"|"-d n"|"-d undef") ;;
		*)	echo "CONFIG_$2 is '$("${set[@]}" -s "$2")' in spite of '$1'"
			return 1 ;;
		esac
		shift 2
	done
	"${make[@]}" O="$dir" -j"$jobs" modules_prepare && touch "$dir/.complete"
}

compile()
{
	local name=$1 arch cross config own dir out log start=$SECONDS

	read -r arch cross config own < <(awk -v name="$name" '$1 == name {
		$1 = ""; print }' <<<"$table")
	[ -n "$arch" ] || die "no architecture is called '$name': ${all[*]}"
	need_cross_compiler "compile: $name" "gcc-$cross" || {
		[ "${CI:-}" = true ] || return 0
		echo "FAIL compile: $name: skipped, which fails this run, because CI=true"
		return 1
	}
	make=(make -s -C "$source" ARCH="$arch" CROSS_COMPILE="$cross-")
	# shellcheck disable=SC2086 # a list of words
	set -- "${options[@]}" $own
	dir=$cache/arch-$name-$(echo "$source $config $*" | sha1sum | cut -c1-10)
	out=$(own_dir "$top")/arch-$name
	log=$out.log
	say "$name: begins"
	with_lock "$dir.lock" configure "$dir" "$config" "$@" >"$log" 2>&1 || {
		sed 's/^/# /' "$log"
		echo "FAIL compile: $name: no configuration"
		return 1
	}
	# Debian 12's sparse rejects the extensions that gcc needs for RISC-V.
	cat >"$out.sparse" <<-'END'
		#!/bin/bash
		exec sparse "${@/#-march=rv*/-march=rv64imac}"
	END
	chmod +x "$out.sparse"
	# Objects of the last run would hide their warnings.
	rm -rf "$out"
	sync_sources "$out" Kbuild include compat rpcrdma2 xprtrdma2 svcrdma2
	"${make[@]}" -C "$dir" M="$out" W=1 C=1 CHECK="$out.sparse" KBUILD_MODPOST_WARN=1 \
		-j"$jobs" modules >"$log" 2>&1 || echo "error: make ended with $?" >>"$log"
	# There is no Module.symvers; and sparse does not follow guard().
	if grep -E '(warning|error|WARNING|ERROR): ' "$log" | grep -vE \
			'context imbalance|Module\.symvers|modpost: .*(undefined!|unresolved symbol)' \
			>"$log.said" ||
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
