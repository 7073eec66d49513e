#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Compares Documentation/protocol.rst with the sources. Prints: requirement ids and sections that
the sources name and the document lacks; files, functions and tests that a row names and the
sources lack; ids of a row that none of its tests has in the name of a case; decisions of
section 2.1 that the tester explains in other words; figures of a group in testing.rst that the
group lacks; functions that the documents name and the modules lack. Without faults it prints
nothing.

--meanings writes the decisions into the tester's requirements.txt. --canary changes the
documents in one place after another, and prints the changes that are not detected.
"""

import fnmatch
import glob
import re
import sys
import textwrap

import docutils.core
from docutils import nodes

DOCUMENT = 'Documentation/protocol.rst'
TESTING = 'Documentation/testing.rst'
ARCHITECTURE = 'Documentation/architecture.rst'
MEANINGS = 'tester/rpcrdma2_test/requirements.txt'
ID = re.compile(r'\b([CBPE]-\d{2,3}|[SV]\d{2})\b')
RANGE = re.compile(r'\b([CBPE]-|S)(\d{2,3}) to \1(\d{2,3})\b')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)
# Sections of other documents are always cited in this form.
OTHERS = re.compile(r'(draft|RFC \d+,?)[ \n*]+sections?[ \n*]+[\d.]+((,|[ \n*]+and)[ \n*]+[\d.]+)*',
                   re.IGNORECASE)
SECTION = re.compile(r'(?<![\w.-])([1-4]\.\d{1,2})(?![\w.]*\d)')
TESTER = re.compile(r"@case\('([^']*)'[^)]*\)\ndef (\w+)")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
HEADED = re.compile(r'/\*((?:(?!\*/).)*)\*/\nstatic void (\w+)\(struct kunit', re.DOTALL)
FUNCTION = re.compile(r'^([\w.-]+)\(\)\n[{(]\n(.*?)^[})]', re.M | re.DOTALL)
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')
LISTED = re.compile(r'\w\+?="([^"$]*)"')
VARIABLE = re.compile(r"^([a-z]\w*)='([^']*)'", re.M)
NAMED = re.compile(r'\bscripts/[\w./-]+\.\w+')
# Seconds are durations of groups, and small numbers would match anywhere; RFCs are no figures.
FIGURE = re.compile(r'(?<!RFC )(?<![\w.,-])(\d[\d,]*\d)(?![\w.,]*\d)(?! s\b)')
CALLED = re.compile(r'``((?:rpcrdma2|xprt2|svc2)_\w+)(?=\(\)``)')
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


def rows_of(text, head=None):
    """Yields the rows of the tables whose first head is this: the line, and the cells."""
    tree = docutils.core.publish_doctree(text, settings_overrides={'report_level': 5})
    for table in tree.findall(nodes.table):
        row = next(table.findall(nodes.row))
        if head == (row[0].astext() if isinstance(row.parent, nodes.thead) else None):
            for row in next(table.findall(nodes.tbody)):
                yield row[0][0].line, *(' '.join(cell.astext().split()) for cell in row)


def parts(cell):
    """Splits 'a: b, c; d' into ('a', ['b', 'c']), ('d', [])."""
    for part in filter(None, (p.strip() for p in cell.split(';'))):
        name, _, items = part.partition(':')
        yield name, [i.strip() for i in items.split(',') if i.strip()]


def check_where(line, cell, sources):
    for name, functions in parts(cell):
        for one in re.split(', *', name):
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


def kunit_ids(text):
    """Returns ids in the names of a suite's cases and parameters, or right above a case."""
    ids = ids_in(' '.join(STRING.findall(text)))
    cases = set(re.findall(r'KUNIT_CASE(?:_PARAM)?\((\w+)', text))
    for comment, name in HEADED.findall(text):
        if name in cases:
            ids |= ids_in(comment)
    for name in cases:
        for letter, number in re.findall(r'(?:^|_)([cbpesv])(\d{2,3})(?=_)', name):
            ids.add(letter.upper() + ('-' if letter in 'cbpe' else '') + number)
    return ids


def tester_modules(sources):
    """Returns the cases and their ids by module of the tester."""
    return {path.rpartition('/')[2][:-len('.py')]:
            {name: set(ids.split()) for ids, name in TESTER.findall(text)}
            for path, text in sources.items() if path.startswith('tester/rpcrdma2_test/cases/')}


def shell_parts(sources):
    """Returns functions and longer variables of all scripts by name, without comments."""
    found = {}
    for path, text in sources.items():
        if path.endswith('.sh'):
            text = re.sub(r'^\s*#.*\n', '', text, flags=re.M)
            for name, body in FUNCTION.findall(text) + VARIABLE.findall(text):
                found[name] = found.get(name, '') + body
    return found


