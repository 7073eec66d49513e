# SPDX-License-Identifier: GPL-2.0
"""
Tests the wire library with messages that were written by hand: vectors.txt.

Each message is built here from its meaning and compared byte by byte, decoded and encoded
again, and truncated at every byte, which the decoder has to detect. The parts of fuzzing that
need no peer are tested too, and how a run ends.
"""

import contextlib
import errno
import io
import math
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest.mock

from . import (canary, client, endpoint, observe, registry, report, rpc, settings, visit,
               visitor, wire)
from .client import Answer, Client, Target
from .endpoint import PrivateData, failed, lib
from .fuzz import minimise, mutate
from .wire import Error, Option, Prop, Properties, Rpc, Segment, u32

HANDLE = bytes(range(1, 9))


def vectors():
    found, name = {}, ''
    text = (pathlib.Path(__file__).parent / 'vectors.txt').read_text('utf-8')
    for line in text.splitlines():
        line = line.partition(';')[0].strip()
        if line.startswith('V'):
            name = line
            found[name] = b''
        elif not line.startswith('#'):
            found[name] += bytes.fromhex(line)
    return found


def null_call(number, vers=4, **fields):
    return Rpc(number, rpc.call(number, vers=vers), **fields)


def at(number, offset):
    return number << 32 | offset


def nfs_call(number, proc, arguments, **fields):
    body = rpc.call(number, proc, arguments, cred=u32(0, 0, 0, 0))
    return Rpc(number, body, **fields)


def build_rpcs():
    x = 0x1a2b3c4d
    yield 'V01', null_call(x)
    yield 'V02', nfs_call(x + 1, rpc.WRITE, rpc.write_arguments(HANDLE, 12288),
                          inv_handle=0x00011301, reads=(
                              (72, Segment(0x00011301, 8192, at(x + 1, 0x1000))),
                              (72, Segment(0x00011402, 4096, at(x + 1, 0x3000)))))
    yield 'V03', Rpc(x + 2, proc=wire.NOMSG, inv_handle=0x00021501, reads=(
        (0, Segment(0x00021501, 4096, at(x + 2, 0))),
        (0, Segment(0x00021602, 904, at(x + 2, 0x2000)))))
    offered = [Segment(0x00031701, 4096, at(x + 3, 0)),
               Segment(0x00031802, 4096, at(x + 3, 0x4000)),
               Segment(0x00031903, 4096, at(x + 3, 0x8000))]
    yield 'V04', nfs_call(x + 3, rpc.READ, rpc.read_arguments(HANDLE, 6000),
                          inv_handle=0x00031701, writes=(offered,))
    used = [offered[0], Segment(0x00031802, 1904, at(x + 3, 0x4000)),
            Segment(0x00031903, 0, at(x + 3, 0x8000))]
    yield 'V05', Rpc(x + 3, rpc.reply(x + 3, u32(0, 0, 6000, 1, 6000)),
                     credit=64, direction=wire.REPLY, writes=(used,))
    yield 'V06', Rpc(x + 4, proc=wire.NOMSG, credit=64, direction=wire.REPLY,
                     reply=(Segment(0x00041a01, 4096, at(x + 4, 0)),
                            Segment(0x00041b02, 904, at(x + 4, 0x2000))))
    yield 'V07', Rpc(x, rpc.call(x, prog=0x40000000, vers=1), credit=2)
    yield 'V08', Rpc(x, rpc.reply(x), credit=16, direction=wire.REPLY)
    yield 'V32', null_call(x, version=1, credit=128)


def build_errors():
    x = 0x1a2b3c5e
    arguments = {1: (1, 2), 4: (1,), 5: (1,), 6: (16,), 7: (1, 12000), 8: (20480,)}
    for code in range(1, 11):
        yield f'V{code + 8:02}', Error(x + code - 1, code, arguments.get(code, ()),
                                       3 if code == 1 else 2, 64)
    yield 'V25', Error(0x70000005, wire.INVALID_OPTION, credit=64)
    yield 'V30', Error(0x70000001, wire.VERS, (1, 1), credit=64)
    yield 'V31', Error(0x1a2b3c52, wire.ERR_CHUNK, (), 1, 64)


