#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015
#
# Measures the cost of an operation over this transport, the in-tree one (at its defaults,
# and tuned), TCP, and bare verbs. All of them run in one guest with the unmodified Debian
# kernel, whose clock counts instructions.
#
#	bench.sh [--quick|--smoke|--memory|--trips|--link]
#	ROW=WRITE SIZE=1048576 [VARIANT=rdma2] [DEPTH=1] [MTU=9000] [OUT=DIR] bench.sh --flame
#
# BASE=COMMIT also measures the modules of that commit, OUT=DIR is the folder of the report,
# VARIANTS="intree rdma2" selects the transports. ROWS and SIZES select the operations,
# CONNECTIONS and DEPTH the numbers of connections and of concurrent operations, MTU the
# network device's. CONNECTIONS=1+1000 measures only the making of 1,000 connections, and
# GETATTR over another one, alone and beside these. PROFILE=1 divides the cost among layers in
# all forms.
# SEC=krb5, krb5i or krb5p measures READ and WRITE of 4 KiB, 64 KiB and 1 MiB with Kerberos.
# --quick measures a part of the rows; --smoke measures two rows as cases of make check and
# ignores the environment. --memory measures only the memory of connections, with the kernel
# MEMORY_KERNEL; --trips only round trips, --link round trips and the rate on links with
# delay and loss. BENCH_KERNEL=debian-7.3 selects another Debian kernel for everything but
# memory.
#
# --flame makes a flame graph of one row, as SVG: the distribution of its instructions over
# functions of client and server, sampled with perf in one guest. The stacks (.folded, one per
# line with the number of samples), perf's file (.perf) and the guest's symbols (.kallsyms)
# are stored beside it, for
#
#	perf report -i NAME.perf --kallsyms NAME.kallsyms --no-children

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

here=$top/scripts/bench
metadata_rows="GETATTR LOOKUP OPEN CREATE UNLINK READDIR"
io_rows="READ WRITE"
tables=$here/tables.py
form=full
case ${1:-} in
--quick|--smoke|--memory|--trips|--link|--flame)	form=${1#--} ;;
'')				;;
*)				die "unknown option '$1'" ;;
esac

[ "$form" != smoke ] ||
	unset BASE OUT VARIANTS ROWS SIZES CONNECTIONS DEPTH ROUNDS MTU PROFILE \
		BENCH_KERNEL SEC
base=${BASE:-}
sec=${SEC:-}
io_sizes="512 4096 8192 16384 32768 65536 262144 1048576"
metadata=$metadata_rows
connections="1 4" more_connections='' crowd=''
depth="1 8"
variants="intree tuned tcp rdma2"
rounds=3
timeout=3600
profile=${PROFILE:-}
memory_kernel=${MEMORY_KERNEL:-uml}
kernel=${BENCH_KERNEL:-debian}
[[ $kernel = debian* ]] || die "no kernel for the benchmark is called '$kernel': debian, debian-7.3"
case $form in
full)
	more_connections="2 8" crowd=1+1000 timeout=14400 profile=1 ;;
quick)
	io_sizes="4096 65536 1048576" connections=1 depth=1
	metadata="GETATTR LOOKUP OPEN CREATE READDIR"
	variants="intree rdma2" rounds=5 ;;
smoke)
	io_sizes=4096 metadata=GETATTR io_rows=WRITE
	connections=1 crowd=1+32 depth=1 rounds=1
	variants="intree rdma2" ;;
esac
if [[ ${CONNECTIONS:-} = *+* ]]; then
	[[ $CONNECTIONS =~ ^([1-9]|1[0-6])\+([1-9][0-9]{0,2}|10[01][0-9]|102[0-4])$ ]] ||
		die "CONNECTIONS is 1+1 to 16+1024 with idle connections, not '$CONNECTIONS'"
	[ "$form" = full ] || [ "$form" = quick ] || die "CONNECTIONS is not for --$form"
	[ -z "$sec" ] || die "SEC is not for CONNECTIONS=$CONNECTIONS"
	form=crowd crowd=$CONNECTIONS CONNECTIONS=${CONNECTIONS%+*} profile=${PROFILE:-}
	metadata=GETATTR io_sizes='' depth=1 more_connections='' variants="intree tcp rdma2"
