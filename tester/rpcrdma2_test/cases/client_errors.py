# SPDX-License-Identifier: GPL-2.0
"""Errors, invalid Replies, and Calls to the client."""

from contextlib import contextmanager

from .. import rpc, wire
from ..endpoint import Lost
from ..registry import NotApplicable, case, check
from ..wire import NOMSG, Error, Option, Prop, Properties, Rpc, Segment, u32


def refuse(t, wanted, code, *arguments):
    """Refuses the first matching Call once, and returns it."""
    t.negotiate()
    first = t.serve(wanted)
    if first is None:
        raise NotApplicable('the command sends no such Call')
    t.send(Error(first.number, code, arguments, credit=t.grant))
    return first


def repaired(t, first):
    """The client has to repeat the Call on this connection, and the command has to succeed."""
    again = t.serve(lambda c: c.number == first.number)
    check(again is not None, 'it does not come again')
    check(again.version == 2, 'in version 1')
    t.answer(again)
    t.succeeds()
    return again


@contextmanager
def under_way(t, *properties):
    """Runs the body while the client's FSINFO waits; the command then has to succeed."""
    t.negotiate(*properties)
    call = t.serve_until(rpc.FSINFO)
    yield call
    t.answer(call)
    t.succeeds()


def with_data(call):
    return any(p for p, _ in call.reads)


@case('S42', plays='server')
def read_chunks(t):
    """After READ_CHUNKS with 0 the Call is repeated without Read chunks for data"""
    first = refuse(t, with_data, wire.READ_CHUNKS, 0)
    again = repaired(t, first)
    check(not with_data(again), f'{again}')


@case('S42', plays='server')
def write_chunks(t):
    """After WRITE_CHUNKS with 0 the Call is repeated without a Write list"""
    first = refuse(t, lambda c: c.writes, wire.WRITE_CHUNKS, 0)
    again = repaired(t, first)
    check(not again.writes and again.reply, f'{again}')


@case('C-092 S45', plays='server')
def reply_resource(t):
    """After REPLY_RESOURCE the Call is repeated with a Reply chunk of the needed length"""
    first = refuse(t, lambda c: c.body and rpc.number_at(c.body, 20) == rpc.GETATTR and
                   not c.reply, wire.REPLY_RESOURCE, 100)
    again = t.serve(lambda c: c.number == first.number)
    if again is None:
        raise NotApplicable('the client ends the RPC, which is allowed')
    check(sum(s.length for s in again.reply or ()) >= 100, f'{again}')
    t.answer(again)
    t.succeeds()


@case('C-092 S41 S45', plays='server')
def reply_resource_again(t):
    """A second REPLY_RESOURCE ends the RPC: it is repeated once"""
    count = refused_for_ever(t, wire.REPLY_RESOURCE, 200)
    check(count <= 2, f'{count} times on the wire')


@case('C-089 S45', plays='server')
def write_resource_again(t):
    """WRITE_RESOURCE ends the RPC, which is repeated once at most"""
    count = refused_for_ever(t, wire.WRITE_RESOURCE, 1, 4096)
    check(count <= 2, f'{count} times on the wire')


@case('C-094', plays='server')
def system(t):
    """SYSTEM ends the RPC without a repetition, and the command fails"""
    count = refused_for_ever(t, wire.SYSTEM)
    check(count == 1, f'{count} times on the wire')


@case('S42', plays='server')
def bad_xdr(t):
    """BAD_XDR ends the RPC without a repetition"""
    count = refused_for_ever(t, wire.BAD_XDR)
    check(count == 1, f'{count} times on the wire')


@case('S43', plays='server')
def unknown_code(t):
    """An unknown rdma_err ends the RPC like SYSTEM"""
    count = refused_for_ever(t, 99)
    check(count == 1, f'{count} times on the wire')


def refused_for_ever(t, code, *arguments):
    """Refuses one MKDIR each time; returns how often it was sent. The command has to fail."""
    t.negotiate()
    first = t.serve_until(rpc.MKDIR)
    count, call = 0, first
    while call is not None and call.number == first.number:
        count += 1
        check(count < 10, 'a loop')
        t.send(Error(call.number, code, arguments, credit=t.grant))
        call = t.serve(lambda c: c.number == first.number, patience=20)
    t.fails()
    return count


def bad_reply(t, change):
    """Answers the first MKDIR with a changed Reply; the command has to fail in time."""
    t.negotiate()
    call = t.serve_until(rpc.MKDIR)
    good = Rpc(call.number, t.ask_backend(call.body), 2, t.grant, direction=wire.REPLY)
    t.send(change(good))
    t.fails()


@case('E-20 C-078 S07', plays='server')
def reply_with_a_read_list(t):
    """A Reply with a Read list ends its RPC, and gets no error"""
    bad_reply(t, lambda good: good.but(reads=((4, Segment(1, 8)),)))


@case('E-20 C-078 S05', plays='server')
def reply_with_a_bad_list(t):
    """A Reply with malformed lists ends its RPC, and gets no error"""
    bad_reply(t, lambda good: good.with_word(6, 7))


@case('E-20 S07 E-25', plays='server')
def nomsg_without_a_reply_chunk(t):
    """RDMA2_NOMSG without an offered Reply chunk ends its RPC"""
    bad_reply(t, lambda good: good.but(proc=NOMSG, body=b''))


@case('E-20 E-06 S07', plays='server')
def foreign_reply_chunk(t):
    """A Reply chunk that was not offered ends its RPC"""
    bad_reply(t, lambda good: good.but(proc=NOMSG, body=b'', reply=(Segment(7, 4096),)))