def reached(name, shell, but=()):
    """Returns a function's text with the text of everything that it names, except BUT."""
    names, todo = set(), [name]
    while todo:
        name = todo.pop()
        if name in names or name not in shell or name in but:
            continue
        names.add(name)
        todo += re.findall(r'\$[({]?([\w-]+)', shell[name])
        todo += ' '.join(LISTED.findall(shell[name])).split()
        todo += re.findall(r'(?<![$\w/.-])[a-z][\w-]+(?![\w./=-])',
                           QUOTED.sub('', shell[name]))
    return '\n'.join(shell[n] for n in sorted(names))


def listed(function, shell, modules):
    """Returns the modules that the function lists: matches of its pattern, minus exceptions."""
    pattern = re.search(r'cases/(\S+)\.py', shell[function])[1]
    words = re.findall(r'[\w*]+', reached(function, shell).replace(pattern + '.py', ''))
    return {m for m in modules if fnmatch.fnmatch(m, pattern) and
            not any(fnmatch.fnmatch(m, w) for w in words if w.strip('*'))}


def group_ids(group, shell, modules):
    if f'group_{group}' not in shell:
        return set()
    lists = [name for name in shell if name.startswith('cases_of_')]
    text = reached(f'group_{group}', shell, lists)
    ids = ids_in(text)
    whole = set().union(*(listed(name, shell, modules) for name in lists
                          if re.search(rf'\b{name}\b', text)))
    for module, case in re.findall(r'\b([a-z]\w+)\.([a-z]\w+)', text):
        ids |= modules.get(module, {}).get(case, set())
    for module in re.findall(r'\b(?:client|callback)_\w+\b(?!\.[a-z])', text):
        if module in modules:
            whole.add(module)
    return ids.union(*(i for m in whole for i in modules[m].values()))


def groups_of(shell):
    return {name[len('group_'):] for name in shell if name.startswith('group_')}


def test_ids(cell, sources, shell, modules):
    """Returns the ids of the suites and groups that a row names."""
    ids = set()
    for name, cases in parts(cell):
        for one in cases if name == 'nfs-test' else re.split(', *', name):
            text = suite_text(one, sources)
            ids |= (kunit_ids(text) if text else set()) | group_ids(one, shell, modules)
    return ids


def check_test(line, cell, sources, groups):
    for name, cases in parts(cell):
        if name == 'nfs-test':
            for group in cases:
                if group not in groups:
                    faults.append(f'{DOCUMENT}:{line}: there is no group {group}')
            continue
        for one in re.split(', *', name):
            text = suite_text(one, sources)
            if text is None and one not in groups:
                faults.append(f'{DOCUMENT}:{line}: there is neither suite nor group {one}')
            for case in cases:
                if text and not all(re.search(rf'\b{re.escape(w)}\b', text)
                                    for w in case.split(' to ')):
                    faults.append(f'{DOCUMENT}:{line}: {one} has no {case}')


def check_ids(line, requirement, cell, sources, shell, modules):
    for i in sorted(ids_in(requirement) - test_ids(cell, sources, shell, modules)):
        faults.append(f'{DOCUMENT}:{line}: none of these tests has {i}')


def check_rows(document, sources):
    shell, modules = shell_parts(sources), tester_modules(sources)
    groups = groups_of(shell)
    rows = 0
    for line, requirement, where, test in rows_of(document, 'requirement'):
        rows += 1
        if not ids_in(requirement):
            faults.append(f'{DOCUMENT}:{line}: no id in {requirement}')
        check_where(line, where, sources)
        if test:
            check_test(line, test, sources, groups)
            check_ids(line, requirement, test, sources, shell, modules)
    if rows < 50:
        faults.append(f'{DOCUMENT}: {rows} rows found, there must be more')


def groups_of_testing(testing, shell):
    """Returns the names and texts of the groups in testing.rst."""
    rows = []
    for _, name, text, *_ in rows_of(testing):
        if rows and rows[-1][0].endswith('-'):          # a name of two lines is two rows
            above = rows.pop()
            name, text = above[0] + name, f'{above[1]} {text}'
        rows.append((name, text))
    return [row for row in rows if f'group_{row[0]}' in shell]


def check_figures(rows, shell):
    for name, text in rows:
        known = ' '.join([reached(f'group_{name}', shell), *map(read, NAMED.findall(text))])
        for figure in FIGURE.findall(text):
            if not re.search(rf'(?<!\d){figure.replace(",", "")}(?!\d)', known):
                faults.append(f'{TESTING}: {name} has no {figure}')
    if len(rows) < 30:
        faults.append(f'{TESTING}: {len(rows)} groups found, there must be more')


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