fi
if [ -n "$sec" ]; then
	[ "$form" = full ] || [ "$form" = quick ] || die "SEC is not for --$form"
	form=quick variants="intree rdma2" metadata='' connections=1 depth=1 profile=${PROFILE:-}
	io_sizes="4096 65536 1048576" more_connections='' crowd=''
fi
variants=${VARIANTS:-$variants}
[ -z "$base" ] || variants+=" base"
metadata=${ROWS-$metadata}
# Two rows are also measured with other numbers of connections, for a curve, and GETATTR beside
# idle ones.
[ "$form" != full ] || [ -z "${CONNECTIONS:-}${ROWS+set}${SIZES+set}${DEPTH:-}" ] ||
	more_connections='' crowd=''
connections=${CONNECTIONS:-$connections}
depth=${DEPTH:-$depth}
rounds=${ROUNDS:-$rounds}
mtu=${MTU:-9000}
io_sizes=${SIZES-$io_sizes}
mem=3072
# A connection of in-tree takes 7.3 MiB.
[ -z "$crowd" ] || mem=$((mem + 8 * ${crowd#*+}))

# one_of WORD WORDS: succeeds if WORD is one of the words
one_of()
{
	[[ -n $1 && " $2 " == *" $1 "* ]]
}

if [ "$form" = flame ]; then
	flamed=${ROW:-} variant=${VARIANT:-rdma2} bytes=0 depth=${DEPTH:-1} profile=1
	# shellcheck disable=SC2086 # words
	known ROW "$flamed" $metadata_rows $io_rows
	known VARIANT "$variant" rdma2 intree tuned tcp
	[[ $depth =~ ^[1-9][0-9]?$ ]] && [ "$depth" -le 64 ] ||
		die "DEPTH is a number of operations, 1 to 64, not '$depth'"
	if one_of "$flamed" "$io_rows"; then
		bytes=${SIZE:-4096}
		[[ $bytes =~ ^[1-9][0-9]{0,6}$ ]] && [ "$bytes" -le 1048576 ] &&
			[ $((bytes % 512)) -eq 0 ] ||
			die "SIZE is a number of bytes, a multiple of 512 up to 1048576, not '$bytes'"
	elif [ -n "${SIZE:-}" ]; then
		die "$flamed has no SIZE"
	fi
fi

# operations ROW BYTES: prints three numbers of operations: one that takes the guest some
# 100 million instructions, one for the counting pass, and the floor's. On the floor the
# cost of a small message depends on which worker runs first, which varies with each tick of
# the timer, so its number covers many ticks.
operations()
{
	case $1-$2 in
	GETATTR-*)	echo "1000 32 16000" ;;
	LOOKUP-*)	echo "1000 32 8000" ;;
	READDIR-*)	echo "60 10 4000" ;;
	*-0)		echo "1500 32 4000" ;;
	*)	if [ "$2" -le 16384 ]; then
			echo "2000 32 4000"
		elif [ "$2" -le 65536 ]; then
			echo "160 32 400"
		elif [ "$2" -le 262144 ]; then
			echo "64 32 64"
		else
			echo "24 16 24"
		fi ;;
	esac
}

# rows: prints each row, its size in bytes, and three numbers of operations
rows()
{
	local row size

	for row in $metadata; do
		echo "$row 0 $(operations "$row" 0)"
	done
	for row in $io_rows; do
		for size in $io_sizes; do
			echo "$row $size $(operations "$row" "$size")"
		done
	done
}

# cells VARIANT NCONNECT DEPTH PASS: prints the cells of the plan
cells()
{
	local row size ops few many

	rows | while read -r row size ops few many; do
		[ "$1" != floor ] || [ "$form" = smoke ] || ops=$many
		[ "$4" != count ] || ops=$few
		echo "$1 $2 $3 $row $size $ops $4"
	done
}

