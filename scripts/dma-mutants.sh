#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks that the guests detect missing unmap and sync calls: removes one call at a time,
# and runs the group "files" over a device with DMA addresses of its own. The group has to
# fail then, and to pass with all calls. The large messages make the server gather Replies
# too. A mutant may also make a mount wait for a Reply forever, so a guest counts as a
# detection if it takes three times the processor time that it takes with all calls.
#
#	dma-mutants.sh [FILE...]	only the calls in these files
#
# Exit status: 0; 1 a removed call was not detected; 2 the group fails with all calls, or a
# guest did not run.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

calls='\b(ib_dma_(un|sync_)\w+|dma_unmap_\w+|rdma_rw_ctx_destroy)\('
calls+='|\brpcrdma2_recv_sync_pages\('
# Not reachable: the pieces are counted before they are mapped
unreached='ib_dma_unmap_page\(device, dma, '

export DMA=${DMA:-strict} VERSIONS=${VERSIONS:-4.2} RECEIVE_SIZE=65536 SOURCE
SOURCE=$(mktemp -d) log=$(mktemp)
trap 'rm -rf "$SOURCE" "$log"' EXIT

# sources [FILE LINE]: copies the sources, without the statement that begins in this line
sources()
{
	rm -rf "${SOURCE:?}"/*
	git ls-files -z | rsync -a --from0 --files-from=- . "$SOURCE"
	[ $# -eq 0 ] || perl -0pi -e "s/^(.*\n){$(($2 - 1))}\t+\K[^;]*//" "$SOURCE/$1"
}

build()
{
	"$top/scripts/nfs-test.sh" --build uml-dma files >"$log" 2>&1 || { cat "$log"; exit 2; }
}

detected()
{
	! TIMEOUT=$limit "$top/scripts/nfs-test.sh" --built uml-dma files >"$log" 2>&1 || return 1
	# A guest that ran has printed a case.
	grep -q 'no end after' "$log" || grep '^\(ok\|FAIL\) ' "$log" | grep -qv 'the guest ended with' ||
		{ cat "$log"; exit 2; }
}

cd "$top" || exit 2
if [ $# -eq 0 ]; then
	set -- {rpcrdma2,svcrdma2,xprtrdma2}/*.c
	[ "$(grep -hE "$calls" "$@" | grep -cE "$unreached")" -eq 1 ] ||
		die "not one call matches '$unreached'"
fi
found=$(grep -HnE "$calls" "$@" | grep -vE "$unreached" | grep -E '^[^:]+:[0-9]+:	')
[ -n "$found" ] || die "no call in $*"
sources
build
limit='' failed=0
! detected || { cat "$log"; exit 2; }
limit=$(sed -nE 's/^# .* ([0-9]+) \+ ([0-9]+) s of a processor$/3 * (\1 + \2) + 60/p' "$log")
[ -n "$limit" ] || die "nfs-test.sh does not print the processor time of the group"
limit=$((limit))
while IFS=: read -r file line call; do
	sources "$file" "$line"
	build
	if detected; then
		echo "ok $file:$line is detected: $call"
		grep -E '^FAIL|rxe: DMA|DMA-API' "$log" | head -n 2 | sed 's/^/#	/'
	else
		echo "FAIL $file:$line is not detected: $call"
		failed=1
	fi
done <<<"$found"
exit "$failed"
