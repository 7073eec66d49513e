# SPDX-License-Identifier: GPL-2.0
"""Calls that end their connection: the client repeats them on the next one."""

from .. import rpc
from ..endpoint import Lost
from ..registry import case, check
from ..wire import RBSIZ, SYSTEM, Prop, Segment, opaque


def costs_its_connection(t, message, *props, size=16384):
    """
    The Call has to get one error after it ended two connections; others are served.

    The client has Receives of this size and these properties on both. Its device ends the
    connection with a NAK, which the server must not miss because of an earlier disconnect.
    """
    for _ in range(2):
        t.again(size=size)
        if props:
            t.announce(*props)
        t.alive()
        t.lost(message)
        check(t.endpoint.is_left(5), 'the server does not disconnect')
    t.again(size=16384)
    t.alive()
    try:
        t.error(message, SYSTEM)
    except Lost as reason:
        raise Lost(f'the third time: {reason}') from reason
    t.alive()


@case('C-093 S46', needs='export')
def an_rdma_read_is_refused(t):
    """A Call with an invalid Read chunk ends two connections, and then gets SYSTEM"""
    message = t.long(rpc.FSINFO, opaque(t.target.root))
    position, segment = message.reads[0]
    dead = Segment(segment.handle ^ 0x5500, segment.length, segment.offset)
    costs_its_connection(t, message.but(reads=((position, dead),)))


@case('E-20')
def a_write_with_immediate(t):
    """An RDMA Write with Immediate is not a message, and ends the connection"""
    t.alive()
    try:
        t.endpoint.rdma(t.memory(4), 0, 0, 0, immediate=True)
    except Lost:
        return                          # before the RDMA Write completes
    t.lost()


@case('S46')
def a_message_that_is_too_long(t):
    """A message ends the connection if it is longer than a Receive; otherwise it is answered"""
    t.open(size=1 << 17)
    t.alive()
    message = t.null().plus(bytes(70000))
    try:
        answer = t.ask(message)
    except Lost:
        return
    check(answer.message.xid == message.xid, f'another answer: {answer}')
    t.alive()


@case('C-093 S46', needs='export')
def an_rdma_write_is_refused(t):
    """A Call with an invalid Write chunk ends two connections, and then gets SYSTEM"""
    handle = t.file(bytes(2000))
    region = t.memory(4096)
    dead = Segment(region.handle ^ 0x5500, 4096, region.address)
    costs_its_connection(t, t.call(rpc.READ, rpc.read_arguments(handle, 2000),
                                   writes=[[dead]]))


@case('C-093 S46', needs='export')
def a_send_is_refused(t):
    """A Call whose Reply exceeds the client's Receives ends two connections, then gets SYSTEM"""
    handle = t.file(bytes(6000))
    costs_its_connection(t, t.call(rpc.READ, rpc.read_arguments(handle, 6000)),
                         Prop(RBSIZ, 8192), size=4096)
