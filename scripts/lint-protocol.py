#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Holds Documentation/protocol.rst against the sources: prints each requirement
id and each section that they name and the document lacks, and each file,
function and test that a row names and the sources lack, and each id
of a row that none of its tests has. No output, no fault.
"""

import glob
import re
import sys

DOCUMENT = 'Documentation/protocol.rst'
ID = re.compile(r'\b([CBPE]-\d{2,3}|[SV]\d{2})\b')
RANGE = re.compile(r'\b([CBPE]-|S)(\d{2,3}) to \1(\d{2,3})\b')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)
# Sections of other documents are always called so.
OTHERS = re.compile(r'(draft|RFC \d+,?)[ \n*]+sections?[ \n*]+[\d.]+((,|[ \n*]+and)[ \n*]+[\d.]+)*',
                   re.IGNORECASE)
SECTION = re.compile(r'(?<![\w.-])([1-4]\.\d{1,2})(?![\w.]*\d)')
TESTER = re.compile(r"@case\('([^']*)'([^)]*)\)\ndef ")
SOURCED = re.compile(r'^\. "\$\(dirname "\$\{BASH_SOURCE\[0\]\}"\)/([\w.-]+)"', re.M)
SOURCES = ['include/rpcrdma2/*.h', 'rpcrdma2/*.[ch]', 'xprtrdma2/*.[ch]', 'svcrdma2/*.[ch]',
           'kunit/*.[ch]', 'scripts/*.[ch]', 'scripts/*/*.[ch]',
           'scripts/*.sh', 'scripts/*/*.sh', 'tester/*/*/*.py']

faults = []


def read(name):
    with open(name, encoding='utf-8') as file:
        return file.read()


def ids_in(text):
    found = set(ID.findall(text))
    for prefix, first, last in RANGE.findall(text):
        found |= {f'{prefix}{n:0{len(first)}}'
                  for n in range(int(first), int(last) + 1)}
    return found


def tables(lines):
    """Rows of the tables of requirements: line, requirement, where, test."""
    at = 0
    while at < len(lines):
        if (not re.fullmatch(r'=+  =+  =+', lines[at]) or
                not lines[at + 1].startswith('requirement ')):
            at += 1
            continue
        starts = [m.start() for m in re.finditer(r'(?<!=)=', lines[at])]
        ends = starts[1:] + [None]
        at += 3                                 # ruler, heads, ruler
        row = None
        while not lines[at].startswith('=='):
            cells = [lines[at][b:e].strip() for b, e in zip(starts, ends)]
            if cells[0]:
                if row:
                    yield row
                row = [at + 1] + cells
            else:                               # goes on from the line above
                row[1:] = [f'{a} {b}'.strip() for a, b in zip(row[1:], cells)]
            at += 1
        if row:
            yield row
        at += 1


def parts(cell):
    """'a: b, c; d' is ('a', ['b', 'c']), ('d', [])."""
    for part in filter(None, (p.strip() for p in cell.split(';'))):
        name, _, items = part.partition(':')
        yield name, [i.strip() for i in items.split(',') if i.strip()]


def check_where(line, cell, sources):
    for name, functions in parts(cell):
        for one in [n.strip() for n in name.split(',')]:
            paths = [p for p in sources if p.endswith('/' + one)]
            if not paths:
                faults.append(f'{DOCUMENT}:{line}: there is no {one}')
                continue
            for f in functions:
                if not any(re.search(rf'\b(\w+_)?{re.escape(f)}\b', sources[p])
                           for p in paths):
                    faults.append(f'{DOCUMENT}:{line}: {one} has no {f}')


def suite_text(name, sources):
    for prefix in ('', 'rpcrdma2_', 'xprtrdma2_'):
        for path, text in sources.items():
            if (path.startswith('kunit/') and
                    re.search(rf'\.name\s*= "{prefix}{re.escape(name)}"', text)):
                return text
    return None


def tester_ids(plays, sources):
    """What the cases of the tester are about in which it is a client, or a server."""
    return {i for path, text in sources.items() if path.startswith('tester/')
            for ids, options in TESTER.findall(text) for i in ids.split()
            if ("plays='server'" in options) == (plays == 'server')}


def script_ids(path, sources):
    """Of a script, of those that it is made up of and of modules of cases that it names."""
    ids = ids_in(sources[path])
    for module in set(re.findall(r'\bclient_\w+', sources[path])):
        text = sources.get(f'tester/rpcrdma2_test/cases/{module}.py', '')
        ids |= {i for found, _ in TESTER.findall(text) for i in found.split()}
    for name in SOURCED.findall(sources[path]):
        if not name.startswith('common'):
            ids |= script_ids(f'scripts/vm/{name}', sources)
    return ids


def module_ids(text, sources):
    """Of the modules of the tester that a script names."""
    return {i for path, module in sources.items()
            if path.startswith('tester/') and
            path.rpartition('/')[2][:-len('.py')] in re.findall(r'\b(?:client|callback)_[a-z]+\b', text)
            for ids, _ in TESTER.findall(module) for i in ids.split()}


def group_ids(group, sources):
    ids = set()
    if group in ('conformance', 'conformance-client'):
        ids = tester_ids('client' if group == 'conformance' else 'server', sources)
    for path, text in sources.items():
        if path.endswith('.sh') and re.search(rf'^group_{re.escape(group)}\(\)', text, re.M):
            ids |= script_ids(path, sources) | module_ids(text, sources)
    return ids


def test_ids(cell, sources):
    """Ids that the suites and groups have which a row names."""
    ids = set()
    for part in filter(None, (p.strip() for p in cell.split(';'))):
        name, _, rest = part.partition(':')
        for one in [n.strip() for n in (rest if name == 'nfs-test' else name).split(',')]:
            text = suite_text(one, sources)
            ids |= (ids_in(text) if text else set()) | group_ids(one, sources)
    return ids


def check_test(line, cell, sources, groups):
    for part in filter(None, (p.strip() for p in cell.split(';'))):
        name, _, rest = part.partition(':')
        cases = [c.strip() for c in rest.split(',') if c.strip()]
        if name == 'nfs-test':
            for group in cases:
                if group not in groups:
                    faults.append(f'{DOCUMENT}:{line}: there is no group {group}')
            continue
        for one in [n.strip() for n in name.split(',')]:
            text = suite_text(one, sources)
            if text is None and one not in groups:
                faults.append(f'{DOCUMENT}:{line}: there is neither suite nor group {one}')
            for case in cases:
                if text and not all(re.search(rf'\b{re.escape(w)}\b', text)
                                    for w in case.split(' to ')):
                    faults.append(f'{DOCUMENT}:{line}: {one} has no {case}')


def check_rows(lines, sources):
    groups = set()
    for path, text in sources.items():
        if path.endswith('.sh'):
            groups |= set(re.findall(r'^group_([\w.-]+)\(\)', text, re.M))
    rows = 0
    for line, requirement, where, test in tables(lines):
        rows += 1
        if not ids_in(requirement):
            faults.append(f'{DOCUMENT}:{line}: no id in {requirement}')
        check_where(line, where, sources)
        if test != '\\':
            check_test(line, test, sources, groups)
            for i in sorted(ids_in(requirement) - test_ids(test, sources)):
                faults.append(f'{DOCUMENT}:{line}: none of these tests has {i}')
    if rows < 50:
        faults.append(f'{DOCUMENT}: {rows} rows found, there must be more')


def check_sources(document, sources):
    known = ids_in(document)
    sections = set(re.findall(r'^(\d\.\d+) \S.*\n-{3,}$', document, re.M))
    for path, text in sources.items():
        for n, line in enumerate(text.split('\n'), 1):
            for i in sorted(set(ID.findall(line)) - known):
                faults.append(f'{path}:{n}: {i} is not in {DOCUMENT}')
        if path.endswith(('.sh', '.py')):
            continue
        for comment in COMMENT.finditer(text):
            for ref in SECTION.findall(OTHERS.sub('', comment.group())):
                if ref not in sections:
                    n = text.count('\n', 0, comment.start()) + 1
                    faults.append(f'{path}:{n}: {DOCUMENT} has no section {ref}')


def main():
    document = read(DOCUMENT)
    sources = {path: read(path) for pattern in SOURCES
               for path in sorted(glob.glob(pattern))}
    check_sources(document, sources)
    check_rows(document.split('\n'), sources)
    print('\n'.join(faults), end='\n' if faults else '')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