def build_properties():
    x = 0x70000000
    both = (Prop(wire.RBSIZ, 8192), Prop(wire.BRS, wire.BRS_GENL))
    yield 'V19', wire.connprop(x + 1, both, {0, 1})
    yield 'V20', wire.connprop(x + 2)
    yield 'V21', wire.reqprop(x + 3, (Prop(wire.BRS, wire.BRS_INLINE),
                                      Prop(0xffffffff, 7), Prop(wire.RBSIZ, 65536)))
    yield 'V22', wire.resprop(x + 3, {0}, {1}, (Prop(wire.RBSIZ, 16384),), credit=64)
    yield 'V23', wire.updprop(x + 4, (Prop(wire.RBSIZ, 16384),), credit=64)
    yield 'V24', Option(x + 5, 0x7fffff01, bytes.fromhex('deadbeef0102'))
    yield 'V26', wire.connprop(x + 6, both, {0, 1}, as_option=True)
    yield 'V28', wire.connprop(x + 8, (Prop(wire.BRS, b'\0\2'),))
    yield 'V29', wire.connprop(x + 9, (Prop(4660, b'abcde'), Prop(wire.RBSIZ, b'')))


def faults():
    """Yields a line for each fault."""
    known = vectors()
    if len(known) != 35:
        yield f'{len(known)} vectors, not 35'
    for name, message in (*build_rpcs(), *build_errors(), *build_properties()):
        want = known[name]
        if message.encode() != want:
            yield f'{name}: built as {message.encode().hex(" ", 4)}'
        got = wire.decode(want)
        if got.encode() != want:
            yield f'{name}: decoded as {got}'
        yield from cuts(name, want, got)
    yield from bad_ones(known)
    for name, data in (('V33', PrivateData(1, 4096, 4096)),
                       ('V34', PrivateData(0, 4096, 4096)),
                       ('V35', PrivateData(1, 65536, 8192))):
        if data.encode() != known[name] or PrivateData.decode(known[name]) != data:
            yield f'{name}: {data}'


def cuts(name, data, whole):
    """A truncated message is malformed, except within its payload."""
    end = len(data)
    if isinstance(whole, Rpc) and whole.body:
        end = whole.header_length + 8
    for length in range(end):
        try:
            got = wire.decode(data[:length])
        except wire.WireError:
            continue
        yield f'{name}: {length} bytes of it are {got}'


def bad_ones(known):
    for name, data in (('V27', known['V27']),
                       ('V01 in direction 2', wire.Raw(known['V01']).with_word(4, 2).data),
                       ('V02 with discriminator 2', wire.Raw(known['V02']).with_word(6, 2).data),
                       ('V05 with another xid', wire.Raw(known['V05']).with_word(0, 1).data),
                       ('V10 with a word behind', known['V10'] + bytes(4))):
        try:
            yield f'{name}: decoded as {wire.decode(data)}'
        except wire.WireError:
            pass
    brs = wire.decode(known['V28'])
    try:
        assert isinstance(brs, Properties)
        yield f'V28: BRS is {brs.values[wire.BRS].word}'
    except wire.WireError:
        pass


def fuzzing():
    """Tests mutations with all messages, their dependence on the seed, and minimisation."""
    rng = random.Random(1)
    for message in (b'', bytes(3), bytes(16), bytes(range(64)), bytes(300)):
        for name in mutate.BY_NAME:
            for _ in range(40):
                m = mutate.Mutation(0, name, rng.getrandbits(32), rng.getrandbits(32))
                mutate.spoil(message, rng.choice((0, 4, 28, 1 << 16)), [m])
    if mutate.choose(random.Random(2), 50, .5) != mutate.choose(random.Random(2), 50, .5):
        yield 'mutations: one seed, and two choices'
    wanted = {3, 40}
    found = minimise.least(list(range(100)), lambda part: wanted <= set(part), math.inf)
    if set(found) != wanted:
        yield f'minimise: {found} in place of {wanted}'


