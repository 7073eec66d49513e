#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# File tests and failure tests; each group runs in a guest of its own:
#
#	nfs-test.sh [--groups|--build|--built] [KERNEL [GROUP...]]
#
# --groups only prints the names of the groups, --build only builds what all groups need,
# and --built uses an existing build. PROTO=rdma runs the groups over the kernel's own
# transport, for comparison, and DEVICE=siw over soft-iWARP.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

step=''
case ${1:-} in
--groups|--build|--built)	step=$1; shift ;;
-*)	die "unknown option '$1'" ;;
esac
kernel=${1:-uml}
[ $# -gt 0 ] && shift
proto=${PROTO:-rdma2}

callbacks=(callbacks-intree callbacks-busy callbacks-umount callbacks-two backward-rpc
	backward-rpc-chunks backward-rpc-window backward-rpc-called)
# Each group runs in one kernel, under sanitizers if that takes no more than a few minutes;
# "conformance" runs in both. "cycle" also runs in both: uml-debug checks for leaks with
# kmemleak, uml compares the memory in use.
# Lists that end with "-long" (make check-long) have the groups that are long, or that may
# fail on a slow machine. The suite "soak" of check.sh has the groups of the sanitizers
# again without these, where they are faster and complete. The suites "smp", "dma" and "races"
# have the groups of uml-smp, uml-dma and kcsan.
both=(siw inuse both backward "${callbacks[@]}" resize link-both names)
bad_peers=(kill-peer negotiate)
ends=(callbacks-rdma2 callbacks-cut callbacks-rdma2-cut backward-rpc-killed
	backward-rpc-cut versions restart unplug)
long=(paths kill krb5 intree sizes changes grants size-storm)

if [ $# -eq 0 ]; then
	case $kernel in
	uml)		set -- counters cycle conformance flawed "${bad_peers[@]}" \
			backward-rpc-hang callbacks-siw view tool negotiate-hour \
			kerberos-users link-reboot ;;
	uml-long)	set -- files kerberos kerberos-svcgssd kerberos-load \
			kerberos-intree kerberos-calls kerberos-callbacks conformance-client \
			crowd flood bounds callbacks-many link-capture link-v2 link-client \
			link-server link-tuned link-siw link-kerberos link-kerberos-load ;;
	uml-soak)	set -- "${both[@]}" "${ends[@]}" "${long[@]}" properties ;;
	uml-dma)	set -- files krb5 payload conformance conformance-client hostile kill-peer \
			kill unplug restart backward "${callbacks[@]}" callbacks-rdma2 \
			callbacks-cut callbacks-rdma2-cut backward-rpc-cut backward-rpc-killed \
			backward-rpc-overdue devices regions unmapped ;;
	uml-debug)	set -- files locks conformance hostile moves backward-rpc-overdue \
			"${both[@]}" properties ;;
	uml-smp)	set -- files conformance hostile "${bad_peers[@]}" storms properties \
			"${ends[@]}" disconnect soak-losses kill "${callbacks[@]}" backward \
			backward-rpc-overdue sizes changes size-storm grants resize shortage \
			nconnect inuse bounds-payload names siw ;;
	kcsan)		set -- files nconnect callbacks-intree callbacks-rdma2 backward-rpc kill \
			restart disconnect unplug grants sizes conformance callbacks-rdma2-cut \
			backward-rpc-cut storms ;;
	uml-debug-long)	set -- fuzz-server fuzz-client "${bad_peers[@]}" "${ends[@]}" \
			"${long[@]}" cycle storms disconnect shortage \
			bounds-payload view link-loss ;;
	debian-long)	set -- inuse counters link-stock link-adapter kerberos-sha2 adapter \
			trips ;;
	debian-7.3)	set -- files payload direct ;;
	debian-*)	set -- files payload ;;
	debian)		set -- stock bench ;;
	esac
fi

# QUICK halves the number of sizes on slow kernels. The timeout is for a guest that hangs: no
# group has taken more than 551 s of a processor.
vm_options=(--mem 2048)
timeout=1500
# Lines that match are printed immediately. All other lines of an emulated guest are printed
# at its end, when its result is known to be valid.
at_once=^
case $kernel in
uml-debug|uml-smp)
	QUICK=1 ;;
