# SPDX-License-Identifier: GPL-2.0
"""Tasks that are killed, and RPCs that end, while the server has their Calls."""

import os
import signal
import sys
import time

from .. import rpc
from ..many import serves
from ..registry import case, check
from ..waits import scaled
from ..wire import BAD_XDR, CALL, REPLY, Error, Rpc

LISTS = (rpc.READ, rpc.READDIR, rpc.READDIRPLUS)
ONE_WAIT = (4, 7.5)     # seconds that a client waits for a silent server


class Keeper:
    """Manners of a server that holds Calls of these procedures, and answers all others"""

    def __init__(self, *procedures):
        self.procedures, self.calls, self.silent = procedures, [], True

    def __call__(self, c, message):
        if (self.silent and isinstance(message, Rpc) and message.direction == CALL and
                c.procedure(message) in self.procedures):
            self.calls.append((c, message))
        else:
            serves(c, message)

    def answers(self):
        """Answers all held Calls with an error, and later ones properly."""
        for c, call in self.calls:
            c.send(Error(call.number, BAD_XDR, credit=c.grant))
        self.calls, self.silent = [], False


def visited(t, *manners):
    t.up(*manners)
    t.does('mount')
    t.look()


def silenced(t):
    """Starts a server that holds the Calls of LISTS; the client has mounted it."""
    keeper = Keeper(*LISTS)
    visited(t, keeper)
    return keeper


def left(t):
    """The mount works, except for Calls that the server holds."""
    t.does('make')
    t.look()
    t.observer.no_faults()
    t.does('unmount')


def begun(t, keeper, action, numbers):
    """Starts tasks, and waits until the server holds a Call of each."""
    count = len(keeper.calls) + len(numbers)
    tasks = [t.begin(f'{action} {n}') for n in numbers]
    check(t.attend(60, lambda: len(keeper.calls) >= count),
          f'{len(keeper.calls)} Calls of {count}')
    return tasks


def kill(tasks):
    for task in tasks:
        os.killpg(task.pid, signal.SIGKILL)
    return time.monotonic()


def end(t, tasks, since, least, most):
    """The tasks have to end within this range of seconds; --wait multiplies the greatest."""
    for task in tasks:
        t.ends(task)
    seconds = time.monotonic() - since
    check(least <= seconds <= scaled(most),
          f'ended after {seconds:.1f} s, not {least} to {scaled(most)}')


def wait(t, tasks):
    """Killed tasks have to wait: none has ended when the client has counted their waits."""
    t.rises('aborted_waits', len(tasks))
    check(all(task.poll() is None for task in tasks), 'a task has not waited')


@case('S46', plays='server', many=True, needs='observe',
      counts='aborted_waits == 13 and aborted_unanswered == 13 and aborted_fences == 13 and '
             'disconnects == 0')
def twelve(t):
    """Twelve killed tasks wait for a silent server once, and so do those of umount -f"""
    keeper = silenced(t)
    tasks = begun(t, keeper, 'list', range(1, 13))
    end(t, tasks, kill(tasks), *ONE_WAIT)
    t.does('make')
    tasks = begun(t, keeper, 'read', [1])
    since = time.monotonic()
    t.ends(t.begin('force'))
    end(t, tasks, since, *ONE_WAIT)
    left(t)


@case('S46', plays='server', many=True, needs='observe',
      counts='aborted_waits == 2 and aborted_unanswered == 2 and disconnects == 0')
def one_after_the_other(t):
    """A task that is killed after another one has waited for the silent server ends at once"""
    keeper = silenced(t)
    first, second = begun(t, keeper, 'list', (1, 2))
    end(t, [first], kill([first]), *ONE_WAIT)
    end(t, [second], kill([second]), 0, 2.5)
    left(t)


@case('S46', plays='server', many=True, needs='observe fail_inv',
      counts='overdue == 1 and disconnects == 1 and connects == 1 and local_invalidations >= 1',
      ended='registration or invalidation failed')
