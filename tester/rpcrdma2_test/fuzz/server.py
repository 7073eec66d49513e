# SPDX-License-Identifier: GPL-2.0
"""Conversations of a server with the clients under test"""

import dataclasses
import random
import struct
import time

from .. import rpc, wire
from ..endpoint import Endpoint, Listener, Lost, PrivateData
from ..registry import Failure
from ..server import PRIVATE, Server
from ..waits import scaled, until
from ..wire import BRS, RBSIZ, Error, Prop, Rpc, u32
from . import mutate
from .outcome import Outcome

COUNT = 300             # maximum of messages in a conversation
IDLE = .1               # seconds without a Call, after which the connection is closed
PATIENCE = 60           # seconds for the next connection
INTRODUCTION = 30       # Calls that are answered properly after the command's start
ROUNDS = 200            # conversations at a port, because clients remember a server's version
SCRATCH = 1 << 20


class Conversation:
    """The mutations of the answers on one connection, and the number of additional messages"""

    def __init__(self, seed, _keep=None, mutations=None):
        rng = random.Random(seed)
        self.seed, self.parts = seed, []
        self.count = rng.choice((6, COUNT, COUNT))
        # A connection without a valid Reply makes the client delay the next one.
        self.lead = rng.choice((0, 2, 2, 2, 3, 3, 3, 3, 3, 10))
        self.beside = rng.choice((.3, 2, 6, 12))
        self.retries = rng.choice((0, 7, 7, 7))
        self.private = PRIVATE if rng.random() < .8 else PrivateData(
            rng.randrange(256), 1024 * rng.randrange(1, 257), 1024 * rng.randrange(1, 257))
        self.mutations = mutate.choose(rng, self.count, rng.choice((.2, .7, .95)))
        self.rng_seed = rng.getrandbits(64)
        if mutations is not None:
            self.mutations = [self.mutations[i] for i in mutations]


class Speaker(Server):
    """Creates valid answers, without sending them."""
    backend_patience = .5       # nfsd drops malformed Calls

    def __init__(self, trigger, lender):
        super().__init__(trigger)
        self.region, self.used = lender.region(SCRATCH), 0
        self.known, self.out = {}, []

    def scratch(self, length):
        """Returns the offset of memory for RDMA Reads and Writes, which is reused cyclically."""
        if length > SCRATCH:
            raise Failure(f'a segment of {length} bytes')
        if self.used + length > SCRATCH:
            self.used = 0
        self.used += length
        return self.used - length

    def send(self, *messages, **_options):
        self.out += messages

    def contents(self, call):
        chunks = {}
        for position, segment in call.reads:
            at = self.scratch(segment.length)
            self.endpoint.rdma(self.region, segment.length, segment.handle, segment.offset,
                               True, at)
            chunks[position] = chunks.get(position, b'') + self.region.read(segment.length, at)
        body = chunks.pop(0, b'') if call.proc == wire.NOMSG else call.body
        for position in sorted(chunks):
            data = chunks[position]
            body = body[:position] + data + bytes(-len(data) % 4) + body[position:]
        if body[:4] != u32(call.number):
            raise Failure('xid and rdma_xid differ')
        return body

    def write(self, data, segments):
        used, done = [], 0
        at = self.scratch(len(data))
        self.region.write(data, at)
        for segment in segments:
            length = min(segment.length, len(data) - done)
            if length:
                self.endpoint.rdma(self.region, length, segment.handle, segment.offset,
                                   at=at + done)
            used.append(dataclasses.replace(segment, length=length))
            done += length
        return used

    def ask_backend(self, message):
        """Returns the NFS server's cached answer to the Call, with the Call's xid."""
        if len(self.known) > 500:
            self.known.clear()
        if message[4:] not in self.known:
            try:
                self.known[message[4:]] = super().ask_backend(message)[4:]
            except (OSError, rpc.RpcError) as reason:
                self.tcp = None
                raise Failure(f'the NFS server: {reason}') from reason
        return message[:4] + self.known[message[4:]]


