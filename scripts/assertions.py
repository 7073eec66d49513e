#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0
"""
Counts the assertions of the tests in BASE and in HEAD, and lists each commit between them that
removes more assertions of a kind than it adds. Each of these needs its reason: a line "COMMIT
REASON" in scripts/assertions.txt, or a trailer "Assertions: REASON" of its own message. The exit
status is 1 if a reason is missing, and 2 if BASE or HEAD is wrong.
"""

import argparse
import collections
import os
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
EMPTY = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'      # git's tree without files
PATCH = ('-p', '-U0', '--no-renames', '--src-prefix=a/', '--dst-prefix=b/')
PATHS = ('--', 'scripts', 'tester', 'kunit')
FORMAT = '--format=%x01%H%x02%s%x02%(trailers:key=Assertions,valueonly)%x02'
# Kind, files, and an assertion: a macro, a function or a command that makes a verdict
KINDS = [(kind, re.compile(files), re.compile(site)) for kind, files, site in (
    ('KUnit', r'^kunit/.*\.[ch]$', r'\b(KUNIT_(EXPECT|ASSERT)_\w+|(?<!void )expect_\w+)\('),
    ('KUnit case', r'^kunit/.*\.[ch]$', r'\bKUNIT_CASE\w*\('),
    ('tester', r'^tester/.*\.py$', r'(?<!def )\b(check|must|expect\w*|fails|bounded)\(|\braise '
     r'(Failure|NoConnection)\b|\bt\.(alive|answered|goes_on|nothing|succeeds|refused|given_up)\('),
    ('tester case', r'^tester/.*\.py$', r'^@(registry\.)?case\('),
    ('program', r'^scripts/.*\.(py|[ch])$', r'(?<!def )\b(must|fails_with|require|assert\w+)\('),
    ('shell', r'^scripts/.*\.sh$', r'(^|[;|&({!]|\b(if|then|else|do))\s*(check|expect|fail|same|'
     r'bounded|without|\w*refuses|has_verified|verdicts|complain)\s+["$\w\'-]|\bwhy\+='))]
COMMENT = re.compile(r'\s*(#(?!define)|//|/?\*)')


def git(*arguments):
    done = subprocess.run(['git', '-C', FOLDER + '/..', *arguments], check=False,
                          stdout=subprocess.PIPE, encoding='utf-8', errors='replace')
    if done.returncode:
        print(f'git {" ".join(arguments)}: exit status {done.returncode}', file=sys.stderr)
        sys.exit(2)
    return done.stdout


def added(patch):
    """Returns how many assertions of each kind the patch adds."""
    total, path = collections.Counter(), ''
    for line in patch.split('\n'):
        if re.match(r'(--- a|\+\+\+ b)/', line):
            path = line[6:]
        elif line.startswith(('-', '+')) and not COMMENT.match(line[1:]):
            for kind, files, site in KINDS:
                if files.search(path):
                    number = len(list(site.finditer(line[1:])))
                    total[kind] += number if line[0] == '+' else -number
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('base', metavar='BASE')
    parser.add_argument('head', metavar='HEAD', nargs='?', default='HEAD')
    base, head = vars(parser.parse_args()).values()
    git('merge-base', '--is-ancestor', base, head)
    before, after = (added(git('diff', *PATCH, EMPTY, commit, *PATHS)) for commit in (base, head))
    for kind, *_ in KINDS:
        print(f'{kind:12}{before[kind]:6}{after[kind]:6}')
    with open(FOLDER + '/assertions.txt', encoding='utf-8') as lines:
        known = dict(re.findall(r'^([0-9a-f]{8}) (.+(?:\n .+)*)', lines.read(), re.MULTILINE))
    missing = False
    log = git('log', '--reverse', *PATCH, FORMAT, f'{base}..{head}', *PATHS)
    for commit in log.split('\1')[1:]:
        name, subject, reason, patch = commit.split('\2', 3)
        fewer = [f'{kind} {n}' for kind, n in sorted(added(patch).items()) if n < 0]
        if fewer:
            reason = known.get(name[:8], reason.strip()).replace('\n', '')
            missing |= not reason
            print(f'{name[:8]} {subject}: {", ".join(fewer)}\n    {reason or "no reason"}')
    sys.exit(missing)


main()
