# SPDX-License-Identifier: GPL-2.0
"""Random messages of a well-behaved client, of every kind"""

import dataclasses
import struct

from .. import rpc, wire
from ..wire import BRS, NOMSG, RBSIZ, Prop, Rpc, Segment, u32

LENGTHS = (1, 4, 100, 1000, 4000, 8192, 20000, 60000)
# Offsets in the exposed memory: Calls, data of WRITEs, space for results
CALLS, DATA, ROOM, END = 0, 1 << 19, 1 << 20, 1 << 21
SLOT, SLOTS = 1 << 13, 64


@dataclasses.dataclass
class Place:
    """The files and the memory that messages refer to"""
    root: bytes             # file handles
    file: bytes
    link: bytes
    handle: int             # of the memory
    address: int


class Calls:
    """Messages of one conversation; they depend only on the state of rng."""

    def __init__(self, rng, place, version):
        self.rng, self.place, self.version = rng, place, version
        self.xid = rng.getrandbits(31)

    def next(self):
        """Returns one message and the length of its header."""
        self.xid += 1
        makers = MAKERS if self.version == 2 else MAKERS[:-len(PROPERTIES)]
        message = self.rng.choice(makers)(self)
        length = message.header_length if isinstance(message, Rpc) else 1 << 16
        return message.encode(), length

    def null(self, number):
        return Rpc(number, rpc.call(number), self.version).encode()

    def segments(self, at, length):
        """Returns memory from an offset on as one or several segments."""
        pieces = self.rng.choice((1, 1, 1, 2, 3, 8, 15))
        step, found = -(-length // pieces) + 3 & ~3, []
        while length > 0:
            found.append(Segment(self.place.handle, min(step, length),
                                 self.place.address + at))
            at, length = at + step, length - step
        return found

    def room(self, length):
        """Returns memory for at least this many bytes of results."""
        at = ROOM + self.rng.randrange(128) * 4096
        return self.segments(at, min(END - at, length + self.rng.choice((0, 0, 4, 100))))

    def call(self, procedure, arguments=b'', vers=3, **fields):
        """Returns RDMA2_MSG, or sometimes RDMA2_NOMSG with the Call in memory."""
        body = rpc.call(self.xid, procedure, arguments, vers=vers)
        handles = [s.handle for s in fields.get('reply') or ()]
        handles += [s.handle for c in fields.get('writes', ()) for s in c]
        # The device does not allow its invalidation, which ends the connection.
        if handles and self.rng.random() < .01:
            fields['inv_handle'] = handles[0]
        if self.version == 1:
            fields.pop('inv_handle', None)
        message = Rpc(self.xid, body, self.version, **fields)
        if self.rng.random() < .1:
            at = CALLS + self.xid % SLOTS * SLOT
            self.place.write(at, body)
            reads = tuple((0, s) for s in self.segments(at, len(body)))
            message = message.but(body=b'', proc=NOMSG,
                                  reads=reads + tuple(fields.get('reads', ())))
        return message

    # Calls of NFS

    def ping(self):
        return self.call(rpc.NULL)

    def getattr(self):
        return self.call(rpc.GETATTR, wire.opaque(self.place.root))

    def lookup(self):
        return self.call(rpc.LOOKUP, wire.opaque(self.place.root) + wire.opaque(b'nothing'))

    def read(self):
        count = self.rng.choice(LENGTHS[:4])
        return self.call(rpc.READ, rpc.read_arguments(self.place.file, count),
                         reply=self.room(8192) if self.rng.random() < .3 else None)

    def read_chunk(self):
        count = self.rng.choice(LENGTHS)
        writes = [self.room(count)]
        if self.rng.random() < .1:
            writes += [self.room(64)] * self.rng.randrange(1, 3)
        return self.call(rpc.READ, rpc.read_arguments(self.place.file, count),
                         writes=tuple(writes))

    def read_reply(self):
        count = self.rng.choice(LENGTHS)
        return self.call(rpc.READ, rpc.read_arguments(self.place.file, count),
                         reply=self.room(count + 256))

    def readlink(self):
        return self.call(rpc.READLINK, wire.opaque(self.place.link),
                         writes=(self.room(1024),) if self.rng.random() < .5 else ())

    def readdir(self):
        return self.call(rpc.READDIR, rpc.readdir_arguments(self.place.root, 8192),
                         reply=self.room(16384))

    def compound(self):
        """Two READs of NFSv4.0, with a chunk for both, one or none of them"""
        count = self.rng.choice(LENGTHS[:5])
        read = u32(25) + bytes(16) + struct.pack('>QI', 0, count)
        return self.call(1, u32(0, 0, 3, 22) + wire.opaque(self.place.file) + read + read,
                         vers=4, reply=self.room(2 * count + 512),
                         writes=tuple(self.room(count) for _ in range(self.rng.randrange(3))))

    def write(self):
        count = self.rng.choice(LENGTHS[:4])
        return self.call(rpc.WRITE, rpc.write_arguments(
            self.place.file, count, bytes(count), self.rng.randrange(60000)))

    def write_chunk(self):
        count = self.rng.choice(LENGTHS)
        arguments = rpc.write_arguments(self.place.file, count,
                                        offset=self.rng.randrange(60000))
        position = len(rpc.call(self.xid, rpc.WRITE, arguments))
        return self.call(rpc.WRITE, arguments,
                         reads=tuple((position, s) for s in self.segments(DATA, count)))

    # Beyond the limits of servers: too many segments, Read chunks or Write chunks

    def too_many(self):
        count = self.rng.choice((17, 40, 100))
        some = [Segment(self.place.handle, 4, self.place.address + ROOM)] * count
        kind = self.rng.randrange(4)
        if kind == 0:
            return self.call(rpc.NULL, reply=some)
        if kind == 1:
            return self.call(rpc.NULL, writes=(some,))
        if kind == 2:
            return self.call(rpc.NULL, writes=([some[0]],) * (count // 2))
        return self.call(rpc.NULL, bytes(4 * count),
                         reads=tuple((40 + 4 * i, some[i]) for i in range(count // 2)))

    # Messages of the transport

    def properties(self):
        return [Prop(*self.rng.choice(((RBSIZ, 4096), (RBSIZ, 8192), (RBSIZ, 1024),
                                       (BRS, 0), (BRS, 1), (BRS, 2), (4660, b'any'))))
                for _ in range(self.rng.randrange(4))]

    def connprop(self):
        return wire.connprop(self.xid, self.properties(), {self.rng.randrange(40)},
                             as_option=self.rng.random() < .3)

    def reqprop(self):
        return wire.reqprop(self.xid, self.properties(), as_option=self.rng.random() < .3)

    def updprop(self):
        return wire.updprop(self.xid, self.properties(), as_option=self.rng.random() < .3)

    def resprop(self):
        return wire.resprop(self.xid, {0}, {1}, self.properties())

    def option(self):
        return wire.Option(self.xid, self.rng.randrange(9), bytes(self.rng.randrange(20)))

    def error(self):
        """An error for a Call of the server that does not exist"""
        code = self.rng.randrange(1, 12)
        return wire.Error(self.xid, code, (1,) * wire.ARGUMENTS.get(code, 0), self.version)

    def backward_reply(self):
        return Rpc(self.xid, u32(self.xid, 1, 0, 0, 0, 0), self.version, direction=1)


PROPERTIES = [Calls.connprop, Calls.reqprop, Calls.updprop, Calls.resprop, Calls.option]
MAKERS = [Calls.ping, Calls.getattr, Calls.getattr, Calls.lookup, Calls.read,
          Calls.read_chunk, Calls.read_chunk, Calls.read_reply, Calls.readlink,
          Calls.readdir, Calls.write, Calls.write_chunk, Calls.write_chunk, Calls.compound,
          Calls.too_many, Calls.error, Calls.backward_reply, *PROPERTIES]
