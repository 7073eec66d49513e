# SPDX-License-Identifier: GPL-2.0
"""The tester as a client: messages that cases send to a server, and checks of the answers."""

import dataclasses
import os
import random
import time

from . import rpc, wire
from .endpoint import Endpoint, Lost, PrivateData
from .registry import Failure, NotApplicable, check
from .settings import Settings
from .waits import until
from .wire import BRS, CALL, RBSIZ, Prop, Rpc, Segment

PATIENCE = 5            # for an answer, in seconds
SILENCE = 0.05          # for an answer that must not arrive
PRIVATE = PrivateData(0, 4096, 4096)


@dataclasses.dataclass
class Target:
    """The server under test, with properties that all cases use"""
    host: str
    port: int
    export: str = ''
    setter: str = ''        # command that changes a setting of the server
    gss: str = ''           # its service of Kerberos
    root: bytes = b''
    versions: tuple = ()
    settings: dict = dataclasses.field(default_factory=dict)

    def survey(self):
        """Finds the versions that the server supports."""
        t = Client(self, 2)
        try:
            t.open()
            answer = t.ask(wire.connprop(t.xid()))
            if isinstance(answer.message, wire.Error) and answer.message.code == wire.VERS:
                low, high = answer.message.arguments
                self.versions = tuple(v for v in (1, 2) if low <= v <= high)
                check(self.versions, f'the server supports versions {low} to {high}, and '
                      'neither 1 nor 2')
            else:
                self.versions = (2,)
                t.version = 1
                answer = t.ask(t.null())
                if isinstance(answer.message, Rpc):
                    self.versions = (1, 2)
        finally:
            t.close()
        if self.export and not self.root:
            self.root = rpc.mount(self.host, self.export)


@dataclasses.dataclass(frozen=True)
class Answer:
    message: wire.Message
    length: int
    invalidated: int | None
    results: bytes = b''


def is_call(message, asked):
    """Whether this is an RPC of the server, and not an answer to the message."""
    return isinstance(message, Rpc) and message.direction == CALL and message.xid != asked.xid


