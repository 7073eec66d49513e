# SPDX-License-Identifier: GPL-2.0
"""
NFSv4 Calls with unusual layouts of inline parts and Read chunks. The server has to assemble the
same Call from any layout.
"""

import struct

from .. import rpc, wire
from ..nfs4 import ANONYMOUS, LOOKUP, PUTROOTFH, WRITE, Session
from ..registry import NotApplicable, case, check
from ..rpc import number_at
from ..wire import NOMSG, Rpc, Segment, opaque, u32

BADXDR = 10036                          # of NFSv4
CREDPROBLEM = u32(wire.REPLY, 1, 1, 13)  # MSG_DENIED, AUTH_ERROR
CONTEXT = 0xbad0c0de
# A credential of that context, and a verifier with a wrong checksum
GSS = u32(6, 24, 1, 0, 1, 1, 4, CONTEXT) + u32(6, 28, 0x040400ff, 0xffffffff, 0, 1, 0, 0, 0)
GSS_HEADER = 92                         # length of an RPC Call with these


def both(ids, needs=''):
    """Registers a case of version 2 and one of version 1."""
    def add(function):
        def in_version_one(t):
            function(t)
        in_version_one.__name__ = f'{function.__name__}_in_version_one'
        in_version_one.__module__ = function.__module__
        in_version_one.__doc__ = f'{function.__doc__.strip()} (version 1)'
        case(ids, needs=needs)(function)
        case(ids, version=1, needs=needs)(in_version_one)
        return function
    return add


def spread(t, message, *ranges, long=False):
    """Puts these ranges of the RPC into Read chunks; the rest is inline, or in memory too."""
    body, rest, end, reads = message.body, b'', 0, []
    for begin, stop in ranges:
        region = t.memory(stop - begin).write(body[begin:stop])
        reads += [(begin, s) for s in t.segments(region)]
        rest, end = rest + body[end:begin], stop
    rest += body[end:]
    if not long:
        return message.but(body=rest, reads=tuple(reads))
    first = [(0, s) for s in t.segments(t.memory(len(rest)).write(rest))]
    return message.but(body=b'', proc=NOMSG, reads=(*first, *reads))


# Two consecutive WRITEs of NFSv4

