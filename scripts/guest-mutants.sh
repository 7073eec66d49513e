#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks that groups of cases detect faults of the modules: changes one place at a time, and runs
# a group that has to fail then, and to pass without a change.
#
#	guest-mutants.sh dma [FILE...]	each call that unmaps or syncs is left out, with a
#					device that has DMA addresses of its own; only the calls
#					in these files
#	guest-mutants.sh bounds [GROUP]	each change below "bounds" is made, or those of this group
#	guest-mutants.sh		both, one after the other
#
# A mutant may also make a mount wait for a Reply forever, so a guest counts as a detection if it
# takes three times the processor time that it takes without a change.
#
# Exit status: 0; 1 a mutant was not detected; 2 a group fails without a change, or a guest did
# not run.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

calls='\b(ib_dma_(un|sync_)\w+|dma_unmap_\w+|rdma_rw_ctx_destroy)\('
calls+='|\brpcrdma2_recv_sync_pages\('
# Not reachable: the pieces are counted before they are mapped
unreached='ib_dma_unmap_page\(device, dma, '

# GROUP, FILE, CHANGE OF THE FILE in Perl, FAULT
# shellcheck disable=SC2016 # Perl's variables
bounds='
bounds	svcrdma2/pure.h	s{(left = most) / 2 - address}{$1}	an address may have all pages
bounds	svcrdma2/pure.h	s{return own \+ more <= min}{return more <= min}	a connection may have more than a quarter
bounds	svcrdma2/svcrdma2.h	s{(SVC2_ESTABLISH_TIMEOUT\t\(30)}{${1}0}	a connection may be half up for 300 s
bounds	svcrdma2/sendto.c	s{stay < SVC2_TX_RESERVE}{true}	no send context is freed after a burst
bounds	svcrdma2/limits.c	s{!wrs \|\| call->sm_entries}{true}	a Call is taken up beside a full Send Queue
crowd	svcrdma2/pure.h	s{(left = most) / 2 - address}{$1}	an address may have all pages
crowd	svcrdma2/recvfrom.c	s{(\tint ret;\n)(\n\trpcrdma2_rqst_begin.*?\n)(\n)}{$1\tstatic atomic_t turn;\n$2\tif (atomic_inc_return(&turn) & 3) {\n\t\tsvc_xprt_received(xprt);\n\t\treturn 0;\n\t}\n$3}s	a Call takes four turns
flood	svcrdma2/recvfrom.c	s{(\tint ret;\n)(\n\trpcrdma2_rqst_begin.*?\n)(\n)}{$1\tstatic atomic_t turn;\n$2\tif (atomic_inc_return(&turn) & 3) {\n\t\tsvc_xprt_received(xprt);\n\t\treturn 0;\n\t}\n$3}s	a Call takes four turns'

SOURCE=$(mktemp -d) log=$(mktemp)
export SOURCE
trap 'rm -rf "$SOURCE" "$log"' EXIT

# sources [FILE CHANGE]: copies the sources, with this change
sources()
{
	rm -rf "${SOURCE:?}"/*
	git ls-files -z | rsync -a --from0 --files-from=- . "$SOURCE"
	[ $# -ne 0 ] || return
	perl -0pi -e "$2" "$SOURCE/$1"
	! cmp -s "$1" "$SOURCE/$1" || die "'$2' changes nothing in $1"
}

build()
{
	"$top/scripts/nfs-test.sh" --build "$kernel" "$1" >"$log" 2>&1 || { cat "$log"; exit 2; }
}

# detected GROUP: runs it
detected()
{
	! TIMEOUT=$limit "$top/scripts/nfs-test.sh" --built "$kernel" "$1" >"$log" 2>&1 || return 1
	# A guest that ran has printed a case.
	grep -q 'no end after' "$log" || grep '^\(ok\|FAIL\) ' "$log" | grep -qv 'the guest ended with' ||
		{ cat "$log"; exit 2; }
}

# limit_of GROUP: runs it without a change, and prints the processor time a mutant may take
limit_of()
{
	sources
	build "$1"
	limit=''
	! detected "$1" || { cat "$log"; exit 2; }
	limit=$(sed -nE 's/^# .* ([0-9]+) \+ ([0-9]+) s of a processor$/3 * (\1 + \2) + 60/p' "$log")
	[ -n "$limit" ] || die "nfs-test.sh does not print the processor time of the group"
	limit=$((limit))
}

cd "$top" || exit 2
case ${1:-} in
dma)
	shift
	kernel=uml-dma
	export DMA=${DMA:-strict} VERSIONS=${VERSIONS:-4.2} RECEIVE_SIZE=65536
	if [ $# -eq 0 ]; then
		set -- {rpcrdma2,svcrdma2,xprtrdma2}/*.c
		[ "$(grep -hE "$calls" "$@" | grep -cE "$unreached")" -eq 1 ] ||
			die "not one call matches '$unreached'"
	fi
	found=$(grep -HnE "$calls" "$@" | grep -vE "$unreached" | grep -E '^[^:]+:[0-9]+:	')
	[ -n "$found" ] || die "no call in $*"
	# The large messages make the server gather Replies too.
	rows=$(while IFS=: read -r file line call; do
		printf 'files\t%s\ts/^(.*\\n){%s}\\t+\\K[^;]*//\t%s without %s\n' \
			"$file" $((line - 1)) "line $line" "$call"
	done <<<"$found")
	;;
bounds)
	kernel=uml
	rows=$(grep "^${2:-[a-z]}" <<<"$bounds") || die "no changes for group $2"
	;;
'')	worst=0
	for list in dma bounds; do
		"$top/scripts/guest-mutants.sh" "$list" || worst=$(($? > worst ? $? : worst))
	done
	exit "$worst" ;;
*)	die "no list of mutants is called '$1': dma bounds" ;;
esac

failed=0 last=''
while IFS=$'\t' read -r group file change fault; do
	[ "$group" = "$last" ] || limit_of "$group"
	last=$group
	sources "$file" "$change"
	build "$group"
	if detected "$group"; then
		echo "ok $group detects: $file: $fault"
		grep -E '^FAIL|rxe: DMA|DMA-API' "$log" | head -n 2 | sed 's/^/#	/'
	else
		echo "FAIL $group does not detect: $file: $fault"
		failed=1
	fi
done <<<"$rows"
exit "$failed"
