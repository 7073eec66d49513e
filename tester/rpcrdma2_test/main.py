# SPDX-License-Identifier: GPL-2.0
"""The command line."""

import argparse
import dataclasses
import multiprocessing
import re
import sys
import time
import traceback

from . import canary, flawed, observe, registry, report, rpc, selftest, settings, waits, wire
from .client import Client, Target
from .endpoint import Lost, lib
from .fuzz import run as fuzzing
from .many import Many
from .server import Kept, Server, Trigger

# The exit status of a run without failed and without passed cases
NOTHING_PASSED = 3


def positive(text):
    number = float(text)
    if not 0 < number < 1000:
        raise argparse.ArgumentTypeError('a factor above 0 and below 1000')
    return number


def port_number(text):
    if not re.fullmatch('[0-9]{1,5}', text) or not 0 < int(text) < 1 << 16:
        raise ValueError(f'PORT is a number from 1 to 65535, not {text}')
    return int(text)


def differences(text):
    """Returns by case the text that its failure has to have; each line has both."""
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, why = line.partition(': ')
        if not why or name in found:
            raise argparse.ArgumentTypeError(f'a line is CASE: TEXT, once for a case, not {line}')
        found[name] = why
    return found


def arguments():
    parser = argparse.ArgumentParser(
        prog='rpcrdma2-test', description='tests an implementation of RPC-over-RDMA')
    part = parser.add_mutually_exclusive_group()
    part.add_argument('--client', action='store_const', const='client', dest='plays',
                      help='be a client, and test the server at HOST (default)')
    part.add_argument('--server', action='store_const', const='server', dest='plays',
                      help='be a server at HOST, and test the clients that connect')
    parser.add_argument('--trigger', metavar='COMMAND',
                        help='with --server: command that makes the client under test connect')
    parser.add_argument('--actions', action='store_true',
                        help='the command does one $ACTION at a time: mount, work, unmount, '
                             'and others that the sources of the cases name')
    parser.add_argument('--observe', action='store_true',
                        help='with --server: the client is xprtrdma2 on this machine; compare '
                             'its counters, views, trace events and log with the cases, too')
    parser.add_argument('--backend', metavar='HOST',
                        help='with --server: an NFS server over TCP (default: HOST)')
    parser.add_argument('--export', metavar='PATH', default='',
                        help='a writable folder that the server exports')
    parser.add_argument('--gss', metavar='SERVICE', default='',
                        help='nfs@HOST, for contexts of Kerberos by the ticket in the cache; '
                             'needs python3-gssapi')
    parser.add_argument('--set', metavar='COMMAND', default='',
                        help='command that sets $SETTING of the peer to $VALUE')
    parser.add_argument('--require', metavar='WORD', action='append', default=[],
                        help='a case, a group, a requirement or a version (1, 2) of which '
                             'a case has to pass; not applicable counts as failed')
    parser.add_argument('--known', metavar='CASES', type=differences, default='',
                        help='cases that have to fail, in one word of lines CASE: TEXT; the '
                             'reason of the failure has to have the text')
    inapplicable = parser.add_mutually_exclusive_group()
    inapplicable.add_argument('--not-applicable', metavar='CASES',
                              help='names of cases that must not be applicable, in one word; '
                                   'all others have to be')
    inapplicable.add_argument('--all-apply', action='store_const', const='',
                              dest='not_applicable',
                              help='cases that are not applicable have failed')
    parser.add_argument('--wait', metavar='FACTOR', type=positive, default=1.0,
                        help='multiply all timeouts, for a slow peer or link')
    parser.add_argument('--list', action='store_true', help='list the cases')
    parser.add_argument('--explain', action='store_true',
                        help='print the text of requirements, or of those of the named cases')
    parser.add_argument('--settings', action='store_true',
                        help='print the settings that --set has to support')
    parser.add_argument('--faults', action='store_true',
                        help='test the tester: cases have to fail with a server or client that '
                        'has a fault, and to pass with one that has none; the words are '
                        'names of faults')
    parser.add_argument('--self-test', action='store_true',
                        help='test the library of messages, without a network')
    form = parser.add_mutually_exclusive_group()
    form.add_argument('--tap', action='store_const', const=report.Tap, dest='form')
    form.add_argument('--lines', action='store_const', const=report.Lines, dest='form',
                      help=argparse.SUPPRESS)
    form.add_argument('--json', action='store_const', const=report.Json, dest='form')
    parser.add_argument('words', nargs='*', metavar='HOST PORT [CASE...]',
                        help='a case, a group of them, a requirement, or a version (1, 2)')
    fuzzing.add_arguments(parser)
    parser.set_defaults(plays='client', form=report.Text)
    return parser


