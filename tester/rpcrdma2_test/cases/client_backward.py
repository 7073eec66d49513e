# SPDX-License-Identifier: GPL-2.0
"""Calls of a server to a client: their number and size, and lost connections."""

import time

from .. import rpc, wire
from ..endpoint import Lost
from ..nfs4 import CREATE_SESSION, EXCHANGE_ID
from ..registry import Failure, NotApplicable, case, check
from ..waits import scaled
from ..wire import RBSIZ, Error, Prop, Properties, Rpc, Segment
from .client_codes import call_of_the_server
from .client_errors import answer, under_way
from .client_replies import is_nfs


def is_answer(got, call):
    """Whether this is a Reply to the Call, or SYSTEM from a client without a callback service"""
    return got.xid == call.number and (
        isinstance(got, Error) and got.code == wire.SYSTEM or
        isinstance(got, Rpc) and got.direction == wire.REPLY)


def answers(t, calls):
    """Sends all Calls at once, and waits for their answers; returns the last grant."""
    t.send(*calls)
    left, grant = {c.number: c for c in calls}, 0
    while left:
        got = answer(t)
        if isinstance(got, Rpc) and got.direction == wire.CALL:
            t.answer(got)
            continue
        check(got.xid in left and is_answer(got, left.pop(got.xid)), f'{got}')
        grant = got.credit
    return grant


@case('B-09 B-04', plays='server')
def as_many_calls_as_are_granted(t):
    """Concurrent Calls up to the client's grant find Receives, and are answered"""
    with under_way(t):
        grant = 1
        for _ in range(4):
            grant = min(answers(t, [call_of_the_server(t) for _ in range(grant)]), 48)


@case('B-06', plays='server')
def more_calls_than_are_granted(t):
    """Calls beyond the grant are answered or end the connection, and the client recovers"""
    t.accept(receives=128)
    t.negotiate()
    call = t.serve_until(rpc.FSINFO)
    try:
        answers(t, [call_of_the_server(t) for _ in range(60)])
        t.answer(call)
    except Lost:
        t.accept()
    t.succeeds()


@case('B-10', plays='server')
def calls_after_a_reconnect(t):
    """A new connection has Receives for Replies and for Calls of the server"""
    t.negotiate()
    call = t.serve_until(rpc.FSINFO)
    answers(t, [call_of_the_server(t)])
    t.resume()
    again = t.serve_until(rpc.FSINFO)
    check(again.number == call.number, f'{again}')
    grant = min(answers(t, [call_of_the_server(t)]), 48)
    answers(t, [call_of_the_server(t) for _ in range(grant)])
    t.answer(again)
    t.succeeds()


@case('B-08', plays='server')
def a_message_that_finds_no_receive(t):
    """A message that finds no Receive ends the connection, and the client reconnects"""
    t.accept(receives=0, retries=0)
    check(t.endpoint.is_left(10), 'the client does not disconnect')
    t.accept()
    t.any_version()
    t.succeeds()


# The server's Receives, and the seconds that a client may take to give up
FEW, HANGS = 8, 27


def rest(t):
    """Returns the xids that arrive until the connection is lost."""
    came = []
    try:
        while (got := t.receive(5)) is not None:
            came.append(got.message.xid)
    except Lost:
        return came
    raise Failure('the connection is there still')


@case('C-106 S46', plays='server')
def reads_that_hang(t):
    """RDMA Reads of a server's Call that get no response end the connection eventually"""
    t.accept(receives=FEW)
    t.negotiate(Prop(RBSIZ, 4096), Prop(wire.BRS, wire.BRS_GENL))
    if t.takes != wire.BRS_GENL:
        raise NotApplicable('the client takes no Call with chunks')
    first = t.next_call()
    here = t.endpoint.region(65536)
    chunk = ((40, Segment(here.handle, here.length, here.address)),)
    t.send(call_of_the_server(t, reads=chunk))
    if isinstance(answer(t), Error):
        raise NotApplicable('the client has no callback service')
    # Behind a Send without a Receive the device answers no Read; receive() posts one.
    t.send(*[call_of_the_server(t) for _ in range(FEW + 1)])
    time.sleep(scaled(1))
    hangs = call_of_the_server(t, reads=chunk)
    t.send(hangs)
    time.sleep(scaled(HANGS))
    came = rest(t)
    check(len(came) == FEW and hangs.number not in came, f'{len(came)} answers')
    t.resume()
    again = t.next_call()
    check(again.number == first.number, f'{again}')
    t.answer(again, rpc.reply(again.number))
    t.succeeds()


@case('B-14 S31', plays='server')
def a_call_that_is_too_long(t):
    """A message longer than the client's Receives ends the connection, and nothing else"""
    t.accept(size=1 << 17)
    t.negotiate()
    t.serve_until(rpc.FSINFO)
    try:
        t.send(call_of_the_server(t).plus(bytes(70000)))
        got = t.receive()
        while got is not None:
            got = t.receive()
        check(False, 'the connection goes on')
    except Lost:
        check(t.endpoint.is_left(10), 'the client does not disconnect')
        t.resume()
    t.succeeds()


