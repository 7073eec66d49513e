# SPDX-License-Identifier: GPL-2.0
"""Conversations of a client with the server under test"""

import os
import random
import time

from .. import rpc, wire
from ..client import PRIVATE, Client
from ..endpoint import Endpoint, Lost
from ..waits import scaled, until
from ..wire import Error, Rpc
from . import calls, mutate
from .outcome import Outcome

PATIENCE = 10           # for the answer to a valid Call, in seconds
STALL = .02             # for answers to mutated Calls, while no credits are left
COUNT = 160             # maximum of messages in a conversation


class Place(calls.Place):
    """The memory of a worker, and its files on the server"""

    def __init__(self, target, lender):
        self.region = lender.region(calls.END)
        self.region.write(bytes(range(256)) * (calls.END // 256))
        super().__init__(target.root, b'', b'', self.region.handle, self.region.address)
        self.target, self.uses = target, 0

    def write(self, at, data):
        self.region.write(data, at)

    def refresh(self):
        """Creates new files from time to time, because WRITEs change the old ones."""
        if self.uses % 400 == 0:
            t = Client(self.target, max(self.target.versions))
            t.made = getattr(self, 'made', [])
            t.clean_up()
            t.made = []
            self.file = t.file(bytes(range(250)) * 240)
            self.link = self.symlink(t)
            self.made = t.made
            t.close()
        self.uses += 1

    def symlink(self, t):
        name = b'tester-' + os.urandom(6).hex().encode()
        answer = t.answered(t.call(rpc.SYMLINK, wire.opaque(self.root) + wire.opaque(name) +
                                   wire.u32(0, 0, 0, 0, 0, 0) + wire.opaque(b'l' * 900)))
        t.made.append(name)
        return rpc.opaque_at(answer.results, 8)


class Conversation:
    """The messages of one connection; they depend only on the seed."""

    def __init__(self, seed, keep=None, mutations=None):
        rng = random.Random(seed)
        self.seed = seed
        self.version = rng.choice((1, 2, 2))
        self.count = rng.choice((4, COUNT, COUNT, COUNT))
        self.burst = rng.choice((1, 4, 16, 64))
        self.retries = rng.choice((0, 7, 7))
        self.private = PRIVATE.encode() if rng.random() < .8 else rng.randbytes(8)
        self.mutations = mutate.choose(rng, self.count, rng.choice((.2, .7, .95)))
        self.parts = list(range(self.count))
        self.rng_seed = rng.getrandbits(64)
        if keep is not None:
            self.parts = keep
        if mutations is not None:
            self.mutations = [self.mutations[i] for i in mutations]

    def messages(self, made):
        """Yields pairs of bytes and mutations, in the order of transmission."""
        spoilt, kept, held = mutate.of_messages(self.mutations), set(self.parts), None
        for number in range(self.count):
            data, head = made.next()
            own = spoilt.get(number, ())
            names = {m.name for m in own}
            if number not in kept or 'drop' in names:
                continue
            item = (mutate.spoil(data, head, own), own)
            if 'swap' in names and held is None:
                held = item
                continue
            yield item
            if 'twice' in names:
                yield item
            if held is not None:
                yield held
                held = None


class Player:
    """Plays conversations, one connection at a time."""

    def __init__(self, target):
        self.target = target
        self.lender = Endpoint.prepare(target.host, target.port)
        self.place = Place(target, self.lender)

    def close(self):
        self.place.uses = 0
        self.lender.close()

    @staticmethod
    def conversation(seed, keep=None, mutations=None):
        return Conversation(seed, keep, mutations)

    def play(self, conversation):
        outcome = Outcome()
        self.place.refresh()
        made = calls.Calls(random.Random(conversation.rng_seed), self.place,
                           conversation.version)
        try:
            endpoint = Endpoint.connect(
                self.target.host, self.target.port, conversation.private,
                retries=conversation.retries, receives=128, lender=self.lender)
        except OSError as reason:
            outcome.refused = str(reason)
            return outcome
        try:
            Talk(endpoint, conversation, outcome).all(conversation.messages(made), made)
        except Lost:
            outcome.lost = 1
        except wire.WireError as reason:
            outcome.failure = f'a malformed answer: {reason}'
        finally:
            endpoint.close()
        return outcome


class Talk:
    """The state of one connection"""

    def __init__(self, endpoint, conversation, outcome):
        self.endpoint, self.conversation, self.outcome = endpoint, conversation, outcome
        self.credits, self.waiting, self.hasty = 1, 0, False

    def all(self, messages, made):
        for at, (data, mutations) in enumerate(messages):
            invalidate = 0
            for m in mutations:
                if m.name == 'delay':
                    time.sleep(m.a % 30 / 1000)
                elif m.name == 'end':
                    self.outcome.ended = 1
                    return
                elif m.name == 'invalidate':
                    invalidate = made.place.handle if m.a & 1 else m.b
                elif m.name == 'hasty':
                    self.hasty = True
            self.endpoint.post(data, invalidate)
            self.outcome.said(len(mutations))
            self.waiting += 1
            if at % self.conversation.burst == 0 or self.waiting >= self.credits:
                self.answers()
        self.last(made.null(made.xid + 1), made.xid + 1)

    def answers(self):
        """Takes pending answers; waits for a limited time when no credit is left."""
        while self.take(0):
            pass
        while self.waiting >= self.credits and not self.hasty:
            if not self.take(STALL):
                self.waiting = 0

    def take(self, patience):
        got = self.endpoint.receive(patience)
        if got is None:
            return None
        message = wire.decode(got[0])
        self.outcome.took(message)
        self.waiting = max(0, self.waiting - 1)
        if self.credits == 1 or isinstance(message, Rpc):
            self.credits = max(1, min(message.credit, 60))
        return message

    def last(self, call, number):
        """Sends a valid Call: it has to be answered, or the connection ends."""
        self.endpoint.post(call)
        end = until(PATIENCE)
        while time.monotonic() < end:
            message = self.take(1)
            if message is not None and message.xid == number:
                if isinstance(message, (Rpc, Error)):
                    return
        self.outcome.failure = f'no answer to the last Call in {scaled(PATIENCE):g} s, and no end'
