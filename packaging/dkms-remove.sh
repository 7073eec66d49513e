#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Removes rdma2 from DKMS, with its modules and sources: all versions, or all others than one.
# With several versions in DKMS, "dkms autoinstall" would install one after another. If DKMS
# cannot remove one of them, because its sources or some of its modules are missing, all versions
# stay.
#
#	dkms-remove.sh [VERSION]
#	dkms-remove.sh --is-copy FOLDER		only checks whether a removal includes this folder
#
# The tests set RDMA2_ROOT, together with a dkms that works there.

keep=${1:-}
sources=${RDMA2_ROOT:-}/usr/src tree=${RDMA2_ROOT:-}/var/lib/dkms/rdma2

die()
{
	echo "rdma2: $*" >&2
	exit 1
}

# Other modules and a user's copies have similar names. "make dkms-uninstall" may run in a copy.
is_copy()
{
	grep -sqFx 'PACKAGE_NAME="rdma2"' "$1/dkms.conf" &&
		grep -qFx "PACKAGE_VERSION=\"${1##*/rdma2-}\"" "$1/dkms.conf" &&
		[ ! -L "$1" ] && [ ! -e "$1/.git" ] && [ "$(realpath "$1")" != "$(pwd -P)" ]
}

if [ "$keep" = --is-copy ]; then
	is_copy "$2"
	exit
fi
command -v dkms >/dev/null || die "dkms is not installed"

# For a version without sources "dkms status" of DKMS 3.2 has the state "broken"; that of 3.0 ends
# at the first one that was built.
versions=$(find "$tree" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' -printf '%f\n' 2>/dev/null |
	sort)
listed=$(dkms status -m rdma2 | sed -n -e '/: broken$/d' -e 's|^rdma2/\([^,:]*\).*|\1|p')
version=$(echo "$versions" | grep -vFx -e "$listed" | head -n 1)
[ -z "$version" ] || die "sources of $version are missing: restore $sources/rdma2-$version" \
	"and $tree/$version/source, which links to it," \
	"or remove $tree/$version and its modules, see install.rst"
# If the build for a kernel lacks a module, DKMS 3.0 removes none of its modules, 3.2 only others.
# For this kernel DKMS 3.0 does not build the version to keep anew, either.
find "$tree" -maxdepth 1 -name 'kernel-*' 2>/dev/null | while read -r link; do
	set -- "$link"/module/*rdma2.ko*
	[ $# -ge 3 ] || die "modules of $tree/$(readlink "$link") are missing:" \
		"remove the version and its modules, see install.rst"
done || exit
for version in $(echo "$versions" | grep -vFx -e "$keep"); do
	dkms remove -m rdma2 -v "$version" --all || die "DKMS has not removed $version"
	rm -rf "${tree:?}/$version"	# DKMS 3.0 keeps an incomplete build
done
rmdir "$tree" 2>/dev/null

for folder in "$sources"/rdma2-[0-9]*; do
	if [ "$folder" != "$sources/rdma2-$keep" ] && is_copy "$folder"; then
		echo "rdma2: removes $folder"
		rm -r "$folder" || exit
	fi
done
