# SPDX-License-Identifier: GPL-2.0
"""Results for people, for harnesses (TAP) and for programs (JSON)."""

import dataclasses
import json

from . import registry

PASSED, FAILED, NOT_APPLICABLE = 'passed', 'failed', 'not applicable'


@dataclasses.dataclass(frozen=True)
class Result:
    case: registry.Case
    status: str
    why: str = ''
    seconds: float = 0.0
    lost: bool = False      # failed because of a lost connection
    known: bool = False     # failed, as --known expects
    unclean: bool = False   # failed after the case, with its settings or files
    observed: bool = False  # an expectation of --observe, with the ids of its case

    @property
    def words(self):
        """The name, behind the ids of a case"""
        return ' '.join([*(() if self.observed else self.case.ids), self.case.name])


def by_requirement(results):
    """A requirement fails if one of its cases failed, and passes if others passed."""
    found = {}
    for result in results:
        for i in result.case.ids:
            found.setdefault(i, []).append(result)
    verdicts = {}
    for i, of_it in sorted(found.items()):
        statuses = {r.status for r in of_it}
        verdicts[i] = (FAILED if FAILED in statuses else
                       PASSED if PASSED in statuses else NOT_APPLICABLE), of_it
    return verdicts


def one_line(text):
    return ' '.join(str(text).split())


class Text:
    """Prints one line per case when it ends, and a summary by requirement."""

    def begin(self, cases):
        pass

    def add(self, result):
        line = f'{result.status:14}  {result.case.name}'
        print(f'{line}: {one_line(result.why)}' if result.why else line, flush=True)

    def end(self, results):
        verdicts = by_requirement(results)
        for status in (FAILED, NOT_APPLICABLE):
            for i, (verdict, of_it) in verdicts.items():
                for r in (r for r in of_it if verdict == status == r.status):
                    print(f'\n{i}: {status}\n    {r.case.title}\n'
                          f'    {r.case.name}: {one_line(r.why)}')
        print(f'\n{"":14}{"cases":>14}{"requirements":>14}')
        for status in (PASSED, FAILED, NOT_APPLICABLE):
            count = sum(r.status == status for r in results)
            ids = sum(v == status for v, _ in verdicts.values())
            print(f'{status:14}{count:14}{ids:14}')


class Tap:
    """The Test Anything Protocol; cases that do not apply are skipped."""

    def begin(self, cases):
        self.count = 0
        print(f'TAP version 13\n1..{len(cases)}', flush=True)

    def add(self, result):
        self.count += 1
        line = (f'{"not " if result.status == FAILED else ""}ok {self.count} - '
                f'{result.words}')
        if result.status == NOT_APPLICABLE:
            line += f' # SKIP {one_line(result.why)}'
        print(line, flush=True)
        if result.status == FAILED:
            print(f'# {one_line(result.why)}', flush=True)
        if result.seconds > 10:
            print(f'# {result.case.name}: {result.seconds:.1f} s', flush=True)

    def end(self, results):
        pass


class Lines:
    """Prints a line per case for the guests' scripts."""
    WORDS = {PASSED: 'ok', FAILED: 'FAIL', NOT_APPLICABLE: '#'}

    def begin(self, cases):
        pass

    def add(self, result):
        line = f'{self.WORDS[result.status]} {result.words}'
        if result.status == NOT_APPLICABLE:
            line += ': not applicable'
        if result.why and result.status == PASSED:      # the name is the same in each run
            line += f'\n# {one_line(result.why)}'
        elif result.why:
            line += f': {one_line(result.why)}'
        print(line, flush=True)
        if result.seconds > 10:
            print(f'# {result.case.name}: {result.seconds:.1f} s', flush=True)

    def end(self, results):
        pass


class Json:
    """Prints one object at the end."""

    def begin(self, cases):
        pass

    def add(self, result):
        pass

    def end(self, results):
        print(json.dumps({
            'cases': [{'name': r.case.name, 'requirements': r.case.ids,
                       'title': r.case.title, 'status': r.status, 'why': one_line(r.why),
                       'seconds': round(r.seconds, 3)} for r in results],
            'requirements': {i: v for i, (v, _) in by_requirement(results).items()},
        }, indent=1))