kcsan)
	vm_options=(--mem 3072)
	timeout=3600
	at_once='^#'
	QUICK=1 ;;
debian*)
	vm_options=(--mem 3072 --cpus 2)
	at_once='^#'
	QUICK=1 ;;
esac
timeout=${TIMEOUT:-$timeout}

# CASES selects cases of these groups.
with_cases=(files paths siw sizes intree versions stock kerberos kerberos-calls storms moves
	conformance conformance-client conformance-intree flawed hostile kill-peer negotiate
	negotiate-hour properties backward-rpc-called devices link-v2 link-client link-server
	link-intree link-tuned link-siw link-stock link-adapter adapter)

# Dies unless all groups exist, and CASES has a meaning for them.
check_groups()
{
	local all group

	mapfile -t all < <(awk -F '[_(]' '/^group_/ {
		print (FILENAME ~ /\/(link|apart)-cases/ ? "link-" : "") $2
	}' "$vmdir"/*-cases.sh)
	for group in "$@"; do
		known group "$group" bench trips "${all[@]}"
		[[ $group != @(backward-rpc*|moves) ]] || has_test_modules "$kernel" ||
			die "group '$group' needs the modules for tests: use a kernel of User-Mode Linux"
		[ -z "${CASES:-}" ] || known "group with CASES" "$group" "${with_cases[@]}"
	done
}

# Builds once for all groups, so that all of them run the same build.
build()
{
	local bdir

	bdir=$("$vmdir/modules.sh" "$kernel") || exit 1
	need_packages gcc libc6-dev librdmacm-dev libibverbs-dev ibverbs-providers python3
	[[ " $* " != *" link-capture "* ]] || need_packages tshark
	[[ " $* " != *" kerberos-calls "* ]] || need_packages python3-gssapi
	mkdir -p "$bdir/tools"
	# The tester's bytecode, which a guest could not write: its cases start it some hundred
	# times.
	/usr/bin/python3 -m compileall -q "$top/tester" || exit 1
	gcc -O2 -Wall -fPIC -shared -o "$bdir/tools/libendpoint.so" \
		"$top/tester/endpoint.c" -lrdmacm -libverbs || exit 1
}

case $step in
--groups)	printf '%s\n' "$@"; exit ;;
*)	known_kernel "$kernel"; check_groups "$@"; known device "${DEVICE:-rxe}" rxe siw ;;
esac
case $step in
--build)	build "$@"; exit ;;
'')		build "$@" ;;
esac

# versions_of GROUP: prints the NFS versions to test, if a slow kernel does not test all
versions_of()
{
	case "$kernel $1" in
	"uml-debug versions"|"uml-debug intree"|"uml-smp versions"|"uml-smp intree")
		echo 4.2 ;;
	"debian link-"*) ;;
	debian*|kcsan*)
		echo 4.2 3 ;;
	esac
}

# Groups on the host's clock; "Clocks of the groups" in testing.rst has the reasons.
hosted=(fuzz-server fuzz-client payload paths krb5 sizes
	conformance-client)

# clock_of GROUP: one guest of User-Mode Linux with one processor has a clock of its own (see
# vm.sh), so that load of the host causes no timeout.
clock_of()
{
	case "$kernel $1 : ${hosted[*]} " in
	uml-smp*|*" link-"*|*soak*|*" $1 "*" $1 "*)	echo host ;;
	uml*)	echo guest ;;
	*)	echo host ;;
	esac
}

