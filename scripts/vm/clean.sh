#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Removes the cache: kernels, builds, logs of runs.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/common.sh"

[ -e "$cache/.rpcrdma2" ] || [ "$cache" -ef "$default_cache" ] ||
	die "$cache is not removed: no script of this checkout made it"
[[ $(realpath "$top")/ != "$(realpath "$cache")"/* ]] ||
	die "$cache is not removed: this checkout is in it"
say "removing $cache"
rm -rf "${cache:?}"
