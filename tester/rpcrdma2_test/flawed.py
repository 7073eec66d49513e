# SPDX-License-Identifier: GPL-2.0
"""
A server for testing the tester: it has to pass all cases, and each fault that is added has to
be detected. An NFS server over TCP answers its Calls.
"""

import collections
import dataclasses
import pathlib
import struct

from . import rpc, wire
from .endpoint import Endpoint, Listener, Lost, PrivateData
from .fuzz.server import SCRATCH, Speaker
from .registry import Failure
from .server import Server
from .wire import (BRS, BRS_INLINE, CALL, MSG, NOMSG, RBSIZ, REPLY, Error, Option, Prop,
                   Properties, Rpc)

READ_CHUNKS, WRITE_CHUNKS, SEGMENTS = 8, 8, 64      # limits of a Call


class Refused(Exception):
    """A message that is answered with an error: its code and arguments"""


def padded(length):
    return length + 3 & ~3


def rpc_header(body):
    """Returns the length of a Call's RPC header."""
    at = 24
    for _ in range(2):
        at += 8 + padded(rpc.number_at(body, at + 4))
    return at


def is_answer(data):
    """Whether a message is an answer, by its first words"""
    _, version, _, proc = struct.unpack_from('>4I', data)
    direction, opttype = struct.unpack_from('>2I', data + bytes(8), 16)
    if proc == wire.ERROR:
        return version in (1, 2)
    return version == 2 and (
        proc == wire.RESPROP or proc in (MSG, NOMSG) and direction == REPLY or
        proc == wire.OPTIONAL and (direction != CALL or opttype == 3))


