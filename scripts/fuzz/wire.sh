#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tester's fuzzing mode (tester/) against these ends, in a guest for each.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/../vm/common.sh"

usage()
{
	cat <<END
usage: make fuzz-wire [NAME=VALUE...]

Mutated conversations with the server and with the client, beside a mount that has
to be well; one line for each thing that has to be so. From the environment:

	DIRECTION	the end under test: server, client, or both one after the
			other (default)
	MESSAGES	so many to each at least (default 1000000)
	CONNECTIONS	on so many at least (default 10000)
	SEED		of the conversations (default: another one each time)
	RATE		messages a second at most (default 480); 0 for no limit, and
			no limit of the mount's latency either
	JOBS		connections at a time (default 4 to the server, 12 of clients)
	REPLAY		one conversation only, as a failed run has named it
	KERNEL		the guest (default uml-debug)

What the guest wrote is in the cache, below fuzz-wire/.
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
	settings+=("RATE=$rate" FACTOR=2)
	timeout=$((messages * 3 / rate + 900))
else
	timeout=$((messages / 100 + 900))
fi

# The guest goes on after a first report of KASAN, so that what caused it is found.
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
