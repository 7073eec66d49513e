# SPDX-License-Identifier: GPL-2.0
"""Test cases, and the exceptions with which they end."""

import dataclasses
import importlib
import pathlib
import pkgutil
import re

ID = re.compile(r'[BCEPS]-?\d{2,3}')
# Numbers of the requirements in the tables of section 1
TABLES = {'C': 109, 'B': 20, 'P': 13, 'E': 29}
# Kinds of expectations, see observe.py
KINDS = {'acts', 'counts', 'ended', 'logged', 'looks', 'says'}


class Failure(Exception):
    """The peer violated the requirement."""


class NoConnection(Failure):
    """The peer did not connect."""


class NotApplicable(Exception):
    """The case does not apply to this peer; the text has the reason."""


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    ids: tuple
    title: str
    function: object
    plays: str          # the tester's role: client or server
    version: int
    needs: tuple        # export, gss, set, observe, fail_*
    kept: bool = False  # role server, on a mount that several cases share
    many: bool = False  # role server, with concurrent connections
    expected: tuple = ()        # by --observe, see observe.py


CASES = []


def case(ids, plays='client', version=2, needs=(), kept=False, many=False, **expected):
    """
    Registers a case about these requirements, which are separated by blanks.

    The other keywords are the kinds of expectations in observe.py.

    The first line of the function's docstring states the requirement. The function has one
    argument, with which it communicates with the peer, and passes by returning.
    """
    ids = tuple(ids.split())
    assert all(ID.fullmatch(i) for i in ids), ids
    unknown = expected.keys() - (KINDS if plays == 'server' else ())
    if unknown:
        raise TypeError(f'a case as {plays} expects no {", ".join(sorted(unknown))}')

    def add(function):
        module = function.__module__.rpartition('.')[2]
        name = f'{module}.{function.__name__}'
        title = function.__doc__.strip().partition('\n')[0].rstrip('.')
        CASES.append(Case(name, ids, title, function, plays, version,
                          tuple(needs.split() if isinstance(needs, str) else needs),
                          kept, many, tuple(expected.items())))
        return function
    return add


def check(condition, why):
    if not condition:
        raise Failure(why)


def load():
    """Loads all modules of cases, in the order of their names."""
    from . import cases
    if not CASES:
        for module in pkgutil.iter_modules(cases.__path__):
            importlib.import_module(f'{cases.__name__}.{module.name}')
    names = [c.name for c in CASES]
    assert len(set(names)) == len(names), 'two cases of one name'
    return CASES


def chosen(cases, words):
    """Returns the cases that match the words: names of cases or modules, requirements, versions."""
    if not words:
        return cases
    return [c for c in cases for w in words
            if w in (*c.ids, c.name, str(c.version)) or c.name.startswith(w.rstrip('.') + '.')]


def meanings():
    """Returns the text of each requirement by id: its section and its meaning."""
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
    """Returns the requirements of the tables that have a case."""
    return sorted({i for c in cases for i in c.ids if i[0] in TABLES})
