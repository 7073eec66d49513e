# SPDX-License-Identifier: GPL-2.0
"""Messages other than Calls never get an error."""

from .. import wire
from ..registry import case, check
from ..rpc import reply
from ..wire import REPLY, Error, Option, Prop, Raw, Rpc, Segment, u32


@case('C-078 S38')
def reply_to_nothing(t):
    """A Reply without an outstanding Call gets no answer"""
    xid = t.xid()
    t.nothing(Rpc(xid, reply(xid), direction=REPLY))


@case('C-078 S38')
def bad_replies(t):
    """A malformed Reply gets no answer"""
    xid, here = t.xid(), Segment(1, 4096)
    good = Rpc(xid, reply(xid), direction=REPLY)
    for bad in (good.cut(36), good.with_word(6, 9), good.but(reads=[(40, here)]),
                good.but(proc=wire.NOMSG, body=b''), good.with_word(9, xid ^ 1),
                good.cut(20)):
        t.nothing(bad)


@case('C-078 S38 C-071 S43')
def errors_are_not_answered(t):
    """An error gets no answer, with any code, xid and length"""
    for code in (*range(12), 0xffffffff):
        t.nothing(Error(t.xid(), code))
    t.nothing(Error(t.xid(), wire.SEGMENTS, (3,)), Raw(u32(t.xid(), 2, 32, wire.ERROR)))


@case('C-071')
def error_with_the_xid_of_a_call(t):
    """An error with the xid of an outstanding Call does not affect the Call"""
    message = t.null()
    t.send(message, Error(message.number, wire.SYSTEM), Error(message.number, 2))
    got = t.receive()
    check(got is not None and got.message.xid == message.xid, f'{got}')
    t.nothing()


@case('C-066 B-02')
def reply_with_the_xid_of_a_call(t):
    """A Reply with the xid of an outstanding Call does not affect the Call"""
    message = t.null()
    t.send(Rpc(message.number, reply(message.number), direction=REPLY), message)
    got = t.receive()
    check(got is not None and got.message.xid == message.xid, f'{got}')
    t.nothing()


@case('S17 S38')
def resprop_to_nothing(t):
    """A RESPROP without an outstanding REQPROP gets no answer, in either spelling"""
    for as_option in (False, True):
        t.nothing(wire.resprop(t.xid(), {0}, as_option=as_option))


@case('S11 S38')
def bad_resprop(t):
    """A malformed RESPROP without an outstanding REQPROP gets no answer, wherever it is cut"""
    whole = wire.resprop(t.xid(), {0}, {1}, [Prop(wire.RBSIZ, 4096)])
    for length in range(16, len(whole.encode()), 4):
        t.nothing(whole.cut(length))
    # as an option with direction CALL
    whole = wire.resprop(t.xid(), {0}, {1}, as_option=True).with_word(4, 0)
    for length in range(24, len(whole.encode()), 4):
        t.nothing(whole.cut(length))


@case('S39')
def option_in_a_reply(t):
    """An unknown option with REPLY, or with an invalid direction, gets no answer"""
    t.nothing(Option(t.xid(), 0x7fffff01, b'x', direction=REPLY))
    t.nothing(Option(t.xid(), 0x7fffff01, b'x', direction=2))
    t.nothing(Option(t.xid(), 0x7fffff01, b'x', direction=REPLY).cut(26))


@case('C-023')
def updprop(t):
    """UPDPROP gets no answer, in either spelling, before and after CONNPROP"""
    for as_option in (False, True):
        t.nothing(wire.updprop(t.xid(), [Prop(wire.RBSIZ, 8192)], as_option=as_option))
    t.announce()
    t.largest = 8192
    t.nothing(wire.updprop(t.xid(), [Prop(wire.RBSIZ, 8192)]))


@case('S15 S29 C-023')
def second_connprop(t):
    """Only the first CONNPROP is answered"""
    t.announce()
    t.nothing(wire.connprop(t.xid()))
    t.nothing(wire.connprop(t.xid(), as_option=True))
