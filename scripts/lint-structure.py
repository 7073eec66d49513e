#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Prints functions of the modules whose name lacks the module's prefix, sets of .c files that call
each other in a circle, exchanges of a member of type bool, names in faults/unreached that no
function has, functions of shell scripts that another file of the same program replaces, and files
of cases that no program sources. Without faults it prints nothing. --canary checks a small tree
with known faults and prints a difference.
"""

import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

PREFIXES = {'rpcrdma2': 'rpcrdma2_', 'xprtrdma2': 'xprt2_|xprtrdma2_',
            'svcrdma2': 'svc2_|svcrdma2_'}
# compat.h defines functions of newer kernels with their names.
EXEMPT = {'include/rpcrdma2/compat.h'}
UNREACHED = 'faults/unreached'
# link-cases.sh, with two guests, replaces that of cases.sh.
REPLACED = {'counters'}
SHELL_FUNCTION = re.compile(r'^([\w-]+)\(\)\n\{', re.MULTILINE)
SOURCED = re.compile(r'^\s*# shellcheck source=(scripts/\S+)', re.MULTILINE)
# The loop of nfs-cases.sh: "for part in direct negotiate; do", of scripts/vm/PART-cases.sh
PARTS = re.compile(r'^for part in ([^;]*); do$', re.MULTILINE)
# Comments, strings, and members of structures
IGNORED = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|(?:\.|->)\w+', re.DOTALL)


def functions(files):
    """Yields each function's name, file, and whether it is static."""
    out = subprocess.run(['ctags', '-f', '-', '--output-format=json', '--fields=+f',
                          '--kinds-C=f', '--languages=C', '--langmap=C:.c.h', *files],
                         capture_output=True, text=True, check=True).stdout
    for tag in map(json.loads, out.splitlines()):
        yield tag['name'], tag['path'], tag.get('file', False)


def calls(found, files):
    """Returns for each .c file the files that define the functions it uses."""
    places, private = collections.defaultdict(set), collections.defaultdict(set)
    for name, path, static in found:
        if path.endswith('.c'):
            (private[path] if static else places[name]).add(name if static else path)
    edges = {}
    for path in files:
        with open(path, encoding='utf-8') as file:
            words = set(re.findall(r'\b[a-zA-Z_]\w+', IGNORED.sub(' ', file.read())))
        edges[path] = {next(iter(places[w])) for w in words - private[path]
                       if len(places.get(w, ())) == 1 and path not in places[w]}
    return edges


def circles(edges):
    """Returns sets of files in which each file reaches all others."""
    def reached(path):
        seen, left = set(), [path]
        while left:
            new = edges.get(left.pop(), set()) - seen
            seen |= new
            left += new
        return seen
    reach = {path: reached(path) for path in edges}
    return {frozenset(b for b in edges if b in reach[a] and a in reach[b])
            for a in edges if a in reach[a]}


def exchanges(files):
    """Exchanges of a bool, which Linux 6.1 does not compile for riscv64, nor any for sparc64"""
    code = {}
    for path in files:
        with open(path, encoding='utf-8') as file:
            code[path] = file.read()
    bools = {name for names in re.findall(r'\bbool\s+([\w\s,]+);', '\n'.join(code.values()))
             for name in re.findall(r'\w+', names)}
    for path, text in code.items():
        for name in re.findall(r'\b(?:try_)?(?:cmp)?xchg(?:_\w+)?\(&[^,()]*?\b(\w+),', text):
            if name in bools:
                yield f'{path}: exchange of {name}, a bool'


def stale(found):
    """Lines MODULE:FUNCTION: or MODULE:FILE:FUNCTION: of the list without such a function"""
    known = {(path.split('/')[-2], *tail) for name, path, _ in found
             for tail in [(name,), (path.split('/')[-1], name)]}
    with open(UNREACHED, encoding='utf-8') as lines:
        for line in lines:
            name = line.split(': ')[0]
            if re.match(r'\w+:', name) and tuple(name.split(':')) not in known:
                yield f'{UNREACHED}: {name} is no function'


