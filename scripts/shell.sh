#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Opens a prompt in a guest with the modules loaded and an export mounted on /mnt. PROTO,
# VERS, DEVICE and OPTS select another mount. SEC=krb5p mounts with Kerberos, in a realm of
# the guest: root has the machine's ticket, and "su alice -c kinit", with the password
# "secret", gets a user's ticket.

set -u
kernel=${1:-uml}
cd "$(dirname "$0")/.." || exit 1
[ -t 0 ] || { echo "$0: needs a terminal" >&2; exit 2; }
exec scripts/vm.sh "$kernel" --interactive -- scripts/vm/nfs-up.sh \
	--proto "${PROTO:-rdma2}" --vers "${VERS:-4.2}" \
	--device "${DEVICE:-rxe}" --opts "${OPTS:-}" \
	--sec "${SEC:-}"
