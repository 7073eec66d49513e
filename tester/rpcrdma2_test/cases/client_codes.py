# SPDX-License-Identifier: GPL-2.0
"""Each error that a client can get for an RPC or give for a Call, beside client_errors."""

from .. import rpc, wire
from ..endpoint import Lost
from ..registry import NotApplicable, case, check
from ..wire import Error, Prop, Rpc, Segment
from .client_errors import refuse, under_way, with_data

CALLBACK = 0x40000000


def most_segments(call):
    """Of the chunks of a Call, the most that one has."""
    positions = [p for p, _ in call.reads]
    return max([0, *(positions.count(p) for p in positions),
                *(len(c) for c in call.writes), len(call.reply or ())])


def refuse_segments(t):
    """
    Refuses the first Call with a chunk of several segments.

    A client that may have no Read chunks for data has such Calls sooner.
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
    """SEGMENTS with 1: the Call comes once more with one segment in each chunk, as do others"""
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
    """READ_CHUNKS with 0 holds for the Calls of the connection that come later"""
    first = refuse(t, with_data, wire.READ_CHUNKS, 0)
    again = t.serve(lambda c: c.number == first.number)
    check(again is not None and not with_data(again), f'{again}')
    t.answer(again)
    later = t.serve(with_data, patience=20)
    check(later is None, f'later: {later}')
    t.succeeds()


@case('S14 C-092', plays='server')
def no_guess_after_reply_resource(t):
    """After REPLY_RESOURCE without a Reply chunk a Reply of more than 4096 bytes gets room"""
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
    """No handle of a Call that was refused can be used when it comes again."""
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
        t.peer = 4096               # what the client says of itself is not heeded
        return t.succeeds()
    return check(False, f'the handle {segment.handle:#x} of a refused Call can be used')


@case('E-27 S42', plays='server')
def memory_of_a_refused_write(t):
    """The memory of a Call that gets READ_CHUNKS is taken back before it comes again"""
    first = refuse(t, with_data, wire.READ_CHUNKS, 0)
    memory_is_dead(t, first, t.serve(lambda c: c.number == first.number))


@case('E-27 S42', plays='server')
def memory_of_a_refused_read(t):
    """The memory of a Call that gets WRITE_CHUNKS is taken back before it comes again"""
    first = refuse(t, lambda c: c.writes, wire.WRITE_CHUNKS, 0)
    memory_is_dead(t, first, t.serve(lambda c: c.number == first.number))


@case('E-27 C-092', plays='server')
def memory_of_a_refused_call(t):
    """The memory of a Call that gets SEGMENTS is taken back before it comes again"""
    first = refuse_segments(t)
    memory_is_dead(t, first, t.serve(lambda c: c.number == first.number))


def comes_again(t, code, *arguments):
    """The first MKDIR gets this; what it is on the next connection."""
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
    """VERS for an RPC: the client finds the version anew, and sends the Call again"""
    check(comes_again(t, wire.VERS, 1, 2).version == 2, 'in version 1')


@case('S42', plays='server')
def invalid_proc(t):
    """INVALID_PROC for an RPC: the Call is sent again on another connection, in version 1"""
    check(comes_again(t, wire.INVALID_PROC).version == 1, 'in version 2')


@case('S42', plays='server')
def invalid_option(t):
    """So it is after INVALID_OPTION"""
    check(comes_again(t, wire.INVALID_OPTION).version == 1, 'in version 2')


def call_of_the_server(t, **fields):
    number = t.xid()
    body = rpc.call(number, prog=CALLBACK, vers=1)
    return Rpc(number, body, 2, 2, **fields)


@case('C-081 C-076 C-077 S06', plays='server')
def bad_calls(t):
    """A Call of the server that does not decode gets BAD_XDR, with the client's grant"""
    with under_way(t):
        good = call_of_the_server(t)
        for bad in (good.with_word(6, 2), good.with_word(7, 9), good.cut(40),
                    good.with_word(9, good.number ^ 1)):
            got = t.refused(bad, wire.BAD_XDR)
            check(got.credit > 0 and got.version == 2, f'{got}')


@case('S35', plays='server')
def answers_in_another_version(t):
    """Replies and errors in version 1 end no RPC of version 2"""
    with under_way(t) as call:
        for bad in (Rpc(call.number, rpc.reply(call.number), 1, 32, direction=wire.REPLY),
                    Rpc(call.number, rpc.reply(call.number), 3, 32, direction=wire.REPLY),
                    Error(call.number, wire.ERR_CHUNK, (), 1)):
            t.send(bad)
            got = t.receive(0.1)
            check(got is None or isinstance(got.message, Error), f'{got}')


@case('C-080 S38 S54', plays='server')
def unknown_procs(t):
    """A message of the server with an unknown rdma_proc gets INVALID_PROC or nothing"""
    with under_way(t):
        for proc in (2, 3, 10, 0xffffffff):
            bad = call_of_the_server(t).with_word(3, proc)
            t.send(bad)
            got = t.receive(0.2)
            check(got is None or isinstance(got.message, Error) and
                  got.message.code == wire.INVALID_PROC, f'{got}')


@case('C-079 S35 S54', plays='server')
def other_versions(t):
    """A message of the server in a version that nobody speaks disturbs nothing"""
    with under_way(t):
        for version in (0, 3, 0xffffffff):
            t.send(call_of_the_server(t).with_word(1, version))
            got = t.receive(0.1)
            check(got is None or isinstance(got.message, Error) and
                  got.message.code == wire.VERS, f'{got}')


@case('C-085 S23', plays='server')
def segments_of_a_reply_chunk(t):
    """A Call of the server with a Reply chunk of too many segments gets SEGMENTS"""
    with under_way(t, Prop(wire.RBSIZ, 4096), Prop(wire.BRS, wire.BRS_INLINE)):
        call = call_of_the_server(t, reply=[Segment(7, 16)] * 150)
        got = t.refused(call, wire.SEGMENTS)
        check(0 < got.arguments[0] < 150, f'{got}')


@case('C-083 C-084 S23', plays='server')
def chunks_of_a_call(t):
    """A Call of the server with chunks to a client that takes none: at most 0 of them"""
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
    """A Call of the server with more chunks than the client takes: how many it takes"""
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
