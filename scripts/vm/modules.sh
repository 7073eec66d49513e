#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds this checkout's modules for a guest's kernel, outside the checkout, and prints
# their folder, which contains:
#
#	src		a copy of the sources, and the objects
#	root/lib/modules/RELEASE	the kernel's modules and this project's, for modprobe
#
# Builds for different kernels and checkouts have separate folders. One build serves all users
# of a kernel: kernels with KUnit get the modules for tests too, others those of make bench.
# SOURCE is another folder to take the sources from.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=scripts/vm/releases.sh
. "$vmdir/releases.sh"

kernel=${1:-uml}
more=(BENCH=1)
! has_test_modules "$kernel" || more=(KUNIT=1)
# In kernels with fault injection, faults/ limits it to these modules.
[[ ! $kernel =~ ^uml-(debug|smp|dma)$ ]] || more+=(FAULTS=1)
# ONLY=svcrdma2 builds this module alone and keeps the last builds of the others.
only=${ONLY:-rpcrdma2 xprtrdma2 svcrdma2 kunit bench faults}

copy_sources()
{
	mkdir -p "$out/src"
	# Objects in the checkout itself belong to another kernel and are excluded. The
	# contents decide whether a file is copied, and the copy gets a new time: a source
	# that is edited while a build runs would otherwise be older than that build's
	# objects.
	rsync -a --no-times --checksum --delete --prune-empty-dirs \
		--exclude=/compat/features.h --exclude=/kunit/vectors.h \
		--include=/Kbuild --include=/include/ --include=/compat/ \
		--include=/{rpcrdma2,xprtrdma2,svcrdma2,kunit,bench,faults}/ --exclude='/*' \
		--include='*/' --include='*.[ch]' --include=Kbuild --include='vectors.*' \
		--exclude='*' "${SOURCE:-$top}/" "$out/src/" >&2 || return 1
	for d in rpcrdma2 xprtrdma2 svcrdma2 kunit bench faults; do
		case " $only " in
		*" $d "*)	[ -e "$out/src/$d/Kbuild" ] && continue ;;
		esac
		mkdir -p "$out/src/$d"
		: >"$out/src/$d/Kbuild"
	done
}

# Creates modprobe's tree: links to the kernel's modules, copies of this project's, and the
# tables of both.
module_tree()
{
	local release tree

	release=$(cat "$kdir/release")
	tree=$out/root/lib/modules/$release
	if [ ! -e "$tree/.complete" ]; then
		rm -rf "$tree" && mkdir -p "$tree" &&
			cp -rs "$kdir/root/lib/modules/$release/." "$tree/" &&
			rm -f "$tree"/modules.{alias,dep,softdep,symbols,devname,weakdep}* \
				"$tree"/modules.builtin*.bin &&
			touch "$tree/.complete" || return
	fi
	# Guests may be loading modules that have not changed.
	mkdir -p "$tree/updates" &&
		find "$out/src" -name '*.ko' -exec install -C -m 644 -t "$tree/updates" {} + &&
		depmod -b "$out/root" "$release"
}

build()
{
	local make=(make)

	copy_sources || die "cannot copy the sources"
	# The modules for a kernel of another release are built with that release's compiler.
	[ ! -e "$kdir/chroot" ] || make=(in_root "$kdir/chroot" make)
	[[ $kernel != uml* ]] || make+=(ARCH=um)
	"${make[@]}" -s -C "$kdir/build" M="$out/src" W=1 "${more[@]}" \
		-j"$jobs" CONFIG_DEBUG_INFO_BTF_MODULES= modules >&2 ||
		die "the modules do not build for $kernel"
	# A kernel that is only compiled against has no modules.
	[ ! -d "$kdir/root" ] || module_tree
}

kdir=$("$vmdir/kernel.sh" ${HEADERS:+--headers} "$kernel") || exit 1
out=$(build_dir "$kernel")
# Checks of W=1 need Perl and Python.
need_packages rsync kmod make gcc perl python3
with_lock "$out.lock" build || exit 1
printf '%s\n' "$out"
