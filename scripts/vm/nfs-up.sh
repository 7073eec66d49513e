#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: starts a server, mounts its export on /mnt, and runs a command or a shell.

set -u
# shellcheck source=scripts/vm/nfs.sh
. "$(dirname "$0")/nfs.sh" || exit 2
# shellcheck source=scripts/vm/realm.sh
. "$(dirname "$0")/realm.sh" || exit 2

usage()
{
	cat >&2 <<END
usage: $0 [options] [-- command [argument...]]
	--proto P	rdma2 (default), rdma26; rdma, rdma6 for the kernel's own
	--vers V	3, 4.0, 4.1 or 4.2 (default)
	--device D	rxe (default) or siw
	--opts O	additional mount options
	--sec S		krb5, krb5i or krb5p, with a realm in the guest
END
	exit 2
}

proto=rdma2 vers=4.2 device=rxe opts='' sec=''
while [ $# -gt 0 ]; do
	case $1 in
	--proto|--vers|--device|--opts|--sec)
			printf -v "${1#--}" %s "$2"; shift ;;
	--)		shift; break ;;
	*)		usage ;;
	esac
	shift
done
[ $# -ge 1 ] || set -- "${SHELL:-/bin/bash}"

if [ -n "$sec" ]; then
	EXPORT_OPTIONS=sec=$sec nfs_host=$realm_server opts=sec=$sec${opts:+,$opts}
	realm_up || exit 1
fi
nfs_up "$proto" "$device" || exit 1
[ -z "$sec" ] || realm_daemons gssproxy || exit 1
mount_nfs "$proto" "$vers" /mnt "$opts" || exit 1
grep ' /mnt nfs' /proc/mounts
"$@"
rc=$?
# A module that stays in use, or a failed unmount, makes the run fail too.
cd / || exit 1
umount /mnt || rc=1
server_down
[ -z "$sec" ] || realm_down
exit "$rc"