def words_of_modules(sources):
    return {word for path, text in sources.items() if re.match(r'(include|[rsx]\w+rdma2)/', path)
            for word in re.findall(r'\w+', COMMENT.sub('', text))}


def check_functions(name, text, words):
    for function in sorted(set(CALLED.findall(text)) - words):
        faults.append(f'{name}: the modules have no {function}()')


def resolutions(document):
    """Returns the text of each S decision of section 2.1."""
    found = re.findall(r'^(S\d\d(?: S\d\d)*)\n((?:(?:    .*)?\n)+)', document, re.M)
    return {i: ' '.join(text.replace('`', '').split())
            for ids, text in found for i in ids.split()}


def check_meanings(document):
    """The tester's file has to have the S decisions in the words of the document."""
    known = resolutions(read(MEANINGS))
    for i, words in resolutions(document).items():
        if known.get(i) != words:
            faults.append(f'{MEANINGS}: {i} is not what {DOCUMENT} has ({sys.argv[0]} --meanings)')
    if known.keys() - resolutions(document).keys():
        faults.append(f'{MEANINGS} has decisions that {DOCUMENT} lacks')


def write_meanings(document):
    """Writes the document's decisions into the tester's file, after the other requirements."""
    ids = {}
    for i, words in sorted(resolutions(document).items()):
        ids.setdefault(words, []).append(i)
    text = re.split(r'^S\d\d', read(MEANINGS), 1, re.M)[0]
    for words, of_it in ids.items():
        text += ' '.join(of_it) + '\n' + textwrap.fill(
            words, 88, initial_indent='    ', subsequent_indent='    ',
            break_long_words=False, break_on_hyphens=False) + '\n'
    with open(MEANINGS, 'w', encoding='utf-8') as file:
        file.write(text)


def is_found(check, *arguments):
    """Whether the check finds a fault in these arguments; the fault itself is discarded."""
    before = len(faults)
    check(*arguments)
    found = faults[before:]
    del faults[before:]
    return bool(found)


def spoilt(pattern, text):
    """Returns copies of the text, each with a changed end of one match."""
    return [text[:m.end()] + '77' + text[m.end():] for m in re.finditer(pattern, text, re.M)]


def false_rows(document, sources, shell, modules):
    """Yields each name in the tables in a false form, with the check that has to detect it."""
    groups = groups_of(shell)
    for line, requirement, where, test in rows_of(document, 'requirement'):
        for cell in spoilt(r'[\w-]+(?=[,;.:]|$)', where):
            yield cell, check_where, line, cell, sources
        if not test:
            continue
        for cell in spoilt(r'[\w-]+(?=[,;:]|$)', test.replace('nfs-test:', '')):
            yield cell, check_test, line, cell, sources, groups
        more = requirement + ' C-999'
        yield more, check_ids, line, more, test, sources, shell, modules


def false_texts(document, testing, sources, shell):
    """Yields the same for names outside of these tables."""
    words = words_of_modules(sources)
    for old, new in ('C-080', 'C-008'), ('\n2.3 ', '\n2.7 '):
        yield new, check_sources, document.replace(old, new), sources
    for text in spoilt(r'^S\d\d\n    \w+', document):
        yield 'a decision', check_meanings, text
    for text in spoilt(CALLED.pattern, read(ARCHITECTURE)):
        yield 'a function', check_functions, ARCHITECTURE, text, words
    rows = groups_of_testing(testing, shell)
    for i, (name, text) in enumerate(rows):
        for false in spoilt(FIGURE.pattern, text):
            yield name, check_figures, [*rows[:i], (name, false), *rows[i + 1:]], shell


def canary(document, sources):
    shell, modules = shell_parts(sources), tester_modules(sources)
    false = [*false_rows(document, sources, shell, modules),
             *false_texts(document, read(TESTING), sources, shell)]
    missed = [what for what, *arguments in false if not is_found(*arguments)]
    faults.extend(f'false, and no fault: {what}' for what in missed)
    if len(false) < 500:
        faults.append(f'{len(false)} names made false, there must be more')


def main():
    document = read(DOCUMENT)
    if sys.argv[1:] == ['--meanings']:
        write_meanings(document)
        return 0
    sources = {path: read(path) for pattern in SOURCES
               for path in sorted(glob.glob(pattern))}
    if sys.argv[1:] == ['--canary']:
        canary(document, sources)
    else:
        check_meanings(document)
        check_sources(document, sources)
        check_rows(document, sources)
        words = words_of_modules(sources)
        for name in sorted(glob.glob('Documentation/*.rst')):
            check_functions(name, read(name), words)
        shell = shell_parts(sources)
        check_figures(groups_of_testing(read(TESTING), shell), shell)
    print('\n'.join(faults), end='\n' if faults else '')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