def words(first, num_bytes):
    """Returns bytes in which each word is different."""
    return u32(*range(first, first + num_bytes // 4))


class Writes:
    """A Call that writes two pieces of data to a file, with their positions in the Call"""

    def __init__(self, t, first, second):
        t.open(size=32768)
        self.t, self.handle = t, t.file()
        self.data = words(0x41000000, first) + words(0x42000000, second)
        parts, operations = (self.data[:first], self.data[first:]), []
        for at, part in zip((0, first), parts):
            operations.append((WRITE, ANONYMOUS + struct.pack('>QI', at, 2) + opaque(part)))
        self.call = Session(t, 65536).in_session(
            (PUTROOTFH, b''), (LOOKUP, opaque(t.made[-1])), *operations)
        self.first, self.second = (self.call.body.index(p) for p in parts)
        self.behind_first = self.first + first
        self.end = len(self.call.body)

    def size(self):
        answer = self.t.answered(self.t.call(rpc.GETATTR, opaque(self.handle)))
        return number_at(answer.results, 28)

    def spread(self, *ranges, long=False):
        """Sends the Call with this layout; the file then has to contain the data."""
        t = self.t
        answer = t.answered(spread(t, self.call, *ranges, long=long))
        status = number_at(answer.results, 0)
        check(status == 0, f'status {status}')
        length = len(self.data)
        check(self.size() == length, f'{self.size()} bytes, not {length}')
        region = t.memory(length)
        t.answered(t.call(rpc.READ, rpc.read_arguments(self.handle, length),
                          writes=[t.segments(region)]))
        got = region.read()
        wrong = [at for at in range(0, length, 4) if got[at:at + 4] != self.data[at:at + 4]]
        check(not wrong, f'{len(wrong)} wrong words, the first at byte {wrong[:1]}')


@both('E-07 E-02', needs='export')
def two_chunks(t):
    """Two WRITEs, each with its data in a Read chunk"""
    w = Writes(t, 8192, 8192)
    w.spread((w.first, w.behind_first), (w.second, w.end))


@both('E-07', needs='export')
def inline_behind_a_chunk(t):
    """A WRITE in a Read chunk, followed by an inline one"""
    w = Writes(t, 8192, 2800)
    w.spread((w.first, w.behind_first))


@both('E-07', needs='export')
def last_word_inline(t):
    """A WRITE in a Read chunk without its last word, which is inline"""
    w = Writes(t, 8192, 2800)
    w.spread((w.first, w.behind_first - 4))


@both('E-07', needs='export')
def more_than_data_in_a_chunk(t):
    """Two WRITEs in one Read chunk, with the bytes between their data"""
    w = Writes(t, 8192, 8192)
    w.spread((w.first, w.end))


@both('E-07 E-03', needs='export')
def all_in_position_zero(t):
    """Two WRITEs in a Position-Zero chunk"""
    w = Writes(t, 8192, 8192)
    w.spread(long=True)


@both('E-07 E-04', needs='export')
def position_zero_and_another(t):
    """Two WRITEs, the data of one in a Read chunk, the rest in a Position-Zero chunk"""
    w = Writes(t, 8192, 8192)
    w.spread((w.first, w.behind_first), long=True)


@both('E-07', needs='export')
def all_inline(t):
    """Two WRITEs inline, in more than a page"""
    w = Writes(t, 6000, 6000)
    size = t.receive_size()
    if size < len(w.call.encode()):
        raise NotApplicable(f'the server receives {size} bytes')
    w.spread()


@both('E-07', needs='export')
def lacks_its_last_word(t):
    """A long Call that lacks its last word is not completed with other bytes"""
    w = Writes(t, 8192, 8192)
    whole = w.call.but(body=w.call.body[:-4])
    answer = t.answered(spread(t, whole, long=True))
    check(number_at(answer.results, 0) == BADXDR, f'status {number_at(answer.results, 0)}')
    check(w.size() == 8192, f'{w.size()} bytes have been written')


# RPCSEC_GSS, which reads data before it has identified the client

def gss_call(t, arguments=b''):
    if not t.settings.changed:
        t.set('gss_context', f'{CONTEXT:08x}')
        t.open(size=32768)
    number = t.xid()
    return Rpc(number, rpc.call(number, rpc.NULL, arguments, vers=4, cred=GSS), t.version)


def is_denied(got):
    check(got.body[4:20] == CREDPROBLEM, f'{got.body.hex(" ", 4)}')


def denied(t, message):
    """The server has to find the checksum wrong, and nothing else."""
    is_denied(t.reply(message).message)


def denied_or_refused(t, message, code, *arguments):
    """The message has to be denied, or to get this error (in version 1: ERR_CHUNK)."""
    got = t.ask(message).message
    if not isinstance(got, wire.Error):
        is_denied(got)
    elif t.version == 1:
        check(got.code == wire.ERR_CHUNK, f'{got}')
    else:
        check((got.code, got.arguments) == (code, arguments), f'{got}')


def header_in_a_chunk(t, long):
    for position in (24, 28, 32, 36, 52, 56, 60, 84):
        message = gss_call(t)
        t.error(spread(t, message, (position, GSS_HEADER), long=long), wire.BAD_XDR)
    t.alive()


@both('S09 C-081', needs='set')
def rpc_header_in_a_chunk(t):
    """A Read chunk that begins, continues or ends the credential or verifier gets BAD_XDR"""
    header_in_a_chunk(t, False)


@both('S09 C-081', needs='set')
def rpc_header_in_another_chunk(t):
    """A Read chunk within the RPC header in a Position-Zero chunk gets BAD_XDR"""
    header_in_a_chunk(t, True)


@both('C-083 C-093 E-07', needs='set')
def gss_behind_a_chunk(t):
    """RPCSEC_GSS with a Read chunk before the checksum; with more, an error is allowed"""
    message = gss_call(t, u32(8192))
    at, end = GSS_HEADER + 4, GSS_HEADER + 4 + 8192
    region = t.memory(8192 + 4)
    data, = t.segments(region, 8192)
    more, = t.segments(region, 4, at=8192)
    denied_or_refused(t, message.but(reads=((at, data), (end, more))), wire.READ_CHUNKS, 1)
    one = message.but(reads=((at, data),))
    denied_or_refused(t, one.but(body=one.body + bytes(40)), wire.SYSTEM)
    denied(t, one.but(body=one.body + bytes(36)))


@both('E-07', needs='set')
def gss_inline(t):
    """RPCSEC_GSS inline in more than a page"""
    denied(t, gss_call(t, bytes(8192)))


@both('E-07 S09', needs='set')
def gss_behind_a_long_header(t):
    """RPCSEC_GSS after empty Read segments: the Call begins anywhere in a page"""
    for count in (150, 164, 166, 168, 170, 175, 200):
        empty = ((256, Segment(0, 0, 0)),) * count
        denied(t, gss_call(t, bytes(8192)).but(reads=empty))


@case('S46', needs='set export')
def a_call_that_can_not_begin(t):
    """A Call of several pages that the server cannot start ends the connection"""
    message = t.long(rpc.GETATTR, opaque(t.target.root) + bytes(12288))
    t.set('exports', 'unknown')
    t.lost(message, patience=30)