# The cost of concurrent operations depends on their order, and that on small differences.
# Every cell is therefore measured several times, each time with a new mount.
plan()
{
	local round v c i floors=''

	# Bare verbs repeat the messages of one connection of rdma2.
	! one_of rdma2 "$variants" || ! one_of 1 "$connections" || floors=$depth
	for ((round = 0; round < rounds; round++)); do
		for v in $variants; do
			for c in $connections; do
				for i in $depth; do
					cells "$v" "$c" "$i" cost
				done
			done
			for c in $more_connections; do
				metadata=GETATTR io_rows=READ io_sizes=65536 \
					cells "$v" "$c" 8 cost
			done
		done
		for i in $floors; do
			cells floor 1 "$i" cost
		done
	done
	for v in $variants; do
		[ "$v" = tcp ] || cells "$v" 1 1 count
		[ "$v" != rdma2 ] || ! one_of 1 "$floors" || cells floor 1 1 count
	done
	for v in ${profile:+$variants}; do
		! one_of "$v" "intree rdma2" || cells "$v" 1 1 profile
	done
	# After the others, because so many connections change the caches of the allocator.
	# In-tree tuned would take 36 GiB for them.
	for ((round = 0; round < rounds; round++)); do
		for v in ${crowd:+$variants}; do
			[ "$v" = tuned ] ||
				metadata=${ROWS-GETATTR} io_sizes=${SIZES-} \
					cells "$v" "$crowd" 1 cost
		done
	done
}