def program(path):
    """Returns this shell script, and the files that it sources."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    parts = ' '.join(PARTS.findall(text)).replace('\\\n', ' ').split()
    own = {path: SHELL_FUNCTION.findall(text)}
    for name in [*SOURCED.findall(text), *(f'scripts/vm/{part}-cases.sh' for part in parts)]:
        own |= program(name)
    return own


def shell():
    """Shell functions of one name in files that are sourced together, and cases left out"""
    programs = {path: program(path) for path in glob.glob('scripts/**/*.sh', recursive=True)
                if os.access(path, os.X_OK)}
    for path in set(glob.glob('scripts/vm/*-cases.sh')).difference(*programs.values()):
        yield f'{path} is in no program'
    for path, files in programs.items():
        names = collections.Counter(name for own in files.values() for name in own)
        for name in {name for name, n in names.items() if n > 1} - REPLACED:
            places = ', '.join(sorted(f for f, own in files.items() if name in own))
            yield f'{path}: {name}() is there {names[name]} times, in {places}'


def faults():
    files = [f for d in ('include/rpcrdma2', *PREFIXES) for f in sorted(glob.glob(f'{d}/*.[ch]'))]
    found = list(functions(files))
    for name, path, _ in found:
        prefix = PREFIXES[path.split('/')[-2]]
        if path not in EXEMPT and not re.match(f'(__)?({prefix})', name):
            yield f'{path}: {name}() lacks the prefix {prefix}'
    for circle in circles(calls(found, [f for f in files if f.endswith('.c')])):
        yield 'call each other in a circle: ' + ', '.join(sorted(circle))
    yield from exchanges(files)
    yield from stale(found)
    yield from shell()


def canary():
    """All files are faulty, or part of a fault."""
    tree = {'a': 'int rpcrdma2_a(void)\n{\n\treturn rpcrdma2_b();\n}\n',
            'b': 'int rpcrdma2_b(void)\n{\n\treturn rpcrdma2_a();\n}\n',
            'c': 'struct c {\n\tbool c_off, c_on;\n\tint c_n;\n};\n\nstatic int work(struct c *c)\n{\n'
                 '\txchg(&c->c_n, 0);\n\txchg(&c[1].c_on, 0);\n\ttry_cmpxchg(&c->c_off, &old, 0);\n'
                 '\treturn rpcrdma2_a();\n}\n'}
    scripts = {'nfs-cases': '# shellcheck source=scripts/vm/cases.sh\n. cases.sh\ncheck()\n{\n}\n'
                            'for part in a \\\n\t\tb; do\n\t. "$part-cases.sh"\ndone\n',
               'cases': 'check()\n{\n}\n', 'a-cases': 'one()\n{\n}\nboth-4()\n{\n}\n',
               'b-cases': 'both-4()\n{\n}\n', 'c-cases': 'one()\n{\n}\n'}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in 'rpcrdma2', 'faults', 'scripts/vm':
            os.makedirs(name)
        with open(UNREACHED, 'w', encoding='utf-8') as file:
            file.write('# none\nrpcrdma2:rpcrdma2_a: why\nrpcrdma2:c.c:work: why\n'
                       'rpcrdma2:rpcrdma2_d: why\nrpcrdma2:b.c:work: why\n')
        for name, text in tree.items():
            with open(f'rpcrdma2/{name}.c', 'w', encoding='utf-8') as file:
                file.write(text)
        for name, text in scripts.items():
            with open(f'scripts/vm/{name}.sh', 'w', encoding='utf-8') as file:
                file.write(text)
        os.chmod('scripts/vm/nfs-cases.sh', 0o755)
        found = sorted(faults())
    wanted = ['call each other in a circle: rpcrdma2/a.c, rpcrdma2/b.c',
              'faults/unreached: rpcrdma2:b.c:work is no function',
              'faults/unreached: rpcrdma2:rpcrdma2_d is no function',
              'rpcrdma2/c.c: exchange of c_off, a bool',
              'rpcrdma2/c.c: exchange of c_on, a bool',
              'rpcrdma2/c.c: work() lacks the prefix rpcrdma2_',
              'scripts/vm/c-cases.sh is in no program',
              'scripts/vm/nfs-cases.sh: both-4() is there 2 times, in '
              'scripts/vm/a-cases.sh, scripts/vm/b-cases.sh',
              'scripts/vm/nfs-cases.sh: check() is there 2 times, in '
              'scripts/vm/cases.sh, scripts/vm/nfs-cases.sh']
    return [] if found == wanted else [f'found {found}, not {wanted}']


def main():
    found = list(canary() if sys.argv[1:] == ['--canary'] else faults())
    print(*found, sep='\n', end='\n' if found else '')
    sys.exit(bool(found))


main()