def texts():
    """
    Each requirement of a case has a meaning, and each setting is in the table. Texts have the
    timeouts as --wait has set them.
    """
    known = registry.meanings()
    for case in registry.load():
        for i in case.ids:
            if not known.get(i):
                yield f'{case.name}: {i} has no meaning'
    for path in (pathlib.Path(__file__).parent / 'cases').glob('*.py'):
        for name in re.findall(r"\.set\('(\w+)'", path.read_text('utf-8')):
            if name not in settings.TABLE:
                yield f'{path.name}: the setting {name} is not in the table'
    for path in pathlib.Path(__file__).parent.rglob('*.py'):
        for text in re.findall(r'\w+ \{patience\} s\b', path.read_text('utf-8'), re.I):
            yield f'{path.name}: "{text}" is not the time that --wait sets'


def verdicts():
    """A run without passed cases fails, and so does one that lacks a demanded requirement."""
    case = registry.Case('a.b', ('C-001',), '', None, 'client', 2, ())
    passed, other = (report.Result(case, s) for s in (report.PASSED, report.NOT_APPLICABLE))
    known = report.Result(case, report.PASSED, known=True)
    beside = report.Result(case, report.PASSED, observed=True)
    for status, results, *required in (
            (0, [passed]), (3, [other]), (0, [known]), (1, [known], 'C-001'),
            (0, [passed, other], 'C-001', '2', 'a'),
            (1, [other], 'C-001'), (1, [known, beside], 'C-001'),
            (1, [passed], '1'), (1, [other, passed], 'C-002'),
            (1, [passed, report.Result(case, report.FAILED)])):
        with contextlib.redirect_stderr(io.StringIO()):
            got = main_module().verdict(results, required)
        if got != status:
            yield f'{[r.status for r in results]} with {required} ends with {got}'


def lists():
    """--known and --not-applicable change the verdicts of the cases that they name."""
    case = registry.Case('a.b', (), '', None, 'client', 2, ())
    statuses = passed, failed, other = report.PASSED, report.FAILED, report.NOT_APPLICABLE
    for words, wanted in (
            ((), statuses),
            (('--known', 'a.b: why'), (failed, passed, failed)),
            (('--known', '\na.b: not why\na.c: why\n'), (failed, failed, failed)),
            (('--all-apply',), (passed, failed, failed)),
            (('--not-applicable', 'a.c'), (passed, failed, failed)),
            (('--not-applicable', 'a.c a.b'), (failed, failed, other)),
            (('--not-applicable', 'a.b', '--known', 'a.b: why'), (failed, failed, failed))):
        options = main_module().arguments().parse_args(words)
        got = tuple(main_module().judged(report.Result(case, s, 'why'), options).status
                    for s in statuses)
        if got != wanted:
            yield f'{words}: {got}'


def errors_for_calls():
    """An error of the server where its Call may arrive fails the case."""
    registry.load()
    from .cases import callback_answers, callbacks      # complete after load()
    said = Answer(Error(1, wire.VERS, (1, 1), 1), 28, None)
    talk = types.SimpleNamespace(receive=lambda _: said)
    for function in callback_answers.next_call, callbacks.is_satisfied:
        try:
            function(talk)
            yield f'{function.__name__} accepts {said.message}'
        except registry.Failure as reason:
            if str(said.message) not in str(reason):
                yield f'{function.__name__}: {reason}'


def immediates():
    """A device has no RDMA Write With Immediate if it refuses one, and takes other RDMA Writes."""
    for refused, other, kind in ((errno.EINVAL, 0, registry.NotApplicable),
                                 (errno.EINVAL, -errno.EINVAL, endpoint.Lost),
                                 (-errno.ECONNRESET, 0, endpoint.Lost)):
        own = types.SimpleNamespace(
            ep_rdma=lambda _, what, *__, r=refused, o=other: r if what == 2 else o)
        with unittest.mock.patch.object(endpoint, 'lib', own):
            try:
                endpoint.Endpoint(1).rdma(types.SimpleNamespace(head=0), 4, 1, 2, immediate=True)
                yield f'{refused} and {other}: no error'
            except (registry.NotApplicable, endpoint.Lost) as reason:
                if not isinstance(reason, kind):
                    yield f'{refused} and {other}: {reason}'


