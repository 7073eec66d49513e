# SPDX-License-Identifier: GPL-2.0
"""The tester as a client: what a case says to a server, and what must come back."""

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
SILENCE = 0.05          # for one that must not come
PRIVATE = PrivateData(0, 4096, 4096)


@dataclasses.dataclass
class Target:
    """The server under test, and what is known of it for all cases."""
    host: str
    port: int
    export: str = ''
    setter: str = ''        # command that changes a setting of the server
    root: bytes = b''
    versions: tuple = ()
    settings: dict = dataclasses.field(default_factory=dict)

    def survey(self):
        """Finds out which versions the server speaks."""
        t = Client(self, 2)
        try:
            t.open()
            answer = t.ask(wire.connprop(t.xid()))
            if isinstance(answer.message, wire.Error) and answer.message.code == wire.VERS:
                low, high = answer.message.arguments
                self.versions = tuple(range(low, high + 1))
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
    """Whether this is another RPC of the server, not what it makes of the one asked."""
    return isinstance(message, Rpc) and message.direction == CALL and message.xid != asked.xid


class Client:
    """One connection to the server; it is made when the first message is sent."""

    def __init__(self, target, version):
        self.target, self.version = target, version
        self.endpoint = None
        self.largest = 4096 if version == 2 else 1024   # Send that may come
        self.made, self.settings = [], Settings(target.setter)
        self.calls = []         # of the server, that came before an answer
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
        """Another connection in place of this one."""
        self.close()
        return self.open(**options)

    def clean_up(self):
        """Takes away the files that a case has made, and what it has set."""
        self.settings.restore()
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
        """A Call of NFSv3; fields are those of its header."""
        number = self.xid()
        fields.setdefault('version', self.version)
        vers = fields.pop('vers', 3)
        return Rpc(number, rpc.call(number, procedure, arguments, vers=vers), **fields)

    def null(self, **fields):
        return self.call(rpc.NULL, **fields)

    def long(self, procedure, arguments=b'', pieces=1, **fields):
        """The same as RDMA2_NOMSG: the Call is in memory, in so many segments."""
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
        """The next message; None when none comes in time."""
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
        """The answer; a Call that the server makes before it is received later."""
        self.send(message)
        while (answer := self.arrival(PATIENCE)) and is_call(answer.message, message):
            self.calls.append(answer)
        check(answer is not None, f'no answer to {message}')
        return answer

    # What must come back

    def error(self, message, code, *arguments):
        """The answer is this error, byte by byte; an argument None is any."""
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
        """A Reply that comes inline; `results` follow its RPC header."""
        answer = self.reply(message)
        check(answer.message.proc == wire.MSG, f'not inline: {answer.message}')
        return dataclasses.replace(
            answer, results=rpc.results(answer.message.body, accept_stat))

    def reply(self, message):
        """The answer is a Reply in the version and with the xid of the Call."""
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
        """No answer to these, and the connection goes on."""
        self.send(*messages)
        self.alive()
        answer = self.receive(SILENCE)
        check(answer is None, f'an answer that must not be: {answer}')

    def alive(self):
        return self.answered(self.null())

    def lost(self, *messages, patience=PATIENCE):
        """The connection ends, and no answer comes before."""
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
        """CONNPROP, and the server's by property."""
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
        """The server's RBSIZ, after CONNPROP with this end's."""
        values = self.announce(Prop(RBSIZ, own), Prop(BRS, wire.BRS_INLINE)).values
        return values[RBSIZ].word if RBSIZ in values else 4096

    def wishes(self, *props, **fields):
        """REQPROP, and what RESPROP says: done, rejected, other."""
        message = wire.reqprop(self.xid(), props, **fields)
        got = self.ask(message).message
        check(isinstance(got, wire.Properties) and got.proc == wire.RESPROP,
              f'RESPROP expected, not {got}')
        check(got.xid == message.xid, f'xid {got.xid:#x}, not {message.xid:#x}')
        done, rejected, other = got.sets
        wanted = [p.which for p in props]
        rest = {wanted.index(p.which) for p in other if p.which in wanted}
        check(all(p.which in wanted for p in other), f'other has what was not asked: {other}')
        check(len(done) + len(rejected) + len(rest) == len(done | rejected | rest),
              f'done {done}, rejected {rejected}, other {rest} overlap')
        check(done | rejected | rest == set(range(len(props))),
              f'not all of {len(props)} wishes are answered: {got.sets}')
        return done, rejected, {p.which: p for p in other}

    # Memory

    def memory(self, length):
        """Memory that the server may read and write."""
        if not self.endpoint:
            self.open()
        return self.endpoint.region(length)

    @staticmethod
    def segments(region, length=None, pieces=1, at=0):
        """The region in so many segments of about the same length."""
        length = region.length if length is None else length
        step = -(-length // pieces) + 3 & ~3
        found = []
        while length > 0:
            found.append(Segment(region.handle, min(step, length), region.address + at))
            at, length = at + step, length - step
        return found

    # Files

    def file(self, data=b''):
        """A file on the export with these bytes; its handle."""
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
        """What the server has in a file, read inline in small parts."""
        data = b''
        for at in range(0, length, 512):
            answer = self.answered(self.call(rpc.READ, rpc.read_arguments(
                handle, min(512, length - at), at)))
            check(rpc.number_at(answer.results, 0) == 0, 'READ failed')
            data += rpc.opaque_at(answer.results,
                                  rpc.post_op_attr(answer.results, 4) + 8)
        return data