@case('B-14 S31', plays='server')
def calls_that_are_too_short(t):
    """A truncated Call is dropped, rejected, or ends the connection; the client recovers"""
    with under_way(t):
        for length in (4, 12, 20, 36, 40, 60):
            whole = call_of_the_server(t)
            t.send(whole.cut(length))
            got = t.receive(0.1)
            check(got is None or isinstance(got.message, Error) and
                  got.message.xid == whole.number, f'{got}')


@case('B-19 B-16 B-20 S24', plays='server')
def a_call_in_version_one(t):
    """In version 1 a Call gets a Reply of version 1 or no answer, and the RPCs continue"""
    said = t.probe().message
    t.send(Error(said.xid, wire.VERS, (1, 1), 2))
    call = t.serve_until(rpc.FSINFO)
    back = call_of_the_server(t).but(version=1)
    t.send(back)
    got = t.receive(0.3)
    check(got is None or got.message.version == 1 and got.message.xid == back.number and
          got.message.proc == wire.MSG and not got.message.handles(), f'{got}')
    t.answer(call)
    t.succeeds()


@case('C-035 S20', plays='server')
def a_client_that_takes_no_calls(t):
    """With BRS NONE a Call gets SYSTEM, and the client continues"""
    t.negotiate()
    if t.takes != wire.BRS_NONE:
        raise NotApplicable('the client takes Calls')
    call = t.serve_until(rpc.FSINFO)
    back = call_of_the_server(t)
    t.send(back)
    got = answer(t)
    check(isinstance(got, Error) and got.xid == back.number and got.code == wire.SYSTEM, f'{got}')
    t.answer(call)
    t.succeeds()


def session_of(operation):
    """Returns a test for COMPOUNDs that begin with this operation of NFSv4.1."""
    def wanted(call):
        if not is_nfs(call, 1) or rpc.number_at(call.body, 16) != 4:
            return False
        at = 24
        for _ in range(2):                  # credential and verifier
            at += 8 + (rpc.number_at(call.body, at + 4) + 3 & ~3)
        at += 4 + (rpc.number_at(call.body, at) + 3 & ~3)
        return rpc.number_at(call.body, at + 8) == operation
    return wanted


def called_at(t, operation):
    """A Call during this operation gets a Reply or SYSTEM, and the client continues."""
    t.negotiate()
    call = t.serve(session_of(operation))
    if call is None:
        raise NotApplicable('the command creates no session')
    back = call_of_the_server(t)
    t.send(back)
    got = answer(t)
    check(is_answer(got, back), f'{got}')
    t.answer(call)
    # The tester places no data of a COMPOUND in Write chunks, so the client would repeat
    # the READ.
    call = t.serve(lambda c: c.writes, 20)
    if call is not None:
        t.send(Error(call.number, wire.WRITE_CHUNKS, (0,), credit=t.grant))
    t.succeeds()


@case('S24', plays='server',
      counts={'S24 a Call before CREATE_SESSION: refused':
              'backward_refused == 1 and backward_calls == 0'})
def a_call_before_a_session(t):
    """A Call before the client creates a session gets a Reply or SYSTEM"""
    called_at(t, EXCHANGE_ID)


@case('S24', plays='server',
      counts={'S24 a Call during CREATE_SESSION: answered':
              'backward_refused == 0 and backward_calls == 1 and backward_replies == 1'})
def a_call_as_a_session_begins(t):
    """A Call while the client creates a session gets a Reply or SYSTEM"""
    called_at(t, CREATE_SESSION)


@case('C-038', plays='server')
def a_call_of_a_server_without_brs(t):
    """A Call of a server without BRS is answered inline"""
    with under_way(t, Prop(RBSIZ, 4096)):
        call = call_of_the_server(t)
        t.send(call)
        got = answer(t)
        check(is_answer(got, call), f'{got}')
        check(isinstance(got, Error) or got.proc == wire.MSG and not got.handles(), f'{got}')


@case('C-014 C-040 C-041', plays='server')
def a_feature_is_known_entirely(t):
    """A client with properties accepts each of the four messages about properties"""
    with under_way(t):
        got = t.answer_to(wire.reqprop(t.xid(), [Prop(RBSIZ, 4096)]))
        if isinstance(got, Error):
            raise NotApplicable('the client has no properties')
        check(isinstance(got, Properties) and got.proc == wire.RESPROP, f'{got}')
        t.silent(wire.connprop(t.xid(), [Prop(RBSIZ, 4096)]),
                 wire.updprop(t.xid(), [Prop(RBSIZ, 4096)]), wire.resprop(t.xid(), {0}))
