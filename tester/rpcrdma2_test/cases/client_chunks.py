# SPDX-License-Identifier: GPL-2.0
"""
Calls of a server with chunks, to a client that accepts them: the RPC program of kunit/echo. The
client's service verifies the data of Calls that request it.
"""

import struct
from contextlib import contextmanager

from .. import rpc, wire
from ..endpoint import Lost
from ..registry import NotApplicable, case, check
from ..wire import BRS, NOMSG, RBSIZ, Prop, Rpc, Segment, u32
from .client_errors import answer

PROGRAM, ECHO = 0x20070100, 1
SEED = 0xc0ffee
AT = 60                         # offset of the data in a Call: after header and arguments


def pattern(seed, length):
    """Returns the data of this seed, as kunit/echo/data.c creates them."""
    words = (((seed ^ at) * 0x9e3779b1 + at) & 0xffffffff for at in range(0, length, 4))
    return b''.join(struct.pack('<I', word) for word in words)[:length]


def echo(t, length=0, want=0, data=None, hold=0):
    """
    Returns a Call with LENGTH bytes of inline data, for a Reply with WANT bytes, which the service
    delays by HOLD milliseconds.
    """
    number = t.xid()
    arguments = u32(SEED, want, 0, hold, length) + (pattern(SEED, length) if data is None else data)
    body = rpc.call(number, ECHO, arguments, PROGRAM, 1, cred=u32(0, 0, 0, 0))
    return Rpc(number, body + bytes(-len(body) % 4), 2, 2)


def memory(t, data, length=None, skip=0):
    """Returns a segment with these bytes."""
    region = t.endpoint.region(skip + len(data)).write(data, skip)
    return Segment(region.handle, len(data) if length is None else length,
                   region.address + skip)


def room(t, *lengths):
    """Returns memory for a Reply, and segments of it with these lengths."""
    region, segments, at = t.endpoint.region(max(sum(lengths), 1)), [], 0
    for length in lengths:
        segments.append(Segment(region.handle, length, region.address + at))
        at += length
    return region, tuple(segments)


def finish(t, call):
    """Checks the data of the client's RPC, answers it, and waits for the command's success."""
    message = t.contents(call)
    seed, want, _, _, length = struct.unpack_from('>5I', message, 40)
    check(length and message[AT:AT + length] == pattern(seed, length), 'other data in the Call')
    t.answer(call, rpc.reply(call.number, u32(seed, 0, want) + pattern(seed ^ 0xffffffff, want)))
    t.succeeds()


@contextmanager
def called(t, *said):
    """Runs the body while an RPC of the client waits, in version 2; the RPC then has to succeed."""
    t.negotiate(*said or (Prop(RBSIZ, 4096), Prop(BRS, wire.BRS_GENL)))
    if t.takes != wire.BRS_GENL:
        raise NotApplicable('the client takes no Call with chunks')
    with begun(t):
        yield


@contextmanager
def begun(t):
    """The same, after the version has been negotiated."""
    bind = t.next_call()
    if rpc.number_at(bind.body, 12) != PROGRAM:
        raise NotApplicable('the client is not kunit/echo')
    t.answer(bind, rpc.reply(bind.number))
    call, endpoint = t.next_call(), t.endpoint
    yield
    finish(t, call if t.endpoint is endpoint else t.next_call())


def replied(t, message, want=0, **expected):
    """Sends a Call; its Reply must report no wrong data."""
    t.send(message)
    got = answer(t)
    check(isinstance(got, Rpc) and got.xid == message.number, f'{got}')
    for field, value in expected.items():
        check(getattr(got, field) == value, f'{field}: {got}')
    if got.proc == wire.MSG:
        check(struct.unpack_from('>3I', rpc.results(got.body)) == (SEED, 0, want), f'{got}')
    return got


def loses(t, message):
    """The message has to end the connection; the client repeats its own RPC on the next one."""
    try:
        t.send(message)
        got = answer(t)
    except Lost:
        t.accept()
        return
    check(False, f'the connection goes on: {got}')


@case('C-037 E-02 E-05 E-07', plays='server')
def data_in_chunks(t):
    """A Call in Read chunks, some of them unaligned, is read correctly"""
    with called(t):
        data, call = pattern(SEED, 8192), echo(t, 8192)
        head = call.body[:AT]
        for message in (
                echo(t, 8192, data=b'').but(reads=((AT, memory(t, data)),)),
                echo(t, 8192, data=b'').but(reads=((AT, memory(t, data, skip=3)),)),
                echo(t, 8191, data=b'').but(reads=((AT, memory(t, data[:8191], skip=1)),)),
                echo(t, 8192, data=data[4096:]).but(reads=((AT, memory(t, data[:4096])),)),
                echo(t, 8192, data=b'').but(reads=((AT, memory(t, data[:4099])),
                                                   (AT, memory(t, data[4099:])))),
                echo(t, 8192, data=b'').but(reads=((AT + 4096, memory(t, data[4096:])),
                                                   (AT, memory(t, data[:4096])))),
                call.but(proc=NOMSG, body=b'', reads=((0, memory(t, call.body)),)),
                echo(t).but(number=call.number + 1, proc=NOMSG, body=b'', reads=(
                    (0, memory(t, u32(call.number + 1) + head[4:])), (AT, memory(t, data))))):
            replied(t, message)


