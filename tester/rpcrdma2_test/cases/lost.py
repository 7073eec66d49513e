# SPDX-License-Identifier: GPL-2.0
"""Calls that cost their connection: the client sends them again on the next one."""

from .. import rpc
from ..endpoint import Lost
from ..registry import case, check
from ..wire import RBSIZ, SYSTEM, Prop, Segment, opaque


def costs_its_connection(t, message, *props, size=16384):
    """
    When it has cost two, each of a client with such Receives and properties, the same
    Call again gets an error, once; others are served.

    The device here ends the connection with its refusal. An end of this one's that the
    server sees first would hide that.
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
    t.error(message, SYSTEM)
    t.alive()


@case('C-093 S46', needs='export')
def an_rdma_read_is_refused(t):
    """A Call with a Read chunk that is not there ends two connections, and then gets SYSTEM"""
    message = t.long(rpc.FSINFO, opaque(t.target.root))
    position, segment = message.reads[0]
    dead = Segment(segment.handle ^ 0x5500, segment.length, segment.offset)
    costs_its_connection(t, message.but(reads=((position, dead),)))


@case('E-20')
def a_write_with_immediate(t):
    """An RDMA Write with Immediate is no message: the connection ends"""
    t.alive()
    try:
        t.endpoint.rdma(t.memory(4), 0, 0, 0, immediate=True)
    except Lost:
        return                          # before the RDMA Write is done
    t.lost()


@case('S46')
def a_message_that_is_too_long(t):
    """A message longer than a Receive ends the connection; where the Receives hold it, it is answered"""
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
    """So does a Call with a Write chunk that is not there"""
    handle = t.file(bytes(2000))
    region = t.memory(4096)
    dead = Segment(region.handle ^ 0x5500, 4096, region.address)
    costs_its_connection(t, t.call(rpc.READ, rpc.read_arguments(handle, 2000),
                                   writes=[[dead]]))


@case('C-093 S46', needs='export')
def a_send_is_refused(t):
    """So does a Call whose Reply is longer than the Receives that the client has"""
    handle = t.file(bytes(6000))
    costs_its_connection(t, t.call(rpc.READ, rpc.read_arguments(handle, 6000)),
                         Prop(RBSIZ, 8192), size=4096)
