# SPDX-License-Identifier: GPL-2.0
"""A client whose server closes its connections: the number and times of new ones."""

import time

from ..many import serves
from ..registry import case, check
from ..wire import Rpc


@case('S34', plays='server', many=True)
def bounded(t):
    """A server that disconnects at each Call gets two to four connections in 5 s"""
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
    """A server that disconnects three times, and then serves, is used without further delay"""
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
    # Immediately but spread, after 3 s, after 6 s, and immediately again
    for found, least, most in zip(distances, (0, 2.7, 5.5, 0), (1.5, 4.5, 8, 1.5)):
        check(least <= found <= most, f'the distances are {distances} s')


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
    check(max(gaps) <= 1.5, f'too late: {gaps}')


@case('S34', plays='server', many=True)
def wears_out(t):
    """Connections that each bring one Reply: 32 losses in a row are soon answered, not the 34th"""
    def one_reply(c, message):
        if not isinstance(message, Rpc):
            return serves(c, message)
        calls.append(c)
        if calls.count(c) < 2 or len(lost) == 35:
            return serves(c, message)
        lost.append(time.monotonic())
        return c.hang_up()

    calls, lost = [], []
    t.up()
    t.does('mount')
    t.manners = one_reply
    while len(lost) < 35:
        t.does('work')
    t.does('unmount')
    gaps = [b - a for a, b in zip(lost, t.times[1:])]
    check(max(gaps[:32]) <= 1.5, f'too late: {gaps}')
    # After 3 s; one loss later if the first connection lasted
    check(max(gaps[33:35]) >= 2.7, f'too soon: {gaps}')
