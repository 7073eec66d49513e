# SPDX-License-Identifier: GPL-2.0
"""
Tests that the cases can fail. Each case in faults.py has to pass with a server without a fault,
and to fail with each fault that lists it. The same holds for cases in visitors.py and a client.
"""

import contextlib
import dataclasses
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

from . import report, visitor, waits
from .client import Client
from .faults import FAULTS
from .flawed import Peer
from .registry import Case, Failure
from .server import Server, Trigger
from .visitors import Visitor

PORTS = itertools.count(1)      # one for each client, because connection requests may arrive late
# Clients are forks of a process that has imported all this, but has used no RDMA device.
PROCESSES = multiprocessing.get_context('forkserver')
PROCESSES.set_forkserver_preload([__name__])


@contextlib.contextmanager
def served(kind, trigger):
    """Runs this server in a thread; yields a list that receives the traceback if it fails."""
    peer, stop, died = kind(trigger), threading.Event(), []

    def serve():
        try:
            while not stop.is_set():
                peer.connection()
        except BaseException:       # a thread that exits has failed, too
            died.append(traceback.format_exc(limit=-1))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield died
    finally:
        stop.set()
        thread.join()
        peer.close()


def of_server(kind, cases, trigger, target, run):
    """Returns the results of the cases with this server, and the reason if the server failed."""
    with served(kind, trigger) as died:
        results = [run(case, Client(target, case.version)) for case in cases]
    return results, ' '.join(died)


class Visit:
    """A client of a server, which replaces the command of a trigger"""
    returncode = None
    # The visit has succeeded, or has failed, or the tester has ended it.
    expected = 0, visitor.STOPPED, -signal.SIGTERM, -signal.SIGKILL

    def __init__(self, *arguments):
        ready, leads = PROCESSES.Pipe(duplex=False)
        self.process = PROCESSES.Process(target=visit, args=(leads, *arguments), daemon=True)
        self.process.start()
        self.pid = self.process.pid
        ready.poll(60)          # a signal for its group does not reach it before

    def wait(self, timeout=None):
        self.process.join(timeout)
        self.returncode = self.process.exitcode
        if self.returncode is None:
            raise subprocess.TimeoutExpired('visit', timeout)
        return self.returncode

    def poll(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def communicate(self, timeout=None):
        self.wait(timeout)
        return b'', None


def visit(leads, kind, host, root, died, factor, environment):
    """The process of such a client, which leads a process group"""
    os.setsid()
    leads.send(True)
    os.environ.update(environment)
    waits.FACTOR = factor
    sys.stderr = open(died, 'a', encoding='utf-8')      # until the end of the process
    sys.exit(visitor.main(kind, host, environment['PORT'], root))


@dataclasses.dataclass
class Visits(Trigger):
    """Clients of this kind"""
    arguments: tuple = ()
    visits: list = dataclasses.field(default_factory=list)

    def run(self, output):
        self.visits.append(Visit(*self.arguments, waits.FACTOR, self.environment))
        return self.visits[-1]


def of_client(kind, cases, trigger, target, run):
    """Returns the same with this client, which is a process for each case."""
    with tempfile.NamedTemporaryFile('r', encoding='utf-8') as died:
        of_kind = Visits(**vars(trigger), arguments=(kind, target.host, target.root, died.name))
        results = [run(case, Server(dataclasses.replace(
            of_kind, case=case.name, port=trigger.port + next(PORTS)))) for case in cases]
        ends = [visit.wait(waits.scaled(60)) for visit in of_kind.visits]
        crashes = [f'a client ends with {end}' for end in ends if end not in Visit.expected]
        return results, '; '.join([*crashes, *died.read().splitlines()])


def judged(name, results, died, fault):
    """
    Combines the results into one.

    With a fault the cases have to fail, and not by an error of the tester. A lost connection
    counts only if it is the fault.
    """
    def fails(result):
        return (result.status == report.FAILED and result.why.startswith('line ') and
                (fault.loses or not result.lost))

    others = [r for r in results if not (fails(r) if fault else r.status == report.PASSED)]
    why = died or '; '.join(f'{r.case.name}: {r.status}: {r.why}' for r in others or results)
    if not died and not others:
        name = f'{name}: {len(results)} cases {"fail as they must" if fault else "pass"}'
    return report.Result(Case(name, (), '', None, 'client', 2, ()),
                         report.FAILED if died or others else report.PASSED, why)


def main(cases, words, trigger, target, form, run):
    """Returns a result for each peer without a fault, and one for each fault."""
    unknown = set(words) - {k.__name__ for k in FAULTS}
    if unknown:
        raise Failure(f'no fault is called {" or ".join(unknown)}')
    kinds = [k for k in FAULTS if not words or k.__name__ in words]
    gone = set().union(*(k.cases for k in FAULTS)) - {c.name for c in cases}
    if gone:
        raise Failure(f'no case is called {" or ".join(sorted(gone))}')
    if not target.export:       # clients always have files
        cases = [c for c in cases if 'export' not in c.needs and c.plays == 'client']
    lists = {k: [c for c in cases if c.name in k.cases] for k in kinds}
    for base in (Peer, Visitor):
        of_it = [k for k in kinds if issubclass(k, Visitor) == (base is Visitor) and lists[k]]
        wanted = {c.name for k in of_it for c in lists[k]}
        if wanted:
            lists[base] = [c for c in cases if c.name in wanted]
    kinds = sorted((k for k in (Peer, Visitor, *FAULTS) if lists.get(k)),
                   key=lambda k: issubclass(k, Visitor))
    with tempfile.TemporaryDirectory() as folder:
        Peer.settings_in = folder
        target.setter = f'echo "$VALUE" >"{folder}/$SETTING"'
        with served(Peer, trigger):
            target.survey()
        form.begin(kinds)
        found = []
        for kind in kinds:
            fault = kind if kind in FAULTS else None
            play = of_client if issubclass(kind, Visitor) else of_server
            name = f'{kind.__name__}: {kind.__doc__}' if fault else f'{kind.plays} without a fault'
            found.append(judged(name, *play(kind, lists[kind], trigger, target, run), fault))
            form.add(found[-1])
    form.end(found)
    return found
