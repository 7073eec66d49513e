#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests the modules with the kernels of Debian's releases, see vm/releases.sh:
#
#	kernels.sh [KERNEL...]	compiles without warnings, with the release's compiler
#	kernels.sh --names	prints the names of the kernels
#	kernels.sh --roots	only prepares the roots

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"
# shellcheck source=scripts/vm/releases.sh
. "$vmdir/releases.sh"

cd "$top" || exit 1
export KCFLAGS=-Werror

# Any output besides progress is a warning of the compiler or another tool. The objects are
# deleted then, because the next run would not rebuild them and print no warning.
compile()
{
	local kernel=$1 log kdir start=$SECONDS

	kdir=$(scripts/vm/kernel.sh --headers "$kernel") || return 1
	log=$(mktemp)
	if HEADERS=1 scripts/vm/modules.sh "$kernel" >/dev/null 2>"$log" &&
			! grep -qvE '^[0-9:]{8} ' "$log"; then
		echo "ok compile: $kernel, Linux $(cat "$kdir/release"): no warning"
		echo "# $((SECONDS - start)) s"
		rm -f "$log"
		return 0
	fi
	echo "FAIL compile: $kernel, Linux $(cat "$kdir/release")"
	sed 's/^/# /' "$log"
	rm -rf "$log" "$(build_dir "$kernel")/src"
	return 1
}

mapfile -t names < <(awk 'NF { print $1 }' <<<"$release_kernels")
case ${1:-} in
--names) printf '%s\n' "${names[@]}" ;;
--roots)
	for kernel in debian-6.1 debian-7.3; do
		scripts/vm/kernel.sh --headers "$kernel" >/dev/null || exit 1
	done ;;
*)	[ $# -gt 0 ] || set -- "${names[@]}"
	failed=0
	for kernel in "$@"; do
		compile "$kernel" || failed=1
	done
	exit "$failed" ;;
esac
