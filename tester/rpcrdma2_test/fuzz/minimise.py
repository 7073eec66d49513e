# SPDX-License-Identifier: GPL-2.0
"""Reduction of a conversation to the smallest part that still fails"""

import time

LIMIT = 300             # seconds
LATE = .2               # the peer may still process messages that preceded the end of a connection


def ranges(items):
    """Formats numbers for a command line: 1,2,3,7."""
    return ','.join(map(str, items)) or '-'


def parse(text):
    return [] if text == '-' else [int(i) for i in text.split(',')]


def least(items, fails, until):
    """
    Returns a minimal list of items with which fails(items) is true.

    Removes large parts first, then single items.
    """
    size = max(1, len(items) // 2)
    while items and time.monotonic() < until:
        at, shrunk = 0, False
        while at < len(items) and time.monotonic() < until:
            fewer = items[:at] + items[at + size:]
            if fails(fewer):
                items, shrunk = fewer, True
            else:
                at += size
        if size == 1 and not shrunk:
            break
        size = max(1, size // 2)
    return items


class Minimiser:
    """Plays one conversation again, completely or in part."""

    def __init__(self, run):
        self.run, self.player = run, None

    def close(self):
        if self.player:
            self.player.close()

    def fails(self, seed, parts=None, mutations=None):
        """Returns the reason if this conversation fails, or an empty string."""
        if not self.player:
            self.player = self.run.player()
        self.run.is_well()      # discards a late report of the previous conversation
        outcome = self.player.play(self.run.conversation(seed, parts, mutations))
        if outcome.failure:
            return outcome.failure
        if outcome.lost and self.run.check:
            time.sleep(LATE)
        return '' if self.run.is_well() else 'the peer has a problem'

    def reduce(self, seed, say):
        whole, until = self.run.conversation(seed), time.monotonic() + LIMIT
        parts, mutations = whole.parts, list(range(len(whole.mutations)))

        mutations = least(mutations, lambda m: self.fails(seed, parts, m), until)
        parts = least(parts, lambda p: self.fails(seed, p, mutations), until)
        mutations = least(mutations, lambda m: self.fails(seed, parts, m), until)
        say(f'minimised to {len(parts)} messages and {len(mutations)} mutations: '
            f'--replay {seed:#x}:{ranges(parts)}:{ranges(mutations)}')
        for number in mutations:
            say(f'  {whole.mutations[number]}')

    def replay(self, text, say):
        """Plays a conversation that is given by its seed, or in the format of reduce()."""
        seed, *rest = text.split(':')
        parts, mutations = (parse(r) for r in rest) if rest else (None, None)
        why = self.fails(int(seed, 0), parts, mutations)
        say(f'conversation {seed}: {why or "nothing is wrong"}')
        return why