class Client:
    """A connection to the server, which is established when the first message is sent"""

    def __init__(self, target, version):
        self.target, self.version = target, version
        self.endpoint = None
        self.largest = 4096 if version == 2 else 1024   # largest Send of the server
        self.made, self.settings = [], Settings(target.setter)
        self.calls = []         # of the server, received before an answer
        self.set = self.settings.set

    # Connections

    def open(self, private=PRIVATE, **options):
        data = private.encode() if isinstance(private, PrivateData) else private
        if private == PRIVATE and self.version == 1:
            self.largest = 4096
        self.endpoint = Endpoint.connect(self.target.host, self.target.port,
                                         data, **options)
        return self

    def close(self):
        if self.endpoint:
            self.endpoint.close()
        self.endpoint, self.calls = None, []

    def again(self, **options):
        """Replaces the connection by a new one."""
        self.close()
        return self.open(**options)

    def clean_up(self):
        """Removes the files that a case has created, and restores the settings."""
        try:
            self.settings.restore()
        finally:
            self.remove_files()

    def remove_files(self):
        if not self.made:
            return
        version = max(self.target.versions)
        self.close()
        self.version = version
        for name in self.made:
            try:
                self.answered(self.call(rpc.REMOVE, wire.opaque(self.target.root) +
                                       wire.opaque(name)))
            except (Failure, Lost, rpc.RpcError):
                pass

    # Messages

    @staticmethod
    def xid():
        return random.getrandbits(31) | 1 << 29

    def call(self, procedure, arguments=b'', **fields):
        """Returns a Call of NFSv3; fields are those of its header."""
        number = self.xid()
        fields.setdefault('version', self.version)
        vers = fields.pop('vers', 3)
        return Rpc(number, rpc.call(number, procedure, arguments, vers=vers), **fields)

    def null(self, **fields):
        return self.call(rpc.NULL, **fields)

    def long(self, procedure, arguments=b'', pieces=1, **fields):
        """Returns the same as RDMA2_NOMSG, with the Call in memory, in this many segments."""
        message = self.call(procedure, arguments)
        region = self.memory(len(message.body) + 64).write(message.body)
        reads = [(0, s) for s in self.segments(region, len(message.body), pieces)]
        reads += fields.pop('reads', [])
        return message.but(body=b'', proc=wire.NOMSG, reads=tuple(reads), **fields)

    def send(self, *messages):
        if not self.endpoint:
            self.open()
        self.endpoint.send(*(message.encode() for message in messages), patience=PATIENCE)

    def receive(self, patience=PATIENCE):
        """Returns the next message, or None after the timeout."""
        return self.calls.pop(0) if self.calls else self.arrival(patience)

    def arrival(self, patience):
        got = self.endpoint.receive(patience)
        if got is None:
            return None
        data, invalidated = got
        message = wire.decode(data)
        check(message.credit > 0, f'rdma_credit is 0 in {message}')
        if not isinstance(message, wire.Error):
            check(len(data) <= self.largest,
                  f'a Send of {len(data)} bytes, more than {self.largest}')
        return Answer(message, len(data), invalidated)

    def ask(self, message):
        """Sends the message and returns the answer; Calls of the server are kept for receive()."""
        self.send(message)
        while (answer := self.arrival(PATIENCE)) and is_call(answer.message, message):
            self.calls.append(answer)
        check(answer is not None, f'no answer to {message}')
        return answer

    # Expected answers

    def error(self, message, code, *arguments):
        """The answer has to be exactly this error; None stands for any argument."""
        answer = self.ask(message)
        got = answer.message
        check(isinstance(got, wire.Error), f'code {code} expected, not {got}')
        check(got.code == code, f'code {got.code}, not {code}')
        check(got.xid == message.xid, f'xid {got.xid:#x}, not {message.xid:#x}')
        check(got.version == message.vers, f'rdma_vers {got.version}, not {message.vers}')
        check(answer.invalidated is None, 'an error with invalidation')
        check(not arguments or len(arguments) == len(got.arguments) and
              all(a in (None, b) for a, b in zip(arguments, got.arguments)),
              f'code {code} with {got.arguments}, not {arguments}')
        return got

    def answered(self, message, accept_stat=rpc.SUCCESS):
        """Returns an inline Reply; `results` follow its RPC header."""
        answer = self.reply(message)
        check(answer.message.proc == wire.MSG, f'not inline: {answer.message}')
        return dataclasses.replace(
            answer, results=rpc.results(answer.message.body, accept_stat))

    def reply(self, message):
        """The answer has to be a Reply with the version and xid of the Call."""
        answer = self.ask(message)
        got = answer.message
        check(isinstance(got, Rpc), f'a Reply expected, not {got}')
        check(got.version == message.vers, f'a Reply in version {got.version}')
        check(got.xid == message.xid, f'xid {got.xid:#x}, not {message.xid:#x}')
        check(got.proc == wire.NOMSG or got.direction == wire.REPLY,
              f'rdma_direction {got.direction}')
        check(not got.inv_handle, 'rdma_inv_handle in a Reply')
        check(not got.reads, 'a Read list in a Reply')
        if got.proc == wire.MSG:
            check(not any(s.length for s in got.reply or ()),
                  'RDMA2_MSG with a Reply chunk that is used')
        return answer

    def nothing(self, *messages):
        """The messages have no answer, and the connection stays."""
        self.send(*messages)
        self.alive()
        answer = self.receive(SILENCE)
        check(answer is None, f'an answer that must not be: {answer}')

    def alive(self):
        return self.answered(self.null())

    def lost(self, *messages, patience=PATIENCE):
        """The connection ends, without an answer before."""
        try:
            self.send(*messages)
            end = until(patience)
            while time.monotonic() < end:
                answer = self.receive(0.1)
                check(answer is None, f'an answer before the end: {answer}')
        except Lost:
            return
        raise Failure('the connection goes on')

    # Properties

    def announce(self, *props, **fields):
        """Sends CONNPROP and returns the server's CONNPROP."""
        for prop in props:
            if prop.which == RBSIZ and len(prop.data) == 4:
                self.largest = max(1024, prop.word)
        message = wire.connprop(self.xid(), props, **fields)
        answer = self.ask(message)
        got = answer.message
        if isinstance(got, wire.Error) and got.code in (wire.INVALID_PROC,
                                                        wire.INVALID_OPTION):
            raise NotApplicable('the server has no properties')
        check(isinstance(got, wire.Properties) and got.proc == wire.CONNPROP,
              f'CONNPROP expected, not {got}')
        check(got.xid == message.xid, f'xid {got.xid:#x}, not {message.xid:#x}')
        return got

    def receive_size(self, own=4096):
        """Returns the server's RBSIZ, after a CONNPROP with this end's, or its private data's."""
        if self.version == 1:
            data = PrivateData.decode(self.endpoint.private)
            return data.receive if data else 1024
        values = self.announce(Prop(RBSIZ, own), Prop(BRS, wire.BRS_INLINE)).values
        return values[RBSIZ].word if RBSIZ in values else 4096

    def wishes(self, *props, **fields):
        """Sends REQPROP and returns the sets of RESPROP: done, rejected, other."""
        message = wire.reqprop(self.xid(), props, **fields)
        got = self.ask(message).message
        check(isinstance(got, wire.Properties) and got.proc == wire.RESPROP,
              f'RESPROP expected, not {got}')
        check(got.xid == message.xid, f'xid {got.xid:#x}, not {message.xid:#x}')
        done, rejected, other = got.sets
        wanted = [p.which for p in props]
        rest = {wanted.index(p.which) for p in other if p.which in wanted}
        check(all(p.which in wanted for p in other),
              f'other has properties that were not requested: {other}')
        check(len(done) + len(rejected) + len(rest) == len(done | rejected | rest),
              f'done {done}, rejected {rejected}, other {rest} overlap')
        check(done | rejected | rest == set(range(len(props))),
              f'not all of {len(props)} requests are answered: {got.sets}')
        return done, rejected, {p.which: p for p in other}

    # Memory

    def memory(self, length):
        """Allocates memory that the server may read and write."""
        if not self.endpoint:
            self.open()
        return self.endpoint.region(length)

    @staticmethod
    def segments(region, length=None, pieces=1, at=0):
        """Splits the region into this many segments of about the same length."""
        length = region.length if length is None else length
        step = -(-length // pieces) + 3 & ~3
        found = []
        while length > 0:
            found.append(Segment(region.handle, min(step, length), region.address + at))
            at, length = at + step, length - step
        return found

    # Files

    def file(self, data=b''):
        """Creates a file on the export with these bytes; returns its handle."""
        name = b'tester-' + os.urandom(6).hex().encode()
        answer = self.answered(self.call(
            rpc.CREATE, rpc.create_arguments(self.target.root, name)))
        status = rpc.number_at(answer.results, 0)
        check(status == 0, f'CREATE: status {status}')
        self.made.append(name)
        handle = rpc.opaque_at(answer.results, 8)
        for at in range(0, len(data), 2048):
            part = data[at:at + 2048]
            answer = self.answered(self.call(rpc.WRITE, rpc.write_arguments(
                handle, len(part), part, at)))
            check(rpc.number_at(answer.results, 0) == 0, 'WRITE failed')
        return handle

    def content(self, handle, length):
        """Reads the server's file inline, in small parts."""
        data = b''
        for at in range(0, length, 512):
            answer = self.answered(self.call(rpc.READ, rpc.read_arguments(
                handle, min(512, length - at), at)))
            check(rpc.number_at(answer.results, 0) == 0, 'READ failed')
            data += rpc.opaque_at(answer.results,
                                  rpc.post_op_attr(answer.results, 4) + 8)
        return data
