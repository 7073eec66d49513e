# SPDX-License-Identifier: GPL-2.0
"""A client whose server ends its connections: how often it comes, and when."""

import time

from ..many import serves
from ..registry import case, check
from ..wire import Rpc


@case('S34', plays='server', many=True)
def bounded(t):
    """A server that hangs up on each Call has two to four connections in 5 s"""
    def hangs_up(c, message):
        if isinstance(message, Rpc):
            c.hang_up()
        else:
            serves(c, message)

    t.up(hangs_up)
    t.begin('mount')
    t.attend(5)
    check(2 <= len(t.times) <= 4, f'{len(t.times)} connections')


@case('S34', plays='server', many=True)
def recovers(t):
    """One that does so three times, and then serves, is as good as any other one then"""
    def hangs_up(c, message):
        if isinstance(message, Rpc) and len(t.first) <= 3:
            c.hang_up()
        else:
            serves(c, message)

    t.up(hangs_up)
    t.does('mount', 'work')
    lost = time.monotonic()
    t.connections[0].hang_up()
    t.does('work', 'look', 'unmount')
    check(len(t.times) == 5, f'{len(t.times)} connections')
    distances = [b - a for a, b in zip(t.times, t.times[1:-1])] + [t.times[4] - lost]
    # At once but spread, after 3 s, after 6 s, at once again
    for found, least, most in zip(distances, (0, 2.7, 5.5, 0), (1.5, 4.5, 8, 1.5)):
        check(least <= found <= most, f'the distances are {distances} s')


@case('S34', plays='server', many=True)
def spread(t):
    """Connections that worked, each lost at its fourth Call, are made anew soon, and spread"""
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
    check(max(gaps) <= 1.5, f'too late: {gaps}')