def fence_that_hangs(t):
    """A task is killed while the invalidation of its RPC's memory hangs"""
    visited(t)
    t.fault('fail_inv')
    task = t.begin('list 1')
    t.faulted('fail_inv')
    kill([task])
    t.rises('overdue', 1)
    t.ends(task)
    left(t)


@case('E-20', plays='server', many=True, needs='observe fail_inv',
      counts='replies_unknown == 1 and overdue == 1 and disconnects == 1 and connects == 1',
      ended='registration or invalidation failed')
def answer_during_a_fence_that_hangs(t):
    """A Reply during the invalidation of the RPC's memory, after another answer, is ignored"""
    keeper = silenced(t)
    tasks = begun(t, keeper, 'list', [1])
    (c, call), = keeper.calls
    t.fault('fail_inv')
    keeper.answers()
    serves(c, call)
    t.faulted('fail_inv')
    t.rises('replies_unknown', 1)
    kill(tasks)
    t.rises('overdue', 1)
    t.ends(tasks[0])
    left(t)


@case('S50', plays='server', many=True, needs='observe',
      counts='aborted_answered == 1 and aborted_fences == 0 and '
             'remote_invalidations == 1 and bad_invalidations == 0 and disconnects == 0')
def late_answer(t):
    """A late Reply that invalidates ends the wait"""
    keeper = silenced(t)
    tasks = begun(t, keeper, 'list', [1])
    since = kill(tasks)
    wait(t, tasks)
    (c, call), = keeper.calls
    c.send(Error(call.number, BAD_XDR), invalidate=call.inv_handle)
    end(t, tasks, since, 0, 3)
    left(t)


@case('S50', plays='server', many=True, needs='observe',
      counts='bad_invalidations == 1 and disconnects == 1 and connects == 1',
      ended='foreign handle invalidated')
def handle_of_another_rpc(t):
    """An answer to another RPC that invalidates this RPC's handle ends the connection"""
    keeper = silenced(t)
    tasks = begun(t, keeper, 'list', [1])
    (c, call), = keeper.calls
    c.send(Error(call.number ^ 0x10000000, BAD_XDR), invalidate=call.inv_handle)
    check(t.attend(30, lambda: len(t.times) == 2), 'no other connection')
    end(t, tasks, kill(tasks), 0, 7.5)
    left(t)


@case('E-16', plays='server', many=True, needs='observe',
      counts='credit_waits >= 1 and aborted_waits == 4 and disconnects == 0')
def credits_of_large_rpcs(t):
    """The credit of a killed RPC is free after the wait for a silent server"""
    keeper = Keeper(*LISTS)
    t.grant = 4
    visited(t, keeper)
    tasks = begun(t, keeper, 'list', range(1, 5))
    since = kill(tasks)
    wait(t, tasks)
    t.does('make')
    end(t, tasks, since, *ONE_WAIT)
    left(t)


def under_way(t, keeper, numbers, total):
    """Starts these tasks: @total Calls are sent, the others wait for a credit."""
    tasks = [t.begin(f'stat {n}') for n in numbers]
    check(t.attend(60, lambda: len(keeper.calls) >= total), f'{len(keeper.calls)} Calls')
    t.rises('credit_waits', 1)
    t.attend(0.2)           # the counter may have risen before
    check(len(keeper.calls) == total, f'{len(keeper.calls)} are under way, not {total}')
    keeper.answers()
    for task in tasks:
        t.ends(task)


@case('E-16', plays='server', many=True, needs='observe',
      counts='credits_kept == 8 and aborted_rpcs == 12 and replies_unknown == 12 and '
             'aborted_waits == 0 and disconnects == 0')
