#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs canary.py, after installing Python.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

need_packages python3
exec "$top/scripts/canary.py" "$@"
