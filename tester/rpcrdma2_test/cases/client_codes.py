# SPDX-License-Identifier: GPL-2.0
"""Other errors that a client gets for an RPC, or sends for a Call, see client_errors."""

from .. import rpc, wire
from ..endpoint import Lost
from ..registry import NotApplicable, case, check
from ..wire import Error, Prop, Rpc, Segment
from .client_errors import refuse, under_way, with_data

CALLBACK = 0x40000000


def most_segments(call):
    """Returns the largest number of segments in a chunk of the Call."""
    positions = [p for p, _ in call.reads]
    return max([0, *(positions.count(p) for p in positions),
                *(len(c) for c in call.writes), len(call.reply or ())])


def refuse_segments(t):
    """
    Refuses the first Call with a chunk of several segments.

    READ_CHUNKS makes the client send such Calls sooner, because it then uses no Read chunks for
    data.
    """
    first = refuse(t, with_data, wire.READ_CHUNKS, 0)
    while True:
        again = t.serve(lambda c: most_segments(c) > 1, patience=20)
        if again is None:
            raise NotApplicable('the command sends no such Call')
        if again.number != first.number:
            break
        t.answer(again)
    t.send(Error(again.number, wire.SEGMENTS, (1,), credit=t.grant))
    return again


@case('S42', plays='server')
def segments(t):
    """After SEGMENTS with 1, this Call and later ones have one segment in each chunk"""
    first = refuse_segments(t)
    again = t.serve(lambda c: c.number == first.number)
    check(again is not None, 'it does not come again')
    check(again.version == 2 and most_segments(again) == 1, f'{again}')
    t.answer(again)
    later = t.serve(lambda c: most_segments(c) > 1, patience=20)
    check(later is None, f'later: {later}')
    t.succeeds()


@case('S42 S45', plays='server')
def what_was_learnt_is_kept(t):
    """READ_CHUNKS with 0 is valid for later Calls of the connection"""
    first = refuse(t, with_data, wire.READ_CHUNKS, 0)
    again = t.serve(lambda c: c.number == first.number)
    check(again is not None and not with_data(again), f'{again}')
    t.answer(again)
    later = t.serve(with_data, patience=20)
    check(later is None, f'later: {later}')
    t.succeeds()


@case('S14 C-092', plays='server')
def no_guess_after_reply_resource(t):
    """After REPLY_RESOURCE without a Reply chunk, Replies above 4096 bytes get a chunk"""
    t.own = 16384
    first = refuse(t, lambda c: c.body and rpc.number_at(c.body, 20) == rpc.GETATTR and
                   not c.reply, wire.REPLY_RESOURCE, 100)
    again = t.serve(lambda c: c.number == first.number)
    if again is None:
        raise NotApplicable('the client ends the RPC, which is allowed')
    t.answer(again)
    later = t.serve(lambda c: c.body and rpc.number_at(c.body, 20) == rpc.READLINK,
                    patience=20)
    check(later is not None, 'no READLINK')
    check(later.writes or later.reply, f'{later}')
    t.answer(later)
    t.succeeds()


def memory_is_dead(t, first, again):
    """The handles of the refused Call must be invalid when the Call is repeated."""
    old = {s.handle: s for s in [*[s for _, s in first.reads],
                                 *[s for c in first.writes for s in c],
                                 *(first.reply or ())]}
    alive = set(again.handles())
    check(old and not alive & set(old), f'{old} are in use again')
    segment = next(iter(old.values()))
    region = t.endpoint.region(4)
    try:
        t.endpoint.rdma(region, 4, segment.handle, segment.offset, bool(first.reads))
    except Lost:
        t.accept()
        t.peer = 4096               # the client's properties are ignored here
        return t.succeeds()
    return check(False, f'the handle {segment.handle:#x} of a refused Call can be used')


@case('E-27 S42', plays='server')
def memory_of_a_refused_write(t):
    """The memory of a Call that gets READ_CHUNKS is invalidated before it is repeated"""
    first = refuse(t, with_data, wire.READ_CHUNKS, 0)
    memory_is_dead(t, first, t.serve(lambda c: c.number == first.number))


@case('E-27 S42', plays='server')
def memory_of_a_refused_read(t):
    """The memory of a Call that gets WRITE_CHUNKS is invalidated before it is repeated"""
    first = refuse(t, lambda c: c.writes, wire.WRITE_CHUNKS, 0)
    memory_is_dead(t, first, t.serve(lambda c: c.number == first.number))


@case('E-27 C-092', plays='server')
def memory_of_a_refused_call(t):
    """The memory of a Call that gets SEGMENTS is invalidated before it is repeated"""
    first = refuse_segments(t)
    memory_is_dead(t, first, t.serve(lambda c: c.number == first.number))


def comes_again(t, code, *arguments):
    """Answers the first MKDIR with this error; returns its repetition on the next connection."""
    t.negotiate()
    first = t.serve_until(rpc.MKDIR)
    t.send(Error(first.number, code, arguments, credit=t.grant))
    t.accept()
    t.any_version()
    again = t.serve_until(rpc.MKDIR)
    check(again.number == first.number, f'xid {again.number:#x}, was {first.number:#x}')
    t.answer(again)
    t.succeeds()
    return again


