#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Draws what bench.sh has measured, as SVG and as PNG:
#
#	plot.sh DIR		where cells.csv is

set -u
dir=$1
names=(intree tuned tcp floor base rdma2)
titles=("in-tree" "in-tree, tuned" TCP "bare verbs" base rdma2)

# points ROW NCONNECT DEPTH VARIANT: octets, cost, and cost in relation to
# in-tree, a line each
points()
{
	awk -F, -v row="$1" -v c="$2" -v i="$3" -v v="$4" '
		$4 != row || $2 != c || $3 != i { next }
		$1 == "intree" { intree[$5] = $6 }
		$1 == v { cost[$5] = $6; order[++n] = $5 }
		END {
			for (k = 1; k <= n; k++)
				if (order[k] in intree)
					print order[k], cost[order[k]] / 1000,
						cost[order[k]] / intree[order[k]]
		}' "$dir/cells.csv"
}

# curves ROW NCONNECT DEPTH COLUMN: for gnuplot's plot, of those there are
curves()
{
	local n what='' file

	for n in "${!names[@]}"; do
		file=$work/$1-$2-$3-${names[n]}
		points "$1" "$2" "$3" "${names[n]}" >"$file"
		[ ! -s "$file" ] ||
			what+="${what:+, }'$file' using 1:$4 with linespoints title '${titles[n]}'"
	done
	printf '%s' "$what"
}

# draw NAME COMMANDS
draw()
{
	local type

	for type in svg png; do
		gnuplot <<-END || return 1
		set terminal $type size 900,420 $([ "$type" = png ] || echo "background 'white'")
		set output '$dir/$1.$type'
		set key outside bottom center horizontal
		set grid
		$2
		END
	done
	sed -i 's/[[:space:]]*$//' "$dir/$1.svg"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# size_plot NAME DEPTH COLUMN SETTINGS: READ and WRITE side by side
size_plot()
{
	local reads writes

	reads=$(curves READ 1 "$2" "$3")
	writes=$(curves WRITE 1 "$2" "$3")
	[ -n "$reads" ] && [ -n "$writes" ] || return 0
	draw "$1" "set xlabel 'octets'; $4
set logscale x 2
set xtics ('512' 512, '4K' 4096, '16K' 16384, '64K' 65536, '256K' 262144, '1M' 1048576)
set multiplot layout 1,2
set title 'READ, $2 in flight'; plot $reads
set title 'WRITE, $2 in flight'; plot $writes
unset multiplot"
}

for i in 1 8; do
	size_plot "size-$i" "$i" 2 "set logscale y 2; set format y '%.0f'
set ylabel 'thousands of instructions per operation'" || exit 1
	size_plot "ratio-$i" "$i" 3 "set yrange [0.2:1.2]
set ylabel 'instructions, in relation to in-tree'" || exit 1
done

# bars ROW OCTETS DEPTH: what one and four connections cost, a line each
# variant
bars()
{
	local v n=-1

	for v in intree tuned tcp rdma2; do
		n=$((n + 1))
		awk -F, -v row="$1" -v size="$2" -v i="$3" -v v="$v" -v n="$n" '
			$4 == row && $5 == size && $3 == i && $1 == v {
				cost[$2] = $6 / 1000
			}
			END {
				if (4 in cost)
					printf "%s %s %s\n", v, cost[1], cost[4]
			}' "$dir/cells.csv"
	done
}

bars GETATTR 0 8 >"$work/small"
bars READ 65536 8 >"$work/large"
if [ -s "$work/small" ] && [ -s "$work/large" ]; then
	draw connections "set style data histograms; set style fill solid 0.6
set yrange [0:*]; set ylabel 'thousands of instructions per operation'
set multiplot layout 1,2
set title 'GETATTR, 8 in flight'
plot '$work/small' using 2:xtic(1) title '1 connection', '' using 3 title '4 connections'
set title 'READ of 64 KiB, 8 in flight'
plot '$work/large' using 2:xtic(1) title '1 connection', '' using 3 title '4 connections'
unset multiplot" || exit 1
fi

# KiB per connection, against connections
if [ -s "$dir/memory.csv" ]; then
	what=''
	for n in "${!names[@]}"; do
		file=$work/memory-${names[n]}
		awk -F, -v v="${names[n]}" '$1 == v && $3 > 0 { print $2, $3 }' \
			"$dir/memory.csv" >"$file"
		[ ! -s "$file" ] ||
			what+="${what:+, }'$file' using 1:2 with linespoints title '${titles[n]}'"
	done
	draw memory "set xlabel 'connections'; set logscale xy 2
set ylabel 'KiB per idle connection, both ends'
plot $what" || exit 1
fi