@case('E-20', plays='server')
def reply_with_another_xid(t):
    """A failing Reply with an unknown xid does not end a MKDIR"""
    t.negotiate()
    call, xid = t.serve_until(rpc.MKDIR), t.xid()
    t.send(Rpc(xid, rpc.reply(xid, u32(5, 0, 0)), 2, t.grant, direction=wire.REPLY),
           Rpc(call.number, t.ask_backend(call.body), 2, t.grant, direction=wire.REPLY))
    t.succeeds()


@case('C-013 C-066 B-02 S06', plays='server')
def a_call_is_no_reply(t):
    """A Call with the xid of an outstanding RPC does not complete it"""
    with under_way(t) as call:
        t.send(Rpc(call.number, rpc.call(call.number, prog=0x40000000, vers=1), 2, 2))
        answer(t)


def answer(t, patience=5):
    """Returns the client's answer to a Call, which is mandatory in version 2."""
    got = t.receive(patience)
    check(got is not None, 'no answer')
    return got.message


@case('C-065 S24', plays='server')
def a_call_to_the_client(t):
    """A Call of the server gets a Reply, or SYSTEM if there is no callback service"""
    with under_way(t):
        xid = t.xid()
        t.send(Rpc(xid, rpc.call(xid, prog=0x40000000, vers=1), 2, 2))
        got = answer(t)
        check(got.xid == xid, f'{got}')
        check(isinstance(got, Error) and got.code == wire.SYSTEM or
              isinstance(got, Rpc) and got.direction == wire.REPLY, f'{got}')


@case('S23 C-036', plays='server')
def a_call_with_chunks_to_the_client(t):
    """A Call with chunks, to a client that accepts none, gets an error"""
    with under_way(t):
        xid, here = t.xid(), Segment(77, 64)
        null = Rpc(xid, rpc.call(xid, prog=0x40000000, vers=1), 2, 2)
        for message in (null.but(reads=((40, here),)), null.but(writes=((here,),))):
            t.send(message)
            got = answer(t)
            check(isinstance(got, Error) and got.xid == xid and got.code in (4, 5, 10), f'{got}')


@case('C-071 S18', plays='server')
def errors_for_nothing(t):
    """Errors with the xid of no RPC have no effect"""
    with under_way(t):
        t.silent(*[Error(t.xid(), code) for code in (2, 3, 4, 8, 9, 10, 99)])


@case('C-011 C-012 S39', plays='server')
def unknown_option(t):
    """An unknown option gets INVALID_OPTION, and no answer if it is a Reply"""
    with under_way(t):
        t.refused(Option(t.xid(), 0x7fffff01, b'info'), wire.INVALID_OPTION)
        t.silent(Option(t.xid(), 0x7fffff01, b'info', wire.REPLY))


@case('C-016 C-017 C-018 S11', plays='server')
def bad_properties(t):
    """Malformed properties get BAD_XDR from the client too"""
    with under_way(t):
        for message in (wire.updprop(t.xid(), [Prop(wire.BRS, 7)]),
                        wire.updprop(t.xid(), [Prop(wire.BRS, b'\0\2')]),
                        wire.updprop(t.xid(), [Prop(wire.RBSIZ, 4096)]).cut(28),
                        wire.reqprop(t.xid(), [Prop(wire.BRS, 7)])):
            t.refused(message, wire.BAD_XDR)


@case('C-049 C-051 C-053 C-057 S16', plays='server')
def wishes(t):
    """REQPROP to the client gets one RESPROP, in which each request is in one set"""
    with under_way(t):
        message = wire.reqprop(t.xid(), [Prop(wire.RBSIZ, 4096), Prop(0x1234, b'x'),
                                         Prop(wire.RBSIZ, 1 << 28)])
        got = t.answer_to(message)
        check(isinstance(got, Properties) and got.proc == wire.RESPROP, f'{got}')
        check(got.xid == message.xid, f'{got}')
        done, rejected, other = got.sets
        check(1 in rejected and 2 not in done, f'{got.sets}')
        check(not done & rejected and len(done | rejected) + len(other) >= 3, f'{got.sets}')


@case('C-019 C-023 C-060 C-108', plays='server')
def odd_properties(t):
    """UPDPROP and a second CONNPROP, with unknown properties, get no answer"""
    with under_way(t, Prop(0x1234, b'abcde'), Prop(0xfffffff0, b''), Prop(wire.RBSIZ, 4096)):
        t.silent(wire.updprop(t.xid(), [Prop(0x99999, b'xyz'), Prop(wire.RBSIZ, 4096)]))
        t.silent(wire.connprop(t.xid(), [Prop(wire.RBSIZ, 4096)]))
        t.silent(wire.resprop(t.xid(), {0}))


@case('S31 E-20', plays='server')
def what_is_no_message(t):
    """Short messages and Replies to nothing are dropped"""
    with under_way(t) as call:
        xid = t.xid()
        t.silent(call.cut(0), call.cut(15), Rpc(xid, rpc.reply(xid), direction=wire.REPLY))


@case('S50', plays='server')
def foreign_invalidation(t):
    """Invalidation of a handle that no Call has nominated ends at most the connection"""
    t.negotiate()
    call = t.serve_until(rpc.FSINFO)
    body = t.ask_backend(call.body)
    try:
        t.send(Rpc(call.number, body, 2, 32, direction=wire.REPLY), invalidate=0x7700)
        t.succeeds()
    except Lost:
        t.accept()
        t.negotiate()
        t.succeeds()