@case('E-05 S09', plays='server')
def data_behind_the_first_page(t):
    """A Read chunk at a position in the second page of a Call is read correctly"""
    with called(t):
        if t.peer < 8192:
            raise NotApplicable('the client receives one page')
        data = pattern(SEED, 8192)
        for begin, end in ((4100, 8192), (6000, 8192), (4100, 6000)):
            replied(t, echo(t, 8192, data=data[:begin] + data[end:]).but(
                reads=((AT + begin, memory(t, data[begin:end])),)))


@case('S09 C-081 E-02 E-05', plays='server')
def wrong_positions(t):
    """A Read chunk within the RPC header, beyond the end, or within another one gets BAD_XDR"""
    with called(t):
        here = memory(t, pattern(SEED, 64))
        for positions in (*((at,) for at in (4, 8, 20, 24, 36, AT - 22, AT + 2, AT + 4, 4096)),
                          (AT, AT + 32), (AT + 60, AT), (AT, AT + 68)):
            message = echo(t, 64, data=b'')
            t.refused(message.but(reads=tuple((at, here) for at in positions)), wire.BAD_XDR)


@case('S07 E-03 E-04 C-081', plays='server')
def wrong_position_zero(t):
    """An unexpected or a missing Position-Zero chunk gets BAD_XDR"""
    with called(t):
        call = echo(t, 64)
        whole = memory(t, call.body)
        for message in (call.but(reads=((0, whole),)),
                        call.but(proc=NOMSG, body=b'', reads=((AT, whole),)),
                        call.but(proc=NOMSG, body=b''),
                        call.but(proc=NOMSG, body=b'', reads=((0, memory(t, bytes(4))),)),
                        call.but(proc=NOMSG, body=b'', reads=((0, whole), (20, whole)))):
            t.refused(message, wire.BAD_XDR)


@case('S08 S06 C-081', plays='server')
def another_call_in_position_zero(t):
    """A Position-Zero chunk with another xid, with a Reply or without a Call gets BAD_XDR"""
    with called(t):
        for body in (echo(t).body, rpc.reply(1) + bytes(40), bytes(64)):
            message = echo(t).but(proc=NOMSG, body=b'', reads=((0, memory(t, body)),))
            t.refused(message, wire.BAD_XDR)


@case('C-106 C-093', plays='server')
def more_than_the_service_takes(t):
    """A Call that exceeds the service's limit gets SYSTEM, and nothing is read"""
    with called(t):
        for length in (0x7fffffff, 64 << 20):
            message = echo(t).but(reads=((AT, Segment(1, length)),))
            t.refused(message, wire.SYSTEM)


@case('C-086 C-087 C-088 S45', plays='server')
def write_chunk_too_small(t):
    """A Write chunk too small for its result gets WRITE_RESOURCE, with its number and the length"""
    with called(t):
        for lengths in ((100,), (4096, 95), (1,)):
            region, chunk = room(t, *lengths)
            got = t.refused(echo(t, want=8000).but(writes=(chunk,)), wire.WRITE_RESOURCE)
            check(got.arguments == (1, 8000), f'{got}')
            check(not any(region.read()), 'written to')


@case('C-089 C-091 S45', plays='server')
def reply_chunk_too_small(t):
    """A missing or small Reply chunk gets REPLY_RESOURCE, with the length"""
    with called(t):
        for chunk in (None, room(t, 100)[1], room(t, 4000, 4035)[1]):
            got = t.refused(echo(t, want=8000).but(reply=chunk), wire.REPLY_RESOURCE)
            check(got.arguments == (8036,), f'{got}')


@case('C-037 E-06 E-10 E-12', plays='server')
def results_in_chunks(t):
    """A Reply fills a Write chunk or a Reply chunk with exactly the needed length"""
    with called(t):
        data = pattern(SEED ^ 0xffffffff, 8000)
        region, chunk = room(t, 4097, 3903)
        got = replied(t, echo(t, want=8000).but(writes=(chunk,)), 8000, reply=None)
        check([s.length for s in got.writes[0]] == [4097, 3903], f'{got}')
        check(region.read() == data, 'other data in the Write chunk')
        region, chunk = room(t, 36, 9000)
        got = replied(t, echo(t, want=8000).but(reply=chunk), proc=NOMSG, writes=())
        check([s.length for s in got.reply] == [36, 8000], f'{got}')
        check(region.read()[36:8036] == data, 'other data in the Reply chunk')


@case('C-106 S46', plays='server')
def freed_memory(t):
    """A Read chunk in deregistered memory ends the connection, and nothing else"""
    with called(t):
        here = memory(t, pattern(SEED, 4096))
        t.endpoint.regions.pop().free()
        loses(t, echo(t, 4096, data=b'').but(reads=((AT, here),)))


@case('C-106 S46', plays='server')
def less_memory_than_a_segment_says(t):
    """A segment that is longer than its memory ends the connection"""
    with called(t):
        here = memory(t, pattern(SEED, 4096), 12288)
        loses(t, echo(t, 12288, data=b'').but(reads=((AT, here),)))


@case('C-106 S46', plays='server')
def freed_memory_of_a_reply(t):
    """A Write chunk in deregistered memory ends the connection"""
    with called(t):
        _, chunk = room(t, 8000)
        t.endpoint.regions.pop().free()
        loses(t, echo(t, want=8000).but(writes=(chunk,)))
