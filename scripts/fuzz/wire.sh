#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the tester's fuzzing mode (tester/) against this project's server and client, in a
# guest for each.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/../vm/common.sh"

usage()
{
	cat <<END
usage: make fuzz-wire [NAME=VALUE...]

Sends mutated messages to the server and to the client, beside a mount that has to work,
and prints one line per case. From the environment:

	DIRECTION	the end under test: server, client, or both one after the
			other (default)
	MESSAGES	messages to each end, at least (default 1000000)
	CONNECTIONS	connections to each end, at least (default 10000)
	SEED		seed of the conversations (default: random)
	RATE		messages per second, at most (default 480); 0: no limit
	JOBS		concurrent connections (default 4 to the server, 12 of clients)
	REPLAY		a single conversation, by the name that a failed run printed
	KERNEL		the guest (default uml-debug)

The output of the guests is in the cache, below fuzz-wire/.
END
}

case ${1:-} in
'')	;;
-h|--help) usage; exit ;;
*)	usage >&2; exit 2 ;;
esac

kernel=${KERNEL:-uml-debug}
rate=${RATE:-480}
messages=${MESSAGES:-1000000}
seed=${SEED:-$RANDOM}
case ${DIRECTION:-both} in
server|client)	directions=("$DIRECTION") ;;
both)	directions=(server client) ;;
*)	usage >&2; exit 2 ;;
esac

"$top/scripts/nfs-test.sh" --build "$kernel" fuzz-server || exit 1
settings=("MESSAGES=$messages" "CONNECTIONS=${CONNECTIONS:-10000}" "SEED=$seed"
	"JOBS=${JOBS:-}" "REPLAY=${REPLAY:-}")
if [ "$rate" -gt 0 ]; then
	settings+=("RATE=$rate")
	timeout=$((messages * 3 / rate + 900))
else
	timeout=$((messages / 100 + 900))
fi

# KASAN continues after its first report, so that the message that causes it can be found.
failed=0
for direction in "${directions[@]}"; do
	say "fuzzing the $direction, seed $seed, for at most $timeout s"
	"$top/scripts/vm.sh" "$kernel" --no-modules --mem 3072 --timeout "$timeout" \
		--append kasan_multi_shot --out "$cache/fuzz-wire/$direction" -- \
		env "${settings[@]}" "$vmdir/nfs-cases.sh" "fuzz-$direction" rdma2
	case $? in
	0)	echo "ok fuzz-wire $direction: kernel log clean" ;;
	1)	echo "ok fuzz-wire $direction: kernel log clean"; failed=1 ;;
	*)	echo "FAIL fuzz-wire $direction: the guest ended badly"; failed=1 ;;
	esac
done
exit "$failed"
