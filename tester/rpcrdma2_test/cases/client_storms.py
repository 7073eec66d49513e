# SPDX-License-Identifier: GPL-2.0
"""
A client whose server closes its connections: the number and times of new ones.

A slow machine takes a connection request late. Least times count from a loss, which the
client notices later: they hold on any machine. Greatest times are timeouts.

The action "misses" looks up 40 names that do not exist, without a pause.
"""

import time

from ..many import serves
from ..registry import case, check
from ..waits import scaled
from ..wire import Rpc

TICKS = 0.05            # by which the client's timers may be early


def backs_off(times, lost, *distances):
    """The attempts behind the second one have at least these distances."""
    since = lost
    for time_of, distance in zip(times[2:], distances):
        since += distance
        check(time_of >= since - TICKS, f'connections {[x - lost for x in times]} s after the loss')


@case('S34', plays='server', many=True)
def bounded(t):
    """A server that disconnects at each Call gets its third to fifth connection after 3, 6, 12 s"""
    def hangs_up(c, message):
        if isinstance(message, Rpc):
            lost.append(time.monotonic())
            c.hang_up()
        else:
            serves(c, message)

    lost = []
    t.up(hangs_up)
    t.begin('mount')
    check(t.attend(30, lambda: len(t.times) >= 5), f'{len(t.times)} connections')
    backs_off(t.times, lost[0], 3, 6, 12)


@case('S34', plays='server', many=True,
      ended={'disconnects on three Calls, then serves: the view has the reason, peer': 'peer'})
def recovers(t):
    """A server that disconnects three times, and then serves, is used without further delay"""
    def hangs_up(c, message):
        if isinstance(message, Rpc) and len(t.first) <= 3:
            lost.append(time.monotonic())
            c.hang_up()
        else:
            serves(c, message)

    lost = []
    t.up(hangs_up)
    t.does('mount', 'work')
    lost.append(time.monotonic())
    t.connections[0].hang_up()
    t.does('work')
    t.look()
    t.does('unmount')
    check(len(t.times) == 5, f'{len(t.times)} connections')
    # Immediately but spread, after 3 s, after 6 s, and immediately again
    backs_off(t.times, lost[0], 3, 6)
    gaps = [b - a for a, b in zip(lost, t.times[1:])]
    for found, most in zip(gaps, (1.5, 4.5, 8, 1.5)):
        check(found <= scaled(most), f'too late: {gaps}')


@case('S34', plays='server', many=True)
def spread(t):
    """Connections that worked and are lost at the fourth Call are soon replaced, spread in time"""
    def hangs_on_fourth(c, message):
        if not isinstance(message, Rpc):
            return serves(c, message)
        calls.append(c)
        if calls.count(c) < 4:
            return serves(c, message)
        lost.append(time.monotonic())
        return c.hang_up()

    calls, lost = [], []
    t.up(hangs_on_fourth)
    t.does('mount', 'work', 'work', 'work', 'work', 'unmount')
    gaps = [b - a for a, b in zip(lost, t.times[1:])]
    check(len(gaps) >= 8, f'only {len(gaps)} losses')
    check(max(gaps) - min(gaps) >= 0.05, f'not spread: {gaps}')
    check(max(gaps) <= scaled(1.5), f'too late: {gaps}')


@case('S34', plays='server', many=True)
def wears_out(t):
    """Connections that each bring one Reply: 32 losses in a row are soon answered, not the 34th"""
    def one_reply(c, message):
        if not isinstance(message, Rpc):
            return serves(c, message)
        calls.append(c)
        if calls.count(c) < 2 or backed_off():
            return serves(c, message)
        check(len(lost) < 300, 'the machine is too slow')
        lost.append(time.monotonic())
        return c.hang_up()

    def backed_off():
        """
        Whether the client has backed off twice, for 3 s and for 6 s.

        The attempt to connect began behind the loss before, and the client noticed its own
        loss before the next attempt. So a connection that lasted for 3 s, which ends the row
        of losses, has such a span, too.
        """
        spans, row = [b - a + TICKS for a, b in zip(lost, t.times[2:])], 0
        for span, following in zip(spans, [*spans[1:], 0]):
            if row >= 32 and span >= 3 and following >= 6:
                return True
            row = row + 1 if span < 3 else 0
            check(row < 34, f'no back-off: {spans}')
        return False

    calls, lost = [], []
    t.up()
    t.does('mount')
    t.manners = one_reply
    while not backed_off():
        t.does('misses')
    t.does('unmount')
    gaps = [b - a for a, b in zip(lost, t.times[1:])]
    check(max(gaps[:32]) <= scaled(1.5), f'too late: {gaps}')
