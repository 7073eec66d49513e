#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Draws what bench.sh has measured, as SVG and as PNG:
#
#	plot.sh DIR		where cells.csv is

set -u
dir=$1
names=(intree tuned tcp floor base ours)
titles=("in-tree" "in-tree, tuned" TCP "bare verbs" base ours)

# points ROW NCONNECT INFLIGHT VARIANT: octets and cost, a line each
points()
{
	awk -F, -v row="$1" -v c="$2" -v i="$3" -v v="$4" '
		$4 == row && $2 == c && $3 == i && $1 == v { print $5, $6 / 1000 }' \
		"$dir/cells.csv"
}

# curves ROW NCONNECT INFLIGHT: for gnuplot's plot, of those there are
curves()
{
	local n what='' file

	for n in "${!names[@]}"; do
		file=$work/$1-$2-$3-${names[n]}
		points "$1" "$2" "$3" "${names[n]}" >"$file"
		[ ! -s "$file" ] ||
			what+="${what:+, }'$file' using 1:2 with linespoints title '${titles[n]}'"
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
		set key top left
		set grid
		$2
		END
	done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sizes="set logscale xy 2; set format y '%.0f'
set xlabel 'octets'; set ylabel 'thousands of instructions per operation'
set xtics ('512' 512, '4K' 4096, '16K' 16384, '64K' 65536, '256K' 262144, '1M' 1048576)
set multiplot layout 1,2"
for i in 1 8; do
	read_curves=$(curves READ 1 "$i")
	write_curves=$(curves WRITE 1 "$i")
	[ -n "$read_curves$write_curves" ] || continue
	draw "size-$i" "$sizes
set title 'READ, $i in flight'; plot $read_curves
set title 'WRITE, $i in flight'; plot $write_curves
unset multiplot" || exit 1
done

# bars ROW OCTETS INFLIGHT: what one and four connections cost, a line each
# variant
bars()
{
	local v n=-1

	for v in intree tuned tcp ours; do
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
