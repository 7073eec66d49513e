# SPDX-License-Identifier: GPL-2.0
"""Cases, and how one ends when it does not pass."""

import dataclasses
import importlib
import pathlib
import pkgutil
import re

ID = re.compile(r'[BCEPS]-?\d{2,3}')
# What of the requirements can be counted: those of the tables of section 1.
TABLES = {'C': 109, 'B': 20, 'P': 13, 'E': 29}


class Failure(Exception):
    """The peer did not do what the requirement says."""


class NoConnection(Failure):
    """The peer did not come."""


class NotApplicable(Exception):
    """The case says nothing about this peer; the text says why."""


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    ids: tuple
    title: str
    function: object
    plays: str          # the tester's part: client or server
    version: int
    needs: tuple        # export, set
    kept: bool = False  # plays server, on a mount that several cases share
    many: bool = False  # plays server, with all its connections at a time


CASES = []


def case(ids, plays='client', version=2, needs=(), kept=False, many=False):
    """
    A case about these requirements, in words separated by blanks.

    The function's first line of documentation says what has to be so. It gets
    one argument, by which it talks to the peer, and passes by coming back.
    """
    ids = tuple(ids.split())
    assert all(ID.fullmatch(i) for i in ids), ids

    def add(function):
        module = function.__module__.rpartition('.')[2]
        name = f'{module}.{function.__name__}'
        title = function.__doc__.strip().partition('\n')[0].rstrip('.')
        CASES.append(Case(name, ids, title, function, plays, version,
                          tuple(needs.split() if isinstance(needs, str) else needs),
                          kept, many))
        return function
    return add


def check(condition, why):
    if not condition:
        raise Failure(why)


def load():
    """Every module of cases; in the order of their names."""
    from . import cases
    if not CASES:
        for module in pkgutil.iter_modules(cases.__path__):
            importlib.import_module(f'{cases.__name__}.{module.name}')
    names = [c.name for c in CASES]
    assert len(set(names)) == len(names), 'two cases of one name'
    return CASES


def chosen(cases, words):
    """Those that the words name: a case, a module or a requirement."""
    if not words:
        return cases
    return [c for c in cases for w in words
            if w in c.ids or w == c.name or c.name.startswith(w.rstrip('.') + '.')]


def meanings():
    """Requirements by id, in words: a heading and the text."""
    found, headings = {}, []
    text = (pathlib.Path(__file__).parent / 'requirements.txt').read_text('utf-8')
    for line in text.splitlines():
        if line.startswith('    '):
            for i in headings:
                found[i] += ' ' + line.strip()
        elif line and not line.startswith('#'):
            headings = ID.findall(line.partition(' section ')[0])
            where = line.partition(' section ')[2]
            found.update({i: f'(section {where})' if where else '' for i in headings})
    return {i: text.strip() for i, text in found.items()}


def covered(cases):
    """Requirements of the tables that have a case."""
    return sorted({i for c in cases for i in c.ids if i[0] in TABLES})
