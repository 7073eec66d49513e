#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the Debian packages of this checkout and their source package, in a copy of all
# files except those that git ignores.
#
#	deb.sh [DIRECTORY]	where they go; deb/ in this checkout

set -eu
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/../scripts/vm/common.sh"

cd "$top"
out=${1:-deb}
need_packages build-essential debhelper dh-dkms dpkg-dev lintian python3-docutils
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version=$(sed -n 's/^#define RPCRDMA2_RELEASE "\(.*\)"/\1/p' include/rpcrdma2/release.h)
packaged=$(dpkg-parsechangelog -S Version)
[ "$version" = "$packaged" ] ||
	die "the modules have version $version, debian/changelog has $packaged"

mkdir "$work/rdma2"
git ls-files -z --cached --others --exclude-standard -- . ':!deb' |
	while IFS= read -r -d '' f; do [ ! -f "$f" ] || printf '%s\0' "$f"; done |
	xargs -0 cp --parents -t "$work/rdma2"
(cd "$work/rdma2" && dpkg-buildpackage -us -uc) >"$work/log" 2>&1 ||
	{ cat "$work/log" >&2; die "the packages do not build"; }
mkdir -p "$out"
rm -f "$out"/rdma2_*.{dsc,tar.*,changes,buildinfo} "$out"/rdma2-{dkms,utils}_*.deb
cp -t "$out" "$work"/rdma2*.*
lintian --fail-on error,warning --info --pedantic "$out"/*.dsc "$out"/*.deb >&2
ls "$out"/*.deb