class Player:
    """Plays conversations with clients that connect to one port after another."""

    def __init__(self, trigger, step=1):
        self.lender = Endpoint.prepare(trigger.host, trigger.port)
        self.speaker = Speaker(trigger, self.lender)
        self.step, self.rounds = step, 0
        self.calls = 0          # answered since the command was started

    conversation = Conversation

    def close(self):
        self.speaker.close()
        self.lender.close()

    def ready(self):
        """Makes sure that the command runs, at a port that was not used too often."""
        speaker = self.speaker
        if speaker.process and speaker.process.poll() is not None:
            self.stop()
        if self.rounds >= ROUNDS:
            self.stop()
            speaker.trigger = dataclasses.replace(
                speaker.trigger, port=speaker.trigger.port + self.step)
            self.rounds = 0
        if not speaker.listener:
            speaker.listener = Listener(speaker.trigger.host, speaker.trigger.port)
            speaker.run()
            self.calls = 0
        self.rounds += 1

    def stop(self):
        self.speaker.end_process()
        self.speaker.listener.close()
        self.speaker.process = self.speaker.listener = None

    def messages(self, message):
        """Returns the valid answers to a message."""
        self.speaker.out = []
        if isinstance(message, Rpc) and message.direction == wire.CALL:
            self.calls += 1
            self.speaker.answer(message)
        elif isinstance(message, wire.Properties) and message.proc == wire.CONNPROP:
            values = message.values
            if RBSIZ in values and len(values[RBSIZ].data) == 4:
                self.speaker.peer = values[RBSIZ].word
            return [wire.connprop(message.xid, [Prop(RBSIZ, 4096), Prop(BRS, 1)], {0, 1})]
        elif isinstance(message, wire.Properties) and message.proc == wire.REQPROP:
            return [wire.resprop(message.xid, (), range(len(message.sets[0])))]
        elif isinstance(message, wire.Option):
            return [Error(message.xid, wire.INVALID_OPTION)]
        return self.speaker.out

    def play(self, conversation):
        outcome = Outcome()
        endpoint = self.next(conversation)
        if not endpoint:
            outcome.failure = f'no connection of the client in {scaled(PATIENCE):g} s'
            return outcome
        self.speaker.endpoint, self.speaker.peer = endpoint, 4096
        try:
            endpoint.accept(conversation.private.encode(), conversation.retries)
            Talk(self, conversation, outcome).all()
        except (Lost, OSError):
            outcome.lost = 1
        except wire.WireError as reason:
            outcome.failure = f'a malformed message: {reason}'
        finally:
            self.speaker.endpoint = None
            endpoint.close()
        return outcome

    def next(self, conversation):
        """Returns the next connection; restarts the command if it ends."""
        end = until(PATIENCE)
        while time.monotonic() < end:
            self.ready()
            endpoint = Endpoint.request(self.speaker.listener.pointer, 1, receives=64,
                                        lender=self.lender)
            if endpoint:
                return endpoint
        return None


class Talk:
    """The state of one connection"""

    def __init__(self, player, conversation, outcome):
        self.player, self.speaker = player, player.speaker
        self.conversation, self.outcome = conversation, outcome
        self.rng = random.Random(conversation.rng_seed)
        self.mutations = mutate.of_messages(conversation.mutations)
        self.said, self.held = 0, None
        self.past = []          # messages that were sent already

    def all(self):
        while self.said < self.conversation.count:
            got = self.speaker.endpoint.receive(IDLE)
            if got is None:
                return
            message = wire.decode(got[0])
            self.outcome.took(message)
            self.answer(message)

    def answer(self, message):
        """Sends the mutated answers, and additional messages."""
        try:
            replies = self.player.messages(message)
        except (Failure, rpc.RpcError, struct.error):
            # A Call that the NFS server does not answer
            replies = [Error(message.xid, wire.SYSTEM, (), message.vers)]
        beside = self.conversation.beside
        count = int(beside) + (self.rng.random() < beside % 1) if self.rude() else 0
        for other in [*replies, *(self.other(message) for _ in range(count))]:
            if not self.say(other):
                raise Lost('ended by the tester')

    def rude(self):
        return self.said >= self.conversation.lead and self.player.calls >= INTRODUCTION

    def other(self, call):
        """Returns a message that would be valid in another situation."""
        rng, number = self.rng, self.rng.choice((call.xid, call.xid + 1, self.rng.getrandbits(32)))
        number &= 0xffffffff
        kind, version = rng.randrange(9), call.version
        if kind <= 2 and self.past:
            return rng.choice(self.past)
        if kind <= 4:
            code = rng.randrange(1, 12)
            return Error(number, code, tuple(rng.choice(mutate.WORDS) for _ in range(
                wire.ARGUMENTS.get(code, 0))), version)
        if kind == 5:
            return Rpc(number, rpc.call(number, prog=0x40000000, vers=1), version)
        if kind == 6:
            return Rpc(number, rpc.reply(number), version, direction=wire.REPLY)
        if version == 1:
            return Rpc(number, b'', 1, proc=wire.NOMSG, direction=wire.REPLY,
                       reply=call.reply if isinstance(call, Rpc) else None)
        props = [Prop(RBSIZ, rng.choice((1024, 4096, 8192))), Prop(BRS, rng.randrange(4))]
        return rng.choice((wire.updprop, wire.reqprop, wire.connprop))(number, props)

    def say(self, message):
        """Sends a message with its mutations; returns whether the conversation continues."""
        data = message.encode()
        head = message.header_length if isinstance(message, Rpc) else 1 << 16
        self.past = self.past[-7:] + [message]
        own = self.mutations.get(self.said, ()) if self.rude() else ()
        self.said += 1
        names = {m.name: m for m in own}
        if 'end' in names:
            self.outcome.ended = 1
            return False
        if 'drop' in names:
            return True
        if 'delay' in names:
            time.sleep(names['delay'].a % 30 / 1000)
        self.post(mutate.spoil(data, head, own), own)
        if 'twice' in names:
            self.post(data, own)
        return True

    def post(self, data, mutations):
        invalidate = 0
        for m in mutations:
            if m.name == 'invalidate':
                invalidate = m.b
            elif m.name == 'swap' and self.held is None:
                self.held = data, mutations
                return
        self.speaker.endpoint.post(data, invalidate)
        self.outcome.said(len(mutations))
        if self.held is not None:
            (data, mutations), self.held = self.held, None
            self.speaker.endpoint.post(data)
            self.outcome.said(len(mutations))
