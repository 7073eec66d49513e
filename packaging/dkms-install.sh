#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Installs the modules of this version by DKMS for one kernel, and anew for all kernels that
# have modules of any version. Other versions are removed, so that an older one can also
# replace a newer one:
#
#	dkms-install.sh VERSION RELEASE
#
# DKMS keeps modules of the same version, which other sources may have built, and deletes them
# before it builds with --force. So each build is tried in another tree: a kernel without
# headers, for example, keeps its modules of this version. Other versions stay if the build
# for RELEASE fails. The exit status is for RELEASE.

version=$1 release=$2
tree=${RDMA2_ROOT:-}/var/lib/rdma2-dkms.$$
trap 'rm -rf "$tree"' EXIT
trap 'exit 130' INT TERM HUP

# for_kernel COMMAND KERNEL [OPTION...]
for_kernel()
{
	command=$1 kernel=$2
	shift 2
	dkms "$command" -m rdma2 -v "$version" -k "$kernel" "$@"
}

# with_state STATE [-v VERSION]: prints the kernels whose modules are "installed", or only
# "built"
with_state()
{
	state=$1
	shift
	dkms status -m rdma2 "$@" | sed -n "s/.*, \([^,]*\), [^,]*: $state.*/\1/p" | sort -u
}

builds()
{
	mkdir "$tree" && for_kernel build "$1" --dkmstree "$tree"
	status=$?
	[ "$status" -eq 0 ] || tail -n 20 "$tree/rdma2/$version/build/make.log" 2>/dev/null
	rm -rf "$tree"
	return "$status"
}

replace()
{
	if with_state installed -v "$version" | grep -qFx "$1"; then
		builds "$1" && for_kernel remove "$1" || return
	fi
	for_kernel install "$1"
}

failed='' lost=''
installed=$(with_state installed | grep -vFx "$release")
others=$(dkms status -m rdma2 | grep -v "^rdma2/${version}[,:]")
if [ -n "$others" ] && ! builds "$release"; then
	echo "rdma2: DKMS has not built these sources for: $release; another version stays" >&2
	exit 1
fi
"${0%/*}/dkms-remove.sh" "$version" || exit
for kernel in $(with_state built -v "$version"); do
	for_kernel remove "$kernel"
done
for kernel in $release $installed; do
	replace "$kernel" || failed="$failed $kernel"
done
for kernel in $failed; do
	with_state installed -v "$version" | grep -qFx "$kernel" || lost="$lost $kernel"
done
[ -z "$failed" ] || echo "rdma2: DKMS has not built these sources for:$failed" >&2
[ -z "$lost" ] || echo "rdma2: DKMS has no modules now for:$lost; if their headers are" \
	"missing, install them, and run dkms autoinstall -k RELEASE" >&2
case "$failed " in
*" $release "*)	exit 1 ;;
esac
