# SPDX-License-Identifier: GPL-2.0
"""The command line."""

import argparse
import dataclasses
import multiprocessing
import sys
import time
import traceback

from . import registry, report, rpc, selftest, wire
from .client import Client, Target
from .endpoint import Lost
from .fuzz import flawed, run as fuzzing
from .server import Kept, Server, Trigger


def arguments():
    parser = argparse.ArgumentParser(
        prog='rpcrdma2-test', description='tests an implementation of RPC-over-RDMA')
    part = parser.add_mutually_exclusive_group()
    part.add_argument('--client', action='store_const', const='client', dest='plays',
                      help='be a client, and test the server at HOST (default)')
    part.add_argument('--server', action='store_const', const='server', dest='plays',
                      help='be a server at HOST, and test the clients that come')
    parser.add_argument('--trigger', metavar='COMMAND',
                        help='with --server: makes the client under test come')
    parser.add_argument('--backend', metavar='HOST',
                        help='with --server: an NFS server over TCP (default: HOST)')
    parser.add_argument('--export', metavar='PATH', default='',
                        help='a folder that the server exports, and that may be written to')
    parser.add_argument('--set', metavar='COMMAND', default='',
                        help='gives the peer another $SETTING, which is $VALUE')
    parser.add_argument('--list', action='store_true', help='name the cases')
    parser.add_argument('--self-test', action='store_true',
                        help='test the library of messages, without a network')
    form = parser.add_mutually_exclusive_group()
    form.add_argument('--tap', action='store_const', const=report.Tap, dest='form')
    form.add_argument('--json', action='store_const', const=report.Json, dest='form')
    parser.add_argument('words', nargs='*', metavar='HOST PORT [CASE...]',
                        help='a case, a group of them, or a requirement')
    fuzzing.add_arguments(parser)
    parser.set_defaults(plays='client', form=report.Text)
    return parser


def list_cases(cases):
    for c in cases:
        print(f'{c.name}\n    {" ".join(c.ids)} (version {c.version}, as {c.plays})'
              f'\n    {c.title}')
    total = sum(registry.TABLES.values())
    print(f'\n{len(cases)} cases, {len(registry.covered(cases))} of {total} requirements')


def run(case, talk):
    """The result of one case; talk is what it talks by."""
    begin = time.monotonic()
    status, why = report.PASSED, ''
    try:
        case.function(talk)
    except registry.NotApplicable as reason:
        status, why = report.NOT_APPLICABLE, reason
    except (registry.Failure, Lost, OSError, rpc.RpcError, wire.WireError) as reason:
        where = traceback.extract_tb(reason.__traceback__)
        line = next((f.lineno for f in where if '/cases/' in f.filename), 0)
        status, why = report.FAILED, f'line {line}: {reason}'
    except Exception as reason:         # the tester's own fault is no pass
        where = traceback.extract_tb(reason.__traceback__)[-1]
        status = report.FAILED
        why = f'{where.filename}:{where.lineno}: {type(reason).__name__}: {reason}'
    finally:
        talk.clean_up()
        if not case.kept or status != report.PASSED:
            talk.close()
    return report.Result(case, status, str(why), time.monotonic() - begin)


def why_not(case, target):
    if case.version not in target.versions:
        return f'the peer does not speak version {case.version}'
    if 'export' in case.needs and not target.root:
        return 'no --export'
    if 'set' in case.needs and not target.setter:
        return 'no --set'
    return ''


def play_client(cases, target, form):
    target.survey()
    form.begin(cases)
    results = []
    for case in cases:
        why = why_not(case, target)
        results.append(report.Result(case, report.NOT_APPLICABLE, why) if why else
                       run(case, Client(target, case.version)))
        form.add(results[-1])
    form.end(results)
    return any(r.status == report.FAILED for r in results)


def play_server(cases, trigger, form):
    """
    Each case has a port of its own: clients remember what a server speaks. Those that
    share a mount have that of the first one.
    """
    form.begin(cases)
    results, kept = [], Kept(trigger)
    for index, case in enumerate(cases):
        own = dataclasses.replace(trigger, port=trigger.port + index, case=case.name)
        if 'set' in case.needs and not trigger.setter:
            results.append(report.Result(case, report.NOT_APPLICABLE, 'no --set'))
        else:
            talk = kept if case.kept else Server(own)
            if case.kept:
                kept.next_case(own)
            results.append(run(case, talk))
        form.add(results[-1])
    kept.close()
    form.end(results)
    return any(r.status == report.FAILED for r in results)


def surveyed(target):
    target.survey()
    return target


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
            # A process that has used a device has none when it forks.
            with multiprocessing.Pool(1) as pool:
                target = pool.apply(surveyed, (target,))
        return fuzzing.main(fuzzing.Run(
            options.plays, target if options.plays == 'client' else trigger, options.seed,
            options.messages, options.connections, options.jobs, options.rate,
            options.check), options)
    except (OSError, Lost, rpc.RpcError, registry.Failure) as reason:
        print(f'rpcrdma2-test: {host} port {port}: {reason}', file=sys.stderr)
        return 2


def main():
    parser = arguments()
    options = parser.parse_args()
    if options.self_test:
        return selftest.main()
    cases = registry.load()
    if options.list:
        list_cases(registry.chosen(cases, options.words))
        return 0
    if len(options.words) < 2:
        parser.error('HOST and PORT are missing')
    host, port, *words = options.words
    if options.fuzz or options.replay or options.flawed is not None:
        return fuzz(parser, options, host, int(port))
    cases = registry.chosen([c for c in cases if c.plays == options.plays], words)
    if not cases:
        parser.error(f'no case is called {" or ".join(words)}')
    if options.plays == 'server' and not options.trigger:
        parser.error('--server needs --trigger')
    target = Target(host, int(port), options.export, options.set)
    trigger = Trigger(host, int(port), options.trigger, options.backend or host, options.set)
    try:
        if options.plays == 'server':
            return play_server(cases, trigger, options.form())
        return play_client(cases, target, options.form())
    except (OSError, Lost, rpc.RpcError, registry.Failure) as reason:
        print(f'rpcrdma2-test: {host} port {port}: {reason}', file=sys.stderr)
        return 2
