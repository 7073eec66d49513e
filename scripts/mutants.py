#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Changes one place at a time in the code that runs in user space, and runs the unit tests; called
by mutants.sh, with the folder of the shim's headers as first argument.

A change of one place is a mutant. It is killed when a suite fails, crashes, or does not end; a
change that does not compile is not a mutant. tcc compiles the mutants because it takes
milliseconds. Mutants that survive and are not listed are compiled again by gcc, with sanitizers
and with locks that work.
"""

import collections
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

WANTED = 98.0                   # per cent
CPU = 0.5                       # seconds for a suite, which takes some 5 ms
MEMORY = 1 << 30                # bytes
LIST = 'kunit/mutants.equivalent'
FOLDERS = ['include', 'kunit', 'rpcrdma2', 'xprtrdma2', 'svcrdma2']
MAKE = ['make', '-s', '-f', 'kunit/host/Makefile', 'OUT=sanitized']
SOURCES = ('.c', '.h', '.sh', '.awk', '.txt', 'Makefile', 'Kbuild')
FLAGS = ['-w', '-std=gnu11', '-Iheaders', '-Ikunit/host', '-Iinclude']

TOKEN = re.compile(r'''
    (?P<skip>\s+|/\*.*?\*/|//[^\n]*|\\\n)
  | (?P<directive>^[ \t]*\#[ \t]*(?:define[ \t]+\w+(?:\([^)]*\))?
                                 |(?!define)(?:[^\n\\]|\\\n)*))
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
''', re.VERBOSE | re.DOTALL | re.MULTILINE)

OTHER_SIGNS = {
    '<': ['<=', '>='], '<=': ['<', '>'], '>': ['>=', '<='], '>=': ['>', '<'],
    '==': ['!='], '!=': ['=='], '&&': ['||'], '||': ['&&'], '!': [''],
    '+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'], '%': ['/'],
    '<<': ['>>'], '>>': ['<<'], '&': ['|'], '|': ['&'], '~': [''],
    '+=': ['-=', '='], '-=': ['+=', '='], '|=': ['&=', '='],
    '&=': ['|=', '='], '++': ['--'], '--': ['++'],
}
OTHER_NAMES = {'true': ['false'], 'false': ['true']}
TYPES = {'struct', 'enum', 'union', 'const', 'static', 'unsigned', 'int',
         'char', 'long', 'void', 'bool', 'size_t', 'u8', 'u16', 'u32', 'u64',
         '__be32', 'typeof', 'BUILD_BUG_ON', 'fallthrough'}
# Calls without an effect at run time, or without one that a single thread could detect
SILENT = re.compile(
    r'BUILD_BUG_ON|static_assert|WARN_ON_ONCE|lockdep_assert_held|might_sleep|'
    r'smp_[rw]?mb|smp_mb__\w+|trace_\w+')

# Macros that are followed by a statement
LOOP = re.compile(r'list_for_each\w*|scoped_guard')

Token = collections.namedtuple('Token', 'kind text start end')
Mutant = collections.namedtuple('Mutant', 'file where before after start end new')


def tokenize(text):
    tokens = []
    for m in TOKEN.finditer(text):
        if m.lastgroup != 'skip':
            tokens.append(Token(m.lastgroup, m.group(), m.start(), m.end()))
    return tokens


class Source:
    """A file, and its mutants"""

    def __init__(self, name, text):
        self.name = name
        self.text = text
        self.tokens = tokenize(text)
        self.found = {}
        self.where = os.path.basename(name)

    def close(self, at):
        """Returns the token that closes the bracket at this token."""
        depth = 0
        for i in range(at, len(self.tokens)):
            if self.tokens[i].text in '([{':
                depth += 1
            elif self.tokens[i].text in ')]}':
                depth -= 1
                if not depth:
                    return i
        raise ValueError(f'{self.name}: a bracket that is not closed')

    def add(self, start, end, new):
        first = self.text.rfind('\n', 0, start) + 1
        last = self.text.find('\n', end)
        before = ' '.join(self.text[first:last].split())
        after = ' '.join((self.text[first:start] + new +
                          self.text[end:last]).split())
        if (start, end, new) not in self.found and before != after:
            self.found[start, end, new] = Mutant(
                self.name, self.where, before, after, start, end, new)

    def replace(self, first, last, new):
        self.add(self.tokens[first].start, self.tokens[last].end, new)

    def negate(self, first, last):
        """Negates the condition between two tokens, including both."""
        if first <= last:
            text = self.text[self.tokens[first].start:self.tokens[last].end]
            self.replace(first, last, f'!({text})')

    def one_token(self, i):
        token = self.tokens[i]
        if token.kind == 'sign':
            for new in OTHER_SIGNS.get(token.text, []):
                self.replace(i, i, new)
            if token.text == '?':
                self.negate(self.condition_start(i), i - 1)
        elif token.kind == 'number':
            m = re.match(r'(0[xX][0-9a-fA-F]+|\d+)(\w*)', token.text)
            value = int(re.sub(r'^0(?=\d)', '0o', m.group(1)), 0)
            for new in [value + 1] + ([value - 1] if value else []):
                self.replace(i, i, f'{new}{m.group(2)}')
        elif token.text in OTHER_NAMES:
            for new in OTHER_NAMES[token.text]:
                self.replace(i, i, new)
        elif self.is_constant(i):
            for sign in '+-':
                self.replace(i, i, f'({token.text} {sign} 1)')

    def is_constant(self, i):
        """Whether the token is a constant's name, outside of its definition"""
        token = self.tokens[i]
        after = self.tokens[i + 1].text if i + 1 < len(self.tokens) else ''
        return (token.kind == 'name' and token.text != 'NULL' and
                re.fullmatch(r'[A-Z][A-Z0-9]*_?[A-Z0-9_]+', token.text) and
                after != '(' and (after not in ('=', ',', '}') or
                                  self.where != os.path.basename(self.name)))

    def condition_start(self, i):
        """Returns the beginning of the condition before a question mark."""
        depth = 0
        while i > 0:
            text = self.tokens[i - 1].text
            if text in ')]':
                depth += 1
            elif text in '([' and depth:
                depth -= 1
            elif not depth and (text in ('(', '[', '{', '=', ',', ';', 'return',
                                         '?', ':', '}', '|=', '+=')):
                break
            i -= 1
        return i

    def statement(self, i):
        """Adds mutants of the statement at a token; returns the beginning of the next statement."""
        text = self.tokens[i].text
        if text == '{':
            end = self.close(i)
            i += 1
            while i < end:
                i = self.statement(i)
            return end + 1
        if text in ('if', 'while', 'for', 'switch'):
            return self.controlled(i)
        if text == 'else':
            return self.statement(i + 1)
        if LOOP.fullmatch(text):
            return self.statement(self.close(i + 1) + 1)
        if text == 'do':
            i = self.close(self.statement(i + 1) + 1)
            return i + 2
        if text in ('case', 'default'):
            while self.tokens[i].text != ':':
                i += 1
            return i + 1
        return self.simple(i)

    def controlled(self, i):
        close = self.close(i + 1)
        first, last = i + 2, close - 1
        if self.tokens[i].text == 'for':
            semis = [k for k in range(first, close)
                     if self.tokens[k].text == ';']
            first, last = semis[0] + 1, semis[1] - 1
            if semis[1] + 1 < close:            # the step of a for loop
                self.replace(semis[1] + 1, close - 1, '')
        if self.tokens[i].text != 'switch':
            self.negate(first, last)
        return self.statement(close + 1)

    def simple(self, i):
        end = i
        while self.tokens[end].text != ';':
            if self.tokens[end].text in '([{':
                end = self.close(end)
            end += 1
        first = self.tokens[i].text
        if first == 'return' and end > i + 1:
            # a constant is replaced by its neighbours instead
            if end > i + 2 or not (self.is_constant(i + 1) or
                                   self.tokens[i + 1].text in
                                   ('true', 'false', 'NULL')):
                self.replace(i, end, 'return 0;')
                if self.tokens[i + 1].kind != 'text':
                    self.replace(i, end, 'return 1;')
        elif first == 'break' and self.tokens[end + 1].text == '}':
            pass                                # the last break of a switch
        elif first not in TYPES and not SILENT.fullmatch(first):
            self.replace(i, end, ';')
        return end + 1

    def is_function(self, i):
        """A function begins with a bracket in the first column."""
        return (self.tokens[i].text == '{' and self.tokens[i - 1].text == ')' and
                self.text[self.tokens[i].start - 1] == '\n')

    def mutants(self):
        i = 0
        while i < len(self.tokens):
            if not self.is_function(i):
                if self.tokens[i].kind != 'directive':
                    self.one_token(i)
                i += 1
                continue
            # The name of a function precedes its parameters.
            end, depth, k = self.close(i), 0, i - 1
            while True:
                depth += {')': 1, '(': -1}.get(self.tokens[k].text, 0)
                k -= 1
                if not depth:
                    break
            self.where = self.tokens[k].text
            self.statement(i)
            k = i
            while k < end:
                if SILENT.fullmatch(self.tokens[k].text):
                    k = self.close(k + 1)
                elif self.tokens[k].kind != 'directive':
                    self.one_token(k)
                k += 1
            self.where = os.path.basename(self.name)
            i = end + 1
        return sorted(self.found.values(), key=lambda m: (m.start, m.end, m.new))


