# SPDX-License-Identifier: GPL-2.0
"""
A client for testing the tester: one visit to a server over NFSv3. It answers messages of the
server as flawed.py answers those of a client.
"""

import collections
import dataclasses
import os
import struct
import time

from . import rpc, wire
from .client import Client
from .endpoint import Endpoint, Lost, PrivateData
from .flawed import Peer, Refused, is_answer, padded
from .registry import NotApplicable
from .server import Server, Trigger
from .waits import until
from .wire import CONNPROP, MSG, NOMSG, REPLY, Error, Properties, Rpc, Segment, opaque, u32

SIZES = (700, 1502, 3500, 5001, 7000, 9000)     # of the files of a round
LINKS = (20, 2000, 4090)                        # of the targets of symbolic links
LISTING = 8192
STOPPED = 2                                     # exit status; Python's own is 1
LONG = 5000                                     # bytes of a Call without data
MOST = 16384                                    # bytes of a Send
ATTRIBUTES = u32(1, 0o777, 0, 0, 0, 0, 0)


class Stop(Exception):
    """The visit has failed."""


@dataclasses.dataclass
class Task:
    """An RPC and its state"""
    procedure: int
    arguments: bytes = b''
    data: bytes | None = None       # the last argument, which may be in a Read chunk
    room: int = 0                   # for a result that may be long
    number: int = 0
    call: Rpc | None = None         # after it was sent
    resent: bool = False
    regions: list = dataclasses.field(default_factory=list)
    results: bytes | None = None
    placed: bytes = b''             # data in the Write chunk


