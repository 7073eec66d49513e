#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015
#
# A flame graph of one row of the benchmark, as SVG: the distribution of its instructions
# over functions of client and server, sampled with perf in one guest.
#
#	ROW=WRITE SIZE=1048576 [VARIANT=rdma2] [DEPTH=1] [MTU=9000] [OUT=DIR] flame.sh
#
# The stacks (.folded, one per line with the number of samples), perf's file (.perf) and the
# guest's symbols (.kallsyms) are stored beside it, for
#
#	perf report -i NAME.perf --kallsyms NAME.kallsyms --no-children

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"
# shellcheck source=scripts/bench/host.sh
. "$top/scripts/bench/host.sh"

variants="rdma2 intree tuned tcp"
row=${ROW:-}
variant=${VARIANT:-rdma2}
depth=${DEPTH:-1}
out=${OUT:-$cache/bench/flame}

# one_of WORD WORDS: succeeds if WORD is one of the words
one_of()
{
	[[ -n $1 && " $2 " == *" $1 "* ]]
}

one_of "$row" "$metadata_rows $io_rows" ||
	die "ROW is one of $metadata_rows $io_rows, not '$row'"
one_of "$variant" "$variants" ||
	die "VARIANT is one of $variants, not '$variant'"
[[ $depth =~ ^[1-9][0-9]?$ ]] && [ "$depth" -le 64 ] ||
	die "DEPTH is a number of operations, 1 to 64, not '$depth'"
size=0
if one_of "$row" "$io_rows"; then
	size=${SIZE:-4096}
	[[ $size =~ ^[1-9][0-9]{0,6}$ ]] && [ "$size" -le 1048576 ] &&
		[ $((size % 512)) -eq 0 ] ||
		die "SIZE is a number of bytes, a multiple of 512 up to 1048576, not '$size'"
elif [ -n "${SIZE:-}" ]; then
	die "$row has no SIZE"
fi

need_packages linux-perf
export BENCH=1
mkdir -p "$out" "$cache/run"
build_ops
run=$(mktemp -d "$cache/run/flame-$(date +%H%M%S)-XXXXXX")
read -r ops _ < <(operations "$row" "$size")
echo "$variant 1 $depth $row $size $ops profile" >"$run/plan"
"$top/scripts/vm.sh" debian --icount --no-modules --bench --mem 3072 \
	--timeout 600 --out "$run" -- env "MTU=${MTU:-9000}" \
	"$top/scripts/bench/guest.sh" "$run/plan" || die "no samples, see $run"
name=$variant-$row-$size
fold "$run/$name"
title="$row"
[ "$size" -eq 0 ] || title+=" of $size bytes"
"$tables" flame "$title over $variant, $depth in flight" \
	"$run/$name.folded" >"$run/$name.svg" || die "no flame graph"
cp "$run/$name".{svg,folded,perf,kallsyms} "$out/" || die "cannot write to $out"
say "$out/$name.svg"
