# SPDX-License-Identifier: GPL-2.0
"""
Calls with a real RPCSEC_GSS context, whose chunks begin and end at places that no client
uses. The server has to reassemble such a Call, or to reject it.
"""

from .. import rpc, wire
from ..gss import INTEGRITY, PRIVACY, Context
from ..registry import Failure, check
from ..rpc import number_at
from ..wire import NOMSG, u32
from .layout import both, spread, words

DATA = 8192


def around(*places):
    """Returns the offsets of words near these places."""
    return {at for place in places for at in range(place - 12, place + 16, 4)}


class Write:
    """A WRITE of NFSv3 to a separate file; each Call has different data."""

    def __init__(self, t, service):
        t.open(size=32768)
        self.t, self.context, self.handle = t, Context(t, service), t.file()
        self.kept, self.turn = b'', 0
        self.done = self.refused = 0

    def call(self):
        self.turn += 1
        self.data = words(self.turn << 16, DATA)
        message = self.context.call(rpc.WRITE, rpc.write_arguments(
            self.handle, DATA, self.data))
        self.begin, self.end = self.context.header(message), len(message.body)
        self.length = number_at(message.body, self.begin)
        return message

    def places(self):
        """Returns places for cuts: within head and tail of the token, and between pages."""
        self.call()
        found = set(range(self.begin, self.begin + 104, 4))
        found |= set(range(self.end - 72, self.end, 4)) | around(4096, 8192)
        return sorted(at for at in found if self.begin <= at < self.end)

    def verify(self):
        """The file has to contain the data of the last successful WRITE."""
        t, length = self.t, len(self.kept)
        region = t.memory(DATA)
        answer = t.answered(t.call(rpc.READ, rpc.read_arguments(self.handle, DATA),
                                   writes=[t.segments(region)]))
        check(number_at(answer.results, rpc.post_op_attr(answer.results, 4)) == length,
              'the file has another length')
        check(region.read()[:length] == self.kept, f'turn {self.turn}: wrong bytes in the file')

    def takes(self, message):
        """The Call has to succeed."""
        results = self.context.results(self.t.reply(message).message)
        check(number_at(results, 0) == 0, f'status {number_at(results, 0)}')
        self.kept, self.done = self.data, self.done + 1
        self.verify()

    def takes_or_refuses(self, message):
        """The Call has to succeed, or to exceed the server's limits; version 1 has one error."""
        got = self.t.ask(message).message
        if not isinstance(got, wire.Error):
            results = self.context.results(got)
            check(number_at(results, 0) == 0, f'status {number_at(results, 0)}')
            self.kept, self.done = self.data, self.done + 1
        else:
            check(got.code == wire.ERR_CHUNK if self.t.version == 1 else
                  got.code in (wire.SYSTEM, wire.READ_CHUNKS), f'{got}')
            self.refused += 1
        self.verify()

    def fails(self, message):
        """The Call has to fail without an effect, and the connection has to stay."""
        got = self.t.ask(message).message
        if not isinstance(got, wire.Error):
            try:
                rpc.results(got.body)
            except rpc.RpcError:
                pass
            else:
                raise Failure(f'turn {self.turn}: success')
        self.verify()


def in_pieces(t, message, *places):
    """All of the Call in a Position-Zero chunk, whose segments end there"""
    region, reads, at = t.memory(len(message.body)).write(message.body), [], 0
    for place in (*places, len(message.body)):
        reads += [(0, s) for s in t.segments(region, place - at, at=at)]
        at = place
    return message.but(body=b'', proc=NOMSG, reads=tuple(reads))


def split(t, service):
    """The token, or the data and their checksum, are cut anywhere."""
    w = Write(t, service)
    for at in w.places():
        w.takes(in_pieces(t, w.call(), at))
        for long in (False, True):
            w.takes_or_refuses(spread(t, w.call(), (at, w.end), long=long))
            w.takes_or_refuses(spread(t, w.call(), (at, min(at + 4, w.end)), long=long))
            w.takes_or_refuses(spread(t, w.call(), (at, min(at + 4096, w.end)), long=long))
            if at + 8 < w.end:
                w.takes_or_refuses(spread(t, w.call(), (at, at + 4), (at + 8, w.end),
                                          long=long))
    at = w.begin + 4
    w.takes(spread(t, w.call(), (at, at + (w.length + 3 & ~3))))
    check(w.done > len(w.places()), f'{w.done} done, {w.refused} refused')


@both('E-07 C-083', needs='gss export')
def token_in_pieces(t):
    """krb5p: the token of a WRITE is cut anywhere, by chunks or segments"""
    split(t, PRIVACY)


@both('E-07 C-083', needs='gss export')
def data_and_checksum_in_pieces(t):
    """krb5i: so are data and their checksum"""
    split(t, INTEGRITY)


def lengths(t, service):
    w = Write(t, service)
    w.takes(w.call())
    right, rest = w.length, w.end - w.begin - 4
    for length in (0, 1, 4, 15, 16, 17, 28, 31, 32, 36, 44, 59, 60, 64, 4096, right - 32,
                   right - 4, right - 1, right + 1, right + 4, right + 28, right + 32,
                   right + 4096, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff):
        for form in (lambda m: m, lambda m: in_pieces(t, m), lambda m: in_pieces(t, m, 4096),
                     lambda m: spread(t, m, (w.begin + 4, w.end))):
            message = w.call()
            body = message.body[:w.begin] + u32(length) + message.body[w.begin + 4:]
            w.fails(form(message.but(body=body)))
    for lacks in (4, 12, 28, 32, 36, 60, 64, 4096, DATA, rest - 4, rest, rest + 4):
        for form in (lambda m: m, lambda m: in_pieces(t, m)):
            message = w.call()
            w.fails(form(message.but(body=message.body[:w.end - lacks])))
    w.takes(w.call())


@both('E-07', needs='gss export')
def wrong_lengths_of_a_token(t):
    """krb5p: a token that is shorter or longer than its length fails, and nothing else"""
    lengths(t, PRIVACY)


@both('E-07', needs='gss export')
def wrong_lengths_of_data(t):
    """krb5i: so do data that are"""
    lengths(t, INTEGRITY)


@both('S09 C-081', needs='gss export')
def header_in_a_chunk(t):
    """A Read chunk anywhere in the RPC header gets BAD_XDR, and the context goes on"""
    for service in (INTEGRITY, PRIVACY):
        w = Write(t, service)
        w.call()
        for at in range(4, w.begin, 4):
            for end in (w.begin, w.end, min(at + 4, w.begin)):
                for long in (False, True):
                    t.error(spread(t, w.call(), (at, end), long=long), wire.BAD_XDR)
        w.takes(w.call())
        t.close()
