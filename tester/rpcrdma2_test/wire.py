# SPDX-License-Identifier: GPL-2.0
"""
Messages of RPC-over-RDMA versions 1 and 2 on the wire.

Encoding is lenient: a case may send anything. Decoding is strict: a message of the peer has to
be well-formed to its last byte; otherwise WireError has the reason.
"""

import dataclasses
import struct

MSG, NOMSG, MSGP, DONE, ERROR = 0, 1, 2, 3, 4
OPTIONAL, CONNPROP, REQPROP, RESPROP, UPDPROP = 5, 6, 7, 8, 9
CALL, REPLY = 0, 1

VERS, BAD_XDR, INVALID_PROC, READ_CHUNKS, WRITE_CHUNKS = 1, 2, 3, 4, 5
SEGMENTS, WRITE_RESOURCE, REPLY_RESOURCE, INVALID_OPTION, SYSTEM = 6, 7, 8, 9, 10
ERR_CHUNK = 2                   # in version 1

RBSIZ, BRS = 1, 2
# Ids for experiments. This project's implementations use these three (2.6), and recognize each
# other by the value of the first.
EXPERIMENTAL = 0xffffff00
X_MARK, X_LIMITS, X_SBSIZ = 0xffffff00, 0xffffff01, 0xffffff02
MARK = bytes.fromhex('4b3c712e362644af9d2c3e28063801e6')
BRS_NONE, BRS_INLINE, BRS_GENL = 0, 1, 2

# Number of words after rdma_err
ARGUMENTS = {VERS: 2, READ_CHUNKS: 1, WRITE_CHUNKS: 1, SEGMENTS: 1,
             WRITE_RESOURCE: 2, REPLY_RESOURCE: 1}


class WireError(Exception):
    """A malformed message"""


def u32(*values):
    return struct.pack(f'>{len(values)}I', *values)


def opaque(data):
    return u32(len(data)) + data + bytes(-len(data) % 4)


@dataclasses.dataclass(frozen=True)
class Segment:
    handle: int
    length: int
    offset: int = 0

    def encode(self):
        return struct.pack('>IIQ', self.handle, self.length, self.offset)


def array(segments):
    return u32(len(segments)) + b''.join(s.encode() for s in segments)


def chunk_lists(reads=(), writes=(), reply=None):
    """Encodes pairs of position and segment, and lists of segments."""
    out = b''.join(u32(1, position) + segment.encode()
                   for position, segment in reads) + u32(0)
    out += b''.join(u32(1) + array(chunk) for chunk in writes) + u32(0)
    return out + (u32(0) if reply is None else u32(1) + array(reply))


class Message:
    """A message to send: bytes, and methods that corrupt them"""
    direction = None            # of a message that has none

    def encode(self):
        raise NotImplementedError

    @property
    def xid(self):
        return struct.unpack_from('>I', self.encode())[0]

    @property
    def vers(self):
        return struct.unpack_from('>I', self.encode(), 4)[0]

    def with_word(self, index, value):
        """Returns a copy with one word replaced; the first word is number 0."""
        data = self.encode()
        return Raw(data[:index * 4] + u32(value) + data[index * 4 + 4:])

    def cut(self, length):
        """Returns the first LENGTH bytes."""
        return Raw(self.encode()[:length])

    def plus(self, data):
        """Returns a copy with bytes appended."""
        return Raw(self.encode() + data)


@dataclasses.dataclass(frozen=True)
class Raw(Message):
    data: bytes

    def encode(self):
        return self.data


@dataclasses.dataclass(frozen=True)
class Rpc(Message):
    """RDMA2_MSG, RDMA2_NOMSG and their equivalents in version 1"""
    number: int
    body: bytes = b''
    version: int = 2
    credit: int = 32
    proc: int = MSG
    direction: int = CALL
    inv_handle: int = 0
    reads: tuple = ()
    writes: tuple = ()
    reply: tuple | None = None
    name: str = ''              # of the procedure; not encoded

    def encode(self):
        out = u32(self.number, self.version, self.credit, self.proc)
        if self.version != 1:
            out += u32(self.direction, self.inv_handle)
        return out + chunk_lists(self.reads, self.writes, self.reply) + self.body

    def but(self, **fields):
        return dataclasses.replace(self, **fields)

    @property
    def header_length(self):
        return len(self.encode()) - len(self.body)

    def handles(self):
        found = [s.handle for _, s in self.reads]
        for chunk in [*self.writes, self.reply or ()]:
            found += [s.handle for s in chunk]
        return found


