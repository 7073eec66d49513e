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
#	guest-mutants.sh wakeups [FILE]	each change below "wakeups" is made, or those of this file;
#					a unit test has to fail
#	guest-mutants.sh		all three, one after the other
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

# Wakeups that would be lost: a task does not look a second time, or does so too early. make mutants
# does the same with the code that runs in user space, but leaves its barriers.
# shellcheck disable=SC2016 # Perl's variables
wakeups='
kunit	include/rpcrdma2/conn.h	s{\tif \(!rpcrdma2_regions_awaited\(co\)\)\n\t\txprt_write_space\(xprt\);\n}{}	an RPC that waits for regions looks once
kunit	include/rpcrdma2/conn.h	s{(\txprt_wait_for_buffer_space\(xprt\);\n)(\t/\* Regions.*?\);\n)}{$2$1}s	it looks before the RPC layer knows
kunit	rpcrdma2/mr.c	s{!rg->rg_needed && }{}	the pool frees regions while an RPC waits
kunit	svcrdma2/backchannel.c	s{return svc2_bc_unless_gone\(sp, xprt, -EAGAIN\)}{return -EAGAIN}	a callback waits for regions of a lost connection
kunit	svcrdma2/backchannel.c	s{(\t\trpcrdma2_await_regions[^;]*;\n)\t\treturn (svc2_bc_unless_gone[^;]*;\n)}{\t\tret = $2$1\t\treturn ret;\n}	it looks at the connection before the RPC layer knows
kunit	svcrdma2/backchannel.c	s{\tsmp_mb\(\);\n(\tif \(likely\(!test_bit\(XPT_DEAD)}{$1}	no barrier before a callback looks at the connection
kunit	svcrdma2/limits.c	s{smp_mb__after_atomic\(\);\n(\treturn svc2_may_receive)}{$1}	no barrier before the second look for room
kunit	svcrdma2/limits.c	s{smp_mb__after_atomic\(\);\n(\tspin_unlock\(&sp->sp_recv_lock\);\n\tsvc_xprt_enqueue)}{$1}	no barrier between a Call and its wakeup
kunit	svcrdma2/limits.c	s{\tsmp_mb\(\);\t/\* pairs with svc2_pages_serve\(\) \*/\n}{}	no barrier before the second look at the quota
kunit	svcrdma2/limits.c	s{(the waiter finds what they[^;]*?)\tsmp_mb\(\);\n}{$1}	no barrier before a Call looks for pages
kunit	svcrdma2/limits.c	s{\tsmp_mb__after_atomic\(\);\n(\t/\*\n\t \* Pairs with svc2_pages_wait_ends)}{$1}	no barrier between pages and the look for Calls that wait
kunit	svcrdma2/limits.c	s{\tsmp_mb\(\);\n(\tif \(unlikely\(READ_ONCE\(svc2_pages_waiters)}{$1}	no barrier between returned pages and that look
kunit	svcrdma2/limits.c	s{/\* pairs with the barrier in svc2_has_wspace\(\) \*/\n\tsmp_mb\(\);}{}	no barrier between units and the search for a mark
kunit	svcrdma2/recvfrom.c	s{\|\|\n\t    READ_ONCE\(sp->sp_event\)}{}	a thread forgets an event
kunit	svcrdma2/recvfrom.c	s{!list_empty\(&sp->sp_start_q\) \|\| (!list_empty\(&sp->sp_ready_q\) \|\|)}{$1}	a thread forgets a Call before its RDMA Reads
kunit	svcrdma2/recvfrom.c	s{ \|\| !list_empty\(&sp->sp_ready_q\)( \|\|)}{$1}	a thread forgets a Call with its data
kunit	svcrdma2/recvfrom.c	s{\tclear_bit(\(XPT_DATA[^;]*;\n)(.*?READ_ONCE\(sp->sp_event\)\)\n\t\tset_bit[^;]*;\n)}{$2\telse\n\t\tclear_bit$1}s	XPT_DATA is cleared after the look
kunit	svcrdma2/recvfrom.c	s{(READ_ONCE\(sp->sp_event\)\)\n\t\tset_bit[^;]*;)}{$1\n\telse\n\t\tclear_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);}	XPT_DATA is cleared after the look, too
kunit	svcrdma2/recvfrom.c	s{(\tclear_bit\(SVC2_F_CHANGED, [^;]*;\n)(.*?svc2_sizes_update\(sp\);\n)}{$2$1}s	a change during an update is forgotten
kunit	svcrdma2/recvfrom.c	s{\tsmp_mb__after_atomic\(\);\n(\tsvc2_sizes_update)}{$1}	no barrier before the update of sizes
kunit	svcrdma2/recvfrom.c	s{\tsmp_mb__after_atomic\(\);\n(\tcall = svc2_recv_take_call)}{$1}	no barrier before the look for messages
kunit	xprtrdma2/req.c	s{\t\tif \(likely\(!READ_ONCE\(xprt->backlog.qlen\)\) .*?(\t\t)\treturn;}{$1return;}s	a request that comes back wakes no task
kunit	xprtrdma2/send.c	s{if \(!rpcrdma2_sq_take\(&ep->ep_conn, count, control\)\)}{if (true)}	a Call that waits for entries looks once
kunit	xprtrdma2/send.c	s{(\txprt_wait_for_buffer_space.*?smp_mb__after_atomic\(\);\n)(\tif \(!rpcrdma2_sq_take[^\n]*\n)}{$2$1}s	it looks before the RPC layer knows
kunit	xprtrdma2/send.c	s{\tsmp_mb__after_atomic\(\);\n}{}	no barrier before its second look
kunit	xprtrdma2/send.c	s|rpcrdma2_sq_take(\(&ep->ep_conn), count, control\)\) \{|rpcrdma2_units_try$1.co_sq.sq_units, count, 0)) {|	its second look leaves no mark
kunit	xprtrdma2/send.c	s{\txprt_write_space\(xprt\);\n(\treturn true;)}{$1}	the RPC layer waits after a second look that succeeds
kunit	xprtrdma2/send.c	s{\t\trpcrdma2_await_regions[^;]*;\n}{}	a Call without a region does not wait
kunit	xprtrdma2/transport.c	s{(noncongested\(xprt, task\);\n.*?)req = xprt2_req_get[^;]*;}{$1req = NULL;}s	a task in the backlog looks once
kunit	xprtrdma2/transport.c	s{\tsmp_mb\(\);\n(\treq = xprt2_req_get)}{$1}	no barrier before its second look
kunit	xprtrdma2/transport.c	s{(\txprt_add_backlog_noncongested[^;]*;\n)(.*?\n\t\}\n)(?=\})}{$2$1}s	it looks before it is there'

SOURCE=$(mktemp -d) log=$(mktemp)
export SOURCE
# Functions that a mutant enters are not those of the modules (coverage.sh).
unset COVERAGE
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
	[ "$1" != kunit ] || return 0	# kunit.sh builds, too
	"$top/scripts/nfs-test.sh" --build "$kernel" "$1" >"$log" 2>&1 || { cat "$log"; exit 2; }
}

# detected GROUP: runs it
detected()
{
	if [ "$1" = kunit ]; then
		! "$top/scripts/kunit.sh" "$kernel" >"$log" 2>&1 || return 1
		grep -q "^FAIL kunit $kernel .*: " "$log" || { cat "$log"; exit 2; }
		return 0
	fi
	! TIMEOUT=$limit "$top/scripts/nfs-test.sh" --built "$kernel" "$1" >"$log" 2>&1 || return 1
	# A guest that ran has printed a case; simulated time ends one that hangs.
	grep -q 'no end after\|has not ended within a day' "$log" ||
		grep '^\(ok\|FAIL\) ' "$log" | grep -qv 'the guest ended with' ||
		{ cat "$log"; exit 2; }
}

# limit_of GROUP: runs it without a change, and prints the processor time a mutant may take
limit_of()
{
	sources
	build "$1"
	limit=''
	! detected "$1" || { cat "$log"; exit 2; }
	[ "$1" != kunit ] || return 0
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
	[ $# -gt 0 ] || set -- {rpcrdma2,svcrdma2,xprtrdma2}/*.c
	found=$(grep -HnE "$calls" "$@" | grep -E '^[^:]+:[0-9]+:	')
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
wakeups)
	kernel=uml
	rows=$(grep -F "kunit	${2:-}" <<<"$wakeups") || die "no changes in $2"
	;;
'')	worst=0
	for list in dma bounds wakeups; do
		"$top/scripts/guest-mutants.sh" "$list" || worst=$(($? > worst ? $? : worst))
	done
	exit "$worst" ;;
*)	die "no list of mutants is called '$1': dma bounds wakeups" ;;
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
