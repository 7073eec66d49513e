# SPDX-License-Identifier: GPL-2.0
"""
Calls of a server that do not fit inline, or whose Replies do not, with the RPC program of
kunit/echo. The settings "call" and "calls" have the parameters of these Calls.
"""

import dataclasses
import struct
import time

from .. import rpc
from ..registry import NotApplicable, case, check
from ..server import contents
from ..wire import (BRS, BRS_GENL, BRS_INLINE, MSG, NOMSG, RBSIZ, REPLY, REPLY_RESOURCE, Error,
                    Prop, Rpc, resprop, u32)
from .callback_answers import next_call
from .client_chunks import PROGRAM, pattern

BIND = 2
AT = 40                         # offset of the arguments in a Call
LARGE = 8192


def binds(t):
    number = t.xid()
    t.answered(Rpc(number, rpc.call(number, BIND, prog=PROGRAM, vers=1, cred=u32(0, 0, 0, 0))))


def bound(t, takes):
    """Connects a client with this BRS that accepts Calls."""
    t.announce(Prop(RBSIZ, 4096), Prop(BRS, takes))
    try:
        binds(t)
    except rpc.RpcError as error:
        raise NotApplicable('the server is not kunit/echo') from error


def small(call):
    """Returns seed and Reply length of a Call without data and lists."""
    check(call is not None, 'no Call')
    check(call.proc == MSG and not call.handles() and not call.writes and call.reply is None,
          f'{call}')
    seed, want, _, _, length = struct.unpack_from('>5I', call.body, AT)
    check(length == 0 and len(call.body) == AT + 20, f'{length} bytes of data')
    return seed, want


def reply(t, call):
    """Answers with the requested amount of data, inline."""
    seed, want = small(call)
    body = u32(seed, 0, want) + pattern(seed ^ 0xffffffff, want)
    t.send(Rpc(call.number, rpc.reply(call.number, body), direction=REPLY))


def reply_to_large(t, call):
    """Answers a Call with data in Read chunks, without data."""
    check(call is not None and call.reads, f'{call}')
    data = contents(t.endpoint, call)
    seed, _, _, _, length = struct.unpack_from('>5I', data, AT)
    check(length == LARGE and data[AT + 20:] == pattern(seed, LARGE), 'other data')
    t.send(Rpc(call.number, rpc.reply(call.number, u32(seed, 0, 0)), direction=REPLY))


def none_is_large(t):
    """Of one large and three small Calls, only the small ones arrive, without delay."""
    t.set('call', f'count=4 window=4 call={LARGE}/0/0/0 reply=0')
    for _ in range(3):
        reply(t, next_call(t, 1))
    got = next_call(t, 1)
    check(got is None, f'another Call: {got}')
    binds(t)


def no_reply_chunk(t):
    """Of four RPCs, the one with a large Reply offers no chunk and fails."""
    t.set('call', f'count=4 window=1 call=0 reply={LARGE}/0/0/0')
    call = next_call(t)
    _, want = small(call)
    check(want == LARGE, f'{want} bytes are wanted')
    t.send(Error(call.number, REPLY_RESOURCE, (24 + 12 + LARGE,)))
    for _ in range(3):
        reply(t, next_call(t))
    binds(t)


@case('C-036 S25', needs='set')
def a_large_call_and_inline(t):
    """A Call that is too long is not sent to a client with BRS INLINE, and delays no other Call"""
    bound(t, BRS_INLINE)
    none_is_large(t)


@case('C-036 S25', needs='set')
def many_large_calls_and_inline(t):
    """Forty Calls that are too long end after a pause, and are no errors: the next one arrives"""
    bound(t, BRS_INLINE)
    began = time.monotonic()
    t.set('calls', f'count=40 window=16 call={LARGE} reply=0')
    # three rounds, each of a quarter of a second
    took = time.monotonic() - began
    check(took > 0.5, f'a caller can repeat them at once: {took:.3f} s for all')
    t.set('call', 'count=1 window=1 call=0 reply=0')
    reply(t, next_call(t, 5))
    binds(t)


@case('C-036 S20 S25', needs='set')
def a_large_call_of_a_server_that_is_inline(t):
    """If the server's administrator disables chunks, a Call that is too long is not sent"""
    t.set('backward', 'inline')
    bound(t, BRS_GENL)
    none_is_large(t)


@case('C-036 S25', needs='set')
def a_large_reply_and_inline(t):
    """A Call with a long Reply offers no chunk to a client with BRS INLINE"""
    bound(t, BRS_INLINE)
    no_reply_chunk(t)


@case('C-009 C-037', needs='set')
def a_large_call_in_chunks(t):
    """The same Call to a client with BRS GENL has its data in Read chunks"""
    bound(t, BRS_GENL)
    t.set('call', f'count=1 window=1 call={LARGE} reply=0')
    reply_to_large(t, next_call(t))
    binds(t)


def reply_in_chunk(t, call, xid):
    """Answers with this xid, and the requested amount of data, in the Reply chunk."""
    check(call is not None and call.reply and not call.writes, f'{call}')
    seed, want = struct.unpack_from('>2I', call.body, AT)
    data = rpc.reply(xid, u32(seed, 0, want) + pattern(seed ^ 0xffffffff, want))
    region, at, used = t.memory(len(data)).write(data), 0, []
    for segment in call.reply:
        length = min(segment.length, len(data) - at)
        if length:
            t.endpoint.rdma(region, length, segment.handle, segment.offset, at=at)
        used.append(dataclasses.replace(segment, length=length))
        at += length
    t.send(Rpc(call.number, b'', proc=NOMSG, direction=REPLY, reply=used))


@case('S08 E-06', needs='set')
def a_large_reply_of_another_xid(t):
    """A Reply chunk with another xid ends its Call with an error, and no other one"""
    bound(t, BRS_GENL)
    t.set('call', f'count=3 window=1 call=0 reply={LARGE} ddp=0 reply_ddp=0')
    for offset in (0, 1, 0):
        call = next_call(t)
        reply_in_chunk(t, call, call.number + offset)
    binds(t)


@case('S50', needs='set')
def handle_of_another_call(t):
    """A Reply that invalidates memory of another Call ends the connection"""
    bound(t, BRS_GENL)
    # Until a Reply grants more, the server has one credit.
    t.set('call', 'count=1 window=1 call=0 reply=0')
    reply(t, next_call(t))
    t.set('call', f'count=2 window=2 call={LARGE} reply=0')
    calls = [next_call(t), next_call(t)]
    check(None not in calls and all(call.reads for call in calls), f'{calls}')
    first, second = calls
    message = Rpc(first.number, rpc.reply(first.number, u32(0, 0, 0)), direction=REPLY)
    t.endpoint.send(message.encode(), invalidate=second.handles()[0])
    t.lost()


@case('S50', needs='set')
def handle_in_a_resprop(t):
    """A RESPROP that invalidates memory of a Call ends the connection, too"""
    bound(t, BRS_GENL)
    t.set('call', f'count=1 window=1 call={LARGE} reply=0')
    call = next_call(t)
    check(call is not None and call.reads, f'{call}')
    t.endpoint.send(resprop(call.number).encode(), invalidate=call.handles()[0])
    t.lost()
