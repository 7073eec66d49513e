# SPDX-License-Identifier: GPL-2.0
"""The least of a conversation that still fails."""

import time

LIMIT = 300             # seconds
LATE = .2               # the peer may be at work on what came before it ended a connection


def ranges(items):
    """1,2,3,7 for a command line"""
    return ','.join(map(str, items)) or '-'


def parse(text):
    return [] if text == '-' else [int(i) for i in text.split(',')]


def least(items, fails, until):
    """
    Items without those that the failure does not need: larger parts first, then one
    at a time. fails(items) says whether so few are enough.
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
    """Plays one conversation again, whole or in part."""

    def __init__(self, run):
        self.run, self.player = run, None

    def close(self):
        if self.player:
            self.player.close()

    def fails(self, seed, parts=None, mutations=None):
        """Why this conversation fails, or nothing."""
        if not self.player:
            self.player = self.run.player()
        self.run.is_well()      # what came late was of the conversation before
        outcome = self.player.play(self.run.conversation(seed, parts, mutations))
        if outcome.failure:
            return outcome.failure
        if outcome.lost and self.run.check:
            time.sleep(LATE)
        return '' if self.run.is_well() else 'the peer is not well'

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
        """One conversation as reduce() names it, or by its seed alone."""
        seed, *rest = text.split(':')
        parts, mutations = (parse(r) for r in rest) if rest else (None, None)
        why = self.fails(int(seed, 0), parts, mutations)
        say(f'conversation {seed}: {why or "nothing is wrong"}')
        return why