def name_all(mutants):
    """Yields the mutants with names that do not depend on lines or files."""
    seen, total = collections.Counter(), collections.Counter()
    for m in mutants:
        total[m.where, m.before, m.after] += 1
    for m in mutants:
        key = m.where, m.before, m.after
        seen[key] += 1
        where = m.where
        if total[key] > 1:
            where += f' ({seen[key]} of {total[key]})'
        yield (where, m.before, m.after), m


def included(name, cache={}):
    """Returns the project's files that this file includes, directly or indirectly."""
    if name in cache:
        return cache[name]
    cache[name] = found = set()
    with open(name, encoding='utf-8') as file:
        text = file.read()
    for path in re.findall(r'#include [<"]([^>"]+)[>"]', text):
        for folder in ('include', os.path.dirname(name)):
            path_here = os.path.normpath(os.path.join(folder, path))
            if os.path.exists(path_here):
                found.add(path_here)
                found |= included(path_here)
                break
    return found


class Bench:
    """A process with a copy of the sources, in which it changes one file at a time"""

    def __init__(self, out, parts):
        self.top = os.path.join(out, f'tree-{os.getpid()}')
        self.pure, self.host = parts['pure'], parts['host']
        self.linked, self.drivers = parts['linked'], parts['driver']
        self.suites = parts['suite'] + self.drivers
        self.make = MAKE + ['CFLAGS=' + ' '.join(parts['cflags'] + ['-w'])]
        self.kills = collections.defaultdict(collections.Counter)
        for folder in FOLDERS:
            if os.path.isdir(folder):
                shutil.copytree(folder, os.path.join(self.top, folder),
                                ignore=lambda at, names: [
                                    n for n in names
                                    if not n.endswith(SOURCES) and
                                    not os.path.isdir(os.path.join(at, n))])
        os.symlink(os.path.join(out, 'include'), os.path.join(self.top, 'headers'))
        for source in self.pure + self.host + self.linked + self.drivers:
            self.compile(source, source[:-1] + 'o')
        for suite in self.suites:
            self.write_list(suite)

    def write_list(self, suite):
        name = self.stem(suite)
        path = os.path.join('kunit/host', f'list-{name}.c')
        with open(os.path.join(self.top, path), 'w', encoding='utf-8') as file:
            file.write(f'#include "kunit.h"\n'
                       f'extern struct kunit_suite *const {name}[];\n'
                       f'struct kunit_suite *const *const host_lists[] = '
                       f'{{ {name}, NULL }};\n')
        self.compile(path, path[:-1] + 'o')

    @staticmethod
    def stem(name):
        return os.path.basename(name)[:-len('.c')]

    def compile(self, source, to):
        done = subprocess.run(['tcc'] + FLAGS +
                              [f'-DHOST_SUITES={self.stem(source)}', '-c', source,
                               '-o', to], cwd=self.top, check=False,
                              stderr=subprocess.DEVNULL)
        return done.returncode == 0

    @staticmethod
    def limit():
        signal.setitimer(signal.ITIMER_PROF, CPU)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def sources(self, suite):
        """Returns the sources that a suite links with. A suite for code that drives a device
        links all such code of its module, as in the kernel."""
        if suite not in self.drivers:
            return self.pure
        module = os.path.basename(suite).split('_')[0]
        return self.pure + self.linked + [
            s for s in self.drivers if s != suite and
            os.path.basename(s).startswith(module + '_')]

    def run(self, suite, changed):
        """Returns the status of a suite: 0 passed, 1 does not compile, any other: killed."""
        name = self.stem(suite)
        parts = [f'kunit/host/list-{name}.o'] + [s[:-1] + 'o' for s in self.host]
        for source in self.sources(suite):
            old, new = source[:-1] + 'o', source[:-1] + 'changed.o'
            fresh = changed == source or changed in included(source)
            if fresh and not self.compile(source, new):
                return 1
            parts.append(new if fresh else old)
        done = subprocess.run(
            ['tcc'] + FLAGS + [f'-DHOST_SUITES={name}'] + parts +
            ['-run', suite, '--first'], cwd=self.top, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=self.limit)
        return done.returncode

    def run_sanitized(self, *_):
        """Like run(), for all suites at once, compiled by gcc with sanitizers"""
        done = subprocess.run(self.make, cwd=self.top, check=False,
                              stderr=subprocess.DEVNULL)
        if done.returncode:
            return 1
        done = subprocess.run(
            ['sanitized/run'], cwd=self.top, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.setitimer(
                signal.ITIMER_PROF, 20 * CPU))
        return 2 if done.returncode else 0

    def suites_for(self, name):
        users = [s for s in self.suites if
                 any(f == name or name in included(f)
                     for f in [s] + self.sources(s))]
        kills = self.kills[name]
        return sorted(users, key=lambda s: -kills[s])

    def judge(self, mutant, run, suites):
        """Returns 'killed', 'stillborn' or 'alive'."""
        path = os.path.join(self.top, mutant.file)
        with open(path, encoding='utf-8') as file:
            text = file.read()
        try:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text[:mutant.start] + mutant.new +
                           text[mutant.end:])
            for suite in suites:
                status = run(suite, mutant.file)
                if status == 1:
                    return 'stillborn'
                if status:
                    self.kills[mutant.file][suite] += 1
                    return 'killed'
            return 'alive'
        finally:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)


