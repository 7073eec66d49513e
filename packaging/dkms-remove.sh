#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Removes rdma2 from DKMS, with its modules and sources: all versions, or all others than one.
# With several versions in DKMS, "dkms autoinstall" would install one after another.
#
#	dkms-remove.sh [VERSION]

keep=${1:-none} status=0
sources=${DESTDIR:-}/usr/src

# A folder without dkms.conf is not one of "make dkms-install".
versions()
{
	dkms status -m rdma2 | sed -n 's|^rdma2/\([^,: ]*\).*|\1|p'
	for conf in "$sources"/rdma2-*/dkms.conf; do
		conf=${conf%/dkms.conf}
		echo "${conf#"$sources/rdma2-"}"
	done
}

for version in $(versions | grep -vFx -e "$keep" -e '*' | sort -u); do
	if [ -n "$(dkms status -m rdma2 -v "$version")" ]; then
		dkms remove -m rdma2 -v "$version" --all || { status=1; continue; }
	fi
	rm -rf "$sources/rdma2-$version"
done
exit "$status"