# Groups whose names begin with "link-" need a pair of guests; "bench" and "trips" test the
# measurements of make bench.
run_group()
{
	local cases=${CASES:-} dma=${DMA:-} timeout=$timeout allow='' machine=() settings

	[[ $1 != link-stock && $1 != link-adapter ]] || cases=${cases:-O_DIRECT}
	# In-tree code does not sync a Receive back for the device, and therefore fails in the mode
	# "strict". Only the groups backward-rpc have callbacks in that mode.
	case "$kernel $1" in
	# Its server takes poison for the data of WRITEs where a mode copies, see testing.rst.
	"uml-dma callbacks-busy")	dma=${dma:-iova merge=1} ;;
	"uml-dma callbacks-"*)	dma=${dma:-bounce merge=1} ;;
	esac
	settings=(${cases:+"CASES=$cases"} "SEED=${SEED:-}"
		"DEVICE=${DEVICE:-}" "OPTS=${OPTS:-}"
		"VERSIONS=${VERSIONS:-$(versions_of "$1")}"
		"RECEIVE_SIZE=${RECEIVE_SIZE:-}")

	# Failed allocations are logged with a stack trace; in these groups they are
	# expected.
	case $1 in
	*shortage|*everything)	allow='Call Trace:$' ;;
	esac
	case $1 in
	# After an oops of an nfsd thread the client would wait for that thread forever.
	direct)		machine=(--nvme 256 --append oops=panic) ;;
	regions)	machine=(--append ib_core.force_mr=1) ;;
	# The clock counts instructions, so load of the host causes no timeout, and idle time passes
	# at once. A second processor that is emulated doubles the instructions of the guest, and
	# only the cases about completion vectors need it; with four the group takes a quarter longer.
	stock)		machine=(--append maxcpus=1 --icount) ;;
	inuse|counters)	[ "$kernel" != debian ] || machine=(--cpus 4) ;;
	# With one, many large READs of in-tree's client make its server spin.
	link-adapter)	machine=(--cpus 2) ;;
	*soak*)		timeout=7200 ;;
	# Of a Call with two Read chunks in-tree's server counts the inline part twice:
	# layout.two_chunks_in_version_one, see conformance.rst.
	conformance-intree)
		[ -n "$cases" ] ||
			machine=(--report "WARNING: .* at include/linux/sunrpc/svc.h:[0-9]+ svc_process")
		;;
	esac
	case $1 in
	bench)	"$top/scripts/bench.sh" --smoke ;;
	trips)	OUT='' VARIANTS="intree rdma2" "$top/scripts/bench.sh" --trips ;;
	link-*)	"$vmdir/pair.sh" "$kernel" --no-modules --timeout "$timeout" "${machine[@]}" -- \
			"$vmdir/link-cases.sh" "$1" -- \
			env QUICK=1 "${settings[@]}" \
			"$vmdir/link-cases.sh" "$1" ;;
	*)	DMA=$dma "$top/scripts/vm.sh" "$kernel" --no-modules "${vm_options[@]}" \
			"${machine[@]}" --timeout "$timeout" ${allow:+--allow "$allow"} \
			--clock "${CLOCK:-$(clock_of "$1")}" -- \
			env ${QUICK:+QUICK=1} "${settings[@]}" \
			"$vmdir/nfs-cases.sh" "$1" "$proto" ;;
	esac
}

# The elapsed time of a group, and its processor time
TIMEFORMAT='%0R s, %0U + %0S s of a processor'

failed=0
for group in "$@"; do
	name="$kernel $group"
	[ "$proto" = rdma2 ] || name="$proto $name"
	[ "${DEVICE:-rxe}" = rxe ] || name="$DEVICE $name"
	log=$(mktemp)
	for try in 1 2; do
		{
			time run_group "$group" 2>"$log" |
				sed -u "s/^\(ok\|FAIL\|skip\) /&$name: /" |
				tee "$log.said" | grep -a --line-buffered "$at_once"
			rc=${PIPESTATUS[0]}
		} 2>"$log.time"
		{ [[ "$kernel $rc $try" =~ ^(debian.*|kcsan)" 123 1"$ ]] &&
			! grep -q '^FAIL ' "$log.said"; } || break
		sed 's/^/# /' "$log"
		echo "# $name: once more, in another guest"
	done
	grep -av "$at_once" "$log.said"
	# A guest whose output was lost does not count as passed.
	grep -q '^\(ok\|FAIL\) ' "$log.said" || rc="$rc, without a word"
	case $rc in
	0)	echo "ok $name: kernel log clean" ;;
	1)	echo "ok $name: kernel log clean"; failed=1 ;;
	*)	echo "FAIL $name: the guest ended with $rc"
		failed=1 ;;
	esac
	if [ "$rc" = 0 ]; then
		sed -n '/a process died\|data races of the kernel/s/^/# /p' "$log"
	else
		sed 's/^/# /' "$log"
	fi
	echo "# $name: $(cat "$log.time")"
	rm -f "$log" "$log.time" "$log.said"
done
exit "$failed"
