# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: peers that break the protocol on purpose. Each case
# makes a peer do one such thing, and shows that the peer did it and that
# nothing but its own RPC or its own connection suffered.

# shellcheck source=scripts/vm/hostile-servers.sh
. "$(dirname "${BASH_SOURCE[0]}")/hostile-servers.sh" || exit 2
# shellcheck source=scripts/vm/hostile-clients.sh
. "$(dirname "${BASH_SOURCE[0]}")/hostile-clients.sh" || exit 2

group_hostile()
{
	nfs_up rdma2 || { fail "server"; return; }
	hostile_servers
	[ -n "${CASES:-}" ] || hostile_clients
	finish
}
