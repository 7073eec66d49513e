#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots two guests of one kernel, "server" and "client", joined by a private link, and runs
# a command in each:
#
#	pair.sh KERNEL [options of vm.sh] -- server's command -- client's command
#
# The link is a pair of datagram sockets; each message is an Ethernet frame. This script
# holds the sockets open, so a guest that reboots keeps its link. Both guests mount one
# folder of the host as /run/share, in which this script creates NAME.ended when a guest has
# ended.
#
# Exit status: the larger one of vm.sh's two exit statuses.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/common.sh"

# A burst of RDMA Reads exceeds the system's limit for socket buffers; only root may raise
# it.
if [ -z "${PAIR_LINK:-}" ]; then
	export PAIR_LINK="8 9"
	exec perl -MSocket -MPOSIX=dup2 -e '
		socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, PF_UNSPEC)
			or die "no link: $!\n";
		for ($a, $b) {
			# SO_SNDBUFFORCE
			setsockopt($_, SOL_SOCKET, 32, 4 << 20) or
			setsockopt($_, SOL_SOCKET, SO_SNDBUF, 4 << 20);
		}
		dup2(fileno($a), 8);
		dup2(fileno($b), 9);
		exec(@ARGV) or die "$ARGV[0]: $!\n"' "$0" "$@"
fi

usage()
{
	sed -n '/^#	pair.sh/s/^#	/usage: /p' "$0" >&2
	exit 2
}

[ $# -ge 1 ] || usage
kernel=$1
shift
options=() command=()
build=1
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	[ "$1" = --no-modules ] && build=0
	options+=("$1")
	shift
done
[ $# -gt 0 ] && shift
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	command+=("$1")
	shift
done
[ $# -ge 2 ] || usage
shift

# A second build would replace the modules while the first guest uses them.
if [ "$build" -eq 1 ]; then
	"$vmdir/modules.sh" "$kernel" >/dev/null || exit 125
	options+=(--no-modules)
fi

mkdir -p "$cache/run"
run=$(mktemp -d "$cache/run/pair-$kernel-$(date +%H%M%S)-XXXXXX")
mkdir "$run/share"

declare -A pid name
# start NODE FD COMMAND...: starts one guest in the background
start()
{
	local node=$1 fd=$2

	shift 2
	"$top/scripts/vm.sh" "$kernel" "${options[@]}" --node "$node" \
		--link "$fd" --share "$run/share" --out "$run/$node" -- "$@" &
	pid[$node]=$!
	name[$!]=$node
}

trap 'kill "${pid[@]}" 2>/dev/null; wait; exit 130' INT TERM HUP
start server "${PAIR_LINK% *}" "${command[@]}"
start client "${PAIR_LINK#* }" "$@"
worst=0
for _ in server client; do
	wait -n -p one "${pid[@]}"
	status=$?
	node=${name[$one]}
	unset "pid[$node]"
	touch "$run/share/$node.ended"
	[ "$status" -eq 0 ] || say "$kernel: the $node ended with $status"
	[ "$status" -gt "$worst" ] && worst=$status
	[ -s "$run/$node/rc" ] && continue
	# Without its peer the remaining guest has nothing left to do.
	kill "${pid[@]}" 2>/dev/null
	wait
	break
done
[ "$worst" -eq 0 ] || say "$kernel: logs of both are below $run"
exit "$worst"
