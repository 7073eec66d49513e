#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Empties the cache: kernels, builds, logs of runs.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/common.sh"

case $cache in
/|"$HOME"|"$top")
	die "refusing to empty $cache" ;;
esac
say "emptying $cache"
rm -rf "${cache:?}"
