#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Draws the results of bench.sh as SVG:

    plot.py DIR         the folder of cells.csv or memory.csv
"""

import os
import re
import subprocess
import sys
import tempfile

TITLES = {'intree': 'in-tree', 'tuned': 'in-tree, tuned', 'tcp': 'TCP', 'floor': 'bare verbs',
          'base': 'base', 'rdma2': 'rdma2'}
BYTES = "('512' 512, '4K' 4096, '16K' 16384, '64K' 65536, '256K' 262144, '1M' 1048576)"


def read(path):
    """Returns the rows of a CSV file, with numbers converted; none if the file is missing."""
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as file:
        return [[float(word) if re.fullmatch(r'-?[.\d]+', word) else word
                 for word in line.rstrip('\n').split(',')] for line in file][1:]


def curves(points, least=1):
    """Returns arguments of gnuplot's plot, for variants with at least LEAST points."""
    found = []
    for variant, title in TITLES.items():
        own = sorted(points(variant))
        if len(own) >= least:
            with tempfile.NamedTemporaryFile('w', dir=WORK, delete=False) as file:
                file.writelines(f'{x:g} {y:g}\n' for x, y in own)
            found.append(f"'{file.name}' with linespoints title '{title}'")
    return ', '.join(found)


def draw(name, settings, *plots):
    """Draws two plots side by side, each with a title and curves, if both have curves."""
    if not all(lines for _, lines in plots):
        return
    both = '\n'.join(f"set title '{title}'; plot {lines}" for title, lines in plots)
    plot = subprocess.run(['gnuplot'], check=True, text=True, stdout=subprocess.PIPE, input=f"""
        set terminal svg size 900,420 background 'white'
        set key outside bottom center horizontal
        set grid
        {settings}
        set multiplot layout 1,2
        {both}
        unset multiplot
        """)
    with open(f'{DIR}/{name}.svg', 'w', encoding='utf-8') as file:
        file.write(re.sub(r'[^\S\n]+$', '', plot.stdout, flags=re.M))


def main():
    cells = read(f'{DIR}/cells.csv')
    # A cell beside idle connections (1+1000) is in no plot.
    cost = {tuple(cell[:5]): cell[5] for cell in cells if not isinstance(cell[1], str)}

    def by_size(row, depth, ratio):
        def points(variant):
            for (v, n, d, r, size), y in cost.items():
                other = cost.get(('intree', n, d, r, size))
                if (v, n, d, r) == (variant, 1, depth, row) and other:
                    yield size, y / other if ratio else y / 1000
        return curves(points)

    for depth in 1, 8:
        for name, ratio, settings in (
                ('size', False, "set logscale y 2; set format y '%.0f'\n"
                 "set ylabel 'thousands of instructions per operation'"),
                ('ratio', True, "set yrange [0.2:1.2]\n"
                 "set ylabel 'instructions, in relation to in-tree'")):
            draw(f'{name}-{depth}', f"set xlabel 'bytes'; {settings}\nset logscale x 2\n"
                 f'set xtics {BYTES}',
                 *((f'{row}, {depth} in flight', by_size(row, depth, ratio))
                   for row in ('READ', 'WRITE')))

    def by_connections(row, size):
        return curves(lambda variant: [
            (n, y / 1000) for (v, n, *rest), y in cost.items()
            if (v, rest) == (variant, [8, row, size])], 2)

    draw('connections', "set xlabel 'connections'; set logscale x 2\n"
         "set yrange [0:*]; set ylabel 'thousands of instructions per operation'",
         ('GETATTR, 8 in flight', by_connections('GETATTR', 0)),
         ('READ of 64 KiB, 8 in flight', by_connections('READ', 65536)))

    memory = read(f'{DIR}/memory.csv')

    def of_memory(end, column):
        """KiB per connection, with the minimum number of mounts"""
        return curves(lambda variant: [
            (n, kib[column]) for v, n, mounts, e, *kib in memory
            if (v, e) == (variant, end) and mounts == (n + 15) // 16 and kib[column] > 0])

    for column, (name, what) in enumerate((('memory', 'idle'), ('memory-loaded', 'loaded'))):
        draw(name, "set xlabel 'connections'; set logscale xy\n"
             'set xtics (1, 16, 128, 1000); set xrange [0.8:1250]; set yrange [10:40000]\n'
             "set ylabel 'KiB for a connection'",
             *((f'{end}, {what}', of_memory(end, column)) for end in ('client', 'server')))


DIR = sys.argv[1]
with tempfile.TemporaryDirectory() as WORK:
    main()
