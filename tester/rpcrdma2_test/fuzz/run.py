# SPDX-License-Identifier: GPL-2.0
"""Many conversations, by several workers, and the analysis of one that fails"""

import collections
import dataclasses
import multiprocessing
import subprocess
import sys
import time
from multiprocessing.connection import wait

from . import client, mutate, server
from .minimise import Minimiser
from .outcome import Outcome

SILENCE = 150           # seconds without a result of a worker: the peer hangs
REFUSALS = 50           # in a row: the peer accepts no more connections
LOOK = 5                # seconds between two runs of --check
SUSPECTS = 400          # conversations that are played again after a failed --check


def add_arguments(parser):
    group = parser.add_argument_group('fuzzing')
    group.add_argument('--fuzz', action='store_true',
                       help='send mutated valid conversations instead of running cases')
    group.add_argument('--seed', type=int, default=1, help='of the run (default: 1)')
    group.add_argument('--messages', type=int, default=20000, metavar='N',
                       help='minimum number of messages (default: 20000)')
    group.add_argument('--connections', type=int, default=1, metavar='N',
                       help='minimum number of connections (default: 1)')
    group.add_argument('--jobs', type=int, default=4, metavar='N',
                       help='concurrent connections (default: 4)')
    group.add_argument('--rate', type=float, default=0, metavar='N',
                       help='maximum of messages per second')
    group.add_argument('--check', metavar='COMMAND',
                       help='command that fails if the peer has a problem; run every few seconds')
    group.add_argument('--replay', metavar='CONVERSATION',
                       help='a single conversation, by the name that a failed run printed')
    group.add_argument('--flawed', metavar='FILE', nargs='?', const='',
                       help='be a server with a known fault that fuzzing has to find; '
                       'with FILE the fault is that it creates this file')


@dataclasses.dataclass
class Run:
    """The parameters of all workers"""
    plays: str
    target: object          # Target or Trigger
    seed: int
    messages: int
    connections: int
    jobs: int
    rate: float
    check: str

    def player(self, index=0):
        if self.plays == 'client':
            return client.Player(self.target)
        own = dataclasses.replace(self.target, port=self.target.port + index)
        return server.Player(own, self.jobs)

    @property
    def conversation(self):
        return (client if self.plays == 'client' else server).Conversation

    def is_well(self):
        """Whether --check finds the peer healthy"""
        return not self.check or subprocess.run(['sh', '-c', self.check],
                                                check=False).returncode == 0


def work(run, index, pipe, stop):
    """A worker: plays conversations index, index + jobs, ... of the run."""
    player = run.player(index)
    number = index
    try:
        while not stop.is_set():
            begin = time.monotonic()
            seed = mutate.seed_of(run.seed, number)
            outcome = player.play(player.conversation(seed))
            pipe.send((seed, outcome))
            number += run.jobs
            if run.rate:
                spare = outcome.messages * run.jobs / run.rate
                stop.wait(max(0, begin + spare - time.monotonic()))
    finally:
        player.close()
        pipe.close()


class Failed(Exception):
    """The run has failed, possibly because of these conversations."""

    def __init__(self, why, seeds):
        super().__init__(why)
        self.seeds = seeds


class Workers:
    """The worker processes and their results"""

    def __init__(self, run):
        self.run, self.total, self.ended = run, Outcome(), 0
        self.stop = multiprocessing.Event()
        self.processes, self.pipes, self.heard = [], {}, {}
        self.since = []         # conversations since the last successful --check
        self.refused, self.begin = 0, time.monotonic()
        for index in range(run.jobs):
            here, there = multiprocessing.Pipe(duplex=False)
            process = multiprocessing.Process(target=work,
                                              args=(run, index, there, self.stop))
            process.start()
            there.close()
            self.processes.append(process)
            self.pipes[here] = index
            self.heard[here] = time.monotonic()

    def take(self):
        """Takes the results that arrive within a second."""
        for pipe in wait(list(self.pipes), 1):
            try:
                seed, outcome = pipe.recv()
            except EOFError as gone:
                raise Failed(f'worker {self.pipes[pipe]} has ended', []) from gone
            self.heard[pipe] = time.monotonic()
            self.note(seed, outcome)
        for pipe, heard in self.heard.items():
            if time.monotonic() - heard > SILENCE:
                raise Failed(f'worker {self.pipes[pipe]} has no result for {SILENCE} s', [])

    def note(self, seed, outcome):
        self.since.append(seed)
        self.total.add(outcome)
        self.refused = self.refused + 1 if outcome.refused else 0
        self.ended += not outcome.refused
        if outcome.failure:
            raise Failed(outcome.failure, [seed])
        if self.refused > REFUSALS:
            raise Failed(f'no connection: {outcome.refused}', self.since[-REFUSALS * 2:])

    def look(self):
        if not self.run.is_well():
            raise Failed('the peer has a problem', self.since[-SUSPECTS:])
        self.since = []

    def done(self):
        return (self.total.messages >= self.run.messages and
                self.ended >= self.run.connections)

    def end(self):
        self.stop.set()
        for process in self.processes:
            process.join(20)
            if process.is_alive():
                process.kill()
                process.join()

    def __str__(self):
        took, t = time.monotonic() - self.begin, self.total
        codes = ', '.join(f'{code} {n}' for code, n in sorted(
            t.codes.items(), key=lambda item: -item[1]))
        return (f'{t.messages} messages, {t.mutated} of them mutated, '
                f'{self.ended} connections ({t.lost} ended by the peer), '
                f'{t.answers} messages of the peer, {took:.0f} s; errors of it: '
                f'{codes or "none"}')


def say(text):
    print(f'# {text}', flush=True)


def converse(run):
    """Plays all conversations of a run; raises Failed."""
    workers = Workers(run)
    looked = told = time.monotonic()
    try:
        while not workers.done():
            workers.take()
            if time.monotonic() - looked >= LOOK:
                workers.look()
                looked = time.monotonic()
            if time.monotonic() - told >= 60:
                say(workers)
                told = time.monotonic()
        workers.look()
    finally:
        workers.end()
        say(workers)


def explain(run, failed):
    """Finds the conversation that failed, and reduces it."""
    minimiser = Minimiser(run)
    try:
        for seed in reversed(failed.seeds):
            why = minimiser.fails(seed)
            if why:
                say(f'conversation {seed:#x} fails when it is played again: {why}')
                minimiser.reduce(seed, say)
                return
    finally:
        minimiser.close()
    counted = collections.Counter(failed.seeds)
    say('not seen again; the last conversations were ' +
        ' '.join(f'{seed:#x}' for seed in list(counted)[-8:]))


def main(run, options):
    """Returns the exit status: 0 for success, 1 for a failure."""
    name = f'fuzz.{run.plays}'
    if options.tap:
        print('TAP version 13\n1..1')
    try:
        if options.replay:
            minimiser = Minimiser(run)
            why = minimiser.replay(options.replay, say)
            minimiser.close()
            if why:
                raise Failed(why, [])
        else:
            say(f'seed {run.seed}')
            converse(run)
    except Failed as failed:
        say(failed)
        if failed.seeds:
            explain(run, failed)
        print(f'not ok 1 - {name}\n# {failed}' if options.tap else f'{name} FAILED: {failed}')
        sys.stdout.flush()
        return 1
    print(f'ok 1 - {name}' if options.tap else f'{name} passed', flush=True)
    return 0
