# SPDX-License-Identifier: GPL-2.0
"""Conditions for callbacks, and callbacks whose connection ends. NFSv4.1."""

import time

from .. import nfs4, rpc, wire
from ..nfs4 import Session
from ..registry import case, check
from ..wire import BRS, BRS_GENL, BRS_NONE, MSG, SYSTEM, Error, Prop
from .callback_answers import end, good, next_call
from .callbacks import is_satisfied

PATH_DOWN = 1                   # a flag of SEQUENCE


def no_path(t):
    """The server has to report that it has no callback path, and give no delegation."""
    session = Session(t)
    check(session.flags & PATH_DOWN, f'flags {session.flags:#x}')
    t.file()
    kind = session.delegation(t.made[-1])
    check(kind != nfs4.DELEGATED, 'a delegation')
    check(next_call(t, 0.3) is None, 'a Call')
    t.alive()


@case('B-13 S21', needs='export')
def no_call_before_consent(t):
    """The server calls only on connections that the client has bound to its session"""
    session = Session(t, flags=0)
    t.file()
    check(session.delegation(t.made[-1]) != nfs4.DELEGATED, 'a delegation')
    check(next_call(t, 0.3) is None, 'a Call')
    session.bind()
    end(t, nfs4.recall(t, session).message)


@case('B-13 S21', version=1, needs='export')
def no_call_before_consent_in_version_one(t):
    """The server calls only on connections that the client has bound to its session (version 1)"""
    no_call_before_consent(t)


@case('C-035 S20', needs='export')
def a_client_that_takes_none(t):
    """The server reports to a client with BRS NONE that it has no callback path"""
    t.announce(Prop(BRS, BRS_NONE))
    no_path(t)


@case('C-035', needs='export set')
def a_server_that_is_to_make_none(t):
    """If the server's administrator disables callbacks, no client has a callback path"""
    t.set('backward', 'none')
    t.announce(Prop(BRS, BRS_GENL))
    no_path(t)


@case('C-036', needs='export set')
def a_server_that_is_to_be_inline(t):
    """If the administrator disables chunks, a client with BRS GENL gets three empty lists"""
    t.set('backward', 'inline')
    t.announce(Prop(BRS, BRS_GENL))
    got = nfs4.recall(t, Session(t)).message
    check(got.proc == MSG and not got.handles() and got.reply is None, f'{got}')
    end(t, got)


@case('B-05 C-066', needs='export set')
def an_answer_that_comes_late(t):
    """An answer to a Call whose client has expired is dropped, and the connection stays"""
    session = Session(t)
    got = nfs4.recall(t, session).message
    expire(t, session)
    t.nothing(good(got))
    end(t, nfs4.recall(t, Session(t)).message)


@case('B-05 C-066', version=1, needs='export set')
def an_answer_that_comes_late_in_version_one(t):
    """An answer to a Call whose client has expired is dropped (version 1)"""
    an_answer_that_comes_late(t)


def expire(t, session):
    """Expires the client as an administrator does, which ends the session."""
    t.set('expire', session.owner.decode())
    answer = t.answered(session.in_session())
    check(rpc.number_at(answer.results, 0) != 0, 'the session is still there')


@case('B-05', needs='export set')
def a_call_that_is_given_up_keeps_its_credit(t):
    """A Call that is given up keeps its credit until it is answered"""
    first, second = Session(t), Session(t)
    handle = second.delegated()
    call = nfs4.recall(t, first).message
    expire(t, first)
    t.send(t.call(rpc.WRITE, rpc.write_arguments(handle, 4, b'data')))
    check(next_call(t, 0.5) is None, 'two Calls, one granted')
    t.send(good(call, credit=1))
    again = next_call(t)
    check(again is not None, 'the second does not come')
    end(t, again)


@case('B-05', version=1, needs='export set')
def a_call_that_is_given_up_keeps_its_credit_in_version_one(t):
    """A Call that is given up keeps its credit until it is answered (version 1)"""
    a_call_that_is_given_up_keeps_its_credit(t)


@case('B-13', needs='export')
def a_connection_that_ends_under_a_call(t):
    """After a connection ends with an outstanding Call, the server uses the next bound one"""
    session = Session(t)
    first = nfs4.recall(t, session).message
    t.again(size=32768)
    session.bind()
    call = nfs4.recall(t, session).message
    check(call.number != first.number, 'with the same xid')
    answers_all(t, call)


def answers_all(t, call):
    """The first Call may be repeated, with others; these stop when all are answered."""
    for _ in range(8):
        t.send(good(call))
        call = next_call(t, 1)
        if call is None:
            return t.alive()
    return check(False, 'the server calls for ever')


@case('B-13', version=1, needs='export')
def a_connection_that_ends_under_a_call_in_version_one(t):
    """After a connection ends with an outstanding Call, it uses the next one (version 1)"""
    a_connection_that_ends_under_a_call(t)


@case('B-11 B-12', needs='export set')
def an_answer_beside_calls_that_wait(t):
    """While waiting Calls use all credits, the server has a Receive for an answer to its Call"""
    t.set('credits', 8)
    t.open(receives=128, size=32768)
    got = nfs4.recall(t, Session(t)).message
    grant = t.alive().message.credit
    root = wire.opaque(t.target.root)
    t.set('exports', 'unknown')
    calls = [t.call(rpc.GETATTR, root) for _ in range(grant)]
    t.send(*calls, good(got))
    early = t.receive(0.3)
    check(early is None, f'{early}')
    t.set('exports', '')
    left = {c.number for c in calls}
    while left:
        answer = t.receive()
        check(answer is not None, f'{len(left)} Calls are not answered')
        left.discard(answer.message.xid)
    is_satisfied(t)


@case('B-11 B-12', version=1, needs='export set')
def an_answer_beside_calls_that_wait_in_version_one(t):
    """While waiting Calls use all credits, it has a Receive for an answer (version 1)"""
    an_answer_beside_calls_that_wait(t)


@case('C-071', needs='export')
def errors_in_a_row(t):
    """A callback that repeatedly ends with errors is repeated after a delay"""
    call, begun = nfs4.recall(t, Session(t)).message, 0
    for turn in range(20):
        if turn == 16:
            begun = time.monotonic()
        t.send(Error(call.number, SYSTEM))
        call = next_call(t, 10)
        check(call is not None, f'it is given up after {turn + 1} errors')
    took = time.monotonic() - begun
    check(took >= 2, f'four more in {took:.1f} s')
    answers_all(t, call)