class Visitor(Peer):
    """A client without a fault; a class with a fault overrides a method."""
    receive_size = 4096
    plays = 'client'
    receives = 64                   # for 32 Replies and 32 Calls

    def __init__(self, host, port, root):
        Server.__init__(self, Trigger(host, port, '', host))
        self.root, self.tasks = root, ()
        self.costs = collections.Counter()
        self.losses, self.refusals = 0, 0           # of CONNPROP

    # Connections

    def connect(self):
        end = until(10)
        while not self.endpoint:
            try:
                self.endpoint = Endpoint.connect(
                    self.trigger.host, self.trigger.port, self.private.encode(),
                    receives=self.receives)
            except OSError as reason:
                if time.monotonic() > end:
                    raise Stop('no connection') from reason
                time.sleep(.2)
        said = PrivateData.decode(self.endpoint.private)
        self.rooms = {1: said.receive if said else 1024, 2: 4096}
        self.granted, self.learnt, self.introduced = 1, set(), True
        self.settled, self.tried, self.asked = self.version == 1, False, None
        if not self.settled:
            self.asked = self.xid()
            self.post(wire.connprop(self.asked, self.properties(), {0, 1}, credit=self.grant))

    def post(self, message):
        self.endpoint.send(message.encode())

    xid = staticmethod(Client.xid)

    def leave(self, version):
        """Closes the connection; outstanding Calls are sent again on the next one."""
        self.hang_up()
        self.version = version
        for task in self.tasks:
            task.call, task.resent, task.regions = None, False, []

    def lost(self):
        if not self.settled:
            self.losses += 1
        self.leave(1 if not self.settled and (self.tried or self.losses == 3) else self.version)

    # RPCs

    def all(self, *tasks):
        """Does these RPCs concurrently, as far as credits allow."""
        self.tasks = tasks
        for task in tasks:
            task.number = self.xid()
        while any(t.results is None for t in tasks):
            try:
                if not self.endpoint:
                    self.connect()
                self.send_calls()
                got = self.endpoint.receive(60 if self.settled else 4 if self.tried else 2)
                if got is not None:
                    data, self.invalidated = got
                    self.take(data)
                elif self.settled or self.tried:
                    self.lost()
                else:
                    self.tried = True
            except Lost:
                self.lost()
        return tasks

    def one(self, *arguments):
        return self.all(Task(*arguments))[0]

    def send_calls(self):
        if not self.settled and not self.tried:
            return
        left = [t for t in self.tasks if t.results is None]
        count = self.credits() - sum(t.call is not None for t in left)
        for task in [t for t in left if t.call is None][:max(count, 0)]:
            task.call = self.form(task)
            self.post(task.call)

    def credits(self):
        return self.granted

    def most(self):
        """Returns the maximum size of a Send."""
        if not self.settled:
            return 1024
        return min(self.rooms[self.version], MOST)

    def form(self, task):
        """Returns the Call with the chunks that it needs."""
        last = b'' if task.data is None else opaque(task.data)
        body = rpc.call(task.number, task.procedure, task.arguments + last)
        call = Rpc(task.number, body, self.version, self.grant)
        if task.room and task.procedure != rpc.READDIR and 'writes' not in self.learnt:
            call = call.but(writes=(self.expose(task, bytes(task.room)),))
        elif task.room:
            call = call.but(reply=self.expose(task, bytes(task.room + 512)))
        if len(call.encode()) > self.most() and last and 'reads' not in self.learnt:
            at = len(body) - padded(len(task.data))
            call = call.but(body=self.inline(body, at),
                            reads=tuple((at, s) for s in self.expose(task, task.data)))
        if len(call.encode()) > self.most():
            call = call.but(proc=NOMSG, body=b'',
                            reads=tuple((0, s) for s in self.expose(task, body)))
        handles = call.handles() if self.version == 2 else ()
        return call.but(inv_handle=handles[0] if handles else 0)

    @staticmethod
    def inline(body, at):
        """Returns the inline part of an RPC message whose last argument is in a chunk."""
        return body[:at]

    def expose(self, task, data):
        """Returns segments with these bytes, each with a separate handle."""
        step = len(data) if 'segments' in self.learnt else -(-len(data) // 2) + 3 & ~3
        found = []
        for at in range(0, len(data), step):
            part = data[at:at + step]
            region = self.endpoint.region(len(part)).write(part)
            try:
                region.window()
            except NotApplicable:
                pass
            task.regions.append(region)
            found.append(Segment(region.handle, len(part), region.address))
        return tuple(found)

    def release(self, task):
        for region in task.regions:
            self.endpoint.regions.remove(region)
            region.free()
        task.regions = []

    # Messages of the server

    def take(self, data):
        if len(data) < 16:
            return
        number, version, _, proc = struct.unpack_from('>4I', data)
        try:
            message = wire.decode(data)
        except wire.WireError:
            message = None
            if not self.settled and proc != CONNPROP:
                return self.leave(1)
        if isinstance(message, (Rpc, Error)) or message is None and is_answer(data):
            if self.answered(message, number, version):
                return None
        if isinstance(message, Properties):
            self.granted = max(message.credit, 1)
            self.settled |= proc == CONNPROP and number == self.asked
        return self.takes_message(data, False)

    def answered(self, message, number, version):
        """Whether this message is an answer"""
        if isinstance(message, Rpc) and not self.is_reply(message):
            return False
        task = self.of_number(number)
        if number == self.asked and not self.settled:
            self.introduction_answered(message)
        elif task and version == self.version:
            self.ended(task, message)
        return True

    @staticmethod
    def is_reply(message):
        return message.direction == REPLY or message.version == 1 and message.proc == NOMSG

    def of_number(self, number):
        return next((t for t in self.tasks if t.number == number and t.call and
                     t.results is None), None)

    def introduction_answered(self, message):
        code = isinstance(message, Error) and message.code
        if code == wire.VERS:
            self.version_refused(message)
        elif isinstance(message, Rpc) and message.version == 1:
            self.settled, self.version = True, 1
        elif code in (wire.INVALID_PROC, wire.INVALID_OPTION):
            self.settled = True
        else:
            self.refusals += 1
            self.leave(2 if code == wire.BAD_XDR and self.refusals == 1 else 1)

    def version_refused(self, message):
        if message.arguments[0] > 1:
            raise Stop('no version in common')
        self.settled, self.version = True, 1

    def ended(self, task, message):
        if self.invalidated not in (None, task.call.inv_handle):
            return self.lost()
        if message is None:
            raise Stop('a malformed Reply')
        if isinstance(message, Error):
            return self.refused_call(task, message)
        self.settled, self.granted = True, max(message.credit, 1)
        try:
            self.take_results(task, message)
        except (rpc.RpcError, struct.error) as reason:
            raise Stop(f'a Reply: {reason}') from reason
        return self.release(task)

    def refused_call(self, task, message):
        code, first = message.code, (*message.arguments, 0)[0]
        if code == wire.VERS and self.version == 2 and (self.settled or first <= 1):
            return self.leave(2 if self.settled else 1)
        if code in (wire.INVALID_PROC, wire.INVALID_OPTION):
            return self.leave(1)
        if task.resent or not self.learns(task, code, first):
            raise Stop(f'procedure {task.procedure}: code {code}')
        self.release(task)
        task.call, task.resent = None, True
        return None

    def learns(self, task, code, number):
        """Whether the Call can be sent in another form"""
        if code == wire.REPLY_RESOURCE and 0 < number <= 1 << 20:
            self.learnt.add('writes')
            task.room = number
            return True
        lacks = {wire.READ_CHUNKS: 'reads', wire.WRITE_CHUNKS: 'writes',
                 wire.SEGMENTS: 'segments'}.get(code)
        if not lacks or number != (code == wire.SEGMENTS) or lacks in self.learnt:
            return False
        self.learnt.add(lacks)
        return True

    def take_results(self, task, message):
        for chunk, offered in zip((message.reply or (), *message.writes),
                                  (task.call.reply or (), *task.call.writes)):
            if chunk and [(s.handle, s.offset) for s in chunk] != [
                    (s.handle, s.offset) for s in offered]:
                raise Stop('another chunk than was offered')
        if message.reads or message.proc == NOMSG and not message.reply:
            raise Stop('chunks that do not fit the Call')
        task.placed = b''.join(r.read(s.length) for c in message.writes
                               for r, s in zip(task.regions, c))
        body = message.body
        if message.proc == NOMSG:
            body = b''.join(r.read(s.length) for r, s in zip(task.regions, message.reply))
        task.results = rpc.results(body)

    # Calls of the server

    def to_call(self, call):
        """Answers a Call of the server, which finds no program and may have no chunks."""
        if call.reads:
            raise Refused(wire.READ_CHUNKS, 0)
        if call.writes:
            raise Refused(wire.WRITE_CHUNKS, 0)
        if len(call.reply or ()) > 64:
            raise Refused(wire.SEGMENTS, 64)
        return [Rpc(call.number, rpc.reply(call.number, b'', rpc.PROG_UNAVAIL), call.version,
                    self.grant, MSG, REPLY)]

    # The visit

    def visit(self, rounds):
        for procedure, arguments in ((rpc.NULL, b''), (rpc.FSINFO, opaque(self.root)),
                                     (rpc.GETATTR, opaque(self.root))):
            self.one(procedure, arguments)
        for _ in range(rounds):
            self.round(b'tester-visit-' + os.urandom(6).hex().encode())

    def made(self, procedure, folder, name):
        """Creates a file or folder; returns its handle."""
        arguments = (opaque(folder) + opaque(name) + ATTRIBUTES if procedure == rpc.MKDIR else
                     rpc.create_arguments(folder, name))
        results = self.one(procedure, arguments).results
        if rpc.number_at(results, 0):
            raise Stop(f'procedure {procedure}: {results[:4].hex()}')
        return rpc.opaque_at(results, 8)

    def round(self, name):
        folder, files = self.made(rpc.MKDIR, self.root, name), []
        for size in SIZES:
            files.append((self.made(rpc.CREATE, folder, b'f%d' % size), os.urandom(size)))
            handle, data = files[-1]
            self.one(rpc.WRITE, rpc.write_arguments(handle, size)[:-4], data)
        for handle, data in files:
            count = len(data) + 4095 & ~4095
            self.same(self.one(rpc.READ, rpc.read_arguments(handle, count), None, count), 8, data)
        links = self.all(*[Task(rpc.SYMLINK, opaque(folder) + opaque(b'l%d' % size) + ATTRIBUTES,
                                bytes(b'n' * size)) for size in LINKS])
        for task in links:
            self.same(self.one(rpc.READLINK, opaque(rpc.opaque_at(task.results, 8)), None, 4096),
                      0, task.data)
        self.one(rpc.READDIR, rpc.readdir_arguments(folder, LISTING), None, LISTING)
        self.all(*[Task(rpc.LOOKUP, opaque(folder) + opaque(n)) for n in (b'x', b'y')])
        self.one(rpc.NULL, bytes(LONG))

    @staticmethod
    def same(task, skip, data):
        """The data read have to be the data written."""
        at = rpc.post_op_attr(task.results, 4) + skip
        if rpc.number_at(task.results, 0) or data != (
                task.placed[:len(data)] or rpc.opaque_at(task.results, at)):
            raise Stop(f'procedure {task.procedure}: other data')


def main(kind, host, port, root):
    """
    Runs a visit and returns its status. An unexpected error is a crash of the process.

    The connection ends with the process, because a server that waits for the process does not
    handle the end of the connection.
    """
    try:
        kind(host, int(port), root).visit(
            3 if os.environ.get('CASE', '').startswith('client_properties') else 1)
    except Stop:
        return STOPPED
    return 0