def by_id():
    """A failed expectation fails the requirements of its case; guests see its name only."""
    case = registry.Case('a.b', ('C-001',), '', None, 'server', 2, (),
                         expected=(('logged', 1),))
    with unittest.mock.patch.multiple(observe, full_log=lambda: 0, log=lambda: ''):
        passed = report.Result(case, report.PASSED)
        beside, = observe.Observer(case, 'h', 7).results(passed)
    verdict = report.by_requirement([passed, beside])['C-001'][0]
    if verdict != report.FAILED:
        yield f'a requirement with a failed expectation: {verdict}'
    for form, result, line in (
            (report.Lines, passed, 'ok C-001 a.b'), (report.Tap, passed, 'ok 1 - C-001 a.b'),
            (report.Lines, beside, f'FAIL a.b: logged once: {beside.why}'),
            (report.Tap, beside, f'not ok 1 - a.b: logged once\n# {beside.why}')):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            one = form()
            one.count = 0
            one.add(result)
        if output.getvalue() != f'{line}\n':
            yield f'{form.__name__}: {output.getvalue()!r}, not {line!r}'


def reasons():
    """A case that is not applicable without a reason fails."""
    talk = types.SimpleNamespace(clean_up=lambda: None, close=lambda: None)
    for why, status in (('a device', report.NOT_APPLICABLE), ('', report.FAILED)):
        def skips(_, why=why):
            raise registry.NotApplicable(why)
        got = main_module().run(registry.Case('a.b', (), '', skips, 'client', 2, ()), talk)
        if got.status != status:
            yield f'not applicable because of {why!r}: {got.status}'
    got = main_module().text(failed('endpoint', -errno.ENODEV))
    if 'no RDMA device' not in got or 'Errno' in got:
        yield f'the error without a device: {got}'


def restored():
    """A setting that stays changed fails its case; the other settings are restored."""
    def sets(t):
        for name in 'credits', 'pin', 'versions':
            t.set(name, 1)

    def sets_and_fails(t):
        sets(t)
        raise registry.Failure('the peer')

    for function, first in (sets, ''), (sets_and_fails, 'the peer; '):
        with tempfile.TemporaryDirectory() as folder:
            command = f'[ "$SETTING$VALUE" != pin ] && echo "$VALUE" >{folder}/$SETTING'
            of_case = settings.Settings(command)
            case = registry.Case('a.b', (), '', function, 'client', 2, ())
            got = main_module().run(case, types.SimpleNamespace(
                set=of_case.set, clean_up=of_case.restore, close=lambda: None))
            left = {p.name: p.read_text('utf-8') for p in pathlib.Path(folder).iterdir()}
        options = types.SimpleNamespace(known={'a.b': ''}, not_applicable=None)
        got = main_module().judged(got, options)
        if (got.status != report.FAILED or 'pin is not restored' not in got.why or
                first not in got.why):
            yield f'a setting that stays: {got.status}: {got.why}'
        if left != {'credits': '\n', 'pin': '1\n', 'versions': '\n'}:
            yield f'settings after a command that fails: {left}'


def observed():
    """An expectation of --observe holds, or has failed with a reason; it does not without looks."""
    view = ('peer=h:6 ended=other ended_ago=1\npeer=h:7 state=up ended=a-b ended_ago=30 c=1\n'
            'peer=h:7 state=ended ended=c ended_ago=31\n')
    trace = ' xprt2_settled: peer=h:7 version=2\n xprt2_negotiate: peer=h:7 answer=a action=b c\n'
    log = 'version 1 of RPC-over-RDMA with server h port 7 \nno common version with server h port 7:'
    for kind, value, why in (
            ('counts', 'n == 2', ''), ('counts', 'n > 2', 'not n > 2: n 2, ended_PEER 1'),
            ('counts', 'm == 2', 'there is no counter m'), ('counts', 'n + ', 'invalid syntax'),
            ('ended', 'a b', ''), ('ended', 'other', 'the view has not'),
            ('ended', 'c', 'the view has not'),
            ('acts', '2 a>b_c', ''), ('acts', '- a>b_c', 'not - a>b_c: 2 a>b_c'),
            ('acts', '2 a>fail', 'not 2'), ('looks', ['* a>b_c 1', '2 *'], ''),
            ('looks', ['2 a>b_c 2', '2 *', '2 *'], '2 a>b_c 1'), ('says', 'some', ''),
            ('says', 'more', "not 'more'"), ('logged', 1, ''), ('logged', 2, '1 times')):
        case = registry.Case('a.b', (), '', None, 'server', 2, (), many=True,
                             expected=((kind, value),))
        with unittest.mock.patch.multiple(
                observe, full_log=lambda: 0, log=lambda: log,
                TRACE=types.SimpleNamespace(read_text=lambda: trace),
                VIEW=types.SimpleNamespace(read_text=lambda: view),
                counters=iter(({'n': 1, 'ended_PEER': 0}, {'n': 3, 'ended_PEER': 1})).__next__):
            observer = observe.Observer(case, 'h', 7)
            without = [*observer.results(report.Result(case, report.FAILED))]
            observer.said = 'some text'
            observer.look()
            observer.look()
            results = [*observer.results(report.Result(case, report.PASSED))]
        got = [r.why for r in results if r.status == report.FAILED]
        if bool(got) != bool(why) or why not in ' '.join(got):
            yield f'{kind} {value}: {got}, not {why!r}'
        if kind in ('counts', 'ended', 'looks') and any(r.status != report.FAILED for r in without):
            yield f'{kind} {value}, without a look: {without}'