def list_cases(cases):
    for c in cases:
        print(f'{c.name}\n    {" ".join(c.ids)} (version {c.version}, as {c.plays})'
              f'\n    {c.title}')
    total = sum(registry.TABLES.values())
    print(f'\n{len(cases)} cases, {len(registry.covered(cases))} of {total} requirements')


def explain(cases, words):
    """Prints the requirements that the words name, or those of the cases that the words name."""
    meanings = registry.meanings()
    ids = [w for w in words if w in meanings]
    if len(ids) < len(words) or not words:
        ids = sorted({i for c in registry.chosen(cases, words) for i in c.ids})
    for i in ids:
        print(f'{i}  {meanings[i]}')
        for c in cases:
            if i in c.ids:
                print(f'      {c.name}: {c.title}')
    if not ids:
        print(f'rpcrdma2-test: nothing is called {" or ".join(words)}', file=sys.stderr)
        return 2
    return 0


def print_settings():
    for name, (peer, value) in settings.TABLE.items():
        print(f'{name:15} {peer:7} {value}')


def run(case, talk):
    """Runs a case with a client or server and returns the result."""
    begin = time.monotonic()
    status, why, lost, unclean = report.PASSED, '', False, False
    try:
        case.function(talk)
    except registry.NotApplicable as reason:
        status, why = report.NOT_APPLICABLE, reason
        if not str(why):
            status, why = report.FAILED, 'not applicable without a reason'
    except (registry.Failure, Lost, OSError, rpc.RpcError, wire.WireError) as reason:
        where = traceback.extract_tb(reason.__traceback__)
        lines = [str(f.lineno) for f in where if '/cases/' in f.filename]
        status, why = report.FAILED, f'line {", ".join(lines) or 0}: {reason}'
        lost = isinstance(reason, (Lost, OSError, registry.NoConnection))
    except Exception as reason:         # a fault of the tester
        where = traceback.extract_tb(reason.__traceback__)[-1]
        status = report.FAILED
        why = f'{where.filename}:{where.lineno}: {type(reason).__name__}: {reason}'
    finally:
        try:
            talk.clean_up()
        except Exception as reason:     # the other cases run nevertheless
            status, unclean = report.FAILED, True
            why = '; '.join(filter(None, [str(why), f'after the case: {reason}']))
        if not case.kept or status != report.PASSED:
            talk.close()
    return report.Result(case, status, str(why), time.monotonic() - begin, lost,
                         unclean=unclean)


def judged(result, options):
    """Returns the result in view of --known and --not-applicable."""
    status, why = result.status, result.why
    known = options.known.get(result.case.name)
    is_listed = result.case.name in (options.not_applicable or '').split()
    if is_listed and status != report.NOT_APPLICABLE:
        status, why = report.FAILED, f'{why or status}, although it is listed as not applicable'
    elif known is not None and (status != report.FAILED or known not in why):
        status, why = report.FAILED, f'listed as failing with {known!r}, but {status}: {why}'
    elif known is not None and not result.unclean:
        status, why = report.PASSED, f'fails, as is known: {why}'
    elif status == report.NOT_APPLICABLE and options.not_applicable is not None and not is_listed:
        status, why = report.FAILED, f'not applicable: {why}'
    return dataclasses.replace(result, status=status, why=why,
                               known=known is not None and status == report.PASSED)


def why_not_server(case, trigger, options):
    if 'set' in case.needs and not trigger.setter:
        return 'no --set'
    if 'observe' in case.needs and not options.observe:
        return 'no --observe'
    if lacking := observe.lacks(case.needs):
        return f'this kernel has no {" and ".join(lacking)}'
    if case.many and not trigger.actions:
        return 'no --actions'
    return ''


def why_not(case, target):
    if case.version not in target.versions:
        return f'the peer does not support version {case.version}'
    if 'export' in case.needs and not target.root:
        return 'no --export'
    if 'gss' in case.needs and not target.gss:
        return 'no --gss'
    if 'set' in case.needs and not target.setter:
        return 'no --set'
    return ''


def verdict(results, required):
    """Returns the exit status of a run."""
    passed = [r for r in results if r.status == report.PASSED]
    proofs = [r.case for r in passed if not r.known and not r.observed]
    missing = [w for w in required if not registry.chosen(proofs, [w])]
    for word in missing:
        print(f'rpcrdma2-test: no case of {word} has passed, which is required',
              file=sys.stderr)
    if missing or any(r.status == report.FAILED for r in results):
        return 1
    return 0 if passed else NOTHING_PASSED


def play_client(cases, target, form, options):
    target.survey()
    form.begin(cases)
    results = []
    for case in cases:
        why = why_not(case, target)
        results.append(judged(report.Result(case, report.NOT_APPLICABLE, why) if why else
                              run(case, Client(target, case.version)), options))
        form.add(results[-1])
    form.end(results)
    return results