class Peer(Speaker):
    """A server without a fault; a class with a fault overrides a method."""
    backend_patience = 5
    receive_size = 16384
    idle = 10                   # seconds without a message, after which the connection is closed
    private = PrivateData(1, 4096, 4096)
    plays = 'server'
    loses = False               # whether the fault is the loss of connections
    settings_in = None          # a folder with a file for each setting of this server

    def __init__(self, trigger):
        self.lender = Endpoint.prepare(trigger.host, trigger.port)
        super().__init__(trigger, self.lender)
        self.listener = Listener(trigger.host, trigger.port)
        self.costs = collections.Counter()      # lost connections, by the xid that caused the loss
        self.rooms, self.introduced = {}, False

    def close(self):
        super().close()
        self.lender.close()

    # Connections

    def connection(self):
        """Serves the next connection until its end, if one arrives soon."""
        endpoint = Endpoint.request(self.listener.pointer, .2, receives=128,
                                    lender=self.lender)
        if not endpoint:
            return
        self.endpoint, self.introduced = endpoint, False
        client = PrivateData.decode(endpoint.private)
        self.rooms = {1: client.receive if client else 1024, 2: 4096}
        try:
            endpoint.accept(self.private.encode())
            self.begins()
            while (got := endpoint.receive(self.idle)) is not None:
                self.takes_message(got[0], endpoint.immediate)
        except (Lost, OSError):
            pass
        finally:
            self.endpoint = None
            endpoint.close()

    def begins(self):
        """Called at the beginning of a connection; this server then sends nothing."""

    def takes_message(self, data, immediate):
        if immediate:
            raise Lost('no message')
        try:
            for message, handle in self.says(data, self.answers(data)):
                self.endpoint.post(message.encode(), handle)
            self.endpoint.flush()
        except Lost:
            self.costs[data[:4]] += 1
            raise

    def says(self, _data, answers):
        """Returns the messages to send for @data; @answers are the right ones."""
        return answers

    # Answers are pairs of a message and the handle that it invalidates.

    @property
    def speaks(self):
        """Returns the first and the last supported version."""
        path = self.settings_in and pathlib.Path(self.settings_in, 'versions')
        only = path and path.exists() and path.read_text('ascii').strip()
        return (int(only), int(only)) if only else (1, 2)

    def answers(self, data):
        if len(data) < 16 or is_answer(data):
            return []
        number, version, _, proc = struct.unpack_from('>4I', data)
        if version == 1 and proc == wire.DONE:
            return []
        try:
            return self.answers_to(data, version, proc)
        except Refused as reason:
            code, *arguments = reason.args
        except (wire.WireError, rpc.RpcError, struct.error):
            code, arguments = wire.BAD_XDR, ()
        except Failure:             # of the server over TCP
            code, arguments = wire.SYSTEM, ()
        if version == 1 and code != wire.VERS:
            code, arguments = wire.ERR_CHUNK, ()
        return [(Error(number, code, tuple(arguments), version, self.grant), 0)]

    def answers_to(self, data, version, proc):
        if not self.speaks[0] <= version <= self.speaks[1]:
            raise Refused(wire.VERS, *self.speaks)
        if not self.is_proc(version, proc):
            raise Refused(wire.INVALID_PROC)
        handle = 0
        if version == 2 and proc in (MSG, NOMSG):
            handle = rpc.number_at(data, 20)
            data = data[:20] + bytes(4) + data[24:]     # any value is valid, S47
        message = self.decoded(data)
        if isinstance(message, Option):
            raise Refused(wire.INVALID_OPTION)
        if isinstance(message, Properties):
            return self.to_properties(message)
        if message.direction == REPLY:
            return []
        found = self.to_call(message)
        return [(m, handle if isinstance(m, Rpc) and handle in message.handles() else 0)
                for m in found]

    @staticmethod
    def is_proc(version, proc):
        return proc in (MSG, NOMSG) or version == 2 and wire.OPTIONAL <= proc <= wire.UPDPROP

    @staticmethod
    def decoded(data):
        return wire.decode(data)

    # Properties

    def to_properties(self, message):
        for prop in message.sets[0]:
            self.value(prop)
        if message.proc == wire.REQPROP:
            return [(wire.resprop(message.xid, *self.wishes(message.sets[0]),
                                  as_option=message.as_option), 0)]
        for prop in message.sets[0]:
            if prop.which == RBSIZ:
                self.rooms[2] = max(self.value(prop), 1024)
        if message.proc == wire.UPDPROP or self.introduced:
            return []
        self.introduced = True
        return [(wire.connprop(message.xid, self.properties(), {0, 1}, credit=self.grant,
                               as_option=message.as_option), 0)]

    def properties(self):
        return [Prop(RBSIZ, self.receive_size), Prop(BRS, BRS_INLINE)]

    @staticmethod
    def value(prop):
        """Returns the property's value, or None for an unknown property."""
        if prop.which not in (RBSIZ, BRS):
            return None
        if not prop.data:
            return 4096 if prop.which == RBSIZ else BRS_INLINE
        value = rpc.number_at(prop.data, 0)
        if prop.which == BRS and value > 2:
            raise Refused(wire.BAD_XDR)
        return value

    def wishes(self, props):
        """Returns the requested properties that are done, and those that are rejected."""
        done, seen = set(), set()
        for index, prop in enumerate(props):
            size = self.value(prop) if prop.which == RBSIZ else 0
            if prop.which not in seen and 4096 <= size <= self.receive_size:
                done.add(index)
            seen.add(prop.which)
        return done, set(range(len(props))) - done

    # Calls

    def to_call(self, call):
        self.judge(call)
        if self.costs[wire.u32(call.number)] > 1:
            raise Refused(wire.SYSTEM)
        self.peer = self.rooms[call.version]
        try:
            body = self.contents(call.but(reads=tuple(
                (p, s) for p, s in call.reads if s.length)))
        except Failure as reason:
            raise Refused(wire.BAD_XDR) from reason
        if rpc.number_at(body, 4) != CALL:
            raise Refused(wire.BAD_XDR)
        self.out = []
        self.answer(call.but(proc=MSG, reads=(), body=body))
        return self.out

    def judge(self, call):
        """Checks first whether the Call's chunks are valid, then whether they exceed the limits."""
        chunks = {}
        for position, segment in call.reads:
            chunks.setdefault(position, []).append(segment.length)
        if (0 in chunks) != (call.proc == NOMSG) or any(p % 4 for p in chunks):
            raise Refused(wire.BAD_XDR)
        total = sum(map(sum, chunks.values()))
        if total > 0xffffffff:
            raise Refused(wire.BAD_XDR)
        if call.proc == MSG:
            self.judge_positions(call, chunks)
        if len(chunks) > READ_CHUNKS:
            raise Refused(wire.READ_CHUNKS, READ_CHUNKS)
        if len(call.writes) > WRITE_CHUNKS:
            raise Refused(wire.WRITE_CHUNKS, WRITE_CHUNKS)
        if max(map(len, [*chunks.values(), *call.writes, call.reply or ()])) > SEGMENTS:
            raise Refused(wire.SEGMENTS, SEGMENTS)
        if total > SCRATCH:
            raise Refused(wire.SYSTEM)

    def judge_positions(self, call, chunks):
        end = len(call.body)
        for position in sorted(chunks):
            if not rpc_header(call.body) <= position <= end:
                raise Refused(wire.BAD_XDR)
            end += padded(sum(chunks[position]))

    def write(self, data, segments):
        if sum(s.length for s in segments) < len(data):
            raise Refused(wire.WRITE_RESOURCE, 1, len(data))
        return super().write(data, segments)

    def ask_backend(self, message):
        try:
            return Server.ask_backend(self, message)    # the data may have changed since
        except (OSError, rpc.RpcError) as reason:
            self.tcp = None
            raise Failure(f'the NFS server: {reason}') from reason


class ForFuzzing(Peer):
    """
    A fault for the fuzzer: a Call that requests more than 1000 credits is granted none.

    If a path is set, such a Call creates this file instead.
    """
    path = ''

    def begins(self):
        """A repeated conversation has the same xids."""
        self.costs.clear()

    def says(self, data, answers):
        if not any(isinstance(m, Rpc) for m, _ in answers) or \
                rpc.number_at(data, 8) <= 1000:
            return answers
        if self.path:
            pathlib.Path(self.path).touch()
            return answers
        return [(dataclasses.replace(m, credit=0), h) for m, h in answers]


def serve(trigger, path):
    """Serves one connection after another, forever."""
    peer = ForFuzzing(trigger)
    peer.path = path
    while True:
        peer.connection()