def waits_for_the_log():
    """A case waits until the tenth last message of the log is 6 s old."""
    for times, wanted in (range(91, 100), 0), (range(90, 100), 0), (range(95, 105), 1):
        lines = ''.join(f'[{at:5}.500000] no common version with h\n[{at:5}.6] other\n'
                        for at in times)
        with (unittest.mock.patch.object(observe, 'log', lambda lines=lines: lines),
              unittest.mock.patch.object(time, 'clock_gettime', lambda _: 100.5)):
            got = observe.full_log()
        if got != wanted:
            yield f'messages at {times}: {got} s, not {wanted}'


def refusals():
    """After the action fail mount.nfs has to report the error, and the log the reason once."""
    case = registry.Case('a.b', (), '', None, 'server', 2, (), expected=(('acts', '- a>fail'),))
    trace = ' xprt2_negotiate: peer=h:7 answer=a action=fail\n'
    mount = 'mount.nfs: Protocol not supported'
    line = 'no common version with server h port 7: a\n'
    for said, log, why in (
            (mount, line, ''), (f'some text\n{mount} for h:/e on /mnt\n', line, ''),
            ('', line, 'mount.nfs does not'), ('mount.nfs: a\n', line, 'mount.nfs does not'),
            ('[Errno 93] Protocol not supported\n', line, 'mount.nfs does not'),
            (f'mount.nfs: a\n{mount[11:]}', line, 'mount.nfs does not'),
            (mount, '', 'the reason 0 times'), (mount, 2 * line, 'the reason 2 times'),
            (mount, line.replace('7', '8'), 'the reason 0 times')):
        with unittest.mock.patch.multiple(
                observe, full_log=lambda: 0, log=lambda log=log: log,
                TRACE=types.SimpleNamespace(read_text=lambda: trace)):
            observer = observe.Observer(case, 'h', 7)
            observer.said = said
            result, = observer.results(report.Result(case, report.PASSED))
        if (result.status == report.FAILED) != bool(why) or why not in result.why:
            yield f'a>fail with {said!r} and {log!r}: {result.why}, not {why!r}'


def actions():
    """The command for --trigger does all that a case needs only without an action."""
    for action, done, why in (('', True, None), ('moutn', False, 'no action moutn'),
                              ('moutn 1', False, 'no action moutn')):
        got = None
        with (unittest.mock.patch.dict(os.environ, {'ACTION': action}),
              unittest.mock.patch.object(visit, 'whole', return_value=True) as whole,
              unittest.mock.patch.object(signal, 'signal')):
            try:
                visit.main('h', '/e')
            except SystemExit as end:
                got = end.code
        if (whole.called, got) != (done, why):
            yield f'the action {action!r}: {got}, {whole.called}'


def misspelt():
    """A keyword of a case that no kind of expectation has is refused, and so is one of a client."""
    for plays, keyword, why in (
            ('server', 'counts', ''), ('server', 'count', 'a case as server expects no count'),
            ('client', 'counts', 'a case as client expects no counts')):
        got = ''
        try:
            registry.case('C-001', plays=plays, **{keyword: 'n == 1'})
        except TypeError as reason:
            got = str(reason)
        if got != why:
            yield f'{keyword} of a case as {plays}: {got!r}, not {why!r}'
    methods = {name[4:] for name in vars(observe.Observer) if name.startswith('not_')}
    if not registry.KINDS == methods == {k for k in observe.NAMES if ' ' not in k}:
        yield f'kinds of expectations: {registry.KINDS}, {methods}, {[*observe.NAMES]}'


