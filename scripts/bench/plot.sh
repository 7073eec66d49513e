#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Draws what bench.sh has measured, as SVG and as PNG:
#
#	plot.sh DIR		where cells.csv or memory.csv is

set -u
dir=$1
cells=$dir/cells.csv
[ -e "$cells" ] || cells=/dev/null
names=(intree tuned tcp floor base rdma2)
titles=("in-tree" "in-tree, tuned" TCP "bare verbs" base rdma2)

# points ROW NCONNECT DEPTH VARIANT: bytes, cost, and cost in relation to
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
		}' "$cells"
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
	draw "$1" "set xlabel 'bytes'; $4
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

# against_connections ROW BYTES DEPTH: curves of cost, for gnuplot's plot
against_connections()
{
	local n what='' file

	for n in "${!names[@]}"; do
		file=$work/connections-$1-${names[n]}
		awk -F, -v row="$1" -v size="$2" -v i="$3" -v v="${names[n]}" '
			$1 == v && $3 == i && $4 == row && $5 == size {
				print $2, $6 / 1000
			}' "$cells" | sort -n >"$file"
		[ "$(wc -l <"$file")" -lt 2 ] ||
			what+="${what:+, }'$file' using 1:2 with linespoints title '${titles[n]}'"
	done
	printf '%s' "$what"
}

small=$(against_connections GETATTR 0 8)
large=$(against_connections READ 65536 8)
if [ -n "$small" ] && [ -n "$large" ]; then
	draw connections "set xlabel 'connections'; set logscale x 2
set yrange [0:*]; set ylabel 'thousands of instructions per operation'
set multiplot layout 1,2
set title 'GETATTR, 8 in flight'; plot $small
set title 'READ of 64 KiB, 8 in flight'; plot $large
unset multiplot" || exit 1
fi

# memory END COLUMN: curves of KiB per connection, with as few mounts as there can
# be
memory()
{
	local n what='' file

	for n in "${!names[@]}"; do
		file=$work/memory-$1-$2-${names[n]}
		awk -F, -v v="${names[n]}" -v end="$1" -v column="$2" '
			$1 == v && $4 == end && $3 == int(($2 + 15) / 16) &&
			$column > 0 { print $2, $column }' "$dir/memory.csv" >"$file"
		[ ! -s "$file" ] ||
			what+="${what:+, }'$file' using 1:2 with linespoints title '${titles[n]}'"
	done
	printf '%s' "$what"
}

# memory_plot NAME COLUMN TITLE: both ends side by side
memory_plot()
{
	draw "$1" "set xlabel 'connections'; set logscale xy
set xtics (1, 16, 128, 1000); set xrange [0.8:1250]; set yrange [10:40000]
set ylabel 'KiB for a connection'
set multiplot layout 1,2
set title 'client, $3'; plot $(memory client "$2")
set title 'server, $3'; plot $(memory server "$2")
unset multiplot"
}

if [ -s "$dir/memory.csv" ]; then
	memory_plot memory 5 idle &&
	memory_plot memory-loaded 6 loaded || exit 1
fi
