# SPDX-License-Identifier: GPL-2.0
"""
Whether the cases can fail. Each one that is named in faults.py has to pass with a server
that has no fault, and to fail with a fault that it is about.
"""

import contextlib
import tempfile
import threading
import traceback

from . import report
from .client import Client
from .faults import FAULTS
from .flawed import Peer
from .registry import Case, Failure


@contextlib.contextmanager
def served(kind, trigger):
    """Such a server in a thread of its own; what has ended that before its time"""
    peer, stop, died = kind(trigger), threading.Event(), []

    def serve():
        try:
            while not stop.is_set():
                peer.connection()
        except Exception:
            died.append(traceback.format_exc(limit=-1))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield died
    finally:
        stop.set()
        thread.join()
        peer.close()


def results_of(kind, cases, trigger, target, run):
    """How the cases end with such a server; and why not, if it has not worked to the end"""
    with served(kind, trigger) as died:
        results = [run(case, Client(target, case.version)) for case in cases]
    return results, ' '.join(died)


def judged(name, results, died, fail):
    """
    One result of all of these: with a fault they fail, not by one of the tester, nor for
    want of a connection.
    """
    others = [r for r in results if r.status != (report.FAILED if fail else report.PASSED) or
              fail and (not r.why.startswith('line ') or '[Errno' in r.why)]
    why = died or '; '.join(f'{r.case.name}: {r.status}: {r.why}' for r in others or results)
    if not died and not others:
        name = f'{name}: {len(results)} cases {"fail as they must" if fail else "pass"}'
    return report.Result(Case(name, (), '', None, 'client', 2, ()),
                         report.FAILED if died or others else report.PASSED, why)


def main(cases, words, trigger, target, form, run):
    """One result for the server without a fault, and one for each fault"""
    unknown = set(words) - {k.__name__ for k in FAULTS}
    if unknown:
        raise Failure(f'no fault is called {" or ".join(unknown)}')
    kinds = [k for k in FAULTS if not words or k.__name__ in words]
    gone = set().union(*(k.cases for k in FAULTS)) - {c.name for c in cases}
    if gone:
        raise Failure(f'no case is called {" or ".join(sorted(gone))}')
    if not target.export:
        cases = [c for c in cases if 'export' not in c.needs]
    lists = {k: [c for c in cases if c.name in k.cases] for k in kinds}
    kinds = [k for k in kinds if lists[k]]
    wanted = {c.name for k in kinds for c in lists[k]}
    with tempfile.TemporaryDirectory() as folder:
        Peer.settings_in = folder
        target.setter = f'echo "$VALUE" >"{folder}/$SETTING"'
        with served(Peer, trigger):
            target.survey()
        form.begin([Peer, *kinds])
        found = []
        for kind in [Peer, *kinds]:
            of_it = lists.get(kind) or [c for c in cases if c.name in wanted]
            name = f'{kind.__name__}: {kind.__doc__}' if kind in lists else 'no fault'
            found.append(judged(name, *results_of(kind, of_it, trigger, target, run),
                                kind in lists))
            form.add(found[-1])
    form.end(found)
    return found