class Answering(Client):
    """A client whose server supports some versions, and names a range of them"""

    def __init__(self, target, version, has, named):
        super().__init__(target, version)
        self.has, self.named, self.answers = has, named, []

    def open(self, *_, **__):
        return self

    def send(self, *messages):
        for message in messages:
            number, version = struct.unpack_from('>2I', message.encode())
            self.answers.append(
                Error(number, wire.VERS, self.named, version) if version not in self.has else
                Rpc(number, rpc.reply(number), version, direction=wire.REPLY))

    def arrival(self, patience):
        message = self.answers.pop(0)
        return Answer(message, len(message.encode()), None)


def surveyed(target, has, named):
    """Surveys a server of these versions."""
    with unittest.mock.patch.object(client, 'Client', lambda *of: Answering(*of, has, named)):
        target.survey()


def ranges():
    """A server may support versions that the tester lacks, and VERS has to agree with that."""
    case, = registry.chosen(registry.load(), ['versions.unknown_version'])
    for has, named, versions, why in (
            ((1, 2), (1, 2), (1, 2), ''), ((2,), (2, 2), (2,), ''), ((1,), (1, 1), (1,), ''),
            ((1, 2, 3), (1, 3), (1, 2), ''), ((2, 3, 4), (2, 4), (2,), ''),
            ((1, 2), (1, 3), (1, 2), 'VERS 1 to 3 for version 3'),
            ((1, 2), (0, 2), (1, 2), 'VERS 0 to 2 for version 0'),
            ((1, 2), (1, 0xffffffff), (1, 2), 'VERS 1 to 4294967295 for version 4294967295'),
            ((1, 2), (2, 2), (1, 2), 'versions 2 to 2, not (1, 2)'),
            ((2,), (1, 2), (2,), 'versions 1 to 2, not (2,)'),
            ((1, 2), (2, 1), (1, 2), 'versions 2 to 1, not (1, 2)')):
        target = Target('', 0)
        surveyed(target, has, named)
        got = main_module().run(case, Answering(target, max(has[:2]), has, named))
        right = got.why.endswith(why) if why else got.status == report.PASSED
        if target.versions != versions or not right:
            yield f'versions {has}, named {named}: {target.versions}, {got.status}: {got.why}'
    try:
        surveyed(target, (3, 4), (3, 4))
        yield 'a server of versions 3 and 4 is tested'
    except registry.Failure as reason:
        if '3 to 4' not in str(reason):
            yield f'a server of versions 3 and 4: {reason}'


