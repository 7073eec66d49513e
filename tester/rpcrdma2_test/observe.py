# SPDX-License-Identifier: GPL-2.0
"""
What a case cannot see on the wire, for --observe: counters, connections, decisions and log lines
of the client, if it is xprtrdma2 on this machine. A case has its expectations in its decorator, by
kind:

    counts  an expression over the rise of the client's counters, between the first and the last
            look with counters
    ended   the reason for which a connection of the client ended, at the last look
    acts    the versions that the client settled for, and its decisions as answer>action, in the
            words of the trace event with _ for a blank; "-" for none. After "fail" mount.nfs
            reports EPROTONOSUPPORT, and the log has the reason once.
    looks   for each look the same, and the number of log lines about version 1; * is any text
    logged  how often the log has the reason why an RPC has failed
    says    a text in the output of the command

Each is a result of its own. Its name is the key if the expectation is a dictionary.
"""

import dataclasses
import fnmatch
import pathlib
import re
import subprocess
import time

from . import report
from .waits import scaled

DEBUG = pathlib.Path('/sys/kernel/debug/xprtrdma2')
VIEW = pathlib.Path('/proc/net/rpc/xprtrdma2')
TRACE = pathlib.Path('/sys/kernel/tracing/trace')
RECENT = 30             # seconds since the end of a connection, at most
FAILED = 'no common version with'

# By kind: the names of results, and those of some modules
NAMES = {'acts': '{name}: actions', 'counts': '{name}: counters',
         'ended': '{name}: the view has the reason, {value}',
         'looks': '{short}, look {number}: {value}', 'logged': '{name}: logged once',
         'says': '{name}: output',
         'client_replies counts': 'beside {name}', 'client_resends counts': 'beside {name}',
         'client_killed counts': '{short}: as counted',
         'client_killed ended': '{short}: the view has the reason, {value}'}


def expectations(case):
    """Returns the kind, the name, the value and the number of each expectation of the case."""
    module, _, short = case.name.partition('.')
    found = []
    for kind, values in case.expected:
        if not isinstance(values, dict):
            values = {None: values}
        for name, value in values.items():
            name = name or NAMES.get(f'{module} {kind}', NAMES[kind])
            for number, one in enumerate(value if kind == 'looks' else [value]):
                found.append((kind, name.format(name=case.name, short=short, value=one,
                                                number=number + 1), one, number))
    return found


def lacks(needs):
    """Returns the fault injection, of those that a case needs, that this kernel does not have."""
    return [name for name in needs if name.startswith('fail_') and not (DEBUG / name).exists()]


def counters():
    lines = (DEBUG / 'counters').read_text().splitlines()
    return {name: int(value) for name, value in map(str.split, lines)}


def log():
    return subprocess.run(['dmesg'], check=True, capture_output=True, text=True).stdout


def why_not():
    """Returns why the client cannot be observed."""
    try:
        VIEW.read_text()
        counters()
        log()
    except subprocess.CalledProcessError as reason:
        return reason.stderr.strip() or str(reason)
    except OSError as reason:
        return f'{reason.filename}: {reason.strerror}'
    return ''


def decisions(port):
    """Returns the versions that the client settled for with this port, and its decisions."""
    lines = '\n'.join(a for a in TRACE.read_text().splitlines() if f':{port} ' in a)
    settled = re.findall(r' xprt2_settled: .*version=(.*)', lines)
    acts = re.findall(r' xprt2_negotiate: .*answer=(.*) action=(.*)', lines)
    return ','.join(settled) + ' ' + ','.join(map('>'.join, acts)).replace(' ', '_')


def full_log():
    """Returns the time until the kernel logs again: at most ten messages about versions in 5 s."""
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    times = re.findall(rf'^\[ *([\d.]+)\].*{FAILED}', log(), re.M)
    return max([0, *(float(at) + 6 - now for at in times[-10:-9])])


@dataclasses.dataclass
class Look:
    """The client's state at one time"""
    counters: dict
    view: str
    decisions: str = ''