def credits_of_small_rpcs(t):
    """After kills of 4 and 8 RPCs, of which 4 count, Calls never exceed the Receives"""
    keeper = Keeper(rpc.LOOKUP)
    keeper.silent, t.grant = False, 8
    visited(t, keeper)
    keeper.silent = True
    tasks = begun(t, keeper, 'stat', range(1, 5))
    end(t, tasks, kill(tasks), 0, 3)
    under_way(t, keeper, range(5, 14), 8)
    keeper.silent = True
    tasks = begun(t, keeper, 'stat', range(1, 9))
    end(t, tasks, kill(tasks), 0, 3)
    t.look()
    under_way(t, keeper, range(9, 14), 12)
    left(t)


@case('S46', plays='server', many=True, needs='observe',
      counts='aborted_waits == 12 and aborted_unanswered == 0 and connects == 1', ended='peer')
def lost_meanwhile(t):
    """The connection is lost while killed RPCs wait"""
    keeper = silenced(t)
    tasks = begun(t, keeper, 'list', range(1, 13))
    since = kill(tasks)
    wait(t, tasks)
    t.down()
    end(t, tasks, since, 0, 3.5)
    t.up()
    left(t)


# The server has few Receives and reposts none, so that Sends stay on the Send Queue.

def linked(t, numbers, *faults):
    """Returns tasks that make long symlinks, when the pages of all are mapped."""
    t.does('mount', 'ready')
    t.fault('fail_pullup', -1)
    for fault in faults:
        t.fault(fault)
    t.look()
    tasks = [t.begin(f'link {n}') for n in numbers]
    for task in tasks:
        t.line(task)
    # From here on soft-RoCE repeats a Send for 4 s.
    for task in tasks:
        os.kill(task.pid, signal.SIGUSR1)
    t.rises('mapped_bytes', 900 * len(tasks), serves=False)
    return tasks


def stuck(t):
    """Returns tasks that were killed when the pages of all were mapped, and the time of that."""
    t.receives = 6
    t.up()
    tasks = linked(t, range(1, 13))
    return tasks, kill(tasks)


@case('S46', plays='server', many=True, needs='observe fail_pullup',
      counts='mapped_bytes >= 12 * 900 and aborted_waits >= 4 and aborted_fences == 0 and '
             'disconnects == 0')
def sends_that_hang(t):
    """Sends with mapped pages are killed before they complete"""
    tasks, since = stuck(t)
    t.rises('aborted_waits', 4, serves=False)
    # The server's Receives have taken the first Sends.
    check(sum(task.poll() is None for task in tasks) >= 4, 'tasks ended before their Sends')
    end(t, tasks, since, 0, 4)
    left(t)


@case('S46', plays='server', many=True, needs='observe fail_pullup',
      counts='mapped_bytes >= 12 * 900 and aborted_waits >= 4 and '
             'ended_SEND + ended_STALLED == 1 and disconnects == 1 and connects == 1')
def sends_that_hang_for_good(t):
    """Sends with mapped pages are killed and never complete"""
    tasks, since = stuck(t)
    for task in tasks:
        task.wait(scaled(60))
    end(t, tasks, since, 1, 7.5)
    left(t)


@case('S46', plays='server', many=True, needs='observe fail_pullup fail_send',
      counts='mapped_bytes >= 900 and overdue == 1 and disconnects == 1 and connects == 1',
      ended='Send failed')
def sends_that_hang_answered(t):
    """A task is killed whose RPC has a Reply, but whose Send never completes"""
    calls = []

    def noted(c, message):
        calls.append((c, message))
        serves(c, message)
    t.up(noted)
    task, = linked(t, [1], 'fail_send')
    c, last = calls[-1]
    # Linux counts xids in the byte order of the machine.
    swapped = int.from_bytes(last.number.to_bytes(4, 'big'), sys.byteorder)
    for i in range(1, 4):
        number = int.from_bytes(((swapped + i) % (1 << 32)).to_bytes(4, sys.byteorder), 'big')
        c.send(Rpc(number, rpc.reply(number), direction=REPLY, credit=c.grant))
    t.attend(2)
    end(t, [task], kill([task]), 0, 62)
    left(t)