def wrong_words():
    """
    Words that no case can use end the run with 2 and one error; so does a missing library, and
    a client that cannot be observed.
    """
    def refuses():
        raise subprocess.CalledProcessError(1, 'dmesg', '', 'dmesg: not permitted\n')

    server, alone = ['--server', '--trigger', 'false', '127.0.0.1'], 'needs --server, without'
    watched = ['--observe', *server, '20049']
    there = {'VIEW': pathlib.Path(os.devnull), 'counters': dict, 'log': str}
    for words, library, why, *absent in (
            (['h', 'nfs'], None, 'not nfs'), (['h', '0'], None, 'not 0'),
            (['h', '65536'], None, 'not 65536'), (['h', '-1'], None, 'not -1'),
            (['--fuzz', '--export', '/x', 'h', '99999'], None, 'not 99999'),
            (['--list', 'nosuch'], None, 'no case is called nosuch'),
            (['--known', 'headers.msgp: a\na.b: c', '--list'], None, 'no case is called a.b'),
            (['--known', 'headers.msgp', '--list'], None, 'not headers.msgp'),
            (['--known', 'headers.msgp: ', '--list'], None, 'not headers.msgp:'),
            (['--known', 'headers.msgp: a\nheaders.msgp: b', '--list'], None, 'not headers.msgp'),
            (['--not-applicable', 'a.b', 'h', '1'], None, 'no case is called a.b'),
            (['--known', 'headers.msgp: a', 'h', '1', 'versions'], None,
             '--known headers.msgp: no case that would run'),
            ([*server, '65535', 'client_codes'], None, 'ports from PORT on'),
            ([*server, '20049', 'client_codes'], '/none/lib.so', '/none/lib.so: '),
            (['h', '20049'], '/none/lib.so', '/none/lib.so: '),
            (['h', '20049'], 'libc.so.6', 'libc.so.6: undefined symbol: '),
            (['--observe', 'h', '20049'], None, alone),
            (['--observe', '--client', 'h', '20049'], None, alone),
            (['--faults', *watched], None, alone), (['--fuzz', *watched], None, alone),
            (['--replay', '1', *watched], None, alone),
            (['--flawed', '/none', *watched], None, alone),
            (watched, None, '--observe: /none/view: No such', ('VIEW', pathlib.Path('/none/view'))),
            (watched, None, '--observe: /none/counters: No such',
             ('DEBUG', pathlib.Path('/none')), ('counters', observe.counters)),
            (watched, None, '--observe: dmesg: not permitted', ('log', refuses))):
        own = {'RPCRDMA2_TEST_LIBRARY': library} if library else {}
        with (unittest.mock.patch.dict(os.environ, own),
              unittest.mock.patch.multiple(observe, **there | dict(absent)),
              unittest.mock.patch.object(type(lib), 'loaded', None),
              unittest.mock.patch.object(sys, 'argv', ['rpcrdma2-test', *words]),
              contextlib.redirect_stderr(io.StringIO()) as error,
              contextlib.redirect_stdout(io.StringIO()) as output):
            try:
                status = main_module().main()
            except SystemExit as end:
                status = end.code
        last = error.getvalue().strip().rpartition('\n')[2]
        if status != 2 or why not in last or output.getvalue():
            yield f'{" ".join(words)} with {library or absent}: {status}, {last}{output.getvalue()}'


class Ends(visitor.Visitor):
    """A client, or a server, that uses no device and ends in a way of its own"""
    reason = None
    begun = threading.Event()

    def __init__(self, *_):
        pass

    def visit(self, rounds):
        if self.reason:
            raise self.reason

    def connection(self):
        self.begun.set()
        self.visit(0)

    def close(self):
        pass


class Stops(Ends):
    reason = visitor.Stop('a Reply is missing')


class Crashes(Ends):
    reason = KeyError('a fault of the tester')


class Exits(Ends):
    reason = SystemExit(1)


class IsKilled(Ends):
    def visit(self, rounds):
        os.kill(os.getpid(), signal.SIGABRT)


def crashes():
    """A client or a server of the tester that crashes fails the run, whatever its cases do."""
    case = registry.Case('a.b', (), '', None, 'server', 2, ())
    target = types.SimpleNamespace(host='', root=b'')

    def passes(_, talk):
        talk.run()
        talk.process.wait(60)
        return report.Result(case, report.PASSED)

    for kind, why in ((Ends, ''), (Stops, ''), (Crashes, 'KeyError'), (Exits, 'ends with 1'),
                      (IsKilled, f'ends with {-signal.SIGABRT}')):
        of_it = canary.of_client(kind, [case], canary.Trigger('', 0, '', ''), target, passes)
        got = canary.judged('', *of_it, None)
        if why not in of_it[1] or got.status != (report.FAILED if why else report.PASSED):
            yield f'a client, {kind.__name__}: {got}'
    for kind in (Crashes, Exits):
        kind.begun.clear()
        with canary.served(kind, None) as died:
            kind.begun.wait(60)     # a server that is stopped at once has no connection
        if type(kind.reason).__name__ not in ' '.join(died):
            yield f'a server, {kind.__name__}: {died}'


def main_module():
    from . import main as module        # which imports this module
    return module


def main():
    found = [*faults(), *fuzzing(), *texts(), *verdicts(), *lists(), *by_id(), *immediates(),
             *reasons(), *restored(), *observed(), *refusals(), *misspelt(), *actions(),
             *ranges(), *wrong_words(), *crashes(), *errors_for_calls(),
             *waits_for_the_log()]
    print('\n'.join(found), end='\n' if found else '')
    if not found:
        print(f'{len(vectors())} vectors')
    return bool(found)