class Observer:
    """Observes the client during one case, in which the server has the address and the port."""

    def __init__(self, case, host, port):
        self.case, self.host, self.port = case, host, port
        self.looks, self.faults, self.said = [], set(), ''
        self.kinds = {kind for kind, _ in case.expected}
        if self.kinds & {'acts', 'logged'}:
            time.sleep(full_log())

    def look(self, counted=True):
        text = ''
        if 'looks' in self.kinds:
            lines = self.logged('version 1 of RPC-over-RDMA with', ' ')
            text = f'{decisions(self.port)} {lines}'
        self.looks.append(Look(counters() if counted else None, VIEW.read_text(), text))

    def rise(self):
        """Returns the rise of the counters between the first and the last look with them."""
        first, *_, last = [a.counters for a in self.looks if a.counters]
        return {name: last[name] - first[name] for name in first}

    def risen(self, counter):
        """Returns the rise of a counter since the last look."""
        return counters()[counter] - self.looks[-1].counters[counter]

    def logged(self, before=FAILED, after=':'):
        return log().count(f'{before} server {self.host} port {self.port}{after}')

    # Fault injection of the client

    def fault(self, name, times):
        """The next attempts fail, -1: all."""
        self.faults.add(DEBUG / name)
        for file, value in (('times', times), ('space', 0), ('probability', 100)):
            (DEBUG / name / file).write_text(str(value))

    @staticmethod
    def faulted(name):
        """Whether all of these attempts have failed."""
        return not int((DEBUG / name / 'times').read_text())

    def no_faults(self):
        for folder in self.faults:
            (folder / 'probability').write_text('0')

    # Verdicts: why an expectation does not hold

    def end(self, process):
        """Observes the end of a case, before its server ends."""
        self.no_faults()
        if not self.case.many and len(self.looks) < 2:
            self.look()
        if process and self.kinds & {'acts', 'says'}:
            self.said = process.communicate(timeout=scaled(5))[0].decode()

    def not_counts(self, value, _):
        rise = self.rise()
        try:
            if eval(value, {'__builtins__': {}}, rise):
                return ''
        except NameError as reason:
            return f'there is no counter {reason.name}'
        return f'not {value}: ' + ', '.join(
            f'{name} {rise[name]}' for name in rise
            if re.search(rf'\b{name}\b', value) or name.startswith('ended_') and rise[name])

    def not_ended(self, value, _):
        most = RECENT if self.case.kept else scaled(RECENT)
        lines = [a for a in self.looks[-1].view.splitlines() if f':{self.port} ' in a]
        for reason, seconds in re.findall(r' ended=(\S+) ended_ago=(\d+)', '\n'.join(lines)):
            if reason == value.replace(' ', '-') and int(seconds) <= most:
                return ''
        return f'the view has not {value!r}: {lines}'

    def not_acts(self, value, _):
        got = decisions(self.port)
        if got != ' '.join('' if word == '-' else word for word in value.split()):
            return f'not {value}: {got}'
        if not value.endswith('>fail'):
            return ''
        if not re.search(r'^mount\.nfs.*: Protocol not supported', self.said, re.M):
            return f'mount.nfs does not report EPROTONOSUPPORT: {self.said[-200:]!r}'
        return self.not_logged(1, _)

    def not_looks(self, value, number):
        got = self.looks[number].decisions if number < len(self.looks) else 'nothing'
        return '' if fnmatch.fnmatchcase(got, value) else f'not {value}: {got}'

    def not_logged(self, value, _):
        got = self.logged()
        return '' if got == value else f'the log has the reason {got} times'

    def not_says(self, value, _):
        return '' if value in self.said else f'not {value!r}: {self.said[-200:]!r}'

    def results(self, result):
        """Returns a result for each expectation, after that of the case."""
        for kind, name, value, number in expectations(self.case):
            status, why = result.status, result.why
            if status != report.NOT_APPLICABLE:
                try:
                    why = getattr(self, f'not_{kind}')(value, number)
                except Exception as reason:     # without looks, or a fault of the tester
                    why = f'{len(self.looks)} looks: {type(reason).__name__}: {reason}'
                status = report.FAILED if why else report.PASSED
            yield report.Result(dataclasses.replace(self.case, name=name), status, why,
                                observed=True)
