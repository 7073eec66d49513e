#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
In a guest: uses a mount and verifies its data, while another process disturbs it.

    steady.py FILE PROCESS-GROUP [FACTOR]

It writes and reads blocks of 4 KiB with O_DIRECT until the process group has ended, and
compares each block that it reads. It stops the group from time to time: the median latency of
an operation while the group runs may be FACTOR (default 2) times the median while it is
stopped.
"""

import mmap
import os
import random
import signal
import sys
import time

BLOCK, BLOCKS = 4096, 64
DISTURBED, ALONE, SETTLE = 4.0, 1.0, 0.3
PAUSE = .005            # between two operations, in seconds


def stop(why):
    print('FAIL', why)
    sys.exit(1)


class User:
    """A file and its expected contents"""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o644)
        self.room = memoryview(mmap.mmap(-1, BLOCK))
        self.known = {}
        for block in range(BLOCKS):
            self.write(block)

    def write(self, block):
        data = os.urandom(64) * (BLOCK // 64)
        self.room[:] = data
        os.pwritev(self.fd, [self.room], block * BLOCK)
        self.known[block] = data

    def read(self, block):
        self.room[:] = bytes(BLOCK)
        os.preadv(self.fd, [self.room], block * BLOCK)

    def verify(self, block):
        if bytes(self.room) != self.known[block]:
            stop(f'block {block} has other bytes')


def operations(user, seconds, times):
    """Reads and writes for this time; appends the duration of each operation to times."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(PAUSE)
        block = random.randrange(BLOCKS)
        begin = time.monotonic()
        if random.random() < .5:
            user.write(block)
            times.append(time.monotonic() - begin)
        else:
            user.read(block)
            times.append(time.monotonic() - begin)
            user.verify(block)


def tell(group, number):
    """Sends a signal to the group; returns whether the group exists."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def at(times, part):
    return sorted(times)[int(len(times) * part)] * 1e6


def main():
    path, group = sys.argv[1], int(sys.argv[2])
    factor = float(sys.argv[3]) if len(sys.argv) > 3 else 2
    user, beside, alone = User(path), [], []
    begin = time.monotonic()
    while not tell(group, 0) and time.monotonic() - begin < 5:
        time.sleep(.1)
    while tell(group, signal.SIGCONT):
        operations(user, SETTLE, [])
        operations(user, DISTURBED, beside)
        if not tell(group, signal.SIGSTOP):
            break
        try:
            operations(user, SETTLE, [])
            operations(user, ALONE, alone)
        finally:
            tell(group, signal.SIGCONT)
    for block in range(BLOCKS):
        user.read(block)
        user.verify(block)
    if not beside or not alone:
        stop('nothing was measured')
    ratio = at(beside, .5) / at(alone, .5)
    print(f'# {len(beside)} operations beside it, median {at(beside, .5):.0f} us, '
          f'of 99 % {at(beside, .99):.0f}, longest {max(beside) * 1e3:.0f} ms; '
          f'{len(alone)} alone, median {at(alone, .5):.0f} us, of 99 % {at(alone, .99):.0f}')
    print(f'{"ok" if ratio <= factor else "FAIL"} all data verified, the median latency is '
          f'{ratio:.2f} times that alone')
    sys.exit(ratio > factor)


if __name__ == '__main__':
    main()