bench = None


def start(*args):
    global bench
    bench = Bench(*args)


def judge(mutant):
    return bench.judge(mutant, bench.run, bench.suites_for(mutant.file))


def judge_sanitized(mutant):
    return bench.judge(mutant, bench.run_sanitized, ['all'])


def read_list():
    """Reads the mutants that make no difference; each is below its reason."""
    listed, reason, lines = {}, None, []
    if not os.path.exists(LIST):
        return listed
    with open(LIST, encoding='utf-8') as file:
        for line in list(file) + ['\n']:
            line = line.rstrip('\n')
            if line.startswith('## '):
                reason = line[3:]
            elif line and not line.startswith('#'):
                lines.append(line)
            elif lines:
                where, before, after = (lines + ['', ''])[:3]
                if (len(lines) != 3 or before[:2] != '- ' or
                        after[:2] != '+ ' or not reason):
                    sys.exit(f'{LIST}: cannot be read: {lines}')
                listed[where, before[2:], after[2:]] = reason
                lines = []
    return listed


def show(name):
    print(f'{name[0]}\n- {name[1]}\n+ {name[2]}\n')


def main():
    out, only = sys.argv[1], [os.path.normpath(f) for f in sys.argv[2:]]
    parts = collections.defaultdict(list)
    with open(os.path.join(out, 'parts'), encoding='utf-8') as file:
        for line in file:
            kind, *what = line.split()
            parts[kind] += what

    # Of the code that drives devices, only files that suites test are changed.
    files = set(parts['pure'] + parts['driven'])
    for name in parts['pure'] + parts['suite']:
        files |= {f for f in included(name) if not f.startswith('kunit/')}
    mutants = []
    for name in sorted(files):
        with open(name, encoding='utf-8') as file:
            mutants += Source(name, file.read()).mutants()
    named = [(n, m) for n, m in name_all(mutants) if not only or m.file in only]

    listed = read_list()
    with multiprocessing.Pool(2, start, (out, parts)) as pool:
        if any(pool.map(passes, parts['suite'] + parts['driver'])) or not named:
            print('a suite fails without a change, or the files have no lines to '
                  'change', file=sys.stderr)
            return 2
        result = dict(zip((n for n, _ in named),
                          pool.map(judge, [m for _, m in named], chunksize=8)))
        # Survivors that are not in the list are tested again, with sanitizers.
        again = [(n, m) for n, m in named
                 if result[n] == 'alive' and n not in listed]
        result.update(zip((n for n, _ in again), pool.map(
            judge_sanitized, [m for _, m in again], chunksize=1)))
    return report(result, named, listed, bool(only))


def passes(suite):
    return bench.run(suite, None)


def report(result, named, listed, partial):
    count = collections.Counter(result.values())
    alive = [n for n in result if result[n] == 'alive']
    unknown = [n for n in alive if n not in listed]
    stale = [n for n in listed if result.get(n) != 'alive' and
             not (partial and n not in result)]

    by_file = collections.defaultdict(list)
    for name, mutant in named:
        if name in unknown:
            by_file[mutant.file].append(name)
    for file, names in sorted(by_file.items()):
        print(f'# survive in {file}:\n')
        for name in names:
            show(name)
    if stale:
        print(f'# {LIST} has what is killed, or is no mutant any more:\n')
        for name in stale:
            show(name)
    known = len(alive) - len(unknown)
    total = count['killed'] + len(unknown)
    share = 100.0 * count['killed'] / total if total else 0.0
    print(f'{total + known} mutants, {known} make no difference; of the other '
          f'{total} {count["killed"]} are killed, {share:.1f} %; '
          f'{count["stillborn"]} more do not compile')
    return 1 if stale or share < WANTED else 0


if __name__ == '__main__':
    sys.exit(main())
