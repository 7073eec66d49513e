#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Removes rdma2 from DKMS, with its modules and sources: all versions, or all others than one.
# With several versions in DKMS, "dkms autoinstall" would install one after another.
#
#	dkms-remove.sh [VERSION]
#
# The tests set RDMA2_ROOT, together with a dkms that works there.

keep=${1:-}
sources=${RDMA2_ROOT:-}/usr/src tree=${RDMA2_ROOT:-}/var/lib/dkms/rdma2

# in_dkms [-v VERSION]
in_dkms()
{
	dkms status -m rdma2 "$@" </dev/null | sed -n 's|^rdma2/\([^,:]*\).*|\1|p'
}

versions()
{
	in_dkms
	find "$tree" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' -printf '%f\n' 2>/dev/null
}

# Removes the versions on its input. "dkms remove" succeeds also where it removes nothing: if the
# sources of a version are missing, which "dkms status" does not print once it was built, and if
# a build lacks modules.
remove_from_dkms()
{
	status=0
	while IFS= read -r version; do
		if [ ! -e "$tree/$version/source/dkms.conf" ] &&
				[ -z "$(in_dkms -v "$version" 2>/dev/null)" ]; then
			echo "rdma2: sources of $version are missing:" \
				"restore $sources/rdma2-$version," \
				"or remove $tree/$version and its modules" >&2
			status=1
		elif ! dkms remove -m rdma2 -v "$version" --all </dev/null; then
			status=1
		elif [ -e "$tree/$version" ]; then
			echo "rdma2: DKMS has not removed $tree/$version" >&2
			status=1
		fi
	done
	return "$status"
}

versions | grep -vFx -e "$keep" | sort -u | remove_from_dkms
status=$?

# Other modules and a user's copies have similar names.
for folder in "$sources"/rdma2-[0-9]*; do
	version=${folder#"$sources/rdma2-"}
	if [ "$version" != "$keep" ] && [ ! -L "$folder" ] && [ ! -e "$tree/$version" ] &&
			grep -sqFx 'PACKAGE_NAME="rdma2"' "$folder/dkms.conf" &&
			grep -qFx "PACKAGE_VERSION=\"$version\"" "$folder/dkms.conf" &&
			[ -z "$(in_dkms -v "$version")" ]; then
		echo "rdma2: removes $folder"
		rm -r "$folder" || status=1
	fi
done
exit "$status"
