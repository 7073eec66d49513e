#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Prints the table of coverage.sh:

    coverage.py RUNS SOURCES

SOURCES has modules that were built with FAULTS=1. Each file in RUNS is from one guest, with
the checksums of its modules, followed by rpcrdma2_entered. A run of any other build is an error.
A function counts if the compiler instrumented it with calls of the module of faults/, or if it
is in .exit.text, which the compiler does not instrument. The compiler also inserts these calls
where it inlines a function of a .c file. Names that begin with two underscores belong to the
macros for trace events.
"""

import collections
import hashlib
import os
import re
import subprocess
import sys

WANTED = 97.0                   # per cent
LIST = 'faults/unreached'
MODULES = ['rpcrdma2', 'xprtrdma2', 'svcrdma2']
PROBE = '__cyg_profile_func_enter'

Symbol = collections.namedtuple('Symbol', 'file name')


def objdump(*args):
    return subprocess.run(['objdump', *args], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


def probed(ko):
    """Returns the functions that call the probe, as section and address."""
    found, section, place = set(), '', None
    for line in objdump('-dr', '--no-show-raw-insn', ko):
        if match := re.match(r'Disassembly of section (\S+):', line):
            section = match[1]
        elif match := re.match(r'([0-9a-f]+) <.*>:$', line):
            place = section, int(match[1], 16)
        elif PROBE in line:
            found.add(place)
    return found


def functions(ko):
    """Maps the output of %pS, without the module's name, to the names in the list.

    Also returns the names of two functions with the same size, which %pS does not distinguish."""
    symbols, file = {}, ''
    for line in objdump('-t', ko):
        match = re.match(r'([0-9a-f]+) .{5}(.)(.) (\S+)\s+[0-9a-f]+ (?:\.hidden )?(\S+)$',
                         line)
        if match and match[2] + match[3] == 'df':
            file = match[5]
        elif match and match[3] == 'F':
            # Of two names of an address, the first one is the name in the source.
            symbols.setdefault((match[4], int(match[1], 16)), Symbol(file, match[5]))
    places = sorted(symbols)
    wanted = probed(ko)
    wanted |= {place for place in places if place[0] == '.exit.text'}
    wanted = {place for place in wanted if not symbols[place].name.startswith('__')}
    often = collections.Counter(symbols[place].name for place in wanted)
    known, alike = {}, set()
    for place, after in zip(places, places[1:] + [('', 0)]):
        if place not in wanted:
            continue
        file, name = symbols[place]
        if often[name] == 1:
            known[name] = name
            continue
        # Functions with the same name differ in size, that is, in the distance to the next
        # one.
        key = f'{name}+0x0/{after[1] - place[1]:#x}'
        if key in known:
            alike.add(name)
        known[key] = f'{file}:{name}'
    return known, alike


def read_build(folder):
    """Returns the functions by module, and the modules' checksums in the runs' format."""
    bad, sums, lists = [], set(), {}
    for module in MODULES:
        ko = os.path.join(folder, module, module + '.ko')
        with open(ko, 'rb') as data:
            sums.add((module, hashlib.sha256(data.read()).hexdigest()))
        lists[module], alike = functions(ko)
        bad += [f'{module}:{name} is two functions of one size: rename one' for name in alike]
    return lists, sums, bad


def read_runs(folder, sums):
    """Returns the lines of all runs by module, each with and without its size."""
    entered, bad = {module: set() for module in MODULES}, []
    for run in os.listdir(folder):
        checksums, found = set(), []
        with open(os.path.join(folder, run), encoding='ascii') as lines:
            for line in lines:
                if match := re.match(r'([0-9a-f]{64})  (\w+)/\2\.ko$', line):
                    checksums.add((match[2], match[1]))
                match = re.match(r'((\S+)\+0x0/0x[0-9a-f]+) \[(\w+)\]$', line)
                if match and match[3] in entered:
                    found.append(match)
        if checksums != sums:
            bad.append(f'{run} is the run of another build')
            continue
        for match in found:
            entered[match[3]] |= {match[1], match[2]}
    return entered, bad


def read_reasons():
    with open(LIST, encoding='utf-8') as lines:
        return dict(line.rstrip('\n').split(': ', 1) for line in lines
                    if line.strip() and not line.startswith('#'))


def main(runs, sources):
    lists, sums, bad = read_build(sources)
    entered, foreign = read_runs(runs, sums)
    if bad or foreign:
        # A percentage would be wrong, with these runs or without them.
        print(*(f'FAIL coverage: {line}' for line in sorted({*bad, *foreign})), sep='\n')
        return 1
    reasons = read_reasons()
    table, missed, names = [], [], set()
    for module, known in lists.items():
        reached = known.keys() & entered[module]
        table.append((module, len(known), len(reached)))
        for key, name in known.items():
            names.add(full := f'{module}:{name}')
            if key in reached and not reasons.get(full, 'chance').startswith('chance'):
                bad.append(f'{full} is reached, and in {LIST}')
            elif key not in reached:
                missed.append(f'{full}: {reasons.get(full, "?")}')
                if full not in reasons:
                    bad.append(f'{full} is not reached, and not in {LIST}')
    bad += [f'{full} is in {LIST}, and no function' for full in reasons.keys() - names]
    table.append(('all', *(sum(row[i] for row in table) for i in (1, 2))))
    percent = 100 * table[-1][2] / table[-1][1]
    if percent < WANTED:
        bad.append(f'{percent:.1f} % of the functions are reached, and not {WANTED} %')
    for line in sorted(bad):
        print('FAIL coverage:', line)
    print(f'{"module":10} {"functions":>9} {"reached":>9} {"per cent":>9}')
    for name, total, count in table:
        print(f'{name:10} {total:9} {count:9} {100 * count / total:9.1f}')
    print(f'not reached, with the reason of {LIST}:', *sorted(missed), sep='\n  ')
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
