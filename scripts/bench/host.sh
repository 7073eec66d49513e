# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by scripts that run the benchmark's guest: numbers of operations, and processing
# of samples.

metadata_rows="GETATTR LOOKUP OPEN CREATE UNLINK READDIR"
io_rows="READ WRITE"
tables=$top/scripts/bench/tables.py

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

# build_ops: builds the modules for the guest's kernel ($kernel, default debian) and the
# program that does the operations; sets $bdir
build_ops()
{
	need_packages gcc libc6-dev python3
	bdir=$("$vmdir/modules.sh" "${kernel:-debian}") || exit 1
	mkdir -p "$bdir/tools"
	gcc -O2 -Wall -Wextra -pthread -o "$bdir/tools/ops" \
		"$top/scripts/bench/ops.c" || die "ops.c does not build"
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
