# SPDX-License-Identifier: GPL-2.0
"""Calls of a server whose answers find no Receive, with the client of kunit/echo."""

import subprocess
import time

from .. import rpc, wire
from ..endpoint import Lost
from ..registry import Failure, NotApplicable, case, check
from ..wire import RBSIZ, Error, Prop, Properties, Rpc, Segment
from .client_chunks import AT, PROGRAM, SEED, begun, called, echo, memory, pattern, replied, room
from .client_errors import answer
from .layout import CONTEXT, GSS, is_denied

FEW = 4                         # Receives of the server
STEP = 8                        # Calls that the client accepts at a time
HOLD = 60000                    # ms, unless the service is to reply


def held(t, count):
    """
    Has so many Calls outstanding; returns the grants of their Replies, and the one after them.

    The last of these Calls may raise the grant after its Reply has begun. The client receives the
    next Call after that.
    """
    t.send(*[echo(t, hold=HOLD) for _ in range(count)])
    try:
        t.set('held', count)
    except subprocess.SubprocessError as reason:
        raise Failure(f'{count} Calls are not outstanding: {reason}') from reason
    return {answer(t).credit for _ in range(count)}, replied(t, echo(t)).credit


def use_all(t):
    """Has as many Calls outstanding as the client grants, until it grants no more; returns that."""
    grant, more = 0, replied(t, echo(t)).credit
    while more > grant:
        grant, (_, more) = more, held(t, more)
    return grant


def fill(t):
    """
    Sends Calls until the client's answers wait; returns them and the grant.

    The first answers find a Receive. Then answers to twice the grant hang and hold a request of
    the client each; later answers wait.
    """
    grant = use_all(t)
    calls = [echo(t) for _ in range(3 * grant + FEW)]
    for at in range(0, len(calls), STEP):
        t.send(*calls[at:at + STEP])
        time.sleep(0.2)
    return calls, grant


@case('C-065 B-07', plays='server')
def a_call_has_its_reply(t):
    """A Call to a client with the service gets its Reply, and no error"""
    with called(t):
        for length in (0, 1000):
            got = replied(t, echo(t, length), proc=wire.MSG, version=2)
            check(got.credit > 0 and not got.handles() and got.reply is None, f'{got}')


@case('B-09 B-11 S27 S56', plays='server', needs='set')
def a_grant_that_grows(t):
    """The grant doubles when all Calls that it allows are outstanding, and not before"""
    with called(t):
        first = replied(t, echo(t)).credit
        check(held(t, first - 1) == ({first}, first), 'the grant grows before that')
        grants, grown = held(t, first)
        check(grants <= {first, 2 * first} and grown == 2 * first, f'{grants}, then {grown}')
        most = use_all(t)
        check(most > 2 * first, f'{most} are granted at most')
        check(replied(t, echo(t)).credit == most, 'the grant shrinks')


@case('C-038', plays='server')
def a_call_of_a_server_without_brs(t):
    """A Call of a server without BRS gets its Reply, inline or with a chunk"""
    with called(t, Prop(wire.RBSIZ, 4096)):
        replied(t, echo(t, 1000), proc=wire.MSG, version=2)
        data = pattern(SEED, 8192)
        replied(t, echo(t, 8192, data=b'').but(reads=((AT, memory(t, data)),)))


@case('B-16 B-19 B-07 S35', plays='server')
def a_call_in_version_one(t):
    """A Call in version 1 gets a Reply of version 1 with three empty lists"""
    said = t.probe().message
    t.send(Error(said.xid, wire.VERS, (1, 1), 2))
    with begun(t):
        got = replied(t, echo(t).but(version=1), proc=wire.MSG, version=1)
        check(got.credit > 0 and not got.handles() and got.reply is None, f'{got}')


@case('C-035 S20', plays='server')
def a_service_that_takes_no_calls(t):
    """With BRS NONE a Call gets SYSTEM, even with the service, and the client continues"""
    t.negotiate(Prop(wire.RBSIZ, 4096), Prop(wire.BRS, wire.BRS_GENL))
    if t.takes != wire.BRS_NONE:
        raise NotApplicable('the client takes Calls')
    with begun(t):
        call = echo(t)
        t.send(call)
        got = answer(t)
        check(isinstance(got, Error) and got.xid == call.number and
              got.code == wire.SYSTEM, f'{got}')


def receives_grow(t, size):
    """Calls the client until all of its Receives have grown to SIZE bytes."""
    t.set('receive_size', size)
    for _ in range(256):
        call = echo(t)
        t.send(call)
        got = answer(t)
        if isinstance(got, Properties):
            t.peer = got.values[RBSIZ].word
            got = answer(t)
        check(isinstance(got, Rpc) and got.xid == call.number, f'{got}')
        if t.peer >= size:
            return
    raise Failure(f'the Receives have {t.peer} bytes')


@case('E-07 S09', plays='server', needs='set')
def gss_behind_a_long_header(t):
    """RPCSEC_GSS in several pages, which are not adjacent, behind empty Read segments"""
    t.set('gss_context', f'{CONTEXT:08x}')
    t.set('receive_size', 4096)
    with called(t):
        receives_grow(t, 12288)
        for count in (150, 164, 165, 166, 167, 168):
            empty = ((256, Segment(0, 0, 0)),) * count
            for chunk in (None, room(t, 4096)[1]):
                number = t.xid()
                body = rpc.call(number, rpc.NULL, bytes(4000), PROGRAM, 1, cred=GSS)
                t.send(Rpc(number, body, 2, 2).but(reads=empty, reply=chunk))
                got = answer(t)
                check(isinstance(got, Rpc) and got.xid == number, f'{got}')
                is_denied(got)


@case('S24 S46 B-06', plays='server', needs='set')
def a_request_is_kept_for_an_error(t):
    """While a request is left, excess Calls get SYSTEM, and all other Calls are answered"""
    t.accept(receives=FEW)
    with called(t):
        calls, grant = fill(t)
        more = [echo(t) for _ in range(grant + 1)]
        t.send(*more)
        t.endpoint.post_receives(len(calls) + len(more))
        left = {call.number: call for call in calls + more}
        while left:
            got = answer(t)
            check(left.pop(got.xid, None) is not None, f'{got}')
            check(isinstance(got, Rpc) != (got.xid in [m.number for m in more]) and
                  (isinstance(got, Rpc) or got.code == wire.SYSTEM), f'{got}')


@case('S46', plays='server', needs='set')
def no_request_for_an_error(t):
    """Without a request for that answer the connection ends"""
    t.accept(receives=FEW)
    with called(t):
        _, grant = fill(t)
        try:
            t.send(*[echo(t) for _ in range(grant + 2)])
            while True:
                answer(t)
        except Lost:
            t.accept()


@case('S46', plays='server', needs='set')
def answers_to_no_connection(t):
    """Answers that wait when the connection ends do not delay the callback service"""
    t.accept(receives=FEW)
    with called(t):
        t.set('unanswered', 0)
        _, grant = fill(t)
        t.hang_up()
        t.set('unanswered', grant)      # while the client tries to connect
        t.accept()


@case('S46', plays='server', needs='set')
def answers_that_hang(t):
    """Answers that wait for some seconds, and delay the callback service, end the connection"""
    t.accept(receives=FEW)
    with called(t):
        fill(t)
        check(t.endpoint.is_left(10), 'the client waits on')
        t.accept()
