# SPDX-License-Identifier: GPL-2.0
"""The parts of an NFSv4.1 session that cases need: COMPOUNDs, and recalls of delegations."""

import os
import struct
import time

from . import rpc
from .registry import NotApplicable, check
from .wire import opaque, u32

OPEN, PUTROOTFH, LOOKUP, READ, WRITE = 18, 24, 15, 25, 38
CREATE, GETATTR, REMOVE, DIRECTORY = 6, 9, 28, 2
EXCHANGE_ID, CREATE_SESSION, SEQUENCE, RECLAIM_COMPLETE = 42, 43, 53, 58
CB_RECALL, CB_SEQUENCE, CB_PROGRAM = 4, 11, 0x40000000
BIND_CONN_TO_SESSION, BOTH_WAYS = 41, 3
BACK_CHANNEL, READ_DELEGATION, DELEGATED = 2, 0x101, 1
ANONYMOUS = bytes(16)
REP_TOO_BIG = 10066


def channel(longest=4096, responses=4096):
    """Returns channel attributes with these maximum sizes of a Call and a Reply."""
    return u32(0, longest, responses, 1024, 8, 16, 0)


def compound(operations, minor=1):
    """Returns arguments of a COMPOUND; an operation is a pair of number and arguments."""
    return opaque(b'') + u32(minor, len(operations)) + b''.join(
        u32(number) + arguments for number, arguments in operations)


class Session:
    """A session whose connection is also its backchannel.

    `flags` are those of the last SEQUENCE reply."""

    def __init__(self, t, longest=4096, flags=BACK_CHANNEL, responses=4096):
        self.t, self.turn = t, 0
        self.owner = owner = b'tester-' + os.urandom(6).hex().encode()
        results = self.do((EXCHANGE_ID, os.urandom(8) + opaque(owner) + u32(0, 0, 0)))
        self.client = results[:8]
        results = self.do((CREATE_SESSION, results[:12] + u32(flags) +
                           channel(longest, responses) + channel() + u32(CB_PROGRAM, 1, 0)))
        self.id = results[:16]
        self.go_on((RECLAIM_COMPLETE, u32(0)))

    def call(self, *operations, **fields):
        return self.t.call(1, compound(operations), vers=4, **fields)

    def in_session(self, *operations, **fields):
        self.turn += 1
        return self.call((SEQUENCE, self.id + u32(self.turn, 0, 15, 0)),
                         *operations, **fields)

    def do(self, operation):
        """Does a single operation outside of the session; returns its results."""
        answer = self.t.answered(self.call(operation))
        check(rpc.number_at(answer.results, 0) == 0,
              f'operation {operation[0]}: status {rpc.number_at(answer.results, 0)}')
        return answer.results[20:]

    def go_on(self, *operations):
        """Does operations in the session, which have to succeed."""
        answer = self.t.answered(self.in_session(*operations))
        status = rpc.number_at(answer.results, 0)
        check(status == 0, f'operations {[o for o, _ in operations]}: status {status}')
        self.flags = rpc.number_at(answer.results, 52)
        return answer

    def bind(self):
        """Makes the connection a backchannel of the session."""
        self.do((BIND_CONN_TO_SESSION, self.id + u32(BOTH_WAYS, 0)))

    def path(self, name):
        """Returns operations that lead from the NFSv4 root to a file of the export."""
        return [(PUTROOTFH, b''), (LOOKUP, opaque(name))]

    def delegation(self, name):
        """Returns the kind of delegation that an OPEN for reading gets."""
        answer = self.go_on((PUTROOTFH, b''),
                            (OPEN, u32(0, READ_DELEGATION, 0) + self.client +
                             opaque(b'owner') + u32(0, 0) + opaque(name)))
        at = 112                                # after stateid, cinfo and rflags
        at += 4 + 4 * rpc.number_at(answer.results, at)
        return rpc.number_at(answer.results, at)

    def delegated(self, tries=40):
        """
        Returns the NFSv3 handle of a file for which this client has a delegation.

        The server gives no delegation before its probe of the callback path has been answered,
        nor for a recently recalled file, so this tries other files.
        """
        for turn in range(tries):
            if turn % 8 == 0:
                handle = self.t.file()
                name = self.t.made[-1]
            if self.delegation(name) == DELEGATED:
                return handle
            time.sleep(0.05)
        raise NotApplicable('the server gives no delegation for reading')


def recall(t, session):
    """
    Makes the server recall a delegation; returns the Call of the recall.

    The Call and the Reply to the WRITE that causes it come in any order.
    """
    handle = session.delegated()
    arguments = rpc.write_arguments(handle, 4, b'data')
    t.send(t.call(rpc.WRITE, arguments))
    both = [t.receive(), t.receive()]
    call = next((got for got in both if got and got.message.direction == 0), None)
    check(call is not None, 'the delegation is not recalled')
    return call


def recalled(call):
    """Returns a successful RPC Reply to that Call."""
    body = call.body
    at = 24
    for _ in range(2):                      # credential and verifier
        at += 8 + (rpc.number_at(body, at + 4) + 3 & ~3)
    at += 4 + (rpc.number_at(body, at) + 3 & ~3)
    minor, _, count, first = struct.unpack_from('>4I', body, at)
    check((minor, count, first) == (1, 2, CB_SEQUENCE), f'{body.hex(" ", 4)}')
    session = body[at + 16:at + 32]
    number, slot, highest = struct.unpack_from('>3I', body, at + 32)
    return rpc.reply(call.number, u32(0, 0, 2, CB_SEQUENCE, 0) + session +
                     u32(number, slot, highest, highest, CB_RECALL, 0))