@case('S36 S42', plays='server')
def vers(t):
    """After VERS for an RPC the client negotiates again and repeats the Call"""
    check(comes_again(t, wire.VERS, 1, 2).version == 2, 'in version 1')


@case('S42', plays='server')
def invalid_proc(t):
    """After INVALID_PROC for an RPC the Call is repeated on another connection, in version 1"""
    check(comes_again(t, wire.INVALID_PROC).version == 1, 'in version 2')


@case('S42', plays='server')
def invalid_option(t):
    """After INVALID_OPTION for an RPC the Call is repeated on another connection, in version 1"""
    check(comes_again(t, wire.INVALID_OPTION).version == 1, 'in version 2')


def call_of_the_server(t, **fields):
    number = t.xid()
    body = rpc.call(number, prog=CALLBACK, vers=1)
    return Rpc(number, body, 2, 2, **fields)


@case('C-081 C-076 C-077 S06', plays='server')
def bad_calls(t):
    """A malformed Call of the server gets BAD_XDR, with the client's grant"""
    with under_way(t):
        good = call_of_the_server(t)
        for bad in (good.with_word(6, 2), good.with_word(7, 9), good.cut(40),
                    good.with_word(9, good.number ^ 1)):
            got = t.refused(bad, wire.BAD_XDR)
            check(got.credit > 0 and got.version == 2, f'{got}')


@case('S35', plays='server')
def answers_in_another_version(t):
    """Replies and errors in version 1 do not end RPCs of version 2"""
    with under_way(t) as call:
        for bad in (Rpc(call.number, rpc.reply(call.number), 1, 32, direction=wire.REPLY),
                    Rpc(call.number, rpc.reply(call.number), 3, 32, direction=wire.REPLY),
                    Error(call.number, wire.ERR_CHUNK, (), 1)):
            t.send(bad)
            got = t.receive(0.1)
            check(got is None or isinstance(got.message, Error), f'{got}')


@case('C-080 S38 S54', plays='server')
def unknown_procs(t):
    """A message of the server with an unknown rdma_proc gets INVALID_PROC or no answer"""
    with under_way(t):
        for proc in (2, 3, 10, 0xffffffff):
            bad = call_of_the_server(t).with_word(3, proc)
            t.send(bad)
            got = t.receive(0.2)
            check(got is None or isinstance(got.message, Error) and
                  got.message.code == wire.INVALID_PROC, f'{got}')


@case('C-079 S35 S54', plays='server')
def other_versions(t):
    """A message of the server in an unknown version has no effect"""
    with under_way(t):
        for version in (0, 3, 0xffffffff):
            t.send(call_of_the_server(t).with_word(1, version))
            got = t.receive(0.1)
            check(got is None or isinstance(got.message, Error) and
                  got.message.code == wire.VERS, f'{got}')


@case('C-085 S23', plays='server')
def segments_of_a_reply_chunk(t):
    """A Reply chunk with too many segments, in a Call of the server, gets SEGMENTS"""
    with under_way(t, Prop(wire.RBSIZ, 4096), Prop(wire.BRS, wire.BRS_INLINE)):
        call = call_of_the_server(t, reply=[Segment(7, 16)] * 150)
        got = t.refused(call, wire.SEGMENTS)
        check(0 < got.arguments[0] < 150, f'{got}')


@case('C-083 C-084 S23', plays='server')
def chunks_of_a_call(t):
    """A client that accepts no chunks answers a Call with chunks with a limit of 0"""
    with under_way(t, Prop(wire.RBSIZ, 4096), Prop(wire.BRS, wire.BRS_INLINE)):
        if t.takes != wire.BRS_INLINE:
            raise NotApplicable('the client takes Calls with chunks')
        here = Segment(77, 64)
        for fields, code in (({'reads': ((40, here),)}, wire.READ_CHUNKS),
                             ({'writes': ((here,),)}, wire.WRITE_CHUNKS)):
            got = t.refused(call_of_the_server(t, **fields), code)
            check(got.arguments == (0,), f'{got}')


@case('C-083 C-084 C-085 C-037', plays='server')
def too_many_chunks_of_a_call(t):
    """A client that accepts chunks answers a Call with too many with its limit"""
    with under_way(t, Prop(wire.RBSIZ, 4096), Prop(wire.BRS, wire.BRS_GENL)):
        if t.takes != wire.BRS_GENL:
            raise NotApplicable('the client takes no Call with chunks')
        here, many = Segment(77, 64), 100
        for fields, code in (
                ({'reads': tuple((40 + 64 * i, here) for i in range(many))},
                 wire.READ_CHUNKS),
                ({'reads': ((40, here),) * many}, wire.SEGMENTS),
                ({'writes': ((here,),) * many}, wire.WRITE_CHUNKS),
                ({'writes': ((here,) * many,)}, wire.SEGMENTS)):
            got = t.refused(call_of_the_server(t, **fields), code)
            check(len(got.arguments) == 1 and 0 < got.arguments[0] < many, f'{got}')