def play_server(cases, trigger, form, options):
    """
    Gives each case a port, because clients remember the version of a server.

    Cases that share a mount use the port of the first one.
    """
    form.begin([one for case in cases
                for one in (case, *(observe.expectations(case) if options.observe else ()))])
    results, kept = [], Kept(trigger)
    for index, case in enumerate(cases):
        own = dataclasses.replace(trigger, port=trigger.port + index, case=case.name)
        talk = kept if case.kept else Many(own) if case.many else Server(own)
        why = why_not_server(case, trigger, options)
        if case.kept:
            kept.next_case(own)
        observer = (observe.Observer(case, talk.trigger.host, talk.trigger.port)
                    if options.observe else None)
        talk.observer = observer
        result = report.Result(case, report.NOT_APPLICABLE, why) if why else run(case, talk)
        for one in (result, *(observer.results(result) if observer else ())):
            results.append(judged(one, options))
            form.add(results[-1])
    kept.close()
    form.end(results)
    return results


def surveyed(target):
    target.survey()
    return target


def text(reason):
    """Returns the text of an error, without the number of one of the system."""
    return getattr(reason, 'strerror', None) or str(reason)


def fuzz(parser, options, host, port):
    options.tap = options.form is report.Tap
    trigger = Trigger(host, port, options.trigger, options.backend or host)
    target = Target(host, port, options.export)
    try:
        if options.flawed is not None:
            return flawed.serve(trigger, options.flawed)
        if options.plays == 'server' and not options.trigger:
            parser.error('--server needs --trigger')
        if options.plays == 'client':
            if not options.export:
                parser.error('--fuzz needs --export, or --server')
            # A process that has used an RDMA device cannot use it after a fork.
            with multiprocessing.Pool(1) as pool:
                target = pool.apply(surveyed, (target,))
        return fuzzing.main(fuzzing.Run(
            options.plays, target if options.plays == 'client' else trigger, options.seed,
            options.messages, options.connections, options.jobs, options.rate,
            options.check), options)
    except (OSError, Lost, rpc.RpcError, registry.Failure) as reason:
        print(f'rpcrdma2-test: {host} port {port}: {text(reason)}', file=sys.stderr)
        return 2


def main():
    parser = arguments()
    options = parser.parse_args()
    if options.self_test:
        return selftest.main()
    waits.FACTOR = options.wait
    cases = registry.load()
    names = {c.name for c in cases}
    for word in (*options.known, *(options.not_applicable or '').split()):
        if word not in names:
            parser.error(f'no case is called {word}')
    if options.list:
        cases = registry.chosen(cases, options.words)
        if not cases:
            parser.error(f'no case is called {" or ".join(options.words)}')
        list_cases(cases)
        return 0
    if options.settings:
        print_settings()
        return 0
    if options.explain:
        return explain(cases, options.words)
    if len(options.words) < 2:
        parser.error('HOST and PORT are missing')
    host, port, *words = options.words
    try:
        port = port_number(port)
    except ValueError as reason:
        parser.error(reason)
    if options.observe and (options.plays != 'server' or options.faults or options.fuzz or
                            options.replay or options.flawed is not None):
        parser.error('--observe needs --server, without --faults and --fuzz')
    if why := lib.lacks():
        print(f'rpcrdma2-test: {why}', file=sys.stderr)
        return 2
    if options.fuzz or options.replay or options.flawed is not None:
        return fuzz(parser, options, host, port)
    if not options.faults:
        cases = registry.chosen([c for c in cases if c.plays == options.plays], words)
    if not cases:
        parser.error(f'no case is called {" or ".join(words)}')
    for option, names in ('require', options.require), ('known', options.known):
        for word in names:
            if not registry.chosen(cases, [word]):
                parser.error(f'--{option} {word}: no case that would run is called so')
    if options.plays == 'server' and not options.trigger:
        parser.error('--server needs --trigger')
    if options.plays == 'server' and not options.faults and port + len(cases) > 1 << 16:
        parser.error(f'{len(cases)} cases need as many ports from PORT on')
    if options.observe and (why := observe.why_not()):
        print(f'rpcrdma2-test: --observe: {why}', file=sys.stderr)
        return 2
    target = Target(host, port, options.export, options.set, options.gss)
    trigger = Trigger(host, port, options.trigger, options.backend or host, options.set,
                      options.actions)
    try:
        if options.faults:
            results = canary.main(cases, words, trigger, target, options.form(), run)
        elif options.plays == 'server':
            results = play_server(cases, trigger, options.form(), options)
        else:
            results = play_client(cases, target, options.form(), options)
        return verdict(results, options.require)
    except (OSError, Lost, rpc.RpcError, registry.Failure) as reason:
        print(f'rpcrdma2-test: {host} port {port}: {text(reason)}', file=sys.stderr)
        return 2