# Builds the modules of the commit BASE and prints their folder.
build_base()
{
	local commit dir

	commit=$(git -C "$top" rev-parse --verify -q "$base^{commit}") ||
		die "there is no commit '$base'"
	dir=$cache/bench/source-${commit:0:12}
	if [ ! -e "$dir/.complete" ]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		git -C "$top" archive "$commit" | tar -C "$dir" -x ||
			die "cannot unpack $base"
		touch "$dir/.complete"
	fi
	dir=$(SOURCE=$dir "$vmdir/modules.sh" "$kernel") || exit 1
	echo "$dir/root/lib/modules"/*/updates
}

# Measures two devices of one guest, joined by a link with delay and loss, and prints tables
# of the results.
link()
{
	"$top/scripts/vm.sh" "$kernel" --icount --no-modules --mem 3072 --timeout 14400 \
		--out "$run" -- env "VARIANTS=${VARIANTS:-}" "MTU=$mtu" \
		"$here/link.sh" "$bdir/tools/ops" "$@" >"$run/link" 2>&1 ||
		{ cat "$run/link" >&2; return 1; }
	cp "$run/trips.csv" "$out/"
	"$tables" trips "$out/trips.csv"
	[ "${1:-}" = trips ] || { cp "$run/link.csv" "$out/" && "$tables" link "$out/link.csv"; }
}

trips()
{
	link trips
}

# Measures the memory that connections take in two guests, a client's and a server's, and
# prints a table. Both guests get the memory that this machine can spare; the in-tree
# transport needs most of it.
memory()
{
	local log=$run/memory kernel=$memory_kernel mem

	mem=$(awk '/^MemAvailable:/ {
			n = int($2 * 0.4 / 1024)
			print n < 8192 ? n : 8192
		}' /proc/meminfo)
	"$vmdir/modules.sh" "$kernel" >/dev/null || return 1
	set -- "$here/memory.sh" "intree tuned tcp rdma2" 1 16 128 1000
	"$vmdir/pair.sh" "$kernel" --no-modules --mem "$mem" \
		--timeout 2400 -- "$@" -- "$@" >"$log" 2>&1 ||
		{ cat "$log" >&2; return 1; }
	sed -n 's/\r$//; /^variant,/,$p' "$log" >"$out/memory-samples.csv"
	"$tables" memory "$out/memory-samples.csv" "$out/memory.csv" \
		"$(cat "$("$vmdir/kernel.sh" "$kernel")/release")"
}

# fold NAME: converts the samples in NAME.perf to stacks of functions in NAME.folded, with
# the guest's symbols in NAME.kallsyms
fold()
{
	perf script -i "$1.perf" --kallsyms "$1.kallsyms" \
		-F comm,ip,sym,dso 2>"$1.said" |
		"$tables" fold >"$1.folded"
	[ -s "$1.folded" ] ||
		die "perf found no samples: $(tail -n 3 "$1.said")"
	rm -f "$1.said"
}

flame()
{
	local ops name=$variant-$flamed-$bytes title=$flamed

	read -r ops _ < <(operations "$flamed" "$bytes")
	echo "$variant 1 $depth $flamed $bytes $ops profile" >"$run/plan"
	"$top/scripts/vm.sh" "$kernel" --icount --no-modules --mem 3072 \
		--timeout 600 --out "$run" -- env "MTU=$mtu" \
		"$here/guest.sh" "$run/plan" || die "no samples, see $run"
	fold "$run/$name"
	[ "$bytes" -eq 0 ] || title+=" of $bytes bytes"
	"$tables" flame "$title over $variant, $depth in flight" \
		"$run/$name.folded" >"$run/$name.svg" || die "no flame graph"
	cp "$run/$name".{svg,folded,perf,kallsyms} "$out/" || die "cannot write to $out"
	say "$out/$name.svg"
}

# Prints the commits and the kernel of the report.
heading()
{
	local dirty=''

	[ -z "$(git -C "$top" status --porcelain 2>/dev/null)" ] ||
		dirty=", with changes"
	echo "rdma2: $(git -C "$top" log -1 --format='%h (%s)' 2>/dev/null)$dirty"
	[ -z "$base" ] ||
		echo "base: $(git -C "$top" log -1 --format='%h (%s)' "$base")"
	echo "Kernel: $(cat "$("$vmdir/kernel.sh" "$kernel")/release"); soft-RoCE, NFSv4.2, noac${sec:+,sec=$sec}, export on tmpfs; MTU $mtu"
}

# The checksum keeps checkouts of the same name apart.
out=${OUT:-$cache/bench/$(basename "$top")-$(printf '%s' "$top" |
	sha1sum | cut -c1-8)-${sec:-$form}}
mkdir -p "$out" "$cache/run"
started=$SECONDS
one_of "$form" "smoke flame trips" || need_packages gnuplot-nox
[ -z "$profile" ] || need_packages linux-perf
need_packages gcc libc6-dev python3
bdir=$("$vmdir/modules.sh" "$kernel") || exit 1
mkdir -p "$bdir/tools"
gcc -O2 -Wall -Wextra -pthread -o "$bdir/tools/ops" "$here/ops.c" ||
	die "ops.c does not build"
base_modules=''
[ -z "$base" ] || base_modules=$(build_base) || exit 1
run=$(mktemp -d "$cache/run/bench-$(date +%H%M%S)-XXXXXX")
if [ "$form" = flame ]; then
	flame
	exit
fi
if [[ $form == memory || $form == trips || $form == link ]]; then
	{ heading && "$form"; } >"$out/report.txt" || die "no $form measured"
	cat "$out/report.txt"
	[ "$form" != memory ] || "$here/plot.py" "$out" || die "no plots"
	say "$((SECONDS - started)) s; the report is in $out"
	[ "$form" != trips ] || "$tables" one_trip "$out/trips.csv"
	exit
fi
plan >"$run/plan"
say "$(wc -l <"$run/plan") cells"
"$top/scripts/vm.sh" "$kernel" --icount --no-modules --mem "$mem" \
	--timeout "$timeout" --out "$run" -- env "BASE_MODULES=$base_modules" "MTU=$mtu" "SEC=$sec" \
	"$here/guest.sh" "$run/plan"
rc=$?
if [ "$rc" -ne 0 ]; then
	say "the guest ended with $rc, see $run"
	exit "$rc"
fi
failed=0
"$tables" cells "$run/raw" "$out/samples.csv" "$out/counters.csv" || failed=1
"$tables" median "$out/samples.csv" >"$out/cells.csv"
{
	heading
	"$tables" table "$out/cells.csv"
	"$tables" counts "$out/counters.csv"
	if [ -n "$profile" ]; then
		for samples in "$run"/*.perf; do
			fold "${samples%.perf}"
		done
		"$tables" layers "$out/cells.csv" "$out/layers.csv" "$run"/*.folded
	fi
	[ "$form" != full ] || { trips && memory; }
} >"$out/report.txt" || failed=1
if [ "$form" = smoke ]; then
	"$tables" smoke "$out/cells.csv" || failed=1
else
	cat "$out/report.txt"
	"$here/plot.py" "$out" || die "no plots"
fi
# A partial run may consist of rows for which no expectation exists.
some=1
[ "$form" != quick ] && [ -z "${ROWS+set}${SIZES+set}${VARIANTS+set}" ] || some=0
[ -n "$sec" ] || "$tables" intree "$out/counters.csv" "$some" "$kernel" || failed=1
say "$((SECONDS - started)) s; the report is in $out"
exit "$failed"