@dataclasses.dataclass(frozen=True)
class Error(Message):
    number: int
    code: int
    arguments: tuple = ()
    version: int = 2
    credit: int = 32

    def encode(self):
        return u32(self.number, self.version, self.credit, ERROR, self.code,
                   *self.arguments)


@dataclasses.dataclass(frozen=True)
class Prop:
    """A property; its value is a number or bytes."""
    which: int
    value: int | bytes

    @property
    def data(self):
        return self.value if isinstance(self.value, bytes) else u32(self.value)

    @property
    def word(self):
        if len(self.data) != 4:
            raise WireError(f'property {self.which} has {len(self.data)} bytes')
        return struct.unpack('>I', self.data)[0]

    def encode(self):
        return u32(self.which) + opaque(self.data)


def bitmap(bits):
    """Returns the propsubset of these elements; bit 0 is 0x00000001."""
    words = [0] * (max(bits) // 32 + 1) if bits else []
    for bit in bits:
        words[bit // 32] |= 1 << bit % 32
    return u32(len(words), *words)


def propset(props):
    return u32(len(props)) + b''.join(p.encode() for p in props)


@dataclasses.dataclass(frozen=True)
class Properties(Message):
    """
    The four messages about properties.

    `sets` has the fields of the message: lists of Prop, or sets of element numbers. With
    as_option the message is encoded as RDMA2_OPTIONAL, opttype 1 to 4.
    """
    number: int
    proc: int
    sets: tuple
    credit: int = 32
    as_option: bool = False
    version: int = 2

    def body(self):
        return b''.join(propset(s) if isinstance(s, (list, tuple)) else bitmap(s)
                        for s in self.sets)

    def encode(self):
        if self.as_option:
            direction = REPLY if self.proc == RESPROP else CALL
            return Option(self.number, self.proc - OPTIONAL, self.body(),
                          direction, self.credit).encode()
        return u32(self.number, self.version, self.credit, self.proc) + self.body()

    @property
    def values(self):
        """Properties of the first set by number; the last one of a number counts."""
        return {p.which: p for p in self.sets[0]}


def connprop(number, props=(), nochg=(), **fields):
    return Properties(number, CONNPROP, (list(props), set(nochg)), **fields)


def reqprop(number, props=(), **fields):
    return Properties(number, REQPROP, (list(props),), **fields)


def resprop(number, done=(), rejected=(), other=(), **fields):
    return Properties(number, RESPROP, (set(done), set(rejected), list(other)), **fields)


def updprop(number, props=(), **fields):
    return Properties(number, UPDPROP, (list(props),), **fields)


@dataclasses.dataclass(frozen=True)
class Option(Message):
    """RDMA2_OPTIONAL"""
    number: int
    opttype: int
    info: bytes = b''
    direction: int = CALL
    credit: int = 32
    payload: bytes = b''
    version: int = 2

    def encode(self):
        return u32(self.number, self.version, self.credit, OPTIONAL,
                   self.direction, self.opttype) + opaque(self.info) + self.payload


class Reader:
    """Decodes a message from its beginning on."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length, what):
        if len(self.data) - self.at < length:
            raise WireError(f'ends within {what}, after {len(self.data)} bytes')
        self.at += length
        return self.data[self.at - length:self.at]

    def word(self, what):
        return struct.unpack('>I', self.take(4, what))[0]

    def present(self, what):
        value = self.word(what)
        if value > 1:
            raise WireError(f'{what}: {value:#x} is no discriminator')
        return value

    def opaque(self, what):
        length = self.word(what)
        data = self.take(length, what)
        if any(self.take(-length % 4, what)):
            raise WireError(f'{what}: padding is not zero')
        return data

    def segment(self, what):
        return Segment(*struct.unpack('>IIQ', self.take(16, what)))

    def array(self, what):
        return tuple(self.segment(what) for _ in range(self.count(what, 16)))

    def count(self, what, size):
        count = self.word(what)
        if count * size > len(self.data) - self.at:
            raise WireError(f'{what}: {count} of them are not there')
        return count

    def bitmap(self, what):
        count = self.count(what, 4)
        return {word * 32 + bit for word in range(count)
                for value in [self.word(what)]
                for bit in range(32) if value >> bit & 1}

    def propset(self, what):
        return [Prop(self.word(what), self.opaque(what))
                for _ in range(self.count(what, 8))]

    def rest(self):
        return self.take(len(self.data) - self.at, 'the message')

    def end(self, what):
        left = len(self.data) - self.at
        if left:
            raise WireError(f'{left} bytes behind {what}')


def decode_rpc(reader, number, version, credit, proc):
    direction = inv_handle = 0
    if version != 1:
        direction = reader.word('rdma_direction')
        if direction > 1:
            raise WireError(f'rdma_direction {direction}')
        inv_handle = reader.word('rdma_inv_handle')
    reads, writes, reply = [], [], None
    while reader.present('rdma_reads'):
        reads.append((reader.word('rdma_position'), reader.segment('rdma_reads')))
    while reader.present('rdma_writes'):
        writes.append(reader.array('rdma_writes'))
    if reader.present('rdma_reply'):
        reply = reader.array('rdma_reply')
    body = reader.rest()
    if version == 1 and len(body) >= 8:
        direction = struct.unpack_from('>I', body, 4)[0]
    rpc = Rpc(number, body, version, credit, proc, direction, inv_handle,
              tuple(reads), tuple(writes), reply)
    if proc == NOMSG and body:
        raise WireError(f'{len(body)} bytes behind RDMA2_NOMSG')
    if proc == MSG:
        check_payload(rpc)
    if inv_handle and inv_handle not in rpc.handles():
        raise WireError('rdma_inv_handle is none of the handles')
    return rpc


def check_payload(rpc):
    if len(rpc.body) < 8:
        raise WireError('RDMA2_MSG without an RPC message')
    number, direction = struct.unpack_from('>II', rpc.body)
    if number != rpc.number:
        raise WireError(f'rdma_xid {rpc.number:#x}, xid {number:#x}')
    if direction != rpc.direction:
        raise WireError(f'rdma_direction {rpc.direction}, msg_type {direction}')


def decode_error(reader, number, version, credit):
    code = reader.word('rdma_err')
    arguments = tuple(reader.word('an argument of the error')
                      for _ in range(ARGUMENTS.get(code, 0)
                                     if version != 1 or code == VERS else 0))
    reader.end('RDMA2_ERROR')
    return Error(number, code, arguments, version, credit)


LAYOUTS = {
    CONNPROP: (Reader.propset, Reader.bitmap),
    REQPROP: (Reader.propset,),
    RESPROP: (Reader.bitmap, Reader.bitmap, Reader.propset),
    UPDPROP: (Reader.propset,),
}


def decode_properties(reader, number, credit, proc, as_option=False):
    sets = tuple(take(reader, 'properties') for take in LAYOUTS[proc])
    reader.end('the properties')
    return Properties(number, proc, sets, credit, as_option)


def decode_option(reader, number, credit):
    direction = reader.word('rdma_optdir')
    if direction > 1:
        raise WireError(f'rdma_optdir {direction}')
    opttype = reader.word('rdma_opttype')
    info = reader.opaque('rdma_optinfo')
    if 1 <= opttype <= 4:
        reader.end('an option about properties')
        proc = opttype + OPTIONAL
        # S52: CONNPROP may be an answer, so both directions are valid.
        if direction != (REPLY if proc == RESPROP else CALL) and proc != CONNPROP:
            raise WireError(f'rdma_optdir {direction} of opttype {opttype}')
        return decode_properties(Reader(info), number, credit, proc, True)
    return Option(number, opttype, info, direction, credit, reader.rest())


def decode(data):
    """Decodes a message."""
    reader = Reader(data)
    number, version, credit, proc = (reader.word('the fixed part')
                                     for _ in range(4))
    if proc == ERROR:           # the version is that of the rejected message
        return decode_error(reader, number, version, credit)
    if version not in (1, 2):
        raise WireError(f'rdma_vers {version}')
    if proc in (MSG, NOMSG):
        return decode_rpc(reader, number, version, credit, proc)
    if version == 2 and proc in LAYOUTS:
        return decode_properties(reader, number, credit, proc)
    if version == 2 and proc == OPTIONAL:
        return decode_option(reader, number, credit)
    raise WireError(f'rdma_proc {proc} in version {version}')
