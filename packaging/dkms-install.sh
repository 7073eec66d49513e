#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Installs the modules of this version by DKMS for one kernel, and anew for all kernels that
# have them:
#
#	dkms-install.sh VERSION RELEASE
#
# DKMS keeps modules of the same version, which other sources may have built, and deletes them
# before it builds with --force. So each build is tried in another tree: a kernel without
# headers, for example, keeps its modules. The exit status is for RELEASE.

version=$1 release=$2
tree=${DESTDIR:-}/var/lib/rdma2-dkms.$$
trap 'rm -rf "$tree"' EXIT
trap 'exit 130' INT TERM HUP

# for_kernel COMMAND KERNEL [OPTION...]
for_kernel()
{
	command=$1 kernel=$2
	shift 2
	dkms "$command" -m rdma2 -v "$version" -k "$kernel" "$@"
}

# with_state STATE: prints the kernels whose modules are "installed", or only "built"
with_state()
{
	dkms status -m rdma2 -v "$version" | sed -n "s/.*, \([^,]*\), [^,]*: $1.*/\1/p"
}

replace()
{
	mkdir "$tree" && for_kernel build "$1" --dkmstree "$tree"
	status=$?
	[ "$status" -eq 0 ] || tail -n 20 "$tree/rdma2/$version/build/make.log" 2>/dev/null
	rm -rf "$tree"
	[ "$status" -eq 0 ] && for_kernel remove "$1" && for_kernel install "$1"
}

failed=
for kernel in $(with_state built); do
	for_kernel remove "$kernel"
done
installed=$(with_state installed)
echo "$installed" | grep -qFx "$release" || for_kernel install "$release" || failed=" $release"
for kernel in $installed; do
	replace "$kernel" || failed="$failed $kernel"
done
[ -z "$failed" ] || echo "rdma2: DKMS has not built these sources for:$failed" >&2
case "$failed " in
*" $release "*)	exit 1 ;;
esac
